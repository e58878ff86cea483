"""Contents of the page of `limbtorque map`: people, chains, proposed landmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.chain.segments import DEMPSTER_WINTER, Row
from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.known_sets import OPPOSITE, fits, sided
from limbtorque.cli.init.marker_sets import ProposedSet, yaml_rule
from limbtorque.cli.init.study_settings import FOUND, judge_up
from limbtorque.cli.init.survey import Body, Seen, look_at
from limbtorque.cli.init.trials import TRAVELS, propose_forward
from limbtorque.errors import TrialError
from limbtorque.motion.landmarks import filled
from limbtorque.recordings.recording import Recording
from limbtorque.report.marker_map.page import MapBody, MapChain, MapKept, MapLandmark, MarkerMap, marker_map_page
from limbtorque.study.chains import ARM, LEG, ChainModel
from limbtorque.study.options.motion import Plane
from limbtorque.study.table_file import TO_DO

OfSides = dict[str, dict[str, Any]]  # chain -> side -> something by landmark
ABOUT = {
    "glenohumeral_axis": "centre of the shoulder joint",
    "elbow_axis": "centre of the elbow, between both epicondyles",
    "wrist_axis": "centre of the wrist, between the styloids of radius and ulna",
    "ulnar_styloid": "distal end of the ulna, on the side of the little finger",
    "knuckle_2_middle_finger": "second knuckle of the middle finger, or the first one",
    "hip_axis": "centre of the hip joint",
    "knee_axis": "centre of the knee, between both condyles",
    "ankle_axis": "centre of the ankle, between both malleoli",
    "greater_trochanter": "bony prominence at the side of the hip",
    "femoral_condyles": "between the condyles of the femur",
    "medial_malleolus": "inner ankle bone",
    "lateral_malleolus": "outer ankle bone",
    "head_of_metatarsal_2": "ball of the foot, behind the second toe",
    "heel": "back of the heel",
}


@dataclass(frozen=True)
class MapChoices:
    """Initial choices on the page, and the recording's name in the study.

    Attributes
    ----------
    file : str
        Path of the recording in the table of trials.
    chains : mapping of str to ChainModel
        Chains to choose from.
    rows : mapping of str to Row
        Table of segment parameters, which decides the landmarks a segment is measured between.
    up_axis : str
        The axis that points up, where it is known; else by the recording.
    chain, side : str
        Chosen first; empty for those whose markers are recognised best.
    marker_set : str
        Name of the set.
    subject, condition : str
        Cells of the table of trials; empty for the subject prefix and TODO.
    given : ProposedSet or None
        Marker set to begin with; None for the known set that fits best.
    cells : mapping of str to str
        Further files of the trial, its forward axis and kind of plane, as they were proposed.
    options : mapping of str to str
        Options of `reading` that the recording needs.
    run_in : str
        Folder from which the paths start, in words.
    """

    file: str
    chains: Mapping[str, ChainModel]
    rows: Mapping[str, Row] = field(default_factory=lambda: DEMPSTER_WINTER)
    up_axis: str = ""
    chain: str = ""
    side: str = ""
    marker_set: str = "my_markers"
    subject: str = ""
    condition: str = ""
    given: ProposedSet | None = None
    cells: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    run_in: str = MarkerMap.run_in


BUILT_IN = {"leg": LEG, "arm": ARM}
REPEATED = "Not selectable, because several markers have this name"


def map_page(recording: Recording, choices: MapChoices) -> str:
    """Page for assigning the markers of a recording to landmarks.

    Parameters
    ----------
    recording : Recording
        The recording.
    choices : MapChoices
        Chains, and what is chosen when the page is opened.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    TrialError
        The recording has no marker with a name of its own.
    """
    name = Path(choices.file).name
    seen = look_at(recording, path=Path(choices.file), name=name)
    up_axis, evidence = (choices.up_axis, ("from the settings",)) if choices.up_axis else judge_up([seen])
    chains = {chain: map_chain(model, choices.rows) for chain, model in choices.chains.items()}
    bare = tuple(label.rpartition(":")[2] for label in recording.labels)
    markers, repeated = _markers(recording)
    bodies = [_body(seen, body, markers[body.prefix], bare, choices, chains, up_axis) for body in seen.bodies]
    bodies = [body for body in bodies if body.markers]
    if not bodies:
        raise TrialError(
            f"{name}: no selectable marker, expected positions with unique names; `limbtorque inspect` shows what the file holds"
        )
    chain, side = max(
        ((chain, side) for chain in chains for side in OPPOSITE),
        key=lambda key: (
            choices.chain in ("", key[0]) and choices.side in ("", key[1]),
            len(bodies[0].proposed.get(key[0], {}).get(key[1], {})),
        ),
    )
    templates, mates = _sides(bare, markers.values())
    return marker_map_page(
        MarkerMap(
            source=name,
            labels=bare,
            templates=templates,
            mates=mates,
            bodies=tuple(bodies),
            chains=chains,
            markers_m=recording.markers_m,
            rate_hz=recording.rate_hz,
            first_frame=recording.first_frame,
            plates_m=[p.corners_m for p in recording.force_plates if p.kind and np.isfinite(p.corners_m).all()],
            up_axis=up_axis,
            likely_up=up_axis or next((clue.axis for clue in seen.up), "+z"),
            up_evidence="; ".join(evidence),
            forward_axes=tuple(_values(Plane.model_fields["forward_axis"].annotation)),
            chain=chain,
            side=side,
            marker_set=choices.marker_set,
            notes=(f"{REPEATED}: {some_of(repeated)}.",) if repeated else (),
            run_in=choices.run_in,
            options=choices.options,
        )
    )


def _body(
    seen: Seen,
    body: Body,
    markers: tuple[int, ...],
    bare: Sequence[str],
    choices: MapChoices,
    chains: Mapping[str, MapChain],
    up_axis: str,
) -> MapBody:
    """Markers of a person, those assigned to landmarks, and cells of a row."""
    forward = propose_forward(body, up_axis)[0]
    prefix, stem = body.prefix if len(seen.bodies) > 1 else "", Path(choices.file).stem
    subject = safe_name(body.prefix or choices.subject or "S01")
    row = {
        "trial": safe_name("_".join(filter(None, (prefix, stem)))),
        "session": subject,
        "subject": subject,
        "file": choices.file,
        "condition": choices.condition or safe_name(stem).lower(),
        "prefix": prefix,
        "forward": forward,
        **({"found_event": FOUND} if body.steps or forward == TRAVELS else {}),
        **choices.cells,
        **{f"event_{strikes.side}": strikes.event for strikes in seen.strikes if len(strikes.times_s) > 1},
    }
    labels = {bare[k]: k for k in markers}
    if choices.given:
        of_set = _of_set(choices.given, choices.side, labels, chains)
        if of_set[2].rules:
            return MapBody(body.prefix, markers, of_set[0], of_set[1], row, of_set[2])
    proposed: OfSides = {}
    known: OfSides = {}
    for chain, model in choices.chains.items():
        best = fits(list(labels), model)
        for side in OPPOSITE:
            if fit := next((fit for fit in best if fit.side in (side, "")), None):
                rules, errors = dict(fit.rules), dict(fit.known.errors)
                for name, (by, _) in fit.known.substitutes.items():  # a joint gets its substitute's markers
                    if name in chains[chain].joints and name not in rules and by in rules:
                        rules[name] = rules[by]
                        if name in fit.known.errors_of_substitutes:
                            errors[name] = fit.known.errors_of_substitutes[name]
                _enter(chains, {chain}, side, rules, labels, fit.known.fractions, errors, proposed, known)
    return MapBody(body.prefix, markers, proposed, known, row)


def _enter(
    chains: Mapping[str, MapChain],
    names: Iterable[str],
    side: str,
    rules: Mapping[str, Sequence[str]],
    labels: Mapping[str, int],
    fractions: Mapping[str, float],
    errors: Mapping[str, str | float],
    proposed: OfSides,
    known: OfSides,
) -> None:
    """Add the markers of a side's landmarks, and further entries of the set."""
    for chain in names:
        own = [mark.name for mark in chains[chain].landmarks if mark.name in rules]
        if own:
            proposed.setdefault(chain, {})[side] = {name: [labels[label] for label in rules[name]] for name in own}
            known.setdefault(chain, {})[side] = {
                name: {
                    word: entries[name]
                    for word, entries in (("fraction", fractions), ("error", errors))
                    if name in entries
                }
                for name in own
            }


def _values(annotation: Any) -> Iterator[str]:
    """Allowed words of an option."""
    for part in get_args(annotation):
        yield from [part] if isinstance(part, str) else _values(part)


def map_chain(model: ChainModel, rows: Mapping[str, Row]) -> MapChain:
    """Landmarks of a chain: joints, segment ends and sole.

    Examples
    --------
    >>> [landmark.name for landmark in map_chain(LEG, DEMPSTER_WINTER).landmarks if landmark.required]
    ['hip_axis', 'knee_axis', 'ankle_axis', 'head_of_metatarsal_2']
    """
    joints = (*(joint.landmark for joint in model.joints), model.end)
    stand_ins: dict[str, str] = {}
    for (near, far), segment in zip(pairwise(joints), model.segments, strict=True):
        if row := rows.get(segment.row):
            at_joint = row.com_from == "joint"
            stand_ins.setdefault(row.proximal, near if at_joint else "")
            stand_ins.setdefault(row.distal, far if at_joint else "")
    soles = [name for joint in model.joints for name in joint.sole or ()]
    names = dict.fromkeys((*joints, *stand_ins, *soles, *model.contact_landmarks))
    return MapChain(
        joints,
        tuple(segment.name for segment in model.segments),
        tuple(
            MapLandmark(name, ABOUT.get(name, ""), "" if name in joints else stand_ins.get(name, ""), name in joints)
            for name in names
        ),
    )


def _markers(recording: Recording) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Uniquely named markers by subject prefix; and ambiguous names."""
    count = Counter(recording.labels)
    seen: BoolArray = np.asarray(np.asarray(np.isfinite(recording.markers_m).all(axis=2)).any(axis=0))
    markers: dict[str, tuple[int, ...]] = {}
    for k, label in enumerate(recording.labels):
        prefix = label.rpartition(":")[0]
        markers[prefix] = (*markers.get(prefix, ()), *([k] if count[label] == 1 and seen[k] else []))
    return markers, [label for label, number in count.items() if number > 1]


def _sides(bare: Sequence[str], bodies: Iterable[Sequence[int]]) -> tuple[dict[str, dict[int, str]], dict[int, int]]:
    """Label patterns by side and marker, and counterparts on the other side.

    Only labels whose counterpart exists on the other side have a pattern.
    """
    templates: dict[str, dict[int, str]] = {side: {} for side in OPPOSITE}
    mates: dict[int, int] = {}
    for markers in bodies:
        index = {bare[k]: k for k in markers}
        for label, k in index.items():
            for side, _, template in sided(label):
                other = filled(template, OPPOSITE[side])
                if template and other in index and filled(template, side) == label:
                    templates[side][k] = template
                    mates[k] = index[other]
    return templates, mates


def _of_set(
    chosen: ProposedSet, side: str, labels: Mapping[str, int], chains: Mapping[str, MapChain]
) -> tuple[OfSides, OfSides, MapKept]:
    """Markers that a proposed set assigns to landmarks of chains, and all its rules.

    Empty if the person has no markers of the set. `side`: side of a set without {S}; empty if unknown.
    """
    proposed: OfSides = {}
    known: OfSides = {}
    markers: dict[str, dict[str, list[int]]] = {}
    both = any(filled(label, "right") != label for rule in chosen.rules.values() for label in rule)
    for which in OPPOSITE if both or not side else (side,):
        rules = {name: [filled(label, which) for label in rule] for name, rule in chosen.rules.items()}
        rules = {name: rule for name, rule in rules.items() if all(label in labels for label in rule)}
        if rules:
            markers[which] = {name: [labels[label] for label in rule] for name, rule in rules.items()}
        _enter(chains, chains, which, rules, labels, chosen.fractions, chosen.errors, proposed, known)
    if chosen.rules and not markers:
        return {}, {}, MapKept()
    own = {
        name: yaml_rule(rule, chosen.fractions.get(name))
        for name, rule in chosen.rules.items()
        if not rule[0].startswith(TO_DO)
    }
    says = {
        name: f"{'carried from the static trial' if rule.startswith('{static:') else 'predicted from other landmarks'}: {rule}"
        for name, rule in chosen.computed.items()
    }
    for name, (by, _) in chosen.substitutes.items():
        says[name] = f"{by.replace('_', ' ')}{f' ({own[by]})' if by in own else ''} is used instead"
    substitutes = {name: by for name, (by, _) in chosen.substitutes.items()}
    kept = MapKept(own | dict(chosen.computed), says, substitutes, dict(chosen.errors), markers, "" if both else side)
    return proposed, known, kept

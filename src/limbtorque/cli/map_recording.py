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
from limbtorque.cli.init.known_sets import fits, sided
from limbtorque.cli.init.marker_sets import ProposedSet, yaml_rule
from limbtorque.cli.init.study_settings import FOUND, judge_up
from limbtorque.cli.init.survey import Body, Seen, look_at
from limbtorque.cli.init.trials import TRAVELS, propose_forward
from limbtorque.errors import TrialError
from limbtorque.recordings.recording import Recording
from limbtorque.report.marker_map.page import MapBody, MapChain, MapKept, MapLandmark, MarkerMap, marker_map_page
from limbtorque.study.chains import ARM, LEG, ChainModel
from limbtorque.study.options.motion import Plane
from limbtorque.study.table_file import TO_DO

SIDES = {"right": "left", "left": "right"}
Proposed = dict[str, dict[str, dict[str, list[int]]]]
Known = dict[str, dict[str, dict[str, dict[str, str | float]]]]
ABOUT = {
    "glenohumeral_axis": "centre of the shoulder joint",
    "elbow_axis": "centre of the elbow, between both epicondyles",
    "wrist_axis": "centre of the wrist, between the styloids of radius and ulna",
    "ulnar_styloid": "end of the ulna, on the little finger's side of the wrist",
    "knuckle_2_middle_finger": "second knuckle of the middle finger, or the first one",
    "hip_axis": "centre of the hip joint",
    "knee_axis": "centre of the knee, between both condyles",
    "ankle_axis": "centre of the ankle, between both malleoli",
    "greater_trochanter": "bony point at the side of the hip",
    "femoral_condyles": "between the condyles of the femur",
    "medial_malleolus": "inner ankle bone",
    "lateral_malleolus": "outer ankle bone",
    "head_of_metatarsal_2": "ball of the foot, behind the second toe",
    "heel": "back of the heel",
}


@dataclass(frozen=True)
class MapChoices:
    """Choices of the page when it is opened, and how the study names the recording.

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


def map_page(recording: Recording, choices: MapChoices) -> str:
    """Page on which a person gives the markers of a recording to landmarks.

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
    markers, repeated = _markers(recording)
    if not any(markers.values()):
        raise TrialError(
            f"{name}: no marker to choose from, expected positions with a name each; `limbtorque inspect` shows what the file holds"
        )
    bare = tuple(label.rpartition(":")[2] for label in recording.labels)
    bodies = tuple(
        _body(body, markers[body.prefix], bare, choices, chains, _row(seen, body, choices, up_axis))
        for body in seen.bodies
        if markers[body.prefix]
    )
    chain, side = _first(bodies[0], choices)
    templates, mates = _sides(bare, markers.values())
    return marker_map_page(
        MarkerMap(
            source=name,
            labels=bare,
            templates=templates,
            mates=mates,
            bodies=bodies,
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
            notes=_notes(repeated),
            run_in=choices.run_in,
            options=choices.options,
        )
    )


def _body(
    body: Body,
    markers: tuple[int, ...],
    bare: Sequence[str],
    choices: MapChoices,
    chains: Mapping[str, MapChain],
    row: Mapping[str, str],
) -> MapBody:
    """Markers of a person, and those that a set gives to landmarks."""
    labels = {bare[k]: k for k in markers}
    if choices.given:
        proposed, known, kept = of_set(choices.given, choices.side, labels, chains)
        if kept.rules:
            return MapBody(body.prefix, markers, proposed, known, row, kept)
    return MapBody(body.prefix, markers, *_proposed(labels, choices.chains, chains), row)


def _values(annotation: Any) -> Iterator[str]:
    """Values of an option that is one of several words."""
    for one in get_args(annotation):
        if isinstance(one, str):
            yield one
        else:
            yield from _values(one)


def map_chain(model: ChainModel, rows: Mapping[str, Row]) -> MapChain:
    """Landmarks of a chain: those of its joints, of its segments' ends, of the sole.

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
    """Markers by subject prefix, those with a name of their own; and other names."""
    count = Counter(recording.labels)
    seen: BoolArray = np.asarray(np.asarray(np.isfinite(recording.markers_m).all(axis=2)).any(axis=0))
    found: dict[str, tuple[int, ...]] = {}
    for k, label in enumerate(recording.labels):
        own = (k,) if count[label] == 1 and seen[k] else ()
        prefix = label.rpartition(":")[0]
        found[prefix] = (*found.get(prefix, ()), *own)
    return found, [label for label, number in count.items() if number > 1]


def _notes(repeated: Sequence[str]) -> tuple[str, ...]:
    if not repeated:
        return ()
    return (f"Not to choose from, because more than one marker has the name: {some_of(repeated)}.",)


def _proposed(
    labels: Mapping[str, int], models: Mapping[str, ChainModel], chains: Mapping[str, MapChain]
) -> tuple[Proposed, Known]:
    """Markers of the best known set by chain, side and landmark, with what it says.

    A joint whose landmark the set replaces by another one gets that one's markers.
    """
    found: Proposed = {}
    known: Known = {}
    for chain, model in models.items():
        best = fits(list(labels), model)
        for side in SIDES:
            fit = next((one for one in best if one.side in (side, "")), None)
            if fit is None:
                continue
            rules, errors = dict(fit.rules), dict(fit.known.errors)
            for name, (by, _) in fit.known.substitutes.items():
                if name in chains[chain].joints and name not in rules and by in rules:
                    rules[name] = rules[by]
                    if name in fit.known.errors_of_substitutes:
                        errors[name] = fit.known.errors_of_substitutes[name]
            own = [landmark.name for landmark in chains[chain].landmarks if landmark.name in rules]
            if own:
                found.setdefault(chain, {})[side] = {name: [labels[one] for one in rules[name]] for name in own}
                known.setdefault(chain, {})[side] = {name: more(name, fit.known.fractions, errors) for name in own}
    return found, known


def _first(body: MapBody, choices: MapChoices) -> tuple[str, str]:
    """Chain and side asked for, else those with most proposed landmarks."""
    sizes = {
        (chain, side): len(body.proposed.get(chain, {}).get(side, {})) for chain in choices.chains for side in SIDES
    }
    asked = {key: size for key, size in sizes.items() if choices.chain in ("", key[0]) and choices.side in ("", key[1])}
    return max(asked or sizes, key=lambda key: sizes[key])


def _row(seen: Seen, body: Body, choices: MapChoices, up_axis: str) -> dict[str, str]:
    """Cells of the table of trials, and the names of a walk's foot strikes."""
    forward = propose_forward(body, up_axis)[0]
    prefix = body.prefix if len(seen.bodies) > 1 else ""
    stem = Path(choices.file).stem
    subject = safe_name(body.prefix or choices.subject or "S01")
    return {
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


def _sides(bare: Sequence[str], bodies: Iterable[Sequence[int]]) -> tuple[dict[str, dict[int, str]], dict[int, int]]:
    """Labels with a placeholder by side and marker, and mates on the other side.

    A label gets one only where the other side has a marker of that name, too.
    """
    templates: dict[str, dict[int, str]] = {side: {} for side in SIDES}
    mates: dict[int, int] = {}
    for markers in bodies:
        index = {bare[k]: k for k in markers}
        for label, k in index.items():
            for side, _, template in sided(label):
                other = filled(template, SIDES[side])
                if template and other in index and filled(template, side) == label:
                    templates[side][k] = template
                    mates[k] = index[other]
    return templates, mates


def of_set(
    chosen: ProposedSet, side: str, labels: Mapping[str, int], chains: Mapping[str, MapChain]
) -> tuple[Proposed, Known, MapKept]:
    """Markers that a proposed set gives to the landmarks of chains, and all its rules.

    Parameters
    ----------
    chosen : ProposedSet
        The set.
    side : str
        Side of the set, where it has no {S}; empty where it is not known.
    labels : mapping of str to int
        Label -> marker, of one person.
    chains : mapping of str to MapChain
        The chains.

    Returns
    -------
    proposed, known, kept
        As of `MapBody`; all empty where the person has no markers of the set.
    """
    found: Proposed = {}
    known: Known = {}
    markers: dict[str, dict[str, list[int]]] = {}
    both = any(filled(label, "right") != label for rule in chosen.rules.values() for label in rule)
    for which in SIDES if both or not side else (side,):
        given = {
            name: [labels[one] for one in rule]
            for name, templates in chosen.rules.items()
            for rule in [[filled(one, which) for one in templates]]
            if all(one in labels for one in rule)
        }
        if given:
            markers[which] = given
        for chain, model in chains.items():
            own = {mark.name: given[mark.name] for mark in model.landmarks if mark.name in given}
            if own:
                found.setdefault(chain, {})[which] = own
                known.setdefault(chain, {})[which] = {name: more(name, chosen.fractions, chosen.errors) for name in own}
    return (
        (found, known, kept(chosen, markers, side="" if both else side))
        if markers or not chosen.rules
        else ({}, {}, MapKept())
    )


def kept(chosen: ProposedSet, markers: Mapping[str, Mapping[str, list[int]]], *, side: str = "") -> MapKept:
    """Entries of a set in YAML, which hold where no marker is chosen instead."""
    own = {
        name: yaml_rule(rule, chosen.fractions.get(name))
        for name, rule in chosen.rules.items()
        if not rule[0].startswith(TO_DO)
    }
    return MapKept(
        own | dict(chosen.computed),
        {name: _says(rule) for name, rule in chosen.computed.items()}
        | {
            name: f"{by.replace('_', ' ')} ({own[by]}) stands for it"
            if by in own
            else f"{by.replace('_', ' ')} stands for it"
            for name, (by, _) in chosen.substitutes.items()
        },
        {name: by for name, (by, _) in chosen.substitutes.items()},
        dict(chosen.errors),
        markers,
        side,
    )


def _says(rule: str) -> str:
    if rule.startswith("{static:"):
        return f"carried from the static trial: {rule}"
    return f"predicted from other landmarks: {rule}"


def more(name: str, fractions: Mapping[str, float], errors: Mapping[str, str | float]) -> dict[str, str | float]:
    """Fraction and error of a landmark, where it has one of its own."""
    fraction, error = fractions.get(name), errors.get(name)
    return ({} if fraction is None else {"fraction": fraction}) | ({} if error is None else {"error": error})


def filled(template: str, side: str) -> str:
    """Label of a side."""
    return template.replace("{S}", side[0].upper()).replace("{s}", side[0]).replace("{side}", side)

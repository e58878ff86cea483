"""Proposed settings: the axis that points up, the window, electromyography."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.pairs import stem_words
from limbtorque.cli.init.survey import SIDES, Clue, Seen, Strikes
from limbtorque.cli.init.trials import ProposedTrial
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.recordings.emg_channels import microvolts, muscle_of, same_muscle, side_pattern
from limbtorque.study.chains import BUILT_IN
from limbtorque.study.options.muscles import Emg
from limbtorque.study.options.outputs import Ensembles
from limbtorque.study.table_file import TO_DO

MOVEMENT = Ensembles().window
SHORT_S, LONG_S = 0.4, 2.5  # from one strike of a foot to the next, from sprints to slow walks
FOUND = "Foot Strike"  # name of the strikes that plates and markers give
CURVES = (
    "`limbtorque check` names the trials without a curve; a walk without two foot strikes of its side in the file has those of the "
    "force plates, else of the markers (column ensembles.events: plates_and_markers)"
)
ANTAGONISTS = (
    ("tibialis_anterior", "gastrocnemius"),
    ("tibialis_anterior", "soleus"),
    ("vasti", "hamstrings"),
    ("rectus_femoris", "hamstrings"),
    ("biceps", "triceps"),
)
NO_UNIT = "the files do not state the unit of some channels; it affects absolute amplitudes only"
NO_SIDE = "the label does not state a side: remove the # if it belongs to the analysed side"


def judge_up(seen: Sequence[Seen], *, given: str = "") -> tuple[str, tuple[str, ...]]:
    """Axis that points up, from two sources of evidence without contradiction.

    A frame prescribed by the file format is sufficient.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    given : str, optional
        The axis as the user says it, which goes before the evidence.

    Returns
    -------
    axis : str
        E.g. ``"+z"``; empty where it is not certain.
    evidence : tuple of str
        What was seen, kind by kind.
    """
    by_kind: dict[str, dict[str, list[tuple[str, Clue]]]] = {}
    for one in seen:
        for clue in one.up:
            by_kind.setdefault(clue.kind, {}).setdefault(clue.axis, []).append((one.name, clue))
    sentences = [
        f"{clues[0][1].sentence} ({clues[0][0]}{f' and {len(clues) - 1} more' if len(clues) > 1 else ''})"
        for axes in by_kind.values()
        for clues in axes.values()
    ]
    if given:
        return given, (*sentences, "given by --set plane.up_axis")
    axes = {axis for kinds in by_kind.values() for axis in kinds}
    if len(axes) == 1 and (len(by_kind) >= 2 or "format" in by_kind):
        return axes.pop(), tuple(sentences)
    why = "the evidence disagrees" if len(axes) > 1 else "only one source of evidence" if axes else "no evidence"
    return "", (*sentences, why)


def judge_up_by_file(
    seen: Sequence[Seen], person: Mapping[str, str], *, given: str = ""
) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Axis that points up in a study, and in files that differ.

    Parameters
    ----------
    seen : sequence of Seen
        The recordings.
    person : mapping of str to str
        Person of each recording with markers.
    given : str, optional
        The axis as the user says it, that of all files.

    Returns
    -------
    axis, evidence
        As from `judge_up`; where the files differ, the axis of most of them.
    others : dict of str to str
        Name of a recording -> its own axis, where that is another one, or ``TODO`` where it is not certain; empty where all
        have the same.

    Notes
    -----
    A file whose own evidence is not enough has the axis of the same person's files in the same format, unless its own evidence
    contradicts that. Another person's files say nothing on it: they may be of another laboratory.
    """
    with_markers = [one for one in seen if one.bodies]
    axis, evidence = judge_up(seen, given=given)
    if given:
        against = [one.name for one in with_markers if judge_up([one])[0] not in ("", given)]
        return axis, (*evidence, *([f"contradicted by {some_of(against)}"] if against else [])), {}
    evidence = evidence if axis else evidence[:-1]
    forces: dict[tuple[object, ...], list[Seen]] = {}
    for one in (one for one in seen if not one.bodies):
        forces.setdefault((Path(one.name).parent, stem_words(one.name)), []).append(one)
    own: dict[str, str] = {}
    groups: dict[tuple[str, str], list[Seen]] = {}
    for one in with_markers:
        own[one.name] = judge_up([one, *forces.get((Path(one.name).parent, stem_words(one.name)), ())])[0]
        groups.setdefault((person[one.name], one.path.suffix.lower()), []).append(one)
    for group in groups.values():
        certain = {own[one.name] for one in group} - {""} or {judge_up(group)[0]}
        shared = certain.pop() if len(certain) == 1 else ""
        for one in group:
            if not own[one.name] and {clue.axis for clue in one.up} <= {shared}:
                own[one.name] = shared
    counted = Counter(axis for axis in own.values() if axis).most_common()
    if not counted:
        return "", judge_up(seen)[1], {}
    axis = counted[0][0]
    others = {name: file_axis or TO_DO for name, file_axis in own.items() if file_axis != axis}
    if others:
        column = f"{some_of(others)} differ from {axis}, or do not show it: column plane.up_axis of trials.csv"
        evidence = (*evidence, f"{column} (--set plane.up_axis={axis} if it is theirs)")
    return axis, evidence, others


@dataclass(frozen=True)
class ProposedWindow:
    """Proposed options `ensembles` of a study.

    Attributes
    ----------
    window : str
        ``"events"``, ``"trial"`` or ``"movement"``, of most trials.
    event : str
        The event at 0 and at 100 %, with {side}; empty where no trial needs one.
    evidence : tuple of str
        What it rests on, and what to do about trials without a curve.
    """

    window: str
    event: str
    evidence: tuple[str, ...]


def propose_window(trials: Sequence[ProposedTrial]) -> tuple[ProposedWindow, list[ProposedTrial]]:
    """Window of the study, and of trials that need a different window.

    Parameters
    ----------
    trials : sequence of ProposedTrial
        All rows.

    Returns
    -------
    window : ProposedWindow
        Events where more than half of the leg trials (of all trials where there are none) are of gait with two foot strikes of
        their side, the whole trial where more than half are of other movements of legs on the ground, else the movement.
    trials : list of ProposedTrial
        The rows, with the window and its events where those of the study do not hold.

    Notes
    -----
    An arm goes from foot strike to foot strike only where its end does not rest at both ends of the recording: the arms
    swing in gait, and reach or serve from rest to rest.
    """
    kept = [trial for trial in trials if not trial.left_out]
    asked = [trial for trial in kept if trial.limb == "leg"] or kept
    cycles = [cycle for trial in kept if (cycle := _cycle(trial))]
    events = Counter(cycle.event for cycle in cycles)
    event = events.most_common(1)[0][0] if events else FOUND if any(map(_is_detected, trials)) else ""
    windows = Counter(map(_window, asked))
    window = next((name for name, count in windows.items() if 2 * count > len(asked)), MOVEMENT)
    evidence = [CURVES] if kept else []
    if cycles:
        having = sum(bool(_cycle(trial)) for trial in asked)
        kind = "leg " if asked[0].limb == "leg" else ""
        lasting = [cycle.times_s[1] - cycle.times_s[0] for cycle in cycles]
        evidence.insert(
            0,
            f"{having} of {len(asked)} {kind}trials have two or more foot strikes of the analysed side ({event!r}); a cycle, from the "
            f"first to the second, takes {min(lasting):.2f} to {max(lasting):.2f} s",
        )
    rows = []
    for row in trials:
        cycle, detected, own_window = _cycle(row), _is_detected(row), _window(row)
        own_event = cycle.event if cycle and cycle.event != event else ""
        cells = {
            "ensembles.window": "" if own_window == window else own_window,
            "ensembles.start_event": own_event,
            "ensembles.end_event": own_event,
            "ensembles.events": "plates_and_markers" if detected and row.strikes else "",
        }
        rows.append(row.with_cells(cells) if row.can_be_taken else row)
    return ProposedWindow(window, event, tuple(evidence)), rows


def _window(trial: ProposedTrial) -> str:
    """Window of a trial: cycles are of gait only, not of a jump or a squat."""
    if _cycle(trial) or _is_detected(trial):
        return "events"
    return "trial" if trial.grounded else MOVEMENT


def _cycle(trial: ProposedTrial) -> Strikes | None:
    """Foot strikes that define a cycle of gait: at least two, a stride apart."""
    goes = trial.gait if trial.limb == "leg" else trial.at_rest is False
    apart = [s for s in trial.strikes if goes and any(SHORT_S <= b - a <= LONG_S for a, b in pairwise(s.times_s))]
    return max(apart, key=lambda s: len(s.times_s), default=None)


def _is_detected(trial: ProposedTrial) -> bool:
    """Return True for a walk with foot strikes from plates or markers."""
    return trial.can_be_taken and trial["chain"] == "leg" and trial.gait and not _cycle(trial)


def emg_lines(seen: Iterable[Seen], chains: Iterable[str]) -> tuple[str, ...]:
    """Section `emg` of config/config.yaml: channels of recordings and their muscles.

    Parameters
    ----------
    seen : iterable of Seen
        The recordings of the trials, and those of electromyography alone.
    chains : iterable of str
        Chains of the trials.

    Returns
    -------
    tuple of str
        Its lines; none without channels. Channels whose label states no side are comments, as they could be of either leg.
    """
    sets = [load_muscle_set(name) for chain in sorted(set(chains)) if (name := BUILT_IN[chain].muscles)]
    called = {m.name: muscle_of(m.name) or muscle_of(m.full_name) for chosen in sets for m in chosen.muscles}
    lines, unsided, without = list[str](), list[str](), list[str]()
    mapped: dict[str, str] = {}  # muscle of the channels with a side -> its name in the set
    unit_unknown = False
    channels = dict.fromkeys(channel for one in seen for channel in one.emg)
    labels = {channel.label for channel in channels}
    for channel in channels:
        muscles = [name for name, muscle in called.items() if same_muscle(muscle, channel.muscle)]
        pattern = side_pattern(channel.label)
        label = json.dumps(pattern or channel.label, ensure_ascii=False)
        value = muscles[0] if len(muscles) == 1 else f"[{', '.join(muscles)}]"
        if not muscles:
            without.append(pattern or channel.label)
            continue
        unit_unknown = unit_unknown or microvolts(channel.unit) is None
        both = [name for side in SIDES for name in Emg(channels={pattern: ("",)}).channels_of(side)]
        only = "".join(f" # of one side: no {name} in the files" for name in both if name not in labels)
        (lines if pattern else unsided).append(
            f"    {label}: {value}{only}" if pattern else f"    # {label}: {value} # {NO_SIDE}"
        )
        mapped |= {called[name]: name for name in reversed(muscles)} if pattern else {}
    if not (lines or unsided or without):
        return ()
    about = "channel: muscle; {S} is R or L, {side} is right or left, the trial's side"
    first = f"  channels: # {about}" if lines else "  channels: {} # replace {} by the lines below, without #"
    lines = list(dict.fromkeys([*lines, *unsided]))
    if without:
        text = f"Channels of muscles that are not in the muscle sets: {', '.join(dict.fromkeys(without))}"
        lines += [f"  # {line}" for line in textwrap.wrap(text, 116, break_long_words=False, break_on_hyphens=False)]
    if unit_unknown:
        lines.append(f"  # unit: mV # {NO_UNIT}")
    pairs = [f"[{mapped[a]}, {mapped[b]}]" for a, b in ANTAGONISTS if a in mapped and b in mapped]
    if pairs:
        lines.append(f"  antagonists: [{', '.join(pairs)}]")
    return ("emg: # electromyography, compared with predicted activations: docs/emg.md", first, *lines)

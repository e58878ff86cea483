"""Window of 0 to 100 % of the curves: foot strikes, cycles, or the movement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from limbtorque.cli.init.names import some_of
from limbtorque.cli.init.proposed_trials import ProposedTrial
from limbtorque.cli.init.survey import Strikes
from limbtorque.study.chains import limb_of
from limbtorque.study.options.outputs import Ensembles

MOVEMENT = Ensembles().window
FOUND = "Foot Strike"  # name of the strikes that plates and markers give
CYCLE_START = {"arm": "rearmost", "leg": "highest"}  # of a push, of a turn of the pedals


@dataclass(frozen=True)
class ProposedWindow:
    """The options `ensembles` of the study.

    Attributes
    ----------
    window : str
        ``"events"`` or ``"movement"``, of most trials.
    event : str
        The event at 0 and at 100 %, with {side}; empty where no trial needs one.
    evidence : tuple of str
        What it rests on, and for which trials it may not be found.
    """

    window: str
    event: str
    evidence: tuple[str, ...]


def propose_window(trials: Sequence[ProposedTrial]) -> tuple[ProposedWindow, tuple[ProposedTrial, ...]]:
    """Window of the study, and of the trials that need another one.

    Parameters
    ----------
    trials : sequence of ProposedTrial
        All rows.

    Returns
    -------
    window : ProposedWindow
        Events where more than half of the leg trials (of all trials where there are none) have two foot strikes of
        their side, else the movement.
    trials : tuple of ProposedTrial
        The rows, with `window`, `start_event` and `end_event` where those of the study do not hold.

    Notes
    -----
    An arm goes from foot strike to foot strike only where its end does not rest at both ends of the recording: the arms
    swing in gait, and reach or serve from rest to rest.
    """
    kept = [trial for trial in trials if not trial.left_out]
    cycles = {trial.trial: _cycle(trial) for trial in trials if trial.can_be_taken}
    found = {trial.trial for trial in trials if trial.can_be_taken and not cycles[trial.trial] and _has_feet(trial)}
    legs = [trial for trial in kept if limb_of(trial.chain) == "leg"]
    asked = legs or kept
    having = [trial for trial in asked if cycles[trial.trial]]
    walking = [trial for trial in asked if cycles[trial.trial] or trial.trial in found]
    names = Counter(strikes.event for trial in kept if (strikes := cycles[trial.trial]))
    event = names.most_common(1)[0][0] if names else FOUND if found else ""
    window = "events" if 2 * len(walking) > len(asked) else MOVEMENT
    evidence = []
    if names:
        evidence.append(
            _found(event, having, asked, [s for trial in kept if (s := cycles[trial.trial])], "leg " if legs else "")
        )
    without = [trial for trial in kept if not cycles[trial.trial] and trial.trial not in found]
    evidence += _from_plates_and_markers([trial for trial in kept if trial.trial in found])
    cyclic = [trial for trial in without if _is_cyclic(trial)]
    if cyclic:
        evidence.append(
            f"{some_of([trial.trial for trial in cyclic])}: the end of the limb moves back and forth ({_counts(cyclic)} alike cycles): "
            "the window is a cycle (column ensembles.window)"
        )
    without = [trial for trial in without if not _is_cyclic(trial)]
    evidence += _lacking([trial for trial in without if limb_of(trial.chain) == "leg"], window)
    restless = [trial.trial for trial in without if trial.at_rest is False and not trial.gait]
    if restless:
        evidence.append(
            f"the end of the limb does not rest at the first or last frame of {some_of(restless)}: without a detected movement "
            "these trials have no curve (`limbtorque check` shows it); if they have events, "
            "name them in ensembles.start_event and end_event, else set ensembles.window to trial"
        )
    return ProposedWindow(window, event, tuple(evidence)), tuple(
        _own(trial, cycles[trial.trial], window, event, found=trial.trial in found) if trial.can_be_taken else trial
        for trial in trials
    )


def _is_cyclic(row: ProposedTrial) -> bool:
    """Return True for a limb that moves back and forth without rests or steps."""
    return bool(row.cycles) and len(row.movements) < 2 and not row.gait and not row.strikes


def _has_feet(trial: ProposedTrial) -> bool:
    """Return True for a walking leg with its foot: its strikes can be found."""
    return trial.chain == "leg" and trial.gait


def _from_plates_and_markers(trials: Sequence[ProposedTrial]) -> list[str]:
    """Sentences on the trials whose foot strikes are found."""
    one = [trial.trial for trial in trials if trial.strikes]
    none = [trial.trial for trial in trials if not trial.strikes]
    where = "found by the force plates, else by the markers (docs/events.md); `limbtorque check` shows them"
    said = [f"{some_of(none)}: the file has no foot strike of this side; foot strikes are {where}"] if none else []
    if one:
        said.append(
            f"{some_of(one)}: the file has only one foot strike of this side, too few for a cycle; foot strikes are {where} "
            "(column ensembles.events; delete it to keep to the file)"
        )
    return said


def _counts(trials: Sequence[ProposedTrial]) -> str:
    numbers = sorted({trial.cycles for trial in trials})
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _cycle(trial: ProposedTrial) -> Strikes | None:
    """Foot strikes that define a cycle of a trial: two at least."""
    if limb_of(trial.chain) != "leg" and trial.at_rest is not False:
        return None
    return max((s for s in trial.strikes if len(s.times_s) > 1), key=lambda s: len(s.times_s), default=None)


def _own(trial: ProposedTrial, cycle: Strikes | None, window: str, event: str, *, found: bool) -> ProposedTrial:
    wanted = "events" if cycle or found else "cycles" if _is_cyclic(trial) else MOVEMENT
    named = cycle.event if cycle and cycle.event != event else ""
    start = CYCLE_START[limb_of(trial.chain)] if wanted == "cycles" else ""
    return replace(
        trial,
        window="" if wanted == window else wanted,
        start_event=named,
        end_event=named,
        events="plates_and_markers" if found and trial.strikes else "",
        cycle_start="" if start == Ensembles().cycle_start else start,
    )


def _found(
    event: str, having: Sequence[ProposedTrial], asked: Sequence[ProposedTrial], cycles: Sequence[Strikes], kind: str
) -> str:
    lasting = [cycle.times_s[1] - cycle.times_s[0] for cycle in cycles]
    return (
        f"{len(having)} of {len(asked)} {kind}trials have two or more foot strikes of their side ({event!r}); a cycle, from the "
        f"first to the second, takes {min(lasting):.2f} to {max(lasting):.2f} s"
    )


def _lacking(legs: Sequence[ProposedTrial], window: str) -> list[str]:
    """Sentences on leg trials without two foot strikes of their side."""
    by_reason: dict[str, list[str]] = {}
    walks = [trial.trial for trial in legs if trial.gait]
    for trial in legs:
        has = "only one foot strike of its side" if trial.strikes else "no foot strike of its side"
        other = f"; its other events are {', '.join(trial.other_events[:6])}" if trial.other_events else ""
        by_reason.setdefault(has + other, []).append(trial.trial)
    kept = f": the window stays {MOVEMENT}" + (", in the column ensembles.window" if window != MOVEMENT else "")
    said = [f"{some_of(names)}: {reason}{kept}" for reason, names in by_reason.items()]
    if walks:
        said.append(
            f"{some_of(walks)}: walking needs two foot strikes of the same side for a time-normalised curve, and without a foot none are found; mark them "
            "in the capture software, or give start_s and end_s of one cycle in trials.csv and set ensembles.window to trial; torques do not need this"
        )
    return said

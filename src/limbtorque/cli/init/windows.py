"""Window of 0 to 100 % of the curves: foot strikes, or the movement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from limbtorque.cli.init.names import some_of
from limbtorque.cli.init.proposed_trials import TRAVELS, ProposedTrial
from limbtorque.cli.init.survey import Strikes
from limbtorque.study.chains import limb_of
from limbtorque.study.options.ensembles import Ensembles

MOVEMENT = Ensembles().window


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
    legs = [trial for trial in kept if limb_of(trial.chain) == "leg"]
    asked = legs or kept
    having = [trial for trial in asked if cycles[trial.trial]]
    names = Counter(strikes.event for trial in kept if (strikes := cycles[trial.trial]))
    event = names.most_common(1)[0][0] if names else ""
    window = "events" if 2 * len(having) > len(asked) else MOVEMENT
    evidence = []
    if event:
        evidence.append(
            _found(event, having, asked, [s for trial in kept if (s := cycles[trial.trial])], "leg " if legs else "")
        )
    without = [trial for trial in kept if not cycles[trial.trial]]
    evidence += _lacking([trial for trial in without if limb_of(trial.chain) == "leg"], window)
    restless = [trial.trial for trial in without if trial.at_rest is False and not _walks(trial)]
    if restless:
        evidence.append(
            f"the end of the limb does not rest at the first or last frame of {some_of(restless)}: without a detected movement "
            "these trials have no curve (`limbtorque check` shows it); if they have events, "
            "name them in ensembles.start_event and end_event, else set ensembles.window to trial"
        )
    return ProposedWindow(window, event, tuple(evidence)), tuple(
        _own(trial, cycles[trial.trial], window, event) if trial.can_be_taken else trial for trial in trials
    )


def _walks(trial: ProposedTrial) -> bool:
    """Return True if a leg goes a way, or does not rest at both ends of the recording."""
    return limb_of(trial.chain) == "leg" and (trial.forward_axis == TRAVELS or trial.at_rest is False)


def _cycle(trial: ProposedTrial) -> Strikes | None:
    """Foot strikes that define a cycle of a trial: two at least."""
    if limb_of(trial.chain) != "leg" and trial.at_rest is not False:
        return None
    return max((s for s in trial.strikes if len(s.times_s) > 1), key=lambda s: len(s.times_s), default=None)


def _own(trial: ProposedTrial, cycle: Strikes | None, window: str, event: str) -> ProposedTrial:
    wanted = "events" if cycle else MOVEMENT
    named = cycle.event if cycle and cycle.event != event else ""
    return replace(trial, window="" if wanted == window else wanted, start_event=named, end_event=named)


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
    walks = [trial.trial for trial in legs if _walks(trial)]
    for trial in legs:
        has = "only one foot strike of its side" if trial.strikes else "no foot strike of its side"
        other = f"; its other events are {', '.join(trial.other_events[:6])}" if trial.other_events else ""
        by_reason.setdefault(has + other, []).append(trial.trial)
    kept = f": the window stays {MOVEMENT}" + (", in the column ensembles.window" if window != MOVEMENT else "")
    said = [f"{some_of(names)}: {reason}{kept}" for reason, names in by_reason.items()]
    if walks:
        said.append(
            f"{some_of(walks)}: walking needs two foot strikes of the same side for a time-normalised curve; mark them in the capture software, "
            "or give start_s and end_s of one cycle in trials.csv and set ensembles.window to trial; torques do not need this"
        )
    return said

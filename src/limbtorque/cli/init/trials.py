"""Rows of the table of trials: limbs of a recording, direction, movements."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.known_sets import LAST, WITHOUT_END, Fit, fits, fits_without_end
from limbtorque.cli.init.marker_sets import Sets, partial_set, set_of
from limbtorque.cli.init.survey import Body, Seen, Spells, Strikes
from limbtorque.motion.joint_centres import SIDED, WIDEST_DEG
from limbtorque.motion.plane import MIN_TRAVEL_M, axis_vector, mean_facing
from limbtorque.study.chains import BUILT_IN as CHAINS
from limbtorque.study.chains import limb_of
from limbtorque.study.options.outputs import Ensembles
from limbtorque.study.table_file import TO_DO

TRAVELS = "travel"
FACING = {"leg": "pelvis", "arm": "thorax"}
AHEAD = 0.5  # cosine of the widest angle between travel and the axis that the body faces
AT_END_S = 0.1  # a movement that begins or ends so near to an end of the recording is cut off
LONGEST_REST_S = 1.0  # that a row has before and after its movement
MOST_MOVEMENTS = 50  # of one limb of a recording: more are no rows
IN_SWING = "the markers have no foot: torques of hip and knee in swing only; measure heel and toes for stance"
ON_A_BELT = (
    "the feet are lifted and none stands: on a treadmill give its speed in a column plates.belt_speed_m_s (0 without one), "
    "and the window events in ensembles.window"
)
NO_SET = "no known marker set has half of its joints among these marker names"
ARMS_OF_A_WALK = "arms during walking: remove the leading # to include them"


@dataclass(frozen=True)
class ProposedTrial:
    """A row of the table of trials.

    Attributes
    ----------
    trial, session, subject, file, chain, side, condition, marker_set, prefix, forward_axis, note : str
        Its cells.
    forces_file, emg_file, static_file : str
        Further files.
    up_axis, belt_speed, length_unit, force_unit, rate_hz, marker_names : str
        Options of this trial; empty where those of the study hold, and without a treadmill.
    carried : bool
        Landmarks are carried from the subject's static trial.
    window, start_event, end_event : str
        Options `ensembles` of this trial; empty where those of the study hold.
    left_out : str
        Why it is only a comment; empty where it is a row.
    strikes : tuple of Strikes
        Foot strikes of its side.
    other_events : tuple of str
        Names of the recording's other events.
    at_rest : bool or None
        Whether the end of its chain rests at both ends of the recording; None where its markers are not named.
    gait : bool
        A leg of somebody who goes somewhere, steps on the spot, or goes on a treadmill with plates.
    start_s, end_s : str
        Part of the recording, s; empty for all of it.
    events : str
        Option `ensembles.events` of this trial, as `window`.
    movements : tuple of (float, float)
        Movements of the end of its chain between rests, s from the first frame.
    """

    trial: str
    session: str
    subject: str
    file: str
    chain: str
    side: str
    condition: str
    marker_set: str
    prefix: str
    forward_axis: str
    note: str = ""
    left_out: str = ""
    forces_file: str = ""
    emg_file: str = ""
    static_file: str = ""
    up_axis: str = ""
    belt_speed: str = ""
    length_unit: str = ""
    force_unit: str = ""
    rate_hz: str = ""
    marker_names: str = ""
    carried: bool = False
    window: str = ""
    start_event: str = ""
    end_event: str = ""
    strikes: tuple[Strikes, ...] = ()
    other_events: tuple[str, ...] = ()
    at_rest: bool | None = None
    gait: bool = False
    start_s: str = ""
    end_s: str = ""
    events: str = ""
    movements: Spells = ()

    @property
    def can_be_taken(self) -> bool:
        """Return True if it is a row, or becomes one without its leading #."""
        return self.left_out in ("", ARMS_OF_A_WALK)


def propose_trials(
    recording: Seen,
    body: Body,
    copy_of: str,
    sets: Sets,
    chains: Sequence[str],
    up_axis: str,
    carried: Mapping[str, Sequence[Fit]],
) -> tuple[list[ProposedTrial], list[str]]:
    """Rows for one body of one recording, and notes on it.

    Parameters
    ----------
    recording, body : Seen, Body
        The recording, and whose markers.
    copy_of : str
        Sentence on a recording with the same movement, so that these rows are left out; empty where there is none.
    sets : Sets
        Marker sets proposed so far; those of the rows are added.
    chains : sequence of str
        Which chains to look for.
    up_axis : str
        The axis that points up; empty where it is not certain.
    carried : mapping of str to sequence of Fit
        Limb -> complete fits with landmarks of the subject's static trial (`Statics.complete`); empty where there are none.

    Returns
    -------
    rows : list of ProposedTrial
        One for each limb; session, subject, condition and file are still empty.
    sentences : list of str
        What the recording does not support.
    """
    prefix = body.prefix if len(recording.bodies) > 1 else ""
    left_out = _left_out(recording.alone(body), copy_of)
    travels, note = propose_forward(body, up_axis)
    fits_of = {chain: fits(body.labels, CHAINS[chain]) for chain in chains}
    complete, notes = _complete(body, fits_of, carried, left_out=bool(left_out))
    rows: list[tuple[str, Fit | None, str, str]] = [
        (chain, fit, fit.side or TO_DO, sets.name_of(set_of(fit, chosen)))
        for chain, chosen in complete.items()
        for fit in chosen
    ]
    if not rows:
        if not any(fits_of.values()):
            return [], [f"no arm or leg recognised from the marker names {some_of(body.labels)}; no trial created"]
        chain, sides, built = partial_set(fits_of, body.labels)
        rows = [(chain, None, side, sets.name_of(built)) for side in sides]
        notes = [note.removeprefix("no ") if note.startswith(f"no {chain}: ") else note for note in notes]
    both = len({chain for chain, *_ in rows}) > 1
    treadmill = body.never_stands and bool(recording.n_plates or recording.strikes)
    walks = bool(travels) or _elsewhere(body, up_axis) or body.steps or treadmill
    trials = []
    for chain, fit, side, name in rows:
        limb, end = limb_of(chain), fit.labels_of(CHAINS[chain].end) if fit else ()
        at_rest = _at_rest(body, end)
        walking = travels or treadmill or (recording.strikes and at_rest is not True)
        forward, why = (travels, "") if travels else _faces(recording, body, up_axis, limb, complete.get(chain, ()))
        trials.append(
            ProposedTrial(
                trial=_name(prefix, Path(recording.name).stem, side, chain if both else ""),
                session="",
                subject="",
                file="",
                chain=chain,
                side=side,
                condition="",
                marker_set=name,
                prefix=prefix,
                carried=bool(fit and fit.carried),
                forward_axis=forward,
                belt_speed=TO_DO if limb == "leg" and body.never_stands and recording.n_plates else "",
                note="; ".join(filter(None, (note, why))),
                left_out=left_out or (ARMS_OF_A_WALK if both and limb == "arm" and walking else ""),
                strikes=tuple(strikes for strikes in recording.strikes if strikes.side == side),
                other_events=recording.other_events,
                at_rest=at_rest,
                gait=limb == "leg" and walks,
                movements=max((body.spells[label] for label in end if label in body.spells), key=len, default=()),
            )
        )
    return trials, notes


def split_movements(rows: Sequence[ProposedTrial], last_s: float) -> tuple[list[ProposedTrial], list[str]]:
    """Rows for each of several movements between rests, and a sentence on them.

    Parameters
    ----------
    rows : sequence of ProposedTrial
        Rows of one body of a recording.
    last_s : float
        Time of the last frame, s from the first.

    Returns
    -------
    rows : list of ProposedTrial
        A row with `start_s` and `end_s` in the middle of the rests, at most `LONGEST_REST_S` from the movement, where the end of the
        limb rests between movements; gait stays one row.
    sentences : list of str
        The limbs that were split.
    """
    split: list[ProposedTrial] = []
    said = []
    for row in rows:
        if not 2 <= len(row.movements) <= MOST_MOVEMENTS or row.gait or row.strikes or row.left_out:
            split.append(row)
            continue
        edges = [0.0, *(0.5 * (a[1] + b[0]) for a, b in pairwise(row.movements)), last_s]
        split += [
            replace(
                row,
                trial=f"{row.trial}_{number}",
                start_s=f"{max(early, start - LONGEST_REST_S):.2f}",
                end_s=f"{min(late, stop + LONGEST_REST_S):.2f}",
                at_rest=start > AT_END_S and stop < last_s - AT_END_S,
            )
            for number, ((start, stop), (early, late)) in enumerate(zip(row.movements, pairwise(edges), strict=True), 1)
        ]
        said.append(
            f"{row.side} {row.chain}: {len(row.movements)} movements between rests, each a row with start_s and end_s"
        )
    return split, said


def _left_out(alone: Seen, copy_of: str) -> str:
    """Reason for which the rows of a body are only comments; empty without one."""
    if copy_of:
        return copy_of
    if not alone.still:
        return ""
    return f"no marker moves by more than {max(1.0, math.ceil(1e3 * alone.moved_m)):.0f} mm: a static trial"


def _name(prefix: str, stem: str, side: str, chain: str) -> str:
    """Name of a trial of its parts; sides to be filled in are left out."""
    return safe_name("_".join(filter(None, (prefix, stem, side if side in ("left", "right") else "", chain))))


def _complete(
    body: Body,
    fits_of: Mapping[str, Sequence[Fit]],
    carried: Mapping[str, Sequence[Fit]],
    *,
    left_out: bool,
) -> tuple[dict[str, Sequence[Fit]], list[str]]:
    """Complete fits of each chain, without hand or foot if need be, with notes."""
    complete: dict[str, Sequence[Fit]] = {}
    notes: list[str] = []
    for limb, its_fits in fits_of.items():
        chain, chosen = limb, carried[limb] or _best(its_fits)
        if not chosen and (shorter := fits_without_end(body.labels, WITHOUT_END[limb])):
            chain, chosen = WITHOUT_END[limb], shorter
            notes += [IN_SWING] if limb == "leg" and not left_out else []
        if chosen and not left_out and any(fit.known.name == LAST for fit in chosen):
            notes += [f"{limb}: {chosen[0].known.title}"]
        notes += [] if left_out else _rivals(limb, its_fits) if chosen else _lacks(limb, its_fits)
        complete[chain] = chosen
    return complete, notes


def _at_rest(body: Body, end: Sequence[str]) -> bool | None:
    """Return True if the end of a limb starts and ends at rest, as `movement` needs."""
    shares = [share for label in end for share in body.ends.get(label, ())]
    return max(shares) <= Ensembles().onset_share if shares else None


def _best(chain_fits: Sequence[Fit]) -> list[Fit]:
    """Both sides of the first set that is complete."""
    done = [fit for fit in chain_fits if not fit.missing]
    return [fit for fit in done if fit.known is done[0].known]


def _rivals(chain: str, chain_fits: Sequence[Fit]) -> list[str]:
    """Sentence on further sets that have as many joints, of other markers."""
    done = [fit for fit in chain_fits if not fit.missing]
    joints = {*(joint.landmark for joint in CHAINS[chain].joints), CHAINS[chain].end}
    own = [len(joints & set(fit.rules)) for fit in done]
    others = {
        fit.known.name
        for fit, number in zip(done, own, strict=True)
        if fit.side == done[0].side and fit.rules != done[0].rules and number >= own[0]
    }
    if not others:
        return []
    return [
        f"{chain}: the marker sets {done[0].known.name} and {some_of(others)} fit equally well; {done[0].known.name} is used: "
        "joint centres before markers, markers before keypoints"
    ]


def _lacks(chain: str, chain_fits: Sequence[Fit]) -> list[str]:
    """Sentence on the landmarks that a recording lacks for a chain."""
    if not chain_fits:
        return [f"no {chain}: {NO_SET}"]
    fit = chain_fits[0]
    hints = "; ".join(f"{name}: {fit.known.missing[name]}" for name in fit.missing if name in fit.known.missing)
    return [f"no {chain}: {', '.join(fit.missing)} missing among the {fit.known.title}{f' ({hints})' if hints else ''}"]


def _faces(recording: Seen, body: Body, up_axis: str, limb: str, fits_of_chain: Sequence[Fit]) -> tuple[str, str]:
    """Direction where nobody travels: by both sides of the body, else to fill in."""
    part, sides = FACING[limb], {fit.side: fit for fit in fits_of_chain}
    if set(sides) == {"right", "left"}:
        both = [[sides[side].rules.get(name, ()) for side in ("right", "left")] for name in SIDED[part]]
        labels = next(
            (pair for pair in both if up_axis and all(own and set(own) <= set(body.labels) for own in pair)), None
        )
        if labels is None:
            return part, ""
        right_m, left_m = (recording.sampled(own, body.prefix).mean(axis=1) for own in labels)
        spread_deg = mean_facing(right_m - left_m, axis_vector(up_axis))[1]
        if spread_deg <= WIDEST_DEG:
            return part, ""
        return (
            TO_DO,
            f"the {part} turns (standard deviation {spread_deg:.0f} degrees); plane.kind best_fit follows the limb",
        )
    clue = next((clue.sentence for clue in recording.up if clue.kind == "format"), "")
    return ("+x", clue) if clue else (TO_DO, "")


def propose_forward(body: Body, up_axis: str) -> tuple[str, str]:
    """Travel as the forward axis, or nothing and a note on body and feet."""
    level = np.array([0.0 if axis == up_axis[1:] else 1.0 for axis in "xyz"])
    distance = float(np.linalg.norm(np.array(body.travel_m) * level))
    if _elsewhere(body, up_axis):
        return (
            "",
            f"the markers travel {distance:.2f} m, but the body faces another way; {body.facing.sentence if body.facing else ''}",
        )
    if distance >= 2.0 * MIN_TRAVEL_M:
        return TRAVELS, ""
    seen = f"; {body.facing.sentence}" if body.facing else "; pelvis and feet do not indicate the direction"
    spot = "; both feet are lifted and stand in turn, as in steps on the spot" if body.steps else ""
    belt = f"; {ON_A_BELT}" if body.never_stands else ""
    return "", f"the markers travel only {distance:.2f} m{seen}{spot}{belt}"


def _elsewhere(body: Body, up_axis: str) -> bool:
    """Return True for a body that travels backward or sideways."""
    way = np.array(body.travel_m) * [0.0 if axis == up_axis[1:] else 1.0 for axis in "xyz"]
    distance = float(np.linalg.norm(way))
    if body.facing is None or distance < 2.0 * MIN_TRAVEL_M:
        return False
    return float(axis_vector(body.facing.axis) @ way) < AHEAD * distance


def with_unique_names(trials: Sequence[ProposedTrial]) -> tuple[ProposedTrial, ...]:
    """Trials with names that differ by more than case."""
    count = Counter(trial.trial.lower() for trial in trials)
    taken: set[str] = set()
    named = []
    for trial in trials:
        name = trial.trial
        if count[name.lower()] > 1:
            name = safe_name(f"{Path(trial.file).parent.name}_{name}")
        base, n = name, 2
        while name.lower() in taken:
            name, n = f"{base}_{n}", n + 1
        taken.add(name.lower())
        named.append(replace(trial, trial=name))
    return tuple(named)

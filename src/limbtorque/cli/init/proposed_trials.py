"""Rows of the table of trials: limbs in a recording, direction of walking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from limbtorque.cli.init.known_sets import LAST, Fit, fits, fits_without_end
from limbtorque.cli.init.limb_side import side_by_trunk, trunk_faces
from limbtorque.cli.init.movements import cycles_of, labels_of, movements_of
from limbtorque.cli.init.names import safe_name, some_of
from limbtorque.cli.init.proposed_sets import Confirm, Sets, looks_like_a_body, set_of, unknown_set
from limbtorque.cli.init.statements import of_body
from limbtorque.cli.init.survey import Body, Seen, Strikes
from limbtorque.motion.both_sides import SIDED, WIDEST_DEG
from limbtorque.motion.plane import axis_vector, mean_facing
from limbtorque.study.chains import BUILT_IN as CHAINS
from limbtorque.study.chains import limb_of
from limbtorque.study.options.motion import Plane
from limbtorque.study.options.outputs import Ensembles
from limbtorque.study.table_file import TO_DO

TRAVELS = "travel"
FACING = {"leg": "pelvis", "arm": "thorax"}
NEAR_AXIS_DEG = 15.0  # the cosine is 0.97
AHEAD = 0.5  # cosine of the widest angle between travel and the axis that the body faces
WITHOUT_END = {"arm": "arm_without_hand", "leg": "leg_without_foot"}
IN_SWING = "the markers have no foot: torques of hip and knee in swing only; measure heel and toes for stance"
NO_SET = "no known marker set has half of its joints among these marker names"
ARMS_OF_A_WALK = "arms during walking: remove the leading # to include them"


@dataclass(frozen=True)
class Forward:
    """Forward axis of a trial, its own kind of plane, a note."""

    axis: str
    kind: str = ""
    note: str = ""


@dataclass(frozen=True)
class ProposedTrial:
    """A row of the table of trials.

    Attributes
    ----------
    trial, session, subject, file, chain, side, condition, marker_set, prefix, forward_axis, note : str
        Its cells.
    forces_file, emg_file, static_file : str
        Further files.
    up_axis, plane_kind, belt_speed, length_unit, force_unit, rate_hz, marker_names : str
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
        A leg whose feet travel, move with a belt, or stand and are lifted in turn.
    start_s, end_s : str
        Part of the recording, s; empty for all of it.
    events, cycle_start : str
        Options `ensembles` of this trial, as `window`.
    movements : tuple of (float, float)
        Movements of the end of its chain between rests, s from the first frame.
    cycles : int
        Cycles of that end, relative to the first joint; 0 where it does not move back and forth.
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
    plane_kind: str = ""
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
    cycle_start: str = ""
    movements: tuple[tuple[float, float], ...] = ()
    cycles: int = 0

    @property
    def can_be_taken(self) -> bool:
        """Return True if it is a row, or becomes one without its leading #."""
        return self.left_out in ("", ARMS_OF_A_WALK)


def propose_trials(
    one: Seen,
    body: Body,
    copy_of: str,
    sets: Sets,
    chains: Sequence[str],
    confirm: Confirm | None,
    up_axis: str,
    carried: Mapping[str, Sequence[Fit]],
) -> tuple[list[ProposedTrial], list[str]]:
    """Rows for one body of one recording, and notes on it.

    Parameters
    ----------
    one, body : Seen, Body
        The recording, and whose markers.
    copy_of : str
        Sentence on a recording with the same movement, so that these rows are left out; empty where there is none.
    sets : Sets
        Marker sets proposed so far; those of the rows are added.
    chains : sequence of str
        Which chains to look for.
    confirm : callable or None
        Asks a person whether a likely label is right.
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
    prefix = body.prefix if len(one.bodies) > 1 else ""
    left_out = _left_out(of_body(one, body), copy_of)
    travels, note = propose_forward(body, up_axis)
    found = {chain: fits(body.labels, CHAINS[chain]) for chain in chains}
    complete, notes = _complete(body, found, carried, left_out=bool(left_out))
    rows: list[tuple[str, Fit | None, str, str]] = [
        (chain, fit, fit.side or _side(one, body, fit, chain) or TO_DO, sets.name_of(set_of(fit, chosen)))
        for chain, chosen in complete.items()
        for fit in chosen
    ]
    if not rows:
        if not any(found.values()) and not looks_like_a_body(body, chains):
            said = f"no arm or leg recognised from the marker names {some_of(body.labels)}; no trial created"
            return [], [said]
        chain, sides, built = unknown_set(body, chains, found, confirm)
        rows = [(chain, None, side, sets.name_of(built)) for side in sides]
        notes = [note.removeprefix("no ") if note.startswith(f"no {chain}: ") else note for note in notes]
    both = len({chain for chain, *_ in rows}) > 1
    forward = {
        chain: Forward(travels) if travels else _faces(one, body, up_axis, chain, complete.get(chain, ()))
        for chain, *_ in rows
    }
    proposed = [
        ProposedTrial(
            trial=_name(prefix, Path(one.name).stem, side, chain if both else ""),
            session="",
            subject="",
            file="",
            chain=chain,
            side=side,
            condition="",
            marker_set=name,
            prefix=prefix,
            carried=bool(fit and fit.carried),
            forward_axis=forward[chain].axis,
            plane_kind=forward[chain].kind,
            belt_speed=f"{body.belt_m_s:.2f}" if chain == "leg" and not travels and body.belt_m_s else "",
            note="; ".join(filter(None, (note, forward[chain].note))),
            left_out=left_out or (ARMS_OF_A_WALK if both and _swings(one, body, chain, travels, at_rest) else ""),
            strikes=tuple(strikes for strikes in one.strikes if strikes.side == side),
            other_events=one.other_events,
            at_rest=at_rest,
            gait=limb_of(chain) == "leg" and _walks(body, up_axis, travels),
        )
        for chain, fit, side, name in rows
        for at_rest in [_at_rest(fit, body, chain) if fit else None]
    ]
    fitted = zip(proposed, [fit for _, fit, *_ in rows], strict=True)
    return [_with_movements(trial, fit, one, body, up_axis) if fit else trial for trial, fit in fitted], notes


def _left_out(alone: Seen, copy_of: str) -> str:
    """Reason for which the rows of a body are only comments; empty without one."""
    if copy_of:
        return copy_of
    if not alone.still:
        return ""
    return f"no marker moves by more than {max(1.0, math.ceil(1e3 * alone.moved_m)):.0f} mm: a static trial"


def _with_movements(trial: ProposedTrial, fit: Fit, one: Seen, body: Body, up_axis: str) -> ProposedTrial:
    """Row with the movements and cycles of the end of its chain."""
    unused = trial.gait or trial.strikes or not trial.can_be_taken
    cycles = 0 if unused else cycles_of(fit, one, body, trial.chain, up_axis)
    return replace(trial, movements=movements_of(fit, body, trial.chain), cycles=cycles)


def _name(prefix: str, stem: str, side: str, chain: str) -> str:
    """Name of a trial of its parts; sides to be filled in are left out."""
    return safe_name("_".join(filter(None, (prefix, stem, side if side in ("left", "right") else "", chain))))


def _complete(
    body: Body,
    found: Mapping[str, Sequence[Fit]],
    carried: Mapping[str, Sequence[Fit]],
    *,
    left_out: bool,
) -> tuple[dict[str, Sequence[Fit]], list[str]]:
    """Complete fits of each chain, without hand or foot if need be, with notes."""
    complete: dict[str, Sequence[Fit]] = {}
    notes: list[str] = []
    for limb, its_fits in found.items():
        chain, chosen = limb, carried[limb] or _best(its_fits)
        if not chosen and (shorter := fits_without_end(body.labels, WITHOUT_END[limb])):
            chain, chosen = WITHOUT_END[limb], shorter
            notes += [IN_SWING] if limb == "leg" and not left_out else []
        if chosen and not left_out and any(fit.known.name == LAST for fit in chosen):
            notes += [f"{limb}: {chosen[0].known.title}"]
        notes += [] if left_out else _rivals(limb, its_fits) if chosen else _lacks(limb, its_fits)
        complete[chain] = chosen
    return complete, notes


def _side(one: Seen, body: Body, fit: Fit, chain: str) -> str:
    """Side of the trunk on which a chain begins, of labels without a side."""
    first = CHAINS[chain].joints[0].landmark
    labels = fit.rules.get(first) or fit.rules.get(fit.known.substitutes.get(first, ("",))[0], ())
    return side_by_trunk(one, body, labels) if labels else ""


def _swings(one: Seen, body: Body, chain: str, forward: str, at_rest: bool | None) -> bool:
    """Return True if a chain is the free arm of a walking person, on a treadmill, too."""
    walks = forward == TRAVELS or body.belt_m_s > 0.0
    return limb_of(chain) == "arm" and (walks or (bool(one.strikes) and at_rest is not True))


def _at_rest(fit: Fit, body: Body, chain: str) -> bool | None:
    """Return True if a chain's end starts and ends at rest, as `movement` needs."""
    labels = labels_of(fit, CHAINS[chain].end)
    shares = [share for label in labels for share in body.ends.get(label, ())]
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


def _faces(one: Seen, body: Body, up_axis: str, chain: str, fits_of_chain: Sequence[Fit]) -> Forward:
    """Direction where nobody travels: a part of the body, else the nearest axis.

    To be filled in where the trunk has no markers of both sides.
    """
    part, sides = FACING[limb_of(chain)], {fit.side: fit for fit in fits_of_chain}
    for name in SIDED[part] if set(sides) == {"right", "left"} else ():
        own = [sides[side].rules.get(name, ()) for side in ("right", "left")]
        if up_axis and all(labels and set(labels) <= set(body.labels) for labels in own):
            right_m, left_m = (one.sampled(labels, body.prefix).mean(axis=1) for labels in own)
            if mean_facing(right_m - left_m, axis_vector(up_axis))[1] <= WIDEST_DEG:
                return Forward(part)
            break
    else:
        if set(sides) == {"right", "left"}:
            return Forward(part)
    found = trunk_faces(one, body, up_axis) if up_axis else None
    if found is None and any(clue.kind == "format" for clue in one.up):
        return Forward("+x", note=next(clue.sentence for clue in one.up if clue.kind == "format"))
    if found is None:
        return Forward(TO_DO)
    steady = found.spread_deg <= WIDEST_DEG
    if steady and found.off_deg <= NEAR_AXIS_DEG:
        return Forward(found.axis, note=f"the trunk faces {found.axis} within {found.off_deg:.0f} degrees")
    turns = "" if steady else f" and turns (standard deviation {found.spread_deg:.0f} degrees)"
    return Forward(
        found.axis,
        "best_fit",
        f"the trunk faces {found.off_deg:.0f} degrees off {found.axis}{turns}: the plane is that of the limb (a guess)",
    )


def propose_forward(body: Body, up_axis: str) -> tuple[str, str]:
    """Travel as the forward axis, or nothing and a note on body and feet."""
    level = np.array([0.0 if axis == up_axis[1:] else 1.0 for axis in "xyz"])
    distance = float(np.linalg.norm(np.array(body.travel_m) * level))
    if _elsewhere(body, up_axis):
        return (
            "",
            f"the markers travel {distance:.2f} m, but the body faces another way; {body.facing.sentence if body.facing else ''}",
        )
    if distance >= 2.0 * Plane().min_travel_m:
        return TRAVELS, ""
    seen = f"; {body.facing.sentence}" if body.facing else "; pelvis and feet do not indicate the direction"
    belt = f"; the feet move back at {body.belt_m_s:.2f} m/s, as on a treadmill" if body.belt_m_s else ""
    spot = "; both feet are lifted and stand in turn, as in steps on the spot" if body.steps and not belt else ""
    return "", f"the markers travel only {distance:.2f} m{seen}{belt}{spot}"


def _walks(body: Body, up_axis: str, travels: str) -> bool:
    """Return True for a body that goes somewhere, on a treadmill or on the spot."""
    return travels == TRAVELS or _elsewhere(body, up_axis) or body.belt_m_s > 0.0 or body.steps


def _elsewhere(body: Body, up_axis: str) -> bool:
    """Return True for a body that travels backward or sideways."""
    way = np.array(body.travel_m) * [0.0 if axis == up_axis[1:] else 1.0 for axis in "xyz"]
    distance = float(np.linalg.norm(way))
    if body.facing is None or distance < 2.0 * Plane().min_travel_m:
        return False
    return float(axis_vector(body.facing.axis) @ way) < AHEAD * distance


def with_unique_names(trials: Sequence[ProposedTrial]) -> tuple[ProposedTrial, ...]:
    """Trials with names that differ by more than case."""
    count: dict[str, int] = {}
    for trial in trials:
        count[trial.trial.lower()] = count.get(trial.trial.lower(), 0) + 1
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

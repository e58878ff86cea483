"""Proposed rows of the table of trials: limbs, direction, movements."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.cli.check_summary import some_of
from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.known_sets import LAST, WITHOUT_END, Fit, fits, fits_without_end
from limbtorque.cli.init.marker_sets import ProposedSet, Sets, partial_set, set_of
from limbtorque.cli.init.survey import ONSET_SHARE, Body, Seen, Spells, Strikes
from limbtorque.motion.joint_centres import SIDED, WIDEST_DEG
from limbtorque.motion.plane import MIN_TRAVEL_M, mean_facing
from limbtorque.study.chains import BUILT_IN as CHAINS
from limbtorque.study.chains import limb_of
from limbtorque.study.options.motion import axis_vector
from limbtorque.study.table_file import TO_DO

TRAVELS = "travel"
FORWARD = "plane.forward_axis"
FACING = {"leg": "pelvis", "arm": "thorax"}
AHEAD = 0.5  # cosine of the widest angle between travel and the axis that the body faces
AT_END_S = 0.1  # a movement that begins or ends so near to an end of the recording is cut off
LONGEST_REST_S = 1.0  # that a row has before and after its movement
MOST_MOVEMENTS = 50  # of one limb of a recording: more are no rows
IN_SWING = "no foot markers: hip and knee torques in swing only; add heel and toe markers for stance"
ON_A_BELT = (
    "the feet are lifted but never stand: on a treadmill give its speed in a column plates.belt_speed_m_s (0 without one), "
    "and the window events in ensembles.window"
)
_Limb = tuple[str, str, Fit | None, ProposedSet]  # chain, side, fit, marker set
LEG_WORDS = ("thigh", "kne", "shank", "ank")  # in marker names of walks that are not made for the arms
NO_SET = "these marker names match less than half of the joints of any known marker set"
ARMS_OF_A_WALK = "arms during walking: remove the leading # to include them"


@dataclass(frozen=True)
class ProposedTrial:
    """Proposed row of the table of trials.

    Attributes
    ----------
    cells : dict of str to str
        Column -> text; columns that are not in it are empty.
    left_out : str
        Why it is only a comment; empty where it is a row.
    strikes : tuple of Strikes
        Foot strikes of its side.
    at_rest : bool or None
        Whether the end of its chain rests at both ends of the recording; None where its markers are not named.
    gait : bool
        A leg of somebody who goes somewhere, steps on the spot, or goes on a treadmill with plates.
    grounded : bool
        A leg in a recording with force plates or foot strikes.
    movements : tuple of (float, float)
        Movements of the end of its chain between rests, s from the first frame.
    """

    cells: Mapping[str, str]
    left_out: str = ""
    strikes: tuple[Strikes, ...] = ()
    at_rest: bool | None = None
    gait: bool = False
    grounded: bool = False
    movements: Spells = ()

    def __getitem__(self, column: str) -> str:
        """Value of a cell."""
        return self.cells.get(column, "")

    def with_cells(self, cells: Mapping[str, str]) -> ProposedTrial:
        """Row with changed cells."""
        return replace(self, cells={**self.cells, **cells})

    @property
    def can_be_taken(self) -> bool:
        """Return True for a row that is analysed, or can be by removing its leading #."""
        return self.left_out in ("", ARMS_OF_A_WALK)

    @property
    def limb(self) -> str:
        """Arm or leg."""
        return limb_of(self["chain"])


def propose_trials(
    recording: Seen,
    body: Body,
    sets: Sets,
    statics: Mapping[str, tuple[str, Sequence[Fit]]],
    *,
    shared: Mapping[str, str],
    up_axis: str,
    copy_of: str,
) -> tuple[list[ProposedTrial], list[str]]:
    """Rows for one person in a recording, and notes.

    Parameters
    ----------
    recording, body : Seen, Body
        The recording, and whose markers.
    sets : Sets
        Marker sets proposed so far; those of the rows are added.
    statics : mapping of str to (str, sequence of Fit)
        Limb to look for -> file of the subject's static trial, and complete fits with landmarks of it (`Statics.complete`); both empty
        where there is none.
    shared : mapping of str to str
        Cells of all rows; a forward axis holds.
    up_axis : str
        The axis that points up; empty where it is not certain.
    copy_of : str
        Sentence on a recording with the same movement, so that these rows are left out; empty where there is none.

    Returns
    -------
    rows : list of ProposedTrial
        One for each limb, or for each of its movements between rests.
    sentences : list of str
        What the recording does not support.
    """
    prefix = body.prefix if len(recording.bodies) > 1 else ""
    alone = recording.alone(body)
    still = f"no marker moves by more than {max(1.0, math.ceil(1e3 * alone.moved_m)):.0f} mm: a static trial"
    left_out = copy_of or (still if alone.still else "")
    travels, note = propose_forward(body, up_axis)
    treadmill = body.never_stands and bool(recording.n_plates or recording.strikes)
    goes = bool(travels) or treadmill
    limbs, complete, notes = _limbs(body, statics, left_out=bool(left_out), goes=goes)
    if not limbs:
        return [], notes
    several = len({chain for chain, *_ in limbs}) > 1
    beside_legs = several or ("leg" in statics and _has_legs(body))
    walks = goes or _elsewhere(body, up_axis) or body.steps
    rows: list[ProposedTrial] = []
    for chain, side, fit, marker_set in limbs:
        limb, end = limb_of(chain), fit.labels_of(CHAINS[chain].end) if fit else ()
        shares = [share for label in end for share in body.ends.get(label, ())]
        at_rest = max(shares) <= ONSET_SHARE if shares else None  # at both ends, as `movement` needs
        walking = goes or (recording.strikes and at_rest is not True)
        forward, why = (travels, "") if travels else _faces(recording, body, up_axis, limb, complete.get(chain, ()))
        if given := shared.get(FORWARD):
            forward, why = given, "given by --set plane.forward_axis"
        name = (prefix, Path(recording.name).stem, side if side != TO_DO else "", chain if several else "")
        row = ProposedTrial(
            {
                **shared,
                "trial": safe_name("_".join(filter(None, name))),
                "chain": chain,
                "side": side,
                "marker_set": sets.name_of(marker_set),
                "prefix": prefix,
                "static_file": statics[limb][0] if fit and fit.carried else "",
                FORWARD: forward,
                "plates.belt_speed_m_s": TO_DO if limb == "leg" and body.never_stands and recording.n_plates else "",
                "note": "; ".join(filter(None, (note, why))),
            },
            left_out=left_out or (ARMS_OF_A_WALK if beside_legs and limb == "arm" and walking else ""),
            strikes=tuple(strikes for strikes in recording.strikes if strikes.side == side),
            at_rest=at_rest,
            gait=limb == "leg" and walks,
            grounded=limb == "leg" and bool(recording.n_plates or recording.strikes),
            movements=max((body.spells[label] for label in end if label in body.spells), key=len, default=()),
        )
        parts = _movements(row, recording)
        if len(parts) > 1:
            notes.append(f"{side} {chain}: {len(parts)} movements between rests, one row each (start_s, end_s)")
        rows += parts
    return rows, notes


def _movements(row: ProposedTrial, recording: Seen) -> list[ProposedTrial]:
    """Rows for each of several movements between rests; one row for gait.

    A row begins and ends in the middle of the rests, at most `LONGEST_REST_S` from the movement.
    """
    if not 2 <= len(row.movements) <= MOST_MOVEMENTS or row.gait or row.strikes or row.left_out:
        return [row]
    last_s = (recording.n_frames - 1) / recording.rate_hz
    edges = [0.0, *(0.5 * (a[1] + b[0]) for a, b in pairwise(row.movements)), last_s]
    rows: list[ProposedTrial] = []
    for (start, stop), (early, late) in zip(row.movements, pairwise(edges), strict=True):
        cells = {
            "trial": f"{row['trial']}_{len(rows) + 1}",
            "start_s": f"{max(early, start - LONGEST_REST_S):.2f}",
            "end_s": f"{min(late, stop + LONGEST_REST_S):.2f}",
        }
        rows.append(replace(row.with_cells(cells), at_rest=start > AT_END_S and stop < last_s - AT_END_S))
    return rows


def _limbs(
    body: Body, statics: Mapping[str, tuple[str, Sequence[Fit]]], *, left_out: bool, goes: bool
) -> tuple[list[_Limb], dict[str, Sequence[Fit]], list[str]]:
    """Limbs of a person, complete fits of each chain, and notes.

    Both sides of the first complete set, if necessary without hand or foot; otherwise the set with the fewest missing landmarks,
    also of the legs of a body that `goes`, beside complete arms.
    """
    fits_of = {limb: fits(body.labels, CHAINS[limb]) for limb in statics}
    complete: dict[str, Sequence[Fit]] = {}
    notes: list[str] = []
    for limb, partly in fits_of.items():
        whole = [fit for fit in partly if not fit.missing]
        chain, chosen = limb, statics[limb][1] or [fit for fit in whole if fit.known.name == whole[0].known.name]
        if not chosen and (shorter := fits_without_end(body.labels, WITHOUT_END[limb])):
            chain, chosen = WITHOUT_END[limb], shorter
            notes += [IN_SWING] if limb == "leg" else []
        complete[chain] = chosen
        if chosen and any(fit.known.name == LAST for fit in chosen):
            notes.append(f"{limb}: {chosen[0].known.title}")
        elif not chosen:
            notes.append(f"no {limb}: {_lacks(partly[0]) if partly else NO_SET}")
    limbs: list[_Limb] = [
        (chain, fit.side or TO_DO, fit, set_of(fit, both)) for chain, both in complete.items() for fit in both
    ]
    if not limbs and not any(fits_of.values()):
        return [], {}, [f"no arm or leg recognised from the marker names {some_of(body.labels)}; no trial created"]
    open_fits = {} if limbs else fits_of
    if limbs and goes and fits_of.get("leg") and "leg" not in {limb_of(chain) for chain, *_ in limbs}:
        open_fits = {"leg": fits_of["leg"]}
    if open_fits:
        chain, sides, partial = partial_set(open_fits, body.labels)
        limbs += [(chain, side, None, partial) for side in sides]
        notes = [note.removeprefix("no ") if note.startswith(f"no {chain}: ") else note for note in notes]
    return limbs, complete, [] if left_out else notes


def _has_legs(body: Body) -> bool:
    """Return True if names of markers are those of a leg."""
    return any(word in label.casefold() for label in body.labels for word in LEG_WORDS)


def _lacks(fit: Fit) -> str:
    """Sentence on the landmarks missing for a chain."""
    hints = "; ".join(f"{name}: {fit.known.missing[name]}" for name in fit.missing if name in fit.known.missing)
    return f"{', '.join(fit.missing)} missing among the {fit.known.title}{f' ({hints})' if hints else ''}"


def _faces(recording: Seen, body: Body, up_axis: str, limb: str, fits_of_chain: Sequence[Fit]) -> tuple[str, str]:
    """Direction of a body that does not travel, from markers on both sides, or TODO."""
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
            f"the {part} turns (standard deviation {spread_deg:.0f} degrees); plane.kind best_fit fits the limb's plane",
        )
    clue = next((clue.sentence for clue in recording.up if clue.kind == "format"), "")
    return ("+x", clue) if clue else (TO_DO, "")


def propose_forward(body: Body, up_axis: str) -> tuple[str, str]:
    """Travel as the forward axis, or nothing, with a note on body and feet."""
    distance = float(np.linalg.norm(_way_m(body, up_axis)))
    if body.facing and _elsewhere(body, up_axis):
        return "", f"the markers travel {distance:.2f} m, but the body faces another direction; {body.facing.sentence}"
    if distance >= 2.0 * MIN_TRAVEL_M:
        return TRAVELS, ""
    seen = f"; {body.facing.sentence}" if body.facing else "; pelvis and feet do not indicate the direction"
    spot = "; both feet step in turn, as in stepping on the spot" if body.steps else ""
    belt = f"; {ON_A_BELT}" if body.never_stands else ""
    return "", f"the markers travel only {distance:.2f} m{seen}{spot}{belt}"


def _way_m(body: Body, up_axis: str) -> FloatArray:
    """Horizontal travel of a body, shape (3,), m."""
    return np.array([0.0 if axis == up_axis[1:] else m for axis, m in zip("xyz", body.travel_m, strict=True)])


def _elsewhere(body: Body, up_axis: str) -> bool:
    """Return True for a body that travels backward or sideways."""
    way_m = _way_m(body, up_axis)
    distance = float(np.linalg.norm(way_m))
    if body.facing is None or distance < 2.0 * MIN_TRAVEL_M:
        return False
    return float(axis_vector(body.facing.axis) @ way_m) < AHEAD * distance


def with_unique_names(trials: Sequence[ProposedTrial]) -> list[ProposedTrial]:
    """Trials with names that differ by more than case."""
    count = Counter(trial["trial"].lower() for trial in trials)
    names: dict[str, None] = {}
    rows = []
    for trial in trials:
        base = trial["trial"]
        if count[base.lower()] > 1:
            base = safe_name(f"{Path(trial['file']).parent.name}_{base}")
        name, n = base, 2
        while name.lower() in names:
            name, n = f"{base}_{n}", n + 1
        names[name.lower()] = None
        rows.append(trial.with_cells({"trial": name}))
    return rows

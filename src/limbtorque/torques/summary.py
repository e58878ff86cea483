"""Summary of a trial's torques, and comparison with results of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.chain.dynamics import TorqueTerms
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.study.chains import ChainModel
from limbtorque.tables.files import column_values
from limbtorque.tables.frame_columns import term_columns
from limbtorque.tables.study_columns import AT_GAP, MEASURED, MIRRORED, OUTER
from limbtorque.tables.trial_record import SAME_TIME_S, FileOutput, Window
from limbtorque.torques.joint_torques import Torques, beside_gap, used_frames

UNITS = {"angle": "deg", "torque": "N m/kg", "power": "W/kg"}
KINDS = {"angle": "angle", "torque": "moment", "power": "power"}  # words for them in the file
LEAST_FRAMES = 10
RISE_S = 0.05  # before a gap: a torque at rest does not rise
UNKNOWN = {column.name: float("nan") for column in MEASURED if not column.name.endswith("_percent")}
UNKNOWN |= {column.name: 0 for column in AT_GAP}


def torque_summary(
    motion: ChainMotion,
    torques: Torques,
    *,
    windows: Mapping[str, BoolArray],
    min_known_share: float,
) -> list[dict[str, Any]]:
    """One row for every window, joint and term, in the signs and times of the motion.

    `study_rows` makes rows of the study's tables of them.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    min_known_share : float
        Least share of a window's frames with a known torque; with less, its statistics are NaN.

    Returns
    -------
    list of dict
        Statistics counter-clockwise positive, times from the first frame of the recording.

    Notes
    -----
    Frames with edge effects or unknown torque are left out; integrals are trapezoids between neighbouring used frames. In
    swing the torques of knee and ankle are a fraction of those in stance: a peak over a window whose stance is not known
    would be too small by as much.
    """
    return [
        {"window": name, **row}
        for name, inside in windows.items()
        for row in _window_rows(motion, torques, inside=inside, min_known_share=min_known_share)
    ]


def study_rows(
    rows: Iterable[Mapping[str, Any]], model: ChainModel, *, flexion_sign: Mapping[str, float]
) -> tuple[dict[str, Any], ...]:
    """Rows of the summary, flexion positive.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of `torque_summary`, with the columns of their uncertainty or without.
    model : ChainModel
        The chain, for the names of flexion and extension.
    flexion_sign : mapping of str to float
        By joint: +1 where counter-clockwise is flexion, -1 where it is extension.

    Returns
    -------
    tuple of dict
        Rows of `results/summary.csv` and `results/summary_bands.csv` without the trial's own columns and without those over
        body mass. The outer limit of an extreme at a gap is NaN.
    """
    names = {joint.name: (joint.flexion_name, joint.extension_name) for joint in model.joints}
    made = []
    for row in rows:
        values = dict(row)
        if flexion_sign[row["joint"]] < 0.0:
            values |= {name: factor * row[other] for name, (other, factor) in MIRRORED.items() if other in row}
        flexion, extension = names[row["joint"]]
        peak = values["peak_nm"]
        sense = "" if not peak or np.isnan(peak) else flexion if peak > 0 else extension
        outer = OUTER | {"peak": OUTER["max" if peak > 0 else "min"]}
        cut = [f"{name}{limit}_nm" for name, limit in outer.items() if values.get(f"{name}_at_gap")]
        values |= {name: np.nan for name in cut if name in values}
        made.append({**values, "positive_is": flexion, "peak_sense": sense})
    return tuple(made)


def _window_rows(
    motion: ChainMotion, torques: Torques, *, inside: BoolArray, min_known_share: float
) -> list[dict[str, Any]]:
    """Rows of one window."""
    terms = torques.terms
    used = inside & used_frames(motion, torques)
    share = float(used.sum() / inside.sum()) if inside.any() else 0.0
    about = {"n_frames": int(used.sum()), "used_share": share}
    about["loaded_share"] = float((motion.load.status[used] == 1).mean()) if used.any() else 0.0
    at_gap = np.asarray(beside_gap(used_frames(motion, torques)).any(axis=0))
    rows = []
    for i, joint in enumerate(motion.joints):
        prefix, suffix = f"{joint}_torque_", "_nm"
        names = ["net", *(c.name[len(prefix) : -len(suffix)] for c in term_columns(joint, motion.joints))]
        if not used.any() or share < min_known_share:
            statistics = [UNKNOWN for _ in names]
        else:
            velocity = motion.kinematics.velocity_rad_s[:, i]
            statistics = _statistics(_of_joint(terms, i), velocity, motion.time_s, used, motion.rate_hz, at_gap=at_gap)
        rows += [
            {"joint": joint, "term": name, **about, **values} for name, values in zip(names, statistics, strict=True)
        ]
    return rows


def cut_peak_share(motion: ChainMotion, torques: Torques, frames: BoolArray) -> dict[str, float]:
    """Rise of the net torque to an extreme beside unused frames, over its range.

    Parameters
    ----------
    motion, torques
        Motion and torques.
    frames : ndarray of bool, shape (n_frames,)
        Frames of the window; those with edge effects or unknown torque are left out.

    Returns
    -------
    dict of str to float
        By joint, of the larger of maximum and minimum: rise over the `RISE_S` before the gap; 0 where frames on both sides of the
        extreme are used. Empty without a frame.
    """
    known, reach = used_frames(motion, torques), max(round(RISE_S * motion.rate_hz), 1)
    before, after = beside_gap(known).astype(int)
    net, inwards = torques.terms.net[known & frames], reach * (before - after)[known & frames]
    if not net.size:
        return {}
    ends = np.stack([net.argmax(axis=0), net.argmin(axis=0)])
    begin = np.clip(ends + inwards[ends], 0, len(net) - 1)
    rise = np.abs(np.take_along_axis(net, ends, 0) - np.take_along_axis(net, begin, 0)).max(axis=0)
    return dict(zip(motion.joints, (rise / np.maximum(np.ptp(net, axis=0), 1e-300)).tolist(), strict=True))


def _of_joint(terms: TorqueTerms, i: int) -> FloatArray:
    """Net torque and terms of a joint, shape (n_terms, n_frames)."""
    several = [each[:, i].T for each in (terms.inertial, terms.centripetal, terms.coriolis)]
    return np.vstack([terms.net[:, i], *several, terms.gravity[:, i], terms.base[:, i], terms.external[:, i]])


def _statistics(
    torque: FloatArray,
    velocity: FloatArray,
    time_s: FloatArray,
    used: BoolArray,
    rate_hz: float,
    *,
    at_gap: BoolArray,
) -> list[dict[str, Any]]:
    """Summary of each term of a joint; torques have shape (n_terms, n_frames)."""
    values, power = (np.compress(used, array, axis=1) for array in (torque, torque * velocity))
    times = time_s[used]
    together, gaps = np.diff(np.flatnonzero(used)) == 1, at_gap[used].astype(int)
    which = np.arange(len(values))
    top, greatest, least = np.abs(values).argmax(1), values.argmax(1), values.argmin(1)
    peak = values[which, top]

    def time_of(frame: NDArray[np.intp]) -> FloatArray:
        return np.where(peak != 0.0, times[frame], np.nan)

    columns = {
        **{column.name: gaps[at] for column, at in zip(AT_GAP, (top, greatest, least), strict=True)},
        "peak_nm": peak,
        "peak_time_s": time_of(top),
        "max_nm": values[which, greatest],
        "max_time_s": time_of(greatest),
        "min_nm": values[which, least],
        "min_time_s": time_of(least),
        "mean_nm": values.mean(1),
        "rms_nm": np.sqrt((values**2).mean(1)),
        "impulse_nms": _integrals(values, together, rate_hz),
        "peak_power_w": power[which, np.abs(power).argmax(1)],
        "max_power_w": power.max(1),
        "min_power_w": power.min(1),
        "positive_work_j": _integrals(np.maximum(power, 0.0), together, rate_hz),
        "negative_work_j": _integrals(np.minimum(power, 0.0), together, rate_hz),
    }
    lists = {name: column.tolist() for name, column in columns.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _integrals(values: FloatArray, together: BoolArray, rate_hz: float) -> FloatArray:
    """Integral over time of each row, by trapezoids between neighbouring frames."""
    found: FloatArray = (np.compress(together, values[:, 1:] + values[:, :-1], axis=1) / 2.0).sum(1) / rate_hz
    return found


def beside_file(
    motion: ChainMotion,
    torques: Torques,
    table: pa.Table,
    outputs: Sequence[FileOutput],
    *,
    window: Window,
    mass_kg: float,
) -> list[dict[str, Any]]:
    """Compare each joint with the results in the file, over the same frames.

    Parameters
    ----------
    motion, torques
        The trial.
    table : pyarrow.Table
        Its table of kinematics, with the columns of `tables.frame_columns.file_columns`.
    outputs : sequence of FileOutput
        The joints that the file has results for.
    window : Window
        Window of the trial; where there is none, all frames count.
    mass_kg : float
        Body mass, kg.

    Returns
    -------
    list of dict
        Rows of `tables.compared_columns.BESIDE_FILE_COLUMNS` without the columns of the trial: angle, torque and power of each joint, over the
        frames of the window where both are known and no end of the trial is near.

    Notes
    -----
    Ours is a, theirs b, both flexion positive: r is their correlation, rms that of a - b, ``peak_ratio`` the extreme of a
    in the direction of the largest value of b over that value.
    """
    inside = ~motion.edge
    if not window.note:
        inside &= (motion.time_s >= window.start_s - SAME_TIME_S) & (motion.time_s <= window.end_s + SAME_TIME_S)
    return [
        row
        for output in outputs
        for row in _beside_file_row(motion, torques, table, output, inside=inside, mass_kg=mass_kg)
    ]


def _beside_file_row(
    motion: ChainMotion, torques: Torques, table: pa.Table, output: FileOutput, *, inside: BoolArray, mass_kg: float
) -> Iterator[dict[str, Any]]:
    k = motion.joints.index(output.joint)
    sign, zero_rad = motion.flexion.sign[k], motion.flexion.zero_rad[k]
    ours = {
        "angle": np.degrees(sign * (motion.kinematics.angle_rad[:, k] - zero_rad)),
        "torque": sign * torques.terms.net[:, k] / mass_kg,
        "power": torques.powers.joint[:, k] / mass_kg,
    }
    name = f"{output.joint}_file"
    theirs = {
        "angle": np.degrees(sign * (column_values(table, f"{name}_angle_rad") - zero_rad)),
        "torque": sign * column_values(table, f"{name}_torque_nm") / mass_kg,
        "power": column_values(table, f"{name}_power_w") / mass_kg,
    }
    signs = {"angle": output.angle_sign, "torque": output.moment_sign, "power": 1}
    for quantity, unit in UNITS.items():
        kind = KINDS[quantity]
        used = inside & np.isfinite(ours[quantity]) & np.isfinite(theirs[quantity])
        yield {
            "joint": output.joint,
            "quantity": quantity,
            "unit": unit,
            **_agreement(ours[quantity][used], theirs[quantity][used], motion.time_s[used]),
            "file_label": output.labels[kind],
            "file_unit": output.units[kind],
            "file_per_kg": int(output.per_kg and quantity != "angle"),
            "file_sign": signs[quantity],
            "file_convention": output.convention(kind),
        }


def _agreement(ours: FloatArray, theirs: FloatArray, time_s: FloatArray) -> dict[str, float]:
    """Metrics of the comparison; empty for fewer than ten frames."""
    names = ("start_s", "end_s", "r", "rms", "mean_difference", "peak", "file_peak", "peak_ratio")
    if len(ours) < LEAST_FRAMES:
        return {"n_frames": len(ours), **dict.fromkeys(names, float("nan"))}
    file_peak = float(theirs[np.abs(theirs).argmax()])
    peak = float(ours.max() if file_peak > 0.0 else ours.min())
    moving = min(np.ptp(ours), np.ptp(theirs)) > 0.0
    found = (
        float(time_s[0]),
        float(time_s[-1]),
        float(np.corrcoef(ours, theirs)[0, 1]) if moving else float("nan"),
        float(np.sqrt(np.mean((ours - theirs) ** 2))),
        float(np.mean(ours - theirs)),
        peak,
        file_peak,
        peak / file_peak if file_peak else float("nan"),
    )
    return {"n_frames": len(ours), **dict(zip(names, found, strict=True))}

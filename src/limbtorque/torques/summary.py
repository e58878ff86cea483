"""Summary of torques: peak, mean, impulse, power and work by joint and term."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.study.chains import ChainModel
from limbtorque.tables.summary_columns import STATISTICS
from limbtorque.tables.torque_columns import term_columns
from limbtorque.torques.joint_torques import Torques, used_frames


def torque_summary(motion: ChainMotion, torques: Torques, model: ChainModel) -> list[dict[str, Any]]:
    """One row for every joint and term.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    model : ChainModel
        The chain, for the names of flexion and extension.

    Returns
    -------
    list of dict
        Rows of `results/summary.csv` without the trial's own columns.

    Notes
    -----
    Frames with edge effects or unknown torque are left out; integrals are trapezoids between neighbouring used frames.
    """
    terms = torques.terms
    used = used_frames(motion, torques)
    loaded_share = float((motion.load.status[used] == 1).mean()) if used.any() else 0.0
    stacked = np.concatenate(
        [
            terms.net[:, :, None],
            terms.inertial,
            terms.centripetal,
            terms.coriolis,
            np.stack([terms.gravity, terms.base, terms.external], axis=2),
        ],
        axis=2,
    )
    rows = []
    for i, joint in enumerate(motion.joints):
        prefix, suffix = f"{joint}_torque_", "_nm"
        names = ["net", *(c.name[len(prefix) : -len(suffix)] for c in term_columns(joint, motion.joints))]
        sense = (model.joints[i].flexion_name, model.joints[i].extension_name)
        positive, negative = sense if motion.flexion.sign[i] > 0 else sense[::-1]
        statistics = _statistics(
            stacked[:, i].T, motion.kinematics.velocity_rad_s[:, i], motion.time_s, used, motion.rate_hz
        )
        for name, found in zip(names, statistics, strict=True):
            peak = found["peak_nm"]
            direction = "" if not peak or np.isnan(peak) else positive if peak > 0 else negative
            about = {"joint": joint, "term": name, "positive_is": positive, "peak_sense": direction}
            rows.append({**about, **found, "loaded_share": loaded_share})
    return rows


def _statistics(
    torque: FloatArray, velocity: FloatArray, time_s: FloatArray, used: NDArray[np.bool_], rate_hz: float
) -> list[dict[str, Any]]:
    """Summary of each term of a joint; torques have shape (n_terms, n_frames)."""
    values, power = (np.compress(used, array, axis=1) for array in (torque, torque * velocity))
    n_terms, n_frames = values.shape
    if not n_frames:
        nothing = {"n_frames": 0, "used_share": 0.0, "peak_at_gap": 0}
        return [{**nothing, **{column.name: float("nan") for column in STATISTICS}} for _ in range(n_terms)]
    times = time_s[used]
    frames = np.flatnonzero(used)
    together = np.diff(frames) == 1
    beside = ~np.pad(used, 1)
    at_gap = beside[frames] | beside[frames + 2]
    which = np.arange(n_terms)
    top, greatest, least = np.abs(values).argmax(1), values.argmax(1), values.argmin(1)
    peak = values[which, top]

    def time_of(frame: NDArray[np.intp]) -> FloatArray:
        return np.where(peak != 0.0, times[frame], np.nan)

    columns = {
        "n_frames": np.full(n_terms, n_frames),
        "used_share": np.full(n_terms, used.mean()),
        "peak_nm": peak,
        "peak_time_s": time_of(top),
        "peak_at_gap": at_gap[top].astype(int),
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


def _integrals(values: FloatArray, together: NDArray[np.bool_], rate_hz: float) -> FloatArray:
    """Integral over time of each row, by trapezoids between neighbouring frames."""
    found: FloatArray = (np.compress(together, values[:, 1:] + values[:, :-1], axis=1) / 2.0).sum(1) / rate_hz
    return found

"""What a trial's torques come to: peak, mean, impulse, power and work of every joint and term."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from limbtorque.motion import ChainMotion
from limbtorque.settings import ChainModel
from limbtorque.tables import STATISTICS, term_columns
from limbtorque.torques import Torques, used_frames

FloatArray = NDArray[np.float64]


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
    Frames at the ends and frames whose torque is not known are left out; integrals are trapezoids between
    neighbouring frames that are both used.
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
        positive, negative = sense if motion.flexion_sign[i] > 0 else sense[::-1]
        for k, name in enumerate(names):
            figures = _figures(stacked[:, i, k], motion.velocity_rad_s[:, i], motion.time_s, used, motion.rate_hz)
            figures["loaded_share"] = loaded_share
            peak = figures["peak_nm"]
            direction = "" if not peak or np.isnan(peak) else positive if peak > 0 else negative
            rows.append({"joint": joint, "term": name, "positive_is": positive, "peak_sense": direction, **figures})
    return rows


def _figures(
    torque: FloatArray, velocity: FloatArray, time_s: FloatArray, used: NDArray[np.bool_], rate_hz: float
) -> dict[str, Any]:
    values, power = torque[used], (torque * velocity)[used]
    if not values.size:
        return {
            "n_frames": 0,
            "used_share": 0.0,
            "peak_at_gap": 0,
            **{column.name: float("nan") for column in STATISTICS},
        }
    times = time_s[used]
    top, greatest, least = int(np.abs(values).argmax()), int(values.argmax()), int(values.argmin())
    nothing = float("nan")
    together = np.diff(np.flatnonzero(used)) == 1
    return {
        "n_frames": int(values.size),
        "used_share": float(used.mean()),
        "peak_nm": float(values[top]),
        "peak_time_s": float(times[top]) if values[top] else nothing,
        "peak_at_gap": int(not np.pad(used, 1)[np.flatnonzero(used)[top] + np.array([0, 2])].all()),
        "max_nm": float(values[greatest]),
        "max_time_s": float(times[greatest]) if values[top] else nothing,
        "min_nm": float(values[least]),
        "min_time_s": float(times[least]) if values[top] else nothing,
        "mean_nm": float(values.mean()),
        "rms_nm": float(np.sqrt((values**2).mean())),
        "impulse_nms": _integral(values, together, rate_hz),
        "peak_power_w": float(power[np.abs(power).argmax()]),
        "max_power_w": float(power.max()),
        "min_power_w": float(power.min()),
        "positive_work_j": _integral(np.maximum(power, 0.0), together, rate_hz),
        "negative_work_j": _integral(np.minimum(power, 0.0), together, rate_hz),
    }


def _integral(values: FloatArray, together: NDArray[np.bool_], rate_hz: float) -> float:
    return float(((values[1:] + values[:-1])[together] / 2.0).sum() / rate_hz)

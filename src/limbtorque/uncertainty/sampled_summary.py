"""Statistics of every sample over the windows of a summary, and their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.tables.summary_columns import SAMPLED
from limbtorque.uncertainty.bands import LEVEL
from limbtorque.uncertainty.propagation import TrialErrors
from limbtorque.uncertainty.random_numbers import Draw
from limbtorque.uncertainty.sampled import SampledTorques, sampled_torques
from limbtorque.uncertainty.summary import window_weights

QUANTILES = (0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0)


@dataclass(frozen=True)
class SampledStatistics:
    """Statistics of every sample of a trial.

    Attributes
    ----------
    windows : mapping of str to mapping of str to ndarray of shape (n_joints, n_terms, n_samples)
        By window and column of the summary.
    net_sd_nm : ndarray of shape (n_joints, n_frames)
        Standard deviation of the net torques about those of the trial, N m.
    motion_sd : ndarray of shape (3, n_joints, n_frames)
        Standard deviations of joint angles, rad, velocities, rad/s, and accelerations, rad/s^2.
    """

    windows: Mapping[str, Mapping[str, FloatArray]]
    net_sd_nm: FloatArray
    motion_sd: FloatArray


def sampled_statistics(
    errors: TrialErrors, draw: Draw, net_nm: FloatArray, *, windows: Mapping[str, BoolArray], used: BoolArray
) -> SampledStatistics:
    """Statistics of every sample over every window.

    Parameters
    ----------
    errors : TrialErrors
        Errors of the inputs of a trial.
    draw : Draw
        Number of samples, seed and owners.
    net_nm : ndarray of shape (n_frames, n_joints)
        Net torques of the trial, N m.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name; those without a used frame have no statistics.
    used : ndarray of bool, shape (n_frames,)
        Frames that the summary uses.

    Returns
    -------
    SampledStatistics
        Those of `tables.summary_columns.SAMPLED`, defined as in `torques.summary.torque_summary`.
    """
    motion, weights = errors.motion, window_weights(errors.motion, windows, used)
    chosen = {name: np.flatnonzero(inside & used) for name, inside in windows.items()}
    parts: dict[str, list[dict[str, FloatArray]]] = {name: [] for name, frames in chosen.items() if frames.size}
    squares, moved = np.zeros(net_nm.T.shape), np.zeros((3, *net_nm.T.shape))
    of = motion.kinematics
    for some in sampled_torques(errors, draw):
        squares += ((some.rows[:, 0] - net_nm.T[:, None]) ** 2).sum(axis=1)
        pairs = zip(
            vars(some.motions).values(), (of.angle_rad, of.velocity_rad_s, of.acceleration_rad_s2), strict=False
        )
        moved += [((each - whole.T[:, None]) ** 2).sum(axis=1) for each, whole in pairs]
        for name, found in parts.items():
            frames = chosen[name]
            both = np.stack([weights[f"{name} mean"][frames], weights[f"{name} impulse"][frames]], axis=1)
            found.append(_statistics(some, motion.time_s[frames], frames, both))
    together = {
        name: {column: np.concatenate([each[column] for each in found], axis=2) for column in found[0]}
        for name, found in parts.items()
    }
    return SampledStatistics(together, np.sqrt(squares / draw.n_samples), np.sqrt(moved / draw.n_samples))


def with_samples(
    rows: Sequence[Mapping[str, Any]], found: SampledStatistics, motion: ChainMotion
) -> list[dict[str, Any]]:
    """Rows of the torque summary with the uncertainty of the samples.

    Parameters
    ----------
    rows : sequence of dict
        From `summary.with_bands`: one for every window, joint and term.
    found : SampledStatistics
        Statistics of every sample.
    motion : ChainMotion
        The motion.

    Returns
    -------
    list of dict
        The same rows; standard deviations, 95 % limits (quantiles of the samples) and certainty of signs are those of the
        samples, where the statistic is known. The shares of the sources stay those of the linear bands.
    """
    limits = {name: _limits(statistics) for name, statistics in found.windows.items()}
    n_terms = {name: sum(row["window"] == name for row in rows) // len(motion.joints) for name in limits}
    count, added = dict.fromkeys(limits, 0), []
    for row in rows:
        name = row["window"]
        own = {}
        if name in limits:
            place = divmod(count[name], n_terms[name])
            count[name] += 1
            own = _columns(row, {column: values[:, place[0], place[1]] for column, values in limits[name].items()})
        added.append({**row, **own})
    return added


def _statistics(some: SampledTorques, time_s: FloatArray, frames: Any, weights: FloatArray) -> dict[str, FloatArray]:
    """Statistics of some samples, each of shape (n_joints, n_terms, n_samples)."""
    near = slice(frames[0], frames[-1] + 1) if frames[-1] - frames[0] == len(frames) - 1 else frames
    values = some.rows[..., near]
    top, bottom = values.argmax(axis=-1), values.argmin(axis=-1)
    greatest, least = (np.take_along_axis(values, place[..., None], axis=-1)[..., 0] for place in (top, bottom))
    upwards = np.abs(greatest) >= np.abs(least)
    peak, peak_time_s = np.where(upwards, greatest, least), time_s[np.where(upwards, top, bottom)]
    still = peak == 0.0
    sums = values @ weights
    power = values * some.motions.velocity_rad_s[:, None, :, near]
    most, fewest = power.max(axis=-1), power.min(axis=-1)
    work = power @ weights[:, 1]
    positive = np.maximum(power, 0.0, out=power) @ weights[:, 1]
    return {
        "peak_nm": peak,
        "peak_time_s": np.where(still, np.nan, peak_time_s),
        "max_nm": greatest,
        "max_time_s": np.where(still, np.nan, time_s[top]),
        "min_nm": least,
        "min_time_s": np.where(still, np.nan, time_s[bottom]),
        "mean_nm": sums[..., 0],
        "impulse_nms": sums[..., 1],
        "peak_power_w": np.where(np.abs(most) >= np.abs(fewest), most, fewest),
        "max_power_w": most,
        "min_power_w": fewest,
        "positive_work_j": positive,
        "negative_work_j": work - positive,
    }


def _limits(statistics: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Standard deviation and limits of each statistic, shape (3, n_joints, n_terms)."""
    return {
        name: np.stack([values.std(axis=2, ddof=1), *np.quantile(values, QUANTILES, axis=2)])
        for name, values in statistics.items()
    }


def _columns(row: Mapping[str, Any], limits: Mapping[str, FloatArray]) -> dict[str, Any]:
    """Columns of the known statistics of a row."""
    found: dict[str, Any] = {}
    for name in SAMPLED:
        if np.isnan(row[name]):
            continue
        (start, unit), (sd, low, high) = name.rsplit("_", 1), limits[name].tolist()
        found |= {f"{start}_sd_{unit}": sd, f"{start}_low_{unit}": low, f"{start}_high_{unit}": high}
        if f"{start}_sign_certain" in row:
            found[f"{start}_sign_certain"] = float(low > 0.0 or high < 0.0)
    return found

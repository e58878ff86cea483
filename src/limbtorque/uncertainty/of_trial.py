"""Uncertainty of a trial's torques for its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.chain.linear import number_of_terms, term_rows, with_kinds
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.study.options.uncertainty import SOURCES, Source
from limbtorque.study.settings import Settings
from limbtorque.tables.frame_columns import kind_columns, limit_columns, term_columns
from limbtorque.tables.study_columns import BANDS
from limbtorque.torques.joint_torques import Torques
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.bands import LIMITS, SHARED_BY, Direction, SharedBy, TorqueBands
from limbtorque.uncertainty.marker_noise import MarkerNoise, marker_noise
from limbtorque.uncertainty.propagation import TrialErrors, trial_errors

MAX_FRAMES = 20_000  # longest trial with bands: each of its frames takes 25 kB of memory

AT_FRAMES = ("peak", "max", "min")
SHARED: tuple[SharedBy, ...] = ("study", "subject")  # owners of errors that several trials have in common
MOTION_SD = ("angle_sd_rad", "velocity_sd_rad_s", "acceleration_sd_rad_s2")


def too_long(motion: ChainMotion) -> str:
    """Sentence about a trial that is too long for bands; empty for others."""
    n_frames, most = len(motion.time_s), MAX_FRAMES
    if n_frames <= most:
        return ""
    return f"no uncertainty: {n_frames} frames, expected at most {most}; analyse parts (start_s, end_s)"


def window_weights(motion: ChainMotion, windows: Mapping[str, BoolArray], used: BoolArray) -> dict[str, FloatArray]:
    """Weights of the frames in means and impulses, for `propagation.torque_bands`.

    Parameters
    ----------
    motion, windows, used
        As in `with_bands`.

    Returns
    -------
    dict of str to ndarray of shape (n_frames,)
        By window and statistic: ``"trial mean"``; an impulse by trapezoids between neighbouring used frames.
    """
    weights = {}
    for name, inside in windows.items():
        some = inside & used
        between = 0.5 / motion.rate_hz * (some[1:] & some[:-1])
        weights[f"{name} impulse"] = np.pad(between, (1, 0)) + np.pad(between, (0, 1))
        weights[f"{name} mean"] = some / max(some.sum(), 1)
    return weights


def peak_weights(rows: Sequence[Mapping[str, Any]], motion: ChainMotion) -> dict[str, FloatArray]:
    """Weights that select the frames of each net torque's maximum and minimum."""
    net = [row for row in rows if row["term"] == "net"]
    places = {sum_name(row, each): _frame(row[f"{each}_time_s"], motion) for row in net for each in ("max", "min")}
    numbers = np.arange(len(motion.time_s))
    return {name: (numbers == frame).astype(float) for name, frame in places.items() if frame is not None}


def sum_name(row: Mapping[str, Any], statistic: str) -> str:
    """Name of the weights of a statistic of the summary's row."""
    start = statistic.split("_")[0]
    return f"{row['window']} {start}" + f" of {row['joint']}" * (start in AT_FRAMES)


def _frame(time_s: float, motion: ChainMotion) -> int | None:
    """Index of the frame at a time; None if there is none."""
    return None if np.isnan(time_s) else round((time_s - float(motion.time_s[0])) * motion.rate_hz)


def with_bands(
    rows: Sequence[Mapping[str, Any]],
    bands: TorqueBands,
    motion: ChainMotion,
    *,
    windows: Mapping[str, BoolArray],
    used: BoolArray,
) -> list[dict[str, Any]]:
    """Rows of the torque summary with the columns of their uncertainty.

    Parameters
    ----------
    rows : sequence of dict
        From `torques.summary.torque_summary`: one for every window, joint and term.
    bands : TorqueBands
        Bands of the trial, with the sums of `window_weights`.
    motion : ChainMotion
        Its motion.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    used : ndarray of bool, shape (n_frames,)
        Frames that the summary uses.

    Returns
    -------
    list of dict
        The same rows with `tables.study_columns.BANDS`; NaN, and an empty text, where a statistic is not known.

    Notes
    -----
    A peak has the uncertainty of its frame: to first order it does not matter that its time is uncertain, too. Each joint
    centre is an input of its own. The parameters of different segments depend on each other, and are one.
    """
    frames = {name: np.flatnonzero(inside & used) for name, inside in windows.items()}
    parts = {  # variances by source, means over each window
        name: {source: each[..., some].mean(axis=2) for source, each in bands.by_source.items()}
        for name, some in frames.items()
        if some.size
    }
    shared = {owner: np.array([each.shared_by == owner for each in bands.directions], dtype=bool) for owner in SHARED}
    n_terms, count, banded = number_of_terms(len(motion.joints)), dict.fromkeys(windows, 0), []
    for row in rows:
        name = row["window"]
        place = divmod(count[name], n_terms)
        count[name] += 1
        columns = _at_frames(row, bands, motion, place)
        if name in parts:
            columns |= _over_frames(row, bands, place, shared)
            if not np.isnan(row["mean_nm"]):
                columns |= _main({source: float(each[place]) for source, each in parts[name].items()})
        banded.append({**row, **_EMPTY, **columns})
    return banded


def without_bands(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the torque summary with empty columns of their uncertainty."""
    return [{**row, **_EMPTY} for row in rows]


_EMPTY = {column.name: "" if column.kind is str else float("nan") for column in BANDS}


def _at_frames(
    row: Mapping[str, Any], bands: TorqueBands, motion: ChainMotion, place: tuple[int, int]
) -> dict[str, Any]:
    """Columns of the largest and smallest values, and the errors in the peak."""
    columns: dict[str, Any] = {}
    for name in AT_FRAMES:
        frame = _frame(row[f"{name}_time_s"], motion)
        if frame is None:
            continue
        at = (*place, frame)
        parts: dict[str, float] = {source: float(each[at]) for source, each in bands.by_source.items()}
        shared = {owner: sum(parts[each] for each in bands.by_source if SHARED_BY[each] == owner) for owner in SHARED}
        columns |= _limits(f"{name}_nm", row, bands.sd_nm[at], bands.bias_nm[at], shared)
        whole = float(bands.variance_nm2[at])
        if name == "peak" and whole > 0.0:
            shares = {source: part / whole for source, part in parts.items()}
            columns |= {f"peak_share_{source}": shares.get(source, 0.0) for source in SOURCES}
            columns["peak_main_source"] = max(shares, key=lambda source: shares[source])
            sums = bands.sums.get(sum_name(row, "max" if row["peak_nm"] > 0.0 else "min"))
            if row["term"] == "net" and sums is not None:
                columns |= _main_input(bands.directions, sums.change[place] ** 2 / whole, shares)
    return columns


def _over_frames(
    row: Mapping[str, Any], bands: TorqueBands, place: tuple[int, int], shared: Mapping[SharedBy, BoolArray]
) -> dict[str, Any]:
    """Columns of mean and impulse; `shared`: common directions by owner."""
    columns: dict[str, Any] = {}
    for name, column in (("mean", "mean_nm"), ("impulse", "impulse_nms")):
        if not np.isnan(row[column]):
            sums = bands.sums[sum_name(row, name)]
            squares = sums.change[place] ** 2
            parts = {owner: float(squares[mine].sum()) for owner, mine in shared.items()}
            columns |= _limits(column, row, sums.sd[place], sums.bias[place], parts)
    return columns


def _limits(
    column: str, row: Mapping[str, Any], sd: float, bias: float, shared: Mapping[SharedBy, float]
) -> dict[str, float]:
    """Standard deviation, limits, shared variance, and certainty of the sign."""
    centre, (start, unit) = row[column] - bias, column.rsplit("_", 1)
    columns = {
        f"{start}_sd_{unit}": float(sd),
        f"{start}_low_{unit}": float(centre - LIMITS * sd),
        f"{start}_high_{unit}": float(centre + LIMITS * sd),
        **{f"{start}_shared_by_{owner}": part / float(sd) ** 2 if sd else 0.0 for owner, part in shared.items()},
    }
    if f"{start}_sign_certain" in _EMPTY:
        columns[f"{start}_sign_certain"] = float("nan") if np.isnan(sd) else float(abs(centre) > LIMITS * sd)
    return columns


def _main(variance: Mapping[Source, float]) -> dict[str, Any]:
    """Root mean square of the standard deviation, and its largest source."""
    whole = sum(variance.values())
    if not whole > 0.0:
        return {"band_rms_nm": 0.0}
    name = max(variance, key=lambda source: variance[source])
    return {"band_rms_nm": whole**0.5, "band_main_source": name, "band_main_share": variance[name] / whole}


def _main_input(
    directions: Sequence[Direction], of_directions: FloatArray, of_sources: Mapping[str, float]
) -> dict[str, Any]:
    """Input with the largest share: a landmark or other source."""
    shares: dict[str, float] = {}
    for direction, share in zip(directions, of_directions.tolist(), strict=True):
        joint_centre = direction.source == "joint_centres"
        name = " ".join(direction.name.split(" ")[1:-1]) if joint_centre else direction.source
        shares[name] = shares.get(name, 0.0) + share
    shares |= {source: of_sources.get(source, 0.0) for source in ("filter", "marker_noise")}
    name = max(shares, key=lambda each: shares[each])
    return {"peak_main_input": name, "peak_main_input_share": shares[name]}


def net_limits(torques: Torques, bands: TorqueBands, joints: Sequence[str]) -> dict[str, FloatArray]:
    """95 % limits of the net torques, to first order, by column."""
    values: dict[str, FloatArray] = {}
    for i, joint in enumerate(joints):
        centre, sd = torques.terms.net[:, i] - bands.bias_nm[i, 0], bands.sd_nm[i, 0]
        names = (column.name for column in limit_columns(joint))
        values |= dict(zip(names, (centre - LIMITS * sd, centre + LIMITS * sd), strict=True))
    return values


def frame_columns(
    motion: ChainMotion, torques: Torques, limb: Limb, settings: Settings, bands: TorqueBands
) -> dict[str, FloatArray]:
    """Columns of the table of bands (`torques.bands`), to first order.

    Parameters
    ----------
    motion, torques, limb, settings
        As in `analysis.torques.trial_uncertainty`.
    bands : TorqueBands
        Bands of the torques.

    Returns
    -------
    dict of str to ndarray of shape (n_frames,)
        Of torques, NaN where a torque is not known, and of the motion.
    """
    noise = marker_noise(AnalysedLimb(motion, limb, settings))
    sd = motion_sd(trial_errors(motion, limb, settings, noise=noise), noise)
    rows, joints, values = with_kinds(term_rows(torques.terms)), motion.joints, {}
    for i, joint in enumerate(joints):
        parts = (*term_columns(joint, joints), *kind_columns(joint))
        names = [f"{joint}_torque", *(column.name.removesuffix("_nm") for column in parts)]
        for name, centre, size in zip(names, rows[i] - bands.bias_nm[i], bands.sd_nm[i], strict=True):
            values[f"{name}_sd_nm"] = size
            if name != f"{joint}_torque":  # whose limits are in the torque table
                values[f"{name}_low_nm"], values[f"{name}_high_nm"] = centre - LIMITS * size, centre + LIMITS * size
        whole = bands.variance_nm2[i, 0]
        for source in SOURCES:
            part = bands.by_source[source][i, 0] if source in bands.by_source else np.zeros_like(whole)
            share = np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0.0)
            values[f"{joint}_torque_share_{source}"] = np.where(np.isnan(whole), np.nan, share)
        values |= {f"{joint}_{name}": sd[k, i] for k, name in enumerate(MOTION_SD)}
    return values


def motion_sd(errors: TrialErrors, noise: MarkerNoise | None) -> FloatArray:
    """Standard deviations of a trial's motion, to first order.

    Parameters
    ----------
    errors : TrialErrors
        Errors of its inputs.
    noise : MarkerNoise or None
        Noise of its markers.

    Returns
    -------
    ndarray of shape (3, n_joints, n_frames)
        Of joint angles, velocities and accelerations, rad, rad/s and rad/s^2.
    """
    square = np.zeros((3, errors.analysed.motion.chain.n_links, len(errors.analysed.motion.time_s)))
    for each in errors.inputs:
        if each.motion is not None:
            changes = each.motion.angle_rad, each.motion.velocity_rad_s, each.motion.acceleration_rad_s2
            square += np.stack([np.square(change).sum(axis=1) for change in changes])
    if noise is not None:
        square += np.square(noise.angle).sum(axis=1) * noise.moments[0, :3, None]
    return np.sqrt(square)

"""Main sources of error over a window, and the main input at a peak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.uncertainty.bands import TorqueBands
from limbtorque.uncertainty.directions import Direction


def peak_weights(rows: Sequence[Mapping[str, Any]], motion: ChainMotion) -> dict[str, FloatArray]:
    """Weights that pick the frame of each net torque's peak.

    Parameters
    ----------
    rows : sequence of dict
        From `torques.summary.torque_summary`.
    motion : ChainMotion
        Its motion.

    Returns
    -------
    dict of str to ndarray of shape (n_frames,)
        By window and joint; none for a peak that is not known.
    """
    found = {}
    for row in rows:
        if row["term"] == "net" and not np.isnan(row["peak_time_s"]):
            frame = round((row["peak_time_s"] - float(motion.time_s[0])) * motion.rate_hz)
            found[_name(row)] = (np.arange(len(motion.time_s)) == frame).astype(float)
    return found


def with_main_inputs(
    rows: Sequence[Mapping[str, Any]], bands: TorqueBands, motion: ChainMotion
) -> list[dict[str, Any]]:
    """Rows of the torque summary with the main input of each net torque's peak.

    It has the largest share of the variance.

    Parameters
    ----------
    rows : sequence of dict
        From `summary.with_bands`.
    bands : TorqueBands
        Bands of the trial, with the sums of `peak_weights`.
    motion : ChainMotion
        Its motion.

    Returns
    -------
    list of dict
        The same rows with ``peak_main_input``, a landmark or a source, and ``peak_main_input_share``.

    Notes
    -----
    Each joint centre is an input of its own. The parameters of different segments depend on each other, and are one.
    """
    inputs = {
        name: [k for k, each in enumerate(bands.directions) if _input(each) == name]
        for name in map(_input, bands.directions)
    }
    found = []
    for row in rows:
        own: dict[str, Any] = {}
        whole = row["peak_sd_nm"] ** 2
        if row["term"] == "net" and _name(row) in bands.sums and whole > 0.0:
            changes = bands.sums[_name(row)].change[motion.joints.index(row["joint"]), 0]
            shares = {name: float((changes[some] ** 2).sum() / whole) for name, some in inputs.items()}
            shares |= {source: row[f"peak_share_{source}"] for source in ("filter", "marker_noise")}
            name = max(shares, key=lambda each: shares[each])
            own = {"peak_main_input": name, "peak_main_input_share": shares[name]}
        found.append({**row, **own})
    return found


def with_main_sources(
    rows: Sequence[Mapping[str, Any]], bands: TorqueBands, windows: Mapping[str, BoolArray], used: BoolArray
) -> list[dict[str, Any]]:
    """Rows of the torque summary with the size of the band over their window.

    Parameters
    ----------
    rows : sequence of dict
        From `summary.with_bands`: one for every window, joint and term.
    bands : TorqueBands
        Bands of the trial.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name.
    used : ndarray of bool, shape (n_frames,)
        Frames that the summary uses.

    Returns
    -------
    list of dict
        The same rows with ``band_rms_nm``, ``band_main_source`` and ``band_main_share`` where the mean is known.
    """
    shape, found, place = bands.variance_nm2.shape[:2], [], dict.fromkeys(windows, 0)
    frames = {name: np.flatnonzero(inside & used) for name, inside in windows.items()}
    parts = {
        name: {source: each[..., some].mean(axis=2) for source, each in bands.by_source.items()}
        for name, some in frames.items()
        if some.size
    }
    for row in rows:
        name = row["window"]
        at, own = divmod(place[name], shape[1]), {}
        place[name] += 1
        if name in parts and not np.isnan(row["mean_nm"]):
            variance: dict[str, float] = {source: float(each[at]) for source, each in parts[name].items()}
            own = _main(variance, sum(variance.values()))
        found.append({**row, **own})
    return found


def _main(variance: Mapping[str, float], whole: float) -> dict[str, Any]:
    """Root mean square of the standard deviation, and its largest source."""
    if not whole > 0.0:
        return {"band_rms_nm": 0.0}
    name = max(variance, key=lambda source: variance[source])
    return {"band_rms_nm": whole**0.5, "band_main_source": name, "band_main_share": variance[name] / whole}


def _name(row: Mapping[str, Any]) -> str:
    """Name of the weights of a row's peak."""
    return f"{row['window']} peak of {row['joint']}"


def _input(direction: Direction) -> str:
    """Landmark of a joint centre's error, between side and axis; else the source."""
    if direction.source != "joint_centres":
        return direction.source
    return " ".join(direction.name.split(" ")[1:-1])

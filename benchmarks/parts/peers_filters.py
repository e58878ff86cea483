"""Low-pass filters of markers, beside kineticstoolkit and pyomeca."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from parts.peers_measure import OURS, DisagreementError, FloatArray, Way, Work
from synthetic import recording

from limbtorque.signals.filters import design_cutoff
from limbtorque.signals.smoothers import Smoother, smooth_values

AGREEMENT = 1e-9  # of the largest coordinate, in the middle
RATE_HZ, CUTOFF_HZ = 100.0, 6.0
SMOOTHER = Smoother()


def works(*, frames: int) -> Iterator[Work]:
    """The markers of a recording that are never missing."""
    markers_m = recording(frames, rate_hz=RATE_HZ).markers_m
    markers_m = markers_m[:, ~np.isnan(markers_m).any(axis=(0, 2))]
    n = markers_m.shape[1]
    # the others design one pass at the cut-off they are told; ours says what that has to be for both passes together
    design_hz = design_cutoff(CUTOFF_HZ, rate_hz=RATE_HZ, order=SMOOTHER.order)
    yield Work(
        "Filtering markers",
        f"{frames} frames of {n} markers, Butterworth filter of order {SMOOTHER.order} in both directions, {CUTOFF_HZ:g} Hz for both passes. The "
        f"others do not correct the cut-off for the second pass and are given {design_hz:.4g} Hz. With `markers` they also filter a fourth "
        "coordinate of ones. Agreement is relative to the largest coordinate, in the middle 80 % and at the ends, which they treat differently.",
        "ms a recording",
        1e3,
        _agree,
        [
            Way(
                OURS,
                "smooth_values",
                lambda: lambda: smooth_values(markers_m, rate_hz=RATE_HZ, cutoff_hz=CUTOFF_HZ, smoother=SMOOTHER),
            ),
            Way(
                "kineticstoolkit",
                "markers, filters.butter",
                lambda: by_kineticstoolkit(markers_m, design_hz),
                lambda found: np.stack([values[:, :3] for values in found.data.values()], axis=1),
            ),
            Way(
                "kineticstoolkit",
                "one array, filters.butter",
                lambda: by_kineticstoolkit(markers_m.reshape(frames, 1, -1), design_hz, ones=False),
                lambda found: found.data["0"].reshape(markers_m.shape),
            ),
            Way(
                "pyomeca",
                "markers, meca.low_pass",
                lambda: by_pyomeca(markers_m, design_hz),
                lambda found: found.values[:3].transpose(2, 1, 0),
            ),
            Way(
                "pyomeca",
                "one array, meca.low_pass of Analogs",
                lambda: by_pyomeca(markers_m.reshape(frames, -1), design_hz),
                lambda found: found.values.T.reshape(markers_m.shape),
            ),
        ],
    )


def _agree(ours: FloatArray, found: FloatArray) -> str:
    """The middle four fifths fit."""
    off = np.abs(found - ours).max(axis=(1, 2)) / np.abs(ours).max()
    edge = len(off) // 10
    middle = float(off[edge:-edge].max())
    if not middle <= AGREEMENT:
        raise DisagreementError(f"the middle differs by {middle:.0e} of the largest coordinate")
    return f"{middle:.0e}, {off.max():.0e}"


def by_kineticstoolkit(values: FloatArray, design_hz: float, *, ones: bool = True) -> Callable[[], Any]:
    """Values of shape (n_frames, n_series, n_coordinates)."""
    import kineticstoolkit as ktk

    series = ktk.TimeSeries(time=np.arange(len(values)) / RATE_HZ)
    for k in range(values.shape[1]):
        more = [np.ones((len(values), 1))] if ones else []
        series.data[str(k)] = np.hstack([values[:, k], *more])
    return lambda: ktk.filters.butter(series, design_hz, order=SMOOTHER.order)


def by_pyomeca(values: FloatArray, design_hz: float) -> Callable[[], Any]:
    """Values of shape (n_frames, n_markers, 3) or (n_frames, n_channels)."""
    import pyomeca

    kind = pyomeca.Markers if values.ndim == 3 else pyomeca.Analogs
    made = kind(np.ascontiguousarray(values.T), time=np.arange(len(values)) / RATE_HZ)
    return lambda: made.meca.low_pass(order=SMOOTHER.order, cutoff=design_hz, freq=RATE_HZ)

"""Positions of markers as compact text that a page unpacks."""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray

MAX_POSITIONS = 2_000_000  # of a page: 200 markers in 10,000 frames
FINEST_M = 1e-4
LEVEL = 4  # of zlib; 9 takes twenty seconds for noise of one unit, and saves 4 %
FAR = 3.0  # times the distance within which 99 % of the positions are
MISSING = -32768
LARGEST = 32767


@dataclass(frozen=True)
class Packed:
    """Positions of markers as text.

    Attributes
    ----------
    text : str
        Base64 of the deflated bytes.
    origin_m : tuple of float
        Position that the numbers count from, m.
    quantum_m : float
        Length of one unit of the numbers, m.
    step : int
        Every which frame is contained.
    n_frames : int
        Number of frames contained.
    n_far : int
        Positions left out because they are far from all others.
    """

    text: str
    origin_m: tuple[float, float, float]
    quantum_m: float
    step: int
    n_frames: int
    n_far: int


def pack(markers_m: FloatArray, *, max_positions: int = MAX_POSITIONS) -> Packed:
    """Pack positions into text.

    Parameters
    ----------
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m; NaN where a marker was not seen.
    max_positions : int
        Most positions of a page; of a longer recording every second, third ... frame is taken.

    Returns
    -------
    Packed
        The text, and the numbers that turn it back into metres.

    Notes
    -----
    A coordinate is a whole number of 16 bits: its distance from the median position in units of 0.1 mm, or larger ones
    where the recording is wider than 6.5 m. Positions more than three times as far out as 99 % of all are left out, or a
    single spike would take the resolution from the others. Of each marker and axis, the differences from frame to
    frame follow each other, first the low bytes of all, then the high bytes: the latter hardly differ, and deflate well.

    Examples
    --------
    >>> import numpy as np
    >>> pack(np.zeros((9, 2, 3)), max_positions=10).step
    2
    """
    n_frames, n_markers, _ = markers_m.shape
    step = max(1, math.ceil(n_frames * n_markers / max_positions))
    shown = markers_m[::step]
    seen: BoolArray = np.asarray(np.isfinite(shown).all(axis=2))
    origin_m = np.median(shown[seen], axis=0) if seen.any() else np.zeros(3)
    offset_m = np.where(seen[..., None], shown - origin_m, 0.0)
    reach_m = np.abs(offset_m).max(axis=2)
    near = seen & (reach_m <= max(1.0, FAR * float(np.percentile(reach_m[seen], 99.0)) if seen.any() else 0.0))
    quantum_m = max(FINEST_M, float(reach_m[near].max(initial=0.0)) / LARGEST)
    whole = np.where(near[..., None], np.rint(offset_m / quantum_m).clip(-LARGEST, LARGEST), MISSING).astype(np.int16)
    x, y, z = origin_m.tolist()
    text = base64.b64encode(zlib.compress(_bytes(whole), LEVEL)).decode("ascii")
    return Packed(text, (x, y, z), quantum_m, step, len(shown), int((seen & ~near).sum()))


def _bytes(whole: NDArray[np.int16]) -> bytes:
    """Low bytes, then high bytes, of the differences from frame to frame.

    Differences of 16-bit numbers wrap round, and back when they are added up.
    """
    columns = whole.transpose(1, 2, 0).reshape(-1, len(whole))
    steps = np.diff(columns, axis=1, prepend=np.int16(0)).astype("<i2")
    return steps.reshape(-1, 1).view(np.uint8).T.tobytes()

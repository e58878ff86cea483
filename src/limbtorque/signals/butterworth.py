"""Zero-lag Butterworth low-pass filter; the cut-off is that of both passes."""

from __future__ import annotations

import functools
import math
from typing import cast

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.dual_pass import dual_pass
from limbtorque.signals.ends import Ends


def design_cutoff(cutoff_hz: float, *, rate_hz: float, order: int) -> float:
    """Cut-off of one pass for a gain of 1/sqrt(2) of two passes at the stated one.

    Parameters
    ----------
    cutoff_hz : float
        Cut-off of the dual-pass filter, Hz.
    rate_hz : float
        Samples per second.
    order : int
        Order of one pass.

    Returns
    -------
    float
        Design cut-off of one pass, Hz.

    Raises
    ------
    SignalError
        The stated cut-off, or the design cut-off, is not below the Nyquist frequency.

    Notes
    -----
    ``tan(pi fd / fs) = tan(pi fc / fs) / (sqrt(2) - 1)^(1 / 2n)``, exact for the bilinear transform; the familiar
    factor 0.802 (Winter 2009, n = 2) applied to the frequency itself is its limit where fc is small against fs.

    Examples
    --------
    >>> round(design_cutoff(6.0, rate_hz=100.0, order=2), 4)
    7.4309
    """
    nyquist = rate_hz / 2.0
    if not 0.0 < cutoff_hz < nyquist:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz is not below the Nyquist frequency {nyquist:g} Hz of a recording at {rate_hz:g} Hz; "
            "lower filter.cutoff_hz"
        )
    warped = math.tan(math.pi * cutoff_hz / rate_hz) / (math.sqrt(2.0) - 1.0) ** (1.0 / (2 * order))
    design = math.atan(warped) * rate_hz / math.pi
    if design >= 0.999 * nyquist:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz needs a design cut-off of {design:.4g} Hz, too near the Nyquist frequency "
            f"{nyquist:g} Hz; lower filter.cutoff_hz or set filter.method to none"
        )
    return design


def filter_reach(cutoff_hz: float, *, rate_hz: float, order: int) -> int:
    """Frames over which the filter's response to an end decays to a hundredth.

    Parameters
    ----------
    cutoff_hz, rate_hz, order
        As in `design_cutoff`.

    Notes
    -----
    The slowest pole of a Butterworth filter of order n decays as ``exp(-2 pi fd sin(pi / 2n) t)``.
    """
    slowest = 2.0 * math.pi * design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order) * math.sin(math.pi / (2 * order))
    return math.ceil(math.log(100.0) / slowest * rate_hz)


def low_pass(
    values: FloatArray, *, rate_hz: float, cutoff_hz: float, order: int = 2, ends: Ends = "reflect"
) -> FloatArray:
    """Zero-lag Butterworth low-pass filter, run forwards and backwards.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples.
    rate_hz : float
        Samples per second.
    cutoff_hz : float
        Frequency at which the gain of both passes together is 1/sqrt(2), Hz.
    order : int, optional
        Order of one pass.
    ends : {"reflect", "linear", "none"}, optional
        Extension beyond the ends; see `ends.extend`.

    Returns
    -------
    ndarray of the shape of `values`
        Filtered signal.

    Raises
    ------
    SignalError
        Cut-off not below Nyquist, or fewer frames than the filter needs.

    Notes
    -----
    Second-order sections; the ends are extended over three times `filter_reach` frames, less where the signal is
    shorter. The transient of the filter has decayed to 1e-6 where the signal begins, and by point reflection a steady
    trend passes unchanged up to the ends.
    """
    reach = filter_reach(cutoff_hz, rate_hz=rate_hz, order=order)
    return dual_pass(_sections(cutoff_hz, rate_hz, order), values, rate_hz, cutoff_hz, reach, ends)


@functools.lru_cache(maxsize=64)
def _sections(cutoff_hz: float, rate_hz: float, order: int) -> FloatArray:
    from scipy import signal

    design = design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order)
    return cast(FloatArray, signal.butter(order, design, fs=rate_hz, output="sos"))

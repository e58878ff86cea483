"""Zero-lag critically damped low-pass filter: no overshoot, slow roll-off."""

from __future__ import annotations

import functools
import math
from typing import cast

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.dual_pass import dual_pass
from limbtorque.signals.ends import Ends


def critical_design_cutoff(cutoff_hz: float, *, rate_hz: float, order: int) -> float:
    """Pole frequency of one pass for a gain of 1/sqrt(2) of two at the cut-off.

    Parameters
    ----------
    cutoff_hz : float
        Cut-off of the dual-pass filter, Hz.
    rate_hz : float
        Samples per second.
    order : int
        Order of one pass: the number of its equal real poles.

    Returns
    -------
    float
        Frequency of the poles, Hz.

    Raises
    ------
    SignalError
        The stated cut-off, or the frequency of the poles, is not below the Nyquist frequency.

    Notes
    -----
    ``tan(pi fd / fs) = tan(pi fc / fs) / sqrt(2^(1 / 2n) - 1)``, which for n = 2 is the correction of Robertson and
    Dowling (2003) for two passes of a second-order filter, exact for the bilinear transform.

    Examples
    --------
    >>> round(critical_design_cutoff(6.0, rate_hz=1e6, order=2) / 6.0, 3)
    2.299
    """
    nyquist = rate_hz / 2.0
    if not 0.0 < cutoff_hz < nyquist:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz is not below the Nyquist frequency {nyquist:g} Hz of a recording at {rate_hz:g} Hz; "
            "lower filter.cutoff_hz"
        )
    warped = math.tan(math.pi * cutoff_hz / rate_hz) / math.sqrt(2.0 ** (1.0 / (2 * order)) - 1.0)
    design = math.atan(warped) * rate_hz / math.pi
    if design >= 0.999 * nyquist:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz needs poles at {design:.4g} Hz, too near the Nyquist frequency {nyquist:g} Hz; "
            "lower filter.cutoff_hz"
        )
    return design


def critical_reach(cutoff_hz: float, *, rate_hz: float, order: int) -> int:
    """Frames over which the filter's response to an end decays to a hundredth.

    Notes
    -----
    The remainder of the step response of n equal real poles at w after a time t is the regularised incomplete gamma
    function Q(n, w t).
    """
    from scipy import special

    pole = 2.0 * math.pi * critical_design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order)
    return math.ceil(float(special.gammainccinv(order, 0.01)) / pole * rate_hz)


def critical_low_pass(
    values: FloatArray, *, rate_hz: float, cutoff_hz: float, order: int = 2, ends: Ends = "reflect"
) -> FloatArray:
    """Filter forwards and backwards, critically damped (Robertson and Dowling 2003).

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
    """
    reach = critical_reach(cutoff_hz, rate_hz=rate_hz, order=order)
    return dual_pass(_sections(cutoff_hz, rate_hz, order), values, rate_hz, cutoff_hz, reach, ends)


@functools.lru_cache(maxsize=64)
def _sections(cutoff_hz: float, rate_hz: float, order: int) -> FloatArray:
    from scipy import signal

    warped = math.tan(math.pi * critical_design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order) / rate_hz)
    pole = (1.0 - warped) / (1.0 + warped)
    gain = (warped / (1.0 + warped)) ** order
    return cast(FloatArray, signal.zpk2sos([-1.0] * order, [pole] * order, gain))

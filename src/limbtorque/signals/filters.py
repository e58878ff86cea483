"""Zero-lag recursive low-pass filters; the cut-off refers to both passes."""

from __future__ import annotations

import functools
import math
from typing import cast

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError


def check_cutoff(cutoff_hz: float, rate_hz: float) -> None:
    """Raise `SignalError` where a cut-off is not between 0 and half the rate, Hz."""
    nyquist = rate_hz / 2.0
    if not 0.0 < cutoff_hz < nyquist:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz is not below the Nyquist frequency {nyquist:g} Hz of a recording at {rate_hz:g} Hz; "
            "lower filter.cutoff_hz"
        )


def design_cutoff(cutoff_hz: float, *, rate_hz: float, order: int, critical: bool = False) -> float:
    """Cut-off of one pass, for a gain of 1/sqrt(2) of both at the stated cut-off.

    Parameters
    ----------
    cutoff_hz : float
        Cut-off of the dual-pass filter, Hz.
    rate_hz : float
        Samples per second.
    order : int
        Order of one pass.
    critical : bool, optional
        A critically damped filter, whose order is the number of its equal real poles, instead of Butterworth's.

    Returns
    -------
    float
        Design cut-off of one pass, or frequency of its equal poles, Hz.

    Raises
    ------
    SignalError
        The stated cut-off, or the design cut-off, is not below the Nyquist frequency.

    Notes
    -----
    Butterworth: ``tan(pi fd / fs) = tan(pi fc / fs) / (sqrt(2) - 1)^(1 / 2n)``, exact for the bilinear transform; the
    familiar factor 0.802 (Winter 2009, n = 2) applied to the frequency itself is its limit where fc is small against fs.
    Critically damped: ``tan(pi fd / fs) = tan(pi fc / fs) / sqrt(2^(1 / 2n) - 1)``, which for n = 2 is the correction of
    Robertson and Dowling (2003) for two passes of a second-order filter.

    Examples
    --------
    >>> round(design_cutoff(6.0, rate_hz=100.0, order=2), 4)
    7.4309
    >>> round(design_cutoff(6.0, rate_hz=1e6, order=2, critical=True) / 6.0, 3)
    2.299
    """
    check_cutoff(cutoff_hz, rate_hz)
    part = 1.0 / (2 * order)
    share = math.sqrt(2.0**part - 1.0) if critical else (math.sqrt(2.0) - 1.0) ** part
    design = math.atan(math.tan(math.pi * cutoff_hz / rate_hz) / share) * rate_hz / math.pi
    if design >= 0.999 * rate_hz / 2.0:
        raise SignalError(
            f"cut-off {cutoff_hz:g} Hz needs a design cut-off of {design:.4g} Hz, too near the Nyquist frequency "
            f"{rate_hz / 2.0:g} Hz; lower filter.cutoff_hz or set filter.method to none"
        )
    return design


def filter_reach(cutoff_hz: float, *, rate_hz: float, order: int, critical: bool = False) -> int:
    """Frames over which the filter's response to an end decays to a hundredth.

    Parameters
    ----------
    cutoff_hz, rate_hz, order, critical
        As in `design_cutoff`.

    Notes
    -----
    The slowest pole of a Butterworth filter of order n decays as ``exp(-2 pi fd sin(pi / 2n) t)``. The remainder of the
    step response of n equal real poles at w after a time t is the regularised incomplete gamma function Q(n, w t).
    """
    pole = 2.0 * math.pi * design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order, critical=critical)
    if critical:
        from scipy import special  # a slow import that other filters do not need

        return math.ceil(float(special.gammainccinv(order, 0.01)) / pole * rate_hz)
    return math.ceil(math.log(100.0) / (pole * math.sin(math.pi / (2 * order))) * rate_hz)


def low_pass(
    values: FloatArray,
    *,
    rate_hz: float,
    cutoff_hz: float,
    order: int = 2,
    critical: bool = False,
) -> FloatArray:
    """Zero-lag low-pass filter, run forwards and backwards.

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
    critical : bool, optional
        Critically damped (Robertson and Dowling 2003), without overshoot, instead of Butterworth's.

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
    reach = filter_reach(cutoff_hz, rate_hz=rate_hz, order=order, critical=critical)
    return both_ways(_sections(cutoff_hz, rate_hz, order, critical), values, rate_hz, cutoff_hz, reach)


@functools.lru_cache(maxsize=64)
def _sections(cutoff_hz: float, rate_hz: float, order: int, critical: bool) -> FloatArray:
    """Second-order sections of one pass, shape (n_sections, 6)."""
    from scipy import signal

    design = design_cutoff(cutoff_hz, rate_hz=rate_hz, order=order, critical=critical)
    if not critical:
        return cast(FloatArray, signal.butter(order, design, fs=rate_hz, output="sos"))
    warped = math.tan(math.pi * design / rate_hz)
    pole, gain = (1.0 - warped) / (1.0 + warped), (warped / (1.0 + warped)) ** order
    return cast(FloatArray, signal.zpk2sos([-1.0] * order, [pole] * order, gain))


def both_ways(sections: FloatArray, values: FloatArray, rate_hz: float, cutoff_hz: float, reach: int) -> FloatArray:
    """Run second-order sections forwards and backwards, from a steady state.

    Parameters
    ----------
    sections : ndarray of shape (n_sections, 6)
        The filter of one pass.
    values : ndarray of shape (n_frames, ...)
        Signal without missing samples.
    rate_hz, cutoff_hz : float
        Samples per second and cut-off, Hz, for the message.
    reach : int
        Frames over which the filter's response decays to a hundredth; the signal is extended over three times as many,
        less where it is shorter, by point reflection, which preserves value and slope at the end (Smith 1989).

    Returns
    -------
    ndarray of the shape of `values`
        Filtered signal.

    Raises
    ------
    SignalError
        Fewer frames than the filter needs.
    """
    from scipy import signal  # a slow import that most stages do not need

    n_frames = len(values)
    if n_frames <= reach:
        raise SignalError(
            f"{n_frames} frames are fewer than a {cutoff_hz:g} Hz filter at {rate_hz:g} Hz needs ({reach + 1}); "
            "raise filter.cutoff_hz, or exclude the trial"
        )
    padding = min(3 * reach, n_frames - 1)
    return np.asarray(signal.sosfiltfilt(sections, values, axis=0, padtype="odd", padlen=padding))


def filter_gains(
    frequency_hz: FloatArray, cutoffs_hz: FloatArray, *, rate_hz: float, order: int, critical: bool
) -> FloatArray:
    """Gain of both passes far from the ends, shape (n_cutoffs, n_frequencies).

    ``1 / (1 + w^2n)``, or ``(1 + w^2)^-n`` of equal poles, with w the ratio of the warped frequencies.
    """
    poles_hz = [design_cutoff(f, rate_hz=rate_hz, order=order, critical=critical) for f in cutoffs_hz.tolist()]
    relative = np.tan(np.pi * frequency_hz / rate_hz) / np.tan(np.pi * np.array(poles_hz) / rate_hz)[:, None]
    square = relative * relative
    # a product of the factors is much faster than NumPy's power
    factor = 1.0 + square if critical else square
    power = functools.reduce(np.multiply, [factor] * order)
    return np.asarray(1.0 / (power if critical else 1.0 + power))

"""A recursive filter run forwards and backwards over an extended signal."""

from __future__ import annotations

from typing import cast

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.ends import Ends, extend


def dual_pass(
    sections: FloatArray, values: FloatArray, rate_hz: float, cutoff_hz: float, reach: int, ends: Ends
) -> FloatArray:
    """Run second-order sections forwards and backwards.

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
        less where it is shorter.
    ends : {"reflect", "linear", "none"}
        Extension beyond the ends; see `ends.extend`.

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

    if len(values) <= reach:
        raise SignalError(
            f"{len(values)} frames are fewer than a {cutoff_hz:g} Hz filter at {rate_hz:g} Hz needs ({reach + 1}); "
            "raise filter.cutoff_hz, or leave the trial out"
        )
    padding = min(3 * reach, len(values) - 1)
    if ends == "reflect":
        return cast(FloatArray, signal.sosfiltfilt(sections, values, axis=0, padlen=padding))
    longer = extend(values, frames=padding, ends=ends, trend_frames=max(2, reach // 2))
    filtered = cast(FloatArray, signal.sosfiltfilt(sections, longer, axis=0, padtype=None))
    return filtered if ends == "none" else filtered[padding:-padding]

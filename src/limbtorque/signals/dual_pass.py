"""A recursive filter run forwards and backwards over an extended signal."""

from __future__ import annotations

import functools

import numpy as np

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
    if len(values) <= reach:
        raise SignalError(
            f"{len(values)} frames are fewer than a {cutoff_hz:g} Hz filter at {rate_hz:g} Hz needs ({reach + 1}); "
            "raise filter.cutoff_hz, or leave the trial out"
        )
    padding = min(3 * reach, len(values) - 1)
    longer = extend(values, frames=padding, ends=ends, trend_frames=max(2, reach // 2))
    filtered = _both_ways(sections, longer.reshape(len(longer), -1).T).T.reshape(longer.shape)
    return filtered if ends == "none" else filtered[padding:-padding]


def _both_ways(sections: FloatArray, rows: FloatArray) -> FloatArray:
    """Rows filtered forwards and backwards, from the steady state of the first sample."""
    from scipy import signal  # a slow import that most stages do not need

    steady = _steady_state(sections.tobytes())[:, None]
    forwards, _ = signal.sosfilt(sections, rows, zi=steady * rows[:, :1])
    backwards, _ = signal.sosfilt(sections, forwards[:, ::-1], zi=steady * forwards[:, -1:])
    return np.asarray(backwards[:, ::-1])


@functools.lru_cache(maxsize=64)
def _steady_state(sections: bytes) -> FloatArray:
    """States of the sections for a constant signal of 1, shape (n_sections, 2)."""
    from scipy import signal

    return np.asarray(signal.sosfilt_zi(np.frombuffer(sections).reshape(-1, 6)))

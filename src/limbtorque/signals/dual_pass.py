"""A recursive filter run forwards and backwards over an extended signal."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.ends import Ends, extend

SAMPLES = 16_384  # of a block: its arrays of 128 kB fit in the cache, and are not asked of the system one by one


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

    Notes
    -----
    Two channels run together as the parts of complex numbers: a recursive filter waits for its last output, and does both
    in the time of one. The coefficients are real, so the parts are what each channel gives alone, to the last digit.
    """
    if len(values) <= reach:
        raise SignalError(
            f"{len(values)} frames are fewer than a {cutoff_hz:g} Hz filter at {rate_hz:g} Hz needs ({reach + 1}); "
            "raise filter.cutoff_hz, or leave the trial out"
        )
    n_frames, padding = len(values), 0 if ends == "none" else min(3 * reach, len(values) - 1)
    flat = values.reshape(n_frames, -1)
    filtered = np.empty((flat.shape[1], n_frames))
    for some in _blocks(flat.shape[1], n_frames + 2 * padding):
        longer = extend(flat[:, some], frames=padding, ends=ends, trend_frames=max(2, reach // 2))
        filtered[some] = _both_ways(sections, longer, padding)
    return filtered.T.reshape(values.shape)


def _blocks(n_channels: int, n_samples: int) -> Iterator[slice]:
    """Even numbers of channels, and an odd last one alone."""
    size, even = max(SAMPLES // n_samples // 2, 1) * 2, n_channels // 2 * 2
    yield from (slice(k, min(k + size, even)) for k in range(0, even, size))
    if n_channels > even:
        yield slice(even, n_channels)


def _both_ways(sections: FloatArray, channels: FloatArray, padding: int) -> FloatArray:
    """Filter forwards and backwards, from the steady state of the first sample.

    Parameters
    ----------
    sections : ndarray of shape (n_sections, 6)
        The filter of one pass.
    channels : ndarray of shape (n_samples, n_channels)
        Signal with its extensions.
    padding : int
        Samples of each extension.

    Returns
    -------
    ndarray of shape (n_channels, n_samples - 2 padding)
    """
    from scipy import signal  # a slow import that most stages do not need

    paired = channels.shape[1] % 2 == 0 and bool(np.isfinite(channels).all())
    rows = np.ascontiguousarray(channels).view(complex).T if paired else channels.T
    steady = _steady_state(sections.tobytes())[:, None]
    forwards, _ = signal.sosfilt(sections, rows, zi=steady * rows[:, :1])
    backwards, _ = signal.sosfilt(sections, forwards[:, padding:][:, ::-1], zi=steady * forwards[:, -1:])
    found = backwards[:, padding:][:, ::-1]
    if not paired:
        return np.asarray(found)
    apart = np.empty((2 * len(found), found.shape[1]))
    apart[::2], apart[1::2] = found.real, found.imag
    return apart


@functools.lru_cache(maxsize=64)
def _steady_state(sections: bytes) -> FloatArray:
    """States of the sections for a constant signal of 1, shape (n_sections, 2)."""
    from scipy import signal

    return np.asarray(signal.sosfilt_zi(np.frombuffer(sections).reshape(-1, 6)))

"""Faults of sampled channels: clipping, mains interference, slow drift."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, runs

ROUNDING = 1e-9  # of the largest channel
SHORTEST = 3  # samples of equal value
FAR = 0.5  # of the largest value: values nearer to zero are no limit
STEEP = 16.0  # steps of the converter
LINE_HZ, BESIDE_HZ = 1.5, 6.0  # half width of a line, and of the power beside it that counts as background


def flat_tops(signals: FloatArray) -> BoolArray:
    """Find samples in which a channel stays at its limit.

    Parameters
    ----------
    signals : ndarray of shape (n_samples, n_channels)
        Channels as they were sampled, before any filter, in any unit; unloaded they are near zero. NaN where missing.

    Returns
    -------
    ndarray of bool, shape (n_samples,)
        True where any channel is at a flat top.

    Notes
    -----
    A flat top is three or more successive samples equal to the channel's largest or least value, with flanks that are cut
    off: the neighbouring samples are within half of its height, and within the length of the top outside it the signal
    falls by more than 16 steps of the converter (the smallest difference between two values). A rounded peak flattened by
    a coarse converter falls by 8 steps there: a parabola falls by one within the top and by nine in thrice its length.
    Unloaded channels near zero, constant loads without flanks, channels of rounding alone, and channels that repeat most values (sampled more slowly
    and held) have none. Tops of one or two samples cannot be distinguished from peaks.

    Examples
    --------
    >>> push = 500.0 * np.sin(np.linspace(0.0, np.pi, 200))[:, None]
    >>> int(flat_tops(push).sum()), int(flat_tops(np.minimum(push, 450.0)).sum())
    (0, 58)
    """
    found = np.zeros(len(signals), dtype=bool)
    if len(signals) < SHORTEST:
        return found
    channels = np.ascontiguousarray(signals.T)
    limits = np.fmax.reduce(channels, axis=1), np.fmin.reduce(channels, axis=1)
    height = np.maximum(np.abs(limits[0]), np.abs(limits[1]))
    for limit in limits:
        for channel in np.flatnonzero((np.abs(limit) > FAR * height) & (height > ROUNDING * np.fmax.reduce(height))):
            at_limit = channels[channel] == limit[channel]
            if np.count_nonzero(at_limit) < SHORTEST:
                continue
            for start, stop in runs(at_limit):
                if stop - start >= SHORTEST and _cut_off(channels[channel], start, stop):
                    found[start:stop] = True
    return found


def _cut_off(signal: FloatArray, start: int, stop: int) -> bool:
    """Return True where a run of equal values looks clipped."""
    limit, long = signal[start], stop - start
    sides = [side for side in (signal[max(start - long, 0) : start][::-1], signal[stop : stop + long]) if len(side)]
    beside = np.array([abs(side[0] - limit) for side in sides])
    fallen = np.array([np.fmax.reduce(np.abs(side - limit)) for side in sides])
    loaded = np.abs(signal) > FAR * abs(limit)
    moving = loaded[:-1] & (signal[:-1] != limit)
    held = np.mean(signal[:-1][moving] == signal[1:][moving]) > 0.5 if moving.any() else True
    if not sides or held or (beside > FAR * abs(limit)).any():
        return False
    return bool((fallen > STEEP * np.diff(np.unique(signal[np.isfinite(signal)])).min()).all())


def power_shares(
    values: FloatArray, *, rate_hz: float, lines_hz: Sequence[float], low_hz: float
) -> tuple[FloatArray, FloatArray]:
    """Share of power at mains frequencies, and below a given frequency.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_channels)
        Signals without missing samples; their means are taken off.
    rate_hz : float
        Samples per second.
    lines_hz : sequence of float
        Frequencies of the mains, Hz; the one with the larger share counts, with its multiples.
    low_hz : float
        Frequency, Hz.

    Returns
    -------
    tuple of ndarray of shape (n_channels,)
        Power of the lines, above the mean power beside them, over all power above `low_hz`; power below `low_hz` over all power.
        Zero for constant signals.

    Notes
    -----
    From the periodogram with a Hann window, whose lines are four bins wide. A line is 3 Hz wide at least, the background beside it
    another 4.5 Hz on either side; signals shorter than about 1.5 s have wider lines, which are then cut off by this width.

    Examples
    --------
    >>> time_s = np.arange(2000) / 1000.0
    >>> hum, low = power_shares(np.sin(2 * np.pi * 50 * time_s)[:, None], rate_hz=1000.0, lines_hz=(50.0,), low_hz=20.0)
    >>> round(float(hum[0]), 3), round(float(low[0]), 3)
    (1.0, 0.0)
    """
    from scipy import fft

    n_samples = len(values)
    window = np.hanning(n_samples)[:, np.newaxis]
    spectrum = fft.rfft((values - values.mean(axis=0)) * window, fft.next_fast_len(n_samples, real=True), axis=0)
    power = spectrum.real**2 + spectrum.imag**2
    step_hz = rate_hz / 2.0 / (len(power) - 1) if len(power) > 1 else rate_hz
    frequency_hz = step_hz * np.arange(len(power), dtype=float)
    below = power[frequency_hz < low_hz].sum(axis=0)
    above = power[frequency_hz >= low_hz].sum(axis=0)
    lines = [_lines(power, frequency_hz, line_hz, low_hz) for line_hz in lines_hz]
    total = below + above
    hum = np.divide(np.max(lines, axis=0), above, out=np.zeros_like(above), where=above > 0.0)
    return hum, np.divide(below, total, out=np.zeros_like(total), where=total > 0.0)


def _lines(power: FloatArray, frequency_hz: FloatArray, line_hz: float, low_hz: float) -> FloatArray:
    """Power of a spectral line and its multiples, above neighbouring frequencies."""
    found = np.zeros(power.shape[1])
    for centre_hz in np.arange(line_hz, frequency_hz[-1], line_hz):
        apart = np.abs(frequency_hz - centre_hz)
        inside, beside = apart <= LINE_HZ, (apart > LINE_HZ) & (apart <= BESIDE_HZ) & (frequency_hz >= low_hz)
        if inside.any() and beside.any():
            background = power[beside].mean(axis=0) * np.count_nonzero(inside)
            found += np.maximum(power[inside].sum(axis=0) - background, 0.0)
    return found

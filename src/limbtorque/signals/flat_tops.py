"""Channels of a force plate that were driven to their limit: flat tops."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, runs

SHORTEST = 3  # samples of equal value
FAR = 0.5  # of the largest value: values nearer to zero are no limit
STEEP = 16.0  # steps of the converter


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
    Unloaded channels near zero, constant loads without flanks, and channels that repeat most values (sampled more slowly
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
        for channel in np.flatnonzero(np.abs(limit) > FAR * height):
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

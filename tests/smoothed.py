"""A smoothed signal with its derivatives, as the program computes them."""

from types import SimpleNamespace

from limbtorque.signals.smoothers import smooth_values


def smooth_at(values, *, rate_hz, cutoff_hz, smoother):
    """Smoothed values, and their first two derivatives."""
    smooth = smooth_values(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    first, second = smoother.strategy.derivatives(smooth, rate_hz, smoother.accuracy)
    return SimpleNamespace(values=smooth, first=first, second=second)

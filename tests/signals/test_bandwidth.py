"""Bandwidth of signals whose spectrum is known."""

import math

import numpy as np
import pytest

from limbtorque.signals.cutoff import Bandwidth, judge_cutoff
from limbtorque.signals.smoothers import Smoother, smoother_gain

RATE_HZ = 100.0


@pytest.mark.parametrize("values", [np.zeros((40, 3)), np.full(40, 2.5)])
def test_nothing_moves(values):
    assert judge_cutoff(values, rate_hz=RATE_HZ, smoother=Smoother(), cutoff_hz=6.0) == Bandwidth(0.0, 0.0, 0.0)


@pytest.mark.parametrize("n_frames", [1, 19])
def test_too_few_frames(n_frames):
    found = judge_cutoff(np.arange(n_frames) ** 2.0, rate_hz=RATE_HZ)
    assert all(map(math.isnan, (found.noise, found.bandwidth_hz, found.lost_share)))
    assert not math.isnan(judge_cutoff(np.arange(20) ** 2.0, rate_hz=RATE_HZ).bandwidth_hz)


def test_a_sine_loses_what_the_gain_takes():
    """50 whole periods of 5 Hz: 1 - gain of the smoother's second derivative."""
    smoother = Smoother(accuracy=8)
    wave = np.sin(2.0 * np.pi * 5.0 * np.arange(1000) / RATE_HZ)
    found = judge_cutoff(wave, rate_hz=RATE_HZ, smoother=smoother, cutoff_hz=6.0)
    (gain,) = smoother_gain(np.array([5.0]), rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)
    assert found.lost_share == pytest.approx(1.0 - gain, abs=0.01)

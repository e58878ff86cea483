"""Bands that hold whole curves: closed forms, and errors that were drawn."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from limbtorque.uncertainty.bands import LIMITS, TorqueBands

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))  # last: its coverage.py is not the package
from parts.whole_curves import simultaneous_limits

RATE_HZ, N_FRAMES = 1000.0, 1001
TIME_S = np.arange(N_FRAMES) / RATE_HZ


def width(variance, rate, used=None):
    used, shape = np.ones(N_FRAMES, dtype=bool) if used is None else used, (1, 1, N_FRAMES)
    variance, rate = (np.broadcast_to(each, shape).astype(float) for each in (variance, rate))
    bands = TorqueBands((), {"body_mass": variance}, np.zeros(shape), {})
    return float(simultaneous_limits(bands, rate, used, RATE_HZ)[0, 0])


def test_an_error_that_all_frames_share_needs_no_wider_band():
    """Also where its size changes: z f(t) leaves its band in all frames or in none."""
    size = 1.0 + 0.5 * np.sin(3.0 * TIME_S)
    rate = (1.5 * np.cos(3.0 * TIME_S)) ** 2
    assert width(4.0, 0.0) == pytest.approx(LIMITS)
    assert width(size**2, rate) == pytest.approx(LIMITS, rel=1e-3)  # the rate of change by differences


def test_two_waves_of_one_frequency_turn_by_a_known_angle():
    """Of ``a cos wt + b sin wt`` over a quarter turn the probability is ``2 Phi(-c) + exp(-c^2 / 2) / 2``."""
    found = width(1.0, (np.pi / 2.0) ** 2)
    assert 2.0 * ndtr(-found) + 0.5 * np.exp(-(found**2) / 2.0) == pytest.approx(0.05, rel=1e-6)
    drawn = np.random.default_rng(0).standard_normal((2, 20_000))
    angle = np.linspace(0.0, np.pi / 2.0, 200)[:, None]
    held = (np.abs(np.cos(angle) * drawn[0] + np.sin(angle) * drawn[1]) <= found).all(axis=0).mean()
    assert held == pytest.approx(0.95, abs=0.006)  # four standard errors


def test_a_second_run_of_frames_begins_anew():
    used = np.ones(N_FRAMES, dtype=bool)
    used[400:600] = False
    assert 4.0 * ndtr(-width(1.0, 0.0, used)) == pytest.approx(0.05, rel=1e-6)


def test_an_unknown_band_is_not_limited():
    variance = np.ones(N_FRAMES)
    variance[10] = np.nan
    assert np.isnan(width(variance, 0.0))

"""Correlation, differences and lag of curves that are known."""

import math

import numpy as np
import pytest

from limbtorque.emg.summary import agreement, correlations

RATE_HZ = 100.0
TIME_S = np.arange(300) / RATE_HZ


def curve(shift_s=0.0):
    return np.exp(-0.5 * ((TIME_S - 1.5 - shift_s) / 0.15) ** 2)


EVERY = np.ones(len(TIME_S), dtype=bool)


def compare(first, second, used=EVERY):
    return agreement(first, second, used, rate_hz=RATE_HZ, max_lag_s=0.2)


def test_the_same_curve():
    found = compare(curve(), curve())
    assert (found.r, found.rms, found.scale, found.lag_s) == pytest.approx((1.0, 0.0, 1.0, 0.0))


def test_another_amplitude():
    found = compare(0.4 * curve(), curve())
    assert found.r == pytest.approx(1.0)
    assert found.scale == pytest.approx(0.4)
    assert found.scaled_rms == pytest.approx(0.0, abs=1e-12)
    assert found.rms == pytest.approx(0.6 * np.sqrt(np.mean(curve() ** 2)))


@pytest.mark.parametrize("shift_s", [0.07, -0.12])
def test_a_later_activation_has_a_positive_lag(shift_s):
    found = compare(curve(shift_s), curve())
    assert found.lag_s == pytest.approx(shift_s)
    assert found.lag_r == pytest.approx(1.0)
    overlap = math.exp(-0.25 * (shift_s / 0.15) ** 2)  # integral of two Gaussian curves apart
    mean, square = curve().mean(), np.mean(curve() ** 2)
    assert found.r == pytest.approx((overlap * square - mean**2) / (square - mean**2), abs=1e-6)


@pytest.mark.parametrize("shift_s", [0.20, -0.35])
def test_a_shift_at_the_end_of_the_search_is_no_lag(shift_s):
    """With a search up to 0.2 s r still rises at its end; 0.19 s is inside."""
    found = compare(curve(shift_s), curve())
    assert math.isnan(found.lag_s)
    assert math.isnan(found.lag_r)
    assert found.r < 1.0
    assert compare(curve(0.19), curve()).lag_s == pytest.approx(0.19)


def test_only_used_and_known_frames_count():
    first, second = curve().copy(), curve().copy()
    first[:20], second[250:] = 7.0, math.nan
    found = compare(first, second, EVERY & (TIME_S >= 0.2))
    assert found.r == pytest.approx(1.0)
    assert found.rms == pytest.approx(0.0)


@pytest.mark.parametrize("flat", [np.zeros(300), np.full(300, 0.3)])
def test_a_constant_curve_has_no_correlation(flat):
    found = compare(flat, curve())
    assert math.isnan(found.r)
    assert math.isnan(found.lag_s)


def test_too_few_frames():
    assert math.isnan(compare(curve(), curve(), TIME_S < 0.09).rms)


def test_correlations_of_all_with_all():
    first = np.stack([np.sin(TIME_S), np.cos(3 * TIME_S), -np.sin(TIME_S)], axis=1)
    found = correlations(first, first[:, :2])
    np.testing.assert_allclose(found, np.corrcoef(first.T)[:, :2], atol=1e-12)

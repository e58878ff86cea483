"""Co-contraction indices against their published formulas by hand."""

import math

import numpy as np
import pytest

from limbtorque.emg.summary import falconer_winter, rudolph

PHASE = np.linspace(0.0, 2.0 * np.pi, 20001)


def test_alike_and_alternating():
    one = 1.0 + np.sin(PHASE)
    assert falconer_winter(one, one) == pytest.approx(1.0)
    assert falconer_winter(np.maximum(np.sin(PHASE), 0.0), np.maximum(-np.sin(PHASE), 0.0)) == pytest.approx(
        0.0, abs=1e-12
    )
    assert rudolph(one, one) == pytest.approx(2.0, rel=1e-4)  # the mean of 1 * 2 (1 + sin)


def test_two_sines_in_closed_form():
    """1 + sin and 1 - sin: the smaller is 1 - |sin|, the sum 2; 2 (1 - 2 / pi) / 2 and the mean of 2 (1 - s) / (1 + s)."""
    first, second = 1.0 + np.sin(PHASE), 1.0 - np.sin(PHASE)
    assert falconer_winter(first, second) == pytest.approx(1.0 - 2.0 / math.pi, abs=1e-4)
    assert rudolph(first, second) == pytest.approx(
        2.0 * (4.0 / math.pi - 1.0), abs=1e-3
    )  # mean of 1 / (1 + |sin|) = 2 / pi


def test_scale_changes_rudolph_only():
    first, second = 1.0 + np.sin(PHASE), 0.5 + 0.5 * np.cos(PHASE)
    assert falconer_winter(0.3 * first, 0.3 * second) == pytest.approx(falconer_winter(first, second))
    assert rudolph(0.3 * first, 0.3 * second) == pytest.approx(0.3 * rudolph(first, second))


def test_symmetric_and_without_unknown_frames():
    first, second = np.array([1.0, math.nan, 0.5]), np.array([0.2, 3.0, 0.5])
    assert falconer_winter(first, second) == falconer_winter(second, first) == pytest.approx(2 * 0.7 / 2.2)
    assert rudolph(first, second) == pytest.approx((0.2 * 1.2 + 1.0) / 2)


def test_no_activity_is_unknown():
    rest = np.zeros(5)
    assert math.isnan(falconer_winter(rest, rest))
    assert rudolph(rest, rest) == 0.0
    assert math.isnan(rudolph(rest[:0], rest[:0]))

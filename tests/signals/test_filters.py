"""Filters: every channel alone and as SciPy filters it, lines at their ends, and what a cut-off takes of a signal."""

import math

import numpy as np
import pytest
from scipy import signal

from limbtorque.signals.cutoff import Bandwidth, judge_cutoff
from limbtorque.signals.filters import design_cutoff, filter_reach, low_pass
from limbtorque.signals.smoothers import Smoother, smooth_values, smoother_reach

RATE_HZ, CUTOFF_HZ = 100.0, 6.0
REACH = filter_reach(CUTOFF_HZ, rate_hz=RATE_HZ, order=2)


def smooth(values):
    return low_pass(values, rate_hz=RATE_HZ, cutoff_hz=CUTOFF_HZ)


def walks(n_frames, n_channels, seed=0):
    return np.random.default_rng(seed).normal(size=(n_frames, n_channels)).cumsum(axis=0)


@pytest.mark.parametrize("n_channels", [1, 7, 115])
@pytest.mark.parametrize("n_frames", [REACH + 1, 300])
def test_a_channel_is_filtered_as_if_it_were_alone(n_frames, n_channels):
    values = walks(n_frames, n_channels)
    found = smooth(values)
    for k in range(n_channels):
        np.testing.assert_array_equal(found[:, k], smooth(values[:, k]))


@pytest.mark.parametrize("n_channels", [1, 6, 51])
def test_reflected_ends_are_those_of_scipy(n_channels):
    values = walks(500, n_channels)
    sections = signal.butter(2, design_cutoff(CUTOFF_HZ, rate_hz=RATE_HZ, order=2), fs=RATE_HZ, output="sos")
    expected = signal.sosfiltfilt(sections, values, axis=0, padtype="odd", padlen=3 * REACH)
    np.testing.assert_allclose(smooth(values), expected, rtol=0.0, atol=1e-12 * np.abs(values).max())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_missing_sample_stays_in_its_channel(bad):
    values = walks(300, 4)
    clean = smooth(values)
    values[150, 1] = bad
    with np.errstate(invalid="ignore"):
        found = smooth(values)
    assert np.isnan(found[:, 1]).any()
    np.testing.assert_array_equal(found[:, [0, 2, 3]], clean[:, [0, 2, 3]])


# --- the extension beyond the ends is long enough: a straight line stays one ---


LINE = np.arange(300.0)[:, None]


@pytest.mark.parametrize("cutoff_hz", [3.0, 6.0, 12.0])
@pytest.mark.parametrize(("method", "order"), [("butterworth", 2), ("butterworth", 4), ("critically_damped", 2)])
def test_a_line_is_not_bent_at_its_ends(method, order, cutoff_hz):
    """A response falls to a hundredth over the reach, to a millionth over the three that a line is extended by; it lags
    behind the line by less than the reach, which is what falls."""
    smoother = Smoother(method, order, 8)
    reach = smoother_reach(cutoff_hz, rate_hz=100.0, smoother=smoother)
    smooth = smooth_values(LINE, rate_hz=100.0, cutoff_hz=cutoff_hz, smoother=smoother)
    assert np.abs(smooth - LINE).max() < 1e-6 * reach


# --- bandwidth of signals whose spectrum is known ---


RATE_HZ = 100.0


@pytest.mark.parametrize("values", [np.zeros((40, 3)), np.full(40, 2.5)])
def test_nothing_moves(values):
    assert judge_cutoff(values, rate_hz=RATE_HZ, smoother=Smoother(), cutoff_hz=6.0) == Bandwidth(0.0, 0.0, 0.0)


@pytest.mark.parametrize("n_frames", [1, 19])
def test_too_few_frames(n_frames):
    found = judge_cutoff(np.arange(n_frames) ** 2.0, rate_hz=RATE_HZ)
    assert all(map(math.isnan, (found.noise, found.bandwidth_hz, found.lost_share)))
    assert not math.isnan(judge_cutoff(np.arange(20) ** 2.0, rate_hz=RATE_HZ).bandwidth_hz)

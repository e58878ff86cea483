"""Every channel is filtered as if it were alone, and as SciPy filters it."""

import numpy as np
import pytest
from scipy import signal

from limbtorque.signals.filters import design_cutoff, filter_reach, low_pass

RATE_HZ, CUTOFF_HZ = 100.0, 6.0
REACH = filter_reach(CUTOFF_HZ, rate_hz=RATE_HZ, order=2)


def smooth(values):
    return low_pass(values, rate_hz=RATE_HZ, cutoff_hz=CUTOFF_HZ)


def walks(n_frames, n_channels, seed=0):
    return np.random.default_rng(seed).normal(size=(n_frames, n_channels)).cumsum(axis=0)


@pytest.mark.parametrize("n_channels", [1, 2, 3, 7, 50, 115])
@pytest.mark.parametrize("n_frames", [REACH + 1, 300, 2000])
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

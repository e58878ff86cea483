"""The ends of a window between two frames: known frames on one side are enough."""

import numpy as np
import pytest

from limbtorque.statistics.windows import resample


def test_the_last_point_may_be_less_than_a_frame_beyond_the_known_frames():
    """A cubic is its own spline: exact at 0.504 s although the frame at 0.51 s is missing."""
    t = np.arange(100) / 100.0
    values = (t**3 - t)[:, None]
    values[51:] = np.nan
    found = resample(t, values, start_s=0.1, end_s=0.504)
    assert found[-1, 0] == pytest.approx(0.504**3 - 0.504, abs=1e-12)
    assert not np.isnan(found).any()


def test_the_first_point_may_be_less_than_a_frame_before_the_known_frames():
    t = np.arange(100) / 100.0
    values = (t**3 - t)[:, None]
    values[:31] = np.nan
    found = resample(t, values, start_s=0.302, end_s=0.9)
    assert found[0, 0] == pytest.approx(0.302**3 - 0.302, abs=1e-12)


def test_a_point_a_frame_beyond_the_known_frames_is_missing():
    t = np.arange(100) / 100.0
    values = np.ones((100, 1))
    values[51:] = np.nan
    assert np.isnan(resample(t, values, start_s=0.1, end_s=0.51)[-1, 0])
    inside = resample(t, values, start_s=0.1, end_s=0.9)
    assert np.isnan(inside[52:]).all()  # from 0.516 s on

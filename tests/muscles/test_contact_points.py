"""Characteristic points of a contact force over the cycle, of `tools/measure_contact.py`."""

import measure_contact as tool
import numpy as np

PERCENT = np.arange(101.0)


def test_points_are_the_two_peaks_and_the_valley_between_them():
    curve = 2.0 * np.exp(-(((PERCENT - 14.0) / 6.0) ** 2)) + 3.0 * np.exp(-(((PERCENT - 47.0) / 6.0) ** 2))
    found = tool.points(curve)
    assert found["first peak"] == "2.00 at 14 %"
    assert found["second peak"] == "3.00 at 47 %"
    assert 28 <= int(found["valley"].split()[2]) <= 32
    assert float(found["valley"].split()[0]) < 0.1


def test_unknown_frames_and_the_end_of_swing_do_not_make_a_peak():
    curve = np.where(PERCENT < 3.0, np.nan, 1.0 + 0.01 * PERCENT * (PERCENT > 90.0))
    curve[[20, 50]] = 2.5, 1.5
    assert tool.points(curve) == {"first peak": "2.50 at 20 %", "valley": "1.00 at 21 %", "second peak": "1.50 at 50 %"}


def test_a_rise_towards_push_off_is_no_peak_of_loading():
    curve = np.interp(PERCENT, [0, 14, 22, 47, 60, 100], [0.5, 2.0, 1.6, 2.7, 0.1, 0.1])
    assert tool.points(curve) == {"first peak": "2.00 at 14 %", "valley": "1.60 at 22 %", "second peak": "2.70 at 47 %"}

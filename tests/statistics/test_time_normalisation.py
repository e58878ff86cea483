"""Windows of movements and between events, and resampling, against closed forms."""

import numpy as np
import pytest
from demo_reach import EXACT, SETTINGS, arm_motion
from hypothesis import given
from hypothesis import strategies as st

from limbtorque.recordings.recording import Event
from limbtorque.simulation.reach import minimum_jerk
from limbtorque.statistics.windows import find_between, find_movement, find_window, resample
from limbtorque.study.options.outputs import Ensembles
from limbtorque.tables.trial_record import Window


def speed_of(*reaches, time_s):
    """Speed of minimum-jerk reaches, each (onset, duration, way)."""
    made = [minimum_jerk(time_s - t0, start=[0.0, 0.0], end=[way, 0.0], duration_s=d) for t0, d, way in reaches]
    return np.hypot(*sum(reach.velocity for reach in made).T)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
@pytest.mark.parametrize(("onset_s", "duration_s", "way_m"), [(0.313, 0.8, 0.4), (0.5, 2.0, 0.1)])
def test_onset_and_end_of_a_minimum_jerk_reach(share, onset_s, duration_s, way_m):
    """Its speed over its peak is 16 u^2 (1 - u)^2, so that it is the share at u (1 - u) = sqrt(share) / 4.

    A line between two frames errs by h^2 / 8 of the second derivative over the first, in time.
    """
    time_s = np.arange(400) / 100.0
    found = find_movement(time_s, speed_of((onset_s, duration_s, way_m), time_s=time_s), onset_share=share)
    u = (1.0 - np.sqrt(1.0 - np.sqrt(share))) / 2.0
    slope, bend = 32.0 * u * (1.0 - u) * (1.0 - 2.0 * u), 32.0 * (1.0 - 6.0 * u + 6.0 * u**2)
    bound = 2.0 * 0.01**2 / 8.0 * bend / slope / duration_s + 0.01**2  # twice, and the peak between two frames
    assert found.start_s == pytest.approx(onset_s + u * duration_s, abs=bound)
    assert found.end_s == pytest.approx(onset_s + (1.0 - u) * duration_s, abs=bound)
    assert bound < 2e-3
    assert found.note == ""


def test_a_way_there_and_back_is_one_movement_unless_it_rests_for_long_in_between():
    """The speed is below the share for the pause of 0.1 s and u seconds before and after it."""
    time_s = np.arange(500) / 100.0
    speed = speed_of((0.5, 1.0, 0.3), (1.6, 1.0, -0.3), time_s=time_s)
    u = (1.0 - np.sqrt(1.0 - np.sqrt(0.05))) / 2.0
    found = find_movement(time_s, speed, onset_share=0.05, max_rest_s=0.1 + 2.0 * u + 0.01)
    assert (found.start_s, found.end_s) == pytest.approx((0.5 + u, 2.6 - u), abs=1e-3)
    found = find_movement(time_s, speed, onset_share=0.05, max_rest_s=0.1 + 2.0 * u - 0.01)
    assert np.isnan([found.start_s, found.end_s]).all()
    assert f"2 movements: the endpoint rests from {1.5 - u:.2f} to {1.6 + u:.2f} s" in found.note


def test_a_pause_of_one_frame_is_a_rest_as_long_as_the_lines_around_it():
    """Lines between 1, 0 and 1 cross a quarter at 0.75 before and after the frame at rest: 1.5 in all."""
    speed = np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    assert find_movement(np.arange(5.0), speed, onset_share=0.25, max_rest_s=0.51).note == ""
    assert "from 1.75 to 2.25 s" in find_movement(np.arange(5.0), speed, onset_share=0.25, max_rest_s=0.49).note


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_a_walk_from_standing_to_standing_is_not_one_movement(share):
    """The foot swings for 0.4 s and stands for 0.6 s, four times."""
    time_s = np.arange(500) / 100.0
    speed = speed_of(*((0.5 + k, 0.4, 1.3) for k in range(4)), time_s=time_s)
    found = find_movement(time_s, speed, onset_share=share, max_rest_s=Ensembles().max_rest_s)
    assert found.note.startswith("4 movements")
    assert "window to events" in found.note


@given(st.floats(1e-3, 1e3), st.floats(-100.0, 100.0))
def test_the_window_does_not_depend_on_the_unit_of_speed_and_moves_with_the_clock(scale, shift_s):
    time_s = np.arange(200) / 100.0
    speed = speed_of((0.5, 1.0, 0.3), time_s=time_s)
    first = find_movement(time_s, speed, onset_share=0.05)
    second = find_movement(time_s + shift_s, scale * speed, onset_share=0.05)
    assert (second.start_s, second.end_s) == pytest.approx((first.start_s + shift_s, first.end_s + shift_s), abs=1e-9)


@pytest.mark.parametrize(
    ("speed", "note"),
    [
        ([1.0, 2.0, 0.0, 0.0], "at the first frame the endpoint has 50 %"),
        ([0.0, 2.0, 2.0, 0.5], "at the last frame the endpoint has 25 %"),
        ([0.0, 0.0, 0.0, 0.0], "no movement"),
        ([np.nan] * 4, "no movement"),
        ([2.0], "no rest"),
    ],
)
def test_a_missing_window_has_a_reason(speed, note):
    found = find_movement(np.arange(len(speed)), speed, onset_share=0.05)
    assert np.isnan([found.start_s, found.end_s]).all()
    assert note in found.note


GAIT = [
    Event("Foot Strike", "Right", 0.05),
    Event("Foot Off", "Left", 0.15),
    Event("Foot Strike", "Left", 0.60),
    Event("Foot Off", "Right", 0.70),
    Event("Foot Strike", "Right", 1.23),
    Event("Foot Strike", "Left", 1.75),
    Event("sync", "", 0.30),
]


def between(start, end, side="right", first_s=0.0, last_s=2.0, known=lambda time_s: time_s >= 0.0, cycle="most_known"):
    time_s = np.linspace(first_s, last_s, 201)
    found = find_between(GAIT, start=start, end=end, side=side, time_s=time_s, known=known(time_s), cycle=cycle)
    return (found.start_s, found.end_s) if not found.note else found.note


@pytest.mark.parametrize(
    ("start", "end", "side", "expected"),
    [
        ("Foot Strike Right", "Foot Strike Right", "right", (0.05, 1.23)),
        ("Foot Strike", "Foot Strike", "right", (0.05, 1.23)),
        ("Foot Strike", "Foot Strike", "left", (0.60, 1.75)),
        ("Foot Strike {side}", "Foot Off {side}", "right", (0.05, 0.70)),
        ("foot  strike LEFT", "Foot Strike Right", "right", (0.60, 1.23)),
        ("sync", "Foot Off", "right", (0.30, 0.70)),
    ],
)
def test_a_window_between_events(start, end, side, expected):
    assert between(start, end, side) == expected


def test_events_before_the_first_frame_do_not_count():
    assert between("Foot Strike", "Foot Off", first_s=0.05) == (0.05, 0.70)
    assert "no event 'Foot Strike' of this side after 1.23 s" in between("Foot Strike", "Foot Strike", first_s=0.1)


def test_events_that_are_missing_or_too_late_say_so():
    assert "no event 'Toe Off' of this side at 0 s or later; the recording has Foot Strike Right" in between(
        "Toe Off", "x"
    )
    assert "no event 'Foot Off' of this side after 1.23 s" in between("Foot Strike", "Foot Off", first_s=1.0)
    assert "at 1.23 s is after the last frame analysed, 1.2 s" in between("sync", "Foot Strike", last_s=1.2)


def test_of_several_cycles_the_one_with_the_most_known_torque_is_taken():
    """Any event to the next: 0.05 to 0.60, 0.60 to 1.23, 1.23 to 1.75 s; torques are known from 1 s on."""
    either = [Event(e.label, "", e.time_s) for e in GAIT]

    def taken(known_from_s, cycle="most_known"):
        time_s = np.arange(201) / 100.0
        known = time_s >= known_from_s
        return find_between(
            either, start="Foot Strike", end="Foot Strike", side="right", time_s=time_s, known=known, cycle=cycle
        )

    assert taken(1.0) == Window(1.23, 1.75, cycle=3, n_cycles=3)
    assert taken(0.6) == Window(0.60, 1.23, cycle=2, n_cycles=3)  # as known as the next one, and earlier
    assert taken(9.0) == Window(0.05, 0.60, cycle=1, n_cycles=3)
    assert taken(1.0, "first") == Window(0.05, 0.60, cycle=1, n_cycles=3)
    assert taken(1.0, 2) == Window(0.60, 1.23, cycle=2, n_cycles=3)
    assert taken(1.0, 4).note == "ensembles.cycle is 4, but the trial has 3; lower it"


# ---- resampling ----


def test_a_cubic_comes_back_exactly_and_quantities_do_not_mix():
    time_s = 0.3 + np.arange(12) / 20.0
    values = np.column_stack([time_s**3 - time_s, 2.0 - time_s])
    found = resample(time_s, values, start_s=0.31, end_s=0.81, n_points=11)
    at = 0.31 + 0.05 * np.arange(11)
    np.testing.assert_allclose(found, np.column_stack([at**3 - at, 2.0 - at]), atol=1e-14)


def test_the_error_of_a_sine_is_that_of_a_cubic_spline():
    """A sine of 6 Hz at 100 frames per second: 5/384 (2 pi 0.06)^4, in the middle of the frames; a line errs by 1.8 %."""
    time_s = np.arange(200) / 100.0
    found = resample(time_s, np.sin(12.0 * np.pi * time_s)[:, None], start_s=0.5, end_s=1.5, n_points=333)[:, 0]
    error = np.abs(found - np.sin(12.0 * np.pi * np.linspace(0.5, 1.5, 333))).max()
    assert error < 1.05 * 5.0 / 384.0 * (0.12 * np.pi) ** 4
    assert error > 1e-5


def test_missing_frames_stay_missing_as_far_as_they_go():
    time_s = np.arange(10.0)
    values = np.column_stack([time_s**2, time_s**2])
    values[[3, 4], 0] = np.nan
    found = resample(time_s, values, start_s=0.0, end_s=9.0, n_points=19)
    missing = np.flatnonzero(np.isnan(found[:, 0])) / 2.0
    assert missing.tolist() == [2.5, 3.0, 3.5, 4.0, 4.5]
    np.testing.assert_allclose(found[:, 1], (np.arange(19) / 2.0) ** 2, atol=1e-12)
    np.testing.assert_allclose(found[10:, 0], (np.arange(10, 19) / 2.0) ** 2, atol=1e-12)


def test_short_runs_and_points_beyond_the_frames():
    time_s = np.arange(6.0)
    values = np.array([1.0, np.nan, 3.0, 5.0, np.nan, 7.0])[:, None]
    found = resample(time_s, values, start_s=0.0, end_s=6.0, n_points=13)[:, 0]
    np.testing.assert_array_equal(found[[0, 4, 5, 6, 10]], [1.0, 3.0, 4.0, 5.0, 7.0])
    assert np.isnan(np.delete(found, [0, 4, 5, 6, 10])).all()


# --- the ends of a window between two frames: known frames on one side are enough ---


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


def test_without_rest_and_events_a_part_can_be_named():
    moving = arm_motion(EXACT).part(slice(80, 100))
    found = find_window(moving, np.ones(20, dtype=bool), events=(), side="right", settings=SETTINGS)
    assert np.isnan([found.start_s, found.end_s]).all()
    assert "start_s and end_s (with 0.2 s more before and after) in the table of trials" in found.note

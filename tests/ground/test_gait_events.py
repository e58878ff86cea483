"""Foot strikes and offs by published methods: closed forms, simulated walks, and the plates of recorded ones."""

import numpy as np
import pytest

from limbtorque.ground.foot import file_strikes, oconnor_events, zeni_events
from limbtorque.recordings.recording import Event
from limbtorque.simulation.gait import Walker, Walkway, walk_recording

RATE_HZ = 100.0


def test_zeni_finds_the_extremes_of_a_sine_between_the_frames():
    """Ahead of the hip as sin(2 pi t / 1.1 s): farthest ahead at 0.275 s and after every stride, behind half a stride later.

    The 7 Hz filter has no phase shift. A parabola through three samples of a sine finds its top to 1 % of a frame here.
    """
    t = np.arange(500) / RATE_HZ
    ahead = 0.3 * np.sin(2.0 * np.pi * t / 1.1)
    found = zeni_events(ahead, ahead - 0.1, rate_hz=RATE_HZ)
    np.testing.assert_allclose(found.strike, 27.5 + 110.0 * np.arange(len(found.strike)), atol=0.02)
    np.testing.assert_allclose(found.off, 82.5 + 110.0 * np.arange(len(found.off)), atol=0.02)
    assert len(found.strike) >= 3


def test_events_are_sought_on_both_sides_of_a_gap():
    t = np.arange(600) / RATE_HZ
    ahead = 0.3 * np.sin(2.0 * np.pi * t / 1.1)
    ahead[290:310] = np.nan
    found = zeni_events(ahead, ahead, rate_hz=RATE_HZ).strike
    assert found[0] == pytest.approx(27.5, abs=0.1)
    assert found[-1] == pytest.approx(467.5, abs=0.1)
    assert not ((found > 285) & (found < 315)).any()


def test_a_foot_at_rest_has_no_events():
    still = np.full(300, 0.1)
    for found in (zeni_events(still, still, rate_hz=RATE_HZ), oconnor_events(still, still, rate_hz=RATE_HZ)):
        assert len(found.strike) == len(found.off) == 0


@pytest.mark.parametrize("impact_m_s", [0.4, 0.6])
def test_oconnor_finds_a_strike_with_an_impact(impact_m_s):
    """Within the errors that the paper gives: 16 ms with a standard deviation of 15 ms."""
    made = walk_recording(
        Walker(strike_m_s=impact_m_s), Walkway(noise_m=0.0005, seed=1), duration_s=4.0, first_strike_s=0.507
    )
    names = {name: k for k, name in enumerate(made.labels)}
    heel, toe = (made.markers_m[:, names[name], 2] for name in ("RHEE", "RTOE"))
    found = oconnor_events(heel, toe, rate_hz=RATE_HZ).strike
    exact = file_strikes(made.events, "right", rate_hz=RATE_HZ, first=0)
    np.testing.assert_allclose(found, exact, atol=3.1)
    assert len(found) == len(exact) == 4


def test_strikes_of_a_file_are_those_of_the_side():
    events = (
        Event("Foot Strike", "Left", 0.5),
        Event("Foot Off", "Right", 0.7),
        Event("foot strike", "Right", 1.1),
        Event("Right Heel Strike", "", 2.0),
        Event("General", "Right", 2.5),
    )
    np.testing.assert_allclose(file_strikes(events, "right", rate_hz=200.0, first=20), [200.0, 380.0])
    np.testing.assert_allclose(file_strikes(events, "left", rate_hz=200.0, first=0), [100.0])


# --- thresholds ------------------------------------------------------------------------------------------------------


def bumps(*places, n=600, width_s=0.1):
    """Gaussian bumps of heights at times; slow beside the 7 Hz filter."""
    t = np.arange(n) / RATE_HZ
    return sum(height * np.exp(-0.5 * ((t - at_s) / width_s) ** 2) for at_s, height in places)


def strikes(ahead, rate_hz=RATE_HZ):
    return zeni_events(ahead, np.zeros_like(ahead), rate_hz=rate_hz).strike / rate_hz


@pytest.mark.parametrize(("height", "times_s"), [(0.3, [1.5, 4.5]), (0.36, [1.5, 3.0, 4.5])])
@pytest.mark.parametrize("size_m", [0.01, 1.0])
def test_an_extreme_stands_out_by_a_third_of_the_range(height, times_s, size_m):
    np.testing.assert_allclose(strikes(size_m * bumps((1.5, 1.0), (3.0, height), (4.5, 1.0))), times_s, atol=0.002)


@pytest.mark.parametrize(("apart_s", "times_s"), [(0.37, [2.0]), (0.43, [2.0, 2.43])])
def test_of_two_extremes_nearer_than_a_stride_the_greater_counts(apart_s, times_s):
    ahead = bumps((2.0, 1.0), (2.0 + apart_s, 0.9), width_s=0.07)
    np.testing.assert_allclose(strikes(ahead), times_s, atol=0.01)


@pytest.mark.parametrize(("frames", "events"), [(40, 0), (41, 1)])
def test_a_run_of_frames_is_longer_than_a_stride(frames, events):
    ahead = np.full(200, np.nan)
    ahead[50 : 50 + frames] = bumps((0.2, 1.0), n=frames, width_s=0.06)
    found = zeni_events(ahead, -ahead, rate_hz=RATE_HZ)
    assert len(found.strike) == len(found.off) == events
    if events:
        np.testing.assert_allclose([*found.strike, *found.off], 70.0, atol=0.5)


def foot(phase, n=500):
    """Heel that rises and falls once a second, and a toe such that the middle of both does so by a phase later."""
    turn = 2.0 * np.pi * np.arange(n) / RATE_HZ
    heel, middle = 0.1 * (1.0 + np.cos(turn)), 0.2 * np.cos(turn - phase)
    return heel, 2.0 * middle - heel


@pytest.mark.parametrize(("phase", "low"), [(0.25, False), (0.36, True), (1.0, True), (-0.5, False)])
def test_oconnor_strikes_only_where_the_heel_is_low(phase, low):
    """The middle falls fastest a quarter of a turn after its top, when the heel is at (1 - sin phase) / 2 of its range:
    0.376 and 0.324 on both sides of 0.35. It rises fastest half a turn later, at any height."""
    found = oconnor_events(*foot(phase), rate_hz=RATE_HZ)
    quarter = RATE_HZ * (0.25 + phase / (2.0 * np.pi))
    assert (len(found.strike) > 0) == low
    np.testing.assert_allclose((found.strike - quarter) % RATE_HZ % (RATE_HZ - 0.2), 0.0, atol=0.2)
    np.testing.assert_allclose((found.off - quarter) % RATE_HZ, RATE_HZ / 2, atol=0.2)
    assert len(found.off) >= 4
    assert not low or len(found.strike) >= 4


def test_of_several_falls_on_a_low_heel_the_deepest_is_the_strike():
    t = np.arange(600) / RATE_HZ
    swing = 0.3 * np.exp(-0.5 * ((t - 1.0) / 0.1) ** 2)  # the heel is low from 1.2 s on
    for second, first_m_s in ((0.05, 0.1), (0.1, 0.05)):
        speeds = -first_m_s * np.exp(-0.5 * ((t - 3.0) / 0.08) ** 2) - second * np.exp(-0.5 * ((t - 4.0) / 0.08) ** 2)
        toe = np.cumsum(speeds) / RATE_HZ
        found = oconnor_events(swing, 2.0 * toe, rate_hz=RATE_HZ).strike / RATE_HZ
        assert found[found > 2.0] == pytest.approx([3.0 if first_m_s > second else 4.0], abs=0.02)

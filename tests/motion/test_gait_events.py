"""Foot strikes and offs by published methods: closed forms, simulated walks, and the plates of recorded ones."""

import numpy as np
import pytest

from limbtorque.motion.gait_events import file_strikes, oconnor_events, zeni_events
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

"""Forward by pelvis or thorax: in any laboratory, on a treadmill, on the spot; refusals."""

from dataclasses import replace

import numpy as np
import pytest

from clustered_legs import MEASURED, leg_settings
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.errors import LandmarkError, SignalError
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import mean_facing
from limbtorque.simulation.gait import Walker, Walkway, walk_recording

WALKER = Walker()
UP = np.array([0.0, 0.0, 1.0])
LIMB = Limb("leg", side="right", body_mass_kg=70.0)


@pytest.fixture(scope="module")
def walking():
    return walk_recording(WALKER, Walkway(), duration_s=2.2, first_strike_s=0.2)


def on_a_belt(recording, turn_rad=0.0):
    """The walk seen from a place that goes with it, as on a treadmill, turned about the vertical."""
    belt = np.outer(np.arange(recording.n_frames) / recording.rate_hz, [WALKER.speed_m_s, 0.0, 0.0])
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    return replace(recording, markers_m=(recording.markers_m - belt[:, None]) @ turn)


@pytest.mark.parametrize("turn_rad", [0.0, 0.7, -2.0, np.pi])
def test_a_treadmill_in_any_direction(walking, turn_rad):
    """Angles do not depend on the belt or on the laboratory's axes: those of the walk over ground."""
    over_ground = chain_motion(walking, LIMB, leg_settings(MEASURED))
    belt = chain_motion(on_a_belt(walking, turn_rad), LIMB, leg_settings(MEASURED, plane={"forward_axis": "pelvis"}))
    np.testing.assert_allclose(belt.kinematics.angle_rad, over_ground.kinematics.angle_rad, atol=1e-9)
    forward = [np.cos(turn_rad), np.sin(turn_rad), 0.0]
    np.testing.assert_allclose(belt.plane.axes, [forward, UP, np.cross(forward, UP)], atol=1e-9)
    assert "forward is where the pelvis faces, from hip_axis of both sides, +- 0.0 deg" in belt.notes
    with pytest.raises(SignalError, match="the direction of travel is undefined"):
        chain_motion(on_a_belt(walking, turn_rad), LIMB, leg_settings(MEASURED))


def test_one_side_alone_has_no_direction(walking):
    left = [k for k, label in enumerate(walking.labels) if label.startswith("L")]
    hidden = walking.markers_m.copy()
    hidden[:, left] = np.nan
    chosen = leg_settings(MEASURED, plane={"forward_axis": "pelvis"})
    message = r"plane\.forward_axis is pelvis, and none of anterior_superior_iliac_spine, hip_axis, greater_trochanter has markers"
    with pytest.raises(LandmarkError, match=message):
        chain_motion(replace(walking, markers_m=hidden), LIMB, chosen)
    with pytest.raises(LandmarkError, match=r"plane\.forward_axis is thorax"):
        chain_motion(walking, LIMB, leg_settings(MEASURED, plane={"forward_axis": "thorax"}))


def test_a_body_that_turns_round_has_no_direction():
    angle = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    right = np.stack([np.sin(angle), -np.cos(angle), np.zeros(400)], axis=1)
    _, spread_deg = mean_facing(right, UP)
    assert spread_deg > 45.0 or np.isnan(spread_deg)
    quarter, spread_deg = mean_facing(right[:100], UP)
    np.testing.assert_allclose(quarter, [np.cos(np.pi / 4), np.sin(np.pi / 4), 0.0], atol=0.01)
    half_range = np.pi / 4  # uniform over +- 45 degrees: R = sin(a) / a
    assert spread_deg == pytest.approx(np.degrees(np.sqrt(-2.0 * np.log(np.sin(half_range) / half_range))), rel=0.01)
    assert np.isnan(mean_facing(np.full((4, 3), np.nan), UP)[0]).all()


def test_a_turning_walk_is_refused(walking):
    time_s = np.arange(walking.n_frames) / walking.rate_hz
    angle = 2.0 * np.pi * time_s / time_s[-1]
    c, s, o = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    turn = np.stack([np.stack([c, -s, o], 1), np.stack([s, c, o], 1), np.stack([o, o, o + 1.0], 1)], axis=1)
    turning = replace(walking, markers_m=np.einsum("nij,nkj->nki", turn, on_a_belt(walking).markers_m))
    with pytest.raises(SignalError, match="the pelvis turns by"):
        chain_motion(turning, LIMB, leg_settings(MEASURED, plane={"forward_axis": "pelvis"}))

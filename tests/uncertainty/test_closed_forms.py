"""Standard deviations of torques with a closed form: one link, a static posture, a plate."""

import math
from dataclasses import replace

import numpy as np
import pytest
from still_chains import N_FRAMES, motion_of, with_errors

from limbtorque.chain.model import Chain, Kinematics
from limbtorque.chain.segments import DEMPSTER_WINTER
from limbtorque.motion.chain_motion import MEASURED, ExternalLoad
from limbtorque.motion.limb import Limb
from limbtorque.study.settings import make_settings, override
from limbtorque.uncertainty.propagation import torque_bands

G = 9.81
BODY_KG, LENGTH_M = 70.0, 0.25
ROW = DEMPSTER_WINTER["forearm"]
MASS, COM = ROW.mass * BODY_KG, ROW.com * LENGTH_M
INERTIA = MASS * (ROW.gyration * LENGTH_M) ** 2
NET, INERTIAL, GRAVITY, EXTERNAL = 0, 1, -6, -4  # behind the terms stand their sums by kind
ROUNDING = 1e-9


def forearm(angle_rad, *, acceleration=0.0, mass=MASS, com=COM, inertia=INERTIA):
    chain = Chain([LENGTH_M], [mass], [com], [inertia])
    still = np.full((N_FRAMES, 1), float(angle_rad))
    kinematics = Kinematics(still, 0.0 * still, 0.0 * still + acceleration)
    return motion_of(chain, kinematics, joints=("elbow",), segments=("forearm",))


def limb(**measured):
    return Limb("forearm", side="right", body_mass_kg=BODY_KG, marker_set="sim", measured=measured)


def sd(motion, settings, who=None):
    """Standard deviation of each row of the elbow; every frame has the same."""
    found = torque_bands(motion, who or limb(), settings).sd_nm[0]
    np.testing.assert_allclose(found, found[:, :1].repeat(N_FRAMES, axis=1), rtol=ROUNDING, atol=1e-12)
    return found[:, 0]


@pytest.mark.parametrize("angle", [0.0, 0.7, -1.2])
def test_uncertain_mass_of_one_link(angle):
    """Relative error of the mass times the torque; of a share s of body mass on both sides, 1 - 2 s of it remain."""
    found = sd(forearm(angle), with_errors(segment_mass=0.07))
    expected = 0.07 * (1.0 - 2.0 * ROW.mass) * MASS * G * COM * abs(math.cos(angle))
    np.testing.assert_allclose(found[[NET, GRAVITY]], expected, rtol=ROUNDING)


def test_mass_of_the_rest_of_the_body():
    found = sd(forearm(0.0), with_errors(rest_of_body_mass=0.03))
    assert found[NET] == pytest.approx(0.03 * (1.0 - 2.0 * ROW.mass) * MASS * G * COM)


def test_uncertain_body_mass_scales_all_torques():
    found = sd(forearm(0.5, acceleration=20.0), with_errors(body_mass=0.01))
    assert found[GRAVITY] == pytest.approx(0.01 * MASS * G * COM * math.cos(0.5))
    assert found[INERTIAL] == pytest.approx(0.01 * (INERTIA + MASS * COM**2) * 20.0)
    assert found[NET] == pytest.approx(found[GRAVITY] + found[INERTIAL])  # one error: both change together


def test_uncertain_centre_of_mass():
    found = sd(forearm(0.0, acceleration=20.0), with_errors(segment_com=0.04))
    off = 0.04 * LENGTH_M
    assert found[GRAVITY] == pytest.approx(MASS * G * off)
    assert found[INERTIAL] == pytest.approx(2.0 * MASS * COM * off * 20.0)


def test_uncertain_inertia_concerns_the_inertial_term_alone():
    found = sd(forearm(0.3, acceleration=-15.0), with_errors(segment_inertia=0.1))
    assert found[INERTIAL] == pytest.approx(0.1 * INERTIA * 15.0)
    assert found[NET] == pytest.approx(found[INERTIAL])
    assert found[GRAVITY] == 0.0


@pytest.mark.parametrize("angle", [0.0, 0.7, -1.2])
def test_uncertain_joint_centres_of_a_static_link(angle):
    """Both ends off by s along each axis: the centre of mass, a share c of the way, is off by c sqrt(2) s."""
    found = sd(forearm(angle), with_errors(centre_marker_m=0.01))
    np.testing.assert_allclose(found[[NET, GRAVITY]], MASS * G * ROW.com * math.sqrt(2.0) * 0.01, rtol=1e-6)


def test_a_measured_centre_of_mass_keeps_its_distance():
    """Its error is its own, and that of the link's length leaves it alone: only the direction of the link counts."""
    settings = with_errors(centre_marker_m=0.01, measured_parameters=0.0)
    found = sd(forearm(0.7), settings, limb(forearm_com_m=COM))
    assert found[NET] == pytest.approx(MASS * G * COM * math.sin(0.7) * math.sqrt(2.0) * 0.01 / LENGTH_M)


def test_a_weighed_segment_has_the_error_of_the_scale():
    settings = with_errors(segment_mass=0.07, measured_parameters=0.02, body_mass=0.01, rest_of_body_mass=0.02)
    found = sd(forearm(0.0), settings, limb(forearm_mass_kg=MASS))
    assert found[NET] == pytest.approx(0.02 * MASS * G * COM)


def test_given_landmark_and_kind_replace_the_kind_of_the_rule():
    exact = with_errors(centre_marker_m=0.01, landmarks={"elbow_axis": 0.0, "ulnar_styloid": 0.02})
    assert sd(forearm(0.0), exact)[NET] == pytest.approx(MASS * G * ROW.com * 0.02)
    named = with_errors(centre_marker_m=0.01, centre_imaged_m=0.002, landmarks={"elbow_axis": "imaged"})
    expected = MASS * G * ROW.com * math.hypot(0.002, 0.01)
    assert sd(forearm(0.0), named)[NET] == pytest.approx(expected)


def test_a_source_that_is_off_has_no_part():
    settings = with_errors(segment_mass=0.07, body_mass=0.01, off=["segment_mass"])
    bands = torque_bands(forearm(0.0), limb(), settings)
    assert {each.source for each in bands.directions} == {"body_mass"}
    assert bands.sd_nm[0, NET, 0] == pytest.approx(0.01 * MASS * G * COM)


def test_a_trial_may_have_an_error_of_its_own():
    """As a column of the table of trials gives it: the scale of one subject is known to be bad."""
    settings = override(with_errors(body_mass=0.01), {"uncertainty.sizes.body_mass": "0.03"}, source="trials.csv")
    assert sd(forearm(0.0), settings)[NET] == pytest.approx(0.03 * MASS * G * COM)


def test_a_filled_gap_is_wrong_by_half_a_wave():
    """An upright forearm whose ends are both off across it by 4 mm in the middle of the gap: it leans by the root of 2 of that."""
    motion, gap = forearm(math.pi / 2.0), np.zeros(N_FRAMES, dtype=bool)
    gap[20:29] = True
    motion = replace(motion, filled=gap, metrics={**motion.metrics, "gap_error_m": 0.004})
    found = torque_bands(motion, limb(), with_errors(gaps=1.0)).sd_nm[0, GRAVITY]
    wave = np.zeros(N_FRAMES)
    wave[20:29] = np.sin(np.pi * np.arange(1, 10) / 10.0)
    np.testing.assert_allclose(found, MASS * G * COM * math.sqrt(2.0) * 0.004 / LENGTH_M * wave, rtol=1e-6, atol=1e-9)


def test_sources_add_up():
    settings = with_errors(segment_mass=0.07, segment_com=0.04, centre_marker_m=0.01, body_mass=0.01)
    bands = torque_bands(forearm(0.4, acceleration=5.0), limb(), settings)
    parts = bands.by_source
    assert set(parts) == {"segment_mass", "segment_com", "joint_centres", "body_mass", "marker_noise"}
    np.testing.assert_allclose(sum(parts.values()), bands.sd_nm**2, rtol=1e-12)


def test_mean_over_frames_has_the_error_that_all_frames_share():
    """Of a static posture the mean is as uncertain as every frame: errors that frames share do not average out."""
    settings = with_errors(segment_mass=0.07, centre_marker_m=0.01)
    weights = {"mean": np.full(N_FRAMES, 1.0 / N_FRAMES)}
    bands = torque_bands(forearm(0.4), limb(), settings, weights=weights)
    np.testing.assert_allclose(bands.sums["mean"].variance, bands.variance_nm2[..., 0], rtol=1e-9, atol=1e-15)


@pytest.fixture
def standing():
    """A leg that stands still over a plate."""
    length = np.array([0.43, 0.43, 0.15])
    chain = Chain(length, [7.0, 3.3, 1.0], 0.43 * length, [0.1, 0.05, 0.01])
    angle = np.tile([-1.5, -0.2, 1.4], (N_FRAMES, 1))
    kinematics = Kinematics(angle, 0.0 * angle, 0.0 * angle, base_m=np.tile([0.3, 0.95], (N_FRAMES, 1)))
    joints, segments = ("hip", "knee", "ankle"), ("thigh", "shank", "foot")
    motion = motion_of(chain, kinematics, joints=joints, segments=segments)
    force, point = np.tile([30.0, 700.0], (N_FRAMES, 1)), np.tile([0.35, 0.0], (N_FRAMES, 1))
    load = ExternalLoad(force, point, np.zeros(N_FRAMES), np.full(N_FRAMES, MEASURED, dtype=np.int8), ())
    return motion_of(chain, kinematics, joints=joints, segments=segments, load=load), motion.joint_m[0]


def of_leg(standing, **errors):
    settings = with_errors(**errors)
    landmarks = ("hip_axis", "knee_axis", "ankle_axis", "head_of_metatarsal_2")
    raw = settings.model_dump(mode="json") | {"marker_sets": {"sim": {name: name.upper() for name in landmarks}}}
    who = Limb("leg", side="right", body_mass_kg=BODY_KG, marker_set="sim")
    return torque_bands(standing[0], who, make_settings(raw)).sd_nm[:, :, N_FRAMES // 2]


def test_offset_of_a_plate_turns_each_joint_by_its_lever(standing):
    found = of_leg(standing, plate_offset_n=3.0)[:, [NET, EXTERNAL]]
    for joint, position in zip(found, standing[1][:3], strict=True):
        lever = np.hypot(0.35 - position[0], position[1])
        np.testing.assert_allclose(joint, 3.0 * lever, rtol=1e-9)


def test_centre_of_pressure_turns_all_joints_alike(standing):
    found = of_leg(standing, pressure_m=0.003)
    np.testing.assert_allclose(found[:, [NET, EXTERNAL]], 0.003 * 700.0, rtol=1e-9)


def test_gain_of_a_plate_is_a_share_of_the_external_torque(standing):
    found = of_leg(standing, plate_gain=0.01)[:, EXTERNAL]
    for joint, position in zip(found, standing[1][:3], strict=True):
        torque = (0.35 - position[0]) * 700.0 - (0.0 - position[1]) * 30.0
        assert joint == pytest.approx(0.01 * abs(torque))


def test_delay_of_a_constant_force_has_no_effect(standing):
    assert not of_leg(standing, synchronisation_s=0.01).any()

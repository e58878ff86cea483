"""Flexion of a limb: when a mirrored one would be noticed."""

import numpy as np
import pytest

from limbtorque.motion.chain_motion import Flexion, find_flexion
from limbtorque.motion.plane import PlaneFrame
from limbtorque.quality.metrics import reversed_flexion_deg, reversed_flexion_share, undecided_flexion
from limbtorque.study.chains import ARM, LEG


def test_a_limb_that_is_straight_most_of_the_time_and_bends_is_decided():
    """By the range: half of the frames of each are at 2 degrees. A spike of 30 degrees in 4 % of them does not bend it."""
    flexion = Flexion(np.ones(3), np.zeros(3), np.ones(3, dtype=bool))
    for bent_deg, share, undecided in ((60.0, 0.4, 0.0), (-60.0, 0.4, 0.0), (30.0, 0.04, 1.0), (8.0, 0.4, 1.0)):
        angle = np.radians(np.full((100, 3), 2.0))
        angle[: round(100 * share), 1] = np.radians(bent_deg)
        assert undecided_flexion(ARM, flexion, angle) == undecided
    assert undecided_flexion(ARM, flexion, np.radians(np.full((100, 3), 40.0))) == 0.0  # bent throughout


# --- limits ----------------------------------------------------------------------------------------------------------

RIGHT = PlaneFrame(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), "sagittal")  # x forward, z up


def flexed(sign=1.0, zero_deg=0.0):
    return Flexion(np.full(3, sign), np.radians(np.full(3, zero_deg)), np.ones(3, dtype=bool))


def angles(elbow_deg, *, others_deg=-80.0):
    made = np.full((len(elbow_deg), 3), others_deg)
    made[:, 1] = elbow_deg
    return np.radians(made)


@pytest.mark.parametrize(("bent_deg", "undecided"), [(9.9, 1.0), (10.1, 0.0), (-9.9, 1.0), (-10.1, 0.0)])
def test_ten_degrees_decide(bent_deg, undecided):
    """The shoulder and the wrist, which bend both ways, do not count; nor do frames without an elbow."""
    assert undecided_flexion(ARM, flexed(), angles(np.full(50, bent_deg))) == undecided
    some = np.where(np.arange(50) % 2, bent_deg, np.nan)
    assert undecided_flexion(ARM, flexed(), angles(some)) == undecided
    assert undecided_flexion(ARM, flexed(zero_deg=30.0), angles(np.full(50, 30.0 + bent_deg))) == undecided


def test_nothing_seen_is_not_undecided():
    assert undecided_flexion(ARM, flexed(), angles(np.full(50, np.nan))) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_share_of_frames_bent_the_wrong_way(sign):
    """Beyond 10 degrees, which hypermobile elbows reach (Beighton et al. 1973)."""
    found = angles(sign * np.array([-10.1, -9.9, 0.0, 90.0, -60.0]))
    assert reversed_flexion_share(ARM, flexed(sign), found) == 0.4
    assert reversed_flexion_share(ARM, flexed(-sign), found) == 0.2  # the other way about: 90 degrees only


@pytest.mark.parametrize(("sign", "zero_deg", "expected"), [(1.0, 0.0, 20.0), (-1.0, 0.0, 0.0), (1.0, 15.0, 35.0), (-1.0, -50.0, 30.0), (-1.0, -10.0, 0.0)])  # fmt: skip
def test_the_median_of_wrong_flexion(sign, zero_deg, expected):
    elbow = np.array([-20.0, -20.0, -20.0, 80.0, np.nan])
    assert reversed_flexion_deg(ARM, flexed(sign, zero_deg), angles(elbow)) == pytest.approx(expected)


@pytest.mark.parametrize("heel_m", [-0.05, 0.0, 0.03])
def test_the_ankle_flexes_from_the_sole(heel_m):
    """The zero is where the sole is at right angles to the shank: 90 degrees and the slope from the ankle's line to the sole."""
    n = 7
    landmarks = {name: np.zeros((n, 3)) for name in ("hip_axis", "knee_axis", "ankle_axis", LEG.end)}
    ankle = LEG.joints[-1]
    landmarks[ankle.landmark] = np.tile([0.0, 0.0, 0.1], (n, 1))
    back, front = ankle.sole
    assert front == LEG.end
    landmarks[back], landmarks[front] = np.tile([-0.05, 0.0, heel_m], (n, 1)), np.tile([0.2, 0.0, 0.0], (n, 1))
    found, notes = find_flexion(LEG, RIGHT, "right", landmarks)
    line, sole = np.degrees(np.arctan2(-0.1, 0.2)), np.degrees(np.arctan2(-heel_m, 0.25))
    assert np.degrees(found.zero_rad[-1]) == pytest.approx(90.0 + line - sole, abs=1e-9)
    assert len(notes) == 1
    assert "flexion is measured from the sole" in notes[0]
    landmarks[back][:3] = np.nan  # a warning would fail the test
    assert find_flexion(LEG, RIGHT, "right", landmarks)[0].zero_rad[-1] == found.zero_rad[-1]
    landmarks[back][:] = np.nan
    assumed, (note,) = find_flexion(LEG, RIGHT, "right", landmarks)
    assert np.degrees(assumed.zero_rad[-1]) == pytest.approx(ankle.flexion_zero_deg)
    assert f"{back} is not mapped or not visible" in note


def test_the_sense_in_a_horizontal_plane_is_mirrored():
    frame = PlaneFrame(np.eye(3), "horizontal")
    right, left = (find_flexion(ARM, frame, side, {})[0] for side in ("right", "left"))
    np.testing.assert_array_equal(right.sign, -left.sign)
    np.testing.assert_array_equal(right.sign, [joint.flexion_right_horizontal for joint in ARM.joints])
    assert not right.zero_rad.any()
    oblique = PlaneFrame(np.eye(3), "oblique")
    found, notes = find_flexion(ARM, oblique, "left", {})
    np.testing.assert_array_equal(found.sign, [joint.flexion_sagittal for joint in ARM.joints])
    assert "neither sagittal nor horizontal" in notes[0]


def test_a_sole_may_be_measured_at_any_joint():
    """At the knee the distal line ends at the ankle, at 30 degrees from the landmarks' own line of -50 degrees."""
    joints = [joint.model_copy(update={"sole": None}) for joint in LEG.joints]
    joints[1] = joints[1].model_copy(update={"sole": ("upper", "lower")})
    model = LEG.model_copy(update={"joints": tuple(joints)})
    points = {"hip_axis": [0, 0, 1], "knee_axis": [0, 0, 0.5], "ankle_axis": [np.cos(0.5), 0, 0.5 + np.sin(0.5)]}
    points |= {"upper": [0, 0, 0], "lower": [np.cos(-0.9), 0, np.sin(-0.9)], LEG.end: [7.0, 0, 0]}
    landmarks = {name: np.tile(np.array(point, dtype=float), (3, 1)) for name, point in points.items()}
    found, (note,) = find_flexion(model, RIGHT, "right", landmarks)
    assert found.zero_rad[1] == pytest.approx(np.pi / 2.0 + 0.5 + 0.9)
    assert note.endswith(
        f"flexion is measured from the sole, {-np.degrees(1.4):.0f} deg from the line to the ankle_axis"
    )


def test_a_limb_whose_joints_bend_both_ways_is_never_bent_the_wrong_way():
    joints = tuple(joint.model_copy(update={"one_way": False}) for joint in ARM.joints)
    model = ARM.model_copy(update={"joints": joints})
    assert reversed_flexion_share(model, flexed(), angles(np.full(5, -60.0))) == 0.0
    assert reversed_flexion_deg(model, flexed(), angles(np.full(5, -60.0))) == 0.0

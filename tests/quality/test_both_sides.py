"""One side of the body against the other."""

import numpy as np
import pytest

from limbtorque.ground.foot import slow_frames
from limbtorque.motion.joint_centres import both_sides
from limbtorque.motion.limb import Limb
from limbtorque.quality.body_checks import side_differences_m, sides_reversed_share
from limbtorque.quality.foot_checks import foot_reversed_share
from limbtorque.quality.metrics import Stated, sides_unlike_factor
from limbtorque.recordings.recording import Recording
from limbtorque.study.settings import make_settings

UP = np.array([0.0, 0.0, 1.0])
NAMES = ("hip", "knee", "ankle")


def test_left_is_on_the_left():
    left, right = np.full((10, 3), [0.0, 0.1, 1.0]), np.full((10, 3), [0.0, -0.1, 1.0])
    forward = np.array([1.0, 0.0, 0.0])
    assert sides_reversed_share(left, right, forward=forward, up=UP) == 0.0
    assert sides_reversed_share(right, left, forward=forward, up=UP) == 1.0
    assert sides_reversed_share(left, right, forward=-forward, up=UP) == 1.0
    assert np.isnan(sides_reversed_share(left * np.nan, right, forward=forward, up=UP))


def largest(sides, names, up):
    return np.abs(side_differences_m(sides, names, up)).max()


def walker(turn_rad=0.0, thigh_m=0.43):
    """A leg that swings for two strides of a body that goes 2.4 m in the direction `turn_rad`; the pelvis turns by 4 degrees."""
    time_s = np.arange(240) / 100.0
    way, across = (
        np.array([np.cos(turn_rad), np.sin(turn_rad), 0.0]),
        np.array([-np.sin(turn_rad), np.cos(turn_rad), 0.0]),
    )
    legs = []
    for sign in (1.0, -1.0):
        swing = sign * np.radians(25.0) * np.sin(2.0 * np.pi * time_s / 1.2)
        pelvis = sign * 0.1 * np.tan(np.radians(4.0)) * np.sin(2.0 * np.pi * time_s / 1.2)
        hip = np.outer(time_s + pelvis, way) + sign * 0.1 * across + 0.9 * UP
        down = np.outer(np.sin(swing), way) - np.outer(np.cos(swing), UP)
        knee = hip + (thigh_m if sign > 0 else 0.43) * down
        legs.append({"hip": hip, "knee": knee, "ankle": knee + 0.41 * down})
    return legs


@pytest.mark.parametrize("turn_rad", [0.0, 0.7, np.pi])
def test_legs_that_are_alike_differ_by_nothing_in_any_direction(turn_rad):
    assert largest(walker(turn_rad), NAMES, UP) < 1e-3


@pytest.mark.parametrize("label", NAMES)
def test_a_joint_that_is_off_by_four_centimetres(label):
    """Upwards: the segments beside it change by 4 cm where they are upright, by cos(25 deg) of it at the least."""
    legs = walker(0.3)
    legs[0] = {**legs[0], label: legs[0][label] + 0.04 * UP}
    assert 0.035 < largest(legs, NAMES, UP) <= 0.0401


def test_a_hip_that_is_forward_and_a_shorter_thigh():
    legs = walker()
    legs[0] = {**legs[0], "hip": legs[0]["hip"] + [0.05, 0.0, 0.0]}
    assert largest(legs, NAMES, UP) == pytest.approx(0.05, abs=0.002)
    assert largest(walker(thigh_m=0.40), NAMES, UP) == pytest.approx(0.03, abs=1e-9)


def test_nothing_known_is_no_difference():
    legs = [{name: np.full((5, 3), np.nan) for name in NAMES} for _ in range(2)]
    assert np.isnan(largest(legs, NAMES, UP))


def test_a_foot_in_the_air_keeps_its_order():
    """A foot turned by 60 degrees about the ball has its ankle above the line, too."""
    foot = np.array([[0.0, 0.03], [0.05, 0.08], [0.18, 0.03]])
    angle = np.radians(-60.0)
    turned = (foot - foot[2]) @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) + foot[2]
    for heel, ankle, front in (foot[:, None], turned[:, None]):
        assert foot_reversed_share(heel, ankle, front) == 0.0
        assert foot_reversed_share(ankle, heel, front) == 1.0
    assert np.isnan(foot_reversed_share(foot[:1], foot[1:2], np.full((1, 2), np.nan)))


def test_one_slow_landmark_is_enough_and_a_missing_one_shows_nothing():
    still, fast = np.zeros((50, 3)), np.outer(np.arange(50) / 100.0, [1.0, 0.0, 0.0])
    both = {"rate_hz": 100.0, "belt_m_s": np.zeros(3), "limit_m_s": 0.5}
    assert slow_frames([still, fast], **both).all()
    assert not slow_frames([fast, still * np.nan], **both).any()
    assert slow_frames([fast], **{**both, "belt_m_s": np.array([1.0, 0.0, 0.0])}).all()


# --- landmarks of both sides -----------------------------------------------------------------------------------------

LABELS = ("RHIP", "RKNE", "RANK", "RTOE", "LHIP", "LKNE", "LANK", "LTOE")
MARKERS = {"hip_axis": "{S}HIP", "knee_axis": "{S}KNE", "ankle_axis": "{S}ANK", "head_of_metatarsal_2": "{S}TOE"}
SETTINGS = make_settings({"marker_sets": {"walk": MARKERS}, "plane": {"up_axis": "+z", "forward_axis": "+x"}})


def sides_of(labels, side="right", settings=SETTINGS):
    markers_m = np.arange(9.0 * len(labels) * 3).reshape(9, len(labels), 3)
    recording = Recording("walk", "c3d", "reader", tuple(labels), markers_m, 100.0, 1)
    limb = Limb("leg", side=side, body_mass_kg=60.0, marker_set="walk")
    return both_sides(recording, limb, settings, slice(2, 7)), markers_m[2:7]


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_own_side_comes_first(side):
    (own, other), markers_m = sides_of(LABELS, side)
    assert set(own) == set(other) == set(MARKERS)
    right, left = (own, other) if side == "right" else (other, own)
    np.testing.assert_array_equal(right["knee_axis"], markers_m[:, 1])
    np.testing.assert_array_equal(left["head_of_metatarsal_2"], markers_m[:, 7])


@pytest.mark.parametrize("left_out", ["RKNE", "LTOE"])
def test_without_a_marker_of_one_side_there_is_no_pair(left_out):
    assert sides_of([label for label in LABELS if label != left_out])[0] is None


def test_sides_that_share_a_marker_are_no_pair():
    shared = make_settings({"marker_sets": {"walk": {**MARKERS, "hip_axis": "RHIP"}}, "plane": {"up_axis": "+z", "forward_axis": "+x"}})  # fmt: skip
    assert sides_of(LABELS, settings=shared)[0] is None


@pytest.mark.parametrize(("way_m", "counts"), [(0.51, True), (0.49, False)])
def test_without_a_way_of_half_a_metre_forward_does_not_count(way_m, counts):
    """The hips 3 cm apart along the way, and 5 mm in height; the way may climb, only its level part counts."""
    t = np.linspace(0.0, 1.0, 11)[:, None]
    right = {"hip": t * [way_m, 0.0, 2.0] + [0.0, -0.1, 0.9]}
    left = {"hip": right["hip"] + [0.03, 0.2, 0.005]}
    found = largest([right, left], ["hip"], UP)
    assert found == pytest.approx(0.03 if counts else 0.005)


def test_the_median_of_the_known_frames_counts():
    sides = walker(thigh_m=0.40)
    for side in sides:
        side["knee"] = side["knee"].copy()
    sides[0]["knee"][:100] = np.nan
    sides[1]["knee"][200:] = [7.0, 7.0, 7.0]
    assert largest(sides, NAMES, UP) == pytest.approx(0.03, abs=1e-9)


def test_differences_count_in_stated_standard_deviations():
    """By hand: two independent differences of 10 and 20 mm, and a centre whose error is the first of them alone.

    Together z'z / 2 of 3^2 + 1^2 over the 97.5th percentile of chi-square of two degrees, 7.38 / 2; alone 3^2 over the same.
    """
    stated = Stated(1.0, np.diag([1e-4, 4e-4]), np.array([[0.01, 0.0], [0.0, 0.0]]))
    assert sides_unlike_factor(np.array([0.03, 0.02]), stated) == pytest.approx(np.sqrt(10.0 / 7.378), rel=0.01)
    assert sides_unlike_factor(np.array([0.03, 0.0]), stated) == pytest.approx(np.sqrt(9.0 / 7.378), rel=0.01)
    assert np.isnan(sides_unlike_factor(np.array([np.nan, 0.0]), stated))

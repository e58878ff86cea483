"""Predicted joint centres: by hand, in any laboratory, on both sides, and against the centres of other programs."""

from typing import get_args

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from limbtorque.errors import SignalError
from limbtorque.motion.predicted_centres import ERRORS, hip_centre, shoulder_centre
from limbtorque.recordings.read import read_recording
from limbtorque.study.chains import HipRegression

WIDTH_M, DEPTH_M, LEG_M = 0.24, 0.15, 0.88
# x forward, y left, z up; the spines at one height
RIGHT = np.array([[0.0, -WIDTH_M / 2, 1.0]])
LEFT = np.array([[0.0, WIDTH_M / 2, 1.0]])
BACK = np.array([[-DEPTH_M, 0.0, 1.0]])
# forward, up and aside of an adult, m, from the printed equations with a pocket calculator
BY_HAND = {
    "harrington_2007": (-0.24 * 0.15 - 0.0099, -0.30 * 0.24 - 0.0109, 0.33 * 0.24 + 0.0073),  # -45.9, -82.9, 86.5 mm
    "bell_1990": (-0.0456, -0.0720, 0.0864),
    "davis_1991": (-0.04492, -0.09405, 0.07914),  # c = 0.0859, a = 0.0718
}


@pytest.mark.parametrize("rule", get_args(HipRegression))
def test_equations_by_hand(rule):
    ahead, above, aside = BY_HAND[rule]
    right = hip_centre(rule, RIGHT, LEFT, BACK, side="right", leg_length_m=LEG_M)
    left = hip_centre(rule, LEFT, RIGHT, BACK, side="left", leg_length_m=LEG_M)
    np.testing.assert_allclose(right, [[ahead, -aside, 1.0 + above]], atol=2e-5)
    np.testing.assert_allclose(left, [[ahead, aside, 1.0 + above]], atol=2e-5)


@pytest.mark.parametrize("rule", get_args(HipRegression))
def test_any_laboratory(rule):
    turns = Rotation.random(6, random_state=2)
    shift = np.array([0.4, -2.0, 1.1])
    moved = [turns.apply(point[0]) + shift for point in (RIGHT, LEFT, BACK)]
    own = hip_centre(rule, RIGHT, LEFT, BACK, side="right", leg_length_m=LEG_M)
    found = hip_centre(rule, *moved, side="right", leg_length_m=LEG_M)
    np.testing.assert_allclose(found, turns.apply(own[0]) + shift, atol=1e-12)


def test_measures_and_gaps():
    width = hip_centre("bell_1990", RIGHT, LEFT, BACK, side="right", width_m=0.20)
    np.testing.assert_allclose(width, [[-0.19 * 0.2, -0.36 * 0.2, 1.0 - 0.3 * 0.2]], atol=1e-12)
    thick = hip_centre("davis_1991", RIGHT, LEFT, BACK, side="right", leg_length_m=LEG_M, marker_radius_m=0.017)
    thin = hip_centre("davis_1991", RIGHT, LEFT, BACK, side="right", leg_length_m=LEG_M, marker_radius_m=0.007)
    assert np.linalg.norm(thick - thin) == pytest.approx(0.01, abs=1e-12)
    gap = np.vstack([RIGHT, RIGHT * np.nan, RIGHT])
    found = hip_centre("harrington_2007", gap, np.vstack([LEFT] * 3), np.vstack([BACK] * 3), side="right")
    assert np.isnan(found).all(axis=1).tolist() == [False, True, False]
    with pytest.raises(SignalError, match=r"davis_1991 needs the leg length .* leg_length_m in the table of subjects"):
        hip_centre("davis_1991", RIGHT, LEFT, BACK, side="right")
    with pytest.raises(SignalError, match="no frame has the spines of both sides"):
        hip_centre("bell_1990", RIGHT * np.nan, LEFT, BACK, side="right")


def test_the_shoulder_is_below_the_acromion_along_the_trunk():
    right, left = np.array([[0.0, -0.18, 1.45]]), np.array([[0.0, 0.18, 1.45]])
    down = np.array([0.0, 0.0, -1.0])
    np.testing.assert_allclose(shoulder_centre(right, left, down), [[0.0, -0.18, 1.45 - 0.0612]], atol=1e-12)
    trunk = Rotation.from_euler("y", 50.0, degrees=True)  # bent forward
    bent = shoulder_centre(trunk.apply(right), trunk.apply(left), trunk.apply(down))
    np.testing.assert_allclose(bent, trunk.apply([[0.0, -0.18, 1.45 - 0.0612]]), atol=1e-12)
    leaning = shoulder_centre(right, left, np.array([0.0, 0.4, -1.0]))
    np.testing.assert_allclose(leaning, [[0.0, -0.18, 1.45 - 0.0612]], atol=1e-12)


def test_every_rule_has_its_error_by_imaging():
    assert set(ERRORS) == {*get_args(HipRegression), "rab_2002"}
    assert all(error.source for error in ERRORS.values())


COHORT = {"HC030A": (0.204, 0.83, 0.83), "HC032A": (0.228, 0.80, 0.805), "HC044A": (0.181, 0.78, 0.78)}


@pytest.mark.parametrize("name", COHORT)
@pytest.mark.parametrize(("side", "own", "other"), [("right", "R", "L"), ("left", "L", "R")])
def test_centres_of_plug_in_gait_and_of_another_harrington(recordings, name, side, own, other):
    """The files hold the hips of Plug-in Gait (Davis), two also Harrington's by the script of the Oxford foot model.

    Both used the width of the pelvis, the leg lengths and the markers (10 mm) that the file states. Plug-in Gait has 0.5 and 0.314 rad for
    28.4 and 18 degrees, and the mean of both legs: 0.5 mm.
    """
    found = read_recording(recordings / "cohort" / name / "Static" / f"{name}01.c3d")
    place = {label.rpartition(":")[2]: index for index, label in enumerate(found.labels)}
    own_m, other_m, back_m = (found.markers_m[:, place[label]] for label in (f"{own}ASI", f"{other}ASI", "SACR"))
    width_m, *legs_m = COHORT[name]
    kept = {"side": side, "width_m": width_m, "leg_length_m": legs_m[side == "left"], "marker_radius_m": 0.005}
    davis = hip_centre("davis_1991", own_m, other_m, back_m, **kept)
    assert np.linalg.norm(davis - found.markers_m[:, place[f"{own}FEP"]], axis=1).max() < 0.0005
    if f"{own}HJCHarrington" in place:
        harrington = hip_centre("harrington_2007", own_m, other_m, back_m, **kept)
        apart = np.linalg.norm(harrington - found.markers_m[:, place[f"{own}HJCHarrington"]], axis=1)
        assert np.nanmax(apart) < 0.0002  # widths over time, not their median

"""A foot's landing, its ends, and its place on a plate: distances and frames by hand."""

from dataclasses import replace

import numpy as np
import pytest

import plates
from limbtorque.ground.foot import (
    EDGE_MARGIN_M,
    MAX_CONTACT_HEIGHT_M,
    Foot,
    FootEvents,
    Strikes,
    above,
    centre_of_pressure,
    distance_m,
    inside,
    landed,
    standing,
)

UP = np.array([0.0, 0.0, 1.0])
RATE_HZ, N_FRAMES = 100.0, 160


# --- landing ---------------------------------------------------------------------------------------------------------


def landing(start=50, stop=110, *, file=(), zeni=(), oconnor=(), rate_hz=RATE_HZ):
    """First frame of a contact whose landmark is slow in these frames, and its source."""
    contact = np.zeros(N_FRAMES, dtype=bool)
    contact[start:stop] = True
    events = [FootEvents(np.array(strikes, dtype=float), np.zeros(0)) for strikes in (zeni, oconnor)]
    nowhere = np.zeros((N_FRAMES, 3))
    foot = Foot(nowhere, nowhere, contact, strikes=Strikes(np.array(file, dtype=float), *events))
    found = landed(foot, rate_hz=rate_hz)
    [(first, source)] = found.landings
    np.testing.assert_array_equal(np.flatnonzero(found.contact), np.arange(first, stop))
    return first, source


@pytest.mark.parametrize(
    ("strikes", "first"),
    [
        ({}, 49),  # 0.01 s before the landmark is slow
        ({"zeni": [53]}, 52),
        ({"zeni": [48]}, 49),  # earlier than the slow landmark, which is the later one
        ({"zeni": [53.4]}, 52),
        ({"zeni": [53.99995]}, 53),  # a frame, to rounding
        ({"zeni": [72]}, 71),  # 0.22 s later
        ({"zeni": [72.5]}, 49),  # of another step
        ({"zeni": [52, 60]}, 51),  # the nearer one
        ({"oconnor": [60]}, 49),  # judges the file's event only
    ],
)
def test_without_an_event_the_markers_show_the_landing(strikes, first):
    assert landing(**strikes) == (first, "the markers")


@pytest.mark.parametrize(
    ("strikes", "first"),
    [
        ({"file": [50]}, 51),
        ({"file": [49.5]}, 50),
        ({"file": [55.99995]}, 57),  # frame 56, rounded to a microsecond
        ({"file": [38]}, 39),  # 0.12 s before the landmark is slow
        ({"file": [62]}, 63),  # 0.12 s after it
        ({"file": [64], "zeni": [52]}, 65),  # 0.12 s after the strike by Zeni et al.
        ({"file": [62], "zeni": [45]}, 63),  # after the later of slow landmark and strike
        ({"file": [56], "oconnor": [52]}, 57),  # 0.04 s after the strike by O'Connor et al.
        ({"file": [58, 51, 40]}, 52),  # the nearest one
    ],
)
def test_the_event_of_the_file_is_the_last_frame_without_load(strikes, first):
    assert landing(**strikes) == (first, "the event of the file")


@pytest.mark.parametrize(
    ("strikes", "first", "later_s"),
    [
        ({"file": [63]}, 49, "0.130"),
        ({"file": [65], "zeni": [52]}, 51, "0.130"),
        ({"file": [56.5], "oconnor": [52]}, 49, "0.065"),
        ({"file": [64], "oconnor": [60]}, 49, "0.140"),  # both bounds hold
    ],
)
def test_an_event_that_is_too_late_is_not_used(strikes, first, later_s):
    assert landing(**strikes) == (first, f"the markers (the event of the file is {later_s} s later, not used)")


@pytest.mark.parametrize("file", [[37.5], [72.5]])
def test_an_event_of_another_step_is_none(file):
    assert landing(file=file) == (49, "the markers")


def test_a_contact_of_a_few_frames_keeps_its_last_one():
    assert landing(50, 55, file=[53]) == (54, "the event of the file")
    assert landing(50, 55, file=[54])[0] == 49
    assert landing(50, 55, zeni=[53]) == (52, "the markers")
    assert landing(50, 55, zeni=[54]) == (49, "the markers")
    assert landing(50, 55, zeni=[60]) == (49, "the markers")


def test_the_first_frames_of_a_recording():
    assert landing(0, 60, file=[3]) == (0, "")
    assert landing(1, 60, rate_hz=1000.0) == (0, "the markers")
    assert landing(100, 150, rate_hz=1000.0) == (90, "the markers")


# --- place -----------------------------------------------------------------------------------------------------------


def foot_at(back, front, n=3):
    return Foot(np.tile(np.asarray(back, float), (n, 1)), np.tile(np.asarray(front, float), (n, 1)), np.ones(n, bool))


LINE = foot_at([0.1, 0.0, 0.05], [0.3, 0.0, 0.02])


@pytest.mark.parametrize(
    ("point", "expected_m"),
    [
        ([0.2, 0.03, 0.0], 0.03),
        ([0.2, -0.03, 0.4], 0.03),  # heights do not count
        ([0.33, 0.04, 0.0], 0.05),  # 3, 4, 5 in front of the toes
        ([0.07, 0.04, -0.2], 0.05),  # and behind the heel
        ([0.1, 0.0, 0.0], 0.0),
        ([0.3, 0.0, 0.7], 0.0),
    ],
)
@pytest.mark.parametrize("turn", [np.eye(3), np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])])
def test_distance_of_a_point_from_the_line_of_the_foot(point, expected_m, turn):
    """In a laboratory with z up, and in the same one with its axes exchanged."""
    foot = replace(LINE, back_m=LINE.back_m @ turn, front_m=LINE.front_m @ turn)
    found = distance_m(np.tile(point, (3, 1)) @ turn, foot, slice(None), UP @ turn)
    assert found == pytest.approx(expected_m, abs=1e-12)


def test_the_distance_is_the_median_of_the_known_frames():
    foot = foot_at([0.1, 0.0, 0.05], [0.3, 0.0, 0.02], n=7)
    pressure = np.tile([0.2, 0.0, 0.0], (7, 1))
    pressure[:, 1] = [9.0, 0.01, 0.02, 0.09, np.nan, 0.03, 9.0]
    assert distance_m(pressure[1:6], foot, slice(1, 6), UP) == pytest.approx(0.025)
    assert np.isnan(distance_m(np.full((7, 3), np.nan), foot, slice(None), UP))


def test_a_foot_of_one_point():
    foot = foot_at([0.1, 0.2, 0.0], [0.1, 0.2, 0.3])
    assert distance_m(np.tile([0.4, 0.6, 0.0], (3, 1)), foot, slice(None), UP) == pytest.approx(0.5)


SQUARE = plates.plate(x=0.0, y=-0.3, size=0.6)
EDGES = [([0.0, 0.0], [-1, 0]), ([0.6, 0.0], [1, 0]), ([0.3, -0.3], [0, -1]), ([0.3, 0.3], [0, 1])]


@pytest.mark.parametrize(("edge", "outward"), EDGES)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 3, 0, 1)])
@pytest.mark.parametrize("margin_m", [0.0, 0.02])
def test_points_beside_each_edge_of_a_plate(edge, outward, order, margin_m):
    """A millimetre inside and outside, at any height, whichever way the corners go round."""
    plate = replace(SQUARE, corners_m=SQUARE.corners_m[list(order)] + [0.0, 0.0, 0.1])
    for step_m, expected in ((margin_m - 1e-3, True), (margin_m + 1e-3, False)):
        point = np.append(np.array(edge) + step_m * np.array(outward), 0.5)
        assert above([plate], point[None], UP, margin_m=margin_m).tolist() == [expected]


def test_points_above_a_plate_that_is_turned_and_not_square():
    """Corners by hand: a trapezium turned by 45 degrees; the points are 1 cm on both sides of its slanted edge."""
    corners = np.array([[0.0, 0.0], [0.6, 0.0], [0.4, 0.4], [0.0, 0.4]])
    normal = np.array([2.0, 1.0]) / np.sqrt(5.0)  # of the edge from (0.6, 0) to (0.4, 0.4)
    half = np.sqrt(0.5)
    turn = np.array([[half, half], [-half, half]])
    flat = np.array([[0.5, 0.2] - 0.01 * normal, [0.5, 0.2] + 0.01 * normal, [0.01, 0.39], [-0.01, 0.2]])
    plate = replace(SQUARE, corners_m=np.column_stack([corners @ turn, np.zeros(4)]))
    points = np.column_stack([flat @ turn, [0.0, 0.1, -0.1, 0.0]])
    assert above([plate], points, UP).tolist() == [True, False, True, False]
    assert above([plate], points, UP, margin_m=0.011).tolist() == [True, True, True, True]
    assert above([plate], points, UP, margin_m=0.009).tolist() == [True, False, True, False]
    assert above([], points, UP).tolist() == [False] * 4
    assert above([plate, replace(plate, corners_m=plate.corners_m + 9.0)], points, UP)[0]


def test_two_corners_in_one_place_leave_a_triangle():
    corners = np.array([[0.0, 0.0, 0.0], [0.6, 0.0, 0.0], [0.6, 0.6, 0.0], [0.6, 0.6, 0.0]])
    points = np.array([[0.4, 0.2, 0.0], [0.2, 0.4, 0.0], [0.7, 0.3, 0.0]])
    assert above([replace(SQUARE, corners_m=corners)], points, UP, margin_m=0.01).tolist() == [True, False, False]


def test_an_end_stands_while_it_is_near_its_lowest_place():
    """`max_contact_height_m` above the lowest of the known frames."""
    limit_m = MAX_CONTACT_HEIGHT_M
    heights = np.array([0.04, 0.04 + 0.99 * limit_m, 0.04 + 1.01 * limit_m, np.nan])
    points = np.column_stack([np.arange(4.0), np.arange(4.0), heights])
    assert standing(points, UP).tolist() == [True, True, False, False]
    assert not standing(points * np.nan, UP).any()


@pytest.mark.parametrize(("back_x", "front_x", "expected"), [(0.1, 0.3, True), (-0.1, 0.1, False), (0.5, 0.7, False)])
def test_a_foot_is_inside_with_both_of_its_standing_ends(back_x, front_x, expected):
    foot = foot_at([back_x, 0.0, 0.0], [front_x, 0.0, 0.0])
    assert inside([SQUARE], foot, slice(None), UP).tolist() == [expected] * 3
    margin_m = EDGE_MARGIN_M
    for beyond_m, near in ((0.99 * margin_m, True), (1.01 * margin_m, False)):
        beside = foot_at([-beyond_m, 0.0, 0.0], [0.2, 0.0, 0.0])
        assert inside([SQUARE], beside, slice(None), UP).all() == near


def test_a_lifted_end_may_be_beyond_the_edge():
    foot = foot_at([-0.2, 0.0, 0.0], [0.1, 0.0, 0.0], n=4)
    foot.back_m[2:, 2] = 0.3
    assert inside([SQUARE], foot, slice(1, 4), UP).tolist() == [False, True, True]


def test_a_foot_is_unseen_where_neither_end_is_known():
    foot = foot_at([0.1, 0.0, 0.0], [0.3, 0.0, 0.0], n=4)
    foot.back_m[1:3, 0] = foot.front_m[2:, 1] = np.nan
    assert foot.unseen.tolist() == [False, False, True, False]


@pytest.mark.parametrize(("upward_n", "known"), [(1e-8, True), (-1e-8, True), (1e-10, False), (0.0, False)])
def test_a_vertical_force_above_rounding_has_a_centre_of_pressure(upward_n, known):
    wrench = np.array([[0.0, 0.0, upward_n, 0.0, -0.2 * upward_n, 0.0]])
    found = centre_of_pressure(wrench, up=UP, level_m=0.0)
    assert np.isfinite(found).all() == known
    if known:
        np.testing.assert_allclose(found, [[0.2, 0.0, 0.0]], atol=1e-9)

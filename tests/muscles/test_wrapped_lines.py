"""Lines of action of paths over a surface: the tangent's direction by flexion, with the arm of the path."""

import numpy as np
import pytest

from limbtorque.muscles.opensim_models.path_lines import Axes, Seen, line_entry

RADIUS_M, CENTRE_M = (
    0.03,
    np.array([-0.01, 0.015]),
)  # of a cylinder on the proximal segment: along it, to the flexor side
DISTAL_M = np.array([0.06, 0.01])
AXES = Axes(np.eye(3), np.eye(3), ("pelvis", "femur"), 0.0)


def path(flexion_deg, oblique_deg=0.0):
    """The straight piece from the cylinder's tangent point to the distal point."""
    bent = np.radians(flexion_deg)
    turn = np.array([[np.cos(bent), np.sin(bent)], [-np.sin(bent), np.cos(bent)]])  # proximal to distal axes
    centre = turn @ CENTRE_M
    away = DISTAL_M - centre
    aside = np.arccos(RADIUS_M / np.hypot(*away))
    cos, sin = np.cos(aside), np.sin(aside)
    tangent = centre + RADIUS_M * np.array([[cos, -sin], [sin, cos]]) @ away / np.hypot(*away)
    pull = (tangent - DISTAL_M) / np.hypot(*(tangent - DISTAL_M))
    in_plane = np.cos(np.radians(oblique_deg))
    arm = in_plane * (DISTAL_M[0] * pull[1] - DISTAL_M[1] * pull[0])
    on_proximal = turn.T @ tangent
    points = np.array([-on_proximal[0], on_proximal[1], *DISTAL_M])
    return Seen(flexion_deg, arm, points, oblique_deg), np.arctan2(pull[1], -pull[0])


def directions(entry, flexion_deg):
    return np.polynomial.polynomial.polyval(np.radians(flexion_deg), entry["direction_deg"])


def test_direction_is_the_tangent_and_its_moment_the_arm():
    flexion = np.linspace(-30.0, 100.0, 13)
    seen, direction = zip(*(path(q, 10.0) for q in flexion), strict=True)
    entry = line_entry(seen, AXES, "made.osim")
    off = directions(entry, flexion) - np.degrees(direction)
    assert np.abs(off).max() == pytest.approx(entry["max_departure_deg"], abs=0.06)  # rounded to 0.1
    assert entry["max_departure_deg"] <= 1.0
    assert entry["in_plane_part"] == pytest.approx(np.cos(np.radians(10.0)), abs=5e-4)
    assert entry["arm_difference_m"] == 0.0
    assert entry["range_deg"] == [-30.0, 100.0]


def test_postures_in_which_the_line_leaves_the_plane_are_left_out():
    flexion = np.linspace(-30.0, 120.0, 16)
    seen = [path(q, 5.0 if q < 95.0 else 60.0)[0] for q in flexion]
    entry = line_entry(seen, AXES, "made.osim")
    assert entry["range_deg"] == [-30.0, 90.0]
    assert entry["in_plane_part"] == pytest.approx(np.cos(np.radians(5.0)), abs=5e-4)
    assert "more than 45 deg oblique" in entry["note"]


def test_two_fixed_points_stay_two_points():
    points = np.array([0.05, 0.03, 0.06, 0.02])
    seen = []
    for q in np.linspace(0.0, 90.0, 13):
        bent = np.radians(q)
        end = np.array(
            [-points[0] * np.cos(bent) + points[1] * np.sin(bent), points[0] * np.sin(bent) + points[1] * np.cos(bent)]
        )
        pull = (end - points[2:]) / np.hypot(*(end - points[2:]))
        seen.append(Seen(q, points[2] * pull[1] - points[3] * pull[0], points, 0.0))
    entry = line_entry(seen, AXES, "made.osim")
    assert entry["proximal_m"] == [0.05, 0.03]
    assert entry["distal_m"] == [0.06, 0.02]
    assert "note" not in entry


def test_a_direction_that_jumps_is_no_line():
    seen = [path(q)[0] for q in np.linspace(0.0, 90.0, 13)]
    jump = [Seen(one.flexion_deg, one.arm_m, one.points_m * [1, -3, 1, 1], 0.0) for one in seen[6:]]
    assert line_entry([*seen[:6], *jump], AXES, "made.osim") is None

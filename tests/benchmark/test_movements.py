"""Runs, jumps, squats and reaches in space: their centre of mass, their derivatives, and rest where nothing moves."""

import numpy as np
import pytest

import planar_movements as planar
from bodies import make_person
from limbtorque.simulation.gait import Walker
from movements import Stance, movement_in_space, reach_in_space
from space import UP, G, centre_of_mass, net_moments, whole

PERSON = make_person("L01", "leg", mass_kg=70.0, height_m=1.75)
WALKER = Walker(70.0, 1.75, speed_m_s=3.2)
RUN = Stance(width_m=0.06, sway_deg=5.0, stride_s=0.66, hip_rotation_deg=-3.0, coupled=(0.0, 0.08), direction_deg=30.0)
MOVEMENTS = {
    "run": (planar.run(WALKER, contact_s=0.2, flight_s=0.13, steps=4), RUN),
    "jump": (planar.jump(WALKER, flight_s=0.45, down_s=0.45), Stance()),
    "squat": (planar.on_the_spot("squat", WALKER, down_m=0.25, way_s=1.0, lean_deg=40.0), Stance(balanced=True)),
}
TIME_S = 0.1 + 0.0137 * np.arange(70)


@pytest.mark.parametrize("name", MOVEMENTS)
def test_force_moves_the_centre_of_mass_and_flight_is_free_fall(name):
    movement, stance = MOVEMENTS[name]
    moved = movement_in_space(PERSON, movement, stance, TIME_S)
    centre = centre_of_mass(PERSON.body, moved.states)
    force, _ = whole(PERSON.body, moved.states)
    np.testing.assert_allclose(force, PERSON.mass_kg * (centre[2] + G * UP), atol=1e-9 * PERSON.mass_kg * G)
    np.testing.assert_allclose(centre[2][:, 1], movement.centre_m[1](TIME_S, 2), atol=1e-3)
    loads = sum(load.force_n for load in moved.loads)
    np.testing.assert_allclose(loads, force, atol=2e-3 * PERSON.mass_kg * G)  # in flight what the last step leaves


def test_derivatives_of_a_run_are_differences():
    movement, stance = MOVEMENTS["run"]
    h, at = 1e-4, np.array([0.18, 0.31, 0.54, 0.71])  # between the joins of the paths
    before, here, after = (movement_in_space(PERSON, movement, stance, at + way).motion for way in (-h, 0.0, h))
    for name, angle in here.angle_rad.items():
        a, b = after.angle_rad[name][0], before.angle_rad[name][0]
        np.testing.assert_allclose(angle[1], (a - b) / (2.0 * h), atol=1e-4)
        np.testing.assert_allclose(angle[2], (a - 2.0 * angle[0] + b) / h**2, atol=2e-3)


def test_arm_at_rest_holds_its_weight():
    """Straight forward arm: the weights times their distances from the shoulder."""
    person = make_person("A01", "arm", mass_kg=70.0, height_m=1.75)
    pose = [0.0] * 3 + [90.0] + [0.0] * 8
    moved = reach_in_space(person, [(0.0, pose), (1.0, pose)], np.array([0.5]))
    shoulder = net_moments(person.body, moved.states)["right_upper_arm"][0]
    parts = [person.body[name] for name in person.limbs["right"]]
    starts = np.cumsum([0.0, *(part.length_m for part in parts[:-1])])
    weight = sum(part.mass_kg * G * (start - part.com_m[1]) for part, start in zip(parts, starts, strict=True))
    np.testing.assert_allclose(shoulder, [weight, 0.0, 0.0], atol=1e-10)

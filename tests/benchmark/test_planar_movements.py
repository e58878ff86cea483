"""Simulated movements of a whole body: force and motion agree, feet rest where they stand, flights are free falls."""

import numpy as np
import pytest

from limbtorque.simulation.gait import SIDES, Walker
from planar_movements import G, jump, move, on_the_spot, run, sit_to_stand, within_reach

WALKER = Walker(70.0, 1.75, speed_m_s=3.2)
MOVEMENTS = {
    "squat": on_the_spot("squat", WALKER, down_m=0.3, way_s=1.0, lean_deg=40.0),
    "lift": on_the_spot("lift", WALKER, down_m=0.28, way_s=0.9, lean_deg=60.0, held=0.06),
    "sit-to-stand": sit_to_stand(WALKER, way_s=1.4, lean_deg=40.0),
    "jump": jump(WALKER, flight_s=0.45, down_s=0.45),
    "drop jump": jump(WALKER, flight_s=0.28, down_s=0.18, drop_s=0.25, share=1.0),
    "run": run(WALKER, contact_s=0.24, flight_s=0.11),
}


@pytest.fixture(params=MOVEMENTS, scope="module")
def moved(request):
    movement = within_reach(WALKER, MOVEMENTS[request.param])
    time_s = np.arange(0.05, movement.duration_s - 0.05, 0.02)
    return movement, time_s, move(WALKER, movement, time_s)


def test_impulse_is_the_change_of_the_momentum_of_all_segments(moved):
    """Legs by their joints, the rest on the trunk: momentum from positions alone, over the whole movement."""
    movement, time_s, _ = moved
    h, n = 1e-4, 4001
    fine = np.linspace(time_s[0], time_s[-1], n)
    legs = move(WALKER, movement, fine)
    force = sum(leg.force_n for leg in legs.values())
    mass = WALKER.mass_kg * (1.0 + movement.held)
    seat = np.array([movement.seat(fine)]).T
    whole = force / (1.0 - np.minimum(seat, 0.99)) - [0.0, mass * G]
    impulse = np.trapezoid(whole, fine, axis=0)
    speeds = []
    for at in (fine[0], fine[-1]):
        before, after = (_centre(movement, np.array([at + step])) for step in (-h, h))
        speeds.append((after - before)[0] / (2.0 * h))
    np.testing.assert_allclose(impulse, mass * (speeds[1] - speeds[0]), atol=2e-3 * mass)  # of a contact's ends


def _centre(movement, time_s):
    """Centre of mass from joints and the trunk."""
    legs, chain = move(WALKER, movement, time_s), WALKER.chain
    mass = WALKER.mass_kg * (1.0 + movement.held)
    total = np.zeros((len(time_s), 2))
    for leg in legs.values():
        for k in range(3):
            near, far = leg.joint_m[:, k], leg.joint_m[:, k + 1]
            total += chain.mass_kg[k] * (near + chain.com_m[k] / chain.length_m[k] * (far - near))
    lean, along = movement.lean_rad(time_s), movement.trunk_m(time_s)
    trunk = legs["right"].joint_m[:, 0] + along[:, None] * np.stack([np.sin(lean), np.cos(lean)], axis=1)
    return (total + (mass - 2.0 * chain.mass_kg.sum()) * trunk) / mass


def test_centre_of_mass_is_where_it_was_asked_for(moved):
    movement, time_s, _ = moved
    asked = np.stack([path(time_s) for path in movement.centre_m], axis=1)
    np.testing.assert_allclose(_centre(movement, time_s), asked, atol=1e-9)


def test_flights_are_free_falls_and_ground_only_pushes(moved):
    movement, time_s, legs = moved
    down = np.any([leg.contact for leg in legs.values()], axis=0)
    np.testing.assert_allclose(movement.centre_m[1](time_s, 2)[~down], -G, atol=1e-9)
    assert all(leg.force_n[:, 1].min() > -1e-6 for leg in legs.values())


def test_accelerations_are_second_differences(moved):
    """Three points 0.1 ms apart, away from joins of the polynomials, where the third derivative jumps."""
    movement, time_s, legs = moved
    h = 1e-4
    before, after = (move(WALKER, movement, time_s + step) for step in (-h, h))
    for side in SIDES:
        a, b, c = (each[side].kinematics.angle_rad for each in (before, legs, after))
        exact = legs[side].kinematics.acceleration_rad_s2
        off = np.abs((a - 2.0 * b + c) / h**2 - exact).max(axis=1) / np.abs(exact).max()
        assert np.median(off) < 1e-5
        assert np.quantile(off, 0.9) < 1e-3


def test_foot_that_carries_does_not_slip(moved):
    """The ball rests where the foot stands, but for the first 25 ms of a landing."""
    movement, time_s, legs = moved
    for side, foot in movement.feet.items():
        for start, end in foot.contacts_s:
            inside = (time_s > start + 0.025) & (time_s < end)
            if inside.any():
                assert np.ptp(foot.ball_m[0](time_s[inside])) < 1e-9
                assert np.ptp(foot.ball_m[1](time_s[inside])) < 1e-9
        assert not legs[side].force_n[~legs[side].contact].any()

"""The simulated walk: exact derivatives, feet that stay where they stand, forces that carry the body."""

import numpy as np
import pytest

from demo_truth import moments
from limbtorque.motion.predicted_centres import hip_centre
from limbtorque.simulation.demo import demo_walks
from limbtorque.simulation.gait import (
    DOUBLE_SUPPORT,
    FOOT_FLAT,
    HEEL_OFF,
    SIDES,
    TOE_OFF,
    Walker,
    Walkway,
    walk,
    walk_recording,
)

WALKERS = {"soft": Walker(), "hard": Walker(strike_m_s=0.4, strike_s=0.04), "child": Walker(30.0, 1.35, 0.95, 1.0)}
G = 9.80665


@pytest.fixture(params=WALKERS, ids=str)
def walker(request):
    return WALKERS[request.param]


def test_derivatives_are_those_of_the_positions(walker):
    """Five-point differences of a step h are off by h^4 / 30 of the fifth derivative, but at the joins of the polynomials."""
    h = 1e-4
    at = np.arange(0.013, 1.0, 0.0171)
    near = np.array([0.0, FOOT_FLAT, HEEL_OFF, 0.5, TOE_OFF, DOUBLE_SUPPORT, 0.5 + DOUBLE_SUPPORT])
    time_s = at[np.abs((at / walker.stride_s % 1.0)[:, None] - near).min(axis=1) > 0.01]
    for side in SIDES:
        legs = [walk(walker, time_s + k * h)[side] for k in (-2, -1, 0, 1, 2)]
        for value, derivative in (("angle_rad", "velocity_rad_s"), ("velocity_rad_s", "acceleration_rad_s2")):
            a, b, _, d, e = (getattr(leg.kinematics, value) for leg in legs)
            expected = getattr(legs[2].kinematics, derivative)
            np.testing.assert_allclose((a - 8 * b + 8 * d - e) / (12 * h), expected, atol=1e-5 * np.abs(expected).max())
        a, b, c, d, e = (leg.joint_m[:, 0] for leg in legs)
        second = (-a + 16 * b - 30 * c + 16 * d - e) / (12 * h**2)
        np.testing.assert_allclose(second, legs[2].kinematics.base_acceleration_m_s2, atol=1e-4)


def test_links_keep_their_lengths_and_the_knee_bends_backwards(walker):
    for leg in walk(walker, np.linspace(0.0, 3.0, 500)).values():
        lengths = np.linalg.norm(np.diff(leg.joint_m, axis=1), axis=2)
        np.testing.assert_allclose(lengths, np.broadcast_to(walker.chain.length_m, lengths.shape), rtol=1e-12)
        assert (leg.kinematics.angle_rad[:, 1] < 0.0).all()


def test_the_foot_stands_still_while_it_is_flat_and_never_sinks_in():
    walker = WALKERS["soft"]
    phase = np.linspace(FOOT_FLAT, HEEL_OFF, 50)
    right = walk(walker, phase * walker.stride_s)["right"]
    assert np.ptp(right.joint_m[:, 2:], axis=0).max() < 1e-12
    whole = walk(walker, np.linspace(0.0, walker.stride_s, 1000))["right"]
    assert whole.heel_m[:, 1].min() > -1e-12


def test_vertical_forces_carry_the_body(walker):
    """Over whole strides the momentum comes back, so that the mean force is the weight."""
    time_s = np.arange(0.0, walker.stride_s, walker.stride_s / 20000)
    legs = walk(walker, time_s)
    total = sum(leg.force_n[:, 1] for leg in legs.values())
    assert total.mean() == pytest.approx(walker.mass_kg * G, rel=1e-4)
    for leg in legs.values():
        assert np.abs(leg.force_n[~leg.contact]).max() < 1e-9


def test_a_hard_strike_makes_a_peak_of_the_force_that_a_soft_one_lacks():
    """The impulse that stops the foot: its mass times 0.4 m/s at least, less than that of the whole leg."""
    time_s = np.arange(0.0, 0.04, 1e-5)
    hard, soft = (walk(WALKERS[name], time_s)["right"].force_n[:, 1] for name in ("hard", "soft"))
    mass = WALKERS["hard"].chain.mass_kg
    assert 0.4 * mass[2] < (hard - soft).sum() * 1e-5 < 0.4 * mass.sum()
    early = time_s < 0.02
    assert hard[early].max() > 2.0 * soft[early].max()


def test_plates_and_markers_are_those_of_the_walk():
    walker = WALKERS["soft"]
    made = walk_recording(walker, Walkway(plates_m=((0.1, -0.2),)), duration_s=2.0, first_strike_s=0.5)
    legs = walk(walker, np.arange(201) / 100.0, first_strike_s=0.5)
    np.testing.assert_allclose(made.markers_m[:, 0, [0, 2]], legs["right"].joint_m[:, 0], atol=1e-12)
    (plate,) = made.force_plates
    step = slice(60, 110)
    np.testing.assert_allclose(plate.force_n[::10][step, 2], legs["right"].force_n[step, 1], atol=1e-9)
    pressure = -plate.moment_nm[::10][step, 1] / plate.force_n[::10][step, 2]
    np.testing.assert_allclose(pressure, legs["right"].pressure_m[step, 0], atol=1e-9)
    right = [event.label for event in made.events if event.context == "Right"]
    assert right[:3] == ["Foot Off", "Foot Strike", "Foot Off"]


WALKS = [walk.walker for walk in demo_walks()]
# of people at comfortable speed: part of the cycle in %, range of the largest value there; N m/kg, degrees, body weights
PEAKS = {
    "ankle plantarflexor": ((45, 55), (1.2, 1.8)),
    "ankle dorsiflexor": ((0, 100), (0.0, 0.3)),
    "knee extensor": ((10, 20), (0.3, 0.9)),
    "hip extensor": ((0, 20), (0.5, 1.1)),
    "hip flexor": ((45, 60), (0.5, 1.2)),
    "knee flexion, stance": ((5, 30), (15.0, 20.0)),
    "knee flexion, swing": ((70, 75), (55.0, 65.0)),
    "first hump": ((5, 25), (1.0, 1.2)),
    "second hump": ((35, 55), (1.0, 1.2)),
}


@pytest.mark.parametrize("walker", [Walker(), *WALKS], ids=lambda walker: f"{walker.speed_m_s:.2f} m/s")
def test_comfortable_walks_have_the_peaks_of_people(walker):
    """Winter (1991) and Perry and Burnfield (2010): sizes and times of the peaks of hip, knee, ankle and vertical force."""
    percent = np.linspace(0.0, 100.0, 501)[:-1]
    leg = walk(walker, percent / 100.0 * walker.stride_s)["right"]
    load = {"force_n": leg.force_n, "point_m": leg.pressure_m}
    hip, knee, ankle = (
        moments(walker.chain, leg.kinematics, np.array([0.0, -G]), **load).T * [[1], [-1], [1]] / walker.mass_kg
    )
    flexion, force = -np.degrees(leg.kinematics.angle_rad[:, 1]), leg.force_n[:, 1] / (walker.mass_kg * G)
    curves = dict(zip(PEAKS, (-ankle, ankle, -knee, -hip, hip, flexion, flexion, force, force), strict=True))
    for name, ((start, end), (least, most)) in PEAKS.items():
        inside = (percent >= start) & (percent <= end)
        assert least <= curves[name][inside].max() <= most, name
    for name in ("ankle plantarflexor", "hip flexor", "knee flexion, swing"):
        at = percent[curves[name].argmax()]
        (start, end), _ = PEAKS[name]
        assert start <= at <= end, name
    late = (percent > 50.0) & (percent < 65.0)
    assert 0.1 < -knee[late].min() < -knee[percent < 30.0].min()
    assert force[(percent > 20) & (percent < 40)].min() < 0.9


def test_hip_rules_find_the_hips_of_the_walk():
    """Published errors (predicted_centres.ERRORS): 12 mm by Harrington's rule, 22 mm by Bell's, 25 mm by Davis's, on average."""
    for side, walker in zip(SIDES * 6, WALKS, strict=True):
        made = walk_recording(walker, Walkway(), duration_s=0.1)
        places = dict(zip(made.labels, made.markers_m.swapaxes(0, 1), strict=True))
        own, other = ("R", "L") if side == "right" else ("L", "R")
        spines = [places[own + "ASI"], places[other + "ASI"], (places["RPSI"] + places["LPSI"]) / 2.0]
        for rule, allowed_m in (("harrington_2007", 0.015), ("bell_1990", 0.015), ("davis_1991", 0.035)):
            centre = hip_centre(rule, *spines, side=side, leg_length_m=0.525 * walker.height_m)
            assert np.linalg.norm(centre - places[own + "HJC"], axis=1).max() < allowed_m, rule

"""Other angles and other groupings of the same torques, against sympy and closed forms typed from mechanics."""

import functools

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from chains import call, filled, loaded_chains, random_chain, random_motion, same
from limbtorque.chain.conventions import (
    interaction_torques,
    internal_angles,
    joint_angles,
    motion_dependent_torques,
    segment_angles,
    segment_terms,
    segment_torques,
)
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import Chain, Kinematics, pairs

GRAVITY = (0.0, -9.81)
GROUPS = ("gravity", "base", "external")


def size_of(terms):
    """Largest sum of the sizes of all terms of a joint: what sums of them are rounded by."""
    many = np.abs(np.concatenate([terms.inertial, terms.centripetal, terms.coriolis], axis=2)).sum(axis=2)
    return (many + sum(np.abs(getattr(terms, name)) for name in GROUPS)).max()


@st.composite
def chains_with_terms(draw, least=1, most=6):
    """A chain, its motion and its torques with gravity of any direction, a moving base and loads on any links."""
    chain, motion, options = draw(loaded_chains(least, most))
    return chain, motion, call(torque_terms, chain, *motion, **options)


# --- angles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zero", ["x_axis", "downward_vertical"])
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_joint_and_segment_angles_undo_each_other(n, zero):
    angle, velocity, _ = random_motion(np.random.default_rng(n), n)
    same(joint_angles(segment_angles(angle, zero=zero), zero=zero), angle, scale=20.0)
    same(segment_angles(joint_angles(angle, zero=zero), zero=zero), angle, scale=20.0)
    same(np.diff(np.cumsum(velocity, axis=1), axis=1, prepend=0.0), velocity, scale=60.0)


def test_orientations_are_sums_of_joint_angles():
    angle = np.radians([[30.0, 40.0, -50.0]])
    same(np.degrees(segment_angles(angle)), [[30.0, 70.0, 20.0]])
    same(np.degrees(segment_angles(angle, zero="downward_vertical")), [[120.0, 160.0, 110.0]])
    same(np.degrees(joint_angles(np.radians([[30.0, 70.0, 20.0]]))), [[30.0, 40.0, -50.0]])
    same(np.degrees(joint_angles(np.radians([[120.0, 160.0, 110.0]]), zero="downward_vertical")), [[30.0, 40.0, -50.0]])


def test_internal_angles_are_those_between_the_links():
    """Straight is 180 degrees inside; twice over gives the angles back; a triangle of joints has the same angle."""
    same(np.degrees(internal_angles(np.radians([[20.0, 0.0, 30.0]]))), [[20.0, 180.0, 150.0]])
    angle = random_motion(np.random.default_rng(2), 4)[0]
    same(internal_angles(internal_angles(angle)), angle, scale=10.0)
    bent = np.abs(angle) % np.pi
    joints = joint_positions(Chain([0.3, 0.2, 0.4, 0.1], [1] * 4, [0.1] * 4, [1] * 4), bent)
    back, onward = joints[:, :-2] - joints[:, 1:-1], joints[:, 2:] - joints[:, 1:-1]
    cosine = (back * onward).sum(axis=2) / np.linalg.norm(back, axis=2) / np.linalg.norm(onward, axis=2)
    same(np.cos(internal_angles(bent)[:, 1:]), cosine)


# --- segment space ---------------------------------------------------------------------------------------------------


def test_generalised_torques_of_segments():
    same(segment_torques([[5.0, 3.0]]), [[2.0, 3.0]])
    same(segment_torques([[5.0, 3.0, -1.0]]), [[2.0, 4.0, -1.0]])
    same(segment_torques([[5.0]]), [[5.0]])


@functools.cache
def lagrangian(n):
    """Function of all numbers -> joint torques by absolute angles: of accelerations, squares, products, and in all."""
    t, gx, gy = sp.Symbol("t"), *sp.symbols("gx gy")
    theta = [sp.Function(f"theta{i}")(t) for i in range(n)]
    length, mass, com, inertia = (sp.symbols(f"{letter}0:{n}") for letter in "LmdI")
    joint, lagrange = sp.Matrix([0, 0]), sp.Integer(0)
    for k in range(n):
        direction = sp.Matrix([sp.cos(theta[k]), sp.sin(theta[k])])
        centre, joint = joint + com[k] * direction, joint + length[k] * direction
        velocity = centre.diff(t)
        lagrange += mass[k] * velocity.dot(velocity) / 2 + inertia[k] * theta[k].diff(t) ** 2 / 2
        lagrange += mass[k] * (gx * centre[0] + gy * centre[1])
    generalised = [lagrange.diff(a.diff(t)).diff(t) - lagrange.diff(a) for a in theta]
    place, speed, spin = (sp.symbols(f"{name}0:{n}", real=True) for name in ("place", "speed", "spin"))
    plain = [(a.diff(t, 2), s) for a, s in zip(theta, spin, strict=True)]
    plain += [(a.diff(t), v) for a, v in zip(theta, speed, strict=True)]
    plain += list(zip(theta, place, strict=True))
    torque = [sum(generalised[i:]).subs(plain) for i in range(n)]  # at a joint: of all segments beyond it
    results = [
        [[u.diff(s) * s for s in spin] for u in torque],
        [[u.diff(v, 2) / 2 * v**2 for v in speed] for u in torque],
        [[u.diff(speed[p], speed[q]) * speed[p] * speed[q] for p, q in pairs(n)] for u in torque],
        [u.diff(gx) * gx + u.diff(gy) * gy for u in torque],
        torque,
    ]
    return sp.lambdify([*length, *mass, *com, *inertia, *place, *speed, *spin, gx, gy], results, "numpy", cse=True)


@pytest.mark.parametrize("n", [1, 2])
def test_segment_terms_are_those_of_the_lagrangian_in_absolute_angles(n):
    """No product of two segments' velocities has a coefficient: there are no Coriolis terms."""
    rng = np.random.default_rng(10 + n)
    chain, motion, gravity = random_chain(rng, n), random_motion(rng, n), rng.normal(size=2) * 7.0
    constants = (*chain.length_m, *chain.mass_kg, *chain.com_m, *chain.inertia_kgm2)
    state = np.concatenate([np.cumsum(values, axis=1).T for values in motion])
    inertial, centripetal, products, weight, net = map(filled, lagrangian(n)(*constants, *state, *gravity))
    terms = torque_terms(chain, Kinematics(*motion), gravity_m_s2=gravity)
    found, size = segment_terms(chain, Kinematics(*motion), terms=terms), size_of(terms)
    same(found.inertial, inertial, scale=size)
    same(found.centripetal, centripetal, scale=size)
    same(products, np.zeros_like(products), scale=size)
    same(found.gravity, weight, scale=size)
    same(found.net, net, scale=size)


@given(chains_with_terms())
def test_every_grouping_adds_up_to_the_same_net_torque(case):
    """Segments: all terms. Interaction and motion-dependent torques: what is left is the muscles' with its sign."""
    chain, motion, terms = case
    by_segment, size = segment_terms(chain, Kinematics(*motion), terms=terms), size_of(terms)
    same(by_segment.net, terms.net, scale=size)
    for name in GROUPS:
        np.testing.assert_array_equal(getattr(by_segment, name), getattr(terms, name))
    by_joint = interaction_torques(terms)
    same(by_joint.muscle, terms.net, scale=size)
    same(by_joint.net, by_joint.muscle + by_joint.interaction + by_joint.gravity + by_joint.external, scale=size)
    dependent = motion_dependent_torques(by_segment)
    same(dependent.muscle, terms.net, scale=size)
    same(dependent.net, dependent.muscle + dependent.gravity + dependent.motion_dependent + dependent.external, size)


# --- interaction torques ---------------------------------------------------------------------------------------------


def two_links():
    """An arm, and its inertias: about the shoulder but for the elbow's angle, about the elbow, and m2 L1 d2."""
    chain = Chain([0.31, 0.36], [2.1, 1.7], [0.135, 0.16], [0.0205, 0.021])
    first = 0.0205 + 2.1 * 0.135**2 + 1.7 * 0.31**2
    return chain, first, 0.021 + 1.7 * 0.16**2, 1.7 * 0.31 * 0.16


def test_interaction_torques_of_two_links():
    """Elbow: of the shoulder's acceleration and squared velocity. Shoulder: of the elbow's, and of the product."""
    chain, first, second, coupled = two_links()
    motion = random_motion(np.random.default_rng(5), 2)
    (a1, a2), (v1, v2), (s1, s2) = (values.T for values in motion)
    terms = torque_terms(chain, Kinematics(*motion), gravity_m_s2=GRAVITY)
    found, size = interaction_torques(terms), size_of(terms)
    cosine, sine = coupled * np.cos(a2), coupled * np.sin(a2)
    same(found.net, np.stack([(first + second + 2 * cosine) * s1, second * s2], axis=1), scale=size)
    shoulder = -(second + cosine) * s2 + sine * (v2**2 + 2 * v1 * v2)
    elbow = -(second + cosine) * s1 - sine * v1**2
    same(found.interaction, np.stack([shoulder, elbow], axis=1), scale=size)
    beyond = 1.7 * 0.16 * np.cos(a1 + a2)
    weight = -9.81 * np.stack([(2.1 * 0.135 + 1.7 * 0.31) * np.cos(a1) + beyond, beyond], axis=1)
    same(found.gravity, weight, scale=size)
    same(found.muscle, found.net - found.interaction - weight, scale=size)
    assert not found.external.any()


@given(chains_with_terms(2, 6), st.integers(0, 5))
def test_a_joint_that_moves_alone_feels_no_interaction(case, number):
    """At itself; at any speed, as its own centripetal force has no arm about it. At the others it makes some."""
    chain, (angle, velocity, acceleration), _ = case
    joint = number % chain.n_links
    only = np.eye(chain.n_links)[joint]
    terms = torque_terms(chain, Kinematics(angle, velocity * only, acceleration * only), gravity_m_s2=GRAVITY)
    found = interaction_torques(terms)
    assert not found.interaction[:, joint].any()
    assert not np.delete(found.net, joint, axis=1).any()
    assert np.abs(np.delete(found.interaction, joint, axis=1)).max() > 0.0


def test_motion_dependent_torques_of_two_links():
    """By the angles of the segments: net is what is proportional to the acceleration of the joint's own segment."""
    chain, first, second, coupled = two_links()
    motion = random_motion(np.random.default_rng(7), 2)
    (a2, (w1, w2), (s1, s2)) = motion[0][:, 1], *(np.cumsum(values, axis=1).T for values in motion[1:])
    terms = torque_terms(chain, Kinematics(*motion), gravity_m_s2=GRAVITY)
    by_segment = segment_terms(chain, Kinematics(*motion), terms=terms)
    found, size = motion_dependent_torques(by_segment), size_of(terms)
    cosine, sine = coupled * np.cos(a2), coupled * np.sin(a2)
    same(found.net, np.stack([(first + cosine) * s1, second * s2], axis=1), scale=size)
    shoulder = -(second + cosine) * s2 + sine * w2**2 - sine * w1**2
    elbow = -cosine * s1 - sine * w1**2
    same(found.motion_dependent, np.stack([shoulder, elbow], axis=1), scale=size)
    same(found.muscle, terms.net, scale=size)
    same(found.gravity, -terms.gravity, scale=size)


# --- missing values --------------------------------------------------------------------------------------------------


def test_a_missing_value_stays_in_its_frame():
    chain, (angle, velocity, acceleration) = (
        random_chain(np.random.default_rng(9), 3),
        random_motion(np.random.default_rng(9), 3),
    )
    torn = angle.copy()
    torn[5, 1] = np.nan
    results = []
    for posture in (angle, torn):
        motion = (posture, velocity, acceleration)
        terms = torque_terms(chain, Kinematics(*motion), gravity_m_s2=GRAVITY, missing=True)
        by_segment = segment_terms(chain, Kinematics(*motion), terms=terms, missing=True)
        results.append(
            [by_segment.net, interaction_torques(terms).interaction, segment_torques(terms.net, missing=True)]
        )
    for clean, found in zip(*results, strict=True):
        assert np.isnan(found[5]).any()
        np.testing.assert_array_equal(np.delete(found, 5, axis=0), np.delete(clean, 5, axis=0))
    with pytest.raises(ValueError, match=r"angle_rad of shape \(200, 3\) has nan at \[5, 1\]"):
        segment_terms(chain, Kinematics(torn, velocity, acceleration), terms=terms)

"""Induced accelerations with a point on the ground, against a constrained model from sympy, and on a simulated walk.

The model's equations come from Lagrange's function and a multiplier for each direction in which the point is held; each source
is set in alone. Nothing of `limbtorque.chain` enters but the masses and lengths.
"""

import numpy as np
import pytest
import sympy

from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.forward import induced_accelerations
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import Chain, Kinematics, Load
from limbtorque.simulation.gait import FOOT_FLAT, HEEL_OFF, TOE_OFF, Walker, walk

G = 9.80665
LENGTH, MASS, COM, INERTIA = [0.43, 0.44, 0.14], [7.2, 3.3, 1.0], [0.19, 0.19, 0.07], [0.12, 0.05, 0.004]
CHAIN = Chain(LENGTH, MASS, COM, INERTIA)
ON_FOOT = np.array([0.05, -0.06])  # the point held: along the foot and across it, from the ankle, m


@pytest.fixture(scope="module")
def constrained():
    """Function of posture, velocity, base, gravity and torques: accelerations of the joints and the force on the point held."""
    t = sympy.Symbol("t")
    angle = [sympy.Function(f"a{k}")(t) for k in range(3)]
    base = [sympy.Function(name)(t) for name in "xy"]
    torque, gravity = sympy.symbols("m0:3"), sympy.Symbol("g")
    theta = [sum(angle[: k + 1]) for k in range(3)]
    along = [sympy.Matrix([sympy.cos(th), sympy.sin(th)]) for th in theta]
    across = [sympy.Matrix([-sympy.sin(th), sympy.cos(th)]) for th in theta]
    joint, lagrangian = sympy.Matrix(base), 0
    for k in range(3):
        centre = joint + COM[k] * along[k]
        velocity = centre.diff(t)
        lagrangian += (
            MASS[k] * (velocity.dot(velocity) / 2 - gravity * centre[1]) + INERTIA[k] * theta[k].diff(t) ** 2 / 2
        )
        if k < 2:
            joint = joint + LENGTH[k] * along[k]
    point = joint + ON_FOOT[0] * along[2] + ON_FOOT[1] * across[2]
    force = sympy.symbols("f0:2")
    equations = [
        lagrangian.diff(a.diff(t)).diff(t)
        - lagrangian.diff(a)
        - torque[k]
        - sum(force[i] * point[i].diff(a) for i in range(2))
        for k, a in enumerate(angle)
    ]
    equations += list(point.diff(t, 2))
    second, first, zeroth = sympy.symbols("q0:3"), sympy.symbols("v0:3"), sympy.symbols("p0:3")
    pushed = sympy.symbols("b0:2")
    replaced = [(a.diff(t, 2), s) for a, s in zip(angle, second, strict=True)]
    replaced += [(b.diff(t, 2), s) for b, s in zip(base, pushed, strict=True)]
    replaced += [(a.diff(t), s) for a, s in zip(angle, first, strict=True)] + [(b.diff(t), 0) for b in base]
    replaced += list(zip(angle, zeroth, strict=True))
    plain = [equation.subs(replaced) for equation in equations]
    matrix, right = sympy.linear_eq_to_matrix(plain, [*second, *force])
    numeric = sympy.lambdify([zeroth, first, pushed, gravity, torque], (matrix, right), "numpy")

    def solve(posture, velocity, push, g, torques):
        left, given = numeric(posture, velocity, push, g, torques)
        found = np.linalg.solve(left, given)[:, 0]
        return found[:3], found[3:]

    return solve


def standing_leg(rng):
    """A leg with a bent knee that stands on a point of its foot."""
    posture = np.array([-1.4, -0.5, 1.3]) + 0.2 * rng.standard_normal(3)
    return posture, rng.standard_normal(3), rng.standard_normal(2), 40.0 * rng.standard_normal(3)


def point_of(posture, base_m):
    joints = joint_positions(CHAIN, posture[None], base_m=base_m[None])
    turn = posture.sum()
    across = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return joints, joints[:, 2] + across @ ON_FOOT


@pytest.mark.parametrize("seed", range(5))
def test_each_source_alone_is_the_constrained_model_with_that_source(constrained, seed):
    """Torques, gravity, velocities or the base's acceleration alone; together they are the motion, and nothing is left.

    Rounding: 1e-12 of the largest part, times the condition of the equations.
    """
    posture, velocity, push, torques = standing_leg(np.random.default_rng(seed))
    acceleration, force = constrained(posture, velocity, push, G, torques)
    base_m = np.array([0.3, 0.9])
    joints, point = point_of(posture, base_m)
    kinematics = Kinematics(
        posture[None], velocity[None], acceleration[None], base_m[None], base_acceleration_m_s2=push[None]
    )
    contact = Load(2, force[None], point)
    terms = torque_terms(CHAIN, kinematics, gravity_m_s2=(0.0, -G), loads=[contact], joint_m=joints)
    np.testing.assert_allclose(terms.net[0], torques, atol=1e-8 * np.abs(force).max())
    found = induced_accelerations(CHAIN, kinematics, terms=terms, contact=contact, joint_m=joints)
    zero3, zero2 = np.zeros(3), np.zeros(2)
    alone = [(zero3, zero2, 0.0, torques * np.eye(3)[k]) for k in range(3)]
    alone += [(zero3, zero2, G, zero3), (velocity, zero2, 0.0, zero3), (zero3, push, 0.0, zero3)]
    size = np.abs(found.joint_rad_s2).max(), np.abs(found.contact_force_n).max()
    for k, (speed, pushed, gravity, torque) in enumerate(alone):
        joint, reaction = constrained(posture, speed, pushed, gravity, torque)
        np.testing.assert_allclose(found.joint_rad_s2[0, :, k], joint, atol=1e-8 * size[0], err_msg=found.sources[k])
        np.testing.assert_allclose(
            found.contact_force_n[0, :, k], reaction, atol=1e-8 * size[1], err_msg=found.sources[k]
        )
    np.testing.assert_allclose(found.joint_rad_s2[0].sum(axis=1), acceleration, atol=1e-8 * size[0])
    np.testing.assert_allclose(found.contact_force_n[0].sum(axis=1), force, atol=1e-8 * size[1])
    assert np.abs(found.joint_rad_s2[0, :, -1]).max() < 1e-8 * size[0]
    fixed = induced_accelerations(CHAIN, kinematics, terms=terms)
    assert np.abs(fixed.joint_rad_s2 - found.joint_rad_s2).max() > 0.1 * size[0]  # holding the force is another answer


def test_another_load_on_the_limb_stays_external(constrained):
    """A force of 50 N on the shank beside the ground's: its part is the constrained model's answer to its joint torques."""
    posture, velocity, push, torques = standing_leg(np.random.default_rng(7))
    base_m = np.array([0.3, 0.9])
    joints, point = point_of(posture, base_m)
    pull = Load(1, [[50.0, 0.0]], 0.5 * (joints[:, 1] + joints[:, 2]))
    still = Kinematics(posture[None], 0.0 * velocity[None], 0.0 * velocity[None])
    by_pull = -torque_terms(CHAIN, still, gravity_m_s2=(0.0, 0.0), loads=[pull], joint_m=joints).net[0]
    acceleration, force = constrained(posture, velocity, push, G, torques + by_pull)
    kinematics = Kinematics(
        posture[None], velocity[None], acceleration[None], base_m[None], base_acceleration_m_s2=push[None]
    )
    contact = Load(2, force[None], point)
    terms = torque_terms(CHAIN, kinematics, gravity_m_s2=(0.0, -G), loads=[contact, pull], joint_m=joints)
    np.testing.assert_allclose(terms.net[0], torques, atol=1e-6)
    found = induced_accelerations(CHAIN, kinematics, terms=terms, contact=contact, joint_m=joints)
    joint, reaction = constrained(posture, np.zeros(3), np.zeros(2), 0.0, by_pull)
    np.testing.assert_allclose(found.joint_rad_s2[0, :, -1], joint, atol=1e-6)
    np.testing.assert_allclose(found.contact_force_n[0, :, -1], reaction, atol=1e-6)


def stance():
    walker = Walker()
    time_s = np.linspace(0.03, TOE_OFF - 0.03, 60) * walker.stride_s
    leg = walk(walker, time_s)["right"]
    contact = Load(2, leg.force_n, leg.pressure_m)
    terms = torque_terms(walker.chain, leg.kinematics, gravity_m_s2=(0.0, -G), loads=[contact], joint_m=leg.joint_m)
    flat = (time_s > FOOT_FLAT * walker.stride_s) & (time_s < HEEL_OFF * walker.stride_s)
    return walker.chain, leg, terms, contact, flat


def test_late_in_stance_the_ankle_carries_the_body():
    """The plantar flexors are the main support in the second half of stance (Kepple et al. 1997; Anderson and Pandy 2003)."""
    chain, leg, terms, contact, _ = stance()
    held = induced_accelerations(chain, leg.kinematics, terms=terms, contact=contact, joint_m=leg.joint_m)
    late = slice(40, 50)
    upward = held.contact_force_n[late, 1]
    assert (upward[:, 2] == upward.max(axis=1)).all()
    assert (upward[:, 2] > 0.5 * leg.force_n[late, 1]).all()


def test_frames_without_contact_are_those_without_a_constraint():
    chain, leg, terms, contact, _ = stance()
    point = contact.point_m.copy()
    point[::2] = np.nan
    part = Load(2, contact.force_n, point)
    some = induced_accelerations(chain, leg.kinematics, terms=terms, contact=part, joint_m=leg.joint_m)
    fixed = induced_accelerations(chain, leg.kinematics, terms=terms)
    held = induced_accelerations(chain, leg.kinematics, terms=terms, contact=contact, joint_m=leg.joint_m)
    np.testing.assert_array_equal(some.joint_rad_s2[::2], fixed.joint_rad_s2[::2])
    np.testing.assert_allclose(some.joint_rad_s2[1::2], held.joint_rad_s2[1::2], rtol=1e-12)
    assert not some.contact_force_n[::2].any()


def test_a_straight_limb_above_the_contact_has_finite_parts():
    """Three links in line with the contact: no torque moves it along the line, so that direction is not held."""
    straight = Kinematics([[-np.pi / 2, 0.0, 0.0]], [[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
    joints = joint_positions(CHAIN, straight.angle_rad)
    contact = Load(2, [[0.0, 700.0]], joints[:, 3])
    terms = torque_terms(CHAIN, straight, gravity_m_s2=(0.0, -G), loads=[contact], joint_m=joints)
    found = induced_accelerations(CHAIN, straight, terms=terms, contact=contact, joint_m=joints)
    assert np.abs(found.joint_rad_s2).max() < 1e-6
    np.testing.assert_allclose(found.contact_force_n[0].sum(axis=1), [0.0, 700.0])


def test_a_contact_needs_joints_and_a_link_behind_two():
    chain, leg, terms, contact, _ = stance()
    with pytest.raises(ValueError, match="a contact needs joint_m"):
        induced_accelerations(chain, leg.kinematics, terms=terms, contact=contact)
    first = Load(0, contact.force_n, contact.point_m)
    with pytest.raises(ValueError, match="a link from 1 to 2, found 0"):
        induced_accelerations(chain, leg.kinematics, terms=terms, contact=first, joint_m=leg.joint_m)

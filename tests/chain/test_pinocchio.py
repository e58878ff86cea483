"""The planar chain against Pinocchio, a general program for rigid bodies in space that shares nothing with ours.

The chain is built there as two sliding joints (the base in x and y) and a row of hinges about z. Every quantity that both
have is compared on random chains of one to six links, on a moving base, in gravity of any direction, with forces and
couples at random points of random links.
"""

import functools
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest

from chains import ROUNDING, call, same
from limbtorque.chain.dynamics import inertia_matrix, newton_euler, torque_terms
from limbtorque.chain.forward import forward_dynamics
from limbtorque.chain.kinematics import (
    joint_positions,
)
from limbtorque.chain.model import Chain, Kinematics, Load, Point, pairs

FRAMES = 25
# Both compute in double precision (2.2e-16) and add some hundred products of numbers that are up to some ten times the
# result: 1e-12 of the largest number involved. What is found differs by 3e-15 at most.
WORLD = pin.LOCAL_WORLD_ALIGNED
AXIS = np.array([0.0, 0.0, 1.0])
SIZES = pytest.mark.parametrize("n", range(1, 7))


@dataclass(frozen=True)
class Case:
    """A chain in both programs, its motion, and what acts on it."""

    chain: Chain
    point: Point
    angle: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    base: np.ndarray  # position, velocity, acceleration
    gravity: np.ndarray
    loads: list
    model: pin.Model
    end: int
    inner: int

    @property
    def motion(self):
        return self.angle, self.velocity, self.acceleration

    @property
    def options(self):
        return {
            "gravity_m_s2": self.gravity,
            "base_acceleration_m_s2": self.base[2],
            "loads": self.loads,
            "joint_m": joint_positions(self.chain, self.angle, base_m=self.base[0]),
        }

    @property
    def states(self):
        """Positions, velocities and accelerations of Pinocchio's joints, frame by frame."""
        return zip(*(np.hstack([b, a]) for b, a in zip(self.base, self.motion, strict=True)), strict=True)

    def by_frame(self, function, change=lambda *state: state):
        """What a function of Pinocchio's data and state returns on every frame, as one array with time first."""
        data = self.model.createData()
        return np.array([np.array(function(data, *change(*state))) for state in self.states])

    def external(self, data, q, frame):
        """Forces and moments of the loads on every body of Pinocchio's, in the axes and about the origin of its joint."""
        pin.forwardKinematics(self.model, data, q)
        wrenches = pin.StdVec_Force([pin.Force.Zero() for _ in range(self.model.njoints)])
        for load in self.loads:
            joint = load.link + 3  # 0 is the world, 1 and 2 are the base
            place = data.oMi[joint]
            lever = place.actInv(np.append(load.point_m[frame], 0.0))
            force = place.rotation.T @ np.append(load.force_n[frame], 0.0)
            wrenches[joint] += pin.Force(force, np.cross(lever, force) + load.couple_nm[frame] * AXIS)
        return wrenches


def pinocchio_model(chain, gravity, point):
    """The chain on a base that slides in x and y, with frames at its end and at a point."""
    model = pin.Model()
    model.gravity = pin.Motion(np.append(gravity, 0.0), np.zeros(3))
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
    joint = model.addJoint(joint, pin.JointModelPY(), pin.SE3.Identity(), "y")
    before = 0.0
    for k in range(chain.n_links):
        place = pin.SE3(np.eye(3), np.array([before, 0.0, 0.0]))
        joint = model.addJoint(joint, pin.JointModelRZ(), place, f"hinge_{k}")
        about_centre = np.diag([0.5, 0.7, 1.0]) * chain.inertia_kgm2[k]  # only the last one is felt in the plane
        body = pin.Inertia(chain.mass_kg[k], np.array([chain.com_m[k], 0.0, 0.0]), about_centre)
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
        before = chain.length_m[k]
    places = ((joint, chain.length_m[-1], 0.0), (point.link + 3, point.along_m, point.across_m))
    frames = [
        model.addFrame(
            pin.Frame(f"frame_{k}", on, 0, pin.SE3(np.eye(3), np.array([x, y, 0.0])), pin.FrameType.OP_FRAME)
        )
        for k, (on, x, y) in enumerate(places)
    ]
    return model, frames


@functools.cache
def case(n):
    rng = np.random.default_rng(700 + n)
    length = rng.uniform(0.1, 0.6, n)
    chain = Chain(length, rng.uniform(0.3, 9.0, n), length * rng.uniform(-0.2, 1.2, n), rng.uniform(0.001, 0.2, n))
    point = Point(int(rng.integers(n)), *rng.normal(size=2) * 0.3)
    gravity = rng.normal(size=2) * 9.0
    angle, velocity, acceleration = rng.uniform(-1.0, 1.0, (3, FRAMES, n)) * [[[4.0]], [[10.0]], [[80.0]]]
    base = rng.normal(size=(3, FRAMES, 2)) * [[[1.0]], [[3.0]], [[20.0]]]
    loads = [
        Load(
            int(link), rng.normal(size=(FRAMES, 2)) * 100.0, rng.normal(size=(FRAMES, 2)), rng.normal(size=FRAMES) * 5.0
        )
        for link in rng.integers(n, size=3)
    ]
    model, (end, inner) = pinocchio_model(chain, gravity, point)
    return Case(chain, point, angle, velocity, acceleration, base, gravity, loads, model, end, inner)


def largest_sum(c):
    """Largest sum of the sizes of the terms of a joint torque: what its rounding is measured against."""
    terms = call(torque_terms, c.chain, *c.motion, **c.options)
    single = np.stack([terms.gravity, terms.base, terms.external], axis=2)
    every = np.concatenate([terms.inertial, terms.centripetal, terms.coriolis, single], axis=2)
    return np.abs(every).sum(axis=2).max()


def inverse_dynamics(c):
    """Forces of the base and torques of the hinges with all loads, shape (n_frames, n_links + 2)."""
    data = c.model.createData()
    return np.array([pin.rnea(c.model, data, q, v, a, c.external(data, q, k)) for k, (q, v, a) in enumerate(c.states)])


@SIZES
def test_net_torques_are_those_of_pinocchio(n):
    c = case(n)
    expected, size = inverse_dynamics(c)[:, 2:], largest_sum(c)
    same(call(torque_terms, c.chain, *c.motion, **c.options).net, expected, size)
    same(call(newton_euler, c.chain, *c.motion, **c.options).torque_nm, expected, size)


@SIZES
def test_force_at_the_base_is_that_of_pinocchio(n):
    c = case(n)
    found = call(newton_euler, c.chain, *c.motion, **c.options).reaction_n[:, 0]
    same(found, inverse_dynamics(c)[:, :2], largest_sum(c) / c.chain.length_m.min())


@SIZES
def test_inertia_matrix_and_inertial_terms_are_those_of_pinocchio(n):
    c = case(n)
    expected = c.by_frame(lambda data, q, *_: pin.crba(c.model, data, q, pin.Convention.WORLD))
    expected = np.triu(expected) + np.swapaxes(np.triu(expected, 1), 1, 2)  # it need not fill the lower half
    same(inertia_matrix(c.chain, c.angle), expected[:, 2:, 2:])
    terms = call(torque_terms, c.chain, *c.motion, **c.options)
    same(terms.inertial, expected[:, 2:, 2:] * c.acceleration[:, None])
    same(terms.base, np.einsum("tij,tj->ti", expected[:, 2:, :2], c.base[2]))


@SIZES
def test_gravity_terms_are_those_of_pinocchio(n):
    c = case(n)
    expected = c.by_frame(lambda data, q, *_: pin.computeGeneralizedGravity(c.model, data, q))
    same(call(torque_terms, c.chain, *c.motion, **c.options).gravity, expected[:, 2:])


def velocity_torques(c, moving):
    """Torques of the velocities of some hinges, all others and the base held: nonlinear effects less gravity."""

    def function(data, q, v):
        return pin.nonLinearEffects(c.model, data, q, v) - pin.computeGeneralizedGravity(c.model, data, q)

    some = np.zeros(c.chain.n_links + 2)
    some[[2 + k for k in moving]] = 1.0
    return c.by_frame(function, lambda q, v, _: (q, v * some))[:, 2:]


@SIZES
def test_velocity_terms_are_those_of_pinocchio(n):
    """Their sum; those of one joint's velocity alone; and what two joints' velocities make on top of either's."""
    c = case(n)
    terms = call(torque_terms, c.chain, *c.motion, **c.options)
    size = largest_sum(c)  # pinocchio's gravity is in both of its numbers
    same(terms.centripetal.sum(axis=2) + terms.coriolis.sum(axis=2), velocity_torques(c, range(n)), size)
    alone = [velocity_torques(c, [j]) for j in range(n)]
    for j in range(n):
        same(terms.centripetal[:, :, j], alone[j], size)
    for k, (p, q) in enumerate(pairs(n)):
        same(terms.coriolis[:, :, k], velocity_torques(c, [p, q]) - alone[p] - alone[q], size)


@SIZES
def test_external_terms_are_those_of_pinocchio(n):
    c = case(n)
    without = c.by_frame(lambda data, *state: pin.rnea(c.model, data, *state))
    found = call(torque_terms, c.chain, *c.motion, **c.options).external
    same(found, (inverse_dynamics(c) - without)[:, 2:], largest_sum(c))


@SIZES
def test_forward_dynamics_is_that_of_pinocchio(n):
    """Random torques drive the hinges. Pinocchio's base is free: with the force that our accelerations need at the base
    it has to find those accelerations and the base's own."""
    c = case(n)
    torque = np.random.default_rng(n).normal(size=(FRAMES, n)) * 30.0
    external = call(torque_terms, c.chain, *c.motion, **c.options).external
    found = forward_dynamics(
        c.chain,
        Kinematics(*c.motion[:2], base_acceleration_m_s2=c.base[2]),
        torque,
        gravity_m_s2=c.gravity,
        load_nm=-external,
    )
    force = call(newton_euler, c.chain, *c.motion[:2], found, **c.options).reaction_n[:, 0]
    data = c.model.createData()
    expected = np.array(
        [
            pin.aba(c.model, data, q, v, np.hstack([force[k], torque[k]]), c.external(data, q, k))
            for k, (q, v, _) in enumerate(c.states)
        ]
    )
    assert (
        np.finfo(float).eps * np.linalg.cond(inertia_matrix(c.chain, c.angle)).max() < ROUNDING
    )  # of solving for them
    same(np.hstack([c.base[2], found]), expected)

"""Energies, powers and induced accelerations against sympy, conservation laws and the equations of motion one by one."""

import functools

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from chains import arm, call, loaded_chains, random_chain, random_motion, same
from limbtorque.chain.dynamics import inertia_matrix, newton_euler, torque_terms
from limbtorque.chain.energy import power_balance, segment_energies
from limbtorque.chain.forward import forward_dynamics, induced_accelerations
from limbtorque.chain.kinematics import point_acceleration
from limbtorque.chain.model import Kinematics

GRAVITY = (0.0, -9.81)
KINDS = ("translational", "rotational", "potential")


@st.composite
def driven_chains(draw, least=1, most=6):
    """A chain, its motion, its base's position and velocity, gravity, and the torques with loads on any links."""
    chain, motion, options = draw(loaded_chains(least, most))
    rng = np.random.default_rng(chain.n_links)
    base = {"base_m": rng.normal(size=(8, 2)), "base_velocity_m_s": rng.normal(size=(8, 2)) * 3.0}
    field = {name: options.pop(name) for name in ("gravity_m_s2", "base_acceleration_m_s2")}
    return chain, motion, base, field, options


# --- energies --------------------------------------------------------------------------------------------------------


@functools.cache
def lagrange(n):
    """Function of all numbers -> translational, rotational and potential energy of each segment, from positions."""
    t = sp.Symbol("t")
    q = [sp.Function(f"q{i}")(t) for i in range(n)] + [sp.Function("x0")(t), sp.Function("y0")(t)]
    length, mass, com, inertia = (sp.symbols(f"{letter}0:{n}") for letter in "LmdI")
    gravity = sp.Matrix(sp.symbols("gx gy"))
    joint, angle, energies = sp.Matrix(q[n:]), 0, []
    for k in range(n):
        angle += q[k]
        direction = sp.Matrix([sp.cos(angle), sp.sin(angle)])
        centre, joint = joint + com[k] * direction, joint + length[k] * direction
        velocity = centre.diff(t)
        energies.append(
            [
                mass[k] * velocity.dot(velocity) / 2,
                inertia[k] * angle.diff(t) ** 2 / 2,
                -mass[k] * gravity.dot(centre),
            ]
        )
    place, speed = (sp.symbols(f"{name}0:{n + 2}", real=True) for name in ("place", "speed"))
    plain = [(c.diff(t), v) for c, v in zip(q, speed, strict=True)] + list(zip(q, place, strict=True))
    energies = [[kind.subs(plain) for kind in segment] for segment in energies]
    return sp.lambdify([*length, *mass, *com, *inertia, *place, *speed, *gravity], energies, "numpy", cse=True)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_energies_of_every_segment(n):
    rng = np.random.default_rng(n)
    chain, (angle, velocity, _) = random_chain(rng, n), random_motion(rng, n, 50)
    base, base_velocity, gravity = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) * 3.0, rng.normal(size=2) * 7.0
    constants = (*chain.length_m, *chain.mass_kg, *chain.com_m, *chain.inertia_kgm2)
    expected = lagrange(n)(*constants, *angle.T, *base.T, *velocity.T, *base_velocity.T, *gravity)
    found = segment_energies(
        chain, Kinematics(angle, velocity, base_m=base, base_velocity_m_s=base_velocity), gravity_m_s2=gravity
    )
    for i, kind in enumerate(KINDS):
        same(getattr(found, kind), np.stack([segment[i] for segment in expected], axis=1))
    whole = np.stack([sum(segment) for segment in expected], axis=1)
    same(found.segment, whole)
    same(found.total, whole.sum(axis=1), scale=np.abs(whole).max())


# --- powers ----------------------------------------------------------------------------------------------------------


@given(driven_chains())
def test_powers_add_up_to_the_rate_of_energy(case):
    """With loads, a base that is driven and gravity of any direction: rounding of the largest power only."""
    chain, motion, base, field, put = case
    terms = call(torque_terms, chain, *motion, **field, **put)
    speed = base["base_velocity_m_s"]
    found = call(power_balance, chain, *motion, terms=terms, **field, base_velocity_m_s=speed)
    gross = np.abs(np.concatenate([terms.inertial, terms.centripetal, terms.coriolis], axis=2)).sum(axis=2)
    gross = gross + np.abs(terms.gravity) + np.abs(terms.base) + np.abs(terms.external)
    size = (gross * np.abs(motion[1])).sum(axis=1).max() + np.abs(found.base).max()
    same(found.residual, np.zeros(8), scale=size)


@given(driven_chains())
def test_each_power_is_that_of_its_forces(case):
    """Joints: torque times velocity. Base with loads: reaction of the recursive pass and loads' forces times base velocity.

    Loads about the joints: force times the velocity of its point relative to the base, couple times that of its link.
    """
    chain, motion, base, field, put = case
    terms, wrenches = (
        call(torque_terms, chain, *motion, **field, **put),
        call(newton_euler, chain, *motion, **field, **put),
    )
    speed = base["base_velocity_m_s"]
    found = call(power_balance, chain, *motion, terms=terms, **field, base_velocity_m_s=speed)
    pushed = wrenches.reaction_n[:, 0] + sum(load.force_n for load in put["loads"])
    worked, omega = np.zeros(8), np.cumsum(motion[1], axis=1)
    for load in put["loads"]:
        steps = np.diff(put["joint_m"], axis=1)[:, : load.link]
        steps = np.concatenate([steps, (load.point_m - put["joint_m"][:, load.link])[:, None]], axis=1)
        across = np.stack([-steps[:, :, 1], steps[:, :, 0]], axis=2)
        relative = (omega[:, : load.link + 1, None] * across).sum(axis=1)
        worked += (load.force_n * relative).sum(axis=1) + load.couple_nm * omega[:, load.link]
    # the loads, of 100 N, turn with up to 60 rad/s on arms of a metre; so do the torques
    size = 1e4 * (1 + len(put["loads"])) + np.abs(terms.net).max() * 60.0
    same(found.joint, wrenches.torque_nm * motion[1], scale=size)
    same(found.base, (pushed * speed).sum(axis=1), scale=size)
    same(found.external, worked, scale=size)


# --- induced accelerations -------------------------------------------------------------------------------------------


@given(driven_chains(1, 4))
def test_each_source_alone_makes_its_part(case):
    """Forward dynamics of the chain with one thing acting: one torque, gravity, velocity, the base, or the loads."""
    chain, motion, _, field, put = case
    angle, velocity, _ = motion
    n, nothing, zero = chain.n_links, 0 * motion[0], (0.0, 0.0)
    terms, base = call(torque_terms, chain, *motion, **field, **put), field["base_acceleration_m_s2"]
    found = induced_accelerations(chain, Kinematics(angle, velocity, base_acceleration_m_s2=base), terms=terms)
    alone = {f"torque_{j}": (nothing, terms.net * np.eye(n)[j], zero, zero, nothing) for j in range(n)}
    alone["gravity"] = (nothing, nothing, field["gravity_m_s2"], zero, nothing)
    alone["velocity"] = (velocity, nothing, zero, zero, nothing)
    alone["base"] = (nothing, nothing, zero, base, nothing)
    alone["external"] = (nothing, nothing, zero, zero, -terms.external)
    least = np.linalg.eigvalsh(inertia_matrix(chain, angle))[:, 0].min()
    gross = np.abs(np.concatenate([terms.inertial, terms.centripetal, terms.coriolis], axis=2)).sum(axis=2).max()
    size = 10 * (gross + np.abs(terms.net).max() + np.abs(terms.external).max()) / least
    assert found.joint_rad_s2.shape == (8, n, n + 4)
    assert found.endpoint_m_s2.shape == (8, 2, n + 4)
    for k, source in enumerate(found.sources):
        speed, torque, gravity, push, load = alone[source]
        acceleration = forward_dynamics(
            chain, Kinematics(angle, speed, base_acceleration_m_s2=push), torque, gravity_m_s2=gravity, load_nm=load
        )
        end = point_acceleration(
            chain, Kinematics(angle, speed, acceleration, base_acceleration_m_s2=push), point=chain.endpoint
        )
        same(found.joint_rad_s2[:, :, k], acceleration, scale=size)
        same(found.endpoint_m_s2[:, :, k], end, scale=size)


def responses(chain, angle):
    """Acceleration of joint i for 1 N m at joint j, shape (n_frames, n, n): a chain at rest that holds nothing else."""
    n, field = chain.n_links, {"gravity_m_s2": (0.0, 0.0)}
    columns = []
    for j in range(n):
        unit = np.tile(np.eye(n)[j], (len(angle), 1))
        acceleration = call(forward_dynamics, chain, angle, 0 * angle, torque_nm=unit, **field)
        terms = call(torque_terms, chain, angle, 0 * angle, acceleration, **field)
        columns.append(induced_accelerations(chain, Kinematics(angle, 0 * angle), terms=terms).joint_rad_s2[:, :, j])
    return np.stack(columns, axis=2)


def test_a_shoulder_torque_turns_the_elbow():
    """Two links by hand: a2'' = -M12 T1 / det M, where M12 = I2 + m2 d2^2 + m2 L1 d2 cos(a2).

    A straight elbow is left behind (extends, when the shoulder flexes); one bent so far that m2 L1 d2 cos(a2) outweighs
    I2 + m2 d2^2 goes with it. In between no part of a shoulder torque reaches it.
    """
    chain = arm()
    own, coupled = 0.021 + 1.7 * 0.16**2, 1.7 * 0.31 * 0.16
    neutral = np.arccos(-own / coupled)
    angle = np.array([[0.4, 0.0], [0.4, 1.2], [0.4, neutral], [0.4, 3.0], [0.4, -3.0]])
    m11 = 0.0205 + 2.1 * 0.135**2 + own + 1.7 * 0.31**2 + 2.0 * coupled * np.cos(angle[:, 1])
    m12 = own + coupled * np.cos(angle[:, 1])
    found = responses(chain, angle)
    determinant = m11 * own - m12**2
    same(found[:, 1, 0], -m12 / determinant, scale=1.0 / determinant.min())
    same(found[:, 0, 0], own / determinant, scale=1.0 / determinant.min())
    assert np.sign(found[:, 1, 0].round(9)).tolist() == [-1.0, -1.0, 0.0, 1.0, 1.0]


# --- missing values and inertia --------------------------------------------------------------------------------------


def test_a_missing_value_stays_in_its_frame():
    chain, rng = random_chain(np.random.default_rng(8), 3), np.random.default_rng(8)
    angle, velocity, acceleration = random_motion(rng, 3, 12)
    torn = angle.copy()
    torn[5, 1] = np.nan
    results = []
    for posture in (angle, torn):
        motion, options = (posture, velocity, acceleration), {"gravity_m_s2": GRAVITY, "missing": True}
        terms = call(torque_terms, chain, *motion, **options)
        energy = call(segment_energies, chain, posture, velocity, **options)
        power = call(power_balance, chain, *motion, terms=terms, **options)
        induced = induced_accelerations(chain, Kinematics(posture, velocity), terms=terms, missing=True)
        results.append([energy.total, power.energy_rate, power.residual, induced.joint_rad_s2, induced.endpoint_m_s2])
    for clean, found in zip(*results, strict=True):
        assert np.isnan(found[5]).any()
        np.testing.assert_array_equal(np.delete(found, 5, axis=0), np.delete(clean, 5, axis=0))

"""Torque terms as linear functions of the inertial parameters, and their derivatives along motions, loads and joints."""

import numpy as np
import pytest

from chains import random_chain, random_motion, same
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.inverse import change_of_fit, fit_rigid_chain
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.linear import (
    MotionChange,
    change_of_load_torque,
    change_of_terms,
    coupling_of,
    inertial_parameters,
    number_of_terms,
    term_regressor,
    term_rows,
    terms_of_constants,
)
from limbtorque.chain.model import Chain, Kinematics, Load

SEED = 22
GRAVITY = (1.2, -9.7)
STEP = 1e-5
TRUNCATION = 1e-7  # of central differences with that step, and rounding over it, relative to the largest change


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


def moving(rng, n, frames=40):
    return Kinematics(*random_motion(rng, n, frames), base_acceleration_m_s2=rng.normal(size=(frames, 2)))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_constants_of_a_chain_from_its_parameters(rng, n):
    chain = random_chain(rng, n)
    coupling, moment = coupling_of(inertial_parameters(chain), chain.length_m)
    same(coupling, chain.coupling)
    same(moment, chain.first_moment)


@pytest.mark.parametrize("n", [1, 5])
def test_100_sets_of_parameters_equal_a_loop(rng, n):
    """The bound is that of the issue: 1e-12 of the largest torque."""
    chain, kinematics = random_chain(rng, n), moving(rng, n)
    samples = [
        Chain(
            chain.length_m,
            chain.mass_kg * rng.uniform(0.8, 1.2, n),
            chain.com_m * rng.uniform(0.8, 1.2, n),
            chain.inertia_kgm2 * rng.uniform(0.8, 1.2, n),
        )
        for _ in range(100)
    ]
    regressor = term_regressor(chain, kinematics, gravity_m_s2=GRAVITY)
    found = np.array([inertial_parameters(each) for each in samples]) @ regressor
    for k, each in enumerate(samples):
        same(found[:, :, k], term_rows(torque_terms(each, kinematics, gravity_m_s2=GRAVITY)))


def test_rows_are_the_net_torque_and_the_terms_in_the_order_of_the_table(rng):
    chain, kinematics = random_chain(rng, 3), moving(rng, 3)
    terms = torque_terms(chain, kinematics, gravity_m_s2=GRAVITY)
    rows = term_rows(terms)
    assert rows.shape == (3, number_of_terms(3), kinematics.n_frames)
    np.testing.assert_array_equal(rows[1, 0], terms.net[:, 1])
    np.testing.assert_array_equal(rows[2, 1:4].T, terms.inertial[:, 2])
    np.testing.assert_array_equal(rows[0, 7:10].T, terms.coriolis[:, 0])
    np.testing.assert_array_equal(rows[1, -3:].T, np.stack([terms.gravity, terms.base, terms.external])[..., 1].T)
    same(rows[:, 1:].sum(axis=1), rows[:, 0])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_change_of_terms_equals_central_differences(rng, n):
    chain, kinematics = random_chain(rng, n), moving(rng, n)
    change = rng.normal(size=(3, n, 2, kinematics.n_frames))
    base = rng.normal(size=(2, 2, kinematics.n_frames))
    found = change_of_terms(
        chain.coupling[None], chain.first_moment[None], kinematics, MotionChange(*change, base), gravity_m_s2=GRAVITY
    )
    for d in range(2):

        def rows(step, d=d):
            moved = Kinematics(
                kinematics.angle_rad + step * change[0, :, d].T,
                kinematics.velocity_rad_s + step * change[1, :, d].T,
                kinematics.acceleration_rad_s2 + step * change[2, :, d].T,
                base_acceleration_m_s2=kinematics.base_acceleration_m_s2 + step * base[:, d].T,
            )
            return term_rows(torque_terms(chain, moved, gravity_m_s2=GRAVITY))

        same(found[:, :, d], (rows(STEP) - rows(-STEP)) / (2.0 * STEP), rounding=TRUNCATION)


def test_change_of_terms_with_constants_for_every_direction(rng):
    kinematics, others = moving(rng, 3), [random_chain(rng, 3) for _ in range(4)]
    change = MotionChange(
        *rng.normal(size=(3, 3, 4, kinematics.n_frames)), rng.normal(size=(2, 4, kinematics.n_frames))
    )
    constants = [np.array([getattr(each, name) for each in others]) for name in ("coupling", "first_moment")]
    found = change_of_terms(*constants, kinematics, change, gravity_m_s2=GRAVITY)
    for k in range(4):
        one = MotionChange(*(each[:, k : k + 1] for each in vars(change).values()))
        alone = change_of_terms(*(each[k : k + 1] for each in constants), kinematics, one, gravity_m_s2=GRAVITY)
        same(found[:, :, k], alone[:, :, 0])


def test_terms_of_other_constants(rng):
    """A and b of any chain give the terms of that chain, whatever chain moved."""
    kinematics, others = moving(rng, 3), [random_chain(rng, 3) for _ in range(4)]
    constants = (np.array([getattr(each, name) for each in others]) for name in ("coupling", "first_moment"))
    found = terms_of_constants(*constants, kinematics, gravity_m_s2=GRAVITY)
    for k, each in enumerate(others):
        same(found[:, :, k], term_rows(torque_terms(each, kinematics, gravity_m_s2=GRAVITY)))


def test_change_of_load_torque_equals_central_differences(rng):
    chain, kinematics = random_chain(rng, 3), moving(rng, 3)
    n_frames = kinematics.n_frames
    joints, force, point = (rng.normal(size=(n_frames, *shape)) for shape in ((3, 2), (2,), (2,)))
    couple, moved, more = (
        rng.normal(size=n_frames),
        rng.normal(size=(3, 1, n_frames)) + 1j * rng.normal(size=(3, 1, n_frames)),
        rng.normal(size=(2, 1, n_frames)),
    )
    turned = rng.normal(size=(1, n_frames))
    found = change_of_load_torque(joints, force, joint_change_m=moved, force_change_n=more, moment_change_nm=turned)

    def external(step):
        pulled = force + step * more[:, 0].T
        # the moment about the origin changes by `turned` alone: the couple makes up for that of the changed force
        about = point[:, 0] * more[1, 0] - point[:, 1] * more[0, 0]
        load = Load(2, pulled, point, couple + step * (turned[0] - about))
        at = joints + step * np.stack([moved[:, 0].real, moved[:, 0].imag], axis=2).transpose(1, 0, 2)
        return torque_terms(chain, kinematics, gravity_m_s2=GRAVITY, loads=[load], joint_m=at).external

    same(found[:, 0].T, (external(STEP) - external(-STEP)) / (2.0 * STEP), rounding=TRUNCATION)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_change_of_a_fit_equals_fitting_again(rng, n):
    """On joints that a rigid chain fits exactly, where the residuals have no curvature to leave out."""
    chain, n_frames = random_chain(rng, n), 30
    angle = np.cumsum(rng.normal(size=(n_frames, n)) * 0.1, axis=0) + rng.uniform(-1.0, 1.0, n)
    joints = joint_positions(chain, angle, base_m=rng.normal(size=(n_frames, 2)))
    change = rng.normal(size=(n + 1, 1, n_frames)) + 1j * rng.normal(size=(n + 1, 1, n_frames))
    counted = np.arange(n_frames) < 20
    found = change_of_fit(angle, chain.length_m, change, counted=counted)
    step = 1e-4 * np.stack([change[:, 0].real, change[:, 0].imag], axis=2).transpose(1, 0, 2)
    ahead, behind = (fit_rigid_chain(joints + sign * step, counted=counted) for sign in (1.0, -1.0))

    def slope(name):
        return (getattr(ahead, name) - getattr(behind, name)) / 2e-4

    # cubic terms of 1e-4 / 0.1 m, squared
    same(found.length_m[:, 0], slope("length_m"), rounding=1e-4)
    same(np.diff(found.orientation_rad[:, 0], axis=0, prepend=0.0).T, slope("angle_rad"), rounding=1e-4)
    moved = slope("joint_m")
    same(found.joint_m[:, 0].T, moved[..., 0] + 1j * moved[..., 1], rounding=1e-4)


def test_lengths_stay_where_changes_average_out(rng):
    chain, angle = random_chain(rng, 2), rng.uniform(-1.0, 1.0, (10, 2))
    change = rng.normal(size=(3, 1, 10)) + 0j
    found = change_of_fit(angle, chain.length_m, change, counted=np.ones(10, dtype=bool), lengths=False)
    assert not found.length_m.any()
    assert found.orientation_rad.any()

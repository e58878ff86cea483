"""Loads on a chain whose joints are where its lengths and its base put them."""

import numpy as np
import pytest

from limbtorque import Chain, Kinematics, Load, forward_dynamics, joint_positions, newton_euler, torque_terms

GRAVITY = {"gravity_m_s2": (0.0, -9.81)}


@pytest.fixture
def loaded():
    random = np.random.default_rng(7)
    chain = Chain(length_m=[0.4, 0.3], mass_kg=[2.0, 1.0], com_m=[0.18, 0.12], inertia_kgm2=[0.03, 0.01])
    motion = Kinematics(*random.normal(size=(3, 6, 2)), base_m=random.normal(size=(6, 2)))
    loads = [Load(link, *random.normal(size=(2, 6, 2)), random.normal(size=6)) for link in (0, 1)]
    return chain, motion, loads


def test_a_weight_at_the_end_of_a_level_link():
    """10 N at 0.4 m: 4 N m."""
    chain = Chain(length_m=[0.4], mass_kg=[0.0], com_m=[0.0], inertia_kgm2=[0.0])
    rest = Kinematics([[0.0]], [[0.0]], [[0.0]], base_m=(1.0, 2.0))
    weight = Load(0, np.array([[0.0, -10.0]]), np.array([[1.4, 2.0]]), np.zeros(1))
    for method in (
        lambda: torque_terms(chain, rest, loads=[weight], **GRAVITY).net,
        lambda: newton_euler(chain, rest, loads=[weight], **GRAVITY).torque_nm,
    ):
        np.testing.assert_allclose(method(), [[4.0]], rtol=1e-12)


def test_joints_by_default_are_those_of_chain_and_base(loaded):
    chain, motion, loads = loaded
    joint_m = joint_positions(chain, motion.angle_rad, base_m=motion.base_m)
    for method in (torque_terms, newton_euler):
        default, given = (method(chain, motion, loads=loads, **GRAVITY, **more) for more in ({}, {"joint_m": joint_m}))
        for name in vars(default):
            np.testing.assert_array_equal(getattr(default, name), getattr(given, name))


def test_forward_dynamics_takes_the_same_loads(loaded):
    chain, motion, loads = loaded
    torque_nm = torque_terms(chain, motion, loads=loads, **GRAVITY).net
    found = forward_dynamics(chain, motion, torque_nm, loads=loads, **GRAVITY)
    np.testing.assert_allclose(found, motion.acceleration_rad_s2, rtol=1e-10)

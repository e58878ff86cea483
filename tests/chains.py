"""Random chains and motions for the tests of the mechanics, and what counts as equal."""

import numpy as np
from hypothesis import strategies as st

from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import Chain, Kinematics, Load
from limbtorque.simulation.forward import State, simulate

N_STATES = 200
BASE = {"base_m", "base_velocity_m_s", "base_acceleration_m_s2"}
START = {"angle_rad", "velocity_rad_s", "base_m", "base_velocity_m_s"}
ROUNDING = 1e-12  # double precision after some hundred operations, relative to the largest number of the array


def same(found, expected, scale=0.0, rounding=ROUNDING):
    """Equal within rounding of the largest number involved."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    size = max(np.abs(expected).max(initial=0.0), scale, 1e-300)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=rounding * size)


def filled(nested, frames=N_STATES, *, empty=()):
    """Nested lists of arrays and constants as one array with time first; an empty list has this shape behind it."""
    if isinstance(nested, list):
        parts = [filled(part, frames, empty=empty) for part in nested]
        return np.stack(parts, axis=1) if parts else np.empty((frames, 0, *empty))
    return np.broadcast_to(np.asarray(nested, dtype=float), (frames,))


def three_links():
    """An arm: constants of the order of a grown man's, no two alike."""
    return Chain([0.31, 0.27, 0.09], [2.1, 1.3, 0.45], [0.135, 0.115, 0.048], [0.0205, 0.0091, 0.00062])


def arm():
    """An upper arm and a forearm with the hand: constants of the order of a grown man's."""
    return Chain([0.31, 0.36], [2.1, 1.7], [0.135, 0.16], [0.0205, 0.021])


def random_chain(rng, n):
    """Links as different as a finger and a thigh, with centres of mass beside the link, too."""
    length = rng.uniform(0.1, 0.6, n)
    return Chain(length, rng.uniform(0.3, 9.0, n), length * rng.uniform(-0.2, 1.2, n), rng.uniform(0.001, 0.2, n))


def random_motion(rng, n, frames=N_STATES):
    """Angles, velocities and accelerations as large as in a throw."""
    return (
        rng.uniform(-4.0, 4.0, (frames, n)),
        rng.uniform(-10.0, 10.0, (frames, n)),
        rng.uniform(-80.0, 80.0, (frames, n)),
    )


@st.composite
def loaded_chains(draw, least=1, most=6):
    """A chain, its motion and loads on any of its links, joints measured where the model does not have them."""
    n, rng = draw(st.integers(least, most)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chain, motion = random_chain(rng, n), random_motion(rng, n, 8)
    joints = joint_positions(chain, motion[0], base_m=rng.normal(size=(8, 2))) + rng.normal(size=(8, n + 1, 2)) * 0.02
    loads = [
        Load(link, rng.normal(size=(8, 2)) * 100.0, rng.normal(size=(8, 2)), rng.normal(size=8) * 5.0)
        for link in draw(st.lists(st.integers(0, n - 1), max_size=3))
    ]
    options = {
        "gravity_m_s2": rng.normal(size=2) * 7.0,
        "base_acceleration_m_s2": rng.normal(size=(8, 2)) * 30.0,
        "loads": loads,
        "joint_m": joints,
    }
    return chain, motion, options


def call(function, chain, *motion, **options):
    """Call a function of a chain and its kinematics; what the options say of the base goes into the kinematics."""
    base = {name: options.pop(name) for name in BASE & options.keys()}
    return function(chain, Kinematics(*motion, **base), **options)


def run(chain, time_s, **options):
    """Simulate from a state whose parts are given among the options."""
    start = {name: options.pop(name) for name in START & options.keys()}
    return simulate(chain, time_s, State(**start), options.pop("torque"), **options)

"""A prepared chain: the same accelerations as for a whole recording, one state a call; closed forms; messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chains import arm, random_chain, random_motion, same
from limbtorque.chain.dynamics import newton_euler, torque_terms
from limbtorque.chain.forward import forward_dynamics
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.chain.prepared import PreparedChain

GRAVITY = (0.7, -9.81)
TERMS = ("inertial", "centripetal", "coriolis", "gravity", "base", "external", "net")
LINKS = range(1, 6)


@settings(deadline=None, max_examples=150)
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from(LINKS))
def test_accelerations_are_those_of_a_recording_and_bring_torques_and_force_back(seed, n):
    """The force at the base is that of the Newton-Euler pass."""
    rng = np.random.default_rng(seed)
    chain, (angle, velocity, torque) = random_chain(rng, n), (part[0] for part in random_motion(rng, n, 1))
    base = rng.normal(0.0, 30.0, 2)
    found, force_n = PreparedChain(chain, GRAVITY).driven(*(each.tolist() for each in (angle, velocity, torque, base)))
    state = Kinematics(angle[None], velocity[None], np.array([found]), base_acceleration_m_s2=base)
    expected = forward_dynamics(chain, state, torque[None], gravity_m_s2=GRAVITY)[0]
    # a torque that is off by rounding moves the lightest link by that much over its inertia
    same(found, expected, rounding=1e-13 * max(np.linalg.cond(chain.coupling), 10.0))
    terms = torque_terms(chain, state, gravity_m_s2=GRAVITY)
    same(terms.net[0], torque, scale=max(np.abs(getattr(terms, name)).max(initial=0.0) for name in TERMS))
    reaction_n = newton_euler(chain, state, gravity_m_s2=GRAVITY).reaction_n
    same(
        force_n, reaction_n[0, 0], scale=chain.mass_kg.sum() * np.abs(np.cumsum(found)).sum() + np.abs(reaction_n).max()
    )


def test_gravity_and_inertia_are_checked_when_the_chain_is_prepared():
    with pytest.raises(ValueError, match=r"gravity_m_s2 has shape \(3,\)"):
        PreparedChain(arm(), (0.0, -9.81, 0.0))
    with pytest.raises(ValueError, match=r"gravity_m_s2 .* has nan at \[1\]"):
        PreparedChain(arm(), (0.0, np.nan))
    with pytest.raises(ValueError, match="link 1 has no inertia about its joint"):
        PreparedChain(Chain([0.3, 0.3], [1.0, 0.0], [0.1, 0.1], [0.01, 0.0]), GRAVITY)


@pytest.mark.parametrize("n", LINKS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_runaway_state_has_accelerations_of_nan(n, wrong):
    """An integrator tries such states; it needs an answer to take a shorter step."""
    prepared = PreparedChain(random_chain(np.random.default_rng(n), n), GRAVITY)
    acceleration, _ = prepared.driven([wrong] * n, [1.0] * n, [0.0] * n, (0.0, 0.0))
    assert np.isnan(acceleration).all()

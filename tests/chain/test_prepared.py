"""A prepared chain: the same terms and accelerations as for a whole recording, one state a call; closed forms; messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chains import arm, random_chain, random_motion, same
from limbtorque.chain.dynamics import newton_euler, torque_terms
from limbtorque.chain.forward import forward_dynamics
from limbtorque.chain.model import Chain, Kinematics, Load
from limbtorque.chain.prepared import PreparedChain

GRAVITY = (0.7, -9.81)
TERMS = ("inertial", "centripetal", "coriolis", "gravity", "base", "external", "net")
LINKS = range(1, 6)
ARM = arm()


def states(seed, n):
    """A chain, one state, an acceleration of its base, loads on links and where its joints are measured."""
    rng = np.random.default_rng(seed)
    chain, (angle, velocity, acceleration) = random_chain(rng, n), (part[0] for part in random_motion(rng, n, 1))
    loads = [
        Load(int(link), rng.normal(0.0, 300.0, (1, 2)), rng.normal(0.0, 1.0, (1, 2)), rng.normal(0.0, 20.0))
        for link in rng.integers(0, n, rng.integers(1, 4))
    ]
    return chain, angle, velocity, acceleration, rng.normal(0.0, 30.0, 2), loads, rng.normal(0.0, 1.0, (n + 1, 2))


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from(LINKS), pushed=st.booleans(), loaded=st.booleans())
def test_terms_are_those_of_a_recording_of_one_frame(seed, n, pushed, loaded):
    chain, angle, velocity, acceleration, base, loads, joints = states(seed, n)
    push = {"base_acceleration_m_s2": base} if pushed else {}
    load = {"loads": loads, "joint_m": joints} if loaded else {}
    found = PreparedChain(chain, GRAVITY).torque_terms(angle, velocity, acceleration, **push, **load)
    expected = torque_terms(
        chain,
        Kinematics(angle[None], velocity[None], acceleration[None], **push),
        gravity_m_s2=GRAVITY,
        loads=load.get("loads", ()),
        joint_m=joints[None] if loaded else None,
    )
    largest = max(np.abs(getattr(expected, name)).max(initial=0.0) for name in TERMS)
    for name in TERMS:
        same(getattr(found, name), getattr(expected, name)[0], scale=largest)
    diagonal = np.arange(n)
    assert (found.centripetal[diagonal, diagonal] == 0.0).all()


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from(LINKS))
def test_accelerations_are_those_of_a_recording_and_bring_the_torques_back(seed, n):
    chain, angle, velocity, torque, base, _, _ = states(seed, n)
    load, prepared = np.random.default_rng(seed).normal(0.0, 50.0, n), PreparedChain(chain, GRAVITY)
    found = prepared.forward_dynamics(angle, velocity, torque, base_acceleration_m_s2=base, load_nm=load)
    kinematics = Kinematics(angle[None], velocity[None], base_acceleration_m_s2=base)
    expected = forward_dynamics(chain, kinematics, torque[None], gravity_m_s2=GRAVITY, load_nm=load[None])[0]
    terms = prepared.torque_terms(angle, velocity, found, base_acceleration_m_s2=base)
    largest = max(np.abs(getattr(terms, name)).max(initial=0.0) for name in TERMS)
    same(terms.net, torque + load, scale=largest)
    # a torque that is off by rounding moves the lightest link by that much over its inertia
    stiffness = np.linalg.cond(chain.coupling)
    same(found, expected, rounding=1e-13 * max(stiffness, 10.0))


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), n=st.sampled_from(LINKS))
def test_force_at_the_base_is_that_of_the_newton_euler_pass(seed, n):
    chain, angle, velocity, torque, base, _, _ = states(seed, n)
    prepared = PreparedChain(chain, GRAVITY)
    acceleration, force = prepared.driven(angle.tolist(), velocity.tolist(), torque.tolist(), tuple(base.tolist()))
    kinematics = Kinematics(angle[None], velocity[None], np.array([acceleration]), base_acceleration_m_s2=base)
    wrenches = newton_euler(chain, kinematics, gravity_m_s2=GRAVITY)
    size = chain.mass_kg @ (np.abs(np.cumsum(acceleration)).sum() * np.ones(n)) + np.abs(wrenches.reaction_n).max()
    same(force, wrenches.reaction_n[0, 0], scale=size)


@pytest.mark.parametrize("n", [2, 4])
def test_states_may_be_lists_of_whole_numbers(n):
    prepared = PreparedChain(random_chain(np.random.default_rng(n), n), GRAVITY)
    ones = [1] * n
    same(prepared.torque_terms(ones, ones, ones).net, prepared.torque_terms(*np.ones((3, n))).net)
    same(prepared.forward_dynamics(ones, ones, ones), prepared.forward_dynamics(*np.ones((3, n))))


@pytest.mark.parametrize("name", ["angle_rad", "velocity_rad_s", "acceleration_rad_s2", "torque_nm"])
@pytest.mark.parametrize(
    ("wrong", "message"), [("shape", "has shape"), (np.nan, "nan at"), (np.inf, "inf at"), (-np.inf, "-inf at")]
)
def test_every_number_of_a_state_is_checked(name, wrong, message):
    prepared, n = PreparedChain(ARM, GRAVITY), ARM.n_links
    method = prepared.forward_dynamics if name == "torque_nm" else prepared.torque_terms
    third = "torque_nm" if name == "torque_nm" else "acceleration_rad_s2"
    state = {"angle_rad": np.ones(n), "velocity_rad_s": np.ones(n), third: np.ones(n)}
    if wrong == "shape":
        state[name] = np.ones(n + 1)
    else:
        state[name][n - 1] = wrong
    with pytest.raises(ValueError, match=f"^{name} .*{message}"):
        method(**state)


PUSH = [[1.0, 0.0]]
TWO_JOINTS = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("loads", "joints", "message"),
    [
        ([Load(1, PUSH, PUSH)], None, "joint_m is missing: external loads need"),
        ([Load(1, PUSH, PUSH)], np.zeros((1, 2)), r"joint_m has shape \(1, 2\), expected \(2 or more, 2\)"),
        ([Load(1, PUSH, PUSH)], np.full((2, 2), np.nan), "joint_m .* has nan"),
        ([Load(2, PUSH, PUSH)], TWO_JOINTS, r"loads\[0\].link is 2; the chain has links 0 to 1"),
        ([Load(1, [[np.inf, 0.0]], PUSH)], TWO_JOINTS, r"loads\[0\].force_n .* has inf"),
        ([Load(1, PUSH * 2, PUSH * 2)], TWO_JOINTS, r"loads\[0\].force_n has 2 frames, the motion has 1"),
        (["a load"], TWO_JOINTS, r"loads\[0\] is of type str"),
    ],
)
def test_loads_are_checked(loads, joints, message):
    with pytest.raises(ValueError, match=message):
        PreparedChain(ARM, GRAVITY).torque_terms([0.1, 0.2], [0.0, 0.0], [0.0, 0.0], loads=loads, joint_m=joints)


@pytest.mark.parametrize("vector", [(1.0,), (1.0, np.nan), (1.0, 2.0, 3.0)])
def test_acceleration_of_the_base_is_checked(vector):
    prepared = PreparedChain(ARM, GRAVITY)
    for method in (prepared.torque_terms, prepared.forward_dynamics):
        with pytest.raises(ValueError, match=r"^base_acceleration_m_s2 "):
            method([0.1, 0.2], [0.0, 0.0], [0.0, 0.0], base_acceleration_m_s2=vector)


def test_links_without_inertia_have_torques_but_no_accelerations():
    bare = PreparedChain(Chain([0.3, 0.3], [1.0, 0.0], [0.1, 0.1], [0.01, 0.0]), GRAVITY)
    assert bare.torque_terms([0.1, 0.2], [0.0, 0.0], [0.0, 0.0]).net[1] == 0.0
    for _ in range(2):
        with pytest.raises(ValueError, match="link 1 has no inertia about its joint"):
            bare.forward_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])


@pytest.mark.parametrize("n", LINKS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_runaway_state_has_accelerations_of_nan(n, wrong):
    """An integrator tries such states; it needs an answer to take a shorter step."""
    prepared = PreparedChain(random_chain(np.random.default_rng(n), n), GRAVITY)
    acceleration, _ = prepared.driven([wrong] * n, [1.0] * n, [0.0] * n, (0.0, 0.0))
    assert np.isnan(acceleration).all()

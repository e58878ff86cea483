"""Muscles that drive a chain: the same motion by other ways, energy, mirrored limbs, and a reach brought back."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import simpson, solve_ivp
from scipy.interpolate import PchipInterpolator
from sympy.physics.biomechanics import FirstOrderActivationDeGroote2016

from chains import arm
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.model import Kinematics
from limbtorque.muscles.hill import ActivationDynamics, excitation_for_rate, hill_limits
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.muscles.static_optimization.solve import share_torques
from limbtorque.simulation.forward import Integration, State, simulate
from limbtorque.simulation.muscle_driven import Musculature, muscle_drive, muscle_state
from limbtorque.simulation.reach import minimum_jerk

GRAVITY = (0.0, -9.81)
ARM = arm()
SET = load_muscle_set("arm")
N = len(SET.muscles)
JOINTS, SIGN, ZERO = ("shoulder", "elbow"), np.array([1.0, 1.0]), np.array([-np.pi / 2.0, 0.0])
RIGHT = Musculature(SET, JOINTS, SIGN, ZERO)
LEFT = Musculature(
    SET, JOINTS, -SIGN, (3.0 * np.pi / 2.0, 0.0)
)  # x mirrored: angle 1 is pi - angle 1, angle 2 - angle 2
BENT = np.radians([-60.0, 75.0])
TIME = np.linspace(0.0, 0.4, 201)
TIGHT = Integration(rtol=1e-11, atol=1e-12)
KINKS = 1e-6  # rad: where a curve has a kink rounding decides which step the integrator takes, and the error it leaves
ACTIVATION = np.linspace(0.01, 0.05, N)


def move(drive, *, angle=BENT, time=TIME, velocity=(0.0, 0.0), integration=TIGHT):
    return simulate(ARM, time, State(angle, velocity), torque=drive, gravity_m_s2=GRAVITY, integration=integration)


def fibres(length_m):
    """Parameters of the fibres of muscles whose length these joints determine; the wrist's have constant strength."""
    return {
        name: [
            np.nan if getattr(muscle, name) is None or np.isnan(own_m) else getattr(muscle, name)
            for muscle, own_m in zip(SET.muscles, length_m, strict=True)
        ]
        for name in ("optimal_fibre_length_m", "tendon_slack_length_m", "pennation_rad")
    }


def test_constant_activations_are_a_function_of_the_state():
    def torque(_, angle, velocity, __):
        unit = musculotendon(SET, (angle - ZERO)[None], velocity_rad_s=velocity[None], joints=JOINTS)
        limits = hill_limits(unit.length_m, unit.velocity_m_s, max_force_n=SET.max_force_n, **fibres(unit.length_m[0]))
        return unit.moment_arm_m[0] @ (ACTIVATION * limits.strength_n[0] + limits.passive_n[0])

    made, same = move(muscle_drive(RIGHT, ACTIVATION, dynamics=None)), move(torque)
    assert made.success
    assert np.ptp(made.angle_rad, axis=0).min() > 0.1
    np.testing.assert_allclose(made.angle_rad, same.angle_rad, atol=KINKS)
    np.testing.assert_allclose(made.torque_nm, same.torque_nm, atol=100.0 * KINKS)


def test_constant_strength():
    """Torque = R F_max a, with neither length nor velocity nor passive tension."""
    plain = Musculature(SET, JOINTS, SIGN, ZERO, force_length_velocity=False)
    state = muscle_state(plain, BENT[None], [[1.0, -2.0]])
    arm = musculotendon(SET, (BENT - ZERO)[None], velocity_rad_s=[[1.0, -2.0]], joints=JOINTS).moment_arm_m
    np.testing.assert_allclose(
        state.torque_nm(ACTIVATION[None])[0], arm[0] @ (ACTIVATION * SET.max_force_n), rtol=1e-12
    )
    assert not state.passive_nm.any()
    assert state.possible.all()


def test_muscle_of_unknown_length_has_constant_strength():
    muscles = tuple(replace(muscle, length=None) if muscle.name == "BRA" else muscle for muscle in SET.muscles)
    unknown = Musculature(replace(SET, muscles=muscles), JOINTS, SIGN, ZERO)
    state, known = (muscle_state(m, BENT[None], [[1.0, -2.0]]) for m in (unknown, RIGHT))
    bra = SET.names.index("BRA")
    assert state.strength_n[0, bra] == SET.max_force_n[bra] != known.strength_n[0, bra]
    np.testing.assert_array_equal(np.delete(state.strength_n, bra, axis=1), np.delete(known.strength_n, bra, axis=1))


def test_greatest_velocity():
    """Muscles twice as fast have at twice the speed the strength of the others."""
    fast = Musculature(SET, JOINTS, SIGN, ZERO, max_velocity_lopt_s=20.0)
    state, same = muscle_state(fast, BENT[None], [[2.0, -4.0]]), muscle_state(RIGHT, BENT[None], [[1.0, -2.0]])
    np.testing.assert_allclose(state.strength_n, same.strength_n, rtol=1e-12)


def test_state_says_what_is_beyond_and_what_is_missing():
    angle = np.radians([[-60.0, 75.0], [-60.0, 150.0], [np.nan, 75.0]])
    state = muscle_state(RIGHT, angle, [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert state.out_of_range.tolist() == [[False, False], [False, True], [False, False]]  # known to 130 degrees
    assert state.possible[0].all()
    fast = muscle_state(RIGHT, angle[:1], [[0.0, 60.0]])  # 0.04 m at 60 rad/s is twice what it can
    assert not fast.possible[0, SET.names.index("BIClong")]
    assert np.isnan(state.torque_nm(np.zeros((3, N)))[2, 0])
    assert np.isfinite(state.torque_nm(np.zeros((3, N)))[:2]).all()


def test_work_of_the_torques_is_that_of_the_tensions():
    """Virtual work, -F dL: shortening under tension gives energy to the chain, and nothing is lost on the way."""
    made = move(muscle_drive(RIGHT, ACTIVATION, dynamics=None))
    unit = musculotendon(SET, made.angle_rad - ZERO, velocity_rad_s=made.velocity_rad_s, joints=JOINTS)
    limits = hill_limits(unit.length_m, unit.velocity_m_s, max_force_n=SET.max_force_n, **fibres(unit.length_m[0]))
    known = [muscle.velocity_known for muscle in SET.muscles]  # the others are those of the wrist
    pull = ((ACTIVATION * limits.strength_n + limits.passive_n) * unit.velocity_m_s)[:, known]
    work = made.joint_work_j.sum(axis=1)
    assert np.abs(made.balance_j).max() < 1e-9  # 100 times the tolerance, of some joules
    assert np.ptp(work) > 0.5
    power = (made.torque_nm * made.velocity_rad_s).sum(axis=1)
    np.testing.assert_allclose(power, -pull.sum(axis=1), atol=1e-10 * np.abs(power).max())
    assert simpson(power, x=made.time_s) == pytest.approx(work[-1], rel=1e-3)  # every 2 ms, over kinks of moment arms


def test_activation_follows_excitation():
    """By SymPy's equation, integrated by itself: the motion has no part in it."""
    excitation = np.linspace(0.0, 1.0, N)
    made = move(muscle_drive(RIGHT, excitation, activation=np.full(N, 0.05)), time=np.linspace(0.0, 0.1, 11))
    model = FirstOrderActivationDeGroote2016.with_defaults("m")
    rate = sp.lambdify((model.e, model.a), model.rhs()[0], "numpy")
    alone = solve_ivp(
        lambda _, a: rate(excitation, a), (0.0, 0.1), np.full(N, 0.05), t_eval=made.time_s, rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(made.memory, alone.y.T, atol=1e-8)
    state = muscle_state(RIGHT, made.angle_rad, made.velocity_rad_s)
    np.testing.assert_allclose(made.torque_nm, state.torque_nm(made.memory), atol=1e-10)


def test_constants_of_the_activation_dynamics():
    """Four times as slow in all, an activation has after 0.1 s what it otherwise has after 0.025 s."""
    slow, options = ActivationDynamics(rise_s=0.06, fall_s=0.24), {"activation": np.full(N, 0.05)}
    made = move(muscle_drive(RIGHT, ACTIVATION, **options, dynamics=slow), time=np.array([0.0, 0.1]))
    usual = move(muscle_drive(RIGHT, ACTIVATION, **options), time=np.array([0.0, 0.025]))
    np.testing.assert_allclose(made.memory[1], usual.memory[1], atol=1e-9)


def shared_reach(musculature, mirrored, rate_hz=500.0):
    """Time, motion, activations and excitations of a reach of a right arm, or of its mirror image."""
    time = np.arange(round(0.8 * rate_hz) + 1) / rate_hz
    reach = minimum_jerk(time - 0.1, start=BENT, end=np.radians([-20.0, 40.0]), duration_s=0.6)
    angle = [np.pi, 0.0] - reach.position if mirrored else reach.position
    way = -1.0 if mirrored else 1.0
    terms = torque_terms(ARM, Kinematics(angle, way * reach.velocity, way * reach.acceleration), gravity_m_s2=GRAVITY)
    state = muscle_state(musculature, angle, way * reach.velocity)
    asked = {"max_force_n": state.strength_n, "min_activation": 0.01}
    shared = share_torques(state.moment_arm_m, terms.net - state.passive_nm, **asked)
    assert shared.success.all()
    excitation, _ = excitation_for_rate(np.gradient(shared.activation, time, axis=0), shared.activation)
    return time, angle, shared.activation, excitation


def test_mirrored_limb_has_the_same_activations():
    right, left = shared_reach(RIGHT, mirrored=False)[2], shared_reach(LEFT, mirrored=True)[2]
    assert np.ptp(right, axis=0).max() > 0.05
    np.testing.assert_allclose(left, right, atol=1e-9)


@pytest.mark.parametrize("mirrored", [False, True])
def test_reach_is_brought_back(mirrored):
    """Inverse dynamics, sharing and inverse activation, and all the way forward, without feedback."""
    musculature = LEFT if mirrored else RIGHT
    time, angle, activation, excitation = shared_reach(musculature, mirrored, 1000.0)
    drive = muscle_drive(musculature, PchipInterpolator(time, excitation), activation=activation[0])
    made = move(drive, angle=angle[0], time=time, integration=Integration(rtol=1e-7, atol=1e-8))
    assert np.degrees(np.abs(made.angle_rad - angle)).max() < 0.1
    np.testing.assert_allclose(made.memory, activation, atol=2e-3)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"flexion_sign": (1.0, 0.5)}, "flexion_sign is .*expected 1 or -1"),
        ({"flexion_sign": (1.0,)}, r"flexion_sign has shape \(1,\), expected \(2,\) like joints"),
        ({"flexion_zero_rad": (np.nan, 0.0)}, r"flexion_zero_rad .* has nan at \[0\]"),
    ],
)
def test_musculature_that_fits_no_chain(change, says):
    with pytest.raises(ValueError, match=says):
        Musculature(SET, JOINTS, **{"flexion_sign": SIGN, "flexion_zero_rad": ZERO} | change)


@pytest.mark.parametrize(
    ("control", "options", "says"),
    [
        (ACTIVATION, {}, "activation at the start is missing"),
        (ACTIVATION, {"activation": np.full(N, 1.5)}, "activation has 1.5; expected numbers from 0 to 1"),
        (ACTIVATION, {"activation": ACTIVATION, "dynamics": None}, "activation is given with dynamics=None"),
        (ACTIVATION[:-1], {"dynamics": None}, "control has shape"),
        (np.full(N, np.nan), {"dynamics": None}, r"control of shape .* has nan at \[0\]"),
        (ACTIVATION - 0.5, {"dynamics": None}, "control has -0.49; expected numbers from 0 to 1"),
    ],
)
def test_controls_that_are_none(control, options, says):
    with pytest.raises(ValueError, match=says):
        muscle_drive(RIGHT, control, **options)


def test_faults_that_show_in_the_simulation():
    long = muscle_drive(RIGHT, lambda t: np.full(N, 20.0 * t), dynamics=None)
    with pytest.raises(ValueError, match=r"control has .* at 0\.\d+ s; expected numbers from 0 to 1"):
        move(long)
    one = Musculature(SET, ("elbow",), (1.0,), (0.0,))
    with pytest.raises(ValueError, match=r"the muscles are on 1 joints \(elbow\), the chain has 2"):
        move(muscle_drive(one, ACTIVATION, dynamics=None))

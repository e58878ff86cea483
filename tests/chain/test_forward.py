"""Accelerations and motions that torques make: closed forms, a symbolic Lagrangian, conservation, and the way back."""

import numpy as np
import pytest
from hypothesis import given
from scipy.linalg import expm
from scipy.special import ellipk

from chains import ROUNDING, arm, call, loaded_chains, run, same
from limbtorque.chain.dynamics import inertia_matrix, newton_euler, torque_terms
from limbtorque.chain.forward import forward_dynamics
from limbtorque.chain.kinematics import joint_positions, point_position, point_velocity
from limbtorque.chain.model import Chain, Kinematics, Load, Point
from limbtorque.simulation.forward import AttachedLoad, Drive, Integration, State, pid, simulate

TIGHT = Integration(rtol=1e-12, atol=1e-12)
GRAVITY = (0.0, -9.81)
# Errors of an integration add up over its steps, some hundred here, each within the relative tolerance: 1000 times that
# tolerance, of the largest number that is integrated, is allowed throughout.
STEPS = 1000.0


def rod():
    """One link whose inertia about its joint is 0.05 + 3 * 0.17^2 kg m^2."""
    return Chain([0.4], [3.0], [0.17], [0.05])


ROD_INERTIA = 0.05 + 3.0 * 0.17**2


# --- accelerations ---------------------------------------------------------------------------------------------------


@given(loaded_chains())
def test_forward_dynamics_undoes_inverse_dynamics(case):
    """The torques of the accelerations found are the given ones to rounding of the largest term.

    The accelerations themselves are right to that rounding times the condition number of the inertia matrix, below 1e4 for
    most of these chains.
    """
    chain, (angle, velocity, acceleration), options = case
    terms = call(torque_terms, chain, angle, velocity, acceleration, **options)
    field = {name: options[name] for name in ("gravity_m_s2", "base_acceleration_m_s2")}
    found = call(forward_dynamics, chain, angle, velocity, torque_nm=terms.net, **field, load_nm=-terms.external)
    single = np.stack([terms.gravity, terms.base, terms.external, terms.net], axis=2)
    size = np.abs(np.concatenate([terms.inertial, terms.centripetal, terms.coriolis, single], axis=2)).sum(axis=2).max()
    matrix = inertia_matrix(chain, angle)
    same(np.einsum("tij,tj->ti", matrix, found - acceleration), 0 * angle, scale=size)
    least = np.linalg.eigvalsh(matrix)[:, 0].min()
    np.testing.assert_allclose(found, acceleration, rtol=0.0, atol=ROUNDING * size / least)


def test_point_masses_on_either_side_of_the_joint_have_inertia():
    """T / (m d^2), with nothing of its own about the centre of mass, and with the mass behind the joint too."""
    for com in (0.17, -0.17):
        point = Chain([0.4], [3.0], [com], [0.0])
        found = forward_dynamics(point, Kinematics([[0.3]], [[2.0]]), [[5.0]], gravity_m_s2=(0.0, 0.0))
        same(found, [[5.0 / (3.0 * 0.17**2)]])


# --- pendulums -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("amplitude", [0.2, 1.5, 3.0])
def test_period_of_a_pendulum_of_any_amplitude(amplitude):
    """4 sqrt(I0 / (m g d)) K(sin^2(A / 2)): 0 after each odd quarter, -A and A after each half. Hangs at -pi/2."""
    quarter = np.sqrt(ROD_INERTIA / (3.0 * 9.81 * 0.17)) * ellipk(np.sin(amplitude / 2.0) ** 2)
    start = {"angle_rad": [amplitude - np.pi / 2], "velocity_rad_s": [0.0]}
    still = np.zeros((9, 1))
    found = run(rod(), quarter * np.arange(9), **start, torque=still, gravity_m_s2=GRAVITY, integration=TIGHT)
    assert found.success
    swing = found.angle_rad[:, 0] + np.pi / 2
    fastest = np.abs(found.velocity_rad_s).max()
    np.testing.assert_allclose(swing, amplitude * np.array([1, 0, -1, 0, 1, 0, -1, 0, 1]), atol=STEPS * 1e-12 * fastest)
    # m g d (1 - cos A) of height become I0 w^2 / 2 at the lowest point
    lowest = np.sqrt(2.0 * 3.0 * 9.81 * 0.17 * (1.0 - np.cos(amplitude)) / ROD_INERTIA)
    np.testing.assert_allclose(np.abs(found.velocity_rad_s[1::2, 0]), lowest, rtol=STEPS * 1e-12)


# --- energy and work -------------------------------------------------------------------------------------------------


def driven_case(frames, integration):
    """An arm on a base that is driven about, with torques, a damped spring at the hand and a couple on the forearm."""
    time = np.linspace(0.0, 1.0, frames)
    torque = np.column_stack([3.0 * np.sin(5.0 * time) + 4.0, 2.0 * np.cos(7.0 * time)])
    base = np.column_stack([2.0 * np.sin(9.0 * time), 1.5 * np.cos(6.0 * time)])
    spring = AttachedLoad(
        Point(1, 0.3, 0.02),
        lambda _, place, speed: 60.0 * (np.array([0.5, -0.2]) - place) - 2.0 * speed,
        lambda time_s, _, __: 0.5 * np.sin(3.0 * time_s),
    )
    push = AttachedLoad(Point(0, 0.2), lambda time_s, _, __: (3.0 * time_s, -1.0))
    found = simulate(
        arm(),
        time,
        State([-1.0, 0.8], [1.0, -2.0], base_m=(0.1, 0.3), base_velocity_m_s=(0.2, -0.1)),
        torque=torque,
        gravity_m_s2=GRAVITY,
        base_acceleration_m_s2=base,
        loads=[spring, push],
        integration=integration,
    )
    return time, torque, base, (spring, push), found


def test_energy_is_balanced_with_everything_that_does_work():
    """Torques, a driven base, spring, damper, push and couple: the error follows the tolerance."""
    for rtol in (1e-6, 1e-9, 1e-12):
        *_, found = driven_case(51, Integration(rtol=rtol, atol=rtol))
        work = [found.joint_work_j, found.base_work_j, found.load_work_j]
        assert found.success
        assert min(np.abs(w).max() for w in work) > 0.1  # everything does work
        assert np.abs(found.balance_j).max() < STEPS * rtol * max(np.abs(w).max() for w in (*work, found.energy_j))


def test_every_work_is_the_integral_of_its_power():
    """Powers from the motion found and from the recursive Newton-Euler pass, through the boundary as forces.

    Accelerations are velocity's differences of eighth order, the integrals Simpson's rule, at samples 2.5 ms apart: their
    errors are about (w h)^8 / 630 of the acceleration and (w h)^4 / 180 of the work. The hand on its spring has w of some
    sqrt(60 / 0.05) = 35 / s, the third harmonic 100 / s: 2e-8 and, for its share of a tenth, 2e-6. 1e-5 is allowed.
    """
    time, torque, base, loads, found = driven_case(401, TIGHT)
    chain, h = arm(), time[1] - time[0]
    inner = slice(4, -4)
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    acceleration = sum(w * found.velocity_rad_s[k : k + 393] for k, w in enumerate(weights))
    largest = np.abs(acceleration).max()
    np.testing.assert_allclose(found.acceleration_rad_s2[inner], acceleration, rtol=0.0, atol=1e-5 * largest)
    angle, velocity, joints = (
        found.angle_rad[inner],
        found.velocity_rad_s[inner],
        joint_positions(chain, found.angle_rad, base_m=found.base_m)[inner],
    )
    put, powers = [], {"load": np.zeros(401)}
    for load in loads:
        place = point_position(chain, found.angle_rad, point=load.point, base_m=found.base_m)
        speed = point_velocity(
            chain,
            Kinematics(found.angle_rad, found.velocity_rad_s, base_velocity_m_s=found.base_velocity_m_s),
            point=load.point,
        )
        force = np.array([load.force(t, p, v) for t, p, v in zip(time, place, speed, strict=True)])
        couple = np.array([load.couple(t, 0.0, 0.0) if load.couple else 0.0 for t in time])
        turning = found.velocity_rad_s[:, : load.point.link + 1].sum(axis=1)
        powers["load"] += (force * speed).sum(axis=1) + couple * turning
        put.append(Load(load.point.link, force[inner], place[inner], couple[inner]))
    wrenches = newton_euler(
        chain,
        Kinematics(angle, velocity, acceleration, base_acceleration_m_s2=base[inner]),
        gravity_m_s2=GRAVITY,
        loads=put,
        joint_m=joints,
    )
    np.testing.assert_allclose(wrenches.torque_nm, torque[inner], rtol=0.0, atol=1e-5 * np.abs(torque).max())
    powers["base"] = (wrenches.reaction_n[:, 0] * found.base_velocity_m_s[inner]).sum(axis=1)
    powers["joint"] = (torque * found.velocity_rad_s)[inner]
    powers["load"] = powers["load"][inner]
    works = {"joint": found.joint_work_j, "base": found.base_work_j, "load": found.load_work_j}
    for name, power in powers.items():
        expected = h / 3.0 * (power[:-2:2] + 4.0 * power[1:-1:2] + power[2::2])
        done = works[name][inner][2::2] - works[name][inner][:-2:2]
        np.testing.assert_allclose(done, expected, rtol=0.0, atol=1e-5 * np.abs(works[name]).max())


def test_a_recorded_load_works_like_the_torques_it_is_worth():
    """load_nm accelerates like torques of the same size; its work is counted with the loads.

    The steps are not the same, as another work is integrated with the motion.
    """
    time = np.linspace(0.0, 0.5, 21)
    load = np.column_stack([np.sin(6.0 * time), np.cos(4.0 * time)])
    options = {"angle_rad": [-1.0, 0.4], "velocity_rad_s": [0.5, 0.0], "gravity_m_s2": GRAVITY, "integration": TIGHT}
    loaded = run(arm(), time, torque=np.zeros((21, 2)), load_nm=load, **options)
    driven = run(arm(), time, torque=load, **options)
    np.testing.assert_allclose(loaded.angle_rad, driven.angle_rad, rtol=0.0, atol=STEPS * 1e-12)
    np.testing.assert_allclose(loaded.load_work_j, driven.joint_work_j.sum(axis=1), rtol=0.0, atol=STEPS * 1e-12)
    assert not loaded.joint_work_j.any()
    assert np.abs(loaded.load_work_j).max() > 0.01


def test_two_samples_are_joined_by_a_line():
    """Torque from 2 to -1 N m in 0.6 s, horizontal plane: a = (2 t^2 / 2 - 5 t^3 / 6) / I0. From a time that is not 0."""
    start = {"angle_rad": [0.3], "velocity_rad_s": [0.0], "gravity_m_s2": (0.0, 0.0), "integration": TIGHT}
    found = run(rod(), [1.5, 2.1], **start, torque=[[2.0], [-1.0]])
    expected = 0.3 + (0.6**2 - 5.0 * 0.6**3 / 6.0) / ROD_INERTIA
    np.testing.assert_allclose(found.angle_rad, [[0.3], [expected]], rtol=0.0, atol=STEPS * 1e-12)
    same(found.torque_nm, [[2.0], [-1.0]])
    same(found.acceleration_rad_s2, np.array([[2.0], [-1.0]]) / ROD_INERTIA)


def test_the_base_moves_as_its_acceleration_says():
    """Samples of a cubic, which a cubic spline holds exactly: position and velocity are its integrals."""
    time = np.linspace(0.5, 1.7, 13)
    t = time - 0.5
    cubic = np.column_stack([1.0 - 2.0 * t + 3.0 * t**2 - t**3, 4.0 * t**3 - t])
    state = State([0.0, 0.0], [0.0, 0.0], base_m=(1.0, 2.0), base_velocity_m_s=(0.5, -0.25))
    options = {"gravity_m_s2": GRAVITY, "base_acceleration_m_s2": cubic, "integration": TIGHT}
    found = simulate(arm(), time, state, torque=np.zeros((13, 2)), **options)
    velocity = np.column_stack([0.5 + t - t**2 + t**3 - t**4 / 4, -0.25 + t**4 - t**2 / 2])
    place = np.column_stack(
        [1 + 0.5 * t + t**2 / 2 - t**3 / 3 + t**4 / 4 - t**5 / 20, 2 - 0.25 * t + t**5 / 5 - t**3 / 6]
    )
    np.testing.assert_allclose(found.base_velocity_m_s, velocity, rtol=0.0, atol=STEPS * 1e-12)
    np.testing.assert_allclose(found.base_m, place, rtol=0.0, atol=STEPS * 1e-12)
    assert np.abs(found.balance_j).max() < STEPS * 1e-12 * np.abs(found.base_work_j).max()


# --- forward and back ------------------------------------------------------------------------------------------------


def analytic(time):
    """A movement of two joints and its derivatives."""
    size, pace, phase = np.array([0.8, 1.1]), np.array([4.0, 6.0]), np.array([0.3, -0.5])
    argument = np.outer(time, pace) + phase
    angle = np.array([-0.9, 1.2]) + size * np.sin(argument)
    return angle, size * pace * np.cos(argument), -size * pace**2 * np.sin(argument)


def test_inverse_then_forward_dynamics_give_back_the_motion():
    """The error is that of the cubic spline between torque samples, of fourth order: 16 times less at half the distance.

    Its size is about (w h)^4 / 384 of the torque, with w of 18 / s for the third harmonic that products of speeds make:
    3e-6 of 15 N m at 100 Hz, which in 1 s turns the forearm, of 0.05 kg m^2, by 4e-4 rad at the very most. Errors of both
    signs add up, so that only the mean order over three halvings is tested. Steps no longer than the distance of the
    samples: longer ones pass over the knots of the spline.
    """
    errors = []
    for frames in (51, 101, 201, 401):
        time = np.linspace(0.0, 1.0, frames)
        angle, velocity, acceleration = analytic(time)
        torque = torque_terms(arm(), Kinematics(angle, velocity, acceleration), gravity_m_s2=GRAVITY).net
        short = Integration(rtol=1e-11, atol=1e-11, max_step_s=time[1])
        start = State(angle[0], velocity[0])
        found = simulate(arm(), time, start, torque=torque, gravity_m_s2=GRAVITY, integration=short)
        same(found.torque_nm, torque)
        errors.append(np.abs(found.angle_rad - angle).max())
    assert errors[1] < 4e-4
    assert 3.5 < np.log2(errors[0] / errors[-1]) / 3.0 < 4.5


# --- drives with a memory --------------------------------------------------------------------------------------------


def test_a_drive_with_a_memory_is_a_muscle_that_wakes_up():
    """Activation a' = (1 - a) / tau, torque T a, one link in the horizontal plane.

    a = 1 - exp(-t / tau), and the angle is T / I0 (t^2 / 2 - tau t + tau^2 (1 - exp(-t / tau))).
    """
    tau, strength, time = 0.08, 5.0, np.linspace(0.0, 0.6, 13)
    muscle = Drive(lambda _, __, ___, a: strength * a, (0.0,), lambda _, __, ___, a: (1.0 - a) / tau)
    start = {"angle_rad": [0.0], "velocity_rad_s": [0.0], "gravity_m_s2": (0.0, 0.0)}
    found = run(rod(), time, **start, torque=muscle, integration=TIGHT)
    awake = 1.0 - np.exp(-time / tau)
    angle = strength / ROD_INERTIA * (time**2 / 2.0 - tau * time + tau**2 * awake)
    np.testing.assert_allclose(found.memory[:, 0], awake, rtol=0.0, atol=STEPS * 1e-12)
    np.testing.assert_allclose(found.angle_rad[:, 0], angle, rtol=0.0, atol=STEPS * 1e-12 * angle.max())
    same(found.torque_nm, strength * found.memory)


def test_pid_follows_a_moving_target():
    """A target r + s t: linear with t and 1 as two more unknowns. The rate of the target takes the derivative's lag away.

    Without it, and without an integral, the limb is late by d / p seconds once the start, which dies out as
    exp(-d t / 2 I0) = exp(-4 t), is forgotten.
    """
    p, i, d, begin, pace = 12.0, 5.0, 1.1, 0.7, 0.9
    gains = {"proportional_nm_rad": [p], "integral_nm_rad_s": [i], "derivative_nms_rad": [d]}
    start = {"angle_rad": [-0.4], "velocity_rad_s": [1.5], "gravity_m_s2": (0.0, 0.0)}
    time = np.linspace(0.0, 1.5, 16)

    def target(time_s):
        return [begin + pace * time_s]

    for rate, wanted in ((lambda _: [pace], pace), (None, 0.0)):
        matrix = np.zeros((5, 5))
        matrix[0, 1], matrix[2], matrix[3, 4] = 1.0, [-1.0, 0.0, 0.0, pace, begin], 1.0
        matrix[1] = np.array([-p, -d, i, p * pace, p * begin + d * wanted]) / ROD_INERTIA
        expected = np.array([expm(matrix * t) @ [-0.4, 1.5, 0.0, 0.0, 1.0] for t in time])
        drive = pid(target, **gains, target_velocity_rad_s=rate)
        found = run(rod(), time, **start, torque=drive, integration=TIGHT)
        state = np.column_stack([found.angle_rad, found.velocity_rad_s, found.memory])
        np.testing.assert_allclose(state, expected[:, :3], rtol=0.0, atol=STEPS * 1e-12 * np.abs(expected).max())
    late = run(rod(), [0.0, 6.0], **start, torque=pid(target, **{**gains, "integral_nm_rad_s": [0.0]}))
    assert target(6.0)[0] - late.angle_rad[-1, 0] == pytest.approx(pace * d / p, abs=STEPS * 1e-9)


def test_pid_of_segments_corrects_their_orientations():
    """The law on sums of joint angles; a forearm held level while the upper arm swings freely ends level."""
    gains = {"proportional_nm_rad": [3.0, 40.0], "derivative_nms_rad": [0.5, 4.0], "integral_nm_rad_s": [7.0, 60.0]}
    drive = pid([0.2, -0.1], **gains, controls="segments")
    angle, velocity, memory = np.array([0.5, -0.9]), np.array([1.0, -3.0]), np.array([0.04, -0.03])
    expected = [3.0 * (0.2 - 0.5) - 0.5 * 1.0 + 7.0 * 0.04, 40.0 * (-0.1 + 0.4) + 4.0 * 2.0 - 60.0 * 0.03]
    np.testing.assert_allclose(drive.torque(0.0, angle, velocity, memory), expected, rtol=ROUNDING)
    np.testing.assert_allclose(drive.memory_rate(0.0, angle, velocity, memory), [-0.3, 0.3], rtol=ROUNDING)
    free = {name: [0.0, value[1]] for name, value in gains.items()} | {"derivative_nms_rad": [1.0, 4.0]}
    start = {"angle_rad": [-1.0, 0.3], "velocity_rad_s": [0.0, 0.0], "gravity_m_s2": GRAVITY}
    found = run(arm(), np.array([0.0, 20.0]), **start, torque=pid([0.0, 0.0], **free, controls="segments"))
    assert abs(found.angle_rad[-1].sum()) < 1e-3 < 0.5 < abs(found.angle_rad[-1, 0])
    with pytest.raises(ValueError, match="controls is 'links', expected 'joints' or 'segments'"):
        pid([0.0], proportional_nm_rad=[1.0], integral_nm_rad_s=[0.0], derivative_nms_rad=[0.0], controls="links")


# --- where it ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["DOP853", "LSODA"])
def test_a_torque_that_runs_away_ends_the_integration(method):
    """I0 w' = I0 w^2 from w = 1 is w = 1 / (1 - t), a = -log(1 - t), infinite at t = 1: frames before it are kept."""
    time = np.array([0.0, 0.25, 0.5, 0.75, 0.9, 1.1, 1.5])
    start = {"angle_rad": [0.0], "velocity_rad_s": [1.0], "gravity_m_s2": (0.0, 0.0)}
    runaway = Drive(lambda _, __, velocity, ___: ROD_INERTIA * velocity**2)
    found = run(rod(), time, **start, torque=runaway, integration=Integration(method=method))
    assert not found.success
    assert "faster than 1e+06 rad/s" in found.message
    np.testing.assert_array_equal(found.time_s, time[:5])
    for name in ("angle_rad", "acceleration_rad_s2", "torque_nm", "base_m", "memory", "energy_j", "joint_work_j"):
        assert len(getattr(found, name)) == 5, name
    # the default relative tolerance is 1e-9, and the speed grows tenfold
    np.testing.assert_allclose(found.velocity_rad_s[:, 0], 1.0 / (1.0 - time[:5]), rtol=STEPS * 1e-9)
    np.testing.assert_allclose(found.angle_rad[:, 0], -np.log(1.0 - time[:5]), rtol=0.0, atol=STEPS * 1e-9)


def test_the_integration_stops_where_it_is_told_to():
    """No torque, no gravity: the angle is 2 t, and reaches 1 rad between the samples at 0.4 s and 0.6 s."""
    time = np.array([0.0, 0.2, 0.4, 0.6, 0.8])
    start = {"angle_rad": [0.0], "velocity_rad_s": [2.0], "torque": np.zeros((5, 1)), "gravity_m_s2": (0.0, 0.0)}
    found = run(rod(), time, **start, until=lambda _, angle: 1.0 - angle[0])
    assert found.success
    np.testing.assert_array_equal(found.time_s, time[:3])
    same(found.angle_rad, 2.0 * time[:3, None])
    late = run(rod(), time, **start, until=lambda time_s, _: 0.7 - time_s)
    np.testing.assert_array_equal(late.time_s, time[:4])
    rising = run(rod(), time, **start, until=lambda _, angle: angle[0] - 1.0)  # it stops where it falls, not here
    np.testing.assert_array_equal(rising.time_s, time)
    never = run(rod(), time, **start, until=lambda _, angle: 5.0 - angle[0])
    assert never.success
    np.testing.assert_array_equal(never.time_s, time)

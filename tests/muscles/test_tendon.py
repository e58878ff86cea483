"""Fibres on compliant tendons: springs in series, a rigid limit, forward simulation, and OpenSim's equilibrium."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from limbtorque.muscles import hill, strength
from limbtorque.muscles.hill import hill_limits
from limbtorque.muscles.strength import CLOSED, TendonUnits, equilibrium_tension, fibre_state

OPTIMUM, SLACK, PENNATION, FASTEST = 0.05, 0.25, 0.4, 0.5  # like a soleus


def units(length, velocity=0.0, *, optimum=OPTIMUM, slack=SLACK, pennation=PENNATION, strain=0.049):
    """Muscles of the same kind at lengths and velocities."""
    length, velocity = np.broadcast_arrays(np.asarray(length, dtype=float), np.asarray(velocity, dtype=float))
    same = [optimum, slack, optimum * np.sin(pennation), strain, FASTEST]
    return TendonUnits(length, velocity, *(np.full(length.shape, value) for value in same))


def fibre_force(along, activation):
    """Force along the tendon of a fibre of constant thickness, from the curves alone."""
    thickness = OPTIMUM * np.sin(PENNATION)
    fibre = np.hypot(along, thickness)
    active = activation * hill.active_force_length(fibre / OPTIMUM) * hill.force_velocity(0.0)
    return (active + max(float(hill.passive_force_length(fibre / OPTIMUM)), 0.0)) * along / fibre


def by_brentq(length, activation, strain=0.049):
    """Tension at rest, by another root finder over the length of the fibre."""

    def gap(along):
        return fibre_force(along, activation) - float(hill.tendon_force((length - along) / SLACK, strain))

    along = brentq(gap, 1e-9, length - SLACK, xtol=1e-14)
    return fibre_force(along, activation)


@pytest.mark.parametrize("activation", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("strain", [0.02, 0.049, 0.1])
def test_equilibrium_at_rest_is_that_of_another_root_finder(activation, strain):
    lengths = np.linspace(0.285, 0.318, 12)  # fibres up to 1.35 optimal lengths: one equilibrium
    found = equilibrium_tension(units(lengths, strain=strain), np.full(lengths.shape, activation))
    expected = [by_brentq(length, activation, strain) for length in lengths]
    np.testing.assert_allclose(found, expected, atol=1e-9)  # a length to 1e-14 m, times 1000 strengths per m


def test_series_stiffness_is_that_of_two_springs():
    """d tension / d length = k_T k_M / (k_T + k_M), with both stiffnesses by differences of the curves."""
    activation, step = np.array([0.3]), 1e-6
    at = units([0.292])
    tension = equilibrium_tension(at, activation)
    state = fibre_state(at, tension)
    along = float(state.fibre_length[0] * OPTIMUM * state.cos_pennation[0])
    own = (fibre_force(along + step, 0.3) - fibre_force(along - step, 0.3)) / (2 * step)
    ends = SLACK * (1.0 + state.tendon_strain[0]) + np.array([-step, step])
    spring = float(np.diff(hill.tendon_force(ends / SLACK))[0]) / (2 * step)
    assert own > 0
    longer, shorter = (equilibrium_tension(units([0.292 + off]), activation) for off in (step, -step))
    assert (longer - shorter)[0] / (2 * step) == pytest.approx(own * spring / (own + spring), rel=1e-4)


@pytest.mark.parametrize(("length", "activation"), [(0.292, 0.3), (0.306, 0.3), (0.312, 0.0)])
def test_velocity_is_that_of_the_equilibrium_as_the_length_changes(length, activation):
    """Slowly lengthened at a constant activation, the fibre follows the equilibria; the second is stretched."""
    level, step, velocity = np.array([activation]), 1e-6, 1e-7
    ends = [fibre_state(u, equilibrium_tension(u, level)) for u in (units([length + o]) for o in (step, -step))]
    slope = (ends[0].fibre_length - ends[1].fibre_length) / (2 * step)  # optimal lengths for each metre
    moving = units([length], velocity)
    found = fibre_state(moving, equilibrium_tension(moving, level))
    np.testing.assert_allclose(found.fibre_velocity, slope * OPTIMUM * velocity / FASTEST, rtol=1e-4)
    assert (found.passive[0] > 0.01) == (length > 0.3)


@given(
    st.floats(0.27, 0.32), st.floats(-0.5, 0.5), st.floats(0.0, 1.0), st.sampled_from([0.001, 0.02, 0.049, 0.1]),
    st.floats(0.0, 0.6),
)  # fmt: skip
def test_tension_and_activation_and_back(length, velocity, activation, strain, pennation):
    at = units([length], velocity, strain=strain, pennation=pennation)
    tension = equilibrium_tension(at, np.array([activation]))
    state = fibre_state(at, tension)
    assert tension[0] >= 0
    left = activation * state.active + state.passive - tension
    # where the tension is found to CLOSED, the excess is that times the slope of one by the other, 1 + k_M / k_T
    assert abs(left[0]) <= 1e3 * CLOSED
    whole = SLACK * (1.0 + state.tendon_strain) + state.fibre_length * OPTIMUM * state.cos_pennation
    np.testing.assert_allclose(whole, length, rtol=1e-12)


def test_a_stiff_tendon_is_the_rigid_one():
    lengths, velocity = np.linspace(0.26, 0.325, 40), 0.1
    at = units(lengths, velocity, strain=1e-7)
    none, full = (equilibrium_tension(at, np.full(40, activation)) for activation in (0.0, 1.0))
    rigid = hill_limits(
        lengths[:, None],
        np.full((40, 1), velocity),
        max_force_n=[1.0],
        optimal_fibre_length_m=[OPTIMUM],
        tendon_slack_length_m=[SLACK],
        pennation_rad=[PENNATION],
    )
    # the tendon stretches by up to 1e-7 of its length: 2.5e-8 m, where curves rise by up to 50 strengths for a metre
    np.testing.assert_allclose(none, rigid.passive_n[:, 0], atol=1e-5)
    np.testing.assert_allclose(full, (rigid.passive_n + rigid.strength_n)[:, 0], atol=1e-5)
    assert (fibre_state(at, full).possible == rigid.possible[:, 0]).all()


def settle(length, activation, *, span_s=3.0, moving=None):
    """Tension over time of a muscle whose fibre moves by the force-velocity curve, from a slack start."""
    thickness = OPTIMUM * np.sin(PENNATION)
    at = moving or (lambda _: length)

    def pull(time, along):
        return float(np.maximum(hill.tendon_force((at(time) - along) / SLACK), 0.0))

    def rate(time, state):
        along = state[0]
        fibre = np.hypot(along, thickness)
        passive = max(float(hill.passive_force_length(fibre / OPTIMUM)), 0.0)
        factor = (pull(time, along) * fibre / along - passive) / (
            activation * float(hill.active_force_length(fibre / OPTIMUM))
        )
        return [float(hill.fibre_velocity(factor)) * FASTEST * fibre / along]

    found = solve_ivp(
        rate, (0.0, span_s), [length - 1.01 * SLACK], method="LSODA", rtol=1e-9, atol=1e-12, max_step=0.01
    )
    return found.t, np.array([pull(time, along) for time, along in zip(found.t, found.y[0], strict=True)])


@pytest.mark.parametrize("activation", [0.1, 0.6])
def test_a_muscle_left_alone_comes_to_its_equilibrium(activation):
    """Forward in time the fibre shortens by its force-velocity curve until it pulls as hard as the tendon."""
    _, tension = settle(0.295, activation)
    found = equilibrium_tension(units([0.295]), np.array([activation]))
    assert tension[-1] == pytest.approx(
        found[0], abs=1e-7
    )  # the tolerance of the integration, 1e-9, and 3 s of settling


def test_a_slowly_stretched_muscle_is_near_the_moving_equilibrium():
    """5 mm up and down in a second at constant activation; docs/muscles.md states the error."""
    middle, size, turn = 0.292, 0.005, 2.0 * np.pi
    time, tension = settle(middle, 0.4, moving=lambda t: middle + size * np.sin(turn * t))
    late = time > 1.0
    at = units(middle + size * np.sin(turn * time), size * turn * np.cos(turn * time))
    off = equilibrium_tension(at, np.full(time.shape, 0.4)) - tension
    still = equilibrium_tension(replace(at, velocity_m_s=0.0 * time), np.full(time.shape, 0.4)) - tension
    assert np.sqrt(np.mean(off[late] ** 2)) < 0.025 * np.ptp(tension[late])
    assert np.sqrt(np.mean(off[late] ** 2)) < 0.15 * np.sqrt(np.mean(still[late] ** 2))  # without any velocity


def test_slack_missing_and_none():
    found = equilibrium_tension(units([0.2, 0.25, np.nan, 0.29], [0.0, 0.0, 0.0, np.nan]), np.ones(4))
    np.testing.assert_array_equal(found, [0.0, 0.0, np.nan, np.nan])
    state = fibre_state(units([0.2, np.nan]), np.array([0.0, np.nan]))
    assert state.possible.tolist() == [False, True]
    assert state.activation[0] == 0.0
    assert equilibrium_tension(units(np.zeros((3, 0))), np.zeros((3, 0))).shape == (3, 0)


def test_softer_tendons_leave_shorter_fibres():
    """At one tension the fibre is shorter by the stretch of the tendon."""
    at = units([0.29, 0.29], slack=0.25, pennation=0.0)
    soft = replace(at, tendon_strain=np.array([0.049, 0.1]))
    lengths = fibre_state(soft, np.array([0.5, 0.5])).fibre_length
    stretch = np.diff([float(hill.tendon_length(0.5, strain)) for strain in (0.049, 0.1)])[0]
    assert lengths[0] - lengths[1] == pytest.approx(SLACK * stretch / OPTIMUM, rel=1e-12)
    assert hill.tendon_force(1.1, 0.1) == pytest.approx(float(hill.tendon_force(1.049)), rel=1e-12)


# --- another program ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def opensim():
    return pytest.importorskip("opensim", reason="the package opensim is not installed")


def opensim_tension(opensim, kind, lengths, activation):
    """Tensions of one muscle between two blocks at rest, in strengths, by OpenSim."""
    model = opensim.Model()
    ground = model.getGround()
    block = opensim.Body("block", 1.0, opensim.Vec3(0), opensim.Inertia(1))
    model.addBody(block)
    slider = opensim.SliderJoint("slider", ground, block)
    slider.updCoordinate().setName("x")
    slider.updCoordinate().setDefaultValue(0.3)
    model.addJoint(slider)
    muscle = getattr(opensim, kind)()
    muscle.setName("muscle")
    muscle.setMaxIsometricForce(1000.0)
    muscle.setOptimalFiberLength(OPTIMUM)
    muscle.setTendonSlackLength(SLACK)
    muscle.setPennationAngleAtOptimalFiberLength(PENNATION)
    muscle.set_ignore_activation_dynamics(True)
    muscle.set_fiber_damping(0.0)  # both have a tendon strain of 4.9 %
    muscle.addNewPathPoint("origin", ground, opensim.Vec3(0))
    muscle.addNewPathPoint("insertion", block, opensim.Vec3(0))
    model.addForce(muscle)
    state = model.initSystem()
    muscle = model.getMuscles().get(0)
    found = []
    for length in lengths:
        model.updCoordinateSet().get("x").setValue(state, float(length))
        muscle.setActivation(state, activation)
        model.realizeVelocity(state)
        muscle.computeEquilibrium(state)
        model.realizeDynamics(state)
        found.append(muscle.getTendonForce(state) / 1000.0)
    return np.array(found)


def raised_passive(length):
    """Passive curve of OpenSim's version: shifted to be 0 at 0.2 optimal lengths, and not at 1; still 1 at 1.6."""
    shortest = np.exp(4.0 * (0.2 - 1.0) / 0.6)
    return (np.exp(4.0 * (np.asarray(length) - 1.0) / 0.6) - shortest) / (np.exp(4.0) - shortest)


@pytest.mark.parametrize("activation", [0.02, 0.3, 1.0])
def test_equilibrium_is_that_of_opensims_muscle_with_the_same_curves(opensim, activation, monkeypatch):
    """Its passive curve is raised by 0.0187, and by further digits its active one is up to 0.6 % higher."""
    lengths = np.linspace(0.288, 0.312, 9)
    wanted = np.full(lengths.shape, activation)
    theirs = opensim_tension(opensim, "DeGrooteFregly2016Muscle", lengths, activation)
    np.testing.assert_allclose(equilibrium_tension(units(lengths), wanted), theirs, atol=0.019)
    monkeypatch.setattr(strength, "passive_force_length", raised_passive)
    np.testing.assert_allclose(equilibrium_tension(units(lengths), wanted), theirs, atol=1e-3 + 7e-3 * activation)


@pytest.mark.parametrize(("activation", "most"), [(0.05, 0.006), (0.3, 0.016), (1.0, 0.08)])
def test_equilibrium_is_near_that_of_millards_muscle(opensim, activation, most):
    """Other curves for all three springs; docs/theory.md has the equilibrium."""
    lengths = np.linspace(0.288, 0.312, 9)
    found = equilibrium_tension(units(lengths), np.full(lengths.shape, activation))
    theirs = opensim_tension(opensim, "Millard2012EquilibriumMuscle", lengths, activation)
    np.testing.assert_allclose(found, theirs, atol=most)

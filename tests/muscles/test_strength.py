"""Static optimization on compliant tendons: the torque, the least sum of activations, and the rigid limit."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.objective import Problem
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.muscles.strength import MOST, SETTLED, compliant_muscles, optimize_with_strengths, strengths
from limbtorque.study.options.muscles import Muscles

LEG = load_muscle_set("leg")
POSTURES_DEG = np.array([[10.0, 15.0, 5.0], [-5.0, 10.0, 10.0], [30.0, 60.0, -10.0], [60.0, 80.0, 10.0]])
SPEED_RAD_S = np.array([[1.0, 0.5, -0.5], [-1.0, 1.0, -2.0], [2.0, -3.0, 0.0], [0.0, 0.0, 0.0]])


def compliant(**options):
    return Muscles(force_length_velocity=True, tendon="compliant", **options)


def geometry(frames=slice(None)):
    return musculotendon(LEG, np.radians(POSTURES_DEG[frames]), velocity_rad_s=SPEED_RAD_S[frames])


def torque_of(unit, options, activation):
    """Torques of all muscles at one activation each, and those of their forces at rest."""
    muscles = compliant_muscles(unit, LEG, options)
    part = np.linspace(0.5, 1.5, len(LEG.muscles)) * activation
    return np.einsum("fjm,fm->fj", unit.moment_arm_m, muscles.force_n(part) - muscles.force_n(0.0 * part))


def problem(unit, torque, strong):
    return Problem(unit.moment_arm_m, torque, strong.active_n, LEG, strong.bounds)


def optimized(options, unit=None, activation=0.2):
    unit = unit or geometry()
    strong = strengths(unit, LEG, options)
    torque = torque_of(unit, compliant(), activation)
    return unit, strong, torque, optimize_with_strengths(problem(unit, torque, strong), strong, options)


@pytest.mark.parametrize("exponent", [2, 3])
def test_torque_is_met_and_activations_are_those_of_the_force(exponent):
    unit, strong, torque, found = optimized(compliant(exponent=exponent))
    solved = found.optimized
    assert (solved.status == 0).all()
    assert (solved.duality_gap <= 1e-9).all()
    np.testing.assert_allclose(np.einsum("fjm,fm->fj", unit.moment_arm_m, solved.force_n), torque, atol=1e-9)
    assert (found.stretch.change <= SETTLED).all()
    assert (found.stretch.iterations < MOST).all()
    # the forces at these activations, found as roots, are the forces
    for f in range(len(torque)):
        one = compliant_muscles(geometry(slice(f, f + 1)), LEG, compliant())
        again = one.force_n(np.minimum(found.activation[f], 1.0))[0]
        np.testing.assert_allclose(again, (solved.force_n + strong.passive_n)[f], atol=1e-5)


@pytest.mark.parametrize("exponent", [2, 3])
@pytest.mark.parametrize("f", range(len(POSTURES_DEG)))
def test_no_forces_near_by_have_a_smaller_sum_of_activations(exponent, f):
    """A solver of another kind, started there and elsewhere, finds none on the true cost."""
    unit, strong, torque, found = optimized(compliant(exponent=exponent), geometry(slice(f, f + 1)))
    muscles, arm, size = strong.compliant, unit.moment_arm_m[0], strong.active_n[0]
    free = size > 1.0

    def cost(part):
        activation = muscles.state(strong.passive_n + np.where(free, part, 0.0) * size).activation[0]
        return float((np.maximum(activation, 0.0)[free] ** exponent).sum())

    reach = arm * size
    met = {"type": "eq", "fun": lambda part: reach @ part - torque[0], "jac": lambda _: reach}
    ours = found.optimized.activation[0]
    starts = [ours, linprog(np.ones(size.size), A_eq=reach, b_eq=torque[0], bounds=(0, 1)).x]
    for start in starts:
        theirs = minimize(
            cost,
            start,
            method="SLSQP",
            bounds=[(0, 1)] * size.size,
            constraints=[met],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert np.abs(met["fun"](theirs.x)).max() < 1e-6
        assert cost(ours) <= theirs.fun * (1.0 + 1e-5)


def test_the_largest_activation_is_as_small_as_can_be():
    """Against bisection: the least activation of all muscles together at which a linear programme makes the torque."""
    options = compliant(exponent="min_max")
    for f in range(len(POSTURES_DEG)):
        unit, strong, torque, found = optimized(options, geometry(slice(f, f + 1)))
        low, high = 0.0, 1.0
        for _ in range(40):
            level = 0.5 * (low + high)
            most = strong.compliant.force_n(np.full(len(LEG.muscles), level))[0] - strong.passive_n[0]
            bounds = np.stack([np.zeros_like(most), np.maximum(most, 0.0)], axis=1)
            possible = (
                linprog(np.zeros_like(most), A_eq=unit.moment_arm_m[0], b_eq=torque[0], bounds=bounds).status == 0
            )
            low, high = (low, level) if possible else (level, high)
        assert found.activation.max() == pytest.approx(high, abs=1e-4)


def test_stiff_tendons_are_the_rigid_ones():
    stiff = compliant(tendon_strain={muscle.name: 1e-8 for muscle in LEG.muscles})
    *_, soft = optimized(stiff)
    *_, hard = optimized(Muscles(force_length_velocity=True))
    np.testing.assert_allclose(soft.activation, hard.activation, atol=1e-5)
    np.testing.assert_allclose(soft.optimized.force_n, hard.optimized.force_n, rtol=1e-4, atol=0.1)
    np.testing.assert_allclose(soft.limits.fibre_length, hard.limits.fibre_length, atol=1e-6)
    np.testing.assert_allclose(soft.limits.fibre_velocity, hard.limits.fibre_velocity, atol=1e-5)
    assert (soft.stretch.iterations <= 3).all()


def test_frames_do_not_depend_on_each_other():
    """Long trials are solved in stretches."""
    *_, together = optimized(compliant(exponent=3))
    for f in range(len(POSTURES_DEG)):
        *_, alone = optimized(compliant(exponent=3), geometry(slice(f, f + 1)))
        np.testing.assert_allclose(alone.activation[0], together.activation[f], atol=1e-12)
        assert alone.stretch.iterations[0] == together.stretch.iterations[f]


def test_bounds_are_of_activations():
    options = compliant(activation_bounds={"soleus": [0.3, 0.35]}, min_activation=0.02)
    *_, found = optimized(options, activation=0.25)
    soleus = LEG.names.index("soleus")
    assert (found.activation[:, soleus] >= 0.3 - 1e-8).all()
    assert (found.activation[:, soleus] <= 0.35 + 1e-8).all()
    taut = found.limits.strength_n > 1.0
    assert (found.activation[taut] >= 0.02 - 1e-8).all()


def test_strength_beyond_the_passive_force_is_that_of_two_equilibria():
    strong = strengths(geometry(), LEG, compliant())
    muscles = strong.compliant
    n = len(LEG.muscles)
    np.testing.assert_array_equal(strong.passive_n, muscles.force_n(np.zeros(n)))
    np.testing.assert_allclose(strong.active_n + strong.passive_n, muscles.force_n(np.ones(n)), atol=1e-9)
    assert (strong.active_n >= 0).all()


def test_the_achilles_tendon_has_the_strain_of_its_set_or_of_the_settings():
    def strain(**options):
        units = compliant_muscles(geometry(), LEG, compliant(**options)).units
        return dict(zip(LEG.names, units.tendon_strain[0].tolist(), strict=True))

    assert strain()["soleus"] == strain()["gastroc"] == 0.1
    assert strain()["vasti"] == 0.049
    assert strain(tendon_strain={"leg.soleus": 0.06, "arm.BRA": 0.1})["soleus"] == 0.06

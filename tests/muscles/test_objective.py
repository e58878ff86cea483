"""Cost of activations by the settings: volumes, envelopes; and strengths from maximal efforts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from limbtorque.errors import SettingsError
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.objective import (
    Envelopes,
    Problem,
    check_options,
    least_cost_forces,
    measured_activation,
    muscle_weights,
    optimize_forces,
    usable_envelopes,
    volumes,
)
from limbtorque.muscles.sets.muscle_set import load_muscle_set, strengthened
from limbtorque.muscles.static_optimization.criteria import OK
from limbtorque.muscles.strength_factors import Effort, fitted_factors
from limbtorque.study.options.muscles import Muscles

LEG = load_muscle_set("leg")
JOINTS = ("hip", "knee", "ankle")


def walk(n_frames=40, muscle_set=LEG):
    """A leg that swings, with torques of the size of walking."""
    phase = 2.0 * np.pi * np.arange(n_frames)[:, None] / 80.0
    flexion = np.radians([20.0, 30.0, 5.0]) + np.radians([20.0, 25.0, 10.0]) * np.sin(phase + np.array([0.0, 1.0, 2.0]))
    torque = np.array([40.0, -30.0, -60.0]) * np.sin(phase + np.array([0.5, 2.0, 0.3])) + np.array([0.0, 5.0, -20.0])
    arm = musculotendon(muscle_set, flexion).moment_arm_m
    return Problem.of_set(arm, torque, muscle_set, Muscles())


def halves(muscle_set, name):
    """The set with a muscle cut into two equal parts."""
    muscles = []
    for muscle in muscle_set.muscles:
        half = replace(muscle, max_isometric_force_n=muscle.max_isometric_force_n / 2.0)
        muscles += (
            [replace(half, name=f"{name}_1"), replace(half, name=f"{name}_2")] if muscle.name == name else [muscle]
        )
    return replace(muscle_set, muscles=tuple(muscles))


# --- volume ------------------------------------------------------------------------------------------------------------


def test_volume_is_strength_times_fibre_length_over_the_mean():
    products = [muscle.max_isometric_force_n * muscle.optimal_fibre_length_m for muscle in LEG.muscles]
    assert volumes(LEG) == pytest.approx(np.array(products) / np.mean(products), rel=1e-14)
    assert muscle_weights(LEG, Muscles(criterion="volume", weights={"soleus": 3.0}))[7] == pytest.approx(
        3.0 * volumes(LEG)[7]
    )
    assert muscle_weights(LEG, Muscles()).tolist() == [1.0] * len(LEG.names)


@pytest.mark.parametrize("exponent", [2.0, 3.0])
def test_a_muscle_cut_in_two_changes_nothing_with_volumes_only(exponent):
    """Two halves of a muscle cost what the whole costs at equal activation: V a^p; without volumes they cost double."""

    def vasti(criterion, muscle_set):
        problem = walk(muscle_set=muscle_set)
        options = Muscles(criterion=criterion, exponent=exponent)
        force = least_cost_forces(problem, options).force_n
        return force[:, [name.startswith("vasti") for name in muscle_set.names]].sum(axis=1)

    cut = halves(LEG, "vasti")
    assert vasti("volume", cut) == pytest.approx(vasti("volume", LEG), rel=1e-7, abs=1e-6)
    assert np.abs(vasti("activation", cut) - vasti("activation", LEG)).max() > 10.0


def test_two_muscles_share_by_arm_and_fibre_length():
    """At one joint, exponent 2: a_i is proportional to B_i / V_i = r_i / l_i, whatever the strengths."""
    pair = replace(LEG, muscles=tuple(muscle for muscle in LEG.muscles if muscle.name in ("vasti", "rect_fem")))
    arm = np.array([[[-0.03, -0.05]]])
    problem = Problem.of_set(arm, np.array([[-60.0]]), pair, Muscles())
    found = least_cost_forces(problem, Muscles(criterion="volume")).activation[0]
    lengths = [muscle.optimal_fibre_length_m for muscle in pair.muscles]
    assert found[0] / found[1] == pytest.approx((0.03 / lengths[0]) / (0.05 / lengths[1]), rel=1e-12)


# --- envelopes ---------------------------------------------------------------------------------------------------------


def envelopes(problem, names=("soleus", "tib_ant"), *, maximal=True):
    """Envelopes unlike the prediction, the first unknown in some frames."""
    n_frames = len(problem.torque_nm)
    values = 0.3 + 0.2 * np.sin(np.arange(n_frames)[:, None] / 7.0 + np.arange(len(names)))
    values[5:8, 0] = math.nan
    return Envelopes(tuple(names), values, np.full(len(names), maximal))


def test_the_torque_is_met_and_the_activations_come_nearer():
    problem = walk()
    given, distances = envelopes(problem), []
    at = [LEG.names.index(name) for name in given.muscles]
    for weight in (0.0, 1.0, 10.0, 1000.0):
        options = Muscles(emg_weight=weight)
        found = optimize_forces(problem, options, given)[0]
        assert (found.status == OK).all()
        assert np.abs(found.duality_gap).max() <= 1e-9
        assert np.einsum("fjm,fm->fj", problem.arm, found.force_n) == pytest.approx(problem.torque_nm, abs=1e-8)
        distances.append(np.nansum((found.activation[:, at] - given.level) ** 2))
    assert distances[0] > distances[1] > distances[2] > distances[3]


def test_slsqp_agrees_on_the_whole_cost():
    """The sum of a^2 and weight (a - envelope)^2, written down again; only measured muscles have the second."""
    problem, weight = walk(4), 2.5
    given = envelopes(problem)
    options = Muscles(emg_weight=weight)
    found = optimize_forces(problem, options, given)[0]
    at = [LEG.names.index(name) for name in given.muscles]
    for f in range(4):

        def cost(a, f=f):
            return (a**2).sum() + weight * ((a[at] - given.level[f]) ** 2).sum()

        answer = minimize(
            cost,
            np.full(len(LEG.names), 0.1),
            bounds=[(0.0, 1.0)] * len(LEG.names),
            constraints={
                "type": "eq",
                "fun": lambda a, f=f: problem.arm[f] @ (a * LEG.max_force_n) - problem.torque_nm[f],
            },
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert found.activation[f] == pytest.approx(answer.x, abs=1e-4)
        assert found.cost[f] == pytest.approx(cost(found.activation[f]), rel=1e-10)
        assert found.cost[f] <= answer.fun * (1.0 + 1e-7)


def test_an_envelope_with_a_peak_of_its_own_keeps_the_mean_activation():
    problem, options = walk(), Muscles(emg_weight=1.0)
    given = envelopes(problem, maximal=False)
    measured, told = measured_activation(problem, options, given)
    plain = least_cost_forces(problem, Muscles()).activation
    for k, name in enumerate(given.muscles):
        own, known = LEG.names.index(name), np.isfinite(given.level[:, k])
        assert measured[known, own].mean() == pytest.approx(plain[known, own].mean(), rel=1e-12)
        assert np.corrcoef(measured[known, own], given.level[known, k])[0, 1] == pytest.approx(1.0)
    assert np.isnan(measured[:, LEG.names.index("vasti")]).all()
    assert told[0].startswith("activations near the envelopes (muscles.emg_weight 1): soleus (scaled by ")


def test_unknown_samples_and_other_muscles_are_free():
    """Where the envelope is unknown, the frame is solved as without it."""
    problem, options = walk(), Muscles(emg_weight=5.0)
    given = envelopes(problem, ("soleus",))
    found, plain = (optimize_forces(problem, options, which)[0] for which in (given, None))
    assert found.activation[5:8] == pytest.approx(plain.activation[5:8], abs=1e-12)
    assert np.abs(found.activation - plain.activation)[8:].max() > 0.05


def test_without_weight_or_channel_nothing_changes():
    problem = walk(5)
    assert measured_activation(problem, Muscles(), envelopes(problem)) == (None, ())
    options = Muscles(emg_weight=1.0)
    for given, reason in (
        (envelopes(problem, ("biceps",)), "no muscle of the set has a channel without faults"),
        (None, "no electromyography was read"),
    ):
        measured, told = measured_activation(problem, options, given)
        assert measured is None
        assert told == (f"muscles.emg_weight has no effect: {reason}",)


def test_only_channels_without_a_fault_are_used():
    from limbtorque.emg.recorded import Electromyography

    facts = tuple(
        {"muscle": name, "normalised_by": by} for name, by in (("soleus", "maximal trial"), ("vasti", "own peak"))
    )
    empty = np.zeros((3, 2))
    recorded = Electromyography(("soleus", "vasti"), empty, {}, np.array([True, False]), facts, (), "")
    found = usable_envelopes(recorded)
    assert (found.muscles, found.maximal.tolist(), found.level.shape) == (("soleus",), [True], (3, 1))


# --- strengths ---------------------------------------------------------------------------------------------------------


def effort(name, torque_nm, **reach):
    joint, sense = name.split()
    return Effort(joint, sense, 0.0, torque_nm, np.array([reach.get(muscle, 0.0) for muscle in ("a", "b", "c")]))


def test_one_effort_scales_its_muscles_alike():
    assert fitted_factors([effort("knee extension", 60.0, a=100.0, b=20.0)]) == pytest.approx([0.5, 0.5, 1.0])


def test_two_efforts_with_a_muscle_in_common():
    """Lagrange by hand: weights w (shares of the torques), least sum of w (s - 1)^2 with both torques made."""
    first, second = effort("knee flexion", 50.0, a=60.0, b=20.0), effort("ankle extension", 90.0, b=100.0, c=20.0)
    found = fitted_factors([first, second])
    reach = np.array([first.reach_nm, second.reach_nm])
    weight = (reach / reach.sum(axis=1, keepdims=True)).sum(axis=0)
    force = np.linalg.solve(reach / weight @ reach.T, np.array([50.0, 90.0]) - reach.sum(axis=1))
    assert found == pytest.approx(1.0 + (reach.T @ force) / weight, rel=1e-9)
    assert reach @ found == pytest.approx([50.0, 90.0], rel=1e-9)


@pytest.mark.parametrize(
    "efforts",
    [
        [effort("knee flexion", 900.0, a=10.0)],
        [effort("knee flexion", 900.0, a=10.0), effort("hip extension", 20.0, a=10.0, b=10.0)],
        [effort("knee flexion", 900.0, a=800.0), effort("hip extension", 2.0, b=100.0)],
    ],
    ids=["too strong", "contradiction", "hardly an effort"],
)
def test_efforts_that_no_strengths_explain(efforts):
    with pytest.raises(
        SettingsError, match=r"no factors between 0.05 and 20 .* knee flexion 900 N m \(\d+ by the set\)"
    ):
        fitted_factors(efforts)


def test_strengthened_sets():
    found = strengthened(LEG, {"soleus": 0.5})
    assert found.max_force_n / LEG.max_force_n == pytest.approx(
        [0.5 if name == "soleus" else 1.0 for name in LEG.names]
    )
    with pytest.raises(SettingsError, match=r"has no muscle 'solus' \(muscles.strength_factors.S01\)"):
        check_options(LEG, Muscles(strength_factors={"S01": {"solus": 0.5}}), JOINTS)

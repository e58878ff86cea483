"""Least and greatest contact force: linear programmes by another solver, two muscles by hand, and what cannot be outside."""

import numpy as np
import pytest
from scipy.optimize import linprog

from limbtorque.muscles.joint_contact import N_DIRECTIONS, contact_range, within_effort
from limbtorque.muscles.lines_of_action import line_arrays, unit_pulls
from limbtorque.muscles.sets.muscle import LineOfAction
from limbtorque.muscles.static_optimization.ranges import greatest_sums


def towards(degrees):
    return LineOfAction(direction_deg=[degrees], source="by hand")


def random_programme(rng, n_joints, n_muscles, n):
    """Torques of activations that are inside their bounds, and in the first third of the frames all at a bound."""
    reach = rng.normal(size=(n_joints, n_muscles, n)) * (rng.random((n_joints, n_muscles, 1)) < 0.6)
    reach /= np.maximum(np.abs(reach).sum(axis=1, keepdims=True), 1e-9)
    low, high = 0.2 * rng.random((n_muscles, n)), 0.3 + 0.7 * rng.random((n_muscles, n))
    inside = low + (high - low) * rng.random((n_muscles, n))
    corner = np.where(rng.random((n_muscles, n)) < 0.5, low, high)
    activation = np.where(np.arange(n) < n // 3, corner, inside)
    weight = rng.normal(size=(n_muscles, n)) * (rng.random((n_muscles, 1)) < 0.7)
    return reach, np.einsum("jmn,mn->jn", reach, activation), low, high, weight


@pytest.mark.parametrize(("n_joints", "n_muscles"), [(1, 2), (2, 5), (3, 9)])
def test_the_greatest_sum_is_that_of_another_solver(n_joints, n_muscles):
    """HiGHS through SciPy, whose tolerance is 1e-7."""
    rng = np.random.default_rng(n_muscles)
    reach, torque, low, high, weight = random_programme(rng, n_joints, n_muscles, 24)
    weights = np.stack([weight, rng.normal(size=weight.shape), -weight])  # each search starts where the last one ended
    for sums, some in zip(greatest_sums(reach, torque, low, high, weights), weights, strict=True):
        for k, value in enumerate(sums):
            bounds = np.stack([low[:, k], high[:, k]], axis=1)
            by_other = linprog(-some[:, k], A_eq=reach[..., k], b_eq=torque[:, k], bounds=bounds)
            assert value == pytest.approx(-by_other.fun, abs=1e-7)


def one_knee(
    torque_nm, *, arms_m=(0.05, -0.04), strengths_n=(2000.0, 5000.0), directions=(0.0, 0.0), reaction_n=(600.0, 0.0)
):
    """A knee at one frame with a flexor and an extensor: the one that makes the torque pulls alone."""
    arms, strengths = np.array(arms_m), np.array(strengths_n)
    activation = np.maximum(torque_nm / (arms * strengths), 0.0)
    lines = line_arrays([[towards(degrees) for degrees in directions]], [[True, True]])
    pull = unit_pulls(lines, 0, [0, 1], np.zeros(1))[..., 0]
    own = np.array(reaction_n) - pull @ (activation * strengths)
    return {
        "own_n": own[None, None],
        "lines": lines,
        "moment_arm_m": arms[None, None],
        "activation": activation[None],
        "strength_n": strengths[None],
        "between_rad": np.zeros((1, 1)),
        "flexion_rad": np.zeros((1, 1)),
    }


FREE = np.zeros((1, 2)), np.ones((1, 2))


def test_two_muscles_along_the_shank_press_between_one_alone_and_one_at_its_strength():
    """Extension of 60 N m: the extensor alone 1500 N. The flexor at its 2000 N makes 100 N m against it: extensor 4000 N."""
    found = contact_range(**one_knee(-60.0), limits=FREE)
    assert found.least_along_n[0, 0] == pytest.approx(600.0 + 1500.0)
    assert found.greatest_along_n[0, 0] == pytest.approx(600.0 + 4000.0 + 2000.0)
    assert found.least_n[0, 0] == pytest.approx(2100.0)
    assert 6600.0 <= found.greatest_n[0, 0] <= 6600.0 / np.cos(np.pi / N_DIRECTIONS) * (1 + 1e-9)


def test_limited_effort_allows_the_flexor_a_multiple_of_the_extensors_activation():
    """The extensor has to work at 1500 / 5000 = 0.3; with a factor of 1.5 both may at 0.45: the extensor 2250 N, that is 30 N m
    more, which the flexor answers with 600 N (0.3, below its 0.45)."""
    knee = one_knee(-60.0)
    limits = within_effort(knee["moment_arm_m"], knee["activation"], knee["strength_n"], FREE, 1.5)
    np.testing.assert_allclose(limits[1], 0.45, rtol=1e-12)
    found = contact_range(**knee, limits=limits)
    assert found.greatest_along_n[0, 0] == pytest.approx(600.0 + 2250.0 + 600.0)
    assert found.least_along_n[0, 0] == pytest.approx(2100.0)


def test_at_rest_only_the_allowed_rest_remains():
    """No torque: at 0.05 the flexor pulls 100 N, which the extensor answers with 125 N (0.025)."""
    knee = one_knee(0.0)
    limits = within_effort(knee["moment_arm_m"], knee["activation"], knee["strength_n"], FREE, 1.5, 0.05)
    found = contact_range(**knee, limits=limits)
    assert found.greatest_along_n[0, 0] == pytest.approx(600.0 + 225.0)


def test_no_feasible_activations_are_outside_and_the_greatest_is_at_most_one_percent_too_much():
    """Three muscles at one joint: the feasible activations are a polygon; its corners give the extreme forces."""
    rng = np.random.default_rng(5)
    arms, strengths = np.array([0.05, -0.04, 0.03]), np.array([1500.0, 4000.0, 2500.0])
    lines = line_arrays([[towards(20.0), towards(-15.0), towards(-40.0)]], [[True] * 3])
    pull = unit_pulls(lines, 0, [0, 1, 2], np.zeros(1))[..., 0] * strengths
    activation = np.array([0.1, 0.4, 0.2])
    own = np.array([500.0, -80.0]) - pull @ activation
    found = contact_range(
        own[None, None],
        lines,
        moment_arm_m=arms[None, None],
        activation=activation[None],
        strength_n=strengths[None],
        limits=(np.zeros((1, 3)), np.ones((1, 3))),
        between_rad=np.zeros((1, 1)),
        flexion_rad=np.zeros((1, 1)),
    )
    moment = arms * strengths
    some = rng.random((200000, 3))
    some[:, 1] = ((moment @ activation) - some[:, [0, 2]] @ moment[[0, 2]]) / moment[1]
    some = some[(some[:, 1] >= 0) & (some[:, 1] <= 1)]
    force = own - (some - activation) @ pull.T
    size = np.hypot(*force.T)
    assert found.least_n[0, 0] <= size.min() * (1 + 1e-12)
    assert size.max() <= found.greatest_n[0, 0] <= 1.02 * size.max()
    assert found.least_along_n[0, 0] <= force[:, 0].min()
    assert force[:, 0].max() <= found.greatest_along_n[0, 0]
    assert found.greatest_along_n[0, 0] == pytest.approx(force[:, 0].max(), rel=0.02)


def test_a_joint_with_a_muscle_without_a_line_has_no_range():
    knee = one_knee(-60.0)
    knee["lines"] = line_arrays([[towards(0.0), None]], [[True, True]])
    found = contact_range(**knee, limits=FREE)
    assert np.isnan([found.least_n, found.greatest_n, found.least_along_n, found.greatest_along_n]).all()


def test_an_unknown_frame_has_no_range():
    knee = one_knee(-60.0)
    found = contact_range(**{**knee, "own_n": np.full((1, 1, 2), np.nan)}, limits=FREE)
    assert np.isnan(found.greatest_n).all()

"""Simpler rules of sharing: closed forms, SciPy's least squares, and what they get wrong."""

import sys
from pathlib import Path

import numpy as np
import pytest

from limbtorque.muscles.static_optimization.solve import share_torques

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
try:
    from parts.baselines import agonist_only, pseudo_inverse, slsqp
finally:
    sys.path.pop(0)

RULES = [pseudo_inverse, agonist_only, slsqp]


def limbs(seed, n_frames=40, n_joints=3, n_muscles=8):
    rng = np.random.default_rng(seed)
    arm = rng.normal(0.0, 0.03, (n_frames, n_joints, n_muscles))
    strength = rng.uniform(150.0, 3000.0, n_muscles)
    return arm, strength, np.einsum("fjm,fm->fj", arm, 0.5 * rng.random((n_frames, n_muscles)) * strength)


def test_pseudo_inverse_is_the_least_squares_of_lapack():
    arm, strength, torque = limbs(0)
    found = pseudo_inverse(arm, torque, max_force_n=strength)
    for f in range(len(torque)):
        expected = np.linalg.lstsq(arm[f] * strength, torque[f], rcond=None)[0]
        np.testing.assert_allclose(found.activation[f], expected, atol=1e-12)
    assert np.abs(found.residual_nm).max() < 1e-10
    assert 0.1 < found.negative_share < 0.6  # nothing keeps half of the muscles from pushing
    np.testing.assert_array_equal(found.negative, found.force_n < 0)


def test_pseudo_inverse_never_costs_more_than_muscles_that_only_pull():
    arm, strength, torque = limbs(1)
    found, shared = pseudo_inverse(arm, torque, max_force_n=strength), share_torques(arm, torque, max_force_n=strength)
    cost = (found.activation**2).sum(axis=1)
    assert shared.success.all()
    assert (cost <= shared.cost * (1.0 + 1e-9)).all()
    pulls = ~found.negative.any(axis=1) & ~found.beyond_strength.any(axis=1)
    np.testing.assert_allclose(found.force_n[pulls], shared.force_n[pulls], atol=1e-9 * strength.max())


def test_pseudo_inverse_comes_nearest_where_a_joint_has_no_muscle():
    arm, strength, torque = limbs(2)
    arm[:, 1] = 0.0
    found = pseudo_inverse(arm, torque, max_force_n=strength)
    np.testing.assert_allclose(found.residual_nm[:, 1], torque[:, 1])
    np.testing.assert_allclose(found.residual_nm[:, [0, 2]], 0.0, atol=1e-10)


def test_agonists_of_one_joint():
    """B = (10, 16, -9) N m: a = B_i tau / sum of the agonists' B^2; exact, as there is no other joint."""
    arm = np.tile([0.02, 0.04, -0.03], (3, 1, 1))
    found = agonist_only(arm, [[10.0], [-4.5], [0.0]], max_force_n=[500.0, 400.0, 300.0])
    expected = [[100.0 / 356.0, 160.0 / 356.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(found.activation, expected, atol=1e-14)
    np.testing.assert_allclose(found.residual_nm, 0.0, atol=1e-13)
    assert found.negative_share == 0.0


def test_agonists_are_exact_for_muscles_of_one_joint():
    arm, strength, torque = limbs(3)
    arm *= np.arange(3)[:, None] == np.arange(8) % 3
    torque = 0.02 * torque
    found, shared = agonist_only(arm, torque, max_force_n=strength), share_torques(arm, torque, max_force_n=strength)
    both = shared.success & ~found.beyond_strength.any(axis=1) & (found.largest_residual_nm < 1e-9)
    assert both.sum() > 10
    np.testing.assert_allclose(found.force_n[both], shared.force_n[both], atol=1e-9 * strength.max())


def test_a_muscle_of_two_joints_leaves_a_residual_that_is_told():
    """The first joint asks 0.5 of its (20, 10) N m, the second 0.2: it pulls with 0.5, 3 N m too much at the second."""
    found = agonist_only([[[0.02], [0.01]]], [[10.0, 2.0]], max_force_n=[1000.0])
    np.testing.assert_allclose(found.force_n, [[500.0]])
    np.testing.assert_allclose(found.residual_nm, [[0.0, -3.0]])
    np.testing.assert_allclose(found.largest_residual_nm, [3.0])


def test_strength_does_not_bound_the_rules_but_is_told():
    for rule in (pseudo_inverse, agonist_only):
        found = rule([[[0.02, -0.01]]], [[30.0]], max_force_n=[500.0, 0.0])
        np.testing.assert_allclose(found.activation, [[3.0, 0.0]])
        assert found.beyond_strength.tolist() == [[True, False]]


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0, 4.0])
def test_slsqp_shares_one_joint_by_the_closed_form(exponent):
    arm, strength = np.array([[[0.02, 0.04, -0.03]]]), np.array([500.0, 400.0, 300.0])
    found = slsqp(arm, [[9.0]], max_force_n=strength, exponent=exponent)
    share = np.array([10.0, 16.0, 0.0]) ** (1.0 / (exponent - 1.0)) if exponent > 1 else np.array([0.0, 1.0, 0.0])
    expected = share * 9.0 / (np.array([10.0, 16.0, 0.0]) @ share)
    np.testing.assert_allclose(found.activation[0], expected, atol=1e-3 if exponent > 2 else 1e-5)
    assert found.name == f"SLSQP, exponent {exponent:g}"


def test_slsqp_closes_or_gives_no_answer():
    arm, strength, torque = limbs(4, 30)
    found = slsqp(arm, torque * np.where(np.arange(30) % 2, 1.0, 50.0)[:, None], max_force_n=strength)
    assert np.isnan(found.force_n[::2]).all()  # out of reach
    known = np.isfinite(found.force_n).all(axis=1)
    assert known[1::2].sum() >= 13  # it may give up
    assert found.largest_residual_nm[known].max() < 1e-5
    assert (found.force_n[known] >= 0).all()


@pytest.mark.parametrize("rule", RULES)
def test_gaps_stay_gaps(rule):
    arm, strength, torque = limbs(5, 5)
    clean = rule(arm, torque, max_force_n=strength)
    arm[1, 0, 0], torque[3, 2] = np.nan, np.inf
    found = rule(arm, torque, max_force_n=strength)
    assert np.isnan(found.force_n[[1, 3]]).all()
    np.testing.assert_allclose(found.force_n[[0, 2, 4]], clean.force_n[[0, 2, 4]], atol=1e-6 * strength.max())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("n_frames", "n_muscles"), [(0, 4), (2, 0)])
def test_no_frames_and_no_muscles(rule, n_frames, n_muscles):
    found = rule(np.zeros((n_frames, 2, n_muscles)), np.zeros((n_frames, 2)), max_force_n=np.ones(n_muscles))
    assert found.force_n.shape == (n_frames, n_muscles)
    assert found.negative_share == 0.0

"""Forces near target activations: closed forms and Clarabel."""

import math

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from limbtorque.muscles.static_optimization.criteria import INVALID, OK, RESERVE
from limbtorque.muscles.static_optimization.solve import share_torques

SAME = 1e-6  # of an activation: the other solver's accuracy
GAP = 1e-9
CLOSURE_NM = 1e-9


def limbs(seed, n_frames, n_joints=2, n_muscles=6):
    """Random limbs in smooth motion: moment arms, strengths, and torques that some activations make."""
    rng = np.random.default_rng(seed)
    time = np.arange(n_frames) / 20.0
    sway = 1.0 + 0.3 * np.sin(time[:, None, None] + rng.uniform(0.0, 6.0, (n_joints, n_muscles)))
    arm = rng.normal(0.0, 0.03, (n_joints, n_muscles)) * sway
    strength = rng.uniform(300.0, 2000.0, n_muscles)
    activation = np.clip(0.3 + 0.5 * np.sin(3.0 * time[:, None] + rng.uniform(0.0, 6.0, n_muscles)), 0.0, 1.0)
    return arm, strength, made(arm, activation * strength)


def made(arm, force):
    return np.einsum("fjm,fm->fj", arm, force)


def by_clarabel(hessian, linear, equal, right, low, high):
    """Least x' H x - 2 linear x with equal x = right and the bounds."""
    n = len(linear)
    matrix = sparse.csc_array(np.concatenate([equal, -np.eye(n), np.eye(n)]))
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(len(right)), clarabel.NonnegativeConeT(2 * n)]
    upper = sparse.csc_array(np.triu(2.0 * hessian))
    solver = clarabel.DefaultSolver(upper, -2.0 * linear, matrix, np.concatenate([right, -low, high]), cones, options)
    return np.array(solver.solve().x)


# --- near targets ----------------------------------------------------------------------------------------------------


def test_two_muscles_at_one_joint():
    """a_i = c_i + (B_i / w_i) (torque - B c) / sum(B_k^2 / w_k): Lagrange."""
    strength, arm = np.array([1000.0, 600.0]), np.array([0.02, 0.05])
    weight, target, torque = np.array([1.0, 4.0]), np.array([0.5, 0.1]), 20.0
    reach = arm * strength
    expected = target + reach / weight * (torque - reach @ target) / (reach**2 / weight).sum()
    found = share_torques([[arm]], [[torque]], strength, target=target, weight=weight)
    assert found.activation[0] == pytest.approx(expected, abs=1e-14)
    assert found.cost[0] == pytest.approx((weight * (expected - target) ** 2).sum(), rel=1e-12)
    assert found.force_n[0] @ arm == pytest.approx(torque, abs=1e-12)


def test_a_target_that_makes_the_torque_is_the_solution():
    arm, strength, torque = limbs(3, 20)
    target = share_torques(arm, torque, strength, exponent=3.0).activation
    found = share_torques(arm, torque, strength, target=target)
    assert found.activation == pytest.approx(target, abs=1e-12)
    assert found.cost == pytest.approx(0.0, abs=1e-20)
    assert (found.status == OK).all()


@pytest.mark.parametrize("ratio", [1e-3, 1e-6, 1e-10])
def test_small_distances_of_either_sign_and_of_very_different_sizes(ratio):
    """A muscle far below its target and one a little above it, by the formula for two muscles."""
    strength, arm, target = np.array([1000.0, 1000.0]), np.array([0.02, -0.02 * ratio]), np.array([0.5, 0.5])
    reach = arm * strength
    expected = target - reach * 0.02 / (reach**2).sum()
    found = share_torques([[arm]], [[reach @ target - 0.02]], strength, target=target)
    assert found.status.tolist() == [OK]
    assert found.activation[0] == pytest.approx(expected, abs=1e-13)
    assert found.iterations[0] <= 2  # without the detour of torques out of reach


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=15)
def test_clarabel_agrees(seed):
    """Targets inside and outside the bounds, weights by frame."""
    rng = np.random.default_rng(seed)
    arm, strength, torque = limbs(seed, 6)
    shape = (len(arm), arm.shape[2])
    weight, target = rng.uniform(0.2, 5.0, shape), rng.uniform(-0.3, 1.4, shape)
    found = share_torques(arm, torque, strength, target=target, weight=weight)
    assert (found.status == OK).all()
    assert np.abs(found.duality_gap).max() <= GAP
    assert found.residual_nm.max() <= CLOSURE_NM
    for k in range(len(arm)):
        x = by_clarabel(
            np.diag(weight[k]),
            weight[k] * target[k],
            arm[k] * strength,
            torque[k],
            np.zeros(shape[1]),
            np.ones(shape[1]),
        )
        assert found.activation[k] == pytest.approx(x, abs=SAME)


def test_targets_change_neither_reach_nor_least_reserve():
    arm, strength, torque = limbs(9, 30)
    torque[::3] *= 6.0
    plain = share_torques(arm, torque, strength)
    found = share_torques(arm, torque, strength, target=np.full(6, 0.4))
    assert (plain.status == RESERVE).any()
    assert found.status.tolist() == plain.status.tolist()
    assert found.reserve_nm == pytest.approx(plain.reserve_nm, abs=1e-8)
    assert made(arm, found.force_n) + found.reserve_nm == pytest.approx(torque, abs=1e-8)


def test_an_unknown_target_stays_in_its_frame():
    arm, strength, torque = limbs(1, 3)
    target = np.zeros((3, 6))
    target[1, 2] = math.nan
    assert share_torques(arm, torque, strength, target=target).status.tolist() == [OK, INVALID, OK]

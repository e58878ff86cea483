"""Forces near target activations, frame by frame and with a cost of their change: closed forms, Clarabel and SLSQP."""

import math

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from limbtorque.muscles.static_optimization import solve
from limbtorque.muscles.static_optimization.solve import FAILED, INVALID, OK, RESERVE, share_torques, share_torques_near

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


def whole_problem(arm, strength, weight, target, change):
    """Hessian, linear part and equalities of a run as one problem."""
    n_frames, n_joints, n_muscles = arm.shape
    size = n_frames * n_muscles
    hessian = np.diag(weight.ravel())
    for k in range(1, n_frames):
        for i in range(n_muscles):
            here, before = k * n_muscles + i, (k - 1) * n_muscles + i
            hessian[here, here] += change[i]
            hessian[before, before] += change[i]
            hessian[here, before] -= change[i]
            hessian[before, here] -= change[i]
    equal = np.zeros((n_frames * n_joints, size))
    for k in range(n_frames):
        equal[k * n_joints : (k + 1) * n_joints, k * n_muscles : (k + 1) * n_muscles] = arm[k] * strength
    return hessian, (weight * target).ravel(), equal


# --- near targets ----------------------------------------------------------------------------------------------------


def test_two_muscles_at_one_joint():
    """a_i = c_i + (B_i / w_i) (torque - B c) / sum(B_k^2 / w_k): Lagrange."""
    strength, arm = np.array([1000.0, 600.0]), np.array([0.02, 0.05])
    weight, target, torque = np.array([1.0, 4.0]), np.array([0.5, 0.1]), 20.0
    reach = arm * strength
    expected = target + reach / weight * (torque - reach @ target) / (reach**2 / weight).sum()
    found = share_torques_near([[arm]], [[torque]], strength, target, weight=weight)
    assert found.activation[0] == pytest.approx(expected, abs=1e-14)
    assert found.cost[0] == pytest.approx((weight * (expected - target) ** 2).sum(), rel=1e-12)
    assert found.force_n[0] @ arm == pytest.approx(torque, abs=1e-12)


def test_a_target_that_makes_the_torque_is_the_solution():
    arm, strength, torque = limbs(3, 20)
    target = share_torques(arm, torque, strength, exponent=3.0).activation
    found = share_torques_near(arm, torque, strength, target)
    assert found.activation == pytest.approx(target, abs=1e-12)
    assert found.cost == pytest.approx(0.0, abs=1e-20)
    assert (found.status == OK).all()


@pytest.mark.parametrize("ratio", [1e-3, 1e-6, 1e-10])
def test_small_distances_of_either_sign_and_of_very_different_sizes(ratio):
    """A muscle far below its target and one a little above it, by the formula for two muscles."""
    strength, arm, target = np.array([1000.0, 1000.0]), np.array([0.02, -0.02 * ratio]), np.array([0.5, 0.5])
    reach = arm * strength
    expected = target - reach * 0.02 / (reach**2).sum()
    found = share_torques_near([[arm]], [[reach @ target - 0.02]], strength, target)
    assert found.status.tolist() == [OK]
    assert found.activation[0] == pytest.approx(expected, abs=1e-13)
    assert found.iterations[0] <= 2  # without the detour of torques out of reach


def test_without_targets_it_is_the_sum_of_squares():
    arm, strength, torque = limbs(4, 50)
    weight = np.linspace(0.5, 3.0, arm.shape[2])
    plain = share_torques(arm, torque, strength, weight=weight)
    found = share_torques_near(arm, torque, strength, np.zeros(arm.shape[2]), weight=weight)
    assert found.activation == pytest.approx(plain.activation, abs=1e-13)
    assert found.cost == pytest.approx(plain.cost, rel=1e-12)


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=15)
def test_clarabel_agrees(seed):
    """Targets inside and outside the bounds, weights by frame."""
    rng = np.random.default_rng(seed)
    arm, strength, torque = limbs(seed, 6)
    shape = (len(arm), arm.shape[2])
    weight, target = rng.uniform(0.2, 5.0, shape), rng.uniform(-0.3, 1.4, shape)
    found = share_torques_near(arm, torque, strength, target, weight=weight)
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
    found = share_torques_near(arm, torque, strength, np.full(6, 0.4))
    assert (plain.status == RESERVE).any()
    assert found.status.tolist() == plain.status.tolist()
    assert found.reserve_nm == pytest.approx(plain.reserve_nm, abs=1e-8)
    assert made(arm, found.force_n) + found.reserve_nm == pytest.approx(torque, abs=1e-8)
    none = share_torques_near(arm, torque, strength, np.full(6, 0.4), reserve="none")
    assert np.isnan(none.force_n).all(axis=1).tolist() == (plain.status == RESERVE).tolist()


def test_a_priced_reserve_with_a_target():
    """One muscle of reach B: least (a - c)^2 + ((torque - B a) / price)^2."""
    reach, target, torque, price = 20.0, 0.8, 10.0, 5.0
    expected = (target + reach * torque / price**2) / (1.0 + reach**2 / price**2)
    found = share_torques_near([[[0.02]]], [[torque]], [1000.0], [target], reserve=price)
    assert found.activation[0, 0] == pytest.approx(expected, rel=1e-12)
    assert found.reserve_nm[0, 0] == pytest.approx(torque - reach * expected, rel=1e-9)


def test_unknown_numbers_and_wrong_arguments():
    arm, strength, torque = limbs(1, 3)
    target = np.zeros((3, 6))
    target[1, 2] = math.nan
    assert share_torques_near(arm, torque, strength, target).status.tolist() == [OK, INVALID, OK]
    with pytest.raises(ValueError, match=r"weight has 0, expected numbers above 0"):
        share_torques_near(arm, torque, strength, np.zeros(6), weight=[1, 1, 0, 1, 1, 1])
    with pytest.raises(ValueError, match=r"target has shape \(5,\)"):
        share_torques_near(arm, torque, strength, np.zeros(5))
    with pytest.raises(ValueError, match=r"a priced reserve has no meaning with change_weight"):
        share_torques_near(arm, torque, strength, 0.0, change_weight=1.0, reserve=1.0)


# --- with a cost of the change -----------------------------------------------------------------------------------------


def test_two_muscles_in_two_frames():
    """With x the first of two muscles of reach 1 and D the change between the frames, by hand:

    sum of both x = w2 (t1 + t2) / (w1 + w2), and Dx = (w2 + 2 g2) Dt / (w1 + w2 + 2 g1 + 2 g2).
    """
    weight, change, torque = np.array([1.0, 3.0]), np.array([2.0, 0.5]), np.array([0.4, 0.9])
    both = weight[1] * torque.sum() / weight.sum()
    step = (weight[1] + 2.0 * change[1]) * (torque[1] - torque[0]) / (weight.sum() + 2.0 * change.sum())
    arm = np.ones((2, 1, 2))
    found = share_torques_near(arm, torque[:, None], [1.0, 1.0], [0.0, 0.0], weight=weight, change_weight=change)
    assert found.activation[:, 0] == pytest.approx([(both - step) / 2.0, (both + step) / 2.0], abs=1e-12)
    assert found.activation.sum(axis=1) == pytest.approx(torque, abs=1e-14)


@pytest.mark.parametrize("size", [0.3, 30.0, 3000.0])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_clarabel_agrees_on_a_whole_run(seed, size):
    rng = np.random.default_rng(seed)
    arm, strength, torque = limbs(seed, 12)
    shape = (len(arm), arm.shape[2])
    weight, target = rng.uniform(0.5, 2.0, shape), rng.uniform(-0.2, 1.0, shape)
    change = size * rng.uniform(0.5, 2.0, shape[1])
    found = share_torques_near(arm, torque, strength, target, weight=weight, change_weight=change)
    hessian, linear, equal = whole_problem(arm, strength, weight, target, change)
    x = by_clarabel(hessian, linear, equal, torque.ravel(), np.zeros(linear.size), np.ones(linear.size))
    ours = found.activation.ravel()
    assert (found.status == OK).all()
    assert np.abs(found.duality_gap).max() <= GAP
    assert found.residual_nm.max() <= CLOSURE_NM
    assert ours == pytest.approx(x, abs=2e-5)  # the gap allows root(GAP times the cost) of an activation
    constant = (weight * target**2).sum()
    assert found.cost.sum() == pytest.approx(ours @ hessian @ ours - 2.0 * linear @ ours + constant, rel=1e-9)
    assert found.cost.sum() <= (x @ hessian @ x - 2.0 * linear @ x + constant) * (1.0 + 1e-8)


def test_the_cost_of_change_makes_it_smaller():
    arm, strength, torque = limbs(5, 80)
    plain = share_torques(arm, torque, strength)
    sizes = [(np.diff(plain.activation, axis=0) ** 2).sum()]
    for size in (1e-9, 1.0, 10.0, 100.0):
        found = share_torques_near(arm, torque, strength, np.zeros(6), change_weight=size)
        sizes.append((np.diff(found.activation, axis=0) ** 2).sum())
    assert sizes[1] == pytest.approx(sizes[0], rel=1e-6)
    assert sizes[1] > sizes[2] > sizes[3] > sizes[4] > 0.0


def test_unknown_frames_end_a_run_and_reserves_do_not():
    arm, strength, torque = limbs(6, 30)
    torque[12] = math.nan
    torque[20] *= 8.0
    found = share_torques_near(arm, torque, strength, np.zeros(6), change_weight=20.0)
    assert np.flatnonzero(found.status == INVALID).tolist() == [12]
    assert found.status[20] == RESERVE
    assert found.reserve_nm[20] == pytest.approx(share_torques(arm, torque, strength).reserve_nm[20], abs=1e-8)
    for some in (slice(0, 12), slice(13, 30)):
        alone = share_torques_near(arm[some], torque[some], strength, np.zeros(6), change_weight=20.0)
        assert found.activation[some] == pytest.approx(alone.activation, abs=1e-9)
        assert np.abs(found.duality_gap[some]).max() <= GAP


def test_each_part_of_a_long_run_begins_at_the_last_frame_of_the_one_before(monkeypatch):
    """The cost of every frame, from its own activations and those of the frame before: also across the parts."""
    arm, strength, torque = limbs(8, 40)
    monkeypatch.setattr(solve, "RUN", 10)
    found = share_torques_near(arm, torque, strength, np.zeros(6), change_weight=50.0)
    change = np.diff(found.activation, axis=0, prepend=found.activation[:1])
    expected = (found.activation**2).sum(axis=1) + 50.0 * (change**2).sum(axis=1)
    assert found.cost == pytest.approx(expected, rel=1e-9)


def test_a_run_without_a_certificate_has_no_forces(monkeypatch):
    arm, strength, torque = limbs(2, 15)
    monkeypatch.setattr(solve, "MOST_STEPS", 1)
    found = share_torques_near(arm, torque, strength, np.zeros(6), change_weight=300.0)
    assert (found.status == FAILED).all()
    assert np.isnan(found.force_n).all()


def test_a_sum_of_two_squares_is_one_target():
    """SLSQP on w a^2 + k (a - e)^2 against weight w + k and target k e / (w + k)."""
    arm, strength, torque = limbs(7, 4)
    rng = np.random.default_rng(7)
    w, k, e = rng.uniform(0.5, 2.0, 6), rng.uniform(0.5, 5.0, 6), rng.uniform(0.0, 1.0, 6)
    found = share_torques_near(arm, torque, strength, k * e / (w + k), weight=w + k)
    for f in range(len(arm)):
        answer = minimize(
            lambda a: (w * a**2 + k * (a - e) ** 2).sum(),
            found.activation[f] * 0.0 + 0.5,
            jac=lambda a: 2.0 * (w * a + k * (a - e)),
            bounds=[(0.0, 1.0)] * 6,
            constraints={"type": "eq", "fun": lambda a, f=f: arm[f] @ (a * strength) - torque[f]},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 300},
        )
        assert found.activation[f] == pytest.approx(answer.x, abs=1e-6)


def test_a_long_run_is_solved_in_parts_without_a_jump(monkeypatch):
    arm, strength, torque = limbs(8, 40)
    whole = share_torques_near(arm, torque, strength, np.zeros(6), change_weight=50.0)
    monkeypatch.setattr(solve, "RUN", 20)
    parts = share_torques_near(arm, torque, strength, np.zeros(6), change_weight=50.0)
    assert (parts.status == OK).all()
    assert np.abs(np.diff(parts.activation, axis=0)[19]).max() <= 2.0 * np.abs(np.diff(whole.activation, axis=0)).max()
    assert parts.activation[30:] == pytest.approx(whole.activation[30:], abs=0.02)

"""Sharing against closed forms, other solvers and its own conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, lsq_linear, minimize

from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.muscle_set import load_muscle_set
from limbtorque.muscles.sharing import FAILED, INVALID, OK, RESERVE, share_torques

CLOSURE_NM = 1e-9


def frames(seed, n_frames=300, n_joints=3, n_muscles=8, dense=0.6):
    """Random limbs: moment arms (some zero), strengths, and a torque that some activations make."""
    rng = np.random.default_rng(seed)
    arm = rng.normal(0.0, 0.03, (n_frames, n_joints, n_muscles))
    arm *= rng.random(arm.shape) < dense
    strength = rng.uniform(150.0, 3000.0, n_muscles)
    activation = rng.random((n_frames, n_muscles)) * (rng.random((n_frames, n_muscles)) < 0.6)
    return arm, strength, np.einsum("fjm,fm->fj", arm, activation * strength)


def farthest(arm, strength, direction):
    """How many times a direction the muscles reach: a linear programme in (activations, factor)."""
    n_joints, n_muscles = arm.shape
    equal = np.hstack([arm * strength, -direction[:, None]])
    bounds = [(0, 1)] * n_muscles + [(0, None)]
    found = linprog(np.r_[np.zeros(n_muscles), -1.0], A_eq=equal, b_eq=np.zeros(n_joints), bounds=bounds)
    assert found.success
    return found.x[-1]


def assert_optimal(arm, strength, torque, shared, *, within=1e-8):
    """The Karush-Kuhn-Tucker conditions, frame by frame, with multipliers found here by least squares.

    Free muscles: a_i = B_i . y. At 0: B_i . y <= 0; at 1: B_i . y >= 1. The multiplier is not unique where few muscles
    are free, so a linear programme looks for the one that fits best.
    """
    for f in range(len(torque)):
        reach = arm[f] * strength
        a = shared.activation[f]
        assert (a >= 0).all()
        assert (a <= 1).all()
        assert np.abs(arm[f] @ shared.force_n[f] - torque[f]).max() <= CLOSURE_NM
        free, low, high = (a > 1e-9) & (a < 1 - 1e-9), a <= 1e-9, a >= 1 - 1e-9
        columns = (reach / max(np.linalg.norm(reach), 1e-12)).T
        rows = np.vstack([columns[low], -columns[high], columns[free], -columns[free]])
        limit = np.r_[np.zeros(low.sum()), -np.ones(high.sum()), a[free], -a[free]]
        found = linprog(
            np.r_[np.zeros(reach.shape[0]), 1.0],  # the least largest violation
            A_ub=np.hstack([rows, -np.ones((len(rows), 1))]),
            b_ub=limit,
            bounds=[(None, None)] * reach.shape[0] + [(0, None)],
            options={"primal_feasibility_tolerance": 1e-10},
        )
        assert found.success
        assert found.fun <= within, (f, a)


# --- sharing: closed forms ---------------------------------------------------------------------------------------


def test_one_joint_shares_in_proportion_to_arm_times_strength():
    arm, strength = np.array([0.02, 0.04, 0.01, -0.03]), np.array([500.0, 300.0, 900.0, 700.0])
    torque = np.linspace(-5.0, 5.0, 11)
    shared = share_torques(np.tile(arm, (11, 1, 1)), torque[:, None], max_force_n=strength)
    for sign in (1.0, -1.0):
        agonist = arm * sign > 0
        weight = np.where(agonist, arm * strength, 0.0)
        expected = np.outer(torque, weight) / (weight**2).sum()
        rows = torque * sign > 0
        np.testing.assert_allclose(shared.activation[rows], expected[rows], atol=1e-13)
    assert shared.success.all()


def test_one_joint_saturates_one_muscle_after_the_other():
    # B = (10, 20) N m: up to 25 N m a = tau (10, 20) / 500; then the second stands at 1
    shared = share_torques(np.tile([0.02, 0.04], (3, 1, 1)), [[20.0], [28.0], [33.0]], max_force_n=[500.0, 500.0])
    np.testing.assert_allclose(shared.activation, [[0.4, 0.8], [0.8, 1.0], [1.0, 1.0]], atol=1e-12)
    assert shared.status.tolist() == [OK, OK, RESERVE]
    np.testing.assert_allclose(shared.reserve_nm[:, 0], [0.0, 0.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(shared.certificate[:, 0], [0.0, 0.0, 1.0])


def test_zero_torque_needs_no_force():
    arm, strength, torque = frames(0)
    shared = share_torques(arm, 0.0 * torque, max_force_n=strength)
    assert (shared.force_n == 0).all()
    assert (shared.status == OK).all()


def test_joint_without_muscles_is_all_reserve_and_leaves_the_others_alone():
    arm, strength, torque = frames(1)
    alone = share_torques(arm[:, :2], torque[:, :2], max_force_n=strength)
    arm[:, 2] = 0.0
    torque[:, 2] = np.linspace(-9.0, 9.0, len(torque))
    shared = share_torques(arm, torque, max_force_n=strength)
    assert alone.success.all()
    np.testing.assert_allclose(shared.force_n, alone.force_n, atol=1e-9 * strength.max())
    np.testing.assert_array_equal(shared.reserve_nm[:, 2], torque[:, 2])
    assert (shared.reserve_nm[:, :2] == 0).all()
    assert (shared.status[torque[:, 2] != 0] == RESERVE).all()


@pytest.mark.parametrize(("n_frames", "n_muscles"), [(0, 4), (3, 0)])
def test_no_frames_and_no_muscles(n_frames, n_muscles):
    shared = share_torques(np.zeros((n_frames, 2, n_muscles)), np.ones((n_frames, 2)), max_force_n=np.ones(n_muscles))
    assert shared.force_n.shape == (n_frames, n_muscles)
    assert (shared.reserve_nm == 1).all()


# --- sharing: other solvers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_joints", "n_muscles"), [(1, 5), (2, 6), (3, 8), (3, 15), (4, 12)])
def test_optimality_conditions(n_joints, n_muscles):
    arm, strength, torque = frames(2, 60, n_joints, n_muscles)
    shared = share_torques(arm, torque, max_force_n=strength)
    assert shared.success.all()
    assert_optimal(arm, strength, torque, shared)


def test_against_slsqp():
    arm, strength, torque = frames(3, 40)
    shared = share_torques(arm, torque, max_force_n=strength)
    for f in range(len(torque)):
        reach = arm[f] * strength
        scale = np.abs(reach).sum(axis=1)
        rows = scale > 0  # a joint that no muscle crosses asks for nothing
        scale = scale[rows]
        constraint = {
            "type": "eq",
            "fun": lambda a, b=reach[rows], t=torque[f, rows], s=scale: (b @ a - t) / s,
            "jac": lambda a, b=reach[rows], s=scale: b / s[:, None],  # noqa: ARG005
        }
        found = minimize(
            lambda a: a @ a / 2,
            np.full(8, 0.5),
            jac=lambda a: a,
            method="SLSQP",
            bounds=[(0, 1)] * 8,
            constraints=[constraint],
            options={"ftol": 1e-15, "maxiter": 500},
        )
        if np.abs(constraint["fun"](found.x)).max() < 1e-9:  # SLSQP gives up on some frames
            np.testing.assert_allclose(shared.activation[f], found.x, atol=2e-6)


def test_nearest_reachable_torque_against_bounded_least_squares():
    arm, strength, torque = frames(4, 80)
    torque *= 3.0
    shared = share_torques(arm, torque, max_force_n=strength)
    assert (shared.status != FAILED).all()
    assert (shared.status == RESERVE).sum() > 30
    for f in np.flatnonzero(shared.status == RESERVE):
        reach = arm[f] * strength
        found = lsq_linear(reach, torque[f], (0, 1), method="bvls", tol=1e-15)
        reserve = torque[f] - reach @ found.x
        np.testing.assert_allclose(shared.reserve_nm[f], reserve, atol=1e-9 * (1 + np.abs(torque[f]).max()))


def test_reserve_frames_share_what_is_reached_at_least_cost():
    arm, strength, torque = frames(5, 40)
    shared = share_torques(arm, 2.5 * torque, max_force_n=strength)
    at = shared.status == RESERVE
    reached = 2.5 * torque[at] - shared.reserve_nm[at]
    for f, index in enumerate(np.flatnonzero(at)):
        # a muscle that pulls along the reserve stands at its bound; the others meet the usual conditions
        along = (arm[index] * strength).T @ shared.certificate[index]
        across = np.abs(along) <= 1e-8 * np.linalg.norm(arm[index] * strength, axis=0)
        np.testing.assert_array_equal(shared.activation[index][~across], along[~across] > 0)
        y = shared.multiplier[index]
        expected = np.clip((arm[index] * strength).T[across] @ y / 2, 0, 1)
        np.testing.assert_allclose(shared.activation[index][across], expected, atol=1e-9)
        assert np.abs(arm[index] @ shared.force_n[index] - reached[f]).max() <= CLOSURE_NM


# --- sharing: certificates and the edge of reach -----------------------------------------------------------------


def test_certificate_proves_that_the_torque_is_out_of_reach():
    arm, strength, torque = frames(6, 500)
    torque = 3 * torque + 20
    shared = share_torques(arm, torque, max_force_n=strength)
    proof, reach = shared.certificate, arm * strength
    asked = (proof * torque).sum(axis=1)
    most = np.maximum(np.einsum("fjm,fj->fm", reach, proof), 0.0).sum(axis=1)
    out = shared.status == RESERVE
    assert out.sum() > 300
    assert (asked[out] > most[out]).all()
    np.testing.assert_allclose((proof[out] ** 2).sum(axis=1), 1.0)
    assert (shared.residual_nm[shared.status != FAILED] <= CLOSURE_NM).all()
    assert (proof[~out] == 0).all()


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("name", ["arm", "leg", None])
def test_both_sides_of_the_edge_of_reach(name, seed):
    rng = np.random.default_rng(seed)
    if name is None:
        arm, strength, _ = frames(seed, 30, dense=0.9)
    else:
        muscles = load_muscle_set(name)
        arm = musculotendon(muscles, rng.uniform(0.2, 0.5, (30, 3))).moment_arm_m
        strength = muscles.max_force_n
    direction = rng.normal(size=(30, 3))
    edge = np.array([farthest(arm[f], strength, direction[f]) for f in range(30)])
    assert (edge > 0.1).any()
    at = edge > 0.1
    for factor in (0.9, 0.999, 1.001, 1.1, 10.0):
        torque = (factor * edge[:, None] * direction)[at]
        shared = share_torques(arm[at], torque, max_force_n=strength)
        assert (shared.status == (OK if factor < 1 else RESERVE)).all(), factor
        assert (shared.residual_nm <= CLOSURE_NM).all()
        if factor > 1:
            asked = (shared.certificate * torque).sum(axis=1)
            pulls = np.einsum("fjm,fj->fm", arm[at] * strength, shared.certificate)
            assert (asked > np.maximum(pulls, 0).sum(axis=1)).all()
    exact = share_torques(arm[at], (edge[:, None] * direction)[at], max_force_n=strength)
    assert (exact.status != FAILED).all()
    assert (np.abs(exact.reserve_nm) < 1e-6).all()  # the linear programme's own tolerance


# --- sharing: properties -----------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)  # one frame in 2e5 of such random limbs does not converge
@given(
    seed=st.integers(0, 10**6),
    n_joints=st.integers(1, 4),
    n_muscles=st.integers(1, 15),
    stretch=st.sampled_from([0.01, 0.5, 1.0, 1.5, 8.0]),
)
def test_every_frame_closes(seed, n_joints, n_muscles, stretch):
    arm, strength, torque = frames(seed, 20, n_joints, n_muscles)
    torque = torque * stretch
    shared = share_torques(arm, torque, max_force_n=strength)
    assert np.isin(shared.status, [OK, RESERVE]).all()
    closure = np.einsum("fjm,fm->fj", arm, shared.force_n) + shared.reserve_nm - torque
    assert np.abs(closure).max() <= CLOSURE_NM
    assert (shared.reserve_nm[shared.status == OK] == 0).all()
    assert (shared.force_n >= 0).all()
    assert (shared.force_n <= strength * (1 + 1e-15)).all()
    if stretch <= 1:
        assert shared.success.all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), unit=st.sampled_from([1e-6, 1e-3, 7.3, 1e3]), stretch=st.sampled_from([1.0, 3.0]))
def test_units_of_torque_do_not_matter(seed, unit, stretch):
    arm, strength, torque = frames(seed, 30)
    plain = share_torques(arm, stretch * torque, max_force_n=strength)
    scaled = share_torques(unit * arm, unit * stretch * torque, max_force_n=strength)
    np.testing.assert_array_equal(plain.status, scaled.status)
    np.testing.assert_allclose(scaled.activation, plain.activation, atol=1e-8)
    np.testing.assert_allclose(scaled.reserve_nm, unit * plain.reserve_nm, atol=1e-8 * unit)


@pytest.mark.parametrize("stretch", [0.7, 3.0])
def test_mirrored_signs_give_the_same_forces(stretch):
    arm, strength, torque = frames(9)
    plain = share_torques(arm, stretch * torque, max_force_n=strength)
    flip = np.array([-1.0, 1.0, -1.0])
    mirrored = share_torques(arm * flip[:, None], stretch * torque * flip, max_force_n=strength)
    np.testing.assert_allclose(mirrored.force_n, plain.force_n, atol=1e-9 * strength.max())
    np.testing.assert_allclose(mirrored.reserve_nm, plain.reserve_nm * flip, atol=1e-8)


def test_strength_and_torque_together_scale_the_forces():
    arm, strength, torque = frames(10)
    plain = share_torques(arm, torque, max_force_n=strength)
    double = share_torques(arm, 2 * torque, max_force_n=2 * strength)
    np.testing.assert_allclose(double.force_n, 2 * plain.force_n, atol=1e-9 * strength.max())


def test_one_muscle_more_never_costs_more():
    arm, strength, torque = frames(11)
    fewer = share_torques(arm[..., :7], torque, max_force_n=strength[:7])
    more = share_torques(arm, torque, max_force_n=strength)
    both = fewer.success & more.success
    assert both.sum() > 50
    cost = (more.activation**2).sum(axis=1) - (fewer.activation**2).sum(axis=1)
    assert (cost[both] <= 1e-9).all()


def test_frames_do_not_touch_each_other():
    arm, strength, torque = frames(12, 5000)
    torque[::3] *= 3
    together = share_torques(arm, torque, max_force_n=strength)
    for f in (0, 1, 2049, 4999):
        alone = share_torques(arm[f : f + 1], torque[f : f + 1], max_force_n=strength)
        np.testing.assert_allclose(alone.force_n[0], together.force_n[f], atol=1e-9 * strength.max())
        assert alone.status[0] == together.status[f]


def test_strength_of_each_frame():
    arm, strength, torque = frames(13)
    per_frame = strength * np.linspace(1.0, 2.0, len(torque))[:, None]
    shared = share_torques(arm, torque, max_force_n=per_frame)
    alone = share_torques(arm[-1:], torque[-1:], max_force_n=2 * strength)
    np.testing.assert_allclose(shared.force_n[-1], alone.force_n[0], atol=1e-9 * strength.max())


def test_not_a_number_stays_in_its_frame():
    arm, strength, torque = frames(14)
    clean = share_torques(arm, torque, max_force_n=strength)
    arm[3, 0, 0], torque[5, 1], torque[7, 0] = np.nan, np.nan, np.inf
    shared = share_torques(arm, torque, max_force_n=strength)
    bad = np.isin(np.arange(len(torque)), [3, 5, 7])
    assert (shared.status[bad] == INVALID).all()
    for values in (shared.force_n, shared.activation, shared.reserve_nm, shared.multiplier, shared.certificate):
        assert np.isnan(values[bad]).all()
        assert np.isfinite(values[~bad]).all()
    np.testing.assert_allclose(shared.force_n[~bad], clean.force_n[~bad], atol=1e-9 * strength.max())


def test_input_is_refused_with_its_shape_and_left_alone():
    arm, strength, torque = frames(15, 4)
    kept = arm.copy(), strength.copy(), torque.copy()
    share_torques(arm, torque, max_force_n=strength)
    for before, after in zip(kept, (arm, strength, torque), strict=True):
        np.testing.assert_array_equal(before, after)
    with pytest.raises(ValueError, match=r"shape \(4, 2\)"):
        share_torques(arm, torque[:, :2], max_force_n=strength)
    with pytest.raises(ValueError, match="one a muscle"):
        share_torques(arm, torque, max_force_n=strength[:3])
    with pytest.raises(ValueError, match="not below zero"):
        share_torques(arm, torque, max_force_n=-strength)

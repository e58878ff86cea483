"""Parts of the solvers of static optimization, each against a closed form or another solver, frame by frame."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import limbtorque.muscles.static_optimization.reachable as reachable
from limbtorque.muscles.static_optimization.criteria import (
    FAILED,
    INVALID,
    OK,
    RESERVE,
    Answer,
    Block,
    Criterion,
    certify,
)
from limbtorque.muscles.static_optimization.dual import Frames, newton_step, response, top
from limbtorque.muscles.static_optimization.solve import share_torques

FRAMES = 30


def limbs(joints, seed, muscles=6):
    """Scaled moment arms, some zero, bounds, and torques that some activations make; frames are the last axis."""
    rng = np.random.default_rng(seed)
    reach = rng.normal(size=(joints, muscles, FRAMES)) * (rng.random((joints, muscles, 1)) < 0.8)
    low = rng.uniform(0.0, 0.2, (muscles, FRAMES))
    high = rng.uniform(0.5, 1.0, (muscles, FRAMES))
    torque = np.einsum("jmf,mf->jf", reach, rng.uniform(low, high))
    return reach, torque, low, high


# --- the line search -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_the_top_of_the_dual_is_the_zero_of_its_slope(seed, stiffness):
    """The slope rise - bend s - sum c clip(pull + s c, low, high) never grows; SciPy finds its zero by bisection."""
    rng = np.random.default_rng(seed)
    pull, change = rng.normal(size=(2, 5, FRAMES))
    change[0, ::3] = 0.0  # a muscle that the step leaves alone
    low, high = rng.uniform(0.0, 0.2, (5, FRAMES)), rng.uniform(0.5, 1.0, (5, FRAMES))
    bend = np.full(FRAMES, stiffness)
    made = (change * np.clip(pull, low, high)).sum(axis=0)
    most = np.maximum(change * low, change * high).sum(axis=0)
    rise = made + rng.uniform(0.1, 0.9, FRAMES) * (most - made)  # a slope that is above zero at 0, below it far out
    first = rise - made

    def slope(s, f):
        return (
            rise[f] - bend[f] * s - (change[:, f] * np.clip(pull[:, f] + s * change[:, f], low[:, f], high[:, f])).sum()
        )

    usable = first > 1e-6
    assert usable.sum() > FRAMES // 2
    found = top(pull, change, low, high, first, rise, bend)
    for f in np.flatnonzero(usable):
        assert slope(found[f], f) == pytest.approx(0.0, abs=1e-9)
        assert found[f] == pytest.approx(brentq(slope, 0.0, 1e6, args=(f,), xtol=1e-12), abs=1e-6) or (
            abs(slope(found[f] - 1e-6, f)) < 1e-12  # level there: any point of the top
        )


def test_beyond_all_bounds_the_slope_falls_by_the_bend_alone():
    """One muscle at its bound of 1: the slope is 5 - 2 s - 1, zero at 2; without a bend it never is, and the bound counts."""
    one = np.ones((1, 1))
    for bend, expected in ((2.0, 2.0), (0.0, 1.0)):
        found = top(0.0 * one, one, 0.0 * one, one, np.array([5.0]), np.array([5.0]), np.array([bend]))
        assert found == pytest.approx([expected])


@pytest.mark.parametrize("exponent", [2.0, 2.5, 3.0])
def test_the_answer_to_a_pull_costs_as_much_at_the_margin(exponent):
    """Where it is free, the derivative p b^(p-1) of its cost is the pull."""
    pull = np.linspace(-1.0, 9.0, 41)[None]
    low, high = np.full_like(pull, 0.05), np.full_like(pull, 0.9)
    found = response(pull, low, high, exponent)
    marginal = exponent * found ** (exponent - 1.0)
    free = (found > 0.05) & (found < 0.9)
    assert free.any()
    np.testing.assert_allclose(marginal[free], pull[free])
    assert (marginal[found == 0.05] >= pull[found == 0.05]).all()
    assert (marginal[found == 0.9] <= pull[found == 0.9]).all()
    assert (found[pull <= 0] == 0.05).all()


# --- small torques ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [2.0, 3.0, math.inf])
@pytest.mark.parametrize("power", [3, 10, 20, 40])
def test_tiny_activations_are_as_exact_as_others_in_any_unit(power, exponent):
    """One joint: a ~ reach^(1 / (p - 1)). The muscles make 2^k together, the torque is 2^-k: a whole multiple of one over it."""
    reach = np.array([0.5, 0.25, 0.25]) * 2.0**power
    found = share_torques([[[0.5, 0.25, 0.25]]], [[2.0**-power]], 2.0**power * np.ones(3), exponent=exponent)
    shape = reach ** (0.0 if math.isinf(exponent) else 1.0 / (exponent - 1.0))
    expected = shape * 2.0**-power / (reach @ shape)
    assert found.status.tolist() == [0]
    np.testing.assert_allclose(found.activation, [expected], rtol=1e-8)


# --- certificates ----------------------------------------------------------------------------------------------------


def certified(share, multiplier, exponent, *, torque=1.0, high=1.0, held=None, low=0.0):
    """Cost and gap of two muscles with a reach of 1 each at one joint, in one frame."""
    share = np.array(share)[:, None]
    bound = np.ones((2, 1))
    frames = Block(np.ones((1, 2, 1)), np.full((1, 1), torque), low * bound, high * bound, np.ones((1, 1)))
    found = Answer(share, np.full((1, 1), multiplier), np.zeros((1, 1)), np.ones(1, dtype=np.int64))
    criterion = Criterion(exponent)
    if held is not None:
        held = np.array(held)[:, None]
        frames = frames.without(held, share)
    return [float(value[0]) for value in certify(frames, found, criterion, held=held)]


@pytest.mark.parametrize(
    ("share", "multiplier", "exponent", "cost", "bound"),
    [
        ((0.5, 0.5), 1.0, 2.0, 0.5, 0.5),  # y - 2 (y / 2)^2
        ((0.8, 0.2), 1.0, 2.0, 0.68, 0.5),
        ((0.5, 0.5), 0.4, 2.0, 0.5, 0.32),
        ((0.5, 0.5), 0.75, 3.0, 0.25, 0.25),  # y - 2 (y b - b^3) with b = (y / 3)^(1/2)
        ((0.8, 0.2), 0.75, 3.0, 0.52, 0.25),
        ((0.5, 0.5), 1.0, math.inf, 0.5, 0.5),
        ((0.8, 0.2), 1.0, math.inf, 0.8, 0.5),
        ((0.8, 0.2), -1.0, math.inf, 0.8, 0.0),  # a normal that proves nothing
    ],
)
def test_the_gap_is_the_cost_above_the_bound_of_the_multiplier(share, multiplier, exponent, cost, bound):
    """Weak duality by hand, as a part of the cost."""
    assert certified(share, multiplier, exponent) == pytest.approx([cost, (cost - bound) / cost], abs=1e-12)


@pytest.mark.parametrize(("exponent", "multiplier", "cost"), [(2.0, 0.8, 0.52), (math.inf, 1.0, 0.6)])
def test_held_muscles_cost_and_have_no_gap(exponent, multiplier, cost):
    """One is held at 0.6, the other makes the rest as it must."""
    assert certified((0.6, 0.4), multiplier, exponent, held=(True, False)) == pytest.approx([cost, 0.0], abs=1e-12)


def test_the_least_activations_bound_the_largest_one():
    """Both at their least, 0.3: no multiplier is needed."""
    assert certified((0.3, 0.3), 1.0, math.inf, torque=0.6, low=0.3) == pytest.approx([0.3, 0.0], abs=1e-12)


@pytest.mark.parametrize("exponent", [2.0, 3.0, math.inf])
def test_nothing_costs_nothing(exponent):
    assert certified((0.0, 0.0), 0.0, exponent, torque=0.0) == [0.0, 0.0]


# --- what is tried last ----------------------------------------------------------------------------------------------


def test_bounded_least_squares_answer_where_no_other_method_does():
    """Every muscle at one joint of its own: the reserve is the torque beyond what they make. One cannot change at all."""
    reach = np.zeros((2, 4, 3))
    reach[0, 0], reach[0, 1], reach[1, 2], reach[1, 3] = 2.0, -1.0, 1.0, 3.0
    low, high = np.array([[0.1], [0.2], [0.3], [0.0]]), np.array([[1.0], [1.0], [0.3], [0.5]])
    torque = np.array([[5.0, -2.0, 1.0], [0.9, 2.5, -1.0]])
    problem = Frames(reach, torque, low, high)
    found = reachable._settled(problem, *reachable._one_by_one(problem))
    most, least = np.array([2.0 - 0.2, 0.3 + 1.5]), np.array([0.2 - 1.0, 0.3])
    expected = torque - np.clip(torque, least[:, None], most[:, None])
    np.testing.assert_allclose(found.reserve, expected, atol=1e-9)
    assert not found.failed.any()
    np.testing.assert_allclose(np.einsum("jmf,mf->jf", reach, found.activation), torque - expected, atol=1e-9)
    np.testing.assert_allclose(found.activation[2], 0.3)
    assert (found.iterations > 0).all()


@pytest.mark.parametrize("joints", [1, 2, 3])
def test_as_many_frames_as_joints_are_projected_too(joints):
    """A muscle of 2 N m at each joint, a torque of 5 N m at the first ones: 3 N m are beyond reach there."""
    reach = np.repeat(2.0 * np.eye(joints)[..., None], joints, axis=2)
    torque = np.triu(np.full((joints, joints), 5.0))
    low, high = np.zeros((joints, joints)), np.ones((joints, joints))
    np.testing.assert_allclose(
        reachable.nearest(Frames(reach, torque, low, high)).reserve, np.maximum(torque - 2.0, 0.0), atol=1e-9
    )


def test_status_of_a_frame_by_its_documented_number():
    """0: the muscles alone, 1: with a reserve, 2: a number is missing (docs of `StaticOptimization`); 3: no proven solution."""
    found = share_torques([[[0.05]]] * 3, [[10.0], [90.0], [math.nan]], [1000.0])
    assert found.status.tolist() == [0, 1, 2]
    assert found.reserve_nm[:2].tolist() == [[0.0], [pytest.approx(40.0)]]
    assert (OK, RESERVE, INVALID, FAILED) == (0, 1, 2, 3)


@pytest.mark.parametrize("joints", [1, 2, 3, 4, 5])
def test_newton_step_solves_the_weighted_normal_equations(joints):
    reach, torque, low, high = limbs(joints, 10 + joints, muscles=9)
    slope = low + high
    weight = np.full((joints, FRAMES), 0.1)
    step = newton_step(reach, slope, torque, weight)
    matrix = np.einsum("imf,mf,jmf->fij", reach, slope, reach) + 0.1 * np.eye(joints)
    np.testing.assert_allclose(step, np.linalg.solve(matrix, torque.T[..., None])[..., 0].T, rtol=1e-8, atol=1e-10)

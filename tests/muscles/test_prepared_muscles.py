"""Prepared muscles: one frame a call gives what all frames at once do, what quadprog does, and closed forms."""

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbtorque.muscles.static_optimization import prepared
from limbtorque.muscles.static_optimization.prepared import PreparedMuscles
from limbtorque.muscles.static_optimization.solve import FAILED, INVALID, OK, RESERVE, StaticOptimization, share_torques

SAME = 1e-9  # of the strength
CLOSURE_NM = 1e-9


def limb(seed, n_joints, n_muscles, stretch):
    """Moment arms (some zero), strengths, and the torque of some activations times a stretch (0: rest)."""
    rng = np.random.default_rng(seed)
    arm = rng.normal(0.0, 0.03, (n_joints, n_muscles)) * (rng.random((n_joints, n_muscles)) < 0.7)
    strength = rng.uniform(150.0, 3000.0, n_muscles)
    activation = rng.random(n_muscles) * (rng.random(n_muscles) < 0.6)
    return arm, strength, arm @ (activation * strength) * stretch


def options(seed, n_muscles):
    """Weights, bounds and norms, each in about half of the cases."""
    rng = np.random.default_rng(seed + 1)
    low = rng.uniform(0.0, 0.1, n_muscles)
    every = {
        "weight": rng.uniform(0.5, 2.0, n_muscles),
        "norm_n": rng.uniform(100.0, 900.0, n_muscles),
        "min_activation": low,
        "max_activation": low + rng.uniform(0.1, 0.9, n_muscles),
        "reserve": "none",
    }
    return {name: value for name, value in every.items() if rng.random() < 0.4}


def several(arm, torque, strength, **more):
    """The same frame by the function for many."""
    one = share_torques(arm[None], torque[None], strength, **more)
    return StaticOptimization(*(getattr(one, field.name)[0] for field in fields(one)))


def assert_same(found, expected, strength):
    assert found.status == expected.status
    for field in fields(StaticOptimization):
        assert np.shape(getattr(found, field.name)) == np.shape(getattr(expected, field.name)), field.name
    np.testing.assert_allclose(found.force_n, expected.force_n, rtol=0.0, atol=SAME * strength.max(initial=1.0))
    np.testing.assert_allclose(found.activation, expected.activation, rtol=0.0, atol=SAME)
    np.testing.assert_allclose(found.reserve_nm, expected.reserve_nm, rtol=1e-9, atol=CLOSURE_NM)
    np.testing.assert_allclose(found.cost, expected.cost, rtol=1e-8, atol=1e-15)


@settings(deadline=None, max_examples=200)
@given(
    seed=st.integers(0, 2**32 - 2),
    n_joints=st.integers(1, 4),
    n_muscles=st.integers(0, 12),
    stretch=st.sampled_from([0.0, 1e-6, 0.01, 0.5, 0.999, 1.0, 3.0]),
)
def test_one_frame_is_that_of_many(seed, n_joints, n_muscles, stretch):
    arm, strength, torque = limb(seed, n_joints, n_muscles, stretch)
    more = options(seed, n_muscles)
    found = PreparedMuscles(strength, **more).share_torques(arm, torque)
    expected = several(arm, torque, strength, **more)
    assert_same(found, expected, strength)
    if found.status == OK:
        assert np.abs(arm @ found.force_n - torque).max() <= CLOSURE_NM
        assert found.residual_nm <= CLOSURE_NM
        assert abs(found.duality_gap) <= 1e-9
        assert bool(found.success)


def test_two_flexors_share_in_proportion_to_arm_times_strength():
    muscles = PreparedMuscles([500.0, 500.0, 800.0])
    found = muscles.share_torques([[0.02, 0.04, -0.02]], [10.0])
    np.testing.assert_allclose(found.force_n, [100.0, 200.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(found.cost, 0.2**2 + 0.4**2)
    np.testing.assert_allclose(found.multiplier, 2.0 * 0.2 / 10.0)  # of 2 a / (r F)


def test_one_muscle_makes_the_torque_or_leaves_a_reserve():
    muscle = PreparedMuscles([1000.0])
    np.testing.assert_allclose(muscle.share_torques([[0.05]], [20.0]).force_n, [400.0])
    beyond = muscle.share_torques([[0.05]], [70.0])
    assert (beyond.status, beyond.force_n.tolist()) == (RESERVE, [1000.0])
    np.testing.assert_allclose(beyond.reserve_nm, [20.0])
    wrong_way = muscle.share_torques([[0.05]], [-5.0])
    assert (wrong_way.status, wrong_way.force_n.tolist()) == (RESERVE, [0.0])


def test_muscles_at_their_bounds_leave_the_rest_to_the_others():
    """The first is weak: at its largest activation the second makes what is left."""
    found = PreparedMuscles([100.0, 1000.0], max_activation=[0.3, 1.0], min_activation=[0.0, 0.1]).share_torques(
        [[0.05, 0.01]], [9.5]
    )
    np.testing.assert_allclose(found.activation, [0.3, 0.8])
    held = PreparedMuscles([100.0, 1000.0], min_activation=[0.0, 0.1]).share_torques([[0.05, 0.01]], [1.1])
    np.testing.assert_allclose(held.activation, [0.02, 0.1])


@pytest.mark.parametrize("more", [{"exponent": 3.0}, {"exponent": "min_max"}, {"exponent": 1.5, "reserve": 2.0}])
def test_other_costs_are_those_of_many_frames(more):
    arm, strength, torque = limb(3, 3, 9, 0.9)
    found = PreparedMuscles(strength, **more).share_torques(arm, torque)
    expected = several(arm, torque, strength, **more)
    for field in fields(StaticOptimization):
        np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["arm", "torque", "strength"])
def test_numbers_that_are_not_finite_make_an_invalid_frame(bad, where):
    arm, strength, torque = limb(1, 2, 5, 0.9)
    {"arm": arm[0], "torque": torque, "strength": strength}[where][0] = bad
    found = PreparedMuscles(strength).share_torques(arm, torque)
    assert found.status == INVALID
    assert np.isnan(found.force_n).all()


@pytest.mark.parametrize("part", [1e-9, 1e-3])
@pytest.mark.parametrize("wrong", ["torque", "cost"])
def test_an_answer_without_its_certificate_is_not_given(monkeypatch, part, wrong):
    """A torque that is off, or one that closes at too high a cost: the frame goes to the other solver."""
    arm, strength, torque = np.array([[0.02, 0.04, -0.02]]), np.array([500.0, 500.0, 800.0]), np.array([10.0])
    right, newton = PreparedMuscles(strength), prepared._newton

    def off(reach, *rest):
        y, b, count = newton(reach, *rest)
        change = [1.0, 0.0, 0.0] if wrong == "torque" else [1.0, 0.0, reach[0, 0] / -reach[0, 2]]
        return y, b + (part if wrong == "torque" else math.sqrt(part)) * np.array(change), count

    expected = right.share_torques(arm, torque)
    monkeypatch.setattr(prepared, "_newton", off)
    assert right._quadratic.within_reach(arm, torque) is None
    np.testing.assert_allclose(right.share_torques(arm, torque).force_n, expected.force_n, atol=SAME * 800.0)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"max_force_n": [[1.0, 2.0]]}, r"max_force_n has shape \(1, 2\), expected \(n_muscles,\)"),
        ({"norm_n": [1.0]}, r"norm_n has shape \(1,\), expected \(2,\)"),
        ({"exponent": "min_max", "reserve": 1.0}, "a priced reserve has no meaning for exponent inf"),
    ],
)
def test_mistakes_are_named_when_the_muscles_are_prepared(more, message):
    with pytest.raises(ValueError, match=message):
        PreparedMuscles(**{"max_force_n": [1.0, 2.0], **more})


@pytest.mark.parametrize(("arm", "torque"), [((2, 3), (2,)), ((2, 2), (1,)), ((2, 2), (2, 1)), ((2,), (2,))])
def test_shapes_of_a_frame_are_checked(arm, torque):
    with pytest.raises(ValueError, match=r"moment arms have shape .*; expected \(n_joints, 2\) and \(n_joints,\)"):
        PreparedMuscles([1.0, 2.0]).share_torques(np.ones(arm), np.ones(torque))


def test_no_frame_fails():
    found = [PreparedMuscles(strength).share_torques(arm, torque) for arm, strength, torque in map(edge, range(60))]
    assert FAILED not in {int(one.status) for one in found}


def edge(seed):
    """A torque at the edge of reach: every muscle fully active or at rest."""
    rng = np.random.default_rng(seed)
    arm, strength, _ = limb(seed, 2, 6, 1.0)
    return arm, strength, arm @ (strength * rng.integers(0, 2, 6)) * rng.choice([0.999, 1.0, 1.001])


def test_squares_against_quadprog():
    """quadprog gives no answer where a torque is at the edge of reach."""
    quadprog = pytest.importorskip("quadprog")
    answered, one, zero = 0, np.eye(9), np.zeros(9)
    for seed in range(60):
        arm, strength, torque = limb(seed, 3, 9, 1.0)
        crossed = (arm != 0.0).any(axis=1)
        scale = 1.0 / (np.abs(arm) @ strength)[crossed]
        reach, target = (arm * strength)[crossed] * scale[:, None], torque[crossed] * scale
        constraints, limits = np.hstack([reach.T, one, -one]), np.r_[target, zero, zero - 1.0]
        try:
            expected = quadprog.solve_qp(one, zero, constraints, limits, len(target))[0]
        except ValueError:
            continue
        answered += 1
        found = PreparedMuscles(strength).share_torques(arm, torque)
        np.testing.assert_allclose(found.activation, expected, atol=1e-8)
    assert answered >= 55

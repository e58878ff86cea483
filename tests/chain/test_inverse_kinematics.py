"""Joint angles from places: closed forms against many digits, the fit of a rigid chain against a general solver.

Forward kinematics are typed here once more, as complex numbers; no expression is shared with the package.
"""

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares

from chains import same
from limbtorque.chain.inverse import fit_rigid_chain, joint_motion, two_link_angles
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import Chain
from limbtorque.simulation.reach import minimum_jerk

EPS = np.finfo(float).eps
BENDS = pytest.mark.parametrize("bend", ["positive", "negative"])


def plane(numbers):
    return np.stack([np.real(numbers), np.imag(numbers)], axis=-1)


def ends(length, angle):
    """Joints and endpoint of a chain from the origin, as complex numbers, shape (n_frames, n_links + 1)."""
    steps = np.asarray(length) * np.exp(1j * np.cumsum(angle, axis=1))
    return np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)


# --- two links -------------------------------------------------------------------------------------------------------


@BENDS
@given(
    st.tuples(st.floats(0.05, 1.0), st.floats(0.05, 1.0)),
    st.floats(0.001, 0.999),
    st.floats(-np.pi, np.pi),
    st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)),
)
def test_the_angles_found_lead_to_the_target(bend, lengths, share, direction, base):
    """All quadrants, both bends, any base: to some eight roundings of places and reach."""
    shortest, longest = abs(lengths[0] - lengths[1]), sum(lengths)
    away = (shortest + share * (longest - shortest)) * np.exp(1j * direction)
    target = plane(np.array([away])) + base
    found = two_link_angles(lengths, target, bend=bend, base_m=base)
    reached = plane(ends(lengths, found.angle_rad)[:, 2]) + base
    np.testing.assert_allclose(reached, target, rtol=0.0, atol=8 * EPS * (longest + 3.0))
    assert (found.angle_rad[0, 1] > 0.0) == (bend == "positive")
    assert abs(found.angle_rad[0, 1]) < np.pi
    assert found.shift_m.tolist() == [0.0]


@BENDS
def test_nearly_straight_links_are_as_accurate_as_their_lengths_allow(bend):
    """A share s short of full stretch, the angle is about 2 sqrt(2 s) times a constant; 40 digits for the right one.

    A rounding error of the distance changes it by eps / (2 s) of itself: that is allowed, four times for the sums and
    squares on the way. The place reached is right to rounding all the same.
    """
    lengths, sign = (0.31, 0.27), 1.0 if bend == "positive" else -1.0
    for short in 10.0 ** -np.arange(1.0, 15.0):
        x = sum(lengths) * (1.0 - short)
        found = two_link_angles(lengths, [[x, 0.0]], bend=bend).angle_rad
        with mpmath.workdps(40):
            first, second, distance = (mpmath.mpf(number) for number in (*lengths, x))
            bent = mpmath.acos((distance**2 - first**2 - second**2) / (2 * first * second))
            shoulder = -mpmath.atan2(second * mpmath.sin(bent), first + second * mpmath.cos(bent))
            expected = sign * np.array([float(shoulder), float(bent)])
        np.testing.assert_allclose(found[0], expected, rtol=8 * EPS / (2 * short), atol=0.0)
        np.testing.assert_allclose(ends(lengths, found)[0, 2], x, rtol=0.0, atol=10 * EPS)


@BENDS
def test_the_limits_of_reach_are_within_reach(bend):
    """Straight at the longest; folded at the shortest."""
    straight = two_link_angles([0.3, 0.2], [[0.0, 0.5], [-0.5, 0.0]], bend=bend).angle_rad
    # a last digit of the distance is an angle of sqrt(eps), which is no more than that digit at the endpoint
    np.testing.assert_allclose(straight, [[np.pi / 2, 0.0], [np.pi, 0.0]], rtol=0.0, atol=4 * np.sqrt(EPS))
    folded = two_link_angles([0.3, 0.2], [[0.1, 0.0]], bend=bend).angle_rad
    np.testing.assert_allclose(np.abs(folded), [[0.0, np.pi]], rtol=0.0, atol=10 * np.sqrt(EPS))


@BENDS
def test_equal_links_reach_as_near_to_the_base_as_one_likes_but_not_the_base(bend):
    """At a distance r the fold is 2 asin(r / 2 L) short of pi, and the first link stands across the target's direction.

    At the base itself every direction of the first link is right; at r it is right to a rounding of places over r.
    """
    sign = 1.0 if bend == "positive" else -1.0
    for near in (1e-2, 1e-5, 1e-9):
        found = two_link_angles([0.3, 0.3], [[near, 0.0]], bend=bend)
        half = np.arcsin(near / 0.6)
        expected = sign * np.array([[half - np.pi / 2, np.pi - 2 * half]])
        np.testing.assert_allclose(found.angle_rad, expected, rtol=0.0, atol=4 * EPS * (np.pi + 0.6 / near))
        np.testing.assert_allclose(ends([0.3, 0.3], found.angle_rad)[0, 2], near, rtol=0.0, atol=4 * EPS)
        assert found.shift_m.tolist() == [0.0]
    for lengths, unreachable in (([0.3, 0.3], "error"), ([0.3, 0.2], "project")):
        with pytest.raises(ValueError, match=r"target_m\[1\] is at the base"):
            two_link_angles(lengths, [[0.3, 0.0], [0.0, 0.0]], bend=bend, unreachable=unreachable)


def test_a_target_out_of_reach_only_by_rounding_is_reached():
    found = two_link_angles([0.03, 0.02], [[0.05 * (1 + 1e-15), 0.0]], bend="positive")
    assert found.shift_m.tolist() == [0.0]
    same(found.angle_rad, [[0.0, 0.0]])
    with pytest.raises(ValueError, match="out of reach"):
        two_link_angles([0.03, 0.02], [[0.05 * (1 + 1e-11), 0.0]], bend="positive")


@BENDS
def test_projection_takes_the_nearest_point_within_reach(bend):
    """On the outer or inner circle, in the direction of the target; the distance is what was missing."""
    base, rng = np.array([0.4, -0.2]), np.random.default_rng(1)
    direction = rng.uniform(-np.pi, np.pi, 8)
    distance = np.array([0.9, 0.51, 0.09, 0.01, 0.1001, 0.4999, 5.0, 0.3])
    circle = np.array([0.5, 0.5, 0.1, 0.1, 0.1001, 0.4999, 0.5, 0.3])
    target = base + plane(distance * np.exp(1j * direction))
    found = two_link_angles([0.3, 0.2], target, base_m=base, bend=bend, unreachable="project")
    same(found.shift_m, np.abs(distance - circle), scale=5.0)
    reached = base + plane(ends([0.3, 0.2], found.angle_rad)[:, 2])
    # two lengths that are longer or shorter together by a rounding error leave sqrt(eps) of an angle but eps of a place
    same(reached, base + plane(circle * np.exp(1j * direction)), scale=5.0)
    assert found.shift_m[[4, 5, 7]].tolist() == [0.0, 0.0, 0.0]


@BENDS
def test_angles_do_not_jump_where_the_path_winds_round_the_base(bend):
    """Three turns: the first angle gains three turns, step by step as the target does."""
    phase = np.linspace(0.0, 6.0 * np.pi, 601)
    distance = 0.3 + 0.1 * np.sin(phase / 3.0)
    found = two_link_angles([0.31, 0.27], plane(distance * np.exp(1j * phase)), bend=bend).angle_rad
    assert found[-1, 0] - found[0, 0] == pytest.approx(6.0 * np.pi, abs=1e-12)
    # a step of the target turns it by 0.0315; the bend turns the first link by less than as much again
    assert np.abs(np.diff(found, axis=0)).max() < 0.07
    same(ends([0.31, 0.27], found)[:, 2], distance * np.exp(1j * phase))


# --- derivatives of the angles ---------------------------------------------------------------------------------------


@BENDS
def test_joint_motion_is_that_of_the_closed_form_along_a_path(bend):
    """The textbook formula (law of cosines) along a minimum-jerk path, differentiated with 40 digits.

    Inverting J amplifies rounding by its condition number, here below 10, once for each derivative.
    """
    lengths, start, end, duration = (0.31, 0.27), (0.12, -0.35), (0.33, 0.21), 0.8
    time = np.linspace(0.0, duration, 9)
    path = minimum_jerk(time, start=start, end=end, duration_s=duration)
    chain = Chain(lengths, [1, 1], [0.1, 0.1], [1, 1])
    angle = two_link_angles(lengths, path.position, bend=bend).angle_rad
    moves = {"velocity_m_s": path.velocity, "acceleration_m_s2": path.acceleration, "jerk_m_s3": path.jerk}
    found = joint_motion(chain, angle, **moves)
    sign = 1 if bend == "positive" else -1

    def formula(joint):
        first, second = (mpmath.mpf(number) for number in lengths)

        def angle_at(t):
            u = t / mpmath.mpf(duration)
            share = 10 * u**3 - 15 * u**4 + 6 * u**5
            x, y = (mpmath.mpf(a) + (mpmath.mpf(b) - mpmath.mpf(a)) * share for a, b in zip(start, end, strict=True))
            bent = sign * mpmath.acos((x**2 + y**2 - first**2 - second**2) / (2 * first * second))
            if joint == 1:
                return bent
            return mpmath.atan2(y, x) - mpmath.atan2(second * mpmath.sin(bent), first + second * mpmath.cos(bent))

        return angle_at

    with mpmath.workdps(40):
        expected = [
            [[float(mpmath.diff(formula(joint), mpmath.mpf(t), order)) for joint in (0, 1)] for t in time]
            for order in range(4)
        ]
    same(angle, expected[0])
    for order, values in enumerate((found.velocity_rad_s, found.acceleration_rad_s2, found.jerk_rad_s3), 1):
        same(values, expected[order], scale=10.0**order)


# --- minimum jerk ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_coordinates", [1, 2, 5])
def test_minimum_jerk_is_the_polynomial_and_its_derivatives(n_coordinates):
    """The quintic that starts and ends at rest, found by sympy from these six conditions."""
    t, duration = sp.symbols("t D", positive=True)
    unknown = sp.symbols("c0:6")
    share = sum(c * t**k for k, c in enumerate(unknown))
    at_rest = [share.diff(t, k).subs(t, moment) for k in (1, 2) for moment in (0, duration)]
    conditions = [share.subs(t, 0), share.subs(t, duration) - 1, *at_rest]
    share = share.subs(sp.solve(conditions, unknown))
    rng = np.random.default_rng(n_coordinates)
    start, end = rng.normal(size=(2, n_coordinates))
    time = np.linspace(0.0, 1.7, 21)
    found = minimum_jerk(time, start=start, end=end, duration_s=1.7)
    for order, name in enumerate(("position", "velocity", "acceleration", "jerk")):
        values = sp.lambdify([t, duration], share.diff(t, order))(time, 1.7)
        expected = np.outer(values, end - start) + (start if order == 0 else 0.0)
        same(getattr(found, name), expected, scale=100.0)  # terms of the sum reach 60 for a sum of 1


def test_minimum_jerk_is_at_rest_before_and_after():
    found = minimum_jerk([-1.0, -1e-9, 2.0 + 1e-9, 7.0], start=[1.0, 2.0], end=[3.0, -4.0], duration_s=2.0)
    np.testing.assert_array_equal(found.position, [[1.0, 2.0], [1.0, 2.0], [3.0, -4.0], [3.0, -4.0]])
    for name in ("velocity", "acceleration", "jerk"):
        assert not getattr(found, name).any()


# --- the fit of a rigid chain ----------------------------------------------------------------------------------------


def recorded(rng, n, frames, noise):
    """Lengths, a smooth movement of a chain on a moving base, and its joints with noise, as complex numbers."""
    length = rng.uniform(0.15, 0.45, n)
    phase = np.linspace(0.0, 2.0, frames)[:, None]
    angle = rng.uniform(-2.5, 2.5, n) + rng.uniform(0.3, 0.9, n) * np.sin(rng.uniform(1.0, 4.0, n) * phase)
    base = rng.normal() + 1j * rng.normal() + 0.2 * np.exp(1j * phase)
    exact = base + ends(length, angle)
    errors = rng.normal(size=exact.shape) + 1j * rng.normal(size=exact.shape)
    return length, angle, base[:, 0], exact + noise * errors


def assert_no_slope(measured, fit):
    """The last step is below 1e-12; times a curvature of up to the number of frames and joints, 200."""
    by_base, by_orientation, by_length = slopes(measured, fit)
    for slope in (by_base, by_orientation, by_length.sum(axis=0)):
        assert np.abs(slope).max() < 1e-12 * 200


def slopes(measured, fit):
    """Gradient of half the sum of squares: by base, orientations and lengths, each frame by frame."""
    theta = np.cumsum(fit.angle_rad, axis=1)
    direction = np.exp(1j * theta)
    fitted = fit.base_m @ [1.0, 1j]
    off = fitted[:, None] + ends(fit.length_m, fit.angle_rad) - measured
    beyond = np.cumsum(off[:, ::-1], axis=1)[:, ::-1][:, 1:]  # sum of the errors of all joints beyond a link
    pull = np.conj(direction) * beyond
    return off.sum(axis=1), fit.length_m * pull.imag, pull.real


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_exact_joints_give_back_the_chain(n):
    """Base a metre away: lengths, angles and places are right to rounding of that metre."""
    length, angle, base, measured = recorded(np.random.default_rng(n), n, 40, 0.0)
    found = fit_rigid_chain(plane(measured))
    assert found.success
    assert found.iterations == 1  # it starts there
    same(found.length_m, length, scale=1.0)
    same(np.exp(1j * np.cumsum(found.angle_rad, axis=1)), np.exp(1j * np.cumsum(angle, axis=1)), scale=1.0)
    same(found.base_m, plane(base), scale=1.0)
    same(found.distance_m, np.zeros((40, n + 1)), scale=1.0)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_noisy_joints_are_fitted_as_by_a_general_solver(n):
    """scipy's trust-region solver on all bases, orientations and lengths at once, its Jacobian by complex steps.

    It stops where a step changes the sum of squares, of 1e-3 m^2, by its last digit: near the minimum that is a step of
    some 1e-8 of the unknowns. The sums themselves then agree to that digit, and neither has the smaller one. Newton's
    steps square an error of 0.1 rad at the start: 1e-2, 1e-4, 1e-8 and 1e-16; twice as many are allowed.
    """
    frames, rng = 7, np.random.default_rng(20 + n)
    length, angle, base, measured = recorded(rng, n, frames, 0.01)

    def residuals(unknown):
        lengths, places, turns = np.split(unknown, [n, n + 2 * frames])
        turns, places = turns.reshape(frames, n), places.reshape(2, frames, 1)
        off = []
        for place, turned, target in zip(places, (np.cos(turns), np.sin(turns)), plane(measured).T, strict=True):
            joints = place + np.cumsum(lengths * turned, axis=1)
            off += [(place[:, 0] - target[0]), (joints - target[1:].T).ravel()]
        return np.concatenate(off)

    start = np.concatenate([length, base.real, base.imag, np.cumsum(angle, axis=1).ravel()])
    expected = least_squares(residuals, start, jac="cs", xtol=1e-15, ftol=1e-15, gtol=1e-15)
    found = fit_rigid_chain(plane(measured))
    assert found.success
    assert found.iterations <= 8
    np.testing.assert_allclose(found.length_m, expected.x[:n], rtol=0.0, atol=1e-8)
    turns = np.exp(1j * expected.x[n + 2 * frames :].reshape(frames, n))
    np.testing.assert_allclose(np.exp(1j * np.cumsum(found.angle_rad, axis=1)), turns, rtol=0.0, atol=1e-7)
    places = expected.x[n : n + 2 * frames].reshape(2, frames).T
    np.testing.assert_allclose(found.base_m, places, rtol=0.0, atol=1e-8)
    assert (found.distance_m**2).sum() / 2.0 == pytest.approx(expected.cost, rel=1e-12)


def test_a_marker_that_is_far_off_for_a_while_does_not_spoil_the_iteration():
    """The hand a metre away in a tenth of the frames, where the sum of squares is not convex: it still finds a minimum."""
    *_, measured = recorded(np.random.default_rng(35), 3, 40, 0.003)
    measured[10:14, 3] += 1.0
    found = fit_rigid_chain(plane(measured))
    assert found.success
    assert_no_slope(measured, found)
    step = 1e-4  # well above rounding of the sum, which is of the order of 1 m^2, and its square root
    least = (found.distance_m**2).sum()
    for k in range(3):
        for sign in (-step, step):
            longer = found.length_m + sign * np.eye(3)[k]
            joints = found.base_m[:, None] + plane(ends(longer, found.angle_rad))
            assert ((joints - plane(measured)) ** 2).sum() > least


def test_joints_at_random_are_fitted_by_a_chain_without_slope():
    """No chain at all: whole Newton steps would climb where the sum of squares bends downwards in some lengths only."""
    for seed in range(40):
        chance = np.random.default_rng(seed)
        n, frames = chance.integers(2, 5), chance.integers(2, 7)
        measured = chance.normal(size=(frames, n + 1)) + 1j * chance.normal(size=(frames, n + 1))
        found = fit_rigid_chain(plane(measured))
        assert found.success
        assert_no_slope(measured, found)


def test_one_link_by_hand():
    """Mean distance of its ends, in their direction, about the point midway between them."""
    *_, measured = recorded(np.random.default_rng(40), 1, 30, 0.02)
    found = fit_rigid_chain(plane(measured))
    between = measured[:, 1] - measured[:, 0]
    same(found.length_m, [np.abs(between).mean()])
    same(np.exp(1j * found.angle_rad[:, 0]), between / np.abs(between))
    start = measured.mean(axis=1) - found.length_m / 2.0 * between / np.abs(between)
    same(found.base_m, plane(start))
    half = np.abs(np.abs(between) - found.length_m) / 2.0
    same(found.distance_m, np.column_stack([half, half]), scale=1.0)


def test_frames_with_a_missing_joint_are_left_out():
    *_, measured = recorded(np.random.default_rng(42), 3, 30, 0.01)
    joints = plane(measured)
    joints[4, 2] = np.nan
    joints[17, 0, 1] = np.nan
    found, without = fit_rigid_chain(joints), fit_rigid_chain(np.delete(joints, [4, 17], axis=0))
    np.testing.assert_array_equal(found.length_m, without.length_m)
    for name in ("angle_rad", "base_m", "distance_m"):
        values = getattr(found, name)
        assert np.isnan(values[[4, 17]]).all()
        np.testing.assert_array_equal(np.delete(values, [4, 17], axis=0), getattr(without, name))


def test_frames_that_do_not_count_have_no_say():
    """Foreshortened frames: lengths and all else as without them; their own angles are the best for these lengths."""
    *_, measured = recorded(np.random.default_rng(43), 3, 30, 0.005)
    short = np.arange(30) % 3 == 1
    measured[short] *= 0.8
    found, only = fit_rigid_chain(plane(measured), counted=~short), fit_rigid_chain(plane(measured[~short]))
    assert found.success
    # each stops within its own last step of 1e-12
    np.testing.assert_allclose(found.length_m, only.length_m, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(found.base_m[~short], only.base_m, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(found.distance_m[~short], only.distance_m, rtol=0.0, atol=1e-11)
    by_base, by_orientation, by_length = slopes(measured, found)
    assert np.abs(by_base).max() < 1e-12 * 200
    assert np.abs(by_orientation).max() < 1e-12 * 200
    assert np.abs(by_length[~short].sum(axis=0)).max() < 1e-12 * 200
    assert np.abs(by_length[short].sum(axis=0)).min() > 0.01
    everything = fit_rigid_chain(plane(measured))
    assert (everything.length_m < found.length_m - 0.005).all()


def test_fitted_angles_do_not_jump():
    """Three turns of the first link, with the second turning back."""
    turn = np.linspace(0.0, 6.0 * np.pi, 200)
    measured = ends([0.4, 0.3], np.column_stack([turn, 1.0 - 1.5 * turn]))
    found = fit_rigid_chain(plane(measured)).angle_rad
    same(np.diff(found, axis=0), np.diff(np.column_stack([turn, 1.0 - 1.5 * turn]), axis=0), scale=10.0)


def test_noise_leaves_lengths_without_bias_of_first_order():
    """Two hundred recordings of a forearm and hand of 60 frames each, with 2 mm of noise on every coordinate.

    Distances between neighbouring joints have variance 2 s^2, and covariance -s^2 cos of the angle between the links
    where they share a joint. The fit weighs them as the best linear estimate does, with covariance
    (sum over frames of C_t^-1)^-1. The mean of 200 fits has to lie within 4.5 of its standard deviations (7e-6 by
    chance) of the true length plus the bias of second order that each measured distance has, s^2 / L at the most; the
    spread of the fits within 4.5 / sqrt(2 * 200) of itself.
    """
    noise, n_fits, frames, rng = 0.002, 200, 60, np.random.default_rng(44)
    length, phase = np.array([0.26, 0.11]), np.linspace(0.0, 3.0, frames)
    angle = np.column_stack([0.3 + 0.5 * np.sin(phase), 0.4 + 0.9 * np.cos(2 * phase)])
    exact = ends(length, angle)
    errors = rng.normal(size=(n_fits, frames, 3, 2)) * noise
    found = np.array([fit_rigid_chain(plane(exact) + error).length_m for error in errors])
    covariance = np.tile(2.0 * np.eye(2), (frames, 1, 1))
    covariance[:, 0, 1] = covariance[:, 1, 0] = -np.cos(angle[:, 1])
    expected = noise * np.sqrt(np.diag(np.linalg.inv(np.linalg.inv(covariance).sum(axis=0))))
    off = np.abs(found.mean(axis=0) - length)
    assert (off < 4.5 * expected / np.sqrt(n_fits) + noise**2 / length).all()
    np.testing.assert_allclose(found.std(axis=0), expected, rtol=4.5 / np.sqrt(2 * n_fits), atol=0.0)


def test_the_fit_does_not_leap_where_frames_stop_counting():
    """Joints that glide: the second link's length swings by 40 mm, so that measured and fitted directions differ. A frame
    that counts and its neighbour that does not are a hundredth of the swing apart, and so are their angles."""
    time = np.linspace(0.0, 1.0, 201)
    angle = np.column_stack([0.5 * np.sin(3.0 * time), 1.0 + 0.5 * np.cos(2.0 * time), 0.3 + 0.2 * time])
    theta = np.cumsum(angle, axis=1)
    length = np.column_stack([np.full(201, 0.3), 0.25 + 0.04 * np.sin(4.0 * time), np.full(201, 0.1)])
    steps = length[..., None] * np.stack([np.cos(theta), np.sin(theta)], axis=2)
    joints = np.concatenate([np.zeros((201, 1, 2)), np.cumsum(steps, axis=1)], axis=1)
    counted = time < 0.8
    found = fit_rigid_chain(joints, counted=counted)
    moved = np.abs(np.diff(found.angle_rad, axis=0)).max(axis=1)
    border = np.flatnonzero(counted)[-1]
    assert moved[border] < 2.0 * max(moved[border - 1], moved[border + 1])
    directions = np.diff(np.unwrap(np.angle(np.diff(joints[..., 0] + 1j * joints[..., 1], axis=1)), axis=0), axis=0)
    assert np.abs(directions).max() < 0.05  # the joints themselves do not leap
    by_base, by_orientation, _ = slopes(joints @ [1.0, 1j], found)
    assert max(np.abs(by_base).max(), np.abs(by_orientation).max()) < 1e-10  # as near as it goes with these lengths


def test_angles_begin_between_minus_pi_and_pi():
    reached = two_link_angles([0.3, 0.3], [[-0.294, -0.06]], bend="positive").angle_rad
    assert (np.abs(reached) <= np.pi).all()
    chain = Chain([0.3, 0.2], [1.0, 1.0], [0.1, 0.1], [0.01, 0.01])
    np.testing.assert_allclose(
        joint_positions(Chain([0.3, 0.3], [1, 1], [0.1, 0.1], [0, 0]), reached)[0, 2], [-0.294, -0.06]
    )
    fitted = fit_rigid_chain(joint_positions(chain, np.radians([[170.0, 20.0], [175.0, 22.0]]))).angle_rad
    np.testing.assert_allclose(np.degrees(fitted), [[170.0, 20.0], [175.0, 22.0]])


@pytest.mark.parametrize("first", [0, 1, 2])
def test_joints_in_one_place_are_refused_by_number(first):
    joints = plane(ends([0.3, 0.25, 0.2], np.tile([0.2, 0.5, -0.4], (5, 1)) + np.linspace(0.0, 0.5, 5)[:, None]))
    joints[:, first + 1] = joints[:, first]
    with pytest.raises(ValueError, match=rf"joint_m\[:, {first}\] and joint_m\[:, {first + 1}\] coincide"):
        fit_rigid_chain(joints)


def test_targets_out_of_reach_are_refused_by_name():
    targets = [[0.3, 0.0], [0.0, -0.75], [0.02, 0.0], [0.3, 0.1]]
    message = (
        r"target_m\[1\] is 0\.75 m from the base, the links reach 0\.1 to 0\.5 m \(2 of 4 targets are out of reach\); "
        r"unreachable='project' takes the nearest point"
    )
    with pytest.raises(ValueError, match=message):
        two_link_angles([0.3, 0.2], targets, bend="positive")
    with pytest.raises(ValueError, match=r"target_m\[0\] is 1 m from the base"):
        two_link_angles([0.3, 0.2], [[0.0, 0.0]], base_m=(1.0, 0.0), bend="positive")

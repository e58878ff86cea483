"""Where the points of a chain are and how they move, against derivatives of positions taken with sympy, and geometry."""

import functools

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from chains import filled, random_chain, same
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.kinematics import (
    acceleration_parts,
    jacobian,
    jacobian_rate,
    joint_positions,
    manipulability,
    null_space_projector,
    point_acceleration,
    point_jerk,
    point_position,
    point_velocity,
    velocity_ellipse,
)
from limbtorque.chain.model import Chain, Kinematics, Load, Point, pairs

N_STATES = 100
LINKS = [(n, link) for n in (1, 2, 3) for link in range(n)]
DERIVATIVES = ("position", "velocity", "acceleration", "jerk")
PARTS = ("tangential", "centripetal", "coriolis")


def random_motion(rng, n, frames=N_STATES):
    """Angle, velocity, acceleration and jerk of the joints."""
    return [rng.uniform(-size, size, (frames, n)) for size in (4.0, 10.0, 80.0, 900.0)]


def random_point(rng, link):
    """A point beside its link, before, on or beyond it."""
    return Point(link, rng.uniform(-0.2, 0.7), rng.uniform(-0.3, 0.3))


# --- derivatives of the position -------------------------------------------------------------------------------------


@functools.cache
def differentiated(n, link):
    """Function of all numbers -> position, derivatives, Jacobians, their rates and the parts of the acceleration."""
    t = sp.Symbol("t")
    names = [f"q{i}" for i in range(n)] + ["x0", "y0"]
    functions = [sp.Function(name)(t) for name in names]
    values = [sp.symbols([f"{name}_{k}" for name in names]) for k in range(4)]
    length, (along, across) = sp.symbols(f"L0:{n}"), sp.symbols("along across")
    theta = [sum(functions[: k + 1]) for k in range(n)]

    def place(angles):
        reach = functions[n:]
        for k, angle in enumerate(angles):
            out, left = (length[k], 0) if k < link else (along, across)
            reach = [
                reach[0] + out * sp.cos(angle) - left * sp.sin(angle),
                reach[1] + out * sp.sin(angle) + left * sp.cos(angle),
            ]
        return sp.Matrix(reach)

    def plain(expression):
        for k in (3, 2, 1, 0):
            expression = expression.subs(
                [(f.diff(t, k) if k else f, v) for f, v in zip(functions, values[k], strict=True)]
            )
        return expression

    position = place(theta[: link + 1])
    free = sp.symbols(f"theta0:{n}")
    by_segment = place(free[: link + 1]).jacobian(free).subs(list(zip(free, theta, strict=True)))
    by_joint = position.jacobian(functions[:n])
    rates = [matrix.diff(t) for matrix in (by_joint, by_segment)]
    acceleration = plain(position.diff(t, 2))
    velocity, spin = values[1][:n], values[2][:n]
    parts = [
        [acceleration.diff(spin[j]) * spin[j] for j in range(n)],
        [acceleration.diff(velocity[j], 2) / 2 * velocity[j] ** 2 for j in range(n)],
        [acceleration.diff(velocity[p], velocity[q]) * velocity[p] * velocity[q] for p, q in pairs(n)],
    ]
    moves = [list(plain(position.diff(t, k) if k else position)) for k in range(4)]
    matrices = [plain(matrix).tolist() for matrix in (by_joint, by_segment, *rates)]
    result = [*moves, *matrices, *([list(vector) for vector in part] for part in parts)]
    symbols = [symbol for one in values for symbol in one]
    return sp.lambdify([*length, along, across, *symbols], result, "numpy", cse=True)


def case(n, link):
    """A chain on a moving base, a point on it, and what sympy says of it, by name."""
    rng = np.random.default_rng(10 * n + link)
    chain, motion, point = random_chain(rng, n), random_motion(rng, n), random_point(rng, link)
    base = [rng.normal(size=(N_STATES, 2)) * size for size in (1.0, 3.0, 20.0, 300.0)]
    state = [np.hstack(both).T for both in zip(motion, base, strict=True)]
    expected = differentiated(n, link)(*chain.length_m, point.along_m, point.across_m, *np.concatenate(state))
    names = (*DERIVATIVES, "by_joint", "by_segment", "by_joint_rate", "by_segment_rate", *PARTS)
    return (
        chain,
        motion,
        point,
        base,
        {name: filled(part, N_STATES, empty=(2,)) for name, part in zip(names, expected, strict=True)},
    )


@pytest.mark.parametrize(("n", "link"), LINKS)
def test_motion_jacobians_and_parts_of_any_point(n, link):
    """Parts: coefficients of the angular accelerations, of squared velocities, and of products of two velocities."""
    chain, motion, point, base, expected = case(n, link)
    angle, velocity, _, jerk = motion
    kinematics = Kinematics(*motion[:3], base_velocity_m_s=base[1], base_acceleration_m_s2=base[2])
    same(point_position(chain, angle, point=point, base_m=base[0]), expected["position"])
    same(point_velocity(chain, kinematics, point=point), expected["velocity"])
    same(point_acceleration(chain, kinematics, point=point), expected["acceleration"])
    same(point_jerk(chain, kinematics, jerk, point=point, base_jerk_m_s3=base[3]), expected["jerk"])
    for space in ("joint", "segment"):
        matrix, rate = expected[f"by_{space}"], expected[f"by_{space}_rate"]
        same(jacobian(chain, angle, point=point, space=space), matrix)
        same(jacobian_rate(chain, Kinematics(angle, velocity), point=point, space=space), rate)
        assert not matrix[:, :, link + 1 :].any()  # joints beyond the point do not move it
    found = acceleration_parts(chain, kinematics, point=point)
    for name in PARTS:
        same(getattr(found, name), expected[name], scale=np.abs(expected["acceleration"]).max())
    np.testing.assert_array_equal(found.base, base[2])
    same(found.total, expected["acceleration"])


def test_endpoint_and_centres_of_mass_are_points_of_their_links():
    """A chain bent by right angles, by hand: up, left, down."""
    chain = Chain([3.0, 4.0, 2.0], [1.0, 1.0, 1.0], [1.0, 2.5, 0.5], [1.0, 1.0, 1.0])
    angle = [[np.pi / 2, np.pi / 2, np.pi / 2]]
    places = {chain.endpoint: (-3.0, 3.0), Point(1, 1.0, 0.5): (0.0, 4.5), Point(2, 0.0): (-3.0, 5.0)}
    places |= {chain.centre_of_mass(k): place for k, place in enumerate([(1.0, 3.0), (-1.5, 5.0), (-3.0, 4.5)])}
    for point, place in places.items():
        found = point_position(chain, angle, point=point, base_m=(1.0, 2.0))
        np.testing.assert_allclose(found, [place], rtol=0.0, atol=1e-15 * 10)  # rounding of cos(pi / 2) times 3 m


# --- relations that hold for any number of links ---------------------------------------------------------------------


@st.composite
def chains(draw, least=1, most=6):
    """A chain, its motion and a point on one of its links."""
    n, rng = draw(st.integers(least, most)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_chain(rng, n), random_motion(rng, n, 8), random_point(rng, draw(st.integers(0, n - 1)))


@given(chains())
def test_a_force_is_worth_the_transposed_jacobian(drawn):
    """Virtual work: the torques that hold a force at rest are minus J.T @ force, those of a couple minus the couple."""
    chain, (angle, *_), point = drawn
    rng = np.random.default_rng(chain.n_links)
    force, couple, base = rng.normal(size=(8, 2)) * 40.0, rng.normal(size=8), rng.normal(size=(8, 2))
    joints = joint_positions(chain, angle, base_m=base)
    place = point_position(chain, angle, point=point, base_m=base)
    load = Load(point.link, force, place, couple)
    held = torque_terms(
        chain, Kinematics(angle, 0 * angle, 0 * angle), gravity_m_s2=(0, 0), loads=[load], joint_m=joints
    ).external
    worth = np.einsum("tci,tc->ti", jacobian(chain, angle, point=point), force)
    worth[:, : point.link + 1] += couple[:, None]
    same(held, -worth, scale=400.0)  # 100 N on arms of up to 4 m


# --- one and two links -----------------------------------------------------------------------------------------------


def test_polar_manipulator():
    """Equal links with 2 a1 + a2 = pi: the end stays on the y axis at r = 2 l sin(a1).

    With a2' = -2 a1' and a2'' = -2 a1'', and (cos, sin)(a1 + a2) = (-cos a1, sin a1), the sums over the joints are:
    tangential 2 l cos(a1) a1'' along the line, nothing across; centripetal -6 l sin(a1) a1'^2 along, 4 l cos(a1) a1'^2
    across; Coriolis 4 l sin(a1) a1'^2 along, -4 l cos(a1) a1'^2 across. Together r'' along the line.
    """
    size, rng = 0.45, np.random.default_rng(3)
    chain = Chain([size, size], [1.0, 1.0], [0.2, 0.2], [0.1, 0.1])
    a, v, s = (rng.uniform(-w, w, N_STATES) for w in (3.0, 9.0, 60.0))
    motion = [np.stack(pair, axis=1) for pair in ((a, np.pi - 2 * a), (v, -2 * v), (s, -2 * s))]
    nothing, sine, cosine = np.zeros(N_STATES), size * np.sin(a), size * np.cos(a)
    same(point_position(chain, motion[0], point=chain.endpoint), np.stack([nothing, 2 * sine], axis=1))
    same(
        point_velocity(chain, Kinematics(*motion[:2]), point=chain.endpoint),
        np.stack([nothing, 2 * cosine * v], axis=1),
    )
    parts, whole = acceleration_parts(chain, Kinematics(*motion), point=chain.endpoint), 40.0 * 81.0
    expected = {
        "tangential": [nothing, 2 * cosine * s],
        "centripetal": [4 * cosine * v**2, -6 * sine * v**2],
        "coriolis": [-4 * cosine * v**2, 4 * sine * v**2],
    }
    for name, components in expected.items():
        same(getattr(parts, name).sum(axis=1), np.stack(components, axis=1), scale=whole)
    same(parts.total, np.stack([nothing, 2 * cosine * s - 2 * sine * v**2], axis=1), scale=whole)


# --- mobility --------------------------------------------------------------------------------------------------------


def test_manipulability_of_two_links():
    """L1 L2 |sin(a2)| in any posture; 0 where they are in line."""
    chain = Chain([0.31, 0.27], [1, 1], [0.1, 0.1], [1, 1])
    angle = random_motion(np.random.default_rng(4), 2)[0]
    found = manipulability(jacobian(chain, angle, point=chain.endpoint))
    same(found, 0.31 * 0.27 * np.abs(np.sin(angle[:, 1])))
    straight = [[0.4, 0.0], [-2.0, np.pi], [1.1, -np.pi]]
    assert manipulability(jacobian(chain, straight, point=chain.endpoint)).max() < 1e-16  # rounding of sin(pi) L1 L2


@given(chains(2, 6))
def test_manipulability_is_the_root_of_the_determinant(drawn):
    """det(J J.T) by its formula is right to rounding of its two products, of the order of 1 m^4 at most."""
    chain, (angle, *_), _ = drawn
    matrix = jacobian(chain, angle, point=chain.endpoint)
    (a, b), (_, d) = np.moveaxis(matrix @ np.swapaxes(matrix, 1, 2), 0, 2)
    np.testing.assert_allclose(manipulability(matrix) ** 2, a * d - b**2, rtol=0.0, atol=1e-13 * np.abs(a * d).max())


@given(chains(2, 6))
def test_ellipse_from_the_speed_in_each_direction(drawn):
    """The greatest speed along a unit vector d is |J.T d|; on the axes it is the half axis, everywhere the support."""
    chain, (angle, *_), point = drawn
    matrix = jacobian(chain, angle, point=Point(chain.n_links - 1, point.along_m, point.across_m))
    found = velocity_ellipse(matrix)
    longer, shorter = found.semi_axes.T
    for direction in np.linspace(0.0, np.pi, 13):
        unit = np.array([np.cos(direction), np.sin(direction)])
        speed = np.linalg.norm(np.einsum("tci,c->ti", matrix, unit), axis=1)
        off = direction - found.angle_rad
        same(speed**2, (longer * np.cos(off)) ** 2 + (shorter * np.sin(off)) ** 2, scale=longer.max() ** 2)


def test_a_straight_arm_moves_across_itself_only():
    """Along x: J has no first row; speed sqrt((L1 + L2)^2 + L2^2) along y."""
    chain = Chain([0.3, 0.25], [1, 1], [0.1, 0.1], [1, 1])
    found = velocity_ellipse(jacobian(chain, [[0.0, 0.0]], point=chain.endpoint))
    same(found.semi_axes, [[np.hypot(0.55, 0.25), 0.0]])
    same(np.abs(found.angle_rad), [np.pi / 2])


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_null_space_leaves_the_endpoint(n):
    """Projector: its own square, symmetric, rank n - 2; what it lets through does not move the endpoint."""
    rng = np.random.default_rng(n)
    chain, (angle, velocity, *_) = random_chain(rng, n), random_motion(rng, n)
    matrix = jacobian(chain, angle, point=chain.endpoint)
    projector = null_space_projector(matrix)
    # the pseudo-inverse amplifies rounding by the condition number of J
    size = np.linalg.cond(matrix).max()
    same(projector @ projector, projector, scale=size)
    same(projector, np.swapaxes(projector, 1, 2), scale=size)
    same(np.trace(projector, axis1=1, axis2=2), np.full(N_STATES, n - 2.0), scale=size)
    assert (np.linalg.matrix_rank(projector, tol=1e-6) == n - 2).all()
    let_through = np.einsum("tij,tj->ti", projector, velocity)
    same(
        point_velocity(chain, Kinematics(angle, let_through), point=chain.endpoint),
        np.zeros((N_STATES, 2)),
        scale=10 * size,
    )
    stopped = velocity - let_through
    full = point_velocity(chain, Kinematics(angle, velocity), point=chain.endpoint)
    same(point_velocity(chain, Kinematics(angle, stopped), point=chain.endpoint), full, scale=10 * size)


def test_a_straight_chain_has_one_more_free_direction():
    """In line, its end moves across only, so that the null space has n - 1 dimensions, whatever the direction."""
    chain = Chain([0.31, 0.27, 0.2], [1] * 3, [0.1] * 3, [1] * 3)
    angle = np.zeros((9, 3))
    angle[:, 0] = np.linspace(-3.0, 3.0, 9)
    projector = null_space_projector(jacobian(chain, angle, point=chain.endpoint))
    same(np.trace(projector, axis1=1, axis2=2), np.full(9, 2.0))


# --- missing values --------------------------------------------------------------------------------------------------


def test_a_missing_angle_stays_in_its_frame():
    chain, (angle, velocity, *_) = random_chain(np.random.default_rng(6), 3), random_motion(np.random.default_rng(6), 3)
    clean = [
        jacobian(chain, angle, point=chain.endpoint),
        jacobian_rate(chain, Kinematics(angle, velocity), point=chain.endpoint),
    ]
    angle[7, 1] = np.nan
    found = [
        jacobian(chain, angle, point=chain.endpoint, missing=True),
        jacobian_rate(chain, Kinematics(angle, velocity), point=chain.endpoint, missing=True),
    ]
    for part, expected in zip(found, clean, strict=True):
        assert np.isnan(part[7]).any()
        np.testing.assert_array_equal(np.delete(part, 7, axis=0), np.delete(expected, 7, axis=0))
    with pytest.raises(ValueError, match=r"angle_rad of shape \(100, 3\) has nan at \[7, 1\]"):
        jacobian(chain, angle, point=chain.endpoint)

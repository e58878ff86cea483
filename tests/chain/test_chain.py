"""The planar chain against a symbolic Lagrangian, the published closed form, a second method and symmetries.

The Lagrangian is derived here with sympy from positions alone; no expression is shared with the package. Closed form:
Cesari et al. (2001, Biological Cybernetics 84, 217-226), equations (27)-(44), (31) corrected.
"""

import functools

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from chains import N_STATES, call, filled, loaded_chains, random_chain, random_motion, same, three_links
from limbtorque.chain.dynamics import inertia_matrix, newton_euler, torque_terms
from limbtorque.chain.kinematics import joint_positions, point_acceleration, point_position
from limbtorque.chain.model import Chain, Kinematics, Load, Point, pairs

TERMS = ("inertial", "centripetal", "coriolis", "gravity", "base", "external")


def all_columns(terms):
    """Every term of every joint side by side, shape (n_frames, n_joints, n_terms)."""
    single = np.stack([terms.gravity, terms.base, terms.external], axis=2)
    return np.concatenate([terms.inertial, terms.centripetal, terms.coriolis, single], axis=2)


# --- the Lagrangian --------------------------------------------------------------------------------------------------


@functools.cache
def lagrangian(n):
    """Function of all numbers -> net torques, each term, and the force on the base, from L = T - V and virtual work."""
    t = sp.Symbol("t")
    q = [sp.Function(f"q{i}")(t) for i in range(n)]
    x0, y0 = sp.Function("x0")(t), sp.Function("y0")(t)
    length, mass, com, inertia = (sp.symbols(f"{letter}0:{n}") for letter in "LmdI")
    gx, gy, fx, fy, couple, fraction = sp.symbols("gx gy fx fy couple fraction")
    joint = sp.Matrix([x0, y0])
    kinetic, potential, angle = sp.Integer(0), sp.Integer(0), sp.Integer(0)
    for k in range(n):
        angle += q[k]
        direction = sp.Matrix([sp.cos(angle), sp.sin(angle)])
        centre = joint + com[k] * direction
        velocity = centre.diff(t)
        kinetic += mass[k] * velocity.dot(velocity) / 2 + inertia[k] * angle.diff(t) ** 2 / 2
        potential -= mass[k] * (gx * centre[0] + gy * centre[1])
        loaded = joint + fraction * length[k] * direction
        joint = joint + length[k] * direction
    coordinates = [*q, x0, y0]
    equations = [
        (kinetic - potential).diff(c.diff(t)).diff(t)
        - (kinetic - potential).diff(c)
        - (fx * loaded[0].diff(c) + fy * loaded[1].diff(c) + couple * angle.diff(c))
        for c in coordinates
    ]
    acceleration, velocity, position = (sp.symbols(f"{letter}0:{n + 2}", real=True) for letter in ("acc", "vel", "pos"))
    plain = [(c.diff(t, 2), a) for c, a in zip(coordinates, acceleration, strict=True)]
    plain += [(c.diff(t), v) for c, v in zip(coordinates, velocity, strict=True)]
    plain += list(zip(coordinates, position, strict=True))
    equations = [e.subs(plain) for e in equations]
    torque = equations[:n]
    parts = {
        "inertial": [[u.diff(acceleration[j]) * acceleration[j] for j in range(n)] for u in torque],
        "centripetal": [[u.diff(velocity[j], 2) / 2 * velocity[j] ** 2 for j in range(n)] for u in torque],
        "coriolis": [
            [u.diff(velocity[p], velocity[r]) * velocity[p] * velocity[r] for p, r in pairs(n)] for u in torque
        ],
        "gravity": [u.diff(gx) * gx + u.diff(gy) * gy for u in torque],
        "base": [sum(u.diff(a) * a for a in acceleration[n:]) for u in torque],
        "external": [u.diff(fx) * fx + u.diff(fy) * fy + u.diff(couple) * couple for u in torque],
    }
    arguments = [*length, *mass, *com, *inertia, *position, *velocity, *acceleration, gx, gy, fx, fy, couple, fraction]
    return sp.lambdify(arguments, [torque, equations[n:], *(parts[name] for name in TERMS)], "numpy", cse=True)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_term_is_that_of_the_lagrangian(n):
    rng = np.random.default_rng(100 + n)
    chain, motion = random_chain(rng, n), random_motion(rng, n)
    base, base_velocity, base_acceleration = rng.normal(size=(3, N_STATES, 2)) * [[[1.0]], [[3.0]], [[20.0]]]
    gravity, force = rng.normal(size=2) * 9.0, rng.normal(size=(N_STATES, 2)) * 50.0
    couple = rng.normal(size=N_STATES)
    joints = joint_positions(chain, motion[0], base_m=base)
    point = joints[:, -2] + 0.7 * (joints[:, -1] - joints[:, -2])
    options = {
        "gravity_m_s2": gravity,
        "base_acceleration_m_s2": base_acceleration,
        "loads": [Load(n - 1, force, point, couple)],
        "joint_m": joints,
    }
    state = [np.hstack([a, b]).T for a, b in zip(motion, (base, base_velocity, base_acceleration), strict=True)]
    constants = (*chain.length_m, *chain.mass_kg, *chain.com_m, *chain.inertia_kgm2)
    net, base_force, *parts = lagrangian(n)(*constants, *np.concatenate(state), *gravity, *force.T, couple, 0.7)
    found = call(torque_terms, chain, *motion, **options)
    net = filled(net)
    size = np.abs(net).max()
    same(found.net, net)
    for name, expected in zip(TERMS, parts, strict=True):
        expected = filled(expected)
        same(getattr(found, name), expected.reshape(getattr(found, name).shape), scale=size)
    wrenches = call(newton_euler, chain, *motion, **options)
    same(wrenches.torque_nm, net)
    same(wrenches.reaction_n[:, 0], filled(base_force))


# --- the published closed form ---------------------------------------------------------------------------------------


def paper(chain, angle, velocity, *, g, spring, spring_arm, printed_m22=False):
    """M, v, G and T_ext of equations (27)-(44), typed from the paper; M22 as printed on request."""
    (l1, l2, _), (m1, m2, m3) = chain.length_m, chain.mass_kg
    (d1, d2, d3), (i1, i2, i3) = chain.com_m, chain.inertia_kgm2
    (a1, a2, a3), (w1, w2, w3) = angle.T, velocity.T
    c1, c2, c3, c23, c12, c123 = (np.cos(a) for a in (a1, a2, a3, a2 + a3, a1 + a2, a1 + a2 + a3))
    s1, s2, s3, s23, s12, s123 = (np.sin(a) for a in (a1, a2, a3, a2 + a3, a1 + a2, a1 + a2 + a3))
    m11 = (
        m1 * d1**2 + i1 + m2 * (l1**2 + d2**2 + 2 * l1 * d2 * c2) + i2
        + m3 * (l1**2 + l2**2 + d3**2 + 2 * l1 * l2 * c2 + 2 * l1 * d3 * c23 + 2 * l2 * d3 * c3) + i3
    )  # fmt: skip
    m12 = (
        m2 * (d2**2 + l1 * d2 * c2) + i2
        + m3 * (l2**2 + d3**2 + l1 * l2 * c2 + l1 * d3 * c23 + 2 * l2 * d3 * c3) + i3
    )  # fmt: skip
    m13 = m3 * (d3**2 + l1 * d3 * c23 + l2 * d3 * c3) + i3
    m22 = m2 * d2**2 + i2 + m3 * (l2**2 + d3**2 + (1 if printed_m22 else 2) * l2 * d3 * c3) + i3
    m23 = m3 * (d3**2 + l2 * d3 * c3) + i3
    m33 = (m3 * d3**2 + i3) * np.ones_like(a1)
    matrix = np.moveaxis(np.array([[m11, m12, m13], [m12, m22, m23], [m13, m23, m33]]), -1, 0)
    h12, h13, h23 = (m2 * l1 * d2 + m3 * l1 * l2) * s2, m3 * l1 * d3 * s23, m3 * l2 * d3 * s3
    outer = 2 * w1 * w3 + 2 * w2 * w3 + w3**2
    bias = [
        -(h12 + h13) * (2 * w1 * w2 + w2**2) - (h13 + h23) * outer,
        (h12 + h13) * w1**2 - h23 * outer,
        (h13 + h23) * w1**2 + h23 * (2 * w1 * w2 + w2**2),
    ]
    gravity = [
        m1 * g * d1 * c1 + m2 * g * (l1 * c1 + d2 * c12) + m3 * g * (l1 * c1 + l2 * c12 + d3 * c123),
        m2 * g * d2 * c12 + m3 * g * (l2 * c12 + d3 * c123),
        m3 * g * d3 * c123,
    ]
    hand = spring * (d3 + spring_arm) * s123
    external = [-spring * l1 * s1 - spring * l2 * s12 - hand, -spring * l2 * s12 - hand, -hand]
    return matrix, np.stack(bias, axis=1), np.stack(gravity, axis=1), np.stack(external, axis=1)


def spring_case(spring=12.0, spring_arm=0.03):
    """Our terms for the paper's experiment: a force of that magnitude towards -x at d3 + d_S from the wrist."""
    chain, motion = three_links(), random_motion(np.random.default_rng(5), 3)
    joints = joint_positions(chain, motion[0])
    unit = (joints[:, 3] - joints[:, 2]) / chain.length_m[2]
    point = joints[:, 2] + (chain.com_m[2] + spring_arm) * unit
    load = Load(2, np.tile([-spring, 0.0], (N_STATES, 1)), point, np.zeros(N_STATES))
    terms = torque_terms(chain, Kinematics(*motion), gravity_m_s2=(0.0, -9.81), loads=[load], joint_m=joints)
    return chain, motion, terms


def test_three_links_are_the_closed_form_of_the_paper():
    chain, (angle, velocity, acceleration), terms = spring_case()
    matrix, bias, gravity, external = paper(chain, angle, velocity, g=9.81, spring=12.0, spring_arm=0.03)
    same(inertia_matrix(chain, angle), matrix)
    same(terms.inertial, matrix * acceleration[:, None, :])
    same(terms.centripetal.sum(axis=2) + terms.coriolis.sum(axis=2), bias)
    same(terms.gravity, gravity)
    same(terms.external, external)
    same(terms.base, np.zeros((N_STATES, 3)))
    same(terms.net, np.einsum("tij,tj->ti", matrix, acceleration) + bias + gravity + external)


def test_the_printed_m22_is_not_the_inertia_matrix():
    """(31) lacks the factor 2 of its coupling term: an error of m3 l2 d3 cos(alpha_3), here up to 1.2e-3 kg m^2."""
    chain, (angle, velocity, _), _ = spring_case()
    printed, *_ = paper(chain, angle, velocity, g=9.81, spring=12.0, spring_arm=0.03, printed_m22=True)
    difference = inertia_matrix(chain, angle) - printed
    missing = chain.mass_kg[2] * chain.length_m[1] * chain.com_m[2] * np.cos(angle[:, 2])
    same(difference[:, 1, 1], missing, scale=0.1)
    assert np.abs(missing).max() > 1e-3
    difference[:, 1, 1] = 0.0
    same(difference, np.zeros_like(difference), scale=0.1)


def test_a_spring_towards_minus_x_needs_a_torque_the_other_way():
    """The hand points up: a force towards -x turns it counter-clockwise, so the wrist has to turn it clockwise."""
    chain = three_links()
    angle = np.array([[np.pi / 2, 0.0, 0.0]])
    joints = joint_positions(chain, angle)
    still = Kinematics(angle, 0 * angle, 0 * angle)
    for from_wrist in (0.048, 0.048 + 0.03):  # the arm is d3 + d_S from the wrist, not d_S
        load = Load(2, np.array([[-10.0, 0.0]]), joints[:, 2] + [0.0, from_wrist], np.zeros(1))
        terms = torque_terms(chain, still, gravity_m_s2=(0, 0), loads=[load], joint_m=joints)
        same(terms.external[0], [-10 * (0.58 + from_wrist), -10 * (0.27 + from_wrist), -10 * from_wrist])


def test_two_links_with_a_force_at_the_end():
    """T2 and T1 of the two-link document, with its external moment as in its code, and the force felt at joint 1."""
    rng = np.random.default_rng(2)
    chain, motion = random_chain(rng, 2), random_motion(rng, 2)
    (a1, a2), (fx, fy) = motion[0].T, rng.normal(size=(2, N_STATES)) * 30.0
    l1, l2 = chain.length_m
    joints = joint_positions(chain, motion[0])
    load = Load(1, np.stack([fx, fy], axis=1), joints[:, 2], np.zeros(N_STATES))
    terms = torque_terms(chain, Kinematics(*motion), gravity_m_s2=(0.0, -9.8), loads=[load], joint_m=joints)
    second = l2 * np.sin(a1 + a2) * fx - l2 * np.cos(a1 + a2) * fy
    first = second + l1 * np.sin(a1) * fx - l1 * np.cos(a1) * fy
    same(terms.external, np.stack([first, second], axis=1))
    assert np.abs(terms.external[:, 0] - terms.external[:, 1]).max() > 1.0


# --- the second method -----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(loaded_chains())
def test_recursive_newton_euler_closes_the_sum_of_the_terms(case):
    chain, motion, options = case
    terms, wrenches = call(torque_terms, chain, *motion, **options), call(newton_euler, chain, *motion, **options)
    same(wrenches.torque_nm, terms.net, scale=np.abs(all_columns(terms)).sum(axis=2).max())


# --- symmetries ------------------------------------------------------------------------------------------------------


def rotation(turn):
    return np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])


@settings(deadline=None, max_examples=40)
@given(loaded_chains(), st.floats(-7.0, 7.0), st.tuples(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0)))
def test_turning_and_moving_the_laboratory_changes_nothing(case, turn, shift):
    chain, (angle, velocity, acceleration), options = case
    turned = angle + turn * np.eye(chain.n_links)[0]
    matrix = rotation(turn)
    moved = {
        "gravity_m_s2": matrix @ options["gravity_m_s2"],
        "base_acceleration_m_s2": options["base_acceleration_m_s2"] @ matrix.T,
        "loads": [
            Load(x.link, x.force_n @ matrix.T, x.point_m @ matrix.T + shift, x.couple_nm) for x in options["loads"]
        ],
        "joint_m": options["joint_m"] @ matrix.T + shift,
    }
    before = call(torque_terms, chain, angle, velocity, acceleration, **options)
    after = call(torque_terms, chain, turned, velocity, acceleration, **moved)
    size = 10 * np.abs(all_columns(before)).max() + 1000 * len(options["loads"])  # 100 N on arms of up to 10 m
    same(all_columns(after), all_columns(before), scale=size)
    reactions = [
        call(newton_euler, chain, a, velocity, acceleration, **o).reaction_n
        for a, o in ((angle, options), (turned, moved))
    ]
    same(reactions[1], reactions[0] @ matrix.T, scale=10 * np.abs(reactions[0]).max())


@settings(deadline=None, max_examples=25)
@given(loaded_chains())
def test_structural_zeros_are_exact(case):
    """A joint's own centripetal force has no arm about it; a pair's Coriolis force none about its outer joint."""
    chain, motion, options = case
    terms = call(torque_terms, chain, *motion, **options)
    n = chain.n_links
    assert not terms.centripetal[:, range(n), range(n)].any()
    for p, (_, outer) in enumerate(pairs(n)):
        assert not terms.coriolis[:, outer, p].any()
    assert terms.coriolis.shape == (8, n, n * (n - 1) // 2)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length_m": [0.3, 0.0]}, r"length_m\[1\] is 0\.0 .*; expected a positive number"),
        ({"length_m": [0.3, np.inf]}, r"length_m\[1\] is inf"),
        ({"mass_kg": [1.0, -2.0]}, r"mass_kg\[1\] is -2\.0 .*; expected a non-negative number"),
        ({"com_m": [0.1, np.nan]}, r"com_m\[1\] is nan .*; expected a finite number"),
        ({"inertia_kgm2": [-1e-9, 1.0]}, r"inertia_kgm2\[0\] is -1e-09"),
        ({"mass_kg": [1.0]}, r"mass_kg has shape \(1,\), length_m has \(2,\)"),
        ({"length_m": [[0.3, 0.2]]}, r"length_m has shape \(1, 2\)"),
    ],
)
def test_bad_constants_are_named(change, message):
    good = {"length_m": [0.3, 0.2], "mass_kg": [1.0, 1.0], "com_m": [0.1, 0.1], "inertia_kgm2": [0.1, 0.1]}
    with pytest.raises(ValueError, match=message):
        Chain(**{**good, **change})


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("force_n", (5, 3), r"force_n has shape \(5, 3\), expected \(5, 2\)"),
        ("force_n", (), "force_n has shape"),
        ("point_m", (4, 2), r"point_m has shape \(4, 2\), expected \(5, 2\)"),
        ("couple_nm", (4,), r"couple_nm has shape \(4,\), expected \(5,\)"),
    ],
)
def test_loads_of_other_shapes_are_named(name, shape, message):
    parts = {"force_n": np.zeros((5, 2)), "point_m": np.zeros((5, 2)), "couple_nm": np.zeros(5), name: np.zeros(shape)}
    with pytest.raises(ValueError, match=message):
        Load(2, **parts)


# --- a weight in the hand --------------------------------------------------------------------------------------------


def test_a_held_weight_is_a_point_mass_of_its_own():
    """The same torques as the chain's own and those of the mass alone: its m (a - g) with its lever arms to the joints."""
    chain, motion = three_links(), random_motion(np.random.default_rng(5), 3)
    holding = chain.holding(1.7, along_m=0.06)
    found = torque_terms(holding, Kinematics(*motion), gravity_m_s2=(0.0, -9.81)).net
    palm = Point(2, 0.06)
    push = 1.7 * (point_acceleration(chain, Kinematics(*motion), point=palm) - [0.0, -9.81])
    reach = point_position(chain, motion[0], point=palm)
    arms = reach[:, None] - joint_positions(chain, motion[0])[:, :3]
    alone = arms[..., 0] * push[:, None, 1] - arms[..., 1] * push[:, None, 0]
    same(found, torque_terms(chain, Kinematics(*motion), gravity_m_s2=(0.0, -9.81)).net + alone)
    np.testing.assert_allclose(chain.mass_kg, [2.1, 1.3, 0.45])  # the chain itself is left alone
    assert holding.mass_kg.tolist() == [2.1, 1.3, pytest.approx(2.15)]


def test_a_weight_is_held_at_the_end_of_the_last_link_unless_told_otherwise():
    one = Chain([0.4], [3.0], [0.17], [0.05]).holding(2.0)
    assert one.com_m[0] == pytest.approx((3.0 * 0.17 + 2.0 * 0.4) / 5.0)
    about_joint = one.inertia_kgm2[0] + one.mass_kg[0] * one.com_m[0] ** 2
    assert about_joint == pytest.approx(0.05 + 3.0 * 0.17**2 + 2.0 * 0.4**2)
    np.testing.assert_array_equal(three_links().holding(0.0).com_m, three_links().com_m)


def test_nan_stays_in_its_frame():
    chain, (angle, velocity, acceleration) = three_links(), random_motion(np.random.default_rng(8), 3)
    clean = torque_terms(chain, Kinematics(angle, velocity, acceleration), gravity_m_s2=(0.0, -9.81)).net
    angle[7, 1] = np.nan
    found = torque_terms(chain, Kinematics(angle, velocity, acceleration), gravity_m_s2=(0.0, -9.81), missing=True).net
    assert np.isnan(found[7]).any()
    np.testing.assert_array_equal(np.delete(found, 7, axis=0), np.delete(clean, 7, axis=0))

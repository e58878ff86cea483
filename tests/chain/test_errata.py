"""Corrections to equations that are nowhere else in the tests: our form holds, the printed one does not.

Our form is checked against a derivation of its own (sympy, a balance of moments); the printed form is typed here and has to
miss by an amount that is known or plainly not rounding. The others follow from the terms (`test_chain`, `test_conventions`),
from points and their derivatives (`test_kinematics`) and from inverse kinematics (`test_inverse_kinematics`).
"""

import functools

import numpy as np
import pytest
import sympy as sp

from chains import call, same, three_links
from limbtorque.chain.dynamics import newton_euler, torque_terms
from limbtorque.chain.kinematics import joint_positions, point_acceleration, point_position
from limbtorque.chain.model import Chain, Kinematics, Load, Point
from limbtorque.errors import SettingsError
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import muscle_set_from_mapping

FRAMES = 100
G = 9.81
DOWN = (0.0, -G)


def two_links():
    return Chain([0.31, 0.27], [2.1, 1.7], [0.135, 0.155], [0.0205, 0.0131])


def motion_of(chain, seed=11):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, (3, FRAMES, chain.n_links)) * [[[4.0]], [[8.0]], [[60.0]]]


def force_at(chain, angle, force, point):
    """Load on the point's link, and the options of inverse dynamics that go with it."""
    place = point_position(chain, angle, point=point)
    load = Load(point.link, np.broadcast_to(force, place.shape), place, np.zeros(len(place)))
    return {"loads": [load], "joint_m": joint_positions(chain, angle)}


@functools.cache
def second_derivative(n, last):
    """Function of lengths, angles and their derivatives -> acceleration of a point, by sympy from its position.

    The point is on link `last`, at the last of the lengths from its joint.
    """
    t = sp.Symbol("t")
    angle = [sp.Function(f"a{i}")(t) for i in range(n)]
    length = sp.symbols(f"l0:{last + 1}")
    theta = [sum(angle[: i + 1]) for i in range(last + 1)]
    position = [sum(r * f(a) for r, a in zip(length, theta, strict=True)) for f in (sp.cos, sp.sin)]
    plain = [sp.symbols(f"{letter}0:{n}") for letter in "awe"]
    order = [(2, plain[2]), (1, plain[1]), (0, plain[0])]
    names = [(a.diff(t, k) if k else a, s) for k, symbols in order for a, s in zip(angle, symbols, strict=True)]
    found = [p.diff(t, 2).subs(names) for p in position]
    return sp.lambdify([*length, *plain[0], *plain[1], *plain[2]], found, "numpy")


def derived_acceleration(chain, motion, link):
    """Acceleration of a link's centre of mass, by sympy."""
    numbers = np.concatenate([values.T for values in motion])
    found = second_derivative(chain.n_links, link)(*chain.length_m[:link], chain.com_m[link], *numbers)
    return np.stack(np.broadcast_arrays(*found), axis=1)


# --- three links: kinematics -----------------------------------------------------------------------------------------


def sines(angle):
    """Sines and cosines of a1, a1 + a2 and a1 + a2 + a3."""
    theta = np.cumsum(angle, axis=1).T
    return *np.sin(theta), *np.cos(theta)


def paper_accelerations(chain, motion, printed=None):
    """Equations (4), (6), (8), (10), (12) and (14), with (10) or (14) as printed on request, (n_frames, 3, 2)."""
    (l1, l2, _), (d1, d2, d3) = chain.length_m, chain.com_m
    (w1, w2, w3), (e1, e2, e3) = motion[1].T, motion[2].T
    s1, s12, s123, c1, c12, c123 = sines(motion[0])
    x1 = -d1 * (e1 * s1 + w1**2 * c1)
    y1 = d1 * (e1 * c1 - w1**2 * s1)
    x2 = -(l1 * s1 + d2 * s12) * e1 - d2 * s12 * e2 - (l1 * c1 + d2 * c12) * w1**2 - d2 * c12 * (2 * w1 * w2 + w2**2)
    sign = -1 if printed == 10 else 1
    y2 = (
        (l1 * c1 + d2 * c12) * e1 + d2 * c12 * e2
        - (l1 * s1 + sign * d2 * s12) * w1**2 - sign * d2 * s12 * (2 * w1 * w2 + w2**2)
    )  # fmt: skip
    x3 = (
        -(l1 * s1 + l2 * s12 + d3 * s123) * e1 - (l2 * s12 + d3 * s123) * e2 - d3 * s123 * e3
        - (l1 * c1 + l2 * c12 + d3 * c123) * w1**2 - (l2 * c12 + d3 * c123) * w2**2 - d3 * c123 * w3**2
        - (l2 * c12 + d3 * c123) * 2 * w1 * w2 - d3 * c123 * (2 * w1 * w3 + 2 * w2 * w3)
    )  # fmt: skip
    y3 = (
        (l1 * c1 + l2 * c12 + d3 * c123) * e1 + (l2 * c12 + d3 * c123) * e2 + d3 * c123 * e3
        - (l1 * s1 + l2 * s12 + d3 * s123) * w1**2 - (l2 * s12 + d3 * s123) * w2**2 - d3 * s123 * w3**2
        - (l2 * s12 + d3 * (c123 if printed == 14 else s123)) * 2 * w1 * w2 - d3 * s123 * (2 * w1 * w3 + 2 * w2 * w3)
    )  # fmt: skip
    return np.moveaxis(np.array([[x1, y1], [x2, y2], [x3, y3]]), -1, 0)


def test_centres_of_mass_accelerate_as_the_paper_says():
    """(3)-(14), corrected; sympy differentiates (3), (5), (7), (9), (11) and (13) twice."""
    chain = three_links()
    motion = motion_of(chain)
    paper = paper_accelerations(chain, motion)
    for link in range(3):
        derived = derived_acceleration(chain, motion, link)
        same(paper[:, link], derived)
        same(point_acceleration(chain, Kinematics(*motion), point=chain.centre_of_mass(link)), derived)


@pytest.mark.parametrize("printed", [10, 14])
def test_printed_accelerations_are_no_derivatives_of_the_positions(printed):
    """(10) turns signs: off by 2 d2 sin(a1 + a2) (a1' + a2')^2. (14) has a cosine for a sine of the hand's orientation."""
    chain = three_links()
    motion = motion_of(chain)
    link, (_, d2, d3) = {10: 1, 14: 2}[printed], chain.com_m
    off = (
        paper_accelerations(chain, motion, printed=printed)[:, link, 1]
        - derived_acceleration(chain, motion, link)[:, 1]
    )
    (_, s12, s123, _, _, c123), (w1, w2, _) = sines(motion[0]), motion[1].T
    expected = 2 * d2 * s12 * (w1 + w2) ** 2 if printed == 10 else d3 * (s123 - c123) * 2 * w1 * w2
    same(off, expected, scale=1e2)  # of accelerations of that size
    assert np.abs(off).max() > 2.0  # m/s^2


# --- three links: forces and moments ---------------------------------------------------------------------------------


SPRING_N, SPRING_ARM_M = 12.0, 0.03


def paper_moments(chain, motion, printed=None):
    """Equations (15)-(23) solved from the hand inwards: torques (n_frames, 3) and reactions (n_frames, 3, 2)."""
    (l1, l2, _), (m1, m2, m3) = chain.length_m, chain.mass_kg
    (d1, d2, d3), (i1, i2, i3) = chain.com_m, chain.inertia_kgm2
    e1, e2, e3 = motion[2].T
    s1, s12, s123, c1, c12, c123 = sines(motion[0])
    (x1, y1), (x2, y2), (x3, y3) = np.moveaxis(paper_accelerations(chain, motion), 0, -1)
    fx3, fy3 = m3 * x3 + SPRING_N, m3 * y3 + m3 * G
    fx2, fy2 = m2 * x2 + fx3, m2 * y2 + fy3 + m2 * G
    fx1, fy1 = m1 * x1 + fx2, m1 * y1 + fy2 + m1 * G
    t3 = i3 * (e1 + e2 + e3) - fx3 * d3 * s123 + fy3 * d3 * c123 - SPRING_N * SPRING_ARM_M * s123
    t2 = (
        i2 * (e1 + e2) + t3 - fx3 * (l2 - d2) * s12 + fy3 * (l2 - d2) * c12
        - fx2 * d2 * s12 + fy2 * d2 * c12
    )  # fmt: skip
    t1 = (
        i1 * e1 + t2 - fx2 * (l1 - d1) * s1 + fy2 * (l1 - d1) * c1
        - (fy1 if printed == 23 else fx1) * d1 * s1 + fy1 * d1 * c1
    )  # fmt: skip
    forces = np.array([[fx1, fy1], [fx2, fy2], [fx3, fy3]])
    return np.stack([t1, t2, t3], axis=1), np.moveaxis(forces, -1, 0)


def spring(chain, motion, from_wrist):
    """Inverse dynamics with the spring's pull on the hand, so far from the wrist."""
    options = force_at(chain, motion[0], [-SPRING_N, 0.0], Point(2, from_wrist))
    return call(newton_euler, chain, *motion, gravity_m_s2=DOWN, **options)


def test_newton_equations_of_the_paper_give_our_torques_and_reactions():
    chain = three_links()
    motion = motion_of(chain)
    torque, force = paper_moments(chain, motion)
    found = spring(chain, motion, chain.com_m[2] + SPRING_ARM_M)
    same(found.torque_nm, torque)
    same(found.reaction_n, force)
    options = force_at(chain, motion[0], [-SPRING_N, 0.0], Point(2, chain.com_m[2] + SPRING_ARM_M))
    same(call(torque_terms, chain, *motion, gravity_m_s2=DOWN, **options).net, torque)


def test_printed_equation_23_does_not_balance_the_upper_arm():
    """F_y1 in place of F_x1: the shoulder torque is off by (F_x1 - F_y1) d1 sin(a1)."""
    chain = three_links()
    motion = motion_of(chain)
    found = spring(chain, motion, chain.com_m[2] + SPRING_ARM_M)
    off = paper_moments(chain, motion, printed=23)[0] - found.torque_nm
    force = found.reaction_n[:, 0]
    expected = (force[:, 0] - force[:, 1]) * chain.com_m[0] * np.sin(motion[0][:, 0])
    same(off, np.stack([expected, 0 * expected, 0 * expected], axis=1), scale=1e2)
    assert np.abs(expected).max() > 5.0  # N m


# --- muscles ---------------------------------------------------------------------------------------------------------


# Straight muscles across one joint: origin on the proximal segment and insertion on the distal one, along and across the
# segment, from the joint, m. In front of the joint (across it to the left, with the arm hanging) they flex.
MUSCLES = {
    ("shoulder", "extensor"): ((-0.02, -0.03), (0.06, -0.02)),
    ("shoulder", "flexor"): ((-0.01, 0.04), (0.08, 0.03)),
    ("elbow", "extensor"): ((-0.11, -0.025), (-0.02, -0.012)),
    ("elbow", "flexor"): ((-0.13, 0.022), (0.04, 0.011)),
}


@functools.cache
def symbolic_length():
    """Length of a straight muscle and minus its slope, as functions of origin, insertion and flexion."""
    q, px, py, ix, iy = symbols = sp.symbols("q px py ix iy", real=True)
    length = sp.sqrt(
        (px - ix * sp.cos(q) + iy * sp.sin(q)) ** 2 + (py - ix * sp.sin(q) - iy * sp.cos(q)) ** 2
    )  # insertion turned by the flexion
    return sp.lambdify(symbols, length, "numpy"), sp.lambdify(symbols, -length.diff(q), "numpy")


def muscle_loads(chain, angle, joint, origin, insertion, tension):
    """What a muscle's tension does to the two segments: pulls both attachments towards each other."""
    number = {"shoulder": 0, "elbow": 1}[joint]
    if number:
        above = point_position(chain, angle, point=Point(0, chain.length_m[0] + origin[0], origin[1]))
    else:  # on the trunk, which the plane's axes stand for: the arm hangs along x, and there is no gravity here
        above = np.tile(origin, (len(angle), 1))
    below = point_position(chain, angle, point=Point(number, *insertion))
    pull = above - below
    pull = tension * pull / np.linalg.norm(pull, axis=1, keepdims=True)
    loads = [Load(number, pull, below, np.zeros(len(angle)))]
    return [*loads, Load(number - 1, -pull, above, np.zeros(len(angle)))] if number else loads


def torque_of_muscles(chain, angle, tension):
    """Torques that tensions (by muscle) make, by the lines of pull: what they take off the net torque of an arm at rest."""
    loads = [
        load
        for (name, ends), force in zip(MUSCLES.items(), tension, strict=True)
        for load in muscle_loads(chain, angle, name[0], *ends, force)
    ]
    options = {"gravity_m_s2": (0.0, 0.0), "loads": loads, "joint_m": joint_positions(chain, angle)}
    return -call(newton_euler, chain, angle, 0 * angle, 0 * angle, **options).torque_nm


def flexions():
    return np.random.default_rng(6).uniform([-0.4, 0.1], [0.9, 1.9], (FRAMES, 2))


@pytest.mark.parametrize("number", range(4))
def test_moment_arm_is_minus_the_slope_of_the_length(number):
    """Tension times -dL/dq is the moment of the line of pull; +dL/dq makes flexors extend. Which flexes is known: it
    lies in front of the joint."""
    chain, angle = two_links(), flexions()
    (joint, function), ends = list(MUSCLES.items())[number]
    column = {"shoulder": 0, "elbow": 1}[joint]
    length, minus_slope = symbolic_length()
    q = angle[:, column]
    arm = minus_slope(q, *ends[0], *ends[1])
    tension = 100.0 * np.eye(4)[number]
    torque = torque_of_muscles(chain, angle, tension)
    same(torque[:, column], 100.0 * arm)
    same(torque[:, 1 - column], 0 * arm, scale=100.0)
    assert (np.sign(arm) == (1.0 if function == "flexor" else -1.0)).all()
    assert np.abs(torque[:, column] - 100.0 * -arm).min() > 1.0  # N m, with the printed sign
    shorter = length(q + 0.1, *ends[0], *ends[1]) < length(q, *ends[0], *ends[1])
    assert (shorter == (function == "flexor")).all()


def muscle_set(arms):
    """The four muscles as a set with the moment arms of one posture."""
    muscles = [
        {
            "name": f"{joint}_{function}",
            "max_isometric_force_n": 500.0,
            "source": {"model": "by hand", "licence": "none"},
            "function": {joint: function},
            "moment_arms": {
                "shoulder": {"form": "zero"},
                "elbow": {"form": "zero"},
                joint: {"form": "constant", "arm_m": float(arm)},
            },
        }
        for (joint, function), arm in zip(MUSCLES, arms, strict=True)
    ]
    flexion = {"shoulder": "0 hanging", "elbow": "0 straight"}
    return muscle_set_from_mapping(
        {"name": "four", "joints": ["shoulder", "elbow"], "flexion": flexion, "muscles": muscles}
    )


def arms_at(angle):
    _, minus_slope = symbolic_length()
    return [
        minus_slope(angle[0 if joint == "shoulder" else 1], *origin, *insertion)
        for (joint, _), (origin, insertion) in MUSCLES.items()
    ]


def test_second_row_of_the_muscle_matrix_holds_arms_of_joint_2():
    """T = R F by the lines of pull; with the arms of joint 1 in both rows the elbow torque is another."""
    chain, tension = two_links(), np.array([150.0, 90.0, 210.0, 320.0])
    angle = flexions()[:1]
    arms = arms_at(angle[0])
    matrix = musculotendon(muscle_set(arms), angle).moment_arm_m[0]
    torque = torque_of_muscles(chain, angle, tension)[0]
    same(matrix, [[arms[0], arms[1], 0.0, 0.0], [0.0, 0.0, arms[2], arms[3]]])
    same(matrix @ tension, torque)
    printed = np.array([[arms[0], arms[1], 0.0, 0.0], [0.0, 0.0, arms[0], arms[1]]])
    off = printed @ tension - torque
    same(off[0], 0.0, scale=10.0)
    assert abs(off[1]) > 1.0  # N m


def test_flexor_with_the_printed_sign_is_refused():
    arms = np.array(arms_at(np.zeros(2)))
    muscle_set(arms)
    with pytest.raises(SettingsError, match=r"elbow_flexor' is named a flexor of the elbow.*r = -dL/dq"):
        muscle_set(-arms)

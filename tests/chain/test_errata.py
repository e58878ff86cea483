"""Every correction to the source documents: our form holds, the printed one does not.

Our form is checked against a derivation of its own (sympy, a moment or energy balance, an integration); the printed form
is typed here and has to miss by an amount that is known or plainly not rounding.

| source, line | what is wrong | test here, or elsewhere |
| --- | --- | --- |
| three links (1) | nothing: its angles are ours | test_conventions: test_internal_angles_are_those_between_the_links |
| (3)-(9), (11)-(13) | nothing | test_centres_of_mass_accelerate_as_the_paper_says |
| (10) | signs of the centripetal and Coriolis terms | test_printed_equation_10_is_no_derivative_of_9 |
| (14) | cosine for sine | test_printed_equation_14_is_no_derivative_of_13 |
| (15)-(17), (20)-(21) | nothing | test_newton_equations_of_the_paper_give_our_torques_and_reactions |
| (18), (19), (22) | letters of the forces | test_forces_of_18_19_and_22_are_those_along_x_and_y |
| (23) | F_y1 for F_x1 | test_printed_equation_23_does_not_balance_the_upper_arm |
| (27)-(30), (32)-(44) | nothing | test_chain: test_three_links_are_the_closed_form_of_the_paper |
| (31) | a factor 2 | test_chain: test_the_printed_m22_is_not_the_inertia_matrix |
| text on d_S | from the wrist | test_d_s_runs_from_the_centre_of_mass_of_the_hand |
| F_S | pulls towards -x | test_chain: test_a_spring_towards_minus_x_needs_a_torque_the_other_way |
| base | fixed | test_chain: test_every_term_is_that_of_the_lagrangian |
| two links, moment on link 2 | sign | test_external_moment_on_the_second_link_is_a_cross_product |
| one link, matrix form | gravity without mass | test_gravity_of_one_link_carries_its_mass |
| dyna() | no external force at joint 1 | test_chain: test_two_links_with_a_force_at_the_end |
| muscle matrix | arms of joint 1 in row 2 | test_second_row_of_the_muscle_matrix_holds_arms_of_joint_2 |
| segment parameters | landmarks of the length | test_segments: test_forearm_and_hand_to_the_fingertip_is_refused |
| r = +dL/dq | sign | test_moment_arm_is_minus_the_slope_of_the_length, test_flexor_with_the_printed_sign_is_refused |
| endpoint clamp | silent | test_inverse_kinematics: test_projection_takes_the_nearest_point_within_reach |
| kinematic chain, Out[20] | signs lost | test_acceleration_of_two_links |
| arctan | two quadrants | test_inverse_kinematics_in_four_quadrants |
| one of two solutions | the other | test_inverse_kinematics: test_the_angles_found_lead_to_the_target |
| matrix formalism, code | m2 g l2 for m2 g l1 | test_free_double_pendulum_keeps_its_energy_only_with_l1 |
| its convention | signs, angles | test_matrix_formalism_has_other_signs_and_angles |
"""

import functools

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from chains import ROUNDING, call, same, three_links
from limbtorque.chain.conventions import joint_angles, segment_angles, segment_torques
from limbtorque.chain.dynamics import newton_euler, torque_terms
from limbtorque.chain.inverse import two_link_angles
from limbtorque.chain.kinematics import joint_positions, point_acceleration, point_position
from limbtorque.chain.model import Chain, Kinematics, Load, Point
from limbtorque.errors import SettingsError
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import muscle_set_from_mapping
from limbtorque.simulation.forward import State, simulate

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


def derived_acceleration(chain, motion, link):
    """Acceleration of a link's centre of mass; test_kinematics derives it by sympy."""
    return point_acceleration(chain, Kinematics(*motion), point=chain.centre_of_mass(link))


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
    """(3)-(14), corrected."""
    chain = three_links()
    motion = motion_of(chain)
    paper = paper_accelerations(chain, motion)
    for link in range(3):
        same(paper[:, link], derived_acceleration(chain, motion, link))


def test_printed_equation_10_is_no_derivative_of_9():
    """Its centripetal and Coriolis terms turn round: off by 2 d2 sin(a1 + a2) (a1' + a2')^2."""
    chain = three_links()
    motion = motion_of(chain)
    off = paper_accelerations(chain, motion, printed=10)[:, 1, 1] - derived_acceleration(chain, motion, 1)[:, 1]
    expected = 2 * chain.com_m[1] * np.sin(motion[0][:, :2].sum(axis=1)) * motion[1][:, :2].sum(axis=1) ** 2
    same(off, expected, scale=1e2)  # of accelerations of that size
    assert np.abs(off).max() > 10.0  # m/s^2


def test_printed_equation_14_is_no_derivative_of_13():
    """A cosine for a sine: off by d3 (sin - cos)(a1 + a2 + a3) 2 a1' a2'."""
    chain = three_links()
    motion = motion_of(chain)
    off = paper_accelerations(chain, motion, printed=14)[:, 2, 1] - derived_acceleration(chain, motion, 2)[:, 1]
    theta = motion[0].sum(axis=1)
    expected = chain.com_m[2] * (np.sin(theta) - np.cos(theta)) * 2 * motion[1][:, 0] * motion[1][:, 1]
    same(off, expected, scale=1e2)
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


def test_forces_of_18_19_and_22_are_those_along_x_and_y():
    """F_r2, F_r3, F_v1 and so on are F_x2, F_x3, F_y1: with forces along and across the link no link is balanced."""
    chain = three_links()
    motion = motion_of(chain)
    force = spring(chain, motion, chain.com_m[2] + SPRING_ARM_M).reaction_n
    theta = np.cumsum(motion[0], axis=1)
    for link in (0, 1):
        inertial = chain.mass_kg[link] * (derived_acceleration(chain, motion, link) - DOWN)
        same(force[:, link] - force[:, link + 1], inertial, scale=np.abs(force).max())
        along = np.stack([np.cos(theta[:, link]), np.sin(theta[:, link])], axis=1)
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        other = np.stack([(force * direction[:, None]).sum(axis=2) for direction in (along, across)], axis=2)
        off = np.abs(other[:, link] - other[:, link + 1] - inertial)
        assert (np.median(off, axis=0) > 1.0).all()  # N


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


def test_d_s_runs_from_the_centre_of_mass_of_the_hand():
    """As (17) uses it. Read from the wrist, as the text has it, every torque lacks F_S d3 sin(a1 + a2 + a3)."""
    chain = three_links()
    motion = motion_of(chain)
    off = spring(chain, motion, SPRING_ARM_M).torque_nm - paper_moments(chain, motion)[0]
    missing = SPRING_N * chain.com_m[2] * np.sin(motion[0].sum(axis=1))
    same(off, np.repeat(missing[:, None], 3, axis=1), scale=1e2)
    assert np.abs(missing).max() > 0.5  # N m, of a wrist torque of a few


# --- one and two links -----------------------------------------------------------------------------------------------


def end_load(chain, motion, seed=5):
    """A random force on the end, and inverse dynamics with it."""
    force = np.random.default_rng(seed).normal(size=(FRAMES, 2)) * 40.0
    options = {"gravity_m_s2": DOWN, **force_at(chain, motion[0], force, chain.endpoint)}
    return force, call(torque_terms, chain, *motion, **options), call(newton_euler, chain, *motion, **options)


def test_external_moment_on_the_second_link_is_a_cross_product():
    """About its centre of mass: -(L2-d2) Fex sin + (L2-d2) Fey cos; minus twice is off by 2 (L2-d2) Fey cos."""
    arm, theta, fx, fy = sp.symbols("arm theta fx fy")
    lever, pull = sp.Matrix([arm * sp.cos(theta), arm * sp.sin(theta), 0]), sp.Matrix([fx, fy, 0])
    moment = lever.cross(pull)[2]
    ours = -arm * fx * sp.sin(theta) + arm * fy * sp.cos(theta)
    printed = -arm * fx * sp.sin(theta) - arm * fy * sp.cos(theta)
    assert sp.simplify(moment - ours) == 0
    assert sp.simplify(moment - printed - 2 * arm * fy * sp.cos(theta)) == 0

    chain = two_links()
    motion = motion_of(chain)
    force, _, found = end_load(chain, motion)
    torque, reaction = found.torque_nm[:, 1], found.reaction_n[:, 1]
    turned, d2 = motion[0].sum(axis=1), chain.com_m[1]
    rest = chain.inertia_kgm2[1] * motion[2].sum(axis=1) - torque
    rest -= d2 * reaction[:, 0] * np.sin(turned) - d2 * reaction[:, 1] * np.cos(turned)
    values = (chain.length_m[1] - d2, turned, *force.T)
    symbols = (arm, theta, fx, fy)
    same(sp.lambdify(symbols, ours)(*values), rest, scale=np.abs(torque).max())
    assert np.abs(sp.lambdify(symbols, printed)(*values) - rest).max() > 5.0  # N m


def test_gravity_of_one_link_carries_its_mass():
    """F_r + F_g + F_e = m a closes with F_g = (0, -m g); with (0, -g) it misses by (m - 1) g."""
    chain = Chain([0.4], [3.0], [0.17], [0.05])
    motion = motion_of(chain)
    force, _, found = end_load(chain, motion)
    rest = chain.mass_kg[0] * derived_acceleration(chain, motion, 0) - found.reaction_n[:, 0] - force
    size = np.abs(found.reaction_n).max()
    same(rest, np.tile([0.0, -3.0 * G], (FRAMES, 1)), scale=size)
    same(np.array([0.0, -G]) - rest, np.tile([0.0, 2.0 * G], (FRAMES, 1)), scale=size)


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
    with pytest.raises(SettingsError, match=r"elbow_flexor' is listed as a flexor of the elbow.*r = -dL/dq"):
        muscle_set(-arms)


# --- inverse kinematics ----------------------------------------------------------------------------------------------


LENGTHS = np.array([0.31, 0.27])


def end_of(angle, lengths=LENGTHS):
    """Where two links end, by hand."""
    theta = np.cumsum(angle, axis=1)
    return np.stack([(lengths * np.cos(theta)).sum(axis=1), (lengths * np.sin(theta)).sum(axis=1)], axis=1)


def printed_angles(target, arctan, lengths=LENGTHS):
    """Equations of the notebook, with the arc tangent of a quotient or of two arguments, clamped as its code does."""
    cosine = ((target**2).sum(axis=1) - (lengths**2).sum()) / (2.0 * lengths.prod())
    second = np.arccos(np.clip(cosine, -1.0, 1.0))
    inner = arctan(lengths[1] * np.sin(second), lengths[0] + lengths[1] * np.cos(second))
    return np.stack([arctan(target[:, 1], target[:, 0]) - inner, second], axis=1)


def quadrant(number):
    """Targets within reach in one quadrant."""
    rng = np.random.default_rng(number)
    away, turn = rng.uniform(0.06, 0.57, FRAMES), rng.uniform(0.05, np.pi / 2 - 0.05, FRAMES) + number * np.pi / 2
    return away[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)


# arccos loses 1e-16 / sin(a2), and sin(a2) is above 0.15 for these targets; some hundred times that
REACHED_M = 1e-13


@pytest.mark.parametrize("bend", ["positive", "negative"])
@pytest.mark.parametrize("number", range(4))
def test_inverse_kinematics_in_four_quadrants(number, bend):
    target = quadrant(number)
    found = two_link_angles(LENGTHS, target, bend=bend)
    np.testing.assert_allclose(end_of(found.angle_rad), target, rtol=0.0, atol=REACHED_M)
    assert (np.sign(found.angle_rad[:, 1]) == (1.0 if bend == "positive" else -1.0)).all()
    assert not found.shift_m.any()
    np.testing.assert_allclose(end_of(printed_angles(target, np.arctan2)), target, rtol=0.0, atol=REACHED_M)
    off = np.linalg.norm(end_of(printed_angles(target, lambda y, x: np.arctan(y / x))) - target, axis=1)
    if number in (1, 2):  # to the left of the base the quotient points the other way, right through it
        np.testing.assert_allclose(off, 2.0 * np.linalg.norm(target, axis=1), rtol=1e-12)
    else:
        assert off.max() < REACHED_M


# --- kinematics of two links -----------------------------------------------------------------------------------------


def test_acceleration_of_two_links():
    """The printed x component has lost its minus signs before the terms in cos(a1) a1'^2 and in both of the second link."""
    chain = two_links()
    motion = motion_of(chain)
    (a1, a2), (w1, w2), (e1, e2), (l1, l2) = *(values.T for values in motion), chain.length_m
    turned, both = a1 + a2, (w1 + w2) ** 2
    found = point_acceleration(chain, Kinematics(*motion), point=chain.endpoint)[:, 0]
    lost = l1 * np.cos(a1) * w1**2 + l2 * both * np.cos(turned) + l2 * (e1 + e2) * np.sin(turned)
    same(-l1 * np.sin(a1) * e1 + lost - found, 2.0 * lost, scale=np.abs(found).max())
    assert np.median(np.abs(lost)) > 5.0  # m/s^2


# --- the matrix formalism --------------------------------------------------------------------------------------------

BARS = {"l1": 1.0, "l2": 0.5, "m1": 1.0, "m2": 1.0}  # of its code


def bars():
    length, mass = np.array([BARS["l1"], BARS["l2"]]), np.array([BARS["m1"], BARS["m2"]])
    return Chain(length, mass, length / 2.0, mass * length**2 / 12.0)


def formalism(theta, omega, gravity_length=BARS["l1"]):
    """M, C and G of two bars, angles from the downward vertical; time last."""
    (t1, t2), (w1, w2) = theta, omega
    l1, l2, m1, m2 = BARS.values()
    coupling, difference = m2 * l1 * l2 / 2.0, t1 - t2
    mixed = coupling * np.cos(difference)
    matrix = np.array([[m1 * l1**2 / 3 + m2 * l1**2 + 0 * mixed, mixed], [mixed, m2 * l2**2 / 3 + 0 * mixed]])
    velocity = np.array([-coupling * w2**2 * np.sin(difference), coupling * w1**2 * np.sin(difference)])
    first = -m1 * G * l1 / 2.0 * np.sin(t1) - m2 * G * gravity_length * np.sin(t1)
    return matrix, velocity, np.array([first, -m2 * G * l2 / 2.0 * np.sin(t2)])


def energy_of_bars(theta, omega):
    """From the speeds and heights of the two centres of mass."""
    (t1, t2), (w1, w2) = theta, omega
    l1, l2, m1, m2 = BARS.values()
    vx = l1 * w1 * np.cos(t1) + l2 / 2.0 * w2 * np.cos(t2)
    vy = l1 * w1 * np.sin(t1) + l2 / 2.0 * w2 * np.sin(t2)
    kinetic = m1 * l1**2 / 6.0 * w1**2 + m2 / 2.0 * (vx**2 + vy**2) + m2 * l2**2 / 24.0 * w2**2
    return kinetic - m1 * G * l1 / 2.0 * np.cos(t1) - m2 * G * (l1 * np.cos(t1) + l2 / 2.0 * np.cos(t2))


START = np.array([np.pi / 10.0, np.pi / 3.0]), np.array([2.0 * np.pi, -6.0 * np.pi])  # of its code


def test_free_double_pendulum_keeps_its_energy_only_with_l1():
    """3.899 J. Tolerance: a hundred times the integrator's relative one, 1e-9, of the largest kinetic energy, 21 J."""
    chain, time = bars(), np.linspace(0.0, 5.0, 501)
    theta, omega = START
    run = simulate(
        chain,
        time,
        State(joint_angles(theta[None], zero="downward_vertical")[0], joint_angles(omega[None])[0]),
        torque=np.zeros((501, 2)),
        gravity_m_s2=DOWN,
    )
    assert run.success
    kept = energy_of_bars(segment_angles(run.angle_rad, zero="downward_vertical").T, np.cumsum(run.velocity_rad_s, 1).T)
    assert energy_of_bars(theta, omega) == pytest.approx(3.899, abs=5e-4)
    np.testing.assert_allclose(kept, energy_of_bars(theta, omega), rtol=0.0, atol=2.1e-6)
    np.testing.assert_allclose(run.energy_j, kept, rtol=0.0, atol=ROUNDING * 21.0)

    def free(length):
        def rate(_, state):
            matrix, velocity, gravity = formalism(state[:2], state[2:], length)
            return np.concatenate([state[2:], np.linalg.solve(matrix, velocity + gravity)])

        state = solve_ivp(rate, (0.0, 5.0), np.concatenate(START), "DOP853", time, rtol=1e-9, atol=1e-10).y
        return energy_of_bars(state[:2], state[2:])

    np.testing.assert_allclose(free(BARS["l1"]), energy_of_bars(theta, omega), rtol=0.0, atol=2.1e-6)
    as_coded = free(BARS["l2"])
    assert as_coded.min() == pytest.approx(3.7, abs=0.06)
    assert as_coded.max() == pytest.approx(10.0, abs=0.06)


def test_matrix_formalism_has_other_signs_and_angles():
    """M q'' = C + G + Q + E with q from the downward vertical and Q = (M1 - M12, M12): closes after conversion only."""
    chain = bars()
    motion = motion_of(chain)
    force, terms, wrenches = end_load(chain, motion)
    theta = segment_angles(motion[0], zero="downward_vertical").T
    omega, spin = np.cumsum(motion[1], axis=1).T, np.cumsum(motion[2], axis=1).T
    matrix, velocity, gravity = formalism(theta, omega)
    external = chain.length_m[:, None] * (np.cos(theta) * force[:, 0] + np.sin(theta) * force[:, 1])
    inertial = np.einsum("ijt,jt->it", matrix, spin)
    driving = segment_torques(terms.net).T
    size = np.abs(inertial).max()
    same(inertial, velocity + gravity + driving + external, scale=size)
    same(segment_torques(wrenches.torque_nm).T, driving, scale=size)
    same(driving, np.array([terms.net[:, 0] - terms.net[:, 1], terms.net[:, 1]]))
    same(joint_angles(theta.T, zero="downward_vertical"), motion[0])
    # the sign of the other documents; their torques; their angles
    signs = inertial + velocity + gravity + external - driving
    torques = inertial - (velocity + gravity + terms.net.T + external)
    _, other_velocity, other_gravity = formalism(segment_angles(motion[0]).T, omega)
    angles = inertial - (other_velocity + other_gravity + driving + external)
    for off in (signs, torques[:1], angles):
        assert (np.median(np.abs(off), axis=1) > 1.0).all()  # N m

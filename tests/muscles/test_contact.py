"""Force in a joint: statics by hand, free bodies of moving limbs with muscles, and what is not known."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pulls import implied_arm, pull_direction
from scipy.optimize import nnls

from chains import random_chain, random_motion, same
from limbtorque.chain.dynamics import newton_euler
from limbtorque.chain.model import Kinematics
from limbtorque.muscles.joint_contact import TOLERANCE_M, contact_force
from limbtorque.muscles.lines_of_action import (
    along_and_across,
    line_arrays,
    lines_of_action,
    segment_axes,
)
from limbtorque.muscles.sets.muscle import LineOfAction

DOWN = -np.pi / 2
angles = st.floats(-4.0, 4.0)
lengths = st.floats(0.02, 0.3)
offsets = st.floats(-0.06, 0.06).map(lambda metres: round(metres, 9))


def between(proximal_m, distal_m):
    return LineOfAction(proximal_m=list(proximal_m), distal_m=list(distal_m), source="by hand")


BICEPS = between((0.3, 0.04), (0.04, 0.0))


def beside(segment):
    return LineOfAction(parallel_to=segment, source="by hand")


def towards(*degrees, part=1.0, range_deg=(-180.0, 180.0)):
    """A direction by flexion: coefficients in rising powers of the flexion in radians."""
    return LineOfAction(direction_deg=list(degrees), range_deg=list(range_deg), in_plane_part=part, source="by hand")


def direction(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def left_of(vector):
    return np.stack([-vector[..., 1], vector[..., 0]], axis=-1)


def cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def points_in_plane(line, proximal_rad, distal_rad, sign):
    """Both points as seen from the joint, by the words of the muscle set: away from the joint, and to the flexor side."""
    e, f = direction(np.asarray(proximal_rad)), direction(np.asarray(distal_rad))
    back, aside = line.proximal_m
    forth, beside = line.distal_m
    return -back * e + sign * aside * left_of(e), forth * f + sign * beside * left_of(f)


def one_joint(lines, crosses=None, *, reaction, force, arm, proximal=DOWN, distal=0.0, sign=1.0, **options):
    """One joint and one frame; muscles named m0, m1, ..."""
    return contact_force(
        [[reaction]],
        [force],
        [[arm]],
        line_arrays([lines], crosses or [[True] * len(lines)]),
        axes_rad=([[proximal]], [[distal]]),
        flexion_sign=[sign],
        joints=["elbow"],
        muscles=[f"m{k}" for k in range(len(lines))],
        **options,
    )


# directions and moment arms


@settings(max_examples=200, deadline=None)
@given(angles, angles, st.sampled_from([-1.0, 1.0]), lengths, offsets, lengths, offsets)
def test_a_pull_runs_from_the_distal_point_to_the_proximal_one_and_turns_as_its_arm_says(p, d, sign, a, b, c, e):
    line = between((a, b), (c, e))
    start, end = points_in_plane(line, p, d, sign)
    length = np.hypot(*(start - end))
    if length < 1e-3:
        return
    frames = {"proximal_rad": [p], "distal_rad": [d], "flexion_sign": sign}
    pull = pull_direction(line, **frames)[0]
    same(pull, (start - end) / length, rounding=1e-10)
    arm = implied_arm(line, **frames)[0]
    assert arm == pytest.approx(sign * cross(end, pull), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(angles, angles, st.sampled_from([-1.0, 1.0]), st.sampled_from(["proximal", "distal"]), offsets)
def test_a_parallel_pull_at_the_distance_of_the_moment_arm_turns_by_it(p, d, sign, segment, arm):
    """It lies beside the axis on the flexor side where the arm is positive, and on the other side where it is negative."""
    pull = pull_direction(beside(segment), proximal_rad=[p], distal_rad=[d], flexion_sign=sign)[0]
    axis = direction(np.float64(p if segment == "proximal" else d))
    same(pull, -axis)
    assert sign * cross(arm * sign * left_of(axis), pull) == pytest.approx(arm, abs=1e-12)


# statics by hand


def test_force_in_the_elbow_of_a_level_forearm():
    """1.5 kg at 0.15 m and 5 kg at 0.35 m, held by a vertical biceps at 0.04 m: F = g (0.225 + 1.75) / 0.04."""
    g = 9.81
    pull = g * (1.5 * 0.15 + 5.0 * 0.35) / 0.04
    found = one_joint([BICEPS], reaction=[0.0, 6.5 * g], force=[pull], arm=[0.04])
    same(found.contact_n[0, 0], np.array([0.0, 6.5 * g - pull]))
    assert found.known.all()
    assert found.reasons.notes == ()
    along, across = along_and_across(found.contact_n[:, 0], [0.0], flexion_sign=1.0)
    assert along[0] == pytest.approx(0.0, abs=1e-9)
    assert across[0] == pytest.approx(6.5 * g - pull)  # the humerus pushes the forearm down, away from flexion


def test_force_in_the_ankle_on_tiptoe_is_four_times_the_weight():
    """Ground reaction W three times as far from the ankle as the Achilles tendon: 3 W in the tendon, 4 W in the joint."""
    weight = 800.0
    found = one_joint([beside("proximal")], reaction=[0.0, -weight], force=[3 * weight], arm=[-0.05])
    same(found.contact_n[0, 0], np.array([0.0, -4 * weight]))
    same(along_and_across(found.contact_n[:, 0], [DOWN], flexion_sign=1.0)[0], np.array([4 * weight]))
    assert "m0 assumed parallel to a segment" in found.reasons.notes[0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("flexion_deg", [0.0, 20.0, 75.0])
def test_force_in_a_knee_pulled_by_one_ligament_is_the_triangle_of_forces(sign, flexion_deg):
    """The ligament leans to the front by 21 deg less a quarter of the flexion. Contact = reaction - tension along it; with a vertical shank the horizontal
    part is F sin(lean), the vertical one R - F cos(lean)."""
    lean = np.radians(21.0 - 0.25 * flexion_deg)
    force, reaction = 2400.0, 700.0
    line = towards(-21.0, 0.25 * np.degrees(1.0))  # to the flexor side positive: the ligament leans away from it
    given = {"reaction": [0.0, reaction], "force": [force], "arm": [-0.04], "sign": sign}
    found = one_joint([line], **given, proximal=DOWN - sign * np.radians(flexion_deg), distal=DOWN)
    flexor_side = sign * left_of(direction(np.float64(DOWN)))
    expected = np.array([0.0, reaction - force * np.cos(lean)]) + force * np.sin(lean) * flexor_side
    same(found.contact_n[0, 0], expected, scale=force)
    assert found.reasons.notes == ()


def test_force_in_the_hip_of_one_legged_stance_is_that_of_pauwels_lever():
    """Weight W less a leg at distance b from the hip, abductors at a on the other side: F = W b / a, inclined by theta to the
    vertical. Contact: horizontal F sin, vertical W + F cos (Pauwels 1976; here in the plane of the drawing)."""
    weight, a, b, theta = 600.0, 0.05, 0.1, np.radians(20.0)
    pull = weight * b / a
    found = one_joint([towards(20.0)], reaction=[0.0, -weight], force=[pull], arm=[a], proximal=DOWN, distal=DOWN)
    size = np.hypot(pull * np.sin(theta), weight + pull * np.cos(theta))
    assert np.hypot(*found.contact_n[0, 0]) == pytest.approx(size, rel=1e-12)


def test_a_direction_is_held_at_the_ends_of_its_range_and_counts_with_its_part_in_the_plane():
    line = towards(0.0, np.degrees(1.0), part=0.8, range_deg=(0.0, 30.0))
    for flexion_deg, held_deg in ((20.0, 20.0), (50.0, 30.0), (-10.0, 0.0)):
        found = pull_direction(line, proximal_rad=[DOWN], distal_rad=[DOWN + np.radians(flexion_deg)], flexion_sign=1.0)
        axis, held = direction(DOWN + np.radians(flexion_deg)), np.radians(held_deg)
        same(found[0], 0.8 * (-axis * np.cos(held) + left_of(axis) * np.sin(held)), rounding=1e-12)


def test_flexion_of_a_direction_may_differ_from_the_angle_between_the_axes():
    """The ankle: the foot's axis is at a right angle to the shank at zero flexion."""
    line = towards(90.0, np.degrees(1.0))
    both = {"reaction": [0.0, 0.0], "force": [1000.0], "arm": [-0.05], "proximal": DOWN, "distal": 0.0}
    given = one_joint([line], **both, flexion_rad=[[0.0]])
    same(given.contact_n[0, 0], np.array([0.0, -1000.0]), scale=1000.0)
    same(one_joint([line], **both).contact_n[0, 0], np.array([-1000.0, 0.0]), scale=1000.0)


def test_both_muscles_that_brace_a_straight_joint_press_it():
    """Antagonists with equal arms along a hanging segment: no torque, and the sum of their pulls as compression."""
    both = [beside("proximal"), beside("distal")]
    found = one_joint(both, reaction=[0.0, 20.0], force=[100.0, 100.0], arm=[0.03, -0.03], distal=DOWN)
    along, across = along_and_across(found.contact_n[:, 0], [DOWN], flexion_sign=1.0)
    assert along[0] == pytest.approx(200.0 - 20.0)
    assert across[0] == pytest.approx(0.0, abs=1e-12)


# free bodies


class Limb:
    """A chain of three links in motion, with muscles led through eyelets; every force put where it acts.

    Flexors and extensors of each joint, and one muscle over joints 1 and 2 that is led along link 1 through two
    eyelets. Their forces make the torques of inverse dynamics.
    """

    sign = np.array([1.0, -1.0, 1.0])

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.chain = random_chain(rng, 3)
        self.angle, self.velocity, self.acceleration = random_motion(rng, 3, frames=40)
        self.theta = np.cumsum(self.angle, axis=1)
        self.gravity, self.base = np.array([0.3, -9.81]), rng.normal(0.0, 5.0, 2)
        self.wrenches = newton_euler(
            self.chain,
            Kinematics(self.angle, self.velocity, self.acceleration, base_acceleration_m_s2=self.base),
            gravity_m_s2=self.gravity,
        )
        self.proximal = np.column_stack([np.full(40, DOWN), self.theta[:, :-1]])
        self.lines = [[None] * 7 for _ in range(3)]
        for j in range(3):
            for k, side in enumerate((0.05, -0.05)):
                points = rng.uniform(0.05, 0.1, 2)
                self.lines[j][2 * j + k] = between((points[0], side), (points[1], side))
        for j in (1, 2):
            self.lines[j][6] = between((0.08, 0.03), (0.07, 0.02))
        self.arm = np.zeros((40, 3, 7))
        for j, m in self.crossings():
            self.arm[:, j, m] = implied_arm(
                self.lines[j][m],
                proximal_rad=self.proximal[:, j],
                distal_rad=self.theta[:, j],
                flexion_sign=self.sign[j],
            )
        self.force = self.shared()

    def crossings(self):
        return [(j, m) for j in range(3) for m in range(7) if self.lines[j][m]]

    def shared(self):
        """Tensions that make the torques, in frames in which all muscles together can."""
        torque = self.wrenches.torque_nm * self.sign
        force = np.full((40, 7), np.nan)
        for f in range(40):
            tension, rest = nnls(self.arm[f], torque[f] - self.arm[f, :, 6] * 300.0)
            if rest < 1e-9 * (1.0 + np.abs(torque[f]).max()):
                force[f] = tension
                force[f, 6] += 300.0
        return force

    def contact(self, **options):
        return contact_force(
            self.wrenches.reaction_n,
            self.force,
            self.arm,
            line_arrays(self.lines, [[line is not None for line in row] for row in self.lines]),
            axes_rad=(self.proximal, self.theta),
            flexion_sign=self.sign,
            joints=("hip", "knee", "ankle"),
            muscles=[f"m{k}" for k in range(7)],
            **options,
        )

    def com_acceleration(self):
        """Of each link's centre of mass, and the angular ones; centripetal and tangential parts link by link."""
        rate, spin = np.cumsum(self.velocity, axis=1), np.cumsum(self.acceleration, axis=1)
        e = direction(self.theta)
        per_metre = spin[..., None] * left_of(e) - rate[..., None] ** 2 * e
        joint = np.broadcast_to(self.base, (40, 2))
        of_com = []
        for i in range(3):
            of_com.append(joint + self.chain.com_m[i] * per_metre[:, i])
            joint = joint + self.chain.length_m[i] * per_metre[:, i]
        return np.stack(of_com, axis=1), spin

    def on_link(self, i, contact):
        """All forces on a link: (force, point seen from its proximal joint)."""
        e, length = direction(self.theta[:, i]), self.chain.length_m[i]
        zero = np.zeros((40, 2))
        forces = [(contact[:, i], zero), (self.chain.mass_kg[i] * (self.gravity + zero), self.chain.com_m[i] * e)]
        if i < 2:
            forces.append((-contact[:, i + 1], length * e))
        for j, m in self.crossings():
            start, end = points_in_plane(self.lines[j][m], self.proximal[:, j], self.theta[:, j], self.sign[j])
            pull = self.force[:, m, None] * (start - end) / np.hypot(*(start - end).T)[:, None]
            if j == i:
                forces.append((pull, end))
            if j == i + 1:
                forces.append((-pull, length * e + start))
        return forces


@pytest.mark.parametrize("seed", range(6))
def test_contact_and_muscles_move_every_link_as_newton_and_euler_say(seed):
    """On each link: contact at both ends, each muscle at its eyelets, weight. Sum = m a, moments about the centre = I w'."""
    limb = Limb(seed)
    found = limb.contact()
    reachable = ~np.isnan(limb.force).any(axis=1)
    assert reachable.sum() > 5
    np.testing.assert_array_equal(found.known, np.repeat(reachable[:, None], 3, axis=1))
    acceleration, spin = limb.com_acceleration()
    for i in range(3):
        forces = limb.on_link(i, found.contact_n)
        centre = limb.chain.com_m[i] * direction(limb.theta[:, i])
        scale = max(np.abs(force[reachable]).max() for force, _ in forces)
        total = sum(force for force, _ in forces)
        same(total[reachable], (limb.chain.mass_kg[i] * acceleration[:, i])[reachable], scale, rounding=1e-10)
        moment = sum(cross(point - centre, force) for force, point in forces)
        same(moment[reachable], (limb.chain.inertia_kgm2[i] * spin[:, i])[reachable], scale, rounding=1e-8)


def test_a_straight_muscle_over_two_joints_counts_at_both_and_leaves_the_link_between_alone():
    """Three upright links at rest; a string at 0.02 m beside them from the first to the third, through none.

    Its tension presses both joints, and on the massless middle link both contact forces balance.
    """
    upright = np.full((1, 3), np.pi / 2)
    string = beside("proximal")
    found = contact_force(
        np.zeros((1, 3, 2)),
        [[120.0]],
        [[[0.0], [0.02], [0.02]]],
        line_arrays([[None], [string], [string]], [[False], [True], [True]]),
        axes_rad=(upright, upright),
        flexion_sign=[1.0, 1.0, 1.0],
        joints=("a", "b", "c"),
        muscles=("string",),
    )
    np.testing.assert_allclose(found.contact_n[0], [[0.0, 0.0], [0.0, 120.0], [0.0, 120.0]], atol=1e-12)
    along, _ = along_and_across(found.contact_n[0], upright[0], flexion_sign=1.0)
    np.testing.assert_allclose(along, [0.0, 120.0, 120.0], atol=1e-12)


# what is not known


def test_a_muscle_that_pulls_without_a_line_leaves_the_joint_unknown_and_is_named():
    found = one_joint([beside("distal"), None], reaction=[0.0, 1.0], force=[10.0, 5.0], arm=[0.03, 0.0])
    assert not found.known.any()
    assert np.isnan(found.contact_n).all()
    assert found.reasons.shares("without_line", 0) == {"m1": 1.0}
    assert any("m1" in note and "100 %" in note for note in found.reasons.notes)


def test_a_muscle_without_force_needs_no_line():
    found = one_joint([beside("distal"), None], reaction=[0.0, 1.0], force=[10.0, 0.0], arm=[0.03, 0.04])
    assert found.known.all()
    assert found.reasons.shares("without_line", 0) == {}


def test_two_points_that_meet_do_not_matter_where_the_muscle_does_not_pull():
    """Both points 5 cm in front of the joint of a right angle: the stretch between them has no direction."""
    meeting = between((0.0, 0.05), (0.05, 0.0))
    still = one_joint([meeting], reaction=[0.0, 1.0], force=[0.0], arm=[0.04])
    same(still.contact_n[0, 0], np.array([0.0, 1.0]))
    aligned = {"proximal_rad": [0.0], "distal_rad": [0.0], "flexion_sign": 1.0}
    touching = between((-0.05, 0.0), (0.05, 0.0))
    assert np.isnan(pull_direction(touching, **aligned)).all()
    pulling = one_joint([touching], reaction=[0.0, 1.0], force=[9.0], arm=[0.0], proximal=0.0)
    assert not pulling.known.any()
    assert list(pulling.reasons.shares("disagreeing", 0)) == ["m0"]


@pytest.mark.parametrize(("off_m", "known"), [(0.9 * TOLERANCE_M, True), (-1.1 * TOLERANCE_M, False)])
def test_points_that_imply_another_arm_are_not_believed(off_m, known):
    """The biceps of the level forearm has 0.04 m by its points."""
    found = one_joint([BICEPS], reaction=[0.0, 1.0], force=[10.0], arm=[0.04 + off_m])
    assert found.known.all() == known
    assert found.reasons.shares("disagreeing", 0) == ({} if known else {"m0": 1.0})
    if not known:
        assert found.reasons.tally["difference_m"][0, 0] == pytest.approx(abs(off_m))
        assert "3.3 mm" in found.reasons.notes[0]


def test_shares_count_frames():
    """Four frames: known, another arm, a reserve torque, no reaction."""
    found = contact_force(
        [[[0.0, 1.0]], [[0.0, 1.0]], [[0.0, 1.0]], [[np.nan, np.nan]]],
        np.full((4, 1), 10.0),
        np.array([0.04, 0.02, 0.04, 0.04]).reshape(4, 1, 1),
        line_arrays([[BICEPS]], [[True]]),
        axes_rad=(np.full((4, 1), DOWN), np.zeros((4, 1))),
        flexion_sign=[1.0],
        joints=["elbow"],
        muscles=["biceps"],
        reserve_nm=[[0.0], [0.0], [-0.5], [0.0]],
    )
    np.testing.assert_array_equal(found.known[:, 0], [True, False, False, False])
    tally = found.reasons.tally
    assert found.reasons.shares("disagreeing", 0) == {"biceps": 0.25}
    assert (tally["frames"], tally["reserve"]) == (4, 1)
    assert tally["difference_m"][0, 0] == pytest.approx(0.02)
    assert len(found.reasons.notes) == 2


def test_frames_whose_muscle_forces_were_not_found_are_not_known():
    found = one_joint([beside("distal")], reaction=[0.0, 1.0], force=[np.nan], arm=[0.03])
    assert not found.known.any()


def test_a_muscle_that_does_not_cross_the_joint_does_not_count():
    crosses = [[True, False]]
    found = one_joint([beside("distal"), None], crosses, reaction=[0.0, 1.0], force=[0.0, np.nan], arm=[0.03, 0.0])
    same(found.contact_n[0, 0], np.array([0.0, 1.0]))


# axes, sets and wrong input


def test_axes_are_those_of_the_segments_and_the_foot_has_that_of_its_sole():
    """A leg with hip, knee and ankle flexed by 30, 40 and 10 deg; the toes 25 deg below the line of the sole.

    The thigh is at -60, the shank 40 back of it, and the sole at a right angle to the shank but for 10 deg.
    """
    angle = np.radians([[-60.0, -40.0, 65.0 + 10.0]])
    proximal, distal = segment_axes(angle, np.radians([-90.0, 0.0, 65.0]))
    np.testing.assert_allclose(np.degrees(proximal), [[-90.0, -60.0, -100.0]], atol=1e-9)
    np.testing.assert_allclose(np.degrees(distal), [[-60.0, -100.0, 0.0]], atol=1e-9)


def test_the_axis_before_the_first_joint_is_the_first_segment_at_zero_flexion():
    proximal, distal = segment_axes(np.radians([[-60.0]]), np.radians([-80.0]))
    np.testing.assert_allclose(np.degrees([proximal[0, 0], distal[0, 0]]), [-80.0, -60.0], atol=1e-9)


def test_a_muscle_is_severed_at_every_joint_that_it_crosses():
    """Also where it has no line, and where nobody sampled its arm."""
    wrist = SimpleNamespace(crosses=("elbow", "wrist"), lines_of_action={"wrist": beside("distal")})
    found = lines_of_action([wrist], ["shoulder", "elbow", "wrist"])
    np.testing.assert_array_equal(found.crosses[:, 0], [False, True, True])
    np.testing.assert_array_equal(np.isnan(found.points_m[:, 0, 0]), [True, True, False])
    assert not found.checked.any()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_implied_arm_is_minus_the_change_of_length_with_flexion(sign):
    """Virtual work, r = -dL/dq, by central differences of the distance between the points: error h^2 L''' / 6."""
    line = between((0.115, 0.017), (0.048, 0.0075))
    flexion, h = np.radians(np.arange(0.0, 131.0, 5.0)), 1e-4

    def length(q):
        start, end = points_in_plane(line, np.full_like(q, 0.3), 0.3 + sign * q, sign)
        return np.hypot(*(start - end).T)

    found = implied_arm(
        line, proximal_rad=np.full_like(flexion, 0.3), distal_rad=0.3 + sign * flexion, flexion_sign=sign
    )
    np.testing.assert_allclose(found, -(length(flexion + h) - length(flexion - h)) / (2 * h), rtol=0, atol=1e-8)


def test_a_zero_for_each_joint():
    with pytest.raises(ValueError, match="flexion_zero_rad"):
        segment_axes([[0.0, 0.0]], [0.0])

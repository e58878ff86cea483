"""Loads on the last segment: springs and forces in closed form, and the ground by way of synthetic feet and plates.

The walkway: x forward, z up, the sagittal plane's normal to the right (-y). Feet are lines 0.2 m long that are carried
forward 0.1 m above the ground and stand still in between; a plate's wrench is that of a force at a known point.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st
from smoothed import smooth_at

from clustered_legs import walk_settings
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.ground.foot import MIN_CONTACT_S, centre_of_pressure, find_foot
from limbtorque.ground.plates import read_plates
from limbtorque.ground.reaction import SPREAD_N, impact_times
from limbtorque.motion.chain_motion import MEASURED, NONE, UNMEASURED, hand_load
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import PlaneFrame
from limbtorque.signals.smoothers import Smoother
from limbtorque.simulation.gait import TOE_OFF, Walker, Walkway, walk_recording
from limbtorque.study.options.reading import Force, Plates, Spring
from limbtorque.study.settings import make_settings, override
from plates import (
    FORCE_N,
    N_FRAMES,
    OWN,
    PER_FRAME,
    PLATE_HZ,
    POINT,
    RATE_HZ,
    SAGITTAL,
    STANCE,
    UNDER,
    UP,
    ground,
    plate,
    walking_foot,
    wrench_at,
)

CORE = slice(53, 107)  # away from touch-down and lift-off
LONG_BEFORE, LONG_AFTER = slice(0, 42), slice(118, N_FRAMES)


# --- at the hand -----------------------------------------------------------------------------------------------------


def hand():
    rng = np.random.default_rng(3)
    wrist = rng.normal(size=(20, 2))
    return wrist, wrist + rng.normal(size=(20, 2)) * 0.1


def in_space(points, depth=0.0):
    """Points of the plane with their coordinate along its normal."""
    return np.column_stack([points, np.full(len(points), depth)])


def test_constant_force_in_the_plane():
    """Only the part in the plane loads it: x and z of the laboratory here; the point is a share of the hand's length."""
    wrist, end = hand()
    found = hand_load(
        Force(type="constant_force", force_n=(3.0, 99.0, -20.0), fraction=0.25),
        frame=SAGITTAL,
        last_joint_m=in_space(wrist),
        end_m=in_space(end),
    )
    np.testing.assert_allclose(found.force_n, np.tile([3.0, -20.0], (20, 1)), atol=1e-14)
    np.testing.assert_allclose(found.point_m, 0.75 * wrist + 0.25 * end, atol=1e-14)
    assert not found.couple_nm.any()
    assert (found.status == MEASURED).all()


def test_spring_by_hand():
    """From (0, 0, 0) with 100 N/m and 1 m at rest to a hand at (3, 4): 5 m long, 400 N along (-3, -4) / 5."""
    spring = Spring(type="spring", stiffness_n_m=100.0, anchor_m=(0.0, 7.0, 0.0), rest_length_m=1.0)
    point = np.array([[3.0, 4.0], [0.6, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, -2.0]])
    found = hand_load(spring, frame=SAGITTAL, last_joint_m=in_space(point - 0.1, -7.0), end_m=in_space(point, -7.0))
    expected = [[-240.0, -320.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 100.0]]  # slack when shorter
    np.testing.assert_allclose(found.force_n, expected, atol=1e-12)
    np.testing.assert_array_equal(found.point_m, point)
    assert not np.isnan(found.force_n).any()


def test_a_spring_out_of_the_plane_is_as_long_as_it_is_in_space():
    """From 0.3 m ahead and 0.3 m aside: 0.4243 m long, 0.1243 m more than at rest; in the plane 12.43 N / sqrt(2)."""
    spring = Spring(type="spring", stiffness_n_m=100.0, anchor_m=(0.3, 0.3, 0.0), rest_length_m=0.3)
    origin = np.zeros((1, 3))
    found = hand_load(spring, frame=SAGITTAL, last_joint_m=origin, end_m=origin)
    np.testing.assert_allclose(found.force_n, [[100.0 * (0.3 * np.sqrt(2.0) - 0.3) / np.sqrt(2.0), 0.0]])


def lengths(largest):
    """Zero, or sizes that a setting can have."""
    return st.just(0.0) | st.floats(1e-9, largest)


@options(deadline=None, max_examples=40)
@given(st.floats(1.0, 500.0), lengths(1.0), lengths(1.5), st.integers(0, 2**32 - 1))
def test_spring_force_is_minus_the_gradient_of_its_energy(stiffness, rest, fraction, seed):
    rng = np.random.default_rng(seed)
    anchor, wrist, end = rng.normal(size=3), rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    spring = Spring(
        type="spring", stiffness_n_m=stiffness, anchor_m=tuple(anchor), rest_length_m=rest, fraction=fraction
    )
    found = hand_load(spring, frame=SAGITTAL, last_joint_m=wrist, end_m=end)

    def energy(shift):
        point = wrist + fraction * (end - wrist) + shift
        stretch = np.maximum(np.linalg.norm(point - SAGITTAL.axes @ anchor, axis=1) - rest, 0.0)
        return stiffness * stretch**2 / 2

    h = 1e-5
    for axis in range(2):
        shift = h * np.eye(3)[axis]
        slope = (energy(shift) - energy(-shift)) / (2 * h)
        # rounding of the energies over the step, and the slack spring's kink within the step
        np.testing.assert_allclose(found.force_n[:, axis], -slope, atol=2e-9 * stiffness / h * 1e-1 + stiffness * h)


# --- centre of pressure ----------------------------------------------------------------------------------------------


@options(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["+z", "+y", "-x"]), st.floats(-0.5, 2.0))
def test_centre_of_pressure_is_where_the_force_acts(seed, axis, level):
    rng = np.random.default_rng(seed)
    up = (1.0 if axis[0] == "+" else -1.0) * np.eye(3)["xyz".index(axis[1])]
    point, force = rng.normal(size=(12, 3)), rng.normal(size=(12, 3)) * 50.0
    point += (level - point @ up)[:, None] * up
    force += (rng.uniform(100.0, 900.0, 12) - force @ up)[:, None] * up
    found = centre_of_pressure(wrench_at(point, force, rng.normal(size=12) * 5.0, up), up=up, level_m=level)
    np.testing.assert_allclose(found, point, atol=1e-12)


# --- on the ground ---------------------------------------------------------------------------------------------------


ANKLE = np.array([0.23, 0.10])


def is_own_load(found, part=CORE, force=FORCE_N):
    """Force and its moment about the ankle, in the plane: (p - a) x F with p, a and F in x and z."""
    flat, lever = force[[0, 2]], np.array(POINT)[[0, 2]] - ANKLE
    assert (found.status[part] == MEASURED).all()
    np.testing.assert_allclose(found.force_n[part] - flat, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.point_m[part] - ANKLE, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.couple_nm[part], lever[0] * flat[1] - lever[1] * flat[0], atol=1e-9)


def is_no_load(found, part):
    assert (found.status[part] == NONE).all()
    assert not found.force_n[part].any()
    assert not found.couple_nm[part].any()


def is_unknown(found, part=CORE):
    assert (found.status[part] == UNMEASURED).all()
    assert np.isnan(found.force_n[part]).all()
    assert np.isnan(found.couple_nm[part]).all()


def test_a_short_touch_is_no_contact_and_a_short_gap_is_none(monkeypatch):
    short = walking_foot(0.2, 0.0, slice(50, 55))
    assert not short.contact.any()
    with monkeypatch.context() as patched:
        patched.setattr("limbtorque.ground.foot.MIN_CONTACT_S", 0.0)
        assert walking_foot(0.2, 0.0, slice(50, 55)).contact.any()
    heel = OWN.back_m.copy()
    heel[70:73, 2] += 0.2  # lost for three frames
    found = find_foot({"heel": heel}, ends=(heel, heel), rate_hz=RATE_HZ, belt_m_s=np.zeros(3))
    assert found.contact[CORE].all()


def test_a_landmark_that_is_not_seen_shows_no_contact():
    blind = np.full((N_FRAMES, 3), np.nan)
    foot = find_foot({"toe": blind, "heel": OWN.back_m}, ends=(OWN.back_m, OWN.front_m), rate_hz=RATE_HZ, belt_m_s=np.zeros(3))  # fmt: skip
    np.testing.assert_array_equal(foot.contact[CORE], True)
    nothing = find_foot({"toe": blind}, ends=(blind, blind), rate_hz=RATE_HZ, belt_m_s=np.zeros(3))
    assert not nothing.contact.any()


def test_own_plate():
    found = ground([plate(loads=[UNDER])], OWN)
    is_own_load(found)
    is_no_load(found, LONG_BEFORE)
    is_no_load(found, LONG_AFTER)
    assert not (found.status == UNMEASURED).any()
    assert any("plate 1 frames 51-110: this foot" in note for note in found.notes)


def test_a_plate_at_the_rate_of_the_markers():
    is_own_load(ground([plate(loads=[UNDER], rate_hz=RATE_HZ)], OWN))


def test_the_free_moment_and_the_lateral_force_leave_the_sagittal_plane_alone():
    sideways = np.array([60.0, 300.0, 700.0])
    far = (POINT[0], 0.09, 0.0)
    is_own_load(ground([plate(loads=[(STANCE, sideways, far)])], OWN), force=sideways)


def test_the_other_foots_plate_is_not_ours():
    other = walking_foot(0.9, 0.2, slice(100, 150))
    theirs = (slice(100, 150), FORCE_N * 1.2, (1.0, 0.2, 0.0))
    plates = [plate(loads=[UNDER]), plate(2, x=0.7, loads=[theirs])]
    found = ground(plates, OWN, other)
    alone = ground(plates[:1], OWN)
    is_own_load(found)
    is_no_load(found, LONG_AFTER)
    np.testing.assert_array_equal(found.force_n, alone.force_n)
    assert any("plate 2 frames 101-150: other foot" in note for note in found.notes)
    # and the other way round: the same plates, asked for the other foot
    mirrored = ground(plates, other, OWN)
    np.testing.assert_allclose(mirrored.force_n[105:145], np.tile(1.2 * FORCE_N[[0, 2]], (40, 1)), atol=1e-9)
    is_no_load(mirrored, slice(0, 90))


def test_the_other_foots_load_does_not_leak_through_the_filter():
    other = walking_foot(0.9, 0.2, slice(115, 155))
    plates = [plate(loads=[UNDER]), plate(2, x=0.7, loads=[(slice(115, 155), FORCE_N, (1.0, 0.2, 0.0))])]
    both = ground(plates, OWN, other, cutoff_hz=8.0)
    alone = ground(plates[:1], OWN, other, cutoff_hz=8.0)
    np.testing.assert_array_equal(both.force_n, alone.force_n)
    np.testing.assert_array_equal(both.couple_nm, alone.couple_nm)


def test_two_steps_of_the_same_foot_on_two_plates_add_up(monkeypatch):
    """Heel on one plate, toe on the next: the wrenches add."""
    heel_part, toe_part = np.array([20.0, 0.0, 300.0]), FORCE_N - [20.0, 0.0, 300.0]
    plates = [
        plate(1, x=-0.35, size=0.65, loads=[(STANCE, heel_part, (0.22, 0.0, 0.0))]),
        plate(2, x=0.3, size=0.65, loads=[(STANCE, toe_part, (0.37, 0.0, 0.0))]),
    ]
    for module in ("foot", "assignment"):
        monkeypatch.setattr(f"limbtorque.ground.{module}.EDGE_MARGIN_M", 0.2)
    found = ground(plates, OWN, settings=Plates(assignment=(1, 2)))
    np.testing.assert_allclose(found.force_n[CORE] - FORCE_N[[0, 2]], 0.0, atol=1e-9)
    couple = sum((x - ANKLE[0]) * f[2] + ANKLE[1] * f[0] for x, f in ((0.22, heel_part), (0.37, toe_part)))
    np.testing.assert_allclose(found.couple_nm[CORE], couple, atol=1e-9)


def test_both_feet_on_one_plate_cannot_be_told_apart():
    other = walking_foot(0.25, 0.15, slice(60, 120))
    both = (slice(50, 120), FORCE_N, (0.3, 0.02, 0.0))
    found = ground([plate(loads=[both])], OWN, other)
    before = slice(STANCE.start + 1, 59)  # until the other foot lands; a mean uses its neighbour, too
    assert (found.status[before] == MEASURED).all()
    np.testing.assert_allclose(found.force_n[before] - FORCE_N[[0, 2]], 0.0, atol=1e-9)
    is_unknown(found, slice(59, STANCE.stop))
    assert any(
        "frames 61-115: both feet on the plate: the force under this foot is unknown" in note for note in found.notes
    )
    assert any("foot on the ground, no usable plate, 0.06 s after included" in note for note in found.notes)
    is_no_load(found, slice(0, 40))


def test_stance_without_a_plate_is_flagged_not_computed():
    for plates in ([], [plate(x=5.0)], [plate(x=0.0)]):  # none, far away, and under the foot but dead
        found = ground(plates, OWN)
        is_unknown(found)
        is_no_load(found, LONG_BEFORE)
        is_no_load(found, LONG_AFTER)
        unknown = np.flatnonzero(found.status == UNMEASURED)
        assert unknown[0] == STANCE.start
        assert unknown[-1] == np.flatnonzero(OWN.contact)[-1] + round(MIN_CONTACT_S * RATE_HZ)
        assert unknown[-1] >= STANCE.stop
        assert (np.diff(unknown) == 1).all()
        assert any(
            f"frames {unknown[0] + 1}-{unknown[-1] + 1}: foot on the ground, no usable plate" in note
            for note in found.notes
        )


def test_offset_is_removed():
    """What the plate shows before and after the step is no load; moments, too."""
    offset = np.array([3.0, -2.0, 12.0, 1.5, -4.0, 0.7])
    clean = ground([plate(loads=[UNDER])], OWN)
    found = ground([plate(loads=[UNDER], offset=offset)], OWN)
    np.testing.assert_allclose(found.force_n, clean.force_n, atol=1e-9)
    np.testing.assert_allclose(found.couple_nm, clean.couple_nm, atol=1e-9)
    assert any("plate 1: offset of 12.0 N vertical subtracted" in note for note in found.notes)
    kept = ground([plate(loads=[UNDER], offset=offset)], OWN, settings=Plates(remove_offset=False))
    np.testing.assert_allclose(kept.force_n[CORE] - clean.force_n[CORE], np.tile([3.0, 12.0], (54, 1)), atol=1e-9)
    # moment about the ankle: M . n of the offset, n = -y, less its force at the ankle
    extra = 4.0 - (ANKLE[0] * 12.0 - ANKLE[1] * 3.0)
    np.testing.assert_allclose(kept.couple_nm[CORE] - clean.couple_nm[CORE], extra, atol=1e-9)


def test_filter_keeps_the_impulse_and_the_plateau():
    """A low-pass filter has a gain of one at rest: the step's impulse is that of the plate, spread over its edges.

    The stance is as long as the filter's answer; tolerance: what overshoots on the plateau's middle, and truncation.
    """
    found = ground([plate(loads=[UNDER])], OWN, cutoff_hz=10.0)
    impulse = found.force_n.sum(axis=0) / RATE_HZ
    np.testing.assert_allclose(impulse, 0.6 * FORCE_N[[0, 2]], rtol=1e-3)
    np.testing.assert_allclose(found.force_n[75:85], np.tile(FORCE_N[[0, 2]], (10, 1)), rtol=1e-3)


@pytest.mark.parametrize("cutoff_hz", [None, 10.0])
def test_samples_are_taken_at_the_frames(cutoff_hz):
    """A steadily growing force is that of the frame's own instant, to half a sample for the mean around it."""
    one = plate(rate_hz=PLATE_HZ)
    t = np.arange(len(one.force_n)) / PLATE_HZ
    force = np.stack([0 * t, 0 * t, 400.0 + 200.0 * t], axis=1)
    one = replace(one, force_n=force, moment_nm=np.cross(np.array(POINT), force))
    standing = find_foot(
        {"heel": np.tile([0.2, 0.0, 0.02], (N_FRAMES, 1))},
        ends=(np.tile([0.2, 0.0, 0.02], (N_FRAMES, 1)), np.tile([0.4, 0.0, 0.02], (N_FRAMES, 1))), rate_hz=RATE_HZ, belt_m_s=np.zeros(3),
    )  # fmt: skip
    found = ground([one], standing, cutoff_hz=cutoff_hz)
    frames = np.arange(N_FRAMES) / RATE_HZ
    inside = slice(5, -20)
    tolerance = 200.0 * 0.5 / PLATE_HZ + 1e-6
    np.testing.assert_allclose(found.force_n[inside, 1], (400.0 + 200.0 * frames)[inside], atol=tolerance)


@pytest.mark.parametrize(
    "smoother", [Smoother("butterworth", 3), Smoother("critically_damped", 2), Smoother("quintic_spline")]
)
def test_a_plate_filtered_like_the_markers_fits_the_acceleration_of_an_impact(smoother):
    """1 kg lands and leaves with a half sine of 60 N for 0.2 s, so z'' = F - g; both filtered alike, F - g fits z'' still.

    The filter is linear: what rings before the contact rings in the acceleration, too. Cut to the contact, or filtered at 50 Hz,
    the force misses the acceleration by more than ten times as much as what differences and sampling leave.
    """
    onset, lasting, peak, g = 0.6, 0.2, 60.0, 9.80665

    def height(t):
        """Twice integrated; the force's impulse is 2 peak lasting / pi."""
        inside = np.clip(t - onset, 0.0, lasting)
        rise = peak * lasting / np.pi * (inside - lasting / np.pi * np.sin(np.pi * inside / lasting))
        after = 2.0 * peak * lasting / np.pi * np.maximum(t - onset - lasting, 0.0)
        return 2.0 - 0.5 * g * t**2 + rise + after

    t = np.arange(N_FRAMES * PER_FRAME) / PLATE_HZ
    push = np.where((t > onset) & (t < onset + lasting), peak * np.sin(np.pi * (t - onset) / lasting), 0.0)
    one = plate()
    force = np.stack([0.0 * t, 0.0 * t, push], axis=1)
    one = replace(one, force_n=force, moment_nm=np.cross(np.array(POINT), force))
    standing = walking_foot(0.2, 0.0, slice(60, 81))
    moved = smooth_at(height(t[::PER_FRAME]), rate_hz=RATE_HZ, cutoff_hz=8.0, smoother=smoother)
    needed = (moved.second + g)[40:120]

    def missed(cutoff_hz, contact=None):
        found = ground([one], standing, smoother=smoother, cutoff_hz=cutoff_hz, settings=Plates(remove_offset=False))
        got = found.force_n[40:120, 1]
        return np.abs((got if contact is None else np.where(contact, got, 0.0)) - needed).max()

    contact = push[::PER_FRAME][40:120] > 0.0
    assert missed(8.0) < 0.01 * peak
    assert missed(8.0, contact) > 10.0 * missed(8.0)
    assert missed(30.0) > 10.0 * missed(8.0)


def test_a_part_of_a_trial_is_cut_from_the_plates_too():
    """The same frames of the same plates, and frame numbers of the capture in the notes."""
    plates = [plate(loads=[UNDER], offset=[0, 0, 5, 0, 0, 0])]
    whole, part = ground(plates, OWN), ground(plates, OWN, frames=slice(20, 140))
    np.testing.assert_allclose(part.force_n, whole.force_n[20:140], atol=1e-9)
    np.testing.assert_allclose(part.couple_nm, whole.couple_nm[20:140], atol=1e-9)
    np.testing.assert_array_equal(part.status, whole.status[20:140])
    assert any("plate 1 frames 51-110: this foot" in note for note in part.notes)


def test_the_laboratory_may_have_y_up():
    """The same walk named by other axes, y up and z forward: the same load in the plane."""
    cyclic = [1, 2, 0]  # x y z of the one are z x y of the other

    def turned(vectors):
        return np.asarray(vectors)[..., cyclic]

    one = plate(loads=[UNDER])
    other = replace(one, **{n: turned(getattr(one, n)) for n in ("corners_m", "force_n", "moment_nm")})
    foot = replace(OWN, back_m=turned(OWN.back_m), front_m=turned(OWN.front_m))
    ankle = OWN.back_m @ SAGITTAL.axes[:2].T + [0.03, 0.08]
    frame = PlaneFrame(turned(SAGITTAL.axes), "sagittal")
    found = ground([other], foot, frame=frame, up=turned(UP), ankle_m=ankle)
    expected = ground([one], OWN)
    is_own_load(found)
    np.testing.assert_allclose(found.force_n, expected.force_n, atol=1e-9)
    np.testing.assert_allclose(found.couple_nm, expected.couple_nm, atol=1e-9)
    assert found.notes == expected.notes


def test_a_plate_that_pulls_is_not_used():
    """A steady -60 N is no load, and more than an offset may be (40 N): the stance has no force, and the note says why."""
    found = ground([plate(loads=[UNDER], offset=[0, 0, -60.0, 0, 0, 0])], OWN)
    assert not (found.status == MEASURED).any()
    assert (found.status[CORE] == UNMEASURED).all()
    assert any("it reads -60 N" in note and "expected no tension" in note for note in found.notes)
    within = ground([plate(loads=[UNDER], offset=[0, 0, -30.0, 0, 0, 0])], OWN)
    np.testing.assert_allclose(within.force_n[CORE], np.tile(FORCE_N[[0, 2]], (54, 1)), atol=1e-9)


@pytest.mark.parametrize("force_n", [(0.0, 0.0, 700.0), (0.0, 0.0, 60.0), (90.0, 0.0, 300.0)])
def test_a_filtered_load_lasts_as_long_as_its_force(force_n):
    """The filter spreads a step over its ends: frames beside the stance are loaded where the force in the plane is above 1 N."""
    found = ground([plate(loads=[(STANCE, force_n, UNDER[2])])], OWN, cutoff_hz=12.0)
    beside = (np.arange(N_FRAMES) < STANCE.start - 1) | (np.arange(N_FRAMES) > STANCE.stop)
    size_n = np.hypot(*found.force_n.T)
    assert (found.status[beside] == np.where(size_n[beside] > SPREAD_N, MEASURED, NONE)).all()
    assert (found.status[beside] == MEASURED).any()
    assert (found.status[beside] == NONE).any()


# --- onsets and warnings of the whole load ---------------------------------------------------------------------------


def test_without_a_filter_the_load_is_zero_outside_the_step():
    """A plate that reads 15 N, below the threshold: no load of the foot but for the flanks of its step, six frames."""
    humming = plate(loads=[UNDER, (slice(0, 50), (3.0, 0.0, 15.0), POINT), (slice(110, 160), (3.0, 0.0, 15.0), POINT)])
    found = ground([humming], OWN, settings=Plates(remove_offset=False))
    np.testing.assert_allclose(found.unfiltered_n[50:110], np.tile(FORCE_N[[0, 2]], (60, 1)), atol=1e-9)
    assert not found.unfiltered_n[:44].any()
    assert not found.unfiltered_n[116:].any()
    assert not found.unfiltered_couple_nm[:44].any()


@pytest.mark.parametrize("n_joints", [3, 5])
def test_onsets_are_those_of_the_middle_of_the_last_segment(n_joints):
    """The last joint 0.2 m behind and the end 0.2 m in front of the load, both 0.3 m away from it; other joints far away."""
    joints = np.full((N_FRAMES, n_joints, 3), 7.0)
    joints[:, -2], joints[:, -1] = POINT + np.array([-0.2, 0.3, 0.1]), POINT + np.array([0.2, -0.3, 0.0])
    settings = make_settings({"plane": {"up_axis": "+z", "forward_axis": "+x"}})
    readings = read_plates([plate(loads=[UNDER])], slice(0, N_FRAMES), RATE_HZ, settings=settings.plates, up=UP)
    placed = SimpleNamespace(joints_m=joints)
    assert impact_times(readings, placed, settings, RATE_HZ) == (0.5,)
    assert impact_times([], placed, settings, RATE_HZ) == ()
    own = override(settings, {"filter.force_cutoff_hz": "20"}, source="test")
    assert impact_times(readings, placed, own, RATE_HZ) == ()


def test_a_heel_that_stands_is_contact_while_the_toe_taps():
    """Two steps off the plates; the toe moves up and down at 6 Hz by 5 cm, far above the speed of a standing foot."""
    walker = Walker()
    made = walk_recording(walker, Walkway(), duration_s=2.0 * walker.stride_s, first_strike_s=0.3)
    limb = Limb("leg", side="right", body_mass_kg=walker.mass_kg, marker_set="walk")
    toe = made.labels.index("RTOE")
    tapping = made.markers_m.copy()
    tapping[:, toe, 2] += 0.05 * np.sin(2.0 * np.pi * 6.0 * np.arange(made.n_frames) / made.rate_hz)
    found = [
        chain_motion(each, limb, walk_settings(filter={"cutoff_hz": 8.0})).load.status
        for each in (replace(made, events=()), replace(made, events=(), markers_m=tapping))
    ]
    stance = slice(round(0.3 * made.rate_hz), round((0.3 + TOE_OFF * walker.stride_s) * made.rate_hz))
    np.testing.assert_array_equal(found[0][stance], found[1][stance])
    assert (found[1][round(0.3 * made.rate_hz) :][:30] == UNMEASURED).all()  # the heel stands from 0.3 s on

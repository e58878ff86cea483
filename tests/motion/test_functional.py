"""Functional joint centres: a hinge that moves, noise, skin, refusals, whole trials, recorded joints."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from demo_reach import SETTINGS, settings_with

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.trial import analyse_recording
from limbtorque.chain.dynamics import newton_euler
from limbtorque.chain.kinematics import joint_positions
from limbtorque.errors import LandmarkError, SettingsError, SignalError
from limbtorque.motion.functional_centres import centre_of_rotation, functional_landmarks, planar_pose
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import PlaneFrame
from limbtorque.quality.verdict import assess
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.simulation.demo import demo_trials
from limbtorque.simulation.reach import reach_motion
from limbtorque.study.chains import Functional
from limbtorque.study.files import parse_yaml
from limbtorque.study.settings import make_settings

ROOT = Path(__file__).resolve().parents[2]
N = 200
TIME = np.arange(N) / 100.0
HINGE = 3.0 - 2.0j + 0.8 * TIME + 0.05j * np.sin(7.0 * TIME)  # travels 1.6 m, far from the laboratory's origin
FIRST = np.array([-0.12 - 0.03j, -0.18 + 0.05j, -0.25 + 0.02j])  # markers of each segment, from the hinge
SECOND = np.array([0.15 + 0.04j, 0.26 - 0.05j])


def turns(range_deg):
    """Orientation of the two segments: both move, their relative angle sweeps the range and ends on its ends."""
    first = 0.6 * np.sin(2.0 * TIME)
    return first, first + np.radians(range_deg) * (0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(N) / (N - 1)))


def body(angle, markers, at=HINGE):
    return at[:, None] + np.exp(1j * angle)[:, None] * markers


def points(planar):
    return np.stack([planar.real, planar.imag], axis=-1)


def planar(values):
    return values[..., 0] + 1j * values[..., 1]


def hinge(range_deg=60.0, mirrored=False):
    first, second = turns(range_deg)
    markers = body(first, FIRST), body(second, SECOND)
    return [points(m.conj() if mirrored else m) for m in markers]


def found_hinge(range_deg=60.0, **options):
    return centre_of_rotation(*hinge(range_deg), **options)


def white(rng, shape, noise_m):
    return noise_m * (rng.standard_normal(shape) + 1j * rng.standard_normal(shape))


# --- closed form -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mirrored", [False, True], ids=["right", "left"])
@pytest.mark.parametrize("range_deg", [20.0, 60.0, 140.0, 250.0])
def test_a_moving_hinge_is_found_exactly(range_deg, mirrored):
    """The right side bends counter-clockwise, the left one is its mirror image."""
    found = centre_of_rotation(*hinge(range_deg, mirrored))
    np.testing.assert_allclose(found.centre_m, points(HINGE.conj() if mirrored else HINGE), atol=1e-9)
    assert found.range_deg == pytest.approx(range_deg, abs=0.02)  # 200 frames miss the middle by half a frame
    assert found.residual_m < 1e-9
    assert found.expected_error_m < 1e-9
    assert found.n_frames == N


@pytest.mark.parametrize("seed", range(2))
def test_a_pose_is_near_zero_in_the_first_counted_frame(seed):
    """A rigid segment in any orientation: zero there, and its shape is that of the frame."""
    random = np.random.default_rng(seed)
    shape = random.normal(size=3) + 1j * random.normal(size=3)
    angle = random.uniform(-3.0, 3.0, 20)
    counted = np.arange(20) >= 4
    pose = planar_pose(points(np.exp(1j * angle)[:, None] * shape), counted=counted)
    assert pose.angle_rad[4] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(np.exp(1j * pose.angle_rad), np.exp(1j * (angle - angle[4])), atol=1e-9)
    np.testing.assert_allclose(planar(pose.shape_m), np.exp(1j * angle[4]) * (shape - shape.mean()), atol=1e-9)


@pytest.mark.parametrize(("apart_m", "wide"), [(0.0101, True), (0.0099, False)])
def test_markers_of_a_segment_are_a_centimetre_apart(apart_m, wide):
    markers = points(np.exp(1j * TIME)[:, None] * (apart_m * np.array([0.0, 1.0])))
    if wide:
        assert planar_pose(markers).shape_m.shape == (2, 2)
        return
    with pytest.raises(SignalError, match=r"within 9\.9 mm of each other in the plane, expected 10 mm at least"):
        planar_pose(markers)


@pytest.mark.parametrize("size_m", [0.01, 0.1, 0.5, 1.0, 3.0])
def test_a_pose_of_any_size_by_quarter_turns(size_m):
    """Four markers, two at each end: with 0.5 m from the middle the numbers that are normalised are 1 already."""
    shape = size_m * np.array([-1.0, -1.0, 1.0, 1.0])
    turn = np.array([1.0, 1j, -1.0, -1j])
    pose = planar_pose(points(turn[:, None] * shape + (2.0 + 1.0j)))
    np.testing.assert_allclose(np.exp(1j * (pose.angle_rad - pose.angle_rad[0])), turn, atol=1e-12)
    np.testing.assert_allclose(pose.position_m, np.tile([2.0, 1.0], (4, 1)), atol=1e-12)
    np.testing.assert_allclose(np.abs(planar(pose.shape_m)), size_m, rtol=1e-12)


@pytest.mark.parametrize("frame", [0, 5])
def test_a_frame_with_all_markers_in_one_place_has_no_say(frame):
    """Its orientation is not defined, and its spread is nil; it may be the first."""
    first, _ = turns(60.0)
    markers = body(first, FIRST)
    markers[frame] = markers[frame].mean()
    pose = planar_pose(points(markers))
    others = np.arange(N) != frame
    turned = np.exp(1j * (pose.angle_rad - first))[others]
    np.testing.assert_allclose(turned, turned[0], atol=1e-9)
    np.testing.assert_allclose(planar(pose.position_m), markers.mean(axis=1), atol=1e-12)
    whole = planar_pose(points(body(first, FIRST)[others])).shape_m
    np.testing.assert_allclose(np.abs(planar(pose.shape_m)), np.abs(planar(whole)) * (N - 1) / N, rtol=1e-9)


def test_the_range_is_that_of_the_arc_whatever_the_order_of_frames():
    """Through the seam at 180 degrees, and with the frames shuffled, so that no unwrapping could help."""
    order = np.random.default_rng(3).permutation(N)
    first, second = turns(60.0)
    markers = points(body(first, FIRST)[order]), points(body(second + np.pi - 0.4, SECOND)[order])
    found = centre_of_rotation(*markers)
    assert found.range_deg == pytest.approx(60.0, abs=0.02)
    np.testing.assert_allclose(found.centre_m, points(HINGE[order]), atol=1e-9)


def test_frames_without_a_marker_have_no_say_and_no_centre():
    first, second = hinge()
    second[20:40, 1] = np.nan
    first[30:60, 0] += 0.3  # partly seen, and not counted
    counted = np.ones(N, dtype=bool)
    counted[30:60] = False
    found = centre_of_rotation(first, second, counted=counted)
    np.testing.assert_array_equal(np.isnan(found.centre_m).all(axis=1), (np.arange(N) >= 20) & (np.arange(N) < 40))
    good = counted & ~np.isnan(found.centre_m[:, 0])
    assert found.n_frames == good.sum() == N - 40
    np.testing.assert_allclose(found.centre_m[good], points(HINGE)[good], atol=1e-9)
    everything = centre_of_rotation(first, second)
    assert everything.residual_m > 0.01


# --- noise -----------------------------------------------------------------------------------------------------------

REPEATS = 1000
LIMIT = 4.0 / np.sqrt(REPEATS)  # a mean of squares with a relative spread of 1 or less, four standard errors


@pytest.mark.parametrize("range_deg", [20.0])
def test_the_expected_error_is_the_error_where_whole_segments_are_displaced(range_deg):
    """Orientations are exact then, and the centre's error in the segments is that of the linear problem alone."""
    rng = np.random.default_rng(4)
    first, second = turns(range_deg)
    exact = found_hinge(range_deg)
    a, b = (np.exp(1j * (angle - angle[0])) for angle in (first, second))
    squares = []
    for _ in range(REPEATS):
        shaken = [
            points(body(angle, markers) + white(rng, (N, 1), 0.001))
            for angle, markers in ((first, FIRST), (second, SECOND))
        ]
        found = centre_of_rotation(*shaken)
        in_first, in_second = (
            planar(noisy) - planar(true)
            for noisy, true in ((found.in_first_m, exact.in_first_m), (found.in_second_m, exact.in_second_m))
        )
        # in_first and in_second are of frames that are zero in the first frame: turned by the same angle as the segments
        turned = np.exp(1j * first[0]) * a * in_first + np.exp(1j * second[0]) * b * in_second
        squares.append((0.25 * np.mean(np.abs(turned) ** 2), found.expected_error_m**2, found.residual_m**2))
    error, expected, residual = np.mean(squares, axis=0)
    assert error / expected == pytest.approx(1.0, abs=LIMIT)
    assert residual == pytest.approx(4.0 * 0.001**2 * (N - 2) / N, rel=0.01)  # 2 segments, 2 coordinates


@pytest.mark.parametrize("range_deg", [45.0])
def test_the_error_of_noisy_markers_is_the_expected_one_and_half_the_residual(range_deg):
    """Noise of 1 mm on every marker of alike segments: the mean of two predictions errs by half of what they differ."""
    rng = np.random.default_rng(5)
    first, second = turns(range_deg)
    squares = []
    for _ in range(REPEATS):
        markers = [body(first, FIRST), body(second, -FIRST)]
        found = centre_of_rotation(*(points(m + white(rng, m.shape, 0.001)) for m in markers))
        error = np.mean(np.abs(planar(found.centre_m) - HINGE) ** 2)
        squares.append((error, found.expected_error_m**2 + found.residual_m**2 / 4.0))
    error, expected = np.mean(squares, axis=0)
    assert error / expected == pytest.approx(1.0, abs=LIMIT)


def test_skin_that_moves_shows_in_the_residual():
    """All markers of a segment slide by 1 cm along it, four times while the joint bends once: nothing rigid follows."""
    first, second = turns(60.0)
    slide = 0.01 * np.sin(2.0 * np.pi * 4.0 * np.arange(N) / N)
    slid = body(second, SECOND) + (slide * np.exp(1j * second))[:, None]
    found = centre_of_rotation(points(body(first, FIRST)), points(slid))
    assert found.residual_m == pytest.approx(0.01 / np.sqrt(2.0), rel=0.05)
    assert found.residual_m <= 0.01 / np.sqrt(2.0)  # least squares: the true hinge leaves this much
    alone = body(second, np.append(SECOND, 0.2 + 0.1j))
    alone[:, 1] += slide * np.exp(1j * second)  # one marker of three: a segment that is not rigid
    found = centre_of_rotation(points(body(first, FIRST)), points(alone))
    assert found.residual_m > 0.001


# --- refusals --------------------------------------------------------------------------------------------------------


def test_too_little_rotation_is_refused():
    assert found_hinge(20.5, min_range_deg=20.0).range_deg > 20.0
    with pytest.raises(SignalError, match=r"rotate by 19\.0 deg .* at least 20 deg"):
        found_hinge(19.0, min_range_deg=20.0)
    still = centre_of_rotation(*hinge(0.0))
    assert still.range_deg == pytest.approx(0.0, abs=1e-6)
    assert still.expected_error_m >= 0.0


def test_segments_without_orientation_are_refused():
    first, second = hinge()
    with pytest.raises(SignalError, match="a segment has 1 marker"):
        centre_of_rotation(first, second[:, :1])
    few = np.arange(N) < 2
    with pytest.raises(SignalError, match="are visible in 2 frames in use, expected 3"):
        centre_of_rotation(first, second, counted=few)
    with pytest.raises(SignalError, match="no frame in use has all markers"):
        centre_of_rotation(np.full_like(first, np.nan), second)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"functional": [["A", "A"], ["C", "D"]], "anatomical": "K"}, "needs two different"),
        ({"functional": [["A", "B"], []], "anatomical": "K"}, "needs two different"),
        ({"functional": [["A", "B"], ["B", "D"]], "anatomical": "K"}, "B: named for both segments"),
        ({"functional": [["A", "B"], ["C", "D"]]}, "anatomical is missing"),
        ({"functional": ["A", "B"], "anatomical": "K"}, "functional.0 is 'A'"),
        ({"functinal": [["A", "B"], ["C", "D"]]}, "did you mean 'functional'"),
    ],
)
def test_settings_that_say_no_two_segments(rule, words):
    with pytest.raises(SettingsError, match=words) as error:
        make_settings({"marker_sets": {"m": {"knee_axis": rule}}})
    assert str(error.value).count("\n  - marker_sets.m.knee_axis") <= 2  # of one kind of rule only


def test_labels_of_a_functional_landmark():
    rule = Functional(functional=(("{S}A", "{s}B"), ("C_{side}", "D")), anatomical=("{S}K", "L"))
    mapping = LandmarkMap({"knee_axis": rule, "heel": "H"}, {"femoral_condyles": "knee_axis"}, "left")
    for landmark in ("knee_axis", "femoral_condyles"):
        assert mapping.segments(landmark) == (("LA", "lB"), ("C_left", "D"))
        assert mapping.weights(landmark) == {"LK": 0.5, "L": 0.5}
        assert mapping.labels(landmark) == {"LA", "lB", "C_left", "D", "LK", "L"}
        assert mapping.anatomical().labels(landmark) == {"LK", "L"}
    assert mapping.segments("heel") is None
    same = Functional(functional=(("{S}A", "LA"), ("C", "D")), anatomical="K")
    assert LandmarkMap({"knee_axis": same}, {}, "right").segments("knee_axis") == (("RA", "LA"), ("C", "D"))
    with pytest.raises(LandmarkError, match="landmark 'knee_axis', functional: LA, LA: a segment's orientation needs"):
        LandmarkMap({"knee_axis": same}, {}, "left").labels("knee_axis")


# --- whole trials ----------------------------------------------------------------------------------------------------

DEMO = {trial.name: replace(trial, gaps=()) for trial in demo_trials()}
UPPER_ARM = ("UA1", "UA2", "UA3")
FOREARM = ("FA1", "FA2")
OFF_M = 0.02 * np.exp(0.7j)  # the elbow's markers are off by 2 cm, in the forearm's frame


def simulated(demo, off=OFF_M):
    """A reach without noise, with markers on both sides of the elbow and the elbow's own ones displaced in the plane."""
    recording, motion = demo.recording(noise_m=0.0), reach_motion(demo.reach, rate_hz=demo.rate_hz)
    joints = planar(joint_positions(demo.arm.chain, motion.angle_rad, base_m=motion.base_m))
    upper_arm, forearm = np.exp(1j * np.cumsum(motion.angle_rad, axis=1)[:, :2]).T
    second = np.array([0.0, 1.0, 0.0]) if demo.horizontal else np.array([0.0, 0.0, 1.0])

    def in_space(values):
        return values.real[..., None] * np.array([1.0, 0.0, 0.0]) + values.imag[..., None] * second

    markers = recording.markers_m.copy()
    elbow = [recording.labels.index(demo.prefix + label) for label in ("ELBL", "ELBM")]
    markers[:, elbow] += in_space(off * forearm)[:, None]
    own = joints[:, 1, None] + np.concatenate(
        [
            upper_arm[:, None] * np.array([-0.20 + 0.05j, -0.12 - 0.04j, -0.06 + 0.06j]),
            forearm[:, None] * np.array([0.08 + 0.05j, 0.2 - 0.03j]),
        ],
        axis=1,
    )
    depth = np.array([0.05, -0.02, 0.03, 0.06, -0.04])[:, None] * np.cross([1.0, 0.0, 0.0], second)
    labels = tuple(demo.prefix + label for label in (*UPPER_ARM, *FOREARM))
    return replace(
        recording,
        markers_m=np.concatenate([markers, in_space(own) + depth], axis=1),
        labels=(*recording.labels, *labels),
    )


def arm_settings(demo, functional=True, **changes):
    raw = SETTINGS.model_dump()
    if functional:
        raw["marker_sets"]["limb_markers"]["elbow_axis"] = {
            "functional": [UPPER_ARM, FOREARM],
            "anatomical": ["ELBL", "ELBM"],
        }
    raw["filter"]["method"] = "none"
    raw["differentiation"]["accuracy"] = 8
    raw["plane"]["kind"] = "horizontal" if demo.horizontal else "sagittal"
    raw["muscles"]["enabled"] = False
    return settings_with(make_settings(raw), **changes)


def analysed(demo, recording, settings):
    return analyse_recording(
        recording, Limb("arm", side=demo.side, body_mass_kg=demo.arm.body_mass_kg, prefix=demo.prefix), settings
    )


@pytest.mark.parametrize("name", ["S01_sagittal_fast", "S02_horizontal_fast"])  # a right arm and a left one
def test_a_displaced_elbow_is_put_right_and_the_exact_torques_come_back(name):
    """Torques by Newton and Euler from the simulation's own angles, accelerations and masses.

    Away from the ends of the reaches, where the differences straddle a jump of the jerk, accuracy 8 is exact; what is left is
    rounding over h^2.
    """
    demo = DEMO[name]
    moved = reach_motion(demo.reach, rate_hz=demo.rate_hz)
    exact = newton_euler(
        demo.arm.chain,
        moved,
        gravity_m_s2=(0.0, 0.0 if demo.horizontal else -SETTINGS.gravity_m_s2),
    ).torque_nm
    ends = [t for onset in demo.reach.onsets_s for t in (onset, onset + demo.reach.duration_s)]
    smooth = (
        np.abs((np.arange(moved.n_frames) / demo.rate_hz)[:, None] - np.array(ends)).min(axis=1) > 4.5 / demo.rate_hz
    )
    recording = simulated(demo)
    right = analysed(demo, recording, arm_settings(demo))
    assert np.abs(right.torques.terms.net - exact)[smooth].max() < 1e-6
    np.testing.assert_allclose(right.motion.chain.length_m, demo.arm.length_m, atol=1e-9)
    np.testing.assert_allclose(right.motion.chain.com_m, demo.arm.chain.com_m, atol=1e-9)
    displaced = analysed(demo, recording, arm_settings(demo, functional=False))
    assert np.abs(displaced.torques.terms.net - exact)[smooth].max() > 0.05


def test_the_ledgers_figures_and_the_note_of_a_trial():
    demo = DEMO["S01_sagittal_fast"]
    settings = arm_settings(demo)
    result = analysed(demo, simulated(demo), settings)
    quality = result.motion.metrics
    assert quality["functional_residual_m"] < 1e-9
    assert quality["functional_range_deg"] == pytest.approx(55.0, abs=1e-9)  # 95 to 40 deg
    assert quality["functional_offset_m"] == pytest.approx(0.02, abs=1e-9)
    (note,) = (note for note in result.motion.notes if "functional" in note)
    for words in ("elbow_axis", "UA1, UA2, UA3 against FA1, FA2", "251 frames", "55 deg", "20 mm"):
        assert words in note
    plain = analysed(demo, simulated(demo), arm_settings(demo, functional=False))
    assert not any("functional" in name for name in plain.motion.metrics)
    assert not any("functional" in note for note in plain.motion.notes)
    figures = {"functional_residual_m": 0.0151}
    assert [flag.check.name for flag in assess(figures, settings.quality)] == ["functional_residual_m"]
    assert assess({"functional_residual_m": 0.0149}, settings.quality) == []


def test_a_missing_marker_of_a_segment_is_missing_as_any_of_the_chain():
    demo = DEMO["S01_sagittal_fast"]
    recording = simulated(demo)
    settings = arm_settings(demo)
    without = replace(recording, labels=tuple("other" if label == "FA2" else label for label in recording.labels))
    with pytest.raises(LandmarkError, match="marker 'FA2' is not among the 13 positions of the file"):
        analysed(demo, without, settings)
    markers = recording.markers_m.copy()
    markers[:40, recording.labels.index("FA2")] = np.nan  # 0.4 s: the stretch begins later
    markers[100:105, recording.labels.index("UA1")] = np.nan  # 0.05 s: filled
    result = analysed(demo, replace(recording, markers_m=markers), settings)
    assert result.motion.frame[0] == 41
    assert result.motion.filled.sum() == 5


def test_frames_that_point_out_of_the_plane_have_no_say():
    """The hand points at the side for ten frames, and there the forearm's markers are nowhere near their places."""
    demo = DEMO["S01_sagittal_fast"]
    recording = simulated(demo)
    markers = recording.markers_m.copy()
    wrist, knuckle, forearm = (recording.labels.index(label) for label in ("WRU", "KNU", "FA1"))
    markers[100:110, knuckle] = markers[100:110, wrist] + [0.0, 0.2, 0.0]
    markers[100:110, forearm, 2] += 0.2
    found = analysed(demo, replace(recording, markers_m=markers), arm_settings(demo)).motion
    assert found.foreshortened.sum() == 18  # and four frames on either side, by the differences
    assert found.metrics["functional_residual_m"] < 1e-9


def test_a_landmark_for_which_a_functional_one_stands_is_functional_too():
    """Its depth is the anatomical one, its place in the plane the hinge's."""
    first, second = hinge()
    depth = np.linspace(0.1, 0.2, N)
    markers = np.concatenate([first, second, points(HINGE + 0.02)[:, None]], axis=1)
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # x of the plane is z of the laboratory
    in_space = np.concatenate([markers, np.broadcast_to(depth[:, None, None], (N, 6, 1))], axis=2) @ axes
    rule = Functional(functional=(("A", "B", "C"), ("D", "E")), anatomical="K")
    mapping = LandmarkMap({"knee_axis": rule, "other": "K"}, {"femoral_condyles": "knee_axis"}, "right")
    names = ("femoral_condyles", "knee_axis", "other")
    landmarks, metrics, notes = functional_landmarks(
        dict.fromkeys(names, in_space[:, 5]),
        functional={name: (mapping.resolve(name), mapping.segments(name)) for name in names[:2]},
        markers={label: i for i, label in enumerate("ABCDEK")},
        positions_m=in_space,
        plane=PlaneFrame(axes, "sagittal"),
        counted=np.ones(N, dtype=bool),
        min_range_deg=20.0,
    )
    expected = np.column_stack([depth, HINGE.imag, HINGE.real])[:, [1, 0, 2]]  # laboratory x, y, z
    for name in names[:2]:
        np.testing.assert_allclose(landmarks[name], expected, atol=1e-9)
    np.testing.assert_array_equal(landmarks["other"], in_space[:, 5])
    assert metrics["functional_offset_m"] == pytest.approx(0.02, abs=1e-9)
    assert len(notes) == 1


# --- recorded joints -------------------------------------------------------------------------------------------------

RECORDED = parse_yaml((ROOT / "tests" / "recordings_study" / "config" / "config.yaml").read_text(encoding="utf-8"))
THIGH, SHANK = ["{S}TH1", "{S}TH2", "{S}TH3"], ["{S}TB1", "{S}TB2", "{S}TB3"]


def recorded_settings(marker_set, landmark, segments, anatomical, **plane):
    raw = {
        **RECORDED,
        "plane": {**RECORDED["plane"], **plane},
        "marker_sets": {
            marker_set: {
                **RECORDED["marker_sets"][marker_set],
                landmark: {"functional": segments, "anatomical": anatomical},
            }
        },
        "substitutes": {marker_set: RECORDED["substitutes"][marker_set]},
    }
    return make_settings(raw)


def breadth(recording, one, other):
    first, second = (recording.markers_m[:, recording.labels.index(label)] for label in (one, other))
    return np.nanmean(np.linalg.norm(first - second, axis=1))


def walk_motion(recording, side, settings):
    return chain_motion(recording, Limb("leg", side=side, body_mass_kg=66.0, marker_set="opensim_walking"), settings)


@pytest.fixture(scope="module")
def walk(recordings):
    return read_c3d(recordings / "walking_opensim" / "walking2.c3d")


FOOT = ["{S}CAL", "{S}MT1", "{S}MT2"]
WALKED = {
    "knee_axis": ([THIGH, SHANK], "{S}KJC", ("LFC", "MFC")),
    "ankle_axis": ([SHANK, FOOT], "{S}AJC", ("LMAL", "MMAL")),
}


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("landmark", WALKED)
def test_a_recorded_joint_turns_within_its_condyles(walk, landmark, side):
    """The centre is nearer to the anatomical one than the markers on either side of the joint: it lies inside."""
    segments, anatomical, ends = WALKED[landmark]
    settings = recorded_settings("opensim_walking", landmark, segments, anatomical)
    found = walk_motion(walk, side, settings)
    one, other = (side[0].upper() + end for end in ends)
    assert found.metrics["functional_offset_m"] < 0.5 * breadth(walk, one, other)
    low, high = {"knee_axis": (50.0, 80.0), "ankle_axis": (20.0, 50.0)}[landmark]  # in walking
    assert low < found.metrics["functional_range_deg"] < high
    assert found.metrics["functional_residual_m"] < settings.quality.functional_residual_m


def test_segments_that_do_not_meet_are_flagged(walk):
    """The thigh against the foot: two joints lie between, and no point keeps its place in both."""
    settings = recorded_settings("opensim_walking", "knee_axis", [THIGH, FOOT], "{S}KJC")
    found = walk_motion(walk, "right", settings)
    assert "functional_residual_m" in [flag.check.name for flag in assess(found.metrics, settings.quality)]


def test_the_other_foot_needs_no_markers_of_segments(walk):
    """A functional ankle leaves the other foot's anatomical one, whose markers of the shank may not be there."""
    blind = replace(
        walk, labels=tuple(f"x{label}" if label in ("LTB1", "LTB2", "LTB3") else label for label in walk.labels)
    )
    settings = recorded_settings("opensim_walking", "ankle_axis", [SHANK, FOOT], "{S}AJC")
    found = walk_motion(blind, "right", settings)
    assert found.metrics["other_foot_unknown_share"] == 0.0
    assert not any("its contact is not detected" in note for note in found.notes)


def test_markers_on_one_line_across_the_plane_are_refused():
    """Two markers 2 cm apart in the plane that slide past each other seem to turn by more than any joint can."""
    first, second = hinge(250.0)
    n_first = first.shape[1]
    positions = np.concatenate([first, second], axis=1)
    positions = np.concatenate([positions, np.zeros((*positions.shape[:2], 1))], axis=2)
    labels = [f"M{k}" for k in range(positions.shape[1])]
    with pytest.raises(
        SignalError, match=r"landmark 'knee_axis', functional: the segments turn by 2.. deg.*at most 180 deg"
    ):
        functional_landmarks(
            {"knee_axis": positions[:, 0]},
            functional={"knee_axis": ("knee_axis", (labels[:n_first], labels[n_first:]))},
            markers={label: k for k, label in enumerate(labels)},
            positions_m=positions,
            plane=PlaneFrame(np.eye(3), "sagittal"),
            counted=np.ones(N, dtype=bool),
            min_range_deg=20.0,
        )

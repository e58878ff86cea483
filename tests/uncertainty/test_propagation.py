"""Linear propagation beside the whole analysis, done again with changed recordings."""

from dataclasses import replace

import numpy as np
import pytest

from clustered_legs import LANDMARKS
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.chain.linear import term_rows
from limbtorque.motion.limb import Limb
from limbtorque.recordings.recording import find_marker
from limbtorque.simulation.gait import Walker, Walkway, walk, walk_recording
from limbtorque.simulation.reach import Arm, Reach, reach_motion, reach_recording
from limbtorque.study.settings import make_settings
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.marker_noise import joint_noise_m, marker_noise, noise_bands
from limbtorque.uncertainty.propagation import torque_bands, trial_errors

MARKERS = {
    "glenohumeral_axis": "SHO",
    "elbow_axis": ["ELBL", "ELBM"],
    "wrist_axis": ["WRR", "WRU"],
    "ulnar_styloid": ["WRR", "WRU"],
    "knuckle_2_middle_finger": "KNU",
    **LANDMARKS,
}
SPRING = {"type": "spring", "stiffness_n_m": 40.0, "anchor_m": [-0.2, 0.0, 1.1], "rest_length_m": 0.1}
CUTOFF_HZ = 20.0  # so high that the filter changes the movement little
STEP_M = 1e-4
WAYS = [("arm", "rigid_chain"), ("spring", "segments"), ("leg", "segments"), ("leg", "inertial_chain")]


def settings_of(**more):
    raw = {
        "marker_sets": {"sim": MARKERS},
        "plane": {"up_axis": "+z", "forward_axis": "+x"},
        "filter": {"cutoff_hz": CUTOFF_HZ},
        "loads": {"spring": SPRING},
    }
    return make_settings(raw | more)


def reach(noise_m=0.0, seed=0):
    movement = Reach((-80.0, 95.0, 10.0), (-25.0, 40.0, -10.0), 0.8, (0.0, 1.4))
    arm = Arm(72.0, (0.31, 0.26, 0.085))
    return reach_recording(arm, movement, horizontal=False, rate_hz=100.0, noise_m=noise_m, seed=seed)


def walking():
    return walk_recording(
        Walker(),
        Walkway(((0.1, -0.2), (0.65, 0.2)), plate_rate_hz=500.0),
        duration_s=2.2,
        first_strike_s=0.35,
    )


CASES = {
    "arm": (reach, Limb("arm", side="right", body_mass_kg=72.0), ["SHO"], ["ELBL", "ELBM"], ["WRR", "WRU"], ["KNU"]),
    "spring": (
        reach,
        Limb("arm", side="right", body_mass_kg=72.0, load="spring"),
        ["SHO"],
        ["ELBL", "ELBM"],
        ["WRR", "WRU"],
        ["KNU"],
    ),
    "leg": (walking, Limb("leg", side="right", body_mass_kg=70.0), ["RHJC"], ["RKJC"], ["RAJC"], ["RTOE"]),
}


def true_angle(case):
    """Joint angles without a filter."""
    if case == "leg":
        return walk(Walker(), np.arange(221) / 100.0, first_strike_s=0.35)["right"].kinematics.angle_rad
    return reach_motion(Reach((-80.0, 95.0, 10.0), (-25.0, 40.0, -10.0), 0.8, (0.0, 1.4)), rate_hz=100.0).angle_rad


def analysed(recording, limb, settings):
    motion = chain_motion(recording, limb, settings)
    torques = joint_torques(motion)
    return motion, term_rows(torques.terms), used_frames(motion, torques)


def change_of(errors, source):
    """Change with the directions of a source, of all frames."""
    which = [k for k, each in enumerate(errors.directions) if each.source == source]
    whole = [rows for _, start, rows in errors.changes(10**6) if start <= which[0] < start + rows.shape[2]]
    [start] = {start for _, start, rows in errors.changes(10**6) if start <= which[0] < start + rows.shape[2]}
    [rows] = whole
    return rows[:, :, [k - start for k in which]]


@pytest.mark.parametrize(("case", "angles"), WAYS)
@pytest.mark.parametrize("joint", range(4))
def test_error_of_a_joint_centre_equals_the_analysis_of_moved_markers(case, joint, angles):
    """Markers moved by 0.1 mm with the segment before them, through the whole analysis.

    The linear change leaves out that the filter smooths the moving error: below a fiftieth of the largest change. Of the
    fitted chain it leaves out the curvature of the residuals; those of the walk's foot, of 15 cm, are some millimetres.
    """
    make, limb, *labels = CASES[case]
    settings, recording = settings_of(motion={"angles": angles}), make()
    motion, _, used = analysed(recording, limb, settings)
    landmark = list(
        {"arm": ("glenohumeral_axis", "elbow_axis", "wrist_axis", "knuckle_2_middle_finger")}.get(
            limb.chain, ("hip_axis", "knee_axis", "ankle_axis", "head_of_metatarsal_2")
        )
    )[joint]
    only = dict.fromkeys(("centre_marker_m", "centre_midpoint_m", "centre_between_m"), 0.0)
    errors = trial_errors(
        motion,
        limb,
        settings_of(motion={"angles": angles}, uncertainty={"sizes": only, "landmarks": {landmark: STEP_M}}),
    )
    found = change_of(errors, "joint_centres")
    assert found.shape[2] == 2
    angle = true_angle(case)[motion.frame - 1]
    theta = np.cumsum(angle, axis=1)[:, joint - 1] if joint else np.zeros(len(motion.time_s))
    for k, along in enumerate((theta, theta + np.pi / 2.0)):
        step = STEP_M * np.stack([np.cos(along), 0.0 * along, np.sin(along)], axis=1)
        rows = []
        for sign in (1.0, -1.0):
            markers = recording.markers_m.copy()
            for label in labels[joint]:
                markers[motion.frame - 1, find_marker(recording, label)] += sign * step
            again, moved, _ = analysed(replace(recording, markers_m=markers), limb, settings)
            np.testing.assert_array_equal(again.frame, motion.frame)
            rows.append(moved)
        expected = (rows[0] - rows[1]) / 2.0
        share = 0.05 if case == "leg" and angles != "segments" else 0.02
        for i in range(3):
            size = np.abs(expected[i][:, used]).max()
            np.testing.assert_allclose(found[i, :, k][:, used], expected[i][:, used], rtol=0.0, atol=share * size)


NOISE_M = 0.0005


@pytest.fixture(scope="module")
def noisy_reaches():
    """Motion, terms and used frames of 120 reaches with noise on their markers."""
    return [analysed(reach(NOISE_M, seed), CASES["arm"][1], settings_of()) for seed in range(120)]


def test_noise_of_markers_equals_the_spread_of_noisy_recordings(noisy_reaches):
    """Standard deviation over 120 recordings; of one frame it is uncertain by 6 %, of their median by about 1 %."""
    motion, _, used = noisy_reaches[-1]
    spread = np.std([rows for _, rows, _ in noisy_reaches], axis=0, ddof=1)
    stated = np.sqrt(noise_bands(motion, marker_noise(AnalysedLimb(motion, CASES["arm"][1], settings_of()))).variance)
    for i in range(3):
        for term in (0, 1, 2, 3):  # not gravity, which has the noise of the lengths, left out, as well
            ratio = spread[i, term, used] / stated[i, term, used]
            assert 0.93 < np.median(ratio) < 1.07, (i, term)


def test_noise_of_means_and_impulses_equals_the_spread_of_noisy_recordings(noisy_reaches):
    """120 recordings; a spread is uncertain by 6 %. The errors of successive accelerations cancel in a mean."""
    weights = {"early": np.zeros(311), "late": np.zeros(311)}
    weights["early"][80:130], weights["late"][120:201] = 1.0 / 50.0, 0.01
    motion = noisy_reaches[-1][0]
    noise = marker_noise(AnalysedLimb(motion, CASES["arm"][1], settings_of()))
    stated = noise_bands(motion, noise, weights=weights)
    for name, weight in weights.items():
        sums = [np.nan_to_num(rows) @ weight for _, rows, _ in noisy_reaches]
        ratio = np.std(sums, axis=0, ddof=1)[:, :4] / np.sqrt(stated.sums[name][:, :4])
        for term in range(4):
            assert 0.8 < np.min(ratio[:, term]) <= np.max(ratio[:, term]) < 1.25, (name, term)
    frames = np.sqrt((stated.variance * weights["early"]).sum(axis=2))
    assert (np.sqrt(stated.sums["early"])[:, 1] < 0.4 * frames[:, 1]).all()


def test_weights_over_the_same_frames_have_noise_in_proportion():
    motion, _, used = analysed(reach(NOISE_M), CASES["arm"][1], settings_of())
    noise = marker_noise(AnalysedLimb(motion, CASES["arm"][1], settings_of()))
    found = noise_bands(motion, noise, weights={"mean": used / used.sum(), "sum": 2.0 * used, "none": 0.0 * used})
    np.testing.assert_allclose(found.sums["sum"], (2.0 * used.sum()) ** 2 * found.sums["mean"], rtol=1e-12)
    assert not found.sums["none"].any()


def test_stretches_of_frames_make_no_difference(monkeypatch):
    """Variances and sums of a walk, all frames together and 64 at a time."""
    limb, settings = CASES["leg"][1], settings_of()
    motion, _, used = analysed(walking(), limb, settings)
    weights = {"mean": used / used.sum()}
    whole = torque_bands(motion, limb, settings, weights=weights)
    for module in ("propagation", "marker_noise"):
        monkeypatch.setattr(f"limbtorque.uncertainty.{module}.FRAMES_AT_A_TIME", 64)
    parts = torque_bands(motion, limb, settings, weights=weights)
    np.testing.assert_allclose(parts.sd_nm[:, :, used], whole.sd_nm[:, :, used], rtol=1e-12, atol=1e-15)
    for name in ("change", "variance", "bias"):
        found, expected = (getattr(each.sums["mean"], name) for each in (parts, whole))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_noise_of_the_mean_of_two_markers_is_smaller():
    motion, _, _ = analysed(reach(NOISE_M), CASES["arm"][1], settings_of())
    found = joint_noise_m(AnalysedLimb(motion, CASES["arm"][1], settings_of()))
    np.testing.assert_allclose(found / found[0], [1.0, np.sqrt(0.5), np.sqrt(0.5), 1.0])
    np.testing.assert_allclose(found, [5e-4, 5e-4 / np.sqrt(2), 5e-4 / np.sqrt(2), 5e-4], rtol=0.1)


def test_terms_of_every_direction_add_up_to_the_net_torque():
    motion, _, used = analysed(walking(), CASES["leg"][1], settings_of())
    bands = torque_bands(motion, CASES["leg"][1], settings_of())
    for _, _, rows in trial_errors(motion, CASES["leg"][1], settings_of()).changes():
        np.testing.assert_allclose(rows[:, 0], rows[:, 1:].sum(axis=1), rtol=1e-9, atol=1e-9)
    known = bands.sd_nm[:, 0, used]
    assert np.isfinite(known).all()
    assert (known > 0.0).all()


def test_plane_that_is_off_by_an_angle_scales_with_the_distance_along_its_normal():
    """The joints of the reach lie in the plane: a turn of the plane about its y axis has no effect to first order."""
    motion, _, used = analysed(reach(), CASES["arm"][1], settings_of())
    bands = torque_bands(motion, CASES["arm"][1], settings_of())
    assert np.abs(bands.by_source["plane"][:, :, used]).max() < 1e-12

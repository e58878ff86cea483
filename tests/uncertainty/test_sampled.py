"""Sampled propagation: terms that add up, closed forms, agreement with the linear bands, and convergence."""

from dataclasses import replace

import numpy as np
import pytest
from still_chains import N_FRAMES, RATE_HZ, forearm_at, motion_of, summarised, with_errors

from clustered_legs import LANDMARKS
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.chain.linear import inertial_parameters, term_rows
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.motion.limb import Limb
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.study.settings import make_settings, override
from limbtorque.tables.study_columns import SAMPLED
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.marker_noise import marker_noise
from limbtorque.uncertainty.of_trial import motion_sd
from limbtorque.uncertainty.propagation import torque_bands, trial_errors
from limbtorque.uncertainty.sampled import Draw, direction_numbers, sampled_torques

WHO = Limb("leg", side="right", body_mass_kg=70.0)
FOREARM = Limb("forearm", side="right", body_mass_kg=70.0, marker_set="sim")


@pytest.fixture(scope="module")
def walk():
    settings = make_settings({"marker_sets": {"sim": LANDMARKS}, "plane": {"up_axis": "+z", "forward_axis": "+x"}})
    walkway = Walkway(((0.1, -0.2), (0.65, 0.2)), plate_rate_hz=500.0, noise_m=0.0003)
    recording = walk_recording(Walker(), walkway, duration_s=2.2, first_strike_s=0.35)
    return chain_motion(recording, WHO, settings), settings


def all_rows(errors, draw):
    return np.concatenate([some.rows for some in sampled_torques(errors, draw)], axis=2)


def without(settings, *off):
    return override(settings, {"uncertainty.off": list(off)}, source="test")


def test_no_error_gives_the_torques_of_the_trial(walk):
    motion, settings = walk
    rows = all_rows(trial_errors(motion, WHO, without(settings, *SOURCES)), Draw(2, 1))
    torques = joint_torques(motion)
    used = used_frames(motion, torques)
    expected = term_rows(torques.terms)[:, :, None]
    np.testing.assert_allclose(rows[..., used], np.broadcast_to(expected, rows.shape)[..., used], rtol=0.0, atol=1e-9)


def test_the_terms_of_each_sample_add_up_to_its_net_torque(walk):
    motion, settings = walk
    rows = all_rows(trial_errors(motion, WHO, settings), Draw(16, 1))
    known = ~np.isnan(rows[:, 0])
    assert known.mean() > 0.5
    difference = rows[:, 0] - rows[:, 1:].sum(axis=1)
    assert np.abs(difference[known]).max() < 1e-10  # rounding of torques of some 100 N m
    assert rows[:, 0].std(axis=1)[:, 50].min() > 0.1


def test_the_same_seed_gives_the_same_bytes(walk, monkeypatch):
    motion, settings = walk
    errors = trial_errors(motion, WHO, settings)
    first, other = all_rows(errors, Draw(16, 1)), all_rows(errors, Draw(16, 2))
    monkeypatch.setattr("limbtorque.uncertainty.sampled.VALUES_AT_A_TIME", 1)  # one sample after the other
    again = all_rows(errors, Draw(16, 1))
    np.testing.assert_allclose(first, again, rtol=1e-12, atol=1e-12, equal_nan=True)
    assert all_rows(errors, Draw(16, 1)).tobytes() == again.tobytes()
    assert np.nanmax(np.abs(first - other)) > 1.0


def test_linear_and_sampled_standard_deviations_agree(walk):
    """512 samples of independent numbers have a standard deviation that is uncertain by 3 %."""
    motion, settings = walk
    settings = without(settings, "filter")  # of whose variance the linear bands subtract that of the noise in it
    used = used_frames(motion, joint_torques(motion))
    rows = all_rows(trial_errors(motion, WHO, settings), Draw(512, 3))[..., used]
    linear = torque_bands(motion, WHO, settings).sd_nm[..., used]
    for joint in range(3):
        ratio = rows[joint, 0].std(axis=0, ddof=1) / linear[joint, 0]
        assert 0.95 < np.median(ratio) < 1.05
        assert 0.9 < np.percentile(ratio, 5) < np.percentile(ratio, 95) < 1.1


def test_noise_of_the_markers_agrees_with_its_analytic_variance(walk):
    """Drawn for each frame and filtered; 256 samples in some 200 frames."""
    motion, settings = walk
    alone = without(settings, *(source for source in SOURCES if source != "marker_noise"))
    used = used_frames(motion, joint_torques(motion))
    rows = all_rows(trial_errors(motion, WHO, alone), Draw(256, 3))[..., used]
    linear = torque_bands(motion, WHO, alone).sd_nm[..., used]
    for joint in range(3):
        ratio = np.sqrt(rows[joint, 0].var(axis=0).sum() / (linear[joint, 0] ** 2).sum())
        assert 0.95 < ratio < 1.05


@pytest.fixture
def lowering():
    """A forearm that is lowered at constant speed: torque of gravity from its largest value to below zero."""
    return forearm_at(np.linspace(0.0, 1.8, N_FRAMES), 1.8 * RATE_HZ / (N_FRAMES - 1))


def test_a_relative_error_is_the_same_share_of_every_statistic(lowering):
    """Stratified normal numbers: their standard deviation is exact to 0.5 %, their quantiles are those of the normal."""
    rows = summarised(lowering, with_errors(enabled=True, samples=512, body_mass=0.02))
    row = rows["trial", "net"]
    names = [name for name in SAMPLED if not name.endswith("time_s")]
    for name in names:
        start, unit = name.rsplit("_", 1)
        assert row[f"{start}_sd_{unit}"] == pytest.approx(0.02 * abs(row[name]), rel=0.01)
        assert row[f"{start}_high_{unit}"] == pytest.approx(row[name] + 0.0392 * abs(row[name]), rel=0.002)
        assert row[f"{start}_low_{unit}"] == pytest.approx(row[name] - 0.0392 * abs(row[name]), rel=0.002)
    for name in ("peak_time", "max_time", "min_time"):
        assert row[f"{name}_sd_s"] == pytest.approx(0.0, abs=1e-12)
        assert row[f"{name}_low_s"] == row[f"{name}_high_s"] == row[f"{name}_s"]
    assert row["positive_work_j"] > 0.0 > row["negative_work_j"]
    assert row["peak_sign_certain"] == 1.0
    assert all(np.isnan(rows["none", "net"][f"{name}_sd_nm"]) for name in ("peak", "mean"))


def test_a_peak_whose_time_may_jump_has_limits_of_both_times():
    """Two peaks that differ by a thousandth: an error of the forearm's direction decides which one is larger."""
    chain, frames = Chain([0.25], [1.12], [0.1075], [0.006]), np.arange(N_FRAMES)
    away = 0.3 * np.abs(frames % 25 - 12.0) / 12.0
    angle = np.where(frames < 25, 0.5 + away, -0.501 - away)[:, None]
    motion = motion_of(chain, Kinematics(angle, 0.0 * angle, 0.0 * angle), joints=("elbow",), segments=("forearm",))
    settings = with_errors(enabled=True, samples=512, landmarks={"ulnar_styloid": 0.01})
    row = summarised(motion, settings)["trial", "net"]
    assert row["peak_time_low_s"] == pytest.approx(0.12)
    assert row["peak_time_high_s"] == pytest.approx(0.37)
    assert row["peak_time_sd_s"] > 0.05


def test_samples_off_leaves_times_and_powers_without_uncertainty(lowering):
    rows = summarised(lowering, with_errors(enabled=True, body_mass=0.02))
    row = rows["trial", "net"]
    assert row["peak_sd_nm"] == pytest.approx(0.02 * row["peak_nm"])
    assert np.isnan([row["peak_time_sd_s"], row["max_power_sd_w"], row["positive_work_sd_j"]]).all()


def test_samples_equal_the_analysis_of_changed_chains(walk):
    """Errors of segments alone, where terms and constants are exact: each sample is the analysis of another chain."""
    motion, settings = walk
    kept = ("segment_mass", "segment_com", "segment_inertia", "body_mass")
    errors = trial_errors(motion, WHO, without(settings, *(source for source in SOURCES if source not in kept)))
    draw = Draw(4, 1)
    parameters = (
        inertial_parameters(motion.chain) + direction_numbers(errors.directions, draw) @ errors.parameters.change
    )
    used = used_frames(motion, joint_torques(motion))
    rows = all_rows(errors, draw)[..., used]
    for k, (mass, moment, turning) in enumerate(parameters.reshape(4, 3, -1)):
        com = moment / mass
        chain = Chain(motion.chain.length_m, mass, com, turning - mass * com**2)
        expected = term_rows(joint_torques(replace(motion, chain=chain)).terms)[..., used]
        np.testing.assert_allclose(rows[:, :, k], expected, rtol=0.0, atol=1e-9)


def test_the_standard_deviation_of_the_motion(lowering):
    """An endpoint that is off across a forearm of 25 cm turns it by the same angle in all frames."""
    errors = trial_errors(lowering, FOREARM, with_errors(enabled=True, landmarks={"ulnar_styloid": 0.01}))
    sd = motion_sd(errors, None)
    np.testing.assert_allclose(sd[0], 0.01 / 0.25, rtol=1e-12)
    np.testing.assert_allclose(sd[1:], 0.0, atol=1e-9)


def test_velocities_of_samples_have_the_standard_deviation_of_the_motion(walk):
    """Of 512 samples a standard deviation has an error of 3 %; the noise of one frame is that of its neighbours."""
    motion, settings = walk
    noise = marker_noise(AnalysedLimb(motion, WHO, settings))
    errors = trial_errors(motion, WHO, settings, noise=noise)
    sampled = np.concatenate([some.velocity_rad_s for some in sampled_torques(errors, Draw(512, 1))], axis=1)
    inner = slice(20, -20)
    sizes = [each[:, inner] for each in (motion_sd(errors, noise)[1], sampled.std(axis=1))]
    linear, found = (np.sqrt((each**2).mean(axis=1)) for each in sizes)
    np.testing.assert_allclose(linear, found, rtol=0.05)

"""Uncertainty of peaks, means and impulses in the rows of the torque summary."""

import math
from dataclasses import replace

import numpy as np
import pytest
from still_chains import N_FRAMES, RATE_HZ, motion_of, with_errors

from limbtorque.chain.model import Chain, Kinematics
from limbtorque.motion.limb import Limb
from limbtorque.tables.study_columns import BANDS, SUMMARY_BANDS_COLUMNS
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.torques.summary import torque_summary
from limbtorque.uncertainty.bands import LIMITS
from limbtorque.uncertainty.of_trial import window_weights, with_bands, without_bands
from limbtorque.uncertainty.propagation import torque_bands

WHO = Limb("forearm", side="right", body_mass_kg=70.0, marker_set="sim")


@pytest.fixture
def lowering():
    """A forearm at rest in one place after the other: the torque of gravity from its largest value to below zero."""
    chain = Chain([0.25], [1.12], [0.1075], [0.006])
    angle = np.linspace(0.0, 1.8, N_FRAMES)[:, None]
    kinematics = Kinematics(angle, 0.0 * angle, 0.0 * angle)
    return motion_of(chain, kinematics, joints=("elbow",), segments=("forearm",))


def summarised(motion, settings):
    torques = joint_torques(motion)
    used = used_frames(motion, torques)
    windows = {"trial": np.ones(N_FRAMES, dtype=bool), "none": np.zeros(N_FRAMES, dtype=bool)}
    rows = torque_summary(motion, torques, windows=windows, min_known_share=0.5)
    weights = window_weights(motion, windows, used)
    bands = torque_bands(motion, WHO, settings, weights=weights)
    found = with_bands(rows, bands, motion, windows=windows, used=used)
    return {(row["window"], row["term"]): row for row in found}, torques.terms.net[:, 0]


def test_a_relative_error_is_the_same_share_of_peak_mean_and_impulse(lowering):
    rows, net = summarised(lowering, with_errors(body_mass=0.02))
    row = rows["trial", "net"]
    assert row["peak_sd_nm"] == pytest.approx(0.02 * net.max())
    assert row["min_sd_nm"] == pytest.approx(0.02 * abs(net.min()))
    assert row["mean_sd_nm"] == pytest.approx(0.02 * net.mean())
    impulse = 0.5 * (net[1:] + net[:-1]).sum() / RATE_HZ
    assert row["impulse_nms"] == pytest.approx(impulse)
    assert row["impulse_sd_nms"] == pytest.approx(0.02 * impulse)
    assert row["peak_low_nm"] == pytest.approx(net.max() * (1.0 - LIMITS * 0.02))
    assert row["peak_high_nm"] == pytest.approx(net.max() * (1.0 + LIMITS * 0.02))
    assert row["peak_sign_certain"] == 1.0


def test_shares_by_source_add_up_and_name_the_largest(lowering):
    rows, _ = summarised(lowering, with_errors(body_mass=0.02, segment_com=0.04, plane_deg=2.0))
    row = rows["trial", "net"]
    shares = {name: value for name, value in row.items() if name.startswith("peak_share_")}
    assert sum(shares.values()) == pytest.approx(1.0)
    # relative errors of 2 % and of 0.04 / 0.43
    expected = 0.02**2 / (0.02**2 + (0.04 * 0.25 / 0.1075) ** 2)
    assert row["peak_share_body_mass"] == pytest.approx(expected)
    assert row["peak_main_source"] == "segment_com"
    assert row["peak_share_plane"] == 0.0


def test_shares_of_errors_that_trials_have_in_common(lowering):
    """A scale and a table are wrong in all trials of a subject; no plate is used; the marker's noise belongs to the trial."""
    rows, _ = summarised(lowering, with_errors(body_mass=0.02, segment_com=0.04))
    for name in ("peak", "max", "min", "mean", "impulse"):
        assert rows["trial", "net"][f"{name}_shared_by_subject"] == pytest.approx(1.0)
        assert rows["trial", "net"][f"{name}_shared_by_study"] == 0.0
    noisy = replace(lowering, metrics={**lowering.metrics, "noise_m": 1e-5})
    row = summarised(noisy, with_errors(body_mass=0.02, marker_noise=1.0))[0]["trial", "net"]
    noise = row["peak_share_marker_noise"]
    assert 0.01 < noise < 0.99
    assert row["peak_shared_by_subject"] == pytest.approx(1.0 - noise)
    assert row["mean_shared_by_subject"] > row["peak_shared_by_subject"]  # noise averages out over the frames


def test_a_mean_near_zero_has_no_certain_sign(lowering):
    rows, net = summarised(lowering, with_errors(segment_com=0.3))
    assert LIMITS * rows["trial", "net"]["mean_sd_nm"] > net.mean()
    assert rows["trial", "net"]["mean_sign_certain"] == 0.0


def test_statistics_that_are_not_known_have_no_band(lowering):
    rows, _ = summarised(lowering, with_errors(body_mass=0.02))
    for term in ("net", "gravity"):
        empty = rows["none", term]
        assert all(math.isnan(empty[column.name]) for column in BANDS if column.kind is not str)
        assert empty["peak_main_source"] == ""
    still = rows["trial", "inertial_elbow"]  # exactly 0 throughout: its peak has no time
    assert math.isnan(still["peak_sd_nm"])


def test_every_column_is_there_also_when_switched_off(lowering):
    rows, _ = summarised(lowering, with_errors())
    names = {column.name for column in SUMMARY_BANDS_COLUMNS}
    own = {column.name for column in BANDS}
    assert own <= names
    [off] = without_bands([{"joint": "elbow"}])
    assert own <= set(off)
    assert own <= set(rows["trial", "net"])


def test_sign_is_certain_beyond_both_limits(lowering):
    """The peak is m g d: a centre of mass that is off by half of d is certain, by 52 % it is not (1 / 1.96 is 51 %)."""
    for share, certain in ((0.5, 1.0), (0.52, 0.0)):
        row = summarised(lowering, with_errors(segment_com=share * 0.1075 / 0.25))[0]["trial", "net"]
        assert row["peak_sd_nm"] == pytest.approx(share * row["peak_nm"])
        assert row["peak_sign_certain"] == certain

"""Uncertainty of peaks, means and impulses in the rows of the torque summary."""

import math
from dataclasses import replace

import numpy as np
import pytest
from still_chains import N_FRAMES, RATE_HZ, forearm_at, summarised, with_errors

from limbtorque.tables.study_columns import BANDS, SUMMARY_BANDS_COLUMNS
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.uncertainty.bands import LIMITS
from limbtorque.uncertainty.of_trial import without_bands


@pytest.fixture
def lowering():
    """A forearm at rest in one place after the other: the torque of gravity from its largest value to below zero."""
    return forearm_at(np.linspace(0.0, 1.8, N_FRAMES))


def test_a_relative_error_is_the_same_share_of_peak_mean_and_impulse(lowering):
    rows, net = summarised(lowering, with_errors(body_mass=0.02)), joint_torques(lowering).terms.net[:, 0]
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
    rows = summarised(lowering, with_errors(body_mass=0.02, segment_com=0.04, plane_deg=2.0))
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
    rows = summarised(lowering, with_errors(body_mass=0.02, segment_com=0.04))
    for name in ("peak", "max", "min", "mean", "impulse"):
        assert rows["trial", "net"][f"{name}_shared_by_subject"] == pytest.approx(1.0)
        assert rows["trial", "net"][f"{name}_shared_by_study"] == 0.0
    noisy = replace(lowering, metrics={**lowering.metrics, "noise_m": 1e-5})
    row = summarised(noisy, with_errors(body_mass=0.02, marker_noise=1.0))["trial", "net"]
    noise = row["peak_share_marker_noise"]
    assert 0.01 < noise < 0.99
    assert row["peak_shared_by_subject"] == pytest.approx(1.0 - noise)
    assert row["mean_shared_by_subject"] > row["peak_shared_by_subject"]  # noise averages out over the frames


def test_a_mean_near_zero_has_no_certain_sign(lowering):
    rows, net = summarised(lowering, with_errors(segment_com=0.3)), joint_torques(lowering).terms.net[:, 0]
    assert LIMITS * rows["trial", "net"]["mean_sd_nm"] > net.mean()
    assert rows["trial", "net"]["mean_sign_certain"] == 0.0


def test_statistics_that_are_not_known_have_no_band(lowering):
    rows = summarised(lowering, with_errors(body_mass=0.02))
    for term in ("net", "gravity"):
        empty = rows["none", term]
        assert all(math.isnan(empty[column.name]) for column in BANDS if column.kind is not str)
        assert empty["peak_main_source"] == ""
    still = rows["trial", "inertial_elbow"]  # exactly 0 throughout: its peak has no time
    assert math.isnan(still["peak_sd_nm"])


def test_every_column_is_there_also_when_switched_off(lowering):
    rows = summarised(lowering, with_errors())
    names = {column.name for column in SUMMARY_BANDS_COLUMNS}
    own = {column.name for column in BANDS}
    assert own <= names
    [off] = without_bands([{"joint": "elbow"}])
    assert own <= set(off)
    assert own <= set(rows["trial", "net"])


def test_sign_is_certain_beyond_both_limits(lowering):
    """The peak is m g d: a centre of mass that is off by half of d is certain, by 52 % it is not (1 / 1.96 is 51 %)."""
    for share, certain in ((0.5, 1.0), (0.52, 0.0)):
        row = summarised(lowering, with_errors(segment_com=share * 0.1075 / 0.25))["trial", "net"]
        assert row["peak_sd_nm"] == pytest.approx(share * row["peak_nm"])
        assert row["peak_sign_certain"] == certain


# --- the single input with the largest share of the variance of a peak -----------------------------------------------


def of_holding(**errors):
    """Rows of a forearm at rest, nearly level, by term."""
    rows = summarised(forearm_at(0.1), with_errors(enabled=True, **errors))
    return {term: row for (window, term), row in rows.items() if window == "trial"}


def test_a_joint_centre_is_an_input_of_its_own():
    """Both ends are off by 1 cm; along the forearm one as much as the other, and both together are all of the variance."""
    rows = of_holding(centre_marker_m=0.01)
    assert rows["net"]["peak_main_input"] in ("elbow_axis", "ulnar_styloid")
    assert rows["net"]["peak_main_input_share"] == pytest.approx(0.5, abs=0.01)
    one = of_holding(centre_marker_m=0.01, landmarks={"ulnar_styloid": 0.02})["net"]
    assert one["peak_main_input"] == "ulnar_styloid"
    assert one["peak_main_input_share"] == pytest.approx(0.8, abs=0.01)


def test_other_sources_are_one_input():
    rows = of_holding(body_mass=0.02, segment_com=0.04)
    expected = 1.0 - 0.02**2 / (0.02**2 + (0.04 * 0.25 / 0.1075) ** 2)
    assert rows["net"]["peak_main_input"] == "segment_com"
    assert rows["net"]["peak_main_input_share"] == pytest.approx(expected)


def test_terms_and_exact_inputs_have_none():
    assert of_holding(body_mass=0.02)["gravity"]["peak_main_input"] == ""
    exact = of_holding()["net"]
    assert exact["peak_main_input"] == ""
    assert np.isnan(exact["peak_main_input_share"])


def test_the_band_over_a_window_and_its_main_source():
    """The angle stays, so that every frame has the standard deviation of the peak."""
    row = of_holding(body_mass=0.02, segment_com=0.04)["net"]
    assert row["band_rms_nm"] == pytest.approx(row["peak_sd_nm"])
    assert row["band_main_source"] == "segment_com"
    assert row["band_main_share"] == pytest.approx(row["peak_share_segment_com"])
    exact = of_holding()["net"]
    assert (exact["band_rms_nm"], exact["band_main_source"]) == (0.0, "")

"""The single input with the largest share of the variance of a peak."""

import numpy as np
import pytest
from still_chains import N_FRAMES, motion_of, with_errors

from limbtorque.analysis.torques import trial_uncertainty
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.motion.limb import Limb
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.torques.summary import torque_summary

WHO = Limb("forearm", side="right", body_mass_kg=70.0, marker_set="sim", subject="anna", trial="hold")


@pytest.fixture
def holding():
    """A level forearm at rest: the torque is m g d cos(angle)."""
    chain, angle = Chain([0.25], [1.12], [0.1075], [0.006]), np.full((N_FRAMES, 1), 0.1)
    return motion_of(chain, Kinematics(angle, 0.0 * angle, 0.0 * angle), joints=("elbow",), segments=("forearm",))


def summarised(motion, **errors):
    torques, whole, settings = joint_torques(motion), np.ones(N_FRAMES, dtype=bool), with_errors(enabled=True, **errors)
    windows = {"trial": whole}
    rows = torque_summary(motion, torques, windows=windows, min_known_share=0.5)
    more = {"summary": rows, "windows": windows}
    return {row["term"]: row for row in trial_uncertainty(motion, torques, WHO, settings, **more).summary}


def test_a_joint_centre_is_an_input_of_its_own(holding):
    """Both ends are off by 1 cm; along the forearm one as much as the other, and both together are all of the variance."""
    rows = summarised(holding, centre_marker_m=0.01)
    assert rows["net"]["peak_main_input"] in ("elbow_axis", "ulnar_styloid")
    assert rows["net"]["peak_main_input_share"] == pytest.approx(0.5, abs=0.01)
    one = summarised(holding, centre_marker_m=0.01, landmarks={"ulnar_styloid": 0.02})["net"]
    assert one["peak_main_input"] == "ulnar_styloid"
    assert one["peak_main_input_share"] == pytest.approx(0.8, abs=0.01)


def test_other_sources_are_one_input(holding):
    rows = summarised(holding, body_mass=0.02, segment_com=0.04)
    expected = 1.0 - 0.02**2 / (0.02**2 + (0.04 * 0.25 / 0.1075) ** 2)
    assert rows["net"]["peak_main_input"] == "segment_com"
    assert rows["net"]["peak_main_input_share"] == pytest.approx(expected)


def test_terms_and_exact_inputs_have_none(holding):
    assert summarised(holding, body_mass=0.02)["gravity"]["peak_main_input"] == ""
    exact = summarised(holding)["net"]
    assert exact["peak_main_input"] == ""
    assert np.isnan(exact["peak_main_input_share"])


def test_the_band_over_a_window_and_its_main_source(holding):
    """The angle stays, so that every frame has the standard deviation of the peak."""
    row = summarised(holding, body_mass=0.02, segment_com=0.04)["net"]
    assert row["band_rms_nm"] == pytest.approx(row["peak_sd_nm"])
    assert row["band_main_source"] == "segment_com"
    assert row["band_main_share"] == pytest.approx(row["peak_share_segment_com"])
    exact = summarised(holding)["net"]
    assert (exact["band_rms_nm"], exact["band_main_source"]) == (0.0, "")

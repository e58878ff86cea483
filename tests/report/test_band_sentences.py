"""Sentences on the uncertainty of peak torques."""

from typing import get_args

from limbtorque.report.bands import NAMES, REMEDIES, band_sentences
from limbtorque.study.options.uncertainty import SOURCES, Source

ROW = {
    "joint": "hip",
    "window": "stance",
    "term": "net",
    "peak_nm": -83.4,
    "peak_sd_nm": 7.0,
    "peak_sign_certain": 1.0,
    "band_rms_nm": 7.0,
    "band_main_source": "joint_centres",
    "band_main_share": 0.75,
    "peak_main_input": "hip_axis",
    "peak_main_input_share": 0.64,
    **{f"peak_share_{source}": 0.0 for source in SOURCES},
    "peak_share_joint_centres": 0.75,
    "peak_share_segment_com": 0.25,
}


def test_every_source_has_a_name_and_a_remedy():
    assert set(NAMES) == set(REMEDIES) == set(get_args(Source))


def test_the_band_its_main_source_and_what_would_help():
    """Half-width 1.96 sd; without three quarters of the variance, half of it."""
    [sentence] = band_sentences([ROW])
    assert sentence.startswith(
        "hip, stance: the net torque is known to within 14 N m (95 %, root mean square over the frames). 75 % of the variance is "
    )
    assert "from joint centres; with none of these errors at all it would be 6.9 N m." in sentence
    assert "What would help most: more exact joint centres (by imaging" in sentence


def test_the_single_best_measurement_and_what_it_would_leave():
    """Without 64 % of the variance, 0.6 of the width; sources that are no landmark are named before."""
    [sentence] = band_sentences([ROW])
    assert sentence.endswith(
        "peak of -83.4 N m: 7 N m. There, an exact hip_axis alone would make the limits 40 % narrower."
    )
    [other] = band_sentences([{**ROW, "peak_main_input": "filter", "peak_main_input_share": 0.2}])
    assert "an exact" not in other


def test_an_uncertain_sign_is_said():
    [sentence] = band_sentences([{**ROW, "peak_nm": 9.0, "peak_sign_certain": 0.0}])
    assert "peak of 9 N m: 7 N m; its sign is not certain." in sentence


def test_terms_and_unknown_torques_have_no_sentence():
    assert not band_sentences([{**ROW, "term": "gravity"}, {**ROW, "band_main_source": ""}])


def test_a_rejected_joint_has_no_sentence_and_large_sizes_no_exponent():
    assert not band_sentences([ROW], ("hip",))
    [sentence] = band_sentences([{**ROW, "band_rms_nm": 70.0}])
    assert "known to within 137 N m" in sentence

"""Sentences and table on the uncertainty of net torques."""

from typing import get_args

import pytest

from limbtorque.report.bands import BAND_HEADS, NAMES, REMEDIES, band_sentences, band_table
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
    "peak_main_source": "joint_centres",
    "peak_main_input": "hip_axis",
    "peak_main_input_share": 0.64,
    **{f"peak_share_{source}": 0.0 for source in SOURCES},
    "peak_share_joint_centres": 0.75,
    "peak_share_segment_com": 0.25,
    **{"max_nm": 20.0, "max_low_nm": 10.0, "max_high_nm": 30.0, "max_time_s": 1.08},
    **{"min_nm": -83.4, "min_low_nm": -97.0, "min_high_nm": -70.0, "min_time_s": 0.8},
}


def test_every_source_has_a_name_and_a_remedy():
    assert set(NAMES) == set(REMEDIES) == set(get_args(Source))


def test_the_band_its_main_source_and_what_would_help():
    """Half-width 1.96 sd; without three quarters of the variance, half of it."""
    [sentence] = band_sentences([ROW])
    assert sentence.startswith(
        "hip, stance: the net torque is known to within 14 N m (95 %, root mean square over the frames). 75 % of the variance is "
    )
    assert "from joint centres; without these errors it would be 6.9 N m." in sentence
    assert "Most useful improvement: more accurate joint centres (by imaging" in sentence


FROM_FILTER = {"peak_main_source": "filter", "peak_share_filter": 0.96, "peak_main_input": "filter"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "There, an exact hip_axis alone would make the limits 40 % narrower."),  # 0.6 of the width without 64 %
        (
            FROM_FILTER,
            f"At the peak 96 % is from the filter; there, the most useful improvement is: {REMEDIES['filter']}.",
        ),
        ({**FROM_FILTER, "peak_time_sd_s": 0.01}, "At the peak, by the linear bands, 96 % is from the filter"),
        ({"peak_nm": 9.0, "peak_sign_certain": 0.0}, "peak of 9 N m: 7 N m; its sign is not certain."),
        ({"band_rms_nm": 70.0}, "known to within 137 N m"),
    ],
)
def test_what_is_said_of_the_limits_at_the_peak(changes, says):
    [sentence] = band_sentences([{**ROW, **changes}])
    assert says in sentence
    assert ("an exact" in sentence) == ("peak_main_input" not in changes)
    assert not band_sentences([{**ROW, **changes}], ("hip",))  # a rejected joint
    assert not band_sentences([{**ROW, **changes, "term": "gravity"}])


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_an_extreme_of_the_other_sign_within_both_limits_may_be_the_peak(turn):
    """18 to 28 N m against 10 to 26; with 10 to 17 the other one is smaller throughout."""

    def row(most_nm, **more):
        ends = {"max": (23.0, 18.0, 28.0, 0.79), "min": (-17.0, -most_nm, -10.0, 1.08)}
        if turn < 0.0:
            ends = {
                end: (-value, -high, -low, time)
                for end, (value, low, high, time) in zip(("min", "max"), ends.values(), strict=True)
            }
        names = ("nm", "low_nm", "high_nm", "time_s")
        found = {f"{end}_{name}": value for end, some in ends.items() for name, value in zip(names, some, strict=True)}
        return {**ROW, "peak_nm": turn * 23.0, **found, **more}

    [sentence] = band_sentences([row(26.0)])
    assert f"The torque of {-17.0 * turn:g} N m at 1.08 s may be the larger one" in sentence
    assert "may be the larger" not in band_sentences([row(17.5)])[0]
    assert "may be the larger" not in band_sentences([row(26.0, peak_time_sd_s=0.01)])[0]


STUDY_ROW = {**ROW, "chain": "leg", "torque_status": "ok", "peak_low_nm": -97.0, "peak_high_nm": -70.0}


def cells(*rows):
    [row] = band_table(rows)
    return dict(zip(BAND_HEADS, row, strict=True)) | {"best": row[-2:], "narrower": row[-3]}


def test_the_table_of_a_study_has_size_source_and_remedy_of_a_joint():
    """Half-width 1.96 sd; without three quarters of the variance half of it, without 64 % three fifths."""
    found = cells(STUDY_ROW)
    assert [found[name] for name in ("chain", "window", "joint", "trials")] == ["leg", "stance", "hip", "1"]
    assert found["size of the peak (N m)"] == "83.4"
    assert found["its 95 % limits (N m)"] == "70 to 97"
    assert found["95 % limits over the window (N m)"] == "±14"
    assert (found["largest source there"], found["its share (%)"]) == ("joint centres", "75")
    assert found["most useful improvement"] == REMEDIES["joint_centres"]
    assert found["narrower"] == "50"
    assert found["best"] == ("hip axis", "40")


def test_the_table_has_medians_and_the_source_of_most_trials():
    other = {"band_main_source": "filter", "band_main_share": 0.9, "band_rms_nm": 9.0, "peak_main_input": "filter"}
    found = cells(STUDY_ROW, {**STUDY_ROW, "band_rms_nm": 8.0, "band_main_share": 0.51}, {**STUDY_ROW, **other})
    assert found["95 % limits over the window (N m)"] == "±16"  # 1.96 times 8
    assert (found["largest source there"], found["its share (%)"]) == ("joint centres (in 2 of 3)", "63")
    assert found["best"][0] == "hip axis (in 2 of 3)"


def test_the_table_leaves_out_terms_rejected_joints_and_torques_without_a_band():
    left_out = ({"term": "gravity"}, {"torque_status": "rejected"}, {"band_main_source": ""})
    assert not band_table({**STUDY_ROW, **each} for each in left_out)


def test_the_table_of_a_peak_that_is_not_known_has_the_window_alone():
    nan = float("nan")
    unknown = {"peak_nm": nan, "peak_sd_nm": nan, "peak_low_nm": nan, "peak_high_nm": nan, "peak_main_input": ""}
    found = cells({**STUDY_ROW, **unknown})
    assert found["size of the peak (N m)"] == found["its 95 % limits (N m)"] == found["best"][0] == ""
    assert found["95 % limits over the window (N m)"] == "±14"

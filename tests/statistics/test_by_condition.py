"""Summary by condition: mean, spread and range by hand and against pandas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limbtorque.statistics.by_condition import ConditionSummary
from limbtorque.tables.study_columns import STATISTICS

NAMES = [column.name for column in STATISTICS]


def row(subject="A", status="ok", **figures):
    """A row of the summary: all statistics are 1 but those that are given."""
    about = {"chain": "arm", "condition": "fast", "side": "right"}
    about |= {"window": "movement", "joint": "elbow", "term": "net"}
    return {
        **about,
        "subject": subject,
        "torque_status": status,
        "used_share": 0.5,
        "loaded_share": 0.0,
        **dict.fromkeys(NAMES, 1.0),
        **figures,
    }


def figures(rows, statistic, *, include="caution", spread_over="trials", min_units=1):
    summary = ConditionSummary(include=include, spread_over=spread_over, min_units=min_units)
    for one in rows:
        summary.add([one])
    found = summary.rows()
    assert [r["statistic"] for r in found] == NAMES
    return {r["statistic"]: r for r in found}[statistic]


def test_mean_spread_and_range_by_hand():
    """2, 4, 9: mean 5, squares 9 + 1 + 16, over 2."""
    found = figures([row(rms_nm=2.0), row(rms_nm=4.0), row("B", rms_nm=9.0)], "rms_nm")
    assert {name: found[name] for name in ("unit", "mean", "median", "min", "max", "n_trials", "n_subjects")} == {
        "unit": "N m",
        "mean": 5.0,
        "median": 4.0,
        "min": 2.0,
        "max": 9.0,
        "n_trials": 3,
        "n_subjects": 2,
    }
    assert found["sd"] == pytest.approx(np.sqrt(13.0))


def test_too_few_subjects_have_no_statistics_but_counts():
    """Over subjects four trials of one subject are one unit; over trials they are four."""
    rows = [row(rms_nm=2.0), row(rms_nm=4.0), row(rms_nm=3.0), row(rms_nm=7.0), row("B", rms_nm=float("nan"))]
    found = figures(rows, "rms_nm", spread_over="subjects", min_units=2)
    assert np.isnan([found[name] for name in ("mean", "sd", "median", "min", "max")]).all()
    assert (found["n_subjects"], found["n_trials"], found["spread_over"]) == (1, 4, "subjects")
    found = figures(rows, "rms_nm", spread_over="trials", min_units=4)
    assert (found["mean"], found["n_subjects"], found["n_trials"]) == (4.0, 1, 4)
    assert np.isnan(figures(rows, "rms_nm", spread_over="trials", min_units=5)["mean"])


def test_rejected_trials_are_left_out_and_counted():
    rows = [row(rms_nm=1.0), row("B", rms_nm=3.0), row("B", status="rejected", rms_nm=float("nan"))]
    found = figures(rows, "rms_nm", spread_over="subjects")
    assert (found["mean"], found["n_trials"], found["n_rejected"]) == (2.0, 2, 1)
    alone = figures([row(status="rejected", rms_nm=9.0)], "rms_nm")
    assert np.isnan(alone["mean"])
    assert (alone["n_trials"], alone["n_rejected"]) == (0, 1)


def test_one_trial_has_no_spread_and_none_has_nothing():
    found = figures([row(peak_time_s=0.4), row("B", peak_time_s=float("nan"))], "peak_time_s")
    assert (found["mean"], found["n_trials"], found["n_subjects"]) == (0.4, 1, 1)
    assert np.isnan(found["sd"])
    found = figures([row(rms_nm=float("nan"))], "rms_nm")
    assert np.isnan([found[name] for name in ("mean", "sd", "median", "min", "max")]).all()
    assert (found["n_trials"], found["n_subjects"]) == (0, 0)


def test_the_range_of_used_shares_is_reported():
    """The trial without a value does not count for it."""
    rows = [row(used_share=0.25), row(used_share=0.9), row("B", used_share=0.1, peak_time_s=float("nan"))]
    found = figures(rows, "peak_time_s")
    assert (found["min_used_share"], found["max_used_share"]) == (0.25, 0.9)


def test_trials_whose_stance_was_not_measured_are_left_out_where_others_was():
    """Ankle torques of -50 and -54 N m in stance, of -0.3 in a swing alone: not a mean of -35."""
    stance = [row(min_nm=-50.0, loaded_share=0.4), row(min_nm=-54.0, loaded_share=0.5)]
    found = figures([*stance, row("B", min_nm=-0.3)], "min_nm")
    assert (found["mean"], found["max"], found["n_trials"], found["n_subjects"], found["n_unloaded"]) == (
        -52,
        -50,
        2,
        1,
        1,
    )
    assert figures(stance, "min_nm")["n_unloaded"] == 0
    swing = figures([row(min_nm=-0.3), row(min_nm=-0.5)], "min_nm")
    assert (swing["mean"], swing["n_trials"], swing["n_unloaded"]) == (-0.4, 2, 0)


def test_rejected_and_failed_trials_are_excluded_and_those_with_caution_by_option():
    rows = [row(rms_nm=1.0), row(status="caution", rms_nm=3.0)]
    rows += [row(status="rejected", rms_nm=1000.0), row(status="failed", rms_nm=100.0)]
    assert figures(rows, "rms_nm")["mean"] == 2.0
    assert figures(rows, "rms_nm", include="ok")["mean"] == 1.0


@pytest.mark.parametrize("spread_over", ["trials", "subjects"])
def test_peaks_of_both_directions_are_not_averaged(spread_over):
    """+5 and -4 are peaks in flexion and in extension: not a mean of 0.5. Of the power the peaks are all of one sense."""
    rows = [row(peak_nm=5.0, peak_power_w=2.0), row(peak_nm=-4.0, peak_nm_kg=-0.1, peak_power_w=4.0)]
    for statistic in ("peak_nm", "peak_nm_kg", "peak_time_s"):
        found = figures(rows, statistic, spread_over=spread_over)
        assert np.isnan([found[name] for name in ("mean", "sd", "median")]).all()
        assert found["n_trials"] == 2
    found = figures(rows, "peak_nm", spread_over=spread_over)
    assert (found["min"], found["max"]) == (-4.0, 5.0)
    assert figures(rows, "peak_power_w", spread_over=spread_over)["mean"] == 3.0
    mixed = figures([row(peak_power_w=2.0), row(peak_power_w=-4.0)], "peak_power_w", spread_over=spread_over)
    assert np.isnan(mixed["mean"])


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("ABC"), st.floats(-1e6, 1e6)), min_size=1, max_size=12))
def test_statistics_agree_with_pandas(values):
    found = figures([row(s, rms_nm=v) for s, v in values], "rms_nm", spread_over="subjects")
    means = pd.DataFrame(values, columns=["s", "v"]).groupby("s").v.mean()
    expected = [means.mean(), means.std(), means.median(), means.min(), means.max()]
    np.testing.assert_allclose(
        [found[n] for n in ("mean", "sd", "median", "min", "max")], expected, rtol=1e-9, atol=1e-7
    )


@pytest.mark.parametrize(("start", "unit"), [("peak", "nm"), ("min", "nm"), ("mean", "nm"), ("impulse", "nms")])
def test_the_error_of_a_mean_is_apart_from_the_spread(start, unit):
    """Errors of 4 N m: of a plate, shared by all trials, and of a thigh's mass, shared by the two trials of a subject."""
    statistic = f"{start}_{unit}"
    three = ("A", 20.0), ("A", 20.0), ("B", 26.0)

    def error(owner, **more):
        rows = [{**row(name, **{statistic: value}), **of_owner(owner, start, unit)} for name, value in three]
        return figures(rows, statistic, **more)["mean_error"]

    assert error("study") == pytest.approx(4.0)
    assert error("subject", spread_over="subjects") == pytest.approx(4.0 / np.sqrt(2.0))
    assert error("subject") == pytest.approx(4.0 * np.sqrt(4.0 + 1.0) / 3.0)
    assert error("trial") == pytest.approx(4.0 / np.sqrt(3.0))
    assert error("trial", spread_over="subjects") == pytest.approx(4.0 * np.sqrt(0.5**2 + 2 * 0.25**2))
    assert np.isnan(error("trial", min_units=4))
    assert np.isnan(figures([row(**{statistic: 2.0})], statistic)["mean_error"])


def of_owner(owner, start, unit="nm"):
    """Columns of a statistic with a standard deviation of 4 by errors of one owner."""
    shares = {f"{start}_shared_by_{each}": float(each == owner) for each in ("study", "subject")}
    return {f"{start}_sd_{unit}": 4.0, **shares}


def test_the_error_of_a_mean_per_body_mass():
    rows = [{**row(peak_nm=-20.0, peak_nm_kg=-0.4), **of_owner("trial", "peak")}]
    assert figures(rows, "peak_nm_kg")["mean_error"] == pytest.approx(0.08)

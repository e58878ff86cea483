"""Flags: what is above its threshold, and that every figure has its threshold, column and advice."""

import math

import pytest

from limbtorque.study.options.quality import Quality
from limbtorque.tables.checks import CHECKS, FIGURES, assess
from limbtorque.tables.tables import LEDGER_COLUMNS

THRESHOLDS = Quality()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_figure_flags_above_its_threshold_only(check):
    limit = getattr(THRESHOLDS, check.threshold) if check.threshold else 0.0
    assert assess({check.name: limit}, THRESHOLDS) == []
    assert assess({check.name: -1.0}, THRESHOLDS) == []
    assert assess({check.name: math.nan}, THRESHOLDS) == []
    (flag,) = assess({check.name: math.nextafter(limit, math.inf)}, THRESHOLDS)
    assert (flag.check, flag.threshold) == (check, limit)
    (flag,) = assess({check.name: math.inf}, THRESHOLDS)
    assert f"{check.name} is inf" in flag.sentence
    assert flag.sentence.endswith(f"{check.definition}; {check.advice}")


def test_no_figures_no_flags():
    assert assess({}, THRESHOLDS) == []
    assert assess({"something else": 1e9}, THRESHOLDS) == []


def test_flags_come_in_the_order_of_the_checks():
    everything = {check.name: 1e9 for check in reversed(CHECKS)}
    assert [flag.check for flag in assess(everything, THRESHOLDS)] == list(CHECKS)


def test_thresholds_are_the_settings():
    figures = {"tilt_deg": 30.0, "gap_share": 0.05}
    assert [f.check.name for f in assess(figures, THRESHOLDS)] == ["tilt_deg"]
    assert [f.check.name for f in assess(figures, Quality(tilt_deg=40.0, gap_share=0.01))] == ["gap_share"]


def test_sentence_of_a_flag():
    (flag,) = assess({"tilt_deg": 30.12345}, THRESHOLDS)
    assert flag.sentence.startswith("tilt_deg is 30.12 deg, allowed 25: largest mean inclination of a segment")
    (flag,) = assess({"gap_share": 0.5}, THRESHOLDS)
    assert flag.sentence.startswith("gap_share is 0.5, allowed 0.1: ")


def test_every_threshold_is_used_and_every_figure_has_its_column():
    assert {check.threshold for check in CHECKS if check.threshold} == set(Quality.model_fields)
    names = [check.name for check in CHECKS] + [name for name, *_ in FIGURES]
    assert len(set(names)) == len(names)
    columns = {column.name: column for column in LEDGER_COLUMNS}
    for check in CHECKS:
        assert (columns[check.name].unit, columns[check.name].definition) == (check.unit, check.definition)
        unit = Quality.model_fields[check.threshold].json_schema_extra["x-unit"] if check.threshold else check.unit
        assert unit == check.unit
    for name, unit, text in FIGURES:
        assert (columns[name].unit, columns[name].definition) == (unit, text)

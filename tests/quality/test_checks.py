"""Quality flags: raised above the threshold only, each with its column, advice and source."""

import math

import numpy as np
import pytest

from limbtorque.quality.checks import CHECKS, FLAGS
from limbtorque.quality.metric_columns import METRIC_COLUMNS
from limbtorque.quality.verdict import Flag, assess
from limbtorque.signals.labels import EXCHANGED, SPIKES, LabelFaults, Swap, fault_notes
from limbtorque.study.options.quality import Quality
from limbtorque.tables.ledger_columns import METRICS

THRESHOLDS = Quality()
THREE_LINES = 240  # characters of a terminal


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_metric_flags_above_its_threshold_only(check):
    given = check.allowed(THRESHOLDS)
    joint = "knee" if isinstance(given, dict) else ""
    limit = given[joint] if joint else given

    def flags(value):
        return (
            assess({}, THRESHOLDS, {check.name: {joint: value}}) if joint else assess({check.name: value}, THRESHOLDS)
        )

    assert flags(limit) == flags(-1.0) == flags(math.nan) == []
    (flag,) = flags(math.nextafter(limit, math.inf))
    assert (flag.check, flag.threshold, flag.joint) == (check, limit, joint)
    assert flag.status == ("rejected" if check.rejects_from == 1.0 else "caution")
    (flag,) = flags(math.inf)
    assert f"{check.name} is inf" in flag.sentence
    assert flag.sentence.endswith(f"{check.definition}; {check.advice}")


def test_flags_come_in_the_order_of_the_checks():
    everything = {check.name: {"knee": 1e9} for check in reversed(CHECKS)}
    assert [flag.check for flag in assess({}, THRESHOLDS, everything)] == list(CHECKS)


def test_twice_the_threshold_rejects_where_the_check_says_so():
    limit = THRESHOLDS.out_of_plane_share
    for value, status in ((1.1 * limit, "caution"), (2.1 * limit, "rejected")):
        assert [flag.status for flag in assess({"out_of_plane_share": value}, THRESHOLDS)] == [status]
    assert [flag.status for flag in assess({"gap_share": 1.0}, THRESHOLDS)] == ["caution"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_the_sentence_of_a_flag_fits_on_three_lines(check):
    assert len(Flag(check, 0.1234, 0.01).sentence) <= THREE_LINES


@pytest.mark.parametrize(
    "check", [check for check in CHECKS if check.where in (EXCHANGED, SPIKES)], ids=lambda check: check.name
)
def test_a_flag_names_the_markers_and_frames_of_its_note(check):
    spikes = np.zeros((20, 2), dtype=bool)
    spikes[7, 1] = True
    faults = LabelFaults((Swap(0, 1, 3, 5),), np.zeros((20, 2), dtype=bool), spikes)
    notes = ["filter: none", *fault_notes(faults, ("RFEO", "RTIO"), first_frame=240)]
    expected = {
        "swapped_frames": "labels exchanged (markers, frames): RFEO and RTIO 243-244",
        "spike_frames": "spikes (marker, frames): RTIO 247",
        "spike_change_share": "spikes (marker, frames): RTIO 247",
    }
    (flag,) = assess({check.name: 1.0}, THRESHOLDS, notes=notes)
    assert flag.where == expected[check.name]
    assert f": {flag.where}; {check.definition}" in flag.sentence
    assert len(flag.sentence) <= THREE_LINES
    (without,) = assess({check.name: 1.0}, THRESHOLDS, notes=notes[:1])
    assert without.where == ""


def test_no_two_flags_ask_for_opposite_changes_of_the_cutoff():
    assert [check.name for check in CHECKS if "filter.cutoff_hz" in check.advice] == ["acceleration_lost_share"]


def test_every_option_of_quality_is_used_and_every_metric_has_its_column():
    names = [check.name for check in CHECKS]
    assert set(Quality.model_fields) == {check.name for check in CHECKS if check.threshold is None}
    assert len(FLAGS) <= 45
    names += [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    columns = {column.name: column for column in METRIC_COLUMNS}
    for check in CHECKS:
        assert (columns[check.name].unit, columns[check.name].definition) == (check.unit, check.definition)
        if check.name in Quality.model_fields:
            assert Quality.model_fields[check.name].json_schema_extra["x-unit"] == check.unit
    assert set(METRICS) <= set(METRIC_COLUMNS)

"""Names and numbers that no study has: refused with a sentence, before anything is computed."""

import re

import pytest

from limbtorque.errors import SettingsError, StudyError
from limbtorque.study.settings import make_settings
from limbtorque.study.study import load_study
from limbtorque.workflow.effective_settings import refuse_other_readings
from study_runs import TRIALS, demo_rows, make_study, run, write_trials


@pytest.fixture
def study(tmp_path):
    return make_study(tmp_path / "study")


def faults(study):
    with pytest.raises(StudyError) as caught:
        load_study(study)
    return "\n".join(caught.value.faults)


@pytest.mark.parametrize(
    ("column", "character"),
    [
        *(("trial", "\x07"), ("session", "\x1b"), ("subject", "\x7f"), ("condition", "\x9b")),
        *(("note", "\u2028"), ("file", "\u202e"), ("prefix", "\x07")),
    ],
)
def test_characters_that_cannot_be_seen_are_refused_in_every_text(column, character, study):
    rows = [{"note": "", "prefix": "", **row} for row in demo_rows(TRIALS)]
    rows[-1][column] = f"a{character}b"
    write_trials(study, rows)
    assert f"config/trials.csv line 4: {column}: 'a" in faults(study)
    assert f"has the invisible character U+{ord(character):04X}" in faults(study)


@pytest.mark.parametrize("character", ["\x0b", "\x1c", "\x1f", "\x85", "\u2029"])
def test_they_are_refused_at_the_end_of_a_cell_where_spaces_are_removed(character, study):
    rows = demo_rows(TRIALS)
    rows[-1]["condition"] += f" \xa0{character}"
    write_trials(study, rows)
    assert f"has the invisible character U+{ord(character):04X}" in faults(study)
    rows[-1]["condition"] = "\u2009fast \xa0"
    write_trials(study, rows)
    assert load_study(study).trials[-1].condition == "fast"


def test_they_are_refused_in_the_table_of_subjects_and_the_settings(study):
    table = study / "config" / "subjects.csv"
    table.write_text(table.read_text("utf-8").replace("S02", "S02\x08", 1), "utf-8")
    assert "U+0008" in faults(study)
    for raw in (
        {"title": "a\0b"},
        {"trials": "a\0.csv"},
        {"marker_sets": {"a\x1b": {"wrist": "W"}}},
        {"title": "\u202eb"},
    ):
        with pytest.raises(SettingsError, match=r"invisible character .*; remove it"):
            make_settings(raw)
    assert make_settings({"title": "Reach: naïve Größe 速い"}).title.endswith("速い")


@pytest.mark.parametrize(
    ("column", "name"),
    [("session", "s01_SAGITTAL"), ("condition", "Fast"), ("condition", "ﬁst"), ("condition", "cafe\u0301")],
)
def test_names_that_differ_by_case_or_unicode_form_only_are_refused(column, name, study):
    rows = demo_rows(TRIALS)
    rows[0][column] = {"s01_SAGITTAL": "S01_sagittal", "Fast": "fast", "ﬁst": "fist"}.get(name, "café")
    rows[1][column] = name
    write_trials(study, rows)
    assert f"{column} {rows[0][column]!r} and {name!r} differ by case or Unicode form only" in faults(study)


def test_subjects_that_look_the_same_are_refused(study):
    table = study / "config" / "subjects.csv"
    lines = table.read_text("utf-8").splitlines()
    row = next(line for line in lines if line.startswith("S01,"))
    table.write_text("\n".join([*lines, "s01" + row[3:]]) + "\n", "utf-8")
    assert "subject 'S01' and 's01' differ by case or Unicode form only" in faults(study)


@pytest.mark.parametrize(
    ("text", "read", "fault"),
    [
        (
            "reading: {rate_hz: 12:30}",
            {"reading": {"rate_hz": 750}},
            "reading.rate_hz is read as 750 by Snakemake",
        ),
        ("title: no", {"title": False}, "title is read as False"),
        ("filter: {cutoff_hz: 010}", {"filter": {"cutoff_hz": 8}}, "filter.cutoff_hz is read as 8"),
        ("title: 2026-11-22", {"title": "2026-11-22"}, ""),
        ("filter: {cutoff_hz: 8, order: 3}\ntitle: 'no'", {"filter": {"cutoff_hz": 8, "order": 3}, "title": "no"}, ""),
        ("loads: {a: {force_n: 1e-9}}", {"loads": {"a": {"force_n": "1e-9"}}}, ""),
        ("", {}, ""),
    ],
)
def test_files_that_snakemake_reads_otherwise_are_refused(text, read, fault, tmp_path):
    path = tmp_path / "other.yaml"
    path.write_text(text, "utf-8")
    if not fault:
        refuse_other_readings(path, read)
        return
    with pytest.raises(SettingsError, match=re.escape(fault)):
        refuse_other_readings(path, read)


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("option", "says"),
    [
        (("--config", "gravity_m_s2=9_8"), "--config gravity_m_s2=9_8 is read as 98 by Snakemake"),
        (("--configfile", "other.yaml"), "reading.rate_hz is read as 750 by Snakemake (YAML 1.1)"),
    ],
)
def test_a_time_of_day_is_no_number_on_the_command_line_of_snakemake(option, says, study):
    (study / "other.yaml").write_text("reading: {rate_hz: 12:30}\n", "utf-8")
    text = run(
        study, "--dry-run", *(str(study / word) if word == "other.yaml" else word for word in option), expected=1
    )
    assert says in text
    assert "Traceback" not in text

"""Option names in the tables, the flags and the documentation exist in the settings."""

import re
from pathlib import Path

import pytest
from all_columns import ALL_MUSCLES, ALL_TORQUES

from limbtorque.quality.checks import CHECKS
from limbtorque.quality.verdict import assess
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.options.quality import Quality
from limbtorque.study.settings import option_names
from limbtorque.tables.frame_columns import kinematics_columns, torque_columns
from limbtorque.tables.ledger_columns import LEDGER_COLUMNS
from limbtorque.tables.muscle_columns import MuscleEntry, muscle_columns
from limbtorque.tables.study_columns import (
    CONDITION_SUMMARY_COLUMNS,
    CURVE_COLUMNS,
    DICTIONARY_COLUMNS,
    ENSEMBLE_COLUMNS,
    MUSCLE_SUMMARY_COLUMNS,
    SUMMARY_COLUMNS,
    WINDOW_COLUMNS,
    curve_columns,
)

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = set(option_names())
SECTIONS = sorted({name.split(".")[0] for name in OPTIONS if "." in name})
OPTION = re.compile(rf"(?<![\w./-])(?:{'|'.join(SECTIONS)})\.[a-z][a-z0-9_]*\b(?!\()")
FILES = {".csv", ".md", ".py", ".yaml", ".json", ".parquet", ".quantity"}  # of tables and pages, not options


def unknown_options(text):
    """Names `section.option` in a text that are no option of the settings."""
    names = (name for name in OPTION.findall(text) if f".{name.split('.')[1]}" not in FILES)
    return sorted(set(names) - OPTIONS)


def all_columns():
    everything = [CURVE_COLUMNS, ENSEMBLE_COLUMNS, WINDOW_COLUMNS, DICTIONARY_COLUMNS, LEDGER_COLUMNS]
    everything += [CONDITION_SUMMARY_COLUMNS, MUSCLE_SUMMARY_COLUMNS, SUMMARY_COLUMNS]
    for chain in (ARM, LEG):
        joints = [joint.name for joint in chain.joints]
        segments = [segment.name for segment in chain.segments]
        entries = [MuscleEntry("A", tuple(joints), length=True, fibres=True)]
        everything += [
            kinematics_columns(joints, segments),
            torque_columns(joints, segments, ALL_TORQUES),
            muscle_columns(joints, segments, entries, ALL_MUSCLES),
            curve_columns(chain.joints, per_body_mass=True),
        ]
    return [column for columns in everything for column in columns]


def test_an_option_that_does_not_exist_is_detected():
    assert unknown_options("set filter.cutoff to 6; see filter.cutoff_hz, tables.md and trials.csv") == [
        "filter.cutoff"
    ]


def test_options_in_column_definitions_exist():
    texts = {f"{column.definition} {column.sign}" for column in all_columns()}
    assert any(OPTION.search(text) for text in texts)
    assert {text: names for text in texts if (names := unknown_options(text))} == {}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_options_in_flag_sentences_exist(check):
    (flag,) = assess({}, Quality(), {check.name: {"knee": 1e9}})
    assert unknown_options(f"{flag.sentence} {check.source}") == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_options_in_the_documentation_exist(page):
    assert unknown_options(page.read_text(encoding="utf-8")) == []

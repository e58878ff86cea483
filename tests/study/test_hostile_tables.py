"""Hostile tables: refused with a sentence or read as they stand, in less than a second each."""

import time

import pytest

from hostile_tables import SUBJECTS, TRIALS, HostileTable, attacked, hostile_study, hostile_tables, plain_rows
from limbtorque.cli.main import main

LONGEST_S = 5.0  # with 100,000 columns; most take milliseconds
CASES = list(hostile_tables(seed=17))
SHARES = 8  # of which three are judged here, all by `make attack`


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return hostile_study(tmp_path_factory.mktemp("hostile") / "study")


def test_the_plain_tables_are_read(study):
    assert len(plain_rows()[TRIALS]) == 2
    assert main(["check", str(study)]) == 0


@pytest.mark.parametrize("share", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_no_hostile_table_is_read_otherwise_than_it_stands(share, study):
    wrong, outcomes = {}, []
    for case in CASES[share::SHARES]:
        start = time.process_time()
        outcome = attacked(study, case)
        took_s = time.process_time() - start
        outcomes.append(outcome)
        if outcome not in ("read", "refused") or took_s > LONGEST_S:
            wrong[f"{case.table}: {case.what}"] = f"{outcome}, {took_s:.1f} s"
    assert not wrong
    assert {"read", "refused"} == set(outcomes)


def test_the_cases_are_many_and_both_tables_have_them():
    assert len(CASES) > 2000
    assert len({(case.table, case.content) for case in CASES}) > 0.95 * len(CASES)
    for table in (TRIALS, SUBJECTS):
        assert sum(case.table == table and case.rows is not None for case in CASES) > 300


def test_another_reading_is_noticed(study):
    """The judge itself: a cell that was read as another number, a row that vanished, a table that should be refused."""
    plain = next(case for case in CASES if case.table == SUBJECTS and case.what == "all cells quoted")
    heavier = [{**row, "mass_kg": "90"} for row in plain_rows()[SUBJECTS]]
    assert attacked(study, HostileTable("", SUBJECTS, plain.content, heavier)).startswith("changed: mass_kg '90'")
    assert attacked(study, HostileTable("", SUBJECTS, plain.content, None)).startswith("changed: ")
    trials = next(case for case in CASES if case.table == TRIALS and case.what == "all cells quoted")
    assert attacked(study, HostileTable("", TRIALS, trials.content, trials.rows[:1])).startswith("changed: trials")

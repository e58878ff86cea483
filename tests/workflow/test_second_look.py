"""The second reader in a study: its flag, its notes, and the lines of `limbtorque check`."""

import pandas as pd
import pytest

import study_runs
from limbtorque.analysis.second_look import compares_in_run, lines_by_kind, second_look, second_looks
from limbtorque.cli.main import main
from limbtorque.recordings.differences import Difference, SecondReading
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.study import load_study
from limbtorque.workflow import keys
from staged_study import change_settings, make_study, run_stages

NAMES = ("S01_sagittal_fast", "S01_sagittal_slow")
FAR = Difference("position", "'S01:RELB'", -0.394, -0.392, "m", "y", 4, 12)
RATE = Difference("rate", "", 100.0, 120.0, "Hz")
SET = {"reading": {"second_reader": "ezc3d"}}


def differing(_reader, path, library, *_):
    return SecondReading(path.name, f"{library} 1", "3 markers compared", (FAR, RATE))


def refusing(_reader, path, library, *_):
    return SecondReading(path.name, library, refused="the reading process was ended by SIGSEGV")


@pytest.fixture
def asked(monkeypatch):
    """Libraries that were asked, with the files."""
    called = []
    real = GuardedReader.compare

    def compare(reader, path, library, options):
        called.append(f"{library} {path.name}")
        return real(reader, path, library, options)

    monkeypatch.setattr(GuardedReader, "compare", compare)
    return called


@pytest.fixture
def folder(tmp_path):
    """A study of two files, without muscles."""
    return make_study(tmp_path / "study", names=NAMES, extra="muscles: {enabled: false}")


def ledger_of(folder):
    run_stages(folder)
    return pd.DataFrame(study_runs.ledger(folder)).T


def test_a_run_compares_only_where_it_is_set(folder, asked, monkeypatch):
    """A difference is a flag, a refusal a note."""
    plain = ledger_of(folder)
    assert asked == []
    assert set(plain.second_reader_differences) == {""}
    change_settings(folder, **SET)
    compared = ledger_of(folder)
    assert sorted(asked) == [f"ezc3d {name}.c3d" for name in sorted(NAMES)]
    assert set(compared.second_reader_differences) == {"0"}
    assert not plain.notes.str.contains("second reader").any()
    assert compared.notes.str.contains("second reader, S01_sagittal_...._?.c3d: ezc3d .*: no difference").all()
    monkeypatch.setattr(GuardedReader, "compare", refusing)
    refused = ledger_of(folder)
    assert set(refused.second_reader_differences) == {""}
    assert refused.notes.str.contains("ezc3d does not read this file: the reading process was ended by SIGSEGV").all()
    assert list(plain.status) == list(compared.status) == list(refused.status)
    assert not refused.reason.str.contains("second_reader_differences").any()
    monkeypatch.setattr(GuardedReader, "compare", differing)
    flagged = ledger_of(folder)
    assert flagged.reason.str.contains("second_reader_differences").all()
    assert set(zip(flagged.status, flagged.second_reader_differences, strict=True)) == {("caution", "2")}
    said = "position 'S01:RELB' y: -0.394 m and -0.392 m (sample 4; 12 differ); and 1 more"
    assert flagged.notes.str.contains(said, regex=False).all()


def test_setting_it_repeats_the_kinematics_and_check_knows_it(folder):
    found = {}
    for library in (None, "none", "ezc3d", "c3d"):
        if library is not None:
            change_settings(folder, reading={"second_reader": library})
        study = load_study(folder)
        assert compares_in_run(study) == (library in ("ezc3d", "c3d"))
        found[library] = keys.session_key("kinematics", study, next(iter(study.batches)))
    assert len({found[library] for library in (None, "ezc3d", "c3d")}) == 3


def test_check_compares_each_file_once_and_by_default(tmp_path, asked):
    both = lambda rows: [*rows, *({**row, "trial": f"{row['trial']}_2"} for row in rows)]  # noqa: E731
    folder = make_study(tmp_path / "study", names=NAMES, change=both)
    once = [f"ezc3d {name}.c3d" for name in sorted(NAMES)]
    study = load_study(folder)
    assert len(study.trials) == 4
    with GuardedReader() as reader:
        (line,) = lines_by_kind(list(second_looks(study, reader)))
        trial = study.trials[0]
        assert second_look(trial.file, None, trial.settings.reading, reader) == ({}, ())
    assert sorted(asked) == once
    assert line.startswith("second reader ezc3d ")
    assert line.endswith(": the same numbers in 2 of 2 C3D files")
    asked.clear()
    change_settings(folder, **SET)
    assert main(["check", str(folder)]) == 0
    assert sorted(asked) == once
    asked.clear()
    change_settings(folder, reading={"second_reader": "none"})
    with GuardedReader() as reader:
        assert list(second_looks(load_study(folder), reader)) == []
    assert asked == []
    assert lines_by_kind([]) == []

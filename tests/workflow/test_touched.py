"""Results and records that were touched: each is named, and nothing stands in the way of the next run."""

import os
from pathlib import Path

import pytest

from limbtorque.cli.main import main
from limbtorque.study.study import load_study
from limbtorque.workflow import keys, layout, results_folder
from limbtorque.workflow.effective_settings import ensure_settings, load_effective_study
from limbtorque.workflow.records import broken_seals, faults, write_record, write_seals
from study_runs import TRIALS, make_study

NAMES = [layout.STUDY_TABLES["summary"], layout.STUDY_TABLES["ledger"]]


@pytest.fixture
def study(tmp_path):
    return load_study(make_study(tmp_path / "study", TRIALS[:2]))


@pytest.fixture
def sealed(tmp_path):
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1,2")
    write_seals("collect", NAMES, tmp_path)
    return tmp_path


def test_a_folder_or_another_file_in_place_of_a_result_is_a_fault(sealed):
    summary, ledger = (sealed / name for name in NAMES)
    assert broken_seals("collect", NAMES, sealed, contents="all") == {}
    summary.unlink()
    summary.mkdir()
    ledger.rename(sealed / "other")
    (sealed / "other").write_text("1,3")
    ledger.symlink_to(sealed / "other")
    found = broken_seals("collect", NAMES, sealed, contents="newer")
    assert found == {"results/summary.csv": "not a file", "results/ledger.csv": "edited"}


def test_a_record_newer_than_its_folder_is_not_trusted(tmp_path):
    place = tmp_path / layout.session_folder("torques", "S01")
    place.mkdir(parents=True)
    (place / "a.csv").write_text("1,2")
    write_record("torques", "S01", [layout.table_path("torques", "S01", "a", ".csv")], ['{"trial": "a"}'], tmp_path)
    (place / layout.STAMP).touch()
    assert faults("torques", "S01", tmp_path, contents="newer") == {}
    record = tmp_path / layout.record_path("torques", "S01")
    record.write_bytes(record.read_bytes().replace(b'"a"}', b'"b"}'))
    after = (place / layout.STAMP).stat().st_mtime_ns + 10**9
    os.utime(record, ns=(after, after))
    assert faults("torques", "S01", tmp_path, contents="newer") == {record.name: "damaged"}


def test_settings_of_a_run_that_were_touched_are_named_and_written_again(study, capsys):
    path = study.folder / layout.SETTINGS
    key = keys.settings_key(study.settings)
    ensure_settings(study.folder, {}, key)
    whole = path.read_bytes()
    for content in (b"", b"{", b"[]", b'{"title": "another"}', b'{"no option": 1}', None):
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        assert main(["verify", str(study.folder)]) == 1
        assert "results/settings.json: " in capsys.readouterr().out
        assert [trial.name for trial in load_effective_study(study.folder).trials] == [*TRIALS[:2]]
        ensure_settings(study.folder, {}, key)
        assert path.read_bytes() == whole


def test_folders_in_place_of_files_are_moved_and_links_to_nothing_removed(study, capsys):
    folder = study.folder
    ledger, session = layout.STUDY_TABLES["ledger"], layout.session_folder("figures", "S01_sagittal")
    moved = (layout.table_path("torques", "S01_sagittal", TRIALS[0], ".csv"), layout.SETTINGS)
    replaced = (layout.study_record_path("collect"), layout.record_path("torques", "S01_sagittal"))
    for name in (*moved, *replaced):
        (folder / name).mkdir(parents=True)
        (folder / name / "mine.txt").write_text("mine")
    for name in (ledger, session):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to("nothing")
    results_folder.remove_broken_links(study)
    results_folder.move_left_over(study, folder)
    assert capsys.readouterr().err.count("a broken link is removed") == 2
    assert not any((folder / name).is_symlink() for name in (ledger, session))
    for name in moved:
        assert not (folder / name).exists()
        assert (folder / layout.LEFT_OVER / Path(name).relative_to("results") / "mine.txt").read_text() == "mine"

"""No file of a job has its final name before it has its rows."""

import os

import pytest

import study_runs as workflow
from limbtorque.cli.main import main
from limbtorque.errors import TrialError
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_table
from limbtorque.workflow import keys
from limbtorque.workflow.records import changed_recordings
from limbtorque.workflow.stages import kinematics, torques

TRIAL, SESSION = "S01_sagittal_fast", "S01_sagittal"


@pytest.fixture
def run_torques(tmp_path, monkeypatch):
    """Run the job of the torques, with an analysis that ends with an error; returns its folder."""
    folder = workflow.make_study(tmp_path / "study", [TRIAL])
    monkeypatch.chdir(folder)
    study = load_study(folder)

    def run(error):
        def end(*_, **__):
            raise error

        monkeypatch.setattr(torques, "analyse_torques", end)
        for stage, module in (("kinematics", kinematics), ("torques", torques)):
            module.run(folder=folder, session=SESSION, key=keys.session_key(stage, study, SESSION))
        return folder / "results" / "torques" / SESSION

    return run


def test_a_killed_job_leaves_no_empty_tables(run_torques, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run_torques(KeyboardInterrupt())
    assert not [
        path for path in (tmp_path / "study" / "results" / "torques").rglob("*.*") if path.stem.startswith(TRIAL)
    ]


def test_a_failed_trial_has_tables_without_rows(run_torques):
    place = run_torques(TrialError("no torque"))
    found = {path.name: len(read_table(path)[0]) for path in place.glob("*.parquet")}
    assert found == {f"{TRIAL}.parquet": 0, f"{TRIAL}+bands.parquet": 0, "_effects.parquet": 0}
    assert "shoulder_torque_sd_nm" in read_table(place / f"{TRIAL}+bands.parquet")[0].column_names


def test_a_recording_that_rotted_is_found(run_torques, tmp_path, capsys):
    """Its size and time are as before; `verify` reads what was recorded."""
    with pytest.raises(KeyboardInterrupt):
        run_torques(KeyboardInterrupt())
    study = tmp_path / "study"
    (recording,) = (study / "data").rglob("*.c3d")
    state, content = recording.stat(), bytearray(recording.read_bytes())
    assert changed_recordings(SESSION, study) == {}
    content[-100] ^= 1
    recording.write_bytes(content)
    os.utime(recording, ns=(state.st_atime_ns, state.st_mtime_ns))
    name = recording.relative_to(study).as_posix()
    assert changed_recordings(SESSION, study) == {name: "changed"}
    assert main(["verify", str(study)]) == 1
    assert f"{name}: changed since results/kinematics/{SESSION} was made" in capsys.readouterr().out


def test_a_deleted_table_is_named_where_the_record_is_damaged_too(run_torques, tmp_path, capsys):
    place = run_torques(TrialError("no torque"))
    (place / f"{TRIAL}.parquet").unlink()
    (place / "_session.jsonl").write_text("{")
    assert main(["verify", str(tmp_path / "study")]) == 1
    said = capsys.readouterr().out
    assert f"results/torques/{SESSION}/_session.jsonl: damaged" in said
    assert f"results/torques/{SESSION}/{TRIAL}.parquet: missing" in said

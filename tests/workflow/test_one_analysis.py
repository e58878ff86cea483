"""A trial has the same tables in memory and in the workflow: there is one analysis."""

import json
import shutil
from pathlib import Path

import pytest
from emg_signals import bursts, write_sto

import limbtorque as lt
from limbtorque.tables.files import read_record, write_table
from staged_study import change_settings, make_study, run_tables

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests" / "recordings_study"
FILES = {"kinematics": "kinematics_table", "torques": "torque_table", "muscles": "muscle_table"}
ROWS = ("metrics", "joint_metrics", "notes", "window", "summary", "contact_summary", "beside_file", "emg")


def same_as_the_workflow(folder):
    """Run the jobs, then analyse every trial in memory; the number of tables that were compared, byte for byte."""
    change_settings(folder, tables={"csv": list(FILES)})
    run_tables(folder)
    study, n_compared = lt.load_study(folder), 0
    for trial in study.trials:
        made = {stage: next((folder / "results" / stage).glob(f"*/{trial.name}.csv")) for stage in FILES}
        records = {stage: read_record(path.with_suffix(".parquet")) for stage, path in made.items()}
        if records["torques"].failed:
            with pytest.raises(lt.LimbtorqueError):
                study.analyse(trial.name)
            continue
        result = study.analyse(trial.name)
        for stage, name in FILES.items():
            ours, theirs = (json.loads(record.to_json()) for record in (result.records[stage], records[stage]))
            for what in ROWS:  # as text: unknown numbers are not equal to themselves
                assert json.dumps(ours[what]) == json.dumps(theirs[what]), (trial.name, stage, what)
            table = getattr(result, name)
            if table is None:  # no muscle set: the workflow's table has no rows
                assert made[stage].read_bytes().count(b"\n") == 1
                continue
            write_table(table, folder / "memory.csv", rounded=True)
            assert (folder / "memory.csv").read_bytes() == made[stage].read_bytes(), (trial.name, stage)
            n_compared += 1
    return n_compared


@pytest.mark.slow
def test_every_trial_of_the_demo_has_the_same_tables(tmp_path):
    for name in ("config", "data"):
        shutil.copytree(ROOT / name, tmp_path / name)
    assert same_as_the_workflow(tmp_path) == 3 * 36


@pytest.mark.slow
def test_every_trial_of_the_recordings_has_the_same_tables(recordings, tmp_path):
    shutil.copytree(RECORDINGS / "config", tmp_path / "config")
    (tmp_path / "recordings").symlink_to(recordings)
    assert same_as_the_workflow(tmp_path) >= 2 * 16


def test_strengths_envelopes_and_samples_are_those_of_the_study(tmp_path):
    names = ("S01_sagittal_fast", "S02_sagittal_fast")
    extra = (
        "muscles:\n  strength_factors:\n    S01: {BIClong: 0.5}\n  emg_weight: 0.5\n"
        "emg:\n  channels: {biceps: BIClong}\nuncertainty:\n  samples: 256\n"
    )
    folder = make_study(
        tmp_path / "study",
        names=names,
        extra=extra,
        change=lambda rows: [{**row, "emg_file": "emg.sto"} for row in rows],
    )
    write_sto(
        folder / "emg.sto", {"biceps": 2e-4 * bursts(2500, [0.8], [1.4], rate_hz=1000.0)}, start_s=0.0, rate_hz=1000.0
    )
    assert same_as_the_workflow(folder) == 6
    study = lt.load_study(folder)
    weak, strong = (study.analyse(name).muscles for name in names)
    biceps = weak.muscle_set.names.index("BIClong")
    assert weak.muscle_set.max_force_n[biceps] == pytest.approx(0.5 * strong.muscle_set.max_force_n[biceps])
    assert "activations near the envelopes" in " ".join(weak.notes)


def test_a_trial_that_is_not_there_is_a_sentence(tmp_path):
    study = lt.load_study(make_study(tmp_path / "study"))
    with pytest.raises(lt.StudyError, match="no trial 'S01_sagital_fast'; did you mean 'S01_sagittal_fast'"):
        study.analyse("S01_sagital_fast")

"""Recordings of other clocks: those dated in the future are refused, those of 1970 run."""

import os
import time

import pytest

from limbtorque.cli.main import main
from limbtorque.errors import StudyError
from limbtorque.study.study import load_study
from limbtorque.workflow import load_checked
from limbtorque.workflow.load_checked import refuse_future
from study_runs import TRIALS, ledger, make_plain_study, run

DAY_S = 86400.0


@pytest.fixture
def study(tmp_path):
    return make_plain_study(tmp_path / "my study", TRIALS[:2])


def recording(study, trial=TRIALS[0]):
    return study / "data" / "demo" / f"{trial}.c3d"


@pytest.mark.workflow
def test_check_and_a_run_refuse_recordings_of_the_future_before_anything_is_computed(study, tmp_path, capsys):
    later_s = time.time() + 3600.0
    os.utime(recording(study), (later_s, later_s))
    target = recording(study, TRIALS[1]).rename(tmp_path / "elsewhere.c3d")
    recording(study, TRIALS[1]).symlink_to(target)
    os.utime(recording(study, TRIALS[1]), (later_s, later_s), follow_symlinks=False)
    assert main(["check", str(study)]) == 1
    assert f"{TRIALS[0]}.c3d is dated in the future, as are 1 more" in capsys.readouterr().err
    text = run(study, expected=1)
    assert "is dated in the future" in text
    assert "Traceback" not in text
    assert not (study / "results" / "kinematics").exists()


def test_the_clock_is_that_of_the_file_system(study, monkeypatch):
    soon_s = time.time() + 100.0
    os.utime(recording(study), (soon_s, soon_s))
    with pytest.raises(StudyError, match="dated in the future"):
        refuse_future(load_study(study))
    monkeypatch.setattr(load_checked, "_now", lambda _: time.time() + 200.0)  # a server that is ahead of this machine
    refuse_future(load_study(study))


@pytest.mark.workflow
def test_recordings_of_1970_run_once(study):
    os.utime(recording(study), (0.0, -DAY_S))
    run(study)
    assert {row["torque_status"] for row in ledger(study).values()} <= {"ok", "caution"}
    assert "Nothing to be done" in run(study)

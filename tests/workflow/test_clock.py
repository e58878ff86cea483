"""Files of other clocks: those dated in the future are refused with a command that mends them, those of 1970 run."""

import os
import subprocess
import time

import pytest

from limbtorque.cli.main import main
from limbtorque.errors import StudyError
from limbtorque.workflow import load_checked
from limbtorque.workflow.load_checked import checked_study
from study_runs import TRIALS, ledger, make_plain_study, make_study, run

DAY_S = 86400.0


@pytest.fixture
def study(tmp_path):
    return make_study(tmp_path / "my study")


def recording(study, trial=TRIALS[0]):
    return study / "data" / "demo" / f"{trial}.c3d"


def date(path, ahead_s, **options):
    os.utime(path, (time.time(), time.time() + ahead_s), **options)


def accept(study):
    load_checked.refuse_future(checked_study(study))


def refuse_and_mend(study):
    """The fault, after its command was run."""
    with pytest.raises(StudyError) as caught:
        accept(study)
    (fault,) = caught.value.faults
    subprocess.run(fault.rpartition("set their time to now: ")[2], shell=True, check=True)
    accept(study)
    return fault


@pytest.mark.parametrize("ahead_s", [3600.0, 60 * 365.0 * DAY_S, 300 * 365.0 * DAY_S])
def test_recordings_of_the_future_are_refused_with_the_command_that_mends_them(study, ahead_s):
    date(recording(study), ahead_s)
    assert f"{TRIALS[0]}.c3d is dated in the future (" in refuse_and_mend(study)
    for trial in TRIALS:
        date(recording(study, trial), ahead_s)
    fault = refuse_and_mend(study)
    assert "as are 2 more" in fault
    assert fault.count(".c3d") == 1


@pytest.mark.parametrize("which", ["link", "target"])
def test_a_link_counts_as_the_file_it_names(study, tmp_path, which):
    path = recording(study)
    target = path.rename(tmp_path / "elsewhere.c3d")
    path.symlink_to(target)
    accept(study)
    date(path if which == "link" else target, DAY_S, follow_symlinks=which == "target")
    refuse_and_mend(study)


def test_the_clock_is_that_of_the_file_system(study, monkeypatch):
    date(recording(study), 100.0)
    monkeypatch.setattr(load_checked, "_now", lambda _: time.time() + 200.0)  # a server that is ahead of this machine
    accept(study)


@pytest.mark.workflow
def test_check_and_a_run_compute_nothing_before_they_say_so(study, capsys):
    date(recording(study), DAY_S)
    assert main(["check", str(study)]) == 1
    text = capsys.readouterr().err
    assert "is dated in the future" in text
    assert f"find -L '{recording(study).parent}' -newermt now -exec touch" in text
    text = run(study, expected=1)
    assert "is dated in the future" in text
    assert "Traceback" not in text
    assert not (study / "results" / "kinematics").exists()


@pytest.mark.workflow
def test_recordings_of_1970_run_once_and_results_of_the_future_are_refused(tmp_path):
    study = make_plain_study(tmp_path / "my study", TRIALS[:1])
    os.utime(recording(study), (0.0, -DAY_S))
    run(study)
    assert {row["torque_status"] for row in ledger(study).values()} <= {"ok", "flagged", "caution"}
    assert "Nothing to be done" in run(study)
    date(next((study / "results" / "kinematics").rglob(".snakemake_timestamp")), DAY_S)
    assert "results" in refuse_and_mend(study)
    run(study)
    assert "Nothing to be done" in run(study)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_zones_and_old_clocks_make_no_future(study, monkeypatch, zone):
    """Times of files are counted from 1970 in UTC: fourteen hours ahead of it nothing is in the future, nor is 1970."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        for when in (-DAY_S, 0.0, 86399.0, time.time()):
            os.utime(recording(study), (when, when))
            accept(study)
    finally:
        monkeypatch.undo()
        time.tzset()

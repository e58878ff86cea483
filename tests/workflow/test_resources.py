"""What a run asks of a cluster, the locks of a run, and what is changed in Snakemake."""

import errno
import fcntl
import os
import socket
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from limbtorque.cli.run_study import command, snakefile
from limbtorque.errors import LimbtorqueError
from limbtorque.study.study import load_study
from limbtorque.workflow import layout, records, resources, results_folder, snakemake_faults

ROOT = Path(__file__).resolve().parents[2]
TRIAL = load_study(ROOT).trials[0]


@pytest.fixture
def trial(tmp_path):
    """A trial whose recording has 100 MB, none of them on the disk."""
    path = tmp_path / "large.c3d"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    return replace(TRIAL, file=path)


def test_memory_and_time_follow_the_recordings_and_the_attempt(trial):
    """512 samples take four times as long as the torques of a trial, and sixteen times as long as its muscle forces."""
    small = resources.memory_mb([TRIAL])
    assert resources.memory_mb([TRIAL] * 100) == small
    assert resources.memory_mb([TRIAL, trial]) == resources.memory_mb([trial]) == 900 + 12 * 100
    assert resources.memory_mb([trial], attempt=3) == 3 * resources.memory_mb([trial])
    assert resources.minutes("torques", [TRIAL]) == 1
    assert resources.minutes("torques", [trial]) == 3  # 40 s, 1 s for the trial, 100 s for 100 MB
    assert resources.minutes("torques", [trial] * 10) == 18
    assert resources.minutes("torques", [trial] * 10, attempt=2) == 36
    assert resources.minutes("figures", [TRIAL] * 30) > resources.minutes("torques", [TRIAL] * 30)
    errors = trial.settings.uncertainty.model_copy(update={"samples": 512})
    sampled = replace(trial, settings=trial.settings.model_copy(update={"uncertainty": errors}))
    assert resources.minutes("kinematics", [sampled]) == resources.minutes("kinematics", [trial]) == 3
    assert resources.minutes("torques", [sampled]) == 10  # 40 s, and five times 101 s
    assert resources.minutes("muscles", [sampled]) == 30  # 40 s, and seventeen times 101 s


def test_what_the_tables_of_the_study_ask_for_grows_with_its_trials():
    study = load_study(ROOT)
    study = replace(study, trials=study.trials[:12])
    many = replace(study, trials=study.trials * 100)
    assert resources.study_memory_mb(study) == 904
    assert resources.study_memory_mb(many, attempt=2) == 2 * (900 + 360)
    assert resources.study_minutes(study) == 1
    assert resources.study_minutes(many) == 5


def test_long_sessions_are_jobs_of_their_own_and_a_run_on_slurm_takes_the_profile_instead_of_cores(trial):
    assert resources.group([TRIAL] * 10) == "short_sessions"
    assert resources.group([trial] * 10) == "long_sessions"
    words = command(Path("study"), slurm=True, more=["--dry-run"])
    assert words[-4:] == ["--profile", str(snakefile().parent / "profiles" / "slurm"), "--keep-going", "--dry-run"]
    assert "--cores" not in words


@pytest.fixture(autouse=True)
def held(monkeypatch):
    """Locks that a test takes; they are opened afterwards."""
    taken = []
    monkeypatch.setattr(results_folder, "_held", taken)
    yield taken
    while taken:
        results_folder.release()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EIO])
def test_file_systems_without_locks(code, tmp_path, monkeypatch, held, capsys):
    """They are reported and used; one without `flock` gets a lock in a file; other faults are not passed over."""

    def refuse(*_):
        raise OSError(code, "no lock")

    monkeypatch.setattr(fcntl, "flock", refuse)
    if code == errno.EIO:
        with pytest.raises(OSError, match="no lock"):
            results_folder.hold_run(tmp_path)
        return
    results_folder.hold_run(tmp_path)
    assert ("without locks" in capsys.readouterr().err) == (code != errno.ENOSYS)
    if code == errno.ENOSYS:
        with pytest.raises(LimbtorqueError, match="is using"):
            results_folder.hold_run(tmp_path)
        results_folder.release()
        results_folder.hold_run(tmp_path)
        assert len(held) == 1


def test_the_holder_of_the_lock_is_named(tmp_path):
    results_folder.hold_run(tmp_path)
    with pytest.raises(LimbtorqueError) as error:
        results_folder.hold_run(tmp_path)
    place = (tmp_path / "results").resolve()
    assert f"the run with process {os.getpid()} on {socket.gethostname()} is using {place}" in str(error.value)
    results_folder.release()
    results_folder.hold_run(tmp_path)  # and the end of the first opens it
    assert (tmp_path / layout.LOCK).read_text().count("process") == 1


def test_a_folder_that_cannot_be_written_to_is_reported(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(LimbtorqueError, match="cannot be written to; change its permissions"):
        results_folder.hold_run(tmp_path)


def test_the_default_limit_of_jobs_a_second_is_taken_off_and_others_stay():
    """As Snakemake has it: its scheduler and settings, with the attributes that are used."""
    import snakemake.scheduling.job_scheduler as scheduling
    from snakemake.settings.types import MaxJobsPerTimespan, SchedulingSettings

    def workflow(limit):
        settings = SchedulingSettings(max_jobs_per_timespan=limit)
        scheduler = SimpleNamespace(job_rate_limiter=scheduling.JobRateLimiter(limit))
        return SimpleNamespace(scheduler=scheduler, scheduling_settings=settings)

    usual = workflow(MaxJobsPerTimespan.parse_choice("100/1s"))
    assert snakemake_faults.unpace(usual)
    assert usual.scheduler.job_rate_limiter is None
    asked = workflow(MaxJobsPerTimespan.parse_choice("5/1m"))
    assert not snakemake_faults.unpace(asked)
    assert asked.scheduler.job_rate_limiter is not None


def test_readers_wait_for_the_files_that_a_record_names_but_not_for_ever(tmp_path, monkeypatch):
    """As written by another node: seen late, and seen too small at first."""
    place = tmp_path / layout.session_folder("torques", "S")
    place.mkdir(parents=True)
    names = [layout.session_folder("torques", "S") / name for name in ("a.csv", "b.csv")]
    for name in names:
        (tmp_path / name).write_text("12345")
    records.write_record("torques", "S", names, ["{}"], tmp_path)
    (place / "a.csv").unlink()
    (place / "b.csv").write_text("12")
    monkeypatch.setenv(records.WAIT_S, "20")
    threading.Timer(0.2, lambda: (place / "a.csv").write_text("12345")).start()
    threading.Timer(0.4, lambda: (place / "b.csv").write_text("12345")).start()
    records.wait_for(["torques"], "S", tmp_path)
    assert records.faults("torques", "S", tmp_path) == {}
    monkeypatch.setenv(records.WAIT_S, "0.1")
    (place / "b.csv").write_text("")
    with pytest.raises(LimbtorqueError, match=r"results/torques/S/b.csv is 0 bytes instead of 5; run the study again"):
        records.wait_for(["torques"], "S", tmp_path)
    with pytest.raises(LimbtorqueError, match=r"results/torques/T/_session.jsonl is missing"):
        records.wait_for(["torques"], "T", tmp_path)

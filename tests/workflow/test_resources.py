import errno
import fcntl
import os
import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from limbtorque.cli.main import _split
from limbtorque.cli.run_study import command
from limbtorque.errors import LimbtorqueError
from limbtorque.study.study import load_study
from limbtorque.workflow import job_errors, lock, pace, resources

ROOT = Path(__file__).resolve().parents[2]
TRIAL = load_study(ROOT).trials[0]


@pytest.fixture
def trial(tmp_path):
    """A trial whose recording has 100 MB, none of them on the disk."""
    path = tmp_path / "large.c3d"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    return replace(TRIAL, file=path)


def test_memory_follows_the_largest_recording_and_the_attempt(trial):
    small = resources.memory_mb([TRIAL])
    assert resources.memory_mb([TRIAL] * 100) == small
    assert resources.memory_mb([TRIAL, trial]) == resources.memory_mb([trial]) == 900 + 12 * 100
    assert resources.memory_mb([trial], attempt=3) == 3 * resources.memory_mb([trial])


def test_time_follows_the_number_and_size_of_all_recordings_and_the_attempt(trial):
    assert resources.minutes("torques", [TRIAL]) == 1
    assert resources.minutes("torques", [trial]) == 3  # 40 s, 1 s for the trial, 100 s for 100 MB
    assert resources.minutes("torques", [trial] * 10) == 18
    assert resources.minutes("torques", [trial] * 10, attempt=2) == 36
    assert resources.minutes("figures", [TRIAL] * 30) > resources.minutes("torques", [TRIAL] * 30)


def test_what_the_tables_of_the_study_ask_for_grows_with_its_trials():
    study = load_study(ROOT)
    many = replace(study, trials=study.trials * 100)
    assert resources.study_memory_mb(study) == 904
    assert resources.study_memory_mb(many, attempt=2) == 2 * (900 + 360)
    assert resources.study_minutes(study) == 1
    assert resources.study_minutes(many) == 5


def test_long_sessions_are_jobs_of_their_own(trial):
    assert resources.group([TRIAL] * 10) == "short_sessions"
    assert resources.group([trial] * 10) == "long_sessions"


def test_a_run_on_slurm_takes_the_profile_instead_of_cores():
    words = command(Path("study"), slurm=True, more=["--dry-run"])
    assert words[-3:] == ["--profile", str(ROOT / "profiles" / "slurm"), "--dry-run"]
    assert "--cores" not in words


def test_options_of_snakemake_may_follow_others():
    words = ["run-study", "study", "--slurm", "--", "--jobs", "2"]
    assert _split(words) == (["run-study", "study", "--slurm"], ["--jobs", "2"])
    assert _split(["inspect", "--", "-file"]) == (["inspect", "--", "-file"], [])


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told_and_used(code, tmp_path, monkeypatch, capsys):
    def no_lock(*_):
        raise OSError(code, "no lock")

    monkeypatch.setattr(fcntl, "flock", no_lock)
    lock.hold(tmp_path)
    assert "without locks" in capsys.readouterr().err


def test_other_faults_of_a_lock_are_not_passed_over(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(fcntl, "flock", broken)
    with pytest.raises(OSError, match="broken"):
        lock.hold(tmp_path)


def test_who_holds_the_lock_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_held", [])
    lock.hold(tmp_path)
    with pytest.raises(LimbtorqueError) as error:
        lock.hold(tmp_path)
    told = f"the run with process {os.getpid()} on {socket.gethostname()} is at work in {tmp_path.resolve()}"
    assert told in str(error.value)
    lock._held.pop().close()
    lock.hold(tmp_path)  # and the end of the first opens it
    assert (tmp_path / ".lock").read_text().count("process") == 1
    lock._held.pop().close()


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(LimbtorqueError, match="cannot be written to: give it the permissions"):
        lock.hold(tmp_path)


@pytest.mark.parametrize("kind", ["Job", "GroupJob"])
def test_what_an_executor_says_of_a_job_is_shown(kind, monkeypatch, capsys):
    """Snakemake's own line has no reason, or is not shown."""
    import snakemake.jobs

    seen = []
    for name in ("Job", "GroupJob"):
        monkeypatch.setattr(getattr(snakemake.jobs, name), "log_error", lambda _, **told: seen.append(told))
    job_errors.show()
    job_errors.show()  # once is enough
    job = object.__new__(getattr(snakemake.jobs, kind))
    job.log_error(msg="invalid partition specified: short", aux_logs=["slurm_logs/7.log"], more=1)
    assert capsys.readouterr().err == "invalid partition specified: short\nwhat the job printed: slurm_logs/7.log\n"
    assert seen == [{"msg": "invalid partition specified: short", "aux_logs": ["slurm_logs/7.log"], "more": 1}]
    job.log_error()
    assert capsys.readouterr().err == ""


def test_the_default_limit_of_jobs_a_second_is_taken_off_and_others_stay():
    """As Snakemake has it: its scheduler and settings, with the attributes that are used."""
    import snakemake.scheduling.job_scheduler as scheduling
    from snakemake.settings.types import MaxJobsPerTimespan, SchedulingSettings

    def workflow(limit):
        settings = SchedulingSettings(max_jobs_per_timespan=limit)
        scheduler = SimpleNamespace(job_rate_limiter=scheduling.JobRateLimiter(limit))
        return SimpleNamespace(scheduler=scheduler, scheduling_settings=settings)

    usual = workflow(MaxJobsPerTimespan.parse_choice("100/1s"))
    assert pace.unpace(usual)
    assert usual.scheduler.job_rate_limiter is None
    asked = workflow(MaxJobsPerTimespan.parse_choice("5/1m"))
    assert not pace.unpace(asked)
    assert asked.scheduler.job_rate_limiter is not None
    assert not pace.unpace(SimpleNamespace())  # a later Snakemake without these

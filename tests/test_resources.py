import errno
import fcntl
from dataclasses import replace
from pathlib import Path

import pytest

from limbtorque.cli import _split
from limbtorque.stages import lock, resources
from limbtorque.study import load_study
from limbtorque.workflow import command

ROOT = Path(__file__).resolve().parents[1]
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

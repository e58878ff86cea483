"""Jobs forked from one process, which do what the command would do itself, and end with it."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import study_runs as workflow
from limbtorque.study.study import load_study
from limbtorque.workflow import job as jobs
from limbtorque.workflow import keys, layout, worker

pytestmark = pytest.mark.workflow
STAGE = """
import sys
from limbtorque.workflow import job
stage, session, key = sys.argv[1:]
words = [stage, f"--session={session}", f"--log={stage}.log", f"--key={key}"]
job.do(vars(job.parser().parse_args(words)))
print("limbtorque.workflow.run_session" in sys.modules)
"""


def test_stages_of_sessions_start_without_slow_libraries():
    """Each would cost every job a tenth of a second, and its memory."""
    slow = {"matplotlib", "pandas", "scipy", "snakemake"}
    stages = "kinematics, torques, muscles, pages, curves"
    code = f"import sys; from limbtorque.workflow.stages import {stages}; print(sorted({slow} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def run_of_jobs(monkeypatch):
    """Processes that fork, of which there is none yet; the environment of a run is gone afterwards."""
    monkeypatch.setattr(worker, "_held", [])
    monkeypatch.setenv(jobs.ADDRESS, "")
    monkeypatch.setenv(jobs.RUN, str(os.getpid()))
    return worker._held


@pytest.fixture
def forking(run_of_jobs):
    """The process that forks, as the workflow starts it; it ends with its input."""
    worker.start(layout.SOURCES)
    (process,) = run_of_jobs
    yield process
    process.stdin.close()
    assert process.wait(30) in (0, -signal.SIGKILL)


@pytest.fixture
def study(tmp_path):
    return workflow.make_study(tmp_path / "study", ["S01_sagittal_fast"])


def job(folder, stage, *, key=None, more=None):
    """The command of a job, with more variables of the environment; prints whether it had to do the work itself."""
    with contextlib.chdir(folder):
        study = load_study(Path())
        (session,) = study.batches
        key = key or keys.session_key(stage, study, session)
    return subprocess.Popen(
        [sys.executable, "-c", STAGE, stage, session, key],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(more or {})},
    )


def tables(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted((folder / "results").rglob("*"))
        if path.is_file()
    }


def by_itself(process):
    """Whether a job that went well did the work itself, and what it said."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out == "True\n", err


def test_forked_jobs_and_commands_make_the_same_bytes(forking, tmp_path, monkeypatch):
    environment = Path(f"/proc/{forking.pid}/environ").read_bytes().decode().split("\0")
    assert {f"{name}=1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")} <= set(environment)
    folders = [workflow.make_study(tmp_path / name, ["S01_sagittal_fast"]) for name in ("forked", "by itself")]
    for folder, itself in zip(folders, (False, True), strict=True):
        for stage in ("kinematics", "torques", "muscles"):
            found, said = by_itself(job(folder, stage))
            assert found == itself
            assert f"{stage}: 0 of 1 trials done" in said
            assert "S01_sagittal_fast" in (folder / f"{stage}.log").read_text()
        monkeypatch.setenv(jobs.ADDRESS, os.environ[jobs.ADDRESS] + " of another environment")
    assert forking.poll() is None
    assert len(tables(folders[0])) == 10  # three records, four tables, effects, and CSV of torques and bands
    assert tables(folders[0]) == tables(folders[1])


def test_a_job_that_fails_says_why_and_one_whose_command_is_ended_ends(forking, study):
    done = job(study, "kinematics", key="another")
    _, err = done.communicate(timeout=120)
    assert done.returncode == 1
    assert "changed while kinematics of" in err
    (study / "kinematics.log").unlink()
    os.mkfifo(study / "kinematics.log")  # the job waits until somebody reads its log
    script = job(study, "kinematics")
    forked = children_of(forking.pid)
    script.send_signal(signal.SIGTERM)
    script.communicate(timeout=30)
    gone(*forked)


@pytest.mark.parametrize("when", ["before", "waiting", "while it forks", "the job"])
def test_a_killed_process_costs_nothing_but_speed(when, forking, study):
    forker = forking.pid
    if when == "before":
        kill(forker)
    elif when == "waiting":
        os.kill(forker, signal.SIGSTOP)
    elif when == "the job":
        os.mkfifo(study / "kinematics.log")  # the job waits until somebody reads its log
    done = job(study, "kinematics")
    if when == "waiting":
        time.sleep(3.0)  # its message lies in a queue that nobody will read
        kill(forker)
    elif when == "while it forks":
        time.sleep(0.5)
        kill(forker)
    elif when == "the job":
        (forked,) = children_of(forker)
        (study / "kinematics.log").unlink()
        kill(forked)
    assert "Traceback" not in by_itself(done)[1]
    assert len(tables(study)) == 2  # the table and the record


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    gone(pid)


def gone(*pids):
    """Wait until processes have ended."""
    end = time.monotonic() + 30
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < end, "a process goes on"
        time.sleep(0.02)


STARTED = """
import os
from limbtorque.workflow import job, worker
worker.start(["kinematics"])
print(worker._held[0].pid, os.environ[job.ADDRESS], flush=True)
input()
"""


def started():
    """A run that waits for its input, the process that forks its jobs, and the address of that."""
    run = subprocess.Popen([sys.executable, "-c", STARTED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    forker, address = run.stdout.readline().split()
    return run, int(forker), address


def test_jobs_and_the_process_that_forks_them_end_with_their_run(study):
    """Otherwise they would go on beside the next run."""
    run, forker, address = started()
    run.communicate("\n")
    gone(forker)
    os.mkfifo(study / "kinematics.log")  # the job waits until somebody reads its log
    run, forker, address = started()
    done = job(study, "kinematics", more={jobs.ADDRESS: address, jobs.RUN: str(run.pid)})
    (forked,) = children_of(forker)
    run.kill()
    run.communicate()
    assert done.wait(30) == 1
    gone(forked, forker)
    out, err = done.communicate()
    assert "Traceback" not in out + err
    assert not (study / "results" / "kinematics").exists()


def children_of(pid):
    """Processes that were forked from one; waits until there is one."""
    path, end = Path(f"/proc/{pid}/task/{pid}/children"), time.monotonic() + 60
    while not (found := path.read_text().split()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return [int(word) for word in found]


def alive(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False

"""Jobs forked from one process: they do what the command would do itself, and end with it."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
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


@pytest.mark.parametrize("stage", ["kinematics", "torques", "muscles", "pages", "curves"])
def test_a_stage_of_a_session_starts_without_slow_libraries(stage):
    """Each would cost every job a tenth of a second, and its memory."""
    slow = {"matplotlib", "pandas", "scipy", "snakemake"}
    code = f"import sys, limbtorque.workflow.stages.{stage}; print(sorted({slow} & set(sys.modules)))"
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
def forking_unless_killed(run_of_jobs):
    """The process that forks, as the workflow starts it; it ends with its input."""
    worker.start(layout.SOURCES)
    (process,) = run_of_jobs
    yield process
    process.stdin.close()
    process.wait(30)


@pytest.fixture
def forking(forking_unless_killed):
    yield forking_unless_killed
    forking_unless_killed.stdin.close()
    assert forking_unless_killed.wait(30) == 0


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


def test_forked_jobs_and_commands_make_the_same_bytes(forking, tmp_path, monkeypatch):
    folders = [workflow.make_study(tmp_path / name, ["S01_sagittal_fast"]) for name in ("forked", "by itself")]
    for folder, itself in zip(folders, ("False\n", "True\n"), strict=True):
        for stage in ("kinematics", "torques", "muscles"):
            done = job(folder, stage)
            out, err = done.communicate(timeout=120)
            assert (done.returncode, out) == (0, itself), err
            assert f"{stage}: 0 of 1 trials done" in err
            assert "S01_sagittal_fast" in (folder / f"{stage}.log").read_text()
        monkeypatch.setenv(jobs.ADDRESS, os.environ[jobs.ADDRESS] + " of another environment")
    assert forking.poll() is None
    assert len(tables(folders[0])) == 9  # three records, four tables, and CSV of torques and bands
    assert tables(folders[0]) == tables(folders[1])


def test_jobs_are_forked_from_a_process_with_one_thread_of_linear_algebra(forking):
    environment = Path(f"/proc/{forking.pid}/environ").read_bytes().decode().split("\0")
    assert {f"{name}=1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")} <= set(environment)


@pytest.mark.usefixtures("forking")
def test_a_job_that_fails_says_why(tmp_path):
    done = job(workflow.make_study(tmp_path / "study", ["S01_sagittal_fast"]), "kinematics", key="another")
    _, err = done.communicate(timeout=120)
    assert done.returncode == 1
    assert "changed while kinematics of" in err


@pytest.mark.usefixtures("forking")
def test_a_command_that_is_ended_ends_its_job(tmp_path):
    folder = workflow.make_study(tmp_path / "study", ["S01_sagittal_fast"])
    os.mkfifo(folder / "kinematics.log")  # the job waits until somebody reads its log
    script = job(folder, "kinematics")
    forked = children_of(worker._held[0].pid)
    script.send_signal(signal.SIGTERM)
    script.communicate(timeout=30)
    end = time.monotonic() + 30
    while any(alive(pid) for pid in forked):
        assert time.monotonic() < end, "the job goes on without its command"
        time.sleep(0.05)


@pytest.mark.parametrize("when", ["before", "waiting", "while it forks", "the job"])
def test_a_killed_process_costs_nothing_but_speed(when, forking_unless_killed, tmp_path):
    folder = workflow.make_study(tmp_path / "study", ["S01_sagittal_fast"])
    forker = forking_unless_killed.pid
    if when == "before":
        kill(forker)
    elif when == "waiting":
        os.kill(forker, signal.SIGSTOP)
    elif when == "the job":
        os.mkfifo(folder / "kinematics.log")  # the job waits until somebody reads its log
    done = job(folder, "kinematics")
    if when == "waiting":
        time.sleep(3.0)  # its message lies in a queue that nobody will read
        kill(forker)
    elif when == "while it forks":
        time.sleep(0.5)
        kill(forker)
    elif when == "the job":
        (forked,) = children_of(forker)
        (folder / "kinematics.log").unlink()
        kill(forked)
    _, err = done.communicate(timeout=120)
    assert done.returncode == 0, err
    assert "Traceback" not in err
    assert len(tables(folder)) == 2  # the table and the record


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 30
    while alive(pid):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.usefixtures("run_of_jobs")
def test_a_long_name_of_the_temporary_folder_is_no_matter(tmp_path, monkeypatch):
    place = tmp_path / ("x" * 100)
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    worker.start(layout.SOURCES)
    done = job(workflow.make_study(tmp_path / "study", ["S01_sagittal_fast"]), "kinematics")
    out, err = done.communicate(timeout=120)
    worker._held[0].stdin.close()
    worker._held[0].wait(30)
    assert (done.returncode, out) == (0, "False\n"), err  # a forked process did the work
    assert not list(place.iterdir())


@pytest.mark.usefixtures("run_of_jobs")
def test_without_a_temporary_folder_commands_do_the_work(monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", "/proc/no/such/folder")
    worker.start(["kinematics"])
    assert os.environ[jobs.ADDRESS] == ""
    assert "jobs are slower" in capsys.readouterr().err


def test_a_job_ends_with_the_run_that_was_killed(tmp_path):
    """Otherwise it would go on beside the next run."""
    folder = workflow.make_study(tmp_path / "study", ["S01_sagittal_fast"])
    os.mkfifo(folder / "kinematics.log")  # the job waits until somebody reads its log
    text = "import os; from limbtorque.workflow import job, worker; worker.start(['kinematics']); print(worker._held[0].pid, os.environ[job.ADDRESS], flush=True); input()"
    run = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    forker, address = run.stdout.readline().split()
    done = job(folder, "kinematics", more={jobs.ADDRESS: address, jobs.RUN: str(run.pid)})
    (forked,) = children_of(int(forker))
    run.kill()
    run.communicate()
    assert done.wait(30) == 1
    end = time.monotonic() + 30
    while alive(forked):
        assert time.monotonic() < end, "the job goes on without its run"
        time.sleep(0.05)
    out, err = done.communicate()
    assert "Traceback" not in out + err
    assert not (folder / "results" / "kinematics").exists()


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


def test_the_process_ends_with_the_one_that_started_it(tmp_path):
    text = "import os, sys; from limbtorque.workflow import job, worker; worker.start(['kinematics']); print(worker._held[0].pid, os.environ[job.ADDRESS])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, cwd=tmp_path)
    pid, address = done.stdout.split()
    end = time.monotonic() + 60
    while alive(int(pid)) or Path(address.partition(":")[0]).parent.exists():
        assert time.monotonic() < end
        time.sleep(0.05)

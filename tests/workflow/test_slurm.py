"""Trials of the demo on a Slurm that loses jobs half-way: the same files as from one machine.

`.ci/slurm-node` starts a Slurm of one node; where no node answers, the tests are skipped.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

import study_runs as workflow
from limbtorque.cli.run_study import command
from limbtorque.study.study import load_study
from limbtorque.workflow import resources

pytestmark = [pytest.mark.slurm, pytest.mark.workflow]
# this Slurm keeps no accounts of jobs, which take seconds here; two sessions in a job
HERE = (
    *("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "3"),
    *("--group-components", "short_sessions=2"),
)


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60).stdout


@pytest.fixture(scope="module")
def node():
    """Name of the node."""
    pytest.importorskip("snakemake_executor_plugin_slurm")
    if not shutil.which("sbatch") or not shutil.which("sinfo"):
        pytest.skip("Slurm is not installed; .ci/run installs and starts one")
    states = [line.split() for line in output("sinfo", "--noheader", "--Node", "--format=%N %t").splitlines()]
    answering = [name for name, state in states if state in ("idle", "mix", "alloc")]
    if not answering:
        pytest.skip("no node of a Slurm answers; .ci/slurm-node starts one")
    return answering[0]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Files of the study from one machine."""
    folder = make_demo(tmp_path_factory.mktemp("local") / "a study")
    workflow.run(folder)
    return workflow.results(folder)


def make_demo(folder):
    """A trial of each of the demo's four sessions of reaches."""
    first = [trials[0] for trials in load_study(workflow.ROOT).batches.values()]
    return workflow.make_study(folder, [trial.name for trial in first if trial.chain == "arm"])


@contextmanager
def run_on_slurm(folder):
    """A run whose jobs go to Slurm; what is left of it in the end is ended."""
    with (folder / "run.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(polling_often(folder), stdout=log, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)
            for number in jobs(folder):
                output("scancel", number)


def polling_often(folder):
    """Command of a run, with Snakemake started by tests/poll_often.py."""
    python, *words = command(folder, slurm=True, more=HERE)
    assert words[:2] == ["-m", "limbtorque.workflow.start_snakemake"]
    return [python, str(workflow.ROOT / "tests" / "poll_often.py"), *words[2:]]


def jobs(folder):
    """States of a study's jobs that wait or run."""
    rows = [line.split("|") for line in output("squeue", "--noheader", "--format=%i|%T|%Z").splitlines()]
    return {number: state for number, state, place in rows if place == str(folder)}


def about(number):
    """What Slurm knows of a job: JobState, Restarts, TimeLimit, MinMemoryNode, NumCPUs, ..."""
    return dict(word.split("=", 1) for word in output("scontrol", "show", "job", number).split() if "=" in word)


def text_of(folder, number):
    """What a job has printed."""
    return "".join(path.read_text("utf-8") for path in (folder / ".snakemake/slurm_logs").rglob(f"{number}.log"))


def half_way(folder, but=()):
    """A running job that has kinematics of a session behind it."""
    running = [number for number, state in jobs(folder).items() if state == "RUNNING" and number not in but]
    return next((number for number in running if "torques: " in text_of(folder, number)), None)


def until(true, process, timeout_s=180):
    """What a function returns, as soon as that is something."""
    end = time.monotonic() + timeout_s
    while not (found := true()):
        assert process.poll() is None, "the run has ended before"
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def finish(process, folder):
    code = process.wait(400)
    text = (folder / "run.txt").read_text("utf-8")
    assert code == 0, text
    return text


@pytest.mark.usefixtures("node")
def test_a_job_that_is_killed_is_done_again_with_more_and_the_files_are_the_same(demo, tmp_path):
    folder = make_demo(tmp_path / "a study")
    with run_on_slurm(folder) as process:
        killed = until(lambda: half_way(folder), process)
        started, first = jobs(folder).keys(), about(killed)
        output("scancel", "--signal=KILL", "--full", killed)
        until(lambda: about(killed)["JobState"] == "CANCELLED", process)
        again = until(lambda: next(iter(jobs(folder).keys() - started), None), process)
        second = about(again)
        assert "Trying to restart job" in finish(process, folder)
    asked = [int(job["MinMemoryNode"].removesuffix("M")) for job in (first, second)]
    assert len(started) == 2
    assert first["NumCPUs"] == "1"
    assert asked[0] in {resources.memory_mb(trials) for trials in load_study(folder).batches.values()}
    assert asked[1] == 2 * asked[0]
    assert (first["TimeLimit"], second["TimeLimit"]) == ("00:12:00", "00:24:00")  # two sessions of six stages
    assert workflow.results(folder) == demo


def test_jobs_of_a_lost_node_are_put_back_by_slurm_and_the_files_are_the_same(node, demo, tmp_path):
    if "limbtorque_tests" not in output("scontrol", "show", "config"):
        pytest.skip("this Slurm is not of .ci/slurm-node, and its nodes are left alone")
    folder = make_demo(tmp_path / "a study")
    with run_on_slurm(folder) as process:
        lost = until(lambda: half_way(folder), process)
        output("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
        try:
            until(lambda: about(lost)["JobState"] == "PENDING", process)
        finally:
            output("scontrol", "update", f"NodeName={node}", "State=RESUME")
        until(lambda: about(lost)["JobState"] == "RUNNING", process)
        assert about(lost)["Restarts"] == "1"
        finish(process, folder)
    assert workflow.results(folder) == demo


@pytest.mark.usefixtures("node")
def test_why_slurm_refuses_a_job_is_told(tmp_path):
    folder = make_demo(tmp_path / "a study")
    more = ("--default-resources", "slurm_partition=nowhere", "--retries", "0", *HERE)
    done = subprocess.run(
        command(folder, slurm=True, more=more), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert "invalid partition" in done.stderr.lower()


def _heed_ctrl_c():
    """Tests that were started in the background ignore it, and so would what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.usefixtures("node")
def test_ctrl_c_ends_the_run_and_its_jobs(tmp_path):
    """As a terminal does it: the signal reaches the command and Snakemake below it."""
    folder = make_demo(tmp_path / "a study")
    words = [
        sys.executable,
        "-c",
        "import sys; from limbtorque.cli.main import main; sys.exit(main())",
        "run-study",
        str(folder),
        "--slurm",
        "--",
        *HERE,
    ]
    with (folder / "run.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            words, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=_heed_ctrl_c
        )
        try:
            until(lambda: jobs(folder), process)
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait(120) != 0
            assert "Traceback" not in (folder / "run.txt").read_text("utf-8")
            end = time.monotonic() + 30
            while jobs(folder) and time.monotonic() < end:
                time.sleep(0.3)
            assert jobs(folder) == {}
        finally:
            for number in jobs(folder):
                output("scancel", number)

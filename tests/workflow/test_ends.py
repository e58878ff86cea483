"""Ends of a run by signals: Snakemake and its jobs end with the command, and the next run finishes."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from limbtorque.cli.main import main
from study_runs import make_plain_study

pytestmark = [pytest.mark.workflow, pytest.mark.slow]
# every forked job waits before it works
WAITING = """
import time
from limbtorque.workflow import job
work = job.work
job.work = lambda options: (time.sleep(3.0), work(options))
"""


def started(folder, *words):
    """The command of a run, and its processes once a job waits."""
    (folder / "sitecustomize.py").write_text(WAITING, encoding="utf-8")
    process = subprocess.Popen(
        [*words, sys.executable, "-m", "limbtorque.cli.start", "run-study", folder, "--cores", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=hear,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )
    end = time.monotonic() + 120
    while True:
        family = psutil.Process(process.pid).children(recursive=True)
        if any("limbtorque.workflow.job" in " ".join(safe(one)) for one in family):
            time.sleep(1.0)
            return process, psutil.Process(process.pid).children(recursive=True)
        assert time.monotonic() < end
        time.sleep(0.1)


def hear():
    """Let a process hear both signals; `nohup`, and a shell in the background, have them ignored."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def safe(process):
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def ended(family):
    """Whether all processes end by themselves."""
    return not psutil.wait_procs(family, timeout=20)[1]


@pytest.fixture
def folder(tmp_path):
    return make_plain_study(tmp_path / "study", ["S01_sagittal_fast"])


def test_a_signal_to_the_command_or_its_kill_ends_all_of_it_and_the_next_run_finishes(folder):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL):
        process, family = started(folder)
        assert len(family) >= 3  # Snakemake, the process that forks, a job
        process.send_signal(number)
        assert process.wait(60) == (-number if number == signal.SIGKILL else 128 + number)
        assert ended(family)
    assert main(["run-study", str(folder), "--cores", "1"]) == 0
    assert (folder / "results" / "verdict.txt").is_file()


def test_what_was_started_to_ignore_the_end_of_its_terminal_goes_on(folder):
    process, family = started(folder, "nohup")
    part = folder / "results" / ".table.host.1.part.csv"  # as a job leaves it that was killed, and done again
    part.touch()
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0  # not 129: it went on to its end
    assert not part.exists()
    assert ended(family)

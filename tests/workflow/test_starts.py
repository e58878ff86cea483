"""Signals in the first moments of a run's processes, within their imports: they end without a traceback."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from attack.studies import environment, make_study, words
from limbtorque.workflow import job, operating_system, snakemake_faults

pytestmark = pytest.mark.workflow
LIMIT_S = 120.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
FORKING = """
import subprocess, sys
from limbtorque.workflow import worker
worker.start(["kinematics"])
(started,) = worker._held
print(started.pid, flush=True)
print(started.wait())
"""


class Settings:
    """The attribute of Snakemake's workflow that a command reads."""

    execution_settings = None


def wait_for(found):
    """The first true answer, asked again and again."""
    end = time.monotonic() + LIMIT_S
    while not (answer := found()):
        assert time.monotonic() < end
        time.sleep(0.002)
    return answer


def reached(process, moment_s):
    """Return True once a process has used so much processor time, or ended; a loaded machine stretches the clock."""
    with contextlib.suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return process.status() == psutil.STATUS_ZOMBIE or times.user + times.system >= moment_s
    return True


def hear():
    """Let a process hear all signals; some are ignored where the tests run in the background."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def snakemake_of(command):
    """Snakemake, once the command has started it."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return next((one for one in command.children() if "--snakefile" in one.cmdline()), None)


def ended(folder, target, number, moment_s):
    """Exit code of a run, as a shell has it, and its output; signalled at a moment of the start of one of its processes.

    The signals of the command itself are held back until its first line: no code of ours is there before.
    """
    with (folder / "output.txt").open("w") as output, operating_system.held():
        process = subprocess.Popen(
            words(folder / "study"),
            env=environment(folder / "tmp"),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=hear,
        )
    command = psutil.Process(process.pid)
    if target == "command":
        wait_for(lambda: reached(command, moment_s) or snakemake_of(command))
        watched = command
    else:
        watched = wait_for(lambda: snakemake_of(command))
        wait_for(lambda: reached(watched, moment_s))
    if target == "group":
        os.killpg(process.pid, number)
    else:
        watched.send_signal(number)
    code = process.wait(LIMIT_S)
    return code if code >= 0 else 128 - code, (folder / "output.txt").read_text()


def test_an_interrupt_waits_until_a_job_is_started():
    """Otherwise the pool of Snakemake loses its thread, or does not wait for it where a second one comes."""
    started = []

    def start(job):
        signal.raise_signal(signal.SIGINT)
        started.append(job)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            snakemake_faults.whole(start)("a job")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert started == ["a job"]


@pytest.mark.parametrize("target", ["command", "snakemake", "group"])
def test_a_signal_during_the_imports_ends_a_run_silently(target, tmp_path):
    make_study(tmp_path / "study")
    for number, moment_s in zip((*SIGNALS, signal.SIGINT), (0.06, 0.1, 0.15, 0.0), strict=True):
        code, said = ended(tmp_path, target, number, moment_s)
        assert code == 128 + number, moment_s
        assert said.splitlines()[1:] == [], moment_s  # one sentence at most
        assert not list((tmp_path / "tmp").glob("limbtorque-*")) or target == "command"


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_the_imports_ends_the_fork_server_silently(number, tmp_path):
    for moment_s in (0.0, 0.03, 0.1):
        run = subprocess.Popen(
            [sys.executable, "-c", FORKING], env=environment(tmp_path / "tmp"), preexec_fn=hear, text=True, **PIPES
        )
        server = psutil.Process(int(run.stdout.readline()))
        wait_for(lambda server=server, moment_s=moment_s: reached(server, moment_s))
        server.send_signal(number)
        if number == signal.SIGINT:  # ignored: Snakemake ends it
            assert server.is_running()
            server.terminate()
        out, err = run.communicate(timeout=LIMIT_S)
        assert (int(out), err) == (1, ""), moment_s
        assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_the_imports_ends_a_job_silently(number, tmp_path):
    if "--block-signal" not in subprocess.run(["env", "--help"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("GNU coreutils before 8.31")
    os.mkfifo(tmp_path / "log")  # it waits until somebody reads its log
    line = f"exec {job.command(Settings, {}, '', module=False)} kinematics --session=a --log=log"
    for moment_s in (0.0, 0.03):
        process = subprocess.Popen(
            ["bash", "-c", line], cwd=tmp_path, env={**os.environ, job.ADDRESS: ""}, preexec_fn=hear, **PIPES
        )
        running = psutil.Process(process.pid)
        wait_for(lambda it=running: "limbtorque.workflow.job" in it.cmdline() and it.name() not in ("bash", "env"))
        wait_for(lambda it=running, moment_s=moment_s: reached(it, moment_s))
        process.send_signal(number)
        _, err = process.communicate(timeout=LIMIT_S)
        assert (process.returncode, err) == (-number, b""), moment_s

"""A signal within the imports of Snakemake, which take most of a start, ends a run without a traceback."""

import contextlib
import signal
import subprocess
import time

import psutil
import pytest

from attack.studies import environment, make_study, words

pytestmark = pytest.mark.workflow
LIMIT_S = 120.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def hear():
    """Let a process hear all signals; some are ignored where the tests run in the background."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def busy_snakemake(command, at_least_s):
    """Snakemake, once it has used so much processor time; a loaded machine stretches the clock."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in command.children():
                if "--snakefile" in child.cmdline() and child.cpu_times().user >= at_least_s:
                    return child
        time.sleep(0.002)
    raise AssertionError("Snakemake did not start")


@pytest.mark.parametrize(
    ("target", "number"), [("command", signal.SIGINT), ("command", signal.SIGTERM), ("snakemake", signal.SIGHUP)]
)
def test_a_signal_during_the_imports_ends_a_run_silently(target, number, tmp_path):
    make_study(tmp_path / "study")
    process = subprocess.Popen(
        words(tmp_path / "study"),
        env=environment(tmp_path / "tmp"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=hear,
    )
    command = psutil.Process(process.pid)
    snakemake = busy_snakemake(command, 0.3)
    (command if target == "command" else snakemake).send_signal(number)
    said, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 128 + number
    assert "Traceback" not in said

"""Runs that are killed at random moments, and finished by the next run."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from attack.studies import LIMIT_S, environment, make_study, results, run, words
from limbtorque.study.files import is_part

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TARGETS = ("command", "group", "snakemake", "fork server", "job", "forked job")
END_S = 5.0  # in which, after the next run, no process of the killed one is left


@dataclass(frozen=True)
class Kill:
    """One kill, and what was found after it; `faults` is empty where all is as promised."""

    target: str
    signal: str
    after_s: float
    hit: bool  # False where the target had ended before
    code: int  # exit code of the killed run
    faults: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The kill in one line."""
        return f"{self.signal} to the {self.target} after {self.after_s:.2f} s, exit code {self.code}"


@dataclass
class Run:
    """A run under way, with its family of processes."""

    process: subprocess.Popen
    output: Path
    family: dict[int, psutil.Process] = field(default_factory=dict)

    def look(self) -> None:
        """Note the processes that are there now."""
        with contextlib.suppress(psutil.NoSuchProcess):
            for one in (root := psutil.Process(self.process.pid)).children(recursive=True):
                self.family.setdefault(one.pid, one)
            self.family.setdefault(root.pid, root)

    def alive(self) -> list[psutil.Process]:
        """Processes of the family that have not ended, and their children."""
        found = {}
        for one in [*self.family.values()]:
            with contextlib.suppress(psutil.NoSuchProcess):
                for each in (one, *one.children(recursive=True)):
                    if each.is_running() and each.status() != psutil.STATUS_ZOMBIE:
                        found[each.pid] = each
        return [*found.values()]


def kills(folder: Path, *, number: int, seed: int) -> list[Kill]:
    """Kill as many runs, each in a study of its own."""
    random = np.random.default_rng(seed)
    start = time.monotonic()
    code, said = run(make_study(folder / "undisturbed"), folder / "tmp")
    took_s = time.monotonic() - start
    assert code == 0, said
    expected = results(folder / "undisturbed")
    plans = [(target, number) for number in SIGNALS for target in TARGETS]
    order = [plans[k % len(plans)] for k in range(number)] if number >= len(plans) else _few(plans, number, random)
    found = []
    for k, (target, what) in enumerate(order):
        place = folder / f"kill {k}"
        found.append(_kill(place, target, what, float(random.uniform(0.0, 0.9 * took_s)), expected))
        shutil.rmtree(place)
    return found


def _few(plans: list, number: int, random: np.random.Generator) -> list:
    """Some of the plans; the kill of the command comes first."""
    return [plans[0], *(plans[k] for k in 1 + random.permutation(len(plans) - 1)[: number - 1])][:number]


def _kill(place: Path, target: str, what: signal.Signals, after_s: float, expected: dict[str, str]) -> Kill:
    """Kill a run, look at what it leaves, and let the next run finish at once."""
    study, temporary = make_study(place / "study"), place / "tmp"
    started = _start(study, temporary)
    hit = _send(started, target, what, after_s)
    faults = _end_of(started)
    faults += _said(started.output.read_text(errors="replace"), "the killed run")
    faults += [f"half a file: {path}" for path, found in results(study).items() if _half(path, found, expected)]
    faults += _finished(study, temporary, expected)
    faults += _stays(started)
    return Kill(target, what.name, after_s, hit, started.process.returncode, tuple(faults))


def _start(study: Path, temporary: Path) -> Run:
    output = temporary.with_name("output.txt")
    with output.open("w") as file:
        process = subprocess.Popen(
            words(study),
            env=environment(temporary),
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_hear,
        )
    return Run(process, output)


def _hear() -> None:
    """Let a process hear all signals; `nohup`, and a shell in the background, have some ignored."""
    for number in SIGNALS[1:]:
        signal.signal(number, signal.SIG_DFL)


def _send(started: Run, target: str, what: signal.Signals, after_s: float) -> bool:
    """Send a signal; False where its target has ended before."""
    end = time.monotonic() + after_s
    while time.monotonic() < end and started.process.poll() is None:
        started.look()
        time.sleep(0.05)
    while started.process.poll() is None:
        started.look()
        if target == "group":
            os.killpg(started.process.pid, what)
            return True
        if found := [one for one in started.alive() if _is(one, target, started)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                found[0].send_signal(what)
                return True
        time.sleep(0.01)
    return False


def _is(one: psutil.Process, target: str, started: Run) -> bool:
    """Return True for a process of the kind that is to be killed."""
    if target == "command":
        return one.pid == started.process.pid
    try:
        line, parent = " ".join(one.cmdline()), " ".join(one.parent().cmdline() if one.parent() else ())
    except psutil.NoSuchProcess:
        return False
    worker = "limbtorque.workflow.worker" in line
    forked = worker and "limbtorque.workflow.worker" in parent
    return {
        "snakemake": " -m limbtorque.workflow.start_snakemake " in line,
        "fork server": worker and not forked,
        "forked job": forked,
        "job": " -m limbtorque.workflow.job " in line and "/bash" not in line.split()[0],
    }[target]


def _end_of(started: Run) -> list[str]:
    """Wait for the end of the command; it is a fault where none comes."""
    end = time.monotonic() + LIMIT_S
    while started.process.poll() is None:
        started.look()
        if time.monotonic() > end:
            os.killpg(started.process.pid, signal.SIGKILL)
            started.process.wait()
            return ["hang: the killed run did not end"]
        time.sleep(0.05)
    return []


def _said(text: str, who: str) -> list[str]:
    """Exceptions that a user would see."""
    lines = text.splitlines()
    return [f"traceback of {who}: {lines[-1]}"] if any(line.startswith("Traceback (") for line in lines) else []


def _half(path: str, found: str, expected: dict[str, str]) -> bool:
    """Return True for a file under its final name that is not what a whole run makes."""
    return not is_part(Path(path)) and expected.get(path) != found


def _finished(study: Path, temporary: Path, expected: dict[str, str]) -> list[str]:
    """Run again: the results are as without a kill."""
    try:
        code, said = run(study, temporary)
    except subprocess.TimeoutExpired:
        return ["hang: the next run did not end"]
    found = results(study)
    faults = [f"the next run ended with {code}: {said.splitlines()[-1:]}"] if code else []
    faults += _said(said, "the next run")
    return faults + [
        f"differs: {path}" for path in sorted({*expected, *found}) if expected.get(path) != found.get(path)
    ]


def _stays(started: Run) -> list[str]:
    """Processes of the killed run that are still there, which are ended."""
    gone_by = time.monotonic() + END_S
    while (there := started.alive()) and time.monotonic() < gone_by:
        time.sleep(0.1)
    names = [_brief(one) for one in there]
    for one in there:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    return [f"a process of the killed run goes on: {name}" for name in names]


def _brief(one: psutil.Process) -> str:
    with contextlib.suppress(psutil.NoSuchProcess):
        return " ".join(one.cmdline())[:200]
    return "?"

"""Compare this version with one before: rows of work by both in turns, each in processes of its own.

make benchmark                                 this version beside the newest tag, or BEFORE where there is none
make benchmark BEFORE=revision                 beside another revision
make benchmark WRITE=docs/benchmarks.md        and write the table between its marks there

Both versions run in the same environment, that of this command: what they depend on is the same, in the versions of today. The work is
that of `compared_work.py`; each version writes its recordings and studies with its own `synthetic.py` and `config.yaml`.

A row's ratio is the median over turns of this version over the one before in the same turn, the order changing from turn to turn. Its
interval is that of the median by order statistics, which assumes no distribution (W. J. Conover, Practical Nonparametric Statistics, 3rd
edition, 1999, section 3.2): the narrowest of at least 95 %. A row whose whole interval lies above 1.1 is named, and the command ends
with 1.
"""

from __future__ import annotations

import argparse
import datetime
import io
import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from compileall import compile_dir
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from math import comb
from pathlib import Path
from statistics import median

from compared_work import ROWS, STAGES, Row

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FIRST_BEFORE = "66569f5"  # where there is no tag: the version before the work on speed
SLOWER = 1.1  # ratio above which a row is named
TURNS, TURNS_OF_PROCESSES = 15, 6  # the fewest with an interval of 95 %
CONFIDENCE = 0.95
MARKS = ("<!-- benchmark -->", "<!-- end of benchmark -->")
LIBRARIES = ("numpy", "scipy", "pyarrow", "matplotlib", "snakemake")


@dataclass(frozen=True)
class Turn:
    """One turn of a row: processor time in ms, time in s, largest memory in MB."""

    used_ms: float
    took_s: float
    peak_mb: float


@dataclass(frozen=True)
class Compared:
    """Turns of both versions, or why a version has none."""

    before: list[Turn]
    after: list[Turn]
    absent: str = ""

    def ratio(self, what: str) -> tuple[float, float, float]:
        """Median ratio of a quantity, after over before, and its interval."""
        pairs = zip(self.before, self.after, strict=True)
        ratios = sorted(getattr(after, what) / getattr(before, what) for before, after in pairs)
        k = rank(len(ratios))
        return median(ratios), ratios[k], ratios[-1 - k]

    def slower(self) -> bool:
        """Return True where the whole interval of the processor time's ratio lies above the limit."""
        return not self.absent and self.ratio("used_ms")[1] > SLOWER

    def cells(self) -> str:
        """Ratio of the processor time and its interval, for a table."""
        ratio, low, high = self.ratio("used_ms")
        return f"{ratio:.2f} ({low:.2f} to {high:.2f}){' **slower**' if self.slower() else ''}"


def rank(n: int) -> int:
    """Rank, from 0, of the lower end of the median's interval; the upper end has the same from above.

    Of n values, the interval from rank k to n-1-k misses the median with probability 2 P(B <= k), B binomial with n and 1/2.
    """
    k = 0
    while 2 * sum(comb(n, j) for j in range(k + 2)) / 2**n <= 1 - CONFIDENCE:
        k += 1
    return k


class Worker:
    """Process that does the work of a row with one version, a turn for each line that it gets."""

    def __init__(self, name: str, tree: Path, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.log = folder / "log.txt"
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(HERE / "compared_work.py"), name, str(tree), str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **threads, "PYTHONPATH": str(tree / "src"), "PYTHONHASHSEED": "0"},
            )
        word, _, reason = self._line().partition(" ")
        self.absent = reason if word == "absent" else ""

    def turn(self) -> Turn:
        """Do the work once."""
        assert self.process.stdin is not None
        self.process.stdin.write("turn\n")
        self.process.stdin.flush()
        return Turn(*map(float, self._line().split()))

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise SystemExit(f"a version failed:\n{self.log.read_text()[-3000:]}")
        return line

    def end(self) -> None:
        """Wait for the process, which ends with its input."""
        self.process.communicate()


def compare(name: str, row: Row, trees: tuple[Path, Path], turns: int, place: Path) -> Compared:
    """Do a row with both versions in turns, each in a folder of its own in a place."""
    workers = [Worker(name, tree, place / str(k)) for k, tree in enumerate(trees)]
    try:
        for worker, which in zip(workers, ("before", "after"), strict=True):
            if worker.absent:
                return Compared([], [], f"not in the version {which} ({worker.absent})")
        found: tuple[list[Turn], list[Turn]] = ([], [])
        for k in range(turns or (TURNS if row.times else TURNS_OF_PROCESSES)):
            for which in (0, 1) if k % 2 else (1, 0):
                found[which].append(workers[which].turn())
        return Compared(*found)
    finally:
        for worker in workers:
            worker.end()


def git(*words: str) -> str:
    """Output of git in this repository, empty where it fails."""
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()


def version_before(named: str) -> str:
    """Revision to compare with: the one named, the newest tag, or `FIRST_BEFORE`."""
    wanted = named or git("describe", "--tags", "--abbrev=0") or FIRST_BEFORE
    if not (found := git("rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}")):
        raise SystemExit(f"{wanted} is no revision of this repository; name one with BEFORE=revision")
    return found


@contextmanager
def sources_of(revision: str) -> Iterator[Path]:
    """Folder with the sources of a revision, for as long as they are needed."""
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", revision], capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(place, filter="data")
        for tree in (Path(place), ROOT):  # neither version compiles itself in its first turn
            compile_dir(tree / "src", quiet=2)
        yield Path(place)


def requirements(tree: Path) -> set[str]:
    """Dependencies that a version's `pyproject.toml` names."""
    import tomllib

    return set(tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"])


def heading(revision: str, before: Path) -> list[str]:
    """Lines on date, machine and versions."""
    after = git("rev-parse", "--short", "HEAD") + (
        " with changes not committed" if git("status", "--porcelain") else ""
    )
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    differ = sorted(requirements(before) ^ requirements(ROOT))
    return [
        f"{date}: {after} beside {revision[:7]}, in turns in processes of their own, one thread, on {os.cpu_count()} cores "
        f"({_processor()}, load {os.getloadavg()[0]:.1f} at the start), Python {platform.python_version()}, {libraries}; both versions in "
        "this environment." + (f" Their dependencies differ: {', '.join(differ)}." if differ else ""),
    ]


def _processor() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def amount(value: float) -> str:
    """Three digits of a number, without an exponent."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def rows_table(found: dict[str, Compared]) -> list[str]:
    """Table of the rows of `ROWS`."""
    lines = [
        "| work | now (ms) | ratio (95 % interval) |",
        "| --- | --- | --- |",
    ]
    for name, each in found.items():
        if each.absent:
            lines.append(f"| {ROWS[name].about} | {each.absent} | |")
            continue
        now = amount(median(turn.used_ms for turn in each.after))
        lines.append(f"| {ROWS[name].about} | {now} | {each.cells()} |")
    return lines


def stages_table(found: dict[str, Compared]) -> list[str]:
    """Table of the stages: processor time, cold time and memory of both versions."""
    lines = [
        "| stage | processor (s) | ratio (95 % interval) | cold (s) | peak memory (MB) |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, each in found.items():
        if each.absent:
            lines.append(f"| {name} | {each.absent} | | | |")
            continue
        pairs = [
            f"{median(getattr(t, what) for t in each.before) * unit:.{digits}f}, "
            f"{median(getattr(t, what) for t in each.after) * unit:.{digits}f}"
            for what, unit, digits in (("used_ms", 1e-3, 2), ("took_s", 1.0, 2), ("peak_mb", 1.0, 0))
        ]
        lines.append(f"| {name} | {pairs[0]} | {each.cells()} | {pairs[1]} | {pairs[2]} |")
    return lines


def write(path: Path, text: str) -> None:
    """Replace what stands between the marks of a page."""
    page = path.read_text(encoding="utf-8")
    if not all(page.count(mark) == 1 for mark in MARKS):
        raise SystemExit(f"{path} has to hold {MARKS[0]} and {MARKS[1]} once each")
    head, rest = page.split(MARKS[0])
    path.write_text(f"{head}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.split(MARKS[1])[1]}", encoding="utf-8")


def page(head: Sequence[str], rows: dict[str, Compared], stages: dict[str, Compared]) -> str:
    """Text of both tables."""
    lines = [*head, ""]
    if rows:
        lines += [
            "Processor time, medians; for processes including their child processes:",
            "",
            *rows_table(rows),
            "",
        ]
    if stages:
        lines += [
            "Each stage as a process of its own, on a session of four trials of 1000 frames; before, now. Cold: time with the study's "
            "recordings and results dropped from the page cache. Memory of the largest process:",
            "",
            *stages_table(stages),
            "",
        ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default="", help="revision to compare with")
    parser.add_argument(
        "--turns", type=int, default=0, help=f"of each row; {TURNS}, and {TURNS_OF_PROCESSES} of processes"
    )
    parser.add_argument("--rows", nargs="*", choices=[*ROWS, "stages"], default=[*ROWS, "stages"])
    parser.add_argument("--write", type=Path, help="page whose part between the marks is replaced")
    options = parser.parse_args()
    if 0 < options.turns < TURNS_OF_PROCESSES:
        parser.error(f"--turns {options.turns}: at least {TURNS_OF_PROCESSES}, fewer have no interval of 95 %")
    start = time.perf_counter()
    revision = version_before(options.before)
    rows: dict[str, Compared] = {}
    stages: dict[str, Compared] = {}
    with sources_of(revision) as before:
        trees = (before, ROOT)
        head = heading(revision, before)
        for name in options.rows:
            if name != "stages":
                with tempfile.TemporaryDirectory() as place:
                    rows[name] = compare(name, ROWS[name], trees, options.turns, Path(place))
                print(rows_table({name: rows[name]})[-1], flush=True)
        with tempfile.TemporaryDirectory() as place:  # one study of each version for all stages
            for name in STAGES if "stages" in options.rows else ():
                stages[name] = compare(f"stage {name}", STAGES[name], trees, options.turns, Path(place))
                print(stages_table({name: stages[name]})[-1], flush=True)
    text = page(head, rows, stages)
    print(f"\n{text}\n{time.perf_counter() - start:.0f} s")
    if options.write:
        write(options.write, page(head, rows, {}))
    named = [name for name, each in (rows | {f"stage {k}": v for k, v in stages.items()}).items() if each.slower()]
    if named:
        print(f"slower than {SLOWER} times before: {', '.join(named)}")
    return 1 if named else 0


if __name__ == "__main__":
    sys.exit(main())

"""A study of four trials of the demo, small enough to be run again and again."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from study_runs import ROOT, demo_rows, demo_settings, write_trials

TRIALS = ("S01_sagittal_fast", "S02_horizontal_fast", "S03_walk_fast_1_left", "S03_walk_fast_1_right")
APART = {".lock", ".snakemake_timestamp"}  # in the results, and no result
LIMIT_S = 240.0  # of a run; a longer one hangs


def make_study(folder: Path) -> Path:
    """Two reaches and both legs of a walk, in three sessions."""
    (folder / "config").mkdir(parents=True)
    (folder / "config" / "config.yaml").write_text(demo_settings(), encoding="utf-8")
    shutil.copy(ROOT / "config" / "subjects.csv", folder / "config")
    rows = demo_rows(TRIALS)
    for row in rows:
        target = folder / row["file"]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / row["file"], target)
    write_trials(folder, rows)
    return folder


def words(folder: Path) -> list[str]:
    """The command of a run."""
    return [sys.executable, "-m", "limbtorque.cli.start", "run-study", str(folder), "--cores", "2"]


def environment(temporary: Path) -> dict[str, str]:
    """Environment of a run with a temporary folder of its own."""
    temporary.mkdir(parents=True, exist_ok=True)
    return {**os.environ, "TMPDIR": str(temporary), "OMP_NUM_THREADS": "1"}


def run(folder: Path, temporary: Path, *more: str) -> tuple[int, str]:
    """Exit code and output of a whole run; a run that takes too long is an error."""
    done = subprocess.run(
        [*words(folder), *more],
        env=environment(temporary),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=LIMIT_S,
        check=False,
    )
    return done.returncode, done.stdout


def results(folder: Path) -> dict[str, str]:
    """Hash of every result; of a link or a folder in place of a file, that it is one."""
    place = folder / "results"
    return {
        path.relative_to(folder).as_posix(): "a link" if path.is_symlink() else _hash(path)
        for path in sorted(place.rglob("*"))
        if (path.is_file() or path.is_symlink())
        and path.name not in APART
        and path.relative_to(place).parts[0] != "logs"
    }


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()

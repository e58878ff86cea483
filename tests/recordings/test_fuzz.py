"""A short fuzz run of every target, the same every time; `fuzz/fuzz_readers.py` runs longer ones."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "fuzz" / "fuzz_readers.py"
TARGETS = ("c3d", "trc", "sto", "qualisys", "vicon", "csv", "forces", "trials", "subjects", "settings")
RUNS = {**dict.fromkeys(TARGETS, 1000), "trials": 300, "subjects": 300}  # these read a whole study for each input
pytestmark = [
    pytest.mark.fuzz,
    pytest.mark.skipif(
        importlib.util.find_spec("atheris") is None, reason="the Python package atheris is not installed (make peers)"
    ),
]


def fuzz(tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, "--keep", tmp_path, *arguments]
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, errors="replace", check=False, timeout=300
    )


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_found(tmp_path: Path, target: str) -> None:
    done = fuzz(tmp_path, "--target", target, "--runs", RUNS[target], "--seed", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == f"{target}: {RUNS[target]} executions, nothing found"


def test_a_crash_is_reported(tmp_path: Path) -> None:
    """An input that no reader takes: more memory than there is for one."""
    (tmp_path / "input").write_bytes(b"allocate")
    done = fuzz(tmp_path, "--target", "trc", "--replay", tmp_path / "input", "--break")
    assert done.returncode == 1
    assert "MemoryError" in done.stdout

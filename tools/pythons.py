"""Run the fast tests on every supported Python that is installed; name the others as untested.

make pythons
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUPPORTED = ("3.11", "3.12", "3.13")
FAST = "not (slow or workflow or slurm or browser or attack)"


def main() -> None:
    uv = shutil.which("uv") or str(Path(sys.prefix) / "bin" / "uv")
    failed = []
    for version in SUPPORTED:
        found = subprocess.run([uv, "python", "find", "--no-python-downloads", version], capture_output=True, text=True)
        if found.returncode:
            print(f"Python {version}: not on the path, untested", flush=True)
            continue
        place = ROOT / f".venv-python{version}"
        python = place / "bin" / "python"
        install = [uv, "pip", "install", "--quiet", "--python", python, "--constraint", "constraints.txt"]
        tests = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", "-m", FAST]
        commands = (
            [uv, "venv", "--quiet", "--clear", "--python", found.stdout.strip(), place],
            [*install, "--editable", ".[dev]", "--group", "build"],
            tests,
        )
        passed = all(subprocess.run(command, cwd=ROOT).returncode == 0 for command in commands)
        print(f"Python {version}: {'passed' if passed else 'failed'}", flush=True)
        failed += [] if passed else [version]
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

"""Check that a tree can be released; ends with 1 at the first step that fails.

make release                                  all steps, in an environment of their own
.venv-release/bin/python tools/release.py --tree TREE --only metadata

The wheel and the sdist go to TREE/dist. The demo study of the unpacked sdist, run by the installed wheel, is compared with that of
the clone (`make demo`), byte by byte; the fast tests run from the unpacked sdist, without git.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pythons import FAST

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.prefix) / "bin"
INSTALLED = ".venv-wheel"  # environment of the installed wheel
CITATION = "cffconvert==2.0.0"  # by itself: it needs an older jsonschema than the others
IMPORTED = """
import importlib, pkgutil, limbtorque
names = [module.name for module in pkgutil.walk_packages(limbtorque.__path__, "limbtorque.")]
for name in names:
    importlib.import_module(name)
print(f"{len(names)} modules imported from {limbtorque.__path__[0]}")
"""
OPEN = "<!-- open -->"  # in docs/releasing.md: the lines after it name what only the owners know


class StepError(Exception):
    """A step that failed, with its command."""


def call(*command: object, cwd: Path, **environment: str) -> None:
    """Run a command of the environment; raise where it fails."""
    words = [str(word) for word in command]
    tool = BIN / words[0]
    words[0] = str(tool) if tool.exists() else words[0]
    print("$", " ".join(words), flush=True)
    if subprocess.run(words, cwd=cwd, env={**os.environ, **environment}, check=False).returncode:
        raise StepError(" ".join(words))


def metadata(tree: Path) -> None:
    """Metadata, citation file, licences of files, continuous integration."""
    call("validate-pyproject", "pyproject.toml", cwd=tree)
    call("uv", "tool", "run", "--quiet", "--from", CITATION, "cffconvert", "--validate", cwd=tree)
    call("reuse", "lint", "--quiet", cwd=tree)
    call("sp-repo-review", ".", cwd=tree)
    workflows = sorted((tree / ".github" / "workflows").glob("*.yml"))
    call("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows, cwd=tree)
    call("zizmor", "--offline", "--quiet", ".", cwd=tree)


def build(tree: Path) -> None:
    """Wheel and sdist, and what they contain."""
    shutil.rmtree(tree / "dist", ignore_errors=True)
    call("pyproject-build", "--no-isolation", "--outdir", "dist", ".", cwd=tree)
    made = sorted((tree / "dist").iterdir())
    call("twine", "check", "--strict", *made, cwd=tree)
    call("check-wheel-contents", *[path for path in made if path.suffix == ".whl"], cwd=tree)


def install(tree: Path) -> None:
    """Install the wheel with what the tests need, and import every module of it."""
    (wheel,) = (tree / "dist").glob("*.whl")
    call("uv", "venv", "--quiet", "--clear", tree / INSTALLED, cwd=tree)
    into = ("--quiet", "--python", tree / INSTALLED / "bin" / "python", "--constraint", tree / "constraints.txt")
    call("uv", "pip", "install", *into, f"{wheel}[dev]", "--group", "build", cwd=tree)
    call(tree / INSTALLED / "bin" / "python", "-P", "-c", IMPORTED, cwd=Path(tempfile.gettempdir()))


def demo(tree: Path) -> None:
    """Run the demo study of the sdist with the wheel; its results are those of the clone."""
    results = tree / "results"
    if not (results / "results.csv").is_file():
        raise StepError(f"{results}: no results of the clone; run `make demo` first")
    with tempfile.TemporaryDirectory() as place:
        study = unpacked(tree, Path(place))
        call(tree / INSTALLED / "bin" / "limbtorque", "run-study", ".", "--cores", "all", cwd=study)
        call(
            tree / INSTALLED / "bin" / "python",
            tree / "tools" / "compare_results.py",
            results,
            study / "results",
            cwd=study,
        )


def tests(tree: Path) -> None:
    """Run the fast tests from the sdist, on the installed wheel, without git."""
    with tempfile.TemporaryDirectory() as place:
        options = ("-q", "-n", os.cpu_count(), "--dist", "loadgroup", "-p", "no:cacheprovider", "-m", FAST)
        call(tree / INSTALLED / "bin" / "python", "-m", "pytest", *options, "tests", cwd=unpacked(tree, Path(place)))


def unpacked(tree: Path, place: Path) -> Path:
    """Folder of the sdist, unpacked."""
    (archive,) = (tree / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(place, filter="data")
    (folder,) = place.iterdir()
    return folder


def owners(tree: Path) -> None:
    """Name what only the owners know."""
    page = (tree / "docs" / "releasing.md").read_text(encoding="utf-8")
    for line in page.partition(OPEN)[2].splitlines():
        if line.startswith("- "):
            print(f"open: {line[2:]}")


STEPS: dict[str, Callable[[Path], None]] = {
    step.__name__: step for step in (metadata, build, install, demo, tests, owners)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=ROOT)
    parser.add_argument("--only", nargs="*", choices=STEPS, default=list(STEPS))
    options = parser.parse_args()
    for name in options.only:
        started = time.perf_counter()
        try:
            STEPS[name](options.tree.resolve())
        except StepError as failed:
            sys.exit(f"release: {name} failed: {failed}")
        print(f"release: {name} passed in {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()

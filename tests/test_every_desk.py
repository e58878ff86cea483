"""Computers without fork, Unix sockets, file locks and limits of memory: this package's modules do without them.

They are taken away from the modules of this package in every process, by a `sitecustomize` that Python loads first. Other
packages keep them. Nothing here shows that Windows or macOS work; README.md says what was tried.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from study_runs import make_plain_study, results, run

ROOT = Path(__file__).resolve().parents[1]
TAKEN_AWAY = """
import builtins, types

NO_MODULE = ("fcntl", "resource")
NO_NAME = {
    "os": ("fork", "waitpid", "WNOHANG", "getuid", "O_DIRECTORY", "O_NOFOLLOW", "readv", "pread"),
    "select": ("poll", "POLLIN"),
    "signal": ("SIGHUP", "SIGKILL", "pthread_sigmask", "setitimer", "SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK"),
    "socket": ("AF_UNIX", "send_fds", "recv_fds"),
}


class Without(types.ModuleType):
    def __init__(self, module):
        super().__init__(module.__name__)
        self.__dict__["whole"] = module

    def __getattr__(self, name):
        if name in NO_NAME[self.__name__]:
            raise AttributeError(f"module {self.__name__} has no {name} here")
        return getattr(self.__dict__["whole"], name)


def of_this_package(names):
    spec = names.get("__spec__")
    return (spec.name if spec is not None else names.get("__name__", "")).split(".")[0] == "limbtorque"


def import_without(name, globals=None, locals=None, fromlist=(), level=0, *, real=builtins.__import__):
    own = globals is not None and of_this_package(globals)
    if own and name in NO_MODULE:
        raise ModuleNotFoundError(f"no module {name} here")
    found = real(name, globals, locals, fromlist, level)
    return Without(found) if own and name in NO_NAME else found


builtins.__import__ = import_without
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("taken_away")
    (folder / "sitecustomize.py").write_text(TAKEN_AWAY, encoding="utf-8")
    places = [str(folder), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


def test_modules_are_imported_and_recordings_read_without_them(environment, tmp_path):
    code = f"""
import importlib, pkgutil
from operator import attrgetter
from pathlib import Path
import limbtorque
from limbtorque.errors import ReadError
from limbtorque.recordings import sandbox
from limbtorque.recordings.options import ReadOptions
assert sandbox.resource is None
for module in pkgutil.walk_packages(limbtorque.__path__, "limbtorque."):
    importlib.import_module(module.name)
path, frames = Path({str(ROOT / "data" / "demo" / "S01_sagittal_fast.c3d")!r}), attrgetter("n_frames")
with sandbox.GuardedReader() as reader:
    print(reader.read(path, options=ReadOptions(memory_limit_mb=512)).n_frames)
    sandbox.TIME_S = 1e-6
    try:
        reader.apply(frames, path, ReadOptions(memory_limit_mb=512))
    except ReadError as error:
        print(error)
    sandbox.TIME_S = 60.0
    print(reader.apply(frames, path, ReadOptions(memory_limit_mb=512)))
    reader._child.kill()
    reader._child.wait()
    print(reader.apply(frames, path, ReadOptions(memory_limit_mb=512)))
"""
    environment = {**environment, "TMPDIR": str(tmp_path)}
    words = [sys.executable, "-W", "error::UserWarning", "-c", code]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, stopped, *again = done.stdout.splitlines()
    assert (first, again) == ("251", ["251", "251"])
    assert stopped.startswith("S01_sagittal_fast.c3d: reading was stopped after 1e-06 s")


@pytest.mark.workflow
@pytest.mark.slow
def test_a_study_has_the_same_results_without_them(environment, tmp_path):
    whole, less = (make_plain_study(tmp_path / name, ["S01_sagittal_fast"]) for name in ("whole", "less"))
    run(whole)
    words = ["-m", "limbtorque.cli.start", "run-study", str(less), "--cores", "1"]
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    mine, theirs = (
        {name: found for name, found in results(folder).items() if name.endswith((".csv", ".parquet"))}
        for folder in (less, whole)
    )
    assert len(mine) > 8
    assert mine == theirs

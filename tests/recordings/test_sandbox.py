"""The reading process: same results, limits of memory and time, its death and its imports."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from c3d_files import positions, write_c3d
from limbtorque.errors import ReadError
from limbtorque.recordings import sandbox
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.sandbox import GuardedReader

LIMITS = {"memory_limit_mb": 512, "time_limit_s": 30.0}
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*use of fork:DeprecationWarning"
)  # Python 3.12, libraries with threads


@pytest.fixture(params=["executed", "forked"], autouse=True)
def forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Children as elsewhere, and as in the jobs of a run."""
    monkeypatch.setattr(sandbox, "_forks", request.param == "forked")
    return bool(request.param == "forked")


def child_of(reader: GuardedReader) -> subprocess.Popen[bytes] | sandbox._Forked:
    assert reader._child is not None
    return reader._child.process


def test_guarded_gives_the_same(small: Path) -> None:
    direct = read_c3d(small)
    with GuardedReader() as reader:
        first = reader.read(small, **LIMITS)
        child = child_of(reader)
        second = reader.read(small, **LIMITS)
        assert child_of(reader) is child
    np.testing.assert_array_equal(first.markers_m, direct.markers_m)
    assert second.sha256 == direct.sha256
    assert second.labels == direct.labels
    assert child.returncode is not None


def test_guarded_read_error_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.c3d"
    path.write_bytes(b"")
    with GuardedReader() as reader:
        for _ in range(2):
            with pytest.raises(ReadError, match=r"^a.c3d: the file is empty"):
                reader.read(path, **LIMITS)


def test_killed_child_is_replaced(small: Path) -> None:
    with GuardedReader() as reader:
        reader.read(small, **LIMITS)
        child_of(reader).kill()
        child_of(reader).wait()
        assert reader.read(small, **LIMITS).n_frames == 10
        os.kill(child_of(reader).pid, signal.SIGSTOP)  # in the midst of a read
        with pytest.raises(ReadError, match=r"small.c3d: reading was stopped after 0.2 s \(reading.time_limit_s\)"):
            reader.read(small, memory_limit_mb=512, time_limit_s=0.2)
        assert reader.read(small, **LIMITS).n_frames == 10


def test_child_that_dies_while_reading(small: Path) -> None:
    with GuardedReader() as reader:
        reader.read(small, **LIMITS)
        pid = child_of(reader).pid
        os.kill(pid, signal.SIGSTOP)
        killer = subprocess.Popen([sys.executable, "-c", f"import os,time; time.sleep(0.3); os.kill({pid}, 9)"])
        with pytest.raises(ReadError, match=r"small.c3d: the reading process was ended by SIGKILL"):
            reader.read(small, **LIMITS)
        killer.wait()
        assert reader.read(small, **LIMITS).n_frames == 10


def test_memory_limit(tmp_path: Path, forks: bool) -> None:
    """In a process of its own: a forked child uses what its parent has free before it asks for more."""
    write_c3d(tmp_path / "large.c3d", np.ones((6_000, 60, 3)))
    write_c3d(tmp_path / "little.c3d", positions())
    script = (
        "from pathlib import Path; from limbtorque.errors import ReadError\n"
        "from limbtorque.recordings.sandbox import GuardedReader, fork_readers\n"
        f"{'fork_readers()' if forks else ''}\n"
        "with GuardedReader() as reader:\n"
        "    for name, limit_mb in (('large', 16), ('little', 64), ('large', 512)):\n"
        "        try: print(reader.read(Path(f'{name}.c3d'), memory_limit_mb=limit_mb, time_limit_s=30.0).n_frames)\n"
        "        except ReadError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    refused, *read = done.stdout.splitlines()
    assert re.match(r"large.c3d: .*reading.memory_limit_mb", refused)
    assert read == ["10", "6000"]


def test_child_ends_with_its_parent(small: Path, tmp_path: Path, forks: bool) -> None:
    script = (
        "import os, sys; from pathlib import Path; from limbtorque.recordings.sandbox import GuardedReader, fork_readers\n"
        f"{'fork_readers()' if forks else ''}\n"
        "reader = GuardedReader(); reader.read(Path(sys.argv[1]), memory_limit_mb=512, time_limit_s=30.0)\n"
        "print(reader._child.process.pid, flush=True); os._exit(1)\n"
    )
    out = subprocess.run([sys.executable, "-c", script, small], capture_output=True, text=True, cwd=tmp_path)
    pid = int(out.stdout)
    for _ in range(3000):  # a minute
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            if "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
                time.sleep(0.02)
                continue
        return
    pytest.fail("the child outlives its parent")


def test_child_keeps_no_file_of_its_parent(small: Path, tmp_path: Path) -> None:
    """A pipe of the parent ends with the parent, and nothing that the child prints gets among its output."""
    with (tmp_path / "held").open("w"), GuardedReader() as reader:
        reader.read(small, **LIMITS)
        files = Path(f"/proc/{child_of(reader).pid}/fd").iterdir()
        names = {int(file.name): str(file.readlink()) for file in files}
    assert len(names) == 5
    assert {names[0], names[1]} == {os.devnull}
    assert not any("held" in name for name in names.values())


def test_light_imports() -> None:
    """The parent does not load the C++ library, the child nothing heavy."""
    code = "import sys, limbtorque.recordings.sandbox; print('ezc3d' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
    heavy = "{'pandas', 'scipy', 'pydantic', 'yaml'}"
    code = f"import sys, limbtorque.recordings.c3d.read; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"

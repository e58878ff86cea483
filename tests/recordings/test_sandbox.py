"""Reading within limits: in this process and in a child, their limits of memory and time, the child's death and its imports."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

from c3d_files import positions, write_c3d
from limbtorque.errors import ReadError
from limbtorque.recordings import sandbox
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader

LIMITED = ReadOptions(memory_limit_mb=512)
N_FRAMES = attrgetter("n_frames")


def child_of(reader: GuardedReader) -> subprocess.Popen[bytes]:
    assert reader._child is not None
    return reader._child


def test_guarded_gives_the_same(small: Path) -> None:
    direct = read_c3d(small)
    with GuardedReader() as reader:
        read = reader.read(small, options=LIMITED)
        assert reader._child is None  # our reader needs none
        first = reader.apply(attrgetter("markers_m", "sha256"), small, LIMITED)
        child = child_of(reader)
        assert reader.apply(attrgetter("labels"), small, LIMITED) == direct.labels
        assert child_of(reader) is child
    assert child.returncode is not None
    np.testing.assert_array_equal(read.markers_m, direct.markers_m)
    np.testing.assert_array_equal(first[0], direct.markers_m)
    assert first[1] == read.sha256 == direct.sha256


def test_killed_child_is_replaced(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with GuardedReader() as reader:
        reader.apply(N_FRAMES, small, LIMITED)
        child_of(reader).kill()
        child_of(reader).wait()
        assert reader.apply(N_FRAMES, small, LIMITED) == 10
        os.kill(child_of(reader).pid, signal.SIGSTOP)  # in the midst of a read
        monkeypatch.setattr(sandbox, "TIME_S", 0.2)
        with pytest.raises(ReadError, match=r"small.c3d: reading was stopped after 0.2 s"):
            reader.apply(N_FRAMES, small, LIMITED)
        monkeypatch.undo()
        assert reader.apply(N_FRAMES, small, LIMITED) == 10


def test_child_that_dies_while_reading(small: Path) -> None:
    with GuardedReader() as reader:
        reader.apply(N_FRAMES, small, LIMITED)
        pid = child_of(reader).pid
        os.kill(pid, signal.SIGSTOP)
        killer = subprocess.Popen([sys.executable, "-c", f"import os,time; time.sleep(0.3); os.kill({pid}, 9)"])
        with pytest.raises(ReadError, match=r"small.c3d: the reading process was ended by SIGKILL"):
            reader.apply(N_FRAMES, small, LIMITED)
        killer.wait()
        assert reader.apply(N_FRAMES, small, LIMITED) == 10


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("x"), "a.c3d: reading failed with KeyError: 'x'"),
        (MemoryError(), "a.c3d: reading needs more than 512"),
    ],
)
def test_whatever_goes_wrong_concerns_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def failing(*_: object) -> Recording:
        raise error

    monkeypatch.setattr("limbtorque.recordings.sandbox.read_with_forces", failing)
    with GuardedReader() as reader, pytest.raises(ReadError, match=said):
        reader.read(tmp_path / "a.c3d", options=LIMITED)


def test_memory_limit(tmp_path: Path) -> None:
    large, little = write_c3d(tmp_path / "large.c3d", np.ones((60_000, 60, 3))), tmp_path / "little.c3d"
    write_c3d(little, positions())
    with GuardedReader() as reader:
        for read in (reader.read, lambda path, *, options: reader.apply(N_FRAMES, path, options)):
            with pytest.raises(
                ReadError, match=r"large.c3d: reading needs about \d+ MB, more than 128 MB \(reading.mem"
            ):
                read(large, options=ReadOptions(memory_limit_mb=128))
        assert reader.read(little, options=LIMITED).n_frames == 10
        assert reader.read(large, options=LIMITED).n_frames == 60_000


def grown(_: Recording) -> int:
    return len(bytearray(2**30))


def test_memory_limit_of_the_child(small: Path) -> None:
    """Python runs out of memory, and the next read gets a new child."""
    code = "from test_sandbox import *; reader = GuardedReader(); small = Path(sys.argv[1])\n"
    code += "try: reader.apply(grown, small, LIMITED)\nexcept ReadError as error: print(error)\n"
    code += "print(reader.apply(N_FRAMES, small, LIMITED))\n"
    paths = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", code, small],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    refused, read = done.stdout.splitlines()
    assert refused.startswith("small.c3d: reading needs more than 512 MB (reading.memory_limit_mb)")
    assert read == "10"


def test_child_ends_with_its_parent(small: Path) -> None:
    script = (
        "import os, sys; from operator import attrgetter; from pathlib import Path\n"
        "from limbtorque.recordings.options import ReadOptions\n"
        "from limbtorque.recordings.sandbox import GuardedReader\n"
        "reader = GuardedReader()\n"
        "reader.apply(attrgetter('n_frames'), Path(sys.argv[1]), ReadOptions(memory_limit_mb=512))\n"
        "print(reader._child.pid, flush=True); os._exit(1)\n"
    )
    out = subprocess.run([sys.executable, "-c", script, small], capture_output=True, text=True)
    pid = int(out.stdout)
    for _ in range(3000):  # a minute
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            if "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
                time.sleep(0.02)
                continue
        return
    pytest.fail("the child outlives its parent")


def test_light_imports() -> None:
    """Nobody loads the C++ library before it is asked for, and the reader of C3D nothing else that is heavy."""
    heavy = "{'pandas', 'scipy', 'pydantic', 'yaml'}"
    for module, names in (("sandbox", "{'ezc3d'}"), ("c3d.read", heavy)):
        code = f"import sys, limbtorque.recordings.{module}; print(sorted({names} & set(sys.modules)))"
        assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"

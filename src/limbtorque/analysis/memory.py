"""Memory of long trials, estimated before it is used."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from pathlib import Path

from limbtorque.errors import SignalError
from limbtorque.recordings.recording import Recording

BYTES_PER_FRAME = 2200  # of a trial after its recording was read; benchmarks/scale.py measures it
FEWEST_FRAMES = 100_000  # shorter trials need less than the libraries
_CGROUP = Path("/sys/fs/cgroup")
_KEPT_BYTES = 32 * 2**20  # of freed memory
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of glibc's mallopt


def refuse_too_long(recording: Recording) -> None:
    """Refuse a recording that needs more memory than available.

    Parameters
    ----------
    recording : Recording
        The recording.

    Raises
    ------
    SignalError
        The message has the estimate, the available memory and what to do.

    Notes
    -----
    Beside the markers, which are read already, every frame takes `BYTES_PER_FRAME` at most, by whatever filter and choice of its
    cut-off: the whole signal is filtered at once, and the forces of muscles come in stretches.
    """
    needed, available = BYTES_PER_FRAME * recording.n_frames, available_bytes()
    if recording.n_frames >= FEWEST_FRAMES and needed > available:
        raise SignalError(
            f"{recording.source}: {recording.n_frames} frames need about {needed / 1e9:.1f} GB of memory, {available / 1e9:.1f} GB are "
            "available; analyse parts of it as separate trials (start_s and end_s), or use a machine with more memory"
        )


def keep_freed_memory() -> bool:
    """Keep part of the freed memory in the process.

    Returns
    -------
    bool
        False where the C library cannot be told so: nothing changes there.

    Notes
    -----
    The bands of a trial take and free arrays of some megabytes, stretch by stretch. By default glibc gives each back to the
    system, which clears it again for the next one: a third of their time.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _KEPT_BYTES // 2) and mallopt(_TRIM_THRESHOLD, _KEPT_BYTES))


def available_bytes() -> float:
    """Available memory, within the limit of a control group; infinite if unknown."""
    found = [float("inf")]
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found.append(1024.0 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]))
    with contextlib.suppress(OSError, ValueError):
        most, used = (int((_CGROUP / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
        found.append(float(most - used))
    return min(found)

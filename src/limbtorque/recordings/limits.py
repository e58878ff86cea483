"""Limits of the reading process, as far as the operating system has them.

Linux limits address space and time. Elsewhere the process that waits limits the time, and memory is not limited.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_STATM = Path("/proc/self/statm")


def leave_no_core() -> None:
    """Write no core file where this process is killed."""
    if sys.platform != "win32" and resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def address_space() -> int:
    """Address space of this process, bytes; 0 where the system does not say."""
    if sys.platform == "win32" or resource is None or not _STATM.exists():
        return 0
    return int(_STATM.read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def set_limits(n_bytes: int, time_s: float) -> None:
    """Limit the address space, bytes, and the time until this process ends, s."""
    if sys.platform == "win32":
        return
    if resource is not None and _STATM.exists():
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(
            resource.RLIMIT_AS, (n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard), hard)
        )
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, time_s)


def lift_limits() -> None:
    """Lift the limits, as far as they were not there before."""
    if sys.platform == "win32":
        return
    if resource is not None and _STATM.exists():
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)

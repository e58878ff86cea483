"""Sample the stack of a process after each millisecond of its processor time.

`where_time_goes.py` has every process of a run import this at its start. The sums lie in a file that is mapped into memory, so
that they are there however the process ends.
"""

from __future__ import annotations

import atexit
import mmap
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path
from types import FrameType

KINDS = (
    "start",
    "Snakemake",
    "study, layout, keys",
    "read",
    "filter",
    "motion",
    "dynamics",
    "bands",
    "verdict",
    "optimization",
    "curves, summaries",
    "tables",
    "CSV",
    "Parquet written",
    "Parquet read",
    "records, hashes",
    "figures",
    "pages",
)
STAGES = (
    "run",  # all that is not done in a stage: Snakemake, starts
    "kinematics",
    "torques",
    "muscles",
    "curves",
    "ensembles",
    "figures",
    "pages",
    "collect",
    "verdict",
    "study_figures",
    "report",
)
INTERVAL_S = 1e-3
AFTER_FORK_S = 0.05  # a child that starts another program keeps the timer, and has no handler until it imports this
_WORK = (  # end of a folder or module, function if not all, and the kind of work; the first that fits
    ("pyarrow/parquet/core.py", "", "Parquet written"),  # or read, as a frame outside tells
    ("limbtorque/tables/files.py", "read_table", "Parquet read"),
    ("limbtorque/tables/files.py", "read_record", "Parquet read"),
    ("limbtorque/tables/files.py", "read_extremes", "Parquet read"),
    ("limbtorque/tables/files.py", "make_table", "tables"),
    ("limbtorque/tables/files.py", "arrow_array", "tables"),
    ("limbtorque/tables/files.py", "column_array", "tables"),
    ("limbtorque/tables/files.py", "column_values", "tables"),
    ("limbtorque/tables/files.py", "", "CSV"),
    ("limbtorque/tables/", "", "tables"),
    ("limbtorque/workflow/session_record.py", "", "records, hashes"),
    ("limbtorque/workflow/stages/", "", ""),  # the frame outside tells
    ("limbtorque/workflow/run_session.py", "", "records, hashes"),
    ("limbtorque/workflow/job.py", "", "start"),
    ("limbtorque/workflow/worker.py", "", "start"),
    ("limbtorque/workflow/", "", "study, layout, keys"),
    ("limbtorque/study/files.py", "", ""),
    ("limbtorque/study/", "", "study, layout, keys"),
    ("limbtorque/recordings/", "", "read"),
    ("limbtorque/signals/", "", "filter"),
    ("limbtorque/motion/smoothing.py", "", "filter"),
    ("limbtorque/motion/", "", "motion"),
    ("limbtorque/chain/", "", "dynamics"),
    ("limbtorque/torques/", "", "dynamics"),
    ("limbtorque/simulation/", "", "dynamics"),
    ("limbtorque/ground/", "", "motion"),
    ("limbtorque/uncertainty/", "", "bands"),
    ("limbtorque/quality/", "", "verdict"),
    ("limbtorque/muscles/", "", "optimization"),
    ("limbtorque/statistics/", "", "curves, summaries"),
    ("limbtorque/figures/", "", "figures"),
    ("limbtorque/report/", "", "pages"),
    ("limbtorque/", "", "start"),
    ("importlib._bootstrap>", "", "start"),
    ("snakemake", "", "Snakemake"),
)
_numbers = count()


def start() -> None:
    """Sample this process and those that are forked from it."""
    if "LIMBTORQUE_SAMPLES" in os.environ:
        _Sampler()


class _Sampler:
    def __init__(self) -> None:
        signal.signal(signal.SIGPROF, self._sample)
        atexit.register(signal.setitimer, signal.ITIMER_PROF, 0.0)  # afterwards nobody would take the signal
        self._begin(time.process_time())
        os.register_at_fork(after_in_child=lambda: self._begin(0.0, first_s=AFTER_FORK_S))

    def _begin(self, used_s: float, *, first_s: float = INTERVAL_S) -> None:
        """Sums of a new process, which took so long until now."""
        path = Path(os.environ["LIMBTORQUE_SAMPLES"]) / f"{os.getpid()}_{next(_numbers)}_{time.monotonic_ns()}"
        path.write_bytes(bytes(8 * len(STAGES) * len(KINDS)))
        with path.open("r+b") as file:
            self._sums = memoryview(mmap.mmap(file.fileno(), 0)).cast("d")
        self._sums[KINDS.index("start")] = used_s
        self._last_s = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, first_s, INTERVAL_S)

    def _sample(self, _number: int, frame: FrameType | None) -> None:
        now_s = time.process_time()
        place = _place(frame)
        self._sums[place] += now_s - self._last_s
        self._last_s = now_s


def _place(frame: FrameType | None) -> int:
    """Number of a stack's stage and kind of work among the sums."""
    kind, stage = "", "run"
    while frame is not None:
        file = frame.f_code.co_filename
        if kind in ("", "Parquet written"):
            found = _kind(file, frame.f_code.co_name)
            kind = found if not kind or found == "Parquet read" else kind
        if "limbtorque/workflow/stages/" in file:
            stage = Path(file).stem
        frame = frame.f_back
    if not kind:
        kind = "Snakemake" if "snakemake" in " ".join(sys.orig_argv[:4]) else "start"
    return STAGES.index(stage if stage in STAGES else "run") * len(KINDS) + KINDS.index(kind)


def _kind(file: str, function: str) -> str:
    for part, name, kind in _WORK:
        if part in file and name in ("", function):
            return kind
    return ""

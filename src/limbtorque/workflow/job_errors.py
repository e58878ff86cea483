"""Why a job could not be done, where Snakemake does not say so."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def show() -> None:
    """Print what an executor says of a job or group of jobs that it could not submit or that failed, on standard error.

    Snakemake 9 throws the message of a group away (`GroupJob.log_error`), and that of a job with ``quiet: rules``; without it
    a partition that does not exist ends a run without a reason.
    """
    from snakemake.jobs import GroupJob, Job

    for kind in (Job, GroupJob):
        if not hasattr(kind.log_error, "__wrapped__"):
            kind.log_error = _telling(kind.log_error)


def _telling(log_error: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(log_error)
    def tell(self: Any, msg: str | None = None, aux_logs: list[str] | None = None, **more: Any) -> None:
        if msg:
            print(msg, file=sys.stderr, flush=True)
        for log in aux_logs or ():
            print(f"what the job printed: {log}", file=sys.stderr, flush=True)
        log_error(self, msg=msg, aux_logs=aux_logs, **more)

    return tell

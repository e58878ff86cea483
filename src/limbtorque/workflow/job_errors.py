"""Print the reason why a job failed, where Snakemake does not.

Snakemake 9 discards the message of a group of jobs (`GroupJob.log_error`), and that of a job with ``quiet: rules``; without it
a partition that does not exist ends a run without a reason. Reported upstream, in part:
https://github.com/snakemake/snakemake/issues/4248 (groups). Remove `show` when that is closed. With ``--quiet all`` it prints no
error at all.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from limbtorque.errors import LimbtorqueError
from limbtorque.workflow.streams import say

if TYPE_CHECKING:
    from snakemake.settings.types import OutputSettings


def show() -> None:
    """Print an executor's messages about failed jobs on standard error."""
    from snakemake.jobs import GroupJob, Job

    for kind in (Job, GroupJob):
        if not hasattr(kind.log_error, "__wrapped__"):
            kind.log_error = _printing(kind.log_error)


@contextlib.contextmanager
def shown(settings: OutputSettings) -> Iterator[None]:
    """Print an error of this program where Snakemake prints none.

    Parameters
    ----------
    settings : OutputSettings
        Snakemake's own; with ``quiet: all`` it prints nothing but dry runs.
    """
    from snakemake.settings.enums import Quietness

    try:
        yield
    except LimbtorqueError as error:
        if Quietness.ALL in (settings.quiet or ()) and not settings.dryrun:
            say(str(error))
        raise


def _printing(log_error: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(log_error)
    def print_and_log(self: Any, msg: str | None = None, aux_logs: list[str] | None = None, **more: Any) -> None:
        if msg:
            say(msg)
        for log in aux_logs or ():
            say(f"output of the job: {log}")
        log_error(self, msg=msg, aux_logs=aux_logs, **more)

    return print_and_log

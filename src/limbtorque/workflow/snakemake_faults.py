"""Corrections of Snakemake bugs, to be removed once fixed upstream."""

from __future__ import annotations

import functools
import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from typing import Any

from limbtorque.workflow.operating_system import say


def forget_reasons(workflow: Any) -> bool:
    """Recompute the reasons of waiting jobs after a checkpoint.

    After a checkpoint Snakemake 9 determines again which jobs to run, but keeps earlier reasons: a session
    with unchanged cut-offs would not repeat its kinematics, but all later stages
    (https://github.com/snakemake/snakemake/issues/1818).

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow, when it starts.

    Returns
    -------
    bool
        True where this Snakemake can be asked to.
    """
    dag: Any = getattr(workflow, "dag", None)
    update = getattr(dag, "postprocess_after_update", None)
    if update is None or not hasattr(dag, "_running"):
        return False

    @functools.wraps(update)
    async def forget_and_update() -> None:
        for job in dag.jobs:
            if not dag.finished(job) and job not in dag._running:
                dag.reason(job).clear()
        await update()

    dag.postprocess_after_update = forget_and_update
    return True


DEFAULT = (100, 1.0)  # jobs, seconds: Snakemake's own --max-jobs-per-timespan


def unpace(workflow: Any) -> bool:
    """Remove the default limit of jobs per second; a requested limit stays.

    For this limit Snakemake 9 checks all waiting jobs every second, and each finished job adds another such check:
    after N jobs it checks N times per second, which occupies a core from a few hundred jobs on (https://github.com/snakemake/snakemake/pull/3744).

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow, when it starts.

    Returns
    -------
    bool
        True where it was taken off.
    """
    scheduler: Any = getattr(workflow, "scheduler", None)
    limit = getattr(getattr(workflow, "scheduling_settings", None), "max_jobs_per_timespan", None)
    found = (getattr(limit, "max_jobs", None), getattr(limit, "timespan", None))
    if found != DEFAULT or getattr(scheduler, "job_rate_limiter", None) is None:
        return False
    scheduler.job_rate_limiter = None
    return True


def show() -> None:
    """Print an executor's messages about failed jobs on standard error.

    Snakemake 9 discards the message of a group of jobs, and that of a job with ``quiet: rules``; without it a partition that does
    not exist ends a run without a reason (https://github.com/snakemake/snakemake/issues/4248, groups).
    """
    from snakemake.jobs import GroupJob, Job

    for kind in (Job, GroupJob):
        if not hasattr(kind.log_error, "__wrapped__"):
            kind.log_error = _printing(kind.log_error)


def _printing(log_error: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(log_error)
    def print_and_log(self: Any, msg: str | None = None, aux_logs: list[str] | None = None, **more: Any) -> None:
        if msg:
            say(msg)
        for log in aux_logs or ():
            say(f"output of the job: {log}")
        log_error(self, msg=msg, aux_logs=aux_logs, **more)

    return print_and_log


def wait_for_jobs() -> None:
    """Delay SIGINT until Snakemake has started its job and waited for all jobs.

    An interrupt within `ThreadPoolExecutor.submit` leaves a thread unknown to its pool; a second interrupt ends the wait
    for all threads. With running jobs Snakemake ends with a traceback (no upstream issue).
    """
    from snakemake.executors.local import Executor

    for name in ("run_job", "cancel"):
        function = getattr(Executor, name)
        if not hasattr(function, "__wrapped__"):
            setattr(Executor, name, whole(function))


def whole(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function during which SIGINT is delayed."""

    @functools.wraps(function)
    def call(*args: Any) -> None:
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or current_thread() is not main_thread():
            function(*args)
            return
        came: list[int] = []
        signal.signal(signal.SIGINT, lambda number, _: came.append(number))
        try:
            function(*args)
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if came:
            raise KeyboardInterrupt

    return call

"""Take Snakemake's default limit of 100 jobs a second off its scheduler.

To keep the limit, Snakemake 9 looks at all waiting jobs again a second after it did so, and each job that ends adds another
such chain: with N jobs behind it, it goes through all that wait N times a second, which takes a whole core from some hundred
jobs on. Reported upstream: https://github.com/snakemake/snakemake/pull/3744. Remove this module when that is merged.
"""

from __future__ import annotations

from typing import Any

DEFAULT = (100, 1.0)  # jobs, seconds: Snakemake's own --max-jobs-per-timespan


def unpace(workflow: Any) -> bool:
    """Take the default limit off a run; a limit that was asked for stays.

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

"""Forget why jobs had to run when a checkpoint has changed the graph of jobs.

After a checkpoint Snakemake 9 finds out again which jobs have to run, but keeps the reasons of before: a session whose cut-offs
turned out to be the same would not repeat its kinematics, but all that follows. Reported upstream:
https://github.com/snakemake/snakemake/issues/1818. Remove this module when that is mended.
"""

from __future__ import annotations

import functools
from typing import Any


def forget_reasons(workflow: Any) -> bool:
    """Let every job that waits find its reason anew after a checkpoint.

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

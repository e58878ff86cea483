"""Repeat sessions with damaged files, which Snakemake does not notice.

Snakemake looks at the time of a ``directory()``, not at its files, so that a session that lost a table counts as up to date (not
reported upstream). While the workflow is read, the folders are compared with their records; those that differ are forced as
soon as Snakemake has its graph of jobs, as ``--forcerun`` would, but only where this run needs them. A parameter of the rule
would not do: Snakemake records it, and makes the session once more in the next run. Remove this module when Snakemake
compares the contents of folders.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

from limbtorque.study.study import Study
from limbtorque.workflow.layout import SOURCES, session_folder, sessions_of
from limbtorque.workflow.session_record import faults

_SHOWN = 3
Damaged = dict[tuple[str, str], dict[str, str]]


def damaged_sessions(study: Study) -> Damaged:
    """Sessions that differ from their record: stage, session, files, faults."""
    found: Damaged = {}
    for stage in ("cutoffs", *SOURCES):
        for session in sessions_of(stage, study):
            if (study.folder / session_folder(stage, session)).is_dir():
                found[stage, session] = faults(stage, session, study.folder)
    return {key: wrong for key, wrong in found.items() if wrong}


def force_damaged(workflow: Any, study: Study) -> bool:
    """Force the damaged sessions of this run.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow, while its Snakefile is read. In the processes of single jobs nothing is done.
    study : Study
        The study.

    Returns
    -------
    bool
        True where a session is damaged, and this Snakemake can be asked to make it again.
    """
    prepare = getattr(workflow, "_prepare_dag", None)
    if prepare is None or not getattr(workflow, "is_main_process", False):
        return False
    damaged = damaged_sessions(study)
    if not damaged:
        return False
    _report(damaged)

    @functools.wraps(prepare)
    def prepare_and_force(*args: Any, **options: Any) -> None:
        prepare(*args, **options)
        workflow.dag.forcefiles.update(str(session_folder(*key)) for key in damaged)

    workflow._prepare_dag = prepare_and_force
    return True


def _report(damaged: Mapping[tuple[str, str], Mapping[str, str]]) -> None:
    for (stage, session), wrong in list(damaged.items())[:_SHOWN]:
        name, fault = next(iter(wrong.items()))
        print(f"{session_folder(stage, session)}: {name} is {fault}; the session is repeated", file=sys.stderr)
    if len(damaged) > _SHOWN:
        print(f"and {len(damaged) - _SHOWN} more sessions with damaged files", file=sys.stderr)

"""Repeat outputs with damaged files, which Snakemake does not notice.

Snakemake looks at the time of an output, so that a session that lost a table and a table that was emptied or edited count as up
to date (no upstream issue). While the workflow is read, folders and files are compared with their records; those that differ are forced as
soon as Snakemake has its graph of jobs, as ``--forcerun`` would, but only where this run needs them. A parameter of the rule
would not do: Snakemake records it, and makes the session once more in the next run. Remove this module when Snakemake
compares the contents of folders.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limbtorque.study.study import Study
from limbtorque.workflow.layout import SOURCES, session_folder, sessions_of, stages_of, study_files
from limbtorque.workflow.left_over import remove_broken_links
from limbtorque.workflow.session_record import Contents, faults, study_faults
from limbtorque.workflow.streams import say

VERIFY = "LIMBTORQUE_VERIFY"  # environment variable: compare the contents of all files (run-study --verify)
_SHOWN = 3
Damaged = dict[str, dict[str, str]]


def damaged_outputs(study: Study, *, contents: Contents = "newer") -> Damaged:
    """Outputs that differ from their record: path, then files and faults.

    Parameters
    ----------
    study : Study
        The study.
    contents : {"none", "newer", "all"}, optional
        Files whose contents are compared, as of `limbtorque.workflow.session_record.faults`.
    """
    found: Damaged = {}
    for stage in ("cutoffs", *SOURCES):
        for session in sessions_of(stage, study):
            place = session_folder(stage, session)
            if (study.folder / place).is_dir():
                found[place.as_posix()] = faults(stage, session, study.folder, contents=contents)
            elif (study.folder / place).exists():
                found[place.as_posix()] = {place.name: "a file, not a folder"}
    for stage in ("settings", *stages_of(study)):
        found |= {
            path: {Path(path).name: fault} for path, fault in study_faults(stage, study, contents=contents).items()
        }
    return {path: wrong for path, wrong in found.items() if wrong}


def missing_outputs(study: Study) -> list[str]:
    """Outputs that do not exist, which Snakemake makes again by itself."""
    folders = [
        session_folder(stage, session) for stage in ("cutoffs", *SOURCES) for session in sessions_of(stage, study)
    ]
    files = [path for stage in ("settings", *stages_of(study)) for path in study_files(stage, study)]
    return [path.as_posix() for path in (*folders, *files) if not (study.folder / path).exists()]


def force_damaged(workflow: Any, study: Study) -> bool:
    """Force the damaged outputs of this run; remove links to nothing in their places.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow, while its Snakefile is read. In the processes of single jobs nothing is done.
    study : Study
        The study.

    Returns
    -------
    bool
        True where an output is damaged, and this Snakemake can be asked to make it again.
    """
    prepare = getattr(workflow, "_prepare_dag", None)
    if prepare is None or not getattr(workflow, "is_main_process", False):
        return False
    remove_broken_links(study)
    damaged = damaged_outputs(study, contents="all" if os.environ.get(VERIFY) else "newer")
    if not damaged:
        return False
    _report(damaged)

    @functools.wraps(prepare)
    def prepare_and_force(*args: Any, **options: Any) -> None:
        prepare(*args, **options)
        workflow.dag.forcefiles.update(damaged)

    workflow._prepare_dag = prepare_and_force
    return True


def _report(damaged: Mapping[str, Mapping[str, str]]) -> None:
    for path, wrong in list(damaged.items())[:_SHOWN]:
        name, fault = next(iter(wrong.items()))
        say(f"{path}: {name} is {fault}; it is repeated")
    if len(damaged) > _SHOWN:
        say(f"and {len(damaged) - _SHOWN} more damaged outputs")

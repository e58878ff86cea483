"""Sessions with a damaged file are made again: what Snakemake does not see inside an output folder.

Snakemake looks at the time of a ``directory()``, not at its files, so that a session that lost a table counts as up to date
(not reported upstream). While the workflow is read, the folders are compared with their records, and those that differ are
added to ``--forcerun``, for this run only: a parameter of the rule would be recorded and make the session again twice.
Remove this module when Snakemake compares the contents of folders.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from limbtorque.study.study import Study
from limbtorque.workflow.layout import SOURCES, session_folder, sessions_of
from limbtorque.workflow.session_record import faults

_SHOWN = 3


def damaged_sessions(study: Study) -> dict[tuple[str, str], dict[str, str]]:
    """Sessions whose files are not as their record says, by stage and session, with the files and what is wrong."""
    found = {}
    for stage in ("cutoffs", *SOURCES):
        for session in sessions_of(stage, study):
            if (study.folder / session_folder(stage, session)).is_dir() and (
                wrong := faults(stage, session, study.folder)
            ):
                found[stage, session] = wrong
    return found


def force_damaged(workflow: Any, study: Study) -> list[str]:
    """Have damaged sessions made again by this run, as ``--forcerun`` would.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
        The workflow, while its Snakefile is read. In the processes of single jobs nothing is done.
    study : Study
        The study.

    Returns
    -------
    list of str
        Folders that are made again.
    """
    settings = getattr(workflow, "dag_settings", None)
    if settings is None or not getattr(workflow, "is_main_process", False):
        return []
    damaged = {key: wrong for key, wrong in damaged_sessions(study).items() if _asked_for(*key, settings.targets or ())}
    folders = [str(session_folder(*key)) for key in damaged]
    if folders:
        settings.forcerun = frozenset(settings.forcerun) | frozenset(folders)
        _tell(damaged)
    return folders


def _asked_for(stage: str, session: str, targets: Iterable[str]) -> bool:
    """Return True unless all targets are folders of sessions that are made without this one.

    What is forced becomes a target: ``snakemake results/torques/S01`` should not make another session, nor a later stage.
    """
    asked = [Path(target).parts[-2:] for target in targets]
    alone = all(len(parts) == 2 and (parts[0] in SOURCES or parts[0] == "trials") for parts in asked)
    if not asked or not alone:
        return True
    return any(
        session == name and stage in ("cutoffs", wanted, *_before(wanted))
        for wanted, name in ((("pages" if kind == "trials" else kind), name) for kind, name in asked)
    )


def _before(stage: str) -> set[str]:
    return {name for source in SOURCES[stage] for name in (source, *_before(source))}


def _tell(damaged: Mapping[tuple[str, str], Mapping[str, str]]) -> None:
    for (stage, session), wrong in list(damaged.items())[:_SHOWN]:
        name, fault = next(iter(wrong.items()))
        print(f"{session_folder(stage, session)}: {name} is {fault}; the session is made again", file=sys.stderr)
    if len(damaged) > _SHOWN:
        print(f"and {len(damaged) - _SHOWN} more sessions with damaged files", file=sys.stderr)

"""`results/cutoffs` -> `results/study_cutoff.json`: one by chain and condition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from limbtorque.signals.cutoff import study_cutoff
from limbtorque.study.study import Study
from limbtorque.study.whole_file import write_text
from limbtorque.workflow.layout import STUDY_CUTOFF, cutoff_group, record_path, sessions_of
from limbtorque.workflow.run_session import whole_study
from limbtorque.workflow.session_record import wait_for


def run(*, folder: Path, key: str = "") -> None:
    """Choose a cut-off for each chain and condition from those of their trials."""
    study = whole_study("study_cutoff", folder=folder, key=key)
    own: dict[str, float] = {}
    for session in sessions_of("cutoffs", study):
        wait_for(["cutoffs"], session, folder)
        lines = (folder / record_path("cutoffs", session)).read_text(encoding="utf-8").splitlines()[1:]
        own |= {found["trial"]: found["cutoff_hz"] for found in map(json.loads, lines)}
    found = {"cutoff_hz": shared_cutoffs(study, own), "own_cutoff_hz": own}
    write_text(folder / STUDY_CUTOFF, json.dumps(found, sort_keys=True) + "\n")


def shared_cutoffs(study: Study, own_hz: Mapping[str, float]) -> dict[str, float]:
    """Cut-off of each chain and condition.

    Parameters
    ----------
    study : Study
        The study.
    own_hz : mapping of str to float
        Cut-off of each trial by its own data, by the trial's name, Hz.

    Returns
    -------
    dict of str to float
        Cut-offs, Hz, by `layout.cutoff_group`.
    """
    groups: dict[str, list[float]] = {}
    for trial in study.trials:
        if trial.name in own_hz:
            groups.setdefault(cutoff_group(trial), []).append(own_hz[trial.name])
    return {group: study_cutoff(cutoffs_hz) for group, cutoffs_hz in groups.items()}

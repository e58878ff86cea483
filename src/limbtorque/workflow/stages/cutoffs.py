"""Recordings -> `results/cutoffs`: each trial's own cut-off (`scope: study`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.workflow.layout import shares_cutoff
from limbtorque.workflow.run_session import LOG, finish, planned_study
from limbtorque.workflow.stages.kinematics import read_trial, trial_motion
from limbtorque.workflow.stages.study_cutoff import shared_cutoffs


def run(*, folder: Path, session: str, key: str) -> None:
    """Find the cut-offs that the trials of a session would have by themselves."""
    study = planned_study("cutoffs", folder=folder, session=session, key=key)
    with GuardedReader() as reader:
        own = _own_cutoffs(study.batches[session], study, reader)
    lines = [json.dumps({"trial": name, "cutoff_hz": cutoff_hz}) for name, cutoff_hz in own.items()]
    finish("cutoffs", study, session, lines)


def cutoffs_without_workflow(study: Study, reader: GuardedReader) -> dict[str, float]:
    """Find the shared cut-offs of a study without the workflow.

    Parameters
    ----------
    study : Study
        The study; trials that share no cut-off are passed over.
    reader : GuardedReader
        Reads the recordings.

    Returns
    -------
    dict of str to float
        Cut-off of each chain and condition, Hz (`layout.cutoff_group`); none where no trial of them can be analysed.
    """
    return shared_cutoffs(study, _own_cutoffs(study.trials, study, reader))


def _own_cutoffs(trials: Sequence[Trial], study: Study, reader: GuardedReader) -> dict[str, float]:
    """Cut-off of each trial that shares one, by its own data, without failed trials."""
    own = {}
    for trial in trials:
        if not shares_cutoff(trial, study):
            continue
        try:
            own[trial.name] = trial_motion(trial, read_trial(trial, reader)).cutoff_hz[0]
        except Exception as error:  # its kinematics fail for the same reason, and the ledger says it
            LOG.warning("cutoffs %s: %s: %s", trial.name, type(error).__name__, error)
    return own

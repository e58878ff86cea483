"""Recordings -> `results/cutoffs`: criteria for one cut-off (`scope: study`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from limbtorque.motion.table import choice_values
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.signals.cutoff import CutoffChoice, study_cutoff
from limbtorque.study.trials import Trial
from limbtorque.workflow.layout import shares_cutoff
from limbtorque.workflow.run_session import LOG, finish, planned_study
from limbtorque.workflow.stages.kinematics import read_trial, trial_motion


def run(*, folder: Path, session: str, key: str) -> None:
    """Find the curves from which the trials of a session choose their cut-off."""
    study = planned_study("cutoffs", folder=folder, session=session, key=key)
    with GuardedReader() as reader:
        choices = _choices(study.batches[session], reader)
    lines = [json.dumps({"trial": name, "choice": choice_values(choice)}) for name, choice in choices.items()]
    finish("cutoffs", study, session, lines)


def shared_cutoff(trials: Sequence[Trial], reader: GuardedReader) -> float | None:
    """Find the cut-off of a study without the workflow.

    Parameters
    ----------
    trials : sequence of Trial
        All trials; those that do not share the cut-off are passed over.
    reader : GuardedReader
        Reads the recordings.

    Returns
    -------
    float or None
        Cut-off, Hz; None where no trial asks for it, or none that does can be analysed.

    Raises
    ------
    SignalError
        The trials can have no cut-off in common.
    """
    choices = _choices(trials, reader)
    return study_cutoff(list(choices.values())) if choices else None


def _choices(trials: Sequence[Trial], reader: GuardedReader) -> dict[str, CutoffChoice]:
    """Criteria of each trial with a common cut-off, without failed trials."""
    choices = {}
    for trial in filter(shares_cutoff, trials):
        alone = trial.settings.filter.model_copy(update={"scope": "trial"})
        settings = trial.settings.model_copy(update={"filter": alone})
        try:
            motion = trial_motion(replace(trial, settings=settings), read_trial(trial, reader))
        except Exception as error:  # its kinematics fail for the same reason, and the ledger says it
            LOG.warning("cutoffs %s: %s: %s", trial.name, type(error).__name__, error)
            continue
        (own,) = motion.cutoffs
        allowed = own.grid_hz <= max(alone.max_cutoff_hz, own.grid_hz[0])
        choices[trial.name] = replace(
            own,
            cutoff_hz=motion.cutoff_hz[0],
            **{name: getattr(own, name)[allowed] for name in ("grid_hz", "residual", "criterion")},
        )
    return choices

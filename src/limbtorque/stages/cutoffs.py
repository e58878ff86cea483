"""Recordings -> `results/study_cutoff.json`: one cut-off for all trials that ask for it (`filter.scope: study`)."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from limbtorque.errors import SignalError
from limbtorque.motion_table import choice_of, kept_choice
from limbtorque.readers.guarded import GuardedReader
from limbtorque.signals.cutoff import CutoffChoice, study_cutoff
from limbtorque.stages.batch import LOG, planned_study
from limbtorque.stages.kinematics import read_trial, trial_motion
from limbtorque.stages.layout import STUDY_CUTOFF, batch_path, shares_cutoff
from limbtorque.study import Trial


def run(*, folder: Path, batch: str, key: str) -> None:
    """Find what each trial of a batch says of its cut-off."""
    study = planned_study("cutoffs", folder=folder, batch=batch, key=key)
    print(f"cut-offs of {len(study.batches[batch])} trials of session {batch}", file=sys.stderr, flush=True)
    with GuardedReader() as reader:
        choices = _choices(study.batches[batch], reader)
    _write(folder / batch_path("cutoffs", batch), {name: kept_choice(choice) for name, choice in choices.items()})


def join(*, folder: Path, batches: Sequence[Path]) -> None:
    """Choose one cut-off from what the trials of all batches say."""
    choices: dict[str, CutoffChoice] = {}
    for path in batches:
        kept = json.loads((folder / path).read_text(encoding="utf-8"))
        choices |= {name: choice_of(choice) for name, choice in kept.items()}
    own = {name: choice.cutoff_hz for name, choice in choices.items()}
    shared_hz, reason = None, "no trial that shares it can be analysed"
    if choices:
        try:
            shared_hz, reason = study_cutoff(list(choices.values())), ""
        except SignalError as error:
            reason = str(error)
    _write(folder / STUDY_CUTOFF, {"cutoff_hz": shared_hz, "own_cutoff_hz": own, "reason": reason})


def shared_cutoff(trials: Sequence[Trial], reader: GuardedReader) -> float | None:
    """Find the cut-off of a study without the workflow.

    Parameters
    ----------
    trials : sequence of Trial
        All trials; those that do not ask for the study's cut-off have no say in it.
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
    """What each trial that shares its cut-off says of it, those that cannot be analysed left out."""
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
        allowed = own.grid_hz <= max(alone.highest_cutoff_hz, own.grid_hz[0])
        choices[trial.name] = replace(
            own,
            cutoff_hz=motion.cutoff_hz[0],
            **{name: getattr(own, name)[allowed] for name in ("grid_hz", "residual", "criterion")},
        )
    return choices


def _write(path: Path, content: Mapping[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, sort_keys=True) + "\n", encoding="utf-8")

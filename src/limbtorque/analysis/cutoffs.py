"""Cut-offs that the trials of a chain and condition share."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from limbtorque.analysis.chain_motion import chain_motion, place
from limbtorque.analysis.reading import TrialReader, limb_of
from limbtorque.signals.cutoff import study_cutoff
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial

LOG = logging.getLogger("limbtorque")


def cutoffs_of(study: Study, reader: TrialReader) -> dict[str, float]:
    """Cut-offs that trials share, Hz, by `Trial.cutoff_group`.

    Trials with individual cut-offs are skipped, and groups without any trial that can be analysed.
    """
    return shared_cutoffs(study, own_cutoffs(study.trials, study, reader))


def own_cutoffs(trials: Iterable[Trial], study: Study, reader: TrialReader) -> dict[str, float]:
    """Cut-off, Hz, that each trial with a shared cut-off would have by its data alone."""
    cutoffs_hz = {}
    for trial in trials:
        if not study.shares_cutoff(trial):
            continue
        limb = limb_of(trial)
        try:
            placed, recording = place(reader.recording(trial), limb, trial.settings)
            cutoffs_hz[trial.name] = chain_motion(recording, limb, trial.settings, placed=placed).cutoff_hz[0]
        except Exception as error:  # its kinematics fail for the same reason, and the ledger says it
            LOG.warning("cutoffs %s: %s: %s", trial.name, type(error).__name__, error)
    return cutoffs_hz


def shared_cutoffs(study: Study, own_hz: Mapping[str, float]) -> dict[str, float]:
    """Shared cut-off of each chain and condition.

    Parameters
    ----------
    study : Study
        The study.
    own_hz : mapping of str to float
        Cut-off of each trial by its own data, by the trial's name, Hz.

    Returns
    -------
    dict of str to float
        Cut-offs, Hz, by `Trial.cutoff_group`.
    """
    groups: dict[str, list[float]] = {}
    for trial in study.trials:
        if trial.name in own_hz:
            groups.setdefault(trial.cutoff_group, []).append(own_hz[trial.name])
    return {group: study_cutoff(cutoffs_hz) for group, cutoffs_hz in groups.items()}

"""Memory and time of a cluster job, from the size of its recordings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.workflow.layout import SOURCES, trial_files

# benchmarks/stages.py measures what these allow for; docs/cluster.md has its figures
_BASE_MB = 900.0  # two processes of Snakemake, two parallel stages, a process that reads
_MB_PER_MB = 12.0  # of the largest recording
_START_S = 40.0  # Python and its libraries, from a slow shared folder
_SECONDS_PER_MB = 1.0
_SECONDS_PER_TRIAL = 1.0
_SECONDS_PER_FIGURE = 1.0
_SECONDS_PER_UNIVERSE = 0.3
_SAMPLES_AS_TRIAL = {"torques": 128, "muscles": 32}  # samples (uncertainty.samples) that take as long as the trial
_SHORT_MINUTES = 20
_MB_PER_TRIAL = 0.3  # tables of the study
_STUDY_SECONDS_PER_TRIAL = 0.2


def memory_mb(trials: Sequence[Trial], *, attempt: int = 1) -> int:
    """Memory requested by a job on these trials.

    It grows with the largest recording, not with the number of trials, which are processed one by one.

    Parameters
    ----------
    trials : sequence of Trial
        Trials of the job.
    attempt : int
        1 at first; every further attempt asks for as much again.

    Returns
    -------
    int
        Memory in MB.
    """
    return attempt * math.ceil(_BASE_MB + _MB_PER_MB * max(map(_size_mb, trials)))


def minutes(stage: str, trials: Sequence[Trial], *, attempt: int = 1) -> int:
    """Time requested by a job of a stage on these trials.

    Parameters
    ----------
    stage : str
        Name of the stage.
    trials : sequence of Trial
        Trials of the job.
    attempt : int
        1 at first; every further attempt asks for as much again.

    Returns
    -------
    int
        Time in minutes, at least 1.
    """
    each = _SAMPLES_AS_TRIAL.get(stage, math.inf)  # samples of errors that take as long as the trial
    times = {trial.name: 1.0 + trial.settings.uncertainty.samples / each for trial in trials}
    work_s = sum(times[trial.name] * (_SECONDS_PER_TRIAL + _SECONDS_PER_MB * _size_mb(trial)) for trial in trials)
    if stage == "universes":
        work_s += sum(_SECONDS_PER_UNIVERSE * _most_universes(trial) for trial in trials)
    if stage == "figures":
        work_s += _SECONDS_PER_FIGURE * sum(len(trial_files(stage, trial.session, trial)) for trial in trials)
    return attempt * math.ceil((_START_S + work_s) / 60.0)


def study_memory_mb(study: Study, *, attempt: int = 1) -> int:
    """Memory in MB for a job on the study's tables; `attempt` as in `memory_mb`."""
    return attempt * math.ceil(_BASE_MB + _MB_PER_TRIAL * len(study.trials))


def study_minutes(study: Study, *, attempt: int = 1) -> int:
    """Time in minutes for a job on the study's tables; `attempt` as in `minutes`."""
    return attempt * math.ceil((_START_S + _STUDY_SECONDS_PER_TRIAL * len(study.trials)) / 60.0)


def _most_universes(trial: Trial) -> int:
    return math.prod(1 + len(values) for values in trial.settings.multiverse.alternatives.values())


def _size_mb(trial: Trial) -> float:
    return sum(file.stat().st_size for file in trial.files) / 1e6


def group(trials: Sequence[Trial]) -> str:
    """Name of the job group of a session's stages.

    All stages of a session are one job of the cluster. Of the group ``short_sessions``, the profile puts several sessions
    into one.

    Parameters
    ----------
    trials : sequence of Trial
        Trials of the session.
    """
    whole = sum(minutes(stage, trials) for stage in SOURCES)
    return "short_sessions" if whole <= _SHORT_MINUTES else "long_sessions"

"""A study whose trials can be analysed in memory, and their shared cut-offs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from limbtorque.analysis.cutoffs import cutoffs_of
from limbtorque.analysis.reading import TrialReader, limb_of
from limbtorque.analysis.second_look import second_look
from limbtorque.analysis.trial import TrialResult, analyse
from limbtorque.errors import StudyError, did_you_mean
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study import study as study_files
from limbtorque.study.study import SETTINGS_FILE
from limbtorque.study.trials import Trial

KEPT_BYTES = 64 * 2**20  # of recordings that are read again


class Study(study_files.Study):
    """A checked study whose trials can be analysed in memory.

    See `limbtorque.load_study`.
    """

    def analyse(self, trial: str) -> TrialResult:
        """Analyse a trial as a run of the study does.

        Parameters
        ----------
        trial : str
            Name of the trial in the table of trials.

        Returns
        -------
        TrialResult
            With the tables that the workflow writes: the cut-off is shared with the trials of the same chain and condition
            where `filter.scope` is ``study``; strengths, electromyography and its maximal trials are those of the study.

        Raises
        ------
        StudyError
            The study has no such trial.
        TrialError
            The trial cannot be analysed; the message names the reason and the remedy.
        """
        named = {each.name: each for each in self.trials}
        if trial not in named:
            raise StudyError([f"the study has no trial {trial!r}{did_you_mean(trial, named)}"])
        with GuardedReader() as reader:
            return analyse_trial(named[trial], self, TrialReader(reader), cutoffs_hz=self._cutoffs_hz)

    @cached_property
    def _cutoffs_hz(self) -> dict[str, float]:
        with GuardedReader() as reader:
            return cutoffs_of(self, TrialReader(reader))


def load_study(
    folder: Path | str, *, settings_file: str = SETTINGS_FILE, overrides: Mapping[str, Any] | None = None
) -> Study:
    """Read the settings and both tables of a study and check them against each other.

    Parameters
    ----------
    folder : Path or str
        The study's folder.
    settings_file : str, optional
        Settings file, relative to the folder.
    overrides : mapping, optional
        Options in place of the file's, as for `load_settings`; a column of the table of trials goes before both.

    Returns
    -------
    Study
        The study, all of whose files exist; ``study.analyse("name of a trial")`` analyses a trial.

    Raises
    ------
    SettingsError
        The settings are wrong.
    StudyError
        The tables are wrong; every fault of both is listed.
    """
    study = study_files.load_study(folder, settings_file=settings_file, overrides=overrides)
    return Study(study.folder, study.settings, study.trials, study.batches)


def analyse_trial(
    trial: Trial,
    study: study_files.Study,
    reader: TrialReader,
    *,
    cutoffs_hz: Mapping[str, float],
    bands: bool = True,
    tables: bool = True,
) -> TrialResult:
    """Analyse a trial of a study.

    Parameters
    ----------
    trial, study
        The trial and its study.
    reader : TrialReader
        Reads its files.
    cutoffs_hz : mapping of str to float
        Shared cut-offs, Hz, as of `cutoffs_of`.
    bands, tables : bool, optional
        Without: no uncertainty and no replay, no tables. The verdict does not depend on them.
    """
    settings = trial.settings
    if not bands:
        without = settings.uncertainty.model_copy(update={"enabled": False})
        columns = settings.torques.model_copy(update={"bands": False})
        no_replay = settings.replay.model_copy(update={"enabled": False})
        settings = settings.model_copy(update={"uncertainty": without, "torques": columns, "replay": no_replay})
    return analyse(
        lambda: reader.recording(trial),
        limb_of(trial),
        settings,
        folder=study.folder,
        cutoff_hz=cutoffs_hz.get(trial.cutoff_group) if study.shares_cutoff(trial) else None,
        emg=lambda time_s: reader.emg(trial, time_s),
        compared=second_look(trial.file, trial.forces_file, settings.reading, reader.reader),
        tables=tables,
    )

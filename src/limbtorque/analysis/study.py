"""Analysis of a study in memory: one trial, or all trials to check it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from limbtorque.analysis.reading import TrialReader, limb_of
from limbtorque.analysis.second_look import second_look
from limbtorque.analysis.trial import TrialResult, analyse
from limbtorque.errors import LimbtorqueError, StudyError, did_you_mean
from limbtorque.quality.verdict import Flag
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.statistics.by_condition import included
from limbtorque.study import study as study_files
from limbtorque.study.files import SETTINGS_FILE
from limbtorque.study.trials import Trial

KEPT_BYTES = 64 * 2**20  # of recordings that are read again


class Study(study_files.Study):
    """Checked study, ready for analysis in memory.

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
            With the tables that the workflow writes: strengths, electromyography and its maximal trials are those of the study.

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
            return analyse_trial(named[trial], self, TrialReader(reader))


def load_study(
    folder: Path | str, *, settings_file: str = SETTINGS_FILE, overrides: Mapping[str, Any] | None = None
) -> Study:
    """Read a study whose trials can be analysed: ``study.analyse("name of a trial")``.

    Parameters
    ----------
    folder, settings_file, overrides
        As of `limbtorque.study.study.load_study`, which checks the settings and both tables: the study's folder, its settings
        file, and options in place of the file's.

    Returns
    -------
    Study
        The study, all of whose files exist.

    Raises
    ------
    SettingsError, StudyError
        The settings or the tables are wrong; every fault is listed.
    """
    study = study_files.load_study(folder, settings_file=settings_file, overrides=overrides)
    return Study(study.folder, study.settings, study.trials, study.batches)


def check_study(
    study: study_files.Study, reader: TrialReader | None = None
) -> Iterator[tuple[str, str, Sequence[Flag], str]]:
    """Analyse every trial up to its muscle forces, and find the window of its curves.

    Parameters
    ----------
    study : Study
        The study, from `workflow.load_checked.checked_study`.
    reader : TrialReader, optional
        Reads the files; what it compared with another library is not compared again.

    Yields
    ------
    trial, fault : str
        Name of the trial, and the reason why it would fail, or nothing.
    flags : sequence of Flag
        Its quality flags.
    no_curve : str
        Reason why it would have no time-normalised curve, or nothing.
    """
    if reader is None:
        with GuardedReader() as guarded:
            yield from check_study(study, TrialReader(guarded, keep_bytes=KEPT_BYTES))
        return
    for trial in study.trials:
        try:
            result = analyse_trial(trial, study, reader, verdict_only=True)
        except LimbtorqueError as error:
            yield trial.name, str(error), [], ""
            continue
        options, verdict = trial.settings.ensembles, result.verdict
        no_curve = result.window.note
        if not no_curve and not any(included(status, options.include) for status in verdict.joints.values()):
            no_curve = f"its torques are {verdict.torques}, and ensembles.include is {options.include}"
        yield trial.name, "", verdict.flags, no_curve if options.enabled else ""


def analyse_trial(
    trial: Trial,
    study: study_files.Study,
    reader: TrialReader,
    *,
    verdict_only: bool = False,
) -> TrialResult:
    """Analyse a trial of a study.

    Parameters
    ----------
    trial, study
        The trial and its study.
    reader : TrialReader
        Reads its files.
    verdict_only : bool, optional
        Leave out what the verdict does not depend on: uncertainty, summaries and tables.
    """
    settings = trial.settings
    if verdict_only:
        without = settings.uncertainty.model_copy(update={"enabled": False, "samples": 0})
        columns = settings.torques.model_copy(update={"bands": False})
        settings = settings.model_copy(update={"uncertainty": without, "torques": columns})
    return analyse(
        lambda: reader.recording(trial),
        limb_of(trial),
        settings,
        folder=study.folder,
        emg=lambda time_s: reader.emg(trial, time_s),
        compared=second_look(trial.file, trial.forces_file, settings.reading, reader),
        verdict_only=verdict_only,
    )

"""Check a study before its run: analyse every trial, write nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from limbtorque.analysis.cutoffs import cutoffs_of
from limbtorque.analysis.reading import TrialReader
from limbtorque.analysis.study import KEPT_BYTES, analyse_trial
from limbtorque.errors import LimbtorqueError
from limbtorque.quality.verdict import Flag, Verdict
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.statistics.by_condition import included
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.trial_record import Window
from limbtorque.workflow.load_checked import refuse_future


def check_study(study: Study) -> Iterator[tuple[str, str, Sequence[Flag], str]]:
    """Analyse every trial up to its muscle forces, and find the window of its curves.

    Parameters
    ----------
    study : Study
        The study, from `checked_study`.

    Yields
    ------
    trial, fault : str
        Name of the trial, and the reason why it would fail, or nothing.
    flags : sequence of Flag
        Its quality flags.
    no_curve : str
        Reason why it would have no time-normalised curve, or nothing.
    """
    refuse_future(study)
    with GuardedReader() as guarded:
        reader = TrialReader(guarded, keep_bytes=KEPT_BYTES)
        cutoffs_hz = cutoffs_of(study, reader)
        for trial in study.trials:
            try:
                result = analyse_trial(trial, study, reader, cutoffs_hz=cutoffs_hz, bands=False, tables=False)
            except LimbtorqueError as error:
                yield trial.name, str(error), [], ""
            else:
                verdict = result.verdict
                yield trial.name, "", verdict.flags, _no_curve(trial, result.window, verdict)


def _no_curve(trial: Trial, window: Window, verdict: Verdict) -> str:
    """Reason why a trial would have no curve; empty where it has one."""
    options = trial.settings.ensembles
    if not options.enabled or window.note:
        return window.note if options.enabled else ""
    if any(included(status, options.include) for status in verdict.joints.values()):
        return ""
    return f"its torques are {verdict.torques}, and ensembles.include is {options.include}"

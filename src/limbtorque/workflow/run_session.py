"""Run a stage on a session's trials; errors become rows of the ledger."""

from __future__ import annotations

import functools
import logging
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

import pyarrow as pa

from limbtorque import __version__
from limbtorque.analysis.chain_motion import Placer
from limbtorque.analysis.reading import TrialReader
from limbtorque.analysis.verdict import trial_verdict
from limbtorque.errors import LimbtorqueError, TrialError, WriteError
from limbtorque.motion.joint_centres import place_joints
from limbtorque.quality.verdict import Verdict
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.files import SETTINGS_FILE
from limbtorque.study.settings import load_settings
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import Write, added_to, empty_table, read_record, read_table, trial_table, write_table
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow.effective_settings import load_effective_study
from limbtorque.workflow.keys import WHOLE, code_key, session_key, trial_key
from limbtorque.workflow.layout import (
    SETTINGS,
    added_path,
    added_tables,
    needed,
    places,
    record_path,
    session_files,
    table_path,
    trial_files,
)
from limbtorque.workflow.operating_system import say
from limbtorque.workflow.records import wait_for, write_record

LOG = logging.getLogger("limbtorque")
_CHANGED = "the settings, tables or recordings of the study changed while {} waiting; run the study again"


@dataclass(frozen=True)
class Sources:
    """Input files of a trial's step.

    Attributes
    ----------
    study : Study
        The study.
    reader : TrialReader
        Reads the files of trials.
    tables : TrialTables
        Tables of earlier stages.
    find : callable
        Finds joint centres; a job that needs them several times remembers them.
    """

    study: Study
    reader: TrialReader
    tables: TrialTables
    find: Placer = place_joints


Step = Callable[[Trial, Sources, TrialRecord, Write], TrialRecord]


def run_session(
    stage: str,
    step: Step,
    *,
    folder: Path,
    session: str,
    key: str,
    columns: Callable[[Trial, Path], Sequence[Column]],
    added_columns: Callable[[Trial], Mapping[str, Sequence[Column]]] = lambda _: {},
    at_end: Callable[[], None] = lambda: None,
) -> None:
    """Run one stage for a session; write the tables and the session record.

    Parameters
    ----------
    stage : str
        Name of the stage.
    step : callable
        Returns the record of a trial, from the trial, its sources, a record with its provenance, and the function that takes the
        rows of its table, one stretch of frames after the other; no rows for a trial that has none.
    folder, session, key
        As of `planned_study`.
    columns : callable
        Columns of the table of a trial, for one without rows, from the trial and the study's folder.
    added_columns : callable, optional
        Columns of the tables beside a trial's, by the end of their names; `step` writes them itself for a trial with rows.
    at_end : callable, optional
        Writes the session's own files, after those of its trials.
    """
    study, lines = planned_study(stage, folder=folder, session=session, key=key), []
    with GuardedReader() as guarded:
        sources = Sources(study, TrialReader(guarded), TrialTables(study))
        for trial in study.batches[session]:
            record = TrialRecord(trial.name, provenance={stage: provenance(stage, trial, folder)})
            started = time.perf_counter()
            files = [folder / path for path in trial_files(stage, session, trial)]
            paths = [path for path in files if not added_to(path)]
            try:
                with trial_table(paths, exact=stage == "kinematics") as table:
                    record = step(trial, sources, record, table.write)
                    table.finish(record)
                written = table.begun
            except WriteError:  # of the machine, not of the trial: the next run makes the session again
                raise
            except Exception as error:  # the one place that catches all: the trial becomes a row of the ledger
                written, record = False, failure(error, record)
            if not written:  # never before: a killed job would leave empty tables
                for path in paths:
                    write_table(empty_table(columns(trial, folder)), path, record=record)
                for path in set(files) - set(paths):
                    write_table(empty_table(added_columns(trial)[added_to(path)]), path)
            lines.append(record.to_json())
            LOG.info("%s %s: %.0f ms", stage, trial.name, 1e3 * (time.perf_counter() - started))
    at_end()
    finish(stage, study, session, lines)


def study_of(folder: Path) -> Study:
    """Study in a folder, read again only after a change."""
    try:
        file = SETTINGS if (folder / SETTINGS).is_file() else Path(SETTINGS_FILE)
        settings = load_settings(folder / file)
        states = [(folder / name).stat() for name in (file, settings.trials, settings.subjects)]
        return _loaded(folder, Path.cwd(), tuple((state.st_mtime_ns, state.st_size) for state in states))
    except OSError:
        return load_effective_study(folder)  # which says what is missing


@functools.lru_cache(maxsize=1)
def _loaded(folder: Path, _place: Path, _when: tuple[tuple[int, int], ...]) -> Study:
    return load_effective_study(folder)


def whole_study(stage: str, *, folder: Path, key: str) -> Study:
    """Load the study for a job on the whole study; refuse it after changes.

    An empty key means a stage without a plan.
    """
    study = study_of(folder)
    if key and WHOLE[stage](study) != key:
        raise LimbtorqueError(_CHANGED.format(f"{stage} was"))
    return study


def planned_study(stage: str, *, folder: Path, session: str, key: str) -> Study:
    """Load the study of a job on a session, report progress, and wait for its inputs.

    Raises
    ------
    LimbtorqueError
        The study is not the one that was planned, or a table of an earlier stage is missing.
    """
    study = study_of(folder)
    try:
        same = session in study.batches and session_key(stage, study, session) == key
    except OSError:  # a recording that is not there any more
        same = False
    if not same:
        raise LimbtorqueError(_CHANGED.format(f"{stage} of {session} was"))
    trials = study.batches[session]
    made = [name for name in study.batches if (folder / record_path(stage, name)).exists()]
    done = sum(len(study.batches[name]) for name in made)
    names = ", ".join(trial.name for trial in trials[:3]) + (" ..." if len(trials) > 3 else "")
    text = f"{stage}: {done} of {len(study.trials)} trials done, now {len(trials)}: {names}"
    LOG.info(text)
    say(text)
    wait_for(needed(stage, trials), session, folder)
    return study


def finish(
    stage: str, study: Study, session: str, lines: Sequence[str], *, files: Sequence[Path] | None = None
) -> None:
    """Write the session record, the last step of a job.

    `files`: given by stages with fewer outputs than `session_files`.
    """
    made = session_files(stage, study, session) if files is None else files
    read = study.batches[session] if stage == "kinematics" else ()
    recordings = sorted({file for trial in read for file in trial.named_files})
    write_record(stage, session, made, lines, study.folder, recordings=recordings)


def failure(error: Exception, record: TrialRecord) -> TrialRecord:
    """Record of a trial that failed with an error."""
    if isinstance(error, TrialError):
        LOG.warning("%s", error)
        return replace(record, status="failed", reason=error.reason, message=str(error))
    LOG.error("%s", traceback.format_exc())
    kind = "settings" if isinstance(error, LimbtorqueError) else "defect"
    advice = "" if kind == "settings" else " (an error inside the program: report it, with the log and the file)"
    return replace(record, status="failed", reason=kind, message=f"{type(error).__name__}: {error}{advice}")


def verdict_of(trial: Trial, records: Mapping[str, TrialRecord]) -> Verdict:
    """Verdict on a trial of a study from its records by stage."""
    joints = [joint.name for joint in trial.settings.chain(trial.chain).joints]
    return trial_verdict(records, joints, trial.settings)


class TrialTables:
    """Tables and records of trials from earlier stages.

    Parameters
    ----------
    study : Study
        The study.
    """

    def __init__(self, study: Study) -> None:
        self._folder = study.folder
        self._session = places(study)

    def path(self, stage: str, trial: Trial) -> Path:
        """Path of a trial's Parquet table."""
        return self._folder / table_path(stage, self._session[trial.name], trial.name)

    def read(
        self, stage: str, trial: Trial, *, columns: Sequence[str] | Callable[[str], bool] | None = None
    ) -> tuple[pa.Table, TrialRecord]:
        """Read columns of a trial's table, with those beside it, and its record."""
        path = self.path(stage, trial)
        table, record = read_table(path, columns=columns)
        for end in added_tables(trial) if stage == "torques" else ():
            added, _ = read_table(added_path(path, end), columns=columns)
            for name in [name for name in added.column_names if name not in table.column_names]:
                table = table.append_column(name, added.column(name))
        return table, record

    def read_record(self, stage: str, trial: Trial) -> TrialRecord:
        """Read the record of a trial, without its rows."""
        return read_record(self.path(stage, trial))


LIBRARIES = ("c3d", "ezc3d", "numpy", "pyarrow", "scipy")
_version = functools.cache(metadata.version)


def provenance(stage: str, trial: Trial, folder: Path) -> dict[str, str]:
    """Hashes of settings and code, and versions, for a trial's table."""
    hashes = {"settings": trial_key(stage, trial, folder), "code": code_key(stage), "limbtorque": __version__}
    return {**hashes, **{name: _version(name) for name in LIBRARIES}}

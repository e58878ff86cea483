"""A batch of trials through one stage: progress, log, and errors that become rows of the ledger."""

from __future__ import annotations

import functools
import itertools
import json
import logging
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa

from limbtorque import __version__
from limbtorque.errors import LimbtorqueError, TrialError
from limbtorque.study.settings import load_settings
from limbtorque.study.study import SETTINGS_FILE, Study, load_study
from limbtorque.study.trials import Trial
from limbtorque.tables.checks import Flag
from limbtorque.tables.column import Column
from limbtorque.tables.files import empty_table, kept_text, read_table, write_table
from limbtorque.workflow.layout import WHOLE, batch_key, batch_path, code_key, stage_outputs, table_path, trial_key

LOG = logging.getLogger("limbtorque")
_CHANGED = "the settings, tables or recordings of the study were changed while {} waiting to run; start again"
Step = Callable[[Study, Trial, dict[str, Any]], pa.Table]


def run_batch(
    stage: str, step: Step, *, folder: Path, batch: str, key: str, columns: Callable[[Trial], Sequence[Column]]
) -> None:
    """Run one stage for every trial of a batch and write the tables.

    Parameters
    ----------
    stage : str
        Name of the stage.
    step : callable
        Makes the table of one trial from the study, the trial and what is to be kept with the table.
    folder : Path
        The study's folder.
    batch : str
        Which batch.
    key : str
        Key the job was planned with.
    columns : callable
        Columns of the table of a trial, for one that failed.

    Raises
    ------
    LimbtorqueError
        The settings or tables of the study were changed while the workflow ran.
    """
    study = planned_study(stage, folder=folder, batch=batch, key=key)
    announce(stage, study, batch, folder)
    notes = []
    for trial in study.batches[batch]:
        meta = {"trial": trial.name, "status": "ok", "provenance": {stage: provenance(stage, trial, study.folder)}}
        started = time.perf_counter()
        try:
            table = step(study, trial, meta)
        except Exception as error:  # the one place that catches all: the trial becomes a row of the ledger
            table = empty_table(columns(trial), meta={**meta, **failure(error)})
        for path in stage_outputs(stage, trial):
            write_table(table, folder / path)
        notes.append(kept_text(table))
        LOG.info("%s %s: %.0f ms", stage, trial.name, 1e3 * (time.perf_counter() - started))
    finish(stage, batch, notes, folder)


def study_of(folder: Path) -> Study:
    """Study of a folder; it is read once by the process that jobs are forked from, and again only where it was changed."""
    try:
        return _loaded(folder, Path.cwd(), _state(folder))
    except OSError:
        return load_study(folder)  # which says what is missing


@functools.lru_cache(maxsize=1)
def _loaded(folder: Path, _place: Path, _when: tuple[tuple[int, int], ...]) -> Study:
    return load_study(folder)


def _state(folder: Path) -> tuple[tuple[int, int], ...]:
    """Times and sizes of the settings and tables of a study."""
    settings = load_settings(folder / SETTINGS_FILE)
    found = [(folder / name).stat() for name in (SETTINGS_FILE, settings.trials, settings.subjects)]
    return tuple((each.st_mtime_ns, each.st_size) for each in found)


def whole_study(stage: str, *, folder: Path, key: str) -> Study:
    """Load the study of a job that works on all of it, and refuse to go on where it is not the one that was planned.

    An empty key is that of a stage that nobody planned.
    """
    study = study_of(folder)
    if key and WHOLE[stage](study) != key:
        raise LimbtorqueError(_CHANGED.format(f"{stage} was"))
    return study


def planned_study(stage: str, *, folder: Path, batch: str, key: str) -> Study:
    """Load the study of a job, and refuse to go on where it is not the one that was planned."""
    study = study_of(folder)
    try:
        same = batch in study.batches and batch_key(stage, study, batch) == key
    except OSError:  # a recording that is not there any more
        same = False
    if not same:
        raise LimbtorqueError(_CHANGED.format(f"{stage} of {batch} was"))
    return study


def announce(stage: str, study: Study, batch: str, folder: Path) -> None:
    """Say what is being worked on, and how many trials of the study have this stage behind them."""
    trials = study.batches[batch]
    done = sum(len(them) for name, them in study.batches.items() if (folder / batch_path(stage, name)).exists())
    names = ", ".join(trial.name for trial in trials[:3]) + (" ..." if len(trials) > 3 else "")
    text = f"{stage}: {done} of {len(study.trials)} trials done, now {len(trials)}: {names}"
    LOG.info(text)
    print(text, file=sys.stderr, flush=True)


def finish(stage: str, batch: str, notes: Sequence[str], folder: Path) -> None:
    """Write what is kept of the trials of a batch, a line of JSON for each in their order: the last that a job does."""
    path = folder / batch_path(stage, batch)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{note}\n" for note in notes), encoding="utf-8")


class Kept:
    """What the jobs of each stage kept of their trials, which is much faster to read than all their tables.

    Parameters
    ----------
    study : Study
        The study.
    folder : Path
        Its folder.
    """

    def __init__(self, study: Study, folder: Path) -> None:
        self._folder = folder
        self._places = {
            trial.name: (batch, line) for batch, trials in study.batches.items() for line, trial in enumerate(trials)
        }
        self._ends: dict[tuple[str, str], list[int]] = {}  # where each line of a file ends, by stage and batch

    def of(self, stage: str, trial: Trial) -> dict[str, Any]:
        """What a stage kept of a trial: for stages with a table of every trial, what is kept with the table."""
        batch, line = self._places[trial.name]
        with (self._folder / batch_path(stage, batch)).open("rb") as file:
            if (stage, batch) not in self._ends:
                self._ends[stage, batch] = [0, *itertools.accumulate(map(len, file))]
            ends = self._ends[stage, batch]
            file.seek(ends[line] if line + 1 < len(ends) else ends[-1])
            found: dict[str, Any] = json.loads(file.readline() or "{}")
        if found.get("trial") != trial.name:
            raise LimbtorqueError(f"{file.name}: line {line + 1} is not about trial {trial.name}; start again")
        return found


def failure(error: Exception) -> dict[str, str]:
    """Status, reason and message of a trial that an error ended."""
    if isinstance(error, TrialError):
        LOG.warning("%s", error)
        return {"status": "failed", "reason": error.reason, "message": str(error)}
    LOG.error("%s", traceback.format_exc())
    kind = "settings" if isinstance(error, LimbtorqueError) else "defect"
    advice = "" if kind == "settings" else " (an error inside the program: report it, with the log and the file)"
    return {"status": "failed", "reason": kind, "message": f"{type(error).__name__}: {error}{advice}"}


def identity(trial: Trial) -> dict[str, str]:
    """What the tables of the study say of every trial first."""
    return {
        "trial": trial.name,
        "session": trial.session,
        "subject": trial.subject.name,
        "condition": trial.condition,
        "chain": trial.chain,
        "side": trial.side,
    }


def status_of(kept: Mapping[str, Any], flags: Iterable[Flag], about: str) -> str:
    """Status of the torques or muscle forces of a trial: failed, flagged or ok, from what is kept with its table."""
    if kept["status"] == "failed":
        return "failed"
    return "flagged" if any(flag.check.affects == about for flag in flags) else "ok"


def upstream(stage: str, trial: Trial, folder: Path, meta: dict[str, Any]) -> tuple[pa.Table, dict[str, Any]] | None:
    """Table of an earlier stage and its metadata; None where the trial had failed by then, and `meta` then says so."""
    table, kept = read_table(folder / table_path(stage, trial.name))
    meta["provenance"] = {**kept["provenance"], **meta["provenance"]}
    if kept["status"] == "failed":
        meta.update({name: kept[name] for name in ("status", "reason", "message")})
        return None
    return table, kept


LIBRARIES = ("c3d", "ezc3d", "numpy", "pyarrow", "scipy")


def provenance(stage: str, trial: Trial, folder: Path) -> dict[str, str]:
    """Hashes of settings and code, and versions, for a trial's table."""
    hashes = {"settings": trial_key(stage, trial, folder), "code": code_key(stage), "limbtorque": __version__}
    return {**hashes, **_versions()}


@functools.cache
def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in LIBRARIES}


def log_to(path: Path) -> None:
    """Send the package's log to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)

"""Table of trials: one row for each trial; columns can override options."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import ValidationInfo, field_validator

from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.study.faults import alike, checked
from limbtorque.study.options.base import option
from limbtorque.study.settings import Settings, override, settable_names
from limbtorque.study.subjects import Subject
from limbtorque.study.table_file import Row, few, is_to_do, table_rows, to_do_text, unknown_column

FRAME_SUFFIX = ".json"
_NUMBERED = re.compile(r"(.*?)(\d+)((?:\D|\d[dD])*)")  # the last number of a name, but for 2d and 3d
_HEAD = 4000


def numbered(path: Path) -> tuple[str, int, str] | None:
    """Parts of a frame's file name: before its number, the number, after it.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    tuple of (str, int, str) or None
        None for a name without a number, or of another suffix.

    Examples
    --------
    >>> numbered(Path("walk_000000000012_keypoints.json"))
    ('walk_', 12, '_keypoints')
    """
    match = _NUMBERED.fullmatch(path.stem) if path.suffix.lower() == FRAME_SUFFIX else None
    return (match[1], int(match[2][-15:]), match[3]) if match else None


def is_frame(path: Path) -> bool:
    """Return True for a file with the people of one frame, from its first bytes.

    Parameters
    ----------
    path : Path
        The file; one that cannot be opened is none.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).lstrip()
    except OSError:
        return False
    people = min((at for at in map(head.find, (b'"people"', b'"bodies"')) if at >= 0), default=-1)
    return head.startswith(b"{") and people >= 0 and b'"frames"' not in head[:people]


def frame_files(path: Path) -> tuple[Path, ...]:
    """Files of all frames of a recording, from one of them.

    Parameters
    ----------
    path : Path
        A file of the recording.

    Returns
    -------
    tuple of Path
        The files beside it whose names differ by the number only, in its order; the file alone where it is not a frame.
    """
    own = numbered(path)
    if own is None or not is_frame(path):
        return (path,)
    there = ((numbered(one), one) for one in path.parent.iterdir() if one.suffix == path.suffix)
    frames = [(name[1], one) for name, one in there if name and (name[0], name[2]) == (own[0], own[2])]
    return tuple(one for _, one in sorted(frames))


REQUIRED_COLUMNS = ("trial", "session", "subject", "file", "chain", "side", "condition")
PER_TRIAL = (
    "gravity_m_s2",
    "reading",
    "plane",
    "gaps",
    "filter",
    "differentiation",
    "segments",
    "plates",
    "motion",
    "muscles",
    "emg",
    "uncertainty",
    "quality",
    "ensembles.window",
    "ensembles.onset_share",
    "ensembles.max_rest_s",
    "ensembles.start_event",
    "ensembles.end_event",
    "ensembles.events",
    "ensembles.cycle_start",
    "ensembles.cycle",
)
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"
NAME_IN_WORDS = (
    "letters, digits, '_', '.' and '-' only, at most 100, a letter or digit first: it becomes the name of a file"
)


OPTIONS_TO_DO = {
    "plane.up_axis": "laboratory axis that points up in this file, such as +z",
    "plane.forward_axis": "laboratory axis that the person faces, such as +x, or travel if they move along it",
    "plates.belt_speed_m_s": "belt speed of the treadmill in m/s; 0 without a treadmill",
}
NO_UP_AXIS = "plane.up_axis is not given: give the laboratory axis that points up, e.g. '+z', in the settings"


@dataclass(frozen=True)
class Trial:
    """One trial to analyse.

    Attributes
    ----------
    name, session, condition : str
        As in the table of trials.
    subject : Subject
        Subject of the trial.
    file : Path
        The recording; relative paths start at the study's folder.
    chain : str
        Name of the chain.
    side : str
        ``"left"`` or ``"right"``.
    settings : Settings
        The study's settings with this trial's own columns applied.
    marker_set : str
        Marker set of the settings that names the markers.
    prefix : str
        Subject prefix of the labels, if the file has several.
    load : str
        Name of an external load, or empty.
    start_s, end_s : float or None
        Window of the recording that is analysed, s from its first frame.
    note : str
        Remark, copied to the ledger.
    forces_file : Path or None
        A second file, whose force plates are joined to the recording.
    emg_file : Path or None
        A file with the electromyography, where the recording does not have it.
    maximal_files : tuple of Path
        Recordings of maximum voluntary contractions.
    static_file : Path or None
        Static trial of the subject, from which landmarks are carried.
    """

    name: str
    session: str
    subject: Subject
    file: Path
    chain: str
    side: str
    condition: str
    settings: Settings
    marker_set: str
    prefix: str = ""
    load: str = ""
    start_s: float | None = None
    end_s: float | None = None
    note: str = ""
    forces_file: Path | None = None
    emg_file: Path | None = None
    maximal_files: tuple[Path, ...] = ()
    static_file: Path | None = None

    @property
    def cutoff_group(self) -> str:
        """Chain and condition, as `filter.cutoffs_hz` names them."""
        return f"{self.chain}, {self.condition}" if self.condition else self.chain

    @property
    def named_files(self) -> tuple[Path, ...]:
        """Files that the table names for the trial."""
        others = (self.forces_file, self.emg_file, self.static_file)
        return (self.file, *filter(None, others), *self.maximal_files)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files read for the trial, including files of single frames."""
        return tuple(file for named in self.named_files for file in frame_files(named))


MOST_HINTS = 100  # misspelt names that are compared with the known ones
MOST_NAMES = 2000  # of one kind: among more, a near one is no hint


@dataclass(frozen=True)
class References:
    """Targets of references in the table of trials.

    Attributes
    ----------
    folder : Path
        The study's folder.
    settings : Settings
        The study's settings.
    subjects : collection of str
        Names of the subjects.
    """

    folder: Path
    settings: Settings
    subjects: Collection[str]
    _hints: dict[tuple[str, str], str] = field(default_factory=dict)
    _files: dict[str, bool] = field(default_factory=dict)
    _paths: dict[str, Path] = field(default_factory=dict)

    def hint(self, kind: str, value: str, known: Collection[str]) -> str:
        """Suggestion for a misspelt name, the first time only."""
        if (kind, value) not in self._hints:
            if len(self._hints) >= MOST_HINTS or len(known) > MOST_NAMES:
                return ""
            self._hints[kind, value] = did_you_mean(value, known)
        return self._hints[kind, value]

    def path(self, file: str) -> Path:
        """Path of a file of the study, one object for all its trials."""
        if file not in self._paths:
            self._paths[file] = self.folder / file
        return self._paths[file]

    def has(self, file: str) -> bool:
        """Return True if a file of the study exists; results are reused."""
        if file not in self._files:
            self._files[file] = _is_file(self.path(file))
        return self._files[file]


class TrialRow(Row):
    """Row of the table of trials."""

    # references are checked where `References` are given as pydantic's context

    trial: str = option(..., "Name of the trial.", allowed=NAME_IN_WORDS, pattern=NAME)
    session: str = option(..., allowed=NAME_IN_WORDS, pattern=NAME)
    """Name of the session, by which trials are put into jobs."""
    subject: str = option(..., "Subject of the trial, a name from the table of subjects.")
    file: str = option(..., "Recording; a relative path starts at the study's folder.")
    forces_file: str = option("", "Second file with the force plates of the recording.")
    emg_file: str = option("", "File with the electromyography, if it is not in the recording.")
    static_file: str = option("", "Static trial of the subject, for landmarks with a rule 'static'.")
    chain: str = option(..., "arm, leg, arm_without_hand, leg_without_foot, or a chain of the settings.")
    side: Literal["left", "right"] = option(..., "Side of the analysed limb.")
    condition: str = option("", "Experimental condition; trials are averaged by condition.")
    marker_set: str = option("", validate_default=True)
    """Marker set of the settings that names the markers; may be empty where there is only one."""
    prefix: str = option("", "Subject prefix of the labels, if the file has several.")
    load: str = option("", "External load, a name from the settings' loads.")
    start_s: float | None = option(None, "Start of the analysed part, from the first frame.", "s")
    end_s: float | None = option(None, "End of the analysed part, from the first frame.", "s")
    note: str = option("", "Remark, copied to the ledger.")

    @field_validator("subject")
    @classmethod
    def _known_subject(cls, value: str, info: ValidationInfo) -> str:
        known = info.context.subjects if info.context else ()
        if info.context and known and value not in known:
            raise ValueError(
                f"expected a subject of {info.context.settings.subjects}{info.context.hint('subject', value, known)}"
            )
        return value

    @field_validator("file", "forces_file", "emg_file", "static_file")
    @classmethod
    def _existing_file(cls, value: str, info: ValidationInfo) -> str:
        if info.context is None or (info.field_name != "file" and not value):
            return value
        folder = info.context.folder
        if "\\" in value and not info.context.has(value):  # as Windows writes paths
            value = value.replace("\\", "/")
        if set(value) & set("{}<>"):
            raise ValueError(
                "expected a name without braces and <>, which Snakemake reads as a pattern; rename the file"
            )
        if not info.context.has(value):
            raise ValueError(f"expected a file; it does not exist in the study's folder {folder.resolve().name!r}")
        paths = [folder / info.data.get("file", ""), folder / value] if info.field_name == "forces_file" else []
        if paths and all(map(_is_file, paths)) and paths[0].samefile(paths[1]):
            raise ValueError(
                "expected another file than in the column file; name the file with the force plates, or leave forces_file empty "
                "if they are in the recording"
            )
        return value

    @field_validator("chain")
    @classmethod
    def _known_chain(cls, value: str, info: ValidationInfo) -> str:
        if info.context and value not in (known := info.context.settings.chain_names):
            raise ValueError(f"expected one of {', '.join(known)}{info.context.hint('chain', value, known)}")
        return value

    @field_validator("load")
    @classmethod
    def _known_load(cls, value: str, info: ValidationInfo) -> str:
        if info.context and value and value not in (known := info.context.settings.loads):
            raise ValueError(f"expected a name from the settings' loads{info.context.hint('load', value, known)}")
        return value

    @field_validator("marker_set")
    @classmethod
    def _known_marker_set(cls, value: str, info: ValidationInfo) -> str:
        if not info.context:
            return value
        known: list[str] = list(info.context.settings.marker_sets)
        if not known:
            raise ValueError("expected a name from marker_sets, but the settings have no marker_sets")
        if not value and len(known) == 1:
            return known[0]
        if value not in known:
            raise ValueError(
                f"expected one of {', '.join(known)}, the settings' marker_sets{info.context.hint('marker_set', value, known)}"
            )
        return value

    @field_validator("end_s")
    @classmethod
    def _after_start(cls, value: float | None, info: ValidationInfo) -> float | None:
        start = info.data.get("start_s")
        if value is not None and start is not None and value <= start:
            raise ValueError(f"expected a time after start_s, {start:g} s")
        return value


def subjects_of(trials: Iterable[Trial]) -> tuple[Subject, ...]:
    """Subjects of trials, each once, in the order of the trials."""
    return tuple({trial.subject.name: trial.subject for trial in trials}.values())


def read_trials(path: Path, references: References, subjects: dict[str, Subject], *, faults: list[str]) -> list[Trial]:
    """Read the table of trials.

    Parameters
    ----------
    path : Path
        The table.
    references : References
        What its rows may refer to.
    subjects : dict of str to Subject
        The subjects without a fault, by name.
    faults : list of str
        A sentence for every fault is added here.

    Returns
    -------
    list of Trial
        The trials of the rows without a fault.
    """
    settings, table, count = references.settings, references.settings.trials, len(faults)
    rows = table_rows(path, REQUIRED_COLUMNS, faults, name=table)
    if not rows and len(faults) == count:
        faults.append(f"{table}: the table has no trials")
    unknown = [
        column
        for column in (rows[0][1] if rows else ())
        if column not in TrialRow.model_fields and not _changes_option(column)
    ]
    faults += few((_column_fault(table, column) for column in unknown), len(unknown), table)
    made: dict[tuple[tuple[str, str], ...], Settings] = {}
    trials = []
    for line, cells in rows:
        where = f"{table} line {line}" + (f" (trial {cells['trial']})" if cells["trial"] else "")
        row = checked(TrialRow, TrialRow.cells(cells), where=where, faults=faults, context=references)
        if row and not cells.get("filter.cutoff_hz") and (given_hz := _cutoff_of(row, settings)):
            cells = {**cells, "filter.cutoff_hz": given_hz}
        own = _own_settings(settings, made, cells, where, faults)
        lacking = [file for file in own.emg.max_voluntary_files if not references.has(file)] if own else []
        faults += [
            f"{where}: emg.max_voluntary_files names {file!r}, which does not exist in the study's folder"
            for file in lacking
        ]
        if row and own and not lacking and row.subject in subjects:
            files = {name: getattr(row, name) for name in ("file", "forces_file", "emg_file", "static_file")}
            values = {name: value for name, value in row if name not in ("trial", "subject", *files)}
            values |= {name: references.path(file) for name, file in files.items() if file}
            maximal = tuple(references.path(file) for file in own.emg.max_voluntary_files)
            subject = subjects[row.subject]
            trials.append(Trial(name=row.trial, subject=subject, settings=own, maximal_files=maximal, **values))
    seen = dict[str, str]()
    for trial in (cells["trial"] for _, cells in rows if cells["trial"]):
        if first := seen.get(trial.lower()):
            differ = "names must differ by more than upper and lower case"
            faults.append(f"{table}: trial {trial!r} occurs twice (as {first!r}); {differ}")
        seen[trial.lower()] = trial
    for column in ("session", "condition"):
        faults += alike(column, (cells.get(column, "") for _, cells in rows), table)
    return trials


def _cutoff_of(row: TrialRow, settings: Settings) -> str:
    """Cut-off given for the row's chain and condition, Hz; empty without."""
    given_hz = settings.filter.cutoffs_hz
    return str(given_hz.get(f"{row.chain}, {row.condition}", given_hz.get(row.chain, "")))


@functools.cache
def _changes_option(column: str) -> bool:
    """Return True if a column is an option that may differ between trials."""
    return column in settable_names() and (column.split(".")[0] in PER_TRIAL or column in PER_TRIAL)


def _column_fault(table: str, column: str) -> str:
    if column.split(".")[0] not in Settings.model_fields:
        return (
            f"{unknown_column(table, column, TrialRow.model_fields)}; "
            "a column that sets an option for one trial has the name of the option, e.g. filter.cutoff_hz"
        )
    if column not in settable_names():
        return f"{table}: no option is called {column!r}{did_you_mean(column, settable_names())}"
    return f"{table}: {column} is an option of the whole study; set it in the settings file"


def _own_settings(
    settings: Settings,
    made: dict[tuple[tuple[str, str], ...], Settings],
    cells: dict[str, str],
    where: str,
    faults: list[str],
) -> Settings | None:
    """Settings of a trial, reused for trials with the same changes, or None."""
    changes = {column: cell for column, cell in cells.items() if cell and _changes_option(column)}
    open_cells = [column for column, cell in changes.items() if is_to_do(cell)]
    faults += [
        f"{where}: {column} {to_do_text(changes.pop(column), OPTIONS_TO_DO.get(column, ''))}" for column in open_cells
    ]
    key = tuple(sorted(changes.items()))
    try:
        if key not in made:
            made[key] = override(settings, changes, source="columns of this trial") if changes else settings
    except SettingsError as error:
        faults += [f"{where}: {fault}" for fault in error.faults]
        return None
    if made[key].plane.up_axis is None and NO_UP_AXIS not in faults:
        faults.append(NO_UP_AXIS)
    return None if open_cells else made[key]


def _is_file(path: Path) -> bool:
    """Return True if a file exists; False for invalid names."""
    try:
        return path.is_file()
    except OSError:
        return False

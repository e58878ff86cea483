"""The tables of trials and subjects, read and checked as a whole before anything is computed."""

from __future__ import annotations

import csv
import difflib
import functools
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from limbtorque.chain.body_segments import MEASURED
from limbtorque.errors import SettingsError, StudyError
from limbtorque.study.settings import Settings, load_settings, option_names, override

SETTINGS_FILE = "config/config.yaml"
REQUIRED_TRIAL_COLUMNS = ("trial", "session", "subject", "file", "chain", "side", "condition")
OPTIONAL_TRIAL_COLUMNS = ("forces_file", "marker_set", "prefix", "load", "start_s", "end_s", "note")
REQUIRED_SUBJECT_COLUMNS = ("subject", "mass_kg", "height_m", "sex")
OPTIONAL_SUBJECT_COLUMNS = ("note",)
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
    "integration",
    "replay",
    "muscles",
    "quality",
    "ensembles.window",
    "ensembles.onset_share",
    "ensembles.max_rest_s",
    "ensembles.start_event",
    "ensembles.end_event",
    "ensembles.cycle",
)
TO_DO = "TODO"
NEEDED = {
    "mass_kg": "body mass in kg; segment masses are shares of it",
    "height_m": "body height in m, or nothing",
    "side": "left or right, the limb that the markers are on",
    "chain": "arm, leg, or a chain of the settings",
    "marker_set": "which of the settings' marker_sets names the markers",
    "subject": "whose trial it is, a name from the table of subjects",
    "plane.forward_axis": "the laboratory's axis that the person faces, such as +x, or travel where they move along",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Subject:
    """One subject.

    Attributes
    ----------
    name : str
        Name, as in the table of trials.
    mass_kg : float
        Body mass, kg.
    height_m : float
        Body height, m; NaN where not given.
    sex : str
        ``"f"``, ``"m"`` or empty.
    measured : dict of str to float
        Segment parameters of this subject, e.g. ``{"forearm_mass_kg": 1.2}``; they take the place of the table's.
    note : str
        Anything; carried to the ledger.
    """

    name: str
    mass_kg: float
    height_m: float
    sex: str
    measured: dict[str, float]
    note: str = ""


@dataclass(frozen=True)
class Trial:
    """One trial to analyse.

    Attributes
    ----------
    name, session, condition : str
        As in the table of trials.
    subject : Subject
        Whose trial it is.
    file : Path
        The recording; relative paths start at the study's folder.
    chain : str
        Name of the chain.
    side : str
        ``"left"`` or ``"right"``.
    settings : Settings
        The study's settings with this trial's own columns applied.
    marker_set : str
        Which of the settings' marker sets names the markers.
    prefix : str
        Subject prefix of the labels, where the file has several.
    load : str
        Name of an external load, or empty.
    start_s, end_s : float or None
        Window of the recording that is analysed, s from its first frame.
    note : str
        Anything; carried to the ledger.
    forces_file : Path or None
        A second file, whose force plates are joined to the recording.
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

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that are read for the trial."""
        return (self.file, self.forces_file) if self.forces_file else (self.file,)


@dataclass(frozen=True)
class Study:
    """A checked study.

    Attributes
    ----------
    folder : Path
        The folder all relative paths start from.
    settings : Settings
        The settings.
    trials : tuple of Trial
        Trials in the order of their table.
    batches : dict of str to tuple of Trial
        The trials of each job: a session, or a part of a long one.
    """

    folder: Path
    settings: Settings
    trials: tuple[Trial, ...]
    batches: dict[str, tuple[Trial, ...]]


def load_study(folder: Path, *, settings_file: str = SETTINGS_FILE) -> Study:
    """Read the settings and both tables of a study and check them against each other.

    Parameters
    ----------
    folder : Path
        The study's folder.
    settings_file : str, optional
        Settings file, relative to the folder.

    Returns
    -------
    Study
        The study, all of whose files exist.

    Raises
    ------
    SettingsError
        The settings are wrong.
    StudyError
        The tables are wrong; every fault of both is listed.
    """
    settings = load_settings(folder / settings_file)
    faults: list[str] = []
    _check_marker_sets(settings, faults)
    subjects = _subjects(folder / settings.subjects, faults)
    count = len(faults)
    rows = table_rows(folder / settings.trials, REQUIRED_TRIAL_COLUMNS, faults)
    if not rows and len(faults) == count:
        faults.append(f"{settings.trials}: the table has no trials")
    _check_trial_columns(settings, rows, faults)
    trials = [
        trial
        for line, row in rows
        if (trial := _trial(folder, settings, subjects, row, f"{settings.trials} line {line}", faults))
    ]
    _check_duplicates([row["trial"] for _, row in rows], settings.trials, faults)
    if faults:
        raise StudyError(faults)
    return Study(folder, settings, tuple(trials), _batches(trials, settings.run.max_trials_per_job))


def table_rows(path: Path, required: Iterable[str], faults: list[str]) -> list[tuple[int, dict[str, str]]]:
    """Rows of a table of the study with their line numbers; cells stripped, empty rows and comments left out.

    Parameters
    ----------
    path : Path
        The table, CSV.
    required : iterable of str
        Columns it must have.
    faults : list of str
        What is wrong with it is added here.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(_without_comments(file), strict=True)
            start = _comments_before_the_header(path)
            header = [name.strip() for name in reader.fieldnames or []]
            missing = [name for name in required if name not in header]
            if missing:
                hint = (
                    "; the columns are separated by ';', expected ','" if len(header) == 1 and ";" in header[0] else ""
                )
                faults.append(f"{path.name}: column {', '.join(missing)} is missing{hint}")
                return []
            if len(set(header)) != len(header):
                faults.append(f"{path.name}: a column occurs twice: {', '.join(sorted(_repeated(header)))}")
                return []
            reader.fieldnames = header
            rows = []
            for row in reader:
                if None in row or any(value is None for value in row.values()):
                    faults.append(
                        f"{path.name} line {start + reader.line_num}: expected {len(header)} cells, found {_cells(row)}"
                    )
                elif any(value.strip() for value in row.values()):
                    rows.append((start + reader.line_num, {key: value.strip() for key, value in row.items()}))
            return rows
    except FileNotFoundError:
        faults.append(f"{path}: the table does not exist")
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        faults.append(f"{path}: not readable as CSV in UTF-8: {error}")
    return []


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a CSV file, those that begin with # empty, and left out before the header; a # in a quoted cell stays."""
    quoted, begun = False, False
    for line in lines:
        if not quoted and line.lstrip().startswith("#"):
            if begun:
                yield "\n"
            continue
        begun = True
        quoted ^= line.count('"') % 2 == 1
        yield line


def _comments_before_the_header(path: Path) -> int:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return sum(1 for _ in itertools.takewhile(lambda line: line.lstrip().startswith("#"), file))


def _to_do(row: dict[str, str], where: str, faults: list[str]) -> bool:
    """Whether a row has cells that are still to be filled in; each is a fault."""
    open_cells = [column for column, value in row.items() if value.upper().startswith(TO_DO)]
    for column in open_cells:
        faults.append(
            f"{where}: {column} is still to be filled in ({row[column]}): {NEEDED.get(column, 'see the comment')}"
        )
    return bool(open_cells)


def _cells(row: dict[str | None, str | list[str] | None]) -> int:
    extra = row.get(None)
    return sum(v is not None for k, v in row.items() if k is not None) + (len(extra) if isinstance(extra, list) else 0)


def _repeated(names: list[str]) -> set[str]:
    return {name for name in names if names.count(name) > 1}


def _number(row: dict[str, str], column: str, where: str, faults: list[str]) -> float | None:
    """Number in a cell, None where it is empty or wrong."""
    text = row.get(column, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        faults.append(f"{where}: {column} is {text!r}, expected a number with a decimal point")
        return None
    if value != value or abs(value) == float("inf"):
        faults.append(f"{where}: {column} is {text!r}, expected a finite number")
        return None
    return value


def _subjects(path: Path, faults: list[str]) -> dict[str, Subject]:
    subjects: dict[str, Subject] = {}
    rows = table_rows(path, REQUIRED_SUBJECT_COLUMNS, faults)
    known = [*REQUIRED_SUBJECT_COLUMNS, *OPTIONAL_SUBJECT_COLUMNS, *MEASURED]
    for column in rows[0][1] if rows else ():
        if column not in known:
            faults.append(f"{path.name}: column {column!r} is unknown{_hint(column, known)}")
    for line, row in rows:
        where, name = f"{path.name} line {line}", row["subject"]
        if not name:
            faults.append(f"{where}: subject is empty")
        elif name in subjects:
            faults.append(f"{where}: subject {name!r} is there twice")
        else:
            subjects[name] = _subject(row, where, faults)
    return subjects


def _subject(row: dict[str, str], where: str, faults: list[str]) -> Subject:
    count = len(faults)
    if _to_do(row, f"{where} (subject {row['subject']})", faults):
        row = {column: "" if value.upper().startswith(TO_DO) else value for column, value in row.items()}
    mass = _number(row, "mass_kg", where, faults)
    if mass is None and len(faults) == count:
        faults.append(f"{where}: subject {row['subject']!r} has no mass_kg; segment masses are shares of it")
    elif mass is not None and not 1.0 <= mass <= 400.0:
        hint = "; that looks like grams" if mass >= 1000.0 else ""
        faults.append(f"{where}: mass_kg is {mass:g}, expected 1 to 400 kg{hint}")
    height = _number(row, "height_m", where, faults)
    if height is not None and not 0.3 <= height <= 2.8:
        hint = "; that looks like centimetres" if 30 <= height <= 280 else ""
        hint = "; that looks like millimetres" if 300 <= height <= 2800 else hint
        faults.append(f"{where}: height_m is {height:g}, expected 0.3 to 2.8 m{hint}")
    if row["sex"].lower() not in ("", "f", "m"):
        faults.append(f"{where}: sex is {row['sex']!r}, expected f, m or nothing")
    measured = {name: value for name in MEASURED if (value := _number(row, name, where, faults)) is not None}
    for name, value in measured.items():
        if value <= 0.0:
            faults.append(f"{where}: {name} is {value:g}, expected more than 0")
    return Subject(
        name=row["subject"],
        mass_kg=mass if mass is not None else float("nan"),
        height_m=height if height is not None else float("nan"),
        sex=row["sex"].lower(),
        measured=measured,
        note=row.get("note", ""),
    )


def _check_trial_columns(settings: Settings, rows: list[tuple[int, dict[str, str]]], faults: list[str]) -> None:
    known = [*REQUIRED_TRIAL_COLUMNS, *OPTIONAL_TRIAL_COLUMNS]
    for column in rows[0][1] if rows else ():
        section = column.split(".")[0]
        if column in known or _changes_option(column):
            continue
        if section in Settings.model_fields and column not in option_names():
            faults.append(f"{settings.trials}: no option is called {column!r}{_hint(column, option_names())}")
        elif section in Settings.model_fields:
            faults.append(f"{settings.trials}: {column} is an option of the whole study; set it in the settings file")
        else:
            faults.append(
                f"{settings.trials}: column {column!r} is unknown{_hint(column, known)}; "
                "a column that changes an option for one trial is named like the option, e.g. filter.cutoff_hz"
            )


def _changes_option(column: str) -> bool:
    """Whether a column of the table of trials is an option that may differ between trials."""
    return column in option_names() and (column.split(".")[0] in PER_TRIAL or column in PER_TRIAL)


def _trial(
    folder: Path,
    settings: Settings,
    subjects: dict[str, Subject],
    row: dict[str, str],
    where: str,
    faults: list[str],
) -> Trial | None:
    count = len(faults)
    if _to_do(row, f"{where} (trial {row['trial']})", faults):
        _check_up_axis(settings, faults)
        return None
    if not _NAME.fullmatch(row["trial"]):
        faults.append(
            f"{where}: trial is {row['trial']!r}; a name starts with a letter or digit and has letters, digits, "
            "'_', '.' and '-' only, at most 100: it becomes the name of a file"
        )
    where = f"{where} (trial {row['trial']})"
    if not _NAME.fullmatch(row["session"]):
        faults.append(f"{where}: session is {row['session']!r}; the same rule as for trial names holds")
    if subjects and row["subject"] not in subjects:
        faults.append(
            f"{where}: subject {row['subject']!r} is not in {settings.subjects}{_hint(row['subject'], subjects)}"
        )
    file = _file(folder, row["file"], "file", where, faults)
    forces_file = None
    if row.get("forces_file"):
        forces_file = _file(folder, row["forces_file"], "forces_file", where, faults)
        if _same(file, forces_file):
            faults.append(
                f"{where}: file and forces_file are the same file, {row['file']!r}; name the file that has the force "
                "plates, or leave forces_file empty where the recording has them itself"
            )
    if row["chain"] not in settings.chain_names:
        faults.append(f"{where}: chain is {row['chain']!r}, expected one of {', '.join(settings.chain_names)}")
    if row["side"] not in ("left", "right"):
        faults.append(f"{where}: side is {row['side']!r}, expected left or right")
    load = row.get("load", "")
    if load and load not in settings.loads:
        faults.append(f"{where}: load {load!r} is not among the settings' loads{_hint(load, settings.loads)}")
    marker_set = _marker_set(settings, row.get("marker_set", ""), where, faults)
    start, end = _number(row, "start_s", where, faults), _number(row, "end_s", where, faults)
    if start is not None and end is not None and end <= start:
        faults.append(f"{where}: end_s {end:g} is not after start_s {start:g}")
    try:
        changes = {column: value for column, value in row.items() if value and _changes_option(column)}
        own = _own_settings(settings, tuple(sorted(changes.items())))
    except SettingsError as error:
        faults.append(f"{where}: {error}")
    else:
        _check_up_axis(own, faults)
    if len(faults) > count or row["subject"] not in subjects:
        return None
    return Trial(
        name=row["trial"],
        session=row["session"],
        subject=subjects[row["subject"]],
        file=file,
        chain=row["chain"],
        side=row["side"],
        condition=row["condition"],
        settings=own,
        marker_set=marker_set,
        prefix=row.get("prefix", ""),
        load=load,
        start_s=start,
        end_s=end,
        note=row.get("note", ""),
        forces_file=forces_file,
    )


def _check_up_axis(settings: Settings, faults: list[str]) -> None:
    if settings.plane.up_axis is None and not any("plane.up_axis" in fault for fault in faults):
        faults.append(
            "plane.up_axis is not given: name the laboratory's axis that points up, e.g. '+z', in the settings"
        )


def _check_marker_sets(settings: Settings, faults: list[str]) -> None:
    """Landmarks whose marker is still to be named."""
    for name, rules in settings.marker_sets.items():
        for landmark, rule in rules.items():
            if isinstance(rule, str) and rule.upper().startswith(TO_DO):
                faults.append(
                    f"marker_sets.{name}.{landmark} is still to be filled in ({rule}): name the marker, or the markers, it is "
                    "made of, or take the line out and name one that may stand for it in 'substitutes'"
                )


def _file(folder: Path, name: str, column: str, where: str, faults: list[str]) -> Path:
    """Path of a file of a trial, which has to be there."""
    if not name or not _is_file(folder / name):
        faults.append(f"{where}: {column} {name!r} does not exist in {folder.resolve().name!r}")
    if set(name) & set("{}<>"):
        faults.append(
            f"{where}: {column} {name!r} has braces or <> in its name, which Snakemake takes for a pattern; rename it"
        )
    return folder / name


def _same(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file."""
    return _is_file(first) and _is_file(second) and first.samefile(second)


def _is_file(path: Path) -> bool:
    """Whether a file is there; a name that no file system takes is of no file."""
    try:
        return path.is_file()
    except OSError:
        return False


@functools.lru_cache(maxsize=1024)
def _own_settings_cached(key: str, changes: tuple[tuple[str, str], ...]) -> Settings:
    return override(Settings.model_validate_json(key), dict(changes), source="option of this trial")


def _own_settings(settings: Settings, changes: tuple[tuple[str, str], ...]) -> Settings:
    return _own_settings_cached(settings.model_dump_json(), changes) if changes else settings


def _marker_set(settings: Settings, name: str, where: str, faults: list[str]) -> str:
    if name in settings.marker_sets:
        return name
    if not name and len(settings.marker_sets) == 1:
        return next(iter(settings.marker_sets))
    if not settings.marker_sets:
        faults.append(f"{where}: the settings have no marker_sets, so no landmark is known")
    elif name:
        faults.append(f"{where}: marker_set {name!r} is not in the settings{_hint(name, settings.marker_sets)}")
    else:
        faults.append(f"{where}: marker_set is empty, expected one of {', '.join(settings.marker_sets)}")
    return ""


def _check_duplicates(names: list[str], table: str, faults: list[str]) -> None:
    seen: dict[str, str] = {}
    for name in filter(None, names):
        if name.lower() in seen:
            faults.append(
                f"{table}: trial {name!r} is there twice (as {seen[name.lower()]!r}); names differ by more "
                "than upper and lower case"
            )
        seen[name.lower()] = name


def _batches(trials: list[Trial], size: int) -> dict[str, tuple[Trial, ...]]:
    sessions: dict[str, list[Trial]] = {}
    for trial in trials:
        sessions.setdefault(trial.session, []).append(trial)
    batches = {}
    for session, members in sessions.items():
        parts = [tuple(members[i : i + size]) for i in range(0, len(members), size)]
        for number, part in enumerate(parts, start=1):
            batches[session if len(parts) == 1 else f"{session}~{number}"] = part
    return batches


def _hint(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""

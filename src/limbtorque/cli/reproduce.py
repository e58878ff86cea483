"""A study built again from its supplement and the recordings, run, and compared."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from limbtorque.cli.diff.compare import Comparison, compare
from limbtorque.cli.diff.report import change_rows
from limbtorque.cli.diff.runs import read_run
from limbtorque.cli.moved_files import settings_with_moved_files, with_moved_files, write_rows
from limbtorque.cli.supplement import FORMAT, MANIFEST, README, STUDY, is_unsafe, name_in_study
from limbtorque.errors import LimbtorqueError
from limbtorque.study.files import SETTINGS_FILE, parse_yaml, write_bytes, write_text, yaml_text
from limbtorque.study.settings import load_settings
from limbtorque.study.table_file import table_rows
from limbtorque.workflow.layout import RESULTS
from limbtorque.workflow.records import Seal, content_seal, file_seal

EXPECTED = "expected"  # folder of the new study with the results of the supplement
RECORDINGS = "recordings"
MOST_BYTES = 4_000_000_000  # of all files of a supplement
SHOWN = 20  # faults and differences
ANOTHER = "ask for another copy"


@dataclass(frozen=True)
class Supplement:
    """Content of a supplement.

    Attributes
    ----------
    version : str
        Version of the program that made it.
    files : dict of str to bytes
        Settings, tables and results by their names in the archive.
    recordings : dict
        Size and SHA-256 by file name, for each recording by its name in the tables.
    """

    version: str
    files: Mapping[str, bytes]
    recordings: Mapping[str, Mapping[str, Seal]]


def read_supplement(path: Path) -> Supplement:
    """Read a supplement.

    Raises
    ------
    LimbtorqueError
        It is no zip archive or no supplement, has names that leave its folder, or lacks a file or has it changed.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > MOST_BYTES:
                raise LimbtorqueError(
                    f"{path} has more than {MOST_BYTES // 10**9} GB, too much for a supplement; {ANOTHER}"
                )
            contents = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise LimbtorqueError(f"{path} is not a readable zip archive ({error}); {ANOTHER}") from None
    if MANIFEST not in contents:
        raise LimbtorqueError(
            f"{path} has no {MANIFEST}, so it is no supplement; make one: limbtorque supplement STUDY"
        )
    try:
        manifest = json.loads(contents.pop(MANIFEST))
        if manifest["format"] != FORMAT:
            raise LimbtorqueError(f"{path} is of limbtorque {manifest['limbtorque']}; install that version to read it")
        listed, recordings = dict(manifest["files"]), manifest["recordings"]
        seals: dict[str, dict[str, Seal]] = {
            named: {str(name): [int(seal[0]), str(seal[1])] for name, seal in files.items()}
            for named, files in recordings.items()
        }
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        raise LimbtorqueError(f"{path}: {MANIFEST} is not readable; {ANOTHER}") from None
    names = {*contents, *listed, *(f"{STUDY}/{name}" for files in seals.values() for name in files)} - {README}
    if unsafe := sorted(filter(is_unsafe, names)):
        raise LimbtorqueError(
            f"{path} has the name {unsafe[0]!r}, which no supplement has; nothing was written; {ANOTHER}"
        )
    faults = [f"{name}: missing" for name in listed if name not in contents]
    faults += [f"{name}: changed" for name in contents if listed.get(name) != content_seal(contents[name])]
    if faults or len(entries) > len(contents) + 1:
        raise LimbtorqueError(f"{path} is damaged ({faults[0] if faults else 'a name occurs twice'}); {ANOTHER}")
    return Supplement(str(manifest["limbtorque"]), contents, seals)


def find_recordings(supplement: Supplement, folder: Path) -> dict[str, Path]:
    """Files of the recordings by their SHA-256, under whatever names.

    Raises
    ------
    LimbtorqueError
        Recordings are missing, or have other contents.
    """
    wanted = [
        (f"{PurePosixPath(named).parent}/{name}", seal)
        for named, files in supplement.recordings.items()
        for name, seal in files.items()
    ]
    sizes = {seal[0] for _, seal in wanted}
    there = sorted(path for path in folder.rglob("*") if path.is_file())
    by_hash = {str(file_seal(path)[1]): path for path in reversed(there) if path.stat().st_size in sizes}
    by_name = {path.name: path for path in there}
    faults = []
    for name, seal in wanted:
        if seal[1] not in by_hash:
            other = by_name.get(PurePosixPath(name).name)
            fault = f"{other} has this name and other contents" if other else "missing"
            faults.append(f"  - {name}: {fault} (SHA-256 {seal[1]}, {seal[0]} bytes)")
    if faults:
        more = [f"  and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
        raise LimbtorqueError(
            "\n".join(
                [f"{len(faults)} of {len(wanted)} files of the recordings are not in {folder}:", *faults[:SHOWN], *more]
            )
            + "\nnothing was computed; add the original files to this folder, under any name"
        )
    return by_hash


def build_study(supplement: Supplement, found: Mapping[str, Path], target: Path) -> None:
    """Write a new study with links to the recordings, and the expected results beside it.

    Where the file system has no hard links, recordings are copied.
    """
    if target.exists():
        raise LimbtorqueError(f"{target} exists; name another folder with --study, or remove it")
    for name, content in supplement.files.items():
        place, _, rest = name.partition("/")
        write_bytes(target / {STUDY: "", str(RESULTS): EXPECTED}.get(place, place) / rest, content)
    moved = {}
    for number, (named, files) in enumerate(supplement.recordings.items(), start=1):
        place = f"{RECORDINGS}/{number}"
        moved[named] = f"{place}/{PurePosixPath(named).name}"
        (target / place).mkdir(parents=True)
        for name, seal in files.items():
            _link(found[str(seal[1])].resolve(), target / place / name)

    def new_path(cell: str) -> str:
        named = name_in_study(target / cell, target)
        return moved.get(named) or moved[named.replace("\\", "/")]

    settings = target / SETTINGS_FILE
    values = parse_yaml(settings.read_text(encoding="utf-8")) or {}
    if (changed := settings_with_moved_files(values, new_path)) != values:
        write_text(settings, yaml_text(changed))
    trials = target / load_settings(settings).trials
    write_rows(trials, [with_moved_files(row, new_path) for _, row in table_rows(trials, (), [])])


def _link(file: Path, place: Path) -> None:
    try:
        os.link(file, place)
    except OSError:
        shutil.copyfile(file, place)


def compared(target: Path, tolerance: float) -> Comparison:
    """Comparison of every number of a new study with those of its supplement."""
    expected, new = (read_run(target / name, every=True) for name in (EXPECTED, str(RESULTS)))
    return compare(expected, new, tolerance=tolerance, every=True)


def report_lines(comparison: Comparison, *, tolerance: float) -> list[str]:
    """Sentences about a comparison: changed versions and settings, and numbers that differ."""
    lines = [
        f"{c.kind} {c.name}: {c.first or 'none'} in the supplement, {c.second or 'none'} here"
        for c in comparison.causes
    ]
    rows = [_sentence(*map(str, row[:6])) for row in change_rows(comparison)]
    lines = [*_first(lines), *_first(rows)]
    agree = f"{comparison.n_compared} values compared"
    words = f"{len(rows)} differ by" if rows else "none differs by"
    return [*lines, f"{agree}, {words} more than {tolerance:g} of the largest value of its quantity"]


def _first(lines: list[str]) -> list[str]:
    return [*lines[:SHOWN], *[f"and {len(lines) - SHOWN} more"] * (len(lines) > SHOWN)]


def _sentence(table: str, trial: str, item: str, column: str, expected: str, found: str) -> str:
    where = f"{table}.csv, row {' '.join(filter(None, (trial, item)))}"
    if column.startswith("only in"):
        return f"{where}: only in {'the supplement' if column.endswith('a') else 'the new results'}"
    return f"{where}, column {column}: expected {expected or 'nothing'}, found {found or 'nothing'}"

"""Repeat a study from its supplement and recordings; compare every number."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from limbtorque.cli.diff.compare import Comparison, compare
from limbtorque.cli.diff.report import change_rows
from limbtorque.cli.diff.runs import read_run
from limbtorque.cli.supplement import FORMAT, MANIFEST, STUDY, is_unsafe
from limbtorque.errors import LimbtorqueError
from limbtorque.study.files import whole_file, write_bytes
from limbtorque.workflow.layout import RESULTS
from limbtorque.workflow.records import Seal, content_seal, file_seal

EXPECTED = "expected"  # folder of the new study with the results of the supplement
MOST_BYTES = 4_000_000_000  # of all files of a supplement
SHOWN = 20  # faults and differences
OTHER_COPY = "get another copy of it"


@dataclass(frozen=True)
class Supplement:
    """Content of a supplement.

    Attributes
    ----------
    version : str
        Version of the program that made it.
    files : dict of str to bytes
        Settings, tables and results by their names in the archive.
    recordings : dict of str to list
        Size and SHA-256 of each file of the recordings, by its place in the archive's study.
    """

    version: str
    files: Mapping[str, bytes]
    recordings: Mapping[str, Seal]


def read_supplement(path: Path) -> Supplement:
    """Read a supplement; writes nothing.

    Raises
    ------
    LimbtorqueError
        It is no zip archive or no supplement, has names that leave its folder, or lacks a file or has it changed.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > MOST_BYTES:
                raise LimbtorqueError(f"{path} has more than {MOST_BYTES} bytes; is it another file?")
            contents = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise LimbtorqueError(f"{path} is not a readable zip archive ({error}); {OTHER_COPY}") from None
    try:
        manifest = json.loads(contents.pop(MANIFEST))
        version, files, recordings = (manifest[name] for name in ("limbtorque", "files", "recordings"))
        seals: dict[str, Seal] = {
            name: [int(size), str(digest)] for name, (size, digest) in {**files, **recordings}.items()
        }
    except (LookupError, TypeError, ValueError, RecursionError):
        raise LimbtorqueError(
            f"{path} has no readable {MANIFEST}; make a supplement: limbtorque supplement STUDY"
        ) from None
    if manifest.get("format") != FORMAT:
        raise LimbtorqueError(f"{path} is a supplement of limbtorque {version}; install that version to read it")
    if unsafe := sorted(filter(is_unsafe, {*contents, *seals})):
        raise LimbtorqueError(f"{path} has a file {unsafe[0]!r}, which no supplement has; {OTHER_COPY}")
    missing = [name for name in files if name not in contents]
    changed = [name for name in contents if files.get(name) != content_seal(contents[name])]
    if missing or changed or len(entries) != len(contents) + 1:
        found = (
            f"{missing[0]} is missing" if missing else f"{changed[0]} was changed" if changed else "a file occurs twice"
        )
        raise LimbtorqueError(f"{path}: {found}; {OTHER_COPY}")
    return Supplement(str(version), contents, {name: seals[name] for name in recordings})


def find_recordings(supplement: Supplement, folder: Path) -> dict[str, Path]:
    """Files of the recordings by their SHA-256, under whatever names.

    Raises
    ------
    LimbtorqueError
        Recordings are missing, or have other contents.
    """
    sizes = {size for size, _ in supplement.recordings.values()}
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    by_hash = {str(file_seal(path)[1]): path for path in files if path.stat().st_size in sizes}
    by_name = {path.name: path for path in files}
    faults = []
    for size, digest, name in ((*seal, Path(place).name) for place, seal in supplement.recordings.items()):
        if digest not in by_hash:
            fault = f"{by_name[name]} has other contents" if name in by_name else "missing"
            faults.append(f"  - {name}: {fault}; expected {size} bytes with the SHA-256 {digest}")
    if faults:
        head = f"{len(faults)} of {len(supplement.recordings)} files of the recordings are not in {folder}:"
        advice = "nothing was computed; add the original files to that folder, under any name"
        raise LimbtorqueError("\n".join([head, *first_lines(faults), advice]))
    return by_hash


def build_study(supplement: Supplement, recordings: Mapping[str, Path], target: Path) -> None:
    """Write a new study, with the results of the supplement in `EXPECTED`.

    Recordings are hard links, or copies where the file system has no such links.
    """
    if target.exists():
        raise LimbtorqueError(f"{target} exists; name another folder with --study, or remove it")
    for name, content in supplement.files.items():
        write_bytes(_place(target, name), content)
    for name, (_, digest) in supplement.recordings.items():
        place, file = _place(target, name), recordings[str(digest)].resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(file, place)
        except OSError:
            with whole_file(place) as part:
                shutil.copyfile(file, part)


def _place(target: Path, name: str) -> Path:
    """Place of a file of the archive."""
    top, _, rest = name.partition("/")
    return target / rest if top == STUDY else target / EXPECTED / rest


def compared(target: Path, *, tolerance: float) -> Comparison:
    """Compare every number of a new study with its supplement."""
    expected, results = (read_run(target / name, every=True) for name in (EXPECTED, str(RESULTS)))
    return compare(expected, results, tolerance=tolerance, every=True)


def report_lines(comparison: Comparison, *, tolerance: float) -> list[str]:
    """Sentences about a comparison: changed versions and settings, then numbers."""
    causes = [f"{c.kind} {c.name}: expected {c.first or '-'}, found {c.second or '-'}" for c in comparison.causes]
    rows = [_sentence(*map(str, row[:6])) for row in change_rows(comparison)]
    count = f"{len(rows)} differ by" if rows else "none differs by"
    limit = f"more than {tolerance:g} of the largest value of its quantity"
    return [*first_lines(causes), *first_lines(rows), f"{comparison.n_compared} values compared, {count} {limit}"]


def first_lines(lines: list[str]) -> list[str]:
    """First lines, and the number of others."""
    return [*lines[:SHOWN], *[f"and {len(lines) - SHOWN} more"] * (len(lines) > SHOWN)]


def _sentence(table: str, trial: str, item: str, column: str, expected: str, value: str) -> str:
    row = f"{table}.csv, row {f'{trial} {item}'.strip()}"
    if column.startswith("only in"):
        return f"{row}: only in {'the supplement' if column.endswith('a') else 'the new results'}"
    return f"{row}, column {column}: expected {expected or 'nothing'}, found {value or 'nothing'}"

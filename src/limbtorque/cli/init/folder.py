"""Files of a folder: recordings, and known kinds of files that cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from limbtorque.cli.init.names import some_of
from limbtorque.errors import ReadError
from limbtorque.recordings.read import SUFFIXES, file_format

SKIPPED = {  # suffix -> what it is, and what to do
    ".qtm": "Qualisys projects: export C3D, or TSV",
    ".tak": "OptiTrack takes: export C3D, or CSV with the header information",
    ".x1d": "raw data of Vicon: export C3D from Nexus",
    ".x2d": "raw data of Vicon: export C3D from Nexus",
    ".trb": "binary Cortex recordings: export TRC",
    ".anb": "binary Cortex analog data: export ANC, or C3D",
    ".cap": "Cortex projects: export C3D, or TRC",
    ".mat": "MATLAB data: write the positions as CSV (docs/reading.md)",
    ".h5": "HDF5 data: write the positions as CSV (docs/reading.md)",
    ".hdf5": "HDF5 data: write the positions as CSV (docs/reading.md)",
    ".npy": "NumPy data: write the positions as CSV (docs/reading.md)",
    ".npz": "NumPy data: write the positions as CSV (docs/reading.md)",
    ".parquet": "Parquet tables: write the positions as CSV (docs/reading.md)",
    ".xls": "spreadsheets: save the sheet as CSV",
    ".xlsx": "spreadsheets: save the sheet as CSV",
    ".ods": "spreadsheets: save the sheet as CSV",
    ".bvh": "joint angles of a skeleton: export the positions of joints as C3D or TRC",
    ".amc": "joint angles of a skeleton: export the positions of joints as C3D or TRC",
    ".fbx": "an animated skeleton: export the positions of joints as C3D or TRC",
    ".json": "keypoints or other data: write three-dimensional positions as TRC or CSV",
    ".osim": "OpenSim models: see limbtorque import-muscles",
    ".avi": "videos: run a program for keypoints, and give its positions",
    ".mp4": "videos: run a program for keypoints, and give its positions",
    ".mov": "videos: run a program for keypoints, and give its positions",
    ".zip": "archives: unpack them",
    ".gz": "archives: unpack them",
    ".7z": "archives: unpack them",
}
_FURTHER_PLATE = re.compile(r"(.*_f_)(\d+)", re.IGNORECASE)
SAMPLE, TABLE_LINES = 60, 5
NOTES = ("readme", "license", "licence")


@dataclass(frozen=True)
class Folder:
    """Files of a folder and its subfolders.

    Attributes
    ----------
    recordings : tuple of Path
        Files to be read, sorted.
    skipped : tuple of str
        Sentences on files of known kinds that cannot be read, and on folders that cannot be opened.
    """

    recordings: tuple[Path, ...]
    skipped: tuple[str, ...]


def files_in(folder: Path, *, leave_out: Sequence[Path] = ()) -> Folder:
    """Find the recordings in a folder and its subfolders, without hidden ones.

    Parameters
    ----------
    folder : Path
        Where to look.
    leave_out : sequence of Path
        Folders that are not looked into.

    Notes
    -----
    A text file is a recording only by its content: licences and notes are passed over, tables of numbers are not. The
    files of the second and further plates of a Qualisys recording are read with the first one.
    """
    closed: list[str] = []
    others: dict[str, list[str]] = {}
    found: list[Path] = []
    left_out = {path.resolve() for path in leave_out}
    for where, folders, names in os.walk(folder, onerror=lambda error: closed.append(str(error.filename))):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and (Path(where) / n).resolve() not in left_out)
        first = {match[1] + "1" for name in names if (match := _FURTHER_PLATE.fullmatch(Path(name).stem))}
        for name in names:
            path, suffix = Path(where) / name, Path(name).suffix.lower()
            if name.startswith("."):
                continue
            if suffix in SKIPPED:
                others.setdefault(SKIPPED[suffix], []).append(path.relative_to(folder).as_posix())
            elif suffix in SUFFIXES and not _further_plate(path, first, names) and not _plain_text(path):
                found.append(path)
    skipped = [f"not read: {some_of(names)}: {what}" for what, names in others.items()]
    skipped += [f"{Path(name).name}: the folder cannot be opened; check its rights" for name in closed]
    return Folder(tuple(sorted(found)), tuple(skipped))


def _further_plate(path: Path, first: Iterable[str], names: Sequence[str]) -> bool:
    """Return True for the file of a second or further plate beside that of the first."""
    match = _FURTHER_PLATE.fullmatch(path.stem)
    one = f"{match[1]}1{path.suffix}" if match else ""
    return bool(match and match[2] != "1" and f"{match[1]}1" in first and one in names)


def _plain_text(path: Path) -> bool:
    """Return True if a .txt file is not a recording at all, such as a licence."""
    if path.suffix.lower() != ".txt":
        return False
    if path.stem.lower().startswith(NOTES):
        return True
    try:
        return file_format(path) is None
    except ReadError:
        return not _has_numbers(path)


def _has_numbers(path: Path) -> bool:
    """Return True for a text with lines of numbers, or one that cannot be opened."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = [line for _, line in zip(range(SAMPLE), file, strict=False)]
    except OSError:
        return True
    return (
        sum(bool(re.fullmatch(r"(?:\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?[,;]?){2,}\s*", line)) for line in lines)
        >= TABLE_LINES
    )

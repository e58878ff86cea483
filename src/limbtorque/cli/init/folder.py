"""Files of a folder: recordings, and known kinds of files that cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from limbtorque.cli.init.names import some_of
from limbtorque.errors import ReadError
from limbtorque.recordings.keypoints.document import is_keypoints
from limbtorque.recordings.read import HEAD, SUFFIXES, file_format
from limbtorque.study.trials import FRAME_SUFFIX, is_frame, numbered

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
    ".osim": "OpenSim models: see limbtorque muscles import",
    ".avi": "videos: run a program for keypoints, and give its positions",
    ".mp4": "videos: run a program for keypoints, and give its positions",
    ".mov": "videos: run a program for keypoints, and give its positions",
    ".zip": "archives: unpack them",
    ".gz": "archives: unpack them",
    ".7z": "archives: unpack them",
}
NO_KEYPOINTS = "no keypoints: write positions as TRC, CSV, or JSON of keypoints (docs/keypoints.md)"
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
    names : mapping of Path to str
        Names of recordings with one file for each frame, of which `recordings` has the first: that of their folder.
    others : tuple of (str, str)
        Each file that is skipped, with the reason.
    """

    recordings: tuple[Path, ...]
    skipped: tuple[str, ...]
    names: Mapping[Path, str] = field(default_factory=dict)
    others: tuple[tuple[str, str], ...] = ()

    def name(self, path: Path, folder: Path) -> str:
        """Name of a recording: its path from the folder that was looked at."""
        return self.names.get(path) or path.relative_to(folder).as_posix()


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
    files of the second and further plates of a Qualisys recording, and of the second and further frames of keypoints, are read with
    the first one.
    """
    closed: list[str] = []
    others: dict[str, list[str]] = {}
    found: list[Path] = []
    called: dict[Path, str] = {}
    left_out = {path.resolve() for path in leave_out}
    for where, folders, names in os.walk(folder, onerror=lambda error: closed.append(str(error.filename))):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and (Path(where) / n).resolve() not in left_out)
        first = {match[1] + "1" for name in names if (match := _FURTHER_PLATE.fullmatch(Path(name).stem))}
        keypoints, other = _json_files(Path(where), [name for name in names if not name.startswith(".")], folder)
        found += keypoints
        called |= {path: name for path, name in keypoints.items() if name}
        others.setdefault(NO_KEYPOINTS, []).extend(path.relative_to(folder).as_posix() for path in other)
        for name in names:
            path, suffix = Path(where) / name, Path(name).suffix.lower()
            if name.startswith(".") or suffix == FRAME_SUFFIX:
                continue
            if suffix in SKIPPED:
                others.setdefault(SKIPPED[suffix], []).append(path.relative_to(folder).as_posix())
            elif suffix in SUFFIXES and not _further_plate(path, first, names) and not _plain_text(path):
                found.append(path)
    skipped = [f"not read: {some_of(names)}: {what}" for what, names in others.items() if names]
    skipped += [f"{Path(name).name}: the folder cannot be opened; check its rights" for name in closed]
    each = tuple((name, what) for what, names in others.items() for name in names)
    return Folder(tuple(sorted(found)), tuple(skipped), called, each)


def _json_files(where: Path, names: Sequence[str], folder: Path) -> tuple[dict[Path, str], list[Path]]:
    """Recordings of keypoints, with the name of those of single frames; other files."""
    groups: dict[object, list[Path]] = {}
    for path in sorted(where / name for name in names if name.lower().endswith(FRAME_SUFFIX)):
        own = numbered(path)
        groups.setdefault((own[0], own[2]) if own else path, []).append(path)
    sequences = [group for group in groups.values() if numbered(group[0]) and any(map(is_frame, group))]
    singles = [path for group in groups.values() if group not in sequences for path in group]
    found = {path: "" for path in singles if _has_keypoints(path)}
    for group in sequences:
        found[min(group, key=_frame)] = _sequence_name(group[0], folder, alone=len(sequences) == 1 and not found)
    return found, [path for path in singles if path not in found]


def _frame(path: Path) -> int:
    own = numbered(path)
    return own[1] if own else 0


def _sequence_name(path: Path, folder: Path, *, alone: bool) -> str:
    """Name of a recording of single frames: its folder's, or of its files' beginning."""
    if alone and path.parent != folder:
        return f"{path.parent.relative_to(folder).as_posix()}{path.suffix}"
    before, _, after = numbered(path) or ("", 0, "")
    stem = f"{before}{after.removesuffix('_keypoints')}".strip("_-. ") or path.parent.name
    return path.with_name(f"{stem}{path.suffix}").relative_to(folder).as_posix()


def _has_keypoints(path: Path) -> bool:
    """Return True for keypoints, and for a file that its reader has to refuse."""
    try:
        with path.open("rb") as file:
            return is_keypoints(file.read(HEAD))
    except OSError:
        return True


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

"""Files of a folder: recordings, and known kinds of files that cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from limbtorque.cli.check_summary import some_of
from limbtorque.errors import ReadError
from limbtorque.recordings.keypoints.document import is_keypoints
from limbtorque.recordings.read import HEAD, SUFFIXES, file_format
from limbtorque.study.trials import FRAME_SUFFIX, is_frame, numbered

SKIPPED = {  # suffix -> what it is, and what to do
    suffix: text
    for suffixes, text in {
        ".qtm": "Qualisys projects: export C3D, or TSV",
        ".tak": "OptiTrack takes: export C3D, or CSV with the header information",
        ".x1d .x2d": "raw data of Vicon: export C3D from Nexus",
        ".trb": "binary Cortex recordings: export TRC",
        ".anb": "binary Cortex analog data: export ANC, or C3D",
        ".cap": "Cortex projects: export C3D, or TRC",
        ".mat": "MATLAB data: write the positions as CSV (docs/reading.md)",
        ".h5 .hdf5": "HDF5 data: write the positions as CSV (docs/reading.md)",
        ".npy .npz": "NumPy data: write the positions as CSV (docs/reading.md)",
        ".parquet": "Parquet tables: write the positions as CSV (docs/reading.md)",
        ".xls .xlsx .ods": "spreadsheets: save the sheet as CSV",
        ".bvh .amc .fbx": "an animated skeleton: export the positions of joints as C3D or TRC",
        ".osim": "OpenSim models: see limbtorque muscles import",
        ".avi .mp4 .mov": "videos: run a program for keypoints, and give its positions",
        ".zip .gz .7z": "archives: unpack them",
    }.items()
    for suffix in suffixes.split()
}
NO_KEYPOINTS = "no keypoints: write positions as TRC, CSV, or JSON of keypoints (docs/keypoints.md)"
_FURTHER_PLATE = re.compile(r"(.*_f_)(\d+)", re.IGNORECASE)
SAMPLE, TABLE_LINES = 60, 5
NOTES = ("readme", "license", "licence")
NUMBERS = re.compile(r"(?:\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?[,;]?){2,}\s*")


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
    others: list[tuple[str, str]] = []
    recordings: list[Path] = []
    named: dict[Path, str] = {}
    left_out = {path.resolve() for path in leave_out}
    for where, folders, names in os.walk(folder, onerror=lambda error: closed.append(str(error.filename))):
        here = Path(where)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and (here / n).resolve() not in left_out)
        paths = [here / name for name in sorted(names) if not name.startswith(".")]
        keypoints, without = _json_files([path for path in paths if path.suffix.lower() == FRAME_SUFFIX], folder)
        named |= {path: name for path, name in keypoints.items() if name}
        others += [(path.relative_to(folder).as_posix(), NO_KEYPOINTS) for path in without]
        recordings += keypoints
        for path in (path for path in paths if path.suffix.lower() != FRAME_SUFFIX):
            suffix = path.suffix.lower()
            if suffix in SKIPPED:
                others.append((path.relative_to(folder).as_posix(), SKIPPED[suffix]))
            elif suffix in SUFFIXES and not _further_plate(path, names) and not _plain_text(path):
                recordings.append(path)
    reasons = dict.fromkeys(why for _, why in others)
    skipped = [f"not read: {some_of(name for name, why in others if why == reason)}: {reason}" for reason in reasons]
    skipped += [f"{Path(name).name}: the folder cannot be opened; check its rights" for name in closed]
    return Folder(tuple(sorted(recordings)), tuple(skipped), named, tuple(others))


def _json_files(paths: Sequence[Path], folder: Path) -> tuple[dict[Path, str], list[Path]]:
    """Recordings of keypoints, with the name of those of single frames; other files."""
    groups: dict[object, list[Path]] = {}
    for path in paths:
        parts = numbered(path)
        groups.setdefault((parts[0], parts[2]) if parts else path, []).append(path)
    sequences = [group for group in groups.values() if numbered(group[0]) and any(map(is_frame, group))]
    singles = [path for group in groups.values() if group not in sequences for path in group]
    keypoints = {path: "" for path in singles if _has_keypoints(path)}
    alone = len(sequences) == 1 and not keypoints
    for group in sequences:
        first = min(group, key=lambda path: (numbered(path) or ("", 0, ""))[1])
        keypoints[first] = _sequence_name(group[0], folder, alone=alone)
    return keypoints, [path for path in singles if path not in keypoints]


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


def _further_plate(path: Path, names: Sequence[str]) -> bool:
    """Return True for the file of a second or further plate beside that of the first."""
    match = _FURTHER_PLATE.fullmatch(path.stem)
    return bool(match and match[2] != "1" and f"{match[1]}1{path.suffix}" in names)


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
    return sum(bool(NUMBERS.fullmatch(line)) for line in lines) >= TABLE_LINES


def safe_name(name: str) -> str:
    """Name with letters, digits, '_', '.' and '-' only, as the names of files are."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")
    return plain[:90] or "unnamed"

"""Files of a folder: recordings, and known kinds of files that cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
        ".x1d .x2d": "Vicon raw data: export C3D from Nexus",
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
        ".avi .mp4 .mov": "videos: run pose estimation, and use its keypoints",
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
    recordings : mapping of Path to str
        Files to be read, sorted, and the recordings' names: paths from the folder that was looked at. Of recordings with one file for
        each frame it has the first one, with the name of their folder.
    skipped : tuple of str
        Sentences on files of known kinds that cannot be read, and on folders that cannot be opened.
    others : tuple of (str, str)
        Each file that is skipped, with the reason.
    """

    recordings: Mapping[Path, str]
    skipped: tuple[str, ...]
    others: tuple[tuple[str, str], ...] = ()


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
    skipped: dict[str, list[str]] = {}  # reason -> files
    recordings: dict[Path, str] = {}
    left_out = {path.resolve() for path in leave_out}
    readable = {*SUFFIXES} - {FRAME_SUFFIX}
    for where, folders, names in os.walk(folder, onerror=lambda error: closed.append(str(error.filename))):
        here = Path(where)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and (here / n).resolve() not in left_out)
        paths = {here / name: (here / name).suffix.lower() for name in sorted(names) if not name.startswith(".")}
        keypoints, without = _json_files([path for path, suffix in paths.items() if suffix == FRAME_SUFFIX], folder)
        recordings |= keypoints
        reasons = {path: SKIPPED.get(suffix, "") for path, suffix in paths.items()} | dict.fromkeys(
            without, NO_KEYPOINTS
        )
        for path, reason in reasons.items():
            name = path.relative_to(folder).as_posix()
            if reason:
                skipped.setdefault(reason, []).append(name)
            elif paths[path] in readable and not _further_plate(path, names) and not _is_text(path):
                recordings[path] = name
    sentences = [f"not read: {some_of(files)}: {reason}" for reason, files in skipped.items()]
    sentences += [f"{Path(name).name}: the folder cannot be opened; check its permissions" for name in closed]
    others = tuple((name, reason) for reason, files in skipped.items() for name in files)
    return Folder(dict(sorted(recordings.items())), tuple(sentences), others)


def _json_files(paths: Sequence[Path], folder: Path) -> tuple[dict[Path, str], list[Path]]:
    """Recordings of keypoints with their names, and other files."""
    groups: dict[object, list[Path]] = {}
    for path in paths:
        parts = numbered(path)
        groups.setdefault((parts[0], parts[2]) if parts else path, []).append(path)
    sequences = [group for group in groups.values() if numbered(group[0]) and any(map(is_frame, group))]
    singles = [path for group in groups.values() if group not in sequences for path in group]
    keypoints = {path: path.relative_to(folder).as_posix() for path in singles if _has_keypoints(path)}
    without = [path for path in singles if path not in keypoints]
    alone = len(sequences) == 1 and not keypoints
    for group in sequences:
        first = min(group, key=lambda path: (numbered(path) or ("", 0, ""))[1])
        keypoints[first] = _sequence_name(group[0], folder, alone=alone)
    return keypoints, without


def _sequence_name(path: Path, folder: Path, *, alone: bool) -> str:
    """Name of a recording with a file per frame: folder name or start of file names."""
    if alone and path.parent != folder:
        return f"{path.parent.relative_to(folder).as_posix()}{path.suffix}"
    before, _, after = numbered(path) or ("", 0, "")
    stem = f"{before}{after.removesuffix('_keypoints')}".strip("_-. ") or path.parent.name
    return path.with_name(f"{stem}{path.suffix}").relative_to(folder).as_posix()


def _has_keypoints(path: Path) -> bool:
    """Return True for keypoints, and for invalid files, which the reader refuses."""
    try:
        with path.open("rb") as file:
            return is_keypoints(file.read(HEAD))
    except OSError:
        return True


def _further_plate(path: Path, names: Sequence[str]) -> bool:
    """Return True for the file of a plate other than the first."""
    match = _FURTHER_PLATE.fullmatch(path.stem)
    return bool(match and match[2] != "1" and f"{match[1]}1{path.suffix}" in names)


def _is_text(path: Path) -> bool:
    """Return True if a .txt file is not a recording, such as a licence.

    Tables of numbers and unreadable files are left for the reader to refuse.
    """
    if path.suffix.lower() != ".txt" or path.stem.lower().startswith(NOTES):
        return path.suffix.lower() == ".txt"
    try:
        return file_format(path) is None
    except ReadError:
        pass
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = [line for _, line in zip(range(SAMPLE), file, strict=False)]
    except OSError:
        return False
    return sum(bool(NUMBERS.fullmatch(line)) for line in lines) < TABLE_LINES


def safe_name(name: str) -> str:
    """Name with only letters, digits, '_', '.' and '-', for use as a file name."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")
    return plain[:90] or "unnamed"

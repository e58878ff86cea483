"""Files of a folder: recordings, and known kinds of files that cannot be read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from limbtorque.recordings.keypoints.document import is_keypoints
from limbtorque.recordings.read import HEAD, SUFFIXES
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
CLOSED = "the folder cannot be opened; check its rights"
NO_KEYPOINTS = "no keypoints: write positions as TRC, CSV, or JSON of keypoints (docs/keypoints.md)"
_FURTHER_PLATE = re.compile(r"(.*_f_)(\d+)", re.IGNORECASE)
NOTES = ("readme", "license", "licence")


@dataclass(frozen=True)
class Folder:
    """Files of a folder and its subfolders.

    Attributes
    ----------
    recordings : mapping of Path to str
        Files to be read, sorted, and the recordings' names: paths from the folder that was looked at. Of recordings with one file for
        each frame it has the first one, with the name of their folder.
    others : tuple of (str, str)
        Each file that is skipped, and each folder that cannot be opened, with the reason.
    """

    recordings: Mapping[Path, str]
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
    Licences and texts on the recordings are passed over. The files of the second and further plates of a Qualisys recording, and of the second and further frames of keypoints, are read with
    the first one.
    """
    others: list[tuple[str, str]] = []
    recordings: dict[Path, str] = {}

    def closed(error: OSError) -> None:
        others.append((Path(error.filename).relative_to(folder).as_posix(), CLOSED))

    left_out = {path.resolve() for path in leave_out}
    readable = {*SUFFIXES} - {FRAME_SUFFIX}
    for where, folders, names in os.walk(folder, onerror=closed):
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
                others.append((name, reason))
            elif paths[path] in readable and not _further_plate(path, names) and not _is_note(path):
                recordings[path] = name
    return Folder(dict(sorted(recordings.items())), tuple(others))


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


def _is_note(path: Path) -> bool:
    """Return True for a licence, or a text on the recordings."""
    return path.suffix.lower() == ".txt" and path.stem.lower().startswith(NOTES)


def safe_name(name: str) -> str:
    """Name with only letters, digits, '_', '.' and '-', for use as a file name."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")
    return plain[:90] or "unnamed"

"""Read a recording of any format, chosen by suffix and content."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.doubts import doubts
from limbtorque.recordings.emg_channels import size_findings
from limbtorque.recordings.join import forces_options, join_forces
from limbtorque.recordings.keypoints.document import is_keypoints
from limbtorque.recordings.keypoints.read import read_keypoints
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.plausibility import check_plausible, without_leaps
from limbtorque.recordings.recording import Audit, Recording
from limbtorque.recordings.text.cortex import read_anc, read_forces
from limbtorque.recordings.text.opensim_storage import read_storage
from limbtorque.recordings.text.optitrack import read_optitrack
from limbtorque.recordings.text.plain_csv import has_two_headings, read_csv, read_two_headings
from limbtorque.recordings.text.qualisys import read_qualisys
from limbtorque.recordings.text.trc import read_trc
from limbtorque.recordings.text.vicon import SECTIONS, read_vicon

Reader = Callable[[Path, ReadOptions], Recording]
READERS: dict[str, Reader] = {
    "C3D": read_c3d,
    "TRC": read_trc,
    "OpenSim storage (STO, MOT)": read_storage,
    "Qualisys TSV": read_qualisys,
    "Vicon Nexus CSV": read_vicon,
    "OptiTrack Motive CSV": read_optitrack,
    "Cortex forces": read_forces,
    "Cortex analog": read_anc,
    "table with two lines of headings": read_two_headings,
    "CSV with named columns": read_csv,
    "keypoints as JSON": read_keypoints,
}
SUFFIXES = {
    ".c3d": ("C3D",),
    ".trc": ("TRC",),
    ".sto": ("OpenSim storage (STO, MOT)",),
    ".mot": ("OpenSim storage (STO, MOT)",),
    ".tsv": ("Qualisys TSV", "table with two lines of headings", "CSV with named columns"),
    ".csv": ("Vicon Nexus CSV", "OptiTrack Motive CSV", "CSV with named columns"),
    ".forces": ("Cortex forces",),
    ".anc": ("Cortex analog",),
    ".json": ("keypoints as JSON",),
    ".txt": ("Vicon Nexus CSV", "Qualisys TSV", "table with two lines of headings", "CSV with named columns"),
}
FIRST_WORDS = {
    "pathfiletype": "TRC",
    r"\[force data\]": "Cortex forces",
    "file_type.*analog": "Cortex analog",
    "format version,": "OptiTrack Motive CSV",
    "no_of_(frames|samples)": "Qualisys TSV",
}
HEAD = 20_000


def read_recording(path: Path | str, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read a recording of any known format.

    Parameters
    ----------
    path : Path or str
        The file.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        Positions in m, missing samples as NaN, and the audit of the file.

    Raises
    ------
    ReadError
        The file cannot be opened or read, its name and content do not fit, its lengths or speeds cannot be a
        body's, or (``options.strict``) something about it would be a guess.
    """
    path = Path(path)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers of damaged files, which are refused or missing then
        recording = READERS[file_format(path)](path, options)
    if options.analog_only:
        nowhere = np.zeros((recording.n_frames, 0, 3))
        recording = replace(recording, labels=(), markers_m=nowhere, force_plates=(), model_outputs=())
    check_plausible(recording)
    recording = without_leaps(recording)
    recording = replace(recording, notes=(*recording.notes, *doubts(recording)))
    if found := size_findings(recording):
        recording = replace(recording, audit=Audit((*recording.audit.findings, *found)))
    if options.strict:
        recording.audit.refuse_guesses(path.name)
    return recording


def read_with_forces(path: Path, forces: Path | None, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read a recording whose force plates may be in a second file.

    Parameters
    ----------
    path : Path
        The file of the markers.
    forces : Path or None
        The file of the force plates; None where there is none.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        As from :func:`read_recording`, or :func:`limbtorque.recordings.join.join_forces`.

    Raises
    ------
    ReadError
        Either file cannot be read, or the two cannot be joined.
    """
    if forces is None:
        return read_recording(path, options)
    markers = read_recording(path, replace(options, strict=False))
    joined = join_forces(markers, _forces(forces, options), options)
    if options.strict:
        joined.audit.refuse_guesses(f"{path.name} with the forces of {forces.name}")
    return joined


def _forces(path: Path, options: ReadOptions) -> Recording:
    """Read the second file; messages name its option for the unit of length."""
    own, other = "reading.length_unit", "reading.forces_length_unit"
    try:
        found = read_recording(path, replace(forces_options(options), strict=False))
    except ReadError as error:
        raise ReadError(str(error).replace(own, other)) from None
    findings = [replace(f, interpretation=f.interpretation.replace(own, other)) for f in found.audit.findings]
    return replace(
        found,
        notes=tuple(n.replace(own, other) for n in found.notes),
        audit=replace(found.audit, findings=tuple(findings)),
    )


def file_format(path: Path) -> str:
    """Name of a file's format, a key of ``READERS``.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    ReadError
        The file cannot be opened, its suffix is not known, or its content is of another format.
    """
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 (false for names that no system takes)
        raise ReadError(
            f"{path.name}: a folder or a device, expected a file; name the recording itself (of keypoints with one file for each "
            "frame: the first of them)"
        )
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ReadError(
            f"{path.name}: unknown suffix {suffix or '(none)'}, expected {', '.join(SUFFIXES)}; "
            "rename the file to its real format, or export it in one of these"
        )
    if suffix == ".c3d":
        return "C3D"  # its reader says what is wrong with the first bytes
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise ReadError(
            f"{path.name}: the file cannot be opened: {error.strerror or error}; check path and permissions"
        ) from error
    if not head.strip():
        raise ReadError(f"{path.name}: the file is empty ({len(head)} bytes); export or copy it again")
    found = content_format(head)
    if found not in SUFFIXES[suffix]:
        raise ReadError(
            f"{path.name}: the suffix is {suffix}, but the content is {found or 'of unknown format'}; "
            f"expected {' or '.join(SUFFIXES[suffix])}: rename the file, or export it again"
        )
    return found


def content_format(head: bytes) -> str | None:
    r"""Format of a file from its first bytes; None if unknown.

    Parameters
    ----------
    head : bytes
        The first bytes of the file.

    Examples
    --------
    >>> content_format(b"PathFileType\t4\t(X/Y/Z)\ttrial.trc\n")
    'TRC'
    """
    if len(head) > 1 and head[1] == 0x50 and 0 < head[0] < 32:
        return "C3D"
    if is_keypoints(head):
        return "keypoints as JSON"
    utf16 = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = head.decode("utf-16" if utf16 else "utf-8-sig", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or "\0" in text:
        return None
    if any(line.lower() == "endheader" for line in lines):  # OpenSim keeps the header of a converted TRC file
        return "OpenSim storage (STO, MOT)"
    if any(line.lower().startswith("frame#") for line in lines[:5]):
        return "TRC"
    for begin, name in FIRST_WORDS.items():
        if re.match(begin, lines[0], re.IGNORECASE):
            return name
    if lines[0].strip(',;\t" ').lower() in SECTIONS:
        return "Vicon Nexus CSV"
    if has_two_headings(lines):
        return "table with two lines of headings"
    return "CSV with named columns" if any(mark in lines[0] for mark in ",;\t") else None

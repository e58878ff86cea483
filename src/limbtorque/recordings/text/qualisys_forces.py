"""TSV files of Qualisys Track Manager: force plates, one file for each."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.findings import Findings, length_unit
from limbtorque.recordings.force_plates import UnusableError, plate_axes
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.plate_plausibility import implausible_surface
from limbtorque.recordings.recording import ForcePlate, Recording
from limbtorque.recordings.text.frames import Clock, Rows, bare_recording, timed_rows
from limbtorque.recordings.text.lines import Text, plain_number, read_text, table
from limbtorque.recordings.wrenches import Wrench, plate_of, pushing

CORNERS = ("POSX_POSY", "NEGX_POSY", "NEGX_NEGY", "POSX_NEGY")
FIRST_WORD = "NO_OF_SAMPLES"
_PLATE = re.compile(r"(.*_f_)(\d+)", re.IGNORECASE)


def read_qualisys_forces(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read the force plates that Qualisys Track Manager exports as TSV.

    Parameters
    ----------
    path : Path
        The file of one plate, ``walk_f_1.tsv``; those of the other plates beside it are read as well.
    options : ReadOptions, optional
        Options of the readers; the file does not state its unit of length.

    Returns
    -------
    Recording
        Force plates of kind 0 with their corners, without markers, from time zero.

    Raises
    ------
    ReadError
        Not such a file, a corner is missing, no unit of length, plates of different rates or lengths.

    Notes
    -----
    Columns are, after sample and time where these are there, force, moment and centre of pressure, three each; in the
    axes of the plate (x from corner 2 to 1, y from corner 4 to 1, z their product, down into the floor) or of the
    laboratory, as ``DESCRIPTION`` says. The wrench is the force at the centre of pressure with the free moment
    Mz - (x Fy - y Fx), whose size does not depend on the depth of the sensors. A plate cannot pull, so the force is turned
    upwards, against the plate's z, where the file holds the force on the plate.
    """
    others = _plates_of(path)
    findings, plates, digest = Findings(), list[ForcePlate](), hashlib.sha256()
    for number, one in sorted(others.items()):
        sha256, plate = _plate(one, number, options, findings)
        digest.update(sha256.encode())
        plates.append(plate)
    sizes = {(plate.rate_hz, len(plate.force_n)) for plate in plates}
    if len(sizes) > 1:
        raise ReadError(
            f"{path.name}: the plates beside it have other rates or numbers of samples ({len(others)} files); "
            "export them together"
        )
    findings.add("clock", "sample 1 is the first frame", "the first is at time zero")
    ((rate_hz, n_frames),) = sizes
    files = Text(path.name, digest.hexdigest(), [])
    reader = "text.qualisys_forces"
    return bare_recording(files, reader, Clock(rate_hz), findings, n_frames=n_frames, force_plates=tuple(plates))


def _plates_of(path: Path) -> dict[int, Path]:
    """Files of all plates of a recording, by their number."""
    own = _PLATE.fullmatch(path.stem)
    if not own:
        return {1: path}
    there = ((one, _PLATE.fullmatch(one.stem)) for one in path.parent.iterdir() if one.suffix == path.suffix)
    return {int(found[2]): one for one, found in there if found and found[1] == own[1]}


def _heading(text: Text) -> tuple[dict[str, str], int]:
    """Values of the heading by name, and the first line of numbers."""
    header: dict[str, str] = {}
    for k, line in enumerate(text.lines):
        name, _, value = line.partition("\t")
        if not re.fullmatch(r"[A-Z_]{4,}", name.strip()) or name.strip() in ("SAMPLE", "TIME"):
            return header, k + bool(re.match(r"\s*[A-Za-z]", line))
        header[name.strip()] = value.strip()
    return header, len(text.lines)


def _plate(path: Path, number: int, options: ReadOptions, findings: Findings) -> tuple[str, ForcePlate]:
    """Hash of a file and its plate."""
    text = read_text(path, options, findings)
    header, first = _heading(text)
    n_columns = len(text.lines[first].rstrip("\t").split("\t")) if first < len(text.lines) else 0
    if n_columns not in (9, 11):
        raise text.fault(
            min(first, len(text.lines) - 1),
            f"found {n_columns} columns, expected force, moment and centre of pressure, 9 columns or 11 with sample and "
            "time; export the forces with all of them",
        )
    values = table(text, first, len(text.lines), n_columns, "\t")
    rate_hz = _said(header, "FREQUENCY", path)
    if n_columns == 11:  # the file's own numbers and times
        rows = Rows(first, "\t", stated_hz=rate_hz, where="FREQUENCY")
        values, clock = timed_rows(values, text, rows, options, findings)
        rate_hz = clock.rate_hz
    values = values[:, n_columns - 9 :]
    if int(_said(header, FIRST_WORD, path)) != len(values):
        raise ReadError(
            f"{path.name}: {FIRST_WORD} is {header[FIRST_WORD]}, the file has {len(values)}; export it again"
        )
    length_m = length_unit(None, "the heading (Qualisys writes mm)", options, path.name, findings)
    keys = [[f"FORCE_PLATE_CORNER_{corner}_{axis}" for axis in "XYZ"] for corner in CORNERS]
    corners_m = np.array([[_said(header, key, path) for key in corner] for corner in keys]) * length_m
    _refuse_other_corners(corners_m, path)
    words = re.findall(r"[a-z]+", header.get("DESCRIPTION", "").lower())
    local, stated = "local" in words, not {"local", "world", "lab", "laboratory", "global"}.isdisjoint(words)
    if not stated:
        findings.notes.append(
            f"force plate {number}: DESCRIPTION does not state its axes, taken as those of the laboratory"
        )
    try:
        wrench, turned = _wrench(values, corners_m, length_m, local=local)
    except UnusableError:
        raise ReadError(f"{path.name}: the corners of the plate do not span a surface; export the file again") from None
    findings.add(
        f"force plate {number}",
        f"{header.get('DESCRIPTION', 'no DESCRIPTION')[:60]}",
        f"in the axes of the {'plate' if local else 'laboratory'}{', turned to the force on the foot' if turned else ''}",
        "" if stated else "export the file with its heading; DESCRIPTION names local or world coordinates",
    )
    return text.sha256, plate_of(wrench, number, rate_hz, corners_m=corners_m)


def _refuse_other_corners(corners_m: FloatArray, path: Path) -> None:
    """Refuse corners that are not those of a plate."""
    if reason := implausible_surface(corners_m, "FORCE_PLATE_CORNER"):
        raise ReadError(f"{path.name}: {reason}")


def _said(header: Mapping[str, str], key: str, path: Path) -> float:
    value = plain_number(header.get(key, ""))
    if not math.isfinite(value) or (key == "FREQUENCY" and not value > 0.0):
        raise ReadError(
            f"{path.name}: {key} is {header.get(key, 'missing')[:40]!r}, expected a number; export the file with its heading"
        )
    return value


def _wrench(values: FloatArray, corners_m: FloatArray, length_m: float, *, local: bool) -> tuple[Wrench, bool]:
    """Wrench in the laboratory frame, and True where its sign was turned."""
    axes = plate_axes(corners_m).T
    origin = corners_m.mean(axis=0)
    force, moment, point = values[:, :3], values[:, 3:6], values[:, 6:] * length_m
    if local:
        free = moment[:, 2] - (point[:, 0] * force[:, 1] - point[:, 1] * force[:, 0])
        force, point = force @ axes, origin + point @ axes
    else:  # about the origin of the laboratory or the middle of the plate: where the couple is upright
        couples = [moment - np.cross(point - about, force) for about in (np.zeros(3), origin)]
        lying = [np.nansum((couple @ axes[:2].T) ** 2) for couple in couples]
        free = couples[int(np.argmin(lying))] @ axes[2]
    wrench = Wrench(force, point, free[:, np.newaxis] * axes[2])
    return pushing(wrench, -axes[2])

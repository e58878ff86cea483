"""Notes and findings while a file is read, and what every reader does with bytes, units and missing samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.audit import Finding
from limbtorque.recordings.force_plates import FORCES_N, LENGTHS_M, plain_unit
from limbtorque.recordings.options import ReadOptions

_INVISIBLE = re.compile("[\ufeff\u200b-\u200f\u2060\u00ad]")  # zero-width spaces and marks, soft hyphen


@dataclass
class Report:
    """Notes and findings, in the order of the reading."""

    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def find(self, what: str, found: str, made: str, settle: str = "") -> None:
        """Add a finding; see :class:`limbtorque.recordings.audit.Finding`."""
        self.findings.append(Finding(what, found, made, settle))

    def without_invisible(self, text: str) -> str:
        """Text without letters nobody sees; a note says that there were some."""
        plain = _INVISIBLE.sub("", text)
        if plain != text.strip("\ufeff"):
            self.notes.append(f"text {plain.strip()!r} has letters nobody sees in the file; they are left out")
        return plain

    def find_labels(self, positions: Sequence[str]) -> None:
        """Add findings about labels: which prefixes there are, which labels occur twice."""
        named = [prefix for prefix in dict.fromkeys(label.rpartition(":")[0] for label in positions) if prefix]
        twice = [label for label, n in Counter(positions).items() if n > 1]
        self.find(
            "prefix",
            f"subjects {', '.join(repr(p) for p in named)}" if named else "no label has one",
            "labels may be named without it, where one label fits" if named else "labels as they are",
        )
        self.find(
            "duplicates",
            ", ".join(twice) or "no label occurs twice",
            "naming one of them is an error" if twice else "each is named by its label",
        )


def read_bytes(path: Path) -> bytes:
    """Bytes of a file.

    Raises
    ------
    ReadError
        It cannot be opened.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReadError(
            f"{path.name}: the file cannot be opened: {error.strerror or error}; check its path and rights"
        ) from error


def length_unit(said: str | None, where: str, options: ReadOptions, name: str, report: Report) -> float:
    """Metres in a text file's unit of length.

    Parameters
    ----------
    said : str or None
        The unit as the file has it; None where it says nothing.
    where : str
        Where it says it, for messages.
    options : ReadOptions
        ``length_unit`` holds where it is given.
    name : str
        Name of the file.
    report : Report
        Gets the finding.

    Raises
    ------
    ReadError
        An unknown unit, or none and no option.
    """
    found = f"{where}: {said!r}" if said else f"{where}: nothing said"
    stated = LENGTHS_M.get(plain_unit(said)) if said else None
    if options.length_unit:
        given_m = LENGTHS_M[options.length_unit]
        report.find("unit of length", found, f"{options.length_unit}, as reading.length_unit says")
        if said and stated != given_m:
            report.notes.append(f"{found}, reading.length_unit says {options.length_unit}: the latter is used")
        return given_m
    if stated is None:
        raise ReadError(
            f"{name}: unit of length: {found}, expected one of mm, cm, m; "
            "give it with the option reading.length_unit: it is never guessed"
        )
    report.find("unit of length", found, f"positions multiplied by {stated:g} to metres")
    return stated


def force_unit(said: str | None, where: str, options: ReadOptions, report: Report) -> float:
    """Newtons in a text file's unit of force; N where nothing is said, which is a guess and called so."""
    stated = FORCES_N.get(plain_unit(said)) if said else None
    found = f"{where}: {said!r}" if said else f"{where}: nothing said"
    if options.force_unit:
        report.find("unit of force", found, f"{options.force_unit}, as reading.force_unit says")
        return FORCES_N[plain_unit(options.force_unit)]
    report.find(
        "unit of force",
        found,
        f"forces multiplied by {stated or 1.0:g} to newtons",
        "" if stated else "give reading.force_unit",
    )
    return stated or 1.0


def positions_m(xyz: FloatArray, length_m: float, name: str, labels: Sequence[str], report: Report) -> FloatArray:
    """Positions in m with missing samples as NaN.

    Parameters
    ----------
    xyz : ndarray of shape (n_frames, n_markers, 3)
        Coordinates in the file's unit; not finite where missing.
    length_m : float
        Metres in that unit.
    name : str
        Name of the file.
    labels : sequence of str
        Labels of the markers.
    report : Report
        Gets notes and findings.

    Raises
    ------
    ReadError
        There are markers and none is ever seen.
    """
    finite = np.isfinite(xyz).all(axis=2)
    zero = finite & ~(xyz != 0).any(axis=2)
    seen = finite & ~zero
    missing = (~seen).sum(axis=0)
    report.find("missing samples", f"{int((~finite).sum())} positions are empty or not finite", "missing")
    if zero.any():
        report.find(
            "zeros",
            f"{int(zero.sum())} samples lie exactly at the origin",
            "taken as missing",
            "export the file so that missing samples are empty",
        )
    if labels and missing.min() == len(seen):
        raise ReadError(
            f"{name}: none of the {len(labels)} markers is seen in any of the {len(seen)} frames; export it again"
        )
    if missing.any():
        report.notes.append(
            f"{int(missing.sum())} samples of {int((missing > 0).sum())} markers are missing, of {seen.size}"
        )
    never = [label for label, n in zip(labels, missing, strict=True) if n == len(seen)]
    if never:
        report.notes.append(f"markers that are never seen: {', '.join(never)}")
    return np.where(seen[:, :, np.newaxis], xyz * length_m, np.nan)

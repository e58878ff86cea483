"""Findings and notes of a reader; shared handling of units and missing samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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
class Findings:
    """Notes and findings, in the order of the reading."""

    notes: list[str] = field(default_factory=list)
    entries: list[Finding] = field(default_factory=list)

    def add(self, item: str, stated: str, interpretation: str, to_settle: str = "") -> None:
        """Add a finding; see :class:`limbtorque.recordings.audit.Finding`."""
        self.entries.append(Finding(item, stated, interpretation, to_settle))

    def without_invisible(self, text: str) -> str:
        """Text without invisible characters, which a note mentions."""
        plain = _INVISIBLE.sub("", text)
        if plain != text.strip("\ufeff"):
            self.notes.append(f"text {plain.strip()!r} has invisible characters in the file; they are removed")
        return plain

    def note_incomplete(self, axes: Mapping[str, Collection[int]]) -> None:
        """Note markers that have no column for some of their axes, by label: axes found."""
        for label, found in axes.items():
            if lacking := ", ".join("xyz"[k] for k in range(3) if k not in found):
                self.notes.append(f"marker {label!r} has no column of {lacking}: it is left out")

    def add_labels(self, positions: Sequence[str]) -> None:
        """Add findings about labels: which prefixes there are, which labels occur twice."""
        named = [prefix for prefix in dict.fromkeys(label.rpartition(":")[0] for label in positions) if prefix]
        twice = [label for label, n in Counter(positions).items() if n > 1]
        self.add(
            "prefix",
            f"subjects {', '.join(repr(p) for p in named)}" if named else "no label has one",
            "labels may be given without it where that is unambiguous" if named else "labels unchanged",
        )
        self.add(
            "duplicates",
            ", ".join(twice) or "no label occurs twice",
            "using one of them is an error" if twice else "each is identified by its label",
        )


def read_bytes(path: Path) -> bytes:
    """Bytes of a file.

    Raises
    ------
    ReadError
        It cannot be opened, or changed while it was read.
    """
    try:
        before = path.stat()
        raw = path.read_bytes()
        after = path.stat()
    except OSError as error:
        raise ReadError(
            f"{path.name}: the file cannot be opened: {error.strerror or error}; check its path and rights"
        ) from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(raw) != after.st_size:
        raise ReadError(
            f"{path.name}: the file changed while it was read ({before.st_size} bytes, then {after.st_size}); wait until it "
            "is copied or exported completely, and read it again"
        )
    return raw


def length_unit(said: str | None, where: str, options: ReadOptions, name: str, findings: Findings) -> float:
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
    findings : Findings
        Gets the finding.

    Raises
    ------
    ReadError
        An unknown unit, or none and no option, and positions are wanted.
    """
    found = f"{where}: {said!r}" if said else f"{where}: not stated"
    stated = LENGTHS_M.get(plain_unit(said)) if said else None
    if options.length_unit:
        given_m = LENGTHS_M[options.length_unit]
        findings.add("unit of length", found, f"{options.length_unit}, as in reading.length_unit")
        if said and stated != given_m:
            findings.notes.append(f"{found}, reading.length_unit says {options.length_unit}: the second value is used")
        return given_m
    if stated is None and options.analog_only:
        return 1.0
    if stated is None:
        raise ReadError(
            f"{name}: unit of length: {found}, expected one of mm, cm, m; "
            "give it with the option reading.length_unit: units of length are never guessed"
        )
    findings.add("unit of length", found, f"positions multiplied by {stated:g} to metres")
    return stated


def force_unit(said: str | None, where: str, options: ReadOptions, findings: Findings) -> float:
    """Newtons in a text file's unit of force; N as a guess where none is stated."""
    stated = FORCES_N.get(plain_unit(said)) if said else None
    found = f"{where}: {said!r}" if said else f"{where}: not stated"
    if options.force_unit:
        findings.add("unit of force", found, f"{options.force_unit}, as in reading.force_unit")
        return FORCES_N[plain_unit(options.force_unit)]
    findings.add(
        "unit of force",
        found,
        f"forces multiplied by {stated or 1.0:g} to newtons",
        "" if stated else "give reading.force_unit",
    )
    return stated or 1.0


def positions_m(xyz: FloatArray, length_m: float, name: str, labels: Sequence[str], findings: Findings) -> FloatArray:
    """Positions in m with missing samples as NaN; findings on them and their labels.

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
    findings : Findings
        Gets notes and findings.

    Raises
    ------
    ReadError
        There are markers, but none has a sample.
    """
    finite = np.isfinite(xyz).all(axis=2)
    zero = finite & ~(xyz != 0).any(axis=2)
    seen = finite & ~zero
    missing = (~seen).sum(axis=0)
    findings.add("missing samples", f"{int((~finite).sum())} positions are empty or not finite", "missing")
    if zero.any():
        findings.add(
            "zeros",
            f"{int(zero.sum())} samples lie exactly at the origin",
            "treated as missing",
            "export the file so that missing samples are empty",
        )
    if labels and missing.min() == len(seen):
        raise ReadError(
            f"{name}: none of the {len(labels)} markers has a sample in any of the {len(seen)} frames; export it again"
        )
    if missing.any():
        findings.notes.append(
            f"{int(missing.sum())} samples of {int((missing > 0).sum())} markers are missing, of {seen.size}"
        )
    never = [label for label, n in zip(labels, missing, strict=True) if n == len(seen)]
    if never:
        findings.notes.append(f"markers without any sample: {', '.join(never)}")
    findings.add_labels(labels)
    return np.where(seen[:, :, np.newaxis], xyz * length_m, np.nan)

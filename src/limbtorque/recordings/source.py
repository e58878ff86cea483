"""State of reading a file: options, findings, notes, units and memory."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Audit, Finding, Recording

LENGTHS_M = {
    **dict.fromkeys(("mm", "millimeter", "millimetre"), 1e-3),
    **dict.fromkeys(("cm", "centimeter", "centimetre"), 1e-2),
    **dict.fromkeys(("m", "meter", "metre"), 1.0),
}
FORCES_N = {"n": 1.0, "nt": 1.0, "newton": 1.0, "kn": 1e3, "kilonewton": 1e3}
MOMENTS_NM = {force + length: f * m for force, f in FORCES_N.items() for length, m in LENGTHS_M.items()}
MAX_FOLD, FREE_BYTES = 20, 300e6  # memory that reading takes: times the file, and what every file may take
_INVISIBLE = re.compile("[\ufeff\u200b-\u200f\u2060\u00ad]")  # zero-width spaces and marks, soft hyphen


def plain_unit(unit: str) -> str:
    """Unit in lower case, without spaces, points, dashes and plural.

    Examples
    --------
    >>> plain_unit("N.mm "), plain_unit("Millimeters")
    ('nmm', 'millimeter')
    """
    plain = "".join(c for c in unit.lower() if c not in " \t\0.-*·")
    return plain[:-1] if len(plain) > 2 and plain.endswith("s") else plain


def plain_number(cell: str) -> float:
    """Number from plain digits with a decimal point; otherwise NaN.

    Examples
    --------
    >>> plain_number(" 1e2 "), plain_number("1_0"), plain_number("\u0661"), plain_number("1)")
    (100.0, nan, nan, nan)
    """
    try:  # Python reads 1_0 and digits of other scripts as well
        return float(cell) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        return math.nan


@dataclass
class Source:
    """A file being read, with findings and notes.

    Attributes
    ----------
    name : str
        Name of the file, for messages.
    options : ReadOptions
        Options of the readers.
    size : int
        Bytes of the file, or of all files of the recording.
    sha256 : str
        Hash of these bytes.
    notes : list of str
        Observations of the reader.
    findings : list of Finding
        Findings, in the order of the reading.
    """

    name: str
    options: ReadOptions
    size: int = 0
    sha256: str = ""
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def add(self, item: str, stated: str, interpretation: str, to_settle: str = "", *, note: str = "") -> None:
        """Add a finding (:class:`limbtorque.recordings.recording.Finding`), and a note."""
        self.findings.append(Finding(item, stated, interpretation, to_settle))
        if note:
            self.notes.append(note)

    def error(self, sentence: str) -> ReadError:
        """Error about the file."""
        return ReadError(f"{self.name}: {sentence}")

    def refuse_larger(self, n_bytes: float) -> None:
        """Refuse a file that needs more memory than its size explains or the limit allows.

        Parameters
        ----------
        n_bytes : float
            Memory that the next step takes for the whole file, before it is taken.

        Raises
        ------
        ReadError
            It is more than 20 times the file and 300 MB, or more than ``options.memory_limit_mb``.
        """
        if n_bytes > max(MAX_FOLD * self.size, FREE_BYTES):
            raise self.error(
                f"according to its headings and counts it needs {n_bytes / 1e6:.0f} MB of memory, the file has {self.size / 1e6:.3g} MB; "
                "it is damaged, export it again"
            )
        if n_bytes > self.options.memory_limit_mb * 2**20:
            raise self.error(
                f"reading needs about {n_bytes / 2**20:.0f} MB, more than {self.options.memory_limit_mb:g} MB "
                "(reading.memory_limit_mb); raise the limit, or export a shorter file"
            )

    def plain_text(self, text: str) -> str:
        """Text without invisible characters, which a note mentions."""
        plain = _INVISIBLE.sub("", text)
        if plain != text.strip("\ufeff"):
            self.notes.append(f"text {plain.strip()!r} has invisible characters, which are removed")
        return plain

    def plain_label(self, label: str) -> str:
        r"""Label without surrounding blanks, quotes and invisible characters (noted).

        Examples
        --------
        >>> Source("a.csv", ReadOptions()).plain_label(' "RSHO\u200b"')
        'RSHO'
        """
        plain = self.plain_text(label).strip()
        return plain[1:-1].strip() if len(plain) > 1 and plain[0] == plain[-1] == '"' else plain

    def length_m(self, stated: str | None, where: str) -> float:
        """Metres per unit of length of the file.

        Parameters
        ----------
        stated : str or None
            The unit as the file has it; None or empty where it states none.
        where : str
            Where it states it, for messages; a phrase with "is" says that, too.

        Raises
        ------
        ReadError
            An unknown unit, or none and no option, and positions are wanted.
        """
        said = where if " is " in where else f"{where}: {repr(stated) if stated else 'not stated'}"
        factor = LENGTHS_M.get(plain_unit(stated)) if stated else None
        given = self.options.length_unit
        if given:
            differs = stated and factor != LENGTHS_M[given]
            note = f"{said}, reading.length_unit is {given}: reading.length_unit is used" if differs else ""
            self.add("unit of length", said, f"{given}, as in reading.length_unit", note=note)
            return LENGTHS_M[given]
        if factor is None and self.options.analog_only:
            return 1.0
        if factor is None:
            raise self.error(
                f"unit of length: {said}, expected one of mm, cm, m; "
                "set it in the file, or give it with the option reading.length_unit: units of length are never guessed"
            )
        self.add("unit of length", said, f"positions multiplied by {factor:g} to metres")
        return factor

    def force_n(self, stated: str | None, where: str) -> float:
        """Newtons per unit of force of the file; 1 as a guess if not stated."""
        factor = FORCES_N.get(plain_unit(stated)) if stated else None
        said, given = f"{where}: {stated!r}" if stated else f"{where}: not stated", self.options.force_unit
        if given:
            self.add("unit of force", said, f"{given}, as in reading.force_unit")
            return FORCES_N[plain_unit(given)]
        interpretation = f"forces multiplied by {factor or 1.0:g} to newtons"
        self.add("unit of force", said, interpretation, "" if factor else "give reading.force_unit")
        return factor or 1.0

    def refuse_other_rate(self, rate_hz: float, where: str) -> None:
        """Refuse a rate that differs from the option."""
        given = self.options.rate_hz
        if given and not abs(given - rate_hz) <= 1e-3 * max(given, rate_hz):
            raise self.error(
                f"{where} is {rate_hz:g} frames per second, reading.rate_hz is {given:g}; "
                "remove the option for this trial, or correct the file"
            )

    def add_labels(self, labels: Sequence[str]) -> None:
        """Add findings about labels: prefixes and duplicates."""
        prefixes = [p for p in dict.fromkeys(label.rpartition(":")[0] for label in labels) if p]
        twice = [label for label, n in Counter(labels).items() if n > 1]
        self.add(
            "prefix",
            f"subjects {', '.join(map(repr, prefixes))}" if prefixes else "no label has one",
            "labels may omit the prefix where they remain unique" if prefixes else "labels unchanged",
        )
        self.add(
            "duplicates",
            ", ".join(twice) or "all labels are unique",
            "using them is an error" if twice else "labels identify the markers",
        )

    def note_incomplete(self, axes: Mapping[str, Collection[int]]) -> None:
        """Note markers with missing axes."""
        for label, present in axes.items():
            if lacking := ", ".join("xyz"[k] for k in range(3) if k not in present):
                self.notes.append(f"marker {label!r} has no column {lacking} and is left out")

    def note_missing(self, missing: np.ndarray[tuple[int], Any], n_frames: int, labels: Sequence[str]) -> None:
        """Note the number of missing samples, and markers without samples.

        Parameters
        ----------
        missing : ndarray of int, shape (n_markers,)
            Samples of each marker that are missing.
        n_frames : int
            Number of frames.
        labels : sequence of str
            Labels of the markers.

        Raises
        ------
        ReadError
            There are markers, but none has a sample.
        """
        if labels and missing.min() == n_frames:
            raise self.error(
                f"none of the {len(labels)} markers has a sample in any of the {n_frames} frames; export it again"
            )
        if missing.any():
            self.notes.append(
                f"{int(missing.sum())} samples of {int((missing > 0).sum())} markers are missing, of {n_frames * len(labels)}"
            )
        if never := [label for label, n in zip(labels, missing, strict=True) if n == n_frames]:
            self.notes.append(f"markers without any sample: {', '.join(never)}")

    def positions_m(self, xyz: FloatArray, length_m: float, labels: Sequence[str]) -> FloatArray:
        """Positions in m, missing samples NaN; adds findings on samples and labels.

        Parameters
        ----------
        xyz : ndarray of shape (n_frames, n_markers, 3)
            Coordinates in the file's unit; not finite where missing.
        length_m : float
            Metres in that unit.
        labels : sequence of str
            Labels of the markers.

        Raises
        ------
        ReadError
            There are markers, but none has a sample.
        """
        finite = np.isfinite(xyz).all(axis=2)
        zero = finite & ~xyz.any(axis=2)
        self.add("missing samples", f"{int((~finite).sum())} positions are empty or not finite", "missing")
        if zero.any():
            self.add(
                "zeros",
                f"{int(zero.sum())} samples are exactly at the origin",
                "treated as missing",
                "export the file so that missing samples are empty",
            )
        gone = zero | ~finite
        self.note_missing(gone.sum(axis=0), len(xyz), labels)
        self.add_labels(labels)
        markers_m = xyz * length_m
        markers_m[gone] = np.nan
        return markers_m

    def recording(self, reader: str, **contents: Any) -> Recording:
        """Recording of the file; contents are named as in `Recording`."""
        return Recording(
            source=self.name,
            sha256=self.sha256,
            reader=f"limbtorque.recordings.{reader}",
            notes=tuple(self.notes),
            audit=Audit(tuple(self.findings)),
            **contents,
        )


def read_bytes(path: Path, source: Source) -> bytes:
    """Bytes of a file; sets size and hash of the source.

    Raises
    ------
    ReadError
        It cannot be opened, changed while it was read, or is larger than the limit of memory.
    """
    try:
        before = path.stat()
        source.size = before.st_size
        source.refuse_larger(source.size)
        raw = path.read_bytes()
        after = path.stat()
    except OSError as error:
        raise source.error(
            f"the file cannot be opened: {error.strerror or error}; check path and permissions"
        ) from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(raw) != after.st_size:
        raise source.error(
            f"the file changed while it was read ({before.st_size} bytes, then {after.st_size}); wait until it "
            "is copied or exported completely, and read it again"
        )
    source.sha256 = hashlib.sha256(raw).hexdigest()
    return raw

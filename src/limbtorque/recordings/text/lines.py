"""Text files: lines and tables of numbers; errors name line and column."""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.findings import Findings, read_bytes
from limbtorque.recordings.options import ReadOptions

SPREADSHEET_ERRORS = re.compile(r"#(?:REF!|VALUE!|NAME\?|DIV/0!|NUM!|NULL!)")
BLANK = frozenset(
    (
        "",
        "nan",
        "-nan",
        "null",
        "none",
        "na",
        "n/a",
        "-",
        "--",
        "#n/a",
        "1.#qnan",
        "-1.#ind",
        "1.#ind",
        "1.#qo",
        "-1.#io",
    )
)
CONTROL = bytes(k for k in (*range(32), 127) if k not in b"\t\n\r")
_PRINTABLE = bytes(k for k in range(256) if k not in CONTROL)
_PIECE = 2**20  # characters looked through at a time


@dataclass(frozen=True)
class Text:
    """A text file.

    Attributes
    ----------
    name : str
        Name of the file.
    sha256 : str
        Hash of its bytes.
    lines : list of str
        Its lines, without their ends.
    """

    name: str
    sha256: str
    lines: list[str]

    def fault(self, line: int, sentence: str) -> ReadError:
        """Error about a line, counted from 0 here and from 1 in the message."""
        return ReadError(f"{self.name} line {line + 1}: {sentence}")

    def cells(self, line: int, separator: str) -> list[str]:
        """Cells of a line; quotes around a whole cell protect separators.

        Raises
        ------
        ReadError
            A quote that does not end, or ends before its cell.

        Examples
        --------
        >>> Text("a.csv", "", ['time,"a, b",c']).cells(0, ",")
        ['time', 'a, b', 'c']
        """
        if '"' not in self.lines[line]:
            return self.lines[line].split(separator)
        try:
            return next(csv.reader([self.lines[line]], delimiter=separator, strict=True), [])
        except csv.Error:
            raise self.fault(
                line, "a quote does not end, or ends before its cell does; the file is damaged, export it again"
            ) from None


def read_text(path: Path, options: ReadOptions, findings: Findings) -> Text:
    """Read a text file in UTF-8, UTF-16, or the encoding of the options.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        ``text_encoding`` for what is not UTF-8; else Windows-1252, which is a guess and called so.
    findings : Findings
        Gets the finding.

    Raises
    ------
    ReadError
        The file cannot be opened, is empty, or is not text.
    """
    raw = read_bytes(path)
    text, encoding, guessed = _decoded(raw, options.text_encoding, path.name)
    if "\0" in text:
        raise ReadError(f"{path.name}: not a text file: it has zero bytes; check its format, or export it again")
    findings.add("text", f"{encoding}", "read as such", "give reading.text_encoding" if guessed else "")
    text = text.rstrip("\x1a")  # the end of a file in DOS
    if not text.endswith(("\n", "\r")):
        findings.add(
            "end of the file",
            "the last line has no line end: it may be cut off",
            "taken as whole",
            "check the last line, and end it with a line break",
        )
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise ReadError(f"{path.name}: the file is empty ({len(raw)} bytes); export or copy it again")
    read = Text(path.name, hashlib.sha256(raw).hexdigest(), lines)
    if mark := _control_character(text):
        k = next(k for k, line in enumerate(lines) if mark in line)
        raise read.fault(k, f"a control character ({ord(mark):#04x}); the file is damaged, export or copy it again")
    for k, line in enumerate(lines):
        if "#" in line and (found := SPREADSHEET_ERRORS.search(line)):
            raise read.fault(k, f"{found[0]} is an error of a spreadsheet; mend its formula, and export the file again")
    return read


def _control_character(text: str) -> str:
    """First control character but for tabs and ends of lines; empty if none."""
    for k in range(0, len(text), _PIECE):
        if found := text[k : k + _PIECE].encode("utf-8", "replace").translate(None, _PRINTABLE):
            return chr(found[0])
    return ""


def _decoded(raw: bytes, given: str | None, name: str) -> tuple[str, str, bool]:
    """Text, its encoding, and the action that settles a guess of it."""
    try:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return raw.decode("utf-16"), "UTF-16, as its mark says", False
        return raw.decode("utf-8-sig"), "UTF-8", False
    except UnicodeDecodeError:
        pass
    if given:
        try:
            return raw.decode(given), f"{given}, as in reading.text_encoding", False
        except (UnicodeError, LookupError) as error:
            raise ReadError(f"{name}: not readable as {given} (reading.text_encoding): {error}") from None
    return raw.decode("cp1252", "replace"), "not UTF-8, read as Windows-1252", True


def plain_label(label: str, findings: Findings) -> str:
    r"""Label without surrounding blanks, quotes and invisible characters (noted).

    Examples
    --------
    >>> plain_label(' "RSHO\u200b"', Findings())
    'RSHO'
    """
    plain = findings.without_invisible(label).strip()
    return plain[1:-1].strip() if len(plain) > 1 and plain[0] == plain[-1] == '"' else plain


def plain_number(cell: str) -> float:
    """Number in plain digits, with a decimal point; NaN for anything else.

    Examples
    --------
    >>> plain_number(" 1e2 "), plain_number("1_0"), plain_number("\u0661"), plain_number("1)")
    (100.0, nan, nan, nan)
    """
    try:
        return float(cell) if _plain(cell) else math.nan
    except ValueError:
        return math.nan


def _plain(text: str) -> bool:
    """Return False for 1_0 and digits of other scripts, which Python reads."""
    return text.isascii() and "_" not in text


def table(text: Text, first: int, last: int, n_columns: int, separator: str | None) -> FloatArray:
    """Numbers of some lines.

    Parameters
    ----------
    text : Text
        The file.
    first, last : int
        Lines, from 0, without the last; empty ones are passed over.
    n_columns : int
        Columns every line has; empty cells beyond them are passed over.
    separator : str or None
        What separates the cells; None for blanks and tabs.

    Returns
    -------
    ndarray of shape (n_lines, n_columns)
        NaN where a cell is empty or says so.

    Raises
    ------
    ReadError
        A line with another number of cells, or a cell that is not a number: line, column and content are named.
    """
    numbered = [(k, text.lines[k]) for k in range(first, min(last, len(text.lines))) if text.lines[k].strip()]
    rows = [_row(text, k, line, n_columns, separator) for k, line in numbered]
    flat = [cell for row in rows for cell in row]
    try:
        if not all(_plain(line) for _, line in numbered):
            raise ValueError
        values = np.fromiter(map(float, flat), dtype=float, count=len(flat))
    except ValueError:
        values = np.array([_number(text, numbered[i // n_columns][0], i % n_columns, c) for i, c in enumerate(flat)])
    return values.reshape(-1, n_columns)


def _row(text: Text, k: int, line: str, n_columns: int, separator: str | None) -> list[str]:
    if separator:
        row = text.cells(k, separator)
    else:
        row = line.split() if line.isascii() else re.split("[ \t]+", line.strip(" \t"))
    if len(row) == n_columns:
        return row
    if len(row) > n_columns and not any(cell.strip() for cell in row[n_columns:]):
        return row[:n_columns]
    raise text.fault(
        k, f"expected {n_columns} cells, found {len(row)}; the file is damaged or truncated, export it again"
    )


def _number(text: Text, line: int, column: int, cell: str) -> float:
    plain = cell.strip(" \t")
    if plain.lower() in BLANK:
        return float("nan")
    try:
        if not _plain(plain):
            raise ValueError
        return float(plain)
    except ValueError:
        comma = re.fullmatch(r"[-+]?\d+,\d+", plain) is not None
        hint = "; numbers need a decimal point, not a comma: export it so" if comma else ""
        raise text.fault(
            line, f"column {column + 1} is {plain[:40]!r}, expected a number or nothing{hint or '; export it again'}"
        ) from None


def no_repeated_columns(names: Sequence[str], text: Text, line: int) -> None:
    """Refuse columns of one name."""
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise text.fault(line, f"columns occur more than once: {', '.join(map(repr, twice[:5]))}; rename them")

"""Text files: lines, tables of numbers, even times; errors name line and column."""

from __future__ import annotations

import csv
import hashlib
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
    for k, line in enumerate(lines):
        if "#" in line and (found := SPREADSHEET_ERRORS.search(line)):
            raise read.fault(k, f"{found[0]} is an error of a spreadsheet; mend its formula, and export the file again")
    return read


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


def cells(line: str, separator: str) -> list[str]:
    """Cells of a line of headings; quotes protect commas.

    Examples
    --------
    >>> cells('time,"a, b",c', ",")
    ['time', 'a, b', 'c']
    """
    if '"' not in line:
        return line.split(separator)
    return next(csv.reader([line], delimiter=separator), [])


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
        if any("_" in line for _, line in numbered):
            raise ValueError  # Python reads 1_000 as a number
        values = np.fromiter(map(float, flat), dtype=float, count=len(flat))
    except ValueError:
        values = np.array([_number(text, numbered[i // n_columns][0], i % n_columns, c) for i, c in enumerate(flat)])
    return values.reshape(-1, n_columns)


def _row(text: Text, k: int, line: str, n_columns: int, separator: str | None) -> list[str]:
    row = line.split(separator) if separator is None or '"' not in line else cells(line, separator)
    if len(row) == n_columns:
        return row
    if len(row) > n_columns and not any(cell.strip() for cell in row[n_columns:]):
        return row[:n_columns]
    raise text.fault(
        k, f"expected {n_columns} cells, found {len(row)}; the file is damaged or truncated, export it again"
    )


def _number(text: Text, line: int, column: int, cell: str) -> float:
    plain = cell.strip()
    if plain.lower() in BLANK:
        return float("nan")
    try:
        if "_" in plain:
            raise ValueError
        return float(plain)
    except ValueError:
        comma = re.fullmatch(r"[-+]?\d+,\d+", plain) is not None
        hint = "; numbers need a decimal point, not a comma: export it so" if comma else ""
        raise text.fault(
            line, f"column {column + 1} is {plain[:40]!r}, expected a number or nothing{hint or '; export it again'}"
        ) from None


def resolution_s(text: Text, first: int, column: int, separator: str | None) -> float:
    """Half of the last printed digit of the times, s; 0 for times with an exponent.

    Parameters
    ----------
    text : Text
        The file.
    first : int
        First line of the table, from 0.
    column : int
        Column of the times.
    separator : str or None
        What separates the cells.
    """
    digits = 0
    for line in filter(str.strip, text.lines[first:]):
        cell = line.split(separator, column + 1)[column].strip(' "').lower()
        if "e" in cell:
            return 0.0
        digits = max(digits, len(cell.partition(".")[2]))
    return 0.5 * 10.0**-digits


def rounding_s(times_s: FloatArray, stated_hz: float | None, *, printed_s: float) -> float:
    """Half of the last digit that times were rounded to, s; more may be printed.

    Parameters
    ----------
    times_s : ndarray of shape (n_frames,)
        Times, s.
    stated_hz : float or None
        Frames per second as the file states them.
    printed_s : float
        Half of the last printed digit, s (`resolution_s`).

    Returns
    -------
    float
        ``printed_s``, or half of the last digit that is not zero in some time, where uneven times agree with the stated
        rate to that digit and it is below half of a frame, so that no frame can be missing.

    Examples
    --------
    >>> rounding_s(np.array([0.0, 0.017, 0.033, 0.05]), 60.0, printed_s=0.5e-6)
    0.0005
    """
    if not (printed_s and stated_hz and len(times_s) > 1 and np.isfinite(times_s).all()) or _even(times_s, printed_s):
        return printed_s
    digits = next((d for d in range(1, 9) if (np.abs(times_s - np.round(times_s, d)) <= printed_s).all()), 9)
    coarse_s = 0.5 * 10.0**-digits
    off_s = times_s - times_s[0] - np.arange(len(times_s)) / stated_hz
    agrees = bool((np.abs(off_s) <= _margin_s(times_s, 1.0 / stated_hz, coarse_s)).all())
    return coarse_s if agrees and printed_s < coarse_s < 0.25 / stated_hz else printed_s


USUAL_HZ = (100.0, 200.0, 50.0, 60.0, 120.0, 240.0, 250.0, 150.0, 300.0, 400.0, 500.0, 1000.0, 2000.0, 25.0, 30.0)


def n_even_rows(times_s: FloatArray, text: Text, *, printed_s: float, findings: Findings) -> int:
    """Number of evenly spaced rows: all, or all but a last one that comes too early.

    Parameters
    ----------
    times_s : ndarray of shape (n_frames,)
        Times, s.
    text : Text
        The file, with the last time in its last line.
    printed_s : float
        Half of the last printed digit, s.
    findings : Findings
        Gets the finding where the last row does not count, a guess.

    Returns
    -------
    int
        ``n_frames``, or one less.

    Notes
    -----
    Programs that write every tenth sample, or a simulation step by step, end with a row at the end time, wherever it is:
    the row is a sample, but not one of the even ones that filters and derivatives need. At least three rows before it
    are even, and its step is above zero and below theirs by more than the rounding; all else is left to `even_rate`.
    """
    n = len(times_s)
    if n < 4 or not np.isfinite(times_s).all() or _even(times_s, printed_s) or not _even(times_s[:-1], printed_s):
        return n
    usual_s = float(times_s[-2] - times_s[0]) / (n - 2)
    last_s = float(times_s[-1] - times_s[-2])
    margin_s = _margin_s(times_s, usual_s, printed_s)
    if not margin_s < last_s < usual_s - margin_s:
        return n
    row = f"line {len(text.lines)} at {times_s[-1]:g} s"
    findings.add(
        "last row",
        f"{row} comes {last_s:.4g} s after the one before it, the others {usual_s:.4g} s after each other",
        f"{row} is left out, since frames must be evenly spaced",
        "export the file without it, or with even steps up to its end",
    )
    return n - 1


def _margin_s(times_s: FloatArray, step_s: float, printed_s: float) -> float:
    """Tolerance of even times, from their rounding in print and in memory."""
    return 2.02 * printed_s + 1e-6 * step_s + 1e-12 * float(np.abs(times_s).max())


def _even(times_s: FloatArray, printed_s: float) -> bool:
    """True where times increase in even steps."""
    from_zero = times_s - times_s[0]
    step_s = float(from_zero[-1]) / (len(times_s) - 1)
    off_s = np.abs(from_zero - np.arange(len(times_s)) * step_s)
    return bool(
        step_s > 0.0 and (off_s <= _margin_s(times_s, step_s, printed_s)).all() and not _skips(from_zero, printed_s)
    )


def even_rate(
    times_s: FloatArray,
    text: Text,
    line: int,
    *,
    printed_s: float,
    stated_hz: float | None,
    where: str,
    options: ReadOptions,
    findings: Findings,
) -> float:
    """Rate of evenly spaced times.

    Parameters
    ----------
    times_s : ndarray of shape (n_frames,)
        Times, s.
    text : Text
        The file.
    line : int
        Line of the first time, from 0.
    printed_s : float
        Half of the last printed digit, s.
    stated_hz : float or None
        Frames per second as the file states them.
    where : str
        Where it states them.
    options : ReadOptions
        ``rate_hz`` settles a disagreement, or gives the rate of a single frame.
    findings : Findings
        Gets the findings.

    Returns
    -------
    float
        Frames per second: the stated rate where the times fit it, else a usual rate or the whole number that they fit to
        their rounding (a guess where they fit the next whole number, too), else one over their mean step.

    Raises
    ------
    ReadError
        Times that are missing, go back or are not evenly spaced; an option that does not fit them.
    """
    if not np.isfinite(times_s).all():
        raise text.fault(line + int(np.argmin(np.isfinite(times_s))), "the time is missing; export it again")
    if len(times_s) == 1:
        rate_hz = options.rate_hz or stated_hz
        if not rate_hz:
            raise ReadError(f"{text.name}: one frame has no rate; give reading.rate_hz")
        findings.add("rate", "one frame", f"{rate_hz:g} frames per second")
        return rate_hz
    from_zero = times_s - times_s[0]
    step_s = float(from_zero[-1]) / (len(times_s) - 1)
    if not step_s > 0.0:
        raise text.fault(line, "the times do not go forward from the first to the last; export it again")
    margin_s = _margin_s(times_s, step_s, printed_s)
    index = np.arange(len(times_s))
    if not _even(times_s, printed_s):
        at = int(np.argmax(np.abs(np.diff(from_zero) - np.median(np.diff(from_zero)))))
        raise text.fault(
            line + at + 1,
            f"the time goes from {times_s[at]:g} to {times_s[at + 1]:g} s, the usual step is "
            f"{np.median(np.diff(from_zero)):g} s; frames must be evenly spaced: export all of them",
        )

    def fits(rate_hz: float | None) -> bool:
        return bool(rate_hz and rate_hz > 0 and (np.abs(from_zero - index / rate_hz) <= margin_s).all())

    measured_hz = 1.0 / step_s
    whole_hz = float(round(measured_hz))
    if options.rate_hz and not fits(options.rate_hz):
        raise ReadError(
            f"{text.name}: reading.rate_hz says {options.rate_hz:g} frames per second, the times {measured_hz:g}; "
            "remove the option for this trial, or correct the file"
        )
    for asked, what in ((options.rate_hz, "reading.rate_hz"), (stated_hz, where)):
        if fits(asked) and asked:
            findings.add("rate", f"{what} is {asked:g} Hz, the times fit it", f"{asked:g} frames per second")
            return asked
    rounded = float(np.ptp(np.diff(times_s))) > 1e-6 * step_s  # even as printed: there is no rounding to see through
    usual = [hz for hz in USUAL_HZ if fits(hz)] if rounded else []
    rate_hz = usual[0] if usual else whole_hz if fits(whole_hz) else measured_hz
    unsure = bool(stated_hz) or (rounded and any(fits(hz) for hz in (rate_hz - 1.0, rate_hz + 1.0)))
    said = f"{where} is {stated_hz:g} Hz, the times" if stated_hz else "the times"
    settle = f"give reading.rate_hz, {rate_hz:g} or what it is" if unsure else ""
    findings.add("rate", f"{said} say {measured_hz:.6g} Hz", f"{rate_hz:g} frames per second", settle)
    if stated_hz:
        findings.notes.append(f"{where} is {stated_hz:g} Hz, the times say {rate_hz:g} Hz: the times are used")
    return rate_hz


def start_s(times_s: FloatArray, rate_hz: float) -> float:
    """Time of the first frame, s, from all times, since each of them is rounded.

    Examples
    --------
    >>> round(start_s(np.array([1.33, 1.34, 1.34, 1.35, 1.36]), 120.0), 3)
    1.327
    """
    return float(times_s[0] + np.mean(times_s - times_s[0] - np.arange(len(times_s)) / rate_hz))


def _skips(from_zero: FloatArray, printed_s: float) -> bool:
    """True where coarsely printed times skip or repeat a frame.

    At 100 Hz and two decimals a frame that is missing looks like rounding. Rounding of even times mixes two steps in all
    the file; a few odd steps among many equal ones are missing or repeated frames.
    """
    if not printed_s or len(from_zero) < 4:
        return False
    digits = np.rint(np.diff(from_zero) / (2.0 * printed_s))
    steps, counts = np.unique(digits, return_counts=True)
    return bool(len(steps) > 1 and steps[counts.argmax()] <= 2 and counts.max() > 0.8 * len(digits))


def check_frames(numbers: FloatArray, text: Text, line: int, findings: Findings) -> int:
    """First frame of consecutive frame numbers.

    Raises
    ------
    ReadError
        They are not whole, or not consecutive.
    """
    if not np.isfinite(numbers).all() or (numbers != np.rint(numbers)).any() or numbers[0] < 0:
        bad = int(np.argmax(~(np.isfinite(numbers) & (numbers == np.rint(numbers)) & (numbers >= 0))))
        raise text.fault(line + bad, "the frame is not a whole number; export it again")
    jumps = np.flatnonzero(np.diff(numbers) != 1)
    if jumps.size:
        at = int(jumps[0])
        raise text.fault(
            line + at + 1,
            f"frame {numbers[at + 1]:g} follows frame {numbers[at]:g}; frames must be consecutive: export all of them",
        )
    first = int(numbers[0])
    findings.add("frames", f"{len(numbers)} from number {first}", "time is zero at the first of them")
    return max(first, 1)


def no_repeated_columns(names: Sequence[str], text: Text, line: int) -> None:
    """Refuse columns of one name."""
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise text.fault(line, f"columns occur more than once: {', '.join(map(repr, twice[:5]))}; rename them")

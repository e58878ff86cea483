"""Text files: lines, number tables, even times; errors name line and column."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.force_plates import Wrench, plate_of
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import ForcePlate, Recording
from limbtorque.recordings.source import Source, plain_number, read_bytes

SPREADSHEET_ERRORS = re.compile(r"#(?:REF!|VALUE!|NAME\?|DIV/0!|NUM!|NULL!)")
BLANK = {"", "nan", "-nan", "null", "none", "na", "n/a", "-", "--", "#n/a"}
BLANK |= {"1.#qnan", "-1.#ind", "1.#ind", "1.#qo", "-1.#io"}
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MAX_COLUMNS = 20_000  # of a table; the widest recordings have some hundred markers
Vectors = Mapping[str, Mapping[int, int]]  # force, point and torque -> axis -> column
LINE_BYTES, CELL_BYTES = 64, 24  # of memory for each line and each cell of a table
USUAL_HZ = (100.0, 200.0, 50.0, 60.0, 120.0, 240.0, 250.0, 150.0, 300.0, 400.0, 500.0, 1000.0, 2000.0, 25.0, 30.0)


@dataclass
class Text(Source):
    """A text file that is being read.

    Attributes
    ----------
    lines : list of str
        Its lines, without their ends.
    """

    lines: list[str] = field(default_factory=list)

    def fault(self, line: int, sentence: str) -> ReadError:
        """Error about a line; `line` counts from 0, the message from 1."""
        return ReadError(f"{self.name} line {line + 1}: {sentence}")

    def cells(self, line: int, separator: str) -> list[str]:
        """Cells of a line; quotes around a whole cell protect separators.

        Raises
        ------
        ReadError
            A quote that does not end, or ends before its cell.

        Examples
        --------
        >>> Text("a.csv", ReadOptions(), lines=['time,"a, b",c']).cells(0, ",")
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

    def labels(self, line: int, separator: str) -> list[str]:
        """Cells of a heading as labels, without empty ones at the end."""
        labels = [self.plain_label(cell) for cell in self.cells(line, separator)]
        while labels and not labels[-1]:
            labels.pop()
        return labels

    def refuse_repeated(self, names: Sequence[str], line: int) -> None:
        """Refuse columns with the same name."""
        if twice := sorted(name for name, n in Counter(names).items() if name and n > 1):
            raise self.fault(line, f"columns occur more than once: {', '.join(map(repr, twice[:5]))}; rename them")

    def add_others(self, columns: Sequence[str]) -> None:
        """Add a finding on the columns that are left out."""
        if columns:
            listed = ", ".join(columns[:8]) + " ..." * (len(columns) > 8)
            self.add("other columns", f"{len(columns)}: {listed}", "left out")

    def add_plate(self, number: int, stated: str, *, has_moment: bool) -> None:
        """Add a finding on a force plate given as a wrench."""
        self.add(
            f"force plate {number}",
            f"{stated}{' and moment' if has_moment else ', no moment'}",
            "force on the foot; moment about the origin = point x force + free moment; its corners are unknown",
            "" if has_moment else "also export the moment: the free moment is set to zero",
        )

    def plates(
        self, columns: Mapping[int, Vectors], values: FloatArray, clock: Clock, *, length_m: float, force_n: float
    ) -> tuple[ForcePlate, ...]:
        """Force plates of kind 0 from columns; an axis without a column is zero."""
        plates = []
        for number, vectors in columns.items():
            wrench = {vector: np.zeros((len(values), 3)) for vector in ("force", "point", "torque")}
            for vector, axes in vectors.items():
                wrench[vector][:, [*axes]] = values[:, [*axes.values()]]
            self.add_plate(number, "columns of force, centre of pressure", has_moment="torque" in vectors)
            couple_nm = wrench["torque"] * force_n * length_m
            in_si = Wrench(wrench["force"] * force_n, wrench["point"] * length_m, couple_nm)
            plates.append(plate_of(in_si, number, clock.rate_hz))
        return tuple(plates)

    def recorded(self, reader: str, clock: Clock, n_frames: int, **contents: Any) -> Recording:
        """Recording of the file, with notes on missing samples."""
        analog = contents.get("analog", np.zeros((0, 0)))
        if missing := int(np.isnan(analog).sum()):
            self.notes.append(f"{missing} samples of analog channels are missing, of {analog.size}")
        for number, plate in enumerate(contents.get("force_plates", ()), 1):
            if missing := int(np.isnan(plate.force_n).any(axis=1).sum()):
                self.notes.append(f"{missing} samples of force plate {number} are missing, of {len(plate.force_n)}")
        contents = {"labels": (), "markers_m": np.zeros((n_frames, 0, 3))} | contents
        times = {"rate_hz": clock.rate_hz, "first_frame": clock.first_frame, "start_s": clock.start_s}
        return self.recording(reader, **times, **contents)


def read_text(path: Path, options: ReadOptions) -> Text:
    """Read a text file in UTF-8, UTF-16, or the encoding of the options.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        ``text_encoding`` for what is not UTF-8; else Windows-1252, which is a guess and called so.

    Raises
    ------
    ReadError
        The file cannot be opened, is empty, is not text, or has lines that no table has.
    """
    file = Text(path.name, options)
    raw = read_bytes(path, file)
    text, encoding, guessed = _decoded(raw, options.text_encoding, file)
    del raw
    if "\0" in text:
        raise file.error("not a text file: it has zero bytes; check its format, or export it again")
    file.add("text", f"{encoding}", "read as such", "give reading.text_encoding" if guessed else "")
    text = text.rstrip("\x1a")  # the end of a file in DOS
    if not text.endswith(("\n", "\r")):
        file.add(
            "end of the file",
            "the last line has no line break: the file may be truncated",
            "taken as whole",
            "check the last line, and end it with a line break",
        )
    control = CONTROL.search(text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    file.refuse_larger(LINE_BYTES * text.count("\n") + 2 * file.size)
    lines = file.lines = text.split("\n")
    del text
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise file.error(f"the file is empty ({file.size} bytes); export or copy it again")
    if control:
        k = next(k for k, line in enumerate(lines) if control[0] in line)
        raise file.fault(
            k, f"a control character ({ord(control[0]):#04x}); the file is damaged, export or copy it again"
        )
    for k, line in enumerate(lines):
        if "#" in line and (error := SPREADSHEET_ERRORS.search(line)):
            raise file.fault(k, f"{error[0]} is a spreadsheet error; correct the formula, and export the file again")
        if len(line) > MAX_COLUMNS and max(map(line.count, "\t,; ")) > MAX_COLUMNS:
            raise file.fault(
                k, f"more than {MAX_COLUMNS} cells, more than any recording has; the file is damaged, export it again"
            )
    return file


def _decoded(raw: bytes, given: str | None, file: Text) -> tuple[str, str, bool]:
    """Text, its encoding, and True if the encoding is a guess."""
    try:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return raw.decode("utf-16"), "UTF-16, by its byte order mark", False
        return raw.decode("utf-8-sig"), "UTF-8", False
    except UnicodeDecodeError:
        pass
    if given:
        try:
            return raw.decode(given), f"{given}, as in reading.text_encoding", False
        except (UnicodeError, LookupError) as error:
            raise file.error(f"not readable as {given} (reading.text_encoding): {error}") from None
    return raw.decode("cp1252", "replace"), "not UTF-8, read as Windows-1252", True


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
    numbered = [k for k in range(first, min(last, len(text.lines))) if text.lines[k].strip()]
    if not numbered:
        raise text.error("there are no rows below the names of the columns; export it again")
    _row(text, numbered[0], n_columns, separator)  # a wrong width is an error before there is room for all lines
    text.refuse_larger(CELL_BYTES * len(numbered) * n_columns + LINE_BYTES * len(text.lines) + text.size)
    values = np.empty((len(numbered), n_columns))
    for i, k in enumerate(numbered):
        row, line = _row(text, k, n_columns, separator), text.lines[k]
        try:
            if not line.isascii() or "_" in line:
                raise ValueError
            values[i] = [*map(float, row)]
        except ValueError:
            values[i] = [_number(text, k, column, cell) for column, cell in enumerate(row)]
    return values


def _row(text: Text, k: int, n_columns: int, separator: str | None) -> list[str]:
    """Cells of a line, as many as there are columns."""
    line = text.lines[k]
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
    """Number in a cell; NaN if the cell marks a missing value."""
    plain = cell.strip(" \t")
    if plain.lower() in BLANK:
        return math.nan
    try:
        if not plain.isascii() or "_" in plain:
            raise ValueError
        return float(plain)
    except ValueError:
        comma = re.fullmatch(r"[-+]?\d+,\d+", plain) is not None
        hint = "; export numbers with a decimal point, not a comma" if comma else ""
        raise text.fault(
            line,
            f"column {column + 1} is {plain[:40]!r}, expected a number or an empty cell{hint or '; export it again'}",
        ) from None


@dataclass(frozen=True)
class Rows:
    """Lines of a table over time.

    Attributes
    ----------
    first : int
        First line, from 0.
    separator : str or None
        What separates the cells; None for blanks and tabs.
    time : int
        Column of the times.
    frame : int or None
        Column of the numbers of the frames; None where there is none.
    unit_s : float
        Unit of the times, s.
    stated_hz : float or None
        Frames per second as the file states them.
    where : str
        Where it states them.
    """

    first: int
    separator: str | None
    time: int = 1
    frame: int | None = 0
    unit_s: float = 1.0
    stated_hz: float | None = None
    where: str = "the heading"


@dataclass(frozen=True)
class Clock:
    """Times of the frames: rate, number of the first frame, and its time.

    Attributes
    ----------
    rate_hz : float
        Frames per second.
    first_frame : int
        Number of the first frame, from 1.
    start_s : float or None
        Its time on the file's own clock, s; None where the file has no times.
    """

    rate_hz: float
    first_frame: int = 1
    start_s: float | None = 0.0


def timed_rows(values: FloatArray, text: Text, rows: Rows) -> tuple[FloatArray, Clock]:
    """Evenly spaced rows of a table, and their clock.

    Parameters
    ----------
    values : ndarray of shape (n_lines, n_columns)
        The table.
    text : Text
        The file, with the last row in its last line.
    rows : Rows
        Where times and frames are, and the stated rate.

    Returns
    -------
    values : ndarray of shape (n_frames, n_columns)
        The rows, without a last one that comes too early (`n_even_rows`).
    clock : Clock
        Rate (`even_rate`), first frame (`check_frames`; 1 without numbers) and its time.

    Raises
    ------
    ReadError
        There are no rows, times are not even, or frames not consecutive.
    """
    times_s = values[:, rows.time] * rows.unit_s
    printed_s = resolution_s(text, rows.first, rows.time, rows.separator) * rows.unit_s
    printed_s = rounding_s(times_s, rows.stated_hz, printed_s=printed_s)
    n = n_even_rows(times_s, text, printed_s=printed_s)
    values, times_s = values[:n], times_s[:n]
    first_frame = 1 if rows.frame is None else check_frames(values[:, rows.frame], text, rows.first)
    rate_hz = even_rate(times_s, text, rows, printed_s=printed_s)
    return values, Clock(rate_hz, first_frame, start_s(times_s, rate_hz))


def resolution_s(text: Text, first: int, column: int, separator: str | None) -> float:
    """Half of the last printed digit of the times, s; 0 for exponents.

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
    """Half of the last significant digit of the times, s; more digits may be printed.

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


def n_even_rows(times_s: FloatArray, text: Text, *, printed_s: float) -> int:
    """Number of evenly spaced rows: all, or all but a last row that is too early.

    Parameters
    ----------
    times_s : ndarray of shape (n_frames,)
        Times, s.
    text : Text
        The file, with the last time in its last line; gets a guess where the last row does not count.
    printed_s : float
        Half of the last printed digit, s.

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
    text.add(
        "last row",
        f"{row} comes {last_s:.4g} s after the previous one, the others {usual_s:.4g} s apart",
        f"{row} is left out, since frames must be evenly spaced",
        "export the file without it, or with even steps throughout",
    )
    return n - 1


def _margin_s(times_s: FloatArray, step_s: float, printed_s: float) -> float:
    """Tolerance of even times, from rounding in print and memory."""
    return 2.02 * printed_s + 1e-6 * step_s + 1e-12 * float(np.abs(times_s).max())


def _even(times_s: FloatArray, printed_s: float) -> bool:
    """True where times increase in even steps."""
    if (np.diff(times_s) < 0.0).any():  # rounding may let them stand still
        return False
    from_zero = times_s - times_s[0]
    step_s = float(from_zero[-1]) / (len(times_s) - 1)
    off_s = np.abs(from_zero - np.arange(len(times_s)) * step_s)
    if not step_s > 0.0 or not (off_s <= _margin_s(times_s, step_s, printed_s)).all():
        return False
    # At 100 Hz and two decimals a frame that is missing looks like rounding. Rounding of even times mixes two steps in all
    # the file; a few odd steps among many equal ones are missing or repeated frames.
    if not printed_s or len(from_zero) < 4:
        return True
    steps, counts = np.unique(np.rint(np.diff(from_zero) / (2.0 * printed_s)), return_counts=True)
    return not (len(steps) > 1 and steps[counts.argmax()] <= 2 and counts.max() > 0.8 * (len(times_s) - 1))


def stated_rate(text: Text, stated: str | None, where: str) -> float | None:
    """Rate stated in a heading; None, with a note, if not a positive number.

    Parameters
    ----------
    text : Text
        The file; gets the guess and the note.
    stated : str or None
        The rate as the file has it.
    where : str
        Where it has it.
    """
    if stated is None or 0.0 < plain_number(stated) < np.inf:
        return None if stated is None else plain_number(stated)
    said, made = f"{where} is {stated[:20]!r}, not a number above zero", "the times give the rate"
    text.add(where, said, made, f"correct {where} in the file", note=f"{said}: {made}")
    return None


def even_rate(times_s: FloatArray, text: Text, rows: Rows, *, printed_s: float) -> float:
    """Rate of evenly spaced times.

    Parameters
    ----------
    times_s : ndarray of shape (n_frames,)
        Times, s.
    text : Text
        The file; its option ``rate_hz`` settles a disagreement, or gives the rate of a single frame.
    rows : Rows
        First line and stated rate.
    printed_s : float
        Half of the last printed digit, s.

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
    line, stated_hz, where, given_hz = rows.first, rows.stated_hz, rows.where, text.options.rate_hz
    if not np.isfinite(times_s).all():
        raise text.fault(line + int(np.argmin(np.isfinite(times_s))), "the time is missing; export it again")
    if len(times_s) == 1:
        rate_hz = given_hz or stated_hz
        if not rate_hz:
            raise text.error("a single frame has no rate; give reading.rate_hz")
        text.add("rate", "one frame", f"{rate_hz:g} frames per second")
        return rate_hz
    from_zero = times_s - times_s[0]
    step_s = float(from_zero[-1]) / (len(times_s) - 1)
    if not step_s > 0.0:
        raise text.fault(line, "the times do not increase from the first to the last; export it again")
    margin_s = _margin_s(times_s, step_s, printed_s)
    index = np.arange(len(times_s))
    if not _even(times_s, printed_s):
        at = int(np.argmax(np.abs(np.diff(from_zero) - np.median(np.diff(from_zero)))))
        raise text.fault(
            line + at + 1,
            f"the time jumps from {times_s[at]:g} to {times_s[at + 1]:g} s, the usual step is "
            f"{np.median(np.diff(from_zero)):g} s; frames must be evenly spaced: export all of them",
        )

    def fits(rate_hz: float | None) -> bool:
        return bool(rate_hz and rate_hz > 0 and (np.abs(from_zero - index / rate_hz) <= margin_s).all())

    measured_hz = 1.0 / step_s
    whole_hz = float(round(measured_hz))
    if given_hz and not fits(given_hz):
        raise text.error(
            f"reading.rate_hz says {given_hz:g} frames per second, the times {measured_hz:g}; "
            "remove the option for this trial, or correct the file"
        )
    for asked, what in ((given_hz, "reading.rate_hz"), (stated_hz, where)):
        if fits(asked) and asked:
            text.add("rate", f"{what} is {asked:g} Hz, the times agree", f"{asked:g} frames per second")
            return asked
    rounded = float(np.ptp(np.diff(times_s))) > 1e-6 * step_s  # even as printed: there is no rounding to see through
    usual = [hz for hz in USUAL_HZ if fits(hz)] if rounded else []
    rate_hz = usual[0] if usual else whole_hz if fits(whole_hz) else measured_hz
    unsure = bool(stated_hz) or (rounded and any(fits(hz) for hz in (rate_hz - 1.0, rate_hz + 1.0)))
    said = f"{where} is {stated_hz:g} Hz, the times" if stated_hz else "the times"
    settle = f"set reading.rate_hz to {rate_hz:g} or the true rate" if unsure else ""
    text.add("rate", f"{said} say {measured_hz:.6g} Hz", f"{rate_hz:g} frames per second", settle)
    if stated_hz:
        text.notes.append(f"{where} is {stated_hz:g} Hz, the times say {rate_hz:g} Hz: the times are used")
    return rate_hz


def start_s(times_s: FloatArray, rate_hz: float) -> float:
    """Time of the first frame, s, from all times, since each of them is rounded.

    Examples
    --------
    >>> round(start_s(np.array([1.33, 1.34, 1.34, 1.35, 1.36]), 120.0), 3)
    1.327
    """
    return float(times_s[0] + np.mean(times_s - times_s[0] - np.arange(len(times_s)) / rate_hz))


def check_frames(numbers: FloatArray, text: Text, line: int, *, what: Literal["frame", "sample"] = "frame") -> int:
    """First frame (or sample) of consecutive numbers.

    Raises
    ------
    ReadError
        They are not whole, or not consecutive.
    """
    if not np.isfinite(numbers).all() or (numbers != np.rint(numbers)).any() or numbers[0] < 0:
        bad = int(np.argmax(~(np.isfinite(numbers) & (numbers == np.rint(numbers)) & (numbers >= 0))))
        raise text.fault(line + bad, f"the number of the {what} is not whole; export it again")
    jumps = np.flatnonzero(np.diff(numbers) != 1)
    if jumps.size:
        at = int(jumps[0])
        raise text.fault(
            line + at + 1,
            f"{what} {numbers[at + 1]:.10g} follows {what} {numbers[at]:.10g}; they must be consecutive: export all of them",
        )
    first = int(numbers[0])
    if what == "frame":
        text.add("frames", f"{len(numbers)} from number {first}", "time is zero at the first of them")
    return max(first, 1)

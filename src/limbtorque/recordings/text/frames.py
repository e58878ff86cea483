"""Frames of a text file: even times, consecutive numbers, and the recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.audit import Audit
from limbtorque.recordings.findings import Findings
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.text.lines import Text, plain_number

USUAL_HZ = (100.0, 200.0, 50.0, 60.0, 120.0, 240.0, 250.0, 150.0, 300.0, 400.0, 500.0, 1000.0, 2000.0, 25.0, 30.0)


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


def timed_rows(
    values: FloatArray, text: Text, rows: Rows, options: ReadOptions, findings: Findings
) -> tuple[FloatArray, Clock]:
    """Evenly spaced rows of a table, and their clock.

    Parameters
    ----------
    values : ndarray of shape (n_lines, n_columns)
        The table.
    text : Text
        The file, with the last row in its last line.
    rows : Rows
        Where times and frames are, and the stated rate.
    options : ReadOptions
        Options of the readers.
    findings : Findings
        Gets the findings.

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
    if not len(values):
        raise ReadError(f"{text.name}: there are no rows below the names of the columns; export it again")
    times_s = values[:, rows.time] * rows.unit_s
    printed_s = resolution_s(text, rows.first, rows.time, rows.separator) * rows.unit_s
    printed_s = rounding_s(times_s, rows.stated_hz, printed_s=printed_s)
    n = n_even_rows(times_s, text, printed_s=printed_s, findings=findings)
    values, times_s = values[:n], times_s[:n]
    first_frame = 1 if rows.frame is None else check_frames(values[:, rows.frame], text, rows.first, findings)
    rate_hz = even_rate(times_s, text, rows, printed_s=printed_s, options=options, findings=findings)
    return values, Clock(rate_hz, first_frame, start_s(times_s, rate_hz))


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
    if (np.diff(times_s) < 0.0).any():  # rounding may let them stand still
        return False
    from_zero = times_s - times_s[0]
    step_s = float(from_zero[-1]) / (len(times_s) - 1)
    off_s = np.abs(from_zero - np.arange(len(times_s)) * step_s)
    return bool(
        step_s > 0.0 and (off_s <= _margin_s(times_s, step_s, printed_s)).all() and not _skips(from_zero, printed_s)
    )


def stated_rate(said: str | None, where: str, findings: Findings) -> float | None:
    """Rate that a heading states; None, with a note, where it is no number above zero.

    Parameters
    ----------
    said : str or None
        The rate as the file has it.
    where : str
        Where it has it.
    findings : Findings
        Gets the guess and the note.
    """
    if said is None:
        return None
    rate_hz = plain_number(said)
    if 0.0 < rate_hz < np.inf:
        return rate_hz
    found = f"{where} is {said[:20]!r}, not a number above zero"
    findings.add(where, found, "the times give the rate", f"correct {where} in the file")
    findings.notes.append(f"{found}: the times give the rate")
    return None


def even_rate(
    times_s: FloatArray,
    text: Text,
    rows: Rows,
    *,
    printed_s: float,
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
    rows : Rows
        First line and stated rate.
    printed_s : float
        Half of the last printed digit, s.
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
    line, stated_hz, where = rows.first, rows.stated_hz, rows.where
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


def check_frames(
    numbers: FloatArray, text: Text, line: int, findings: Findings, *, what: Literal["frame", "sample"] = "frame"
) -> int:
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
    findings.add("frames", f"{len(numbers)} from number {first}", "time is zero at the first of them")
    return max(first, 1)


def recording_of(
    text: Text,
    reader: str,
    clock: Clock,
    findings: Findings,
    *,
    labels: tuple[str, ...],
    markers_m: FloatArray,
    **others: Any,
) -> Recording:
    """Recording of a text file.

    Parameters
    ----------
    text : Text
        Name and hash of the file.
    reader : str
        Name of the reader.
    clock : Clock
        Times of the frames.
    findings : Findings
        Notes and findings.
    labels : tuple of str
        Labels of the markers.
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Positions, m.
    **others
        Further attributes of the recording.
    """
    analog = others.get("analog", np.zeros((0, 0)))
    if missing := int(np.isnan(analog).sum()):
        findings.notes.append(f"{missing} samples of analog channels are missing, of {analog.size}")
    for number, plate in enumerate(others.get("force_plates", ()), 1):
        if missing := int(np.isnan(plate.force_n).any(axis=1).sum()):
            findings.notes.append(f"{missing} samples of force plate {number} are missing, of {len(plate.force_n)}")
    return Recording(
        source=text.name,
        sha256=text.sha256,
        reader=f"limbtorque.recordings.{reader}",
        labels=labels,
        markers_m=markers_m,
        rate_hz=clock.rate_hz,
        first_frame=clock.first_frame,
        start_s=clock.start_s,
        notes=tuple(findings.notes),
        audit=Audit(tuple(findings.entries)),
        **others,
    )


def bare_recording(
    text: Text, reader: str, clock: Clock, findings: Findings, *, n_frames: int, **others: Any
) -> Recording:
    """Recording of a text file without markers; parameters as of `recording_of`."""
    none = np.zeros((n_frames, 0, 3))
    return recording_of(text, reader, clock, findings, labels=(), markers_m=none, **others)

"""Motion Analysis Cortex files that accompany a TRC: forces and analog channels."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from limbtorque.recordings.force_plates import Wrench, plate_of
from limbtorque.recordings.options import NO_OPTIONS, ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.source import plain_number
from limbtorque.recordings.text.table import Clock, Rows, check_frames, read_text, table, timed_rows

PER_PLATE = ("FX", "FY", "FZ", "X", "Y", "Z", "MZ")
HEADING = 20


def read_forces(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read the force plates of a Cortex `.forces` file.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        Options of the readers; the file does not state its unit of length.

    Returns
    -------
    Recording
        Force plates of kind 0, without markers, from time zero.

    Raises
    ------
    ReadError
        Not such a file, other columns than ``FX1 FY1 FZ1 X1 Y1 Z1 MZ1``, a wrong number of samples, no unit of length.

    Notes
    -----
    The force is the one on the foot, at the point X, Y, Z; MZ is the free moment about the laboratory's z axis, in
    newtons times the unit of length.
    """
    text = read_text(path, options)
    names = next((k for k, line in enumerate(text.lines[:HEADING]) if line.lower().startswith("#sample")), None)
    said = dict(line.strip().lower().partition("=")[::2] for line in text.lines[: names or 0])
    if names is None or "numberofforceplates" not in said or "samplerate" not in said:
        raise text.error(
            "not a whole .forces file: expected [Force Data], NumberOfForcePlates=, SampleRate= and a line "
            "that begins with #Sample; export it again"
        )
    columns = text.lines[names].split()[1:]
    numbers = {name: plain_number(said[name]) for name in ("numberofforceplates", "samplerate")}
    for name, value in numbers.items():
        if not 0.0 < value < 1e6:
            raise text.error(f"{name} is {said[name][:40]!r}, expected a number above zero; export it again")
    n_plates, rate_hz = int(numbers["numberofforceplates"]), numbers["samplerate"]
    expected = [f"{name}{n}" for n in range(1, min(n_plates, len(columns)) + 1) for name in PER_PLATE]
    if [name.upper() for name in columns] != expected or len(columns) != 7 * n_plates:
        raise text.fault(names, f"found columns {columns[:8]}, expected {expected[:8]} ...; export it again")
    values = table(text, names + 1, len(text.lines), 1 + len(expected), None)
    if said.get("numberofsamples", str(len(values))).strip() != str(len(values)):
        raise text.error(
            f"NumberOfSamples is {said.get('numberofsamples')}, the file has {len(values)}; it is damaged or "
            "truncated, export it again"
        )
    check_frames(values[:, 0], text, names + 1, what="sample")
    length_m = text.length_m(None, "the heading (Cortex writes mm)")
    text.add("format", f"Cortex forces, {n_plates} plates", "force on the foot, point, free moment about z")
    text.add("clock", "samples without times", "the first is at time zero")
    plates = []
    for n in range(n_plates):
        part = values[:, 1 + 7 * n : 8 + 7 * n]
        couple = np.column_stack([np.zeros((len(part), 2)), part[:, 6] * length_m])
        plates.append(plate_of(Wrench(part[:, :3], part[:, 3:6] * length_m, couple), n + 1, rate_hz))
    return text.recorded("text.cortex", Clock(rate_hz), len(values), force_plates=tuple(plates))


def read_anc(path: Path, options: ReadOptions = NO_OPTIONS) -> Recording:
    """Read the analog channels of a Cortex `.anc` file.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions, optional
        Options of the readers.

    Returns
    -------
    Recording
        Analog channels in mV, without markers and force plates: the calibration of the plates is in another file.

    Raises
    ------
    ReadError
        Not such a file, or a line that is damaged.

    Notes
    -----
    The samples are numbers of the converter. A channel's range R, in mV, stands for half of its 2^BitDepth numbers, so a
    number is worth 2 R / 2^BitDepth.
    """
    text = read_text(path, options)
    heads = {line.split("\t")[0].strip().lower(): k for k, line in enumerate(text.lines[:HEADING])}
    whole = "\t".join(text.lines[:HEADING])
    stated = (re.search(rf"{key}:?\t\s*([^\t]+)", whole) for key in ("BitDepth", "PreciseRate"))
    bits, precise_hz = (plain_number(match[1]) if match else None for match in stated)
    if bits is None or not {"name", "range"} <= set(heads) or (precise_hz is None and "rate" not in heads):
        raise text.error("not a whole .anc file: expected BitDepth, and lines Name, Rate and Range; export it again")
    cells = {key: text.lines[k].rstrip("\t ").split("\t")[1:] for key, k in heads.items()}
    names = tuple(map(text.plain_label, cells["name"]))
    ranges_mv = np.array([plain_number(cell) for cell in cells["range"]])
    rates = [plain_number(cell) for cell in cells["rate"]] if "rate" in cells else [precise_hz or 0.0] * len(names)
    rate_hz = precise_hz if precise_hz is not None else [*rates, 0.0][0]
    if not (0 < bits <= 64 and bits % 1 == 0 and rate_hz > 0 and np.isfinite([*ranges_mv, *rates]).all()):
        raise text.fault(heads["range"], "the bit depth, the ranges or the rates are not numbers; export it again")
    if not len(names) == len(ranges_mv) == len(rates) or any(abs(hz - rate_hz) > 1.0 for hz in rates):
        counts = f"{len(ranges_mv)} ranges and {len(rates)} rates, expected one each, and {rate_hz:g} Hz for all"
        raise text.fault(heads["name"], f"{len(names)} channels have {counts}; export it again")
    first = max(heads[key] for key in ("name", "rate", "range") if key in heads) + 1
    values = table(text, first, len(text.lines), 1 + len(names), "\t")
    rows = Rows(first, "\t", time=0, frame=None, stated_hz=rate_hz, where="PreciseRate")
    values, clock = timed_rows(values, text, rows)
    text.add("format", f"Cortex analog, {bits:g} bits", f"{len(names)} channels at {clock.rate_hz:g} Hz, in mV")
    return text.recorded(
        "text.cortex",
        clock,
        len(values),
        analog_labels=names,
        analog_units=("mV",) * len(names),
        analog=values[:, 1:] * ranges_mv * 2.0 / 2.0**bits,
        analog_rate_hz=clock.rate_hz,
    )

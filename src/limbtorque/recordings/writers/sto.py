"""OpenSim storage files: a heading, names, numbers between tabs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray, stretches
from limbtorque.errors import LimbtorqueError
from limbtorque.study.files import whole_file

TIME = ("time_s", "time")
_RADIANS = {"_rad": "_deg", "_rad_s": "_deg_s", "_rad_s2": "_deg_s2"}


def write_sto(table: pa.Table, path: Path, *, degrees: bool = False, units: str = "") -> None:
    """Write a table over time as an OpenSim storage file.

    Parameters
    ----------
    table : pyarrow.Table
        A table with a column ``time_s`` (or ``time``); it comes first and is called ``time``. Columns of text are left
        out: the format has none.
    path : Path
        The file, ``.sto`` or ``.mot``; its folder is made.
    degrees : bool, optional
        Write the columns that end in ``_rad``, ``_rad_s`` or ``_rad_s2`` in degrees, with names that say so.
    units : str, optional
        Unit of length for the heading, as OpenSim's own marker files have it.

    Raises
    ------
    LimbtorqueError
        No column of time, or names that are the same without their blanks.

    Notes
    -----
    The heading says the rows, the columns, whether angles are in degrees, and the rate where the times are even. The
    numbers have 17 digits, so that reading gives the same doubles; missing ones are ``nan``, which OpenSim's
    ``TimeSeriesTable`` reads and its older ``Storage`` (inverse dynamics, CMC) takes for the end of the file. The same
    table gives the same bytes. Blanks in names become underscores: OpenSim's ``Storage`` takes a blank for the end of a name.
    """
    pieces = (table.slice(some.start, some.stop - some.start) for some in stretches(len(table)))
    time_s = np.asarray(table[_time(table)].to_numpy(), dtype=float)
    write_sto_pieces(pieces, path, time_s=time_s, degrees=degrees, units=units)


def write_sto_pieces(
    pieces: Iterable[pa.Table], path: Path, *, time_s: FloatArray, degrees: bool = False, units: str = ""
) -> None:
    """Write a storage file from the pieces of a table, as `write_sto` does.

    Parameters
    ----------
    pieces : iterable of pyarrow.Table
        One or more, of the same columns, in order.
    path, degrees, units
        As in `write_sto`.
    time_s : ndarray of shape (n_rows,)
        Times of all rows, s.
    """
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for number, piece in enumerate(pieces):
            names, values = _columns(piece, degrees)
            if number == 0:
                head = [path.stem, "version=1", f"nRows={len(time_s)}", f"nColumns={len(names)}"]
                head.append(f"inDegrees={'yes' if degrees else 'no'}")
                rate_hz = _rate(time_s)
                head += [f"DataRate={rate_hz:.9g}"] if rate_hz else []
                head += [f"Units={units}"] if units else []
                file.write("\n".join([*head, "endheader", "\t".join(names)]) + "\n")
            np.savetxt(file, values, fmt="%.17g", delimiter="\t")


def _time(table: pa.Table) -> str:
    """Name of the column of time."""
    time = next((name for name in TIME if name in table.column_names), None)
    if time is None:
        raise LimbtorqueError(f"a storage file needs a column time_s, found {', '.join(table.column_names[:5])}")
    return time


def _columns(table: pa.Table, degrees: bool) -> tuple[list[str], FloatArray]:
    """Names and numbers, time first."""
    time = _time(table)
    numeric = [
        field.name
        for field in table.schema
        if field.name != time and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    ]
    names, columns = ["time"], [np.asarray(table[time].to_numpy(), dtype=float)]
    for name in numeric:
        ending = next((end for end in _RADIANS if name.endswith(end)), "") if degrees else ""
        names.append("_".join((name.removesuffix(ending) + _RADIANS.get(ending, "")).split()))
        column = np.asarray(table[name].to_numpy(), dtype=float)
        columns.append(np.degrees(column) if ending else column)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise LimbtorqueError(f"a storage file cannot have two columns of one name: {', '.join(twice)}")
    return names, np.stack(columns, axis=1)


def _rate(time_s: FloatArray) -> float:
    """Rows per second, whole where the times fit; 0 where they are uneven or too few."""
    if len(time_s) < 2 or not np.isfinite(time_s).all():
        return 0.0
    step_s = float(time_s[-1] - time_s[0]) / (len(time_s) - 1)
    even = time_s[0] + step_s * np.arange(len(time_s))
    if not step_s > 0.0 or np.abs(time_s - even).max() > 1e-6 * step_s:
        return 0.0
    whole_hz = round(1.0 / step_s)
    return float(whole_hz) if math.isclose(whole_hz * step_s, 1.0, rel_tol=1e-9) else 1.0 / step_s

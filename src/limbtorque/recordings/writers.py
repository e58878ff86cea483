"""Write recordings and tables over time: OpenSim storage, CSV, Parquet."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from limbtorque.arrays import FloatArray
from limbtorque.errors import LimbtorqueError
from limbtorque.recordings.recording import Recording
from limbtorque.study.files import whole_file

TIME = ("time_s", "time")
_RADIANS = re.compile(r"_rad(?=(_s2?)?$)")


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
    names, values = _columns(table, degrees)
    head = [path.stem, "version=1", f"nRows={len(values)}", f"nColumns={len(names)}"]
    head.append(f"inDegrees={'yes' if degrees else 'no'}")
    rate_hz = _rate(values[:, 0])
    head += [f"DataRate={rate_hz:.9g}"] if rate_hz else []
    head += [f"Units={units}"] if units else []
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join([*head, "endheader", "\t".join(names)]) + "\n")
        np.savetxt(file, values, fmt="%.17g", delimiter="\t")


def _columns(table: pa.Table, degrees: bool) -> tuple[list[str], FloatArray]:
    """Names and numbers, time first."""
    time = next((name for name in TIME if name in table.column_names), None)
    if time is None:
        raise LimbtorqueError(f"a storage file needs a column time_s, found {', '.join(table.column_names[:5])}")
    numeric = [
        field.name
        for field in table.schema
        if field.name != time and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type))
    ]
    names, columns = ["time"], [np.asarray(table[time].to_numpy(), dtype=float)]
    for name in numeric:
        turned = _RADIANS.sub("_deg", name) if degrees else name
        names.append("_".join(turned.split()))
        column = np.asarray(table[name].to_numpy(), dtype=float)
        columns.append(column if turned == name else np.degrees(column))
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise LimbtorqueError(f"a storage file cannot have two columns of the same name: {', '.join(twice)}")
    return names, np.stack(columns, axis=1)


def _rate(time_s: FloatArray) -> float:
    """Rows per second, an integer if times agree; 0 if uneven or too few."""
    if len(time_s) < 2 or not np.isfinite(time_s).all():
        return 0.0
    step_s = float(time_s[-1] - time_s[0]) / (len(time_s) - 1)
    even = time_s[0] + step_s * np.arange(len(time_s))
    if not step_s > 0.0 or np.abs(time_s - even).max() > 1e-6 * step_s:
        return 0.0
    whole_hz = round(1.0 / step_s)
    return float(whole_hz) if math.isclose(whole_hz * step_s, 1.0, rel_tol=1e-9) else 1.0 / step_s


def recording_table(recording: Recording) -> pa.Table:
    """Markers of a recording as a table.

    Parameters
    ----------
    recording : Recording
        The recording.

    Returns
    -------
    pyarrow.Table
        ``frame`` of the capture, ``time_s``, and ``<label>_x_m``, ``_y_m``, ``_z_m`` for every marker, m, laboratory
        frame; NaN where missing. :func:`limbtorque.recordings.text.plain_csv.read_csv` reads it as CSV.

    Raises
    ------
    LimbtorqueError
        Two markers have one label.
    """
    if len(set(recording.labels)) < len(recording.labels):
        raise LimbtorqueError(f"{recording.source}: a label occurs twice; rename one of the two")
    columns = {
        "frame": pa.array(recording.first_frame + np.arange(recording.n_frames)),
        "time_s": pa.array(recording.time_s),
    }
    for k, label in enumerate(recording.labels):
        columns |= {f"{label}_{axis}_m": pa.array(recording.markers_m[:, k, i]) for i, axis in enumerate("xyz")}
    return pa.table(columns)


def forces_table(recording: Recording) -> pa.Table:
    """Force plates of a recording as a table of wrenches, as OpenSim names them.

    Parameters
    ----------
    recording : Recording
        The recording; its plates have to have one rate.

    Returns
    -------
    pyarrow.Table
        ``time_s``, and for plate k ``ground_force_<k>_vx`` to ``vz`` in N, ``_px`` to ``_pz`` in m and
        ``ground_torque_<k>_x`` to ``_z`` in N m, laboratory frame. The point is the origin of the laboratory and the
        torque the moment about it: the same wrench, also where no centre of pressure exists.

    Raises
    ------
    LimbtorqueError
        There are no plates, or they have different rates or lengths.
    """
    plates = recording.force_plates
    if len({(plate.rate_hz, len(plate.force_n)) for plate in plates}) != 1:
        raise LimbtorqueError(f"{recording.source}: expected force plates of one rate and length, found {len(plates)}")
    columns = {"time_s": np.arange(len(plates[0].force_n)) / plates[0].rate_hz}
    for plate in plates:
        k = plate.number
        for i, axis in enumerate("xyz"):
            columns[f"ground_force_{k}_v{axis}"] = plate.force_n[:, i]
        columns |= {f"ground_force_{k}_p{axis}": np.zeros(len(plate.force_n)) for axis in "xyz"}
        columns |= {f"ground_torque_{k}_{axis}": plate.moment_nm[:, i] for i, axis in enumerate("xyz")}
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def write_recording(recording: Recording, path: Path) -> None:
    """Write the markers of a recording in the format of the file's suffix.

    Parameters
    ----------
    recording : Recording
        The recording.
    path : Path
        ``.csv`` (empty cells where missing), ``.parquet``, or ``.sto`` with columns ``<label>_tx``, ``_ty``, ``_tz``
        and the unit in the heading.

    Raises
    ------
    LimbtorqueError
        Another suffix, or two markers of one label.
    """
    table = recording_table(recording)
    if path.suffix == ".sto":
        names = [
            name[:-4] + f"_t{name[-3]}" if name.endswith(("_x_m", "_y_m", "_z_m")) else name
            for name in table.column_names
        ]
        write_sto(table.rename_columns(names).drop_columns(["frame"]), path, units="m")
    elif path.suffix == ".parquet":
        with whole_file(path) as part:
            pyarrow.parquet.write_table(table, part, compression="snappy", use_dictionary=False)
    elif path.suffix == ".csv":
        blank = [pa.array(column.to_numpy(), from_pandas=True) for column in table.columns]
        options = pyarrow.csv.WriteOptions(quoting_style="needed")
        with whole_file(path) as part:
            pyarrow.csv.write_csv(pa.Table.from_arrays(blank, names=table.column_names), part, write_options=options)
    else:
        raise LimbtorqueError(f"{path.name}: recordings are written as .csv, .parquet or .sto, not {path.suffix!r}")

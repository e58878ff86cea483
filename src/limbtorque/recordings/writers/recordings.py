"""Recordings as tables and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from limbtorque.errors import LimbtorqueError
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.writers.sto import write_sto
from limbtorque.study.files import whole_file


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
        raise LimbtorqueError(f"{recording.source}: a label occurs twice, and columns need different names")
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


def write_forces(recording: Recording, path: Path) -> None:
    """Write the force plates of a recording as an OpenSim storage file.

    Parameters
    ----------
    recording : Recording
        The recording; its plates have to have one rate.
    path : Path
        The file, ``.mot`` or ``.sto``.

    Raises
    ------
    LimbtorqueError
        There are no plates, or they have different rates or lengths.
    """
    write_sto(forces_table(recording), path, units="m")


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

"""Columns of `compared_with_file.csv`."""

from __future__ import annotations

from limbtorque.tables.column import FLEXION, OF_UNIT, TORQUE_STATUS, TRIAL_COLUMNS, Column

_SIGN = FLEXION + "; power: positive is generation"
BESIDE_FILE_COLUMNS = (
    *TRIAL_COLUMNS,
    TORQUE_STATUS,
    Column("joint", "", "joint", kind=str),
    Column("quantity", "", "angle, torque (net) or power", kind=str),
    Column("unit", "", "unit of rms, mean_difference, peak and file_peak: torques and powers per body mass", kind=str),
    Column("n_frames", "1", "frames of the trial's window with both results, without edge effects", kind=int),
    Column("start_s", "s", "time of the first of these frames"),
    Column("end_s", "s", "time of the last of these frames"),
    Column("r", "1", "correlation of our result with the file's"),
    Column("rms", OF_UNIT, "root mean square of the difference, an offset included"),
    Column("mean_difference", OF_UNIT, "mean of our result minus the file's", _SIGN),
    Column("peak", OF_UNIT, "extreme of our result in the direction of file_peak", _SIGN),
    Column("file_peak", OF_UNIT, "value of largest magnitude of the file's result", _SIGN),
    Column("peak_ratio", "1", "peak over file_peak"),
    Column("file_label", "", "label of the angle, moment or power in the file", kind=str),
    Column("file_unit", "", "its unit as the file states it", kind=str),
    Column("file_per_kg", "1", "1 where the file's numbers are per kilogram of body mass", kind=int),
    Column(
        "file_sign",
        "1",
        "factor that makes the file's number flexion positive, from the file's own power and from our angle; 1 for powers",
        kind=int,
    ),
    Column("file_convention", "", "convention of the file's numbers", kind=str),
)

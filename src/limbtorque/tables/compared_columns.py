"""Columns of results beside those that a recording holds."""

from __future__ import annotations

from limbtorque.tables.column import FLEXION, TORQUE_STATUS, TRIAL_COLUMNS, columns
from limbtorque.tables.study_columns import JOINT

_BESIDE_SIGN = FLEXION + "; power: positive is generation"
BESIDE_FILE_COLUMNS = (
    *TRIAL_COLUMNS,
    TORQUE_STATUS,
    JOINT,
    *columns(
        {
            "quantity:text": "angle, torque (net) or power",
            "unit:text": "unit of rms, mean_difference, peak and file_peak: torques and powers per body mass",
            "n_frames:count": "frames of the trial's window with both results, without edge effects",
            "start_s": "time of the first of these frames",
            "end_s": "time of the last of these frames",
            "r": "correlation of our result with that in the file",
            "rms:value": "root mean square of the difference, including any offset",
            "mean_difference:value": ("mean of our result minus that in the file", _BESIDE_SIGN),
            "peak:value": ("extreme value of our result in the direction of file_peak", _BESIDE_SIGN),
            "file_peak:value": ("value of largest magnitude in the file's result", _BESIDE_SIGN),
            "peak_ratio": "peak over file_peak",
            "file_label:text": "label of the angle, moment or power in the file",
            "file_unit:text": "unit stated in the file",
            "file_per_kg:count": "1 where the file's numbers are per kilogram of body mass",
            "file_sign:count": "factor that makes the file's values flexion positive, from the power in the file and our angle; 1 for "
            "powers",
            "file_convention:text": "convention of the file's numbers",
        }
    ),
)

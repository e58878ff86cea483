"""Write markers as a C3D file, for simulated movements."""

from __future__ import annotations

from pathlib import Path

import ezc3d
import numpy as np

from limbtorque.recordings.c3d.header import SATURATED
from limbtorque.recordings.recording import Recording
from limbtorque.whole_file import whole_file

PER_METRE = {"m": 1.0, "cm": 100.0, "mm": 1000.0}


def write_c3d(recording: Recording, path: Path, *, unit: str = "mm") -> None:
    """Write markers as a C3D file; missing samples get the residual -1.

    Parameters
    ----------
    recording : Recording
        Markers, labels and rate; analog channels, events and plates are left out.
    path : Path
        The file.
    unit : {"mm", "cm", "m"}, optional
        Unit of the positions in the file; they are stored as 32-bit floats.
    """
    points = np.ones((4, len(recording.labels), recording.n_frames))
    points[:3] = PER_METRE[unit] * recording.markers_m.transpose(2, 1, 0)
    missing = np.isnan(points).any(axis=0)
    points[:3, missing] = np.nan
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [recording.rate_hz]
    file["parameters"]["POINT"]["LABELS"]["value"] = list(recording.labels)
    file["parameters"]["POINT"]["UNITS"]["value"] = [unit]
    if recording.n_frames > SATURATED:  # which the header cannot count
        file.add_parameter("POINT", "LONG_FRAMES", [float(recording.n_frames)])
    file["data"]["points"] = points
    file["data"]["meta_points"] = {
        "residuals": np.where(missing, -1.0, 0.0)[None],
        "camera_masks": np.zeros((7, *missing.shape), dtype=bool),
    }
    with whole_file(path) as part:
        file.write(str(part))

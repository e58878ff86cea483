"""Sources of error: names and groups for all figures and pages."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.study.options.uncertainty import SOURCES, Source
from limbtorque.tables.files import column_array

GROUPS: dict[str, tuple[Source, ...]] = {
    "joint centres": ("joint_centres",),
    "soft tissue": ("soft_tissue",),
    "segment parameters": ("segment_mass", "segment_com", "segment_inertia", "body_mass"),
    "filter": ("filter",),
    "marker noise and gaps": ("marker_noise", "gaps"),
    "plane": ("plane",),
    "centre of pressure": ("pressure",),
    "force plates": ("plate_gain", "plate_offset", "synchronisation"),
}


def net_bands(joint: str) -> list[str]:
    """Columns of the torque table with limits and sources of error of a net torque."""
    start = f"{joint}_torque"
    return [f"{start}_low_nm", f"{start}_high_nm", *(f"{start}_share_{source}" for source in SOURCES)]


def error_parts(table: pa.Table, joint: str) -> dict[str, FloatArray]:
    """Half the width of the 95 % limits of a net torque, by source of error.

    Parameters
    ----------
    table : pyarrow.Table
        Torque component table.
    joint : str
        The joint.

    Returns
    -------
    dict of str to ndarray of shape (n_frames,)
        Group of sources -> half width times their share of the variance, N m; NaN where the torque is. Empty for a
        table without bands.
    """
    if not set(net_bands(joint)) <= set(table.column_names):
        return {}
    low, high = column_array(table, f"{joint}_torque_low_nm", f"{joint}_torque_high_nm").T
    return {
        name: np.asarray(
            (high - low)
            / 2.0
            * column_array(table, *(f"{joint}_torque_share_{source}" for source in sources)).sum(axis=1)
        )
        for name, sources in GROUPS.items()
    }

"""Kinds of torque terms and sources of error: names and sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.figures.palette import TERM_COLOURS
from limbtorque.study.options.uncertainty import SOURCES, Source
from limbtorque.tables.files import column_array
from limbtorque.tables.frame_columns import term_columns

TERM_NAMES = {
    "inertial": "inertial",
    "centripetal": "centripetal",
    "coriolis": "Coriolis",
    "gravity": "gravity",
    "base": "base motion",
    "external": "external",
}


TERM_MEANINGS = {
    "inertial": "needed for the joint accelerations",
    "centripetal": "needed for the squared joint velocities",
    "coriolis": "needed for the products of two joint velocities",
    "gravity": "needed to hold the weight of the segments",
    "base": "needed for the acceleration of the proximal joint centre",
    "external": "needed to balance the load on the last segment",
}


def kinds_of_terms(joint: str, joints: Sequence[str]) -> dict[str, list[str]]:
    """Columns of a joint's terms by their kind.

    Parameters
    ----------
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain, proximal first.

    Examples
    --------
    >>> kinds_of_terms("elbow", ["elbow"])["gravity"]
    ['elbow_torque_gravity_nm']
    """
    kinds: dict[str, list[str]] = {kind: [] for kind in TERM_COLOURS}
    for column in term_columns(joint, joints):
        kinds[column.name.removeprefix(f"{joint}_torque_").split("_")[0]].append(column.name)
    return {kind: names for kind, names in kinds.items() if names}


def grouped_terms(table: pa.Table, joint: str, joints: Sequence[str]) -> dict[str, FloatArray]:
    """Terms of a joint's torque, summed by kind.

    Parameters
    ----------
    table : pyarrow.Table
        Torque component table.
    joint : str
        The joint.
    joints : sequence of str
        All joints of the chain.

    Returns
    -------
    dict of str to ndarray of shape (n_frames,)
        Kind -> torque, N m.
    """
    return {kind: column_array(table, *names).sum(axis=1) for kind, names in kinds_of_terms(joint, joints).items()}


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

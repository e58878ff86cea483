"""Kinds of torque terms: names and sums for all figures and pages."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.figures.palette import TERM_COLOURS
from limbtorque.tables.files import column_array
from limbtorque.tables.torque_columns import term_columns

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
    "base": "needed for the acceleration of the first joint's centre",
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
    """Terms of a joint's torque, those of one kind added up.

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

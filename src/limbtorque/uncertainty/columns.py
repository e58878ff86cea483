"""Values of the columns of uncertainty in the torque table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.regressor import term_rows
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.tables.torque_columns import term_columns
from limbtorque.torques.joint_torques import Torques
from limbtorque.uncertainty.bands import LIMITS, TorqueBands


def band_values(joints: Sequence[str], torques: Torques, bands: TorqueBands) -> dict[str, FloatArray]:
    """Values of `tables.torque_columns.band_columns` of all joints.

    Parameters
    ----------
    joints : sequence of str
        Names, proximal first.
    torques : Torques
        Torques of the trial.
    bands : TorqueBands
        Their bands.

    Returns
    -------
    dict of str to ndarray of shape (n_frames,)
        NaN where a torque is not known.
    """
    rows, values = term_rows(torques.terms), {}
    for i, joint in enumerate(joints):
        names = [f"{joint}_torque", *(column.name.removesuffix("_nm") for column in term_columns(joint, joints))]
        for name, centre, sd in zip(names, rows[i] - bands.bias_nm[i], bands.sd_nm[i], strict=True):
            values[f"{name}_sd_nm"] = sd
            values[f"{name}_low_nm"], values[f"{name}_high_nm"] = centre - LIMITS * sd, centre + LIMITS * sd
        whole = bands.variance_nm2[i, 0]
        for source in SOURCES:
            part = bands.by_source.get(source, np.zeros_like(bands.variance_nm2))[i, 0]
            share = np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0.0)
            values[f"{joint}_torque_share_{source}"] = np.where(np.isnan(whole), np.nan, share)
    return values

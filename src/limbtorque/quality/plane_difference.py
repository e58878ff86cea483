"""Cost of the plane: planar torques against moments about the joints' own axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.quality.check import PLANE_COST
from limbtorque.torques.in_space import SpaceMoments
from limbtorque.torques.joint_torques import Torques


def plane_difference(
    moments: SpaceMoments, torques: Torques, used: BoolArray, joints: Sequence[str], *, body_mass_kg: float
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Difference of the planar torques from the moments about the flexion axes.

    Parameters
    ----------
    moments, torques
        Moments in space and planar torques.
    used : ndarray of bool, shape (n_frames,)
        Judged frames without edge effects whose planar torque is known.
    joints : sequence of str
        Names of the joints.
    body_mass_kg : float
        Body mass.

    Returns
    -------
    share : dict of str to float
        By joint with a known axis: root mean square difference over the range of the net torque.
    notes : tuple of str
        The differences in N m/kg, and the origin of the axes.
    """
    shares, costs = {}, []
    for i, joint in enumerate(joints):
        net_nm, own_nm = torques.terms.net[used, i], moments.torque_about_flexion_axis[used, i]
        known = np.isfinite(own_nm)
        if known.any() and np.ptp(net_nm) > 0.0:
            off_nm = float(np.sqrt(((net_nm - own_nm)[known] ** 2).mean()))
            shares[joint] = off_nm / float(np.ptp(net_nm))
            costs.append(f"{joint} {off_nm / body_mass_kg:.2g}")
    cost = f"{PLANE_COST} {', '.join(costs)} N m/kg (rms) from the moments about the joints' own flexion axes"
    return shares, (*moments.notes, *[cost] * bool(costs))

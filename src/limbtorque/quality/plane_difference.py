"""Cost of the plane: planar torques against moments about the joints' own axes."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.in_space import SpaceMotion
from limbtorque.quality.check import PLANE_COST
from limbtorque.torques.in_space import SpaceMoments
from limbtorque.torques.joint_torques import Torques


def plane_difference(
    space: SpaceMotion,
    moments: SpaceMoments,
    torques: Torques,
    motion: ChainMotion,
    used: BoolArray,
    *,
    body_mass_kg: float,
) -> tuple[dict[str, dict[str, float]], tuple[str, ...]]:
    """Difference of the planar torques from the moments about the flexion axes.

    Parameters
    ----------
    space, moments
        Motion and moments in space.
    torques, motion
        Planar torques and motion.
    used : ndarray of bool, shape (n_frames,)
        Judged frames without edge effects whose planar torque is known.
    body_mass_kg : float
        Body mass.

    Returns
    -------
    metrics : dict of str to dict of str to float
        By joint with a known axis, root mean squares: `plane_difference`, over the range of the net torque, and
        `flexion_axis_deg`, the angle between axis and normal.
    notes : tuple of str
        The differences in N m/kg with the angles, and the origin of the axes.
    """
    shares, angles_deg, costs = {}, {}, []
    from_normal_deg = np.degrees(np.arccos(np.minimum(np.abs(space.flexion_axis[used] @ motion.plane.normal), 1.0)))
    for i, joint in enumerate(motion.joints):
        net_nm, own_nm = torques.terms.net[used, i], moments.torque_about_flexion_axis[used, i]
        known = np.isfinite(own_nm)
        if known.any() and np.ptp(net_nm) > 0.0:
            off_nm = float(np.sqrt(((net_nm - own_nm)[known] ** 2).mean()))
            shares[joint] = off_nm / float(np.ptp(net_nm))
            angles_deg[joint] = float(np.sqrt((from_normal_deg[known, i] ** 2).mean()))
            costs.append(f"{joint} {off_nm / body_mass_kg:.2g}")
    cost = (
        f"{PLANE_COST} {', '.join(costs)} N m/kg (rms) from the moments about the joints' own flexion axes, which are "
        f"{', '.join(f'{angle:.0f}' for angle in angles_deg.values())} deg off the plane's normal"
    )
    metrics = {"plane_difference": shares, "flexion_axis_deg": angles_deg}
    return metrics, (*moments.notes, *[cost] * bool(costs))

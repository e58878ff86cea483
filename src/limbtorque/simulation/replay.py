"""Replay: forward integration of the torques from inverse dynamics.

A third check, by other equations over time, of the consistency of angles, velocities, accelerations and torques.
Segment parameters, gravity and the load, which inverse and forward dynamics share, are not tested. Without control
a limb raised against gravity is unstable, so small errors grow, depending on the limb and on the
torques.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray, runs
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.simulation.forward import State, simulate
from limbtorque.torques.joint_torques import Torques, known_frames

SHORTEST = 3  # frames
TOLERANCE_DEG = 1.0  # of any joint angle, at which the motion counts as reproduced
STOP_DEG = 30.0  # the replay ends


@dataclass(frozen=True)
class Replay:
    """A motion integrated from its torques.

    Attributes
    ----------
    frame : ndarray of int, shape (n_frames,)
        Frame numbers of the original capture.
    time_s : ndarray of shape (n_frames,)
        Time from the recording's first frame, s.
    angle_rad : ndarray of shape (n_frames, n_joints)
        Joint angles, integrated.
    error_deg : ndarray of shape (n_frames, n_joints)
        Integrated minus measured joint angle, degrees.
    lost : bool
        True if it ended because of a joint too far from its measured angle.
    success : bool
        True if the integration succeeded. Otherwise, and where the motion was lost, the arrays end early.
    message : str
        Message of the integrator.
    """

    frame: NDArray[np.int64]
    time_s: FloatArray
    angle_rad: FloatArray
    error_deg: FloatArray
    lost: bool
    success: bool
    message: str

    def metrics(self) -> dict[str, float]:
        """Metrics of the ledger: durations replayed and within tolerance, final error."""
        off = np.flatnonzero((np.abs(self.error_deg) > TOLERANCE_DEG).any(axis=1))
        last_s = self.time_s[off[0] - 1] if off.size else self.time_s[-1]
        return {
            "replay_lost": float(self.lost),
            "replay_s": float(self.time_s[-1] - self.time_s[0]),
            "replay_within_s": float(last_s - self.time_s[0]),
            "replay_drift_deg": float(np.abs(self.error_deg[-1]).max()),
        }


def replay(motion: ChainMotion, torques: Torques, *, stop_deg: float = STOP_DEG) -> Replay | None:
    """Integrate the torques of a motion forward from its first frame.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    stop_deg : float, optional
        Largest error of a joint angle, degrees; the replay ends beyond it.

    Returns
    -------
    Replay or None
        The motion over the longest stretch of frames of known torque; None where it is shorter than three frames.

    Notes
    -----
    Torques, base acceleration and the generalised forces of the external load are samples with a cubic spline between
    them; the start is the state of the first frame of the stretch.
    """
    from scipy.interpolate import CubicSpline  # a slow import that most stages do not need

    stretches = runs(known_frames(torques))
    start, stop = max(stretches, key=lambda run: run[1] - run[0], default=(0, 0))
    if stop - start < SHORTEST:
        return None
    known = slice(start, stop)
    measured = CubicSpline(motion.time_s[known], motion.kinematics.angle_rad[known])
    found = simulate(
        motion.chain,
        motion.time_s[known],
        State(motion.kinematics.angle_rad[start], motion.kinematics.velocity_rad_s[start]),
        torques.terms.net[known],
        gravity_m_s2=motion.gravity_m_s2,
        base_acceleration_m_s2=motion.kinematics.base_acceleration_m_s2[known],
        load_nm=-torques.terms.external[known],
        until=lambda time_s, angle: np.radians(stop_deg) - np.abs(angle - measured(time_s)).max(),
    )
    reached = slice(start, start + len(found.time_s))
    return Replay(
        frame=motion.frame[reached],
        time_s=motion.time_s[reached],
        angle_rad=found.angle_rad,
        error_deg=np.degrees(found.angle_rad - motion.kinematics.angle_rad[reached]),
        lost=found.success and len(found.time_s) < stop - start,
        success=found.success,
        message=found.message,
    )

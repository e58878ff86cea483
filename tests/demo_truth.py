"""Exact torques of the simulated movements of the demo."""

from pathlib import Path

import numpy as np

from limbtorque.chain.kinematics import joint_positions
from limbtorque.simulation.demo import DEMO_WALKWAY, FIRST_STRIKE_S
from limbtorque.simulation.gait import walk
from limbtorque.simulation.reach import reach_motion
from limbtorque.study.study import load_study

ROOT = Path(__file__).resolve().parents[1]
STUDY = load_study(ROOT)
G = STUDY.settings.gravity_m_s2


def cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def moments(chain, kinematics, gravity, *, force_n, point_m):
    """Moment about each joint of the inertial forces beyond it less the force at a point, shape (n_frames, n_joints)."""
    theta, omega, spin = (
        np.cumsum(a, axis=1) for a in (kinematics.angle_rad, kinematics.velocity_rad_s, kinematics.acceleration_rad_s2)
    )
    along = np.stack([np.cos(theta), np.sin(theta)], axis=2)
    across = np.stack([-np.sin(theta), np.cos(theta)], axis=2)
    bent = spin[..., None] * across - omega[..., None] ** 2 * along
    joints, accelerations = [kinematics.base_m], [kinematics.base_acceleration_m_s2]
    for k in range(chain.n_links):
        joints.append(joints[-1] + chain.length_m[k] * along[:, k])
        accelerations.append(accelerations[-1] + chain.length_m[k] * bent[:, k])
    torque = np.zeros((len(theta), chain.n_links))
    for i in range(chain.n_links):
        for k in range(i, chain.n_links):
            centre = joints[k] + chain.com_m[k] * along[:, k]
            force = chain.mass_kg[k] * (accelerations[k] + chain.com_m[k] * bent[:, k] - gravity)
            torque[:, i] += cross(centre - joints[i], force) + chain.inertia_kgm2[k] * spin[:, k]
        torque[:, i] -= cross(point_m - joints[i], force_n)
    return torque


def exact_torques(demo, settings):
    """Net torques of a reach, shape (n_frames, 3)."""
    motion = reach_motion(demo.reach, rate_hz=demo.rate_hz)
    end = joint_positions(demo.arm.chain, motion.angle_rad, base_m=motion.base_m)[:, -1]
    pull = np.zeros_like(end)
    if demo.load:
        spring = settings.loads["spring"]
        anchor = np.array([spring.anchor_m[0], spring.anchor_m[1 if demo.horizontal else 2]])
        pull = spring.stiffness_n_m * (anchor - end)
    gravity = np.array([0.0, 0.0 if demo.horizontal else -G])
    return moments(demo.arm.chain, motion, gravity, force_n=pull, point_m=end)


def exact_walking_torques(demo, side, n_frames):
    """Net torques of one leg of a walk, shape (n_frames, 3)."""
    time_s = np.arange(n_frames) / DEMO_WALKWAY.rate_hz
    leg = walk(demo.walker, time_s, first_strike_s=FIRST_STRIKE_S)[side]
    ground = {"force_n": leg.force_n, "point_m": leg.pressure_m}
    return moments(demo.walker.chain, leg.kinematics, np.array([0.0, -G]), **ground)

"""Exact torques of the simulated movements of the demo."""

from pathlib import Path

import numpy as np

from limbtorque.simulation.reach import reach_motion
from limbtorque.study.study import load_study

ROOT = Path(__file__).resolve().parents[1]
STUDY = load_study(ROOT)
G = STUDY.settings.gravity_m_s2


def cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def exact_torques(demo, settings):
    """Net torques, shape (n_frames, 3)."""
    chain, motion = demo.arm.chain, reach_motion(demo.reach, rate_hz=demo.rate_hz)
    theta, omega, spin = (
        np.cumsum(a, axis=1) for a in (motion.angle_rad, motion.velocity_rad_s, motion.acceleration_rad_s2)
    )
    along = np.stack([np.cos(theta), np.sin(theta)], axis=2)
    across = np.stack([-np.sin(theta), np.cos(theta)], axis=2)
    jerkless = spin[..., None] * across - omega[..., None] ** 2 * along
    joints, accelerations = [motion.base_m], [motion.base_acceleration_m_s2]
    for k in range(3):
        joints.append(joints[-1] + chain.length_m[k] * along[:, k])
        accelerations.append(accelerations[-1] + chain.length_m[k] * jerkless[:, k])
    gravity = np.array([0.0, 0.0 if demo.horizontal else -G])
    torque = np.zeros((len(theta), 3))
    for i in range(3):
        for k in range(i, 3):
            centre = joints[k] + chain.com_m[k] * along[:, k]
            force = chain.mass_kg[k] * (accelerations[k] + chain.com_m[k] * jerkless[:, k] - gravity)
            torque[:, i] += cross(centre - joints[i], force) + chain.inertia_kgm2[k] * spin[:, k]
        if demo.load:
            spring = settings.loads["spring"]
            second = 1 if demo.horizontal else 2
            anchor = np.array([spring.anchor_m[0], spring.anchor_m[second]])
            torque[:, i] -= cross(joints[3] - joints[i], spring.stiffness_n_m * (anchor - joints[3]))
    return torque

"""Impacts with known torques, seen by markers and plates with noise.

The set that decides how force plates are filtered. It is fixed: movements, noises and seeds were committed before the first
comparison. Walks whose heel meets the ground at 0 to 0.6 m/s and stops within 20 to 40 ms, and landings on a flat foot at 1
and 2 m/s that stop within 40 ms while the hip sinks for 0.3 s more. Markers at 100 and 250 frames per second, plates at 1000.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from parts.angle_cases import Movement, exact_torques, walking
from scipy.interpolate import BPoly

from limbtorque.arrays import FloatArray
from limbtorque.chain.inverse import two_link_angles
from limbtorque.simulation.gait import Walker

G = 9.80665
PLATE_HZ = 1000.0
NOISES_M = (0.0, 3e-4, 1e-3)
NOISE_N = 1.0  # of each component of the force at each sample
SEEDS = (1, 2, 3)
SINK_S, STOP_S, LANDING_S = 0.35, 0.04, 0.6


@dataclass(frozen=True)
class Impact:
    """Markers and plate of a movement with an impact, and the exact torques of its frames.

    Attributes
    ----------
    movement : Movement
        The movement, at the rate of the markers.
    noise_m : float
        Standard deviation of the markers' noise.
    seed : int
        Seed of the noise.
    strikes_s : ndarray of shape (n_strikes,)
        Times of the impacts, s.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joints with noise, m.
    force_n, moment_nm : ndarray of shape (n_samples, 2) and (n_samples,)
        Force of the plate and its moment about the origin at `PLATE_HZ`, with noise.
    torque_nm : ndarray of shape (n_frames, n_joints)
        Exact net torques.
    """

    movement: Movement
    noise_m: float
    seed: int
    strikes_s: FloatArray
    joint_m: FloatArray
    force_n: FloatArray
    moment_nm: FloatArray
    torque_nm: FloatArray


def impacts() -> Iterator[Impact]:
    """All movements with all noises and seeds; one seed without noise."""
    for movement, strikes_s in movements():
        torque = exact_torques(movement, 0.0)
        for noise_m in NOISES_M:
            for seed in SEEDS if noise_m else SEEDS[:1]:
                yield seen(movement, strikes_s, torque, noise_m, seed)


def movements() -> list[tuple[Movement, FloatArray]]:
    """Walks and landings, and the times of their impacts."""
    found = []
    walkers = {
        "walk, soft": Walker(),
        "walk, 0.2 m/s in 40 ms": Walker(60.0, 1.65, 1.05, 1.2, strike_m_s=0.2),
        "walk, 0.4 m/s in 40 ms": Walker(80.0, 1.85, 1.05, 1.5, strike_m_s=0.4),
        "walk, 0.6 m/s in 20 ms": Walker(70.0, 1.75, 1.0, 1.6, strike_m_s=0.6, strike_s=0.02),
    }
    for rate_hz in (100.0, 250.0):
        for name, walker in walkers.items():
            strikes_s = 0.3 + walker.stride_s * np.arange(3)
            found.append((walking(f"{name}, {rate_hz:g} Hz", walker, rate_hz), strikes_s))
        for speed_m_s in (1.0, 2.0):
            name = f"landing at {speed_m_s:g} m/s, {rate_hz:g} Hz"
            found.append((_landing(name, Walker(), speed_m_s, rate_hz), np.array([LANDING_S])))
    return found


def _landing(name: str, walker: Walker, speed_m_s: float, rate_hz: float) -> Movement:
    """One of two legs that land after a flight: the foot stays flat, the rest of the body moves with the hip."""
    leg, toe = walker.leg_m, walker.foot_m[2]
    start_s, end_s = LANDING_S - 0.3, LANDING_S + SINK_S
    fall = [0.0, -speed_m_s, -G]
    ankle_m, hip_m = -walker.foot_m[0, 1], 0.94 * leg.sum() - walker.foot_m[0, 1]
    up = [0.3 * speed_m_s - 0.5 * G * 0.09, -speed_m_s + 0.3 * G, -G]  # in free fall 0.3 s before
    foot = BPoly.from_derivatives(
        [start_s, LANDING_S, LANDING_S + STOP_S],
        [[ankle_m + 0.015 * speed_m_s + up[0], *up[1:]], [ankle_m + 0.015 * speed_m_s, *fall[1:]], [ankle_m, 0.0, 0.0]],
    )
    hip = BPoly.from_derivatives(
        [start_s, LANDING_S, end_s],
        [[hip_m + up[0], *up[1:]], [hip_m, *fall[1:]], [hip_m - 0.35 * SINK_S * speed_m_s, 0.0, 0.0]],
    )

    def heights(time_s: FloatArray, order: int = 0) -> tuple[FloatArray, FloatArray]:
        early, late = (time_s < start_s), (time_s > end_s)
        down, low = (
            foot(np.clip(time_s, start_s, LANDING_S + STOP_S), order),
            hip(np.clip(time_s, start_s, end_s), order),
        )
        if order == 2:
            down = np.where(time_s > LANDING_S + STOP_S, 0.0, down)
            low = np.where(late, 0.0, low)
        if early.any():  # free fall before
            before = time_s - start_s
            for values, path in ((down, foot), (low, hip)):
                free = (path(start_s) + path(start_s, 1) * before - 0.5 * G * before**2, 0.0, -G)
                values[early] = np.broadcast_to(free[order], time_s.shape)[early]
        return down, low

    def joint_m(time_s: FloatArray) -> FloatArray:
        down, low = heights(time_s)
        hips, ankles = np.stack([np.full_like(low, -0.03), low], axis=1), np.stack([np.zeros_like(down), down], axis=1)
        angle = two_link_angles(leg, ankles - hips, bend="negative").angle_rad
        knees = hips + leg[0] * np.stack([np.cos(angle[:, 0]), np.sin(angle[:, 0])], axis=1)
        return np.stack([hips, knees, ankles, ankles + toe], axis=1)

    def load(time_s: FloatArray, _: FloatArray) -> tuple[FloatArray, FloatArray]:
        step = 1e-4
        paths = np.stack([joint_m(time_s + k * step) for k in (-1, 0, 1)])
        bent = (paths[0] - 2.0 * paths[1] + paths[2]) / step**2
        chain = walker.chain
        share = (chain.com_m / chain.length_m)[:, None]
        centres = bent[:, :-1] + share * np.diff(bent, axis=1)
        own = (chain.mass_kg[:, None] * (centres - [0.0, -G])).sum(axis=1)
        rest = (0.5 * walker.mass_kg - chain.mass_kg.sum()) * (bent[:, 0] - [0.0, -G])
        force = np.where((time_s >= LANDING_S)[:, None], own + rest, 0.0)
        point = np.stack([np.full_like(time_s, 0.4 * toe[0]), np.zeros_like(time_s)], axis=1)
        return force, point

    return Movement(name, "leg", walker.chain, walker.mass_kg, 1.6, rate_hz, 1.0, joint_m, load, walker=walker)


def seen(movement: Movement, strikes_s: FloatArray, torque_nm: FloatArray, noise_m: float, seed: int) -> Impact:
    """Movement as markers and a plate with noise show it."""
    rng = np.random.default_rng([seed, *movement.name.encode()])
    joints = movement.joint_m(movement.time_s)
    fine_s = np.arange(round(len(joints) * PLATE_HZ / movement.rate_hz)) / PLATE_HZ
    force, point = movement.load(fine_s, movement.joint_m(fine_s))
    force = force + NOISE_N * rng.standard_normal(force.shape) * (force[:, 1:] > 0.0)
    moment = point[:, 0] * force[:, 1] - point[:, 1] * force[:, 0]
    joints = joints + noise_m * rng.standard_normal(joints.shape)
    return Impact(movement, noise_m, seed, strikes_s, joints, force, moment, torque_nm)

"""One step of simulated runs with known torques: the leg lands with its foot flat, stops within 20 to 40 ms, and pushes off.

Paths of hip and ankle are polynomials between instants; the ground carries the leg and the rest of the body, which moves with the
hip. Markers at 100 and 250 frames per second, plates at 1000, noise and seeds as of `impact_cases`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from parts.angle_cases import Movement, exact_torques
from parts.impact_cases import NOISES_M, SEEDS, Impact, seen
from scipy.interpolate import BPoly

from limbtorque.arrays import FloatArray
from limbtorque.chain.inverse import two_link_angles
from limbtorque.simulation.gait import Walker

G = 9.80665
LANDING_S, BEFORE_S, AFTER_S = 0.3, 0.3, 0.3
BOUNCE_M_S, SINK_M, BEHIND = (
    0.9,
    0.06,
    0.42,
)  # of the hip: speed down at landing, way down, share of the step behind the foot
STEP_S = 1e-4
RUNNERS = (  # speed and vertical speed of the foot that lands, m/s; time in which it stops, and contact, s
    (Walker(), 3.0, 1.0, 0.03, 0.25),
    (Walker(80.0, 1.85), 3.5, 1.5, 0.03, 0.24),
    (Walker(60.0, 1.65), 3.3, 1.2, 0.02, 0.22),
    (Walker(70.0, 1.75), 3.0, 0.7, 0.04, 0.26),
)


def runs() -> Iterator[Impact]:
    """All runs with all noises and seeds; one seed without noise."""
    for rate_hz in (100.0, 250.0):
        for number, runner in enumerate(RUNNERS):
            movement = run(f"run {number}, {rate_hz:g} Hz", rate_hz, *runner)
            torque = exact_torques(movement, 0.0)
            for noise_m in NOISES_M:
                for seed in SEEDS if noise_m else SEEDS[:1]:
                    yield seen(movement, np.array([LANDING_S]), torque, noise_m, seed)


def run(
    name: str, rate_hz: float, walker: Walker, speed_m_s: float, drop_m_s: float, stop_s: float, contact_s: float
) -> Movement:
    """One step of a run."""
    leg, toe, sole = walker.leg_m, walker.foot_m[2], -walker.foot_m[0, 1]
    start, down, off, end = LANDING_S - BEFORE_S, LANDING_S, LANDING_S + contact_s, LANDING_S + contact_s + AFTER_S
    step = contact_s * speed_m_s
    behind, ahead = -BEHIND * step, (1.0 - BEHIND) * step
    height = np.sqrt((0.94 * leg.sum()) ** 2 - ahead**2) + sole
    flight = height + BOUNCE_M_S * BEFORE_S - 0.5 * G * BEFORE_S**2
    late = -BOUNCE_M_S + G * BEFORE_S
    middle = down + contact_s / 2.0
    hip = (
        BPoly.from_derivatives(
            [start, down, middle, off, end],
            [
                [behind - BEFORE_S * speed_m_s, speed_m_s, 0],
                [behind, speed_m_s, 0],
                [behind + 0.5 * step - 0.004, 0.98 * speed_m_s, 0],
                [ahead, speed_m_s, 0],
                [ahead + AFTER_S * speed_m_s, speed_m_s, 0],
            ],
        ),
        BPoly.from_derivatives(
            [start, down, middle, off, end],
            [
                [flight, late, -G],
                [height, -BOUNCE_M_S, -G],
                [height - SINK_M, 0, 1.9 * G],
                [height, BOUNCE_M_S, -G],
                [flight, -late, -G],
            ],
        ),
    )
    lift = down + 0.7 * contact_s
    stopped = 0.4 * stop_s
    ankle = (
        BPoly.from_derivatives(
            [start, down, down + stop_s, lift, off, end],
            [
                [behind - BEFORE_S * speed_m_s - 0.05, speed_m_s + 1.0, 0],
                [-stopped, 1.0, -10.0],
                [0, 0, 0],
                [0, 0, 0],
                [0.05, 1.5, 20.0],
                [ahead + AFTER_S * speed_m_s - 0.35, speed_m_s + 1.0, 0],
            ],
        ),
        BPoly.from_derivatives(
            [start, down - 0.08, down, down + stop_s, lift, off, end],
            [
                [sole + 0.25, 0, 0],
                [sole + 0.10, -drop_m_s, -5.0],
                [sole + stopped * drop_m_s, -drop_m_s, 0],
                [sole, 0, 0],
                [sole, 0, 0],
                [sole + 0.06, 1.6, 10.0],
                [sole + 0.35, 0, 0],
            ],
        ),
    )

    def joint_m(time_s: FloatArray) -> FloatArray:
        hips, ankles = (np.stack([path(time_s) for path in paths], axis=1) for paths in (hip, ankle))
        angle = two_link_angles(leg, ankles - hips, bend="negative").angle_rad
        knees = hips + leg[0] * np.stack([np.cos(angle[:, 0]), np.sin(angle[:, 0])], axis=1)
        return np.stack([hips, knees, ankles, ankles + toe], axis=1)

    def load(time_s: FloatArray, _: FloatArray) -> tuple[FloatArray, FloatArray]:
        before, here, after = (joint_m(time_s + k * STEP_S) for k in (-1, 0, 1))
        bent = (before - 2.0 * here + after) / STEP_S**2 - [0.0, -G]
        chain = walker.chain
        centres = bent[:, :-1] + (chain.com_m / chain.length_m)[:, None] * np.diff(bent, axis=1)
        force = (chain.mass_kg[:, None] * centres).sum(axis=1) + (walker.mass_kg - chain.mass_kg.sum()) * bent[:, 0]
        rolled = toe[0] * (0.1 + 0.8 * np.clip((time_s - down) / contact_s, 0.0, 1.0))
        on = (time_s >= down) & (time_s < off)
        return np.where(on[:, None], force, 0.0), np.stack([rolled, np.zeros_like(time_s)], axis=1)

    times = (round(end, 2), rate_hz, 1.0)
    return Movement(name, "leg", walker.chain, walker.mass_kg, *times, joint_m, load, walker=walker)

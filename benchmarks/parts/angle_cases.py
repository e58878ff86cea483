"""Gait and reaches with known torques, seen through markers with known errors.

The set that decides the default of `motion.angles`. It is fixed: sizes, movements and seeds were committed before the
first comparison. Sizes of the errors:

- noise: standard deviation of 0.3 and 1 mm on every coordinate; cameras err by 0.15 mm at rest (Merriaux et al. 2017).
- skin: markers move with the angle of their joint; standard deviations of the linear part of 8 mm at hip and knee, half
  of the 4 to 16 mm that thigh markers move by in the literature (PMC8631460), less further down.
- centres: constant offsets of 12 mm at the hip (12.3 mm by Harrington's regression, Mantovani et al. 2016), 7 mm at the
  knee, 5 mm at the ankle.
- plane: segments leave the plane by assumed angles: thighs by 3 +- 5 degrees, feet by 7 +- 3, arms by up to 15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.chain.body_segments import segment_chain
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import Chain
from limbtorque.chain.segments import DEMPSTER_WINTER
from limbtorque.motion.limb import Limb
from limbtorque.recordings.recording import Recording
from limbtorque.simulation.gait import HALF_WIDTH_M, Walker, Walkway, walk, walk_recording
from limbtorque.simulation.reach import Reach, minimum_jerk
from limbtorque.study.settings import Settings, make_settings

G = 9.80665
STEP_S = 1e-4  # of the five-point differences that give the true accelerations
SEEDS = (1, 2, 3, 4, 5)
LEG = {
    "hip_axis": "RHJC",
    "greater_trochanter": "RHJC",
    "knee_axis": "RKJC",
    "femoral_condyles": "RKJC",
    "ankle_axis": "RAJC",
    "medial_malleolus": "RAJC",
    "lateral_malleolus": "RAJC",
    "head_of_metatarsal_2": "RTOE",
    "heel": "RHEE",
}
ARM = {
    "glenohumeral_axis": "SHO",
    "elbow_axis": "ELB",
    "wrist_axis": "WRI",
    "ulnar_styloid": "WRI",
    "knuckle_2_middle_finger": "KNU",
}
HELD_N = -20.0  # a bag of 2 kg


@dataclass(frozen=True)
class Errors:
    """Errors of the markers: standard deviation of noise, m, and shares of the sizes of the others."""

    name: str
    noise_m: float = 0.0
    skin: float = 0.0
    plane: float = 0.0
    centres: float = 0.0


ERRORS = (
    Errors("none"),
    Errors("noise 0.3 mm", noise_m=3e-4),
    Errors("noise 1 mm", noise_m=1e-3),
    Errors("skin", skin=1.0),
    Errors("plane", plane=1.0),
    Errors("centres", centres=1.0),
    Errors("skin, noise 1 mm", noise_m=1e-3, skin=1.0),
    Errors("skin, centres, noise 0.3 mm", noise_m=3e-4, skin=1.0, centres=1.0),
    Errors("all, noise 1 mm", noise_m=1e-3, skin=1.0, plane=1.0, centres=1.0),
)
SKIN_M = {"leg": (0.008, 0.008, 0.004, 0.002), "arm": (0.008, 0.005, 0.003, 0.002)}
CENTRES_M = {"leg": (0.012, 0.007, 0.005, 0.002), "arm": (0.012, 0.005, 0.004, 0.002)}
# Mean and amplitude of the segments' inclination to the plane, deg.
OUT_DEG = {"leg": ((3.0, 5.0), (3.0, 3.0), (7.0, 3.0)), "arm": ((5.0, 10.0), (0.0, 10.0), (0.0, 5.0))}


@dataclass(frozen=True)
class Movement:
    """A movement in a plane with its load: functions of time.

    Attributes
    ----------
    name, chain_name : str
        Names of the movement and of the limb.
    chain : Chain
        True lengths and inertial constants.
    body_mass_kg, duration_s, rate_hz, period_s : float
        Mass, length of the recording, frames per second, and period of the movement out of the plane.
    joint_m : callable
        Times (n_frames,) -> joints and endpoint, (n_frames, n_joints + 1, 2).
    load : callable
        Times and joints -> force on the last segment and its point, both (n_frames, 2).
    vertical : bool
        True for a sagittal plane, false for a horizontal one.
    still : int
        Joint whose path in the plane stays where segments leave it.
    walker : Walker or None
        The walker, for the plates.
    held : bool
        True where the hand holds a weight.
    """

    name: str
    chain_name: str
    chain: Chain
    body_mass_kg: float
    duration_s: float
    rate_hz: float
    period_s: float
    joint_m: Callable[[FloatArray], FloatArray]
    load: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
    vertical: bool = True
    still: int = 0
    walker: Walker | None = field(default=None)
    held: bool = False

    @property
    def time_s(self) -> FloatArray:
        """Times of the frames, s."""
        return np.arange(round(self.duration_s * self.rate_hz) + 1) / self.rate_hz


@dataclass(frozen=True)
class Case:
    """A recording with the exact net torques of its frames, (n_frames, n_joints)."""

    movement: str
    errors: str
    seed: int
    recording: Recording
    limb: Limb
    settings: Settings
    torque_nm: FloatArray


def movements() -> list[Movement]:
    """Four walkers and four reaches."""
    walkers = {
        "walk": Walker(),
        "brisk walk, hard heels": Walker(80.0, 1.85, 1.05, 1.5, strike_m_s=0.3),
        "slow heavy walk": Walker(95.0, 1.70, 1.3, 0.8),
        "child's walk": Walker(30.0, 1.35, 0.95, 1.0, strike_m_s=0.2),
    }
    sagittal, flat = ((-80.0, 95.0, 10.0), (-25.0, 40.0, -10.0)), ((-45.0, 100.0, 15.0), (5.0, 45.0, -5.0))
    large, small = (72.0, (0.31, 0.26, 0.085)), (58.5, (0.28, 0.235, 0.078))
    return [
        *(walking(name, walker) for name, walker in walkers.items()),
        _reaching("slow reach", Reach(*sagittal, 1.0, (0.0, 1.4)), *large, 100.0),
        _reaching("fast reach", Reach(*sagittal, 0.5, (0.0, 1.4)), *small, 200.0),
        _reaching("fast horizontal reach", Reach(*flat, 0.5, (0.0, -0.2)), *large, 200.0, vertical=False),
        _reaching("reach with 2 kg", Reach(*sagittal, 0.8, (0.0, 1.4)), *small, 100.0, held=True),
    ]


def cases(errors: tuple[Errors, ...] = ERRORS, seeds: tuple[int, ...] = SEEDS) -> Iterator[Case]:
    """All movements with all errors and seeds; one seed where nothing is drawn."""
    for movement in movements():
        for error in errors:
            drawn = error.noise_m or error.skin or error.centres
            for seed in seeds if drawn else seeds[:1]:
                yield make_case(movement, error, seed)


def make_case(movement: Movement, errors: Errors, seed: int) -> Case:
    """A movement seen through markers with errors."""
    rng = np.random.default_rng([seed, *movement.name.encode()])
    true_m = _in_space(movement, movement.time_s, errors.plane)
    seen_m = true_m.copy()
    seen_m[..., :2] += errors.skin * _skin(movement, true_m, rng) + errors.centres * _offsets(movement, true_m, rng)
    seen_m += errors.noise_m * rng.standard_normal(seen_m.shape)
    recording = _recorded(movement, seen_m, true_m, errors.noise_m, rng)
    limb = Limb(movement.chain_name, side="right", body_mass_kg=movement.body_mass_kg, load="bag" * movement.held)
    return Case(
        movement.name, errors.name, seed, recording, limb, settings(movement), exact_torques(movement, errors.plane)
    )


def settings(movement: Movement) -> Settings:
    """Settings of a movement's recordings: all defaults."""
    return make_settings(
        {
            "marker_sets": {"set": LEG if movement.chain_name == "leg" else ARM},
            "plane": {
                "kind": "sagittal" if movement.vertical else "horizontal",
                "up_axis": "+z",
                "forward_axis": "+x",
            },
            "loads": {"bag": {"type": "constant_force", "force_n": [0.0, 0.0, HELD_N]}},
        }
    )


def walking(name: str, walker: Walker, rate_hz: float = 100.0) -> Movement:
    first_s = 0.3

    def joint_m(time_s: FloatArray) -> FloatArray:
        return walk(walker, time_s, first_strike_s=first_s)["right"].joint_m

    def load(time_s: FloatArray, _: FloatArray) -> tuple[FloatArray, FloatArray]:
        leg = walk(walker, time_s, first_strike_s=first_s)["right"]
        return leg.force_n, leg.pressure_m

    times = (3.0, rate_hz, walker.stride_s)
    return Movement(name, "leg", walker.chain, walker.mass_kg, *times, joint_m, load, still=2, walker=walker)


def _reaching(
    name: str,
    reach: Reach,
    body_mass_kg: float,
    length_m: tuple[float, float, float],
    rate_hz: float,
    *,
    vertical: bool = True,
    held: bool = False,
) -> Movement:
    rows = ("upper_arm", "forearm", "hand")
    ends = {row: (DEMPSTER_WINTER[row].proximal, DEMPSTER_WINTER[row].distal) for row in rows}
    chain = segment_chain(
        rows,
        table=DEMPSTER_WINTER,
        body_mass_kg=body_mass_kg,
        link_length_m=length_m,
        measured_between={row: (*ends[row], length) for row, length in zip(rows, length_m, strict=True)},
        measured={},
    )

    def joint_m(time_s: FloatArray) -> FloatArray:
        way = sum(
            sign * minimum_jerk(time_s - onset, start=[0.0], end=[1.0], duration_s=reach.duration_s).position
            for sign, onset in zip((1.0, -1.0), reach.onsets_s, strict=True)
        )
        start, target = np.radians(reach.start_deg), np.radians(reach.target_deg)
        base = np.array(reach.base_m) + way * np.array(reach.base_shift_m)
        return joint_positions(chain, start + way * (target - start), base_m=base)

    def load(_: FloatArray, joints: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.broadcast_to([0.0, HELD_N * held], joints[:, -1].shape), joints[:, -1]

    times = (reach.length_s, rate_hz, 2.0 * reach.duration_s)
    return Movement(name, "arm", chain, body_mass_kg, *times, joint_m, load, vertical, held=held)


def _in_space(movement: Movement, time_s: FloatArray, share: float) -> FloatArray:
    """True joints in space: two coordinates in the plane and the one along its normal."""
    planar = movement.joint_m(time_s)
    steps = np.diff(planar, axis=1)
    middle, amplitude = share * np.radians(OUT_DEG[movement.chain_name]).T
    phase = 2.0 * np.pi * time_s[:, None] / movement.period_s
    tilt = middle + amplitude * np.sin(phase + 1.3 * np.arange(len(middle)))
    inclined = np.concatenate(
        [np.cos(tilt)[..., None] * steps, (movement.chain.length_m * np.sin(tilt))[..., None]], axis=2
    )
    joints = np.concatenate([np.zeros((len(time_s), 1, 3)), np.cumsum(inclined, axis=1)], axis=1)
    joints[..., :2] += (planar - joints[..., :2])[:, movement.still : movement.still + 1]
    return joints


def exact_torques(movement: Movement, share: float) -> FloatArray:
    """Exact net torques about the plane's normal, of slender links in space, from the joints' accelerations."""
    near = [_in_space(movement, movement.time_s + k * STEP_S, share) for k in range(-2, 3)]
    a, b, joints, d, e = near
    acceleration = (-a + 16.0 * b - 30.0 * joints + 16.0 * d - e) / (12.0 * STEP_S**2)
    chain, gravity = movement.chain, np.array([0.0, -G if movement.vertical else 0.0])
    along = np.diff(joints, axis=1) / chain.length_m[:, None]
    bent = np.diff(acceleration, axis=1) / chain.length_m[:, None]
    force, point = movement.load(movement.time_s, joints[..., :2])
    torque = np.zeros(along.shape[:2])
    for i in range(chain.n_links):
        torque[:, i] -= _cross(point - joints[:, i, :2], force)
        for k in range(i, chain.n_links):
            centre = joints[:, k] + chain.com_m[k] * along[:, k]
            pull = chain.mass_kg[k] * (acceleration[:, k] + chain.com_m[k] * bent[:, k])[:, :2]
            pull = pull - chain.mass_kg[k] * gravity
            torque[:, i] += _cross((centre - joints[:, i])[:, :2], pull)
            torque[:, i] += chain.inertia_kgm2[k] * _cross(along[:, k, :2], bent[:, k, :2])
    return torque


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def _axes(true_m: FloatArray) -> FloatArray:
    """Direction of the segment before every joint, as complex numbers; the laboratory's before the first."""
    steps = np.diff(true_m[..., :2], axis=1)
    along = (steps[..., 0] + 1j * steps[..., 1]) / lengths(steps)
    return np.concatenate([np.ones((len(true_m), 1)), along], axis=1)


def _skin(movement: Movement, true_m: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Displacement of every marker with the angle of its joint: linear and quadratic, (n_frames, n, 2)."""
    turned = np.angle(_axes(true_m)[:, 1:] / _axes(true_m)[:, :-1])
    angle = np.unwrap(np.column_stack([turned, turned[:, -1]]), axis=0)
    low, high = angle.min(axis=0), angle.max(axis=0)
    bend = 2.0 * (angle - low) / (high - low) - 1.0
    size = np.array(SKIN_M[movement.chain_name]) / np.sqrt(2.0)
    draws = rng.standard_normal((2, 2, len(size))) * size
    linear, square = draws[0] + 1j * draws[1]
    moved = _axes(true_m) * (linear * bend + 0.5 * square * (bend**2 - 0.5))
    return np.stack([moved.real, moved.imag], axis=2)


def _offsets(movement: Movement, true_m: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Constant displacement of every joint centre in the segment before it, (n_frames, n, 2)."""
    size = np.array(CENTRES_M[movement.chain_name]) / np.sqrt(2.0)
    draws = rng.standard_normal((2, len(size))) * size
    moved = _axes(true_m) * (draws[0] + 1j * draws[1])
    return np.stack([moved.real, moved.imag], axis=2)


def _recorded(
    movement: Movement, seen_m: FloatArray, true_m: FloatArray, noise_m: float, rng: np.random.Generator
) -> Recording:
    """Recording of the joints, on plates where the movement is a walk; x forward, z up."""
    walker = movement.walker
    if walker is None:
        labels = ("SHO", "ELB", "WRI", "KNU")
        order = [0, 2, 1] if movement.vertical else [0, 1, 2]
        markers = seen_m[..., order] * ([1.0, -1.0, 1.0] if movement.vertical else [1.0, 1.0, 1.0])
        return Recording(
            source=movement.name,
            sha256="",
            reader="simulated",
            labels=labels,
            markers_m=markers,
            rate_hz=movement.rate_hz,
            first_frame=1,
        )
    strikes = np.arange(-1, int(movement.duration_s / walker.stride_s) + 2)
    plates = [
        (float((k + shift) * walker.stride_m + 0.1), side * 0.2)
        for k in strikes
        for side, shift in ((-1, 0.0), (1, 0.5))
    ]
    walkway = Walkway(plates_m=tuple(plates), rate_hz=movement.rate_hz)
    made = walk_recording(walker, walkway, duration_s=movement.duration_s, first_strike_s=0.3)
    markers = made.markers_m.copy()
    heel = markers[:, 4, [0, 2]] + noise_m * rng.standard_normal((len(markers), 2))
    right = np.concatenate([seen_m, np.column_stack([heel, true_m[:, 2, 2]])[:, None]], axis=1)
    markers[:, :5] = np.stack([right[..., 0], -HALF_WIDTH_M - right[..., 2], right[..., 1]], axis=2)
    return replace(made, source=movement.name, markers_m=markers)

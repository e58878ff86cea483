"""Simulated subjects whose inputs are wrong by as much as the section `uncertainty` states.

Reaches and walks with known torques; the errors are drawn from the stated sizes, and act on markers, plates and segments
themselves, not to first order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.chain.dynamics import torque_terms
from limbtorque.chain.kinematics import joint_positions, unit_vectors
from limbtorque.chain.linear import term_rows
from limbtorque.chain.model import Chain, Load
from limbtorque.chain.segments import DEMPSTER_WINTER
from limbtorque.motion.limb import Limb
from limbtorque.recordings.recording import ForcePlate, Recording, find_marker
from limbtorque.simulation.gait import Walker, WalkingLeg, Walkway, walk, walk_recording
from limbtorque.simulation.reach import Reach, reach_motion
from limbtorque.study.settings import Settings, make_settings

GRAVITY = (0.0, -9.80665)
LEG_SET = {
    "hip_axis": "{S}HJC",
    "greater_trochanter": "{S}HJC",
    "knee_axis": "{S}KJC",
    "femoral_condyles": "{S}KJC",
    "ankle_axis": "{S}AJC",
    "lateral_malleolus": "{S}AJC",
    "medial_malleolus": "{S}AJC",
    "heel": "{S}HEE",
    "head_of_metatarsal_2": "{S}TOE",
}
ARM_SET = {
    "glenohumeral_axis": "SHO",
    "elbow_axis": "ELB",
    "wrist_axis": "WRI",
    "ulnar_styloid": "WRI",
    "knuckle_2_middle_finger": "KNU",
}
LEG_LABELS, ARM_LABELS = ("RHJC", "RKJC", "RAJC", "RTOE"), ("SHO", "ELB", "WRI", "KNU")
PLATES_M = ((0.1, -0.2), (0.65, 0.2))
FIRST_STRIKE_S, AFTER_S = 0.35, 0.35


@dataclass(frozen=True)
class Case:
    """A simulated trial with its true torques.

    Attributes
    ----------
    recording : Recording
        What was measured, with its errors.
    limb : Limb
        The limb, with the measured body mass.
    settings : Settings
        The settings.
    rows_nm : ndarray of shape (n_joints, n_terms, n_frames)
        True torques and terms of all frames of the recording, N m.
    phases : dict of str to ndarray of bool, shape (n_frames,)
        Phases of the movement.
    """

    recording: Recording
    limb: Limb
    settings: Settings
    rows_nm: FloatArray
    phases: dict[str, BoolArray]


def case_settings(off: tuple[str, ...] = ()) -> Settings:
    """Settings of the simulated study, without some sources of error."""
    return make_settings(
        {
            "marker_sets": {"sim": {**LEG_SET, **ARM_SET}},
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "uncertainty": {"off": list(off)},
        }
    )


class Errors:
    """Errors drawn from the sizes of the settings, each a standard normal number times its size."""

    def __init__(self, settings: Settings, rng: np.random.Generator, factor: float = 1.0) -> None:
        self.options, self.rng, self.factor = settings.uncertainty, rng, factor

    def of(self, source: str, size: float, shape: tuple[int, ...] = ()) -> FloatArray:
        """Errors of a source; 0 where it is switched off."""
        drawn = self.rng.standard_normal(shape)  # also where it is not used: the other sources stay the same
        return np.asarray(self.of_size(source, size) * drawn)

    def of_size(self, source: str, size: float) -> float:
        """Size of the errors of a source; 0 where it is switched off."""
        return 0.0 if source in self.options.off else self.factor * size

    def correlated(self, source: str, size: float, n: int) -> FloatArray:
        """Errors of segments with the correlation of the settings."""
        matrix = np.full((n, n), self.options.sizes["segment_correlation"])
        np.fill_diagonal(matrix, 1.0)
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray(vectors @ (np.sqrt(values) * self.of(source, size, (n,))))

    def body_mass(self, mass_kg: float) -> float:
        """Measured body mass, kg."""
        return float(mass_kg * (1.0 + self.of("body_mass", self.options.sizes["body_mass"])))

    def chain(self, rows: tuple[str, ...], length_m: FloatArray, mass_kg: float) -> Chain:
        """True constants of a chain whose table is wrong by the errors."""
        sizes, table = self.options.sizes, [DEMPSTER_WINTER[row] for row in rows]
        share = np.array([row.mass for row in table])
        own = self.correlated("segment_mass", sizes["segment_mass"], len(rows))
        rest = self.of("segment_mass", sizes["rest_of_body_mass"])
        whole = 1.0 + 2.0 * share @ own + (1.0 - 2.0 * share.sum()) * rest  # both sides are alike
        mass = share * (1.0 + own) / whole * mass_kg
        com = np.array([row.com for row in table]) * length_m
        com = com + self.correlated("segment_com", sizes["segment_com"], len(rows)) * length_m
        inertia = mass * (np.array([row.gyration for row in table]) * length_m) ** 2
        inertia = inertia * np.maximum(
            1.0 + self.correlated("segment_inertia", sizes["segment_inertia"], len(rows)), 0.0
        )
        return Chain(length_m, mass, com, inertia)

    def joints(self, joint_m: FloatArray, angle_rad: FloatArray) -> FloatArray:
        """Joint centres as measured, without noise: placed wrong, and moved with the skin."""
        frames = np.vstack([np.ones(len(angle_rad)), unit_vectors(np.cumsum(angle_rad, axis=1)).T])
        scale = np.radians(self.options.sizes["soft_tissue_range_deg"]) * 3.0 / np.pi
        measured = joint_m.copy()
        for k, frame in enumerate(frames):
            x, y = self.of("joint_centres", self.options.sizes["centre_marker_m"], (2,))
            even, odd = self.of("soft_tissue", self.options.sizes["soft_tissue_m"], (2, 2))
            phase = angle_rad[:, min(k, angle_rad.shape[1] - 1), None] / scale
            skin = even * np.cos(phase) + odd * np.sin(phase)
            moved = frame * (x + skin[:, 0] + 1j * (y + skin[:, 1]))
            measured[:, k] += np.stack([moved.real, moved.imag], axis=1)
        return measured

    def noise(self, shape: tuple[int, ...], size_m: float) -> FloatArray:
        """Noise of markers."""
        return self.of("marker_noise", size_m, shape)

    def plate(self, plate: ForcePlate) -> ForcePlate:
        """A plate with gain, offsets, displaced centre of pressure and delay; x forward, z up."""
        sizes, rate_hz = self.options.sizes, plate.rate_hz
        gain = 1.0 + self.of("plate_gain", sizes["plate_gain"])
        offset_x, offset_z = self.of("plate_offset", sizes["plate_offset_n"], (2,))
        shift = self.of("pressure", sizes["pressure_m"])
        delay = self.of("synchronisation", sizes["synchronisation_s"])
        time_s = np.arange(len(plate.force_n)) / rate_hz
        force, moment = (
            np.stack([np.interp(time_s - delay, time_s, values) for values in each.T], axis=1)
            for each in (plate.force_n, plate.moment_nm)
        )
        pressed = force[:, 2] > 20.0
        point_x = np.where(pressed, -moment[:, 1] / np.where(pressed, force[:, 2], 1.0), 0.0)
        more = np.where(pressed[:, None], [offset_x, 0.0, offset_z], 0.0)
        force, moment = gain * force, gain * moment
        moment[:, 1] -= shift * force[:, 2] + point_x * more[:, 2]
        return replace(plate, force_n=force + more, moment_nm=moment)


def cases(
    movement: str, n_subjects: int, *, settings: Settings, seed: int, factor: float = 1.0, whole: bool = False
) -> Iterator[Case]:
    """Simulated trials of a movement, each of another subject.

    Parameters
    ----------
    movement : {"reach", "walk"}
        The movement.
    n_subjects : int
        Number of trials.
    settings : Settings
        From `case_settings`.
    seed : int
        Seed; the subjects and errors are the same whatever sources are off.
    factor : float, optional
        Errors over the stated ones.
    whole : bool, optional
        Errors of the other leg and across the plane as well, and plates under every step.
    """
    make = {"reach": reach_case, "walk": walk_case}[movement]
    for number in range(n_subjects):
        rng = np.random.default_rng((seed, number))
        yield make(settings, rng, Errors(settings, rng, factor), whole=whole)


def reach_case(
    settings: Settings, rng: np.random.Generator, errors: Errors, *, rate_hz: float = 100.0, whole: bool = False
) -> Case:
    """A reach there and back in the sagittal plane."""
    mass_kg, size = rng.uniform(50.0, 95.0), rng.uniform(0.9, 1.1)
    length_m = size * np.array([0.30, 0.25, 0.085])
    start = np.array([-80.0, 95.0, 10.0]) + rng.uniform(-10.0, 10.0, 3)
    target = np.array([-25.0, 40.0, -10.0]) + rng.uniform(-15.0, 15.0, 3)
    reach = Reach(tuple(start), tuple(target), rng.uniform(0.6, 1.4), (0.0, 1.4))
    motion = reach_motion(reach, rate_hz=rate_hz)
    chain = errors.chain(("upper_arm", "forearm", "hand"), length_m, mass_kg)
    joint_m = joint_positions(chain, motion.angle_rad, base_m=motion.base_m)
    rows = term_rows(torque_terms(chain, motion, gravity_m_s2=GRAVITY))
    measured = errors.joints(joint_m, motion.angle_rad)
    markers = np.stack([measured[..., 0], np.zeros(measured.shape[:2]), measured[..., 1]], axis=2)
    markers[..., 1] += whole * _across(errors, rng)
    markers = markers + errors.noise(markers.shape, rng.uniform(0.0002, 0.0006))
    moving = (np.abs(motion.velocity_rad_s) > 0.05 * np.abs(motion.velocity_rad_s).max()).any(axis=1)
    return Case(
        _recording(ARM_LABELS, markers, rate_hz),
        Limb("arm", side="right", body_mass_kg=errors.body_mass(mass_kg), marker_set="sim"),
        settings,
        rows,
        {"rest": ~moving, "move": moving},
    )


def walk_case(
    settings: Settings, rng: np.random.Generator, errors: Errors, *, rate_hz: float = 100.0, whole: bool = False
) -> Case:
    """The right leg of a walk over a force plate."""
    height_m = rng.uniform(1.55, 1.9)
    froude = np.sqrt(height_m / 1.75)
    stride_s, speed_m_s = rng.uniform(1.0, 1.2) * froude, rng.uniform(0.9, 1.2) * froude
    walker = Walker(rng.uniform(50.0, 95.0), height_m, stride_s, speed_m_s)
    steps = [(0.5 * walker.stride_m * k + 0.06 * height_m, (-0.2, 0.2)[k % 2]) for k in range(4)]
    walkway = Walkway(plates_m=tuple(steps) if whole else PLATES_M, rate_hz=rate_hz, plate_rate_hz=5.0 * rate_hz)
    duration_s = round(FIRST_STRIKE_S + 1.5 * stride_s + AFTER_S, 2)
    recording = walk_recording(walker, walkway, duration_s=duration_s, first_strike_s=FIRST_STRIKE_S)
    legs = walk(walker, np.arange(recording.n_frames) / rate_hz, first_strike_s=FIRST_STRIKE_S)
    leg = legs["right"]
    chain = errors.chain(("thigh", "shank", "foot"), walker.chain.length_m, walker.mass_kg)
    rows = true_rows(chain, leg)
    measured = errors.joints(leg.joint_m, leg.kinematics.angle_rad)
    markers = recording.markers_m.copy()
    for k, label in enumerate(LEG_LABELS):
        markers[:, find_marker(recording, label)] += (measured - leg.joint_m)[:, k] @ np.array(
            [[1.0, 0, 0], [0, 0, 1.0]]
        )
    if whole:
        off = (
            Errors(settings, rng.spawn(1)[0], errors.factor).joints(
                legs["left"].joint_m, legs["left"].kinematics.angle_rad
            )
            - legs["left"].joint_m
        )
        for k, label in enumerate(LEG_LABELS):
            markers[:, find_marker(recording, "L" + label[1:])] += off[:, k] @ np.array([[1.0, 0, 0], [0, 0, 1.0]])
        for side in "RL":
            columns = [find_marker(recording, side + label[1:]) for label in LEG_LABELS]
            markers[:, columns, 1] += _across(errors, rng)
    markers = markers + errors.noise(markers.shape, rng.uniform(0.0002, 0.0006))
    plates = tuple(errors.plate(plate) for plate in recording.force_plates)
    return Case(
        replace(recording, markers_m=markers, force_plates=plates),
        Limb("leg", side="right", body_mass_kg=errors.body_mass(walker.mass_kg), marker_set="sim"),
        settings,
        rows,
        {"stance": leg.contact, "swing": ~leg.contact},
    )


def _across(errors: Errors, rng: np.random.Generator) -> FloatArray:
    """Errors of the four joint centres across the plane, from a generator that others do not use."""
    size_m = errors.of_size("joint_centres", errors.options.sizes["centre_marker_m"])
    return np.asarray(size_m * rng.spawn(1)[0].standard_normal(4))


def true_rows(chain: Chain, leg: WalkingLeg) -> FloatArray:
    """True torques of a walking leg with these constants."""
    loads = [Load(2, leg.force_n, leg.pressure_m)]
    return term_rows(torque_terms(chain, leg.kinematics, gravity_m_s2=GRAVITY, loads=loads, joint_m=leg.joint_m))


def _recording(labels: tuple[str, ...], markers_m: FloatArray, rate_hz: float) -> Recording:
    return Recording(
        source="simulated",
        sha256="",
        reader="limbtorque.simulation",
        labels=labels,
        markers_m=markers_m,
        rate_hz=rate_hz,
        first_frame=1,
    )

"""Simulated reaches of a three-link arm whose torques are known.

The reaches of the demo study are made here: the experiment of Cesari et al. (2001, Biological Cybernetics 84,
217-226), slow and fast, free and against a spring, in the sagittal and in the horizontal plane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limbtorque.chain.body_segments import segment_chain
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.chain.segment_tables import DEMPSTER_WINTER
from limbtorque.recordings.recording import Recording
from limbtorque.simulation.minimum_jerk import minimum_jerk

HALF_WIDTH_M = 0.03


@dataclass(frozen=True)
class Reach:
    """A reach to a target and back, with rests of half a second.

    Attributes
    ----------
    start_deg, target_deg : tuple of float
        Joint angles (shoulder, elbow, wrist) at the start and at the target, degrees.
    duration_s : float
        Duration of each way, s.
    base_m : tuple of float
        Position of the shoulder at the start, in the plane, m.
    base_shift_m : tuple of float
        Displacement of the shoulder with the reach, m.
    rest_s : float
        Duration of each rest, s.
    """

    start_deg: tuple[float, float, float]
    target_deg: tuple[float, float, float]
    duration_s: float
    base_m: tuple[float, float]
    base_shift_m: tuple[float, float] = (0.06, 0.015)
    rest_s: float = 0.5

    @property
    def onsets_s(self) -> tuple[float, float]:
        """Onsets of the way there and of the way back, s."""
        return self.rest_s, 2.0 * self.rest_s + self.duration_s

    @property
    def length_s(self) -> float:
        """Duration of the whole trial, s."""
        return 3.0 * self.rest_s + 2.0 * self.duration_s


def reach_motion(reach: Reach, *, rate_hz: float) -> Kinematics:
    """Exact movement of a reach, sampled.

    Parameters
    ----------
    reach : Reach
        The movement.
    rate_hz : float
        Frames per second.
    """
    time_s = np.arange(round(reach.length_s * rate_hz) + 1) / rate_hz
    there, back = (
        minimum_jerk(time_s - onset, start=[0.0], end=[1.0], duration_s=reach.duration_s) for onset in reach.onsets_s
    )
    speed, acceleration = there.velocity - back.velocity, there.acceleration - back.acceleration
    share = there.position - back.position
    start, way = np.radians(reach.start_deg), np.radians(np.subtract(reach.target_deg, reach.start_deg))
    shift = np.array(reach.base_shift_m)
    return Kinematics(
        angle_rad=start + share * way,
        velocity_rad_s=speed * way,
        acceleration_rad_s2=acceleration * way,
        base_m=np.array(reach.base_m) + share * shift,
        base_velocity_m_s=speed * shift,
        base_acceleration_m_s2=acceleration * shift,
    )


@dataclass(frozen=True)
class Arm:
    """The arm of a simulated subject.

    Attributes
    ----------
    body_mass_kg : float
        Body mass, kg.
    length_m : tuple of float
        Shoulder to elbow, elbow to wrist, wrist to knuckle, m.
    """

    body_mass_kg: float
    length_m: tuple[float, float, float]

    @property
    def chain(self) -> Chain:
        """Inertial constants by Dempster's table; the forearm ends at the ulnar styloid."""
        rows = ("upper_arm", "forearm", "hand")
        lengths = (self.length_m[0], float(np.hypot(self.length_m[1], HALF_WIDTH_M)), self.length_m[2])
        return segment_chain(
            rows,
            table=DEMPSTER_WINTER,
            body_mass_kg=self.body_mass_kg,
            link_length_m=self.length_m,
            measured_between={
                row: (DEMPSTER_WINTER[row].proximal, DEMPSTER_WINTER[row].distal, length)
                for row, length in zip(rows, lengths, strict=True)
            },
            measured={},
        )


LABELS = ("SHO", "ELBL", "ELBM", "WRR", "WRU", "KNU", "C7", "CLAV")


def reach_recording(
    arm: Arm,
    reach: Reach,
    *,
    horizontal: bool,
    rate_hz: float,
    prefix: str = "",
    noise_m: float = 0.0,
    gaps: tuple[tuple[str, int, int], ...] = (),
    seed: int = 0,
) -> Recording:
    """Markers of a simulated reach.

    Parameters
    ----------
    arm : Arm
        The subject's arm.
    reach : Reach
        The movement in the plane: x forward, y up, or y to the left where `horizontal`.
    horizontal : bool
        True for the horizontal plane 1.1 m above the floor.
    rate_hz : float
        Frames per second.
    prefix : str, optional
        Subject prefix of the labels, with its colon.
    noise_m : float, optional
        Standard deviation of the noise of every coordinate, m.
    gaps : tuple of (label, first, last), optional
        Frames in which a marker is missing.
    seed : int, optional
        Seed of the noise.

    Returns
    -------
    Recording
        Laboratory frame: x forward, y to the left, z up.
    """
    kinematics = reach_motion(reach, rate_hz=rate_hz)
    planar = joint_positions(arm.chain, kinematics.angle_rad, base_m=kinematics.base_m)
    normal = np.array([0.0, 0.0, 1.0]) if horizontal else np.array([0.0, -1.0, 0.0])
    second = np.array([0.0, 1.0, 0.0]) if horizontal else np.array([0.0, 0.0, 1.0])
    origin = np.array([0.0, 0.0, 1.1]) if horizontal else np.zeros(3)
    joints = origin + planar[..., :1] * np.array([1.0, 0.0, 0.0]) + planar[..., 1:] * second
    shoulder, elbow, wrist, knuckle = np.moveaxis(joints, 1, 0)
    side = HALF_WIDTH_M * normal
    trunk = shoulder[:, None] + np.array([[-0.10, 0.2, 0.1], [0.05, 0.2, 0.0]])
    markers = np.concatenate(
        [np.stack([shoulder, elbow + side, elbow - side, wrist + side, wrist - side, knuckle], axis=1), trunk], axis=1
    )
    markers = markers + noise_m * np.random.default_rng(seed).standard_normal(markers.shape)
    for label, first, last in gaps:
        markers[first : last + 1, LABELS.index(label)] = np.nan
    return Recording(
        source="simulated reach",
        sha256="",
        reader="limbtorque.simulation",
        labels=tuple(prefix + label for label in LABELS),
        markers_m=markers,
        rate_hz=rate_hz,
        first_frame=1,
        modelled_labels=(),
        events=(),
        analog_labels=(),
        analog_units=(),
        analog=np.zeros((0, 0)),
        analog_rate_hz=0.0,
        force_plates=(),
        notes=(),
    )


@dataclass(frozen=True)
class DemoTrial:
    """One trial of the demo study.

    Attributes
    ----------
    name, session, subject, side, condition, load : str
        As in the table of trials.
    arm : Arm
        The subject's arm.
    reach : Reach
        The movement.
    horizontal : bool
        True for the horizontal plane.
    rate_hz : float
        Frames per second.
    unit : str
        Unit of the positions in the file.
    prefix : str
        Subject prefix of its labels.
    gaps : tuple of (str, int, int)
        Missing samples.
    seed : int
        Seed of its noise.
    """

    name: str
    session: str
    subject: str
    side: str
    condition: str
    load: str
    arm: Arm
    reach: Reach
    horizontal: bool
    rate_hz: float
    unit: str
    prefix: str
    gaps: tuple[tuple[str, int, int], ...]
    seed: int

    def recording(self, *, noise_m: float) -> Recording:
        """Markers of the trial, with noise of this standard deviation in m."""
        return reach_recording(
            self.arm,
            self.reach,
            horizontal=self.horizontal,
            rate_hz=self.rate_hz,
            prefix=self.prefix,
            noise_m=noise_m,
            gaps=self.gaps,
            seed=self.seed,
        )


DEMO_NOISE_M = 0.0002
_SAGITTAL = Reach((-80.0, 95.0, 10.0), (-25.0, 40.0, -10.0), 1.0, (0.0, 1.4))
_HORIZONTAL = Reach((-45.0, 100.0, 15.0), (5.0, 45.0, -5.0), 1.0, (0.0, -0.2))
_SUBJECTS = (
    ("S01", "right", Arm(72.0, (0.31, 0.26, 0.085)), 100.0, "mm", ""),
    ("S02", "left", Arm(58.5, (0.28, 0.235, 0.078)), 200.0, "m", "S02:"),
)
_CONDITIONS = (("slow", 2.0, ""), ("fast", 0.5, ""), ("spring", 1.0, "spring"))


def demo_trials() -> list[DemoTrial]:
    """Return the twelve demo trials: two subjects, two planes, three conditions."""
    trials: list[DemoTrial] = []
    for subject, side, arm, rate_hz, unit, prefix in _SUBJECTS:
        for plane, template in (("sagittal", _SAGITTAL), ("horizontal", _HORIZONTAL)):
            for condition, duration_s, load in _CONDITIONS:
                reach = replace(template, duration_s=duration_s)
                if side == "left" and plane == "horizontal":
                    reach = _mirrored(reach)
                middle = round((reach.onsets_s[0] + 0.5 * duration_s) * rate_hz)
                few = round(0.05 * rate_hz)
                gaps = (("WRR", middle, middle + few - 1), ("KNU", middle + 20, middle + 20 + few // 2))
                trials.append(
                    DemoTrial(
                        name=f"{subject}_{plane}_{condition}",
                        session=f"{subject}_{plane}",
                        subject=subject,
                        side=side,
                        condition=f"{plane} {condition}",
                        load=load,
                        arm=arm,
                        reach=reach,
                        horizontal=plane == "horizontal",
                        rate_hz=rate_hz,
                        unit=unit,
                        prefix=prefix,
                        gaps=gaps,
                        seed=len(trials) + 1,
                    )
                )
    return trials


def _mirrored(reach: Reach) -> Reach:
    """The same reach of the other arm in the horizontal plane."""
    return replace(
        reach,
        start_deg=_negative(reach.start_deg),
        target_deg=_negative(reach.target_deg),
        base_m=(reach.base_m[0], -reach.base_m[1]),
        base_shift_m=(reach.base_shift_m[0], -reach.base_shift_m[1]),
    )


def _negative(angles: tuple[float, float, float]) -> tuple[float, float, float]:
    first, second, third = angles
    return -first, -second, -third

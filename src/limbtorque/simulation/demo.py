"""Recordings of the demo study: reaches, and walks on force plates.

The reaches are the experiment of Cesari et al. (2001, Biological Cybernetics 84, 217-226), slow and fast, free and
against a spring, in the sagittal and in the horizontal plane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.recordings.recording import Recording, find_marker
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.simulation.reach import Arm, Reach, reach_recording

FIRST_STRIKE_S = 0.35
AFTER_S = 0.35  # behind the second strike of the left foot
SPIKE_M = 0.2


@dataclass(frozen=True)
class DemoTrial:
    """One trial of the demo study.

    Attributes
    ----------
    name, side, load : str
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
    side: str
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
                if side == "left" and plane == "horizontal":  # the same reach of the other arm
                    reach = replace(
                        reach,
                        start_deg=tuple(-angle for angle in reach.start_deg),
                        target_deg=tuple(-angle for angle in reach.target_deg),
                        base_m=(reach.base_m[0], -reach.base_m[1]),
                        base_shift_m=(reach.base_shift_m[0], -reach.base_shift_m[1]),
                    )
                middle = round((reach.onsets_s[0] + 0.5 * duration_s) * rate_hz)
                few = round(0.05 * rate_hz)
                gaps = (("WRR", middle, middle + few - 1), ("KNU", middle + 20, middle + 20 + few // 2))
                trials.append(
                    DemoTrial(
                        name=f"{subject}_{plane}_{condition}",
                        side=side,
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


@dataclass(frozen=True)
class DemoWalk:
    """One recording of the demo study's walks; each leg is a trial.

    Attributes
    ----------
    name : str
        Name of the file without its ending.
    walker : Walker
        The person, at the speed of this trial.
    seed : int
        Seed of the noise.
    spike_s : float or None
        Time of the frame in which the right knee's marker is 20 cm too far forward; None: undamaged.
    """

    name: str
    walker: Walker
    seed: int
    spike_s: float | None = None

    @property
    def duration_s(self) -> float:
        """Duration of the recording, s: a stride of each leg, with margins."""
        return round(FIRST_STRIKE_S + 1.5 * self.walker.stride_s + AFTER_S, 2)

    def recording(self, *, noise_m: float, noise_n: float) -> Recording:
        """Markers, plates and events, with noise of these standard deviations.

        Parameters
        ----------
        noise_m, noise_n : float
            Of every coordinate of a marker, m, and of every component of a plate's force, N.
        """
        walkway = replace(DEMO_WALKWAY, noise_m=noise_m, noise_n=noise_n, seed=self.seed)
        made = walk_recording(self.walker, walkway, duration_s=self.duration_s, first_strike_s=FIRST_STRIKE_S)
        if self.spike_s is None:
            return made
        markers = made.markers_m.copy()
        markers[round(self.spike_s * made.rate_hz), find_marker(made, "RKJC"), 0] += SPIKE_M
        return replace(made, markers_m=markers)


WALK_NOISE_M, WALK_NOISE_N = 0.0003, 1.0
# the right foot steps on the first plate, the left one on the second
DEMO_WALKWAY = Walkway(plates_m=((0.1, -0.2), (0.65, 0.2)), rate_hz=100.0, plate_rate_hz=500.0, heel_height_m=0.02)
# mass and height, and factors of speed and of the stride's duration, by which people of one height differ
_WALKERS = {"S01": (72.0, 1.78, 0.96, 1.03), "S02": (58.5, 1.66, 1.0, 0.99), "S03": (64.0, 1.71, 1.02, 0.99)}
_PACES = {"slow": (1.03, 1.18), "fast": (1.2, 1.04)}  # m/s and s for a height of 1.75 m: both comfortable
_REPEATS = ((1, 0.98, 1.01), (2, 1.02, 0.99))  # number, and factors of speed and of the stride's duration
_DAMAGED = ("S03_walk_fast_2", 0.83)


def demo_walks() -> list[DemoWalk]:
    """Return the twelve recorded walks: three subjects, two speeds, two repeats."""
    walks: list[DemoWalk] = []
    for subject, (mass_kg, height_m, own_speed, own_stride) in _WALKERS.items():
        froude = (height_m / 1.75) ** 0.5  # for people of other heights
        for pace, (speed_m_s, stride_s) in _PACES.items():
            for number, faster, longer in _REPEATS:
                stride = stride_s * froude * own_stride * longer, speed_m_s * froude * own_speed * faster
                walker = Walker(mass_kg, height_m, *stride)
                name = f"{subject}_walk_{pace}_{number}"
                spike_s = _DAMAGED[1] if name == _DAMAGED[0] else None
                walks.append(DemoWalk(name, walker, seed=101 + len(walks), spike_s=spike_s))
    return walks


def write_demo(folder: Path) -> list[Path]:
    """Write the recordings of the demo study as C3D files.

    Parameters
    ----------
    folder : Path
        Folder of the files; created if missing.

    Returns
    -------
    list of Path
        The files: twelve reaches as floats, twelve walks as integers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for trial in demo_trials():
        paths.append(folder / f"{trial.name}.c3d")
        write_c3d(trial.recording(noise_m=DEMO_NOISE_M), paths[-1], unit=trial.unit)
    for walk in demo_walks():
        paths.append(folder / f"{walk.name}.c3d")
        recording = walk.recording(noise_m=WALK_NOISE_M, noise_n=WALK_NOISE_N)
        write_c3d(recording, paths[-1], unit="mm", integers=True)
    return paths

"""Ways to damage a simulated recording, with their sizes, for `damages.py`.

The sizes of a kind are a geometric row about its `centre`, where the torque errs by about a tenth of its range, so that half of
them stay below that; a kind without a centre is either there or not. Centres were set by the error alone, before any threshold was fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from parts.damage_subjects import FORWARD, MOVEMENTS, SIDES, Trial, swung, turned
from scipy.signal import butter, sosfiltfilt

from limbtorque.arrays import FloatArray
from limbtorque.recordings.recording import ForcePlate
from limbtorque.study.subjects import MASS_KG

STEP, SIZES = 1.6, 8  # ratio of following sizes, and their number
LIMB = {"walk": ("HJC", "KJC", "AJC", "TOE"), "reach": ("SHO", "ELBL", "ELBM", "WRR", "WRU", "KNU")}

Damage = Callable[[Trial, float, np.random.Generator], Trial]


@dataclass(frozen=True)
class Kind:
    """A way to damage a recording.

    Attributes
    ----------
    name, unit, meaning : str
        Name, unit of the size, and what is done.
    damage : callable
        Returns the damaged trial for a trial, a size and a generator of random numbers.
    centre : dict of str to float
        Size in the middle of the row, for ``walk`` and ``reach``; NaN for a kind that is there or not; a task
        that is absent cannot have this damage.
    """

    name: str
    unit: str
    meaning: str
    damage: Damage
    centre: dict[str, float]

    def sizes(self, task: str) -> list[float]:
        """Sizes for a task; none where the task cannot have this damage."""
        centre = self.centre.get(family(task))
        if centre is None:
            return []
        if np.isnan(centre):
            return [1.0]
        return (centre * STEP ** (np.arange(SIZES) - 0.5 * (SIZES - 1))).tolist()


def family(task: str) -> str:
    """Family of a task, with its sizes of damage: ``walk`` for all movements of legs, or ``reach``."""
    return "reach" if task.endswith("reach") else "walk"


def _columns(trial: Trial) -> list[int]:
    """Indices of the limb's markers."""
    names = LIMB[family(trial.task)]
    side = trial.limb.side[0].upper() if family(trial.task) == "walk" else ""
    return [trial.recording.labels.index(side + name) for name in names]


def _with_markers(trial: Trial, markers_m: FloatArray) -> Trial:
    return replace(trial, recording=replace(trial.recording, markers_m=markers_m))


def _with_plates(trial: Trial, change: Callable[[ForcePlate], ForcePlate]) -> Trial:
    plates = tuple(change(plate) for plate in trial.recording.force_plates)
    return replace(trial, recording=replace(trial.recording, force_plates=plates))


def _frame(trial: Trial, rng: np.random.Generator, length: int = 1) -> int:
    """Random first frame of a stretch inside the trial's window."""
    first, last = (round(edge * trial.recording.rate_hz) for edge in trial.window_s)
    return int(rng.integers(first, max(last - length, first + 1)))


def _way(trial: Trial) -> FloatArray:
    """Horizontal direction of progression."""
    if family(trial.task) == "reach":
        return np.array([1.0, 0.0, 0.0])
    if trial.task in MOVEMENTS:
        angle = 0.5 * np.pi * (int(trial.subject[1:]) % 4)
        return np.array([np.cos(angle), np.sin(angle), 0.0])
    hip = trial.recording.markers_m[:, _columns(trial)[0]]
    way = (hip[-1] - hip[0]) * np.array([1.0, 1.0, 0.0])
    return way / np.linalg.norm(way)


def swap_labels(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Exchange two markers of the limb for `size` seconds."""
    markers, frames = trial.recording.markers_m.copy(), max(round(size * trial.recording.rate_hz), 1)
    start = _frame(trial, rng, frames)
    one, other = rng.choice(_columns(trial), 2, replace=False)
    markers[start : start + frames, [one, other]] = markers[start : start + frames, [other, one]]
    return _with_markers(trial, markers)


def add_spikes(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Displace a marker of the limb by `size` metres for one to three frames."""
    markers = trial.recording.markers_m.copy()
    start, way = _frame(trial, rng, 3), _direction(rng)
    markers[start : start + int(rng.integers(1, 4)), rng.choice(_columns(trial))] += size * way
    return _with_markers(trial, markers)


def cut_gaps(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Lose two markers of the limb for `size` seconds each, three times."""
    markers, frames = trial.recording.markers_m.copy(), max(round(size * trial.recording.rate_hz), 1)
    for column in rng.choice(_columns(trial), 2, replace=False):
        for _ in range(3):
            start = _frame(trial, rng, frames)
            markers[start : start + frames, column] = np.nan
    return _with_markers(trial, markers)


def slide_skin(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Slide every marker of the limb but the last by up to `size` metres along its segments, with the angle at the middle joint."""
    markers, columns = trial.recording.markers_m.copy(), _columns(trial)
    first, middle, last = columns[0], columns[1], columns[-2]
    upper, lower = markers[:, first] - markers[:, middle], markers[:, last] - markers[:, middle]
    cosine = (upper * lower).sum(axis=1) / np.linalg.norm(upper, axis=1) / np.linalg.norm(lower, axis=1)
    bend = np.arccos(np.clip(cosine, -1.0, 1.0))
    course = (bend - bend.min()) / max(float(np.ptp(bend)), 1e-9)
    along = upper / np.linalg.norm(upper, axis=1, keepdims=True)
    for column in columns[:-1]:
        across = rng.standard_normal(3) * 0.5
        markers[:, column] += size * course[:, None] * (rng.choice([-1.0, 1.0]) * along + across)
    return _with_markers(trial, markers)


def move_first_joint(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Misplace the first joint's centre by `size` metres: the hip, or the shoulder."""
    markers = trial.recording.markers_m.copy()
    angle = rng.uniform(0.0, 2.0 * np.pi)
    up = np.array([0.0, 1.0, 0.0]) if trial.task == "horizontal reach" else np.array([0.0, 0.0, 1.0])
    markers[:, _columns(trial)[0]] += size * (np.cos(angle) * _way(trial) + np.sin(angle) * up)
    return _with_markers(trial, markers)


def move_plates(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Shift all plates by `size` metres along the way."""
    shift = rng.choice([-1.0, 1.0]) * size * _way(trial)
    return _with_plates(
        trial,
        lambda p: replace(p, corners_m=p.corners_m + shift, moment_nm=p.moment_nm + np.cross(shift, p.force_n)),
    )


def scale_plates(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Multiply all forces by 1 + `size`, or divide them."""
    gain = (1.0 + size) ** rng.choice([-1.0, 1.0])
    return _with_plates(trial, lambda p: replace(p, force_n=gain * p.force_n, moment_nm=gain * p.moment_nm))


def clip_plates(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Clip the vertical force at 1 / (1 + `size`) of its peak; for half of the subjects noise hides the flat top."""
    hidden_n = 2.0 * (int(trial.subject[1:]) // 2 % 2)

    def clipped(plate: ForcePlate) -> ForcePlate:
        force = plate.force_n.copy()
        force[:, 2] = np.minimum(force[:, 2], force[:, 2].max() / (1.0 + size))
        force[:, 2] += hidden_n * rng.standard_normal(len(force))
        return replace(plate, force_n=force)

    return _with_plates(trial, clipped)


def drift_plates(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Let the vertical force drift by `size` newtons over the recording, at the middle of each plate."""
    sign = rng.choice([-1.0, 1.0])

    def drifting(plate: ForcePlate) -> ForcePlate:
        added = np.zeros_like(plate.force_n)
        added[:, 2] = sign * size * np.linspace(-0.2, 0.8, len(added))
        moment = plate.moment_nm + np.cross(plate.corners_m.mean(axis=0), added)
        return replace(plate, force_n=plate.force_n + added, moment_nm=moment)

    return _with_plates(trial, drifting)


def turn_plates(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Turn the axes of all plates about the vertical through their middles by `size` degrees."""
    angle = np.radians(min(size, 180.0)) * rng.choice([-1.0, 1.0])
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def turning(plate: ForcePlate) -> ForcePlate:
        middle = plate.corners_m.mean(axis=0)
        own = plate.moment_nm - np.cross(middle, plate.force_n)
        force = plate.force_n @ turn.T
        return replace(plate, force_n=force, moment_nm=own @ turn.T + np.cross(middle, force))

    return _with_plates(trial, turning)


def reverse_braking(trial: Trial, _size: float, _rng: np.random.Generator) -> Trial:
    """Reverse the sign of the forces along the way; the centre of pressure stays."""
    way = _way(trial)

    def reversed_(plate: ForcePlate) -> ForcePlate:
        added = -2.0 * (plate.force_n @ way)[:, None] * way
        middle = plate.corners_m.mean(axis=0)
        return replace(plate, force_n=plate.force_n + added, moment_nm=plate.moment_nm + np.cross(middle, added))

    return _with_plates(trial, reversed_)


def delay_forces(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Delay all forces by `size` seconds, or advance them."""
    sign = rng.choice([1.0, 1.0, -1.0])  # forces are late more often than early

    def delayed(plate: ForcePlate) -> ForcePlate:
        at = np.clip(np.arange(len(plate.force_n)) - round(sign * size * plate.rate_hz), 0, len(plate.force_n) - 1)
        return replace(plate, force_n=plate.force_n[at], moment_nm=plate.moment_nm[at])

    return _with_plates(trial, delayed)


def give_other_plate(trial: Trial, _size: float, _rng: np.random.Generator) -> Trial:
    """Give the limb the plates that the other foot stepped on (plates.assignment), or exchange the cables of neighbours."""
    if int(trial.subject[1:]) // 2 % 2:
        return _with_exchanged_cables(trial)
    first = 1 if trial.limb.side == "right" else 0
    others = tuple(plate.number for plate in trial.recording.force_plates)[first::2]
    plates = trial.settings.plates.model_copy(update={"assignment": others})
    return replace(trial, settings=trial.settings.model_copy(update={"plates": plates}))


def _with_exchanged_cables(trial: Trial) -> Trial:
    """Every plate with the wrench that its neighbour measured, about its own middle."""
    plates, changed = trial.recording.force_plates, []
    for index, plate in enumerate(plates):
        other = plates[index ^ 1]
        moved = plate.corners_m.mean(axis=0) - other.corners_m.mean(axis=0)
        moment = other.moment_nm + np.cross(moved, other.force_n)
        changed.append(replace(plate, force_n=other.force_n, moment_nm=moment))
    return replace(trial, recording=replace(trial.recording, force_plates=tuple(changed)))


def exchange_sides(trial: Trial, _size: float, _rng: np.random.Generator) -> Trial:
    """Exchange left and right throughout: the labels of a walk, the side of an arm."""
    other = SIDES[1 - SIDES.index(trial.limb.side)]
    if family(trial.task) == "reach":
        return replace(trial, limb=replace(trial.limb, side=other))
    labels = tuple({"R": "L", "L": "R"}[label[0]] + label[1:] for label in trial.recording.labels)
    return replace(trial, recording=replace(trial.recording, labels=labels))


def change_mass(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Multiply the given body mass by 1 + `size`, or divide it."""
    factor = (1.0 + size) ** rng.choice([-1.0, 1.0])
    mass_kg = float(np.clip(trial.limb.body_mass_kg * factor, *MASS_KG))  # a table of trials accepts no other
    return replace(trial, limb=replace(trial.limb, body_mass_kg=mass_kg))


def _forward_axis(trial: Trial) -> str:
    return FORWARD[int(trial.subject[1:]) % 4] if family(trial.task) == "walk" else "+x"


def _with_forward(trial: Trial, axis: str) -> Trial:
    plane = trial.settings.plane.model_copy(update={"forward_axis": axis})
    return replace(trial, settings=trial.settings.model_copy(update={"plane": plane}))


def mirror_axis(trial: Trial, _size: float, _rng: np.random.Generator) -> Trial:
    """Name the opposite of the forward axis."""
    axis = _forward_axis(trial)
    return _with_forward(trial, {"+": "-", "-": "+"}[axis[0]] + axis[1])


def turn_axis(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Turn the laboratory by `size` degrees against the forward axis of the settings."""
    degrees = min(size, 90.0) * rng.choice([-1.0, 1.0])
    made = turned(trial.recording, degrees=degrees, axis="z")
    return _with_forward(replace(trial, recording=made), _forward_axis(trial))


def tilt_axis(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Tilt the laboratory by `size` degrees about the axis across the way: up is no longer up."""
    axis = "x" if abs(_way(trial)[1]) > 0.5 else "y"
    made = turned(trial.recording, degrees=min(size, 90.0) * rng.choice([-1.0, 1.0]), axis=axis)
    return replace(trial, recording=made)


def leave_plane(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Swing the limb out of the plane about the forward axis through its first joint, by up to `size` degrees, back and forth."""
    made, columns = trial.recording, _columns(trial)
    if family(trial.task) == "walk":
        columns = [*columns, made.labels.index(trial.limb.side[0].upper() + "HEE")]
    axis = int(np.argmax(np.abs(_way(trial))))
    back = -90.0 if axis == 1 else 0.0
    lying = turned(made, degrees=back).markers_m.copy()
    length_s = trial.window_s[1] - trial.window_s[0]
    angle = np.radians(min(size, 85.0)) * np.sin(
        2.0 * np.pi * (made.time_s - trial.window_s[0]) / length_s + rng.uniform(0.0, 6.28)
    )
    lying[:, columns] = swung(lying[:, columns], angle)
    moved = turned(replace(made, markers_m=lying), degrees=-back)
    return _with_markers(trial, moved.markers_m)


def lower_rate(trial: Trial, size: float, _rng: np.random.Generator) -> Trial:
    """Keep every `size`-th frame only."""
    every, made = max(round(size), 2), trial.recording
    kept = replace(made, markers_m=made.markers_m[::every], rate_hz=made.rate_hz / every)
    return replace(trial, recording=kept, torque_nm=trial.torque_nm[::every])


def add_noise(trial: Trial, size: float, rng: np.random.Generator) -> Trial:
    """Add noise of a standard deviation of `size` metres; half of the subjects get noise that wanders."""
    made = trial.recording
    noise = rng.standard_normal(made.markers_m.shape)
    if int(trial.subject[1:]) // 2 % 2:
        sos = butter(1, min(0.25 * made.rate_hz, 20.0), fs=made.rate_hz, output="sos")
        noise = sosfiltfilt(sos, noise, axis=0)
        noise /= noise.std()
    return _with_markers(trial, made.markers_m + size * noise)


def smooth_before(trial: Trial, size: float, _rng: np.random.Generator) -> Trial:
    """Low-pass the markers at 1 / `size` hertz before they are exported."""
    made = trial.recording
    sos = butter(2, min(1.0 / size, 0.45 * made.rate_hz), fs=made.rate_hz, output="sos")
    return _with_markers(trial, sosfiltfilt(sos, made.markers_m, axis=0))


def _direction(rng: np.random.Generator) -> FloatArray:
    way = rng.standard_normal(3)
    return way / np.linalg.norm(way)


NAN = float("nan")
KINDS = (
    Kind(
        "swapped_labels",
        "s",
        "two markers of the limb exchanged for a time",
        swap_labels,
        {"walk": 0.03, "reach": 0.02},
    ),
    Kind("spikes", "m", "a marker off its path for one to three frames", add_spikes, {"walk": 0.2, "reach": 0.05}),
    Kind("gaps", "s", "two markers missing, three times each", cut_gaps, {"walk": 0.15, "reach": 0.15}),
    Kind(
        "skin",
        "m",
        "markers slide along the segments with the angle of knee or elbow",
        slide_skin,
        {"walk": 0.065, "reach": 0.02},
    ),
    Kind("first_joint_off", "m", "hip or shoulder misplaced", move_first_joint, {"walk": 0.055, "reach": 0.055}),
    Kind("plate_moved", "m", "all plates shifted along the way", move_plates, {"walk": 0.025}),
    Kind("plate_gain", "1", "all forces multiplied", scale_plates, {"walk": 0.28}),
    Kind(
        "plate_clipped", "1", "vertical force cut above a level: peak over level, less one", clip_plates, {"walk": 0.25}
    ),
    Kind("plate_drifting", "N", "zero of the vertical force drifts over the recording", drift_plates, {"walk": 60.0}),
    Kind("plate_turned", "deg", "plates' axes turned about the vertical", turn_plates, {"walk": 9.0}),
    Kind("braking_reversed", "1", "sign of the force along the way", reverse_braking, {"walk": NAN}),
    Kind("forces_late", "s", "forces late or early against the markers", delay_forces, {"walk": 0.022}),
    Kind(
        "wrong_plate",
        "1",
        "the other foot's plates given to this foot, or cables exchanged",
        give_other_plate,
        {"walk": NAN},
    ),
    Kind("wrong_side", "1", "left and right exchanged throughout", exchange_sides, {"walk": NAN, "reach": NAN}),
    Kind("wrong_mass", "1", "given body mass too large or too small", change_mass, {"walk": 1.0, "reach": 0.18}),
    Kind("mirrored_axis", "1", "backward named forward", mirror_axis, {"walk": NAN, "reach": NAN}),
    Kind("turned_axis", "deg", "forward axis off about the vertical", turn_axis, {"walk": 37.0, "reach": 18.0}),
    Kind("tilted_axis", "deg", "up axis off about the axis across the way", tilt_axis, {"walk": 25.0, "reach": 9.0}),
    Kind("out_of_plane", "deg", "limb swings out of the plane and back", leave_plane, {"walk": 16.0, "reach": 27.0}),
    Kind("low_rate", "1", "every so manieth frame only", lower_rate, {"walk": 4.0, "reach": 8.0}),
    Kind("noise", "m", "noise of the markers, white or wandering", add_noise, {"walk": 0.016, "reach": 0.011}),
    Kind(
        "smoothed",
        "s",
        "markers low-passed before export: one over the cut-off",
        smooth_before,
        {"walk": 0.33, "reach": 0.5},
    ),
)

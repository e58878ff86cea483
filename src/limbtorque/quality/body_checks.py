"""Checks of sides, body mass and force plates against body movement.

Where every foot on the ground is on a plate, the sum of the forces is the body mass times the
acceleration of its centre of mass, less gravity (Newton's second law). The centre of mass is that of both legs by the table of
segment parameters, with the rest of the body at the midpoint of the hips. Metrics that a recording does not allow are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, beyond, lengths, runs, widened
from limbtorque.chain.segments import Row
from limbtorque.ground.assignment import PUSH_S
from limbtorque.ground.foot import MAX_CONTACT_SPEED_M_S, slow_frames
from limbtorque.ground.plates import Reading, means_around, read_plate
from limbtorque.motion.chain_motion import ExternalLoad
from limbtorque.motion.joint_centres import Placement, Side, both_sides
from limbtorque.motion.landmarks import contact_landmarks
from limbtorque.motion.limb import Limb
from limbtorque.quality.foot_checks import (
    HEEL_RAISED_M,
    LEAST_WAY_M,
    floor_slope_deg,
    foot_metrics,
    foot_reversed_share,
    pressure_note,
)
from limbtorque.recordings.recording import Recording
from limbtorque.signals.derivatives import differentiate
from limbtorque.signals.filters import low_pass
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.motion import axis_vector
from limbtorque.study.settings import Settings

CUTOFF_HZ = 6.0  # the centre of mass moves below 6 Hz in gait (Winter 2009, chapter 3)
SHORTEST_S = 0.25  # of known total force
FEWEST_FRAMES = 20  # of both limbs, for the filter
LARGEST_DELAY_S = 0.15
MOST_UNEXPLAINED = 0.5  # of the variance of the vertical force, for a delay; 0.05 to 0.4 in recorded walks
ABOVE_PRESSURE_M, LOW_M = (
    0.015,
    0.07,
)  # a marker on the ball of the foot: along the way from the pressure, and above the plate
UNSEEN = 0.2  # of the body's upward acceleration: what arms, head and a bending trunk add, which no marker here shows
LEANING = 0.8  # of its upward speed: what a leaning trunk adds along the way; head, arms and trunk are 0.68 of the mass
SEATED = 0.7  # of the thigh's length: with both hips less far above the knees a seat may carry the body


def centre_of_mass(model: ChainModel, sides: Sequence[Side], rows: Sequence[Row]) -> FloatArray:
    """Centre of mass of a body: both limbs, and the rest midway between the hips.

    Parameters
    ----------
    model : ChainModel
        Joints and segments of a limb.
    sides : sequence of dict
        Landmarks of both limbs, each of shape (n_frames, 3), m.
    rows : sequence of Row
        Parameters of the segments, proximal first.

    Returns
    -------
    ndarray of shape (n_frames, 3)
        Position, m; NaN where a landmark is missing.
    """
    rest = 1.0 - len(sides) * sum(row.mass for row in rows)
    total = np.zeros_like(next(iter(sides[0].values())))
    for side in sides:
        points = [side[joint.landmark] for joint in model.joints] + [side[model.end]]
        total += rest / len(sides) * points[0]
        for row, near, far in zip(rows, points[:-1], points[1:], strict=True):
            total += row.mass * (near + row.com * (far - near))
    return total


def total_force(
    recording: Recording,
    readings: Sequence[Reading],
    on_plates: BoolArray,
    slow: Sequence[BoolArray],
    frames: slice,
    settings: Settings,
) -> tuple[FloatArray, BoolArray]:
    """Sum of the plate forces, and the frames in which it is the total force.

    Parameters
    ----------
    recording : Recording
        Its force plates.
    readings : sequence of Reading
        Signals of those that are read already.
    on_plates : ndarray of bool, shape (n_frames, 2)
        Frames in which plates carry each foot, by the assignment of the plates.
    slow : sequence of ndarray of bool, shape (n_frames,)
        Frames in which each foot may stand on the ground.
    frames : slice
        The analysed frames.
    settings : Settings
        Options of the plates, and the axis upwards.

    Returns
    -------
    force_n : ndarray of shape (n_frames, 3)
        Total force, mean of the samples around each frame, pulling or not, N; NaN where samples are missing.
    known : ndarray of bool, shape (n_frames,)
        Frames in which a plate is loaded and no foot stands beside the plates, or did so `PUSH_S` before or after.
    """
    up, options = axis_vector(settings.plane.up_axis), settings.plates
    total, carried = np.zeros((len(on_plates), 3)), on_plates.copy()
    for plate in recording.force_plates:
        assigned = next((each for each in readings if each.plate is plate), None)
        reading = assigned or read_plate(plate, frames, recording.rate_hz, settings=options, up=up)
        samples, offset = reading.wrench, reading.offset
        if offset is None or reading.broken.any():
            part = slice(frames.start * reading.per_frame, frames.stop * reading.per_frame)
            samples = np.hstack([plate.force_n[part], plate.moment_nm[part]]) - (0.0 if offset is None else offset)
        wrench = means_around(samples, reading.per_frame)
        upward = wrench[:, :3] @ up
        loaded = upward > options.threshold_n
        total += np.where((loaded | np.isnan(upward))[:, None], wrench[:, :3], 0.0)
        if assigned is None:  # not among those given for this foot: for the other one
            carried[:, 1] |= loaded
    known: BoolArray = np.asarray(carried.any(axis=1) & ~np.isnan(total).any(axis=1))
    for on, standing in zip(carried.T, slow, strict=True):
        known &= ~_beside(on, standing, round(PUSH_S * recording.rate_hz))
    return total, known


def _beside(on: BoolArray, standing: BoolArray, around: int) -> BoolArray:
    """Frames around stances of a foot mostly off the plates."""
    beside = np.zeros_like(on)
    for start, stop in runs(standing):
        if on[start:stop].mean() < 0.5:
            beside[max(start - around, 0) : stop + around] = True
    return beside


def force_metrics(
    force_n: FloatArray,
    centre_m: FloatArray,
    known: BoolArray,
    *,
    rate_hz: float,
    mass_kg: float,
    gravity_m_s2: float,
    axes: FloatArray,
) -> dict[str, float]:
    """Compare the force on the body with the acceleration of its centre of mass.

    Parameters
    ----------
    force_n, centre_m : ndarray of shape (n_frames, 3)
        Total force, N, and centre of mass, m, without missing samples.
    known : ndarray of bool, shape (n_frames,)
        Frames in which the force is the whole force on the body.
    rate_hz, mass_kg, gravity_m_s2 : float
        Frames per second, given body mass, acceleration of gravity.
    axes : ndarray of shape (2, 3)
        Directions forward and upwards.

    Returns
    -------
    dict of str to float
        `weight_error_share`: vertical impulse over that which the given mass asks for, less one, absolute.
        `force_tilt_deg`: inclination of the mean force on the resting body, forward or backward.
        `force_residual_share`: root mean square vertical force that the acceleration does not explain, over the weight.
        `force_delay_s`: time by which the vertical force follows the acceleration, absolute; NaN where the acceleration
        explains less than half of the force at any delay.
        All NaN with less than `SHORTEST_S` of known force.
    """
    counted = np.zeros_like(known)
    for start, stop in runs(known):
        counted[start:stop] = stop - start >= SHORTEST_S * rate_hz
    names = ("weight_error_share", "force_tilt_deg", "force_residual_share", "force_delay_s")
    if not counted.any():
        return dict.fromkeys(names, float("nan"))
    cutoff_hz = min(CUTOFF_HZ, 0.4 * rate_hz)
    both = np.hstack([force_n @ axes.T, centre_m @ axes.T])
    force, smooth = np.hsplit(low_pass(both, rate_hz=rate_hz, cutoff_hz=cutoff_hz), 2)
    _, acceleration = differentiate(smooth, rate_hz=rate_hz, accuracy=2)
    asked = mass_kg * (acceleration + np.array([0.0, gravity_m_s2]))
    counted &= ~np.isnan(asked).any(axis=1)
    gain = force[counted, 1].sum() / asked[counted, 1].sum()
    resting = (force - mass_kg * acceleration)[counted].sum(axis=0)
    off = (force / gain - asked)[counted, 1] / (mass_kg * gravity_m_s2)
    upward = acceleration[counted, 1] / gravity_m_s2
    unseen = UNSEEN * float(np.sqrt((upward**2).mean()))  # of the body weight
    growth = np.gradient(acceleration[:, 1] / gravity_m_s2, 1.0 / rate_hz)[counted]
    hidden_s = unseen / max(float(np.sqrt((growth**2).mean())), 1e-12)
    swayed = LEANING * float(np.ptp(np.cumsum(upward))) / counted.sum()
    return {
        "weight_error_share": float(abs(gain - 1.0)),
        "force_tilt_deg": beyond(
            float(np.degrees(np.arctan2(resting[0], resting[1]))), float(np.degrees(np.arctan(swayed)))
        ),
        "force_residual_share": beyond(float(np.sqrt((off**2).mean())), unseen),
        "force_delay_s": beyond(_delay_s(force[:, 1] / gain, asked[:, 1], counted, rate_hz), hidden_s),
    }


def _delay_s(force: FloatArray, asked: FloatArray, counted: BoolArray, rate_hz: float) -> float:
    """Delay with the least variance of the difference, to fractions of a frame."""
    frames, reach = np.flatnonzero(counted), round(LARGEST_DELAY_S * rate_hz)
    shifts = np.arange(-reach, reach + 1)
    around = np.pad(asked, reach, constant_values=np.nan)
    off = force[frames, None] - around[frames[:, None] + reach - shifts]
    known = ~np.isnan(off)
    count = np.maximum(known.sum(axis=0), 1)
    off = np.where(known, off, 0.0)
    left = (off**2).sum(axis=0) / count - (off.sum(axis=0) / count) ** 2
    left[known.mean(axis=0) < 0.5] = np.inf
    best = int(np.argmin(left))
    if not left[best] < MOST_UNEXPLAINED * force[counted].var():
        return float("nan")
    between = 0.0
    if 0 < best < len(left) - 1:
        before, at, after = left[best - 1 : best + 2]
        if np.isfinite(before + after):
            between = 0.5 * (before - after) / max(before - 2.0 * at + after, 1e-12)
    return float((shifts[best] + between) / rate_hz)


def body_metrics(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
    placed: Placement,
    load: ExternalLoad,
    joint_m: FloatArray,
    readings: Sequence[Reading],
    unlike: Callable[[FloatArray], float],
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Metrics of sides, mass and plates of a trial in the sagittal plane.

    Parameters
    ----------
    recording : Recording
        Markers and plates.
    limb : Limb
        The limb and the given body mass.
    settings : Settings
        All options.
    placed : Placement
        Its plane and analysed frames.
    load : ExternalLoad
        Its load.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Its joints in the plane, m.
    readings : sequence of Reading
        Signals of the plates that may be used.
    unlike : callable
        Differences between the sides, m, over their limit by the stated errors (`quality.metrics`).

    Returns
    -------
    metrics : dict of str to float
        Those of `foot_metrics`, `force_metrics` and `both_sides` that apply: the first two need plates, the last two the other
        side's markers; only `sides_reversed_share` applies to a limb that does not meet the ground.
    notes : tuple of str
        On a centre of pressure that is far from the ball of the foot.
    """
    if placed.plane.view != "sagittal":
        return {}, ()
    model, axes, up = limb.model(settings), placed.plane.axes, axis_vector(settings.plane.up_axis)
    on_ground = model.ground_contact and model.foot and settings.plates.assignment != "none"
    on_plates = on_ground and len(recording.force_plates) > 0
    names = [*(joint.landmark for joint in model.joints), model.end]
    metrics: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    ankle, front = (placed.landmarks[name] @ axes[:2].T for name in names[-2:])
    heel = placed.landmarks["heel"] @ axes[:2].T if "heel" in placed.landmarks else None
    if model.ground_contact and heel is not None:
        metrics["foot_reversed_share"] = foot_reversed_share(heel, ankle, front)
    if on_plates:
        level = float(np.mean([plate.corners_m @ axes[1] for plate in recording.force_plates]))
        of_foot, on_toes, pressure_m = foot_metrics(
            load, joint_m, heel_m=heel, front_m=front, level_m=level, rate_hz=recording.rate_hz
        )
        metrics |= of_foot
        if on_toes and on_toes.shift_m > settings.quality.pressure_off_toes_m:
            markers_m = recording.markers_m[placed.prepared.stretch][on_toes.frames] @ axes[:2].T
            off_m = np.abs(
                markers_m - np.stack([pressure_m[on_toes.frames], np.full(len(on_toes.frames), level)], 1)[:, None]
            )
            fits = (np.median(off_m, axis=0) < [ABOVE_PRESSURE_M, LOW_M]).all(axis=1)
            near = [label for label, fit in zip(recording.labels, fits, strict=True) if fit]
            notes = (pressure_note(on_toes, f"the marker of {model.end}", near),)
    sides = both_sides(recording, limb, settings, placed.prepared.stretch)
    if sides is None:
        return metrics, notes
    left, right = (side[names[0]] for side in (sides if limb.side == "left" else sides[::-1]))
    metrics["sides_reversed_share"] = sides_reversed_share(left, right, forward=axes[0], up=up)
    if model.ground_contact:
        difference_m = side_differences_m(sides, names, up)
        metrics["sides_unlike_factor"] = unlike(difference_m)
    if on_plates:
        feet_m = [side[model.end] for side in sides]
        heights_m = [float((plate.corners_m @ up).mean()) for plate in recording.force_plates]
        if (
            load.metrics.get("plate_slope_deg", 0.0) < settings.quality.plate_slope_deg
            and np.ptp(heights_m) < HEEL_RAISED_M
        ):
            metrics["floor_slope_deg"] = floor_slope_deg(feet_m, forward=axes[0], up=up, rate_hz=recording.rate_hz)
        metrics |= _force_metrics(recording, limb, settings, placed, sides, readings, load)
    return metrics, notes


def _force_metrics(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    placed: Placement,
    sides: tuple[Side, Side],
    readings: Sequence[Reading],
    load: ExternalLoad,
) -> dict[str, float]:
    """Metrics of the total force over the longest part with both limbs."""
    model, axes, rate_hz = limb.model(settings), placed.plane.axes, recording.rate_hz
    centre = centre_of_mass(model, sides, limb.segment_rows(settings))
    complete = runs(~np.isnan(centre).any(axis=1))
    start, stop = max(complete, key=lambda run: run[1] - run[0], default=(0, 0))
    if stop - start < max(SHORTEST_S * rate_hz, FEWEST_FRAMES):
        return {}
    part = slice(start, stop)
    names = contact_landmarks(model, limb.landmarks(settings), settings.plates) or [model.end]
    belt, limit = -settings.plates.belt_speed_m_s * axes[0], MAX_CONTACT_SPEED_M_S
    force_n, known = total_force(
        recording,
        readings,
        load.on_plates,
        [
            slow_frames([side[name] for name in names], rate_hz=rate_hz, belt_m_s=belt, limit_m_s=limit)
            for side in sides
        ],
        placed.prepared.stretch,
        settings,
    )
    known &= ~load.partly
    up = axis_vector(settings.plane.up_axis)
    thighs = [side[model.joints[0].landmark] - side[model.joints[1].landmark] for side in sides]
    seated = np.all([thigh @ up < SEATED * lengths(thigh) for thigh in thighs], axis=0)
    known &= ~widened(seated, round(PUSH_S * rate_hz))
    metrics = force_metrics(
        force_n[part],
        centre[part],
        known[part],
        rate_hz=rate_hz,
        mass_kg=limb.body_mass_kg,
        gravity_m_s2=settings.gravity_m_s2,
        axes=np.stack([axes[0], up]),
    )
    # a trunk that unbends after sitting shifts the acceleration in time
    return metrics | ({"force_delay_s": float("nan")} if seated.any() else {})


def sides_reversed_share(left_m: FloatArray, right_m: FloatArray, *, forward: FloatArray, up: FloatArray) -> float:
    """Share of frames with the left hip or shoulder on the right side.

    Parameters
    ----------
    left_m, right_m : ndarray of shape (n_frames, 3)
        First joints of the two sides, m; frames with a missing one are not counted.
    forward, up : ndarray of shape (3,)
        Unit vectors.

    Returns
    -------
    float
        From 0 to 1; NaN where no frame has both.

    Examples
    --------
    >>> left, right = np.array([[0.0, 0.1, 1.0]]), np.array([[0.0, -0.1, 1.0]])
    >>> sides_reversed_share(left, right, forward=np.array([1.0, 0, 0]), up=np.array([0, 0, 1.0]))
    0.0
    """
    across = (left_m - right_m) @ np.cross(up, forward)
    known = ~np.isnan(across)
    return float((across[known] < 0.0).mean()) if known.any() else float("nan")


def side_differences_m(sides: Sequence[Mapping[str, FloatArray]], names: Sequence[str], up: FloatArray) -> FloatArray:
    """Differences between the two sides of a walking body.

    Parameters
    ----------
    sides : sequence of dict
        Landmarks of both limbs, each of shape (n_frames, 3), m.
    names : sequence of str
        Joints and end of a limb, proximal first.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    ndarray of shape (n_segments + 2,) or (n_segments + 1,)
        Median differences of the segments' lengths, and of the place of the first joint upwards and along the way, m: in walking
        the pelvis turns as far to one side as to the other. The way is from the first to the last place of the first
        joints; without one of `LEAST_WAY_M` it is left out. NaN where a landmark is never known.
    """
    points = [np.stack([side[name] for name in names], axis=1) for side in sides]
    known = ~np.isnan(points[0] + points[1]).any(axis=(1, 2))
    if not known.any():
        return np.full(len(names), np.nan)
    own, other = (each[known] for each in points)
    apart, middle = own[:, 0] - other[:, 0], (own[:, 0] + other[:, 0]) / 2.0
    way = middle[-1] - middle[0]
    way = way - (way @ up) * up
    distance = float(lengths(way))
    differences = [lengths(np.diff(own, axis=1)) - lengths(np.diff(other, axis=1)), (apart @ up)[:, None]]
    if distance > LEAST_WAY_M:
        differences.append((apart @ way / distance)[:, None])
    return np.asarray(np.median(np.hstack(differences), axis=0))

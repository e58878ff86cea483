"""Checks of one foot: force direction, centre of pressure, resting positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import FloatArray, runs
from limbtorque.ground.foot import slow_frames
from limbtorque.motion.chain_motion import ExternalLoad

SHEAR_SLOPE = 0.7  # 0.66 to 0.91 in 11 recorded stances, straight and turning
LEAST_TURN = 0.25  # of the line from the centre of pressure to the hip, as a slope; 0.5 and more in whole stances
LEAST_PASS = (
    0.1  # of this slope before and after the hip passes over the foot: in squats and jumps on the spot it does not
)
TOPPLING = 1.5  # of g T^2 / height of the hip: in shorter stances, such as of runs, the trunk has no time to turn
HEEL_RAISED_M = 0.03
ANKLE_RAISED_M = 0.02  # at the same angle: the ankle is at 0.7 of the way from the ball of the foot to the heel
FEWEST_ON_TOES = 3  # frames
HEEL_AHEAD_M, HEEL_WITHIN_M = 0.015, 0.02  # of the pressure at the strike: 0.02 to 0.03 in 8 recorded steps
AHEAD_OF_BALL_M = 0.008  # of the pressure on the toes: 0 to 0.016 in 15 recorded walks, straight and turning
LONGEST_TOE_M = 0.06  # from the head of a metatarsal to the tip of its toe
RESTING_M_S = 0.3  # of the front of a foot that rests
G_M_S2 = 9.80665
LEAST_WAY_M = 0.5  # of the hips: nearer to one place, the pelvis may face anywhere


def shear_error_share(force_n: FloatArray, pressure_m: FloatArray, hip_m: FloatArray, rate_hz: float) -> float:
    """Difference between a forward force and one that points above the hip.

    Parameters
    ----------
    force_n, pressure_m, hip_m : ndarray of shape (n_frames, 2)
        Force on one foot, N, its centre of pressure and the hip in the plane, x along the way, y up, m; NaN where unknown.
    rate_hz : float
        Frames per second.

    Returns
    -------
    float
        Slope of the force's direction over that of the line from the centre of pressure to the hip, relative to
        `SHEAR_SLOPE`, less one, absolute: 1 without a force along the way, 2 where braking and propulsion are exchanged.
        Directions are x over y about their means, weighted by the vertical force; the largest of all stances, since each may be
        on another plate. NaN without a stance of 0.15 s in which the line turns by `LEAST_TURN`.

    Notes
    -----
    The trunk stays upright only if the moment of the force about the centre of mass stays small. Forces in walking point to
    a pivot above the hip (Maus et al. 2010, Nature Communications 1, 70): their direction turns in proportion to that of
    the line to the hip. What such a moment turns the trunk by grows with the square of the time in which it acts, which counts
    against the time in which a pendulum of the hip's height falls over.
    """
    known = ~np.isnan(force_n + pressure_m + hip_m).any(axis=1)
    loaded = known & (force_n[:, 1] > 0.2 * np.nanmax(force_n[:, 1], initial=1.0))
    errors = []
    for start, stop in runs(loaded):
        part, weight = slice(start, stop), force_n[start:stop, 1]
        line, lean = hip_m[part] - pressure_m[part], force_n[part, 0] / weight
        turn = line[:, 0] / line[:, 1]
        passed = turn.min() < -LEAST_PASS and turn.max() > LEAST_PASS and turn[0] * turn[-1] < 0.0
        if stop - start < 0.15 * rate_hz or np.ptp(turn) < LEAST_TURN or not passed:
            continue
        toppled = G_M_S2 * ((stop - start) / rate_hz) ** 2 / float(line[:, 1].mean()) / TOPPLING
        turn = turn - np.average(turn, weights=weight)
        slope = float((weight * turn * lean).sum() / (weight * turn**2).sum())
        errors.append(abs(slope / SHEAR_SLOPE - 1.0) * min(toppled, 1.0))
    return max(errors, default=float("nan"))


@dataclass(frozen=True)
class PressureOnToes:
    """Centre of pressure against the foot, in the stance farthest from the ball.

    Attributes
    ----------
    frames : ndarray of int
        Frames in which the foot is on its toes.
    off_m : float
        Centre of pressure ahead of the front of the foot in these frames, m, median.
    heel_m : float
        Centre of pressure ahead of the heel while the front is raised, m, median; NaN where no frame shows it.
    """

    frames: np.ndarray
    off_m: float
    heel_m: float

    @property
    def shift_m(self) -> float:
        """Distance of the pressure from where it is in people, m."""
        return abs(self.off_m - AHEAD_OF_BALL_M)

    @property
    def by_marker(self) -> bool:
        """True where the pressure is right at the strike: the front marker is not."""
        return abs(self.heel_m - HEEL_AHEAD_M) < HEEL_WITHIN_M and abs(self.off_m) < LONGEST_TOE_M


def pressure_on_toes(
    pressure_m: FloatArray,
    upward_n: FloatArray,
    *,
    heel_m: FloatArray,
    front_m: FloatArray,
    raised_m: float = HEEL_RAISED_M,
) -> PressureOnToes | None:
    """Distance of the centre of pressure from the ball of a foot on its toes.

    Parameters
    ----------
    pressure_m, upward_n : ndarray of shape (n_frames,)
        Centre of pressure along the way, m, and vertical force on the foot, N.
    heel_m, front_m : ndarray of shape (n_frames, 2)
        Heel (or ankle) and head of metatarsal 2 in the plane, x along the way, y up, m.
    raised_m : float, optional
        Height of the heel above its lowest place from which on the foot is on its toes, m.

    Returns
    -------
    PressureOnToes or None
        Of the frames of a stance with at least 0.3 of the largest force in which the heel is raised and the front is within 2 cm
        of its lowest place: the foot then stands on the heads of the metatarsals. The stance with the largest distance, since each
        may be on another plate. None without a stance of `FEWEST_ON_TOES` such frames.
    """
    share = np.nan_to_num(upward_n) / np.nanmax(upward_n, initial=1.0)
    known = (share > 0.1) & ~np.isnan(pressure_m + heel_m[:, 1] + front_m[:, 1])
    stances = []
    for start, stop in runs(known):
        heel, front, pressure = heel_m[start:stop], front_m[start:stop], pressure_m[start:stop]
        heel_up, front_up = (end[:, 1] - end[:, 1].min() for end in (heel, front))
        on_toes = np.flatnonzero((share[start:stop] > 0.3) & (heel_up > raised_m) & (front_up < 0.02))
        if len(on_toes) >= FEWEST_ON_TOES:
            on_heel = (front_up > 0.02) & (heel_up < 0.02)
            ahead_m = float(np.median((pressure - heel[:, 0])[on_heel])) if on_heel.any() else np.nan
            stances.append(
                PressureOnToes(start + on_toes, float(np.median((pressure - front[:, 0])[on_toes])), ahead_m)
            )
    return max(stances, key=lambda stance: stance.shift_m, default=None)


def pressure_off_foot_m(
    pressure_m: FloatArray, upward_n: FloatArray, *, heel_m: FloatArray, front_m: FloatArray
) -> float:
    """Distance of the centre of pressure from a foot that stays flat, m.

    Parameters
    ----------
    pressure_m, upward_n, heel_m, front_m
        As of `pressure_on_toes`.

    Returns
    -------
    float
        Ahead of the front or behind the heel, median of the frames with at least 0.3 of the largest force; 0 between the two, NaN
        where fewer than `FEWEST_ON_TOES` frames are known.
    """
    ahead_m, behind_m = pressure_m - front_m[:, 0], heel_m[:, 0] - pressure_m
    known = (np.nan_to_num(upward_n) > 0.3 * np.nanmax(upward_n, initial=1.0)) & ~np.isnan(ahead_m + behind_m)
    if known.sum() < FEWEST_ON_TOES:
        return float("nan")
    return max(float(np.median(ahead_m[known])), float(np.median(behind_m[known])), 0.0)


def foot_metrics(
    load: ExternalLoad,
    joint_m: FloatArray,
    *,
    heel_m: FloatArray | None,
    front_m: FloatArray,
    level_m: float,
    rate_hz: float,
) -> tuple[dict[str, float], PressureOnToes | None, FloatArray]:
    """Metrics of the force under one foot.

    Parameters
    ----------
    load : ExternalLoad
        Force and couple at the last joint, in the plane.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joints in the plane, m.
    heel_m, front_m : ndarray of shape (n_frames, 2)
        Heel and front of the foot in the plane, m; without a heel (None) the ankle shows that the foot is on its toes.
    level_m, rate_hz : float
        Height of the plates along the plane's y axis, and frames per second.

    Returns
    -------
    metrics : dict of str to float
        `shear_error_share`, `pressure_off_toes_m`, and `pressure_shift_m`, the part of it that is in the torques: all of it, or
        nothing where the marker at the front is to blame.
    on_toes : PressureOnToes or None
        What the last two are from.
    pressure_m : ndarray of shape (n_frames,)
        Centre of pressure along the way, m.
    """
    forward, upward = load.force_n.T
    ankle = joint_m[:, -2]
    turning = load.couple_nm + (level_m - ankle[:, 1]) * forward
    along = ankle[:, 0] + np.divide(turning, upward, where=upward > 1.0, out=np.full(len(upward), np.nan))
    pressure = np.stack([along, np.full_like(along, level_m)], axis=1)
    back, raised = (ankle, ANKLE_RAISED_M) if heel_m is None else (heel_m, HEEL_RAISED_M)
    on_toes = pressure_on_toes(along, upward, heel_m=back, front_m=front_m, raised_m=raised)
    if on_toes and heel_m is None:
        on_toes = replace(on_toes, heel_m=float("nan"))
    off_m = on_toes.shift_m if on_toes else float("nan")
    if heel_m is not None and on_toes is None:
        off_m = pressure_off_foot_m(along, upward, heel_m=heel_m, front_m=front_m)
    metrics = {
        "shear_error_share": shear_error_share(load.force_n, pressure, joint_m[:, 0], rate_hz),
        "pressure_off_toes_m": off_m,
        "pressure_shift_m": 0.0 if on_toes and on_toes.by_marker else off_m,
    }
    return metrics, on_toes, along


def pressure_note(on_toes: PressureOnToes, label: str, near: Sequence[str]) -> str:
    """Sentence on a pressure that is not below the marker at the front of the foot.

    Examples
    --------
    >>> pressure_note(PressureOnToes(np.arange(9), -0.052, 0.02), "RTOE", ["RP1MT", "RP5MT"])
    'centre of pressure, heel raised: 5 cm behind RTOE: is that the tip of the toe? Above it: RP1MT, RP5MT'
    """
    where = "behind" if on_toes.off_m < 0.0 else "ahead of"
    asked = "is that the tip of the toe?" if on_toes.off_m < 0.0 else "is that behind the ball of the foot?"
    asked = asked if on_toes.by_marker else "are the plates shifted, or is their moment wrong?"
    fits = f" Above it: {', '.join(near)}" if near else ""
    return f"centre of pressure, heel raised: {100.0 * abs(on_toes.off_m):.0f} cm {where} {label}: {asked}{fits}"


def floor_slope_deg(feet_m: Sequence[FloatArray], *, forward: FloatArray, up: FloatArray, rate_hz: float) -> float:
    """Slope of the floor by the places where the front of each foot rests.

    Parameters
    ----------
    feet_m : sequence of ndarray of shape (n_frames, 3)
        Front of each foot, m.
    forward, up : ndarray of shape (3,)
        Unit vectors.
    rate_hz : float
        Frames per second.

    Returns
    -------
    float
        Angle, absolute, deg: the line through the mean places of at least 0.1 s, with a height of its own for each foot. NaN where
        no foot rests twice with `LEAST_WAY_M` between.
    """
    still = np.zeros(3)
    places = []
    for foot in feet_m:
        rest = slow_frames([foot], rate_hz=rate_hz, belt_m_s=still, limit_m_s=RESTING_M_S)
        at = [np.median(foot[start:stop], axis=0) for start, stop in runs(rest) if stop - start >= 0.1 * rate_hz]
        if len(at) > 1:
            places.append(np.array(at) - np.mean(at, axis=0))
    along, height = (np.concatenate(places) @ np.stack([forward, up], axis=1)).T if places else np.zeros((2, 1))
    if np.ptp(along) < LEAST_WAY_M:
        return float("nan")
    return float(np.degrees(np.arctan(abs(along @ height) / (along @ along))))


def foot_reversed_share(heel_m: FloatArray, ankle_m: FloatArray, front_m: FloatArray) -> float:
    """Share of frames with the ankle below the line from heel to front of the foot.

    Parameters
    ----------
    heel_m, ankle_m, front_m : ndarray of shape (n_frames, 2)
        Heel, ankle and front of the foot in the plane, x along the way, y up, m.

    Returns
    -------
    float
        From 0 to 1: 1 where the labels of ankle and heel are exchanged; NaN where no frame has all three.

    Examples
    --------
    >>> heel, ankle, front = np.array([[0.0, 0.04]]), np.array([[0.05, 0.08]]), np.array([[0.18, 0.04]])
    >>> foot_reversed_share(heel, ankle, front), foot_reversed_share(ankle, heel, front)
    (0.0, 1.0)
    """
    line, ankle = front_m - heel_m, ankle_m - heel_m
    above = line[:, 0] * ankle[:, 1] - line[:, 1] * ankle[:, 0]
    known = ~np.isnan(above)
    return float((above[known] < 0.0).mean()) if known.any() else float("nan")

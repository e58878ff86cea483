"""Height and slope of force plates, by the feet that stand on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.motion.foot import Foot
from limbtorque.motion.plate_signals import Reading

STANDING_M = 0.04  # the lower end of a standing foot: 0.020 to 0.054 m in 12 recorded stances, 0 in simulated ones
LOADED_SHARE = 0.2  # of the largest force on the foot: frames in which it stands
FEWEST_FRAMES = 3
LEAST_SLOPE_DEG = 5.0  # a step that speeds up or slows down leans by 2 degrees on average
LEAST_AREA_M2 = 1e-4  # a file that holds the wrench itself has no surface (recordings/wrenches.py)


def surface_metrics(
    readings: Sequence[Reading], owned: Sequence[BoolArray], foot: Foot, up: FloatArray
) -> dict[str, float]:
    """Compare the surface of each plate with the foot that stands on it.

    Parameters
    ----------
    readings : sequence of Reading
        Signals of the plates.
    owned : sequence of ndarray of bool, shape (n_frames,)
        Frames in which each plate measures this foot alone.
    foot : Foot
        The foot.
    up : ndarray of shape (3,)
        Unit vector upwards.

    Returns
    -------
    dict of str to float
        `plate_height_error_m`: the lower end of the foot above the surface, less `STANDING_M`, absolute; median over each stance,
        the largest of them. `plate_slope_deg`: angle between the surface and the horizontal, the largest of the plates in
        use. `slope_in_force_share`: lean of the mean force towards the normal of a plate that slopes by `LEAST_SLOPE_DEG`, over
        the slope, the largest of these plates: 0 on a ramp, 1 where the corners are wrong. NaN without a stance (of `FEWEST_FRAMES`
        for the height, whole for the lean), the slope also without corners, and the lean without such a plate.

    Notes
    -----
    The force that carries a body is vertical on average, on a ramp as well. Where corners slope and the plate does not, the
    whole force is turned with them, into their normal.

    The ends are the front of the foot and the heel, or the ankle without a heel. One of the two is always low: the heel at
    the strike, the front at push-off. Frames with less than `LOADED_SHARE` of the foot's largest force do not count.
    """
    pairs = list(zip(readings, owned, strict=True))
    largest_n = max((reading.vertical_n[own].max() for reading, own in pairs if own.any()), default=0.0)
    heights_m, slopes_deg, leans = [], [], []
    for reading, own in pairs:
        middle_m, normal, slope_deg = _surface(reading.plate.corners_m, up)
        low_m = np.fmin(foot.back_m @ normal, foot.front_m @ normal) - middle_m @ normal
        known = (reading.vertical_n > LOADED_SHARE * largest_n) & ~np.isnan(low_m)
        stances = [low_m[start:stop][known[start:stop]] for start, stop in runs(own)]
        heights_m += [float(np.median(low)) for low in stances if len(low) >= FEWEST_FRAMES]
        slopes_deg += [slope_deg] if own.any() else []
        if slope_deg > LEAST_SLOPE_DEG:
            whole = [slice(*run) for run in runs(own) if _is_whole(reading.vertical_n, run, LOADED_SHARE * largest_n)]
            impulse = sum((reading.mean[part, :3].sum(axis=0) for part in whole), start=np.zeros(3))
            leans += [_lean(impulse, normal, up)] if whole else []
    return {
        "plate_height_error_m": max((abs(height - STANDING_M) for height in heights_m), default=float("nan")),
        "plate_slope_deg": max((slope for slope in slopes_deg if not np.isnan(slope)), default=float("nan")),
        "slope_in_force_share": max(leans, default=float("nan")),
    }


def _is_whole(vertical_n: FloatArray, run: tuple[int, int], loaded_n: float) -> bool:
    """Return True for a stance before and after which there is little force."""
    start, stop = run
    return start > 0 and stop < len(vertical_n) and bool(max(vertical_n[start - 1], vertical_n[stop]) < loaded_n)


def _lean(force_n: FloatArray, normal: FloatArray, up: FloatArray) -> float:
    """Lean of a force from `up` towards a normal, as a share of the normal's own."""
    height = float(normal @ up)
    downhill = normal - height * up
    return float((force_n @ downhill) / (force_n @ up) * height / (downhill @ downhill))


def _surface(corners_m: FloatArray, up: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Middle, upward normal and slope of a surface; without corners `up`, and NaN."""
    middle_m, normal = corners_m.mean(axis=0), np.cross(corners_m[2] - corners_m[0], corners_m[3] - corners_m[1])
    size = float(np.linalg.norm(normal))
    if size < LEAST_AREA_M2:
        return middle_m, up, float("nan")
    normal = normal / size * (1.0 if normal @ up >= 0.0 else -1.0)
    return middle_m, normal, float(np.degrees(np.arccos(np.clip(normal @ up, -1.0, 1.0))))

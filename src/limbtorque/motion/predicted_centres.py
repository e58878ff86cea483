"""Joint centres predicted from landmarks on the skin.

docs/joint_centres.md has the equations side by side, the errors that imaging found, and the agreement with other programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.errors import SignalError
from limbtorque.study.chains import HipRegression, ShoulderOffset

DAVIS_THETA, DAVIS_BETA = np.radians(28.4), np.radians(18.0)
RAB_OFFSET = 0.17  # of the distance between the acromia


@dataclass(frozen=True)
class PublishedError:
    """Error of a rule by imaging.

    Attributes
    ----------
    mean_m, sd_m : float
        Mean and standard deviation over persons of the distance from the imaged centre, m; NaN where not published.
    source : str
        Study and method.
    """

    mean_m: float
    sd_m: float
    source: str


ERRORS: Mapping[str, PublishedError] = {
    "harrington_2007": PublishedError(0.0123, 0.0059, "Mantovani et al. 2016, CT of 67 adults"),
    "davis_1991": PublishedError(0.0250, 0.0067, "Mantovani et al. 2016, CT of 67 adults"),
    "bell_1990": PublishedError(0.0216, float("nan"), "Hicks and Richards 2005, ultrasound of 9 adults"),
    "rab_2002": PublishedError(float("nan"), float("nan"), "no imaging study known"),
}


@dataclass(frozen=True)
class Pelvis:
    """Measures of a person from which the hip's centre is predicted.

    Attributes
    ----------
    width_m : float
        Distance between the anterior superior iliac spines, m.
    depth_m : float
        From their middle to that of the posterior ones, m.
    leg_length_m : float
        From the anterior superior iliac spine to the medial malleolus, m; NaN where not known.
    marker_radius_m : float
        Radius of the markers on the anterior spines, m.
    """

    width_m: float
    depth_m: float
    leg_length_m: float
    marker_radius_m: float


def _harrington_2007(of: Pelvis) -> tuple[float, float, float]:
    return -0.24 * of.depth_m - 0.0099, -0.30 * of.width_m - 0.0109, 0.33 * of.width_m + 0.0073


def _bell_1990(of: Pelvis) -> tuple[float, float, float]:
    return -0.19 * of.width_m, -0.30 * of.width_m, 0.36 * of.width_m


def _davis_1991(of: Pelvis) -> tuple[float, float, float]:
    reach, behind = 0.115 * of.leg_length_m - 0.0153, 0.1288 * of.leg_length_m - 0.04856 + of.marker_radius_m
    return (
        float(-behind * np.cos(DAVIS_BETA) + reach * np.cos(DAVIS_THETA) * np.sin(DAVIS_BETA)),
        float(-behind * np.sin(DAVIS_BETA) - reach * np.cos(DAVIS_THETA) * np.cos(DAVIS_BETA)),
        float(of.width_m / 2.0 - reach * np.sin(DAVIS_THETA)),
    )


REGRESSIONS: Mapping[str, Callable[[Pelvis], tuple[float, float, float]]] = {
    "harrington_2007": _harrington_2007,
    "bell_1990": _bell_1990,
    "davis_1991": _davis_1991,
}
NEEDS_LEG_LENGTH = ("davis_1991",)


def hip_centre(
    rule: HipRegression,
    own_m: FloatArray,
    other_m: FloatArray,
    back_m: FloatArray,
    *,
    side: str,
    leg_length_m: float = math.nan,
    width_m: float = math.nan,
    marker_radius_m: float = 0.007,
) -> FloatArray:
    """Hip's centre by a regression on the pelvis.

    Parameters
    ----------
    rule : {"harrington_2007", "bell_1990", "davis_1991"}
        The regression.
    own_m, other_m : ndarray of shape (n_frames, 3)
        Anterior superior iliac spine of the hip's side and of the other one, m; NaN where missing.
    back_m : ndarray of shape (n_frames, 3)
        Middle of the posterior superior iliac spines, or sacrum, m.
    side : str
        ``"left"`` or ``"right"``.
    leg_length_m, marker_radius_m : float, optional
        As in `Pelvis`; used by ``davis_1991``.
    width_m : float, optional
        Measured distance between the anterior spines, m; that of the markers by default.

    Returns
    -------
    ndarray of shape (n_frames, 3)
        The centre, m; NaN where a landmark is missing.

    Raises
    ------
    SignalError
        The leg length is needed and not known, or the pelvis is never complete.

    Notes
    -----
    From the middle of the anterior spines, x forward in the plane of the spines, y up, z to the hip's side, with pelvic width
    w (between the anterior spines), depth d (from their middle to `back_m`) and leg length l, all in m; w and d of the markers
    are medians over time, so that the centre is fixed in the pelvis:

    Harrington et al. (2007), Journal of Biomechanics 40, 595-602, its equations of one variable for each axis:
    ``(-0.24 d - 0.0099, -0.30 w - 0.0109, 0.33 w + 0.0073)``.
    Bell et al. (1990), Journal of Biomechanics 23, 617-621: ``(-0.19 w, -0.30 w, 0.36 w)``.
    Davis et al. (1991), Human Movement Science 10, 575-587, with ``c = 0.115 l - 0.0153``, theta 28.4 and beta 18 degrees:
    ``(-a cos(beta) + c cos(theta) sin(beta), -a sin(beta) - c cos(theta) cos(beta), w / 2 - c sin(theta))``, where a is the depth
    of the hip behind the spine by Plug-in Gait, ``0.1288 l - 0.04856``, and the radius of the marker on it.
    """
    if rule in NEEDS_LEG_LENGTH and not leg_length_m > 0.0:
        raise SignalError(
            f"hip_centre {rule} needs the leg length (anterior superior iliac spine to medial malleolus); give leg_length_m in the "
            "table of subjects, or set hip_centre to harrington_2007, which does not need it"
        )
    middle = (own_m + other_m) / 2.0
    across = (own_m - other_m) * (1.0 if side == "right" else -1.0)
    width, depth = lengths(across), lengths(middle - back_m)
    known = ~np.isnan(width + depth) & (width > 0.0)
    if not known.any():
        raise SignalError(f"hip_centre {rule}: no frame has the spines of both sides; check the pelvis markers")
    measured_m = width_m if width_m > 0.0 else float(np.median(width[known]))
    pelvis = Pelvis(measured_m, float(np.median(depth[known])), leg_length_m, marker_radius_m)
    ahead, above, aside = REGRESSIONS[rule](pelvis)
    right = across / np.where(known, width, np.nan)[:, None]
    forward = middle - back_m
    forward = forward - np.sum(forward * right, axis=1, keepdims=True) * right
    forward = forward / lengths(forward)[:, None]
    up = np.cross(right, forward)
    return np.asarray(middle + ahead * forward + above * up + (aside if side == "right" else -aside) * right)


def shoulder_centre(rule: ShoulderOffset, own_m: FloatArray, other_m: FloatArray, down: FloatArray) -> FloatArray:
    """Shoulder's centre below the acromion.

    Parameters
    ----------
    rule : {"rab_2002"}
        The offset.
    own_m, other_m : ndarray of shape (n_frames, 3)
        Acromion of the shoulder's side and of the other one, m; NaN where missing.
    down : ndarray of shape (3,) or (n_frames, 3)
        Direction down the trunk, of any length.

    Returns
    -------
    ndarray of shape (n_frames, 3)
        The centre, m.

    Notes
    -----
    Rab, Petuskey and Bagley (2002), Gait and Posture 15, 113-119: 17 % of the distance between the acromia (median over time),
    perpendicular to the line between them, down the trunk.

    Examples
    --------
    >>> shoulder_centre("rab_2002", np.array([[0, 0.2, 1.4]]), np.array([[0, -0.2, 1.4]]), np.array([0, 0.3, -1])).round(3)
    array([[0.   , 0.2  , 1.332]])
    """
    across = own_m - other_m
    width = lengths(across)
    line = across / width[:, None]
    below = down - np.sum(down * line, axis=1, keepdims=True) * line
    offset_m = {"rab_2002": RAB_OFFSET}[rule] * float(np.nanmedian(width))
    return np.asarray(own_m + offset_m * below / lengths(below)[:, None])

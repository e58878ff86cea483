"""Body mass and segment lengths against the height and the static trial.

Usual lengths are shares of the height (Drillis and Contini 1966, in Winter 2009, figure 4.1). Legs of children are shorter: a
child of one or two years has about four fifths of an adult's share (sitting height over height by age: Fredriks et al. 2005, Arch
Dis Child 90). The usual body mass index follows the height: the medians of the WHO's growth standards (2006) and reference (2007)
by age, at the median height of that age, and for anyone as tall as a child of nine also the adult's.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.motion.joint_centres import side_landmarks
from limbtorque.motion.limb import Limb
from limbtorque.quality.checks import BY_NAME
from limbtorque.recordings.recording import Recording
from limbtorque.study.settings import Settings

LENGTH_SHARES = {
    "upper_arm": 0.186,
    "forearm": 0.146,
    "thigh": 0.245,
    "shank": 0.246,
}  # by row of the segment parameters
HEIGHT_M = (0.50, 0.68, 0.76, 0.87, 1.10, 1.38, 1.69, 1.77)  # medians at 0, 0.5, 1, 2, 5, 10, 15 and 19 years
BMI_KG_M2 = (13.4, 17.3, 16.8, 16.0, 15.3, 16.4, 19.8, 22.2)  # medians at these ages
ADULT_KG_M2, ADULT_FROM_M = 22.2, 1.35


def body_size(limb: Limb, settings: Settings, length_m: FloatArray) -> tuple[dict[str, float], tuple[str, ...]]:
    """Compare body mass and segment lengths with the given height.

    Parameters
    ----------
    limb : Limb
        Chain, body mass and height.
    settings : Settings
        The chains, and `quality` with the thresholds.
    length_m : ndarray of shape (n_segments,)
        Mean length of each segment, m.

    Returns
    -------
    metrics : dict of str to float
        `mass_for_height_factor`: the body mass over the usual one at this height, or its inverse where that is above one;
        1 within the usual range. `length_for_height_factor`: the same for the segments' lengths, median over segments.
        None without a height; no lengths without a segment of `LENGTH_SHARES`.
    notes : tuple of str
        A note for each metric above its threshold.
    """
    if math.isnan(limb.height_m):
        return {}, ()
    mass = mass_ratio(limb.body_mass_kg, limb.height_m)
    length = length_ratio([s.row for s in limb.model(settings).segments], length_m, limb.height_m)
    ratios = {"mass_for_height_factor": mass, "length_for_height_factor": length}
    metrics = {name: max(ratio, 1.0 / ratio) for name, ratio in ratios.items() if not math.isnan(ratio)}
    notes = {
        "mass_for_height_factor": f"mass for height: {limb.body_mass_kg:g} kg at {limb.height_m:g} m, body mass index "
        f"{limb.body_mass_kg / limb.height_m**2:.3g} kg/m^2",
        "length_for_height_factor": f"length for height: the segments are {length:.2g} times as long as usual at "
        f"{limb.height_m:g} m",
    }
    above = (name for name, value in metrics.items() if value > BY_NAME[name].allowed_at("", settings.quality))
    return metrics, tuple(notes[name] for name in above)


def mass_ratio(mass_kg: float, height_m: float) -> float:
    """Body mass relative to the usual mass at a height; 1 within the usual range.

    Examples
    --------
    >>> round(mass_ratio(72.0, 1.78), 3), round(mass_ratio(7.2, 1.78), 3)
    (1.024, 0.102)
    """
    index = mass_kg / height_m**2
    child = float(np.interp(height_m, HEIGHT_M, BMI_KG_M2))
    adult = ADULT_KG_M2 if height_m >= ADULT_FROM_M else child
    return index / min(max(index, child), adult) if child < adult else index / child


def length_ratio(rows: list[str], length_m: FloatArray, height_m: float) -> float:
    """Median segment length relative to the usual length at a height; NaN without any.

    Examples
    --------
    >>> round(length_ratio(["thigh", "shank", "foot"], np.array([0.46, 0.44, 0.1]), 1.8), 3)
    1.018
    """
    ratios = [
        length / (LENGTH_SHARES[row] * height_m)
        for row, length in zip(rows, length_m, strict=True)
        if row in LENGTH_SHARES
    ]
    return float(np.median(ratios)) if ratios else float("nan")


def static_unlike_share(
    recording: Recording, limb: Limb, settings: Settings, length_m: FloatArray
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Compare the lengths of segments with those in the static trial.

    Parameters
    ----------
    recording : Recording
        With its static trial.
    limb, settings
        Chain and markers; all options.
    length_m : ndarray of shape (n_segments,)
        Mean length of each segment in the trial, m.

    Returns
    -------
    metrics : dict of str to float
        `static_unlike_share`: largest difference over the length in the static trial; empty without a static trial that has the
        landmarks.
    notes : tuple of str
        A note where it is above its threshold.
    """
    if recording.static is None:
        return {}, ()
    model, mapping = limb.model(settings), limb.landmarks(settings).anatomical()
    standing = replace(recording.static, static=recording.static)
    frames = slice(0, standing.n_frames)
    at = side_landmarks(standing, mapping, set(model.landmarks), gaps=settings.gaps, frames=frames)
    known = np.stack([at[name] for name in model.landmarks], axis=1) if at else np.full((1, 1, 3), np.nan)
    known = known[~np.isnan(known).any(axis=(1, 2))]
    if not len(known):
        return {}, ()
    shares = length_m / lengths(np.diff(known, axis=1)).mean(axis=0) - 1.0
    largest = float(np.abs(shares).max())
    parts = (f"{segment.name} {100.0 * share:+.1f} %" for segment, share in zip(model.segments, shares, strict=True))
    note = f"lengths against those in the static trial {standing.source}: {', '.join(parts)}"
    above = largest > BY_NAME["static_unlike_share"].allowed_at("", settings.quality)
    return {"static_unlike_share": largest}, (note,) * above

"""Leg length and pelvis width of a subject, by its files or its static trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import lengths
from limbtorque.cli.init.known_sets import fits
from limbtorque.cli.init.survey import Seen
from limbtorque.study.chains import LEG

LEG_LENGTHS = ("PROCESSING:LLEGLENGTH", "PROCESSING:RLEGLENGTH")
PELVIS_WIDTH = "PROCESSING:INTERASISDISTANCE"
LEG_M, PELVIS_M = (0.3, 1.3), (0.1, 0.45)  # children to tall adults; each spans less than a factor of ten
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
FROM, TO = "anterior_superior_iliac_spine", "medial_malleolus"
Agreed = Callable[
    [str], tuple[float | None, list[str]]
]  # of a parameter: the number on which all files agree, and its source


@dataclass(frozen=True)
class PelvisMeasures:
    """Columns of the table of subjects for predicted hips; empty where unknown."""

    leg_length_m: str = ""
    pelvis_width_m: str = ""
    evidence: tuple[str, ...] = ()


def pelvis_measures(ones: Sequence[Seen], agreed: Agreed) -> PelvisMeasures:
    """Leg length and pelvis width by the files of a subject, or its markers.

    Parameters
    ----------
    ones : sequence of Seen
        The subject's recordings.
    agreed : callable
        Number on which the files agree for a parameter, and a sentence on its source.

    Notes
    -----
    The pelvis width of the markers is not proposed: it is used where the cell is empty.
    """
    evidence: list[str] = []
    legs = []
    for parameter in LEG_LENGTHS:
        number, said = agreed(parameter)
        length_m, unit = _in_m(number, LEG_M)
        if length_m:
            legs.append(length_m)
            evidence += [f"{sentence}; {unit} assumed" for sentence in said]
    number, said = agreed(PELVIS_WIDTH)
    width_m, unit = _in_m(number, PELVIS_M)
    if width_m:
        evidence += [f"{sentence}; {unit} assumed" for sentence in said]
    if not legs:
        legs, said = _by_markers(ones)
        evidence += said
    leg_m = f"{np.mean(legs):.3f}" if legs else ""
    return PelvisMeasures(leg_m, f"{width_m:.3f}" if width_m else "", tuple(evidence))


def _in_m(number: float | None, plausible_m: tuple[float, float]) -> tuple[float, str]:
    """Length in m and the unit in which it is plausible; 0 in none."""
    for unit, metres in UNITS.items() if number else ():
        if number and plausible_m[0] <= number * metres <= plausible_m[1]:
            return number * metres, unit
    return 0.0, ""


def _by_markers(ones: Sequence[Seen]) -> tuple[list[float], list[str]]:
    """Distances from spine to inner malleolus in a static trial, with their source."""
    for one in (one for one in ones if one.still):
        for body in one.bodies:
            found = []
            for fit in fits(body.labels, LEG):
                if FROM in fit.rules and TO in fit.rules and fit.side:
                    ends_m = (one.sampled(fit.rules[name], body.prefix).mean(axis=1) for name in (FROM, TO))
                    start_m, end_m = ends_m
                    away_m = lengths(end_m - start_m)
                    found += [float(np.nanmedian(away_m))] if np.isfinite(away_m).any() else []
            plausible = [length_m for length_m in found if LEG_M[0] <= length_m <= LEG_M[1]]
            if plausible:
                return plausible, [
                    f"leg length by the markers of {one.name}, from the anterior superior iliac spine to the medial malleolus"
                ]
    return [], []

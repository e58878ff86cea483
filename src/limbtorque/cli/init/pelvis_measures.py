"""Leg length and pelvis width of a subject, by its files or its static trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import lengths
from limbtorque.cli.init.known_sets import fits
from limbtorque.cli.init.statements import agreed, length_of
from limbtorque.cli.init.survey import Seen
from limbtorque.study.chains import LEG

LEG_LENGTHS = ("PROCESSING:LLEGLENGTH", "PROCESSING:RLEGLENGTH")
PELVIS_WIDTH = "PROCESSING:INTERASISDISTANCE"
LEG_M, PELVIS_M = (0.3, 1.3), (0.1, 0.45)  # children to tall adults; each spans less than a factor of ten
FROM, TO = "anterior_superior_iliac_spine", "medial_malleolus"


@dataclass(frozen=True)
class PelvisMeasures:
    """Columns of the table of subjects for predicted hips; empty where unknown."""

    leg_length_m: str = ""
    pelvis_width_m: str = ""
    evidence: tuple[str, ...] = ()


def pelvis_measures(ones: Sequence[Seen], *, certain: bool) -> PelvisMeasures:
    """Leg length and pelvis width by the files of a subject, or its markers.

    Parameters
    ----------
    ones : sequence of Seen
        The subject's recordings.
    certain : bool
        False where names do not say that the files are of one person.

    Notes
    -----
    The pelvis width of the markers is not proposed: it is used where the cell is empty.
    """
    evidence: list[str] = []
    legs = []
    for parameter in LEG_LENGTHS:
        length_m, said = agreed(
            ones, (parameter,), lambda text: length_of(text, LEG_M, "leg length"), one_person=certain
        )
        legs += [length_m] if length_m else []
        evidence += said
    width_m, said = agreed(
        ones, (PELVIS_WIDTH,), lambda text: length_of(text, PELVIS_M, "pelvis width"), one_person=certain
    )
    evidence += said
    if not legs and (certain or len(ones) == 1):
        legs, said = _by_markers(ones)
        evidence += said
    leg_m = f"{np.mean(legs):.3f}" if legs else ""
    return PelvisMeasures(leg_m, f"{width_m:.3f}" if width_m else "", tuple(evidence))


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

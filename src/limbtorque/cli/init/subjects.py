"""Subjects with the body mass, height and lengths that their recordings state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from limbtorque.arrays import lengths
from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.known_sets import fits
from limbtorque.cli.init.survey import Seen
from limbtorque.study.chains import LEG
from limbtorque.study.table_file import TO_DO
from limbtorque.tables.column import counted

MASS_PARAMETERS = ("PROCESSING:BODYMASS", "SUBJECT:WEIGHT")
HEIGHT_PARAMETERS = ("PROCESSING:HEIGHT", "SUBJECT:HEIGHT")
LEG_LENGTHS = ("PROCESSING:LLEGLENGTH", "PROCESSING:RLEGLENGTH")
PELVIS_WIDTH = "PROCESSING:INTERASISDISTANCE"
FROM, TO = "anterior_superior_iliac_spine", "medial_malleolus"
MASS_KG = (1.0, 400.0)
# shorter and longer ones are typed: a number of inches is never within one of these in cm
HEIGHT_M, LEG_M, PELVIS_M = (0.8, 2.4), (0.45, 1.3), (0.15, 0.45)
METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}
GRAVITY_M_S2 = 9.80665
LEAST_WEIGHT_N = 50.0  # on the plates: somebody stands on them
HEAVIER = 1.15  # a standing person who weighs more than so many times the stated mass has another one
Reads = Callable[[str], tuple[float | None, str]]  # of a text: the number, and what was assumed or is wrong


@dataclass(frozen=True)
class ProposedSubject:
    """A row of the table of subjects; `evidence` says where its numbers are from."""

    subject: str
    mass_kg: str
    height_m: str
    sex: str
    evidence: tuple[str, ...]
    leg_length_m: str = ""
    pelvis_width_m: str = ""


def propose_subject(
    name: str, recordings: Sequence[Seen], *, certain: bool = True, predicted_hip: bool = False
) -> ProposedSubject:
    """Mass and height of a subject from its files, with source, or to be filled in.

    Parameters
    ----------
    name : str
        The subject.
    recordings : sequence of Seen
        Its recordings, each with this subject alone (`Seen.alone`).
    certain : bool, optional
        False where names do not say that the files are of one person: all of them have to state a number then.
    predicted_hip : bool, optional
        True where a hip's centre is predicted, for which leg length and pelvis width count.
    """
    mass, evidence = agreed(recordings, MASS_PARAMETERS, mass_of, one_person=certain)
    height, said = agreed(recordings, HEIGHT_PARAMETERS, height_of, one_person=certain)
    evidence += said
    weights = {one.name: one.weight_n for one in recordings if one.still and one.weight_n > LEAST_WEIGHT_N}
    evidence += [
        f"{recording}, where nothing moves: {weight_n:.0f} N on the plates, {weight_n / GRAVITY_M_S2:.1f} kg"
        for recording, weight_n in weights.items()
    ]
    heaviest = max(weights.values(), default=0.0) / GRAVITY_M_S2
    if mass is not None and heaviest > HEAVIER * mass:
        evidence.append(f"the plates carry {heaviest:.1f} kg, more than the stated mass of {mass:g} kg: not used")
        mass = None
    sexes = [{text.strip().lower()[:1] for key, text in one.said if key == "SUBJECT:GENDER"} for one in recordings]
    sex = set[str]().union(*sexes) if certain or all(sexes) else set[str]()
    leg_m, width_m, said = _pelvis_measures(recordings, certain=certain) if predicted_hip else ("", "", [])
    evidence += said
    if mass is None:
        evidence.append("fill in the mass: segment masses are fractions of it")
    return ProposedSubject(
        subject=safe_name(name),
        mass_kg=f"{mass:.6g}" if mass is not None else TO_DO,
        height_m=f"{height:.6g}" if height is not None else "",
        sex=sex.pop() if len(sex) == 1 and sex <= {"f", "m"} else "",
        evidence=tuple(evidence),
        leg_length_m=leg_m,
        pelvis_width_m=width_m,
    )


def _pelvis_measures(recordings: Sequence[Seen], *, certain: bool) -> tuple[str, str, list[str]]:
    """Leg length by the files of a subject or its markers; pelvis width by its files.

    The pelvis width of the markers is not proposed: it is used where the cell is empty.
    """
    evidence: list[str] = []
    legs = []
    for parameter in LEG_LENGTHS:
        reads = partial(length_of, plausible_m=LEG_M, what="leg length")
        length_m, said = agreed(recordings, (parameter,), reads, one_person=certain)
        legs += [length_m] if length_m else []
        evidence += said
    reads = partial(length_of, plausible_m=PELVIS_M, what="pelvis width")
    width_m, said = agreed(recordings, (PELVIS_WIDTH,), reads, one_person=certain)
    evidence += said
    static = next((one for one in recordings if one.still and _legs_by_markers(one)), None)
    if not legs and static and (certain or len(recordings) == 1):
        legs = _legs_by_markers(static)
        what = "from the anterior superior iliac spine to the medial malleolus"
        evidence.append(f"leg length by the markers of {static.name}, {what}")
    return f"{np.mean(legs):.3f}" if legs else "", f"{width_m:.3f}" if width_m else "", evidence


def _legs_by_markers(static: Seen) -> list[float]:
    """Plausible distances from spine to inner malleolus in a static trial, m."""
    legs = []
    for body in static.bodies:
        for fit in (fit for fit in fits(body.labels, LEG) if {FROM, TO} <= set(fit.rules) and fit.side):
            start_m, end_m = (static.sampled(fit.rules[name], body.prefix).mean(axis=1) for name in (FROM, TO))
            away_m = lengths(end_m - start_m)
            legs += [float(np.nanmedian(away_m))] if np.isfinite(away_m).any() else []
    return [length_m for length_m in legs if LEG_M[0] <= length_m <= LEG_M[1]]


def mass_of(text: str) -> tuple[float | None, str]:
    """Body mass in kg of a text, and what is wrong with it.

    Examples
    --------
    >>> mass_of("45.8"), mass_of("0")
    ((45.8, ''), (None, "'0' is no body mass in kg"))
    """
    number = _number(text)
    plausible = number is not None and MASS_KG[0] <= number <= MASS_KG[1]
    return (number, "") if plausible else (None, f"{text!r} is no body mass in kg")


def height_of(text: str) -> tuple[float | None, str]:
    """Height in m of a text, and what was assumed or is wrong.

    Examples
    --------
    >>> height_of("1480"), height_of("71")[0]
    ((1.48, 'mm assumed'), None)
    """
    return length_of(text, HEIGHT_M, "height")


def length_of(text: str, plausible_m: tuple[float, float], what: str) -> tuple[float | None, str]:
    """Length in m of a number, in the one unit in which it is plausible.

    Parameters
    ----------
    text : str
        A number of m, cm or mm.
    plausible_m : (float, float)
        Shortest and longest, m; less than a factor of ten apart.
    what : str
        Name of the length.
    """
    number = _number(text)
    for unit, metres in METRES.items() if number is not None else ():
        if number is not None and plausible_m[0] <= number * metres <= plausible_m[1]:
            return round(number * metres, 6), f"{unit} assumed"
    return None, f"{text!r} is no plausible {what} in m, cm or mm"


def _number(text: str) -> float | None:
    """Number of a text; None where it is something else, or not finite."""
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def agreed(
    recordings: Sequence[Seen], parameters: Sequence[str], reads: Reads, *, one_person: bool
) -> tuple[float | None, list[str]]:
    """Number on which all files of a person agree, and sentences on its source.

    Parameters
    ----------
    recordings : sequence of Seen
        Recordings of one person each (`Seen.alone`).
    parameters : sequence of str
        Parameters that state the number.
    reads : callable
        Number of a text, with what was assumed or is wrong.
    one_person : bool
        False where it is not certain that all files are of one person: all of them have to state the number then.
    """
    stated = [{(name, text) for name, text in one.said if name in parameters} for one in recordings]
    stating = sum(any(reads(text)[0] is not None for _, text in pairs) for pairs in stated)
    said, wrong, values = list[str](), list[str](), dict[float, str]()
    names = [name for name in parameters if any(name == other for pairs in stated for other, _ in pairs)]
    for name in names:
        files = Counter(text for pairs in stated for other, text in pairs if other == name)
        read = {text: reads(text) for text in sorted(files)}
        good = {round(value, 6): text for text, (value, _) in read.items() if value is not None}
        if len(good) > 1:
            said.append(f"{name} differs between the files: {', '.join(sorted(good.values()))}")
        elif good:
            number = sum(files[text] for text, (value, _) in read.items() if value is not None)
            assumed = next((f"; {why}" for value, why in read.values() if value is not None and why), "")
            said.append(f"{name} is {next(iter(good.values()))} in {counted(number, 'file')}{assumed}")
        wrong += [f"{name}: {why}" for value, why in read.values() if value is None]
        values |= good
    said += wrong
    if len(values) != 1:
        contradict = len(names) > 1 and len(values) > 1
        return None, [*said, *(["the parameters contradict each other: none is used"] if contradict else [])]
    value = next(iter(values))
    if stating < len(recordings) and not one_person:
        return None, [
            f"{', '.join(names)} is {values[value]} in {stating} of {len(recordings)} files, and nothing says that the others are "
            "of the same person: not used"
        ]
    return value, said

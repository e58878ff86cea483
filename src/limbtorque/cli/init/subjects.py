"""Subjects with body mass, height and lengths stated in their recordings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from limbtorque.cli.init.folder import safe_name
from limbtorque.cli.init.survey import Seen
from limbtorque.study.subjects import MASS_KG
from limbtorque.study.table_file import TO_DO
from limbtorque.tables.column import counted

GRAVITY_M_S2 = 9.80665
LEAST_WEIGHT_N = 50.0  # on the plates: somebody stands on them
HEAVIER = 1.15  # a standing person who weighs more than so many times the stated mass has another one
OTHER_PERSON = (
    0.1  # a mass that differs by more from what plates carry in walking, which holds within 2 %, is another one's
)
MOST_WALKS = 3  # that are named
# shorter and longer ones are typed: a number of inches is never within one of these in cm
HEIGHT_M, LEG_M, PELVIS_M = (0.8, 2.4), (0.45, 1.3), (0.15, 0.45)
METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}
Reads = Callable[[str], tuple[float | None, str]]  # of a text: the number, and what was assumed or is wrong


@dataclass(frozen=True)
class ProposedSubject:
    """Proposed row of the table of subjects, with the source of its values."""

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
    """Mass and height of a subject from its files, with source, or TODO.

    Parameters
    ----------
    name : str
        The subject.
    recordings : sequence of Seen
        Its recordings, each with this subject alone (`Seen.alone`).
    certain : bool, optional
        False where names do not say that the files are of one person: all of them have to state a number then.
    predicted_hip : bool, optional
        True where a hip's centre is predicted, for which leg length and pelvis width count. Those of markers are not proposed.
    """
    evidence: list[str] = []

    def stated(reads: Reads, *parameters: str) -> float | None:
        value, sentences = agreed(recordings, parameters, reads, one_person=certain)
        evidence.extend(sentences)
        return value

    mass = stated(mass_of, "PROCESSING:BODYMASS", "SUBJECT:WEIGHT")
    height = stated(height_of, "PROCESSING:HEIGHT", "SUBJECT:HEIGHT")
    standing = [one for one in recordings if one.still and one.weight_n > LEAST_WEIGHT_N]
    for one in standing:
        kilograms = one.weight_n / GRAVITY_M_S2
        evidence.append(f"{one.name}, standing still: {one.weight_n:.0f} N on the plates, {kilograms:.1f} kg")
    walking = [one for one in recordings if one.walking_n > LEAST_WEIGHT_N]
    for one in walking[:MOST_WALKS]:
        kilograms = one.walking_n / GRAVITY_M_S2
        evidence.append(
            f"{one.name}, walking over two plates: they carry {one.walking_n:.0f} N, about {kilograms:.0f} kg"
        )
    heaviest = max((one.weight_n for one in standing), default=0.0) / GRAVITY_M_S2
    if mass is not None and heaviest > HEAVIER * mass:
        evidence.append(f"the plates measure {heaviest:.1f} kg, more than the stated mass of {mass:g} kg: not used")
        mass = None
    carried = float(np.median([one.walking_n for one in walking])) / GRAVITY_M_S2 if walking else 0.0
    if mass is not None and walking and abs(carried - mass) > OTHER_PERSON * mass:
        evidence.append(f"the plates carry {carried:.0f} kg in walking, not the stated mass of {mass:g} kg: not used")
        mass = None
    legs_m, pelvis_m = list[float](), None
    if predicted_hip:
        of_leg = partial(length_of, plausible_m=LEG_M, what="leg length")
        of_pelvis = partial(length_of, plausible_m=PELVIS_M, what="pelvis width")
        both = (stated(of_leg, f"PROCESSING:{side}LEGLENGTH") for side in "LR")
        legs_m = [length_m for length_m in both if length_m]
        pelvis_m = stated(of_pelvis, "PROCESSING:INTERASISDISTANCE")
    if mass is None:
        evidence.append("enter the body mass: segment masses are fractions of it")
    sexes = [{text.strip().lower()[:1] for key, text in one.said if key == "SUBJECT:GENDER"} for one in recordings]
    sex = set[str]().union(*sexes) if certain or all(sexes) else set[str]()
    return ProposedSubject(
        subject=safe_name(name),
        mass_kg=f"{mass:.6g}" if mass is not None else TO_DO,
        height_m=f"{height:.6g}" if height is not None else "",
        sex=sex.pop() if len(sex) == 1 and sex <= {"f", "m"} else "",
        evidence=tuple(evidence),
        leg_length_m=f"{np.mean(legs_m):.3f}" if legs_m else "",
        pelvis_width_m=f"{pelvis_m:.3f}" if pelvis_m else "",
    )


def mass_of(text: str) -> tuple[float | None, str]:
    """Body mass in kg from a text, and its faults.

    Examples
    --------
    >>> mass_of("45.8"), mass_of("0")
    ((45.8, ''), (None, "'0' is not a body mass in kg"))
    """
    mass_kg = _number(text)
    return (mass_kg, "") if MASS_KG[0] <= mass_kg <= MASS_KG[1] else (None, f"{text!r} is not a body mass in kg")


def height_of(text: str) -> tuple[float | None, str]:
    """Height in m from a text, with assumptions and faults.

    Examples
    --------
    >>> height_of("1480"), height_of("71")[0]
    ((1.48, 'mm assumed'), None)
    """
    return length_of(text, HEIGHT_M, "height")


def length_of(text: str, plausible_m: tuple[float, float], what: str) -> tuple[float | None, str]:
    """Length in m from a number, in the only plausible unit.

    Parameters
    ----------
    text : str
        A number of m, cm or mm.
    plausible_m : (float, float)
        Shortest and longest, m; less than a factor of ten apart.
    what : str
        Name of the length.
    """
    for unit, metres in METRES.items():
        if plausible_m[0] <= _number(text) * metres <= plausible_m[1]:
            return round(_number(text) * metres, 6), f"{unit} assumed"
    return None, f"{text!r} is not a plausible {what} in m, cm or mm"


def _number(text: str) -> float:
    """Number in a text; NaN if it is not a number."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return np.nan


def agreed(
    recordings: Sequence[Seen], parameters: Sequence[str], reads: Reads, *, one_person: bool
) -> tuple[float | None, list[str]]:
    """Number that all files of a person state, and sentences on its source.

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
    files = Counter(pair for one in recordings for pair in dict.fromkeys(one.said) if pair[0] in parameters)
    values, sentences = set[float](), list[str]()
    for (name, text), number in files.items():
        value, why = reads(text)
        if value is None:
            sentences.append(f"{name}: {why}")
        else:
            values.add(round(value, 6))
            sentences.append(f"{name} is {text} in {counted(number, 'file')}{f'; {why}' if why else ''}")
    if len(values) > 1:
        return None, [*sentences, "the numbers contradict each other: none is used"]
    n_stating = sum(any(name in parameters and reads(text)[0] for name, text in one.said) for one in recordings)
    if values and n_stating < len(recordings) and not one_person:
        return None, [
            *sentences,
            "not all files state it, and nothing says that the others are of the same person: not used",
        ]
    return next(iter(values), None), sentences

"""Subjects with the body mass and height given in their recordings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from limbtorque.cli.init.names import safe_name
from limbtorque.cli.init.pelvis_measures import PelvisMeasures, pelvis_measures
from limbtorque.cli.init.survey import Seen
from limbtorque.study.table_file import TO_DO

GRAVITY_M_S2 = 9.80665
LEAST_WEIGHT_N = 50.0  # on the plates: somebody stands on them
MASS_PARAMETERS = ("PROCESSING:BODYMASS", "SUBJECT:WEIGHT")
HEIGHT_PARAMETERS = ("PROCESSING:HEIGHT", "SUBJECT:HEIGHT")


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
    name: str, ones: Sequence[Seen], *, named: bool = True, predicted_hip: bool = False
) -> ProposedSubject:
    """Mass and height of a subject from its files, with source, or to be filled in.

    Parameters
    ----------
    name : str
        The subject.
    ones : sequence of Seen
        Its recordings.
    named : bool, optional
        False where neither files nor folders say that they are of one person.
    predicted_hip : bool, optional
        True where a hip's centre is predicted, for which leg length and pelvis width count.

    Notes
    -----
    What one file says is not lent to another person's: where the files are not known to be of one person, or name
    several, all of them have to say it.
    """
    evidence = []
    alone = [one for one in ones if len(one.bodies) == 1]
    people = {text for one in alone for parameter, text in one.said if parameter == "SUBJECTS:NAMES"}
    one_person = named and len(people) <= 1
    mass, said = _agreed(alone, MASS_PARAMETERS, one_person=one_person)
    evidence += said
    if mass is not None and not 1.0 <= mass <= 400.0:
        evidence.append(f"{mass:g} is not a plausible body mass in kg")
        mass = None
    height, said = _agreed(alone, HEIGHT_PARAMETERS, one_person=one_person)
    evidence += said
    if height is not None:
        height, unit = (
            (height, "m") if height < 3.0 else (height / 100.0, "cm") if height < 300.0 else (height / 1000.0, "mm")
        )
        evidence.append(f"the file gives no unit of height; {unit} assumed")
    evidence += [
        f"{one.name}, where nothing moves: {one.weight_n:.0f} N on the plates, {one.weight_n / GRAVITY_M_S2:.1f} kg"
        for one in ones
        if one.still and one.weight_n > LEAST_WEIGHT_N
    ]
    evidence += [
        f"{one.name}, on a treadmill: {one.weight_n:.0f} N on the plates on average, {one.weight_n / GRAVITY_M_S2:.1f} kg if it "
        "is of whole strides"
        for one in ones
        if not one.still and one.weight_n > LEAST_WEIGHT_N and any(body.belt_m_s for body in one.bodies)
    ]
    sexes = {text.strip().lower()[:1] for one in alone for parameter, text in one.said if parameter == "SUBJECT:GENDER"}

    def agreed(parameter: str) -> tuple[float | None, list[str]]:
        return _agreed(alone, (parameter,), one_person=one_person)

    measures = pelvis_measures(ones, agreed) if predicted_hip else PelvisMeasures()
    evidence += measures.evidence
    if mass is None:
        evidence.append("fill in the mass: segment masses are fractions of it")
    return ProposedSubject(
        subject=safe_name(name),
        mass_kg=f"{mass:g}" if mass is not None else TO_DO,
        height_m=f"{height:g}" if height is not None and 0.3 <= height <= 2.8 else "",
        sex=sexes.pop() if len(sexes) == 1 and sexes <= {"f", "m"} else "",
        evidence=tuple(evidence),
        leg_length_m=measures.leg_length_m,
        pelvis_width_m=measures.pelvis_width_m,
    )


def _agreed(ones: Sequence[Seen], parameters: Sequence[str], *, one_person: bool) -> tuple[float | None, list[str]]:
    """Number on which all files agree, and a sentence on its source."""
    for parameter in parameters:
        texts = sorted({text for one in ones for name, text in one.said if name == parameter})
        numbers = [float(text) for text in texts if re.fullmatch(r"\d+(\.\d+)?", text) and float(text) > 0.0]
        if len(numbers) == 1:
            files = sum(any(name == parameter for name, _ in one.said) for one in ones)
            if files < len(ones) and not one_person:
                return None, [
                    f"{parameter} is {numbers[0]:g} in {files} of {len(ones)} files, and nothing says that the others are of the "
                    "same person: not used"
                ]
            return numbers[0], [f"{parameter} is {numbers[0]:g} in {files} file{'s' * (files > 1)}"]
        if numbers:
            return None, [f"{parameter} differs between the files: {', '.join(texts)}"]
    return None, []

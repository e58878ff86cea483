"""Subjects with the body mass and height given in their recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbtorque.cli.init.names import safe_name
from limbtorque.cli.init.pelvis_measures import PelvisMeasures, pelvis_measures
from limbtorque.cli.init.statements import (
    HEIGHT_PARAMETERS,
    MASS_PARAMETERS,
    agreed,
    height_of,
    mass_of,
)
from limbtorque.cli.init.survey import Seen
from limbtorque.study.table_file import TO_DO

GRAVITY_M_S2 = 9.80665
LEAST_WEIGHT_N = 50.0  # on the plates: somebody stands on them
HEAVIER = 1.15  # a standing person who weighs more than so many times the stated mass has another one


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
    name: str, ones: Sequence[Seen], *, certain: bool = True, predicted_hip: bool = False
) -> ProposedSubject:
    """Mass and height of a subject from its files, with source, or to be filled in.

    Parameters
    ----------
    name : str
        The subject.
    ones : sequence of Seen
        Its recordings, each with this subject alone (`statements.of_body`).
    certain : bool, optional
        False where names do not say that the files are of one person: all of them have to state a number then.
    predicted_hip : bool, optional
        True where a hip's centre is predicted, for which leg length and pelvis width count.
    """
    mass, evidence = agreed(ones, MASS_PARAMETERS, mass_of, one_person=certain)
    height, said = agreed(ones, HEIGHT_PARAMETERS, height_of, one_person=certain)
    evidence += said
    weights = [one for one in ones if one.still and one.weight_n > LEAST_WEIGHT_N]
    evidence += [
        f"{one.name}, where nothing moves: {one.weight_n:.0f} N on the plates, {one.weight_n / GRAVITY_M_S2:.1f} kg"
        for one in weights
    ]
    heaviest = max((one.weight_n / GRAVITY_M_S2 for one in weights), default=0.0)
    if mass is not None and heaviest > HEAVIER * mass:
        evidence.append(f"the plates carry {heaviest:.1f} kg, more than the stated mass of {mass:g} kg: not used")
        mass = None
    evidence += [
        f"{one.name}, on a treadmill: {one.weight_n:.0f} N on the plates on average, {one.weight_n / GRAVITY_M_S2:.1f} kg if it "
        "is of whole strides"
        for one in ones
        if not one.still and one.weight_n > LEAST_WEIGHT_N and any(body.belt_m_s for body in one.bodies)
    ]
    sexes = [{text.strip().lower()[:1] for key, text in one.said if key == "SUBJECT:GENDER"} for one in ones]
    sex = set[str]().union(*sexes) if certain or all(sexes) else set[str]()
    measures = pelvis_measures(ones, certain=certain) if predicted_hip else PelvisMeasures()
    evidence += measures.evidence
    if mass is None:
        evidence.append("fill in the mass: segment masses are fractions of it")
    return ProposedSubject(
        subject=safe_name(name),
        mass_kg=f"{mass:.6g}" if mass is not None else TO_DO,
        height_m=f"{height:.6g}" if height is not None else "",
        sex=sex.pop() if len(sex) == 1 and sex <= {"f", "m"} else "",
        evidence=tuple(evidence),
        leg_length_m=measures.leg_length_m,
        pelvis_width_m=measures.pelvis_width_m,
    )

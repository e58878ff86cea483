"""What a report on joint moments should say, and what this study says; the table of landmarks."""

from __future__ import annotations

from typing import Any

from limbtorque.report.methods.curves import averaging, no_curve, normalisation, without_curve
from limbtorque.report.methods.forces import dynamics, force_filter, loads, muscles, segments
from limbtorque.report.methods.motion import derivatives, gaps, plane, position_filter
from limbtorque.report.methods.paragraph import excluded, frames, software
from limbtorque.report.methods.study import MethodsStudy, needed_landmarks, span, used_sets
from limbtorque.tables.words import listed

CHECKLIST_HEAD = (
    "Derrick et al. (2020) end in a checklist. Its abstract, which names the coordinate system, the normalisation and the internal or "
    "external perspective, was read for this table; the checklist itself was not, so compare with it before you submit. The other rows "
    "are what changes a moment in this program."
)


def checklist(study: MethodsStudy) -> list[tuple[str, str]]:
    """What to report, and what this study says."""
    if not study.done:
        return []
    axes = sorted({str(values[0]) for values in study.options("plane.up_axis")})
    return [
        (
            "coordinate system (named in the abstract)",
            f"{plane(study)} x forward, y up (to the left in a horizontal plane); laboratory up {', '.join(axes)}",
        ),
        (
            "internal or external moments (named in the abstract)",
            "internal: what the proximal segment does to the distal one",
        ),
        ("normalisation (named in the abstract)", _normalisation(study)),
        (
            "sign of moments",
            "counter-clockwise positive in the plane; the summary's column positive_is says what that is to the joint",
        ),
        ("point about which moments are taken", "the joint centres of the table of landmarks"),
        (
            "model",
            f"planar chain; {listed(sorted({str(row['chain']) for row in study.done}))}; the base moves as recorded",
        ),
        ("joint centres", "see the table of landmarks"),
        ("body segment parameters", segments(study)),
        ("filter of positions", position_filter(study)),
        ("filter of forces", force_filter(study)),
        ("differentiation", derivatives(study)),
        ("external loads", loads(study)),
        ("missing data", gaps(study)),
        ("sampling rate of the markers", span(study.done, "rate_hz", "Hz")),
        ("frames recorded and analysed", frames(study) or "not known"),
        ("frames left out", "within reach of the filter's ends, out of the plane, or of unknown ground force"),
        (
            "time normalisation and averaging",
            _averaging(study),
        ),
        ("excluded trials", " ".join(filter(None, (excluded(study), without_curve(study)))) or "none"),
        ("muscles", muscles(study) or "none"),
        ("checks", dynamics(study)),
        ("software", software(study)),
        ("participants, consent, markers' placement, cameras, instructions", "not known to the program: to be added"),
    ]


def _averaging(study: MethodsStudy) -> str:
    if not study.settings.ensembles.enabled:
        return "no curves were made"
    return "no trial has a curve" if no_curve(study) else f"{normalisation(study)} {averaging(study)}"


def _normalisation(study: MethodsStudy) -> str:
    options = study.settings.ensembles
    if not (options.enabled and options.per_body_mass):
        return "none in the tables: N m, N, W, J"
    return (
        "torques and powers of curves and ensembles by body mass: N m/kg, W/kg; none in the other tables: N m, N, W, J"
    )


def landmarks(study: MethodsStudy) -> list[str]:
    """Table of the landmarks and the markers they were taken from, lines of Markdown."""
    rows = []
    for name, chains in used_sets(study).items():
        rules = study.settings.marker_sets.get(name, {})
        for landmark in needed_landmarks(study, chains):
            by = study.settings.substitutes.get(name, {}).get(landmark, "")
            if landmark in rules:
                rows.append((name, landmark, _rule(rules[landmark])))
            elif by in rules:
                rows.append((name, landmark, f"{by} stands for it: {_rule(rules[by])}"))
    if not rows:
        return []
    head = ["| marker set | landmark | markers |", "| --- | --- | --- |"]
    return ["## Landmarks", "", *head, *(f"| {' | '.join(row)} |" for row in rows), ""]


def _rule(rule: Any) -> str:
    if hasattr(rule, "functional"):
        first, second = (", ".join(labels) for labels in rule.functional)
        return f"centre of rotation of ({first}) and ({second}); in depth {_rule(rule.anatomical)}"
    if hasattr(rule, "between"):
        return f"{rule.fraction:g} of the way from {rule.between[0]} to {rule.between[1]}"
    return rule if isinstance(rule, str) else f"mean of {', '.join(rule)}"

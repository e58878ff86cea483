"""The page of a subject beside a reference: what deviates, and how sure it is."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.figures.terms import TERM_NAMES
from limbtorque.report.page import decimals_for, fixed_point, largest_of, page_template
from limbtorque.statistics.reference import Beside, Key, percents
from limbtorque.study.options.contrasts import LEVEL
from limbtorque.study.options.reference import ENOUGH, LEAST_BAND
from limbtorque.study.subjects import Subject
from limbtorque.tables.column import capital, counted, listed
from limbtorque.uncertainty.bands import LIMITS

PAGE = page_template("report/subject.html.jinja")
SCRIPTS = ("base.js", "plots.js", "mean_curves.js", "plotly.min.js")
STYLES = {"reference": ("#7A7A7A", "dash"), "right": (LINE_COLOURS[1], "solid"), "left": (LINE_COLOURS[2], "solid")}
CURVE_HEADS = (
    *("limb", "joint", "curve", "outside the band", "of these beyond its error", "rms deviation", "its error"),
    *("usual in the reference", "share of the reference that deviates as much"),
)
UNKNOWN = "not known"
BASIS_HEADS = (
    *("limb, condition", "trials", "reference subjects", "walking speed (m/s)", "of the reference (m/s)"),
    "reference mean at this speed",
)
NUMBER_HEADS = (
    *(
        "limb",
        "joint",
        "number",
        "value",
        "reference",
        "its 95 % interval",
        "t",
        "degrees of freedom",
        "p",
        "adjusted p",
    ),
)


@dataclass(frozen=True)
class SubjectContents:
    """Contents of the page of a subject.

    Attributes
    ----------
    subject : Subject
        The subject.
    title : str
        Title of the study.
    reference : str
        Name of the reference.
    is_member : bool
        The subject is in the reference, and compared with the others.
    trials : sequence of mapping
        Rows of its trials in `results/ledger.csv`, each with ``page``, the path of its page from this one.
    compared : sequence of Beside
        Its curves and numbers.
    axes : mapping
        Label of the axis from 0 to 100 %, by chain and condition.
    """

    subject: Subject
    title: str
    reference: str
    is_member: bool
    trials: Sequence[Mapping[str, str]]
    compared: Sequence[Beside]
    axes: Mapping[Key, str]


def subject_page(contents: SubjectContents) -> str:
    """Text of a subject's page, determined by the contents alone."""
    curves = [each for each in contents.compared if each.is_curve]
    numbers = [each for each in contents.compared if not each.is_curve and not np.isnan(each.value[0])]
    outside = [each for each in curves if each.outside().any()]
    differing = [each for each in numbers if each.p_adjusted <= LEVEL]
    return PAGE.render(
        root="../",
        scripts=SCRIPTS if curves else (),
        title=f"{contents.subject.name} beside the reference",
        contents=contents,
        sentences=[*_of_curves(curves), *_of_numbers(differing)],
        n_outside=len(outside),
        n_banded=sum(not np.isnan(each.factor) for each in curves),
        sure=list(_how_sure(contents, curves)),
        basis_heads=BASIS_HEADS,
        basis=[_basis_cells(*each) for each in _by_condition(curves).items()],
        few=_few(contents.compared),
        status=Counter(row["torque_status"] for row in contents.trials),
        curve_heads=CURVE_HEADS,
        outside=[_curve_cells(each) for each in outside],
        curves=[_curve_cells(each) for each in curves],
        number_heads=NUMBER_HEADS,
        differing=[_number_cells(each) for each in differing],
        numbers=[_number_cells(each) for each in numbers],
        drawing=_drawing(contents, curves) if curves else None,
    )


def _name(each: Beside) -> str:
    """Name of a curve or number, without its joint."""
    _, quantity, term, statistic, _ = each.shown
    of_torque = {"": quantity, "net": "net torque"}.get(term, f"torque: {TERM_NAMES.get(term, term)}")
    return of_torque.replace("_", " ") if statistic in ("curve", "mean") else f"{statistic}. {of_torque}"


def _condition(chain: str, condition: str) -> str:
    return ", ".join(filter(None, (chain, condition)))


def _limb(each: Beside) -> str:
    """Side and chain with the condition."""
    return f"{each.side} {_condition(each.chain, each.condition)}"


def _of_curves(curves: Sequence[Beside]) -> Iterator[str]:
    """Sentences on curves outside their bands, of a net torque with its terms."""
    for each in curves:
        if each.shown.term in ("", "net") and each.outside().any():
            joint, unit = each.shown.joint, each.shown.unit
            amount = f"{each.rms:.2g}" + (f" ± {each.rms_error:.1g}" if not math.isnan(each.rms_error) else "")
            beyond = f" (beyond its error: {certain})" if (certain := _certain(each)) not in ("", UNKNOWN) else ""
            text = f"{capital(_limb(each))}: {joint} {_name(each)} outside the band at {percents(each.outside())}{beyond}, rms deviation {amount} {unit}"
            terms = [
                f"{TERM_NAMES[other.shown.term]} ({other.rms:.2g})"
                for other in sorted(curves, key=lambda other: -other.rms)
                if (other.side, other.condition, other.chain, other.shown.joint)
                == (each.side, each.condition, each.chain, joint)
                and each.shown.term == "net"
                and other.shown.term in TERM_NAMES
                and other.outside().any()
            ]
            no_terms = "; no term by itself is outside" if each.shown.term == "net" else ""
            yield text + (f"; terms outside: {listed(terms)}" if terms else no_terms) + "."


def _of_numbers(differing: Sequence[Beside]) -> Iterator[str]:
    for each in differing:
        value, unit = each.value[0], each.shown.unit
        yield (
            f"{capital(_limb(each))}: {each.shown.joint} {_name(each)} {value:.3g} {unit}, expected {_interval(each)}, "
            f"adjusted p {each.p_adjusted:.2g}."
        )


def _interval(each: Beside) -> str:
    if np.isnan(each.half[0]):
        return ""
    return f"{each.mean[0] - each.half[0]:.3g} to {each.mean[0] + each.half[0]:.3g}"


def _few(compared: Sequence[Beside]) -> str:
    """Warning where the reference is small; empty where it is large enough."""
    least = min((each.n_reference for each in compared), default=0)
    if least >= ENOUGH:
        return ""
    of = counted(least, "reference subject")
    if least < LEAST_BAND:
        return f"Only {of}: far too few to tell what is usual. There are no bands below {LEAST_BAND}; expected {ENOUGH} or more."
    return f"Only {of}: means and bands are rough; expected {ENOUGH} or more."


def _how_sure(contents: SubjectContents, curves: Sequence[Beside]) -> Iterator[str]:
    """Sentences on what the comparison rests on."""
    without = "; the subject itself is left out" if contents.is_member else ""
    yield f"Each subject of the reference counts once, with the mean of its sides{without}."
    by_condition = _by_condition(curves)
    if far := [_condition(*key) for key, (first, *_) in by_condition.items() if first.at_speed and not _within(first)]:
        yield f"Extrapolated, because the subject walks at a speed that the reference has not: {'; '.join(far)}."
    if uncorrected := [
        _condition(*key)
        for key, (first, *_) in by_condition.items()
        if not (first.at_speed or math.isnan(first.speed_m_s))
    ]:
        yield f"Not corrected for walking speed: {'; '.join(uncorrected)}."
    if missing := sorted(_condition(*key) for key in contents.axes.keys() - by_condition.keys()):
        yield f"Not compared, as the reference or the subject has no curve: {'; '.join(missing)}."
    if any(not np.isnan(each.error).all() for each in curves):
        yield (
            "Dotted lines, and errors of rms deviations: errors of the inputs (joint centres, plates, filter) in the subject's "
            "own net torques. Those of the reference are in its spread."
        )
    elif curves:
        yield "The errors of the subject's own torques are not known (torques.bands)."


def _by_condition(curves: Sequence[Beside]) -> dict[Key, list[Beside]]:
    """Curves by chain and condition, those with most curves outside their bands first."""
    found: dict[Key, list[Beside]] = {}
    for each in curves:
        found.setdefault((each.chain, each.condition), []).append(each)
    return dict(sorted(found.items(), key=lambda item: -sum(each.outside().any() for each in item[1])))


def _within(each: Beside) -> bool:
    """Return True where the reference walked at the subject's speed."""
    return each.speeds_m_s[0] <= each.speed_m_s <= each.speeds_m_s[1]


def _basis_cells(key: Key, curves: Sequence[Beside]) -> tuple[str, ...]:
    """Cells of `BASIS_HEADS` of a condition."""
    first, trials = curves[0], {each.side: each.n_trials for each in curves}
    sizes = sorted({each.n_reference for each in curves})
    low, high = first.speeds_m_s
    return (
        _condition(*key),
        ", ".join(f"{n} {side}" for side, n in trials.items()),
        " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1])))),
        "" if math.isnan(first.speed_m_s) else f"{first.speed_m_s:.2f}",
        "" if math.isnan(low + high) else f"{low:.2f} to {high:.2f}",
        "yes, by regression" if first.at_speed else "no",
    )


def _certain(each: Beside) -> str:
    """Points outside the band whatever the error of the curve."""
    if not each.outside().any():
        return ""
    return UNKNOWN if np.isnan(each.error).all() else percents(each.outside(LIMITS)) or "none"


def _curve_cells(each: Beside) -> tuple[str, ...]:
    return (
        *(_limb(each), each.shown.joint, _name(each), percents(each.outside()), _certain(each)),
        f"{each.rms:.3g} {each.shown.unit}",
        *("" if math.isnan(size) else f"{size:.2g}" for size in (each.rms_error, each.usual_rms)),
        "" if math.isnan(each.larger_share) else f"{100.0 * each.larger_share:.0f} %",
    )


def _number_cells(each: Beside) -> tuple[str, ...]:
    p = ["" if math.isnan(p) else f"{p:.2g}" for p in (each.p, each.p_adjusted)]
    return (
        *(
            _limb(each),
            each.shown.joint,
            f"{_name(each)} ({each.shown.unit})",
            f"{each.value[0]:.3g}",
            f"{each.mean[0]:.3g}",
        ),
        *(_interval(each), "" if math.isnan(each.t) else f"{each.t:.2f}", str(each.freedom), *p),
    )


def _drawing(contents: SubjectContents, curves: Sequence[Beside]) -> dict[str, Any]:
    """Data of the curves, as `mean_curves.js` draws them."""
    styles = [
        {
            "name": "reference, band for 95 % of whole curves" if name == "reference" else name,
            "colour": colour,
            "dash": dash,
        }
        for name, (colour, dash) in STYLES.items()
    ]
    drawn: list[dict[str, Any]] = []
    seen = set()
    for each in (each for of_condition in _by_condition(curves).values() for each in of_condition):
        place = (each.chain, each.condition, each.shown)
        if place not in seen:
            seen.add(place)
            drawn.append(_curve(each, "reference", each.mean, sd=each.half))
        drawn.append(_curve(each, each.side, each.value, limit=LIMITS * each.error))
    axes = {_condition(*key): text for key, text in contents.axes.items()}
    terms = [each for each in curves if each.shown.term in TERM_NAMES and each.outside().any()]
    largest = max(terms, key=lambda each: each.rms, default=None)
    return {"styles": styles, "curves": drawn, "axes": axes, "first": _name(largest) if largest else "power"}


def _curve(
    each: Beside, style: str, mean: FloatArray, sd: FloatArray | None = None, limit: FloatArray | None = None
) -> dict[str, Any]:
    """Entry of a line with its band, or with the limits of its errors."""
    n, units = (each.n_trials, "trials") if sd is None else (each.n_reference, "subjects")
    decimals = decimals_for(largest_of(mean), 4)
    return {
        "chain": _condition(each.chain, each.condition),
        "joint": each.shown.joint,
        "name": _name(each),
        "unit": each.shown.unit,
        "style": list(STYLES).index(style),
        "number": counted(n, units[:-1]),
        "most": n,
        "counts": [],
        "drawn": True,
        "unit_counts": [n],
        "units": units,
        "averaged": None,
        "percent": _percents(len(mean)),
        "mean": fixed_point(mean, decimals),
        "sd": _unknown(len(mean)) if sd is None else fixed_point(sd, decimals),
        "limit": None if limit is None or np.isnan(limit).all() else fixed_point(limit, decimals),
    }


@functools.cache
def _percents(n_points: int) -> dict[str, Any]:
    return fixed_point(np.linspace(0.0, 100.0, n_points), 1)


@functools.cache
def _unknown(n_points: int) -> dict[str, Any]:
    return fixed_point(np.full(n_points, np.nan), 0)

"""The page of a subject beside a reference: what deviates, and how sure it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.figures.terms import TERM_NAMES
from limbtorque.report.page import decimals_for, fixed_point, largest_of, page_template
from limbtorque.statistics.reference import CURVE, Beside
from limbtorque.study.options.contrasts import LEVEL
from limbtorque.study.options.reference import ENOUGH, LEAST_BAND
from limbtorque.study.subjects import Subject
from limbtorque.tables.column import counted, without_unit
from limbtorque.uncertainty.bands import LIMITS

PAGE = page_template("report/subject.html.jinja")
Key = tuple[str, str]  # chain and condition
SCRIPTS = ("base.js", "plots.js", "mean_curves.js", "plotly.min.js")
STYLES = {  # lines
    "reference, band for 95 % of whole curves": ("#7A7A7A", "dash"),
    "right": (LINE_COLOURS[1], "solid"),
    "left": (LINE_COLOURS[2], "solid"),
}
REFERENCE = next(iter(STYLES))


def subject_page(
    subject: Subject,
    *,
    title: str,
    reference: str,
    trials: Sequence[Mapping[str, str]],
    compared: Sequence[Beside],
    axes: Mapping[Key, str],
) -> str:
    """Text of a subject's page, determined by the arguments alone.

    Parameters
    ----------
    subject : Subject
        The subject.
    title, reference : str
        Title of the study, and name of the reference.
    trials : sequence of mapping
        Rows of its trials in `results/ledger.csv`, each with ``page``, the path of its page from this one.
    compared : sequence of Beside
        Its curves and numbers.
    axes : mapping of tuple to str
        Label of the axis from 0 to 100 %, by chain and condition.
    """
    drawn = _most_outside_first([each for each in compared if each.shown.statistic == CURVE])
    return PAGE.render(
        root="../",
        scripts=SCRIPTS if drawn else (),
        title=f"{subject.name} beside the reference",
        study_title=title,
        person=subject,
        reference=reference,
        trials=trials,
        rows=[{**each.row, "name": _name(each), "of": _of(each)} for each in compared],
        banded=sum(not np.isnan(each.half).all() for each in drawn),
        conditions=[_condition(*key) for key in axes],
        level=LEVEL,
        enough=ENOUGH,
        least_band=LEAST_BAND,
        terms=TERM_NAMES,
        drawing=_drawing(drawn, axes) if drawn else None,
    )


def _name(each: Beside) -> str:
    """Name of a curve or number, without its joint."""
    _, quantity, term, statistic, unit = each.shown
    if term not in ("", "net"):
        return f"torque: {TERM_NAMES[term]}"
    name = "net torque" if term else without_unit(quantity, unit)
    return f"{'' if statistic in (CURVE, 'mean') else f'{statistic}. '}{name}"


def _condition(chain: str, condition: str) -> str:
    return ", ".join(filter(None, (chain, condition)))


def _of(each: Beside) -> str:
    return _condition(each.row["chain"], each.row["condition"])


def _most_outside_first(curves: Sequence[Beside]) -> list[Beside]:
    """Curves, the conditions with the most curves outside their bands first."""
    outside = Counter(_of(each) for each in curves if each.row["outside"])
    return sorted(curves, key=lambda each: -outside[_of(each)])


def _drawing(curves: Sequence[Beside], axes: Mapping[Key, str]) -> dict[str, Any]:
    """Data of the curves, as `mean_curves.js` draws them."""
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for each in curves:
        side, n_reference = each.row["side"], counted(each.row["n_reference"], "subject")
        lines.setdefault((_of(each), each.shown), _line(each, REFERENCE, n_reference, each.mean, sd=each.half))
        n_trials = counted(each.row["n_trials"], "trial")
        lines[_of(each), each.shown, side] = _line(each, side, n_trials, each.value, limit=LIMITS * each.error)
    terms = [each for each in curves if each.shown.term in TERM_NAMES and each.row["outside"]]
    largest = max(terms, key=lambda each: float(each.row["rms_deviation"]), default=None)
    return {
        "styles": [{"name": name, "colour": colour, "dash": dash} for name, (colour, dash) in STYLES.items()],
        "curves": list(lines.values()),
        "percent": fixed_point(np.linspace(0.0, 100.0, len(curves[0].mean)), 1),
        "axes": {_condition(*key): text for key, text in axes.items()},
        "first": _name(largest) if largest else "power",
    }


def _line(each: Beside, style: str, number: str, mean: FloatArray, **around: FloatArray) -> dict[str, Any]:
    """Entry of a line with its band, or the limits of its errors."""
    decimals = decimals_for(largest_of(mean), 4)
    return {
        "chain": _of(each),
        "joint": each.shown.joint,
        "name": _name(each),
        "unit": each.shown.unit,
        "style": list(STYLES).index(style),
        "number": number,
        "drawn": True,
        "mean": fixed_point(mean, decimals),
        **{name: fixed_point(size, decimals) for name, size in around.items() if not np.isnan(size).all()},
    }

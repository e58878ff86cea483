"""The page of a trial: flags, curves, summary, recording, metrics, provenance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from limbtorque.figures.palette import TERM_COLOURS
from limbtorque.figures.terms import TERM_NAMES
from limbtorque.ground.reaction import LOST
from limbtorque.quality.metric_columns import QUALITY_COLUMNS
from limbtorque.quality.verdict import Verdict, note_that_begins
from limbtorque.report.bands import band_sentences
from limbtorque.report.page import AFFECTS, REASONS, amount, page_template
from limbtorque.report.panels import Drawing

PAGE = page_template("report/trial.html.jinja")
SCRIPTS = ("base.js", "plots.js", "panels.js", "readout.js", "limb.js", "trial.js", "plotly.min.js")
INK = "currentColor"  # of the net torque
ROOT = "../../"


@dataclass(frozen=True)
class TrialContents:
    """Contents of the page of a trial.

    Attributes
    ----------
    name, title, reason, message : str
        The trial, the study, and the reason and message of a failure.
    verdict : Verdict
        Its status, joint by joint, and its flags.
    about : dict of str to str
        Names and values at the top of the page.
    metrics : dict of str to dict of str to float
        Its quality metrics by name and joint; an empty joint is the whole trial.
    audit : sequence of dict
        Findings about the file: item, stated, interpretation, to_settle.
    notes : sequence of str
        Other notes.
    summary : sequence of dict
        Rows of the summary, flexion positive.
    beside_file : sequence of dict
        Comparison with the results of another program in the recording.
    tables, pictures : dict of str to str
        Text and path, from the page, of what belongs to the trial.
    provenance : dict of str to str
        Hashes and versions.
    drawing : Drawing or None
        Curves; None for a trial without.
    """

    name: str
    title: str
    verdict: Verdict
    reason: str
    message: str
    about: Mapping[str, str]
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    audit: Sequence[Mapping[str, str]] = ()
    notes: Sequence[str] = ()
    summary: Sequence[Mapping[str, Any]] = ()
    beside_file: Sequence[Mapping[str, Any]] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    drawing: Drawing | None = None


def trial_page(contents: TrialContents) -> str:
    """Text of a trial's page, determined by the contents alone."""
    drawing = contents.drawing
    kind = contents.reason.split(" ")[0]
    rows = [_summary_row(row, contents.verdict) for row in contents.summary]
    return PAGE.render(
        root=ROOT,
        scripts=SCRIPTS if drawing else (),
        title=f"{contents.name}: {contents.verdict.status}",
        trial=contents,
        verdict=_verdict(contents),
        kind=kind,
        advice=REASONS.get(kind, REASONS["trial"]),
        affects=AFFECTS,
        drawing=drawing,
        nth={2: "second", 3: "third"}.get(drawing.step, f"{drawing.step}th") if drawing else "",
        percent=_percent(drawing.data["window"]) if drawing else "",
        n_drawn=len(drawing.data["curves"]["time_s"]["steps"]) if drawing else 0,
        terms=[("net", "net", INK), *((kind, TERM_NAMES[kind], colour) for kind, colour in TERM_COLOURS.items())],
        summary_head=list(SUMMARY.values()),
        summary=rows,
        net=[row for row, of in zip(rows, contents.summary, strict=True) if of["term"] == "net"],
        bands=band_sentences(contents.summary, contents.verdict.rejected_joints),
        star=_star,
        beside_head=list(BESIDE.values()),
        beside=[_beside_row(row) for row in contents.beside_file],
        metrics=_metrics(contents),
        lost=note_that_begins(LOST, contents.notes),
    )


def _percent(window: Sequence[float]) -> str:
    """Text with the window's times; empty without a window.

    >>> _percent([0.17, 1.2])
    ' (0 to 100 %: 0.17 to 1.2 s)'
    """
    return f" (0 to 100 %: {window[0]:.4g} to {window[1]:.4g} s)" if window else ""


def _verdict(contents: TrialContents) -> str:
    """Heading of the first section."""
    if contents.verdict.status == "failed":
        return "Reason for missing results" if contents.drawing else "Reason for the failure"
    return "Quality flags" if contents.verdict.flags else "No quality flags"


SUMMARY = {
    "joint": "joint",
    "term": "term",
    "window": "window",
    "used_share": "known (share)",
    "peak_nm": "peak (N m)",
    "peak_limits": "its 95 % limits",
    "peak_main_source": "most from",
    "peak_nm_kg": "peak (N m/kg)",
    "peak_sense": "sense",
    "peak_time_percent": "at (%)",
    "mean_nm": "mean (N m)",
    "mean_limits": "its 95 % limits",
    "rms_nm": "rms (N m)",
    "impulse_nms": "impulse (N m s)",
    "positive_work_j": "work + (J)",
    "negative_work_j": "work - (J)",
}


BESIDE = {
    "joint": "joint",
    "quantity": "quantity",
    "r": "r",
    "rms": "rms difference",
    "peak": "peak",
    "file_peak": "peak in the file",
    "peak_ratio": "ratio of peaks",
    "unit": "unit",
    "n_frames": "frames",
    "file_label": "label in the file",
    "file_unit": "its unit",
    "file_sign": "sign",
}


def _beside_row(row: Mapping[str, Any]) -> list[str]:
    stated = str(row["file_unit"])
    unit = f"{stated}, per kg" if row["file_per_kg"] and "kg" not in stated else stated
    return [_cell({**row, "file_unit": unit}[name]) for name in BESIDE]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value + 0.0:.4g}"
    return str(value).replace("_", " ")


def _summary_row(row: Mapping[str, Any], verdict: Verdict) -> list[str]:
    """Cells of a row of the summary; a rejected joint is marked."""
    cells = {name: _cell(row[name]) if name in row else _limits(row, name) for name in SUMMARY}
    cells["peak_nm"] += " *" if row["peak_at_gap"] else ""
    cells["joint"] += " (rejected)" if row["joint"] in verdict.rejected_joints else ""
    return list(cells.values())


def _limits(row: Mapping[str, Any], name: str) -> str:
    """Limits of a statistic; empty if unknown.

    >>> _limits({"peak_low_nm": -97.14, "peak_high_nm": -69.66, "peak_sd_nm": 7.0}, "peak_limits")
    '-97 to -70'
    """
    start = name.removesuffix("_limits")
    low, high = row[f"{start}_low_nm"], row[f"{start}_high_nm"]
    if math.isnan(low + high):
        return ""
    digits = max(1 - math.floor(math.log10(high - low)), 0) if high > low else 3  # two of the width
    return f"{low + 0.0:.{digits}f} to {high + 0.0:.{digits}f}"


def _star(rows: Sequence[Sequence[str]]) -> str:
    """Explanation of the star after a peak; empty if no row has a star."""
    marked = any(cell.endswith(" *") for row in rows for cell in row)
    return " * Next to excluded frames, where the true peak may be larger." if marked else ""


def _metrics(contents: TrialContents) -> list[tuple[str, str, str, str]]:
    """Known metrics: name, value, or that of each joint, flag and definition."""
    flagged = {flag.check.name: flag.status for flag in contents.verdict.flags}
    rows = []
    for known in QUALITY_COLUMNS:
        values = contents.metrics.get(known.name, {}).items()
        cells = [f"{joint} {amount(value, known.unit)}".strip() for joint, value in values if not math.isnan(value)]
        if cells:
            rows.append((known.name, ", ".join(cells), flagged.get(known.name, ""), known.definition))
    return rows

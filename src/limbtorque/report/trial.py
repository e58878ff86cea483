"""The page of a trial."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from limbtorque.figures.palette import TERM_COLOURS
from limbtorque.figures.term_kinds import TERM_NAMES
from limbtorque.report.explain import amount, failure_card, flag_cards, status_badge
from limbtorque.report.markup import Html, details, facts, join, json_block, page, section, table, tag
from limbtorque.report.panels import Drawing, Panel
from limbtorque.tables.checks import CHECKS, FIGURES, Flag

ROOT = "../../"
SCRIPTS = ("report.js", "plotly.min.js")


@dataclass(frozen=True)
class TrialContents:
    """What the page of a trial says.

    Attributes
    ----------
    name, title, status, reason, message : str
        The trial, the study, and what became of it.
    about : dict of str to str
        Names and values at the top of the page.
    flags : sequence of Flag
        Its flags.
    figures : dict of str to float
        Its quality figures.
    audit : sequence of dict
        Findings about the file: what, found, made, settle.
    notes : sequence of str
        Other notes.
    summary : sequence of dict
        Rows of the summary.
    tables, pictures : dict of str to str
        Text and path, from the page, of what belongs to the trial.
    provenance : dict of str to str
        Hashes and versions.
    drawing : Drawing or None
        Curves; None for a trial without.
    """

    name: str
    title: str
    status: str
    reason: str
    message: str
    about: Mapping[str, str]
    flags: Sequence[Flag] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    audit: Sequence[Mapping[str, str]] = ()
    notes: Sequence[str] = ()
    summary: Sequence[Mapping[str, Any]] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    drawing: Drawing | None = None


def trial_page(contents: TrialContents) -> str:
    """Text of the page of a trial; the same contents give the same text."""
    lead = [
        tag(
            "nav",
            tag("a", contents.title or "All trials", href=f"{ROOT}index.html"),
            " / ",
            contents.name,
            aria_label="Breadcrumb",
        ),
        tag("h1", contents.name, " ", status_badge(contents.status)),
        facts(contents.about.items()),
    ]
    body = [_verdict(contents)]
    if contents.drawing:
        body += [_curves(contents.drawing, contents), json_block("trial", contents.drawing.data)]
    body += [_summary(contents), _file(contents), _figures(contents), _links(contents), _provenance(contents)]
    drawn = SCRIPTS if contents.drawing else SCRIPTS[:1]
    return page(f"{contents.name}: {contents.status}", join(body), root=ROOT, scripts=drawn, lead=join(lead))


def _verdict(contents: TrialContents) -> Html:
    parts = [failure_card(contents.reason, contents.message)] if contents.status == "failed" else []
    parts += [flag_cards(contents.flags)] if contents.flags else []
    if contents.status == "failed":
        heading = "Why something is missing" if contents.drawing else "Why there is no result"
        return section("verdict", heading, *parts)
    heading = "What to know before using this trial" if contents.flags else "No flags"
    none = tag("p", "All quality figures of this trial are within their thresholds.")
    return section("verdict", heading, *(parts or [none]))


def _curves(drawing: Drawing, contents: TrialContents) -> Html:
    shown = len(drawing.data["curves"]["time_s"]["values"])
    said = f"All {drawing.n_frames} frames are drawn."
    if drawing.step > 1:
        said = (
            f"Every {_nth(drawing.step)} frame is drawn, {shown} of {drawing.n_frames}; the tables have all of them: "
        )
    links = (
        [join([tag("a", name, href=path), " "]) for name, path in contents.tables.items()] if drawing.step > 1 else []
    )
    pictures = [_picture(name, path, contents.name) for name, path in contents.pictures.items()]
    return section(
        "curves",
        "Curves",
        tag("p", said, *links, class_="quiet"),
        tag("noscript", tag("p", "The curves need JavaScript. These figures do not:"), *pictures),
        _terms_bar(),
        tag(
            "div",
            tag("div", _stick(), _readout(), class_="side"),
            tag("div", *(_panel(panel, drawing) for panel in drawing.panels), class_="panels"),
            class_="bench",
        ),
    )


def _picture(name: str, path: str, trial: str) -> Html:
    """A figure of a trial, or a link to one that a page cannot show."""
    if path.endswith(".pdf"):
        return tag("p", tag("a", f"{name} of {trial}", href=path))
    return tag("img", src=path, alt=f"{name} of {trial}")


def _nth(step: int) -> str:
    return {2: "second", 3: "third"}.get(step, f"{step}th")


def _choice(text: str, **attributes: object) -> Html:
    return tag("label", tag("input", **attributes), " ", text)


def _terms_bar() -> Html:
    kinds = [
        tag("label", tag("input", type="checkbox", checked=True, data_kind=kind), " ", _swatch(colour), name)
        for kind, name, colour in [("net", "net", "ink"), *((k, TERM_NAMES[k], c) for k, c in TERM_COLOURS.items())]
    ]
    return tag(
        "div",
        tag("fieldset", tag("legend", "Terms of the torque"), *kinds),
        tag(
            "fieldset",
            tag("legend", "Drawn"),
            _choice("sums of a kind", type="radio", name="grouping", value="grouped", checked=True),
            _choice("every term", type="radio", name="grouping", value="single"),
        ),
        tag(
            "fieldset",
            tag("legend", "Signs"),
            _choice("as in the tables", type="radio", name="signs", value="tables", checked=True),
            _choice("flexion positive", type="radio", name="signs", value="flexion"),
        ),
        tag(
            "fieldset",
            tag("legend", "Time"),
            *(
                tag("button", text, type="button", data_zoom=how)
                for text, how in (("zoom in", "in"), ("zoom out", "out"), ("whole trial", "all"))
            ),
        ),
        class_="bar controls",
        hidden=True,
        id="terms",
    )


def _swatch(colour: str) -> Html:
    known = "background:currentColor" if colour == "ink" else f"background:{colour}"
    return tag("span", class_="swatch", style=known, aria_hidden="true")


def _stick() -> Html:
    return tag(
        "figure",
        tag("figcaption", "The limb in the plane of motion"),
        tag("div", id="stick", role="img", aria_label="Stick figure of the limb at the time of the cursor"),
        tag("p", id="stick_text", class_="quiet"),
        class_="stick",
        hidden=True,
    )


def _readout() -> Html:
    return tag(
        "div",
        tag("label", "Time of the cursor: ", tag("b", id="cursor_time"), for_="cursor"),
        tag("input", type="range", id="cursor", min="0", value="0", step="1"),
        tag(
            "p",
            "Left and right arrow keys move it by one drawn frame, Page Up and Page Down by more.",
            class_="quiet controls",
        ),
        tag("p", id="said", aria_live="polite", class_="visually_hidden"),
        tag("div", id="readout", class_="wide", tabindex="0", role="region", aria_label="All values at the cursor"),
        class_="readout",
        hidden=True,
    )


def _panel(panel: Panel, drawing: Drawing) -> Html:
    shaded = [drawing.bands[name] for name in panel.bands if name in drawing.bands]
    key = [
        tag(
            "span",
            tag("span", class_="shade", style=f"background:{band['colour']}", aria_hidden="true"),
            f" {band['label']} ({band['count']} frames)",
        )
        for band in shaded
    ]
    resting = f" Without a line, as they never pull: {', '.join(drawing.resting)}." if drawing.resting else ""
    about = panel.about + (resting if panel.name == "muscles" else "")
    return tag(
        "figure",
        tag("figcaption", tag("h3", panel.title), tag("span", class_="sense")),
        tag("p", about, class_="quiet") if about else "",
        tag("div", class_="legend"),
        tag("div", class_="plot", role="img", aria_label=f"{panel.title} over time, {panel.unit}"),
        tag("p", *key, class_="key") if key else "",
        class_="panel",
        id=f"panel_{panel.name}",
    )


SUMMARY = {
    "joint": "joint",
    "term": "term",
    "peak_nm": "peak (N m)",
    "peak_sense": "does",
    "peak_time_s": "at (s)",
    "mean_nm": "mean (N m)",
    "rms_nm": "rms (N m)",
    "impulse_nms": "impulse (N m s)",
    "positive_work_j": "work + (J)",
    "negative_work_j": "work - (J)",
}


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value + 0.0:.4g}"
    return str(value).replace("_", " ")


def _summary(contents: TrialContents) -> Html:
    if not contents.summary:
        return Html("")
    rows = [
        [_cell(row[name]) + (" *" if name == "peak_nm" and row["peak_at_gap"] else "") for name in SUMMARY]
        for row in contents.summary
    ]
    net = [row for row, kept in zip(rows, contents.summary, strict=True) if kept["term"] == "net"]
    head = list(SUMMARY.values())

    def captioned(text: str, told: list[list[str]]) -> Html:
        marked = any(cell.endswith(" *") for row in told for cell in row)
        star = " * beside frames that are left out: there may be a larger value among them." * marked
        return table(f"{text}{star}", head, told, class_="numbers")

    return section(
        "summary",
        "What it comes to",
        captioned("Net joint torques. Frames at the ends and frames without a torque are left out.", net),
        details("Every term", captioned("Every term of every joint.", rows)),
    )


def _file(contents: TrialContents) -> Html:
    rows = [
        [
            f["what"],
            f["found"],
            join([tag("strong", "a guess: "), f["made"], "; ", f["settle"]]) if f["settle"] else f["made"],
        ]
        for f in contents.audit
    ]
    parts = (
        [table("What the file says and what was made of it", ("about", "the file says", "made of it"), rows)]
        if rows
        else []
    )
    notes = tag("ul", *(tag("li", note) for note in contents.notes), class_="notes")
    parts += [tag("h3", "Notes"), notes] if contents.notes else []
    return section("file", "The recording", *parts) if parts else Html("")


def _figures(contents: TrialContents) -> Html:
    known = [(check.name, check.unit, check.definition) for check in CHECKS]
    found = {flag.check.name: flag for flag in contents.flags}
    rows = [
        [tag("code", name), amount(contents.figures[name], unit), "flagged" if name in found else "", text]
        for name, unit, text in [*FIGURES, *known]
        if not math.isnan(contents.figures.get(name, math.nan))
    ]
    if not rows:
        return Html("")
    whole = table("Quality figures of this trial", ("figure", "value", "", "what was measured"), rows)
    return section("quality", "Quality", details(f"All {len(rows)} quality figures", whole))


def _links(contents: TrialContents) -> Html:
    both = {**contents.tables, **contents.pictures}
    items = [tag("li", tag("a", name, href=path)) for name, path in both.items()]
    return section("links", "Tables and figures", tag("ul", *items)) if items else Html("")


def _provenance(contents: TrialContents) -> Html:
    if not contents.provenance:
        return Html("")
    return section(
        "provenance", "Where it comes from", details("Hashes and versions", facts(contents.provenance.items()))
    )

"""The first page of the report: the study, what became of its trials, and its mean curves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from limbtorque.report.explain import ABOUT, BY_NAME, REASONS, code_words, status_badge, threshold_text
from limbtorque.report.markup import Html, details, facts, join, json_block, page, section, table, tag

Row = Mapping[str, str]
STATUSES = ("ok", "flagged", "failed")
HEADS = (
    ("trial", "trial", "text"),
    ("status", "status", "text"),
    ("torque_status", "torques", "text"),
    ("muscle_status", "muscles", "text"),
    ("subject", "subject", "text"),
    ("condition", "condition", "text"),
    ("limb", "limb", "text"),
    ("why", "flags, or why it failed", "text"),
    ("n_frames", "frames", "number"),
    ("cutoff_hz", "cut-off (Hz)", "number"),
    ("noise_m", "noise (mm)", "number"),
)


def index_page(
    ledger: Sequence[Row],
    provenance: Mapping[str, Any],
    *,
    files: Mapping[str, str],
    ensembles: Mapping[str, Any] | None = None,
    missing: Mapping[str, str] | None = None,
) -> str:
    """Text of the first page; the same tables give the same text.

    Parameters
    ----------
    ledger : sequence of mapping
        Rows of `results/ledger.csv`, as text, each with ``page``, the path of its trial's page from this one.
    provenance : mapping
        What `results/provenance.json` holds.
    files : mapping of str to str
        Tables of the study: text and path from the page.
    ensembles : mapping, optional
        What `ensemble_data` makes of the mean curves.
    missing : mapping of str to str, optional
        How many trials of each chain have a curve, and why others have none; empty where all have one.
    """
    title = provenance["settings"].get("title") or "Study without a title"
    body = [
        section("outcome", "What became of the trials", _counts(ledger), _flags(ledger, provenance), _failures(ledger)),
        section("trials", "Trials", _controls(ledger), _trials(ledger)),
    ]
    without = _without_curves(missing or {}, files)
    if ensembles:
        body += [_ensembles(ensembles, without), json_block("ensembles_data", ensembles)]
    elif without:
        body.append(section("ensembles", "Mean curves", *without))
    body += [_files(files), _about(provenance)]
    scripts = ("report.js", "plotly.min.js") if ensembles else ("report.js",)
    lead = [tag("p", "limbtorque report", class_="quiet"), tag("h1", title), _study(ledger, provenance)]
    return page(f"{title}: report", join(body), root="", scripts=scripts, lead=join(lead))


def _study(ledger: Sequence[Row], provenance: Mapping[str, Any]) -> Html:
    subjects = Counter(row["subject"] for row in ledger)
    conditions = Counter(row["condition"] for row in ledger)
    limbs = Counter(_limb(row) for row in ledger)
    pairs = [
        ("trials", len(ledger)),
        ("subjects", _listed(subjects)),
        ("conditions", _listed(conditions)),
        ("limbs", _listed(limbs)),
        ("settings", tag("code", provenance["settings_hash"])),
        ("program", f"{provenance['program']['name']} {provenance['program']['version']}"),
    ]
    return facts(pairs)


def _limb(row: Row) -> str:
    return f"{row['side']} {row['chain']}"


def _listed(counts: Mapping[str, int], at_most: int = 12) -> str:
    """Names with how many trials each has; a long list ends in how many more there are."""
    said = [f"{name or 'none given'} ({count})" for name, count in list(counts.items())[:at_most]]
    more = [f"and {len(counts) - at_most} more"] if len(counts) > at_most else []
    return f"{len(counts)}: {', '.join([*said, *more])}"


def _reasons(row: Row) -> tuple[list[str], list[str]]:
    """Flags of a trial, and the kinds of its failure."""
    words = row["reason"].split()
    return [word for word in words if word in BY_NAME], [word for word in words if word not in BY_NAME]


def _counts(ledger: Sequence[Row]) -> Html:
    counts = Counter(row["status"] for row in ledger)
    share = {status: 100.0 * counts[status] / max(len(ledger), 1) for status in STATUSES}
    boxes = [
        tag("li", tag("b", counts[status]), " ", status_badge(status), tag("small", f" {share[status]:.0f} %"))
        for status in STATUSES
    ]
    parts = [tag("i", style=f"width:{share[status]:.2f}%", class_=status) for status in STATUSES if counts[status]]
    return join([tag("ul", *boxes, class_="counts"), tag("div", *parts, class_="share", aria_hidden="true")])


def _flags(ledger: Sequence[Row], provenance: Mapping[str, Any]) -> Html:
    counts = Counter(name for row in ledger for name in _reasons(row)[0])
    if not counts:
        return tag("p", "No trial is flagged.")
    thresholds = provenance["settings"]["quality"]
    rows = []
    for name, count in counts.most_common():
        check = BY_NAME[name]
        rows.append(
            [
                tag("code", name),
                _show(name, count),
                check.definition,
                threshold_text(name, thresholds),
                check.source,
                code_words(check.advice),
                ABOUT[check.about],
            ]
        )
    head = ("flag", "trials", "what was measured", "allowed", "where that comes from", "what to do", "puts in doubt")
    return table("Flags (a trial's own column can allow something else)", head, rows, class_="prose")


def _show(name: str, count: int) -> Html:
    button = tag(
        "button", "show", type="button", data_reason=name, class_="controls", aria_label=f"show trials: {name}"
    )
    return join([count, " ", button])


def _failures(ledger: Sequence[Row]) -> Html:
    counts = Counter(kind for row in ledger if row["status"] == "failed" for kind in _reasons(row)[1])
    if not counts:
        return tag("p", "No trial failed.")
    rows = [
        [tag("code", kind), _show(kind, count), code_words(REASONS.get(kind, REASONS["trial"]))]
        for kind, count in counts.most_common()
    ]
    return table("Failures", ("kind", "trials", "what it means and what to do"), rows, class_="prose")


def _controls(ledger: Sequence[Row]) -> Html:
    reasons = Counter(name for row in ledger for names in _reasons(row) for name in names)
    chosen = [
        ("status", "Status", [status for status in STATUSES if any(row["status"] == status for row in ledger)]),
        ("condition", "Condition", list(dict.fromkeys(row["condition"] for row in ledger))),
        ("reason", "Flag or failure", [name for name, _ in reasons.most_common()]),
    ]
    selects = [
        tag(
            "label",
            f"{text} ",
            tag("select", tag("option", "all", value=""), *(tag("option", name) for name in names), id=f"only_{key}"),
        )
        for key, text, names in chosen
        if names
    ]
    search = tag("label", "Search ", tag("input", type="search", id="search", autocomplete="off", spellcheck="false"))
    reset = tag("button", "show all", type="button", id="reset")
    return join(
        [
            tag("div", search, *selects, reset, class_="bar controls", role="search"),
            tag("p", f"{len(ledger)} trials", id="shown", aria_live="polite", class_="quiet"),
        ]
    )


def _trials(ledger: Sequence[Row]) -> Html:
    head = [
        tag("th", tag("button", text, type="button"), scope="col", data_kind=kind, aria_sort="none")
        for _, text, kind in HEADS
    ]
    rows = (_trial_row(row) for row in ledger)
    caption = tag("caption", "Trials of the study; the buttons in the head sort")
    whole = tag("table", caption, tag("thead", tag("tr", *head)), tag("tbody", *rows), id="ledger", class_="sortable")
    return tag("div", whole, class_="wide tall", tabindex="0", role="region", aria_label="Table of trials")


def _trial_row(row: Row) -> Html:
    flags, kinds = _reasons(row)
    why: list[object] = [join((tag("code", name) for name in (*kinds, *flags)), " ")]
    why += [tag("small", row["message"])] if row["status"] == "failed" else []
    return tag(
        "tr",
        tag("th", tag("a", row["trial"], href=row["page"]), scope="row"),
        tag("td", status_badge(row["status"])),
        tag("td", row["torque_status"]),
        tag("td", row["muscle_status"]),
        tag("td", row["subject"], class_="name"),
        tag("td", row["condition"], class_="name"),
        tag("td", _limb(row), class_="whole"),
        tag("td", *why, class_="why"),
        tag("td", row["n_frames"], class_="number"),
        tag("td", _number(row["cutoff_hz"], 1.0, 2), class_="number"),
        _noise(row["noise_m"]),
        data_status=row["status"],
        data_condition=row["condition"],
        data_reason=" ".join((*kinds, *flags)),
    )


def _noise(text: str) -> Html:
    """Cell of the noise, mm; its number, by which it is sorted, beside what is shown where that is no number."""
    shown = _number(text, 1e3, 3)
    if shown == "0.000":
        return tag("td", "< 0.001", class_="number", data_value=f"{1e3 * float(text):.2g}")
    return tag("td", shown, class_="number")


def _number(text: str, scale: float, decimals: int) -> str:
    value = float(text) if text else math.nan
    return "" if math.isnan(value) else f"{scale * value:.{decimals}f}"


def _without_curves(missing: Mapping[str, str], files: Mapping[str, str]) -> list[Html]:
    """A paragraph for each chain of which trials have no curve, with a link to the table that says why."""
    name = "windows.csv"
    where = join([" Each trial: ", tag("a", name, href=files[name]), "."]) if name in files else ""
    several = len(missing) > 1
    return [
        tag("p", f"{chain.capitalize()}: " if several else "", text, where) for chain, text in missing.items() if text
    ]


def _ensembles(data: Mapping[str, Any], without: Sequence[Html] = ()) -> Html:
    choices = tag(
        "div",
        tag("label", "Joint ", tag("select", id="ensemble_joint")),
        tag("label", "Quantity ", tag("select", id="ensemble_quantity")),
        class_="bar controls",
    )
    figure = tag(
        "figure",
        tag("figcaption", tag("h3", "", id="ensemble_title")),
        tag("div", class_="legend"),
        tag("div", class_="plot tall_plot", role="img", aria_label="Mean curves of the conditions", id="ensemble_plot"),
        class_="panel",
        id="ensemble",
    )
    said = "Lines are means over trials, bands one standard deviation to each side. "
    if any(curve["counts"] for curve in data["curves"]):
        said += (
            "Thin lines and light bands: fewer trials have a value there than the most that any point has, and the mean "
            "steps where a trial begins or ends to count. "
        )
    said += "Numbers: the table of ensembles."
    several = len({curve["chain"] for curve in data["curves"]}) > 1
    notes = [
        f"{chain.capitalize()}. {text}" if several else text
        for chain, texts in data["uneven"].items()
        for text in texts
    ]
    told = [tag("p", note, class_="quiet") for note in notes]
    return section("ensembles", "Mean curves", *without, tag("p", said, class_="quiet"), *told, choices, figure)


def _files(files: Mapping[str, str]) -> Html:
    items: Iterable[Html] = (tag("li", tag("a", name, href=path)) for name, path in files.items())
    return section("files", "Tables of the study", tag("ul", *items))


def _about(provenance: Mapping[str, Any]) -> Html:
    versions = [("Python", provenance["python"]), *provenance["libraries"].items()]
    code = [(f"code of {stage}", tag("code", key)) for stage, key in provenance["code"].items()]
    return section("versions", "Versions", details("Libraries, hashes of the code", facts([*versions, *code])))

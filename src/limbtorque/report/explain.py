"""What flags and failures mean, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from limbtorque.report.markup import Html, facts, join, tag
from limbtorque.tables.checks import CHECKS, Flag

BY_NAME = {check.name: check for check in CHECKS}
REASONS = {
    "read": "The file cannot be read, or what it says contradicts itself. `limbtorque inspect <file>` shows what is in it.",
    "landmark": "A marker or landmark that the chain needs is missing or ambiguous. Compare the marker set of the settings with the labels "
    "that `limbtorque inspect <file>` lists.",
    "signal": "Gaps, the cut-off or the number of frames do not allow what was asked for. Look at the gaps in the capture software, or choose another "
    "part of the trial with start_s and end_s.",
    "segment": "The parameters of the segments cannot be had from what was measured. Check the landmarks that lengths are measured between, "
    "and the subject's row of the table of subjects.",
    "load": "An external load is missing or contradicts the geometry. Check the column load and the force plates.",
    "trial": "The trial cannot be analysed with these settings.",
    "settings": "The settings do not fit this trial. The message names the option.",
    "defect": "An error inside the program, not in the recording. Report it, with the log of the session (results/logs) and the file.",
}
AFFECTS = {"torques": "torques and muscle forces", "muscles": "muscle forces"}
STATUS_WORDS = {"ok": "ok", "flagged": "flagged", "failed": "failed", "none": "none"}


def amount(value: float, unit: str) -> str:
    """A number with its unit, as sentences have it.

    Examples
    --------
    >>> amount(0.012345, "m"), amount(2.0, "1")
    ('0.01235 m', '2')
    """
    return f"{value:.4g}" + ("" if unit == "1" else f" {unit}")


def status_badge(status: str) -> Html:
    """The status of a trial; the word says it, the colour only repeats it."""
    return tag("span", STATUS_WORDS.get(status, status), class_=f"badge {status if status in STATUS_WORDS else ''}")


def code_words(text: str) -> Html:
    """Text in which words between backticks are code."""
    parts = text.split("`")
    return join(tag("code", part) if k % 2 else part for k, part in enumerate(parts))


def flag_cards(flags: Sequence[Flag]) -> Html:
    """Every flag of a trial with what was measured, what is allowed and why, and what to do."""
    cards = []
    for flag in flags:
        check = flag.check
        pairs = [
            ("measured", tag("strong", amount(flag.value, check.unit))),
            ("allowed", amount(flag.threshold, check.unit)),
            ("what it is", check.definition),
            ("what to do", code_words(check.advice)),
            ("the threshold", check.source),
            ("affects", AFFECTS[check.affects]),
        ]
        cards.append(tag("article", tag("h3", tag("code", check.name)), facts(pairs, rows=True), class_="card flagged"))
    return join(cards)


def failure_card(reason: str, message: str) -> Html:
    """Why a trial failed, and what to do."""
    kind = reason.split(" ")[0]
    return tag(
        "article",
        tag("h3", f"Not analysed: {kind}"),
        tag("p", message, class_="message"),
        tag("p", code_words(REASONS.get(kind, REASONS["trial"]))),
        class_="card failed",
    )


def threshold_text(name: str, thresholds: Mapping[str, float]) -> str:
    """Largest allowed value of a metric in a study, with its unit."""
    return amount(float(thresholds.get(name, 0.0)), BY_NAME[name].unit)

"""The methods of a study as a page: paragraph, landmarks, references and checklist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from limbtorque.report.methods.checklist import CHECKLIST_HEAD, checklist, landmarks
from limbtorque.report.methods.paragraph import methods_paragraph
from limbtorque.report.methods.references import REFERENCES
from limbtorque.report.methods.study import MethodsStudy, Row
from limbtorque.study.settings import Settings


def methods_page(provenance: Mapping[str, Any], ledger: Sequence[Row], windows: Sequence[Row] = ()) -> str:
    """Paragraph, table of landmarks, references and checklist of a study, in Markdown.

    Parameters
    ----------
    provenance : mapping
        Content of ``provenance.json``.
    ledger : sequence of mapping
        Rows of ``ledger.csv``, as text or as values.
    windows : sequence of mapping, optional
        Rows of ``windows.csv``, where there is one.

    Returns
    -------
    str
        The page.
    """
    study = MethodsStudy(Settings.model_validate(provenance["settings"]), provenance, ledger, windows)
    paragraph = methods_paragraph(study)
    checks = checklist(study)
    study.cite("derrick")
    lines = [
        "# Methods" + (f": {study.settings.title}" if study.settings.title else ""),
        "",
        "Written from the settings and the ledger of this run; what the program cannot know (the participants, consent, the markers' size",
        "and placement, the cameras) is yours to add.",
        "",
        paragraph,
        "",
        *landmarks(study),
        "## References",
        "",
        *(f"- {REFERENCES[name]}" for name in sorted(study.cited)),
        "",
        "## Checklist",
        "",
        CHECKLIST_HEAD,
        "",
        "| what to report | this study |",
        "| --- | --- |",
        *(f"| {asked} | {answer.replace('|', '/')} |" for asked, answer in checks),
    ]
    return "\n".join(lines) + "\n"

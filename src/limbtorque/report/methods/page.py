"""Methods page: paragraph, landmarks, references and checklist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from limbtorque.figures.templates import fill
from limbtorque.report.methods.facts import facts
from limbtorque.report.methods.references import REFERENCES
from limbtorque.report.methods.study import MethodsStudy, Row, span
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
        Text of ``page.md.jinja`` with the values of this study.
    """
    study = MethodsStudy(Settings.model_validate(provenance["settings"]), provenance, ledger, windows)
    template = "report/methods/page.md.jinja"
    return fill(
        template, study=study, cite=study.cite, each=study.each, span=span, all_references=REFERENCES, **facts(study)
    )

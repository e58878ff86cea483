"""Every paper that a page cites by author and year stands in its list of sources."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
CITED = re.compile(r"([A-Z][\w'-]+)(?: et al\.| and [A-Z][\w'-]+)?,? \(?((?:19|20)\d\d)\)?")
MONTHS = ("November", "December")


@pytest.mark.parametrize("pages", [("muscles", "muscle_validation"), ("emg",)])
def test_every_citation_has_its_source(pages):
    texts = [(DOCS / f"{page}.md").read_text(encoding="utf-8") for page in pages]
    body, sources = "\n".join(texts).split("\n## Sources\n")
    entries = re.split(r"\n|\. (?=[A-Z])", sources)
    cited = {found.groups() for found in CITED.finditer(body) if found[1] not in MONTHS}
    assert len(cited) > 5
    missing = [one for one in cited if not any(all(part in entry for part in one) for entry in entries)]
    assert sorted(missing) == []

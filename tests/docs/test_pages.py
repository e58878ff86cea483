"""Every page has one place in the site, every picture a text, every example a picture; terms are defined once."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
KINDS = ("Tutorial", "Recipes", "Reference", "Explanation")
PAGES = [ROOT / "README.md", ROOT / "data" / "README.md", *sorted(DOCS.rglob("*.md"))]


@pytest.fixture(scope="module")
def hooks():
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "site" / "hooks.py")
    pytest.importorskip("latex2mathml")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def leaves(entry):
    """Pages below an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    return [page for part in (entry.values() if isinstance(entry, dict) else entry) for page in leaves(part)]


def pages_by_kind():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    start, *kinds = yaml.safe_load(text)
    assert start == {"Start": "index.md"}
    return {name: leaves(entry) for kind in kinds for name, entry in kind.items()}


def test_every_page_is_in_exactly_one_kind(hooks):
    kinds = pages_by_kind()
    assert tuple(kinds) == KINDS
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    written = {page for page in written if not page.startswith("decisions/0")} | set(hooks.COPIES.values())
    written |= {f"notebooks/{path.stem}.md" for path in (DOCS / "notebooks").glob("*.ipynb")}
    placed = [page for pages in kinds.values() for page in pages]
    assert set(placed) ^ (written - {"index.md"}) == set()
    assert [page for page in set(placed) if placed.count(page) > 1] == []


def pictures(text):
    """Alternative text and target of every picture of a page."""
    return re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text) + re.findall(
        r'<img\b[^>]*alt="([^"]*)"[^>]*src="([^"]+)"', text
    )


def poor(text):
    """Pictures of a page whose text does not say what they show: fewer than four words."""
    return [target for words, target in pictures(text) if len(words.split()) < 4]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_picture_has_a_text(page):
    text = page.read_text(encoding="utf-8")
    assert poor(text) == []
    assert len(pictures(text)) == text.count("![") + text.count("<img")


def test_a_picture_without_a_text_is_noticed(hooks):
    page = "## Torques of a slow reach\n\n![png](a.png)\n"
    assert poor(page) == poor("![](a.png)") == ["a.png"]
    assert pictures(hooks.described(page)) == [("Figure: Torques of a slow reach", "a.png")]


def test_the_gallery_shows_every_example():
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = [Path(target).stem.removeprefix("examples_") for _, target in pictures(text)]
    assert sorted(shown) == sorted(path.stem for path in (ROOT / "examples").glob("[!_]*.py"))


def defined():
    """First cells of all rows of the glossary, and its statuses."""
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", text, flags=re.MULTILINE)
    heads = {"status", "column", "quantity", "term", "---"}
    return [row for row in rows if row not in heads]


def test_the_glossary_has_each_term_and_status_once():
    terms = defined()
    assert len(terms) == len(set(terms)) > 60
    assert {f"`{status}`" for status in ("ok", "caution", "rejected", "failed")} <= set(terms)
    columns = {name for name in frame_statuses() if f"`{name}`" not in terms}
    assert columns == set()


def frame_statuses():
    """Columns of tables by frame that are a status in numbers."""
    package = ROOT / "src" / "limbtorque" / "tables"
    text = "".join(path.read_text(encoding="utf-8") for path in package.glob("*.py"))
    return set(re.findall(r'"(\w+_status):count"', text))


def test_no_other_page_defines_a_status():
    columns = "|".join(["ok", "failed", *frame_statuses()])
    for page in PAGES:
        rows = re.findall(rf"^\| `(?:{columns})` \|.*", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert page.name == "glossary.md" or rows == [], page.name

"""The page on the sources leaves nothing out, and what it names is there; notebooks are clean."""

import json
import re
from pathlib import Path

import pytest

import limbtorque

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "from_the_sources.md").read_text(encoding="utf-8")
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def rows(title):
    """Rows of the table below a heading, each as its three cells."""
    (text,) = re.findall(rf"## {title}\n(.*?)(?=\n## |\Z)", PAGE, flags=re.DOTALL)
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


TITLES = re.findall(r"^## (.*)$", PAGE, flags=re.MULTILINE)


def cells(title):
    """Numbers of the documents' cells, `In [n]`, that a table names, with those between "a to b"."""
    found = set()
    for where, *_ in rows(title):
        for first, last in re.findall(r"In \[(\d+)\](?: to In \[(\d+)\])?", where):
            found |= set(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("title", TITLES)
def test_every_line_has_a_link_a_name_or_a_reason(title):
    table = rows(title)
    assert len(table) > 7
    for row in table:
        assert len(row) == 3, row
        where, what, here = row
        assert where
        assert what
        assert "](" in here or "`" in here or here.startswith("not here: "), row
        if here.startswith("not here"):
            assert len(here.split()) > 8, row  # a reason


@pytest.mark.parametrize(
    ("title", "numbers"),
    [
        ("The two-link notebook", range(1, 36)),
        ("The kinematic-chain notebook", range(1, 30)),
        ("The matrix notebook", range(139, 142)),
    ],
)
def test_every_cell_of_the_notebooks_is_there(title, numbers):
    assert cells(title) == set(numbers)


def test_every_equation_exercise_and_problem_is_there():
    places = " ".join(where for where, *_ in rows("The three-link paper"))
    assert sorted(map(int, re.findall(r"\((\d+)\)", places))) == list(range(1, 45))
    exercises = re.findall(r"Exercise (\w+)", " ".join(where for where, *_ in rows("The two-link notebook")))
    assert exercises == ["1", "2", "3", "4", "5a", "5b", "5c", "5d", "6", "7"]
    problems = re.findall(r"Problem (\w+)", " ".join(where for where, *_ in rows("The kinematic-chain notebook")))
    assert problems == ["1a", "1b", "2a", "2b", "2c"]


def test_what_the_page_links_to_is_there():
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE)
    assert len(links) > 50
    for link in links:
        assert (DOCS / link).is_file(), link
    for name in re.findall(r"`(\w+)(?:\([^`]*\))?`", PAGE):
        assert hasattr(limbtorque, name), name


def source(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    assert sum("assert" in text for text in source(path)) > 1  # an answer that is wrong ends the build


def test_every_example_of_a_document_is_in_a_notebook():
    shown = {name for path in NOTEBOOKS for text in source(path) for name in re.findall(r"show\(\s*(\w+)", text)}
    linked = set(re.findall(r"examples/(\w+)\.py", PAGE)) - {"_arms", "_drawing"}
    assert linked - shown == {"signs"}  # in the theory

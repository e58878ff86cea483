"""Texts that a spreadsheet takes for formulas: written so that none runs, and read as they were."""

import csv

import pytest

from limbtorque.figures.templates import fill
from limbtorque.tables.column import Column
from limbtorque.tables.files import csv_pieces, make_table, quoted, read_rows, read_table, unquoted, write_table

COLUMNS = (Column("condition", "", "condition", kind=str), Column("value", "1", "number"))
TEXTS = [
    '=HYPERLINK("x";"y")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "＝1",  # noqa: RUF001 (full-width)
    "'=1",
    "''-1",
]
PLAIN = ["control", "a=b", "'s-Hertogenbosch", "", "5 kg", "größer"]


@pytest.mark.parametrize("way", ["whole", "pieces"])
def test_no_cell_of_a_csv_table_begins_like_a_formula(way, tmp_path):
    path, texts = tmp_path / "table.csv", TEXTS + PLAIN
    rows = [{"condition": text, "value": -1.5} for text in texts]
    if way == "whole":
        write_table(make_table(COLUMNS, {"condition": texts, "value": [-1.5] * len(texts)}), path)
    else:
        with csv_pieces(path, COLUMNS) as write:
            write(rows)
    with path.open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert [row["condition"] for row in cells] == [f"'{text}" for text in TEXTS] + PLAIN
    assert {row["value"] for row in cells} == {"-1.5"}  # numbers are numbers
    assert [row["condition"] for row in read_rows(path)] == texts


@pytest.mark.parametrize("text", TEXTS + PLAIN)
def test_the_apostrophe_is_taken_away_again(text):
    assert unquoted(quoted(text)) == text


def test_parquet_keeps_the_text(tmp_path):
    texts = [text for text in TEXTS if "\t" not in text]
    write_table(make_table(COLUMNS[:1], {"condition": texts}), tmp_path / "table.parquet")
    assert read_table(tmp_path / "table.parquet")[0].column("condition").to_pylist() == texts


def test_markdown_holds_no_html(monkeypatch):
    from jinja2 import DictLoader

    from limbtorque.figures import templates

    monkeypatch.setattr(
        templates.environment(), "loader", DictLoader({"a.md.jinja": "**{{ name }}**", "a.html.jinja": "{{ name }}"})
    )
    assert (
        fill("a.md.jinja", name="<script>alert(1)</script> & 1 < 2") == "**&lt;script>alert(1)&lt;/script> & 1 &lt; 2**"
    )
    assert fill("a.md.jinja", name="[a](javascript:alert(1)) ![b](http://x)") == (
        "**[a]\\(javascript:alert(1)) ![b]\\(http://x)**"
    )
    assert fill("a.html.jinja", name="<b>") == "&lt;b&gt;"

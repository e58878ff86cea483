"""A study whose labels, subjects, conditions and notes are code: run through, and no page, table or caption holds any of it live."""

import csv
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import yaml

from limbtorque.cli.main import main
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.write import write_c3d
from study_runs import TRIALS, demo_rows, make_study, write_trials

LABEL = "<script>x</script>[a](b)|![i](h)"
CONDITION = "=cmd|' /C calc'!A0 <script>alert(1)</script> [a](javascript:alert(1)) ![b](http://x.y/z.png)"
SUBJECT = '+S<img src=x onerror="alert(1)">'
NOTE = '@SUM(1) </td></table><iframe src="http://x.y"></iframe>'
LIVE = re.compile(r"<(script>|img|iframe|/td></table)|\]\((javascript|http|b\)|h\))", re.IGNORECASE)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of a trial with such names, in a folder whose name begins with a dash."""
    place = tmp_path_factory.mktemp("hostile")
    study = make_study(place / "-dash", TRIALS[:1])
    recording = read_c3d(study / "data" / "demo" / f"{TRIALS[0]}.c3d")
    labels = tuple(LABEL if label.endswith("WRR") else label for label in recording.labels)
    write_c3d(replace(recording, labels=labels), study / "data" / "demo" / f"{TRIALS[0]}.c3d")
    settings = study / "config" / "config.yaml"
    raw = yaml.safe_load(settings.read_text("utf-8"))
    rules = yaml.safe_dump(raw["marker_sets"]).replace("WRR", LABEL)
    raw |= {"marker_sets": yaml.safe_load(rules), "title": f"{CONDITION} title"}
    settings.write_text(yaml.safe_dump(raw), "utf-8")
    rows = demo_rows(TRIALS[:1])
    write_trials(study, [{**row, "condition": CONDITION, "subject": SUBJECT, "note": NOTE} for row in rows])
    with (study / "config" / "subjects.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["subject", "mass_kg", "height_m", "sex", "note"], [SUBJECT, "72", "1.78", "m", NOTE]]
        )
    return place


class Tags(HTMLParser):
    """Tags of a page with their attributes, and its text."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.workflow
def test_names_that_are_code_are_text_everywhere(results, monkeypatch, capsys):
    monkeypatch.chdir(results)
    assert main(["check", "./-dash"]) == 0
    assert main(["run-study", "./-dash", "--cores", "2"]) == 0
    made = results / "-dash" / "results"
    assert "&lt;script>x&lt;/script>[a]\\(b)" in (made / "methods.md").read_text("utf-8")
    for page in (*made.rglob("*.md"), *made.rglob("*.csv")):
        text = page.read_text("utf-8")
        assert not (page.suffix == ".md" and LIVE.search(text)), page
        if page.suffix == ".csv":
            cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
            assert not [cell for cell in cells if cell[:1] in ("=", "+", "@")], page
    for page in made.rglob("*.html"):
        read = Tags()
        read.feed(page.read_text("utf-8"))
        assert not [tag for tag, attributes in read.tags if tag == "iframe" or "onerror" in attributes], page
        assert not [
            a for _, a in read.tags if "x.y" in str(a.get("src", "")) or "javascript:" in str(a.get("href", ""))
        ], page
    for page in made.rglob("*.svg"):
        assert not LIVE.search(page.read_text("utf-8")), page
    _all_commands(capsys, results)


def _all_commands(capsys, place):
    """The other commands on the same study, whose folder begins with a dash."""
    assert main(["status", "./-dash"]) == 0
    assert main(["verify", "./-dash"]) == 0
    shutil.copytree(place / "-dash" / "results", place / "-copy")
    assert main(["diff", "./-dash", "./-copy"]) == 0
    assert main(["init", "./-new", "--from", "./-dash/data"]) == 0
    assert main(["inspect", f"./-dash/data/demo/{TRIALS[0]}.c3d"]) == 0
    assert "Traceback" not in capsys.readouterr().err

"""A study whose names, labels and notes are HTML, and its report, made without snakemake."""

import contextlib
import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.study.study import load_study
from limbtorque.workflow import keys, layout
from limbtorque.workflow.stages import collect, kinematics, muscles, pages, report, torques
from study_runs import demo_settings

ROOT = Path(__file__).resolve().parents[1]
BAD = "<img src=x onerror=alert(1)>"
ENDS = "</script><!-- " + BAD
TRIALS = ("spring", "labelled", "no_muscles", "window", "not_a_file")


def make_study(folder):
    """One good trial, one with a label that is HTML, one without muscles, and two that fail."""
    (folder / "config").mkdir(parents=True)
    settings = demo_settings()
    settings = settings.replace("title: Demo study of reaching and walking", f"title: {json.dumps('Odd ' + ENDS)}")
    arm = settings[settings.index("  limb_markers:") : settings.index("plane:")].replace("KNU", json.dumps(BAD))
    settings = settings.replace("plane:", arm.replace("limb_markers", "odd_markers") + "\nplane:", 1)
    (folder / "config" / "config.yaml").write_text(settings, encoding="utf-8")
    (folder / "config" / "subjects.csv").write_text("subject,mass_kg,height_m,sex\nS <1>,72,1.78,m\n", encoding="utf-8")
    source = ROOT / "data" / "demo" / "S01_sagittal_spring.c3d"
    recording = read_c3d(source)
    labels = tuple(BAD if label == "KNU" else label for label in recording.labels)
    write_c3d(replace(recording, labels=labels), folder / "odd & 'label'.c3d", unit="mm")
    (folder / "good.c3d").write_bytes(source.read_bytes())
    (folder / "not.c3d").write_text(f"no recording {BAD}", encoding="utf-8")
    same = {"session": "one", "subject": "S <1>", "file": "good.c3d", "chain": "arm", "side": "right", "load": "spring"}
    same |= {"condition": "plain", "marker_set": "limb_markers", "muscles.enabled": "true"}
    same |= dict.fromkeys(("note", "start_s", "end_s"), "")
    changes = [
        {},
        {"file": "odd & 'label'.c3d", "marker_set": "odd_markers", "condition": BAD, "note": ENDS},
        {"muscles.enabled": "false", "session": "two"},
        {"start_s": "90", "end_s": "91", "session": "two", "condition": "late"},
        {"file": "not.c3d", "session": "two"},
    ]
    rows = [{"trial": name, **same, **change} for name, change in zip(TRIALS, changes, strict=True)]
    with (folder / "config" / "trials.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return folder


def analyse(folder):
    """All stages of a study, in this process and from its folder, as the workflow does it."""
    with contextlib.chdir(folder):
        study = load_study(Path())
        for stage, module in {"kinematics": kinematics, "torques": torques, "muscles": muscles, "pages": pages}.items():
            for session in study.batches:
                module.run(folder=Path(), session=session, key=keys.session_key(stage, study, session))
        collect.run(folder=Path())
        report.run(folder=Path())
    return folder


def write_ensembles(folder):
    """Mean curves of two conditions of which one is HTML, as `results/ensembles.csv` has them."""
    head = "chain,condition,side,quantity,unit,percent,spread_over,mean,sd,mean_error,n_subjects,n_trials,n_rejected"
    units = {"elbow_flexion_deg": "deg", "elbow_torque_nm": "N m", "elbow_torque_gravity_nm": "N m"}
    rows = []
    for k, condition in enumerate(("plain", BAD)):
        for quantity, unit in units.items():
            about = f'arm,"{condition}",right,{quantity},{unit}'
            ends = f"{0.5 + k},{0.25 if quantity == 'elbow_torque_nm' else ''},2,4,1"
            rows += [f"{about},{percent},subjects,{(k + 1) * percent / 10},{ends}" for percent in range(0, 101, 5)]
    path = folder / "results" / "ensembles.csv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def page_file(folder, trial=None):
    """Path of a page."""
    if trial is None:
        return folder / layout.REPORT["index"]
    return folder / layout.page_path(layout.places(load_study(folder))[trial], trial)


def table_file(folder, stage, trial):
    """Path of a trial's table."""
    return folder / layout.table_path(stage, layout.places(load_study(folder))[trial], trial)


def page(folder, trial=None):
    """Text of a page."""
    return page_file(folder, trial).read_text(encoding="utf-8")


def embedded(text, name):
    """Data that a page carries."""
    return json.loads(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL)[1])


class Elements(HTMLParser):
    """Elements of a page with their attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.text, self.open = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "script":
            self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

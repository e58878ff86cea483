"""The column static_file: from the table of trials to the ledger."""

import json

import numpy as np
import pandas as pd
import pytest

from c3d_files import write_c3d
from clustered_legs import FOOT, SUBSTITUTES, with_clusters, without
from limbtorque.errors import StudyError
from limbtorque.recordings.read import read_recording
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.files import yaml_text
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_record
from limbtorque.workflow import keys
from limbtorque.workflow.layout import table_path
from limbtorque.workflow.stages import kinematics

CLUSTERS = {name: [f"{{S}}{name}{k}" for k in range(1, 5)] for name in ("TH", "TB")}
RULES = {
    **FOOT,
    "hip_axis": {"static": "{S}HJC", "cluster": CLUSTERS["TH"]},
    "knee_axis": {"static": "{S}KJC", "cluster": CLUSTERS["TB"]},
    "ankle_axis": {"static": "{S}AJC", "cluster": CLUSTERS["TB"]},
}
ROW = {"trial": "walk", "session": "S01", "subject": "S01", "file": "walk.c3d", "static_file": "static.c3d"}


@pytest.fixture
def study(tmp_path):
    walking = with_clusters(walk_recording(Walker(), Walkway(), duration_s=1.6, first_strike_s=0.2))
    moving = without(walking, "HJC", "KJC", "AJC")
    write_c3d(tmp_path / "walk.c3d", moving.markers_m, labels=list(moving.labels))
    standing = np.repeat(walking.markers_m[20:21], 30, axis=0) + np.array([0.5, 0.2, 0.0])
    write_c3d(tmp_path / "static.c3d", standing, labels=list(walking.labels))
    (tmp_path / "config").mkdir()
    settings = {
        "plane": {"up_axis": "+z"},
        "marker_sets": {"legs": RULES},
        "substitutes": {"legs": SUBSTITUTES},
        "muscles": {"enabled": False},
        "plates": {"assignment": "none"},
    }
    (tmp_path / "config" / "config.yaml").write_text(yaml_text(settings), encoding="utf-8")
    (tmp_path / "config" / "subjects.csv").write_text("subject,mass_kg,height_m,sex\nS01,70,,\n", encoding="utf-8")
    table(tmp_path, ROW)
    return tmp_path


def table(folder, row):
    made = pd.DataFrame([{**row, "chain": "leg", "side": "right", "condition": ""}])
    made.to_csv(folder / "config" / "trials.csv", index=False)


def run(folder):
    loaded = load_study(folder)
    kinematics.run(folder=folder, session="S01", key=keys.session_key("kinematics", loaded, "S01"))
    return read_record(folder / table_path("kinematics", "S01", "walk"))


def test_a_trial_with_its_static_file(study):
    record = run(study)
    assert record.status != "failed", record.message
    assert record.metrics["cluster_residual_m"] < 1e-5  # single precision of the files
    assert record.recording.static_sha256 == read_recording(study / "static.c3d").sha256
    assert any("carried from the static trial by RTB1, RTB2, RTB3, RTB4" in note for note in record.notes)
    assert json.loads(record.to_json())["recording"]["static_sha256"] == record.recording.static_sha256


def test_the_key_follows_the_file_and_a_missing_one_is_told(study):
    before = keys.session_key("kinematics", load_study(study), "S01")
    (study / "static.c3d").rename(study / "other.c3d")
    table(study, {**ROW, "static_file": "other.c3d"})
    assert keys.session_key("kinematics", load_study(study), "S01") != before
    table(study, {**ROW, "static_file": "none.c3d"})
    with pytest.raises(StudyError, match=r"static_file is 'none.c3d', expected a file"):
        load_study(study)
    table(study, {**ROW, "static_file": ""})
    record = run(study)
    assert (record.status, record.reason) == ("failed", "landmark")
    assert "name it in the column static_file" in record.message

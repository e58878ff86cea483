"""What a trial can do wrong after it was read: each a row of the ledger with a sentence, none a crash or a number."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from limbtorque.analysis.trial import analyse_recording
from limbtorque.errors import LandmarkError, SegmentError, SignalError, TrialError
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.simulation.demo import demo_trials
from limbtorque.study.settings import load_settings, override
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_table
from limbtorque.workflow import keys
from limbtorque.workflow.stages import collect, kinematics, muscles, torques

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = load_settings(ROOT / "config" / "config.yaml")
DEMO = demo_trials()[1]
GOOD = replace(DEMO, gaps=()).recording(noise_m=2e-4)


def without(label, frames=slice(None)):
    markers = GOOD.markers_m.copy()
    markers[frames, GOOD.labels.index(label)] = np.nan
    return replace(GOOD, markers_m=markers)


def analyse(recording, **changes):
    settings = override(SETTINGS, {k.replace("__", "."): str(v) for k, v in changes.items()}, source="test")
    return analyse_recording(recording, Limb("arm", side="right", body_mass_kg=72.0), settings)


def shortened(n_frames):
    return replace(GOOD, markers_m=GOOD.markers_m[:n_frames])


def frozen(label):
    markers = GOOD.markers_m.copy()
    markers[:, GOOD.labels.index(label)] = markers[0, GOOD.labels.index(label)]
    return replace(GOOD, markers_m=markers)


def coinciding():
    markers = GOOD.markers_m.copy()
    markers[:, GOOD.labels.index("KNU")] = 0.5 * (
        markers[:, GOOD.labels.index("WRR")] + markers[:, GOOD.labels.index("WRU")]
    )
    return replace(GOOD, markers_m=markers)


@pytest.mark.parametrize(
    ("recording", "changes", "error", "says"),
    [
        (replace(GOOD, labels=("SH", *GOOD.labels[1:])), {}, LandmarkError, "'SHO' is not among the 8 positions"),
        (without("KNU"), {}, SignalError, "marker 'KNU' is missing in all 251 frames"),
        (
            without("WRR", slice(0, None, 2)),
            {"gaps__max_gap_s": 0.0},
            SignalError,
            "the longest part with all markers",
        ),
        (
            without("WRR", slice(100, 140)),
            {"gaps__longer": "fail"},
            SignalError,
            "a gap in the limb's markers lasts 0.40 s",
        ),
        (frozen("SHO"), {}, SignalError, "marker 'SHO' has the same position in all 251 frames"),
        (shortened(1), {}, SignalError, "1 frame, expected two or more"),
        (shortened(22), {"filter__cutoff_hz": 2}, SignalError, "22 frames are fewer than"),
        (shortened(10), {}, SignalError, "is 0.10 s long, expected at least 0.2 s"),
        (GOOD, {"filter__cutoff_hz": 50}, SignalError, "not below the Nyquist frequency 50 Hz"),
        (GOOD, {"filter__cutoff_hz": 49.99}, SignalError, "too near the Nyquist frequency"),
        (replace(GOOD, markers_m=1000.0 * GOOD.markers_m), {}, SegmentError, "310 m long, expected 0.01 to 1.5 m"),
        (replace(GOOD, markers_m=0.001 * GOOD.markers_m), {}, SegmentError, "expected 0.01 to 1.5 m"),
        (coinciding(), {}, SegmentError, "segment hand is"),
        (
            GOOD,
            {"plane__forward_axis": "travel", "plane__up_axis": "+z"},
            SignalError,
            "direction of travel is undefined",
        ),
    ],
)
def test_each_is_an_error_that_says_what_and_what_to_do(recording, changes, error, says):
    with pytest.raises(error) as raised:
        analyse(recording, **changes)
    assert says in str(raised.value)


def test_a_length_between_other_landmarks_is_refused():
    markers = dict(SETTINGS.marker_sets["limb_markers"])
    del markers["ulnar_styloid"]
    settings = SETTINGS.model_copy(update={"marker_sets": {"limb_markers": markers}})
    with pytest.raises(TrialError, match="'ulnar_styloid' is needed but not mapped"):
        analyse_recording(GOOD, Limb("arm", side="right", body_mass_kg=72.0), settings)
    named = settings.model_copy(update={"substitutes": {"limb_markers": {"ulnar_styloid": "wrist_axis"}}})
    result = analyse_recording(GOOD, Limb("arm", side="right", body_mass_kg=72.0), named)
    assert "landmark ulnar_styloid: replaced by wrist_axis" in result.motion.notes


def test_a_long_gap_ends_the_stretch_and_is_noted():
    result = analyse(without("WRR", slice(60, 100)))
    assert result.motion.frame[0] == 101
    assert len(result.motion.frame) == 151
    assert result.motion.metrics["max_unfilled_gap_s"] == pytest.approx(0.4)
    assert any("longest part without gaps analysed" in note for note in result.motion.notes)


def test_a_batch_with_all_of_it_finishes(tmp_path):
    """Files, tables and ledger through the stages themselves; the good trial comes out whole."""
    (tmp_path / "config").mkdir()
    (tmp_path / "data").mkdir()
    for name in ("config.yaml", "subjects.csv"):
        (tmp_path / "config" / name).write_bytes((ROOT / "config" / name).read_bytes())
    recordings = {
        "good": GOOD,
        "no_marker": replace(GOOD, labels=("SH", *GOOD.labels[1:])),
        "all_missing": without("ELBL"),
        "one_frame": shortened(1),
        "frozen": frozen("KNU"),
    }
    rows = ["trial,session,subject,file,chain,side,condition,filter.cutoff_hz"]
    for name, recording in recordings.items():
        write_c3d(recording, tmp_path / "data" / f"{name}.c3d")
        rows.append(f"{name},s,S01,data/{name}.c3d,arm,right,x,")
    rows.append("nyquist,s,S01,data/good.c3d,arm,right,x,60")
    (tmp_path / "config" / "trials.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    study = load_study(tmp_path)
    for stage, module in (("kinematics", kinematics), ("torques", torques), ("muscles", muscles)):
        module.run(folder=tmp_path, session="s", key=keys.session_key(stage, study, "s"))
    collect.run(folder=tmp_path)
    with (tmp_path / "results" / "ledger.csv").open(encoding="utf-8") as file:
        ledger = {row["trial"]: row for row in csv.DictReader(file)}
    assert ledger.pop("good")["status"] == "ok"
    assert {row["status"] for row in ledger.values()} == {"failed"}
    reasons = {name: row["reason"] for name, row in ledger.items()}
    assert reasons == {
        "no_marker": "landmark",
        "all_missing": "signal",
        "one_frame": "signal",
        "frozen": "signal",
        "nyquist": "signal",
    }
    for name in ledger:
        for stage in ("kinematics", "torques", "muscles"):
            assert not len(read_table(tmp_path / "results" / stage / "s" / f"{name}.parquet")[0])
    kept = json.loads((tmp_path / "results" / "provenance.json").read_text(encoding="utf-8"))
    assert set(kept["trials"]) == {"good", *ledger}


def test_a_job_refuses_a_study_that_changed_since_it_was_planned():
    from limbtorque.errors import LimbtorqueError

    with pytest.raises(LimbtorqueError, match="changed while torques of S01_sagittal was waiting"):
        torques.run(folder=ROOT, session="S01_sagittal", key="0" * 16)

"""Units, labels, gaps, events and rates of small C3D files."""

import time
from pathlib import Path

import numpy as np
import pytest

from c3d_files import positions, write_c3d
from limbtorque.errors import LandmarkError, ReadError
from limbtorque.recordings.c3d.header import Parameter, texts
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Event, find_marker

FLOAT32 = 2e-7  # relative error of a rounded and rescaled single precision number


METRIC = {
    1e-3: ("mm", "MM", "Millimetres  ", "millimeter"),
    1e-2: ("cm", "Centimeters"),
    1.0: ("m", "M ", "meters", "metre"),
}


@pytest.mark.parametrize("length_m", METRIC)
def test_units_of_length(tmp_path: Path, length_m: float) -> None:
    for unit in METRIC[length_m]:
        read = read_c3d(write_c3d(tmp_path / "a.c3d", positions(), units=unit))
        np.testing.assert_allclose(read.markers_m, positions() * length_m, rtol=FLOAT32)


@pytest.mark.parametrize(
    ("unit", "said"), [("", "is nothing"), ("inch", "is 'inch'"), ("km", "is 'km'"), ("mm2", "mm2")]
)
def test_unknown_unit_is_refused(tmp_path: Path, unit: str, said: str) -> None:
    with pytest.raises(ReadError, match=rf"POINT:UNITS.*{said}.*expected one of mm, cm, m"):
        read_c3d(write_c3d(tmp_path / "a.c3d", positions(), units=unit))


def test_what_counts_as_missing(tmp_path: Path) -> None:
    values, residual = positions(), np.zeros((10, 3))
    residual[2, 1] = -1.0
    values[3, 0] = 0.0
    values[4, 2, 1] = np.nan
    values[5, 0, :2] = 0.0  # two zeros are a position
    read = read_c3d(write_c3d(tmp_path / "a.c3d", values, residual=residual))
    assert np.argwhere(np.isnan(read.markers_m).all(axis=2)).tolist() == [[2, 1], [3, 0], [4, 2]]
    assert np.isnan(read.markers_m).sum() == 9
    assert "3 samples of 3 markers are missing, of 30" in read.notes


def test_modelled_outputs_are_not_markers(tmp_path: Path) -> None:
    labels = ["S:RSHO", "S:RElbowAngles", "GRF", "Power2", "S:JUG", "EMG", "T:RElbowAngles"]
    point = {
        "ANGLES": ["RElbowAngles", "NotInTheFile"],
        "POWERS": ["Power1"],
        "POWERS2": ["Power2"],
        "FORCES": ["S:GRF"],
        "MUSCLES": ["EMG"],
        "MODELED_MARKERS": ["JUG"],
        "TYPE_GROUPS": ["ANGLES", "ANGLE", "MUSCLES", "MUSCLE", "MODELED_MARKERS", "MODELED_MARKER"],
    }
    read = read_c3d(write_c3d(tmp_path / "a.c3d", positions(5, 7), labels=labels, point=point))
    assert read.labels == ("S:RSHO", "S:JUG")
    assert read.modelled_labels == ("S:RElbowAngles", "GRF", "Power2", "EMG", "T:RElbowAngles")
    assert any("ANGLES (2), FORCES (1), MUSCLES (1), POWERS (1)" in note for note in read.notes)
    with pytest.raises(LandmarkError, match="modelled output"):
        find_marker(read, "GRF")


def test_times_of_events_are_not_those_of_single_precision() -> None:
    """1.15 s in single precision is 1.1499999762 s, and from a later first frame 1.1500000954 s."""
    assert Event("Foot Strike", "Left", float(np.float32(1.15))).time_s == 1.15
    assert Event("Foot Strike", "Left", 1.1500000953674316).time_s == 1.15


def test_events_count_from_the_capture(tmp_path: Path) -> None:
    times = np.array([[0.0, 1.0, 0.0], [59.99, 0.51, 59.5]])
    event = {
        "USED": [3],
        "TIMES": times,
        "LABELS": ["Strike ", "Off", "Early"],
        "CONTEXTS": ["Left", "Right ", ""],
    }
    path = write_c3d(tmp_path / "a.c3d", positions(100), first_frame=5991, groups={"EVENT": event})
    read = read_recording(path)
    found = [(e.label, e.context, round(e.time_s, 4)) for e in read.events]
    assert found == [("Early", "", -0.4), ("Strike", "Left", 0.09), ("Off", "Right", 0.61)]
    assert any("1 events lie outside the 1.000 s of the trial: Early at -0.400 s" in note for note in read.notes)


def test_one_frame_and_odd_file_names(tmp_path: Path) -> None:
    read = read_c3d(write_c3d(tmp_path / "Prüfung 1.c3d", positions(1)))
    assert read.markers_m.shape == (1, 3, 3)
    assert read.source == "Prüfung 1.c3d"


def test_parameters_of_the_person_are_text(tmp_path):
    groups = {
        "SUBJECTS": {"NAMES": ["S07", "ball"]},
        "PROCESSING": {"Bodymass": [45.8], "Height": [1480.0], "LLegLength": [830.0]},
    }
    path = write_c3d(tmp_path / "a.c3d", positions(20), groups=groups)
    assert read_c3d(path).person == (
        *(("SUBJECTS:NAMES", "S07"), ("SUBJECTS:NAMES", "ball")),
        *(("PROCESSING:BODYMASS", "45.8"), ("PROCESSING:HEIGHT", "1480"), ("PROCESSING:LLEGLENGTH", "830")),
    )
    assert read_c3d(write_c3d(tmp_path / "b.c3d", positions(20))).person == ()


def test_texts_without_characters_are_none_however_many():
    start = time.process_time()
    assert texts(Parameter(-1, (0, 255, 255, 255, 255), b"")) == []
    assert time.process_time() - start < 1.0


def test_descriptions_are_names_where_they_are_asked_for(tmp_path):
    """A description that is empty, or given twice, leaves the label."""
    xyz = np.random.default_rng(1).uniform(-1.0, 1.0, size=(20, 4, 3))
    labels, described = ["K", "A", "S1", "S2"], ["Right knee", "", "shank", "shank"]
    path = write_c3d(tmp_path / "a.c3d", xyz, labels=labels, groups={"POINT": {"DESCRIPTIONS": described}})
    assert read_c3d(path).labels == ("K", "A", "S1", "S2")
    named = read_c3d(path, ReadOptions(marker_names="descriptions"))
    assert named.labels == ("Right knee", "A", "S1", "S2")

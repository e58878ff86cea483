"""Notes and guesses of a C3D file on both sides of each limit, from files made by ezc3d."""

import struct

import numpy as np
import pytest

from c3d_files import changed, positions, write_c3d
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.doubts import doubts
from limbtorque.recordings.options import ReadOptions


def found(recording, item):
    """Stated and interpretation of an entry of the audit."""
    return next(((entry.stated, entry.interpretation, entry.to_settle) for entry in recording.audit.findings if entry.item == item), None)  # fmt: skip


# --- rates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("header_hz", "agrees"), [(100.0, True), (100.005, True), (100.02, False), (99.98, False)])
def test_the_rates_of_header_and_parameter_agree_to_a_ten_thousandth(tmp_path, header_hz, agrees):
    source = write_c3d(tmp_path / "a.c3d", positions())
    read = read_c3d(changed(source, tmp_path / "b.c3d", "<f", 20, header_hz))
    assert read.rate_hz == 100.0
    assert any("POINT:RATE is used" in note for note in read.notes) != agrees
    assert found(read, "rate")[2] == ("" if agrees else "give reading.rate_hz")


@pytest.mark.parametrize(("given_hz", "agrees"), [(100.0, True), (100.09, True), (100.2, False), (99.8, False)])
def test_the_given_rate_agrees_to_a_thousandth(tmp_path, given_hz, agrees):
    source, options = write_c3d(tmp_path / "a.c3d", positions()), ReadOptions(rate_hz=given_hz)
    if agrees:
        assert read_c3d(source, options).rate_hz == 100.0
        return
    with pytest.raises(ReadError, match=rf"POINT:RATE is 100 frames per second, reading.rate_hz is {given_hz:g}"):
        read_c3d(source, options)


@pytest.mark.parametrize(("stated_hz", "agrees"), [(200.0, True), (200.01, True), (200.1, False), (100.0, False)])
def test_the_rate_of_analog_channels_is_that_of_their_samples(tmp_path, stated_hz, agrees):
    source = write_c3d(tmp_path / "a.c3d", positions(), analog=np.ones((20, 3)), analog_units=["V", "", "V"])
    stored = struct.pack("<f", 200.0)
    raw = source.read_bytes()
    assert raw.count(stored) == 1
    source.write_bytes(raw.replace(stored, struct.pack("<f", stated_hz)))
    read = read_c3d(source)
    assert read.analog_rate_hz == 200.0
    said = f"ANALOG:RATE is {stated_hz:g} Hz, 2 samples a frame make 200: the latter rate is used"
    assert (said in read.notes) != agrees
    stated, interpretation, advice = found(read, "analog")
    assert stated == f"3 channels, 2 samples a frame, ANALOG:RATE {stated_hz:g} Hz, units 'V'"
    assert interpretation.startswith("200 samples per second")
    assert advice == ("" if agrees else "correct ANALOG:RATE in the file")
    assert "ANALOG:UNITS is empty for 1 of 3 channels" in read.notes


# --- points ----------------------------------------------------------------------------------------------------------


def test_missing_samples_are_counted_over_markers_and_frames(tmp_path):
    """Two of marker 1, all ten of marker 2; marker 0 and 3 are whole."""
    residual = np.zeros((10, 4))
    residual[3:5, 1], residual[:, 2] = -1.0, -1.0
    read = read_c3d(write_c3d(tmp_path / "a.c3d", positions(10, 4), residual=residual))
    assert "12 samples of 2 markers are missing, of 40" in read.notes
    assert "markers without any sample: M2" in read.notes
    assert found(read, "residual")[0] == "negative in 12 of 40 samples"
    assert np.isnan(read.markers_m).all(axis=2).sum() == 12
    whole = read_c3d(write_c3d(tmp_path / "b.c3d", positions(10, 4)))
    assert not any("missing" in note for note in whole.notes)
    assert found(whole, "zeros") is None


def test_a_file_without_any_sample_is_refused(tmp_path):
    with pytest.raises(ReadError, match="none of the 4 markers has a sample in any of the 10 frames"):
        read_c3d(write_c3d(tmp_path / "a.c3d", positions(10, 4), residual=np.full((10, 4), -1.0)))


def test_points_by_label(tmp_path):
    """Of six points one has no label, two are modelled, and two have the same label."""
    labels = ["A", "KneeAngle", "A", "S:Power", "", "B"]
    more = {"ANGLES": ["KneeAngle"], "POWERS": ["Power"]}
    read = read_c3d(write_c3d(tmp_path / "a.c3d", positions(10, 6), labels=labels, point=more))
    assert read.labels == ("A", "A", "B")
    assert set(read.modelled_labels) == {"KneeAngle", "S:Power"}
    assert "1 of 6 points have no label and are left out" in read.notes
    assert "2 points are modelled outputs, not positions, and are left out: ANGLES (1), POWERS (1)" in read.notes
    assert "labels that occur more than once: A" in read.notes
    assert found(read, "points")[:2] == ("6, of which 5 have a label", "3 positions, 2 modelled outputs, 1 left out")


# --- events ----------------------------------------------------------------------------------------------------------


def with_events(path, times_s, *, labels=None, used=None, first_frame=1, **more):
    """Ten frames, 0.1 s; times in minutes and seconds from frame 1 of the capture."""
    times = np.array([[t // 60.0 for t in times_s], [t % 60.0 for t in times_s]])
    group = {
        "USED": [len(times_s) if used is None else used],
        "TIMES": times,
        "LABELS": labels or ["Foot Strike"] * len(times_s),
        "CONTEXTS": ["Left"] * len(times_s),
        **more,
    }
    return read_c3d(write_c3d(path, positions(), groups={"EVENT": group}, first_frame=first_frame))


@pytest.mark.parametrize(("time_s", "outside"), [(-0.0049, False), (-0.0051, True), (0.0999, False), (0.1001, True)])
def test_events_outside_the_trial_are_named(tmp_path, time_s, outside):
    """From half a frame before the first one to the end of the last; the recording begins with frame 101."""
    read = with_events(tmp_path / "a.c3d", [1.0 + time_s], first_frame=101)
    assert read.events[0].time_s == pytest.approx(time_s, abs=1e-6)
    assert found(read, "events")[1] == "-1.000 s added"
    said = [note for note in doubts(read) if "events lie outside the 0.100 s of the trial: Foot Strike at" in note]
    assert len(said) == outside


@pytest.mark.parametrize(
    ("more", "n_events", "said"),
    [
        ({}, 2, None),
        ({"used": 1}, 1, "EVENT:USED is 1, with 2 TIMES"),
        ({"used": 3}, 2, "EVENT:USED is 3, with 2 TIMES"),
        ({"used": -1}, 0, "EVENT:USED is -1, with 2 TIMES"),
        ({"labels": ["a"]}, 2, "EVENT:USED is 2, with 2 TIMES, 1 LABELS"),
        ({"CONTEXTS": ["Left"]}, 2, "EVENT:USED is 2, with 2 TIMES, 1 CONTEXTS"),
    ],
)
def test_counts_of_events(tmp_path, more, n_events, said):
    read = with_events(tmp_path / "a.c3d", [0.01, 0.02], **more)
    assert len(read.events) == n_events
    entry = found(read, "number of events")
    assert (entry is None) == (said is None)
    assert entry is None or entry[:2] == (said, f"{n_events} events read")

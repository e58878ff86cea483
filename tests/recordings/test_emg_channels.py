"""Channels of electromyography: which they are, and of which muscle, by labels as laboratories write them."""

from dataclasses import replace

import numpy as np
import pytest

from c3d_files import raw_c3d
from limbtorque.errors import ReadError
from limbtorque.recordings.emg_channels import (
    emg_channels,
    microvolts,
    muscle_of,
    same_muscle,
    side_and_muscle,
    size_findings,
)
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording

RECORDING = Recording("a", "", "", (), np.zeros((10, 0, 3)), 100.0, 1)


def found(labels, descriptions=(), units=()):
    n = len(labels)
    recording = replace(
        RECORDING,
        analog_labels=tuple(labels),
        analog_descriptions=tuple(descriptions) or ("",) * n,
        analog_units=tuple(units) or ("V",) * n,
        analog=np.zeros((10, n)),
    )
    return [(one.index, one.side, one.muscle) for one in emg_channels(recording)]


@pytest.mark.parametrize(
    ("label", "side", "muscle"),
    [
        ("Voltage.L Rect", "left", "rectus_femoris"),
        ("RRF", "right", "rectus_femoris"),
        ("R_VL", "right", "vastus_lateralis"),
        ("EMG_left_vastus_medialis", "left", "vastus_medialis"),
        ("LTA", "left", "tibialis_anterior"),
        ("Tib Ant R", "right", "tibialis_anterior"),
        ("bflh_r", "right", "biceps_femoris"),
        ("semiten_l", "left", "medial_hamstrings"),
        ("Sol", "", "soleus"),
        ("gasmed_r", "right", "gastrocnemius"),
        ("Lat Gastroc", "", "gastrocnemius"),
        ("glmax1", "", "gluteus_maximus"),
        ("Delt_ant.EMG1", "", "anterior_deltoid"),
        ("deltoid, posterior part", "", "posterior_deltoid"),
        ("triceps brachii, long head", "", "triceps"),
        ("QUADRICEPS VL EMG - ELE#4", "", "vastus_lateralis"),
        ("RECTUS ABDOMINIUS EMG", "", ""),
        ("GM", "", ""),
        ("Force.Fx1", "", ""),
        ("", "", ""),
    ],
)
def test_side_and_muscle_of_a_label(label, side, muscle):
    assert side_and_muscle(label) == (side, muscle)


def test_channels_are_found_by_label_description_and_unit():
    assert found(["EMG1", "CH18", "CH7", "Sync"], ["", "GASTROCNEMIUS EMG - ELE#2", "X-ACCELEROMETER", ""]) == [
        (0, "", ""),
        (1, "", "gastrocnemius"),
    ]
    assert found(["Voltage.R Sol", "R Sol"], units=["mV", "N"]) == [(0, "right", "soleus")]


def test_other_sensors_of_an_emg_system_are_no_channels():
    labels = ["ACCX1", "Sensor 1.ACC.X", "Gyro 2", "Fx1", "Sensor 1.IM EMG1"]
    assert found(labels, ["Delsys Trigno EMG 2.0"] * 5) == [(4, "", "")]


def test_units():
    assert [microvolts(unit) for unit in ("V", "mV", "uV", "µV", "N", "")] == [1e6, 1e3, 1.0, 1.0, None, None]


def test_groups():
    assert same_muscle("vasti", "vastus_lateralis")
    assert same_muscle("biceps_femoris", "hamstrings")
    assert not same_muscle("biceps_femoris_short", "hamstrings")
    assert not same_muscle("", "")
    assert muscle_of("bifemsh") == "biceps_femoris_short"


def test_descriptions_of_a_c3d_file_are_read(tmp_path):
    path = raw_c3d(
        tmp_path / "a.c3d",
        np.random.default_rng(1).uniform(100.0, 200.0, (10, 2, 3)),
        analog=np.ones((40, 2)),
        parameters={
            "ANALOG": {"LABELS": ["CH1", "CH2"], "DESCRIPTIONS": ["SOLEUS EMG", "trigger"], "UNITS": ["V", "V"]}
        },
    )
    recording = read_recording(path)
    assert recording.analog_descriptions == ("SOLEUS EMG", "trigger")
    assert [(one.label, one.muscle) for one in emg_channels(recording)] == [("CH1", "soleus")]


def storage(tmp_path, title, names):
    rows = [[0.5 + k / 1000.0, *([0.1 * k] * len(names))] for k in range(50)]
    text = [title, "version=1", f"nRows={len(rows)}", f"nColumns={len(names) + 1}", "inDegrees=no", "endheader"]
    text += ["\t".join(["time", *names]), *("\t".join(f"{v:.6f}" for v in row) for row in rows)]
    path = tmp_path / "emg.sto"
    path.write_text("\n".join(text) + "\n")
    return path


@pytest.mark.parametrize(("title", "names"), [("Electromyography", ["a", "b"]), ("walk", ["soleus", "vas_lat_r"])])
def test_storage_files_of_electromyography(tmp_path, title, names):
    recording = read_recording(storage(tmp_path, title, names))
    assert recording.analog_labels == tuple(names)
    assert (recording.analog_rate_hz, recording.start_s, recording.n_frames) == (pytest.approx(1000.0), 0.5, 50)
    np.testing.assert_allclose(recording.analog[:, 1], 0.1 * np.arange(50))
    assert [one.label for one in emg_channels(recording)] == names


def test_other_storage_files_without_markers_are_refused(tmp_path):
    with pytest.raises(ReadError, match="no markers and no forces"):
        read_recording(storage(tmp_path, "walk", ["one", "two"]))


def test_muscle_activations_of_a_model_are_not_electromyography(tmp_path):
    with pytest.raises(ReadError, match="first line is 'activations'"):
        read_recording(storage(tmp_path, "activations", ["soleus", "vasti"]))


def test_electromyography_of_a_recorded_walk(recordings):
    recording = read_recording(recordings / "walk_emg_opensim" / "electromyography.sto")
    assert recording.analog.shape == (4780, 10)
    assert recording.analog_rate_hz == pytest.approx(2000.0)
    assert all(one.muscle for one in emg_channels(recording))


@pytest.mark.parametrize(
    ("unit", "sizes", "odd"),
    [
        ("V", (1e-3, 2e-3, 5e-4), ""),
        ("V", (1e-3, 2e-3, 5e8), "LTA up to 5e+08 V"),
        ("V", (9.9, 9.9, 9.9), ""),
        ("V", (1e-3, 1e-3, 200.0), "LTA up to 200 V"),
        ("mV", (1.0, 2.0, 1e5 + 1), "LTA up to 1e+05 mV"),
        ("uV", (300.0, 200.0, 0.05), "LTA up to 0.05 uV"),
        ("uV", (300.0, 200.0, 0.0), ""),  # dead
        ("", (1.0, 0.5, 0.8), ""),  # normalised
        ("", (2e-4, 1e-4, 1e7), "LTA up to 1e+07"),
        ("", (2e-4, 1e-4, 3e-10), "LTA up to 3e-10"),
        ("", (2e9, 1e9, 3e9), "RVL up to 2e+09, RRF up to 1e+09, LTA up to 3e+09"),
        ("V", (1e-3, np.nan, np.inf), "LTA up to inf V"),
    ],
)
def test_electromyograms_of_a_size_that_no_amplifier_gives_are_a_guess(unit, sizes, odd):
    values = np.array(sizes) * np.sin(np.arange(1, 11))[:, np.newaxis] / np.abs(np.sin(np.arange(1, 11))).max()
    labels = ("RVL", "RRF", "LTA")
    found = size_findings(replace(RECORDING, analog_labels=labels, analog_units=(unit,) * 3, analog=values))
    assert [finding.stated.partition(";")[0] for finding in found] == ([odd] if odd else [])
    assert all(finding.guessed for finding in found)


def test_the_electromyograms_of_the_recordings_are_of_a_believable_size(recordings):
    n_channels = 0
    for path in sorted(recordings.rglob("*.c3d")):
        recording = read_recording(path)
        n_channels += len(emg_channels(recording))
        assert not size_findings(recording), path.name
    assert n_channels > 10


def test_a_strict_reading_refuses_an_impossible_scale_of_electromyography(tmp_path):
    """A scale of 1e11; channels that nothing is computed from may have any."""
    positions = np.arange(90.0).reshape(10, 3, 3)
    analog = np.array([1e-4, 1e-4]) * np.array([1e11, 1e11])[np.newaxis] * np.sin(np.arange(10.0))[:, np.newaxis]
    for label, odd in (("RVL", True), ("Sync", False)):
        groups = {"ANALOG": {"LABELS": ["Trigger", label], "UNITS": ["V", "V"]}}
        path = raw_c3d(tmp_path / f"{label}.c3d", positions, analog=analog, parameters=groups)
        guesses = [guess.item for guess in read_recording(path).audit.guesses]
        assert ("size of electromyograms" in guesses) == odd
        if odd:
            with pytest.raises(ReadError, match="RVL up to"):
                read_recording(path, ReadOptions(strict=True))

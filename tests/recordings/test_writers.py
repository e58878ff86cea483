"""What is written is read back: by our own readers, and by OpenSim where it is installed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import text_files
from limbtorque.errors import LimbtorqueError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.writers import forces_table, recording_table, write_recording, write_sto


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """Three markers with gaps, awkward labels, numbers that no short decimal holds."""
    read = read_recording(text_files.write_trc(tmp_path / "given.trc", first_frame=31))
    markers = read.markers_m / 3.0
    markers[2, 1] = np.nan
    return replace(read, markers_m=markers, labels=("S:RSHO", 'a "b", <i>', "ü 2"))


@pytest.mark.parametrize("suffix", [".csv", ".sto"])
def test_markers_come_back_to_the_last_bit(recording: Recording, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "new" / f"a{suffix}"
    write_recording(recording, path)
    read = read_recording(path)
    np.testing.assert_array_equal(read.markers_m, recording.markers_m)
    labels = [label.replace(" ", "_") if suffix == ".sto" else label for label in recording.labels]
    assert (read.labels, read.rate_hz) == (tuple(labels), recording.rate_hz)
    assert read.first_frame == (31 if suffix == ".csv" else 1)
    assert not read.audit.guesses
    again = path.read_bytes()
    write_recording(recording, path)
    assert path.read_bytes() == again


def test_parquet_of_a_recording(recording: Recording, tmp_path: Path) -> None:
    write_recording(recording, tmp_path / "a.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    np.testing.assert_array_equal(table["ü 2_z_m"].to_numpy(), recording.markers_m[:, 2, 2])
    assert table.column_names[:2] == ["frame", "time_s"]


def test_forces_come_back(tmp_path: Path) -> None:
    given = read_recording(text_files.write_grf_mot(tmp_path / "given.mot"))
    write_sto(forces_table(given), tmp_path / "a.mot", units="m")
    read = read_recording(tmp_path / "a.mot", ReadOptions(force_unit="N"))
    for a, b in zip(read.force_plates, given.force_plates, strict=True):
        np.testing.assert_array_equal(a.force_n, b.force_n)
        np.testing.assert_array_equal(a.moment_nm, b.moment_nm)


def test_heading_states_rows_columns_and_degrees(tmp_path: Path) -> None:
    table = pa.table({"note": ["a", "b"], "elbow_angle_rad": [0.0, np.pi], "time_s": [0.0, 0.01], "n": [1, 2]})
    write_sto(table, tmp_path / "a.sto")
    lines = (tmp_path / "a.sto").read_text().splitlines()
    assert lines[:6] == ["a", "version=1", "nRows=2", "nColumns=3", "inDegrees=no", "DataRate=100"]
    assert lines[6:8] == ["endheader", "time\telbow_angle_rad\tn"]
    write_sto(table, tmp_path / "b.sto", degrees=True)
    lines = (tmp_path / "b.sto").read_text().splitlines()
    assert "inDegrees=yes" in lines
    assert lines[-2:] == ["0\t0\t1", "0.01\t180\t2"]
    assert "time\telbow_angle_deg\tn" in lines


def test_unwritable_recordings_are_refused_with_a_message(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(LimbtorqueError, match="needs a column time_s, found x"):
        write_sto(pa.table({"x": [1.0]}), tmp_path / "a.sto")
    with pytest.raises(LimbtorqueError, match="two columns of the same name: a_b"):
        write_sto(pa.table({"time_s": [0.0], "a\tb": [1.0], "a b": [2.0]}), tmp_path / "a.sto")
    with pytest.raises(LimbtorqueError, match=r"written as .csv, .parquet or .sto, not '.txt'"):
        write_recording(recording, tmp_path / "a.txt")
    with pytest.raises(LimbtorqueError, match="a label occurs twice"):
        recording_table(replace(recording, labels=("a", "a", "b")))
    with pytest.raises(LimbtorqueError, match="expected force plates of one rate and length, found 0"):
        forces_table(recording)


def test_opensim_reads_it(recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # it writes a log where it is
    opensim = pytest.importorskip("opensim", reason="the Python package opensim is not installed", exc_type=ImportError)
    write_recording(recording, tmp_path / "a.sto")
    table = opensim.TimeSeriesTable(str(tmp_path / "a.sto"))
    assert (table.getNumRows(), table.getNumColumns()) == (12, 9)
    assert table.getColumnLabels()[0] == "S:RSHO_tx"
    assert table.getTableMetaDataString("inDegrees") == "no"
    np.testing.assert_allclose(table.getIndependentColumn(), recording.time_s, rtol=1e-15)
    np.testing.assert_array_equal(table.getMatrix().to_numpy(), recording.markers_m.reshape(12, 9))
    whole = replace(recording, markers_m=np.nan_to_num(recording.markers_m))  # Storage reads no nan
    write_recording(whole, tmp_path / "b.sto")
    storage = opensim.Storage(str(tmp_path / "b.sto"))
    assert storage.getSize() == 12
    assert not storage.isInDegrees()


def test_we_read_what_opensim_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    opensim = pytest.importorskip("opensim", reason="the Python package opensim is not installed", exc_type=ImportError)
    source = opensim.TimeSeriesTableVec3(str(text_files.write_trc(tmp_path / "a.trc")))
    opensim.STOFileAdapterVec3.write(source, str(tmp_path / "a.sto"))
    opensim.STOFileAdapter.write(source.flatten(), str(tmp_path / "b.sto"))
    for name in ("a.sto", "b.sto"):
        read = read_recording(tmp_path / name, ReadOptions(length_unit="mm"))
        assert read.labels == text_files.LABELS
        np.testing.assert_allclose(read.markers_m, text_files.positions_mm() * 1e-3, rtol=1e-14)

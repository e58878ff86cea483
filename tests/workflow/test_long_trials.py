"""Long trials and many: worked on in stretches, with the same numbers, in little memory, and on disks that are full.

What many trials share is found once, and their faults are counted.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from limbtorque import arrays
from limbtorque.analysis import memory
from limbtorque.analysis.memory import available_bytes, refuse_too_long
from limbtorque.analysis.reading import TrialReader
from limbtorque.analysis.study import KEPT_BYTES
from limbtorque.errors import SignalError, StudyError, WriteError
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.options.reading import Reading
from limbtorque.study.study import load_study
from limbtorque.tables.column import Column
from limbtorque.tables.files import make_table, read_extremes, read_record, read_table, trial_table, write_table
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow import keys, layout
from limbtorque.workflow.stages import kinematics
from staged_study import DEMO, ROOT, make_study, run_tables

OPTIONS = """
muscles: {ranges: true, contact_forces: true}
tables: {csv: [kinematics, torques, muscles]}
"""
COLUMNS = (Column("time_s", "s", "time"), Column("value", "1", "number"), Column("n", "1", "count", kind=int))


def the_table(folder, stage):
    """Table of the only trial; that of bands is of short trials alone, and written whole."""
    (path,) = (path for path in (folder / "results" / stage).glob("*/[!_]*.parquet") if "+bands" not in path.name)
    return path


def test_tables_of_a_trial_in_stretches_are_those_of_the_whole(tmp_path, monkeypatch):
    folders = [make_study(tmp_path / name, names=DEMO[:1], extra=OPTIONS) for name in ("whole", "pieces")]
    for folder, n_frames in zip(folders, (arrays.STRETCH_FRAMES, 64), strict=True):
        monkeypatch.setattr(arrays, "STRETCH_FRAMES", n_frames)
        run_tables(folder)
    for stage in ("kinematics", "torques", "muscles"):
        first, second = (the_table(folder, stage) for folder in folders)
        (one, record), (other, again) = read_table(first), read_table(second)
        assert pa.parquet.ParquetFile(second).num_row_groups == -(-len(one) // 64) > 2
        assert one.schema.equals(other.schema)
        for name in one.column_names:
            a, b = (table[name].to_numpy() for table in (one, other))
            largest = 1.0 if name.startswith("optimization_") else np.nanmax(np.abs(a), initial=0.0)  # it is rounding
            np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12 * largest, err_msg=name)
        assert again.notes == record.notes
        for row, same in zip([record.metrics, *record.summary], [again.metrics, *again.summary], strict=True):
            assert same.keys() == row.keys()
            for name, value in row.items():
                near = value if isinstance(value, str) else pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True)
                assert same[name] == near, name
        lines, others = (path.with_suffix(".csv").read_text().splitlines() for path in (first, second))
        assert len(lines) == len(others)
        assert lines[:8] == others[:8]


def test_a_table_without_room_ends_its_job_without_a_trace(tmp_path):
    folder = make_study(tmp_path / "study", names=DEMO[:1], extra="filter: {cutoff_hz: 6.0}")
    study = load_study(folder)
    (session,) = study.batches
    script = """
import resource, sys; from pathlib import Path
from limbtorque.workflow.stages import kinematics
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
kinematics.run(folder=Path(sys.argv[1]), session=sys.argv[2], key=sys.argv[3])
"""
    key = keys.session_key("kinematics", study, session)
    command = [sys.executable, "-c", script, folder, session, key]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"the table kinematics/{session}/" in done.stderr
    assert "cannot be written: File too large; raise the limit on the size of files (ulimit -f)" in done.stderr
    assert not [path for path in (folder / "results").rglob("*") if path.is_file()]


def test_after_a_full_disk_the_session_is_made_again(tmp_path, monkeypatch):
    folder = make_study(tmp_path / "study", names=DEMO[:1], extra="filter: {cutoff_hz: 6.0}")
    study = load_study(folder)
    (session,) = study.batches
    key = keys.session_key("kinematics", study, session)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.parquet.ParquetWriter.write_table", full)
        with pytest.raises(WriteError, match="No space left on device; make room"):
            kinematics.run(folder=folder, session=session, key=key)
    assert not (folder / layout.record_path("kinematics", session)).exists()
    kinematics.run(folder=folder, session=session, key=key)
    assert read_record(the_table(folder, "kinematics")).reason == ""


def long_table(n_rows):
    value = np.sin(np.arange(n_rows) / 50.0)
    value[n_rows // 3] = 7.0
    value[n_rows // 2] = np.nan
    return make_table(COLUMNS, {"time_s": np.arange(n_rows) / 100.0, "value": value, "n": np.arange(n_rows) == 41})


def test_a_long_table_is_drawn_by_its_extremes(tmp_path):
    path, rows = tmp_path / "a.parquet", long_table(30_000)
    with trial_table([path]) as table:
        for start in range(0, len(rows), 10_000):
            table.write(rows.slice(start, 10_000))
        table.finish(TrialRecord("a"))
    few, step = read_extremes(path, at_most=600)
    assert step == 300
    assert len(few) <= 700
    values = few["value"].to_numpy()
    assert np.nanmax(values) == 7.0
    assert np.isnan(values).any()
    assert 41 / 100.0 in few["time_s"].to_numpy()
    assert (np.diff(few["time_s"].to_numpy()) > 0).all()
    assert (few["time_s"][0].as_py(), few["time_s"][-1].as_py()) == (0.0, 299.99)
    assert len(read_extremes(path, at_most=30_000)[0]) == 30_000
    assert read_record(path).trial == "a"


def test_a_short_table_in_one_stretch_has_the_bytes_of_a_whole_one(tmp_path):
    rows = long_table(500)
    with trial_table([tmp_path / "a.parquet", tmp_path / "a.csv"]) as table:
        table.write(rows)
        table.finish(TrialRecord("a"))
    write_table(rows, tmp_path / "whole" / "a.csv", rounded=True)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "whole" / "a.csv").read_bytes()


def test_a_trial_too_long_for_the_memory_is_refused_with_the_estimate(monkeypatch):
    recording = read_recording(ROOT / "data" / "demo" / "S01_sagittal_fast.c3d")
    monkeypatch.setattr(memory, "available_bytes", lambda: 1e9)
    refuse_too_long(recording)
    with pytest.raises(
        SignalError, match=r"1000000 frames need about 2.2 GB of memory, 1.0 GB are available; .*start_s"
    ):
        refuse_too_long(replace(recording, markers_m=np.empty((1_000_000, 0, 3))))
    monkeypatch.undo()
    assert 1e6 < available_bytes() < 1e15


def test_check_reads_a_small_recording_once(monkeypatch):
    read = []

    def recording(_, path, **_options):
        read.append(path)
        frames = 10 if path.name == "small.c3d" else KEPT_BYTES // 24 + 1
        return Recording(path.name, "", "", ("A",), np.broadcast_to(np.zeros((1, 1, 3)), (frames, 1, 3)), 100.0, 1)

    monkeypatch.setattr(GuardedReader, "read", recording)
    small, large = Path("small.c3d"), Path("large.c3d")

    def trial(path):
        settings = SimpleNamespace(reading=Reading())
        return SimpleNamespace(file=path, forces_file=None, static_file=None, settings=settings)

    with GuardedReader() as guarded:
        reader = TrialReader(guarded, keep_bytes=KEPT_BYTES)
        first = reader.recording(trial(small))
        assert reader.recording(trial(small)) is first
        for path in (large, large):
            reader.recording(trial(path))
    assert read == [small, large, large]


def test_many_wrong_rows_are_told_of_by_the_first(tmp_path, monkeypatch):
    def many(rows):
        return [{**rows[0], "trial": f"t{k}", "subject": f"X{k}"} for k in range(3000)]

    folder = make_study(tmp_path / "study", names=DEMO[:1], change=many)
    compared = []
    monkeypatch.setattr(
        "limbtorque.study.trials.did_you_mean", lambda value, *_, **__: compared.append(value) or "; near"
    )
    with pytest.raises(StudyError, match="and 2900 more; correct these, and check again") as error:
        load_study(folder)
    assert len(error.value.faults) == 3000
    assert len(compared) == 100
    assert len(str(error.value).splitlines()) == 102

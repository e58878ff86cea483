"""The audit: what every file says and what was made of it, in `inspect` and in the ledger; guesses as errors."""

from pathlib import Path

import numpy as np
import pytest

import study_runs
import text_files
from c3d_files import plate, raw_c3d, write_c3d
from limbtorque.cli.main import main
from limbtorque.errors import ReadError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.writers import write_recording
from limbtorque.simulation.demo import demo_trials
from limbtorque.study.study import load_study
from limbtorque.tables.files import column_array, read_table
from limbtorque.workflow import keys, layout
from limbtorque.workflow.stages import collect, kinematics, muscles, torques

ROOT = Path(__file__).resolve().parents[2]
STRICT = ReadOptions(strict=True)


def finding(read: Recording, what: str) -> tuple[str, str, bool]:
    (found,) = (f for f in read.audit.findings if f.item == what)
    return found.stated, found.interpretation, found.guessed


def test_every_reader_audits_units_rate_axes_and_frames(tmp_path: Path) -> None:
    paths = [
        raw_c3d(tmp_path / "a.c3d", text_files.positions_mm()),
        text_files.write_trc(tmp_path / "a.trc"),
        text_files.write_marker_sto(tmp_path / "a.sto"),
        text_files.write_qualisys(tmp_path / "a.tsv"),
        text_files.write_vicon(tmp_path / "n.csv"),
        text_files.write_csv(tmp_path / "p.csv"),
    ]
    for path in paths:
        read = read_recording(path, ReadOptions(length_unit="mm"))
        names = [f.item for f in read.audit.findings]
        assert {"format", "unit of length", "rate", "frames", "axes", "prefix", "duplicates"} <= set(names), path.name
        assert len(names) == len(set(names))
        assert not read.audit.guesses
        read_recording(path, ReadOptions(length_unit="mm", strict=True))


def test_a_given_unit_overrides_the_file_and_is_audited(tmp_path: Path) -> None:
    path = raw_c3d(tmp_path / "a.c3d", text_files.positions_mm() / 10, parameters={"POINT": {"UNITS": ["mm"]}})
    read = read_recording(path, ReadOptions(length_unit="cm"))
    np.testing.assert_allclose(read.markers_m, text_files.positions_mm() * 1e-3, rtol=1.2e-7)
    assert finding(read, "unit of length") == ("POINT:UNITS is 'mm'", "cm, as in reading.length_unit", False)
    assert any("reading.length_unit is cm: reading.length_unit is used" in note for note in read.notes)
    with pytest.raises(ReadError, match=r"reading.rate_hz is 50; remove the option for this trial"):
        read_recording(path, ReadOptions(rate_hz=50.0))


def test_guesses_about_a_c3d_file(tmp_path: Path) -> None:
    """Zeros treated as missing, an origin turned round, moments without a unit: each named, each an error if asked for."""
    xyz = text_files.positions_mm()
    xyz[3, 1] = 0.0
    group = plate(4, CAL_MATRIX=np.eye(6)[:, :, np.newaxis], ORIGIN=np.array([[0.0], [0.0], [40.0]]))
    path = write_c3d(tmp_path / "a.c3d", xyz, units="mm", groups=group, analog=np.ones((24, 6)), analog_units=["V"] * 6)
    read = read_recording(path)
    assert [g.item for g in read.audit.guesses] == [
        "zeros",
        "origin of force plate 1",
        "forces of force plate 1",
        "moments of force plate 1",
    ]
    with pytest.raises(ReadError, match=r"a.c3d: 4 guesses needed.*zeros: .*origin.*set ANALOG:UNITS"):
        read_recording(path, STRICT)


def test_inspect_shows_the_audit_and_takes_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = text_files.write_csv(tmp_path / "a.csv", name="{label}_{axis}", time="time")
    assert main(["inspect", str(path)]) == 1
    assert "give it with the option reading.length_unit" in capsys.readouterr().err
    assert main(["inspect", str(path), "--set", "reading.length_unit=mm"]) == 0
    out = capsys.readouterr().out
    assert "statements of the file -> interpretation; guesses: 1" in out
    assert "(a guess: name the column time_s or time_ms)" in out
    assert main(["inspect", str(path), "--set", "reading.length_unit=mm", "--set", "reading.strict=true"]) == 1
    assert "reading.strict forbids: unit of time" in capsys.readouterr().err


def test_one_trial_in_three_formats_gives_one_answer(tmp_path: Path) -> None:
    """Through the stages: the same torques from CSV, STO and Parquet's siblings, and the audit in the ledger."""
    (tmp_path / "config").mkdir()
    (tmp_path / "data").mkdir()
    for name in ("config.yaml", "subjects.csv"):
        (tmp_path / "config" / name).write_bytes((ROOT / "config" / name).read_bytes())
    recording = demo_trials()[1].recording(noise_m=2e-4)
    rows = ["trial,session,subject,file,chain,side,condition,reading.strict"]
    for suffix in ("csv", "sto"):
        write_recording(recording, tmp_path / "data" / f"good.{suffix}")
        rows.append(f"{suffix},s,S01,data/good.{suffix},arm,right,x,true")
    text_files.write_csv(tmp_path / "data" / "vague.csv", time="time")
    rows.append("vague,s,S01,data/vague.csv,arm,right,x,true")
    (tmp_path / "config" / "trials.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    study = load_study(tmp_path)
    for stage, module in (("kinematics", kinematics), ("torques", torques), ("muscles", muscles)):
        module.run(folder=tmp_path, session="s", key=keys.session_key(stage, study, "s"))
    collect.run(folder=tmp_path)
    tables = [read_table(tmp_path / layout.table_path("torques", "s", name))[0] for name in ("csv", "sto")]
    for name in ("shoulder_torque_nm", "elbow_torque_nm", "wrist_torque_nm"):
        np.testing.assert_array_equal(*(column_array(table, name) for table in tables))
    ledger = study_runs.ledger(tmp_path)
    assert "unit of length: Units: 'm'; positions multiplied by 1 to metres" in ledger["sto"]["notes"]
    assert "unit of length: the columns' names: 'm'" in ledger["csv"]["notes"]
    assert (ledger["vague"]["status"], ledger["vague"]["reason"]) == ("failed", "read")
    assert "reading.strict forbids: unit of time" in ledger["vague"]["message"]


def test_compare_is_for_c3d_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "--compare", str(text_files.write_csv(tmp_path / "a.csv"))]) == 1
    assert "--compare reads a single C3D file" in capsys.readouterr().err

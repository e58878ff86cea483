"""Text formats against the C3D files of the same trials, against formulas, and damaged."""

import re
from pathlib import Path

import numpy as np
import pytest

import text_files
from limbtorque.cli.inspect import describe
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import content_format, file_format, read_recording
from limbtorque.recordings.recording import Recording, find_marker
from limbtorque.recordings.text.vicon import read_vicon
from text_files import FORCE_N, LABELS, POINT_M, TORQUE_NM, positions_mm

MM, M = ReadOptions(length_unit="mm"), ReadOptions(length_unit="m")


def shortened(source: Path, target: Path, *changes: tuple[str, str]) -> Path:
    """Copy a text file without its last line, which is off the even grid of the others."""
    text = "\n".join(source.read_text().rstrip().split("\n")[:-1]) + "\n"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    target.write_text(text)
    return target


def check(read: Recording, *, labels=LABELS, first_frame: int = 1) -> None:
    assert read.labels == labels
    assert (read.rate_hz, read.first_frame, read.n_frames) == (100.0, first_frame, 12)
    np.testing.assert_allclose(read.markers_m, positions_mm() * 1e-3, rtol=1e-15)
    assert re.fullmatch("[0-9a-f]{64}", read.sha256)


# ---- the same trial in two formats ----


@pytest.mark.parametrize("name", ["std_walking2_grfs.sto", "std_cop_walking2_grfs.sto"])
def test_force_sto_agrees_with_its_c3d(recordings: Path, tmp_path: Path, name: str) -> None:
    folder = recordings / "walking_opensim"
    path = shortened(folder / name, tmp_path / "a.sto", ("datarows 101", "datarows 100"))
    read, c3d = read_recording(path, MM), read_c3d(folder / "walking2.c3d")
    assert (read.rate_hz, read.markers_m.shape) == (20.0, (100, 0, 3))
    for a, b in zip(read.force_plates, c3d.force_plates, strict=True):  # 8 decimals
        np.testing.assert_allclose(a.force_n, b.force_n[::100], rtol=5e-9, atol=6e-9)
        np.testing.assert_allclose(a.moment_nm, b.moment_nm[::100], rtol=5e-9, atol=2e-8)
    assert any(guess.item == "unit of force" for guess in read.audit.guesses)


def test_csv_agrees_with_its_c3d(recordings: Path) -> None:
    folder = recordings / "tennis_serve"
    read = read_recording(folder / "kinematics_tennis_serve.csv", M)
    c3d = read_c3d(folder / "kinematics_tennis_serve.c3d")
    assert (read.rate_hz, read.n_frames, len(read.labels)) == (50.0, 1092, 39)
    expected = c3d.markers_m[:, [find_marker(c3d, label) for label in read.labels]]
    np.testing.assert_allclose(read.markers_m, expected, rtol=2e-7, atol=5e-8)


def test_an_early_last_row_is_left_out_as_a_guess(recordings: Path) -> None:
    """OpenSim wrote every tenth of 1249 frames, the last of which is not a tenth one; the row before it is frame 125."""
    path = recordings / "walking_opensim" / "std_walking2_markers.trc"
    read, c3d = read_recording(path), read_c3d(path.parent / "walking2.c3d")
    assert (read.rate_hz, read.n_frames, read.first_frame) == (25.0, 125, 1)
    assert any("DataRate is 250 Hz, the times say 25 Hz" in note for note in read.notes)
    (guess,) = [guess for guess in read.audit.guesses if guess.item == "last row"]
    assert guess.stated == ("line 132 at 4.992 s comes 0.032 s after the previous one, the others 0.04 s apart")
    assert guess.interpretation == "line 132 at 4.992 s is left out, since frames must be evenly spaced"
    label = "RASI"
    expected = c3d.markers_m[::10, find_marker(c3d, label)]
    np.testing.assert_allclose(read.markers_m[:, find_marker(read, label)], expected[:125], rtol=5e-5)
    with pytest.raises(ReadError, match=r"guesses needed.*last row: line 132 at 4.992 s"):
        read_recording(path, ReadOptions(strict=True))


def write_at(path: Path, times_s: list[float]) -> Path:
    """A marker that moves by 1 mm a row, at some times, in one of the formats that have times."""
    n, times = len(times_s), [f"{t:.4f}" for t in times_s]
    rows = [f"{k}\t0\t1000" for k in range(n)]
    heads = {
        ".trc": "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tNumFrames\tNumMarkers\tUnits\n"
        f"100\t{n}\t1\tmm\nFrame#\tTime\tA\n\t\tX1\tY1\tZ1\n",
        ".sto": f"a\nnRows={n}\nnColumns=4\nUnits=mm\nendheader\ntime\tA_tx\tA_ty\tA_tz\n",
        ".csv": "time_ms;A_x_mm;A_y_mm;A_z_mm\n",
        ".tsv": f"NO_OF_FRAMES\t{n}\nNO_OF_MARKERS\t1\nFREQUENCY\t100\nMARKER_NAMES\tA\nFrame\tTime\tA X\tA Y\tA Z\n",
    }
    if path.suffix == ".csv":
        lines = [f"{1e3 * float(t):.1f};{row}".replace("\t", ";") for t, row in zip(times, rows, strict=True)]
    else:
        numbers = [f"{k + 1}\t" * (path.suffix != ".sto") for k in range(n)]
        lines = [f"{k}{t}\t{row}" for k, t, row in zip(numbers, times, rows, strict=True)]
    path.write_text(heads[path.suffix] + "\n".join(lines) + "\n", encoding="utf-8")
    return path


EVEN_S = [k / 100.0 for k in range(12)]


@pytest.mark.parametrize("suffix", [".trc", ".sto", ".csv", ".tsv"])
def test_every_format_leaves_out_the_last_row_only(tmp_path: Path, suffix: str) -> None:
    read = read_recording(write_at(tmp_path / f"a{suffix}", [*EVEN_S, 0.114]), MM)
    assert (read.rate_hz, read.n_frames) == (100.0, 12)
    np.testing.assert_allclose(read.markers_m[:, 0, 0], np.r_[0.0:12.0] / 1e3, atol=1e-12)
    n_lines = len((tmp_path / f"a{suffix}").read_text().splitlines())
    (guess,) = read.audit.guesses
    assert guess.interpretation == f"line {n_lines} at 0.114 s is left out, since frames must be evenly spaced"
    assert "0.004 s after the previous one, the others 0.01 s" in guess.stated
    whole = read_recording(write_at(tmp_path / f"b{suffix}", [*EVEN_S, 0.12]), MM)
    assert (whole.n_frames, whole.audit.guesses) == (13, ())


@pytest.mark.parametrize(
    "times_s",
    [
        [*EVEN_S, 0.13],  # a frame is missing before it
        [*EVEN_S, 0.11],  # it is there twice
        [*EVEN_S, 0.105],  # goes back
        [*EVEN_S, 0.114, 0.118],  # two rows
        [0.0, 0.004, *(0.004 + t for t in EVEN_S[1:])],  # the first step
        [*EVEN_S[:6], 0.054, *EVEN_S[6:]],  # in the middle
        [*EVEN_S[:5], *EVEN_S[6:], 0.114],  # another one is missing, too
        [0.0, 0.01, 0.014],  # two rows do not show what is usual
    ],
)
def test_any_other_uneven_times_are_refused(tmp_path: Path, times_s: list[float]) -> None:
    with pytest.raises(ReadError, match=r"the time jumps from|do not increase"):
        read_recording(write_at(tmp_path / "a.trc", times_s), MM)


# ---- formulas ----


def test_trc(tmp_path: Path) -> None:
    check(read_recording(text_files.write_trc(tmp_path / "a.trc", first_frame=31)), first_frame=31)


def test_storage_of_markers(tmp_path: Path) -> None:
    bare = tuple(label.partition(":")[2] for label in LABELS)
    for suffixes in ("tx ty tz", "x y z", "1 2 3"):
        check(read_recording(text_files.write_marker_sto(tmp_path / "a.sto", suffixes=suffixes)), labels=bare)
    check(read_recording(text_files.write_vec3_sto(tmp_path / "b.sto")), labels=bare)


@pytest.mark.parametrize("cell", ["#REF!", "#VALUE!", "#DIV/0!", "#NAME?"])
def test_errors_of_a_spreadsheet_are_refused_wherever_they_are(tmp_path: Path, cell: str) -> None:
    path = text_files.write_trc(tmp_path / "a.trc")
    label = LABELS[0]
    assert label in path.read_text()
    path.write_text(path.read_text().replace(label, cell, 1))
    with pytest.raises(ReadError, match=r"line \d+: #.* is a spreadsheet error; correct the formula"):
        read_recording(path)


@pytest.mark.parametrize("style", ["ground_force", "numbered", "opensim_c3d"])
def test_storage_of_forces(tmp_path: Path, style: str) -> None:
    read = read_recording(text_files.write_grf_mot(tmp_path / "a.mot", style=style))
    first, second = read.force_plates
    assert (first.kind, first.rate_hz, len(first.force_n)) == (0, 1000.0, 20)
    np.testing.assert_allclose(first.force_n[3], FORCE_N)
    np.testing.assert_allclose(first.moment_nm[3], np.cross(POINT_M, FORCE_N) + TORQUE_NM)
    np.testing.assert_allclose(first.corners_m, np.tile(POINT_M, (4, 1)))
    assert not second.force_n.any()
    assert not read.audit.guesses
    assert any("the time begins at 0.5 s" in finding.stated for finding in read.audit.findings)


@pytest.mark.parametrize("times", [True, False])
@pytest.mark.parametrize("names", [True, False])
def test_qualisys(tmp_path: Path, times: bool, names: bool) -> None:
    path = text_files.write_qualisys(tmp_path / "a.tsv", times=times, names=names)
    read = read_recording(path, MM)
    check(read, labels=tuple(label.partition(":")[2] for label in LABELS))
    assert [(e.label, e.time_s) for e in read.events] == [("start", 0.04)]
    with pytest.raises(ReadError, match=r"unit of length: the heading: not stated.*reading.length_unit"):
        read_recording(path)


def test_vicon(tmp_path: Path) -> None:
    read = read_recording(text_files.write_vicon(tmp_path / "a.csv"))
    check(read, first_frame=51)
    assert read.analog_labels == ("Plate 1 - Force.Fx", "Plate 1 - Force.Fy")
    assert (read.analog_units, read.analog_rate_hz) == (("N", "N"), 200.0)
    np.testing.assert_array_equal(read.analog[:, 0], np.arange(24))
    (event,) = read.events  # frame 51 is 0.5 s after frame 1
    assert (event.label, event.context) == ("Foot Strike", "Right")
    assert event.time_s == pytest.approx(0.05)
    assert not read.force_plates
    assert any("force plate 'Plate 1' is not used: 2 of 3 columns of its force" in note for note in read.notes)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["{label}_{axis}_mm", "{label}_{axis} [mm]", "{label}.{axis} (mm)", "{label}_{axis}"])
def test_plain_csv(tmp_path: Path, name: str, separator: str) -> None:
    path = text_files.write_csv(tmp_path / "a.csv", name=name, separator=separator)
    if "mm" in name:
        read = read_recording(path)
        check(read)
        assert not read.audit.guesses
    else:
        check(read_recording(path, MM))
        with pytest.raises(ReadError, match=r"unit of length: the columns' names: not stated.*reading.length_unit"):
            read_recording(path)


def test_plain_csv_with_frames_needs_a_rate(tmp_path: Path) -> None:
    path = text_files.write_csv(tmp_path / "a.csv", time="frame")
    with pytest.raises(ReadError, match=r"frame numbers but no times; give the rate with reading.rate_hz"):
        read_recording(path)
    check(read_recording(path, ReadOptions(rate_hz=100.0)), first_frame=7)


def test_missing_samples(tmp_path: Path) -> None:
    xyz = positions_mm()
    xyz[2, 0] = np.nan
    xyz[3, 1, 2] = np.nan
    xyz[4, 2] = 0.0
    for read in (
        read_recording(text_files.write_trc(tmp_path / "a.trc", xyz)),
        read_recording(text_files.write_marker_sto(tmp_path / "a.sto", xyz)),
        read_recording(text_files.write_vicon(tmp_path / "a.csv", xyz)),
    ):
        assert np.argwhere(np.isnan(read.markers_m).all(axis=2)).tolist() == [[2, 0], [3, 1], [4, 2]]
        assert np.isnan(read.markers_m).sum() == 9
        assert [guess.item for guess in read.audit.guesses] == ["zeros"]


def test_times_printed_with_few_decimals(tmp_path: Path) -> None:
    """120 Hz in three decimals: steps of 8 and 9 ms, and still 120 Hz."""
    times = [f"{k / 120:.3f},{k / 1000},0,1" for k in range(200)]
    path = tmp_path / "a.csv"
    path.write_text("time_s,A_x_m,A_y_m,A_z_m\n" + "\n".join(times) + "\n")
    assert read_recording(path).rate_hz == 120.0


def test_times_rounded_to_milliseconds_and_printed_with_more_digits(tmp_path: Path) -> None:
    path = text_files.write_trc(tmp_path / "a.trc", text_files.positions_mm(10), rate_hz=60.0)
    lines = path.read_text().splitlines()
    rows = [line.split("\t") for line in lines[6:]]
    rounded = ["\t".join([row[0], f"{k / 60.0:.3f}000", *row[2:]]) for k, row in enumerate(rows)]
    path.write_text("\n".join([*lines[:6], *rounded]) + "\n")
    recording = read_recording(path)
    assert recording.rate_hz == 60.0
    assert not recording.audit.guesses
    late = [*rounded[:4], rounded[4].replace("0.067000", "0.069000"), *rounded[5:]]
    path.write_text("\n".join([*lines[:6], *late]) + "\n")
    with pytest.raises(ReadError, match="frames must be evenly spaced"):
        read_recording(path)
    path.write_text("\n".join([*lines[:6], *rounded]).replace("60.0", "90.0") + "\n")  # another rate is not believed
    with pytest.raises(ReadError, match="frames must be evenly spaced"):
        read_recording(path)


def test_the_examples_of_opensim_are_read(recordings: Path) -> None:
    rounded = read_recording(recordings / "trc_opensim" / "gait10dof18musc_walk_CRLF_line_ending.trc")
    doubled_tabs = read_recording(recordings / "walk_emg_opensim" / "markers_walk.trc")
    assert (rounded.n_frames, len(rounded.labels), rounded.rate_hz) == (10, 41, 60.0)
    assert (doubled_tabs.n_frames, len(doubled_tabs.labels), doubled_tabs.rate_hz) == (238, 41, 100.0)


def test_tabs_doubled_in_the_third_line_of_a_trc(tmp_path: Path) -> None:
    path = text_files.write_trc(tmp_path / "a.trc", first_frame=31)
    lines = path.read_text().splitlines()
    lines[2] = lines[2].replace("\t", "\t\t")
    path.write_text("\n".join(lines) + "\n")
    check(read_recording(path), first_frame=31)


@pytest.mark.parametrize("counted", [3, 5])
@pytest.mark.parametrize("cells", ["", "\t" * 6])
def test_virtual_markers_that_are_named_and_empty(tmp_path: Path, counted: int, cells: str) -> None:
    path = text_files.write_trc(tmp_path / "a.trc")
    lines = path.read_text().splitlines()
    lines[2] = lines[2].replace("\t3\tmm", f"\t{counted}\tmm")
    lines[3] += "V_KNEE\t\t\tV_ANKLE"
    path.write_text("\n".join([*lines[:6], *(line + cells for line in lines[6:])]) + "\n")
    recording = read_recording(path)
    assert recording.labels == (*text_files.LABELS, "V_KNEE", "V_ANKLE")
    np.testing.assert_allclose(recording.markers_m[:, :3], text_files.positions_mm() / 1e3, atol=1e-12)
    assert np.isnan(recording.markers_m[:, 3:]).all()
    assert "markers without any sample: V_KNEE, V_ANKLE" in recording.notes


def test_a_last_line_without_an_end_may_be_cut_off(tmp_path: Path) -> None:
    path = text_files.write_csv(tmp_path / "a.csv")
    path.write_bytes(path.read_bytes()[:-3])
    read = read_recording(path)
    assert read.audit.guesses[0].item == "end of the file"


def test_text_in_other_encodings(tmp_path: Path) -> None:
    path = text_files.write_trc(tmp_path / "a.trc", labels=("Hüfte", "Knie", "Fuß"))
    text = path.read_text(encoding="utf-8")
    for encoding, options in (("utf-8-sig", ReadOptions()), ("utf-16", ReadOptions()), ("latin-1", ReadOptions())):
        path.write_text(text, encoding=encoding)
        read = read_recording(path, options)
        assert read.labels == ("Hüfte", "Knie", "Fuß")
        assert bool(read.audit.guesses) == (encoding == "latin-1")
    path.write_text(text.replace("Hüfte", "腰").replace("ß", "s"), encoding="shift_jis")
    assert read_recording(path, ReadOptions(text_encoding="shift_jis")).labels[0] == "腰"


def test_labels_that_are_hard_to_see(tmp_path: Path) -> None:
    path = text_files.write_csv(tmp_path / "a.csv")
    path.write_text(path.read_text().replace("S:RSHO_y", "S:RS\u200bHO_y"), encoding="utf-8")
    read = read_recording(path)
    check(read)
    assert any("invisible characters" in note for note in read.notes)
    path = text_files.write_csv(tmp_path / "b.csv", name='<b>"{label},\u00fc/..</b>_{axis}_mm')
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"<b>"', '"<b>""'), encoding="utf-8")  # quotes are doubled in a quoted cell
    check(read_recording(path), labels=tuple(f'<b>"{label},ü/..</b>' for label in LABELS))


# ---- what is refused, and how ----


@pytest.mark.parametrize(
    ("name", "writer", "old", "new", "said"),
    [
        ("a.trc", text_files.write_trc, "\tmm\t", "\tinch\t", r"Units: 'inch', expected one of mm, cm, m"),
        ("a.trc", text_files.write_trc, "\tS:RWRI", "\t", r"line 4: 2 names over columns of 3 markers"),
        ("a.trc", text_files.write_trc, "\t103\t", "\t1o3\t", r"line 10: column 3 is '1o3', expected a number"),
        ("a.trc", text_files.write_trc, "\t103\t", "\t103,5\t", r"decimal point, not a comma"),
        ("a.trc", text_files.write_trc, "\t103\t", "\t", r"line 10: expected 11 cells, found 10"),
        ("a.trc", text_files.write_trc, "\n4\t0.03", "\n5\t0.03", r"line 10: frame 5 follows frame 3"),
        ("a.trc", text_files.write_trc, "\n4\t0.03", "\n4\t0.035", r"the time jumps from 0.0(2|35) to 0.0(35|4) s"),
        ("a.trc", text_files.write_trc, "\nFrame#", "\nFeld", r"not a TRC file: no line of names"),
        ("a.sto", text_files.write_marker_sto, "nRows=12", "nRows=120", r"says 120 rows \(nrows\), the file has 12"),
        ("a.sto", text_files.write_marker_sto, "time\t", "zeit\t", r"first column is 'zeit', expected 'time'"),
        ("a.sto", text_files.write_marker_sto, "endheader", "end", r"content is CSV with named columns|of unknown"),
        ("a.sto", text_files.write_marker_sto, "RELB_tx", "RSHO_tx", r"occur more than once: 'rsho_tx'"),
        ("a.tsv", text_files.write_qualisys, "NO_OF_FRAMES\t12", "NO_OF_FRAMES\t13", r"NO_OF_FRAMES is 13"),
        ("a.tsv", text_files.write_qualisys, "FREQUENCY\t100", "FREQUENCY\tfast", r"FREQUENCY is 'fast'"),
        ("a.tsv", text_files.write_qualisys, "\t3D", "\t2D", r"DATA_INCLUDED is '2D', expected 3D"),
        ("a.tsv", text_files.write_qualisys, "\tRELB", "\t", r"MARKER_NAMES has 2"),
        ("a.csv", text_files.write_vicon, "Trajectories", "Joints", r"no section Trajectories"),
        ("a.csv", text_files.write_vicon, ",,mm,mm", ",,mm,m", r"more than one unit of length: m, mm"),
        ("a.csv", text_files.write_vicon, "\nTrajectories\n100", "\nTrajectories\nno", r"rate of trajectories is 'no'"),
        ("a.csv", text_files.write_vicon, "\n200\n", "\n300\n", r"Devices has 24 samples at 300 Hz"),
        ("a.csv", text_files.write_csv, "RSHO_x_mm", "RSHO_x_m", r"have units 'm', 'mm', expected the same unit"),
        ("a.csv", text_files.write_csv, "time_s", "hour", r"no column 'time'"),
        ("a.csv", text_files.write_csv, "time_s", "time_[h]", r"unit of the time is 'h'"),
        ("a.csv", text_files.write_csv, "S:RSHO_y_mm", "S:RSHO_x_mm", r"occur more than once"),
    ],
)
def test_faults_of_text_files_are_named(tmp_path: Path, name: str, writer, old: str, new: str, said: str) -> None:
    path = writer(tmp_path / name)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ReadError, match=said) as raised:
        read_recording(path, MM if name == "a.tsv" else ReadOptions())
    assert str(raised.value).startswith(name)


def test_name_and_content_have_to_agree(tmp_path: Path) -> None:
    trc = text_files.write_trc(tmp_path / "a.trc")
    (tmp_path / "b.csv").write_bytes(trc.read_bytes())
    with pytest.raises(ReadError, match=r"b.csv: the suffix is .csv, but the content is TRC; expected Vicon"):
        read_recording(tmp_path / "b.csv")
    (tmp_path / "b.docx").write_bytes(trc.read_bytes())
    with pytest.raises(ReadError, match=r"unknown suffix .docx, expected .c3d, .trc"):
        read_recording(tmp_path / "b.docx")
    (tmp_path / "b.sto").write_bytes(b" \n")
    with pytest.raises(ReadError, match=r"the file is empty \(2 bytes\)"):
        read_recording(tmp_path / "b.sto")
    with pytest.raises(ReadError, match="cannot be opened: No such file"):
        read_recording(tmp_path / "c.trc")
    assert content_format(b"\x02\x50" + bytes(600)) == "C3D"
    assert file_format(text_files.write_qualisys(tmp_path / "q.txt")) == "Qualisys TSV"


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("m", r"median\), implausible for a human body; likely units: 0.224 m \(mm read as m\)"),
        ("cm", r"likely units: 0.0224 m \(cm read as m\) or 0.224 m \(mm read as cm\)"),
    ],
)
def test_implausible_lengths_suggest_the_unit(tmp_path: Path, unit: str, said: str) -> None:
    with pytest.raises(ReadError, match=said):
        read_recording(text_files.write_trc(tmp_path / "a.trc", unit=unit))


def test_a_speed_no_body_can_have(tmp_path: Path) -> None:
    """3.7 mm from frame to frame are 0.37 m/s at 100 Hz and 374 m/s at 100 kHz."""
    path = text_files.write_csv(tmp_path / "a.csv", time="frame")
    with pytest.raises(ReadError, match=r"faster than 374.* m/s half of the time.*reading.length_unit.*frame rate"):
        read_recording(path, ReadOptions(rate_hz=1e5))


def test_forces_without_a_point_of_application_are_refused_by_name(tmp_path: Path) -> None:
    path = text_files.write_grf_mot(tmp_path / "a.mot")
    path.write_text(path.read_text().replace("ground_force_p", "pressed"))
    with pytest.raises(ReadError, match=r"incomplete wrenches .* point of application are needed\): ground_force_vx"):
        read_recording(path)


# ---- numbers that no file should have ----


@pytest.mark.parametrize("value", ["inf", "1.7e308", "-inf"])
def test_a_force_that_is_not_finite_is_missing(tmp_path: Path, value: str) -> None:
    """Also where only the moment becomes infinite; it was kept, and loaded the foot with it."""
    path = text_files.write_grf_mot(tmp_path / "a.mot")
    lines = path.read_text().split("\n")
    for line, old in ((12, "700.000000"), (14, "5.000000")):
        assert old in lines[line]
        lines[line] = lines[line].replace(old, value)
    path.write_text("\n".join(lines))
    plate = read_recording(path).force_plates[0]
    wrench = np.hstack([plate.force_n, plate.moment_nm])
    missing = np.isnan(wrench).all(axis=1)
    assert np.flatnonzero(missing).tolist() == ([2, 4] if "inf" in value else [2])
    assert np.isfinite(wrench[~missing]).all()
    describe(read_recording(path))


@pytest.mark.parametrize(("rate_hz", "decimals"), [(200.0, 2), (240.0, 2), (250.0, 2)])
def test_a_rate_that_coarse_times_leave_open_is_a_guess_at_a_usual_one(tmp_path, rate_hz, decimals):
    """0.00, 0.01, 0.01, 0.02: 200 frames per second, or 195; what the times can tell is asked for."""
    times = np.round(np.arange(60) / rate_hz, decimals)
    rows = [f"{t:.{decimals}f},{0.1 + 0.001 * k:.4f},0.2,0.3" for k, t in enumerate(times)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["time_s,A_x_m,A_y_m,A_z_m", *rows]) + "\n")
    read = read_recording(path)
    assert "rate" in [guess.item for guess in read.audit.guesses]
    with pytest.raises(ReadError, match=r"set reading\.rate_hz"):
        read_recording(path, ReadOptions(strict=True))
    told = read_recording(path, ReadOptions(rate_hz=rate_hz, strict=True))
    assert told.rate_hz == rate_hz


def test_a_rate_that_contradicts_the_times_is_refused_for_any_heading(tmp_path):
    path = text_files.write_trc(tmp_path / "a.trc", text_files.positions_mm())
    stated = read_recording(path).rate_hz
    with pytest.raises(ReadError, match=r"reading\.rate_hz says 37 frames per second, the times"):
        read_recording(path, ReadOptions(rate_hz=37.0))
    assert read_recording(path, ReadOptions(rate_hz=stated)).rate_hz == stated


def test_a_heading_with_two_units_is_refused(tmp_path):
    path = text_files.write_grf_mot(tmp_path / "f.mot")
    text = path.read_text()
    head, _, rest = text.partition("endheader")
    lines = [line for line in head.splitlines() if "nits" not in line]
    for two in (
        ["Units=mm", "Units are S.I. units (second, meters, Newtons, ...)"],
        ["Units are S.I. units (second, ...)", "Units=mm"],
    ):
        path.write_text("\n".join([*lines, *two, "endheader"]) + rest)
        with pytest.raises(ReadError, match=r"says Units=mm, and that units are S\.I\."):
            read_recording(path)


@pytest.mark.parametrize("digits", [2, 4])
def test_rows_in_the_wrong_order_are_refused(tmp_path: Path, digits: int) -> None:
    """Times of two decimals at 100 Hz may stand still by rounding; they never go back."""
    header, *rows = text_files.write_csv(tmp_path / "a.csv").read_text("utf-8").splitlines()
    times = [f"{k / 100:.{digits}f}" for k in range(len(rows))]
    rows = [",".join([time, row.partition(",")[2]]) for time, row in zip(times, rows, strict=True)]
    path = tmp_path / "b.csv"
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    assert read_recording(path).n_frames == len(rows)
    path.write_text("\n".join([header, *rows[:5], rows[6], rows[5], *rows[7:]]) + "\n", "utf-8")
    with pytest.raises(ReadError, match=r"line 8: the time jumps from 0.060* to 0.050* s"):
        read_recording(path)


@pytest.mark.parametrize("far_mm", ["1e30", "-1e300", "1002000"])
def test_a_position_that_is_farther_than_any_body_goes_is_missing(tmp_path: Path, far_mm: str) -> None:
    path = text_files.write_csv(tmp_path / "a.csv")
    good = read_recording(path)
    path.write_text(path.read_text("utf-8").replace("106,188", f"{far_mm},188", 1), "utf-8")
    found = read_recording(path)
    assert [guess.item for guess in found.audit.guesses] == ["far samples"]
    assert np.isnan(found.markers_m[6, 0]).all()
    kept = np.ones(good.markers_m.shape[:2], dtype=bool)
    kept[6, 0] = False
    np.testing.assert_array_equal(found.markers_m[kept], good.markers_m[kept])
    with pytest.raises(ReadError, match=r"1 positions of S:RSHO are more than 1000 m from the others"):
        read_recording(path, ReadOptions(strict=True))


def test_vicon_without_sections_or_frames(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("E\n")
    with pytest.raises(ReadError, match=r"a.csv line 1: found 'E', expected section Trajectories or Devices"):
        read_vicon(path)
    lines = text_files.write_vicon(path).read_text().split("\n")
    at = lines.index("Trajectories")
    path.write_text("\n".join([*lines[at : at + 5], "", "", "Joints", "100"]) + "\n")
    with pytest.raises(ReadError, match=r"a.csv line 1: section trajectories has no frames"):
        read_vicon(path)


def test_tables_that_are_no_recordings_are_refused(recordings: Path) -> None:
    with pytest.raises(ReadError, match="the first line is 'Inverse Dynamics': results of OpenSim, not a recording"):
        read_recording(recordings / "arm26" / "std_arm26_InverseDynamics.sto", M)
    with pytest.raises(ReadError, match="no marker: expected columns such as RSHO_x_mm"):
        read_recording(recordings / "moment_arms" / "upper_limb_muscle_params.csv", M)
    read = read_recording(recordings / "arm26" / "arm26_InverseKinematics.mot", M)
    assert read.labels == ("r_acromion", "r_humerus_epicondyle", "r_radius_styloid")
    assert read.rate_hz == 120.0

"""The second reader: two readings of a file, differences, known faults of libraries, and crashes."""

import os
from dataclasses import replace
from pathlib import Path

import ezc3d
import numpy as np
import pytest

from c3d_files import CORNERS_MM, DEC, INTEL, raw_c3d
from limbtorque.cli.main import main
from limbtorque.recordings import libraries, sandbox
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.compare_readers import compare_c3d, differences
from limbtorque.recordings.differences import SecondReading
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Event
from limbtorque.recordings.sandbox import GuardedReader

LIMITED = ReadOptions(memory_limit_mb=512)
DISTANCES_MM = (150.0, 250.0)
KEPT = ReadOptions()


def positions_mm(n_frames: int = 20, n_points: int = 3) -> np.ndarray:
    i, k = np.meshgrid(np.arange(n_frames) % 1000, np.arange(1, n_points + 1), indexing="ij")
    return np.stack([100.0 * k + i, -200.0 * k + 2 * i, 900.0 + 3.0 * k - i], axis=2)


def plate_file(path: Path, kind: int, units: list[str], *, origin_mm: tuple[float, ...], **more: object) -> Path:
    """A file with a plate of a type, whose channels change from sample to sample."""
    n = 8 if kind == 3 else 6
    if kind == 3:
        channels = np.array([3, 4, -5, 6, -100, -150, -250, -200.0])
    else:  # 30, -20 and -700 N; about the plate's axes 3, -5 and 0.4 N m, or a centre of pressure at 30, -50 mm
        per_unit = {"N": 1.0, "kN": 1e-3, "Nmm": 1e3, "Nm": 1.0, "kNm": 1e-3, "mm": 10.0, "V": 1.0}
        in_si = np.array([30.0, -20.0, -700.0, 3.0, -5.0, 0.4])
        channels = in_si * [per_unit[unit] for unit in units]
        channels[3:] *= 1e3 if kind == 4 else 1.0  # the matrix of type 4 gives N mm
    analog = channels * (1.0 + 0.01 * np.arange(40))[:, np.newaxis]
    groups = {
        "FORCE_PLATFORM": {
            "USED": np.array(1),
            "TYPE": np.array([kind]),
            "ZERO": np.array([0, 0]),
            "CORNERS": CORNERS_MM.T[:, :, np.newaxis],
            "ORIGIN": np.array(origin_mm)[:, np.newaxis],
            "CHANNEL": np.arange(1, n + 1)[:, np.newaxis],
            "CAL_MATRIX": (np.eye(6) + 0.01)[:, :, np.newaxis],
            **more,
        },
        "ANALOG": {"UNITS": units},
    }
    return raw_c3d(path, positions_mm(), analog=analog, parameters=groups)


# ---- recordings and whole files ----


def test_libraries_agree_on_every_recording(recordings: Path) -> None:
    """Every C3D file of the folder: no difference beyond 32-bit rounding, plates by ezc3d's own equations."""
    paths = sorted(path for path in recordings.rglob("*") if path.suffix.lower() == ".c3d")
    assert len(paths) > 25
    plates = 0
    for path in paths:
        own = read_c3d(path)
        by_ezc3d, by_c3d = (compare_c3d(path, library) for library in ("ezc3d", "c3d"))
        assert own.reader == "limbtorque.recordings.c3d.read"
        assert (by_c3d.refused, by_c3d.differences) == ("", ())
        mips = path.name in ("Eb015si.c3d", "Eb015sr.c3d")
        assert by_ezc3d.refused.startswith("MIPS processor type not supported") == mips
        assert (by_ezc3d.differences, by_ezc3d.notes) == ((), ())
        if not mips:
            n = len(own.force_plates)
            assert by_ezc3d.compared.startswith(f"{len(own.labels)} markers")
            assert (f"{n} force plates" in by_ezc3d.compared) == (n > 0)
            plates += n
    assert plates >= 42


# ---- differences ----


def test_each_field_that_differs_is_named_with_both_values(tmp_path: Path) -> None:
    units = ["N", "N", "N", "Nmm", "Nmm", "Nmm"]
    own = read_c3d(plate_file(tmp_path / "a.c3d", 2, units, origin_mm=(0.0, 0.0, -40.0)))
    markers, analog = own.markers_m.copy(), own.analog.copy()
    markers[3, 1] += [0.0, 0.002, 0.0]
    markers[5, 2] = np.nan
    analog[7:9, 4] *= 1.01
    (plate,) = own.force_plates
    other = replace(
        own,
        rate_hz=120.0,
        markers_m=markers,
        analog=analog,
        labels=("X0", "M1", "M2"),
        force_plates=(replace(plate, corners_m=np.add(plate.corners_m, [0, 0, 0.01]), force_n=-plate.force_n),),
        events=(),
    )
    found = [difference.sentence for difference in differences(own, other)]
    assert found == [
        "rate: 100 Hz and 120 Hz",
        "label of a marker: '' and 'X0'",
        "label of a marker: 'M0' and ''",
        "position 'M1' y: -0.394 m and -0.392 m (sample 4; 1 differ)",
        "position 'M2' x: 0.305 m and missing (sample 6; 1 differ)",
        "analog channel 'A4': -5400 Nmm and -5454 Nmm (sample 9; 2 differ)",
        "corner of plate 1 z: 0 m and 0.01 m (sample 1; 4 differ)",
        "force of plate 1 z: 973 N and -973 N (sample 40; 40 differ)",
    ]
    assert differences(own, own) == ()


def test_rounding_is_no_difference_and_twice_of_it_is(tmp_path: Path) -> None:
    own = read_c3d(raw_c3d(tmp_path / "a.c3d", positions_mm(), analog=np.full((20, 2), 1000.0)))
    step = float(np.spacing(np.float32(1000.0)))
    assert differences(own, replace(own, analog=own.analog + step)) == ()
    assert len(differences(own, replace(own, analog=own.analog + 16 * step))) == 2
    small = replace(own, analog=own.analog * [1.0, 1e-6])  # a channel is judged by its own size
    (found,) = differences(small, replace(small, analog=np.add(small.analog, [0.0, 1e-6])))
    assert found.channel == "'A1'"


def test_events_are_compared(tmp_path: Path) -> None:
    own = replace(read_c3d(raw_c3d(tmp_path / "a.c3d", positions_mm())), events=(Event("Foot Strike", "Left", 0.1),))
    for events, said in (
        ((Event("Foot Strike", "Left", 0.11),), "time of event Foot Strike Left: 0.1 s and 0.11 s"),
        ((Event("Foot Off", "Left", 0.1),), "name of an event at 0.1 s: 'Foot Strike Left' and 'Foot Off Left'"),
        ((*own.events, *own.events), "number of events: 1 and 2"),
        ((), "number of events: 1 and 0"),
    ):
        assert [difference.sentence for difference in differences(own, replace(own, events=events))] == [said]


@pytest.mark.parametrize("library", ["ezc3d", "c3d"])
@pytest.mark.parametrize("first", [1, 40])
def test_events_of_the_header_are_compared(tmp_path: Path, library: str, first: int) -> None:
    """Where the group EVENT has none; they count from the first frame of the file."""
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), words={4: first, 5: first + 19, 150: 12345, 151: 2})
    raw = bytearray(path.read_bytes())
    raw[304:312] = np.array([0.12, 0.05], dtype="<f4").tobytes()
    raw[396:404] = b"RTO RHS "
    path.write_bytes(bytes(raw))
    assert [(event.label, round(event.time_s, 6)) for event in read_c3d(path).events] == [("RHS", 0.05), ("RTO", 0.12)]
    found = compare_c3d(path, library)
    assert found.differences == ()
    assert "2 events compared" in found.compared


def two_plates(folder: Path, *, times: float = 1.0, moment: str = "Nmm") -> Path:
    """A file with two plates of type 2, the second with edges `times` as long; moments stored in a unit."""
    units = ["N", "N", "N", moment, moment, moment]
    moments = np.array([3.0, -5.0, 0.4]) * {"Nmm": 1e3, "Nm": 1.0}[moment]
    channels = np.tile([30.0, -20.0, -700.0, *moments], 2) * (1.0 + 0.01 * np.arange(40))[:, np.newaxis]
    group = {
        "USED": np.array(2),
        "TYPE": np.array([2, 2]),
        "ZERO": np.array([0, 0]),
        "CORNERS": np.stack([CORNERS_MM.T, CORNERS_MM.T * times], axis=2),
        "ORIGIN": np.array([[0.0, 0.0], [0.0, 0.0], [-40.0, -40.0]]),
        "CHANNEL": np.arange(1, 13).reshape(2, 6).T,
    }
    return raw_c3d(
        folder / "a.c3d",
        positions_mm(),
        analog=channels,
        parameters={"FORCE_PLATFORM": group, "ANALOG": {"UNITS": units * 2}},
    )


def test_a_plate_that_one_reader_leaves_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare_c3d(two_plates(tmp_path, times=100.0), "ezc3d")
    assert found.differences == ()
    (note,) = found.notes
    assert note.startswith(
        "it reads a plate that we leave out: force plate 2 is left out by our reader: FORCE_PLATFORM:CORNERS"
    )
    path = two_plates(tmp_path)
    assert compare_c3d(path, "ezc3d").notes == ()
    other = libraries.by_ezc3d(path, KEPT)
    fewer = replace(other, force_plates=other.force_plates[:1])
    monkeypatch.setitem(libraries.SECOND_READERS, "ezc3d", lambda *_: fewer)
    assert [difference.sentence for difference in compare_c3d(path, "ezc3d").differences] == [
        "force plate 2: 'read' and 'not read'"
    ]


# ---- known faults: not compared, and said; when a library no longer has them, the checks can go ----


@pytest.mark.parametrize("processor", [INTEL, DEC])
def test_a_negative_offset_is_a_known_fault(tmp_path: Path, processor: int) -> None:
    group = {"ANALOG": {"OFFSET": np.array([10, -5]), "SCALE": np.array([1.0, 2.0])}}
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), processor=processor, analog=np.zeros((20, 2)), parameters=group)
    assert ezc3d.c3d(str(path))["data"]["analogs"][0, :, 0].tolist() == [-10.0, -10.0]
    assert read_c3d(path).analog[0].tolist() == [-10.0, 10.0]
    assert compare_c3d(path, "ezc3d").refused.startswith("known fault: it reads a negative ANALOG:OFFSET")
    assert compare_c3d(path, "c3d").sentences[0].endswith(": no difference (3 markers, 2 analog channels compared)")


def test_unsigned_numbers_are_a_known_fault(tmp_path: Path) -> None:
    analog = np.column_stack([np.linspace(0, 65000, 20).round(), np.full(20, 40000.0)])
    group = {"FORMAT": ["UNSIGNED"], "OFFSET": np.array([32768, 40000]), "SCALE": np.array([0.5, 3.0])}
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), scale=1.0, analog=analog, parameters={"ANALOG": group})
    np.testing.assert_allclose(read_c3d(path).analog, (analog - [32768, 40000]) * [0.5, 3.0])
    assert ezc3d.c3d(str(path))["data"]["analogs"][0, 1, -1] != 0.0
    assert compare_c3d(path, "ezc3d").refused.startswith("known fault: it reads unsigned analog numbers")
    assert (compare_c3d(path, "c3d").refused, compare_c3d(path, "c3d").differences) == ("", ())


@pytest.mark.parametrize(("rate_hz", "n", "right"), [(299.7, 10, False), (59.94, 14, False), (119.88, 10, True)])
def test_samples_that_are_cut_are_a_known_fault(tmp_path: Path, rate_hz: float, n: int, right: bool) -> None:
    """Rates that 32 bits cannot hold: the header counts 10 samples a frame, ANALOG:RATE / POINT:RATE is 9.9999996."""
    analog = np.arange(40.0 * n).reshape(20 * n, 2)
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), rate_hz=rate_hz, analog=analog)
    np.testing.assert_allclose(read_c3d(path).markers_m, positions_mm() * 1e-3, rtol=1e-6)
    found = compare_c3d(path, "ezc3d")
    if right:
        assert (found.refused, found.differences) == ("", ())
        return
    assert ezc3d.c3d(str(path))["data"]["analogs"].shape[2] == 20 * (n - 1)
    assert found.refused.startswith("known fault: it truncates the ")
    assert f"samples of a frame to {n - 1}" in found.refused
    assert compare_c3d(path, "c3d").sentences[0].endswith(": no difference (3 markers, 2 analog channels compared)")


def test_channels_without_a_scale_are_not_compared(tmp_path: Path) -> None:
    """Without a number in the list ezc3d reads the memory behind it."""
    group = {"ANALOG": {"SCALE": np.array([2.0])}}
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), analog=np.ones((20, 2)), parameters=group)
    for read in (libraries.by_ezc3d(path, KEPT), libraries.by_c3d(path, KEPT)):
        np.testing.assert_array_equal(read.analog, np.full((20, 1), 2.0))
        assert read.notes == ("ANALOG:SCALE or OFFSET has 1 values for 2 channels; the others are not compared",)


@pytest.mark.parametrize("depth", [-40.0, 40.0])
@pytest.mark.parametrize(
    ("kind", "units", "fault"),
    [
        (1, ["N", "N", "N", "mm", "mm", "Nmm"], "type 1 have the opposite sign"),
        (2, ["N", "N", "N", "Nmm", "Nmm", "Nmm"], ""),
        (2, ["N", "N", "N", "Nm", "Nm", "Nm"], "units n and nm of its channels"),
        (2, ["kN", "kN", "kN", "kNm", "kNm", "kNm"], "units kn and knm of its channels"),
        (3, ["N"] * 8, "type 3 reverses the moments"),
        (4, ["V"] * 6, ""),
    ],
)
def test_plates_by_their_own_equations(
    tmp_path: Path, kind: int, units: list[str], fault: str, depth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our wrenches stand against closed forms (test_force_plates.py); ezc3d's differ by its known faults only."""
    path = plate_file(
        tmp_path / "a.c3d", kind, units, origin_mm=(*DISTANCES_MM, depth) if kind == 3 else (1.0, 2.0, depth)
    )
    assert len(read_c3d(path).force_plates) == 1
    found = compare_c3d(path, "ezc3d")
    assert found.differences == ()
    assert "1 force plates compared" in found.compared
    if kind == 3 and depth < 0:
        fault = ""
    assert len(found.notes) == bool(fault)
    assert fault in "".join(found.notes)
    if fault:  # the numbers themselves differ
        read = libraries.by_ezc3d(path, KEPT)
        monkeypatch.setattr(libraries, "_plate_fault", lambda *_: "")
        assert differences(read_c3d(path), libraries.by_ezc3d(path, KEPT)) != differences(read_c3d(path), read) == ()


# ---- in the separate process ----


def guarded(path: Path) -> SecondReading | None:
    with GuardedReader() as reader:
        return reader.compare(path, "ezc3d", LIMITED)


def test_guarded_comparison_is_the_same(tmp_path: Path) -> None:
    path = raw_c3d(tmp_path / "a.c3d", positions_mm(), analog=np.ones((40, 2)))
    assert guarded(path) == compare_c3d(path, "ezc3d")
    path.write_bytes(b"")
    assert guarded(path) is None  # our reader refuses it, and says why elsewhere


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("os.kill(os.getpid(), 11)", "the reading process was ended by SIGSEGV"),
        ("time.sleep(100)", "reading was stopped after 10 s"),
        ("bytearray(2**30)", "reading needs more than 512 MB (reading.memory_limit_mb)"),
        ("raise RuntimeError('no such\\n luck')", "no such luck"),
    ],
)
def test_a_library_that_fails_costs_its_comparison_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    """A library in place of ezc3d that crashes, hangs, takes all memory, or raises whatever it likes."""
    fake = tmp_path / "fake" / "ezc3d.py"
    fake.parent.mkdir()
    fake.write_text(f"import os, time\n\ndef c3d(path):\n    {code}\n", encoding="utf-8")
    monkeypatch.setattr(sandbox, "TIME_S", 10.0)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(fake.parent), os.environ.get("PYTHONPATH", "")]))
    path = raw_c3d(tmp_path / "a.c3d", positions_mm())
    with GuardedReader() as reader:
        found = reader.compare(path, "ezc3d", LIMITED)
        assert reader.read(path, options=LIMITED).n_frames == 20
    assert found.refused == said
    assert found.sentences == (f"ezc3d does not read this file: {said}",)


def test_inspect_compares_with_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = raw_c3d(tmp_path / "a.c3d", positions_mm())
    assert main(["inspect", "--compare", str(path)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("ezc3d ")
    assert second.startswith("c3d ")
    assert first.endswith(": no difference (3 markers compared)") == second.endswith(
        ": no difference (3 markers compared)"
    )


def test_a_library_without_plates_says_so(tmp_path: Path) -> None:
    path = plate_file(tmp_path / "a.c3d", 2, ["N", "N", "N", "Nmm", "Nmm", "Nmm"], origin_mm=(0.0, 0.0, -40.0))
    assert compare_c3d(path, "c3d").notes == ("it computes no forces of plates; their channels are compared",)
    path = plate_file(tmp_path / "b.c3d", 2, ["N"] * 6, origin_mm=(0.0, 0.0, -40.0), USED=np.array([1.0]))
    (note,) = compare_c3d(path, "ezc3d").notes
    assert note.startswith("its force plates are not compared: ")


def test_a_wrong_library_is_a_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The flag names the first difference."""
    path = raw_c3d(tmp_path / "a.c3d", positions_mm())
    other = libraries.by_ezc3d(path, KEPT)
    monkeypatch.setitem(libraries.SECOND_READERS, "ezc3d", lambda *_: replace(other, rate_hz=50.0))
    assert compare_c3d(path, "ezc3d").doubt == "second reader differs (our value first): rate: 100 Hz and 50 Hz"

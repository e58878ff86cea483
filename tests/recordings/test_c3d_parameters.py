"""Each standard parameter of a C3D file wrong in each way: an error, a word, or the same numbers."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from c3d_damage import (
    Case,
    force_bases,
    parameter_cases,
    real_values,
    silently_changed,
    text_rows,
    with_parameter,
)
from c3d_files import INTEL
from damage import check_sense, put
from limbtorque.errors import ReadError
from limbtorque.recordings import force_plates
from limbtorque.recordings.c3d.header import numbers, parse_parameters
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording

TYPE_2 = "intel real type 2"
VISIBLE = re.compile(
    r"(absent|text|no elements|element type 3|\d+ dimensions|one fewer|the first alone|one more|twice as many|all (0|nan|inf)|"
    r"element of (nan|inf)|one number, (0|nan|inf|-inf|-1|1e\+08|3e\+09)|times 1e\+30)$"
)
# Fields whose numbers may be wrong with nothing said: another number that a laboratory can have (docs/reading.md).
CANNOT_BE_KNOWN = {
    *("POINT:LABELS", "ANALOG:LABELS", "EVENT:LABELS", "EVENT:CONTEXTS", "EVENT:TIMES", "EVENT"),
    *("ANALOG:UNITS", "ANALOG:GEN_SCALE", "ANALOG:SCALE", "ANALOG:OFFSET"),
    *(
        "FORCE_PLATFORM:TYPE",
        "FORCE_PLATFORM:CORNERS",
        "FORCE_PLATFORM:ORIGIN",
        "FORCE_PLATFORM:CHANNEL",
        "FORCE_PLATFORM:CAL_MATRIX",
    ),
}


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return force_bases(tmp_path_factory.mktemp("c3d"))


def read(folder: Path, content: bytes, *, strict: bool = False) -> Recording:
    put(folder / "a.c3d", content)
    return read_recording(folder / "a.c3d", ReadOptions(strict=strict))


def guesses(recording: Recording) -> list[str]:
    return [guess.item for guess in recording.audit.guesses]


def test_the_good_files_hold_the_same_forces(bases: dict[str, bytes], tmp_path: Path) -> None:
    found = {name: read(tmp_path, raw) for name, raw in bases.items()}
    for name, recording in found.items():
        assert not recording.notes, name
        assert not recording.audit.guesses, name
        for one, other in zip(recording.force_plates, found[TYPE_2].force_plates, strict=True):
            np.testing.assert_allclose(one.force_n, other.force_n, atol=2.0)  # integers of 12 bits, crosstalk
            if "type 1" not in name:  # which has a free moment of its own
                np.testing.assert_allclose(one.moment_nm, other.moment_nm, atol=1.0)


def test_a_file_written_again_is_the_same(bases: dict[str, bytes], tmp_path: Path) -> None:
    """The corpus changes one parameter only."""
    for raw in bases.values():
        good = read(tmp_path, raw)
        again = read(tmp_path, with_parameter(raw, "ANALOG", "NOTHING", None))
        assert silently_changed(good, again) == ()
        assert good.audit == again.audit


def test_the_judge_sees_changes_that_are_not_said(bases: dict[str, bytes], tmp_path: Path) -> None:
    raw = bases[TYPE_2]
    good = read(tmp_path, raw)
    changed = read(tmp_path, with_parameter(raw, "ANALOG", "GEN_SCALE", real_values(np.array([0.51]), INTEL)))
    assert {"analog", "plate 1 force", "plate 1 moment", "plate 2 force"} <= set(silently_changed(good, changed))
    changed = read(tmp_path, with_parameter(raw, "POINT", "LABELS", text_rows(["KNE", "HIP", "ANK", "HEE", "TOE"])))
    assert silently_changed(good, changed) == ("labels",)


def check_cases(cases: Iterator[Case], good: Recording, folder: Path) -> Counter[str]:
    """Count how the cases end; none may change a number in silence where a reader can see it."""
    ends: Counter[str] = Counter()
    for name, content in cases:
        field, _, what = name.rpartition(": ")
        start = time.process_time()
        try:
            found = read(folder, content)
        except ReadError:
            ends["error"] += 1
            continue
        assert time.process_time() - start < 2.0, name
        check_sense(found, len(content))
        changed = silently_changed(good, found)
        ends["silent" if changed else "said or the same"] += 1
        if changed:
            assert field in CANNOT_BE_KNOWN, (name, changed)
            assert not VISIBLE.match(what) or field == "EVENT", (name, changed)
    return ends


@pytest.mark.parametrize("seed", [1])
def test_a_sample_of_wrong_parameters(bases: dict[str, bytes], tmp_path: Path, seed: int) -> None:
    for k, raw in enumerate(bases.values()):
        ends = check_cases(parameter_cases(raw, seed=10 * seed + k, share=0.04), read(tmp_path, raw), tmp_path)
        assert ends.total() > 40
        assert ends["error"] > 3
        assert ends["silent"] < 0.2 * ends.total()


@pytest.mark.attack
@pytest.mark.parametrize("seed", [2, 3])
def test_every_wrong_parameter(bases: dict[str, bytes], tmp_path: Path, seed: int) -> None:
    total: Counter[str] = Counter()
    for raw in bases.values():
        total += check_cases(parameter_cases(raw, seed=seed), read(tmp_path, raw), tmp_path)
    assert total.total() > 6000


# ---- the classes, one by one ----


def values(raw: bytes, group: str, name: str) -> np.ndarray:
    found = parse_parameters(raw, INTEL)[0][group][name]
    return numbers(found, INTEL).reshape(found.shape or (1,), order="F")


def with_values(raw: bytes, group: str, name: str, array: np.ndarray) -> bytes:
    return with_parameter(raw, group, name, real_values(np.atleast_1d(np.asarray(array, dtype=float)), INTEL))


@pytest.mark.parametrize("name", ["SCALE", "OFFSET"])
def test_a_plate_without_scale_or_offset_is_left_out(bases: dict[str, bytes], tmp_path: Path, name: str) -> None:
    raw = bases[TYPE_2]
    few = with_values(raw, "ANALOG", name, values(raw, "ANALOG", name)[:8])
    found = read(tmp_path, few)
    assert [plate.number for plate in found.force_plates] == [1]
    assert guesses(found) == ["scale of channels"]
    assert any("force plate 2 is left out: channel 9, 10, 11, 12 has no value" in note for note in found.notes)
    with pytest.raises(ReadError, match=r"5 of 13 channels \(9, 10, 11, 12, 13\).*correct SCALE and OFFSET"):
        read(tmp_path, few, strict=True)


@pytest.mark.parametrize("value", [0.0, 1e-30, 1e30])
def test_a_scale_of_an_impossible_size_leaves_its_plate_out(
    bases: dict[str, bytes], tmp_path: Path, value: float
) -> None:
    scale = values(bases[TYPE_2], "ANALOG", "SCALE")
    scale[2] = value
    found = read(tmp_path, with_values(bases[TYPE_2], "ANALOG", "SCALE", scale))
    assert [plate.number for plate in found.force_plates] == [2]
    assert np.isnan(found.analog[:, 2]).all()
    assert guesses(found) == ["scale of channels"]


def test_a_missing_or_negative_general_scale_is_a_guess(bases: dict[str, bytes], tmp_path: Path) -> None:
    raw = bases[TYPE_2]
    found = read(tmp_path, with_parameter(raw, "ANALOG", "GEN_SCALE", None))
    assert guesses(found) == ["ANALOG:GEN_SCALE"]
    found = read(tmp_path, with_values(raw, "ANALOG", "GEN_SCALE", np.array([-0.5])))
    assert "general scale" in guesses(found)
    assert not found.force_plates  # they pull


@pytest.mark.parametrize(
    ("name", "factor", "said"),
    [
        ("CORNERS", 1e3, r"give edges of 400 to 600 m, expected 0.1 to 3 m"),
        ("CORNERS", 1e-1, "give edges of 0.04 to 0.06 m"),
        ("ORIGIN", 1e3, r"ORIGIN is 0, 0, -40 m, expected sensors under the surface, at most 0.5 m deep"),
    ],
)
def test_places_of_an_impossible_size_leave_the_plates_out(
    bases: dict[str, bytes], tmp_path: Path, name: str, factor: float, said: str
) -> None:
    raw = bases[TYPE_2]
    found = read(tmp_path, with_values(raw, "FORCE_PLATFORM", name, factor * values(raw, "FORCE_PLATFORM", name)))
    assert not found.force_plates
    assert len([note for note in found.notes if re.search(said, note)]) == 2


@pytest.mark.parametrize(("limit", "size"), [("LARGEST_N", 500.0), ("LARGEST_NM", 20.0), ("DEEPEST_M", 0.03)])
def test_a_plate_beyond_a_limit_is_left_out(
    bases: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, size: float
) -> None:
    path = tmp_path / "a.c3d"
    put(path, bases[TYPE_2])
    assert read_c3d(path).force_plates
    monkeypatch.setattr(force_plates, limit, size)
    assert not read_c3d(path).force_plates


def test_corners_that_are_no_rectangle(bases: dict[str, bytes], tmp_path: Path) -> None:
    corners = values(bases[TYPE_2], "FORCE_PLATFORM", "CORNERS")
    corners[:, [0, 1], 0] = corners[:, [1, 0], 0]
    found = read(tmp_path, with_values(bases[TYPE_2], "FORCE_PLATFORM", "CORNERS", corners))
    assert [plate.number for plate in found.force_plates] == [2]
    assert any("are not those of a rectangle" in note for note in found.notes)


@pytest.mark.parametrize(("used", "n_read"), [(0.0, 0), (1.0, 1), (-1.0, 0), (np.nan, 0), (1.5, 1)])
def test_more_plates_are_described_than_used(bases: dict[str, bytes], tmp_path: Path, used: float, n_read: int) -> None:
    content = with_values(bases[TYPE_2], "FORCE_PLATFORM", "USED", np.array([used]))
    found = read(tmp_path, content)
    assert len(found.force_plates) == n_read
    assert guesses(found) == ["number of force plates"]
    with pytest.raises(ReadError, match=r"the other parameters describe 2 \(correct FORCE_PLATFORM:USED"):
        read(tmp_path, content, strict=True)


def test_a_file_of_no_plates_has_no_guess(bases: dict[str, bytes], tmp_path: Path) -> None:
    raw = with_parameter(bases[TYPE_2], "ANALOG", "LABELS", text_rows([f"EMG{k}" for k in range(13)]))
    for name, shape in (
        ("USED", (1,)),
        ("TYPE", (0,)),
        ("CORNERS", (3, 4, 0)),
        ("ORIGIN", (3, 0)),
        ("CHANNEL", (6, 0)),
    ):
        raw = with_parameter(raw, "FORCE_PLATFORM", name, real_values(np.zeros(shape), INTEL))
    assert not read(tmp_path, raw).audit.guesses


@pytest.mark.parametrize("group", ["FORCE_PLATFORM", "ANALOG", "EVENT", "POINT"])
def test_a_huge_count_ends_at_once(bases: dict[str, bytes], tmp_path: Path, group: str) -> None:
    path = tmp_path / "a.c3d"
    put(path, with_values(bases[TYPE_2], group, "USED", np.array([1e8])))
    start = time.process_time()
    try:
        found = read_c3d(path)
    except ReadError:
        assert group in ("ANALOG", "POINT")
    else:
        assert len(found.force_plates) == 2
        assert found.notes or found.audit.guesses
    assert time.process_time() - start < 1.0


def test_a_channel_given_twice(bases: dict[str, bytes], tmp_path: Path) -> None:
    channel = values(bases[TYPE_2], "FORCE_PLATFORM", "CHANNEL")
    channel[1, 0] = channel[0, 0]
    found = read(tmp_path, with_values(bases[TYPE_2], "FORCE_PLATFORM", "CHANNEL", channel))
    assert [plate.number for plate in found.force_plates] == [2]
    channel = values(bases[TYPE_2], "FORCE_PLATFORM", "CHANNEL")
    channel[1, 0] = channel[1, 1]
    found = read(tmp_path, with_values(bases[TYPE_2], "FORCE_PLATFORM", "CHANNEL", channel))
    assert not found.force_plates
    assert sum("CHANNEL gives channel 8 twice" in note for note in found.notes) == 2


def test_a_file_that_counts_fewer_frames_than_it_has_is_a_guess(bases: dict[str, bytes], tmp_path: Path) -> None:
    raw = bases[TYPE_2]
    n = read(tmp_path, raw).n_frames
    fewer = bytearray(with_values(raw, "POINT", "FRAMES", np.array([n - 20])))
    fewer[8:10] = (int.from_bytes(fewer[8:10], "little") - 20).to_bytes(2, "little")
    found = read(tmp_path, bytes(fewer))
    assert found.n_frames == n - 20
    assert guesses(found) == ["data after the last frame"]
    with pytest.raises(ReadError, match="there is data for 20 more"):
        read(tmp_path, bytes(fewer), strict=True)


def test_channels_in_another_order_than_their_names(bases: dict[str, bytes], tmp_path: Path) -> None:
    channel = values(bases[TYPE_2], "FORCE_PLATFORM", "CHANNEL")
    found = read(tmp_path, with_values(bases[TYPE_2], "FORCE_PLATFORM", "CHANNEL", channel[[1, 0, 2, 3, 4, 5]]))
    assert guesses(found) == ["channels of force plate 1", "channels of force plate 2"]
    found = read(tmp_path, with_values(bases[TYPE_2], "FORCE_PLATFORM", "CHANNEL", channel[:, ::-1]))
    assert "channels of the force plates" in guesses(found)
    found = read(tmp_path, with_values(bases[TYPE_2], "FORCE_PLATFORM", "CHANNEL", channel[[2, 1, 0, 3, 4, 5]]))
    assert not found.force_plates  # the force is to one side, or its centre of pressure outside
    assert len([note for note in found.notes if "is left out" in note]) == 2


def test_a_force_along_the_surface_is_a_guess(bases: dict[str, bytes], tmp_path: Path) -> None:
    raw = bases["intel real type 1"]
    scale = values(raw, "ANALOG", "SCALE")
    scale[2] /= 20.0
    found = read(tmp_path, with_values(raw, "ANALOG", "SCALE", scale))
    assert guesses(found) == ["direction of the force of force plate 1"]


@pytest.mark.parametrize("damage", ["singular", "zero row"])
def test_a_calibration_that_loses_a_component(bases: dict[str, bytes], tmp_path: Path, damage: str) -> None:
    raw = bases["intel integer type 4"]
    matrix = values(raw, "FORCE_PLATFORM", "CAL_MATRIX")
    matrix[3, :, 0] = 0.0 if damage == "zero row" else 2.0 * matrix[2, :, 0]
    found = read(tmp_path, with_values(raw, "FORCE_PLATFORM", "CAL_MATRIX", matrix))
    assert [plate.number for plate in found.force_plates] == [2]
    assert any(f"CAL_MATRIX {'has a row' if damage == 'zero row' else 'is singular'}" in note for note in found.notes)

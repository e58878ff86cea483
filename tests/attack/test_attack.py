"""A small attack, of the same kinds and with the same judges as `make attack`."""

import argparse
from dataclasses import replace

import numpy as np
import pytest

from attack import __main__ as command
from attack import files, judge, page, tables, touched
from limbtorque.recordings.recording import Event, ForcePlate, Recording


def options(**numbers):
    return argparse.Namespace(**{"files": 0, "tables": 0, "kills": 0, "damages": 0, "seed": 5, "cores": 2, **numbers})


@pytest.mark.attack
def test_damaged_recordings(tmp_path):
    parts, wrong = command.attack(tmp_path, options(files=300))
    assert not wrong
    assert "| all | 300 |" in parts["files"]


@pytest.mark.attack
def test_hostile_tables_and_settings(tmp_path):
    parts, wrong = command.attack(tmp_path, options(tables=40))
    assert not wrong
    assert "| `config.yaml` | 10 |" in parts["tables"]


@pytest.mark.attack
def test_killed_runs(tmp_path):
    parts, wrong = command.attack(tmp_path, options(kills=3))
    assert not wrong
    rows = [line.strip("|").split("|") for line in parts["kills"].splitlines()[2:]]
    assert sum(int(cell) for row in rows for cell in row[1:-1]) == 3  # one may have come after the end of its run


@pytest.mark.attack
def test_touched_results(tmp_path):
    found = touched.touch(tmp_path, damages=[touched.MIXED])
    assert [one for one in found if one.faults] == []
    assert {one.kind for one in found} >= set(touched.KINDS)


def test_the_same_seed_makes_the_same_files_and_another_one_others(tmp_path):
    one, same, other = (files.cases(tmp_path, number=200, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert len(one) == len(other) == 200
    assert one != other
    assert {page.format_of(case.name) for case in one} == {*page.FORMATS.values()}


def test_the_judge_of_files_sees_what_it_must(tmp_path, monkeypatch):
    """A reader that would change a number silently, fail, or hang is found."""
    base = files.damage.text_bases(tmp_path)["a.trc"]
    (found,) = files.read_all([files.Case("a.trc", "nothing", base, base)], tmp_path / "as it is", cores=1)
    assert found.kind == "as before"
    case = files.Case("a.trc", "cell 'x'", base.replace(b"100", b"1x0", 1), base)
    with files.GuardedReader() as reader:
        good = files._read(reader, tmp_path / "a.trc", base)
    other = replace(good, markers_m=good.markers_m + 0.001)

    def outcome(result):
        def read(*_):
            if isinstance(result, Recording):
                return result
            raise result

        monkeypatch.setattr(files, "_read", read)
        return files._outcome(None, tmp_path / "a.trc", case, good).kind

    assert outcome(other) in files.SILENT
    assert outcome(replace(other, notes=("one cell is no number",))) == files.SAID
    assert outcome(files.ReadError("a.trc: line 3 has no number")) == "refused"
    assert outcome(files.ReadError("a.trc: reading failed with KeyError: 1")) == "traceback"
    assert outcome(files.ReadError("a.trc: the reading process was ended by SIGSEGV")) == "traceback"
    assert outcome(files.ReadError("a.trc: reading was stopped after 10 s (...)")) == "hang"
    assert outcome(files.ReadError("a.trc: reading needs more than 512 MB (...)")) == "memory"
    assert outcome(KeyError("x")) == "traceback"


def plate(**changes):
    corners_m = np.array([[0.3, 0.2, 0.0], [-0.3, 0.2, 0.0], [-0.3, -0.2, 0.0], [0.3, -0.2, 0.0]])
    force_n = np.tile([0.0, 0.0, 700.0], (1000, 1))
    return replace(ForcePlate(1, 2, corners_m, 1000.0, force_n, 0.0 * force_n), **changes)


def spiked(n):
    """Zeros but for one place."""
    values = np.zeros(n)
    values[n[0] // 2, 0] = 1.0
    return values


@pytest.mark.parametrize(
    ("changes", "trace"),
    [
        ({}, ""),
        ({"markers_m": spiked((100, 2, 3))}, "A at 173 m/s"),
        ({"labels": ("A", "\x1b[2J")}, "is not printable"),
        ({"analog_labels": ("V", "V")}, "all channels have one name"),
        ({"events": (Event("Foot Strike", "kN", 0.1),)}, "has no side"),
        ({"events": (Event("Foot Strike", "Left", 3.0),)}, "is outside"),
        ({"force_plates": (plate(force_n=plate().force_n + 500.0 * spiked((1000, 3))),)}, "N beside the others"),
        (
            {"force_plates": (plate(corners_m=plate().corners_m * [[1.2], [1.0], [1.0], [1.0]]),)},
            "corners of no rectangle",
        ),
        ({"force_plates": (plate(moment_nm=np.tile([0.0, 350.0, 0.0], (1000, 1))),)}, "beside the plate"),
    ],
)
def test_the_judge_looks_at_the_contents_alone(changes, trace):
    whole = Recording("a.x", "", "", ("A", "B"), np.zeros((100, 2, 3)), 100.0, 1, force_plates=(plate(),))
    traces = judge.traces("a.json", b"{}", replace(whole, **changes))
    assert [trace in each for each in traces] == [True] * bool(trace)


def test_the_judge_sees_cells_and_parameters_that_are_not_read(tmp_path):
    nothing = Recording("a", "", "", (), np.zeros((9, 0, 3)), 100.0, 1)
    table = "t,x\n" + "".join(f"{k},{k}.5\n" for k in range(9))
    assert not judge.traces("a.csv", table.encode(), nothing)
    assert judge.traces("a.csv", table.replace("4.5", "4_5").encode(), nothing)
    raw = files.c3d_damage.force_bases(tmp_path)["intel real type 2"]
    assert set(judge.traces("a.c3d", raw, nothing)) == {"plates that are not there", "events that are not there"}


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (lambda: 0, "accepted"),
        (lambda: 2, "refused"),
        (lambda: 3, "read otherwise"),
        (lambda: 1 // 0, "traceback"),
        (lambda: len(bytearray(3 * 2**30)), "memory"),
    ],
)
def test_the_judge_of_tables_sees_what_it_must(work, kind, tmp_path):
    assert tables.guarded(work, tmp_path / "output.txt")[0] == kind


def test_a_hang_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "TIME_S", 0.5)
    assert tables.guarded(lambda: [None for _ in iter(int, 1)], tmp_path / "output.txt")[0] == "hang"

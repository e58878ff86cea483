"""Damaged files: each ends as a recording that makes sense or as a ReadError, in time and memory."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import psutil
import pytest

from damage import LABELS, Case, c3d_bases, check_sense, damaged_c3d, damaged_text, odd_labels_c3d, put, text_bases
from limbtorque.cli.inspect import describe
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.header import read_header
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.samples import read_samples
from limbtorque.recordings.compare_readers import compare_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import READERS, content_format
from limbtorque.recordings.sandbox import GuardedReader

ROOT = Path(__file__).resolve().parents[2]
SAID = ReadOptions(length_unit="mm", force_unit="N")
FORMATS = (
    *("a.trc", "a.sto", "v.sto", "f.mot", "a.tsv", "n.csv", "p.csv"),
    *("o.csv", "c.forces", "c.anc", "q_f_1.tsv", "w.txt", "k.json"),
)
C3D = {"intel real": 0, "dec real": 2, "mips integer": 5}  # and its seed; `make attack` has the other storage of each
QUICK = ("intel real", "mips integer", "a.trc", "f.mot", "n.csv", "p.csv", "k.json")  # the others are slow
SLOWEST_S = 2.0  # processor time of one case, the start of a new process included


def marked(names: tuple[str, ...]) -> list:
    """Parameters for each name, those that are not quick marked as slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in names]


def thinned(cases: Iterator[Case]) -> Iterator[Case]:
    """Every fourth case; `make attack` has all of them, and thousands more."""
    return islice(cases, None, None, 4)


def processor_s() -> float:
    """Processor time of all children, ended and running; another's load does not count."""
    ended = psutil.Process().cpu_times()
    running = [child.cpu_times() for child in psutil.Process().children()]
    return ended.children_user + ended.children_system + sum(times.user + times.system for times in running)


def outcomes(cases, path: Path, options: ReadOptions) -> dict[str, str]:
    """Outcome of each case: 'read', or the message."""
    found = {}
    with GuardedReader() as reader:
        for name, content in cases:
            put(path, content)
            start = processor_s()
            try:
                read = reader.read(path, options=replace(options, memory_limit_mb=512))
            except ReadError as error:
                found[name] = str(error)
            else:
                check_sense(read, max(len(content), 1000))
                found[name] = "read"
            assert processor_s() - start < SLOWEST_S, name
    messages = {name: said for name, said in found.items() if said != "read"}
    assert not {name: said for name, said in messages.items() if not said.startswith(path.name)}
    assert not {name: said for name, said in messages.items() if "reading failed with" in said}  # not foreseen
    return found


@pytest.fixture(scope="module")
def good_c3d(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return c3d_bases(tmp_path_factory.mktemp("c3d"))


@pytest.fixture(scope="module")
def good_text(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return text_bases(tmp_path_factory.mktemp("text"))


@pytest.mark.parametrize("base", marked(tuple(C3D)))
def test_damaged_c3d_files(tmp_path: Path, good_c3d: dict[str, bytes], base: str) -> None:
    raw = good_c3d[base]
    found = outcomes(thinned(damaged_c3d(raw, seed=C3D[base], n_flips=100)), tmp_path / "a.c3d", ReadOptions())
    assert len(found) > 200
    cut = {name: said for name, said in found.items() if name.startswith("cut to")}
    assert {said == "read" for name, said in cut.items() if int(name.split()[2]) < len(raw) - 512} == {False}
    assert 25 < sum(said == "read" for said in found.values()) < len(found) - 25


ANALOG_COUNTS = ("analog rate", "number of analog channels")


@pytest.mark.slow
@pytest.mark.parametrize("base", C3D)
def test_damaged_c3d_files_read_alike_by_another_library(tmp_path: Path, good_c3d: dict[str, bytes], base: str) -> None:
    """Our own reader and the package c3d either say the same, or one of them refuses or states a guess."""
    path, both, differ = tmp_path / "a.c3d", 0, []
    for name, content in damaged_c3d(good_c3d[base], seed=20 + C3D[base], n_flips=60):
        put(path, content)
        try:
            recording = read_c3d(path)
        except ReadError:
            continue
        if any(guess.item == "analog channels" for guess in recording.audit.guesses):
            continue  # a scale of zero, or ANALOG:USED beside another count of the header: we say what we take
        found = compare_c3d(path, "c3d")
        if found is None or found.refused:
            continue
        word = read_samples(content, read_header(content, path.name))[1]
        if (word != np.rint(word)).any() or (np.abs(word) > 32767).any():
            continue  # frames that begin elsewhere: the package casts -0.5 to 0, which is measured, ezc3d takes its sign
        both += 1
        # the package counts channels by the parameters, our reader by the header. Our reader refuses a channel
        # whose scale cannot be (its samples are missing, and a finding says so), the package multiplies
        unlike = [d for d in found.differences if not (np.isnan(d.first) or d.field in ANALOG_COUNTS)]
        if unlike:
            differ.append((name, unlike))
    assert both > 100
    assert not differ, differ[:5]


def test_odd_labels_in_c3d_files(tmp_path: Path) -> None:
    found = outcomes(odd_labels_c3d(tmp_path), tmp_path / "a.c3d", ReadOptions())
    assert len(found) == len(LABELS)
    for _, content in odd_labels_c3d(tmp_path):
        (tmp_path / "a.c3d").write_bytes(content)
        describe(read_c3d(tmp_path / "a.c3d"))


@pytest.mark.parametrize("name", marked(FORMATS))
def test_damaged_text_files(tmp_path: Path, good_text: dict[str, bytes], name: str) -> None:
    raw = good_text[name]
    found = outcomes(thinned(damaged_text(raw, seed=FORMATS.index(name), n_flips=100)), tmp_path / name, SAID)
    assert len(found) > 75
    assert 2 < sum(said == "read" for said in found.values()) < len(found) - 12


# ---- hypothesis ----


def test_every_format_that_is_read_is_damaged_too(good_text):
    """A reader that is added has a good file in `text_bases` and in FORMATS, and a line in docs/reading.md."""
    damaged = {content_format(good_text[name]) for name in FORMATS} | {"C3D"}
    assert damaged == set(READERS)
    page = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8").lower()
    assert [name for name in READERS if name.split()[0].lower() not in page] == []

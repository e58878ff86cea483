"""Thousands of damaged files: each ends as a recording that makes sense or as a ReadError, in time and memory."""

import contextlib
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from c3d_files import raw_c3d
from damage import LABELS, c3d_bases, check_sense, damaged_c3d, damaged_text, odd_labels_c3d, put, text_bases
from limbtorque.cli.inspect import describe
from limbtorque.errors import ReadError, SettingsError, StudyError
from limbtorque.recordings.c3d.header import read_header
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.samples import read_samples
from limbtorque.recordings.compare_readers import compare_c3d
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import READERS, content_format, read_recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.study import load_study
from limbtorque.workflow.layout import RESULTS, record_path, table_path

ROOT = Path(__file__).resolve().parents[2]
SAID = ReadOptions(length_unit="mm", force_unit="N")
FORMATS = (
    *("a.trc", "a.sto", "v.sto", "f.mot", "a.tsv", "n.csv", "p.csv"),
    *("o.csv", "c.forces", "c.anc", "q_f_1.tsv", "w.txt", "k.json"),
)
C3D = ("intel real", "intel integer", "dec real", "dec integer", "mips real", "mips integer")
SLOWEST_S = 2.0  # processor time of one case, the start of a new process included


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
                read = reader.read(path, memory_limit_mb=512, time_limit_s=10.0, options=options)
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


@pytest.mark.parametrize("base", C3D)
def test_damaged_c3d_files(tmp_path: Path, good_c3d: dict[str, bytes], base: str) -> None:
    raw = good_c3d[base]
    found = outcomes(damaged_c3d(raw, seed=C3D.index(base), n_flips=300), tmp_path / "a.c3d", ReadOptions())
    assert len(found) > 800
    cut = {name: said for name, said in found.items() if name.startswith("cut to")}
    assert {said == "read" for name, said in cut.items() if int(name.split()[2]) < len(raw) - 512} == {False}
    assert 100 < sum(said == "read" for said in found.values()) < len(found) - 100


ANALOG_COUNTS = ("analog rate", "number of analog channels")


@pytest.mark.slow
@pytest.mark.parametrize("base", C3D)
def test_damaged_c3d_files_read_alike_by_another_library(tmp_path: Path, good_c3d: dict[str, bytes], base: str) -> None:
    """Our own reader and the package c3d either say the same, or one of them refuses or states a guess."""
    path, both, differ = tmp_path / "a.c3d", 0, []
    for name, content in damaged_c3d(good_c3d[base], seed=20 + C3D.index(base), n_flips=60):
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


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_text_files(tmp_path: Path, good_text: dict[str, bytes], name: str) -> None:
    raw = good_text[name]
    found = outcomes(damaged_text(raw, seed=FORMATS.index(name), n_flips=250), tmp_path / name, SAID)
    assert len(found) > 400
    assert 10 < sum(said == "read" for said in found.values()) < len(found) - 50


# ---- hypothesis ----

SMALL = settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
pieces = st.sampled_from(
    [*"\t,;\n\r \"'.-+eE:#=[]()<>/\\", "1", "2.5", "-3e2", "nan", "time", "frame", "endheader\n", "_x_mm"]
)


@SMALL
@given(name=st.sampled_from(FORMATS), rest=st.lists(pieces, max_size=60), at=st.floats(0.0, 1.0))
def test_text_readers_take_anything(
    tmp_path: Path, good_text: dict[str, bytes], name: str, rest: list[str], at: float
) -> None:
    raw = good_text[name]
    k = int(at * len(raw))
    path = tmp_path / name
    put(path, raw[:k] + "".join(rest).encode() + raw[k:])
    with contextlib.suppress(ReadError):
        check_sense(read_recording(path, SAID), 10_000)


@SMALL
@given(name=st.sampled_from(FORMATS), content=st.binary(max_size=300))
def test_text_readers_take_any_bytes(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    put(path, content)
    with pytest.raises(ReadError):
        read_recording(path, SAID)


odd_cells = st.one_of(
    st.sampled_from(
        [*LABELS, "..", ".", "-", "a" * 300, "con", "a/b", "~", "$HOME", "1e400", "nan", "inf", "S01", "arm"]
    ),
    st.text(max_size=12),
)


@pytest.fixture(scope="module")
def study_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo study's settings and tables, with one recording."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "config").mkdir()
    for name in ("config.yaml", "subjects.csv", "trials.csv"):
        (folder / "config" / name).write_bytes((ROOT / "config" / name).read_bytes())
    (folder / "data" / "demo").mkdir(parents=True)
    lines = (folder / "config" / "trials.csv").read_text(encoding="utf-8").splitlines()
    (folder / "good_trials.csv").write_text("\n".join(lines[:3]) + "\n", encoding="utf-8")
    (folder / "good_subjects.csv").write_bytes((folder / "config" / "subjects.csv").read_bytes())
    for row in lines[1:3]:
        file = next(cell for cell in row.split(",") if cell.endswith(".c3d"))
        raw_c3d(folder / file, np.ones((2, 1, 3)))
    return folder


def check_study(folder: Path) -> None:
    """A study, or a list of faults; the files of its trials lie in the results."""
    try:
        study = load_study(folder)
    except (StudyError, SettingsError):
        return
    inside = (folder / RESULTS).resolve()
    for session, trials in study.batches.items():
        place = inside / "torques" / session
        assert place.parent == inside / "torques"
        assert (folder / record_path("torques", session)).resolve().parent == place
        for trial in trials:
            assert (folder / table_path("torques", session, trial.name, ".csv")).resolve().parent == place


def test_the_good_study_is_good(study_folder: Path) -> None:
    for name in ("trials", "subjects"):
        (study_folder / "config" / f"{name}.csv").write_bytes((study_folder / f"good_{name}.csv").read_bytes())
    assert len(load_study(study_folder).trials) == 2


@SMALL
@given(table=st.sampled_from(["trials", "subjects"]), row=st.integers(0, 2), column=st.integers(0, 8), cell=odd_cells)
def test_a_cell_of_a_study_table_can_be_anything(
    study_folder: Path, table: str, row: int, column: int, cell: str
) -> None:
    lines = (study_folder / f"good_{table}.csv").read_text(encoding="utf-8").splitlines()
    cells = lines[min(row, len(lines) - 1)].split(",")
    cells[column % len(cells)] = '"' + cell.replace('"', '""') + '"'
    lines[min(row, len(lines) - 1)] = ",".join(cells)
    for name in ("trials", "subjects"):
        text = (study_folder / f"good_{name}.csv").read_text(encoding="utf-8")
        content = "\n".join(lines) + "\n" if name == table else text
        put(study_folder / "config" / f"{name}.csv", content.encode("utf-8", errors="replace"))
    check_study(study_folder)


@SMALL
@given(table=st.sampled_from(["trials", "subjects"]), content=st.binary(max_size=120), at=st.floats(0.0, 1.0))
def test_a_study_table_can_hold_any_bytes(study_folder: Path, table: str, content: bytes, at: float) -> None:
    for name in ("trials", "subjects"):
        raw = (study_folder / f"good_{name}.csv").read_bytes()
        k = int(at * len(raw))
        changed = raw[:k] + content + raw[k:] if name == table else raw
        put(study_folder / "config" / f"{name}.csv", changed)
    check_study(study_folder)


@pytest.mark.parametrize(
    "name",
    ["../out", "/etc/passwd", "a/b", "..", ".", ".hidden", "a\\b", "a\nb", "", "-x", "a" * 101, "ü", "a\0b", "~"],
)
def test_trial_and_session_names_cannot_leave_the_results(study_folder: Path, name: str) -> None:
    lines = (study_folder / "good_trials.csv").read_text(encoding="utf-8").splitlines()
    (study_folder / "config" / "subjects.csv").write_bytes((study_folder / "good_subjects.csv").read_bytes())
    header = lines[0].split(",")
    for column in ("trial", "session"):
        cells = lines[1].split(",")
        cells[header.index(column)] = '"' + name + '"'
        (study_folder / "config" / "trials.csv").write_text("\n".join([lines[0], ",".join(cells)]) + "\n", newline="")
        with pytest.raises(StudyError, match=f"{column}(?: is |: .* invisible character )"):
            load_study(study_folder)


@pytest.mark.parametrize("name", ["a" * 300 + ".c3d", "a" * 5000, "data", "a\0b.c3d", "data/demo", "/dev/null"])
def test_file_names_that_are_no_files(study_folder: Path, name: str) -> None:
    lines = (study_folder / "good_trials.csv").read_text(encoding="utf-8").splitlines()
    (study_folder / "config" / "subjects.csv").write_bytes((study_folder / "good_subjects.csv").read_bytes())
    cells = lines[1].split(",")
    cells[lines[0].split(",").index("file")] = name
    (study_folder / "config" / "trials.csv").write_text("\n".join([lines[0], ",".join(cells)]) + "\n", newline="")
    with pytest.raises(StudyError, match=r"does not exist|invisible character|at most 1000 characters"):
        load_study(study_folder)


def test_every_format_that_is_read_is_damaged_too(good_text):
    """A reader that is added has a good file in `text_bases` and in FORMATS, and a line in docs/reading.md."""
    damaged = {content_format(good_text[name]) for name in FORMATS} | {"C3D"}
    assert damaged == set(READERS)
    page = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8").lower()
    assert [name for name in READERS if name.split()[0].lower() not in page] == []

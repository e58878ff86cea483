"""A study's archive: the same bytes each time, and the same numbers again from recordings under any names."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from limbtorque.cli.diff.compare import compare
from limbtorque.cli.diff.runs import FURTHER_KEYS, read_run
from limbtorque.cli.main import main
from limbtorque.cli.reproduce import build_study, compared, find_recordings, read_supplement, report_lines
from limbtorque.cli.supplement import MANIFEST, is_unsafe, supplement_of, zipped
from limbtorque.errors import LimbtorqueError
from limbtorque.study.study import load_study
from study_runs import ROOT, demo_rows, make_plain_study, write_trials

CONTENT = b"trial,file\nt1,recordings/1/a.c3d\n"
RECORDING = b"markers"
TRIAL = "S01_sagittal_fast"


def seal(content):
    return [len(content), hashlib.sha256(content).hexdigest()]


def manifest(**changes):
    named = {"study/config/trials.csv": seal(CONTENT), "results/results.csv": seal(b"1")}
    recordings = {"study/recordings/1/a.c3d": seal(RECORDING)}
    return {"format": 1, "limbtorque": "0.1.0", "files": named, "recordings": recordings, **changes}


def archive(path, *, contents=None, about=None):
    files = {"study/config/trials.csv": CONTENT, "results/results.csv": b"1"} if contents is None else contents
    path.write_bytes(zipped({**files, MANIFEST: json.dumps(manifest() if about is None else about).encode()}))
    return path


def test_the_bytes_do_not_depend_on_order_or_time():
    one, two = zipped({"b": b"2", "a": b"1"}), zipped({"a": b"1", "b": b"2"})
    assert one == two
    entries = zipfile.ZipFile(io.BytesIO(one)).infolist()
    assert [(entry.filename, entry.date_time) for entry in entries] == [(n, (1980, 1, 1, 0, 0, 0)) for n in "ab"]


@pytest.mark.parametrize(
    ("name", "unsafe"),
    [
        ("study/config/trials.csv", False),
        ("results/notes/a b.txt", False),
        ("study/recordings/1/a.c3d", False),
        *(
            (name, True)
            for name in ("study/../../x", "/etc/x", "study//x", "study/a\\..\\x", "study/c:x", "x", "study", "a/b")
        ),
        *((name, True) for name in ("study/.snakemake/x", "study/results/x", "study/profiles/default/config.yaml")),
    ],
)
def test_names_that_no_supplement_has(name, unsafe):
    assert is_unsafe(name) is unsafe


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"contents": {"study/config/trials.csv": CONTENT}}, "results/results.csv is missing; get another copy"),
        (
            {"contents": {"study/config/trials.csv": CONTENT, "results/results.csv": b"2"}},
            "results/results.csv was changed",
        ),
        ({"contents": {"study/../../evil.csv": b""}}, "a file 'study/../../evil.csv', which no supplement has"),
        ({"about": manifest(recordings={"study/../a.c3d": seal(b"")})}, "a file 'study/../a.c3d'"),
        ({"about": manifest(format=2, limbtorque="9.0")}, "a supplement of limbtorque 9.0; install that version"),
        ({"about": {"format": 1}}, "has no readable supplement.json; make a supplement"),
        ({"about": [1]}, "has no readable supplement.json; make a supplement"),
        ({"about": manifest(files={"results/results.csv": [1]})}, "has no readable supplement.json; make a supplement"),
    ],
)
def test_a_supplement_that_is_not_whole_is_a_sentence(change, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = archive(tmp_path / "s.zip", **change)
    assert main(["reproduce", str(path), "--recordings", str(tmp_path)]) == 2
    assert sentence in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["s.zip"]


def test_another_file_is_a_sentence(tmp_path, capsys):
    (tmp_path / "s.zip").write_bytes(b"PK no")
    other = tmp_path / "other.zip"
    other.write_bytes(zipped({"a": b""}))
    assert main(["reproduce", str(tmp_path / "s.zip"), "--recordings", str(tmp_path)]) == 2
    assert main(["reproduce", str(other), "--recordings", str(tmp_path)]) == 2
    assert main(["reproduce", str(tmp_path / "none.zip"), "--recordings", str(tmp_path)]) == 2
    first, second, third = capsys.readouterr().err.splitlines()
    assert "is not a readable zip archive" in first
    assert "has no readable supplement.json; make a supplement: limbtorque supplement STUDY" in second
    assert "none.zip" in third


def test_recordings_are_found_by_their_contents(tmp_path):
    supplement = read_supplement(archive(tmp_path / "s.zip"))
    folder = tmp_path / "recordings"
    (folder / "deep er").mkdir(parents=True)
    with pytest.raises(
        LimbtorqueError, match=r"(?s)1 of 1 files.*a\.c3d: missing; expected 7 bytes.*nothing was computed"
    ):
        find_recordings(supplement, folder)
    (folder / "a.c3d").write_bytes(b"MARKERS")
    with pytest.raises(LimbtorqueError, match=r"a\.c3d: .*a\.c3d has other contents; expected"):
        find_recordings(supplement, folder)
    (folder / "deep er" / "another name").write_bytes(RECORDING)
    build_study(supplement, find_recordings(supplement, folder), tmp_path / "new study")
    assert (tmp_path / "new study" / "recordings" / "1" / "a.c3d").read_bytes() == RECORDING
    assert (tmp_path / "new study" / "expected" / "results.csv").read_bytes() == b"1"
    with pytest.raises(LimbtorqueError, match="new study exists; name another folder with --study"):
        build_study(supplement, find_recordings(supplement, folder), tmp_path / "new study")


def test_files_of_any_column_are_in_the_new_study(tmp_path, monkeypatch):
    """Paths with backslashes, outside the study, and of options; one file of all plates stands for those beside it."""
    monkeypatch.setattr("limbtorque.cli.supplement.planned_jobs", lambda _: {})
    monkeypatch.setattr("limbtorque.cli.supplement.differing_outputs", lambda _: [])
    study, outside = make_plain_study(tmp_path / "study", names=(TRIAL,)), tmp_path / "outside"
    outside.mkdir()
    for name in ("mvc.sto", "mvc 2.sto", "emg.sto", "walk_f_1.tsv", "walk_f_2.tsv"):
        (outside / name).write_text(f"content of {name}", encoding="utf-8")
    (row,) = demo_rows((TRIAL,))
    of_trial = {
        "emg_file": "../outside/emg.sto",
        "emg.max_voluntary_files": '[../outside/mvc 2.sto, "../outside/emg.sto"]',
    }
    row |= {"file": row["file"].replace("/", "\\"), "forces_file": str(outside / "walk_f_1.tsv"), **of_trial}
    write_trials(study, [row, {**row, "trial": "another", "emg.max_voluntary_files": ""}])
    settings = study / "config" / "config.yaml"
    text = "# by hand\nemg: {channels: {EMG1: BIClong}, max_voluntary_files: ../outside/mvc.sto}\n"
    settings.write_text(settings.read_text(encoding="utf-8") + text, encoding="utf-8")
    (tmp_path / "s.zip").write_bytes(supplement_of(study))
    supplement = read_supplement(tmp_path / "s.zip")
    assert {Path(name).name for name in supplement.recordings} >= {"walk_f_1.tsv", "walk_f_2.tsv"}
    assert str(tmp_path) not in "".join(map(str, supplement.files.values()))
    new = tmp_path / "new"
    build_study(supplement, find_recordings(supplement, tmp_path), new)
    for before, after in zip(load_study(study).trials, load_study(new).trials, strict=True):
        assert [file.read_bytes() for file in after.files] == [file.read_bytes() for file in before.files]
        assert [file.name for file in after.files] == [file.name for file in before.files]
        assert all(file.is_relative_to(new / "recordings") for file in after.files)
    assert (after.forces_file.parent / "walk_f_2.tsv").read_text(encoding="utf-8") == "content of walk_f_2.tsv"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study that has run, of which one recording is outside its folder and named by its whole path."""
    folder = make_plain_study(tmp_path_factory.mktemp("place") / "my study", names=(TRIAL, "S02_horizontal_fast"))
    rows = demo_rows((TRIAL, "S02_horizontal_fast"))
    rows[1]["file"] = str(ROOT / rows[1]["file"])
    write_trials(folder, rows)
    assert main(["run-study", str(folder), "--cores", "2"]) == 0
    return folder


@pytest.fixture(scope="module")
def supplement(study):
    path = study.parent / "supplement.zip"
    assert main(["supplement", str(study), "--output", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def recordings(study):
    """The recordings under other names."""
    folder = study.parent / "other names"
    folder.mkdir()
    for number, row in enumerate(demo_rows((TRIAL, "S02_horizontal_fast"))):
        shutil.copy(ROOT / row["file"], folder / f"{number}.bin")
    return folder


@pytest.mark.workflow
def test_a_study_is_repeated_and_differences_are_named(study, supplement, recordings, capfd):
    assert supplement_of(study) == supplement.read_bytes()
    new = study.parent / "new study"
    words = ["reproduce", str(supplement), "--recordings", str(recordings), "--study", str(new), "--cores", "2"]
    assert main(words) == 0
    assert "none differs by more than 1e-06 of the largest value" in capfd.readouterr().out
    assert [trial.file.suffix for trial in load_study(new).trials] == [".c3d", ".c3d"]
    files = {path.stem for path in (new / "expected").glob("*.csv")}
    assert {"results", "metrics", "contact_summary"} <= files & FURTHER_KEYS.keys()
    for name in sorted(files & FURTHER_KEYS.keys()):  # no row twice, so that each has its counterpart
        rows = pd.read_csv(new / "expected" / f"{name}.csv", dtype=str).rename(columns={"quantity": "curve"})
        assert not rows.duplicated([*FURTHER_KEYS[name]]).any()
    table = pd.read_csv(new / "expected" / "results.csv")
    value = table.loc[0, "flexion_peak_nm_kg"]
    table.loc[0, "flexion_peak_nm_kg"] = 1.25 * value
    table.to_csv(new / "expected" / "results.csv", index=False)
    comparison = compared(new, tolerance=1e-6)
    assert not comparison.same
    row, total = report_lines(comparison, tolerance=1e-6)
    assert row.startswith(f"results.csv, row {TRIAL} shoulder, column flexion_peak_nm_kg: expected ")
    expected, result = (float(text.split()[-1]) for text in row.split(", found"))
    assert (expected, result) == pytest.approx((1.25 * value, value))
    assert ", 1 differ by more than 1e-06" in total
    assert compared(new, tolerance=0.21).same  # a fifth of the larger of the two
    table.iloc[1:].to_csv(new / "expected" / "results.csv", index=False)
    row, _ = report_lines(compared(new, tolerance=1e-6), tolerance=1e-6)
    assert row == f"results.csv, row {TRIAL} shoulder: only in the new results"


@pytest.mark.workflow
def test_another_version_is_named(study, supplement, recordings, capfd):
    contents = read_supplement(supplement).files
    with zipfile.ZipFile(supplement) as file:
        about = {**json.loads(file.read(MANIFEST)), "limbtorque": "0.0.9"}
    (study.parent / "old.zip").write_bytes(zipped({**contents, MANIFEST: json.dumps(about).encode()}))
    new = study.parent / "exists"
    new.mkdir()
    words = ["reproduce", str(study.parent / "old.zip"), "--recordings", str(recordings), "--study", str(new)]
    assert main(words) == 2
    assert "of limbtorque 0.0.9, this is" in (said := capfd.readouterr().err)
    assert "install limbtorque==0.0.9" in said


@pytest.mark.workflow
def test_results_that_are_not_the_study_s_are_refused(study, supplement, tmp_path, capfd):
    """An edit that kept the time, which a run would not notice, and settings that were changed since the run."""
    assert supplement.is_file()
    table, settings = study / "results" / "torques" / "S01_sagittal" / f"{TRIAL}.csv", study / "config" / "config.yaml"
    for path, content, sentence in (
        (table, table.read_bytes().replace(b"1", b"2"), f"results/torques/S01_sagittal/{TRIAL}.csv: edited"),
        (settings, settings.read_bytes() + b"filter: {cutoff_hz: 6}\n", "a run would do: kinematics 2"),
    ):
        before, times = path.read_bytes(), path.stat()
        path.write_bytes(content)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert main(["supplement", str(study), "--output", str(tmp_path / "s.zip")]) == 1
        said = capfd.readouterr().err
        assert sentence in said
        assert "next: limbtorque run-study '" in said
        assert not (tmp_path / "s.zip").exists()
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


PYTHONS = [Path(sys.executable), *ROOT.glob(".venv-python3.*/bin/python")]  # the others by `make pythons`


@pytest.mark.slow
@pytest.mark.workflow
@pytest.mark.parametrize(("cores", "locale", "zone"), [("3", "C.UTF-8", "America/St_Johns")])
@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: path.parts[-3])
def test_elsewhere_the_numbers_are_the_same(python, cores, locale, zone, supplement, recordings, tmp_path):
    environment = {**os.environ, "LC_ALL": locale, "TZ": zone, "PYTHONHASHSEED": cores}
    start = [python, "-c", "import sys; from limbtorque.cli.main import main; sys.exit(main())"]
    words = [
        "reproduce",
        supplement,
        "--recordings",
        recordings,
        "--study",
        tmp_path / "ä new 'study'",
        "--cores",
        cores,
    ]
    done = subprocess.run([*start, *words], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "none differs by more than 1e-06" in done.stdout


@pytest.mark.workflow
def test_every_table_is_compared_only_on_request(study):
    usual, every = read_run(study), read_run(study, every=True)
    assert {"results", "metrics"} <= every.tables.keys() - usual.tables.keys()
    assert compare(every, every, every=True).n_compared > 2 * compare(usual, usual).n_compared

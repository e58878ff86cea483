"""`limbtorque init` on real folders: files that are skipped, answers on the command line, copies, and what is not lent."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from proposed_study import rows

from c3d_files import write_c3d
from limbtorque.cli.init.folder import files_in
from limbtorque.cli.init.init import FILES, init_study
from limbtorque.cli.init.scan import survey
from limbtorque.cli.init.survey import Seen, Unread
from limbtorque.cli.init.text import first_screen
from limbtorque.cli.main import main
from limbtorque.errors import ReadError, SettingsError, StudyError
from limbtorque.recordings.read import read_recording
from limbtorque.study.files import parse_yaml
from text_files import write_grf_mot, write_trc

LABELS = ["LFHD", *(side + name for side in "RL" for name in ("FEP", "FEO", "TIO", "ANK", "TOE", "HEE"))]
KEYPOINTS = [side + name for side in "RL" for name in ("Hip", "Knee", "Ankle", "BigToe", "SmallToe", "Heel")]
HEIGHT_M = {"LFHD": 1.7, "FEP": 0.9, "FEO": 0.5, "TIO": 0.1, "ANK": 0.1, "TOE": 0.03, "HEE": 0.05}


def walk(n=201, *, seed=1, noise_m=5e-4):
    """A person who goes 2 m along x, z up; each marker has a swing of its own, and noise."""
    time = np.linspace(0.0, 2.0, n)
    xyz = np.zeros((n, len(LABELS), 3))
    for k, label in enumerate(LABELS):
        height = HEIGHT_M.get(label, HEIGHT_M.get(label[1:], 1.0))
        xyz[:, k] = np.stack(
            [time + 0.1 * np.sin((5.0 + 0.3 * seed) * time + k), 0.1 * (-1) ** k + 0 * time, height + 0 * time], 1
        )
    return xyz + np.random.default_rng(seed).normal(scale=noise_m, size=xyz.shape)


def test_a_forward_axis_that_is_typed_holds(tmp_path):
    write_trc(tmp_path / "walk.trc", walk() * 1e3, unit="mm", labels=LABELS)
    init_study(tmp_path / "study", tmp_path, answers={"plane.up_axis": "+z", "plane.forward_axis": "-x"})
    assert {row["plane.forward_axis"] for row in rows(tmp_path / "study")} == {"-x"}
    with pytest.raises(SettingsError, match="parallel"):
        init_study(tmp_path / "other", tmp_path, answers={"plane.up_axis": "+z", "plane.forward_axis": "+z"})


# --- folders ----------------------------------------------------------------------------------------------------------


def test_files_of_a_known_kind_that_are_skipped_are_named(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_trc(data / "walk.trc", walk(), unit="m", labels=LABELS)
    for name in ("a.qtm", "b.qtm", "raw.mat", "film.mp4", "photo.png"):
        (data / name).write_bytes(b"\0\1")
    (data / "LICENSE.txt").write_text("You may use these data.\nCopyright 2020\n", encoding="utf-8")
    (data / "angles.txt").write_text("some angles\n" + "".join(f"{k} {k * 0.1}\n" for k in range(20)), encoding="utf-8")
    proposal = init_study(tmp_path / "study", data)
    assert sorted(one.name for one in proposal.unread) == ["a.qtm", "angles.txt", "b.qtm", "film.mp4", "raw.mat"]
    assert "not read: 2 files (a.qtm, b.qtm): Qualisys projects: export C3D, or TSV" in first_screen(proposal)


def test_the_other_plates_of_a_recording_are_not_files_of_their_own(tmp_path):
    for name in ("walk.tsv", "walk_f_1.tsv", "walk_f_2.tsv", "jump_f_2.tsv"):
        (tmp_path / name).write_text("NO_OF_FRAMES\t1\n", encoding="utf-8")
    assert [path.name for path in files_in(tmp_path).recordings] == ["jump_f_2.tsv", "walk.tsv", "walk_f_1.tsv"]


AS_ROOT = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")  # root without the right to read every file


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may read every file")
def test_files_and_folders_without_permission_are_sentences(tmp_path):
    data = tmp_path / "data"
    (data / "closed").mkdir(parents=True)
    write_trc(data / "walk.trc", walk(), unit="m", labels=LABELS)
    write_trc(data / "closed" / "walk3.trc", walk(seed=3), unit="m", labels=LABELS)
    write_trc(data / "locked.trc", walk(seed=2), unit="m", labels=LABELS).chmod(0)
    (data / "closed").chmod(0)
    command = [sys.executable, "-m", "limbtorque.cli.start", "init", str(tmp_path / "study"), "--from", str(data)]
    try:
        done = subprocess.run([*(AS_ROOT if os.geteuid() == 0 else ()), *command], capture_output=True, text=True)
    finally:
        (data / "closed").chmod(0o755)
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "study" / "config" / "skipped.csv").read_text(encoding="utf-8")
    assert "locked.trc: the file cannot be opened: Permission denied" in said
    assert "closed,the folder cannot be opened" in said
    assert {row["file"] for row in rows(tmp_path / "study")} == {"../data/walk.trc"}


@pytest.mark.parametrize("suffix", [".trc", ".c3d"])
def test_a_recording_that_changes_while_it_is_read_is_a_sentence(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"walk{suffix}"
    (write_trc(path, walk(), unit="m", labels=LABELS) if suffix == ".trc" else write_c3d(path, walk(), labels=LABELS))
    read = Path.read_bytes

    def slowly(self):
        raw = read(self)
        with self.open("ab") as file:  # the copying goes on
            file.write(b"more")
        return raw

    monkeypatch.setattr(Path, "read_bytes", slowly)
    with pytest.raises(ReadError, match="changed while it was read") as error:
        read_recording(path)
    assert "read it again" in str(error.value)


# --- answers ----------------------------------------------------------------------------------------------------------


def test_answers_on_the_command_line_are_used_and_written(tmp_path, capsys):
    data = tmp_path / "data"
    data.mkdir()
    write_trc(data / "walk.trc", walk() * 1e3, unit="", labels=LABELS)
    with pytest.raises(StudyError, match=r"reading\.length_unit"):
        init_study(tmp_path / "study", data)
    command = ["init", str(tmp_path / "study"), "--from", str(data), "--set", "reading.length_unit=mm"]
    assert main([*command, "--set", "plane.up_axis=+z"]) == 0
    config = parse_yaml((tmp_path / "study" / FILES[0]).read_text(encoding="utf-8"))
    assert config["reading"] == {"length_unit": "mm"}
    assert config["plane"]["up_axis"] == "+z"
    assert len(rows(tmp_path / "study")) == 2
    capsys.readouterr()
    other = ["init", str(tmp_path / "other"), "--from", str(data), "--set", "filter.cutoff_hz=6"]
    assert main(other) == 1
    assert "init takes reading.*, plane.up_axis and plane.forward_axis" in capsys.readouterr().err


def test_an_answer_does_not_override_what_another_file_states(tmp_path):
    """One file states mm, one is in cm and one in m without saying so: each is a walk of two metres."""
    for seed, (folder, unit, metres) in enumerate((("stated", "mm", 1e3), ("a", "", 1e2), ("b", "", 1.0))):
        (tmp_path / "data" / folder).mkdir(parents=True)
        write_trc(tmp_path / "data" / folder / f"{folder}.trc", walk(seed=seed) * metres, unit=unit, labels=LABELS)
    answers = {"reading.length_unit": "m", "a:reading.length_unit": "cm"}
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data", answers=answers)
    units = {row["trial"].split("_")[0]: row["reading.length_unit"] for row in rows(study)}
    assert units == {"stated": "", "a": "cm", "b": "m"}
    assert "reading" not in parse_yaml((study / FILES[0]).read_text(encoding="utf-8"))
    assert not proposal.unread


@pytest.mark.parametrize("folder", ["nofolder", "A", "a/b/c"])
def test_an_answer_for_a_folder_that_is_not_there_is_refused_with_those_that_are(tmp_path, folder):
    (tmp_path / "data" / "a" / "b").mkdir(parents=True)
    write_trc(tmp_path / "data" / "a" / "b" / "walk.trc", walk(), unit="m", labels=LABELS)
    with pytest.raises(
        SettingsError, match=rf"has no folder '{folder}' with recordings.*; the folders in it are a, a/b"
    ):
        init_study(tmp_path / "study", tmp_path / "data", answers={f"{folder}:reading.length_unit": "cm"})
    assert not (tmp_path / "study").exists()
    init_study(tmp_path / "study", tmp_path / "data", answers={"a/b:reading.length_unit": "cm"})


def test_all_units_and_rates_are_asked_at_once_before_a_folder_is_made(tmp_path, capsys):
    """Not those of a copy of a recording, nor of forces of no recording. The command that is proposed works."""
    data, study = tmp_path / "data", tmp_path / "my study"
    data.mkdir()
    write_trc(data / "walk.trc", walk() * 1e3, unit="mm", labels=LABELS)
    write_trc(data / "walk_2.trc", walk(seed=3) * 1e3, unit="", labels=LABELS)
    columns = ["frame", *(f"{label}_{axis}" for label in LABELS for axis in "xyz")]
    for name, seed in (("walk.csv", 1), ("walk_3.csv", 5)):  # frames without a rate, positions without a unit
        table = np.column_stack([np.arange(201), 1e3 * walk(seed=seed).reshape(201, -1)])
        np.savetxt(data / name, table, delimiter=",", header=",".join(columns), comments="", fmt=["%d"] + ["%.3f"] * 39)
    write_grf_mot(data / "walk_grf.mot", head="", n=2001, start_s=0.0)
    write_grf_mot(data / "other_grf.mot", head="", n=20)
    command = ["init", str(study), "--from", str(data), "--chain", "leg"]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert "2 files (walk_2.trc, walk_3.csv): no unit of length" in said
    assert "1 file (walk_grf.mot): no unit of length of its forces" in said
    assert "1 file (walk_3.csv): no frame rate" in said
    assert not study.exists()
    again = shlex.split(said.splitlines()[-1].partition("answer with ")[2].partition(";")[0])[1:]
    assert again[: len(command)] == command
    assert main([word.replace("HZ", "100") for word in again]) == 0
    assert len(rows(study)) == 6
    assert {row["forces_file"] for row in rows(study) if "/walk." in row["file"]} == {"../data/walk_grf.mot"}
    capsys.readouterr()
    assert main(["init", str(tmp_path / "my study"), "--from", str(tmp_path / "data")]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("next: choose another folder, limbtorque init ")
    assert "my study_2" in last
    assert main(["init", str(tmp_path / "new"), "--from", str(tmp_path / "none")]) == 1
    _, fault, last = capsys.readouterr().err.splitlines()
    assert fault.endswith("none does not exist")
    assert last.startswith("next: give the folder of recordings of markers")


# --- descriptions -----------------------------------------------------------------------------------------------------


HELEN_HAYES = ("ASIS", "Knee", "Knee.Medial", "Ankle", "Ankle.Medial", "Toe", "Heel")


def test_descriptions_name_the_markers_where_the_labels_do_not_tell_them_apart(tmp_path):
    """Labels of four letters: RKNE and RANK occur twice, lateral and medial."""
    named = ["V.Sacral", *(f"{side}.{name}" for side in "RL" for name in HELEN_HAYES)]
    four = ["VSAC", *(side + text for side in "RL" for text in ("ASI", "KNE", "KNE", "ANK", "ANK", "TOE", "HEE"))]
    height = {"V": 1.0, "A": 1.0, "K": 0.5, "An": 0.1, "T": 0.03, "H": 0.05}
    xyz = np.zeros((201, len(named), 3))
    for k, name in enumerate(named):
        stem = name[2:] if name[1] == "." else name
        xyz[:, k, 0] = np.linspace(0.0, 2.0, 201) + (0.15 if stem in ("ASIS", "Toe") else 0.0)
        away = 0.06 if stem.endswith("Medial") else 0.12
        xyz[:, k, 1] = 0.0 if name == "V.Sacral" else away * (-1 if name[0] == "R" else 1)
        xyz[:, k, 2] = height.get(stem[:2], height.get(stem[:1], 1.0))
    xyz += np.random.default_rng(1).normal(scale=5e-4, size=xyz.shape)
    (tmp_path / "data").mkdir()
    groups = {"POINT": {"DESCRIPTIONS": named}}
    write_c3d(tmp_path / "data" / "walk.c3d", xyz, labels=four, groups=groups)
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data")
    assert {(row["side"], row["marker_set"]) for row in proposal.trials} == {
        ("right", "helen_hayes"),
        ("left", "helen_hayes"),
    }
    assert parse_yaml((study / FILES[0]).read_text(encoding="utf-8"))["reading"] == {"marker_names": "descriptions"}


# --- nothing is lent --------------------------------------------------------------------------------------------------


def test_folders_with_other_markers_are_other_people(tmp_path):
    """Nobody is named: two folders with the same markers are one person's conditions, a third one is somebody else."""
    for seed, (folder, labels) in enumerate((("fast", LABELS), ("slow", LABELS), ("other", ["Nose", *KEYPOINTS]))):
        (tmp_path / "data" / folder).mkdir(parents=True)
        markers = walk(seed=seed)[:, : len(labels)]
        write_trc(tmp_path / "data" / folder / "walk.trc", markers * 1e3, unit="mm", labels=labels)
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data")
    assert {one.subject for one in proposal.subjects} == {"fast", "other"}
    assert {row["subject"] for row in rows(study) if "/slow/" in row["file"]} == {"fast"}
    assert "different markers are different people: fast, other (a guess; rename them)" in (study / FILES[1]).read_text(
        encoding="utf-8"
    ).replace("\n# ", " ")


def test_recordings_are_surveyed_in_their_order_by_several_processes(tmp_path):
    named = {}
    for k in range(7):
        path = tmp_path / f"walk{k}.trc"
        named[path] = path.name
        if k == 3:
            path.write_bytes(b"garbage")
        else:
            write_trc(path, walk(n=40 + k, seed=k), unit="m", labels=LABELS)
    alone, together = (list(survey(named, processes=n)) for n in (1, 3))
    assert [one.name for one in together] == list(named.values())
    assert [type(one) for one in together] == [type(one) for one in alone]
    assert isinstance(together[3], Unread)
    assert [one.n_frames for one in together if isinstance(one, Seen)] == [40, 41, 42, 44, 45, 46]
    assert [one.bodies for one in together if isinstance(one, Seen)] == [
        one.bodies for one in alone if isinstance(one, Seen)
    ]


def test_a_walk_in_three_files_of_opensim_needs_one_unit(tmp_path, recordings):
    """The command of the page on electromyography."""
    words = ["init", str(tmp_path / "walk"), "--from", str(recordings / "walk_emg_opensim")]
    assert main([*words, "--set", "reading.forces_length_unit=m"]) == 0
    found = rows(tmp_path / "walk")
    assert {row["side"] for row in found} == {"left", "right"}
    assert all(row["forces_file"].endswith("grf_walk.mot") for row in found)
    assert all(row["emg_file"].endswith("electromyography.sto") for row in found)

"""`limbtorque init` on folders of keypoint JSON: one recording of many files, answers, people, and files that are none."""

import numpy as np
import pytest
from keypoint_files import SCALE_M, person, pixels, walker, write_frames, write_json
from proposed_study import rows

from limbtorque.cli.init.folder import files_in
from limbtorque.cli.init.init import FILES, init_study
from limbtorque.cli.main import main
from limbtorque.errors import StudyError
from limbtorque.study.files import parse_yaml
from limbtorque.study.study import load_study
from limbtorque.workflow.keys import session_key

ANSWERS = {"reading.rate_hz": "30", "reading.known_length_m": "0.4", "reading.known_length_between": "RHip,RKnee"}


def seen(xy, seed=1):
    """Frames of one person with a network's noise of a pixel."""
    noise = np.random.default_rng(seed).normal(size=xy.shape)
    return [[person(one)] for one in pixels(xy) + noise]


def test_a_folder_of_frames_is_one_recording_with_the_folders_name(tmp_path):
    data = tmp_path / "data"
    first = write_frames(data / "S01" / "fast_json", seen(walker()))
    write_frames(data / "S01" / "both", seen(walker()), name="cam1_{:05d}.json")
    write_frames(data / "S01" / "both", seen(walker()), name="cam2_{:05d}.json")
    single = write_json(data / "trial_01.json", [{"people": one} for one in seen(walker())])
    write_json(data / "settings.json", {"title": "no keypoints"})
    (data / "empty.json").write_bytes(b"")
    found = files_in(data)
    assert list(found.recordings.values()) == [
        "S01/both/cam1.json",
        "S01/both/cam2.json",
        "S01/fast_json.json",
        "trial_01.json",
    ]
    assert set(found.recordings) >= {first, single}
    assert [name for name, why in found.others if why.startswith("no keypoints")] == ["empty.json", "settings.json"]


def test_init_proposes_both_legs_of_a_walk_in_pictures(tmp_path):
    data, study = tmp_path / "data", tmp_path / "study"
    for k, speed in enumerate((1.0, 1.3), start=1):
        write_frames(data / f"walk{k}", seen(walker(speed_m_s=speed), k), name="w_{:012d}_keypoints.json")
    init_study(study, data, answers=ANSWERS)
    config = parse_yaml((study / FILES[0]).read_text(encoding="utf-8"))
    assert config["plane"]["up_axis"] == "+y"
    assert config["reading"] == {
        "rate_hz": 30,
        "known_length_m": 0.4,
        "known_length_between": "RHip,RKnee",
    }
    table = rows(study)
    assert {(row["chain"], row["side"]) for row in table} == {("leg", "left"), ("leg", "right")}
    assert {row["file"] for row in table} == {f"../data/walk{k}/w_000000000000_keypoints.json" for k in (1, 2)}
    assert all("walk" in row["trial"] for row in table)


def test_every_frame_is_an_input_of_the_workflow(tmp_path):
    data, study = tmp_path / "data", tmp_path / "study"
    write_frames(data, seen(walker()))
    init_study(study, data, answers=ANSWERS)
    subjects = study / FILES[2]
    subjects.write_text(subjects.read_text(encoding="utf-8").replace("TODO", "70"), encoding="utf-8")
    loaded = load_study(study)
    trial = loaded.trials[0]
    assert len(trial.files) == 61
    assert [file.name for file in trial.named_files] == ["walk_000000000000_keypoints.json"]
    keys = [session_key("kinematics", loaded, trial.session)]
    changed = data / "walk_000000000033_keypoints.json"
    changed.write_text(changed.read_text() + " ", encoding="utf-8")
    keys.append(session_key("kinematics", loaded, trial.session))
    (data / "walk_000000000060_keypoints.json").unlink()
    keys.append(session_key("kinematics", load_study(study), trial.session))
    assert len(set(keys)) == 3


def test_what_pixels_need_is_asked_and_answered_on_the_command_line(tmp_path, capsys):
    data = tmp_path / "data"
    write_frames(data, seen(walker()))
    with pytest.raises(StudyError, match=r"reading\.rate_hz"):
        init_study(tmp_path / "study", data)
    with pytest.raises(StudyError, match=r"reading\.metres_per_pixel"):
        init_study(tmp_path / "study", data, answers={"reading.rate_hz": "30"})
    command = ["init", str(tmp_path / "study"), "--from", str(data), "--set", "reading.rate_hz=30"]
    assert main([*command, "--set", f"reading.metres_per_pixel={SCALE_M}"]) == 0
    assert "2 trials of 1 recording (left leg, right leg)" in capsys.readouterr().out


def test_two_people_in_one_picture_are_two_subjects(tmp_path):
    data, study = tmp_path / "data", tmp_path / "study"
    a, b = walker(), walker(start_m=4.5, speed_m_s=-1.0)
    b[..., 1] += 0.6
    frames = [[*one, *other] for one, other in zip(seen(a), seen(b, 2), strict=True)]
    write_frames(data, frames)
    init_study(study, data, answers={"reading.rate_hz": "30", "reading.metres_per_pixel": str(SCALE_M)})
    assert {row["subject"] for row in rows(study)} == {"person_1", "person_2"}
    assert {row["prefix"] for row in rows(study)} == {"person_1", "person_2"}

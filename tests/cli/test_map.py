"""`limbtorque map` and the pages of `init`: choices, proposals and names, by the data that a page carries."""

import numpy as np
import pytest

from c3d_files import write_c3d
from limbtorque.cli.init.init import MOST, init_study
from limbtorque.cli.main import main
from limbtorque.cli.map_recording import BUILT_IN, MapChoices, map_page
from limbtorque.errors import StudyError, TrialError
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording
from reports import embedded

LEG = ["FEP", "FEO", "TIO", "ANK", "TOE", "HEE"]


def write(path, labels, *, seed=0, n_frames=60, groups=None):
    """A recording of markers that move a little, each at its own place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    start = rng.uniform(0.0, 1.5, size=(1, len(labels), 3))
    way = np.linspace(0.0, 0.3, n_frames)[:, None, None] * rng.uniform(0.5, 1.0, size=(1, len(labels), 3))
    return write_c3d(path, start + way, labels=labels, groups=groups)


def data_of(path, **choices):
    return embedded(map_page(read_recording(path), MapChoices(path.name, BUILT_IN, **choices)), "recording")


def test_landmarks_of_a_known_set_are_proposed_for_both_sides(tmp_path):
    write(tmp_path / "walk.c3d", [side + name for side in "RL" for name in LEG])
    data = data_of(tmp_path / "walk.c3d")
    assert (data["chain"], data["side"]) == ("leg", "right")
    leg = data["bodies"][0]["proposed"]["leg"]
    for side in ("right", "left"):
        names = {landmark: [data["labels"][k] for k in markers] for landmark, markers in leg[side].items()}
        letter = side[0].upper()
        assert names["hip_axis"] == [f"{letter}FEP"]
        assert names["head_of_metatarsal_2"] == [f"{letter}TOE"]
        assert names["heel"] == [f"{letter}HEE"]
        assert "glenohumeral_axis" not in names  # which the same set has


def test_what_a_known_set_says_of_its_landmarks_goes_with_them(tmp_path):
    names = ("Hip", "Knee", "Ankle", "Heel", "BigToe", "SHO", "ELB", "WRA", "WRB", "FIN")
    write(tmp_path / "walk.c3d", [side + name for side in "RL" for name in names])
    known = data_of(tmp_path / "walk.c3d")["bodies"][0]["known"]
    assert known["leg"]["right"]["head_of_metatarsal_2"] == {"fraction": 0.74, "error": 0.015}
    assert known["leg"]["left"]["hip_axis"] == {"error": "keypoint"}
    assert known["leg"]["left"]["heel"] == {}
    assert known["arm"]["right"]["glenohumeral_axis"] == {"error": 0.038}  # an acromion, which stands for it
    assert known["arm"]["right"]["wrist_axis"] == {}


def test_a_side_is_a_placeholder_only_where_the_other_side_has_the_marker(tmp_path):
    write(tmp_path / "walk.c3d", ["RHIP", "LHIP", "RKNE", "r_toe", "l_toe", "T10"])
    data = data_of(tmp_path / "walk.c3d")
    assert data["templates"]["right"] == {"0": "{S}HIP", "3": "{s}_toe"}
    assert data["templates"]["left"] == {"1": "{S}HIP", "4": "{s}_toe"}
    assert data["mates"] == {"0": 1, "1": 0, "3": 4, "4": 3}


def test_a_name_that_occurs_twice_or_is_never_seen_cannot_be_chosen(tmp_path):
    path = tmp_path / "walk.c3d"
    labels = ["HIP", "KNEE", "KNEE", "GONE", "TOE"]
    points = np.random.default_rng(0).uniform(size=(1, 5, 3)) + np.linspace(0.0, 0.1, 20)[:, None, None]
    points[:, 3] = np.nan
    write_c3d(path, points, labels=labels)
    recording = read_recording(path)
    page = map_page(recording, MapChoices("walk.c3d", BUILT_IN))
    data = embedded(page, "recording")
    chosen = [data["labels"][k] for k in data["bodies"][0]["markers"]]
    repeated = {label for label in recording.labels if recording.labels.count(label) > 1}
    assert {"HIP", "TOE"} <= set(chosen)
    assert not {"GONE"} & set(chosen)
    assert not repeated & set(chosen)
    assert ("several markers have this name: KNEE" in page) == bool(repeated)


def test_a_recording_without_markers_is_refused():
    nothing = Recording("nothing.c3d", "", "", ("A", "A"), np.zeros((20, 2, 3)), 100.0, 1)
    with pytest.raises(TrialError, match="no selectable marker"):
        map_page(nothing, MapChoices("nothing.c3d", BUILT_IN))


def test_people_are_told_apart_by_their_prefix(tmp_path):
    write(tmp_path / "two.c3d", ["Ann:HIP", "Ann:KNEE", "Bob:HIP", "Bob:KNEE"])
    data = data_of(tmp_path / "two.c3d")
    assert [(body["prefix"], body["markers"]) for body in data["bodies"]] == [("Ann", [0, 1]), ("Bob", [2, 3])]
    assert [body["row"]["prefix"] for body in data["bodies"]] == ["Ann", "Bob"]
    assert data["labels"] == ["HIP", "KNEE", "HIP", "KNEE"]


@pytest.mark.parametrize(("way_m", "found"), [(3.0, "Foot Strike"), (0.1, "")])
def test_a_walk_without_strikes_in_its_file_has_those_of_plates_and_markers(tmp_path, way_m, found):
    labels = ["A", "B", "C", "D", "E"]
    places = np.linspace(0.9, 0.05, 5)[:, None] * [0.0, 0.0, 1.0] + np.arange(5)[:, None] * [0.0, 0.05, 0.0]
    walk = places + np.linspace(0.0, way_m, 60)[:, None, None] * [1.0, 0.0, 0.0]
    (body,) = data_of(write_c3d(tmp_path / "walk.c3d", walk, labels=labels), up_axis="+z")["bodies"]
    assert body["row"].get("found_event", "") == found


def test_the_command_writes_a_page_with_chains_of_the_settings(tmp_path, capsys):
    write(tmp_path / "reach.c3d", ["A", "B", "C", "D"])
    settings = tmp_path / "config.yaml"
    settings.write_text(
        "plane: {up_axis: '+z'}\n"
        "chains:\n"
        "  finger:\n"
        "    joints: [{name: mcp, landmark: mcp_axis}]\n"
        "    segments: [{name: finger, row: hand}]\n"
        "    end: tip\n",
        encoding="utf-8",
    )
    page = tmp_path / "page.html"
    words = ["map", tmp_path / "reach.c3d", "--settings", settings, "--output", page]
    assert main([str(word) for word in words]) == 0
    assert capsys.readouterr().out == f"written: {page}\n"
    data = embedded(page.read_text(encoding="utf-8"), "recording")
    assert list(data["chains"]) == ["finger", "leg", "arm"]
    assert data["chains"]["finger"]["joints"] == ["mcp_axis", "tip"]
    assert data["up_axis"] == "+z"
    assert main(["map", str(tmp_path / "none.c3d")]) == 1


# --- init -------------------------------------------------------------------------------------------------------------


def test_init_writes_a_page_for_labels_that_nobody_knows(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / "data" / f"{name}.c3d", [f"M{k:02d}" for k in range(12)], seed=len(name))
    write(tmp_path / "data" / "three.c3d", [f"Q{k:02d}" for k in range(12)])
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data")
    assert proposal.trials == ()
    assert set(proposal.maps) == {"maps/one.html", "maps/three.html"}  # two has the labels of one
    data = embedded((study / "maps" / "one.html").read_text(encoding="utf-8"), "recording")
    assert data["bodies"][0]["row"]["file"] == "../data/one.c3d"


def test_the_mass_that_a_file_states_is_there_before_its_markers_are_mapped(tmp_path):
    said = {"PROCESSING": {"Bodymass": [64.5]}, "SUBJECTS": {"NAMES": ["Ann"]}}
    write(tmp_path / "data" / "one.c3d", [f"M{k:02d}" for k in range(12)], groups=said)
    write(tmp_path / "data" / "two.c3d", [f"Q{k:02d}" for k in range(12)], groups={"SUBJECTS": {"NAMES": ["Bob"]}})
    proposal = init_study(tmp_path / "study", tmp_path / "data")
    assert [(one.subject, one.mass_kg) for one in proposal.subjects] == [("Ann", "64.5")]
    assert proposal.to_do == 1  # the up axis


def test_init_writes_a_page_for_each_set_with_a_landmark_to_fill_in(tmp_path):
    labels = [side + name for side in "RL" for name in LEG]
    write(tmp_path / "data" / "known.c3d", labels)
    write(tmp_path / "data" / "kick.c3d", ["RKNE", "RANK", "RTOE", "RHEE"], seed=1)  # a leg without a hip
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data")
    assert proposal.maps == ("maps/my_markers.html",)
    data = embedded((study / "maps" / "my_markers.html").read_text(encoding="utf-8"), "recording")
    assert (data["source"], data["chain"], data["marker_set"]) == ("kick.c3d", "leg", "my_markers")


def test_init_writes_a_few_pages_at_most_and_overwrites_none(tmp_path):
    for k in range(MOST + 3):
        write(tmp_path / "data" / f"r{k}.c3d", [f"{chr(65 + k)}{n:02d}" for n in range(8)], seed=k)
    proposal = init_study(tmp_path / "study", tmp_path / "data")
    assert len(proposal.maps) == MOST
    (tmp_path / "other" / "maps").mkdir(parents=True)
    with pytest.raises(StudyError, match="maps exists and is not overwritten"):
        init_study(tmp_path / "other", tmp_path / "data")

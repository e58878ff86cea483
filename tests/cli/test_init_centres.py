"""Proposed studies: predicted joint centres, static trials, the direction where nobody travels, up axes that differ."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from proposed_study import both_sides, rows

from c3d_files import write_c3d
from clustered_legs import with_clusters, without
from limbtorque.analysis.study import check_study
from limbtorque.cli.init.init import FILES, init_study
from limbtorque.cli.init.known_sets import fits
from limbtorque.cli.init.marker_sets import Pair, best_cluster
from limbtorque.cli.init.study_settings import judge_up
from limbtorque.cli.init.subjects import propose_subject
from limbtorque.cli.init.survey import Body, Clue, Seen, look_at
from limbtorque.errors import StudyError
from limbtorque.recordings.c3d.write import write_c3d as write_recording
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.files import parse_yaml
from limbtorque.study.study import load_study
from limbtorque.workflow.load_checked import checked_study

WALKER = Walker()
MARKERS = ["KNE", "ANK", "TOE", "HEE"]
NAMES = {"TH": "TH", "TB": "TB", "HJC": "HJC", "KJC": "LFC", "AJC": "LMAL", "TOE": "TOE", "HEE": "CAL"}


def rule(study, landmark):
    settings = parse_yaml((study / FILES[0]).read_text(encoding="utf-8"))
    (marker_set,) = settings["marker_sets"].values()
    return marker_set[landmark]


@pytest.mark.parametrize("back", [["SACR"], ["RPSI", "LPSI"]])
def test_a_leg_with_a_pelvis_has_a_hip(back):
    found = [fit for fit in fits([*both_sides([*MARKERS, "ASI"]), *back], LEG) if not fit.missing]
    assert [(fit.known.name, fit.side, fit.missing) for fit in found] == [
        ("plug_in_gait_markers", "right", ()),
        ("plug_in_gait_markers", "left", ()),
    ]
    assert all(fit.predicted["hip_axis"] == ("hip_centre", "harrington_2007") for fit in found)


@pytest.mark.parametrize("pelvis", [["RASI", "SACR"], ["RASI", "LASI"], ["RASI", "LASI", "RPSI"], ["SACR"]])
def test_half_a_pelvis_has_none(pelvis):
    assert all("hip_axis" in fit.missing for fit in fits([*both_sides(MARKERS), *pelvis], LEG))


def test_a_shoulder_is_predicted_from_both_acromia_and_else_replaced():
    arm = ["SHO", "ELB", "WRA", "WRB", "FIN"]
    both, one = fits(both_sides(arm), ARM), fits([f"R{label}" for label in arm], ARM)
    assert [dict(fit.predicted) for fit in both] == [{"glenohumeral_axis": ("shoulder_centre", "rab_2002")}] * 2
    assert [dict(fit.predicted) for fit in one] == [{}]
    assert one[0].missing == ()  # the acromion stands for it


def named(recording, names=NAMES):
    """Recording with the names of a laboratory: condyles and malleoli, both at the joint's centre, and clusters."""
    labels, columns = [], []
    for k, label in enumerate(recording.labels):
        stem = label[1:].rstrip("1234")
        if stem not in names:
            continue
        new = [label[0] + names[stem] + label[1 + len(stem) :]]
        if stem in ("KJC", "AJC"):
            new.append(label[0] + {"KJC": "MFC", "AJC": "MMAL"}[stem])
        labels += new
        columns += [k] * len(new)
    return replace(recording, labels=tuple(labels), markers_m=recording.markers_m[:, columns])


def belt(recording):
    moving = np.outer(np.arange(recording.n_frames) / recording.rate_hz, [WALKER.speed_m_s, 0.0, 0.0])
    return replace(recording, markers_m=recording.markers_m - moving[:, None])


@pytest.fixture(scope="module")
def walking():
    return named(with_clusters(walk_recording(WALKER, Walkway(), duration_s=3.0, first_strike_s=0.2)))


@pytest.fixture(scope="module")
def standing(walking):
    sway = 0.002 * np.random.default_rng(1).standard_normal((60, 1, 3))
    return replace(walking, markers_m=walking.markers_m[:1] + sway, events=())


def save(path, recording):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_c3d(path, recording.markers_m, labels=list(recording.labels), rate_hz=recording.rate_hz)


HIDDEN = ("HJC", "LFC", "MFC", "LMAL", "MMAL")


def test_landmarks_of_the_static_trial_are_carried(tmp_path, walking, standing):
    save(tmp_path / "data" / "S01" / "cal.c3d", standing)
    save(tmp_path / "data" / "S01" / "walk1.c3d", without(walking, *HIDDEN))
    study = tmp_path / "study"
    init_study(study, tmp_path / "data")
    assert [(row["side"], row["static_file"], row["plane.forward_axis"]) for row in rows(study)] == [
        ("right", "../data/S01/cal.c3d", "travel"),
        ("left", "../data/S01/cal.c3d", "travel"),
    ]
    knee, ankle, hip = (rule(study, name) for name in ("knee_axis", "ankle_axis", "hip_axis"))
    assert knee["static"] == ["{S}LFC", "{S}MFC"]
    for found, segment in ((knee, "{S}TH"), (ankle, "{S}TB"), (hip, "{S}TH")):  # there are no markers on the pelvis
        assert len(found["cluster"]) >= 3
        assert {label[:5] for label in found["cluster"]} == {segment}
    subjects = (study / FILES[2]).read_text(encoding="utf-8").replace("TODO", "70")
    (study / FILES[2]).write_text(subjects, encoding="utf-8")
    config = (study / FILES[0]).read_text(encoding="utf-8").replace("up_axis: null", 'up_axis: "+z"')
    (study / FILES[0]).write_text(config, encoding="utf-8")
    loaded = load_study(study)
    assert {trial.static_file.name for trial in loaded.trials} == {"cal.c3d"}
    assert [fault for _, fault, *_ in check_study(checked_study(study))] == ["", ""]


def test_without_a_static_trial_the_landmarks_stay_open(tmp_path, walking):
    save(tmp_path / "data" / "S01" / "walk1.c3d", without(walking, *HIDDEN))
    study = tmp_path / "study"
    init_study(study, tmp_path / "data")
    assert all("static_file" not in row for row in rows(study))


def test_the_cluster_of_a_landmark_is_its_segments(walking, standing, tmp_path):
    static = look_at(standing, path=tmp_path / "s.c3d", name="s.c3d")

    def cluster(moving, labels, **options):
        seen = look_at(without(moving, *HIDDEN), path=tmp_path / "w.c3d", name="w.c3d")
        return best_cluster(labels, Pair(seen, static, ""), seen.bodies[0].labels, **options)

    found = cluster(walking, ("RLMAL", "RMMAL"))
    assert len(found) >= 3
    assert all(label.startswith("RTB") for label in found)
    other = ("RTB2", "RTB3", "RTB4")
    assert cluster(walking, ("RLMAL", "RMMAL"), first=[("LTB1", "X"), other]) == other
    hip, ankle = (standing.markers_m[0, standing.labels.index(label)] for label in ("RHJC", "RLMAL"))
    thigh = cluster(walking, ("RLFC", "RMFC"), around=(hip, ankle))
    assert {label[:3] for label in thigh} == {"RTH"}  # the shank is beyond the knee
    bent = replace(walking, markers_m=walking.markers_m * [1.0, 1.0, 3.0])  # nothing is rigid
    assert cluster(bent, ("RLMAL", "RMMAL")) == ()


def test_the_speed_of_a_treadmill_is_asked_for(tmp_path, walking):
    """With force plates it is to be filled in, without any a note says so."""
    save(tmp_path / "data" / "S01" / "belt.c3d", belt(walking))
    init_study(tmp_path / "study", tmp_path / "data")
    found = rows(tmp_path / "study")
    assert [row["plane.forward_axis"] for row in found] == ["pelvis", "pelvis"]
    assert "plates.belt_speed_m_s" not in found[0]
    assert "on a treadmill give its speed in a column plates.belt_speed_m_s" in found[0]["note"]
    assert "on the spot" not in found[0]["note"]
    (tmp_path / "plates").mkdir()
    with_plates = walk_recording(WALKER, Walkway(plates_m=((1.0, -0.1),)), duration_s=3.0, first_strike_s=0.2)
    write_recording(named(belt(with_plates)), tmp_path / "plates" / "belt.c3d")
    proposal = init_study(tmp_path / "other", tmp_path / "plates", answers={"plane.up_axis": "+z"})
    assert [row["plates.belt_speed_m_s"] for row in rows(tmp_path / "other")] == ["TODO", "TODO"]
    assert proposal.to_do == 3  # and the body mass
    assert proposal.window.window == "events"
    with pytest.raises(StudyError, match="belt speed of the treadmill in m/s; 0 without a treadmill"):
        load_study(tmp_path / "other")


def test_a_step_on_the_spot_has_no_belt(tmp_path, walking):
    """The feet go up and down in turn, and stand still otherwise."""
    phase = 2.0 * np.pi * np.arange(walking.n_frames) / 100.0
    lift = {side: 0.1 * np.maximum(turn * np.sin(phase), 0.0) for side, turn in (("R", 1.0), ("L", -1.0))}
    feet = [k for k, label in enumerate(walking.labels) if label[1:] in ("TOE", "CAL", "LMAL", "MMAL")]
    markers = np.repeat(walking.markers_m[40:41], walking.n_frames, axis=0)
    markers[:, feet, 2] += np.column_stack([lift[walking.labels[k][0]] for k in feet])
    save(tmp_path / "data" / "S01" / "spot.c3d", replace(walking, markers_m=markers, events=()))
    study = tmp_path / "study"
    init_study(study, tmp_path / "data")
    found = rows(study)
    assert [row["plane.forward_axis"] for row in found] == ["pelvis", "pelvis"]
    assert all(not row.get("plates.belt_speed_m_s") for row in found)
    assert all("as in stepping on the spot" in row["note"] for row in found)


def test_one_side_alone_leaves_the_direction_open(tmp_path, walking):
    markers = belt(walking).markers_m.copy()
    markers[:, [k for k, label in enumerate(walking.labels) if label.startswith("L")]] = np.nan
    save(tmp_path / "data" / "S01" / "belt.c3d", replace(walking, markers_m=markers))
    study = tmp_path / "study"
    init_study(study, tmp_path / "data")
    assert [row["plane.forward_axis"] for row in rows(study)] == ["TODO"]


def test_up_axes_that_differ_are_written_by_trial(tmp_path):
    """Two files with z up and one with y up: a head above the feet, and the floor at zero."""
    stems = ["FHD", "ASI", "FEP", "FEO", "TIO", "ANK", "TOE", "HEE"]
    heights = [1.7, 1.0, 0.9, 0.5, 0.1, 0.1, 0.03, 0.05]
    labels = both_sides(stems)
    for name, up in (("a", 2), ("b", 2), ("c", 1)):
        markers = np.zeros((101, len(labels), 3))
        markers[..., up] = heights * 2
        markers[..., (up + 1) % 3] = np.linspace(0.0, 2.0 + 0.2 * (name == "b"), 101)[:, None]
        markers[..., (up + 2) % 3] = np.repeat([0.1, -0.1], len(stems))
        path = tmp_path / "data" / "S01" / f"{name}.c3d"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_c3d(path, markers + 1e-4 * np.random.default_rng(up).standard_normal(markers.shape), labels=labels)
    study = tmp_path / "study"
    init_study(study, tmp_path / "data")
    assert {(row["trial"][0], row["plane.up_axis"]) for row in rows(study)} == {("a", ""), ("b", ""), ("c", "+y")}
    config = (study / FILES[0]).read_text(encoding="utf-8")
    assert 'up_axis: "+z"' in config
    assert "c.c3d differ from +z" in config


# --- leg length and pelvis width -----------------------------------------------------------------------------------------


def person(name, *said, moved_m=1.0, places_m=None):
    """A recording whose file says something of the person, with markers at places."""
    labels = tuple(places_m or ("A",))
    sample_m = np.array([list((places_m or {"A": (0.0, 0.0, 0.0)}).values())], dtype=np.float32)
    body = Body("", labels, (0.0, 0.0, 0.0), None, moved_m=moved_m)
    return Seen(Path(name), name, 10, 100.0, 1, (body,), 0.0, 0, said, (), np.zeros(1), sample_m, labels)


def test_leg_length_and_pelvis_width_are_those_of_the_file():
    said = [("PROCESSING:LLEGLENGTH", "830"), ("PROCESSING:RLEGLENGTH", "850"), ("PROCESSING:INTERASISDISTANCE", "204")]
    found = propose_subject("S07", [person("a.c3d", *said)], predicted_hip=True)
    assert (found.leg_length_m, found.pelvis_width_m) == ("0.840", "0.204")
    assert "PROCESSING:INTERASISDISTANCE is 204 in 1 file; mm assumed" in found.evidence
    unused = propose_subject("S07", [person("a.c3d", *said)])
    assert (unused.leg_length_m, unused.pelvis_width_m) == ("", "")


@pytest.mark.parametrize("text", ["0", "8.3", "long"])
def test_a_leg_length_of_no_leg_is_not_proposed(text):
    said = [("PROCESSING:LLEGLENGTH", text)]
    assert propose_subject("S07", [person("a.c3d", *said)], predicted_hip=True).leg_length_m == ""


def test_the_frame_of_opensims_storage_files_is_known():
    """y up and x forward, in the program that writes them; contradicted by a person who stands along z, it is not taken."""
    clue = Clue("format", "+y", "files of OpenSim")
    arm = replace(person("a.mot"), up=(clue,))
    assert judge_up([arm])[0] == "+y"
    assert judge_up([arm, replace(person("b.mot"), up=(Clue("body", "+z", "stands"),))])[0] == ""

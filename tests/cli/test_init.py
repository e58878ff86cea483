"""A study proposed from a folder of recordings: what is known, what is guessed aloud, and what is left to fill in."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from proposed_study import both_sides, rows, seen

from c3d_files import write_c3d
from limbtorque.analysis.study import check_study
from limbtorque.cli.init.init import FILES, init_study
from limbtorque.cli.init.known_sets import PARTS, fits, known_sets, match_set, needed_landmarks
from limbtorque.cli.init.pairs import same_movement
from limbtorque.cli.init.study_settings import judge_up, propose_window
from limbtorque.cli.init.subjects import propose_subject
from limbtorque.cli.init.survey import Clue, Strikes, look_at
from limbtorque.cli.init.text import first_screen
from limbtorque.cli.init.trials import ARMS_OF_A_WALK, ProposedTrial
from limbtorque.cli.inspect import describe
from limbtorque.cli.main import main
from limbtorque.errors import ReadError, StudyError
from limbtorque.motion.in_space import SIDES_OF
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.read import SUFFIXES, read_recording
from limbtorque.recordings.recording import ForcePlate, find_marker
from limbtorque.recordings.writers import write_sto
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.files import parse_yaml
from limbtorque.study.study import load_study
from limbtorque.workflow.load_checked import checked_study
from text_files import write_trc

PLUG_IN_GAIT_ARM = ["SHO", "ELB", "WRA", "WRB", "FIN"]
HEIGHTS_M = {"LFHD": 1.7, "SHO": 1.4, "ELB": 1.1, "WRA": 0.9, "WRB": 0.89, "FIN": 0.8, "ASI": 1.0}
HEIGHTS_M |= {"FEP": 0.9, "FEO": 0.5, "TIO": 0.1, "ANK": 0.1, "TOE": 0.03, "HEE": 0.05}


def positions(labels, *, travel_m=2.0, up=2, n_frames=101, seed=1):
    """Markers at their heights along an axis, all of which travel along the next one."""
    xyz = np.zeros((n_frames, len(labels), 3))
    rng = np.random.default_rng(seed)
    for k, label in enumerate(labels):
        stem = label.rpartition(":")[2]
        xyz[:, k, up] = HEIGHTS_M.get(stem, HEIGHTS_M.get(stem[1:], HEIGHTS_M.get(stem[-3:], 0.5 + 0.1 * k)))
        xyz[:, k, (up + 2) % 3] = 0.01 * seed + (0.2 if stem.startswith("R") else -0.2) + label.startswith("Bob")
        xyz[:, k, (up + 1) % 3] = travel_m * np.linspace(0.0, 1.0, n_frames) + 0.3 * stem.endswith(("ASI", "TOE"))
    return xyz + rng.normal(scale=1e-4, size=xyz.shape)


def write(path, labels, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    groups = options.pop("groups", None)
    return write_c3d(path, positions(labels, **options), labels=labels, groups=groups)


# --- known sets -------------------------------------------------------------------------------------------------------


def test_every_known_set_names_landmarks_that_a_chain_needs_or_that_stand_for_one():
    """Or that are on the flexion axis of a joint, for moments in space."""
    axes = {name for sides in SIDES_OF.values() for name in sides}
    needed = {*needed_landmarks(ARM), *needed_landmarks(LEG), "heel", "toe_tip", "head_of_metacarpal_3"}
    for known in known_sets():
        stand_ins = {*(by for by, _ in known.substitutes.values()), *known.second_choices.values()}
        parts = {part for kind, _ in known.predicted.values() for group in PARTS[kind] for part in group}
        assert set(known.rules) <= needed | stand_ins | parts | axes, known.name
        assert set(known.substitutes) | set(known.predicted) <= needed, known.name
        assert set(known.meaning) == {*known.rules, *known.predicted}
        assert known.title
        assert known.source


@pytest.mark.parametrize(
    "labels",
    [
        ["RSHO", "RELB", "RWRA", "RWRB", "RFIN"],
        ["rsho", "r.elb", "R_WRA", "RWrb", "R FIN"],
        ["SHO_R", "ELB_R", "WRA_right", "WRB-R", "rightFIN"],
    ],
)
def test_names_fit_after_side_and_case_are_folded(labels):
    known = next(one for one in known_sets() if one.name == "plug_in_gait_markers")
    assert match_set(known, labels, "right") == {
        "acromion": (labels[0],),
        "lateral_epicondyle": (labels[1],),
        "wrist_axis": (labels[2], labels[3]),
        "ulnar_styloid": (labels[3],),
        "head_of_metacarpal_3": (labels[4],),
    }
    assert match_set(known, labels, "left") == {}


@pytest.mark.parametrize(
    "labels",
    [
        "R_ASIS L_ASIS R_PSIS L_PSIS R_Knee_Lat R_Knee_Med R_Ankle_Lat R_Ankle_Med R_Heel R_MT2",
        "RIAS LIAS RIPS LIPS RightLateralKnee RMedKnee r.lat.malleolus r.med.malleolus Rcalc RMTP2",
        "RGT RLEK RMEK RLM RMM RHEE RMT1 RMT5",
        "RASI LASI V.Sacral RKNEL RKNEM RANKL RANKM R_Toe RHEE",
    ],
)
def test_names_of_no_known_set_fit_by_their_words(labels):
    labels = labels.split()
    chosen = [fit for fit in fits(labels, LEG) if not fit.missing]
    assert [(fit.known.name, fit.side) for fit in chosen] == [("words", "right")]
    assert len(chosen[0].rules["knee_axis"]) == len(chosen[0].rules["ankle_axis"]) == 2
    assert chosen[0].rules["heel"] == (labels[labels.index("RHEE") if "RHEE" in labels else 8],)


def test_a_label_that_occurs_twice_is_not_taken():
    labels = both_sides([*PLUG_IN_GAIT_ARM, "CLO", "HUO", "RAO", "HNO"])
    assert [fit.side for fit in fits(labels, ARM) if not fit.missing][:2] == ["right", "left"]
    again = [fit for fit in fits([*labels, "RSHO", "RELB", "RHUO"], ARM) if not fit.missing]
    assert {fit.side for fit in again} == {"left"}


def test_words_are_used_only_where_they_make_a_limb_whole():
    assert not [
        fit for fit in fits(["R_Knee_Lat", "R_Knee_Med", "R_Ankle_Lat", "R_Heel"], LEG) if fit.known.name == "words"
    ]
    both = both_sides(["FEP", "FEO", "TIO", "ANK", "TOE", "HEE"])
    assert "words" not in {fit.known.name for fit in fits(both, LEG)}
    twice = ["RGT", "RLEK", "RKneeLat", "RMEK", "RLM", "RMM", "RHEE", "RMT2"]  # two lateral knees
    assert not [fit for fit in fits(twice, LEG) if not fit.missing]


def test_a_leg_without_a_hip_lacks_it():
    labels = both_sides(["ASI", "KNE", "ANK", "TOE", "HEE"])
    assert {fit.missing for fit in fits(labels, LEG)} == {("hip_axis", "greater_trochanter")}


# --- evidence ---------------------------------------------------------------------------------------------------------


def test_the_up_axis_takes_two_kinds_of_evidence_that_agree():
    screen, body, other = Clue("screen", "+z", "drawn"), Clue("body", "+z", "stands"), Clue("body", "+y", "lies")
    assert judge_up([seen(up=(screen, body))])[0] == "+z"
    assert judge_up([seen(up=(screen,)), seen(up=(screen,))])[0] == ""
    assert judge_up([seen(up=(screen, body)), seen(up=(other,))])[0] == ""
    assert judge_up([seen()]) == ("", ("no evidence",))


def test_mass_and_height_are_those_of_the_files_with_their_source():
    said = (("PROCESSING:BODYMASS", "45.8"), ("PROCESSING:HEIGHT", "1480"))
    found = propose_subject("S07", [seen(said=said), seen(said=said)])
    assert (found.mass_kg, found.height_m, found.sex) == ("45.8", "1.48", "")
    assert found.evidence[0] == "PROCESSING:BODYMASS is 45.8 in 2 files"


def test_a_plate_without_a_sample_has_no_weight(tmp_path):
    """No warning reaches the user: pytest makes an error of each."""
    write_c3d(tmp_path / "a.c3d", 1000.0 * positions(["LFHD", "RSHO", "RELB"]))
    recording = read_c3d(tmp_path / "a.c3d")
    missing, there = np.full((1010, 3), np.nan), np.tile([0.0, 0.0, 400.0], (1010, 1))
    there[3] = np.nan
    plates = tuple(ForcePlate(1, 2, np.zeros((4, 3)), 1000.0, force, force) for force in (missing, there))
    assert look_at(replace(recording, force_plates=plates), path=Path("a"), name="a").weight_n == 400.0


def test_no_warning_reaches_the_user_of_any_recording(recordings):
    """Pytest makes an error of each warning while a file is read, described and surveyed."""
    readable = 0
    for path in sorted(path for path in recordings.rglob("*") if path.suffix.lower() in SUFFIXES):
        try:
            recording = read_recording(path)
        except ReadError:
            continue
        readable += 1
        assert path.name in describe(recording)
        assert look_at(recording, path=path, name=path.name).n_frames == recording.n_frames
    assert readable >= 30


def test_the_same_movement_is_known_again_in_a_part_of_it(tmp_path):
    labels = both_sides(PLUG_IN_GAIT_ARM)
    whole = positions(labels)
    write_c3d(tmp_path / "whole.c3d", whole, labels=labels)
    write_c3d(tmp_path / "part.c3d", whole[20:90], labels=labels, first_frame=21)
    write_c3d(tmp_path / "later.c3d", whole[30:], labels=labels, first_frame=1)
    one, part, later = (
        look_at(read_c3d(tmp_path / f"{n}.c3d"), path=Path(n), name=n) for n in ("whole", "part", "later")
    )
    assert same_movement(part, one, *part.bodies, *one.bodies)
    assert not same_movement(later, one, *later.bodies, *one.bodies)


# --- a whole study ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Two subjects with a static trial and a walk each, marked like Plug-in Gait."""
    labels = ["LFHD", *both_sides([*PLUG_IN_GAIT_ARM, "ASI", "TOE", "HEE"])]
    for seed, (subject, mass) in enumerate((("S01", 70.0), ("S02", 55.5))):
        groups = {"PROCESSING": {"Bodymass": [mass], "Height": [1750.0]}}
        write(
            tmp_path / "data" / subject / "Static" / f"{subject}_cal.c3d",
            labels,
            travel_m=0.0,
            groups=groups,
            seed=seed,
        )
        write(tmp_path / "data" / subject / "Walk" / f"{subject}_01.c3d", labels, groups=groups, seed=seed)
    return tmp_path / "data"


def test_a_cohort_of_known_markers_needs_nothing_filled_in(folder, tmp_path):
    study = tmp_path / "my study"
    proposal = init_study(study, folder)
    assert proposal.to_do == 0
    loaded = load_study(study)
    assert loaded.settings.plane.up_axis == "+z"
    assert list(loaded.settings.marker_sets) == ["plug_in_gait_markers"]
    found = [
        (t.name, t.subject.name, t.subject.mass_kg, t.side, t.condition, t.settings.plane.forward_axis)
        for t in loaded.trials
    ]
    assert found == [
        ("S01_01_right", "S01", 70.0, "right", "walk", "travel"),
        ("S01_01_left", "S01", 70.0, "left", "walk", "travel"),
        ("S02_01_right", "S02", 55.5, "right", "walk", "travel"),
        ("S02_01_left", "S02", 55.5, "left", "walk", "travel"),
    ]
    assert [(trial, fault) for trial, fault, *_ in check_study(checked_study(study))] == [(row[0], "") for row in found]


def test_nothing_is_overwritten(folder, tmp_path):
    study = tmp_path / "study"
    (study / "config").mkdir(parents=True)
    (study / "config" / "subjects.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(StudyError, match=r"subjects.csv exists and is not overwritten"):
        init_study(study, folder)
    assert [path.name for path in (study / "config").iterdir()] == ["subjects.csv"]
    assert (study / "config" / "subjects.csv").read_text(encoding="utf-8") == "mine"


def write_above_the_floor(path, **options):
    """A leg of Plug-in Gait without pelvis and hip, one metre above the origin: nothing but the body shows which way is up."""
    labels = [f"Me:R{stem}" for stem in ("KNE", "ANK", "TOE", "HEE")]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_c3d(path, positions(labels, **options) + np.array([0.0, 0.0, 1.0]), labels=labels)


def test_what_cannot_be_known_is_left_to_fill_in_and_the_loader_names_it(tmp_path):
    write_above_the_floor(tmp_path / "data" / "lift.c3d", travel_m=0.3)
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data")
    with pytest.raises(StudyError) as error:
        load_study(study)
    assert len(error.value.faults) == proposal.to_do == 4  # a landmark, mass, forward axis, up axis
    config = (study / FILES[0]).read_text(encoding="utf-8")
    assert 'hip_axis: "TODO" # predicted from RASI, LASI and SACR' in config
    assert "up_axis: null # TODO" in config


def test_two_people_in_one_file_and_a_copy(tmp_path):
    labels = [f"{who}:{label}" for who in ("Ann", "Bob") for label in ["LFHD", *both_sides([*PLUG_IN_GAIT_ARM, "HEE"])]]
    write(tmp_path / "data" / "game.c3d", labels)
    shutil.copy(tmp_path / "data" / "game.c3d", tmp_path / "data" / "game_copy.c3d")
    study = tmp_path / "study"
    init_study(study, tmp_path / "data")
    assert [(row["trial"], row["subject"], row["prefix"]) for row in rows(study)] == [
        ("Ann_game_right", "Ann", "Ann"),
        ("Ann_game_left", "Ann", "Ann"),
        ("Bob_game_right", "Bob", "Bob"),
        ("Bob_game_left", "Bob", "Bob"),
    ]
    assert "game_copy.c3d: omitted, same movement as game.c3d" in " ".join(
        (study / FILES[1]).read_text(encoding="utf-8").replace("\n#", "").split()
    )


ARM_AND_LEG = ["_SHOULDER", "_ELBOW", "_WRIST", "_ASIS", "_THIGH", "_KNEE", "_SHANK", "_ANKLE", "_HEEL", "_TOE"]


@pytest.mark.parametrize("stems", [ARM_AND_LEG, [*ARM_AND_LEG[:5], "_SHANK", "_ANKLE"]])
def test_arms_are_not_the_purpose_of_a_walk_with_markers_on_the_legs(tmp_path, stems):
    """Without a sacrum there is no hip; the arms are whole. No marker of an arm is put into the leg's set."""
    write(tmp_path / "data" / "walk.c3d", ["C7", *both_sides(stems)])
    study = tmp_path / "study"
    proposal = init_study(study, tmp_path / "data", answers={"plane.up_axis": "+z"})
    assert {row["chain"] for row in rows(study)} <= {"leg"}
    assert {trial.left_out for trial in proposal.trials if trial.limb == "arm"} == {ARMS_OF_A_WALK}
    assert proposal.maps
    of_legs = [chosen for chosen in proposal.sets if chosen.name == "my_markers"]
    assert len(of_legs) == (stems is ARM_AND_LEG)
    labels = [label for chosen in of_legs for rule in chosen.rules.values() for label in rule]
    assert not any(word in label for word in ("SHOULDER", "ELBOW", "WRIST") for label in labels)


def test_joint_centres_with_plain_names_are_a_leg():
    """The simulated walks of the demo."""
    fit = fits(both_sides(["HIP", "KNE", "ANK", "TOE", "HEE"]), LEG)[0]
    assert not fit.missing
    assert fit.labels_of("hip_axis") == ("RHIP",)


def test_a_side_as_a_word_has_one_marker_set_whatever_its_case(tmp_path):
    labels = [f"{side}{stem}" for side in ("Right", "Left") for stem in PLUG_IN_GAIT_ARM]
    write(tmp_path / "data" / "reach.c3d", labels)
    study = tmp_path / "study"
    init_study(study, tmp_path / "data")
    sets = [(row["side"], row["marker_set"]) for row in rows(study)]
    assert sets == [("right", "plug_in_gait_markers"), ("left", "plug_in_gait_markers")]
    assert 'lateral_epicondyle: "{side}ELB"' in (study / FILES[0]).read_text(encoding="utf-8")
    recording = read_recording(tmp_path / "data" / "reach.c3d")
    found = [recording.labels[find_marker(recording, f"{side}ELB")] for side in ("right", "left")]
    assert found == ["RightELB", "LeftELB"]


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_used(folder, tmp_path):
    (folder / "S01" / "Walk" / "broken.c3d").write_text("hello", encoding="utf-8")
    proposal = init_study(tmp_path / "study", folder)
    assert [one.name for one in proposal.unread] == ["S01/Walk/broken.c3d"]
    assert len(rows(tmp_path / "study")) == 4
    assert "S01/Walk/broken.c3d," in (tmp_path / "study" / "config" / "skipped.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["no folder", "no recording", "none readable"])
def test_without_recordings_nothing_is_written(tmp_path, what):
    if what != "no folder":
        (tmp_path / "data").mkdir()
    if what == "none readable":
        (tmp_path / "data" / "a.c3d").write_text("hello", encoding="utf-8")
    with pytest.raises(StudyError):
        init_study(tmp_path / "study", tmp_path / "data")
    assert not (tmp_path / "study").exists()


def test_the_command_ends_with_the_next_one(folder, tmp_path, capsys):
    study = tmp_path / "my study"
    assert main(["init", str(study), "--from", str(folder), "--chain", "arm"]) == 0
    out = capsys.readouterr().out
    assert out.endswith(f"next: limbtorque check '{study}'\n")
    assert "ready: 4 trials of 2 recordings (left arm, right arm), " in out
    assert "missing: " not in out
    assert len(out.splitlines()) < 15
    assert main(["init", str(study), "--from", str(folder)]) == 1
    assert "not overwritten" in capsys.readouterr().err


# --- what is 0 to 100 % -----------------------------------------------------------------------------------------------

PLUG_IN_GAIT_LEG = ["FEP", "FEO", "TIO", "ANK", "TOE", "HEE"]


def events(*ones):
    """Parameters of events: name, context, time from frame 1 of the capture in s."""
    names, contexts, times = zip(*ones, strict=True)
    group = {"USED": [len(ones)], "LABELS": list(names), "CONTEXTS": list(contexts)}
    return {"EVENT": {**group, "TIMES": np.array([np.zeros(len(ones)), times])}}


def strikes(*times_s, side):
    return [("Foot Strike", side, t) for t in times_s]


WALK = events(*strikes(0.1, 0.9, side="Left"), *strikes(0.3, 0.95, side="Right"), ("Foot Off", "Left", 0.5))


def configured(study):
    """The options `ensembles` of the study, and those of each trial."""
    loaded = load_study(study)
    own = loaded.settings.ensembles
    return (own.window, own.start_event, own.end_event), {t.name: t.settings.ensembles.window for t in loaded.trials}


def without_window(study):
    """True for each trial whose curve lacks a window; that of a random movement is rejected for other reasons."""
    return [bool(no_curve) and "are rejected" not in no_curve for *_, no_curve in check_study(checked_study(study))]


def leg_study(tmp_path, groups, *, chains=("leg",), stems=PLUG_IN_GAIT_LEG):
    """Walks of 1 s along x, one for each group of events; mass and screen axes make it complete."""
    for n, group in enumerate(groups):
        more = {"PROCESSING": {"Bodymass": [70.0]}, **(group or {})}
        write(tmp_path / "data" / f"walk{n}.c3d", ["LFHD", *both_sides(stems)], groups=more, seed=n)
    return init_study(tmp_path / "study", tmp_path / "data", chains=chains), tmp_path / "study"


def test_walks_with_foot_strikes_go_from_one_to_the_next(tmp_path):
    proposal, study = leg_study(tmp_path, [WALK, WALK])
    name = "Foot Strike {side}"
    assert configured(study) == (
        ("events", name, name),
        dict.fromkeys(["walk0_right", "walk0_left", "walk1_right", "walk1_left"], "events"),
    )
    said = (
        f"4 of 4 leg trials have two or more foot strikes of the analysed side ('{name}'); a cycle, from the first to the second, "
        "takes 0.65 to 0.80 s"
    )
    assert proposal.window.evidence[0] == said
    assert said in " ".join((study / FILES[0]).read_text(encoding="utf-8").replace("\n  #  ", "").split())
    assert "ensembles.window" not in rows(study)[0]
    assert [fault for _, fault, *_ in check_study(checked_study(study))] == [""] * 4
    assert without_window(study) == [False] * 4


def test_walks_without_any_events_go_from_strike_to_strike(tmp_path):
    """A simulated walk with the names of Plug-in Gait, of both feet and without plates."""
    walked = walk_recording(Walker(), Walkway(), duration_s=4.0, first_strike_s=0.5)
    names = {"HJC": "FEP", "KJC": "FEO", "AJC": "TIO", "TOE": "TOE", "HEE": "HEE"}
    places = {label[0] + names[label[1:]]: k for k, label in enumerate(walked.labels) if label[1:] in names}
    places |= {side + "ANK": places[side + "TIO"] for side in "RL"}
    markers = walked.markers_m[:, list(places.values())]
    head = markers[:, :1] + [0.0, 0.1, 0.7]
    (tmp_path / "data").mkdir()
    groups = {"PROCESSING": {"Bodymass": [70.0]}}
    write_c3d(
        tmp_path / "data" / "walk.c3d",
        np.concatenate([head, markers], axis=1),
        labels=["LFHD", *places],
        groups=groups,
    )
    proposal = init_study(tmp_path / "study", tmp_path / "data", chains=("leg",))
    assert configured(tmp_path / "study")[0] == ("events", "Foot Strike", "Foot Strike")
    assert [row["ensembles.events"] for row in proposal.trials] == ["", ""]
    assert without_window(tmp_path / "study") == [False, False]


def test_one_foot_strike_is_too_few_and_the_column_that_replaces_it_is_written(tmp_path):
    one = events(*strikes(0.2, 0.9, side="Left"), *strikes(0.5, side="Right"))
    proposal, study = leg_study(tmp_path, [one, None])
    assert configured(study)[0] == ("events", "Foot Strike {side}", "Foot Strike {side}")
    assert {row["trial"]: row["ensembles.events"] for row in rows(study)} == {
        "walk0_right": "plates_and_markers",
        "walk0_left": "",
        "walk1_right": "",
        "walk1_left": "",
    }
    assert proposal.window.evidence[0].startswith("1 of 4 leg trials have two or more foot strikes")


@pytest.mark.parametrize(("lag", "window"), [(0, "trial"), (40, "events")])
def test_feet_that_land_together_jump_and_feet_that_land_in_turn_step(tmp_path, lag, window):
    """Both feet rise by 0.4 m on the spot, one a lag of frames after the other; in the file each strikes twice."""
    labels = ["LFHD", *both_sides(PLUG_IN_GAIT_LEG)]
    time, right = np.arange(201)[:, None], np.array([label.startswith("R") for label in labels])
    height = 0.4 * np.maximum(np.sin(2.0 * np.pi * (time - lag * right) / 80.0), 0.0)
    (tmp_path / "data").mkdir()
    marked = [*strikes(0.4, 1.2, side="Left"), *strikes(0.4 + 0.01 * lag, 1.2 + 0.01 * lag, side="Right")]
    groups = {"PROCESSING": {"Bodymass": [70.0]}, **events(*marked)}
    markers = positions(labels, travel_m=0.0, n_frames=201) + height[..., None] * [0.0, 0.0, 1.0]
    write_c3d(tmp_path / "data" / "spot.c3d", markers, labels=labels, groups=groups)
    proposal = init_study(tmp_path / "study", tmp_path / "data", chains=("leg",))
    assert [trial.gait for trial in proposal.trials] == [window == "events"] * 2
    assert proposal.window.window == window
    assert bool(proposal.window.event) == (window == "events")


@pytest.mark.parametrize("apart_s", [0.2, 3.0])
def test_strikes_that_are_no_stride_apart_are_no_cycle(apart_s):
    strides = Strikes("Foot Strike {side}", "left", (0.1, 0.1 + apart_s))
    walk = ProposedTrial({"chain": "leg", "side": "left"}, strikes=(strides,), gait=True, grounded=True)
    _, (row,) = propose_window([walk])
    assert row["ensembles.events"] == "plates_and_markers"
    assert propose_window([replace(walk, gait=False)])[0].window == "trial"


def test_a_strike_outside_of_the_recording_is_none(tmp_path):
    """The recording is 1 s long; the second strike is marked at 1.2 s."""
    proposal, _ = leg_study(tmp_path, [events(*strikes(0.1, 1.2, side="Left"), *strikes(0.2, 1.2, side="Right"))])
    assert [trial["ensembles.events"] for trial in proposal.trials] == ["plates_and_markers"] * 2


@pytest.mark.parametrize("name", ["Right Heel Strike", "heel strike RIGHT", "Initial Contact Right"])
def test_strikes_have_other_names_too(tmp_path, name):
    label = name.replace("Right", "{side}").replace("RIGHT", "{side}")
    both = [(label.replace("{side}", side), "", t) for side in ("right", "left") for t in (0.2, 0.8)]
    _, study = leg_study(tmp_path, [events(*both)])
    window, start, end = configured(study)[0]
    assert (window, start) == ("events", end)
    assert start == label
    assert not any(without_window(study))


def test_a_reach_from_rest_to_rest_is_called_so_and_one_that_is_cut_off_is_not(tmp_path):
    """A minimum-jerk reach of 0.6 s with 0.2 s of rest before and after, whole and cut at half of its way."""
    u = np.clip((np.arange(101) / 100.0 - 0.2) / 0.6, 0.0, 1.0)
    labels = both_sides(PLUG_IN_GAIT_ARM)
    whole = positions(labels, travel_m=0.0) + (0.3 * (10 * u**3 - 15 * u**4 + 6 * u**5))[:, None, None] * [1, 0, 0]
    (tmp_path / "data").mkdir()
    write_c3d(tmp_path / "data" / "reach.c3d", whole, labels=labels)
    write_c3d(tmp_path / "data" / "cut.c3d", whole[:51] + 0.1, labels=labels)
    proposal = init_study(tmp_path / "study", tmp_path / "data", chains=("arm",))
    assert {t["trial"]: t.at_rest for t in proposal.trials} == {
        **{"reach_right": True, "reach_left": True},
        **{"cut_right": False, "cut_left": False},
    }
    assert proposal.window.window == "movement"


# --- arms of a walk, links, and one of two people ---------------------------------------------------------------------


def test_arms_of_a_walk_are_comments_that_become_rows(tmp_path):
    stems = [*PLUG_IN_GAIT_ARM, *PLUG_IN_GAIT_LEG]
    proposal, study = leg_study(tmp_path, [WALK], chains=("arm", "leg"), stems=stems)
    assert [row["chain"] for row in rows(study)] == ["leg", "leg"]
    assert proposal.to_do == 0
    said = "omitted: the arms of 1 walk; remove the # of their rows in config/trials.csv to include them"
    assert said in first_screen(proposal)
    path = study / FILES[1]
    text = path.read_text(encoding="utf-8")
    assert "# Omitted: arms during walking: remove the leading # to include them\n#walk0_right_arm," in text
    path.write_text(text.replace("#walk0_", "walk0_"), encoding="utf-8")
    assert configured(study)[1] == dict.fromkeys(
        ["walk0_right_leg", "walk0_left_leg", "walk0_right_arm", "walk0_left_arm"], "events"
    )
    assert [fault for _, fault, *_ in check_study(checked_study(study))] == [""] * 4


def test_arms_that_reach_beside_legs_that_stand_are_rows(tmp_path):
    labels = ["LFHD", *both_sides([*PLUG_IN_GAIT_ARM, *PLUG_IN_GAIT_LEG])]
    write(tmp_path / "data" / "reach.c3d", labels, travel_m=0.3)
    init_study(tmp_path / "study", tmp_path / "data")
    assert {row["chain"] for row in rows(tmp_path / "study")} == {"arm", "leg"}


def test_a_link_to_the_recordings_is_kept(folder, tmp_path):
    (tmp_path / "far" / "away").mkdir(parents=True)
    moved = shutil.move(folder, tmp_path / "far" / "away" / "data")
    (tmp_path / "link").symlink_to(moved, target_is_directory=True)
    study = tmp_path / "study"
    init_study(study, tmp_path / "link", chains=("arm",))
    assert {row["file"] for row in rows(study)} == {f"../link/{s}/Walk/{s}_01.c3d" for s in ("S01", "S02")}
    assert {fault for _, fault, *_ in check_study(checked_study(study))} == {""}


# --- forces in a second file ------------------------------------------------------------------------------------------


def write_markers(path, *, n=101, begin_s=0.0, seed=1):
    """A walk of 1 s at 100 frames per second, as TRC."""
    path.parent.mkdir(parents=True, exist_ok=True)
    labels = ["LFHD", *both_sides(PLUG_IN_GAIT_LEG)]
    return write_trc(path, 1e3 * positions(labels, seed=seed)[:n], labels=labels, start_s=begin_s)


def write_forces(path, *, n=1001, rate_hz=1000.0, begin_s=0.0):
    """A force of 700 N upwards on one plate, 1000 samples per second unless said."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = [f"{stem}{axis}" for stem in ("ground_force_v", "ground_force_p", "ground_torque_") for axis in "xyz"]
    columns = {name: np.full(n, value) for name, value in zip(names, [0, 0, 700.0, 0.5, 0, 0, 0, 0, 0], strict=True)}
    write_sto(pa.table({"time_s": begin_s + np.arange(n) / rate_hz, **columns}), path, units="m")


def forces_of(tmp_path):
    proposal = init_study(tmp_path / "study", tmp_path / "data", chains=("leg",))
    found = {Path(t["file"]).name: Path(t["forces_file"]).name for t in proposal.trials}
    return found, " | ".join(proposal.notes), proposal


@pytest.mark.parametrize(
    ("markers", "forces"),
    [
        ("walk1.trc", "walk1_grf.mot"),
        ("S01_Walk_1_markers.trc", "s01 walk 1 forces.sto"),
        ("Markers/walk1.trc", "Forces/walk1.mot"),
        ("walk1.trc", "walk1.mot"),
    ],
)
def test_forces_are_those_of_the_same_name_and_time(tmp_path, markers, forces):
    write_markers(tmp_path / "data" / markers)
    write_forces(tmp_path / "data" / forces)
    found, notes, proposal = forces_of(tmp_path)
    assert found == {Path(markers).name: Path(forces).name}
    assert (
        f"{markers}: the forces come from a second file with the same name and times (column forces_file, a guess)"
        in notes
    )
    assert "no markers" not in notes
    row = rows(tmp_path / "study")[0]
    assert (tmp_path / "study" / row["forces_file"]).resolve() == (tmp_path / "data" / forces).resolve()
    assert row["note"].endswith(f"forces: {forces}, by its name and time")
    assert proposal.up_axis == "+z"  # the force on the feet is of the second file


def test_forces_of_the_nearest_folder_are_taken(tmp_path):
    for n, who in enumerate(("S01", "S02")):
        write_markers(tmp_path / "data" / who / "Markers" / "walk1.trc", seed=n)
        write_forces(tmp_path / "data" / who / "Forces" / "walk1.mot")
    init_study(tmp_path / "study", tmp_path / "data", chains=("leg",))
    assert {(row["subject"], Path(row["forces_file"]).parts[-3]) for row in rows(tmp_path / "study")} == {
        ("S01", "S01"),
        ("S02", "S02"),
    }


def test_forces_of_another_subject_are_not_taken(tmp_path):
    """A name such as walk1 is one of a kind within a session only; S02 has no forces."""
    for n, who in enumerate(("S01", "S02")):
        write_markers(tmp_path / "data" / who / "markers" / "walk1.trc", seed=n)
    write_forces(tmp_path / "data" / "S01" / "forces" / "walk1.mot")
    notes = forces_of(tmp_path)[1]
    assert "S02/markers/walk1.trc: S01/forces/walk1.mot may have its forces" in notes
    of = {row["subject"]: Path(row["forces_file"]).name for row in rows(tmp_path / "study")}
    assert of == {"S01": "walk1.mot", "S02": ""}


def test_without_a_name_the_only_file_of_that_time_is_taken(tmp_path):
    write_markers(tmp_path / "data" / "walk.trc")
    write_markers(tmp_path / "data" / "later.trc", begin_s=5.0, seed=2)
    write_forces(tmp_path / "data" / "export_7.mot")
    found, notes, _ = forces_of(tmp_path)
    assert found == {"walk.trc": "export_7.mot", "later.trc": ""}
    assert "although its name differs (column forces_file, a guess)" in notes


def test_forces_that_fit_two_recordings_by_time_only_are_taken_for_neither(tmp_path):
    write_markers(tmp_path / "data" / "walk.trc")
    write_markers(tmp_path / "data" / "run.trc", seed=2)
    write_forces(tmp_path / "data" / "a.mot")
    found, notes, _ = forces_of(tmp_path)
    assert set(found.values()) == {""}
    assert "run.trc: a.mot may have its forces; it also matches walk.trc" in notes


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"begin_s": 2.0}, "walk1_grf.mot has the same name, but runs from 2 to 3 s and the markers from 0 to 1 s"),
        ({"n": 900}, "has the same name, but runs from 0 to 0.899 s"),
        ({"n": 251, "rate_hz": 250.0}, "has 250 samples per second, not a whole multiple of 100 frames per second"),
    ],
)
def test_a_file_of_the_same_name_that_does_not_fit_is_told_and_not_taken(tmp_path, options, says):
    write_markers(tmp_path / "data" / "walk1.trc")
    write_forces(tmp_path / "data" / "walk1_grf.mot", **options)
    found, notes, _ = forces_of(tmp_path)
    assert found == {"walk1.trc": ""}
    assert says in notes


def test_subjects_of_copies_only_are_not_asked_for(recordings, tmp_path):
    """The TRC file has every tenth frame of the C3D file, and names no subject."""
    proposal = init_study(tmp_path / "study", recordings / "walking_opensim")
    assert [subject.subject for subject in proposal.subjects] == ["Treadmill"]
    assert any(
        "folders with different markers are different people: Treadmill (a guess" in note for note in proposal.notes
    )
    left = {Path(t["file"]).name: t.left_out for t in proposal.trials if t.left_out}
    assert left == {"std_walking2_markers.trc": "same movement as walking2.c3d"}


# --- real recordings --------------------------------------------------------------------------------------------------


def test_a_recorded_cohort(recordings, tmp_path):
    """Six walks; one of them, a turn, has no events."""
    study = tmp_path / "cohort"
    proposal = init_study(study, recordings / "cohort")
    assert proposal.to_do == 0
    loaded = load_study(study)
    assert len(loaded.trials) == 12  # six walks, two sides
    assert sum(t.left_out == ARMS_OF_A_WALK for t in proposal.trials) == 12
    assert {t.subject.name: t.subject.mass_kg for t in loaded.trials} == {
        "HC030A": 45.8,
        "HC032A": 60.3,
        "HC044A": 39.4,
    }
    assert {t.condition for t in loaded.trials} == {"straight", "turn"}
    assert sum("static trial" in t.left_out for t in proposal.trials) == 12
    (window, *_), own = configured(study)
    assert window == "events"
    assert set(own.values()) == {"events"}
    assert not any(trial["ensembles.events"] for trial in proposal.trials)


def walk_with_emg(folder, labels):
    """A walk marked like Plug-in Gait with three analog channels."""
    markers = ["LFHD", *both_sides(["FEP", "FEO", "TIO", "ANK", "TOE", "HEE"])]
    path = folder / "S01" / "walk.c3d"
    path.parent.mkdir(parents=True)
    noise = np.random.default_rng(1).normal(size=(1010, len(labels)))
    groups = {"ANALOG": {"LABELS": list(labels)}}
    write_c3d(path, positions(markers), labels=markers, analog=noise, analog_units=["V"] * len(labels), groups=groups)
    return folder


def test_channels_of_electromyography_are_mapped_to_muscles(tmp_path):
    data = walk_with_emg(tmp_path / "data", ("Voltage.L Sol", "Voltage.R Sol", "Voltage.R Tib Ant"))
    init_study(tmp_path / "study", data)
    settings = parse_yaml((tmp_path / "study" / "config" / "config.yaml").read_text(encoding="utf-8"))
    assert settings["emg"] == {
        "channels": {"Voltage.{S} Sol": "soleus", "Voltage.{S} Tib Ant": "tib_ant"},
        "antagonists": [["tib_ant", "soleus"]],
    }


def test_channels_of_one_side_name_those_that_are_absent(tmp_path):
    init_study(tmp_path / "study", walk_with_emg(tmp_path / "data", ("Voltage.L Sol", "Voltage.R Sol", "RHAM")))
    lines = (tmp_path / "study" / "config" / "config.yaml").read_text(encoding="utf-8").splitlines()
    assert '    "Voltage.{S} Sol": soleus' in lines
    assert '    "{S}HAM": hamstrings # of one side: no LHAM in the files' in lines


def test_the_weight_on_the_plates_is_a_hint_only():
    found = propose_subject("S07", [seen(moved_m=0.001, weight_n=9.80665 * 50.0)])
    assert found.mass_kg == "TODO"
    assert "a.c3d, standing still: 490 N on the plates, 50.0 kg" in found.evidence
    assert "plates" not in " ".join(propose_subject("S07", [seen(moved_m=1.0, weight_n=9.80665 * 50.0)]).evidence)


def test_sides_that_no_pattern_can_write_get_a_marker_set_each(tmp_path):
    labels = [f"{side}{stem}" for side in ("Right", "L") for stem in PLUG_IN_GAIT_ARM]
    write(tmp_path / "data" / "reach.c3d", labels)
    study = tmp_path / "study"
    init_study(study, tmp_path / "data")
    assert [(row["side"], row["marker_set"]) for row in rows(study)] == [
        ("right", "plug_in_gait_markers_right"),
        ("left", "plug_in_gait_markers_left"),
    ]
    assert 'lateral_epicondyle: "RightELB"' in (study / FILES[0]).read_text(encoding="utf-8")


def test_a_name_that_two_labels_fit_is_not_taken():
    known = next(one for one in known_sets() if one.name == "plug_in_gait_markers")
    assert "acromion" not in match_set(known, ["R_SHO", "r.sho"], "right")
    assert match_set(known, ["RSHO", "r.sho"], "right")["acromion"] == ("RSHO",)

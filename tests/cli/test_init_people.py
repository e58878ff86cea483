"""Who is who in a folder of recordings: nothing that one person's file states is lent to another person."""

import numpy as np
import pytest
from proposed_study import rows
from proposed_study import seen as surveyed

from c3d_files import write_c3d
from limbtorque.cli.init.init import init_study
from limbtorque.cli.init.marker_sets import static_trials
from limbtorque.cli.init.people import conditions_of, who_is_who
from limbtorque.cli.init.subjects import height_of, mass_of, propose_subject
from limbtorque.cli.init.survey import look_at
from limbtorque.recordings.c3d.read import read_c3d

NAME, MASS, HEIGHT = "SUBJECTS:NAMES", "PROCESSING:BODYMASS", "PROCESSING:HEIGHT"
LEG = ("FEP", "FEO", "TIO", "ANK", "TOE", "HEE")
HEIGHT_M = {"LFHD": 1.7, "FEP": 0.9, "FEO": 0.5, "TIO": 0.1, "ANK": 0.1, "TOE": 0.03, "HEE": 0.05}


def seen(name, *said, labels=("A",), **more):
    return surveyed(name, labels=labels, said=said, **more)


def people(*ones):
    """Person by recording and prefix, and the people who are certain."""
    found = who_is_who(ones)
    return (
        {":".join(filter(None, reversed(key))): who for key, who in found.of.items()},
        set(found.certain),
        found.notes,
    )


def subjects(*ones):
    """Body mass of each person, as it is proposed."""
    found = who_is_who(ones)
    of = {}
    for one in ones:
        for body in one.bodies:
            of.setdefault(found.of[one.name, body.prefix], []).append(one.alone(body))
    return {who: propose_subject(who, some, certain=who in found.certain).mass_kg for who, some in of.items()}


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_folder_with_a_number_is_a_person():
    named, certain, _ = people(seen("S01/fast/a.c3d"), seen("S01/slow/a.c3d"), seen("S02/fast/a.c3d"))
    assert list(named.values()) == ["S01", "S01", "S02"]
    assert certain == {"S01", "S02"}


@pytest.mark.parametrize(
    "folder", ["session1", "2024-03-01", "day_2", "walk1", "trial03", "5kmh", "2023", "C3D", "sample10"]
)
def test_a_folder_that_is_no_person_lends_nothing(folder):
    """Two people whose names are nowhere but in the words of the files."""
    ones = [seen(f"{folder}/ann.c3d", (MASS, "60")), seen(f"{folder}/bob.c3d")]
    assert set(subjects(*ones).values()) == {"TODO"}


def test_folders_of_people_in_folders_of_sessions():
    ones = [seen(f"session{k}/P0{n}/a.c3d", (MASS, str(60 + n))) for k in (1, 2) for n in (1, 2)]
    assert subjects(*ones) == {"P01": "61", "P02": "62"}


@pytest.mark.parametrize("folders", [("gait", "gait"), ("fast", "slow")])
def test_a_folder_that_only_groups_the_people_lends_nothing(folders):
    """The first folder is no person; before, a mass of ann was given to bob."""
    ones = [
        seen(f"{f}/{who}/a.c3d", *([(MASS, "60")] if who == "ann" else [])) for f in folders for who in ("ann", "bob")
    ]
    assert set(subjects(*ones).values()) == {"TODO"}


def test_a_name_in_several_folders_is_one_person_of_whom_nothing_is_lent():
    """Two laboratories both call somebody S01: other masses are asked for, and no file lends its mass to another."""
    both = seen("a/S01_w.c3d", (MASS, "60")), seen("b/S01_w.c3d", (MASS, "72"))
    assert subjects(*both) == {"S01": "TODO"}
    assert subjects(both[0], seen("b/S01_w.c3d")) == {"S01": "TODO"}
    ones = [seen(f"day{k}/x{k}.c3d", (NAME, "Ann"), (MASS, "60")) for k in range(40)]
    named, certain, notes = people(*ones)
    assert set(named.values()) == {"Ann"}
    assert not certain
    assert sum("Ann is the name in 40 folders" in note for note in notes) == 1
    assert subjects(*ones) == {"Ann": "60"}


def test_two_names_in_one_folder_are_two_people():
    ones = [seen("S01/a.c3d", (NAME, "Ann"), (MASS, "60")), seen("S01/b.c3d", (NAME, "Bob"), (MASS, "72"))]
    assert subjects(*ones) == {"S01_Ann": "60", "S01_Bob": "72"}
    assert subjects(*ones[:1], seen("S01/b.c3d", (NAME, "Bob"))) == {"S01_Ann": "60", "S01_Bob": "TODO"}
    assert subjects(*ones, seen("S01/c.c3d"))["S01"] == "TODO"


def test_the_prefix_of_a_model_is_no_name():
    """Every file of a laboratory has the prefix of its model."""
    ones = [seen(f"S0{k}/a.c3d", *([(MASS, "60")] if k == 1 else []), prefixes=("PiG",)) for k in (1, 2)]
    assert subjects(*ones) == {"S01": "60", "S02": "TODO"}
    flat = [seen(f"S0{k}_a.c3d", *([(MASS, "60")] if k == 1 else []), prefixes=("PiG",)) for k in (1, 2)]
    assert subjects(*flat) == {"S01": "60", "S02": "TODO"}


def test_numbered_people_of_two_recordings_are_four():
    named, _, _ = people(*(seen(f"{n}.json", prefixes=("person_1", "person_2")) for n in ("a", "b")))
    assert sorted(named.values()) == ["a_person_1", "a_person_2", "b_person_1", "b_person_2"]
    alone, _, _ = people(seen("a.json", prefixes=("person_1", "person_2")))
    assert sorted(alone.values()) == ["person_1", "person_2"]


def test_the_weight_of_two_people_is_nobodys():
    one = seen("a.c3d", prefixes=("Ann", "Bob"), moved_m=0.001, weight_n=1300.0)
    assert one.alone(one.bodies[0]).weight_n == 0.0


# --- statements -------------------------------------------------------------------------------------------------------


def test_a_mass_is_a_number_of_kilograms():
    """A text with a unit is asked for."""
    assert [mass_of(text)[0] for text in ("45.8", "45,8", "7.2e1")] == pytest.approx([45.8, 45.8, 72.0], abs=1e-5)
    for text in ("72 kg", "165 lb", "0", "-1", "nan", "heavy", "4580", "60 N"):
        assert mass_of(text)[0] is None, text


def test_a_height_is_a_number_in_the_one_unit_that_fits():
    """71 is a small child in cm and an adult in inches: neither is taken."""
    assert [height_of(text)[0] for text in ("1.48", "148", "1480")] == pytest.approx([1.48] * 3, abs=1e-9)
    for text in ("148 cm", "71 in", "5'11\"", "71", "0", "-1", "nan", "tall", "14.8"):
        assert height_of(text)[0] is None, text


@pytest.mark.parametrize("other", ["72", "60.5"])
def test_masses_that_contradict_each_other_are_left_to_fill_in(other):
    """In two files, and in two parameters of one file."""
    assert subjects(seen("S01/a.c3d", (MASS, "60")), seen("S01/b.c3d", (MASS, other))) == {"S01": "TODO"}
    assert subjects(seen("S01/a.c3d", (MASS, "60"), ("SUBJECT:WEIGHT", other))) == {"S01": "TODO"}
    assert subjects(seen("S01/a.c3d", (MASS, "60"), ("SUBJECT:WEIGHT", "60.0"))) == {"S01": "60"}
    assert subjects(seen("S01/a.c3d", (MASS, "60"), ("SUBJECT:WEIGHT", "0"))) == {"S01": "60"}


def test_a_person_heavier_than_stated_is_asked_for():
    """Two feet on plates carry 75 kg; the file says 60."""
    standing = seen("S01/b.c3d", moved_m=0.001, weight_n=75.0 * 9.80665)
    assert subjects(seen("S01/a.c3d", (MASS, "60")), standing) == {"S01": "TODO"}
    assert subjects(seen("S01/a.c3d", (MASS, "75")), standing) == {"S01": "75"}


def test_a_mass_of_nobody_in_particular_has_to_be_in_all_files():
    ones = [seen("a.c3d", (MASS, "45.8")), seen("b.c3d")]
    assert subjects(*ones) == {"S01": "TODO"}
    assert "not all files state it" in " ".join(propose_subject("S01", ones, certain=False).evidence)
    assert subjects(ones[0], seen("b.c3d", (MASS, "45.8"))) == {"S01": "45.8"}


# --- static trials ------------------------------------------------------------------------------------------------------


def static_of(moving, *statics):
    found = static_trials((moving, *statics), who_is_who((moving, *statics)))
    person = who_is_who((moving, *statics)).of[moving.name, moving.bodies[0].prefix]
    chosen = found.of_trial(moving, moving.bodies[0], person, "leg")
    return chosen.name if chosen else "", " ".join(sentence for sentence, _ in found.notes)


def standing(name, **options):
    return seen(name, labels=("A", "medial"), still=("arm", "leg"), moved_m=0.01, **options)


def test_the_static_trial_is_of_the_same_person():
    assert static_of(seen("S01/walk.trc"), standing("S01/stand.trc"), standing("S02/stand.trc"))[0] == "S01/stand.trc"
    assert static_of(seen("S01/walk.trc"), standing("S02/stand.trc"))[0] == ""
    assert static_of(seen("S01_walk.trc"), standing("S02_stand.trc"))[0] == ""
    assert static_of(seen("ann_walk.trc"), standing("ann_stand.trc"), standing("bob_stand.trc"))[0] == "ann_stand.trc"
    assert static_of(seen("run.trc"), standing("static.trc"))[0] == "static.trc"


def test_of_static_trials_of_nobody_none_is_guessed():
    chosen, note = static_of(seen("walk.trc"), standing("a_stand.trc"), standing("b_stand.trc"))
    assert chosen == ""
    assert "its static trial is not known" in note


# --- whole folders ------------------------------------------------------------------------------------------------------


def legs(n=201, *, size=1.0, sway_m=0.0, travel_m=2.0, seed=1):
    """A person who goes along x, z up; arms sway."""
    labels = ["LFHD", *(side + name for side in "RL" for name in (*LEG, "SHO", "ELB"))]
    time_s = np.linspace(0.0, 2.0, n)
    xyz = np.random.default_rng(seed).normal(scale=3e-4, size=(n, len(labels), 3))
    for k, label in enumerate(labels):
        height = HEIGHT_M.get(label, HEIGHT_M.get(label[1:], 1.4 if label.endswith("SHO") else 1.1))
        xyz[:, k, 2] += size * height
        xyz[:, k, 1] += 0.1 * (-1) ** (label[0] == "R")
        xyz[:, k, 0] += 0.5 * travel_m * time_s + sway_m * np.sin(3.0 * time_s) * label.endswith("ELB")
    return labels, xyz


def write(path, xyz, labels, *, names=(), masses=()):
    path.parent.mkdir(parents=True, exist_ok=True)
    groups = {"SUBJECTS": {"NAMES": list(names)}} if names else {}
    groups |= {"PROCESSING": {"Bodymass": list(masses)}} if masses else {}
    write_c3d(path, xyz, labels=labels, groups=groups)


def masses(study):
    return {row["subject"]: row["mass_kg"] for row in rows(study, "subjects")}


def test_the_masses_of_two_people_in_one_file_are_asked_for(tmp_path):
    labels, one = legs()
    _, other = legs(seed=2, size=1.1)
    both = np.concatenate([one, other + np.array([0.0, 1.0, 0.0])], axis=1)
    named = [f"{who}:{label}" for who in ("Ann", "Bob") for label in labels]
    write(tmp_path / "data" / "duet.c3d", both, named, names=["Ann", "Bob"], masses=[60.0, 72.0])
    init_study(tmp_path / "study", tmp_path / "data", chains=("leg",))
    assert masses(tmp_path / "study") == {"Ann": "TODO", "Bob": "TODO"}


def test_a_person_who_stands_beside_one_who_walks_is_static(tmp_path):
    labels, one = legs()
    _, other = legs(seed=2, travel_m=0.0)
    both = np.concatenate([one, other + np.array([0.0, 1.0, 0.0])], axis=1)
    write(tmp_path / "data" / "duet.c3d", both, [f"{who}:{label}" for who in ("Ann", "Bob") for label in labels])
    proposal = init_study(tmp_path / "study", tmp_path / "data", chains=("leg",))
    left = {trial["prefix"]: bool(trial.left_out) for trial in proposal.trials}
    assert left == {"Ann": False, "Bob": True}


def test_arms_that_sway_do_not_hide_a_static_trial(tmp_path):
    """The knee's markers are in the standing trial only, in which the arms sway by 20 cm."""
    labels, standing_m = legs(travel_m=0.0, sway_m=0.1)
    path = tmp_path / "stand.c3d"
    write(path, standing_m, labels)
    found = look_at(read_c3d(path), path=path, name="stand.c3d")
    assert "leg" in found.bodies[0].still_limbs
    assert not found.still


def test_a_mass_that_is_a_text_with_a_unit_is_asked_for(tmp_path):
    """The file is read all the same."""
    labels, xyz = legs()
    write(tmp_path / "data" / "S01" / "walk.c3d", xyz, labels, masses=["165 lb"])
    write(tmp_path / "data" / "S02" / "walk.c3d", 1.01 * xyz, labels, masses=["heavy"])
    init_study(tmp_path / "study", tmp_path / "data", chains=("leg",))
    assert masses(tmp_path / "study") == {"S01": "TODO", "S02": "TODO"}


def test_names_of_the_subjects_are_no_conditions():
    ones = [seen("HC030A/HC030A05.c3d"), seen("HC032A/HC032A03.c3d")]
    found = who_is_who(ones)
    by_name = {one.name: found.of[one.name, ""] for one in ones}
    conditions, notes = conditions_of(ones, by_name, found.level)
    assert set(conditions.values()) == {""}
    assert "fill in the column condition" in notes[0]


def test_names_that_are_the_same_in_the_table_stay_apart():
    named, _, _ = people(seen("P 1/a.c3d"), seen("P_1/a.c3d"))
    assert len({who.casefold().replace(" ", "_") for who in named.values()}) == 2

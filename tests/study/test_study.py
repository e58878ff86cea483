"""The tables of a study: every fault of both, told at once, before anything is computed."""

import math
from pathlib import Path

import pytest

from limbtorque.errors import SettingsError, StudyError
from limbtorque.study.study import load_study

SETTINGS = """
plane: {up_axis: +z}
marker_sets:
  lab: {elbow_axis: ELB}
loads:
  spring: {type: spring, stiffness_n_m: 40, anchor_m: [0, 0, 1]}
"""
TRIALS = "trial,session,subject,file,chain,side,condition"
SUBJECTS = "subject,mass_kg,height_m,sex"


@pytest.fixture
def study(tmp_path):
    """Function that writes a study of these rows and loads it; the folder's name has a space in it."""
    folder = tmp_path / "a study"

    def write(
        trials=("reach,S1,Ann,reach.c3d,arm,right,slow",),
        subjects=("Ann,70,1.75,f",),
        *,
        trial_columns=TRIALS,
        subject_columns=SUBJECTS,
        settings=SETTINGS,
        encoding="utf-8",
    ):
        (folder / "config").mkdir(parents=True, exist_ok=True)
        (folder / "config" / "config.yaml").write_text(settings, encoding="utf-8")
        for name, header, rows in (("trials", trial_columns, trials), ("subjects", subject_columns, subjects)):
            text = "\n".join([*([header] if header else []), *rows]) + "\n"
            (folder / "config" / f"{name}.csv").write_bytes(text.encode(encoding))
        (folder / "reach.c3d").touch()
        return load_study(folder)

    write.folder = folder
    return write


def faults(study, *args, **options):
    with pytest.raises(StudyError) as error:
        study(*args, **options)
    count = len(error.value.faults)
    assert str(error.value).startswith(f"the study has {count} fault{'s' * (count > 1)}:\n  - ")
    return error.value.faults


def only(study, *args, **options):
    found = faults(study, *args, **options)
    assert len(found) == 1, found
    return found[0]


# --- what is right ---------------------------------------------------------------------------------------------------


def test_a_path_with_backslashes_is_understood(study, tmp_path):
    (tmp_path / "a study" / "day 1" / "Ann").mkdir(parents=True)
    (tmp_path / "a study" / "day 1" / "Ann" / "reach.c3d").touch()
    (trial,) = study(["reach,S1,Ann,day 1\\Ann\\reach.c3d,arm,right,slow"]).trials
    assert trial.file == tmp_path / "a study" / "day 1" / "Ann" / "reach.c3d"


def test_a_backslash_in_the_name_of_a_file_stays(study, tmp_path):
    (tmp_path / "a study").mkdir()
    (tmp_path / "a study" / "odd\\name.c3d").touch()
    (trial,) = study(["reach,S1,Ann,odd\\name.c3d,arm,right,slow"]).trials
    assert trial.file == tmp_path / "a study" / "odd\\name.c3d"


def test_a_study_as_it_should_be(study):
    found = study(
        ["reach , S1,Ann,reach.c3d,arm,right,slow reach,lab,Ann,spring,0.5,2.5,first", "", ",,,,,,,,,,,,", "b,S1,Bob,reach.c3d,leg,left,,,,,,,"],
        ["Ann,70,1.75,F,1.1", "Bob,80.5,,,"],
        trial_columns=TRIALS + ",marker_set,prefix,load,start_s,end_s,note",
        subject_columns=SUBJECTS + ",forearm_mass_kg",
    )  # fmt: skip
    first, second = found.trials
    assert (first.name, first.condition, first.marker_set, first.prefix) == ("reach", "slow reach", "lab", "Ann")
    assert (first.load, first.start_s, first.end_s, first.note) == ("spring", 0.5, 2.5, "first")
    assert (first.subject.mass_kg, first.subject.height_m, first.subject.sex) == (70.0, 1.75, "f")
    assert first.subject.measured == {"forearm_mass_kg": 1.1}
    assert first.file == found.folder / "reach.c3d"
    assert (second.chain, second.side, second.start_s, second.marker_set) == ("leg", "left", None, "lab")
    assert math.isnan(second.subject.height_m)
    assert second.subject.measured == {}
    assert second.settings == found.settings
    assert list(found.batches) == ["S1"]


def test_a_byte_order_mark_is_not_part_of_a_column(study):
    found = study(["reach,S1,Ann,reach.c3d,arm,right,größer"], encoding="utf-8-sig")
    assert found.trials[0].condition == "größer"


def test_windows_line_ends_and_quotes(study):
    found = study(['"reach",S1,Ann,reach.c3d,arm,right,"slow, with a ""pause"""\r'], subject_columns=SUBJECTS + "\r")
    assert found.trials[0].condition == 'slow, with a "pause"'


def test_options_of_one_trial(study):
    found = study(
        ["a,S1,Ann,reach.c3d,arm,right,x,10,[2]", "b,S1,Ann,reach.c3d,arm,right,x,,"],
        trial_columns=TRIALS + ",filter.cutoff_hz,plates.assignment",
    )
    own, other = (trial.settings for trial in found.trials)
    assert (own.filter.cutoff_hz, own.plates.assignment) == (10.0, (2,))
    assert other == found.settings


def test_trials_with_the_same_options_share_their_settings(study):
    rows = [f"t{k},S1,Ann,reach.c3d,arm,right,x,{5 + k % 2},0.00{k + 1}" for k in range(6)]
    found = study(
        [*rows, rows[0].replace("t0", "t6")], trial_columns=TRIALS + ",filter.cutoff_hz,quality.noise_m"
    ).trials
    assert [trial.settings.quality.noise_m for trial in found[:6]] == [0.001, 0.002, 0.003, 0.004, 0.005, 0.006]
    assert {id(trial.settings.marker_sets) for trial in found} == {id(found[0].settings.marker_sets)}
    assert found[6].settings is found[0].settings


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (100, {"S1": ["t0", "t1", "t2", "t4", "t5"], "S2": ["t3"]}),
        (2, {"S1~1": ["t0", "t1"], "S1~2": ["t2", "t4"], "S1~3": ["t5"], "S2": ["t3"]}),
        (5, {"S1": ["t0", "t1", "t2", "t4", "t5"], "S2": ["t3"]}),
        (1, {"S1~1": ["t0"], "S1~2": ["t1"], "S1~3": ["t2"], "S1~4": ["t4"], "S1~5": ["t5"], "S2": ["t3"]}),
    ],
)
def test_batches_are_sessions_cut_to_size(study, size, expected):
    rows = [f"t{i},{'S2' if i == 3 else 'S1'},Ann,reach.c3d,arm,right,x" for i in range(6)]
    found = study(rows, settings=SETTINGS + f"run: {{max_trials_per_job: {size}}}\n")
    assert {name: [t.name for t in batch] for name, batch in found.batches.items()} == expected
    assert [t.name for t in found.trials] == [f"t{i}" for i in range(6)]


# --- all faults at once ----------------------------------------------------------------------------------------------


def test_all_faults_of_both_tables_are_told_at_once(study):
    found = faults(
        study,
        [
            "a,S1,Ann,nowhere.c3d,arm,right,x,",
            "b,S1,Anne,reach.c3d,arm,right,x,",
            "c,S1,Ann,reach.c3d,tail,right,x,",
            "A,S1,Ann,reach.c3d,arm,right,x,",
        ],
        ["Ann,70000,1.75,f", "Bob,80,1.8,m", "Bob,70,1.75,f"],
        trial_columns=TRIALS + ",filter.cutoff_hz",
    )
    expected = [
        "subjects.csv line 2 (subject Ann): mass_kg is '70000'",
        "subjects.csv line 4 (subject Bob): subject 'Bob' occurs twice",
        "trials.csv line 2 (trial a): file is 'nowhere.c3d', expected a file; it does not exist in the study's folder",
        "trials.csv line 3 (trial b): subject is 'Anne', expected a subject of config/subjects.csv; did you mean 'Ann'?",
        "trials.csv line 4 (trial c): chain is 'tail', expected one of arm, arm_without_hand, leg, leg_without_foot",
        "trials.csv: trial 'A' occurs twice (as 'a')",
    ]
    for part in expected:
        assert sum(part in fault for fault in found) == 1, (part, found)
    assert len(found) == len(expected)


@pytest.mark.parametrize(
    "name", ["../x", "..", ".hidden", "a/b", "a\\b", "/tmp/x", "", "a b", "a:b", "x" * 101, "-x", "ä", "a~1"]
)
def test_names_that_lead_elsewhere(study, name):
    found = only(study, [f"{name},S1,Ann,reach.c3d,arm,right,x"])
    assert "it becomes the name of a file" in found
    found = only(study, [f"reach,{name},Ann,reach.c3d,arm,right,x"])
    assert "session is" in found
    assert repr(name) in found


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("70000,1.75,f", "mass_kg is '70000', expected 1 to 400 kg; that looks like grams"),
        ("401,1.75,f", "mass_kg is '401', expected 1 to 400 kg"),
        ("0,1.75,f", "mass_kg is '0'"),
        ("-70,1.75,f", "mass_kg is '-70'"),
        (",1.75,f", "mass_kg is missing: body mass; segment masses are fractions of it"),
        ("nan,1.75,f", "mass_kg is 'nan', expected a finite number"),
        ("inf,1.75,f", "mass_kg is 'inf', expected a finite number"),
        ("70 kg,1.75,f", "mass_kg is '70 kg', expected a number with a decimal point"),
        ('"70,5",1.75,f', "mass_kg is '70,5', expected a number with a decimal point"),
        ("70,5,1.75,f", "expected 4 cells, found 5; a decimal comma? Use a decimal point"),
        ("70,1.75", "expected 4 cells, found 3"),
        ("70,175,f", "height_m is '175', expected 0.3 to 2.8 m; that looks like centimetres"),
        ("70,1750,f", "height_m is '1750', expected 0.3 to 2.8 m; that looks like millimetres"),
        ("70,5.9,f", "height_m is '5.9', expected 0.3 to 2.8 m"),
        ("70,1.75,female", "sex is 'female', expected f, m or nothing"),
    ],
)
def test_subjects_that_cannot_be(study, row, message):
    found = [fault for fault in faults(study, subjects=[f"Ann,{row}"]) if "expected a subject of" not in fault]
    assert len(found) == 1
    assert found[0].startswith("config/subjects.csv line 2")
    assert message in found[0]


def test_measured_parameters_that_cannot_be(study):
    columns = SUBJECTS + ",hand_mass_kg,hand_com_m,forearm_inertia_kgm2"
    found = faults(study, subjects=["Ann,70,1.75,f,-0.4,near,0"], subject_columns=columns)
    assert [fault.removeprefix("config/subjects.csv line 2 (subject Ann): ") for fault in found] == [
        "hand_mass_kg is '-0.4', expected a number above 0 kg",
        "hand_com_m is 'near', expected a number with a decimal point, of 0 or more m",
        "forearm_inertia_kgm2 is '0', expected a number above 0 kg m^2",
    ]
    misspelt = only(study, subjects=["Ann,70,1.75,f,1"], subject_columns=SUBJECTS + ",forarm_mass_kg")
    assert "column 'forarm_mass_kg' is unknown; did you mean 'forearm_mass_kg'?" in misspelt


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("arm,right,x,,,abc,,", "start_s is 'abc', expected a number"),
        ("arm,right,x,,,2,1,", "end_s is '1', expected a time after start_s, 2 s"),
        ("arm,right,x,,,2,2,", "end_s is '2', expected a time after start_s, 2 s"),
        (
            "arm,right,x,lap,,,,",
            "marker_set is 'lap', expected one of lab, the settings' marker_sets; did you mean 'lab'?",
        ),
        (
            "arm,right,x,,sprong,,,",
            "load is 'sprong', expected a name from the settings' loads; did you mean 'spring'?",
        ),
        ("arm,Right,x,,,,,", "side is 'Right', expected left or right"),
        ("arm,right,x,,,,,0", "filter.order"),
        ("arm,right,x,,,,,[2", "filter.order is '[2'"),
    ],
)
def test_trials_that_cannot_be(study, cells, message):
    columns = TRIALS + ",marker_set,load,start_s,end_s,filter.order"
    found = only(study, [f"reach,S1,Ann,reach.c3d,{cells}"], trial_columns=columns)
    assert found.startswith("config/trials.csv line 2 (trial reach): ")
    assert message in found


def test_a_study_without_marker_sets_or_with_several(study):
    assert "have no marker_sets" in only(study, settings="plane: {up_axis: +z}\n")
    two = "plane: {up_axis: +z}\nmarker_sets:\n  one: {elbow_axis: A}\n  two: {elbow_axis: B}\n"
    assert "marker_set is '', expected one of one, two" in only(study, settings=two)


# --- tables that are no tables ---------------------------------------------------------------------------------------


def test_columns_that_are_missing_misspelt_or_double(study):
    found = only(study, ["reach,S1,Ann,reach.c3d,arm,right"], trial_columns=TRIALS.removesuffix(",condition"))
    assert found == "config/trials.csv: column condition is missing"
    misspelt = only(study, ["reach,S1,Ann,reach.c3d,arm,right,x,"], trial_columns=TRIALS + ",marker_sett")
    assert "column 'marker_sett' is unknown; did you mean 'marker_set'?" in misspelt
    twice = only(study, ["reach,S1,Ann,reach.c3d,arm,right,x,left"], trial_columns=TRIALS + ",side")
    assert twice == "config/trials.csv: a column occurs twice: side"


def test_semicolons(study):
    found = only(study, ["reach;S1;Ann;reach.c3d;arm;right;x"], trial_columns=TRIALS.replace(",", ";"))
    assert found.startswith(
        "config/trials.csv: column trial, session, subject, file, chain, side, condition is missing"
    )
    assert found.endswith("the columns are separated by ';', expected ','")


def test_empty_tables(study):
    assert only(study, []) == "config/trials.csv: the table has no trials"
    assert "column trial, session" in only(study, [], trial_columns="")
    both = faults(study, [], ["Ann,70000,1.75,f"])
    assert len(both) == 2
    assert "the table has no trials" in both[1]


def test_tables_that_are_not_there(study, tmp_path):
    study()
    for name in ("trials", "subjects"):
        (tmp_path / "a study" / "config" / f"{name}.csv").unlink()
    with pytest.raises(StudyError) as error:
        load_study(tmp_path / "a study")
    assert [Path(fault.split(":")[0]).name for fault in error.value.faults] == ["subjects.csv", "trials.csv"]
    with pytest.raises(SettingsError, match="does not exist"):
        load_study(tmp_path / "elsewhere")


def test_a_table_that_is_no_text(study):
    assert "not readable as CSV in UTF-8" in only(
        study, ["reach,S1,Ann,reach.c3d,arm,right,größer"], encoding="latin-1"
    )


@pytest.mark.parametrize(
    ("column", "meant"), [("motion.angle", "motion.angles"), ("filter.cutof_hz", "filter.cutoff_hz")]
)
def test_a_misspelt_option_is_named_once_for_all_trials(study, column, meant):
    rows = [f"{name},S1,Ann,reach.c3d,arm,right,slow,1" for name in "abc"]
    assert only(study, rows, trial_columns=f"{TRIALS},{column}") == (
        f"config/trials.csv: no option is called '{column}'; did you mean '{meant}'?"
    )


def test_the_columns_of_the_tables_are_an_option_of_the_whole_study(study):
    found = only(study, ["a,S1,Ann,reach.c3d,arm,right,slow,power"], trial_columns=TRIALS + ",torques.columns")
    assert "torques.columns is an option of the whole study" in found


def test_a_number_of_a_few_may_be_a_column(study):
    found = study(["a,S1,Ann,reach.c3d,arm,right,slow,8"], trial_columns=TRIALS + ",differentiation.accuracy")
    assert found.trials[0].settings.differentiation.accuracy == 8


# --- comments, and what is not filled in ------------------------------------------------------------------------


def test_lines_that_begin_with_a_number_sign_are_comments(study):
    found = study(
        ["# left out: b,S1,Ann", "reach,S1,Ann,reach.c3d,arm,right,slow", " # the last, too"],
        trial_columns="# what was found\n# and guessed, in words\n" + TRIALS,
        subject_columns="# kg and m\n" + SUBJECTS,
    )
    assert [trial.condition for trial in found.trials] == ["slow"]


def test_a_cell_of_two_lines_is_refused_and_its_second_line_no_comment(study):
    fault = only(study, ['reach,S1,Ann,reach.c3d,arm,right,"slow', '# not a comment"'])
    assert "condition: 'slow\\n# not a comment' has the invisible character U+000A" in fault


def test_comments_do_not_change_the_numbers_of_the_lines(study):
    fault = only(
        study,
        ["# a comment", "reach,S1,Ann,reach.c3d,arm,up,slow"],
        trial_columns="# one\n# two\n" + TRIALS,
    )
    assert fault == "config/trials.csv line 5 (trial reach): side is 'up', expected left or right"


def test_what_is_still_to_be_filled_in_is_told_cell_by_cell_once(study):
    found = faults(
        study,
        ["reach,S1,Ann,reach.c3d,arm,TODO,slow", "b,S1,Ann,reach.c3d,TODO: arm or leg,left,slow"],
        ["Ann,TODO,,"],
        settings="marker_sets:\n  lab: {elbow_axis: TODO, wrist_axis: WRI}\n",
    )
    assert found == [
        "marker_sets.lab.elbow_axis is not filled in (TODO): name its marker or markers, or remove the line and "
        "name a replacement in 'substitutes'",
        "config/subjects.csv line 2 (subject Ann): mass_kg is not filled in (TODO): body mass; segment masses are "
        "fractions of it (kg)",
        "config/trials.csv line 2 (trial reach): side is not filled in (TODO): side of the analysed limb",
        "plane.up_axis is not given: give the laboratory axis that points up, e.g. '+z', in the settings",
        "config/trials.csv line 3 (trial b): chain is not filled in (TODO: arm or leg): arm, leg, "
        "arm_without_hand, leg_without_foot, or a chain of the settings",
    ]


# --- options of the command line, and faults of every kind --------------------------------------------------------------


def test_a_column_goes_before_the_command_line_and_that_before_the_file(study, tmp_path):
    rows = ["a,S1,Ann,reach.c3d,arm,right,x,10,", "b,S1,Ann,reach.c3d,arm,right,x,,"]
    study(
        rows,
        trial_columns=TRIALS + ",filter.cutoff_hz,filter.order",
        settings=SETTINGS + "filter: {cutoff_hz: 8, order: 2}\n",
    )
    found = load_study(tmp_path / "a study", overrides={"filter": {"cutoff_hz": 6}})
    assert [(t.settings.filter.cutoff_hz, t.settings.filter.order) for t in found.trials] == [(10.0, 2), (6.0, 2)]
    assert found.settings.filter.cutoff_hz == 6.0
    with pytest.raises(SettingsError, match=r"--config:\n  - filter.cutof_hz is unknown; did you mean 'cutoff_hz'"):
        load_study(tmp_path / "a study", overrides={"filter.cutof_hz": 6})

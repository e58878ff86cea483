"""Settings: unknown keys, ranges, one place for every option, changes for one trial."""

import contextlib
from typing import Any

import pytest
import yaml  # PyYAML, which Snakemake brings: a reader of YAML 1.1
from hypothesis import given, settings
from hypothesis import strategies as st

from limbtorque.errors import SettingsError
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.files import parse_yaml, yaml_text
from limbtorque.study.settings import (
    Settings,
    describe_options,
    load_settings,
    make_settings,
    option_names,
    override,
    settings_hash,
)

JOINT = {"name": "knee", "landmark": "knee_axis"}
SEGMENT = {"name": "shank", "row": "shank"}


def fault(raw: Any) -> str:
    with pytest.raises(SettingsError) as error:
        make_settings(raw, source="config.yaml")
    assert str(error.value).startswith("config.yaml:\n")
    return str(error.value)


# --- unknown keys ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "where", "meant"),
    [
        ({"filtr": {}}, "filtr", "filter"),
        ({"gravity": 9.81}, "gravity", "gravity_m_s2"),
        ({"filter": {"cutof_hz": 6}}, "filter.cutof_hz", "cutoff_hz"),
        ({"plane": {"upaxis": "+z"}}, "plane.upaxis", "up_axis"),
        ({"quality": {"noise": 1}}, "quality.noise", "noise_m"),
        ({"chains": {"mine": {"jionts": []}}}, "chains.mine.jionts", "joints"),
        (
            {"chains": {"mine": {"joints": [{**JOINT, "landmrk": "x"}], "segments": [SEGMENT], "end": "x"}}},
            "chains.mine.joints.0.landmrk",
            "landmark",
        ),
        ({"loads": {"pull": {"type": "spring", "stifness_n_m": 3}}}, "loads.pull.stifness_n_m", "stiffness_n_m"),
        (
            {"marker_sets": {"m": {"elbow": {"between": ["A", "B"], "fracton": 0.5}}}},
            "marker_sets.m.elbow.fracton",
            "fraction",
        ),
    ],
)
def test_unknown_keys_at_any_depth(raw, where, meant):
    assert f"{where} is unknown; did you mean '{meant}'?" in fault(raw)


# --- ranges ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"filter": {"cutoff_hz": 0}}, "filter.cutoff_hz is 0, expected a frequency above 0 Hz, or one of expected_error, residual"),
        ({"filter": {"cutoff_hz": float("nan")}}, "filter.cutoff_hz"),
        ({"filter": {"cutoff_hz": True}}, "filter.cutoff_hz"),
        ({"filter": {"cutoff_hz": "6,5"}}, "filter.cutoff_hz is '6,5', expected a frequency above 0 Hz"),
        ({"filter": {"order": 9}}, "filter.order is 9, expected 1 to 8"),
        ({"filter": 6}, "filter"),
        ({"gravity_m_s2": -9.81}, "gravity_m_s2 is -9.81, expected 0 to 30 m/s^2"),
        ({"gaps": {"max_gap_s": 2.1}}, "gaps.max_gap_s is 2.1, expected 0 to 2 s"),
        ({"differentiation": {"accuracy": 3}}, "differentiation.accuracy is 3, expected 2, 4, 6 or 8"),
        ({"plane": {"up_axis": "z"}}, "plane.up_axis"),
        ({"plane": {"up_axis": [0.0, 0.1, 1.0]}}, "plane.up_axis is [0.0, 0.1, 1.0], expected +x, -x, +y, -y, +z or -z"),
        ({"plane": {"up_axis": "+z", "forward_axis": "-z"}}, "plane: forward_axis -z is parallel to up_axis +z"),
        ({"loads": {"pull": {"type": "spring", "stiffness_n_m": -1, "anchor_m": [0, 0, 0]}}}, "stiffness_n_m"),
    ],
)  # fmt: skip
def test_values_out_of_range_are_told(raw, message):
    assert message in fault(raw)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"segments": []}, "segments"),
        ({"segments": [SEGMENT, {**SEGMENT, "name": "foot"}]}, "as many segments as joints, found 2 and 1"),
        ({"segments": [{**SEGMENT, "name": "knee"}]}, "names of joints and segments must be unique"),
        ({"joints": [{**JOINT, "name": "Left knee"}]}, "joints.0.name"),
        ({"joints": [{**JOINT, "flexion_sagittal": 0}]}, "joints.0.flexion_sagittal"),
    ],
)
def test_chains_that_do_not_hang_together_are_told(change, message):
    chain = {"joints": [JOINT], "segments": [SEGMENT], "end": "ankle_axis", **change}
    assert message in fault({"chains": {"mine": chain}})


def test_defaults_and_built_in_chains():
    settings = make_settings({})
    assert settings == Settings()
    assert settings.chain("arm") is ARM
    assert settings.chain("leg") is LEG
    assert settings.gravity_m_s2 == 9.80665
    assert settings.chain_names == ["arm", "arm_without_hand", "leg", "leg_without_foot"]
    own = make_settings({"chains": {"finger": {"joints": [JOINT], "segments": [SEGMENT], "end": "tip"}}})
    assert own.chain_names == ["arm", "arm_without_hand", "finger", "leg", "leg_without_foot"]
    assert own.chain("finger").joints[0].name == "knee"


# --- one option, one place -------------------------------------------------------------------------------------------


def test_list_of_options_is_whole_and_within_its_own_ranges():
    rows = {name: rest for name, *rest in describe_options()}
    assert tuple(rows) == option_names()
    assert len(set(option_names())) == len(option_names())
    assert rows["filter.cutoff_hz"][:3] == [
        '"expected_error"',
        "> 0.0 | expected_error | residual | autocorrelation | gcv",
        "Hz",
    ]
    assert rows["filter.order"][:3] == ["3", ">= 1, <= 8", "1"]
    assert "sagittal | horizontal | best_fit" in rows["plane.kind"][1]
    assert make_settings(Settings().model_dump()) == Settings()


# --- changes of one trial --------------------------------------------------------------------------------------------


def test_override_changes_one_option_and_not_the_study():
    study = make_settings({"filter": {"cutoff_hz": 6}, "plates": {"assignment": [1]}})
    own = override(
        study,
        {"filter.cutoff_hz": "10", "plane.up_axis": "-y", "plane.forward_axis": "+x", "gaps.longer": "fail"},
        source="trial",
    )
    assert (own.filter.cutoff_hz, own.plane.up_axis, own.gaps.longer) == (10.0, "-y", "fail")
    assert own.plates.assignment == (1,)
    assert study.filter.cutoff_hz == 6.0
    assert override(study, {}, source="trial") == study


def test_override_reads_its_own_sections_only():
    """As a table of 200,000 trials with options of their own needs; a section read again would be another object."""
    study = make_settings({"marker_sets": {"lab": {"elbow_axis": "ELB"}}, "quality": {"noise_m": 0.002}})
    own = override(study, {"filter.cutoff_hz": "10", "gravity_m_s2": "1.62"}, source="trial")
    changed = {name for name in type(study).model_fields if getattr(own, name) is not getattr(study, name)}
    assert changed == {"filter", "gravity_m_s2"}
    assert (own.filter.cutoff_hz, own.gravity_m_s2) == (10.0, 1.62)


def test_override_leaves_the_dictionaries_of_its_argument():
    study = make_settings({"marker_sets": {"lab": {"elbow_axis": "ELB"}}})
    own = override(study, {"marker_sets.lab.elbow_axis": "LEL"}, source="trial")
    assert (own.marker_sets["lab"], study.marker_sets["lab"]) == ({"elbow_axis": "LEL"}, {"elbow_axis": "ELB"})


@pytest.mark.parametrize(
    ("raw", "name", "text", "message"),
    [
        ({"uncertainty": {"enabled": False}}, "torques.bands", "true", "torques.bands needs uncertainty.enabled"),
        (
            {"torques": {"bands": True}, "uncertainty": {"enabled": True}},
            "uncertainty.enabled",
            "false",
            "torques.bands needs",
        ),
        ({}, "filter.cutof_hz", "6", "no option is called 'filter.cutof_hz'; did you mean 'filter.cutoff_hz'"),
        ({}, "muscles.sets", "{wing: leg}", "muscles.sets names wing, which is not a chain"),
        ({}, "segments.added", "{wing: {mass_kg: 1}}", "segments.added names wing"),
        (
            {},
            "segments.rows",
            "{wing: {proximal: a, distal: b, mass: 0.1, com: 0.4, gyration: 0.3}}",
            "segments.rows names wing",
        ),
        ({}, "emg.max_voluntary_files", '["a\\u0007"]', "the invisible character U\\+0007; remove it"),
    ],
)
def test_an_override_that_contradicts_another_section_is_refused(raw, name, text, message):
    with pytest.raises(SettingsError, match=message):
        override(make_settings(raw), {name: text}, source="trial")


@pytest.mark.parametrize(("text", "value"), [("[1, 2]", (1, 2)), ("auto", "auto"), ("none", "none"), ("[3]", (3,))])
def test_override_takes_lists_and_words(text, value):
    assert override(Settings(), {"plates.assignment": text}, source="trial").plates.assignment == value
    assert override(Settings(), {"filter.force_cutoff_hz": "null"}, source="trial").filter.force_cutoff_hz is None


# --- files and hashes ------------------------------------------------------------------------------------------------


def test_a_settings_file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("title: Größe\nfilter:\n  cutoff_hz: 8\n", encoding="utf-8")
    settings = load_settings(path)
    assert (settings.title, settings.filter.cutoff_hz) == ("Größe", 8.0)
    path.write_text("")
    assert load_settings(path) == Settings()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"filter: [", "not readable as YAML"),
        (b"\xff\xfe\x00", "not in UTF-8"),
        (b"- a\n- b\n", "holds a list, expected 'key: value' lines"),
        (b"just text", "holds a str"),
        (b"1: 2", "1: "),
        (b"filter: {order: 2}\nplane: {}\nfilter: {cutoff_hz: 3}\n", "'filter' occurs twice"),
    ],
)
def test_files_that_are_no_settings_are_told(tmp_path, content, message):
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(SettingsError) as error:
        load_settings(path)
    assert message in str(error.value)
    assert "config.yaml" in str(error.value)


def test_hash_sees_its_sections_only():
    one = make_settings({"filter": {"cutoff_hz": 6}})
    two = make_settings({"filter": {"cutoff_hz": 7}})
    assert settings_hash(one, ("plane",)) == settings_hash(two, ("plane",))
    assert settings_hash(one, ("plane", "filter")) != settings_hash(two, ("plane", "filter"))
    assert settings_hash(make_settings({}), ("filter",)) == settings_hash(Settings(), ("filter",))


@pytest.mark.parametrize(("given", "meant"), [(2, (2,)), ("2", (2,)), ([1, 2], (1, 2)), ("none", "none")])
def test_one_plate_may_be_given_without_a_list(given, meant):
    assert make_settings({"plates": {"assignment": given}}).plates.assignment == meant


# --- options of the command line -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", [{"filter": {"cutoff_hz": 6}}, {"filter.cutoff_hz": 6}, {"filter": {"cutoff_hz": "6"}}]
)
def test_the_command_line_goes_before_the_file_and_the_file_before_defaults(tmp_path, given):
    path = tmp_path / "config.yaml"
    path.write_text("title: mine\nfilter: {cutoff_hz: 8, order: 2}\n", encoding="utf-8")
    found = load_settings(path, given)
    assert (found.title, found.filter.cutoff_hz, found.filter.order) == ("mine", 6.0, 2)
    assert load_settings(path, {}) == load_settings(path) == load_settings(path, None)


def test_the_command_line_changes_dictionaries_entry_by_entry_and_entries_as_a_whole():
    spring = {"type": "spring", "stiffness_n_m": 40, "anchor_m": [0, 0, 1]}
    raw = {"loads": {"a": spring, "b": spring}, "marker_sets": {"lab": {"elbow_axis": "A", "wrist_axis": "B"}}}
    push = {"type": "constant_force", "force_n": [0, 0, -9.81]}
    found = make_settings(raw, overrides={"loads": {"a": push}, "marker_sets": {"lab": {"elbow_axis": ["C", "D"]}}})
    assert (found.loads["a"].type, found.loads["b"].type) == ("constant_force", "spring")
    assert found.marker_sets["lab"] == {"elbow_axis": ("C", "D"), "wrist_axis": "B"}
    assert raw["loads"]["a"] is spring


# --- YAML 1.2 --------------------------------------------------------------------------------------------------------


def test_words_and_times_are_text(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("title: 12:30:00\nmarker_sets:\n  no: {elbow_axis: on, wrist_axis: 2026-11-22}\n", encoding="utf-8")
    found = load_settings(path)
    assert found.title == "12:30:00"
    assert found.marker_sets == {"no": {"elbow_axis": "on", "wrist_axis": "2026-11-22"}}


@pytest.mark.parametrize(("word", "value"), [("no", False), ("off", False), ("true", True), ("yes", True)])
def test_yes_and_no_are_still_taken_for_an_option_that_is_one(tmp_path, word, value):
    path = tmp_path / "config.yaml"
    path.write_text(f"muscles: {{enabled: {word}}}\n", encoding="utf-8")
    assert load_settings(path).muscles.enabled is value


@given(
    content=st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"))) | st.sampled_from(["no", "12:30", "010", "1e3", "+z", "{S}EL"]),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcyno{}: #'\"", max_size=6), inner, max_size=4),
        max_leaves=12,
    )
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_read_back_the_same(content):
    assert parse_yaml(yaml_text(content)) == content
    if isinstance(content, dict):
        assert yaml.safe_load(yaml_text(content)) == content  # readers of YAML 1.1, too


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "x", "spring", "[1", "none", "3"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "between", "functional", "anatomical", "joints", "name", "order", "x"])
            | st.integers(0, 2),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(name=st.sampled_from(option_names()), value=ANYTHING)
@settings(max_examples=60, deadline=None)
def test_whatever_stands_at_an_option_is_taken_or_told(name, value):
    with contextlib.suppress(SettingsError):
        make_settings({}, overrides={name: value})

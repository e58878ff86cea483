"""Every option of every section with values that no option has: a sentence, or a value within its limits; never anything else."""

import datetime
import math
import os
import time
from typing import get_args

import pytest
from pydantic import BaseModel

from limbtorque.cli.main import main
from limbtorque.errors import SettingsError
from limbtorque.study.chains import Between, Carried, ChainModel, Functional, HipCentre, ShoulderCentre
from limbtorque.study.files import LARGEST_FILE, MOST_ENTRIES, parse_yaml, yaml_text
from limbtorque.study.options.base import LARGEST, LONGEST, SMALLEST
from limbtorque.study.options.motion import AddedMass
from limbtorque.study.options.reading import Force, Spring
from limbtorque.study.settings import Settings, make_settings
from limbtorque.study.study import load_study
from study_runs import TRIALS, make_study

NUMBERS = [1e308, -1e308, 1e-320, math.nan, math.inf, -math.inf, True, False, "1", -0.0, "-0.0", 10**400, "1e999"]
NUMBERS.append("9" * 5000)
TIMES = ["12:30:00", "12:30", datetime.date(2026, 11, 22), "2026-11-22", "1_0", "\u0667", "nan", "1,5", "1.5 Hz"]
TEXTS = ["\0", "a\nb", "a" * 10**6, "\x1b[31m", "\u202ea", "", " "]
PATHS = ["/dev/zero", "/dev/stdin", "/", "..", "a/" * 3000]
NESTED = [None, [], {}, [1, 2], {"a": 1}, [True], [math.nan], [1e308], {"a": True}, {"a": math.nan}, {1: 1}, {"a\0": 1}]
NESTED.append([[[]]])
VALUES = [*NUMBERS, *TIMES, *TEXTS, *PATHS, *NESTED]
PARTS = {  # models inside dictionaries of the settings, whole and right
    "loads.a": (Force, {"type": "constant_force", "force_n": [0, 0, 1]}),
    "loads.b": (Spring, {"type": "spring", "stiffness_n_m": 9, "anchor_m": [0, 0, 0]}),
    "marker_sets.m.p": (Between, {"between": ["A", "B"]}),
    "marker_sets.m.q": (Functional, {"functional": [["A", "B"], ["C", "D"]], "anatomical": "A"}),
    "marker_sets.m.r": (Carried, {"static": "A", "cluster": ["B", "C", "D"]}),
    "marker_sets.m.s": (HipCentre, {"hip_centre": "bell_1990"}),
    "marker_sets.m.t": (ShoulderCentre, {"shoulder_centre": "rab_2002"}),
    "segments.added.hand": (AddedMass, {"mass_kg": 2.0}),
    "chains.c": (
        ChainModel,
        {
            "joints": [{"name": "a", "landmark": "A"}],
            "segments": [{"name": "b", "row": "hand"}],
            "end": "B",
        },
    ),
}


def options(model, prefix=""):
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from options(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", {}
    if model is Settings:
        for place, (part, whole) in PARTS.items():
            yield from ((f"{place}.{name}", whole) for name in part.model_fields)


def with_value(name, whole, value):
    """Settings with one value, inside a part that is right otherwise."""
    *path, last = name.split(".")
    raw = {**whole, last: value}
    for part in reversed(path):
        raw = {part: raw}
    return raw


def entries(value):
    if isinstance(value, dict | list | tuple):
        for part in [*value, *(value.values() if isinstance(value, dict) else [])]:
            yield from entries(part)
    else:
        yield value


def unfit(value):
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return not (value == 0 or SMALLEST <= abs(value) <= LARGEST)
    return len(value) > LONGEST or "\0" in value or "\n" in value.strip() or "\x1b" in value


@pytest.mark.parametrize("section", sorted({name.split(".")[0] for name, _ in options(Settings)}))
def test_no_option_takes_what_no_study_has(section):
    wrong, own = [], [(name, whole) for name, whole in options(Settings) if name.split(".")[0] == section]
    apart = 4 if len(own) > 20 else 1  # many alike, such as the thresholds: a part of the values for each
    for k, (name, whole) in enumerate(own):
        for value in VALUES[k % apart :: apart]:
            start = time.process_time()
            try:
                found = make_settings(with_value(name, whole, value)).model_dump()
            except SettingsError as error:
                text = str(error)
                bad = len(text) > 2000 or not all(line.isprintable() for line in text.split("\n")) or not error.faults
            else:
                bad = any(map(unfit, entries(found)))
            if bad or time.process_time() - start > 1.0:
                wrong.append((name, repr(value)[:50]))
    assert not wrong


def leaves(annotation):
    return [leaf for part in get_args(annotation) for leaf in leaves(part)] or [annotation]


@pytest.mark.parametrize("value", [True, False])
def test_true_and_false_are_no_numbers(value):
    for name, field in ((n, f) for n, f in _fields(Settings) if not {bool, str} & set(leaves(f.annotation))):
        with pytest.raises(SettingsError):
            make_settings(with_value(name, {}, value))
        assert field.description


def _fields(model, prefix=""):
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _fields(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: " + "[" * 2000 + "]" * 2000, "nested too deeply"),
        ("{a: " * 2000 + "}" * 2000, "nested too deeply"),
        ("a: 1\n" * LARGEST_FILE, "characters, too many for settings"),
        ("%YAML 1.1\n---\nstart: 12:30:00\non: no", "has the line '%YAML 1.1', expected YAML 1.2"),
        ("a: !!binary aGk=", "has a tag (tag:yaml.org,2002:binary); remove"),
        ("a: !!python/object/apply:os.system [ls]", "has a tag"),
        ("a: &a [1, 2]\nb: *a", "has an alias (*name); write its values out"),
        ("a: " + "9" * 5000, "is not readable as a number"),
        ("a: 0x" + "f" * 4000, "is not readable as a number"),
        ("a: [" + "1," * 50_000 + "1]", "has 50000 lines and commas"),
        ("a:\n" + "- 1\n" * 40_000, "has 40001 lines and commas"),
    ],
)
def test_yaml_that_is_none_of_ours(text, says):
    start = time.process_time()
    with pytest.raises(ValueError, match=r"(?s).*") as raised:
        parse_yaml(text)
    assert says in str(raised.value)
    assert time.process_time() - start < 5.0


def test_a_long_list_is_refused_before_it_is_read(monkeypatch):
    """Reading takes seconds for 100 kB; as many entries as are allowed, one."""
    import limbtorque.study.files as module

    monkeypatch.setattr(module, "_yaml", lambda: pytest.fail("it is read"))
    with pytest.raises(ValueError, match="too many for settings"):
        parse_yaml("[" + "1," * MOST_ENTRIES + ",]")
    monkeypatch.undo()
    assert parse_yaml("[" + "1," * MOST_ENTRIES + "]") == [1] * MOST_ENTRIES


def test_a_file_of_another_version_does_not_change_how_the_next_is_read():
    with pytest.raises(ValueError, match="expected YAML 1"):
        parse_yaml("%YAML 1.1\n---\na: 12:30:00")
    assert parse_yaml("a: 12:30:00\nb: no\nc: 010") == {"a": "12:30:00", "b": "no", "c": 10}
    assert parse_yaml("%YAML 1.2\n---\na: no") == {"a": "no"}


def test_directives_of_a_file_do_not_change_how_the_next_is_written():
    parse_yaml("%YAML 1.2\n%TAG ! tag:example.com,2000:\n---\na: 1")
    assert yaml_text({"a": 1}) == "a: 1\n"


def odd_files(folder):
    """A pipe, a loop of links, a folder, an endless device, and names that no system takes."""
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "zero").symlink_to("/dev/zero")
    return [
        "pipe",
        "loop",
        "config",
        "zero",
        "/dev/zero",
        "/dev/stdin",
        "x" * 300,
        "a/" * 400,
        "config/config.yaml/x",
        ".",
    ]


def test_no_path_of_a_study_hangs_or_ends_in_a_traceback(tmp_path):
    study = make_study(tmp_path / "study", TRIALS[:1])
    settings, table = (study / "config" / name for name in ("config.yaml", "trials.csv"))
    plain, rows = settings.read_text("utf-8"), table.read_text("utf-8")
    for path in odd_files(study):
        for option in ("trials", "subjects"):
            settings.write_text(f"{plain}\n{option}: '{path}'\n", "utf-8")
            assert main(["check", str(study)]) == 1
        settings.write_text(plain, "utf-8")
        table.write_text(rows.replace(f"data/demo/{TRIALS[0]}.c3d", path), "utf-8")
        assert main(["check", str(study)]) == 1
        table.write_text(rows, "utf-8")
    assert load_study(study).trials


@pytest.mark.parametrize("command", ["check", "status", "verify", "run-study"])
def test_no_folder_of_a_command_ends_in_a_traceback(command, tmp_path, capsys):
    study = make_study(tmp_path / "study", TRIALS[:1])
    for path in (*odd_files(study), "a\0b", "a\nb", "a\x1b[31mb"):
        assert main([command, str(study / path)] if path != "." else [command, "/dev/null"]) == 1
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["pipe", "loop", "zero", "config"])
def test_no_recording_that_is_no_file_hangs(name, tmp_path, capsys):
    study = make_study(tmp_path / "study", TRIALS[:1])
    odd_files(study)
    (study / f"{name}.c3d").symlink_to(name)
    start = time.monotonic()
    assert main(["inspect", str(study / f"{name}.c3d")]) == 1
    assert time.monotonic() - start < 60.0
    err = capsys.readouterr().err
    assert "a folder or a device, expected a file" in err or "Too many levels" in err

"""The file of frozen contrasts: edited by hand, and what a frozen contrast contains."""

import datetime
from types import SimpleNamespace

import pytest

from limbtorque.study.settings import make_settings
from limbtorque.workflow.frozen import FROZEN, declared_as, freeze_contrasts

KNEE = {"statistic": "max_nm_kg", "joint": "knee"}
NOW = datetime.datetime(2026, 1, 1)


def study(*names, members=(), include="caution", **more):
    """Study with contrasts of these names, and subjects A, B, ... in groups."""
    of_each = {"chain": "leg", "outcomes": [KNEE], **(more or {"conditions": ["a", "b"]})}
    declared = {"declared": [{"name": name, **of_each} for name in names]}
    subjects = [SimpleNamespace(name=name, group=group) for name, group in zip("ABCD", members, strict=False)]
    settings = make_settings({"contrasts": declared, "ensembles": {"include": include}})
    return SimpleNamespace(settings=settings, trials=[SimpleNamespace(subject=subject) for subject in subjects])


def test_a_file_whose_last_newline_was_lost_stays_readable(tmp_path):
    (tmp_path / "config").mkdir()
    freeze_contrasts(study("x"), tmp_path, now=NOW)
    file = tmp_path / FROZEN
    file.write_text(file.read_text(encoding="utf-8").rstrip(), encoding="utf-8")
    freeze_contrasts(study("x", "y"), tmp_path, now=NOW)
    assert declared_as(study("x", "y"), tmp_path) == dict.fromkeys("xy", "frozen 2026-01-01")


@pytest.mark.parametrize(
    ("members", "include", "stays"),
    [
        (("old", "young", "old"), "caution", True),
        (("old", "young", "young"), "caution", False),  # a subject in the other group
        (("old", "young"), "caution", False),  # a subject taken out
        (("old", "young", "old", "middle"), "caution", True),  # of a group that is not compared
        (("old", "young", "old"), "ok", False),
    ],
)
def test_who_is_compared_is_frozen_too(tmp_path, members, include, stays):
    compared = {"condition": "a", "groups": ["old", "young"]}
    (tmp_path / "config").mkdir()
    freeze_contrasts(study("x", members=("old", "young", "old"), **compared), tmp_path, now=NOW)
    later = study("x", members=members, include=include, **compared)
    assert (declared_as(later, tmp_path)["x"] == "frozen 2026-01-01") == stays

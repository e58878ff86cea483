"""Packages are installed by hash, from lists that agree with the project; the GPL stays among the peers."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LISTS = {name: (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8") for name in ("build", "demo")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins(text):
    """Version of every package of a list."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, flags=re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


@pytest.fixture(scope="module")
def licences():
    spec = importlib.util.spec_from_file_location("licences", ROOT / "tools" / "licences.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", LISTS)
def test_every_package_has_a_version_and_a_hash_and_no_address(name):
    text = LISTS[name]
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) == len(pins(text)) > 3
    for entry in entries:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry
    assert "://" not in text
    assert set(re.findall(r"(?<!\S)--[a-z-]+", text)) == {"--hash"}  # no option that names a place


@pytest.mark.parametrize("name", LISTS)
def test_versions_are_those_that_the_tests_ran_with(name):
    constraints = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    for package, version in pins(LISTS[name]).items():
        assert constraints.get(package, version) == version, package


def test_the_lists_have_every_package_that_is_needed(licences):
    groups, missing = licences.packages(["run", "development", "build"])
    assert not missing
    assert len(groups["run"]) > 40
    assert groups["run"] <= set(pins(LISTS["demo"])), "run `make lock`"
    assert {Requirement(text).name for text in PROJECT["dependency-groups"]["build"]} <= set(pins(LISTS["build"]))


def test_the_build_back_end_is_pinned():
    for wanted in map(Requirement, PROJECT["build-system"]["requires"]):
        assert str(wanted.specifier) == f"=={pins(LISTS['build'])[wanted.name]}"
        assert str(wanted) in PROJECT["dependency-groups"]["build"]


@pytest.mark.parametrize(
    ("group", "licence", "refused"),
    [
        ("run", "GNU General Public License v2 or later (GPLv2+)", True),
        ("development", "AGPL-3.0-only", True),
        ("build", "GPL-3.0-or-later", True),
        ("peers", "GNU General Public License v2 or later (GPLv2+)", False),
        ("run", "GNU Lesser General Public License v3 (LGPLv3)", False),
        ("run", "LGPL-2.1-or-later", False),
        ("run", "MIT License", False),
        ("release", "GPL-3.0-or-later", False),
        ("peers", "UNKNOWN", True),
    ],
)
def test_the_gpl_is_refused_outside_the_peers(licences, group, licence, refused):
    assert bool(licences.faults([(group, "a-package", licence)])) == refused


def test_the_licences_of_what_is_installed_here(licences, capsys, monkeypatch):
    pytest.importorskip("piplicenses")
    assert licences.main() == 0, capsys.readouterr().err
    text = capsys.readouterr().out
    assert re.search(r"^run +numpy +BSD", text, flags=re.MULTILINE)
    monkeypatch.setattr(licences, "packages", lambda _: ({"run": {"docutils"}}, set()))
    monkeypatch.setattr(licences, "PARTS", {})
    assert licences.main() == 1
    assert "docutils" in capsys.readouterr().err


def test_every_extra_and_group_of_the_project_is_in_a_group_of_licences(licences):
    """An extra counts where another one names it: dev has slurm and cluster, peers have opensim."""
    extras, waiting = set(), [extra for chosen, _ in licences.GROUPS.values() for extra in chosen if extra]
    while waiting:
        extras.add(extra := waiting.pop())
        own = map(Requirement, PROJECT["project"]["optional-dependencies"][extra])
        waiting += [inner for one in own if one.name == "limbtorque" for inner in one.extras - extras]
    assert extras == set(PROJECT["project"]["optional-dependencies"])
    assert {name for _, chosen in licences.GROUPS.values() for name in chosen} == set(PROJECT["dependency-groups"])

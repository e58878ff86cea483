"""Modules of which a change repeats a stage."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import limbtorque
from limbtorque.workflow import keys

PACKAGE = Path(limbtorque.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Modules of the package that a parser of Python finds in all import statements of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("limbtorque"):
            assert node.level == 0
            yield from (str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("limbtorque"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_are_those_that_python_finds(path: Path) -> None:
    module = ".".join(("limbtorque", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    there = {name for name in imported(path) if keys._module_path(name).is_file()}
    assert set(keys._imports(module)) == there


def test_a_stage_depends_on_what_it_imports_far_away() -> None:
    found = keys._closure("limbtorque.workflow.stages.torques")
    assert {"limbtorque.chain.dynamics", "limbtorque.recordings.c3d.read", "limbtorque.tables.files"} <= found
    assert not any("matplotlib" in name or name.startswith("limbtorque.figures") for name in found)

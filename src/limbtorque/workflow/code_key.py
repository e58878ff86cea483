"""Hash of a stage's code: a change of the package repeats dependent steps."""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(
    r"^[ \t]*(?:import (limbtorque[\w.]*)|from (limbtorque[\w.]*) import (\([^)]*\)|[^\n]*))", re.MULTILINE
)
_COMMENT = re.compile("#.*")


@functools.cache
def code_key(stage: str) -> str:
    """Hash of a stage's module, the modules it imports, and their data files."""
    digest = hashlib.sha256()
    for name in sorted(_closure(f"limbtorque.workflow.stages.{stage}")):
        path = _module_path(name)
        digest.update(name.encode() + path.read_bytes())
        for data in _data_beside(name, path):
            digest.update(data.name.encode() + data.read_bytes())
    return digest.hexdigest()[:16]


def _data_beside(module: str, path: Path) -> list[Path]:
    """Data files of a module: muscle sets, its templates, the report's files."""
    if module.startswith("limbtorque.muscles"):
        return sorted((path.parent / "sets").glob("*.json"))
    if module == "limbtorque.workflow.stages.report":
        return sorted((_PACKAGE / "report" / "data").glob("*.*"))
    return sorted(path.parent.glob(f"{path.stem}.*.jinja"))


def _closure(module: str) -> set[str]:
    """A module and all modules of the package it imports, directly or not."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += _imports(name)
    return seen


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    """Modules of the package in the import statements of a module.

    A parser of Python takes fifty times as long.
    """
    names: set[str] = set()
    for plain, source, chosen in _IMPORT.findall(_module_path(module).read_text(encoding="utf-8")):
        of_source = [
            f"{source}.{name.split()[0]}" for name in _COMMENT.sub("", chosen).strip("()").split(",") if name.strip()
        ]
        names |= {plain} if plain else {source, *of_source}
    return tuple(sorted(name for name in names if _module_path(name).is_file()))


def _module_path(module: str) -> Path:
    base = _PACKAGE.joinpath(*module.split(".")[1:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")

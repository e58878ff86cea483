"""Hash of a stage's code: a change of the package repeats dependent steps."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


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
    names: set[str] = set()
    for node in _statements(ast.parse(_module_path(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("limbtorque"):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith("limbtorque")}
    return tuple(sorted(name for name in names if _module_path(name).is_file()))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements of a module; faster than `ast.walk`, which visits expressions."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, name, ()) if not isinstance(node, ast.expr) else ():
            yield child
            yield from _statements(child)


def _module_path(module: str) -> Path:
    base = _PACKAGE.joinpath(*module.split(".")[1:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")

"""Hash of the code that a stage uses: a change of the package makes again what depends on it."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


@functools.cache
def code_key(stage: str) -> str:
    """Hash of the source of a stage's module, of every module of the package it imports, and of the data beside them."""
    digest = hashlib.sha256()
    for name in sorted(_closure(f"limbtorque.workflow.stages.{stage}")):
        path = _module_path(name)
        digest.update(name.encode() + path.read_bytes())
        for data in _data_beside(name, path):
            digest.update(data.name.encode() + data.read_bytes())
    return digest.hexdigest()[:16]


def _data_beside(module: str, path: Path) -> list[Path]:
    """Files beside a module that it reads: muscle sets, templates of the module's name, shared files of the report."""
    if module.startswith("limbtorque.muscles"):
        return sorted((path.parent / "sets").glob("*.json"))
    if module == "limbtorque.workflow.stages.report":
        return sorted((_PACKAGE / "report" / "data").glob("*.*"))
    return sorted(path.parent.glob(f"{path.stem}.*.jinja"))


def _closure(module: str) -> set[str]:
    """A module of the package and all modules of the package that it imports, directly or not."""
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
    """All statements in a module, and in the bodies in it; `ast.walk` would go through every expression, too."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, name, ()) if not isinstance(node, ast.expr) else ():
            yield child
            yield from _statements(child)


def _module_path(module: str) -> Path:
    base = _PACKAGE.joinpath(*module.split(".")[1:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")

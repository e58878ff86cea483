"""Rules for the signatures of the science, and for the sizes of all functions and modules."""

import ast
import functools
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "limbtorque"
ROOMS = ("chain", "signals", "motion", "ground", "torques", "quality", "muscles", "simulation", "statistics")
FILES = sorted(
    {*(file for room in ROOMS for file in (SOURCE / room).rglob("*.py")), *(SOURCE / "analysis").glob("*.py")}
)
MOST_OPTIONS, LONGEST_FUNCTION, LONGEST_MODULE = 6, 60, 600


@functools.cache
def tree_of(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def functions(file):
    """Functions and methods of a module."""
    tree = tree_of(file)
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def n_options(function):
    """Number of arguments after the data: those that are keyword-only or have a default."""
    return len(function.args.kwonlyargs) + len(function.args.defaults)


def n_lines(function):
    """Lines of a function without those of its docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function) is not None
    return function.end_lineno - function.lineno + 1 - (first.end_lineno - first.lineno + 1 if documented else 0)


def splatted(file):
    """Calls with a dictionary that was put together elsewhere: ``f(**options)``."""
    for call in ast.walk(tree_of(file)):
        if isinstance(call, ast.Call):
            given = [keyword.value for keyword in call.keywords if keyword.arg is None]
            if any(not isinstance(value, ast.Dict | ast.DictComp) for value in given):
                yield ast.unparse(call.func)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_functions_of_the_science_keep_the_rules(file):
    found = functions(file)
    assert {f.name: n_options(f) for f in found if n_options(f) > MOST_OPTIONS} == {}
    assert [f.name for f in found if f.args.kwarg is not None] == []
    assert list(splatted(file)) == []


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_functions_and_modules_fit_in_a_head(file):
    assert {f.name: n_lines(f) for f in functions(file) if n_lines(f) > LONGEST_FUNCTION} == {}
    assert len(file.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE


def test_the_rules_see_what_breaks_them(tmp_path):
    file = tmp_path / "bad.py"
    body = "\n".join("    x = 1" for _ in range(60))
    file.write_text(f"def bad(a, *, b, c, d, e, f, g, h=1, **more):\n    '''Doc.'''\n{body}\n    good(**more)\n")
    [bad] = functions(file)
    assert (n_options(bad), bad.args.kwarg.arg, n_lines(bad)) == (7, "more", 62)
    assert list(splatted(file)) == ["good"]

"""The plan of the package: which folder may import which, and nothing private from another module."""

import ast
import functools
from collections import defaultdict
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "limbtorque"
# From the ground up: a room imports only rooms that stand before it here, in the order in which a trial passes through them.
ORDER = (
    "errors",
    "arrays",
    "chain",
    "signals",
    "study",
    "recordings",
    "tables",
    "motion",
    "ground",
    "torques",
    "emg",
    "muscles",
    "uncertainty",
    "quality",
    "simulation",
    "statistics",
    "figures",
    "report",
    "analysis",
    "workflow",
    "cli",
)
ARRAYS_ONLY = ("chain", "signals", "muscles/static_optimization")


def modules():
    return sorted(PACKAGE.rglob("*.py"))


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imported(path, *, typing=True):
    """Module and name of every import in a file, the lazy ones too, and those for the type checker unless asked not to."""
    return tuple(imports(tree_of(path), path.name, typing=typing))


def imports(tree, name, *, typing):
    branches = [] if typing else [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    checks = [node for node in branches if "TYPE_CHECKING" in ast.unparse(node.test)]
    left_out = {id(one) for check in checks for one in check.body}
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} has a relative import, which hides where it leads"
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def arrows(graph_of=room_of):
    """Arrows between rooms, each with the imports that make it."""
    found = defaultdict(set)
    for path in modules():
        for module, name in imported(path):
            first, _, rest = module.partition(".")
            if first != "limbtorque" or path == PACKAGE / "__init__.py":
                continue
            target = (rest or name).split(".")[0]
            if target != graph_of(path) and target != "__version__":
                found[graph_of(path), target].add(f"{path.relative_to(PACKAGE)} imports {module}.{name}")
    return found


def test_every_entry_of_the_package_has_its_place_in_the_order():
    entries = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()} - {
        "__init__",
        "__init__.pyi",
        "__pycache__",
        "py.typed",
        "_workflow",
    }
    assert entries == set(ORDER)
    assert len(entries) + 2 <= 23  # with __init__.py and its stub


def test_no_room_imports_one_above_it():
    upward = {arrow: why for arrow, why in arrows().items() if ORDER.index(arrow[0]) <= ORDER.index(arrow[1])}
    assert not upward


def test_no_circle_between_modules():
    known = {".".join(("limbtorque", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in modules()}
    known = {name.removesuffix(".__init__"): path for name, path in known.items()}
    uses = {
        name: {
            target
            for module, what in imported(path)
            for target in (f"{module}.{what}", module)
            if target in known
            and target != name
            and not (known[target].name == "__init__.py" and f"{module}.{what}" in known)
        }
        for name, path in known.items()
        if path != PACKAGE / "__init__.py"
    }
    done, path_so_far = set(), []

    def visit(name):
        assert name not in path_so_far, " -> ".join([*path_so_far[path_so_far.index(name) :], name])
        if name not in done:
            path_so_far.append(name)
            for target in sorted(uses.get(name, ())):
                visit(target)
            done.add(path_so_far.pop())

    for name in sorted(uses):
        visit(name)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_private_is_imported(path):
    private = [
        f"{module}.{name}"
        for module, name in imported(path)
        if module.startswith("limbtorque") and name.startswith("_") and name != "__version__"
    ]
    assert not private


@pytest.mark.parametrize("folder", ARRAYS_ONLY)
def test_the_mathematics_knows_arrays_only(folder):
    allowed = ("limbtorque.errors", "limbtorque.arrays", f"limbtorque.{folder.replace('/', '.')}")
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        for module, _ in imported(path):
            assert not module.startswith("limbtorque") or module.startswith(allowed), f"{path.name} imports {module}"
            assert module.split(".")[0] not in ("pyarrow", "pandas", "pathlib", "pydantic"), (
                f"{path.name} imports {module}"
            )


def test_only_figures_import_matplotlib():
    """Other rooms name the type Figure, for the type checker alone."""
    users = {
        path.relative_to(PACKAGE).parts[0]
        for path in modules()
        for module, _ in imported(path, typing=False)
        if module.split(".")[0] == "matplotlib"
    }
    assert users == {"figures"}


@pytest.mark.parametrize(
    "folder",
    [path.parent for path in modules() if path.name == "__init__.py" and path.parent != PACKAGE],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_every_folder_says_what_comes_in_what_goes_out_and_what_it_may_not_know(folder):
    text = ast.get_docstring(tree_of(folder / "__init__.py")) or ""
    for word in ("In:", "Out:", "Not here:"):
        assert f"\n{word} " in text, word


@pytest.mark.parametrize("room", [*ARRAYS_ONLY, "motion", "ground", "quality", "torques", "recordings/c3d"])
def test_dataclasses_of_the_science_are_values(room):
    """Nothing changes a motion, torques or a problem after it was made."""
    nodes = [node for path in (PACKAGE / room).glob("*.py") for node in ast.walk(tree_of(path))]
    decorators = [ast.unparse(each) for node in nodes if isinstance(node, ast.ClassDef) for each in node.decorator_list]
    classes = [text for text in decorators if text.startswith("dataclass")]
    assert all("frozen=True" in text for text in classes), classes

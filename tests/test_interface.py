"""The public interface: `import limbtorque as lt` is enough for scripts, notebooks and the documentation."""

import ast
import re
import subprocess
import sys
import warnings
from pathlib import Path

import lazy_loader
import pytest

import limbtorque as lt

ROOT = Path(__file__).resolve().parents[1]
STUB = ast.parse((ROOT / "src" / "limbtorque" / "__init__.pyi").read_text(encoding="utf-8"))
NAMES = [(node.module, alias.name) for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names]


@pytest.mark.parametrize(("home", "name"), NAMES, ids=[name for _, name in NAMES])
def test_every_name_is_there_and_documented(home, name):
    found = getattr(lt, name)
    assert found is getattr(sys.modules[f"limbtorque.{home}"], name)
    assert found.__doc__


def test_no_name_is_given_twice_or_is_a_room():
    names = [name for _, name in NAMES]
    assert len(set(names)) == len(names)
    assert not set(names) & {path.name for path in (ROOT / "src" / "limbtorque").iterdir()}
    assert sorted(dir(lt)) == sorted(names)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="No limbtorque attribute share_torque"):
        _ = lt.share_torque


def test_the_recipe_of_a_former_name_warns_with_its_successor():
    page = (ROOT / "docs" / "interface.md").read_text(encoding="utf-8")
    [recipe] = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names = {"__name__": "limbtorque", "__file__": lt.__file__, "lazy_loader": lazy_loader, "warnings": warnings}
    exec(recipe.replace("old_name", "torques_by_term").replace("new_name", "torque_terms"), names)
    with pytest.warns(DeprecationWarning, match=r"limbtorque.torques_by_term .* use limbtorque.torque_terms$"):
        assert names["__getattr__"]("torques_by_term") is lt.torque_terms
    assert names["__getattr__"]("Chain") is lt.Chain  # without a warning: warnings are errors here


def test_the_import_loads_no_library():
    code = "import sys, limbtorque; print(sorted({'numpy', 'scipy', 'pydantic', 'pyarrow', 'matplotlib', 'json'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def python_of_the_pages():
    """Python of examples, README and pages: what a reader is shown."""
    for script in sorted((ROOT / "examples").glob("*.py")):
        yield pytest.param(script.read_text(encoding="utf-8"), id=script.name)
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        yield from (pytest.param(block, id=f"{page.name} {k}") for k, block in enumerate(blocks))


@pytest.mark.parametrize("text", list(python_of_the_pages()))
def test_readers_are_shown_nothing_deeper_than_the_interface(text):
    assert not re.findall(r"^\s*from limbtorque.*|^\s*import limbtorque\..*", text, re.MULTILINE)
    used = set(re.findall(r"\blt\.(\w+)", text))
    assert used <= {name for _, name in NAMES}

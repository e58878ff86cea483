"""Pages made from the code are up to date; Python, YAML and links of all pages work; the site needs no network."""

import ast
import difflib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_made_from_the_code_are_up_to_date():
    module = module_of(ROOT / "tools" / "make_docs.py")
    changed = []
    for name, page in module.PAGES.items():
        file = (ROOT / "docs" / name).read_text(encoding="utf-8")
        changed += difflib.unified_diff(
            file.splitlines(), page().splitlines(), f"docs/{name}", "code", n=0, lineterm=""
        )
    assert not changed, "\n".join(["run python tools/make_docs.py:", *changed])


def test_the_python_of_the_readme_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        exec(block, names)
    assert len(names["torques"]) == 251


def pages():
    """All pages with their names."""
    return [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "data/README.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ]


def yaml_blocks():
    """Every piece of YAML of the pages, with the page it is on."""
    for page in pages():
        for number, block in enumerate(
            re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        ):
            yield pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")


@pytest.mark.parametrize("block", list(yaml_blocks()))
def test_yaml_is_valid(block, tmp_path):
    from limbtorque.muscles.sets.muscle_set import load_muscle_set
    from limbtorque.study.files import parse_yaml
    from limbtorque.study.settings import make_settings

    content = parse_yaml(block)
    if "joints" in content:  # a muscle set
        (tmp_path / "set.yaml").write_text(block, encoding="utf-8")
        assert load_muscle_set(tmp_path / "set.yaml").joints
    else:
        make_settings(content)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_module_is_in_the_python_reference_or_named_as_not_public():
    hooks = ast.parse((ROOT / "docs" / "site" / "hooks.py").read_text(encoding="utf-8"))
    reference, internal = (  # not imported: that takes seconds
        next(
            ast.literal_eval(node.value)
            for node in hooks.body
            if getattr(node, "targets", None) and node.targets[0].id == name
        )
        for name in ("REFERENCE", "NOT_PUBLIC")
    )
    named = {name for names in reference.values() for name in names} | set(internal)
    source = ROOT / "src" / "limbtorque"
    tops = {path.stem for path in source.glob("*.py") if path.stem != "__init__"}
    tops |= {path.parent.name for path in source.glob("*/__init__.py")}
    assert {name.partition(".")[0] for name in named} == tops
    assert all(
        (source / f"{name.replace('.', '/')}.py").is_file() or (source / name.replace(".", "/")).is_dir()
        for name in named
    )


@pytest.mark.slow
def test_a_notebook_runs_and_its_figures_are_on_its_page(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    hooks = module_of(ROOT / "docs" / "site" / "hooks.py")
    image = ROOT / "docs" / "figures" / "choices.png"
    cells = ["from IPython.display import Image, Math", f"Image({str(image)!r})", "Math('x^2')"]
    code = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    heading = {"cell_type": "markdown", "metadata": {}, "source": "# Of an [arm]"}
    notebook = {"metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    path = tmp_path / "arm.ipynb"
    path.write_text(json.dumps(notebook | {"cells": [heading, *({**code, "source": cell} for cell in cells)]}))
    page, figures = hooks.notebook_page(path, execute=True)
    (name,) = figures
    assert figures[name] == image.read_bytes()
    assert f"![Figure: Of an arm]({name})" in page
    assert "$\\displaystyle x^2$" in page
    path.write_text(json.dumps(notebook | {"cells": [{**code, "source": "assert 1 > 2"}]}))
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="assert 1 > 2"):
        hooks.notebook_page(path, execute=True)


@pytest.mark.slow
def test_the_site_needs_no_network(tmp_path):
    """As `make docs` builds it, without running the notebooks, of which test_examples.py runs every cell."""
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "EXECUTE_NOTEBOOKS": "false"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    built = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*.html")}
    assert {
        "index.html",
        "tutorial.html",
        "howto.html",
        "changelog.html",
        "contributing.html",
        "python/chains.html",
        "notebooks/three_links.html",
    } <= set(built)
    for name, path in built.items():
        loaded = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(?:https?:)?//", path.read_text("utf-8")
        )
        assert not loaded, name
    assert "<math " in built["theory.html"].read_text("utf-8")
    assert "arithmatex" not in built["theory.html"].read_text("utf-8")
    assert "limbtorque.chain.dynamics.torque_terms" in built["python/chains.html"].read_text("utf-8")

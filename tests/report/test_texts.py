"""Texts that a person reads: every option they name exists, and every template is packed and re-runs what it fills."""

import ast
import re
from pathlib import Path

import pytest

import limbtorque
from limbtorque.figures.templates import environment
from limbtorque.study.settings import option_names
from limbtorque.workflow import keys

PACKAGE = Path(limbtorque.__file__).parent
OPTIONS = set(option_names())
SECTIONS = {name.partition(".")[0] for name in OPTIONS if "." in name}
NAMED = re.compile(r"(?<![\w./])([a-z]+)\.([a-z_0-9]+)\b(?!\()")
FILES = ("css", "html", "js", "md", "csv")  # endings of files whose name is that of a section
TEMPLATES = sorted(PACKAGE.rglob("*.jinja"))
MODULES = sorted(
    [
        *(PACKAGE / "figures").rglob("*.py"),
        *(PACKAGE / "report").rglob("*.py"),
        *(PACKAGE / "cli" / "diff").glob("*.py"),
        PACKAGE / "statistics" / "wording.py",
    ]
)


def options_in(text):
    """Names in a text that look like options: a section of the settings, a point, and a name."""
    pairs = (found.groups() for found in NAMED.finditer(text))
    return {f"{section}.{name}" for section, name in pairs if section in SECTIONS and name not in FILES}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_options_named_in_a_template_exist(path):
    named = options_in(path.read_text(encoding="utf-8"))
    assert named <= OPTIONS
    assert path.name != "page.md.jinja" or len(named) > 20


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_options_named_in_a_text_of_a_module_exist(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert set().union(*map(options_in, texts)) <= OPTIONS


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_template_can_be_read(path):
    environment().parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("template", "stages"),
    [
        ("report/methods/page.md.jinja", {"collect"}),
        ("figures/captions.md.jinja", {"study_figures"}),
        ("report/trial.html.jinja", {"pages"}),
        ("report/index.html.jinja", {"report"}),
        ("report/page.html.jinja", {"pages", "report"}),
        ("report/page.elements.html.jinja", {"pages", "report"}),
    ],
)
def test_a_changed_template_re_runs_the_stages_that_fill_it(template, stages):
    path = PACKAGE / template
    reading = {stage for stage in ("pages", "figures", "collect", "report", "study_figures") if path in files_of(stage)}
    assert reading == stages


def files_of(stage):
    """Data files in the hash of a stage's code."""
    modules = keys._closure(f"limbtorque.workflow.stages.{stage}")
    return {data for module in modules for data in keys._data_beside(module, keys._module_path(module))}

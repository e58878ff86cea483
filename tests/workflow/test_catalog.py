"""The workflow as others find and use it: the catalog of Snakemake workflows, the linter, and a module of another workflow."""

import importlib.util
import json
import re

import pytest
import yaml

import loaded_snakemake
from limbtorque.study.settings import option_names
from study_runs import ROOT, TRIALS, make_study

ASKED = (
    "Specify a conda environment or container for each rule."  # that of the package, of which all rules are commands
)


def test_the_layout_is_that_of_the_catalog_of_snakemake_workflows():
    """https://snakemake.github.io/snakemake-workflow-catalog, docs/about/adding_workflows.md: standardized usage.

    `config/README.md` is what the catalog shows on how to configure the workflow.
    """
    assert (ROOT / "workflow" / "Snakefile").is_file()
    assert list((ROOT / "workflow" / "rules").glob("*.smk"))
    assert not list((ROOT / "workflow" / "rules").glob("*.py"))
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))["usage"]
    assert set(usage["mandatory-flags"]) == {"desc", "flags"}
    deployments = usage["software-stack-deployment"]
    assert not any(deployments[name] for name in ("conda", "apptainer", "apptainer+conda"))  # none is in the rules
    assert usage["report"] is deployments["report"] is True
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    files = {"config.yaml", "trials.csv", "subjects.csv"}
    named = set(re.findall(r"`([a-z_]+\.[a-z_]+)`", text))
    assert files <= named
    assert named - files <= set(option_names())


@pytest.mark.workflow
def test_the_linter_asks_for_nothing_but_a_software_environment(monkeypatch):
    monkeypatch.chdir(ROOT)
    _, text = loaded_snakemake.run(["--lint"])
    assert set(re.findall(r"^    \* (.+):$", text, flags=re.MULTILINE)) == {ASKED}


PARENT = """
module limbtorque:
    snakefile:
        "{snakefile}"
    config:
        {{"title": "As a module"}}


use rule * from limbtorque as limbtorque_*


rule mine:
    input:
        "results/torques/S01_sagittal",
    output:
        "mine.txt",
    default_target: True
    shell:
        "ls {{input}} > {{output}}"
"""


@pytest.mark.workflow
def test_another_workflow_uses_this_one_as_a_module(tmp_path):
    """Its onstart never runs: the jobs write the settings."""
    study = make_study(tmp_path / "a study", TRIALS[:1])
    snakefile = tmp_path / "Snakefile"
    snakefile.write_text(PARENT.format(snakefile=ROOT / "workflow" / "Snakefile"), encoding="utf-8")
    words = ["-s", snakefile, "--directory", study, "--cores", "2", "--show-failed-logs"]
    code, text = loaded_snakemake.run(words)
    assert code == 0, text
    made = (study / "mine.txt").read_text(encoding="utf-8").split()
    assert {f"{TRIALS[0]}.csv", f"{TRIALS[0]}.parquet", "_session.jsonl"} <= set(made)
    results = study / "results"
    assert json.loads((results / "settings.json").read_text(encoding="utf-8"))["title"] == "As a module"
    assert "Nothing to be done" in loaded_snakemake.run(words)[1]


def test_the_schemas_are_made_from_the_models():
    """By tools/make_schemas.py."""
    spec = importlib.util.spec_from_file_location("make_schemas", ROOT / "tools" / "make_schemas.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    files = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "workflow" / "schemas").iterdir()}
    stale = [name for name, make in tool.MADE.items() if files.get(name) != tool.text(make())]
    assert (stale, set(files)) == ([], set(tool.MADE)), "run python tools/make_schemas.py"

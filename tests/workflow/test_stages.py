"""Every rule has its stage, and every stage its place in the plan, so that a new one cannot be half there."""

import re
from dataclasses import replace
from pathlib import Path

from limbtorque.study.study import load_study
from limbtorque.workflow import keys, layout

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(path for path in (ROOT / "workflow" / "rules").glob("*.smk") if path.stem != "study")
RULE = re.compile(r"^\s*(?:rule|checkpoint|use rule \w+ as) (\w+)", re.MULTILINE)
RULES = {name for path in FILES for name in RULE.findall(path.read_text(encoding="utf-8"))}
MODULES = {path.stem for path in (ROOT / "src" / "limbtorque" / "workflow" / "stages").glob("*.py")} - {"__init__"}


def test_every_rule_has_a_stage_of_its_name():
    assert RULES == MODULES


def test_the_snakefile_includes_every_file_of_rules():
    text = (ROOT / "workflow" / "Snakefile").read_text(encoding="utf-8")
    assert [path.name for path in FILES if f'include: "rules/{path.name}"' not in text] == []


def test_every_stage_has_a_key_in_workflow_keys():
    """WHOLE: stages of the whole study; SECTIONS: the settings that a stage of sessions uses."""
    assert set(keys.WHOLE) | (set(keys.SECTIONS) - {"collect"}) == MODULES


def test_every_stage_is_in_the_order_of_the_work():
    """`layout.stages_of`, by which jobs are prepared; the cut-offs of a study are made only where they are shared."""
    study = load_study(ROOT)
    assert set(layout.stages_of(study)) == MODULES
    alone = replace(study, trials=study.trials[:1], batches={study.trials[0].session: study.trials[:1]})
    assert set(layout.stages_of(alone)) == MODULES - {"cutoffs", "study_cutoff"}


def test_every_stage_of_the_study_says_its_files():
    study = load_study(ROOT)
    assert {stage for stage in keys.WHOLE if layout.study_files(stage, study)} == set(keys.WHOLE)

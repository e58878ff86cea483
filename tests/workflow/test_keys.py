"""Rules, their stages, and the keys of their jobs: what makes a result again."""

import ast
import re
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest

from limbtorque.study import settings as study_settings
from limbtorque.study.study import load_study
from limbtorque.study.subjects import Subject
from limbtorque.workflow import keys, layout, results_folder
from limbtorque.workflow.layout import RECORD, session_files, session_folder
from staged_study import DEMO, make_study

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "limbtorque"
FILES = sorted(path for path in (ROOT / "workflow" / "rules").glob("*.smk") if path.stem != "study")
RULE = re.compile(r"^\s*(?:rule|checkpoint|use rule \w+ as) (\w+)", re.MULTILINE)
STAGES = {path.stem for path in (PACKAGE / "workflow" / "stages").glob("*.py")} - {"__init__"}
OTHER = {"mass_kg": 61.5, "height_m": 1.59, "measured": {"leg_length_m": 0.91}}
IN_NO_NUMBER = {
    "name",
    "note",
    "group",
    "affected_side",
    "dominant_side",
    "covariates",
    "sex",
}  # the sex counts where a table of segment parameters depends on it
OWN_MUSCLES = """
chains:
  arm:
    joints:
      - {name: shoulder, landmark: glenohumeral_axis, flexion_zero_deg: -90, moment_arms_in_any_plane: false}
      - {name: elbow, landmark: elbow_axis, one_way: true}
      - {name: wrist, landmark: wrist_axis}
    segments: [{name: upper_arm, row: upper_arm}, {name: forearm, row: forearm}, {name: hand, row: hand}]
    end: knuckle_2_middle_finger
    muscles: config/my_arm.yaml
"""


@pytest.fixture(scope="module")
def demo():
    declared = {"name": "faster", "chain": "leg", "conditions": ["walk fast", "walk slow"]}
    declared["outcomes"] = [{"statistic": "max_nm_kg", "joint": "knee"}]
    return load_study(ROOT, overrides={"contrasts": {"declared": [declared]}})


def test_every_rule_has_its_stage_and_every_stage_its_place_in_the_plan(demo):
    included = (ROOT / "workflow" / "Snakefile").read_text(encoding="utf-8")
    assert [path.name for path in FILES if f'include: "rules/{path.name}"' not in included] == []
    assert {name for path in FILES for name in RULE.findall(path.read_text(encoding="utf-8"))} == STAGES
    assert set(keys.WHOLE) | (set(keys.SECTIONS) - {"collect"}) == STAGES
    assert set(layout.stages_of(demo)) == STAGES
    assert [stage for stage in keys.WHOLE if not layout.study_files(stage, demo)] == []
    made = results_folder.made_names(demo)
    for stage in ("kinematics", "figures", "pages", "curves"):
        for session in demo.batches:
            folder = session_folder(stage, session)
            files = {*session_files(stage, demo, session), folder / RECORD}
            assert {folder / name for name in made[folder]} == files


@pytest.mark.parametrize("stage", ["kinematics", "torques", "muscles"])
def test_a_result_that_depends_on_a_subject_is_made_again_when_the_subject_changes(stage, demo):
    """The height judges mass and lengths in the kinematics."""
    trial = demo.trials[0]
    for column in (field.name for field in fields(Subject)):
        changed = replace(trial, subject=replace(trial.subject, **{column: OTHER.get(column, "x")}))
        differs = keys.trial_key(stage, changed, ROOT) != keys.trial_key(stage, trial, ROOT)
        assert differs == (column not in IN_NO_NUMBER), column


def test_keys_follow_a_changed_setting(demo):
    other = demo.settings.model_copy(update={"gravity_m_s2": 1.62})
    for sections in (("gravity_m_s2",), ("gravity_m_s2", "filter")):
        for settings in (demo.settings, other, demo.settings):
            assert keys.settings_hash(settings, sections) == study_settings.settings_hash(settings, sections)
    assert keys.settings_hash(other, ("gravity_m_s2",)) != keys.settings_hash(demo.settings, ("gravity_m_s2",))
    assert keys.settings_hash(other, ("filter",)) == keys.settings_hash(demo.settings, ("filter",))


def test_keys_of_many_trials_hash_the_settings_once(demo, monkeypatch):
    hashed = []
    whole = study_settings.settings_hash
    monkeypatch.setattr(keys.study_settings, "settings_hash", lambda *what: hashed.append(what) or whole(*what))
    settings = demo.settings.model_copy()  # of which nothing is known yet
    trial = replace(demo.trials[0], settings=settings)
    trials = tuple(replace(trial, name=f"t{k}") for k in range(300))
    study = replace(demo, settings=settings, trials=trials, batches={"s": trials})
    found = [keys.session_key(stage, study, "s") for stage in ("kinematics", "torques", "muscles")]
    assert len(hashed) == 3
    assert keys.session_key("torques", replace(study, batches={"s": trials[:-1]}), "s") != found[1]


def test_a_changed_muscle_set_of_the_study_repeats_the_muscles_alone(tmp_path):
    folder = make_study(tmp_path / "study", names=DEMO[:1], extra=OWN_MUSCLES)
    own = folder / "config" / "my_arm.yaml"
    shutil.copy(PACKAGE / "muscles" / "sets" / "arm.yaml", own)

    def found():
        study = load_study(folder)
        return [keys.session_key(stage, study, next(iter(study.batches))) for stage in ("muscles", "torques")]

    before = found()
    own.write_text(own.read_text(encoding="utf-8").replace("987.26", "900.00"), encoding="utf-8")
    after = found()
    assert after[0] != before[0]
    assert after[1] == before[1]


def imported(path):
    """Modules of the package that a parser of Python finds in all import statements of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("limbtorque"):
            assert node.level == 0
            yield from (str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("limbtorque"))


def test_a_stage_is_made_again_after_a_change_of_any_module_that_it_imports():
    """Imports are those that a parser of Python finds."""
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(("limbtorque", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        there = {name for name in imported(path) if keys._module_path(name).is_file()}
        assert set(keys._imports(module)) == there, module
    found = keys._closure("limbtorque.workflow.stages.torques")
    assert {"limbtorque.chain.dynamics", "limbtorque.recordings.c3d.read", "limbtorque.tables.files"} <= found
    assert not any("matplotlib" in name or name.startswith("limbtorque.figures") for name in found)

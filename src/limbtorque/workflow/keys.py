"""Keys of a job: hashes of the settings, rows and code it depends on."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from limbtorque.study import settings as study_settings
from limbtorque.study.settings import Settings
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial, subjects_of
from limbtorque.workflow.frozen import declared_as

READS_RECORDINGS = ("kinematics", "universes")
WITH_MUSCLES = ("muscles", "universes")
TRIAL_TABLES = ("tables.csv",)
WINDOW = (
    "ensembles.enabled",
    "ensembles.window",
    "ensembles.onset_share",
    "ensembles.max_rest_s",
    "ensembles.start_event",
    "ensembles.end_event",
    "ensembles.events",
    "ensembles.cycle_start",
    "ensembles.cycle",
    "ensembles.min_known_share",
)
SECTIONS = {
    "kinematics": (
        "gravity_m_s2",
        "marker_sets",
        "substitutes",
        "chains",
        "reading",
        "plane",
        "gaps",
        "filter",
        "differentiation",
        "segments",
        "loads",
        "plates",
        "motion",
        "uncertainty.off",
        "uncertainty.sizes",
        "uncertainty.landmarks",
        "uncertainty.sets",
        *TRIAL_TABLES,
    ),
    "torques": ("chains", "differentiation", "torques", "uncertainty", *WINDOW, *TRIAL_TABLES),
    "muscles": ("chains", "muscles", "emg", "uncertainty", *WINDOW, *TRIAL_TABLES),
    "curves": ("chains", "quality", "ensembles"),
    "figures": ("chains", "quality", "figures", "emg.channels"),
    "pages": ("title", "chains", "quality", "tables", "figures", "report"),
    "collect": ("title", "quality", "run"),
}
_NO_VALUES = ("title", "trials", "subjects", "tables", "figures", "report", "run")  # sections that change no number
_AFTER_CENTRES = ("filter", "differentiation", "motion")
OF_CENTRES = tuple(name for name in SECTIONS["kinematics"] if name not in _AFTER_CENTRES)  # of joint centres
SECTIONS["universes"] = tuple(name for name in Settings.model_fields if name not in _NO_VALUES)


_hashes: dict[tuple[int, tuple[str, ...]], tuple[Settings, str]] = {}  # with the settings, whose number stays theirs


def settings_hash(settings: Settings, sections: tuple[str, ...]) -> str:
    """Hash of sections or options, computed once for trials with the same settings."""
    if (id(settings), sections) not in _hashes:
        _hashes[id(settings), sections] = settings, study_settings.settings_hash(settings, sections)
    return _hashes[id(settings), sections][1]


def settings_key(settings: Settings) -> str:
    """Hash of all settings of a study."""
    return settings_hash(settings, tuple(type(settings).model_fields))


def trial_key(stage: str, trial: Trial, folder: Path) -> str:
    """Hash of all settings and rows that affect a trial at a stage."""
    chosen = trial.settings.muscle_set(trial.chain, folder) if stage in WITH_MUSCLES else None
    named = (trial.session, trial.condition, trial.subject.name)
    titles: dict[str, tuple[str, ...]] = {  # names and notes in a stage's files that change no number
        "figures": (trial.condition,),
        "curves": named,
        "pages": (*named, trial.note, trial.subject.note),
    }
    row = {
        "title": titles.get(stage, ()),
        "muscle_set": hashlib.sha256(chosen.read_bytes()).hexdigest() if isinstance(chosen, Path) else "",
        "file": [file.as_posix() for file in trial.files],
        "chain": trial.chain,
        "side": trial.side,
        "marker_set": trial.marker_set,
        "prefix": trial.prefix,
        "load": trial.load,
        "window": (trial.start_s, trial.end_s),
        "mass_kg": trial.subject.mass_kg,
        "measured": trial.subject.measured,
        "sex": "" if trial.settings.segments.for_any_sex else trial.subject.sex,
        "static_file": trial.static_file.as_posix() if trial.static_file else "",
        "height_m": trial.subject.height_m,  # judges mass and lengths; NaN where it is not given
    }
    own = settings_hash(trial.settings, SECTIONS[stage])
    return _hash([trial.name, row, own])


def session_key(stage: str, study: Study, session: str) -> str:
    """Hash of a session's trials; a job refuses to run with a different hash."""
    trials = study.batches[session]
    keys = [trial_key(stage, trial, study.folder) for trial in trials]
    # Recordings that were replaced, even by older files; the muscles read those with electromyography.
    read = trials if stage in READS_RECORDINGS else []
    if stage == "muscles":
        read = [trial for trial in trials if trial.settings.emg.channels]
    states = [file.stat() for trial in read for file in trial.files]
    keys += [f"{state.st_size} {state.st_mtime_ns}" for state in states]
    return hashlib.sha256("".join(keys).encode()).hexdigest()[:16]


def study_key(study: Study) -> str:
    """Hash of all settings and rows, for the tables of the study."""
    rows = [
        [
            *(trial.name, trial.session, trial.subject.name, trial.condition, trial.note, trial.subject.note),
            *(trial_key(stage, trial, study.folder) for stage in ("muscles", "kinematics")),
            settings_hash(trial.settings, SECTIONS["collect"]),
        ]
        for trial in study.trials
    ]
    return _hash([rows, _names(study), declared_as(study, study.folder), settings_key(study.settings)])


def ensembles_key(study: Study) -> str:
    """Hash of the inputs of the ensembles other than the curves."""
    rows = [(trial.name, trial.subject.name, trial.condition, trial.chain, trial.side) for trial in study.trials]
    return _hash([rows, _names(study), settings_hash(study.settings, ("chains", "ensembles"))])


def contrasts_key(study: Study) -> str:
    """Hash of the inputs of the contrasts other than tables."""
    return _hash([_subjects(study), declared_as(study, study.folder), _settings(study, "contrasts")])


def reference_key(study: Study) -> str:
    """Hash of the inputs of the comparison with a reference other than tables."""
    return _hash([_subjects(study), _settings(study, "title", "reference", "report")])


def _subjects(study: Study) -> list[tuple[Any, ...]]:
    """Trials and subjects, as far as statistics depend on them."""
    return [
        *((trial.name, trial.session, trial.condition, trial.chain, trial.side) for trial in study.trials),
        *((s.name, s.group, s.affected_side, s.dominant_side, s.covariates) for s in subjects_of(study.trials)),
    ]


def _settings(study: Study, *sections: str) -> str:
    return settings_hash(study.settings, ("chains", "ensembles", *sections))


def multiverse_key(study: Study) -> str:
    """Hash of the inputs of the multiverse other than values of universes."""
    return _hash([contrasts_key(study), settings_hash(study.settings, ("title", "multiverse", "figures"))])


def study_figures_key(study: Study) -> str:
    """Hash of the inputs of the study's figures other than its tables."""
    chains = sorted({(trial.chain, settings_hash(trial.settings, ("chains", "figures"))) for trial in study.trials})
    return _hash([chains, settings_hash(study.settings, ("title", "figures", "ensembles"))])


def verdict_key(study: Study) -> str:
    """Hash of the inputs of the verdict other than ledger and windows."""
    return settings_hash(study.settings, ("run", "ensembles"))


def _names(study: Study) -> dict[str, list[str]]:
    """Names of the trials of every session."""
    return {session: [trial.name for trial in trials] for session, trials in study.batches.items()}


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


WHOLE = {
    "ensembles": ensembles_key,
    "contrasts": contrasts_key,
    "reference": reference_key,
    "collect": study_key,
    "verdict": verdict_key,
    "study_figures": study_figures_key,
    "report": study_key,
    "multiverse": multiverse_key,
}


_PACKAGE = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(
    r"^[ \t]*(?:import (limbtorque[\w.]*)|from (limbtorque[\w.]*) import (\([^)]*\)|[^\n]*))", re.MULTILINE
)
_COMMENT = re.compile("#.*")


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
    """Data files of a module: muscle sets, templates, report files."""
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
    """Modules of the package in the import statements of a module.

    Parsing Python takes fifty times as long.
    """
    names: set[str] = set()
    for plain, source, chosen in _IMPORT.findall(_module_path(module).read_text(encoding="utf-8")):
        imported = [name.split()[0] for name in _COMMENT.sub("", chosen).strip("()").split(",") if name.strip()]
        names |= {plain, source, *(f"{source}.{name}" for name in imported)} - {""}
    return tuple(sorted(name for name in names if _module_path(name).is_file()))


def _module_path(module: str) -> Path:
    base = _PACKAGE.joinpath(*module.split(".")[1:])
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")

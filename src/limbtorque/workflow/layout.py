"""Where every file of a study is, and the keys that decide what has to be made again."""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from limbtorque.study.settings import settings_hash
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial

RESULTS = Path("results")
SOURCES: dict[str, tuple[str, ...]] = {
    "kinematics": (),
    "torques": ("kinematics",),
    "muscles": ("kinematics", "torques"),
    "figures": ("kinematics", "torques", "muscles"),
    "pages": ("kinematics", "torques", "muscles"),
    "curves": ("kinematics", "torques"),
}
STUDY_CUTOFF = RESULTS / "study_cutoff.json"
VERDICT = RESULTS / "verdict.txt"
LEFT_OVER = RESULTS / "left_over"
STUDY_TABLES = {
    "summary": RESULTS / "summary.csv",
    "summary_by_condition": RESULTS / "summary_by_condition.csv",
    "muscle_summary": RESULTS / "muscle_summary.csv",
    "ledger": RESULTS / "ledger.csv",
    "dictionary": RESULTS / "data_dictionary.csv",
    "provenance": RESULTS / "provenance.json",
    "methods": RESULTS / "methods.md",
}
WORKBOOK = RESULTS / "summary.xlsx"
CURVES = RESULTS / "curves"
ENSEMBLE_TABLES = {
    "ensembles": RESULTS / "ensembles.csv",
    "windows": RESULTS / "windows.csv",
}
STUDY_FIGURES = RESULTS / "figures" / "study"
TRIAL_TABLES = ("tables.csv", "tables.sto")
REPORT = {
    "index": RESULTS / "report" / "index.html",
    "style": RESULTS / "report" / "report.css",
    "plotly": RESULTS / "report" / "plotly.min.js",
    **{
        script: RESULTS / "report" / f"{script}.js"
        for script in ("base", "plots", "panels", "readout", "limb", "trial", "table", "mean_curves")
    },
}
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
        *TRIAL_TABLES,
    ),
    "torques": ("chains", "torques", "integration", "replay", *TRIAL_TABLES),
    "muscles": ("chains", "muscles", *TRIAL_TABLES),
    "curves": ("chains", "differentiation", "quality", "ensembles"),
    "figures": ("chains", "figures"),
    "pages": ("title", "chains", "quality", "tables", "figures", "report"),
    "collect": ("title", "quality", "run"),
}
SECTIONS["cutoffs"] = SECTIONS["kinematics"]
_PACKAGE = Path(__file__).resolve().parents[1]


def table_path(stage: str, trial: str, suffix: str = ".parquet") -> Path:
    """Path of a trial's table, relative to the study's folder."""
    return RESULTS / stage / f"{trial}{suffix}"


def figure_path(kind: str, trial: str, suffix: str) -> Path:
    """Path of a figure of a trial, relative to the study's folder."""
    return RESULTS / "figures" / kind / f"{trial}{suffix}"


def page_path(trial: str) -> Path:
    """Path of the page of a trial, relative to the study's folder."""
    return REPORT["index"].parent / "trials" / f"{trial}.html"


def curves_path(batch: str) -> Path:
    """Path of the curves of a batch, relative to the study's folder."""
    return CURVES / f"{batch}.parquet"


def batch_outputs(stage: str, study: Study, batch: str) -> list[Path]:
    """All files that a stage makes for the trials of a batch."""
    if stage == "curves":
        return [curves_path(batch)] if study.settings.ensembles.enabled else []
    return [path for trial in study.batches[batch] for path in stage_outputs(stage, trial)]


def stage_outputs(stage: str, trial: Trial) -> list[Path]:
    """All files that a stage makes for a trial alone; `curves` makes none such."""
    if stage == "pages":
        return [page_path(trial.name)] if trial.settings.report.enabled else []
    if stage == "figures":
        chosen = trial.settings.figures
        return [figure_path(kind, trial.name, f".{form}") for kind in chosen.kinds for form in chosen.formats]
    tables = trial.settings.tables
    suffixes = (".parquet", *[".csv"] * tables.csv, *[".sto"] * tables.sto)
    return [table_path(stage, trial.name, suffix) for suffix in suffixes]


def study_outputs(study: Study) -> list[Path]:
    """Tables of the study that are made from its summaries and ledger."""
    return [*STUDY_TABLES.values(), *[WORKBOOK] * study.settings.tables.xlsx]


def ensemble_outputs(study: Study) -> list[Path]:
    """Tables of the study that are made from the curves of its batches; none where they are not wanted."""
    return [*ENSEMBLE_TABLES.values()] if study.settings.ensembles.enabled else []


def needed(stage: str, trials: Sequence[Trial]) -> list[str]:
    """Stages whose tables a stage reads for these trials: figures need muscles only where muscles are drawn."""
    drawn = any("muscles" in trial.settings.figures.kinds for trial in trials)
    return [source for source in SOURCES[stage] if stage != "figures" or source != "muscles" or drawn]


def stages_of(study: Study) -> list[str]:
    """All stages that a study needs, those of batches first."""
    return [
        *["cutoffs", "study_cutoff"] * bool(batches_sharing_a_cutoff(study)),
        *(stage for stage in SOURCES if any(batch_outputs(stage, study, batch) for batch in study.batches)),
        *["ensembles"] * bool(ensemble_outputs(study)),
        "collect",
        "verdict",
        *["study_figures"] * bool(study_figures(study)),
        *["report"] * study.settings.report.enabled,
    ]


def study_figures(study: Study) -> list[Path]:
    """Figures of the study, and the captions of all figures."""
    chosen = study.settings.figures
    chains = sorted({trial.chain for trial in study.trials})
    names = [f"{kind}_{chain}" for kind in chosen.study if kind != "flags" for chain in chains]
    if not study.settings.ensembles.enabled:
        names = []
    names += ["flags"] if "flags" in chosen.study else []
    made = [STUDY_FIGURES / f"{name}.{form}" for name in names for form in chosen.formats]
    return [*made, *[STUDY_FIGURES / "captions.md"] * bool(made)]


def shares_cutoff(trial: Trial) -> bool:
    """Whether a trial takes the cut-off of the whole study."""
    chosen = trial.settings.filter
    return chosen.scope == "study" and chosen.method != "none" and not isinstance(chosen.cutoff_hz, float)


def batches_sharing_a_cutoff(study: Study) -> list[str]:
    """Batches in which a trial takes the cut-off of the whole study."""
    return [batch for batch, trials in study.batches.items() if any(map(shares_cutoff, trials))]


def batch_path(stage: str, batch: str) -> Path:
    """Path of what a job kept of each of its trials, which it writes last.

    Later stages wait for it instead of for every table, and the tables of the study are made from it.
    """
    return RESULTS / "batches" / f"{stage}_{batch}.jsonl"


def rule_name(stage: str, batch: str) -> str:
    """Name of the rule of a stage and batch; different batches have different names.

    >>> rule_name("torques", "S-01")
    'torques_S_dash_01'
    """
    words = {"_": "__", "-": "_dash_", ".": "_dot_", "~": "_part_"}
    return f"{stage}_" + re.sub(r"[_.~-]", lambda match: words[match.group()], batch)


def trial_key(stage: str, trial: Trial, folder: Path) -> str:
    """Hash of everything in the study, but the recording, that a stage's result for a trial depends on."""
    chosen = trial.settings.muscle_set(trial.chain, folder) if stage == "muscles" else None
    row = {
        "title": _titles(stage, trial),
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
    }
    own = settings_hash(trial.settings, SECTIONS[stage])
    return _hash([trial.name, row, own])


def _titles(stage: str, trial: Trial) -> tuple[str, ...]:
    """What the table of trials says of a trial that changes no number, but is in what a stage makes."""
    if stage == "figures":
        return (trial.condition,)
    named = (trial.session, trial.condition, trial.subject.name)
    return {"curves": named, "pages": (*named, trial.note, trial.subject.note)}.get(stage, ())


def batch_key(stage: str, study: Study, batch: str) -> str:
    """Hash over the trials of a batch; a job refuses to run where it differs from the one it was planned with."""
    keys = [trial_key(stage, trial, study.folder) for trial in study.batches[batch]]
    if stage in ("cutoffs", "kinematics"):  # a recording that was replaced, even by an older file
        states = [file.stat() for trial in study.batches[batch] for file in trial.files]
        keys += [f"{state.st_size} {state.st_mtime_ns}" for state in states]
    return hashlib.sha256("".join(keys).encode()).hexdigest()[:16]


def study_key(study: Study) -> str:
    """Hash of all settings and of what the tables say of every trial: what the tables of the study depend on."""
    rows = [
        (
            *(trial.name, trial.session, trial.subject.name, trial.condition, trial.note, trial.subject.note),
            *(
                trial_key("muscles", trial, study.folder),
                trial_key("kinematics", trial, study.folder),
                settings_hash(trial.settings, SECTIONS["collect"]),
            ),
        )
        for trial in study.trials
    ]
    everything = settings_hash(study.settings, tuple(type(study.settings).model_fields))
    return _hash([rows, _names(study), everything])


def ensembles_key(study: Study) -> str:
    """Hash of what the ensembles depend on beside the curves."""
    rows = [(trial.name, trial.subject.name, trial.condition, trial.chain, trial.side) for trial in study.trials]
    own = settings_hash(study.settings, ("chains", "ensembles"))
    return _hash([rows, _names(study), own])


def cutoff_key(study: Study) -> str:
    """Hash of the trials that share a cut-off."""
    return _hash([[name, _names(study)[name]] for name in batches_sharing_a_cutoff(study)])


def verdict_key(study: Study) -> str:
    """Hash of what the verdict depends on beside the ledger and the windows."""
    return settings_hash(study.settings, ("run", "ensembles"))


def _names(study: Study) -> dict[str, list[str]]:
    """Names of the trials of every batch."""
    return {batch: [trial.name for trial in trials] for batch, trials in study.batches.items()}


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def study_figures_key(study: Study) -> str:
    """Hash of what the figures of the study depend on beside its tables."""
    chains = sorted({(trial.chain, settings_hash(trial.settings, ("chains", "figures"))) for trial in study.trials})
    chosen = settings_hash(study.settings, ("title", "figures", "ensembles"))
    return _hash([chains, chosen])


WHOLE = {
    "study_cutoff": cutoff_key,
    "ensembles": ensembles_key,
    "collect": study_key,
    "verdict": verdict_key,
    "study_figures": study_figures_key,
    "report": study_key,
}


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

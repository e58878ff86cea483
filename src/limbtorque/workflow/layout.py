"""Paths of a study's results, and the output files of each stage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from limbtorque.quality.checks import CUTOFF_CHECKS
from limbtorque.quality.verdict import Verdict
from limbtorque.study.options.outputs import StudyFigure
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial, subjects_of
from limbtorque.tables.files import BANDS, SPACE

RESULTS = Path("results")
SOURCES: dict[str, tuple[str, ...]] = {
    "kinematics": (),
    "torques": ("kinematics",),
    "muscles": ("kinematics", "torques"),
    "figures": ("kinematics", "torques", "muscles"),
    "pages": ("kinematics", "torques", "muscles"),
    "curves": ("kinematics", "torques"),
}
SESSION_STAGES = (*SOURCES, "universes")
ON_REQUEST = ("universes", "multiverse")  # of `limbtorque multiverse`, not of a run
TABLE_STAGES = ("kinematics", "torques", "muscles")
SETTINGS = RESULTS / "settings.json"
VERDICT = RESULTS / "verdict.txt"
ACCEPTED = RESULTS / "records" / "accepted.txt"  # the verdict again, where the study may be used
LEFT_OVER = RESULTS / "left_over"
LOCK = RESULTS / ".lock"
RECORD = "_session.jsonl"  # readers of a folder of Parquet files pass over names that begin with _
STAMP = ".snakemake_timestamp"  # time of a folder, for Snakemake
CURVES_FILE = "curves.parquet"
EFFECTS_FILE = "_effects.parquet"  # beside the tables of trials, whose names begin with a letter or digit
STUDY_TABLES = {
    "results": RESULTS / "results.csv",
    "summary": RESULTS / "summary.csv",
    "summary_bands": RESULTS / "summary_bands.csv",
    "summary_by_condition": RESULTS / "summary_by_condition.csv",
    "muscle_summary": RESULTS / "muscle_summary.csv",
    "contact_summary": RESULTS / "contact_summary.csv",
    "beside_file": RESULTS / "compared_with_file.csv",
    "ledger": RESULTS / "ledger.csv",
    "metrics": RESULTS / "metrics.csv",
    "dictionary": RESULTS / "data_dictionary.csv",
    "package": RESULTS / "datapackage.json",
    "provenance": RESULTS / "provenance.json",
    "methods": RESULTS / "methods.md",
}
NOTES = RESULTS / "notes"
EMG_TABLES = {
    "emg_summary": RESULTS / "emg_summary.csv",
    "emg_by_muscle": RESULTS / "emg_by_muscle.csv",
    "emg_co_contraction": RESULTS / "emg_co_contraction.csv",
}
ENSEMBLE_TABLES = {"ensembles": RESULTS / "ensembles.csv", "windows": RESULTS / "windows.csv"}
CONTRAST_TABLES = {"contrasts": RESULTS / "contrasts.csv", "contrast_curves": RESULTS / "contrast_curves.csv"}
REFERENCE_TABLE = RESULTS / "compared_with_reference.csv"
UNIVERSES_FILE = "values.parquet"
MULTIVERSE = {"multiverse": RESULTS / "multiverse.csv", "multiverse_page": RESULTS / "report" / "multiverse.html"}
MULTIVERSE_FIGURES = RESULTS / "multiverse_figures"
STUDY_KINDS = get_args(StudyFigure)
STUDY_FIGURES = RESULTS / "study_figures"
REPORT = {
    "index": RESULTS / "report" / "index.html",
    "style": RESULTS / "report" / "report.css",
    **{
        script: RESULTS / "report" / f"{script}.js"
        for script in ("base", "plots", "panels", "readout", "limb", "trial", "table", "mean_curves")
    },
    "plotly": RESULTS / "report" / "plotly.min.js",
}
PAGES = RESULTS / "report" / "trials"
SUBJECT_PAGES = RESULTS / "report" / "subjects"


def session_folder(stage: str, session: str) -> Path:
    """Folder of a session's files of a stage, relative to the study's folder."""
    return (PAGES if stage == "pages" else RESULTS / stage) / session


def record_path(stage: str, session: str) -> Path:
    """Path of the session record, written last."""
    return session_folder(stage, session) / RECORD


def table_path(stage: str, session: str, trial: str, suffix: str = ".parquet") -> Path:
    """Path of a trial's table, relative to the study's folder."""
    return session_folder(stage, session) / f"{trial}{suffix}"


def figure_path(kind: str, session: str, trial: str, suffix: str) -> Path:
    """Path of a figure of a trial, relative to the study's folder."""
    return session_folder("figures", session) / f"{trial}_{kind}{suffix}"


def drawn_kinds(trial: Trial, verdict: Verdict | None = None) -> list[str]:
    """Kinds of figures of a trial: all possible kinds, or those for its verdict."""
    flagged = verdict is None or not CUTOFF_CHECKS.isdisjoint(verdict.names)
    there = {"flagged_cutoff": flagged, "emg": bool(trial.settings.emg.channels), **dict.fromkeys(STUDY_KINDS, False)}
    kinds = [kind.removeprefix("flagged_") for kind in trial.settings.figures.kinds if there.get(kind, True)]
    return list(dict.fromkeys(kinds))


def page_path(session: str, trial: str) -> Path:
    """Path of the page of a trial, relative to the study's folder."""
    return session_folder("pages", session) / f"{trial}.html"


def notes_path(trial: str) -> Path:
    """Path of the notes on a trial, relative to the study's folder."""
    return NOTES / f"{trial}.txt"


def curves_path(session: str) -> Path:
    """Path of the curves of a session, relative to the study's folder."""
    return session_folder("curves", session) / CURVES_FILE


def effects_path(session: str) -> Path:
    """Path of a session's effects of input errors, relative to the study's folder."""
    return session_folder("torques", session) / EFFECTS_FILE


def universes_path(session: str) -> Path:
    """Path of a session's values in all universes, relative to the study's folder."""
    return session_folder("universes", session) / UNIVERSES_FILE


def trial_files(stage: str, session: str, trial: Trial) -> list[Path]:
    """Possible output files of a stage for a single trial, by relative paths.

    None of `curves`; the figure of the cut-off may be missing.
    """
    if stage == "curves":
        return []
    if stage == "pages":
        return [page_path(session, trial.name)] * trial.settings.report.enabled
    if stage == "figures":
        forms = trial.settings.figures.formats
        return [figure_path(kind, session, trial.name, f".{form}") for kind in drawn_kinds(trial) for form in forms]
    tables = trial.settings.tables
    suffixes = (".parquet", *[".csv"] * (stage in tables.csv))
    paths = [table_path(stage, session, trial.name, suffix) for suffix in suffixes]
    return paths + [added_path(path, end) for path in paths for end in added_tables(trial) if stage == "torques"]


def added_tables(trial: Trial) -> list[str]:
    """Ends of the names of the tables beside a trial's torque table."""
    return [BANDS] * trial.settings.torques.bands + [SPACE] * trial.settings.torques.in_space


def added_path(table: Path, end: str) -> Path:
    """Path of a table beside a trial's torque table."""
    return table.with_name(f"{table.stem}{end}{table.suffix}")


def session_files(stage: str, study: Study, session: str) -> list[Path]:
    """Output files of a stage for a session, without its record."""
    if stage == "curves":
        return [curves_path(session)] * study.settings.ensembles.enabled
    if stage == "universes":
        return [universes_path(session)]
    files = [path for trial in study.batches[session] for path in trial_files(stage, session, trial)]
    return files + [effects_path(session)] * (stage == "torques")


def sessions_of(stage: str, study: Study) -> list[str]:
    """Sessions for which a stage has outputs."""
    if stage == "curves":
        return [*study.batches] if study.settings.ensembles.enabled else []
    if stage == "universes":
        return [*study.batches] if has_multiverse(study) else []
    batches = study.batches.items()
    return [session for session, trials in batches if any(trial_files(stage, "", trial) for trial in trials)]


def stages_and_sessions(study: Study) -> list[tuple[str, str]]:
    """Stage and session of every folder of a session."""
    return [(stage, session) for stage in SESSION_STAGES for session in sessions_of(stage, study)]


def places(study: Study) -> dict[str, str]:
    """Session of every trial as used in paths; parts of long sessions have own names."""
    return {trial.name: session for session, trials in study.batches.items() for trial in trials}


def emg_outputs(study: Study) -> list[Path]:
    """Tables of electromyography; empty if no trial has channels."""
    return [*EMG_TABLES.values()] * any(trial.settings.emg.channels for trial in study.trials)


def contrast_pictures(study: Study) -> dict[str, str]:
    """Names of the declared contrasts, and of their figures without the ending."""
    return {contrast.name: f"contrast_{k}" for k, contrast in enumerate(study.settings.contrasts.declared, start=1)}


def plain_names(subjects: Iterable[str]) -> dict[str, str]:
    """Name of a file or folder for each subject; subjects may be called anything."""
    names: dict[str, str] = {}
    for subject in subjects:
        plain = re.sub(r"[^\w.-]", "_", subject).lstrip(".-") or "_"
        name, number = plain, 1
        while name.casefold() in {other.casefold() for other in names.values()}:
            number += 1
            name = f"{plain}_{number}"
        names[subject] = name
    return names


def subject_pages(study: Study) -> dict[str, Path]:
    """Pages of the subjects beside the reference, if there is one."""
    if not (study.settings.reference.is_set and study.settings.report.enabled):
        return {}
    names = plain_names(subject.name for subject in subjects_of(study.trials))
    return {subject: SUBJECT_PAGES / f"{name}.html" for subject, name in names.items()}


def has_multiverse(study: Study) -> bool:
    """Return True where alternatives and contrasts of numbers are declared."""
    return bool(study.settings.multiverse.alternatives) and bool(study.settings.contrasts.of_numbers)


def multiverse_figures(study: Study) -> list[Path]:
    """Specification curve of each contrast's outcomes, without the ending."""
    return [MULTIVERSE_FIGURES / f"specification_{k + 1}" for k in range(len(study.settings.contrasts.of_numbers))]


def study_figures(study: Study) -> list[Path]:
    """Figures of the study, and the captions of all figures."""
    chosen = study.settings.figures
    chains = sorted({trial.chain for trial in study.trials})
    names = [f"{kind}_{chain}" for kind in chosen.kinds if kind in STUDY_KINDS[:2] for chain in chains]
    if not study.settings.ensembles.enabled:
        names = []
    names += contrast_pictures(study).values() if "contrasts" in chosen.kinds else []
    made = [STUDY_FIGURES / f"{name}.{form}" for name in names for form in chosen.formats]
    return [*made, *[STUDY_FIGURES / "captions.md"] * bool(made)]


def multiverse_figure_files(study: Study) -> list[Path]:
    """Files of the specification curves."""
    return [Path(f"{path}.{form}") for path in multiverse_figures(study) for form in study.settings.figures.formats]


def study_files(stage: str, study: Study) -> list[Path]:
    """Output files of a stage for the whole study; empty for stages of sessions.

    `settings` stands for the start of a run, before any stage.
    """
    made = {
        "settings": [SETTINGS],
        "ensembles": [*ENSEMBLE_TABLES.values()] * study.settings.ensembles.enabled,
        "contrasts": [*CONTRAST_TABLES.values()] * bool(study.settings.contrasts.declared),
        "reference": [*[REFERENCE_TABLE] * study.settings.reference.is_set, *subject_pages(study).values()],
        "collect": [
            *STUDY_TABLES.values(),
            VERDICT,
            *(notes_path(trial.name) for trial in study.trials),
            *emg_outputs(study),
        ],
        "verdict": [ACCEPTED],
        "study_figures": study_figures(study),
        "report": list(REPORT.values()),
        "multiverse": [*MULTIVERSE.values(), *multiverse_figure_files(study)] if has_multiverse(study) else [],
    }
    return made.get(stage, [])


def study_record_path(stage: str) -> Path:
    """Path of a stage's record of files of the whole study, written last."""
    return RESULTS / "records" / f"{stage}.json"


def needed(stage: str, trials: Sequence[Trial]) -> list[str]:
    """Stages whose tables a stage reads; figures need muscles only if drawn."""
    drawn = any(
        "muscles" in trial.settings.figures.kinds
        or ("emg" in trial.settings.figures.kinds and trial.settings.emg.channels)
        for trial in trials
    )
    return [source for source in SOURCES.get(stage, ()) if stage != "figures" or source != "muscles" or drawn]


def stages_of(study: Study) -> list[str]:
    """Stages of a study in execution order."""
    return [
        *(stage for stage in SESSION_STAGES if sessions_of(stage, study)),
        *["ensembles"] * study.settings.ensembles.enabled,
        "collect",
        *["contrasts"] * bool(study.settings.contrasts.declared),
        *["reference"] * study.settings.reference.is_set,
        "verdict",
        *["study_figures"] * bool(study_figures(study)),
        *["report"] * study.settings.report.enabled,
        *["multiverse"] * has_multiverse(study),
    ]


def all_study_files(study: Study) -> list[tuple[str, Path]]:
    """Files of the whole study, each with its stage."""
    return [(stage, path) for stage in ("settings", *stages_of(study)) for path in study_files(stage, study)]

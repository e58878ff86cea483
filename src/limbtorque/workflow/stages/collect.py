"""Session records -> summary, ledger, data dictionary and provenance of the study."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from limbtorque import __version__
from limbtorque.analysis.muscles import muscle_set_of
from limbtorque.analysis.verdict import metrics_of, outside_window
from limbtorque.emg.summary import over_study
from limbtorque.motion.limb import Limb
from limbtorque.quality.ledger_columns import LEDGER_COLUMNS, QUALITY_COLUMNS
from limbtorque.quality.verdict import Verdict
from limbtorque.report.methods.page import methods_page
from limbtorque.statistics.by_condition import ConditionSummary, flexion_positive, per_body_mass
from limbtorque.statistics.mean_and_spread import unit_of_spread
from limbtorque.study.files import whole_file, write_text
from limbtorque.study.options.motion import BodySegments
from limbtorque.study.settings import Settings, flattened, settings_hash
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import csv_pieces, read_rows, table_of_rows, write_table
from limbtorque.tables.frame_columns import file_columns
from limbtorque.tables.muscle_columns import (
    EMG_AGREEMENT,
    EMG_BY_MUSCLE_COLUMNS,
    EMG_CO_CONTRACTION_COLUMNS,
    EMG_SUMMARY_COLUMNS,
)
from limbtorque.tables.study_columns import (
    BANDS,
    BESIDE_FILE_COLUMNS,
    CONDITION_SUMMARY_COLUMNS,
    CONTACT_STATISTICS,
    CONTACT_SUMMARY_COLUMNS,
    CURVE_COLUMNS,
    DICTIONARY_COLUMNS,
    ENSEMBLE_COLUMNS,
    MUSCLE_STATISTICS,
    MUSCLE_SUMMARY_COLUMNS,
    STATISTICS,
    SUMMARY_COLUMNS,
    WINDOW_COLUMNS,
    curve_columns,
)
from limbtorque.tables.trial_record import RecordingFacts, TrialRecord
from limbtorque.tables.workbook import summary_sheets, wide_columns, write_workbook
from limbtorque.workflow.keys import SECTIONS, code_key
from limbtorque.workflow.layout import EMG_TABLES, ENSEMBLE_TABLES, STUDY_TABLES, TABLE_STAGES, WORKBOOK, emg_outputs
from limbtorque.workflow.records import SessionRecords
from limbtorque.workflow.results_folder import move_left_over
from limbtorque.workflow.run_session import identity, verdict_of, whole_study
from limbtorque.workflow.stages import kinematics, muscles, torques

LIBRARIES = (
    "c3d",
    "ezc3d",
    "matplotlib",
    "numpy",
    "openpyxl",
    "pandas",
    "plotly",
    "pyarrow",
    "pydantic",
    "scipy",
    "snakemake",
)

EMG_COLUMNS = {
    "emg_summary": EMG_SUMMARY_COLUMNS,
    "emg_by_muscle": EMG_BY_MUSCLE_COLUMNS,
    "emg_co_contraction": EMG_CO_CONTRACTION_COLUMNS,
}
_NOT_READ = RecordingFacts("")  # of a trial whose recording could not be read


def run(*, folder: Path, key: str = "") -> None:
    """Make the tables of the study from the session records only."""
    study = whole_study("collect", folder=folder, key=key)
    move_left_over(study, folder)
    options = study.settings.ensembles
    unit = unit_of_spread(options.spread_over, (trial.subject.name for trial in study.trials))
    by_condition = ConditionSummary(include=options.include, spread_over=unit, min_units=options.min_units)
    all_records, rows_of = SessionRecords(study, folder), TrialRows(study.settings)
    ledger, anatomical, sources = [], [], {}
    emg: dict[str, list[dict[str, Any]]] = {"emg_summary": [], "emg_co_contraction": []}
    with (
        csv_pieces(folder / STUDY_TABLES["ledger"], LEDGER_COLUMNS) as write_ledger,
        csv_pieces(folder / STUDY_TABLES["summary"], SUMMARY_COLUMNS) as write_summary,
        csv_pieces(folder / STUDY_TABLES["muscle_summary"], MUSCLE_SUMMARY_COLUMNS) as write_muscles,
        csv_pieces(folder / STUDY_TABLES["contact_summary"], CONTACT_SUMMARY_COLUMNS) as write_contact,
        csv_pieces(folder / STUDY_TABLES["beside_file"], BESIDE_FILE_COLUMNS) as write_beside_file,
    ):
        for trial in study.trials:
            records = {stage: all_records.of(stage, trial) for stage in TABLE_STAGES}
            verdict = verdict_of(trial, records)
            ledger.append(_ledger_row(study, trial, records, verdict))
            write_ledger(ledger[-1:])
            summary = (_summary_row(trial, row, verdict) for row in records["torques"].summary)
            rows = per_body_mass(summary, trial.subject.mass_kg)
            write_summary(rows)
            motion = records["kinematics"].motion
            turned = flexion_positive(rows, motion.flexion_signs if motion else {})
            by_condition.add(turned)
            anatomical += turned if study.settings.tables.xlsx else []
            write_muscles([_muscle_row(trial, row, verdict) for row in records["muscles"].summary])
            contact = records["muscles"].contact_summary
            write_contact([_muscle_row(trial, row, verdict, CONTACT_STATISTICS) for row in contact])
            emg["emg_summary"] += [_emg_row(trial, row, verdict) for row in records["muscles"].emg]
            emg["emg_co_contraction"] += [{**identity(trial), **row} for row in records["muscles"].co_contraction]
            write_beside_file([_with_status(trial, row, verdict) for row in records["torques"].beside_file])
            sources[trial.name] = _source(study, trial, records, rows_of)
    write_table(
        table_of_rows(CONDITION_SUMMARY_COLUMNS, by_condition.rows()), folder / STUDY_TABLES["summary_by_condition"]
    )
    if emg_outputs(study):
        emg["emg_by_muscle"] = over_study(emg["emg_summary"])
        for name, columns in EMG_COLUMNS.items():
            write_table(table_of_rows(columns, emg[name]), folder / EMG_TABLES[name])
    write_table(table_of_rows(DICTIONARY_COLUMNS, _dictionary(study, folder)), folder / STUDY_TABLES["dictionary"])
    if study.settings.tables.xlsx:
        write_workbook(folder / WORKBOOK, summary_sheets(_joints(study), anatomical, ledger, LEDGER_COLUMNS))
    provenance = _provenance(study, sources)
    with whole_file(folder / STUDY_TABLES["provenance"]) as part, part.open("w", encoding="utf-8") as file:
        json.dump(provenance, file, indent=1, sort_keys=True)
        file.write("\n")
    windows = _windows(folder / ENSEMBLE_TABLES["windows"]) if study.settings.ensembles.enabled else []
    page = methods_page(provenance, ledger, windows)
    write_text(folder / STUDY_TABLES["methods"], page)


def _windows(path: Path) -> list[dict[str, str]]:
    """Rows of `results/windows.csv`; none where it was not made."""
    return read_rows(path) if path.is_file() else []


def _source(study: Study, trial: Trial, records: Mapping[str, TrialRecord], rows_of: TrialRows) -> dict[str, Any]:
    """Entry of a trial in `results/provenance.json`."""
    recording = records["kinematics"].recording or _NOT_READ
    return {
        "file": _relative(trial.file, study.folder),
        "sha256": recording.sha256,
        "forces_file": _relative(trial.forces_file, study.folder) if trial.forces_file else "",
        "forces_sha256": recording.forces_sha256,
        "static_file": _relative(trial.static_file, study.folder) if trial.static_file else "",
        "static_sha256": recording.static_sha256,
        "stages": records["muscles"].provenance,
        "muscle_set": _muscle_set_key(study, trial),
        "row": rows_of.of(trial),
    }


def _ledger_row(study: Study, trial: Trial, records: Mapping[str, TrialRecord], verdict: Verdict) -> dict[str, Any]:
    last, motion = records["muscles"], records["kinematics"].motion
    recording = records["kinematics"].recording or _NOT_READ
    metrics, flags = _with_joints(records), verdict.flags
    notes = [note for record in records.values() for note in record.notes]
    names = [column.name for column in QUALITY_COLUMNS]
    return {
        **identity(trial),
        "file": _relative(trial.file, study.folder),
        "forces_file": _relative(trial.forces_file, study.folder) if trial.forces_file else "",
        "status": verdict.status,
        "torque_status": verdict.torques,
        "muscle_status": verdict.muscles,
        "rejected_joints": " ".join(verdict.rejected_joints),
        "rejected_by": " ".join(verdict.rejected_by),
        "reason": " ".join(filter(None, (last.reason, *verdict.names))),
        "message": "; ".join(filter(None, (last.message, *(flag.sentence for flag in flags)))),
        **{name: metrics.get(name, float("nan")) for name in names},
        "plane": motion.plane_view if motion else "",
        "input_sha256": recording.sha256,
        "forces_sha256": recording.forces_sha256,
        "static_file": _relative(trial.static_file, study.folder) if trial.static_file else "",
        "static_sha256": recording.static_sha256,
        "guesses": "; ".join(f"{guess.item}: {guess.interpretation}" for guess in recording.audit.guesses),
        "notes": "; ".join(
            [*notes, *filter(None, (outside_window(records, trial.settings, verdict), trial.subject.note, trial.note))]
        ),
    }


def _with_joints(records: Mapping[str, TrialRecord]) -> dict[str, float]:
    """Metrics of a trial; the largest of those with a value for each joint."""
    by_joint = records["torques"].joint_metrics
    return metrics_of(records) | {name: max(values.values()) for name, values in by_joint.items() if values}


def _with_status(trial: Trial, row: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    """Row of a joint with the columns of its trial and its status."""
    return {**identity(trial), "torque_status": verdict.joints.get(row["joint"], verdict.torques), **row}


def _summary_row(trial: Trial, row: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    """Row of `results/summary.csv` with the status of its joint."""
    row = _with_status(trial, row, verdict)
    return _usable(row, (*STATISTICS, *BANDS), row["torque_status"])


def _muscle_row(
    trial: Trial, row: Mapping[str, Any], verdict: Verdict, statistics: Sequence[Column] = MUSCLE_STATISTICS
) -> dict[str, Any]:
    """Row of a summary with the status of the muscle forces."""
    return {**identity(trial), "muscle_status": verdict.muscles, **_usable({**row}, statistics, verdict.muscles)}


def _emg_row(trial: Trial, row: Mapping[str, Any], verdict: Verdict) -> dict[str, Any]:
    """Row of `results/emg_summary.csv`; without agreement where it is rejected."""
    own = {**identity(trial), "muscle_status": verdict.muscles, **row}
    if verdict.muscles == "rejected":
        own["not_compared"] = row["not_compared"] or "muscle forces rejected"
    return _usable(own, EMG_AGREEMENT, verdict.muscles)


def _usable(row: dict[str, Any], statistics: Sequence[Column], status: str) -> dict[str, Any]:
    """Row of a summary; its statistics are empty where it is rejected."""
    if status != "rejected":
        return row
    return {**row, **{column.name: "" if column.kind is str else float("nan") for column in statistics}}


def _joints(study: Study) -> list[list[str]]:
    """Names of the joints of every chain of the study."""
    chains = dict.fromkeys(trial.chain for trial in study.trials)
    return [[joint.name for joint in study.settings.chain(chain).joints] for chain in chains]


def _muscle_sets(study: Study) -> dict[str, dict[str, Any]]:
    """Muscle sets by chain: name, own file, number of trials, muscles by source."""
    sets: dict[str, dict[str, Any]] = {}
    for trial in study.trials:
        key = _muscle_set_key(study, trial)
        if key in sets:
            sets[key]["n_trials"] += 1
            continue
        chosen = muscle_set_of(Limb.of(trial), trial.settings, study.folder) if key else None
        if chosen is None:
            continue
        where = trial.settings.muscle_set(trial.chain, study.folder)
        sources: dict[str, dict[str, Any]] = {}
        for muscle in chosen.crossing([joint.name for joint in trial.settings.chain(trial.chain).joints]).muscles:
            found = sources.setdefault(json.dumps(muscle.source, sort_keys=True), {**muscle.source, "muscles": []})
            found["muscles"].append(muscle.name)
        sets[key] = {
            "chain": trial.chain,
            "name": chosen.name,
            "file": _relative(where, study.folder) if isinstance(where, Path) else "",
            "n_trials": 1,
            "sources": list(sources.values()),
        }
    return sets


def _muscle_set_key(study: Study, trial: Trial) -> str:
    """Chain and muscle set of a trial for `provenance.json`; empty without one."""
    where = trial.settings.muscle_set(trial.chain, study.folder)
    if not where:
        return ""
    return f"{trial.chain}: {_relative(where, study.folder) if isinstance(where, Path) else where}"


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()


def _dictionary(study: Study, folder: Path) -> list[dict[str, str]]:
    """Every column of every table, once."""
    chosen: dict[tuple[str, str], dict[Column, None]] = {}

    def add(table: str, columns: Iterable[Column]) -> None:
        for column in columns:
            chosen.setdefault((table, column.name), {})[column] = None

    seen = set()
    for trial in study.trials:
        kind = str(
            (
                trial.chain,
                trial.settings.chains,
                trial.settings.muscles,
                trial.settings.torques,
                trial.settings.emg.muscles,
            )
        )
        if kind not in seen:
            seen.add(kind)
            add("kinematics", kinematics.columns(trial))
            add("torques", torques.columns(trial))
            add("muscles", muscles.columns(trial, folder))
    add("summary", SUMMARY_COLUMNS)
    add("summary_by_condition", CONDITION_SUMMARY_COLUMNS)
    add("muscle_summary", MUSCLE_SUMMARY_COLUMNS)
    add("contact_summary", CONTACT_SUMMARY_COLUMNS)
    for name, emg_columns in EMG_COLUMNS.items() if emg_outputs(study) else ():
        add(name, emg_columns)
    for joints in _joints(study):
        add("kinematics", file_columns(joints))
    add("compared_with_file", BESIDE_FILE_COLUMNS)
    add("ledger", LEDGER_COLUMNS)
    if study.settings.ensembles.enabled:
        add("curves", CURVE_COLUMNS)
        add("ensembles", ENSEMBLE_COLUMNS)
        add("windows", WINDOW_COLUMNS)
        for chain in dict.fromkeys(trial.chain for trial in study.trials):
            per_body_mass = study.settings.ensembles.per_body_mass
            add("curves.quantity", curve_columns(study.settings.chain(chain).joints, per_body_mass=per_body_mass))
    if study.settings.tables.xlsx:
        for joints in _joints(study):
            add("summary.xlsx", wide_columns(joints))
    add("data_dictionary", DICTIONARY_COLUMNS)
    return [
        {
            "table": table,
            "column": name,
            "unit": next(iter(columns)).unit,
            "definition": _either(column.definition for column in columns),
            "sign": _either(column.sign for column in columns),
        }
        for (table, name), columns in chosen.items()
    ]


def _either(texts: Iterable[str]) -> str:
    """Return the text of all trials, or the texts of some."""
    different = list(dict.fromkeys(texts))
    return different[0] if len(different) == 1 else "depends on the trial: " + " | ".join(different)


def _segment_table(options: BodySegments) -> dict[str, dict[str, Any]]:
    """Rows of the study's table of segment parameters, by sex where they differ."""
    women, men = options.parameters("f"), options.parameters("m")
    return {
        name: {
            key: value if value == vars(men[name])[key] else {"f": value, "m": vars(men[name])[key]}
            for key, value in vars(row).items()
        }
        for name, row in women.items()
    }


def _provenance(study: Study, sources: dict[str, Any]) -> dict[str, Any]:
    settings = study.settings.model_dump(mode="json")
    return {
        "program": {"name": "limbtorque", "version": __version__},
        "code": {stage: code_key(stage) for stage in ("kinematics", "torques", "muscles", "ensembles", "collect")},
        "python": platform.python_version(),
        "libraries": {name: metadata.version(name) for name in LIBRARIES},
        "settings": settings,
        "settings_hash": settings_hash(study.settings, tuple(settings)),
        "sections": {stage: list(names) for stage, names in SECTIONS.items()},
        "segment_table": _segment_table(study.settings.segments),
        "muscle_sets": _muscle_sets(study),
        "trials": sources,
    }


class TrialRows:
    """Rows of the trials of a study.

    Parameters
    ----------
    study : Settings
        The study's settings.
    """

    def __init__(self, study: Settings) -> None:
        self._whole = flattened(study.model_dump(mode="json"))
        self._options: dict[int, dict[str, Any]] = {}  # by the settings that trials have in common

    def of(self, trial: Trial) -> dict[str, Any]:
        """Entries of a trial in the tables.

        ``options`` has the options that differ from the study's, by their dotted names; None for entries of the study's
        mappings, such as weights of muscles, that the trial does not have.
        """
        if id(trial.settings) not in self._options:
            self._options[id(trial.settings)] = self._own(trial.settings)
        return {
            "body_mass_kg": trial.subject.mass_kg,
            "measured": trial.subject.measured,
            "marker_set": trial.marker_set,
            "prefix": trial.prefix,
            "load": trial.load,
            "start_s": trial.start_s,
            "end_s": trial.end_s,
            "options": self._options[id(trial.settings)],
        }

    def _own(self, settings: Settings) -> dict[str, Any]:
        own = flattened(settings.model_dump(mode="json"))
        left_out = [
            name for name in self._whole if name not in own and not any(one.startswith(f"{name}.") for one in own)
        ]
        return {
            **{name: value for name, value in own.items() if self._whole.get(name) != value},
            **dict.fromkeys(left_out),
        }

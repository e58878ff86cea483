"""Session records -> summary, ledger, data dictionary and provenance of the study."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from limbtorque import __version__
from limbtorque.analysis.muscles import muscle_set_of
from limbtorque.analysis.reading import limb_of
from limbtorque.analysis.verdict import metrics_of, outside_window
from limbtorque.emg.summary import over_study
from limbtorque.quality.metric_columns import METRIC_COLUMNS, QUALITY_COLUMNS
from limbtorque.quality.verdict import Verdict
from limbtorque.report.methods.page import methods_page
from limbtorque.statistics.by_condition import ConditionSummary, per_body_mass
from limbtorque.statistics.mean_and_spread import unit_of_spread
from limbtorque.study.files import whole_file, write_text
from limbtorque.study.options.motion import BodySegments
from limbtorque.study.settings import Settings, flattened, settings_hash
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables import contrast_columns, ledger_columns, muscle_columns, reference_columns, study_columns
from limbtorque.tables.column import MUSCLE_STATUS, TORQUE_STATUS, TRIAL_COLUMNS, Column, empty_row, listed, row_of
from limbtorque.tables.compared_columns import BESIDE_FILE_COLUMNS
from limbtorque.tables.data_package import data_package
from limbtorque.tables.effect_columns import EFFECT_COLUMNS
from limbtorque.tables.files import csv_pieces, notes_text, read_rows, table_of_rows, write_table
from limbtorque.tables.frame_columns import file_columns
from limbtorque.tables.multiverse_columns import MULTIVERSE_COLUMNS, UNIVERSE_COLUMNS, option_columns
from limbtorque.tables.trial_record import RecordingFacts, TrialRecord
from limbtorque.workflow.frozen import declared_as
from limbtorque.workflow.keys import SECTIONS, code_key
from limbtorque.workflow.layout import (
    EMG_TABLES,
    ENSEMBLE_TABLES,
    NOTES,
    RESULTS,
    STUDY_TABLES,
    TABLE_STAGES,
    VERDICT,
    added_tables,
    all_study_files,
    emg_outputs,
    has_multiverse,
    notes_path,
)
from limbtorque.workflow.records import SessionRecords
from limbtorque.workflow.results_folder import move_left_over
from limbtorque.workflow.run_session import LIBRARIES as TRIAL_LIBRARIES
from limbtorque.workflow.run_session import verdict_of, whole_study
from limbtorque.workflow.stages import kinematics, muscles, torques
from limbtorque.workflow.stages.verdict import verdict_text

LIBRARIES = (*TRIAL_LIBRARIES, "matplotlib", "pandas", "plotly", "pydantic", "snakemake")
BY_TRIAL = {
    "results": study_columns.RESULTS_COLUMNS,
    "ledger": ledger_columns.LEDGER_COLUMNS,
    "metrics": METRIC_COLUMNS,
    "summary": study_columns.SUMMARY_COLUMNS,
    "summary_bands": study_columns.SUMMARY_BANDS_COLUMNS,
    "muscle_summary": study_columns.MUSCLE_SUMMARY_COLUMNS,
    "contact_summary": study_columns.CONTACT_SUMMARY_COLUMNS,
    "beside_file": BESIDE_FILE_COLUMNS,
}
EMG_COLUMNS = {
    "emg_summary": muscle_columns.EMG_SUMMARY_COLUMNS,
    "emg_by_muscle": muscle_columns.EMG_BY_MUSCLE_COLUMNS,
    "emg_co_contraction": muscle_columns.EMG_CO_CONTRACTION_COLUMNS,
}
_NOT_READ = RecordingFacts("")  # of a trial whose recording could not be read
Rows = list[dict[str, Any]]


def run(*, folder: Path, key: str = "") -> None:
    """Write the tables of the study from the session records."""
    study = whole_study("collect", folder=folder, key=key)
    (folder / NOTES).mkdir(parents=True, exist_ok=True)
    move_left_over(study, folder)
    options = study.settings.ensembles
    unit = unit_of_spread(options.spread_over, (trial.subject.name for trial in study.trials))
    by_condition = ConditionSummary(include=options.include, spread_over=unit, min_units=options.min_units)
    all_records = SessionRecords(study, folder)
    study_options = flattened(study.settings.model_dump(mode="json"))
    changed_options: dict[int, dict[str, Any]] = {}  # by the settings that trials have in common
    described: Rows = []  # the ledger with metrics and notes
    emg: dict[str, Rows] = {"emg_summary": [], "emg_co_contraction": []}
    sources = {}
    with ExitStack() as stack:
        write = {
            name: stack.enter_context(csv_pieces(folder / STUDY_TABLES[name], columns))
            for name, columns in BY_TRIAL.items()
        }
        for trial in study.trials:
            records = {stage: all_records.of(stage, trial) for stage in TABLE_STAGES}
            verdict = verdict_of(trial, records)
            rows = _rows(trial, records, verdict, folder)
            notes = [*_notes(trial, records, verdict), *about_peaks(rows["results"], trial.settings)]
            for name, write_rows in write.items():
                write_rows(rows[name])
            for name, emg_rows in emg.items():
                emg_rows += rows[name]
            _write_changed(folder / notes_path(trial.name), notes_text(notes, _guesses(records)))
            described.append({**rows["metrics"][0], **rows["ledger"][0], "notes": "; ".join(notes)})
            by_condition.add(rows["summary"])
            if id(trial.settings) not in changed_options:
                changed_options[id(trial.settings)] = _changed_options(trial.settings, study_options)
            sources[trial.name] = _source(trial, records, folder, changed_options[id(trial.settings)])
    tables: dict[Path, tuple[Sequence[Column], Sequence[Mapping[str, Any]]]]
    tables = {STUDY_TABLES["summary_by_condition"]: (study_columns.CONDITION_SUMMARY_COLUMNS, by_condition.rows())}
    if emg_outputs(study):
        emg["emg_by_muscle"] = over_study(emg["emg_summary"])
        tables |= {EMG_TABLES[name]: (columns, emg[name]) for name, columns in EMG_COLUMNS.items()}
    for path, (columns, table_rows) in tables.items():
        write_table(table_of_rows(columns, table_rows), folder / path)
    provenance = _provenance(study, sources)
    _write_json(folder / STUDY_TABLES["provenance"], provenance)
    _write_dictionary(study, folder)
    windows = folder / ENSEMBLE_TABLES["windows"]
    curves = read_rows(windows) if options.enabled and windows.is_file() else []
    write_text(folder / STUDY_TABLES["methods"], methods_page(provenance, described, curves))
    text, _ = verdict_text(study.settings, folder)
    write_text(folder / VERDICT, text)


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file of JSON, piece by piece."""
    with whole_file(path) as part, part.open("w", encoding="utf-8") as file:
        json.dump(content, file, indent=1, sort_keys=True)
        file.write("\n")


def _write_changed(path: Path, text: str) -> None:
    """Write a text unless the file has it already.

    A file that replaces another is written to disk at once (ext4).
    """
    if not path.is_file() or path.read_bytes() != text.encode():
        write_text(path, text)


def _rows(trial: Trial, records: Mapping[str, TrialRecord], verdict: Verdict, folder: Path) -> dict[str, Rows]:
    """Rows of a trial in the tables of the study; rejected statistics are empty."""
    torques, muscles = records["torques"], records["muscles"]
    about = row_of(TRIAL_COLUMNS, trial)

    def of_joint(row: Mapping[str, Any]) -> dict[str, Any]:
        return {**about, TORQUE_STATUS.name: verdict.joints.get(row["joint"], verdict.torques), **row}

    def of_muscles(row: Mapping[str, Any], statistics: Sequence[Column]) -> dict[str, Any]:
        return _usable({**about, **row_of([MUSCLE_STATUS], verdict), **row}, statistics, verdict.muscles)

    net = [of_joint(row) for row in torques.summary]
    net = [_usable(row, (*study_columns.STATISTICS, *study_columns.BANDS), row[TORQUE_STATUS.name]) for row in net]
    why = "muscle forces rejected" if verdict.muscles == "rejected" else ""
    return {
        "results": _result_rows(trial, verdict, net),
        "ledger": [_ledger_row(trial, records, verdict, folder)],
        "metrics": _metric_rows(trial, records),
        "summary": per_body_mass(net, trial.subject.mass_kg),
        "summary_bands": net,
        "muscle_summary": [of_muscles(row, study_columns.MUSCLE_STATISTICS) for row in muscles.summary],
        "contact_summary": [of_muscles(row, study_columns.CONTACT_STATISTICS) for row in muscles.contact_summary],
        "beside_file": [of_joint(row) for row in torques.beside_file],
        "emg_summary": [
            of_muscles({**row, "not_compared": row["not_compared"] or why}, muscle_columns.EMG_AGREEMENT)
            for row in muscles.emg
        ],
        "emg_co_contraction": [{**about, **row} for row in muscles.co_contraction],
    }


def _usable(row: dict[str, Any], statistics: Sequence[Column], status: str) -> dict[str, Any]:
    """Row of a summary; its statistics are empty where it is rejected."""
    if status != "rejected":
        return row
    return {**row, **empty_row(statistics)}


def _source(
    trial: Trial, records: Mapping[str, TrialRecord], folder: Path, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Entry of a trial in `results/provenance.json`, with its changed options."""
    recording = records["kinematics"].recording or _NOT_READ
    return {
        **_files(trial, folder),
        **row_of(ledger_columns.HASH_COLUMNS[1:], recording),
        "sha256": recording.sha256,
        "stages": records["muscles"].provenance,
        "muscle_set": _muscle_set_key(trial, folder),
        "row": {
            "body_mass_kg": trial.subject.mass_kg,
            "measured": trial.subject.measured,
            "marker_set": trial.marker_set,
            "prefix": trial.prefix,
            "load": trial.load,
            "start_s": trial.start_s,
            "end_s": trial.end_s,
            "options": options,
        },
    }


def _changed_options(settings: Settings, study_options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a trial that differ from the study's, by their dotted names.

    None for entries of mappings, such as muscle weights, that the trial lacks.
    """
    options = flattened(settings.model_dump(mode="json"))
    changed = {name: value for name, value in options.items() if study_options.get(name) != value}
    missing = [name for name in study_options if name not in options]
    return changed | {name: None for name in missing if not any(one.startswith(f"{name}.") for one in options)}


def _files(trial: Trial, folder: Path) -> dict[str, str]:
    """Files of a trial, as in the table of trials."""
    files = row_of(ledger_columns.FILE_COLUMNS, trial)
    return {name: _relative(path, folder) if path else "" for name, path in files.items()}


def _result_rows(trial: Trial, verdict: Verdict, net: Sequence[Mapping[str, Any]]) -> Rows:
    """Rows of `results.csv`: net torques over the window of the trial."""
    mass_kg, rows = trial.subject.mass_kg, []
    of_joint = {row["joint"]: row for row in net if row["term"] == "net" and row["window"] != study_columns.STANCE}
    about = row_of((*TRIAL_COLUMNS, study_columns.BODY_MASS), trial) | row_of([TORQUE_STATUS], verdict)
    about |= empty_row([study_columns.WINDOW, study_columns.USED_SHARE])
    for joint in trial.settings.chain(trial.chain).joints:
        row = of_joint.get(joint.name, {"joint": joint.name})
        values = {c.name: c.of(row, mass_kg) for c in study_columns.RESULTS_COLUMNS if c.source}
        rows.append({**about, **row, **values})
    return rows


def about_peaks(results: Iterable[Mapping[str, Any]], settings: Settings) -> list[str]:
    """Notes on peaks that are empty, or whose true size is not known.

    Parameters
    ----------
    results : iterable of mapping
        Rows of `results.csv` of a trial, with the columns of the summary.
    settings : Settings
        Those of the trial.
    """
    joints: dict[str, list[str]] = {}
    for row in results:
        if row[TORQUE_STATUS.name] in ("rejected", "failed"):
            notes = [f"no peaks: {row[TORQUE_STATUS.name]} (ledger.csv)"]
        elif math.isnan(row["flexion_peak_nm_kg"]):
            known = f"{row[study_columns.USED_SHARE.name]:.0%} of the window are used, expected {settings.ensembles.min_known_share:.0%}"
            notes = [f"no peaks, as {known} (ensembles.min_known_share)"]
        else:
            cut = [name.replace("_", " ") for name, (of, _) in study_columns.PEAKS.items() if row[f"{of}_at_gap"]]
            notes = [f"the {name} is beside frames that were not used: the true one may be larger" for name in cut]
        for note in notes:
            joints.setdefault(note, []).append(row["joint"])
    return [f"results.csv, {listed(names)}: {note}" for note, names in joints.items()]


def _metric_rows(trial: Trial, records: Mapping[str, TrialRecord]) -> Rows:
    """Rows of `metrics.csv`: the trial with its worst joint, then each joint."""
    by_joint = {name: values for name, values in records["torques"].joint_metrics.items() if values}
    whole = metrics_of(records) | {name: max(values.values()) for name, values in by_joint.items()}
    rows: Rows = [{"joint": "", **whole}]
    for joint in (joint.name for joint in trial.settings.chain(trial.chain).joints):
        rows.append({"joint": joint} | {name: values[joint] for name, values in by_joint.items() if joint in values})
    return [{**row_of(TRIAL_COLUMNS[:1], trial), **empty_row(QUALITY_COLUMNS), **row} for row in rows]


def _notes(trial: Trial, records: Mapping[str, TrialRecord], verdict: Verdict) -> list[str]:
    """Notes of the analysis and of the study on the trial."""
    notes = [note for record in records.values() for note in record.notes]
    return [*notes, *filter(None, (outside_window(records, trial.settings, verdict), trial.subject.note, trial.note))]


def _guesses(records: Mapping[str, TrialRecord]) -> list[str]:
    """Assumptions about the recording that the file does not state."""
    recording = records["kinematics"].recording or _NOT_READ
    return [f"{guess.item}: {guess.interpretation}" for guess in recording.audit.guesses]


@dataclass(frozen=True)
class _Outcome:
    """Reasons and notes of a trial for the ledger.

    Attributes
    ----------
    reasons : tuple of str
        Type of failure, and names of the flags.
    message : str
        Description of the failure and of the flags.
    plane : str
        Anatomical plane of motion; empty if not known.
    n_guesses : int
        Number of assumptions about the recording.
    notes : str
        Path of the text file with the notes, in the folder of results.
    """

    reasons: tuple[str, ...]
    message: str
    plane: str
    n_guesses: int
    notes: str


def _ledger_row(trial: Trial, records: Mapping[str, TrialRecord], verdict: Verdict, folder: Path) -> dict[str, Any]:
    last, motion = records["muscles"], records["kinematics"].motion
    outcome = _Outcome(
        reasons=tuple(filter(None, (last.reason, *verdict.names))),
        message="; ".join(filter(None, (last.message, *(flag.sentence for flag in verdict.flags)))),
        plane=motion.plane_view if motion else "",
        n_guesses=len(_guesses(records)),
        notes=notes_path(trial.name).relative_to(RESULTS).as_posix(),
    )
    return {
        **row_of(TRIAL_COLUMNS, trial),
        **_files(trial, folder),
        **row_of(ledger_columns.STATUS_COLUMNS, verdict),
        **row_of(ledger_columns.HASH_COLUMNS, records["kinematics"].recording or _NOT_READ),
        **row_of(ledger_columns.OUTCOME_COLUMNS, outcome),
    }


def _joints(study: Study) -> list[list[str]]:
    """Names of the joints of every chain of the study."""
    chains = dict.fromkeys(trial.chain for trial in study.trials)
    return [[joint.name for joint in study.settings.chain(chain).joints] for chain in chains]


def _muscle_sets(study: Study) -> dict[str, dict[str, Any]]:
    """Muscle sets by chain: name, user's file, number of trials, muscles by source."""
    sets: dict[str, dict[str, Any]] = {}
    for trial in study.trials:
        key = _muscle_set_key(trial, study.folder)
        if key in sets:
            sets[key]["n_trials"] += 1
            continue
        chosen = muscle_set_of(limb_of(trial), trial.settings, study.folder) if key else None
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


def _muscle_set_key(trial: Trial, folder: Path) -> str:
    """Chain and muscle set of a trial for `provenance.json`; empty without one."""
    where = trial.settings.muscle_set(trial.chain, folder)
    if not where:
        return ""
    return f"{trial.chain}: {_relative(where, folder) if isinstance(where, Path) else where}"


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()


def _all_columns(study: Study, folder: Path) -> Iterator[tuple[str, Iterable[Column]]]:
    """Every table with its columns; tables may occur several times."""
    kinds: dict[tuple[object, ...], Trial] = {}  # trials with the same options share their sections
    for trial in study.trials:
        options = trial.settings
        sections = options.chains, options.muscles, options.torques, options.emg
        kinds.setdefault((trial.chain, *map(id, sections)), trial)
    for trial in kinds.values():
        yield "kinematics", kinematics.columns(trial, folder)
        yield "torques", torques.columns(trial, folder)
        for end in added_tables(trial):
            yield f"torques{end}", torques.added_columns(trial)[end]
        yield "muscles", muscles.columns(trial, folder)
    yield "effects", EFFECT_COLUMNS
    yield from ((STUDY_TABLES[name].stem, columns) for name, columns in BY_TRIAL.items())
    yield "summary_by_condition", study_columns.CONDITION_SUMMARY_COLUMNS
    yield from EMG_COLUMNS.items() if emg_outputs(study) else ()
    for names in _joints(study):
        yield "kinematics", file_columns(names)
    if study.settings.ensembles.enabled:
        yield "curves", study_columns.CURVE_COLUMNS
        yield "ensembles", study_columns.ENSEMBLE_COLUMNS
        yield "windows", study_columns.WINDOW_COLUMNS
        for chain in dict.fromkeys(trial.chain for trial in study.trials):
            per_body_mass = study.settings.ensembles.per_body_mass
            joints = study.settings.chain(chain).joints
            yield "curves.quantity", study_columns.curve_columns(joints, per_body_mass=per_body_mass)
    if study.settings.contrasts.declared:
        yield "contrasts", contrast_columns.CONTRAST_COLUMNS
        yield "contrast_curves", contrast_columns.CONTRAST_CURVE_COLUMNS
    if study.settings.reference.is_set:
        yield "compared_with_reference", reference_columns.REFERENCE_COLUMNS
    if has_multiverse(study):
        yield "universes", UNIVERSE_COLUMNS
        yield "multiverse", (*MULTIVERSE_COLUMNS, *option_columns(study.settings.multiverse.alternatives))
    yield "data_dictionary", study_columns.DICTIONARY_COLUMNS


def _write_dictionary(study: Study, folder: Path) -> None:
    """Write the data dictionary, and the study's CSV tables as a Data Package."""
    chosen: dict[str, dict[str, dict[Column, None]]] = {}
    for table, columns in _all_columns(study, folder):
        for column in columns:
            chosen.setdefault(table, {}).setdefault(column.name, {})[column] = None
    merged = {table: [_merged(list(columns)) for columns in by_name.values()] for table, by_name in chosen.items()}
    described = study_columns.DICTIONARY_COLUMNS
    rows = [
        {described[0].name: table, **row_of(described, column)}
        for table, columns in merged.items()
        for column in columns
    ]
    write_table(table_of_rows(described, rows), folder / STUDY_TABLES["dictionary"])
    of_run = [path.name for stage, path in all_study_files(study) if path.parent == RESULTS and stage != "multiverse"]
    files = {f"{table}.csv": columns for table, columns in merged.items() if f"{table}.csv" in of_run}
    _write_json(folder / STUDY_TABLES["package"], data_package(files))


def _merged(columns: Sequence[Column]) -> Column:
    """Return a column with the definitions and signs of all trials."""
    texts = (_either(column.definition for column in columns), _either(column.sign for column in columns))
    return replace(columns[0], definition=texts[0], sign=texts[1])


def _either(texts: Iterable[str]) -> str:
    """Return the common text of all trials, or the texts of groups of trials."""
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
        "contrasts": declared_as(study, study.folder),
        "sections": {stage: list(names) for stage, names in SECTIONS.items()},
        "segment_table": _segment_table(study.settings.segments),
        "muscle_sets": _muscle_sets(study),
        "trials": sources,
    }

"""Tables of trials -> `results/report/trials`: the page of every trial."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from limbtorque.analysis.verdict import metrics_of, outside_window
from limbtorque.recordings.recording import Audit
from limbtorque.report.panels import Drawing, draw_trial, drawn_columns
from limbtorque.report.trial import TrialContents, trial_page
from limbtorque.statistics.by_condition import per_body_mass
from limbtorque.study.files import write_text
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow.layout import RESULTS, TABLE_STAGES, drawn_kinds, figure_path, page_path, trial_files
from limbtorque.workflow.run_session import TrialTables, finish, planned_study, verdict_of

UP = "../../../"  # from a page to the folder of results


def run(*, folder: Path, session: str, key: str) -> None:
    """Write the pages of a session."""
    study = planned_study("pages", folder=folder, session=session, key=key)
    tables = TrialTables(study)
    for trial in study.batches[session]:
        path = folder / page_path(session, trial.name)
        if trial.settings.report.enabled:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, trial_page(contents(study, session, trial, tables)))
    finish("pages", study, session, [])


def contents(study: Study, session: str, trial: Trial, source: TrialTables) -> TrialContents:
    """Contents of the page of a trial, from its tables."""
    model = trial.settings.chain(trial.chain)
    wanted = drawn_columns([joint.name for joint in model.joints])
    read = {stage: source.read(stage, trial, columns=wanted) for stage in TABLE_STAGES}
    records = {stage: record for stage, (_, record) in read.items()}
    kinematics, last = records["kinematics"], records["muscles"]
    metrics, verdict = metrics_of(records), verdict_of(trial, records)
    drawing: Drawing | None = None
    if kinematics.motion and not records["torques"].failed:
        drawing = draw_trial(
            *(table for table, _ in read.values()),
            model=model,
            motion=vars(kinematics.motion),
            window=records["torques"].window,
            emg=[row for row in last.emg if row["window"] == last.emg[0]["window"]],
        )
    audit = kinematics.recording.audit if kinematics.recording else Audit()
    notes = [note for record in records.values() for note in record.notes if note not in audit.sentences]
    notes += filter(None, (outside_window(records, trial.settings, verdict), trial.subject.note, trial.note))
    tables = {f"{stage}{path.suffix}": path for stage in TABLE_STAGES for path in trial_files(stage, session, trial)}
    chosen = trial.settings.figures
    pictures = {
        f"figure: {kind}" + (f" ({form})" if len(chosen.formats) > 1 else ""): figure_path(
            kind, session, trial.name, f".{form}"
        )
        for kind in drawn_kinds(trial, verdict)
        for form in chosen.formats
    }
    return TrialContents(
        name=trial.name,
        title=study.settings.title,
        verdict=verdict,
        reason=last.reason,
        message=last.message,
        about=_about(trial, kinematics, metrics, study.folder),
        metrics={name: {"": math.nan if value is None else value} for name, value in metrics.items()}
        | {
            name: {joint.name: of[joint.name] for joint in model.joints if joint.name in of}
            for name, of in records["torques"].joint_metrics.items()
        },
        audit=[vars(finding) for finding in audit.findings],
        notes=notes,
        summary=per_body_mass(records["torques"].summary, trial.subject.mass_kg),
        beside_file=records["torques"].beside_file,
        tables=_links(tables),
        pictures=_links(pictures) if drawing else {},
        provenance=_provenance(records),
        drawing=drawing,
    )


def _about(trial: Trial, record: TrialRecord, metrics: dict[str, float], folder: Path) -> dict[str, str]:
    motion = record.motion
    found = {
        "subject": f"{trial.subject.name}, {trial.subject.mass_kg:g} kg",
        "session": trial.session,
        "condition": trial.condition,
        "limb": f"{trial.side} {trial.chain}",
        "load": trial.load,
        "plane": motion.plane_view if motion else "",
        "recording": ", ".join(  # without the place of the study on this machine
            file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
            for file in trial.named_files
        ),
    }
    if motion:
        cutoffs = [f"{value:.3g}" for value in motion.cutoff_hz]
        found["frames"] = f"{metrics['n_frames']:.0f} of {metrics['n_frames_recorded']:.0f} at {motion.rate_hz:g} Hz"
        found["cut-off"] = f"{', '.join(cutoffs)} Hz" if cutoffs else "no filter"
    return {name: text for name, text in found.items() if text}


def _links(paths: Mapping[str, Path]) -> dict[str, str]:
    """Links from a page to result files, by link text."""
    return {name: UP + path.relative_to(RESULTS).as_posix() for name, path in paths.items()}


def _provenance(records: dict[str, TrialRecord]) -> dict[str, str]:
    recording, stages = records["kinematics"].recording, records["muscles"].provenance
    names = {"recording": "sha256", "forces": "forces_sha256", "static trial": "static_sha256"}
    hashes = {name: getattr(recording, field) for name, field in names.items()} if recording else {}
    found = {f"sha256 of the {name}": value for name, value in hashes.items() if value}
    for stage, entry in stages.items():
        found |= {f"{stage}, {name}": entry[name] for name in ("settings", "code") if name in entry}
    versions = stages.get("kinematics", {})
    return found | {name: text for name, text in versions.items() if name not in ("settings", "code")}

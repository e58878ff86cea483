"""`results/kinematics`, `torques`, `muscles` -> `results/report/trials`: the page of every trial."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from limbtorque.recordings.audit import Audit, Finding
from limbtorque.report.panels import Drawing, draw_trial, drawn_columns
from limbtorque.report.trial import TrialContents, trial_page
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.checks import Flag, assess
from limbtorque.tables.files import read_table
from limbtorque.workflow.batch import announce, finish, planned_study
from limbtorque.workflow.layout import RESULTS, figure_path, stage_outputs, table_path

STAGES = ("kinematics", "torques", "muscles")
UP = "../../"  # from a page to the folder of results


def run(*, folder: Path, batch: str, key: str) -> None:
    """Write the pages of a batch."""
    study = planned_study("pages", folder=folder, batch=batch, key=key)
    announce("pages", study, batch, folder)
    for trial in study.batches[batch]:
        for path in stage_outputs("pages", trial):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(trial_page(contents(study, trial, folder)), encoding="utf-8", newline="\n")
    finish("pages", batch, [json.dumps({"trial": trial.name}) for trial in study.batches[batch]], folder)


def contents(study: Study, trial: Trial, folder: Path) -> TrialContents:
    """What the page of a trial says, from its tables."""
    model = trial.settings.chain(trial.chain)
    wanted = drawn_columns([joint.name for joint in model.joints])
    read = {stage: read_table(folder / table_path(stage, trial.name), columns=wanted) for stage in STAGES}
    tables, kept = ({stage: found[part] for stage, found in read.items()} for part in (0, 1))
    motion = kept["kinematics"].get("motion", {})
    figures: dict[str, float] = {
        **motion.get("quality", {}),
        **kept["torques"].get("quality", {}),
        **kept["muscles"].get("quality", {}),
    }
    flags = assess(figures, trial.settings.quality) if kept["torques"]["status"] != "failed" else []
    drawing: Drawing | None = None
    if kept["torques"]["status"] != "failed":
        drawing = draw_trial(*(tables[stage] for stage in STAGES), model=model, motion=motion)
    audit = kept["kinematics"].get("audit", [])
    told = set(Audit(tuple(Finding(**found) for found in audit)).sentences)  # by the page's table
    said = [note for stage in STAGES for note in kept[stage].get("notes", []) if note not in told]
    return TrialContents(
        name=trial.name,
        title=study.settings.title,
        status=_status(kept["muscles"], flags),
        reason=kept["muscles"].get("reason", ""),
        message=kept["muscles"].get("message", ""),
        about=_about(trial, motion, figures, folder),
        flags=flags,
        metrics={name: math.nan if value is None else value for name, value in figures.items()},
        audit=audit,
        notes=[*said, *filter(None, (trial.subject.note, trial.note))],
        summary=kept["torques"].get("summary", []),
        tables=_tables(trial),
        pictures=_pictures(trial) if drawing else {},
        provenance=_provenance(kept),
        drawing=drawing,
    )


def _status(last: dict[str, Any], flags: list[Flag]) -> str:
    return "failed" if last["status"] == "failed" else "flagged" if flags else "ok"


def _about(trial: Trial, motion: dict[str, Any], figures: dict[str, float], folder: Path) -> dict[str, str]:
    mass = f", {trial.subject.mass_kg:g} kg"
    found = {
        "subject": trial.subject.name + mass,
        "session": trial.session,
        "condition": trial.condition,
        "limb": f"{trial.side} {trial.chain}",
        "load": trial.load,
        "plane": motion.get("plane_view", ""),
        "recording": ", ".join(_relative(file, folder) for file in trial.files),
    }
    if motion:
        cutoffs = [f"{value:.3g}" for value in motion["cutoff_hz"]]
        found["frames"] = f"{figures['n_frames']:.0f} of {figures['n_frames_recorded']:.0f} at {motion['rate_hz']:g} Hz"
        found["cut-off"] = f"{', '.join(cutoffs)} Hz" if cutoffs else "no filter"
    return {name: text for name, text in found.items() if text}


def _relative(path: Path, folder: Path) -> str:
    """Path of a recording as the page says it: nothing of where the study lies on this machine."""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def _tables(trial: Trial) -> dict[str, str]:
    return {
        f"{stage}{path.suffix}": UP + path.relative_to(RESULTS).as_posix()
        for stage in STAGES
        for path in stage_outputs(stage, trial)
    }


def _pictures(trial: Trial) -> dict[str, str]:
    chosen = trial.settings.figures
    return {
        f"figure: {kind}" + (f" ({form})" if len(chosen.formats) > 1 else ""): UP
        + figure_path(kind, trial.name, f".{form}").relative_to(RESULTS).as_posix()
        for kind in chosen.kinds
        for form in chosen.formats
    }


def _provenance(kept: dict[str, dict[str, Any]]) -> dict[str, str]:
    hashes = {
        "recording": kept["kinematics"].get("input_sha256", ""),
        "forces": kept["kinematics"].get("forces_sha256", ""),
    }
    found = {f"sha256 of the {name}": value for name, value in hashes.items() if value}
    for stage, entry in kept["muscles"]["provenance"].items():
        found |= {f"{stage}, {name}": entry[name] for name in ("settings", "code") if name in entry}
    versions = kept["muscles"]["provenance"].get("kinematics", {})
    return found | {name: text for name, text in versions.items() if name not in ("settings", "code")}

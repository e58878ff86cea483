"""Tables of trials -> `results/figures`: the figures of every trial."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from limbtorque.figures.muscle_figures import emg_figure, muscle_figure
from limbtorque.figures.panels import reused_figures
from limbtorque.figures.quality_figures import cutoff_figure
from limbtorque.figures.style import TWO_COLUMNS_MM, WIDTHS_MM, note_figure, save_figure
from limbtorque.figures.trial_figures import (
    kinematics_figure,
    limb_figure,
    power_figure,
    torque_figure,
)
from limbtorque.motion.table import choice_of
from limbtorque.study.trials import Trial
from limbtorque.tables.files import read_extremes
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow.layout import drawn_kinds, figure_path, needed, session_files
from limbtorque.workflow.run_session import TrialTables, finish, planned_study, verdict_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 40_000  # of a table that is drawn frame by frame: a picture is some 1400 pixels wide


def run(*, folder: Path, session: str, key: str) -> None:
    """Draw the figures of a session."""
    study = planned_study("figures", folder=folder, session=session, key=key)
    for path in session_files("figures", study, session):
        (folder / path).unlink(missing_ok=True)  # not all are drawn again
    tables = TrialTables(study)
    made: list[Path] = []
    with reused_figures():
        for trial in study.batches[session]:
            records = {name: tables.read_record(name, trial) for name in needed("figures", [trial])}
            for kind in drawn_kinds(trial, verdict_of(trial, records)):
                figure = trial_figure(kind, trial, tables, records)
                paths = [figure_path(kind, session, trial.name, f".{form}") for form in trial.settings.figures.formats]
                for path in paths:
                    save_figure(figure, folder / path, palette=True)
                made += paths
    finish("figures", study, session, [], files=made)


def trial_figure(kind: str, trial: Trial, tables: TrialTables, records: Mapping[str, TrialRecord]) -> Figure:
    """Draw a figure of a trial, given its records by stage."""
    what, stage = DRAWN[kind]
    title = f"{trial.name}: {what}, {trial.side} {trial.chain}" + (f", {trial.condition}" if trial.condition else "")
    record, kinematics = records[stage], records["kinematics"]
    width_mm, only = WIDTHS_MM[trial.settings.figures.width], trial.settings.figures.joints
    if record.failed or kinematics.motion is None:
        return note_figure(f"{title}: not analysed: {record.message}", width_mm=width_mm)
    if rejected := verdict_of(trial, records).rejected_joints:
        title += f" - REJECTED, do not use: {', '.join(rejected)}"
    table, step = pa.table({}), 1
    if kind != "cutoff":  # which the record has
        table, step = read_extremes(tables.path(stage, trial), at_most=MOST_ROWS)
    if step > 1:
        title += f"; long trial: minima and maxima of every {step} frames"
    motion, model = kinematics.motion, trial.settings.chain(trial.chain)
    page: dict[str, Any] = {"title": title, "width_mm": width_mm}
    if kind in TERMS:
        return TERMS[kind](table, model=model, flexion_sign=motion.flexion_sign, only=only, **page)
    if kind == "kinematics":
        page |= {"flexion_sign": motion.flexion_sign, "flexion_zero_rad": motion.flexion_zero_rad}
        return kinematics_figure(table, model=model, **page)
    if kind == "limb":
        return limb_figure(table, model=model, title=title, width_mm=width_mm if width_mm < TWO_COLUMNS_MM else None)
    if kind == "cutoff":
        choices = [choice_of(choice) for choice in motion.cutoffs]
        if not choices:
            why_not = "no filter, or too few frames to choose a cut-off"
            return note_figure(f"{title}: not drawn: {why_not}", width_mm=width_mm)
        names = [*(joint.name for joint in model.joints), "endpoint"] if len(choices) > 1 else ["all joint centres"]
        noise_m = kinematics.metrics["noise_m"]
        return cutoff_figure(choices, used_hz=motion.cutoff_hz, names=names, unit="m", noise=noise_m, only=only, **page)
    column, why_not = {
        "muscles": ("_activation", "muscle forces are switched off"),
        "emg": ("_envelope", "no electromyography"),
    }[kind]
    if not any(name.endswith(column) for name in table.column_names):
        return note_figure(f"{title}: not drawn: {why_not}", width_mm=width_mm)
    if kind == "muscles":
        return muscle_figure(table, **page)
    return emg_figure(table, [row for row in record.emg if row["window"] == record.emg[0]["window"]], **page)


TERMS = {"torques": torque_figure, "power": power_figure}
DRAWN = {
    "torques": ("net joint torque and its terms", "torques"),
    "kinematics": ("flexion", "kinematics"),
    "power": ("power of the net joint torques", "torques"),
    "limb": ("the limb in the plane of motion", "kinematics"),
    "muscles": ("muscle forces", "muscles"),
    "emg": ("electromyography and predicted activations", "muscles"),
    "cutoff": ("cut-off of the filter", "kinematics"),
}

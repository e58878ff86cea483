"""Tables of trials -> `results/figures`: the figures of every trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from limbtorque.figures.muscle_figures import emg_figure, muscle_figure
from limbtorque.figures.panels import reused_figures
from limbtorque.figures.quality_figures import cutoff_figure
from limbtorque.figures.style import ONE_COLUMN_MM, WIDTHS_MM, failure_figure, save_figure
from limbtorque.figures.trial_figures import (
    contributions_figure,
    kinematics_figure,
    limb_figure,
    power_figure,
    torque_figure,
)
from limbtorque.motion.table import choice_of
from limbtorque.study.chains import ChainModel
from limbtorque.study.trials import Trial
from limbtorque.tables.files import read_extremes
from limbtorque.tables.trial_record import MotionConstants, TrialRecord
from limbtorque.workflow.layout import drawn_kinds, figure_path, needed, session_files
from limbtorque.workflow.run_session import TrialTables, finish, planned_study, verdict_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 40_000  # of a table that is drawn frame by frame: a picture is some 1400 pixels wide


@dataclass(frozen=True)
class _Drawn:
    """Input of a figure of a trial."""

    trial: Trial
    model: ChainModel
    title: str
    kinematics: TrialRecord
    motion: MotionConstants
    width_mm: float
    table: pa.Table
    record: TrialRecord


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
    what, stage, draw = DRAWN[kind]
    title = f"{trial.name}: {what}, {trial.side} {trial.chain}" + (f", {trial.condition}" if trial.condition else "")
    record, kinematics = records[stage], records["kinematics"]
    if record.failed or kinematics.motion is None:
        return failure_figure(title, record.message)
    if rejected := verdict_of(trial, records).rejected_joints:
        title += f" - REJECTED, do not use: {', '.join(rejected)}"
    width_mm = WIDTHS_MM[trial.settings.figures.width]

    table, step = pa.table({}), 1
    if kind != "cutoff":  # which the record has
        table, step = read_extremes(tables.path(stage, trial), at_most=MOST_ROWS)
    if step > 1:
        title += f"; a long trial: the least and greatest values of every {step} frames"
    return draw(
        _Drawn(trial, trial.settings.chain(trial.chain), title, kinematics, kinematics.motion, width_mm, table, record)
    )


def _terms(draw: Callable[..., Figure]) -> Callable[[_Drawn], Figure]:
    """Return the function that draws torque terms."""

    def figure(of: _Drawn) -> Figure:
        sign = of.motion.flexion_sign
        return draw(of.table, title=of.title, model=of.model, flexion_sign=sign, width_mm=of.width_mm)

    return figure


def _kinematics(of: _Drawn) -> Figure:
    return kinematics_figure(
        of.table,
        title=of.title,
        model=of.model,
        flexion_sign=of.motion.flexion_sign,
        flexion_zero_rad=of.motion.flexion_zero_rad,
        width_mm=of.width_mm,
    )


def _power(of: _Drawn) -> Figure:
    return power_figure(of.table, title=of.title, model=of.model, width_mm=of.width_mm)


def _limb(of: _Drawn) -> Figure:
    return limb_figure(of.table, title=of.title, model=of.model)


def _muscles(of: _Drawn) -> Figure:
    table = of.table
    if not any(name.endswith("_activation") for name in table.column_names):
        return failure_figure(of.title, "no muscle forces were asked for", what="not drawn")
    at_most = 8 if of.width_mm > ONE_COLUMN_MM else 4  # as many as a page holds
    return muscle_figure(table, title=of.title, at_most=at_most, width_mm=of.width_mm)


def _emg(of: _Drawn) -> Figure:
    if not any(name.endswith("_envelope") for name in of.table.column_names):
        return failure_figure(of.title, "no electromyography", what="not drawn")
    first = [row for row in of.record.emg if row["window"] == of.record.emg[0]["window"]]
    return emg_figure(of.table, first, title=of.title, width_mm=of.width_mm)


def _cutoff(of: _Drawn) -> Figure:
    choices = [choice_of(choice) for choice in of.motion.cutoffs]
    if not choices:
        return failure_figure(of.title, "no filter, or too few frames to tell a cut-off from them", what="not drawn")
    names = [*(joint.name for joint in of.model.joints), "endpoint"] if len(choices) > 1 else ["all joint centres"]
    return cutoff_figure(
        choices,
        used_hz=of.motion.cutoff_hz,
        names=names,
        title=of.title,
        unit="m",
        noise=of.kinematics.metrics["noise_m"],
        width_mm=of.width_mm,
    )


DRAWN: dict[str, tuple[str, str, Callable[[_Drawn], Figure]]] = {
    "torques": ("net joint torque and its terms", "torques", _terms(torque_figure)),
    "contributions": ("contributions to the net joint torque", "torques", _terms(contributions_figure)),
    "kinematics": ("flexion", "kinematics", _kinematics),
    "power": ("power of the net joint torques", "torques", _power),
    "limb": ("the limb in the plane of motion", "kinematics", _limb),
    "muscles": ("muscle forces", "muscles", _muscles),
    "emg": ("electromyography and predicted activations", "muscles", _emg),
    "cutoff": ("cut-off of the filter", "kinematics", _cutoff),
}

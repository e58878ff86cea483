"""`results/kinematics`, `results/torques`, `results/muscles` -> `results/figures`: the figures of every trial."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from limbtorque.figures.cutoff_figures import cutoff_figure
from limbtorque.figures.motion_figures import kinematics_figure, limb_figure, power_figure
from limbtorque.figures.muscle_figures import muscle_figure
from limbtorque.figures.style import ONE_COLUMN_MM, WIDTHS_MM, failure_figure, save
from limbtorque.figures.torque_figures import contributions_figure, torque_figure
from limbtorque.motion.table import choice_of
from limbtorque.study.chains import ChainModel
from limbtorque.study.trials import Trial
from limbtorque.tables.files import read_meta, read_table
from limbtorque.workflow.batch import announce, finish, planned_study
from limbtorque.workflow.layout import figure_path, table_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class _Drawn:
    """What a figure of a trial is made of."""

    trial: Trial
    model: ChainModel
    title: str
    motion: dict[str, Any]
    width_mm: float
    table: Callable[[str], pa.Table]


def run(*, folder: Path, batch: str, key: str) -> None:
    """Draw the figures of a batch."""
    study = planned_study("figures", folder=folder, batch=batch, key=key)
    announce("figures", study, batch, folder)
    for trial in study.batches[batch]:
        for kind in trial.settings.figures.kinds:
            figure = _figure(kind, trial, folder)
            for form in trial.settings.figures.formats:
                save(figure, folder / figure_path(kind, trial.name, f".{form}"))
    finish("figures", batch, [json.dumps({"trial": trial.name}) for trial in study.batches[batch]], folder)


def _figure(kind: str, trial: Trial, folder: Path) -> Figure:
    what, stage, draw = DRAWN[kind]
    title = f"{trial.name}: {what}, {trial.side} {trial.chain}" + (f", {trial.condition}" if trial.condition else "")
    kept = read_meta(folder / table_path(stage, trial.name))
    if kept["status"] == "failed":
        return failure_figure(title, kept["message"])
    motion = read_meta(folder / table_path("kinematics", trial.name))["motion"]
    width_mm = WIDTHS_MM[trial.settings.figures.width]

    def table(name: str) -> pa.Table:
        return read_table(folder / table_path(name, trial.name))[0]

    return draw(_Drawn(trial, trial.settings.chain(trial.chain), title, motion, width_mm, table))


def _terms(draw: Callable[..., Figure]) -> Callable[[_Drawn], Figure]:
    """What a figure of torque terms is made of."""

    def figure(of: _Drawn) -> Figure:
        sign = of.motion["flexion_sign"]
        return draw(of.table("torques"), title=of.title, model=of.model, flexion_sign=sign, width_mm=of.width_mm)

    return figure


def _kinematics(of: _Drawn) -> Figure:
    return kinematics_figure(
        of.table("kinematics"),
        title=of.title,
        model=of.model,
        flexion_sign=of.motion["flexion_sign"],
        flexion_zero_rad=of.motion["flexion_zero_rad"],
        width_mm=of.width_mm,
    )


def _power(of: _Drawn) -> Figure:
    return power_figure(of.table("torques"), title=of.title, model=of.model, width_mm=of.width_mm)


def _limb(of: _Drawn) -> Figure:
    return limb_figure(of.table("kinematics"), title=of.title, model=of.model)


def _muscles(of: _Drawn) -> Figure:
    table = of.table("muscles")
    if not any(name.endswith("_activation") for name in table.column_names):
        return failure_figure(of.title, "no muscle forces were asked for", what="not drawn")
    at_most = 8 if of.width_mm > ONE_COLUMN_MM else 4  # as many as a page holds
    return muscle_figure(table, title=of.title, at_most=at_most, width_mm=of.width_mm)


def _cutoff(of: _Drawn) -> Figure:
    choices = [choice_of(choice) for choice in of.motion["cutoffs"]]
    if not choices:
        return failure_figure(of.title, "no filter, or too few frames to tell a cut-off from them", what="not drawn")
    names = [*(joint.name for joint in of.model.joints), "endpoint"] if len(choices) > 1 else ["all joint centres"]
    return cutoff_figure(
        choices,
        used_hz=of.motion["cutoff_hz"],
        names=names,
        title=of.title,
        unit="m",
        noise=of.motion["quality"]["noise_m"],
        width_mm=of.width_mm,
    )


DRAWN: dict[str, tuple[str, str, Callable[[_Drawn], Figure]]] = {
    "torques": ("net joint torque and its terms", "torques", _terms(torque_figure)),
    "contributions": ("contributions to the net joint torque", "torques", _terms(contributions_figure)),
    "kinematics": ("flexion", "kinematics", _kinematics),
    "power": ("power of the net joint torques", "torques", _power),
    "limb": ("the limb in the plane of motion", "kinematics", _limb),
    "muscles": ("muscle forces", "muscles", _muscles),
    "cutoff": ("cut-off of the filter", "kinematics", _cutoff),
}

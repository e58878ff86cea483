"""`results/kinematics`, `results/torques` -> `results/figures`: the figures of every trial."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from limbtorque.figures import cutoff_figure, failure_figure, save, torque_figure
from limbtorque.motion_table import choice_of
from limbtorque.stages.batch import announce, finish, planned_study
from limbtorque.stages.layout import figure_path, table_path
from limbtorque.study import Trial
from limbtorque.tables import read_meta, read_table


def run(*, folder: Path, batch: str, key: str) -> None:
    """Draw the figures of a batch."""
    study = planned_study("figures", folder=folder, batch=batch, key=key)
    announce("figures", study, study.batches[batch], folder)
    for trial in study.batches[batch]:
        chosen = trial.settings.figures
        for kind in chosen.kinds:
            figure = DRAWN[kind](trial, folder)
            for form in chosen.formats:
                save(figure, folder / figure_path(kind, trial.name, f".{form}"))
    finish("figures", batch, study.batches[batch], folder)


def _torques(trial: Trial, folder: Path) -> Figure:
    table, kept = read_table(folder / table_path("torques", trial.name))
    title = f"{trial.name}: net joint torque and its terms, {trial.side} {trial.chain}, {trial.condition}"
    if kept["status"] == "failed":
        return failure_figure(title, kept["message"])
    motion = read_meta(folder / table_path("kinematics", trial.name))["motion"]
    model = trial.settings.chain(trial.chain)
    return torque_figure(table, title=title, model=model, flexion_sign=motion["flexion_sign"])


def _cutoff(trial: Trial, folder: Path) -> Figure:
    kept = read_meta(folder / table_path("kinematics", trial.name))
    title = f"{trial.name}: cut-off"
    if kept["status"] == "failed":
        return failure_figure(title, kept["message"])
    choices = [choice_of(choice) for choice in kept["motion"]["cutoffs"]]
    if not choices:
        return failure_figure(title, "no filter, or too few frames to tell a cut-off from them", what="not drawn")
    joints = trial.settings.chain(trial.chain).joints
    names = [*(joint.name for joint in joints), "endpoint"] if len(choices) > 1 else ["all joint centres"]
    return cutoff_figure(choices, used_hz=kept["motion"]["cutoff_hz"], names=names, title=title, unit="m")


DRAWN = {"torques": _torques, "cutoff": _cutoff}

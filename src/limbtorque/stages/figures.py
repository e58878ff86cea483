"""`results/torques` -> `results/figures`: a figure of every trial."""

from __future__ import annotations

from pathlib import Path

from limbtorque.figures import failure_figure, save, torque_figure
from limbtorque.stages.batch import announce, finish, planned_study
from limbtorque.stages.layout import stage_outputs, table_path
from limbtorque.tables import read_table


def run(*, folder: Path, batch: str, key: str) -> None:
    """Draw the figures of a batch."""
    study = planned_study("figures", folder=folder, batch=batch, key=key)
    announce("figures", study, study.batches[batch], folder)
    for trial in study.batches[batch]:
        table, kept = read_table(folder / table_path("torques", trial.name))
        title = f"{trial.name}: net joint torque and its terms, {trial.side} {trial.chain}, {trial.condition}"
        if kept["status"] == "failed":
            figure = failure_figure(title, kept["message"])
        else:
            _, motion = read_table(folder / table_path("kinematics", trial.name))
            figure = torque_figure(
                table,
                title=title,
                model=trial.settings.chain(trial.chain),
                flexion_sign=motion["motion"]["flexion_sign"],
            )
        for path in stage_outputs("figures", trial):
            save(figure, folder / path)
    finish("figures", batch, study.batches[batch], folder)

"""`results/kinematics`, `torques` -> `results/curves`: trials over 0 to 100 %."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.errors import LimbtorqueError
from limbtorque.statistics.by_condition import included
from limbtorque.statistics.gait import UNKNOWN_GAIT, gait_values
from limbtorque.statistics.windows import resample
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.study.trials import Trial
from limbtorque.tables.column import TORQUE_STATUS, TRIAL_COLUMNS, Column, row_of
from limbtorque.tables.files import arrow_array, column_values, long_table_writer, make_table, read_table, repeated
from limbtorque.tables.study_columns import CURVE_COLUMNS, OWNERS, curve_columns
from limbtorque.tables.trial_record import MotionConstants
from limbtorque.uncertainty.bands import sd_by_owner
from limbtorque.workflow.layout import curves_path
from limbtorque.workflow.run_session import LOG, TrialTables, finish, planned_study, verdict_of


def columns(trial: Trial) -> list[Column]:
    """Quantities of a trial's curves."""
    options = trial.settings.ensembles
    return curve_columns(trial.settings.chain(trial.chain).joints, per_body_mass=options.per_body_mass)


def trial_curve(trial: Trial, tables: TrialTables) -> tuple[dict[str, Any], FloatArray | None]:
    """Curves of a trial over the window in its record.

    Parameters
    ----------
    trial : Trial
        The trial.
    tables : TrialTables
        Its tables of kinematics and torques.

    Returns
    -------
    row : dict
        Its row of `results/windows.csv`, with the reason where there are no curves.
    curves : ndarray of shape (4, n_points, n_quantities) or None
        The quantities of `tables.study_columns.curve_columns`, and their standard deviations by the owners of the errors
        (`uncertainty.bands.OWNERS`); NaN where not known.
    """
    options, names = trial.settings.ensembles, _names(trial)
    joints = [joint.name for joint in trial.settings.chain(trial.chain).joints]
    first = f"{joints[0]}_position_x_m"
    wanted = [
        "time_s",
        "edge",
        first,
        *(f"{joint}_{what}" for joint in joints for what in ("angle_rad", "velocity_rad_s")),
    ]
    moving, kinematics = tables.read("kinematics", trial, columns=wanted)
    net = [name for joint in joints for name in net_columns(joint)]
    wanted = [*(name for name in names if name.endswith(("_nm", "_w"))), *net]
    torques, record = tables.read("torques", trial, columns=lambda name: name in wanted)
    verdict = verdict_of(trial, {"kinematics": kinematics, "torques": record})
    row = row_of(TRIAL_COLUMNS, trial) | row_of([TORQUE_STATUS], verdict) | {"window": options.window, "included": 0}
    row["rejected_joints"] = " ".join(joint for joint, status in verdict.joints.items() if status == "rejected")
    row |= {**dict.fromkeys(("start_s", "end_s", "known_share"), float("nan")), "cycle": 0, "n_cycles": 0, "events": ""}
    row |= UNKNOWN_GAIT
    window, motion = record.window, kinematics.motion
    if record.failed or motion is None or window is None:
        return {**row, "note": f"the trial failed: {record.reason}"}, None
    row |= {"start_s": window.start_s, "end_s": window.end_s, "note": window.note}
    if window.note:
        return row, None
    row |= {"cycle": window.cycle, "n_cycles": window.n_cycles, "events": window.events}
    time_s = column_values(moving, "time_s")
    row |= gait_values(time_s, column_values(moving, first), window, trial.settings)
    left_out = [joint for joint, status in verdict.joints.items() if not included(status, options.include)]
    if len(left_out) == len(joints):
        note = "rejected" if verdict.torques == "rejected" else "caution, and ensembles.include is ok"
        return {**row, "note": note}, None
    points = {"start_s": window.start_s, "end_s": window.end_s}
    values, errors = (
        resample(time_s, each, **points, n_points=options.n_points)
        for each in (_quantities(trial, moving, torques, motion), _errors(trial, moving, torques, joints))
    )
    kept = np.array([not name.startswith(tuple(f"{joint}_" for joint in left_out)) for name in names])
    values[:, ~kept] = np.nan
    of_torques = kept & ["_torque_" in name for name in names]
    known = float((~np.isnan(values[:, of_torques])).all(axis=1).mean())
    notes = [f"left out by its status: {', '.join(left_out)}"] if left_out else []
    notes += ["no torque in part of the curve: at the ends of the recording, or not known there"] if known < 1.0 else []
    # the errors at the places of the net torques among the quantities
    spread = np.full((len(OWNERS), *values.shape), np.nan)
    places = [names.index(f"{joint}_torque_nm") for joint in joints]
    spread[..., places] = errors.reshape(len(errors), len(OWNERS), -1).swapaxes(0, 1)
    row |= {"included": 1, "known_share": known, "note": "; ".join(notes)}
    return row, np.concatenate([values[np.newaxis], spread])


def _names(trial: Trial) -> list[str]:
    """Names of a trial's quantities before division by body mass."""
    return [c.name for c in curve_columns(trial.settings.chain(trial.chain).joints, per_body_mass=False)]


def _quantities(trial: Trial, moving: pa.Table, torques: pa.Table, motion: MotionConstants) -> FloatArray:
    """Quantities of every frame, flexion positive; NaN at the ends of the trial."""
    mass = trial.subject.mass_kg if trial.settings.ensembles.per_body_mass else 1.0
    values: dict[str, FloatArray] = {}
    for joint, sign, zero in zip(motion.joints, motion.flexion_sign, motion.flexion_zero_rad, strict=True):
        angle, velocity = (column_values(moving, f"{joint}_{what}") for what in ("angle_rad", "velocity_rad_s"))
        values[f"{joint}_flexion_deg"] = np.degrees(sign * (angle - zero))
        values[f"{joint}_velocity_deg_s"] = np.degrees(sign * velocity)
        there = [name for name in torques.column_names if name.startswith(f"{joint}_torque_")]
        for name in (name for name in there if name not in net_columns(joint)):
            values[name] = sign * column_values(torques, name) / mass
        values[f"{joint}_power_w"] = column_values(torques, f"{joint}_power_w") / mass
    matrix = np.column_stack([values[name] for name in _names(trial)])
    matrix[column_values(moving, "edge") == 1] = np.nan
    return matrix


def _errors(trial: Trial, moving: pa.Table, torques: pa.Table, joints: Sequence[str]) -> FloatArray:
    """Standard deviations of the net torques, (n_frames, 3 n_joints), owner by owner."""
    mass = trial.subject.mass_kg if trial.settings.ensembles.per_body_mass else 1.0
    found = np.full((len(OWNERS), len(joints), len(torques)), np.nan)
    for k, joint in enumerate(joints):
        if set(net_columns(joint)) <= set(torques.column_names):
            sd, *shares = (
                column_values(torques, name) / scale
                for name, scale in zip(net_columns(joint), [mass] + [1.0] * len(SOURCES), strict=True)
            )
            found[:, k] = sd_by_owner(sd, dict(zip(SOURCES, shares, strict=True)))
    found[..., column_values(moving, "edge") == 1] = np.nan
    return found.reshape(-1, len(torques)).T


def net_columns(joint: str) -> list[str]:
    """Columns of the torque table with standard deviation and shares of a net torque."""
    return [f"{joint}_torque_sd_nm", *(f"{joint}_torque_share_{source}" for source in SOURCES)]


def run(*, folder: Path, session: str, key: str) -> None:
    """Write a session's curves; its record has the rows of `results/windows.csv`."""
    study = planned_study("curves", folder=folder, session=session, key=key)
    tables, lines = TrialTables(study), []
    with long_table_writer(folder / curves_path(session), CURVE_COLUMNS) as writer:
        for trial in study.batches[session]:
            row, values = trial_curve(trial, tables)
            lines.append(json.dumps(row))
            if values is None:
                LOG.info("curves %s: left out: %s", trial.name, row["note"])
            else:
                about, (_, n_points, _) = row_of(TRIAL_COLUMNS, trial), values.shape
                data: dict[str, Any] = {name: repeated(text, values[0].size) for name, text in about.items()}
                data |= long_columns(columns(trial), n_points)
                names = ("value", *(column.name for column in OWNERS))
                data |= {name: curve.T.ravel() for name, curve in zip(names, values, strict=True)}
                writer.write_table(make_table(CURVE_COLUMNS, data))
    finish("curves", study, session, lines)


def long_columns(quantities: Sequence[Column], n_points: int) -> dict[str, Any]:
    """Columns quantity, unit and percent, quantity by quantity.

    Parameters
    ----------
    quantities : sequence of Column
        The quantities.
    n_points : int
        Number of points of each, from 0 to 100 %.
    """
    which = arrow_array(np.repeat(np.arange(len(quantities)), n_points), int)
    return {
        "quantity": arrow_array([column.name for column in quantities], str).take(which),
        "unit": arrow_array([column.unit for column in quantities], str).take(which),
        "percent": np.tile(np.linspace(0.0, 100.0, n_points), len(quantities)),
    }


def session_curves(
    trials: Sequence[Trial], path: Path, n_points: int, names: Sequence[str]
) -> Iterator[tuple[Trial, list[FloatArray]]]:
    """Read the curves of each trial of a session.

    Parameters
    ----------
    trials : sequence of Trial
        Trials of the session that have curves, in its order.
    path : Path
        Its file.
    n_points : int
        Number of points of a curve.
    names : sequence of str
        Columns of numbers to read.

    Yields
    ------
    trial : Trial
        The trial.
    values : list of ndarray of shape (n_points, n_quantities)
        Its numbers, column by column.
    """
    table = read_table(path, columns=names)[0]
    of_session = [column_values(table, name) for name in names]
    ends = np.cumsum([0, *(n_points * len(columns(trial)) for trial in trials)])
    if len(table) != ends[-1]:
        raise LimbtorqueError(
            f"{path}: {len(table)} values, expected {ends[-1]} of {len(trials)} trials; run the study again"
        )
    for trial, start, end in zip(trials, ends[:-1], ends[1:], strict=True):
        yield trial, [values[start:end].reshape(-1, n_points).T for values in of_session]

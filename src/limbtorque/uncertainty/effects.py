"""Values of net torques and terms by kind, with signed effects of input errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.chain.linear import term_rows, with_kinds
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.study.options.uncertainty import Source
from limbtorque.tables.column import Column, unit_of
from limbtorque.tables.effect_columns import EFFECT_KEYS, EFFECT_STATISTICS, EFFECT_TERMS, effect_column
from limbtorque.tables.files import empty_table, make_table
from limbtorque.tables.study_columns import MIRRORED
from limbtorque.torques.joint_torques import Torques
from limbtorque.uncertainty.bands import Direction, TorqueBands
from limbtorque.uncertainty.filter_loss import LOST_JOINTS, LOST_LOADS
from limbtorque.uncertainty.of_trial import sum_name

ROWS = [0, -3, -2, -1, -6, -5, -4]  # of `EFFECT_TERMS` among those of `linear.with_kinds`
OF_MARKERS: tuple[Source, ...] = ("joint_centres", "soft_tissue", "plane")  # new where markers are placed again
NOISE = (Direction("marker_noise"), Direction("marker_noise", "of the minimum"))  # independent, as in a range
AT_FRAMES = ("max_nm", "min_nm")
LOSSES = (LOST_JOINTS[0], LOST_LOADS[0])  # of the filter; their rates of change have no part in a sum


@dataclass(frozen=True)
class TrialEffects:
    """Values of a trial, and their changes with one standard deviation of each error.

    Attributes
    ----------
    values : mapping of str to list or ndarray
        Columns of `tables.effect_columns.EFFECT_KEYS` but the trial, flexion positive.
    columns : sequence of Column
        One for each direction; none where the trial has no bands.
    effects : ndarray of shape (n_rows, n_directions)
        Signed changes, flexion positive, in single precision: half the bytes.
    """

    values: Mapping[str, Any]
    columns: Sequence[Column]
    effects: FloatArray


def trial_effects(
    summary: Sequence[Mapping[str, Any]],
    bands: TorqueBands | None,
    motion: ChainMotion,
    torques: Torques,
    *,
    weights: Mapping[str, FloatArray],
    same_markers: bool,
) -> TrialEffects:
    """Values and effects for every window, joint, term and statistic.

    Parameters
    ----------
    summary : sequence of dict
        Rows of `torques.summary.torque_summary`.
    bands : TorqueBands or None
        Bands of the trial with sums of these weights; None without any.
    motion, torques
        The trial.
    weights : mapping of str to ndarray of shape (n_frames,)
        From `of_trial.window_weights` and `of_trial.peak_weights`.
    same_markers : bool
        The markers are those of the subject's other sessions.

    Notes
    -----
    A term's maximum and minimum are its values in the frames of the net torque's, so that values and effects add up; to first
    order it does not matter that the time is uncertain. The squares of the effects of a net torque add up to the variance of
    its bands. In a frame that of the filter is the mean over the time around: its effect has the sign of the loss in
    the frame. Noise has no sign; it is of one trial.
    """
    terms = np.nan_to_num(with_kinds(term_rows(torques.terms))[:, ROWS])
    directions = [*(each for each in bands.directions if _signed(each)), *NOISE] if bands else []
    keys: list[tuple[str, ...]] = []
    blocks = [np.zeros((0, 1 + len(directions)))]
    for row in summary:
        if row["term"] != "net":
            continue
        k = motion.joints.index(row["joint"])
        sign = float(motion.flexion.sign[k])
        for statistic in EFFECT_STATISTICS:
            name = sum_name(row, statistic if sign > 0.0 else MIRRORED[statistic][0])
            block = np.full((len(ROWS), 1 + len(directions)), np.nan)
            if name in weights and not np.isnan(row["mean_nm"]):
                frame = int(weights[name].argmax()) if statistic in AT_FRAMES else None
                block[:, 0] = terms[k] @ weights[name]
                if bands:
                    signed, noise = _effects(bands, k, name, frame)
                    block[:, 1:] = np.column_stack(
                        [signed, noise * (statistic != "min_nm"), noise * (statistic == "min_nm")]
                    )
            keys += [(row["window"], row["joint"], term, statistic) for term in EFFECT_TERMS]
            blocks.append(sign * block)
    table = np.concatenate(blocks)
    columns = [effect_column(_owner(each, same_markers), each.source, each.name) for each in directions]
    names = ("window", "joint", "term", "statistic")
    values: dict[str, Any] = {name: [key[k] for key in keys] for k, name in enumerate(names)}
    values |= {"unit": [unit_of(key[-1]) for key in keys], "value": table[:, 0]}
    return TrialEffects(values, columns, table[:, 1:].astype(np.float32))


def effects_table(effects: Mapping[str, TrialEffects]) -> pa.Table:
    """Table of the effects of input errors in the trials of a session.

    Parameters
    ----------
    effects : mapping of str to TrialEffects
        By trial.

    Returns
    -------
    pyarrow.Table
        A column for each direction of any trial: 0 in trials that do not have it, NaN in trials without bands.
    """
    columns = {column.name: column for each in effects.values() for column in each.columns}
    parts = [empty_table([*EFFECT_KEYS, *columns.values()])]
    for trial, each in effects.items():
        n = len(each.effects)
        places = {column.name: k for k, column in enumerate(each.columns)}
        missing = np.full(n, 0.0 if places else np.nan)
        values = {name: each.effects[:, places[name]] if name in places else missing for name in columns}
        parts.append(make_table([*EFFECT_KEYS, *columns.values()], {"trial": [trial] * n, **each.values, **values}))
    return pa.concat_tables(parts).combine_chunks()


def _signed(direction: Direction) -> bool:
    """False for the rates of change of the filter's loss, which are 0 in a sum."""
    return direction.source != "filter" or direction in LOSSES


def _owner(direction: Direction, same_markers: bool) -> str:
    """Trials that have the error of a direction in common."""
    return "session" if direction.source in OF_MARKERS and not same_markers else direction.shared_by


def _effects(bands: TorqueBands, k: int, name: str, frame: int | None) -> tuple[FloatArray, FloatArray]:
    """Effects on a sum over frames, or in one, of a joint's terms; those of noise.

    Shapes (n_terms, n_directions) and (n_terms,).
    """
    sums, signed = bands.sums[name], [place for place, each in enumerate(bands.directions) if _signed(each)]
    change = sums.change[k][ROWS][:, signed]
    if frame is None:
        noise = sums.variance[k, ROWS] - np.square(change).sum(axis=1)
    else:
        noise = bands.by_source["marker_noise"][k, ROWS, frame]
        lost = [n for n, place in enumerate(signed) if bands.directions[place] in LOSSES]
        if lost:
            change[:, lost] = _scaled(change[:, lost], bands.by_source["filter"][k, ROWS, frame])
    return change, np.sqrt(np.maximum(noise, 0.0))


def _scaled(effects: FloatArray, variance: FloatArray) -> FloatArray:
    """Effects scaled to a variance; where all are 0, its root is the first."""
    size = np.linalg.norm(effects, axis=1)
    shares = np.where(size[:, None] > 0.0, effects / np.where(size, size, 1.0)[:, None], np.eye(effects.shape[1])[0])
    return np.asarray(shares * np.sqrt(variance)[:, None])

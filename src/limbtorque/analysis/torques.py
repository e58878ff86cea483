"""Second step: from a limb's motion to torque terms, bands and summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import BoolArray, FloatArray, part_of, stretches
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.in_space import SpaceMotion
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import frame_values
from limbtorque.quality.metrics import judged_metrics
from limbtorque.quality.plane_difference import plane_difference
from limbtorque.statistics.windows import find_window, in_window, summary_windows, window_spans
from limbtorque.study.settings import Settings
from limbtorque.tables.files import Write, make_table
from limbtorque.tables.frame_columns import band_columns, limit_columns
from limbtorque.tables.trial_record import TrialRecord, Window
from limbtorque.torques.in_space import space_moments, space_table
from limbtorque.torques.joint_torques import Torques, joint_torques, torque_table, used_frames
from limbtorque.torques.summary import beside_file, study_rows, torque_summary
from limbtorque.uncertainty.bands import TorqueBands
from limbtorque.uncertainty.effects import TrialEffects, trial_effects
from limbtorque.uncertainty.of_trial import (
    frame_columns,
    net_limits,
    peak_weights,
    too_long,
    window_weights,
    with_bands,
    without_bands,
)
from limbtorque.uncertainty.propagation import torque_bands, trial_errors
from limbtorque.uncertainty.sampled import Draw, sampled_statistics, with_samples


@dataclass(frozen=True)
class TorqueStep:
    """Torques of a trial with their window and bands.

    Attributes
    ----------
    torques : Torques
        Torque terms.
    window : Window
        The window of its curves, or why there is none.
    bands : TorqueBands or None
        Uncertainty of the torque terms; None where `uncertainty.enabled` is off or the trial is longer than
        `uncertainty.of_trial.MAX_FRAMES`.
    band_table : pyarrow.Table or None
        Uncertainty of torques, terms and motion by frame; None without `torques.bands` and for trials without bands.
    space_table : pyarrow.Table or None
        Net moments in space by frame; None without `torques.in_space`.
    record : TrialRecord
        Metrics, notes, window and rows of the summaries.
    effects : TrialEffects
        Values of net torques and terms by kind with the effects of the errors of the inputs, for contrasts.
    """

    torques: Torques
    window: Window
    bands: TorqueBands | None
    band_table: pa.Table | None
    space_table: pa.Table | None
    record: TrialRecord
    effects: TrialEffects


def analyse_torques(
    motion: ChainMotion,
    moved: TrialRecord,
    file_results: pa.Table,
    limb: Limb,
    settings: Settings,
    *,
    filled: Callable[[], ChainMotion | None],
    in_space: Callable[[], SpaceMotion],
    summaries: bool = True,
    record: TrialRecord,
    write: Write | None = None,
) -> TorqueStep:
    """Torque terms of a motion, their bands, metrics and summary.

    Parameters
    ----------
    motion, moved, file_results
        As `analyse_motion` returns them.
    limb, settings
        Chain, side and subject; all options.
    filled : callable
        Returns the motion with spikes filled, or None where they cannot be; called only where there are spikes.
    in_space : callable
        Returns the motion in space; called only with `torques.in_space`.
    summaries : bool, optional
        Make the rows of the summaries.
    record : TrialRecord
        Name and provenance of the trial.
    write : callable, optional
        Takes the rows of the torque component table.

    Returns
    -------
    TorqueStep
        The torques and what follows from them.

    Raises
    ------
    LoadError
        No frame has a known torque.
    """
    torques, facts = joint_torques(motion), moved.recording
    used, model = used_frames(motion, torques), limb.model(settings)
    events = facts.events if facts else ()
    window = find_window(motion, used, events=events, side=limb.side, settings=settings)
    metrics, by_joint, notes = judged_metrics(motion, torques, window, limb, settings, filled=filled)
    judged = used & window.judged(motion.time_s, used)
    moments_table, of_plane, told, cost_nm = _moments_in_space(in_space, motion, torques, limb, settings, judged=judged)
    motion = replace(motion, plane_cost_nm=cost_nm)
    windows = summary_windows(motion, window, limb, settings) if summaries else {}
    spans, share = window_spans(motion, window, windows), settings.ensembles.min_known_share
    uncertain = trial_uncertainty(
        motion,
        torques,
        limb,
        settings,
        summary=torque_summary(motion, torques, windows=windows, min_known_share=share),
        windows=windows,
    )
    outputs = facts.outputs if facts and summaries else ()
    record = replace(
        record,
        metrics=metrics,
        joint_metrics={**by_joint, **of_plane},
        notes=(*notes, *told, *uncertain.notes),
        window=window,
        summary=study_rows(
            (in_window(row, spans) for row in uncertain.summary),
            model,
            flexion_sign=dict(zip(motion.joints, motion.flexion.sign.tolist(), strict=True)),
        ),
        beside_file=tuple(
            beside_file(motion, torques, file_results, outputs, window=window, mass_kg=limb.body_mass_kg)
        ),
    )
    for frames in stretches(len(motion.time_s)):
        if write:
            limits = {name: values[frames] for name, values in uncertain.limits.items()}
            write(torque_table(motion.part(frames), part_of(torques, frames), options=settings.torques, limits=limits))
    band_table = None
    if uncertain.columns:
        about = {name: values for name, values in frame_values(motion).items() if name in ("frame", "time_s")}
        band_table = make_table(band_columns(motion.joints), {**about, **uncertain.columns})
    return TorqueStep(torques, window, uncertain.bands, band_table, moments_table, record, uncertain.effects)


def _moments_in_space(
    in_space: Callable[[], SpaceMotion],
    motion: ChainMotion,
    torques: Torques,
    limb: Limb,
    settings: Settings,
    *,
    judged: BoolArray,
) -> tuple[pa.Table | None, dict[str, dict[str, float]], tuple[str, ...], FloatArray | None]:
    """Table of moments in space, metrics, notes and cost of the plane; empty if off."""
    if not settings.torques.in_space:
        return None, {}, (), None
    space = in_space()
    moments = space_moments(space, motion, limb.side)
    cost_nm = torques.terms.net - moments.torque_about_flexion_axis
    metrics, notes = plane_difference(space, moments, torques, motion, judged, body_mass_kg=limb.body_mass_kg)
    return space_table(moments, motion, torques), metrics, notes, cost_nm


@dataclass(frozen=True)
class TrialUncertainty:
    """Uncertainty of a trial's torques for its tables.

    Attributes
    ----------
    summary : sequence of dict
        Rows of the summary with the columns of their uncertainty.
    effects : TrialEffects
        Values for contrasts with the effects of the errors.
    limits : mapping of str to ndarray of shape (n_frames,)
        Limits of the net torques for the torque table; empty where `uncertainty.enabled` is off.
    columns : mapping of str to ndarray of shape (n_frames,)
        Columns of the table of bands; empty without `torques.bands`.
    notes : tuple of str
        Why there are no bands; empty where there are.
    bands : TorqueBands or None
        Bands of the torques; None without any.
    """

    summary: Sequence[Mapping[str, Any]]
    effects: TrialEffects
    limits: Mapping[str, FloatArray] = field(default_factory=dict)
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    bands: TorqueBands | None = None


def trial_uncertainty(
    motion: ChainMotion,
    torques: Torques,
    limb: Limb,
    settings: Settings,
    *,
    summary: Sequence[Mapping[str, Any]],
    windows: Mapping[str, BoolArray],
) -> TrialUncertainty:
    """Uncertainty of the torques of a trial, as requested by the settings.

    Parameters
    ----------
    motion, torques
        Motion and torques.
    limb, settings
        Limb, with the names of subject and trial by which samples share errors, and errors of the inputs.
    summary : sequence of dict
        Rows of `torques.summary.torque_summary`.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window of the summary.
    """
    options, used = settings.uncertainty, used_frames(motion, torques)
    weights = window_weights(motion, windows, used)
    all_weights = weights | peak_weights(summary, motion)
    note = too_long(motion) if options.enabled else ""
    bands = torque_bands(motion, limb, settings, weights=all_weights) if options.enabled and not note else None
    effects = trial_effects(summary, bands, motion, torques, weights=all_weights, same_markers=options.same_markers)
    if bands is None:
        empty = np.full(len(motion.time_s), np.nan)
        limits = {column.name: empty for joint in motion.joints for column in limit_columns(joint)}
        return TrialUncertainty(without_bands(summary), effects, limits if note else {}, notes=(note,) if note else ())
    rows = with_bands(summary, bands, motion, windows=windows, used=used)
    if options.samples:
        draw = Draw(options.samples, options.seed, limb.subject, limb.trial)
        errors = trial_errors(motion, limb, settings)
        statistics = sampled_statistics(errors, draw, weights=weights, windows=windows, used=used)
        rows = with_samples(rows, statistics, motion)
    columns = frame_columns(motion, torques, limb, settings, bands) if settings.torques.bands else {}
    return TrialUncertainty(rows, effects, net_limits(torques, bands, motion.joints), columns, bands=bands)

"""Uncertainty of a trial's torques: linear bands, and samples on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.study.settings import Settings
from limbtorque.tables.torque_columns import band_columns, motion_band_columns
from limbtorque.torques.joint_torques import Torques, used_frames
from limbtorque.uncertainty.agreement import band_difference
from limbtorque.uncertainty.bands import TorqueBands
from limbtorque.uncertainty.columns import band_values
from limbtorque.uncertainty.marker_noise import marker_noise
from limbtorque.uncertainty.of_motion import motion_sd, motion_values
from limbtorque.uncertainty.propagation import torque_bands, trial_errors
from limbtorque.uncertainty.random_numbers import Draw
from limbtorque.uncertainty.remedies import peak_weights, with_main_inputs, with_main_sources
from limbtorque.uncertainty.sampled_summary import sampled_statistics, with_samples
from limbtorque.uncertainty.summary import window_weights, with_bands, without_bands


@dataclass(frozen=True)
class TrialUncertainty:
    """Uncertainty of a trial's torques for its tables.

    Attributes
    ----------
    summary : sequence of dict
        Rows of the summary with the columns of their uncertainty.
    columns : mapping of str to ndarray of shape (n_frames,)
        Columns of the torque table; empty without `torques.bands`.
    by_joint : mapping of str to mapping of str to float
        Metrics with a value for each joint; empty without samples.
    notes : tuple of str
        Why there are no bands; empty where there are.
    bands : TorqueBands or None
        Bands of the torques; None without any.
    """

    summary: Sequence[Mapping[str, Any]]
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    by_joint: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
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
    judged: BoolArray,
) -> TrialUncertainty:
    """Uncertainty of the torques of a trial, as far as the settings ask for it.

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
    judged : ndarray of bool, shape (n_frames,)
        Frames by which the trial is judged.
    """
    options = settings.uncertainty
    if not options.enabled:
        return TrialUncertainty(without_bands(summary))
    if note := too_long(motion, settings):
        columns = empty_columns(motion) if settings.torques.bands else {}
        return TrialUncertainty(without_bands(summary), columns, notes=(note,))
    used = used_frames(motion, torques)
    weights = window_weights(motion, windows, used) | peak_weights(summary, motion)
    bands = torque_bands(motion, limb, settings, weights=weights)
    rows = with_bands(summary, bands, motion, windows=windows, used=used)
    rows = with_main_sources(with_main_inputs(rows, bands, motion), bands, windows, used)
    found, by_joint = None, {}
    if options.samples:
        draw, errors = (
            Draw(options.samples, options.seed, limb.subject, limb.trial),
            trial_errors(motion, limb, settings),
        )
        found = sampled_statistics(errors, draw, torques.terms.net, windows=windows, used=used)
        by_joint = {"band_difference": band_difference(bands, found, motion.joints, judged & used)}
        rows = with_samples(rows, found, motion)
    columns = frame_columns(motion, torques, limb, settings, bands) if settings.torques.bands else {}
    if columns and found is not None:
        columns |= motion_values(motion.joints, found.motion_sd)
    return TrialUncertainty(rows, columns, by_joint, bands=bands)


def too_long(motion: ChainMotion, settings: Settings) -> str:
    """Sentence about a trial that is too long for bands; empty for others."""
    n_frames, most = len(motion.time_s), settings.uncertainty.max_frames
    if n_frames <= most:
        return ""
    return f"no uncertainty: {n_frames} frames, expected at most {most}; analyse parts (start_s, end_s)"


def empty_columns(motion: ChainMotion) -> dict[str, FloatArray]:
    """Columns that `torques.bands` asks for, of a trial without bands."""
    joints, empty = motion.joints, np.full(len(motion.time_s), np.nan)
    columns = [column for joint in joints for column in (*band_columns(joint, joints), *motion_band_columns(joint))]
    return dict.fromkeys((column.name for column in columns), empty)


def frame_columns(
    motion: ChainMotion, torques: Torques, limb: Limb, settings: Settings, bands: TorqueBands
) -> dict[str, FloatArray]:
    """Columns of the torque table that `torques.bands` asks for, to first order.

    Parameters
    ----------
    motion, torques, limb, settings
        As in `trial_uncertainty`.
    bands : TorqueBands
        Bands of the torques.
    """
    noise = marker_noise(motion, limb, settings)
    sd = motion_sd(trial_errors(motion, limb, settings, noise=noise), noise)
    return band_values(motion.joints, torques, bands) | motion_values(motion.joints, sd)

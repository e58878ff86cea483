"""Motion of a limb with the ground under it and the metrics of both."""

from __future__ import annotations

from dataclasses import replace

from limbtorque.arrays import turned
from limbtorque.errors import TrialError
from limbtorque.ground.reaction import external_load, impact_times, plate_readings
from limbtorque.motion.chain_motion import ChainMotion, planar_motion
from limbtorque.motion.joint_centres import Placement, place_joints
from limbtorque.motion.limb import Limb
from limbtorque.motion.smoothing import smooth_joints
from limbtorque.quality.metrics import motion_metrics
from limbtorque.recordings.recording import Recording
from limbtorque.study.settings import Settings, override


def chain_motion(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
    study_cutoff_hz: float | None = None,
    placed: Placement | None = None,
) -> ChainMotion:
    """Motion of a limb, as a planar chain, from a recording.

    Parameters
    ----------
    recording : Recording
        Markers and force plates.
    limb : Limb
        Chain, side, subject and window.
    settings : Settings
        All options.
    study_cutoff_hz : float, optional
        Cut-off of the trials of this chain and condition, Hz, for `filter.scope` ``study``; without it the trial has its own.
    placed : Placement, optional
        Its joint centres, where they are known already; the markers of the recording are then not needed.

    Returns
    -------
    ChainMotion
        Motion of the longest stretch in which all joints are known, with its load and metrics.

    Raises
    ------
    TrialError
        The trial cannot be analysed; the message names the reason and the remedy.
    """
    placed = placed or place_joints(recording, limb, settings)
    readings = plate_readings(recording, limb, settings, placed.prepared.stretch)
    smoothed = smooth_joints(
        turned(placed.joints_m, placed.plane.axes.T),
        rate_hz=recording.rate_hz,
        settings=settings,
        names=[*(joint.name for joint in limb.model(settings).joints), "endpoint"],
        study_cutoff_hz=study_cutoff_hz,
        impacts_s=impact_times(readings, placed, settings, recording.rate_hz),
    )
    motion = planar_motion(recording, limb, settings, placed=placed, smoothed=smoothed)
    load = external_load(
        recording, limb, settings, placed=placed, smoothed=smoothed, joint_m=motion.joint_m, readings=readings
    )
    motion = replace(motion, load=load, notes=(*motion.notes, *load.notes))
    metrics, notes = motion_metrics(recording, limb, settings, placed=placed, motion=motion, readings=readings)
    return replace(motion, metrics=metrics, notes=(*motion.notes, *notes))


def without_spikes(
    recording: Recording, limb: Limb, settings: Settings, *, study_cutoff_hz: float | None = None
) -> ChainMotion | None:
    """Motion of a limb with spikes and jumps filled; None where they cannot be.

    Parameters
    ----------
    recording, limb, settings, study_cutoff_hz
        As of `chain_motion`.
    """
    filling = override(settings, {"gaps.spikes": "fill"}, source="spikes")
    try:
        return chain_motion(recording, limb, filling, study_cutoff_hz=study_cutoff_hz)
    except TrialError:
        return None

"""First step: from a recording to the motion of the limb, with the ground."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pyarrow as pa

from limbtorque.analysis.memory import refuse_too_long
from limbtorque.arrays import contiguous, stretches, turned
from limbtorque.errors import LandmarkError, TrialError
from limbtorque.ground.plates import Reading
from limbtorque.ground.reaction import external_load, impact_times, load_in_space, plate_readings
from limbtorque.motion.chain_motion import ChainMotion, planar_motion
from limbtorque.motion.in_space import SpaceMotion, motion_in_space
from limbtorque.motion.joint_centres import Placement, opposite, place_joints, sides_share_markers
from limbtorque.motion.landmarks import needed_markers
from limbtorque.motion.limb import Limb
from limbtorque.motion.smoothing import SmoothedJoints, smooth_joints
from limbtorque.motion.table import beside, file_outputs, kinematics_table, motion_constants
from limbtorque.quality.metrics import motion_metrics
from limbtorque.recordings.recording import Recording, without_markers
from limbtorque.study.settings import Settings, override
from limbtorque.tables.files import Write
from limbtorque.tables.trial_record import RecordingFacts, TrialRecord

Placer = Callable[[Recording, Limb, Settings], Placement]
"""Finds the joint centres of a limb, as `place_joints`."""


def place(
    recording: Recording, limb: Limb, settings: Settings, *, find: Placer = place_joints
) -> tuple[Placement, Recording]:
    """Find the joint centres of a limb.

    Parameters
    ----------
    recording : Recording
        The recording.
    limb : Limb
        Chain, side, subject and window.
    settings : Settings
        All options.
    find : callable, optional
        Finds the joint centres.

    Returns
    -------
    placed : Placement
        The joint centres.
    recording : Recording
        The recording, without its markers where nothing else needs them; those of a long trial take most of the memory.

    Raises
    ------
    TrialError
        The trial cannot be analysed; the message names the reason and the remedy.
    """
    refuse_too_long(recording)
    placed = find(recording, limb, settings)
    model = limb.model(settings)
    if model.ground_contact or recording.force_plates:
        return placed, recording
    # checks of both sides need the markers of the other limb, where they are there
    names, mapping = [joint.landmark for joint in model.joints], limb.landmarks(settings).anatomical()
    try:
        for side in (mapping, opposite(mapping)):
            needed_markers(recording, side, names)
        both = not sides_share_markers(mapping, names)
    except LandmarkError:
        both = False
    return placed, recording if both else without_markers(recording)


def chain_motion(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
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
    readings, _, motion = _loaded_motion(recording, limb, settings, placed)
    metrics, notes = motion_metrics(recording, limb, settings, placed=placed, motion=motion, readings=readings)
    return replace(motion, metrics=metrics, notes=(*motion.notes, *notes))


def space_motion(recording: Recording, limb: Limb, settings: Settings) -> SpaceMotion:
    """Motion of a limb in space; the arguments are those of `chain_motion`."""
    placed = place_joints(recording, limb, settings)
    readings, smoothed, motion = _loaded_motion(recording, limb, settings, placed)
    wrench = load_in_space(settings, placed=placed, smoothed=smoothed, motion=motion, readings=readings)
    return motion_in_space(recording, limb, settings, placed=placed, smoothed=smoothed, motion=motion, wrench=wrench)


def _loaded_motion(
    recording: Recording, limb: Limb, settings: Settings, placed: Placement
) -> tuple[list[Reading], SmoothedJoints, ChainMotion]:
    """Signals of the plates, smoothed joints, and the motion with its load."""
    readings = plate_readings(recording, limb, settings, placed.prepared.stretch)
    smoothed = smooth_joints(
        turned(placed.joints_m, placed.plane.axes.T),
        rate_hz=recording.rate_hz,
        settings=settings,
        names=[*(joint.name for joint in limb.model(settings).joints), "endpoint"],
        impacts_s=impact_times(readings, placed, settings, recording.rate_hz),
    )
    motion = planar_motion(recording, limb, settings, placed=placed, smoothed=smoothed)
    load = external_load(recording, limb, settings, placed=placed, smoothed=smoothed, motion=motion, readings=readings)
    return readings, smoothed, replace(motion, load=load, notes=(*motion.notes, *load.notes))


def without_spikes(
    recording: Recording, limb: Limb, settings: Settings, *, find: Placer = place_joints
) -> ChainMotion | None:
    """Motion of a limb with spikes and jumps filled; None where they cannot be.

    Parameters
    ----------
    recording, limb, settings, find
        As of `place`.
    """
    filling = override(settings, {"gaps.spikes": "fill"}, source="spikes")
    try:
        return chain_motion(recording, limb, filling, placed=find(recording, limb, filling))
    except TrialError:
        return None


def analyse_motion(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
    placed: Placement,
    compared: tuple[Mapping[str, float], tuple[str, ...]] = ({}, ()),
    record: TrialRecord,
    write: Write | None = None,
) -> tuple[ChainMotion, TrialRecord, pa.Table]:
    """Motion of a limb in a recording.

    Parameters
    ----------
    recording, limb, settings
        As of `place`.
    placed : Placement
        The joint centres, from `place`.
    compared : pair of mapping and tuple of str, optional
        Metrics and notes of a second reading of the file (`second_look`).
    record : TrialRecord
        Name and provenance of the trial.
    write : callable, optional
        Takes the rows of the table of kinematics.

    Returns
    -------
    motion : ChainMotion
        The motion.
    record : TrialRecord
        With the metrics, the notes, the constants of the motion and the facts about the recording.
    file_results : pyarrow.Table
        Another program's results in the recording, one row a frame (`motion.file_outputs`).

    Raises
    ------
    TrialError
        The trial cannot be analysed.
    """
    motion = chain_motion(recording, limb, settings, placed=placed)
    # in the order of memory that a table gives: other strides would change the last digit of sums
    motion = replace(motion, kinematics=contiguous(motion.kinematics), load=contiguous(motion.load))
    file_results, outputs, file_notes = file_outputs(recording, motion, limb)
    metrics, reader_notes = compared
    record = replace(
        record,
        recording=replace(facts_of(recording), outputs=outputs),
        metrics={**motion.metrics, **metrics},
        notes=(*recording.notes, *motion.notes, *file_notes, *reader_notes, *recording.audit.sentences),
        motion=motion_constants(motion),
    )
    for frames in stretches(len(motion.time_s)):
        if write:
            rows = file_results.slice(frames.start, frames.stop - frames.start)
            write(beside(kinematics_table(motion.part(frames)), rows))
    return motion, record, file_results


def facts_of(recording: Recording) -> RecordingFacts:
    """Facts about a recording for the record of its trial."""
    return RecordingFacts(
        recording.sha256,
        recording.forces_sha256,
        tuple(recording.events),
        recording.audit,
        static_sha256=recording.static.sha256 if recording.static else "",
    )

"""Recordings -> `results/kinematics`: the motion of every trial's chain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.arrays import stretches
from limbtorque.errors import LandmarkError
from limbtorque.motion.both_sides import opposite, sides_share_markers
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.file_outputs import beside, file_outputs
from limbtorque.motion.joint_centres import Placement, place_joints
from limbtorque.motion.landmarks import needed_markers
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import kinematics_table, motion_constants
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Recording, with_static, without_markers
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.kinematics_columns import kinematics_columns
from limbtorque.tables.trial_record import RecordingFacts, TrialRecord
from limbtorque.workflow.layout import STUDY_CUTOFF, cutoff_group, shares_cutoff
from limbtorque.workflow.memory import refuse_too_long
from limbtorque.workflow.run_session import Write, failure, planned_study, run_session
from limbtorque.workflow.second_look import second_look


def columns(trial: Trial) -> Sequence[Column]:
    """Columns of a trial's table."""
    model = trial.settings.chain(trial.chain)
    return kinematics_columns([j.name for j in model.joints], [s.name for s in model.segments])


def read_trial(trial: Trial, reader: GuardedReader) -> Recording:
    """Recording of a trial with its static trial, read within its limits."""
    reading = trial.settings.reading
    read = partial(
        reader.read,
        memory_limit_mb=reading.memory_limit_mb,
        time_limit_s=reading.time_limit_s,
        options=ReadOptions.of(reading),
    )
    recording = read(trial.file, forces=trial.forces_file)
    return with_static(recording, read(trial.static_file)) if trial.static_file else recording


def limb_of(trial: Trial) -> Limb:
    """Limb of a trial, as its row of the table asks for."""
    return Limb(
        trial.chain,
        side=trial.side,
        body_mass_kg=trial.subject.mass_kg,
        marker_set=trial.marker_set,
        prefix=trial.prefix,
        measured=trial.subject.measured,
        load=trial.load,
        start_s=trial.start_s,
        end_s=trial.end_s,
        height_m=trial.subject.height_m,
        sex=trial.subject.sex,
    )


def trial_motion(
    trial: Trial, recording: Recording, study_cutoff_hz: float | None = None, *, placed: Placement | None = None
) -> ChainMotion:
    """Motion of a trial's chain, as its row of the table asks for."""
    return chain_motion(recording, limb_of(trial), trial.settings, study_cutoff_hz=study_cutoff_hz, placed=placed)


def lightened(trial: Trial, recording: Recording) -> Recording:
    """Recording without its markers, where only the joint centres need them.

    The other limb's are needed for the checks of body and plates; those of a long trial take most of the memory.
    """
    limb, settings = limb_of(trial), trial.settings
    model = limb.model(settings)
    if model.ground_contact or recording.force_plates:
        return recording
    names = [joint.landmark for joint in model.joints]
    mapping = limb.landmarks(settings).anatomical()
    try:
        for side in (mapping, opposite(mapping)):
            needed_markers(recording, side, names)
    except LandmarkError:
        return without_markers(recording)
    return without_markers(recording) if sides_share_markers(mapping, names) else recording


def study_cutoff_of(trial: Trial, study: Study) -> float | None:
    """Cut-off of a trial's chain and condition, Hz; None where it has its own."""
    if not shares_cutoff(trial, study):
        return None
    found: dict[str, float] = json.loads((study.folder / STUDY_CUTOFF).read_text(encoding="utf-8"))["cutoff_hz"]
    return found.get(cutoff_group(trial))


def run(*, folder: Path, session: str, key: str) -> None:
    """Make the kinematics tables of a session."""
    study = planned_study("kinematics", folder=folder, session=session, key=key)
    with GuardedReader() as reader:

        def step(trial: Trial, record: TrialRecord, write: Write) -> TrialRecord:
            recording = read_trial(trial, reader)
            own = {**record.provenance["kinematics"], "reader": recording.reader}
            record = replace(record, provenance={"kinematics": own}, recording=_facts(recording))
            try:
                refuse_too_long(recording)
                placed = place_joints(recording, limb_of(trial), trial.settings)
                recording = lightened(trial, recording)
                motion = trial_motion(trial, recording, study_cutoff_of(trial, study), placed=placed)
                del placed
            except Exception as error:  # the ledger names the recording of a trial that failed, too
                return failure(error, record)
            added, outputs, told = file_outputs(recording, motion, limb_of(trial))
            compared, doubts = second_look(trial.file, trial.forces_file, trial.settings.reading, reader)
            notes = (*recording.notes, *motion.notes, *told, *doubts, *recording.audit.sentences)
            record = replace(record, recording=replace(_facts(recording), outputs=outputs))
            for some in stretches(len(motion.time_s)):
                write(beside(kinematics_table(motion.part(some)), added.slice(some.start, some.stop - some.start)))
            return replace(record, metrics={**motion.metrics, **compared}, notes=notes, motion=motion_constants(motion))

        run_session("kinematics", step, study=study, session=session, columns=columns)


def _facts(recording: Recording) -> RecordingFacts:
    """Facts about a recording for the record of its trial."""
    static_sha256 = recording.static.sha256 if recording.static else ""
    return RecordingFacts(
        recording.sha256,
        recording.forces_sha256,
        tuple(recording.events),
        recording.audit,
        static_sha256=static_sha256,
    )

"""Recordings -> `results/kinematics`: the motion of every trial's chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from limbtorque.analysis.chain_motion import analyse_motion, facts_of, place
from limbtorque.analysis.reading import limb_of
from limbtorque.analysis.second_look import second_look
from limbtorque.errors import WriteError
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.files import Write
from limbtorque.tables.frame_columns import kinematics_columns
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.workflow.run_session import Sources, failure, run_session


def columns(trial: Trial, _folder: Path) -> Sequence[Column]:
    """Columns of a trial's table."""
    model = trial.settings.chain(trial.chain)
    return kinematics_columns([j.name for j in model.joints], [s.name for s in model.segments])


def step(trial: Trial, sources: Sources, record: TrialRecord, write: Write) -> TrialRecord:
    """Motion of a trial; records of failed trials also name the recording."""
    limb, settings, recording = limb_of(trial), trial.settings, sources.reader.recording(trial)
    provenance = {**record.provenance["kinematics"], "reader": recording.reader}
    record = replace(record, provenance={"kinematics": provenance}, recording=facts_of(recording))
    try:
        placed, recording = place(recording, limb, settings, find=sources.find)
        return analyse_motion(
            recording,
            limb,
            settings,
            placed=placed,
            compared=second_look(trial.file, trial.forces_file, settings.reading, sources.reader),
            record=record,
            write=write,
        )[1]
    except WriteError:  # of the machine, not of the trial
        raise
    except Exception as error:
        return failure(error, record)


def run(*, folder: Path, session: str, key: str) -> None:
    """Make the kinematics tables of a session."""
    run_session("kinematics", step, folder=folder, session=session, key=key, columns=columns)

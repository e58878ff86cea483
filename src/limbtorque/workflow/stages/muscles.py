"""`results/torques` -> `results/muscles`: the muscle forces of every trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, joined, stretches
from limbtorque.emg.recorded import Electromyography
from limbtorque.emg.summary import co_contraction_rows, emg_summary, not_predicted
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.table import frame_values, motion_from_table
from limbtorque.muscles.contact_summary import ContactSeries, contact_series, contact_summary
from limbtorque.muscles.envelopes import usable_envelopes
from limbtorque.muscles.force_report import ForceReport, whole_report
from limbtorque.muscles.force_summary import ForceSeries, force_series, muscle_summary
from limbtorque.muscles.force_table import muscle_table, table_entries
from limbtorque.muscles.forces import stretch_forces
from limbtorque.muscles.options import own_options
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set, strengthened
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.statistics.summary_windows import summary_windows
from limbtorque.study.trials import Trial
from limbtorque.tables.column import FRAME_COLUMNS, Column
from limbtorque.tables.files import column_array, make_table
from limbtorque.tables.muscle_columns import muscle_columns
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.uncertainty.of_trial import too_long
from limbtorque.uncertainty.propagation import trial_errors
from limbtorque.uncertainty.random_numbers import Draw
from limbtorque.uncertainty.sampled_muscles import force_statistics, not_sampled, with_force_samples
from limbtorque.workflow.run_session import TrialTables, Write, planned_study, run_session
from limbtorque.workflow.stages.kinematics import limb_of
from limbtorque.workflow.trial_emg import EmgReader, own_columns, with_envelopes


def muscle_set_of(trial: Trial, folder: Path) -> MuscleSet | None:
    """Muscle set with the subject's strengths; None without one or with muscles off."""
    name = trial.settings.muscle_set(trial.chain, folder)
    if not name:
        return None
    chosen = load_muscle_set(name)
    return strengthened(
        chosen, own_options(trial.settings.muscles.strength_factors.get(trial.subject.name, {}), chosen)
    )


def columns(trial: Trial, folder: Path) -> Sequence[Column]:
    """Columns of a trial's table."""
    model = trial.settings.chain(trial.chain)
    joints, segments = [joint.name for joint in model.joints], [segment.name for segment in model.segments]
    entries = table_entries(muscle_set_of(trial, folder), joints)
    return [*muscle_columns(joints, segments, entries, trial.settings.muscles), *own_columns(trial)]


def run(*, folder: Path, session: str, key: str) -> None:
    """Make a session's muscle tables; empty for trials without a muscle set."""
    study = planned_study("muscles", folder=folder, session=session, key=key)
    tables, emg = TrialTables(study), EmgReader(GuardedReader())

    def step(trial: Trial, record: TrialRecord, write: Write) -> TrialRecord:
        (moving, kinematics), earlier = tables.read("kinematics", trial), tables.read_record("torques", trial)
        record = record.after(kinematics, earlier)
        chosen = muscle_set_of(trial, folder)
        if record.failed or (chosen is None and not trial.settings.emg.channels):
            return record
        motion, options = motion_from_table(moving, kinematics), trial.settings.muscles
        del moving
        recorded, told = emg.of(trial, motion.time_s)
        windows, added = summary_windows(trial, motion, earlier.window), own_columns(trial)
        if chosen is None:
            for some in stretches(len(motion.time_s)):
                write(with_envelopes(make_table(FRAME_COLUMNS, frame_values(motion.part(some))), recorded, added, some))
            return _with_emg(replace(record, notes=told), trial, motion, recorded, None, windows)
        net_nm, reaction_n = _of_torques(tables, trial, motion.joints)
        used = ~motion.edge & ~np.isnan(net_nm).any(axis=1)
        judged = earlier.window.judged(motion.time_s, used) if earlier.window else used
        reports, series, contacts, done = [], [], [], 0
        parts = stretch_forces(
            motion,
            net_nm,
            chosen,
            options=options,
            body_mass_kg=trial.subject.mass_kg,
            reaction_n=reaction_n,
            frames=judged,
            envelopes=usable_envelopes(recorded) if recorded else None,
        )
        for part, forces in parts:
            some = slice(done, done + len(part.time_s))
            write(with_envelopes(muscle_table(part, forces, options=options), recorded, added, some))
            done = some.stop
            reports.append(forces.report)
            series.append(force_series(forces))
            contacts.append(contact_series(forces))
        report, whole = whole_report(reports), joined(series)
        record = replace(record, metrics=report.metrics, notes=(*report.notes, *told))
        record = _with_summaries(record, trial, motion, (whole, report), contacts, windows)
        predicted = (whole, report.muscle_set.names)
        return _with_emg(record, trial, motion, recorded, predicted, windows)

    with emg.reader:
        run_session("muscles", step, study=study, session=session, columns=lambda trial: columns(trial, folder))


def _with_summaries(
    record: TrialRecord,
    trial: Trial,
    motion: ChainMotion,
    forces: tuple[ForceSeries, ForceReport],
    contacts: Sequence[ContactSeries | None],
    windows: Mapping[str, BoolArray],
) -> TrialRecord:
    """Record with the rows of forces and contact forces."""
    (whole, report), given = forces, [part for part in contacts if part]
    share, options, muscle_set = trial.settings.ensembles.min_known_share, trial.settings.muscles, report.muscle_set
    rows = muscle_summary(motion, whole, muscle_set, options, windows=windows, min_known_share=share)
    asked = trial.settings.uncertainty.samples > 0 and not too_long(motion, trial.settings)
    why = not_sampled(options)
    samples = _samples(trial, motion, whole, report, windows) if asked and not why else {}
    rows = with_force_samples(rows, samples, muscle_set.names)
    notes = (f"no uncertainty of the muscle forces: not computed with {' and '.join(why)}",) if asked and why else ()
    contact = contact_summary(motion, joined(given), windows=windows, min_known_share=share) if given else ()
    return replace(record, summary=tuple(rows), contact_summary=tuple(contact), notes=(*record.notes, *notes))


def _samples(
    trial: Trial, motion: ChainMotion, whole: ForceSeries, report: ForceReport, windows: Mapping[str, BoolArray]
) -> dict[str, dict[str, FloatArray]]:
    """Statistics of the muscle forces in every sample."""
    settings, options = trial.settings, trial.settings.uncertainty
    return force_statistics(
        trial_errors(motion, limb_of(trial), settings),
        Draw(options.samples, options.seed, trial.subject.name, trial.name),
        report.muscle_set,
        settings.muscles,
        known=report.arm_known,
        windows=windows,
        used=whole.known & ~motion.edge,
    )


def _with_emg(
    record: TrialRecord,
    trial: Trial,
    motion: ChainMotion,
    recorded: Electromyography | None,
    predicted: tuple[ForceSeries, Sequence[str]] | None,
    windows: Mapping[str, BoolArray],
) -> TrialRecord:
    """Record with the rows of electromyography."""
    if recorded is None:
        return record
    series, names = predicted if predicted else (None, ())
    rows = emg_summary(
        recorded,
        series.activation if series else np.zeros((len(motion.time_s), 0)),
        names,
        time_s=motion.time_s,
        known=(series.known if series else np.ones(len(motion.time_s), dtype=bool)) & ~motion.edge,
        windows=windows,
        options=trial.settings.emg,
        min_known_share=trial.settings.ensembles.min_known_share,
    )
    own = {**record.provenance["muscles"], "emg_sha256": recorded.sha256}
    notes = (*record.notes, *(not_predicted(recorded.muscles, names) if predicted else ()))
    record = replace(record, notes=notes, provenance={**record.provenance, "muscles": own})
    pairs = co_contraction_rows(recorded, windows, trial.settings.emg.antagonists)
    return replace(record, emg=tuple(rows), co_contraction=tuple(pairs))


def _of_torques(tables: TrialTables, trial: Trial, joints: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Net torques, and reaction forces of shape (n_frames, n_joints, 2)."""
    names = [f"{joint}_torque_nm" for joint in joints]
    reactions = [f"{joint}_reaction_{axis}_n" for joint in joints for axis in "xy"]
    table, _ = tables.read("torques", trial, columns=[*names, *reactions])
    return column_array(table, *names), column_array(table, *reactions).reshape(len(table), -1, 2)

"""The third step: from net torques to muscle forces and electromyography."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.analysis.reading import with_envelopes
from limbtorque.arrays import BoolArray, FloatArray, joined, stretches
from limbtorque.emg.recorded import Electromyography
from limbtorque.emg.summary import co_contraction_rows, emg_summary, not_predicted
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import frame_values
from limbtorque.muscles.force_result import ForceReport, MuscleForces, whole_report
from limbtorque.muscles.force_table import (
    ContactSeries,
    ForceSeries,
    contact_series,
    contact_summary,
    force_series,
    muscle_summary,
    muscle_table,
)
from limbtorque.muscles.forces import muscle_forces
from limbtorque.muscles.objective import own_options, usable_envelopes
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set, strengthened
from limbtorque.statistics.windows import in_window, known_cycle, summary_windows, window_spans
from limbtorque.study.settings import Settings
from limbtorque.tables.column import FRAME_COLUMNS
from limbtorque.tables.files import Write, make_table
from limbtorque.tables.study_columns import CYCLE
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.uncertainty.of_trial import too_long
from limbtorque.uncertainty.propagation import trial_errors
from limbtorque.uncertainty.sampled import Draw
from limbtorque.uncertainty.sampled_forces import force_statistics, not_sampled, with_force_samples


def muscle_set_of(limb: Limb, settings: Settings, folder: Path) -> MuscleSet | None:
    """Muscle set with the subject's strengths; None without a set or muscles.

    Parameters
    ----------
    limb, settings
        Chain and subject; the section `muscles`.
    folder : Path
        Folder of the muscle set files that the settings name.
    """
    name = settings.muscle_set(limb.chain, folder)
    if not name:
        return None
    muscle_set = load_muscle_set(name)
    factors = settings.muscles.strength_factors.get(limb.subject, {})
    return strengthened(muscle_set, own_options(factors, muscle_set))


def analyse_muscles(
    motion: ChainMotion,
    net_nm: FloatArray,
    reaction_n: FloatArray,
    torqued: TrialRecord,
    limb: Limb,
    settings: Settings,
    *,
    muscle_set: MuscleSet | None,
    emg: tuple[Electromyography | None, tuple[str, ...]] = (None, ()),
    summaries: bool = True,
    record: TrialRecord,
    write: Write | None = None,
) -> tuple[MuscleForces | None, TrialRecord]:
    """Muscle forces by static optimization, with electromyography beside them.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    net_nm : ndarray of shape (n_frames, n_joints)
        Net joint torques, counter-clockwise positive, N m.
    reaction_n : ndarray of shape (n_frames, n_joints, 2)
        Joint reaction forces, N.
    torqued : TrialRecord
        Record of the torques, with the window.
    limb, settings
        Chain, side and subject; all options.
    muscle_set : MuscleSet or None
        As of `muscle_set_of`.
    emg : tuple of Electromyography or None, and of notes
        Recorded envelopes at the frames of the motion, from `TrialReader.emg`.
    summaries : bool, optional
        Make the rows of the summaries.
    record : TrialRecord
        Name and provenance of the trial.
    write : callable, optional
        Takes the rows of the muscle table; called where there is a muscle set or a channel.

    Returns
    -------
    forces : MuscleForces or None
        The forces; None without a muscle set, and for a trial of more than `arrays.STRETCH_FRAMES` frames, whose forces are
        only in the table: they would not fit into the memory.
    record : TrialRecord
        Metrics, notes and rows of the summaries.
    """
    recorded, emg_notes = emg
    if muscle_set is None and not settings.emg.channels:
        return None, record
    windows = summary_windows(motion, torqued.window, limb, settings) if summaries else {}
    if muscle_set is None:
        for frames in stretches(len(motion.time_s)):
            if write:
                table = make_table(FRAME_COLUMNS, frame_values(motion.part(frames)))
                write(with_envelopes(table, recorded, settings.emg, frames))
        return None, _with_emg(replace(record, notes=emg_notes), motion, recorded, None, windows, limb, settings)
    used = ~motion.edge & ~np.isnan(net_nm).any(axis=1)
    judged = torqued.window.judged(motion.time_s, used) if torqued.window else used
    envelopes = usable_envelopes(recorded) if recorded else None
    reports, series, contacts = [], [], []
    # the forces of a trial of a million frames would need several GB at once
    for frames in stretches(len(net_nm)):
        part = motion.part(frames)
        forces = muscle_forces(
            part,
            net_nm[frames],
            muscle_set,
            options=settings.muscles,
            body_mass_kg=limb.body_mass_kg,
            reaction_n=reaction_n[frames],
            frames=judged[frames],
            envelopes=envelopes.part(frames) if envelopes else None,
        )
        if write:
            write(with_envelopes(muscle_table(part, forces, options=settings.muscles), recorded, settings.emg, frames))
        reports.append(forces.report)
        series.append(force_series(forces))
        contacts.append(contact_series(forces))
    report, whole = whole_report(reports), joined(series)
    record = replace(record, metrics=report.metrics, notes=(*report.notes, *emg_notes))
    spans = window_spans(motion, torqued.window, windows)
    record = _with_summaries(record, motion, whole, report, contacts, windows, spans, limb, settings)
    record = _with_emg(record, motion, recorded, (whole, report.muscle_set.names), windows, limb, settings)
    return forces if len(reports) == 1 else None, record


def _with_summaries(
    record: TrialRecord,
    motion: ChainMotion,
    whole: ForceSeries,
    report: ForceReport,
    contacts: Sequence[ContactSeries | None],
    windows: Mapping[str, BoolArray],
    spans: Mapping[str, tuple[float, float]],
    limb: Limb,
    settings: Settings,
) -> TrialRecord:
    """Record with the rows of forces and contact forces."""
    share, options, muscle_set = settings.ensembles.min_known_share, settings.muscles, report.muscle_set
    rows = muscle_summary(motion, whole, muscle_set, options, windows=windows, min_known_share=share)
    asked = settings.uncertainty.samples > 0 and not too_long(motion)
    why_not = not_sampled(options)
    samples: dict[str, dict[str, FloatArray]] = {}
    if asked and not why_not:
        samples = force_statistics(
            trial_errors(motion, limb, settings),
            Draw(settings.uncertainty.samples, settings.uncertainty.seed, limb.subject, limb.trial),
            muscle_set,
            options,
            known=report.arm_known,
            windows=windows,
            used=whole.known & ~motion.edge,
        )
    rows = with_force_samples(rows, samples, muscle_set.names)
    notes = record.notes
    if asked and why_not:
        notes = (*notes, f"no uncertainty of the muscle forces: not computed with {' and '.join(why_not)}")
    given = [part for part in contacts if part]
    contact = contact_summary(motion, joined(given), windows=windows, min_known_share=share) if given else ()
    return replace(
        record,
        summary=tuple(in_window(row, spans) for row in rows),
        contact_summary=tuple(in_window(row, spans) for row in contact),
        notes=notes,
    )


def _with_emg(
    record: TrialRecord,
    motion: ChainMotion,
    recorded: Electromyography | None,
    predicted: tuple[ForceSeries, Sequence[str]] | None,
    windows: Mapping[str, BoolArray],
    limb: Limb,
    settings: Settings,
) -> TrialRecord:
    """Record with the rows of electromyography, over a known cycle at least."""
    if recorded is None:
        return record
    series, names = predicted or (None, ())
    known = (series.known if series else np.ones(len(motion.time_s), dtype=bool)) & ~motion.edge
    window, least = next(iter(windows.values()), None), settings.ensembles.min_known_share
    if series and window is not None and known[window].mean() < least:
        cycle = known_cycle(motion, known, side=limb.side)
        windows = {CYCLE: cycle, **windows} if cycle.any() and known[cycle].mean() >= least else windows
    rows = emg_summary(
        recorded,
        series.activation if series else np.zeros((len(motion.time_s), 0)),
        names,
        time_s=motion.time_s,
        known=known,
        windows=windows,
        min_known_share=least,
    )
    provenance = dict(record.provenance)
    if "muscles" in provenance:
        provenance["muscles"] = {**provenance["muscles"], "emg_sha256": recorded.sha256}
    return replace(
        record,
        notes=(*record.notes, *(not_predicted(recorded.muscles, names) if predicted else ())),
        provenance=provenance,
        emg=tuple(rows),
        co_contraction=tuple(co_contraction_rows(recorded, windows, settings.emg.antagonists)),
    )

"""Recordings -> `results/universes`: values of outcomes in all universes.

The steps are those of the stages, with tables in memory; universes with equal inputs of a step share its result.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from limbtorque.analysis.reading import TrialReader
from limbtorque.errors import WriteError
from limbtorque.motion.joint_centres import Placement, place_joints
from limbtorque.motion.limb import Limb
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.statistics.by_condition import per_body_mass
from limbtorque.study import settings as study_settings
from limbtorque.study.options.contrasts import Outcome
from limbtorque.study.settings import Settings
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.study.universes import choices_of, universe_changes, universe_settings
from limbtorque.tables.column import MUSCLE_STATUS, TORQUE_STATUS, TRIAL_COLUMNS, row_of
from limbtorque.tables.contrast_columns import MEASURED_COVARIATES
from limbtorque.tables.effect_columns import EFFECT_TERMS
from limbtorque.tables.files import empty_table, make_table, write_table
from limbtorque.tables.multiverse_columns import UNIVERSE_COLUMNS
from limbtorque.tables.trial_record import TrialRecord
from limbtorque.uncertainty.effects import TrialEffects
from limbtorque.workflow.keys import OF_CENTRES, SECTIONS, settings_hash
from limbtorque.workflow.layout import universes_path
from limbtorque.workflow.memory_tables import MemoryTables, OutcomeRows
from limbtorque.workflow.run_session import Sources, Step, failure, finish, planned_study, verdict_of
from limbtorque.workflow.stages import kinematics, muscles, torques
from limbtorque.workflow.stages.curves import trial_curve
from limbtorque.workflow.trial_values import OF_MUSCLES, TrialValues

KEPT_BYTES = 256 * 2**20  # of recordings that several trials have


def run(*, folder: Path, session: str, key: str) -> None:
    """Write the values of a session's trials in all universes."""
    study, lines = planned_study("universes", folder=folder, session=session, key=key), []
    tables = [empty_table(UNIVERSE_COLUMNS)]
    changes = universe_changes(choices_of(study.settings))
    of_settings: dict[int, list[Settings]] = {}  # of all universes, by the settings that trials have in common
    with GuardedReader() as guarded:
        reader = TrialReader(guarded, keep_bytes=KEPT_BYTES)
        for trial in study.batches[session]:
            if id(trial.settings) not in of_settings:
                of_settings[id(trial.settings)] = [universe_settings(trial.settings, each) for each in changes]
            tables += _values(trial, study, reader, of_settings[id(trial.settings)])
            lines.append(json.dumps(row_of(TRIAL_COLUMNS[:1], trial)))
    write_table(pa.concat_tables(tables).combine_chunks(), folder / universes_path(session))
    finish("universes", study, session, lines)


def _values(trial: Trial, study: Study, reader: TrialReader, universes: Sequence[Settings]) -> list[pa.Table]:
    """Values of each outcome of a trial in all universes."""
    distinct = enumerate(study.settings.contrasts.distinct)
    outcomes = {number: outcome for number, (chain, outcome) in distinct if chain == trial.chain}
    if not outcomes:
        return []
    analysis = TrialAnalysis(study, reader, [*outcomes.values()])
    members = [replace(trial, name=f"{trial.name} {u}", settings=settings) for u, settings in enumerate(universes)]
    for u in analysis.order(members):
        analysis.add(members[u], trial.name)
    values, n = TrialValues(members, study.settings, analysis.rows), len(members)
    missing = np.full(n, np.nan)
    with_curves = study.settings.ensembles.enabled
    gait = [values.of_windows(name) if with_curves else missing for name in MEASURED_COVARIATES]
    tables = []
    for number, outcome in outcomes.items():
        measured = values.of_each(trial.chain, outcome)
        loaded = np.ones(n) if measured.loaded is None else measured.loaded
        terms = [*measured.values[..., 0].T, *[missing] * (len(EFFECT_TERMS) - len(measured.terms))]
        columns = [[trial.name] * n, range(n), [number] * n, measured.rejected, loaded, *terms, *gait]
        names = (column.name for column in UNIVERSE_COLUMNS)
        tables.append(make_table(UNIVERSE_COLUMNS, dict(zip(names, columns, strict=True))))
    return tables


class TrialAnalysis:
    """Steps of a trial in several universes, equal ones once.

    Parameters
    ----------
    study : Study
        The study.
    reader : TrialReader
        Reads recordings, each once.
    outcomes : sequence of Outcome
        Outcomes of which the values are wanted.
    """

    def __init__(self, study: Study, reader: TrialReader, outcomes: Sequence[Outcome]) -> None:
        self._tables, self._effects = MemoryTables(), dict[str, TrialEffects]()
        self._placed: dict[str, Placement] = {}
        self._sources = Sources(study, reader, self._tables, self._find)
        self._steps: dict[str, Step] = {
            "kinematics": kinematics.step,
            "torques": partial(torques.step, effects=self._effects),
            **({"muscles": muscles.step} if any(outcome.muscle for outcome in outcomes) else {}),
        }
        self._wanted = {(outcome.joint, outcome.term) for outcome in outcomes}
        self._made: dict[str, tuple[str, ...]] = {}  # key of what is in the tables, by stage
        self.rows = OutcomeRows()

    def order(self, members: Sequence[Trial]) -> list[int]:
        """Order in which equal steps follow one another."""
        return sorted(range(len(members)), key=lambda u: self._key(members[u], len(self._steps)))

    def _key(self, trial: Trial, n_stages: int) -> tuple[str, ...]:
        return tuple(settings_hash(trial.settings, SECTIONS[stage]) for stage in [*self._steps][:n_stages])

    def add(self, trial: Trial, name: str) -> None:
        """Analyse a trial in a universe; its name in the rows is another one."""
        real = replace(trial, name=name)
        for number, (stage, step) in enumerate(self._steps.items(), start=1):
            key = self._key(trial, number)
            if self._made.get(stage) != key:
                self._run(stage, step, real)
                self._made[stage] = key
        records = {stage: self._tables.read_record(stage, real) for stage in self._steps}
        verdict, about = verdict_of(real, records), row_of(TRIAL_COLUMNS[:1], trial)
        wanted = (row for row in records["torques"].summary if (row["joint"], row["term"]) in self._wanted)
        self.rows.summaries["summary"] += [
            {**about, TORQUE_STATUS.name: verdict.joints.get(row["joint"], verdict.torques), **row}
            for row in per_body_mass(wanted, trial.subject.mass_kg)
        ]
        of_muscles = records["muscles"].summary if "muscles" in records else ()
        about |= row_of([MUSCLE_STATUS], verdict)
        self.rows.summaries[OF_MUSCLES] += [{**about, **row} for row in of_muscles]
        if name in self._effects:
            self.rows.effects_of[trial.name] = self._effects[name]
        if trial.settings.ensembles.enabled:
            try:
                row, curves = trial_curve(real, self._tables)
            except Exception as error:  # the other universes have theirs
                failure(error, TrialRecord(name))  # in the log
                return
            self.rows.windows_of[trial.name] = {column: str(value) for column, value in row.items()}
            self.rows.curves_of.extend([] if curves is None else [(trial, curves[0])])

    def _find(self, recording: Recording, limb: Limb, settings: Settings) -> Placement:
        """Joint centres, which many universes have in common."""
        key = study_settings.settings_hash(settings, OF_CENTRES)
        if key not in self._placed:
            self._placed[key] = place_joints(recording, limb, settings)
        return self._placed[key]

    def _run(self, stage: str, step: Step, trial: Trial) -> None:
        """Run a step; an error becomes the record of a failed trial."""
        parts: list[pa.Table] = []
        record = TrialRecord(trial.name, provenance={stage: {}})
        if stage == "torques":
            self._effects.clear()
        try:
            record = step(trial, self._sources, record, parts.append)
        except WriteError:
            raise
        except Exception as error:
            parts, record = [], failure(error, record)
        self._tables.put(stage, trial, parts, record)

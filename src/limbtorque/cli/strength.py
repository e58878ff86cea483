"""`limbtorque strength`: factors of strengths from a study's maximal trials."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from limbtorque.errors import SettingsError, did_you_mean
from limbtorque.motion.table import motion_from_table
from limbtorque.muscles.sets.muscle_set import MuscleSet, load_muscle_set
from limbtorque.muscles.strength_factors import Effort, fitted_factors, strongest
from limbtorque.study.study import Study
from limbtorque.study.trials import Trial
from limbtorque.tables.files import column_array
from limbtorque.workflow.run_session import TrialTables

LISTED = 6  # trials in a message


def strength_lines(study: Study, given: Sequence[str]) -> list[str]:
    """Lines for the settings, with the efforts as comments.

    Parameters
    ----------
    study : Study
        A study that has run.
    given : sequence of str
        Efforts as ``trial:joint:sense``.

    Raises
    ------
    SettingsError
        An effort is not readable, or no factors fit.
    """
    lines = ["muscles:", "  strength_factors:"]
    by_subject: dict[str, dict[tuple[str, str], tuple[Trial, Effort]]] = {}
    for text in given:
        trial, effort = _effort(study, text)
        own = by_subject.setdefault(trial.subject.name, {})
        key = trial.chain, effort.name
        if key not in own or own[key][1].torque_nm < effort.torque_nm:
            own[key] = trial, effort
    for subject, found in by_subject.items():
        lines += [
            f"    # {effort.name}: {effort.torque_nm:.1f} N m at {effort.time_s:.2f} s of {trial.name}; "
            f"the set's muscles make {effort.reach_nm.sum():.1f}"
            for trial, effort in found.values()
        ]
        factors: dict[str, float] = {}
        for chain in dict.fromkeys(chain for chain, _ in found):
            some = [pair for (of, _), pair in found.items() if of == chain]
            factors |= _factors(_muscle_set(some[0][0], study.folder), [effort for _, effort in some])
        lines.append(f"    {subject}: {{{', '.join(f'{name}: {factor:.4g}' for name, factor in factors.items())}}}")
    return lines


def _factors(muscle_set: MuscleSet, efforts: Sequence[Effort]) -> dict[str, float]:
    """Factors of the muscles involved in an effort."""
    used = [any(effort.reach_nm[k] > 0.0 for effort in efforts) for k in range(len(muscle_set.names))]
    found = zip(muscle_set.names, fitted_factors(efforts), used, strict=True)
    return {f"{muscle_set.name}.{name}": float(factor) for name, factor, taken in found if taken}


def _effort(study: Study, text: str) -> tuple[Trial, Effort]:
    """Trial and effort from an argument."""
    name, joint, sense = [*text.split(":"), "", "", ""][:3]
    trials = {trial.name: trial for trial in study.trials}
    if name not in trials:
        hint = (
            did_you_mean(name, trials) or f"; it has {', '.join([*trials][:LISTED])}{' ...' * (len(trials) > LISTED)}"
        )
        raise SettingsError(f"{text!r}: the study has no trial '{name}', expected TRIAL:JOINT:SENSE{hint}")
    if not joint or not sense:
        raise SettingsError(f"{text!r}: no {'sense' if joint else 'joint'}, expected such as {name}:knee:extension")
    trial, tables = trials[name], TrialTables(study)
    if not tables.path("torques", trial).is_file():
        raise SettingsError(f"{text!r}: the trial has no results; run `limbtorque run-study` first")
    table, record = tables.read("kinematics", trial)
    if record.failed:
        raise SettingsError(f"{text!r}: the trial has no torques: {record.message}")
    motion = motion_from_table(table, record)
    torques, _ = tables.read("torques", trial, columns=[f"{one}_torque_nm" for one in motion.joints])
    net = np.asarray(column_array(torques, *[f"{one}_torque_nm" for one in motion.joints]))
    options, mass = trial.settings.muscles, trial.subject.mass_kg
    try:
        muscle_set = _muscle_set(trial, study.folder)
        return trial, strongest(motion, net, muscle_set, (joint, sense), options=options, body_mass_kg=mass)
    except SettingsError as error:
        raise SettingsError(f"{text!r}: {error}") from None


def _muscle_set(trial: Trial, folder: Path) -> MuscleSet:
    """Muscle set of a trial with the strengths of its source."""
    name = trial.settings.muscle_set(trial.chain, folder)
    if not name:
        raise SettingsError(f"the chain {trial.chain} of trial {trial.name} has no muscle set (muscles.sets)")
    return load_muscle_set(name)

"""Load and check a study before any job starts, without its recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from limbtorque.analysis.muscles import muscle_set_of
from limbtorque.errors import SettingsError, StudyError
from limbtorque.motion.limb import Limb
from limbtorque.muscles.options import check_options
from limbtorque.study.settings import Settings
from limbtorque.study.study import Study
from limbtorque.study.table_file import Follow
from limbtorque.uncertainty.sizes import faults_of_sizes, study_faults
from limbtorque.workflow.effective_settings import load_planned_study

CHECKED = attrgetter("muscles", "plane", "segments", "uncertainty")
NEEDED = attrgetter("filter", "gaps", "plates")  # on which it depends, too, which errors concern a trial


def checked_study(folder: Path, config: Mapping[str, Any] | None = None, *, follow: Follow = iter) -> Study:
    """Load a study, and its muscle sets with it.

    Parameters
    ----------
    folder : Path
        The study's folder.
    config : mapping, optional
        Options of Snakemake's ``--config``.
    follow : callable, optional
        As for `load_study`.

    Raises
    ------
    SettingsError, StudyError
        Something is wrong with the settings, the tables or a muscle set.
    """
    study = load_planned_study(folder, config, follow=follow)
    faults: dict[str, None] = {}
    seen: set[tuple[object, ...]] = set()
    for trial in study.trials:
        kind = trial.chain, *map(id, CHECKED(trial.settings))  # trials with the same options share their sections
        if kind in seen:
            continue
        seen.add(kind)
        try:
            chosen = muscle_set_of(Limb.of(trial), trial.settings, folder)
            if chosen:
                joints = [joint.name for joint in trial.settings.chain(trial.chain).joints]
                check_options(chosen, trial.settings.muscles, joints)
        except (SettingsError, OSError) as error:
            faults[f"chain {trial.chain} (first in trial {trial.name}): {error}"] = None
    faults |= dict.fromkeys(_mixed_criteria(study))
    chains = [study.settings.chain(name) for name in sorted({trial.chain for trial in study.trials})]
    faults |= dict.fromkeys(study_faults(study.settings, chains))
    faults |= dict.fromkeys(faults_of_sizes(_limbs(study, folder)))
    faults |= dict.fromkeys(_masses_of_no_segment(study))
    options = study.settings.ensembles
    if (options.start_event or options.end_event) and all(
        trial.settings.ensembles.window != "events" for trial in study.trials
    ):
        faults["ensembles.start_event and end_event have no meaning without ensembles.window: events; set it, too"] = (
            None
        )
    if faults:
        raise StudyError(list(faults))
    return study


def _masses_of_no_segment(study: Study) -> Iterator[str]:
    """Faults of added masses on segments that no limb, or not the trial's own, has."""
    common = study.settings.segments.added
    used = {segment.name for trial in study.trials for segment in study.settings.chain(trial.chain).segments}
    for name in common:
        if name not in used:
            yield f"segments.added names {name}, which no limb of the trials has; {_these(sorted(used))}"
    for trial in study.trials:
        if (own := trial.settings.segments.added) != common:
            has = [segment.name for segment in study.settings.chain(trial.chain).segments]
            for name in own:
                if name not in has:
                    yield (
                        f"{study.settings.trials} (trial {trial.name}): segments.added names {name}, which the chain "
                        f"{trial.chain} does not have; {_these(has)}"
                    )


def _these(segments: Iterable[str]) -> str:
    return f"there are {', '.join(segments)}; name one of them, or remove the mass"


def _limbs(study: Study, folder: Path) -> Iterator[tuple[Limb, Settings, bool]]:
    """Limbs with their settings, each kind once, and whether it has a muscle set."""
    seen: set[tuple[object, ...]] = set()
    for trial in study.trials:
        of = trial.settings
        limb = Limb.of(trial)
        kind = (
            *map(id, CHECKED(of)),
            *map(id, NEEDED(of)),
            limb.chain,
            limb.marker_set,
            bool(limb.load),
            tuple(limb.measured),
        )
        if kind not in seen:
            seen.add(kind)
            yield limb, of, bool(of.muscle_set(trial.chain, folder))


def _mixed_criteria(study: Study) -> list[str]:
    """Faults of groups whose trials choose their common cut-off by different criteria."""
    groups: dict[str, dict[str, str]] = {}
    for trial in study.trials:
        if study.shares_cutoff(trial):
            groups.setdefault(trial.cutoff_group, {})[str(trial.settings.filter.cutoff_hz)] = trial.name
    return [
        f"filter.cutoff_hz: trials that share one cut-off ({group}; filter.scope: study) choose it by "
        f"{' and '.join(f'{criterion} (trial {name})' for criterion, name in criteria.items())}; give them one criterion"
        for group, criteria in groups.items()
        if len(criteria) > 1
    ]

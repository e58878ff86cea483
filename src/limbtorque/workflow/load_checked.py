"""Load and check a study before any job starts, without its recordings."""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

from limbtorque.analysis.muscles import muscle_set_of
from limbtorque.errors import SettingsError, StudyError
from limbtorque.motion.limb import Limb
from limbtorque.muscles.objective import check_options
from limbtorque.study.settings import Settings
from limbtorque.study.study import Study
from limbtorque.study.table_file import Follow
from limbtorque.uncertainty.sizes import faults_of_sizes, study_faults
from limbtorque.workflow.effective_settings import load_planned_study
from limbtorque.workflow.layout import RESULTS, SOURCES, STAMP, session_folder, sessions_of, stages_of, study_files

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


_NAMED = 3


def refuse_future(study: Study) -> None:
    """Refuse a study with files dated in the future.

    Snakemake compares the time of an output with the times of its inputs, and ends the run where an input is the newer one,
    even within ``ancient()``. The clock is that of the file system, which on a server is not that of this machine.

    Parameters
    ----------
    study : Study
        The study.

    Raises
    ------
    StudyError
        Recordings or results are dated in the future; the message has the command that sets their time to now.
    """
    recordings = _newer(dict.fromkeys(file for trial in study.trials for file in trial.files), study.folder)
    results = _newer(_results(study), study.folder)
    faults = []
    if recordings:
        faults.append(f"{_dated(recordings)}; set their time to now: {_touch(list(recordings))}")
    if results:
        faults.append(
            f"{_dated(results)}; set their time to now: find {_quoted([study.folder / RESULTS])} -newermt now -exec touch -h {{}} +"
        )
    if faults:
        raise StudyError(faults)


def _results(study: Study) -> Iterator[Path]:
    """Results whose times Snakemake compares."""
    for stage in ("cutoffs", *SOURCES):
        yield from (study.folder / session_folder(stage, session) / STAMP for session in sessions_of(stage, study))
    yield from (study.folder / path for stage in stages_of(study) for path in study_files(stage, study))


def _newer(paths: Iterable[Path], folder: Path) -> dict[Path, float]:
    """Files newer than now, and their times in s."""
    here = time.time()
    found = {path: changed for path in paths if (changed := _changed(path)) > here}
    return found and {path: changed for path, changed in found.items() if changed > _now(folder)}


def _changed(path: Path) -> float:
    """Time of a file, or of a later link to it, s; 0 where there is none."""
    try:
        return max(path.stat().st_mtime, path.lstat().st_mtime)
    except OSError:
        return 0.0


def _now(folder: Path) -> float:
    """Time of a file that is written now, s."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            return os.fstat(file.fileno()).st_mtime
    except OSError:  # a folder that cannot be written to
        return time.time()


def _dated(found: dict[Path, float]) -> str:
    path, changed = next(iter(found.items()))
    more = f", as are {len(found) - 1} more" if len(found) > 1 else ""
    return f"{path} is dated in the future ({_date(changed)}){more}; Snakemake would end the run"


def _date(changed: float) -> str:
    try:
        return datetime.fromtimestamp(changed).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{changed:.0f} s after 1970"


def _touch(paths: Sequence[Path]) -> str:
    """Command that sets the times of files, and of links to them, to now."""
    links = [path for path in paths if path.is_symlink()]
    if len(paths) <= _NAMED:
        linked = f" && touch -h {_quoted(links)}" if links else ""
        return f"touch {_quoted(paths)}{linked}"
    places = _quoted(path.parent for path in paths)
    linked = f" && find {places} -newermt now -exec touch -h {{}} +" if links else ""
    return f"find -L {places} -newermt now -exec touch {{}} +{linked}"


def _quoted(paths: Iterable[Path]) -> str:
    return " ".join(dict.fromkeys(shlex.quote(str(path.absolute())) for path in paths))

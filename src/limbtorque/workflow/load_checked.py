"""Load and check a study before any job starts, without its recordings."""

from __future__ import annotations

import filecmp
import os
import shlex
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from limbtorque.analysis.muscles import muscle_set_of
from limbtorque.analysis.reading import limb_of
from limbtorque.errors import SettingsError, StudyError
from limbtorque.motion.limb import Limb
from limbtorque.muscles.objective import check_options
from limbtorque.study.settings import Settings
from limbtorque.study.study import Study, load_study
from limbtorque.study.table_file import Follow
from limbtorque.study.trials import Trial
from limbtorque.uncertainty.sizes import faults_of_sizes, study_faults
from limbtorque.workflow.layout import RESULTS, STAMP, all_study_files, session_folder, stages_and_sessions

CHECKED = attrgetter("muscles", "plane", "segments", "uncertainty")
SIZED = attrgetter(
    "muscles", "plane", "segments", "uncertainty", "filter", "gaps", "plates"
)  # decide which errors concern a trial


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
    study = load_study(folder, overrides=config or None, follow=follow)
    chains = [study.settings.chain(name) for name in sorted({trial.chain for trial in study.trials})]
    faults = [
        *_muscle_set_faults(study),
        *_cutoffs_of_nobody(study),
        *study_faults(study.settings, chains),
        *faults_of_sizes(_limbs(study)),
        *_masses_of_no_segment(study),
        *_shared_recordings(study),
    ]
    options = study.settings.ensembles
    by_events = any(trial.settings.ensembles.window == "events" for trial in study.trials)
    if (options.start_event or options.end_event) and not by_events:
        faults.append(
            "ensembles.start_event and end_event have no meaning without ensembles.window: events; set it, too"
        )
    if faults:
        raise StudyError(list(dict.fromkeys(faults)))
    return study


def _muscle_set_faults(study: Study) -> Iterator[str]:
    """Faults of the muscle sets, and of options that do not fit them."""
    first: dict[tuple[object, ...], Trial] = {}  # trials with the same options share their sections
    for trial in study.trials:
        first.setdefault((trial.chain, *map(id, CHECKED(trial.settings))), trial)
    for trial in first.values():
        try:
            chosen = muscle_set_of(limb_of(trial), trial.settings, study.folder)
            if chosen:
                joints = [joint.name for joint in trial.settings.chain(trial.chain).joints]
                check_options(chosen, trial.settings.muscles, joints)
        except (SettingsError, OSError) as error:
            yield f"chain {trial.chain} (first in trial {trial.name}): {error}"


def _shared_recordings(study: Study) -> Iterator[str]:
    """Faults of recordings that two subjects have: one person would be counted twice."""
    owners: dict[int, set[str]] = {}  # subjects with a file of this size
    sizes = {trial.file: trial.file.stat().st_size for trial in study.trials}
    for trial in study.trials:
        owners.setdefault(sizes[trial.file], set()).add(trial.subject.name)
    alike: dict[tuple[int, bytes], list[Path]] = {}  # files of a size, with the same bytes in the middle
    same_as = {file: file for file in sizes}
    for file, size in sizes.items():
        if len(owners[size]) > 1:
            others = alike.setdefault((size, _middle(file, size)), [])
            same_as[file] = next((other for other in others if filecmp.cmp(other, file, shallow=False)), file)
            others.append(file)
    first: dict[tuple[Path, str, str], Trial] = {}  # two people in one file have prefixes or marker sets of their own
    for trial in study.trials:
        earlier = first.setdefault((same_as[trial.file], trial.prefix, trial.marker_set), trial)
        if earlier.subject.name != trial.subject.name:
            yield (
                f"{study.settings.trials} (trial {trial.name}): {trial.file.name} of subject {trial.subject.name} is the recording of "
                f"subject {earlier.subject.name} in trial {earlier.name}, expected one person's; correct file or subject, or, where "
                "both people are in the recording, name each one's labels in the column 'prefix'"
            )


def _middle(path: Path, size: int) -> bytes:
    """Bytes from the middle of a file."""
    with path.open("rb") as file:
        file.seek(size // 2)
        return file.read(4096)


def _limbs(study: Study) -> Iterator[tuple[Limb, Settings, bool]]:
    """Limbs with their settings, each kind once, and whether it has a muscle set."""
    first: dict[tuple[object, ...], tuple[Limb, Settings]] = {}
    for trial in study.trials:
        limb, sections = limb_of(trial), SIZED(trial.settings)
        kind = limb.chain, limb.marker_set, bool(limb.load), tuple(limb.measured)
        first.setdefault((*kind, *map(id, sections)), (limb, trial.settings))
    for limb, settings in first.values():
        yield limb, settings, bool(settings.muscle_set(limb.chain, study.folder))


def _masses_of_no_segment(study: Study) -> Iterator[str]:
    """Faults of added masses on segments that no limb, or not the trial's own, has."""
    segments = {
        trial.chain: [segment.name for segment in study.settings.chain(trial.chain).segments] for trial in study.trials
    }
    common, of_trials = study.settings.segments.added, sorted({name for names in segments.values() for name in names})
    given = [("", common, of_trials, "no limb of the trials has")]
    for trial in study.trials:
        if (added := trial.settings.segments.added) != common:
            where = f"{study.settings.trials} (trial {trial.name}): "
            given.append((where, added, segments[trial.chain], f"the chain {trial.chain} does not have"))
    for where, added, known, who in given:
        for name in added:
            if name not in known:
                yield (
                    f"{where}segments.added names {name}, which {who}; there are {', '.join(known)}; "
                    "name one of them, or remove the mass"
                )


def _cutoffs_of_nobody(study: Study) -> list[str]:
    """Faults of cut-offs for a chain and condition that no trial has."""
    known = sorted({name for trial in study.trials for name in (trial.chain, trial.cutoff_group)})
    return [
        f"filter.cutoffs_hz names {name!r}, which no trial has; there are {'; '.join(known)}"
        for name in study.settings.filter.cutoffs_hz
        if name not in known
    ]


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
    recordings = list(dict.fromkeys(file for trial in study.trials for file in trial.files))
    stamps = [session_folder(*folder) / STAMP for folder in stages_and_sessions(study)]
    results = [study.folder / path for path in (*stamps, *(path for _, path in all_study_files(study)))]
    places = _quoted(path.parent for path in recordings)
    faults = []
    for paths, command in (
        (recordings, f"find -L {places} {_NEWER} touch {{}} +; find {places} {_NEWER} touch -h {{}} +"),
        (results, f"find {_quoted([study.folder / RESULTS])} {_NEWER} touch -h {{}} +"),
    ):
        newer = {path: changed_s for path in paths if (changed_s := _changed(path)) > time.time()}
        now_s = _now(study.folder) if newer else 0.0
        newer = {path: changed_s for path, changed_s in newer.items() if changed_s > now_s}
        for path, changed_s in list(newer.items())[:1]:
            more = f", as are {len(newer) - 1} more" if len(newer) > 1 else ""
            faults.append(
                f"{path} is dated in the future ({np.datetime64(int(changed_s), 's')} UTC){more}; Snakemake would end the run; "
                f"set their time to now: {command}"
            )
    if faults:
        raise StudyError(faults)


_NEWER = "-newermt now -exec"


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


def _quoted(paths: Iterable[Path]) -> str:
    return " ".join(dict.fromkeys(shlex.quote(str(path.absolute())) for path in paths))

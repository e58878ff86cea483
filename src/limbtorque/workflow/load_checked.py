"""Load and check a study before any job starts, without its recordings."""

from __future__ import annotations

import filecmp
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from limbtorque.analysis.muscles import muscle_set_of
from limbtorque.analysis.reading import limb_of
from limbtorque.errors import SettingsError, StudyError, did_you_mean
from limbtorque.muscles.objective import check_options
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.statistics.contrast_design import contrast_faults
from limbtorque.study.files import SETTINGS_FILE
from limbtorque.study.study import Study, load_study
from limbtorque.study.trials import Trial
from limbtorque.study.universes import multiverse_faults
from limbtorque.uncertainty.sizes import study_faults
from limbtorque.workflow.reference_faults import reference_faults

CHECKED = attrgetter("muscles", "plane", "segments", "uncertainty")


def checked_study(folder: Path, config: Mapping[str, Any] | None = None) -> Study:
    """Load a study, and its muscle sets with it.

    Parameters
    ----------
    folder : Path
        The study's folder.
    config : mapping, optional
        Options of Snakemake's ``--config``.

    Raises
    ------
    SettingsError, StudyError
        Something is wrong with the settings, the tables or a muscle set.
    """
    study = load_study(folder, overrides=config or None)
    chains = [study.settings.chain(name) for name in sorted({trial.chain for trial in study.trials})]
    faults = [
        *_muscle_set_faults(study),
        *_channels_of_no_muscle(study),
        *_cutoffs_of_nobody(study),
        *study_faults(study.settings, chains),
        *_masses_of_no_segment(study),
        *_shared_recordings(study),
        *_contrast_faults(study),
        *reference_faults(study),
        *multiverse_faults(study),
    ]
    options = study.settings.ensembles
    by_events = any(trial.settings.ensembles.window == "events" for trial in study.trials)
    if (options.start_event or options.end_event) and not by_events:
        faults.append(
            f"{SETTINGS_FILE}: ensembles.start_event and ensembles.end_event have no effect without ensembles.window: events; set it "
            "as well, or in a column of the table of trials"
        )
    if faults:
        raise StudyError(list(dict.fromkeys(faults)))
    return study


def _muscle_set_faults(study: Study) -> Iterator[str]:
    """Faults of the muscle sets, and of incompatible options."""
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


def _channels_of_no_muscle(study: Study) -> Iterator[str]:
    """Faults of electromyography channels whose muscle no set of the study has."""
    predicted = [
        (name, trial) for trial in study.trials if (name := trial.settings.muscle_set(trial.chain, study.folder))
    ]
    if not any(trial.settings.emg.channels for _, trial in predicted):
        return
    try:
        sets = [load_muscle_set(name) for name in dict.fromkeys(name for name, _ in predicted)]
    except (SettingsError, OSError):  # told by `_muscle_set_faults`
        return
    known = {muscle for chosen in sets for muscle in chosen.names}
    expected = "; ".join(f"{', '.join(chosen.names)} (set {chosen.name})" for chosen in sets)
    for _, trial in predicted:
        for channel, muscles in trial.settings.emg.channels.items():
            for muscle in (muscle for muscle in muscles if muscle not in known):
                yield (
                    f"emg.channels: {channel!r} is of {muscle!r}, which the muscle set does not have{did_you_mean(muscle, known)}; "
                    f"expected {expected}; name one of them, remove the channel, or set muscles.enabled: false for envelopes alone"
                )


def _contrast_faults(study: Study) -> Iterator[str]:
    """Faults of declared contrasts."""
    muscles: dict[str, set[str]] = {}
    wanted = any(outcome.muscle for each in study.settings.contrasts.declared for outcome in each.outcomes)
    for trial in study.trials if wanted else ():
        if trial.chain not in muscles:
            chosen = muscle_set_of(limb_of(trial), trial.settings, study.folder)
            muscles[trial.chain] = {*chosen.names} if chosen else set()
    for contrast in study.settings.contrasts.declared:
        yield from contrast_faults(contrast, study.trials, muscles=muscles)


def _shared_recordings(study: Study) -> Iterator[str]:
    """Faults of recordings assigned to two subjects."""
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
                f"subject {earlier.subject.name} in trial {earlier.name}, expected one subject for each recording; correct file or subject, "
                "or, for two people in one recording, give the prefix of each in the column 'prefix'"
            )


def _middle(path: Path, size: int) -> bytes:
    """Bytes from the middle of a file."""
    with path.open("rb") as file:
        file.seek(size // 2)
        return file.read(4096)


def _masses_of_no_segment(study: Study) -> Iterator[str]:
    """Faults of added masses on segments missing in all limbs, or in the trial's limb."""
    segments = {
        trial.chain: [segment.name for segment in study.settings.chain(trial.chain).segments] for trial in study.trials
    }
    common, of_trials = study.settings.segments.added, sorted({name for names in segments.values() for name in names})
    given = [("", common, of_trials, "is not in any limb of the trials")]
    for trial in study.trials:
        if (added := trial.settings.segments.added) != common:
            where = f"{study.settings.trials} (trial {trial.name}): "
            given.append((where, added, segments[trial.chain], f"is not in the chain {trial.chain}"))
    for where, added, known, who in given:
        for name in added:
            if name not in known:
                yield (
                    f"{where}segments.added names {name}, which {who}; expected {', '.join(known)}; name "
                    "one of them, or remove the mass"
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
    """Refuse recordings dated in the future.

    Snakemake compares the time of an output with the times of its inputs, and ends the run where an input is the newer one,
    even within ``ancient()``. The clock is that of the study's file system, which on a server is not that of this machine.

    Parameters
    ----------
    study : Study
        The study.

    Raises
    ------
    StudyError
        Names the first of these recordings.
    """
    files = dict.fromkeys(file for trial in study.trials for file in trial.files)
    changed = {file: max(file.stat().st_mtime, file.lstat().st_mtime) for file in files}
    newer = [file for file, changed_s in changed.items() if changed_s > time.time()]
    now_s = _now(study.folder) if newer else 0.0
    newer = [file for file in newer if changed[file] > now_s]
    if newer:
        more = f", as are {len(newer) - 1} more" if len(newer) > 1 else ""
        raise StudyError(
            [f"{newer[0]} is dated in the future{more}; Snakemake would end the run; set the time to now: touch FILE"]
        )


def _now(folder: Path) -> float:
    """Time of a file that is written now, s."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            return os.fstat(file.fileno()).st_mtime
    except OSError:  # a folder that cannot be written to
        return time.time()

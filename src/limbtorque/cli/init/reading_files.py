"""Reading of a folder's files, with what they do not state themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from limbtorque.cli.init.known_sets import fits
from limbtorque.errors import ReadError
from limbtorque.recordings.join import forces_options
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.options.reading import Reading

DESCRIBED = {"marker_names": "descriptions"}


def read_with(
    reader: GuardedReader, path: Path, limits: Reading, answers: Mapping[str, Any]
) -> tuple[Recording, dict[str, Any]]:
    """Read a file, with answers to what it does not state.

    Parameters
    ----------
    reader : GuardedReader
        The reading process.
    path : Path
        The file.
    limits : Reading
        Options of all files.
    answers : mapping of str to object
        Options that are used only if the reader asks for them.

    Returns
    -------
    recording : Recording
        The recording. Where a known marker set is complete by the descriptions of the points and not by their labels, the
        markers have these names.
    used : dict of str to object
        The options that were needed.

    Raises
    ------
    ReadError
        The file cannot be read.
    """
    found, used = _read(reader, path, limits, answers)
    if path.suffix.lower() != ".c3d" or not found.labels or _recognised(found):
        return found, used
    described, _ = _read(reader, path, limits.model_copy(update={**used, **DESCRIBED}), answers)
    return (described, {**used, **DESCRIBED}) if _recognised(described) else (found, used)


def _recognised(recording: Recording) -> bool:
    """Return True if a known marker set is complete for a limb of somebody."""
    bodies: dict[str, list[str]] = {}
    for label in recording.labels:
        prefix, _, bare = label.rpartition(":")
        bodies.setdefault(prefix, []).append(bare)
    return any(not fit.missing for labels in bodies.values() for chain in (ARM, LEG) for fit in fits(labels, chain))


def _read(
    reader: GuardedReader, path: Path, limits: Reading, answers: Mapping[str, Any]
) -> tuple[Recording, dict[str, Any]]:
    """Recording, with those answers that its reader asks for."""
    given: dict[str, Any] = {"memory_limit_mb": limits.memory_limit_mb, "time_limit_s": limits.time_limit_s}
    used: dict[str, Any] = {}
    refused = ReadError("")
    while True:
        options = ReadOptions.of(limits.model_copy(update=used))
        try:
            found = reader.read(path, **given, options=options)
        except ReadError as error:
            asked = {name: answers[name] for name in answers if name not in used and f"reading.{name}" in str(error)}
            if not asked and "reading.length_unit" in str(error) and limits.forces_length_unit is not None:
                return _read_forces(reader, path, given, options, error), used
            if not asked:
                raise
            used |= asked
            refused = error
            continue
        if "length_unit" in used and not found.labels:  # of forces, to which another option applies
            if limits.forces_length_unit is None:
                raise refused
            return _read_forces(reader, path, given, ReadOptions.of(limits), refused), {}
        return found, used


def _read_forces(
    reader: GuardedReader, path: Path, given: Mapping[str, Any], options: ReadOptions, error: ReadError
) -> Recording:
    """Read a force file; raises the given error where it has markers, too."""
    found = reader.read(path, **given, options=forces_options(options))
    if found.labels:  # the unit was given for forces only
        raise error
    return found

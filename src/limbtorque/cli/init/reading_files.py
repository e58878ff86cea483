"""Reading of a folder's files, with what they do not state themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from limbtorque.cli.init.known_sets import fits
from limbtorque.errors import ReadError
from limbtorque.recordings.join import forces_options
from limbtorque.recordings.options import ReadOptions
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.options.reading import Reading

DESCRIBED = {"marker_names": "descriptions"}


class Labelled(Protocol):
    """Something read that names its markers."""

    @property
    def labels(self) -> Sequence[str]:
        """Labels of the markers."""
        ...


Found = TypeVar("Found", bound=Labelled)
Read = Callable[[ReadOptions], Found]  # reads a file with options


def read_with(
    read: Read[Found], path: Path, limits: Reading, answers: Mapping[str, Any]
) -> tuple[Found, dict[str, Any]]:
    """Read a file, with answers to what it does not state.

    Parameters
    ----------
    read : callable
        Reads the file with options.
    path : Path
        The file.
    limits : Reading
        Options of all files.
    answers : mapping of str to object
        Options that are used only if the reader asks for them.

    Returns
    -------
    found : object with labels
        The answer of `read`. Where a known marker set is complete by the descriptions of the points and not by their labels, the
        markers have these names.
    used : dict of str to object
        The options that were needed.

    Raises
    ------
    ReadError
        The file cannot be read.
    """
    found, used = _read(read, limits, answers)
    if path.suffix.lower() != ".c3d" or not found.labels or _recognised(found.labels):
        return found, used
    described, _ = _read(read, limits.model_copy(update={**used, **DESCRIBED}), answers)
    return (described, {**used, **DESCRIBED}) if _recognised(described.labels) else (found, used)


def _recognised(labels: Sequence[str]) -> bool:
    """Return True if a known marker set is complete for a limb of somebody."""
    bodies: dict[str, list[str]] = {}
    for label in labels:
        prefix, _, bare = label.rpartition(":")
        bodies.setdefault(prefix, []).append(bare)
    return any(not fit.missing for of_body in bodies.values() for chain in (ARM, LEG) for fit in fits(of_body, chain))


def _read(read: Read[Found], limits: Reading, answers: Mapping[str, Any]) -> tuple[Found, dict[str, Any]]:
    """Read a file, with those answers that its reader asks for."""
    used: dict[str, Any] = {}
    refused = ReadError("")
    while True:
        try:
            found = read(ReadOptions.of(limits.model_copy(update=used)))
        except ReadError as error:
            asked = {name: answers[name] for name in answers if name not in used and f"reading.{name}" in str(error)}
            if not asked and "reading.length_unit" in str(error) and limits.forces_length_unit is not None:
                return _read_forces(read, limits, error), used
            if not asked:
                raise
            used |= asked
            refused = error
            continue
        if "length_unit" in used and not found.labels:  # of forces, to which another option applies
            if limits.forces_length_unit is None:
                raise ReadError(str(refused).replace("reading.length_unit", "reading.forces_length_unit"))
            return _read_forces(read, limits, refused), {}
        return found, used


def _read_forces(read: Read[Found], limits: Reading, error: ReadError) -> Found:
    """Read a force file; raises the given error where it has markers, too."""
    found = read(forces_options(ReadOptions.of(limits)))
    if found.labels:  # the unit was given for forces only
        raise error
    return found

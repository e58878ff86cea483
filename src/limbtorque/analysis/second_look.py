"""Check of a study's C3D files with a second reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from limbtorque.analysis.reading import TrialReader
from limbtorque.recordings.differences import SecondReading
from limbtorque.recordings.join import forces_options
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.options.reading import Reading
from limbtorque.study.study import Study

DIFFERENCES = "second_reader_differences"  # the metric and its flag
CHECKED_BY = "ezc3d"  # by `limbtorque check`, where the settings name no library
Asked = tuple[Path, str, ReadOptions]


def second_look(
    file: Path, forces_file: Path | None, reading: Reading, reader: GuardedReader | TrialReader
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Compare a trial's C3D files with the library of `reading.second_reader`.

    Parameters
    ----------
    file, forces_file : Path
        The trial's recording, and that of its force plates where it is another one.
    reading : Reading
        Options of the section `reading`.
    reader : GuardedReader or TrialReader
        Reads the files; a crash of the library ends its process only.

    Returns
    -------
    metrics : dict of str to float
        Number of differences; empty where no library is set or it reads none of the files.
    notes : tuple of str
        What was compared, and every difference.
    """
    if reading.second_reader in (None, "none"):
        return {}, ()
    readings = [reader.compare(*asked) for asked in _asked(file, forces_file, reading)]
    known = [second for second in readings if second]
    read = [second for second in known if not second.refused]
    doubts = [second.doubt for second in read if second.doubt]
    notes = [f"second reader, {second.source}: {line}" for second in known for line in second.sentences]
    n = float(sum(len(second.differences) for second in read))
    return ({DIFFERENCES: n} if read else {}), (*doubts, *notes)


def second_looks(study: Study, reader: GuardedReader | TrialReader) -> Iterator[SecondReading]:
    """Compare every C3D file of a study once.

    Parameters
    ----------
    study, reader
        The study; as of `second_look`.

    Yields
    ------
    SecondReading
        One for each file that our reader reads, by the library of `reading.second_reader`, or by ezc3d where it is null.
    """
    yield from filter(None, (reader.compare(*asked) for asked in asked_files(study)))


def lines_by_kind(readings: Sequence[SecondReading], *, in_run: bool = False) -> list[str]:
    """Summarise comparisons: an overall line, and a line for each kind of difference.

    `in_run`: the study's runs also compare, and flag the trials.
    """
    if not readings:
        return []
    alike = sum(not (one.refused or one.differences) for one in readings)
    readers = ", ".join(sorted({one.reader for one in readings if not one.refused} or {one.reader for one in readings}))
    kinds = [
        *((f"{d.field} differs", one.source, d.sentence) for one in readings for d in one.differences),
        *(("partly read", one.source, note) for one in readings for note in one.notes),
        *(("not read by it", one.source, one.refused) for one in readings if one.refused),
    ]
    lines = [f"second reader {readers}: the same numbers in {alike} of {len(readings)} C3D files"]
    for kind, members in groupby(sorted(kinds), key=lambda one: one[0]):
        listed = list(members)
        n = len({source for _, source, _ in listed})
        lines.append(f"  {kind}: {n} file{'s' if n > 1 else ''}, first {listed[0][1]}: {listed[0][2]}")
    if any(one.differences for one in readings):
        flagged = "a run flags trials whose files differ" if in_run else "set it to compare in every run"
        lines.append(
            f"  {flagged} (reading.second_reader); all differences of a file: limbtorque inspect --compare FILE"
        )
    return lines


def compares_in_run(study: Study) -> bool:
    """True if a run of the study compares the files of any trial."""
    return any(trial.settings.reading.second_reader not in (None, "none") for trial in study.trials)


def asked_files(study: Study) -> list[Asked]:
    """C3D files of a study, with their library and the options of one trial."""
    sources = {  # trials share options and files
        (trial.file, trial.forces_file, id(trial.settings.reading)): trial.settings.reading for trial in study.trials
    }
    asked = {
        one: None
        for (file, forces_file, _), reading in sources.items()
        if reading.second_reader != "none"
        for one in _asked(file, forces_file, reading)
    }
    return list(asked)


def _asked(file: Path, forces_file: Path | None, reading: Reading) -> list[Asked]:
    """C3D files among these, with reader options and library."""
    options = ReadOptions.of(reading)
    files = [(file, options), *([(forces_file, forces_options(options))] if forces_file else [])]
    return [(path, reading.second_reader or CHECKED_BY, own) for path, own in files if path.suffix.lower() == ".c3d"]

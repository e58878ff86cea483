"""Electromyography of a trial: read its files, and its maximal trials once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.emg.onsets import METHODS
from limbtorque.emg.recorded import Electromyography, Maxima, electromyography, peaks
from limbtorque.errors import TrialError
from limbtorque.recordings.join import start_s
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.trials import Trial
from limbtorque.tables.column import Column
from limbtorque.tables.emg_columns import envelope_columns
from limbtorque.tables.files import make_table


@dataclass
class EmgReader:
    """Reads electromyography; the maximal trials of a session are processed once.

    Attributes
    ----------
    reader : GuardedReader
        Reads the files.
    """

    reader: GuardedReader
    _maxima: dict[tuple[Path, str], Maxima] = field(default_factory=dict)

    def of(self, trial: Trial, time_s: FloatArray) -> tuple[Electromyography | None, tuple[str, ...]]:
        """Electromyography at the frames of a trial, or None, and notes on it.

        A file or channel that cannot be used is a note: torques and muscle forces do not depend on it.
        """
        if not trial.settings.emg.channels:
            return None, ()
        try:
            recording, begin_s = self._recording(trial)
            maxima, told = self._largest(trial)
            found = electromyography(recording, time_s, trial.side, trial.settings.emg, start_s=begin_s, maxima=maxima)
        except TrialError as error:
            return None, (f"electromyography: {error}",)
        return found, (*told, *found.notes)

    def _recording(self, trial: Trial) -> tuple[Recording, float]:
        """Recording with the channels, and its first sample's time on the trial, s."""
        markers = self._read(trial, trial.file, trial.forces_file)
        if trial.emg_file is None:
            return markers, 0.0
        found = self._read(trial, trial.emg_file, analog_only=True)
        return found, start_s(found) - start_s(markers) + trial.settings.emg.file_offset_s

    def _largest(self, trial: Trial) -> tuple[Maxima | None, list[str]]:
        """Largest envelopes of the maximal trials, and notes on unusable ones."""
        found: Maxima = {}
        told = []
        for file in trial.maximal_files:
            try:
                for key, peak in self._peaks(trial, file).items():
                    found[key] = max(found.get(key, 0.0), peak)
            except TrialError as error:
                told.append(f"electromyography: maximal trial left out: {error}")
        return found if trial.maximal_files else None, told

    def _peaks(self, trial: Trial, file: Path) -> Maxima:
        options = trial.settings.emg
        key = (file, options.model_dump_json())
        if key not in self._maxima:
            self._maxima[key] = peaks(self._read(trial, file, analog_only=True), options)
        return self._maxima[key]

    def _read(self, trial: Trial, file: Path, forces: Path | None = None, *, analog_only: bool = False) -> Recording:
        reading = trial.settings.reading
        return self.reader.read(
            file,
            memory_limit_mb=reading.memory_limit_mb,
            time_limit_s=reading.time_limit_s,
            options=ReadOptions.of(reading, analog_only=analog_only),
            forces=forces,
        )


def own_columns(trial: Trial) -> Sequence[Column]:
    """Columns of electromyography in a trial's table."""
    return [*envelope_columns(trial.settings.emg.muscles)]


def with_envelopes(table: pa.Table, found: Electromyography | None, columns: Sequence[Column], some: slice) -> pa.Table:
    """Table of some frames with the columns of electromyography at its end."""
    if not columns:
        return table
    n_frames = len(table)
    values: Mapping[str, Any] = {column.name: [float("nan")] * n_frames for column in columns}
    if found is not None:
        values = {f"{muscle}_envelope": found.envelope[some, m] for m, muscle in enumerate(found.muscles)} | {
            f"{muscle}_active_{method}": found.activity[method][some, m]
            for m, muscle in enumerate(found.muscles)
            for method in METHODS
        }
    added = make_table(columns, values)
    for name in added.column_names:
        table = table.append_column(added.schema.field(name), added.column(name))
    return table

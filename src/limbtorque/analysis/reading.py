"""Read the files of a trial: its recording, and its electromyography."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.emg.processing import METHODS
from limbtorque.emg.recorded import Electromyography, Maxima, electromyography, peaks
from limbtorque.errors import TrialError
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import beside
from limbtorque.recordings.differences import SecondReading
from limbtorque.recordings.join import start_s
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Recording, with_static
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.options.muscles import Emg as EmgOptions
from limbtorque.study.settings import Settings
from limbtorque.study.trials import Trial
from limbtorque.tables.files import make_table
from limbtorque.tables.muscle_columns import envelope_columns

Emg = tuple[Electromyography | None, tuple[str, ...]]
"""Electromyography at the frames of a trial, or None, and notes on it."""


def limb_of(trial: Trial) -> Limb:
    """Limb of a trial, from its row in the table of trials."""
    return Limb(
        trial.chain,
        side=trial.side,
        body_mass_kg=trial.subject.mass_kg,
        marker_set=trial.marker_set,
        prefix=trial.prefix,
        measured=trial.subject.measured,
        load=trial.load,
        start_s=trial.start_s,
        end_s=trial.end_s,
        height_m=trial.subject.height_m,
        sex=trial.subject.sex,
        subject=trial.subject.name,
        trial=trial.name,
    )


@dataclass
class TrialReader:
    """Reads the files of trials within their limits.

    Attributes
    ----------
    reader : GuardedReader
        Reads a file; a crash of a library ends its process only.
    keep_bytes : int
        Memory for recordings that are kept for their other trials: both limbs of a walk are in one file.
    """

    reader: GuardedReader
    keep_bytes: int = 0
    _maxima: dict[tuple[Path, str], Maxima] = field(default_factory=dict)
    _kept: dict[tuple[Any, ...], Recording] = field(default_factory=dict)
    _compared: dict[tuple[Path, str, ReadOptions], SecondReading | None] = field(default_factory=dict)

    def recording(self, trial: Trial) -> Recording:
        """Recording of a trial with its static trial."""
        recording = self._read(trial, trial.file, trial.forces_file)
        return with_static(recording, self._read(trial, trial.static_file)) if trial.static_file else recording

    def compare(self, path: Path, library: str, options: ReadOptions) -> SecondReading | None:
        """Compare a file with another library, once; as `GuardedReader.compare`."""
        key = (path, library, options)
        if key not in self._compared:
            self._compared[key] = self.reader.compare(path, library, options)
        return self._compared[key]

    def emg(self, trial: Trial, time_s: FloatArray) -> Emg:
        """Electromyography at the frames of a trial, or None, and notes on it.

        A file or channel that cannot be used is a note: torques and muscle forces do not depend on it.
        """
        if not trial.settings.emg.channels:
            return None, ()
        try:
            recording, begin_s = self._read(trial, trial.file, trial.forces_file), 0.0
            if trial.emg_file is not None:
                channels = self._read(trial, trial.emg_file, analog_only=True)
                begin_s = start_s(channels) - start_s(recording) + trial.settings.emg.file_offset_s
                recording = channels
            maxima, notes = self._largest(trial)
        except TrialError as error:
            return None, (f"electromyography: {error}",)
        return emg_of(recording, trial.side, trial.settings, time_s, start_s=begin_s, maxima=maxima, notes=notes)

    def _largest(self, trial: Trial) -> tuple[Maxima | None, list[str]]:
        """Largest envelopes of the maximal trials, and notes on unusable trials."""
        largest: Maxima = {}
        notes = []
        for file in trial.maximal_files:
            try:
                key = (file, trial.settings.emg.model_dump_json())
                if key not in self._maxima:
                    self._maxima[key] = peaks(self._read(trial, file, analog_only=True), trial.settings.emg)
                for channel, peak in self._maxima[key].items():
                    largest[channel] = max(largest.get(channel, 0.0), peak)
            except TrialError as error:
                notes.append(f"electromyography: maximal trial left out: {error}")
        return largest if trial.maximal_files else None, notes

    def _read(self, trial: Trial, file: Path, forces: Path | None = None, *, analog_only: bool = False) -> Recording:
        options = ReadOptions.of(trial.settings.reading, analog_only=analog_only)
        key = (file, forces, options)
        if key in self._kept:
            return self._kept[key]
        recording = self.reader.read(file, options=options, forces=forces)
        size = recording.markers_m.nbytes + recording.analog.nbytes
        if size <= self.keep_bytes:
            self._kept[key] = recording
            self.keep_bytes -= size
        return recording


def emg_of(
    recording: Recording,
    side: str,
    settings: Settings,
    time_s: FloatArray,
    *,
    start_s: float = 0.0,
    maxima: Maxima | None = None,
    notes: Sequence[str] = (),
) -> Emg:
    """Electromyography of a recording, or None, and notes on it.

    Parameters
    ----------
    recording : Recording
        The recording with the channels.
    side : str
        Side of the limb.
    settings : Settings
        The section `emg`.
    time_s : ndarray of shape (n_frames,)
        Times of the frames, s.
    start_s : float, optional
        Time of the recording's first sample, s.
    maxima : mapping, optional
        Largest envelopes in maximal trials, by channel.
    notes : sequence of str, optional
        Earlier notes.
    """
    if not settings.emg.channels:
        return None, ()
    try:
        recorded = electromyography(recording, time_s, side, settings.emg, start_s=start_s, maxima=maxima)
    except TrialError as error:
        return None, (f"electromyography: {error}",)
    return recorded, (*notes, *recorded.notes)


def with_envelopes(table: pa.Table, recorded: Electromyography | None, options: EmgOptions, frames: slice) -> pa.Table:
    """Table of selected frames with the electromyography columns appended."""
    columns = [*envelope_columns(options.muscles)]
    if not columns:
        return table
    values: dict[str, Any] = {column.name: [float("nan")] * len(table) for column in columns}
    if recorded is not None:
        for m, muscle in enumerate(recorded.muscles):
            values[f"{muscle}_envelope"] = recorded.envelope[frames, m]
            values |= {f"{muscle}_active_{method}": recorded.activity[method][frames, m] for method in METHODS}
    return beside(table, make_table(columns, values))

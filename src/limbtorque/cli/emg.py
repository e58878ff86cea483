"""Electromyography without torques: the work of `limbtorque emg`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.emg.onsets import METHODS
from limbtorque.emg.recorded import Electromyography, Maxima, electromyography, peaks
from limbtorque.emg.summary import co_contraction_rows, emg_summary
from limbtorque.errors import TrialError
from limbtorque.recordings.emg_channels import EmgChannel, emg_channels
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.options.emg import Emg
from limbtorque.study.settings import Settings
from limbtorque.tables.column import FRAME_COLUMNS, Column
from limbtorque.tables.emg_columns import EMG_CO_CONTRACTION_COLUMNS, EMG_SUMMARY_COLUMNS, envelope_columns
from limbtorque.tables.files import make_table, table_of_rows, write_table

WINDOW = "recording"
RECORDING_COLUMN = Column("recording", "", "name of the recording", kind=str)


@dataclass(frozen=True)
class Done:
    """Result for one recording.

    Attributes
    ----------
    table : pyarrow.Table
        Envelopes and activity at the frames of the recording.
    rows, pairs : list of dict
        Rows of `emg_summary.csv` and `emg_co_contraction.csv`.
    notes : tuple of str
        Sentences on channels.
    """

    table: pa.Table
    rows: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    notes: tuple[str, ...]


def analyse_files(
    files: Sequence[Path], folder: Path, *, settings: Settings, side: str, maximal: Sequence[Path] = ()
) -> list[str]:
    """Write tables and figures of the electromyography of recordings.

    Parameters
    ----------
    files : sequence of Path
        The recordings; no two of one name.
    folder : Path
        Folder of the results: `<name>_emg.csv`, `<name>_emg.png`, `emg_summary.csv` and `emg_co_contraction.csv`.
    settings : Settings
        Settings; sections `emg` and `reading` are used. Without `emg.channels`, all recognised channels are taken.
    side : str
        ``"left"`` or ``"right"``, for {S} in `emg.channels`.
    maximal : sequence of Path, optional
        Recordings of maximum voluntary contractions.

    Returns
    -------
    list of str
        Lines for the terminal.

    Raises
    ------
    TrialError
        A file cannot be read, or has no channel of electromyography.
    """
    with GuardedReader() as reader:
        read = [_read(reader, path, settings) for path in (*files, *maximal)]
    recordings, own = read[: len(files)], settings.emg
    largest: Maxima = {}
    for one in read[len(files) :]:
        for key, peak in peaks(one, own).items():
            largest[key] = max(largest.get(key, 0.0), peak)
    said, rows, pairs = list[str](), list[dict[str, Any]](), list[dict[str, Any]]()
    for path, recording in zip(files, recordings, strict=True):
        done = analyse(recording, own, side=side, maxima=largest if maximal else None)
        _write(done, folder / f"{path.stem}_emg", path.stem)
        rows += [{"recording": path.stem, **row} for row in done.rows]
        pairs += [{"recording": path.stem, **row} for row in done.pairs]
        said += done.notes
    for name, columns, found in (
        ("emg_summary", EMG_SUMMARY_COLUMNS, rows),
        ("emg_co_contraction", EMG_CO_CONTRACTION_COLUMNS, pairs),
    ):
        of_study = {column.name for column in FRAMES_OF_STUDY}
        chosen = [RECORDING_COLUMN, *(column for column in columns if column.name not in of_study)]
        write_table(table_of_rows(chosen, found), folder / f"{name}.csv")
    return [*said, f"written: {folder}/emg_summary.csv and a table and figure for each of {len(files)} recordings"]


FRAMES_OF_STUDY = (*EMG_SUMMARY_COLUMNS[:7],)  # trial, session ... muscle_status: a recording alone has none


def analyse(recording: Recording, options: Emg, *, side: str, maxima: Maxima | None = None) -> Done:
    """Electromyography of one recording, at its frames.

    Parameters
    ----------
    recording : Recording
        The recording.
    options : Emg
        Section `emg` of the settings.
    side : str
        ``"left"`` or ``"right"``.
    maxima : dict, optional
        Largest envelopes in maximal trials.
    """
    if not options.channels:
        options = options.model_copy(update={"channels": _all_channels(recording)})
    options = options.model_copy(update={"delay_s": 0.0})  # nothing is predicted
    time_s = recording.time_s
    found = electromyography(recording, time_s, side, options, maxima=maxima)
    every = {WINDOW: np.ones(len(time_s), dtype=bool)}
    nothing = np.zeros((len(time_s), 0))
    rows = emg_summary(
        found,
        nothing,
        (),
        time_s=time_s,
        known=every[WINDOW],
        windows=every,
        options=options,
        min_known_share=1.0,
    )
    return Done(_table(recording, found), rows, co_contraction_rows(found, every, options.antagonists), found.notes)


def _all_channels(recording: Recording) -> dict[str, tuple[str, ...]]:
    """Recognised channels, each with a name for its columns."""
    channels = emg_channels(recording)
    if not channels:
        raise TrialError(
            f"{recording.source}: no channel of electromyography among {len(recording.analog_labels)} analog channels; expected EMG or a "
            "muscle in label or description; name the channels in emg.channels (--settings)"
        )
    count = Counter(_muscle(one) for one in channels)
    named = {one.label: _muscle(one) for one in channels}
    return {
        label: (name if name and count[name] == 1 else re.sub(r"\W+", "_", label).strip("_"),)
        for label, name in named.items()
    }


def _muscle(channel: EmgChannel) -> str:
    return "_".join(filter(None, (channel.side, channel.muscle))) if channel.muscle else ""


def _table(recording: Recording, found: Electromyography) -> pa.Table:
    """Frames, envelopes and activity."""
    n_frames = recording.n_frames
    zero = np.zeros(n_frames, dtype=int)
    values: dict[str, Any] = {
        "frame": recording.first_frame + np.arange(n_frames),
        "time_s": recording.time_s,
        "edge": zero,
        "foreshortened": zero,
    }
    for m, muscle in enumerate(found.muscles):
        values[f"{muscle}_envelope"] = found.envelope[:, m]
        values |= {f"{muscle}_active_{method}": found.activity[method][:, m] for method in METHODS}
    return make_table([*FRAME_COLUMNS, *envelope_columns(found.muscles)], values)


def _write(done: Done, path: Path, name: str) -> None:
    """Write table and figure of a recording."""
    from limbtorque.figures.muscle_figures import emg_figure  # matplotlib: a slow import
    from limbtorque.figures.style import save_figure

    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(done.table, path.with_name(f"{path.name}.csv"))
    save_figure(
        emg_figure(done.table, done.rows, title=f"{name}: electromyography"), path.with_name(f"{path.name}.png")
    )


def _read(reader: GuardedReader, path: Path, settings: Settings) -> Recording:
    reading = settings.reading
    return reader.read(
        path,
        memory_limit_mb=reading.memory_limit_mb,
        time_limit_s=reading.time_limit_s,
        options=ReadOptions.of(reading, analog_only=True),
    )

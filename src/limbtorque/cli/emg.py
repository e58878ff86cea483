"""Electromyography without torques, for `limbtorque emg`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.emg.processing import METHODS
from limbtorque.emg.recorded import Electromyography, Maxima, electromyography, peaks
from limbtorque.emg.summary import co_contraction_rows, emg_summary
from limbtorque.errors import TrialError
from limbtorque.figures.muscle_figures import emg_figure
from limbtorque.figures.style import save_figure
from limbtorque.recordings.emg_channels import emg_channels
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.recording import Recording
from limbtorque.recordings.sandbox import GuardedReader
from limbtorque.study.options.muscles import Emg
from limbtorque.study.settings import Settings
from limbtorque.tables.column import FRAME_COLUMNS, Column
from limbtorque.tables.files import make_table, table_of_rows, write_table
from limbtorque.tables.muscle_columns import EMG_CO_CONTRACTION_COLUMNS, EMG_SUMMARY_COLUMNS, envelope_columns

WINDOW = "recording"
FRAMES_OF_STUDY = [
    column.name for column in EMG_SUMMARY_COLUMNS[:7]
]  # trial ... muscle_status: a recording alone has none
RECORDING_COLUMN = Column("recording", "", "name of the recording", kind=str)


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
    reading, options = settings.reading, settings.emg
    channels = ReadOptions.of(reading, analog_only=True)
    with GuardedReader() as reader:
        recordings = [
            reader.read(path, memory_limit_mb=reading.memory_limit_mb, options=channels) for path in (*files, *maximal)
        ]
    largest: Maxima = {}
    for recording in recordings[len(files) :]:
        for key, peak in peaks(recording, options).items():
            largest[key] = max(largest.get(key, 0.0), peak)
    notes, summary, pairs = list[str](), list[dict[str, Any]](), list[dict[str, Any]]()
    folder.mkdir(parents=True, exist_ok=True)
    for path, recording in zip(files, recordings, strict=False):
        signals, rows, antagonists = analyse(recording, options, side=side, maxima=largest if maximal else None)
        table = _table(recording, signals)
        write_table(table, folder / f"{path.stem}_emg.csv")
        figure = emg_figure(table, rows, title=f"{path.stem}: electromyography")
        save_figure(figure, folder / f"{path.stem}_emg.png")
        summary += [{"recording": path.stem, **row} for row in rows]
        pairs += [{"recording": path.stem, **row} for row in antagonists]
        notes += signals.notes
    for name, columns, rows in (
        ("emg_summary", EMG_SUMMARY_COLUMNS, summary),
        ("emg_co_contraction", EMG_CO_CONTRACTION_COLUMNS, pairs),
    ):
        chosen = [RECORDING_COLUMN, *(column for column in columns if column.name not in FRAMES_OF_STUDY)]
        write_table(table_of_rows(chosen, rows), folder / f"{name}.csv")
    return [*notes, f"written: {folder}/emg_summary.csv and a table and figure for each of {len(files)} recordings"]


def analyse(
    recording: Recording, options: Emg, *, side: str, maxima: Maxima | None = None
) -> tuple[Electromyography, list[dict[str, Any]], list[dict[str, Any]]]:
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

    Returns
    -------
    signals : Electromyography
        Envelopes and activity at the frames of the recording.
    rows, pairs : list of dict
        Rows of `emg_summary.csv` and `emg_co_contraction.csv`.
    """
    channels = options.channels or _all_channels(recording)
    options = options.model_copy(update={"channels": channels, "delay_s": 0.0})  # nothing is predicted
    time_s = recording.time_s
    signals = electromyography(recording, time_s, side, options, maxima=maxima)
    every = {WINDOW: np.ones(len(time_s), dtype=bool)}
    rows = emg_summary(
        signals,
        np.zeros((len(time_s), 0)),
        (),
        time_s=time_s,
        known=every[WINDOW],
        windows=every,
        min_known_share=1.0,
    )
    return signals, rows, co_contraction_rows(signals, every, options.antagonists)


def _all_channels(recording: Recording) -> dict[str, tuple[str, ...]]:
    """Recognised channels with their column names."""
    channels = emg_channels(recording)
    if not channels:
        raise TrialError(
            f"{recording.source}: no electromyography channel among {len(recording.analog_labels)} analog channels; expected EMG or a "
            "muscle's name in label or description; name the channels in emg.channels (--settings)"
        )
    named = {
        channel.label: "_".join(filter(None, (channel.side, channel.muscle))) if channel.muscle else ""
        for channel in channels
    }
    count = Counter(named.values())
    return {
        label: (name if name and count[name] == 1 else re.sub(r"\W+", "_", label).strip("_"),)
        for label, name in named.items()
    }


def _table(recording: Recording, signals: Electromyography) -> pa.Table:
    """Frames, envelopes and activity."""
    n_frames = recording.n_frames
    zero = np.zeros(n_frames, dtype=int)
    values: dict[str, Any] = {
        "frame": recording.first_frame + np.arange(n_frames),
        "time_s": recording.time_s,
        "edge": zero,
        "foreshortened": zero,
    }
    for m, muscle in enumerate(signals.muscles):
        values[f"{muscle}_envelope"] = signals.envelope[:, m]
        values |= {f"{muscle}_active_{method}": signals.activity[method][:, m] for method in METHODS}
    return make_table([*FRAME_COLUMNS, *envelope_columns(signals.muscles)], values)

"""Measure the processing of electromyograms: errors of onsets and offsets of simulated bursts, false activity, time.

Usage: python benchmarks/emg_processing.py [--write]

Each signal has three bursts of noise of 60 to 200 Hz at 2000 Hz, in rest of the same spectrum or of white noise of 20 to 450 Hz.
The time is that of everything that is computed of a trial's channels. ``--write`` puts the table into ``docs/emg.md``.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.emg.processing import METHODS as ONSET_METHODS
from limbtorque.emg.processing import quietest
from limbtorque.emg.recorded import electromyography
from limbtorque.recordings.recording import Recording
from limbtorque.study.options.muscles import Emg

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "emg.md"
BEGIN, END = "<!-- begin: printed by benchmarks/emg_processing.py -->\n", "<!-- end: benchmarks/emg_processing.py -->\n"
ONSETS_S, OFFSETS_S = [1.0, 2.2, 3.6], [1.4, 2.7, 4.1]
RATE_HZ, LENGTH_S, REST_S = 2000.0, 5.0, 0.25
SIGNALS, NOISE_DB = 50, (26, 14, 8)
METHODS = {"hodges_bui": "Hodges and Bui (1996)", "bonato": "Bonato et al. (1998)"}
CHANNELS, TRIAL_S, FRAMES_HZ, TURNS = 16, 10.0, 200.0, 15


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into docs/emg.md")
    write = parser.parse_args().write
    sys.path.append(str(ROOT / "tests"))
    text = "\n".join([*onset_lines(), "", steady_line(), "", time_line()]) + "\n"
    if write:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")
    else:
        print(text)


def onset_lines() -> Iterator[str]:
    """Lines of the table of errors."""
    today = datetime.datetime.now(tz=datetime.UTC).date()
    yield f"Measured on {today.day} {today:%B %Y}; errors in ms, rest of the same spectrum; of white noise."
    yield ""
    yield f"| signal to noise | method | whole pattern found, of {SIGNALS} | onset, median | offset, median | standard deviation, at most |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for level in NOISE_DB:
        for method, title in METHODS.items():
            found = [errors_s(method, level, white=white) for white in (False, True)]
            cells = [[f"{len(one) / len(ONSETS_S):.0f}" for one in found]]
            cells += [[f"{1e3 * np.median(one[:, end]):.0f}" for one in found] for end in (0, 1)]
            cells += [[f"{1e3 * one.std(axis=0).max():.0f}" for one in found]]
            yield f"| {level} dB | {title} | {' | '.join('; '.join(pair) for pair in cells)} |"


def errors_s(method: str, level_db: float, *, white: bool) -> FloatArray:
    """Errors of onset and offset of every burst of the signals whose whole pattern is found, shape (n_bursts, 2)."""
    errors = []
    for seed in range(SIGNALS):
        active = activity(simulated(level_db, white=white, seed=seed), method)
        found = np.flatnonzero(np.diff(active, prepend=False, append=False)).reshape(-1, 2) / RATE_HZ
        if len(found) == len(ONSETS_S):
            errors += [(on - t, off - u) for (on, off), t, u in zip(found, ONSETS_S, OFFSETS_S, strict=True)]
    return np.array(errors)


def simulated(level_db: float, *, white: bool, seed: int) -> FloatArray:
    """Three bursts with noise of a level below them, shape (n_samples,)."""
    from emg_signals import bursts as made
    from emg_signals import noise

    count, rest = round(LENGTH_S * RATE_HZ), 10.0 ** (-level_db / 20.0)
    signal: FloatArray = made(count, ONSETS_S, OFFSETS_S, rest=0.0 if white else rest, seed=seed, rate_hz=RATE_HZ)
    return signal + rest * noise(count, seed=1000 + seed, band_hz=(20.0, 450.0), rate_hz=RATE_HZ) if white else signal


def activity(signal: FloatArray, method: str) -> FloatArray:
    """Samples of a signal in which the muscle is active."""
    columns = signal[:, None]
    rest = quietest(columns, rate_hz=RATE_HZ, length_s=REST_S)
    return np.asarray(ONSET_METHODS[method](columns, rate_hz=RATE_HZ, baselines=rest)[:, 0])


def steady_line() -> str:
    """Part of the time that each method calls active in noise without a burst."""
    from emg_signals import noise

    shares = {
        title: np.mean(
            [
                activity(noise(20_000, seed=seed, band_hz=band), method).mean()
                for seed in range(10)
                for band in ((60.0, 200.0), (20.0, 450.0))
            ]
        )
        for method, title in METHODS.items()
    }
    listed = ", ".join(f"{title} {share:.1%}" for title, share in shares.items())
    return f"Fraction of time active in steady noise: {listed}."


def time_line() -> str:
    """Processor time of the channels of a trial."""
    from emg_signals import bursts as made

    count = round(TRIAL_S * RATE_HZ)
    labels = tuple(f"EMG {k}" for k in range(CHANNELS))
    frames_s = np.arange(round(FRAMES_HZ * TRIAL_S)) / FRAMES_HZ
    recording = Recording(
        "trial.c3d",
        "",
        "",
        (),
        np.zeros((len(frames_s), 0, 3)),
        FRAMES_HZ,
        1,
        analog_labels=labels,
        analog_units=("mV",) * CHANNELS,
        analog=np.column_stack([made(count, ONSETS_S, OFFSETS_S, seed=k) for k in range(CHANNELS)]),
        analog_rate_hz=RATE_HZ,
    )
    options = Emg(channels={label: f"muscle_{k}" for k, label in enumerate(labels)})
    times_s = []
    for _ in range(TURNS):
        start = time.process_time()
        electromyography(recording, frames_s, "right", options)
        times_s.append(time.process_time() - start)
    spent = f"{1e3 * np.median(times_s):.0f} ms of processor time (least {1e3 * min(times_s):.0f})"
    return f"{CHANNELS} channels of {TRIAL_S:.0f} s at {RATE_HZ:.0f} Hz with all computations: {spent}."


if __name__ == "__main__":
    main()

"""Simulated electromyograms: Gaussian noise of a known spectrum and a known standard deviation over time."""

from functools import cache

import numpy as np
from scipy import signal

RATE_HZ = 2000.0


def noise(n_samples, *, seed=1, band_hz=(60.0, 200.0), rate_hz=RATE_HZ):
    """Gaussian noise with a standard deviation of 1 in a band, the range of most of a surface electromyogram's power."""
    sections, size = band_of(band_hz, rate_hz)
    return signal.sosfilt(sections, np.random.default_rng(seed).standard_normal(n_samples + 2000))[2000:] / size


@cache
def band_of(band_hz, rate_hz):
    """Filter of a band, and the standard deviation that it leaves of white noise."""
    sections = signal.butter(2, band_hz, "bandpass", fs=rate_hz, output="sos")
    _, response = signal.sosfreqz(sections, 1 << 16, fs=rate_hz)
    return sections, np.sqrt(np.mean(np.abs(response) ** 2))


def bursts(n_samples, onsets_s, offsets_s, *, rest=0.05, seed=1, rate_hz=RATE_HZ):
    """Noise of standard deviation 1 from each onset to its offset, and of `rest` elsewhere."""
    time_s = np.arange(n_samples) / rate_hz
    size = np.full(n_samples, rest)
    for onset_s, offset_s in zip(onsets_s, offsets_s, strict=True):
        size[(time_s >= onset_s) & (time_s < offset_s)] = 1.0
    return size * noise(n_samples, seed=seed, rate_hz=rate_hz)


def write_sto(path, columns, *, start_s, rate_hz):
    """An OpenSim storage file of electromyography."""
    n_rows = len(next(iter(columns.values())))
    rows = zip(start_s + np.arange(n_rows) / rate_hz, *columns.values(), strict=True)
    heading = ["Electromyography", f"nRows={n_rows}", f"nColumns={len(columns) + 1}", "inDegrees=no", "endheader"]
    lines = [*heading, "\t".join(["time", *columns]), *("\t".join(f"{x:.9f}" for x in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

"""Spectrum of a recorded movement and of its noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray

SLOPES = (8.0, 10.0, 14.0, 20.0)  # of the signal's power against frequency, where it falls towards the noise
SIGNIFICANT = 2.0  # gain of log-likelihood for one more parameter: 95 %
FEWEST = 10  # frequencies a model is fitted to
MOVING = 0.95  # of the velocity's power: below, the spectrum may rise and fall
BAND = 1.5  # upper over lower end
LEVEL = 3.0  # slope of power against frequency; a movement's falls more steeply, noise less
ROUNDS = 12
UNCHANGED = math.exp(1e-3)  # largest ratio of the model to that of the last round that ends the iteration
CAMERA_FLOOR_M = 2e-5  # less than any camera's noise: optical systems have 0.15 mm error at rest (Merriaux et al. 2017), a rigid box by 0.03 mm
FEWEST_POSITIONS = 40
INDEPENDENT = 1e-3  # least share of a part's square that the parts before it do not explain


@dataclass(frozen=True)
class NoiseSpectrum:
    """Noise of a signal: a white part and a part with power as 1/f^2.

    Attributes
    ----------
    floor : float
        Standard deviation of the white part, in the unit of the signal.
    rise : float
        Standard deviation of white noise with the strength of the rising part at 1 Hz; 0: white noise only.
    """

    floor: float
    rise: float

    def power(self, frequency_hz: FloatArray) -> FloatArray:
        """Power at frequencies above zero, in the scale of `spectrum`."""
        return np.asarray(self.floor**2 + (self.rise / frequency_hz) ** 2)

    @property
    def corner_hz(self) -> float:
        """Frequency at which both parts are equally strong, Hz; 0 for white noise."""
        return self.rise / self.floor if self.floor > 0.0 else float("inf") if self.rise > 0.0 else 0.0


def spectrum(values: FloatArray, *, rate_hz: float) -> tuple[FloatArray, FloatArray]:
    """Power at every frequency, mean of all channels.

    Parameters
    ----------
    values : ndarray of shape (n_frames, ...)
        Signal, at least a dozen frames, without missing samples.
    rate_hz : float
        Samples per second.

    Returns
    -------
    frequency_hz, power : ndarray of shape (n_frequencies,)
        Frequencies above zero, Hz, and power in the unit of the signal squared, scaled so that white noise has its
        variance at every frequency.

    Notes
    -----
    Of the third differences under a Hann window, divided by the gain of the differences: differences of position, speed
    and acceleration between start and end do not leak into the high frequencies.
    """
    return frequencies(len(values), rate_hz), spectra(values.reshape(len(values), 1, -1)).together()


def frequencies(n_frames: int, rate_hz: float) -> FloatArray:
    """Frequencies of `spectrum` for a number of frames, Hz."""
    return np.asarray(np.fft.rfftfreq(n_frames - 3)[1:] * rate_hz)


@dataclass(frozen=True)
class Spectra:
    """Power of several points at the frequencies of `spectrum`.

    Attributes
    ----------
    squares : ndarray of shape (n_frequencies, n_points, n_coordinates)
        Squared Fourier coefficients of the third differences under the window.
    scale : pair of float and ndarray of shape (n_frequencies, 1)
        Gains of the window and of the differences, by which means are divided.
    """

    squares: FloatArray
    scale: tuple[float, FloatArray]

    def each(self) -> FloatArray:
        """Power of each point, shape (n_frequencies, n_points)."""
        return np.asarray(self.squares.mean(axis=2) / self.scale[0] / self.scale[1])

    def together(self, points: BoolArray | slice = slice(None)) -> FloatArray:
        """Mean power of the chosen points, shape (n_frequencies,)."""
        chosen = self.squares[:, points]
        return np.asarray(chosen.reshape(len(chosen), -1).mean(axis=1) / self.scale[0] / self.scale[1][:, 0])


def spectra(values: FloatArray) -> Spectra:
    """Power of each point at the frequencies of `spectrum`.

    Parameters
    ----------
    values : ndarray of shape (n_frames, n_points, n_coordinates)
        Signals, as for `spectrum`.
    """
    steps = np.diff(values, 3, axis=0)
    window = np.hanning(len(steps) + 2)[1:-1, None, None]
    numbers = np.fft.rfft(steps * window, axis=0)[1:]
    squares = numbers.real**2 + numbers.imag**2
    cycles = np.fft.rfftfreq(len(steps))[1:, None]
    return Spectra(squares, (float((window**2).sum()), (2.0 * np.sin(np.pi * cycles)) ** 6))


def find_noise(frequency_hz: FloatArray, power: FloatArray, *, above_hz: float, n_channels: int) -> NoiseSpectrum:
    """Noise in the spectrum of a movement.

    Parameters
    ----------
    frequency_hz, power : ndarray of shape (n_frequencies,)
        From `spectrum`.
    above_hz : float
        Frequency above which the signal only falls, Hz.
    n_channels : int
        Number of averaged channels.

    Returns
    -------
    NoiseSpectrum
        White noise, with a part that rises as 1/f^2 where the spectrum shows one beyond chance.

    Notes
    -----
    The model ``S f^-q + floor^2 + (rise / f)^2`` of a signal's tail and noise is fitted by its likelihood (Whittle 1953),
    with S and both parts of the noise at least zero: least squares weighted by the model itself, iterated. The slope q is
    the best of `SLOPES`; the power of a movement without jumps of acceleration falls at least as f^-8. The rising part is
    used where it gains `SIGNIFICANT` in log-likelihood; a Hann window leaves two independent values of three.
    """
    chosen = (frequency_hz > above_hz) & (frequency_hz < 0.98 * frequency_hz[-1])
    if chosen.sum() < FEWEST:
        chosen = np.arange(len(frequency_hz)) >= len(frequency_hz) - FEWEST
    at, seen = frequency_hz[chosen], power[chosen]
    white, coloured = _best_fits(at, seen)
    if (white.likelihood - coloured.likelihood) * n_channels * 2.0 / 3.0 > SIGNIFICANT:
        return NoiseSpectrum(float(np.sqrt(coloured.weights[1])), float(at[0] * np.sqrt(coloured.weights[2])))
    return NoiseSpectrum(float(np.sqrt(white.weights[1])), 0.0)


def find_plateau(frequency_hz: FloatArray, power: FloatArray) -> tuple[float, float]:
    """Frequency above which the power no longer falls like that of movement.

    Parameters
    ----------
    frequency_hz, power : ndarray of shape (n_frequencies,)
        From `spectrum`.

    Returns
    -------
    start_hz, level : float
        First frequency of the plateau, Hz, and the power there; infinity and 0 where there is none.

    Notes
    -----
    Mean power in bands that grow by a half, above the frequencies that hold `MOVING` of the velocity's power: a plateau
    begins where it falls by less than f^-`LEVEL` from a band to the next but one. Skin vibration after a heel strike and
    flickering markers cause plateaus that fall off again at higher frequencies and so are no floor.
    """
    velocity = np.cumsum(power * frequency_hz**2)
    start_hz = frequency_hz[np.searchsorted(velocity, MOVING * velocity[-1])]
    edges = start_hz * BAND ** np.arange(np.log(frequency_hz[-1] / start_hz) / np.log(BAND) + 1e-9)
    place = np.searchsorted(frequency_hz, edges)
    if len(place) < 4 or (np.diff(place) < 1).any():
        return float("inf"), 0.0
    bands = np.add.reduceat(power, place)[:-1] / np.diff(place)
    shallow = np.flatnonzero(bands[2:] > bands[:-2] * BAND ** (-2.0 * LEVEL))
    return (float(edges[shallow[0] + 1]), float(bands[shallow[0] + 1])) if shallow.size else (float("inf"), 0.0)


@dataclass(frozen=True)
class _Fit:
    """Negative log-likelihood and weights of signal, white and rising noise."""

    likelihood: float
    weights: FloatArray
    rose: bool  # any round had rising noise


def _best_fits(at: FloatArray, seen: FloatArray) -> tuple[_Fit, _Fit]:
    """Fits of the best slope, with white noise alone and with rising noise, too."""
    relative, level = at / at[0], float(np.median(seen))
    white, coloured = [], []
    with np.errstate(over="ignore", invalid="ignore"):  # squares over those of a tiny model: `_weights` has another way
        for slope in SLOPES:
            rows = np.stack([relative**-slope, np.ones_like(at), relative**-2.0, seen])
            coloured.append(_fit(rows, level, coloured=True))
            # where rising noise had no weight in any round, it made no difference
            white.append(_fit(rows, level, coloured=False) if coloured[-1].rose else coloured[-1])
    return min(white, key=lambda fit: fit.likelihood), min(coloured, key=lambda fit: fit.likelihood)


def _fit(rows: FloatArray, level: float, *, coloured: bool) -> _Fit:
    """Fit of the first rows to the last, from an initial noise level."""
    parts, seen = rows[:-1], rows[-1]
    least = 1e-6 * seen.mean() + np.finfo(float).tiny
    model, rose = level + parts[0] * seen[0] + least, False
    for _ in range(ROUNDS):
        weights = _weights(rows / model, coloured=coloured)
        rose |= bool(weights[2] > 0.0)
        before, model = model, np.maximum(weights @ parts, least)
        change = model / before
        if change.max() < UNCHANGED and change.min() > 1.0 / UNCHANGED:
            break
    return _Fit(float(np.sum(np.log(model) + seen / model)), weights, rose)


def _weights(rows: FloatArray, *, coloured: bool) -> FloatArray:
    """Non-negative weights of the first rows whose sum fits the last row.

    By elimination in the normal equations where these are well-conditioned and all weights come out positive, else by the
    method of Lawson and Hanson.
    """
    (a, b, c, p), (_, d, e, q), (_, _, f, r), _ = (rows @ rows.T).tolist()
    if a > 0.0 and (own := d - b * b / a) > INDEPENDENT * d:
        e, q, rise, rest = e - b * c / a, q - b * p / a, 0.0, f
        if coloured and (rest := f - c * c / a - e * e / own) > INDEPENDENT * f:
            rise = (r - c * p / a - e * q / own) / rest
        white = (q - e * rise) / own
        signal = (p - b * white - c * rise) / a
        if rest > INDEPENDENT * f and min(signal, white, rise) >= 0.0:
            return np.array([signal, white, rise])
    from scipy import optimize  # a slow import that many trials do not need

    weights = np.zeros(3)
    n_parts = 3 if coloured else 2
    weights[:n_parts] = optimize.nnls(rows[:n_parts].T, rows[-1])[0]
    return weights


def shortest_period_s(positions_m: FloatArray, *, rate_hz: float, power: FloatArray | None = None) -> float:
    """Period of the highest frequency above camera noise.

    Parameters
    ----------
    positions_m : ndarray of shape (n_frames, ...)
        Unfiltered positions without missing samples, m.
    rate_hz : float
        Frames per second.
    power : ndarray of shape (n_frequencies,), optional
        Its `spectrum`, where it is known already.

    Returns
    -------
    float
        Seconds; near two frames where the positions have the noise of cameras, longer where a filter removed noise and
        movement alike. NaN with fewer than `FEWEST_POSITIONS` frames.
    """
    if len(positions_m) < FEWEST_POSITIONS:
        return float("nan")
    if power is None:
        power = spectrum(positions_m, rate_hz=rate_hz)[1]
    level = np.convolve(power, np.ones(3) / 3.0, mode="same")
    above = np.flatnonzero(level > CAMERA_FLOOR_M**2)
    return float(1.0 / frequencies(len(positions_m), rate_hz)[above[-1]]) if len(above) else float("nan")

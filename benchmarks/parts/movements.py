"""Movements with known accelerations, and noise of real markers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.simulation.reach import minimum_jerk


@dataclass(frozen=True)
class Movement:
    """Points in a plane: positions (n_frames, n_points, 2) in m and their exact accelerations."""

    position: FloatArray
    acceleration: FloatArray


def reach(
    rate_hz: float, *, duration_s: float, rest_s: float = 0.5, turn_rad: tuple[float, float] = (0.9, 1.1)
) -> Movement:
    """Elbow and wrist of a reach with minimum-jerk angles."""
    time_s = np.arange(round((duration_s + 2.0 * rest_s) * rate_hz) + 1) / rate_hz
    start = np.array([-1.2, 0.5])
    angles = minimum_jerk(time_s - rest_s, start=start, end=start + turn_rad, duration_s=duration_s)
    return _two_links(angles.position, angles.velocity, angles.acceleration, (0.31, 0.26))


def steps(
    rate_hz: float, *, stride_hz: float, amplitude_rad: FloatArray, phase_rad: FloatArray, duration_s: float = 2.5
) -> Movement:
    """Knee and ankle of a leg whose thigh and shank swing as Fourier series of the stride, both (2, n_harmonics)."""
    time_s = np.arange(round(duration_s * rate_hz) + 1) / rate_hz
    speed = 2.0 * np.pi * stride_hz * np.arange(1, amplitude_rad.shape[1] + 1)
    angle = speed * time_s[:, None, None] + phase_rad
    return _two_links(
        -0.5 * np.pi + (amplitude_rad * np.cos(angle)).sum(axis=2),
        -(amplitude_rad * speed * np.sin(angle)).sum(axis=2),
        -(amplitude_rad * speed**2 * np.cos(angle)).sum(axis=2),
        (0.40, 0.42),
    )


def impact(
    rate_hz: float, *, stiffness_hz: float, speed_m_s: float = 1.5, duration_s: float = 1.5, onset_s: float = 0.6
) -> Movement:
    """A point that falls on a spring and leaves it again; `stiffness_hz` is that of the mass on the spring."""
    gravity = 9.81
    w = 2.0 * np.pi * stiffness_hz
    sag, swing = gravity / w**2, speed_m_s / w
    contact_s = 2.0 * (np.pi - np.arctan2(swing, sag)) / w
    s = np.arange(round(duration_s * rate_hz) + 1) / rate_hz - onset_s
    touching = (s >= 0.0) & (s < contact_s)
    wave = sag * np.cos(w * s) - swing * np.sin(w * s)
    after = s - contact_s
    height = np.where(
        s < 0.0,
        -speed_m_s * s - 0.5 * gravity * s**2,
        np.where(touching, wave - sag, speed_m_s * after - 0.5 * gravity * after**2),
    )
    acceleration = np.where(touching, -(w**2) * wave, -gravity)
    way = np.array([0.3, 1.0])
    return Movement((height[:, None] * way)[:, None], (acceleration[:, None] * way)[:, None])


def _two_links(
    angle: FloatArray, velocity: FloatArray, acceleration: FloatArray, length_m: tuple[float, float]
) -> Movement:
    """Ends of two links from their orientations: ``p'' = l (i a - v^2) e^(i angle)`` in the complex plane, added up."""
    links = np.array(length_m) * np.exp(1j * angle)
    ends = np.cumsum(links, axis=1)
    bends = np.cumsum(links * (1j * acceleration - velocity**2), axis=1)
    return Movement(np.stack([ends.real, ends.imag], axis=2), np.stack([bends.real, bends.imag], axis=2))


# --- noise ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Noise:
    """Noise of a marker's coordinate: standard deviation per root of 50 Hz, in m, at frequencies in Hz."""

    name: str
    frequency_hz: FloatArray
    amplitude_m: FloatArray


def white(amplitude_m: float) -> Noise:
    """White noise that has this standard deviation at 100 frames per second."""
    return Noise(f"white {1e3 * amplitude_m:g} mm", np.array([1.0]), np.array([amplitude_m]))


def coloured(amplitude_m: float, corner_hz: float) -> Noise:
    """White noise and a part that rises as 1/f below the corner, level below 1 Hz."""
    at = np.geomspace(1.0, 1000.0, 60)
    return Noise(
        f"1/f below {corner_hz:.3g} Hz, {1e3 * amplitude_m:.2g} mm",
        at,
        amplitude_m * np.sqrt(1.0 + (corner_hz / at) ** 2),
    )


def louder(noise: Noise, factor: float) -> Noise:
    """The same noise, times a factor."""
    return Noise(f"{noise.name}, x{factor:g}", noise.frequency_hz, factor * noise.amplitude_m)


def make_noise(noise: Noise, shape: tuple[int, ...], rate_hz: float, rng: np.random.Generator) -> FloatArray:
    """Noise of this spectrum; time is the first axis."""
    n_frames = 4 * shape[0]
    at = np.fft.rfftfreq(n_frames, 1.0 / rate_hz)
    amplitude = np.interp(at, noise.frequency_hz, noise.amplitude_m) * np.sqrt(rate_hz / 100.0)
    waves = np.fft.rfft(rng.normal(size=(n_frames, *shape[1:])), axis=0)
    made = np.fft.irfft(waves * amplitude.reshape(-1, *[1] * (len(shape) - 1)), n_frames, axis=0)
    return made[shape[0] : 2 * shape[0]]


BANDS_HZ = (2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 15.0, 20.0, 27.0, 36.0, 50.0)


def measured_noise(name: str, signals_m: FloatArray, rate_hz: float) -> Noise:
    """Median spectrum of signals, (n_frames, n_signals), in bands from 2 Hz to 50 Hz; below it is taken as level."""
    from scipy import signal

    frequency_hz, power = signal.welch(
        signal.detrend(signals_m, axis=0), fs=rate_hz, nperseg=min(256, len(signals_m)), axis=0
    )
    middle, amplitude = [], []
    for low, high in itertools.pairwise(BANDS_HZ):
        inside = (frequency_hz >= low) & (frequency_hz < high)
        middle.append(np.sqrt(low * high))
        amplitude.append(np.sqrt(np.median(power[inside]) * 50.0))
    return Noise(name, np.array(middle), np.array(amplitude))


def static_noise(folder: Path) -> Noise:
    """Of markers on children who stand still: cohort/*/Static."""
    signals = []
    for path in sorted(folder.glob("cohort/*/Static/*.c3d")):
        recording = read_c3d(path)
        complete = ~np.isnan(recording.markers_m).any(axis=(0, 2))
        signals.append(recording.markers_m[:, complete].reshape(recording.n_frames, -1))
    return measured_noise("static trials", np.hstack(signals), recording.rate_hz)


def rigid_noise(folder: Path) -> Noise:
    """Of raw markers on a box that is carried about: their distances should not change (arm_box_task).

    A distance has the noise of two coordinates, one of each marker.
    """
    recording = read_c3d(folder / "arm_box_task" / "markers_analogs.c3d")
    box = [i for i, label in enumerate(recording.labels) if label.startswith("boite:")]
    positions = recording.markers_m[:, box]
    positions = positions[:, ~np.isnan(positions).any(axis=(0, 2))]
    pairs = np.triu_indices(positions.shape[1], 1)
    distances = lengths(positions[:, pairs[0]] - positions[:, pairs[1]])
    return measured_noise("rigid box", distances / np.sqrt(2.0), recording.rate_hz)


# --- cases ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One noisy recording of a movement whose accelerations are known."""

    kind: str
    movement: str
    noise: str
    rate_hz: float
    noisy_m: FloatArray
    position: FloatArray
    acceleration: FloatArray


SWING = np.array([[0.35, 0.03, 0.02, 0.01, 0.005, 0.003], [0.45, 0.22, 0.06, 0.03, 0.015, 0.008]])
PHASE = np.array([[0.0, 1.0, 2.0, 0.5, 1.2, 0.3], [0.8, 2.2, 0.4, 1.9, 0.7, 2.8]])


def first_set(noises: list[Noise], *, rates_hz: tuple[float, ...] = (50.0, 100.0, 200.0)) -> Iterator[Case]:
    """The set the choice was made on: nine movements, three rates, all noises."""
    movements: list[tuple[str, str, Callable[[float], Movement]]] = [
        *(("reach", f"{t:g} s", lambda fs, t=t: reach(fs, duration_s=t)) for t in (1.2, 0.7, 0.4)),
        *(
            ("steps", f"{f:g} Hz", lambda fs, f=f: steps(fs, stride_hz=f, amplitude_rad=SWING, phase_rad=PHASE))
            for f in (0.8, 1.0, 1.5)
        ),
        *(("impact", f"{f:g} Hz", lambda fs, f=f: impact(fs, stiffness_hz=f)) for f in (5.0, 10.0, 15.0)),
    ]
    for rate_hz in rates_hz:
        for k, (kind, name, make) in enumerate(movements):
            movement = make(rate_hz)
            for j, noise in enumerate(noises):
                rng = np.random.default_rng([int(rate_hz), k, j])
                noisy = movement.position + make_noise(noise, movement.position.shape, rate_hz, rng)
                yield Case(kind, name, noise.name, rate_hz, noisy, movement.position, movement.acceleration)


def second_set(noises: list[Noise], *, n_cases: int, seed: int) -> Iterator[Case]:
    """Drawn by lot: other speeds, ways, harmonics, springs, rates, lengths and noises; for the verdict."""
    rng = np.random.default_rng(seed)
    for k in range(n_cases):
        rate_hz = float(rng.choice([50.0, 60.0, 100.0, 120.0, 200.0, 250.0, 500.0]))
        kind = ("reach", "steps", "impact")[k % 3]
        if kind == "reach":
            duration_s = float(rng.uniform(0.3, 1.6))
            movement = reach(
                rate_hz,
                duration_s=duration_s,
                rest_s=float(rng.uniform(0.3, 1.0)),
                turn_rad=(float(rng.uniform(-1.2, 1.2)), float(rng.uniform(-1.5, 1.5))),
            )
            name = f"{duration_s:.2f} s"
        elif kind == "steps":
            stride_hz = float(rng.uniform(0.6, 1.6))
            movement = steps(
                rate_hz,
                stride_hz=stride_hz,
                amplitude_rad=SWING * rng.uniform(0.5, 1.5, SWING.shape),
                phase_rad=rng.uniform(0.0, 2.0 * np.pi, PHASE.shape),
                duration_s=float(rng.uniform(1.2, 5.0)),
            )
            name = f"{stride_hz:.2f} Hz"
        else:
            stiffness_hz = float(np.exp(rng.uniform(np.log(3.0), np.log(min(20.0, 0.2 * rate_hz)))))
            movement = impact(rate_hz, stiffness_hz=stiffness_hz, speed_m_s=float(rng.uniform(0.5, 2.5)))
            name = f"{stiffness_hz:.1f} Hz"
        drawn = [
            *noises,
            white(float(np.exp(rng.uniform(np.log(3e-5), np.log(2e-3))))),
            coloured(float(np.exp(rng.uniform(np.log(1e-5), np.log(2e-4)))), float(rng.uniform(3.0, 30.0))),
        ]
        noise = drawn[int(rng.integers(len(drawn)))]
        noisy = movement.position + make_noise(noise, movement.position.shape, rate_hz, rng)
        label = noise.name if noise in noises else noise.name.split()[0]
        yield Case(kind, name, label, rate_hz, noisy, movement.position, movement.acceleration)

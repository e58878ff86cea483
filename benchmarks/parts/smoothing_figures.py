"""Figures of `smoothing.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from parts.movements import impact

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.figures.style import MM, STYLE, TWO_COLUMNS_MM, save_figure
from limbtorque.signals.cutoff import choose_cutoff
from limbtorque.signals.smoothers import Smoother, smooth_values

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
MARKS = {"residual": "v", "autocorrelation": "s", "gcv": "D", "expected_error": "o"}


def smooth_twice(
    values: FloatArray, *, rate_hz: float, cutoff_hz: float, smoother: Smoother
) -> tuple[FloatArray, FloatArray]:
    """Smoothed signal and its second derivative, as the program computes them."""
    smooth = smooth_values(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    return smooth, smoother.strategy.derivatives(smooth, rate_hz, smoother.accuracy)[1]


@dataclass(frozen=True)
class Angle:
    """A measured angle and the acceleration that an accelerometer measured beside it."""

    time_s: FloatArray
    angle_rad: FloatArray
    acceleration: FloatArray

    @property
    def rate_hz(self) -> float:
        """Samples per second."""
        return float(1.0 / np.diff(self.time_s).mean())

    def second(self, smoother: Smoother, cutoff_hz: float) -> FloatArray:
        """Second derivative of the smoothed angle, rad/s^2."""
        return smooth_twice(self.angle_rad, rate_hz=self.rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)[1]

    def error(self, smoother: Smoother, cutoff_hz: float) -> float:
        """Rms difference from the accelerometer in rows 7 to 136, rad/s^2."""
        wrong = (self.second(smoother, cutoff_hz) - self.acceleration)[6:136]
        return float(np.sqrt(np.mean(wrong**2)))


def draw_angle(angle: Angle, smoothers: Mapping[str, Smoother], path: Path) -> None:
    """Error over the cut-off with what each criterion chose, and the acceleration over time."""
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, 75.0 * MM), layout="constrained")
        left, right = figure.subplots(1, 2)
        grid_hz = np.geomspace(2.0, 12.0, 60)
        for (name, smoother), colour in zip(smoothers.items(), COLOURS, strict=False):
            left.plot(grid_hz, [_error(angle, smoother, f) for f in grid_hz], color=colour, label=name)
            for by, mark in MARKS.items():
                cutoff_hz = choose_cutoff(angle.angle_rad, rate_hz=angle.rate_hz, smoother=smoother, by=by).cutoff_hz
                left.plot(cutoff_hz, angle.error(smoother, cutoff_hz), mark, color=colour, markersize=4.0)
        for by, mark in MARKS.items():
            left.plot([], [], mark, color="black", markersize=4.0, label=by.replace("_", " "))
        left.set(
            xlabel="cut-off (Hz)",
            ylabel="rms error of the acceleration (rad/s\u00b2)",
            xlim=(2.0, 12.0),
            ylim=(3.0, 21.0),
        )
        left.legend(frameon=False, ncols=2, loc="upper center")
        right.plot(angle.time_s, angle.acceleration, color="black", linewidth=0.9, label="accelerometer")
        default = smoothers["Butterworth, order 3"]
        chosen_hz = choose_cutoff(angle.angle_rad, rate_hz=angle.rate_hz, smoother=default).cutoff_hz
        for cutoff_hz, colour, label in (
            (12.0, COLOURS[4], "12 Hz"),
            (chosen_hz, COLOURS[1], f"{chosen_hz:.1f} Hz, chosen (expected error)"),
        ):
            right.plot(angle.time_s, angle.second(default, cutoff_hz), color=colour, linewidth=0.9, label=label)
        right.set(xlabel="time (s)", ylabel="angular acceleration (rad/s\u00b2)", ylim=(-130.0, 90.0))
        right.legend(frameon=False, loc="lower left", title="Butterworth, order 3", alignment="left")
        for axes, letter in ((left, "a"), (right, "b")):
            axes.set_title(letter, loc="left", fontweight="bold")
        save_figure(figure, path)


def _error(angle: Angle, smoother: Smoother, cutoff_hz: float) -> float:
    try:
        return angle.error(smoother, float(cutoff_hz))
    except SignalError:
        return float("nan")


def draw_ratios(panels: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Share of the cases whose error is at most so many times that at 6 Hz, a panel for each comparison."""
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, 75.0 * MM), layout="constrained")
        for axes, (title, lines), letter in zip(figure.subplots(1, 2), panels.items(), "ab", strict=True):
            for (label, values), colour in zip(lines.items(), (*COLOURS, "black"), strict=False):
                at = np.sort(values)
                axes.plot(at, 100.0 * np.arange(1, len(at) + 1) / len(at), color=colour, label=label.replace("_", " "))
            axes.axvline(1.0, color="black", linewidth=0.7, linestyle=":")
            axes.set(xscale="log", xlim=(0.02, 8.0), xlabel="error of the acceleration over that at 6 Hz")
            axes.set_xticks(
                [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0], ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5"]
            )
            axes.minorticks_off()
            axes.legend(frameon=False, title=title, alignment="left", loc="upper left", fontsize=6.5)
            axes.set(ylim=(0.0, 160.0), yticks=[0, 20, 40, 60, 80, 100], ylabel=f"cases at or below (% of {len(at)})")
            axes.set_title(letter, loc="left", fontweight="bold")
        save_figure(figure, path)


def draw_impact(smoother: Smoother, path: Path, *, cutoff_hz: float = 8.0) -> None:
    """Force that a landing needs after its positions were filtered, and the plate's, filtered in three ways."""
    fine = impact(1000.0, stiffness_hz=8.0)
    up = int(np.argmax(np.abs(fine.acceleration[:, 0]).max(axis=0)))
    force = fine.acceleration[:, 0, up] + 9.81
    force[np.abs(force) < 1e-9] = 0.0
    time_s = np.arange(len(force))[::10] / 1000.0
    _, acceleration = smooth_twice(fine.position[::10, 0, up], rate_hz=100.0, cutoff_hz=cutoff_hz, smoother=smoother)
    needed = acceleration + 9.81
    alike = smooth_values(force, rate_hz=1000.0, cutoff_hz=cutoff_hz, smoother=smoother)[::10]
    fifty = smooth_values(force, rate_hz=1000.0, cutoff_hz=50.0, smoother=smoother)[::10]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(TWO_COLUMNS_MM * MM, 70.0 * MM), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.plot(np.arange(len(force)) / 1000.0, force, color="0.6", label="plate, not filtered")
        left.plot(time_s, fifty, color=COLOURS[4], label="plate, 50 Hz")
        left.plot(time_s, alike, color=COLOURS[0], label=f"plate, {cutoff_hz:g} Hz like the markers")
        left.plot(time_s, needed, color="black", linestyle=":", label=f"needed for the markers at {cutoff_hz:g} Hz")
        left.set(xlabel="time (s)", ylabel="force per body mass (N/kg)", xlim=(0.45, 0.95))
        left.legend(frameon=False, loc="upper right", fontsize=6.5)
        for values, colour, label in (
            (fifty, COLOURS[4], "50 Hz"),
            (np.where(force[::10] > 0.0, alike, 0.0), COLOURS[1], "like the markers, then cut to the contact"),
            (alike, COLOURS[0], "like the markers"),
        ):
            right.plot(time_s, values - needed, color=colour, label=label)
        right.set(xlabel="time (s)", ylabel="force that does not fit (N/kg)", xlim=(0.45, 0.95), ylim=(-32.0, 50.0))
        right.legend(frameon=False, loc="upper right", fontsize=6.5)
        for axes, letter in ((left, "a"), (right, "b")):
            axes.set_title(letter, loc="left", fontweight="bold")
        save_figure(figure, path)

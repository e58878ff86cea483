"""Smoothing of joint centres: method, cut-off and their metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.cutoff import FEWEST_FRAMES, CutoffChoice, choose_cutoff, judge_cutoff, moving_share
from limbtorque.signals.derivatives import differentiate, differentiation_reach
from limbtorque.signals.smoothers import HIGHEST, Smoother, smooth_with_impacts
from limbtorque.signals.spectrum import Spectra, shortest_period_s, spectra
from limbtorque.study.options.motion import Filter
from limbtorque.study.settings import Settings

SMOOTHED_BEFORE_M = 1e-6
AROUND_IMPACTS = "cut-off times"  # how a note begins
JUMPING = 3.0  # times the median noise of the joint centres: beyond, a marker jumps
JUMPING_M = 5e-4  # the least noise of a jumping marker; a heel strike at 0.5 m/s looks like 0.2 mm


@dataclass(frozen=True)
class SmoothedJoints:
    """Smoothed joint centres, their edge effects and cut-offs.

    Attributes
    ----------
    values : ndarray of shape (n_frames, n_joints + 1, 3)
        Positions, m.
    reach : int
        Frames at each end with edge effects, those of the differences included.
    smoother : Smoother or None
        The method; None without a filter.
    cutoff_hz : tuple of float
        Cut-off of all joint centres, or of each, Hz; empty without a filter.
    choices : tuple of CutoffChoice
        Cut-off by the trial's own data, for all joint centres or for each; empty where the trial is too short.
    metrics : dict of str to float
        Cut-offs, noise, bandwidth and the removed share of the acceleration.
    notes : tuple of str
        Method, cut-off and noise, for the ledger.
    accuracy : {2, 4, 6, 8}
        Order of accuracy of central differences.
    impact_hz : float
        Cut-off around impacts, Hz.
    impacts_s : tuple of float
        Their times from the first frame, s.
    """

    values: FloatArray
    reach: int
    smoother: Smoother | None
    cutoff_hz: tuple[float, ...]
    choices: tuple[CutoffChoice, ...]
    metrics: dict[str, float]
    notes: tuple[str, ...]
    accuracy: int
    impact_hz: float = 0.0
    impacts_s: tuple[float, ...] = ()

    def smooth(self, values: FloatArray, rate_hz: float) -> FloatArray:
        """Another signal of the same frames, smoothed like the joint centres."""
        if self.smoother is None:
            return values
        return smooth_with_impacts(
            values,
            rate_hz=rate_hz,
            cutoff_hz=max(self.cutoff_hz),
            smoother=self.smoother,
            impact_hz=self.impact_hz,
            impacts_s=self.impacts_s,
        )

    def differentiate(self, values: FloatArray, rate_hz: float) -> tuple[FloatArray, FloatArray]:
        """First two derivatives of a signal computed from the positions."""
        if self.smoother is None:
            return differentiate(values, rate_hz=rate_hz, accuracy=self.accuracy)
        return self.smoother.strategy.derivatives(values, rate_hz, self.accuracy)


def smooth_joints(
    values: FloatArray,
    *,
    rate_hz: float,
    settings: Settings,
    names: Sequence[str] = (),
    impacts_s: tuple[float, ...] = (),
) -> SmoothedJoints:
    """Smooth the joint centres of a trial by the settings.

    Parameters
    ----------
    values : ndarray of shape (n_frames, n_joints + 1, 3)
        Positions without missing samples, m.
    rate_hz : float
        Frames per second.
    settings : Settings
        Filter and differentiation.
    names : sequence of str, optional
        Names of the joint centres, for the notes.
    impacts_s : tuple of float, optional
        Times of impacts on force plates from the first frame, s: a chosen cut-off is higher there (`filter.impact_factor`).

    Returns
    -------
    SmoothedJoints
        Positions, cut-offs, metrics and notes.

    Raises
    ------
    SignalError
        A cut-off is not below the Nyquist frequency, or there are fewer frames than the method or the choice needs.

    Notes
    -----
    A joint centre whose noise is far above that of the others, by a jumping marker, has no part in the choice for all
    (`_steady`). The criterion ``expected_error`` is that of the torques while the limb moves: it takes the two coordinates
    in the plane, the part of their noise that a chain of constant lengths can follow, and of this the share of the frames
    that move (`signals.cutoff.moving_share`). A chosen cut-off is limited by `filter.min_cutoff_hz` and `filter.max_cutoff_hz`.
    """
    chosen, accuracy = settings.filter, settings.differentiation.accuracy
    power = spectra(values[..., :2]) if len(values) >= FEWEST_FRAMES else None
    smoother = smoother_of(settings)
    if smoother is None:
        judged = _noise_metrics(values, power, rate_hz, None, ())
        return SmoothedJoints(values, differentiation_reach(accuracy), None, (), (), judged, ("no filter",), accuracy)
    steady = _steady(power, values.shape[1])
    cutoffs_hz, choices = _cutoffs(values, power, steady, rate_hz, smoother, chosen)
    factor = 1.0 if isinstance(chosen.cutoff_hz, float) else chosen.impact_factor
    smooth = [
        smooth_with_impacts(
            part,
            rate_hz=rate_hz,
            cutoff_hz=cutoff_hz,
            smoother=smoother,
            impact_hz=factor * cutoff_hz,
            impacts_s=impacts_s,
        )
        for part, cutoff_hz in zip(np.split(values, len(cutoffs_hz), axis=1), cutoffs_hz, strict=True)
    ]
    designs = [smoother.at(cutoff_hz, rate_hz=rate_hz) for cutoff_hz in cutoffs_hz]
    reach = max(map(smoother.strategy.reach, designs))
    metrics = {"cutoff_hz": max(cutoffs_hz), **_noise_metrics(values, power, rate_hz, smoother, cutoffs_hz)}
    if choices:
        metrics |= {
            "own_cutoff_hz": max(choice.cutoff_hz for choice in choices),
            "cutoff_at_limit": float(any(choice.at_limit for choice in choices)),
        }
    notes = _notes(cutoffs_hz, choices, chosen, smoother, names, metrics["noise_m"])
    if not steady.all():
        jumping = " and ".join(
            str(names[k]) if k < len(names) else f"point {k + 1}" for k in np.flatnonzero(~steady).tolist()
        )
        notes = (*notes, f"{jumping}: far noisier than the others, not used to choose the cut-off; check its markers")
    whole = np.concatenate(smooth, axis=1)
    if impacts_s and factor > 1.0:
        at = ", ".join(f"{time_s:.2f}" for time_s in impacts_s)
        notes = (*notes, f"{AROUND_IMPACTS} {factor:g} around the loading of plates at {at} s (filter.impact_factor)")
    return SmoothedJoints(
        whole, reach, smoother, cutoffs_hz, choices, metrics, notes, accuracy, factor * max(cutoffs_hz), impacts_s
    )


def smoother_of(settings: Settings) -> Smoother | None:
    """Smoothing method of the settings; None without a filter."""
    chosen = settings.filter
    if chosen.method == "none":
        return None
    return Smoother(chosen.method, chosen.order, settings.differentiation.accuracy)


def _cutoffs(
    values: FloatArray,
    power: Spectra | None,
    steady: BoolArray,
    rate_hz: float,
    smoother: Smoother,
    chosen: Filter,
) -> tuple[tuple[float, ...], tuple[CutoffChoice, ...]]:
    """Cut-offs of the joint centres, and the choices by the trial's own data."""
    by = "expected_error" if isinstance(chosen.cutoff_hz, float) else chosen.cutoff_hz
    parts = [(values[:, steady, :2], None if power is None else power.together(steady))]
    share = (values.shape[1] + 1) / (2 * values.shape[1])  # of the noise: a chain of constant lengths follows no more
    given_hz = chosen.cutoff_hz if isinstance(chosen.cutoff_hz, float) else None
    if given_hz is None and chosen.scope == "joint":
        parts = [
            (values[:, k, :2], None if power is None else power.together(slice(k, k + 1)))
            for k in range(values.shape[1])
        ]
    try:
        moving_hz = min(chosen.max_cutoff_hz, HIGHEST * rate_hz)
        share *= moving_share(values[:, steady, :2], rate_hz=rate_hz, cutoff_hz=moving_hz, smoother=smoother)
        choices = tuple(
            choose_cutoff(part, rate_hz=rate_hz, smoother=smoother, by=by, power=own, noise_share=share)
            for part, own in parts
        )
    except SignalError:
        if given_hz is None:
            raise
        choices = ()  # the trial is too short for its own beside the given one
    if given_hz is not None:
        return (given_hz,), choices
    return tuple(limited_cutoff(choice.cutoff_hz, chosen, rate_hz) for choice in choices), choices


def limited_cutoff(cutoff_hz: float, options: Filter, rate_hz: float) -> float:
    """Limit a chosen cut-off by the options and the sampling rate.

    Parameters
    ----------
    cutoff_hz : float
        Cut-off from the data, Hz.
    options : Filter
        Lowest and highest cut-off.
    rate_hz : float
        Frames per second.
    """
    lowest_hz = min(options.min_cutoff_hz, HIGHEST * rate_hz)
    return min(max(cutoff_hz, lowest_hz), options.max_cutoff_hz)


def _steady(power: Spectra | None, n_points: int) -> BoolArray:
    """Mask of joint centres without noisy markers; all True if most are noisy.

    Noise is the root of the median power in the upper half of the spectrum.
    """
    if power is None:
        return np.ones(n_points, dtype=bool)
    each = power.each()
    noise_m = np.sqrt(np.median(each[len(each) // 2 :], axis=0))
    return np.asarray(noise_m <= max(JUMPING * float(np.median(noise_m)), JUMPING_M))


def _notes(
    cutoffs_hz: tuple[float, ...],
    choices: tuple[CutoffChoice, ...],
    chosen: Filter,
    smoother: Smoother,
    names: Sequence[str],
    noise_m: float,
) -> tuple[str, ...]:
    """Notes on filter and cut-off, with a warning on implausibly low noise."""
    method = smoother.method.replace("_", " ") + (f", order {smoother.order}" if smoother.strategy.has_order else "")
    each = names if len(cutoffs_hz) > 1 and len(names) == len(cutoffs_hz) else [""] * len(cutoffs_hz)
    used = ", ".join(f"{name} {cutoff_hz:.2f}".strip() for name, cutoff_hz in zip(each, cutoffs_hz, strict=True))
    note = f"filter {method}; cut-off {used} Hz"
    if isinstance(chosen.cutoff_hz, float):
        note += ", as given"
    else:
        note += f" by {chosen.cutoff_hz}"
    if not choices:
        return (f"{note}; the trial is too short to choose a cut-off",)
    own = ", ".join(f"{choice.cutoff_hz:.2f}" for choice in choices)
    if any(abs(cutoff_hz - choice.cutoff_hz) > 0.005 for cutoff_hz, choice in zip(cutoffs_hz, choices, strict=True)):
        note += f"; the trial's own would be {own} Hz by {choices[0].by}"
        if not isinstance(chosen.cutoff_hz, float):  # a chosen one is limited
            note += ", above filter.max_cutoff_hz" * (chosen.max_cutoff_hz in cutoffs_hz)
            note += ", below filter.min_cutoff_hz" * (chosen.min_cutoff_hz in cutoffs_hz)
    note += f"; noise about {1e3 * noise_m:.2g} mm"
    smooth = "less noise than any camera has: the recording was smoothed before, with an unknown cut-off"
    return (note, smooth) if noise_m < SMOOTHED_BEFORE_M else (note,)


def _noise_metrics(
    values: FloatArray,
    power: Spectra | None,
    rate_hz: float,
    smoother: Smoother | None,
    cutoffs_hz: tuple[float, ...],
) -> dict[str, float]:
    """Metrics of noise, bandwidth and lost acceleration at the lowest cut-off."""
    lowest_hz = min(cutoffs_hz, default=None)
    whole = None if power is None else power.together()
    found = judge_cutoff(values, rate_hz=rate_hz, smoother=smoother, cutoff_hz=lowest_hz, power=whole)
    return {
        "noise_m": found.noise,
        "bandwidth_hz": found.bandwidth_hz,
        "acceleration_filtered_share": found.lost_share,
        "shortest_period_s": shortest_period_s(values, rate_hz=rate_hz, power=whole),
    }

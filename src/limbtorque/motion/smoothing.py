"""Joint centres, smoothed: method, cut-off, and the metrics of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.bandwidth import judge_cutoff
from limbtorque.signals.cutoff import CutoffChoice, choose_cutoff
from limbtorque.signals.derivatives import differentiation_reach
from limbtorque.signals.methods import central_differences
from limbtorque.signals.smooth import Scope, smooth_positions
from limbtorque.signals.smoothers import Smoother
from limbtorque.study.options.signal import CutoffCriterion, Filter
from limbtorque.study.settings import Settings

SMOOTHED_BEFORE_M = 1e-6


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
    """

    values: FloatArray
    reach: int
    smoother: Smoother | None
    cutoff_hz: tuple[float, ...]
    choices: tuple[CutoffChoice, ...]
    metrics: dict[str, float]
    notes: tuple[str, ...]
    accuracy: int

    def differentiate(self, values: FloatArray, rate_hz: float) -> tuple[FloatArray, FloatArray]:
        """First two derivatives of a signal computed from the positions."""
        derivatives = self.smoother.strategy.derivatives if self.smoother else central_differences
        return derivatives(values, rate_hz, self.accuracy)


def smooth_joints(
    values: FloatArray,
    *,
    rate_hz: float,
    settings: Settings,
    names: Sequence[str] = (),
    study_cutoff_hz: float | None = None,
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
    study_cutoff_hz : float, optional
        Cut-off of the whole study, Hz; needed where `filter.scope` is ``study`` and `filter.cutoff_hz` is not a number.

    Returns
    -------
    SmoothedJoints
        Positions, cut-offs, metrics and notes.

    Raises
    ------
    SignalError
        The study's cut-off is needed and missing, a cut-off is not below the Nyquist frequency, or there are fewer frames
        than the method or the choice needs.
    """
    chosen, accuracy = settings.filter, settings.differentiation.accuracy
    if chosen.method == "none":
        judged = _noise_metrics(values, rate_hz, None, ())
        return SmoothedJoints(values, differentiation_reach(accuracy), None, (), (), judged, ("no filter",), accuracy)
    smoother = Smoother(chosen.method, chosen.order, accuracy, None if chosen.ends == "auto" else chosen.ends)
    given_hz = chosen.cutoff_hz if isinstance(chosen.cutoff_hz, float) else None
    if given_hz is None and chosen.scope == "study":
        given_hz = study_cutoff_hz
        if given_hz is None:
            raise SignalError(
                "filter.scope is 'study', and the study has no cut-off: run it with snakemake, with at least "
                "one trial that can be analysed, or set filter.cutoff_hz to a number"
            )
    by = "expected_error" if isinstance(chosen.cutoff_hz, float) else chosen.cutoff_hz
    if given_hz is None:
        scope: Scope = "joint" if chosen.scope == "joint" else "trial"
        found = smooth_positions(
            values, rate_hz=rate_hz, smoother=smoother, cutoff=by, scope=scope, highest_hz=chosen.max_cutoff_hz
        )
        choices = found.choices
    else:
        found = smooth_positions(values, rate_hz=rate_hz, smoother=smoother, cutoff=given_hz)
        choices = _own_choice(values, rate_hz, smoother, by)
    designs = [smoother.at(cutoff_hz, rate_hz=rate_hz) for cutoff_hz in found.cutoff_hz]
    reach = max(map(smoother.strategy.derived_reach, designs))
    metrics = {"cutoff_hz": max(found.cutoff_hz), **_noise_metrics(values, rate_hz, smoother, found.cutoff_hz)}
    if choices:
        metrics |= {
            "own_cutoff_hz": max(choice.cutoff_hz for choice in choices),
            "cutoff_at_limit": float(any(choice.at_limit for choice in choices)),
        }
    notes = _notes(found.cutoff_hz, choices, chosen, smoother, names, metrics["noise_m"])
    return SmoothedJoints(found.values, reach, smoother, found.cutoff_hz, choices, metrics, notes, accuracy)


def _own_choice(
    values: FloatArray, rate_hz: float, smoother: Smoother, by: CutoffCriterion
) -> tuple[CutoffChoice, ...]:
    """Cut-off by the trial's own data, if one is set; empty for short trials."""
    try:
        return (choose_cutoff(values, rate_hz=rate_hz, smoother=smoother, by=by),)
    except SignalError:
        return ()


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
    elif chosen.scope == "study":
        note += ", of the study"
    else:
        note += f" by {chosen.cutoff_hz}"
    if not choices:
        return (f"{note}; the trial is too short for its own cut-off",)
    own = ", ".join(f"{choice.cutoff_hz:.2f}" for choice in choices)
    if any(abs(cutoff_hz - choice.cutoff_hz) > 0.005 for cutoff_hz, choice in zip(cutoffs_hz, choices, strict=True)):
        note += f"; the trial's own would be {own} Hz by {choices[0].by}"
        if not isinstance(chosen.cutoff_hz, float) and max(cutoffs_hz) == chosen.max_cutoff_hz:
            note += ", above filter.max_cutoff_hz"
    note += f"; noise about {1e3 * noise_m:.2g} mm"
    smooth = "less noise than any camera has: the recording was smoothed before, its own cut-off is unknown"
    return (note, smooth) if noise_m < SMOOTHED_BEFORE_M else (note,)


def _noise_metrics(
    values: FloatArray, rate_hz: float, smoother: Smoother | None, cutoffs_hz: tuple[float, ...]
) -> dict[str, float]:
    """Metrics of noise, bandwidth and acceleration removed at the lowest cut-off."""
    lowest_hz = min(cutoffs_hz, default=None)
    found = judge_cutoff(values, rate_hz=rate_hz, smoother=smoother, cutoff_hz=lowest_hz)
    return {"noise_m": found.noise, "bandwidth_hz": found.bandwidth_hz, "acceleration_lost_share": found.lost_share}

"""The smoothing methods: smoothing, differentiation and gain of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.signals import derivatives, splines
from limbtorque.signals.butterworth import design_cutoff, filter_reach, low_pass
from limbtorque.signals.critically_damped import critical_design_cutoff, critical_low_pass, critical_reach
from limbtorque.signals.derivatives import differentiate, differentiation_reach
from limbtorque.signals.ends import Ends
from limbtorque.signals.savitzky_golay import local_gain, local_polynomials, local_second_gain, window_frames
from limbtorque.signals.splines import spline_derivatives, spline_freedom, spline_gain, spline_reach, spline_smooth

Triple = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Design:
    """Design of a smoother at one cut-off: rates, cut-off (Hz), order and ends."""

    rate_hz: float
    cutoff_hz: float
    order: int
    accuracy: int
    ends: Ends

    @property
    def degree(self) -> int:
        """Degree of local polynomials with as flat a gain as a filter of this order."""
        return 2 * self.order - 1


@dataclass(frozen=True)
class Method:
    """A smoothing method.

    Attributes
    ----------
    ends : {"reflect", "linear", "none"}
        Best extension beyond the ends.
    has_order : bool
        False where the degree of the spline sets the order.
    smooth : callable
        ``smooth(values, design)``: the smoothed signal.
    fit : callable
        ``fit(values, design)``: the smoothed signal and its first two derivatives, from one model.
    reach : callable
        ``reach(design)``: frames at each end with edge effects in what `fit` returns.
    derived_reach : callable
        The same for the derivatives of a signal that was computed from smoothed ones.
    gain : callable
        ``gain(frequency_hz, design)``: gain far from the ends.
    second_gains : callable
        ``second_gains(frequency_hz, gains, designs)``: gains of the second derivative that `fit` returns.
    derivatives : callable
        ``derivatives(values, rate_hz, accuracy)``: derivatives of a signal that was computed from smoothed ones.
    freedom : callable or None
        ``freedom(n_frames, design)``: exact degrees of freedom with the ends ``"none"``, where there is a formula.
    one_gain : bool
        False where `fit` and differentiated values have different gains.
    """

    ends: Ends
    has_order: bool
    smooth: Callable[[FloatArray, Design], FloatArray]
    fit: Callable[[FloatArray, Design], Triple]
    reach: Callable[[Design], int]
    derived_reach: Callable[[Design], int]
    gain: Callable[[FloatArray, Design], FloatArray]
    second_gains: Callable[[FloatArray, FloatArray, Sequence[Design]], FloatArray]
    derivatives: Callable[[FloatArray, float, int], tuple[FloatArray, FloatArray]]
    freedom: Callable[[int, Design], float] | None = None
    one_gain: bool = True


def central_differences(values: FloatArray, rate_hz: float, accuracy: int) -> tuple[FloatArray, FloatArray]:
    """First two derivatives by central differences."""
    return differentiate(values, rate_hz=rate_hz, accuracy=accuracy)


def _recursive(
    low_pass: Callable[..., FloatArray],
    reach: Callable[..., int],
    pole: Callable[..., float],
    gain: Callable[[FloatArray, int], FloatArray],
) -> Method:
    """Method of a dual-pass filter; `gain` takes the warped frequency over the pole."""

    def smooth(values: FloatArray, at: Design) -> FloatArray:
        return low_pass(values, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, order=at.order, ends=at.ends)

    def fit(values: FloatArray, at: Design) -> Triple:
        smoothed = smooth(values, at)
        return smoothed, *central_differences(smoothed, at.rate_hz, at.accuracy)

    def reach_frames(at: Design) -> int:
        return reach(at.cutoff_hz, rate_hz=at.rate_hz, order=at.order) + differentiation_reach(at.accuracy)

    def gain_at(frequency_hz: FloatArray, at: Design) -> FloatArray:
        warped = np.tan(np.pi * frequency_hz / at.rate_hz)
        own_pole = pole(at.cutoff_hz, rate_hz=at.rate_hz, order=at.order)
        return np.asarray(gain(warped / math.tan(math.pi * own_pole / at.rate_hz), at.order))

    def second_gains(frequency_hz: FloatArray, gains: FloatArray, designs: Sequence[Design]) -> FloatArray:
        at = designs[0]
        return gains * derivatives.second_derivative_gain(frequency_hz / at.rate_hz, accuracy=at.accuracy)

    return Method(
        ends="reflect",
        has_order=True,
        smooth=smooth,
        fit=fit,
        reach=reach_frames,
        derived_reach=reach_frames,
        gain=gain_at,
        second_gains=second_gains,
        derivatives=central_differences,
    )


def _spline(half_order: int) -> Method:
    """Method of a smoothing spline of degree ``2 half_order - 1``."""

    def smooth(values: FloatArray, at: Design) -> FloatArray:
        return spline_smooth(values, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, half_order=half_order, ends=at.ends)

    def slopes(values: FloatArray, rate_hz: float, _: int) -> tuple[FloatArray, FloatArray]:
        return spline_derivatives(values, rate_hz=rate_hz, half_order=half_order)

    def fit(values: FloatArray, at: Design) -> Triple:
        smoothed = smooth(values, at)
        return smoothed, *slopes(smoothed, at.rate_hz, at.accuracy)

    def reach(at: Design) -> int:
        return spline_reach(at.cutoff_hz, rate_hz=at.rate_hz, half_order=half_order)

    def gain(frequency_hz: FloatArray, at: Design) -> FloatArray:
        return spline_gain(frequency_hz, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, half_order=half_order)

    def second_gains(frequency_hz: FloatArray, gains: FloatArray, designs: Sequence[Design]) -> FloatArray:
        return gains * splines.second_derivative_gain(frequency_hz / designs[0].rate_hz, half_order=half_order)

    def freedom(n_frames: int, at: Design) -> float:
        return spline_freedom(n_frames, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, half_order=half_order)

    return Method("none", False, smooth, fit, reach, reach, gain, second_gains, slopes, freedom)


def _local_smooth(values: FloatArray, at: Design) -> FloatArray:
    return local_polynomials(
        values, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, degree=at.degree, ends=at.ends, derivatives=False
    )[0]


def _local_fit(values: FloatArray, at: Design) -> Triple:
    return local_polynomials(values, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, degree=at.degree, ends=at.ends)


def _local_reach(at: Design) -> int:
    return window_frames(at.cutoff_hz, rate_hz=at.rate_hz, degree=at.degree) // 2


def _local_gain(frequency_hz: FloatArray, at: Design) -> FloatArray:
    return local_gain(frequency_hz, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, degree=at.degree)


def _local_second_gains(frequency_hz: FloatArray, _: FloatArray, designs: Sequence[Design]) -> FloatArray:
    own = [
        local_second_gain(frequency_hz, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, degree=at.degree) for at in designs
    ]
    return np.stack(own)


METHODS = {
    "butterworth": _recursive(
        low_pass, filter_reach, design_cutoff, lambda part, order: 1.0 / (1.0 + part ** (2 * order))
    ),
    "critically_damped": _recursive(
        critical_low_pass, critical_reach, critical_design_cutoff, lambda part, order: (1.0 + part**2) ** -order
    ),
    "savitzky_golay": Method(
        ends="none",
        has_order=True,
        smooth=_local_smooth,
        fit=_local_fit,
        reach=_local_reach,
        derived_reach=lambda at: _local_reach(at) + differentiation_reach(at.accuracy),
        gain=_local_gain,
        second_gains=_local_second_gains,
        derivatives=central_differences,
        one_gain=False,
    ),
    "cubic_spline": _spline(2),
    "quintic_spline": _spline(3),
}

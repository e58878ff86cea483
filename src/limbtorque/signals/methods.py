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
    gains : callable
        ``gains(frequency_hz, designs)``: gains far from the ends, shape (n_designs, n_frequencies); the designs differ in
        their cut-off only.
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
    gains: Callable[[FloatArray, Sequence[Design]], FloatArray]
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
    """Method of a dual-pass filter, from its gain over the squared warped frequency."""

    def smooth(values: FloatArray, at: Design) -> FloatArray:
        return low_pass(values, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, order=at.order, ends=at.ends)

    def fit(values: FloatArray, at: Design) -> Triple:
        smoothed = smooth(values, at)
        return smoothed, *central_differences(smoothed, at.rate_hz, at.accuracy)

    def reach_frames(at: Design) -> int:
        return reach(at.cutoff_hz, rate_hz=at.rate_hz, order=at.order) + differentiation_reach(at.accuracy)

    def gains(frequency_hz: FloatArray, designs: Sequence[Design]) -> FloatArray:
        rate_hz, order = designs[0].rate_hz, designs[0].order
        poles_hz = [pole(at.cutoff_hz, rate_hz=rate_hz, order=order) for at in designs]
        warped = np.array([math.tan(math.pi * pole_hz / rate_hz) for pole_hz in poles_hz])
        relative = np.tan(np.pi * frequency_hz / rate_hz) / warped[:, None]
        relative *= relative
        return np.asarray(gain(relative, order))

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
        gains=gains,
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

    return Method("none", False, smooth, fit, reach, reach, _each(gain), second_gains, slopes, freedom)


def _each(gain: Callable[[FloatArray, Design], FloatArray]) -> Callable[[FloatArray, Sequence[Design]], FloatArray]:
    """Gains of several designs, one by one."""
    return lambda frequency_hz, designs: np.stack([gain(frequency_hz, at) for at in designs])


def _butterworth_gain(square: FloatArray, order: int) -> FloatArray:
    gains = 1.0 + _power(square, order)
    return np.reciprocal(gains, out=gains)


def _critically_damped_gain(square: FloatArray, order: int) -> FloatArray:
    gains = _power(1.0 + square, order)
    return np.reciprocal(gains, out=gains)


def _power(values: FloatArray, exponent: int) -> FloatArray:
    """Integer power by multiplications, faster than NumPy's."""
    product = values.copy()
    for _ in range(exponent - 1):
        product *= values
    return product


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


def _local_second_gain(frequency_hz: FloatArray, at: Design) -> FloatArray:
    return local_second_gain(frequency_hz, rate_hz=at.rate_hz, cutoff_hz=at.cutoff_hz, degree=at.degree)


METHODS = {
    "butterworth": _recursive(low_pass, filter_reach, design_cutoff, _butterworth_gain),
    "critically_damped": _recursive(critical_low_pass, critical_reach, critical_design_cutoff, _critically_damped_gain),
    "savitzky_golay": Method(
        ends="none",
        has_order=True,
        smooth=_local_smooth,
        fit=_local_fit,
        reach=_local_reach,
        derived_reach=lambda at: _local_reach(at) + differentiation_reach(at.accuracy),
        gains=_each(_local_gain),
        second_gains=lambda frequency_hz, _, designs: _each(_local_second_gain)(frequency_hz, designs),
        derivatives=central_differences,
        one_gain=False,
    ),
    "cubic_spline": _spline(2),
    "quintic_spline": _spline(3),
}

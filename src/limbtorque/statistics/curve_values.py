"""Numbers taken from curves: at a percent, or between two."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.study.options.contrasts import Outcome


def value_of_curves(outcome: Outcome, percent: FloatArray, curves: FloatArray) -> FloatArray:
    """Value of an outcome in the curves of trials, or the whole curves.

    Parameters
    ----------
    outcome : Outcome
        A point or part of the curve.
    percent : ndarray of shape (n_points,)
        Points of the curves, evenly spaced.
    curves : ndarray of shape (n_trials, n_terms, n_points)
        A quantity, and its terms, which add up to it.

    Returns
    -------
    ndarray of shape (n_trials, n_terms, 1), or of the curves
        NaN where a part of the curve is missing.

    Notes
    -----
    Between points curves are straight. The maximum, minimum and range of a term are its values where the quantity has its
    own: all values add up to that of the quantity.

    Examples
    --------
    >>> curves = np.array([[[1.0, 4.0, 2.0], [0.0, 3.0, 5.0]]])
    >>> value_of_curves(Outcome(quantity="x", between_percent=(0, 100), take="max"), np.array([0.0, 50.0, 100.0]), curves)[0, :, 0]
    array([4., 3.])
    """
    if outcome.at_percent is not None:
        place = outcome.at_percent / percent[-1] * (len(percent) - 1)
        before = min(int(place), len(percent) - 2)
        after = place - before
        ends = [(weight, curves[..., [k]]) for weight, k in ((1.0 - after, before), (after, before + 1)) if weight]
        return np.asarray(sum(weight * values for weight, values in ends))
    if outcome.between_percent is None:
        return np.asarray(curves, dtype=float)
    low, high = outcome.between_percent
    part = curves[..., (percent >= low - 1e-9) & (percent <= high + 1e-9)].astype(float)
    if outcome.take == "mean":
        return np.asarray(part.mean(axis=2, keepdims=True))
    net, values = np.nan_to_num(part[:, :1]), []
    for sign, place in ((1.0, net.argmax(axis=2)), (-1.0, net.argmin(axis=2))):
        if outcome.take in ("range", "max" if sign > 0.0 else "min"):
            value = np.take_along_axis(part, np.broadcast_to(place[..., None], (*part.shape[:2], 1)), axis=2)
            values.append(value if outcome.take != "range" else sign * value)
    known = ~np.isnan(part).any(axis=(1, 2))
    return np.where(known[:, None, None], sum(values), np.nan)

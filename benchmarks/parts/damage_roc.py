"""Areas under ROC curves, thresholds and intervals, for `damages.py`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import rankdata

from limbtorque.arrays import BoolArray, FloatArray


def area(value: FloatArray, bad: BoolArray) -> float:
    """Area under the ROC curve: chance that a bad trial has the larger value, ties counted half; NaN without both."""
    count, other = int(bad.sum()), int((~bad).sum())
    if not count or not other:
        return float("nan")
    ranks = rankdata(lowest_if_missing(value))
    return float((ranks[bad].sum() - 0.5 * count * (count + 1)) / (count * other))


def lowest_if_missing(value: FloatArray) -> FloatArray:
    """Metrics that do not apply raise no flag: below all others."""
    return np.where(np.isnan(value), -np.inf, value)


def threshold(value: FloatArray, bad: BoolArray, undamaged: BoolArray, *, false_alarms: float, margin: float) -> float:
    """Smallest threshold with few false alarms, and a margin above it where detection allows.

    The value that maximises detection less false alarms among all trials, but never below `margin` times the quantile
    ``1 - false_alarms`` of the undamaged ones.
    """
    value = lowest_if_missing(value)
    least = float(np.quantile(value[undamaged], 1.0 - false_alarms, method="higher")) if undamaged.any() else 0.0
    least *= margin if least > 0 else 1.0
    tried = np.unique(np.append(value[value >= least], least))
    tried = tried[np.isfinite(tried)]
    if not len(tried) or not bad.any() or bad.all():
        return float("nan")
    tried = tried[:: max(len(tried) // 500, 1)]
    gain = [(value[bad] > t).mean() - (value[~bad] > t).mean() for t in tried]
    return float(tried[int(np.argmax(gain))])


def interval(
    subject: FloatArray, statistic: Callable[[FloatArray], float], *, draws: int, seed: int
) -> tuple[float, float]:
    """Interval of 95 % of a statistic of trial indices, by drawing whole subjects."""
    rng, names = np.random.default_rng(seed), np.unique(subject)
    of = {name: np.flatnonzero(subject == name) for name in names}
    found = [statistic(np.concatenate([of[n] for n in rng.choice(names, len(names))])) for _ in range(draws)]
    known = [value for value in found if not np.isnan(value)]
    if not known:
        return float("nan"), float("nan")
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)

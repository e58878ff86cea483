"""Mean and spread of curves over subjects or trials, and known share of stance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.statistics.wording import has_curve
from limbtorque.tables.column import counted
from limbtorque.tables.trial_record import SAME_TIME_S

IntArray = NDArray[np.int64]
Unit = Literal["subjects", "trials"]


@dataclass(frozen=True)
class Moments:
    """Running count, mean and sum of squares of arrays of the same shape.

    Attributes
    ----------
    n : ndarray of int
        Number of values.
    mean : ndarray
        Mean; 0 without values.
    squares : ndarray
        Sum of the squared differences from the mean.
    """

    n: IntArray
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> Moments:
        """Moments of arrays along the first axis; NaN where missing."""
        known = ~np.isnan(values)
        n = np.asarray(known.sum(axis=0))
        mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(n, 1)
        return cls(n, mean, np.square(np.where(known, values - mean, 0.0)).sum(axis=0))

    @property
    def sd(self) -> FloatArray:
        """Standard deviation (n - 1); NaN for fewer than two values."""
        return np.where(self.n > 1, np.sqrt(self.squares / np.maximum(self.n - 1, 1)), np.nan)

    @property
    def known_mean(self) -> FloatArray:
        """Mean, NaN without values."""
        return np.where(self.n > 0, self.mean, np.nan)


def no_moments(shape: tuple[int, ...]) -> Moments:
    """Moments of no values."""
    return Moments(np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape))


def add(moments: Moments, values: ArrayLike) -> Moments:
    """Moments updated with an array (Welford 1962).

    Parameters
    ----------
    moments : Moments
        Moments so far.
    values : array_like
        One more; NaN where missing.

    Examples
    --------
    >>> found = add(add(no_moments((1,)), [1.0]), [4.0])
    >>> found.n.tolist(), found.mean.tolist(), found.sd.round(3).tolist()
    ([2], [2.5], [2.121])
    """
    array = np.asarray(values, dtype=float)
    known = ~np.isnan(array)
    return merge(moments, Moments(known.astype(np.int64), np.where(known, array, 0.0), np.zeros(array.shape)))


def merge(first: Moments, second: Moments) -> Moments:
    """Moments of two sets of arrays together (Chan, Golub and LeVeque 1983)."""
    n = first.n + second.n
    share = second.n / np.maximum(n, 1)
    step = np.where(second.n > 0, second.mean - first.mean, 0.0)
    return Moments(n, first.mean + step * share, first.squares + second.squares + step**2 * first.n * share)


@dataclass(frozen=True)
class Ensemble:
    """Mean and spread of curves.

    Attributes
    ----------
    mean, sd : ndarray
        Mean, and standard deviation (n - 1), over subjects or over trials; NaN with fewer units than wanted, and the
        standard deviation with fewer than two.
    mean_low, mean_high : ndarray
        95 % interval of the mean by Student's t; NaN over trials, whose number is no basis for it.
    sd_within : ndarray
        Pooled standard deviation of the trials about the mean of their subject.
    n_trials, n_subjects : ndarray of int
        Numbers of trials and subjects with a value.
    """

    mean: FloatArray
    sd: FloatArray
    mean_low: FloatArray
    mean_high: FloatArray
    sd_within: FloatArray
    n_trials: IntArray
    n_subjects: IntArray


def unit_of_spread(spread_over: Unit, subjects: Iterable[str]) -> Unit:
    """Unit of mean and spread; trials in a study of one subject.

    Parameters
    ----------
    spread_over : {"subjects", "trials"}
        `ensembles.spread_over`.
    subjects : iterable of str
        Subject of every trial of the study, analysed or not.

    Examples
    --------
    >>> unit_of_spread("subjects", ["S01", "S02", "S01"]), unit_of_spread("subjects", ["S01", "S01"])
    ('subjects', 'trials')
    """
    return spread_over if len(set(subjects)) > 1 else "trials"


def ensemble(subjects: Sequence[Moments], *, spread_over: Unit, min_units: int) -> Ensemble:
    """Mean and spread of the trials of some subjects.

    Parameters
    ----------
    subjects : sequence of Moments
        Moments over the trials of each subject; one at least.
    spread_over : {"subjects", "trials"}
        Unit of the statistics: the means of the subjects, or all trials alike.
    min_units : int
        Least number of units with a value, `ensembles.min_units`.

    Notes
    -----
    Trials of one subject resemble each other. Over trials, ``sd / sqrt(n)`` is therefore too small for a comparison of
    subjects: the units of a mean are those that were sampled (Lazic 2010, BMC Neuroscience 11:5).
    """
    from scipy import special  # a slow import that most stages do not need

    n_trials = np.sum([own.n for own in subjects], axis=0)
    within = np.sum([own.squares for own in subjects], axis=0) / np.maximum(
        np.sum([np.maximum(own.n - 1, 0) for own in subjects], axis=0), 1
    )
    means = Moments.of(np.stack([own.known_mean for own in subjects]))
    over = means if spread_over == "subjects" else reduce(merge, subjects)
    mean, sd = (np.where(over.n >= min_units, values, np.nan) for values in (over.known_mean, over.sd))
    half = special.stdtrit(np.maximum(over.n - 1, 1), 0.975) * sd / np.sqrt(np.maximum(over.n, 1))
    half = np.where(over.n > 1, half, np.nan) if spread_over == "subjects" else np.full(mean.shape, np.nan)
    repeated = np.any([own.n > 1 for own in subjects], axis=0)
    sd_within = np.where(repeated & ~np.isnan(mean), np.sqrt(within), np.nan)
    return Ensemble(mean, sd, mean - half, mean + half, sd_within, n_trials, means.n)


def subject_value(sides: Sequence[Moments]) -> Moments:
    """Value of a subject: the mean of its trials, over sides that of their means.

    Every mean over subjects is of these values, in tables, curves and contrasts.

    Parameters
    ----------
    sides : sequence of Moments
        Moments over the subject's trials of each side.

    Returns
    -------
    Moments
        Of all trials together, with the mean of the sides with a value.
    """
    if len(sides) == 1:
        return sides[0]
    n_sides = np.maximum(np.sum([side.n > 0 for side in sides], axis=0), 1)
    return replace(reduce(merge, sides), mean=np.sum([side.mean for side in sides], axis=0) / n_sides)


def both_sides(sides: Sequence[tuple[Moments, FloatArray]], *, spread_over: Unit) -> tuple[Moments, FloatArray]:
    """One subject's trials of several sides together, for `ensemble`.

    Parameters
    ----------
    sides : sequence of (Moments, ndarray of shape (3, ...))
        Moments over the subject's trials of each side, and sums of their errors from `uncertainty.bands.added_errors`.
    spread_over : {"subjects", "trials"}
        Unit of the statistics: over subjects each side counts once, whatever its number of trials; over trials all count alike.

    Returns
    -------
    tuple of Moments and ndarray of shape (3, ...)
        The same of both sides; the mean is that of the sides with a value.

    Examples
    --------
    Two trials of the right side and one of the left:

    >>> right, left = (add(no_moments((1,)), [1.0]), add(no_moments((1,)), [6.0]))
    >>> sides = [(add(right, [3.0]), np.zeros((3, 1))), (left, np.zeros((3, 1)))]
    >>> both_sides(sides, spread_over="subjects")[0].mean, both_sides(sides, spread_over="trials")[0].mean.round(2)
    (array([4.]), array([3.33]))
    """
    moments, errors = zip(*sides, strict=True)
    if spread_over == "trials":
        return reduce(merge, moments), np.sum(errors, axis=0)
    together = subject_value(moments)
    n_sides = np.maximum(np.sum([side.n > 0 for side in moments], axis=0), 1)
    weights = [
        together.n / (n_sides * np.maximum(side.n, 1)) for side in moments
    ]  # of a trial, 1 where all count alike
    weighted = [own * np.stack([w, w, w**2]) for own, w in zip(errors, weights, strict=True)]
    return together, np.sum(weighted, axis=0)


MAX_SHARE_DIFFERENCE = 0.05  # of a stance with known ground force, between trials that are averaged


def known_stance_share(time_s: FloatArray, status: NDArray[Any], *, start_s: float, end_s: float, cycle: bool) -> float:
    """Share of the frames of a stance with a known ground force.

    Parameters
    ----------
    time_s, status : ndarray of shape (n_frames,)
        Time, s, and `external_status` of the kinematics table: 0 no contact, 1 contact with known force, 2 with unknown force.
    start_s, end_s : float
        The window, s.
    cycle : bool
        The window ends where the next cycle begins: contact up to its end belongs to the next cycle.

    Returns
    -------
    float
        Share, from 0 to 1; NaN without contact.

    Examples
    --------
    A stance of four frames, three of them known, and the beginning of the next one:

    >>> status = np.array([2, 1, 1, 1, 0, 0, 2])
    >>> known_stance_share(np.arange(7.0), status, start_s=0.0, end_s=6.0, cycle=True)
    0.75
    """
    inside = (time_s >= start_s - SAME_TIME_S) & (time_s <= end_s + SAME_TIME_S)
    contact = status[stance_frames(status, inside, cycle=cycle)]
    return float((contact == 1).mean()) if contact.size else float("nan")


def stance_frames(status: NDArray[Any], inside: BoolArray, *, cycle: bool) -> BoolArray:
    """Frames of a window in which the limb meets the ground.

    Parameters
    ----------
    status : ndarray of shape (n_frames,)
        `external_status` of the kinematics table: 0 no contact, 1 contact with known force, 2 with unknown force.
    inside : ndarray of bool, shape (n_frames,)
        Frames of the window.
    cycle : bool
        The window ends where the next cycle begins: contact up to its end belongs to the next cycle.

    Examples
    --------
    >>> stance_frames(np.array([2, 1, 0, 2]), np.ones(4, dtype=bool), cycle=True).tolist()
    [True, True, False, False]
    """
    contact = inside & (status != 0)
    free = np.flatnonzero(inside & (status == 0))
    if cycle and free.size:
        contact[free[-1] :] = False
    return np.asarray(contact)


def uneven_ground_forces(
    windows: Iterable[Mapping[str, str]], known_stance: Mapping[str, float]
) -> dict[str, list[str]]:
    """Sentences on mean curves with unequal or unknown ground force, by chain.

    Parameters
    ----------
    windows : iterable of mapping
        Rows of `results/windows.csv`, as text.
    known_stance : mapping of str to float
        `known_stance_share` of the trials that meet the ground; NaN for one without contact.

    Returns
    -------
    dict of str to list of str
        A sentence for each condition and side with shares that differ by more than 5 %, or that are all zero.
    """
    groups: dict[tuple[str, str, str], list[float]] = {}
    for row in windows:
        share = known_stance.get(row["trial"], float("nan"))
        if has_curve(row) and not np.isnan(share):
            groups.setdefault((row["chain"], row["condition"], row["side"]), []).append(share)
    found: dict[str, list[str]] = {}
    for (chain, condition, side), shares in groups.items():
        of = f"In the mean of {', '.join(filter(None, (condition, side)))} ({counted(len(shares), 'trial')}), the ground force "
        if max(shares) == 0.0:
            text = "is unknown throughout stance, as the foot was not on a usable plate: torques and powers are missing there."
        elif max(shares) - min(shares) > MAX_SHARE_DIFFERENCE:
            text = (
                f"is known in {100.0 * min(shares):.0f} to {100.0 * max(shares):.0f} % of the stance, depending on the trial; elsewhere the "
                "foot was not on a usable plate, and only the angles enter the mean: mean torques and powers in stance come from different trials at different points."
            )
        else:
            continue
        found.setdefault(chain, []).append(of + text)
    return found

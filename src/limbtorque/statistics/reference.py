"""Each person beside a reference group: curves, terms and numbers by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from limbtorque.arrays import BoolArray, FloatArray, runs
from limbtorque.statistics.mean_and_spread import Moments, subject_value
from limbtorque.statistics.prediction import LEVEL, CurveBand, GroupCurves, complete_block, holm
from limbtorque.study.options.reference import LEAST_BAND
from limbtorque.tables.effect_columns import EFFECT_TERMS
from limbtorque.tables.study_columns import GAIT_COLUMNS
from limbtorque.uncertainty.bands import LIMITS, added_errors, error_of_mean_curve

CURVE = "curve"
EXTREMES = {"max": np.fmax, "min": np.fmin}
SAME = (
    "subject",
    "chain",
    "condition",
    "side",
    "t",
    "p",
    "p_adjusted",
    "n_reference",
    "n_trials",
)  # columns that are attributes
WHOLE = ("", "net")  # terms of curves that are no parts of others
SEVERAL_M_S = 0.05  # standard deviation of a reference's walking speeds from which its mean is that at a person's speed
Key = tuple[str, str]  # chain and condition


class Shown(NamedTuple):
    """A curve, or a number, that is compared."""

    joint: str
    quantity: str
    term: str
    statistic: str
    unit: str


def shown_curves(joints: Sequence[str]) -> list[Shown]:
    """Curves of a chain: flexion, net torque, its terms by kind, power.

    Parameters
    ----------
    joints : sequence of str
        Joints, proximal first.
    """
    terms = [("torque", term, "N m/kg") for term in EFFECT_TERMS]
    each = [("flexion", "", "deg"), *terms, ("power", "", "W/kg")]
    return [Shown(joint, quantity, term, CURVE, unit) for joint in joints for quantity, term, unit in each]


def shown_values(joints: Sequence[str]) -> list[Shown]:
    """Curves of a chain, their extremes without those of terms, and those of gait."""
    curves = shown_curves(joints)
    extremes = [curve._replace(statistic=name) for curve in curves if curve.term in WHOLE for name in EXTREMES]
    return [*curves, *extremes, *(Shown("", column.name, "", "mean", column.unit) for column in GAIT_COLUMNS)]


@dataclass(frozen=True)
class TrialCurves:
    """Curves of a trial with a window.

    Attributes
    ----------
    subject, chain, condition, side : str
        As in the table of trials.
    curves : ndarray of shape (n_curves, n_points)
        As `shown_curves` lists them; NaN where missing.
    sd : ndarray of shape (3, n_curves, n_points)
        Their standard deviations by the owners of the errors; NaN where not known.
    gait : ndarray of shape (3,)
        Walking speed, cadence and stride length.
    """

    subject: str
    chain: str
    condition: str
    side: str
    curves: FloatArray
    sd: FloatArray
    gait: FloatArray

    def numbers(self, joints: Sequence[str], min_known_share: float) -> FloatArray:
        """Extremes and values of gait; NaN where too little of a curve is known."""
        whole = self.curves[[curve.term in WHOLE for curve in shown_curves(joints)]]
        extremes = np.stack([fold.reduce(whole, axis=1) for fold in EXTREMES.values()], axis=1)
        extremes[(~np.isnan(whole)).mean(axis=1) < min_known_share] = np.nan
        return np.concatenate([extremes.ravel(), self.gait])


@dataclass(frozen=True)
class Side:
    """Means of a side of a subject in a condition, over its trials.

    Attributes
    ----------
    values, errors : tuple of ndarray
        Values as `shown_values` lists them, a number as a curve of one point, and their standard deviations by errors of the
        inputs; NaN where not known.
    n_trials : int
        Number of trials.
    """

    values: tuple[FloatArray, ...]
    errors: tuple[FloatArray, ...]
    n_trials: int

    @property
    def speed_m_s(self) -> float:
        """Walking speed; NaN where it is not known."""
        return float(self.values[-len(GAIT_COLUMNS)][0])


BySubject = Mapping[str, Mapping[str, Side]]  # subject -> side of the body
Sides = Mapping[Key, BySubject]


def sides_of(trials: Iterable[TrialCurves], joints: Mapping[str, Sequence[str]], *, min_known_share: float) -> Sides:
    """Means of each side of each subject, by chain and condition.

    Parameters
    ----------
    trials : iterable of TrialCurves
        Trials of a study.
    joints : mapping of str to sequence of str
        Joints of each chain.
    min_known_share : float
        Least share of the points of a curve with a value, for its extremes.
    """
    groups: dict[Key, dict[str, dict[str, list[TrialCurves]]]] = {}
    for trial in trials:
        of_condition = groups.setdefault((trial.chain, trial.condition), {})
        of_condition.setdefault(trial.subject, {}).setdefault(trial.side, []).append(trial)
    return {
        key: {
            subject: {side: _side(own, joints[key[0]], min_known_share) for side, own in by_side.items()}
            for subject, by_side in subjects.items()
        }
        for key, subjects in groups.items()
    }


def _side(trials: Sequence[TrialCurves], joints: Sequence[str], min_known_share: float) -> Side:
    moments = Moments.of(np.stack([trial.curves for trial in trials]))
    numbers = Moments.of(np.stack([trial.numbers(joints, min_known_share) for trial in trials]))
    sums = np.zeros(trials[0].sd.shape)
    for trial in trials:
        sums = added_errors(sums, trial.curves, trial.sd)
    error = error_of_mean_curve([sums], [moments.n], over_subjects=True)
    values = (*subject_value([moments]).known_mean, *subject_value([numbers]).known_mean[:, np.newaxis])
    return Side(values, (*error, *np.full((len(values) - len(error), 1), np.nan)), len(trials))


@dataclass(frozen=True)
class Beside:
    """A curve, or a number, of one side of a person beside the reference.

    Attributes
    ----------
    subject, chain, condition, side : str
        The person's side.
    shown : Shown
        The curve or number.
    value, error : ndarray of shape (n_points,)
        The person's, and its standard deviation by errors of the inputs; a number has one point.
    mean, sd : ndarray of shape (n_points,)
        Mean of the reference, and standard deviation of a new value about it; NaN where not known.
    factor : float
        Half the width of the band of a whole curve, or of the interval of a number, over `sd`; NaN without.
    freedom : int
        Degrees of freedom of t.
    others : ndarray
        Of curves the rms deviation of each side of the reference from the mean of the others.
    n_reference, n_trials : int
        Subjects of the reference without the person, and trials of the side.
    speed_m_s : float
        Walking speed of the person; NaN where it is not known.
    speeds_m_s : tuple of float
        Least and greatest walking speed of the reference; NaN where one is not known.
    at_speed : bool
        The mean is that at this speed.
    p_adjusted : float
        Of numbers.
    """

    subject: str
    chain: str
    condition: str
    side: str
    shown: Shown
    value: FloatArray
    error: FloatArray
    mean: FloatArray
    sd: FloatArray
    factor: float
    freedom: int
    others: FloatArray
    n_reference: int
    n_trials: int
    speed_m_s: float
    speeds_m_s: tuple[float, float]
    at_speed: bool
    p_adjusted: float = np.nan

    @property
    def is_curve(self) -> bool:
        """True for a curve."""
        return self.shown.statistic == CURVE

    @property
    def half(self) -> FloatArray:
        """Half the width of the band or interval."""
        return self.factor * self.sd

    @property
    def t(self) -> float:
        """One against the group, (x - mean) / (s sqrt(1 + 1/n)); NaN for curves.

        Of Crawford and Howell (1998).
        """
        known = not self.is_curve and self.freedom > 0 and self.sd[0] > 0.0
        return float(self.deviation[0] / self.sd[0]) if known else np.nan

    @property
    def p(self) -> float:
        """Two-sided p of t."""
        return float(2.0 * special.stdtr(self.freedom, -abs(self.t)))

    @cached_property
    def deviation(self) -> FloatArray:
        """Person less mean of the reference."""
        return self.value - self.mean

    @cached_property
    def rms(self) -> float:
        """Root mean square of the deviation over the points."""
        return _rms(self.deviation)

    @property
    def rms_error(self) -> float:
        """Its standard deviation, with the error of one sign along the curve."""
        size = np.abs(self.deviation) * self.error
        known = ~np.isnan(size)
        return float(size[known].mean() / self.rms) if known.any() and self.rms > 0.0 else np.nan

    @property
    def usual_rms(self) -> float:
        """Median of the rms deviations in the reference."""
        return float(np.median(self.others)) if self.others.size else np.nan

    @property
    def larger_share(self) -> float:
        """Share of the reference that deviates as much."""
        return float(np.mean(self.others >= self.rms)) if self.others.size else np.nan

    def outside(self, errors: float = 0.0) -> BoolArray:
        """Points outside the band, also if the curve errs by some standard deviations."""
        allowed = self.half + (errors * self.error if errors else 0.0)
        return np.asarray(np.abs(self.deviation) > allowed)

    @property
    def row(self) -> dict[str, Any]:
        """Row of `results/compared_with_reference.csv`."""
        low, high = self.mean - self.half, self.mean + self.half
        numbers = {"value": self.value, "reference_mean": self.mean, "low": low, "high": high}
        return {
            **{name: getattr(self, name) for name in SAME},
            **self.shown._asdict(),
            **{name: np.nan if self.is_curve else float(value[0]) for name, value in numbers.items()},
            "degrees_of_freedom": self.freedom,
            "rms_deviation": self.rms if self.is_curve else np.nan,
            "rms_error": self.rms_error if self.is_curve else np.nan,
            "reference_rms": self.usual_rms,
            "larger_share": self.larger_share,
            "outside": percents(self.outside()) if self.is_curve else "",
            "outside_certain": percents(self.outside(LIMITS)) if self.is_curve else "",
            "walking_speed_m_s": self.speed_m_s,
            "at_speed": int(self.at_speed),
        }


def _rms(values: FloatArray) -> float:
    known = ~np.isnan(values)
    return float(np.sqrt(np.mean(values[known] ** 2))) if known.any() else np.nan


def percents(points: BoolArray) -> str:
    """Runs of points in percent of the window.

    >>> percents(np.array([True, True, False, False, True]))
    '0 to 25 %, 100 %'
    """
    step = 100.0 / max(len(points) - 1, 1)
    return ", ".join(f"{' to '.join(dict.fromkeys(f'{step * k:.3g}' for k in (a, b - 1)))} %" for a, b in runs(points))


def beside_reference(
    persons: Sides,
    reference: Sides,
    *,
    joints: Mapping[str, Sequence[str]],
    members: Collection[str] = (),
    seed: int,
) -> list[Beside]:
    """Each side of each person beside the reference, in every curve and number.

    Parameters
    ----------
    persons, reference : mapping
        From `sides_of`.
    joints : mapping of str to sequence of str
        Joints of each chain.
    members : collection of str, optional
        Persons that are in the reference: they are compared with the others.
    seed : int
        Seed of the bootstrap.

    Returns
    -------
    list of Beside
        For conditions that the reference has. P values are adjusted for all numbers of a person.
    """
    compared = [
        each
        for key, subjects in persons.items()
        if key in reference
        for each in _Condition(key, reference[key], subjects, members, seed).beside(joints[key[0]])
    ]
    places: dict[str, list[int]] = {}
    for k, each in enumerate(compared):
        places.setdefault(each.subject, []).append(k)
    for own in places.values():
        for k, p in zip(own, holm(np.array([compared[k].p for k in own])), strict=True):
            compared[k] = replace(compared[k], p_adjusted=float(p))
    return compared


class _Condition:
    """Persons beside a reference in one condition of a chain.

    The reference's mean is that at a person's walking speed where all have one and the reference is not too small.
    """

    def __init__(self, key: Key, reference: BySubject, persons: BySubject, members: Collection[str], seed: int) -> None:
        self._key, self._persons, self._members, self._seed = key, persons, members, seed
        self._names = [*reference]
        self._sides = [side for sides in reference.values() for side in sides.values()]
        self._subject = np.repeat(np.arange(len(reference)), [len(sides) for sides in reference.values()])
        speeds = np.array([_speed(sides) for sides in reference.values()])
        self._speed = {name: _speed(sides) for name, sides in persons.items()}
        known = not np.isnan([*speeds, *self._speed.values()]).any()
        self._at_speed = bool(known and len(speeds) > LEAST_BAND and speeds.std() >= SEVERAL_M_S)
        self._speeds = float(speeds.min()), float(speeds.max())
        self._scale = (speeds.mean(), speeds.std()) if self._at_speed else (0.0, 1.0)
        self._design = np.stack([self._row(speed) for speed in speeds])

    def _row(self, speed_m_s: float) -> FloatArray:
        mean, sd = self._scale
        return np.array([1.0, (speed_m_s - mean) / sd][: 1 + self._at_speed])

    def beside(self, joints: Sequence[str]) -> Iterator[Beside]:
        """Compare every curve and number in which the reference has values."""
        for k, shown in enumerate(shown_values(joints)):
            values = np.stack([side.values[k] for side in self._sides])
            kept, points = complete_block(values)
            if values[kept][:, points].any():  # else no value, or a load that is not there
                yield from self._compared(k, shown, values, kept, points)

    def _compared(
        self, k: int, shown: Shown, values: FloatArray, kept: BoolArray, points: BoolArray
    ) -> Iterator[Beside]:
        """Compare a curve or number of all persons."""
        numbers, subject = np.unique(self._subject[kept], return_inverse=True)
        n_columns = 1 + (self._at_speed and bool(shown.joint))
        group = GroupCurves(values[kept][:, points], subject, self._design[numbers, :n_columns])
        is_curve, n = shown.statistic == CURVE, len(numbers)
        band = CurveBand(group, seed=self._seed) if is_curve and n > LEAST_BAND else None
        others = np.sqrt(np.mean(group.left_out**2, axis=1)) if is_curve else np.zeros(0)
        names = [self._names[number] for number in numbers]
        for name, sides in self._persons.items():
            own = names.index(name) if name in self._members and name in names else None
            base = group if own is None else group.without(own)
            if not len(base.values):
                continue
            mean, sd = (each[0] for each in base.fit.predicted(self._row(self._speed[name])[:n_columns]))
            if is_curve:
                factor = band.factor(own) if band and len(base.design) >= LEAST_BAND else np.nan
            else:
                factor = float(special.stdtrit(base.freedom, 0.5 + LEVEL / 2.0)) if base.freedom > 0 else np.nan
            same = {
                "subject": name,
                "chain": self._key[0],
                "condition": self._key[1],
                "shown": shown,
                "mean": _at(points, mean),
                "sd": _at(points, sd),
                "factor": factor,
                "freedom": base.freedom,
                "others": others if own is None or not is_curve else others[subject != own],
                "n_reference": len(base.design),
                "speed_m_s": self._speed[name],
                "speeds_m_s": self._speeds,
                "at_speed": n_columns > 1,
            }
            for side, of_side in sides.items():
                value, error = of_side.values[k], of_side.errors[k]
                if not np.isnan(value[points]).all():
                    yield Beside(side=side, value=value, error=error, n_trials=of_side.n_trials, **same)


def _at(points: BoolArray, values: FloatArray) -> FloatArray:
    """Values of some points among all; NaN elsewhere."""
    everywhere = np.full(len(points), np.nan)
    everywhere[points] = values
    return everywhere


def _speed(sides: Mapping[str, Side]) -> float:
    """Walking speed of a subject; NaN where it is not known."""
    return float(Moments.of(np.array([[side.speed_m_s] for side in sides.values()])).known_mean[0])

"""Measure how often tests of contrasts find a difference where there is none, and how often intervals hold the truth.

Simulated null studies: numbers, and curves of 101 points of smooth Gaussian noise with a full width at half maximum of 20 points;
level 5 %, 999 random flips where all are more. Prints a table in Markdown, and exits with 1 outside its limits: three standard
errors around the attainable level for pairs and equal spreads; 5 %, three standard errors and 1 point for unequal spreads; 5 %
and three standard errors for families; 93 to 97 % and three standard errors for bands of a whole new curve; 94 to 96 % for
intervals (wider by chance where there are fewer studies). Skewed values, groups of 4 and 5, values missing by their size, and
power beside spm1d's where it is installed, are not judged.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter1d

from limbtorque.arrays import FloatArray
from limbtorque.statistics import sign_flips
from limbtorque.statistics.contrast_results import Comparison, Result, contrast_results
from limbtorque.statistics.prediction import CurveBand, Group

LEVEL, FLIPS, STUDIES, QUICK = 0.05, 1000, 5000, 1000  # flips with the identity
N_POINTS, SMOOTH = 101, 20.0 / 2.3548  # of a curve: points, and standard deviation of its kernel
TOGETHER = 50  # studies of numbers that share their flips
ATTAINABLE = {8: 12 / 256}  # of pairs by all flips; 5 % by random ones
TIED = 0.032  # of 10 pairs with 4 on half of the curve, where flips of the other 6 tie: all flips of 600 studies
EFFECT = np.exp(-((np.arange(N_POINTS) - 50.0) ** 2) / (2.0 * 10.0**2))  # of the rows of power, in standard deviations
MARKS = ("<!-- null rates -->", "<!-- end of null rates -->")

Values = Callable[[np.random.Generator, int], FloatArray]


@dataclass(frozen=True)
class Design:
    """Simulated null study.

    Attributes
    ----------
    sizes : tuple of int
        Subjects of each group, or pairs.
    spread : float
        Standard deviation of the last group over that of the first.
    kind : str
        What else is special: ``covariate``, ``trials`` (10 of half of the subjects and 2 of the others), ``missing`` (6 of 10
        on half of each curve), ``skewed``, ``missing by size`` or nothing.
    judged : bool
        Compare with the limit.
    """

    sizes: tuple[int, ...]
    spread: float = 1.0
    kind: str = ""
    judged: bool = True

    @property
    def name(self) -> str:
        """Words for the table."""
        of = f"{self.sizes[0]} pairs" if len(self.sizes) == 1 else "{} + {}".format(*self.sizes)
        return ", ".join(filter(None, (of, self.kind)))

    @property
    def attainable(self) -> float:
        """Largest level at or below 5 % that the flips have."""
        if self.kind == "missing":
            return TIED
        return ATTAINABLE.get(self.sizes[0], LEVEL) if len(self.sizes) == 1 else LEVEL

    def matrix(self, rng: np.random.Generator) -> FloatArray:
        """Full model."""
        n = sum(self.sizes)
        columns = [np.ones(n)] if len(self.sizes) == 1 else [np.repeat([1.0, 0.0], self.sizes), np.ones(n)]
        return np.column_stack([*columns, *[rng.normal(size=n)] * (self.kind == "covariate")])

    def values(self, noise: FloatArray, matrix: FloatArray) -> FloatArray:
        """Values of a study without a difference, from noise of shape (n_subjects, n_points)."""
        n = sum(self.sizes)
        sd = np.ones(n)
        if len(self.sizes) > 1:
            sd[matrix[:, 0] == 0.0] = self.spread
        if self.kind == "trials":
            sd = np.sqrt(0.5 + 1.0 / np.where(np.arange(n) % 2, 10, 2))
        values = noise * sd[:, None]
        if self.kind == "covariate":
            values += 0.7 * matrix[:, -1:]
        if self.kind == "skewed":
            values = np.exp(0.8 * values)
            values -= np.exp(0.32)
        if self.kind == "missing":
            values[:6, noise.shape[1] // 2 :] = np.nan
        if self.kind == "missing by size":
            values[values > 1.0] = np.nan
        return values


UNEQUAL = [Design(sizes, spread) for sizes in ((8, 8), (16, 8), (20, 6)) for spread in (1.0, 2.0, 3.0)]
NUMBERS = [
    *(Design((8,)), Design((20,)), *UNEQUAL, Design((12,), kind="trials"), Design((12, 12), kind="trials")),
    *(Design((16, 8), spread, "covariate") for spread in (1.0, 3.0)),
    *(Design((20,), kind="skewed", judged=False), Design((16, 8), kind="skewed", judged=False)),
    *(Design(sizes, 3.0, judged=False) for sizes in ((4, 4), (5, 5))),
    Design((20,), kind="missing by size", judged=False),
]
CURVES = [
    *(Design((8,)), Design((20,)), *UNEQUAL, Design((16, 8), 3.0, "covariate"), Design((10,), kind="missing")),
    *(Design((5, 5), 3.0, judged=False), Design((20,), kind="missing by size", judged=False)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK} studies of curves and families, in place of {STUDIES}"
    )
    parser.add_argument("--studies", type=int, help="number of studies of each design")
    parser.add_argument("--write", type=Path, help="page whose table is replaced")
    options = parser.parse_args()
    n_studies = options.studies or (QUICK if options.quick else STUDIES)
    with Pool() as pool:
        rows = list(pool.imap(partial(_row, n_studies=n_studies), _tasks()))
    text = "\n".join(
        ["| design | spread | of | rate (%) | limits (%) |", "|---|---|---|---|---|", *(r for r, _ in rows)]
    )
    print(text)
    if options.write:
        write_between(options.write, text)
    sys.exit(int(any(outside for _, outside in rows)))


def write_between(path: Path, text: str) -> None:
    """Replace what a page has between the marks."""
    head, rest = path.read_text(encoding="utf-8").split(MARKS[0])
    note = f"{head}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}"
    path.write_text(note, encoding="utf-8")


def _tasks() -> list[tuple[str, Design]]:
    family = [("family", Design(sizes, spread)) for sizes, spread in (((10,), 1.0), ((16, 8), 2.0))]
    intervals = [
        *(("interval", Design(sizes, spread)) for sizes, spread in (((8,), 1.0), ((16, 8), 2.0), ((20, 6), 3.0))),
        *(("interval, shared error", Design((8,))), ("limits of a whole curve", Design((12,)))),
        ("interval", Design((20,), kind="skewed", judged=False)),
    ]
    band = [("band, a new curve", Design((n,), judged=n != 10)) for n in (10, 20, 40)]
    band += [
        ("band, a new curve", Design((20,), kind="speeds")),
        ("limits by points, a new curve", Design((20,), judged=False)),
    ]
    power = [(f"power{program}", Design((n,), judged=False)) for n in (8, 12, 20) for program in ("", " of spm1d")]
    if not find_spec("spm1d"):
        power = power[::2]
    return [
        *(("number", each) for each in NUMBERS),
        *(("curve", each) for each in CURVES),
        *family,
        *intervals,
        *band,
        *power,
    ]


def _row(task: tuple[str, Design], n_studies: int) -> tuple[str, bool]:
    """Row of the table, and whether its rate is outside its limits."""
    what, design = task
    seed = sum(map(ord, what.removesuffix(" of spm1d") + design.name))
    rng = np.random.default_rng([seed, int(10 * design.spread)])
    n_studies = n_studies if _each(what) == 1 else max(n_studies, STUDIES)  # numbers take no time
    hits = np.concatenate([_hits(what, design, rng) for _ in range(-(-n_studies // _each(what)))])
    rate, error = float(hits.mean()), 3.0 * float(np.sqrt(LEVEL * (1.0 - LEVEL) / len(hits)))
    low, high = _limits(what, design, error)
    shown = f"{100 * low:.1f} to {100 * high:.1f}" if low > 0.0 else f"at most {100 * high:.1f}"
    name = design.name.replace("pairs", "subjects") if what.endswith("a new curve") else design.name
    words = f"| {name} | {design.spread:g} | {what} | {100 * rate:.1f} | {shown if design.judged else ''} |"
    return words, design.judged and not low <= rate <= high


def _each(what: str) -> int:
    return TOGETHER if what in ("number", "interval", "interval, shared error") else 1


def _limits(what: str, design: Design, error: float) -> tuple[float, float]:
    if what.startswith("band"):
        return 0.93 - error, 0.97 + error
    if what.startswith(("interval", "limits")):
        return 0.95 - max(error, 0.01), 0.95 + max(error, 0.01)
    if what == "family":
        return 0.0, LEVEL + error
    if design.spread > 1.0:
        return 0.0, LEVEL + error + 0.01
    return design.attainable - error, design.attainable + error


def _hits(what: str, design: Design, rng: np.random.Generator) -> FloatArray:
    """One for each study with a difference, or whose interval holds the truth."""
    sign_flips.LEAST_GROUP = min(design.sizes)
    matrix, n = design.matrix(rng), sum(design.sizes)
    if what == "curve":
        noise = smooth_noise(rng, n)
        return np.array([np.nanmin(_tested(design, rng, noise, matrix).p_adjusted) <= LEVEL], dtype=float)
    if what == "family":
        return _family(design, rng, matrix)
    if what.startswith("power"):
        return _finds(smooth_noise(rng, n) + EFFECT, matrix, by_spm1d="spm1d" in what)
    if what == "limits of a whole curve":
        result = _tested(design, rng, smooth_noise(rng, n), matrix)
        return np.array([((result.low_simultaneous <= 0.0) & (result.high_simultaneous >= 0.0)).all()], dtype=float)
    if what.endswith("a new curve"):
        return _holds(design, rng, by_points="points" in what)
    result = _tested(design, rng, rng.normal(size=(n, TOGETHER)), matrix, shared=float("shared" in what))
    if what == "number":
        return np.asarray(result.p_flips <= LEVEL, dtype=float)
    return np.asarray((result.low <= 0.0) & (result.high >= 0.0), dtype=float)


def _tested(
    design: Design, rng: np.random.Generator, noise: FloatArray, matrix: FloatArray, shared: float = 0.0
) -> Result:
    """Result of a study; with an error that all subjects share, of this standard deviation, in values and interval."""
    values = design.values(noise, matrix) + shared * rng.normal(size=noise.shape[1])
    variance = np.full(noise.shape[1], shared**2)
    (result,) = contrast_results(
        [Comparison(matrix, values, shared_variance=variance)], n_flips=FLIPS, seed=int(rng.integers(2**31))
    )
    return result


def _family(design: Design, rng: np.random.Generator, matrix: FloatArray) -> FloatArray:
    """A family of five numbers, correlated and with missing values, and a curve; the first has an effect."""
    n = sum(design.sizes)
    common = rng.normal(size=(n, 1))
    values = design.values(0.6 * common + 0.8 * rng.normal(size=(n, 5)), matrix)
    values[:, 0] += 3.0 * matrix[:, 0]
    values[rng.uniform(size=values.shape) < 0.05] = np.nan
    curve = design.values(smooth_noise(rng, n), matrix)
    compared = [Comparison(matrix, values[:, [k]]) for k in range(5)] + [Comparison(matrix, curve)]
    results = contrast_results(compared, n_flips=FLIPS, seed=int(rng.integers(2**31)))
    p = np.concatenate([result.p_adjusted for result in results[1:]])
    return np.array([bool((p <= LEVEL).any())], dtype=float)


def _holds(design: Design, rng: np.random.Generator, *, by_points: bool) -> FloatArray:
    """1 where a whole new curve is in the band of one person, or in mean ± 1.96 standard deviations of each point."""
    (n,) = design.sizes
    speeds = rng.normal(size=(n + 1, 1)) if design.kind == "speeds" else np.zeros((n + 1, 0))
    curves = smooth_noise(rng, n + 1) + speeds.sum(axis=1, keepdims=True)
    covariates = np.column_stack([np.ones(n + 1), speeds])
    group = Group(curves[:n], np.arange(n), covariates[:n])
    mean, sd = (each[0] for each in group.left_out.predicted(covariates[n:], np.zeros(1, dtype=int)))
    half = (
        1.96 * curves[:n].std(axis=0, ddof=1)
        if by_points
        else CurveBand(group, seed=int(rng.integers(2**31))).factor(0) * sd
    )
    return np.array([(np.abs(curves[n] - mean) <= half).all()], dtype=float)


def _finds(curves: FloatArray, matrix: FloatArray, *, by_spm1d: bool) -> FloatArray:
    """1 where paired curves are found to differ, by flips or by spm1d's random fields."""
    if by_spm1d:
        import spm1d  # where it is installed

        test = spm1d.stats.ttest(curves, 0.0).inference(LEVEL, two_tailed=True)
        return np.array([bool(test.h0reject)], dtype=float)
    (result,) = contrast_results([Comparison(matrix, curves)], n_flips=FLIPS)
    return np.array([bool(result.p_adjusted.min() <= LEVEL)], dtype=float)


def smooth_noise(rng: np.random.Generator, n_subjects: int) -> FloatArray:
    """Curves of smooth Gaussian noise with a standard deviation of 1."""
    margin = int(4 * SMOOTH)
    noise = gaussian_filter1d(rng.normal(size=(n_subjects, N_POINTS + 2 * margin)), SMOOTH, axis=1)
    return np.asarray(noise[:, margin:-margin] * np.sqrt(2.0 * np.sqrt(np.pi) * SMOOTH))


if __name__ == "__main__":
    main()

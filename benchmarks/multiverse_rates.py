"""Measure how often the test over all universes finds an effect where there is none, and how often one that is there.

Simulated studies of numbers: subjects differ by a value of their own, and universes by another one, correlated within pairs of
neighbours; 200 universes, 999 random flips where all are more. A study errs where any adjusted p of any universe is at most 0.05.
Exits with 1 where the rate is above 5 % by more than three standard errors. Power, beside that of the declared universe alone
(p by flips), is not judged. `--speed` times 10,000 flips over 500 universes of 20 subjects.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from multiprocessing import Pool

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.statistics.contrast_results import Comparison, contrast_results

LEVEL, FLIPS, UNIVERSES, STUDIES = 0.05, 1000, 200, 2000
AIM_S = 1.0
# Subjects of each group, or pairs; spread of the second group over that of the first; standard deviation of universes over that of
# subjects; effect in standard deviations of subjects, in this share of the universes
NULLS = [
    ((sizes), spread, between, 0.0, 1.0)
    for sizes, spread in (((8,), 1.0), ((20,), 1.0), ((16, 8), 1.0))
    for between in (0.2, 1.0)
]
NULLS.append(((16, 8), 2.0, 1.0, 0.0, 1.0))
POWER = [((12,), 1.0, between, 1.0, share) for between in (0.2, 1.0) for share in (1.0, 0.5)]
Case = tuple[tuple[int, ...], float, float, float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--studies", type=int, default=STUDIES, help=f"number of studies of each row (default: {STUDIES})"
    )
    parser.add_argument("--speed", action="store_true", help="time the flips instead")
    options = parser.parse_args()
    if options.speed:
        sys.exit(int(speed() > AIM_S))
    print(f"at most {limit_of(options.studies):.1f} % where there is no effect")
    print("| study | any universe (%) | the declared one (%) |")
    print("|---|---|---|")
    outside = False
    with Pool() as pool:
        for case in (*NULLS, *POWER):
            found = np.array(pool.map(partial(study, case=case), range(options.studies), chunksize=50))
            rate, alone = 100.0 * found.mean(axis=0)
            outside |= bool(case[3] == 0.0 and rate > limit_of(options.studies))
            print(row(case, f"{rate:.1f}", f"{alone:.1f}"), flush=True)
    sys.exit(int(outside))


def limit_of(n_studies: int) -> float:
    """Largest rate without an effect, percent."""
    return float(100.0 * (LEVEL + 3.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / n_studies)))


def row(case: Case, *rates: str) -> str:
    sizes, spread, between, effect, share = case
    of = f"{sizes[0]} pairs" if len(sizes) == 1 else "{} + {}".format(*sizes)
    words = [of, f"spread {spread:g}" * (spread != 1.0), f"{between:g} sd"]
    words += ["effect in " + ("all" if share == 1.0 else f"{share:g} of all")] if effect else []
    return "| " + " | ".join([", ".join(filter(None, words)), *rates]) + " |"


def values_of(rng: np.random.Generator, case: Case) -> tuple[FloatArray, FloatArray]:
    """Model and values, (n_subjects, n_universes)."""
    sizes, spread, between, effect, share = case
    n = sum(sizes)
    first = np.repeat([1.0, 0.0], sizes) if len(sizes) > 1 else np.ones(n)
    matrix = np.column_stack([first, *[np.ones(n)] * (len(sizes) > 1)])
    pairs = np.repeat(rng.normal(size=(n, UNIVERSES // 2)), 2, axis=1)
    noise = between * (pairs + rng.normal(size=(n, UNIVERSES))) / np.sqrt(2.0)
    values = (rng.normal(size=(n, 1)) + noise) * np.where(first, 1.0, spread)[:, None]
    values[:, UNIVERSES - round(share * UNIVERSES) :] += effect * first[:, None]
    return matrix, values


def study(number: int, case: Case) -> tuple[bool, bool]:
    """Return True for any universe of a study, and for the first alone, that shows an effect."""
    matrix, values = values_of(np.random.default_rng([number, 7]), case)
    (result,) = contrast_results([Comparison(matrix, values)], n_flips=FLIPS, seed=number)
    return bool((result.p_adjusted <= LEVEL).any()), bool(result.p_flips[0] <= LEVEL)


def speed() -> float:
    """Processor time of 10,000 flips, s."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(20, 1)) + 0.3 * rng.normal(size=(20, 500))
    times = []
    for _ in range(3):
        start = time.process_time()
        contrast_results([Comparison(np.ones((20, 1)), values)])
        times.append(time.process_time() - start)
    print(f"10,000 flips of 500 universes, 20 subjects: {min(times):.2f} s of processor time (aim {AIM_S:g} s)")
    return min(times)


if __name__ == "__main__":
    main()

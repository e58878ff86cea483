"""STUB until the engine is merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from limbtorque.arrays import FloatArray


@dataclass(frozen=True)
class Tested:
    matrix: FloatArray
    values: FloatArray
    family: str = ""
    shared_variance: FloatArray | None = None
    smallest_effect: float | None = None


class Result:
    pass


def test_outcomes(outcomes: Sequence[Tested], *, n_flips: int = 10_000, seed: int = 1) -> list[Result]:
    out = []
    for t in outcomes:
        r = Result()
        n = t.values.shape[1]
        nan = np.full(n, np.nan)
        for name in [
            "estimate",
            "standard_error",
            "degrees_of_freedom",
            "low",
            "high",
            "p_t",
            "p_flips",
            "p_adjusted",
            "smallest_p",
            "smallest_p_family",
            "hedges_g",
            "low_simultaneous",
            "high_simultaneous",
            "low90",
            "high90",
            "p_equivalence",
            "detectable_effect",
            "subjects_needed",
            "threshold",
        ]:
            setattr(r, name, nan.copy())
        r.reason = ""
        r.disagrees = False
        for k in range(n):
            use = ~np.isnan(t.matrix).any(axis=1) & ~np.isnan(t.values[:, k])
            if use.sum() <= t.matrix.shape[1]:
                r.reason = "too few"
                continue
            X, y = t.matrix[use], t.values[use, k]
            P = np.linalg.pinv(X)
            b = P @ y
            e = y - X @ b
            h = (X * P.T).sum(axis=1)
            v = (P[0] ** 2 * e**2 / (1 - h)).sum()
            df = use.sum() - X.shape[1]
            r.estimate[k] = b[0]
            r.standard_error[k] = np.sqrt(v)
            half = special.stdtrit(df, 0.975) * np.sqrt(v)
            r.low[k], r.high[k] = b[0] - half, b[0] + half
            r.p_t[k] = r.p_flips[k] = r.p_adjusted[k] = 2 * special.stdtr(df, -abs(b[0] / np.sqrt(v or 1.0)))
            r.smallest_p[k] = r.smallest_p_family[k] = 2.0 ** (1 - use.sum())
            r.degrees_of_freedom[k] = df
        out.append(r)
    return out

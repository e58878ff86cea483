"""Flags on simulated subjects whose inputs are wrong by as much as the section `uncertainty` states, and by twice as much.

python benchmarks/stated_errors.py
python benchmarks/stated_errors.py --quick

Legs of walks and arms of reaches (`parts/coverage_cases.py`), with errors of all joint centres of both sides, skin, noise, plates,
segments and body mass. At the stated sizes each flag may be on 5 % of the subjects of a movement, and 10 % may have any; exits with 1
where more have.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
from parts.coverage_cases import Case, case_settings, cases
from parts.damage_roc import area

from limbtorque.analysis.trial import analyse_recording
from limbtorque.errors import LimbtorqueError
from limbtorque.study.settings import make_settings

MOVEMENTS, FACTORS = ("walk", "reach"), (0.0, 1.0, 2.0)
SUBJECTS, QUICK, PART = 200, 40, 20
EACH, ANY = 0.05, 0.10  # largest shares of subjects with one flag, and with any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK} subjects of each movement, in place of {SUBJECTS}"
    )
    parser.add_argument("--seed", type=int, default=33, help="seed of the subjects and of their errors")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--rows", help="keep a row for each trial in this file (CSV)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["OMP_NUM_THREADS"] = "1"
    n_subjects = QUICK if options.quick else SUBJECTS
    jobs = [
        (movement, factor, n_subjects, options.seed, part)
        for movement in MOVEMENTS
        for factor in FACTORS
        for part in range(0, n_subjects, PART)
    ]
    with ProcessPoolExecutor(options.cores) as pool:
        rows = pd.DataFrame([row for part in pool.map(rows_of, *zip(*jobs, strict=True)) for row in part])
    if options.rows:
        rows.to_csv(options.rows, index=False)
    print(table(rows))
    sys.exit(bool(too_many(rows)))


def rows_of(movement: str, factor: float, n_subjects: int, seed: int, first: int) -> list[dict[str, object]]:
    """Status, flags and metrics of some subjects of a movement."""
    settings = make_settings(
        {**case_settings().model_dump(), "muscles": {"enabled": False}, "torques": {"columns": []}}
    )
    made = cases(movement, n_subjects, settings=settings, seed=seed, factor=factor, whole=True)
    return [
        {"movement": movement, "factor": factor, "subject": number, **row(case)}
        for number, case in enumerate(made)
        if first <= number < first + PART
    ]


def row(case: Case) -> dict[str, object]:
    """Analyse a trial: its error, status, flags and metrics."""
    try:
        result = analyse_recording(case.recording, case.limb, case.settings)
    except LimbtorqueError as error:
        return {"status": "failed", "flags": "failed", "message": str(error)[:120]}
    judged = result.records["torques"]
    net, exact = result.torques.terms.net, case.rows_nm[:, 0, result.motion.frame - 1].T
    used = ~result.motion.edge & ~np.isnan(net).any(axis=1)
    off = np.sqrt(((net - exact)[used] ** 2).mean(axis=0)) / np.ptp(exact[used], axis=0)
    metrics = {**result.motion.metrics, **judged.metrics}
    metrics |= {name: max(values.values()) for name, values in judged.joint_metrics.items() if values}
    return {"status": result.status, "flags": " ".join(result.verdict.names), "error": float(off.max()), **metrics}


def shares(part: pd.DataFrame) -> dict[str, float]:
    """Shares of subjects with each flag, most frequent first."""
    counts = Counter(name for flags in part["flags"].fillna("") for name in flags.split())
    return {name: count / len(part) for name, count in counts.most_common()}


def too_many(rows: pd.DataFrame) -> list[str]:
    """Movements and flags with more subjects than may have them at the stated sizes."""
    found = []
    for movement, part in rows[rows.factor == 1.0].groupby("movement"):
        found += [f"{movement}: {name}" for name, share in shares(part).items() if share > EACH]
        found += [f"{movement}: any"] * bool((part["flags"].fillna("") != "").mean() > ANY)
    return found


def table(rows: pd.DataFrame) -> str:
    """Shares of flagged subjects by movement and size of the errors, in Markdown."""
    lines = [
        "| movement | errors over the stated ones | subjects | flagged | rejected | err by more than 10 % | area against the stated size | by flag |",
        "| --- " * 8 + "|",
    ]
    for movement in MOVEMENTS:
        own = rows[rows.movement == movement]
        for factor in FACTORS:
            part, stated = own[own.factor == factor], own[own.factor == 1.0]
            order = pd.concat([part, stated]).status.map(["ok", "caution", "rejected", "failed"].index)
            cells = [
                movement,
                f"{factor:g}",
                str(len(part)),
                f"{100 * (part['flags'].fillna('') != '').mean():.1f} %",
                f"{100 * part.status.isin(['rejected', 'failed']).mean():.1f} %",
                f"{100 * (part.error > 0.1).mean():.0f} %",
                f"{area(order.to_numpy(float), np.arange(len(order)) < len(part)):.2f}",
                ", ".join(f"{name} {100 * share:.1f} %" for name, share in shares(part).items()),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

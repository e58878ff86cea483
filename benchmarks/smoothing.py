"""Smoothing on data with known second derivatives: which method, which cut-off, which ends."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from movements import Case, first_set, louder, rigid_noise, second_set, static_noise, white
from numpy.typing import NDArray

from limbtorque.errors import SignalError
from limbtorque.figures import cutoff_figure, save
from limbtorque.signals.cutoff import Criterion, choose_cutoff
from limbtorque.signals.smoothers import Smoother, smooth_at, smoother_reach

FloatArray = NDArray[np.float64]

FIXED, FIXED_HZ = Smoother("butterworth", 2), 6.0
SMOOTHERS = {
    "Butterworth, order 2": FIXED,
    "Butterworth, order 3": Smoother("butterworth", 3),
    "critically damped": Smoother("critically_damped", 2),
    "Savitzky-Golay, degree 5": Smoother("savitzky_golay", 3),
    "cubic spline": Smoother("cubic_spline"),
    "quintic spline": Smoother("quintic_spline"),
}
CRITERIA: tuple[Criterion, ...] = ("residual", "autocorrelation", "gcv", "expected_error")
FEW: tuple[Criterion, ...] = ("gcv", "expected_error")
TRIED = 36


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", type=Path, help="folder with pezzack/, cohort/ and arm_box_task/")
    parser.add_argument("--figures", type=Path, help="folder for figures")
    parser.add_argument("--cases", type=int, default=200, help="cases of the second set")
    parser.add_argument("--seed", type=int, default=11, help="of the second set")
    parser.add_argument("--quick", action="store_true", help="two methods, two criteria")
    options = parser.parse_args()
    warnings.simplefilter("error")
    criteria = FEW if options.quick else CRITERIA
    smoothers = {k: v for k, v in SMOOTHERS.items() if not options.quick or k.startswith(("quintic", "Butterworth"))}
    static, rigid = static_noise(options.recordings), rigid_noise(options.recordings)
    for noise in (static, rigid):
        print(f"noise of {noise.name}, mm at 100 frames per second, if it were white as at each frequency:")
        print("  Hz ", " ".join(f"{value:8.1f}" for value in noise.frequency_hz))
        print("  mm ", " ".join(f"{1e3 * value:8.5f}" for value in noise.amplitude_m))
    noises = [static, rigid, louder(rigid, 5.0), white(1e-4), white(4.5e-4), white(1e-3)]
    angles(options.recordings, smoothers, criteria, options.figures)
    table("first set", first_set(noises), smoothers, criteria)
    table("second set", second_set(noises, n_cases=options.cases, seed=options.seed), smoothers, criteria)
    ends(list(first_set([rigid, white(4.5e-4)], rates_hz=(100.0,))), smoothers)


# --- a measured angle ---------------------------------------------------------------------------------------------------


def angles(folder: Path, smoothers: dict[str, Smoother], criteria: Iterable[Criterion], figures: Path | None) -> None:
    rows = np.loadtxt(folder / "pezzack" / "Pezzack.txt", skiprows=6)
    rate_hz, scored = float(1.0 / np.diff(rows[:, 0]).mean()), slice(6, 136)
    print("\nPezzack's angle: rms error of the second derivative, rad/s^2, against the accelerometer; rows 7-136")
    print(f"{'method':26s} {'cut-off':16s} {'clean: Hz':>10s} {'error':>7s} {'noisy: Hz':>10s} {'error':>7s}")
    for name, smoother in smoothers.items():
        tried = [_errors(rows[:, k], rows[:, 3], rate_hz, smoother, scored) for k in (1, 2)]
        print(f"{name:26s} {'best possible':16s} " + " ".join(f"{hz:10.2f} {least:7.2f}" for hz, least in tried))
        for by in criteria:
            cells = []
            for k in (1, 2):
                choice = choose_cutoff(rows[:, k], rate_hz=rate_hz, smoother=smoother, by=by)
                error = _error(rows[:, k], rows[:, 3], rate_hz, smoother, choice.cutoff_hz, scored)
                cells.append(f"{choice.cutoff_hz:10.2f} {error:7.2f}")
                if figures and k == 2:
                    path = figures / f"pezzack_{smoother.method}_{smoother.order}_{by}.png"
                    save(cutoff_figure(choice, title=f"{name}, {by}", unit="rad"), path)
            print(f"{name:26s} {by:16s} " + " ".join(cells))


def _error(
    values: FloatArray, truth: FloatArray, rate_hz: float, smoother: Smoother, cutoff_hz: float, scored: slice
) -> float:
    second = smooth_at(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother).second
    return float(np.sqrt(np.mean((second - truth)[scored] ** 2)))


def _errors(
    values: FloatArray, truth: FloatArray, rate_hz: float, smoother: Smoother, scored: slice
) -> tuple[float, float]:
    """Best cut-off of a method and its error."""
    best = (float("nan"), float("inf"))
    for cutoff_hz in np.geomspace(1.0, 0.4 * rate_hz, TRIED):
        try:
            best = min(
                best,
                (float(cutoff_hz), _error(values, truth, rate_hz, smoother, cutoff_hz, scored)),
                key=lambda b: b[1],
            )
        except SignalError:
            continue
    return best


# --- simulated movements ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """Errors of one method and criterion in one case."""

    case: Case
    fixed: float
    best: float
    error: float


def table(title: str, cases: Iterable[Case], smoothers: dict[str, Smoother], criteria: Iterable[Criterion]) -> None:
    """Error of the second derivative, ends left out, against a fixed 6 Hz and against the method's best."""
    scores: dict[tuple[str, str], list[Score]] = {}
    for case in cases:
        margin = round(0.17 * case.rate_hz)
        scored = slice(margin, len(case.noisy_m) - margin)
        fixed = _error(case.noisy_m, case.acceleration, case.rate_hz, FIXED, FIXED_HZ, scored)
        for name, smoother in smoothers.items():
            _, best = _errors(case.noisy_m, case.acceleration, case.rate_hz, smoother, scored)
            for by in criteria:
                cutoff_hz = choose_cutoff(case.noisy_m, rate_hz=case.rate_hz, smoother=smoother, by=by).cutoff_hz
                error = _error(case.noisy_m, case.acceleration, case.rate_hz, smoother, cutoff_hz, scored)
                scores.setdefault((name, by), []).append(Score(case, fixed, min(best, error), error))
    n_cases = len(next(iter(scores.values())))
    print(
        f"\n{title}, {n_cases} cases: error over that of a Butterworth filter of order 2 at 6 Hz, and over the method's best"
    )
    print(
        f"{'method':26s} {'cut-off':16s} {'better':>7s} {'median':>7s} {'worst':>7s} | {'median':>7s} {'90 %':>7s} {'worst':>7s}"
    )
    for (name, by), rows in scores.items():
        ratio = np.array([row.error / row.fixed for row in rows])
        over = np.array([row.error / row.best for row in rows])
        print(
            f"{name:26s} {by:16s} {100 * (ratio < 1).mean():6.1f}% {np.median(ratio):7.2f} {ratio.max():7.2f} | "
            f"{np.median(over):7.2f} {np.quantile(over, 0.9):7.2f} {over.max():7.2f}"
        )
    _worst(scores.get(("quintic spline", "expected_error"), []))


def _worst(rows: list[Score]) -> None:
    print(
        "quintic spline, expected_error: medians by noise and movement (over 6 Hz, over its best), and where 6 Hz was better"
    )
    for by in ("noise", "kind"):
        for value in dict.fromkeys(getattr(row.case, by) for row in rows):
            group = [row for row in rows if getattr(row.case, by) == value]
            ratio = np.median([row.error / row.fixed for row in group])
            over = np.median([row.error / row.best for row in group])
            print(f"  {value:40s} {len(group):4d} cases {ratio:7.2f} {over:7.2f}")
    for row in rows:
        if row.error >= row.fixed:
            case = row.case
            print(
                f"  6 Hz better: {case.kind} {case.movement}, {case.noise}, {case.rate_hz:g} Hz: "
                f"{row.error / row.fixed:.2f} of it, best possible {row.best / row.fixed:.2f}"
            )


# --- ends ---------------------------------------------------------------------------------------------------------------


def ends(cases: list[Case], smoothers: dict[str, Smoother]) -> None:
    """Error within reach of the ends of steps, which are cut out of a longer movement, over that in the middle."""
    print(
        "\nends: rms error of the second derivative within reach of an end over that in the middle (steps, 100 Hz), median"
    )
    print(
        f"{'method':26s} {'reflect':>8s} {'linear':>8s} {'none':>8s}   of the signal: {'reflect':>8s} {'linear':>8s} {'none':>8s}"
    )
    for name, smoother in smoothers.items():
        cells = {0: [], 2: []}
        for way in ("reflect", "linear", "none"):
            here = Smoother(smoother.method, smoother.order, ends=way)
            for derivative in cells:
                shares = [_end_share(case, here, derivative) for case in cases if case.kind == "steps"]
                cells[derivative].append(float(np.median(shares)))
        print(
            f"{name:26s} "
            + " ".join(f"{v:8.2f}" for v in cells[2])
            + " " * 18
            + " ".join(f"{v:8.2f}" for v in cells[0])
        )


def _end_share(case: Case, smoother: Smoother, derivative: int) -> float:
    scored = slice(17, -17)
    cutoff_hz, _ = _errors(case.noisy_m, case.acceleration, case.rate_hz, smoother, scored)
    found = smooth_at(case.noisy_m, rate_hz=case.rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    wrong = (found.second - case.acceleration) if derivative else (found.values - case.position)
    reach = smoother_reach(cutoff_hz, rate_hz=case.rate_hz, smoother=smoother)
    squared = (wrong**2).mean(axis=(1, 2))
    near = np.concatenate([squared[:reach], squared[-reach:]])
    return float(np.sqrt(near.mean() / squared[17:-17].mean()))


if __name__ == "__main__":
    main()

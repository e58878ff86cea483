"""Compare smoothing methods and cut-offs, in the middle and at the ends, on known second derivatives."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from parts import smoothing_figures as figures
from parts.movements import Case, Noise, first_set, louder, rigid_noise, second_set, static_noise, white

from limbtorque.arrays import FloatArray
from limbtorque.errors import SignalError
from limbtorque.signals.cutoff import Criterion, choose_cutoff, judge_cutoff
from limbtorque.signals.smoothers import Smoother, smoother_reach

FIXED, FIXED_HZ = Smoother("butterworth", 2), 6.0
SMOOTHERS = {
    "Butterworth, order 2": FIXED,
    "Butterworth, order 3": Smoother("butterworth", 3),
    "critically damped": Smoother("critically_damped", 2),
    "quintic spline": Smoother("quintic_spline"),
}
CRITERIA: tuple[Criterion, ...] = ("residual", "autocorrelation", "gcv", "expected_error")
DEFAULT = "Butterworth, order 3"
DRAWN = ("Butterworth, order 2", DEFAULT, "critically damped", "quintic spline")
HIGHEST_HZ = 12.0  # filter.max_cutoff_hz
PEZZACK_SCORED = slice(6, 136)
FEW: tuple[Criterion, ...] = ("gcv", "expected_error")
TRIED = 36


def main() -> None:
    parser = argparse.ArgumentParser(description=f"{__doc__} Prints a page in Markdown.")
    parser.add_argument("recordings", type=Path, help="folder with pezzack/, cohort/ and arm_box_task/")
    parser.add_argument("--figures", type=Path, help="folder for figures")
    parser.add_argument("--cases", type=int, default=200, help="cases of each set drawn by lot")
    parser.add_argument("--seeds", type=int, nargs="*", default=[11, 12, 13], help="of the sets drawn by lot")
    parser.add_argument("--quick", action="store_true", help="two methods, two criteria")
    options = parser.parse_args()
    warnings.simplefilter("error")
    criteria = FEW if options.quick else CRITERIA
    smoothers = {k: v for k, v in SMOOTHERS.items() if not options.quick or k in (DEFAULT, "quintic spline")}
    print(
        "# Study of filters and cut-offs\n\nPrinted by `benchmarks/smoothing.py`; `docs/signals.md` draws the conclusions."
    )
    static, rigid = static_noise(options.recordings), rigid_noise(options.recordings)
    noise_table([static, rigid])
    noises = [static, rigid, louder(rigid, 5.0), white(1e-4), white(4.5e-4), white(1e-3)]
    rows = np.loadtxt(options.recordings / "pezzack" / "Pezzack.txt", skiprows=6)
    angle_table(rows[:, 0], rows[:, 2], rows[:, 3], smoothers, criteria)
    first = scores(first_set(noises), smoothers, criteria)
    score_table("The set on which the rules were settled", first)
    finalists = {name: smoothers[name] for name in (DEFAULT, "quintic spline")}
    lots = [scores(second_set(noises, n_cases=options.cases, seed=s), finalists, criteria) for s in options.seeds]
    drawn = {key: [row for lot in lots for row in lot[key]] for key in (lots[0] if lots else {})}
    if drawn:
        seeds = ", ".join(map(str, options.seeds))
        score_table(f"Cases drawn by lot afterwards (seeds {seeds})", drawn)
        worst_table(drawn[DEFAULT, "expected_error"])
    ends(list(first_set([rigid, white(4.5e-4)], rates_hz=(100.0,))), smoothers)
    lost_table(first_set(noises))
    if options.figures:
        angle = figures.Angle(rows[:, 0], rows[:, 2], rows[:, 3])
        figures.draw_angle(angle, {name: SMOOTHERS[name] for name in DRAWN}, options.figures / "signals_pezzack.png")
        by_criterion = {
            by: [row.error / row.fixed for row in (*rows, *drawn.get((name, by), []))]
            for (name, by), rows in first.items()
            if name == DEFAULT
        }
        by_method = {
            name: [row.error / row.fixed for row in rows]
            for (name, by), rows in first.items()
            if by == "expected_error"
        }
        panels = {f"{DEFAULT}, cut-off by": by_criterion, "least expected error, with": by_method}
        figures.draw_ratios(panels, options.figures / "signals_ratios.png")
        figures.draw_impact(SMOOTHERS[DEFAULT], options.figures / "signals_impact.png")


def noise_table(noises: list[Noise]) -> None:
    print(
        "\n## Noise\n\nStandard deviation, mm, of white noise at 100 frames per second with the power at each frequency.\n"
    )
    print("| Hz | " + " | ".join(f"{value:.1f}" for value in noises[0].frequency_hz) + " |")
    print("| --- " * (len(noises[0].frequency_hz) + 1) + "|")
    for noise in noises:
        print(f"| {noise.name} | " + " | ".join(f"{1e3 * value:.2g}" for value in noise.amplitude_m) + " |")


# --- a measured angle ---------------------------------------------------------------------------------------------------


def angle_table(
    time_s: FloatArray,
    angle_rad: FloatArray,
    truth: FloatArray,
    smoothers: dict[str, Smoother],
    criteria: Iterable[Criterion],
) -> None:
    rate_hz = float(1.0 / np.diff(time_s).mean())
    print(
        "\n## Pezzack's noisy angle\n\nRms error of the second derivative against the accelerometer, rad/s^2; rows 7 to 136.\n"
    )
    print(f"| method | best possible | {' | '.join(criteria)} |")
    print("| --- " * (2 + len(list(criteria))) + "|")
    for method, smoother in smoothers.items():
        hz, least = _errors(angle_rad, truth, rate_hz, smoother, PEZZACK_SCORED)
        cells = [f"{least:.2f} ({hz:.2f} Hz)"]
        for by in criteria:
            cutoff_hz = choose_cutoff(angle_rad, rate_hz=rate_hz, smoother=smoother, by=by).cutoff_hz
            error = _error(angle_rad, truth, rate_hz, smoother, cutoff_hz, PEZZACK_SCORED)
            cells.append(f"{error:.2f} ({cutoff_hz:.2f} Hz)")
        print(f"| {method} | {' | '.join(cells)} |")


def _error(
    values: FloatArray, truth: FloatArray, rate_hz: float, smoother: Smoother, cutoff_hz: float, scored: slice
) -> float:
    _, second = figures.smooth_twice(values, rate_hz=rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
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


def scores(
    cases: Iterable[Case], smoothers: dict[str, Smoother], criteria: Iterable[Criterion]
) -> dict[tuple[str, str], list[Score]]:
    """Error of the second derivative, ends left out, of every method and criterion."""
    found: dict[tuple[str, str], list[Score]] = {}
    for case in cases:
        margin = round(0.17 * case.rate_hz)
        scored = slice(margin, len(case.noisy_m) - margin)
        fixed = _error(case.noisy_m, case.acceleration, case.rate_hz, FIXED, FIXED_HZ, scored)
        for name, smoother in smoothers.items():
            _, best = _errors(case.noisy_m, case.acceleration, case.rate_hz, smoother, scored)
            for by in criteria:
                own_hz = choose_cutoff(case.noisy_m, rate_hz=case.rate_hz, smoother=smoother, by=by).cutoff_hz
                tried = {by: own_hz, f"{by}, {HIGHEST_HZ:g} Hz at most": min(own_hz, HIGHEST_HZ)}
                for label, cutoff_hz in tried.items() if by == "expected_error" else [(by, own_hz)]:
                    error = _error(case.noisy_m, case.acceleration, case.rate_hz, smoother, cutoff_hz, scored)
                    found.setdefault((name, label), []).append(Score(case, fixed, min(best, error), error))
    return found


def score_table(title: str, found: dict[tuple[str, str], list[Score]]) -> None:
    n_cases = len(next(iter(found.values())))
    print(f"\n## {title}\n")
    print(f"{n_cases} cases: error over that of a Butterworth filter of order 2 at 6 Hz, and over the method's best.\n")
    print("| method | cut-off | better than 6 Hz | median | worst | over the best: median |")
    print("| --- " * 6 + "|")
    for (name, by), rows in found.items():
        ratio = np.array([row.error / row.fixed for row in rows])
        over = np.array([row.error / row.best for row in rows])
        print(
            f"| {name} | {by} | {100 * (ratio < 1).mean():.1f} % | {np.median(ratio):.2f} | {ratio.max():.2f} | {np.median(over):.2f} |"
        )


def worst_table(rows: list[Score]) -> None:
    print(f"\nWhere 6 Hz was better by more than a tenth than {DEFAULT}, expected_error:\n")
    print("| movement | noise | rate | error over that at 6 Hz | best possible |\n" + "| --- " * 5 + "|")
    for row in rows:
        if row.error > 1.1 * row.fixed:
            case = row.case
            print(
                f"| {case.kind}, {case.movement} | {case.noise} | {case.rate_hz:g} Hz | {row.error / row.fixed:.2f} | "
                f"{row.best / row.fixed:.2f} |"
            )


def lost_table(cases: Iterable[Case]) -> None:
    """Share of the acceleration that a filter takes, as judged from the noisy movement and as it is without noise."""
    found: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for case in cases:
        margin = round(0.17 * case.rate_hz)
        scored = slice(margin, len(case.noisy_m) - margin)
        whole = np.sqrt(np.mean(case.acceleration[scored] ** 2))
        for cutoff_hz in (3.0, 6.0, 10.0):
            judged = judge_cutoff(case.noisy_m, rate_hz=case.rate_hz, smoother=FIXED, cutoff_hz=cutoff_hz).lost_share
            _, left = figures.smooth_twice(case.position, rate_hz=case.rate_hz, cutoff_hz=cutoff_hz, smoother=FIXED)
            truth = float(np.sqrt(np.mean((left - case.acceleration)[scored] ** 2)) / whole)
            found.setdefault((case.kind, cutoff_hz), []).append((truth, judged))
    print("\n## Acceleration that the filter removes\n")
    print(
        "`acceleration_filtered_share` as estimated from the noisy movements of the first set, Butterworth filter of order 2, and what the filter"
    )
    print("removes from the same movements without noise, ends left out.\n")
    print("| movement | cut-off | share lost, median | judged less that: median | 5 % | 95 % |\n" + "| --- " * 6 + "|")
    for (kind, cutoff_hz), pairs in found.items():
        truth, judged = np.array(pairs).T
        low, middle, high = np.quantile(judged - truth, [0.05, 0.5, 0.95])
        print(f"| {kind} | {cutoff_hz:g} Hz | {np.median(truth):.2f} | {middle:.2f} | {low:.2f} | {high:.2f} |")
    both = np.concatenate([np.array(pairs) for pairs in found.values()])
    losers, keepers = both[both[:, 0] > 0.31], both[both[:, 0] < 0.2]
    print(
        f"\nAbove the threshold of 0.25: {(losers[:, 1] > 0.25).sum()} of {len(losers)} that lose more than 0.31, "
        f"{(keepers[:, 1] > 0.25).sum()} of {len(keepers)} that lose less than 0.2."
    )


# --- ends ---------------------------------------------------------------------------------------------------------------


def ends(cases: list[Case], smoothers: dict[str, Smoother]) -> None:
    """Error within reach of the ends of steps, which are cut out of a longer movement, over that in the middle."""
    print(
        "\n## Ends\n\nRms error near an end relative to that in the middle (steps, 100 Hz, best cut-off of each), median.\n"
    )
    print("| method | second derivative | signal |\n| --- | --- | --- |")
    for name, smoother in smoothers.items():
        shares = [[_end_share(case, smoother, k) for case in cases if case.kind == "steps"] for k in (2, 0)]
        print(f"| {name} | " + " | ".join(f"{np.median(each):.2f}" for each in shares) + " |")


def _end_share(case: Case, smoother: Smoother, derivative: int) -> float:
    scored = slice(17, -17)
    cutoff_hz, _ = _errors(case.noisy_m, case.acceleration, case.rate_hz, smoother, scored)
    smooth, second = figures.smooth_twice(case.noisy_m, rate_hz=case.rate_hz, cutoff_hz=cutoff_hz, smoother=smoother)
    wrong = (second - case.acceleration) if derivative else (smooth - case.position)
    reach = smoother_reach(cutoff_hz, rate_hz=case.rate_hz, smoother=smoother)
    squared = (wrong**2).mean(axis=(1, 2))
    near = np.concatenate([squared[:reach], squared[-reach:]])
    return float(np.sqrt(near.mean() / squared[17:-17].mean()))


if __name__ == "__main__":
    main()

"""Measure how often the bands of the torque terms hold the truth, on simulated reaches and walks.

Prints one row for each joint, term and phase in Markdown: the share of frames whose 95 % band holds the true value, the share
of subjects whose mean over the phase is held, and the share whose whole curve is held by the simultaneous band. Frames of one
subject go together; a curve of which the filter takes most in some frame has no simultaneous band. Frames whose limit and true value are below a ten-thousandth of the joint's largest torque do not count: a load that is zero in swing has
only the tail of a filter there. Exits with 1 where a share is outside 93 to 97 % beyond chance, corrected for the number of rows.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from parts.coverage_cases import Case, case_settings, cases
from parts.whole_curves import rates_of_change, simultaneous_limits
from scipy import stats

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.chain.linear import term_rows
from limbtorque.tables.frame_columns import term_columns
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.uncertainty.bands import LIMITS
from limbtorque.uncertainty.of_trial import window_weights
from limbtorque.uncertainty.propagation import torque_bands, trial_errors
from limbtorque.uncertainty.sampled import QUANTILES, Draw, sampled_statistics

SUBJECTS, QUICK = 2000, 150
LEAST, MOST = 0.93, 0.97
FALSE_ALARM = 0.05  # of all rows together
FEWEST = 20  # subjects with frames in a phase
RESOLUTION = 1e-4  # of a joint's largest net torque: smaller limits and errors are not judged
WHOLE, MEAN = "whole curve", "mean over"
OF_SUBJECTS = (WHOLE, MEAN, "max over", "min over")  # a subject is held as a whole, or not
MARKS = ("<!-- coverage -->", "<!-- end of coverage -->")

Key = tuple[str, str, str, str]  # movement, joint, term, phase


@dataclass(frozen=True)
class Row:
    """Coverage of one term.

    Attributes
    ----------
    key : tuple of str
        Movement, joint, term and phase.
    share, error : float
        Share of the frames whose band holds the truth, mean over subjects, and its standard error.
    n_subjects : int
        Number of subjects.
    sd_nm, off_nm : float
        Root mean squares of the stated and of the true error, N m.
    """

    key: Key
    share: float
    error: float
    n_subjects: int
    sd_nm: float
    off_nm: float

    def outside(self, n_rows: int) -> bool:
        """Return True where the share is outside its limits beyond chance."""
        level = FALSE_ALARM / (2 * n_rows)
        if self.kind:  # a subject is held as a whole, or not
            held = round(self.share * self.n_subjects)
            few, many = stats.binom.cdf(held, self.n_subjects, LEAST), stats.binom.sf(held - 1, self.n_subjects, MOST)
            return bool(min(few, many) < level)
        reach = stats.t.ppf(1.0 - level, self.n_subjects - 1) * self.error
        return bool(self.share + reach < LEAST or self.share - reach > MOST)

    @property
    def kind(self) -> str:
        """One of `OF_SUBJECTS`; empty for frames."""
        return next((kind for kind in OF_SUBJECTS if self.key[-1].startswith(kind)), "")

    def cells(self) -> list[str]:
        """Cells of the table."""
        shares = (100.0 * self.share, 100.0 * self.error)
        return [*self.key, *(f"{each:.1f}" for each in shares), *(f"{each:.3g}" for each in (self.sd_nm, self.off_nm))]


HEAD = (
    *("movement", "joint", "term", "phase", "coverage, %", "standard error, %", "stated error, N m", "true error, N m"),
    "",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK} subjects of each movement, in place of {SUBJECTS}"
    )
    parser.add_argument("--subjects", type=int, help="number of subjects of each movement")
    parser.add_argument("--seed", type=int, default=22, help="seed of the simulated study")
    parser.add_argument("--off", nargs="*", default=[], help="sources of error that are neither drawn nor stated")
    parser.add_argument("--only", nargs="*", choices=["reach", "walk"], default=["reach", "walk"], help="movements")
    parser.add_argument("--factor", type=float, default=1.0, help="true errors over the stated ones")
    parser.add_argument(
        "--samples", type=int, default=0, help="limits of so many samples of statistics, instead of bands"
    )
    parser.add_argument("--write", type=Path, help="page whose part between the marks is replaced by the table")
    options = parser.parse_args()
    n_subjects = options.subjects or (QUICK if options.quick else SUBJECTS)
    settings = case_settings(tuple(options.off))
    made = (
        (movement, case)
        for movement in options.only
        for case in cases(movement, n_subjects, settings=settings, seed=options.seed, factor=options.factor)
    )
    rows = list(coverage(made, options.samples))
    wrong = [row for row in rows if row.outside(len(rows))]
    print(table(rows, wrong))
    result = f"{n_subjects} subjects of each movement, seed {options.seed}: {len(wrong)} of {len(rows)} rows outside 93 to 97 % beyond chance."
    print(f"\n{result}")
    if options.write:
        write(options.write, f"{result}\n\n{page(rows, wrong)}")
    sys.exit(bool(wrong))


def table(rows: Iterable[Row], wrong: Sequence[Row]) -> str:
    """Rows as a table in Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *([*row.cells(), "outside" if row in wrong else ""] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(rows: Sequence[Row], wrong: Sequence[Row]) -> str:
    """Numbers of rows, and those of net torques by frames."""
    lines = ["| rows | all | held too seldom | held too often |", "| --- | --- | --- | --- |"]
    for name, kind in (("frames", ""), ("means", MEAN), ("whole curves", WHOLE)):
        own = [row for row in rows if row.kind == kind]
        few, many = (sum(row in wrong and sign * (row.share - 0.95) > 0.0 for row in own) for sign in (-1, 1))
        lines.append(f"| {name} | {len(own)} | {few} | {many} |")
    net = [row for row in rows if row.key[2] == "net" and not row.kind]
    heads = ["movement", "joint", "phase", "coverage, %", "stated error, N m", "true error, N m"]
    shown = [heads, ["---"] * len(heads)]
    for row in net:
        movement, joint, _, phase, share, _, stated, true = row.cells()
        shown.append([movement, joint, phase, share, stated, true])
    return "\n\n".join(["\n".join(lines), "Net torques:", "\n".join(f"| {' | '.join(line)} |" for line in shown)])


def write(path: Path, text: str) -> None:
    """Replace the part of a page between the marks."""
    whole = path.read_text("utf-8")
    if not all(whole.count(mark) == 1 for mark in MARKS):
        raise SystemExit(f"{path} has to hold {MARKS[0]} and {MARKS[1]} once each")
    head, rest = whole.split(MARKS[0])
    path.write_text(f"{head}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}", encoding="utf-8")


def coverage(made: Iterable[tuple[str, Case]], n_samples: int = 0) -> Iterator[Row]:
    """Coverage of each joint, term and phase, by bands or by samples."""
    found: dict[Key, list[tuple[float, float, float]]] = defaultdict(list)
    for movement, case in made:
        for key, numbers in (judged_samples(case, n_samples) if n_samples else judged(case)).items():
            found[movement, *key].append(numbers)
    for key, subjects in found.items():
        held, sd, off = np.array(subjects).T
        if len(held) >= FEWEST:
            error = float(held.std(ddof=1) / np.sqrt(len(held)))
            yield Row(key, float(held.mean()), error, len(held), *(float(np.sqrt((x**2).mean())) for x in (sd, off)))


def judged(case: Case) -> dict[tuple[str, str, str], tuple[float, float, float]]:
    """Share held, stated and true error of one trial by joint, term and phase."""
    motion = chain_motion(case.recording, case.limb, case.settings)
    torques = joint_torques(motion)
    frames, used = motion.frame - 1, used_frames(motion, torques)
    windows = {phase: inside[frames] for phase, inside in case.phases.items()}
    weights = window_weights(motion, windows, used)
    bands = torque_bands(motion, case.limb, case.settings, weights=weights)
    rows = term_rows(torques.terms)
    of_terms = {source: each[:, : rows.shape[1]] for source, each in bands.by_source.items()}
    bands = replace(bands, by_source=of_terms, bias_nm=bands.bias_nm[:, : rows.shape[1]])  # without their sums by kind
    difference = rows - case.rows_nm[..., frames]
    least = RESOLUTION * np.abs(rows[:, 0, used]).max(axis=1)
    off, found = np.abs(difference - bands.bias_nm), {}
    rate = rates_of_change(motion, case.limb, case.settings, bands)
    widths = simultaneous_limits(bands, rate, used, motion.rate_hz, least_nm=least)
    for i, joint in enumerate(motion.joints):
        for k, term in enumerate(term_names(joint, motion.joints)):
            uncertain = used & (np.maximum(LIMITS * bands.sd_nm[i, k], np.abs(case.rows_nm[i, k, frames])) > least[i])
            if not uncertain.any():
                continue
            for phase, inside in windows.items():
                some = uncertain & inside
                if some.any():
                    found[joint, term, phase] = _of_frames(off[i, k], bands.sd_nm[i, k], some)
                    over, mean = bands.sums[f"{phase} mean"], difference[i, k, used & inside].mean()
                    found[joint, term, f"{MEAN} {phase}"] = _of_sum(mean - over.bias[i, k], over.sd[i, k])
            if not np.isnan(widths[i, k]):
                whole = float((off[i, k] <= widths[i, k] * bands.sd_nm[i, k])[uncertain].all())
                found[joint, term, WHOLE] = whole, *_of_frames(off[i, k], bands.sd_nm[i, k], uncertain)[1:]
    return found


def judged_samples(case: Case, n_samples: int) -> dict[tuple[str, str, str], tuple[float, float, float]]:
    """Coverage of the sampled limits, stated and true error, by joint, term and phase.

    The times at which the true extremes are found are those of the recorded frames.
    """
    motion = chain_motion(case.recording, case.limb, case.settings)
    torques = joint_torques(motion)
    frames, used = motion.frame - 1, used_frames(motion, torques)
    windows = {phase: inside[frames] for phase, inside in case.phases.items()}
    weights = window_weights(motion, windows, used)
    errors, found = trial_errors(motion, case.limb, case.settings), {}
    sampled = sampled_statistics(errors, Draw(n_samples, 1), weights=weights, windows=windows, used=used)
    for phase, statistics in sampled.items():
        true_nm = case.rows_nm[..., frames][..., windows[phase] & used]
        true = {"max_nm": true_nm.max(axis=2), "min_nm": true_nm.min(axis=2), "mean_nm": true_nm.mean(axis=2)}
        least = RESOLUTION * np.abs(term_rows(torques.terms)[:, 0, used]).max(axis=1)
        for name, of_truth in true.items():
            low, high = np.quantile(statistics[name], QUANTILES, axis=2)
            sd, centre = statistics[name].std(axis=2), statistics[name].mean(axis=2)
            for i, joint in enumerate(motion.joints):
                for k, term in enumerate(term_names(joint, motion.joints)):
                    if max(high[i, k] - low[i, k], abs(of_truth[i, k])) > least[i]:
                        held = float(low[i, k] <= of_truth[i, k] <= high[i, k])
                        off = abs(centre[i, k] - of_truth[i, k])
                        found[joint, term, f"{name.removesuffix('_nm')} over {phase}"] = (
                            held,
                            float(sd[i, k]),
                            float(off),
                        )
    return found


def term_names(joint: str, joints: tuple[str, ...]) -> list[str]:
    """Names of the rows of a joint: net, and its terms."""
    prefix, suffix = f"{joint}_torque_", "_nm"
    return ["net", *(column.name[len(prefix) : -len(suffix)] for column in term_columns(joint, joints))]


def _of_frames(off: FloatArray, sd: FloatArray, some: BoolArray) -> tuple[float, float, float]:
    held = float((off[some] <= LIMITS * sd[some]).mean())
    return held, float(np.sqrt((sd[some] ** 2).mean())), float(np.sqrt((off[some] ** 2).mean()))


def _of_sum(off: float, sd: float) -> tuple[float, float, float]:
    return float(abs(off) <= LIMITS * sd), float(sd), abs(float(off))


if __name__ == "__main__":
    main()

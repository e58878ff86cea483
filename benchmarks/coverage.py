"""Measure how often the bands of the torque terms hold the truth, on simulated reaches and walks.

Prints one row for each joint, term and phase in Markdown: the share of frames whose 95 % band holds the true value (and the
share of subjects whose mean over the phase is held), with an interval over subjects, whose frames go together. Exits with 1 where a share is outside 93 to 97 % by more than its interval.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from coverage_cases import Case, case_settings, cases
from scipy import stats

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.chain.regressor import term_rows
from limbtorque.motion.chain_motion import chain_motion
from limbtorque.tables.torque_columns import term_columns
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.uncertainty.bands import LIMITS
from limbtorque.uncertainty.propagation import torque_bands
from limbtorque.uncertainty.summary import sd_over_frames, window_weights

SUBJECTS, QUICK = 2000, 150
LEAST, MOST = 0.93, 0.97
FALSE_ALARM = 0.05  # of all rows together
NEGLIGIBLE_NM = 1e-9
FEWEST = 20  # subjects with frames in a phase

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
        reach = stats.t.ppf(1.0 - FALSE_ALARM / (2 * n_rows), self.n_subjects - 1) * self.error
        return self.share + reach < LEAST or self.share - reach > MOST


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
    options = parser.parse_args()
    n_subjects = options.subjects or (QUICK if options.quick else SUBJECTS)
    settings = case_settings(tuple(options.off))
    made = (
        (movement, case)
        for movement in options.only
        for case in cases(movement, n_subjects, settings=settings, seed=options.seed, factor=options.factor)
    )
    rows = list(coverage(made))
    wrong = [row for row in rows if row.outside(len(rows))]
    print(
        "| movement | joint | term | phase | coverage, % | standard error, % | stated error, N m | true error, N m | |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        numbers = f"{100 * row.share:.1f} | {100 * row.error:.1f} | {row.sd_nm:.3g} | {row.off_nm:.3g}"
        print(f"| {' | '.join(row.key)} | {numbers} | {'outside' if row in wrong else ''} |")
    print(
        f"\n{n_subjects} subjects of each movement; {len(wrong)} of {len(rows)} rows outside 93 to 97 % beyond chance"
    )
    sys.exit(bool(wrong))


def coverage(made: Iterable[tuple[str, Case]]) -> Iterator[Row]:
    """Coverage of each joint, term and phase."""
    found: dict[Key, list[tuple[float, float, float]]] = defaultdict(list)
    for movement, case in made:
        for key, numbers in judged(case).items():
            found[movement, *key].append(numbers)
    for key, subjects in found.items():
        held, sd, off = np.array(subjects).T
        if len(held) >= FEWEST and np.sqrt((off**2).mean()) > NEGLIGIBLE_NM:
            error = float(held.std(ddof=1) / np.sqrt(len(held)))
            yield Row(key, float(held.mean()), error, len(held), *(float(np.sqrt((x**2).mean())) for x in (sd, off)))


def judged(case: Case) -> dict[tuple[str, str, str], tuple[float, float, float]]:
    """Share of frames held, stated and true error of one trial by joint, term and phase."""
    motion = chain_motion(case.recording, case.limb, case.settings)
    torques = joint_torques(motion)
    frames, used = motion.frame - 1, used_frames(motion, torques)
    windows = {phase: inside[frames] for phase, inside in case.phases.items()}
    bands = torque_bands(motion, case.limb, case.settings, weights=window_weights(motion, windows, used))
    difference, sd = term_rows(torques.terms) - case.rows_nm[..., frames], bands.sd_nm
    found = {}
    for phase, inside in windows.items():
        some = used & inside
        if not some.any():
            continue
        off, mean = np.abs(difference), np.abs(difference[..., some].mean(axis=2))
        of_mean = sd_over_frames(bands, motion, window=phase, used=some)["mean"]
        for i, joint in enumerate(motion.joints):
            for k, term in enumerate(term_names(joint, motion.joints)):
                found[joint, term, phase] = _of_frames(off[i, k], sd[i, k], some)
                held = float(mean[i, k] <= LIMITS * of_mean[i, k])
                found[joint, term, f"mean over {phase}"] = held, float(of_mean[i, k]), float(mean[i, k])
    return found


def term_names(joint: str, joints: tuple[str, ...]) -> list[str]:
    """Names of the rows of a joint: net, and its terms."""
    prefix, suffix = f"{joint}_torque_", "_nm"
    return ["net", *(column.name[len(prefix) : -len(suffix)] for column in term_columns(joint, joints))]


def _of_frames(off: FloatArray, sd: FloatArray, some: BoolArray) -> tuple[float, float, float]:
    held = float((off[some] <= LIMITS * sd[some]).mean())
    return held, float(np.sqrt((sd[some] ** 2).mean())), float(np.sqrt((off[some] ** 2).mean()))


if __name__ == "__main__":
    main()

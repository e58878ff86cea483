"""Compare predicted activations with electromyography, muscle by muscle, beside the aims.

Usage: python benchmarks/emg_agreement.py STUDY ADULT [--write]

STUDY, ADULT, walks, frames and delay are those of ``criteria.py``: whole cycles of the default criterion, one delay that was
fixed before. Numbers of a group are medians over its people of each one's median over their walks, as in
``results/emg_by_muscle.csv``. Envelopes are parts of their own peak: `rms` compares them as they are, `scaled rms` after the
factor with the least rms, both in units of activation. ``--write`` puts the tables into ``docs/emg.md``.
"""

from __future__ import annotations

import argparse
import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from criteria import ADULT_CHANNELS, DELAY_S, Walk, adult, crossed, predicted, walks

from limbtorque.emg.summary import MAX_LAG_S, agreement, over_study
from limbtorque.study.options.muscles import Muscles

PAGE = Path(__file__).resolve().parents[1] / "docs" / "emg.md"
BEGIN, END = "<!-- begin: printed by benchmarks/emg_agreement.py -->\n", "<!-- end: benchmarks/emg_agreement.py -->\n"
LEAST_MEDIAN_R = 0.6  # aims, with a rectus femoris above 0 and every muscle nearest to its own envelope
RECTUS = "rect_fem"
SIDEWAYS = {"glut_med": ("gluteus_medius",)}  # works mostly out of the plane, and is in no table


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path, help="study of the children, made by `limbtorque init`")
    parser.add_argument("adult", type=Path, help="folder walk_emg_opensim")
    parser.add_argument("--write", action="store_true", help="write the table of muscles into docs/emg.md")
    options = parser.parse_args()
    beside = adult(options.adult, DELAY_S, None, {**ADULT_CHANNELS, **SIDEWAYS})
    text = "\n".join(tables(*walks(options.study, options.adult), beside)) + "\n"
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        muscles = text.partition("\n| aim |")[0]  # the aims are printed only
        PAGE.write_text(before + BEGIN + muscles + END + rest.split(END)[1], encoding="utf-8")
    else:
        print(text)


def tables(young: Sequence[Walk], old: Sequence[Walk], beside: Walk) -> Iterator[str]:
    """Lines of the table of muscles, then of the aims."""
    today = datetime.datetime.now(tz=datetime.UTC).date()
    yield f"Measured on {today.day} {today:%B %Y}; delay {1e3 * DELAY_S:.0f} ms, whole cycles, exponent 2."
    yield ""
    yield (
        "| people, walks | muscle | r (least to greatest person) | best neighbour | its r | own envelope best, walks | rms | "
        "scaled rms | lag, ms |"
    )
    yield f"|{' --- |' * 9}"
    groups = {"children": by_muscle(young), "adult": by_muscle(old)}
    for title, rows in groups.items():
        for row in rows:
            yield muscle_line(title, row)
    yield ""
    yield sideways_line(beside)
    yield ""
    yield "| aim | children | adult |"
    yield "| --- | --- | --- |"
    for aim, judge in AIMS.items():
        yield f"| {aim} | {' | '.join(judge(rows) for rows in groups.values())} |"


def by_muscle(group: Sequence[Walk]) -> list[dict[str, Any]]:
    """Agreement of every muscle over the walks of a group."""
    rows = [row for walk in group for row in of_walk(walk)]
    found = {row["muscle"]: row for row in over_study(rows)}
    for muscle, row in found.items():
        own = [one for one in rows if one["muscle"] == muscle]
        row["own_best"] = sum(one["r"] > one["neighbour_r"] for one in own)
        row["neighbours"] = ", ".join(dict.fromkeys(one["neighbour"] for one in own))
        row["n_lags"] = len({one["subject"] for one in own if math.isfinite(one["lag_s"])})
    return [found[muscle] for muscle in [*ADULT_CHANNELS, *SIDEWAYS] if muscle in found]


def of_walk(walk: Walk) -> Iterator[dict[str, Any]]:
    """Agreement of every muscle of a walk, as a row of ``emg_summary.csv``."""
    found, own, names = predicted(walk, Muscles()), walk.envelopes.muscles, walk.problem.muscle_set.names
    r = crossed(walk, [found] * len(own))
    for k, muscle in enumerate(own):
        activation, envelope = found.activation[:, names.index(muscle)], walk.envelopes.level[:, k]
        row = vars(agreement(activation, envelope, walk.used, rate_hz=walk.rate_hz, max_lag_s=MAX_LAG_S))
        others = np.where(np.arange(len(own)) == k, -np.inf, r[k])
        best = int(others.argmax())
        yield {
            **row,
            "subject": walk.subject,
            "chain": "leg",
            "window": "events",
            "muscle": muscle,
            "neighbour": own[best],
            "neighbour_r": float(others[best]),
        }


def sideways_line(walk: Walk) -> str:
    """Sentence on the adult's channel that is in no table."""
    rows = by_muscle([walk])
    own = next(row for row in rows if row["muscle"] in SIDEWAYS)
    nearest = [row["muscle"] for row in rows if row["neighbours"] == own["muscle"]]
    return (
        f"The adult's {own['muscle']} works mostly out of the plane and is not counted: r {own['r']:.2f}, scaled rms {own['scaled_rms']:.3f}; "
        f"with it the median is {np.median([row['r'] for row in rows]):.3f}, {sum(row['own_best'] for row in rows)} of {len(rows)} "
        f"muscles correlate best with their own envelope, and its envelope correlates best with {', '.join(nearest) or 'none'}."
    )


def muscle_line(title: str, row: Mapping[str, Any]) -> str:
    """Line of the table of muscles."""
    spread = f" ({row['min_r']:.2f} to {row['max_r']:.2f})" if row["n_subjects"] > 1 else ""
    lag = "none"
    if row["n_lags"]:
        lag = f"{1e3 * row['lag_s']:.0f}" + (
            f", {row['n_lags']} of {row['n_subjects']}" if row["n_lags"] < row["n_subjects"] else ""
        )
    cells = [
        f"{title}, {row['n_trials']}",
        row["muscle"],
        f"{row['r']:.2f}{spread}",
        row["neighbours"],
        f"{row['neighbour_r']:.2f}",
        f"{row['own_best']} of {row['n_trials']}",
        f"{row['rms']:.2f}",
        f"{row['scaled_rms']:.3f}",
        lag,
    ]
    return f"| {' | '.join(cells)} |"


def median_r(rows: Sequence[Mapping[str, Any]]) -> str:
    """Median of r over the muscles, against its aim."""
    found = float(np.median([row["r"] for row in rows]))
    return f"{found:.3f}, {judged(found >= LEAST_MEDIAN_R)}"


def rectus(rows: Sequence[Mapping[str, Any]]) -> str:
    """Correlation of the rectus femoris, against its aim."""
    found = next(row["r"] for row in rows if row["muscle"] == RECTUS)
    return f"{found:.2f}, {judged(found > 0.0)}"


def own_best(rows: Sequence[Mapping[str, Any]]) -> str:
    """Muscles nearest to their own envelope in every walk, and in the medians."""
    always = sum(row["own_best"] == row["n_trials"] for row in rows)
    middle = sum(row["r"] > row["neighbour_r"] for row in rows)
    return f"{middle} of {len(rows)} by the medians, {always} in every walk, {judged(always == len(rows))}"


def judged(met: bool) -> str:
    """Word for an aim."""
    return "met" if met else "**missed**"


AIMS = {
    f"median r over the muscles at least {LEAST_MEDIAN_R:g}": median_r,
    "rectus femoris above 0": rectus,
    "r of the own envelope above the neighbours'": own_best,
}


if __name__ == "__main__":
    main()

"""Measure what tendons and passive moments do to recorded walks of children: agreement with electromyography, and forces.

Usage: python benchmarks/walk_options.py STUDY [--write]

STUDY, walks, frames and delay are those of ``criteria.py``. Every row is the default but for what it names; r is the median of
the subjects, other numbers are the least and the greatest of the walks. ``--write`` puts the table into ``docs/muscle_validation.md``.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from criteria import ADULT_CHANNELS, DELAY_S, PAGE, Walk, children, correlated

BEGIN, END = "<!-- begin: printed by benchmarks/walk_options.py -->\n", "<!-- end: benchmarks/walk_options.py -->\n"
FIBRES = {"muscles.force_length_velocity": "true"}
COMPLIANT = {**FIBRES, "muscles.tendon": "compliant"}
OPTIONS = {
    "constant strength (the default)": {},
    "force-length-velocity, rigid tendon": FIBRES,
    "compliant tendon": COMPLIANT,
    "passive moments, `riener_edrich`": {"muscles.passive_moments": "riener_edrich"},
    "passive moments, `anderson`": {"muscles.passive_moments": "anderson"},
}
MUSCLES = [name for name in ADULT_CHANNELS if name not in ("soleus", "vasti", "glut_max")]  # of the children's channels
ACHILLES = ("soleus", "gastroc")
JOINTS = ("hip", "knee", "ankle")


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=Path, help="study of the children, made by `limbtorque init`")
    parser.add_argument("--write", action="store_true", help="write the table into docs/muscle_validation.md")
    options = parser.parse_args()
    text = "\n".join(lines(options.study)) + "\n"
    if options.write:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")
    else:
        print(text)


def lines(study: Path) -> Iterator[str]:
    """Lines of the table."""
    rows = []
    for name, changes in OPTIONS.items():
        contact = {"muscles.contact_forces": "true", "emg.delay_s": str(DELAY_S)}
        walks = list(children(study, {**contact, **changes}))
        rows.append(f"| {name} | {' | '.join(cells(walks))} |")
    today = datetime.datetime.now(tz=datetime.UTC).date()
    yield f"Measured on {today.day} {today:%B %Y}; {len(walks)} walks of {len({walk.subject for walk in walks})} children."
    yield ""
    heads = [*MUSCLES, "median", "frames out of reach, at most", *(f"{joint}, peak (body weights)" for joint in JOINTS)]
    yield f"| settings | {' | '.join(heads)} | Achilles tendon: strain (%) | force (kN) |"
    yield f"| --- |{' --- |' * (len(heads) + 2)}"
    yield from rows


def cells(walks: Sequence[Walk]) -> list[str]:
    """Cells of a row: r by muscle, their median, frames out of reach, peaks of contact, and the Achilles tendon."""
    r = pd.DataFrame([{"subject": walk.subject, **agreement(walk)} for walk in walks]).groupby("subject").median()
    middle = r.median()
    numbers = [f"{middle[name]:.2f}" for name in MUSCLES] + [f"{middle[MUSCLES].median():.2f}"]
    out = max(float((walk.found.optimized.status[walk.used] == 1).mean()) for walk in walks)
    return [
        *numbers,
        f"{out:.0%}",
        *(between(peaks) for peaks in np.transpose([contact_peaks(w) for w in walks])),
        *tendon(walks),
    ]


def agreement(walk: Walk) -> dict[str, float]:
    """Correlation of each activation with its own envelope."""
    names, own = walk.found.muscle_set.names, walk.envelopes.muscles
    activation = walk.found.activation[:, [names.index(name) for name in own]]
    return dict(zip(own, np.diag(correlated(walk, activation, walk.envelopes.level)), strict=True))


def contact_peaks(walk: Walk) -> list[float]:
    """Largest contact force of each joint, body weights."""
    force = np.linalg.norm(walk.found.contact.contact_n[walk.used], axis=2) / walk.found.body_weight_n
    return [float(np.nanmax(one)) for one in force.T]


def tendon(walks: Sequence[Walk]) -> list[str]:
    """Largest strain of the Achilles tendon, and the force of both muscles."""
    index = [walks[0].found.muscle_set.names.index(name) for name in ACHILLES]
    force = [np.nanmax(walk.found.force_n[walk.used][:, index].sum(axis=1)) / 1e3 for walk in walks]
    if walks[0].found.stretch is None:
        return ["", between(force)]
    return [
        between([100.0 * np.nanmax(walk.found.stretch.strain[walk.used][:, index]) for walk in walks]),
        between(force),
    ]


def between(values: Sequence[float]) -> str:
    """Least and greatest of some values."""
    return f"{min(values):.1f} to {max(values):.1f}"


if __name__ == "__main__":
    main()

"""Surveyed recordings and table rows for the tests of `limbtorque init`."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

from limbtorque.cli.init.survey import Body, Seen


def both_sides(stems):
    return [side + stem for side in "RL" for stem in stems]


def rows(study, name="trials"):
    """Rows of a table of a study, without those that are left out."""
    text = (study / "config" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def seen(name="a.c3d", *, prefixes=("",), labels=("M",), still=(), moved_m=1.0, **more):
    """A recording of 1 s of somebody who moves, as it is surveyed."""
    bodies = tuple(Body(p, labels, (0.0, 0.0, 0.0), None, moved_m=moved_m, still_limbs=still) for p in prefixes)
    nothing = np.zeros(0), np.zeros((0, len(labels), 3))
    return replace(Seen(Path(name), name, 100, 100.0, 1, bodies, 0.0, 0, (), (), *nothing, labels), **more)

"""Counts, sums and largest values over frames, which add up over stretches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts and sums over the frames of a stretch, and largest values in it.

    Attributes
    ----------
    sums : mapping of str to ndarray
        Counts and sums, of any shape.
    largest : mapping of str to ndarray
        Largest values, of any shape.
    """

    sums: Mapping[str, Any]
    largest: Mapping[str, Any]

    def __getitem__(self, name: str) -> FloatArray:
        """Return a sum or a largest value."""
        return np.asarray(self.sums[name] if name in self.sums else self.largest[name])


def total(parts: Sequence[Tally]) -> Tally:
    """Tally of all stretches of a trial."""
    return Tally(
        {name: sum(part.sums[name] for part in parts[1:]) + parts[0].sums[name] for name in parts[0].sums},
        {name: np.max([part.largest[name] for part in parts], axis=0) for name in parts[0].largest},
    )

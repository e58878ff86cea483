"""Differences between two readings of one file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LISTED = 10
DIFFERS = "second reader differs"  # beginning of the note that the flag of a trial shows


@dataclass(frozen=True)
class Difference:
    """Property or series that differs between two readings of a file.

    Attributes
    ----------
    field : str
        The property: ``"rate"``, ``"position"``, ``"analog channel"``, ``"force of plate"`` ...
    channel : str
        The marker, analog channel, plate or event; empty where the property is the file's.
    first, second : float or str
        The two values; in a series those that are furthest apart, NaN where one reading has none.
    unit : str
        Their unit; may be empty.
    axis : str
        ``"x"``, ``"y"`` or ``"z"`` in a series of vectors.
    sample : int
        Number of the frame or sample in the file, from 1; 0 where the property has none.
    n_samples : int
        Samples that differ.
    """

    field: str
    channel: str
    first: float | str
    second: float | str
    unit: str = ""
    axis: str = ""
    sample: int = 0
    n_samples: int = 0

    @property
    def sentence(self) -> str:
        """Field, channel and both values in one line, ours first."""
        named = " ".join(filter(None, (self.field, self.channel, self.axis)))
        more = f" (sample {self.sample}; {self.n_samples} differ)" if self.sample else ""
        return f"{named}: {self._text(self.first)} and {self._text(self.second)}{more}"

    def _text(self, value: float | str) -> str:
        if isinstance(value, str):
            return repr(value)
        return "missing" if np.isnan(value) else f"{value:.9g} {self.unit}".rstrip()


@dataclass(frozen=True)
class SecondReading:
    """Comparison of our reading of a file with that of a library.

    Attributes
    ----------
    source : str
        Name of the file.
    reader : str
        The library, with its version where it read the file.
    compared : str
        Numbers of markers, analog channels, plates and events that both readings have.
    differences : tuple of Difference
        Differences beyond rounding.
    notes : tuple of str
        Parts of the file that the library does not read, or is known to read wrongly: they are not compared.
    refused : str
        Reason why the library does not read the file; empty where it does.
    """

    source: str
    reader: str
    compared: str = ""
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Comparison in a few lines."""
        if self.refused:
            return (f"{self.reader} does not read this file: {self.refused}",)
        n = len(self.differences)
        found = f"{n} difference{'s' * (n > 1)}, our value first" if n else "no difference"
        return (
            f"{self.reader}: {found} ({self.compared})",
            *(f"{self.reader}: {difference.sentence}" for difference in self.differences[:LISTED]),
            *([f"{self.reader}: and {left} more"] if (left := n - LISTED) > 0 else []),
            *(f"{self.reader}: {note}" for note in self.notes),
        )

    @property
    def doubt(self) -> str:
        """First difference, for the flag of a trial; empty if there is none."""
        if not self.differences:
            return ""
        more = f"; and {len(self.differences) - 1} more" if len(self.differences) > 1 else ""
        return f"{DIFFERS} (our value first): {self.differences[0].sentence}{more}"

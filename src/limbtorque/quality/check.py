"""A quality metric with its threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from limbtorque.study.options.quality import Quality
from limbtorque.tables.column import unit_of

NO_TOLERANCE = "no tolerance: every occurrence is flagged"
BENCHMARK = "simulated recordings with known damage (docs/damage_benchmark.md); all legs in recorded straight walks are below the threshold"
CONVENTION = "a convention of this program"
PROGRAM_DEFECT = "report this as a bug, with the recording"
PLANE_COST = "net torques in the plane differ by"  # beginning of a note
LOST_TORQUE = "lost torque (rms) at"  # beginning of a note, of inertial torques
ONCE = 1.0  # times the threshold, from which a metric rejects
TWICE = 2.0  # in the benchmark most trials beyond it err by more than a tenth (docs/damage_benchmark.md)


@dataclass(frozen=True)
class Check:
    """A quality metric that flags a trial or joint where it is above its threshold.

    Attributes
    ----------
    name : str
        Name of the metric; it ends in its unit.
    definition : str
        Definition of the metric.
    advice : str
        Action to take.
    source : str
        Origin of the threshold.
    part_of : str
        Name of the flag, where several metrics show the same fault; else it is that of the metric.
    threshold : float, mapping of str to float or None
        Largest allowed value, or that of single joints and, by an empty name, of all others; None: the option of `quality`
        with the name of the metric. An option with a value for each joint is a limit for joints of these names; other
        joints are not judged by it.
    affects : {"torques", "muscles"}
        Tables the flag affects.
    rejects_from : float
        Times the threshold above which the numbers must not be used: status rejected, not caution.
    where : str
        Beginning of the note that names markers and frames (signals/labels.py); empty without such a note.
    """

    name: str
    definition: str
    advice: str
    source: str
    part_of: str = ""
    threshold: float | Mapping[str, float] | None = None
    affects: Literal["torques", "muscles"] = "torques"
    rejects_from: float = math.inf
    where: str = ""

    @property
    def flag(self) -> str:
        """Name of the flag that the metric raises."""
        return self.part_of or self.name

    @property
    def unit(self) -> str:
        """Unit of the metric."""
        return unit_of(self.name)

    def allowed(self, thresholds: Quality) -> float | Mapping[str, float]:
        """Largest allowed value, or that of each joint."""
        given: float | Mapping[str, float] = (
            getattr(thresholds, self.name) if self.threshold is None else self.threshold
        )
        return given

    def allowed_at(self, joint: str, thresholds: Quality) -> float:
        """Largest allowed value at a joint; infinite without limit."""
        given = self.allowed(thresholds)
        return given.get(joint, given.get("", math.inf)) if isinstance(given, Mapping) else given

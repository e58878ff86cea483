"""Section `contrasts`: declared comparisons of conditions, groups or sides."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from limbtorque.study.options.base import ONE_OR_MORE, Options, option

LEVEL = 0.05  # of tests of contrasts
LEAST_GROUP = 6  # subjects; of smaller groups refitted flips reject 6 to 9 % of true nulls (docs/statistics.md)
Side = Literal["left", "right", "affected", "unaffected", "dominant", "nondominant"]
Percent = Annotated[float, Field(ge=0.0, le=100.0)]
Pair = tuple[str, str]


class Outcome(Options):
    """Quantity that a contrast compares: a statistic, or a curve or a part of it."""

    statistic: str = ""
    """Column of results/summary.csv, such as max_nm_kg, or of muscle_summary.csv; its joint or muscle is given as well."""
    joint: str = option("", "Joint of the statistic.")
    muscle: str = option("", "Muscle of the statistic.")
    term: str = "net"
    """Term of the statistic: net, or a term of summary.csv with its own extremes. A net torque is followed by its terms."""
    window: Literal["whole", "stance"] = option("whole", "Frames of the statistic.")
    quantity: str = option("", "Quantity of the curves (table curves.quantity of the data dictionary).")
    at_percent: Percent | None = option(None, "Point of the curve.", "%")
    between_percent: tuple[Percent, Percent] | None = option(
        None, "Part of the curve, of which 'take' is one number.", "%"
    )
    take: Literal["mean", "max", "min", "range"] = option("mean", "Number between the two percents.")
    smallest_effect: float | None = option(None, unit="that of the outcome", gt=0.0)
    """Smallest difference of interest, in the outcome's unit: tests of equivalence, and the subjects needed to find it."""

    @model_validator(mode="after")
    def _one_kind(self) -> Outcome:
        if bool(self.statistic) == bool(self.quantity):
            raise ValueError("expected either statistic (with joint or muscle) or quantity")
        if self.statistic and bool(self.joint) == bool(self.muscle):
            raise ValueError("expected the joint or the muscle of the statistic")
        if self.quantity and (self.joint or self.muscle or self.term != "net" or self.window != "whole"):
            raise ValueError("expected no joint, muscle, term or window beside a quantity, whose name has them")
        if self.statistic and (self.at_percent is not None or self.between_percent):
            raise ValueError("expected no percent beside a statistic; percents are of a quantity")
        if self.at_percent is not None and self.between_percent:
            raise ValueError("expected at_percent or between_percent, not both")
        if self.take != "mean" and not self.between_percent:
            raise ValueError(f"expected between_percent for take: {self.take}")
        if self.between_percent and self.between_percent[0] >= self.between_percent[1]:
            raise ValueError("expected between_percent with the smaller percent first")
        return self

    @property
    def is_curve(self) -> bool:
        """True for a whole curve."""
        return bool(self.quantity) and self.at_percent is None and self.between_percent is None

    @property
    def label(self) -> str:
        """Name of the outcome in tables, without joint and muscle.

        >>> Outcome(quantity="knee_flexion_deg", between_percent=(0, 60), take="max").label
        'knee_flexion_deg, max of 0 to 60 %'
        """
        if self.at_percent is not None:
            return f"{self.quantity} at {self.at_percent:g} %"
        if self.between_percent:
            return "{}, {} of {:g} to {:g} %".format(self.quantity, self.take, *self.between_percent)
        of_term = f" of {self.term}" if self.term != "net" else ""
        return self.quantity or f"{self.statistic}{of_term}{', stance' if self.window == 'stance' else ''}"


class Contrast(Options):
    """Difference between conditions, groups or sides: the first minus the second."""

    name: str = option(..., "Name in tables, such as 'fast minus slow'.", allowed="a name", min_length=1)
    chain: str = option(..., "Chain of the trials.")
    conditions: Pair | None = option(None, "Two conditions, compared within subjects.")
    condition: str = option("", "Condition in which groups or sides are compared.")
    groups: Pair | None = None
    """Two groups of subjects.csv; with conditions or sides, their difference is compared between the groups."""
    sides: tuple[Side, Side] | None = None
    """Two sides, compared within subjects: left, right, or affected, unaffected, dominant, nondominant of subjects.csv."""
    side: Literal["mean", Side] = "mean"
    """Side of conditions and groups: 'mean', of the sides that a subject has in everything compared."""
    covariates: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    """Columns of numbers of subjects.csv (between groups) or windows.csv (as other values of trials)."""
    family: str = option("", "Contrasts and curves whose p values are adjusted together; all without one are a family.")
    outcomes: tuple[Outcome, ...] = option(..., "Quantities that are compared.", min_length=1)

    @model_validator(mode="after")
    def _two_of_something(self) -> Contrast:
        if not (self.conditions or self.groups or self.sides):
            raise ValueError("expected two conditions, groups or sides to compare")
        if self.conditions and self.sides:
            raise ValueError("expected conditions or sides, not both; name one condition for two sides")
        if self.conditions and self.condition:
            raise ValueError("expected conditions or condition, not both")
        if self.sides and self.side != "mean":
            raise ValueError("expected side or sides, not both")
        pairs = {"conditions": self.conditions, "groups": self.groups, "sides": self.sides}
        if same := [name for name, pair in pairs.items() if pair and pair[0] == pair[1]]:
            raise ValueError(f"expected two different {same[0]}")
        return self

    @property
    def is_paired(self) -> bool:
        """True where every subject has a difference of its own."""
        return bool(self.conditions or self.sides)

    @property
    def levels(self) -> tuple[str, str]:
        """Names of what is subtracted from what."""
        within: tuple[str, str] = self.conditions or self.sides or ("", "")
        if not self.groups:
            return within
        of = f": {within[0]} minus {within[1]}" if self.is_paired else ""
        return f"{self.groups[0]}{of}", f"{self.groups[1]}{of}"


class Contrasts(Options):
    """Declared comparisons with intervals and tests (docs/statistics.md)."""

    declared: tuple[Contrast, ...] = ()
    """Contrasts, each with name, chain, conditions, groups or sides, and outcomes."""
    seed: int = option(20260101, "Seed of the random flips, where all flips are too many.", "1", ge=0, le=2**31)

    @property
    def distinct(self) -> list[tuple[str, Outcome]]:
        """Chain and outcome of all contrasts, each once, without whole curves."""
        pairs = ((each.chain, outcome) for each in self.declared for outcome in each.outcomes)
        return list(dict.fromkeys(pair for pair in pairs if not pair[1].is_curve))

    @property
    def of_numbers(self) -> list[Outcome]:
        """Outcomes of all contrasts that are numbers, not whole curves."""
        return [outcome for each in self.declared for outcome in each.outcomes if not outcome.is_curve]

    @model_validator(mode="after")
    def _different_names(self) -> Contrasts:
        names = [contrast.name for contrast in self.declared]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"contrast {twice[0]!r} is declared twice; give each a name of its own")
        return self

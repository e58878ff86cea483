"""Section `reference`: a group with which each person is compared."""

from __future__ import annotations

from pydantic import model_validator

from limbtorque.study.options.base import Options, option

ENOUGH = 20  # subjects of a reference; with fewer `check` and the pages warn
LEAST_BAND = 10  # fewer have no band of a whole curve: by bootstrap it would hold far more, or less, than it states


class Reference(Options):
    """A group with which each person is compared (docs/reference.md)."""

    group: str = ""
    """Group of subjects.csv with which each subject is compared by chain and condition; a member with the others."""
    results: str = ""
    """Results folder of another study, relative to the study's folder: all its subjects are the group."""
    seed: int = option(20260101, "Seed of the bootstrap over the group's subjects.", "1", ge=0, le=2**31)

    @model_validator(mode="after")
    def _one_group(self) -> Reference:
        if self.group and self.results:
            raise ValueError("expected group or results, not both")
        return self

    @property
    def is_set(self) -> bool:
        """True where there is a reference."""
        return bool(self.group or self.results)

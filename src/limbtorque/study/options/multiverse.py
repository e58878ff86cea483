"""Section `multiverse`: alternatives of the analysis, run in all combinations."""

from __future__ import annotations

from typing import Any

from limbtorque.study.options.base import Options, option

Alternative = bool | int | float | str | list[Any] | dict[str, Any] | None


class Multiverse(Options):
    """Alternatives whose combinations `limbtorque multiverse` runs (docs/choices.md)."""

    alternatives: dict[str, tuple[Alternative, ...]] = option({})
    """Option by its dotted name -> values, {filter.cutoff_hz: [6, 10], motion.angles: [segments]}; the study's own value
    is added. A rule of a marker set is one, {marker_sets.SET.hip_axis: [{hip_centre: davis_1991}]}."""
    max_universes: int = option(100, "Most combinations that are run.", "1", ge=2, le=10_000)

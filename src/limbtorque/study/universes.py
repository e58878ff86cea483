"""Universes of a study: the combinations of alternative options of the analysis."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from limbtorque.errors import SettingsError
from limbtorque.study.settings import Settings, option_names, override
from limbtorque.study.study import Study

ANALYSIS = (
    "marker_sets",
    "substitutes",
    "gaps",
    "filter",
    "differentiation",
    "segments",
    "plates",
    "motion",
    "muscles",
)
SINGLE = ("plane.forward_axis",)  # of sections whose other options change the question
REFUSED = ("muscles.enabled", "filter.cutoffs_hz")
WITHOUT_BANDS = {"uncertainty.enabled": "false", "torques.bands": "false"}
TRIAL_S, MUSCLES_S = 0.02, 0.1  # time of a trial in a universe, and of its muscles (docs/choices.md)
PLACE = "multiverse.alternatives"


@dataclass(frozen=True)
class Choice:
    """Option with its alternatives, the study's own value first.

    Attributes
    ----------
    option : str
        Dotted name.
    values : tuple
        Its values.
    """

    option: str
    values: tuple[Any, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Values in words.

        >>> Choice("marker_sets.a.hip_axis", ({"hip_centre": "davis_1991"}, 6.0, None)).labels
        ('hip_centre: davis_1991', '6', 'null')
        """
        return tuple(map(_label, self.values))


def _label(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_label(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_label, value))
    return f"{value:g}" if isinstance(value, float) else value if isinstance(value, str) else json.dumps(value)


def choices_of(settings: Settings) -> tuple[Choice, ...]:
    """Options that differ between universes, each value once, as it was given.

    Raises
    ------
    SettingsError
        An alternative is no value of its option.
    """
    choices = []
    for name, alternatives in settings.multiverse.alternatives.items():
        values = [own := option_value(settings, name)]
        known = [own]  # in the same form, with all defaults
        for value in alternatives:
            whole = option_value(override(settings, {name: _text(value)}, source=PLACE), name)
            if whole not in known:
                known.append(whole)
                values.append(value)
        choices.append(Choice(name, tuple(values)))
    return tuple(choice for choice in choices if len(choice.values) > 1)


def n_universes(choices: tuple[Choice, ...]) -> int:
    """Number of combinations."""
    return math.prod(len(choice.values) for choice in choices)


def universe_changes(choices: tuple[Choice, ...]) -> list[dict[str, str]]:
    """Changes of each universe to the settings; the study's own is the first."""
    return [
        {choice.option: _text(value) for choice, value in zip(choices, values, strict=True)}
        for values in itertools.product(*(choice.values for choice in choices))
    ]


def universe_settings(settings: Settings, changes: dict[str, str]) -> Settings:
    """Settings of a universe, without the uncertainty of its torques."""
    return override(settings, {**WITHOUT_BANDS, **changes}, source=PLACE)


def option_value(settings: Settings, name: str) -> Any:
    """Value of an option as in JSON, by its dotted name."""
    section, *path = name.split(".")
    value = settings.model_dump(mode="json", include={section}).get(section)
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    """Value as a cell of the table of trials has it."""
    return value if isinstance(value, str) else json.dumps(value)


def multiverse_faults(study: Study) -> Iterator[str]:
    """Sentences on a multiverse that cannot be run, or is too large."""
    settings, faults = study.settings, []
    for name, alternatives in settings.multiverse.alternatives.items():
        faults += _option_faults(settings, name) or _value_faults(settings, name, alternatives)
        value = option_value(settings, name)
        others = [trial.name for trial in study.trials if option_value(trial.settings, name) != value]
        if others and not faults:
            of_trials = "filter.cutoffs_hz, or a column of the trials" if name == "filter.cutoff_hz" else "a column"
            faults.append(f"{name} differs between trials (first {others[0]}): {of_trials} goes before it; remove it")
    if not faults and settings.multiverse.alternatives:
        faults += _grid_faults(study)
    yield from (f"{PLACE}: {fault}" for fault in faults)


def _option_faults(settings: Settings, name: str) -> list[str]:
    known = name in option_names() or option_value(settings, name) is not None
    of_analysis = (name.split(".")[0] in ANALYSIS and "." in name and name not in REFUSED) or name in SINGLE
    if not known or of_analysis:
        return []
    allowed = ", ".join((*ANALYSIS, *SINGLE))
    return [f"{name} changes the question, or no result; alternatives are options of {allowed}"]


def _value_faults(settings: Settings, name: str, alternatives: tuple[Any, ...]) -> list[str]:
    faults = [f"{name} has no alternatives; list them"] if not alternatives else []
    for value in alternatives:
        try:
            override(settings, {name: _text(value)}, source=PLACE)
        except SettingsError as error:
            faults += [fault.removeprefix(f"{PLACE}: ") for fault in error.faults]
    return list(dict.fromkeys(faults))


def _grid_faults(study: Study) -> Iterator[str]:
    """Too many universes, or the first combination that contradicts itself."""
    settings, choices = study.settings, choices_of(study.settings)
    n, most = n_universes(choices), settings.multiverse.max_universes
    if n > most:
        took = time_words(study, n)
        yield (
            f"{n} universes of {len(study.trials)} trials take about {took}, expected at most {most}; "
            "raise multiverse.max_universes, or remove alternatives"
        )
        return
    for changes in universe_changes(choices):
        try:
            override(settings, changes, source=PLACE)
        except SettingsError as error:
            words = ", ".join(f"{name} = {text}" for name, text in changes.items())
            yield f"{words}: {error.faults[0]}; remove one of them"
            return


def time_words(study: Study, n_universes: int) -> str:
    """Time of all universes on one core, roughly, in words."""
    outcomes = [outcome for contrast in study.settings.contrasts.declared for outcome in contrast.outcomes]
    each_s = TRIAL_S + MUSCLES_S * any(outcome.muscle for outcome in outcomes)
    total_s = each_s * n_universes * len(study.trials)
    for unit, size_s in (("hours", 3600.0), ("minutes", 60.0)):
        if total_s > 2.0 * size_s:
            return f"{total_s / size_s:.0f} {unit} on one core"
    return f"{max(total_s, 1.0):.0f} s on one core"

"""Universes of a study: the combinations of alternative options of the analysis."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from limbtorque.errors import SettingsError
from limbtorque.study.settings import Settings, option_names, override
from limbtorque.study.study import Study

ANALYSIS = (
    *("marker_sets", "substitutes", "gaps", "filter", "differentiation", "segments", "plates", "motion", "muscles"),
    "plane.forward_axis",
)
REFUSED = ("muscles.enabled", "filter.cutoffs_hz")
WITHOUT_BANDS = {"uncertainty.enabled": "false", "torques.bands": "false"}
TRIAL_S, MUSCLES_S = 0.03, 0.05  # time of a trial in a universe, and of its muscles (docs/choices.md)
PLACE = "multiverse.alternatives"
Choices = Mapping[str, list[Any]]
"""Options by their dotted names with their values, the study's own first."""


def choices_of(settings: Settings) -> Choices:
    """Options that differ between universes, each value once, as it was given."""
    choices = {name: _values(settings, name) for name in settings.multiverse.alternatives}
    return {name: values for name, values in choices.items() if len(values) > 1}


def _values(settings: Settings, name: str) -> list[Any]:
    values = [own := option_value(settings, name)]
    known = [own]  # in the same form, with all defaults
    for value in settings.multiverse.alternatives[name]:
        whole = option_value(override(settings, {name: _text(value)}, source=PLACE), name)
        if whole not in known:
            known.append(whole)
            values.append(value)
    return values


def option_value(settings: Settings, name: str) -> Any:
    """Value of an option as in JSON, by its dotted name; None where there is none."""
    section, *path = name.split(".")
    value = settings.model_dump(mode="json", include={section}).get(section)
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    """Value as a cell of the table of trials has it."""
    return value if isinstance(value, str) else json.dumps(value)


def label(value: Any) -> str:
    """Value of an option in words.

    >>> [label(value) for value in ({"hip_centre": "davis_1991"}, 6.0, None, ["LASI", "RASI"])]
    ['hip_centre: davis_1991', '6', 'null', 'LASI, RASI']
    """
    if isinstance(value, dict):
        return ", ".join(f"{name}: {label(part)}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(label, value))
    return f"{value:g}" if isinstance(value, float) else _text(value)


def n_universes(choices: Choices) -> int:
    """Number of combinations."""
    return math.prod(map(len, choices.values()))


def universe_changes(choices: Choices) -> list[dict[str, str]]:
    """Changes of each universe to the settings; the study's own is the first."""
    texts = (map(_text, values) for values in choices.values())
    return [dict(zip(choices, each, strict=True)) for each in itertools.product(*texts)]


def universe_settings(settings: Settings, changes: Mapping[str, str]) -> Settings:
    """Settings of a universe, without the uncertainty of its torques."""
    return override(settings, {**WITHOUT_BANDS, **changes}, source=PLACE)


def multiverse_faults(study: Study) -> Iterator[str]:
    """Sentences on a multiverse that cannot be run, or is too large."""
    faults = [fault for name in study.settings.multiverse.alternatives for fault in _option_faults(study, name)]
    yield from (f"{PLACE}: {fault}" for fault in faults or _grid_faults(study))


def _option_faults(study: Study, name: str) -> Iterator[str]:
    settings = study.settings
    allowed = name.startswith(tuple(f"{each}." for each in ANALYSIS)) or name in ANALYSIS[-1:]
    if name in REFUSED or (not allowed and name in (*option_names(), *type(settings).model_fields)):
        yield f"{name} changes the question, or no result; alternatives are options of {', '.join(ANALYSIS)}"
        return
    try:
        _values(settings, name)
    except SettingsError as error:
        yield from (fault.removeprefix(f"{PLACE}: ") for fault in error.faults)
        return
    own = option_value(settings, name)
    if others := [trial.name for trial in study.trials if option_value(trial.settings, name) != own]:
        yield f"{name} differs between trials (first {others[0]}); remove its column, or filter.cutoffs_hz, which goes before it"


def _grid_faults(study: Study) -> Iterator[str]:
    """Too many universes, or the first combination that contradicts itself."""
    settings, choices = study.settings, choices_of(study.settings)
    if (n := n_universes(choices)) > settings.multiverse.max_universes:
        yield (
            f"{n} universes take {time_words(study, n)}, expected at most {settings.multiverse.max_universes}; raise "
            "multiverse.max_universes, or remove alternatives"
        )
        return
    for changes in universe_changes(choices):
        try:
            override(settings, changes, source=PLACE)
        except SettingsError as error:
            words = ", ".join(f"{name} = {text}" for name, text in changes.items())
            yield f"{words}: {error.faults[0]}; remove one of them"
            return


def time_words(study: Study, n: int) -> str:
    """Time that universes take, roughly, in words."""
    each_s = TRIAL_S + MUSCLES_S * any(outcome.muscle for outcome in study.settings.contrasts.of_numbers)
    return f"about {math.ceil(each_s * n * len(study.trials) / 60.0)} min on one core ({len(study.trials)} trials)"

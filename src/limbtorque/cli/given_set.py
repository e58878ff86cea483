"""A proposed marker set on the page of markers: what it gives and keeps."""

from __future__ import annotations

from collections.abc import Mapping

from limbtorque.cli.init.proposed_sets import ProposedSet, yaml_rule
from limbtorque.report.marker_map.page import MapChain, MapKept
from limbtorque.study.table_file import TO_DO

SIDES = {"right": "left", "left": "right"}
Proposed = dict[str, dict[str, dict[str, list[int]]]]
Known = dict[str, dict[str, dict[str, dict[str, str | float]]]]


def of_set(
    chosen: ProposedSet, side: str, labels: Mapping[str, int], chains: Mapping[str, MapChain]
) -> tuple[Proposed, Known, MapKept]:
    """Markers that a proposed set gives to the landmarks of chains, and all its rules.

    Parameters
    ----------
    chosen : ProposedSet
        The set.
    side : str
        Side of the set, where it has no {S}; empty where it is not known.
    labels : mapping of str to int
        Label -> marker, of one person.
    chains : mapping of str to MapChain
        The chains.

    Returns
    -------
    proposed, known, kept
        As of `MapBody`; all empty where the person has no markers of the set.
    """
    found: Proposed = {}
    known: Known = {}
    markers: dict[str, dict[str, list[int]]] = {}
    both = any(filled(label, "right") != label for rule in chosen.rules.values() for label in rule)
    for which in SIDES if both or not side else (side,):
        given = {
            name: [labels[one] for one in rule]
            for name, templates in chosen.rules.items()
            for rule in [[filled(one, which) for one in templates]]
            if all(one in labels for one in rule)
        }
        if given:
            markers[which] = given
        for chain, model in chains.items():
            own = {mark.name: given[mark.name] for mark in model.landmarks if mark.name in given}
            if own:
                found.setdefault(chain, {})[which] = own
                known.setdefault(chain, {})[which] = {name: more(name, chosen.fractions, chosen.errors) for name in own}
    return (
        (found, known, kept(chosen, markers, side="" if both else side))
        if markers or not chosen.rules
        else ({}, {}, MapKept())
    )


def kept(chosen: ProposedSet, markers: Mapping[str, Mapping[str, list[int]]], *, side: str = "") -> MapKept:
    """Entries of a set in YAML, which hold where no marker is chosen instead."""
    own = {
        name: yaml_rule(rule, chosen.fractions.get(name))
        for name, rule in chosen.rules.items()
        if not rule[0].startswith(TO_DO)
    }
    return MapKept(
        own | dict(chosen.computed),
        {name: _says(rule) for name, rule in chosen.computed.items()}
        | {
            name: f"{by.replace('_', ' ')} ({own[by]}) stands for it"
            if by in own
            else f"{by.replace('_', ' ')} stands for it"
            for name, (by, _) in chosen.substitutes.items()
        },
        {name: by for name, (by, _) in chosen.substitutes.items()},
        dict(chosen.errors),
        markers,
        side,
    )


def _says(rule: str) -> str:
    if rule.startswith("{static:"):
        return f"carried from the static trial: {rule}"
    return f"predicted from other landmarks: {rule}"


def more(name: str, fractions: Mapping[str, float], errors: Mapping[str, str | float]) -> dict[str, str | float]:
    """Fraction and error of a landmark, where it has one of its own."""
    fraction, error = fractions.get(name), errors.get(name)
    return ({} if fraction is None else {"fraction": fraction}) | ({} if error is None else {"error": error})


def filled(template: str, side: str) -> str:
    """Label of a side."""
    return template.replace("{S}", side[0].upper()).replace("{s}", side[0]).replace("{side}", side)

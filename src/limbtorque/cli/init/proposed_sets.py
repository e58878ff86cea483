"""Marker sets for the labels of recordings: known, or templates to fill in."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from limbtorque.cli.init.known_sets import Fit, cluster_templates, likely_labels, needed_landmarks, template_of
from limbtorque.cli.init.survey import Body
from limbtorque.study.chains import BUILT_IN as CHAINS
from limbtorque.study.table_file import TO_DO

Confirm = Callable[[str], bool]


@dataclass(frozen=True)
class ProposedSet:
    """A marker set.

    Attributes
    ----------
    name : str
        Its name in the settings.
    rules : dict of str to tuple of str
        Landmark -> labels, with their side as {S}, {s} or {side}; ``("TODO",)`` where it has to be named.
    comments : dict of str to str
        Landmark -> what it is, or what might be it.
    substitutes : dict of str to (str, str)
        Landmark -> the one that stands for it, and why.
    about : tuple of str
        Sentences on the whole set.
    computed : dict of str to str
        Landmark -> rule in YAML, of those that are predicted, or carried from a static trial.
    fractions : dict of str to float
        Landmarks that lie between the two labels of their rule -> fraction of the way.
    errors : dict of str to str or float
        Landmark -> kind or size of its error, where it is not that of a marker.
    """

    name: str
    rules: Mapping[str, tuple[str, ...]]
    comments: Mapping[str, str]
    substitutes: Mapping[str, tuple[str, str]]
    about: tuple[str, ...]
    computed: Mapping[str, str] = field(default_factory=dict)
    fractions: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, str | float] = field(default_factory=dict)


@dataclass
class Sets:
    """Marker sets proposed so far, by their content."""

    by_content: dict[tuple[object, ...], ProposedSet] = field(default_factory=dict)

    def name_of(self, found: ProposedSet) -> str:
        """Name of the set with this content; a new set is added."""
        content = (
            tuple(tuple(sorted(part.items())) for part in (found.rules, found.computed, found.fractions, found.errors)),
            tuple(sorted(found.substitutes)),
        )
        if content not in self.by_content:
            taken = {chosen.name for chosen in self.by_content.values()}
            name, n = found.name, 2
            while name in taken:
                name, n = f"{found.name}_{n}", n + 1
            self.by_content[content] = replace(found, name=name)
        return self.by_content[content].name


def set_of(fit: Fit, both: Sequence[Fit]) -> ProposedSet:
    """Marker set of a known one, with {S} where that serves both sides.

    Parameters
    ----------
    fit : Fit
        How the known set fits one side.
    both : sequence of Fit
        The fits of both sides.
    """
    own, carried = _templates(fit), _carried(fit)
    other = next((mate for mate in both if mate.side != fit.side), None)
    named = fit.known.name
    if other is not None and (own, carried) != (_templates(other), _carried(other)):
        sides = [(_capital(_templates(one)), _capital(_carried(one))) for one in (fit, other)]
        own, carried = sides[0]  # r_knee and L_knee: labels are found in either case
        if sides[0] != sides[1]:
            named = f"{fit.known.name}_{fit.side}"
            own, carried = dict(fit.rules), dict(fit.carried)
    computed = {name: f"{{{kind}: {rule}}}" for name, (kind, rule) in fit.predicted.items()} | {
        name: f"{{static: {yaml_rule(own.pop(name), fit.known.fractions.get(name))}, cluster: {yaml_list(cluster)}}}"
        for name, cluster in carried.items()
    }
    given = {*own, *computed}
    used = {name: pair for name, pair in fit.known.substitutes.items() if name not in given and pair[0] in given}
    return ProposedSet(
        name=named,
        rules=own,
        comments={name: fit.known.meaning[name] for name in (*own, *computed)},
        substitutes=used,
        about=(f"{fit.known.title}; names from: {fit.known.source}",),
        computed=computed,
        fractions={name: part for name, part in fit.known.fractions.items() if name in own},
        errors=_errors(fit, {*own, *carried}, used),
    )


def _templates(fit: Fit) -> dict[str, tuple[str, ...]]:
    """Labels with the side of a fit as {S}, {s} or {side}."""
    return {name: tuple(template_of(label, fit.side) for label in labels) for name, labels in fit.rules.items()}


def _capital(templates: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Templates with the side as a capital letter."""
    return {name: tuple(text.replace("{s}", "{S}") for text in texts) for name, texts in templates.items()}


def _carried(fit: Fit) -> dict[str, tuple[str, ...]]:
    """Clusters with the side of a fit as {S}, {s} or {side}."""
    return {name: cluster_templates(cluster, fit.side) for name, cluster in fit.carried.items()}


def yaml_rule(labels: Sequence[str], fraction: float | None) -> str:
    """Rule in YAML: labels, or a point at a fraction of the way between two."""
    return yaml_labels(labels) if fraction is None else f"{{between: {yaml_list(labels)}, fraction: {fraction:g}}}"


def yaml_list(labels: Sequence[str]) -> str:
    """Labels as a list in YAML."""
    return json.dumps(list(labels), ensure_ascii=False)


def yaml_labels(labels: Sequence[str]) -> str:
    """Labels of a rule in YAML: a text, or a list of them."""
    return json.dumps(labels[0] if len(labels) == 1 else list(labels), ensure_ascii=False)


def looks_like_a_body(body: Body, chains: Sequence[str]) -> bool:
    """Return True if at least two joints of a chain have labels that look like theirs."""
    return any(
        sum(bool(likely_labels(joint.landmark, body.labels)) for joint in CHAINS[chain].joints) >= 2 for chain in chains
    )


def unknown_set(
    body: Body, chains: Sequence[str], found: Mapping[str, Sequence[Fit]], confirm: Confirm | None
) -> tuple[str, list[str], ProposedSet]:
    """Chain, sides and marker set for labels that fit no known set.

    Parameters
    ----------
    body : Body
        The markers.
    chains : sequence of str
        Which chains to look for.
    found : dict of str to sequence of Fit
        Chain -> known sets that fit in part.
    confirm : callable or None
        Asks a person whether a likely label is right.
    """
    counted = {
        chain: sum(bool(likely_labels(name, body.labels)) for name in needed_landmarks(CHAINS[chain]))
        / len(needed_landmarks(CHAINS[chain]))
        for chain in chains
    }
    chain = max(counted, key=lambda name: (len(found[name]) > 0, counted[name]))
    rules: dict[str, tuple[str, ...]] = {}
    comments: dict[str, str] = {}
    substitutes: dict[str, tuple[str, str]] = {}
    partly = found[chain][0] if found[chain] else None
    computed = {name: f"{{{kind}: {rule}}}" for name, (kind, rule) in partly.predicted.items()} if partly else {}
    if partly is not None:
        rules = {
            name: tuple(template_of(label, partly.side) for label in labels) for name, labels in partly.rules.items()
        }
        given = {*rules, *computed}
        comments = {name: partly.known.meaning[name] for name in (*rules, *computed)}
        substitutes = {n: pair for n, pair in partly.known.substitutes.items() if n not in given and pair[0] in given}
    for name in needed_landmarks(CHAINS[chain]):
        if name in rules or name in substitutes or name in computed:
            continue
        likely = likely_labels(name, body.labels, partly.side if partly else "")[:6]
        chosen = next(
            (
                label
                for label, _ in likely
                if confirm and confirm(f"{body.prefix or 'markers'}: is {label} the {name}?")
            ),
            None,
        )
        if chosen:
            rules[name] = (template_of(chosen, partly.side) if partly and partly.side else chosen,)
            comments[name] = "confirmed"
        else:
            hint = partly.known.missing.get(name, "") if partly else ""
            looks = (
                f"similar: {', '.join(f'{label} ({score:.2f})' for label, score in likely)}"
                if likely
                else "no similar label"
            )
            rules[name], comments[name] = (TO_DO,), "; ".join(filter(None, (looks, hint)))
    for name, pair in partly.known.substitutes.items() if partly else ():
        if rules.get(name) == (TO_DO,) and pair[0] in rules:  # one place to fill in serves both
            del rules[name]
            substitutes[name] = pair
    sides = [fit.side for fit in found[chain] if partly and fit.known is partly.known]
    about = (
        "no known marker set fits these labels; name the marker, or a list of markers, for each landmark",
        f"labels: {', '.join(body.labels)}",
    )
    more = _fractions(partly, rules), _errors(partly, rules, substitutes)
    proposed = ProposedSet("my_markers", rules, comments, substitutes, about, computed, *more)
    return chain, [side or TO_DO for side in sides] or [TO_DO], proposed


def _errors(
    fit: Fit | None, rules: Collection[str], substitutes: Mapping[str, tuple[str, str]]
) -> dict[str, str | float]:
    """Errors of a set's landmarks with markers, and of those that stand for others."""
    if fit is None:
        return {}
    own = {name: error for name, error in fit.known.errors.items() if name in rules}
    others = fit.known.errors_of_substitutes
    return own | {by: others[name] for name, (by, _) in substitutes.items() if name in others}


def _fractions(partly: Fit | None, rules: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """Fractions of the landmarks of a set that fits in part."""
    return (
        {name: part for name, part in partly.known.fractions.items() if len(rules.get(name, ())) == 2} if partly else {}
    )

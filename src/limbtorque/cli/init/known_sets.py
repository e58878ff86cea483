"""Known marker sets, and their fit to the labels of a recording."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from limbtorque.chain.segments import DEMPSTER_WINTER
from limbtorque.errors import SettingsError
from limbtorque.study.chains import ARM, LEG, ChainModel
from limbtorque.study.chains import BUILT_IN as CHAINS
from limbtorque.study.files import read_yaml

BUILT_IN = Path(__file__).parent / "sets"
# joint centres come before skin markers, markers before keypoints: where a file has several, the first complete set is proposed
PREFERRED = (
    *("plug_in_gait", "opensim_walking", "isb", "anatomical", "opencap_markers", "helen_hayes", "opensim_gait"),
    *("opensim_rajagopal", "plug_in_gait_markers", "limbtorque_demo", "winter", "described", "montreal_arm"),
    *("opensim_arm26", "opencap", "theia", "mediapipe", "coco_17", "halpe_26", "words"),
)
LAST = "words"  # used where it is complete and no other set is
OPPOSITE = {"right": "left", "left": "right"}
SIDE_WORDS = {"r": "right", "l": "left", "right": "right", "left": "left"}
_SIDED = (
    re.compile(r"(?P<side>right|left)[ ._-]?(?P<rest>.+)", re.IGNORECASE),
    re.compile(r"(?!right|left)(?P<side>[rl])[ ._-]?(?P<rest>.+)", re.IGNORECASE),
    re.compile(r"(?P<rest>.+?)[ ._-]?(?P<side>right|left)", re.IGNORECASE),
    re.compile(r"(?P<rest>.+?)[ ._-](?P<side>[rl])", re.IGNORECASE),
)
_TEMPLATES = {"R": "{S}", "L": "{S}", "r": "{s}", "l": "{s}", "right": "{side}", "left": "{side}"}
LIMBS = {"arm": ARM, "leg": LEG}
WITHOUT_END = {"arm": "arm_without_hand", "leg": "leg_without_foot"}
UNSIDED = ("sacrum",)  # landmarks in the middle of the body
PARTS = {  # landmarks of both sides that a predicted joint centre needs: one of these groups
    "hip_centre": (
        ("anterior_superior_iliac_spine", "sacrum"),
        ("anterior_superior_iliac_spine", "posterior_superior_iliac_spine"),
    ),
    "shoulder_centre": (("acromion",),),
}


@dataclass(frozen=True)
class KnownSet:
    """A known marker set.

    Attributes
    ----------
    name, title, source : str
        Its name in a settings file, what it is, and where its names are from.
    rules : dict of str to tuple of str
        Landmark -> templates of the labels whose mean it is; {S} is R or L.
    meaning : dict of str to str
        What each rule is.
    substitutes : dict of str to (str, str)
        Landmark -> the one that may stand for it, and why.
    missing : dict of str to str
        Landmarks that the set does not have, and what to do.
    predicted : dict of str to (str, str)
        Joint centres predicted where they have no markers: kind and name of the rule (study/chains.py).
    fractions : dict of str to float
        Landmarks that lie between the first and the second label of their rule -> fraction of the way.
    without : tuple of str
        Chains without a hand or foot for which the set is meant, since it never has one.
    errors : dict of str to str or float
        Joint centres whose error is not that of a marker -> its kind, or standard deviation, m (`uncertainty.sets`).
    errors_of_substitutes : dict of str to str or float
        The same of joint centres for which another landmark stands, where that one is used.
    second_choices : dict of str to str
        Landmark -> the one that may stand for it where its substitute has no marker either.
    """

    name: str
    title: str
    source: str
    rules: Mapping[str, tuple[str, ...]]
    meaning: Mapping[str, str]
    substitutes: Mapping[str, tuple[str, str]]
    missing: Mapping[str, str]
    predicted: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    fractions: Mapping[str, float] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    errors: Mapping[str, str | float] = field(default_factory=dict)
    errors_of_substitutes: Mapping[str, str | float] = field(default_factory=dict)
    second_choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Fit:
    """Fit of one person's labels to a known set, for one chain and side.

    Attributes
    ----------
    known : KnownSet
        The set.
    side : str
        ``"left"``, ``"right"``, or empty where the labels do not say it.
    rules : dict of str to tuple of str
        Landmark -> labels as the file has them.
    missing : tuple of str
        Landmarks that the chain needs and neither a rule nor a substitute gives.
    predicted : dict of str to (str, str)
        Joint centres without markers that follow from other landmarks: kind and name of the rule.
    carried : dict of str to tuple of str
        Landmarks whose markers are in the static trial only: the cluster that carries them.
    """

    known: KnownSet
    side: str
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    predicted: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    carried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def labels_of(self, landmark: str) -> tuple[str, ...]:
        """Labels of a landmark, or of its substitute; empty without markers."""
        return self.rules.get(landmark) or self.rules.get(self.known.substitutes.get(landmark, ("",))[0], ())


@functools.cache
def known_sets() -> tuple[KnownSet, ...]:
    """All marker sets of the package, those preferred first."""
    return tuple(_load(BUILT_IN / f"{name}.yaml") for name in PREFERRED)


def _load(path: Path) -> KnownSet:
    raw = read_yaml(path)
    rows: dict[str, dict[str, Any]] = raw["landmarks"]
    incomplete = [name for name, row in rows.items() if not {"rule", "is"} <= set(row)]
    if incomplete:
        raise SettingsError(f"{path.name}: landmark {', '.join(incomplete)} needs 'rule:' and 'is:'")
    rules: dict[str, tuple[str, ...]] = {}
    predicted: dict[str, tuple[str, str]] = {}
    fractions: dict[str, float] = {}
    for name, row in rows.items():
        rule, otherwise = row["rule"], row.get("else", {})
        if isinstance(rule, dict) and "between" in rule:
            fractions[name], rule = rule["fraction"], rule["between"]
        if isinstance(rule, dict):
            otherwise = rule
        else:
            rules[name] = (rule,) if isinstance(rule, str) else tuple(rule)
        predicted |= {name: next(iter(otherwise.items()))} if otherwise else {}
    substitutes = raw.get("substitutes", {})
    return KnownSet(
        name=path.stem,
        title=raw["title"],
        source=raw["source"],
        rules=rules,
        meaning={name: row["is"] for name, row in rows.items()},
        substitutes={name: (row["by"], row["why"]) for name, row in substitutes.items()},
        missing=raw.get("missing", {}),
        predicted=predicted,
        fractions=fractions,
        without=tuple(raw.get("without", ())),
        errors={name: row["error"] for name, row in rows.items() if "error" in row},
        errors_of_substitutes={name: row["error"] for name, row in substitutes.items() if "error" in row},
        second_choices={name: row["or_by"] for name, row in substitutes.items() if "or_by" in row},
    )


def needed_landmarks(model: ChainModel) -> tuple[str, ...]:
    """Landmarks that a chain needs: joints, end, and ends of measured segments.

    Examples
    --------
    >>> from limbtorque.study.chains import ARM
    >>> needed_landmarks(ARM)
    ('glenohumeral_axis', 'elbow_axis', 'wrist_axis', 'knuckle_2_middle_finger', 'ulnar_styloid')
    """
    names = [*(joint.landmark for joint in model.joints), model.end]
    for segment in model.segments:
        row = DEMPSTER_WINTER[segment.row]
        names += [row.proximal, row.distal]
    return tuple(dict.fromkeys(names))


@functools.lru_cache(maxsize=10_000)
def fold(text: str) -> str:
    """Label in lower case, letters and digits only.

    >>> fold("Knee.Lat")
    'kneelat'
    """
    return re.sub(r"[\W_]+", "", text).casefold()


@functools.lru_cache(maxsize=10_000)
def sided(label: str) -> tuple[tuple[str, str, str], ...]:
    """Possible sides of a label: side, rest of the label, template (may be empty).

    Examples
    --------
    >>> sided("RELB")
    (('right', 'elb', '{S}ELB'),)
    >>> sided("knee_left"), sided("Right knee")
    ((('left', 'knee', 'knee_{side}'),), (('right', 'knee', '{side} knee'),))
    >>> sided("T10")
    ()
    """
    ways: dict[tuple[str, str], str] = {}
    for pattern in _SIDED:
        match = pattern.fullmatch(label)
        if match and fold(match["rest"]):
            side = match["side"]  # a word in any case: labels are found in either
            template = _TEMPLATES.get(side if len(side) == 1 else side.casefold(), "")
            whole = label[: match.start("side")] + template + label[match.end("side") :] if template else ""
            ways.setdefault((SIDE_WORDS[match["side"].casefold()], fold(match["rest"])), whole)
    return tuple((side, rest, template) for (side, rest), template in ways.items())


def wanted_landmarks(known: KnownSet, model: ChainModel) -> set[str]:
    """Landmarks that a chain needs, and those that stand for them in a set.

    Examples
    --------
    >>> from limbtorque.study.chains import ARM
    >>> marker_set = next(known for known in known_sets() if known.name == "plug_in_gait_markers")
    >>> sorted(wanted_landmarks(marker_set, ARM) - {*needed_landmarks(ARM)})
    ['acromion', 'head_of_metacarpal_3', 'lateral_epicondyle']
    """
    needed = needed_landmarks(model)
    return {*needed, *(by for name, (by, _) in known.substitutes.items() if name in needed)}


def template_of(label: str, side: str) -> str:
    """Label with its side as {S}, {s} or {side}, or unchanged."""
    return next((template for found, _, template in sided(label) if found == side and template), label)


def cluster_templates(cluster: Sequence[str], side: str) -> tuple[str, ...]:
    """Labels of a cluster with {S} for the side; unchanged if from both sides.

    >>> cluster_templates(["RTH1", "RTH2"], "right"), cluster_templates(["RASI", "LASI", "SACR"], "right")
    (('{S}TH1', '{S}TH2'), ('RASI', 'LASI', 'SACR'))
    """
    other = OPPOSITE.get(side, "")
    of_both = any(template_of(label, other) != label for label in cluster)
    return tuple(cluster) if of_both else tuple(template_of(label, side) for label in cluster)


def match_set(known: KnownSet, labels: Sequence[str], side: str) -> dict[str, tuple[str, ...]]:
    """Landmarks of a known set with all markers present, ignoring case.

    Parameters
    ----------
    known : KnownSet
        The set.
    labels : sequence of str
        Labels without their subject prefix.
    side : str
        ``"left"``, ``"right"``, or empty for sets that do not name one.

    Returns
    -------
    dict of str to tuple of str
        Landmark -> labels as the file has them. A name that two labels fit is left out.
    """
    index = _index(tuple(labels))
    rules = {}
    for landmark, templates in known.rules.items():
        hits = [_hits(template, index, "" if landmark in UNSIDED else side) for template in templates]
        if all(len(found) == 1 for found in hits):
            rules[landmark] = tuple(found[0] for found in hits)
    return rules


def predicted_centres(
    known: KnownSet, rules: Mapping[str, tuple[str, ...]], others: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, str]]:
    """Predicted joint centres of a side, if their landmarks exist on both sides.

    Parameters
    ----------
    known : KnownSet
        The set.
    rules, others : mapping of str to tuple of str
        Landmarks of the side and of the other one, from `match_set`.
    """
    return {
        name: (kind, rule)
        for name, (kind, rule) in known.predicted.items()
        if name not in rules and any(set(parts) <= set(rules) & set(others) for parts in PARTS[kind])
    }


@functools.cache
def _words() -> Mapping[str, re.Pattern[str]]:
    """Pattern of the folded names that each word of the last set stands for."""
    raw = read_yaml(BUILT_IN / f"{LAST}.yaml")

    def pattern(name: str) -> str:
        texts = [f"(?:{raw['parts'].get(part, part)})" for part in name.split()]
        either = all(part in raw["parts"] for part in name.split())
        return f"{''.join(texts)}|{''.join(reversed(texts))}" if either else "".join(texts)

    return {fold(word): re.compile("|".join(map(pattern, names))) for word, names in raw["words"].items()}


@functools.lru_cache(maxsize=64)  # the recordings of a session have the same labels
def _index(labels: tuple[str, ...]) -> Mapping[tuple[str, str], list[str]]:
    """Labels by side and folded name.

    Labels that occur twice are ambiguous and left out.
    """
    index: dict[tuple[str, str], list[str]] = {}
    for label in (label for label, number in Counter(labels).items() if number == 1):
        for found, rest, _ in sided(label):
            index.setdefault((found, rest), []).append(label)
            for word in (word for word, names in _words().items() if names.fullmatch(rest)):
                index.setdefault((found, f"~{word}"), []).append(label)
        index.setdefault(("", fold(label)), []).append(label)
        for word in (word for word in UNSIDED if _words()[word].fullmatch(fold(label))):
            index.setdefault(("", f"~{word}"), []).append(label)
    return index


def _hits(template: str, index: Mapping[tuple[str, str], list[str]], side: str) -> list[str]:
    has_side = "{" in template
    if has_side != bool(side):
        return []
    name = "~" * ("~" in template) + fold(template.replace("{S}", ""))
    found = list(dict.fromkeys(index.get((side, name), [])))
    spelled = template.replace("{S}", side[:1].upper())
    return [spelled] if spelled in found else found


def fits(labels: Sequence[str], model: ChainModel) -> list[Fit]:
    """Fits of all known sets to a person's labels, best first.

    Parameters
    ----------
    labels : sequence of str
        Labels without their subject prefix.
    model : ChainModel
        The chain.

    Returns
    -------
    list of Fit
        Fits with at least half of the chain's joints; both sides of one set stand together.
    """
    return list(_fits(tuple(labels), model))


@functools.lru_cache(maxsize=256)  # as of `_index`
def _fits(labels: tuple[str, ...], model: ChainModel) -> tuple[Fit, ...]:
    needed = needed_landmarks(model)
    centres = [*(joint.landmark for joint in model.joints), model.end]
    found: list[Fit] = []
    for known in known_sets():
        if known.name == LAST and any(not fit.missing for fit in found):
            break
        matched = {side: match_set(known, labels, side) for side in ("right", "left", "")}
        for side, rules in matched.items():
            other = matched[OPPOSITE.get(side, "")]
            predicted = predicted_centres(known, rules, other) if side else {}
            chosen = _with_second_choices(known, rules, labels, side)
            missing = tuple(name for name in needed if not _given(name, {*rules, *predicted}, chosen))
            if sum(name not in missing for name in centres) * 2 >= len(centres) and (known.name != LAST or not missing):
                found.append(Fit(chosen, side, rules, missing, predicted))
    return tuple(sorted(found, key=lambda fit: len(fit.missing)))


def _with_second_choices(known: KnownSet, rules: Collection[str], labels: tuple[str, ...], side: str) -> KnownSet:
    """Set with the second choices of landmarks whose substitute no label names."""
    index, second = _index(labels), dict[str, tuple[str, str]]()
    for name, by in known.second_choices.items():
        substitute, why = known.substitutes[name]
        if by in rules and not any(_hits(template, index, side) for template in known.rules[substitute]):
            second[name] = by, why
    return replace(known, substitutes={**known.substitutes, **second}) if second else known


def fits_without_end(labels: Sequence[str], chain: str) -> list[Fit]:
    """Complete fits of the largest set, for a chain without hand or foot.

    Only sets that never include the hand or foot are used; with others, the user names the markers.

    Parameters
    ----------
    labels : sequence of str
        Labels without their subject prefix.
    chain : str
        ``"arm_without_hand"`` or ``"leg_without_foot"``.

    Returns
    -------
    list of Fit
        One for each side.
    """
    whole = [fit for fit in fits(labels, CHAINS[chain]) if not fit.missing and chain in fit.known.without]
    best = max(whole, key=lambda fit: len(fit.rules), default=None)
    return [fit for fit in whole if best and fit.known.name == best.known.name]


def _given(landmark: str, rules: Collection[str], known: KnownSet) -> bool:
    return landmark in rules or known.substitutes.get(landmark, ("",))[0] in rules

"""Captions of a study's figures: quantities, units, signs, colours and lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from limbtorque.figures.mean_figures import condition_colours, drawn_quantities, mean_counts, missing_means
from limbtorque.figures.palette import (
    ABSORBED,
    CHOSEN,
    COLOUR_NAMES,
    CRITERION,
    EDGE,
    GENERATED,
    LINE_COLOURS,
    RESIDUAL,
    SHADE_NAMES,
    TERM_COLOURS,
    UNKNOWN,
)
from limbtorque.figures.templates import fill
from limbtorque.figures.terms import TERM_MEANINGS, TERM_NAMES
from limbtorque.statistics.wording import spread_phrase

COLOURS = {
    "edge": SHADE_NAMES[EDGE],
    "unknown": SHADE_NAMES[UNKNOWN],
    "generated": COLOUR_NAMES[GENERATED],
    "absorbed": COLOUR_NAMES[ABSORBED],
    "muscle": COLOUR_NAMES[LINE_COLOURS[0]],
    "envelope": COLOUR_NAMES[LINE_COLOURS[8]],
    "residual": COLOUR_NAMES[RESIDUAL],
    "criterion": COLOUR_NAMES[CRITERION],
    "chosen": COLOUR_NAMES[CHOSEN],
}


@dataclass(frozen=True)
class Captioned:
    """Values that the captions of a study need.

    Attributes
    ----------
    joints : dict of str to sequence of str
        Joints of each chain of the study.
    terms : dict of str to collection of str
        Kinds of torque terms that are not zero throughout, of the trials of each chain.
    kinds : collection of str
        Figures that are drawn, of trials and of the study.
    min_units : int
        Least number of units of a mean (`ensembles.min_units`).
    curves : pandas.DataFrame or None
        `results/ensembles.csv`.
    percent : dict of str to str
        Meaning of 0 to 100 % of the mean curves of each chain.
    held : dict of str to str
        Number of trials in the means of each chain, by status.
    missing : dict of str to str
        Sentence on the trials of each chain without a curve; empty where all have one.
    uneven : dict of str to sequence of str
        Sentences on means of trials that differ in how much of their stance has a known ground force, of each chain.
    ground : bool
        Whether a chain meets the ground: its force may not be known.
    ranges : tuple of int
        Number of trials with ranges of the muscle forces (`muscles.ranges`), and with muscle forces.
    bands : bool
        Some trial has the uncertainty of its torques frame by frame (`torques.bands`).
    only_flagged : bool
        The figure of the cut-off is of trials with a flag that concerns it (`flagged_cutoff` in `figures.kinds`).
    panels : dict of str to (sequence of str, sequence of str)
        Joints and rows of the mean curves of each chain, where not all are drawn.
    """

    joints: Mapping[str, Sequence[str]]
    terms: Mapping[str, Collection[str]]
    kinds: Collection[str]
    min_units: int
    curves: pd.DataFrame | None = None
    percent: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    uneven: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ground: bool = False
    ranges: tuple[int, int] = (1, 1)
    bands: bool = False
    only_flagged: bool = False
    panels: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)


def captions(study: Captioned) -> str:
    """Captions of all figures of a study, in Markdown.

    Parameters
    ----------
    study : Captioned
        What is drawn.

    Returns
    -------
    str
        Text of ``captions.md.jinja``; only terms that some trial has are defined.
    """
    return fill(
        "figures/captions.md.jinja",
        study=study,
        terms=[kind for kind in TERM_NAMES if any(kind in there for there in study.terms.values())],
        names=TERM_NAMES,
        meanings=TERM_MEANINGS,
        colours=COLOURS,
        colour_of=lambda term: COLOUR_NAMES[TERM_COLOURS[term]],
        joint_colours=lambda joints: [(joint, COLOUR_NAMES[c]) for joint, c in zip(joints, LINE_COLOURS, strict=False)],
        means_of=lambda chain: means(study, chain),
    )


def means(study: Captioned, chain: str) -> dict[str, Any]:
    """Mean curves of a chain, as their captions describe them.

    Parameters
    ----------
    study : Captioned
        The study.
    chain : str
        The chain.

    Returns
    -------
    dict
        The drawn ``quantities`` with their units and ``joints``; ``counts`` of subjects and trials by condition and side, where there is a mean;
        the units of mean and spread after "over" (``spread``), and one of them (``unit``); a sentence on means of too few
        (``too_few``); the colours of ``conditions`` and lines of ``sides``; whether some number of trials is ``varying``, some net
        torque has a mean (``has_torques``, in ``torque_unit``) and some error is known (``errors``); and the ``terms`` whose mean
        is not zero throughout: a trial without a curve may have had others.
    """
    assert study.curves is not None
    curves = study.curves[study.curves["chain"] == chain]
    joints = study.joints[chain]
    units = dict(zip(curves["quantity"], curves["unit"], strict=True))
    panels = study.panels.get(chain, (joints,))
    drawn = drawn_quantities(curves, *panels)
    shown = {row: units[name] for (_, row), name in drawn.items()}
    counts = mean_counts(curves, list(drawn.values()))
    over = str(curves["spread_over"].iloc[0]) if len(curves) else "subjects"
    colours = condition_colours(curves)
    sides = {side for _, side in counts}
    torques = [name for name in units if "_torque_nm" in name]
    there = _terms_of_means(curves, joints)
    return {
        "quantities": [f"{'net ' * (row == 'torque')}{row} ({unit})" for row, unit in shown.items()],
        "joints": panels[0],
        "counts": {pair: of.words for pair, of in counts.items()},
        "spread": spread_phrase(over, int(curves["n_subjects"].max()) if len(curves) else 0),
        "unit": over.removesuffix("s"),
        "too_few": missing_means(curves, min_units=study.min_units),
        "conditions": {condition: COLOUR_NAMES[colours[condition]] for condition, _ in counts},
        "sides": {side: line for side, line in (("right", "solid"), ("left", "dashed")) if side in sides},
        "varying": any(of.fewest < of.most for of in counts.values()),
        "has_torques": bool(mean_counts(curves, torques)),
        "torque_unit": units[torques[0]] if torques else "N m",
        "terms": [kind for kind in TERM_NAMES if kind in there],
        "errors": bool(curves["mean_error"].notna().any()),
    }


def _terms_of_means(curves: pd.DataFrame, joints: Sequence[str]) -> set[str]:
    some = curves.loc[curves["mean"].abs() > 0.0, "quantity"].unique()
    starts = tuple(f"{joint}_torque_" for joint in joints)
    return {name.removeprefix(start).split("_")[0] for name in some for start in starts if name.startswith(start)}

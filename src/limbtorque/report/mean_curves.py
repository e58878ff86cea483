"""The mean curves of a study, as the index draws them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.figures.term_kinds import TERM_NAMES
from limbtorque.report.curve_data import decimals_for, fixed_point, largest_of
from limbtorque.report.panels import DASHES
from limbtorque.statistics.wording import count_words, spread_phrase, too_few
from limbtorque.uncertainty.bands import LIMITS

_QUANTITY = re.compile(
    r"(?P<joint>[a-z][a-z0-9_]*?)_(?P<what>angle|flexion|velocity|acceleration|torque|power)(?P<rest>_.+)?"
)
_UNIT_ENDINGS = ("_nm", "_deg", "_rad", "_w", "_rad_s", "_deg_s")
NAMES = {"flexion": "flexion", "torque": "net torque", "power": "power"}


def quantity_name(quantity: str) -> tuple[str, str]:
    """Joint and name of a quantity of the ensembles.

    Examples
    --------
    >>> quantity_name("elbow_torque_nm"), quantity_name("elbow_torque_gravity_nm")
    (('elbow', 'net torque'), ('elbow', 'torque: gravity'))
    >>> quantity_name("BRA_force_n")
    ('', 'BRA force n')
    """
    found = _QUANTITY.fullmatch(quantity)
    if not found:
        return "", quantity.replace("_", " ")
    rest = found["rest"] or ""
    for ending in _UNIT_ENDINGS:
        rest = rest.removesuffix(ending)
    if not rest:
        return found["joint"], NAMES.get(found["what"], found["what"])
    kind, _, by = rest.strip("_").partition("_")
    return found["joint"], f"{found['what']}: {TERM_NAMES.get(kind, kind)} {by.replace('_', ' ')}".rstrip()


def ensemble_data(
    rows: Iterable[Mapping[str, str]],
    uneven: Mapping[str, Sequence[str]] | None = None,
    axes: Mapping[str, str] | None = None,
    *,
    min_units: int = 1,
) -> dict[str, Any] | None:
    """Mean curves and standard deviations for the index's scripts; None without any.

    Parameters
    ----------
    rows : iterable of mapping
        Rows of `results/ensembles.csv`: a row for every quantity and per cent of the movement.
    uneven : mapping of str to sequence of str, optional
        Sentences on means of trials that differ in how much of their stance has a known ground force, of each chain.
    axes : mapping of str to str, optional
        Labels of the axis of 0 to 100 %, of each chain.
    min_units : int, optional
        `ensembles.min_units`.
    """
    groups: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in rows:
        key = (row["chain"], row["quantity"], row["unit"], row["condition"], row["side"])
        groups.setdefault(key, []).append(row)
    if not groups:
        return None
    drawn = list(dict.fromkeys((key[3], key[4]) for key in groups))
    conditions, sides = (list(dict.fromkeys(pair[k] for pair in drawn)) for k in (0, 1))
    styles = [
        {
            "name": ", ".join(filter(None, (condition, side))),
            "colour": LINE_COLOURS[conditions.index(condition) % len(LINE_COLOURS)],
            "dash": DASHES[
                (sides.index(side) + len(sides) * (conditions.index(condition) // len(LINE_COLOURS))) % len(DASHES)
            ],
        }
        for condition, side in drawn
    ]
    curves = [_curve(key, group, drawn.index((key[3], key[4]))) for key, group in groups.items()]
    notes = {chain: list(sentences) for chain, sentences in (uneven or {}).items()}
    about = {"uneven": notes, "axes": dict(axes or {}), **_units(groups, min_units)}
    return {"styles": styles, "curves": curves, **about}


def _units(groups: Mapping[tuple[str, ...], list[Mapping[str, str]]], min_units: int) -> dict[str, Any]:
    """Words for the units of the means, and the means of too few, by chain."""
    rows = [row for group in groups.values() for row in group]
    over = rows[0]["spread_over"]
    points: dict[str, list[tuple[str, str, float, int, int]]] = {}
    for row in rows:
        point = (_number(row["mean"]), int(row["n_subjects"]), int(row["n_trials"]))
        points.setdefault(row["chain"], []).append((row["condition"], row["side"], *point))
    short = {chain: too_few(some, spread_over=over, min_units=min_units) for chain, some in points.items()}
    return {
        "errors": any(row["mean_error"] for row in rows),
        "spread": spread_phrase(over, max(int(row["n_subjects"]) for row in rows)),
        "too_few": {chain: [text] for chain, text in short.items() if text},
    }


def _curve(key: tuple[str, ...], rows: list[Mapping[str, str]], style: int) -> dict[str, Any]:
    chain, quantity, unit, *_ = key
    mean, sd, error = (np.array([_number(row[name]) for row in rows]) for name in ("mean", "sd", "mean_error"))
    decimals = decimals_for(largest_of(mean, sd), 4)
    over = rows[0]["spread_over"]
    trials, subjects, rejected = ([int(row[name]) for row in rows] for name in ("n_trials", "n_subjects", "n_rejected"))
    units = subjects if over == "subjects" else trials
    shown = np.flatnonzero(~np.isnan(mean)).tolist()
    counted = {name: [of[k] for k in shown] or of for name, of in (("subjects", subjects), ("trials", trials))}
    joint, name = quantity_name(quantity)
    return {
        "chain": chain,
        "joint": joint,
        "quantity": quantity,
        "name": name,
        "unit": unit,
        "style": style,
        "number": f"{'' if shown else 'no mean: '}{count_words(over, **counted, rejected=rejected)}",
        "most": max(counted["trials"]),
        "counts": [] if min(trials) == max(trials) else trials,
        "drawn": bool(shown),
        "unit_counts": units[:1] if min(units) == max(units) else units,  # one for all points where they are alike
        "units": over,
        "percent": fixed_point(np.array([_number(row["percent"]) for row in rows]), 1),
        "mean": fixed_point(mean, decimals),
        "sd": fixed_point(sd, decimals),
        "limit": None if np.isnan(error).all() else fixed_point(LIMITS * error, decimals),
    }


def _number(text: str) -> float:
    return float(text) if text else math.nan

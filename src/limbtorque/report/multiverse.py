"""Page of the multiverse: what a finding depends on, in sentences and tables."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.figures.multiverse_figures import Specifications
from limbtorque.report.page import page_template, style_sheet
from limbtorque.statistics.multiverse import spread_shares
from limbtorque.tables.column import counted, listed

PAGE = page_template("report/multiverse.html.jinja")
Row = Mapping[str, Any]
LEAST_SHARE = 0.005  # of the spread, in the table
TERM_HEADS = (
    "term",
    "options of the study",
    "least",
    "largest",
    "same sign",
    "interval without 0",
    "p over all, adjusted",
)
SHARE_HEADS = ("option", "share of the spread")


@dataclass(frozen=True)
class OutcomePart:
    """An outcome on the page.

    Attributes
    ----------
    rows : sequence of mapping
        Its rows of `results/multiverse.csv`, those of its terms last.
    specifications : Specifications
        Its universes.
    picture : bytes
        Specification curve as PNG; empty where there is none.
    """

    rows: Sequence[Row]
    specifications: Specifications
    picture: bytes = b""


def multiverse_page(
    parts: Sequence[OutcomePart], *, title: str, choices: Mapping[str, Sequence[str]], n_universes: int
) -> str:
    """Text of the page.

    Parameters
    ----------
    parts : sequence of OutcomePart
        Outcomes of all contrasts.
    title : str
        Name of the study.
    choices : mapping of str to sequence of str
        Options with their values, that of the study first.
    n_universes : int
        Number of universes.
    """
    return PAGE.render(
        title=f"{title}: multiverse",
        study_title=title,
        style=style_sheet(),
        choices=[(option, listed(values)) for option, values in choices.items()],
        n_universes=n_universes,
        parts=[_part(part) for part in parts],
        term_heads=TERM_HEADS,
        share_heads=SHARE_HEADS,
    )


def _part(part: OutcomePart) -> dict[str, Any]:
    """Sentences, picture and tables of an outcome."""
    first = part.rows[0]
    joint = f"{first['joint']} " if first["joint"] not in first["outcome"] else ""
    terms = {
        term: [row for row in part.rows if row["term"] == term] for term in dict.fromkeys(r["term"] for r in part.rows)
    }
    return {
        "heading": f"{first['contrast']}: {joint}{first['outcome']}",
        "sentences": sentences(first, part.specifications),
        "picture": base64.b64encode(part.picture).decode(),
        "unit": first["unit"],
        "terms": [_term_cells(term, rows) for term, rows in terms.items()] if len(terms) > 1 else [],
        "shares": share_rows(part.specifications),
    }


def _term_cells(term: str, rows: Sequence[Row]) -> tuple[str, ...]:
    estimates = np.array([row["estimate"] for row in rows])
    agreeing = sum(np.sign(estimates) == np.sign(estimates[0]))
    clear = sum(row["low"] > 0.0 or row["high"] < 0.0 for row in rows)
    numbers = (estimates[0], np.fmin.reduce(estimates), np.fmax.reduce(estimates))
    counts = (f"{count} of {len(rows)}" for count in (agreeing, clear))
    return (term, *map(_number, numbers), *counts, _number(rows[0]["p_multiverse_adjusted"], 2))


def _number(value: float, digits: int = 3) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}g}"


def sentences(first: Row, each: Specifications) -> list[str]:
    """Sentences on an outcome.

    Parameters
    ----------
    first : mapping
        Row of the study's own options.
    each : Specifications
        All universes.
    """
    n, clear, agreeing = len(each.estimate), each.clear, each.agreeing
    limits = f"{_number(first['low'])} to {_number(first['high'])}"
    texts = [
        f"With the options of the study the difference is {_number(first['estimate'])} {first['unit']} ({limits}); over "
        f"{counted(n, 'universe')} it goes from {_number(np.fmin.reduce(each.estimate))} to {_number(np.fmax.reduce(each.estimate))}. "
        f"The sign is the same in {int(agreeing.sum())}, the interval without 0 in {int(clear.sum())}."
    ]
    if clear[0]:
        fails = ~(clear & agreeing)
        where = f"; not where {where_words(fails, each)}" if fails.any() else ""
        texts.append(
            f"The finding (sign, and interval without 0) holds in {int((~fails).sum())} of {n} analyses{where}."
        )
    elif clear.any():
        texts.append(f"With the options of the study the interval has 0; without 0 where {where_words(clear, each)}.")
    else:
        texts.append("The interval has 0 in all analyses.")
    p = first["p_multiverse"]
    if np.isnan(p):
        texts.append(
            f"No test over all universes: {first['note'].removeprefix('not tested: ') or 'none of them is tested'}."
        )
    else:
        shows = "At least one analysis shows an effect" if p <= 0.05 else "No analysis shows an effect"
        texts.append(
            f"{shows}: p = {_number(p, 2)} over all universes, {_number(first['p_multiverse_adjusted'], 2)} adjusted for all outcomes "
            "and terms. This p is not that of the options of the study."
        )
    if (n_fewer := int((each.rejected > 0).sum())) and n > 1:
        texts.append(f"{counted(n_fewer, 'universe')} with trials rejected that the study accepts (white centres).")
    return texts


def where_words(mask: BoolArray, each: Specifications) -> str:
    """Fewest choices, alone or two together, in which all universes are in a mask.

    Parameters
    ----------
    mask : ndarray of bool, shape (n_universes,)
        Universes to describe.
    each : Specifications
        All universes.
    """
    words, covered = [], np.zeros(len(mask), dtype=bool)
    for together in (1, 2):
        for options in itertools.combinations(range(len(each.options)), together):
            for values in itertools.product(*(range(len(each.labels[option])) for option in options)):
                chosen = (each.places[:, options] == values).all(axis=1)
                if chosen.any() and mask[chosen].all() and not covered[chosen].all():
                    covered |= chosen
                    pairs = zip(options, values, strict=True)
                    words.append(" and ".join(f"{each.options[o]} is {each.labels[o][v]}" for o, v in pairs))
    others = int((mask & ~covered).sum())
    if others:
        words.append(f"in {counted(others, 'analysis').replace('analysiss', 'analyses')}{' more' if words else ''}")
    return ", or ".join(words)


def share_rows(each: Specifications) -> list[tuple[str, str]]:
    """Shares of the spread by option and pair of options, the largest first."""
    shape = [len(labels) for labels in each.labels]
    if not shape or np.isnan(each.estimate).any():
        return []
    shares = spread_shares(each.estimate.reshape(shape))
    rest = 1.0 - sum(shares.values())
    named = [(" with ".join(each.options[axis] for axis in axes), share) for axes, share in shares.items()]
    named += [("three and more options together", rest)] if shares else []
    listed_first = sorted((pair for pair in named if pair[1] >= LEAST_SHARE), key=lambda pair: -pair[1])
    return [(name, f"{100.0 * share:.0f} %") for name, share in listed_first]

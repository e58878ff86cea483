"""Page of the multiverse: what a finding depends on, in sentences and tables."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from limbtorque.figures.multiverse_figures import options_of
from limbtorque.report.page import page_template, style_sheet
from limbtorque.statistics.multiverse import spread_shares
from limbtorque.study.options.contrasts import LEVEL
from limbtorque.tables.column import counted, listed

PAGE = page_template("report/multiverse.html.jinja")
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


def multiverse_page(
    parts: Sequence[pd.DataFrame], pictures: Sequence[bytes], *, title: str, choices: Mapping[str, Sequence[str]]
) -> str:
    """Text of the page.

    Parameters
    ----------
    parts : sequence of pandas.DataFrame
        Rows of `results/multiverse.csv` of each outcome, those of its terms last.
    pictures : sequence of bytes
        Their specification curves as PNG.
    title : str
        Name of the study.
    choices : mapping of str to sequence of str
        Options with their values, that of the study first.
    """
    return PAGE.render(
        title=f"{title}: multiverse",
        study_title=title,
        style=style_sheet(),
        choices=[(option, listed(values)) for option, values in choices.items()],
        parts=[_part(rows, picture) for rows, picture in zip(parts, pictures, strict=True)],
        heads=(SHARE_HEADS, TERM_HEADS),
    )


def _part(rows: pd.DataFrame, picture: bytes) -> dict[str, Any]:
    """Sentences, picture and tables of an outcome."""
    first, terms = rows.iloc[0], rows.groupby("term", sort=False)
    joint = f"{first['joint']} " if first["joint"] not in first["outcome"] else ""
    return {
        "heading": f"{first['contrast']}: {joint}{first['outcome']}",
        "sentences": [*sentences(rows)],
        "picture": base64.b64encode(picture).decode(),
        "unit": first["unit"],
        "terms": [_term_cells(str(term), of_term) for term, of_term in terms] if len(terms) > 1 else [],
        "shares": share_rows(rows),
    }


def _clear(rows: pd.DataFrame) -> pd.Series[bool]:
    return (rows["low"] > 0.0) | (rows["high"] < 0.0)


def _agreeing(rows: pd.DataFrame) -> pd.Series[bool]:
    return pd.Series(np.sign(rows["estimate"]) == np.sign(rows["estimate"].iloc[0]))


def _term_cells(term: str, rows: pd.DataFrame) -> tuple[str, ...]:
    estimates = rows["estimate"]
    counts = (f"{each.sum()} of {estimates.count()}" for each in (_agreeing(rows), _clear(rows)))
    numbers = map(_number, (estimates.iloc[0], estimates.min(), estimates.max()))
    return (term, *numbers, *counts, _number(rows["p_multiverse_adjusted"].iloc[0], 2))


def _number(value: float, digits: int = 3) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}g}"


def sentences(rows: pd.DataFrame) -> Iterator[str]:
    """Sentences on an outcome, from its rows of `results/multiverse.csv`."""
    first = rows.iloc[0]
    universes = rows[rows["term"] == first["term"]]
    nothing = universes["estimate"].isna()
    rows = universes[~nothing]
    n, clear, estimates = len(rows), _clear(rows), rows["estimate"]
    holds = clear & _agreeing(rows)
    goes = f"over {n} universes it goes from {_number(estimates.min())} to {_number(estimates.max())}"
    if nothing.iloc[0]:
        yield f"With the options of the study there is no estimate{f'; {goes}' if n else ''}."
    else:
        yield (
            f"With the options of the study the difference is {_number(first['estimate'])} {first['unit']} ({_number(first['low'])} to "
            f"{_number(first['high'])}); {goes}, "
            f"of the same {counted(int(first['n_subjects']), 'subject')}. The sign is the same in {_agreeing(rows).sum()}, the interval without 0 in {clear.sum()}."
        )
    if nothing.any() and n:
        where = where_words(universes, nothing)
        yield f"There is no estimate in {nothing.sum()} of {len(universes)} universes, {where}; they are not counted."
    if nothing.iloc[0]:
        yield "No finding is there to be repeated."
    elif np.isnan(first["low"]):
        yield "With the options of the study there is no interval."
    elif clear.iloc[0]:
        where = "" if holds.all() else f"; not {where_words(rows, ~holds)}"
        yield f"The finding (sign, and interval without 0) holds in {holds.sum()} of {n} analyses{where}."
    else:
        yield f"With the options of the study the interval has 0{f'; without 0 {where_words(rows, clear)}' if clear.any() else ''}."
    p, adjusted, note = first["p_multiverse"], _number(first["p_multiverse_adjusted"], 2), first["note"]
    if np.isnan(p) or note.startswith("cannot"):
        yield f"Test over all universes: {note or 'nothing is tested'}."
    else:
        shows = "At least one analysis shows an effect" if p <= LEVEL else "The test over all universes shows no effect"
        yield (
            f"{shows}: p = {_number(p, 2)} over all universes ({adjusted} with all outcomes and terms of the family). This is not the p of "
            "the options of the study."
        )
        if note:
            yield f"{note[0].upper()}{note[1:]}."
    if lost := int((universes["n_lost"] > 0).sum()):
        yield f"In {lost} of {len(universes)} universes trials are rejected, or fail, that the study accepts (white centres)."


def where_words(rows: pd.DataFrame, mask: pd.Series[bool]) -> str:
    """Choices, alone or two together, in which all universes are in a mask.

    Examples
    --------
    >>> rows = pd.DataFrame({"filter.cutoff_hz": ["6", "6", "10", "10"], "motion.angles": ["a", "b", "a", "b"]})
    >>> where_words(rows, pd.Series([True, True, False, True]))
    'where filter.cutoff_hz is 6, or motion.angles is b'
    """
    words, rest = list[str](), mask.copy()
    for together in (1, 2):
        for names in map(list, itertools.combinations(options_of(rows), together)):
            for values, part in rows.groupby(names, sort=False):
                if mask[part.index].all() and rest[part.index].any():
                    rest[part.index] = False
                    pairs = zip(names, values, strict=True)
                    words.append(" and ".join(f"{name} is {value}" for name, value in pairs))
    others = [f"in {rest.sum()} {'other' if words else 'of them'}"] if rest.any() else []
    return " and ".join([*[f"where {', or '.join(words)}"] * bool(words), *others])


def share_rows(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Shares of the spread by option and pair of options, the largest first."""
    options, net = options_of(rows), rows[rows["term"] == rows["term"].iloc[0]]
    shape = [net[option].nunique() for option in options]
    shares = spread_shares(net["estimate"].to_numpy().reshape(shape)) if options else {}
    named = {" with ".join(options[axis] for axis in axes): share for axes, share in shares.items()}
    named |= {"three and more options together": 1.0 - sum(shares.values())} if shares else {}
    ordered = sorted(named.items(), key=lambda pair: -pair[1])
    return [(name, f"{100.0 * share:.0f} %") for name, share in ordered if share >= LEAST_SHARE]

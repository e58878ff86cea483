"""First page of the report: study, trial status, mean curves with their data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from limbtorque.figures.palette import LINE_COLOURS
from limbtorque.figures.terms import TERM_NAMES
from limbtorque.quality.check import Check
from limbtorque.quality.verdict import STATUSES
from limbtorque.report.bands import BAND_HEADS, band_table
from limbtorque.report.findings import P, findings
from limbtorque.report.page import (
    AFFECTS,
    BY_FLAG,
    REASONS,
    amount,
    decimals_for,
    fixed_point,
    largest_of,
    number,
    page_template,
    value_of,
)
from limbtorque.report.panels import DASHES
from limbtorque.statistics.wording import count_words, spread_phrase, too_few
from limbtorque.tables.column import capital
from limbtorque.tables.study_columns import BOTH, STANCE
from limbtorque.uncertainty.bands import LIMITS

PAGE = page_template("report/index.html.jinja")
Row = Mapping[str, str]
SCRIPTS = ("base.js", "table.js")
CURVE_SCRIPTS = ("plots.js", "mean_curves.js", "plotly.min.js")
EXTREMES = {"max_nm_kg": "maximum", "min_nm_kg": "minimum"}


def index_page(
    ledger: Sequence[Row],
    provenance: Mapping[str, Any],
    *,
    files: Mapping[str, str],
    ensembles: Mapping[str, Any] | None = None,
    missing: Mapping[str, str] | None = None,
    held: Mapping[str, str] | None = None,
    emg: Sequence[Row] = (),
    means: Sequence[Row] = (),
    summary: Iterable[Mapping[str, Any]] = (),
    contrasts: Sequence[Row] = (),
    pictures: Mapping[str, str] | None = None,
) -> str:
    """Text of the first page, determined by the tables alone.

    Parameters
    ----------
    ledger : sequence of mapping
        Rows of `results/ledger.csv`, as text, each with ``page``, the path of its trial's page from this one, and ``subject_page``,
        that of its subject's page beside the reference, if there is one.
    provenance : mapping
        Content of `results/provenance.json`.
    files : mapping of str to str
        Tables of the study: text and path from the page.
    ensembles : mapping, optional
        Result of `ensemble_data`.
    missing : mapping of str to str, optional
        Sentence on the trials of each chain without a curve; empty where all have one.
    held : mapping of str to str, optional
        Sentence on the status of the trials in the means of each chain; empty without any.
    emg : sequence of mapping, optional
        Rows of `results/emg_by_muscle.csv`, as text.
    means : sequence of mapping, optional
        Rows of `results/summary_by_condition.csv`, as text.
    summary : iterable of mapping, optional
        Rows of `results/summary.csv` of net torques, with the columns of `bands.BAND_COLUMNS`.
    contrasts : sequence of mapping, optional
        Rows of `results/contrasts.csv`, as text.
    pictures : mapping of str to str, optional
        Contrasts with a picture, and its path from the page.
    """
    title = provenance["settings"].get("title") or "Study without a title"
    rows = [_shown(row) for row in ledger]
    status = Counter(row["status"] for row in ledger)
    curves = ensembles["curves"] if ensembles else []
    drawn = {curve["chain"] for curve in curves if curve["drawn"]}  # a chain without any mean has a sentence only
    n_chains = len({curve["chain"] for curve in curves})
    return PAGE.render(
        root="",
        scripts=(*SCRIPTS, *(CURVE_SCRIPTS if drawn else ())),
        title=f"{title}: report",
        study_title=title,
        provenance=provenance,
        ledger=rows,
        names_of=lambda name: _counted_names(Counter(row[name] for row in rows)),
        counts=[(name, status[name], 100.0 * status[name] / max(len(ledger), 1)) for name in STATUSES],
        flags=_flags(rows, provenance["settings"]["quality"]),
        failures=_failures(rows),
        affects=AFFECTS,
        selects=_selects(rows, status),
        ensembles={**(ensembles or {}), "curves": [curve for curve in curves if curve["chain"] in drawn]}
        if drawn
        else None,
        **{
            name: _of_chains({chain: [text] for chain, text in texts.items() if text}, len(texts), ": ")
            for name, texts in (("missing", missing or {}), ("held", held or {}))
        },
        varying=any(curve["counts"] for curve in curves),
        uneven=_of_chains(ensembles["uneven"], n_chains, ". ") if ensembles else [],
        too_few=_of_chains(ensembles["too_few"], n_chains, ": ") if ensembles else [],
        files=files,
        emg=_emg_rows(emg),
        net=_net_rows(means, contrasts),
        band_heads=BAND_HEADS,
        bands=band_table(summary),
        findings=findings(contrasts) if contrasts else None,
        pictures=pictures or {},
        spread_over=next((row["spread_over"] for row in means), ""),
    )


def _net_rows(rows: Sequence[Row], contrasts: Sequence[Row]) -> list[tuple[str, ...]]:
    """Cells of extremes of net torques, a row for each joint, with its contrasts."""
    extremes: dict[tuple[str, ...], dict[str, Row]] = {}
    levels = {row[name] for row in rows for name in ("condition", "side")}
    for row in rows:
        if row["term"] == "net" and row["statistic"] in EXTREMES and row["mean"]:
            group = tuple(row[name] for name in ("chain", "condition", "side", "window", "joint"))
            extremes.setdefault(group, {})[row["statistic"]] = row
    return [
        (
            *group,
            *(number(both[name][column], ".3f") for name in EXTREMES for column in ("mean", "sd", "mean_error")),
            *(next(iter(both.values()))[name] for name in ("n_subjects", "n_trials")),
            *["; ".join(_beside(next(iter(both.values())), contrasts, levels))] * bool(contrasts),
        )
        for group, both in extremes.items()
        if len(both) == len(EXTREMES)
    ]


def _beside(row: Row, contrasts: Sequence[Row], levels: set[str]) -> Iterator[str]:
    """Contrasts of the extremes of a net torque: means and adjusted p.

    Those of other conditions and sides are left out.
    """
    outcomes = {f"{each}{', stance' * (row['window'] == STANCE)}": name for each, name in EXTREMES.items()}
    for each in contrasts:
        compared = {each["first"], each["second"]}
        concerns = compared & {row["condition"], row["side"]} or not compared & levels
        alike = all(each[name] == row[name] for name in ("chain", "joint", "term"))
        if concerns and alike and each["outcome"] in outcomes and each["estimate"]:
            means = f"{number(each['mean_first'])} and {number(each['mean_second'])}"
            p = f"p {number(each['p_adjusted'], P)}" if each["p_adjusted"] else "not tested"
            yield f"{each['contrast']}, {outcomes[each['outcome']]}: {means}, {p}"


def _emg_rows(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Cells of muscles compared in any trial."""
    return [
        (
            *(row[name] for name in ("chain", "window", "muscle", "n_subjects", "n_trials")),
            *(number(row[name], ".2f") for name in ("r", "min_r", "max_r", "rms", "neighbour_r")),
            number(row["lag_s"], ".0f", 1e3),
            number(row["own_best_share"], ".0f", 100.0),
        )
        for row in rows
        if int(row["n_trials"])
    ]


def _shown(row: Row) -> dict[str, Any]:
    """Row of the ledger with the texts of its cells."""
    words = row["reason"].split()
    noise_mm = number(row["noise_m"], ".3f", 1e3)
    small = noise_mm == "0.000"  # sorted by its number, which is beside what is shown
    return {
        **row,
        "limb": f"{row['side']} {row['chain']}",
        "flags": [word for word in words if word in BY_FLAG],
        "kinds": [word for word in words if word not in BY_FLAG],
        "reasons": sorted(words, key=lambda word: word in BY_FLAG),
        "cutoff_hz": number(row["cutoff_hz"], ".2f"),
        "noise_mm": "< 0.001" if small else noise_mm,
        "exact_noise": f"{1e3 * float(row['noise_m']):.2g}" if small else "",
    }


def _counted_names(counts: Mapping[str, int], at_most: int = 12) -> str:
    """Names with their number of trials; long lists are shortened.

    Examples
    --------
    >>> _counted_names({"slow": 2, "": 1})
    '2: slow (2), none given (1)'
    """
    names = [f"{name or 'none given'} ({count})" for name, count in list(counts.items())[:at_most]]
    more = [f"and {len(counts) - at_most} more"] if len(counts) > at_most else []
    return f"{len(counts)}: {', '.join([*names, *more])}"


def _flags(
    rows: Sequence[Mapping[str, Any]], thresholds: Mapping[str, Any]
) -> list[tuple[str, int, list[tuple[str, int]], list[tuple[Check, str]]]]:
    """Raised flags, the most frequent first.

    The flag, its number of trials, their numbers by status, and its checks with their thresholds.
    """
    counts = Counter(name for row in rows for name in row["flags"])
    rejecting = Counter(name for row in rows for name in row["rejected_by"].split())
    flags = []
    for name, count in counts.most_common():
        by = {"caution": count - rejecting[name], "rejected": rejecting[name]}
        limits = [
            (
                check,
                _threshold(thresholds.get(check.name, 0.0) if check.threshold is None else check.threshold, check.unit),
            )
            for check in BY_FLAG[name]
        ]
        flags.append((name, count, [(status, number) for status, number in by.items() if number], limits))
    return flags


def _threshold(given: float | Mapping[str, float], unit: str) -> str:
    """Threshold with its unit, or thresholds of all joints."""
    if isinstance(given, Mapping):
        return ", ".join(f"{joint} {amount(value, unit)}".strip() for joint, value in given.items())
    return amount(float(given), unit)


def _failures(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, int, str]]:
    """Kinds of failure: name, number of trials and advice, the most frequent first."""
    counts = Counter(kind for row in rows if row["status"] == "failed" for kind in row["kinds"])
    return [(kind, count, REASONS.get(kind, REASONS["trial"])) for kind, count in counts.most_common()]


def _selects(rows: Sequence[Mapping[str, Any]], status: Mapping[str, int]) -> list[tuple[str, str, list[str]]]:
    """Filters of the table of trials: name, label and choices."""
    reasons = Counter(name for row in rows for name in (*row["flags"], *row["kinds"]))
    return [
        ("status", "Status", [name for name in STATUSES if status.get(name)]),
        ("condition", "Condition", list(dict.fromkeys(row["condition"] for row in rows))),
        ("reason", "Flag or failure", [name for name, _ in reasons.most_common()]),
    ]


def _of_chains(texts: Mapping[str, Sequence[str]], n_chains: int, between: str) -> list[str]:
    """Sentences for chains, with chain names if there are several."""
    return [
        capital(chain) + between + text if n_chains > 1 else text
        for chain, sentences in texts.items()
        for text in sentences
    ]


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
    parts = _QUANTITY.fullmatch(quantity)
    if not parts:
        return "", quantity.replace("_", " ")
    rest = parts["rest"] or ""
    for ending in _UNIT_ENDINGS:
        rest = rest.removesuffix(ending)
    if not rest:
        return parts["joint"], NAMES.get(parts["what"], parts["what"])
    kind, _, by = rest.strip("_").partition("_")
    return parts["joint"], f"{parts['what']}: {TERM_NAMES.get(kind, kind)} {by.replace('_', ' ')}".rstrip()


def ensemble_data(
    rows: Iterable[Mapping[str, str]],
    uneven: Mapping[str, Sequence[str]] | None = None,
    axes: Mapping[str, str] | None = None,
    *,
    min_units: int = 1,
) -> dict[str, Any] | None:
    """Mean curves and standard deviations for the scripts of the first page, or None.

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
    drawn = list(dict.fromkeys((key[0], *key[3:]) for key in groups))
    styles = [
        _style(condition, side, [*dict.fromkeys(d[1] for d in drawn if d[0] == chain)])
        for chain, condition, side in drawn
    ]
    curves = [
        _curve(key, group, drawn.index((key[0], *key[3:])))
        | {"averaged": key[4] == BOTH if (key[0], key[3], BOTH) in drawn else None}
        for key, group in groups.items()
    ]
    notes = {chain: list(sentences) for chain, sentences in (uneven or {}).items()}
    about = {"uneven": notes, "axes": dict(axes or {}), **_units(groups, min_units)}
    return {"styles": styles, "curves": curves, **about}


def _style(condition: str, side: str, conditions: Sequence[str]) -> dict[str, str]:
    """Style of mean curves: colours by condition, dashes by side."""
    turn, place = divmod(conditions.index(condition), len(LINE_COLOURS))
    name = ", ".join(filter(None, (condition, "both sides" if side == BOTH else side)))
    return {"name": name, "colour": LINE_COLOURS[place], "dash": DASHES[((side == "left") + 2 * turn) % len(DASHES)]}


def _units(groups: Mapping[tuple[str, ...], list[Mapping[str, str]]], min_units: int) -> dict[str, Any]:
    """Text on the units of means, and means with too few units, by chain."""
    rows = [row for key, group in groups.items() for row in group if key[-1] != BOTH]
    over = rows[0]["spread_over"]
    points: dict[str, list[tuple[str, str, float, int, int]]] = {}
    for row in rows:
        point = (value_of(row["mean"]), int(row["n_subjects"]), int(row["n_trials"]))
        points.setdefault(row["chain"], []).append((row["condition"], row["side"], *point))
    short = {chain: too_few(of_chain, spread_over=over, min_units=min_units) for chain, of_chain in points.items()}
    return {
        "units": over,
        "errors": any(row["mean_error"] for row in rows),
        "spread": spread_phrase(over, max(int(row["n_subjects"]) for row in rows)),
        "too_few": {chain: [text] for chain, text in short.items() if text},
    }


def _curve(key: tuple[str, ...], rows: list[Mapping[str, str]], style: int) -> dict[str, Any]:
    chain, quantity, unit, *_ = key
    mean, sd, error = (np.array([value_of(row[name]) for row in rows]) for name in ("mean", "sd", "mean_error"))
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
        "percent": fixed_point(np.array([value_of(row["percent"]) for row in rows]), 1),
        "mean": fixed_point(mean, decimals),
        "sd": fixed_point(sd, decimals),
        "limit": None if np.isnan(error).all() else fixed_point(LIMITS * error, decimals),
    }

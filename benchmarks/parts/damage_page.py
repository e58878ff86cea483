"""Tables of the damage benchmark, from the rows of `damages.py`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from parts.damage_kinds import KINDS
from parts.damage_roc import area, interval, threshold

from limbtorque.quality.checks import CHECKS
from limbtorque.quality.verdict import STATUSES
from limbtorque.study.options.quality import Quality

TOO_MUCH = 0.10  # error relative to the range that makes a trial bad
LEAST_KNOWN = 0.5  # of the window's frames with a torque: trials with fewer give too little to be judged
FALSE_ALARMS = 0.01  # of one metric on undamaged trials, of the fitting half
MARGIN = 1.5  # of a fitted threshold above the undamaged trials
UNSEEN = 0.75  # largest area of a kind that counts as not seen: the best of thirty metrics reaches 0.6 by chance
DRAWS = 400
FAMILIES = {"walk": "walks", "reach": "reaches"}


def page_tables(rows: pd.DataFrame) -> dict[str, str]:
    """Markdown tables by their name in the page."""
    rows = prepared(rows)
    fitted, reported = rows[rows.half == "fitting"], rows[rows.half == "reporting"]
    reported = fitted if reported.empty else reported  # the few subjects of --quick are all of one half
    return {
        "counts": counts(rows),
        "verdict": verdict_table(reported),
        "unseen": unseen_list(reported),
        "kinds": kind_table(reported),
        "metrics": metric_table(fitted, reported),
        "costs": cost_table(reported),
    }


def prepared(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the half of their subject, whether they are bad, and their place in the order of verdicts."""
    number = rows.subject.str[1:].astype(int)
    torque = rows.known.fillna(0.0) >= LEAST_KNOWN
    return rows.assign(
        half=np.where(number // 4 % 2 == 0, "fitting", "reporting"),
        family=np.where(rows.task == "walk", "walk", "reach"),
        judged=torque,
        bad=torque & (rows.error > TOO_MUCH),
        bad_somewhere=torque & (rows.peak > TOO_MUCH),
        order=rows.status.map(STATUSES.index).astype(float),
    )


def movement_tables(rows: pd.DataFrame) -> str:
    """Verdict for each movement."""
    judged = prepared(rows)
    judged = judged[judged.judged]
    names = list(dict.fromkeys(judged.task))
    lines = [
        "| movement | undamaged trials | of them `ok` | largest error | damaged, bad | of them flagged | area, visible kinds | area against undamaged trials |",
        "| --- " * 8 + "|",
    ]
    for name in names:
        own = judged[judged.task == name]
        calm, bad = own[own.kind == "none"], own[own.bad & (own.kind != "none")]
        seen = [kind for (_, kind), told in visible(own).items() if told]
        part = own[own.kind.isin(["none", *seen])]
        against = part[part.bad | (part.kind == "none")]
        cells = (
            name,
            str(len(calm)),
            _percent((calm.order == 0).mean()),
            _percent(calm.error.max()),
            str(len(bad)),
            _percent((bad.order > 0).mean()),
            *(_two(area(each.order.to_numpy(float), each.bad.to_numpy(bool))) for each in (part, against)),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def counts(rows: pd.DataFrame) -> str:
    """Trials that were made, judged and bad."""
    lines = ["| | trials | undamaged | failed | too few torques | judged | err by more than 10 % |", "| --- " * 7 + "|"]
    for family, name in FAMILIES.items():
        own = rows[rows.family == family]
        failed = own.status == "failed"
        numbers = (
            len(own),
            (own.kind == "none").sum(),
            failed.sum(),
            (~own.judged & ~failed).sum(),
            own.judged.sum(),
            own.bad.sum(),
        )
        lines.append(f"| {name} | " + " | ".join(str(n) for n in numbers) + " |")
    return "\n".join(lines)


def verdict_table(reported: pd.DataFrame) -> str:
    """Area and false alarms of the verdict on the reporting half."""
    judged = reported[reported.judged]
    unseen = {kind for kind, seen in visible(judged).items() if not seen}
    lines = [
        "| | area, all kinds | area, visible kinds | the same, against undamaged trials only | the same, largest error at any frame | false alarms on undamaged trials |",
        "| --- " * 6 + "|",
    ]
    for family, name in {**FAMILIES, "": "both"}.items():
        own = judged[judged.family == family] if family else judged
        seen = own[[pair not in unseen for pair in zip(own.task, own.kind, strict=True)]]
        calm = own[own.kind == "none"]
        parts = [_with_interval(part, _area_of("order")) for part in (own, seen)]
        parts.append(_with_interval(seen[seen.bad | (seen.kind == "none")], _area_of("order")))
        parts.append(_with_interval(seen, _area_of("order", "bad_somewhere")))
        parts.append(_with_interval(calm, lambda part: float((part.order > 0).mean()), percent=True))
        lines.append(f"| {name} | " + " | ".join(parts) + " |")
    return "\n".join(lines)


def visible(judged: pd.DataFrame) -> dict[tuple[str, str], bool]:
    """Kinds whose bad trials any metric tells from the undamaged ones, by task and kind."""
    found = {}
    for task in judged.task.unique():
        own = judged[judged.task == task]
        for kind in KINDS:
            part = own[(own.kind == kind.name) & own.bad]
            if len(part):
                found[task, kind.name] = best_metric(part, own[own.kind == "none"])[1] > UNSEEN
    return found


def unseen_list(reported: pd.DataFrame) -> str:
    """Kinds that no metric tells, and those of whose bad trials the verdict misses half or more."""
    judged = reported[reported.judged]
    lines = []
    for (task, kind), seen in visible(judged).items():
        bad = judged[judged.bad & (judged.task == task) & (judged.kind == kind)]
        missed = (bad.order < 1).mean()
        if not seen or missed >= 0.5:
            why = "no metric sees it" if not seen else "a metric tells it, below the thresholds in use"
            lines.append(f"- {task}: {kind}, {_percent(missed)} of {len(bad)} bad trials are `ok` ({why})")
    return "\n".join(lines)


def best_metric(bad: pd.DataFrame, undamaged: pd.DataFrame) -> tuple[str, float]:
    """Metric that tells bad trials of a kind best from undamaged ones, and its area."""
    both = pd.concat([bad, undamaged])
    truth = np.arange(len(both)) < len(bad)
    areas = {
        c.name: area(both[c.name].to_numpy(float), truth)
        for c in CHECKS
        if c.name in both and not c.advice.startswith("report")
    }
    name = max(areas, key=lambda n: areas[n])
    return name, areas[name]


def kind_table(reported: pd.DataFrame) -> str:
    """Shares of each kind of damage with bad trials that are seen, on the reporting half."""
    judged = reported[reported.judged]
    lines = [
        "| kind | sizes | bad trials | flagged | rejected | area | best metric, its area |",
        "| --- " * 7 + "|",
    ]
    for family, name in FAMILIES.items():
        own = judged[judged.family == family]
        calm = own[own.kind == "none"]
        for kind in KINDS:
            bad = own[(own.kind == kind.name) & own.bad]
            sizes = kind.sizes("walk" if family == "walk" else "sagittal reach")
            if bad.empty or not sizes:
                continue
            unit = kind.unit if kind.unit != "1" else ""
            span = f"{sizes[0]:.2g} to {sizes[-1]:.2g} {unit}".strip() if len(sizes) > 1 else "-"
            metric, best = best_metric(bad, calm)
            cells = [
                f"{name}: {kind.name}",
                span,
                str(len(bad)),
                _percent((bad.order > 0).mean()),
                _percent((bad.order > 1).mean()),
                _two(_area_of("order")(pd.concat([bad, calm]))),
                f"{metric} {best:.2f}",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def metric_table(fitted: pd.DataFrame, reported: pd.DataFrame) -> str:
    """Area and threshold of each metric that shows a kind of damage, and the largest share of false alarms."""
    quality = Quality()
    lines = ["| metric | area on its kind | fitted threshold | threshold in use |", "| --- " * 4 + "|"]
    fitted, judged, alarms = fitted[fitted.judged], reported[reported.judged], [0.0]
    for check in CHECKS:
        if check.affects != "torques" or check.name not in judged or judged[check.name].nunique() < 2:
            continue
        applies = judged[judged[check.name].notna()]
        metric = fitted[fitted[check.name].notna()]
        fit = threshold(
            metric[check.name].to_numpy(float),
            metric.bad.to_numpy(),
            (metric.kind == "none").to_numpy(),
            false_alarms=FALSE_ALARMS,
            margin=MARGIN,
        )
        used = check.allowed(quality)
        limit = used if isinstance(used, float) else math.inf
        calm = applies[applies.kind == "none"]
        raised = calm[check.name] > limit if np.isfinite(limit) else calm["flags"].fillna("").str.contains(check.flag)
        alarms += [float(raised.mean())] if len(calm) else []
        kind, best = _own_kind(applies, check.name)
        if kind != "none":
            shown = f"{limit:.3g}" if np.isfinite(limit) else "by joint"
            lines.append(f"| {check.name} | {best:.2f} ({kind}) | {fit:.3g} | {shown} |")
    return "\n".join(
        [*lines, "", f"False alarms on undamaged trials: at most {_percent(max(alarms))} for each metric."]
    )


def _own_kind(applies: pd.DataFrame, name: str) -> tuple[str, float]:
    """Kind of damage whose bad trials the metric tells best from undamaged ones."""
    found = {}
    for (family, kind), bad in applies[applies.bad].groupby(["family", "kind"]):
        calm = applies[(applies.kind == "none") & (applies.family == family)]
        if len(bad) >= 5 and len(calm):
            both = pd.concat([bad, calm])[name].to_numpy(float)
            found[f"{FAMILIES[family]}: {kind}"] = area(both, np.arange(len(both)) < len(bad))
    if not found:
        return "none", float("nan")
    best = max(found, key=lambda kind: found[kind])
    return best, found[best]


def cost_table(reported: pd.DataFrame) -> str:
    """Share of good trials that `rejected` and `caution` cost, by task."""
    good = reported[reported.judged & ~reported.bad]
    lines = [
        "| task | good trials | of them caution | of them rejected | good undamaged trials rejected |",
        "| --- " * 5 + "|",
    ]
    for task, part in good.groupby("task"):
        calm = part[part.kind == "none"]
        cells = [str(task), str(len(part)), _percent((part.order == 1).mean())]
        cells.append(_with_interval(part, lambda p: float((p.order >= 2).mean()), percent=True))
        cells.append(_percent((calm.order >= 2).mean()))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _area_of(name: str, truth: str = "bad") -> Callable[[pd.DataFrame], float]:
    return lambda part: area(part[name].to_numpy(float), part[truth].to_numpy())


def _with_interval(part: pd.DataFrame, statistic: Callable[[pd.DataFrame], float], *, percent: bool = False) -> str:
    """Value and its interval of 95 % by drawing subjects."""
    if not len(part):
        return "-"
    low, high = interval(part.subject.to_numpy(), lambda index: statistic(part.iloc[index]), draws=DRAWS, seed=2026)
    show = _percent if percent else _two
    return f"{show(statistic(part))} ({show(low)} to {show(high)})"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %" if share == share else "-"


def _two(value: float) -> str:
    return f"{value:.2f}" if value == value else "-"


def put_into_page(page: Path, tables: Mapping[str, str]) -> None:
    """Replace the tables between the page's markers ``<!-- name -->`` and ``<!-- end -->``."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition("<!-- end -->")
        text = f"{before}<!-- {name} -->\n{table}\n<!-- end -->{after}"
    page.write_text(text, encoding="utf-8")

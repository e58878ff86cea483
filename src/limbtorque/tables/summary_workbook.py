"""Sheets of the workbook `summary.xlsx`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from limbtorque.tables.column import FLEXION, TORQUE_STATUS, TRIAL_COLUMNS, Column
from limbtorque.tables.frame_columns import term_columns
from limbtorque.tables.study_columns import DICTIONARY_COLUMNS, FLEXION_SIGNED, STANCE, STATISTICS, WINDOW
from limbtorque.tables.workbook import Sheet

SHEETS = (("summary", False), ("stance", True))  # name, and whether its rows are of the stance


def wide_columns(joints: Sequence[str]) -> list[Column]:
    """Columns `<joint>_<term>_<statistic>` of the sheet of trials.

    Parameters
    ----------
    joints : sequence of str
        Joints of a chain, proximal first.
    """
    columns = []
    for joint in joints:
        prefix, terms = f"{joint}_torque_", {"net": f"{joint}: net torque"}
        terms |= {c.name.removeprefix(prefix).removesuffix("_nm"): c.definition for c in term_columns(joint, joints)}
        for term, text in terms.items():
            columns += [
                Column(
                    f"{joint}_{term}_{statistic.name}",
                    statistic.unit,
                    f"{statistic.definition}; {text}",
                    FLEXION if statistic.name in FLEXION_SIGNED else statistic.sign,
                )
                for statistic in STATISTICS
            ]
    return columns


def summary_sheets(
    chains: Sequence[Sequence[str]],
    rows: Sequence[Mapping[str, Any]],
    ledger: Sequence[Mapping[str, Any]],
    ledger_columns: Sequence[Column],
) -> list[Sheet]:
    """Sheets `summary` and `stance` (a row for each trial), `columns` and `ledger`.

    Parameters
    ----------
    chains : sequence of sequence of str
        Joints of every chain of the study; a column of another chain is empty.
    rows : sequence of mapping
        Rows of `results/summary.csv`, flexion positive. Those over the stance are the sheet `stance`, which is not there
        without any; the others are the sheet `summary`.
    ledger : sequence of mapping
        Rows of `results/ledger.csv`.
    ledger_columns : sequence of Column
        Their columns.
    """
    first = (*TRIAL_COLUMNS, TORQUE_STATUS)
    columns: dict[str, Column] = {column.name: column for column in (*first, WINDOW)}
    for joints in chains:
        columns |= {column.name: column for column in wide_columns(joints)}
    sheets = []
    for name, of_stance in SHEETS:
        chosen = [row for row in rows if (row["window"] == STANCE) == of_stance]
        wide: dict[str, dict[str, Any]] = {}
        for trial in ledger:
            wide[trial["trial"]] = {column.name: trial[column.name] for column in first}
        for row in chosen:
            start = f"{row['joint']}_{row['term']}_"
            wide[row["trial"]] |= {start + statistic.name: row[statistic.name] for statistic in STATISTICS}
            wide[row["trial"]]["window"] = row["window"]
        if chosen or name == "summary":
            sheets.append(Sheet(name, tuple(columns.values()), tuple(wide.values())))
    about = [{"column": c.name, "unit": c.unit, "definition": c.definition, "sign": c.sign} for c in columns.values()]
    return [
        *sheets,
        Sheet("columns", DICTIONARY_COLUMNS[1:], tuple(about)),
        Sheet("ledger", tuple(ledger_columns), tuple(ledger)),
    ]

"""Sheets of the workbook `summary.xlsx`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from limbtorque.tables.column import FLEXION, TORQUE_STATUS, TRIAL_COLUMNS, Column
from limbtorque.tables.dictionary_columns import DICTIONARY_COLUMNS
from limbtorque.tables.ledger_columns import LEDGER_COLUMNS
from limbtorque.tables.summary_columns import FLEXION_SIGNED, STATISTICS
from limbtorque.tables.torque_columns import term_columns
from limbtorque.tables.workbook import Sheet


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
    chains: Sequence[Sequence[str]], rows: Sequence[Mapping[str, Any]], ledger: Sequence[Mapping[str, Any]]
) -> list[Sheet]:
    """Sheets `summary` (a row for each trial), `columns` (definitions) and `ledger`.

    Parameters
    ----------
    chains : sequence of sequence of str
        Joints of every chain of the study; a column of another chain is empty.
    rows : sequence of mapping
        Rows of `results/summary.csv`, flexion positive.
    ledger : sequence of mapping
        Rows of `results/ledger.csv`.
    """
    first = (*TRIAL_COLUMNS, TORQUE_STATUS)
    columns: dict[str, Column] = {column.name: column for column in first}
    for joints in chains:
        columns |= {column.name: column for column in wide_columns(joints)}
    wide = {row["trial"]: {column.name: row[column.name] for column in first} for row in ledger}
    for row in rows:
        name = f"{row['joint']}_{row['term']}_"
        wide[row["trial"]] |= {name + statistic.name: row[statistic.name] for statistic in STATISTICS}
    about = [{"column": c.name, "unit": c.unit, "definition": c.definition, "sign": c.sign} for c in columns.values()]
    return [
        Sheet("summary", tuple(columns.values()), tuple(wide.values())),
        Sheet("columns", DICTIONARY_COLUMNS[1:], tuple(about)),
        Sheet("ledger", LEDGER_COLUMNS, tuple(ledger)),
    ]

"""Tables as sheets of an Excel workbook; the same sheets give the same bytes."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

from limbtorque.study.files import write_bytes
from limbtorque.tables.column import TORQUE_STATUS, TRIAL_COLUMNS, Column
from limbtorque.tables.frame_columns import term_columns
from limbtorque.tables.study_columns import DICTIONARY_COLUMNS, STANCE, STATISTICS, WINDOW

WIDTHS = {str: 24, int: 10, float: 14}  # of columns, in characters
_NO_DATE = (1980, 1, 1, 0, 0, 0)
_WHEN = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*")


@dataclass(frozen=True)
class Sheet:
    """A table of a workbook.

    Attributes
    ----------
    name : str
        Name of the sheet.
    columns : tuple of Column
        Its columns.
    rows : tuple of mapping
        Its rows: column -> value; missing values and NaN are empty cells.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]


def write_workbook(path: Path, sheets: Sequence[Sheet]) -> None:
    """Write sheets with a frozen header, a filter and widths.

    Parameters
    ----------
    path : Path
        File to write, .xlsx.
    sheets : sequence of Sheet
        The sheets, in order.

    Notes
    -----
    Text never becomes a formula: a leading ``=``, ``+``, ``-`` or ``@`` stays text, even after editing the cell.
    Characters invalid in XML become U+FFFD.
    """
    book = Workbook(write_only=True)
    for sheet in sheets:
        _fill(book, sheet)
    buffer = io.BytesIO()
    book.save(buffer)
    write_bytes(path, _undated(buffer))


def _fill(book: Workbook, sheet: Sheet) -> None:
    page = book.create_sheet(sheet.name)
    page.freeze_panes = "B2"
    page.auto_filter.ref = f"A1:{get_column_letter(len(sheet.columns))}{len(sheet.rows) + 1}"
    for k, column in enumerate(sheet.columns, start=1):
        page.column_dimensions[get_column_letter(k)].width = WIDTHS[column.kind]
    header = [_text(page, column.name) for column in sheet.columns]
    for cell in header:
        cell.font, cell.alignment = Font(bold=True), Alignment(wrap_text=True, vertical="top")
    page.append(header)
    for row in sheet.rows:
        page.append([_cell(page, column, row.get(column.name)) for column in sheet.columns])


def _cell(page: Any, column: Column, value: Any) -> Any:
    if column.kind is str:
        return _text(page, "" if value is None else str(value))
    return None if value is None or not math.isfinite(value) else column.kind(value) + column.kind(0)  # no minus zero


def _text(page: Any, text: str) -> Any:
    """Cell of text; an empty one is None."""
    shown = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", text)
    if not shown:
        return None
    cell = WriteOnlyCell(page, shown)
    cell.data_type = "s"  # openpyxl takes text that begins with '=' for a formula
    cell.quotePrefix = shown[0] in "=+-@"
    return cell


def _undated(buffer: io.BytesIO) -> bytes:
    """Bytes of a workbook without its time of writing."""
    out = io.BytesIO()
    with zipfile.ZipFile(buffer) as made, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in made.namelist():
            content = made.read(name)
            if name == "docProps/core.xml":
                content = _WHEN.sub(rb"\g<1>1980-01-01T00:00:00Z", content)
            entry = zipfile.ZipInfo(name, _NO_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            copy.writestr(entry, content)
    return out.getvalue()


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
                    statistic.sign,
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

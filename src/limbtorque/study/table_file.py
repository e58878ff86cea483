"""CSV tables of a study: rows with line numbers, and their base model."""

from __future__ import annotations

import csv
import io
import itertools
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo, field_validator

from limbtorque.errors import did_you_mean
from limbtorque.study.faults import description_of, hidden_character
from limbtorque.study.options.base import Frozen

TO_DO = "TODO"
# removed at both ends of a cell; other white space is a hidden character
SPACES = "".join(c for c in map(chr, range(0x3001)) if unicodedata.category(c) == "Zs") + "\t\r\n"
FEW = 20  # sentences about unknown columns
Rows = list[tuple[int, dict[str, str]]]


class Row(Frozen):
    """Row of texts; empty cells are missing values, except in text fields."""

    @field_validator("*", mode="before")
    @classmethod
    def _filled_in(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str) and is_to_do(value):
            raise ValueError(to_do_text(value, description_of(cls.model_fields[str(info.field_name)])))
        return cls.plain_number(value, info)

    @classmethod
    def cells(cls, row: Mapping[str, str]) -> dict[str, str]:
        """Cells of a row for validation, without missing values."""
        return {
            name: row[name]
            for name, field in cls.model_fields.items()
            if name in row and (row[name] or field.annotation is str)
        }


def is_to_do(cell: str) -> bool:
    """Return True for a TODO cell of `limbtorque init`."""
    return cell.upper().startswith(TO_DO)


def to_do_text(cell: str, description: str = "") -> str:
    """Sentence about a TODO cell, to follow the name of its column."""
    return f"is not filled in ({cell}): {description or 'see the comment'}"


def unknown_column(table: str, column: str, known: Iterable[str]) -> str:
    """Sentence about an unknown column."""
    return f"{table}: column {column!r} is unknown{did_you_mean(column, known)}"


def few(sentences: Iterable[str], count: int, table: str) -> list[str]:
    """Sentences about the first unknown columns, and number of others."""
    others = [f"{table}: {count - FEW} more columns are unknown"] if count > FEW else []
    return [*itertools.islice(sentences, FEW), *others]


def table_rows(path: Path, required: Iterable[str], faults: list[str], *, name: str = "") -> Rows:
    """Rows of a table with line numbers: stripped, without empty rows and comments.

    Parameters
    ----------
    path : Path
        The table, CSV.
    required : iterable of str
        Columns it must have.
    faults : list of str
        Faults of the table are added here.
    name : str, optional
        Name of the table in messages; that of the file where it is not given.
    """
    name = name or path.name
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 (false for names that no system takes)
        faults.append(f"{path}: not a file, expected a CSV table")
        return []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(_without_comments(file), strict=True)
            with path.open(encoding="utf-8-sig", newline="") as again:  # comments before the header
                start = sum(1 for _ in itertools.takewhile(lambda line: line.lstrip().startswith("#"), again))
            header = [column.strip(SPACES) for column in next(reader, [])]
            if fault := _header_fault(header, required):
                faults.append(f"{name}: {fault}")
                return []
            rows = []
            for row in filter(None, reader):
                line, cells = start + reader.line_num, [cell.strip(SPACES) for cell in row]
                if len(cells) != len(header):
                    comma = "; a decimal comma? Use a decimal point" if len(cells) > len(header) else ""
                    faults.append(f"{name} line {line}: expected {len(header)} cells, found {len(cells)}{comma}")
                elif any(cells):
                    found = dict(zip(header, cells, strict=True))
                    pairs = found.items() if hidden_character("".join(cells)) else ()
                    hidden = [f"{column}: {fault}" for column, cell in pairs if (fault := hidden_character(cell))]
                    faults += [f"{name} line {line}: {fault}" for fault in hidden]
                    rows += [] if hidden else [(line, found)]
            return rows
    except FileNotFoundError:
        faults.append(f"{path}: the table does not exist")
    except OSError as error:
        faults.append(f"{name}: the table cannot be read: {error.strerror or error}")
    except (UnicodeDecodeError, csv.Error) as error:
        faults.append(f"{path}: not readable as CSV in UTF-8: {error}")
    return []


def _header_fault(header: list[str], required: Iterable[str]) -> str:
    required = list(required)
    if missing := [column for column in required if column not in header]:
        semicolons = len(header) == 1 and ";" in header[0]
        others = [column for column in header if column not in required]
        hint = "; the columns are separated by ';', expected ','" if semicolons else did_you_mean(missing[0], others)
        return f"column {', '.join(missing)} is missing{hint}"
    twice = sorted(column for column, count in Counter(header).items() if count > 1)
    return f"a column occurs twice: {', '.join(twice) or 'one without a name'}" if twice else ""


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a CSV file without comments; a # in a quoted cell stays."""
    quoted, begun = False, False
    for line in lines:
        if not quoted and line.lstrip().startswith("#"):
            if begun:
                yield "\n"
            continue
        begun = True
        quoted ^= line.count('"') % 2 == 1
        yield line


def table_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV, the names of the columns first."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()

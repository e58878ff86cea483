"""Columns of `data_dictionary.csv`, the definitions of all columns."""

from __future__ import annotations

from limbtorque.tables.column import Column

DICTIONARY_COLUMNS = (
    Column("table", "", "table the column belongs to", kind=str),
    Column("column", "", "name of the column", kind=str),
    Column("unit", "", "unit", kind=str),
    Column("definition", "", "what it is", kind=str),
    Column("sign", "", "what positive means", kind=str),
)
WORKBOOK_DICTIONARY_COLUMNS = DICTIONARY_COLUMNS[1:]

"""Columns of `data_dictionary.csv`, the definitions of all columns."""

from __future__ import annotations

from limbtorque.tables.column import Column

DICTIONARY_COLUMNS = (
    Column("table", "", "table of the column", kind=str),
    Column("column", "", "name of the column", kind=str),
    Column("unit", "", "unit; 1 for a pure number, empty for text", kind=str),
    Column("definition", "", "definition of the quantity", kind=str),
    Column("sign", "", "meaning of a positive value", kind=str),
)

"""Description of the tables of the study as a Data Package, which R, Python and repositories of data read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from limbtorque import __version__
from limbtorque.tables.column import Column

TYPES = {float: "number", int: "integer", str: "string"}


def data_package(tables: Mapping[str, Iterable[Column]]) -> dict[str, Any]:
    """Tabular Data Package (Frictionless, version 1) of CSV files in one folder.

    Parameters
    ----------
    tables : mapping of str to iterable of Column
        Name of each file -> its columns, in order.

    Returns
    -------
    dict
        Content of ``datapackage.json``: type, unit, definition and sign of every column. Empty cells are missing values.

    Examples
    --------
    >>> from limbtorque.tables.column import columns
    >>> package = data_package({"peaks.csv": columns({"peak_nm": "largest torque"}, sign="flexion positive")})
    >>> package["resources"][0]["schema"]["fields"]  # doctest: +NORMALIZE_WHITESPACE
    [{'name': 'peak_nm', 'type': 'number', 'unit': 'N m', 'description': 'largest torque', 'sign': 'flexion positive'}]
    """
    return {
        "profile": "tabular-data-package",
        "name": "results",
        "description": f"Tables of a study, by limbtorque {__version__}; docs/tables.md describes them",
        "resources": [
            {
                "profile": "tabular-data-resource",
                "name": name.removesuffix(".csv"),
                "path": name,
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {"fields": [_field(column) for column in columns], "missingValues": [""]},
            }
            for name, columns in tables.items()
        ],
    }


def _field(column: Column) -> dict[str, str]:
    """Description of a column; without a sign where there is nothing to say."""
    described = {"name": column.name, "type": TYPES[column.kind], "unit": column.unit}
    return {**described, "description": column.definition} | ({"sign": column.sign} if column.sign else {})

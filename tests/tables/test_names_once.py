"""Names of columns whose values are attributes are written in `tables` only."""

import ast
from pathlib import Path

from limbtorque.tables import column, ledger_columns, study_columns

WORKFLOW = Path(column.__file__).parents[1] / "workflow"
NOT_OF_A_TABLE = {
    "side",
    "chain",
    "condition",
    "session",
    "subject",
    "plane",
    "file",
    "static_file",
    "notes",
    "body_mass_kg",
    "unit",
}  # keys of records and JSON


def names_of_attributes():
    tables = (ledger_columns.LEDGER_COLUMNS, study_columns.RESULTS_COLUMNS, study_columns.DICTIONARY_COLUMNS)
    return {each.name for table in tables for each in table if each.attribute}


def keys(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant))


def test_rows_do_not_name_their_columns():
    names = names_of_attributes()
    assert len(names) > 25
    for path in sorted(WORKFLOW.rglob("*.py")):
        assert names & set(keys(path)) <= NOT_OF_A_TABLE, path.name

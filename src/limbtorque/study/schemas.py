"""JSON schemas of the settings and of both tables, made from their models."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from limbtorque.study.settings import Settings
from limbtorque.study.subjects import SubjectRow
from limbtorque.study.trials import TrialRow

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def settings_schema() -> dict[str, Any]:
    """JSON schema of the settings; ``x-unit`` has the unit of an option."""
    return _schema(Settings, "Settings of a limbtorque study")


def trials_schema() -> dict[str, Any]:
    """JSON schema of a row of the table of trials; options may be columns, too."""
    return {**_schema(TrialRow, "Row of the table of trials"), "additionalProperties": True}


def subjects_schema() -> dict[str, Any]:
    """JSON schema of a row of the table of subjects."""
    return _schema(SubjectRow, "Row of the table of subjects")


def _schema(model: type[BaseModel], title: str) -> dict[str, Any]:
    schema: dict[str, Any] = _without_titles(model.model_json_schema())
    for option in schema["properties"].values():
        if "$ref" in option:  # a section: described by its model, with defaults of its own
            option.pop("default", None)
            option["description"] = schema["$defs"][option["$ref"].rpartition("/")[2]]["description"]
    return {"$schema": DIALECT, "title": title} | schema


def _without_titles(schema: Any) -> Any:
    """Schema without pydantic's titles; a property called title stays."""
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without_titles(part) for name, part in schema.items() if not (name == "title" and isinstance(part, str))
    }

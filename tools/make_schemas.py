"""Write the JSON schemas in workflow/schemas from the models that validate a study."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from limbtorque.study.study import settings_schema, subjects_schema, trials_schema

SCHEMAS = Path(__file__).resolve().parents[1] / "workflow" / "schemas"


MADE: dict[str, Callable[[], dict[str, Any]]] = {
    "config.schema.json": settings_schema,
    "trials.schema.json": trials_schema,
    "subjects.schema.json": subjects_schema,
}


def text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def main() -> None:
    for name, make in MADE.items():
        (SCHEMAS / name).write_text(text(make()), encoding="utf-8")


if __name__ == "__main__":
    main()

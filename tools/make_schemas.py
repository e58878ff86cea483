"""Write the JSON schemas in workflow/schemas from the models that validate a study."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from limbtorque.study.settings import Settings

SCHEMAS = Path(__file__).resolve().parents[1] / "workflow" / "schemas"


def settings_schema() -> dict[str, Any]:
    return {"title": "config/config.yaml"} | Settings.model_json_schema()


MADE: dict[str, Callable[[], dict[str, Any]]] = {"config.schema.json": settings_schema}


def text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def main() -> None:
    for name, make in MADE.items():
        (SCHEMAS / name).write_text(text(make()), encoding="utf-8")


if __name__ == "__main__":
    main()

"""`config/config.yaml` and ``--config`` -> `results/settings.json`: the settings that hold in this run."""

from __future__ import annotations

import json
from pathlib import Path

from limbtorque.errors import LimbtorqueError
from limbtorque.workflow.effective_settings import planned_settings, settings_text
from limbtorque.workflow.keys import settings_key
from limbtorque.workflow.layout import SETTINGS


def run(*, folder: Path, key: str, config: str = "{}") -> None:
    """Write the settings; `config` is what ``--config`` gave, as JSON."""
    settings = planned_settings(folder, json.loads(config))
    if settings_key(settings) != key:
        raise LimbtorqueError("the settings were changed while this job was waiting to run; start again")
    (folder / SETTINGS).parent.mkdir(parents=True, exist_ok=True)
    (folder / SETTINGS).write_text(settings_text(settings), encoding="utf-8")

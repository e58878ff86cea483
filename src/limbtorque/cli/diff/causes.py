"""Differences between two runs in settings, versions, code and recordings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from limbtorque.study.settings import flattened


@dataclass(frozen=True)
class Cause:
    """Difference between two runs before anything is computed.

    Attributes
    ----------
    kind : str
        ``setting``, ``input``, ``code``, ``version`` or ``trial``.
    name : str
        Its name.
    first, second : str
        Value in either run; empty where there is none.
    """

    kind: str
    name: str
    first: str
    second: str


def causes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Cause]:
    """Differences between two provenances: settings, versions, code, inputs, trials."""
    found = _different("setting", flattened(first.get("settings", {})), flattened(second.get("settings", {})))
    versions = [
        {"limbtorque": p.get("program", {}).get("version"), "python": p.get("python"), **p.get("libraries", {})}
        for p in (first, second)
    ]
    found += _different("version", *versions)
    found += _different("code", first.get("code", {}), second.get("code", {}))
    found += _different("table", flattened(first.get("segment_table", {})), flattened(second.get("segment_table", {})))
    theirs = second.get("trials", {})
    for name, trial in first.get("trials", {}).items():
        if name in theirs:
            inputs = [
                {f"{name} {key}": t.get(key) for key in ("sha256", "forces_sha256", "static_sha256")}
                for t in (trial, theirs[name])
            ]
            found += _different("input", *inputs)
            rows = [
                {f"{name} {key}": value for key, value in flattened(t.get("row", {})).items()}
                for t in (trial, theirs[name])
            ]
            found += _different("trial", *rows)
    return found


def _different(kind: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Cause]:
    names = [*first, *(name for name in second if name not in first)]
    return [
        Cause(kind, name, _shown(first.get(name)), _shown(second.get(name)))
        for name in names
        if first.get(name) != second.get(name)
    ]


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""YAML files written by people: what YAML lets pass and a person did not mean is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_Base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """YAML in which a key that is there twice is an error: the first of the two would be lost."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for (key, _), name in zip(node.value, keys, strict=False):
            if keys.count(name) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{name!r} is there twice", key.start_mark)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(path: Path) -> Any:
    """Read a YAML file.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    Any
        What it holds; None for an empty file.

    Raises
    ------
    ValueError
        Not readable as YAML, with a key twice, or not in UTF-8: a sentence that goes on after the file's name.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except UnicodeDecodeError as error:
        raise ValueError(f"is not in UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        tab = (
            "; indent with spaces, not tabs"
            if "\\t" in problem or "\t" in problem or "cannot start any token" in problem
            else ""
        )
        raise ValueError(f"is not readable as YAML{where}: {problem}{tab}") from None

"""Add the heading "Examples" to docstrings that lack it, so that examples are shown as code."""

from __future__ import annotations

from typing import Any

import griffe

HEADING = "Examples\n--------\n"


class Doctests(griffe.Extension):
    """Put a heading over examples that have none."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring and ">>> " in obj.docstring.value and HEADING not in obj.docstring.value:
            text, example, rest = obj.docstring.value.partition(">>> ")
            obj.docstring.value = f"{text}{HEADING}{example}{rest}"

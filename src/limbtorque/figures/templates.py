"""Jinja2 templates of captions, methods and pages, each beside its module."""

from __future__ import annotations

import functools
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from limbtorque.tables.column import capital, counted, listed, was


@functools.cache
def environment() -> Environment:
    """Templates of the package: HTML escaped, every name required."""
    made = Environment(
        loader=PackageLoader("limbtorque", ""),
        autoescape=select_autoescape(enabled_extensions=("html.jinja",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"capital": capital, "counted": counted, "listed": listed, "prose": prose, "short": short}
    made.filters["cell"] = cell
    made.filters["article"] = "the {}".format
    made.globals |= {"was": was}
    return made


def fill(template: str, /, **values: Any) -> str:
    """Text of a template, given by its path in the package, with values filled in.

    Markdown holds no HTML, links or images: the templates have none, so these would come from names in a study.
    """
    text = environment().get_template(template).render(**values)
    return text.replace("<", "&lt;").replace("](", "]\\(") if template.endswith(".md.jinja") else text


def cell(text: object) -> str:
    r"""Text escaped for a cell of a Markdown table.

    Examples
    --------
    >>> print(cell("R|HIP"))
    R\|HIP
    """
    return prose(text).replace("|", "\\|")


def prose(text: object) -> str:
    r"""Text joined into one line.

    Examples
    --------
    >>> prose("Positions were\n  filtered .")
    'Positions were filtered.'
    """
    return re.sub(r" ([.,;:])(?= |$)", r"\1", " ".join(str(text).split()))


def short(number: float) -> str:
    """Short text for a number.

    Examples
    --------
    >>> short(12.0), short(0.06)
    ('12', '0.06')
    """
    return f"{float(number):g}"

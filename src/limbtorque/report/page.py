"""Fill the templates of the pages; text is escaped."""

from __future__ import annotations

import functools
import json
from typing import Any

from jinja2 import Environment, Template
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape

from limbtorque.figures.templates import environment


def page_template(name: str) -> Template:
    """Compiled template of a page, by its path in the package.

    A module that asks for it when it is imported has it compiled before jobs are forked.
    """
    for shared in ("report/page.html.jinja", "report/page.elements.html.jinja"):
        _pages().get_template(shared)
    return _pages().get_template(name)


@functools.cache
def _pages() -> Environment:
    """Templates of the package with the filters of the pages."""
    made = environment().overlay()
    made.filters = {**made.filters, "amount": amount, "code": code_words, "json": json_text}
    return made


def amount(value: float, unit: str) -> str:
    """A number with its unit, as sentences have it.

    Examples
    --------
    >>> amount(0.012345, "m"), amount(2.0, "1")
    ('0.01235 m', '2')
    """
    return f"{value:.4g}" + ("" if unit == "1" else f" {unit}")


def code_words(text: str) -> Markup:
    """Text in which words between backticks are code.

    Examples
    --------
    >>> code_words("set `a < b`")
    Markup('set <code>a &lt; b</code>')
    """
    parts = enumerate(text.split("`"))
    return Markup().join(Markup("<code>{}</code>").format(part) if k % 2 else escape(part) for k, part in parts)


def json_text(data: Any) -> Markup:
    r"""Data for the page's scripts, with no character that could end their block.

    Examples
    --------
    >>> json_text("</script>")
    Markup('"\\u003c/script\\u003e"')
    """
    return htmlsafe_json_dumps(data, json.dumps, separators=(",", ":"), allow_nan=False)

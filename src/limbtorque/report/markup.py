"""HTML in which everything is escaped that is not said to be HTML."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

VOID = frozenset({"img", "input", "link", "meta"})
# Scripts come from files beside the page only, and nothing comes from a network, whatever a label may hold.
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline'; "
    "img-src 'self' file: data: blob:; base-uri 'none'; form-action 'none'"
)


class Html(str):
    """Text that is HTML; every other text is escaped where it meets this."""

    __slots__ = ()


def escape(value: object) -> Html:
    """HTML of a value: itself if it is HTML, else its text with the characters that mean something escaped.

    Examples
    --------
    >>> escape("<b>")
    '&lt;b&gt;'
    >>> escape(Html("<b>"))
    '<b>'
    """
    return value if isinstance(value, Html) else Html(html.escape(str(value), quote=True))


def join(parts: Iterable[object], between: str = "") -> Html:
    """Parts one after the other, each escaped unless it is HTML."""
    return Html(between.join(escape(part) for part in parts))


def tag(name: str, /, *content: object, **attributes: object) -> Html:
    """An element.

    Parameters
    ----------
    name : str
        Name of the element.
    *content : object
        What is in it; escaped unless it is HTML.
    **attributes : object
        Attributes, escaped; ``class_`` is class, an underscore is a hyphen. True: without a value; None and False: left out.

    Examples
    --------
    >>> tag("a", "x < y", href='"', class_="name", hidden=True, title=None)
    '<a href="&quot;" class="name" hidden>x &lt; y</a>'
    """
    given = [
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{html.escape(str(value), quote=True)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    ]
    start = f"<{name}{''.join(given)}>"
    return Html(start if name in VOID else f"{start}{join(content)}</{name}>")


def table(caption: object, head: Sequence[object], rows: Iterable[Sequence[object]], **attributes: object) -> Html:
    """A table with a caption, a row of headers and a header in each row.

    The cells of a table of class "prose" carry their heads, so that a narrow page can put them one below the other.
    """
    top = tag("tr", *(tag("th", cell, scope="col") for cell in head))
    heads = head[1:] if attributes.get("class_") == "prose" else [None] * (len(head) - 1)
    body = (Html(f'<tr><th scope="row">{escape(first)}</th>{_cells(rest, heads)}</tr>') for first, *rest in rows)
    return tag(
        "div",
        tag("table", tag("caption", caption), tag("thead", top), tag("tbody", *body), **attributes),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def _cells(row: Iterable[object], heads: Sequence[object]) -> str:
    return "".join(tag("td", cell, data_head=head) for cell, head in zip(row, heads, strict=True))


def facts(pairs: Iterable[tuple[object, object]], *, rows: bool = False) -> Html:
    """A list of names and values: side by side, or one a row."""
    return tag(
        "dl",
        *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs),
        class_="facts rows" if rows else "facts",
    )


def section(name: str, heading: object, *content: object) -> Html:
    """A section with a heading that names it."""
    return tag(
        "section", tag("h2", heading, id=f"{name}_heading"), *content, id=name, aria_labelledby=f"{name}_heading"
    )


def details(summary: object, *content: object, **attributes: object) -> Html:
    """What is folded away until it is asked for."""
    return tag("details", tag("summary", summary), *content, **attributes)


def json_block(name: str, data: Any) -> Html:
    r"""Data for the page's script, with no character that could end the block.

    Examples
    --------
    >>> json_block("data", "</script>")
    '<script type="application/json" id="data">"\\u003c/script\\u003e"</script>'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return tag("script", Html(text), type="application/json", id=name)


def page(title: str, body: object, *, root: str, scripts: Sequence[str], lead: object = "") -> str:
    """A whole page.

    Parameters
    ----------
    title : str
        Title of the window.
    body : object
        What is in it.
    root : str
        Path from the page to the folder of the shared files, empty or ending in a slash.
    scripts : sequence of str
        Names of the shared scripts, in the order in which they run.
    lead : object, optional
        What stands above the main part.
    """
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="stylesheet", href=f"{root}report.css"),
        tag("link", rel="icon", href="data:,"),
        *(tag("script", src=f"{root}{name}", defer=True) for name in scripts),
    ]
    skip = tag("a", "To the content", href="#main", class_="skip")
    whole = tag(
        "html",
        tag("head", *head),
        tag("body", skip, tag("header", lead), tag("main", body, id="main", tabindex="-1")),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{whole}\n"

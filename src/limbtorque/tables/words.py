"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "trial"), counted(2, "trial")
    ('1 trial', '2 trials')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def capital(text: str) -> str:
    """Text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def was(number: int) -> str:
    """Verb for a count of things: "was" or "were"."""
    return "was" if number == 1 else "were"


def listed(texts: Sequence[str]) -> str:
    """Texts as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"

"""Sentences about many trials or files, in one line for each kind."""

from __future__ import annotations

import re
from collections.abc import Iterable

from limbtorque.cli.init.names import some_of
from limbtorque.tables.words import counted

MOST = 6  # kinds on the first screen
NAMES = 3  # of each kind


def lines_by_kind(said: Iterable[tuple[str, str]], *, noun: str = "trial", most: int = MOST) -> list[str]:
    """Sum up sentences: a line for each kind, those of most names first.

    Parameters
    ----------
    said : iterable of (str, str)
        Name of a trial or file, and a sentence on it. Sentences that differ only by numbers, by words in quotation marks,
        by names of files or by the name itself are of one kind.
    noun : str
        Word for what is named.
    most : int
        Largest number of lines; a last one counts the others.

    Returns
    -------
    list of str
        Number and names, then the sentence on the first.

    Examples
    --------
    >>> lines_by_kind([("a", "gap of 1.2 s"), ("b", "gap of 0.3 s"), ("c", "no force")])
    ['2 trials (a, b), the first: gap of 1.2 s', '1 trial (c): no force']
    """
    kinds: dict[str, list[tuple[str, str]]] = {}
    for name, sentence in said:
        kinds.setdefault(_kind(name, sentence), []).append((name, sentence))
    listed = sorted(kinds.values(), key=lambda members: -len(members))
    lines = [_line(members, noun) for members in listed[:most]]
    rest = sum(len(members) for members in listed[most:])
    return [*lines, *([f"{counted(rest, noun)} for other reasons"] if rest else [])]


def _line(members: list[tuple[str, str]], noun: str) -> str:
    names = [name for name, _ in members]
    alike = len({sentence for _, sentence in members}) == 1
    return (
        f"{counted(len(members), noun)} ({some_of(names, most=NAMES)}){'' if alike else ', the first'}: {members[0][1]}"
    )


def _kind(name: str, sentence: str) -> str:
    """Sentence without the words that differ from trial to trial."""
    plain = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "*", sentence)
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|\S+\.\w{2,4}(?=[\s:;,]|$)", "*", plain)
    return re.sub(r"0x[0-9a-f]+|[-+]?\d[\d.,]*(?:e[-+]?\d+)?", "#", plain)

"""Texts of `limbtorque check`: summary, and lines on trials and kinds of faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from limbtorque.quality.verdict import Flag
from limbtorque.tables.column import counted

MOST = 6  # kinds on the first screen
NAMES = 3  # of each kind


@dataclass(frozen=True)
class Answer:
    """Result of the check for one trial, from `check_study`."""

    trial: str
    fault: str
    flags: Sequence[Flag]
    no_curve: str


def trial_lines(answer: Answer) -> Iterator[str]:
    """Lines on one trial: name and result, then flags."""
    doubt = "can be analysed, with problems:" if answer.flags or answer.no_curve else "ok"
    yield f"{answer.trial}: {f'would fail: {answer.fault}' if answer.fault else doubt}"
    for flag in answer.flags:
        yield f"  {flag.status}: {flag.sentence}"
    if answer.no_curve:
        yield f"  this trial will have no curve over 0 to 100 %: {answer.no_curve}"


def summary_lines(answers: Sequence[Answer]) -> list[str]:
    """Lines on the study: one for each kind of fault, flag and missing curve.

    Parameters
    ----------
    answers : sequence of Answer
        Of all trials.
    """
    faults = [(one.trial, one.fault) for one in answers if one.fault]
    curveless = [(one.trial, one.no_curve) for one in answers if one.no_curve]
    doubtful = sum(bool(one.flags) for one in answers)
    without = f"; {len(curveless)} would have no curve (ensembles.window)" if curveless else ""
    return [
        f"ready: {len(answers) - len(faults)} of {counted(len(answers), 'trial')}; {doubtful} would be caution or rejected{without}",
        *(f"would fail: {line}" for line in lines_by_kind(faults)),
        *_flag_lines(answers),
        *(f"no curve: {line}" for line in lines_by_kind(curveless)),
    ]


def _flag_lines(answers: Sequence[Answer]) -> list[str]:
    """A line for each flag: its trials, joints and range of values."""
    by_check: dict[tuple[bool, str], list[tuple[str, Flag]]] = {}
    for one in answers:
        for flag in one.flags:
            by_check.setdefault((flag.status != "rejected", flag.check.name), []).append((one.trial, flag))
    listed = sorted(by_check.items(), key=lambda item: (item[0][0], -len(item[1])))
    rest = len(listed) - MOST
    return [
        *(_flag_line(found) for _, found in listed[:MOST]),
        *([f"{counted(rest, 'other flag')}"] if rest > 0 else []),
    ]


def _flag_line(found: Sequence[tuple[str, Flag]]) -> str:
    flags = [flag for _, flag in found]
    first = flags[0]
    trials = dict.fromkeys(trial for trial, _ in found)
    joints = dict.fromkeys(flag.joint for flag in flags if flag.joint)
    values = dict.fromkeys(f"{value:.4g}" for value in (min(f.value for f in flags), max(f.value for f in flags)))
    unit = f" {first.check.unit}" if first.check.unit != "1" else ""
    of_joints = f" ({', '.join(joints)})" if joints else ""
    return (
        f"{first.status}: {first.check.name}{of_joints} in {counted(len(trials), 'trial')}: {some_of(trials, most=NAMES)}; "
        f"{' to '.join(values)}{unit}, {first.allowed}: {first.check.advice}"
    )


def lines_by_kind(said: Iterable[tuple[str, str]], *, noun: str = "trial", most: int = MOST) -> list[str]:
    """Summarise sentences: a line for each kind, the most frequent first.

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
    """Sentence without the parts that differ between trials."""
    plain = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "*", sentence)
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|\S+\.\w{2,4}(?=[\s:;,]|$)", "*", plain)
    return re.sub(r"0x[0-9a-f]+|[-+]?\d[\d.,]*(?:e[-+]?\d+)?", "#", plain)


def some_of(values: Iterable[str], *, most: int = 6) -> str:
    """First names in alphabetical order, and the number of others."""
    names = sorted(set(values))
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")

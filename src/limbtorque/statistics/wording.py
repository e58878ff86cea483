"""Texts on 0 to 100 % of the curves, and on trials without a curve."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from limbtorque.tables.column import counted

STRIKE = re.compile(r"strike|contact|foot on", re.IGNORECASE)
GAIT_CYCLE = "gait cycle"
SIDES = ("{side}", "left", "right")
MOST_NAMED = 3  # groups without a mean
REASONS = (  # beginning of a note of windows.csv -> its words in a list
    (r"the trial failed", "the trial failed"),
    (r"no event", "event missing on the side of the limb"),
    (r"the event .* is after the last frame", "the last event is after the analysed frames"),
    (r"no rest: at the first frame", "the endpoint already moves at the first frame"),
    (r"no rest: at the last frame", "the endpoint still moves at the last frame"),
    (r"\d+ movements", "several movements"),
    (r"ensembles.cycle", "fewer cycles than ensembles.cycle"),
    (r"no movement", "the endpoint does not move"),
    (r"rejected", "rejected"),
    (r"caution, and ensembles.include is ok", "caution"),
)


@dataclass(frozen=True)
class Percent:
    """Meaning of 0 to 100 % of a trial's curves, by its options.

    Attributes
    ----------
    window : str
        `ensembles.window`.
    start_event, end_event : str
        `ensembles.start_event` and `ensembles.end_event`.
    """

    window: str
    start_event: str = ""
    end_event: str = ""

    @property
    def cycle(self) -> bool:
        """True for windows from an event or turning point to the next of its kind."""
        return self.window == "cycles" or (
            self.window == "events" and _words(self.start_event) == _words(self.end_event)
        )

    @property
    def what(self) -> str:
        """Name of the window that is 0 to 100 %.

        Examples
        --------
        >>> Percent("events", "Foot Strike {side}", "Foot Strike {side}").what
        'gait cycle'
        """
        if self.window == "cycles":
            return "cycle"
        if self.window != "events":
            return self.window
        if self.cycle:
            return GAIT_CYCLE if STRIKE.search(self.start_event) else "cycle"
        return f"from {event_words(self.start_event)} to {event_words(self.end_event)}"

    @property
    def from_to(self) -> str:
        """First and last event; empty for windows without events.

        Examples
        --------
        >>> Percent("events", "Foot Strike {side}", "Foot Strike {side}").from_to
        'from foot strike to the next foot strike of the same foot'
        >>> Percent("events", "Foot Strike {side}", "Foot Off {side}").from_to
        'from foot strike to the next foot off of the same foot'
        >>> Percent("events", "Start", "Impact").from_to
        'from start to the next impact'
        """
        if self.window == "cycles":
            return "from one turning point of the endpoint to the next of the same kind"
        if self.window != "events":
            return ""
        own = all("{side}" in name for name in (self.start_event, self.end_event))
        part = "foot" if re.search(r"foot|heel|toe", self.start_event + self.end_event, re.IGNORECASE) else "side"
        of = f" of the same {part}" if own else ""
        return f"from {event_words(self.start_event)} to the next {event_words(self.end_event)}{of}"

    @property
    def phrase(self) -> str:
        """Text on the window, to follow "0 to 100 % of".

        Examples
        --------
        >>> Percent("events", "Foot Strike {side}", "Foot Strike {side}").phrase
        'the gait cycle (from foot strike to the next foot strike of the same foot)'
        """
        if self.window == "movement":
            return "the movement of the endpoint"
        if self.window == "trial":
            return "the trial"
        return f"the {self.what} ({self.from_to})" if self.cycle else f"the time {self.from_to}"


def _words(name: str) -> str:
    return " ".join(name.casefold().split())


def event_words(name: str) -> str:
    """Name of an event in a sentence: side first, omitted if that of the limb.

    Examples
    --------
    >>> event_words("Foot Strike {side}"), event_words("Foot Off Left"), event_words("MER")
    ('foot strike', 'left foot off', 'MER')
    """
    words = [word if word.isupper() else word.lower() for word in name.split()]
    sides = [word for word in words if word.lower() in SIDES]
    rest = [word for word in words if word.lower() not in SIDES]
    return " ".join([*(side for side in sides if side.lower() != "{side}"), *rest])


def one_of_counted(texts: Iterable[str]) -> str:
    """Join the different texts of trials by "or", with counts where they differ.

    >>> one_of_counted(["a", "b", "a"]), one_of_counted(["a", "a"])
    ('a (2 trials) or b (1 trial)', 'a')
    """
    counts = Counter(texts)
    if len(counts) < 2:
        return "".join(counts)
    return " or ".join(f"{text} ({counted(count, 'trial')})" for text, count in counts.items())


def spread_phrase(spread_over: str, n_subjects: int) -> str:
    """Units of mean and spread, to follow "over".

    Parameters
    ----------
    spread_over : str
        Column `spread_over` of the means.
    n_subjects : int
        Largest number of subjects of a mean.

    Examples
    --------
    >>> spread_phrase("subjects", 8)
    'subjects, each counted once with the mean of its trials'
    >>> spread_phrase("trials", 1)
    'the trials of one subject: the spread within this subject, not between subjects'
    """
    if spread_over == "subjects":
        return "subjects, each counted once with the mean of its trials"
    if n_subjects < 2:
        return "the trials of one subject: the spread within this subject, not between subjects"
    return "trials, all weighted equally: their spread and number are not a basis for tests between subjects"


def count_words(spread_over: str, *, subjects: Sequence[int], trials: Sequence[int], rejected: Sequence[int]) -> str:
    """Numbers of subjects and trials of a mean curve.

    Parameters
    ----------
    spread_over : str
        Column `spread_over` of the means.
    subjects, trials, rejected : sequence of int
        Numbers at the points of the curves; `rejected`, of trials left out because the torques of the joint were rejected.

    Examples
    --------
    >>> count_words("subjects", subjects=[8, 7], trials=[40, 33], rejected=[2, 2])
    '7 to 8 subjects, 33 to 40 trials; 2 trials rejected'
    >>> count_words("trials", subjects=[1, 1], trials=[5, 5], rejected=[0, 0])
    '5 trials of 1 subject'
    """
    of, all_trials = (_range_words(*numbers) for numbers in ((subjects, "subject"), (trials, "trial")))
    words = f"{of}, {all_trials}" if spread_over == "subjects" else f"{all_trials} of {of}"
    return f"{words}; {_range_words(rejected, 'trial')} rejected" if any(rejected) else words


def too_few(rows: Iterable[tuple[str, str, float, int, int]], *, spread_over: str, min_units: int) -> str:
    """Sentence on means with too few subjects or trials; empty if there are none.

    Parameters
    ----------
    rows : iterable of tuple
        Condition, side, mean, number of subjects and number of trials of the points of mean curves.
    spread_over : str
        Column `spread_over` of the means.
    min_units : int
        `ensembles.min_units`.

    Examples
    --------
    >>> points = [("slow", "left", math.nan, 1, 3), ("fast", "left", 2.0, 2, 6), ("fast", "left", math.nan, 1, 3)]
    >>> too_few(points, spread_over="subjects", min_units=2)
    'No mean where fewer than 2 subjects have a value (ensembles.min_units); no mean at all: slow, left.'
    """
    with_mean: dict[tuple[str, str], bool] = {}
    short = False
    for condition, side, mean, n_subjects, n_trials in rows:
        with_mean[condition, side] = with_mean.get((condition, side), False) or not math.isnan(mean)
        short = short or 0 < (n_subjects if spread_over == "subjects" else n_trials) < min_units
    if not short:
        return ""
    units = counted(min_units, spread_over.removesuffix("s"))
    without = [", ".join(filter(None, pair)) or "no condition" for pair, some in with_mean.items() if not some]
    named = f": {'; '.join(without)}" if len(without) <= MOST_NAMED else f" in {len(without)} groups"
    at_all = f"; no mean at all{named}" if without else ""
    return f"No mean where fewer than {units} have a value (ensembles.min_units){at_all}."


def _range_words(numbers: Sequence[int], word: str) -> str:
    few, most = min(numbers, default=0), max(numbers, default=0)
    return counted(most, word) if few == most else f"{few} to {counted(most, word)}"


def axis_label(percents: Iterable[Percent]) -> str:
    """Axis label for curves of several trials; a percent sign if there are none.

    Examples
    --------
    >>> axis_label([Percent("movement"), Percent("trial"), Percent("trial")])
    'movement or trial (%)'
    """
    names = " or ".join(dict.fromkeys(percent.what for percent in percents))
    return f"{names} (%)" if names else "%"


def reasons(windows: Iterable[Mapping[str, str]]) -> str:
    """Reasons why trials have no curve, with numbers of trials.

    Parameters
    ----------
    windows : iterable of mapping
        Rows of `results/windows.csv` of trials that have none.

    Examples
    --------
    >>> reasons([{"note": "2 movements: ..."}, {"note": "3 movements: ..."}, {"note": "rejected"}])
    'several movements (2), rejected (1)'
    """
    counts = Counter(_reason(row["note"]) for row in windows)
    return ", ".join(f"{reason} ({count})" for reason, count in counts.most_common())


def _reason(note: str) -> str:
    known = (words for begins, words in REASONS if re.match(begins, note))
    return next(known, re.split(r"[:;]", note, maxsplit=1)[0] or "no reason given")


def has_curve(row: Mapping[str, str]) -> bool:
    """Return True for a row of `results/windows.csv` with a curve."""
    return str(row["included"]) == "1"


def missing_curves(windows: Sequence[Mapping[str, str]]) -> str:
    """Sentence on trials without a curve and the reasons; empty if there are none.

    Parameters
    ----------
    windows : sequence of mapping
        Rows of `results/windows.csv`.

    Examples
    --------
    >>> missing_curves([{"included": "1", "note": ""}, {"included": "0", "note": "2 movements: the endpoint rests"}])
    '1 of 2 trials has a curve; without one: several movements (1).'
    """
    without = [row for row in windows if not has_curve(row)]
    if not without:
        return ""
    count = len(windows) - len(without)
    of = f"{count} of {counted(len(windows), 'trial')} {'has' if count == 1 else 'have'} a curve"
    return f"{of}{'; without one' if count else ''}: {reasons(without)}."


def statuses_in_means(windows: Iterable[Mapping[str, str]]) -> str:
    """Sentence on the status of trials in the means; empty if there are none.

    Parameters
    ----------
    windows : iterable of mapping
        Rows of `results/windows.csv`.

    Examples
    --------
    >>> rows = [{"included": "1", "torque_status": status} for status in ("ok", "caution", "ok", "rejected")]
    >>> statuses_in_means(rows)
    'The means include 4 trials: 2 ok, 1 caution, 1 rejected (without the rejected joints).'
    """
    counts = Counter(row["torque_status"] for row in windows if has_curve(row))
    if not counts:
        return ""
    known = [f"{counts[status]} {status}" for status in ("ok", "caution", "rejected") if counts[status]]
    without = " (without the rejected joints)" if counts["rejected"] else ""
    return f"The means include {counted(counts.total(), 'trial')}: {', '.join(known)}{without}."

"""Exceptions of the program, and suggestions for misspelt names.

::

    LimbtorqueError
    ├── SettingsError      the settings file: unknown key, value out of range
    ├── StudyError         the tables of trials and subjects; all faults at once
    ├── ModelError         an OpenSim model cannot become a muscle set
    └── TrialError         one trial cannot be analysed; the others go on
        ├── ReadError      the file is not readable, or inconsistent
        ├── LandmarkError  a marker or landmark is missing or ambiguous
        ├── SignalError    gaps, filter, too few frames
        ├── SegmentError   segment parameters, a length measured between other landmarks
        └── LoadError      external loads, force plates

A message names the place, the value found, the values expected and the remedy.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

MOST_SHOWN = 100  # faults of a study in its message


class LimbtorqueError(Exception):
    """Root of the tree."""


class SettingsError(LimbtorqueError):
    """The settings are wrong; nothing was computed.

    Parameters
    ----------
    message : str
        The whole message.
    faults : sequence of str, optional
        One sentence for each fault, where there may be several; else the message is the only one.
    """

    def __init__(self, message: str, faults: Sequence[str] = ()) -> None:
        self.faults = list(faults) or [message]
        super().__init__(message)


class StudyError(LimbtorqueError):
    """The tables of the study are wrong; all their faults are listed.

    Parameters
    ----------
    faults : list of str
        One sentence for each fault.
    """

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        shown = [f"  - {fault}" for fault in faults[:MOST_SHOWN]]
        more = len(faults) - len(shown)
        shown += [f"  and {more} more; correct these, and check again"] if more else []
        super().__init__(f"the study has {count}:\n" + "\n".join(shown))


class FolderError(StudyError):
    """No study can be proposed for a folder of recordings.

    Parameters
    ----------
    summary : str
        What is wrong with the folder.
    faults : list of str
        One sentence for each kind of file.
    advice : str
        What to do next.
    """

    def __init__(self, summary: str, faults: list[str], *, advice: str) -> None:
        super().__init__(faults)
        self.advice = advice
        self.args = ("\n".join([f"{summary}:" if faults else summary, *(f"  - {fault}" for fault in faults)]),)


class ModelError(LimbtorqueError):
    """An OpenSim model cannot become a muscle set; nothing was written."""


class TrialError(LimbtorqueError):
    """One trial cannot be analysed; its reason becomes a row of the ledger."""

    reason = "trial"


class ReadError(TrialError):
    """A file cannot be read, or contradicts itself."""

    reason = "read"


class LandmarkError(TrialError):
    """A marker or landmark is missing or ambiguous."""

    reason = "landmark"


class WriteError(OSError):
    """A table cannot be written, such as on a full disk; the next run repeats it."""


class SignalError(TrialError):
    """Gaps, cut-off or number of frames prevent the analysis."""

    reason = "signal"


class SegmentError(TrialError):
    """Segment parameters cannot be determined."""

    reason = "segment"


class LoadError(TrialError):
    """An external load is missing or contradicts the geometry."""

    reason = "load"


PART_OF_TRIAL = "start_s and end_s (with 0.2 s more before and after)"


def did_you_mean(name: str, known: Iterable[str], *, n: int = 1, cutoff: float = 0.6) -> str:
    """Suggest known names similar to an unknown name.

    Parameters
    ----------
    name : str
        The unknown name.
    known : iterable of str
        Names that would have been right.
    n : int, optional
        Largest number of names to suggest.
    cutoff : float, optional
        Least similarity of a name that is suggested, from 0 to 1.

    Returns
    -------
    str
        The end of a sentence, empty where no known name is near.

    Examples
    --------
    >>> did_you_mean("elbwo", ["elbow", "wrist"])
    "; did you mean 'elbow'?"
    """
    if len(name) > 200:
        return ""
    near = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=n, cutoff=cutoff)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""

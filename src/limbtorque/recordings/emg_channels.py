"""Electromyography channels of a recording, by label, description and unit."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import numpy as np

from limbtorque.recordings.recording import Finding, Recording

VOLTS_UV = {"v": 1e6, "mv": 1e3, "uv": 1.0, "µv": 1.0, "μv": 1.0, "volts": 1e6, "volt": 1e6}
MUSCLES = {  # names and abbreviations in labels, the more special first; GM alone is gluteus or gastrocnemius, so neither
    "vastus_lateralis": r"vas(?:t\w*)? ?lat\w*|vl|vlo",
    "vastus_medialis": r"vas(?:t\w*)? ?med\w*|vm|vmo",
    "rectus_femoris": r"rect?(?:us)? ?fem\w*|rect(?:us)?(?! ?abd)|rf",
    "vasti": r"vasti|vast\w*|quad\w*",
    "biceps_femoris_short": r"bi(?:cep\w*)? ?fem\w* short\w*|bifemsh|bfsh",
    "biceps_femoris": r"bi(?:cep\w*)? ?fem\w*|bf|bflh",
    "medial_hamstrings": r"med\w* ham\w*|semi ?\w*|mh",
    "hamstrings": r"ham\w*",
    "gastrocnemius": r"(?:med\w* |lat\w* )?gas(?:t\w*)?|gasmed|gaslat|mg|lg",
    "soleus": r"sol(?:eus)?",
    "tibialis_anterior": r"tib\w* ?ant\w*|ta",
    "tibialis_posterior": r"tib\w* ?post\w*|tp",
    "peroneus": r"peron\w*|fibularis",
    "gluteus_maximus": r"glut\w* ?max\w*|gmax|glmax\w*",
    "gluteus_medius": r"glut\w* ?med\w*|gmed|glmed\w*",
    "iliopsoas": r"ilio\w*|psoas",
    "adductors": r"add(?:uct\w*)?",
    "biceps": r"bic(?:ep\w*)?",
    "triceps": r"tric(?:ep\w*)?",
    "brachioradialis": r"brachiorad\w*|brd",
    "brachialis": r"brachialis",
    "anterior_deltoid": r"delt\w* ?ant\w*|ant\w* ?delt\w*|ad",
    "lateral_deltoid": r"delt\w* ?(?:lat|med|mid)\w*|(?:lat|med|mid)\w* ?delt\w*|md",
    "posterior_deltoid": r"delt\w* ?post\w*|post\w* ?delt\w*|pd",
    "pectoralis": r"pec\w*",
    "latissimus": r"lat(?:iss\w*)?|ld",
    "teres_major": r"teres ?maj\w*",
    "wrist_flexors": r"fcr|fcu|flex\w* carpi\w*|wrist flex\w*",
    "wrist_extensors": r"ecr\w*|ecu|ext\w* carpi\w*|wrist ext\w*",
}
GROUPS = {
    "vasti": ("vastus_lateralis", "vastus_medialis"),
    "hamstrings": ("biceps_femoris", "medial_hamstrings"),
}
# at the skin the noise of an amplifier is 1 uV or more and an electromyogram at most 5 mV (Konrad 2006, The ABC of EMG);
# converters take 10 V
SMALLEST_UV, LARGEST_UV = 0.1, 1e8
APART, FEWEST_ALIKE = 1e5, 3
_NAMES = {muscle: re.compile(rf"\b(?:{pattern})\b") for muscle, pattern in MUSCLES.items()}
_EMG = re.compile(r"(?<![a-z])s?emg|electromyo")
_OTHER = re.compile(r"\b(?:acc|gyro|mag|force|moment|f[xyz]\d*|m[xyz]\d*)")
_SIDE = re.compile(r"(?<![A-Za-z])(?:(?P<left>left|l)|(?P<right>right|r))(?![A-Za-z])", re.IGNORECASE)


@dataclass(frozen=True)
class EmgChannel:
    """A channel of electromyography.

    Attributes
    ----------
    index : int
        Its column in `Recording.analog`.
    label, unit : str
        As in the file.
    side : str
        ``"left"``, ``"right"``, or empty where the label does not say it.
    muscle : str
        A key of `MUSCLES`, or empty where the label names none.
    """

    index: int
    label: str
    unit: str
    side: str
    muscle: str


def emg_channels(recording: Recording) -> list[EmgChannel]:
    """Electromyography channels of a recording, in file order.

    Notes
    -----
    A channel is one where label or description has "EMG" or "electromyo", or where the label names a muscle and the unit is a voltage
    or unknown. Channels of acceleration, rotation, force and moment are not, whatever their device is called.
    """
    descriptions = recording.analog_descriptions or ("",) * len(recording.analog_labels)
    rows = zip(recording.analog_labels, descriptions, recording.analog_units, strict=True)
    found = []
    for k, (label, description, unit) in enumerate(rows):
        side, muscle = side_and_muscle(label)
        if not muscle:
            muscle = side_and_muscle(description)[1]
        is_emg = bool(_EMG.search(label.lower()) or _EMG.search(description.lower()))
        named = bool(muscle) and (not unit.strip() or microvolts(unit) is not None)
        if (is_emg or named) and not _OTHER.search(_words(label)):
            found.append(EmgChannel(k, label, unit.strip(), side, muscle))
    return found


def size_findings(recording: Recording) -> list[Finding]:
    """Guess about electromyography channels with implausible amplitudes.

    Parameters
    ----------
    recording : Recording
        The recording.

    Returns
    -------
    list of Finding
        Empty where the largest value of every channel is from `SMALLEST_UV` to `LARGEST_UV`, in some unit of voltage where the
        channel has none, and within a factor `APART` of the median of all channels. Channels that are 0 throughout have no size.
    """
    channels = emg_channels(recording)
    columns = {channel: recording.analog[:, channel.index] for channel in channels}
    largest = {
        k: float(max(np.fmax.reduce(x, initial=0.0), -np.fmin.reduce(x, initial=0.0))) for k, x in columns.items()
    }
    sizes = {channel: size for channel, size in largest.items() if size > 0.0}
    usual = float(np.median([*sizes.values()])) if len(sizes) >= FEWEST_ALIKE else 0.0
    odd = [
        f"{one.label} up to {size:.3g} {one.unit}".rstrip() for one, size in sizes.items() if _is_odd(one, size, usual)
    ]
    if not odd:
        return []
    more = f" and {len(odd) - 3} more" if len(odd) > 3 else ""
    said = f"{', '.join(odd[:3])}{more}; EMG amplitudes are 0.1 uV to 100 V, and similar within a recording"
    return [Finding("size of electromyograms", said, "used", "correct scale and unit of these channels in the file")]


def _is_odd(channel: EmgChannel, size: float, usual: float) -> bool:
    """Return True for an implausible size, or one far from the median."""
    known = microvolts(channel.unit)
    low, high = (known, known) if known else (1.0, max(VOLTS_UV.values()))
    far = usual > 0.0 and not usual / APART <= size <= usual * APART
    return far or size * high < SMALLEST_UV or size * low > LARGEST_UV


@functools.lru_cache(maxsize=10_000)
def side_and_muscle(name: str) -> tuple[str, str]:
    """Side and muscle named by a label; empty if not named.

    Examples
    --------
    >>> side_and_muscle("Voltage.L Tib Ant"), side_and_muscle("RVL"), side_and_muscle("CH7")
    (('left', 'tibialis_anterior'), ('right', 'vastus_lateralis'), ('', ''))
    """
    words = _words(name)
    match = _SIDE.search(re.sub(r"[^A-Za-z]+", " ", name))
    side = "" if match is None else "left" if match["left"] else "right"
    plain = re.sub(r"\b(?:left|right|l|r)\b", " ", words)
    if muscle := muscle_of(plain):
        return side, muscle
    for word in words.split():
        if word[0] in "lr" and len(word) > 2 and (muscle := muscle_of(word[1:])):
            return {"l": "left", "r": "right"}[word[0]], muscle
    return side, ""


def muscle_of(text: str) -> str:
    """Muscle named by a text, a key of `MUSCLES`, or empty.

    Examples
    --------
    >>> muscle_of("biceps femoris, long head"), muscle_of("rect_fem"), muscle_of("RECTUS ABDOMINIS")
    ('biceps_femoris', 'rectus_femoris', '')
    """
    words = " ".join(_words(text).split())
    return next((muscle for muscle, pattern in _NAMES.items() if pattern.search(words)), "")


def same_muscle(one: str, other: str) -> bool:
    """Return True for two names of the same muscle, or of a group and its part."""
    return bool(one) and (one == other or one in GROUPS.get(other, ()) or other in GROUPS.get(one, ()))


def microvolts(unit: str) -> float | None:
    """Factor from a unit to microvolts; None if the unit is not a voltage."""
    return VOLTS_UV.get(unit.strip().lower())


def comparable(unit: str) -> tuple[str, float]:
    """Common unit for a channel's amplitude, and the factor to it.

    Examples
    --------
    >>> comparable("mV"), comparable("V"), comparable(""), comparable("counts")
    (('uV', 1000.0), ('uV', 1000000.0), ('', 1.0), ('counts', 1.0))
    """
    factor = microvolts(unit)
    return (unit.strip(), 1.0) if factor is None else ("uV", factor)


def _words(text: str) -> str:
    """Lower-case words of a label, separated by non-letters."""
    return re.sub(r"[^a-z]+", " ", text.lower())


def side_pattern(label: str) -> str:
    """Label with a placeholder for its side; empty if it names no side.

    Examples
    --------
    >>> side_pattern("Voltage.L Rect"), side_pattern("RVL"), side_pattern("left_soleus"), side_pattern("Soleus")
    ('Voltage.{S} Rect', '{S}VL', '{side}_soleus', '')
    """
    if match := _SIDE.search(label):
        return label[: match.start()] + _placeholder(match[0]) + label[match.end() :]
    for match in re.finditer(r"[A-Za-z]+", label):
        word = match[0]
        if word[0] in "lrLR" and len(word) > 2 and muscle_of(word[1:]) and not muscle_of(word):
            return label[: match.start()] + _placeholder(word[0]) + label[match.start() + 1 :]
    return ""


def _placeholder(side: str) -> str:
    """Placeholder for the spelling of a side."""
    if len(side) == 1:
        return "{S}" if side.isupper() else "{s}"
    return "{side}" if side.islower() else "{SIDE}" if side.isupper() else "{Side}"

"""Statements of a file on a person: whose they are, and numbers with their units."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from limbtorque.cli.init.survey import Body, Seen

NAMES = "SUBJECTS:NAMES"
MASS_PARAMETERS = ("PROCESSING:BODYMASS", "SUBJECT:WEIGHT")
HEIGHT_PARAMETERS = ("PROCESSING:HEIGHT", "SUBJECT:HEIGHT")
MASS_KG = (1.0, 400.0)
HEIGHT_M = (0.5, 2.4)
KILOGRAMS = {"kg": 1.0, "kgs": 1.0, "lb": 0.45359237, "lbs": 0.45359237, "pounds": 0.45359237, "g": 0.001}
METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "inch": 0.0254, "inches": 0.0254, '"': 0.0254, "ft": 0.3048}
Reads = Callable[[str], tuple[float | None, str]]  # of a text: the number, and what was assumed or is wrong
_NUMBER = re.compile(r"([-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?)\s*([a-z\"]*)\.?")
_FEET = re.compile(r"(\d+)\s*(?:'|ft|feet)\s*(\d+(?:\.\d+)?)?\s*(?:''|\"|in|inches)?\.?")


def statements_of(one: Seen, body: Body) -> tuple[tuple[str, str], ...]:
    """Statements of a recording that are on one of its bodies.

    Parameters
    ----------
    one, body : Seen, Body
        The recording, and whose markers.

    Returns
    -------
    tuple of (str, str)
        All of them where the file knows one person. With several, those parameters that have a value for each name, by the
        place of the subject prefix among the names; what is stated once is on nobody in particular.
    """
    names = [text for parameter, text in one.said if parameter == NAMES]
    if len(one.bodies) <= 1 and len(names) <= 1:
        return one.said
    folded = [name.casefold() for name in names]
    if folded.count(body.prefix.casefold()) != 1:
        return ()
    at = folded.index(body.prefix.casefold())
    by_parameter: dict[str, list[str]] = {}
    for parameter, text in one.said:
        by_parameter.setdefault(parameter, []).append(text)
    return tuple((parameter, texts[at]) for parameter, texts in by_parameter.items() if len(texts) == len(names))


def of_body(one: Seen, body: Body) -> Seen:
    """One body of a recording, with what is known of it alone.

    Parameters
    ----------
    one, body : Seen, Body
        The recording, and whose markers.
    """
    alone = len(one.bodies) <= 1
    moved_m = one.moved_m if alone or body.moved_m is None else body.moved_m
    return replace(
        one,
        bodies=(body,),
        said=statements_of(one, body),
        moved_m=moved_m,
        weight_n=one.weight_n if alone else 0.0,
    )


def stated_name(one: Seen) -> str:
    """Name of the person in a recording of one; empty where there is none."""
    names = [text for parameter, text in one.said if parameter == NAMES]
    return names[0] if len(names) == 1 else ""


def mass_of(text: str) -> tuple[float | None, str]:
    """Body mass in kg of a text, and what was assumed or is wrong.

    Examples
    --------
    >>> mass_of("45.8"), mass_of("0")
    ((45.8, ''), (None, "'0' is not a plausible body mass in kg"))
    >>> round(mass_of("165 lb")[0], 1)
    74.8
    """
    number, unit = _parts(text)
    if number is None or unit not in ("", *KILOGRAMS):
        return None, f"{text!r} is not a body mass"
    kilograms = number * KILOGRAMS.get(unit, 1.0)
    if not MASS_KG[0] <= kilograms <= MASS_KG[1]:
        return None, f"{text!r} is not a plausible body mass in {unit or 'kg'}"
    return kilograms, ""


def height_of(text: str) -> tuple[float | None, str]:
    """Height in m of a text, and what was assumed or is wrong.

    Examples
    --------
    >>> height_of("1480"), height_of("71")[0], height_of("71 in")
    ((1.48, 'mm assumed'), None, (1.8034, ''))
    """
    return length_of(text, HEIGHT_M, "height")


def length_of(text: str, plausible_m: tuple[float, float], what: str) -> tuple[float | None, str]:
    """Length in m of a text, in the one unit in which it is plausible.

    Parameters
    ----------
    text : str
        A number, with its unit or without.
    plausible_m : (float, float)
        Shortest and longest, m.
    what : str
        Name of the length.
    """
    feet = _FEET.fullmatch(text.strip().lower())
    number, unit = _parts(text)
    if feet:
        return _within(float(feet[1]) * METRES["ft"] + float(feet[2] or 0.0) * METRES["in"], plausible_m, text, what)
    if number is None or unit not in ("", *METRES):
        return None, f"{text!r} is not a {what}"
    if unit:
        return _within(round(number * METRES[unit], 6), plausible_m, text, what)
    units = [name for name in ("m", "cm", "mm", "in") if plausible_m[0] <= number * METRES[name] <= plausible_m[1]]
    if len(units) == 1 and units != ["in"]:
        return round(number * METRES[units[0]], 6), f"{units[0]} assumed"
    why = f"may be in {' or '.join(units)}, which it does not state" if units else f"is no plausible {what}"
    return None, f"{text!r} {why}"


def _within(length_m: float, plausible_m: tuple[float, float], text: str, what: str) -> tuple[float | None, str]:
    fits_in = plausible_m[0] <= length_m <= plausible_m[1]
    return (length_m, "") if fits_in else (None, f"{text!r} is no plausible {what}")


def _parts(text: str) -> tuple[float | None, str]:
    """Number and unit of a text; no number where it is something else."""
    match = _NUMBER.fullmatch(text.strip().lower())
    return (float(match[1].replace(",", ".")), match[2]) if match else (None, "")


def agreed(
    ones: Sequence[Seen], parameters: Sequence[str], reads: Reads, *, one_person: bool
) -> tuple[float | None, list[str]]:
    """Number on which all files of a person agree, and sentences on its source.

    Parameters
    ----------
    ones : sequence of Seen
        Recordings of one person each (`of_body`).
    parameters : sequence of str
        Parameters that state the number.
    reads : callable
        Number of a text, with what was assumed or is wrong.
    one_person : bool
        False where it is not certain that all files are of one person: all of them have to state the number then.
    """
    texts: dict[str, dict[str, int]] = {}  # parameter -> text -> number of files
    stating = 0
    for one in ones:
        own = {(name, text) for name, text in one.said if name in parameters}
        stating += any(reads(text)[0] is not None for _, text in own)
        for name, text in own:
            texts.setdefault(name, {})[text] = texts.get(name, {}).get(text, 0) + 1
    said, wrong, values = list[str](), list[str](), dict[float, str]()
    for name in (name for name in parameters if name in texts):
        read = {text: reads(text) for text in sorted(texts[name])}
        good = {round(value, 6): text for text, (value, _) in read.items() if value is not None}
        if len(good) > 1:
            said.append(f"{name} differs between the files: {', '.join(sorted(good.values()))}")
        elif good:
            files = sum(texts[name][text] for text, (value, _) in read.items() if value is not None)
            assumed = next((f"; {why}" for value, why in read.values() if value is not None and why), "")
            said.append(f"{name} is {next(iter(good.values()))} in {files} file{'s' * (files > 1)}{assumed}")
        wrong += [f"{name}: {why}" for value, why in read.values() if value is None]
        values |= good
    said += wrong
    if len(values) != 1:
        across = len({name for name in texts if name in parameters}) > 1 and len(values) > 1
        return None, [*said, *(["the parameters contradict each other: none is used"] if across else [])]
    value = next(iter(values))
    if stating < len(ones) and not one_person:
        names = ", ".join(name for name in parameters if name in texts)
        return None, [
            f"{names} is {values[value]} in {stating} of {len(ones)} files, and nothing says that the others are of the same "
            "person: not used"
        ]
    return value, said

"""Scale and offset of the analog channels of a C3D file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.audit import Finding
from limbtorque.recordings.c3d.header import Header
from limbtorque.recordings.c3d.parameters import Parameter, numbers, texts

SCALES = (1e-12, 1e12)  # units of a channel for one step of its numbers
MAX_OFFSET = 65535.0  # the largest number of 16 bits
WRAP = 32768  # a larger step between two samples is a sign read wrong
REAL = 4  # bytes of a real number


def is_unsigned(header: Header) -> bool:
    """True where ``ANALOG:FORMAT`` declares unsigned integers."""
    return _format(header) == "UNSIGNED"


def _format(header: Header) -> str:
    found = _group(header).get("FORMAT")
    return "".join(texts(found)).strip(" \0").upper() if found is not None else ""


def analog_scale(header: Header) -> tuple[FloatArray, FloatArray]:
    """Scale and offset of each analog channel: a value is (number - offset) * scale.

    Parameters
    ----------
    header : Header
        The file's parameters and counts.

    Returns
    -------
    scale, offset : ndarray of shape (n_channels,)
        ``ANALOG:GEN_SCALE`` times ``SCALE``, and ``OFFSET``, which is unsigned where ``FORMAT`` says so. Continued
        parameters (``SCALE2``, ...) are joined. A parameter that is missing counts as 1, 1 and 0; scale and offset of a
        channel are NaN where the parameter has no value for it, or an impossible one.
    """
    group = _group(header)
    general = _joined(group, "GEN_SCALE", header, 1, 1.0)[0]
    scale = _joined(group, "SCALE", header, header.n_channels, 1.0)
    offset = _joined(group, "OFFSET", header, header.n_channels, 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        scale = general * scale
        unknown = ~(_of_a_size(scale) & (np.abs(offset) <= MAX_OFFSET))
    return np.where(unknown, np.nan, scale), np.where(unknown, np.nan, offset)


def _of_a_size(scale: FloatArray) -> BoolArray:
    smallest, largest = SCALES
    known: BoolArray = (np.abs(scale) >= smallest) & (np.abs(scale) <= largest)
    return known


def _joined(group: Mapping[str, Parameter], name: str, header: Header, n: int, missing: float) -> FloatArray:
    """Exactly n numbers of a parameter and its continuations; NaN where it has fewer."""
    if name not in group:
        return np.full(n, missing)
    found, key, k = [], name, 1
    while key in group:
        found.append(numbers(group[key], header.processor, signed=name != "OFFSET" or not is_unsigned(header)))
        k += 1
        key = f"{name}{k}"
    values = np.full(n, np.nan)
    joined = np.concatenate(found)[:n]
    values[: joined.size] = joined
    return values


def refuse_unreadable_scale(header: Header, name: str) -> None:
    """Refuse a file whose analog numbers cannot be scaled.

    Parameters
    ----------
    header : Header
        The file's parameters and counts.
    name : str
        Name of the file, for messages.

    Raises
    ------
    ReadError
        ``ANALOG:GEN_SCALE`` is text, 0, or of a size that no scale has; or a number of ``SCALE`` or ``OFFSET`` is not finite.
    """
    group = _group(header)
    general = _joined(group, "GEN_SCALE", header, 1, 1.0)[0] if header.n_channels else 1.0
    given = [numbers(group[key], header.processor) for key in ("SCALE", "OFFSET") if key in group]
    if np.isinf(general) or not all(np.isfinite(values[: header.n_channels]).all() for values in given):
        raise ReadError(
            f"{name}: ANALOG:GEN_SCALE, SCALE or OFFSET is not a number; the file is damaged, export it again"
        )
    if not _of_a_size(np.array([general]))[0]:
        said = "not a number" if np.isnan(general) else f"{general:g}"
        raise ReadError(
            f"{name}: ANALOG:GEN_SCALE is {said}, expected a size from {SCALES[0]:g} to {SCALES[1]:g}, which multiplies "
            "every analog value; correct it in the file"
        )


def scale_findings(header: Header, analog: FloatArray) -> list[Finding]:
    """Guesses about the scaling of the analog channels.

    Parameters
    ----------
    header : Header
        The file's parameters and counts.
    analog : ndarray of shape (n_samples, n_channels)
        Scaled values.

    Returns
    -------
    list of Finding
        A guess for each statement that is missing or contradicts another.
    """
    if not header.n_channels:
        return []
    return [*_missing(header), *_odd(header), *_unknown_channels(header), *_format_findings(header, analog)]


def _missing(header: Header) -> list[Finding]:
    """Guesses about parameters that are not in the file."""
    defaults = {"GEN_SCALE": "1", "SCALE": "1 for every channel", "OFFSET": "0 for every channel"}
    return [
        Finding(f"ANALOG:{name}", "not stated", default, f"set ANALOG:{name} in the file")
        for name, default in defaults.items()
        if name not in _group(header)
    ]


def _odd(header: Header) -> list[Finding]:
    """Guesses about counts and kinds that contradict the C3D user guide."""
    group, found = _group(header), []
    general = numbers(group["GEN_SCALE"], header.processor) if "GEN_SCALE" in group else np.ones(1)
    if general.size > 1 or general[0] < 0:
        said = ", ".join(f"{value:g}" for value in general[:3])
        found.append(
            Finding("general scale", f"ANALOG:GEN_SCALE is {said}", f"{general[0]:g}", "make it one positive number")
        )
    whole = [name for name in ("GEN_SCALE", "SCALE") if name in group and group[name].size != REAL]
    if whole:
        said = f"ANALOG:{' and '.join(whole)} stored as integers, expected real numbers"
        found.append(Finding("kind of scale", said, "followed", "store them as real numbers"))
    used = numbers(group["USED"], header.processor, signed=False) if "USED" in group else np.full(1, header.n_channels)
    if used.size != 1 or used[0] != header.n_channels:
        said = f"ANALOG:USED is {used[0]:g}" if used.size else "ANALOG:USED is not a number"
        found.append(
            Finding(
                "analog channels",
                f"{said}, the header counts {header.n_channels}",
                f"{header.n_channels}, as in the header",
                "correct ANALOG:USED in the file",
            )
        )
    return found


def _unknown_channels(header: Header) -> list[Finding]:
    """Guess about the channels whose scale or offset is not known."""
    unknown = np.flatnonzero(np.isnan(analog_scale(header)[0])) + 1
    if not unknown.size:
        return []
    listed = f"{', '.join(map(str, unknown[:8]))}{', ...' if unknown.size > 8 else ''}"
    return [
        Finding(
            "scale of channels",
            f"ANALOG:SCALE or OFFSET has no value, 0 or an impossible one for {unknown.size} of {header.n_channels} channels ({listed})",
            "their values are missing, and force plates that need them are left out",
            "correct SCALE and OFFSET in the file",
        )
    ]


def _format_findings(header: Header, analog: FloatArray) -> list[Finding]:
    """Guesses about ``ANALOG:FORMAT``: an unknown word, or samples that wrap round."""
    said = _format(header)
    if header.scale < 0:
        return []
    if "FORMAT" in _group(header) and said not in ("SIGNED", "UNSIGNED"):
        return [Finding("sign of analog numbers", f"ANALOG:FORMAT is {said!r}", "signed", "make it SIGNED or UNSIGNED")]
    scale, offset = analog_scale(header)
    with np.errstate(invalid="ignore"):
        stored = analog / scale + offset
        other = np.where(stored >= WRAP, stored - 2 * WRAP, np.where(stored < 0, stored + 2 * WRAP, stored))
        wraps, other_wraps = (int((np.abs(np.diff(x, axis=0)) > WRAP).sum()) for x in (stored, other))
    if wraps <= other_wraps:
        return []
    return [
        Finding(
            "sign of analog numbers",
            f"ANALOG:FORMAT is {said or 'not stated'}, but {wraps} steps between samples are over half of the range of 16 bits",
            said.lower() or "signed",
            f"make ANALOG:FORMAT {'SIGNED' if is_unsigned(header) else 'UNSIGNED'}, or export the file again",
        )
    ]


def _group(header: Header) -> Mapping[str, Parameter]:
    return header.parameters.get("ANALOG", {})

"""Counts and numbers of channels that a C3D file stores with fractions."""

from __future__ import annotations

import numpy as np

from limbtorque.recordings.audit import Finding
from limbtorque.recordings.c3d.header import Header
from limbtorque.recordings.c3d.parameters import numbers

WHOLE = {
    "POINT": ("USED", "FRAMES", "LONG_FRAMES"),
    "FORCE_PLATFORM": ("TYPE", "ZERO", "CHANNEL"),
    "TRIAL": ("ACTUAL_START_FIELD", "ACTUAL_END_FIELD"),
}  # some programs store them as real numbers; the other USED are compared with what they count


def fraction_findings(header: Header) -> list[Finding]:
    """Guesses about counts, types and numbers of channels that are not whole.

    Parameters
    ----------
    header : Header
        The file's parameters.

    Returns
    -------
    list of Finding
        A guess for each such parameter.
    """
    found = []
    for group, names in WHOLE.items():
        for name in names:
            entry = header.parameters.get(group, {}).get(name)
            values = numbers(entry, header.processor) if entry is not None else np.zeros(0)
            broken = values[np.isfinite(values) & (values % 1 != 0)]
            if broken.size:
                found.append(
                    Finding(
                        "whole numbers",
                        f"{group}:{name} has {', '.join(f'{value:g}' for value in broken[:3])}",
                        "counts are cut to whole numbers, force plates with such a type or channel left out",
                        f"correct {group}:{name} in the file",
                    )
                )
    return found

"""Force plates among named columns: Fx, Fy, Fz, COPx, COPy, COPz, Ty."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.findings import Findings
from limbtorque.recordings.recording import ForcePlate
from limbtorque.recordings.wrenches import Wrench, plate_of

_COLUMN = re.compile(r"(F|COP|T)([xyz])(\d*)")
Columns = Mapping[str, Mapping[int, int]]


def force_columns(names: Sequence[str]) -> dict[int, Columns]:
    """Columns of each plate by its number: quantity -> axis -> column.

    Examples
    --------
    >>> force_columns(["Time", "Fx", "Fy", "Fz", "COPx", "COPy", "COPz", "Ty"])
    {1: {'F': {0: 1, 1: 2, 2: 3}, 'COP': {0: 4, 1: 5, 2: 6}, 'T': {1: 7}}}
    """
    found: dict[int, dict[str, dict[int, int]]] = {}
    for k, name in enumerate(names):
        if match := _COLUMN.fullmatch(name.strip()):
            quantities = found.setdefault(int(match[3] or 1), {})
            quantities.setdefault(match[1], {})["xyz".index(match[2])] = k
    return {n: q for n, q in sorted(found.items()) if len(q.get("F", ())) == 3 and len(q.get("COP", ())) == 3}


def plates_in(
    columns: Mapping[int, Columns],
    values: FloatArray,
    *,
    rate_hz: float,
    units: tuple[float, float],
    findings: Findings,
) -> tuple[ForcePlate, ...]:
    """Force plates of kind 0.

    Parameters
    ----------
    columns : mapping
        From `force_columns`.
    values : ndarray of shape (n_samples, n_columns)
        The table.
    rate_hz : float
        Samples per second.
    units : pair of float
        Newtons and metres in the units of the table; the free moment is in their product.
    findings : Findings
        Gets a finding for each plate.
    """
    force_n, length_m = units
    plates = []
    for number, quantities in columns.items():
        force, point = (values[:, [quantities[name][axis] for axis in range(3)]] for name in ("F", "COP"))
        couple = np.zeros_like(force)
        for axis, k in quantities.get("T", {}).items():
            couple[:, axis] = values[:, k] * force_n * length_m
        free = "free moment" if "T" in quantities else "no free moment"
        findings.add(
            f"force plate {number}",
            f"columns of force, centre of pressure, {free}",
            "force on the foot; its corners are unknown",
            "" if "T" in quantities else "export the free moment, too: it is set to zero",
        )
        plates.append(plate_of(Wrench(force * force_n, point * length_m, couple), number, rate_hz))
    return tuple(plates)

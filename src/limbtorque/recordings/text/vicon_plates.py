"""Force plates among the devices of a Vicon Nexus CSV: Fx, Mx, Cx and their axes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.findings import Findings
from limbtorque.recordings.force_plates import FORCES_N, LENGTHS_M, MOMENTS_NM, plain_unit
from limbtorque.recordings.join import NEAR_M, distance_m
from limbtorque.recordings.recording import ForcePlate
from limbtorque.recordings.wrenches import LOADED_N, Wrench, plate_of, pushing

UNITS = {
    "F": FORCES_N,
    "M": MOMENTS_NM | {length + force: n * m for force, n in FORCES_N.items() for length, m in LENGTHS_M.items()},
    "C": LENGTHS_M,
}
MAX_OFF_M = 0.002  # between the centre of pressure of the moments and the one in the file
TURNED = (
    (1, 1, 1),
    (1, -1, -1),
    (-1, 1, -1),
    (-1, -1, 1),
)  # axes of the laboratory, and of plates turned by 180 degrees
COMBINED = ("combined", "combined plates", "combined force plates")  # outputs of all plates together
FEWEST = 10  # loaded samples that say where moments are about
_COLUMN = re.compile(r"([FMC])([xyz])(\d*)", re.IGNORECASE)
_OUTPUT = re.compile(r"[\s.-]*\b(?:forces?|moments?|cop|cent(?:re|er) of pressure)$", re.IGNORECASE)
Columns = Mapping[str, Mapping[int, int]]


def plate_columns(labels: Sequence[str]) -> dict[str, Columns]:
    """Columns of each device with forces: device -> quantity -> axis -> column.

    Parameters
    ----------
    labels : sequence of str
        Labels of the channels, device and column name with a point between them.

    Examples
    --------
    >>> plate_columns(["Plate #1 - Force.Fx", "Plate #1 - Force.Fy", "Plate #1 - CoP.Cx", "EMG.RF"])
    {'Plate #1': {'F': {0: 0, 1: 1}, 'C': {0: 2}}}
    """
    found: dict[str, dict[str, dict[int, int]]] = {}
    for k, label in enumerate(labels):
        device, _, name = label.rpartition(".")
        if match := _COLUMN.fullmatch(name.strip()):
            device = " ".join(filter(None, (_OUTPUT.sub("", device.strip()), match[3])))
            axes = found.setdefault(device, {}).setdefault(match[1].upper(), {})
            axes["xyz".index(match[2].lower())] = k
    return {device: quantities for device, quantities in found.items() if "F" in quantities}


def device_plates(
    labels: Sequence[str],
    units: Sequence[str],
    values: FloatArray,
    *,
    rate_hz: float,
    markers_m: FloatArray,
    findings: Findings,
) -> tuple[ForcePlate, ...]:
    """Force plates of kind 0 from the columns of devices.

    Parameters
    ----------
    labels, units : sequence of str
        Of the columns.
    values : ndarray of shape (n_samples, n_columns)
        Their numbers, in these units.
    rate_hz : float
        Samples per second.
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Markers over the same time, m; they say which side of the plate the body is on.
    findings : Findings
        Gets a finding for each plate, with the reason where it is not used.

    Notes
    -----
    Nexus writes the force on the plate or on the foot, and moments about a point of the plate that the file does not state.
    For loaded samples with centre of pressure P, the moment M - P x F about the origin of the laboratory is F x O but for the free moment about
    the vertical: O is the least-squares solution of its horizontal components. Where force, moment and P are in the same
    axes the residual is that of rounding; as a distance, over the force, it may be 2 mm. Where axes turned by 180 degrees
    fit as well, since P hardly moves, those of the laboratory are a guess. The plate's moment is M + O x F, whose sign is that of the force on
    the foot: a plate cannot pull.
    """
    plates: list[ForcePlate] = []
    for device, columns in plate_columns(labels).items():
        item = f"force plate {device!r}"
        if device.lower() in COMBINED:
            findings.add(item, "the sum of the plates", "not used")
            continue
        read = _in_si(columns, units, values)
        if isinstance(read, str):
            findings.add(item, read, "not used")
            findings.notes.append(f"{item} is not used: {read}")
            continue
        wrench, point_m, off_m = _about(*read)
        if off_m[0] > MAX_OFF_M:
            why = (
                f"its moments and its centre of pressure are {off_m[0]:.2g} m apart (root mean square): not in the same axes; "
                "export forces, moments and centres of pressure in the axes of the laboratory"
            )
            findings.add(item, why, "not used")
            findings.notes.append(f"{item} is not used: {why}")
            continue
        number = len(plates) + 1
        plates.append(_plate(wrench, point_m, number, rate_hz, markers_m))
        _add_finding(f"force plate {number}", device, plates[-1], columns, markers_m, findings)
        if min(off_m[1:], default=1.0) <= MAX_OFF_M:
            said = "forces and moments in axes turned by 180 degrees would fit the centre of pressure as well"
            settle = "compare the sign of braking with a C3D export"
            findings.add(f"axes of force plate {number}", said, "in those of the laboratory", settle)
    return tuple(plates)


def _in_si(
    columns: Columns, units: Sequence[str], values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray | None] | str:
    """Force, point and moment in SI units; a sentence where they are not usable."""
    found = []
    for quantity, name in (("F", "force"), ("C", "centre of pressure"), ("M", "moment")):
        axes = columns.get(quantity, {})
        if len(axes) != 3:
            if quantity == "M" and not axes:
                continue
            return f"{len(axes)} of 3 columns of its {name}; export force, moment and centre of pressure (CoP)"
        own = [units[axes[k]] for k in range(3)]
        factors = [UNITS[quantity].get(plain_unit(unit)) for unit in own]
        if None in factors:
            return f"the units of its {name} are {', '.join(map(repr, own))}; export them in N, N.mm and mm"
        found.append(values[:, [axes[k] for k in range(3)]] * np.array(factors, dtype=float))
    return found[0], found[1], found[2] if len(found) > 2 else None


def _about(
    force: FloatArray, point: FloatArray, moment: FloatArray | None
) -> tuple[Wrench, FloatArray, tuple[float, ...]]:
    """Wrench about a fixed point, mean centre of pressure, and their distances, m.

    The distances are those of forces and moments as they are, and turned (`TURNED`).
    """
    finite = np.isfinite(np.hstack([force, point])).all(axis=1)
    if moment is not None:
        finite &= np.isfinite(moment).all(axis=1)
    loaded = np.flatnonzero(finite & (np.linalg.norm(np.nan_to_num(force), axis=1) > LOADED_N))
    point_m = point[loaded].mean(axis=0) if len(loaded) else np.zeros(3)
    if moment is None or len(loaded) < FEWEST:
        return Wrench(force, point, np.zeros_like(force)), point_m, (0.0,)
    fits = [_fixed_point(force[loaded] * axes, point[loaded], moment[loaded] * axes) for axes in np.array(TURNED)]
    about = Wrench(force, np.broadcast_to(fits[0][0], force.shape), moment)
    return about, point_m, tuple(off_m for _, off_m in fits)


def _fixed_point(force: FloatArray, point: FloatArray, moment: FloatArray) -> tuple[FloatArray, float]:
    """Point that moments are about, and the distance left, m (root mean square)."""
    vertical = int(np.abs(force.mean(axis=0)).argmax())
    level = [k for k in range(3) if k != vertical]
    crossed = np.cross(force[:, np.newaxis], np.eye(3)).transpose(0, 2, 1)[:, level].reshape(-1, 3)
    wanted = (moment - np.cross(point, force))[:, level].ravel()
    origin = np.asarray(np.linalg.lstsq(crossed, wanted, rcond=None)[0], dtype=float)
    off = (crossed @ origin - wanted).reshape(-1, 2) / np.linalg.norm(force, axis=1, keepdims=True)
    return origin, float(np.sqrt(np.mean(np.sum(off**2, axis=1))))


def _plate(wrench: Wrench, point_m: FloatArray, number: int, rate_hz: float, markers_m: FloatArray) -> ForcePlate:
    """Plate with the wrench on the foot, its surface at the height of the pressure."""
    vertical = int(np.abs(np.nan_to_num(wrench.force_n).sum(axis=0)).argmax())
    heights = markers_m[..., vertical][~np.isnan(markers_m[..., vertical])]
    side = 1.0 if not heights.size or np.median(heights) >= point_m[vertical] else -1.0
    on_foot, _ = pushing(wrench, side * np.eye(3)[vertical])
    return plate_of(on_foot, number, rate_hz, corners_m=np.tile(point_m, (4, 1)))


def _add_finding(
    item: str, device: str, plate: ForcePlate, columns: Columns, markers_m: FloatArray, findings: Findings
) -> None:
    """Finding on a plate, a guess where it acts far from the feet or lacks its moment."""
    moments = "M" in columns
    findings.add(
        item,
        f"{device}: force, centre of pressure{' and moment' if moments else ', no moment'}",
        "force on the foot; its corners are unknown",
        "" if moments else "export the moment, too: the free moment is set to zero",
    )
    apart_m = distance_m(markers_m, [plate])
    if not math.isnan(apart_m) and apart_m > NEAR_M:
        findings.add(
            f"place of {item}",
            f"it acts {apart_m:.2f} m (median) from the nearest of the lowest markers",
            "used",
            "compare its axes with those of the markers (`limbtorque inspect`)",
        )

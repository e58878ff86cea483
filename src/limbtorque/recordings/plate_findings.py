"""Findings about the force plates of a C3D file, and guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.audit import Finding
from limbtorque.recordings.force_plates import (
    FORCES_N,
    MAX_PLATES,
    MOMENTS_NM,
    UnusableError,
    channel_columns,
    channels_of,
    plain_numbers,
    plain_unit,
    plate_axes,
    plate_column,
    used_plates,
)
from limbtorque.recordings.plate_plausibility import (
    CHANNEL_AXES,
    FAR_M,
    IDLE_N,
    MAX_TWIST_M,
    MOST,
    SOME,
    axis_name,
    distance_from_markers_m,
    heavy_load,
    misnamed_axes,
    overlap_share,
    plates_exchanged,
)
from limbtorque.recordings.recording import ForcePlate

MIN_DEPTH_M = 1e-3  # of sensors below a surface


def plate_findings(
    group: Mapping[str, Any],
    plates: Sequence[ForcePlate],
    units: Sequence[str],
    labels: Sequence[str],
    markers_m: FloatArray,
) -> list[Finding]:
    """Findings about the force plates that :func:`force_plates` gave.

    Parameters
    ----------
    group : mapping
        Parameters of ``FORCE_PLATFORM``.
    plates : sequence of ForcePlate
        The plates.
    units, labels : sequence of str
        Units and labels of all analog channels.
    markers_m : ndarray of shape (n_frames, n_markers, 3)
        Markers, m.

    Returns
    -------
    list of Finding
        For each plate its type, channels, units and corners; guesses where the file contradicts itself or does not
        say what the forces need.
    """
    used = used_plates(group)
    found = [*_count_findings(group, used, units, labels), *_exchanged_findings(group, plates, labels)]
    found += [*_overlap_findings(plates), *_mixed_unit_findings(group, plates, units)]
    for plate in plates:
        found += _plate_findings(group, plate, units, labels, markers_m)
    left_out = used - len(plates)
    if left_out:
        found.append(Finding("force plates", f"{used} in the file", f"{left_out} left out; see the notes"))
    return found if found or used else [Finding("force plates", "none", "none")]


def _plate_findings(
    group: Mapping[str, Any],
    plate: ForcePlate,
    units: Sequence[str],
    labels: Sequence[str],
    markers_m: FloatArray,
) -> list[Finding]:
    """Findings about one plate."""
    columns = channel_columns(group, plate.number - 1, plate.kind, len(units))
    own, names = [units[c] for c in columns], [labels[c] for c in columns]
    low, high = plate.corners_m.min(axis=0), plate.corners_m.max(axis=0)
    found = [
        Finding(
            f"force plate {plate.number}",
            f"type {plate.kind}, channels {[c + 1 for c in columns]} in {', '.join(unit or 'none' for unit in own)}",
            "force on the foot and moment about the laboratory's origin; its surface spans "
            f"x {low[0]:.3f} to {high[0]:.3f}, y {low[1]:.3f} to {high[1]:.3f}, z {low[2]:.3f} to {high[2]:.3f} m; "
            "which foot it is given to follows from plates.assignment",
        ),
        *_origin_findings(group, plate),
        *_unit_findings(plate, own),
    ]
    if misnamed_axes(names, plate.kind):
        said = f"FORCE_PLATFORM:CHANNEL takes {', '.join(names)} for {', '.join(CHANNEL_AXES[plate.kind])}"
        found.append(
            Finding(f"channels of force plate {plate.number}", said, "followed", "correct CHANNEL or ANALOG:LABELS")
        )
    return found + _load_findings(plate, markers_m)


def _load_findings(plate: ForcePlate, markers_m: FloatArray) -> list[Finding]:
    """Guesses about the force of a plate and where it acts."""
    axes, found = plate_axes(plate.corners_m), []
    largest_n = float(np.abs(np.nan_to_num(plate.force_n)).max(initial=0.0))
    if 0.0 < largest_n < IDLE_N:
        said = f"never over {largest_n:.3g} N, less than the noise of a plate"
        found.append(
            Finding(f"force of force plate {plate.number}", said, "unloaded", "check SCALE, UNITS and CAL_MATRIX")
        )
    load = heavy_load(plate, axes)
    if load is None:
        return found
    if load.twisted_share > SOME:
        found.append(
            Finding(
                f"free moment of force plate {plate.number}",
                f"more than {MAX_TWIST_M:g} m times the force in {load.twisted_share:.0%} of the loaded samples",
                "used",
                "check the SCALE and UNITS of its moments",
            )
        )
    if load.sideways_share > MOST:
        found.append(
            Finding(
                f"direction of the force of force plate {plate.number}",
                f"more along its surface than across it in {load.sideways_share:.0%} of the loaded samples",
                "used",
                "check the order of its channels (FORCE_PLATFORM:CHANNEL) and their SCALE",
            )
        )
    away_m = distance_from_markers_m(plate, load, axes, markers_m)
    doubts = (
        [f"outside the edges in {load.outside_share:.0%} of the loaded samples"] if load.outside_share > SOME else []
    )
    doubts += [f"{away_m:.3g} m beside the nearest marker (median)"] if away_m > FAR_M else []
    if doubts:
        found.append(
            Finding(
                f"centre of pressure of force plate {plate.number}",
                " and ".join(doubts),
                "used",
                "check CORNERS, ORIGIN, and the order, SCALE and UNITS of its channels",
            )
        )
    return found


def _origin_findings(group: Mapping[str, Any], plate: ForcePlate) -> list[Finding]:
    """Guesses about the place of the sensors."""
    origin = plate_column(group, "ORIGIN", plate.number - 1, (3,))
    edges = (plate_column(group, "CORNERS", plate.number - 1, (3, 4)).T, plate.corners_m)
    in_file, in_m = (float(np.linalg.norm(corners[0] - corners[2])) for corners in edges)
    if plate.kind in (2, 4) and abs(origin[2]) * in_m < MIN_DEPTH_M * in_file:
        return [
            Finding(
                f"origin of force plate {plate.number}",
                f"FORCE_PLATFORM:ORIGIN is {origin.tolist()}, its z should be negative and in the unit of the corners",
                "sensors in the surface",
                "make ORIGIN the vector from the sensor to the surface in the file",
            )
        ]
    if plate.kind == 3 or origin[2] <= 0:
        return []
    return [
        Finding(
            f"origin of force plate {plate.number}",
            f"FORCE_PLATFORM:ORIGIN is {origin.tolist()}, its z should be negative",
            "reversed, as in Vicon's files",
            "make ORIGIN the vector from the sensor to the surface in the file",
        )
    ]


def _unit_findings(plate: ForcePlate, own: Sequence[str]) -> list[Finding]:
    """Guesses about calibrated forces and moments of no stated unit."""
    said, found = f"the units of its channels are {', '.join(unit or 'none' for unit in own)}", []
    if plate.kind == 4 and all(plain_unit(unit) not in FORCES_N for unit in own[:3]):
        found.append(
            Finding(
                f"forces of force plate {plate.number}",
                said,
                "calibrated forces interpreted in N",
                "set ANALOG:UNITS of its force channels",
            )
        )
    if plate.kind == 4 and all(plain_unit(unit) not in MOMENTS_NM for unit in own[3:]):
        found.append(
            Finding(
                f"moments of force plate {plate.number}",
                said,
                "calibrated moments interpreted in N times the file's unit of length",
                "set ANALOG:UNITS of its moment channels",
            )
        )
    return found


def _count_findings(group: Mapping[str, Any], used: int, units: Sequence[str], labels: Sequence[str]) -> list[Finding]:
    """Guesses about plates that the file describes and does not count."""
    stated = plain_numbers(group.get("USED")).ravel()
    said = f"FORCE_PLATFORM:USED is {', '.join(f'{n:g}' for n in stated[:3]) or 'not stated'}"
    described = _described(group)
    named = [
        axis_name(label) for label, unit in zip(labels, units, strict=True) if plain_unit(unit) in FORCES_N | MOMENTS_NM
    ]
    if described > used or (described and list(stated) != [used]):
        return [
            Finding(
                "number of force plates",
                f"{said}, the other parameters describe {described}",
                f"{used} read",
                "correct FORCE_PLATFORM:USED in the file",
            )
        ]
    if not used and {"FX", "FY", "FZ"} <= set(named):
        return [
            Finding(
                "number of force plates",
                f"{said}, channels are named as those of a plate",
                "no force plate read",
                "describe the plate in the group FORCE_PLATFORM",
            )
        ]
    return []


def _described(group: Mapping[str, Any]) -> int:
    """Plates from the first on that have a type, channels and a surface."""
    for i in range(MAX_PLATES):
        try:
            corners = plate_column(group, "CORNERS", i, (3, 4)).T
        except UnusableError:
            return i
        if not (channels_of(group, i) and np.ptp(corners, axis=0).any()):
            return i
    return MAX_PLATES


def _overlap_findings(plates: Sequence[ForcePlate]) -> list[Finding]:
    """Guesses about plates that cover each other."""
    return [
        Finding(
            f"place of force plates {one.number} and {other.number}",
            f"they cover each other by {share:.0%}",
            "used",
            "correct FORCE_PLATFORM:CORNERS in the file",
        )
        for one, other in combinations(plates, 2)
        if (share := overlap_share(one, other)) > SOME
    ]


def _mixed_unit_findings(group: Mapping[str, Any], plates: Sequence[ForcePlate], units: Sequence[str]) -> list[Finding]:
    """Guesses about forces or moments of which some are in another unit."""
    columns = {c for p in plates for c in channel_columns(group, p.number - 1, p.kind, len(units))}
    own = {plain_unit(units[c]) for c in columns}
    mixed = [sorted(own & {*known}) for known in (FORCES_N, MOMENTS_NM) if len({known[u] for u in own & {*known}}) > 1]
    return [
        Finding(
            "units of the force plates",
            f"{' and '.join(found)} beside each other",
            "each channel by its own unit",
            "correct ANALOG:UNITS in the file",
        )
        for found in mixed
    ]


def _exchanged_findings(group: Mapping[str, Any], plates: Sequence[ForcePlate], labels: Sequence[str]) -> list[Finding]:
    """Guess about channels that carry the number of another plate."""
    names = {p.number: [labels[c] for c in channel_columns(group, p.number - 1, p.kind, len(labels))] for p in plates}
    exchanged = plates_exchanged(names)
    if not exchanged:
        return []
    said = "; ".join(f"plate {number} has {', '.join(names[number])}" for number in exchanged)
    return [Finding("channels of the force plates", said, "followed", "correct CHANNEL or ANALOG:LABELS in the file")]

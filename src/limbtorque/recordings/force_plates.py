"""Wrenches of force plates in the laboratory frame, from channels of a C3D file.

Sign. A plate's scaled channels hold the *reaction*, what the plate does to the foot, in the plate's own
axes; by the order of the corners (below) its z axis points **down**, so standing on it reads as a negative
Fz. Turned into the laboratory by the corners the force points up, with no change of sign anywhere. The axes
are those of the C3D user guide (c3d.org, FORCE_PLATFORM group); BTK and ezc3d take the channels for the
reaction too. Checked against wrenches that OpenSim wrote for a recorded walk (type 2), the sheet of the
c3d.org sample files (type 4), and on recordings of five laboratories, where the force is up in stance and
its centre of pressure under the foot. For types 1 and 3 there was no recording to check. A file that keeps
another sign is caught by :func:`force_plates`: a plate that pulls is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.plate_plausibility import (
    heavy_load,
    implausible_calibration,
    implausible_load,
    implausible_origin,
    implausible_surface,
)
from limbtorque.recordings.recording import ForcePlate
from limbtorque.signals.channels import flat_tops

MAX_PLATES = 100  # read from a file; laboratories have up to a dozen
N_CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}
LENGTHS_M = {
    "mm": 1e-3,
    "millimeter": 1e-3,
    "millimetre": 1e-3,
    "cm": 1e-2,
    "centimeter": 1e-2,
    "centimetre": 1e-2,
    "m": 1.0,
    "meter": 1.0,
    "metre": 1.0,
}
FORCES_N = {"n": 1.0, "nt": 1.0, "newton": 1.0, "kn": 1e3, "kilonewton": 1e3}
MOMENTS_NM = {force + length: f * m for force, f in FORCES_N.items() for length, m in LENGTHS_M.items()}
LOADED_N = 50.0
NEAR_M = 0.05


class UnusableError(Exception):
    """Reason why a plate is left out; becomes a note."""


def force_plates(
    group: Mapping[str, Any],
    analog: FloatArray,
    units: Sequence[str],
    *,
    rate_hz: float,
    length_m: float,
    positions_m: FloatArray,
) -> tuple[tuple[ForcePlate, ...], tuple[str, ...]]:
    """Ground reaction wrench of every force plate of types 1 to 4.

    Parameters
    ----------
    group : mapping
        Values of the parameters of ``FORCE_PLATFORM``, arrays with the file's dimensions in the file's order.
    analog : ndarray of shape (n_samples, n_channels)
        Scaled analog channels, in `units`.
    units : sequence of str
        Unit of each channel.
    rate_hz : float
        Samples per second, Hz.
    length_m : float
        Metres in the file's unit of length, which ``CORNERS`` and ``ORIGIN`` are in.
    positions_m : ndarray of shape (n_frames, n_markers, 3)
        Markers, m: the loaded side of a plate is the one they are on.

    Returns
    -------
    plates : tuple of ForcePlate
        Force in N and moment about the laboratory origin in N m, of the plate on the foot.
    notes : tuple of str
        Every plate left out, with the reason, and corrections of the file that are not applied.

    Notes
    -----
    Axes: x from corner 2 to corner 1, y from corner 4 to corner 1, z their cross product. ``ORIGIN`` is the
    vector from the plate's sensor to the centre of its surface, so the moment about that centre is M - ORIGIN
    x F; its z is negative, and a file that has it positive holds the opposite vector (Vicon does), which is
    turned round. For type 3 it holds the two distances of the sensors and the depth. The baseline of ``ZERO``
    is not subtracted. Samples of which a number is not finite are NaN, and noted.

    A plate is left out where, over the samples with more than 50 N across its surface, it pulls: its mean
    force points away from the side the markers are on; and where its size, its force, its moment, its channels
    or its centre of pressure cannot be those of a plate that a foot stands on (`recordings.plate_plausibility`).
    """
    used = used_plates(group)
    body_m = _centre_of(positions_m) if used else np.full(3, np.nan)
    plates, notes = [], []
    if used > MAX_PLATES:
        notes.append(f"FORCE_PLATFORM:USED is {used}; no plate after number {MAX_PLATES} is read")
    for i in range(min(used, MAX_PLATES)):
        try:
            plate = _plate(group, i, analog, units, rate_hz=rate_hz, length_m=length_m)
            force_n, moment_nm = finite_wrench(plate.force_n, plate.moment_nm)
            plate = replace(plate, force_n=force_n, moment_nm=moment_nm)
            _check_load(plate)
            _check_side(plate, body_m)
        except UnusableError as reason:
            notes.append(f"force plate {i + 1} is left out: {reason}")
            continue
        bad = int(np.sum(~np.isfinite(plate.force_n).all(axis=1)))
        if bad:
            notes.append(f"force plate {i + 1} has no value in {bad} of {len(plate.force_n)} samples")
        plates.append(plate)
    zero = plain_numbers(group.get("ZERO")).ravel()
    if used and zero.size >= 2 and 1 <= zero[0] <= zero[1]:
        notes.append(
            f"FORCE_PLATFORM:ZERO names samples {zero[0]:g} to {zero[1]:g} as a baseline; it is not subtracted"
        )
    return tuple(plates), tuple(notes)


def _plate(
    group: Mapping[str, Any],
    i: int,
    analog: FloatArray,
    units: Sequence[str],
    *,
    rate_hz: float,
    length_m: float,
) -> ForcePlate:
    """One plate; raises the reason why not."""
    kind = _kind(group, i)
    corners_m = plate_column(group, "CORNERS", i, (3, 4)).T * length_m
    axes = plate_axes(corners_m)
    _refuse(implausible_surface(corners_m))
    columns = channel_columns(group, i, kind, analog.shape[1])
    _refuse_shared_channels(group, i, columns)
    _refuse_empty_channels(analog, columns)
    origin_m = plate_column(group, "ORIGIN", i, (3,)) * length_m
    _refuse(implausible_origin(origin_m, corners_m, kind))
    origin_m = _origin(origin_m, kind)
    signals, names = analog[:, columns], [units[c] for c in columns]
    if kind == 1:
        force, moment = _type_1(signals, names)
    elif kind == 3:
        force, moment = _type_3(signals * _force_scale(names), origin_m)
    elif kind == 4:
        matrix = plate_column(group, "CAL_MATRIX", i, (6, 6))
        _refuse(implausible_calibration(matrix))
        calibrated = signals @ matrix.T
        force = calibrated[:, :3] * _force_scale(names[:3], otherwise=1.0)
        moment = calibrated[:, 3:] * _moment_scale(names[3:], otherwise=length_m)
        moment = moment - np.cross(origin_m, force)
    else:
        force = signals[:, :3] * _force_scale(names[:3])
        moment = signals[:, 3:] * _moment_scale(names[3:]) - np.cross(origin_m, force)
    force_n = force @ axes.T
    moment_nm = moment @ axes.T + np.cross(corners_m.mean(axis=0), force_n)
    return ForcePlate(i + 1, kind, corners_m, rate_hz, force_n, moment_nm, flat_tops(signals))


def _type_1(signals: FloatArray, units: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Convert Fx, Fy, Fz, centre of pressure x, y and free moment about z."""
    force = signals[:, :3] * _force_scale(units[:3])
    point = np.zeros_like(force)
    point[:, :2] = signals[:, 3:5] * _scale(units[3:5], LENGTHS_M, "a length (mm, cm, m)")
    moment = np.cross(point, force)
    moment[:, 2] += signals[:, 5] * _moment_scale(units[5:])
    return force, moment


def _type_3(signals_n: FloatArray, distances_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Convert Fx12, Fx34, Fy14, Fy23, Fz1-4; sensors from (a, b) counter-clockwise."""
    x12, x34, y14, y23, z1, z2, z3, z4 = signals_n.T
    a, b, depth = distances_m
    force = np.stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4], axis=1)
    moment = np.stack([b * (z1 + z2 - z3 - z4), a * (z2 + z3 - z1 - z4), b * (x34 - x12) + a * (y14 - y23)], axis=1)
    return force, moment - np.cross([0.0, 0.0, depth], force)


def plate_axes(corners_m: FloatArray) -> FloatArray:
    """Unit axes of a plate's channels in the laboratory, as columns, from its corners.

    Parameters
    ----------
    corners_m : ndarray of shape (4, 3)
        Corners, m: x from corner 2 to corner 1, y from corner 4 to corner 1, z their cross product.

    Returns
    -------
    ndarray of shape (3, 3)
        Unit vectors x, y and z, one a column.
    """
    x = corners_m[0] - corners_m[1]
    z = np.cross(x, corners_m[0] - corners_m[3])
    if not np.isfinite(z).all() or math.sqrt(float(np.linalg.norm(z))) < 0.01:
        raise UnusableError("FORCE_PLATFORM:CORNERS do not span a surface; correct them in the file")
    y = np.cross(z, x)
    return np.stack([v / np.linalg.norm(v) for v in (x, y, z)], axis=1)


def _refuse(reason: str) -> None:
    """Leave the plate out where there is a reason."""
    if reason:
        raise UnusableError(reason)


def _refuse_shared_channels(group: Mapping[str, Any], i: int, columns: Sequence[int]) -> None:
    """Refuse a plate with a channel that is given twice."""
    twice = {c + 1 for c in columns if columns.count(c) > 1}
    for k in range(min(used_plates(group), MAX_PLATES)):
        if k != i:
            twice |= {c + 1 for c in channels_of(group, k) if c in columns}
    if twice:
        listed = ", ".join(map(str, sorted(twice)))
        raise UnusableError(f"FORCE_PLATFORM:CHANNEL gives channel {listed} twice; correct it in the file")


def channels_of(group: Mapping[str, Any], i: int) -> list[int]:
    """Columns of plate i's channels, from 0; none where they are not known."""
    try:
        return channel_columns(group, i, _kind(group, i), int(1e6))
    except UnusableError:
        return []


def _refuse_empty_channels(analog: FloatArray, columns: Sequence[int]) -> None:
    """Refuse a plate with a channel that has no value."""
    empty = [c + 1 for c in columns if not np.isfinite(analog[:, c]).any()]
    if empty:
        listed = ", ".join(map(str, empty))
        raise UnusableError(f"channel {listed} has no value (ANALOG:SCALE and OFFSET); correct the file")


def _check_load(plate: ForcePlate) -> None:
    """Refuse a plate whose force cannot be that of a foot on it."""
    load = heavy_load(plate, plate_axes(plate.corners_m))
    if load is not None:
        _refuse(implausible_load(plate, load))


def _origin(origin_m: FloatArray, kind: int) -> FloatArray:
    """Vector from sensor to surface, z negative; for type 3 two distances and depth."""
    if kind == 3:
        return np.array([abs(origin_m[0]), abs(origin_m[1]), -abs(origin_m[2])])
    return -origin_m if origin_m[2] > 0 else origin_m


def _kind(group: Mapping[str, Any], i: int) -> int:
    kinds = plain_numbers(group.get("TYPE")).ravel()
    if i >= kinds.size:
        raise UnusableError(f"FORCE_PLATFORM:TYPE names {kinds.size} plates, USED counts more")
    if kinds[i] not in N_CHANNELS:
        raise UnusableError(f"it is of type {kinds[i]:g}; types 1, 2, 3 and 4 are read")
    return int(kinds[i])


def plate_column(group: Mapping[str, Any], name: str, i: int, shape: tuple[int, ...]) -> FloatArray:
    """Values of plate i in a parameter whose last dimension counts the plates.

    Parameters
    ----------
    group : mapping
        Parameters of ``FORCE_PLATFORM``.
    name : str
        The parameter.
    i : int
        Number of the plate, from 0.
    shape : tuple of int
        Shape of the values of one plate.

    Returns
    -------
    ndarray of that shape
        The values, in the file's unit.

    Raises
    ------
    UnusableError
        Another shape, too few plates, or a value that is not finite.
    """
    values = plain_numbers(group.get(name))
    if values.shape == shape:
        values = values[..., np.newaxis]  # one plate, its dimension left out
    if values.ndim != len(shape) + 1 or values.shape[:-1] != shape or i >= values.shape[-1]:
        found = " x ".join(str(n) for n in values.shape)
        wanted = " x ".join(str(n) for n in shape)
        raise UnusableError(f"FORCE_PLATFORM:{name} is {found}, expected {wanted} for each plate")
    column = values[..., i]
    if not np.isfinite(column).all() or (name == "CAL_MATRIX" and not column.any()):
        raise UnusableError(f"FORCE_PLATFORM:{name} is not filled in")
    return column


def channel_columns(group: Mapping[str, Any], i: int, kind: int, n_analog: int) -> list[int]:
    """Columns of plate i's channels, from 0.

    Parameters
    ----------
    group : mapping
        Parameters of ``FORCE_PLATFORM``.
    i : int
        Number of the plate, from 0.
    kind : int
        Its type, which sets how many channels it has.
    n_analog : int
        Analog channels of the file.

    Raises
    ------
    UnusableError
        Too few channels, or one that the file does not have.
    """
    values = np.nan_to_num(plain_numbers(group.get("CHANNEL")), nan=-1.0, posinf=-1.0, neginf=-1.0)
    values = values[:, np.newaxis] if values.ndim == 1 else values
    needed = N_CHANNELS[kind]
    if values.ndim != 2 or values.shape[0] < needed or i >= values.shape[1]:
        raise UnusableError(f"FORCE_PLATFORM:CHANNEL does not name the {needed} channels of a plate of type {kind}")
    channels = np.clip(values[:needed, i], -1, 1e6)
    if channels.min() < 1 or channels.max() > n_analog or (channels % 1).any():
        listed = ", ".join(f"{channel:g}" for channel in channels)
        raise UnusableError(f"FORCE_PLATFORM:CHANNEL names channels [{listed}], the file has {n_analog}")
    return [int(c) - 1 for c in channels]


def _scale(units: Sequence[str], table: Mapping[str, float], wanted: str) -> FloatArray:
    """Factors to SI of some channels."""
    factors = [table.get(plain_unit(unit)) for unit in units]
    if None in factors:
        raise UnusableError(f"ANALOG:UNITS of its channels are {list(units)}, expected {wanted}")
    return np.array(factors, dtype=float)


def _force_scale(units: Sequence[str], *, otherwise: float | None = None) -> FloatArray:
    """Factors to N; where none is named, a calibrated force is in N."""
    if otherwise is not None and all(plain_unit(unit) not in FORCES_N for unit in units):
        return np.full(len(units), otherwise)
    return _scale(units, FORCES_N, "a force (N, kN)")


def _moment_scale(units: Sequence[str], *, otherwise: float | None = None) -> FloatArray:
    """Factors to N m; without units a calibrated moment is in N times length."""
    if otherwise is not None and all(plain_unit(unit) not in MOMENTS_NM for unit in units):
        return np.full(len(units), otherwise)
    return _scale(units, MOMENTS_NM, "a moment (Nmm, Ncm, Nm)")


def finite_wrench(force_n: FloatArray, moment_nm: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Set force and moment to NaN in samples where either is not finite."""
    whole = np.isfinite(np.hstack([force_n, moment_nm])).all(axis=1, keepdims=True)
    return np.where(whole, force_n, np.nan), np.where(whole, moment_nm, np.nan)


def plain_unit(unit: str) -> str:
    """Spell a unit in small letters, without blanks, points, dashes and the plural.

    Examples
    --------
    >>> plain_unit("N.mm "), plain_unit("Millimeters")
    ('nmm', 'millimeter')
    """
    plain = "".join(c for c in unit.lower() if c not in " \t\0.-*·")
    return plain[:-1] if len(plain) > 2 and plain.endswith("s") else plain


def _centre_of(positions_m: FloatArray) -> FloatArray:
    some = positions_m[:: max(1, len(positions_m) // 20)]
    seen = some[np.isfinite(some).all(axis=2)]
    return np.median(seen, axis=0) if len(seen) else np.full(3, np.nan)


def _check_side(plate: ForcePlate, body_m: FloatArray) -> None:
    """Refuse a plate that, while loaded, pulls its load instead of pushing it."""
    normal = plate_axes(plate.corners_m)[:, 2]
    height = float(normal @ (body_m - plate.corners_m.mean(axis=0)))
    across = plate.force_n @ normal
    loaded = across[np.abs(across) > LOADED_N]
    if loaded.size and abs(height) > NEAR_M and float(loaded.mean()) * height < 0:
        raise UnusableError(
            f"its force points away from the markers while it is loaded ({abs(loaded.mean()):.0f} N on average over "
            f"{loaded.size} samples); correct the sign of its force, or the order of CORNERS (+x+y, -x+y, -x-y, +x-y, z down)"
        )


def used_plates(group: Mapping[str, Any]) -> int:
    """Number of plates; 0 where it is missing or no count."""
    values = plain_numbers(group.get("USED")).ravel()
    return int(np.clip(np.nan_to_num(values[0]), 0, 2**31)) if values.size else 0


def plain_numbers(value: Any) -> FloatArray:
    """Values of a parameter as numbers; empty where it is missing or text."""
    if value is None or (isinstance(value, list | tuple) and any(isinstance(v, str) for v in value)):
        return np.zeros(0)
    return np.asarray(value, dtype=float)

"""Force plates of a C3D file: wrenches from channels, and findings.

Sign. A plate's scaled channels hold the *reaction*, what the plate does to the foot, in the plate's own
axes; by the order of the corners (below) its z axis points **down**, so standing on it reads as a negative
Fz. Turned into the laboratory by the corners the force points up, with no change of sign anywhere. The axes
are those of the C3D user guide (c3d.org, FORCE_PLATFORM group); BTK and ezc3d also read the channels as
the reaction. Checked against wrenches that OpenSim wrote for a recorded walk (type 2), the sheet of the
c3d.org sample files (type 4), and on recordings of five laboratories, where the force is up in stance and
its centre of pressure under the foot. No recording of types 1 and 3 was available. Files with another
sign are detected by :func:`force_plates`, which leaves out plates that pull.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.recordings.force_plates import (
    LOADED_N,
    MAX_TWIST_M,
    MOST,
    UnusableError,
    check_calibration,
    check_load,
    check_origin,
    check_surface,
    distance_from_markers_m,
    finite_wrench,
    heavy_load,
    overlap_share,
    plate_axes,
)
from limbtorque.recordings.recording import Finding, ForcePlate
from limbtorque.recordings.source import FORCES_N, LENGTHS_M, MOMENTS_NM, plain_unit
from limbtorque.signals.channels import flat_tops

MAX_PLATES = 100  # read from a file; laboratories have up to a dozen
BESIDE_M = 0.05  # height of the markers over a plate from which on they say which side is loaded
IDLE_N = 1.0  # noise alone is more
SOME = 0.1  # of the loaded samples, or of a surface
FAR_M = 1.0  # along the surface, from the centre of pressure to the nearest marker
MIN_DEPTH_M = 1e-3  # of sensors below a surface
CHANNEL_AXES = {
    1: ("FX", "FY", "FZ"),
    2: ("FX", "FY", "FZ", "MX", "MY", "MZ"),
    3: ("FX",) * 2 + ("FY",) * 2 + ("FZ",) * 4,
}
CHANNEL_AXES[4] = CHANNEL_AXES[2]
CORRECT_CHANNEL = "correct CHANNEL or ANALOG:LABELS in the file"
N_CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}
Group = Mapping[str, Any]
_AXIS = re.compile(r"[FM]\d*[XYZ]")
_NUMBERS = re.compile(r"\d+")


def force_plates(
    group: Group,
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
    or its centre of pressure cannot be those of a plate that a foot stands on (`recordings.force_plates`).
    """
    used = used_plates(group)
    some_m = positions_m[:: max(1, len(positions_m) // 20)]
    seen_m = some_m[np.isfinite(some_m).all(axis=2)]
    body_m = np.median(seen_m, axis=0) if len(seen_m) else np.full(3, np.nan)
    plates, notes = [], []
    if used > MAX_PLATES:
        notes.append(f"FORCE_PLATFORM:USED is {used}; plates after number {MAX_PLATES} are not read")
    for i in range(min(used, MAX_PLATES)):
        try:
            plate = replace(_plate(group, i, analog, units, length_m), rate_hz=rate_hz)
            load = heavy_load(plate, plate_axes(plate.corners_m))
            if load:
                check_load(plate, load)
            _check_side(plate, body_m)
        except UnusableError as reason:
            notes.append(f"force plate {i + 1} is left out: {reason}")
            continue
        if bad := int(np.sum(~np.isfinite(plate.force_n).all(axis=1))):
            notes.append(f"force plate {i + 1} has no value in {bad} of {len(plate.force_n)} samples")
        plates.append(plate)
    zero = plain_numbers(group.get("ZERO")).ravel()
    if used and zero.size >= 2 and 1 <= zero[0] <= zero[1]:
        notes.append(
            f"FORCE_PLATFORM:ZERO names samples {zero[0]:g} to {zero[1]:g} as a baseline; it is not subtracted"
        )
    return tuple(plates), tuple(notes)


def _plate(group: Group, i: int, analog: FloatArray, units: Sequence[str], length_m: float) -> ForcePlate:
    """Force plate without its sampling rate; raises an error if it cannot be used."""
    kind = _kind(group, i)
    corners_m = plate_column(group, "CORNERS", i, (3, 4)).T * length_m
    axes = plate_axes(corners_m)
    check_surface(corners_m)
    columns = channel_columns(group, i, kind, analog.shape[1])
    twice = {c + 1 for c in columns if columns.count(c) > 1}
    for other in set(range(min(used_plates(group), MAX_PLATES))) - {i}:
        twice |= {c + 1 for c in channels_of(group, other) if c in columns}
    if twice:
        listed = ", ".join(map(str, sorted(twice)))
        raise UnusableError(f"FORCE_PLATFORM:CHANNEL gives channel {listed} twice; correct it in the file")
    if empty := [str(c + 1) for c in columns if not np.isfinite(analog[:, c]).any()]:
        raise UnusableError(f"channel {', '.join(empty)} has no value (ANALOG:SCALE and OFFSET); correct the file")
    origin_m = plate_column(group, "ORIGIN", i, (3,)) * length_m
    check_origin(origin_m, corners_m, kind)
    if kind == 3:  # two distances, which have no direction, and the depth
        origin_m = np.abs(origin_m) * [1.0, 1.0, -1.0]
    elif origin_m[2] > 0:  # from the sensor to the surface: its z is negative
        origin_m = -origin_m
    signals, names = analog[:, columns], [units[c] for c in columns]
    if kind == 1:  # Fx, Fy, Fz, centre of pressure x, y and free moment about z
        force = signals[:, :3] * _scale(names[:3], FORCES_N)
        point = np.zeros_like(force)
        point[:, :2] = signals[:, 3:5] * _scale(names[3:5], LENGTHS_M)
        moment = np.cross(point, force)
        moment[:, 2] += signals[:, 5] * _scale(names[5:], MOMENTS_NM)
    elif kind == 3:  # Fx12, Fx34, Fy14, Fy23, Fz1-4; sensors from (a, b) counter-clockwise
        x12, x34, y14, y23, z1, z2, z3, z4 = (signals * _scale(names, FORCES_N)).T
        a, b, depth = origin_m
        force = np.stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4], axis=1)
        moment = np.stack([b * (z1 + z2 - z3 - z4), a * (z2 + z3 - z1 - z4), b * (x34 - x12) + a * (y14 - y23)], axis=1)
        moment = moment - np.cross([0.0, 0.0, depth], force)
    else:  # three forces and three moments about the sensor, of type 4 after calibration
        if kind == 4:
            matrix = plate_column(group, "CAL_MATRIX", i, (6, 6))
            check_calibration(matrix)
            signals = signals @ matrix.T
        force = signals[:, :3] * _scale(names[:3], FORCES_N, otherwise=1.0 if kind == 4 else None)
        moment = signals[:, 3:] * _scale(names[3:], MOMENTS_NM, otherwise=length_m if kind == 4 else None)
        moment = moment - np.cross(origin_m, force)
    force_n = force @ axes.T
    moment_nm = moment @ axes.T + np.cross(corners_m.mean(axis=0), force_n)
    return ForcePlate(i + 1, kind, corners_m, 0.0, *finite_wrench(force_n, moment_nm), flat_tops(analog[:, columns]))


def channels_of(group: Group, i: int) -> list[int]:
    """Columns of plate i's channels, from 0; empty if unknown."""
    try:
        return channel_columns(group, i, _kind(group, i), int(1e6))
    except UnusableError:
        return []


def _kind(group: Group, i: int) -> int:
    """Type of plate i."""
    kinds = plain_numbers(group.get("TYPE")).ravel()
    if i >= kinds.size:
        raise UnusableError(f"FORCE_PLATFORM:TYPE names {kinds.size} plates, USED counts more")
    if kinds[i] not in N_CHANNELS:
        raise UnusableError(f"it is of type {kinds[i]:g}; types 1, 2, 3 and 4 are read")
    return int(kinds[i])


def plate_column(group: Group, name: str, i: int, shape: tuple[int, ...]) -> FloatArray:
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


def channel_columns(group: Group, i: int, kind: int, n_analog: int) -> list[int]:
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


def _scale(units: Sequence[str], known: Mapping[str, float], *, otherwise: float | None = None) -> FloatArray:
    """Factors to SI of given channels; `otherwise` if none has a suitable unit."""
    factors = [known.get(plain_unit(unit)) for unit in units]
    if otherwise is not None and not any(factors):
        return np.full(len(units), otherwise)
    if None in factors:
        kinds = ((FORCES_N, "a force (N, kN)"), (LENGTHS_M, "a length (mm, cm, m)"))
        wanted = next((words for table, words in kinds if known is table), "a moment (Nmm, Ncm, Nm)")
        raise UnusableError(f"ANALOG:UNITS of its channels are {list(units)}, expected {wanted}")
    return np.array(factors, dtype=float)


def _check_side(plate: ForcePlate, body_m: FloatArray) -> None:
    """Refuse a plate that pulls instead of pushing when loaded."""
    normal = plate_axes(plate.corners_m)[:, 2]
    height = float(normal @ (body_m - plate.corners_m.mean(axis=0)))
    across = plate.force_n @ normal
    loaded = across[np.abs(across) > LOADED_N]
    if loaded.size and abs(height) > BESIDE_M and float(loaded.mean()) * height < 0:
        raise UnusableError(
            f"its force points away from the markers under load ({abs(loaded.mean()):.0f} N on average over "
            f"{loaded.size} samples); correct the sign of its force, or the order of CORNERS (+x+y, -x+y, -x-y, +x-y, z down)"
        )


def used_plates(group: Group) -> int:
    """Number of plates; 0 if missing or invalid."""
    values = plain_numbers(group.get("USED")).ravel()
    return int(np.clip(np.nan_to_num(values[0]), 0, 2**31)) if values.size else 0


def plain_numbers(value: Any) -> FloatArray:
    """Values of a parameter as numbers; empty where it is missing or text."""
    if value is None or (isinstance(value, list | tuple) and any(isinstance(v, str) for v in value)):
        return np.zeros(0)
    return np.asarray(value, dtype=float)


def plate_findings(
    group: Group,
    plates: Sequence[ForcePlate],
    units: Sequence[str],
    labels: Sequence[str],
    markers_m: FloatArray,
) -> list[Finding]:
    """Findings about the force plates from :func:`force_plates`.

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
    columns = {plate.number: channel_columns(group, plate.number - 1, plate.kind, len(units)) for plate in plates}
    names = {number: [labels[c] for c in places] for number, places in columns.items()}
    findings = [*_count_findings(group, used, units, labels)]
    if exchanged := plates_exchanged(names):
        said = "; ".join(f"plate {number} has {', '.join(names[number])}" for number in exchanged)
        findings.append(Finding("channels of the force plates", said, "followed", CORRECT_CHANNEL))
    for one, other in combinations(plates, 2):
        if (share := overlap_share(one, other)) > SOME:
            item = f"place of force plates {one.number} and {other.number}"
            settle = "correct FORCE_PLATFORM:CORNERS in the file"
            findings.append(Finding(item, f"they overlap by {share:.0%}", "used", settle))
    present = {plain_unit(units[c]) for places in columns.values() for c in places}
    for known in (FORCES_N, MOMENTS_NM):
        if len({known[unit] for unit in present & {*known}}) > 1:
            said, made = f"{' and '.join(sorted(present & {*known}))} both present", "each channel by its own unit"
            findings.append(Finding("units of the force plates", said, made, "correct ANALOG:UNITS in the file"))
    for plate in plates:
        places, own = columns[plate.number], [units[c] for c in columns[plate.number]]
        bounds = (f"{axis} {x.min():.3f} to {x.max():.3f}" for axis, x in zip("xyz", plate.corners_m.T, strict=True))
        said = f"type {plate.kind}, channels {[c + 1 for c in places]} in {', '.join(unit or 'none' for unit in own)}"
        made = (
            f"force on the foot and moment about the laboratory's origin; its surface spans {', '.join(bounds)} m; "
            "plates.assignment determines the foot"
        )
        findings.append(Finding(f"force plate {plate.number}", said, made))
        findings += _findings_of(group, plate, own, names[plate.number], markers_m)
    if left_out := used - len(plates):
        findings.append(Finding("force plates", f"{used} in the file", f"{left_out} left out; see the notes"))
    return findings if findings or used else [Finding("force plates", "none", "none")]


def _findings_of(
    group: Group, plate: ForcePlate, units: Sequence[str], labels: Sequence[str], markers_m: FloatArray
) -> Iterator[Finding]:
    """Guesses about a plate's sensors, units, channels and force."""
    item, axes, kind = f"force plate {plate.number}", plate_axes(plate.corners_m), plate.kind
    origin = plate_column(group, "ORIGIN", plate.number - 1, (3,))
    edges = (plate_column(group, "CORNERS", plate.number - 1, (3, 4)).T, plate.corners_m)
    in_file, in_m = (float(np.linalg.norm(corners[0] - corners[2])) for corners in edges)
    wrong = f"FORCE_PLATFORM:ORIGIN is {origin.tolist()}, its z should be negative"
    settle = "correct ORIGIN in the file: the vector from the sensor to the surface"
    if kind in (2, 4) and abs(origin[2]) * in_m < MIN_DEPTH_M * in_file:
        stated = f"{wrong} and in the unit of the corners"
        yield Finding(f"origin of {item}", stated, "sensors in the surface", settle)
    elif kind != 3 and origin[2] > 0:
        yield Finding(f"origin of {item}", wrong, "reversed, as in Vicon's files", settle)
    of_units = f"the units of its channels are {', '.join(unit or 'none' for unit in units)}"
    of_length = "N times the file's unit of length"
    for what, own, known, assumed in (
        ("force", units[:3], FORCES_N, "N"),
        ("moment", units[3:], MOMENTS_NM, of_length),
    ):
        if kind == 4 and all(plain_unit(unit) not in known for unit in own):
            made, settle = f"calibrated {what}s interpreted in {assumed}", f"set ANALOG:UNITS of its {what} channels"
            yield Finding(f"{what}s of {item}", of_units, made, settle)
    if misnamed_axes(labels, kind):
        stated = f"FORCE_PLATFORM:CHANNEL takes {', '.join(labels)} for {', '.join(CHANNEL_AXES[kind])}"
        yield Finding(f"channels of {item}", stated, "followed", CORRECT_CHANNEL)
    largest_n = float(np.abs(np.nan_to_num(plate.force_n)).max(initial=0.0))
    if 0.0 < largest_n < IDLE_N:
        stated = f"never above {largest_n:.3g} N, less than the noise of a plate"
        yield Finding(f"force of {item}", stated, "unloaded", "check SCALE, UNITS and CAL_MATRIX")
    load = heavy_load(plate, axes)
    if load is None:
        return
    loaded = "of the loaded samples"
    if load.twisted_share > SOME:
        stated = f"more than {MAX_TWIST_M:g} m times the force in {load.twisted_share:.0%} {loaded}"
        yield Finding(f"free moment of {item}", stated, "used", "check the SCALE and UNITS of its moments")
    if load.sideways_share > MOST:
        stated = f"more parallel to its surface than normal to it in {load.sideways_share:.0%} {loaded}"
        settle = "check the order of its channels (FORCE_PLATFORM:CHANNEL) and their SCALE"
        yield Finding(f"direction of the force of {item}", stated, "used", settle)
    away_m = distance_from_markers_m(plate, load, axes, markers_m)
    doubts = [f"outside the edges in {load.outside_share:.0%} {loaded}"] * (load.outside_share > SOME)
    if doubts := doubts + [f"{away_m:.3g} m from the nearest marker (median)"] * (away_m > FAR_M):
        settle = "check CORNERS, ORIGIN, and the order, SCALE and UNITS of its channels"
        yield Finding(f"centre of pressure of {item}", " and ".join(doubts), "used", settle)


def _count_findings(group: Group, used: int, units: Sequence[str], labels: Sequence[str]) -> Iterator[Finding]:
    """Guess about plates that the file describes but does not count."""
    item, stated = "number of force plates", plain_numbers(group.get("USED")).ravel()
    said = f"FORCE_PLATFORM:USED is {', '.join(f'{n:g}' for n in stated[:3]) or 'not stated'}"
    described = next((i for i in range(MAX_PLATES) if not _is_described(group, i)), MAX_PLATES)
    channels = zip(labels, units, strict=True)
    named = {axis_name(label) for label, unit in channels if plain_unit(unit) in FORCES_N | MOMENTS_NM}
    if described > used or (described and list(stated) != [used]):
        said = f"{said}, the other parameters describe {described}"
        yield Finding(item, said, f"{used} read", "correct FORCE_PLATFORM:USED in the file")
    elif not used and {"FX", "FY", "FZ"} <= named:
        said, settle = (
            f"{said}, although channel names are those of a plate",
            "describe the plate in the group FORCE_PLATFORM",
        )
        yield Finding(item, said, "no force plate read", settle)


def _is_described(group: Group, i: int) -> bool:
    """Return True for a plate with a type, channels and a surface."""
    try:
        corners = plate_column(group, "CORNERS", i, (3, 4)).T
    except UnusableError:
        return False
    return bool(channels_of(group, i)) and bool(np.ptp(corners, axis=0).any())


def misnamed_axes(labels: Sequence[str], kind: int) -> bool:
    """True if a plate's channel names show a different order of axes.

    Parameters
    ----------
    labels : sequence of str
        Labels of the plate's channels, in its order.
    kind : int
        Type of the plate.

    Examples
    --------
    >>> misnamed_axes(["Fx1", "Fy1", "Fz1", "Mx1", "My1", "Mz1"], 2)
    False
    >>> misnamed_axes(["Force.Fz1", "Force.Fy1", "Force.Fx1", "Moment.Mx1", "Moment.My1", "Moment.Mz1"], 2)
    True
    """
    expected = CHANNEL_AXES[kind]
    found = tuple(axis_name(label) for label in labels[: len(expected)])
    return found != expected and sorted(found) == sorted(expected)


def axis_name(label: str) -> str:
    """Axis named by a channel's label, e.g. ``"FX"``; empty if none."""
    hit = _AXIS.search(label.upper())
    return hit[0][0] + hit[0][-1] if hit else ""


def plates_exchanged(labels: Mapping[int, Sequence[str]]) -> list[int]:
    """Plates whose channel names have the number of another plate.

    Parameters
    ----------
    labels : mapping of int to sequence of str
        Labels of the channels of each plate, by its number.

    Examples
    --------
    >>> plates_exchanged({1: ["Fx2", "Fy2"], 2: ["Fx1", "Fy1"]})
    [1, 2]
    """
    last = {number: {(_NUMBERS.findall(label) or [""])[-1] for label in names} for number, names in labels.items()}
    plain = {number: int(next(iter(found))) for number, found in last.items() if len(found) == 1 and "" not in found}
    whole = sorted(plain) == sorted(plain.values()) == sorted(labels)
    return sorted(number for number, other in plain.items() if number != other) if whole else []

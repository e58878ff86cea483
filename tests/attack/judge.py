"""Traces of a damage in a file as it stands: neither the good file nor the way of the damage is looked at."""

import re
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from limbtorque.recordings.recording import ForcePlate, Recording

FASTEST_M_S = 40.0  # twice a pitcher's wrist
SPIKE_N = (
    100.0  # at 1000 samples per second and above; forces of impacts bend with the square of the time between samples
)
SQUARE_M = 0.01  # between the diagonals of a plate, or its opposite sides
SIDES_M = (0.1, 3.0)
STANDING_N, BESIDE_M = 100.0, 0.1
LARGEST_N = 20_000.0
FOOT = re.compile("foot|heel|toe", re.IGNORECASE)


def traces(name: str, content: bytes, recording: Recording) -> list[str]:
    """Damage that a file itself shows; empty where its contents are as good as those of a whole file.

    Parameters
    ----------
    name, content
        Name and bytes of the file.
    recording : Recording
        As it was read, whatever the reader said of it.
    """
    traces = [*_speeds(recording), *_names(recording), *_events(recording)]
    for plate in recording.force_plates:
        traces += _forces(plate)
        traces += _shape(plate)
    if name.endswith(".c3d"):
        return [*traces, *_lost_groups(content, recording)]
    return [*traces, *_cells(content)]


def _speeds(recording: Recording) -> Iterator[str]:
    """A marker that leaves its way for up to two frames and comes back."""
    for label, path_m in zip(recording.labels, np.moveaxis(recording.markers_m, 1, 0), strict=True):
        speed = np.linalg.norm(np.diff(path_m, axis=0), axis=1) * recording.rate_hz
        if 2 <= (speed > FASTEST_M_S).sum() <= 4:
            yield f"{label} at {np.nanmax(speed):.0f} m/s"


def _names(recording: Recording) -> Iterator[str]:
    events = [f"{event.label}{event.context}" for event in recording.events]
    for text in (*recording.labels, *recording.analog_labels, *recording.analog_units, *events):
        if not text.isprintable() or "\ufffd" in text:
            yield f"{text!r} is not printable"
    if len(recording.analog_labels) > 1 and len({*recording.analog_labels}) == 1:
        yield "all channels have one name"


def _events(recording: Recording) -> Iterator[str]:
    steps = [event for event in recording.events if FOOT.search(event.label)]
    yield from (
        f"{event} has no side"
        for event in steps
        if event.context and event.context.lower() not in ("left", "right", "general")
    )
    for one, other in combinations(steps, 2):
        if one.context == other.context and abs(one.time_s - other.time_s) * recording.rate_hz < 1.0:
            yield f"{one} and {other} at one time"
    duration_s = recording.n_frames / recording.rate_hz
    yield from (f"{event} is outside" for event in recording.events if not -0.1 <= event.time_s <= duration_s + 0.1)


def _forces(plate: ForcePlate) -> Iterator[str]:
    """Forces of no plate, and single samples away from the median of five."""
    force_n = np.nan_to_num(plate.force_n)
    if np.abs(force_n).max(initial=0.0) > LARGEST_N:
        yield "a force that no plate measures"
    if len(force_n) < 5:
        return
    middle = np.median(np.lib.stride_tricks.sliding_window_view(force_n, 5, axis=0), axis=2)
    away = np.linalg.norm(force_n[2:-2] - middle, axis=1)
    if away.max() > SPIKE_N * max(1.0, 1000.0 / plate.rate_hz) ** 2:
        yield f"a sample {away.max():.0f} N beside the others"


def _shape(plate: ForcePlate) -> Iterator[str]:
    """Corners of no rectangle, a loaded plate whose centre of pressure is beside it."""
    if plate.kind == 0:
        return
    corners = plate.corners_m
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    diagonals = np.linalg.norm(corners[:2] - corners[2:], axis=1)
    if np.abs(sides[:2] - sides[2:]).max() > SQUARE_M or np.ptp(diagonals) > SQUARE_M:
        yield "corners of no rectangle"
    if sides.min() < SIDES_M[0] or sides.max() > SIDES_M[1]:
        yield f"a plate with sides of {sides.min():.2g} to {sides.max():.2g} m"
    x, y = ((corners[0] - corners[k]) / max(np.linalg.norm(corners[0] - corners[k]), 1e-9) for k in (1, 3))
    middle, normal = corners.mean(axis=0), np.cross(x, y)
    force, moment = plate.force_n, plate.moment_nm - np.cross(middle, plate.force_n)
    across = force @ normal
    heavy = np.abs(across) > STANDING_N
    if heavy.any():
        point = np.cross(normal, moment[heavy]) / across[heavy, None]
        beyond = np.maximum(np.abs(point @ x) - sides[1] / 2.0, np.abs(point @ y) - sides[0] / 2.0)
        if (beyond > BESIDE_M).mean() > 0.5:
            yield "the force acts beside the plate"


def _lost_groups(content: bytes, recording: Recording) -> Iterator[str]:
    """Groups that the file has, and the recording does not."""
    start = (content[0] - 1) * 512
    section = content[start : start + 512 * content[start + 2]]
    used = re.search(rb"\x04.USED.{6}(..)", section[max(section.find(b"RCE_PLATFORM"), 0) :], re.DOTALL)
    if b"CORNERS" in section and used and used[1].strip(b"\0") and not recording.force_plates:
        yield "plates that are not there"
    if b"CONTEXTS" in section and re.search(rb"\x05[\x80-\xff]EVENT", section) and not recording.events:
        times = section[section.find(b"TIMES") :][5:60]
        if times[4:].strip(b"\0"):
            yield "events that are not there"


def _cells(content: bytes) -> Iterator[str]:
    """Cells that are no numbers in columns of numbers."""
    rows = [re.split(r"[\t,;]", line) for line in content.decode("utf-8", "replace").splitlines()]
    width = max(map(len, rows), default=0)
    table = [row for row in rows if len(row) == width]
    last_heading = max((k for k, row in enumerate(table) if not _is_number(row[0]) or not row[0].strip()), default=-1)
    for column in zip(*table[last_heading + 1 :], strict=True):
        odd = [cell for cell in column if not _is_number(cell)]
        if odd and len(odd) < 0.2 * len(column):
            yield f"{odd[0]!r} in a column of numbers"


def _is_number(cell: str) -> bool:
    """Return True for a number in plain digits, quoted or not, and for a missing one."""
    text = cell.strip().strip('"').strip()
    if not text.isascii() or "_" in text:
        return False
    try:
        float({"": "nan", "null": "nan"}.get(text.lower(), text))
    except ValueError:
        return False
    return True

"""Raw contents of a C3D file, by one of two libraries, in the file's units.

Neither is the first to get a file: that is :mod:`limbtorque.recordings.c3d.blocks`. The package c3d gets what that refuses;
ezc3d (C++) is there for comparison. It refuses MIPS byte order and some badly formatted parameters, and stops at 65535
frames. Version 1.7.2 also takes negative offsets of analog channels for positive ones and unsigned analog numbers for
signed ones; files with either are not given to it. Both get the file only after
:mod:`limbtorque.recordings.c3d.header` found its counts to be possible.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import c3d as c3d_package
import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.c3d.header import Header
from limbtorque.recordings.c3d.parameters import MAX_DIMENSIONS, Parameter, decode, real_numbers, value
from limbtorque.recordings.c3d.scaling import analog_scale, is_unsigned

Group = Mapping[str, Any]


@dataclass(frozen=True)
class Contents:
    """Raw contents of a C3D file.

    Attributes
    ----------
    reader : str
        The library and its version.
    groups : dict of dict
        Values of the parameters by group and name in capitals: lists of texts, arrays in the file's dimensions.
    xyz : ndarray of shape (n_frames, n_points, 3)
        Coordinates in the file's unit.
    residual : ndarray of shape (n_frames, n_points)
        Residuals, or the words that hold them; not positive or zero where the point was not measured.
    analog : ndarray of shape (n_samples, n_channels)
        Analog channels, scaled.
    header_events : tuple of (str, float)
        Labels and times of the header's events, s.
    """

    reader: str
    groups: dict[str, dict[str, Any]]
    xyz: FloatArray
    residual: FloatArray
    analog: FloatArray
    header_events: tuple[tuple[str, float], ...]


def with_ezc3d(path: Path, raw: bytes, header: Header) -> Contents:  # noqa: ARG001 (every reader has these arguments)
    """Contents of a file, by ezc3d.

    Parameters
    ----------
    path : Path
        The file.
    raw : bytes
        Not used.
    header : Header
        Its counts.

    Raises
    ------
    ReadError
        ezc3d cannot read the file, or finds other counts than the header's.
    """
    import ezc3d  # here, since it is large and seldom needed

    name = path.name
    _refuse_what_ezc3d_misreads(header, name)
    try:
        c3d = ezc3d.c3d(str(path))
    except MemoryError:
        raise
    except Exception as error:  # a C++ library: what it raises is not its caller's to foresee
        if "bad_alloc" in str(error):
            raise MemoryError from error
        raise ReadError(f"{name}: ezc3d cannot read the file: {str(error).strip()}; export it again") from error
    points = np.asarray(c3d["data"]["points"], dtype=float)
    _check_counts("ezc3d", (points.shape[1], points.shape[2]), header, name)
    events = c3d["header"]["events"]
    labelled = zip(events["events_label"][: header.n_events], events["events_time"][: header.n_events], strict=True)
    return Contents(
        reader=f"ezc3d {version('ezc3d')}",
        groups={
            group.upper(): {key.upper(): entry["value"] for key, entry in parameters.items() if key != "__METADATA__"}
            for group, parameters in c3d["parameters"].items()
        },
        xyz=np.ascontiguousarray(points[:3].transpose(2, 1, 0)),
        residual=np.asarray(c3d["data"]["meta_points"]["residuals"], dtype=float)[0].T,
        analog=np.ascontiguousarray(np.asarray(c3d["data"]["analogs"], dtype=float)[0].T),
        header_events=tuple((label, float(time_s)) for label, time_s in labelled),
    )


def _refuse_what_ezc3d_misreads(header: Header, name: str) -> None:
    """Refuse a file that ezc3d 1.7.2 reads wrong, or that ends the process."""
    if header.broken_at is not None:
        raise ReadError(
            f"{name}: the parameters cannot be followed beyond byte {header.broken_at}, and ezc3d might not end"
        )
    stated = {"GEN_SCALE", "SCALE", "OFFSET"} <= header.parameters.get("ANALOG", {}).keys()
    if header.n_channels and not (stated and np.isfinite(analog_scale(header)[0]).all()):  # reads memory of its own
        raise ReadError(f"{name}: ezc3d reads numbers of its own where ANALOG:GEN_SCALE, SCALE or OFFSET has none")
    if header.n_channels and (is_unsigned(header) or (analog_scale(header)[1] < 0).any()):
        raise ReadError(f"{name}: ezc3d misreads analog numbers without sign, and negative ANALOG:OFFSET")


class _Reader(c3d_package.Reader):  # type: ignore[misc]
    """The package's reader with the counts that were checked in place of its own.

    It asserts that rates and counts agree to the last bit, takes POINT:LONG_FRAMES for a frame's number, and
    multiplies the high word of TRIAL:ACTUAL_START_FIELD by 65535.
    """

    def __init__(self, raw: bytes, header: Header) -> None:
        self.checked = header
        super().__init__(io.BytesIO(raw))

    def _check_metadata(self) -> None:
        """Do nothing: `read_header` checks the metadata."""

    first_frame = property(lambda self: self.checked.first_frame)
    last_frame = property(lambda self: self.checked.first_frame + self.checked.n_frames - 1)
    point_used = property(lambda self: self.checked.n_points)
    point_scale = property(lambda self: self.checked.scale)
    analog_used = property(lambda self: self.checked.n_channels)
    analog_per_frame = property(lambda self: self.checked.samples_per_frame)

    def get_analog_transform(self) -> tuple[FloatArray, FloatArray]:
        """Scale and offset of each channel, from any type of number."""
        scale, offset = analog_scale(self.checked)
        return scale[:, np.newaxis], offset[:, np.newaxis]


def with_c3d(path: Path, raw: bytes, header: Header) -> Contents:
    """Contents of a file, by the package c3d.

    Parameters
    ----------
    path : Path
        Its name, for messages.
    raw : bytes
        The whole file.
    header : Header
        Its counts.

    Raises
    ------
    ReadError
        The package cannot read the file.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # it warns of what the header's check has judged
        try:
            reader = _Reader(raw, header)
            frames = [(points, analog) for _, points, analog in reader.read_frames(copy=True)]
        except MemoryError:
            raise
        except Exception as error:  # whatever it is, it concerns one file
            raise ReadError(
                f"{path.name}: the package c3d cannot read the file: {type(error).__name__} {error}; export it again"
            ) from error
    points = np.array([points for points, _ in frames], dtype=float).reshape(len(frames), header.n_points, 5)
    _check_counts("c3d", (points.shape[1], points.shape[0]), header, path.name)
    samples = [np.asarray(analog, dtype=float).T for _, analog in frames] if header.n_channels else []
    return Contents(
        reader=f"c3d {version('c3d')}",
        groups={name.upper(): _values(group, header.processor) for name, group in reader.group_items()},
        xyz=points[:, :, :3],
        residual=points[:, :, 3],
        analog=np.concatenate(samples) if samples else np.zeros((0, 0)),
        header_events=header_events(raw, header),
    )


def _values(group: Any, processor: int) -> dict[str, Any]:
    """Values of a group of the package c3d."""
    found = {}
    for key, entry in group.param_items():
        parameter = Parameter(entry.bytes_per_element, tuple(entry.dimensions), bytes(entry.bytes))
        whole = len(parameter.content) == abs(parameter.size) * int(np.prod(parameter.shape, dtype=int))
        if whole and parameter.size in (-1, 1, 2, 4) and len(parameter.shape) <= MAX_DIMENSIONS:
            found[key.upper()] = value(parameter, processor)
    return found


def header_events(raw: bytes, header: Header) -> tuple[tuple[str, float], ...]:
    """Labels and times of the events of the header.

    Parameters
    ----------
    raw : bytes
        The file.
    header : Header
        Its counts and byte order.
    """
    times = real_numbers(raw[304 : 304 + 4 * header.n_events], header.processor)
    return tuple((decode(raw[396 + 4 * k : 400 + 4 * k]), float(time_s)) for k, time_s in enumerate(times))


def _check_counts(library: str, found: tuple[int, int], header: Header, name: str) -> None:
    if found != (header.n_points, header.n_frames):
        raise ReadError(
            f"{name}: the file counts {header.n_points} points in {header.n_frames} frames, {library} found "
            f"{found[0]} in {found[1]}; export it again"
        )

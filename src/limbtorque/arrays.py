"""Array types, checks and small array functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
BoolArray = NDArray[np.bool_]
Frames = TypeVar("Frames")
Number = TypeVar("Number", FloatArray, ComplexArray)
STRETCH_FRAMES = 65_536  # of a long trial that are worked on together after the filter: 11 minutes at 100 Hz


def frames(
    name: str, value: ArrayLike, n_joints: int, *, like: FloatArray | None = None, missing: bool = False
) -> FloatArray:
    """Array of shape (n_frames, n_joints), finite; NaN passes with `missing`.

    Raises
    ------
    ValueError
        Another shape, or a number that is not finite.
    """
    array = np.asarray(value, dtype=float)
    expected = f"(n_frames, {n_joints})" if like is None else f"{like.shape}"
    if array.ndim != 2 or array.shape[1] != n_joints or (like is not None and array.shape != like.shape):
        raise ValueError(f"{name} has shape {array.shape}, expected {expected}")
    return finite(name, array, missing=missing)


def vectors(name: str, value: ArrayLike, n_frames: int | None = None, *, missing: bool = False) -> FloatArray:
    """Vector of the plane, constant or with one row per frame.

    Raises
    ------
    ValueError
        Another shape, or a number that is not finite.
    """
    return finite(name, plane_vectors(name, value, n_frames), missing=missing)


def plane_vectors(name: str, value: ArrayLike, n_frames: int | None = None) -> FloatArray:
    """Vector of the plane as from `vectors`, values unchecked.

    Raises
    ------
    ValueError
        Another shape.
    """
    array = np.asarray(value, dtype=float)
    if array.shape != (2,) and (n_frames is None or array.shape != (n_frames, 2)):
        expected = "(2,)" if n_frames is None else f"(2,) or ({n_frames}, 2)"
        raise ValueError(f"{name} has shape {array.shape}, expected {expected}: components in the plane")
    return array if n_frames is None else np.broadcast_to(array, (n_frames, 2))


def row(name: str, value: ArrayLike, size: int | None = None, *, like: str = "") -> FloatArray:
    """Finite array of shape (size,), or of any size if None.

    Raises
    ------
    ValueError
        Another shape, or a number that is not finite.
    """
    array = np.asarray(value, dtype=float)
    if array.ndim != 1 or size not in (None, array.size):
        raise ValueError(
            f"{name} has shape {array.shape}, expected ({'n' if size is None else size},){like and f' like {like}'}"
        )
    return finite(name, array)


def choice(name: str, value: str, choices: Collection[str]) -> str:
    """Return the value, if it is one of the choices.

    Raises
    ------
    ValueError
        Another value.
    """
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; expected {' or '.join(repr(c) for c in choices)}")
    return value


def finite(name: str, array: FloatArray, *, missing: bool = False) -> FloatArray:
    """Return the array if its numbers are finite; `missing` allows NaN.

    Raises
    ------
    ValueError
        A number that is not finite.
    """
    bad = np.isinf(array) if missing else ~np.isfinite(array)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        where = ", ".join(map(str, first))
        allowed = "finite numbers, NaN where missing" if missing else "finite numbers"
        raise ValueError(f"{name} of shape {array.shape} has {array[first]} at [{where}]; expected {allowed}")
    return array


def runs(mask: ArrayLike) -> list[tuple[int, int]]:
    """Start and end (exclusive) of every run of true values.

    >>> runs([False, True, True, False, True])
    [(1, 3), (4, 5)]
    """
    inside = np.asarray(mask, dtype=bool)
    padded = np.zeros(len(inside) + 2, dtype=bool)
    padded[1:-1] = inside
    edges = np.flatnonzero(padded[1:] != padded[:-1]).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def widened(mask: BoolArray, frames: int) -> BoolArray:
    """Extend every run of true values at both ends."""
    result = np.array(mask)
    for start, stop in runs(mask):
        result[max(start - frames, 0) : stop + frames] = True
    return result


def widened_after(mask: BoolArray, frames: int) -> BoolArray:
    """Extend every run of true values at its end."""
    result = np.array(mask)
    for _, stop in runs(mask):
        result[stop : stop + frames] = True
    return result


def ignore_short(mask: BoolArray, shortest: int, *, close: bool = True) -> BoolArray:
    """Close short gaps between true runs, then drop short true runs."""
    result = np.array(mask, dtype=bool)
    if close:
        for start, stop in runs(~result):
            if stop - start < shortest and start > 0 and stop < len(result):
                result[start:stop] = True
    for start, stop in runs(result):
        if stop - start < shortest:
            result[start:stop] = False
    return result


def missing_samples(positions_m: FloatArray) -> BoolArray:
    """Mask of missing samples, shape (..., 3) -> (...)."""
    return np.isnan(positions_m[..., 0] + positions_m[..., 1] + positions_m[..., 2])


def lengths(vectors: FloatArray) -> FloatArray:
    """Lengths of vectors along the last axis, shape (..., k) -> (...)."""
    squares = vectors * vectors
    return np.asarray(np.sqrt(sum(squares[..., k] for k in range(squares.shape[-1]))))


def turned(vectors: FloatArray, matrix: FloatArray) -> FloatArray:
    """Product of vectors along the last axis and a matrix, (..., k) -> (..., m).

    Uses one matrix product for all frames.

    >>> turned(np.ones((2, 1, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[[4.0, 6.0]], [[4.0, 6.0]]]
    """
    return np.asarray((vectors.reshape(-1, len(matrix)) @ matrix).reshape(*vectors.shape[:-1], matrix.shape[1]))


def unwrapped(angle_rad: FloatArray) -> FloatArray:
    """Angles without jumps along the first axis; the same array where there are none.

    >>> unwrapped(np.array([3.0, -3.0])).round(3).tolist()
    [3.0, 3.283]
    """
    steps = angle_rad[1:] - angle_rad[:-1]
    return angle_rad if np.abs(steps).max(initial=0.0) < np.pi else np.unwrap(angle_rad, axis=0)


def stretches(n_frames: int) -> Iterator[slice]:
    """Parts of at most `STRETCH_FRAMES` frames; at least one, which may be empty."""
    return (slice(start, min(start + STRETCH_FRAMES, n_frames)) for start in range(0, max(n_frames, 1), STRETCH_FRAMES))


def part_of(value: Frames, some: slice) -> Frames:
    """Selected frames of an array, time first, or of a dataclass of such arrays."""
    given: Any = value
    if not is_dataclass(given):
        return given[some]  # type: ignore[no-any-return]
    return replace(given, **{f.name: part_of(getattr(given, f.name), some) for f in fields(given)})  # type: ignore[return-value, type-var]


def with_part(value: Frames, names: Iterable[str], some: slice) -> Frames:
    """Dataclass with selected frames of the named arrays; None stays None."""
    given: Any = value
    arrays = {name: None if getattr(given, name) is None else getattr(given, name)[some] for name in names}
    return replace(given, **arrays)  # type: ignore[no-any-return]


def contiguous(value: Frames) -> Frames:
    """Dataclass with all its arrays in C order."""
    given: Any = value
    arrays = {f.name: getattr(given, f.name) for f in fields(given) if isinstance(getattr(given, f.name), np.ndarray)}
    return replace(given, **{name: np.ascontiguousarray(array) for name, array in arrays.items()})  # type: ignore[no-any-return]


def joined(parts: Sequence[Frames]) -> Frames:
    """Join the arrays, or dataclasses of arrays, of successive parts."""
    first: Any = parts[0]
    if len(parts) == 1:
        return parts[0]
    if not is_dataclass(first):
        return np.concatenate(parts)  # type: ignore[return-value, arg-type]
    return replace(first, **{f.name: joined([getattr(part, f.name) for part in parts]) for f in fields(first)})  # type: ignore[return-value, type-var]


def beyond(value: float, explained: float) -> float:
    """Size of a value beyond one of independent origin that explains a part of it.

    Examples
    --------
    >>> round(beyond(-0.05, 0.03), 9), beyond(0.02, 0.03)
    (0.04, 0.0)
    """
    return float(np.sqrt(np.maximum(value**2 - explained**2, 0.0)))


def plane_cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Component along z of the cross product of two arrays of plane vectors."""
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def distal_sums(values: Number) -> Number:
    """Sum of every link and all distal of it, along the second axis."""
    return np.cumsum(values[:, ::-1], axis=1)[:, ::-1]

"""Arguments of the functions of `chain` and `simulate`: their shapes, and numbers that are none."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from limbtorque.chain.model import Point

FloatArray = NDArray[np.float64]


def frames(
    name: str, value: ArrayLike, n_joints: int, *, like: FloatArray | None = None, missing: bool = False
) -> FloatArray:
    """Array of shape (n_frames, n_joints), finite; NaN is let pass where `missing` says so.

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
    """Vector of the plane, the same on every frame or one for each where there are frames.

    Raises
    ------
    ValueError
        Another shape, or a number that is not finite.
    """
    array = np.asarray(value, dtype=float)
    if array.shape != (2,) and (n_frames is None or array.shape != (n_frames, 2)):
        expected = "(2,)" if n_frames is None else f"(2,) or ({n_frames}, 2)"
        raise ValueError(f"{name} has shape {array.shape}, expected {expected}: components in the plane")
    finite(name, array, missing=missing)
    return array if n_frames is None else np.broadcast_to(array, (n_frames, 2))


def row(name: str, value: ArrayLike, size: int | None = None, *, like: str = "") -> FloatArray:
    """Array of shape (size,), of any size where none is given, finite; `like` names what has that size.

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
        It is none of them.
    """
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; expected {' or '.join(repr(c) for c in choices)}")
    return value


def of_motion(terms: FloatArray, like: FloatArray) -> None:
    """Check that torque terms belong to a motion of this shape.

    Raises
    ------
    ValueError
        They are of another number of frames or joints.
    """
    if terms.shape != like.shape:
        raise ValueError(f"terms are of shape {terms.shape}, expected {like.shape}: the torques of this very motion")


def on_chain(name: str, point: Point, n_links: int) -> None:
    """Check that the chain has the point's link.

    Raises
    ------
    ValueError
        The link is not there, or the point is nowhere.
    """
    if point.link not in range(n_links):
        raise ValueError(f"{name}.link is {point.link}; the chain has links 0 to {n_links - 1}")
    if not np.isfinite([point.along_m, point.across_m]).all():
        raise ValueError(f"{name} is {point}; along_m and across_m have to be finite")


def finite(name: str, array: FloatArray, *, missing: bool = False) -> FloatArray:
    """Return the array, if its numbers are finite; NaN, a missing value, is let pass where `missing` says so.

    Raises
    ------
    ValueError
        A number that is not finite: where, and which.
    """
    bad = np.isinf(array) if missing else ~np.isfinite(array)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        where = ", ".join(map(str, first))
        allowed = "finite numbers, NaN where missing" if missing else "finite numbers"
        raise ValueError(f"{name} of shape {array.shape} has {array[first]} at [{where}]; expected {allowed}")
    return array

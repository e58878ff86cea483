"""Checks of terms and points against the chain they belong to."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.model import Point


def of_motion(terms: FloatArray, like: FloatArray) -> None:
    """Check that torque terms belong to a motion of this shape.

    Raises
    ------
    ValueError
        Another number of frames or joints.
    """
    if terms.shape != like.shape:
        raise ValueError(f"terms have shape {terms.shape}, expected {like.shape}; pass the torques of this motion")


def on_chain(name: str, point: Point, n_links: int) -> None:
    """Check that the chain has the point's link.

    Raises
    ------
    ValueError
        No such link, or a position that is not finite.
    """
    if point.link not in range(n_links):
        raise ValueError(f"{name}.link is {point.link}; the chain has links 0 to {n_links - 1}")
    if not np.isfinite([point.along_m, point.across_m]).all():
        raise ValueError(f"{name} is {point}; expected finite along_m and across_m")

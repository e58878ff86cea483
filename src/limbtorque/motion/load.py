"""External load on the last segment: none, a constant force, or a spring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import FloatArray
from limbtorque.motion.plane import PlaneFrame
from limbtorque.recordings.recording import Event
from limbtorque.study.options.reading import Force, LoadModel

StatusArray = NDArray[np.int8]


NONE, MEASURED, UNMEASURED = 0, 1, 2


@dataclass(frozen=True)
class ExternalLoad:
    """External load on the last segment, in the plane.

    Attributes
    ----------
    force_n : ndarray of shape (n_frames, 2)
        Force on the segment, N.
    point_m : ndarray of shape (n_frames, 2)
        Point of application in the plane's coordinates, m.
    couple_nm : ndarray of shape (n_frames,)
        Couple in addition to the force at that point, counter-clockwise positive, N m.
    status : ndarray of int8, shape (n_frames,)
        0 no load, 1 load known, 2 foot on the ground, or up to `min_contact_s` later, and force unknown (force and couple
        are NaN).
    notes : tuple of str
        Decisions, for the ledger.
    metrics : mapping of str to float
        Metrics of the load.
    pressure_m : ndarray of shape (n_frames, 2), optional
        Centre of pressure of the ground in the plane, m; NaN in frames without a load of more than `plates.threshold_n`.
    unfiltered_n, unfiltered_couple_nm : ndarray of shape (n_frames, 2) and (n_frames,)
        Force and couple of the plates at the same point without the filter, frame means; empty without plates.
    foot_events : mapping of str to tuple of Event
        Foot strikes and offs by each method (`ground.events`); empty for limbs off the ground.
    """

    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray
    status: StatusArray
    notes: tuple[str, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)
    pressure_m: FloatArray | None = None
    unfiltered_n: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    unfiltered_couple_nm: FloatArray = field(default_factory=lambda: np.zeros(0))
    foot_events: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)

    def part(self, some: slice) -> ExternalLoad:
        """Load of some frames."""
        return replace(
            self,
            force_n=self.force_n[some],
            point_m=self.point_m[some],
            couple_nm=self.couple_nm[some],
            status=self.status[some],
            pressure_m=None if self.pressure_m is None else self.pressure_m[some],
            unfiltered_n=self.unfiltered_n[some],
            unfiltered_couple_nm=self.unfiltered_couple_nm[some],
        )


def no_load(n_frames: int) -> ExternalLoad:
    """No external load at all.

    Parameters
    ----------
    n_frames : int
        Number of frames.
    """
    zeros = np.zeros((n_frames, 2))
    return ExternalLoad(zeros, zeros, np.zeros(n_frames), np.zeros(n_frames, dtype=np.int8), ())


def hand_load(load: LoadModel, *, frame: PlaneFrame, last_joint_m: FloatArray, end_m: FloatArray) -> ExternalLoad:
    """Constant force or spring on the last segment.

    Parameters
    ----------
    load : Force or Spring
        The load, in the laboratory frame.
    frame : PlaneFrame
        The plane of motion; the load's part along its normal is ignored.
    last_joint_m, end_m : ndarray of shape (n_frames, 3)
        Proximal joint and end of the last segment, m: their two coordinates in the plane and the one along its normal.

    Returns
    -------
    ExternalLoad
        Load in the plane, known on every frame.

    Notes
    -----
    A spring pulls towards its anchor with ``k (r - rest length)``, r the distance in space, and is slack when shorter.
    """
    point = last_joint_m + load.fraction * (end_m - last_joint_m)
    if isinstance(load, Force):
        force = np.broadcast_to(frame.axes @ np.array(load.force_n), point.shape)
    else:
        towards = frame.axes @ np.array(load.anchor_m) - point
        distance = np.linalg.norm(towards, axis=1, keepdims=True)
        stretch = np.maximum(distance - load.rest_length_m, 0.0)
        force = (
            load.stiffness_n_m * stretch * np.divide(towards, distance, where=distance > 0, out=np.zeros_like(towards))
        )
    status = np.full(len(point), MEASURED, dtype=np.int8)
    return ExternalLoad(force[:, :2].copy(), point[:, :2].copy(), np.zeros(len(point)), status, ())

"""Directions in which an input may be wrong, each by one standard deviation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.inverse import ComplexArray
from limbtorque.study.options.uncertainty import Source

SharedBy = Literal["study", "subject", "trial"]
# The error of a scale or a table is the same in all trials of a subject, that of a plate in all trials of a study; the same filter
# takes the same from all trials.
SHARED_BY: dict[Source, SharedBy] = {
    "segment_mass": "subject",
    "segment_com": "subject",
    "segment_inertia": "subject",
    "body_mass": "subject",
    "joint_centres": "subject",
    "soft_tissue": "subject",
    "marker_noise": "trial",
    "gaps": "trial",
    "filter": "study",
    "plane": "subject",
    "plate_gain": "study",
    "plate_offset": "study",
    "pressure": "study",
    "synchronisation": "study",
}


@dataclass(frozen=True)
class Direction:
    """A direction in which an input may be wrong.

    Attributes
    ----------
    source : str
        Source of the error, as in `uncertainty.off`.
    name : str
        What is wrong: a segment, a joint centre with its axis, or empty. The errors of two trials in directions of the
        same source and name are one random number where `shared_by` has them in common, else independent.
    """

    source: Source
    name: str = ""

    @property
    def shared_by(self) -> SharedBy:
        """Trials that have this error in common: those of a study, of a subject, or none."""
        return SHARED_BY[self.source]


@dataclass(frozen=True)
class ParameterErrors:
    """Errors of inertial parameters.

    Attributes
    ----------
    directions : sequence of Direction
        The directions.
    change : ndarray of shape (n_directions, 3 n_links)
        Change of `regressor.inertial_parameters` with one standard deviation of each.
    """

    directions: Sequence[Direction]
    change: FloatArray


@dataclass(frozen=True)
class InputErrors:
    """Errors of joint centres and external load.

    Attributes
    ----------
    directions : sequence of Direction
        The directions.
    joint_m : complex ndarray of shape (n_joints + 1, n_directions, n_frames)
        Change of joint centres and endpoint, x + iy, m, with one standard deviation of each.
    force_n : ndarray of shape (2, n_directions, n_frames)
        Change of the force on the last link, N.
    moment_nm : ndarray of shape (n_directions, n_frames)
        Change of the load's moment about the plane's origin, N m.
    """

    directions: Sequence[Direction]
    joint_m: ComplexArray
    force_n: FloatArray
    moment_nm: FloatArray

    def part(self, some: slice) -> InputErrors:
        """Errors of some frames."""
        return replace(
            self, joint_m=self.joint_m[..., some], force_n=self.force_n[..., some], moment_nm=self.moment_nm[..., some]
        )

    def without(self, off: Sequence[Source]) -> InputErrors:
        """Errors of the sources that are not switched off."""
        kept = [k for k, each in enumerate(self.directions) if each.source not in off]
        if len(kept) == len(self.directions):
            return self
        some = [self.directions[k] for k in kept]
        return InputErrors(some, self.joint_m[:, kept], self.force_n[:, kept], self.moment_nm[kept])

    @classmethod
    def together(cls, errors: Sequence[InputErrors]) -> InputErrors:
        """Several errors as one, in their order."""
        return cls(
            [direction for each in errors for direction in each.directions],
            np.concatenate([each.joint_m for each in errors], axis=1),
            np.concatenate([each.force_n for each in errors], axis=1),
            np.concatenate([each.moment_nm for each in errors]),
        )

    @classmethod
    def of_joints(cls, directions: Sequence[Direction], joint_m: ComplexArray) -> InputErrors:
        """Errors of joint centres alone."""
        n_directions, n_frames = joint_m.shape[1:]
        return cls(directions, joint_m, np.zeros((2, n_directions, n_frames)), np.zeros((n_directions, n_frames)))

"""Mobility of a point: redundancy, manipulability and velocity ellipse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import FloatArray, finite


@dataclass(frozen=True)
class Ellipse:
    """Velocities of a point at joint velocities of unit norm.

    Attributes
    ----------
    semi_axes : ndarray of shape (n_frames, 2)
        Longer and shorter half axis, m/s for 1 rad/s; those of the ellipse of forces for unit joint torques are their
        inverses.
    angle_rad : ndarray of shape (n_frames,)
        Angle of the longer axis to the plane's x axis, rad, from -pi/2 to pi/2.
    """

    semi_axes: FloatArray
    angle_rad: FloatArray


def manipulability(jacobian_m: ArrayLike) -> FloatArray:
    """Manipulability ``sqrt(det(J J^T))`` (Yoshikawa 1985), shape (n_frames,).

    Parameters
    ----------
    jacobian_m : array_like of shape (n_frames, 2, n_joints)
        Jacobian of the point, m.

    Examples
    --------
    Two links of 0.3 m and 0.25 m: ``L1 L2 |sin alpha_2|``.

    >>> bool(np.isclose(manipulability([[[-0.25, -0.25], [0.3, 0.0]]])[0], 0.3 * 0.25))
    True
    """
    return np.asarray(np.prod(np.linalg.svd(_checked(jacobian_m), compute_uv=False), axis=1))


def velocity_ellipse(jacobian_m: ArrayLike) -> Ellipse:
    """Ellipse of the velocities of a point at joint velocities of unit norm.

    Parameters
    ----------
    jacobian_m : array_like of shape (n_frames, 2, n_joints)
        Jacobian of the point, m.
    """
    directions, sizes, _ = np.linalg.svd(_checked(jacobian_m), full_matrices=False)
    slope = np.arctan2(directions[:, 1, 0], directions[:, 0, 0])
    return Ellipse(sizes, (slope + np.pi / 2.0) % np.pi - np.pi / 2.0)


def null_space_projector(jacobian_m: ArrayLike) -> FloatArray:
    """Projector on the joint velocities that leave a point at rest.

    Its rank is the redundancy of the chain at the point: the number of joints minus the directions of motion.

    Parameters
    ----------
    jacobian_m : array_like of shape (n_frames, 2, n_joints)
        Jacobian of the point, m.
    """
    matrix = _checked(jacobian_m)
    return np.asarray(np.eye(matrix.shape[2]) - np.linalg.pinv(matrix) @ matrix)


def _checked(jacobian_m: ArrayLike) -> FloatArray:
    matrix = np.asarray(jacobian_m, dtype=float)
    if matrix.ndim != 3 or matrix.shape[1] != 2 or matrix.shape[2] < 2:
        raise ValueError(f"jacobian_m has shape {matrix.shape}, expected (n_frames, 2, 2 or more joints)")
    return finite("jacobian_m", matrix)

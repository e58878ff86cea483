r"""Positions, velocities, accelerations and jerks of points; mobility.

With the orientation ``theta_l`` of link l and its spoke ``z_l = L_l exp(i theta_l)`` as complex numbers (the spoke of
the link of the point runs to the point), a point of link k and its derivatives are

.. math::

    p = p_0 + \sum_{l \le k} z_l, \quad
    \dot p = \dot p_0 + \sum_l i \dot\theta_l z_l, \quad
    \ddot p = \ddot p_0 + \sum_l (i \ddot\theta_l - \dot\theta_l^2) z_l, \quad
    \dddot p = \dddot p_0 + \sum_l (i \dddot\theta_l - 3 \dot\theta_l \ddot\theta_l - i \dot\theta_l^3) z_l .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import ComplexArray, FloatArray, choice, distal_sums, finite, frames, vectors
from limbtorque.chain.model import ACCELERATED, Chain, Kinematics, Point, pairs

Space = Literal["joint", "segment"]

STILL = (0.0, 0.0)


@dataclass(frozen=True)
class AccelerationParts:
    """Acceleration of a point in the plane by source, m/s^2.

    Attributes
    ----------
    tangential : ndarray of shape (n_frames, n_joints, 2)
        ``[:, j]`` is proportional to the angular acceleration of joint j and across the line from it to the point.
    centripetal : ndarray of shape (n_frames, n_joints, 2)
        ``[:, j]`` is proportional to the squared angular velocity of joint j and points to it.
    coriolis : ndarray of shape (n_frames, n_pairs, 2)
        ``[:, p]`` is proportional to twice the product of the angular velocities of the p-th pair of `pairs`; it points
        to the more distal joint of the two where both turn the same way, and away from it where they do not.
    base : ndarray of shape (n_frames, 2)
        Acceleration of the base.
    """

    tangential: FloatArray
    centripetal: FloatArray
    coriolis: FloatArray
    base: FloatArray

    @property
    def total(self) -> FloatArray:
        """Sum of all parts, shape (n_frames, 2)."""
        parts = self.tangential.sum(axis=1) + self.centripetal.sum(axis=1) + self.coriolis.sum(axis=1)
        return np.asarray(parts + self.base)


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


def joint_positions(
    chain: Chain, angle_rad: ArrayLike, *, base_m: ArrayLike = STILL, missing: bool = False
) -> FloatArray:
    """Positions of the joints and of the end of the last link.

    Parameters
    ----------
    chain : Chain
        The chain.
    angle_rad : array_like of shape (n_frames, n_joints)
        Joint angles, rad.
    base_m : array_like of shape (n_frames, 2) or (2,), optional
        Position of the first joint, m.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    ndarray of shape (n_frames, n_joints + 1, 2)
        Positions in the plane, m.
    """
    theta = orientations("angle_rad", angle_rad, chain, missing=missing)
    base = vectors("base_m", base_m, len(theta), missing=missing)[:, None]
    return np.concatenate([base, base + np.cumsum(in_plane(chain.length_m * unit_vectors(theta)), axis=1)], axis=1)


def point_position(chain: Chain, angle_rad: ArrayLike, *, point: Point, base_m: ArrayLike = STILL) -> FloatArray:
    """Position of a point of a link (forward kinematics).

    Parameters
    ----------
    chain : Chain
        The chain.
    angle_rad : array_like of shape (n_frames, n_joints)
        Joint angles, rad.
    point : Point
        The point, e.g. ``chain.endpoint``.
    base_m : array_like of shape (n_frames, 2) or (2,), optional
        Position of the first joint, m.

    Returns
    -------
    ndarray of shape (n_frames, 2)
        Position in the plane, m.

    Examples
    --------
    >>> arm = Chain(length_m=[0.3, 0.25], mass_kg=[2, 1], com_m=[0.13, 0.11], inertia_kgm2=[0.02, 0.01])
    >>> point_position(arm, [[0.0, 0.0]], point=arm.endpoint).tolist()
    [[0.55, 0.0]]
    """
    spokes = _spokes(chain, orientations("angle_rad", angle_rad, chain), point)
    return in_plane(spokes.sum(axis=1)) + vectors("base_m", base_m, len(spokes))


def point_velocity(chain: Chain, kinematics: Kinematics, *, point: Point) -> FloatArray:
    """Velocity of a point of a link, shape (n_frames, 2), m/s.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles, angular velocities, and the velocity of the base.
    point : Point
        The point.
    """
    alpha, velocity, base = kinematics.arrays(chain, "angle_rad", "velocity_rad_s", "base_velocity_m_s")
    theta, omega = np.cumsum(alpha, axis=1), np.cumsum(velocity, axis=1)
    return in_plane((1j * omega * _spokes(chain, theta, point)).sum(axis=1)) + base


def point_acceleration(chain: Chain, kinematics: Kinematics, *, point: Point) -> FloatArray:
    """Acceleration of a point of a link, shape (n_frames, 2), m/s^2.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles, their derivatives, and the acceleration of the base.
    point : Point
        The point.
    """
    *angles, base = kinematics.arrays(chain, *ACCELERATED)
    theta, omega, spin = (np.cumsum(values, axis=1) for values in angles)
    return in_plane(((1j * spin - omega**2) * _spokes(chain, theta, point)).sum(axis=1)) + base


def point_jerk(
    chain: Chain, kinematics: Kinematics, jerk_rad_s3: ArrayLike, *, point: Point, base_jerk_m_s3: ArrayLike = STILL
) -> FloatArray:
    """Jerk of a point of a link, shape (n_frames, 2), m/s^3.

    Parameters
    ----------
    chain : Chain
        The chain.
    kinematics : Kinematics
        Joint angles and their derivatives.
    jerk_rad_s3 : array_like of shape (n_frames, n_joints)
        Third derivatives of the joint angles.
    point : Point
        The point.
    base_jerk_m_s3 : array_like of shape (n_frames, 2) or (2,), optional
        Jerk of the first joint.
    """
    angles = kinematics.arrays(chain, "angle_rad", "velocity_rad_s", "acceleration_rad_s2")
    theta, omega, spin = (np.cumsum(values, axis=1) for values in angles)
    jerk = orientations("jerk_rad_s3", jerk_rad_s3, chain, like=theta)
    factor = 1j * jerk - 3.0 * omega * spin - 1j * omega**3
    turning = (factor * _spokes(chain, theta, point)).sum(axis=1)
    return in_plane(turning) + vectors("base_jerk_m_s3", base_jerk_m_s3, len(theta))


def jacobian(
    chain: Chain, angle_rad: ArrayLike, *, point: Point, space: Space = "joint", missing: bool = False
) -> FloatArray:
    """Jacobian J of a point: ``J @ velocity`` moves it, ``J.T @ force`` loads it.

    Parameters
    ----------
    chain : Chain
        The chain.
    angle_rad : array_like of shape (n_frames, n_joints)
        Joint angles, rad.
    point : Point
        The point.
    space : {"joint", "segment"}, optional
        Columns by joint angles, or by orientations of the segments.
    missing : bool, optional
        Allow NaN (missing values).

    Returns
    -------
    ndarray of shape (n_frames, 2, n_joints)
        m/rad.
    """
    spokes = _spokes(chain, orientations("angle_rad", angle_rad, chain, missing=missing), point)
    return np.swapaxes(in_plane(1j * _in_space(spokes, space)), 1, 2)


def jacobian_rate(
    chain: Chain, kinematics: Kinematics, *, point: Point, space: Space = "joint", missing: bool = False
) -> FloatArray:
    """Time derivative of a point's Jacobian, (n_frames, 2, n_joints), m/(rad s).

    Parameters
    ----------
    chain, point, space, missing
        As in `jacobian`.
    kinematics : Kinematics
        Joint angles and angular velocities, whatever the space.
    """
    angles = kinematics.arrays(chain, "angle_rad", "velocity_rad_s", missing=missing)
    theta, omega = (np.cumsum(values, axis=1) for values in angles)
    return np.swapaxes(in_plane(-_in_space(omega * _spokes(chain, theta, point), space)), 1, 2)


def acceleration_parts(chain: Chain, kinematics: Kinematics, *, point: Point) -> AccelerationParts:
    """Tangential, centripetal and Coriolis acceleration of a point, by joint.

    Parameters
    ----------
    chain, kinematics, point
        As in `point_acceleration`.

    Returns
    -------
    AccelerationParts
        Parts that add up to `point_acceleration`.
    """
    alpha, velocity, acceleration, base = kinematics.arrays(chain, *ACCELERATED)
    from_joint = _in_space(_spokes(chain, np.cumsum(alpha, axis=1), point), "joint")
    coriolis = [-2.0 * from_joint[:, q] * velocity[:, p] * velocity[:, q] for p, q in pairs(chain.n_links)]
    return AccelerationParts(
        tangential=in_plane(1j * from_joint * acceleration),
        centripetal=in_plane(-from_joint * velocity**2),
        coriolis=in_plane(np.stack(coriolis, axis=1) if coriolis else np.empty((len(alpha), 0), dtype=complex)),
        base=base,
    )


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
    return np.asarray(np.prod(np.linalg.svd(_checked_jacobian(jacobian_m), compute_uv=False), axis=1))


def velocity_ellipse(jacobian_m: ArrayLike) -> Ellipse:
    """Ellipse of the velocities of a point at joint velocities of unit norm.

    Parameters
    ----------
    jacobian_m : array_like of shape (n_frames, 2, n_joints)
        Jacobian of the point, m.
    """
    directions, sizes, _ = np.linalg.svd(_checked_jacobian(jacobian_m), full_matrices=False)
    slope = np.arctan2(directions[:, 1, 0], directions[:, 0, 0])
    return Ellipse(sizes, (slope + np.pi / 2.0) % np.pi - np.pi / 2.0)


def null_space_projector(jacobian_m: ArrayLike) -> FloatArray:
    """Projector onto joint velocities that leave a point at rest.

    Its rank is the redundancy of the chain at the point: the number of joints minus the directions of motion.

    Parameters
    ----------
    jacobian_m : array_like of shape (n_frames, 2, n_joints)
        Jacobian of the point, m.
    """
    matrix = _checked_jacobian(jacobian_m)
    return np.asarray(np.eye(matrix.shape[2]) - np.linalg.pinv(matrix) @ matrix)


def _checked_jacobian(jacobian_m: ArrayLike) -> FloatArray:
    matrix = np.asarray(jacobian_m, dtype=float)
    if matrix.ndim != 3 or matrix.shape[1] != 2 or matrix.shape[2] < 2:
        raise ValueError(f"jacobian_m has shape {matrix.shape}, expected (n_frames, 2, 2 or more joints)")
    return finite("jacobian_m", matrix)


def orientations(
    name: str, value: ArrayLike, chain: Chain, *, like: FloatArray | None = None, missing: bool = False
) -> FloatArray:
    """Orientations of the links, or derivatives, from joint angles or derivatives."""
    return np.cumsum(frames(name, value, chain.n_links, like=like, missing=missing), axis=1)


def on_chain(name: str, point: Point, n_links: int) -> None:
    """Check that the link of a point exists in the chain.

    Raises
    ------
    ValueError
        No such link, or a position that is not finite.
    """
    if point.link not in range(n_links):
        raise ValueError(f"{name}.link is {point.link}; the chain has links 0 to {n_links - 1}")
    if not np.isfinite([point.along_m, point.across_m]).all():
        raise ValueError(f"{name} is {point}; expected finite along_m and across_m")


def _spokes(chain: Chain, theta: FloatArray, point: Point) -> ComplexArray:
    """Vectors of the links from the base to a point, complex; 0 beyond its link."""
    on_chain("point", point, chain.n_links)
    reach = np.zeros(chain.n_links, dtype=complex)
    reach[: point.link] = chain.length_m[: point.link]
    reach[point.link] = point.along_m + 1j * point.across_m
    return np.asarray(reach * unit_vectors(theta))


def _in_space(spokes: ComplexArray, space: Space) -> ComplexArray:
    """Link vectors (segment space) or vectors from each joint to the point."""
    choice("space", space, ("joint", "segment"))
    return spokes if space == "segment" else distal_sums(spokes)


def unit_vectors(theta: FloatArray) -> ComplexArray:
    """Unit vectors of given angles as complex numbers, without complex exponential."""
    vectors_ = np.empty(theta.shape, dtype=complex)
    vectors_.real, vectors_.imag = np.cos(theta), np.sin(theta)
    return vectors_


def in_plane(numbers: ComplexArray) -> FloatArray:
    """Complex numbers as vectors of the plane, shape (...) -> (..., 2)."""
    return np.stack([numbers.real, numbers.imag], axis=-1)

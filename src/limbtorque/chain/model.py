"""Chain, point on a link, kinematics and external load."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from limbtorque.arrays import FloatArray, finite, plane_vectors

ACCELERATED = ("angle_rad", "velocity_rad_s", "acceleration_rad_s2", "base_acceleration_m_s2")

_STILL = np.zeros(2)
_STILL.flags.writeable = False
_RULES = {"length_m": "positive", "mass_kg": "non-negative", "com_m": "finite", "inertia_kgm2": "non-negative"}


@dataclass(frozen=True, eq=False)
class Chain:
    """Lengths and inertial constants of a planar chain, proximal link first.

    Attributes
    ----------
    length_m : ndarray of shape (n_links,)
        Distance between a link's two joints, m.
    mass_kg : ndarray of shape (n_links,)
        Mass, kg.
    com_m : ndarray of shape (n_links,)
        Distance of the centre of mass from the proximal joint, along the link, m.
    inertia_kgm2 : ndarray of shape (n_links,)
        Moment of inertia about the centre of mass and the plane's normal, kg m^2.

    Raises
    ------
    ValueError
        A length that is not positive, a negative mass or inertia, a non-finite value, or shapes that differ.
    """

    length_m: FloatArray
    mass_kg: FloatArray
    com_m: FloatArray
    inertia_kgm2: FloatArray

    def __post_init__(self) -> None:
        n_links = np.atleast_1d(np.asarray(self.length_m, dtype=float)).shape
        for name, rule in _RULES.items():
            value = np.atleast_1d(np.asarray(getattr(self, name), dtype=float))
            if value.shape != n_links or value.ndim != 1 or not value.size:
                raise ValueError(f"{name} has shape {value.shape}, length_m has {n_links}: one number for each link")
            low = {"positive": value <= 0.0, "non-negative": value < 0.0}.get(rule, False)
            bad = np.flatnonzero(~np.isfinite(value) | low)
            if bad.size:
                raise ValueError(f"{name}[{bad[0]}] is {value[bad[0]]} (shape {value.shape}); expected a {rule} number")
            object.__setattr__(self, name, value)

    @property
    def n_links(self) -> int:
        """Number of links, and of joints."""
        return int(self.length_m.size)

    @cached_property
    def coupling(self) -> FloatArray:
        """Matrix A, kg m^2: segment-space inertia is ``A_ij cos(theta_i - theta_j)``."""
        arms = self._arms
        return (arms.T * self.mass_kg) @ arms + np.diag(self.inertia_kgm2)

    @cached_property
    def first_moment(self) -> FloatArray:
        """Vector b of shape (n_links,), kg m: first mass moment that turns with each link."""
        return self.mass_kg @ self._arms

    @property
    def _arms(self) -> FloatArray:
        """Matrix c_ki: distance by which link i carries the centre of mass of link k."""
        return np.tril(np.tile(self.length_m, (self.n_links, 1)), -1) + np.diag(self.com_m)

    @property
    def endpoint(self) -> Point:
        """End of the last link."""
        return Point(self.n_links - 1, float(self.length_m[-1]))

    def centre_of_mass(self, link: int) -> Point:
        """Centre of mass of a link."""
        return Point(link, float(self.com_m[link]))

    def holding(self, mass_kg: float, *, link: int = -1, along_m: float | None = None) -> Chain:
        """Chain with an added point mass on a link, such as a weight in the hand.

        Parameters
        ----------
        mass_kg : float
            The mass, kg.
        link : int, optional
            Index of the link; the last by default.
        along_m : float, optional
            Distance from the link's proximal joint, along the link, m; its end by default.

        Returns
        -------
        Chain
            The chain with the combined mass, centre of mass and moment of inertia of that link.
        """
        mass, com, inertia = self.mass_kg.copy(), self.com_m.copy(), self.inertia_kgm2.copy()
        place = float(self.length_m[link]) if along_m is None else along_m
        mass[link] += mass_kg
        com[link] += (mass_kg / mass[link] if mass_kg else 0.0) * (place - self.com_m[link])
        inertia[link] += self.mass_kg[link] * (self.com_m[link] - com[link]) ** 2 + mass_kg * (place - com[link]) ** 2
        return Chain(self.length_m, mass, com, inertia)


@dataclass(frozen=True)
class Point:
    """A point that is fixed to a link.

    Attributes
    ----------
    link : int
        Index of the link, from 0.
    along_m : float
        Distance from the link's proximal joint along the link, m.
    across_m : float
        Distance from the line along the link, m; positive to the left of it, seen from the proximal joint.
    """

    link: int
    along_m: float
    across_m: float = 0.0


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Joint angles, position of the base and their derivatives.

    Attributes
    ----------
    angle_rad, velocity_rad_s : ndarray of shape (n_frames, n_joints)
        Joint angles and angular velocities.
    acceleration_rad_s2 : ndarray of shape (n_frames, n_joints)
        Angular accelerations; NaN, unknown, where they are not given.
    base_m, base_velocity_m_s, base_acceleration_m_s2 : ndarray of shape (n_frames, 2) or (2,)
        Position of the first joint and its derivatives; of shape (2,) the same on all frames, 0 by default.

    Raises
    ------
    ValueError
        Mismatched shapes. Numbers are checked by the functions that use them.

    Examples
    --------
    >>> at_rest = Kinematics([[0.0, 1.5]], [[0.0, 0.0]], [[0.0, 0.0]])
    >>> at_rest.n_frames
    1
    """

    angle_rad: FloatArray
    velocity_rad_s: FloatArray
    acceleration_rad_s2: FloatArray = field(default_factory=lambda: np.array(np.nan))
    base_m: FloatArray = field(default_factory=lambda: _STILL)
    base_velocity_m_s: FloatArray = field(default_factory=lambda: _STILL)
    base_acceleration_m_s2: FloatArray = field(default_factory=lambda: _STILL)

    def __post_init__(self) -> None:
        shape = np.shape(self.angle_rad)
        if len(shape) != 2:
            raise ValueError(f"angle_rad has shape {shape}, expected (n_frames, n_joints)")
        for name in ("angle_rad", "velocity_rad_s", "acceleration_rad_s2"):
            value = np.asarray(getattr(self, name), dtype=float)
            if name == "acceleration_rad_s2" and np.ndim(value) == 0:
                value = np.full(shape, value)
            if value.shape != shape:
                raise ValueError(
                    f"{name} has shape {value.shape}, expected {shape}, the shape of angle_rad (or {value.shape} for both)"
                )
            object.__setattr__(self, name, value)
        for name in ("base_m", "base_velocity_m_s", "base_acceleration_m_s2"):
            if getattr(self, name) is not _STILL:
                value = np.asarray(getattr(self, name), dtype=float)
                plane_vectors(name, value, shape[0])
                object.__setattr__(self, name, value)

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.angle_rad)

    def part(self, some: slice) -> Kinematics:
        """Kinematics of selected frames."""
        base = (self.base_m, self.base_velocity_m_s, self.base_acceleration_m_s2)
        return Kinematics(
            self.angle_rad[some],
            self.velocity_rad_s[some],
            self.acceleration_rad_s2[some],
            *(array[some] if array.ndim == 2 else array for array in base),
        )

    def arrays(self, chain: Chain, *names: str, missing: bool = False) -> list[FloatArray]:
        """Return arrays of these names, one row for each frame, checked for a chain.

        Raises
        ------
        ValueError
            Another number of joints than the chain has links, or a number that is not finite; NaN passes where
            values may be missing.
        """
        if self.angle_rad.shape[1] != chain.n_links:
            raise ValueError(f"angle_rad has shape {self.angle_rad.shape}, expected (n_frames, {chain.n_links})")
        found = [finite(name, getattr(self, name), missing=missing) for name in names]
        return [array if array.ndim == 2 else np.broadcast_to(array, (self.n_frames, 2)) for array in found]


@dataclass(frozen=True, eq=False)
class Load:
    """External force and couple on one link.

    Attributes
    ----------
    link : int
        Index of the link, from 0.
    force_n : ndarray of shape (n_frames, 2)
        Force on the link in the plane, N.
    point_m : ndarray of shape (n_frames, 2)
        Point of application in the plane's coordinates, m.
    couple_nm : ndarray of shape (n_frames,), or one number for all frames
        Couple on the link, counter-clockwise positive, N m; none by default.

    Raises
    ------
    ValueError
        An array of another shape.
    """

    link: int
    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray | float = 0.0

    def __post_init__(self) -> None:
        n_frames = np.asarray(self.force_n).shape[:1] if np.ndim(self.force_n) == 2 else ()
        if n_frames and np.ndim(self.couple_nm) == 0:
            object.__setattr__(self, "couple_nm", np.full(n_frames, float(self.couple_nm)))
        for name, shape in (("force_n", (*n_frames, 2)), ("point_m", (*n_frames, 2)), ("couple_nm", n_frames)):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != shape or not n_frames:
                raise ValueError(f"{name} has shape {value.shape}, expected {shape if n_frames else '(n_frames, 2)'}")
            object.__setattr__(self, name, value)


def pairs(n_joints: int) -> list[tuple[int, int]]:
    """Pairs of joints in the order of the Coriolis terms.

    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(p, q) for p in range(n_joints) for q in range(p + 1, n_joints)]

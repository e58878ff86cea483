r"""Fibres in series with a compliant tendon, in equilibrium.

The tendon pulls as hard as the fibres along it. With f the tension, l and v the fibre's length and velocity in
optimal lengths and greatest shortening velocities, and cos the pennation's cosine,

.. math::

    f = (a\,f_L(l)\,f_V(v) + f_P(l))\,\cos, \qquad l\,\cos = L - L_T(f)

A tension gives the length of the tendon, hence that of the fibre, and the activation is what it takes:
`fibre_state`, closed form. An activation gives the tension as the root of the first equation:
`equilibrium_tension`, to 1e-11 of the strength.

The velocity is that of an equilibrium at constant activation: fibre and tendon take up the musculotendon's velocity V
as springs in series,

.. math::

    v\,v_{max} = V\,\cos\,k_T / (k_T + k_M)

with the stiffness of the tendon and that of the fibre along it at constant activation and velocity factor. So every
frame stands alone; the stretch by a changing activation, and the speed at which a tendon recoils when a muscle is
switched off, are left out. A fibre that softens with length (k_M below 0) counts as having no stiffness.

Fibres have constant thickness, and curves are held outside their range, as in `hill.hill_limits`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.hill import (
    FASTEST,
    FIBRE_RANGE,
    active_force_length,
    active_force_length_slope,
    force_velocity,
    passive_force_length,
    passive_force_length_slope,
    tendon_force,
    tendon_length,
    tendon_stiffness,
)

CLOSED = 1e-11  # difference of the two tensions, in strengths, that counts as equilibrium
STEPS = 90  # halvings of the bracket, at the most: one step in three is one
MOST = 4.0  # tension that no fibre reaches: 1.79 when lengthening at full activation, and 1 passive


@dataclass(frozen=True, eq=False)
class TendonUnits:
    """Muscles with their tendons, each in one state; arrays of one shape.

    Attributes
    ----------
    length_m, velocity_m_s : ndarray
        Length of muscle and tendon, and its rate of change (lengthening is positive); NaN where missing.
    optimal_fibre_length_m, tendon_slack_length_m : ndarray
        Lengths, above 0.
    thickness_m : ndarray
        Distance that the pennate fibre keeps across the tendon.
    tendon_strain : ndarray
        Strain of the tendon at the muscle's strength, above 0.
    max_velocity_m_s : ndarray
        Greatest shortening velocity of the fibre.
    """

    length_m: FloatArray
    velocity_m_s: FloatArray
    optimal_fibre_length_m: FloatArray
    tendon_slack_length_m: FloatArray
    thickness_m: FloatArray
    tendon_strain: FloatArray
    max_velocity_m_s: FloatArray

    def at(self, some: NDArray[np.intp]) -> TendonUnits:
        """Some of the units, by their index."""
        return TendonUnits(*(getattr(self, field.name)[some] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class FibreState:
    """Fibres and tendons at given tensions; arrays of the shape of the units.

    Attributes
    ----------
    activation : ndarray
        Activation at which the fibre is in equilibrium with its tendon.
    active, passive : ndarray
        Tension at full activation beyond the passive one, and the passive one, at this length and velocity, in strengths.
    fibre_length : ndarray
        In optimal lengths, before it is clipped to the range of the curves.
    fibre_velocity : ndarray
        In greatest shortening velocities, lengthening positive, before it is clipped.
    cos_pennation : ndarray
        Cosine of the angle between fibres and tendon; 0 where the tendon is slack.
    tendon_strain : ndarray
        Length of the tendon over its slack length, less 1.
    possible : ndarray of bool
        False where the tendon is slack, or the fibre is beyond the range of the curves; True where it is missing.
    """

    activation: FloatArray
    active: FloatArray
    passive: FloatArray
    fibre_length: FloatArray
    fibre_velocity: FloatArray
    cos_pennation: FloatArray
    tendon_strain: FloatArray
    possible: BoolArray


def fibre_state(units: TendonUnits, tension: FloatArray) -> FibreState:
    """Fibres and tendons at tensions.

    Parameters
    ----------
    units : TendonUnits
        The muscles.
    tension : ndarray of the shape of the units
        Tension in strengths; NaN where missing.

    Returns
    -------
    FibreState
        Its activation is outside 0 to 1 for tensions that the muscle cannot have in this state.
    """
    slack, optimum, thickness = units.tendon_slack_length_m, units.optimal_fibre_length_m, units.thickness_m
    tendon = tendon_length(tension, units.tendon_strain)
    along = np.maximum(units.length_m - slack * tendon, 0.0)
    fibre_m = np.hypot(along, thickness)
    cosine = along / np.where(fibre_m == 0.0, 1.0, fibre_m)
    fibre = fibre_m / optimum
    held = np.clip(fibre, *FIBRE_RANGE)
    full, passive = active_force_length(held), np.maximum(passive_force_length(held), 0.0)
    pull = tension / np.where(cosine == 0.0, np.inf, cosine)
    slope = np.where(held == fibre, (pull - passive) / full * active_force_length_slope(held), 0.0)
    slope += np.where((held == fibre) & (passive > 0.0), passive_force_length_slope(held), 0.0)
    across = thickness**2 / np.where(fibre_m == 0.0, 1.0, fibre_m) ** 3
    own_stiffness = np.maximum(slope * cosine**2 / optimum + pull * across, 0.0)
    stiffness = tendon_stiffness(tension, units.tendon_strain) / slack
    part = stiffness / (stiffness + own_stiffness)
    speed = units.velocity_m_s * part * cosine / units.max_velocity_m_s
    active = full * force_velocity(np.clip(speed, -FASTEST, FASTEST)) * cosine
    resting = passive * cosine
    beyond = (along == 0.0) | (fibre != held) & ~np.isnan(fibre) | (np.abs(speed) > FASTEST)
    return FibreState(
        activation=np.where(active > 0.0, (tension - resting) / np.where(active > 0.0, active, 1.0), tension * 0.0),
        active=active,
        passive=resting,
        fibre_length=fibre,
        fibre_velocity=speed,
        cos_pennation=cosine,
        tendon_strain=tendon - 1.0,
        possible=np.asarray(~beyond),
    )


def equilibrium_tension(units: TendonUnits, activation: FloatArray) -> FloatArray:
    """Tension of muscles in equilibrium with their tendons, at activations.

    Parameters
    ----------
    units : TendonUnits
        The muscles.
    activation : ndarray of the shape of the units
        Activation, 0 to 1.

    Returns
    -------
    ndarray
        Tension in strengths: 0 where the tendon is slack, NaN where length or velocity is missing.

    Notes
    -----
    The root is between 0 and the tension that would stretch the tendon to the whole length, where the fibre has none
    left. It is found by false position, the Illinois way, with a bisection at every third step. A stretched, soft
    tendon and a fibre on the falling limb of its curve may have several equilibria; one of them is found.

    Examples
    --------
    >>> one = TendonUnits(*(np.array([value]) for value in (0.35, 0.0, 0.1, 0.25, 0.0, 0.049, 1.0)))
    >>> tension = equilibrium_tension(one, np.ones(1))
    >>> tension.round(3).tolist(), fibre_state(one, tension).tendon_strain.round(3).tolist()
    ([0.91], [0.047])
    """
    shape = units.length_m.shape
    flat = TendonUnits(*(np.ravel(getattr(units, field.name)) for field in fields(units)))
    wanted = np.ravel(activation)
    tension = np.where(np.isnan(flat.length_m + flat.velocity_m_s), np.nan, 0.0)
    longest = np.minimum(flat.length_m / flat.tendon_slack_length_m, tendon_length(MOST, flat.tendon_strain))
    most = tendon_force(longest, flat.tendon_strain)
    taut = np.flatnonzero((most > 0.0) & ~np.isnan(tension))
    tension[taut] = _root(flat.at(taut), wanted[taut], most[taut])
    return tension.reshape(shape)


def _excess(units: TendonUnits, activation: FloatArray, tension: FloatArray) -> FloatArray:
    """Tension of the fibre less that of the tendon; falls with the latter."""
    state = fibre_state(units, tension)
    return np.asarray(activation * state.active + state.passive - tension)


def _root(units: TendonUnits, activation: FloatArray, most: FloatArray) -> FloatArray:
    """Tensions from 0 to `most` without excess; found ones leave the iteration."""
    root, index = np.zeros_like(most), np.arange(most.size)
    low, high = np.zeros_like(most), most
    at_low, at_high = _excess(units, activation, low), -most  # of no fibre there is no force
    before = np.zeros(most.size)  # sign of the excess at the step before
    for step in range(STEPS):
        guess = 0.5 * (low + high) if step % 3 == 2 else (low * at_high - high * at_low) / (at_high - at_low)
        excess = _excess(units, activation, guess)
        root[index] = guess
        sign = np.sign(excess)
        again = np.where(sign == before, 0.5, 1.0)  # the other end has stayed twice
        below = sign > 0.0
        low, at_low = np.where(below, guess, low), np.where(below, excess, again * at_low)
        high, at_high = np.where(below, high, guess), np.where(below, again * at_high, excess)
        left = np.flatnonzero((np.abs(excess) > CLOSED) & (high - low > CLOSED))
        if not left.size:
            break
        index, units, activation, before = index[left], units.at(left), activation[left], sign[left]
        low, high, at_low, at_high = low[left], high[left], at_low[left], at_high[left]
    return root

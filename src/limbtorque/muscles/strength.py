r"""Strengths of muscles at every frame, and their activations on compliant tendons.

On a compliant tendon the strength depends on the activation, by the stretch. Static optimization needs forces
between two limits, and a cost. Both limits are equilibria: the tension P at no activation, and that at
full activation, P + S. The muscle can produce every force between them, so the reachable torques, the reserve, the least and
greatest forces and the certificate are exact. The cost is that of activations, which are not proportional to the force
beyond P. The optimization is repeated, with a unit N of this force for each muscle and frame,

.. math::

    N^p = (F - P)^{p-1} / (a^{p-1}\,a'(F)),

at the forces F of the previous optimization, until no activation changes by more than `SETTLED`; N is changed by more or less than that, as the last two
changes suggest [1]_. At the end the gradient of
:math:`\sum w ((F - P)/N)^p` is that of :math:`\sum w\,a(F)^p`: the forces fulfil the optimality conditions of the sum of
activations. Where a is convex in F that is its least value; else it may be a local one.

Fibres in series with a compliant tendon are in equilibrium with it. The tendon pulls as hard as the fibres along it. With f the tension, l and v the fibre's length and velocity in
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

with the stiffness of the tendon and that of the fibre along it at constant activation and velocity factor. So
every frame is independent; stretch due to changing activation, and tendon recoil after deactivation, are neglected. A fibre that softens with length (k_M below 0) is taken to have no stiffness.

Fibres have constant thickness, and curves are held outside their range, as in `hill.hill_limits`.

References
----------
.. [1] Irons B.M., Tuck R.C. (1969) A version of the Aitken accelerator for computer iteration. Int J Numer Methods Eng
   1:275-277.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.hill import (
    FASTEST,
    FIBRE_RANGE,
    TENDON_STRAIN,
    HillLimits,
    active_force_length,
    active_force_length_slope,
    force_velocity,
    hill_limits,
    passive_force_length,
    passive_force_length_slope,
    tendon_force,
    tendon_length,
    tendon_stiffness,
)
from limbtorque.muscles.moment_arms import Musculotendon
from limbtorque.muscles.objective import (
    Envelopes,
    Problem,
    activation_limits,
    least_cost_forces,
    optimize_forces,
    own_options,
)
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.solve import StaticOptimization
from limbtorque.study.options.muscles import Muscles

MAX_FIBRE_VELOCITY_LOPT_S = 10.0  # largest shortening velocity, in optimal fibre lengths per second (Zajac 1989)

CLOSED = 1e-11  # difference of the two tensions, in strengths, that counts as equilibrium
STEPS = 90  # halvings of the bracket, at the most: one step in three is one
MOST_TENSION = 4.0  # tension that no fibre reaches: 1.79 when lengthening at full activation, and 1 passive
SETTLED = 1e-6  # change of an activation that ends the iteration
MOST = 40  # optimizations, at the most
PARTS = (0.1, 4.0)  # least and largest part of the wanted change of the units that is made at once
STEP = 1e-6  # of the strength, for the derivative of the activation by the force
SMALL = 1e-4  # activation below which force over activation is taken as its limit, the derivative


@dataclass(frozen=True, eq=False)
class TendonUnits:
    """Muscles with tendons, each in one state; arrays of the same shape.

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
        """Selected units, by index."""
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
    longest = np.minimum(flat.length_m / flat.tendon_slack_length_m, tendon_length(MOST_TENSION, flat.tendon_strain))
    most = tendon_force(longest, flat.tendon_strain)
    taut = np.flatnonzero((most > 0.0) & ~np.isnan(tension))
    tension[taut] = _root(flat.at(taut), wanted[taut], most[taut])
    return tension.reshape(shape)


def _root(units: TendonUnits, activation: FloatArray, most: FloatArray) -> FloatArray:
    """Roots of the excess between 0 and `most`; converged ones leave the iteration."""

    def excess_at(
        tension: FloatArray,
    ) -> FloatArray:  # tension of the fibre less that of the tendon; falls with the latter
        state = fibre_state(units, tension)
        return np.asarray(activation * state.active + state.passive - tension)

    root, index = np.zeros_like(most), np.arange(most.size)
    low, high = np.zeros_like(most), most
    at_low, at_high = excess_at(low), -most  # of no fibre there is no force
    before = np.zeros(most.size)  # sign of the excess at the step before
    for step in range(STEPS):
        guess = 0.5 * (low + high) if step % 3 == 2 else (low * at_high - high * at_low) / (at_high - at_low)
        excess = excess_at(guess)
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


@dataclass(frozen=True, eq=False)
class CompliantMuscles:
    """Muscles of a trial with compliant tendons, and with unknown fibres.

    Attributes
    ----------
    units : TendonUnits
        Arrays of shape (n_frames, n_muscles); NaN where the fibres are unknown.
    known : ndarray of bool, shape (n_muscles,)
        Muscles of known fibres.
    max_force_n : ndarray of shape (n_muscles,)
        Strengths of all muscles.
    """

    units: TendonUnits
    known: BoolArray
    max_force_n: FloatArray

    def force_n(self, activation: FloatArray) -> FloatArray:
        """Forces in equilibrium at activations (n_muscles,), shape (n_frames, n_muscles)."""
        tension = equilibrium_tension(self.units, np.broadcast_to(activation, self.units.length_m.shape))
        return np.where(self.known, tension, activation) * self.max_force_n

    def state(self, force_n: FloatArray) -> FibreState:
        """Fibres and tendons at given forces; where unknown NaN, with linear activation."""
        part = force_n / self.max_force_n
        state = fibre_state(self.units, part)
        return replace(state, activation=np.where(self.known, state.activation, part))


@dataclass(frozen=True, eq=False)
class Strengths:
    """Forces that the muscles of a trial can have.

    Attributes
    ----------
    active_n : ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Force at full activation beyond the passive one.
    passive_n : ndarray of shape (n_frames, n_muscles)
        Force at no activation.
    bounds : pair of ndarray of shape (n_muscles,) or (n_frames, n_muscles)
        Least and largest part of `active_n`; activations, unless the tendon is compliant.
    limits : HillLimits or None
        Strength and passive tension on rigid tendons, where they depend on length and velocity.
    compliant : CompliantMuscles or None
        The muscles, where their tendons are compliant.
    """

    active_n: FloatArray
    passive_n: FloatArray
    bounds: tuple[FloatArray, FloatArray]
    limits: HillLimits | None = None
    compliant: CompliantMuscles | None = None


@dataclass(frozen=True, eq=False)
class TendonStretch:
    """Compliant tendons at the optimized forces.

    Attributes
    ----------
    strain : ndarray of shape (n_frames, n_muscles)
        Strain of each tendon; NaN where it is unknown.
    unit_n : ndarray of shape (n_frames, n_muscles) or None
        Force beyond the passive one that counts as 1 in the criterion; None where the criterion has no activations.
    iterations : ndarray of int of shape (n_frames,)
        Optimizations until the activations had settled.
    change : ndarray of shape (n_frames,)
        Largest change of an activation in the last one.
    """

    strain: FloatArray
    unit_n: FloatArray | None
    iterations: NDArray[np.int64]
    change: FloatArray


@dataclass(frozen=True, eq=False)
class OptimizedForces:
    """Static optimization with the activations and fibres of its forces.

    Attributes
    ----------
    optimized : StaticOptimization
        The optimization; on compliant tendons its activations are parts of `Strengths.active_n`.
    activation : ndarray of shape (n_frames, n_muscles)
        Activation.
    notes : tuple of str
        Notes on the envelopes that the activations stay near.
    limits : HillLimits or None
        Strength and passive tension, and the fibres; on compliant tendons at the forces found.
    stretch : TendonStretch or None
        Compliant tendons.
    """

    optimized: StaticOptimization
    activation: FloatArray
    notes: tuple[str, ...]
    limits: HillLimits | None
    stretch: TendonStretch | None


def strengths(
    geometry: Musculotendon, muscle_set: MuscleSet, options: Muscles, unknown: Collection[str] = ()
) -> Strengths:
    """Strengths of a set's muscles at every frame, by the settings.

    Parameters
    ----------
    geometry : Musculotendon
        Lengths and velocities.
    muscle_set : MuscleSet
        The muscles.
    options : Muscles
        Section `muscles` of the settings.
    unknown : collection of str, optional
        Joints of unknown flexion: the fibres of muscles that cross them are unknown.
    """
    bounds = activation_limits(muscle_set, options)
    if not options.force_length_velocity:
        return Strengths(muscle_set.max_force_n, np.zeros_like(geometry.length_m), bounds)
    if options.tendon == "rigid":
        fibres = muscle_set.fibres(unknown)
        limits = hill_limits(
            geometry.length_m,
            geometry.velocity_m_s,
            max_force_n=muscle_set.max_force_n,
            optimal_fibre_length_m=fibres["optimal_fibre_length_m"],
            tendon_slack_length_m=fibres["tendon_slack_length_m"],
            pennation_rad=fibres["pennation_rad"],
            max_velocity_lopt_s=MAX_FIBRE_VELOCITY_LOPT_S,
        )
        return Strengths(limits.strength_n, limits.passive_n, bounds, limits)
    muscles = compliant_muscles(geometry, muscle_set, options, unknown)
    none, full = np.zeros(len(muscle_set.muscles)), np.ones(len(muscle_set.muscles))
    passive = muscles.force_n(none)
    active = np.maximum(muscles.force_n(full) - passive, 0.0)
    if (bounds[0] > 0.0).any() or (bounds[1] < 1.0).any():
        over = np.where(active == 0.0, 1.0, active)
        least, largest = (np.clip((muscles.force_n(end) - passive) / over, 0.0, 1.0) for end in bounds)
        bounds = (np.minimum(least, largest), largest)
    return Strengths(active, passive, bounds, compliant=muscles)


def compliant_muscles(
    geometry: Musculotendon, muscle_set: MuscleSet, options: Muscles, unknown: Collection[str] = ()
) -> CompliantMuscles:
    """Muscles of a set on compliant tendons; parameters as for `strengths`."""
    fibres = muscle_set.fibres(unknown)
    known = np.isfinite(sum(fibres.values(), start=np.zeros(len(muscle_set.muscles))))
    optimum, slack, pennation = (np.where(known, values, np.nan) for values in fibres.values())
    given = own_options(options.tendon_strain, muscle_set)
    strain = [given.get(muscle.name, muscle.tendon_strain or TENDON_STRAIN) for muscle in muscle_set.muscles]
    thickness, fastest = optimum * np.sin(pennation), MAX_FIBRE_VELOCITY_LOPT_S * optimum
    rows = (optimum, slack, thickness, np.where(known, strain, np.nan), fastest)
    shape = geometry.length_m.shape
    units = TendonUnits(geometry.length_m, geometry.velocity_m_s, *(np.broadcast_to(row, shape) for row in rows))
    return CompliantMuscles(units, known, muscle_set.max_force_n)


def optimize_with_strengths(
    problem: Problem, strong: Strengths, options: Muscles, envelopes: Envelopes | None = None
) -> OptimizedForces:
    """Static optimization, repeated with compliant tendons until activations converge.

    Parameters
    ----------
    problem : Problem
        Torques required of the active forces, and the muscles with their active strengths and bounds.
    strong : Strengths
        These strengths, with the passive ones.
    options : Muscles
        Section `muscles` of the settings.
    envelopes : Envelopes, optional
        Measured envelopes, for `muscles.emg_weight`.
    """
    found, notes = optimize_forces(problem, options, envelopes)
    muscles = strong.compliant
    if muscles is None:
        return OptimizedForces(found, found.activation, notes, strong.limits, None)
    state = muscles.state(found.force_n + strong.passive_n)
    stretch = TendonStretch(
        state.tendon_strain, None, np.ones(len(state.activation), dtype=np.int64), np.zeros(len(state.activation))
    )
    if options.criterion != "stress":
        exponent = math.inf if options.exponent == "min_max" else float(options.exponent)

        def optimum(unit_n: FloatArray) -> StaticOptimization:
            return least_cost_forces(replace(problem, unit_n=unit_n), options)

        found, state, stretch = _settled(found, optimum, muscles, strong, exponent)
    limits = HillLimits(
        strength_n=strong.active_n,
        passive_n=strong.passive_n,
        fibre_length=state.fibre_length,
        fibre_velocity=state.fibre_velocity,
        cos_pennation=state.cos_pennation,
        possible=state.possible,
        modelled=muscles.known,
    )
    return OptimizedForces(found, np.clip(state.activation, 0.0, 1.0), notes, limits, stretch)


def _settled(
    found: StaticOptimization,
    optimum: Callable[[FloatArray], StaticOptimization],
    muscles: CompliantMuscles,
    strong: Strengths,
    exponent: float,
) -> tuple[StaticOptimization, FibreState, TendonStretch]:
    """Repeat the optimization with other units until activations settle."""
    state = muscles.state(found.force_n + strong.passive_n)
    unit = np.broadcast_to(np.where(strong.active_n > 0.0, strong.active_n, 1.0), strong.passive_n.shape)
    n_frames, last = len(unit), None
    iterations, change = np.ones(n_frames, dtype=np.int64), np.zeros(n_frames)
    moving, part = np.ones(n_frames, dtype=bool), np.ones(n_frames)
    while moving.any() and iterations.max() < MOST:
        wanted = criterion_unit_n(muscles, found.force_n + strong.passive_n, strong, exponent)
        off = np.log(wanted / unit)
        if last is not None:  # part of the wanted change that is made (Irons and Tuck)
            turn = off - last
            size = (turn**2).sum(axis=1)
            part = np.clip(-part * (last * turn).sum(axis=1) / np.where(size > 0.0, size, 1.0), *PARTS)
        unit, last = unit * np.exp((part * moving)[:, None] * off), off  # a settled frame stays as it is
        found, before = optimum(unit), state.activation
        state = muscles.state(found.force_n + strong.passive_n)
        moved = np.nan_to_num(np.abs(state.activation - before)).max(axis=1, initial=0.0)
        iterations, change = iterations + moving, np.where(moving, moved, change)
        moving &= moved > SETTLED
    return found, state, TendonStretch(state.tendon_strain, unit, iterations, change)


def criterion_unit_n(muscles: CompliantMuscles, force_n: FloatArray, strong: Strengths, exponent: float) -> FloatArray:
    """Unit of the force above the passive force, at given forces; see the module.

    Parameters
    ----------
    muscles : CompliantMuscles
        The muscles.
    force_n : ndarray of shape (n_frames, n_muscles)
        Forces, passive and active.
    strong : Strengths
        Strengths.
    exponent : float
        Exponent p of the criterion; inf for the largest activation.

    Returns
    -------
    ndarray of shape (n_frames, n_muscles)
        N, above 0; the strength where there is no force.
    """
    step = STEP * muscles.max_force_n
    more, less = (muscles.state(force_n + off).activation for off in (step, -step))
    slope, activation = (more - less) / (2.0 * step), muscles.state(force_n).activation
    steep = slope > 0.0
    tangent = 1.0 / np.where(steep, slope, np.nan)
    large = activation > SMALL
    secant = np.where(large, (force_n - strong.passive_n) / np.where(large, activation, 1.0), tangent)
    tangent = np.where(steep, tangent, secant)
    unit = secant if math.isinf(exponent) else secant ** (1.0 - 1.0 / exponent) * tangent ** (1.0 / exponent)
    good = np.isfinite(unit) & (unit > 0.0)
    return np.where(good, unit, np.where(strong.active_n > 0.0, strong.active_n, 1.0))

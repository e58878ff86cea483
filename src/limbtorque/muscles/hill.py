"""Hill-type muscle: curves, limits on a rigid tendon, activation dynamics.

Curves and activation dynamics of De Groote et al. [1]_. Lengths are in optimal fibre lengths (tendons: in slack
lengths), velocities in greatest shortening velocities, forces in strengths F_max. **Lengthening is positive.**

The constants are the published ones to three digits, as in SymPy's ``physics.biomechanics``. Due to this rounding the curves deviate
slightly from their defining points: the active force is 0.994 at the optimal length (greatest, 0.996, at 1.02), the
force-velocity factor 1.002 at rest and 0.012 at the greatest shortening velocity (zero at 1.037 times that).

The paper's supplement has two misprints [2]_: the denominator of the Gaussians lacks a square, and the inverse of the
force-velocity curve a ``- d3`` before the division by ``d2``. The docstrings (not the code) of SymPy 1.14 have the
force-velocity root outside the logarithm, and 0.6 outside the exponent of the passive curve.

References
----------
.. [1] De Groote F., Kinney A.L., Rao A.V., Fregly B.J. (2016) Evaluation of direct collocation optimal control problem
   formulations for solving the muscle redundancy problem. Ann Biomed Eng 44:2922-2936.
.. [2] Noted in OpenSim's DeGrooteFregly2016Muscle, which has further digits; checked here: as printed neither curve goes
   through its point at rest.
.. [3] Zajac F.E. (1989) Muscle and tendon: properties, models, scaling, and application to biomechanics and motor
   control. Crit Rev Biomed Eng 17:359-411.
.. [4] Thelen D.G. (2003) Adjustment of muscle mechanics model parameters to simulate dynamic contractions in older
   adults. J Biomech Eng 125:70-77.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from limbtorque.arrays import BoolArray, FloatArray

TENDON = (0.2, 0.995, 0.25, 33.93669377311689)  # c1, c2, c3, k_T: strength at a strain of 4.9 %
GAUSSIANS = ((0.814, 1.06, 0.162, 0.0633), (0.433, 0.717, -0.0299, 0.2), (0.1, 1.0, 0.354, 0.0))  # b1, b2, b3, b4
PASSIVE = (0.6, 4.0)  # e0: strain at which the passive force is the strength; k_PE: shape
VELOCITY = (-0.318, -8.149, -0.374, 0.886)  # d1, d2, d3, d4

TENDON_STRAIN = 0.049  #: strain of a tendon at the muscle's strength, as published

FIBRE_RANGE = (0.4, 1.6)  #: optimal fibre lengths for which `hill_limits` uses the curves; see there
FASTEST = 1.0  #: largest velocity, either way, for which it does


def tendon_force(length: ArrayLike, strain: ArrayLike = TENDON_STRAIN) -> FloatArray:
    """Tension of a tendon.

    Parameters
    ----------
    length : array_like
        Length in slack lengths.
    strain : array_like, optional
        Strain at which the tension is the strength. Strains of the published curve are multiplied by this one over
        0.049, so that a strain of 0 is a rigid tendon.

    Returns
    -------
    ndarray
        Tension in strengths, ``c1 exp(k_T (l - c2)) - c3``; -0.013 at the slack length, as published.
    """
    c1, c2, c3, stiffness = TENDON
    published = 1.0 + (np.asarray(length, dtype=float) - 1.0) * (TENDON_STRAIN / np.asarray(strain, dtype=float))
    return np.asarray(c1 * np.exp(stiffness * (published - c2)) - c3)


def tendon_length(force: ArrayLike, strain: ArrayLike = TENDON_STRAIN) -> FloatArray:
    """Length at which a tendon has a tension, the inverse of `tendon_force`.

    Parameters
    ----------
    force : array_like
        Tension in strengths, above -0.25.
    strain : array_like, optional
        As for `tendon_force`.

    Returns
    -------
    ndarray
        Length in slack lengths.
    """
    c1, c2, c3, stiffness = TENDON
    published = np.log((np.asarray(force, dtype=float) + c3) / c1) / stiffness + c2
    return np.asarray(1.0 + (published - 1.0) * (np.asarray(strain, dtype=float) / TENDON_STRAIN))


def tendon_stiffness(force: ArrayLike, strain: ArrayLike = TENDON_STRAIN) -> FloatArray:
    """Derivative of `tendon_force` by the length, at a tension.

    Parameters
    ----------
    force : array_like
        Tension in strengths.
    strain : array_like, optional
        As for `tendon_force`.

    Returns
    -------
    ndarray
        Strengths per slack length.
    """
    _, _, c3, stiffness = TENDON
    softer = TENDON_STRAIN / np.asarray(strain, dtype=float)
    return np.asarray(stiffness * softer * (np.asarray(force, dtype=float) + c3))


def active_force_length(length: ArrayLike) -> FloatArray:
    """Active isometric force of the fully active fibre: sum of three Gaussians.

    Parameters
    ----------
    length : array_like
        Fibre length in optimal lengths, above 0.15, where the width of the second Gaussian passes through 0.

    Returns
    -------
    ndarray
        Force in strengths, the sum of ``b1 exp(-((l - b2) / (b3 + b4 l))^2 / 2)``.
    """
    at = np.asarray(length, dtype=float)
    parts = (height * np.exp(-0.5 * ((at - centre) / (b3 + b4 * at)) ** 2) for height, centre, b3, b4 in GAUSSIANS)
    return np.asarray(sum(parts, start=np.float64(0.0)))


def passive_force_length(length: ArrayLike) -> FloatArray:
    """Passive fibre force as published: slightly negative below optimal length.

    Parameters
    ----------
    length : array_like
        Fibre length in optimal lengths.

    Returns
    -------
    ndarray
        Force in strengths, ``(exp(k_PE (l - 1) / e0) - 1) / (exp(k_PE) - 1)``: 0 at 1, 1 at 1.6, no less than -0.019.
    """
    strain, shape = PASSIVE
    return np.asarray(np.expm1(shape * (np.asarray(length, dtype=float) - 1.0) / strain) / np.expm1(shape))


def active_force_length_slope(length: ArrayLike) -> FloatArray:
    """Derivative of `active_force_length`.

    Parameters
    ----------
    length : array_like
        Fibre length in optimal lengths, above 0.15.

    Returns
    -------
    ndarray
        Strengths per optimal length.
    """
    at = np.asarray(length, dtype=float)
    slope = np.zeros_like(at)
    for height, centre, b3, b4 in GAUSSIANS:
        width = b3 + b4 * at
        off = (at - centre) / width
        slope -= height * np.exp(-0.5 * off**2) * off * (b3 + b4 * centre) / width**2
    return slope


def passive_force_length_slope(length: ArrayLike) -> FloatArray:
    """Derivative of `passive_force_length`.

    Parameters
    ----------
    length : array_like
        Fibre length in optimal lengths.

    Returns
    -------
    ndarray
        Strengths per optimal length.
    """
    strain, shape = PASSIVE
    rise = np.exp(shape * (np.asarray(length, dtype=float) - 1.0) / strain)
    return np.asarray(shape / strain * rise / np.expm1(shape))


def force_velocity(velocity: ArrayLike) -> FloatArray:
    """Factor of the active force at a velocity.

    Parameters
    ----------
    velocity : array_like
        Fibre velocity in greatest shortening velocities; lengthening is positive.

    Returns
    -------
    ndarray
        Factor, ``d1 asinh(d2 v + d3) + d4``: rises with velocity, 1.79 at 1. (The paper writes the inverse hyperbolic
        sine as a logarithm.)
    """
    d1, d2, d3, d4 = VELOCITY
    return np.asarray(d1 * np.arcsinh(d2 * np.asarray(velocity, dtype=float) + d3) + d4)


def fibre_velocity(factor: ArrayLike) -> FloatArray:
    """Velocity of a given active force factor, the inverse of `force_velocity`.

    Parameters
    ----------
    factor : array_like
        Factor of the active force.

    Returns
    -------
    ndarray
        Fibre velocity in greatest shortening velocities; lengthening is positive.
    """
    d1, d2, d3, d4 = VELOCITY
    return np.asarray((np.sinh((np.asarray(factor, dtype=float) - d4) / d1) - d3) / d2)


@dataclass(frozen=True, eq=False)
class HillLimits:
    """Strength and passive tension: tension = activation * strength + passive.

    Attributes
    ----------
    strength_n : ndarray of shape (n_frames, n_muscles)
        Active tension at full activation, N; never negative.
    passive_n : ndarray of shape (n_frames, n_muscles)
        Tension at no activation, N; never negative.
    fibre_length : ndarray of shape (n_frames, n_muscles)
        In optimal lengths, before it is clipped to the range of the curves.
    fibre_velocity : ndarray of shape (n_frames, n_muscles)
        In greatest shortening velocities, lengthening positive, before it is clipped.
    cos_pennation : ndarray of shape (n_frames, n_muscles)
        Cosine of the angle between fibres and tendon; 0 where the tendon is slack.
    possible : ndarray of bool of shape (n_frames, n_muscles)
        False where the tendon is slack, or the fibre is beyond the range of the curves; True where it is missing.
    modelled : ndarray of bool of shape (n_muscles,)
        False for muscles of unknown fibres, which have a constant strength.
    """

    strength_n: FloatArray
    passive_n: FloatArray
    fibre_length: FloatArray
    fibre_velocity: FloatArray
    cos_pennation: FloatArray
    possible: BoolArray
    modelled: BoolArray


def hill_limits(
    length_m: ArrayLike,
    velocity_m_s: ArrayLike,
    *,
    max_force_n: ArrayLike,
    optimal_fibre_length_m: ArrayLike,
    tendon_slack_length_m: ArrayLike,
    pennation_rad: ArrayLike,
    max_velocity_lopt_s: float = 10.0,
) -> HillLimits:
    """Strength and passive tension of muscles on rigid tendons.

    Parameters
    ----------
    length_m, velocity_m_s : array_like of shape (n_frames, n_muscles)
        Musculotendon length, and its rate of change (lengthening is positive).
    max_force_n : array_like of shape (n_muscles,)
        Isometric force at the optimal length, above 0.
    optimal_fibre_length_m, tendon_slack_length_m, pennation_rad : array_like of shape (n_muscles,)
        Optimal fibre length, length of the tendon, and pennation at the optimal length; NaN where unknown.
    max_velocity_lopt_s : float, optional
        Greatest shortening velocity in optimal fibre lengths per second.

    Returns
    -------
    HillLimits
        A muscle with an unknown parameter has the strength `max_force_n` on every frame and no passive tension. A NaN
        in length or velocity of another makes its strength and passive tension NaN.

    Notes
    -----
    The muscle has constant thickness: with ``w`` the musculotendon length less the tendon, and ``h`` the optimal length
    times the sine of its pennation, the fibre is ``sqrt(w^2 + h^2)`` long, the cosine of its pennation is ``w`` over that,
    and its velocity the musculotendon's times the cosine [3]_. The stretch of the tendon, some percent of its length, is
    ignored, which matters where a tendon is many times longer than the fibres.

    Fibres make active force from about 0.5 to 1.5 optimal lengths [3]_, and at 1.6 the passive force equals the strength.
    Outside 0.4 to 1.6, and faster than the greatest shortening velocity either way, the curves are unknown: they have the
    value at the end of the range (0.012 for the active force at -1), and `possible` is False. A slack tendon,
    ``w <= 0``, has no tension.

    The published passive curve is negative for fibres shorter than the optimum, by up to 0.019 strengths. Here it ends at
    zero, because fibres do not push, as does Thelen's curve, of which it is a part [4]_.

    Examples
    --------
    A muscle at its optimal length, pennate by 60 degrees, and one of unknown fibres:

    >>> limits = hill_limits(
    ...     [[0.25, 0.3]], [[0.0, 0.1]], max_force_n=[1000.0, 500.0], optimal_fibre_length_m=[0.1, np.nan],
    ...     tendon_slack_length_m=[0.2, np.nan], pennation_rad=[np.pi / 3.0, np.nan],
    ... )
    >>> limits.strength_n.round().tolist(), limits.modelled.tolist()
    ([[498.0, 500.0]], [True, False])
    """
    given = (length_m, velocity_m_s, max_force_n, optimal_fibre_length_m, tendon_slack_length_m, pennation_rad)
    length, velocity, strength, optimum, tendon, pennation = (np.asarray(values, dtype=float) for values in given)
    modelled = np.asarray(np.isfinite(optimum + tendon + pennation))
    along = np.maximum(length - tendon, 0.0)
    fibre = np.hypot(along, optimum * np.sin(pennation))
    cosine = along / np.where(fibre == 0.0, 1.0, fibre)
    fibre, speed = fibre / optimum, velocity * cosine / (max_velocity_lopt_s * optimum)
    held, held_speed = np.clip(fibre, *FIBRE_RANGE), np.clip(speed, -FASTEST, FASTEST)
    active = active_force_length(held) * force_velocity(held_speed)
    passive = np.maximum(passive_force_length(held), 0.0)
    beyond = (along == 0.0) | (fibre != held) & ~np.isnan(fibre) | (np.abs(speed) > FASTEST)
    return HillLimits(
        strength_n=strength * np.where(modelled, active * cosine, 1.0),
        passive_n=strength * np.where(modelled, passive * cosine, 0.0),
        fibre_length=fibre,
        fibre_velocity=speed,
        cos_pennation=cosine,
        possible=np.asarray(~beyond | ~modelled),
        modelled=modelled,
    )


@dataclass(frozen=True)
class ActivationDynamics:
    """Constants of the activation dynamics.

    Parameters
    ----------
    rise_s, fall_s : float
        Time constants of activation and deactivation, s.
    smoothing : float
        Slope of the transition between them.

    Raises
    ------
    ValueError
        A constant that is not positive.
    """

    rise_s: float = 0.015
    fall_s: float = 0.060
    smoothing: float = 10.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} is {value}; expected a number above 0")


DE_GROOTE = ActivationDynamics()  #: the published constants


def activation_rate(
    excitation: ArrayLike, activation: ArrayLike, *, dynamics: ActivationDynamics = DE_GROOTE
) -> FloatArray:
    """Rate of change of the activation under an excitation.

    Parameters
    ----------
    excitation, activation : array_like
        0 to 1, of shapes that broadcast.
    dynamics : ActivationDynamics, optional
        Time constants and smoothing.

    Returns
    -------
    ndarray
        Rate in 1/s: ``(e - a) [(1/2 + f) / (rise m) + (1/2 - f) m / fall]`` with ``m = 1/2 + 3/2 a`` and
        ``f = tanh(smoothing (e - a)) / 2``.
    """
    at = np.asarray(activation, dtype=float)
    return _rate_and_slope(np.asarray(excitation, dtype=float) - at, at, dynamics)[0]


def _rate_and_slope(
    ahead: FloatArray, activation: FloatArray, dynamics: ActivationDynamics
) -> tuple[FloatArray, FloatArray]:
    """Rate of the activation, and its derivative by the excitation.

    `ahead` is excitation minus activation.
    """
    bend = 0.5 + 1.5 * activation
    rising, falling = 1.0 / (dynamics.rise_s * bend), bend / dynamics.fall_s
    switch = np.tanh(dynamics.smoothing * ahead)
    factor = 0.5 * (rising + falling) + 0.5 * (rising - falling) * switch
    slope = factor + 0.5 * (rising - falling) * dynamics.smoothing * ahead * (1.0 - switch**2)
    return np.asarray(ahead * factor), np.asarray(slope)


def excitation_for_rate(
    rate_per_s: ArrayLike, activation: ArrayLike, *, dynamics: ActivationDynamics = DE_GROOTE
) -> tuple[FloatArray, BoolArray]:
    """Excitation for a given rate of activation, the inverse of `activation_rate`.

    Parameters
    ----------
    rate_per_s : array_like
        Wanted rate of change, 1/s.
    activation : array_like
        Activation, 0 to 1; the shapes broadcast.
    dynamics : ActivationDynamics, optional
        Time constants and smoothing.

    Returns
    -------
    excitation : ndarray
        0 to 1; NaN where an argument is.
    reached : ndarray of bool
        False where the rate needs an excitation outside 0 to 1: it is then 0 or 1, with another rate.

    Raises
    ------
    ValueError
        An activation outside 0 to 1.

    Notes
    -----
    Newton's method, with a bisection where a step leaves the bracket. With ``y = smoothing (e - a)`` the slope of the
    rate is half of ``A + D + (A - D) g(y)``, where ``A = 1 / (rise m)``, ``D = m / fall`` and
    ``g = tanh y + y (1 - tanh^2 y)``. With the published constants A is 4 / m^2 times D, no less than D, and the slope can
    only be negative for y < 0 where 4 / m^2 is above 11, that is, for a < 0.069. But there e >= 0 keeps y above -0.69, and
    |g| below 1.04: the slope is positive, and there is one solution. With a fall many times slower than the rise, or a
    steeper smoothing, there may be three between 0 and 1; one of them is found.

    Examples
    --------
    >>> excitation, reached = excitation_for_rate([0.0, -100.0], 0.5)
    >>> excitation.tolist(), reached.tolist()
    ([0.5, 0.0], [True, False])
    """
    rate, at = np.broadcast_arrays(np.asarray(rate_per_s, dtype=float), np.asarray(activation, dtype=float))
    outside = (at < 0.0) | (at > 1.0)
    if outside.any():
        raise ValueError(f"activation has {at[outside][0]:g}; expected numbers from 0 to 1")
    low, high = -at, 1.0 - at
    least, most = (_rate_and_slope(end, at, dynamics)[0] for end in (low, high))
    wanted = np.clip(rate, least, most)
    ahead = np.clip(wanted * np.where(wanted > 0.0, dynamics.rise_s, dynamics.fall_s), low, high)
    for _ in range(60):  # halvings, at the most, to the last digit
        found, slope = _rate_and_slope(ahead, at, dynamics)
        low, high = np.where(found < wanted, ahead, low), np.where(found > wanted, ahead, high)
        step = ahead - (found - wanted) / np.where(slope > 0.0, slope, np.inf)
        inside = (step >= low) & (step <= high) & (slope > 0.0)
        before, ahead = ahead, np.where(found == wanted, ahead, np.where(inside, step, 0.5 * (low + high)))
        if not (np.abs(ahead - before) > 1e-15).any():
            break
    missing = np.isnan(rate + at)
    return np.where(missing, np.nan, np.clip(ahead + at, 0.0, 1.0)), np.asarray(missing | (rate == wanted))

"""Simpler rules for muscle forces, for comparison with static optimization.

They are not meant for results: the pseudo-inverse lets muscles push, the rule of single joints ignores the torque of a
muscle at its other joints, and the general-purpose optimiser solves one frame at a time without a certificate. `Baseline`
holds the residual of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.muscles.static_optimization.solve import arm_and_torque, per_muscle

LARGEST_EXPONENT = 10.0
ROUNDING = 1e-12  # an activation nearer to zero is rounding
SLSQP_CLOSES = 1e-8  # largest residual of a valid SLSQP solution, as a part of the capacity
SLSQP_OPTIONS = {"ftol": 1e-15, "maxiter": 500}


@dataclass(frozen=True, eq=False)
class Baseline:
    """Forces by one of the rules, with their faults.

    Parameters
    ----------
    name : str
        The rule.
    force_n : ndarray of shape (n_frames, n_muscles)
        Force of each muscle, positive pulls; below zero where the rule lets a muscle push. NaN without a solution.
    activation : ndarray of shape (n_frames, n_muscles)
        Force over strength; 0 for a muscle without strength.
    residual_nm : ndarray of shape (n_frames, n_joints)
        Torque minus that of the forces, with the sign of the torque.
    negative : ndarray of bool of shape (n_frames, n_muscles)
        Muscles that push.
    beyond_strength : ndarray of bool of shape (n_frames, n_muscles)
        Muscles that pull or push with more than their strength.
    """

    name: str
    force_n: FloatArray
    activation: FloatArray
    residual_nm: FloatArray
    negative: BoolArray
    beyond_strength: BoolArray

    @property
    def negative_share(self) -> float:
        """Part of all forces that are below zero."""
        return float(self.negative.mean()) if self.negative.size else 0.0

    @property
    def largest_residual_nm(self) -> FloatArray:
        """Largest absolute residual of each frame over the joints, shape (n_frames,), N m."""
        return np.asarray(np.abs(self.residual_nm).max(axis=1, initial=0.0))


def pseudo_inverse(moment_arm_m: ArrayLike, torque_nm: ArrayLike, *, max_force_n: ArrayLike) -> Baseline:
    """Minimise the sum of squared activations without bounds.

    Parameters
    ----------
    moment_arm_m : array_like of shape (n_frames, n_joints, n_muscles)
        Moment arms, positive where tension makes a positive torque.
    torque_nm : array_like of shape (n_frames, n_joints)
        Net torques, with the moment arms' sign.
    max_force_n : array_like of shape (n_muscles,) or (n_frames, n_muscles)
        Strength of each muscle, 0 or more.

    Returns
    -------
    Baseline
        Closes where the muscles' directions span the joints, with muscles that push and muscles beyond their strength.

    Notes
    -----
    a = B' (B B')^+ torque with B = R diag(F_max), the solution of least squares where no bound is active
    (Penrose R. (1956) On best approximate solutions of linear matrix equations. Math Proc Camb Philos Soc 52:17-19).

    Examples
    --------
    The extensor gets a force below zero:

    >>> pseudo_inverse([[[0.02, -0.02]]], [[10.0]], max_force_n=[500.0, 500.0]).force_n.round(3).tolist()
    [[250.0, -250.0]]
    """
    arm, torque, strength = _valid(moment_arm_m, torque_nm, max_force_n)
    known = _known(arm, torque, strength)
    reach, scale = _scaled(arm, strength, known)
    target = np.where(known[:, None], torque, 0.0) / scale
    activation = np.einsum("fmj,fj->fm", np.linalg.pinv(reach, rcond=1e-10), target)
    return _baseline("pseudo-inverse", arm, torque, strength, activation, known)


def agonist_only(moment_arm_m: ArrayLike, torque_nm: ArrayLike, *, max_force_n: ArrayLike) -> Baseline:
    """Distribute each joint's torque to its agonists as if it were the only joint.

    Parameters
    ----------
    moment_arm_m, torque_nm, max_force_n
        As for `pseudo_inverse`.

    Returns
    -------
    Baseline
        Forces of 0 or more; the residual is the torque of muscles of several joints at their other joints, and all of
        the torque at a joint without agonists.

    Notes
    -----
    At each joint only muscles with a moment arm of the sign of the torque pull, with activations in proportion to moment
    arm times strength: the least sum of squared activations of one joint (a_i = B_i torque / sum B_k^2). An agonist at
    several joints has the largest activation that one of them requires; its torque at the others is ignored. So the
    torque closes for muscles of one joint only. Strength does not bound the forces.

    Examples
    --------
    A muscle that flexes both joints makes an unwanted torque at the second:

    >>> rule = agonist_only([[[0.02], [0.01]]], [[10.0, 0.0]], max_force_n=[500.0])
    >>> rule.force_n.round(3).tolist(), rule.residual_nm.round(3).tolist()
    ([[500.0]], [[0.0, -5.0]])
    """
    arm, torque, strength = _valid(moment_arm_m, torque_nm, max_force_n)
    known = _known(arm, torque, strength)
    reach, scale = _scaled(arm, strength, known)
    target = np.where(known[:, None], torque, 0.0) / scale
    agonist = np.maximum(reach * np.sign(target)[..., None], 0.0)
    squares = (agonist * agonist).sum(axis=2)
    required = agonist * (np.abs(target) / np.where(squares > 0, squares, 1.0))[..., None]
    return _baseline("agonists of each joint", arm, torque, strength, required.max(axis=1, initial=0.0), known)


def slsqp(moment_arm_m: ArrayLike, torque_nm: ArrayLike, *, max_force_n: ArrayLike, exponent: float = 2.0) -> Baseline:
    """Minimise the sum of powers with SciPy's SLSQP, frame by frame.

    Parameters
    ----------
    moment_arm_m, torque_nm, max_force_n
        As for `pseudo_inverse`.
    exponent : float, optional
        p of the sum of activations to the p, from 1 to 10.

    Returns
    -------
    Baseline
        NaN in the frames in which SLSQP ends with a torque that does not close: unreachable ones, and failures.

    Notes
    -----
    Kraft D. (1988) A software package for sequential quadratic programming. DFVLR-FB 88-28. Static optimization is often
    programmed so; `limbtorque.muscles.static_optimization.solve.share_torques` is some hundred times faster.
    """
    arm, torque, strength = _valid(moment_arm_m, torque_nm, max_force_n)
    if not 1.0 <= exponent <= LARGEST_EXPONENT:
        raise ValueError(f"exponent is {exponent:g}, expected a number from 1 to {LARGEST_EXPONENT:g} for SLSQP")
    known = _known(arm, torque, strength)
    reach, scale = _scaled(arm, strength, known)
    activation = np.full((len(arm), arm.shape[2]), np.nan)
    for f in np.flatnonzero(known):
        crossed = (reach[f] != 0).any(axis=1)
        found = _by_slsqp(reach[f, crossed], (torque[f] / scale[f])[crossed], exponent)
        known[f] = np.abs(reach[f] @ found - torque[f] / scale[f]).max(initial=0.0) <= SLSQP_CLOSES
        activation[f] = found
    return _baseline(f"SLSQP, exponent {exponent:g}", arm, torque, strength, activation, known)


def _by_slsqp(reach: FloatArray, target: FloatArray, exponent: float) -> FloatArray:
    """Activations of one frame."""

    def cost(activation: FloatArray) -> Any:
        return (np.maximum(activation, 0.0) ** exponent).sum()

    def slope(activation: FloatArray) -> FloatArray:
        return np.asarray(exponent * np.maximum(activation, 0.0) ** (exponent - 1.0))

    closes = {"type": "eq", "fun": lambda a: reach @ a - target, "jac": lambda _: reach}
    n = reach.shape[1]
    if n == 0:
        return np.zeros(0)
    return np.asarray(
        minimize(
            cost,
            np.full(n, 0.5),
            jac=slope,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * n,
            constraints=[closes] if len(reach) else [],
            options=SLSQP_OPTIONS,
        ).x
    )


def _valid(
    moment_arm_m: ArrayLike, torque_nm: ArrayLike, max_force_n: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    arm, torque = arm_and_torque(moment_arm_m, torque_nm)
    n_frames, _, n_muscles = arm.shape
    strength = per_muscle("max_force_n", max_force_n, n_frames, n_muscles)
    if (strength < 0).any():
        raise ValueError(f"max_force_n has {strength.min():g} N, expected strengths of 0 or more")
    return arm, torque, np.broadcast_to(strength, (n_frames, n_muscles))


def _known(arm: FloatArray, torque: FloatArray, strength: FloatArray) -> BoolArray:
    """Frames with finite numbers only."""
    finite = np.isfinite(arm).all(axis=(1, 2)) & np.isfinite(torque).all(axis=1) & np.isfinite(strength).all(axis=1)
    return np.asarray(finite)


def _scaled(arm: FloatArray, strength: FloatArray, known: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Reach of every muscle over the joint's capacity, and the capacity.

    Both are zero in unknown frames.
    """
    reach = np.where(known[:, None, None], arm * strength[:, None], 0.0)
    capacity = np.abs(reach).sum(axis=2)
    scale = np.where(capacity > 0, capacity, 1.0)
    return reach / scale[..., None], scale


def _baseline(
    name: str, arm: FloatArray, torque: FloatArray, strength: FloatArray, activation: FloatArray, known: BoolArray
) -> Baseline:
    activation = np.where(known[:, None], np.where(strength > 0, activation, 0.0), np.nan)
    force = activation * strength
    return Baseline(
        name,
        force,
        activation,
        torque - np.einsum("fjm,fm->fj", arm, force),
        np.asarray(activation < -ROUNDING),
        np.asarray(np.abs(activation) > 1.0 + 1e-9),
    )

r"""Passive moments of the joints of the leg by published curves.

Each moment is a sum of exponentials of the flexion of the joint and of its neighbours, and a constant:

.. math::

    M = M_0 + \sum_i s_i \exp(c_i + \sum_j k_{ij} \varphi_j)

Moments are positive where they flex (ankle: dorsiflex), flexion is 0 on the straight leg with the foot at a right angle.

`riener_edrich` [1]_ is all that resists in ten relaxed adults: ligaments and capsules, and the passive tension of the
muscles. `anderson` [2]_ is meant for models whose muscles have a passive tension of their own: ligaments only, a fraction
of 1 N m but near the ends of a joint's range. Neither is scaled to a person. No constants were found for the joints of the
arm.

In the paper [1]_ the ankle is positive in plantarflexion; the signs here are turned. The constants were read from public
programs that state them: five agree on those of [1]_, but that one has 1.50 for the 0.150 of the straight knee. The hip's
limit in extension [2]_ is -40 degrees as in [3]_; another program has -27.

References
----------
.. [1] Riener R., Edrich T. (1999) Identification of passive elastic joint moments in the lower extremities. J Biomech
   32:539-544.
.. [2] Anderson F.C. (1999) A dynamic optimization solution for a complete cycle of normal gait. Thesis, University of
   Texas at Austin.
.. [3] Falisse A., Serrancoli G., Dembia C.L., Gillis J., Jonkers I., De Groote F. (2019) Rapid predictive simulations with
   complex musculoskeletal models suggest that diverse healthy and pathological human gaits can emerge from similar
   control strategies. J R Soc Interface 16:20190402.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray

PER_DEG = 180.0 / math.pi  # a rate per degree as one per radian


@dataclass(frozen=True)
class Term:
    """Exponential: size at zero flexion, N m, and rates per rad of each joint."""

    size_nm: float
    rates: dict[str, float]


@dataclass(frozen=True)
class PassiveCurve:
    """Passive moment of a joint: a constant, N m, and its exponentials."""

    constant_nm: float
    terms: tuple[Term, ...]

    @property
    def joints(self) -> frozenset[str]:
        """Joints on whose flexion the moment depends."""
        return frozenset(joint for term in self.terms for joint in term.rates)

    def moment_nm(self, flexion_rad: dict[str, FloatArray]) -> FloatArray:
        """Moment at the flexion of each joint, N m, positive flexes."""
        parts = (
            term.size_nm * np.exp(sum(rate * flexion_rad[joint] for joint, rate in term.rates.items()))
            for term in self.terms
        )
        return np.asarray(sum(parts, start=np.float64(self.constant_nm)))


def _by_degrees(sign: float, exponent: float, rates: dict[str, float]) -> Term:
    return Term(sign * math.exp(exponent), {joint: rate * PER_DEG for joint, rate in rates.items()})


def _from_limit(size_nm: float, rate: float, limit_rad: float, joint: str) -> Term:
    """Exponential with a given size at a limit of a joint's range."""
    return Term(size_nm * math.exp(-rate * limit_rad), {joint: rate})


CURVES: dict[str, dict[str, PassiveCurve]] = {
    "riener_edrich": {
        "hip": PassiveCurve(
            8.072,
            (
                _by_degrees(1, 1.4655, {"knee": -0.0034, "hip": -0.0750}),
                _by_degrees(-1, 1.3403, {"knee": -0.0226, "hip": 0.0305}),
            ),
        ),
        "knee": PassiveCurve(
            -4.820,
            (
                _by_degrees(1, 1.800, {"ankle": 0.0460, "knee": -0.0352, "hip": 0.0217}),
                _by_degrees(-1, -3.971, {"ankle": 0.0004, "knee": 0.0495, "hip": -0.0128}),
                _by_degrees(1, 2.220, {"knee": -0.150}),
            ),
        ),
        "ankle": PassiveCurve(
            1.792,
            (
                _by_degrees(1, -7.9763, {"ankle": -0.1949, "knee": 0.0008}),
                _by_degrees(-1, 2.1016, {"ankle": 0.0843, "knee": -0.0176}),
            ),
        ),
    },
    "anderson": {
        "hip": PassiveCurve(0.0, (_from_limit(-2.44, 5.05, 1.81, "hip"), _from_limit(1.51, -21.88, -0.6981, "hip"))),
        "knee": PassiveCurve(0.0, (_from_limit(-11.03, 11.33, 2.40, "knee"), _from_limit(6.09, -33.94, -0.13, "knee"))),
        "ankle": PassiveCurve(
            0.0, (_from_limit(-2.03, 38.11, 0.52, "ankle"), _from_limit(0.18, -12.12, -0.74, "ankle"))
        ),
    },
}


def passive_moments(
    method: str, flexion_rad: FloatArray, joints: Sequence[str], known: BoolArray | None = None
) -> tuple[FloatArray, tuple[str, ...]]:
    """Passive moment of every joint.

    Parameters
    ----------
    method : {"none", "riener_edrich", "anderson"}
        Curves.
    flexion_rad : ndarray of shape (n_frames, n_joints)
        Flexion; NaN where missing.
    joints : sequence of str
        Names of the joints.
    known : ndarray of bool, shape (n_joints,), optional
        Joints of known flexion in the sagittal plane; all by default.

    Returns
    -------
    moment_nm : ndarray of shape (n_frames, n_joints)
        Passive moment, N m, positive flexes; 0 at a joint without a curve, or that depends on one of unknown flexion.
        NaN where a flexion is missing.
    without : tuple of str
        Joints without a passive moment.

    Raises
    ------
    ValueError
        An unknown method.

    Examples
    --------
    The stretched muscles of the calf resist at 20 degrees of dorsiflexion with the knee straight:

    >>> moment, without = passive_moments("riener_edrich", np.radians([[0.0, 0.0, 20.0]]), ["hip", "knee", "ankle"])
    >>> moment.round(1).tolist(), without
    ([[8.6, 19.5, -42.4]], ())
    """
    moment = np.zeros(flexion_rad.shape)
    if method == "none":
        return moment, ()
    if method not in CURVES:
        raise ValueError(f"method is {method!r}, expected none, {', '.join(CURVES)}")
    usable = {joint: flexion_rad[:, j] for j, joint in enumerate(joints) if known is None or known[j]}
    curves: dict[str, Any] = CURVES[method]
    without = tuple(joint for joint in joints if joint not in curves or not curves[joint].joints <= usable.keys())
    for j, joint in enumerate(joints):
        if joint not in without:
            moment[:, j] = curves[joint].moment_nm(usable)
    return moment, without

r"""Passive moments of the joints of the leg by published curves.

Each moment is a sum of exponentials of the flexion of the joint and of its neighbours, and a constant:

.. math::

    M = M_0 + \sum_i s_i \exp(c_i + \sum_j k_{ij} \varphi_j)

Moments are positive where they flex (ankle: dorsiflex), flexion is 0 on the straight leg with the foot at a right angle.

`riener_edrich` [1]_ is the total resistance in ten relaxed adults: ligaments and capsules, and the passive tension of the
muscles. `anderson` [2]_ is for models whose muscles have passive tension: ligaments only, below 1 N
m except near the ends of a joint's range. Neither is scaled to a person. No constants are known for the joints of the
arm.

In the paper [1]_ the ankle is positive in plantarflexion; the signs here are reversed. The constants were read from public
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
from typing import TypeAlias

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray

JOINTS = ("hip", "knee", "ankle")

# constant M_0, N m, and the rows of the exponentials: sign s and exponent c, rates k at hip, knee and ankle, per degree
RIENER_EDRICH: dict[str, tuple[float, list[tuple[float, ...]]]] = {
    "hip": (8.072, [(1, 1.4655, -0.0750, -0.0034, 0), (-1, 1.3403, 0.0305, -0.0226, 0)]),
    "knee": (
        -4.820,
        [(1, 1.800, 0.0217, -0.0352, 0.0460), (-1, -3.971, -0.0128, 0.0495, 0.0004), (1, 2.220, 0, -0.150, 0)],
    ),
    "ankle": (1.792, [(1, -7.9763, 0, 0.0008, -0.1949), (-1, 2.1016, 0, -0.0176, 0.0843)]),
}
# moment, N m, at each limit of a joint's range, rate per rad, and the limit, rad
ANDERSON = {
    "hip": [(-2.44, 5.05, 1.81), (1.51, -21.88, -0.6981)],
    "knee": [(-11.03, 11.33, 2.40), (6.09, -33.94, -0.13)],
    "ankle": [(-2.03, 38.11, 0.52), (0.18, -12.12, -0.74)],
}
Curve: TypeAlias = tuple[float, list[tuple[float, FloatArray]]]
"""Constant, N m; size at zero flexion, N m, and rates per rad at hip, knee and ankle, of each exponential."""
CURVES: dict[str, dict[str, Curve]] = {
    "riener_edrich": {
        joint: (constant, [(sign * math.exp(exponent), np.degrees(rates)) for sign, exponent, *rates in rows])
        for joint, (constant, rows) in RIENER_EDRICH.items()
    },
    "anderson": {
        joint: (
            0.0,
            [(size * math.exp(-rate * limit), rate * (np.array(JOINTS) == joint)) for size, rate, limit in rows],
        )
        for joint, rows in ANDERSON.items()
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
    usable = {joint: flexion_rad[:, j] for j, joint in enumerate(joints) if known is None or known[j]}
    without = []
    for j, joint in enumerate(joints):
        constant, terms = CURVES[method].get(joint, (0.0, []))
        needed = {name for _, rates in terms for name, rate in zip(JOINTS, rates, strict=True) if rate}
        if not terms or not needed <= usable.keys():
            without.append(joint)
            continue
        moment[:, j] = constant
        for size_nm, rates in terms:
            exponent = sum(rate * usable[name] for name, rate in zip(JOINTS, rates, strict=True) if rate)
            moment[:, j] += size_nm * np.exp(exponent)
    return moment, tuple(without)

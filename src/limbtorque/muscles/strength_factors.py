"""Strength of a subject's muscles from the torques of maximal efforts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import SettingsError
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.muscles.forces import muscle_forces
from limbtorque.muscles.sets.muscle_set import MuscleSet
from limbtorque.muscles.static_optimization.criteria import OK
from limbtorque.muscles.static_optimization.solve import share_torques
from limbtorque.study.options.muscles import Muscles

LEAST, LARGEST = 0.05, 20.0  # factors that are tried
SENSES = {"flexion": 1.0, "extension": -1.0}


@dataclass(frozen=True, eq=False)
class Effort:
    """Largest torque of a maximal effort at one joint, in one direction.

    Attributes
    ----------
    joint, sense : str
        The joint, and ``"flexion"`` or ``"extension"``.
    time_s : float
        Time of the largest torque.
    torque_nm : float
        Torque of the muscles in that sense, without passive tension, above 0.
    reach_nm : ndarray of shape (n_muscles,)
        Torque of each fully active muscle in that sense at that time; 0 for the antagonists.
    """

    joint: str
    sense: str
    time_s: float
    torque_nm: float
    reach_nm: FloatArray

    @property
    def name(self) -> str:
        """Joint and direction."""
        return f"{self.joint} {self.sense}"


def strongest(
    motion: ChainMotion,
    net_nm: FloatArray,
    muscle_set: MuscleSet,
    of: tuple[str, str],
    *,
    options: Muscles,
    body_mass_kg: float,
) -> Effort:
    """Find the largest torque at a joint in one direction, and muscle torques then.

    Parameters
    ----------
    motion : ChainMotion
        Motion of the maximal trial.
    net_nm : ndarray of shape (n_frames, n_joints)
        Net joint torques, counter-clockwise positive, N m.
    muscle_set : MuscleSet
        The muscles, with the strengths of their source.
    of : tuple of str
        Joint, and ``"flexion"`` or ``"extension"``.
    options : Muscles
        Section `muscles` of the settings, which scale arms and strengths.
    body_mass_kg : float
        Body mass of the subject.

    Raises
    ------
    SettingsError
        The joint or its moment arms are unknown, or the trial has no torque in that sense.
    """
    joint, sense = of
    if joint not in motion.joints or sense not in SENSES:
        raise SettingsError(f"{joint} {sense}: expected a joint ({', '.join(motion.joints)}) and flexion or extension")
    j = motion.joints.index(joint)
    along = SENSES[sense] * motion.flexion.sign[j] * net_nm[:, j]
    known = np.isfinite(net_nm).all(axis=1) & ~motion.edge
    if not (along[known] > 0.0).any():
        raise SettingsError(
            f"{joint} {sense}: the trial has no torque in this direction; name the trial with the maximal effort in it"
        )
    frame = int(np.where(known, along, -np.inf).argmax())
    at = slice(frame, frame + 1)
    plain = options.model_copy(update={"ranges": False, "contact_forces": False, "emg_weight": 0.0})
    found = muscle_forces(
        motion.part(at),
        net_nm[at],
        muscle_set,
        options=plain,
        body_mass_kg=body_mass_kg,
        reaction_n=np.zeros((1, len(motion.joints), 2)),
    )
    if not found.arm_known[j]:
        raise SettingsError(f"{joint} {sense}: the moment arms of the {joint} are unknown in this plane")
    arm = SENSES[sense] * found.geometry.moment_arm_m[0, j]
    strength = found.limits.strength_n[0] if found.limits else found.muscle_set.max_force_n
    passive = float(arm @ found.limits.passive_n[0]) if found.limits else 0.0
    names = found.muscle_set.names
    reach = np.zeros(len(muscle_set.names))
    reach[[muscle_set.names.index(name) for name in names]] = np.maximum(arm, 0.0) * strength
    return Effort(joint, sense, float(motion.time_s[frame]), float(along[frame]) - passive, reach)


def fitted_factors(efforts: Sequence[Effort]) -> FloatArray:
    """Strength factors with which the muscles produce the torques of all efforts.

    Parameters
    ----------
    efforts : sequence of Effort
        At most one for each joint and sense.

    Returns
    -------
    ndarray of shape (n_muscles,)
        Nearest to 1 in weighted least squares; exactly 1 for muscles that take part in no effort.

    Raises
    ------
    SettingsError
        No factors between 0.05 and 20 make all torques: at a limit, an effort was hardly maximal.

    Notes
    -----
    In a maximal effort all agonists are taken as fully active and all antagonists as silent, at the joint of the effort;
    torques at other joints are taken by what holds the subject. The weight of a muscle is its share of the torques, so that
    the agonists of a single effort all have the same factor: measured over possible torque.

    Examples
    --------
    Two muscles can make 40 and 60 N m, and made 50 together:

    >>> fitted_factors([Effort("knee", "extension", 0.0, 50.0, np.array([40.0, 60.0, 0.0]))]).tolist()
    [0.5, 0.5, 1.0]
    """
    reach = np.array([effort.reach_nm for effort in efforts])
    torque = np.array([effort.torque_nm for effort in efforts])
    whole = reach.sum(axis=1, keepdims=True)
    share = (reach / np.where(whole > 0.0, whole, 1.0)).sum(axis=0)
    found = share_torques(
        (reach / np.maximum(torque, 1e-9)[:, None])[None],
        np.ones((1, len(efforts))),
        np.ones(reach.shape[1]),
        target=1.0,
        weight=np.where(share > 0.0, share, 1.0),
        min_activation=LEAST,
        max_activation=LARGEST,
    )
    factors = np.asarray(found.activation[0])
    at_limit = (factors <= LEAST * (1.0 + 1e-9)) | (factors >= LARGEST * (1.0 - 1e-9))
    if (torque <= 0.0).any() or found.status[0] != OK or at_limit.any():
        listed = ", ".join(
            f"{effort.name} {effort.torque_nm:.0f} N m ({effort.reach_nm.sum():.0f} by the set)" for effort in efforts
        )
        raise SettingsError(
            f"no factors between {LEAST:g} and {LARGEST:g} of the strengths make {listed}; leave out an effort that was not maximal"
        )
    return factors

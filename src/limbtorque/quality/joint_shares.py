"""Errors of a joint's torque relative to its range: misfit, pressure, spikes."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.quality.check import LOST_TORQUE
from limbtorque.tables.frame_columns import term_columns
from limbtorque.torques.joint_torques import Torques, joint_torques, used_frames

NEGLIGIBLE = 0.01  # range of a term relative to that of the net torque


def fit_error_share(
    motion: ChainMotion, torques: Torques, frames: BoolArray, *, beyond: float = 1.0
) -> dict[str, float]:
    """Torque that the misfit of the rigid chain is worth, relative to its range.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    frames : ndarray of bool, shape (n_frames,)
        Judged frames; those with edge effects or unknown torque are left out.
    beyond : float, optional
        Part of the misfit that the stated errors do not explain, which alone counts.

    Returns
    -------
    dict of str to float
        By joint; empty without a frame, a fitted chain or a torque that changes.

    Notes
    -----
    A joint centre that is off by a distance d changes the net torque by d times the part of the reaction force F across it. The
    share is rms(d) rms(F) / range of the net torque: 4 mm matter more to a leg that carries the body than to one that swings.
    """
    used = used_frames(motion, torques) & frames
    if not used.any() or np.isnan(motion.fit_m[used]).any():
        return {}
    off_m = beyond * np.sqrt((motion.fit_m[used] ** 2).mean())
    force_n = np.sqrt((torques.wrenches.reaction_n[used] ** 2).sum(axis=2).mean(axis=0))
    size_nm = np.ptp(torques.terms.net[used], axis=0)
    return {
        joint: float(off_m * force / size)
        for joint, force, size in zip(motion.joints, force_n, size_nm, strict=True)
        if size > 0.0
    }


def pressure_error_share(
    motion: ChainMotion, torques: Torques, frames: BoolArray, *, least_m: float
) -> dict[str, float]:
    """Torque that a shift of the centre of pressure is worth, relative to its range.

    Parameters
    ----------
    motion, torques, frames
        As of `fit_error_share`.
    least_m : float
        Smaller shifts are those of a foot.

    Returns
    -------
    dict of str to float
        By joint: shift times the root mean square vertical force over the range of the net torque; empty without a shift.
    """
    used, shift_m = used_frames(motion, torques) & frames, motion.metrics.get("pressure_shift_m", 0.0)
    if not (used.any() and shift_m > least_m):
        return {}
    force_n, size_nm = np.sqrt((motion.load.force_n[used, 1] ** 2).mean()), np.ptp(torques.terms.net[used], axis=0)
    shares = zip(motion.joints, size_nm, strict=True)
    return {joint: float(shift_m * force_n / size) for joint, size in shares if size > 0.0}


def spike_change(
    motion: ChainMotion, torques: Torques, filled: ChainMotion | None, frames: BoolArray
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Largest change of each joint's torques when spikes are filled.

    Parameters
    ----------
    motion : ChainMotion
        The motion with its spikes.
    torques : Torques
        Its torques.
    filled : ChainMotion or None
        The motion with the spikes filled; None where they cannot be, which counts as a change of the whole range.
    frames : ndarray of bool, shape (n_frames,)
        Judged frames.

    Returns
    -------
    share : dict of str to float
        By joint: largest change in these frames of the net torque or of a term, relative to its range there without the
        spikes (to a hundredth of the range of the net torque at least).
    notes : tuple of str
        Joint, term and frame of each of these changes.
    """
    if filled is None:
        return dict.fromkeys(motion.joints, 1.0), ("spikes cannot be filled: their effect on the torques is not known",)
    common, here, there = np.intersect1d(motion.frame[frames], filled.frame, return_indices=True)
    found = _stacked(torques)[np.flatnonzero(frames)[here]]
    expected = _stacked(joint_torques(filled))[there]
    known = ~np.isnan(found + expected).any(axis=(1, 2))
    if not known.any():
        return {}, ()
    common, found, expected = common[known], found[known], expected[known]
    size = np.ptp(expected, axis=0)
    size = np.maximum(size, NEGLIGIBLE * size[:, :1])
    change = np.abs(found - expected) / np.maximum(size, np.finfo(float).tiny)
    shares, notes = {}, []
    for i, joint in enumerate(motion.joints):
        frame, term = np.unravel_index(int(change[:, i].argmax()), change[:, i].shape)
        shares[joint] = float(change[frame, i, term])
        name = _names(joint, motion.joints)[term]
        notes.append(f"{joint} {name} by {shares[joint]:.2g} of its range at frame {common[frame]}")
    return shares, (f"spikes change the torques (filled for comparison): {', '.join(notes)}",)


def _stacked(torques: Torques) -> FloatArray:
    """Net torque and terms, shape (n_frames, n_joints, n_terms)."""
    terms = torques.terms
    single = np.stack([terms.gravity, terms.base, terms.external], axis=2)
    return np.concatenate([terms.net[..., None], terms.inertial, terms.centripetal, terms.coriolis, single], axis=2)


def _names(joint: str, joints: tuple[str, ...]) -> list[str]:
    """Names of the last axis of `_stacked`."""
    terms = [column.name.removeprefix(f"{joint}_torque_").removesuffix("_nm") for column in term_columns(joint, joints)]
    return ["net torque", *(name.replace("_", " ") for name in terms)]


def lost_torque_note(
    motion: ChainMotion, torques: Torques, frames: BoolArray, *, allowed_share: float
) -> tuple[str, ...]:
    """Note on the inertial torque lost in the filter; none below the allowed share.

    Parameters
    ----------
    motion, torques
        Motion and torques.
    frames : ndarray of bool, shape (n_frames,)
        Judged frames.
    allowed_share : float
        Largest share of the acceleration that needs no note.

    Notes
    -----
    A filter without a phase shift that removes a share s of an acceleration (rms) leaves at least 1 - s of it. If a joint's inertial torque
    loses the same share, at most s / (1 - s) times what is left of it is lost.
    """
    share, used = motion.metrics.get("acceleration_filtered_share", 0.0), used_frames(motion, torques) & frames
    if not allowed_share < share < 1.0 or not used.any():
        return ()
    left_nm = (torques.terms.inertial.sum(axis=-1) + torques.terms.base)[used]
    lost_nm = share / (1.0 - share) * np.sqrt((left_nm**2).mean(axis=0))
    sizes = ", ".join(f"{joint} {size:.2g}" for joint, size in zip(motion.joints, lost_nm, strict=True))
    return (f"{LOST_TORQUE} {min(motion.cutoff_hz):.3g} Hz, up to: {sizes} N m",)

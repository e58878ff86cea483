"""Change of the torques where the spikes of the markers are filled."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.tables.frame_columns import term_columns
from limbtorque.torques.joint_torques import Torques, joint_torques

NEGLIGIBLE = 0.01  # range of a term relative to that of the net torque


def spike_change(
    motion: ChainMotion, torques: Torques, filled: ChainMotion | None, frames: BoolArray
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Largest change of each joint's torques where spikes are filled.

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

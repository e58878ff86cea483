"""Lengths, masses, centres of mass and inertias of a limb's chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from limbtorque.arrays import FloatArray, lengths
from limbtorque.chain.body_segments import segment_chain
from limbtorque.chain.model import Chain
from limbtorque.chain.segment_tables import Row
from limbtorque.errors import LandmarkError, SegmentError
from limbtorque.motion.joint_centres import Placement
from limbtorque.motion.limb import Limb
from limbtorque.study.chains import ChainModel
from limbtorque.study.settings import Settings

MAX_VARIATION = 0.04  # of a length over its mean: more, and its landmarks are not on one rigid segment
NOTED_M = 0.01  # distance of a centre of mass from the line between the joints


@dataclass(frozen=True)
class Inertial:
    """Constants of a chain, and notes for the ledger.

    Attributes
    ----------
    chain : Chain
        Lengths and inertial constants.
    notes : tuple of str
        Segments with a centre of mass beside the line between their joints.
    """

    chain: Chain
    notes: tuple[str, ...]


def inertial_constants(limb: Limb, settings: Settings, placed: Placement, joint_m: FloatArray) -> Inertial:
    """Constants of a limb's chain from its table of segment parameters.

    Parameters
    ----------
    limb : Limb
        Chain, subject and body mass.
    settings : Settings
        Table of segment parameters, and added masses.
    placed : Placement
        Landmarks and joints in the laboratory frame.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joints and endpoint in the plane, m.

    Returns
    -------
    Inertial
        The chain; lengths are projected (docs/decisions/0002): the table's length of a segment inclined to the plane is
        shortened like its projection.

    Raises
    ------
    LandmarkError
        A length is unknown in all frames.
    SegmentError
        A length varies too much for one rigid segment, or a parameter is impossible.
    """
    model, rows = limb.model(settings), limb.segment_rows(settings)
    link_length = lengths(np.diff(joint_m, axis=1)).mean(axis=0)
    shares = link_length / placed.planarity.length_m
    between, coms, notes = {}, {}, []
    for link, (segment, row) in enumerate(zip(model.segments, rows, strict=True)):
        length_m = _length(segment.name, row, placed.landmarks)
        between[segment.row] = (row.proximal, row.distal, length_m * float(shares[link]))
        if row.com_from == "landmark":
            own_m = limb.measured.get(f"{segment.row}_length_m", length_m)
            along, beside = _com_on_link(row, placed, link, own_m / length_m)
            coms[f"{segment.row}_com_m"] = along * float(shares[link])
            if beside > NOTED_M and f"{segment.row}_com_m" not in limb.measured:
                notes.append(
                    f"segment {segment.name}: the centre of mass, from {row.proximal} to {row.distal}, is {1e3 * beside:.0f} mm "
                    "beside the line between the joints, and is projected on it"
                )
    chain = segment_chain(
        [segment.row for segment in model.segments],
        table={segment.row: row for segment, row in zip(model.segments, rows, strict=True)},
        body_mass_kg=limb.body_mass_kg,
        link_length_m=link_length.tolist(),
        measured_between=between,
        measured={**coms, **_shortened(limb.measured, model, shares)},
    )
    for link, segment in enumerate(model.segments):
        if added := settings.segments.added.get(segment.name):
            chain = chain.holding(added.mass_kg, link=link, along_m=added.fraction * float(link_length[link]))
    return Inertial(chain, tuple(notes))


def _length(segment: str, row: Row, landmarks: Mapping[str, FloatArray]) -> float:
    """Mean distance between the landmarks of a row, m."""
    distances = lengths(landmarks[row.distal] - landmarks[row.proximal])
    known = distances[~np.isnan(distances)]
    if not known.size:
        raise LandmarkError(
            f"segment {segment}: no frame has both {row.proximal} and {row.distal}, so its length is unknown; "
            "check their markers"
        )
    mean, sd = float(known.mean()), float(known.std())
    if row.com_from == "landmark" and sd > MAX_VARIATION * mean:
        raise SegmentError(
            f"segment {segment}: the length from {row.proximal} to {row.distal} varies by {100.0 * sd / mean:.0f} % (standard "
            f"deviation), expected at most {100.0 * MAX_VARIATION:.0f} %: they are not on one rigid segment; choose another "
            "segments.table, or check the markers"
        )
    return mean


def _com_on_link(row: Row, placed: Placement, link: int, stretched: float) -> tuple[float, float]:
    """Mean distance of a centre of mass along and beside the link, m."""
    near, far = placed.joints_m[:, link], placed.joints_m[:, link + 1]
    way = (far - near) / lengths(far - near)[:, None]
    proximal = placed.landmarks[row.proximal]
    from_joint = proximal + row.com * stretched * (placed.landmarks[row.distal] - proximal) - near
    along = np.sum(from_joint * way, axis=1)
    beside = lengths(from_joint - along[:, None] * way)
    return float(np.nanmean(along)), float(np.nanmean(beside))


def _shortened(measured: Mapping[str, float], model: ChainModel, shares: FloatArray) -> dict[str, float]:
    """Subject's segment parameters in the plane: lengths and inertias projected."""
    powers = {"length_m": 1, "com_m": 1, "inertia_kgm2": 2, "mass_kg": 0}
    return {
        name: measured[name] * share**power
        for segment, share in zip(model.segments, shares.tolist(), strict=True)
        for quantity, power in powers.items()
        if (name := f"{segment.row}_{quantity}") in measured
    }

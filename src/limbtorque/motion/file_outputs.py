"""Another program's joint angles, moments and powers in the signs of this one.

No sign is taken on trust. The angle's is that of our own angle from the markers. The moment's is that of the file's own
power over its moment times the velocity of its angle, since power is positive in generation in every convention: a
moment that is "internal, extension positive" and one that is "external, flexion positive" are the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.recordings.recording import ModelOutput, Recording
from limbtorque.tables.files import make_table
from limbtorque.tables.frame_columns import file_columns
from limbtorque.tables.trial_record import FileOutput

SAGITTAL = 0  # component of angles and moments
LEAST_FRAMES = 20
LEAST_ANGLE_R = 0.5  # of their angle with ours: below, its sign is not certain
LEAST_POWER_R = 0.7  # of their power with their moment times their velocity; smallest of 36 joints of walks: 0.85
POWER_RATIO = (0.5, 2.0)  # of the two: beyond, moment and power are not of the same units


def beside(table: pa.Table, added: pa.Table) -> pa.Table:
    """Table with the columns of another one of the same rows."""
    for field, column in zip(added.schema, added.columns, strict=True):
        table = table.append_column(field, column)
    return table


def file_outputs(
    recording: Recording, motion: ChainMotion, limb: Limb
) -> tuple[pa.Table, tuple[FileOutput, ...], tuple[str, ...]]:
    """Results of another program for the joints of a limb, for its frames.

    Parameters
    ----------
    recording : Recording
        The recording.
    motion : ChainMotion
        Motion of the limb in it.
    limb : Limb
        Side, prefix of the labels, and body mass.

    Returns
    -------
    table : pyarrow.Table
        The columns of `tables.kinematics_columns.file_columns` where the recording holds results for a joint.
    outputs : tuple of FileOutput
        Source and signs of the results, by joint.
    notes : tuple of str
        Results that are not compared, and why.

    Notes
    -----
    Moments and powers per kilogram are multiplied by the body mass of the limb. Joints are those with the name that the
    file has. Powers are the sum of the components: of all planes, while ours is that of the plane.
    """
    outputs: list[FileOutput] = []
    notes: list[str] = []
    values: dict[str, FloatArray] = {}
    for k, joint in enumerate(motion.joints):
        there = _outputs_of(recording, joint, limb)
        moment = there.get("moment")
        if moment is None:
            continue
        found = {kind: output.values[motion.frame - recording.first_frame] for kind, output in there.items()}
        signs = _signs(found, motion.flexion.of(motion.kinematics.angle_rad)[:, k], motion.rate_hz)
        if isinstance(signs, str):
            notes.append(f"{moment.label} of the file is not compared: {signs}")
            continue
        mass_kg = limb.body_mass_kg if moment.per_kg else 1.0
        sense, zero_rad = motion.flexion.sign[k], motion.flexion.zero_rad[k]
        values[f"{joint}_file_angle_rad"] = sense * signs[0] * found["angle"][:, SAGITTAL] + zero_rad
        values[f"{joint}_file_torque_nm"] = sense * signs[1] * found["moment"][:, SAGITTAL] * mass_kg
        values[f"{joint}_file_power_w"] = found["power"].sum(axis=1) * mass_kg
        labels, units = ({kind: getattr(output, name) for kind, output in there.items()} for name in ("label", "unit"))
        outputs.append(FileOutput(joint, labels, units, moment.per_kg, *signs))
    added = make_table(file_columns([output.joint for output in outputs]), values)
    return added, tuple(outputs), tuple(notes)


def _outputs_of(recording: Recording, joint: str, limb: Limb) -> dict[str, ModelOutput]:
    """Angle, moment and power of a joint; none where labels of two subjects fit."""
    prefix = limb.prefix.rstrip(":")
    found = [
        output
        for output in recording.model_outputs
        if (output.joint, output.side) == (joint, limb.side)
        and (not prefix or output.label.rpartition(":")[0] in (prefix, ""))
    ]
    by_kind = {output.kind: output for output in found}
    return by_kind if len(by_kind) == len(found) else {}


def _signs(found: Mapping[str, FloatArray], flexion_rad: FloatArray, rate_hz: float) -> tuple[int, int] | str:
    """Signs of their angle and moment as flexion, or why they are not known."""
    if missing := {"angle", "moment", "power"} - found.keys():
        return f"the file has no {' and no '.join(sorted(missing))} of known unit with it, which its sign follows from"
    angle, moment = found["angle"][:, SAGITTAL], found["moment"][:, SAGITTAL]
    power, velocity = found["power"].sum(axis=1), np.gradient(angle) * rate_hz
    same = np.isfinite(angle) & np.isfinite(flexion_rad)
    known = np.isfinite(power) & np.isfinite(moment * velocity)
    if min(same.sum(), known.sum()) < LEAST_FRAMES:
        return f"fewer than {LEAST_FRAMES} frames"
    angle_r = _cosine(angle[same] - angle[same].mean(), flexion_rad[same] - flexion_rad[same].mean())
    if abs(angle_r) < LEAST_ANGLE_R:
        return f"its angle and ours have a correlation of {angle_r:.2f}, at least {LEAST_ANGLE_R:g} needed for its sign"
    expected = (moment * velocity)[known]
    power_r = _cosine(power[known], expected)
    ratio = float(np.linalg.norm(power[known])) / max(float(np.linalg.norm(expected)), 1e-12)
    if abs(power_r) < LEAST_POWER_R or not POWER_RATIO[0] < ratio < POWER_RATIO[1]:
        return (
            f"its power is {ratio:.2g} times its moment times velocity, correlation {power_r:.2f}; sign or unit of the "
            "moment unknown"
        )
    return int(np.sign(angle_r)), int(np.sign(angle_r) * np.sign(power_r))


def _cosine(a: FloatArray, b: FloatArray) -> float:
    """Correlation about zero; 0 where either is zero throughout."""
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size else 0.0

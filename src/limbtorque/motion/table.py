"""Tables of chain motion, written and read; results of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from limbtorque.arrays import FloatArray
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.motion.chain_motion import ChainMotion, ExternalLoad, Flexion
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import PlaneFrame
from limbtorque.recordings.recording import Event, ModelOutput, Recording
from limbtorque.signals.cutoff import CutoffChoice
from limbtorque.tables.files import column_array, column_values, make_table
from limbtorque.tables.frame_columns import MARKER_FLAGS as FLAG_COLUMNS
from limbtorque.tables.frame_columns import file_columns, kinematics_columns
from limbtorque.tables.trial_record import FileOutput, MotionConstants, TrialRecord

MARKER_FLAGS = tuple(column.name for column in FLAG_COLUMNS)
OF_JOINTS = ("angle_rad", "velocity_rad_s", "acceleration_rad_s2")  # attributes of `Kinematics`, and ends of columns
SAGITTAL = 0  # component of angles and moments
LEAST_FRAMES = 20
LEAST_ANGLE_R = 0.5  # of their angle with ours: below, its sign is not certain
LEAST_POWER_R = 0.7  # of their power with their moment times their velocity; smallest of 36 joints of walks: 0.85
POWER_RATIO = (0.5, 2.0)  # of the two: beyond, moment and power are not of the same units


def kinematics_table(motion: ChainMotion) -> pa.Table:
    """Table of `results/kinematics`; with `motion_constants` a complete record."""
    values: dict[str, Any] = {**frame_values(motion), "external_status": motion.load.status}
    values |= {name: getattr(motion, name) for name in MARKER_FLAGS}
    values["chain_fit_m"] = motion.fit_m
    for k, point in enumerate((*motion.joints, "endpoint")):
        put_xy(values, f"{point}_position_{{}}_m", motion.joint_m[:, k])
    orientation = np.cumsum(motion.kinematics.angle_rad, axis=1)
    for k, segment in enumerate(motion.segments):
        values[f"{segment}_orientation_rad"] = orientation[:, k]
        values[f"{segment}_length_m"] = motion.segment_length_m[:, k]
        values[f"{segment}_tilt_rad"] = motion.segment_tilt_rad[:, k]
    for name in OF_JOINTS:
        of_joints = getattr(motion.kinematics, name).T
        values |= {f"{joint}_{name}": of_joint for joint, of_joint in zip(motion.joints, of_joints, strict=True)}
    put_xy(values, "base_velocity_{}_m_s", motion.kinematics.base_velocity_m_s)
    put_xy(values, "base_acceleration_{}_m_s2", motion.kinematics.base_acceleration_m_s2)
    put_xy(values, "external_force_{}_n", motion.load.force_n)
    put_xy(values, "external_point_{}_m", motion.load.point_m)
    values["external_couple_nm"] = motion.load.couple_nm
    pressure_m = motion.load.pressure_m
    unknown_m = np.full_like(motion.load.point_m, np.nan)
    put_xy(values, "external_pressure_{}_m", unknown_m if pressure_m is None else pressure_m)
    return make_table(kinematics_columns(motion.joints, motion.segments), values)


def motion_constants(motion: ChainMotion) -> MotionConstants:
    """Constants of a motion for the record of its trial."""
    chain = motion.chain
    return MotionConstants(
        joints=motion.joints,
        segments=motion.segments,
        rate_hz=motion.rate_hz,
        chain={name: getattr(chain, name).tolist() for name in ("length_m", "mass_kg", "com_m", "inertia_kgm2")},
        gravity_m_s2=motion.gravity_m_s2.tolist(),
        plane_axes=motion.plane.axes.tolist(),
        plane_view=motion.plane.view,
        flexion_sign=motion.flexion.sign.tolist(),
        flexion_zero_rad=motion.flexion.zero_rad.tolist(),
        moment_arms_known=motion.flexion.moment_arms_known.tolist(),
        cutoff_hz=motion.cutoff_hz,
        cutoffs=[choice_values(choice) for choice in motion.cutoffs],
        notes=motion.notes,
        foot_events=events_as_values(motion.load.foot_events),
        impacts=motion.load.impacts,
    )


def choice_values(choice: CutoffChoice) -> dict[str, Any]:
    """Criterion curves of a cut-off, in a form for JSON."""
    curves = {name: getattr(choice, name).tolist() for name in ("grid_hz", "residual", "criterion")}
    line = None if np.isnan(choice.line[0]) else choice.line
    return {**vars(choice), **curves, "line": line}


def choice_of(values: Mapping[str, Any]) -> CutoffChoice:
    """Criterion curves of a cut-off, inverse of `choice_values`."""
    curves = {name: np.array(values[name]) for name in ("grid_hz", "residual", "criterion")}
    line = tuple(values["line"]) if values["line"] else (float("nan"), float("nan"))
    return CutoffChoice(**{**values, **curves, "line": line})


def motion_from_table(table: pa.Table, record: TrialRecord) -> ChainMotion:
    """Read the motion from its table and record, inverse to `kinematics_table`.

    Parameters
    ----------
    table : pyarrow.Table
        Table of `results/kinematics`.
    record : TrialRecord
        Record that was stored with it, with the constants and metrics of the motion.
    """
    constants = record.motion
    if constants is None:
        raise ValueError(f"the record of trial {record.trial!r} has no motion")
    joints = tuple(constants.joints)

    def xy(pattern: str) -> FloatArray:
        return column_array(table, pattern.format("x"), pattern.format("y"))

    joint_m = np.stack([xy(f"{point}_position_{{}}_m") for point in (*joints, "endpoint")], axis=1)
    status = column_values(table, "external_status").astype(np.int8)
    load = ExternalLoad(
        xy("external_force_{}_n"),
        xy("external_point_{}_m"),
        couple_nm=column_values(table, "external_couple_nm"),
        status=status,
        notes=(),
        pressure_m=xy("external_pressure_{}_m"),
        foot_events=events_of_values(constants.foot_events),
        impacts=tuple((time_s, share) for time_s, share in constants.impacts),
    )
    return ChainMotion(
        joints=joints,
        segments=tuple(constants.segments),
        frame=column_values(table, "frame"),
        time_s=column_values(table, "time_s"),
        rate_hz=constants.rate_hz,
        joint_m=joint_m,
        kinematics=Kinematics(
            **{name: column_array(table, *(f"{joint}_{name}" for joint in joints)) for name in OF_JOINTS},
            base_m=np.ascontiguousarray(joint_m[:, 0]),
            base_velocity_m_s=xy("base_velocity_{}_m_s"),
            base_acceleration_m_s2=xy("base_acceleration_{}_m_s2"),
        ),
        **{name: column_values(table, name).astype(bool) for name in ("edge", "foreshortened", *MARKER_FLAGS)},
        segment_length_m=column_array(table, *(f"{segment}_length_m" for segment in constants.segments)),
        segment_tilt_rad=column_array(table, *(f"{segment}_tilt_rad" for segment in constants.segments)),
        fit_m=column_values(table, "chain_fit_m"),
        chain=Chain(**{name: np.array(value) for name, value in constants.chain.items()}),
        gravity_m_s2=np.array(constants.gravity_m_s2),
        plane=PlaneFrame(np.array(constants.plane_axes), constants.plane_view),
        flexion=Flexion(
            *(np.array(getattr(constants, name)) for name in ("flexion_sign", "flexion_zero_rad", "moment_arms_known"))
        ),
        load=load,
        cutoff_hz=tuple(constants.cutoff_hz),
        cutoffs=tuple(map(choice_of, constants.cutoffs)),
        metrics=dict(record.metrics),
        notes=tuple(constants.notes),
    )


def frame_values(motion: ChainMotion) -> dict[str, Any]:
    """Values of the first columns of every per-trial table."""
    return {"frame": motion.frame, "time_s": motion.time_s, "edge": motion.edge, "foreshortened": motion.foreshortened}


def put_xy(values: dict[str, Any], pattern: str, vectors: FloatArray) -> None:
    """Add the components of in-plane vectors, named by a pattern."""
    values[pattern.format("x")], values[pattern.format("y")] = vectors[:, 0], vectors[:, 1]


def events_as_values(found: Mapping[str, tuple[Event, ...]]) -> dict[str, list[list[str | float]]]:
    """Events by method, in a form for JSON."""
    return {name: [[e.label, e.context, e.time_s] for e in events] for name, events in found.items()}


def events_of_values(values: Mapping[str, Iterable[Sequence[str | float]]]) -> dict[str, tuple[Event, ...]]:
    """Events by method, the inverse of `events_as_values`."""
    return {
        name: tuple(Event(str(label), str(context), float(time_s)) for label, context, time_s in rows)
        for name, rows in values.items()
    }


def beside(table: pa.Table, added: pa.Table) -> pa.Table:
    """Table joined with the columns of another table with the same rows."""
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
        The columns of `tables.frame_columns.file_columns` where the recording holds results for a joint.
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
    """Angle, moment and power of a joint; empty if labels of two subjects match."""
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
    """Signs of their angle and moment as flexion, or reasons why unknown."""
    if missing := {"angle", "moment", "power"} - found.keys():
        return f"the file has no {' and no '.join(sorted(missing))} with a known unit, needed to determine its sign"
    angle, moment = found["angle"][:, SAGITTAL], found["moment"][:, SAGITTAL]
    power, velocity = found["power"].sum(axis=1), np.gradient(angle) * rate_hz
    same = np.isfinite(angle) & np.isfinite(flexion_rad)
    known = np.isfinite(power) & np.isfinite(moment * velocity)
    if min(same.sum(), known.sum()) < LEAST_FRAMES:
        return f"fewer than {LEAST_FRAMES} frames"
    angle_r = _cosine(angle[same] - angle[same].mean(), flexion_rad[same] - flexion_rad[same].mean())
    if abs(angle_r) < LEAST_ANGLE_R:
        return f"its angle correlates with ours by {angle_r:.2f}, at least {LEAST_ANGLE_R:g} needed for its sign"
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
    """Correlation about zero; 0 if either signal is zero throughout."""
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size else 0.0

"""Motion of a planar chain from a recording."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, lengths, runs, unwrapped
from limbtorque.chain.inverse import RigidChainFit, fit_rigid_chain
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.errors import SignalError
from limbtorque.motion.flexion import Flexion, find_flexion
from limbtorque.motion.inertial_constants import inertial_constants
from limbtorque.motion.joint_centres import Placement, foreshortened_frames
from limbtorque.motion.limb import Limb
from limbtorque.motion.load import ExternalLoad, no_load
from limbtorque.motion.plane import PlaneFrame, axis_vector, lengths_and_tilts
from limbtorque.motion.smoothing import SmoothedJoints
from limbtorque.recordings.plausibility import FASTEST_M_S
from limbtorque.recordings.recording import Recording
from limbtorque.signals.cutoff import CutoffChoice
from limbtorque.study.settings import Settings


@dataclass(frozen=True)
class ChainMotion:
    """Motion and external load of a planar chain: the input of inverse dynamics.

    Attributes
    ----------
    joints, segments : tuple of str
        Names, proximal first.
    frame : ndarray of int, shape (n_frames,)
        Frame numbers of the original capture, from 1.
    time_s : ndarray of shape (n_frames,)
        Time from the recording's first frame, s.
    rate_hz : float
        Frames per second.
    joint_m : ndarray of shape (n_frames, n_joints + 1, 2)
        Joint centres and endpoint in the plane, filtered, m; of the fitted chain with `motion.angles` ``rigid_chain``.
    kinematics : Kinematics
        Joint angles (distal segment against proximal one; the first against the plane's x axis), the first joint's
        position in the plane, and their derivatives.
    edge, foreshortened, filled, swapped, spike : ndarray of bool, shape (n_frames,)
        Frames with edge effects of the filter or the differences; frames with a segment too far out of the plane for an
        orientation in it, and their neighbours within the filter's window (angles and derivatives are NaN there); frames
        with a filled marker, with a needed marker exchanged with another, and with an unfilled spike or jump of one.
    segment_length_m, segment_tilt_rad : ndarray of shape (n_frames, n_segments)
        Lengths of the segments in space, m, and inclinations to the plane, towards its normal positive; not filtered.
    fit_m : ndarray of shape (n_frames,)
        Root mean square distance of the fitted from the measured joints, m; NaN without a fitted chain.
    chain : Chain
        Lengths and inertial constants.
    gravity_m_s2 : ndarray of shape (2,)
        Acceleration of gravity in the plane.
    plane : PlaneFrame
        The plane's axes.
    flexion : Flexion
        Sense and zero of flexion of each joint.
    load : ExternalLoad
        Load on the last segment.
    cutoff_hz : tuple of float
        Cut-off of all joint centres, or of each, Hz; empty without a filter.
    cutoffs : tuple of CutoffChoice
        Cut-off by the trial's own data, for all joint centres or for each; empty where the trial is too short.
    metrics : dict of str to float
        Metrics of markers, plane, filter, flexion and load.
    notes : tuple of str
        Decisions, for the ledger.
    """

    joints: tuple[str, ...]
    segments: tuple[str, ...]
    frame: NDArray[np.int64]
    time_s: FloatArray
    rate_hz: float
    joint_m: FloatArray
    kinematics: Kinematics
    edge: BoolArray
    foreshortened: BoolArray
    filled: BoolArray
    swapped: BoolArray
    spike: BoolArray
    segment_length_m: FloatArray
    segment_tilt_rad: FloatArray
    fit_m: FloatArray
    chain: Chain
    gravity_m_s2: FloatArray
    plane: PlaneFrame
    flexion: Flexion
    load: ExternalLoad
    cutoff_hz: tuple[float, ...]
    cutoffs: tuple[CutoffChoice, ...]
    metrics: dict[str, float]
    notes: tuple[str, ...]

    def part(self, some: slice) -> ChainMotion:
        """Motion of some frames, with the constants of the whole."""
        return replace(
            self,
            frame=self.frame[some],
            time_s=self.time_s[some],
            joint_m=self.joint_m[some],
            kinematics=self.kinematics.part(some),
            edge=self.edge[some],
            foreshortened=self.foreshortened[some],
            filled=self.filled[some],
            swapped=self.swapped[some],
            spike=self.spike[some],
            segment_length_m=self.segment_length_m[some],
            segment_tilt_rad=self.segment_tilt_rad[some],
            fit_m=self.fit_m[some],
            load=self.load.part(some),
        )


def planar_motion(
    recording: Recording, limb: Limb, settings: Settings, *, placed: Placement, smoothed: SmoothedJoints
) -> ChainMotion:
    """Motion of a limb as a planar chain, from its smoothed joint centres; the ground is not yet in it.

    Parameters
    ----------
    recording : Recording
        Its frames and rate.
    limb : Limb
        Chain, side and subject.
    settings : Settings
        All options.
    placed : Placement
        The joint centres, from `motion.joint_centres.place_joints`.
    smoothed : SmoothedJoints
        The same in the plane, from `motion.smoothing.smooth_joints`.

    Returns
    -------
    ChainMotion
        Motion of the longest stretch in which all joints are known; without a load.

    Raises
    ------
    TrialError
        The trial cannot be analysed; the message names the reason and the remedy.
    """
    model, plane, stretch = limb.model(settings), placed.plane, placed.prepared.stretch
    flexion, flexion_notes = find_flexion(model, plane, limb.side, placed.landmarks)
    foreshortened = _foreshortened(recording, placed, smoothed, settings)
    moving_m, joint_m, fit_m = _fitted_joints(smoothed.values[..., :2], foreshortened, recording, settings)
    edge = _edges(len(joint_m), smoothed.reach)
    inertial = inertial_constants(limb, settings, placed, moving_m)
    length_m, tilt_rad = lengths_and_tilts(placed.joints_m, plane)
    return ChainMotion(
        joints=tuple(joint.name for joint in model.joints),
        segments=tuple(segment.name for segment in model.segments),
        frame=recording.first_frame + np.arange(stretch.start, stretch.stop),
        time_s=np.arange(stretch.start, stretch.stop) / recording.rate_hz,
        rate_hz=recording.rate_hz,
        joint_m=joint_m,
        kinematics=_kinematics(moving_m, foreshortened, flexion, smoothed, recording.rate_hz),
        edge=edge,
        foreshortened=foreshortened,
        filled=placed.prepared.filled[stretch],
        swapped=placed.prepared.swapped[stretch],
        spike=placed.prepared.spike[stretch],
        segment_length_m=length_m,
        segment_tilt_rad=tilt_rad,
        fit_m=fit_m,
        chain=inertial.chain,
        gravity_m_s2=plane.gravity(settings.gravity_m_s2, axis_vector(settings.plane.up_axis)),
        plane=plane,
        flexion=flexion,
        load=no_load(len(joint_m)),
        cutoff_hz=smoothed.cutoff_hz,
        cutoffs=smoothed.choices,
        metrics={
            "n_frames_recorded": float(recording.n_frames),
            "n_frames": float(len(joint_m)),
            "rate_hz": recording.rate_hz,
            "edge_share": float(edge.mean()),
            "speed_m_s": _top_speed(smoothed.values[..., :2], recording.rate_hz),
            **placed.metrics,
            **smoothed.metrics,
        },
        notes=(*placed.notes, *smoothed.notes, *flexion_notes, *inertial.notes),
    )


def _foreshortened(recording: Recording, placed: Placement, smoothed: SmoothedJoints, settings: Settings) -> BoolArray:
    """Frames without an orientation in the plane; an error where all are."""
    least = settings.plane.min_projection
    short = foreshortened_frames(placed.joints_m, placed.plane, reach=smoothed.reach, min_projection=least)
    if short.all():
        raise SignalError(
            f"{recording.source}: every frame is within the filter's window of one with a segment out of the plane "
            f"(projection below {least:g} of its length); choose another plane.kind or forward_axis"
        )
    return short


def _fitted_joints(
    joint_m: FloatArray, foreshortened: BoolArray, recording: Recording, settings: Settings
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Joints for angles and for the levers of loads, and the error of the fit."""
    method = settings.motion.angles
    if method == "segments":
        return joint_m, joint_m, np.full(len(joint_m), np.nan)
    fit = _rigid_chain(joint_m, foreshortened, recording)
    fitted_m, distance_m = fit.joint_m, lengths(fit.distance_m) / np.sqrt(fit.distance_m.shape[1])
    return fitted_m, fitted_m if method == "rigid_chain" else joint_m, distance_m


def _kinematics(
    joint_m: FloatArray, foreshortened: BoolArray, flexion: Flexion, smoothed: SmoothedJoints, rate_hz: float
) -> Kinematics:
    """Joint angles and the base's motion, with derivatives that agree with each other."""
    angle = _joint_angles(joint_m)
    n_joints = angle.shape[1]
    first, second = smoothed.differentiate(np.hstack([angle, joint_m[:, 0]]), rate_hz)
    return Kinematics(
        *_blanked(angle, first[:, :n_joints], second[:, :n_joints], foreshortened, flexion.zero_rad),
        base_m=joint_m[:, 0],
        base_velocity_m_s=first[:, n_joints:],
        base_acceleration_m_s2=second[:, n_joints:],
    )


def _rigid_chain(joint_m: FloatArray, foreshortened: BoolArray, recording: Recording) -> RigidChainFit:
    """Joints of a chain with constant lengths, fitted without foreshortened frames."""
    fit = fit_rigid_chain(joint_m, counted=~foreshortened)
    if not fit.success:
        raise SignalError(
            f"{recording.source}: the fit of a rigid chain did not converge in {fit.iterations} steps, its links vary too much in "
            "length; check the markers for swapped labels, or set motion.angles to segments"
        )
    return fit


def _joint_angles(joint_m: FloatArray) -> FloatArray:
    """Joint angles without jumps between frames."""
    steps = np.diff(joint_m, axis=1)
    orientation = unwrapped(np.arctan2(steps[..., 1], steps[..., 0]))
    return np.diff(orientation, axis=1, prepend=0.0)


def _blanked(
    angle: FloatArray, velocity: FloatArray, acceleration: FloatArray, foreshortened: BoolArray, zero_rad: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Angles and derivatives with NaN in the foreshortened frames.

    Missing orientations lose the count of turns: every stretch between is moved to the turn with its median nearest to
    zero flexion.
    """
    angle, velocity, acceleration = angle.copy(), velocity.copy(), acceleration.copy()
    for values in (angle, velocity, acceleration):
        values[foreshortened] = np.nan
    for start, stop in runs(~foreshortened):
        median = np.median(angle[start:stop], axis=0)
        angle[start:stop] -= 2.0 * np.pi * np.round((median - zero_rad) / (2.0 * np.pi))
    return angle, velocity, acceleration


def _top_speed(joint_m: FloatArray, rate_hz: float) -> float:
    steps = np.diff(joint_m, axis=0)
    speed = float(lengths(steps).max() * rate_hz)
    if speed > FASTEST_M_S:
        raise SignalError(
            f"a joint moves at {speed:.4g} m/s, expected at most {FASTEST_M_S:g} m/s; "
            "check the units and the rate of the file (reading.length_unit, reading.rate_hz), and swapped markers"
        )
    return speed


def _edges(n_frames: int, reach: int) -> BoolArray:
    frames = np.arange(n_frames)
    return (frames < reach) | (frames >= n_frames - reach)

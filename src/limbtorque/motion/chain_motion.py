"""Motion of a planar chain: angles, derivatives, direction of flexion, load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from limbtorque.arrays import BoolArray, FloatArray, lengths, runs, unwrapped, with_part
from limbtorque.chain.inverse import fit_rigid_chain
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.errors import SignalError
from limbtorque.motion.joint_centres import Placement, foreshortened_frames, inertial_constants
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import MIN_PROJECTION, PlaneFrame, lengths_and_tilts
from limbtorque.motion.smoothing import SmoothedJoints
from limbtorque.recordings.plausibility import FASTEST_M_S
from limbtorque.recordings.recording import Event, Recording
from limbtorque.signals.cutoff import CutoffChoice
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.motion import axis_vector
from limbtorque.study.options.reading import Force, LoadModel
from limbtorque.study.settings import Settings

StatusArray = NDArray[np.int8]
Impact = tuple[float, float]  # its time, s, and the share of the force that passes the markers' filter


NONE, MEASURED, UNMEASURED = 0, 1, 2
LOAD_OVER_TIME = (  # attributes of `ExternalLoad` with a row for each frame, or none
    *("force_n", "point_m", "couple_nm", "status", "pressure_m", "unfiltered_n", "unfiltered_couple_nm", "partly"),
    *("on_plates", "owned", "wrench"),
)
OVER_TIME = (  # attributes of `ChainMotion` with a row for each frame
    *("frame", "time_s", "joint_m", "edge", "foreshortened", "filled", "swapped", "spike"),
    *("segment_length_m", "segment_tilt_rad", "fit_m", "plane_cost_nm"),
)


@dataclass(frozen=True)
class ExternalLoad:
    """External load on the last segment, in the plane.

    Attributes
    ----------
    force_n : ndarray of shape (n_frames, 2)
        Force on the segment, N.
    point_m : ndarray of shape (n_frames, 2)
        Point of application in the plane's coordinates, m.
    couple_nm : ndarray of shape (n_frames,)
        Couple in addition to the force at that point, counter-clockwise positive, N m.
    status : ndarray of int8, shape (n_frames,)
        0 no load, 1 load known, 2 foot on the ground, or up to `ground.foot.MIN_CONTACT_S` later, and force unknown (force and couple
        are NaN).
    notes : tuple of str
        Decisions, for the ledger.
    metrics : mapping of str to float
        Metrics of the load.
    pressure_m : ndarray of shape (n_frames, 2), optional
        Centre of pressure of the ground in the plane, m; NaN in frames without a load of more than `plates.threshold_n`.
    unfiltered_n, unfiltered_couple_nm : ndarray of shape (n_frames, 2) and (n_frames,)
        Force and couple of the plates at the same point without the filter, frame means; empty without plates.
    foot_events : mapping of str to tuple of Event
        Foot strikes and offs by each method (`ground.events`); empty for limbs off the ground.
    partly : ndarray of bool, shape (n_frames,)
        Frames about a contact in which a foot of the body is partly off a plate; empty without plates.
    on_plates : ndarray of bool, shape (n_frames, 2)
        Frames in which plates carry this foot, and the other one, alone or together; empty without plates.
    impacts : tuple of (float, float)
        Times at which the foot begins to load plates, from the first frame, s, and the share of the force's high frequencies
        that the markers' filter removes there (`ground.impacts`).
    owned : ndarray of bool, shape (n_frames, n_plates)
        Frames in which each usable plate measures this foot; empty without plates.
    wrench : ndarray of shape (n_frames, 6), optional
        Force of a load of the settings, N, and its moment about the laboratory's origin, N m, in its axes.
    """

    force_n: FloatArray
    point_m: FloatArray
    couple_nm: FloatArray
    status: StatusArray
    notes: tuple[str, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)
    pressure_m: FloatArray | None = None
    unfiltered_n: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    unfiltered_couple_nm: FloatArray = field(default_factory=lambda: np.zeros(0))
    foot_events: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    partly: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    on_plates: BoolArray = field(default_factory=lambda: np.zeros((0, 2), dtype=bool))
    impacts: tuple[Impact, ...] = ()
    owned: BoolArray = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    wrench: FloatArray | None = None

    @property
    def moment_about_origin_nm(self) -> FloatArray:
        """Moment about the plane's origin, shape (n_frames,), N m."""
        x, y = self.point_m.T
        return np.asarray(x * self.force_n[:, 1] - y * self.force_n[:, 0] + self.couple_nm)

    def part(self, some: slice) -> ExternalLoad:
        """Load in selected frames."""
        return with_part(self, LOAD_OVER_TIME, some)


def no_load(n_frames: int) -> ExternalLoad:
    """Zero external load.

    Parameters
    ----------
    n_frames : int
        Number of frames.
    """
    zeros = np.zeros((n_frames, 2))
    return ExternalLoad(zeros, zeros, np.zeros(n_frames), np.zeros(n_frames, dtype=np.int8), ())


def hand_load(load: LoadModel, *, frame: PlaneFrame, last_joint_m: FloatArray, end_m: FloatArray) -> ExternalLoad:
    """Constant force or spring on the last segment.

    Parameters
    ----------
    load : Force or Spring
        The load, in the laboratory frame.
    frame : PlaneFrame
        The plane of motion; the load's part along its normal is ignored.
    last_joint_m, end_m : ndarray of shape (n_frames, 3)
        Proximal joint and end of the last segment, m: their two coordinates in the plane and the one along its normal.

    Returns
    -------
    ExternalLoad
        Load in the plane, known on every frame.

    Notes
    -----
    A spring pulls towards its anchor with ``k (r - rest length)``, r the distance in space, and is slack when shorter.
    """
    point = last_joint_m + load.fraction * (end_m - last_joint_m)
    if isinstance(load, Force):
        force = np.broadcast_to(frame.axes @ np.array(load.force_n), point.shape)
    else:
        towards = frame.axes @ np.array(load.anchor_m) - point
        distance = np.linalg.norm(towards, axis=1, keepdims=True)
        stretch = np.maximum(distance - load.rest_length_m, 0.0)
        force = (
            load.stiffness_n_m * stretch * np.divide(towards, distance, where=distance > 0, out=np.zeros_like(towards))
        )
    status = np.full(len(point), MEASURED, dtype=np.int8)
    wrench = np.hstack([force @ frame.axes, np.cross(point, force) @ frame.axes])
    in_plane = force[:, :2].copy(), point[:, :2].copy()
    return ExternalLoad(*in_plane, np.zeros(len(point)), status, (), wrench=wrench)


@dataclass(frozen=True)
class Flexion:
    """Direction and zero of flexion of each joint in the plane.

    Attributes
    ----------
    sign : ndarray of shape (n_joints,)
        +1 where counter-clockwise is flexion, -1 where it is extension.
    zero_rad : ndarray of shape (n_joints,)
        Joint angle at zero flexion, rad.
    moment_arms_known : ndarray of bool, shape (n_joints,)
        True where sampled moment arms hold in this plane.
    """

    sign: FloatArray
    zero_rad: FloatArray
    moment_arms_known: BoolArray

    def of(self, angle_rad: FloatArray) -> FloatArray:
        """Return the flexion of joint angles of shape (n_frames, n_joints), rad."""
        return np.asarray(self.sign * (angle_rad - self.zero_rad))


def find_flexion(
    model: ChainModel, plane: PlaneFrame, side: str, landmarks: Mapping[str, FloatArray]
) -> tuple[Flexion, tuple[str, ...]]:
    """Find direction and zero of flexion of the joints of a limb.

    Parameters
    ----------
    model : ChainModel
        The chain.
    plane : PlaneFrame
        The plane of motion.
    side : {"left", "right"}
        Side of the limb: in the horizontal plane the two flex in opposite senses.
    landmarks : mapping of str to ndarray of shape (n_frames, 3)
        Landmarks; heel and toe define the sole.

    Returns
    -------
    flexion : Flexion
        Sense and zero.
    notes : tuple of str
        Assumptions, for the ledger.
    """
    known = np.array([joint.moment_arms_in_any_plane or plane.view == "sagittal" for joint in model.joints])
    if plane.view == "horizontal":
        mirror = 1.0 if side == "right" else -1.0
        sign = np.array([mirror * joint.flexion_right_horizontal for joint in model.joints])
        return Flexion(sign, np.zeros(len(model.joints)), known), ()
    notes = []
    if plane.view == "oblique":
        notes.append("the plane is neither sagittal nor horizontal: flexion has the direction of the sagittal plane")
    zero = np.radians([joint.flexion_zero_deg for joint in model.joints])
    for i, joint in enumerate(model.joints):
        if joint.sole is None:
            continue
        back, front = joint.sole
        sole_m = landmarks[front] - landmarks[back] if {back, front} <= landmarks.keys() else np.full((1, 3), np.nan)
        if (~np.isnan(sole_m)).all(axis=1).any():
            distal = model.joints[i + 1].landmark if i + 1 < len(model.joints) else model.end
            # median angle between two lines in the plane, from the direction of the quotient of complex numbers
            link, sole = (plane.project(line) for line in (landmarks[distal] - landmarks[joint.landmark], sole_m))
            seen = ~np.isnan(link + sole).any(axis=1)
            quotient = (link[seen] @ [1.0, 1j]) / (sole[seen] @ [1.0, 1j])
            slope = float(np.degrees(np.angle(np.median(quotient.real) + 1j * np.median(quotient.imag))))
            zero[i] = np.radians(90.0) + np.radians(slope)
            notes.append(
                f"{joint.name}: flexion is measured from the sole, {-slope:.0f} deg from the line to the {distal}"
            )
        else:
            notes.append(
                f"{joint.name}: {back} is not mapped or not visible, zero flexion is assumed at {joint.flexion_zero_deg:g} deg"
            )
    sign = np.array([float(joint.flexion_sagittal) for joint in model.joints])
    return Flexion(sign, zero, known), tuple(notes)


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
    plane_cost_nm : ndarray of shape (n_frames, n_joints), optional
        Planar torques minus moments about the flexion axes, NaN where not known; None without `torques.in_space`.
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
    plane_cost_nm: FloatArray | None = None

    def part(self, some: slice) -> ChainMotion:
        """Motion in selected frames, with the constants of the trial."""
        whole = replace(self, kinematics=self.kinematics.part(some), load=self.load.part(some))
        return with_part(whole, OVER_TIME, some)


def planar_motion(
    recording: Recording, limb: Limb, settings: Settings, *, placed: Placement, smoothed: SmoothedJoints
) -> ChainMotion:
    """Motion of a limb as a planar chain, without the ground.

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
    foreshortened = foreshortened_frames(placed.joints_m, plane, reach=smoothed.reach, min_projection=MIN_PROJECTION)
    if foreshortened.all():
        raise SignalError(
            f"{recording.source}: every frame is affected by a frame with a segment out of the plane "
            f"(projection below {MIN_PROJECTION:g} of its length); choose another plane.kind or forward_axis"
        )
    moving_m, joint_m, fit_m = _fitted_joints(smoothed.values[..., :2], foreshortened, recording, settings)
    frames = np.arange(len(joint_m))
    edge = np.asarray((frames < smoothed.reach) | (frames >= len(joint_m) - smoothed.reach))
    chain, inertial_notes = inertial_constants(limb, settings, placed, moving_m)
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
        chain=chain,
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
        notes=(*placed.notes, *smoothed.notes, *flexion_notes, *inertial_notes),
    )


def _fitted_joints(
    joint_m: FloatArray, foreshortened: BoolArray, recording: Recording, settings: Settings
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Joints for angles and for moment arms of loads, and the fit error."""
    method = settings.motion.angles
    if method == "segments":
        return joint_m, joint_m, np.full(len(joint_m), np.nan)
    fit = fit_rigid_chain(joint_m, counted=~foreshortened)
    if not fit.success:
        raise SignalError(
            f"{recording.source}: the fit of a rigid chain did not converge in {fit.iterations} steps, its segments vary too much in "
            "length; check the markers for swapped labels, or set motion.angles to segments"
        )
    fitted_m, distance_m = fit.joint_m, lengths(fit.distance_m) / np.sqrt(fit.distance_m.shape[1])
    return fitted_m, fitted_m if method == "rigid_chain" else joint_m, distance_m


def _kinematics(
    joint_m: FloatArray, foreshortened: BoolArray, flexion: Flexion, smoothed: SmoothedJoints, rate_hz: float
) -> Kinematics:
    """Joint angles and motion of the base, with consistent derivatives.

    Angles and derivatives are NaN in foreshortened frames. Each part between missing orientations is shifted by whole
    turns so that its median is nearest to zero flexion.
    """
    steps = np.diff(joint_m, axis=1)
    orientation = unwrapped(np.arctan2(steps[..., 1], steps[..., 0]))
    angle = np.diff(orientation, axis=1, prepend=0.0)
    n_joints = angle.shape[1]
    first, second = smoothed.differentiate(np.hstack([angle, joint_m[:, 0]]), rate_hz)
    of_joints = angle, first[:, :n_joints].copy(), second[:, :n_joints].copy()
    for values in of_joints:
        values[foreshortened] = np.nan
    for start, stop in runs(~foreshortened):
        median = np.median(angle[start:stop], axis=0)
        angle[start:stop] -= 2.0 * np.pi * np.round((median - flexion.zero_rad) / (2.0 * np.pi))
    return Kinematics(
        *of_joints,
        base_m=joint_m[:, 0],
        base_velocity_m_s=first[:, n_joints:],
        base_acceleration_m_s2=second[:, n_joints:],
    )


def _top_speed(joint_m: FloatArray, rate_hz: float) -> float:
    steps = np.diff(joint_m, axis=0)
    speed = float(lengths(steps).max() * rate_hz)
    if speed > FASTEST_M_S:
        raise SignalError(
            f"a joint moves at {speed:.4g} m/s, expected at most {FASTEST_M_S:g} m/s; "
            "check the units and the rate of the file (reading.length_unit, reading.rate_hz), and for swapped markers"
        )
    return speed

"""Metrics of a motion and its torques, over the judged frames."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray, lengths
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.errors import PART_OF_TRIAL, LoadError
from limbtorque.ground.plates import Reading
from limbtorque.motion.chain_motion import UNMEASURED, ChainMotion, Flexion
from limbtorque.motion.joint_centres import Placement
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import segment_planarity
from limbtorque.quality.body_checks import body_metrics
from limbtorque.quality.body_size import body_size, static_unlike_share
from limbtorque.quality.joint_shares import fit_error_share, lost_torque_note, pressure_error_share, spike_change
from limbtorque.recordings.recording import Recording
from limbtorque.signals.derivatives import differentiation_reach, first_derivative
from limbtorque.study.chains import ChainModel
from limbtorque.study.options.motion import axis_vector
from limbtorque.study.settings import Settings
from limbtorque.tables.trial_record import Window
from limbtorque.torques.joint_torques import Torques, known_frames, used_frames
from limbtorque.torques.summary import cut_peak_share
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.bands import InputErrors
from limbtorque.uncertainty.propagation import centre_errors, soft_tissue_errors

UNDECIDED_DEG = 10.0
LANDMARKS_OF = {  # joint centre -> landmarks on the same joint
    "hip_axis": ("greater_trochanter",),
    "knee_axis": ("femoral_condyles", "lateral_condyle"),
    "ankle_axis": ("lateral_malleolus", "medial_malleolus"),
    "elbow_axis": ("lateral_epicondyle",),
    "wrist_axis": ("ulnar_styloid",),
}
RANGE_PERCENT = (5.0, 95.0)  # of the frames, so that a spike does not bend a straight limb
HYPERMOBILE_DEG = 10.0  # Beighton et al. (1973), of elbows and knees
RESTING_W = 0.1  # below, the chain is at rest and the rate of its energy is noise
WORTH = 0.1  # of the range of a net torque: smaller errors are not judged
LEVEL = 0.96  # of trials are below the limit of the lengths' variation to first order; of simulated arms 95 %
SIDES_LEVEL = 0.975  # below each of the two limits of the differences between the sides
FRAMES = 200  # from which means over time are taken, or up to twice as many
FELT_M = 0.0005  # of the lengths, root mean square: smaller effects are not told from noise
BODY_M = 0.005  # difference of the sides of a body: legs differ by 5 mm (standard deviation 4 mm; Knutson 2005)


def undecided_flexion(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Return 1 if the limb stays too straight to detect mirroring."""
    one_way = [i for i, joint in enumerate(model.joints) if joint.one_way]
    bent_deg = np.degrees(flexion.of(angle))[:, one_way]
    bent_deg = bent_deg[~np.isnan(bent_deg).any(axis=1)]
    if not len(bent_deg):
        return 0.0
    ends = np.percentile(bent_deg, RANGE_PERCENT, axis=0)
    return float(np.abs(ends).max(initial=0.0) < UNDECIDED_DEG)


def reversed_flexion_share(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Largest share of frames with an elbow or knee hyperextended over 10 degrees.

    Parameters
    ----------
    model : ChainModel
        The chain.
    flexion : Flexion
        Sense and zero of flexion.
    angle : ndarray of shape (n_frames, n_joints)
        Joint angles, rad.

    Examples
    --------
    >>> from limbtorque.study.chains import ARM
    >>> flexion = Flexion(np.ones(3), np.zeros(3), np.ones(3, dtype=bool))
    >>> angle = np.radians([[0.0, 90.0, 0.0], [0.0, 0.0, 0.0], [0.0, -30.0, 0.0], [0.0, -5.0, 0.0]])
    >>> reversed_flexion_share(ARM, flexion, angle)
    0.25
    """
    bent = np.degrees(flexion.of(angle))
    one_way = [i for i, joint in enumerate(model.joints) if joint.one_way]
    return max((float((bent[:, i] < -HYPERMOBILE_DEG).mean()) for i in one_way), default=0.0)


def reversed_flexion_deg(model: ChainModel, flexion: Flexion, angle: FloatArray) -> float:
    """Hyperextension of elbow or knee, degrees; 0 if there is none."""
    bent = [
        -float(np.degrees(flexion.sign[i] * (np.nanmedian(angle[:, i]) - flexion.zero_rad[i])))
        for i, joint in enumerate(model.joints)
        if joint.one_way
    ]
    return max([0.0, *bent])


def landmark_astray_share(model: ChainModel, landmarks: Mapping[str, FloatArray]) -> dict[str, float]:
    """Largest share of frames with a landmark nearer to another joint than to its own.

    Parameters
    ----------
    model : ChainModel
        The chain, with its joint centres.
    landmarks : mapping of str to ndarray of shape (n_frames, 3)
        Joint centres and landmarks, m.

    Returns
    -------
    dict of str to float
        `landmark_astray_share`; empty without a landmark of `LANDMARKS_OF`.

    Examples
    --------
    >>> from limbtorque.study.chains import LEG
    >>> at = {name: np.full((4, 3), [0.0, 0.0, z]) for name, z in zip(LEG.landmarks, (0.9, 0.5, 0.1, 0.0))}
    >>> landmark_astray_share(LEG, {**at, "femoral_condyles": at["ankle_axis"], "lateral_malleolus": at["knee_axis"]})
    {'landmark_astray_share': 1.0}
    """
    centres = [joint.landmark for joint in model.joints]
    at = np.stack([landmarks[name] for name in centres])
    shares = []
    for own, centre in enumerate(centres):
        for point in (landmarks[name] for name in LANDMARKS_OF.get(centre, ()) if name in landmarks):
            away = lengths(at - point)[:, ~np.isnan(at - point).any(axis=(0, 2))]
            shares += [float((away.argmin(axis=0) != own).mean())] if away.size else []
    return {"landmark_astray_share": max(shares)} if shares else {}


def frame_metrics(motion: ChainMotion, frames: BoolArray, model: ChainModel, stated: Stated) -> dict[str, float]:
    """Metrics of a motion that are counts or shares of frames.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    frames : ndarray of bool, shape (n_frames,)
        Frames that count, such as those of the window of the trial; all others are ignored.
    model : ChainModel
        The chain, for its one-way joints.
    stated : Stated
        Misfits that the stated errors explain: `length_variation` is what is beyond.

    Returns
    -------
    dict of str to float
        By the names in `quality.checks`; empty without a frame.
    """
    if not frames.any():
        return {}
    steps, length, tilt = (
        each[frames] for each in (np.diff(motion.joint_m, axis=1), motion.segment_length_m, motion.segment_tilt_rad)
    )
    towards, flexion, angle = np.sin(tilt), motion.flexion, motion.kinematics.angle_rad[frames]
    in_plane = length * np.sqrt(1.0 - towards**2) / np.maximum(lengths(steps), np.finfo(float).tiny)
    planar = segment_planarity(steps * in_plane[..., None], length * towards, length, tilt)
    fit_m = motion.fit_m[frames & ~motion.foreshortened]
    return {
        **({} if np.isnan(fit_m).all() else {"chain_fit_m": float(np.sqrt((fit_m**2).mean()))}),
        "gap_share": float(motion.filled[frames].mean()),
        "swapped_frames": float(motion.swapped[frames].sum()),
        "spike_frames": float(motion.spike[frames].sum()),
        **missing_shares(motion, frames),
        "out_of_plane_share": planar.out_of_plane_share,
        "tilt_deg": float(planar.tilt_deg.max()),
        "length_variation": float(planar.length_variation.max()) * stated.beyond,
        "reversed_flexion_deg": reversed_flexion_deg(model, flexion, angle),
        "reversed_flexion_share": reversed_flexion_share(model, flexion, angle),
        "undecided_flexion": undecided_flexion(model, flexion, angle),
    }


def missing_shares(motion: ChainMotion, frames: BoolArray) -> dict[str, float]:
    """Shares of frames without orientation and without measured load.

    Parameters
    ----------
    motion, frames
        As in `frame_metrics`.
    """
    if not frames.any():
        return {}
    return {
        "foreshortened_share": float(motion.foreshortened[frames].mean()),
        "unmeasured_share": float((motion.load.status[frames] == UNMEASURED).mean()),
    }


def motion_metrics(
    recording: Recording,
    limb: Limb,
    settings: Settings,
    *,
    placed: Placement,
    motion: ChainMotion,
    readings: Sequence[Reading],
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Metrics of a motion and its load over all frames, and notes on body size.

    Parameters
    ----------
    recording : Recording
        Markers and plates.
    limb : Limb
        The limb, body mass and height.
    settings : Settings
        All options.
    placed : Placement
        Its joint centres.
    motion : ChainMotion
        The motion with its load.
    readings : sequence of Reading
        Signals of the plates that may be used.
    """
    model, load, stated = limb.model(settings), motion.load, stated_misfits(motion, limb, settings)
    sizes, notes = body_size(limb, settings, placed.planarity.length_m)
    unlike, unlike_notes = static_unlike_share(recording, limb, settings, placed.planarity.length_m)
    tilt_deg = load.metrics.get("plate_tilt_deg", 0.0)
    if model.ground_contact:  # the mean direction of the limb against up
        direction = (placed.joints_m[:, 0] - placed.joints_m[:, -2]).mean(axis=0)
        cosine = direction @ axis_vector(settings.plane.up_axis) / np.linalg.norm(direction)
        tilt_deg = max(float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))), tilt_deg)
    sides_unlike = functools.partial(sides_unlike_factor, stated=stated)
    of_body, body_notes = body_metrics(
        recording,
        limb,
        settings,
        placed=placed,
        load=load,
        joint_m=motion.joint_m,
        readings=readings,
        unlike=sides_unlike,
    )
    metrics = {
        **motion.metrics,
        **sizes,
        **unlike,
        **{name: value for name, value in load.metrics.items() if name != "plate_tilt_deg"},
        "up_axis_deg": max(tilt_deg, 0.0),
        **of_body,
        **landmark_astray_share(model, placed.landmarks),
        **frame_metrics(motion, np.ones(len(motion.joint_m), dtype=bool), model, stated),
    }
    return metrics, (*notes, *unlike_notes, *body_notes)


def judged_metrics(
    motion: ChainMotion,
    torques: Torques,
    window: Window,
    limb: Limb,
    settings: Settings,
    *,
    filled: Callable[[], ChainMotion | None],
) -> tuple[dict[str, float], dict[str, dict[str, float]], tuple[str, ...]]:
    """Metrics of motion and torques over the judged frames.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    window : Window
        The window of the trial, or why there is none.
    limb, settings
        Chain, body mass and marker set; all options.
    filled : callable
        Returns the motion with spikes filled, or None where they cannot be; called only where there are spikes.

    Returns
    -------
    metrics : dict of str to float
        Metrics of the trial, in place of those over all frames in `ChainMotion.metrics`.
    by_joint : dict of str to dict of str to float
        Those with a value for each joint, by metric and joint.
    notes : tuple of str
        Notes on the effect of spikes.
    """
    used, stated = used_frames(motion, torques), stated_misfits(motion, limb, settings)
    frames = window.judged(motion.time_s, used)
    metrics = {**frame_metrics(motion, frames, limb.model(settings), stated), **torque_metrics(motion, torques, frames)}
    metrics |= shortest_period_share(motion) | acceleration_lost_share(motion, torques, frames)
    if window.note:
        unused = torque_metrics(motion, torques)["unused_share"]
        metrics |= {**missing_shares(motion, ~motion.edge), "unused_share": unused}
    by_joint = {
        **limit_metrics(motion, torques, frames, body_mass_kg=limb.body_mass_kg),
        "cut_peak_share": cut_peak_share(motion, torques, frames),
        "fit_error_share": fit_error_share(motion, torques, frames, beyond=stated.beyond),
        "pressure_error_share": pressure_error_share(
            motion, torques, frames, least_m=settings.quality.pressure_off_toes_m
        ),
    }
    lost = lost_torque_note(motion, torques, frames, allowed_share=settings.quality.acceleration_lost_share)
    if not motion.spike.any():
        return metrics, by_joint, lost
    shares, notes = spike_change(motion, torques, filled(), frames)
    return metrics, {**by_joint, "spike_change_share": shares}, (*notes, *lost)


def shortest_period_share(motion: ChainMotion) -> dict[str, float]:
    """Shortest period of unfiltered joint centres relative to that of the movement.

    Parameters
    ----------
    motion : ChainMotion
        The motion.

    Returns
    -------
    dict of str to float
        `shortest_period_share`; empty where nothing moves or `shortest_period_s` is not known.

    Notes
    -----
    The period of the movement is 2 pi rms(v) / rms(a), with velocity and acceleration of all joints and of the end, less the mean
    velocity: that of its sine where it is one. A filter before the export that takes periods of a sixth of it takes part of the movement.
    """
    velocity = first_derivative(motion.joint_m, rate_hz=motion.rate_hz, accuracy=2)
    acceleration = first_derivative(velocity, rate_hz=motion.rate_hz, accuracy=2)
    counted = ~motion.edge & ~motion.foreshortened & ~np.isnan(acceleration).any(axis=(1, 2))
    shortest_s = motion.metrics.get("shortest_period_s", float("nan"))
    if not counted.any() or np.isnan(shortest_s):
        return {}
    speed, push = (
        np.sqrt((each[counted] ** 2).sum()) for each in (velocity - velocity[counted].mean(axis=0), acceleration)
    )
    return {"shortest_period_share": float(shortest_s * push / (2.0 * np.pi * speed))} if speed > 0.0 else {}


def acceleration_lost_share(motion: ChainMotion, torques: Torques, frames: BoolArray) -> dict[str, float]:
    """Acceleration that the filter removes, as far as the torques depend on it.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    frames : ndarray of bool, shape (n_frames,)
        Judged frames; those with edge effects or unknown torque are left out.

    Returns
    -------
    dict of str to float
        `acceleration_lost_share`; empty without a frame, or where it is not known over all frames.

    Notes
    -----
    A share s of the acceleration that is lost takes ``s / sqrt(1 - s^2)`` of what is left of the torque that moves the segments (net
    less gravity and load), root mean square. Where that is less than `WORTH` of the range of the net torque at every joint,
    the share counts in proportion: a body that lands is carried by its load, not by the acceleration of its legs.
    """
    lost, used = motion.metrics.get("acceleration_filtered_share", float("nan")), used_frames(motion, torques) & frames
    if not used.any() or np.isnan(lost):
        return {}
    terms = torques.terms
    moving = (terms.net - terms.gravity - terms.external)[used]
    size_nm = np.maximum(np.ptp(terms.net[used], axis=0), np.finfo(float).tiny)
    taken = lost / np.sqrt(max(1.0 - lost**2, 1e-6)) * np.sqrt((moving**2).mean(axis=0)) / size_nm
    return {"acceleration_lost_share": float(lost * min(taken.max() / WORTH, 1.0))}


def torque_metrics(motion: ChainMotion, torques: Torques, frames: BoolArray | None = None) -> dict[str, float]:
    """Metrics of the torques.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    frames : ndarray of bool, shape (n_frames,), optional
        Judged frames; all by default.

    Returns
    -------
    dict of str to float
        Over the judged frames: largest closures of torque and power, relative difference of powers and rate of energy, and
        the share of frames that the summary leaves out.

    Raises
    ------
    LoadError
        No frame has a known torque.
    """
    known = known_frames(torques)
    if not known.any():
        raise LoadError(
            "no frame has a known torque: the foot is on the ground without a separate plate, or a segment points out of "
            f"the plane; see the notes, give plates.assignment, another plane, or {PART_OF_TRIAL}"
        )
    frames = np.ones(len(known), dtype=bool) if frames is None else frames
    used = used_frames(motion, torques)
    return {
        "closure_nm": float(np.abs(torques.closure_nm[known & frames]).max(initial=0.0)),
        "power_closure_w": float(np.abs(torques.powers.residual[known & frames]).max(initial=0.0)),
        "energy_rate_share": _energy_rate_share(motion, torques, used & frames),
        "unused_share": 1.0 - float(used[frames].mean()) if frames.any() else 1.0,
    }


def limit_metrics(
    motion: ChainMotion, torques: Torques, frames: BoolArray, *, body_mass_kg: float
) -> dict[str, dict[str, float]]:
    """Largest angles, torques and powers of each joint, to compare with limits.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    torques : Torques
        Its torques.
    frames : ndarray of bool, shape (n_frames,)
        Judged frames; those with edge effects or unknown torque are left out.
    body_mass_kg : float
        Body mass of the subject.

    Returns
    -------
    dict of str to dict of str to float
        Largest net torque and power per body mass, N m/kg and W/kg, and largest flexion and extension, deg, by joint; empty
        without a frame.
    """
    used = used_frames(motion, torques) & frames
    if not used.any():
        return {}
    flexion = np.degrees(motion.flexion.of(motion.kinematics.angle_rad[used]))
    found = {
        "torque_nm_kg": np.abs(torques.terms.net[used]).max(axis=0) / body_mass_kg,
        "power_w_kg": np.abs(torques.powers.joint[used]).max(axis=0) / body_mass_kg,
        "flexion_deg": flexion.max(axis=0),
        "extension_deg": -flexion.min(axis=0),
    }
    return {name: dict(zip(motion.joints, values.tolist(), strict=True)) for name, values in found.items()}


def _energy_rate_share(motion: ChainMotion, torques: Torques, used: BoolArray) -> float:
    """Rms difference of powers and rate of energy, relative.

    The energy comes from angles and velocities, the powers from accelerations: the two agree where the derivatives are
    consistent. Loads and segment parameters do not matter.
    """
    energy = torques.energies.total
    if len(energy) <= 2 * differentiation_reach(8):
        return float("nan")
    rate = first_derivative(energy, rate_hz=motion.rate_hz, accuracy=8)  # energy has twice the motion's frequencies
    counted = used & ~np.isnan(rate)
    if not counted.any():
        return float("nan")
    off, size = (float(np.sqrt((values[counted] ** 2).mean())) for values in (torques.powers.total - rate, rate))
    return off / max(size, RESTING_W)


# ---- misfits that the stated errors of joint centres and skin give ----
# Errors of `uncertainty` move the joint centres of a chain. How the lengths of its segments vary and how the sides differ follow from
# them to first order, in the same directions as the bands of the torques: a metric judges what they do not explain.


@dataclass(frozen=True)
class Stated:
    """Misfits with exactly the stated errors.

    Attributes
    ----------
    beyond : float
        Part of the lengths' variation that such errors do not explain, as a share of its root mean square.
    sides_m2 : ndarray of shape (n_segments + 2, n_segments + 2)
        Covariance of the differences between left and right: of the segments' lengths, and of the place of the first joint
        upwards and along the way, m squared.
    centres_m : ndarray of shape (n_segments + 2, n_directions)
        The same differences with errors of one side's joint centres, two directions for each, m.
    """

    beyond: float
    sides_m2: FloatArray
    centres_m: FloatArray


def stated_misfits(motion: ChainMotion, limb: Limb, settings: Settings) -> Stated:
    """Misfits of a limb's motion with exactly the stated errors.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    limb, settings
        Chain, side and marker set; sizes of the errors.

    Returns
    -------
    Stated
        All is beyond where no source of such errors is switched on, or no frame has an orientation.

    Notes
    -----
    With errors of the directions d the lengths are ``sum_d z_d J_d`` with independent normal numbers z of variance 1. In the
    eigenvectors of the Gram matrix of J, least squares give z; the sum of squares of those with an effect above `FELT_M` is a
    chi-square variable. Below its limit the variation that they explain is not beyond, nor is that of noise, nor the mean of smaller
    effects; above it, all is.
    """
    analysed = AnalysedLimb(motion.part(slice(None, None, max(len(motion.time_s) // FRAMES, 1))), limb, settings)
    angle = analysed.motion.kinematics.angle_rad
    known = ~np.isnan(angle).any(axis=1)
    n, body_m2 = motion.chain.n_links, BODY_M**2 * np.eye(motion.chain.n_links + 2)
    errors = InputErrors.together([centre_errors(analysed), soft_tissue_errors(analysed)])
    errors = errors.only([k for k, each in enumerate(errors.directions) if each.source not in settings.uncertainty.off])
    if not (known.any() and errors.directions):
        return Stated(1.0, body_m2, np.zeros((n + 2, 0)))
    joint_m = errors.joint_m[..., known]
    direction = unit_vectors(np.cumsum(angle[known], axis=1).T)
    longer = (np.diff(joint_m, axis=0) * np.conj(direction)[:, None]).real  # (n_links, n_directions, n_frames)
    first = joint_m[0].mean(axis=1)
    means = np.vstack([longer.mean(axis=2), first.imag, first.real])
    return Stated(
        beyond=_beyond(longer, analysed.motion.segment_length_m[known].T, motion.metrics.get("noise_m", 0.0)),
        sides_m2=2.0 * means @ means.T + body_m2,
        centres_m=means[:, [each.source == "joint_centres" for each in errors.directions]],
    )


def _beyond(longer_m: FloatArray, length_m: FloatArray, noise_m: float) -> float:
    """Share of the lengths' variation that the directions do not explain.

    From the change of the lengths with each direction, (n_links, n_directions, n_frames), and the lengths, (n_links, n_frames).
    """
    size, n_directions = length_m.size, longer_m.shape[1]
    by_direction = (longer_m - longer_m.mean(axis=2, keepdims=True)).swapaxes(0, 1).reshape(n_directions, -1)
    varying = (length_m - length_m.mean(axis=1, keepdims=True)).ravel()
    effect_m2, vectors = np.linalg.eigh(by_direction @ by_direction.T / size)
    felt = effect_m2 > FELT_M**2
    square_m2 = float(varying @ varying / size)
    if not (felt.any() and square_m2):
        return 1.0
    unfelt_m2 = float(effect_m2[~felt].sum())  # their mean: each times the square of a normal number
    effect_m2, z = effect_m2[felt], vectors[:, felt].T @ (by_direction @ varying / size) / effect_m2[felt]
    explained_m2, n = float(effect_m2 @ z**2), int(felt.sum())
    explains = float(z @ z) < n * chi_square_over_mean(n)
    rest_m2 = max(square_m2 - explained_m2 - unfelt_m2 - 2.0 * float(np.nan_to_num(noise_m)) ** 2, 0.0)
    return float(np.sqrt(rest_m2 / square_m2)) if explains else 1.0


def chi_square_over_mean(freedom: float, level: float = LEVEL) -> float:
    """Limit of a chi-square variable over its mean (Wilson and Hilferty 1931).

    Examples
    --------
    >>> round(5.0 * chi_square_over_mean(5.0, 0.95), 1)  # tables: 11.07
    11.0
    """
    return (1.0 - 2.0 / (9.0 * freedom) + NormalDist().inv_cdf(level) * math.sqrt(2.0 / (9.0 * freedom))) ** 3


def sides_unlike_factor(difference_m: FloatArray, stated: Stated) -> float:
    """Difference between the sides over its limit with exactly the stated errors.

    Parameters
    ----------
    difference_m : ndarray of shape (n,)
        Differences, m, in the order of `Stated.sides_m2`; the last may be left out.
    stated : Stated
        Their covariance, and their parts by joint centre.

    Returns
    -------
    float
        The largest of these roots of a chi-square variable over its limit: all differences together, and the part that the error of
        one joint centre explains, of two degrees of freedom each.
    """
    n = len(difference_m)
    covariance, centres = stated.sides_m2[:n, :n], stated.centres_m[:n]
    weighed, explained = np.linalg.solve(covariance, np.column_stack([difference_m, centres])), [0.0]
    for k in range(0, centres.shape[1], 2):
        part = slice(k, k + 2)
        score = centres[:, part].T @ weighed[:, 0]
        explained.append(float(score @ np.linalg.pinv(centres[:, part].T @ weighed[:, 1:][:, part]) @ score))
    together = difference_m @ weighed[:, 0] / (n * chi_square_over_mean(n, SIDES_LEVEL))
    alone = max(explained) / (-2.0 * np.log((1.0 - SIDES_LEVEL) / max(centres.shape[1] // 2, 1)))
    return float(np.sqrt(max(together, alone)))

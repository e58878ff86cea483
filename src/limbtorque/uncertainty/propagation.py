"""Linear propagation of input errors to every torque term.

Torques and terms are linear in the inertial parameters (`limbtorque.chain.linear`); along all other directions the
derivatives are taken at the measured motion: of the fitted chain with its joints, of the angles' derivatives by the same
differences as those of the angles, and of the terms with angles and load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from limbtorque.arrays import FloatArray, runs
from limbtorque.chain.kinematics import unit_vectors
from limbtorque.chain.linear import (
    MotionChange,
    change_of_load_torque,
    change_of_terms,
    coupling_of,
    inertial_parameters,
    number_of_terms,
    shape_with_kinds,
    term_regressor,
    terms_of_constants,
    with_kinds,
)
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.study.options.uncertainty import Source
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.analysed_limb import AnalysedLimb
from limbtorque.uncertainty.bands import Direction, InputErrors, ParameterErrors, SumBands, TorqueBands
from limbtorque.uncertainty.filter_loss import (
    LOST_JOINTS,
    LOST_LOADS,
    FilterLoss,
    factors_over_time,
    filter_errors,
    loss_course,
    variance_of_loss,
    without_noise,
)
from limbtorque.uncertainty.input_errors import (
    centre_errors_m,
    following_load,
    length_shares,
    plate_errors,
    segment_errors,
)
from limbtorque.uncertainty.marker_noise import (
    MarkerNoise,
    marker_noise,
    noise_bands,
    product_noise,
    without_velocity_noise,
)

STEP = 1e-3  # of the differences of A and b, which are polynomials of at most the third degree
FRAMES_AT_A_TIME = 256  # the changes of all terms in all directions take 15 kB a frame, and should stay in the cache


def torque_bands(
    motion: ChainMotion,
    limb: Limb,
    settings: Settings,
    *,
    weights: Mapping[str, FloatArray] | None = None,
) -> TorqueBands:
    """Uncertainty of all torques, terms and terms by kind of a trial, to first order.

    Parameters
    ----------
    motion : ChainMotion
        The motion and its load.
    limb : Limb
        Chain, side, marker set and measured parameters.
    settings : Settings
        Errors of the inputs, and the settings of the analysis.
    weights : mapping of str to ndarray of shape (n_frames,), optional
        Weights of the frames in sums whose uncertainty is needed, too: ``1 / n`` for a mean, ``1 / rate`` for an integral.
        Frames of weight 0 do not count, whatever they hold.

    Returns
    -------
    TorqueBands
        NaN where the torques are NaN.

    Raises
    ------
    SettingsError
        The kind of a landmark has no error.

    Notes
    -----
    Left out are the errors of the plane's direction in the load, and, for loads of the settings, of the load itself. Products
    of two noisy velocities are of second order (`marker_noise.product_noise`).
    """
    weights = weights or {}
    noise = marker_noise(AnalysedLimb(motion, limb, settings))
    likely = without_velocity_noise(motion, noise)
    errors = replace(trial_errors(motion, limb, settings, noise=noise), likely=likely)
    directions = tuple(errors.directions)
    shape = shape_with_kinds(motion.chain.n_links)
    by_source = {each.source: np.zeros((*shape, len(motion.time_s))) for each in directions}
    lost_joints = np.zeros((*shape, len(motion.time_s)))
    changes = {name: np.zeros((*shape, len(directions))) for name in weights}
    for some, start, terms in errors.changes():
        rows = with_kinds(terms)
        for source, first, last in _blocks(directions[start : start + rows.shape[2]]):
            part = rows[:, :, first:last]
            by_source[source][..., some] += np.einsum("ijdt,ijdt->ijt", part, part)
            if source == "filter":
                part = part[:, :, : len(LOST_JOINTS)]
                lost_joints[..., some] += np.einsum("ijdt,ijdt->ijt", part, part)
        for name, weight in weights.items():
            used = np.flatnonzero(weight[some])
            changes[name][..., start : start + rows.shape[2]] += rows[..., used] @ weight[some][used]
    by_noise = noise_bands(likely, noise, weights=weights)
    _sums_in_phase(changes, errors, weights, by_noise.sums_in_loss)
    if errors.loss is not None and noise is not None:
        left = variance_of_loss(lost_joints, by_noise.in_loss, errors.loss, likely)
        by_source["filter"] += left - lost_joints
    products = product_noise(motion, noise, errors.velocity_covariance())
    by_source["marker_noise"] = by_noise.variance + products.variance_nm2
    together = noise.gains.together_in_squares() if noise else 0.0
    sums = {}
    for name, weight in weights.items():
        used = np.flatnonzero(weight)
        of_products = together * (products.variance_nm2[..., used] @ weight[used] ** 2)
        variance = (changes[name] ** 2).sum(axis=2) + by_noise.sums[name] + of_products
        sums[name] = SumBands(changes[name], variance, products.bias_nm[..., used] @ weight[used])
    return TorqueBands(directions, by_source, products.bias_nm, sums)


def _sums_in_phase(
    changes: dict[str, FloatArray],
    errors: TrialErrors,
    weights: Mapping[str, FloatArray],
    noise: Mapping[str, FloatArray],
) -> None:
    """Set the filter's loss in sums over frames, with its phase, in place.

    Frame by frame the rate of change stands for the frames in which the loss passes zero at another time than its estimate,
    and derivatives are estimated from the position. In a sum neither would cancel; the filter shifts no phase, and the sum
    of an acceleration is the change of a velocity. The variances of the noise in these sums are taken off.
    """
    places = {each: k for k, each in enumerate(errors.directions) if each in (*LOST_JOINTS, *LOST_LOADS)}
    for change in changes.values():
        for each, k in places.items():
            change[..., k] *= np.sqrt(2.0) if each == LOST_LOADS[0] else 0.0
    if errors.estimated is None:
        return
    start = places[LOST_JOINTS[0]]
    for some, part in errors.stretches():
        rows = with_kinds(np.sqrt(2.0) * errors.estimated.rows(part, some))
        for name, weight in weights.items():
            used = np.flatnonzero(weight[some])
            changes[name][..., start : start + 1] += rows[..., used] @ weight[some][used]
    for name, change in changes.items():
        loss = change[..., start]
        change[..., start] = np.sign(loss) * np.sqrt(without_noise(loss**2, noise[name]))


@dataclass(frozen=True)
class TrialErrors:
    """Errors of a trial's inputs, prepared for propagation in parts.

    Attributes
    ----------
    analysed : AnalysedLimb
        The motion with the settings it was analysed with.
    parameters : ParameterErrors
        Errors of the inertial parameters.
    inputs : tuple of InputChange
        Errors of joints and load.
    likely : ChainMotion, optional
        Motion at which the derivatives are taken; that of `analysed` by default.
    loss : FilterLoss, optional
        Course that the changes by the filter have; None without a filter.
    estimated : InputChange, optional
        Loss of the joints as it is estimated, without that course.
    """

    analysed: AnalysedLimb
    parameters: ParameterErrors
    inputs: tuple[InputChange, ...]
    likely: ChainMotion | None = None
    loss: FilterLoss | None = None
    estimated: InputChange | None = None

    @property
    def directions(self) -> list[Direction]:
        """All directions."""
        return [*self.parameters.directions, *(each for some in self.inputs for each in some.errors.directions)]

    def changes(self, frames_at_a_time: int | None = None) -> Iterator[tuple[slice, int, FloatArray]]:
        """Change of every torque term with each direction.

        Parameters
        ----------
        frames_at_a_time : int, optional
            Frames that are worked on together; `FRAMES_AT_A_TIME` by default.

        Yields
        ------
        some : slice
            Frames.
        start : int
            Place of the first direction among all.
        rows : ndarray of shape (n_joints, n_terms, n_some, n_frames)
            Rows as of `linear.term_rows`, N m, with each of some directions.
        """
        for some, part in self.stretches(frames_at_a_time):
            start, motion = len(self.parameters.directions), part.motion
            if start:
                regressor = term_regressor(motion.chain, motion.kinematics, gravity_m_s2=motion.gravity_m_s2)
                yield some, 0, np.asarray(self.parameters.change @ regressor)
            for each in self.inputs:
                yield some, start, each.rows(part, some)
                start += len(each.errors.directions)

    def stretches(self, frames_at_a_time: int | None = None) -> Iterator[tuple[slice, AnalysedLimb]]:
        """Frames processed together, and the limb with the motion for derivatives."""
        size, motion = frames_at_a_time or FRAMES_AT_A_TIME, self.likely or self.analysed.motion
        for first in range(0, len(motion.time_s), size):
            some = slice(first, min(first + size, len(motion.time_s)))
            yield some, replace(self.analysed, motion=motion.part(some))

    def velocity_covariance(self) -> FloatArray:
        """Covariance of the joint velocities' errors in all directions.

        Shape (n_links, n_links, n_frames), rad^2/s^2.
        """
        n_links = self.analysed.motion.chain.n_links
        covariance = np.zeros((n_links, n_links, len(self.analysed.motion.time_s)))
        for each in self.inputs:
            if each.motion is not None:
                change = np.nan_to_num(each.motion.velocity_rad_s)
                covariance += np.einsum("adt,bdt->abt", change, change)
        return covariance


@dataclass(frozen=True)
class InputChange:
    """Errors of joints and load with the resulting change of motion.

    Attributes
    ----------
    errors : InputErrors
        The errors; their joints are those from which the levers of loads are taken.
    motion : MotionChange or None
        Change of the motion; None where the joints do not change.
    length_m : ndarray of shape (n_links, n_directions)
        Change of the lengths, m.
    constants : pair of ndarray or None
        Change of A and b with the lengths, as for `linear.terms_of_constants`; None where these stay.
    """

    errors: InputErrors
    length_m: FloatArray
    motion: MotionChange | None = None
    constants: tuple[FloatArray, FloatArray] | None = None

    def alone(self, which: slice) -> InputChange:
        """Selected directions of the joints only, with the lengths of the trial."""
        errors, motion = self.errors, self.motion
        own = InputErrors.of_joints(errors.directions[which], errors.joint_m[:, which])
        changed = None if motion is None else MotionChange(*(each[:, which] for each in vars(motion).values()))
        return InputChange(own, np.zeros((len(self.length_m), len(own.directions))), changed)

    def with_loss(self, lost: slice, loss: FilterLoss, factors: FloatArray) -> InputChange:
        """Errors with the time course of the filter's loss.

        Parameters
        ----------
        lost : slice
            The two directions of `filter_loss.filter_errors`.
        loss : FilterLoss
            Its course.
        factors : ndarray of shape (3, n_frames)
            From `filter_loss.factors_over_time`: velocity and acceleration follow from the lost position, which has less noise
            than its derivatives, the velocity with that of the other direction.
        """
        errors, motion = self.errors, self.motion
        if motion is None:
            return self
        joint_m, length_m = errors.joint_m.copy(), self.length_m.copy()
        angle, velocity, acceleration, base = (each.copy() for each in vars(motion).values())
        position, speed, change = (factor * loss.amplitude for factor in factors)
        base[:, lost] = -change * np.stack([joint_m[0, lost].real, joint_m[0, lost].imag])
        acceleration[:, lost] = -change * angle[:, lost]
        velocity[:, lost] = speed * np.stack([-1.0, 1.0])[:, None] * angle[:, lost][:, ::-1]
        joint_m[:, lost] *= position
        angle[:, lost] *= position
        length_m[:, lost] = 0.0  # the loss comes and goes, and the lengths are those of the whole trial
        constants = self.constants
        if constants is not None:
            constants = constants[0].copy(), constants[1].copy()
            constants[0][lost], constants[1][lost] = 0.0, 0.0
        errors, motion = replace(errors, joint_m=joint_m), MotionChange(angle, velocity, acceleration, base)
        return replace(self, errors=errors, motion=motion, length_m=length_m, constants=constants)

    def rows(self, part: AnalysedLimb, some: slice) -> FloatArray:
        """Change of every term over some frames.

        Parameters
        ----------
        part : AnalysedLimb
            The limb with the motion of these frames.
        some : slice
            The frames.
        """
        motion, gravity = part.motion, part.motion.gravity_m_s2
        external = external_change(part, self.errors.part(some))
        if self.motion is None:
            n = motion.chain.n_links
            rows = np.zeros((n, number_of_terms(n), *external.shape[1:]))
        else:
            constants = motion.chain.coupling[None], motion.chain.first_moment[None]
            rows = change_of_terms(*constants, motion.kinematics, self.motion.part(some), gravity_m_s2=gravity)
        if self.constants is not None:
            rows += terms_of_constants(*self.constants, motion.kinematics, gravity_m_s2=gravity)
        rows[:, -1] += external
        rows[:, 0] += external
        return rows


def trial_errors(
    motion: ChainMotion, limb: Limb, settings: Settings, *, noise: MarkerNoise | None = None
) -> TrialErrors:
    """Errors of all inputs of a trial.

    Parameters
    ----------
    motion, limb, settings
        As in `torque_bands`.
    noise : MarkerNoise, optional
        Noise of the trial, where it is known already.
    """
    analysed = AnalysedLimb(motion, limb, settings)
    of_joints = (centre_errors, soft_tissue_errors, gap_errors, plane_errors, filter_errors)
    inputs = [InputErrors.together([errors_of(analysed) for errors_of in of_joints])]
    if limb.meets_ground(settings) and not limb.load and motion.load.status.any():
        inputs.append(plate_errors(motion, settings))

    def switched_on(directions: Sequence[Direction]) -> list[int]:
        return [k for k, each in enumerate(directions) if each.source not in settings.uncertainty.off]

    parameters = segment_errors(motion.chain, limb, settings)
    inputs = [each.only(switched_on(each.directions)) for each in inputs]
    errors = TrialErrors(
        analysed,
        parameters.only(switched_on(parameters.directions)),
        tuple(_input_change(analysed, each) for each in inputs if each.directions),
    )
    return _with_loss(errors, noise or marker_noise(analysed))


def _with_loss(errors: TrialErrors, noise: MarkerNoise | None) -> TrialErrors:
    """Errors that include the time course of the filter's loss."""
    analysed, smoother = errors.analysed, errors.analysed.smoother
    energy = 0.0 if noise is None else np.nan_to_num(noise.joint_m2 * noise.moments[1, 2])
    for number, change in enumerate(errors.inputs):
        places = [k for k, each in enumerate(change.errors.directions) if each in LOST_JOINTS]
        if places and smoother is not None:
            lost = slice(places[0], places[-1] + 1)
            motion, cutoffs = analysed.motion, analysed.cutoffs
            loss = loss_course(motion, analysed.settings, change.errors.joint_m[:, lost], energy, cutoffs)
            inputs = list(errors.inputs)
            inputs[number] = change.with_loss(lost, loss, factors_over_time(smoother, cutoffs, motion.rate_hz))
            return replace(
                errors, inputs=tuple(inputs), loss=loss, estimated=change.alone(slice(lost.start, lost.start + 1))
            )
    return errors


def external_change(analysed: AnalysedLimb, errors: InputErrors) -> FloatArray:
    """Change of the external torques, shape (n_joints, n_directions, n_frames), N m.

    Parameters
    ----------
    analysed : AnalysedLimb
        The limb with its load.
    errors : InputErrors
        Errors of the load, and of the joints from which its levers are taken.
    """
    motion, force_n, moment_nm = analysed.motion, errors.force_n, errors.moment_nm
    if (load := analysed.limb.external_load(analysed.settings)) is not None:  # it follows the joints it is attached to
        more_n, more_nm = following_load(motion, load, errors.joint_m)
        force_n, moment_nm = force_n + more_n, moment_nm + more_nm
    return change_of_load_torque(
        motion.joint_m,
        motion.load.force_n,
        joint_change_m=errors.joint_m[: motion.chain.n_links],
        force_change_n=force_n,
        moment_change_nm=moment_nm,
    )


def _input_change(analysed: AnalysedLimb, errors: InputErrors) -> InputChange:
    """Errors of joints and load with the resulting change of motion."""
    if not errors.joint_m.any():
        return InputChange(errors, np.zeros((analysed.motion.chain.n_links, len(errors.directions))))
    fit = analysed.fit_change(errors.joint_m)
    levers = errors if analysed.settings.motion.angles == "inertial_chain" else replace(errors, joint_m=fit.joint_m)
    constants = _change_of_constants(analysed, fit.length_m.T) if fit.length_m.any() else None
    return InputChange(levers, fit.length_m, analysed.motion_change(fit), constants)


def _change_of_constants(analysed: AnalysedLimb, length_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Change of A and b with segment lengths and length-dependent parameters."""
    chain, shares = analysed.motion.chain, length_shares(analysed.limb, analysed.settings)
    relative = length_m / chain.length_m
    com_m, inertia = chain.com_m * shares["com"] * relative, chain.inertia_kgm2 * shares["inertia"] * relative
    turning = inertia + 2.0 * chain.mass_kg * chain.com_m * com_m
    change = np.hstack([np.zeros_like(com_m), chain.mass_kg * com_m, turning])
    at = inertial_parameters(chain)
    ahead, behind = (coupling_of(at + step * change, chain.length_m + step * length_m) for step in (STEP, -STEP))
    return (ahead[0] - behind[0]) / (2.0 * STEP), (ahead[1] - behind[1]) / (2.0 * STEP)


def _blocks(directions: tuple[Direction, ...]) -> Iterator[tuple[Source, int, int]]:
    """Source, start and end of each run of directions of one source."""
    start = 0
    for k in range(1, len(directions) + 1):
        if k == len(directions) or directions[k].source != directions[start].source:
            yield directions[start].source, start, k
            start = k


# --- errors of the joints ------------------------------------------------------------------------------------------------


def centre_errors(analysed: AnalysedLimb) -> InputErrors:
    """Errors of joint centre placement, which move with the proximal segment.

    Parameters
    ----------
    analysed : AnalysedLimb
        The limb, with the standard deviation of each joint centre and of the endpoint along each axis.

    Returns
    -------
    InputErrors
        Two directions for each joint centre: along the segment proximal of it, and across. The first joint's error keeps its
        direction in the plane, as the chain does not know how the trunk turns.
    """
    sizes_m = np.array(centre_errors_m(analysed.limb, analysed.settings))
    errors = _moved_centres(analysed, "joint_centres", {"": sizes_m[:, None]})
    return errors.only(np.flatnonzero(np.repeat(sizes_m, 2)).tolist())


def soft_tissue_errors(analysed: AnalysedLimb) -> InputErrors:
    """Soft-tissue movement of joint centres, a random function of joint angle.

    Parameters
    ----------
    analysed : AnalysedLimb
        The limb, with amplitude and range.

    Returns
    -------
    InputErrors
        Four directions for each joint centre, with the axes of `centre_errors`: amplitude s times ``cos(a/l)`` and
        ``sin(a/l)`` of the joint's angle a, the last joint's for the endpoint. Together a stationary random function of the
        angle with variance s^2 and covariance ``s^2 cos(d/l)``, so that it changes by s over the range ``l pi / 3``.
    """
    motion, size_m = analysed.motion, analysed.sizes["soft_tissue_m"]
    scale_rad = np.radians(analysed.sizes["soft_tissue_range_deg"]) / (np.pi / 3.0)
    flexion = motion.flexion.of(motion.kinematics.angle_rad).T
    phase = np.concatenate([flexion, flexion[-1:]]) / scale_rad
    errors = _moved_centres(analysed, "soft_tissue", {" even": size_m * np.cos(phase), " odd": size_m * np.sin(phase)})
    return errors.only(range(len(errors.directions) if size_m else 0))


def gap_errors(analysed: AnalysedLimb) -> InputErrors:
    """Errors of joint centres in frames with a filled marker.

    Parameters
    ----------
    analysed : AnalysedLimb
        The limb, whose motion has the largest expected error of a filled gap (``metrics["gap_error_m"]``).

    Returns
    -------
    InputErrors
        Two directions for each joint centre, as of `centre_errors`: half a wave over each run of such frames, filtered as the
        joint centres were. Which marker was filled is not known here: all joint centres are taken to be wrong.
    """
    motion = analysed.motion
    size_m = analysed.sizes["gaps"] * float(np.nan_to_num(motion.metrics.get("gap_error_m", 0.0)))
    wave = np.zeros(len(motion.time_s))
    for start, stop in runs(motion.filled):
        wave[start:stop] = np.sin(np.pi * np.arange(1, stop - start + 1) / (stop - start + 1))
    wave = size_m * analysed.filtered(wave[:, None])[:, 0]
    errors = _moved_centres(analysed, "gaps", {"": wave})
    return errors.only(range(len(errors.directions) if size_m and motion.filled.any() else 0))


def _moved_centres(analysed: AnalysedLimb, source: Source, waves_m: Mapping[str, FloatArray]) -> InputErrors:
    """Errors of all joint centres along and across their proximal segments.

    `waves_m` has amplitudes, m, for all centres and frames by the end of the direction's name; the segment before the first
    joint is the plane's x axis.
    """
    orientation_rad = np.cumsum(analysed.motion.kinematics.angle_rad, axis=1).T
    frames = np.concatenate([np.ones((1, orientation_rad.shape[1])), unit_vectors(orientation_rad)])
    n, across = len(frames), {"along": 1.0, "across": 1j}
    error = np.zeros((n, n, len(across), len(waves_m), frames.shape[1]), dtype=complex)
    for a, turn in enumerate(across.values()):
        for w, wave_m in enumerate(waves_m.values()):
            error[range(n), range(n), a, w] = turn * (wave_m * frames)
    names = (
        f"{analysed.limb.side} {name} {axis}{end}" for name in analysed.landmarks for axis in across for end in waves_m
    )
    return InputErrors.of_joints([Direction(source, name) for name in names], error.reshape(n, -1, frames.shape[1]))


def plane_errors(analysed: AnalysedLimb) -> InputErrors:
    """Error of the plane: what it costs in the trial, or a turn about its y axis.

    Parameters
    ----------
    analysed : AnalysedLimb
        The limb, with lengths and inclinations of its segments.

    Returns
    -------
    InputErrors
        The cost, where moments about flexion axes are known; of chains with other joints and of trials without moments in
        space a turn, which moves each joint along x by its distance from the first one along the plane's normal. The
        part of the load along the normal is not known here, and left out.
    """
    motion, turn, cost_nm = analysed.motion, np.radians(analysed.sizes["plane_deg"]), analysed.motion.plane_cost_nm
    out_m = np.cumsum(motion.segment_length_m * np.sin(motion.segment_tilt_rad), axis=1)
    out_m = np.hstack([np.zeros((len(out_m), 1)), out_m])
    moved = turn * analysed.filtered(out_m).T[:, None] + 0j
    turned = InputErrors.of_joints([Direction("plane")], moved).only([0] if turn else [])
    if cost_nm is None:
        return turned
    still = InputErrors.of_joints([Direction("plane", "cost")], 0.0 * moved)
    # where a joint's axis is unknown in some frames, its cost has the size of the others
    size_nm = np.sqrt(np.nan_to_num(np.square(cost_nm)).sum(axis=0) / np.maximum((~np.isnan(cost_nm)).sum(axis=0), 1))
    cost = replace(still, moment_nm=np.where(np.isnan(cost_nm), size_nm, cost_nm).T[:, None])
    return InputErrors.together([turned, cost]) if np.isnan(cost_nm).all(axis=0).any() else cost

"""Samples of torque terms along the error directions of linear bands.

Needed for nonlinear statistics, such as the time of a peak. Joints, angles and their derivatives change linearly with
the errors, as in `limbtorque.uncertainty.propagation`, and the terms to first order with these, for the inertial constants of
each sample, so that they add up to its net torque.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limbtorque.arrays import BoolArray, FloatArray
from limbtorque.chain.linear import (
    MotionChange,
    change_of_terms,
    coupling_of,
    inertial_parameters,
    number_of_terms,
    terms_of_constants,
)
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.tables.study_columns import SAMPLED
from limbtorque.uncertainty.bands import LEVEL, Direction, InputErrors, SharedBy
from limbtorque.uncertainty.input_errors import length_shares
from limbtorque.uncertainty.marker_noise import joint_noise_m
from limbtorque.uncertainty.propagation import TrialErrors, external_change

VALUES_AT_A_TIME = 250_000  # of all terms of some samples: 2 MB, which stay in the cache
QUANTILES = (0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0)


@dataclass(frozen=True)
class Draw:
    """Size and seed of the samples of a trial.

    Attributes
    ----------
    n_samples : int
        Number of samples, a power of two.
    seed : int
        Seed of the study.
    subject, trial : str
        Names of subject and trial.
    """

    n_samples: int
    seed: int
    subject: str = ""
    trial: str = ""

    def __post_init__(self) -> None:
        """Refuse numbers at which the sequence is not balanced."""
        n = self.n_samples
        if n < 2 or n & (n - 1):
            raise ValueError(f"n_samples is {n}; expected a power of two, such as 512")

    def generator(self, source: str, shared_by: SharedBy, names: Sequence[str] = ()) -> np.random.Generator:
        """Generator of a source: the same for the same seed, owner and names."""
        owners: Mapping[SharedBy, str] = {"study": "", "subject": self.subject, "trial": self.trial}
        text = "\n".join([str(self.seed), source, shared_by, owners[shared_by], *names])
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def direction_numbers(directions: Sequence[Direction], draw: Draw) -> FloatArray:
    """Standard normal numbers for every direction of input error.

    Parameters
    ----------
    directions : sequence of Direction
        The directions of a trial.
    draw : Draw
        Number of samples, seed and owners.

    Returns
    -------
    ndarray of shape (n_samples, n_directions)
        Of mean 0 and variance 1.

    Notes
    -----
    The directions of a source are a block with a scrambled Sobol sequence of its own in an order of its own: Latin supercube
    sampling (Owen 1998, ACM Transactions on Modeling and Computer Simulation 8, 71-102). Its seed is that of the study
    with source, owner and names, so that trials with the same errors have the same numbers, in whatever order and session
    they are analysed.
    """
    numbers = np.empty((draw.n_samples, len(directions)))
    for source in dict.fromkeys(each.source for each in directions):
        places = [k for k, each in enumerate(directions) if each.source == source]
        names = [directions[k].name for k in places]
        generator = draw.generator(source, directions[places[0]].shared_by, names)
        numbers[:, places] = sobol_normal(generator, draw.n_samples, len(places))
    return numbers


def sobol_normal(generator: np.random.Generator, n_samples: int, n_directions: int) -> FloatArray:
    """Normal numbers of a Sobol sequence, shape (n_samples, n_directions).

    The sequence is scrambled, and in random order.
    """
    from scipy.special import ndtri  # slow imports that most studies do not need
    from scipy.stats import qmc

    uniform = qmc.Sobol(n_directions, rng=generator).random(n_samples)[generator.permutation(n_samples)]
    return np.asarray(ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12)))


@dataclass(frozen=True)
class SampledTorques:
    """Torques of a set of samples of a trial.

    Attributes
    ----------
    rows : ndarray of shape (n_joints, n_terms, n_samples, n_frames)
        Net torques and terms as of `linear.term_rows`, N m; NaN where those of the trial are.
    velocity_rad_s : ndarray of shape (n_joints, n_samples, n_frames)
        Joint velocities.
    """

    rows: FloatArray
    velocity_rad_s: FloatArray


def sampled_torques(errors: TrialErrors, draw: Draw) -> Iterator[SampledTorques]:
    """Net torques and terms of every sample, in sets of samples.

    Parameters
    ----------
    errors : TrialErrors
        Errors of the inputs of a trial.
    draw : Draw
        Number of samples, seed, and the names by which trials share their errors.

    Yields
    ------
    SampledTorques
        Of as many samples as fit into `VALUES_AT_A_TIME`.

    Notes
    -----
    The markers' noise is drawn for every frame and filtered as the markers were; all other errors come from
    `direction_numbers`.
    """
    motion = errors.analysed.motion
    n, n_frames = motion.chain.n_links, len(motion.time_s)
    size = max(VALUES_AT_A_TIME // (n * number_of_terms(n) * n_frames), 1)
    numbers, generator = direction_numbers(errors.directions, draw), draw.generator("marker_noise", "trial")
    noise_m = joint_noise_m(errors.analysed)
    x, y = motion.joint_m[:, :n].T[:, :, None]
    force_x, force_y = motion.load.force_n.T
    loaded = motion.load.status.any()
    external = x * force_y - y * force_x - motion.load.moment_about_origin_nm if loaded else 0.0 * x
    for first in range(0, draw.n_samples, size):
        drawn = numbers[first : first + size]
        change, by_load, longer_m = _change(errors, drawn)
        if noise_m.any():
            by_noise, load_by_noise = _noise_change(errors, noise_m, generator, len(drawn))
            change = MotionChange(*(a + b for a, b in zip(vars(change).values(), vars(by_noise).values(), strict=True)))
            by_load = by_load + load_by_noise
        constants = _constants(errors, drawn[:, : len(errors.parameters.directions)], longer_m)
        rows = terms_of_constants(*constants, motion.kinematics, gravity_m_s2=motion.gravity_m_s2)
        rows += change_of_terms(*constants, motion.kinematics, change, gravity_m_s2=motion.gravity_m_s2)
        rows[:, -1] = external + by_load if loaded else 0.0
        rows[:, 0] += rows[:, -1]
        yield SampledTorques(rows, motion.kinematics.velocity_rad_s.T[:, None] + change.velocity_rad_s)


def _change(errors: TrialErrors, numbers: FloatArray) -> tuple[MotionChange, FloatArray, FloatArray]:
    """Change of motion, external torques and lengths in each sample."""
    motion, n = errors.analysed.motion, errors.analysed.motion.chain.n_links
    shape = (len(numbers), len(motion.time_s))
    change = MotionChange(*(np.zeros((rows, *shape)) for rows in (n, n, n, 2)))
    external, longer_m = np.zeros((n, *shape)), np.zeros((len(numbers), n))
    start = len(errors.parameters.directions)
    for each in errors.inputs:
        own = numbers[:, start : start + len(each.errors.directions)]
        start += own.shape[1]
        parts = np.ascontiguousarray(each.errors.joint_m).view(float)  # real and imaginary, as `own` is real
        joint_m = (own @ parts).view(complex)
        sampled = InputErrors((), joint_m, own @ each.errors.force_n, own @ each.errors.moment_nm)
        external += external_change(errors.analysed, sampled)
        longer_m += own @ each.length_m.T
        if each.motion is not None:
            for total, part in zip(vars(change).values(), vars(each.motion).values(), strict=True):
                total += own @ part
    return change, external, longer_m


def _noise_change(
    errors: TrialErrors, noise_m: FloatArray, generator: np.random.Generator, n_samples: int
) -> tuple[MotionChange, FloatArray]:
    """Change of motion and external torques due to white noise of the joints."""
    analysed, n_frames = errors.analysed, len(errors.analysed.motion.time_s)
    drawn = generator.standard_normal((n_samples, 2, len(noise_m), n_frames)) * noise_m[:, None]
    filtered = analysed.filtered(drawn.reshape(-1, n_frames).T).T.reshape(drawn.shape)
    joint_m = (filtered[:, 0] + 1j * filtered[:, 1]).swapaxes(0, 1)
    fit = analysed.fit_change(joint_m, lengths=False)
    levers = joint_m if analysed.settings.motion.angles == "inertial_chain" else fit.joint_m
    return analysed.motion_change(fit), external_change(analysed, InputErrors.of_joints((), levers))


def _constants(errors: TrialErrors, numbers: FloatArray, longer_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Constants A and b of each sample's chain."""
    chain, shares = errors.analysed.motion.chain, length_shares(errors.analysed.limb, errors.analysed.settings)
    mass, moment, turning = np.split(inertial_parameters(chain) + numbers @ errors.parameters.change, 3, axis=1)
    relative = 1.0 + longer_m / chain.length_m
    com, about_com = relative ** shares["com"], relative ** shares["inertia"]
    carried = moment * chain.com_m
    turning = (turning - carried) * about_com + carried * com**2
    return coupling_of(np.hstack([mass, moment * com, turning]), chain.length_m + longer_m)


Statistics = dict[str, dict[str, FloatArray]]  # by window and column, each of shape (n_joints, n_terms, n_samples)


def sampled_statistics(
    errors: TrialErrors,
    draw: Draw,
    *,
    weights: Mapping[str, FloatArray],
    windows: Mapping[str, BoolArray],
    used: BoolArray,
) -> Statistics:
    """Statistics of every sample over every window.

    Parameters
    ----------
    errors : TrialErrors
        Errors of the inputs of a trial.
    draw : Draw
        Number of samples, seed and owners.
    weights : mapping of str to ndarray of shape (n_frames,)
        Weights of means and impulses, from `of_trial.window_weights`.
    windows : mapping of str to ndarray of bool, shape (n_frames,)
        Frames of each window, by its name; those without a used frame have no statistics.
    used : ndarray of bool, shape (n_frames,)
        Frames that the summary uses.

    Returns
    -------
    dict of str to dict of str to ndarray of shape (n_joints, n_terms, n_samples)
        By window, those of `tables.study_columns.SAMPLED`, defined as in `torques.summary.torque_summary`.
    """
    chosen = {name: np.flatnonzero(inside & used) for name, inside in windows.items()}
    parts: dict[str, list[dict[str, FloatArray]]] = {name: [] for name, frames in chosen.items() if frames.size}
    for samples in sampled_torques(errors, draw):
        for name, of_window in parts.items():
            frames = chosen[name]
            both = np.stack([weights[f"{name} mean"][frames], weights[f"{name} impulse"][frames]], axis=1)
            of_window.append(_statistics(samples, errors.analysed.motion.time_s[frames], frames, both))
    return {
        name: {column: np.concatenate([each[column] for each in of_window], axis=2) for column in of_window[0]}
        for name, of_window in parts.items()
    }


def with_samples(
    rows: Sequence[Mapping[str, Any]], statistics: Statistics, motion: ChainMotion
) -> list[dict[str, Any]]:
    """Rows of the torque summary with the uncertainty of the samples.

    Parameters
    ----------
    rows : sequence of dict
        From `of_trial.with_bands`: one for every window, joint and term.
    statistics : dict
        From `sampled_statistics`.
    motion : ChainMotion
        The motion.

    Returns
    -------
    list of dict
        The same rows; standard deviations, 95 % limits (quantiles of the samples) and certainty of signs are those of the
        samples, where the statistic is known. The shares of the sources stay those of the linear bands.
    """
    limits = {name: _limits(of_window) for name, of_window in statistics.items()}
    n_terms = {name: sum(row["window"] == name for row in rows) // len(motion.joints) for name in limits}
    count, added = dict.fromkeys(limits, 0), []
    for row in rows:
        name = row["window"]
        columns = {}
        if name in limits:
            joint, term = divmod(count[name], n_terms[name])
            count[name] += 1
            columns = _columns(row, {column: values[:, joint, term] for column, values in limits[name].items()})
        added.append({**row, **columns})
    return added


def _statistics(samples: SampledTorques, time_s: FloatArray, frames: Any, weights: FloatArray) -> dict[str, FloatArray]:
    """Statistics of a set of samples, each (n_joints, n_terms, n_samples)."""
    near = slice(frames[0], frames[-1] + 1) if frames[-1] - frames[0] == len(frames) - 1 else frames
    values = samples.rows[..., near]
    top, bottom = values.argmax(axis=-1), values.argmin(axis=-1)
    greatest, least = (np.take_along_axis(values, place[..., None], axis=-1)[..., 0] for place in (top, bottom))
    upwards = np.abs(greatest) >= np.abs(least)
    peak, peak_time_s = np.where(upwards, greatest, least), time_s[np.where(upwards, top, bottom)]
    still = peak == 0.0
    sums = values @ weights
    power = values * samples.velocity_rad_s[:, None, :, near]
    most, fewest = power.max(axis=-1), power.min(axis=-1)
    work = power @ weights[:, 1]
    positive = np.maximum(power, 0.0, out=power) @ weights[:, 1]
    return {
        "peak_nm": peak,
        "peak_time_s": np.where(still, np.nan, peak_time_s),
        "max_nm": greatest,
        "max_time_s": np.where(still, np.nan, time_s[top]),
        "min_nm": least,
        "min_time_s": np.where(still, np.nan, time_s[bottom]),
        "mean_nm": sums[..., 0],
        "impulse_nms": sums[..., 1],
        "peak_power_w": np.where(np.abs(most) >= np.abs(fewest), most, fewest),
        "max_power_w": most,
        "min_power_w": fewest,
        "positive_work_j": positive,
        "negative_work_j": work - positive,
    }


def _limits(statistics: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Standard deviation and limits of each statistic, shape (3, n_joints, n_terms)."""
    return {
        name: np.stack([values.std(axis=2, ddof=1), *np.quantile(values, QUANTILES, axis=2)])
        for name, values in statistics.items()
    }


def _columns(row: Mapping[str, Any], limits: Mapping[str, FloatArray]) -> dict[str, Any]:
    """Columns of the known statistics of a row."""
    columns: dict[str, Any] = {}
    for name in SAMPLED:
        if np.isnan(row[name]):
            continue
        (start, unit), (sd, low, high) = name.rsplit("_", 1), limits[name].tolist()
        columns |= {f"{start}_sd_{unit}": sd, f"{start}_low_{unit}": low, f"{start}_high_{unit}": high}
        if f"{start}_sign_certain" in row:
            columns[f"{start}_sign_certain"] = float(low > 0.0 or high < 0.0)
    return columns

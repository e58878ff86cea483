"""Errors of force plates: gain, offset, centre of pressure, synchronisation."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.inverse import ComplexArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.load import MEASURED, ExternalLoad
from limbtorque.study.options.loads import LoadModel, Spring
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.directions import Direction, InputErrors


def plate_errors(motion: ChainMotion, settings: Settings) -> InputErrors:
    """Errors of the ground reaction force.

    Parameters
    ----------
    motion : ChainMotion
        The motion, with the load of the plates.
    settings : Settings
        Sizes of the errors.

    Returns
    -------
    InputErrors
        Five directions, over the frames with a measured load: gain; offsets along x and y, at the centre of pressure; the
        centre of pressure along x; the delay of the plates.
    """
    size, load = settings.uncertainty.sizes, motion.load
    measured = (load.status == MEASURED).astype(float)
    force_n, moment_nm = np.nan_to_num(load.force_n).T * measured, np.nan_to_num(moment_about_origin(load)) * measured
    pressed = measured * (np.hypot(*force_n) > settings.plates.threshold_n)
    pressure_x = np.divide(moment_nm, force_n[1], out=np.zeros_like(moment_nm), where=pressed > 0.0)
    still = np.zeros_like(pressed)
    sizes = (
        size["plate_gain"],
        size["plate_offset_n"],
        size["plate_offset_n"],
        size["pressure_m"],
        size["synchronisation_s"],
    )
    force = [force_n, (pressed, still), (still, pressed), (still, still), -_rate(force_n, motion.rate_hz)]
    moment = [moment_nm, still, pressure_x * pressed, force_n[1] * measured, -_rate(moment_nm, motion.rate_hz)]
    directions = [
        Direction("plate_gain"),
        Direction("plate_offset", "x"),
        Direction("plate_offset", "y"),
        Direction("pressure"),
        Direction("synchronisation"),
    ]
    some = [k for k, size in enumerate(sizes) if size]
    scale = np.array(sizes)[some, None]
    n_frames = len(motion.time_s)
    return InputErrors(
        [directions[k] for k in some],
        np.zeros((len(motion.joints) + 1, len(some), n_frames), dtype=complex),
        scale * np.array([force[k] for k in some]).reshape(-1, 2, n_frames).swapaxes(0, 1),
        scale * np.array([moment[k] for k in some]).reshape(-1, n_frames),
    )


def moment_about_origin(load: ExternalLoad) -> FloatArray:
    """Moment of a load about the plane's origin, shape (n_frames,), N m."""
    x, y = load.point_m.T
    return np.asarray(x * load.force_n[:, 1] - y * load.force_n[:, 0] + load.couple_nm)


def _rate(values: FloatArray, rate_hz: float) -> FloatArray:
    """Rate of change along the last axis."""
    return np.gradient(values, 1.0 / rate_hz, axis=-1) if values.shape[-1] > 1 else np.zeros_like(values)


def following_load(motion: ChainMotion, load: LoadModel, joint_m: ComplexArray) -> tuple[FloatArray, FloatArray]:
    """Change of a load of the settings with errors of the joints it is computed from.

    Parameters
    ----------
    motion : ChainMotion
        The motion and its load.
    load : Force or Spring
        The load, fixed at a fraction of the last segment.
    joint_m : complex ndarray of shape (n_joints + 1, n_directions, n_frames)
        Errors of joint centres and endpoint, m.

    Returns
    -------
    force_n : ndarray of shape (2, n_directions, n_frames)
        Change of the force, N.
    moment_nm : ndarray of shape (n_directions, n_frames)
        Change of its moment about the plane's origin, N m.

    Notes
    -----
    A spring's force is ``c (anchor - p)`` with ``c = k (1 - l / r)``, where r is the distance in space; c is known from the
    force in the plane, and r from c.
    """
    moved = joint_m[-2] + load.fraction * (joint_m[-1] - joint_m[-2])
    force, point = (each[:, 0] + 1j * each[:, 1] for each in (motion.load.force_n, motion.load.point_m))
    change = np.zeros_like(moved)
    if isinstance(load, Spring):
        x, y = motion.plane.project(np.array(load.anchor_m))
        towards = (x + 1j * y) - point
        square = np.maximum(np.abs(towards) ** 2, np.finfo(float).tiny)
        stiff = (force * np.conj(towards)).real / square
        change = -stiff * moved
        if load.rest_length_m:
            distance = load.rest_length_m / np.maximum(1.0 - stiff / load.stiffness_n_m, 1e-9)
            taut = np.where(stiff > 0.0, load.stiffness_n_m * load.rest_length_m / distance**3, 0.0)
            change = change - taut * (np.conj(towards) * moved).real * towards
    moment = (np.conj(moved) * force).imag + (np.conj(point) * change).imag
    return np.stack([change.real, change.imag]), moment

"""Errors of segments and force plates, and error sizes of joint centres."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from limbtorque.arrays import ComplexArray, FloatArray
from limbtorque.chain.model import Chain
from limbtorque.motion.chain_motion import MEASURED, ChainMotion
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.motion.limb import Limb
from limbtorque.study.chains import Between, Carried, Functional, HipCentre
from limbtorque.study.options.reading import LoadModel, Spring
from limbtorque.study.options.uncertainty import CENTRE_KINDS, CentreKind, Uncertainty
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.bands import Direction, InputErrors, ParameterErrors

BOTH_SIDES = 2.0  # the right and the left segment of a kind have the same share of body mass


def segment_errors(chain: Chain, limb: Limb, settings: Settings) -> ParameterErrors:
    """Errors of the inertial parameters of a limb's chain.

    Parameters
    ----------
    chain : Chain
        The chain.
    limb : Limb
        Its segments, and which of their parameters were measured.
    settings : Settings
        Errors and the table of segment parameters.

    Returns
    -------
    ParameterErrors
        Directions of mass, centre of mass, inertia and body mass.

    Notes
    -----
    Shares of body mass ``s_k (1 + e_k)`` are divided by their sum over the body, so that the relative error of segment k
    is ``e_k - sum_j s_j e_j`` to first order. Both sides have the same errors. The moment of inertia of a table scales with
    the mass, so its error is of the radius of gyration alone.
    """
    sizes, rows = settings.uncertainty.sizes, [segment.row for segment in limb.model(settings).segments]
    correlation = sizes["segment_correlation"]
    measured = {
        quantity: np.array([f"{row}_{quantity}" in limb.measured for row in rows])
        for quantity in ("mass_kg", "com_m", "inertia_kgm2")
    }
    shares = BOTH_SIDES * np.array([row.mass for row in limb.segment_rows(settings)])
    closing = np.eye(len(rows)) - shares  # [k, j]: relative error of segment k with e_j
    free = ~measured["mass_kg"]
    # relative changes of the masses: of measured ones, of shares by the table, of the rest of the body, of body mass
    relative = np.concatenate(
        [
            np.diag(np.where(free, 0.0, sizes["measured_parameters"])),
            _correlated(free * sizes["segment_mass"], correlation) @ closing.T * free,
            (free * -(1.0 - shares.sum()) * sizes["rest_of_body_mass"])[None],
            (free * sizes["body_mass"])[None],
        ]
    )
    along = _correlated(np.where(measured["com_m"], 0.0, sizes["segment_com"] * chain.length_m), correlation)
    along = along + np.diag(np.where(measured["com_m"], sizes["measured_parameters"] * chain.com_m, 0.0))
    turning = np.where(measured["inertia_kgm2"], sizes["measured_parameters"], sizes["segment_inertia"])
    turning = _correlated(turning, correlation) * chain.inertia_kgm2
    # changes of (m, m d, I + m d^2)
    moment = chain.mass_kg * chain.com_m
    about_joint = np.where(measured["inertia_kgm2"], 0.0, chain.inertia_kgm2) + moment * chain.com_m
    change = np.concatenate(
        [
            np.hstack([relative * chain.mass_kg, relative * moment, relative * about_joint]),
            np.hstack([0.0 * along, chain.mass_kg * along, 2.0 * moment * along]),
            np.hstack([0.0 * turning, 0.0 * turning, turning]),
        ]
    )
    directions = [
        *(Direction("segment_mass", f"{row} measured") for row in rows),
        *(Direction("segment_mass", name) for name in (*rows, "rest of the body")),
        Direction("body_mass"),
        *(Direction("segment_com", row) for row in rows),
        *(Direction("segment_inertia", row) for row in rows),
    ]
    return ParameterErrors(directions, change).only(np.flatnonzero(change.any(axis=1)).tolist())


def _correlated(sizes: FloatArray, correlation: float) -> FloatArray:
    """Independent directions, as rows, of equally correlated errors of given sizes."""
    matrix = np.full((len(sizes), len(sizes)), correlation)
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(np.linalg.cholesky(matrix).T * sizes)


def length_shares(limb: Limb, settings: Settings) -> Mapping[str, FloatArray]:
    """Change of centres of mass and inertias with the lengths of their segments.

    Parameters
    ----------
    limb : Limb
        Its segments, and which of their parameters were measured.
    settings : Settings
        The chain.

    Returns
    -------
    dict of str to ndarray of shape (n_links,)
        ``"com"`` and ``"inertia"``: relative change over that of the length; 0 for measured parameters.
    """
    rows = [segment.row for segment in limb.model(settings).segments]
    free = {
        quantity: np.array([not {f"{row}_{quantity}", f"{row}_length_m"} & set(limb.measured) for row in rows], float)
        for quantity in ("com_m", "inertia_kgm2")
    }
    return {"com": free["com_m"], "inertia": 2.0 * free["inertia_kgm2"]}


def centre_errors_m(limb: Limb, settings: Settings) -> list[float]:
    """Standard deviation of each joint centre and of the endpoint along an axis, m.

    Parameters
    ----------
    limb : Limb
        Chain and marker set.
    settings : Settings
        Errors by kind and by landmark.
    """
    mapping, errors, name = limb.landmarks(settings), settings.uncertainty, limb.set_name(settings)
    return [centre_error_m(landmark, mapping, errors, name) for landmark in limb.model(settings).landmarks]


def centre_error_m(landmark: str, mapping: LandmarkMap, errors: Uncertainty, set_name: str = "") -> float:
    """Standard deviation of a landmark's position along an axis, m.

    Parameters
    ----------
    landmark, mapping, errors, set_name
        As in `centre_options`.
    """
    *_, size_m = centre_options(landmark, mapping, errors, set_name).values()
    return float(size_m)


def centre_options(
    landmark: str, mapping: LandmarkMap, errors: Uncertainty, set_name: str = ""
) -> dict[str, CentreKind | float]:
    """Options of `uncertainty` that set the error of a landmark, with values.

    Parameters
    ----------
    landmark : str
        The landmark.
    mapping : LandmarkMap
        Its rule.
    errors : Uncertainty
        Errors by kind and by landmark.
    set_name : str, optional
        Its marker set, which may have errors of its own.

    Returns
    -------
    dict of str to str or float
        That of the landmark, where it has one, and that of its kind, where no number is given; the last is a number, m.
    """
    source = mapping.resolve(landmark)
    given: dict[str, CentreKind | float] = {
        **{f"sets.{set_name}.{name}": size for name, size in errors.sets.get(set_name, {}).items() if name == source},
        **{f"landmarks.{name}": errors.landmarks[name] for name in (source, landmark) if name in errors.landmarks},
    }
    options = dict(
        list(given.items())[-1:]
    )  # the landmark's own goes before that of what stands for it, and of the set
    value = next(iter(options.values())) if options else _kind(landmark, mapping)
    if not isinstance(value, float):
        options[f"centre_{value}_m"] = errors.sizes[f"centre_{value}_m"]
    return options


def _kind(landmark: str, mapping: LandmarkMap) -> CentreKind:
    """Kind of a landmark's rule in the marker set."""
    rule = mapping.rules[mapping.resolve(landmark)]
    if isinstance(rule, Carried):  # what the cluster adds is in its residual, far smaller
        rule = rule.static
    if isinstance(rule, Functional):
        return "functional"
    if isinstance(rule, Between):
        return "between"
    if isinstance(rule, str):
        return "marker"
    if isinstance(rule, tuple):
        return "marker" if len(set(rule)) == 1 else "midpoint"
    method = rule.hip_centre if isinstance(rule, HipCentre) else rule.shoulder_centre
    return next(kind for kind in CENTRE_KINDS if method.startswith(f"{kind}_"))


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
    sizes, load = settings.uncertainty.sizes, motion.load
    measured = (load.status == MEASURED).astype(float)
    force_n, moment_nm = np.nan_to_num(load.force_n).T * measured, np.nan_to_num(load.moment_about_origin_nm) * measured
    pressed = measured * (np.hypot(*force_n) > settings.plates.threshold_n)
    pressure_x = np.divide(moment_nm, force_n[1], out=np.zeros_like(moment_nm), where=pressed > 0.0)
    still = np.zeros_like(pressed)
    changes = [  # direction, size, change of force and of moment
        (Direction("plate_gain"), sizes["plate_gain"], force_n, moment_nm),
        (Direction("plate_offset", "x"), sizes["plate_offset_n"], (pressed, still), still),
        (Direction("plate_offset", "y"), sizes["plate_offset_n"], (still, pressed), pressure_x * pressed),
        (Direction("pressure"), sizes["pressure_m"], (still, still), force_n[1] * measured),
        (
            Direction("synchronisation"),
            sizes["synchronisation_s"],
            -_rate(force_n, motion.rate_hz),
            -_rate(moment_nm, motion.rate_hz),
        ),
    ]
    errors = InputErrors(
        [direction for direction, *_ in changes],
        np.zeros((len(motion.joints) + 1, len(changes), len(still)), dtype=complex),
        np.stack([size * np.array(force) for _, size, force, _ in changes], axis=1),
        np.stack([[size * moment for _, size, _, moment in changes]] * len(motion.joints)),
    )
    return errors.only([k for k, (_, size, *_) in enumerate(changes) if size])


def _rate(values: FloatArray, rate_hz: float) -> FloatArray:
    """Rate of change along the last axis."""
    return np.gradient(values, 1.0 / rate_hz, axis=-1) if values.shape[-1] > 1 else np.zeros_like(values)


def following_load(motion: ChainMotion, load: LoadModel, joint_m: ComplexArray) -> tuple[FloatArray, FloatArray]:
    """Change of a load in the settings with errors of the joints that define it.

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

"""Errors of body segment parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.chain.model import Chain
from limbtorque.motion.limb import Limb
from limbtorque.study.settings import Settings
from limbtorque.uncertainty.directions import Direction, ParameterErrors

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
    own = {
        quantity: np.array([f"{row}_{quantity}" in limb.measured for row in rows])
        for quantity in ("mass_kg", "com_m", "inertia_kgm2")
    }
    shares = BOTH_SIDES * np.array([row.mass for row in limb.segment_rows(settings)])
    closing = np.eye(len(rows)) - shares  # [k, j]: relative error of segment k with e_j
    mass = np.where(own["mass_kg"], sizes["measured_parameters"], 0.0)
    by_table = np.where(own["mass_kg"], 0.0, sizes["segment_mass"])
    relative = np.concatenate(
        [
            np.diag(mass),
            _correlated(by_table, sizes["segment_correlation"]) @ np.where(own["mass_kg"][:, None], 0.0, closing).T,
            np.where(own["mass_kg"], 0.0, -(1.0 - shares.sum()) * sizes["rest_of_body_mass"])[None],
            np.where(own["mass_kg"], 0.0, sizes["body_mass"])[None],
        ]
    )
    along = _correlated(
        np.where(own["com_m"], 0.0, sizes["segment_com"] * chain.length_m), sizes["segment_correlation"]
    )
    along = along + np.diag(np.where(own["com_m"], sizes["measured_parameters"] * chain.com_m, 0.0))
    turning = _correlated(
        np.where(own["inertia_kgm2"], sizes["measured_parameters"], sizes["segment_inertia"]),
        sizes["segment_correlation"],
    )
    change = np.concatenate(
        [
            _with_mass(chain, relative, own["inertia_kgm2"]),
            np.hstack([0.0 * along, chain.mass_kg * along, 2.0 * chain.mass_kg * chain.com_m * along]),
            np.hstack([0.0 * turning, 0.0 * turning, chain.inertia_kgm2 * turning]),
        ]
    )
    return _without_zeros(_directions(rows), change)


def _correlated(sizes: FloatArray, correlation: float) -> FloatArray:
    """Independent directions, rows, of errors of these sizes and one correlation."""
    matrix = np.full((len(sizes), len(sizes)), correlation)
    np.fill_diagonal(matrix, 1.0)
    return np.asarray(np.linalg.cholesky(matrix).T * sizes)


def _with_mass(chain: Chain, relative: FloatArray, inertia_measured: FloatArray) -> FloatArray:
    """Changes of the parameters with relative changes of the masses."""
    moment = chain.mass_kg * chain.com_m
    turning = np.where(inertia_measured, 0.0, chain.inertia_kgm2) + moment * chain.com_m
    return np.hstack([relative * chain.mass_kg, relative * moment, relative * turning])


def _directions(rows: Sequence[str]) -> list[Direction]:
    masses = [Direction("segment_mass", f"{row} measured") for row in rows]
    masses += [Direction("segment_mass", name) for name in (*rows, "rest of the body")]
    coms = [Direction("segment_com", row) for row in rows]
    return [*masses, Direction("body_mass"), *coms, *(Direction("segment_inertia", row) for row in rows)]


def _without_zeros(directions: Sequence[Direction], change: FloatArray) -> ParameterErrors:
    some = np.flatnonzero(change.any(axis=1)).tolist()
    return ParameterErrors([directions[k] for k in some], change[some])


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

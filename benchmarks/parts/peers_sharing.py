"""Static optimization, beside quadprog, daqp, OSQP, SLSQP and Clarabel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from parts.baselines import slsqp
from parts.peers_measure import OURS, DisagreementError, FloatArray, Way, Work
from sharing import JOINTS, MUSCLES, limbs, scaled

from limbtorque.muscles.static_optimization.criteria import OK
from limbtorque.muscles.static_optimization.solve import share_torques

Activations = Callable[[], FloatArray]

CLOSES = 1e-7  # largest torque that may be missing, of what all muscles make
SAME_COST = 1e-6  # of the mean cost
OSQP_TOLERANCE = 1e-9
CLARABEL_TOLERANCE = 1e-10  # its own 1e-8 lets activations below zero by so much that at the edge of reach costs differ


@dataclass(frozen=True)
class Limb:
    """A limb's frames, and the same as most programs want them: by what all muscles make at a joint."""

    arm: FloatArray
    strength: FloatArray
    torque: FloatArray
    reach: FloatArray
    target: FloatArray

    def __len__(self) -> int:
        """Frames."""
        return len(self.torque)


HOW_OTHERS = (
    f" The others take one frame per call; OSQP starts from the frame before and stops at {OSQP_TOLERANCE:g}. Agreement is relative "
    "to mean cost and strength."
)


def works(*, frames: int, single: int) -> Iterator[Work]:
    """Exponent 2 for a reach and random limbs, exponent 3 for the reach, and a frame at a time."""
    reaches: dict[str, Limb] = {}
    for what, arm, strength, torque in limbs(frames):
        if arm.shape[2] != MUSCLES:
            continue
        within = share_torques(arm, torque, max_force_n=strength).status == OK
        limb = Limb(arm[within], strength, torque[within], *scaled(arm[within], strength, torque[within]))
        name = "random arms" if what.startswith("random") else "a reach"
        note = f"{what.capitalize() if name == 'random arms' else f'The {what}'}, {len(limb)} frames within reach, three joints."
        yield _work(
            f"Static optimization, exponent 2: {name}",
            note + HOW_OTHERS * (name == "a reach"),
            limb,
            2.0,
            [
                ("daqp", "solve", by_daqp),
                ("quadprog", "solve_qp", by_quadprog),
                ("OSQP", "update and solve", by_osqp),
                ("SLSQP (SciPy)", "minimize, with gradients", by_slsqp(2.0)),
            ],
        )
        if name == "a reach":
            yield _work(
                "Static optimization, exponent 3: a reach",
                f"{note} Clarabel stops at {CLARABEL_TOLERANCE:g}.",
                limb,
                3.0,
                [
                    ("Clarabel", "update and solve", by_clarabel),
                    ("SLSQP (SciPy)", "minimize, with gradients", by_slsqp(3.0)),
                ],
            )
        reaches.setdefault(name, limb)
    limb = reaches["a reach"]
    yield _single(Limb(limb.arm[:single], limb.strength, *(a[:single] for a in (limb.torque, limb.reach, limb.target))))


def _single(limb: Limb) -> Work:
    return Work(
        "Static optimization, exponent 2, a frame a call",
        f"The first {len(limb)} of the same frames of the reach, one call for each.",
        "us a frame",
        1e6 / len(limb),
        _agree(limb, 2.0),
        [
            Way(OURS, "a frame a call, share_torques", lambda: lambda: our_calls(limb)),
            Way("daqp", "solve", lambda: by_daqp(limb)),
            Way("quadprog", "solve_qp", lambda: by_quadprog(limb)),
            Way("OSQP", "update and solve", lambda: by_osqp(limb)),
            Way("SLSQP (SciPy)", "minimize, with gradients", lambda: by_slsqp(2.0)(limb)),
        ],
    )


def _work(
    title: str, note: str, limb: Limb, exponent: float, peers: list[tuple[str, str, Callable[[Limb], Activations]]]
) -> Work:
    return Work(
        title,
        note,
        "us a frame",
        1e6 / len(limb),
        _agree(limb, exponent),
        [
            Way(
                OURS,
                "all frames, share_torques",
                lambda: lambda: share_torques(limb.arm, limb.torque, max_force_n=limb.strength, exponent=exponent),
                lambda shared: shared.activation,
            ),
            *(Way(program, how, lambda make=make: make(limb)) for program, how, make in peers),
        ],
    )


def _agree(limb: Limb, exponent: float) -> Callable[[FloatArray, FloatArray], str]:
    """Both close, and cost the same."""

    def agree(ours: FloatArray, found: FloatArray) -> str:
        known = np.isfinite(found).all(axis=1)
        if not known.any():
            raise DisagreementError("it gave up on every frame")
        for name, activation in (("ours", ours[known]), ("its answers", found[known])):
            missing = np.abs(np.einsum("fjm,fm->fj", limb.reach[known], activation) - limb.target[known]).max()
            if not missing <= CLOSES:
                raise DisagreementError(f"{name} miss the torque by {missing:.0e} of what all muscles make")
        cost, other = ((np.maximum(a[known], 0.0) ** exponent).sum(axis=1) for a in (ours, found))
        off = float(np.abs(other - cost).max() / cost.mean())
        if not off <= SAME_COST:
            raise DisagreementError(f"costs differ by {off:.0e} of their mean, expected {SAME_COST:.0e} at most")
        force = float(np.abs(found[known] - ours[known]).max())
        gave_up = "" if known.all() else f"; gave up on {(~known).sum()} frames"
        return f"cost {off:.0e}, force {force:.0e}{gave_up}"

    return agree


def our_calls(limb: Limb) -> FloatArray:
    calls = (
        share_torques(limb.arm[f : f + 1], limb.torque[f : f + 1], max_force_n=limb.strength) for f in range(len(limb))
    )
    return np.concatenate([shared.activation for shared in calls])


def by_slsqp(exponent: float) -> Callable[[Limb], Activations]:
    def make(limb: Limb) -> Activations:
        return lambda: slsqp(limb.arm, limb.torque, max_force_n=limb.strength, exponent=exponent).activation

    return make


def by_quadprog(limb: Limb) -> Activations:
    import quadprog

    one, zero = np.eye(MUSCLES), np.zeros(MUSCLES)
    sides = np.broadcast_to(np.hstack([one, -one]), (len(limb), MUSCLES, 2 * MUSCLES))
    constraints = np.ascontiguousarray(np.concatenate([limb.reach.transpose(0, 2, 1), sides], axis=2))
    limits = np.hstack([limb.target, np.zeros((len(limb), MUSCLES)), -np.ones((len(limb), MUSCLES))])

    def job() -> FloatArray:
        found = np.full((len(limb), MUSCLES), np.nan)
        for f in range(len(limb)):
            try:
                found[f] = quadprog.solve_qp(one, zero, constraints[f], limits[f], JOINTS)[0]
            except ValueError:  # no answer
                continue
        return found

    return job


def by_daqp(limb: Limb) -> Activations:
    import daqp

    one, zero = np.eye(MUSCLES), np.zeros(MUSCLES)
    low, high = _limits(limb)
    kinds = np.array([0] * MUSCLES + [5] * JOINTS, dtype=np.int32)  # bounds, and equalities

    def job() -> FloatArray:
        found = np.full((len(limb), MUSCLES), np.nan)
        for f in range(len(limb)):
            answer, _, status, _ = daqp.solve(one, zero, limb.reach[f], high[f], low[f], kinds, primal_tol=1e-10)
            if status == 1:
                found[f] = answer
        return found

    return job


def by_osqp(limb: Limb) -> Activations:
    import osqp
    from scipy import sparse

    low, high = _limits(limb)
    column = np.concatenate([np.ones((len(limb), MUSCLES, 1)), limb.reach.transpose(0, 2, 1)], axis=2)
    entries = column.reshape(len(limb), -1)
    rows = np.concatenate([[m, *range(MUSCLES, MUSCLES + JOINTS)] for m in range(MUSCLES)])
    starts = np.arange(MUSCLES + 1) * (JOINTS + 1)
    matrix = sparse.csc_matrix((entries[0], rows, starts), shape=(MUSCLES + JOINTS, MUSCLES))

    def job() -> FloatArray:
        found = np.full((len(limb), MUSCLES), np.nan)
        solver = osqp.OSQP()
        solver.setup(
            sparse.csc_matrix(np.eye(MUSCLES)),
            np.zeros(MUSCLES),
            matrix,
            low[0],
            high[0],
            verbose=False,
            eps_abs=OSQP_TOLERANCE,
            eps_rel=OSQP_TOLERANCE,
            max_iter=20_000,
        )
        for f in range(len(limb)):
            solver.update(Ax=entries[f], l=low[f], u=high[f])
            answer = solver.solve(raise_error=False)
            if answer.info.status_val == 1:
                found[f] = answer.x
        return found

    return job


def by_clarabel(limb: Limb) -> Activations:
    """Power cones t^(1/3) >= a; unknowns (a, t)."""
    import clarabel
    from scipy import sparse

    n, i = 2 * MUSCLES, np.arange(MUSCLES)
    cones = np.zeros((3 * MUSCLES, n))
    cones[3 * i, MUSCLES + i] = cones[3 * i + 2, i] = -1.0
    pick = np.eye(MUSCLES, n)
    limit = np.r_[np.zeros(MUSCLES), np.ones(MUSCLES), np.tile([0.0, 1.0, 0.0], MUSCLES)]
    kinds = [clarabel.ZeroConeT(JOINTS), clarabel.NonnegativeConeT(n), *[clarabel.PowerConeT(1.0 / 3.0)] * MUSCLES]
    wide = np.pad(limb.reach, ((0, 0), (0, 0), (0, MUSCLES)))
    matrices = [sparse.csc_matrix(np.vstack([rows, -pick, pick, cones])) for rows in wide]
    limits = np.hstack([limb.target, np.tile(limit, (len(limb), 1))])
    cost, nothing = np.repeat([0.0, 1.0], MUSCLES), sparse.csc_matrix((n, n))
    options = clarabel.DefaultSettings()
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = CLARABEL_TOLERANCE
    options.verbose = options.presolve_enable = False  # only without presolve can a problem be updated
    solved = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)

    def job() -> FloatArray:
        found = np.full((len(limb), MUSCLES), np.nan)
        solver = clarabel.DefaultSolver(nothing, cost, matrices[0], limits[0], kinds, options)
        for f in range(len(limb)):
            solver.update(A=matrices[f].data, b=limits[f])
            answer = solver.solve()
            if answer.status in solved:
                found[f] = answer.x[:MUSCLES]
        return found

    return job


def _limits(limb: Limb) -> tuple[FloatArray, FloatArray]:
    """Least and largest of every activation and every torque."""
    shape = (len(limb), MUSCLES)
    return np.hstack([np.zeros(shape), limb.target]), np.hstack([np.ones(shape), limb.target])

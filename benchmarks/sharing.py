"""Time static optimization, beside quadprog, Clarabel and SLSQP.

Three torques, eight muscles. The torques are those of a reach of the demo study, resampled to the given number of frames; the
muscles are the arm's eight that make most torque, and random ones with the same strengths. The solutions are compared first.
The frames of the other programs are a sample, spread over the trial, one frame for each call.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from parts.baselines import slsqp
from scipy import sparse

from limbtorque.analysis.trial import analyse_recording
from limbtorque.arrays import FloatArray
from limbtorque.motion.limb import Limb
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.muscles.static_optimization.criteria import FAILED, OK, RESERVE
from limbtorque.muscles.static_optimization.ranges import force_range
from limbtorque.muscles.static_optimization.solve import share_torques
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
TRIAL = ROOT / "data" / "demo" / "S01_sagittal_fast.c3d"
JOINTS, MUSCLES = 3, 8
AIM_US = {2.0: 3.0, 3.0: 6.0}
SAME = 1e-6  # of the strength: forces that agree
SAME_COST = 1e-6  # where a power is too flat for the other program to find the forces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=500, help="frames of the other programs")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    print(f"{options.frames} frames at once; us a frame, median and best of {options.runs} runs")
    for what, arm, strength, torque in limbs(options.frames):
        print(f"\n{what}: {arm.shape[1]} joints, {arm.shape[2]} muscles")
        measure(arm, strength, torque, options.runs)
        if arm.shape[2] == MUSCLES:
            compare(arm, strength, torque, options.sample, options.runs)


def limbs(frames: int) -> Iterator[tuple[str, FloatArray, FloatArray, FloatArray]]:
    """Moment arms, strengths and torques, flexion positive."""
    settings = load_settings(ROOT / "config" / "config.yaml")
    trial = analyse_recording(
        read_c3d(TRIAL), Limb("arm", side="right", body_mass_kg=72.0, marker_set="limb_markers"), settings
    )
    motion, sign = trial.motion, trial.motion.flexion.sign
    muscles = load_muscle_set("arm")
    flexion = resampled(sign * (motion.kinematics.angle_rad - motion.flexion.zero_rad), frames)
    torque = resampled(trial.torques.terms.net * sign, frames)
    arm = musculotendon(muscles, flexion, joints=motion.joints).moment_arm_m
    some = strongest(arm * muscles.max_force_n)
    strength = muscles.max_force_n[some]
    yield f"arm of {TRIAL.stem}, eight muscles", np.ascontiguousarray(arm[..., some]), strength, torque
    rng = np.random.default_rng(0)
    other = rng.normal(0.0, 0.03, (frames, JOINTS, MUSCLES))
    activation = rng.random((frames, MUSCLES)) * (rng.random((frames, MUSCLES)) < 0.6)
    yield (
        "random arms, two muscles in five at rest",
        other,
        strength,
        np.einsum("fjm,fm->fj", other, activation * strength),
    )
    yield f"arm of {TRIAL.stem}, all muscles", arm, muscles.max_force_n, torque


def resampled(values: FloatArray, frames: int) -> FloatArray:
    """Known frames of a trial, by straight lines between them."""
    values = values[np.isfinite(values).all(axis=1)]
    at = np.linspace(0.0, len(values) - 1.0, frames)
    return np.stack([np.interp(at, np.arange(len(values)), column) for column in values.T], axis=1)


def strongest(reach: FloatArray) -> NDArray[np.intp]:
    """Muscles that make most torque: the strongest flexor and extensor of each joint, then the strongest of the others."""
    mean = reach.mean(axis=0)
    chosen = {int(pick(row)) for row in mean for pick in (np.argmax, np.argmin)}
    others = [int(i) for i in np.argsort(-np.abs(mean).max(axis=0)) if i not in chosen]
    return np.sort([*chosen, *others[: MUSCLES - len(chosen)]])


def measure(arm: FloatArray, strength: FloatArray, torque: FloatArray, runs: int) -> None:
    """Ours, for several exponents, and the least and greatest forces."""
    for exponent in (2.0, 3.0, math.inf):
        shared = share_torques(arm, torque, max_force_n=strength, exponent=exponent)
        few = runs if exponent in AIM_US else min(runs, 3)
        median, best = timed(
            lambda p=exponent: share_torques(arm, torque, max_force_n=strength, exponent=p), len(torque), few
        )
        aim = AIM_US.get(exponent) if arm.shape[2] == MUSCLES else None
        verdict = "" if aim is None else f"; aim {aim:g}, {'met' if median <= aim else 'missed'}"
        out, failed = (shared.status == RESERVE).mean(), (shared.status == FAILED).sum()
        print(
            f"  exponent {exponent:<4g} {median:8.2f} {best:8.2f}{verdict}"
            f"  (out of reach {100 * out:.1f} %, {failed} failed, {shared.iterations.mean():.1f} Newton steps a frame)"
        )
    shared = share_torques(arm, torque, max_force_n=strength)
    median, best = timed(lambda: force_range(arm, shared, max_force_n=strength), len(torque), min(runs, 3))
    print(f"  force_range   {median:8.2f} {best:8.2f}")


def compare(arm: FloatArray, strength: FloatArray, torque: FloatArray, sample: int, runs: int) -> None:
    """Other programs on frames within reach: the same forces, and how many times as slow they are."""
    for exponent, others in ((2.0, ("quadprog", "SLSQP")), (3.0, ("Clarabel", "SLSQP"))):
        shared = share_torques(arm, torque, max_force_n=strength, exponent=exponent)
        ours, _ = timed(
            lambda p=exponent: share_torques(arm, torque, max_force_n=strength, exponent=p), len(torque), runs
        )
        within = np.flatnonzero(shared.status == OK)
        at = within[np.linspace(0, within.size - 1, min(sample, within.size)).astype(int)]
        for other in others:
            some = at[:50] if other == "SLSQP" else at
            job = JOBS[other]
            found = job(arm[some], strength, torque[some], exponent)
            agreed = check(other, found, shared.activation[some], exponent)
            median, _ = timed(lambda job=job, s=some, p=exponent: job(arm[s], strength, torque[s], p), some.size, 3)
            print(f"  exponent {exponent:g}: {other:8s} {median:8.1f}, {median / ours:6.0f} times ours; {agreed}")


def check(name: str, found: FloatArray, ours: FloatArray, exponent: float) -> str:
    """Stop where forces differ, or, where powers are flat at zero, costs."""
    known = np.isfinite(found).all(axis=1)
    off = np.abs(found[known] - ours[known]).max(axis=1, initial=0.0)
    cost, other = ((np.maximum(a[known], 0.0) ** exponent).sum(axis=1) for a in (ours, found))
    worse = ((cost - other) / np.maximum(other, 1e-12)).max(initial=0.0)
    if (name == "quadprog" and off.max(initial=0.0) > SAME) or worse > SAME_COST:
        raise SystemExit(f"{name}: forces differ by {off.max():.1e} of the strength, costs by {worse:.1e}")
    gave_up = "" if known.all() else f", it gave up on {(~known).sum()}"
    return f"{known.sum()} frames, median and largest difference {np.median(off):.0e}, {off.max():.0e} of strength{gave_up}"


def by_quadprog(arm: FloatArray, strength: FloatArray, torque: FloatArray, exponent: float) -> FloatArray:
    import quadprog  # here, so that peers_sharing.py can use this module without it

    reach, target = scaled(arm, strength, torque)
    one, zero = np.eye(MUSCLES), np.zeros(MUSCLES)
    found = np.full((len(torque), MUSCLES), np.nan)
    assert exponent == 2.0
    for f in range(len(torque)):
        constraints = np.hstack([reach[f].T, one, -one])
        try:
            found[f] = quadprog.solve_qp(one, zero, constraints, np.r_[target[f], zero, zero - 1.0], JOINTS)[0]
        except ValueError:  # no answer
            continue
    return found


def by_clarabel(arm: FloatArray, strength: FloatArray, torque: FloatArray, exponent: float) -> FloatArray:
    """Power cones t^(1/p) >= a; unknowns (a, t)."""
    import clarabel  # as above

    reach, target = scaled(arm, strength, torque)
    n, i = 2 * MUSCLES, np.arange(MUSCLES)
    rows = np.zeros((3 * MUSCLES, n))
    rows[3 * i, MUSCLES + i] = rows[3 * i + 2, i] = -1.0
    pick = np.eye(MUSCLES, n)
    limit = np.r_[np.zeros(MUSCLES), np.ones(MUSCLES), np.tile([0.0, 1.0, 0.0], MUSCLES)]
    kinds = [clarabel.PowerConeT(1.0 / exponent)] * MUSCLES
    every = [clarabel.ZeroConeT(JOINTS), clarabel.NonnegativeConeT(n), *kinds]
    cost, nothing = np.repeat([0.0, 1.0], MUSCLES), sparse.csc_matrix((n, n))
    options = clarabel.DefaultSettings()
    options.verbose = False
    found = np.full((len(torque), MUSCLES), np.nan)
    for f in range(len(torque)):
        matrix = sparse.csc_matrix(np.vstack([np.pad(reach[f], ((0, 0), (0, MUSCLES))), -pick, pick, rows]))
        solution = clarabel.DefaultSolver(nothing, cost, matrix, np.r_[target[f], limit], every, options).solve()
        if solution.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
            found[f] = solution.x[:MUSCLES]
    return found


def by_slsqp(arm: FloatArray, strength: FloatArray, torque: FloatArray, exponent: float) -> FloatArray:
    return slsqp(arm, torque, max_force_n=strength, exponent=exponent).activation


JOBS = {"quadprog": by_quadprog, "Clarabel": by_clarabel, "SLSQP": by_slsqp}


def scaled(arm: FloatArray, strength: FloatArray, torque: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Torque of every muscle, and the torque, by what all muscles make at the joint."""
    reach = arm * strength
    capacity = np.abs(reach).sum(axis=2)
    return reach / capacity[..., None], torque / capacity


def timed(job: Callable[[], object], count: int, runs: int) -> tuple[float, float]:
    """Median and best time for each frame, us."""
    job()  # warm
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        job()
        times.append(1e6 * (time.perf_counter() - start) / count)
    return statistics.median(times), min(times)


if __name__ == "__main__":
    main()

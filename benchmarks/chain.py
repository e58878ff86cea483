"""Time the torque terms of chains of 1 to 10 links, beside Pinocchio's torques.

Both are compared first. Pinocchio gives the net torque alone. Three of its calls (at rest, without acceleration, and with
both) give the parts of gravity, velocity and acceleration, but not the contribution of each joint.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from limbtorque.arrays import FloatArray
from limbtorque.chain.dynamics import TorqueTerms, newton_euler, torque_terms
from limbtorque.chain.forward import forward_dynamics
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.chain.prepared import PreparedChain

Motion = tuple[FloatArray, FloatArray, FloatArray]

GRAVITY = np.array([0.0, -9.81])
THREE_LINKS_US = 0.25  # aim for three links, for each frame
SINGLE = 200
ONE_STATE_US = 15.0  # aim for three links
SAME = 1e-12  # of the largest term: prepared and not
AGREEMENT = 1e-10  # of the largest sum of the sizes of a joint's terms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=5000, help="frames of the loop over Pinocchio")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--links", type=int, default=10, help="longest chain")
    options = parser.parse_args()
    print(f"{options.frames} frames at once, Pinocchio {options.sample} in a loop; us a frame, {options.runs} runs")
    print(f"{'':5s} {'':6s} {'torque_terms':>27s} {'Pinocchio, net':>24s} {'in 3 parts':>18s}")
    print(
        f"{'links':>5s} {'terms':>6s} {'best':>6s} {'median':>7s} {'limit':>6s} {'/limit':>6s}"
        f" {'best':>8s} {'median':>7s} {'/ours':>7s} {'best':>10s} {'/ours':>7s}"
    )
    for n in range(1, options.links + 1):
        measure(n, options.frames, min(options.sample, options.frames), options.runs)
    print(
        f"\nOne state a call, {SINGLE} states; us of processor time a state, median of {options.runs} runs in turns; aim for three links {ONE_STATE_US:g}"
    )
    print("links torque_terms PreparedChain   ratio forward_dynamics PreparedChain   ratio Pinocchio, net")
    for n in range(1, min(options.links, 5) + 1):
        measure_single(n, options.runs)


def measure(n: int, frames: int, sample: int, runs: int) -> None:
    rng = np.random.default_rng(n)
    chain, motion = links(rng, n), random_motion(rng, n, frames)
    model, data = pinocchio_model(chain)
    some: Motion = (motion[0][:sample], motion[1][:sample], motion[2][:sample])
    check(chain, some, model)
    rest = np.zeros(n)

    def ours() -> TorqueTerms:
        return torque_terms(chain, Kinematics(*motion), gravity_m_s2=GRAVITY)

    def net() -> None:
        for q, v, a in zip(*some, strict=True):
            pin.rnea(model, data, q, v, a)

    def parts() -> None:
        for q, v, a in zip(*some, strict=True):
            gravity = pin.rnea(model, data, q, rest, rest)
            velocity = pin.rnea(model, data, q, v, rest)
            pin.rnea(model, data, q, v, a) - velocity, velocity - gravity

    jobs: dict[Callable[[], object], int] = {ours: frames, net: sample, parts: sample}
    times: dict[Callable[[], object], list[float]] = {job: [] for job in jobs}
    for job in jobs:
        job()  # warm
    last = None
    for _ in range(runs):
        for job, count in jobs.items():
            start = time.perf_counter()
            result = job()
            times[job].append(1e6 * (time.perf_counter() - start) / count)
            last = result or last  # kept until the next is there, as in a loop over trials
    best, median = ({job: pick(values) for job, values in times.items()} for pick in (min, statistics.median))
    limit = 2.0 * THREE_LINKS_US * (n / 3.0) ** 2
    columns = 2 * n * n + n * n * (n - 1) // 2 + 3 * n
    print(
        f"{n:5d} {columns:6d} {best[ours]:6.3f} {median[ours]:7.3f} {limit:6.3f} {best[ours] / limit:6.2f}"
        f" {best[net]:8.2f} {median[net]:7.2f} {best[net] / best[ours]:7.1f}"
        f" {best[parts]:10.2f} {best[parts] / best[ours]:7.1f}"
    )
    if n == 3:
        verdict = "met" if best[ours] <= THREE_LINKS_US else "missed"
        print(f"      aim for three links: {THREE_LINKS_US} us, {verdict} at best, median {median[ours]:.3f}")


def measure_single(n: int, runs: int) -> None:
    """One state a call: the functions for recordings beside the prepared chain."""
    rng = np.random.default_rng(n)
    chain, motion = links(rng, n), random_motion(rng, n, SINGLE)
    prepared, (model, data) = PreparedChain(chain, GRAVITY), pinocchio_model(chain)
    states = list(zip(*motion, strict=True))
    jobs: dict[str, Callable[..., object]] = {
        "terms": lambda q, v, a: torque_terms(chain, Kinematics(q[None], v[None], a[None]), gravity_m_s2=GRAVITY).net,
        "prepared terms": lambda q, v, a: prepared.torque_terms(q, v, a).net,
        "accelerations": lambda q, v, a: forward_dynamics(
            chain, Kinematics(q[None], v[None]), a[None], gravity_m_s2=GRAVITY
        ),
        "prepared accelerations": prepared.forward_dynamics,
        "Pinocchio": lambda q, v, a: pin.rnea(model, data, q, v, a),
    }
    expected = torque_terms(chain, Kinematics(*motion), gravity_m_s2=GRAVITY)
    off = max(
        np.abs(prepared.torque_terms(*state).inertial - expected.inertial[f]).max() for f, state in enumerate(states)
    )
    if not off <= SAME * np.abs(expected.inertial).max():
        raise SystemExit(f"{n} links: prepared terms differ by {off:.1e} N m")
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(runs):
        for name, job in jobs.items():
            start = time.process_time()
            for state in states:
                job(*state)
            times[name].append(1e6 * (time.process_time() - start) / SINGLE)
    terms, one, accelerations, other, peer = (statistics.median(values) for values in times.values())
    print(
        f"{n:5d} {terms:12.1f} {one:13.1f} {terms / one:7.1f} {accelerations:16.1f} {other:13.1f}"
        f" {accelerations / other:7.1f} {peer:14.2f}"
    )


def links(rng: np.random.Generator, n: int) -> Chain:
    length = rng.uniform(0.1, 0.6, n)
    return Chain(length, rng.uniform(0.3, 9.0, n), length * rng.uniform(0.3, 0.7, n), rng.uniform(0.001, 0.2, n))


def random_motion(rng: np.random.Generator, n: int, frames: int) -> Motion:
    angle, velocity, acceleration = (size * rng.uniform(-1.0, 1.0, (frames, n)) for size in (4.0, 10.0, 80.0))
    return angle, velocity, acceleration


def pinocchio_model(chain: Chain) -> tuple[pin.Model, pin.Data]:
    """The chain on a still base."""
    model = pin.Model()
    model.gravity = pin.Motion(np.append(GRAVITY, 0.0), np.zeros(3))
    joint, before = 0, 0.0
    for k in range(chain.n_links):
        place = pin.SE3(np.eye(3), np.array([before, 0.0, 0.0]))
        joint = model.addJoint(joint, pin.JointModelRZ(), place, f"hinge_{k}")
        centre = np.array([chain.com_m[k], 0.0, 0.0])
        body = pin.Inertia(chain.mass_kg[k], centre, np.eye(3) * chain.inertia_kgm2[k])
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
        before = chain.length_m[k]
    return model, model.createData()


def check(chain: Chain, motion: Motion, model: pin.Model) -> None:
    """Stop where the two programs, or our two methods, do not agree."""
    data = model.createData()
    expected = np.array([pin.rnea(model, data, q, v, a) for q, v, a in zip(*motion, strict=True)])
    terms = torque_terms(chain, Kinematics(*motion), gravity_m_s2=GRAVITY)
    many = (terms.inertial, terms.centripetal, terms.coriolis)
    size = (sum(np.abs(term).sum(axis=2) for term in many) + np.abs(terms.gravity)).max()
    second = newton_euler(chain, Kinematics(*motion), gravity_m_s2=GRAVITY).torque_nm
    off = max(np.abs(terms.net - expected).max(), np.abs(second - expected).max()) / size
    if not off < AGREEMENT:
        raise SystemExit(f"{chain.n_links} links: torques differ by {off:.1e} of their terms, expected {AGREEMENT:.0e}")


if __name__ == "__main__":
    main()

"""Inverse dynamics of a planar arm, beside Pinocchio, MuJoCo, OpenSim and biorbd."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from parts.peers_measure import OURS, DisagreementError, FloatArray, Way, Work
from synthetic import ARM

from limbtorque.chain.dynamics import newton_euler, torque_terms
from limbtorque.chain.model import Kinematics
from limbtorque.chain.prepared import PreparedChain

Motion = tuple[FloatArray, FloatArray, FloatArray]
Torques = Callable[[], FloatArray]

GRAVITY = np.array([0.0, -9.81])
AGREEMENT = 1e-9  # of the largest torque
CHAIN = ARM.chain
LINKS = CHAIN.n_links
LENGTH, MASS, COM, INERTIA = (
    [float(x) for x in values] for values in (CHAIN.length_m, CHAIN.mass_kg, CHAIN.com_m, CHAIN.inertia_kgm2)
)
PLACE = [0.0, *LENGTH[:-1]]  # of each joint on the link before


def works(*, frames: int, single: int) -> Iterator[Work]:
    """All frames of a recording, and a frame at a time."""
    motion = smooth_motion(frames)
    peers = [
        ("Pinocchio", "loop in C++, rneaInParallel with one thread", pinocchio_loop),
        ("Pinocchio", "a frame a call, rnea", pinocchio_calls),
        ("MuJoCo", "a frame a call, mj_inverse", mujoco_calls),
        ("OpenSim", "a frame a call, InverseDynamicsSolver", opensim_calls),
        ("biorbd", "a frame a call, InverseDynamics", biorbd_calls),
    ]
    yield Work(
        "Inverse dynamics of a recording",
        f"A three-link arm, smooth random motion, {frames} frames. Ours takes all frames at once and gives all "
        f"{2 * LINKS**2 + LINKS**2 * (LINKS - 1) // 2 + 3 * LINKS} terms, for planar chains only; the others give net torques of bodies in space, most "
        "of them one frame per call. Agreement is relative to the largest torque.",
        "us a frame",
        1e6 / frames,
        agree,
        [
            Way(
                OURS,
                "all terms, torque_terms",
                lambda: lambda: torque_terms(CHAIN, Kinematics(*motion), gravity_m_s2=GRAVITY),
                lambda found: found.net,
            ),
            Way(
                OURS,
                "Newton-Euler, newton_euler: net torques and joint forces",
                lambda: lambda: newton_euler(CHAIN, Kinematics(*motion), gravity_m_s2=GRAVITY),
                lambda found: found.torque_nm,
            ),
            *(Way(program, how, lambda make=make: make(motion)) for program, how, make in peers),
        ],
    )
    some: Motion = (motion[0][:single], motion[1][:single], motion[2][:single])
    yield Work(
        "Inverse dynamics, a frame a call",
        f"The same arm, {single} frames one after the other, as in a controller or a simulation.",
        "us a frame",
        1e6 / single,
        agree,
        [
            Way(OURS, "a frame a call, PreparedChain", lambda: prepared_calls(some)),
            Way(OURS, "a frame a call, torque_terms", lambda: lambda: our_calls(some)),
            *(
                Way(program, how, lambda make=make: make(some))
                for program, how, make in peers
                if make is not pinocchio_loop
            ),
        ],
    )


def agree(ours: FloatArray, found: FloatArray) -> str:
    """Largest difference of a torque, of the largest torque."""
    off = float(np.abs(found - ours).max() / np.abs(ours).max())
    if not off <= AGREEMENT:
        raise DisagreementError(f"torques differ by {off:.0e} of the largest, expected {AGREEMENT:.0e} at most")
    return f"{off:.0e}"


def smooth_motion(frames: int, *, rate_hz: float = 200.0, seed: int = 0) -> Motion:
    """Angles as sums of sines up to 3 Hz, and their exact derivatives."""
    rng = np.random.default_rng(seed)
    waves = 2.0 * np.pi * rng.uniform(0.2, 3.0, (6, 1, LINKS))
    phase = waves * (np.arange(frames) / rate_hz)[:, None] + rng.uniform(0.0, 2.0 * np.pi, (6, 1, LINKS))
    size = rng.uniform(-0.5, 0.5, (6, 1, LINKS))
    angle, slope = size * np.sin(phase), size * waves * np.cos(phase)
    return angle.sum(axis=0), slope.sum(axis=0), (-(waves**2) * angle).sum(axis=0)


def our_calls(motion: Motion) -> FloatArray:
    angle, velocity, acceleration = motion
    torque = np.empty_like(angle)
    for f in range(len(angle)):
        at = slice(f, f + 1)
        torque[f] = torque_terms(
            CHAIN, Kinematics(angle[at], velocity[at], acceleration[at]), gravity_m_s2=GRAVITY
        ).net[0]
    return torque


def prepared_calls(motion: Motion) -> Torques:
    chain = PreparedChain(CHAIN, GRAVITY)
    torque = np.empty_like(motion[0])

    def job() -> FloatArray:
        for f, state in enumerate(zip(*motion, strict=True)):
            torque[f] = chain.torque_terms(*state).net
        return torque

    return job


def pinocchio_loop(motion: Motion) -> Torques:
    import pinocchio as pin
    from chain import pinocchio_model

    pool = pin.ModelPool(pinocchio_model(CHAIN)[0], 1)
    columns = [np.asfortranarray(values.T) for values in motion]
    return lambda: pin.rneaInParallel(1, pool, *columns).T


def pinocchio_calls(motion: Motion) -> Torques:
    import pinocchio as pin
    from chain import pinocchio_model

    model, data = pinocchio_model(CHAIN)
    torque = np.empty_like(motion[0])

    def job() -> FloatArray:
        for f, state in enumerate(zip(*motion, strict=True)):
            torque[f] = pin.rnea(model, data, *state)
        return torque

    return job


def mujoco_calls(motion: Motion) -> Torques:
    import mujoco

    bodies = "".join(
        f'<body pos="{PLACE[k]!r} 0 0"><joint type="hinge" axis="0 0 1"/>'
        f'<inertial pos="{COM[k]!r} 0 0" mass="{MASS[k]!r}" diaginertia="{" ".join([repr(INERTIA[k])] * 3)}"/>'
        for k in range(LINKS)
    )
    gravity = " ".join(map(str, [*GRAVITY, 0.0]))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="{gravity}"/><worldbody>{bodies}{"</body>" * LINKS}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    angle, velocity, acceleration = data.qpos, data.qvel, data.qacc  # views of what the program works on
    found = data.qfrc_inverse
    torque = np.empty_like(motion[0])

    def job() -> FloatArray:
        for f, (q, v, a) in enumerate(zip(*motion, strict=True)):
            angle[:], velocity[:], acceleration[:] = q, v, a
            mujoco.mj_inverse(model, data)
            torque[f] = found
        return torque

    return job


def opensim_calls(motion: Motion) -> Torques:
    import opensim

    opensim.Logger.setLevelString("error")
    model = opensim.Model()
    model.setGravity(opensim.Vec3(*map(float, GRAVITY), 0.0))
    before, nowhere = model.getGround(), opensim.Vec3(0.0)
    for k in range(LINKS):
        inertia = opensim.Inertia(*[INERTIA[k]] * 3)
        body = opensim.Body(f"link_{k}", MASS[k], opensim.Vec3(COM[k], 0.0, 0.0), inertia)
        place = opensim.Vec3(PLACE[k], 0.0, 0.0)
        model.addBody(body)
        model.addJoint(opensim.PinJoint(f"hinge_{k}", before, place, nowhere, body, nowhere, nowhere))
        before = body
    state, solver, vector = model.initSystem(), opensim.InverseDynamicsSolver(model), opensim.Vector.createFromMat
    torque = np.empty_like(motion[0])

    def job() -> FloatArray:
        for f, (q, v, a) in enumerate(zip(*motion, strict=True)):
            state.setQ(vector(q))
            state.setU(vector(v))
            torque[f] = solver.solve(state, vector(a)).to_numpy()
        return torque

    job.keep = model  # type: ignore[attr-defined]  # the solver does not own it
    return job


def biorbd_calls(motion: Motion) -> Torques:
    import biorbd

    lines = ["version 4", f"gravity {GRAVITY[0]} {GRAVITY[1]} 0"]
    for k in range(LINKS):
        lines += [
            f"segment link_{k}",
            f"  parent {f'link_{k - 1}' if k else 'root'}",
            "  rtinmatrix 0",
            f"  rt 0 0 0 xyz {PLACE[k]!r} 0 0",
            "  rotations z",
            f"  mass {MASS[k]!r}",
            f"  com {COM[k]!r} 0 0",
            f"  inertia {INERTIA[k]!r} 0 0  0 {INERTIA[k]!r} 0  0 0 {INERTIA[k]!r}",
            "endsegment",
        ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.bioMod"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        model = biorbd.Model(str(path))
    torque = np.empty_like(motion[0])

    def job() -> FloatArray:
        for f, state in enumerate(zip(*motion, strict=True)):
            torque[f] = model.InverseDynamics(*state).to_array()
        return torque

    return job

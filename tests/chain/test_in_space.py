"""Net moments in space: closed forms, the planar pass on projected centres, MuJoCo and Pinocchio."""

import numpy as np
import pytest

from limbtorque.chain.dynamics import newton_euler
from limbtorque.chain.in_space import net_moments
from limbtorque.chain.model import Chain, Kinematics, Load

FRAMES = 25
AXIAL = 1e-12  # of the inertia about a transverse axis: the peers' bodies cannot have none about their long axis
PEERS = 1e-9  # of the largest moment; what is found differs by 1e-14, and by the axial inertia
GRAVITY = np.array([0.0, 0.0, -9.81])


def random_chain(rng, n):
    length = rng.uniform(0.1, 0.6, n)
    mass = rng.uniform(0.3, 9.0, n)
    return Chain(length, mass, length * rng.uniform(0.1, 0.9, n), mass * (length * rng.uniform(0.2, 0.4, n)) ** 2)


def test_conical_pendulum_needs_no_moment():
    """A rod that hangs from a hinge and circles at the angle of w^2 cos(angle) = m g c / (I + m c^2)."""
    rod, angle = Chain([1.2], [3.0], [0.5], [0.3]), 0.7
    rate = np.sqrt(3.0 * 9.81 * 0.5 / ((0.3 + 3.0 * 0.25) * np.cos(angle)))
    turned = rate * np.linspace(0.0, 3.0, FRAMES)
    around = np.column_stack([np.cos(turned), np.sin(turned), np.zeros(FRAMES)]) * np.sin(angle)
    end = 1.2 * (around - [0.0, 0.0, np.cos(angle)])
    still = np.zeros((FRAMES, 3))
    moments = net_moments(
        rod, np.stack([still, end], 1), np.stack([still, -1.2 * rate**2 * around], 1), gravity_m_s2=GRAVITY
    )
    np.testing.assert_allclose(moments, 0.0, atol=1e-12 * 3.0 * 9.81)


def test_leg_abducted_at_rest():
    """Each joint carries the weight beyond it at its lever arm, about the forward axis alone, and the load's moment."""
    angle, side = 0.4, np.array([0.0, -1.0, 0.0])
    leg = Chain([0.4, 0.42, 0.2], [8.0, 3.0, 1.0], [0.17, 0.18, 0.1], [0.1, 0.05, 0.01])
    way = np.sin(angle) * side + [0.0, 0.0, -np.cos(angle)]
    joint = (np.array([0.1, 0.2, 0.9]) + np.outer([0.0, 0.4, 0.82, 1.02], way))[None]
    load = {"force_n": [0.0, 30.0, 0.0], "point_m": joint[0, 3], "couple_nm": [0.0, 0.0, 2.0]}
    moments = net_moments(leg, joint, np.zeros_like(joint), gravity_m_s2=GRAVITY, **load)[0]
    arms = [8.0 * 0.17 + 3.0 * 0.58 + 1.0 * 0.92, 3.0 * 0.18 + 1.0 * 0.52, 0.1]
    weight = -9.81 * np.sin(angle) * np.array(arms)  # about x: from the side axis -y to up, abduction of a right leg
    pull = -30.0 * np.cos(angle) * np.array([1.02, 0.62, 0.2])
    np.testing.assert_allclose(moments[:, 0], weight + pull, rtol=1e-12)
    np.testing.assert_allclose(moments[:, 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(moments[:, 2], -2.0, rtol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_moment_about_the_normal_is_that_of_the_planar_pass(n):
    """Links at constant inclinations to a plane, on a base that moves in all directions: the planar chain has their
    projected lengths, and the inertia of their projections."""
    rng = np.random.default_rng(n)
    chain, tilt = random_chain(rng, n), rng.uniform(-1.0, 1.0, n)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    axes = axes * np.linalg.det(axes)
    angle, velocity, acceleration = rng.uniform(-1.0, 1.0, (3, FRAMES, n)) * [[[4.0]], [[10.0]], [[80.0]]]
    base_m, base_m_s2, force, point, couple = rng.normal(size=(5, FRAMES, 3)) * [[[1]], [[20]], [[100]], [[1]], [[5]]]
    theta, omega, spin = (np.cumsum(each, axis=1) for each in (angle, velocity, acceleration))
    length = chain.length_m * np.cos(tilt)
    ahead = np.stack([np.cos(theta), np.sin(theta)], axis=2)
    across = np.stack([-np.sin(theta), np.cos(theta)], axis=2)
    steps = np.dstack([length[:, None] * ahead, np.broadcast_to(chain.length_m * np.sin(tilt), theta.shape)])
    turning = length[:, None] * (spin[..., None] * across - omega[..., None] ** 2 * ahead)
    turning = np.dstack([turning, np.zeros_like(theta)])
    joint, pushed = (
        np.cumsum(np.concatenate([base[:, None], each], axis=1), axis=1)
        for base, each in ((base_m, steps), (base_m_s2, turning))
    )
    flat = Chain(length, chain.mass_kg, chain.com_m * np.cos(tilt), chain.inertia_kgm2 * np.cos(tilt) ** 2)
    planar = newton_euler(
        flat,
        Kinematics(angle, velocity, acceleration, base_acceleration_m_s2=base_m_s2[:, :2]),
        gravity_m_s2=axes[:2] @ GRAVITY,
        loads=[Load(n - 1, force[:, :2], point[:, :2], couple[:, 2])],
        joint_m=joint[..., :2],
    ).torque_nm
    moments = net_moments(
        chain,
        joint @ axes,
        pushed @ axes,
        gravity_m_s2=GRAVITY,
        force_n=force @ axes,
        point_m=point @ axes,
        couple_nm=couple @ axes,
    )
    np.testing.assert_allclose(moments @ axes[2], planar, atol=1e-9 * np.abs(planar).max())


@pytest.mark.parametrize("n", [1, 3, 4])
def test_moments_are_those_of_pinocchio(n):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed (make peers)")
    rng = np.random.default_rng(10 + n)
    chain, model, joint, joints = random_chain(rng, n), pin.Model(), 0, []
    model.gravity = pin.Motion(GRAVITY, np.zeros(3))
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "base")
    for k in range(n):
        before = chain.length_m[k - 1] if k else 0.0
        joint = model.addJoint(
            joint, pin.JointModelSpherical(), pin.SE3(np.eye(3), np.array([before, 0.0, 0.0])), f"{k}"
        )
        inertia = chain.inertia_kgm2[k] * np.diag([AXIAL, 1.0, 1.0])
        body = pin.Inertia(chain.mass_kg[k], np.array([chain.com_m[k], 0.0, 0.0]), inertia)
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
        joints.append(joint)
    place = pin.SE3(np.eye(3), np.array([chain.length_m[-1], 0.0, 0.0]))
    end = model.addFrame(pin.Frame("end", joint, 0, place, pin.FrameType.OP_FRAME))
    data, world = model.createData(), pin.LOCAL_WORLD_ALIGNED
    for _ in range(FRAMES):
        q = pin.normalize(model, rng.normal(size=model.nq))
        v, a = rng.normal(size=(2, model.nv)) * [[5.0], [40.0]]
        force, point, couple = rng.normal(size=(3, 3)) * [[100.0], [1.0], [10.0]]
        pin.forwardKinematics(model, data, q, v, a)
        pin.updateFramePlacements(model, data)
        x = [*(data.oMi[k].translation for k in joints), data.oMf[end].translation]
        moved = [pin.getClassicalAcceleration(model, data, k, world).linear for k in joints]
        moved += [pin.getFrameClassicalAcceleration(model, data, end, world).linear]
        external = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
        external[joint] = data.oMi[joint].actInv(pin.Force(force, couple + np.cross(point, force)))
        found = net_moments(chain, [x], [moved], gravity_m_s2=GRAVITY, force_n=force, point_m=point, couple_nm=couple)[
            0
        ]
        local = pin.rnea(model, data, q, v, a, external)[3:].reshape(n, 3)
        expected = np.array([data.oMi[k].rotation @ part for k, part in zip(joints, local, strict=True)])
        np.testing.assert_allclose(found, expected, atol=PEERS * np.abs(expected).max())


@pytest.mark.parametrize("n", [1, 3, 4])
def test_moments_are_those_of_mujoco(n):
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed (make peers)")
    rng = np.random.default_rng(20 + n)
    chain, spec = random_chain(rng, n), mujoco.MjSpec()
    spec.option.gravity, spec.compiler.balanceinertia, spec.compiler.boundinertia = GRAVITY, False, 0.0
    body = spec.worldbody
    for k in range(n):
        body = body.add_body(pos=[chain.length_m[k - 1] if k else 0.0, 0.0, 0.0])
        for axis in np.eye(3) if k == 0 else ():
            body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
        body.explicitinertial, body.mass, body.ipos = True, chain.mass_kg[k], [chain.com_m[k], 0.0, 0.0]
        body.inertia = chain.inertia_kgm2[k] * np.array([AXIAL, 1.0, 1.0])
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model = spec.compile()
    data = mujoco.MjData(model)
    for _ in range(FRAMES):
        data.qpos[:] = np.concatenate([rng.normal(size=3), rng.normal(size=4 * n)])
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:], data.qacc[:] = rng.normal(size=(2, model.nv)) * [[5.0], [40.0]]
        force, point, couple = rng.normal(size=(3, 3)) * [[100.0], [1.0], [10.0]]
        mujoco.mj_inverse(model, data)
        mujoco.mj_fwdVelocity(model, data)
        on = [*range(1, n + 1), n]
        x = np.array([*data.xpos[1:], data.xpos[n] + data.xmat[n].reshape(3, 3)[:, 0] * chain.length_m[-1]])
        moved, (jacobian, rate, load) = [], (np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros(model.nv))
        for place, k in zip(x, on, strict=True):
            mujoco.mj_jac(model, data, jacobian, None, place, k)
            mujoco.mj_jacDot(model, data, rate, None, place, k)
            moved.append(jacobian @ data.qacc + rate @ data.qvel)
        mujoco.mj_applyFT(model, data, force, couple, point, n, load)
        found = net_moments(chain, [x], [moved], gravity_m_s2=GRAVITY, force_n=force, point_m=point, couple_nm=couple)[
            0
        ]
        local = (data.qfrc_inverse - load)[3:].reshape(n, 3)
        expected = np.einsum("kij,kj->ki", data.xmat[1:].reshape(n, 3, 3), local)
        np.testing.assert_allclose(found, expected, atol=PEERS * np.abs(expected).max())


def test_unknown_load_gives_nan_in_its_frames_only():
    rng = np.random.default_rng(1)
    joint, force = rng.normal(size=(FRAMES, 4, 3)), np.zeros((FRAMES, 3))
    force[3] = np.nan
    moments = net_moments(random_chain(rng, 3), joint, joint, gravity_m_s2=GRAVITY, force_n=force)
    assert np.isnan(moments).any(axis=(1, 2)).nonzero()[0].tolist() == [3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joint_m": np.zeros((2, 3, 3))}, "joint_m has shape"),
        ({"acceleration_m_s2": np.zeros((3, 2, 3))}, "3 frames"),
        ({"gravity_m_s2": (0.0, -9.81)}, "gravity_m_s2 has shape"),
        ({"force_n": np.zeros((3, 3))}, "shape"),
    ],
)
def test_wrong_shapes_are_refused(change, message):
    good = {"joint_m": np.zeros((2, 2, 3)), "acceleration_m_s2": np.zeros((2, 2, 3)), "gravity_m_s2": GRAVITY}
    with pytest.raises(ValueError, match=message):
        net_moments(Chain([1.0], [1.0], [0.5], [0.1]), **{**good, **change})

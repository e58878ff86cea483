"""Motion and moments in space: derivatives, Newton's law, and MuJoCo's inverse dynamics of the same motion."""

import numpy as np
import pytest

from bodies import SIDES, make_person
from space import G, flexion_terms, net_moments, whole
from walks import Style, walk_in_space

TIME_S = 0.31 + 0.003 * np.arange(41)


@pytest.fixture(scope="module", params=["like tables", "unlike"])
def walked(request):
    """A turn of a person, whose knee's axis is tilted and moves in one of the cases."""
    unlike = np.random.default_rng(3) if request.param == "unlike" else None
    person = make_person("S01", "leg", mass_kg=64.0, height_m=1.68, unlike=unlike)
    style = Style(direction_deg=70.0, radius_m=3.0, first_strike_s=0.1)
    return person, style, walk_in_space(person, style, TIME_S)


def test_derivatives_of_coordinates_are_differences(walked):
    person, style, moved = walked
    h = 1e-4
    after, before = (walk_in_space(person, style, TIME_S + sign * h).motion for sign in (1.0, -1.0))
    for name, angle in moved.motion.angle_rad.items():
        a, b = after.angle_rad[name][0], before.angle_rad[name][0]
        np.testing.assert_allclose(angle[1], (a - b) / (2.0 * h), atol=1e-5)
        np.testing.assert_allclose(angle[2], (a - 2.0 * angle[0] + b) / h**2, atol=2e-3)


def test_loads_balance_the_whole_body(walked):
    person, _, moved = walked
    force, moment = whole(person.body, moved.states)
    np.testing.assert_allclose(sum(load.force_n for load in moved.loads), force, atol=1e-9)
    total = sum(np.cross(load.point_m, load.force_n) + load.moment_nm for load in moved.loads)
    np.testing.assert_allclose(total, moment, atol=1e-8)
    at_base = net_moments(person.body, moved.states, moved.loads)["pelvis"]
    np.testing.assert_allclose(at_base, 0.0, atol=1e-8)


def test_stance_foot_does_not_slip(walked):
    """The head of metatarsal 2 rests between foot flat and heel off: 13 to 28 % of the stride."""
    person, style, _ = walked
    flat = style.first_strike_s + style.stride_s * np.linspace(0.14, 0.28, 9)
    foot = walk_in_space(person, style, flat).states["right_foot"]
    assert np.ptp(foot.point(person.body["right_foot"].markers_m["RTOE"]), axis=0).max() < 1e-9


def test_terms_add_up_to_the_net_moment(walked):
    person, _, moved = walked
    net = net_moments(person.body, moved.states, moved.loads)
    for side in SIDES:
        limb = person.limbs[side]
        terms = flexion_terms(person.body, moved.motion, moved.loads, limb, planar=False)
        total = np.stack([net[name][:, 0] for name in limb], axis=1)
        np.testing.assert_allclose(sum(terms.values()), total, atol=1e-9)


def test_moments_are_those_of_mujoco(walked):
    mujoco = pytest.importorskip("mujoco")
    person, _, moved = walked
    model = mujoco.MjModel.from_xml_string(mujoco_xml(person.body))
    data = mujoco.MjData(model)
    ours = net_moments(person.body, moved.states, moved.loads)
    theirs = {name: np.zeros_like(values) for name, values in ours.items()}
    for frame in range(len(TIME_S)):
        for name in person.body:
            place = moved.motion.shift_m.get(name, np.zeros((3, len(TIME_S), 3)))
            for kind, values in (("slide", place), ("hinge", moved.motion.angle_rad[name])):
                for k in range(3):
                    at = model.joint(f"{name}_{kind}_{k}").id
                    data.qpos[at], data.qvel[at], data.qacc[at] = values[:, frame, k]
        mujoco.mj_inverse(model, data)
        needed = data.qfrc_inverse.copy()
        for load in moved.loads:
            pushed = np.zeros(model.nv)
            body = model.body(load.segment).id
            mujoco.mj_applyFT(
                model, data, load.force_n[frame], load.moment_nm[frame], load.point_m[frame], body, pushed
            )
            needed -= pushed
        for name in person.body:
            theirs[name][frame] = [needed[model.joint(f"{name}_hinge_{k}").id] for k in range(3)]
    for name, values in ours.items():
        np.testing.assert_allclose(theirs[name], values, atol=1e-8 * person.mass_kg * G * person.height_m)


def mujoco_xml(body):
    """The body for MuJoCo: three slides and three hinges in every joint."""

    def numbers(values):
        return " ".join(repr(float(value)) for value in np.ravel(values))

    def element(name):
        segment = body[name]
        slides = [f'<joint name="{name}_slide_{k}" type="slide" axis="{numbers(np.eye(3)[k])}"/>' for k in range(3)]
        hinges = [
            f'<joint name="{name}_hinge_{k}" type="hinge" axis="{numbers(axis)}"/>'
            for k, axis in enumerate(segment.axes)
        ]
        inertial = f'<inertial pos="{numbers(segment.com_m)}" mass="{numbers(segment.mass_kg)}" diaginertia="{numbers(np.diag(segment.inertia_kgm2))}"/>'
        children = "".join(element(child) for child, other in body.items() if other.parent == name)
        return f'<body name="{name}" pos="{numbers(segment.centre_m)}">{inertial}{"".join(slides + hinges)}{children}</body>'

    (root,) = (name for name, segment in body.items() if not segment.parent)
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="0 {-G} 0"/><worldbody>{element(root)}</worldbody></mujoco>'
    )

"""Muscle sets from OpenSim models: closed forms, OpenSim's own paths at recorded coordinates, and every fault.

Models with known moment arms are written by the tests. Those that need the package ``opensim`` are skipped without it.
"""

import math
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from opensim_storage import read_storage
from pulls import implied_arm, pull_direction

from limbtorque.cli.import_muscles import in_child
from limbtorque.cli.main import main
from limbtorque.errors import ModelError
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.opensim_models.import_set import ImportOptions, import_muscle_set, short_name
from limbtorque.muscles.opensim_models.joints import JointChoice, ModelJoint
from limbtorque.muscles.opensim_models.model import check_model, read_model
from limbtorque.muscles.opensim_models.samples import (
    Samples,
    fit_lengths,
    largest_jump,
    sample,
    unbroken,
)
from limbtorque.muscles.sets.moment_arm_curves import derivative, evaluate, interpolating_spline
from limbtorque.muscles.sets.muscle_set import load_muscle_set

NOTHING = JointChoice({}, {})
RIGHT_LEG = ImportOptions("right", "leg", NOTHING, {})
THIGH, SHANK = 0.42, 0.40


@pytest.fixture(scope="module")
def opensim():
    return pytest.importorskip("opensim", reason="the package opensim is not installed")


# --- models of known moment arms ---------------------------------------------------------------------------------


def body(name):
    return (
        f"<Body name='{name}'><mass>5</mass><mass_center>0 -0.2 0</mass_center><inertia>.1 .1 .1 0 0 0</inertia></Body>"
    )


def pin(name, coordinate, parent, child, *, at, turn="0 0 0", limits=(-0.5, 2.0), more=""):
    """A hinge about z; turned by (pi, 0, 0) about minus z."""
    frames = [("parent_offset", parent, at), ("child_offset", child, "0 0 0")]
    return f"""<PinJoint name='{name}'><socket_parent_frame>parent_offset</socket_parent_frame>
        <socket_child_frame>child_offset</socket_child_frame><coordinates><Coordinate name='{coordinate}'>
        <default_value>0</default_value><range>{limits[0]} {limits[1]}</range>{more}</Coordinate></coordinates><frames>{
        "".join(
            f"<PhysicalOffsetFrame name='{frame}'><socket_parent>{of}</socket_parent><translation>{place}</translation>"
            f"<orientation>{turn}</orientation></PhysicalOffsetFrame>"
            for frame, of, place in frames
        )
    }</frames></PinJoint>"""


def muscle(name, *points, force=1000.0):
    path = "".join(
        f"<PathPoint name='p{i}'><socket_parent_frame>{of}</socket_parent_frame><location>{x} {y} {z}</location></PathPoint>"
        for i, (of, x, y, z) in enumerate(points)
    )
    return f"""<Millard2012EquilibriumMuscle name='{name}'><GeometryPath name='path'><PathPointSet>
        <objects>{path}</objects></PathPointSet></GeometryPath><max_isometric_force>{force}</max_isometric_force>
        <optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.2</tendon_slack_length>
        <pennation_angle_at_optimal>0.25</pennation_angle_at_optimal></Millard2012EquilibriumMuscle>"""


def model_text(bodies, joints, muscles, constraints=()):
    return f"""<?xml version="1.0" encoding="UTF-8"?><OpenSimDocument Version="40500"><Model name="links">
        <Ground name="ground"/><BodySet name="bodyset"><objects>{"".join(map(body, bodies))}</objects></BodySet>
        <JointSet name="jointset"><objects>{"".join(joints)}</objects></JointSet>
        <ConstraintSet name="constraintset"><objects>{"".join(constraints)}</objects></ConstraintSet>
        <ForceSet name="forceset"><objects>{"".join(muscles)}</objects></ForceSet></Model></OpenSimDocument>"""


HIP = pin("hip_r", "hip_flexion_r", "/ground", "/bodyset/femur_r", at="0 1 0", limits=(-0.5, 1.5))
KNEE = {
    "flexion positive": pin(
        "knee_r", "knee_angle_r", "/bodyset/femur_r", "/bodyset/tibia_r", at=f"0 {-THIGH} 0", turn=f"{math.pi} 0 0",
        limits=(0.0, 2.0),
    ),
    "extension positive": pin(
        "knee_r", "knee_angle_r", "/bodyset/femur_r", "/bodyset/tibia_r", at=f"0 {-THIGH} 0", limits=(-2.0, 0.0)
    ),
}  # fmt: skip
SHORT = ("short_r", ("/bodyset/femur_r", -0.02, -0.15, 0.0), ("/bodyset/tibia_r", -0.03, -0.05, 0.0))
LONG = ("long_r", ("/ground", -0.06, 0.95, 0.0), ("/bodyset/tibia_r", -0.04, -0.06, 0.0))


def turned(angle, x, y):
    return np.array([np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y])


def long_length(hip, knee):
    """Length of `LONG`: from a point of the pelvis to one of the shank."""
    joint = turned(hip, 0.0, -THIGH)
    end = joint + turned(hip - knee, -0.04, -0.06)
    return np.hypot(end[0] + 0.06, end[1] + 0.05)


def short_length(knee):
    end = np.array([0.0, -THIGH])[:, None] + turned(-np.atleast_1d(knee), -0.03, -0.05)
    return np.hypot(end[0] + 0.02, end[1] + 0.15)


def slope(length, values, i, step=1e-6):
    """Minus the derivative by one argument, by central differences: the moment arm."""
    ahead, behind = [list(values), list(values)]
    ahead[i], behind[i] = values[i] + step, values[i] - step
    return -(length(*ahead) - length(*behind)) / (2 * step)


@pytest.fixture
def leg_model(tmp_path):
    def write(knee="flexion positive", *, joints=(), muscles=(), bodies=(), constraints=(), changes=()):
        path = tmp_path / "links.osim"
        every = [muscle(*SHORT, force=500.0), muscle(*LONG), *muscles]
        text = model_text(["femur_r", "tibia_r", *bodies], [HIP, KNEE[knee], *joints], every, constraints)
        for old, new in changes:
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("knee", KNEE)
@pytest.mark.usefixtures("opensim")
def test_arms_and_lengths_of_two_links_are_those_of_the_closed_form(leg_model, knee):
    found = import_muscle_set(leg_model(knee), RIGHT_LEG)
    rng = np.random.default_rng(1)
    hip, bent = rng.uniform(-0.45, 1.45, 200), rng.uniform(0.05, 1.95, 200)
    ours = musculotendon(found.muscle_set, np.column_stack([hip, bent, 0 * hip]))
    assert found.muscle_set.names == ("short", "long")
    assert not ours.out_of_range.any()
    np.testing.assert_allclose(ours.length_m[:, 0], short_length(bent), atol=5e-5)
    np.testing.assert_allclose(ours.length_m[:, 1], long_length(hip, bent), atol=5e-5)
    np.testing.assert_allclose(ours.moment_arm_m[:, 1, 0], slope(short_length, [bent], 0), atol=5e-4)
    np.testing.assert_allclose(ours.moment_arm_m[:, 0, 1], slope(long_length, [hip, bent], 0), atol=5e-4)
    np.testing.assert_allclose(ours.moment_arm_m[:, 1, 1], slope(long_length, [hip, bent], 1), atol=5e-4)
    assert (ours.moment_arm_m[:, [0, 2], 0] == 0).all()
    assert (ours.moment_arm_m[:, 2] == 0).all()


@pytest.mark.usefixtures("opensim")
def test_stated_errors_are_those_of_the_fit(leg_model):
    found = import_muscle_set(leg_model(), RIGHT_LEG)
    one = found.muscles[1]
    assert one.fit.joints == ("hip", "knee")
    assert max(one.fit.arm_rms_m.values()) < 1e-4
    lines = [np.linspace(*np.radians(line[[0, -1]]), 60) for line in one.fit.flexion_deg]
    hip, bent = (grid.ravel() for grid in np.meshgrid(*lines, indexing="ij"))
    arms = musculotendon(found.muscle_set, np.column_stack([hip, bent, 0 * hip])).moment_arm_m[:, :2, 1]
    for j, joint in enumerate(one.fit.joints):
        off = arms[:, j] - slope(long_length, [hip, bent], j)
        assert np.sqrt(np.mean(off**2)) == pytest.approx(one.fit.arm_rms_m[joint], rel=0.15, abs=2e-6)
        assert np.abs(off).max() == pytest.approx(one.fit.arm_max_m[joint], rel=0.15, abs=5e-6)
        stated = found.content["muscles"][1]["moment_arms"][joint]
        assert stated["rms_departure_m"] == round(one.fit.arm_rms_m[joint], 5)


@pytest.mark.usefixtures("opensim")
def test_strength_fibres_and_reference_are_the_models(leg_model):
    found = import_muscle_set(leg_model(), RIGHT_LEG).muscle_set
    assert found.max_force_n.tolist() == [500.0, 1000.0]
    long = found.muscles[1]
    assert (long.optimal_fibre_length_m, long.tendon_slack_length_m, long.pennation_rad) == (0.1, 0.2, 0.25)
    assert long.tendon_strain == 0.049  # of Millard et al. (2013), where the model states none
    assert long.function == {"hip": "extensor", "knee": "flexor"}
    assert found.reference.segment_length_m == {"hip": THIGH}
    assert found.reference.mass_kg is None  # ten kilograms are no body


@pytest.mark.parametrize(
    ("kind", "stated"),
    [
        ("Thelen2003Muscle", "<FmaxTendonStrain>0.033</FmaxTendonStrain>"),
        ("DeGrooteFregly2016Muscle", "<tendon_strain_at_one_norm_force>0.1</tendon_strain_at_one_norm_force>"),
    ],
)
@pytest.mark.usefixtures("opensim")
def test_strain_of_the_tendon_is_the_models(leg_model, kind, stated):
    millards = "Millard2012EquilibriumMuscle"
    path = leg_model(changes=[(f"</{millards}>", stated + f"</{kind}>"), (f"<{millards}", f"<{kind}")])
    strain = {muscle.tendon_strain for muscle in import_muscle_set(path, RIGHT_LEG).muscle_set.muscles}
    assert strain == {float(stated.partition(">")[2].partition("<")[0])}


@pytest.mark.usefixtures("opensim")
def test_line_of_action_has_the_arm_of_the_path(leg_model):
    found = import_muscle_set(leg_model(), RIGHT_LEG).muscle_set
    line = found.muscles[0].lines_of_action["knee"]
    np.testing.assert_allclose([*line.proximal_m, *line.distal_m], [THIGH - 0.15, 0.02, 0.05, 0.03], atol=1e-4)
    bent = np.linspace(0.0, 1.9, 20)
    arm = implied_arm(line, proximal_rad=np.full(20, -np.pi / 2), distal_rad=-np.pi / 2 - bent, flexion_sign=-1.0)
    np.testing.assert_allclose(arm, slope(short_length, [bent], 0), atol=1e-5)


@pytest.mark.usefixtures("opensim")
def test_line_from_the_segment_before_is_the_nearest_to_arm_and_direction(leg_model):
    """The long muscle comes from the pelvis: its line at the knee turns with the hip, and no fixed line has its arm."""
    found = import_muscle_set(leg_model(), RIGHT_LEG).muscle_set
    line = found.muscles[1].lines_of_action["knee"]
    hip, bent = (grid.ravel() for grid in np.meshgrid([0.0, 0.5], np.linspace(0.0, 2.0, 13), indexing="ij"))
    distal = -np.pi / 2 - bent
    options = {"proximal_rad": np.full(26, -np.pi / 2), "distal_rad": distal, "flexion_sign": -1.0}
    off = implied_arm(line, **options) - slope(long_length, [hip, bent], 1)
    assert f"within {1e3 * np.abs(off).max():.1f} mm of the model's" in line.note
    assert np.abs(off).max() <= 3e-3
    knee = np.array([0.0 * hip, np.full(26, -THIGH)])
    origin = np.array([turned(-h, -0.06, -0.05) for h in hip]).T  # seen from the thigh
    true = origin - knee - np.array([turned(-b, -0.04, -0.06) for b in bent]).T
    pull = pull_direction(line, **options).T
    across = (pull[0] * true[1] - pull[1] * true[0]) / np.hypot(*true)
    worst = np.degrees(np.abs(np.arcsin(across))).max()
    assert f"the direction within {worst:.0f} deg" in line.note


@pytest.mark.usefixtures("opensim")
def test_coordinate_that_follows_the_knee_moves_with_it(leg_model):
    """A lever on the thigh turns half as far as the knee: the arm at the knee is half of that at the lever."""
    lever = pin(
        "lever_r", "lever_angle_r", "/bodyset/femur_r", "/bodyset/lever_r", at=f"0 {-THIGH} 0", turn=f"{math.pi} 0 0"
    )
    coupler = """<CoordinateCouplerConstraint name='c'><isEnforced>true</isEnforced><coupled_coordinates_function>
        <LinearFunction><coefficients> 0.5 0</coefficients></LinearFunction></coupled_coordinates_function>
        <independent_coordinate_names>knee_angle_r</independent_coordinate_names>
        <dependent_coordinate_name>lever_angle_r</dependent_coordinate_name></CoordinateCouplerConstraint>"""
    pull = muscle("pull_r", ("/bodyset/femur_r", -0.02, -0.15, 0.0), ("/bodyset/lever_r", -0.03, -0.05, 0.0))
    found = import_muscle_set(
        leg_model(joints=[lever], bodies=["lever_r"], muscles=[pull], constraints=[coupler]), RIGHT_LEG
    )
    bent = np.linspace(0.0, 1.9, 40)
    ours = musculotendon(found.muscle_set, np.column_stack([0 * bent, bent, 0 * bent]))
    np.testing.assert_allclose(ours.length_m[:, 2], short_length(bent / 2), atol=5e-5)
    np.testing.assert_allclose(ours.moment_arm_m[:, 1, 2], slope(short_length, [bent / 2], 0) / 2, atol=2e-4)
    assert found.muscle_set.muscles[2].lines_of_action["knee"].parallel_to == "distal"


@pytest.mark.usefixtures("opensim")
def test_locked_joint_is_moved_and_said(leg_model):
    path = leg_model(changes=[("<range>0.0 2.0</range>", "<range>0.0 2.0</range><locked>true</locked>")])
    found = import_muscle_set(path, RIGHT_LEG)
    assert any("locks knee_angle_r" in note for note in found.notes)
    arm = musculotendon(found.muscle_set, [[0.0, 1.0, 0.0]]).moment_arm_m[0, 1, 0]
    assert arm == pytest.approx(float(slope(short_length, [1.0], 0)[0]), abs=2e-4)


@pytest.mark.usefixtures("opensim")
def test_range_beyond_the_models_own_is_sampled_and_said(leg_model):
    path = leg_model(changes=[("<range>0.0 2.0</range>", "<range>0.0 2.0</range><clamped>true</clamped>")])
    found = import_muscle_set(path, replace(RIGHT_LEG, choice=JointChoice({}, {"knee": (-20.0, 90.0)})))
    assert any("knee was sampled beyond the model's own range, 0 to 115 deg" in note for note in found.notes)
    ours = musculotendon(found.muscle_set, [[0.0, -0.3, 0.0]])
    assert ours.length_m[0, 0] == pytest.approx(float(short_length(-0.3)[0]), abs=5e-5)


@pytest.mark.usefixtures("opensim")
def test_arms_in_other_planes_are_named(leg_model):
    aside = pin("hip_r", "hip_adduction_r", "/ground", "/bodyset/pelvis_r", at="0 1 0", turn=f"0 {math.pi / 2} 0")
    hip = pin("hip2_r", "hip_flexion_r", "/bodyset/pelvis_r", "/bodyset/femur_r", at="0 0 0", limits=(-0.5, 1.5))
    path = leg_model()
    path.write_text(
        model_text(
            ["pelvis_r", "femur_r", "tibia_r"],
            [aside, hip, KNEE["flexion positive"]],
            [muscle("side_r", ("/ground", -0.02, 1.02, 0.1), ("/bodyset/femur_r", -0.02, -0.1, 0.05))],
        ),
        encoding="utf-8",
    )
    found = import_muscle_set(path, RIGHT_LEG)
    begin, end = np.array([0.02, 0.1]), np.array([-0.1, 0.05])  # y and z from the hip; both points have the same x
    arm = abs(begin[0] * end[1] - begin[1] * end[0]) / math.hypot(*(end - begin))
    assert abs(found.muscles[0].other_planes_m["hip_adduction_r"]) == pytest.approx(arm, abs=1e-6)
    assert "hip_adduction_r" in found.content["muscles"][0]["source"]["other_planes"]


@pytest.mark.usefixtures("opensim")
def test_held_coordinate_changes_the_posture(leg_model):
    lever = pin("extra_r", "extra_r", "/ground", "/bodyset/plate_r", at="0 1 0")
    pull = muscle("pull_r", ("/bodyset/plate_r", -0.06, -0.05, 0.0), ("/bodyset/tibia_r", -0.04, -0.06, 0.0))
    path = leg_model(joints=[lever], bodies=["plate_r"], muscles=[pull])
    held = import_muscle_set(path, ImportOptions("right", "leg", NOTHING, {"extra_r": 20.0}))
    ours = musculotendon(held.muscle_set, [[0.5, 0.7, 0.0]]).length_m[0, 2]
    assert ours == pytest.approx(long_length(0.5 - math.radians(20.0), 0.7), abs=1e-4)


# --- faults of models --------------------------------------------------------------------------------------------


def fault(path, **changes):
    options = {"side": "right", "chain": "leg", "choice": NOTHING, "held_deg": {}, **changes}
    with pytest.raises(ModelError) as error:
        import_muscle_set(path, ImportOptions(**options))
    return str(error.value)


@pytest.mark.usefixtures("opensim")
def test_joint_out_of_the_plane_is_refused(leg_model):
    path = leg_model(changes=[(f"{math.pi} 0 0", f"0 {math.pi / 2} 0")])
    said = fault(path)
    assert "the knee's coordinate knee_angle_r turns about an axis 90 deg from the normal" in said
    assert "--hold" in said
    assert "leave it out (knee=none)" in said
    found = import_muscle_set(path, replace(RIGHT_LEG, choice=JointChoice({"knee": "none"}, {})))
    assert found.muscle_set.names == ("long",)
    assert found.muscle_set.muscles[0].moment_arms["knee"].is_zero
    assert any("has no knee and no ankle" in note for note in found.notes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"side": "left"}, "no joint of the left leg recognised; choose the other side"),
        ({"choice": JointChoice({"knee": "knee_angel_r"}, {})}, "no coordinate 'knee_angel_r' for the knee"),
        (
            {"choice": JointChoice({"kne": "knee_angle_r"}, {})},
            "the leg has no joint 'kne', expected hip, knee, ankle; did",
        ),
        ({"choice": JointChoice({}, {"knee": (20.0, 20.0)})}, "range of flexion of 20 to 20 deg"),
        (
            {"choice": JointChoice({"hip": "knee_angle_r", "knee": "hip_flexion_r"}, {})},
            "knee_angle_r (hip) does not move femur_r",
        ),
        ({"held_deg": {"pelvis": 3.0}}, "no coordinate 'pelvis' to hold"),
    ],
)
@pytest.mark.usefixtures("opensim")
def test_joints_that_do_not_fit_the_chain_are_named(leg_model, changes, words):
    assert words in fault(leg_model(), **changes)


@pytest.mark.usefixtures("opensim")
def test_model_without_muscles_at_the_joints_is_refused(leg_model):
    path = leg_model()
    path.write_text(
        model_text(
            ["femur_r", "tibia_r"],
            [HIP, KNEE["flexion positive"]],
            [muscle("m", ("/ground", 0, 0, 0), ("/ground", 0, 1, 0))],
        ),
        encoding="utf-8",
    )
    assert "none of its 1 muscles crosses the joints of the right leg" in fault(path)


@pytest.mark.usefixtures("opensim")
def test_joints_that_meet_leave_the_axes_of_the_anatomical_position(leg_model):
    found = import_muscle_set(leg_model(changes=[(f"0 {-THIGH} 0", "0 0 0")]), RIGHT_LEG)
    assert found.muscle_set.reference is None
    line = found.muscle_set.muscles[0].lines_of_action["knee"]
    np.testing.assert_allclose([*line.proximal_m, *line.distal_m], [-0.15, 0.02, 0.05, 0.03], atol=1e-4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not xml", "is not readable as XML"),
        ("<a/>", "is a, expected an OpenSim model"),
        ("<OpenSimDocument><Set_FunctionBasedPath_/></OpenSimDocument>", "with Set_FunctionBasedPath_, expected"),
    ],
)
def test_file_that_is_no_model_is_refused_before_opensim_sees_it(tmp_path, text, words):
    path = tmp_path / "model.osim"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=words):
        check_model(path)
    with pytest.raises(ModelError, match="there is no such file"):
        check_model(tmp_path / "other.osim")
    with pytest.raises(ModelError, match="is a folder"):
        check_model(tmp_path)


def test_missing_package_is_a_sentence(leg_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "opensim", None)
    with pytest.raises(ModelError, match=r"pip install 'limbtorque\[opensim\]'"):
        read_model(leg_model())


def test_crash_of_opensim_is_a_sentence():
    with pytest.raises(ModelError, match=r"model.osim: OpenSim crashed"):
        in_child(Path("model.osim"), os._exit, 3)


# --- without the package: grids, fits, breaks --------------------------------------------------------------------


class Planar:
    """The two links as a model that needs no package."""

    def pose(self, values):
        self.values = values

    def length(self, _):
        return float(long_length(self.values["h"], -self.values["k"]))

    def arm(self, _, coordinate):
        angles = [self.values["h"], -self.values["k"]]
        return float(slope(long_length, angles, "hk".index(coordinate)) * (1.0 if coordinate == "h" else -1.0))


JOINTS = (ModelJoint("hip", "h", 1.0, (-30.0, 90.0), 0.0), ModelJoint("knee", "k", -1.0, (0.0, 115.0), 0.0))


@pytest.fixture(scope="module")
def samples():
    (found,) = sample(Planar(), {"long_r": JOINTS})
    return found


def test_samples_are_in_flexion(samples):
    hip, knee = np.meshgrid(
        *np.radians(samples.flexion_deg[0])[None], np.radians(samples.flexion_deg[1]), indexing="ij"
    )
    np.testing.assert_allclose(samples.length_m[0], long_length(hip, knee), atol=1e-12)
    np.testing.assert_allclose(samples.arm_m[0, 1], slope(long_length, [hip, knee], 1), atol=1e-8)


def test_fit_holds_between_the_samples(samples):
    fit = fit_lengths(samples)["long_r"]
    curve = interpolating_spline([np.radians(line) for line in fit.flexion_deg], fit.lengths_m, joints=fit.joints)
    rng = np.random.default_rng(2)
    hip, knee = rng.uniform(*np.radians([-30, 90]), 500), rng.uniform(*np.radians([0, 115]), 500)
    for j, joint in enumerate(fit.joints):
        off = -evaluate(derivative(curve, joint), [hip, knee]) - slope(long_length, [hip, knee], j)
        assert np.sqrt(np.mean(off**2)) < 1.3e-4  # the fit's aim is 0.1 mm at samples left out
    assert fit.left_out_rms_m <= 1e-4
    assert fit.lengths_m.size < samples.length_m[0].size / 4


def test_coarse_grid_is_not_enough_for_a_kink():
    flexion = np.linspace(0.0, 100.0, 41)
    arm = np.where(flexion < 45, 0.03, 0.03 + 0.0004 * (flexion - 45))
    length = 0.3 - np.concatenate([[0.0], np.cumsum((arm[1:] + arm[:-1]) / 2 * np.diff(np.radians(flexion)))])
    fit = fit_lengths(Samples(("m",), ("knee",), (flexion,), length[None], arm[None, None]))["m"]
    assert len(fit.lengths_m) > 8
    assert fit.arm_rms_m["knee"] < 1.5e-4
    smooth = fit_lengths(
        Samples(("m",), ("knee",), (flexion,), 0.3 - 0.03 * np.radians(flexion)[None], np.full((1, 1, 41), 0.03))
    )["m"]
    assert len(smooth.lengths_m) == 3
    assert smooth.arm_max_m["knee"] < 1e-9


def broken(samples, *, arm_after=None, length_after=None):
    """The samples with a moment arm of another sense, or a longer muscle, after some flexion of the knee."""
    arm, length = samples.arm_m.copy(), samples.length_m.copy()
    if arm_after is not None:
        arm[0, 1][:, samples.flexion_deg[1] > arm_after] *= -1.0
    if length_after is not None:
        length[0][:, samples.flexion_deg[1] > length_after] += 0.003
    return Samples(samples.muscles, samples.joints, samples.flexion_deg, length, arm)


def test_range_ends_where_the_arm_steps(samples):
    ((whole, none),) = unbroken(samples)
    assert none == ()
    assert whole.length_m.shape == samples.length_m.shape
    ((part, (found,)),) = unbroken(broken(samples, arm_after=80.0))
    assert (found.muscle, found.joint) == ("long_r", "knee")
    assert found.between_deg[0] <= 80.0 < found.between_deg[1]
    assert part.flexion_deg[1][-1] == found.between_deg[0]
    assert part.length_m.shape[1:] == tuple(map(len, part.flexion_deg))
    assert fit_lengths(part)["long_r"].arm_rms_m["knee"] < 1e-4


def test_step_at_an_edge_costs_the_edge_only(samples):
    """An arm that steps at the greatest flexion of the knee steps along the hip there, too; only the knee's range ends."""
    arm = samples.arm_m.copy()
    arm[0, :, 10:, -1] += 0.05
    ((part, (found,)),) = unbroken(Samples(samples.muscles, samples.joints, samples.flexion_deg, samples.length_m, arm))
    assert found.joint == "knee"
    assert part.length_m.shape[1:] == (samples.length_m.shape[1], samples.length_m.shape[2] - 1)


def test_jump_of_the_length_is_stated_and_the_arm_followed(samples):
    assert largest_jump(samples, 0) is None
    jumping = broken(samples, length_after=60.0)
    found = largest_jump(jumping, 0)
    assert found.joint == "knee"
    assert found.size_m == pytest.approx(0.003, abs=1e-5)
    assert found.between_deg[0] <= 60.0 < found.between_deg[1]
    fit = fit_lengths(jumping)["long_r"]
    assert fit.arm_rms_m["knee"] < 5e-4
    assert fit.length_max_m > 1e-3


def test_names_lose_their_side_unless_two_would_meet():
    names = ["soleus_r", "soleus_l", "r_biceps", "psoas", "psoas_r"]
    assert [short_name(name, names) for name in names] == ["soleus", "soleus", "biceps", "psoas", "psoas_r"]


# --- the command -------------------------------------------------------------------------------------------------


def run(*words):
    return main(["muscles", "import", *map(str, words), "--plane", "sagittal"])


@pytest.mark.usefixtures("opensim")
def test_command_writes_a_set_that_loads(leg_model, tmp_path, capsys):
    output = tmp_path / "leg.yaml"
    assert run(leg_model(), "--side", "right", "--output", output, "--range", "knee=0:100") == 0
    said = capsys.readouterr().out
    assert "2 muscles; error of the moment arms" in said
    assert f"written: {output}" in said
    loaded = load_muscle_set(output)
    assert loaded.muscles[0].range_rad["knee"] == pytest.approx((0.0, math.radians(100.0)))
    before = output.read_bytes()
    assert run(leg_model(), "--side", "right", "--output", output) == 1
    assert "is not overwritten" in capsys.readouterr().err
    assert output.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--range", "knee=a:b"], "--range knee: 'a' is not a number"),
        (["--range", "knee"], "--range knee: expected JOINT=LOW:HIGH"),
        (["--hold", "x=y"], "--hold x: 'y' is not a number"),
        (["--coordinate", "=x"], "--coordinate =x: expected JOINT=NAME"),
    ],
)
def test_unreadable_options_are_named(leg_model, tmp_path, capsys, words, said):
    assert run(leg_model(), "--side", "right", "--output", tmp_path / "x.yaml", *words) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "x.yaml").exists()


# --- published models --------------------------------------------------------------------------------------------


def recorded(path, in_degrees):
    """Coordinates of a storage file, rad; columns without their paths."""
    columns = {name.removesuffix("/value").rpartition("/")[2]: values for name, values in read_storage(path).items()}
    return {name: np.radians(values) if in_degrees else values for name, values in columns.items()}


def opensim_arms(opensim, path, values, muscles, coordinates):
    """Moment arms that OpenSim evaluates where these coordinates are as recorded."""
    model = opensim.Model(str(path))
    state = model.initSystem()
    known, arms = model.getCoordinateSet(), []
    for frame in zip(*(values[name] for name in coordinates), strict=True):
        for name, value in zip(coordinates, frame, strict=True):
            known.get(name).setValue(state, float(value), False)
        model.assemble(state)
        arms.append(
            [
                [model.getMuscles().get(m).computeMomentArm(state, known.get(name)) for m in muscles]
                for name in coordinates
            ]
        )
    return np.array(arms)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "motion", "in_degrees", "coordinates"),
    [
        ("arm26/arm26.osim", "arm26/arm26_InverseKinematics.mot", False, ("r_shoulder_elev", "r_elbow_flex")),
        (
            "walk_emg_opensim/subject_walk_scaled.osim",
            "walk_emg_opensim/coordinates.sto",
            False,
            ("hip_flexion_r", "knee_angle_r", "ankle_angle_r"),
        ),
        (
            "running_opensim/Rajagopal2015_scaled.osim",
            "running_opensim/ik_output_run.mot",
            True,
            ("hip_flexion_r", "knee_angle_r", "ankle_angle_r"),
        ),
    ],
)
def test_arms_of_published_models_over_recorded_movements(opensim, recordings, model, motion, in_degrees, coordinates):
    """Issue 20: 0.5 mm rms, for wrapped muscles 1 mm in the median, within the range walked."""
    path, chain = recordings / model, "arm" if "arm" in model else "leg"
    found = import_muscle_set(path, ImportOptions("right", chain, NOTHING, {}))
    assert chain == ("arm" if "elbow" in found.muscle_set.joints else "leg")
    values = recorded(recordings / motion, in_degrees)
    every = max(len(values["time"]) // 40, 1)
    values = {name: column[::every] for name, column in values.items()}
    joints = found.muscle_set.joints[: len(coordinates)]
    flexion = np.column_stack([values[name] for name in coordinates])
    ours = musculotendon(found.muscle_set, flexion, joints=joints)
    theirs = opensim_arms(opensim, path, values, [one.name for one in found.muscles], coordinates)
    off = np.where(ours.muscle_out_of_range[:, None], np.nan, ours.moment_arm_m - theirs)
    rms = np.sqrt(np.nanmean(off**2, axis=0))
    assert rms.max() < 5e-4
    assert np.median(rms[rms > 1e-9]) < 1e-4

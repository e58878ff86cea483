"""Moments in space of simulated walks with known flexion axes, and of a leg held out to the side."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from clustered_legs import MEASURED, leg_settings, with_clusters, without
from limbtorque.analysis.chain_motion import chain_motion, space_motion
from limbtorque.analysis.trial import analyse_recording
from limbtorque.chain.model import Chain
from limbtorque.errors import LimbtorqueError
from limbtorque.motion.chain_motion import UNMEASURED, hand_load
from limbtorque.motion.in_space import SpaceMotion
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import PlaneFrame
from limbtorque.recordings.recording import with_static
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.options.reading import Spring
from limbtorque.study.options.uncertainty import SOURCES
from limbtorque.torques.in_space import space_moments
from limbtorque.torques.joint_torques import joint_torques, used_frames

OUT_DEG = 20.0  # of the flexion axes of knee and ankle, outwards from the plane's normal
BEYOND = {"knee": ("KLAT", "KMED"), "ankle": ("ALAT", "AMED")}
SIDES = {"lateral_condyle": "{S}KLAT", "medial_condyle": "{S}KMED"}  # the knee's, as landmarks
MALLEOLI = {"ankle_axis": ["{S}ALAT", "{S}AMED"]}  # the ankle's, as the markers of its centre
SPACE = {"torques": {"in_space": True}, "muscles": {"enabled": False}, "uncertainty": {"enabled": False}}
LIMBS = [Limb("leg", side=side, body_mass_kg=70.0) for side in ("right", "left")]


@pytest.fixture(scope="module")
def walking():
    """Walk with markers 5 cm to both sides of knees and ankles, along axes turned about the vertical."""
    plates = ((0.1, -0.2), (0.8, 0.2))
    made = with_clusters(walk_recording(Walker(), Walkway(plates), duration_s=1.6, first_strike_s=0.2))
    place, labels, added = {label: k for k, label in enumerate(made.labels)}, list(made.labels), []
    turn = np.radians(OUT_DEG)
    for side, outwards in (("R", -1.0), ("L", 1.0)):
        lateral = outwards * np.array([np.sin(turn) * outwards, np.cos(turn), 0.0])
        for joint, names in BEYOND.items():
            centre = made.markers_m[:, place[f"{side}{joint[0].upper()}JC"]]
            for name, way in zip(names, (1.0, -1.0), strict=True):
                labels.append(side + name)
                added.append((centre + 0.05 * way * lateral)[:, None])
    return replace(made, labels=tuple(labels), markers_m=np.concatenate([made.markers_m, *added], axis=1))


def settings(rules=None, **sections):
    plane = {"forward_axis": "travel"}
    rules = MEASURED | {"anterior_superior_iliac_spine": "{S}ASI"} | SIDES | MALLEOLI if rules is None else rules
    return leg_settings(rules, plane=plane, **{**SPACE, **sections})


@pytest.mark.parametrize("limb", LIMBS, ids=lambda limb: limb.side)
def test_a_planar_walk_has_its_moments_about_the_normal_alone(walking, limb):
    """Nothing is out of the plane: the moment about an axis turned by an angle is the planar one times its cosine."""
    chosen = settings(motion={"angles": "segments"})
    motion, space = chain_motion(walking, limb, chosen), space_motion(walking, limb, chosen)
    torques, moments = joint_torques(motion), space_moments(space, motion, limb.side)
    used = used_frames(motion, torques)
    net, about = torques.terms.net[used], moments.torque_about_normal[used]
    size = np.abs(net).max(axis=0)
    assert (np.abs(about - net) < 5e-4 * size).all()  # differences of angles and of positions at 100 Hz: 1.4e-4
    cosine = np.array([1.0, np.cos(np.radians(OUT_DEG)), np.cos(np.radians(OUT_DEG))])
    np.testing.assert_allclose(moments.torque_about_flexion_axis[used], cosine * about, atol=1e-9 * size.max())
    components = (moments.torque_about_flexion_axis, moments.moment_abduction, moments.moment_rotation)
    squares = sum(each[used] ** 2 for each in components)
    np.testing.assert_allclose(squares, about**2, atol=1e-9 * size.max() ** 2)


def test_the_metric_and_its_flag_are_the_cosine_of_the_axis(walking):
    result = analyse_recording(walking, LIMBS[0], settings())
    shares = result.records["torques"].joint_metrics["plane_difference"]
    net = result.torques.terms.net[used_frames(result.motion, result.torques)]
    expected = (1.0 - np.cos(np.radians(OUT_DEG))) * np.sqrt((net**2).mean(axis=0)) / np.ptp(net, axis=0)
    angles_deg = result.records["torques"].joint_metrics["flexion_axis_deg"]
    assert [*angles_deg.values()] == pytest.approx([0.0, OUT_DEG, OUT_DEG], abs=0.1)
    assert shares["hip"] < 0.02
    assert [shares["knee"], shares["ankle"]] == pytest.approx(expected[1:].tolist(), abs=0.01)
    assert "plane_difference" not in result.verdict.names
    frame = result.to_dataframe("space", positive="flexion")
    assert isinstance(result.space_table, pa.Table)
    ankle = result.to_dataframe("torques", positive="flexion")["ankle_torque_nm"].to_numpy()
    known = np.isfinite(ankle)
    assert np.corrcoef(frame["ankle_torque_about_flexion_axis_nm"][known], ankle[known])[0, 1] > 0.999
    assert not any("knee: flexion axis unknown" in note for note in result.records["torques"].notes)


@pytest.mark.parametrize("rules", [None, MEASURED | {"anterior_superior_iliac_spine": "{S}ASI"} | MALLEOLI])
def test_the_bands_have_the_cost_of_the_plane(walking, rules):
    """Its standard deviation is the planar torque times 1 - cosine of the axis; a knee without an axis has 2 degrees."""
    off = [source for source in SOURCES if source != "plane"]
    errors = {"enabled": True, "off": off, "samples": 256}
    chosen = settings(rules, uncertainty=errors, motion={"angles": "segments"}, ensembles={"min_known_share": 0.01})
    result = analyse_recording(walking, LIMBS[0], chosen)
    used = used_frames(result.motion, result.torques)
    cost = (1.0 - np.cos(np.radians(OUT_DEG))) * np.abs(result.torques.terms.net[used])
    size_nm = np.ptp(cost, axis=0).max()
    sd, known = np.sqrt(result.bands.by_source["plane"][:, 0, used].T), [0, 1, 2] if rules is None else [0, 2]
    cost[:, 0] = 0.0
    np.testing.assert_allclose(sd[:, known], cost[:, known], atol=0.02 * size_nm)
    turned = analyse_recording(walking, LIMBS[0], settings(rules, uncertainty=errors, torques={}))
    assert {each.name for each in turned.bands.directions} == {""}
    assert {each.name for each in result.bands.directions} == ({"cost"} if rules is None else {"", "cost"})
    rows = [row for row in result.records["torques"].summary if (row["joint"], row["term"]) == ("ankle", "net")]
    assert rows[0]["peak_sd_nm"] == pytest.approx(0.0603 * abs(rows[0]["peak_nm"]), rel=0.1)  # of samples


def test_frames_with_an_unknown_axis_have_the_cost_of_the_others(walking):
    """A marker beside the knee is hidden, longer than gaps are filled: its root mean square in the other frames."""
    markers_m, hidden = walking.markers_m.copy(), slice(60, 110)
    markers_m[hidden, walking.labels.index("RKLAT")] = np.nan
    errors = {"enabled": True, "off": [source for source in SOURCES if source != "plane"]}
    chosen = settings(uncertainty=errors, motion={"angles": "segments"})
    result = analyse_recording(replace(walking, markers_m=markers_m), LIMBS[0], chosen)
    sd = np.sqrt(result.bands.by_source["plane"][1, 0])
    seen = np.isfinite(result.to_dataframe("space")["knee_torque_about_flexion_axis_nm"].to_numpy())
    filled = ~seen & np.isfinite(sd)
    assert filled.sum() > 20
    np.testing.assert_allclose(sd[filled], np.sqrt((sd[seen] ** 2).mean()), rtol=1e-9)


def test_an_axis_far_from_the_normal_is_flagged_with_its_cost(walking):
    """The axis of the knee points ahead: about it there is no moment, and the plane's is all difference."""
    ahead = {"lateral_condyle": "{S}TOE", "medial_condyle": "{S}HEE"}
    result = analyse_recording(walking, LIMBS[0], settings(MEASURED | ahead))
    flags = [flag for flag in result.verdict.flags if flag.check.name == "plane_difference"]
    assert [flag.joint for flag in flags] == ["knee"]
    assert "net torques in the plane differ by hip" in flags[0].sentence
    assert "N m/kg (rms) from the moments about the joints' own flexion axes, which are 0, " in flags[0].sentence


def test_without_markers_on_two_sides_the_axis_is_unknown(walking):
    result = analyse_recording(walking, LIMBS[0], settings(MEASURED))
    notes = " ".join(result.records["torques"].notes)
    for joint in ("knee", "ankle"):
        assert f"{joint}: flexion axis unknown, no markers are mapped on two sides of the joint" in notes
    assert [*result.records["torques"].joint_metrics["plane_difference"]] == ["hip"]
    assert np.isnan(result.to_dataframe("space")["knee_torque_about_flexion_axis_nm"]).all()
    missing = analyse_recording(walking, LIMBS[0], settings(MEASURED | {**SIDES, "medial_condyle": "{S}NONE"}))
    assert any("knee: flexion axis unknown," in note and "RNONE" in note for note in missing.records["torques"].notes)
    with pytest.raises(LimbtorqueError, match=r"torques\.in_space is false"):
        analyse_recording(walking, LIMBS[0], settings(torques={})).to_dataframe("space")


def test_an_axis_of_the_static_trial_is_carried_in_the_segment(walking):
    """Its markers are seen while standing only; the cluster of the shank turns with the ankle's axis in the plane."""
    cluster = [f"{{S}}TB{k}" for k in range(1, 5)]
    rules = MEASURED | {"ankle_axis": {"static": ["{S}ALAT", "{S}AMED"], "cluster": cluster}}
    standing = replace(walking, source="standing.c3d", markers_m=walking.markers_m[:40])
    moving = with_static(without(walking, "ALAT", "AMED"), standing)
    limb, chosen = LIMBS[0], settings(rules)
    axis = space_motion(moving, limb, chosen).flexion_axis[:, 2]
    assert (axis @ [0.0, -1.0, 0.0]).std() < 1e-9  # the normal is the axis about which the shank turns
    np.testing.assert_allclose(axis @ [0.0, -1.0, 0.0], np.cos(np.radians(OUT_DEG)), atol=1e-2)


@pytest.mark.parametrize("angles", ["segments", "rigid_chain"])
def test_moments_do_not_depend_on_the_directions_of_the_laboratory(walking, angles):
    chosen, turn = settings(motion={"angles": angles}), np.array([[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    plates = tuple(
        replace(
            plate,
            corners_m=plate.corners_m @ turn,
            force_n=plate.force_n @ turn,
            moment_nm=plate.moment_nm @ turn,
        )
        for plate in walking.force_plates
    )
    elsewhere = replace(walking, markers_m=walking.markers_m @ turn, force_plates=plates)
    here, there = (analyse_recording(each, LIMBS[1], chosen).space_table for each in (walking, elsewhere))
    for column in here.column_names:
        np.testing.assert_allclose(there[column].to_numpy(), here[column].to_numpy(), atol=1e-6, err_msg=column)


@pytest.mark.parametrize(("side", "outwards"), [("right", -1.0), ("left", 1.0)])
def test_abductors_hold_a_leg_out_to_the_side(walking, side, outwards):
    """x forward, y to the left: m g c sin(angle), positive for both legs; a couple that turns the toes in is the rotators'."""
    angle, limb = 0.3, LIMBS[side == "left"]
    motion = chain_motion(walking, limb, settings())
    joint = np.array([[0.0, 0.0, 1.0], [0.0, outwards * 0.9 * np.sin(angle), 1.0 - 0.9 * np.cos(angle)]])[None]
    along = np.diff(joint, axis=1) / 0.9
    right = np.array([[[0.0, -1.0, 0.0]]])
    turning = 4.0 * outwards * along[0, 0]  # the toes out, about the leg's line downwards: the muscles turn them in
    wrench = np.concatenate([np.zeros(3), -turning])[None]
    leg = Chain([0.9], [10.0], [0.4], [0.9])
    space = SpaceMotion(joint, np.zeros_like(joint), leg, np.array([0, 0, -9.81]), wrench, right, right, along, ())
    found = space_moments(space, motion, side)
    assert found.moment_abduction[0, 0] > 0.0
    total = [found.torque_about_flexion_axis, found.moment_abduction, found.moment_rotation]
    weight = 10.0 * 9.81 * 0.4 * np.sin(angle)
    assert np.linalg.norm(total) == pytest.approx(np.hypot(weight, 4.0), rel=1e-9)
    assert found.moment_rotation[0, 0] > 0.0


def test_a_spring_pulls_in_all_directions():
    """Its force points from the point of application to the anchor; the planar load has its part in the plane."""
    spring = Spring(type="spring", stiffness_n_m=40.0, anchor_m=(1.0, 2.0, 3.0), rest_length_m=0.5, fraction=0.5)
    axes = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    axes = axes * np.linalg.det(axes)
    wrist, end = np.array([[0.3, 0.1, 0.2]]), np.array([[0.5, 0.3, 0.2]])
    load = hand_load(spring, frame=PlaneFrame(axes, "oblique"), last_joint_m=wrist @ axes.T, end_m=end @ axes.T)
    away = np.array([1.0, 2.0, 3.0]) - (wrist + end) / 2.0
    force = 40.0 * (1.0 - 0.5 / np.linalg.norm(away)) * away
    expected = np.hstack([force, np.cross((wrist + end) / 2.0, force)])
    np.testing.assert_allclose(load.wrench, expected, rtol=1e-12)
    np.testing.assert_allclose(load.force_n, force @ axes[:2].T, rtol=1e-12)


@pytest.mark.parametrize("limb", LIMBS, ids=lambda limb: limb.side)
def test_the_load_in_space_has_the_planar_load_in_its_plane(limb):
    """Force, moment about the plane's origin and unknown frames, at a hard strike that is filtered like the markers."""
    hard = Walker(strike_m_s=0.4, strike_s=0.04)
    made = walk_recording(hard, Walkway(((0.1, -0.2), (0.8, 0.2))), duration_s=1.6, first_strike_s=0.2)
    chosen = settings(MEASURED, filter={})
    motion, space = chain_motion(made, limb, chosen), space_motion(made, limb, chosen)
    load, axes = motion.load, motion.plane.axes
    assert max(share for _, share in load.impacts) > 0.5
    np.testing.assert_allclose(space.wrench[:, :3] @ axes[:2].T, load.force_n, atol=1e-9)
    np.testing.assert_allclose(space.wrench[:, 3:] @ axes[2], load.moment_about_origin_nm, atol=1e-9)
    assert 0 < np.isnan(space.wrench).any(axis=1).sum() == (load.status == UNMEASURED).sum()


def test_segments_in_space_have_the_lengths_that_the_plane_shortens(walking):
    """The walk leans to the side by 20 degrees in a plane that stays upright."""
    lean = np.radians(20.0)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(lean), np.sin(lean)], [0.0, -np.sin(lean), np.cos(lean)]])
    leaning = replace(walking, markers_m=walking.markers_m @ turn, force_plates=())
    upright = replace(walking, force_plates=())
    limb, chosen = LIMBS[0], settings(plates={"assignment": "none"})
    ours, theirs = (space_motion(each, limb, chosen) for each in (leaning, upright))
    for name in ("length_m", "mass_kg", "com_m", "inertia_kgm2"):
        np.testing.assert_allclose(getattr(ours.chain, name), getattr(theirs.chain, name), rtol=1e-2)
    projected = chain_motion(leaning, limb, chosen).chain.inertia_kgm2
    assert (projected < 0.95 * theirs.chain.inertia_kgm2)[:2].all()  # the foot points ahead
    np.testing.assert_array_equal(ours.long_axis[:, 2], ours.long_axis[:, 1])  # of the shank, for the ankle

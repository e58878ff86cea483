"""Landmarks of a static trial in a moving one, and predicted centres, through the motion of a chain."""

from dataclasses import replace

import numpy as np
import pytest
from opensim_storage import read_storage

from clustered_legs import MEASURED, SUBSTITUTES, leg_settings, with_clusters, without
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.errors import LandmarkError, SettingsError, SignalError
from limbtorque.motion.joint_centres import place_joints
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.motion.limb import Limb
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording, read_with_forces
from limbtorque.recordings.recording import Recording, with_static
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.chains import Carried, HipCentre, ShoulderCentre
from limbtorque.study.settings import make_settings
from limbtorque.torques.joint_torques import joint_torques, used_frames

WALKER = Walker()
THIGH, SHANK = ([f"{{S}}{name}{k}" for k in range(1, 5)] for name in ("TH", "TB"))
CARRIED = {
    "hip_axis": {"static": "{S}HJC", "cluster": THIGH},
    "knee_axis": {"static": ["{S}KJC", "{S}KJC"], "cluster": SHANK},
    "ankle_axis": {"static": {"between": ["{S}KJC", "{S}AJC"], "fraction": 1.0}, "cluster": SHANK},
}


@pytest.fixture(scope="module")
def walking():
    return with_clusters(walk_recording(WALKER, Walkway(), duration_s=1.6, first_strike_s=0.2))


@pytest.fixture(scope="module")
def standing():
    """Half a second of another walk, turned in the laboratory: what the segments hold is the same."""
    made = with_clusters(walk_recording(WALKER, Walkway(), duration_s=0.5, first_strike_s=0.4))
    turned = made.markers_m @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) + [2.0, 1.0, 0.0]
    return replace(made, source="standing.c3d", sha256="5f", markers_m=turned)


def test_carried_joints_are_the_measured_ones(walking, standing):
    """Rigid segments: the same joints, angles and accelerations as with the markers themselves, but for rounding."""
    limb = Limb("leg", side="right", body_mass_kg=70.0)
    direct = chain_motion(walking, limb, leg_settings(MEASURED))
    moving = with_static(without(walking, "HJC", "KJC", "AJC"), standing)
    carried = chain_motion(moving, limb, leg_settings(CARRIED))
    np.testing.assert_allclose(carried.joint_m, direct.joint_m, atol=1e-9)
    np.testing.assert_allclose(carried.kinematics.angle_rad, direct.kinematics.angle_rad, atol=1e-8)
    np.testing.assert_allclose(carried.chain.mass_kg, direct.chain.mass_kg, rtol=1e-12)
    assert carried.metrics["cluster_residual_m"] < 1e-9
    assert "cluster_residual_m" not in direct.metrics
    note = "landmark knee_axis: carried from the static trial by RTB1, RTB2, RTB3, RTB4: residual"
    assert any(said.startswith(note) for said in carried.notes)


def test_noise_of_the_clusters_is_the_residual_that_is_reported(walking, standing):
    """2 mm in each coordinate of four markers: 2 sqrt(3 (1 - 2/4)) = 2.45 mm; 3 standard errors of 966 squares are 7 %."""
    moving = without(walking, "HJC", "KJC", "AJC")
    noisy = replace(
        moving, markers_m=moving.markers_m + 0.002 * np.random.default_rng(7).standard_normal(moving.markers_m.shape)
    )
    limb = Limb("leg", side="left", body_mass_kg=70.0)
    placed = place_joints(with_static(noisy, standing), limb, leg_settings(CARRIED))
    exact = place_joints(walking, limb, leg_settings(MEASURED))
    assert placed.metrics["cluster_residual_m"] == pytest.approx(0.00245, rel=0.07)
    error = np.sqrt(((placed.joints_m - exact.joints_m)[:, :3] ** 2).sum(axis=2).mean(axis=0))
    assert error.max() == pytest.approx(placed.metrics["cluster_error_m"], rel=0.15)
    assert placed.kinds == {
        **{"ankle_axis": "carried", "hip_axis": "carried", "knee_axis": "carried"},
        **{"femoral_condyles": "carried", "greater_trochanter": "carried"},
        **{"lateral_malleolus": "carried", "medial_malleolus": "carried"},
        **{"head_of_metatarsal_2": "marker", "heel": "marker"},
    }


def test_what_the_static_trial_lacks_is_said(walking, standing):
    limb, moving = Limb("leg", side="right", body_mass_kg=70.0), without(walking, "HJC", "KJC", "AJC")
    with pytest.raises(
        LandmarkError, match=r"needs a static trial, and none is given; name it in the column static_file"
    ):
        place_joints(moving, limb, leg_settings(CARRIED))
    with pytest.raises(
        SignalError,
        match=r"standing.c3d: landmark 'ankle_axis', carried by .*: no frame has the landmark and all markers",
    ):
        place_joints(with_static(moving, without(standing, "KJC")), limb, leg_settings(CARRIED))
    other = replace(standing, labels=tuple(label.replace("RTB3", "X") for label in standing.labels))
    with pytest.raises(LandmarkError, match=r"standing.c3d: marker 'RTB3' is not among"):
        place_joints(with_static(moving, other), limb, leg_settings(CARRIED))


def test_one_side_alone_in_the_static_trial_is_enough_for_that_side(walking, standing):
    left = [k for k, label in enumerate(standing.labels) if label in ("LHJC", "LKJC", "LAJC")]
    markers = standing.markers_m.copy()
    markers[:, left] = np.nan
    moving = with_static(without(walking, "HJC", "KJC", "AJC"), replace(standing, markers_m=markers))
    limb = Limb("leg", side="right", body_mass_kg=70.0)
    one = chain_motion(moving, limb, leg_settings(CARRIED))
    both = chain_motion(with_static(moving, standing), limb, leg_settings(CARRIED))
    np.testing.assert_allclose(one.joint_m, both.joint_m, atol=1e-12)
    assert both.metrics["sides_reversed_share"] == 0.0
    assert one.metrics.get("sides_reversed_share", np.nan) != 0.0  # the other side is not known
    with pytest.raises(SignalError, match="no frame has the landmark"):
        chain_motion(moving, replace(limb, side="left"), leg_settings(CARRIED))


def test_a_static_trial_of_other_places_is_flagged(walking, standing):
    """Two markers of the shank exchanged after the static trial: centimetres, above the 20 mm of the flag."""
    labels = tuple({"RTB1": "RTB2", "RTB2": "RTB1"}.get(label, label) for label in standing.labels)
    moving = with_static(without(walking, "HJC", "KJC", "AJC"), replace(standing, labels=labels))
    chosen = leg_settings(CARRIED)
    placed = place_joints(moving, Limb("leg", side="right", body_mass_kg=70.0), chosen)
    assert placed.metrics["cluster_residual_m"] > chosen.quality.cluster_residual_m


def pelvis_walk(walking):
    """The walk with spines and sacrum, so that Bell's hips are the walk's own."""
    place = {label: k for k, label in enumerate(walking.labels)}
    right, left = (walking.markers_m[:, place[label]] for label in ("RHJC", "LHJC"))
    middle, width = (right + left) / 2.0, np.linalg.norm((right - left)[0]) / 0.72
    spines = [middle + np.array([0.19 * width, y * width / 2.0, 0.30 * width]) for y in (-1.0, 1.0)]
    back = middle + np.array([-0.4 * width, 0.0, 0.30 * width])
    added = np.stack([*spines, back], axis=1)
    other = [k for k, label in enumerate(walking.labels) if label[1:] not in ("ASI", "PSI")]
    return replace(
        walking,
        labels=(*(walking.labels[k] for k in other), "RASI", "LASI", "SACR"),
        markers_m=np.concatenate([walking.markers_m[:, other], added], axis=1),
    )


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_predicted_hip_in_a_walk(walking, side):
    rules = {
        **MEASURED,
        "hip_axis": {"hip_centre": "bell_1990"},
        "anterior_superior_iliac_spine": "{S}ASI",
        "sacrum": "SACR",
    }
    limb = Limb("leg", side=side, body_mass_kg=70.0)
    direct = place_joints(walking, limb, leg_settings(MEASURED))
    found = chain_motion(without(pelvis_walk(walking), "HJC"), limb, leg_settings(rules))
    placed = place_joints(without(pelvis_walk(walking), "HJC"), limb, leg_settings(rules))
    np.testing.assert_allclose(placed.joints_m, direct.joints_m, atol=1e-9)
    assert placed.kinds["hip_axis"] == "bell_1990"
    assert "landmark hip_axis: predicted by bell_1990; error by imaging 22 mm on average" in "; ".join(placed.notes)
    assert found.metrics["sides_reversed_share"] == 0.0  # the other hip is known, too
    del rules["sacrum"]
    with pytest.raises(LandmarkError, match="landmark 'posterior_superior_iliac_spine' is needed but not mapped"):
        place_joints(pelvis_walk(walking), limb, leg_settings(rules))


def test_leg_length_and_width_come_from_the_subject(walking):
    rules = {
        **MEASURED,
        "hip_axis": {"hip_centre": "davis_1991"},
        "anterior_superior_iliac_spine": "{S}ASI",
        "sacrum": "SACR",
    }
    moving = pelvis_walk(walking)
    with pytest.raises(SignalError, match="davis_1991 needs the leg length"):
        place_joints(moving, Limb("leg", side="right", body_mass_kg=70.0), leg_settings(rules))
    hips = [
        place_joints(
            moving,
            Limb("leg", side="right", body_mass_kg=70.0, measured={"leg_length_m": 0.9, **more}),
            leg_settings(rules),
        ).joints_m[:, 0]
        for more in ({}, {"pelvis_width_m": 0.30})
    ]
    width = np.linalg.norm(moving.markers_m[0, -3] - moving.markers_m[0, -2])
    np.testing.assert_allclose(
        hips[1] - hips[0], np.tile([0.0, -(0.30 - width) / 2.0, 0.0], (len(hips[0]), 1)), atol=1e-9
    )


def test_labels_of_the_new_rules():
    spine = {
        "anterior_superior_iliac_spine": "{S}ASI",
        "posterior_superior_iliac_spine": "{S}PSI",
        "acromion": "{S}SHO",
    }
    rules = {
        **spine,
        "hip_axis": HipCentre(hip_centre="harrington_2007"),
        "glenohumeral_axis": ShoulderCentre(shoulder_centre="rab_2002"),
        "knee_axis": Carried(static=("{S}LFC", "{S}MFC"), cluster=("{S}TH1", "{S}TH2", "{S}TH3")),
    }
    mapping = LandmarkMap(rules, {"femoral_condyles": "knee_axis"}, "left")
    assert mapping.labels("hip_axis") == {"RASI", "LASI", "RPSI", "LPSI"}
    assert mapping.labels("glenohumeral_axis") == {"RSHO", "LSHO", "RASI", "LASI"}
    assert mapping.labels("femoral_condyles") == {"LTH1", "LTH2", "LTH3"}
    assert mapping.weights("knee_axis") == {"LLFC": 0.5, "LMFC": 0.5}
    assert mapping.own_labels("hip_axis") == set()
    kinds = {name: mapping.kind(name) for name in ("hip_axis", "glenohumeral_axis", "femoral_condyles", "acromion")}
    assert list(kinds.values()) == ["harrington_2007", "rab_2002", "carried", "marker"]
    assert [(side.side, name) for side, name in mapping.parts("hip_axis")] == [
        ("left", "anterior_superior_iliac_spine"),
        ("right", "anterior_superior_iliac_spine"),
        ("left", "posterior_superior_iliac_spine"),
        ("right", "posterior_superior_iliac_spine"),
    ]


@pytest.mark.parametrize("markers", [["B", "C"], ["B", "C", "C", "D"]])
def test_a_cluster_has_three_different_markers(markers):
    with pytest.raises(SettingsError, match="expected three or more different markers"):
        make_settings({"marker_sets": {"m": {"x": {"static": "A", "cluster": markers}}}})


def test_an_arm_with_probed_epicondyles():
    """An arm: shoulder by the acromia, elbow carried by the upper arm's cluster from a static trial with both epicondyles."""
    rng = np.random.default_rng(8)
    time_s = np.arange(200) / 100.0
    swing = 0.6 * np.sin(2.0 * np.pi * time_s / 1.5)
    shoulder = np.array([0.0, -0.18, 1.4 - 0.17 * 0.36])
    down = np.stack([np.sin(swing), np.zeros_like(swing), -np.cos(swing)], axis=1)
    front = np.stack([np.cos(swing), np.zeros_like(swing), np.sin(swing)], axis=1)
    side = np.tile([0.0, -1.0, 0.0], (200, 1))
    elbow = shoulder + 0.3 * down
    cluster = [
        shoulder + x * down + y * side + z * front
        for x, y, z in ((0.1, 0.05, 0), (0.2, 0.05, 0.03), (0.15, 0.05, -0.03))
    ]
    epicondyles = [elbow + y * side for y in (0.04, -0.04)]
    wrist = elbow + 0.25 * (np.cos(0.4) * down + np.sin(0.4) * front)
    hand = wrist + 0.08 * (np.cos(0.4) * down + np.sin(0.4) * front)
    trunk = np.broadcast_to([0.0, 0.18, 1.4], (200, 3)), np.broadcast_to([0.0, -0.18, 1.4], (200, 3))
    labels = ("RUA1", "RUA2", "RUA3", "RLEL", "RMEL", "RWRI", "RHAN", "LACR", "RACR")
    markers = np.stack([*cluster, *epicondyles, wrist, hand, *trunk], axis=1)
    static = Recording(
        "probe.c3d", "", "test", labels, markers[40:60] + 1e-5 * rng.standard_normal((20, 9, 3)), 100.0, 1
    )
    hidden = markers.copy()
    hidden[:, 3:5] = np.nan
    moving = with_static(Recording("serve.c3d", "", "test", labels, hidden, 100.0, 1), static)
    chosen = make_settings(
        {
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "gaps": {"constant_marker": "accept"},
            "filter": {"method": "none"},
            "marker_sets": {
                "arm": {
                    "acromion": "{S}ACR",
                    "glenohumeral_axis": {"shoulder_centre": "rab_2002"},
                    "elbow_axis": {"static": ["{S}LEL", "{S}MEL"], "cluster": ["{S}UA1", "{S}UA2", "{S}UA3"]},
                    "wrist_axis": "{S}WRI",
                    "knuckle_2_middle_finger": "{S}HAN",
                }
            },
            "substitutes": {"arm": {"ulnar_styloid": "wrist_axis"}},
        }
    )
    placed = place_joints(moving, Limb("arm", side="right", body_mass_kg=70.0), chosen)
    np.testing.assert_allclose(placed.joints_m[:, 0], np.broadcast_to(shoulder, (200, 3)), atol=1e-12)
    assert np.abs(placed.joints_m[:, 1] - elbow).max() < 1e-4
    assert placed.kinds["elbow_axis"] == "carried"


def running(recordings):
    folder = recordings / "running_opensim"
    found = read_with_forces(
        folder / "motion_capture_run.trc", folder / "grf_run.mot", ReadOptions(forces_length_unit="m")
    )
    return with_static(found, read_recording(folder / "static_run.trc")), folder / "inverse_dynamics.sto"


def beside_opensim(motion, results, side, least_r, least_size):
    """Our net torques of the frames that count follow OpenSim's, and have their size."""
    columns = read_storage(results)
    time_s, torques = columns["time"], joint_torques(motion)
    used = used_frames(motion, torques) & (motion.time_s >= time_s[0]) & (motion.time_s <= time_s[-1])
    for (name, r), ours in zip(least_r.items(), (torques.terms.net * motion.flexion.sign)[used].T, strict=True):
        theirs = np.interp(motion.time_s[used], time_s, columns[f"{name}_{side[0]}_moment"])
        assert np.corrcoef(ours, theirs)[0, 1] > r, name
        assert least_size < np.abs(ours).max() / np.abs(theirs).max() < 1.3, name


@pytest.mark.parametrize("hip", ["carried", "predicted"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_a_run_beside_opensim(recordings, side, hip):
    """Joint moments of a full-body model in three dimensions, of which ours are the sagittal part: timing, sign and size agree.

    The hip differs most: its moment is the sum of large ones about another hip's centre.
    """
    recording, results = running(recordings)
    shank = ["{S}TB1", "{S}TB2", "{S}TB3"]
    pelvis = {"anterior_superior_iliac_spine": "{S}ASI", "posterior_superior_iliac_spine": "{S}PSI"}
    hips = {
        "carried": {"static": "{S}HJC", "cluster": ["RASI", "LASI", "RPSI", "LPSI"]},
        "predicted": {"hip_centre": "harrington_2007"},
    }
    rules = {
        **pelvis,
        "hip_axis": hips[hip],
        "knee_axis": {"static": ["{S}LFC", "{S}MFC"], "cluster": ["{S}TH1", "{S}TH2", "{S}TH3"]},
        "ankle_axis": {"static": ["{S}LMAL", "{S}MMAL"], "cluster": shank},
        "lateral_malleolus": {"static": "{S}LMAL", "cluster": shank},
        "medial_malleolus": {"static": "{S}MMAL", "cluster": shank},
        **{"head_of_metatarsal_2": "{S}TOE", "heel": "{S}CAL"},
    }
    chosen = make_settings(
        {
            "plane": {"up_axis": "+y"},
            "marker_sets": {"run": rules},
            "substitutes": {"run": {"greater_trochanter": "hip_axis", "femoral_condyles": "knee_axis"}},
            "muscles": {"enabled": False},
        }
    )
    motion = chain_motion(recording, Limb("leg", side=side, body_mass_kg=70.0), chosen)
    assert 0.001 < motion.metrics["cluster_residual_m"] < 0.008
    assert motion.metrics["sides_reversed_share"] == 0.0
    beside_opensim(motion, results, side, {"hip_flexion": 0.75, "knee_angle": 0.95, "ankle_angle": 0.99}, 0.6)


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_walk_with_a_predicted_hip_beside_opensim(recordings, side):
    """OpenSim's model was fitted to markers and forces, so that its hip is no regression on the same markers."""
    folder = recordings / "walk_emg_opensim"
    options = ReadOptions(forces_length_unit="m")
    recording = read_with_forces(folder / "markers_walk.trc", folder / "grf_walk.mot", options)
    rules = {
        **{"anterior_superior_iliac_spine": "{S}.ASIS", "posterior_superior_iliac_spine": "{S}.PSIS"},
        **{"hip_axis": {"hip_centre": "harrington_2007"}, "knee_axis": "{S}.Knee", "ankle_axis": "{S}.Ankle"},
        **{"head_of_metatarsal_2": "{S}.Toe", "heel": "{S}.Heel"},
    }
    chosen = make_settings(
        {
            "plane": {"up_axis": "+y"},
            "marker_sets": {"walk": rules},
            "substitutes": {"walk": SUBSTITUTES},
            "muscles": {"enabled": False},
        }
    )
    motion = chain_motion(recording, Limb("leg", side=side, body_mass_kg=85.3), chosen)
    beside_opensim(
        motion, folder / "id_walk.sto", side, {"hip_flexion": 0.8, "knee_angle": 0.9, "ankle_angle": 0.98}, 0.7
    )

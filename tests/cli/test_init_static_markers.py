"""Knee and ankle markers in the static trial, of which the walk lacks some: the leg is proposed."""

from dataclasses import replace

import numpy as np
import pytest
from proposed_study import rows

from clustered_legs import with_clusters, without
from limbtorque.cli.init.init import init_study
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.files import parse_yaml

NAMES = {"HJC": "HJC", "KJC": "LFC", "AJC": "LMAL", "TOE": "TOE", "HEE": "CAL", "MFC": "MFC", "MMAL": "MMAL"}


def renamed(recording):
    """Names of the Rajagopal set."""
    labels = [label[0] + NAMES.get(label[1:], label[1:]) for label in recording.labels]
    return replace(recording, labels=tuple(labels))


@pytest.fixture(scope="module")
def walking():
    made = with_clusters(walk_recording(Walker(), Walkway(), duration_s=3.0, first_strike_s=0.2))
    medial = [
        (k, s + new)
        for s in "RL"
        for old, new in (("KJC", "MFC"), ("AJC", "MMAL"))
        for k in [made.labels.index(s + old)]
    ]
    beside = made.markers_m[:, [k for k, _ in medial]] + [0.0, 0.08, 0.0]
    markers = np.concatenate([made.markers_m, beside], axis=1)
    return renamed(replace(made, labels=(*made.labels, *(label for _, label in medial)), markers_m=markers))


def proposed(folder, walk, standing):
    (folder / "data").mkdir()
    write_c3d(walk, folder / "data" / "walk1.c3d")
    write_c3d(standing, folder / "data" / "cal.c3d")
    init_study(folder / "study", folder / "data")
    return {row["side"]: row for row in rows(folder / "study") if row["chain"] == "leg"}


def still(walk):
    sway = 1e-4 * np.random.default_rng(1).standard_normal((100, len(walk.labels), 3))
    return replace(walk, markers_m=walk.markers_m[60] + sway, force_plates=(), events=())


def one_side(recording, *labels):
    markers = recording.markers_m.copy()
    markers[:, [recording.labels.index(label) for label in labels]] = np.nan
    return replace(recording, markers_m=markers)


@pytest.mark.parametrize("never", [(), ("LFC", "LMAL"), ("LFC", "MMAL"), ("MFC", "LMAL"), ("MFC", "MMAL")])
def test_lateral_or_medial_markers_of_the_static_trial_give_the_leg(tmp_path, walking, never):
    hidden = ("LFC", "LMAL", "MFC", "MMAL")
    legs = proposed(tmp_path, without(walking, *hidden), without(still(walking), *never))
    assert set(legs) == {"right", "left"}
    assert all(row["static_file"].endswith("cal.c3d") for row in legs.values())


def test_one_side_may_lack_its_markers(tmp_path, walking):
    legs = proposed(tmp_path, one_side(walking, "RLFC", "RMFC"), still(walking))
    assert set(legs) == {"right", "left"}
    assert legs["right"]["static_file"].endswith("cal.c3d")
    assert not legs["left"]["static_file"]


def test_clusters_may_have_gaps(tmp_path, walking):
    """No marker of thigh and shank is seen in all of 300 frames; each is missing in 30 others."""
    markers = walking.markers_m.copy()
    clusters = [k for k, label in enumerate(walking.labels) if label[1:3] in ("TH", "TB")]
    for n, k in enumerate(clusters):
        markers[15 * n : 15 * n + 30, k] = np.nan
    gappy = without(replace(walking, markers_m=markers), "LFC", "LMAL", "MFC", "MMAL")
    assert set(proposed(tmp_path, gappy, still(walking))) == {"right", "left"}


def plug_in_gait(walking):
    """The walk with names of Plug-in Gait, medial markers of Vicon's, and a pelvis."""
    names = {"LFC": "KNE", "LMAL": "ANK", "CAL": "HEE", "MFC": "KNM", "MMAL": "ANM"}
    labels = [label[0] + names.get(label[1:], label[1:]) for label in walking.labels]
    hips = walking.markers_m[:, [labels.index("RHJC"), labels.index("LHJC")]]
    spines = hips + np.array([0.07, 0.0, 0.09])
    sacrum = hips.mean(axis=1, keepdims=True) + np.array([-0.1, 0.0, 0.08])
    markers = np.concatenate([walking.markers_m, spines, sacrum], axis=1)
    return without(replace(walking, labels=(*labels, "RASI", "LASI", "SACR"), markers_m=markers), "HJC")


def test_medial_markers_of_the_static_trial_complete_known_names(tmp_path, walking):
    whole = plug_in_gait(walking)
    legs = proposed(tmp_path, without(whole, "KNM", "ANM"), still(whole))
    assert set(legs) == {"right", "left"}
    assert all(row["static_file"].endswith("cal.c3d") for row in legs.values())
    settings = parse_yaml((tmp_path / "study" / "config" / "config.yaml").read_text(encoding="utf-8"))
    rules = settings["marker_sets"][legs["right"]["marker_set"]]
    assert rules["knee_axis"]["static"] == ["{S}KNE", "{S}KNM"]
    assert {label[:5] for label in rules["knee_axis"]["cluster"]} == {"{S}TH"}
    assert {label[:5] for label in rules["ankle_axis"]["cluster"]} <= {"{S}TB", "{S}KN"}  # both ends of the shank


def test_a_pelvis_carries_no_knee(tmp_path, walking):
    """Without clusters the pelvis is the only rigid body; the lateral markers of the walk say that it has no knee."""
    whole = without(plug_in_gait(walking), *(f"{part}{n}" for part in ("TH", "TB") for n in range(1, 5)))
    legs = proposed(tmp_path, without(whole, "KNM", "ANM"), still(whole))
    assert set(legs) == {"right", "left"}
    assert not any(row.get("static_file") for row in legs.values())

"""Segment parameters of a limb: landmarks that are no joints, refusals, rows of the laboratory."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.errors import LandmarkError, SegmentError, SettingsError
from limbtorque.motion.limb import Limb
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.settings import make_settings, override
from limbtorque.study.study import load_study
from limbtorque.workflow.keys import trial_key

WALKER = Walker()
MARKERS = {
    "hip_axis": "{S}HJC",
    "knee_axis": "{S}KJC",
    "ankle_axis": "{S}AJC",
    "head_of_metatarsal_2": "{S}TOE",
    "heel": "{S}HEE",
    "toe_tip": {"between": ["{S}HEE", "{S}TOE"], "fraction": 1.35},
}
WINTERS = {
    "greater_trochanter": "{S}HJC",
    "femoral_condyles": "{S}KJC",
    "medial_malleolus": "{S}AJC",
    "lateral_malleolus": "{S}AJC",
}
LEG = Limb("leg", side="right", body_mass_kg=WALKER.mass_kg, sex="m")


@pytest.fixture(scope="module")
def walked():
    return walk_recording(WALKER, Walkway(), duration_s=2.0)


def settings(markers=MARKERS, **segments):
    return make_settings(
        {
            "marker_sets": {"walk": markers},
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "segments": {"table": "de_leva", **segments},
            "filter": {"method": "none"},
        }
    )


def test_masses_and_centres_of_de_leva(walked):
    chain = chain_motion(walked, LEG, settings()).chain
    np.testing.assert_allclose(chain.mass_kg, WALKER.mass_kg * np.array([0.1416, 0.0433, 0.0137]))
    np.testing.assert_allclose(chain.com_m[:2] / chain.length_m[:2], [0.4095, 0.4395], rtol=1e-6)


def test_the_centre_of_mass_of_a_foot_from_the_heel_is_projected_on_the_link(walked):
    """By hand, from three markers of a frame: the simulated foot is rigid."""
    labels = list(walked.labels)
    heel, ankle, toe = (walked.markers_m[50, labels.index(label)] for label in ("RHEE", "RAJC", "RTOE"))
    point = heel + 0.4415 * 1.35 * (toe - heel)
    along = (point - ankle) @ (toe - ankle) / np.linalg.norm(toe - ankle)
    beside = np.sqrt(np.sum((point - ankle) ** 2) - along**2)
    motion = chain_motion(walked, LEG, settings())
    assert motion.chain.com_m[2] == pytest.approx(along, rel=1e-3)
    length = 1.35 * np.linalg.norm(toe - heel)
    assert motion.chain.inertia_kgm2[2] == pytest.approx(motion.chain.mass_kg[2] * (0.245 * length) ** 2, rel=1e-3)
    assert f"is {1e3 * beside:.0f} mm from the line between the joints" in " ".join(motion.notes)


def test_a_landmark_of_the_table_that_is_not_mapped_is_refused(walked):
    without = {name: rule for name, rule in MARKERS.items() if name != "toe_tip"}
    with pytest.raises(LandmarkError, match=r"toe_tip"):
        chain_motion(walked, LEG, settings(without))


def test_landmarks_on_two_segments_are_refused(walked):
    """From the hip to the heel is no length of a rigid thigh: the knee flexes by 60 degrees."""
    row = {"proximal": "hip_axis", "distal": "heel", "mass": 0.1, "com": 0.4, "gyration": 0.3}
    with pytest.raises(
        SegmentError, match=r"segment thigh: the length from hip_axis to heel varies by .* not on one rigid"
    ):
        chain_motion(walked, LEG, settings(rows={"thigh": row}))


def test_a_row_of_the_laboratory_takes_the_place_of_the_tables(walked):
    row = {"proximal": "knee_axis", "distal": "ankle_axis", "mass": 0.05, "com": 0.4, "gyration": 0.25}
    chain = chain_motion(walked, LEG, settings(rows={"shank": row})).chain
    assert chain.mass_kg[1] == pytest.approx(0.05 * WALKER.mass_kg)
    assert chain.com_m[1] == pytest.approx(0.4 * chain.length_m[1], rel=1e-6)
    assert chain.inertia_kgm2[1] == pytest.approx(chain.mass_kg[1] * (0.25 * chain.length_m[1]) ** 2, rel=1e-3)


def test_a_foot_of_dempster_in_the_table_of_de_leva(walked):
    """The way out for feet without a toe tip: Winter's row as an own one."""
    row = {
        "proximal": "lateral_malleolus",
        "distal": "head_of_metatarsal_2",
        "mass": 0.0145,
        "com": 0.5,
        "gyration": 0.475,
    }
    without = {name: rule for name, rule in MARKERS.items() if name != "toe_tip"}
    found = chain_motion(
        walked, LEG, settings({**without, **WINTERS}, rows={"foot": {**row, "com_from": "joint"}})
    ).chain
    winter = chain_motion(walked, LEG, settings({**without, **WINTERS}, table="dempster_winter")).chain
    assert (found.mass_kg[2], found.com_m[2], found.inertia_kgm2[2]) == pytest.approx(
        (winter.mass_kg[2], winter.com_m[2], winter.inertia_kgm2[2])
    )


def test_rows_that_no_chain_uses_are_refused():
    row = {"proximal": "heel", "distal": "toe_tip", "mass": 0.014, "com": 0.44, "gyration": 0.25}
    with pytest.raises(SettingsError, match=r"segments\.rows names shanks.*did you mean 'shank'"):
        settings(rows={"shanks": row})
    with pytest.raises(SettingsError, match="expected two landmarks"):
        settings(rows={"shank": row | {"distal": row["proximal"]}})


def test_the_sex_makes_a_trial_again_only_where_the_table_depends_on_it():
    root = Path(__file__).resolve().parents[2]
    trial = load_study(root).trials[0]
    other = replace(trial, subject=replace(trial.subject, sex="f" if trial.subject.sex != "f" else "m"))
    by_sex = override(trial.settings, {"segments.table": "de_leva"}, source="here")
    for one_settings, alike in ((trial.settings, True), (by_sex, False)):
        keys = [trial_key("kinematics", replace(one, settings=one_settings), root) for one in (trial, other)]
        assert (keys[0] == keys[1]) is alike

"""Errors that cannot be, or that concern no limb: found when the study is checked, with a sentence."""

from dataclasses import replace
from typing import get_args

import pytest
from still_chains import section

from limbtorque.errors import SettingsError
from limbtorque.motion.landmarks import LandmarkMap
from limbtorque.motion.limb import Limb
from limbtorque.study.chains import ARM, HipCentre, HipRegression, ShoulderCentre, ShoulderOffset
from limbtorque.study.settings import make_settings
from limbtorque.uncertainty.input_errors import centre_error_m, centre_errors_m
from limbtorque.uncertainty.sizes import study_faults, used_sizes

MARKERS = {
    "glenohumeral_axis": "SHO",
    "elbow_axis": ["ELBL", "ELBM"],
    "wrist_axis": {"between": ["WRR", "WRU"], "fraction": 0.4},
    "knuckle_2_middle_finger": {"functional": [["A", "B"], ["C", "D"]], "anatomical": "KNU"},
}
ARM_LIMB = Limb("arm", side="right", body_mass_kg=70.0, marker_set="sim")


def settings(**uncertainty):
    return make_settings({"marker_sets": {"sim": MARKERS}, "uncertainty": section(**uncertainty)})


def test_errors_of_joint_centres_by_the_kind_of_their_rule():
    sizes = {"marker": 0.01, "midpoint": 0.02, "between": 0.03, "functional": 0.04}
    given = {f"centre_{kind}_m": size for kind, size in sizes.items()}
    assert centre_errors_m(ARM_LIMB, settings(**given)) == [0.01, 0.02, 0.03, 0.04]


def test_a_marker_set_has_errors_of_its_own():
    of_set = {"glenohumeral_axis": 0.05, "elbow_axis": "keypoint", "wrist_axis": 0.06}
    errors = settings(centre_keypoint_m=0.02, sets={"sim": of_set}, landmarks={"wrist_axis": 0.07})
    assert centre_errors_m(ARM_LIMB, errors)[:3] == [0.05, 0.02, 0.07]


def test_a_substitute_has_the_error_of_its_set():
    chosen = make_settings(
        {
            "marker_sets": {
                "sim": {"acromion": "SHO", **{n: r for n, r in MARKERS.items() if n != "glenohumeral_axis"}}
            },
            "substitutes": {"sim": {"glenohumeral_axis": "acromion"}},
            "uncertainty": {"sets": {"sim": {"acromion": 0.03}}},
        }
    )
    assert centre_errors_m(ARM_LIMB, chosen)[0] == 0.03


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"segment_mass": -0.1}, "segment_mass is -0.1"),
        ({"sizes": {"body_mas": 0.1}}, "did you mean 'body_mass'"),
        ({"landmarks": {"elbow_axis": "guessed"}}, "uncertainty.landmarks"),
        ({"landmarks": {"elbow_axis": 8.0}}, "from 0 to 0.1 m"),
        ({"landmarks": {"elbow_axis": -0.01}}, "from 0 to 0.1 m"),
        ({"sets": {"sim": {"elbow_axis": 8.0}}}, "from 0 to 0.1 m"),
        ({"off": ["segment_mass", "segment_mass"]}, "segment_mass twice"),
        ({"plate_gain": None}, "uncertainty.sizes.plate_gain"),
        *(({"enabled": True, "samples": n}, "uncertainty.samples") for n in (500, 128, 131072, -256, 0.5)),
        ({"enabled": False, "samples": 512}, "samples needs enabled"),
    ],
)
def test_wrong_sizes_are_refused(wrong, words):
    with pytest.raises(SettingsError, match=words):
        settings(**wrong)


def test_a_landmark_that_is_no_joint_centre():
    [fault] = study_faults(settings(landmarks={"elbow_axes": 0.01}), [ARM])
    assert "'elbow_axes'" in fault
    assert "elbow_axis" in fault
    assert not study_faults(settings(landmarks={"elbow_axis": 0.01}), [ARM])


@pytest.mark.parametrize(
    ("sets", "said"),
    [({"simm": {"elbow_axis": 0.01}}, "'simm' is not a marker set"), ({"sim": {"elbow": 0.01}}, "'elbow' has no rule")],
)
def test_errors_of_a_marker_set_that_does_not_exist(sets, said):
    [fault] = study_faults(settings(sets=sets), [ARM])
    assert said in fault
    assert "did you mean" in fault
    assert not study_faults(settings(sets={"sim": {"elbow_axis": 0.01}}), [ARM])


LEG_RULES = {"hip_axis": "HIP", "knee_axis": "KNE", "ankle_axis": "ANK", "head_of_metatarsal_2": "MT2"}
LEG = Limb("leg", side="right", body_mass_kg=70.0, marker_set="leg")
WEIGHED = replace(LEG, measured={f"{name}_mass_kg": 1.0 for name in ("thigh", "shank", "foot")})
OF_PLATES = {"plate_gain", "plate_offset_n", "pressure_m", "synchronisation_s"}
OF_MASS = {"segment_mass", "rest_of_body_mass", "body_mass"}


@pytest.mark.parametrize(
    ("limb", "others", "without"),
    [
        (LEG, {}, set()),
        (replace(LEG, load="spring"), {}, OF_PLATES),
        (LEG, {"plates": {"assignment": "none"}}, OF_PLATES),
        (LEG, {"gaps": {"max_gap_s": 0.0}}, {"gaps"}),
        (LEG, {"filter": {"method": "none"}}, {"filter"}),
        (LEG, {"uncertainty": section(soft_tissue_m=0.0)}, {"soft_tissue_range_deg"}),
        (
            LEG,
            {"uncertainty": section(off=["segment_mass", "plane"])},
            {"segment_mass", "rest_of_body_mass", "plane_deg"},
        ),
        (WEIGHED, {}, OF_MASS),
        (ARM_LIMB, {}, OF_PLATES),
    ],
)
def test_sizes_that_a_limb_depends_on(limb, others, without):
    """Those that the methods paragraph states; a measured mass brings its own, a kind of joint centre that of its rule."""
    chosen = make_settings({"marker_sets": {"sim": MARKERS, "leg": LEG_RULES}, **others})
    always = {
        "segment_com",
        "segment_inertia",
        "segment_correlation",
        "soft_tissue_m",
        "marker_noise",
        "centre_marker_m",
    }
    sizes = always | OF_PLATES | OF_MASS | {"soft_tissue_range_deg", "gaps", "filter", "plane_deg"}
    sizes |= {f"centre_{kind}_m" for kind in ("midpoint", "between", "functional") if limb is ARM_LIMB}
    sizes |= {"measured_parameters"} if limb is WEIGHED else set()
    assert set(used_sizes(limb, chosen, muscles=False)) == sizes - without


def test_sizes_of_muscles_need_samples_and_muscles():
    for samples, muscles in ((256, True), (0, True), (256, False)):
        given = make_settings({"marker_sets": {"leg": LEG_RULES}, "uncertainty": section(samples=samples)})
        assert ("moment_arm" in used_sizes(LEG, given, muscles=muscles)) == bool(samples and muscles)


def test_a_landmark_of_a_marker_set_that_is_no_joint_centre():
    chosen = make_settings(
        {"marker_sets": {"sim": {**MARKERS, "heel": "HEE"}}, "uncertainty": {"sets": {"sim": {"heel": 0.01}}}}
    )
    assert study_faults(chosen, [ARM]) == [
        "uncertainty.sets.sim: 'heel' is not a joint centre or endpoint of a chain; remove it"
    ]


PREDICTIONS = [HipCentre(hip_centre=name) for name in get_args(HipRegression)]
PREDICTIONS += [ShoulderCentre(shoulder_centre=name) for name in get_args(ShoulderOffset)]


@pytest.mark.parametrize("rule", PREDICTIONS, ids=str)
def test_a_prediction_has_the_error_of_its_authors(rule):
    ((_, method),) = ((name, value) for name, value in rule if name.endswith("_centre"))
    errors = settings(**{f"centre_{method.partition('_')[0]}_m": 0.009}).uncertainty
    assert centre_error_m("hip_axis", LandmarkMap({"hip_axis": rule}, {}, "right"), errors) == 0.009

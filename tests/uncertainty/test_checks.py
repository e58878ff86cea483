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
from limbtorque.uncertainty.sizes import faults_of_sizes, study_faults

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
    ("wrong", "sentence"),
    [
        ({"segment_mass": -0.1}, "uncertainty.sizes: segment_mass is -0.1, expected from 0 to 0.5"),
        ({"sizes": {"body_mas": 0.1}}, "body_mas is unknown; did you mean 'body_mass'"),
        ({"segment_correlation": 1.0}, "segment_correlation"),
        ({"landmarks": {"elbow_axis": "guessed"}}, "uncertainty.landmarks"),
        ({"landmarks": {"elbow_axis": 8.0}}, "expected a standard deviation from 0 to 0.1 m"),
        ({"landmarks": {"elbow_axis": -0.01}}, "expected a standard deviation from 0 to 0.1 m"),
        ({"sets": {"sim": {"elbow_axis": 8.0}}}, "expected a standard deviation from 0 to 0.1 m"),
        ({"off": ["segment_mass", "segment_mass"]}, "segment_mass twice"),
        ({"off": ["segments"]}, "uncertainty.off"),
        ({"soft_tissue_range_deg": 0.0}, "soft_tissue_range_deg"),
        ({"plate_gain": None}, "uncertainty.sizes.plate_gain"),
        ({"enabled": True, "samples": 500}, "500: expected 0, or a power of two from 256 to 65536, such as 512"),
        ({"enabled": True, "samples": 128}, "uncertainty.samples"),
        ({"enabled": True, "samples": 131072}, "uncertainty.samples"),
        ({"enabled": True, "samples": -256}, "uncertainty.samples"),
        ({"enabled": True, "samples": 0.5}, "uncertainty.samples"),
        ({"enabled": False, "samples": 512}, "samples needs enabled; switch both on, or samples to 0"),
        ({"seed": -1}, "uncertainty.seed"),
        ({"moment_arm": -0.1}, "moment_arm"),
        ({"muscle_strength": 2.0}, "muscle_strength"),
    ],
)
def test_wrong_sizes_are_refused(wrong, sentence):
    with pytest.raises(SettingsError, match=sentence):
        settings(**wrong)


def test_one_source_may_be_given_without_a_list():
    assert settings(off="filter").uncertainty.off == ("filter",)


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
LEG_LIMB = Limb("leg", side="right", body_mass_kg=70.0, marker_set="leg")
IN_VAIN = "is given, but no trial has this error, or it is switched off; remove it"


def in_vain(*limbs, muscles=False, others=None, **uncertainty):
    """Faults of the sizes of a study of these limbs."""
    given = {"marker_sets": {"sim": MARKERS, "leg": LEG_RULES}, "uncertainty": section(**uncertainty), **(others or {})}
    return faults_of_sizes((limb, make_settings(given), muscles) for limb in limbs)


def test_no_default_size_is_in_vain():
    assert not in_vain(ARM_LIMB, LEG_LIMB)


def test_a_source_of_plates_concerns_no_arm():
    [fault] = in_vain(ARM_LIMB, off=["plate_gain", "filter"])
    assert fault == "uncertainty.off names plate_gain, but no trial has this error; remove it"
    assert not in_vain(ARM_LIMB, LEG_LIMB, off=["plate_gain"])


def test_a_size_of_errors_of_plates_concerns_no_arm_and_no_leg_without_plates():
    [fault] = in_vain(ARM_LIMB, plate_gain=0.02)
    assert fault == f"uncertainty.sizes.plate_gain {IN_VAIN}"
    assert not in_vain(ARM_LIMB, LEG_LIMB, plate_gain=0.02)
    assert in_vain(LEG_LIMB, plate_gain=0.02, others={"plates": {"assignment": "none"}}) == [fault]
    assert in_vain(replace(LEG_LIMB, load="spring"), plate_gain=0.02) == [fault]


@pytest.mark.parametrize(
    ("source", "sizes"),
    [
        ("segment_mass", {"segment_mass": 0.1, "rest_of_body_mass": 0.1}),
        ("segment_com", {"segment_com": 0.1}),
        ("segment_inertia", {"segment_inertia": 0.2}),
        ("body_mass", {"body_mass": 0.1}),
        ("joint_centres", {"centre_marker_m": 0.02}),
        ("soft_tissue", {"soft_tissue_m": 0.02, "soft_tissue_range_deg": 20.0}),
        ("marker_noise", {"marker_noise": 2.0}),
        ("gaps", {"gaps": 2.0}),
        ("filter", {"filter": 2.0}),
        ("plane", {"plane_deg": 3.0}),
        ("plate_gain", {"plate_gain": 0.02}),
        ("plate_offset", {"plate_offset_n": 2.0}),
        ("pressure", {"pressure_m": 0.01}),
        ("synchronisation", {"synchronisation_s": 0.01}),
    ],
)
def test_a_size_of_a_source_that_is_switched_off(source, sizes):
    faults = in_vain(LEG_LIMB, off=[source], **sizes)
    assert faults == [f"uncertainty.sizes.{name} {IN_VAIN}" for name in sizes]
    assert not in_vain(LEG_LIMB, **sizes)
    assert not in_vain(LEG_LIMB, off=[source])
    assert not in_vain(LEG_LIMB, enabled=False, off=[source], **sizes)


def test_a_size_that_one_trial_uses_is_not_in_vain():
    """A column of the table of trials switches a source off for one trial alone."""
    both = [
        (
            LEG_LIMB,
            make_settings({"marker_sets": {"leg": LEG_RULES}, "uncertainty": section(plane_deg=4.0, off=off)}),
            False,
        )
        for off in ([], ["plane"])
    ]
    assert not faults_of_sizes(both)
    assert faults_of_sizes(both[1:])


def test_a_size_of_a_kind_that_no_joint_centre_has():
    [fault] = in_vain(LEG_LIMB, centre_davis_m=0.02)
    assert fault == f"uncertainty.sizes.centre_davis_m {IN_VAIN}"
    assert not in_vain(LEG_LIMB, centre_davis_m=0.02, landmarks={"hip_axis": "davis"})
    every = dict.fromkeys(LEG_RULES, 0.01)
    [other] = in_vain(LEG_LIMB, centre_marker_m=0.02, landmarks=every)
    assert "centre_marker_m" in other


def test_sizes_that_nothing_depends_on():
    [gaps] = in_vain(LEG_LIMB, gaps=2.0, others={"gaps": {"max_gap_s": 0.0}})
    assert gaps == f"uncertainty.sizes.gaps {IN_VAIN}"
    [lost] = in_vain(LEG_LIMB, filter=2.0, others={"filter": {"method": "none"}})
    assert lost == f"uncertainty.sizes.filter {IN_VAIN}"
    [skin] = in_vain(LEG_LIMB, soft_tissue_m=0.0, soft_tissue_range_deg=20.0)
    assert skin == f"uncertainty.sizes.soft_tissue_range_deg {IN_VAIN}"


def test_sizes_of_measured_parameters_and_of_the_table():
    [fault] = in_vain(LEG_LIMB, measured_parameters=0.05)
    assert fault == f"uncertainty.sizes.measured_parameters {IN_VAIN}"
    weighed = replace(LEG_LIMB, measured={f"{name}_mass_kg": 1.0 for name in ("thigh", "shank", "foot")})
    assert not in_vain(weighed, measured_parameters=0.05)
    sizes = {"segment_mass": 0.1, "rest_of_body_mass": 0.1, "body_mass": 0.1}
    assert [text.split(" ")[0] for text in in_vain(weighed, **sizes)] == [f"uncertainty.sizes.{name}" for name in sizes]


def test_sizes_of_muscles_need_samples_and_muscles():
    for given in ({"muscles": True}, {"samples": 256}):
        [fault] = in_vain(LEG_LIMB, moment_arm=0.2, **given)
        assert fault == f"uncertainty.sizes.moment_arm {IN_VAIN}"
    assert not in_vain(LEG_LIMB, moment_arm=0.2, muscles=True, samples=256)


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

"""Joint strength curves and comparisons of `tools/draw_strength.py`: closed forms, and published peaks."""

import draw_strength as tool
import numpy as np
import pytest

from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.study.yaml_file import read_yaml

ENTRIES = read_yaml(tool.TABLES / "strengths.yaml")


def entry(joint, sense):
    return next(e for e in ENTRIES if (e["joint"], e["sense"]) == (joint, sense))


def test_strength_of_one_pair_is_arm_times_strength():
    pairs = load_muscle_set("pairs")
    knee = {muscle.name: muscle for muscle in pairs.muscles}["knee_extensor"]
    arm = abs(float(knee.moment_arms["knee"].curve.coefficients.ravel()[0]))
    constant, by_length = tool.strength(pairs, "knee", np.array([0.0, 60.0]), (0.0,) * len(pairs.joints), -1.0)
    np.testing.assert_allclose(constant, knee.max_isometric_force_n * arm)
    np.testing.assert_allclose(by_length, constant)  # no fibres are known


def test_fibres_only_weaken():
    leg = load_muscle_set("leg")
    constant, by_length = tool.strength(leg, "knee", np.arange(0.0, 101.0, 10.0), (70.0, 0.0, 0.0), -1.0)
    assert (by_length <= constant + 1e-9).all()
    assert (by_length > 0.2 * constant).all()


@pytest.mark.parametrize(
    ("joint", "sense", "peak_nm", "at_deg"),
    [("hip", "extension", 202.2, 55), ("knee", "extension", 204.7, 65), ("ankle", "flexion", 41.4, -10)],
)
def test_anderson_peaks_at_c3_with_c1(joint, sense, peak_nm, at_deg):
    """C1 in body weight times height, by hand: 75.3 kg x 9.81 m/s2 x 1.70 m = 1255.8 N m."""
    flexion, torque, sd = tool.measured(entry(joint, sense))
    assert torque.max() == pytest.approx(peak_nm, rel=2e-3)
    assert flexion[torque.argmax()] == at_deg
    assert sd.max() < 0.35 * torque.max()


@pytest.mark.parametrize("e", ENTRIES, ids=lambda e: f"{e['joint']} {e['sense']} {e['source'].split(',')[0]}")
def test_joint_strength_is_within_two_standard_deviations_of_the_measured_mean(e):
    """Or `outside` in the table says why not; no joint is called outside that is not."""
    assert tool.is_outside(e) == ("outside" in e)


def test_every_direction_but_shoulder_extension_is_compared():
    compared = {(e["joint"], e["sense"]) for e in ENTRIES}
    joints = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
    assert {(j, s) for j in joints for s in tool.SENSES} - compared == {("shoulder", "extension")}


@pytest.mark.parametrize(
    ("joint", "sense", "angle", "by_hand"),
    [
        ("wrist", "flexion", 0.0, 407.9 * 0.018464 + 479.8 * 0.018412),  # of the sampled arms at 0
        ("ankle", "flexion", 0.0, 1227.45 * 0.042609),
        ("ankle", "extension", 0.0, 4690.57 * 0.043128 + 6194.84 * 0.041361),
    ],
)
def test_joint_strength_by_hand(joint, sense, angle, by_hand):
    muscles = tool.set_with(joint)
    constant, _ = tool.strength(muscles, joint, np.array([angle]), (0.0, 0.0, 0.0), tool.SENSES[sense])
    assert constant[0] == pytest.approx(by_hand, rel=0.02)


def test_wrist_strengths_of_holzbaur_2005_would_be_a_third_of_the_measured_torque():
    """Why the wrist has the strengths of Saul et al. (2015): 74 and 129 N at 18 mm are 3.6 N m, measured are 12.2."""
    arm = load_muscle_set("arm")
    newtons = {muscle.name: muscle.max_isometric_force_n for muscle in arm.muscles}
    assert [newtons[name] for name in ("FCR", "FCU", "ECRL", "ECRB", "ECU")] == [407.9, 479.8, 337.3, 252.5, 192.9]
    torque, sd, (ours, _), _ = tool.compared(entry("wrist", "flexion"))
    older = ours[0] * (74.0 + 128.9) / (407.9 + 479.8)
    assert abs(ours[0] - torque[0]) < sd[0]
    assert older < torque[0] - 2.0 * sd[0]

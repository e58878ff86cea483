"""Joint strength curves and comparisons of `tools/draw_strength.py`: closed forms, and published peaks."""

import json

import draw_strength as tool
import numpy as np
import pandas as pd
import pytest

from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import BUILT_IN, load_muscle_set
from limbtorque.study.files import read_yaml

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


@pytest.mark.parametrize("sense", list(tool.SENSES))
@pytest.mark.parametrize(("joint", "angles"), [("hip", (0, 90)), ("knee", (0, 90)), ("ankle", (-30, 30))])
def test_joint_strength_of_the_leg_is_that_of_the_sampled_arms(joint, angles, sense):
    """Sum of strength times sampled arm over all muscles of that sense, within the fits' stated departures."""
    rows = pd.read_csv(tool.TABLES / "leg.csv")
    newtons = pd.read_csv(tool.TABLES / "leg_parameters.csv").set_index("muscle").max_isometric_force_n
    rows = rows[(rows.joint == joint) & rows.joint_flexion_deg.between(*angles)]
    torque = (tool.SENSES[sense] * rows.moment_arm_m).clip(lower=0.0) * newtons[rows.muscle].to_numpy()
    expected = torque.groupby(rows.joint_flexion_deg).sum()
    constant, _ = tool.strength(
        tool.set_with(joint), joint, expected.index.to_numpy(), (0.0, 0.0, 0.0), tool.SENSES[sense]
    )
    stated = {m["name"]: m["moment_arms"][joint] for m in json.loads((BUILT_IN / "leg.json").read_bytes())["muscles"]}
    muscles = tool.set_with(joint).muscles
    apart = sum(newtons[one.name] * stated[one.name].get("max_departure_m", 0.0) for one in muscles)
    np.testing.assert_allclose(constant, expected, rtol=1e-3, atol=apart)


def test_wrist_strengths_of_holzbaur_2005_would_be_a_third_of_the_measured_torque():
    """Why the wrist has the strengths of Saul et al. (2015): 74 and 129 N at 18 mm are 3.6 N m, measured are 12.2."""
    arm = load_muscle_set("arm")
    newtons = {muscle.name: muscle.max_isometric_force_n for muscle in arm.muscles}
    assert [newtons[name] for name in ("FCR", "FCU", "ECRL", "ECRB", "ECU")] == [407.9, 479.8, 337.3, 252.5, 192.9]
    torque, sd, (ours, _), _ = tool.compared(entry("wrist", "flexion"))
    older = ours[0] * (74.0 + 128.9) / (407.9 + 479.8)
    assert abs(ours[0] - torque[0]) < sd[0]
    assert older < torque[0] - 2.0 * sd[0]


def test_fibres_of_the_wrist_fit_the_lengths_of_its_muscles():
    """Strengths and fibres are of Saul et al. (2015), lengths of MyoArm: fibres near their optimum over the whole range."""
    arm = load_muscle_set("arm")
    flexion = np.array([[0.0, elbow, wrist] for elbow in range(0, 131, 10) for wrist in range(-60, 61, 10)])
    length = musculotendon(arm, np.radians(flexion)).length_m
    for name in ("FCR", "ECRL", "ECRB", "ECU"):
        m = arm.names.index(name)
        muscle = arm.muscles[m]
        fibre = (length[:, m] - muscle.tendon_slack_length_m) / muscle.optimal_fibre_length_m
        assert 0.6 < fibre.min() < 1.0 < fibre.max() < 1.4, (name, fibre.min(), fibre.max())


def test_fibres_only_weaken():
    leg = load_muscle_set("leg")
    constant, by_length = tool.strength(leg, "knee", np.arange(0.0, 101.0, 10.0), (70.0, 0.0, 0.0), -1.0)
    assert (by_length <= constant + 1e-9).all()
    assert (by_length > 0.2 * constant).all()


def test_published_efforts_have_the_ratios_of_the_page():
    """Torque of all agonists of the set over the measured one, mean over the angles."""
    efforts = {effort.name: effort for effort in tool.published_efforts("Anderson et al. (2007)")}
    ratios = {(row[0], row[1]): float(row[5]) for row in tool.strength_rows() if row[2] == "Anderson et al. (2007)"}
    assert len(efforts) == len(ratios) == 6
    for (joint, sense), ratio in ratios.items():
        effort = efforts[f"{joint} {sense}"]
        assert effort.reach_nm.sum() / effort.torque_nm == pytest.approx(ratio, abs=0.006)

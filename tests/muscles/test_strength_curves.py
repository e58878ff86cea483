"""Joint strength curves and comparisons of `tools/draw_strength.py`: closed forms, and published peaks."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.muscle_set import load_muscle_set
from limbtorque.study.yaml_file import read_yaml

TOOL = Path(__file__).resolve().parents[2] / "tools" / "draw_strength.py"
spec = importlib.util.spec_from_file_location("draw_strength", TOOL)
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


def entry(joint, sense):
    return next(e for e in read_yaml(tool.TABLES / "strengths.yaml") if (e["joint"], e["sense"]) == (joint, sense))


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


def test_every_measured_direction_is_compared():
    rows = {(joint, sense): float(ratio) for joint, sense, *_, ratio, _, _, _ in tool.strength_rows()}
    assert len(rows) == 10
    assert 0.5 < rows["shoulder", "flexion"] < 1.5
    assert 0.5 < rows["ankle", "flexion"] < 2.0


def test_every_arm_has_the_sign_of_its_published_values():
    """Of the abstracts and tables at single angles, and of every measured polynomial over the set's range."""
    published = read_yaml(tool.TABLES / "published.yaml")
    compared = [(e, e["flexion_deg"], e["arms_mm"]) for e in published["values"]]
    for e in published["polynomials"]:
        flexion = np.linspace(*e["range_deg"], 25)
        compared.append((e, flexion, np.polynomial.Polynomial(e["coefficients_mm"])(np.radians(flexion))))
    for e, flexion, arms_mm in compared:
        muscles = tool.set_with(e["joint"])
        found = musculotendon(muscles, np.radians(flexion)[:, None], joints=[e["joint"]])
        ours = found.moment_arm_m[:, 0, muscles.names.index(e["muscle"])]
        opposed = (ours * np.asarray(arms_mm) < 0) & (np.abs(arms_mm) > 5.0)
        if (e["muscle"], e["joint"]) == ("ECRL", "elbow"):  # two measurements that differ near the straight elbow
            opposed &= np.asarray(flexion) > 30.0
        assert not opposed.any(), (e["muscle"], e["joint"], e["source"])


def test_difference_of_an_arm_from_a_line_by_hand():
    flexion = np.array([0.0, 60.0, 120.0])
    row = tool.difference("BICshort", "shoulder", flexion, np.array([29.21, 19.21, 29.21]), "by hand")
    assert row[3:] == ("0 to 120", "5.8", "+10.0 at 60")  # 10 / sqrt 3

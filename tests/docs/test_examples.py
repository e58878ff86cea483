"""Every example runs, draws, and finds what the mechanics says; the page about them says what they find."""

import importlib
import importlib.util
import itertools
import json
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from study_runs import made_once

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
PAGE = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
PEAK_90_DEG = 10.0 / np.sqrt(3.0) * np.pi / 2.0  # largest acceleration of a minimum-jerk turn by 90 degrees in 1 s
ROUNDING = 1e-10  # double precision after some thousand operations on numbers of the order of a hundred


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)  # as python does for a script
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def example(tmp_path_factory):
    """Run an example, once for all tests of all workers: its numbers and the folder of its figures."""

    def run(name):
        def make(folder):
            folder.mkdir()
            (folder / "numbers.pickle").write_bytes(pickle.dumps(load(name).main(folder)))

        folder = made_once(tmp_path_factory, f"example {name}", make)
        return pickle.loads((folder / "numbers.pickle").read_bytes()), folder

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_example_draws_a_figure_and_returns_numbers(example, name):
    numbers, folder = example(name)
    image = imread(folder / f"{name}.png")
    assert abs(image.shape[1] / 200.0 * 25.4 - 180.0) < 0.2  # mm
    grey = image[..., :3].mean(axis=2)
    assert 0.005 < np.mean(grey < 0.8) < 0.5  # something is drawn, on a white ground
    assert (grey[:, :2] > 0.99).all()
    assert (grey[:, -2:] > 0.99).all()  # nothing is cut off at the sides
    assert all(np.isfinite(value) for value in numbers.values())


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_runs(path, example, monkeypatch):
    """In this process, which shows no figures: each example runs once for all tests."""
    pytest.importorskip("IPython")
    monkeypatch.chdir(path.parent)
    monkeypatch.syspath_prepend(FOLDER)

    def show(module, *names):
        numbers, folder = example(module.__name__)
        assert all((folder / f"{name}.png").is_file() for name in names or [module.__name__])
        return numbers

    monkeypatch.setattr(importlib.import_module("_drawing"), "show", show)
    cells, names = json.loads(path.read_text(encoding="utf-8"))["cells"], {}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.stem}, cell {number}", "exec"), names)


@pytest.mark.parametrize("name", ["signs", "two_link_reach"])
def test_same_bytes_on_a_second_run(example, name, tmp_path):
    _, folder = example(name)
    load(name).main(tmp_path)
    assert (tmp_path / f"{name}.png").read_bytes() == (folder / f"{name}.png").read_bytes()


def test_an_example_runs_from_any_folder(tmp_path):
    import subprocess

    done = subprocess.run(
        [sys.executable, FOLDER / "signs.py", "figures"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (tmp_path / done.stdout.split()[-1]).is_file()


def test_one_link(example):
    n, _ = example("one_link")
    assert n["closed_form_difference_nm"] < ROUNDING
    assert n["about_com_residual_nm"] < ROUNDING
    assert n["forward_difference_deg"] < 0.01  # of a spline through corners, 1000 samples a second


def test_two_link_reach(example):
    n, _ = example("two_link_reach")
    assert n["elbow_gravity_peak_nm"] == pytest.approx(n["elbow_gravity_closed_form_nm"], rel=1e-12)
    assert n["push_shoulder_nm"] == pytest.approx(n["push_closed_form_nm"], rel=1e-12)
    assert n["push_elbow_nm"] == pytest.approx(n["push_closed_form_nm"], rel=1e-12)
    assert n["slow_torque_without_gravity_nm"] < 0.05 * n["slow_shoulder_peak_nm"]


def test_moving_torques_of_a_reach_go_with_the_square_of_its_speed(example):
    n, _ = example("two_link_reach")
    slow = n["slow_torque_without_gravity_nm"] * (4.0 / 0.5) ** 2
    assert slow == pytest.approx(n["horizontal_shoulder_peak_nm"], rel=1e-9)


def test_elbow_from_a_straight_arm_has_no_bound(example):
    n, _ = example("two_link_endpoint")
    peaks = [n[f"onset_acceleration_{samples}_rad_s2"] for samples in (101, 401, 1601, 6401)]
    assert peaks[3] / peaks[2] == pytest.approx(2.0, rel=0.005)  # 1/sqrt(time), a quarter of the interval
    assert all(later > 1.9 * earlier for earlier, later in itertools.pairwise(peaks))
    law = load("two_link_endpoint").onset_law(np.array([2.0 * 0.5 / 6400]), 0.5)[0]
    assert peaks[3] == pytest.approx(law, rel=0.15)  # np.gradient twice over samples this far apart
    assert n["shoulder_peak_6401_nm"] > 2.5 * n["procedure_fast_shoulder_peak_nm"]
    assert n["bent_fast_shoulder_peak_nm"] < n["procedure_fast_shoulder_peak_nm"]


def test_parameters_of_the_notebook_are_too_large_by_the_lengths(example):
    n, _ = example("two_link_endpoint")
    slow = n["notebook_slow_elbow_peak_nm"] / n["procedure_slow_elbow_peak_nm"]
    assert slow == pytest.approx(0.253 / 0.146, rel=0.1)  # the slow elbow carries gravity, and a tenth more
    module = load("two_link_endpoint")
    wrong, right = module.notebook_arm(), module.two_link_arm()
    assert wrong.com_m[1] / right.com_m[1] == pytest.approx(0.253 / 0.146)
    assert wrong.inertia_kgm2[1] / right.inertia_kgm2[1] == pytest.approx((0.253 / 0.146) ** 2)


def notebook_terms(angle, velocity, acceleration, gravity):
    """Inertial, centripetal and Coriolis, and gravity terms as the two-link notebook prints them, with its parameters."""
    height, mass, g = 1.70, 70.0, gravity
    (l1, l2), (m1, m2) = (0.188 * height, 0.253 * height), (0.0280 * mass, 0.0220 * mass)
    d1, d2, i1, i2 = 0.436 * l1, 0.682 * l2, m1 * (0.322 * l1) ** 2, m2 * (0.468 * l2) ** 2
    (q1, q2), (w1, w2), (a1, a2) = angle.T, velocity.T, acceleration.T
    m12 = i2 + l1 * d2 * m2 * np.cos(q2) + d2**2 * m2
    m11 = i1 + i2 + l1**2 * m2 + 2 * l1 * d2 * m2 * np.cos(q2) + d1**2 * m1 + d2**2 * m2
    inertial = m11 * a1 + m12 * a2, m12 * a1 + (i2 + d2**2 * m2) * a2
    moving = -l1 * d2 * m2 * (2 * w1 + w2) * np.sin(q2) * w2, l1 * d2 * m2 * np.sin(q2) * w1**2
    second = d2 * g * m2 * np.cos(q1 + q2)
    return inertial, moving, (g * (l1 * m2 + d1 * m1) * np.cos(q1) + second, second)


@pytest.mark.parametrize("gravity", [9.81, 0.0])
def test_the_notebooks_procedure_gives_the_notebooks_terms(example, gravity):
    """Angles by its cosine rule, clamped as it does, differentiated as it does; terms by its printed matrices."""
    example("endpoint_reach_terms")
    module, duration = load("two_link_endpoint"), 0.5
    arm = module.notebook_arm()
    time, angle, terms, _ = module.as_the_notebook(arm, duration, gravity=(0.0, -gravity))
    u = time[:, None] / duration
    way = module.STRAIGHT_M + (module.TARGET_M - module.STRAIGHT_M) * (10 * u**3 - 15 * u**4 + 6 * u**5)
    l1, l2 = arm.length_m
    elbow = np.arccos(np.clip(((way**2).sum(axis=1) - l1**2 - l2**2) / (2 * l1 * l2), -1.0, 1.0))
    shoulder = np.arctan2(way[:, 1], way[:, 0]) - np.arctan2(l2 * np.sin(elbow), l1 + l2 * np.cos(elbow))
    np.testing.assert_allclose(angle, np.column_stack([shoulder, elbow]), rtol=0.0, atol=1e-7)  # an arccos near 1
    velocity = np.gradient(angle, time, axis=0)
    expected = notebook_terms(angle, velocity, np.gradient(velocity, time, axis=0), gravity)
    for joint in (0, 1):
        found = (
            terms.inertial[:, joint].sum(axis=1),
            terms.centripetal[:, joint].sum(axis=1) + terms.coriolis[:, joint].sum(axis=1),
            terms.gravity[:, joint],
        )
        for kind, printed in zip(found, expected, strict=True):
            np.testing.assert_allclose(kind, printed[joint], rtol=0.0, atol=ROUNDING)


def test_endpoint_reach_terms(example):
    n, _ = example("endpoint_reach_terms")
    largest = max(n["bent_horizontal_shoulder_peak_nm"], n["bent_horizontal_elbow_peak_nm"])
    assert n["bent_slow_without_gravity_nm"] * 64.0 == pytest.approx(largest, rel=1e-9)
    peaks, _ = example("two_link_endpoint")
    assert max(n["slow_acceleration_difference"], n["fast_acceleration_difference"]) < 1e-3  # of np.gradient
    assert n["fast_elbow_peak_deg_s2"] == pytest.approx(64.0 * n["slow_elbow_peak_deg_s2"], rel=1e-9)
    for joint in ("shoulder", "elbow"):
        assert n[f"straight_fast_{joint}_peak_nm"] == peaks[f"procedure_fast_{joint}_peak_nm"]
        assert n[f"notebook_fast_{joint}_peak_nm"] == peaks[f"notebook_fast_{joint}_peak_nm"]
        assert n[f"bent_fast_{joint}_interaction_share"] > 0.5 > n[f"bent_slow_{joint}_interaction_share"]


def test_one_link_kinematics(example):
    n, _ = example("one_link_kinematics")
    for name in ("position_m", "velocity_m_s", "acceleration_m_s2", "jerk_m_s3"):
        assert n[f"difference_{name}"] < ROUNDING
    assert n["peak_velocity_m_s"] == pytest.approx(15.0 / 8.0 * np.pi / 2.0, rel=1e-12)
    assert n["peak_jerk_m_s3"] == pytest.approx(60.0 * np.pi / 2.0, rel=1e-12)  # at the onset


def test_two_link_kinematics(example):
    n, _ = example("two_link_kinematics")
    for name in ("velocity_deg_s", "acceleration_deg_s2", "jerk_deg_s3"):
        assert n[f"difference_{name}"] < 3e-4  # of np.gradient, a thousand samples
    for order in range(4):  # from a straight elbow: the angle as t^1.5, and its derivatives
        assert n[f"onset_power_{order}"] == pytest.approx(1.5 - order, abs=0.02)
    assert n["endpoint_peak_speed_m_s"] == pytest.approx(15.0 / 8.0 * n["endpoint_mean_speed_m_s"], rel=1e-12)
    assert n["straight_elbow_end_deg"] == pytest.approx(90.0)


def test_horizontal_double_pendulum(example):
    """The terms that exercise 5 asks for: 0 where the printed C is, by its factors."""
    n, _ = example("horizontal_double_pendulum")
    joints = ("shoulder", "elbow")
    for case in ("shoulder_still", "elbow_straight", "elbow_still", "polar"):
        assert all(n[f"{case}_{joint}_gravity_nm"] == 0.0 for joint in joints)
    for case in ("shoulder_still", "elbow_straight", "elbow_still"):
        assert all(n[f"{case}_{joint}_coriolis_nm"] < ROUNDING for joint in joints)
    assert n["shoulder_still_elbow_centripetal_nm"] < ROUNDING < 1.0 < n["shoulder_still_shoulder_centripetal_nm"]
    assert n["elbow_still_shoulder_centripetal_nm"] < ROUNDING < 1.0 < n["elbow_still_elbow_centripetal_nm"]
    assert all(n[f"elbow_straight_{joint}_centripetal_nm"] < ROUNDING for joint in joints)
    assert n["polar_shoulder_velocity_terms_nm"] < ROUNDING < 1.0 < n["polar_shoulder_coriolis_nm"]
    arm = load("horizontal_double_pendulum").equal_links()
    whole = arm.coupling.sum()  # the straight arm as one link about the shoulder
    assert n["elbow_straight_shoulder_inertial_nm"] == pytest.approx(whole * PEAK_90_DEG / 0.5**2, rel=1e-4)
    forearm = arm.coupling[1, 1]
    assert n["shoulder_still_elbow_peak_nm"] == pytest.approx(forearm * PEAK_90_DEG / 0.5**2, rel=1e-4)


def test_segment_space(example):
    n, _ = example("segment_space")
    for space in ("joint", "segment"):
        assert all(n[f"{space}_{joint}_difference_nm"] < ROUNDING for joint in ("shoulder", "elbow"))
    assert n["joint_shoulder_4_nm"] > 4.0  # Coriolis, which segment space has not
    forearm = load("segment_space").two_link_arm().coupling[1, 1]
    assert n["segment_elbow_1_nm"] == pytest.approx(2.0 * forearm * PEAK_90_DEG / 0.5**2, rel=1e-4)


def test_parameter_sweep(example):
    """Mass multiplies every torque; height gravity, and its square the rest; the duration the rest by its square."""
    n, _ = example("parameter_sweep")

    def ratio(sweep, first, last, joint, kind):
        return n[f"{sweep}_{last}_{joint}_{kind}_nm"] / n[f"{sweep}_{first}_{joint}_{kind}_nm"]

    for joint in ("shoulder", "elbow"):
        for kind in ("inertial", "centripetal", "gravity", "net"):
            assert ratio("body_mass", 40, 120, joint, kind) == pytest.approx(3.0, rel=1e-12)
        for kind in ("inertial", "centripetal"):
            assert ratio("body_height", 1.2, 2, joint, kind) == pytest.approx((2.0 / 1.2) ** 2, rel=1e-12)
            assert ratio("duration", 4, 0.3, joint, kind) == pytest.approx((4.0 / 0.3) ** 2, rel=1e-9)
        assert ratio("body_height", 1.2, 2, joint, "gravity") == pytest.approx(2.0 / 1.2, rel=1e-12)
        assert ratio("duration", 4, 0.3, joint, "gravity") == pytest.approx(1.0, rel=1e-12)
    assert n["held_weight_at_elbow_nm"] == pytest.approx(n["held_weight_closed_form_nm"], rel=1e-12)


def test_fixed_joint(example):
    n, _ = example("fixed_joint")
    for held in ("joint_1", "joint_2"):
        assert n[f"{held}_acceleration_difference_m_s2"] < ROUNDING
        assert n[f"{held}_jacobian_difference_m"] < ROUNDING
        assert n[f"{held}_coriolis_m_s2"] < ROUNDING
    assert n["joint_2_peak_acceleration_m_s2"] == pytest.approx(2.0 * n["joint_1_peak_acceleration_m_s2"], rel=1e-12)


@pytest.mark.slow
def test_pid_forearm(example):
    n, _ = example("pid_forearm")
    assert n["notebook_torque_start_nm"] == pytest.approx(
        2.0 * 6.0 * np.pi
    )  # no error at first, gain 2 times 6 pi rad/s
    assert n["law_difference_nm"] < 0.01  # of a velocity by np.gradient, 100 samples a second
    assert n["shoulder_torque_nm"] == 0.0
    assert n["balance_j"] < 1e-6
    error = n["euler_1_ms_off_1_s_deg"] / n["euler_0.1_ms_off_1_s_deg"]
    assert error == pytest.approx(10.0, rel=0.05)  # first order: the replay and the built-in drive have one limit
    assert n["forearm_error_end_deg"] < 10.0 < 90.0 < n["elbow_angle_moves_deg"]


def test_speed_scaling(example):
    n, _ = example("speed_scaling")
    for way, joint in itertools.product(("across", "away", "oblique"), ("shoulder", "elbow")):
        slow, fast = (n[f"{way}_{seconds}_s_{joint}_peak_nm"] for seconds in ("1", "0.25"))
        assert fast == pytest.approx(16.0 * slow, rel=1e-9)
        shares = [n[f"{way}_{seconds}_s_{joint}_interaction_ratio"] for seconds in ("1", "0.5", "0.25")]
        assert shares == pytest.approx([shares[0]] * 3, rel=1e-9)
    assert n["vertical_without_gravity_off_16_times_nm"] < ROUNDING
    assert n["vertical_net_off_16_times_nm"] == pytest.approx(15.0 * n["gravity_peak_nm"], rel=1e-9)


def printed_accelerations(arm, angle, velocity, acceleration):
    """Equations (4) to (14) of Cesari et al. (2001), accelerations, with (10) and (14) corrected; by segment and axis."""
    (l1, l2, _), (d1, d2, d3) = arm.length_m, arm.com_m
    (a1, a2, a3), (w1, w2, w3), (e1, e2, e3) = angle.T, velocity.T, acceleration.T
    s1, s12, s123 = np.sin(a1), np.sin(a1 + a2), np.sin(a1 + a2 + a3)
    c1, c12, c123 = np.cos(a1), np.cos(a1 + a2), np.cos(a1 + a2 + a3)
    first = -d1 * (e1 * s1 + w1**2 * c1), d1 * (e1 * c1 - w1**2 * s1)
    turn = 2 * w1 * w2 + w2**2
    second = (
        -(l1 * s1 + d2 * s12) * e1 - d2 * s12 * e2 - (l1 * c1 + d2 * c12) * w1**2 - d2 * c12 * turn,
        (l1 * c1 + d2 * c12) * e1 + d2 * c12 * e2 - (l1 * s1 + d2 * s12) * w1**2 - d2 * s12 * turn,
    )
    pairs = 2 * w1 * w3 + 2 * w2 * w3
    third = (
        -(l1 * s1 + l2 * s12 + d3 * s123) * e1 - (l2 * s12 + d3 * s123) * e2 - d3 * s123 * e3
        - (l1 * c1 + l2 * c12 + d3 * c123) * w1**2 - (l2 * c12 + d3 * c123) * w2**2 - d3 * c123 * w3**2
        - (l2 * c12 + d3 * c123) * 2 * w1 * w2 - d3 * c123 * pairs,
        (l1 * c1 + l2 * c12 + d3 * c123) * e1 + (l2 * c12 + d3 * c123) * e2 + d3 * c123 * e3
        - (l1 * s1 + l2 * s12 + d3 * s123) * w1**2 - (l2 * s12 + d3 * s123) * w2**2 - d3 * s123 * w3**2
        - (l2 * s12 + d3 * s123) * 2 * w1 * w2 - d3 * s123 * pairs,
    )  # fmt: skip
    return first, second, third


def test_three_link_equations(example):
    n, _ = example("three_link_equations")
    assert n["sum_of_terms_difference"] < ROUNDING
    assert n["slow_balance_left_over"] < ROUNDING
    assert n["fast_balance_left_over"] < ROUNDING
    assert n["slow_is_a_sixteenth_m_s2"] < ROUNDING
    module = load("three_link_equations")
    arm = module.three_link_arm()
    trial = module.reach(arm, 0.5)
    motion = trial["kinematics"]
    printed = printed_accelerations(arm, motion.angle_rad, motion.velocity_rad_s, motion.acceleration_rad_s2)
    for link, expected in enumerate(printed):
        terms = module.acceleration_terms(arm, trial, link)
        assert len(terms) == (2, 5, 9)[link]  # two for each joint, one for each pair
        total = sum(values for values, _ in terms.values())
        np.testing.assert_allclose(total, np.column_stack(expected), rtol=0.0, atol=ROUNDING)


def test_three_link_spring(example):
    n, _ = example("three_link_spring")
    for speed in ("slow", "fast"):
        assert n[f"{speed}_spring_difference_nm"] < ROUNDING
        assert n[f"{speed}_closure_nm"] < ROUNDING


def test_n_links_moving_base(example):
    n, _ = example("n_links_moving_base")
    assert n["largest_difference_nm"] < 1e-12  # rounding of torques near a hundred N m
    assert n["largest_torque_nm"] > 50.0


def test_kinematic_chain(example):
    n, _ = example("kinematic_chain")
    assert n["sum_of_parts_difference_m_s2"] < ROUNDING
    assert n["coriolis_off_the_second_link"] < ROUNDING
    assert n["peak_coriolis_m_s2"] == pytest.approx(n["coriolis_closed_form_m_s2"], rel=1e-9)
    assert n["difference_from_numeric_m_s2"] < 1e-4 * n["peak_acceleration_m_s2"]  # h^2/6 of the next derivatives
    assert n["jerk_difference_from_numeric_m_s3"] < 1e-4 * n["peak_jerk_m_s3"]


def test_polar_manipulator(example):
    n, _ = example("polar_manipulator")
    for what in (
        "off_the_line_m",
        "across_the_line_m_s2",
        "centripetal_2_and_coriolis_m_s2",
        "joint_1_velocity_terms_nm",
    ):
        assert n[what] < ROUNDING
    assert n["along_difference_from_closed_form_m_s2"] < ROUNDING
    assert n["manipulability_difference_m2"] < ROUNDING
    assert n["centripetal_2_alone_m_s2"] > 10.0
    assert n["largest_manipulability_m2"] == pytest.approx(0.3**2, rel=1e-4)
    assert n["distance_of_largest_m"] == pytest.approx(0.3 * np.sqrt(2.0), rel=5e-3)  # one sample


def test_redundancy(example):
    n, _ = example("redundancy")
    assert n["fingertip_difference_m"] < ROUNDING
    assert n["change_outside_null_space"] < 1e-7  # of a difference over 2e-4 rad
    assert n["redundancy"] == pytest.approx(1.0)
    assert n["shoulder_rms_down_nm"] > 1.1 * n["shoulder_rms_fixed_nm"]


def test_inverse_kinematics(example):
    n, _ = example("inverse_kinematics")
    assert n["unreachable_refused"] == 1.0
    assert n["unreachable_shift_m"] == pytest.approx(n["shift_closed_form_m"], rel=1e-12)
    assert n["length_noise_of_one_frame_m"] == pytest.approx(0.002 * np.sqrt(2.0), rel=0.1)
    assert n["fitted_length_error_m"] < 4.0 * 0.002 * np.sqrt(2.0 / 360.0)  # four standard errors of 360 frames
    shoulder = np.degrees(0.002 * np.sqrt(2.0) / 0.3196)  # two markers at the ends of the upper arm
    assert n["shoulder_angle_noise_segment_deg"] == pytest.approx(shoulder, rel=0.05)
    for joint in ("shoulder", "elbow", "wrist"):
        assert n[f"{joint}_angle_noise_chain_deg"] < n[f"{joint}_angle_noise_segment_deg"]
        assert n[f"{joint}_torque_noise_chain_nm"] < 0.8 * n[f"{joint}_torque_noise_segment_nm"]


@pytest.mark.slow
def test_double_pendulum(example):
    n, _ = example("double_pendulum")
    assert n["energy_j"] == pytest.approx(3.899, abs=5e-4)
    assert n["energy_held_j"] < 1e-5  # relative tolerance 1e-9 over some hundred turns
    assert n["slip_lowest_j"] == pytest.approx(3.7, abs=0.05)
    assert n["slip_highest_j"] == pytest.approx(10.0, abs=0.05)
    assert 4.1 < n["euler_0.1_ms_highest_j"] < n["euler_1_ms_highest_j"] < n["euler_10_ms_highest_j"]
    assert n["euler_10_ms_highest_j"] > 20.0


def test_pid_joint(example):
    n, _ = example("pid_joint")
    assert n["rod_error_0_deg"] == pytest.approx(n["rod_error_left_closed_form_deg"], abs=1e-5)
    for gain in (3, 30):
        assert n[f"rod_rate_{gain}_per_s"] == pytest.approx(n[f"rod_root_{gain}_per_s"], rel=0.01)
    assert abs(n["elbow_error_30_deg"]) < 1e-3 < abs(n["elbow_error_3_deg"]) < abs(n["elbow_error_0_deg"])


def test_torque_driven_arm(example):
    n, _ = example("torque_driven_arm")
    rates = np.array([100.0, 250.0, 1000.0])
    errors = np.array([n[f"error_{rate:g}_hz_deg"] for rate in rates])
    assert -np.polyfit(np.log(rates), np.log(errors), 1)[0] == pytest.approx(
        2.0, abs=0.1
    )  # corners cut: the interval squared
    assert all(n[f"balance_{rate:g}_hz_j"] < 1e-7 for rate in rates)
    works = sum(n[f"{what}_work_j"] for what in ("shoulder", "elbow", "wrist", "shoulder_motion", "spring"))
    assert works == pytest.approx(n["energy_gained_j"], abs=1e-7)
    assert n["spring_work_j"] == pytest.approx(-n["spring_energy_change_j"], abs=1e-7)
    assert n["error_spring_at_knuckle_deg"] > 360.0


@pytest.mark.slow
def test_muscle_driven_reach(example):
    n, _ = example("muscle_driven_reach")
    errors = [n[f"error_{rate}_hz_deg"] for rate in (100, 250, 1000)]
    assert errors[2] < 0.2  # deg: some thousandths of the reach, of an arm that is unstable without feedback
    assert all(
        coarse > 4.0 * fine for coarse, fine in itertools.pairwise(errors)
    )  # leaps rounded off: nearly the square
    assert n["balance_j"] < 1e-7
    assert n["excitation_outside"] == 0.0
    assert n["elbow_left_over_nm"] < ROUNDING
    assert n["hasty_error_deg"] > 1.0
    assert n["off_net_torques_deg"] < n["off_muscles_deg"] < n["off_constant_strength_deg"]


def test_conventions(example):
    n, _ = example("conventions")
    assert all(n[f"difference_{panel}_nm"] < ROUNDING for panel in "abcd")
    assert n["elbow_coriolis_nm"] == 0.0
    assert n["forearm_centripetal_at_elbow_nm"] < ROUNDING
    inertia = 1.54 * (0.682**2 + 0.468**2) * (0.146 * 1.7) ** 2  # of forearm and hand about the elbow
    peak = PEAK_90_DEG / 0.5**2
    assert n["net_of_hollerbach_peak_nm"] == pytest.approx(inertia * peak, rel=1e-4)
    assert n["net_of_schneider_peak_nm"] == pytest.approx(2.0 * inertia * peak, rel=1e-4)  # both joints by 90 degrees


def test_energy_and_induced(example):
    n, _ = example("energy_and_induced")
    assert n["power_residual_w"] < ROUNDING
    assert n["induced_residual_rad_s2"] < ROUNDING
    assert n["energy_rate_integrated_j"] == pytest.approx(n["energy_gained_j"], rel=1e-4)
    assert n["elbow_by_shoulder_torque_rad_s2"] < 0.0 < n["elbow_by_elbow_torque_rad_s2"]


def test_signs(example):
    n, _ = example("signs")
    assert [n[f"theta_{k}_deg"] for k in (1, 2, 3)] == pytest.approx([30.0, 75.0, 115.0])
    assert [n[f"beta_{k}_deg"] for k in (1, 2, 3)] == pytest.approx([30.0, 135.0, 140.0])


# numbers with decimals, and whole ones before a unit; times and rates are inputs
NUMBER = re.compile(
    r"(?<![\w.^-])-?(\d+\.\d+|\d+(?=,? (?:N m|W|J|m/s|deg/s|rad/s|%)))"
    r"(?!\d|,? (?:s|ms|Hz|kg|m)\b(?!/)| and \S+ (?:s|ms)\b)"
)


SLOW = ("muscle_driven_reach", "double_pendulum", "pid_forearm")
MARKED = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in NAMES if name != "signs"]


@pytest.mark.parametrize("name", MARKED)
def test_every_number_of_the_page_is_one_that_the_example_finds(example, name):
    """Rounded as the page has it; shares stand in percent, lengths in mm."""
    numbers, _ = example(name)
    (text,) = re.findall(rf"## {name}\.py\n(.*?)(?=\n## |\Z)", PAGE, flags=re.DOTALL)
    sentences = " ".join(line for line in text.splitlines() if not line.startswith(("|", "!")))
    for number in NUMBER.findall(sentences):
        half = 0.501 * 10.0 ** -len(number.partition(".")[2])
        sizes = [abs(value) * factor for value in numbers.values() for factor in (1.0, 100.0, 1000.0)]
        assert any(abs(size - float(number)) <= half for size in sizes), f"{name}: {number}"


def test_page_has_the_table_of_peaks(example):
    numbers, _ = example("two_link_endpoint")
    rows = {
        "notebook: its procedure and parameters": "notebook",
        "its procedure, right parameters": "procedure",
        "fingertip straight, elbow bent by 10° initially": "bent",
        "joints by minimum jerk, notebook's parameters": "joints_notebook_parameters",
        "joints by minimum jerk, right parameters": "joints",
    }
    for title, case in rows.items():
        found = [
            numbers[f"{case}_{speed}_{joint}_peak_nm"] for speed in ("slow", "fast") for joint in ("shoulder", "elbow")
        ]
        assert f"| {title} | " + " | ".join(f"{value:#.3g}" for value in found) + " |" in PAGE


def test_page_has_every_example():
    assert sorted([*re.findall(r"^## (\w+)\.py$", PAGE, flags=re.MULTILINE), "signs"]) == NAMES

"""Muscle sets: curves, moment arms, lengths and velocities against closed forms, SciPy, other programs and the sampled
tables; every fault of a set."""

import contextlib
import copy
import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opensim_storage import read_storage
from scipy.interpolate import CubicSpline, PchipInterpolator, RectBivariateSpline, RegularGridInterpolator

from limbtorque.errors import SettingsError
from limbtorque.muscles.lines_of_action import line_arrays
from limbtorque.muscles.moment_arms import musculotendon
from limbtorque.muscles.sets.curve_entries import LARGEST_DEPARTURE_M, LARGEST_PART, MOST_KNOTS, fit
from limbtorque.muscles.sets.moment_arm_curves import (
    bundle,
    constant,
    derivative,
    evaluate,
    evaluate_bundle,
    evaluate_linear,
    extended,
    integral,
    interpolating_spline,
    polynomial,
    shape_preserving_spline,
)
from limbtorque.muscles.sets.muscle_entries import SENSES, MuscleEntry
from limbtorque.muscles.sets.muscle_set import BUILT_IN, load_muscle_set, muscle_set_from_mapping, scaled
from limbtorque.study.files import yaml_text

ROOT = Path(__file__).resolve().parents[2]
SETS = ("arm", "leg", "pairs")


def smooth(rng, n_frames, low, high):
    """A motion between bounds and its rate of change: times, flexion, velocity (closed forms)."""
    time = np.linspace(0.0, 1.0, n_frames)[:, None]
    rate, phase = rng.uniform(2.0, 6.0, len(low)), rng.uniform(0.0, 6.0, len(low))
    middle, half = (np.add(low, high)) / 2, (np.subtract(high, low)) / 2
    angle = middle + half * np.sin(rate * time + phase)
    return time[:, 0], angle, half * rate * np.cos(rate * time + phase)


def slopes(muscles, flexion, *, step=1e-5, **joints):
    """Minus the derivative of every length with respect to every flexion, by central differences."""
    found = np.empty((len(flexion), flexion.shape[1], len(muscles.muscles)))
    for j in range(flexion.shape[1]):
        moved = np.zeros(flexion.shape[1])
        moved[j] = step
        ahead = musculotendon(muscles, flexion + moved, **joints).length_m
        behind = musculotendon(muscles, flexion - moved, **joints).length_m
        found[:, j] = -(ahead - behind) / (2 * step)
    return found


# --- curves ------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-0.1, 0.1), min_size=2, max_size=7), st.integers(0, 10**6))
def test_spline_and_its_integral_are_scipys(values, seed):
    knots = np.cumsum(np.random.default_rng(seed).uniform(0.1, 0.5, len(values)))
    values = np.round(values, 6)
    curve = shape_preserving_spline(knots, values, joint="elbow", range_rad=(knots[0], knots[-1]))
    angles = np.linspace(knots[0] + 1e-9, knots[-1] - 1e-9, 50)
    scipys = PchipInterpolator(knots, values)
    np.testing.assert_allclose(evaluate(curve, [angles]), scipys(angles), atol=1e-12)
    slope = evaluate(derivative(curve, "elbow"), [angles])
    np.testing.assert_allclose(slope, scipys.derivative()(angles), atol=1e-10)
    ours = evaluate(integral(curve), [angles])
    np.testing.assert_allclose(
        ours - ours[0], scipys.antiderivative()(angles) - scipys.antiderivative()(angles[0]), atol=1e-12
    )


def test_integral_starts_at_flexion_0_though_the_range_does_not():
    curve = polynomial([0.01, 0.02], joints=["elbow"], range_rad=[(0.5, 1.0)])
    q = np.array([-1.0, 0.0, 0.5, 0.8, 1.0, 2.0])
    inside = 0.5 * 0.02 + 0.01 * (q - 0.5) + 0.01 * (q**2 - 0.25)  # held at 0.02 below 0.5
    expected = np.where(q < 0.5, 0.02 * q, inside)
    expected[-1] = inside[-2] + 0.03 * 1.0  # held at 0.03 above 1
    np.testing.assert_allclose(evaluate(integral(curve), [q]), expected, atol=1e-16)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6))
def test_polynomial_of_two_joints_is_numpys(n, m, seed):
    rng = np.random.default_rng(seed)
    powers, q = rng.normal(size=(n, m)), rng.uniform(-1.0, 1.0, (2, 30))
    curve = polynomial(powers, joints=["elbow", "shoulder"], range_rad=[(-1.0, 1.0)] * 2)
    np.testing.assert_allclose(evaluate(curve, q), np.polynomial.polynomial.polyval2d(*q, powers), atol=1e-12)
    for axis, joint in enumerate(curve.joints):
        slope = np.polynomial.polynomial.polyval2d(*q, np.polynomial.polynomial.polyder(powers, axis=axis))
        np.testing.assert_allclose(evaluate(derivative(curve, joint), q), slope, atol=1e-12)
    assert (evaluate(derivative(curve, "wrist"), q) == 0).all()


@pytest.mark.parametrize(("n", "m"), [(4, 4), (6, 9)])
def test_spline_through_a_grid_is_scipys(n, m):
    rng = np.random.default_rng(n)
    lines = [np.sort(rng.uniform(-1.0, 2.0, n)), np.sort(rng.uniform(0.0, 2.0, m))]
    values = rng.normal(size=(n, m))
    curve = interpolating_spline(lines, values, joints=["shoulder", "elbow"])
    q = rng.uniform([line[0] for line in lines], [line[-1] for line in lines], (200, 2))
    scale = np.abs(evaluate(curve, q.T)).max()
    surface = RectBivariateSpline(*lines, values, s=0)
    np.testing.assert_allclose(evaluate(curve, q.T), surface(*q.T, grid=False), atol=1e-9 * scale)
    for axis, joint in enumerate(curve.joints):
        slope = surface(*q.T, dx=axis == 0, dy=axis == 1, grid=False)
        np.testing.assert_allclose(evaluate(derivative(curve, joint), q.T), slope, atol=1e-9 * np.abs(slope).max())
    grid = np.meshgrid(*lines, indexing="ij")
    np.testing.assert_allclose(evaluate(curve, grid), values, atol=1e-9)


def test_spline_through_three_joints_is_scipys():
    rng = np.random.default_rng(3)
    lines = [np.linspace(0.0, 1.0, n) for n in (4, 5, 6)]
    values = rng.normal(size=(4, 5, 6))
    curve = interpolating_spline(lines, values, joints=["a", "b", "c"])
    q = rng.random((50, 3))
    cubic = RegularGridInterpolator(lines, values, method="cubic")(q)  # solves for its coefficients to 1e-6 only
    np.testing.assert_allclose(evaluate(curve, q.T), cubic, atol=1e-4)


@pytest.mark.parametrize("n", [2, 3, 7])
def test_spline_of_one_joint_is_scipys(n):
    line, values = np.linspace(-0.5, 2.0, n), np.random.default_rng(n).normal(size=n)
    q = np.linspace(-0.5, 2.0, 40)
    ours = evaluate(interpolating_spline([line], values, joints=["elbow"]), [q])
    np.testing.assert_allclose(ours, CubicSpline(line, values)(q), atol=1e-12)


def test_beyond_the_range_a_curve_is_held_or_goes_on_straight():
    rng = np.random.default_rng(5)
    one = shape_preserving_spline([0.0, 0.4, 1.1, 1.5], rng.normal(size=4), joint="elbow", range_rad=(0.2, 1.3))
    two = interpolating_spline([np.linspace(0, 1, 5), np.linspace(0, 2, 6)], rng.normal(size=(5, 6)), joints=["a", "b"])
    for curve in (one, two):
        low, high = np.transpose(curve.range_rad)
        ends = evaluate(curve, high)
        beyond = high + 0.25
        assert evaluate(curve, beyond) == ends
        rises = sum(0.25 * evaluate(derivative(curve, joint), high) for joint in curve.joints)
        assert evaluate_linear(curve, beyond) == pytest.approx(ends + rises)
        inside = (low + high) / 2
        assert evaluate_linear(curve, inside) == evaluate(curve, inside)
    q = np.linspace(-1.0, 3.0, 81)
    np.testing.assert_allclose(evaluate(extended(one), [q]), evaluate(one, [q]), atol=1e-14)
    np.testing.assert_allclose(evaluate(extended(one, linear=True), [q]), evaluate_linear(one, [q]), atol=1e-14)


def test_a_bundle_is_its_curves():
    rng = np.random.default_rng(6)
    curves = [constant(0.3, joint="elbow"), polynomial([0.1, 0.2, -0.3], joints=["elbow"], range_rad=[(-0.5, 1.0)])]
    for n in (2, 4, 7):
        knots = np.sort(rng.uniform(-1.0, 2.0, n))
        curves.append(
            shape_preserving_spline(knots, rng.normal(size=n), joint="elbow", range_rad=(knots[0], knots[-1]))
        )
    together = bundle([extended(curve) for curve in curves])
    for q in (np.linspace(-2.0, 3.0, 101), np.full(4, 0.3), np.zeros(0)):
        expected = np.array([evaluate(curve, [q]) for curve in curves])
        np.testing.assert_allclose(evaluate_bundle(together, q), expected, atol=1e-12)
    assert np.isnan(evaluate_bundle(together, np.array([np.nan, 0.1]))[:, 0]).all()
    assert np.isnan(evaluate_bundle(bundle(curves[:1]), np.array([np.nan]))).all()


@given(st.integers(2, 40), st.sampled_from([0.0, 5e-5, 0.004, 0.06]), st.integers(0, 10**6))
def test_a_fit_follows_its_samples_as_closely_as_it_says(n, size, seed):
    rng = np.random.default_rng(seed)
    flexion = np.cumsum(rng.uniform(7.0, 9.0, n)) - 40.0  # over a range that a set may have
    samples = size * np.sin(np.radians(flexion) * rng.uniform(0.5, 2.5) + rng.uniform(0, 6))
    found = fit(flexion, samples)
    if found.form == "zero":
        assert np.abs(samples).max() < 1e-4
        return
    off = np.abs(evaluate(found.curve("elbow"), [np.radians(flexion)]) - samples).max()
    assert found.max_departure_m == pytest.approx(off, abs=6e-6)  # rounded to 0.01 mm
    closely = min(LARGEST_DEPARTURE_M, LARGEST_PART * np.abs(samples).max())
    assert off <= closely or len(found.knots_deg) == min(n, MOST_KNOTS)


# --- built-in sets -----------------------------------------------------------------------------------------------


def stated_arms(name):
    """Entries of the moment arms in the file of a built-in set, by muscle and joint."""
    content = json.loads((BUILT_IN / f"{name}.json").read_bytes())
    return {(m["name"], joint): arm for m in content["muscles"] for joint, arm in m["moment_arms"].items()}


@pytest.mark.parametrize(("name", "count"), [("arm", 19), ("leg", 17), ("pairs", 12)])
def test_built_in_sets(name, count):
    muscles = load_muscle_set(name)
    for entry in stated_arms(name).values():
        assert entry.get("max_departure_m", 0.0) <= 1e-3
    assert len(muscles.muscles) == count
    for muscle in muscles.muscles:
        assert muscle.max_isometric_force_n > 0
        for joint, arm in muscle.moment_arms.items():
            assert arm.is_zero == (joint not in muscle.function)
        for joint, sense in muscle.function.items():
            assert SENSES[sense] * evaluate(muscle.moment_arms[joint].curve, [0.0]) > 0
    assert set(muscles.not_sampled) == ({("FCU", "elbow")} if name == "arm" else set())
    without = {"arm": {"FCU"}, "leg": set(), "pairs": set(muscles.names)}[name]
    assert {muscle.name for muscle in muscles.muscles if muscle.length is None} == without
    assert all((muscle.min_activation, muscle.max_activation) == (0, 1) for muscle in muscles.muscles)


def fit_tool():
    spec = importlib.util.spec_from_file_location("fit_moment_arms", ROOT / "tools" / "fit_moment_arms.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_fits_depart_from_the_sampled_tables_by_what_they_say(recordings):
    tool = fit_tool()
    for name, table in tool.load_tables(recordings.parent / "reference" / "muscles").items():
        muscles, stated = load_muscle_set(name), stated_arms(name)
        for (muscle, joint), rows in table.groupby(["muscle", "joint"]):
            if (muscle, joint) in tool.USED:
                continue  # measured, not sampled
            m, j = muscles.names.index(muscle), muscles.joints.index(joint)
            arm = muscles.muscles[m].moment_arms[joint]
            flexion = np.zeros((len(rows), 3))
            flexion[:, j] = np.radians(rows.joint_flexion_deg.to_numpy(dtype=float))
            low, high = arm.curve.range_rad[0]
            inside = (flexion[:, j] >= low - 1e-9) & (flexion[:, j] <= high + 1e-9)
            found = musculotendon(muscles, flexion)
            off = np.abs(found.moment_arm_m[:, j, m] - rows.moment_arm_m)[inside].max()
            assert off <= stated[muscle, joint].get("max_departure_m", 0.0) + 6e-6, (
                muscle,
                joint,
            )  # rounded to 0.01 mm
            if not muscles.muscles[m].length:
                continue
            lengths = rows.musculotendon_length_m.to_numpy()
            assert found.length_m[:, m][rows.joint_flexion_deg == 0] == pytest.approx(
                lengths[rows.joint_flexion_deg == 0]
            )
            off = np.abs(found.length_m[:, m] - lengths)[inside].max()
            assert off == pytest.approx(stated[muscle, joint].get("length_departure_m", 0.0), abs=6e-6), (muscle, joint)
            if (muscle, joint) not in {("TRIlong", "shoulder"), ("gastroc", "knee")}:  # whose wrapping switches
                assert off < 0.5e-3, (muscle, joint)


TWO_WAY = {("glut_med", "hip"), ("glut_min", "hip"), ("add_mag", "hip"), ("add_long", "hip"), ("add_brev", "hip")}
TWO_WAY |= {("gracilis", "hip"), ("ECRL", "elbow"), ("ECRB", "elbow"), ("sartorius", "hip")}


@pytest.mark.parametrize("name", ["arm", "leg"])
def test_an_arm_keeps_its_sign_over_its_range_except_where_anatomy_turns_it(name):
    """A path that slips over a joint's centre turns a flexor into an extensor, as the sampled raised arms had it."""
    for muscle in load_muscle_set(name).muscles:
        for joint, function in muscle.function.items():
            curve = muscle.moment_arms[joint].curve
            flexion = np.linspace(*curve.range_rad[0], 100)
            smallest = (SENSES[function] * evaluate(curve, [flexion])).min()
            assert (smallest < 0) == ((muscle.name, joint) in TWO_WAY), (muscle.name, joint, smallest)


@pytest.mark.parametrize(
    ("muscle", "joint", "flexion_deg", "published_mm", "largest_mm"),
    [
        ("BICshort", "shoulder", [0, 60, 120], [29.21] * 3, 0.01),  # Wood et al. (1989), in Pigeon et al. (1996)
        ("BIClong", "shoulder", [0, 60, 120], [29.21] * 3, 0.01),
        ("DELT1", "shoulder", [0, 45, 90, 120], [12.79, 26.4, 46.3, 56.6], 1.0),  # Kuechle et al. (1997), by hand
        ("DELT3", "shoulder", [0, 57.3, 120], [-23.8, -25.7, -0.6], 0.2),
        ("TRIlong", "shoulder", [0, 30, 60], [-25.4] * 3, 12.5),  # Wood et al. (1989): one value
        ("BRD", "elbow", [0, 90], [15.26, 54.9], 0.1),  # Ramsay et al. (2009), by hand
        ("BRA", "elbow", [0, 90], [16.2, 26.9], 4.5),
        ("BIClong", "elbow", [0, 90], [8.5, 49.3], 1.5),
        ("TRIlat", "elbow", [0, 90], [-24.5, -22.2], 4.5),
        ("soleus", "ankle", [20, -10], [-34.6, -36.9], 8.0),  # Manal et al. (2013), at rest
        ("soleus", "ankle", [0], [-47.93], 7.0),  # Wolfram et al. (2018)
        ("tib_ant", "ankle", [30, -30], [45.0, 29.0], 6.5),  # Maganaris (2000)
        ("vasti", "knee", [10, 50], [-47.1, -31.5], 5.5),  # effective arm of the quadriceps, in vivo
    ],
)
def test_arms_are_near_measured_ones(muscle, joint, flexion_deg, published_mm, largest_mm):
    muscles = load_muscle_set("leg" if joint in ("hip", "knee", "ankle") else "arm")
    found = musculotendon(muscles, np.radians(flexion_deg)[:, None], joints=[joint])
    ours_mm = 1e3 * found.moment_arm_m[:, 0, muscles.names.index(muscle)]
    assert np.abs(ours_mm - published_mm).max() <= largest_mm
    assert not found.muscle_out_of_range[:, muscles.names.index(muscle)].any()


def test_rajagopal_at_its_published_size_has_the_fibres_of_ward():
    """Ward et al. (2009) Clin Orthop Relat Res 467, 1074-1082, Table 3, of which the model's fibre lengths are."""
    fibres = {muscle.name: muscle.optimal_fibre_length_m for muscle in load_muscle_set("leg").muscles}
    ward_cm = {"rect_fem": 7.59, "bifemsh": 11.03, "add_long": 10.82, "add_brev": 10.31, "sartorius": 40.30}
    ward_cm |= {"gracilis": 22.78, "tib_ant": 6.83}
    for muscle, length_cm in ward_cm.items():
        assert fibres[muscle] == pytest.approx(0.01 * length_cm, rel=1e-3), muscle


def test_elbow_flexors_against_another_program(recordings):
    other = read_storage(recordings / "moment_arms" / "r_elbowflexors.mot")
    flexion_deg = list(other.values())[1]
    muscles = load_muscle_set("arm")
    arms = musculotendon(muscles, np.radians(flexion_deg)[:, None], joints=["elbow"])
    for name in ("BIClong", "BICshort", "BRA"):
        ours = arms.moment_arm_m[:, 0, muscles.names.index(name)]
        np.testing.assert_allclose(ours, other[name], atol=1.1e-3)  # departure of the fit, and between
    assert arms.moment_arm_m[:, 0, muscles.names.index("BIClong")].max() == pytest.approx(0.0494, abs=1e-3)
    assert arms.moment_arm_m[:, 0, muscles.names.index("BRA")].max() == pytest.approx(0.0240, abs=1e-3)
    assert not arms.out_of_range[flexion_deg < 129.99].any()


def test_pairs_are_lumped_from_arms_that_keep_their_sign(recordings):
    tool = fit_tool()
    folder = recordings.parent / "reference" / "muscles"
    parameters, tables = tool.load_parameters(folder), tool.load_tables(folder)
    pairs = {muscle.name: muscle for muscle in load_muscle_set("pairs").muscles}
    for name, table in tables.items():
        limb = load_muscle_set(name)
        for joint in limb.joints:
            for sense in SENSES:
                strength, moment = 0.0, 0.0
                for muscle in limb.muscles:
                    if muscle.function.get(joint) != sense or (muscle.name, joint) in TWO_WAY:
                        continue
                    curve = muscle.moment_arms[joint].curve
                    low, high = np.degrees(curve.range_rad[0])
                    rows = table[(table.muscle == muscle.name) & (table.joint == joint)]
                    rows = rows[rows.joint_flexion_deg.between(low - 1e-9, high + 1e-9)]
                    arms = rows.moment_arm_m.to_numpy()
                    if (muscle.name, joint) in tool.USED:
                        arms = evaluate(curve, [np.radians(np.arange(low, high + 1e-6, 5.0))])
                    newtons = parameters.loc[muscle.name].max_isometric_force_n
                    strength += newtons
                    moment += newtons * arms.mean()
                pair = pairs[f"{joint}_{sense}"]
                assert pair.max_isometric_force_n == pytest.approx(strength, abs=0.006)
                arm = float(evaluate(pair.moment_arms[joint].curve, [0.0]))
                assert arm == pytest.approx(moment / strength, abs=6e-6)
                assert pair.lines_of_action[joint].parallel_to == ("proximal" if joint == "ankle" else "distal")


def test_the_tool_makes_the_built_in_sets(recordings, tmp_path, monkeypatch):
    tool = fit_tool()
    monkeypatch.setattr(tool, "SETS", tmp_path)
    tool.main(recordings.parent / "reference" / "muscles")
    for name in SETS:
        for ending in ("yaml", "json"):
            assert (tmp_path / f"{name}.{ending}").read_bytes() == (BUILT_IN / f"{name}.{ending}").read_bytes()


# --- arms, lengths and velocities over frames --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arm", "leg"])
def test_arm_is_minus_the_slope_of_the_length_in_and_out_of_range(name):
    muscles = load_muscle_set(name)
    flexion = np.random.default_rng(7).uniform(-1.5, 2.6, (400, 3))
    found = musculotendon(muscles, flexion)
    known = np.isfinite(found.length_m[0])
    off = slopes(muscles, flexion) - found.moment_arm_m
    assert np.abs(off[..., known]).max() < 3e-7  # the step, where a slope or its change jumps
    assert np.median(np.abs(off[..., known])) < 1e-10
    assert found.muscle_out_of_range.any()
    assert known.sum() == {"arm": 18, "leg": 17}[name]


@pytest.mark.parametrize("name", ["arm", "leg"])
def test_velocity_is_the_rate_of_the_length_along_a_motion(name):
    muscles = load_muscle_set(name)
    time, flexion, velocity = smooth(np.random.default_rng(8), 2001, [-0.9, 0.1, -0.6], [1.7, 2.0, 0.5])
    found = musculotendon(muscles, flexion, velocity_rad_s=velocity)
    known = np.isfinite(found.length_m[0])
    rate = np.gradient(found.length_m[:, known], time, axis=0)
    out = found.muscle_out_of_range[:, known]
    smooth_there = (out[:-2] == out[1:-1]) & (out[1:-1] == out[2:])  # an arm's slope jumps at the end of its range
    off = np.abs(rate - found.velocity_m_s[:, known])[1:-1]
    assert off[smooth_there].max() < 5e-5  # the square of the time step
    assert off.max() < 5e-4  # the time step
    assert np.isnan(found.velocity_m_s[:, ~known]).all()
    assert np.abs(found.velocity_m_s[:, known]).max() > 0.1
    assert np.isnan(musculotendon(muscles, flexion).velocity_m_s).all()


def test_constant_arms_give_lengths_in_closed_form():
    whole = content()
    whole["muscles"][0]["length_at_zero_m"] = 0.25
    muscles = muscle_set_from_mapping(whole)
    q, rate = np.array([[-0.4], [0.0], [1.3]]), np.array([[2.0], [-1.0], [0.5]])
    found = musculotendon(muscles, q, velocity_rad_s=rate)
    np.testing.assert_allclose(found.length_m[:, 0], 0.25 - 0.03 * q[:, 0], atol=1e-16)
    np.testing.assert_allclose(found.velocity_m_s[:, 0], -0.03 * rate[:, 0], atol=1e-16)
    assert np.isnan(found.length_m[:, 1]).all()
    np.testing.assert_allclose(found.velocity_m_s[1, 1], -found.moment_arm_m[1, 0, 1] * -1.0)  # known without a length


def test_outside_the_range_the_arm_is_held_and_the_frame_marked():
    muscles = load_muscle_set("leg")
    degrees = np.array([[-30.0, 0.0, -40.0], [100.0, 100.0, 30.0], [-31.0, -5.0, 40.0], [125.0, 140.0, -60.0]])
    arms = musculotendon(muscles, np.radians(degrees))
    assert arms.out_of_range.tolist() == [[False] * 3, [False] * 3, [True] * 3, [True] * 3]
    tfl = arms.moment_arm_m[:, 0, muscles.names.index("tfl")]
    assert tfl[3] == pytest.approx(tfl[1], abs=1e-15)
    assert tfl[2] == pytest.approx(tfl[0], abs=1e-15)
    soleus = arms.moment_arm_m[:, 2, muscles.names.index("soleus")]
    assert soleus[2] == pytest.approx(soleus[1], abs=1e-15)
    assert soleus[3] == pytest.approx(soleus[0], abs=1e-15)
    assert not arms.muscle_out_of_range[:2].any()
    assert arms.muscle_out_of_range[2:].all()
    between = musculotendon(
        muscles, np.radians([[110.0, 10.0, 0.0]])
    )  # tfl was used to 100 deg, iliopsoas to 105, the others to 120
    assert between.out_of_range.tolist() == [[True, False, False]]
    out = [name for name, is_out in zip(muscles.names, between.muscle_out_of_range[0], strict=True) if is_out]
    assert out == ["iliopsoas", "tfl"]


def test_arms_follow_the_joints_asked_for_and_gaps_stay_gaps():
    muscles = load_muscle_set("arm")
    flexion = np.array([[0.3, 0.8, 0.1], [0.4, np.nan, 0.2]])
    every = musculotendon(muscles, flexion, velocity_rad_s=np.ones((2, 3)))
    swapped = musculotendon(muscles, flexion[:, [1, 0]], joints=["elbow", "shoulder"])
    np.testing.assert_array_equal(swapped.moment_arm_m, every.moment_arm_m[:, [1, 0]])
    assert every.moment_arm_m.shape == (2, 3, 19)
    assert np.isnan(every.moment_arm_m[1, 1]).all()
    assert np.isfinite(every.moment_arm_m[1, [0, 2]]).all()
    assert not every.out_of_range.any()
    of_elbow = np.array(["elbow" in muscle.crosses for muscle in muscles.muscles])
    np.testing.assert_array_equal(np.isnan(every.length_m[1]), of_elbow)
    np.testing.assert_array_equal(np.isnan(every.velocity_m_s[1]), of_elbow)
    rate = np.array([[1.0, 1.0, 1.0], [np.nan, 1.0, 1.0]])
    found = musculotendon(muscles, np.nan_to_num(flexion), velocity_rad_s=rate)
    of_shoulder = np.array(["shoulder" in muscle.crosses for muscle in muscles.muscles])
    unknown = np.array([name == "FCU" for name in muscles.names])  # whose arm at the elbow is not known
    np.testing.assert_array_equal(np.isnan(found.velocity_m_s), [unknown, of_shoulder | unknown])
    with pytest.raises(SettingsError, match="did you mean 'elbow'"):
        musculotendon(muscles, flexion[:, :1], joints=["elbwo"])
    with pytest.raises(ValueError, match="one column for each joint"):
        musculotendon(muscles, flexion[:, :2])
    with pytest.raises(ValueError, match="velocity_rad_s has shape"):
        musculotendon(muscles, flexion, velocity_rad_s=rate[:, :2])
    with pytest.raises(ValueError, match="3 frames, flexion_rad 2"):
        musculotendon(muscles, flexion, velocity_rad_s=np.ones((3, 3)))


def test_joints_that_are_not_asked_for_stand_at_zero():
    muscles = load_muscle_set("arm")
    elbow = np.linspace(-0.2, 2.5, 30)[:, None]
    alone = musculotendon(muscles, elbow, velocity_rad_s=np.ones_like(elbow), joints=["elbow"])
    zeros = np.zeros_like(elbow)
    every = musculotendon(
        muscles, np.hstack([zeros, elbow, zeros]), velocity_rad_s=np.hstack([zeros, zeros + 1.0, zeros])
    )
    np.testing.assert_allclose(alone.moment_arm_m[:, 0], every.moment_arm_m[:, 1], atol=1e-15)
    np.testing.assert_allclose(alone.length_m, every.length_m, atol=1e-15)
    np.testing.assert_allclose(alone.velocity_m_s, every.velocity_m_s, atol=1e-15)


def test_flexion_0_of_a_joint_that_is_not_asked_for_may_be_out_of_range():
    whole = two_joints()
    muscle = whole["muscles"][0]
    del muscle["length"]
    muscle["moment_arms"] = {
        "shoulder": {"form": "constant", "arm_m": 0.03, "range_deg": [20, 90]},
        "elbow": {"form": "constant", "arm_m": 0.02},
    }
    muscle |= {"function": {"shoulder": "flexor", "elbow": "flexor"}, "length_at_zero_m": 0.3}
    muscles = muscle_set_from_mapping(whole)
    found = musculotendon(muscles, [[0.5]], joints=["elbow"])
    assert found.muscle_out_of_range.tolist() == [[True]]
    assert found.out_of_range.tolist() == [[False]]
    assert found.length_m[0, 0] == pytest.approx(0.3 - 0.02 * 0.5)
    assert not musculotendon(muscles, [[0.7, 0.5]]).muscle_out_of_range.any()


def test_no_frames_and_no_muscles():
    muscles = load_muscle_set("arm")
    none = musculotendon(muscles, np.zeros((0, 3)), velocity_rad_s=np.zeros((0, 3)))
    assert none.moment_arm_m.shape == (0, 3, 19)
    assert none.length_m.shape == none.velocity_m_s.shape == none.muscle_out_of_range.shape == (0, 19)
    bare = musculotendon(muscles.crossing([]), np.zeros((2, 3)), velocity_rad_s=np.zeros((2, 3)))
    assert bare.moment_arm_m.shape == (2, 3, 0)
    assert bare.length_m.shape == (2, 0)


def test_crossing_keeps_the_muscles_of_a_joint_in_order():
    muscles = load_muscle_set("arm")
    assert muscles.crossing(["wrist"]).names == ("FCR", "FCU", "ECRL", "ECRB", "ECU")
    assert muscles.crossing(["elbow"]).names[-5:] == (
        "FCR",
        "FCU",
        "ECRL",
        "ECRB",
        "ECU",
    )  # not sampled, but they cross
    assert muscles.crossing(muscles.joints) is muscles
    assert muscles.crossing(["wrist"]) is muscles.crossing(("wrist",))
    pairs = load_muscle_set("pairs").crossing(["shoulder", "elbow", "toes"])
    assert pairs.names == ("shoulder_flexor", "shoulder_extensor", "elbow_flexor", "elbow_extensor")
    found = musculotendon(pairs, [[0.2, 0.3]], joints=["shoulder", "elbow"]).moment_arm_m[0]
    assert (found[0, 2:] == 0).all()
    assert (found[1, :2] == 0).all()
    assert (np.sign(found[0, :2]) == [1, -1]).all()


# --- several joints ----------------------------------------------------------------------------------------------


def straight_line(shoulder, elbow):
    """Length of a straight line over two joints: from a point behind the shoulder to one on the forearm."""
    forearm = shoulder + elbow
    x = 0.04 + 0.3 * np.sin(shoulder) + 0.05 * np.sin(forearm) - 0.02 * np.cos(forearm)
    y = -0.05 - 0.3 * np.cos(shoulder) - 0.05 * np.cos(forearm) - 0.02 * np.sin(forearm)
    return np.sqrt(x**2 + y**2)


def arms_of_line(shoulder, elbow):
    """Minus the slopes of that length, by a complex step: exact to rounding."""
    step = 1e-30
    by_shoulder = -np.imag(straight_line(shoulder + 1j * step, elbow + 0j)) / step
    by_elbow = -np.imag(straight_line(shoulder + 0j, elbow + 1j * step)) / step
    return by_shoulder, by_elbow


LINES_DEG = [list(range(-40, 81, 10)), list(range(0, 121, 10))]


def two_joints():
    """A set with one muscle over two joints: that straight line, sampled."""
    shoulder, elbow = np.meshgrid(*np.radians(LINES_DEG), indexing="ij")
    grid = {"form": "sampled", "joints": ["shoulder", "elbow"], "flexion_deg": LINES_DEG}
    entries = {joint: {"form": "from_length"} for joint in ("shoulder", "elbow")}
    muscle = {
        "name": "LINE",
        "max_isometric_force_n": 600,
        "source": {"model": "by hand", "licence": "none"},
        "function": {
            j: "flexor" if v > 0 else "extensor" for j, v in zip(entries, arms_of_line(0.0, 0.0), strict=True)
        },
        "moment_arms": {**{joint: {**entry, "note": "its sign changes"} for joint, entry in entries.items()}},
    }
    muscle["length"] = {**grid, "lengths_m": straight_line(shoulder, elbow).tolist()}
    flexion = {"shoulder": "0 hanging", "elbow": "0 straight"}
    return {"name": "two", "joints": ["shoulder", "elbow"], "flexion": flexion, "muscles": [muscle]}


def test_a_line_over_two_joints():
    muscles = muscle_set_from_mapping(two_joints())
    time, flexion, velocity = smooth(np.random.default_rng(9), 1001, [-0.6, 0.1], [1.3, 2.0])
    found = musculotendon(muscles, flexion, velocity_rad_s=velocity)
    np.testing.assert_allclose(found.length_m[:, 0], straight_line(*flexion.T), atol=5e-6)  # cubics over 10 deg
    exact = np.stack(arms_of_line(*flexion.T), axis=1)
    np.testing.assert_allclose(found.moment_arm_m[..., 0], exact, atol=2e-4)
    rate = np.gradient(found.length_m[:, 0], time)[1:-1]
    np.testing.assert_allclose(rate, found.velocity_m_s[1:-1, 0], atol=1e-3)
    assert not found.muscle_out_of_range.any()
    off = slopes(muscles, flexion) - found.moment_arm_m
    assert np.abs(off).max() < 1e-9


def test_a_range_of_two_joints_marks_both():
    muscles = muscle_set_from_mapping(two_joints())
    found = musculotendon(muscles, np.radians([[0.0, 60.0], [90.0, 60.0], [0.0, 130.0], [90.0, 130.0]]))
    assert found.out_of_range.tolist() == [[False, False], [True, False], [False, True], [True, True]]
    assert found.muscle_out_of_range[:, 0].tolist() == [False, True, True, True]
    held = musculotendon(muscles, np.radians([[80.0, 60.0], [0.0, 120.0], [80.0, 120.0]]))
    np.testing.assert_allclose(found.moment_arm_m[1:], held.moment_arm_m, atol=1e-15)
    beyond = math.radians(10.0)
    straight = held.length_m[:2, 0] - beyond * np.array([held.moment_arm_m[0, 0, 0], held.moment_arm_m[1, 1, 0]])
    np.testing.assert_allclose(found.length_m[1:3, 0], straight, atol=1e-15)


def test_length_of_one_joint():
    """A line between two points: L^2 = a^2 + b^2 + 2 a b cos(q + angle between them), r = a b sin(...) / L."""
    degrees = np.arange(0.0, 131.0, 10.0)
    a, b, lead = 0.25, 0.05, 0.4

    def length(q):
        return np.sqrt(a * a + b * b + 2 * a * b * np.cos(q + lead))

    lengths = length(np.radians(degrees)).tolist()
    entry = {"form": "sampled", "joints": ["elbow"], "flexion_deg": degrees.tolist(), "lengths_m": lengths}
    whole = content()
    whole["muscles"][0] |= {"length": entry, "moment_arms": {"elbow": {"form": "from_length"}}}
    muscles = muscle_set_from_mapping(whole)
    q = np.radians(np.linspace(0.0, 130.0, 200))
    found = musculotendon(muscles, q[:, None])
    np.testing.assert_allclose(found.length_m[:, 0], length(q), atol=1e-6)
    exact = a * b * np.sin(q + lead) / length(q)
    np.testing.assert_allclose(found.moment_arm_m[:, 0, 0], exact, atol=5e-5)
    out = np.radians([[-20.0], [150.0]])
    off = slopes(muscles, out)[..., 0] - musculotendon(muscles, out).moment_arm_m[..., 0]
    assert np.abs(off).max() < 1e-9


def test_sampled_arms_are_fitted_when_the_set_is_loaded(recordings):
    import pandas as pd

    table = pd.read_csv(recordings.parent / "reference" / "muscles" / "arm_moment_arms.csv")
    for name in ("BRA", "TRIlat"):
        rows = table[(table.muscle == name) & (table.joint == "elbow")].sort_values("joint_flexion_deg")
        whole = content()
        entry = {"form": "sampled", "arms_m": rows.moment_arm_m.tolist()}
        entry["flexion_deg"] = rows.joint_flexion_deg.tolist()
        whole["muscles"] = [whole["muscles"][name == "TRIlat"]]
        whole["muscles"][0]["moment_arms"]["elbow"] = entry
        muscles = muscle_set_from_mapping(whole)
        q = np.radians(np.linspace(-10.0, 140.0, 100))
        arm_set = load_muscle_set("arm")
        built_in = musculotendon(arm_set, q[:, None], joints=["elbow"]).moment_arm_m[:, 0, arm_set.names.index(name)]
        np.testing.assert_allclose(musculotendon(muscles, q[:, None]).moment_arm_m[:, 0, 0], built_in, atol=1e-12)
        known, fitted = (
            stated_arms("arm")[name, "elbow"],
            fit(rows.joint_flexion_deg.to_numpy(), rows.moment_arm_m.to_numpy()),
        )
        assert (fitted.max_departure_m, fitted.departs_at_deg) == (known["max_departure_m"], known["departs_at_deg"])


# --- scaling -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arm", "leg"])
def test_scaled_arms_and_lengths_still_agree(name):
    muscles = load_muscle_set(name)
    factor = dict(zip(muscles.joints, (1.2, 0.9, 1.5), strict=True))
    larger = scaled(muscles, length_factor=factor, strength_factor=2.0)
    flexion = np.random.default_rng(11).uniform(-1.2, 2.3, (100, 3))
    before, after = musculotendon(muscles, flexion), musculotendon(larger, flexion)
    factors = np.array(list(factor.values()))[:, None]
    np.testing.assert_allclose(after.moment_arm_m, factors * before.moment_arm_m, atol=1e-15)
    known = np.isfinite(after.length_m[0])
    assert np.abs((slopes(larger, flexion) - after.moment_arm_m)[..., known]).max() < 5e-7
    at_zero = musculotendon(muscles, np.zeros((1, 3))).length_m[0]
    mean = [np.mean([factor[joint] for joint in muscle.crosses]) for muscle in muscles.muscles]
    np.testing.assert_allclose(musculotendon(larger, np.zeros((1, 3))).length_m[0], mean * at_zero, atol=1e-15)
    np.testing.assert_allclose(larger.max_force_n, 2.0 * muscles.max_force_n)
    for old, new, by in zip(muscles.muscles, larger.muscles, mean, strict=True):
        assert new.tendon_slack_length_m == pytest.approx(old.tendon_slack_length_m and by * old.tendon_slack_length_m)
        assert new.pennation_rad == old.pennation_rad
    assert larger.reference is None
    same = scaled(muscles, length_factor=None)
    np.testing.assert_array_equal(musculotendon(same, flexion).length_m, before.length_m)


def test_a_length_of_several_joints_grows_as_a_whole():
    muscles = muscle_set_from_mapping(two_joints())
    larger = scaled(muscles, length_factor={"shoulder": 1.4})
    flexion = np.random.default_rng(13).uniform([-0.6, 0.1], [1.3, 2.0], (50, 2))
    after = musculotendon(larger, flexion)
    np.testing.assert_allclose(after.length_m, 1.2 * musculotendon(muscles, flexion).length_m, rtol=1e-14)
    assert np.abs(slopes(larger, flexion) - after.moment_arm_m).max() < 1e-9


def test_references_are_the_lengths_of_the_models(recordings):
    text = (recordings / "arm26" / "arm26.osim").read_text()
    elbow = text[text.index('<CustomJoint name="r_elbow">') :]
    place = elbow[elbow.index("<location_in_parent>") + len("<location_in_parent>") :].split()[:2]
    humerus = math.hypot(*map(float, place))
    assert load_muscle_set("arm").reference.segment_length_m["shoulder"] == pytest.approx(humerus, abs=1e-3)


# --- sets that are refused ---------------------------------------------------------------------------------------


def content():
    """A small valid set."""
    source = {"model": "a paper", "licence": "CC-BY-4.0"}
    flexor = {
        "name": "FLEX",
        "max_isometric_force_n": 500,
        "source": source,
        "function": {"elbow": "flexor"},
        "moment_arms": {"elbow": {"form": "constant", "arm_m": 0.03}},
    }
    extensor = {
        "name": "EXT",
        "max_isometric_force_n": 700,
        "source": source,
        "function": {"elbow": "extensor"},
        "moment_arms": {"elbow": {"form": "spline", "knots_deg": [0, 60, 130], "arms_m": [-0.02, -0.025, -0.02]}},
    }
    return copy.deepcopy(
        {"name": "one", "joints": ["elbow"], "flexion": {"elbow": "0 straight"}, "muscles": [flexor, extensor]}
    )


def test_a_set_of_ones_own(tmp_path):
    path = tmp_path / "my set.yaml"
    path.write_text(yaml_text(content()))
    muscles = load_muscle_set(path)
    assert muscles.names == ("FLEX", "EXT")
    arms = musculotendon(muscles, [[0.0], [math.radians(60)], [9.0]])
    np.testing.assert_allclose(arms.moment_arm_m[:, 0], [[0.03, -0.02], [0.03, -0.025], [0.03, -0.02]], atol=1e-15)
    assert arms.out_of_range[:, 0].tolist() == [False, False, True]
    changed = content()
    changed["muscles"][0]["max_isometric_force_n"] = 12345
    path.write_text(yaml_text(changed))
    assert load_muscle_set(path).max_force_n[0] == 12345


MISSING = object()


def changed(whole, changes):
    """The set with other values at places such as `muscles.0.name`, or without what is there."""
    for place, value in changes.items():
        *path, last = (int(step) if step.isdigit() else step for step in place.split("."))
        target = whole
        for step in path:
            target = target[step]
        if value is MISSING:
            del target[last]
        else:
            target[last] = copy.deepcopy(value)
    return whole


STRETCH = {"form": "sampled", "joints": ["elbow"], "flexion_deg": [0, 65, 130], "lengths_m": [0.30, 0.27, 0.24]}
PARALLEL = {"parallel_to": "distal", "source": "a textbook"}
PUBLISHED = {"flexion_deg": [0, 90], "lowest_m": [-0.04, -0.03], "highest_m": [-0.02, 0.02], "other_sources": 2}
REFERENCE = {"segment_length_m": {"elbow": 0.25}, "source": "a paper"}
STRENGTH, FLEX_ARM, EXT_ARM = (
    "muscles.0.max_isometric_force_n",
    "muscles.0.moment_arms.elbow",
    "muscles.1.moment_arms.elbow",
)
LENGTH, LINE = "muscles.0.length", "muscles.0.lines_of_action"
OF_LENGTH = {FLEX_ARM: {"form": "from_length"}}
ONE_WAY = "expected one of parallel_to, direction_deg, or both"


def samples(flexion_deg, arms_m):
    return {FLEX_ARM: {"form": "sampled", "flexion_deg": flexion_deg, "arms_m": arms_m}}


def line(**entries):
    return {LINE: {"elbow": {"source": "a paper", **entries}}}


# Wrong values, and the words of the message that tell the place and what was expected.
BAD = [
    ({STRENGTH: -5}, "FLEX.*expected a number above 0 N"),
    ({STRENGTH: math.nan}, "expected a finite number"),
    ({STRENGTH: "500"}, "above 0 N"),
    ({"muscles.0.moment_arms.elbwo": {"form": "zero"}}, "did you mean 'elbow'"),
    ({FLEX_ARM: MISSING}, "write 'form: zero'"),
    ({f"{FLEX_ARM}.arm_m": 30.0}, "millimetres"),
    ({f"{EXT_ARM}.arms_m": [-20.0, -25.0, -20.0]}, "millimetres"),
    ({f"{FLEX_ARM}.arm_m": "3 cm"}, "arm_m is '3 cm'"),
    ({f"{FLEX_ARM}.arm_m": -0.03}, "listed as a flexor of the elbow"),
    ({f"{EXT_ARM}.arms_m": [0.02, 0.02, 0.02]}, "listed as an extensor"),
    ({f"{EXT_ARM}.arms_m": [-0.02, 0.02, 0.03]}, r"in the middle of its range \(65 deg\)"),
    ({f"{EXT_ARM}.arms_m": [-0.02, -0.02]}, "expected the same, two at least"),
    ({f"{FLEX_ARM}.published": {**PUBLISHED, "lowest_m": [0.02, 0.06]}}, "published: 2 angles"),
    ({f"{FLEX_ARM}.published": {**PUBLISHED, "flexion_deg": [0, 45, 90]}}, "published: 3 angles"),
    ({f"{FLEX_ARM}.published": {**PUBLISHED, "flexion_deg": [90, 0]}}, "rising angles"),
    ({f"{FLEX_ARM}.form": "splines"}, "did you mean 'spline'"),
    ({f"{FLEX_ARM}.knots_deg": [0, 1]}, "moment_arms.elbow.knots_deg is unknown"),
    ({f"{EXT_ARM}.knots_deg": [0, 90, 60]}, "expected rising numbers"),
    ({f"{EXT_ARM}.range_deg": [0, 160]}, "expected within the knots"),
    ({f"{EXT_ARM}.range_deg": [100, 20]}, "lowest, highest"),
    ({f"{EXT_ARM}.max_departure_m": "1 mm"}, "max_departure_m is '1 mm'"),
    ({f"{EXT_ARM}.note": 3}, "note is 3, expected a text"),
    ({"muscles.0.source": MISSING}, "FLEX.*source is missing"),
    ({"muscles.0.source.licence": " "}, "expected the model or paper"),
    ({"muscles.0.function": {}}, "add flexor or extensor"),
    ({"muscles.0.function.elbow": "bender"}, "expected flexor or extensor"),
    ({"muscles.0.max_isometric_force": 5}, "did you mean 'max_isometric_force_n'"),
    ({"muscles.1.name": "FLEX"}, "'FLEX' occurs 2 times"),
    ({"muscles": []}, "expected 1 or more entries"),
    ({"flexion": {}}, "expected a sentence on flexion"),
    ({"muscles.0.optimal_fibre_length_m": 115.7}, "below 1 m"),
    ({"muscles.0.pcsa_cm2": -3}, "pcsa_cm2 is -3"),
    ({"muscles.0.min_activation": 1.0}, "expected 0 <= least < largest <= 1"),
    ({"muscles.0.max_activation": 1.2}, "expected 0 to 1"),
    (samples([0, 50, 100], [20.0, 25.0, 30.0]), "millimetres"),
    (samples([0, 50], [0.02, 0.03, 0.03]), "arms_m is a grid of 3 samples and flexion_deg one of 2"),
    (samples([0], [0.02]), "two angles at least"),
    (samples([0, 50, 40], [0.02, 0.03, 0.03]), "expected rising numbers"),
    (samples([0, 50, 90], [0.02, None, 0.03]), "arms_m is .*expected numbers"),
    (samples([], [0.02, 0.03]), "flexion_deg is .*expected numbers"),
    (OF_LENGTH, "needs a valid length"),
    (OF_LENGTH | {LENGTH: STRETCH, "muscles.0.length_at_zero_m": 0.3}, "length and length_at_zero_m are both present"),
    (OF_LENGTH | {LENGTH: STRETCH | {"lengths_m": [300.0, 270.0, 240.0]}}, "millimetres"),
    ({LENGTH: {"form": "sample"}}, "length.form is 'sample'"),
    ({LENGTH: STRETCH | {"joints": ["elbwo"]}}, "did you mean 'elbow'"),
    ({LENGTH: STRETCH | {"joints": ["elbow", "elbow"]}}, "names a joint twice"),
    ({LENGTH: STRETCH}, "its arm at the elbow is minus the slope of it"),
    ({LENGTH: 0.3}, "length is 0.3"),
    ({LENGTH: {key: value for key, value in STRETCH.items() if key != "joints"}}, "length.joints is missing"),
    ({"muscles.0.length_at_zero_m": 250}, "length_at_zero_m is 250"),
    (
        {"muscles.0.length_at_zero_m": 0.02, f"{FLEX_ARM}.range_deg": [0, 90]},
        "falls to -0.0271 m",  # 0.02 - 0.03 pi / 2
    ),
    ({LINE: {"elbwo": PARALLEL}}, "did you mean 'elbow'"),
    ({LINE: "distal"}, "lines_of_action is 'distal'"),
    ({LINE: {"elbow": {"parallel_to": "distal"}}}, "lines_of_action.elbow.source is missing"),
    (line(parallel_to="distal", source=" "), "source is ' ', expected a text"),
    (line(parallel_to="forearm"), "expected proximal or distal"),
    (line(parallel_to="distal", distal_m=[0.05, 0.02]), ONE_WAY),
    (line(distal_m=[0.05, 0.02]), ONE_WAY),
    (line(parallel_to="distal", direction_deg=[10.0]), ONE_WAY),
    (line(parallel_to="distal", range_deg=[0.0, 90.0]), "range_deg belongs to direction_deg"),
    (line(direction_deg=[1.0], range_deg=[90, 0]), "lowest, highest"),
    (line(direction_deg=[1.0], in_plane_part=1.2), "in_plane_part is 1.2"),
    (line(distal_m=[50, 20], proximal_m=[0.1, 0.02]), "each below 0.6 m"),
    ({"reference": {"segment_length_m": {"elbow": 0.25}}}, "reference.source is missing"),
    ({"reference": REFERENCE | {"segment_length_m": {"elbwo": 0.25}}}, "did you mean 'elbow'"),
    ({"reference": REFERENCE | {"segment_length_m": {"elbow": 250}}}, "segment_length_m.elbow is 250"),
    ({"reference": REFERENCE | {"mass_kg": 0, "source": " "}}, "mass_kg is 0"),
    ({"reference": REFERENCE | {"segment_length_m": {}}}, "expected 1 or more entries"),
]


@pytest.mark.parametrize(("changes", "words"), BAD)
def test_bad_sets_are_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        muscle_set_from_mapping(changed(content(), changes))


def test_a_length_over_other_joints_than_its_muscle_is_refused():
    """The set has a wrist, which the muscle is said to flex, and a length that depends on the elbow only."""
    flexes, by_length = (dict.fromkeys(("elbow", "wrist"), value) for value in ("flexor", {"form": "from_length"}))
    whole = changed(content(), {"joints": ["elbow", "wrist"], "flexion.wrist": "0 straight", "muscles.1": MISSING})
    muscle = {LENGTH: STRETCH, "muscles.0.function": flexes, "muscles.0.moment_arms": by_length}
    with pytest.raises(SettingsError, match="but the length depends on elbow only; write 'form: zero'"):
        muscle_set_from_mapping(changed(whole, muscle))


@pytest.mark.parametrize(
    ("flexion_deg", "lengths_m", "words"),
    [
        ([[0, 90], [0, 90]], [[0.3, 0.1], [0.1]], "rows of equal length"),
        ([[0, 90], [0, 90]], [0.3, 0.1], "expected numbers in 2 nested lists"),
        ([[0, 90], [0, 50, 90]], [[0.3, 0.3], [0.3, 0.3]], "a grid of 2 by 2 samples and flexion_deg one of 2 by 3"),
        ([0, 90], [[0.3, 0.3], [0.3, 0.3]], "a list of angles for each of its joints"),
    ],
)
def test_bad_lengths_of_two_joints_are_refused(flexion_deg, lengths_m, words):
    entry = {"flexion_deg": flexion_deg, "lengths_m": lengths_m}
    whole = two_joints()
    whole["muscles"][0]["length"] |= entry
    with pytest.raises(SettingsError, match=words):
        muscle_set_from_mapping(whole)


def test_a_constant_arm_may_have_a_range():
    whole = content()
    whole["muscles"][0]["moment_arms"]["elbow"]["range_deg"] = [0, 90]
    found = musculotendon(muscle_set_from_mapping(whole), np.radians([[45.0], [100.0]]))
    assert found.muscle_out_of_range[:, 0].tolist() == [False, True]
    np.testing.assert_allclose(found.moment_arm_m[:, 0, 0], 0.03)


def test_what_else_a_set_may_say():
    whole = content()
    points = {"proximal_m": [0.1, 0.02], "distal_m": [0.04, 0.01], "source": "a paper", "note": "read off figure 3"}
    whole["muscles"][0] |= {"pcsa_cm2": 12.5, "min_activation": 0.02, "max_activation": 0.9}
    whole["muscles"][0] |= {"lines_of_action": {"elbow": points}}
    whole["muscles"][1] |= {"lines_of_action": {"elbow": PARALLEL}}
    whole["muscles"][1]["moment_arms"]["elbow"]["published"] = PUBLISHED
    whole["reference"] = {"mass_kg": 75, "segment_length_m": {"elbow": 0.25}, "source": "a paper"}
    muscles = muscle_set_from_mapping(whole)
    for factor, found in ((1.0, muscles), (1.1, scaled(muscles, length_factor={"elbow": 1.1}))):
        assert found.muscles[0].moment_arms["elbow"].published is None
        known = found.muscles[1].moment_arms["elbow"].published
        assert known.other_sources == 2
        low, high = known.at(np.radians([-10.0, 45.0, 90.0]))  # linear between the angles, held outside
        np.testing.assert_allclose(low, factor * np.array([-0.04, -0.035, -0.03]))
        np.testing.assert_allclose(high, factor * np.array([-0.02, 0.0, 0.02]), atol=1e-15)
    flexor, extensor = muscles.muscles
    assert flexor.pcsa_cm2 == 12.5
    assert [(muscle.min_activation, muscle.max_activation) for muscle in muscles.muscles] == [(0.02, 0.9), (0.0, 1.0)]
    line = flexor.lines_of_action["elbow"]
    assert (line.parallel_to, line.proximal_m, line.distal_m) == (None, [0.1, 0.02], [0.04, 0.01])
    assert line.note == "read off figure 3"
    assert extensor.lines_of_action["elbow"].parallel_to == "distal"
    assert muscles.reference.mass_kg == 75.0
    larger = scaled(muscles, length_factor={"elbow": 1.1}).muscles[0].lines_of_action["elbow"]
    assert larger.distal_m == pytest.approx([0.044, 0.011])
    whole["muscles"][0]["moment_arms"]["elbow"] = {"form": "zero"}
    whole["muscles"][0]["function"] = {}
    with pytest.raises(SettingsError, match="lines_of_action has the elbow, which the muscle does not cross"):
        muscle_set_from_mapping(whole)


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({STRENGTH: -5, "muscles.0.source": MISSING, "reference": {}, f"{FLEX_ARM}.knots_deg": [0, 1]}, 5),
        ({f"{FLEX_ARM}.arm_m": -0.03, f"{EXT_ARM}.arms_m": [0.02, 0.02, 0.02]}, 2),  # curves that contradict
    ],
)
def test_all_faults_are_told_at_once(changes, faults):
    with pytest.raises(SettingsError) as caught:
        muscle_set_from_mapping(changed(content(), changes))
    assert str(caught.value).count("\n  - ") == faults


@pytest.mark.parametrize("whole", [None, [], "arm", {}, {"name": "x", "joints": 3, "flexion": {}, "muscles": []}])
def test_what_is_no_set_at_all(whole):
    with pytest.raises(SettingsError, match="muscle set"):
        muscle_set_from_mapping(whole)


@pytest.mark.parametrize(
    ("name", "words"),
    [("arms", "did you mean 'arm'"), ("nowhere.yaml", "nor a file"), ("bad.yaml", "readable as YAML")],
)
def test_sets_that_cannot_be_read(tmp_path, monkeypatch, name, words):
    (tmp_path / "bad.yaml").write_text("muscles: [unclosed")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=words):
        load_muscle_set(name)


PLACES = ["name", "joints", "flexion", "muscles", "reference", "from_vertical", FLEX_ARM]
PLACES += [f"muscles.0.{key}" for key in MuscleEntry.model_fields]
PLACES += [f"{EXT_ARM}.{key}" for key in ("knots_deg", "range_deg", "max_departure_m")]
WORDS = st.sampled_from(["", " ", "elbow", "form", "zero", "joints", "source", "x"])
WRONG = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@given(place=st.sampled_from(PLACES), value=WRONG)
@settings(max_examples=60, deadline=None)
def test_whatever_stands_in_a_set_is_taken_or_told(place, value):
    with contextlib.suppress(SettingsError):
        muscle_set_from_mapping(changed(content(), {place: value}))


def test_a_direction_is_read_in_degrees_and_scaling_leaves_it():
    whole = content()
    line = {"direction_deg": [10.0, 5.0], "range_deg": [0.0, 90.0], "in_plane_part": 0.9, "source": "a paper"}
    whole["muscles"][0]["lines_of_action"] = {"elbow": line}
    found = muscle_set_from_mapping(whole)
    read = found.muscles[0].lines_of_action["elbow"]
    arrays = line_arrays([[read]], [[True]])
    np.testing.assert_allclose(arrays.coefficients_rad[0, 0], np.radians([10.0, 5.0]))
    np.testing.assert_allclose(arrays.range_rad[0, 0], np.radians([0.0, 90.0]))
    assert arrays.in_plane_part[0, 0] == 0.9
    assert scaled(found, length_factor={"elbow": 1.2}).muscles[0].lines_of_action["elbow"] == read


@pytest.mark.parametrize("name", ["leg", "arm"])
def test_every_muscle_has_a_line_of_action_at_every_joint_that_it_crosses(name):
    for muscle in load_muscle_set(name).muscles:
        assert set(muscle.crosses) <= set(muscle.lines_of_action), muscle.name


def test_the_ligament_of_the_patella_leans_forward_on_the_straight_leg_and_back_on_the_bent_one():
    """Forward at low and back at high flexion, from full extension to 110 degrees (DeFrate et al. 2007, J Biomech 40, 1716-1722)."""
    vasti = next(muscle for muscle in load_muscle_set("leg").muscles if muscle.name == "vasti")
    coefficients = vasti.lines_of_action["knee"].direction_deg
    lean = np.polynomial.polynomial.polyval(np.radians([0.0, 30.0, 60.0, 110.0]), coefficients)
    assert lean[0] < -10.0
    assert lean[1] < 0.0 < lean[3]
    assert (np.diff(lean) > 0.0).all()


@pytest.mark.parametrize("number", [math.nan, 1e300])
@pytest.mark.parametrize(
    "place",
    [
        "muscles.0.max_isometric_force_n",
        "muscles.0.moment_arms.hip.max_departure_m",
        "muscles.0.lines_of_action.hip.range_deg.0",
        "reference.mass_kg",
        "reference.segment_length_m.hip",
    ],
)
def test_an_impossible_number_is_one_fault(place, number):
    whole = changed(json.loads((BUILT_IN / "leg.json").read_bytes()), {place: number})
    with pytest.raises(SettingsError, match="has 1 fault:") as refused:
        muscle_set_from_mapping(whole)
    assert len(str(refused.value).splitlines()) == 2

"""Muscle forces of trials: what the settings ask for is done, adds up, and is said."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from limbtorque.analysis.trial import analyse_recording
from limbtorque.errors import SettingsError
from limbtorque.motion.limb import Limb
from limbtorque.muscles.force_table import contact_series, contact_summary, force_series, muscle_summary
from limbtorque.muscles.passive_moments import passive_moments
from limbtorque.muscles.sets.muscle_set import BUILT_IN, load_muscle_set
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.files import parse_yaml, yaml_text
from limbtorque.study.options.muscles import Muscles
from limbtorque.study.settings import load_settings, make_settings, override
from limbtorque.study.study import load_study

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "config" / "config.yaml"
CLOSURE_NM = 1e-8
JOINTS = ("shoulder", "elbow", "wrist")


def summary_of(result, *, min_known_share=0.1):
    """Rows of the summary of the muscles over all frames."""
    windows = {"trial": np.ones(len(result.motion.time_s), dtype=bool)}
    found, muscle_set = force_series(result.muscles), result.muscles.muscle_set
    return muscle_summary(result.motion, found, muscle_set, Muscles(), windows=windows, min_known_share=min_known_share)


RAW = parse_yaml(DEMO.read_text(encoding="utf-8"))
HORIZONTAL = RAW | {"plane": RAW["plane"] | {"kind": "horizontal"}}
ANALYSED = {}


def demo(trial):
    return read_c3d(ROOT / "data" / "demo" / f"{trial}.c3d")


def analysed(folder=Path(), **options):
    """A demo trial with options of the section `muscles`, once for each of them."""
    key = str(folder), repr(options)
    if key not in ANALYSED:
        limb = Limb("arm", side="right", body_mass_kg=72.0, load="spring")
        settings = make_settings(RAW | {"muscles": options})
        ANALYSED[key] = analyse_recording(demo("S01_sagittal_spring"), limb, settings, folder=folder)
    return ANALYSED[key]


def own_set(folder, change, name="arm"):
    """A built-in set with a change, as a file; its name."""
    content = parse_yaml((BUILT_IN / f"{name}.yaml").read_text(encoding="utf-8"))
    change(content)
    (folder / "own.yaml").write_text(yaml_text(content), encoding="utf-8")
    return "own.yaml"


def with_strengths(factor):
    def change(content):
        for muscle in content["muscles"]:
            muscle["max_isometric_force_n"] *= factor

    return change


def frame(result):
    return result.muscle_table.to_pandas()


def closure(result):
    """Largest difference of the muscles' torques and reserves from the net torque over the frames with forces."""
    muscles, torques = frame(result), result.torque_table.to_pandas()
    given = muscles.optimization_status.isin([0, 1])
    assert given.any()
    off = []
    for joint in JOINTS:
        parts = muscles[[name for name in muscles if name.startswith(f"{joint}_torque_")]].sum(axis=1)
        off.append((parts - torques[f"{joint}_torque_nm"])[given].abs().max())
    return max(off)


COMPLIANT = {"force_length_velocity": True, "tendon": "compliant"}
OPTIONS = {
    "as it comes": {},
    "cubed": {"exponent": 3},
    "min_max": {"exponent": "min_max"},
    "weighted": {"weights": {"BRA": 5.0, "TRIlat": 0.2}},
    "force-length-velocity": {"force_length_velocity": True},
    "compliant": COMPLIANT,
    "scaled": {"scale": ("moment_arms",)},
    "pairs": {"sets": {"arm": "pairs"}},
    "everything": {
        "exponent": 3,
        "force_length_velocity": True,
        "scale": ("moment_arms",),
        "contact_forces": True,
        "min_activation": 0.01,
    },
}


@pytest.mark.parametrize("case", OPTIONS)
def test_muscles_and_reserves_add_up_to_the_net_torque(case):
    result = analysed(**OPTIONS[case])
    table = frame(result)
    assert closure(result) <= CLOSURE_NM
    ok = table.optimization_status == 0
    assert ok.mean() > 0.9
    assert (table.optimization_residual_nm[ok] <= CLOSURE_NM).all()
    assert (table.optimization_duality_gap[ok].abs() <= 1e-6).all()
    assert (table[[f"{joint}_torque_reserve_nm" for joint in JOINTS]][ok] == 0).all(axis=None)
    for name in result.muscles.muscle_set.names:
        force, least, greatest = (table[f"{name}_{what}_n"][ok] for what in ("force", "min_force", "max_force"))
        assert (force >= least).all()
        assert (force <= greatest).all()
        assert (least >= 0).all()


def test_share_is_moment_arm_times_force():
    result = analysed()
    table = frame(result)
    sign = result.motion.flexion.sign
    for j, joint in enumerate(JOINTS):
        for name in result.muscles.muscle_set.names:
            if f"{joint}_moment_arm_{name}_m" in table:
                expected = sign[j] * table[f"{joint}_moment_arm_{name}_m"] * table[f"{name}_force_n"]
                np.testing.assert_allclose(table[f"{joint}_torque_muscle_{name}_nm"], expected, atol=1e-12)


def mirrored_pair(**options):
    """A horizontal reach, and its mirror image as a left arm: the same flexions, turning the other way round."""
    right = demo("S01_horizontal_fast")
    left = replace(right, markers_m=right.markers_m * [1.0, -1.0, 1.0])  # forward is +x, up +z
    settings = make_settings(HORIZONTAL | {"muscles": options})
    return [
        frame(analyse_recording(which, Limb("arm", side=side, body_mass_kg=72.0), settings))
        for which, side in ((right, "right"), (left, "left"))
    ]


def test_passive_tension_is_taken_off_the_torque_to_be_shared():
    result = analysed(force_length_velocity=True)
    table, limits = frame(result), result.muscles.limits
    names = result.muscles.muscle_set.names
    k = names.index("TRIlong")
    ok = table.optimization_status == 0
    active = table["TRIlong_activation"] * limits.strength_n[:, k]
    np.testing.assert_allclose(table["TRIlong_force_n"], active + table["TRIlong_passive_force_n"], atol=1e-9)
    assert (table["TRIlong_passive_force_n"][ok] >= 0).all()
    assert "DELT2_passive_force_n" not in table  # nothing is known of its fibres
    assert (limits.strength_n[:, names.index("DELT2")] == 1142.6).all()
    assert any("DELT2" in note and "constant strength" in note for note in result.muscles.notes)
    passive = table["TRIlong_passive_force_n"][ok]
    assert (passive > 1.0).any()
    assert (table["TRIlong_min_force_n"][ok] >= passive - 1e-9).all()
    most = passive + table["TRIlong_strength_n"][ok]
    np.testing.assert_allclose(table["TRIlong_max_force_n"][ok], most, rtol=1e-9)  # weak torques: all of it


def test_compliant_tendons_stretch_and_say_so():
    result = analysed(**COMPLIANT)
    rigid, table = analysed(force_length_velocity=True), frame(result)
    ok = table.optimization_status == 0
    strain = table["TRIlong_tendon_strain"][ok]
    assert strain.between(0.0, 0.1).all()
    assert strain.max() > 0.005
    k = result.muscles.muscle_set.names.index("TRIlong")
    assert (result.muscles.limits.fibre_length[:, k] < rigid.muscles.limits.fibre_length[:, k])[ok].all()
    assert table["TRIlong_passive_force_n"][ok].max() < frame(rigid)["TRIlong_passive_force_n"][ok].max()
    over = (table["TRIlong_force_n"] - table["TRIlong_passive_force_n"]) / table["TRIlong_criterion_unit_n"]
    units = [name for name in result.muscles.muscle_set.names if f"{name}_criterion_unit_n" in table]
    assert over[ok].max() <= table["optimization_cost"][ok].max() ** 0.5
    assert "DELT2" not in units  # nothing is known of its fibres
    k = result.muscles.muscle_set.names.index("BRA")
    np.testing.assert_array_equal(table["BRA_activation"], result.muscles.activation[:, k])
    assert np.nanmax(np.abs(table["BRA_activation"] - result.muscles.optimized.activation[:, k])[ok]) > 1e-3
    assert (table["tendon_iterations"][ok] > 1).all()
    assert (table["tendon_activation_change"][ok] <= 1e-6).all()
    assert (table[[f"{name}_activation" for name in result.muscles.muscle_set.names]][ok] <= 1.0 + 1e-6).all(axis=None)


def test_passive_moments_are_subtracted_and_add_up():
    trial = next(trial for trial in load_study(ROOT).trials if trial.name == "S01_walk_slow_1_right")
    limb = Limb(trial.chain, side=trial.side, body_mass_kg=72.0, load=trial.load)

    def walk(**options):
        return analyse_recording(read_c3d(trial.file), limb, make_settings(RAW | {"muscles": options}))

    for method in ("riener_edrich", "anderson"):
        result = walk(passive_moments=method)
        table, torques = frame(result), result.torque_table.to_pandas()
        flexion = result.motion.flexion.of(result.motion.kinematics.angle_rad)
        expected, without = passive_moments(method, flexion, result.motion.joints)
        assert without == ()
        given = table.optimization_status.isin([0, 1])
        for j, joint in enumerate(result.motion.joints):
            passive = table[f"{joint}_torque_passive_nm"]
            np.testing.assert_allclose(passive, result.motion.flexion.sign[j] * expected[:, j], atol=1e-12)
            own = [name for name in table if name.startswith(f"{joint}_torque_")]
            off = table[own].sum(axis=1) - torques[f"{joint}_torque_nm"]
            assert off[given].abs().max() <= CLOSURE_NM
    assert "ankle_torque_passive_nm" not in frame(walk())


def test_joints_without_a_passive_curve_are_said():
    result = analysed(passive_moments="riener_edrich")
    assert any("shoulder, elbow, wrist: no passive moment" in note for note in result.muscles.notes)
    assert (frame(result)["elbow_torque_passive_nm"] == 0).all()


def test_strength_scales_with_mass_and_arms_with_length(tmp_path):
    own = own_set(tmp_path, lambda content: content["reference"].update(mass_kg=36.0))
    plain = analysed()
    strong = analysed(folder=tmp_path, sets={"arm": own}, scale=("strength",))
    np.testing.assert_allclose(strong.muscles.muscle_set.max_force_n, 2.0 * plain.muscles.muscle_set.max_force_n)
    np.testing.assert_allclose(
        strong.muscles.optimized.activation, plain.muscles.optimized.activation / 2.0, atol=1e-9
    )  # torques are the same, every muscle twice as strong
    long = analysed(scale=("moment_arms",))
    factor = plain.motion.chain.length_m[1] / load_muscle_set("arm").reference.segment_length_m["elbow"]
    ratio = frame(long)["elbow_moment_arm_BRA_m"] / frame(plain)["elbow_moment_arm_BRA_m"]
    np.testing.assert_allclose(ratio, factor)


def test_force_in_the_elbow_is_the_reaction_less_the_pull_of_the_muscles():
    result = analysed(sets={"arm": "pairs"}, contact_forces=True)
    table, torques = frame(result), result.torque_table.to_pandas()
    motion = result.motion
    ok = (table.optimization_status == 0) & table["elbow_contact_x_n"].notna()
    assert ok.mean() > 0.9
    # pairs pull along the distal segment towards the joint: the force in it is larger by their sum, along the forearm
    along = np.cumsum(motion.kinematics.angle_rad, axis=1)[:, 1]
    pull = table["elbow_flexor_force_n"] + table["elbow_extensor_force_n"]
    reaction = {axis: torques[f"elbow_reaction_{axis}_n"] for axis in "xy"}
    expected_x = reaction["x"] + pull * np.cos(along)
    expected_y = reaction["y"] + pull * np.sin(along)
    np.testing.assert_allclose(table["elbow_contact_x_n"][ok], expected_x[ok], atol=1e-9)
    np.testing.assert_allclose(table["elbow_contact_y_n"][ok], expected_y[ok], atol=1e-9)


def test_summary_of_muscles_is_peak_and_impulse():
    result = analysed()
    table = frame(result)
    rows = {row["muscle"]: row for row in summary_of(result)}
    assert set(rows) == set(result.muscles.muscle_set.names)
    used = (table.edge == 0).to_numpy()
    for name, row in rows.items():
        force, activation = table[f"{name}_force_n"].to_numpy(), table[f"{name}_activation"]
        assert row["n_frames"] == used.sum()
        assert row["peak_n"] == force[used].max()
        assert row["mean_n"] == pytest.approx(force[used].mean())
        assert row["peak_activation"] == activation[used].max()
        if row["peak_n"] > 0:
            assert row["peak_time_s"] == table.time_s[used].iloc[force[used].argmax()]
        assert row["criterion"] == "minimum sum of (force / strength)^2"
        both = used[1:] & used[:-1]
        expected = ((force[1:] + force[:-1]) / 2)[both].sum() / result.motion.rate_hz
        assert row["impulse_ns"] == pytest.approx(expected, rel=1e-12)
        assert row["min_impulse_ns"] <= row["impulse_ns"] <= row["max_impulse_ns"]


def test_a_weak_set_leaves_a_reserve_and_proves_it(tmp_path):
    least = analysed(folder=tmp_path, sets={"arm": own_set(tmp_path, with_strengths(1.0 / 30.0))})
    a = frame(least)
    short = a.optimization_status == 1
    assert short.any()
    assert closure(least) <= CLOSURE_NM
    assert (a.optimization_shortfall_nm[short] > 0).all()
    assert least.muscles.metrics["reserve_share"] == pytest.approx(short.mean(), abs=0.02)
    assert any("reserve_share" in flag for flag in least.flags(load_settings(DEMO)))
    proof = a[[f"{joint}_optimality_certificate" for joint in JOINTS]].to_numpy()
    torque = least.torque_table.to_pandas()[[f"{joint}_torque_nm" for joint in JOINTS]].to_numpy()
    arms = least.muscles.geometry.moment_arm_m * least.motion.flexion.sign[:, None]
    most = np.maximum(np.einsum("fjm,fj->fm", arms, proof) * least.muscles.muscle_set.max_force_n, 0.0).sum(axis=1)
    assert ((proof * torque).sum(axis=1) > most)[short].all()  # in that direction all muscles together fall short


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": {"BRAC": 2.0}}, "no muscle 'BRAC' .muscles.weights.; did you mean 'BRA'"),
        ({"activation_bounds": {"SOL": [0, 1]}}, "no muscle 'SOL' .muscles.activation_bounds."),
        ({"criterion": "stress"}, "has no pcsa_cm2 for TRIlong"),
        ({"scale": "strength"}, "has no body mass"),
    ],
)
def test_what_a_set_does_not_have_is_refused(options, message):
    with pytest.raises(SettingsError, match=message):
        analysed(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exponent": 1}, "expected 2, 3, or min_max"),
        ({"criterion": "volume", "exponent": "min_max"}, "no meaning with exponent min_max"),
        ({"emg_weight": 1.0, "exponent": 3.0}, "emg_weight needs exponent 2"),
        (COMPLIANT | {"emg_weight": 1.0}, "cannot be combined with emg_weight"),
        ({"exponent": "min_max", "weights": {"BRA": 2.0}}, "weights have no meaning"),
        ({"activation_bounds": {"BRA": [0.5, 0.2]}}, "least 0.5 is above largest 0.2"),
        ({"sets": {"armm": "pairs"}}, "armm, which is not a chain"),
        ({"tendon": "compliant"}, "a compliant tendon needs fibres: set force_length_velocity: true"),
        ({"force_length_velocity": True, "tendon_strain": {"BRA": 0.1}}, "no effect with tendon: rigid"),
        ({"force_length_velocity": True, "passive_moments": "riener_edrich"}, "use passive_moments: anderson"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options, message):
    with pytest.raises(SettingsError, match=message):
        make_settings({"muscles": options})


def test_options_can_be_changed_in_the_table_of_trials():
    changed = override(
        make_settings({}), {"muscles.exponent": "3", "muscles.min_activation": "0.2"}, source="here"
    ).muscles
    assert (changed.exponent, changed.min_activation) == (3.0, 0.2)
    assert override(make_settings({}), {"muscles.exponent": "min_max"}, source="here").muscles.exponent == "min_max"


def test_stress_needs_cross_sections_and_uses_them(tmp_path):
    def with_areas(content):
        for k, muscle in enumerate(content["muscles"]):
            muscle["pcsa_cm2"] = 2.0 + k

    own = own_set(tmp_path, with_areas)
    stress = analysed(folder=tmp_path, sets={"arm": own}, criterion="stress", exponent=3)
    found = stress.muscles
    pcsa = 2.0 + np.arange(19.0)
    ok = found.optimized.status == 0
    np.testing.assert_allclose(found.optimized.cost[ok], ((found.force_n / pcsa) ** 3).sum(axis=1)[ok], rtol=1e-12)
    least_squares = analysed(exponent=3)
    assert not np.allclose(found.force_n[ok], least_squares.muscles.force_n[ok], atol=1.0)
    assert closure(stress) <= CLOSURE_NM


def test_range_is_half_of_what_matters():
    # one elbow with a flexor and an extensor: the extensor may pull as much as the flexor can outdo
    result = analysed(sets={"arm": "pairs"})
    table = frame(result)
    muscles = {muscle.name: muscle for muscle in load_muscle_set("pairs").muscles}
    flexor, extensor = muscles["elbow_flexor"], muscles["elbow_extensor"]
    r_flexor, r_extensor = table["elbow_moment_arm_elbow_flexor_m"], table["elbow_moment_arm_elbow_extensor_m"]
    torque = result.motion.flexion.sign[1] * result.torque_table.to_pandas()["elbow_torque_nm"]
    most = ((flexor.max_isometric_force_n * r_flexor - torque) / -r_extensor).clip(upper=extensor.max_isometric_force_n)
    np.testing.assert_allclose(table["elbow_extensor_max_force_n"], most, rtol=1e-9)
    least = (-torque / -r_extensor).clip(lower=0.0)
    np.testing.assert_allclose(table["elbow_extensor_min_force_n"], least, atol=1e-9)
    names, strength = result.muscles.muscle_set.names, result.muscles.muscle_set.max_force_n
    widths = [table[f"{n}_max_force_n"] - table[f"{n}_min_force_n"] for n in names]
    share = np.mean([(width / s).mean() for width, s in zip(widths, strength, strict=True)])
    assert result.muscles.metrics["force_range_share"] == pytest.approx(share)


# --- what is not known


def test_arms_that_are_not_known_are_empty_and_their_torque_is_reserve():
    settings = make_settings(HORIZONTAL | {"muscles": {"force_length_velocity": True}})
    result = analyse_recording(demo("S01_horizontal_fast"), Limb("arm", side="right", body_mass_kg=72.0), settings)
    table, torques = frame(result), result.torque_table.to_pandas()
    assert table.filter(like="shoulder_moment_arm").isna().all(axis=None)
    assert (table.filter(like="shoulder_torque_muscle").fillna(0.0) == 0).all(axis=None)
    given = table.optimization_status == 1  # for the shoulder's sake, though no reserve was asked for
    assert given.mean() > 0.9
    np.testing.assert_allclose(table["shoulder_torque_reserve_nm"][given], torques["shoulder_torque_nm"][given])
    assert table["BRA_force_n"][given].notna().all()
    names = result.muscles.muscle_set.names
    modelled = dict(zip(names, result.muscles.limits.modelled, strict=True))
    assert modelled["BRA"]
    assert not modelled["BIClong"]  # its length depends on the shoulder
    assert result.muscles.metrics["joints_without_moment_arms"] == 1
    assert result.muscles.metrics["reserve_share"] == 0


def forearm(**muscles):
    """Forearm and hand alone: the chain begins at the elbow."""
    elbow = {"name": "elbow", "landmark": "elbow_axis", "one_way": True}
    chain = {
        "joints": [elbow, {"name": "wrist", "landmark": "wrist_axis"}],
        "segments": [{"name": "forearm", "row": "forearm"}, {"name": "hand", "row": "hand"}],
        "end": "knuckle_2_middle_finger",
        "muscles": "arm",
    }
    settings = make_settings(RAW | {"chains": {"forearm_only": chain}, "muscles": muscles})
    limb = Limb("forearm_only", side="right", body_mass_kg=72.0)
    return analyse_recording(demo("S01_sagittal_fast"), limb, settings)


def test_a_chain_that_begins_at_the_elbow_has_no_elbow_flexion():
    result = forearm()
    table, torques = frame(result), result.torque_table.to_pandas()
    assert result.muscles.arm_known.tolist() == [False, True]
    np.testing.assert_allclose(table["elbow_torque_reserve_nm"], torques["elbow_torque_nm"])
    assert any("the chain begins here" in note for note in result.muscles.notes)
    assert any("joints_without_moment_arms" in flag for flag in result.flags(load_settings(DEMO)))
    constant = forearm(sets={"forearm_only": "pairs"})  # arms that do not depend on the angle
    assert constant.muscles.arm_known.all()
    assert (frame(constant).optimization_status == 0).all()


def test_a_joint_that_no_muscle_moves_is_said(tmp_path):
    def without_wrist(content):
        content["muscles"] = [muscle for muscle in content["muscles"] if "wrist" not in muscle["function"]]

    result = analysed(folder=tmp_path, sets={"arm": own_set(tmp_path, without_wrist)})
    assert any("no muscle of set 'arm' crosses it" in note for note in result.muscles.notes)
    assert result.muscles.metrics["reserve_share"] == 0
    assert frame(result)["BRA_force_n"].notna().all()


def test_signs_of_a_limb_that_extends_counter_clockwise():
    """In a mirrored table torques, proofs and multipliers change sign where flexion does; forces do not."""
    a, b = mirrored_pair(sets={"arm": "pairs"}, activation_bounds={"elbow_flexor": [0, 0.001]})
    assert (a["elbow_flexion_sign"] == 1).all()
    assert (b["elbow_flexion_sign"] == -1).all()
    short = a.optimization_shortfall_nm > 1e-3
    assert short.any()
    forces = [name for name in a if name.endswith(("_force_n", "_activation", "_length_m"))]
    np.testing.assert_allclose(a[forces], b[forces], atol=1e-6, equal_nan=True)
    proofs = ["optimality_certificate", "optimization_multiplier"]
    for what in (*proofs, "torque_reserve_nm", "torque_muscle_elbow_flexor_nm"):
        np.testing.assert_allclose(b[f"elbow_{what}"], -a[f"elbow_{what}"], atol=1e-5)
    assert (a["elbow_optimality_certificate"][short].abs() > 0.1).any()
    flexing = short & (a["elbow_optimality_certificate"] > 0.5)
    assert (a["elbow_torque_reserve_nm"][flexing] > 0).all()  # what is missing points along the proof


def test_contact_forces_are_in_body_weights_and_inside_their_ranges():
    result = analysed(contact_forces=True)
    table = frame(result)
    ok = table["elbow_contact_x_n"].notna()
    assert ok.mean() > 0.5
    size = np.hypot(table["elbow_contact_x_n"], table["elbow_contact_y_n"])[ok] / (result.limb.body_mass_kg * 9.80665)
    np.testing.assert_allclose(table["elbow_contact_bw"][ok], size, rtol=1e-12)
    along = table["elbow_contact_along_forearm_n"][ok]
    turned = table["elbow_contact_bw"][ok] * np.cos(np.radians(table["elbow_contact_direction_deg"][ok]))
    np.testing.assert_allclose(turned, along / (result.limb.body_mass_kg * 9.80665), atol=1e-12)
    names = ["min_contact_bw", "effort_min_contact_bw", "contact_bw", "effort_max_contact_bw", "max_contact_bw"]
    ends = table[[f"elbow_{name}" for name in names]][ok].to_numpy()
    assert (np.diff(ends, axis=1) >= -1e-9).all()
    assert (ends[:, 4] - ends[:, 0] > ends[:, 3] - ends[:, 1]).any()


def test_without_ranges_contact_forces_have_none():
    table = frame(analysed(contact_forces=True, ranges=False))
    assert "elbow_contact_bw" in table
    assert not [name for name in table if name.startswith("elbow_max_contact") or "effort" in name]


def test_no_force_in_a_joint_more_than_ten_degrees_outside_the_range_of_its_arms(tmp_path):
    def narrow(content):
        for muscle in content["muscles"]:
            if "elbow" in muscle["function"]:
                muscle["moment_arms"]["elbow"]["range_deg"] = [0, 80]

    result = analysed(folder=tmp_path, sets={"arm": own_set(tmp_path, narrow, "pairs")}, contact_forces=True)
    table = frame(result)
    out = table.moment_arm_status == 1
    assert 0 < out.mean() < 1
    elbow = result.motion.joints.index("elbow")
    flexion_deg = np.degrees(result.motion.flexion.of(result.motion.kinematics.angle_rad)[:, elbow])
    far = (flexion_deg > 90.0) | (flexion_deg < -10.0)
    assert 0 < far.mean() < out.mean()
    assert table["elbow_contact_x_n"][far].isna().all()
    assert table["elbow_contact_x_n"][out & ~far].notna().any()
    assert table["elbow_contact_x_n"][~out].notna().any()
    rows = summary_of(result)
    assert rows[0]["n_frames"] == int((~out & (table.edge == 0)).sum())


def test_names_of_a_set_are_for_that_set_only():
    both = analysed(weights={"arm.BRA": 5.0, "leg.soleus": 2.0})
    alone = analysed(weights={"BRA": 5.0})
    np.testing.assert_array_equal(both.muscles.force_n, alone.muscles.force_n)
    with pytest.raises(SettingsError, match="no muscle 'BRAC'"):
        analysed(weights={"arm.BRAC": 5.0})


def test_min_activation_and_bounds_do_not_override_each_other():
    held = analysed(activation_bounds={"BRA": [0.0, 0.9]}, min_activation=0.05)
    assert (frame(held)["BRA_activation"] >= 0.05 - 1e-12).all()
    with pytest.raises(SettingsError, match=r"has the bounds 0\.05 to 0\.01 for BRA"):
        analysed(activation_bounds={"BRA": [0.0, 0.01]}, min_activation=0.05)


def test_velocity_of_a_muscle_is_that_of_its_length():
    result = analysed(force_length_velocity=True)
    motion, muscles = result.motion, result.muscles
    k = muscles.muscle_set.names.index("BRA")
    length, velocity = muscles.geometry.length_m[:, k], muscles.geometry.velocity_m_s[:, k]
    inside = slice(20, -20)
    slope = np.gradient(length, motion.time_s)[inside]
    np.testing.assert_allclose(velocity[inside], slope, atol=0.01 * np.abs(slope).max())
    muscle = muscles.muscle_set.muscles[k]
    fibre = velocity / (10.0 * muscle.optimal_fibre_length_m)  # the brachialis of Arm26 is not pennate
    np.testing.assert_allclose(muscles.limits.fibre_velocity[:, k], fibre, atol=1e-12)
    passive = muscles.limits.passive_n / muscles.muscle_set.max_force_n
    assert muscles.metrics["passive_part"] == pytest.approx(passive.max())
    assert muscles.metrics["fibre_range_share"] == muscles.fibres_out_of_range.mean()


def test_no_force_in_a_joint_that_needs_a_reserve():
    result = analysed(sets={"arm": "pairs"}, contact_forces=True, activation_bounds={"elbow_flexor": [0, 0.001]})
    table = frame(result)
    lacking = table["elbow_torque_reserve_nm"].abs() > 1e-3
    assert lacking.any()
    assert table["elbow_contact_x_n"][lacking].isna().all()
    assert table["wrist_contact_x_n"][lacking].notna().any()


def test_the_summary_of_contact_forces_is_that_of_the_table():
    result = analysed(contact_forces=True)
    table = frame(result)
    series = contact_series(result.muscles)
    inside = np.arange(len(table)) >= len(table) // 3
    rows = contact_summary(result.motion, series, windows={"trial": inside}, min_known_share=0.2)
    elbow = next(row for row in rows if row["joint"] == "elbow")
    used = inside & (table.edge == 0) & table["elbow_contact_bw"].notna()
    assert elbow["n_frames"] == used.sum() > 0
    assert elbow["used_share"] == used.sum() / inside.sum()
    some = table[used]
    assert elbow["peak_bw"] == pytest.approx(some["elbow_contact_bw"].max(), rel=1e-12)
    assert elbow["peak_time_s"] == some["time_s"].iloc[int(some["elbow_contact_bw"].to_numpy().argmax())]
    assert elbow["effort_max_peak_bw"] == pytest.approx(some["elbow_effort_max_contact_bw"].max(), rel=1e-12)
    assert elbow["min_peak_bw"] == pytest.approx(some["elbow_min_contact_bw"].max(), rel=1e-12)
    width = some["elbow_effort_max_contact_bw"] - some["elbow_effort_min_contact_bw"]
    assert elbow["effort_range_bw"] == pytest.approx(width.median(), rel=1e-12)
    few = contact_summary(result.motion, series, windows={"trial": inside}, min_known_share=1.01)
    assert all(math.isnan(row["peak_bw"]) for row in few)

"""Columns of the torque tables and the ledger beside the terms: conventions, powers, induced accelerations."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from demo_reach import DEMO, SETTINGS, settings_with

from clustered_legs import walk_settings
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.trial import analyse_recording
from limbtorque.chain.model import Kinematics
from limbtorque.errors import SettingsError
from limbtorque.motion.limb import Limb
from limbtorque.quality.joint_shares import fit_error_share
from limbtorque.quality.metrics import torque_metrics
from limbtorque.quality.verdict import assess
from limbtorque.simulation.demo import demo_trials
from limbtorque.simulation.gait import FOOT_FLAT, HEEL_OFF, Walker, Walkway, walk_recording
from limbtorque.study.options.outputs import Convention, TorqueColumns
from limbtorque.study.settings import make_settings
from limbtorque.tables.frame_columns import (
    CONVENTION_PARTS,
    inducing_sources,
    term_columns,
    torque_columns,
)
from limbtorque.torques.joint_torques import joint_torques, torque_table

ROOT = Path(__file__).resolve().parents[2]
JOINTS, SEGMENTS = ("shoulder", "elbow", "wrist"), ("upper_arm", "forearm", "hand")
ALL = {"columns": str([*get_args(Convention), "power", "induced_accelerations"])}
SPRING = replace(demo_trials()[2], gaps=())
ROUNDING = 1e-9  # N m, W or m/s^2: sums of some ten numbers of up to 1e3, and inverses of matrices of condition 1e3


def motion_of(demo, recording=None, **changes):
    limb = Limb("arm", side=demo.side, body_mass_kg=demo.arm.body_mass_kg, prefix=demo.prefix, load=demo.load)
    return chain_motion(
        demo.recording(noise_m=0.0) if recording is None else recording,
        replace(limb, marker_set="limb_markers"),
        settings_with(plane__kind="horizontal" if demo.horizontal else "sagittal", **changes),
    )


@pytest.fixture(scope="module")
def result():
    """A fast reach against a spring, with every column there is."""
    return analyse_recording(
        SPRING.recording(noise_m=0.0),
        Limb("arm", side="right", body_mass_kg=72.0, load="spring"),
        settings_with(**{f"torques__{name}": value for name, value in ALL.items()}),
    )


@pytest.fixture(scope="module")
def table(result):
    return result.torque_table.to_pandas()


# --- conventions -----------------------------------------------------------------------------------------------------


def parts_of(table, joint, convention):
    return {part: table[f"{joint}_torque_{convention}_{part}_nm"] for part in CONVENTION_PARTS[convention]}


@pytest.mark.parametrize("joint", JOINTS)
def test_every_convention_sums_to_the_net_torque_of_its_joint(table, joint):
    net = table[f"{joint}_torque_nm"]
    left = parts_of(table, joint, "torque_equation")
    np.testing.assert_allclose(sum(left.values()), net, atol=ROUNDING)
    right = parts_of(table, joint, "motion_equation")
    np.testing.assert_array_equal(right.pop("applied"), net)
    inertia = right.pop("inertia")
    np.testing.assert_allclose(inertia - sum(right.values()), net, atol=ROUNDING)
    for convention in ("interaction", "motion_dependent"):
        parts = parts_of(table, joint, convention)
        np.testing.assert_allclose(parts["muscle"], net, atol=ROUNDING)
        own = parts.pop("net")
        np.testing.assert_allclose(sum(parts.values()), own, atol=ROUNDING)
    by_segment = [f"{joint}_torque_segment_space_{k}_{s}_nm" for k in ("inertial", "centripetal") for s in SEGMENTS]
    rest = [f"{joint}_torque_{term}_nm" for term in ("gravity", "base", "external")]
    np.testing.assert_allclose(table[by_segment + rest].sum(axis=1), net, atol=ROUNDING)


def test_conventions_are_the_terms_sorted_otherwise(table):
    """By hand from the columns of the terms, for the elbow."""
    own = table["elbow_torque_inertial_elbow_nm"]
    np.testing.assert_array_equal(table["elbow_torque_interaction_net_nm"], own)
    terms = [column.name for column in term_columns("elbow", JOINTS)]
    others = [c for c in terms if c.startswith("elbow_torque_inertial_") and c != "elbow_torque_inertial_elbow_nm"]
    moving = [c for c in terms if c.startswith(("elbow_torque_centripetal_", "elbow_torque_coriolis_"))]
    brought = -(table[others].sum(axis=1) + table[moving].sum(axis=1) + table["elbow_torque_base_nm"])
    np.testing.assert_allclose(table["elbow_torque_interaction_interaction_nm"], brought, atol=ROUNDING)
    np.testing.assert_allclose(
        table["elbow_torque_motion_equation_velocity_nm"], -table[moving].sum(axis=1), atol=ROUNDING
    )
    by_segment = table["elbow_torque_segment_space_inertial_forearm_nm"]
    np.testing.assert_array_equal(table["elbow_torque_motion_dependent_net_nm"], by_segment)
    assert np.abs(own - by_segment).max() > 0.1  # relative and absolute angular acceleration are not the same


def test_generalised_torques_of_the_segments_are_differences_of_the_joints(table):
    for k, segment in enumerate(SEGMENTS):
        beyond = table[f"{JOINTS[k + 1]}_torque_nm"] if k < 2 else 0.0
        expected = table[f"{JOINTS[k]}_torque_nm"] - beyond
        np.testing.assert_allclose(table[f"{segment}_torque_segment_space_nm"], expected, atol=ROUNDING)


def test_columns_are_there_only_where_they_were_asked_for():
    plain = torque_columns(JOINTS, SEGMENTS, TorqueColumns())
    everything = torque_columns(JOINTS, SEGMENTS, TorqueColumns(columns=("interaction", "power")))
    names = [c.name for c in everything]
    assert names[: len(plain)] == [c.name for c in plain]
    assert {n.split("_torque_")[1].split("_")[0] for n in names[len(plain) :] if "_torque_" in n} == {"interaction"}
    assert not [n for n in names if "_from_" in n]


# --- energy and power ------------------------------------------------------------------------------------------------


def test_powers_are_torques_times_velocities_and_sum_to_the_change_of_energy(result, table):
    velocity = result.kinematics_table.to_pandas()
    total = table["chain_power_base_w"] + table["chain_power_external_w"]
    for joint in JOINTS:
        terms = [c for c in table if c.startswith(f"{joint}_power_") and c != f"{joint}_power_w"]
        assert len(terms) == 12
        np.testing.assert_allclose(table[terms].sum(axis=1), table[f"{joint}_power_w"], atol=ROUNDING)
        np.testing.assert_allclose(
            table[f"{joint}_power_gravity_w"],
            table[f"{joint}_torque_gravity_nm"] * velocity[f"{joint}_velocity_rad_s"],
            atol=ROUNDING,
        )
        total = total + table[f"{joint}_power_w"]
    np.testing.assert_allclose(total, table["chain_energy_rate_w"], atol=ROUNDING)
    np.testing.assert_allclose(table["chain_power_closure_w"], 0.0, atol=ROUNDING)


def quality_of(motion):
    return torque_metrics(motion, joint_torques(motion))


def test_frames_without_acceleration_are_empty_in_every_convention_and_leave_the_others_alone():
    motion = motion_of(DEMO)
    unknown = np.zeros(len(motion.time_s), dtype=bool)
    unknown[40:45] = True
    holed = with_acceleration(motion, np.nan, unknown)
    columns = TorqueColumns(columns=(*get_args(Convention), "power", "induced_accelerations"))
    whole, found = (torque_table(each, joint_torques(each), options=columns).to_pandas() for each in (motion, holed))
    for convention in get_args(Convention):
        names = [name for name in whole if f"_torque_{convention}_" in name]
        assert found.loc[unknown, names].isna().all().any(), convention  # what needs the acceleration
        np.testing.assert_array_equal(found.loc[~unknown, names], whole.loc[~unknown, names])
    for name in ("elbow_torque_nm", "elbow_power_w", "elbow_acceleration_from_gravity_rad_s2"):
        np.testing.assert_array_equal(found[name][~unknown], whole[name][~unknown])


def with_acceleration(motion, factor, frames):
    """Change the accelerations of some frames, and nothing else."""
    moved = motion.kinematics
    factors = np.where(frames, factor, 1.0)[:, None]
    return replace(motion, kinematics=replace(moved, acceleration_rad_s2=factors * moved.acceleration_rad_s2))


def test_energy_metric_is_of_the_judged_frames_that_have_a_rate_and_no_edge_effects():
    """Wrong accelerations change the metric where they stand in a judged frame, and in no other.

    The rate of the energy is an eighth-order difference: four frames at each end have none.
    """
    motion = motion_of(DEMO)
    frames = np.arange(len(motion.time_s))
    half = frames < len(frames) // 2
    edge = (frames < 12) | (frames >= len(frames) - 12)
    motion = replace(motion, edge=edge)

    def metric(wrong, judged, edge=edge):
        bad = with_acceleration(replace(motion, edge=edge), 1.5, wrong)
        return torque_metrics(bad, joint_torques(bad), judged)["energy_rate_share"]

    good = metric(np.zeros_like(half), half)
    assert good < 0.005
    assert metric(~half | edge, half) == pytest.approx(good, abs=1e-12)
    assert metric(half & ~edge, half) > 0.02
    assert metric(half, ~half) < 0.005
    everywhere = metric(frames == 20, frames >= 0, edge=np.zeros_like(edge))  # no edges: the ends have no rate
    assert 0.0 < everywhere < np.inf
    assert np.isnan(metric(half, frames < 12))  # no judged frame at all


def test_energy_metric_is_the_rms_of_the_wrong_power_over_the_rms_of_the_rate():
    """The powers of right derivatives are the rate of the energy; wrong ones differ from it by what they add."""
    good = motion_of(DEMO)
    judged = np.arange(len(good.time_s)) % 3 == 0  # any frames
    bad = with_acceleration(good, 1.1, judged)
    rate, wrong = (joint_torques(motion).powers.total for motion in (good, bad))
    used = judged & ~good.edge & np.isfinite(rate)
    expected = np.sqrt(((wrong - rate)[used] ** 2).mean() / (rate[used] ** 2).mean())
    found = torque_metrics(bad, joint_torques(bad), judged)["energy_rate_share"]
    assert expected > 0.05
    assert found == pytest.approx(expected, rel=0.01)  # the difference of the energy has an error, too


def test_a_wrong_torque_opens_the_balance_of_powers():
    motion = motion_of(DEMO)
    torques = joint_torques(motion)
    wrong = replace(torques.terms, coriolis=1.01 * torques.terms.coriolis)
    residual = replace(torques.powers, joint=wrong.net * motion.kinematics.velocity_rad_s)
    found = torque_metrics(motion, replace(torques, powers=residual))["power_closure_w"]
    assert found > 1e-3
    assert quality_of(motion)["power_closure_w"] < 1e-10
    assert [f.check.name for f in assess({"power_closure_w": found}, SETTINGS.quality)] == ["power_closure_w"]


# --- induced accelerations -------------------------------------------------------------------------------------------


def test_induced_accelerations_add_up_to_the_measured_ones(result, table):
    kinematics = result.kinematics_table.to_pandas()
    sources = list(inducing_sources(JOINTS))
    assert len(sources) == 7
    for joint in JOINTS:
        parts = table[[f"{joint}_acceleration_from_{s}_rad_s2" for s in sources]]
        np.testing.assert_allclose(parts.sum(axis=1), kinematics[f"{joint}_acceleration_rad_s2"], atol=ROUNDING)
    h = 1.0 / 100.0
    for axis in "xy":
        parts = table[[f"endpoint_acceleration_from_{s}_{axis}_m_s2" for s in sources]].sum(axis=1)
        x = kinematics[f"endpoint_position_{axis}_m"].to_numpy()
        second = (-x[:-4] + 16 * x[1:-3] - 30 * x[2:-2] + 16 * x[3:-1] - x[4:]) / (12.0 * h**2)
        # the same differences of the position itself: both err by h^4 / 90 of its sixth derivative, (2 pi 3 Hz)^6 0.3 m
        np.testing.assert_allclose(parts[2:-2], second, atol=2.0 * h**4 / 90.0 * (2 * np.pi * 3.0) ** 6 * 0.3)


def test_induced_accelerations_of_a_leg_on_the_ground_hold_its_foot():
    """They add up, and where the foot stands flat nothing is left that neither a torque, gravity nor motion explains."""
    walker = Walker()
    walkway = Walkway(plates_m=((walker.stride_m + 0.1, -0.2),))
    made = walk_recording(walker, walkway, duration_s=1.6 * walker.stride_s, first_strike_s=0.1)
    settings = walk_settings(
        filter={"cutoff_hz": 8.0}, torques={"columns": ["induced_accelerations"]}, muscles={"enabled": False}
    )
    limb = Limb("leg", side="right", body_mass_kg=walker.mass_kg, marker_set="walk")
    found = analyse_recording(made, limb, settings)
    parts, kinematics = found.torque_table.to_pandas(), found.kinematics_table.to_pandas()
    since_strike = parts["time_s"] - (0.1 + walker.stride_s)
    flat = (since_strike > 0.05 + FOOT_FLAT * walker.stride_s) & (since_strike < HEEL_OFF * walker.stride_s - 0.05)
    assert flat.sum() > 3
    for joint in ("hip", "knee", "ankle"):
        of_joint = parts[[f"{joint}_acceleration_from_{s}_rad_s2" for s in inducing_sources(("hip", "knee", "ankle"))]]
        expected = kinematics[f"{joint}_acceleration_rad_s2"]
        np.testing.assert_allclose(of_joint.sum(axis=1, skipna=False)[flat], expected[flat], atol=1e-9)
        assert of_joint[flat].iloc[:, -1].abs().max() < 0.01 * of_joint[flat].abs().max().max()


# --- rigid chain -----------------------------------------------------------------------------------------------------


def test_a_rigid_chain_keeps_its_lengths_and_finds_the_true_ones_without_noise():
    motion = motion_of(DEMO, motion__angles="rigid_chain", filter__method="none")
    lengths = np.linalg.norm(np.diff(motion.joint_m, axis=1), axis=2)
    np.testing.assert_allclose(lengths, np.broadcast_to(DEMO.arm.length_m, lengths.shape), atol=1e-12)
    np.testing.assert_allclose(motion.chain.length_m, DEMO.arm.length_m, atol=1e-12)
    assert motion.metrics["chain_fit_m"] < 1e-12
    plain = motion_of(DEMO, motion__angles="segments", filter__method="none")
    np.testing.assert_allclose(motion.kinematics.angle_rad, plain.kinematics.angle_rad, atol=1e-12)
    assert "chain_fit_m" not in plain.metrics


def test_a_chain_that_is_not_rigid_is_flagged():
    """The elbow markers wander along the arm by 5 cm."""
    recording = DEMO.recording(noise_m=0.0)
    moved = recording.markers_m.copy()
    wander = 0.05 * np.sin(2 * np.pi * 1.0 * np.arange(len(moved)) / 100.0)
    along = moved[:, 1:3].mean(axis=1) - moved[:, 0]
    moved[:, 1:3] += (wander[:, None] * along / np.linalg.norm(along, axis=1, keepdims=True))[:, None]
    motion = motion_of(DEMO, replace(recording, markers_m=moved), motion__angles="rigid_chain")
    shares = fit_error_share(motion, joint_torques(motion), np.ones(len(motion.time_s), dtype=bool))
    flags = [flag.check.name for flag in assess({}, SETTINGS.quality, {"fit_error_share": shares})]
    assert "fit_error_share" in flags


def exact_motion(demo):
    """The demo's movement without noise and filter, with derivatives that are exact between the onsets."""
    return motion_of(demo, filter__method="none", differentiation__accuracy=8, motion__angles="segments")


def test_a_resting_arm_is_not_flagged_for_its_noise():
    """Differences of noise have no relation to each other; below 0.1 W nothing moves."""
    demo = replace(demo_trials()[3], gaps=())
    recording = demo.recording(noise_m=0.001)
    resting = replace(recording, markers_m=recording.markers_m[:50])
    assert quality_of(motion_of(demo, resting))["energy_rate_share"] < 0.05


def test_a_fast_movement_with_right_derivatives_is_not_flagged():
    """5 Hz at 50 frames a second, derivatives exact: what is left is the difference of the energy, eighth order at 10 Hz:
    (2 pi 10 / 50)^8 / 630 = 0.01."""
    motion = exact_motion(replace(demo_trials()[4], gaps=()))
    t = np.arange(100) / 50.0
    pace, size = 2.0 * np.pi * 5.0, np.array([0.3, 0.3, 0.2])
    angle, velocity, acceleration = (
        size * wave[:, None] for wave in (np.sin(pace * t), pace * np.cos(pace * t), -(pace**2) * np.sin(pace * t))
    )
    frames = slice(0, 100)
    fast = replace(
        motion,
        frame=motion.frame[frames],
        time_s=t,
        rate_hz=50.0,
        joint_m=np.broadcast_to(motion.joint_m[0], (100, 4, 2)),
        kinematics=Kinematics(
            angle + np.array([0.3, 0.9, 0.1]), velocity, acceleration, base_m=motion.kinematics.base_m[0]
        ),
        **{name: getattr(motion, name)[frames] for name in ("edge", "foreshortened", "filled")},
        load=replace(
            motion.load, **{n: getattr(motion.load, n)[frames] for n in ("force_n", "point_m", "couple_nm", "status")}
        ),
    )
    assert quality_of(fast)["energy_rate_share"] < 0.02


def test_a_segment_that_leaves_the_plane_does_not_spoil_the_rigid_chain():
    """The hand turns through the perpendicular for a while: those frames are empty, the others are fitted as without."""
    recording = DEMO.recording(noise_m=0.0)
    moved = recording.markers_m.copy()
    hand = moved[:, 5] - moved[:, 3:5].mean(axis=1)
    length = np.linalg.norm(hand, axis=1, keepdims=True)
    lift = np.clip(1.5 * np.sin(np.pi * (np.arange(len(moved)) - 170) / 60.0), 0.0, 1.0)[:, None]
    lift[(np.arange(len(moved)) < 170) | (np.arange(len(moved)) > 230)] = 0.0
    across = np.array([0.0, -1.0, 0.0]) * length
    turned = hand * np.cos(lift * np.pi / 2.0) + across * np.sin(lift * np.pi / 2.0)
    moved[:, 5] = moved[:, 3:5].mean(axis=1) + turned
    out = motion_of(DEMO, replace(recording, markers_m=moved), motion__angles="rigid_chain")
    assert 0.1 < out.foreshortened.mean() < 0.6
    before = np.flatnonzero(out.foreshortened)[0] - 40
    whole = motion_of(DEMO, motion__angles="rigid_chain")
    np.testing.assert_allclose(out.kinematics.angle_rad[:before], whole.kinematics.angle_rad[:before], atol=0.02)
    assert np.isfinite(joint_torques(out).terms.net[~out.foreshortened]).all()


# --- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chain", "base", "endpoint", "external"])
def test_names_of_joints_that_columns_have_are_refused(name):
    joints, segments = [{"name": name, "landmark": "elbow_axis"}], [{"name": "x", "row": "forearm"}]
    raw = {"joints": joints, "segments": segments, "end": "y"}
    with pytest.raises(SettingsError, match=f"found {name}: columns of the tables have these names"):
        make_settings({"chains": {"own": raw}})


def test_an_option_of_a_section_is_not_written_as_one_name():
    with pytest.raises(SettingsError, match="is an option of a section"):
        make_settings({"torques.columns": []})

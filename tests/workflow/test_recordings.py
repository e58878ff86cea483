"""One study over real recordings of several laboratories, in one command; flags as a person would set them."""

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

import study_runs
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import motion_from_table
from limbtorque.quality.verdict import assess
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.study.settings import load_settings, override
from limbtorque.tables.files import read_table
from limbtorque.torques.joint_torques import joint_torques
from staged_study import TABLES, change_settings, compared_with_memory

ROOT = Path(__file__).resolve().parents[2]
JOINTS = {"leg": ("hip", "knee", "ankle"), "arm": ("shoulder", "elbow", "wrist")}
EQUATIONS = {  # of a convention: the parts, and last their sum
    "motion_equation": "velocity gravity base applied external inertia",
    "interaction": "muscle interaction gravity external net",
    "motion_dependent": "muscle gravity motion external net",
}
pytestmark = [pytest.mark.workflow, pytest.mark.slow]  # one study for all


@pytest.fixture(scope="module")
def results(recordings, tmp_path_factory):
    """Results folder of the study `tests/recordings_study`."""
    folder = tmp_path_factory.mktemp("real recordings")
    shutil.copytree(ROOT / "tests" / "recordings_study" / "config", folder / "config")
    (folder / "recordings").symlink_to(recordings)
    change_settings(folder, tables={"csv": list(TABLES)}, figures={"formats": []})
    strict = {**os.environ, "PYTHONWARNINGS": "error::RuntimeWarning"}  # a warning fails its trial
    done = subprocess.run(study_runs.command(folder), capture_output=True, text=True, timeout=600, env=strict)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "results"


@pytest.fixture(scope="module")
def ledger(results):
    return study_runs.ledger(results.parent)


def table_path(results, stage, trial):
    """Path of a trial's table."""
    return next((results / stage).glob(f"*/{trial}.parquet"))


def frames_of(results, stage, trial):
    return pyarrow.parquet.read_table(table_path(results, stage, trial)).to_pandas()


def motion_of(results, trial):
    return motion_from_table(*read_table(table_path(results, "kinematics", trial)))


def columns(start, words):
    return [f"{start}_{word}_nm" for word in words.split()]


# half of the last decimal of a file (5 of N m and W, 6 of rad/s^2) for each of up to 15 parts and their sum
TORQUE, POWER, ACCELERATION = 16 * 0.5e-5, 8 * 0.5e-5, 9 * 0.5e-6


def adds_up(table, names, total, atol):
    np.testing.assert_allclose(table[names].sum(axis=1, skipna=False), total, atol=atol)


def test_terms_powers_and_accelerations_add_up_in_every_table(results, ledger):
    """As the dictionary says, on recorded movements: from the tables alone."""
    assert len(ledger) == 16
    for trial, row in ledger.items():
        assert row["status"] in ("ok", "caution", "rejected"), row
        assert float(row["closure_nm"]) <= 1e-9
        assert float(row["power_closure_w"]) <= 1e-8
        assert float(row["energy_rate_share"]) < 0.01
        joints = JOINTS[row["chain"]]
        whole, kinematics = (frames_of(results, stage, trial) for stage in ("torques", "kinematics"))
        known = whole[f"{joints[0]}_torque_nm"].notna()
        table, kinematics = whole[known], kinematics[known]
        assert len(table) > 60
        for joint in joints:
            torque = f"{joint}_torque"
            net = table[f"{torque}_nm"]
            sums, others = columns(torque, "inertial centripetal coriolis"), columns(torque, "gravity base external")
            single = []
            for kind in sums:
                single += (terms := [c for c in whole if c.startswith(kind.removesuffix("nm")) and c != kind])
                adds_up(whole, terms, whole[kind], TORQUE)
            assert len(single) == 9
            for terms in ([*single, *others], [*sums, *others]):
                adds_up(whole, terms, whole[f"{torque}_nm"], TORQUE)
            adds_up(table, columns(f"{torque}_torque_equation", "inertia velocity gravity base external"), net, TORQUE)
            for group, parts in EQUATIONS.items():
                *left, right = columns(f"{torque}_{group}", parts)
                adds_up(table, left, table[right], TORQUE)
            segments = [c for c in table if c.startswith(f"{torque}_segment_space_")]
            adds_up(table, [*segments, *others], net, TORQUE)
            induced = [c for c in table if c.startswith(f"{joint}_acceleration_from_")]
            assert len(induced) == 7
            adds_up(table, induced, kinematics[f"{joint}_acceleration_rad_s2"], ACCELERATION)
        powers = [*(f"{joint}_power_w" for joint in joints), "chain_power_base_w", "chain_power_external_w"]
        adds_up(table, powers, table["chain_energy_rate_w"], POWER)
        muscles = frames_of(results, "muscles", trial)
        assert len(whole) == len(muscles) > 0
        for joint in joints:
            parts = [c for c in muscles if c.startswith((f"{joint}_torque_muscle", f"{joint}_torque_reserve"))]
            adds_up(muscles, parts, whole[f"{joint}_torque_nm"], TORQUE)


def test_tables_in_memory_are_those_of_the_workflow(results):
    assert compared_with_memory(results.parent) >= 2 * 16


def test_limbs_that_leave_the_plane_are_flagged_and_others_are_not(ledger):
    """A child that turns by 90 degrees leaves any one plane; walking straight the arm keeps to the sagittal plane.

    HC044A swings the left arm little and across the body, seen from the front in the recording's own joint centres.
    A serving arm turns about its length; one child's elbow does in some frames of a turn, and then seems to bend backwards.
    """
    for trial, row in ledger.items():
        if row["condition"] == "turn":
            assert "out_of_plane_share" in row["reason"], trial
        assert "reversed_flexion_deg is" not in row["message"]  # no limb is mirrored
    for trial in ("HC030A05_right", "HC030A05_left", "HC032A03_right", "HC032A03_left"):
        assert "out_of_plane_share" not in ledger[trial]["reason"]
    assert float(ledger["HC030A05_right"]["tilt_deg"]) > 45.0  # the hand is turned inwards
    assert "tilt_deg" in ledger["HC030A05_right"]["reason"]
    told = {trial for trial, row in ledger.items() if "reversed_flexion" in row["reason"]}
    assert told == {"serve_right", "HC044A29_right"}
    assert 0.30 < float(ledger["serve_right"]["reversed_flexion_share"]) < 0.42  # of the frames with a torque


def test_a_wrong_forward_axis_is_noticed_as_a_mirrored_limb(recordings):
    settings = load_settings(ROOT / "tests" / "recordings_study" / "config" / "config.yaml")
    backwards = override(settings, {"plane.kind": "best_fit", "plane.forward_axis": "+x"}, source="test")
    motion = chain_motion(
        read_c3d(recordings / "arm_box_task" / "markers_analogs.c3d"),
        Limb("arm", side="right", body_mass_kg=60.0, marker_set="arm_lifting"),
        backwards,
    )
    assert "reversed_flexion_deg" in [flag.check.name for flag in assess(motion.metrics, backwards.quality)]


def status_of(motion):
    """Status of the load by frame."""
    return dict(zip(motion.frame.tolist(), motion.load.status.tolist(), strict=True))


def test_the_right_foot_uses_plate_1_and_its_first_stance_has_no_plate(results, ledger):
    """By hand: the right heel is down at x = 0.63 m from frame 665 of 1249 on, plate 1 begins at 0.665 m and carries it to
    frame 812; before, the foot stands on the floor until it leaves it near frame 570.

    Plantarflexion rises to 1.2-1.9 N m/kg in late stance (Winter 2009, fast walking), and there is no other peak.
    """
    row = ledger["walking2_right"]
    assert "plate 1 frames" in row["notes"]
    motion = motion_of(results, "walking2_right")
    status = status_of(motion)
    assert all(status[frame] == 2 for frame in range(424, 560))
    assert all(status[frame] == 0 for frame in range(600, 630))
    assert all(status[frame] == 1 for frame in range(675, 805))
    assert "unmeasured_share" in row["reason"]  # without a window the share is that of the whole trial
    ankle = joint_torques(motion).terms.net[:, 2]
    peak = np.nanargmin(ankle)
    assert 745 <= motion.frame[peak] <= 800
    assert 1.2 < -ankle[peak] / 66.0 < 1.9


def test_the_left_foot_only_half_on_plate_2_is_not_computed(results, ledger):
    """By hand: the left heel stands at x = -0.16 m, plate 2 begins at 0: it measures the forefoot only."""
    row = ledger["walking2_left"]
    motion = motion_of(results, "walking2_left")
    status = status_of(motion)
    assert all(status[frame] == 2 for frame in range(548, 688))
    assert all(status[frame] == 0 for frame in range(480, 520))
    assert 1 not in status.values()
    assert "unmeasured_share" in row["reason"]  # without a window the share is that of the whole trial
    torque = joint_torques(motion).terms.net
    assert np.isnan(torque[motion.load.status == 2]).all()
    assert not np.isnan(torque[motion.load.status == 0]).any()


def test_the_base_term_matters_in_swing_and_in_the_serve(results):
    for trial, at_least in (("walking2_right", 5.0), ("serve_right", 1.0)):
        motion = motion_of(results, trial)
        swing = (motion.load.status == 0) & ~motion.edge & ~motion.foreshortened
        still = replace(motion, kinematics=replace(motion.kinematics, base_acceleration_m_s2=np.zeros(2)))
        moving, fixed = (joint_torques(one).terms.net for one in (motion, still))
        assert np.abs(moving - fixed)[swing][:, 0].max() > at_least


def test_the_serve_that_leaves_the_plane_has_empty_frames(results, ledger):
    assert "foreshortened_share" in ledger["serve_right"]["reason"]
    assert ledger["serve_right"]["rejected_joints"] == "shoulder elbow wrist"
    motion = motion_of(results, "serve_right")
    assert np.isnan(joint_torques(motion).terms.net[motion.foreshortened]).all()
    assert np.nanmax(np.abs(np.degrees(motion.kinematics.angle_rad))) < 180.0
    assert 0.05 < motion.foreshortened.mean() < 0.3


def test_gaps_exchanged_labels_and_spikes_are_told_where_they_are_and_nowhere_else(ledger):
    """By hand: in frame 745 of the serve finger and wrist, around 196 elbow and upper arm; none else (docs/recordings.md)."""
    for trial, row in ledger.items():
        assert float(row["swapped_frames"]) == 0.0, trial  # both of the serve are in frames without a torque
        assert ("swapped_frames" in row["notes"]) == (trial == "serve_right")
        assert ("spikes (marker, frames)" in row["notes"]) == (
            trial in ("serve_right", "walking2_left", "walking2_right")
        )
    assert "Derrick:RELB and Derrick:RUPA 196, Derrick:RFIN and Derrick:RWRA 745" in ledger["serve_right"]["notes"]
    assert float(ledger["box_right"]["max_unfilled_gap_s"]) == pytest.approx(0.32)
    assert "longest part without gaps analysed" in ledger["box_right"]["notes"]


def test_noise_and_plates_of_real_recordings_raise_no_flag(ledger):
    """The children's files were smoothed before, the others have 0.03 to 0.4 mm; plates drift by less than 1 N."""
    for trial, row in ledger.items():
        assert float(row["noise_m"]) < (1e-6 if row["condition"] in ("straight", "turn") else 5e-4), trial
        assert not {"noise_m", "plate_drift_n", "plate_saturated_share"} & set(row["reason"].split())
    assert float(ledger["walking2_right"]["plate_drift_n"]) < 1.0
    assert "this foot (right)" in ledger["walking2_right"]["notes"]


def test_every_output_can_be_traced(results, recordings):
    kept = json.loads((results / "provenance.json").read_text(encoding="utf-8"))
    file = recordings / "cohort" / "HC030A" / "Straight" / "HC030A05.c3d"
    assert kept["trials"]["HC030A05_left"]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert str(Path.home()) not in json.dumps(kept)

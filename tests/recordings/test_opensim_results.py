"""Files that OpenSim computed are no recordings: refused with their contents and what to give instead."""

import numpy as np
import pytest

import text_files
from limbtorque.errors import ReadError
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording

METRES = ReadOptions(length_unit="m")
GIVE = "results of OpenSim, not a recording: use the markers it was computed from"
REACTION = [f"walker_knee_r_on_tibia_r_in_tibia_r_{q}{axis}" for q in "fmp" for axis in "xyz"]
STATES = [f"/jointset/hip_r/hip_flexion_r/{what}" for what in ("value", "speed")]
STATES += [f"/forceset/soleus_r/{what}" for what in ("activation", "fiber_length")]
IK = [
    "pelvis_tilt",
    "pelvis_list",
    "pelvis_tx",
    "pelvis_ty",
    "pelvis_tz",
    "hip_flexion_r",
    "knee_angle_r",
    "lumbar_rotation",
]
BODIES = [f"{body}_{axis}" for body in ("pelvis", "femur_r") for axis in ("x", "y", "z", "Ox", "Oy", "Oz")]
POINTS = [f"point_{axis}" for axis in ("tx", "ty", "tz")] + [f"soleus_{k}_reserve" for k in range(8)]


def write(path, title, names):
    values = 0.1 + 0.01 * np.arange(20.0)[:, None] * np.arange(1, len(names) + 1)
    rows = ["\t".join([f"{0.01 * k:.2f}", *(f"{v:.4f}" for v in row)]) for k, row in enumerate(values)]
    head = f"{title}\nversion=1\nnRows=20\nnColumns={len(names) + 1}\ninDegrees=no\nendheader\n"
    path.write_text(head + "\n".join(["\t".join(["time", *names]), *rows, ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("title", "names", "kind"),
    [
        ("Joint Reaction Loads", REACTION, "the first line is 'Joint Reaction Loads'"),
        ("UNKNOWN", REACTION, f"columns such as {REACTION[0]!r}"),
        ("ModelStates", STATES, "the first line is 'ModelStates'"),
        ("states", STATES, "the first line is 'states'"),
        ("a.sto", STATES, "columns such as "),
        ("Coordinates", IK, "the first line is 'Coordinates'"),
        ("subject01_walk1_ik", IK, "columns such as "),
        (
            "ModelForces",
            ["soleus_r", "hip_reserve", "calcn_r_right_px", "calcn_r_right_py", "calcn_r_right_pz"],
            "the first line is 'ModelForces'",
        ),
        ("Static Optimization", ["soleus_r", "gasmed_r"], "the first line is 'Static Optimization'"),
        ("Inverse Dynamics", ["pelvis_tilt_moment", "pelvis_tx_force"], "the first line is 'Inverse Dynamics'"),
        ("", ["knee_moment", "hip_moment"], "columns such as 'knee_moment'"),
        ("Positions", BODIES, "columns such as "),
        ("controls", ["soleus_r", "x_tx", "x_ty", "x_tz"], "the first line is 'controls'"),
        ("other", POINTS, "columns that are not positions"),
    ],
)
def test_results_are_named(tmp_path, title, names, kind):
    with pytest.raises(ReadError, match=GIVE) as raised:
        read_recording(write(tmp_path / "a.sto", title, names), METRES)
    assert kind in str(raised.value)


def test_markers_and_ground_forces_are_recordings(recordings, tmp_path):
    for name in (
        "running_opensim/grf_run.mot",
        "walk_emg_opensim/grf_walk.mot",
        "walking_opensim/std_walking2_grfs.sto",
    ):
        assert read_recording(recordings / name, METRES).force_plates
    forces = text_files.write_grf_mot(tmp_path / "a.mot")
    forces.write_text("Coordinates\n" + forces.read_text("utf-8").partition("\n")[2], "utf-8")
    assert len(read_recording(forces).force_plates) == 2
    many = write(tmp_path / "b.sto", "Positions", [f"M{k}_t{axis}" for k in range(3) for axis in "xyz"])
    assert len(read_recording(many, METRES).labels) == 3


def test_markers_of_a_model_are_a_guess(recordings):
    fitted = read_recording(recordings / "arm26" / "arm26_InverseKinematics.mot", METRES)
    assert "origin" in {finding.item for finding in fitted.audit.guesses}
    with pytest.raises(ReadError, match="fitted by inverse kinematics"):
        read_recording(recordings / "arm26" / "arm26_InverseKinematics.mot", ReadOptions(length_unit="m", strict=True))


@pytest.mark.parametrize(("title", "sure"), [("EMG of a walk", True), ("electromyography", True), ("subject01", False)])
def test_columns_of_muscles_without_a_title_are_taken_for_electromyography_by_a_guess(tmp_path, title, sure):
    """They may be computed activations, which must not be held against themselves."""
    path = write(tmp_path / "a.sto", title, ["soleus_r", "gasmed_r"])
    guesses = [guess.item for guess in read_recording(path).audit.guesses]
    assert ("electromyography" in guesses) != sure

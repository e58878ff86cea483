"""`limbtorque emg`: recordings without torques."""

import numpy as np
import pandas as pd
import pytest
from emg_signals import bursts

from c3d_files import write_c3d
from limbtorque.cli.main import main
from limbtorque.recordings.emg_channels import side_pattern
from limbtorque.study.options.muscles import Emg

N = 10000


def channels(scale=1.0):
    made = [bursts(N, [1.0, 2.2, 3.6], [1.4, 2.7, 4.1], seed=seed) for seed in range(3)]
    return scale * np.stack([*made[:2], np.zeros(N)], axis=1)


def write(path, *, scale=1.0, labels=("L Sol", "L TA", "EMG9")):
    path.parent.mkdir(parents=True, exist_ok=True)
    groups = {"ANALOG": {"LABELS": list(labels)}}
    xyz = np.full((500, 1, 3), 0.5)
    return write_c3d(path, xyz, analog=channels(scale), analog_units=["mV"] * len(labels), groups=groups)


def test_tables_and_figures_of_recordings(tmp_path, capsys):
    files = [str(write(tmp_path / name)) for name in ("a.c3d", "b.c3d")]
    assert main(["emg", *files, "--output", str(tmp_path / "out")]) == 0
    assert "'EMG9': no muscle signal" in capsys.readouterr().out
    rows = pd.read_csv(tmp_path / "out" / "emg_summary.csv")
    assert rows.recording.tolist() == ["a"] * 3 + ["b"] * 3
    assert rows.muscle.tolist()[:3] == ["left_soleus", "left_tibialis_anterior", "EMG9"]
    assert rows.offset_bonato_s[0] - rows.onset_bonato_s[0] == pytest.approx(0.5, abs=0.05)
    table = pd.read_csv(tmp_path / "out" / "a_emg.csv")
    assert table.left_soleus_envelope.max() == pytest.approx(1.0, abs=0.02)
    assert (tmp_path / "out" / "b_emg.png").stat().st_size > 10_000


def test_a_maximal_trial_normalises(tmp_path):
    trial, largest = write(tmp_path / "a.c3d"), write(tmp_path / "mvc.c3d", scale=4.0)
    assert main(["emg", str(trial), "--maximal", str(largest), "--output", str(tmp_path / "out")]) == 0
    rows = pd.read_csv(tmp_path / "out" / "emg_summary.csv")
    assert rows.peak_envelope[0] == pytest.approx(0.25, abs=0.01)
    assert rows.normalised_by[0] == "maximal trial"


def test_a_recording_without_channels_is_a_sentence(tmp_path, capsys):
    path = write(tmp_path / "a.c3d", labels=("A", "B", "C"))
    assert main(["emg", str(path), "--output", str(tmp_path / "out")]) == 1
    assert "no electromyography channel among 3 analog channels" in capsys.readouterr().err


def test_two_recordings_of_one_name_are_refused(tmp_path, capsys):
    files = [str(write(tmp_path / folder / "a.c3d")) for folder in "xy"]
    assert main(["emg", *files]) == 1
    assert "recordings with the same name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("label", "pattern"),
    [("RVL", "{S}VL"), ("sol_r", "sol_{s}"), ("Left Soleus", "{Side} Soleus"), ("LEFT TA", "{SIDE} TA"), ("Sol", "")],
)
def test_side_patterns(label, pattern):
    assert side_pattern(label) == pattern
    if pattern:
        side = "right" if label.lower().startswith("r") or label.endswith("_r") else "left"
        assert list(Emg.model_validate({"channels": {pattern: "x"}}).channels_of(side)) == [label]


COORDINATES = ["pelvis_tx", "pelvis_ty", "pelvis_tz", "hip_flexion_r", "hip_adduction_r", "knee_angle_r"]
PLATE = [f"ground_{what}{axis}" for what in ("force_v", "force_p", "torque_") for axis in "xyz"]


def write_storage(path, *, title, beside, names=("soleus_r", "tibialis_anterior_r")):
    """OpenSim table of electromyography at 2000 Hz beside other columns; it states no unit of length."""
    signals = np.stack([bursts(4000, [0.5], [1.0], seed=seed) for seed in range(len(names))], axis=1)
    values = np.column_stack([np.arange(4000) / 2000.0, np.full((4000, len(beside)), 0.3), signals])
    head = f"{title}\nnRows=4000\nnColumns={values.shape[1]}\ninDegrees=yes\nendheader"
    table = "\n".join("\t".join(f"{x:.7g}" for x in row) for row in values)
    path.write_text(f"{head}\n{chr(9).join(['time', *beside, *names])}\n{table}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("title", "beside"),
    [("Coordinates", COORDINATES), ("walk_ik", COORDINATES), ("walk", PLATE), ("walk EMG", COORDINATES[:3])],
)
def test_columns_beside_electromyography_need_no_unit_of_length(tmp_path, title, beside):
    path = write_storage(tmp_path / "walk.mot", title=title, beside=beside)
    assert main(["emg", str(path), "--output", str(tmp_path / "out")]) == 0
    rows = pd.read_csv(tmp_path / "out" / "emg_summary.csv")
    assert rows.muscle.tolist() == ["right_soleus", "right_tibialis_anterior"]  # and no adductors of hip_adduction_r
    assert rows.onset_bonato_s.tolist() == pytest.approx([0.5, 0.5], abs=0.02)  # as simulated


def test_markers_without_a_unit_do_not_stop_electromyography(tmp_path):
    xyz = np.full((500, 1, 3), 0.5)
    path = write_c3d(
        tmp_path / "a.c3d",
        xyz,
        units="",
        analog=channels(),
        analog_units=["mV"] * 3,
        groups={"ANALOG": {"LABELS": ["L Sol", "L TA", "EMG9"]}},
    )
    assert main(["emg", str(path), "--output", str(tmp_path / "out")]) == 0

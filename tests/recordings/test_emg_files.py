"""Electromyography in files without a recognised unit of length, or beside other columns."""

import numpy as np
import pytest
from emg_signals import bursts

from c3d_files import write_c3d
from limbtorque.recordings.emg_channels import emg_channels, side_pattern
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording
from limbtorque.study.options.muscles import Emg

N = 10000


def channels(scale=1.0):
    made = [bursts(N, [1.0, 2.2, 3.6], [1.4, 2.7, 4.1], seed=seed) for seed in range(3)]
    return scale * np.stack([*made[:2], np.zeros(N)], axis=1)


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
    recording = read_recording(path, ReadOptions(analog_only=True))
    found = emg_channels(recording)
    assert [channel.muscle for channel in found] == [
        "soleus",
        "tibialis_anterior",
    ]  # and no adductors of hip_adduction_r
    for seed, channel in enumerate(found):
        expected = bursts(4000, [0.5], [1.0], seed=seed)
        np.testing.assert_allclose(recording.analog[:, channel.index], expected, rtol=1e-6, atol=1e-12)


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
    assert [channel.label for channel in emg_channels(read_recording(path, ReadOptions(analog_only=True)))] == [
        "L Sol",
        "L TA",
        "EMG9",
    ]

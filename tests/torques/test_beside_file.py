"""The comparison with the results in the file: every number from a closed form, the file's curves made from ours."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from limbtorque.tables.trial_record import Window
from limbtorque.torques.summary import beside_file

N, MASS_KG = 101, 50.0
TIME_S = np.arange(N) / 100.0
WAVE = np.sin(2.0 * np.pi * TIME_S)  # one period
NO_WINDOW = Window(float("nan"), float("nan"), "no window")
OUTPUT = SimpleNamespace(
    joint="knee",
    labels={"angle": "KneeAngles", "moment": "KneeMoment", "power": "KneePower"},
    units={"angle": "deg", "moment": "Nmm/kg", "power": "W/kg"},
    per_kg=True,
    angle_sign=1,
    moment_sign=-1,
    convention=lambda kind: f"convention of {kind}",
)


def rows(theirs, *, sign=-1.0, edge=None, window=NO_WINDOW, output=OUTPUT, zero_rad=0.3):
    """Rows by quantity; the file's angle, torque and power are as in `theirs`, ours a wave of each, in joint coordinates."""
    motion = SimpleNamespace(
        edge=np.zeros(N, dtype=bool) if edge is None else edge,
        time_s=TIME_S,
        joints=("hip", "knee"),
        flexion=SimpleNamespace(sign=np.array([1.0, sign]), zero_rad=np.array([9.0, zero_rad])),
        kinematics=SimpleNamespace(angle_rad=np.stack([np.full(N, 7.0), zero_rad + sign * 0.5 * WAVE], axis=1)),
    )
    torques = SimpleNamespace(
        terms=SimpleNamespace(net=np.stack([np.full(N, 7.0), sign * 100.0 * WAVE], axis=1)),
        powers=SimpleNamespace(joint=np.stack([np.full(N, 7.0), 200.0 * WAVE], axis=1)),
    )
    columns = {
        "knee_file_angle_rad": zero_rad + sign * theirs["angle"],
        "knee_file_torque_nm": sign * theirs["torque"],
        "knee_file_power_w": theirs["power"],
    }
    table = pa.table({name: np.asarray(values, dtype=float) for name, values in columns.items()})
    found = beside_file(motion, torques, table, [output], window=window, mass_kg=MASS_KG)
    assert [row["joint"] for row in found] == ["knee"] * 3
    return {row["quantity"]: row for row in found}


OURS = {"angle": 0.5 * WAVE, "torque": 100.0 * WAVE, "power": 200.0 * WAVE}
SIZE = {"angle": np.degrees(0.5), "torque": 2.0, "power": 4.0}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_same_curves_agree(sign):
    for quantity, row in rows(OURS, sign=sign).items():
        assert row["n_frames"] == N
        assert (row["start_s"], row["end_s"]) == (0.0, 1.0)
        assert row["r"] == pytest.approx(1.0)
        assert row["rms"] == pytest.approx(0.0, abs=1e-12)
        assert row["peak"] == row["file_peak"] == pytest.approx(SIZE[quantity])
        assert row["peak_ratio"] == pytest.approx(1.0)


def test_differences_are_in_degrees_and_per_kilogram():
    """Theirs are ours halved and an offset: r is 1, the mean difference the offset, rms^2 the sum of both squares."""
    found = rows({name: 0.5 * values + 0.1 for name, values in OURS.items()})
    scale = {"angle": np.degrees(1.0), "torque": 1.0 / MASS_KG, "power": 1.0 / MASS_KG}
    for quantity, row in found.items():
        offset, half = -0.1 * scale[quantity], 0.5 * SIZE[quantity]
        assert row["r"] == pytest.approx(1.0)
        assert row["mean_difference"] == pytest.approx(offset)
        assert row["rms"] ** 2 == pytest.approx(offset**2 + half**2 * (WAVE**2).mean())
        assert row["file_peak"] == pytest.approx(half - offset)
        assert row["peak_ratio"] == pytest.approx(SIZE[quantity] / (half - offset))
        assert row["unit"] == {"angle": "deg", "torque": "N m/kg", "power": "W/kg"}[quantity]


def test_the_correlation_of_waves_of_two_frequencies():
    """Sines of one and of two periods are uncorrelated: with their sum, r is 1 / sqrt(2), and -1 / sqrt(2) against it."""
    other = np.sin(4.0 * np.pi * TIME_S)
    for sign in (1.0, -1.0):
        for row in rows({name: sign * values.max() * (WAVE + other) for name, values in OURS.items()}).values():
            assert row["r"] == pytest.approx(sign / np.sqrt(2.0))


def test_a_peak_is_compared_in_the_direction_of_theirs():
    """The file's largest value is negative: the least of ours belongs to it, even where our largest is greater."""
    theirs = {name: values - 0.2 * values.max() for name, values in OURS.items()}
    for quantity, row in rows(theirs).items():
        assert row["file_peak"] == pytest.approx(-1.2 * SIZE[quantity])
        assert row["peak"] == pytest.approx(-SIZE[quantity])
        assert row["peak_ratio"] == pytest.approx(1.0 / 1.2)


@pytest.mark.parametrize(
    ("start_s", "end_s", "frames"), [(0.2, 0.6, 41), (0.2 + 1e-9, 0.6 - 1e-9, 41), (0.201, 0.599, 39)]
)
def test_frames_of_the_window_with_both_ends(start_s, end_s, frames):
    row = rows(OURS, window=Window(start_s, end_s))["torque"]
    assert row["n_frames"] == frames
    assert row["start_s"] == pytest.approx(np.ceil(start_s * 100 - 1e-3) / 100)
    assert row["end_s"] == pytest.approx(np.floor(end_s * 100 + 1e-3) / 100)


def test_frames_near_the_ends_of_the_trial_and_unknown_ones_do_not_count():
    edge = np.zeros(N, dtype=bool)
    edge[:10] = edge[-5:] = True
    theirs = {name: values.copy() for name, values in OURS.items()}
    theirs["torque"][20:30] = np.nan
    theirs["power"][:3] = np.inf  # at the end anyway
    theirs["angle"][12] = np.inf
    found = rows(theirs, edge=edge)
    assert {quantity: row["n_frames"] for quantity, row in found.items()} == {"angle": 85, "torque": 76, "power": 86}
    assert found["power"]["start_s"] == pytest.approx(0.10)
    assert found["power"]["end_s"] == pytest.approx(0.95)


@pytest.mark.parametrize(("frames", "known"), [(9, False), (10, True)])
def test_ten_frames_are_the_fewest(frames, known):
    row = rows(OURS, window=Window(0.1, 0.1 + (frames - 1) / 100.0))["angle"]
    assert row["n_frames"] == frames
    assert np.isfinite(row["r"]) == np.isfinite(row["rms"]) == np.isfinite(row["start_s"]) == known


def test_a_constant_has_no_correlation_and_zero_no_ratio():
    found = rows({name: 0.0 * values for name, values in OURS.items()})
    for quantity, row in found.items():
        assert np.isnan(row["r"])
        assert np.isnan(row["peak_ratio"])
        assert row["file_peak"] == 0.0
        assert row["rms"] == pytest.approx(SIZE[quantity] * np.sqrt((WAVE**2).mean()))

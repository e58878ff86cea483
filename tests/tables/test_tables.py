"""Tables, their dictionary, and the way there and back."""

import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from all_columns import ALL_MUSCLES, ALL_TORQUES

from limbtorque.analysis.trial import analyse_recording
from limbtorque.chain.model import Kinematics
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import kinematics_table, motion_constants, motion_from_table
from limbtorque.quality.checks import CHECKS
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.recording import Audit, Event, Finding
from limbtorque.study.chains import ARM
from limbtorque.study.settings import load_settings
from limbtorque.tables import files
from limbtorque.tables.column import Column
from limbtorque.tables.files import (
    column_array,
    column_values,
    csv_pieces,
    make_table,
    read_table,
    rounded_table,
    table_of_rows,
    write_table,
)
from limbtorque.tables.frame_columns import kinematics_columns, term_columns, torque_columns
from limbtorque.tables.ledger_columns import LEDGER_COLUMNS
from limbtorque.tables.muscle_columns import MuscleEntry, muscle_columns
from limbtorque.tables.study_columns import MEASURED, MUSCLE_SUMMARY_COLUMNS, SUMMARY_COLUMNS
from limbtorque.tables.trial_record import RecordingFacts, TrialRecord
from limbtorque.torques.joint_torques import used_frames
from limbtorque.torques.summary import study_rows, torque_summary

ROOT = Path(__file__).resolve().parents[2]
JOINTS, SEGMENTS = ("shoulder", "elbow", "wrist"), ("upper_arm", "forearm", "hand")


@pytest.fixture(scope="module")
def result():
    return analyse_recording(
        read_c3d(ROOT / "data" / "demo" / "S02_horizontal_fast.c3d"),
        Limb("arm", side="left", body_mass_kg=58.5),
        load_settings(ROOT / "config" / "config.yaml").model_copy(
            update={
                "plane": load_settings(ROOT / "config" / "config.yaml").plane.model_copy(update={"kind": "horizontal"})
            }
        ),
    )


def test_every_column_has_a_unit_a_definition_and_a_name_that_ends_in_its_unit():
    endings = {"s": "_s", "N m": "_nm", "N": "_n", "m": "_m", "rad": "_rad", "rad/s": "_rad_s", "W": "_w", "J": "_j"}
    everything = [
        *kinematics_columns(JOINTS, SEGMENTS),
        *torque_columns(JOINTS, SEGMENTS, ALL_TORQUES),
        *muscle_columns(JOINTS, SEGMENTS, [MuscleEntry("BRA", ("elbow",), length=True, fibres=True)], ALL_MUSCLES),
        *MUSCLE_SUMMARY_COLUMNS,
        *SUMMARY_COLUMNS,
        *LEDGER_COLUMNS,
    ]
    metrics = {check.name for check in CHECKS}  # sizes
    for column in everything:
        assert column.definition
        assert (column.unit == "") == (column.kind is str), column
        if column.unit in endings:
            assert column.name.endswith(endings[column.unit]), column
        if (
            column.unit == "N m"
            and column.name.endswith("_nm")
            and "rms" not in column.name
            and column.name not in metrics
        ):
            assert column.sign, column


def test_terms_of_a_three_link_chain_are_the_twelve_of_the_paper():
    names = [column.name for column in term_columns("elbow", JOINTS)]
    assert names == [
        *(f"elbow_torque_inertial_{joint}_nm" for joint in JOINTS),
        *(f"elbow_torque_centripetal_{joint}_nm" for joint in JOINTS),
        "elbow_torque_coriolis_shoulder_elbow_nm",
        "elbow_torque_coriolis_shoulder_wrist_nm",
        "elbow_torque_coriolis_elbow_wrist_nm",
        "elbow_torque_gravity_nm",
        "elbow_torque_base_nm",
        "elbow_torque_external_nm",
    ]


def test_motion_survives_its_table(result, tmp_path):
    path = tmp_path / "x.parquet"
    record = TrialRecord("x", metrics=result.motion.metrics, motion=motion_constants(result.motion))
    write_table(kinematics_table(result.motion), path, record=record)
    table, found = read_table(path)
    back = motion_from_table(table, found)
    assert found.trial == "x"
    assert back.metrics == pytest.approx(result.motion.metrics, nan_ok=True, abs=0.0, rel=0.0)
    for name in ("joint_m", "time_s"):
        np.testing.assert_array_equal(getattr(back, name), getattr(result.motion, name))
    for field in fields(Kinematics):
        np.testing.assert_array_equal(
            getattr(back.kinematics, field.name), getattr(result.motion.kinematics, field.name)
        )
    np.testing.assert_array_equal(back.chain.inertia_kgm2, result.motion.chain.inertia_kgm2)
    np.testing.assert_array_equal(back.flexion.sign, result.motion.flexion.sign)
    np.testing.assert_array_equal(back.plane.axes, result.motion.plane.axes)


def test_csv_and_parquet_hold_the_same_numbers(result, tmp_path):
    import pandas as pd

    write_table(result.torque_table, tmp_path / "x.csv")
    read = pd.read_csv(tmp_path / "x.csv")
    np.testing.assert_array_max_ulp(
        read.to_numpy(dtype=float), result.torque_table.to_pandas().to_numpy(dtype=float), 1
    )


def test_files_of_trials_hold_the_decimals_of_the_unit(result, tmp_path):
    """Half of the last decimal of a unit at most; the terms of a joint then add up to its net torque as closely."""
    import pandas as pd

    table, held = result.torque_table, rounded_table(result.torque_table)
    write_table(table, tmp_path / "x.csv", rounded=True)
    write_table(table, tmp_path / "x.parquet", rounded=True)
    assert read_table(tmp_path / "x.parquet")[0].equals(held)
    printed = pd.read_csv(tmp_path / "x.csv", dtype=str, keep_default_na=False)
    for ending, decimals in (("torque_nm", 5), ("power_w", 5), ("reaction_y_n", 4)):
        name = f"elbow_{ending}"
        known, half = column_array(table, name)[:, 0], 0.5 * 10.0**-decimals
        assert np.abs(column_array(held, name)[:, 0] - known).max() <= half
        assert np.abs(printed[name].astype(float) - known).max() <= half * (1.0 + 1e-9)
        assert max(len(cell.partition(".")[2]) for cell in printed[name]) == decimals
    terms = [column.name for column in term_columns("elbow", ("shoulder", "elbow", "wrist"))]
    sums = column_array(held, *terms).sum(axis=1) - column_array(held, "elbow_torque_nm")[:, 0]
    assert np.abs(sums).max() <= 0.5e-5 * (len(terms) + 1)
    np.testing.assert_array_equal(column_array(held, "time_s"), column_array(table, "time_s"))


def test_missing_numbers_are_empty_cells(tmp_path):
    table = make_table([Column("a_m", "m", "x"), Column("b_m", "m", "y")], {"a_m": [1.0, math.nan], "b_m": [-0.0, 2.0]})
    write_table(table, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == '"a_m","b_m"\n1,0\n,2\n'


def summary_of(motion, torques, *, inside=None, min_known_share=0.5):
    """Rows of the summary over some frames; over all of them where these are not given."""
    windows = {"trial": np.ones(len(motion.time_s), dtype=bool) if inside is None else inside}
    return torque_summary(motion, torques, windows=windows, min_known_share=min_known_share)


def test_summary_of_the_left_arm_is_that_of_its_torque_table(result):
    rows = {(row["joint"], row["term"]): row for row in summary_of(result.motion, result.torques)}
    elbow = result.torque_table.to_pandas()
    used = elbow["edge"] == 0
    net = elbow.loc[used, "elbow_torque_nm"].to_numpy()
    row = rows["elbow", "net"]
    assert row["peak_nm"] == net[np.abs(net).argmax()]
    assert row["peak_time_s"] == elbow.loc[used, "time_s"].to_numpy()[np.abs(net).argmax()]
    times = elbow.loc[used, "time_s"].to_numpy()
    assert (row["max_nm"], row["max_time_s"]) == (net.max(), times[net.argmax()])
    assert (row["min_nm"], row["min_time_s"]) == (net.min(), times[net.argmin()])
    assert row["used_share"] == used.mean()
    assert (row["loaded_share"], row["peak_at_gap"]) == (0.0, 0)
    assert row["mean_nm"] == pytest.approx(net.mean())
    assert row["impulse_nms"] == pytest.approx(np.trapezoid(net, dx=1 / 200.0))
    power = elbow.loc[used, "elbow_power_w"].to_numpy()
    assert (row["max_power_w"], row["min_power_w"]) == (power.max(), power.min())
    assert row["positive_work_j"] == pytest.approx(np.trapezoid(np.maximum(power, 0), dx=1 / 200.0))
    assert row["n_frames"] == used.sum()


def test_the_loaded_share_counts_frames_of_a_known_load(result):
    """Every third frame is loaded; in the next one the ground bears a force that no plate knows."""
    status = np.resize([1, 2, 0], len(result.motion.time_s))
    motion = replace(result.motion, load=replace(result.motion.load, status=status))
    inside = np.arange(len(status)) < len(status) // 2
    used = inside & ~motion.edge
    (row, *_) = summary_of(motion, result.torques, inside=inside)
    assert row["loaded_share"] == pytest.approx((status[used] == 1).mean())
    assert row["n_frames"] == used.sum()


def turned(row):
    """Row of the study's tables where clockwise is flexion of the elbow."""
    (found,) = study_rows([{"joint": "elbow", **row}], ARM, flexion_sign={"elbow": -1.0})
    return found


def test_rows_of_the_study_are_flexion_positive_on_both_sides():
    """Clockwise is flexion: torques change their sign, the greatest becomes the least; times, powers and works stay."""
    mechanical = {column.name: float(k) for k, column in enumerate(MEASURED, start=1)}
    found = turned(mechanical)
    signed = {"peak_nm", "mean_nm", "impulse_nms"}
    assert {name for name in mechanical if found[name] == -mechanical[name]} == signed
    assert (found["max_nm"], found["min_nm"]) == (-mechanical["min_nm"], -mechanical["max_nm"])
    for time in ("time_s", "time_percent"):
        assert (found[f"max_{time}"], found[f"min_{time}"]) == (mechanical[f"min_{time}"], mechanical[f"max_{time}"])
    exchanged = {f"{name}_{end}" for name in ("max", "min") for end in ("nm", "time_s", "time_percent")}
    assert all(found[name] == mechanical[name] for name in set(mechanical) - signed - exchanged)
    assert (found["positive_is"], found["peak_sense"]) == ("flexion", "extension")
    (same,) = study_rows([{"joint": "elbow", **mechanical}], ARM, flexion_sign={"elbow": 1.0})
    assert all(same[name] == mechanical[name] for name in mechanical)


def test_limits_turn_with_their_statistic():
    """From 2 to 8 counter-clockwise is from -8 to -2 where clockwise is flexion; of the maximum, they are the minimum's."""
    limits = {"peak_nm": 5.0, "peak_low_nm": 2.0, "peak_high_nm": 8.0, "max_sd_nm": 1.0, "min_sd_nm": 3.0}
    limits |= {"max_low_nm": 2.0, "max_high_nm": 8.0, "min_low_nm": -7.0, "min_high_nm": -5.0, "peak_time_low_s": 0.1}
    found = turned(limits)
    assert (found["peak_low_nm"], found["peak_high_nm"]) == (-8.0, -2.0)
    assert (found["max_low_nm"], found["max_high_nm"], found["max_sd_nm"]) == (5.0, 7.0, 3.0)
    assert (found["min_low_nm"], found["min_high_nm"], found["min_sd_nm"]) == (-8.0, -2.0, 1.0)
    assert found["peak_time_low_s"] == 0.1


def test_a_peak_next_to_an_unused_frame_is_marked(result):
    """The torques rise up to a gap: the largest known value is the one before it, and the values in the gap are not known."""
    motion, torques = result.motion, result.torques
    top = int(np.abs(np.where(used_frames(motion, torques), torques.terms.net[:, 0], 0.0)).argmax())
    rows = {(row["joint"], row["term"]): row for row in summary_of(motion, torques)}
    assert rows["shoulder", "net"]["peak_at_gap"] == 0
    edge = motion.edge.copy()
    edge[top + 1 : top + 4] = True
    rows = {(r["joint"], r["term"]): r for r in summary_of(replace(motion, edge=edge), torques)}
    assert rows["shoulder", "net"]["peak_time_s"] == motion.time_s[top]
    assert rows["shoulder", "net"]["peak_at_gap"] == 1


def test_extremes_beside_unused_frames_have_no_outer_limit(result):
    """The elbow's torque still rises where the known frames end: the maximum is the last of them, the minimum is in the middle."""
    motion, torques = result.motion, result.torques
    net, used = torques.terms.net[:, 1], np.flatnonzero(used_frames(motion, torques))
    top, lowest = used[net[used].argmax()], used[net[used].argmin()]
    cut = top - 5  # the minimum comes 0.16 s before the maximum
    edge = np.ones(len(net), dtype=bool)
    edge[lowest - 10 : cut + 1] = False
    rows = summary_of(replace(motion, edge=edge), torques, min_known_share=0.01)
    (row,) = (r for r in rows if (r["joint"], r["term"]) == ("elbow", "net"))
    assert (row["peak_at_gap"], row["max_at_gap"], row["min_at_gap"]) == (0, 1, 0)
    limits = {f"{name}_{end}_nm": 1.0 for name in ("peak", "max", "min") for end in ("low", "high")}
    for sign, outer in ((1.0, {"max_high_nm"}), (-1.0, {"min_low_nm"})):
        (found,) = study_rows([{**row, **limits}], ARM, flexion_sign={"elbow": sign})
        assert {name for name in limits if np.isnan(found[name])} == outer
        assert (found["max_at_gap"], found["min_at_gap"]) == ((1, 0) if sign > 0.0 else (0, 1))
    (found,) = study_rows([{**row, **limits, "peak_at_gap": 1}], ARM, flexion_sign={"elbow": 1.0})
    assert np.isnan(found["peak_low_nm"])  # the peak is negative: the minimum


def test_a_summary_is_of_the_frames_of_its_window(result):
    """The largest torque of the trial is outside; next to the window's last frame the torque is known, which is no gap."""
    motion, torques = result.motion, result.torques
    net = np.where(used_frames(motion, torques), torques.terms.net[:, 1], 0.0)
    top = int(np.abs(net).argmax())
    inside = np.arange(len(net)) < top
    (row,) = (r for r in summary_of(motion, torques, inside=inside) if (r["joint"], r["term"]) == ("elbow", "net"))
    assert row["peak_nm"] == net[:top][np.abs(net[:top]).argmax()] != net[top]
    used = used_frames(motion, torques) & inside
    assert (row["n_frames"], row["used_share"]) == (used.sum(), used.sum() / top)
    assert row["impulse_nms"] == pytest.approx(np.trapezoid(torques.terms.net[used, 1], dx=1 / 200.0))
    assert row["peak_at_gap"] == 0


def test_a_window_of_too_few_known_frames_has_no_statistics_but_its_share(result):
    motion, torques = result.motion, result.torques
    used = used_frames(motion, torques)
    share = float(used.mean())
    for least, empty in ((share, False), (np.nextafter(share, 1.0), True)):
        for row in summary_of(motion, torques, min_known_share=least):
            assert (row["n_frames"], row["used_share"]) == (used.sum(), share)
            names = [column.name for column in MEASURED if not column.name.endswith("_percent")]
            assert np.isnan([row[name] for name in names]).any() == (empty or row["peak_nm"] == 0.0)
            assert np.isnan(row["peak_nm"]) == empty
            (of_study,) = study_rows([row], ARM, flexion_sign=dict.fromkeys(result.motion.joints, -1.0))
            assert (of_study["peak_sense"] == "") == (empty or row["peak_nm"] == 0.0)


def test_a_table_in_pieces_has_the_bytes_of_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PIECE_ROWS", 2)
    columns = (Column("a_m", "m", "x"), Column("n", "1", "n", kind=int), Column("t", "", "t", kind=str))
    rows = [{"a_m": 1.5, "n": 1, "t": 'a "b", c'}, {"a_m": math.nan, "n": 2, "t": ""}, {"a_m": -0.0, "n": 3, "t": "x"}]
    write_table(table_of_rows(columns, rows), tmp_path / "whole.csv")
    with csv_pieces(tmp_path / "pieces.csv", columns) as write:
        write(rows[:2])
        write([])
        write(rows[2:])
    assert (tmp_path / "pieces.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    with csv_pieces(tmp_path / "none.csv", columns):
        pass
    assert (tmp_path / "none.csv").read_text() == '"a_m","n","t"\n'


def test_numbers_of_a_column_are_those_that_went_in(tmp_path):
    """Also of a part of a table, of several pieces, and of values that are a view into others."""
    grid = np.arange(12.0).reshape(4, 3)
    columns = (Column("a_m", "m", "x"), Column("n", "1", "n", kind=int))
    table = make_table(columns, {"a_m": grid[:, 1], "n": grid[:, 2].astype(bool)})
    assert column_values(table, "a_m").tolist() == [1.0, 4.0, 7.0, 10.0]
    assert column_values(table, "n").tolist() == [1, 1, 1, 1]
    assert column_values(table.slice(1, 2), "a_m").tolist() == [4.0, 7.0]
    assert column_values(pa.concat_tables([table, table.slice(3)]), "a_m").tolist() == [1.0, 4.0, 7.0, 10.0, 10.0]
    assert column_values(table.slice(0, 0), "a_m").shape == (0,)
    gaps = make_table(columns[:1], {"a_m": [math.nan, 1.0] * 9}).slice(1, 16)
    write_table(gaps, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().splitlines() == ['"a_m"', *["1", ""] * 8]
    with pytest.raises(ValueError, match="one dimension, not 2"):
        make_table(columns[:1], {"a_m": grid})


def test_a_record_survives_its_json(result):
    """All of it, also what cannot be a number; nothing it is made of is changed."""
    record = TrialRecord(
        "x",
        metrics={"noise_m": float("nan"), "n_frames": 3.0},
        notes=("a", "b"),
        provenance={"kinematics": {"code": "1"}},
        recording=RecordingFacts("h", events=(Event("go", "Left", 1.5),), audit=Audit((Finding("rate", "100", "Hz"),))),
        motion=motion_constants(result.motion),
        summary=({"joint": "elbow", "peak_nm": 1.0},),
    )
    text = record.to_json()
    back = TrialRecord.from_json(text)
    assert "\n" not in text
    assert back.to_json() == text == record.to_json()
    assert (back.recording, back.notes, back.summary) == (record.recording, record.notes, record.summary)
    assert back.motion.joints == list(record.motion.joints)
    assert TrialRecord.from_json("{}") == TrialRecord()


def test_a_record_takes_the_failure_of_an_earlier_stage():
    first = TrialRecord("x", status="failed", reason="read", message="cut", provenance={"kinematics": {"code": "1"}})
    later = TrialRecord("x", provenance={"torques": {"code": "2"}}).after(first)
    assert (later.failed, later.reason, later.message) == (True, "read", "cut")
    assert list(later.provenance) == ["kinematics", "torques"]
    assert not TrialRecord("x").after(TrialRecord("x")).failed


def test_columns_and_values_have_to_agree():
    with pytest.raises(ValueError, match="without values"):
        make_table([Column("a_m", "m", "x")], {"b_m": [1.0]})

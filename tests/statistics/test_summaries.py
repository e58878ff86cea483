"""The summary by condition, the workbook, and what Parquet files say of their columns."""

import csv
import datetime
import re
import time
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from limbtorque.errors import LimbtorqueError
from limbtorque.statistics.by_condition import (
    ConditionSummary,
    flexion_positive,
    known_stance_share,
    uneven_ground_forces,
)
from limbtorque.study.settings import ARM, make_settings
from limbtorque.study.study import load_study
from limbtorque.tables import workbook
from limbtorque.tables.tables import (
    CONDITION_SUMMARY_COLUMNS,
    STATISTICS,
    Column,
    long_table_writer,
    make_table,
    wide_columns,
)
from limbtorque.tables.workbook import Sheet, write_workbook
from limbtorque.workflow import keys
from limbtorque.workflow.stages import collect, curves, ensembles, kinematics, muscles, torques

ROOT = Path(__file__).resolve().parents[2]
NAMES = [column.name for column in STATISTICS]
JOINTS = [joint.name for joint in ARM.joints]


def row(subject="A", status="ok", **figures):
    """A row of the summary: all statistics are 1 but those that are given."""
    about = {"chain": "arm", "condition": "fast", "side": "right", "joint": "elbow", "term": "net"}
    return {
        **about,
        "subject": subject,
        "torque_status": status,
        "used_share": 0.5,
        "loaded_share": 0.0,
        **dict.fromkeys(NAMES, 1.0),
        **figures,
    }


def figures(rows, statistic, *, include="flagged", spread_over="trials"):
    summary = ConditionSummary(include=include, spread_over=spread_over)
    for one in rows:
        summary.add([one])
    found = summary.rows()
    assert [r["statistic"] for r in found] == NAMES
    return {r["statistic"]: r for r in found}[statistic]


# ---- by condition ----


def test_mean_spread_and_range_by_hand():
    """2, 4, 9: mean 5, squares 9 + 1 + 16, over 2."""
    found = figures([row(rms_nm=2.0), row(rms_nm=4.0), row("B", rms_nm=9.0)], "rms_nm")
    assert {name: found[name] for name in ("unit", "mean", "median", "min", "max", "n_trials", "n_subjects")} == {
        "unit": "N m",
        "mean": 5.0,
        "median": 4.0,
        "min": 2.0,
        "max": 9.0,
        "n_trials": 3,
        "n_subjects": 2,
    }
    assert found["sd"] == pytest.approx(np.sqrt(13.0))


def test_every_subject_counts_alike_where_that_is_wanted():
    """A: 2, 4; B: 9. Means 3 and 9: mean 6, sd 6 / sqrt(2)."""
    rows = [row(rms_nm=2.0), row(rms_nm=4.0), row("B", rms_nm=9.0)]
    found = figures(rows, "rms_nm", spread_over="subjects")
    assert (found["mean"], found["median"], found["min"], found["max"]) == (6.0, 6.0, 3.0, 9.0)
    assert found["sd"] == pytest.approx(6.0 / np.sqrt(2.0))
    assert (found["n_trials"], found["n_subjects"]) == (3, 2)


def test_one_trial_has_no_spread_and_none_has_nothing():
    found = figures([row(peak_time_s=0.4), row("B", peak_time_s=float("nan"))], "peak_time_s")
    assert (found["mean"], found["n_trials"], found["n_subjects"]) == (0.4, 1, 1)
    assert np.isnan(found["sd"])
    found = figures([row(rms_nm=float("nan"))], "rms_nm")
    assert np.isnan([found[name] for name in ("mean", "sd", "median", "min", "max")]).all()
    assert (found["n_trials"], found["n_subjects"]) == (0, 0)


def test_trials_of_unlike_shares_are_told():
    """The trial without a value does not count for it."""
    rows = [row(used_share=0.25), row(used_share=0.9), row("B", used_share=0.1, peak_time_s=float("nan"))]
    found = figures(rows, "peak_time_s")
    assert (found["min_used_share"], found["max_used_share"]) == (0.25, 0.9)


def test_trials_whose_stance_was_not_measured_are_left_out_where_others_was():
    """Ankle torques of -50 and -54 N m in stance, of -0.3 in a swing alone: not a mean of -35."""
    stance = [row(min_nm=-50.0, loaded_share=0.4), row(min_nm=-54.0, loaded_share=0.5)]
    found = figures([*stance, row("B", min_nm=-0.3)], "min_nm")
    assert (found["mean"], found["max"], found["n_trials"], found["n_subjects"], found["n_unloaded"]) == (
        -52,
        -50,
        2,
        1,
        1,
    )
    assert figures(stance, "min_nm")["n_unloaded"] == 0
    swing = figures([row(min_nm=-0.3), row(min_nm=-0.5)], "min_nm")
    assert (swing["mean"], swing["n_trials"], swing["n_unloaded"]) == (-0.4, 2, 0)


def test_failed_trials_never_count_and_flagged_ones_as_the_option_says():
    rows = [row(rms_nm=1.0), row(status="flagged", rms_nm=3.0), row(status="failed", rms_nm=100.0)]
    assert figures(rows, "rms_nm")["mean"] == 2.0
    assert figures(rows, "rms_nm", include="ok")["mean"] == 1.0


@pytest.mark.parametrize("spread_over", ["trials", "subjects"])
def test_peaks_of_both_senses_are_not_averaged(spread_over):
    """+5 and -4 are peaks in flexion and in extension: not a mean of 0.5. Of the power the peaks are all of one sense."""
    rows = [row(peak_nm=5.0, peak_power_w=2.0), row(peak_nm=-4.0, peak_power_w=4.0)]
    for statistic in ("peak_nm", "peak_time_s"):
        found = figures(rows, statistic, spread_over=spread_over)
        assert np.isnan([found[name] for name in ("mean", "sd", "median")]).all()
        assert found["n_trials"] == 2
    found = figures(rows, "peak_nm", spread_over=spread_over)
    assert (found["min"], found["max"]) == (-4.0, 5.0)
    assert figures(rows, "peak_power_w", spread_over=spread_over)["mean"] == 3.0
    mixed = figures([row(peak_power_w=2.0), row(peak_power_w=-4.0)], "peak_power_w", spread_over=spread_over)
    assert np.isnan(mixed["mean"])


def test_means_of_both_signs_are_averaged():
    assert figures([row(mean_nm=1.0), row(mean_nm=-2.0)], "mean_nm")["mean"] == -0.5


def test_flexion_is_positive_on_both_sides():
    """Clockwise is flexion of one of them: its torques, not its times, powers and works, change their sign.

    The greatest torque in one sense is the least in the other.
    """
    mechanical = {name: float(k) for k, name in enumerate(NAMES, start=1)}
    (found,) = flexion_positive([row(**mechanical)], {"elbow": -1.0})
    changed = {name for name in NAMES if found[name] == -mechanical[name]}
    assert changed == {"peak_nm", "mean_nm", "impulse_nms"}
    assert (found["max_nm"], found["min_nm"]) == (-mechanical["min_nm"], -mechanical["max_nm"])
    assert (found["max_time_s"], found["min_time_s"]) == (mechanical["min_time_s"], mechanical["max_time_s"])
    exchanged = {"max_nm", "min_nm", "max_time_s", "min_time_s"}
    assert all(found[name] == mechanical[name] for name in set(NAMES) - changed - exchanged)
    (same,) = flexion_positive([row(**mechanical)], {"elbow": 1.0})
    assert all(same[name] == mechanical[name] for name in NAMES)


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.floats(-1e6, 1e6)), min_size=1, max_size=12))
def test_figures_are_those_of_pandas(values):
    found = figures([row(s, rms_nm=v) for s, v in values], "rms_nm", spread_over="subjects")
    means = pd.DataFrame(values, columns=["s", "v"]).groupby("s").v.mean()
    expected = [means.mean(), means.std(), means.median(), means.min(), means.max()]
    np.testing.assert_allclose(
        [found[n] for n in ("mean", "sd", "median", "min", "max")], expected, rtol=1e-9, atol=1e-7
    )


# ---- the demo study ----

ODD = ['=1+1, "fast"', "+reach", "@home; slow"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four trials of the demo whose conditions are hard to write down, and a trial that fails."""
    folder = tmp_path_factory.mktemp("summaries") / "study"
    (folder / "config").mkdir(parents=True)
    (folder / "data").symlink_to(ROOT / "data")
    (folder / "config" / "subjects.csv").write_bytes((ROOT / "config" / "subjects.csv").read_bytes())
    text = (ROOT / "config" / "config.yaml").read_text(encoding="utf-8")
    (folder / "config" / "config.yaml").write_text(text + "\ntables:\n  xlsx: true\n", encoding="utf-8")
    with (ROOT / "config" / "trials.csv").open(encoding="utf-8") as file:
        rows = {row["trial"]: row for row in csv.DictReader(file)}
    names = (
        "S01_sagittal_fast",
        "S01_horizontal_fast",
        "S02_horizontal_fast",
        "S02_sagittal_fast",
        "S02_sagittal_slow",
    )
    chosen = [{**rows[name], "condition": ODD[0], "start_s": "", "end_s": "", "note": ""} for name in names]
    chosen[1]["condition"], chosen[3]["condition"], chosen[3]["note"] = ODD[1], ODD[2], "-seen\x07 twice"
    chosen[4] |= {"start_s": "90", "end_s": "91"}
    with (folder / "config" / "trials.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, chosen[0])
        writer.writeheader()
        writer.writerows(chosen)
    study = load_study(folder)
    stages = {"kinematics": kinematics, "torques": torques, "muscles": muscles, "curves": curves}
    for stage, module in stages.items():
        for session in study.batches:
            module.run(folder=folder, session=session, key=keys.session_key(stage, study, session))
    ensembles.run(folder=folder, key=keys.ensembles_key(study))
    collect.run(folder=folder)
    return folder


def test_every_trial_joint_and_term_has_every_statistic(folder):
    """What the summary holds of a torque and its power is what the torque table gives, over the frames not at the ends."""
    summary = pd.read_csv(folder / "results" / "summary.csv")
    assert summary.trial.nunique() == 4
    assert len(summary) == 4 * 3 * 13
    times = ["peak_time_s", "max_time_s", "min_time_s"]
    assert summary[[name for name in NAMES if name not in times]].notna().all(axis=None)
    assert all(summary[name].isna().equals(summary.peak_nm == 0.0) for name in times)
    found = summary[(summary.trial == "S02_horizontal_fast") & (summary.joint == "elbow")].set_index("term")
    frames = pd.read_csv(folder / "results" / "torques" / "S02_horizontal" / "S02_horizontal_fast.csv")
    moving = pd.read_csv(folder / "results" / "kinematics" / "S02_horizontal" / "S02_horizontal_fast.csv")
    used = frames.edge == 0
    for term, name in (("net", "elbow_torque_nm"), ("inertial_wrist", "elbow_torque_inertial_wrist_nm")):
        torque, time_s = frames.loc[used, name].to_numpy(), frames.loc[used, "time_s"].to_numpy()
        power = torque * moving.loc[used, "elbow_velocity_rad_s"].to_numpy()
        top = np.abs(torque).argmax()
        expected = [
            torque[top],
            time_s[top],
            torque.max(),
            time_s[torque.argmax()],
            torque.min(),
            time_s[torque.argmin()],
            torque.mean(),
            np.sqrt((torque**2).mean()),
            np.trapezoid(torque, time_s),
            power[np.abs(power).argmax()],
            power.max(),
            power.min(),
            np.trapezoid(np.maximum(power, 0.0), time_s),
            np.trapezoid(np.minimum(power, 0.0), time_s),
        ]
        np.testing.assert_allclose(found.loc[term, NAMES].to_numpy(dtype=float), expected, rtol=1e-9, atol=1e-12)


def test_the_summary_by_condition_has_its_columns_and_the_labels_come_back(folder):
    found = pd.read_csv(folder / "results" / "summary_by_condition.csv")
    assert list(found) == [column.name for column in CONDITION_SUMMARY_COLUMNS]
    order = "chain condition side joint term statistic unit mean sd median min max n_trials n_subjects"
    order += " min_used_share max_used_share n_unloaded"
    assert list(found) == order.split()
    assert set(found.condition) == set(ODD)
    summary = pd.read_csv(folder / "results" / "summary.csv")
    flexors = summary.positive_is.map({"flexion": 1.0, "extension": -1.0})
    assert set(flexors) == {1.0, -1.0}
    here = (
        (summary.condition == ODD[0]) & (summary.side == "left") & (summary.joint == "elbow") & (summary.term == "net")
    )
    rows = found[
        (found.condition == ODD[0]) & (found.side == "left") & (found.joint == "elbow") & (found.term == "net")
    ]
    rows = rows.set_index("statistic")
    assert rows.loc["mean_nm", "mean"] == pytest.approx((flexors * summary.mean_nm)[here].mean())
    assert rows.loc["rms_nm", "mean"] == pytest.approx(summary.rms_nm[here].mean())
    assert set(rows.n_trials) == {1}  # the other one failed
    for name in ("ensembles.csv", "windows.csv"):
        assert set(pd.read_csv(folder / "results" / name).condition) == set(ODD)
    assert set(pd.read_parquet(folder / "results" / "curves").condition) == set(ODD)


# ---- the workbook ----


def test_the_workbook_has_a_row_per_trial_what_its_columns_are_and_the_ledger(folder):
    book = openpyxl.load_workbook(folder / "results" / "summary.xlsx")
    assert book.sheetnames == ["summary", "columns", "ledger"]
    for page in book:
        assert page.freeze_panes == "B2"
        assert page.auto_filter.ref == page.dimensions
        assert page["A1"].font.bold
        assert all(8 <= page.column_dimensions[cell.column_letter].width <= 60 for cell in page[1][:5])
    wide = pd.read_excel(folder / "results" / "summary.xlsx", sheet_name="summary").set_index("trial")
    columns = pd.read_excel(folder / "results" / "summary.xlsx", sheet_name="columns").set_index("column")
    ledger = pd.read_excel(folder / "results" / "summary.xlsx", sheet_name="ledger").set_index("trial")
    assert list(columns.index) == ["trial", *wide]
    assert columns.loc["elbow_inertial_wrist_impulse_nms", "unit"] == "N m s"
    assert "integral over time" in columns.loc["elbow_inertial_wrist_impulse_nms", "definition"]
    assert "flexion positive" in columns.loc["elbow_net_peak_nm", "sign"]
    assert list(ledger.index) == list(wide.index) == [trial.name for trial in load_study(folder).trials]
    summary = pd.read_csv(folder / "results" / "summary.csv")
    for _, line in summary.iterrows():
        sign = 1.0 if line.positive_is == "flexion" else -1.0
        name = f"{line.joint}_{line.term}"
        assert wide.loc[line.trial, f"{name}_mean_nm"] == pytest.approx(sign * line.mean_nm, abs=1e-15)
        assert wide.loc[line.trial, f"{name}_rms_nm"] == pytest.approx(line.rms_nm)
    assert wide.loc["S02_sagittal_slow"].iloc[6:].isna().all()
    assert ledger.loc["S02_sagittal_slow", "status"] == "failed"
    assert wide.shape == (5, 6 + 3 * 13 * len(NAMES))


def test_text_is_never_a_formula(folder):
    book = openpyxl.load_workbook(folder / "results" / "summary.xlsx")
    cells = [cell for page in book for line in page.iter_rows() for cell in line if cell.value is not None]
    assert "f" not in {cell.data_type for cell in cells}
    odd = {cell.value: cell for cell in book["summary"]["D"]}
    for label in ODD:
        assert odd[label].data_type == "s"
        assert odd[label].quotePrefix
    assert not odd["condition"].quotePrefix
    notes = {cell.value for line in book["ledger"].iter_rows() for cell in line if isinstance(cell.value, str)}
    assert any("-seen\N{REPLACEMENT CHARACTER} twice" in note for note in notes)
    with zipfile.ZipFile(folder / "results" / "summary.xlsx") as archive:
        assert not any(b"<f>" in archive.read(name) for name in archive.namelist())


TABLE = Sheet(
    "x",
    (
        Column("name", "", "a", kind=str),
        Column("n", "1", "b", kind=int),
        Column("v_m", "m", "c"),
        Column("w_m", "m", "d"),
    ),
    ({"name": "=A1", "n": 3, "v_m": -0.0, "w_m": 1e-9}, {"name": "", "n": 4, "v_m": float("nan")}),
)


def test_cells_that_are_missing_are_empty_and_numbers_are_shown_to_their_size(tmp_path):
    write_workbook(tmp_path / "x.xlsx", [TABLE])
    page = openpyxl.load_workbook(tmp_path / "x.xlsx")["x"]
    assert [[cell.value for cell in line] for line in page.iter_rows(min_row=2)] == [
        ["=A1", 3, 0, 1e-9],
        [None, 4, None, None],
    ]
    assert [cell.number_format for cell in page[2]] == ["General", "0", "0.000", "0.00E+00"]


def test_the_workbook_has_the_same_bytes_at_another_time(tmp_path):
    write_workbook(tmp_path / "first.xlsx", [TABLE])
    time.sleep(2.1)  # zip files count in steps of two seconds
    write_workbook(tmp_path / "second.xlsx", [TABLE])
    assert (tmp_path / "first.xlsx").read_bytes() == (tmp_path / "second.xlsx").read_bytes()
    made = openpyxl.load_workbook(tmp_path / "first.xlsx").properties
    assert made.created == made.modified == datetime.datetime(1980, 1, 1)


def test_text_that_is_too_long_ends_in_an_ellipsis(tmp_path):
    write_workbook(tmp_path / "x.xlsx", [Sheet("x", TABLE.columns[:1], ({"name": "a" * 40_000},))])
    text = openpyxl.load_workbook(tmp_path / "x.xlsx")["x"]["A2"].value
    assert len(text) == 32_767
    assert text.endswith("a…")


def test_a_sheet_that_excel_does_not_take_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "LARGEST", (1000, 3))
    with pytest.raises(LimbtorqueError, match="sheet x has 3 rows and 4 columns, Excel takes 1000 and 3"):
        write_workbook(tmp_path / "x.xlsx", [TABLE])
    assert not (tmp_path / "x.xlsx").exists()


def test_columns_of_the_wide_sheet_are_joint_term_and_statistic():
    names = [column.name for column in wide_columns(JOINTS)]
    assert names[: len(NAMES)] == [f"shoulder_net_{name}" for name in NAMES]
    assert "elbow_coriolis_shoulder_wrist_positive_work_j" in names
    assert len(set(names)) == len(names) == 3 * 13 * len(NAMES)


# ---- as the page on tables says ----


def test_the_python_of_the_page_on_tables_runs(folder, monkeypatch):
    (block,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "tables.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    monkeypatch.chdir(folder)
    names = {}
    exec(block, names)
    assert names["wide"].shape == (101, 4)
    assert set(names["wide"].columns.get_level_values("condition")) == set(ODD)


def test_the_settings_of_the_page_on_tables_are_valid():
    (block,) = re.findall(
        r"```yaml\n(.*?)```", (ROOT / "docs" / "tables.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert make_settings(yaml.safe_load(block)).ensembles.end_event == "Foot Strike {side}"


# ---- Parquet ----


def test_every_parquet_file_says_unit_definition_and_sign_of_its_columns(folder):
    """The same as the data dictionary says, for pyarrow; pandas reads the numbers and is not disturbed."""
    dictionary = pd.read_csv(folder / "results" / "data_dictionary.csv", keep_default_na=False)
    dictionary = dictionary.set_index(["table", "column"])
    files = sorted((folder / "results").rglob("*.parquet"))
    assert {path.parts[-3] for path in files} == {"kinematics", "torques", "muscles", "curves"}
    for path in files:
        table = path.parts[-3]
        schema = pq.read_schema(path)
        assert schema.names
        for field in schema:
            said = {
                key.decode(): value.decode() for key, value in field.metadata.items() if not key.startswith(b"PARQUET")
            }
            assert set(said) == {"unit", "definition", "sign"}
            expected = dictionary.loc[(table, field.name)]
            assert said["unit"] == expected.unit
            assert said["definition"]
            for part in ("definition", "sign"):  # the dictionary has all definitions where trials differ
                assert said[part] in expected[part]
        assert list(pd.read_parquet(path)) == schema.names


def test_a_table_in_pieces_is_the_table(tmp_path):
    columns = (Column("name", "", "who", kind=str), Column("value", "m", "how far", "forward"))
    pieces = [make_table(columns, {"name": ["a", "b"], "value": [k, np.nan]}) for k in range(3)]
    with long_table_writer(tmp_path / "x.parquet", columns) as writer:
        for piece in pieces:
            writer.write_table(piece)
    found = pq.read_table(tmp_path / "x.parquet")
    assert found.schema.field("value").metadata[b"unit"] == b"m"
    assert found.column("name").to_pylist() == ["a", "b"] * 3
    np.testing.assert_array_equal(found.column("value").to_numpy(), [0, np.nan, 1, np.nan, 2, np.nan])


@pytest.mark.parametrize(
    ("status", "cycle", "share"),
    [
        ([1, 1, 1, 1, 0, 0, 0, 2, 2], True, 1.0),  # the next contact begins before the cycle ends
        ([1, 1, 1, 1, 0, 0, 0, 2, 2], False, 4 / 6),  # the same in a window that is no cycle
        ([2, 2, 1, 1, 0, 0, 0, 0, 0], True, 0.5),
        ([2, 2, 2, 0, 0, 0, 0, 1, 1], True, 0.0),
        ([1, 1, 2, 2, 2, 2, 2, 2, 2], True, 2 / 9),  # never in the air
        ([0, 0, 0, 0, 0, 0, 0, 0, 0], True, np.nan),
    ],
)
def test_known_stance_is_that_of_the_frames_in_contact(status, cycle, share):
    """Nine frames from 0.1 to 0.9 s in the window, and frames before and after it that do not count."""
    time_s = np.arange(12) / 10.0
    found = known_stance_share(time_s, np.array([2, *status, 2, 2]), start_s=0.1, end_s=0.9, cycle=cycle)
    assert found == pytest.approx(share, nan_ok=True)


def test_means_of_trials_with_and_without_measured_ground_forces_are_told():
    def windows(count, included="1"):
        about = {"chain": "leg", "condition": "walk", "side": "left", "included": included}
        return [{**about, "trial": f"t{k}"} for k in range(count)]

    (said,) = uneven_ground_forces(windows(2), {"t0": 0.9, "t1": 0.4})["leg"]
    assert said.startswith(
        "In the mean of walk, left (2 trials), the ground force is known in 40 to 90 % of a trial's stance;"
    )
    assert "the foot was not on a usable plate" in said
    (none,) = uneven_ground_forces(windows(2), {"t0": 0.0, "t1": 0.0})["leg"]
    assert "(2 trials), the ground force is not known in any frame of the stance" in none
    assert uneven_ground_forces(windows(2), {"t0": 0.6, "t1": 0.62}) == {}  # alike
    assert uneven_ground_forces(windows(2), {"t0": 1.0, "t1": np.nan}) == {}  # one never meets the ground
    assert uneven_ground_forces(windows(2), {}) == {}  # an arm
    assert uneven_ground_forces([*windows(1), *windows(2, included="0")], {"t0": 1.0, "t1": 0.4}) == {}

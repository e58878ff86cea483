"""Summaries of the demo study and the Parquet metadata."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from limbtorque.study.settings import make_settings
from limbtorque.study.study import load_study
from limbtorque.tables.column import Column
from limbtorque.tables.effect_columns import EFFECT_COLUMNS
from limbtorque.tables.files import long_table_writer, make_table, quoted, unquoted
from limbtorque.tables.study_columns import CONDITION_SUMMARY_COLUMNS, MEASURED, STATISTICS
from limbtorque.workflow.layout import EFFECTS_FILE
from limbtorque.workflow.stages import collect
from staged_study import make_study, run_stages

NAMES = [column.name for column in STATISTICS]
MEASURED_NAMES = [column.name for column in MEASURED]
PER_KG = [name for name in NAMES if name.endswith("_kg")]


ODD = ['=1+1, "fast"', "+reach", "@home; slow"]


CONDITIONS = {
    "S01_sagittal_fast": ODD[0],
    "S01_horizontal_fast": ODD[1],
    "S02_horizontal_fast": ODD[0],
    "S02_sagittal_fast": ODD[2],
    "S02_sagittal_slow": ODD[0],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four trials of the demo whose conditions are hard to write down, and a trial that fails."""

    def change(rows):
        rows = {row["trial"]: {**row, "start_s": "", "end_s": "", "note": ""} for row in rows}
        rows["S02_sagittal_fast"]["note"] = "-seen twice"
        rows["S02_sagittal_slow"] |= {"start_s": "90", "end_s": "91"}
        return [{**rows[name], "condition": condition} for name, condition in CONDITIONS.items()]

    extra = "ensembles: {min_units: 1}\n"
    folder = tmp_path_factory.mktemp("summaries") / "study"
    run_stages(make_study(folder, names=CONDITIONS, extra=extra, change=change))
    return folder


def test_every_trial_joint_and_term_has_every_statistic(folder):
    """What the summary holds of a torque and its power is what the torque table gives, over the frames not at the ends."""
    summary = pd.read_csv(folder / "results" / "summary.csv")
    assert summary.trial.nunique() == 4
    assert len(summary) == 4 * 3 * 13
    times = [f"{name}_time_{unit}" for name in ("peak", "max", "min") for unit in ("s", "percent")]
    assert summary[[name for name in NAMES if name not in times]].notna().all(axis=None)
    assert all(summary[name].isna().equals(summary.peak_nm == 0.0) for name in times)
    found = summary[(summary.trial == "S02_horizontal_fast") & (summary.joint == "elbow")].set_index("term")
    frames = pd.read_parquet(folder / "results" / "torques" / "S02_horizontal" / "S02_horizontal_fast.parquet")
    moving = pd.read_parquet(folder / "results" / "kinematics" / "S02_horizontal" / "S02_horizontal_fast.parquet")
    window = pd.read_csv(folder / "results" / "windows.csv").set_index("trial").loc["S02_horizontal_fast"]
    used = (frames.edge == 0) & frames.time_s.between(window.start_s - 1e-9, window.end_s + 1e-9)
    mass_kg = load_study(folder).trials[2].subject.mass_kg
    assert set(found.window) == {"movement"}
    for term, name in (("net", "elbow_torque_nm"), ("inertial_wrist", "elbow_torque_inertial_wrist_nm")):
        flexion = -1.0  # clockwise, as a left arm is seen from above
        torque, time_s = flexion * frames.loc[used, name].to_numpy(), frames.loc[used, "time_s"].to_numpy()
        power = flexion * torque * moving.loc[used, "elbow_velocity_rad_s"].to_numpy()
        time_s = time_s - window.start_s
        percent = 100.0 * time_s / (window.end_s - window.start_s)
        top = np.abs(torque).argmax()
        expected = [
            torque[top],
            time_s[top],
            percent[top],
            torque.max(),
            time_s[torque.argmax()],
            percent[torque.argmax()],
            torque.min(),
            time_s[torque.argmin()],
            percent[torque.argmin()],
            torque.mean(),
            np.sqrt((torque**2).mean()),
            np.trapezoid(torque, time_s),
            power[np.abs(power).argmax()],
            power.max(),
            power.min(),
            np.trapezoid(np.maximum(power, 0.0), time_s),
            np.trapezoid(np.minimum(power, 0.0), time_s),
        ]
        near = 5e-5  # half of the table's last decimal, times a velocity below 10 rad/s; the summary is made before rounding
        np.testing.assert_allclose(found.loc[term, MEASURED_NAMES].to_numpy(dtype=float), expected, rtol=0, atol=near)
        per_kg = [value / mass_kg for name, value in zip(MEASURED_NAMES, expected, strict=True) if name not in times]
        of_mass = found.loc[term, MEASURED_NAMES].drop(times).to_numpy(dtype=float) / mass_kg
        np.testing.assert_allclose(found.loc[term, PER_KG].to_numpy(dtype=float), of_mass, rtol=1e-12)
        np.testing.assert_allclose(of_mass, per_kg, rtol=0, atol=near / mass_kg)


def test_the_summary_by_condition_has_its_columns_and_the_labels_come_back(folder):
    found = pd.read_csv(folder / "results" / "summary_by_condition.csv")
    assert list(found) == [column.name for column in CONDITION_SUMMARY_COLUMNS]
    assert set(found.condition) == {quoted(label) for label in ODD}
    found["condition"] = found.condition.map(unquoted)
    summary = pd.read_csv(folder / "results" / "summary.csv")
    summary["condition"] = summary.condition.map(unquoted)
    assert set(summary.positive_is) == {"flexion"}
    here = (
        (summary.condition == ODD[0]) & (summary.side == "left") & (summary.joint == "elbow") & (summary.term == "net")
    )
    rows = found[
        (found.condition == ODD[0]) & (found.side == "left") & (found.joint == "elbow") & (found.term == "net")
    ]
    rows = rows.set_index("statistic")
    assert rows.loc["mean_nm", "mean"] == pytest.approx(summary.mean_nm[here].mean())
    assert rows.loc["rms_nm", "mean"] == pytest.approx(summary.rms_nm[here].mean())
    assert set(rows.n_trials) == {1}  # the other one failed
    for name in ("ensembles.csv", "windows.csv"):
        assert set(pd.read_csv(folder / "results" / name).condition) == {quoted(label) for label in ODD}
    assert set(pd.read_parquet(folder / "results" / "curves").condition) == set(ODD)


# ---- Parquet ----


def test_every_parquet_column_has_its_unit_and_sign(folder):
    """The same as the data dictionary says, for pyarrow; pandas reads the numbers and is not disturbed."""
    dictionary = pd.read_csv(folder / "results" / "data_dictionary.csv", keep_default_na=False)
    dictionary = dictionary.set_index(["table", "column"])
    files = sorted((folder / "results").rglob("*.parquet"))
    assert {path.parts[-3] for path in files} == {"kinematics", "torques", "muscles", "curves"}
    for path in files:
        table = f"{path.parts[-3]}{'+bands' * path.stem.endswith('+bands')}"
        table = "effects" if path.name == EFFECTS_FILE else table
        schema = pq.read_schema(path)
        assert schema.names
        for field in schema:
            said = {
                key.decode(): value.decode() for key, value in field.metadata.items() if not key.startswith(b"PARQUET")
            }
            assert set(said) == {"unit", "sign"}
            of_error = field.name.startswith("effect_")  # one of many, which the dictionary has in one row
            expected = dictionary.loc[(table, EFFECT_COLUMNS[-1].name if of_error else field.name)]
            assert said["unit"] == expected.unit
            assert expected.definition
            assert said["sign"] in expected.sign  # the dictionary has those of all trials
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


def test_results_hold_the_peaks_of_the_summary_over_body_mass(folder):
    """A row for each trial and joint, the failed trial too; limits are those of the summary's bands."""
    found = pd.read_csv(folder / "results" / "results.csv").set_index(["trial", "joint"])
    assert len(found.columns) + 2 == 20
    assert len(found) == 5 * 3
    failed = found.loc["S02_sagittal_slow"]
    assert set(failed.torque_status) == {"failed"}
    assert failed.filter(regex="peak|work").isna().all(axis=None)
    keys = ["trial", "window", "joint", "term"]
    summary = pd.read_csv(folder / "results" / "summary.csv")
    bands = pd.read_csv(folder / "results" / "summary_bands.csv")
    net = summary.merge(bands, on=keys, validate="one_to_one").query("term == 'net'").set_index(["trial", "joint"])
    known = found.loc[net.index]
    for peak, extreme in (("flexion", "max"), ("extension", "min")):
        for ours, theirs in (("", "nm"), ("_low", "low_nm"), ("_high", "high_nm")):
            expected = net[f"{extreme}_{theirs}"] / known.body_mass_kg
            np.testing.assert_allclose(known[f"{peak}_peak{ours}_nm_kg"], expected, rtol=1e-12)
        np.testing.assert_array_equal(known[f"{peak}_peak_time_percent"], net[f"{extreme}_time_percent"])
    np.testing.assert_allclose(known.positive_work_j_kg, net.positive_work_j_kg, rtol=1e-12)
    assert (known.flexion_peak_nm_kg >= known.extension_peak_nm_kg).all()


def test_metrics_and_notes_stand_beside_the_ledger(folder):
    """One row of the whole trial, one of each joint with its own; the worst joint is that of the trial."""
    metrics = pd.read_csv(folder / "results" / "metrics.csv", keep_default_na=False)
    whole = metrics[metrics.joint == ""].set_index("trial")
    ledger = pd.read_csv(folder / "results" / "ledger.csv").set_index("trial")
    assert list(whole.index) == list(ledger.index)
    assert len(ledger.columns) + 1 <= 28
    of_joints = metrics[(metrics.trial == "S02_horizontal_fast") & (metrics.joint != "")]
    assert list(of_joints.joint) == ["shoulder", "elbow", "wrist"]
    worst = of_joints.torque_nm_kg.astype(float).max()
    assert float(whole.loc["S02_horizontal_fast", "torque_nm_kg"]) == worst
    texts = {trial: (folder / "results" / path).read_text(encoding="utf-8") for trial, path in ledger.notes.items()}
    assert "filter butterworth" in texts["S02_horizontal_fast"]
    assert texts["S02_sagittal_slow"] == "results.csv, shoulder, elbow and wrist: no peaks: failed (ledger.csv)\n"


def test_notes_say_why_peaks_are_empty_or_cut():
    about = {"torque_status": "ok", "flexion_peak_nm_kg": 1.0, "used_share": 1.0, "max_at_gap": 0, "min_at_gap": 0}
    rows = [
        {**about, "joint": "hip", "max_at_gap": 1},
        {**about, "joint": "knee", "flexion_peak_nm_kg": np.nan, "used_share": 0.614},
        {**about, "joint": "ankle", "flexion_peak_nm_kg": np.nan, "torque_status": "rejected"},
        {**about, "joint": "toe"},
    ]
    assert collect.about_peaks(rows, make_settings({})) == [
        "results.csv, hip: the flexion peak is beside frames that were not used: the true one may be larger",
        "results.csv, knee: no peaks, as 61% of the window are used, expected 90% (ensembles.min_known_share)",
        "results.csv, ankle: no peaks: rejected (ledger.csv)",
    ]


def test_notes_that_are_the_same_are_not_written_again(folder):
    """A file that replaces another is written to the disk at once: ten thousand take seconds, on a busy disk minutes."""
    first, *others = sorted((folder / "results" / "notes").glob("*.txt"))
    text, numbers = first.read_text(), [path.stat().st_ino for path in others]
    first.write_text("of another run\n")
    collect.run(folder=folder)
    assert first.read_text() == text
    assert [path.stat().st_ino for path in others] == numbers

"""Electromyography in a study: the file's clock, the delay, the columns, the tables and the figure."""

import hashlib
import shutil

import numpy as np
import pandas as pd
import pytest

from limbtorque.cli.diff.runs import FURTHER_KEYS, read_run
from limbtorque.errors import StudyError
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_record
from limbtorque.workflow import keys, layout
from limbtorque.workflow.stages import figures, pages, report
from staged_study import add_emg, change_settings, make_study, run_stages, run_tables

TRIAL = "S01_sagittal_fast"
START_S, RATE_HZ, DELAY_S, OFFSET_S = 7.25, 1000.0, 0.03, -7.25
CHANNELS = {"biceps": "BIClong", "deltoid": ["DELT1", "PECM1"]}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study whose electromyography is its own activation, earlier by the delay, on another clock and scale."""
    folder = make_study(tmp_path_factory.mktemp("emg") / "study", names=(TRIAL,))
    run_tables(folder)
    first = pd.read_parquet(muscles_of(folder))
    time_s = np.arange(first.time_s.iloc[0], first.time_s.iloc[-1], 1.0 / RATE_HZ)
    made = {
        label: 3.0 * np.interp(time_s + DELAY_S, first.time_s, first[f"{muscle}_activation"].fillna(0.0))
        for label, muscle in (("biceps", "BIClong"), ("deltoid", "DELT1"))
    }
    pairs = [["BIClong", "DELT1"]]
    about = {"channels": CHANNELS, "delay_s": DELAY_S, "file_offset_s": OFFSET_S, "antagonists": pairs}
    add_emg(folder, made, start_s=START_S, **about)
    change_settings(folder, figures={"kinds": ["emg"]})
    run_stages(folder)
    loaded = load_study(folder)
    for stage, module in (("figures", figures), ("pages", pages)):
        for session in loaded.batches:
            module.run(folder=folder, session=session, key=keys.session_key(stage, loaded, session))
    report.run(folder=folder)
    return folder


def run_beside(study, tmp_path, extra):
    """Another study with the same file: its record and table of muscles, and its table of electromyography."""
    change = lambda rows: [{**row, "emg_file": str(study / "emg.sto")} for row in rows]  # noqa: E731
    folder = make_study(tmp_path / "study", names=(TRIAL,), extra=extra, change=change)
    run_stages(folder)
    path = muscles_of(folder)
    return read_record(path), pd.read_parquet(path), of_window(folder, "emg_summary").set_index("muscle")


def muscles_of(folder):
    return next((folder / "results" / "muscles").rglob("*.parquet"))


def of_window(study, name):
    rows = pd.read_csv(study / "results" / f"{name}.csv", keep_default_na=False, na_values=[""])
    return rows[rows.window != "stance"]


def test_an_activation_agrees_with_itself(study):
    rows = of_window(study, "emg_summary").set_index("muscle")
    assert list(rows.index) == ["BIClong", "DELT1", "PECM1"]
    for muscle in ("BIClong", "DELT1"):
        assert rows.r[muscle] == pytest.approx(1.0, abs=2e-3)  # linear between frames of 5 ms
        assert rows.lag_s[muscle] == pytest.approx(0.0, abs=1e-9)
    assert rows.channel["PECM1"] == rows.channel["DELT1"] == "deltoid"
    assert rows.neighbour["DELT1"] == "BIClong"  # not PECM1, which has the same channel
    table = pd.read_parquet(muscles_of(study))
    known = table.dropna(subset=["BIClong_activation", "BIClong_envelope"])
    scale = known.BIClong_envelope.max() / known.BIClong_activation.max()
    np.testing.assert_allclose(known.BIClong_envelope, scale * known.BIClong_activation, atol=0.02)
    assert set(table.BIClong_active_hodges_bui.dropna()) <= {0.0, 1.0}
    assert table.BIClong_active_bonato.isna().all()  # an envelope is no noise
    by_muscle = of_window(study, "emg_by_muscle").set_index("muscle")
    assert by_muscle.n_subjects["BIClong"] == 1
    assert by_muscle.r["BIClong"] == pytest.approx(1.0, abs=2e-3)
    assert 0.0 <= of_window(study, "emg_co_contraction").falconer_winter.iloc[0] <= 1.0


def test_tables_figure_page_and_provenance_of_the_study(study):
    dictionary = pd.read_csv(study / "results" / "data_dictionary.csv")
    for name in ("emg_summary", "emg_by_muscle", "emg_co_contraction"):
        columns = list(pd.read_csv(study / "results" / f"{name}.csv", nrows=0))
        assert list(dictionary[dictionary.table == name].column) == columns
    assert "BIClong_envelope" in set(dictionary[dictionary.table == "muscles"].column)
    assert len(list((study / "results" / "figures").rglob("*_emg.png"))) == 1
    (page,) = (study / "results" / "report" / "trials").rglob("*.html")
    assert "BIClong: r 1.00" in page.read_text(encoding="utf-8")
    assert "../emg_summary.csv" in (study / "results" / "report" / "index.html").read_text(encoding="utf-8")
    digest = hashlib.sha256((study / "emg.sto").read_bytes()).hexdigest()
    assert read_record(muscles_of(study)).provenance["muscles"]["emg_sha256"] == digest


def test_rows_have_names_of_their_own(study):
    """Otherwise `limbtorque reproduce` could not compare them."""
    tables = read_run(study, every=True).tables
    for name in ("emg_summary", "emg_by_muscle", "emg_co_contraction"):
        assert len(tables[name])
        assert not tables[name].duplicated([*FURTHER_KEYS[name]]).any()


def test_channels_and_muscles_that_are_not_there_are_notes_and_the_others_remain(study, tmp_path):
    channels = "{biceps: BIClong, deltoid: deltoid_middle, EMG1: TRIlong}"
    record, table, rows = run_beside(study, tmp_path, f"emg: {{channels: {channels}, file_offset_s: -7.25}}\n")
    assert not record.failed
    assert any("has no channel 'EMG1'" in note for note in record.notes)
    (note,) = (note for note in record.notes if "the muscle set has no" in note)
    assert "deltoid_middle" in note
    assert "BIClong" not in note
    assert rows.faults["TRIlong"] == "no channel"
    assert rows.r[["deltoid_middle", "TRIlong"]].isna().all()
    assert rows.r["BIClong"] > 0.9
    assert "BIClong_activation" in table


def test_without_muscle_forces_the_envelopes_remain(study, tmp_path):
    extra = "emg: {channels: {biceps: BIClong}, file_offset_s: -7.25}\nmuscles: {enabled: false}\n"
    _, table, _ = run_beside(study, tmp_path, extra)
    assert table.BIClong_envelope.max() == pytest.approx(1.0, abs=0.01)
    assert "BIClong_activation" not in table


def test_a_study_without_channels_has_no_tables_of_electromyography(tmp_path):
    study = load_study(make_study(tmp_path / "study", names=(TRIAL,)))
    assert layout.emg_outputs(study) == []
    assert not any("emg" in path.name for path in layout.session_files("figures", study, study.trials[0].session))


def test_missing_files_are_told_when_the_study_is_read(tmp_path):
    extra = "emg:\n  max_voluntary_files: [mvc.c3d]\n"
    change = lambda rows: [{**row, "emg_file": "none.sto"} for row in rows]  # noqa: E731
    with pytest.raises(StudyError) as raised:
        load_study(make_study(tmp_path / "study", names=(TRIAL,), extra=extra, change=change))
    assert "emg.max_voluntary_files names 'mvc.c3d', which does not exist" in str(raised.value)
    assert "emg_file" in str(raised.value)


def test_another_file_repeats_the_muscles(study, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(study, folder, symlinks=True, ignore=shutil.ignore_patterns("results"))
    loaded = load_study(folder)
    (session,) = loaded.batches
    before = keys.session_key("muscles", loaded, session)
    (folder / "emg.sto").write_bytes((folder / "emg.sto").read_bytes() + b"\n")
    assert keys.session_key("muscles", load_study(folder), session) != before

"""A trial has the same tables in memory and in the workflow: there is one analysis."""

import numpy as np
import pytest
from emg_signals import bursts, write_sto

import limbtorque as lt
from limbtorque.tables.files import column_values, read_rows, read_table, rounded_table
from staged_study import ROOT, TABLES, change_settings, compared_with_memory, make_study, run_tables


@pytest.mark.slow
def test_every_trial_of_the_demo_has_the_same_tables(tmp_path):
    """Those of recordings: tests/workflow/test_recordings.py."""
    names = [row["trial"] for row in read_rows(ROOT / "config" / "trials.csv")]
    folder = make_study(tmp_path / "study", names=names)
    change_settings(folder, tables={"csv": list(TABLES)})
    run_tables(folder)
    assert compared_with_memory(folder) == 3 * 36


def test_strengths_envelopes_and_samples_are_those_of_the_study(tmp_path):
    names = ("S01_sagittal_fast", "S02_sagittal_fast")
    extra = (
        "muscles:\n  strength_factors:\n    S01: {BIClong: 0.5}\n  emg_weight: 0.5\n"
        "emg:\n  channels: {biceps: BIClong}\nuncertainty:\n  samples: 256\ntorques:\n  in_space: true\n"
        f"tables:\n  csv: [{', '.join(TABLES)}]\n"
    )
    change = lambda rows: [{**row, "emg_file": "emg.sto"} for row in rows]  # noqa: E731
    folder = make_study(tmp_path / "study", names=names, extra=extra, change=change)
    signal = 2e-4 * bursts(2500, [0.8], [1.4], rate_hz=1000.0)
    write_sto(folder / "emg.sto", {"biceps": signal}, start_s=0.0, rate_hz=1000.0)
    run_tables(folder)
    assert compared_with_memory(folder) == 3 * 2
    study = lt.load_study(folder)
    results = [study.analyse(name) for name in names]
    for name, result in zip(names, results, strict=True):
        stored, _ = read_table(next((folder / "results" / "torques").glob(f"*/{name}+space.parquet")))
        held = rounded_table(result.space_table)
        for column in held.column_names:
            np.testing.assert_array_equal(column_values(stored, column), column_values(held, column), strict=True)
    weak, strong = (result.muscles for result in results)
    biceps = weak.muscle_set.names.index("BIClong")
    assert weak.muscle_set.max_force_n[biceps] == pytest.approx(0.5 * strong.muscle_set.max_force_n[biceps])
    assert "activations near the envelopes" in " ".join(weak.notes)
    with pytest.raises(lt.StudyError, match="no trial 'S01_sagital_fast'; did you mean 'S01_sagittal_fast'"):
        study.analyse("S01_sagital_fast")

"""A study whose activations stay near envelopes, and one with a subject's own strengths: what changes, and what does not."""

import shutil

import numpy as np
import pandas as pd
import pytest

from limbtorque.cli.main import main
from limbtorque.study.files import parse_yaml
from limbtorque.tables.files import read_record
from staged_study import add_emg, change_settings, make_study, run_stages, run_tables

TRIAL = "S01_sagittal_fast"
JOINTS = ("shoulder", "elbow", "wrist")


def muscles_of(folder):
    return pd.read_parquet(next((folder / "results" / "muscles").rglob("*.parquet")))


def torque_of_muscles(table, joint):
    names = [name for name in table if name.startswith(f"{joint}_torque_") and name.endswith("_nm")]
    return table[names].sum(axis=1)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with an envelope of the brachialis that is high where its activation is low; ``before`` has no weight."""
    folder = make_study(tmp_path_factory.mktemp("informed") / "study", names=(TRIAL,))
    run_tables(folder)
    plain = muscles_of(folder)
    time_s = np.arange(0.0, plain.time_s.iloc[-1], 1e-3)
    level = np.interp(time_s, plain.time_s, plain.BRA_activation.interpolate(limit_direction="both"))
    columns = {"brachialis": level.max() * 1.2 - level}
    add_emg(folder, columns, start_s=0.0, channels={"brachialis": "BRA"}, delay_s=0.0)
    run_stages(folder)
    shutil.copytree(folder / "results", folder / "before")
    change_settings(folder, muscles={"emg_weight": 20.0})
    run_stages(folder)
    return folder


def test_the_activation_follows_and_the_torques_stay(study, capsys):
    before = pd.read_parquet(next((study / "before" / "muscles").rglob("*.parquet")))
    after = muscles_of(study)
    known = after.BRA_envelope.notna() & after.BRA_activation.notna()
    r = [np.corrcoef(table.BRA_activation[known], table.BRA_envelope[known])[0, 1] for table in (before, after)]
    assert r[0] < 0.0 < r[1]
    assert (after.optimization_status == before.optimization_status).all()
    assert after.optimization_duality_gap.abs().max() <= 1e-9
    for joint in JOINTS:
        assert torque_of_muscles(after, joint).to_numpy() == pytest.approx(
            torque_of_muscles(before, joint).to_numpy(), abs=5e-5, nan_ok=True
        )
    pd.testing.assert_frame_equal(*(pd.read_csv(study / name / "summary.csv") for name in ("before", "results")))
    record = read_record(next((study / "results" / "muscles").rglob("*.parquet")))
    (note,) = (note for note in record.notes if "emg_weight" in note)
    assert "BRA (scaled by " in note
    assert main(["diff", str(study / "before"), str(study / "results")]) == 1
    text = capsys.readouterr().out
    assert "muscles.emg_weight" in text
    assert "BRA" in text


def test_strength_prints_factors_that_settings_take(study, tmp_path, capsys):
    assert main(["strength", f"{TRIAL}:shoulder:flexion", "--study", str(study)]) == 0
    text = capsys.readouterr().out
    factors = parse_yaml(text)["muscles"]["strength_factors"]["S01"]
    comment = next(line for line in text.splitlines() if "# shoulder flexion: " in line)
    torque, reach = float(comment.split()[3]), float(comment.split()[-1])
    assert {"arm.DELT1", "arm.BIClong", "arm.CORB"} <= set(factors)
    assert not {"arm.TRIlong", "arm.BRA"} & set(factors)
    assert list(factors.values()) == pytest.approx([torque / reach] * len(factors), rel=0.05)
    own = make_study(tmp_path / "own", names=(TRIAL,))
    change_settings(own, muscles={"strength_factors": {"S01": factors, "S02": {"DELT1": 3.0}}})
    run_tables(own)
    weak, strong = muscles_of(own), pd.read_parquet(next((study / "before" / "muscles").rglob("*.parquet")))
    for name, factor in (("DELT1", factors["arm.DELT1"]), ("BRA", 1.0)):
        ratio = [
            (table[f"{name}_force_n"] / table[f"{name}_activation"])[table[f"{name}_activation"] > 0.01]
            for table in (weak, strong)
        ]
        assert ratio[0].median() / ratio[1].median() == pytest.approx(factor, rel=1e-6)


@pytest.mark.parametrize(
    ("effort", "text"),
    [
        ("S01_sagittal:elbow:flexion", "the study has no trial 'S01_sagittal', expected TRIAL:JOINT:SENSE"),
        (f"{TRIAL}:knee:flexion", "expected a joint (shoulder, elbow, wrist)"),
        (f"{TRIAL}:elbow:up", "flexion or extension"),
        (TRIAL, f"no joint, expected such as {TRIAL}:knee:extension"),
        (f"{TRIAL}:elbow", f"no sense, expected such as {TRIAL}:knee:extension"),
    ],
)
def test_efforts_that_are_not_readable(study, effort, text, capsys):
    assert main(["strength", effort, "--study", str(study)]) != 0
    assert text in capsys.readouterr().err

"""The command line on the demo study."""

import csv
from pathlib import Path

import pytest

from limbtorque.cli import main

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "data" / "demo" / "S01_sagittal_fast.c3d"


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_inspect_says_what_is_in_a_file(capsys):
    code, out, _ = run(capsys, "inspect", FILE)
    assert code == 0
    assert "251 at 100 Hz, numbers 1 to 251" in out
    assert "markers     8" in out
    assert "plates      0" in out
    assert "KNU" in out
    assert "missing, gaps: 1, longest 0.05 s" in out


def test_inspect_names_prefixes_plates_and_events_of_real_files(capsys, recordings):
    _, out, _ = run(capsys, "inspect", recordings / "tennis_serve" / "kinematics_tennis_serve_2players.c3d")
    assert "labels that need a prefix or occur twice: " in out
    _, out, _ = run(capsys, "inspect", recordings / "cohort" / "HC030A" / "Straight" / "HC030A05.c3d")
    assert "plate 2 type 2" in out
    assert "0.170 s  Foot Strike Right" in out
    assert "points that are not positions" in out


def test_inspect_of_something_else_is_a_sentence(capsys, tmp_path):
    (tmp_path / "x.c3d").write_text("hello")
    code, out, err = run(capsys, "inspect", tmp_path / "x.c3d")
    assert code == 1
    assert out == ""
    assert err.startswith("limbtorque: ")
    assert "x.c3d" in err


def test_run_analyses_one_file(capsys, tmp_path):
    settings = ROOT / "config" / "config.yaml"
    code, out, _ = run(
        capsys,
        *("run", FILE, "--chain", "arm", "--side", "right", "--mass-kg", 72, "--settings", settings),
        *("--output", tmp_path, "--set", "filter.cutoff_hz=6"),
    )
    assert code == 0
    assert f"{tmp_path / 'S01_sagittal_fast_right_arm_torques.csv'}" in out
    with (tmp_path / "S01_sagittal_fast_right_arm_torques.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 251
    assert (tmp_path / "S01_sagittal_fast_right_arm.png").stat().st_size > 10000


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("--chain", "tail"), "--chain 'tail' is not in the settings, which have arm, leg"),
        (("--set", "filter.cutof_hz=6"), "did you mean 'filter.cutoff_hz'"),
        (("--load", "wind"), "--load 'wind' is not in the settings"),
        (("--marker-set", "mine"), "--marker-set 'mine' is not in the settings"),
    ],
)
def test_run_refuses_what_it_does_not_know(capsys, change, says):
    settings = ROOT / "config" / "config.yaml"
    base = ("run", FILE, "--chain", "arm", "--side", "right", "--mass-kg", 72, "--settings", settings)
    code, _, err = run(capsys, *base, *change)
    assert code == 1
    assert says in err


def test_check_tries_every_trial(capsys):
    code, out, _ = run(capsys, "check", ROOT)
    assert code == 0
    assert (out.count(": ok\n"), out.count(": can be analysed, but\n")) == (6, 6)
    assert out.endswith("every trial can be analysed\n")


def test_settings_prints_every_option(capsys):
    from limbtorque.settings import option_names

    _, out, _ = run(capsys, "settings")
    assert all(f"`{name}`" in out for name in option_names())

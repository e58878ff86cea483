"""The command line on the demo study."""

import csv
from pathlib import Path

import pytest

from limbtorque.cli.check_summary import Answer, summary_lines
from limbtorque.cli.main import main
from limbtorque.cli.run_study import snakefile
from limbtorque.cli.terminal import followed

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "data" / "demo" / "S01_sagittal_fast.c3d"


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_inspect_names_prefixes_plates_and_events_of_real_files(capsys, recordings):
    _, out, _ = run(capsys, "inspect", recordings / "tennis_serve" / "kinematics_tennis_serve_2players.c3d")
    assert "labels that occur twice, or need a prefix: " in out
    _, out, _ = run(capsys, "inspect", recordings / "cohort" / "HC030A" / "Straight" / "HC030A05.c3d")
    assert "plate 2 type 2" in out
    assert "0.170 s  Foot Strike Right" in out
    assert "points that are not markers" in out


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


def test_check_sums_up_every_trial_on_a_first_screen(capsys):
    code, out, err = run(capsys, "check", ROOT)
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == (
        "ready: 36 of 36 trials; 7 would be caution or rejected; 1 would have no curve (ensembles.window)"
    )
    assert sum(line.startswith("rejected: ") for line in lines) == 1
    assert "S03_walk_fast_2_right" in next(line for line in lines if line.startswith("rejected: "))
    first, *others = [line for line in lines if line.startswith("caution: ")]
    assert first.startswith("caution: joints_without_moment_arms in 6 trials: ")
    assert all(" in 1 trial: S03_walk_fast_2_right; " in line for line in others)
    assert len(lines) < 12
    assert lines[-1] == f"details of every trial: limbtorque check {ROOT} --verbose"
    assert err == f"next: limbtorque run-study {ROOT}\n"  # and no bar: this is no terminal


@pytest.mark.slow
def test_check_has_a_line_for_every_trial_where_asked(capsys):
    code, out, _ = run(capsys, "check", ROOT, "--verbose")
    assert code == 0
    assert (out.count(": ok\n"), out.count(": can be analysed, with problems:\n")) == (29, 7)
    assert "spike_frames is" in out
    assert "ready: 36 of 36 trials; 7 would be caution or rejected" in out


def test_faults_of_one_kind_are_one_line():
    faults = [f"r{k}.c3d: marker 'M{k}' is missing in {k + 1} of 580 frames" for k in range(12)] + ["no plates"]
    answers = [Answer(f"trial_{k:02d}", fault, [], "") for k, fault in enumerate(faults)]
    first, gaps, plates = summary_lines(answers)
    assert first == "ready: 0 of 13 trials; 0 would be caution or rejected"
    assert gaps.startswith("would fail: 12 trials (trial_00, ")
    assert gaps.endswith("the first: r0.c3d: marker 'M0' is missing in 1 of 580 frames")
    assert plates == "would fail: 1 trial (trial_12): no plates"


def test_settings_prints_every_option(capsys):
    from limbtorque.study.settings import option_names

    _, out, _ = run(capsys, "settings")
    assert all(f"`{name}`" in out for name in option_names())


def test_on_a_terminal_a_bar_shows_what_is_done(capsys, monkeypatch):
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert list(followed(iter("abc"), 3, what="letters")) == ["a", "b", "c"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "letters" in captured.err


def test_the_workflow_of_an_installed_package_is_found(monkeypatch, tmp_path):
    import limbtorque.cli.run_study

    packed = tmp_path / "_workflow"
    (packed / "workflow" / "rules").mkdir(parents=True)
    (packed / "Snakefile").touch()
    monkeypatch.setattr(limbtorque.cli.run_study, "PLACES", (tmp_path / "no clone", packed))
    assert snakefile() == packed / "Snakefile"


def test_what_the_workflow_needs_is_packed_into_the_wheel():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert packed == {name: f"limbtorque/_workflow/{name}" for name in ("Snakefile", "config", "profiles", "workflow")}
    assert all((ROOT / name).exists() for name in packed)


@pytest.mark.parametrize("command", ["check", "status", "verify", "run-study"])
def test_a_command_on_no_study_says_what_was_found_and_what_to_give(capsys, tmp_path, command):
    study, nowhere = tmp_path / "study", tmp_path / "nothing"
    (study / "config").mkdir(parents=True)
    (study / "config" / "config.yaml").write_text("", encoding="utf-8")
    (study / "results").mkdir()
    code, _, err = run(capsys, command, study / "results")
    expected = f"{study / 'results'} is a part of a study; give the study's folder: {study}"
    assert (code, err) == (1, f"limbtorque: {expected}\n")
    code, _, err = run(capsys, command, nowhere)
    assert code == 1
    assert err.startswith(
        f"limbtorque: {nowhere} does not exist; give a study's folder, or create one: `limbtorque init"
    )
    assert "Errno" not in err


@pytest.mark.parametrize("option", ["--range=elbow=0:900", "--range=elbow=nan:90", "--hold=hip_adduction_r=1e9"])
def test_angles_of_an_import_are_within_half_a_turn(capsys, tmp_path, option):
    words = ("muscles", "import", tmp_path / "model.osim", "--plane", "sagittal", "--side", "right", option)
    code, _, err = run(capsys, *words)
    assert code == 1
    assert "degrees, expected -180 to 180" in err

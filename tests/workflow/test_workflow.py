"""The workflow as a user runs it: what it makes, what it makes again, and what it survives."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from limbtorque.cli.main import main
from limbtorque.quality.checks import CUTOFF_CHECKS
from limbtorque.workflow import layout
from study_runs import (
    PLAN,
    ROOT,
    SESSION,
    TRIALS,
    command,
    demo_rows,
    jobs_of,
    ledger,
    made_once,
    make_plain_study,
    make_study,
    planned,
    planned_jobs,
    results,
    run,
    write_trials,
)

LAST = {"collect", "report", "study_figures", "verdict"}
CUTOFFS = {"cutoffs", "study_cutoff"}  # of trials that share one, as all do by default
pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study that has run, in a folder with a space in its name, and what it printed."""

    def make(folder):
        text = run(make_study(folder / "study with a space"))
        (folder / "printed.txt").write_text(text, encoding="utf-8")

    place = made_once(tmp_path_factory, "finished study", make)
    return place / "study with a space", (place / "printed.txt").read_text(encoding="utf-8")


@pytest.fixture
def study(finished, tmp_path):
    """A copy of the finished study that a test may change."""
    folder = tmp_path / "copy"
    shutil.copytree(finished[0], folder)
    return folder


def made_at(folder):
    """Time at which each stage made each session, by the session's record."""
    stages = ("cutoffs", *layout.SOURCES)
    return {
        (stage, path.parent.name): path.stat().st_mtime_ns
        for stage in stages
        for path in (folder / layout.session_folder(stage, "x")).parent.glob("*/_session.jsonl")
    }


def test_every_table_and_figure_is_made(finished):
    folder, text = finished
    made = results(folder)
    for name in TRIALS:
        place = f"{SESSION[name]}/{name}"
        for stage in ("kinematics", "torques", "muscles"):
            assert f"results/{stage}/{place}.parquet" in made
            assert (f"results/{stage}/{place}.csv" in made) == (stage == "torques")
        assert f"results/figures/{place}_torques.png" in made
        flags = ledger(folder)[name]["reason"].split()
        assert (f"results/figures/{place}_cutoff.png" in made) == (not CUTOFF_CHECKS.isdisjoint(flags))
    tables = (
        "summary.csv",
        "summary_by_condition.csv",
        "ledger.csv",
        "data_dictionary.csv",
        "provenance.json",
        "methods.md",
    )
    for name in (*tables, "curves/S01_sagittal/curves.parquet", "ensembles.csv", "windows.csv", "settings.json"):
        assert f"results/{name}" in made
    scripts = ("base", "plots", "panels", "readout", "limb", "trial", "table", "mean_curves", "plotly.min")
    shared = {f"results/report/{name}" for name in ("index.html", "report.css", *(f"{name}.js" for name in scripts))}
    pages = {f"results/report/trials/{SESSION[name]}/{name}.html" for name in TRIALS}
    assert shared | pages == {
        name for name in made if name.startswith("results/report/") and not name.endswith("_session.jsonl")
    }
    assert text.rstrip().split("report: ")[1].splitlines()[0] == "results/report/index.html"
    assert {row["status"] for row in ledger(folder).values()} <= {"ok", "caution"}
    assert "3 trials:" in text
    assert "of 3 trials done" in text


def test_the_methods_of_the_run_are_those_that_the_command_prints(finished, capsys):
    assert main(["methods", str(finished[0])]) == 0
    written = (finished[0] / "results" / "methods.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == written
    assert "3 trials of 2 participants (body mass 58.5 and 72 kg)" in written


def test_the_report_can_be_switched_off_and_files_of_old_trials_are_moved(study):
    path = study / "config" / "config.yaml"
    text = path.read_text(encoding="utf-8")
    write_trials(study, demo_rows(TRIALS[:2]))
    assert "files of removed trials or formats: moved to results/left_over" in run(study)
    assert not (study / "results" / "torques" / SESSION[TRIALS[2]]).exists()
    assert (study / "results" / "left_over" / "torques" / SESSION[TRIALS[2]] / f"{TRIALS[2]}.csv").exists()
    pages = {file.stem for file in (study / "results" / "report" / "trials").glob("*/*.html")}
    assert pages == set(TRIALS[:2])
    path.write_text(text + "report:\n  enabled: false\n", encoding="utf-8")
    assert "report:" not in run(study)
    assert not [file for file in (study / "results" / "report").rglob("*") if file.is_file()]
    assert (study / "results" / "left_over" / "report" / "index.html").is_file()
    assert planned(study) == set()


DAMAGES = ("deleted", "truncated", "emptied", "record deleted", "record truncated")


def damage(study, how, place, table):
    """Damage a table, or the record, of a session's folder."""
    path = study / place / ("_session.jsonl" if "record" in how else table)
    if "deleted" in how:
        path.unlink()
    else:
        path.write_bytes(b"" if how == "emptied" else path.read_bytes()[:-1])
    return path.name


@pytest.mark.parametrize("how", ["truncated", "record deleted"])
def test_a_damaged_table_plans_its_session_and_what_depends_on_it(study, how):
    """A dry run changes no file."""
    damage(study, how, "results/torques/S01_sagittal", "S01_sagittal_fast.csv")
    damaged = results(study)
    again = {(stage, "S01_sagittal") for stage in ("torques", "muscles", "figures", "pages", "curves")}
    assert planned_jobs(study) == again | {(stage, "") for stage in ("ensembles", *LAST)}
    assert results(study) == damaged


def test_damaged_sessions_are_made_again_once_to_the_same_bytes(study):
    before = results(study)
    places = [(stage, SESSION[name], name) for name in TRIALS for stage in ("torques", "muscles")]
    said = [
        f"results/{stage}/{session}: {damage(study, how, f'results/{stage}/{session}', f'{name}.parquet')} is "
        for how, (stage, session, name) in zip(DAMAGES, places, strict=False)
    ]
    text = run(study)
    assert sum(sentence in text for sentence in said) == 3  # the others are counted
    assert "and 2 more damaged outputs" in text
    assert results(study) == before
    assert planned(study) == set()


def test_a_damaged_session_is_made_again_only_where_it_is_asked_for(study):
    (study / "results" / "muscles" / "S01_sagittal" / "S01_sagittal_fast.parquet").unlink()
    assert planned(study, "results/torques/S01_sagittal") == set()
    assert planned(study, "--until", "torques") == set()
    assert planned_jobs(study, "results/muscles/S01_sagittal") == {("muscles", "S01_sagittal")}
    assert planned_jobs(study, "--until", "muscles") == {("muscles", "S01_sagittal")}
    assert "update pending" in next(
        line for line in run(study, "--summary").splitlines() if line.startswith("results/muscles/S01_sagittal\t")
    )


def test_status_lists_every_table_of_every_trial_with_its_state(study, capsys):
    def status():
        code = main(["status", str(study)])
        lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
        return code, {path: state for state, path in lines}

    whole = {
        f"results/{table}.{suffix}"
        for name in TRIALS
        for trial in (f"{SESSION[name]}/{name}",)
        for table in (f"kinematics/{trial}", f"torques/{trial}", f"torques/{trial}+bands", f"muscles/{trial}")
        for suffix in ("parquet", *["csv"] * table.startswith("torques"))
    }
    assert status() == (0, dict.fromkeys(whole, "done"))
    first, second, third = (f"{SESSION[name]}/{name}" for name in TRIALS)
    (study / "results" / "torques" / f"{first}.csv").unlink()
    (study / "results" / "muscles" / f"{second}.parquet").write_bytes(b"")
    rows = demo_rows(TRIALS)
    rows[2]["filter.order"] = "2"
    write_trials(study, [{"filter.order": "", **row} for row in rows])
    code, found = status()
    assert code == 1
    assert found[f"results/torques/{first}.csv"] == "missing"
    assert found[f"results/muscles/{second}.parquet"] == "damaged"
    assert {path for path, state in found.items() if state == "stale"} == {path for path in whole if third in path}


def test_one_session_is_made_on_request(study):
    shutil.rmtree(study / "results")
    run(study, "results/torques/S01_sagittal")
    made = {path.relative_to(study / "results").parts[:2] for path in (study / "results").glob("*/*")}
    logs = {("logs", name) for name in ("cutoffs", "kinematics", "torques", "study_cutoff.log")}
    assert made - logs == {
        ("kinematics", "S01_sagittal"),
        ("torques", "S01_sagittal"),
        *(("cutoffs", session) for session in SESSION.values()),
        *(("records", f"{name}.json") for name in ("settings", "study_cutoff")),
    }


def test_forced_rules_and_those_up_to_one_are_planned_as_a_user_expects(study):
    sessions = set(SESSION.values())
    after = {(stage, session) for stage in ("muscles", "figures", "pages", "curves") for session in sessions}
    torques = {("torques", session) for session in sessions}
    assert planned_jobs(study, "--forcerun", "torques") == torques | after | {(s, "") for s in ("ensembles", *LAST)}
    assert planned_jobs(study, "--forcerun", "torques", "--until", "torques") == torques
    assert planned_jobs(study, "--forcerun", "results/torques/S01_sagittal", "--until", "torques") == {
        ("torques", "S01_sagittal")
    }
    shutil.rmtree(study / "results")
    assert planned(study, "--until", "torques") == {"kinematics", "torques", *CUTOFFS}


def test_graph_report_and_summary_of_a_finished_study(study):
    graph = run(study, "--rulegraph")
    names = set(re.findall(r'label = "(\w+)"', graph))
    assert names == {
        "study",
        "kinematics",
        "torques",
        "muscles",
        "figures",
        "pages",
        "curves",
        "ensembles",
        *CUTOFFS,
        *LAST,
    }
    run(study, "--report", "report.html")
    assert "summary.csv" in (study / "report.html").read_text(encoding="utf-8")
    summary = run(study, "--summary")
    assert "results/torques/S01_sagittal\t" in summary
    assert "update pending" not in summary


def test_options_of_the_command_line_go_before_the_file_and_columns_before_both(study):
    """The file has no filter.order, one trial has a column; the settings that hold are written, and provenance has them."""
    rows = [{**row, "filter.order": ""} for row in demo_rows(TRIALS)]
    rows[0]["filter.order"] = "4"
    write_trials(study, rows)
    before = (study / "config" / "config.yaml").read_bytes()
    options = ("--config", "filter={order: 2}", "title=From the command line")
    assert planned_jobs(study, *options) > {("kinematics", session) for session in SESSION.values()}
    run(study, *options)
    assert (study / "config" / "config.yaml").read_bytes() == before
    settings = json.loads((study / "results" / "settings.json").read_text(encoding="utf-8"))
    provenance = json.loads((study / "results" / "provenance.json").read_text(encoding="utf-8"))
    assert settings == provenance["settings"]
    assert (settings["filter"]["order"], settings["title"]) == (2, "From the command line")
    assert provenance["trials"][rows[0]["trial"]]["row"]["options"] == {"filter.order": 4}
    assert planned(study, *options) == set()
    assert "kinematics" in planned(study)
    assert "Did you mean" in run(study, "--config", "filter={ordr: 2}", expected=1).replace("did", "Did")


def test_a_new_trial_runs_its_session_only(study):
    name = "S02_horizontal_slow"
    shutil.copy(ROOT / "data" / "demo" / f"{name}.c3d", study / "data" / "demo")
    write_trials(study, demo_rows((*TRIALS, name)))
    before = made_at(study)
    run(study)
    again = {key for key, time_ns in made_at(study).items() if before.get(key) != time_ns}
    assert again == {(stage, "S02_horizontal") for stage in ("cutoffs", *layout.SOURCES)}
    assert planned(study) == set()


def test_a_new_trial_that_moves_the_shared_cutoff_repeats_those_that_share_it(study):
    """The slow reach of the other subject, of one condition with the fast one, has another cut-off than that by far."""
    rows = demo_rows((*TRIALS, "S02_sagittal_slow"))
    fast = next(row for row in rows if row["trial"] == "S01_sagittal_fast")
    slow = next(row for row in rows if row["trial"] == "S02_sagittal_slow")
    slow["condition"] = fast["condition"]
    shutil.copy(ROOT / "data" / "demo" / "S02_sagittal_slow.c3d", study / "data" / "demo")
    write_trials(study, rows)
    before = made_at(study)
    run(study)
    again = {key for key, time_ns in made_at(study).items() if before.get(key) != time_ns}
    assert {session for stage, session in again if stage == "kinematics"} == {"S01_sagittal", "S02_sagittal"}
    assert {session for stage, session in again if stage == "cutoffs"} == {"S02_sagittal"}
    used = {name: float(row["cutoff_hz"]) for name, row in ledger(study).items()}
    assert used["S01_sagittal_fast"] == used["S02_sagittal_slow"]
    assert planned(study) == set()


def test_a_long_session_is_divided_into_parts_with_folders_of_their_own(tmp_path):
    folder = make_study(tmp_path / "long", TRIALS[:2])
    path = folder / "config" / "config.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "run:\n  max_trials_per_job: 1\n", encoding="utf-8")
    write_trials(folder, [{**row, "session": "study"} for row in demo_rows(TRIALS[:2])])
    assert {session for stage, session in planned_jobs(folder) if stage == "torques"} == {"study~1", "study~2"}
    run(folder)
    pages = sorted((folder / "results" / "report" / "trials").glob("*/*.html"))
    assert [page.parent.name for page in pages] == ["study~1", "study~2"]
    index = (folder / "results" / "report" / "index.html").read_text(encoding="utf-8")
    assert all(f'href="trials/{page.parent.name}/{page.name}"' in index for page in pages)
    assert planned(folder) == set()


def test_trials_that_share_a_cutoff_wait_for_it_and_take_it(tmp_path):
    """Two of three trials share; the third has a number. A trial that cannot be analysed has no say and fails alone."""
    study = make_plain_study(tmp_path / "study")
    rows = [{**row, "condition": "alike"} for row in demo_rows(TRIALS)]
    broken = {**rows[0], "trial": "broken", "session": "broken", "start_s": "90", "end_s": "91"}
    extra = {"filter.cutoff_hz": "", "start_s": "", "end_s": ""}
    rows = [{**extra, **row} for row in (*rows, broken)]
    rows[2]["filter.cutoff_hz"] = "7"
    write_trials(study, rows)
    sessions = sorted(session for stage, session in planned_jobs(study) if stage == "cutoffs")
    assert sessions == ["S01_horizontal", "S01_sagittal", "broken"]
    run(study)
    shared = json.loads((study / "results" / "study_cutoff.json").read_text(encoding="utf-8"))
    kept = ledger(study)
    assert set(shared["own_cutoff_hz"]) == {rows[0]["trial"], rows[1]["trial"]}
    ((group, shared_hz),) = shared["cutoff_hz"].items()
    assert group == "arm, alike"
    assert min(shared["own_cutoff_hz"].values()) < shared_hz < max(shared["own_cutoff_hz"].values())
    assert (2.0 * shared_hz).is_integer()
    used = {name: float(row["cutoff_hz"]) for name, row in kept.items() if row["status"] != "failed"}
    assert used == {rows[0]["trial"]: shared_hz, rows[1]["trial"]: shared_hz, rows[2]["trial"]: 7.0}
    for name, own_hz in shared["own_cutoff_hz"].items():
        assert float(kept[name]["own_cutoff_hz"]) == pytest.approx(own_hz)
    assert kept["broken"]["status"] == "failed"
    assert "not inside the recording" in kept["broken"]["message"]
    assert planned(study) == set()


def test_trials_that_share_a_cutoff_need_one_criterion(study):
    rows = [{**row, "filter.cutoff_hz": "", "condition": "alike"} for row in demo_rows(TRIALS)]
    rows[1]["filter.cutoff_hz"] = "residual"
    write_trials(study, rows)
    assert "share one cut-off (arm, alike; filter.scope: study) choose it by expected_error" in run(study, expected=1)


@pytest.mark.parametrize(
    ("old", "new", "stages"),
    [
        (
            "figures:",
            "filter:\n  order: 2\nfigures:",
            {"kinematics", "torques", "muscles", "figures", "pages", "curves", "ensembles", *CUTOFFS, *LAST},
        ),
        ("ensembles:", "ensembles:\n  n_points: 51", {"curves", "ensembles", *LAST}),
        ("figures:", "tables:\n  xlsx: true\nfigures:", {"pages", *LAST}),
        ("formats: [png]", "formats: [png, svg]", {"figures", "pages", *LAST}),
        ("title: Demo", "title: Another demo", {"pages", *LAST}),
        ("figures:", "muscles:\n  enabled: false\nfigures:", {"muscles", "pages", *LAST}),
    ],
)
def test_a_changed_setting_runs_what_depends_on_it(study, old, new, stages):
    path = study / "config" / "config.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert planned(study) == stages


@pytest.mark.parametrize(
    ("module", "stages"),
    [
        (None, set()),  # the same code in another place
        ("muscles/static_optimization/solve.py", {"muscles", "pages", *LAST}),
        (  # finds the window of a trial, by which its torques are judged
            "statistics/windows.py",
            {"torques", "muscles", "figures", "pages", "curves", "ensembles", *LAST},
        ),
        ("figures/style.py", {"figures", "study_figures"}),
        ("report/trial.py", {"pages"}),
        ("report/index.py", {"report"}),
        (
            "recordings/c3d/read.py",
            {"kinematics", "torques", "muscles", "figures", "pages", "curves", "ensembles", *CUTOFFS, *LAST},
        ),
    ],
)
def test_changed_code_runs_what_uses_it(study, tmp_path, module, stages):
    package = tmp_path / "package"
    shutil.copytree(ROOT / "src", package)
    if module:
        path = package / "limbtorque" / module
        path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert planned(study, package=package) == stages


def test_python_in_another_place_makes_nothing_again(study, tmp_path):
    """The command of a job names the Python that runs Snakemake."""
    elsewhere = tmp_path / "elsewhere" / "python"
    elsewhere.parent.mkdir()
    elsewhere.symlink_to(Path(sys.executable).resolve())
    packages = os.pathsep.join([str(ROOT / "src"), sysconfig.get_path("purelib")])
    _, *words = command(study, *PLAN)
    done = subprocess.run(
        [elsewhere, *words], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": packages}, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert jobs_of(done.stdout + done.stderr) == set()


def test_a_workbook_is_made_where_it_is_wanted_and_moved_where_not(tmp_path):
    study = make_plain_study(tmp_path / "study", TRIALS[:1])
    path = study / "config" / "config.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "\ntables:\n  xlsx: true\n", encoding="utf-8")
    run(study)
    before = results(study)["results/summary.xlsx"]
    (study / "results" / "summary.xlsx").unlink()
    run(study)
    assert results(study)["results/summary.xlsx"] == before
    path.write_text(text, encoding="utf-8")
    run(study)
    assert "results/summary.xlsx" not in results(study)
    assert results(study)["results/left_over/summary.xlsx"] == before


def test_another_condition_makes_the_ensembles_again_and_no_table_of_a_trial(study):
    rows = demo_rows(TRIALS)
    rows[0]["condition"] = "another"
    write_trials(study, rows)
    before = made_at(study)
    run(study)
    again = {stage for (stage, session), time_ns in made_at(study).items() if before[stage, session] != time_ns}
    assert again == {"figures", "pages", "curves"}


def test_a_run_that_is_killed_goes_on_to_the_same_bytes(finished, tmp_path):
    """Those of another run in another folder."""
    folder = make_study(tmp_path / "killed")
    for seconds in (3.0, 5.0, 7.0):
        process = subprocess.Popen(
            command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    run(folder)
    assert results(folder) == results(finished[0])


def test_trials_that_fail_become_rows_of_the_ledger_and_the_others_finish(tmp_path):
    folder = make_plain_study(tmp_path / "failing")
    rows = demo_rows(TRIALS)
    bad = {
        "empty": b"",
        "text": b"not a C3D file at all\n" * 100,
        "cut": (ROOT / "data" / "demo" / f"{TRIALS[0]}.c3d").read_bytes()[:9000],
    }
    for name, content in bad.items():
        (folder / "data" / f"{name}.c3d").write_bytes(content)
        rows.append({**rows[0], "trial": name, "file": f"data/{name}.c3d"})
    write_trials(folder, rows)
    text = run(folder)
    found = ledger(folder)
    for name in bad:
        assert found[name]["status"] == "failed"
        assert found[name]["reason"] == "read"
        assert f"{name}.c3d" in found[name]["message"]
        assert f"failed: {name}" in text
        assert (folder / "results" / "torques" / rows[0]["session"] / f"{name}.csv").read_text(encoding="utf-8").count(
            "\n"
        ) == 1
    assert {found[name]["status"] for name in TRIALS} <= {"ok", "caution"}
    path = folder / "config" / "config.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "\nrun:\n  max_failed_fraction: 0.2\n", encoding="utf-8")
    text = run(folder, expected=1)
    assert "3 of 6 trials failed, more than run.max_failed_fraction = 0.2 allows" in text
    assert len(ledger(folder)) == 6


def test_a_wrong_study_is_refused_before_any_job_starts(study):
    rows = demo_rows(TRIALS)
    rows[0]["subject"] = "nobody"
    rows[1]["file"] = "data/missing.c3d"
    write_trials(study, rows)
    text = run(study, expected=1)
    assert "subject is 'nobody', expected a subject of config/subjects.csv" in text
    assert "file is 'data/missing.c3d', expected a file; it does not exist" in text
    assert "Traceback" not in text
    quiet = run(study, "--quiet", "all", expected=1)
    assert quiet.count("subject is 'nobody', expected a subject of config/subjects.csv") == 1


def test_one_run_at_a_time_in_a_study(study):
    import fcntl

    (study / "results" / "verdict.txt").unlink()
    with (study / "results" / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "another run is using" in run(study, expected=1)


def test_a_trial_that_is_taken_out_of_a_session_leaves_its_tables_behind(tmp_path):
    """Snakemake empties the folder of a session before it is made again: its tables are moved before that."""
    study = make_plain_study(tmp_path / "study")
    rows = [{**row, "session": "one"} for row in demo_rows(TRIALS)]
    write_trials(study, rows)
    run(study)
    table = study / "results" / "torques" / "one" / f"{TRIALS[2]}.csv"
    content = table.read_bytes()
    write_trials(study, rows[:2])
    assert ("torques", "one") in planned_jobs(study)
    run(study)
    assert not table.exists()
    assert (study / "results" / "left_over" / "torques" / "one" / table.name).read_bytes() == content


def test_a_changed_muscle_set_of_the_study_runs_the_muscles(tmp_path):
    study = make_study(tmp_path / "study", TRIALS[:1])
    built_in = ROOT / "src" / "limbtorque" / "muscles" / "sets" / "arm.yaml"
    own = study / "config" / "my_arm.yaml"
    shutil.copy(built_in, own)
    path = study / "config" / "config.yaml"
    path.write_text(
        path.read_text(encoding="utf-8")
        + """
chains:
  arm:
    joints:
      - {name: shoulder, landmark: glenohumeral_axis, flexion_zero_deg: -90, moment_arms_in_any_plane: false}
      - {name: elbow, landmark: elbow_axis, one_way: true}
      - {name: wrist, landmark: wrist_axis}
    segments: [{name: upper_arm, row: upper_arm}, {name: forearm, row: forearm}, {name: hand, row: hand}]
    end: knuckle_2_middle_finger
    muscles: config/my_arm.yaml
""",
        encoding="utf-8",
    )
    run(study)
    assert planned(study) == set()
    own.write_text(own.read_text(encoding="utf-8").replace("987.26", "900.00"), encoding="utf-8")
    assert planned(study) == {"muscles", "pages", *LAST}


@pytest.mark.parametrize("stage", ["kinematics", "curves"])
def test_a_deleted_folder_of_a_session_is_planned_again(study, stage):
    shutil.rmtree(study / "results" / stage / SESSION[TRIALS[0]])
    assert stage in planned(study)


def test_emptied_and_truncated_tables_of_the_study_are_made_again_once(study):
    """Parts of files that killed jobs left are removed by the same run."""
    before = results(study)
    for place in ("torques/S01_sagittal/.S01_sagittal_fast", ".summary"):
        (study / "results" / f"{place}.node.4711.part.csv").write_text("half")
    (study / "results" / "ledger.csv").write_bytes(b"")
    path = study / "results" / "ensembles.csv"
    path.write_bytes(path.read_bytes()[:-100])
    text = run(study)
    assert "ledger.csv is 0 bytes instead of" in text
    assert results(study) == before
    assert not list((study / "results").rglob(".*.part*"))
    assert planned(study) == set()


EDITED = (
    "results/torques/S01_sagittal/S01_sagittal_fast.csv",
    "results/report/trials/S02_horizontal/S02_horizontal_fast.html",
    "results/summary.csv",
    "results/report/index.html",
)


def edit(path, *, keep_time=False):
    """Change a character of a file, which keeps its size."""
    state, text = path.stat(), path.read_bytes()
    place = len(text) // 2
    path.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
    if keep_time:
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_edited_results_are_named_and_made_again_by_the_next_run(study, capsys):
    before = results(study)
    assert main(["verify", str(study)]) == 0
    assert capsys.readouterr().out == "0 results missing or not as made\n"
    for name in EDITED:
        edit(study / name)
    (study / "results" / "muscles" / "S01_sagittal" / "S01_sagittal_fast.parquet").unlink()
    assert main(["verify", str(study)]) == 1
    text = capsys.readouterr().out
    assert all(f"{name}: edited\n" in text for name in EDITED)
    assert "results/muscles/S01_sagittal/S01_sagittal_fast.parquet: missing\n" in text
    assert "5 results missing or not as made" in text
    run(study)
    assert results(study) == before
    assert main(["verify", str(study)]) == 0
    assert planned(study) == set()


def test_verify_finds_an_edit_that_kept_the_time_and_lost_or_edited_records(study, capsys):
    before = results(study)
    name = "results/torques/S01_sagittal/S01_sagittal_fast.csv"
    edit(study / name, keep_time=True)
    assert planned(study) == set()
    (study / "results" / "records" / "collect.json").unlink()
    edit(study / "results" / "kinematics" / "S01_sagittal" / "_session.jsonl")
    assert main(["verify", str(study)]) == 1
    text = capsys.readouterr().out
    assert f"{name}: edited\n" in text
    assert "results/ledger.csv: without its record" in text
    assert "results/kinematics/S01_sagittal/_session.jsonl: damaged" in text
    assert main(["run-study", str(study), "--cores", "2", "--verify"]) == 0
    assert results(study) == before


def test_two_runs_give_the_same_bytes_and_do_not_mix(finished, tmp_path):
    other = make_study(tmp_path / "other")
    run(other)
    assert results(other) == results(finished[0])


def test_running_again_does_nothing(study):
    assert planned(study) == set()


def test_parts_of_files_of_killed_jobs_are_removed_by_the_next_run(study):
    place = study / "results" / "torques" / "S01_sagittal"
    (place / ".S01_sagittal_fast.node.4711.part.csv").write_text("half")
    (study / "results" / ".summary.node.4711.part.csv").write_text("half")
    (study / "results" / "verdict.txt").unlink()
    run(study)
    assert not list((study / "results").rglob(".*.part*"))
    assert not (study / "results" / "left_over").exists()

"""The workflow as a user runs it: what it makes, what it makes again, and what it survives."""

import fcntl
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

from limbtorque.cli import run_study
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

TABLES = (
    *(
        "summary.csv",
        "summary_by_condition.csv",
        "ledger.csv",
        "data_dictionary.csv",
        "datapackage.json",
        "provenance.json",
        "methods.md",
    ),
    *("ensembles.csv", "windows.csv", "settings.json", "curves/S01_sagittal/curves.parquet", "report/index.html"),
)
LAST = {"collect", "report", "study_figures", "verdict"}
AFTER_TORQUES = {"figures", "pages", "curves", "ensembles", *LAST}
ALL = {"kinematics", "torques", "muscles", *AFTER_TORQUES}
DAMAGES = ("deleted", "truncated", "emptied", "record deleted", "record truncated")
EDITED = (
    "results/torques/S01_sagittal/S01_sagittal_fast.csv",
    "results/report/trials/S02_horizontal/S02_horizontal_fast.html",
    "results/summary.csv",
    "results/report/index.html",
)
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
    return {
        (stage, path.parent.name): path.stat().st_mtime_ns
        for stage in layout.SOURCES
        for path in (folder / layout.session_folder(stage, "x")).parent.glob("*/_session.jsonl")
    }


def change_config(folder, old, new):
    path = folder / "config" / "config.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def damage(study, how, place, table):
    """Damage a table, or the record, of a session's folder."""
    path = study / place / ("_session.jsonl" if "record" in how else table)
    if "deleted" in how:
        path.unlink()
    else:
        path.write_bytes(b"" if how == "emptied" else path.read_bytes()[:-1])
    return path.name


def edit(path, *, keep_time=False):
    """Change a character of a file, which keeps its size."""
    state, text = path.stat(), path.read_bytes()
    place = len(text) // 2
    path.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
    if keep_time:
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_every_table_and_figure_is_made(finished):
    folder, text = finished
    made, rows = results(folder), ledger(folder)
    expected = {f"results/{name}" for name in TABLES}
    for name in TRIALS:
        place = f"{SESSION[name]}/{name}"
        expected |= {f"results/{stage}/{place}.parquet" for stage in ("kinematics", "torques", "muscles")}
        expected |= {f"results/torques/{place}.csv", f"results/figures/{place}_torques.png"}
        expected.add(f"results/report/trials/{place}.html")
        doubtful = not CUTOFF_CHECKS.isdisjoint(rows[name]["reason"].split())
        assert (f"results/figures/{place}_cutoff.png" in made) == doubtful
    assert expected - made.keys() == set()
    assert {row["status"] for row in rows.values()} <= {"ok", "caution"}
    assert text.rstrip().split("report: ")[1].splitlines()[0].endswith("/results/report/index.html")


def test_a_finished_study_has_nothing_to_do_a_graph_a_report_and_a_summary(study):
    assert planned(study) == set()
    assert set(re.findall(r'label = "(\w+)"', run(study, "--rulegraph"))) == {"study", *ALL}
    run(study, "--report", "report.html")
    assert "summary.csv" in (study / "report.html").read_text(encoding="utf-8")
    summary = run(study, "--summary")
    assert "results/torques/S01_sagittal\t" in summary
    assert "update pending" not in summary


def test_files_that_are_no_longer_asked_for_are_moved(tmp_path):
    """Of a trial of a session that stays, a whole session, and the report."""
    study = make_study(tmp_path / "study")
    change_config(study, "formats: [png]", "formats: []\nreport:\n  enabled: true\nmuscles:\n  enabled: false")
    rows = [{**row, "session": name} for row, name in zip(demo_rows(TRIALS), ("one", "one", "two"), strict=True)]
    write_trials(study, rows)
    run(study)
    before = results(study)
    write_trials(study, rows[:1])
    change_config(study, "report:\n  enabled: true", "report:\n  enabled: false")
    text = run(study)
    assert "files of removed trials or formats, moved to results/left_over" in text
    assert "report:" not in text
    after, kept, *removed = results(study), *(row["trial"] for row in rows)
    places = (f"torques/one/{removed[0]}.csv", f"torques/two/{removed[1]}.csv", f"report/trials/one/{kept}.html")
    for name in (*places, "report/index.html"):
        assert after[f"results/left_over/{name}"] == before[f"results/{name}"]
    assert not [name for name in after if name.startswith(("results/report", "results/torques/two"))]
    assert not {f"results/{name}" for name in places} & after.keys()
    assert f"results/torques/one/{kept}.csv" in after
    assert planned(study) == set()


def test_a_damaged_table_plans_its_session_and_what_depends_on_it(study):
    """Where it is asked for; a dry run changes no file."""
    damage(study, "truncated", "results/torques/S01_sagittal", "S01_sagittal_fast.csv")
    damaged = results(study)
    again = {(stage, "S01_sagittal") for stage in ("torques", "muscles", "figures", "pages", "curves")}
    assert planned_jobs(study) == again | {(stage, "") for stage in ("ensembles", *LAST)}
    assert results(study) == damaged
    damage(study, "deleted", "results/muscles/S02_horizontal", "S02_horizontal_fast.parquet")
    assert planned(study, "results/torques/S02_horizontal") == set()
    assert planned_jobs(study, "results/muscles/S02_horizontal") == {("muscles", "S02_horizontal")}
    damage(study, "record deleted", "results/torques/S02_horizontal", "")
    for stage in ("kinematics", "curves"):
        shutil.rmtree(study / "results" / stage / "S01_horizontal")
    found = planned_jobs(study)
    assert found > {("torques", "S02_horizontal"), ("kinematics", "S01_horizontal"), ("curves", "S01_horizontal")}
    (line,) = (
        line for line in run(study, "--summary").splitlines() if line.startswith("results/torques/S01_sagittal\t")
    )
    assert "update pending" in line


def test_damaged_and_edited_results_are_made_again_once_to_the_same_bytes(study, capsys):
    """Parts of files that killed jobs left are removed by the same run."""
    before = results(study)
    assert main(["verify", str(study)]) == 0
    assert capsys.readouterr().out == "0 files missing or changed\n"
    for name in EDITED:
        edit(study / name)
    (study / "results" / "muscles" / "S01_sagittal" / "S01_sagittal_fast.parquet").unlink()
    assert main(["verify", str(study)]) == 1
    text = capsys.readouterr().out
    assert all(f"{name}: edited\n" in text for name in EDITED)
    assert "results/muscles/S01_sagittal/S01_sagittal_fast.parquet: missing\n" in text
    assert "5 files missing or changed" in text
    places = [(stage, name) for name in TRIALS[1:] for stage in ("torques", "muscles", "kinematics")]
    for how, (stage, name) in zip(DAMAGES, places, strict=False):
        damage(study, how, f"results/{stage}/{SESSION[name]}", f"{name}.parquet")
    (study / "results" / "ledger.csv").write_bytes(b"")
    path = study / "results" / "ensembles.csv"
    path.write_bytes(path.read_bytes()[:-100])
    for place in ("torques/S01_sagittal/.S01_sagittal_fast", ".summary"):
        (study / "results" / f"{place}.node.4711.part.csv").write_text("half")
    assert "more damaged outputs" in run(study)
    assert results(study) == before
    assert not list((study / "results").rglob(".*.part*"))
    assert main(["verify", str(study)]) == 0
    assert planned(study) == set()


def test_verify_finds_an_edit_that_kept_the_time_and_lost_or_edited_records(study, capsys):
    before = results(study)
    name = "results/torques/S01_sagittal/S01_sagittal_fast.csv"
    edit(study / name, keep_time=True)
    assert planned(study) == set()
    (study / "results" / "records" / "collect.json").unlink()
    edit(study / "results" / "kinematics" / "S02_horizontal" / "_session.jsonl")
    assert main(["verify", str(study)]) == 1
    text = capsys.readouterr().out
    assert f"{name}: edited\n" in text
    assert "results/ledger.csv: without its record" in text
    assert "results/kinematics/S02_horizontal/_session.jsonl: damaged" in text
    assert main(["run-study", str(study), "--cores", "2", "--verify"]) == 0
    assert results(study) == before


def test_status_notices_what_a_run_would_do(study, capsys, monkeypatch):
    """The second plan is made by a process of its own."""
    assert main(["status", str(study)]) == 0
    assert len(lines := capsys.readouterr().out.splitlines()) <= 5
    assert lines[-1] == "a run would do: nothing"
    change_config(study, "title:", "title: Another ")
    monkeypatch.setattr(run_study, "subprocess", subprocess)
    assert main(["status", str(study)]) == 1
    assert "report 1" in capsys.readouterr().out.splitlines()[-1]


def test_forced_rules_and_those_up_to_one_are_planned_and_one_session_is_made_on_request(study):
    sessions = set(SESSION.values())
    torques = {("torques", session) for session in sessions}
    after = {(stage, session) for stage in ("muscles", "figures", "pages", "curves") for session in sessions}
    assert planned_jobs(study, "--forcerun", "torques") == torques | after | {(s, "") for s in ("ensembles", *LAST)}
    one = "results/torques/S01_sagittal"
    assert planned_jobs(study, "--forcerun", one, "--until", "torques") == {("torques", "S01_sagittal")}
    shutil.rmtree(study / "results")
    assert planned(study, "--until", "torques") == {"kinematics", "torques"}
    run(study, one)
    assert set(made_at(study)) == {(stage, "S01_sagittal") for stage in ("kinematics", "torques")}


def test_options_of_the_command_line_go_before_the_file_and_columns_before_both(tmp_path):
    """The file has no filter.order, one trial has a column; the settings that hold are written, and provenance has them."""
    study = make_plain_study(tmp_path / "study")
    rows = [{**row, "filter.order": ""} for row in demo_rows(TRIALS)]
    rows[0]["filter.order"] = "4"
    write_trials(study, rows)
    before = (study / "config" / "config.yaml").read_bytes()
    options = ("--config", "filter={order: 2}", "title=From the command line")
    run(study, *options)
    assert (study / "config" / "config.yaml").read_bytes() == before
    settings = json.loads((study / "results" / "settings.json").read_text(encoding="utf-8"))
    provenance = json.loads((study / "results" / "provenance.json").read_text(encoding="utf-8"))
    assert settings == provenance["settings"]
    assert (settings["filter"]["order"], settings["title"]) == (2, "From the command line")
    assert provenance["trials"][rows[0]["trial"]]["row"]["options"] == {"filter.order": 4}
    assert planned(study, *options) == set()
    assert "kinematics" in planned(study)
    assert "did you mean" in run(study, "--config", "filter={ordr: 2}", expected=1).lower()


def test_new_trials_run_their_sessions_alone(study):
    """Another condition of a trial makes no table again."""
    new = ("S02_horizontal_slow", "S02_sagittal_slow")
    rows = {row["trial"]: row for row in demo_rows((*TRIALS, *new))}
    rows["S02_sagittal_slow"]["condition"] = rows["S01_sagittal_fast"]["condition"]
    rows["S01_horizontal_spring"]["condition"] = "another"
    for name in new:
        shutil.copy(ROOT / "data" / "demo" / f"{name}.c3d", study / "data" / "demo")
    write_trials(study, list(rows.values()))
    again = {
        "S01_horizontal": {"figures", "pages", "curves"},
        "S02_horizontal": set(layout.SOURCES),
        "S02_sagittal": set(layout.SOURCES),
    }
    before = made_at(study)
    run(study)
    remade = {key for key, time_ns in made_at(study).items() if before.get(key) != time_ns}
    assert remade == {(stage, session) for session, stages in again.items() for stage in stages}
    assert planned(study) == set()


def test_a_long_session_is_divided_into_parts_with_folders_of_their_own(tmp_path):
    folder = make_study(tmp_path / "long", TRIALS[:2])
    parts = "formats: []\nmuscles:\n  enabled: false\nrun:\n  max_trials_per_job: 1"
    change_config(folder, "formats: [png]", parts)
    write_trials(folder, [{**row, "session": "study"} for row in demo_rows(TRIALS[:2])])
    run(folder)
    pages = sorted((folder / "results" / "report" / "trials").glob("*/*.html"))
    assert [page.parent.name for page in pages] == ["study~1", "study~2"]
    index = (folder / "results" / "report" / "index.html").read_text(encoding="utf-8")
    assert all(f'href="trials/{page.parent.name}/{page.name}"' in index for page in pages)
    assert planned(folder) == set()


def test_conditions_have_given_cutoffs_and_trials_that_fail_are_rows_of_the_ledger(tmp_path):
    """Two of three trials have that of their condition; the third has a number of its own."""
    study = make_plain_study(tmp_path / "study")
    extra = {"filter.cutoff_hz": "", "start_s": "", "end_s": ""}
    rows = [{**extra, **row, "condition": "alike"} for row in demo_rows(TRIALS)]
    rows[2]["filter.cutoff_hz"] = "7"
    whole = (study / rows[0]["file"]).read_bytes()
    bad = {"text": b"not a C3D file at all\n" * 100, "cut": whole[:9000], "late": whole}
    for name, content in bad.items():
        (study / "data" / f"{name}.c3d").write_bytes(content)
        rows.append({**rows[0], "trial": name, "file": f"data/{name}.c3d"})
    rows[-1] |= {"session": "late", "start_s": "90", "end_s": "91"}
    write_trials(study, rows)
    change_config(study, "figures:", "filter:\n  cutoffs_hz:\n    arm, alike: 5.5\n    arm: 9\nfigures:")
    text, kept = run(study), ledger(study)
    for row in rows[3:]:
        name = row["trial"]
        assert kept[name]["status"] == "failed"
        assert ("outside the recording" if name == "late" else f"{name}.c3d") in kept[name]["message"]
        assert f"failed: {name}" in text
        table = study / "results" / "torques" / row["session"] / f"{name}.csv"
        assert table.read_text(encoding="utf-8").count("\n") == 1
    assert {kept[name]["reason"] for name in ("text", "cut")} == {"read"}
    assert {kept[name]["status"] for name in TRIALS} <= {"ok", "caution"}
    assert [float(kept[name]["cutoff_hz"]) for name in TRIALS] == [5.5, 5.5, 7.0]
    assert planned(study) == set()
    change_config(study, "muscles:\n", "run:\n  max_failed_fraction: 0.2\nmuscles:\n")
    assert "3 of 6 trials failed, more than run.max_failed_fraction = 0.2 allows" in run(study, expected=1)
    assert len(ledger(study)) == 6


def test_a_wrong_study_and_a_second_run_are_refused_before_any_job_starts(study):
    rows = [{**row, "filter.cutoff_hz": "", "condition": "alike"} for row in demo_rows(TRIALS)]
    write_trials(study, [{**rows[0], "subject": "nobody"}, {**rows[1], "file": "data/missing.c3d"}])
    text = run(study, expected=1)
    assert text.count("subject is 'nobody', expected a subject of config/subjects.csv") == 1
    assert "file is 'data/missing.c3d', expected a file; it does not exist" in text
    assert "Traceback" not in text
    write_trials(study, rows)
    unknown = run(study, "--config", "filter={cutoffs_hz: {leg: 6}}", expected=1)
    assert "filter.cutoffs_hz names 'leg', which no trial has; there are arm; arm, alike" in unknown
    with (study / "results" / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "another run is using" in run(study, expected=1)


@pytest.mark.parametrize(
    ("old", "new", "stages"),
    [
        ("figures:", "filter:\n  order: 2\nfigures:", ALL),
        ("title: Demo", "title: Another demo", {"pages", *LAST}),
        ("figures:", "muscles:\n  enabled: false\nfigures:", {"muscles", "pages", *LAST}),
    ],
)
def test_a_changed_setting_runs_what_depends_on_it(study, old, new, stages):
    change_config(study, old, new)
    assert planned(study) == stages


@pytest.mark.parametrize(
    ("module", "stages"),
    [
        (None, set()),  # the same code in another place
        ("muscles/static_optimization/solve.py", {"muscles", "pages", *LAST}),
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


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_to_the_bytes_of_another_in_another_folder(finished, tmp_path):
    folder = make_study(tmp_path / "killed")
    for seconds in (3.0, 6.0):
        process = subprocess.Popen(
            command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    run(folder)
    assert results(folder) == results(finished[0])

"""Commands, Python, settings and tables of the pages run, and the numbers of the tutorial are right.

Every command is in `RUN` or `ELSEWHERE`. A study of one recording of the demo stands in for the reader's own.
"""

import csv
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from limbtorque.cli.main import COMMANDS as PROGRAM_COMMANDS
from limbtorque.cli.main import main
from limbtorque.recordings.writers import write_sto
from limbtorque.study.files import parse_yaml, yaml_text
from limbtorque.study.settings import load_settings
from limbtorque.study.study import load_study
from limbtorque.tables.files import read_trials
from study_runs import demo_settings
from text_files import write_trc

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "data/README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))
STARTS = ("limbtorque ", "snakemake ", "make ", "pip ", "python ")
TRIAL = "S01_sagittal_fast"
RECORDING = ROOT / "data" / "demo" / f"{TRIAL}.c3d"
QUICK = "report: {enabled: false}\nmuscles: {enabled: false}\n"  # tests/workflow/test_workflow.py runs with both
pytestmark = pytest.mark.workflow

# Commands that run here, by their folder. "study": the study; "beside": the folder that has "my study" and files
# beside it; "before": a folder that has recordings only; "clone": the program's own, with the study's full path.
RUN = {
    "before": ['limbtorque init "my study" --from recordings'],
    "study": [
        "limbtorque inspect data/demo/S01_sagittal_fast.c3d",
    ],
    "beside": [
        "limbtorque inspect recording.c3d",
        "limbtorque map recording.c3d",
        "limbtorque inspect markers.trc --forces forces.mot --set reading.force_unit=N --set reading.forces_length_unit=m",
        'limbtorque check "my study"',
        'limbtorque verify "my study"',
        'limbtorque run-study "my study" -- --dry-run',
        "limbtorque diff old/results results",
        "limbtorque diff old/results new/results",
        "limbtorque diff old/results new/results --csv changes.csv",
    ],
    "clone": ['snakemake -s Snakefile --directory "my study" --cores all --dry-run'],
}
# Commands that cannot run here, by the test that does their work: they install, need Slurm, or draw.
ELSEWHERE = {
    "test_init_folders.py::test_a_walk_in_three_files_of_opensim_needs_one_unit": [
        "limbtorque init walk --from example3DWalking --set reading.forces_length_unit=m"
    ],
    "test_open_recordings.py::test_the_second_part_of_the_tutorial": [
        "limbtorque check children",
        "limbtorque contrasts freeze children",
        "limbtorque run-study children",
    ],
    "test_open_recordings.py::test_every_command_of_the_page": [
        "limbtorque init children --from cohort",
        "limbtorque init my_c3d_org --from c3d_org",
        "limbtorque init my_walking_opensim --from walking_opensim",
        "limbtorque init my_walk_emg_opensim --from walk_emg_opensim --set reading.forces_length_unit=m",
        "limbtorque init my_running_opensim --from running_opensim --set reading.forces_length_unit=m",
        "limbtorque init my_winter_A1 --from winter_A1 --set reading.length_unit=cm",
        "limbtorque init my_tennis_serve --from tennis_serve",
        "limbtorque init my_arm_box_task --from arm_box_task",
        "limbtorque init my_arm26 --from arm26 --set reading.length_unit=m",
        "limbtorque init my_markerless --from markerless",
        "limbtorque init my_trc_opensim --from trc_opensim",
    ],
    "test_workflow.py::test_every_table_and_figure_is_made": ["make demo"],
    "test_doc_commands.py::test_make_knows_its_targets": ["make test", "make pythons"],
    "test_release.py::test_a_module_that_is_missing_from_the_wheel_is_found": ["make release"],
    "test_attack.py::test_killed_runs": ["make attack", "make attack SEED=3 FILES=2000 TABLES=200 KILLS=12"],
    "test_cli.py::test_what_the_workflow_needs_is_packed_into_the_wheel": [
        "python -m venv limbtorque-env",
        'pip wheel --constraint constraints.txt --wheel-dir wheels ".[slurm]"',
    ],
    "test_doc_commands.py::test_the_python_of_the_recipes": ["pip install --constraint constraints_then.txt ."],
    "test_plug_in_gait.py::test_the_command_of_the_page_writes_its_tables": [
        "python benchmarks/plug_in_gait.py FOLDER --write"
    ],
    "test_plane.py::test_the_command_of_the_page_writes_its_tables": [
        "python benchmarks/plane.py FOLDER --write docs/plane.md"
    ],
    "test_plane.py::test_simulated_walks_are_what_the_page_says_of_them": [
        "python benchmarks/plane_simulated.py --write docs/plane.md"
    ],
    "test_make_set.py::test_same_bytes_as_in_the_repository": ["python benchmark/make_set.py SET --seed 1 --trials 60"],
    "test_score.py::test_map_of_columns": ["python benchmark/score.py SET --results FILE... --map map.csv"],
    "test_score.py::test_the_page_of_all_programs": ["python benchmark/run_all.py SET --write docs/truth_benchmark.md"],
    "test_doc_commands.py::test_the_tutorial": [
        "limbtorque run-study .",
        "limbtorque diff results_default results --csv changes.csv",
        'limbtorque run-study "my study"',
        'limbtorque run-study "my study" --cores 4',
        'limbtorque run-study "my study" --cores 16',
    ],
    "test_slurm.py::test_a_job_that_is_killed_is_done_again_with_more_and_the_files_are_the_same": [
        'limbtorque run-study "my study" --slurm',
        'limbtorque run-study "my study" --slurm -- --default-resources slurm_partition=short slurm_account=my_group',
        'limbtorque run-study "my study" --slurm -- --slurm-status-command squeue',
        'limbtorque run-study "my study" --slurm -- --group-components short_sessions=5 --jobs 20',
        "snakemake --profile profiles/slurm",
    ],
    "test_other_engines.py::test_a_job_that_is_killed_is_done_again_and_the_files_are_the_same": [
        'pip install --constraint constraints.txt --editable ".[cluster]"',
        'snakemake -s <clone>/Snakefile --directory "my study" --profile <clone>/profiles/sge',
    ],
    "test_workflow.py::test_status_notices_what_a_run_would_do": ['limbtorque status "my study"'],
    "test_supplement.py::test_a_study_is_repeated_and_differences_are_named": [
        'limbtorque supplement "my study"',
        "limbtorque reproduce supplement.zip --recordings recordings",
    ],
    "test_bucket.py::test_recordings_are_read_from_a_bucket_and_results_written_to_it": [
        'pip install --constraint s3-constraints.txt --editable ".[s3]"',
        "snakemake -s <clone>/Snakefile --directory PLACE/s3/BUCKET/STUDY --cores all --profile <clone>/profiles/s3 \\",
    ],
    "test_opensim_models.py::test_command_writes_a_set_that_loads": [
        "limbtorque muscles import model.osim --plane sagittal --side right --output config/leg.yaml"
    ],
    "test_contrast_stage.py::test_freezing_and_checking_from_the_command_line": [
        'limbtorque contrasts freeze "my study"'
    ],
    "test_multiverse.py::test_snakemake_runs_it_on_request_only": ['limbtorque multiverse "my study"'],
    "test_emg_informed.py::test_strength_prints_factors_that_settings_take": [
        "limbtorque strength S01_mvc:knee:extension S01_mvc_ankle:ankle:extension"
    ],
    "test_examples.py::test_example_draws_a_figure_and_returns_numbers": [
        "python examples/double_pendulum.py",
        "python examples/two_link_reach.py",
    ],
    "test_examples.py::test_an_example_runs_from_any_folder": ["python examples/two_link_reach.py my/folder"],
}


def text(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", text(page), flags=re.DOTALL)


def commands(page):
    """Commands in the indented and shell blocks of a page, without comments."""
    found, language = [], ""
    for line in text(page).splitlines():
        if line.startswith("```"):
            language = "" if language else line[3:].strip() or "text"
        elif line.startswith("    ") if not language else language in ("bash", "sh", "console"):
            command = re.split(r"\s+# ", line)[0].strip()
            if command.startswith(STARTS):
                found.append(command)
    return found


COMMANDS = {command for page in PAGES for command in commands(page)}


def copy_demo(folder):
    """The demo study with the trials of one condition."""
    (folder / "data").mkdir(parents=True)
    shutil.copytree(ROOT / "config", folder / "config")
    (folder / "data" / "demo").mkdir()
    settings = demo_settings().replace("  formats: [png]\n", "  kinds: []\n")
    (folder / "config" / "config.yaml").write_text(settings + QUICK, encoding="utf-8")
    with (ROOT / "config" / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (condition,) = (row["condition"] for row in rows if row["trial"] == TRIAL)
    rows = [row for row in rows if row["condition"] == condition]
    for row in rows:
        shutil.copy(ROOT / row["file"], folder / "data" / "demo")
    with (folder / "config" / "trials.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return folder


def write_forces(path):
    """Ground reaction of one plate over 12 frames of 100 Hz, as OpenSim stores it."""
    columns = {"time_s": np.arange(120) / 1000.0}
    columns |= {f"ground_force_{kind}{axis}": np.ones(120) for kind in "vp" for axis in "xyz"}
    columns |= {f"ground_torque_{axis}": np.zeros(120) for axis in "xyz"}
    write_sto(pa.table(columns), path, units="m")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with "my study", which has run, and the files that commands name."""
    folder = tmp_path_factory.mktemp("place")
    study = copy_demo(folder / "my study")
    assert main(["run-study", str(study), "--cores", "2"]) == 0
    for name in ("results", "old/results", "new/results"):
        shutil.copytree(study / "results", folder / name)
    shutil.copy(RECORDING, folder / "recording.c3d")
    (folder / "before" / "recordings").mkdir(parents=True)
    shutil.copy(RECORDING, folder / "before" / "recordings")
    write_trc(folder / "markers.trc")
    write_forces(folder / "forces.mot")
    return folder


@pytest.fixture
def study(place, tmp_path):
    """A copy of the finished study that a test may change."""
    shutil.copytree(place / "my study", tmp_path / "copy")
    return tmp_path / "copy"


def test_every_command_is_known():
    known = [command for table in (RUN, ELSEWHERE) for commands in table.values() for command in commands]
    assert sorted(known) == sorted(COMMANDS), "commands of the pages that no test runs, or that no page has"


@pytest.mark.parametrize(("where", "command"), [(where, command) for where in RUN for command in RUN[where]])
def test_the_command_runs(where, command, place, monkeypatch):
    folders = {"study": place / "my study", "beside": place, "before": place / "before", "clone": ROOT}
    monkeypatch.chdir(folders[where])
    call, _, output = command.partition(" > ")
    program, *words = shlex.split(call)
    if program == "snakemake":
        words = [str(place / "my study") if word == "my study" else word for word in words]
        done = subprocess.run([sys.executable, "-m", "snakemake", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    else:
        settings = place / "my study" / "config" / "config.yaml"
        before = settings.read_text(encoding="utf-8")
        if words[0] == "split":  # the page says that trials of several parts cannot share a cut-off
            settings.write_text(f"{before}\nfilter: {{scope: trial}}\n", encoding="utf-8")
        assert main(words) == 0
        settings.write_text(before, encoding="utf-8")
    assert not output or re.fullmatch(r"\w+\.md", output)


def test_make_knows_its_targets():
    rules = text("Makefile")
    for target in {command.split()[1] for command in COMMANDS if command.startswith("make ")}:
        assert re.search(rf"^{target}:", rules, flags=re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES)
def test_commands_within_sentences_exist(page):
    for name in re.findall(r"`limbtorque ([a-z-]+)", text(page)):
        assert name in {command.name.split()[0] for command in PROGRAM_COMMANDS} or name.startswith("--"), name


def test_the_tutorial(study, monkeypatch, capfd):
    """Step 4: another filter gives other numbers, and the first filter the first ones again."""
    monkeypatch.chdir(study)
    settings = Path("config/config.yaml")
    before = settings.read_text(encoding="utf-8")
    assert "    cp -r results results_default\n" in text("docs/tutorial.md")
    shutil.copytree("results", "results_default")
    block, _ = blocks("docs/tutorial.md", "yaml")
    settings.write_text(f"{before}\n{block}", encoding="utf-8")
    run, compare = "limbtorque run-study .", "limbtorque diff results_default results --csv changes.csv"
    assert commands("docs/tutorial.md")[2:5] == [run, compare, run]
    assert main(shlex.split(run)[1:]) == 0
    capfd.readouterr()
    assert main(shlex.split(compare)[1:]) == 1
    assert re.search(r"setting +filter\.cutoff_hz +expected_error +3\.0", capfd.readouterr().out)
    assert Path("changes.csv").stat().st_size > 1000
    for name, cutoff_hz in (("results_default", 8.0), ("results", 3.0)):
        net = shoulder(Path(name))
        row = next(row for row in ledger(Path(name)) if row["trial"] == TRIAL)
        assert float(row["cutoff_hz"]) == pytest.approx(cutoff_hz, abs=0.05)
        column = 1 if name == "results_default" else 2
        for label, value in (("at the peak", net.max()), ("in the trough", net.min())):
            assert numbers(label)[column] == pytest.approx(value, abs=0.006)
    settings.write_text(before, encoding="utf-8")
    assert main(shlex.split(run)[1:]) == 0
    assert main(["diff", "results_default", "results"]) == 0


def shoulder(results):
    """Net torque of the shoulder in the frames of the summary."""
    table = pd.read_parquet(results / "torques" / "S01_sagittal" / f"{TRIAL}.parquet")
    return table.loc[table["edge"] == 0, "shoulder_torque_nm"]


def ledger(results):
    return read_trials(results)


def numbers(label):
    """Numbers in a row of a table of the tutorial."""
    row = re.search(rf"^\| {re.escape(label)} \|(.*)$", text("docs/tutorial.md"), flags=re.MULTILINE)
    return [float(cell) for cell in row.group(1).split("|") if re.fullmatch(r"\s*-?[\d.]+\s*", cell)]


def python_of(page, folder, monkeypatch):
    """Run the Python of a page in a study; return its variables. The study is also the only part of a split one."""
    monkeypatch.chdir(folder)
    part = folder / "parts" / "only"
    part.mkdir(parents=True)
    (part / "results").symlink_to(folder / "results")
    names = {}
    for block in blocks(page, "python"):
        exec(compile(block, page, "exec"), names)
    return names


def test_the_python_of_the_tutorial(study, monkeypatch):
    names = python_of("docs/tutorial.md", study, monkeypatch)
    assert (study / "reach.pdf").stat().st_size > 5000
    for time, row in names["shoulder"].loc[[0.30, 0.65, 0.90, 1.25]].iterrows():
        expected = row[["inertial", "centripetal", "coriolis", "gravity", "base", "net"]]
        np.testing.assert_allclose(numbers(f"{time:.2f}"), expected, atol=0.00501)


def test_the_exact_torques_of_the_tutorial():
    from demo_truth import STUDY, exact_torques
    from limbtorque.simulation.demo import demo_trials

    (trial,) = (trial for trial in demo_trials() if trial.name == TRIAL)
    exact = exact_torques(trial, STUDY.settings)[:, 0]
    assert (numbers("at the peak")[0], numbers("in the trough")[0]) == pytest.approx(
        (exact.max(), exact.min()), abs=0.005
    )


def test_the_python_of_the_recipes(study, monkeypatch, capsys):
    python_of("docs/howto.md", study, monkeypatch)
    printed = re.search(r"# (2\.432,[\d.,]+)", text("docs/howto.md")).group(1)
    assert capsys.readouterr().out.splitlines()[0] == printed
    assert f"S01_with_2_kg,72,1.78,m,{printed}\n" in text("docs/howto.md")
    lines = (study / "constraints_then.txt").read_text(encoding="utf-8").splitlines()
    assert f"numpy=={np.__version__}" in lines
    assert all(re.fullmatch(r"[\w.-]+==[\w.+!-]+", line) for line in lines)
    assert load_settings(study / "config_then.yaml") == load_settings(study / "config" / "config.yaml")


@pytest.mark.parametrize("page", ["docs/muscles.md"])
def test_the_python_of_other_pages(page, study, monkeypatch):
    assert python_of(page, study, monkeypatch)


def test_all_pages_with_python_are_run():
    tested = {"README.md", *(f"docs/{page}.md" for page in ("tutorial", "howto", "muscles"))}
    tested |= {"docs/statistics.md", "docs/other_programs.md"}  # test_contrast_stage.py, test_open_results.py
    tested |= {"docs/interface.md"}  # by tests/test_interface.py
    assert {page for page in PAGES if blocks(page, "python")} == tested


RECIPES = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text("docs/howto.md"), flags=re.DOTALL | re.MULTILINE))
TABLES = [
    (name, number) for name, recipe in RECIPES.items() for number, _ in enumerate(re.findall(r"```csv\n", recipe))
]


@pytest.mark.parametrize(("recipe", "number"), TABLES)
def test_the_tables_of_a_recipe_are_those_of_a_study(recipe, number, tmp_path):
    """With the settings of demo and recipe; copies of one recording stand in for those that the table names."""
    study = copy_demo(tmp_path / "study")
    settings = parse_yaml((study / "config" / "config.yaml").read_text(encoding="utf-8"))
    for block in re.findall(r"```yaml\n(.*?)```", RECIPES[recipe], flags=re.DOTALL):
        settings |= parse_yaml(block)
    (study / "config" / "config.yaml").write_text(yaml_text(settings), encoding="utf-8")
    table = re.findall(r"```csv\n(.*?)```", RECIPES[recipe], flags=re.DOTALL)[number]
    rows = list(csv.DictReader(line for line in table.splitlines() if not line.startswith("#")))
    kind = "trials" if "trial" in rows[0] else "subjects"
    (study / "config" / f"{kind}.csv").write_text(table, encoding="utf-8")
    if kind == "trials":
        (study / "recordings").mkdir()
        for name in {
            row[column] for row in rows for column in ("file", "forces_file", "static_file") if row.get(column)
        }:
            shutil.copy(RECORDING, study / name)
        people = "".join(f"{name},70,1.75,\n" for name in sorted({row["subject"] for row in rows}))
        (study / "config" / "subjects.csv").write_text(f"subject,mass_kg,height_m,sex\n{people}", encoding="utf-8")
    else:
        trials = (study / "config" / "trials.csv").read_text(encoding="utf-8")
        trials = re.sub(",S0[12],", ",S01_with_2_kg,", trials)
        (study / "config" / "trials.csv").write_text(trials, encoding="utf-8")
    loaded = load_study(study)
    assert len(loaded.trials) == (len(rows) if kind == "trials" else 2)

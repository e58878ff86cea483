"""What the pages say runs: their commands, their Python, the recipes' settings and tables, the tutorial's numbers.

Every command is in `RUN` or `ELSEWHERE`; one that is in neither fails. A study of one recording of the demo stands in for the
reader's own, a folder with that study and some files beside it for the place where he is.
"""

import csv
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from limbtorque.cli.main import EXAMPLES, main
from limbtorque.recordings.writers import write_sto
from limbtorque.study.settings import load_settings, make_settings
from limbtorque.study.study import load_study
from text_files import write_trc

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "data/README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))
STARTS = ("limbtorque ", "snakemake ", "make ", "pip ", "python ")
TRIAL = "S01_sagittal_fast"
QUICK = "report: {enabled: false}\nmuscles: {enabled: false}\n"  # tests/test_workflow.py runs with both
pytestmark = pytest.mark.workflow

# command -> (where it runs, its exit code). "study": in the study; "beside": in the folder that has "my study" and files
# beside it; "before": in a folder that has recordings only; "clone": in the program's own, with the study's full path.
RUN = {
    'limbtorque init "my study" --from recordings': ("before", 0),
    "limbtorque inspect recording.c3d": ("beside", 0),
    "limbtorque inspect markers.trc --forces forces.mot --set reading.force_unit=N": ("beside", 0),
    "limbtorque inspect data/demo/S01_sagittal_fast.c3d": ("study", 0),
    'limbtorque check "my study"': ("beside", 0),
    'limbtorque run-study "my study"': ("beside", 0),
    'limbtorque split "my study" parts': ("beside", 0),
    'limbtorque run-study "my study" --cores 4': ("beside", 0),
    'limbtorque run-study "my study" --cores 16': ("beside", 0),
    'limbtorque run-study "my study" -- --dry-run': ("beside", 0),
    'snakemake -s Snakefile --directory "my study" --cores all --dry-run': ("clone", 0),
    "limbtorque diff old/results results": ("beside", 0),
    "limbtorque diff old/results new/results": ("beside", 0),
    "limbtorque diff old/results new/results --html changes.html": ("beside", 0),
    "limbtorque diff old/results new/results --tolerance 1e-6": ("beside", 0),
    "limbtorque methods results > methods.md": ("study", 0),
}
# command -> (why it does not run here, the test that does its work)
ELSEWHERE = {
    "make demo": ("makes an environment", "test_workflow.py::test_every_table_and_figure_is_made"),
    "make test": ("would run this test", "test_doc_commands.py::test_make_knows_its_targets"),
    "pip install --constraint constraints.txt .": (
        "changes the environment",
        "test_cli.py::test_what_the_workflow_needs_is_packed_into_the_wheel",
    ),
    "pip install --constraint constraints_then.txt .": (
        "changes the environment",
        "test_doc_commands.py::test_the_versions_of_a_run_are_constraints",
    ),
    "limbtorque run-study .": ("in the order of the page", "test_doc_commands.py::test_the_tutorial"),
    "limbtorque diff results_default results --csv changes.csv": (
        "in the order of the page",
        "test_doc_commands.py::test_the_tutorial",
    ),
    **dict.fromkeys(
        (
            'limbtorque run-study "my study" --slurm',
            'limbtorque run-study "my study" --slurm -- --default-resources slurm_partition=short slurm_account=my_group',
            'limbtorque run-study "my study" --slurm -- --slurm-status-command squeue',
            'limbtorque run-study "my study" --slurm -- --group-components short_sessions=5 cutoffs=5 --jobs 20',
            "snakemake --profile profiles/slurm",
        ),
        (
            "needs a Slurm",
            "test_slurm.py::test_a_job_that_is_killed_is_done_again_with_more_and_the_files_are_the_same",
        ),
    ),
    **dict.fromkeys(
        ("python -m venv limbtorque-env", 'pip wheel --constraint constraints.txt --wheel-dir wheels ".[slurm]"'),
        ("makes an environment", "test_cli.py::test_what_the_workflow_needs_is_packed_into_the_wheel"),
    ),
    "python examples/double_pendulum.py": (
        "draws",
        "test_examples.py::test_example_draws_a_figure_and_returns_numbers",
    ),
    "python examples/two_link_reach.py": ("draws", "test_examples.py::test_example_draws_a_figure_and_returns_numbers"),
    "python examples/two_link_reach.py my/folder": ("draws", "test_examples.py::test_an_example_runs_from_any_folder"),
}


def text(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", text(page), flags=re.DOTALL)


def commands(page):
    """Commands of a page's indented and shell blocks, without their comments."""
    found, language = [], ""
    for line in text(page).splitlines():
        if line.startswith("```"):
            language = "" if language else line[3:].strip() or "text"
        elif line.startswith("    ") if not language else language in ("bash", "sh", "console"):
            command = re.split(r"\s+# ", line)[0].strip()
            if command.startswith(STARTS):
                found.append(command)
    return found


COMMANDS = sorted({command for page in PAGES for command in commands(page)})


def copy_demo(folder):
    """The demo study with one of its trials."""
    (folder / "data").mkdir(parents=True)
    shutil.copytree(ROOT / "config", folder / "config")
    (folder / "data" / "demo").mkdir()
    shutil.copy(ROOT / "data" / "demo" / f"{TRIAL}.c3d", folder / "data" / "demo")
    settings = text("config/config.yaml").replace("  formats: [png]\n", "  kinds: []\n  study: []\n")
    (folder / "config" / "config.yaml").write_text(settings + QUICK, encoding="utf-8")
    with (ROOT / "config" / "trials.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["trial"] == TRIAL]
    with (folder / "config" / "trials.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return folder


def write_forces(path):
    """Ground reaction of one plate, 12 frames of 100 Hz, as OpenSim's users have it."""
    columns = {"time_s": np.arange(120) / 1000.0}
    columns |= {f"ground_force_{kind}{axis}": np.ones(120) for kind in "vp" for axis in "xyz"}
    columns |= {f"ground_torque_{axis}": np.zeros(120) for axis in "xyz"}
    write_sto(pa.table(columns), path, units="m")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with "my study", which has run, and what the commands name beside it."""
    folder = tmp_path_factory.mktemp("place")
    study = copy_demo(folder / "my study")
    assert main(["run-study", str(study), "--cores", "2"]) == 0
    for name in ("results", "old/results", "new/results"):
        shutil.copytree(study / "results", folder / name)
    recording = ROOT / "data" / "demo" / f"{TRIAL}.c3d"
    shutil.copy(recording, folder / "recording.c3d")
    (folder / "before" / "recordings").mkdir(parents=True)
    shutil.copy(recording, folder / "before" / "recordings")
    write_trc(folder / "markers.trc")
    write_forces(folder / "forces.mot")
    return folder


@pytest.fixture
def study(place, tmp_path):
    """A copy of the finished study that a test may change."""
    shutil.copytree(place / "my study", tmp_path / "copy")
    return tmp_path / "copy"


def test_every_command_is_known():
    assert set(COMMANDS) == {*RUN, *ELSEWHERE}, "commands of the pages that no test runs, or that no page has"


def test_commands_are_found_where_they_stand():
    assert commands("docs/first_hour.md")[0] == 'limbtorque init "my study" --from recordings'
    assert 'limbtorque run-study "my study"' in commands("README.md")
    assert commands("docs/theory.md") == []  # formulas are indented, too


@pytest.mark.parametrize("command", RUN)
def test_the_command_runs(command, place, monkeypatch):
    where, expected = RUN[command]
    folders = {"study": place / "my study", "beside": place, "before": place / "before", "clone": ROOT}
    monkeypatch.chdir(folders[where])
    call, _, output = command.partition(" > ")
    program, *words = shlex.split(call)
    if program == "snakemake":
        words = [str(place / "my study") if word == "my study" else word for word in words]
        done = subprocess.run([sys.executable, "-m", "snakemake", *words], capture_output=True, text=True, check=False)
        assert done.returncode == expected, done.stderr
    else:
        assert main(words) == expected
    assert not output or re.fullmatch(r"\w+\.md", output)


@pytest.mark.parametrize("command", ELSEWHERE)
def test_what_runs_elsewhere_is_tested_there(command):
    file, _, name = ELSEWHERE[command][1].partition("::")
    assert f"def {name}(" in next((ROOT / "tests").rglob(file)).read_text(encoding="utf-8")


def test_make_knows_its_targets():
    rules = text("Makefile")
    for target in {command.split()[1] for command in COMMANDS if command.startswith("make ")}:
        assert re.search(rf"^{target}:", rules, flags=re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES)
def test_commands_within_sentences_exist(page):
    for name in re.findall(r"`limbtorque ([a-z-]+)", text(page)):
        assert name in EXAMPLES or name.startswith("--"), name


def test_the_tutorial(study, monkeypatch, capfd):
    """Its fourth step as it stands: another filter makes other numbers, and the first filter the first ones."""
    monkeypatch.chdir(study)
    settings = Path("config/config.yaml")
    before = settings.read_text(encoding="utf-8")
    assert "    cp -r results results_default\n" in text("docs/tutorial.md")
    shutil.copytree("results", "results_default")
    (block,) = blocks("docs/tutorial.md", "yaml")
    settings.write_text(f"{before}\n{block}", encoding="utf-8")
    run, compare = "limbtorque run-study .", "limbtorque diff results_default results --csv changes.csv"
    assert commands("docs/tutorial.md")[-3:] == [run, compare, run]
    assert main(shlex.split(run)[1:]) == 0
    capfd.readouterr()
    assert main(shlex.split(compare)[1:]) == 1
    assert re.search(r"setting +filter\.cutoff_hz +expected_error +3\.0", capfd.readouterr().out)
    assert Path("changes.csv").stat().st_size > 1000
    for name, cutoff_hz in (("results_default", 6.3), ("results", 3.0)):
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
    import pandas as pd

    table = pd.read_parquet(results / "torques" / "S01_sagittal" / f"{TRIAL}.parquet")
    return table.loc[table["edge"] == 0, "shoulder_torque_nm"]


def ledger(results):
    with (results / "ledger.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers(label):
    """Numbers of a row of a table of the tutorial."""
    row = re.search(rf"^\| {re.escape(label)} \|(.*)$", text("docs/tutorial.md"), flags=re.MULTILINE)
    return [float(cell) for cell in row.group(1).split("|") if re.fullmatch(r"\s*-?[\d.]+\s*", cell)]


def python_of(page, folder, monkeypatch):
    """Run the Python of a page in a study, which is the only part of a large one; its names afterwards."""
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
    from limbtorque.simulate.reach import demo_trials

    (trial,) = (trial for trial in demo_trials() if trial.name == TRIAL)
    exact = exact_torques(trial, STUDY.settings)[:, 0]
    assert (numbers("at the peak")[0], numbers("in the trough")[0]) == pytest.approx(
        (exact.max(), exact.min()), abs=0.005
    )


def test_the_python_of_the_recipes(study, monkeypatch, capsys):
    python_of("docs/howto.md", study, monkeypatch)
    said = re.search(r"# (2\.432,[\d.,]+)", text("docs/howto.md")).group(1)
    assert capsys.readouterr().out.splitlines()[0] == said
    assert f"S01_with_2_kg,72,1.78,m,{said}\n" in text("docs/howto.md")


def test_the_versions_of_a_run_are_constraints(study, monkeypatch):
    python_of("docs/howto.md", study, monkeypatch)
    lines = (study / "constraints_then.txt").read_text(encoding="utf-8").splitlines()
    assert f"numpy=={np.__version__}" in lines
    assert all(re.fullmatch(r"[\w.-]+==[\w.+!-]+", line) for line in lines)
    assert load_settings(study / "config_then.yaml") == load_settings(study / "config" / "config.yaml")


@pytest.mark.parametrize("page", ["docs/tables.md", "docs/muscles.md"])
def test_the_python_of_other_pages(page, study, monkeypatch):
    assert python_of(page, study, monkeypatch)


def test_all_pages_with_python_are_run():
    tested = {"README.md", "docs/tutorial.md", "docs/howto.md", "docs/tables.md", "docs/muscles.md"}
    assert {page for page in PAGES if blocks(page, "python")} == tested


RECIPES = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text("docs/howto.md"), flags=re.DOTALL | re.MULTILINE))
TABLES = [
    (name, number) for name, recipe in RECIPES.items() for number, _ in enumerate(re.findall(r"```csv\n", recipe))
]


@pytest.mark.parametrize(("recipe", "number"), TABLES)
def test_the_tables_of_a_recipe_are_those_of_a_study(recipe, number, tmp_path):
    """With the demo's settings and the recipe's, whatever recordings it names."""
    study = copy_demo(tmp_path / "study")
    settings = yaml.safe_load((study / "config" / "config.yaml").read_text(encoding="utf-8"))
    for block in re.findall(r"```yaml\n(.*?)```", RECIPES[recipe], flags=re.DOTALL):
        settings |= yaml.safe_load(block)
    (study / "config" / "config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    table = re.findall(r"```csv\n(.*?)```", RECIPES[recipe], flags=re.DOTALL)[number]
    rows = list(csv.DictReader(line for line in table.splitlines() if not line.startswith("#")))
    kind = "trials" if "trial" in rows[0] else "subjects"
    (study / "config" / f"{kind}.csv").write_text(table, encoding="utf-8")
    if kind == "trials":
        (study / "recordings").mkdir()
        for name in {row[column] for row in rows for column in ("file", "forces_file") if row.get(column)}:
            shutil.copy(study / "data" / "demo" / f"{TRIAL}.c3d", study / name)
        people = "".join(f"{name},70,1.75,\n" for name in sorted({row["subject"] for row in rows}))
        (study / "config" / "subjects.csv").write_text(f"subject,mass_kg,height_m,sex\n{people}", encoding="utf-8")
    else:
        trials = (study / "config" / "trials.csv").read_text(encoding="utf-8").replace(",S01,", ",S01_with_2_kg,")
        (study / "config" / "trials.csv").write_text(trials, encoding="utf-8")
    loaded = load_study(study)
    assert len(loaded.trials) == (len(rows) if kind == "trials" else 1)


def test_the_settings_of_the_recipes_say_what_the_text_says():
    assert make_settings(yaml.safe_load(blocks("docs/howto.md", "yaml")[0])).marker_sets["our_lab"]
    assert len(TABLES) == 5

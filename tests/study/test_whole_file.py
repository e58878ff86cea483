"""Files are written whole or not at all, whoever writes them."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import matplotlib.figure
import pyarrow as pa
import pytest

from limbtorque.figures.style import save_figure
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.recordings.writers import write_recording, write_sto
from limbtorque.simulation.demo import demo_trials
from limbtorque.study.files import is_part, whole_file, write_bytes, write_text
from limbtorque.tables.column import Column
from limbtorque.tables.files import csv_pieces, long_table_writer, write_table

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "limbtorque"
TABLE = pa.table({"time_s": [0.0, 0.1, 0.2], "elbow_torque_nm": [1.0, 2.0, 3.0]})
RECORDING = demo_trials()[1].recording(noise_m=2e-4)
COLUMNS = (Column("time_s", "s", "time"), Column("value", "1", "number"))
WRITES = re.compile(
    r"\.write_(?:text|bytes)\(|savefig\(|\.save\(|write_csv\(|parquet\.write_table\(|(?:Parquet|CSV)Writer\(|shutil\.copy\w*\(|"
    r"np\.save\w*\(|to_csv\(|\.write\(str|open\([^)]*[\"'][wxa]b?[\"']"
)
ELSEWHERE = {  # writes that are no files of a user
    "recordings/writers.py": 1,  # into the file that is open
    "figures/pictures.py": 1,  # into memory
    "workflow/operating_system.py": 1,  # the null device
    "workflow/results_folder.py": 1,  # the lock, which is the file that is locked
}


def lines(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("old")
    return path


def ruin(*_, **__):
    raise OSError(28, "No space left on device")


def interrupted_csv(path):
    with csv_pieces(path, COLUMNS) as write:
        write([{"time_s": 0.0, "value": 1.0}])
        ruin()


def interrupted_curves(path):
    with long_table_writer(path, COLUMNS):
        ruin()


WRITERS = {
    "figure.png": (lambda path: save_figure(matplotlib.figure.Figure(), path), "PIL.Image.Image.save"),
    "table.parquet": (lambda path: write_table(TABLE, path), "pyarrow.parquet.write_table"),
    "table.csv": (lambda path: write_table(TABLE, path), "limbtorque.tables.files._blank"),
    "table.sto": (lambda path: write_sto(TABLE, path), "numpy.savetxt"),
    "markers.parquet": (
        lambda path: write_recording(RECORDING, path),
        "pyarrow.parquet.write_table",
    ),
    "markers.csv": (lambda path: write_recording(RECORDING, path), "pyarrow.csv.write_csv"),
    "markers.c3d": (lambda path: write_c3d(RECORDING, path), "pathlib.Path.write_bytes"),
    "page.html": (lambda path: write_text(path, "new"), "pathlib.Path.write_text"),
    "data.bin": (lambda path: write_bytes(path, b"new"), "pathlib.Path.write_bytes"),
    "pieces.csv": (interrupted_csv, None),
    "curves.parquet": (interrupted_curves, None),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(name, tmp_path, monkeypatch):
    write, step = WRITERS[name]
    path = lines(tmp_path / name)
    if step:
        monkeypatch.setattr(step, ruin)
    with pytest.raises(OSError, match="No space"):
        write(path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_a_killed_writer_leaves_the_old_file_and_a_part_that_is_known(tmp_path):
    path = lines(tmp_path / "a.b.parquet")
    text = (
        "import os, signal, sys; from pathlib import Path; from limbtorque.study.files import whole_file\n"
        "with whole_file(Path(sys.argv[1])) as part:\n    part.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", text, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    (part,) = (one for one in tmp_path.iterdir() if one != path)
    assert is_part(part)
    assert part.suffix == ".parquet"
    assert not is_part(path)


@pytest.mark.parametrize(
    "name", ["verdict.txt", ".lock", ".snakemake_timestamp", "a.part.csv", ".part", "_session.jsonl"]
)
def test_other_names_are_no_parts(name):
    assert not is_part(Path(name))


@pytest.mark.parametrize("name", ["a", "a.csv", "x" * 250, "a.part.csv"])
def test_parts_of_any_name_are_known_and_fit(name, tmp_path):
    with whole_file(tmp_path / name) as part:
        assert is_part(part)
        part.write_text("new")
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_nobody_writes_a_file_in_another_way():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        count = sum(
            bool(WRITES.search(line)) and not re.search(r"\bpart\b", line)
            for line in path.read_text(encoding="utf-8").splitlines()
        )
        if count:
            found[path.relative_to(PACKAGE).as_posix()] = count
    assert found == ELSEWHERE

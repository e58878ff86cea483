"""Studies of a few trials of the demo, run as a user runs them."""

import csv
import fcntl
import hashlib
import os
import re
import shutil
import sys
from pathlib import Path

import loaded_snakemake
from limbtorque.tables.files import read_trials

ROOT = Path(__file__).resolve().parents[1]
TRIALS = ("S01_sagittal_fast", "S01_horizontal_spring", "S02_horizontal_fast")
PLAN = ("--dry-run", "--quiet", "progress", "--printshellcmds")
SESSION = {name: name.rpartition("_")[0] for name in TRIALS}


def demo_settings():
    """Settings of the demo without its contrasts, which need all its walks."""
    return (ROOT / "config" / "config.yaml").read_text(encoding="utf-8").partition("\ncontrasts:")[0]


def make_study(folder, names=TRIALS):
    """A study of a few trials of the demo."""
    (folder / "config").mkdir(parents=True)
    (folder / "data" / "demo").mkdir(parents=True)
    (folder / "config" / "config.yaml").write_text(demo_settings(), encoding="utf-8")
    shutil.copy(ROOT / "config" / "subjects.csv", folder / "config")
    for name in names:
        shutil.copy(ROOT / "data" / "demo" / f"{name}.c3d", folder / "data" / "demo")
    write_trials(folder, demo_rows(names))
    return folder


def make_plain_study(folder, names=TRIALS):
    """A study without figures, report and muscles, which a run makes faster."""
    path = make_study(folder, names) / "config" / "config.yaml"
    text = path.read_text(encoding="utf-8").replace("formats: [png]", "formats: []")
    off = "".join(f"{section}:\n  enabled: false\n" for section in ("muscles", "report"))
    path.write_text(text + off, encoding="utf-8")
    return folder


def made_once(factory, name, make):
    """A folder that one worker of pytest-xdist makes, and all use: `make` is called with its path."""
    base = factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with place.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            part = place.with_name(f"{name}.part")
            shutil.rmtree(part, ignore_errors=True)
            make(part)
            part.rename(place)
    return place


def demo_rows(names):
    with (ROOT / "config" / "trials.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["trial"] in names]


def write_trials(folder, rows):
    with (folder / "config" / "trials.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def command(folder, *options):
    base = [sys.executable, "-m", "snakemake", "-s", ROOT / "Snakefile", "--directory", folder, "--cores", "2"]
    return [str(part) for part in (*base, *options)]


def run(folder, *options, package=None, expected=0):
    """Output of Snakemake, with a copy of the package in another place where one is given."""
    words = command(folder, *options)
    code, text = loaded_snakemake.run(words[words.index("snakemake") + 1 :], package=package)
    assert code == expected, text
    return text


def planned(folder, *options, **kwargs):
    """Names of the rules that would run."""
    return {rule for rule, _ in planned_jobs(folder, *options, **kwargs)}


def planned_jobs(folder, *options, **kwargs):
    """Jobs that would run, as pairs of rule and session; the session is empty for jobs on the whole study."""
    return jobs_of(run(folder, *options, *PLAN, **kwargs))


def jobs_of(text):
    """Jobs of a dry run, by what it printed."""
    jobs = re.findall(r"limbtorque\.workflow\.job .*?(\w+) (?:--session=(\S+) )?--log", text)
    return {(stage, session.strip("'")) for stage, session in jobs}


def results(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((folder / "results").rglob("*"))
        if path.is_file() and "logs" not in path.parts and path.name not in (".lock", ".snakemake_timestamp")
    }


def ledger(folder):
    """Rows of the ledger with metrics and notes, by trial."""
    return {row["trial"]: row for row in read_trials(folder / "results")}

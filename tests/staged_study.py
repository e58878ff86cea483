"""Studies of a few trials of the demo, run stage by stage in this process."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from emg_signals import write_sto

import limbtorque as lt
from limbtorque.study.files import parse_yaml, yaml_text
from limbtorque.study.study import load_study
from limbtorque.tables.files import column_values, read_record, read_table, rounded_table, write_table
from limbtorque.workflow import keys
from limbtorque.workflow.stages import collect, curves, ensembles, kinematics, muscles, torques
from study_runs import demo_settings


class Tables:
    def __init__(self, folder):
        self.folder = folder
        self.curves = pd.read_parquet(folder / "curves")
        means = pd.read_csv(folder / "ensembles.csv")
        self.ensembles, self.both = means[means.side != "both"], means[means.side == "both"]
        self.windows = pd.read_csv(folder / "windows.csv", keep_default_na=False).set_index("trial")

    def table(self, stage, trial):
        """Path of a trial's table."""
        return next(self.folder.glob(f"{stage}/*/{trial}.parquet"))

    def curve(self, trial, quantity):
        rows = self.curves[(self.curves.trial == trial) & (self.curves.quantity == quantity)]
        return rows.value.to_numpy()


ROOT = Path(__file__).resolve().parents[1]
DEMO = ("S01_sagittal_fast", "S01_horizontal_fast", "S02_sagittal_fast", "S02_horizontal_fast", "S01_sagittal_slow")


def make_study(folder, *, names=DEMO, extra="", change=lambda rows: rows):
    """A study of some trials of the demo, its horizontal and sagittal trials in one condition."""
    (folder / "config").mkdir(parents=True)
    (folder / "data").symlink_to(ROOT / "data")
    (folder / "config" / "subjects.csv").write_bytes((ROOT / "config" / "subjects.csv").read_bytes())
    settings = parse_yaml(demo_settings())
    for section, options in (parse_yaml(extra) or {}).items():
        settings[section] = settings.get(section, {}) | options
    (folder / "config" / "config.yaml").write_text(yaml_text(settings), encoding="utf-8")
    with (ROOT / "config" / "trials.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["trial"] in names]
    rows = change([{**row, "condition": row["condition"].split()[-1]} for row in rows])
    with (folder / "config" / "trials.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return folder


def change_settings(folder, **sections):
    """Change options of sections of a study's settings."""
    path = folder / "config" / "config.yaml"
    settings = parse_yaml(path.read_text(encoding="utf-8"))
    for section, options in sections.items():
        settings[section] = (settings.get(section) or {}) | options
    path.write_text(yaml_text(settings), encoding="utf-8")


def add_emg(folder, columns, *, start_s, **options):
    """Give all trials of a study one file of electromyography, and the settings their options of it."""
    write_sto(folder / "emg.sto", columns, start_s=start_s, rate_hz=1000.0)
    table = folder / "config" / "trials.csv"
    pd.read_csv(table, dtype=str, keep_default_na=False).assign(emg_file="emg.sto").to_csv(table, index=False)
    change_settings(folder, emg=options)


def run_tables(folder):
    """The tables of every trial."""
    study = load_study(folder)
    for stage, module in (("kinematics", kinematics), ("torques", torques), ("muscles", muscles)):
        for session in study.batches:
            module.run(folder=folder, session=session, key=keys.session_key(stage, study, session))


def run_stages(folder):
    run_tables(folder)
    return run_ensembles(folder)


def run_ensembles(folder):
    study = load_study(folder)
    for session in study.batches:
        curves.run(folder=folder, session=session, key=keys.session_key("curves", study, session))
    ensembles.run(folder=folder, key=keys.ensembles_key(study))
    collect.run(folder=folder)
    return Tables(folder / "results")


TABLES = {"kinematics": "kinematics_table", "torques": "torque_table", "muscles": "muscle_table"}
ROWS = ("metrics", "joint_metrics", "notes", "window", "summary", "contact_summary", "beside_file", "emg")


def compared_with_memory(folder):
    """Analyse every trial of a study that has run; the number of tables in memory with the numbers of its files."""
    study, n_compared = lt.load_study(folder), 0
    for trial in study.trials:
        made = {stage: next((folder / "results" / stage).glob(f"*/{trial.name}.csv")) for stage in TABLES}
        records = {stage: read_record(path.with_suffix(".parquet")) for stage, path in made.items()}
        if records["torques"].failed:
            with pytest.raises(lt.LimbtorqueError):
                study.analyse(trial.name)
            continue
        result = study.analyse(trial.name)
        for stage, name in TABLES.items():
            ours, theirs = (json.loads(record.to_json()) for record in (result.records[stage], records[stage]))
            for what in ROWS:  # as text: unknown numbers are not equal to themselves
                assert json.dumps(ours[what]) == json.dumps(theirs[what]), (trial.name, stage, what)
            table = getattr(result, name)
            if table is None:  # no muscle set: the workflow's table has no rows
                assert made[stage].read_bytes().count(b"\n") == 1
                continue
            write_table(table, folder / "memory.csv", rounded=True)
            assert (folder / "memory.csv").read_bytes() == made[stage].read_bytes(), (trial.name, stage)
            held = table if stage == "kinematics" else rounded_table(table)
            stored, _ = read_table(made[stage].with_suffix(".parquet"))
            for column in held.column_names:  # to the last bit
                np.testing.assert_array_equal(column_values(stored, column), column_values(held, column), strict=True)
            n_compared += 1
    return n_compared

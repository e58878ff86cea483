# in:  config/config.yaml, config/trials.csv, config/subjects.csv, options of --config
# out: STUDY, checked as a whole before any job starts, and what the rules need to know of its sessions
import re
import sys
from functools import partial
from pathlib import Path

from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError

from limbtorque.errors import LimbtorqueError
from limbtorque.workflow import (
    bucket,
    job,
    keys,
    layout,
    records,
    reference_faults,
    resources,
    results_folder,
    snakemake_faults,
    worker,
)
from limbtorque.workflow.effective_settings import ensure_settings, refuse_odd_numbers, refuse_other_readings
from limbtorque.workflow.keys import code_key
from limbtorque.workflow.load_checked import checked_study, refuse_future
from limbtorque.workflow.operating_system import end_in_order, say

end_in_order()  # where `limbtorque run-study` started Snakemake: it was ended at once until here

try:
    refuse_odd_numbers(sys.argv)
    for file in workflow.configfiles:
        refuse_other_readings(Path(file), load_configfile(file))
    bucket.retrieve_recordings(workflow, Path("."), config)
    STUDY = checked_study(Path("."), config)
    refuse_future(STUDY)
except LimbtorqueError as error:
    raise WorkflowError(f"{error}\nnext: correct this, then run `limbtorque check` for this study") from None
SESSIONS = list(STUDY.batches)
SETTINGS = keys.settings_key(STUDY.settings)
STUDY_KEY = keys.study_key(STUDY)
ENSEMBLES = STUDY.settings.ensembles.enabled
records.force_damaged(workflow, STUDY)


wildcard_constraints:
    session="|".join(map(re.escape, SESSIONS)),


# Snakemake does not compare what a function with 'threads' returns (no upstream issue): Python in another place repeats nothing.
def command(wildcards, threads):
    return job.command(workflow, dict(config), SETTINGS)


def recordings_of(wildcards):
    return sorted({str(file) for trial in STUDY.batches[wildcards.session] for file in trial.files})


def emg_files_of(wildcards):
    trials = (trial for trial in STUDY.batches[wildcards.session] if trial.settings.emg.channels)
    return sorted({str(file) for trial in trials for file in trial.files})


def draws_muscles(wildcards):
    return "muscles" in layout.needed("figures", STUDY.batches[wildcards.session])


def session_key(wildcards, stage):
    return keys.session_key(stage, STUDY, wildcards.session)


# Groups and resources are for clusters (profiles/slurm): all stages of a session are one job there.
def session_group(wildcards):
    return resources.group(STUDY.batches[wildcards.session])


def session_mb(wildcards, attempt):
    return resources.memory_mb(STUDY.batches[wildcards.session], attempt=attempt)


def session_minutes(wildcards, attempt, stage):
    return resources.minutes(stage, STUDY.batches[wildcards.session], attempt=attempt)


def study_mb(wildcards, attempt):
    return resources.study_memory_mb(STUDY, attempt=attempt)


def study_minutes(wildcards, attempt):
    return resources.study_minutes(STUDY, attempt=attempt)


onstart:
    results_folder.hold_run(Path("."))
    results_folder.remove_parts(Path("."))
    results_folder.move_left_over(STUDY, Path("."))
    ensure_settings(Path("."), config, SETTINGS)
    snakemake_faults.unpace(workflow)
    snakemake_faults.forget_reasons(workflow)
    snakemake_faults.show()
    snakemake_faults.wait_for_jobs()
    if workflow.local_exec:
        worker.start(layout.stages_of(STUDY))


onsuccess:
    results_folder.remove_parts(Path("."))
    if layout.VERDICT.is_file():
        say(layout.VERDICT.read_text().rstrip("\n"), sys.stdout)
        say(f"ledger: {layout.STUDY_TABLES['ledger']}", sys.stdout)
    if layout.REPORT["index"].is_file():
        say(f"report: {layout.REPORT['index'].resolve()}", sys.stdout)


onerror:
    if layout.VERDICT.is_file() and not layout.ACCEPTED.is_file():
        say(layout.VERDICT.read_text().rstrip("\n"))
    if layout.REPORT["index"].is_file():
        say(f"ledger: {layout.STUDY_TABLES['ledger']}; report, as far as it was made: {layout.REPORT['index']}")

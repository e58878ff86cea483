# in:  config/config.yaml, config/trials.csv, config/subjects.csv
# out: STUDY, checked as a whole before any job starts; one run at a time in a study's folder
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError

from limbtorque.errors import LimbtorqueError
from limbtorque.workflow import job, job_errors, layout, lock, resources, worker
from limbtorque.workflow.load_checked import checked_study
from limbtorque.workflow.pace import unpace

if config:
    raise WorkflowError("options are read from config/config.yaml only; --config has no effect here")
try:
    STUDY = checked_study(Path("."))
except LimbtorqueError as error:
    raise WorkflowError(str(error)) from None
STUDY_KEY = layout.study_key(STUDY)


# With 'threads', which it does not use, Snakemake does not compare what it returns: Python in another place makes nothing again.
def command(wildcards, threads):
    return job.command(workflow)


# What jobs ask a cluster for (profiles/slurm); nothing of it matters on one machine.
def asked_mb(wildcards, attempt, trials):
    return resources.memory_mb(trials, attempt=attempt)


def asked_minutes(wildcards, attempt, stage, trials):
    return resources.minutes(stage, trials, attempt=attempt)


def study_mb(wildcards, attempt):
    return resources.study_memory_mb(STUDY, attempt=attempt)


def study_minutes(wildcards, attempt):
    return resources.study_minutes(STUDY, attempt=attempt)


onstart:
    lock.hold(layout.RESULTS)
    unpace(workflow)
    job_errors.show()
    if workflow.local_exec:
        worker.start(layout.stages_of(STUDY))


onsuccess:
    print(layout.VERDICT.read_text(), end="")
    print(f"ledger: {layout.STUDY_TABLES['ledger']}")
    if STUDY.settings.report.enabled:
        print(f"report: {layout.REPORT['index']}")

# in:  config/config.yaml, config/trials.csv, config/subjects.csv
# out: STUDY, checked as a whole before any job starts; one run at a time in a study's folder
from pathlib import Path

from snakemake.exceptions import WorkflowError

from limbtorque.errors import LimbtorqueError
from limbtorque.stages import layout, lock
from limbtorque.stages.check import checked_study
from limbtorque.stages.pace import unpace

if config:
    raise WorkflowError("options are read from config/config.yaml only; --config has no effect here")
try:
    STUDY = checked_study(Path("."))
except LimbtorqueError as error:
    raise WorkflowError(str(error)) from None


onstart:
    lock.hold(layout.RESULTS)
    unpace(workflow)


onsuccess:
    print(Path("results/verdict.txt").read_text(), end="")
    print("ledger: results/ledger.csv")
    if STUDY.settings.report.enabled:
        print(f"report: {layout.REPORT['index']}")

"""The first page of the report."""

from pathlib import Path

from limbtorque.stages import report
from limbtorque.stages.batch import log_to

log_to(Path(snakemake.log[0]))  # noqa: F821 - Snakemake puts it here
report.run(folder=Path())

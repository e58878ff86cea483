"""The tables of the study."""

from pathlib import Path

from limbtorque.stages import collect
from limbtorque.stages.batch import log_to

log_to(Path(snakemake.log[0]))  # noqa: F821 - Snakemake puts it here
collect.run(folder=Path())

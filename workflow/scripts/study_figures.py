"""Figures of the study."""

from pathlib import Path

from limbtorque.stages import study_figures
from limbtorque.stages.batch import log_to

log_to(Path(snakemake.log[0]))  # noqa: F821 - Snakemake puts it here
study_figures.run(folder=Path())

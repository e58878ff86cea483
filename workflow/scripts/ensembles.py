"""Curves, ensembles and windows of the study."""

from pathlib import Path

from limbtorque.stages import ensembles
from limbtorque.stages.batch import log_to

log_to(Path(snakemake.log[0]))  # noqa: F821 - Snakemake puts it here
ensembles.run(folder=Path(), key=snakemake.params.key)  # noqa: F821

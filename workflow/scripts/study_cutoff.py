"""One cut-off from those of all trials."""

from pathlib import Path

from limbtorque.stages import cutoffs
from limbtorque.stages.batch import log_to

log_to(Path(snakemake.log[0]))  # noqa: F821 - Snakemake puts it here
cutoffs.join(folder=Path(), batches=[Path(name) for name in snakemake.input])  # noqa: F821

"""One stage for one batch of trials: hand Snakemake's parameters to the package."""

from limbtorque.stages import worker

worker.do(
    snakemake.params.stage,  # noqa: F821 - Snakemake puts it here
    batch=snakemake.params.batch,  # noqa: F821
    key=snakemake.params.key,  # noqa: F821
    log=snakemake.log[0],  # noqa: F821
)

"""Read, compute, write: what one Snakemake job does. The only place where a trial's error becomes a ledger row.

Nothing imports these modules but the command of a job (`job`), the command line and the Snakefile (`layout`).
"""

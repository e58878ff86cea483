"""Read, compute, write: what one Snakemake job does. The only place where a trial's error becomes a ledger row.

Nothing imports these modules but the adapters in `workflow/scripts`, the command line and the Snakefile (`layout`).
"""

"""Start of Snakemake by `run-study`, without tracebacks from imports."""

from limbtorque.workflow import operating_system

if __name__ == "__main__":
    operating_system.end_at_once()  # until the workflow is read (study.smk)
    from snakemake.cli import main

    main()

"""Start of Snakemake by `run-study`, without a traceback of its imports."""

from limbtorque.workflow import operating_system

if __name__ == "__main__":
    operating_system.end_at_once()  # until the workflow is read (study.smk)
    from snakemake.cli import main

    main()

"""Start of Snakemake by `run-study`, without tracebacks from imports."""

from limbtorque.workflow.operating_system import end_at_once

if __name__ == "__main__":
    end_at_once()  # until the workflow is read (study.smk)
    from snakemake.cli import main

    main()

"""Start of Snakemake by `run-study`, without a traceback of its imports."""

from limbtorque.workflow.operating_system import end_at_once

if __name__ == "__main__":
    end_at_once()  # until the workflow is read (study.smk)
    from snakemake.cli import main

    main()

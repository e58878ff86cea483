"""Start Snakemake for `limbtorque run-study`: a signal during its imports ends it without a traceback."""

from limbtorque.workflow import interrupts

if __name__ == "__main__":
    interrupts.end_at_once()  # until the workflow is read (study.smk)
    from snakemake.cli import main

    main()

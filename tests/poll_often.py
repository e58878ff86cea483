"""Run Snakemake with status checks of Slurm jobs every two seconds.

The Slurm plugin waits ten seconds longer after each check that finds no finished job, here for most of a run's time.
"""

import sys

from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

if __name__ == "__main__":
    RemoteExecutor.next_seconds_between_status_checks = property(lambda _: 2, lambda *_: None)
    sys.exit(main())

"""One stage for one batch of trials: hand Snakemake's parameters to the package."""

import importlib
import signal
from pathlib import Path

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the job without a traceback; it is done again next time

from limbtorque.stages.batch import log_to  # noqa: E402

log_to(Path(snakemake.log[0]))  # noqa: F821 - Snakemake puts it here
stage = importlib.import_module(f"limbtorque.stages.{snakemake.params.stage}")  # noqa: F821
stage.run(folder=Path(), batch=snakemake.params.batch, key=snakemake.params.key)  # noqa: F821

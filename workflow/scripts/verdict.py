"""Name the trials that failed; fail where there are too many."""

import sys
from pathlib import Path

from limbtorque.errors import LimbtorqueError
from limbtorque.stages import collect

try:
    text = collect.verdict(folder=Path(), ledger=Path(snakemake.input.ledger))  # noqa: F821
except LimbtorqueError as error:
    Path(snakemake.log[0]).write_text(f"{error}\n")  # noqa: F821
    sys.exit(f"{error}")
Path(snakemake.output[0]).write_text(text + "\n")  # noqa: F821

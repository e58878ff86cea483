"""Start the command; an interrupt shows no traceback."""

from __future__ import annotations

import signal
import sys


def start() -> int:
    """Run the command of the command line; returns its exit code."""
    try:
        from limbtorque.cli.main import main

        return main()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(start())

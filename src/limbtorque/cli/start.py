"""Start the command; an interrupt shows no traceback."""

from __future__ import annotations

import sys

from limbtorque.workflow.operating_system import end_at_once, end_in_order


def start() -> int:
    """Run the command of the command line; returns its exit code."""
    end_at_once()
    from limbtorque.cli.main import main

    end_in_order()
    return main()


if __name__ == "__main__":
    sys.exit(start())

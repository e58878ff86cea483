"""Start of the command `limbtorque`, without a traceback of its imports."""

import sys

from limbtorque.workflow import interrupts


def main() -> int:
    """Run the command of the command line; returns its exit code."""
    interrupts.end_at_once()
    from limbtorque.cli import main as command

    interrupts.end_in_order()
    return command.main()


if __name__ == "__main__":
    sys.exit(main())

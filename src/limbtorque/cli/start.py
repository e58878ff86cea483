"""Start of the command `limbtorque`, without a traceback of its imports."""

import sys

from limbtorque.workflow import operating_system


def main() -> int:
    """Run the command of the command line; returns its exit code."""
    operating_system.end_at_once()
    from limbtorque.cli import main as command

    operating_system.end_in_order()
    return command.main()


if __name__ == "__main__":
    sys.exit(main())

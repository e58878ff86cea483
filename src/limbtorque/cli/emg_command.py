"""Arguments of `limbtorque emg`; what does the work is imported when it runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from limbtorque.errors import SettingsError
from limbtorque.workflow.streams import say

EXAMPLES = """examples:
  limbtorque emg walk.c3d --output emg
  limbtorque emg walk.c3d --maximal mvc_leg.c3d --settings config/config.yaml --side left
"""


def add_emg_command(command: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the command on electromyography alone."""
    emg = command("emg", "envelopes, activity and faults of electromyography, without torques")
    emg.add_argument("files", type=Path, nargs="+", metavar="FILE", help="recordings (C3D or STO)")
    emg.add_argument(
        "--maximal", type=Path, action="append", default=[], metavar="FILE", help="maximum voluntary contraction"
    )
    emg.add_argument("--settings", type=Path, help="settings file (default: all recognised channels)")
    emg.add_argument(
        "--side", choices=("left", "right"), default="right", help="for {S} in emg.channels (default: right)"
    )
    emg.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="change an option")
    emg.add_argument(
        "--output",
        type=Path,
        default=Path("limbtorque_emg"),
        help="folder for tables and figures (default: %(default)s)",
    )
    emg.set_defaults(function=_emg)


def _emg(options: argparse.Namespace) -> int:
    from limbtorque.cli.emg import analyse_files
    from limbtorque.study.settings import Settings, load_settings, override

    settings = load_settings(options.settings) if options.settings else Settings()
    settings = override(settings, dict(change.partition("=")[::2] for change in options.set), source="--set")
    stems = [path.stem.lower() for path in options.files]
    if len(set(stems)) < len(stems):
        raise SettingsError(f"two recordings have one name, and so would their results: {', '.join(stems)}; rename one")
    lines = analyse_files(options.files, options.output, settings=settings, side=options.side, maximal=options.maximal)
    for line in lines:
        say(line, sys.stdout)
    return 0

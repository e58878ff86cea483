"""The command `limbtorque map`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from limbtorque.workflow.streams import say

EXAMPLES = """examples:
  limbtorque map walk.c3d                           # then open walk_map.html in a browser
  limbtorque map table.csv --set reading.length_unit=mm
  limbtorque map walk.c3d --settings "my study/config/config.yaml"
"""


def add_map_command(command: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the command; `command` makes its parser from a name and a sentence."""
    parser = command("map", "write a page on which markers are given to landmarks by eye")
    parser.add_argument("file", type=Path, help="recording (C3D, TRC, STO, MOT, TSV, CSV)")
    parser.add_argument("--settings", type=Path, help="settings file with chains of your own")
    parser.add_argument(
        "--set", action="append", default=[], metavar="OPTION=VALUE", help="e.g. reading.length_unit=mm"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="the page (default: RECORDING_map.html, here)")
    parser.set_defaults(function=_map)


def _map(options: argparse.Namespace) -> int:
    from limbtorque.cli.map_recording import MapChoices, map_page
    from limbtorque.recordings.options import ReadOptions
    from limbtorque.recordings.sandbox import GuardedReader
    from limbtorque.study.settings import Settings, load_settings, override
    from limbtorque.study.whole_file import write_text

    changes = dict(change.partition("=")[::2] for change in options.set)
    settings = override(load_settings(options.settings) if options.settings else Settings(), changes, source="--set")
    reading = settings.reading
    with GuardedReader() as reader:
        recording = reader.read(
            options.file,
            memory_limit_mb=reading.memory_limit_mb,
            time_limit_s=reading.time_limit_s,
            options=ReadOptions.of(reading),
        )
    choices = MapChoices(
        options.file.as_posix(),
        {name: settings.chain(name) for name in (*settings.chains, "leg", "arm")},
        rows=settings.segments.any_sex,
        up_axis=settings.plane.up_axis or "",
        options={name: text for name, text in changes.items() if name.startswith("reading.")},
    )
    page = options.output or Path(f"{options.file.stem}_map.html")
    write_text(page, map_page(recording, choices))
    print(f"written: {page}")
    say("next: open it in a browser, and give every landmark its marker")
    return 0

"""Commands on recordings; each imports what it needs."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from limbtorque.cli.command import changes, command, file_option, option, path_option, switch
from limbtorque.errors import TrialError
from limbtorque.workflow.operating_system import say, visible

if TYPE_CHECKING:
    from limbtorque.recordings.options import ReadOptions
    from limbtorque.study.settings import Settings

RECORDING = path_option("file", "recording (C3D, TRC, STO, MOT, TSV, CSV, JSON)")
FORCES = file_option("--forces", "second file, with the force plates of the recording")


def _changed_settings(options: argparse.Namespace, file: Path | None = None) -> Settings:
    """Settings from a file, or defaults, changed by `--set`."""
    from limbtorque.study.settings import Settings, load_settings, override

    return override(load_settings(file) if file else Settings(), options.set, source="--set")


def _read_options(settings: Settings) -> ReadOptions:
    """Options of a guarded reader."""
    from limbtorque.recordings.options import ReadOptions

    return ReadOptions.of(settings.reading)


@command(
    "inspect",
    RECORDING,
    FORCES,
    switch("--compare", "compare our reading of a C3D file with ezc3d and c3d"),
    changes("e.g. reading.length_unit=mm"),
    examples=(
        "inspect data/demo/S01_sagittal_fast.c3d",
        "inspect markers.trc --forces forces.mot",
        "inspect table.csv --set reading.length_unit=mm",
    ),
)
def inspect(options: argparse.Namespace) -> int:
    """Show the contents of a recording, and the findings of its audit."""
    from limbtorque.cli.inspect import describe
    from limbtorque.recordings.libraries import SECOND_READERS
    from limbtorque.recordings.sandbox import GuardedReader

    read_options = _read_options(_changed_settings(options))
    if options.compare and (options.forces or options.file.suffix.lower() != ".c3d"):
        raise TrialError("--compare reads a single C3D file; omit --forces, or --compare for another format")
    with GuardedReader() as reader:
        recording = reader.read(options.file, options=read_options, forces=options.forces)
        if not options.compare:
            print(visible(describe(recording)))
            return 0
        for library in SECOND_READERS:
            differences = reader.compare(options.file, library, options=read_options)
            print("\n".join(differences.sentences if differences else (f"{library}: nothing to compare",)))
    return 0


@command(
    "run",
    RECORDING,
    FORCES,
    file_option("--static", "static trial, for landmarks carried by clusters"),
    option("--chain", required=True, about="arm, leg, or a chain of the settings"),
    option("--side", required=True, choices=("left", "right")),
    option("--mass-kg", required=True, type=float, about="body mass, kg"),
    option("--height-m", type=float, default=math.nan, about="body height, m, to check mass and segment lengths"),
    option(
        "--sex", choices=("f", "m"), default="", about="sex, for the tables of segment parameters that depend on it"
    ),
    option("--leg-length-m", type=float, default=math.nan, about="leg length, m, for hip_centre: davis_1991"),
    path_option("--settings", "settings file with at least one marker set", required=True),
    option("--marker-set", about="marker set; required if the settings have several"),
    option("--prefix", default="", about="subject prefix of the marker names"),
    option("--load", default="", about="name of an external load of the settings"),
    changes("change an option, e.g. plane.kind=horizontal"),
    path_option("--output", "folder for tables and figure (default: %(default)s)", default=Path("limbtorque_output")),
    examples=(
        "run data/demo/S01_sagittal_fast.c3d --chain arm --side right --mass-kg 72 --settings config/config.yaml",
        "run walk.c3d --chain leg --side left --mass-kg 66 --settings config/config.yaml --set filter.cutoff_hz=6",
    ),
)
def run(options: argparse.Namespace) -> int:
    """Analyse one recording without Snakemake."""
    from limbtorque.analysis.second_look import second_look
    from limbtorque.analysis.trial import analyse_recording
    from limbtorque.figures.style import save_figure
    from limbtorque.figures.trial_figures import torque_figure
    from limbtorque.motion.limb import Limb
    from limbtorque.recordings.recording import with_static
    from limbtorque.recordings.sandbox import GuardedReader
    from limbtorque.tables.files import write_table

    settings = _changed_settings(options, options.settings)
    with GuardedReader() as reader:
        read_options = _read_options(settings)
        recording = reader.read(options.file, options=read_options, forces=options.forces)
        if options.static:
            recording = with_static(recording, reader.read(options.static, options=read_options))
        compared, doubts = second_look(options.file, options.forces, settings.reading, reader)
    result = analyse_recording(
        recording,
        Limb(
            options.chain,
            side=options.side,
            body_mass_kg=options.mass_kg,
            height_m=options.height_m,
            sex=options.sex,
            measured={"leg_length_m": options.leg_length_m} if options.leg_length_m > 0.0 else {},
            marker_set=options.marker_set,
            prefix=options.prefix,
            load=options.load,
        ),
        settings,
        folder=options.settings.resolve().parent.parent,
    )
    moved = result.records["kinematics"]
    moved = replace(moved, metrics={**moved.metrics, **compared}, notes=(*result.motion.notes, *doubts))
    result = replace(result, records={**result.records, "kinematics": moved})
    stem = f"{options.file.stem}_{options.side}_{options.chain}"
    tables = {"kinematics": result.kinematics_table, "torques": result.torque_table, "muscles": result.muscle_table}
    for name, table in tables.items():
        if table is not None:
            write_table(table, options.output / f"{stem}_{name}.csv")
            print(options.output / f"{stem}_{name}.csv")
    figure = torque_figure(
        result.torque_table,
        title=stem,
        model=settings.chain(options.chain),
        flexion_sign=result.motion.flexion.sign.tolist(),
    )
    save_figure(figure, options.output / f"{stem}.png")
    print(options.output / f"{stem}.png")
    for line in (*moved.notes, *(result.muscles.notes if result.muscles else ())):
        print(f"note: {line}")
    verdict = result.verdict
    rejected = f", rejected: {', '.join(verdict.rejected_joints)}" if verdict.rejected_joints else ""
    print(f"status: {verdict.status}{rejected}")
    for flag in verdict.flags:
        print(f"{flag.status}: {flag.sentence}")
    return 0


@command(
    "map",
    path_option("file", "recording (C3D, TRC, STO, MOT, TSV, CSV)"),
    path_option("--settings", "settings file with user-defined chains"),
    changes("e.g. reading.length_unit=mm"),
    file_option("--output", "file of the page (default: RECORDING_map.html in this folder)"),
    examples=(
        "map walk.c3d                           # then open walk_map.html in a browser",
        "map table.csv --set reading.length_unit=mm",
        'map walk.c3d --settings "my study/config/config.yaml"',
    ),
)
def map_markers(options: argparse.Namespace) -> int:
    """Write a page for assigning markers to landmarks."""
    from limbtorque.cli.map_recording import MapChoices, map_page
    from limbtorque.recordings.sandbox import GuardedReader
    from limbtorque.study.files import write_text

    settings = _changed_settings(options, options.settings)
    with GuardedReader() as reader:
        recording = reader.read(options.file, options=_read_options(settings))
    choices = MapChoices(
        options.file.as_posix(),
        {name: settings.chain(name) for name in (*settings.chains, "leg", "arm")},
        rows=settings.segments.any_sex,
        up_axis=settings.plane.up_axis or "",
        options={name: text for name, text in options.set.items() if name.startswith("reading.")},
    )
    page = options.output or Path(f"{options.file.stem}_map.html")
    write_text(page, map_page(recording, choices))
    print(f"written: {page}")
    say("next: open it in a browser, and assign a marker to every landmark")
    return 0

"""Commands on results, muscles and settings; each imports what it needs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from limbtorque.cli.command import command, file_option, option, path_option, several
from limbtorque.workflow.operating_system import say


@command(
    "diff",
    path_option("first", "folder 'results' of a finished run, or its study"),
    path_option("second", "folder or study of the run to compare with"),
    file_option("--csv", "write a CSV table with a row for each change"),
    option("--top", type=int, default=20, about="number of changes printed for each table (default: 20)"),
    option("--tolerance", type=float, default=0.0, about="largest relative difference taken as equal (default: 0)"),
    examples=(
        "diff results_with_6_hz results",
        "diff old/results new/results --csv changes.csv",
    ),
    after="exit code: 0 if all numbers are the same, 1 if any differs, 2 if a run could not be read",
    error_code=2,
)
def diff(options: argparse.Namespace) -> int:
    """Compare two runs: settings, recordings, versions, numbers."""
    from limbtorque.cli.diff.compare import compare
    from limbtorque.cli.diff.report import report_csv, report_text
    from limbtorque.cli.diff.runs import read_run
    from limbtorque.study.files import write_text

    comparison = compare(read_run(options.first), read_run(options.second), tolerance=options.tolerance)
    print(report_text(comparison, top=options.top))
    if options.csv:
        write_text(options.csv, report_csv(comparison))
        print(f"written: {options.csv}")
    return 0 if comparison.same else 1


@command(
    "supplement",
    path_option("study", "the study's folder; it is not changed"),
    file_option("--output", "the archive (default: supplement.zip)", default=Path("supplement.zip")),
    examples=('supplement "my study"', 'supplement "my study" --output paper/supplement.zip'),
    on_study=True,
)
def supplement(options: argparse.Namespace) -> int:
    """Write settings, tables, results and hashes of a study to an archive."""
    from limbtorque.cli.supplement import supplement_of
    from limbtorque.study.files import write_bytes

    write_bytes(options.output, supplement_of(options.study))
    print(f"written: {options.output}")
    return 0


@command(
    "reproduce",
    path_option("supplement", "archive of `limbtorque supplement`"),
    path_option("--recordings", "folder of the recordings, under any names", required=True, metavar="FOLDER"),
    path_option(
        "--study", "folder for the new study (default: reproduced)", default=Path("reproduced"), metavar="FOLDER"
    ),
    option("--cores", default="all", about="number of cores (default: all)"),
    option("--tolerance", type=float, default=1e-6, about="largest relative difference taken as equal (default: 1e-6)"),
    examples=("reproduce supplement.zip --recordings recordings",),
    after="exit code: 0 if no number differs, 1 if any does, 2 if the study could not be repeated",
    error_code=2,
)
def reproduce(options: argparse.Namespace) -> int:
    """Repeat a study from its supplement and recordings; compare every number."""
    from limbtorque import __version__
    from limbtorque.cli import reproduce as again
    from limbtorque.cli.diff.report import report_csv
    from limbtorque.cli.run_study import run_study
    from limbtorque.study.files import write_text

    archive = again.read_supplement(options.supplement)
    if archive.version != __version__:
        say(
            f"the supplement is of limbtorque {archive.version}, this is {__version__}: numbers may differ; for the same, install "
            f"limbtorque=={archive.version}"
        )
    again.build_study(archive, again.find_recordings(archive, options.recordings), options.study)
    run_study(options.study, cores=options.cores)
    comparison = again.compared(options.study, tolerance=options.tolerance)
    print("\n".join(again.report_lines(comparison, tolerance=options.tolerance)))
    if not comparison.same:
        write_text(options.study / "differences.csv", report_csv(comparison))
        print(f"all differences: {options.study / 'differences.csv'}")
    return 0 if comparison.same else 1


@command(
    "contrasts freeze",
    path_option("study", "the study's folder"),
    examples=('contrasts freeze "my study"',),
    on_study=True,
)
def freeze(options: argparse.Namespace) -> int:
    """Record the declared contrasts with the date, before there are results."""
    import datetime

    from limbtorque.workflow.frozen import FROZEN, freeze_contrasts
    from limbtorque.workflow.load_checked import checked_study

    study = checked_study(options.study)
    now = datetime.datetime.now(datetime.UTC)
    print("\n".join(freeze_contrasts(study, study.folder, now=now)))
    print(f"written: {options.study / FROZEN}")
    return 0


@command(
    "strength",
    option(
        "efforts",
        nargs="+",
        metavar="TRIAL:JOINT:SENSE",
        about="trial of a finished study, joint, and flexion or extension",
    ),
    path_option("--study", "the study's folder (default: .)", default=Path(), metavar="FOLDER"),
    examples=(
        "strength S01_mvc_knee:knee:extension S01_mvc_ankle:ankle:extension",
        "strength S01_mvc_knee:knee:extension --study my_study",
    ),
)
def strength(options: argparse.Namespace) -> int:
    """Fit the muscles' strengths to the torques of maximal trials."""
    from limbtorque.cli.strength import strength_lines
    from limbtorque.study.study import load_study

    for line in strength_lines(load_study(options.study), options.efforts):
        say(line, sys.stdout)
    return 0


@command(
    "muscles import",
    path_option("model", "OpenSim model (.osim)"),
    option("--plane", required=True, choices=("sagittal",), about="plane of the movement"),
    option("--side", required=True, choices=("left", "right")),
    option("--chain", choices=("leg", "arm"), default="leg", about="limb to import (default: leg)"),
    file_option("--output", "file of the set (default: NAME_SIDE.yaml of the model's name)"),
    several(
        "--coordinate", "JOINT=NAME", "coordinate of a joint, where its name is not recognised; none leaves it out"
    ),
    several("--range", "JOINT=LOW:HIGH", "flexion in degrees to sample (default: the model's range)"),
    several("--hold", "NAME=DEGREES", "hold another coordinate at an angle (default: the model's default)"),
    examples=(
        "muscles import model.osim --plane sagittal --side right",
        "muscles import model.osim --plane sagittal --side left --output config/leg_left.yaml",
        "muscles import model.osim --plane sagittal --side right --range knee=0:110 --hold hip_adduction_r=-5",
    ),
)
def import_muscles(options: argparse.Namespace) -> int:
    """Write a muscle set from an OpenSim model; needs limbtorque[opensim]."""
    from limbtorque.cli.import_muscles import import_model

    return import_model(options)


@command("settings", examples=("settings | grep filter",))
def settings(_: argparse.Namespace) -> int:
    """Print every option with its default, range and unit."""
    from limbtorque.study.settings import options_page

    print(options_page())
    return 0

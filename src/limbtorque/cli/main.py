"""Command line of `limbtorque`."""

from __future__ import annotations

import argparse
import contextlib
import functools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limbtorque import __version__
from limbtorque.cli import import_muscles
from limbtorque.cli.check_command import EXAMPLES as CHECK_EXAMPLES
from limbtorque.cli.check_command import add_check_command, check
from limbtorque.cli.emg_command import EXAMPLES as EMG_EXAMPLES
from limbtorque.cli.emg_command import add_emg_command
from limbtorque.cli.map_command import EXAMPLES as MAP_EXAMPLES
from limbtorque.cli.map_command import add_map_command
from limbtorque.cli.strength import EXAMPLES as STRENGTH_EXAMPLES
from limbtorque.cli.strength import add_strength_command
from limbtorque.cli.study_folder import quoted, require_study
from limbtorque.errors import FolderError, LimbtorqueError, SettingsError, StudyError, TrialError
from limbtorque.tables.words import counted
from limbtorque.workflow.streams import ensure_streams, flush_or_silence, say

if TYPE_CHECKING:
    from limbtorque.tables.verdict import Verdict

EXAMPLES = {
    "": """examples:
  limbtorque init "my study" --from recordings      # then fill in every TODO in "my study/config"
  limbtorque check "my study"
  limbtorque run-study "my study" --cores 4
  limbtorque --print-completion bash > ~/.local/share/bash-completion/completions/limbtorque
""",
    "init": """examples:
  limbtorque init "my study" --from recordings
  limbtorque init "my study" --from recordings --chain leg
""",
    "inspect": """examples:
  limbtorque inspect data/demo/S01_sagittal_fast.c3d
  limbtorque inspect markers.trc --forces forces.mot
  limbtorque inspect table.csv --set reading.length_unit=mm
""",
    "map": MAP_EXAMPLES,
    "check": CHECK_EXAMPLES,
    "run-study": """examples:
  limbtorque run-study "my study" --cores 4
  limbtorque run-study "my study" -- --dry-run
  limbtorque run-study "my study" --slurm
""",
    "status": """examples:
  limbtorque status "my study"
  limbtorque status "my study" | grep -v done

exit code: 0 if every table is done, 1 otherwise
""",
    "verify": """examples:
  limbtorque verify "my study"
  limbtorque run-study "my study" --verify

exit code: 0 if every result is as it was made, 1 otherwise
""",
    "split": """examples:
  limbtorque split "my study" parts
  for part in parts/*; do limbtorque run-study "$part"; done
""",
    "run": """examples:
  limbtorque run data/demo/S01_sagittal_fast.c3d --chain arm --side right --mass-kg 72 --settings config/config.yaml
  limbtorque run walk.c3d --chain leg --side left --mass-kg 66 --settings config/config.yaml --set filter.cutoff_hz=6
""",
    "emg": EMG_EXAMPLES,
    "diff": """examples:
  limbtorque diff results_with_6_hz results
  limbtorque diff old/results new/results --csv changes.csv --html changes.html

exit code: 0 if all numbers are the same, 1 if any differs, 2 if a run could not be read
""",
    "methods": """examples:
  limbtorque methods results
  limbtorque methods "my study" > methods.md
""",
    "muscles": import_muscles.EXAMPLES,
    "strength": STRENGTH_EXAMPLES,
    "settings": """examples:
  limbtorque settings | grep filter
""",
    "demo-files": """examples:
  limbtorque demo-files data/demo
""",
}
Command = Callable[[str, str], argparse.ArgumentParser]
NEXT = {
    SettingsError: "next: correct the settings; `limbtorque settings` lists every option with its default and range",
    StudyError: "next: correct these faults, then run `limbtorque check STUDY` again",
}
FORCES = "second file, with the force plates of the recording"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line; by default that of the process.

    Returns
    -------
    int
        0 for success, 1 otherwise; `diff` returns 2 for an unreadable run.
    """
    ensure_streams()
    words, options_of_snakemake = _split(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(words)
    options.snakemake = options_of_snakemake
    try:
        if options.function in ON_A_STUDY:
            require_study(options.study)
        code = int(options.function(options))
        sys.stdout.flush()
        return code
    except LimbtorqueError as error:
        say(f"limbtorque: {error}")
        if isinstance(error, FolderError):
            say(f"next: {error.advice}")
        elif isinstance(error, SettingsError | StudyError):
            say(NEXT[type(error)])
        return int(getattr(options, "error_code", 1))
    except BrokenPipeError:
        flush_or_silence(sys.stdout)
        return 0
    except OSError as error:  # of the output, among others: a full disk
        flush_or_silence(sys.stdout)
        say(f"limbtorque: {error if error.filename else f'the output cannot be written: {error.strerror or error}'}")
        return int(getattr(options, "error_code", 1))


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Words before and after the two dashes of run-study.

    argparse loses the latter where an option stands before them.
    """
    if "run-study" in words[:1] and "--" in words:
        place = list(words).index("--")
        return list(words[:place]), list(words[place + 1 :])
    return list(words), []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="limbtorque",
        description="Net joint torques of recorded movements, term by term, by planar inverse dynamics.\nA study in three steps: init, check, run-study.",
        epilog=EXAMPLES[""],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"limbtorque {__version__}")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        choices=("bash", "zsh", "tcsh"),
        help="print the completion script of a shell",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, about: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=about,
            description=f"{about[0].upper()}{about[1:]}.",
            epilog=EXAMPLES[name],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    _add_study_commands(command)
    _add_recording_commands(command)
    add_map_command(command)
    add_emg_command(command)
    add_strength_command(command)
    _add_result_commands(command)
    return parser


def _add_study_commands(command: Command) -> None:
    """Add the commands on a study."""
    init = command("init", "propose settings and tables of a study for a folder of recordings")
    init.add_argument("study", type=Path, help="the study's folder; created if needed, nothing is overwritten")
    init.add_argument(
        "--from",
        dest="recordings",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="folder of the recordings, which stay there",
    )
    init.add_argument("--chain", choices=("arm", "leg"), help="look for this chain only (default: arms and legs)")
    init.add_argument(
        "--verbose", action="store_true", help="print the evidence, too, which the files have as comments"
    )
    init.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="what the files do not state, e.g. reading.length_unit=mm, plane.up_axis=+z, or of one folder: "
        "session1:reading.length_unit=cm",
    )
    init.set_defaults(function=_init)

    add_check_command(command)

    whole = command("run-study", "run a study with Snakemake; repeats only what a change affects")
    whole.add_argument("study", type=Path, help="the study's folder")
    whole.add_argument("--cores", default="all", help="number of cores (default: all)")
    whole.add_argument("--slurm", action="store_true", help="submit the jobs to Slurm (docs/cluster.md)")
    whole.add_argument(
        "--verify", action="store_true", help="compare all results with their records first, and repeat what differs"
    )
    whole.usage = "limbtorque run-study [-h] [--cores CORES] [--slurm] [--verify] study [-- OPTION ...]"
    whole.epilog = f"options after -- are passed to snakemake\n\n{EXAMPLES['run-study']}"
    whole.set_defaults(function=_run_study)

    status = command("status", "list every table of every trial of a study: done, missing, damaged or stale")
    status.add_argument("study", type=Path, nargs="?", default=Path(), help="the study's folder (default: here)")
    status.set_defaults(function=_status)

    verify = command("verify", "compare every result of a study with its record, by size and hash; writes nothing")
    verify.add_argument("study", type=Path, nargs="?", default=Path(), help="the study's folder (default: here)")
    verify.set_defaults(function=_verify)

    split = command("split", "divide a study into one study for each subject")
    split.add_argument("study", type=Path, help="the study's folder, which is not changed")
    split.add_argument("parts", type=Path, help="folder for the new studies; recordings stay where they are")
    split.set_defaults(function=_split_study)


def _add_recording_commands(command: Command) -> None:
    """Add the commands on one recording."""
    inspect = command("inspect", "show the contents of a recording, and the findings of its audit")
    inspect.add_argument("file", type=Path, help="recording (C3D, TRC, STO, MOT, TSV, CSV, JSON)")
    inspect.add_argument("--forces", type=Path, metavar="FILE", help=FORCES)
    inspect.add_argument(
        "--compare", action="store_true", help="compare our reading of a C3D file with ezc3d's and c3d's"
    )
    inspect.add_argument(
        "--set", action="append", default=[], metavar="OPTION=VALUE", help="e.g. reading.length_unit=mm"
    )
    inspect.set_defaults(function=_inspect)

    run = command("run", "analyse one recording without Snakemake")
    run.add_argument("file", type=Path, help="recording (C3D, TRC, STO, MOT, TSV, CSV, JSON)")
    run.add_argument("--forces", type=Path, metavar="FILE", help=FORCES)
    run.add_argument("--static", type=Path, metavar="FILE", help="static trial, from which landmarks are carried")
    run.add_argument("--chain", required=True, help="arm, leg, or a chain of the settings")
    run.add_argument("--side", required=True, choices=("left", "right"))
    run.add_argument("--mass-kg", required=True, type=float, help="body mass, kg")
    run.add_argument(
        "--height-m", type=float, default=math.nan, help="body height, m, to compare mass and lengths with"
    )
    run.add_argument(
        "--sex", choices=("f", "m"), default="", help="sex, for the tables of segment parameters that depend on it"
    )
    run.add_argument("--leg-length-m", type=float, default=math.nan, help="leg length, m, for hip_centre: davis_1991")
    run.add_argument("--settings", required=True, type=Path, help="settings file with at least one marker set")
    run.add_argument("--marker-set", help="marker set; required if the settings have several")
    run.add_argument("--prefix", default="", help="subject prefix of the marker names")
    run.add_argument("--load", default="", help="name of an external load of the settings")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="change an option, e.g. plane.kind=horizontal",
    )
    run.add_argument(
        "--output",
        type=Path,
        default=Path("limbtorque_output"),
        help="folder for tables and figure (default: %(default)s)",
    )
    run.set_defaults(function=_run)


def _add_result_commands(command: Command) -> None:
    """Add the commands on results and settings."""
    diff = command("diff", "compare two runs: settings, recordings, versions, numbers")
    diff.add_argument("first", type=Path, help="folder 'results' of a finished run, or its study")
    diff.add_argument("second", type=Path, help="the same of another run")
    diff.add_argument("--csv", type=Path, metavar="FILE", help="write a CSV table with a row for each change")
    diff.add_argument("--html", type=Path, metavar="FILE", help="write an HTML page")
    diff.add_argument("--top", type=int, default=20, help="number of changes printed for each table (default: 20)")
    diff.add_argument(
        "--tolerance", type=float, default=0.0, help="largest relative difference of equal numbers (default: 0)"
    )
    diff.set_defaults(function=_diff, error_code=2)

    methods = command("methods", "print the methods paragraph of a finished run, with references and a checklist")
    methods.add_argument("results", type=Path, help="folder 'results' of a finished run, or its study")
    methods.set_defaults(function=_methods)

    muscles = command("muscles", "make muscle sets")
    actions = muscles.add_subparsers(required=True, metavar="ACTION")
    imported = actions.add_parser(
        "import",
        help="write a muscle set from an OpenSim model",
        description="Write a muscle set from an OpenSim model; needs limbtorque[opensim].",
        epilog=EXAMPLES["muscles"],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    import_muscles.add_options(imported)
    imported.set_defaults(function=import_muscles.import_muscles)

    settings = command("settings", "print every option with its default, range and unit")
    settings.set_defaults(function=_settings)

    demo = command("demo-files", "write the recordings of the demo study")
    demo.add_argument("folder", type=Path, help="folder for the recordings; created if needed")
    demo.set_defaults(function=_demo)


class _Completion(argparse.Action):
    """Print the completion script of a shell; paths are completed as files."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        import shtab

        def mark(one: argparse.ArgumentParser) -> None:
            for action in one._actions:
                if action.type is Path:
                    action.complete = shtab.FILE  # type: ignore[attr-defined]
                if isinstance(action, argparse._SubParsersAction):
                    for sub in action.choices.values():
                        mark(sub)

        mark(parser)
        print(shtab.complete(parser, shell=rest[1]))
        parser.exit()


def _init(options: argparse.Namespace) -> int:
    from limbtorque.cli.init.again import BOTH, init_command, other_folder
    from limbtorque.cli.init.first_screen import first_screen, next_steps
    from limbtorque.cli.init.init import FILES, init_study
    from limbtorque.cli.init.text import summary_text
    from limbtorque.cli.progress import followed

    def asked(question: str) -> bool:
        try:
            return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
        except EOFError:
            return False

    chains = (options.chain,) if options.chain else BOTH
    answers = dict(change.partition("=")[::2] for change in options.set)
    proposal = init_study(
        options.study,
        options.recordings,
        chains=chains,
        confirm=asked if sys.stdin.isatty() and sys.stdout.isatty() else None,
        watch=functools.partial(followed, what="reading recordings"),
        answers=answers,
    )
    print(summary_text(proposal) if options.verbose else first_screen(proposal))
    print("\n".join(f"written: {options.study / name}" for name in (*FILES, *proposal.maps)))
    again = functools.partial(init_command, other_folder(options.study), options.recordings, chains=chains)
    print(next_steps(proposal, options.study, lambda answer: again(answers={**answers, **answer})))
    return 0


def _run_study(options: argparse.Namespace) -> int:
    from limbtorque.cli.run_study import run_study

    return run_study(
        options.study, cores=options.cores, slurm=options.slurm, verify=options.verify, more=options.snakemake
    )


def _status(options: argparse.Namespace) -> int:
    from limbtorque.cli.progress import followed_rows
    from limbtorque.workflow.load_checked import checked_study
    from limbtorque.workflow.status import STATES, table_states, trials_by_status

    count = dict.fromkeys(STATES, 0)
    with contextlib.chdir(options.study):  # keys contain paths relative to the study
        for path, state in table_states(checked_study(Path(), follow=followed_rows)):
            count[state] += 1
            print(f"{state:8} {path}")
        if verdict := trials_by_status(Path()):
            say(verdict)
    say(", ".join(f"{number} {state}" for state, number in count.items()))
    return int(count["done"] < sum(count.values()))


def _verify(options: argparse.Namespace) -> int:
    from limbtorque.workflow.damaged import damaged_outputs, missing_outputs
    from limbtorque.workflow.effective_settings import load_effective_study

    study = load_effective_study(options.study)
    lines = [f"{path}: missing" for path in missing_outputs(study)]
    for path, wrong in damaged_outputs(study, contents="all").items():
        lines += [f"{path if Path(path).name == name else f'{path}/{name}'}: {fault}" for name, fault in wrong.items()]
    for line in lines:
        print(line)
    print(f"{counted(len(lines), 'result')} missing or not as made")
    if lines:
        say(f"next: limbtorque run-study {quoted(options.study)} --verify, which makes them again")
    return int(bool(lines))


def _split_study(options: argparse.Namespace) -> int:
    from limbtorque.cli.split import split_study

    made = split_study(options.study, options.parts)
    print("\n".join(f"written: {part}" for part in made))
    print(f'next: for part in {quoted(options.parts)}/*; do limbtorque run-study "$part"; done')
    return 0


def _inspect(options: argparse.Namespace) -> int:
    from limbtorque.cli.inspect import describe
    from limbtorque.recordings.libraries import SECOND_READERS
    from limbtorque.recordings.options import ReadOptions
    from limbtorque.recordings.sandbox import GuardedReader
    from limbtorque.study.settings import Settings, override

    changes = dict(change.partition("=")[::2] for change in options.set)
    reading = override(Settings(), changes, source="--set").reading
    if options.compare and (options.forces or options.file.suffix.lower() != ".c3d"):
        raise TrialError("--compare reads a single C3D file; omit --forces, or --compare for another format")
    limits: Any = {"memory_limit_mb": reading.memory_limit_mb, "time_limit_s": reading.time_limit_s}
    with GuardedReader() as reader:
        recording = reader.read(options.file, **limits, options=ReadOptions.of(reading), forces=options.forces)
        if not options.compare:
            print(describe(recording))
            return 0
        for library in SECOND_READERS:
            found = reader.compare(options.file, library, **limits, options=ReadOptions.of(reading))
            print("\n".join(found.sentences if found else (f"{library}: nothing to compare",)))
    return 0


def _run(options: argparse.Namespace) -> int:
    from limbtorque.analysis import analyse_recording
    from limbtorque.figures.style import save_figure
    from limbtorque.figures.torque_figures import torque_figure
    from limbtorque.motion.limb import Limb
    from limbtorque.recordings.options import ReadOptions
    from limbtorque.recordings.recording import with_static
    from limbtorque.recordings.sandbox import GuardedReader
    from limbtorque.study.settings import load_settings, override
    from limbtorque.tables.files import write_table
    from limbtorque.workflow.second_look import second_look

    changes = dict(change.partition("=")[::2] for change in options.set)
    settings = override(load_settings(options.settings), changes, source="--set")
    _check_run(options, settings.chain_names, list(settings.marker_sets), list(settings.loads))
    with GuardedReader() as reader:
        reading = settings.reading
        limits: dict[str, Any] = {"memory_limit_mb": reading.memory_limit_mb, "time_limit_s": reading.time_limit_s}
        limits["options"] = ReadOptions.of(reading)
        recording = reader.read(options.file, **limits, forces=options.forces)
        if options.static:
            recording = with_static(recording, reader.read(options.static, **limits))
        compared, doubts = second_look(options.file, options.forces, reading, reader)
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
    motion = result.motion
    motion = replace(motion, metrics={**motion.metrics, **compared}, notes=(*motion.notes, *doubts))
    result = replace(result, motion=motion)
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
    for line in (*result.motion.notes, *(result.muscles.notes if result.muscles else ())):
        print(f"note: {line}")
    _print_verdict(result.verdict)
    return 0


def _print_verdict(verdict: Verdict) -> None:
    rejected = f", rejected: {', '.join(verdict.rejected_joints)}" if verdict.rejected_joints else ""
    print(f"status: {verdict.status}{rejected}")
    for flag in verdict.flags:
        print(f"{flag.status}: {flag.sentence}")


def _check_run(options: argparse.Namespace, chains: list[str], marker_sets: list[str], loads: list[str]) -> None:
    for name, value, known in (
        ("--chain", options.chain, chains),
        ("--marker-set", options.marker_set, marker_sets),
        ("--load", options.load, loads),
    ):
        if value and value not in known:
            raise TrialError(f"{name} is {value!r}; the settings have {', '.join(known) or 'none'}")
    if not marker_sets:
        raise TrialError(f"{options.settings} has no marker_sets; add one (docs/settings.md)")


def _diff(options: argparse.Namespace) -> int:
    from limbtorque.cli.diff.compare import compare
    from limbtorque.cli.diff.report import report_csv, report_html, report_text
    from limbtorque.cli.diff.runs import read_run
    from limbtorque.study.whole_file import write_text

    found = compare(read_run(options.first), read_run(options.second), tolerance=options.tolerance)
    print(report_text(found, top=options.top))
    for path, made in ((options.csv, report_csv), (options.html, report_html)):
        if path:
            write_text(path, made(found))
            print(f"written: {path}")
    return 0 if found.same else 1


def _methods(options: argparse.Namespace) -> int:
    from limbtorque.cli.diff.runs import read_run
    from limbtorque.report.methods.page import methods_page

    run = read_run(options.results, tables=("ledger", "windows"))
    print(methods_page(run.provenance, run.tables["ledger"], run.tables["windows"]), end="")
    return 0


def _settings(_: argparse.Namespace) -> int:
    from limbtorque.study.settings import options_page

    print(options_page())
    return 0


def _demo(options: argparse.Namespace) -> int:
    from limbtorque.simulation.demo import write_demo

    for path in write_demo(options.folder):
        print(path)
    return 0


ON_A_STUDY = (check, _run_study, _status, _verify, _split_study)

if __name__ == "__main__":
    sys.exit(main())

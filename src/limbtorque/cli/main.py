"""Command line of `limbtorque`; each command imports what it needs."""

from __future__ import annotations

import argparse
import functools
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from limbtorque import __version__
from limbtorque.cli import recording_commands as recordings
from limbtorque.cli import result_commands as results
from limbtorque.cli.command import (
    Command,
    add_commands,
    changes,
    command,
    examples_text,
    option,
    path_option,
    switch,
)
from limbtorque.cli.terminal import quoted, require_study
from limbtorque.errors import FolderError, LimbtorqueError, SettingsError, StudyError
from limbtorque.tables.column import counted
from limbtorque.workflow.operating_system import ensure_streams, flush_or_silence, say, visible

FIRST_STEPS = (
    'init "my study" --from recordings      # then fill in every TODO in "my study/config"',
    'check "my study"',
    'run-study "my study" --cores 4',
)
NEXT = {
    SettingsError: "next: correct the settings; `limbtorque settings` lists every option with its default and range",
    StudyError: "next: correct these faults, then run `limbtorque check STUDY` again",
}


STUDY_OR_HERE = path_option("study", "the study's folder (default: here)", nargs="?", default=Path())


@command(
    "init",
    path_option("study", "the study's folder; created if needed, nothing is overwritten"),
    path_option(
        "--from", "folder of the recordings; they are not copied", dest="recordings", required=True, metavar="FOLDER"
    ),
    option("--chain", choices=("arm", "leg"), about="look for this chain only (default: arms and legs)"),
    changes(
        "properties that the files do not state, e.g. reading.length_unit=mm, plane.up_axis=+z, or of one folder: "
        "session1:reading.length_unit=cm"
    ),
    examples=('init "my study" --from recordings', 'init "my study" --from recordings --chain leg'),
)
def init(options: argparse.Namespace) -> int:
    """Propose settings and tables of a study for a folder of recordings."""
    from limbtorque.cli.init.init import FILES, init_study
    from limbtorque.cli.init.text import BOTH, first_screen, next_steps
    from limbtorque.cli.terminal import followed

    chains = (options.chain,) if options.chain else BOTH
    proposal = init_study(
        options.study,
        options.recordings,
        chains=chains,
        watch=functools.partial(followed, what="reading recordings"),
        answers=options.set,
    )
    print(visible(first_screen(proposal)))
    print("\n".join(f"written: {options.study / name}" for name in (*FILES, *proposal.maps)))
    print(next_steps(proposal, options.study))
    return 0


@command(
    "demo",
    path_option("study", "the study's folder; created if needed, nothing is overwritten"),
    examples=('demo "demo study"',),
)
def demo(options: argparse.Namespace) -> int:
    """Write the demo study: simulated reaches and walks, settings and tables."""
    from limbtorque.cli.run_study import snakefile
    from limbtorque.simulation.demo import write_demo
    from limbtorque.study.files import write_bytes

    config, recordings_folder = options.study / "config", options.study / "data" / "demo"
    if options.study.is_file():
        raise LimbtorqueError(f"{options.study} is a file; name a folder")
    for folder in (config, recordings_folder):
        if folder.exists():
            raise LimbtorqueError(f"{folder} is there already, and nothing is overwritten; name another folder")
    config.mkdir(parents=True)
    for name in ("config.yaml", "trials.csv", "subjects.csv"):
        write_bytes(config / name, (snakefile().parent / "config" / name).read_bytes())
        print(f"written: {config / name}")
    print(f"written: {counted(len(write_demo(recordings_folder)), 'recording')} in {recordings_folder}")
    print(f"next: limbtorque run-study {quoted(options.study)}")
    return 0


@command(
    "check",
    STUDY_OR_HERE,
    switch("--verbose", "a line for every trial, with all its flags"),
    examples=('check "my study"', 'check "my study" --verbose > checked.txt'),
    on_study=True,
)
def check(options: argparse.Namespace) -> int:
    """List trials that would fail, or be caution or rejected; writes nothing."""
    from limbtorque.analysis.reading import TrialReader
    from limbtorque.analysis.second_look import asked_files, compares_in_run, second_looks
    from limbtorque.analysis.second_look import lines_by_kind as lines_of_readers
    from limbtorque.analysis.study import KEPT_BYTES, check_study
    from limbtorque.cli.check_summary import Answer, summary_lines, trial_lines
    from limbtorque.cli.terminal import followed
    from limbtorque.recordings.sandbox import GuardedReader
    from limbtorque.statistics.contrast_design import contrast_notes
    from limbtorque.workflow.load_checked import checked_study, refuse_future
    from limbtorque.workflow.reference_faults import reference_notes

    study = checked_study(options.study)
    refuse_future(study)
    answers = []
    log = logging.getLogger("limbtorque")
    level = log.level
    log.setLevel(logging.ERROR)  # a failed trial is listed below
    with GuardedReader() as guarded:
        reader = TrialReader(guarded, keep_bytes=KEPT_BYTES)
        for answer in followed(check_study(study, reader), len(study.trials), what="checking trials"):
            answers.append(Answer(*answer))
            if options.verbose:
                print(visible("\n".join(trial_lines(answers[-1]))))
        log.setLevel(level)
        compared = list(followed(second_looks(study, reader), len(asked_files(study)), what="comparing C3D readers"))
    readers = lines_of_readers(compared, in_run=compares_in_run(study))
    lines = [*readers, *summary_lines(answers)] if options.verbose else [*summary_lines(answers), *readers]
    lines += [note for each in study.settings.contrasts.declared for note in contrast_notes(each, study.trials)]
    lines += reference_notes(study)
    print(visible("\n".join(lines)))
    faults = sum(bool(answer.fault) for answer in answers)
    study_word = quoted(options.study)
    if not options.verbose and any(answer.fault or answer.flags or answer.no_curve for answer in answers):
        print(f"details of every trial: limbtorque check {study_word} --verbose")
    run = f"limbtorque run-study {study_word}"
    say(f"next: {'correct or remove the trials that would fail, or ' if faults else ''}{run}")
    return int(faults > 0)


@command(
    "run-study",
    path_option("study", "the study's folder"),
    option("--cores", default="all", about="number of cores (default: all)"),
    switch("--slurm", "submit the jobs to Slurm (docs/cluster.md)"),
    switch("--verify", "check all results against their records first, and recompute those that differ"),
    before="options after -- are passed to snakemake",
    examples=('run-study "my study" --cores 4', 'run-study "my study" -- --dry-run', 'run-study "my study" --slurm'),
    on_study=True,
    usage="limbtorque run-study [-h] [--cores CORES] [--slurm] [--verify] study [-- OPTION ...]",
)
def run_study(options: argparse.Namespace) -> int:
    """Run a study with Snakemake; repeats only what a change affects."""
    from limbtorque.cli import run_study as workflow
    from limbtorque.workflow.effective_settings import refuse_dotted

    refuse_dotted(options.snakemake)
    return workflow.run_study(
        options.study, cores=options.cores, slurm=options.slurm, verify=options.verify, more=options.snakemake
    )


@command(
    "multiverse",
    path_option("study", "the study's folder"),
    option("--cores", default="all", about="number of cores (default: all)"),
    switch("--slurm", "submit the jobs to Slurm (docs/cluster.md)"),
    examples=('multiverse "my study" --cores 4',),
    on_study=True,
)
def multiverse(options: argparse.Namespace) -> int:
    """Repeat the contrasts in all combinations of alternative options."""
    from limbtorque.cli import run_study as workflow
    from limbtorque.study.universes import choices_of, n_universes, time_words
    from limbtorque.workflow.layout import MULTIVERSE, has_multiverse
    from limbtorque.workflow.load_checked import checked_study

    study = checked_study(options.study)
    if not has_multiverse(study):
        raise SettingsError(
            "the settings have no multiverse.alternatives, or no contrast of a number; whole curves are left out"
        )
    n = n_universes(choices_of(study.settings))
    say(f"{n} universes, {time_words(study, n)}")
    code = workflow.run_study(options.study, cores=options.cores, slurm=options.slurm, more=["multiverse"])
    if not code:
        print("\n".join(f"written: {options.study / path}" for path in MULTIVERSE.values()))
    return code


@command(
    "status",
    STUDY_OR_HERE,
    examples=('status "my study"',),
    after="exit code: 0 if a run would do nothing, 1 otherwise",
    on_study=True,
)
def status(options: argparse.Namespace) -> int:
    """Say how far a study is, and what a run would do."""
    from limbtorque.cli.run_study import planned_jobs
    from limbtorque.workflow.status import trials_by_status

    print("\n".join(trials_by_status(options.study) or ["trials: not run yet"]))
    jobs = planned_jobs(options.study)
    print(f"a run would do: {', '.join(f'{stage} {number}' for stage, number in jobs.items()) or 'nothing'}")
    if jobs:
        say(f"next: limbtorque run-study {quoted(options.study)}")
    return int(bool(jobs))


@command(
    "verify",
    STUDY_OR_HERE,
    examples=('verify "my study"', 'run-study "my study" --verify'),
    after="exit code: 0 if no result has changed, 1 otherwise",
    on_study=True,
)
def verify(options: argparse.Namespace) -> int:
    """Compare results and recordings with their records; writes nothing."""
    from limbtorque.workflow.effective_settings import load_effective_study
    from limbtorque.workflow.records import differing_outputs

    lines = differing_outputs(load_effective_study(options.study))
    for line in lines:
        print(line)
    print(f"{counted(len(lines), 'file')} missing or changed")
    if lines:
        say(f"next: limbtorque run-study {quoted(options.study)} --verify, which recomputes them")
    return int(bool(lines))


COMMANDS = (
    *(demo, init, check, run_study, multiverse, status, verify),
    results.freeze,
    *(recordings.inspect, recordings.run, recordings.map_markers),
    *(results.strength, results.diff, results.supplement, results.reproduce, results.import_muscles, results.settings),
)


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
    if "set" in options:
        options.set = dict(change.partition("=")[::2] for change in options.set)
    chosen: Command = options.command
    try:
        if chosen.on_study:
            require_study(options.study)
        code = int(chosen.work(options))
        sys.stdout.flush()
        return code
    except LimbtorqueError as error:
        say(f"limbtorque: {error}")
        if isinstance(error, FolderError):
            say(f"next: {error.advice}")
        elif isinstance(error, SettingsError | StudyError):
            say(NEXT[type(error)])
        return chosen.error_code
    except BrokenPipeError:
        flush_or_silence(sys.stdout)
        return 0
    except OSError as error:  # of the output, among others: a full disk
        flush_or_silence(sys.stdout)
        say(f"limbtorque: {error if error.filename else f'the output cannot be written: {error.strerror or error}'}")
        return chosen.error_code


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Arguments of run-study before and after the two dashes.

    argparse drops the latter after an option.
    """
    if "run-study" in words[:1] and "--" in words:
        place = list(words).index("--")
        return list(words[:place]), list(words[place + 1 :])
    return list(words), []


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="limbtorque",
        description="Net joint torques of recorded movements, term by term, by planar inverse dynamics.\nA study in three steps: init, check, run-study.",
        epilog=examples_text(FIRST_STEPS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"limbtorque {__version__}")
    add_commands(parser, COMMANDS)
    return parser

"""Command line of `limbtorque`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from limbtorque import __version__
from limbtorque.cli import recording_commands as recordings
from limbtorque.cli import result_commands as results
from limbtorque.cli import study_commands as study
from limbtorque.cli.command import Command, add_commands, examples_text
from limbtorque.cli.terminal import require_study
from limbtorque.errors import FolderError, LimbtorqueError, SettingsError, StudyError
from limbtorque.workflow.operating_system import ensure_streams, flush_or_silence, say

COMMANDS = (
    *(study.init, study.check, study.run_study, study.status, study.verify, study.split),
    *(recordings.inspect, recordings.run, recordings.map_markers, recordings.emg),
    *(results.strength, results.diff, results.methods, results.import_muscles, results.settings, results.demo_files),
)
FIRST_STEPS = (
    'init "my study" --from recordings      # then fill in every TODO in "my study/config"',
    'check "my study"',
    'run-study "my study" --cores 4',
    "--print-completion bash > ~/.local/share/bash-completion/completions/limbtorque",
)
NEXT = {
    SettingsError: "next: correct the settings; `limbtorque settings` lists every option with its default and range",
    StudyError: "next: correct these faults, then run `limbtorque check STUDY` again",
}


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
    command: Command = options.command
    try:
        if command.on_study:
            require_study(options.study)
        code = int(command.work(options))
        sys.stdout.flush()
        return code
    except LimbtorqueError as error:
        say(f"limbtorque: {error}")
        if isinstance(error, FolderError):
            say(f"next: {error.advice}")
        elif isinstance(error, SettingsError | StudyError):
            say(NEXT[type(error)])
        return command.error_code
    except BrokenPipeError:
        flush_or_silence(sys.stdout)
        return 0
    except OSError as error:  # of the output, among others: a full disk
        flush_or_silence(sys.stdout)
        say(f"limbtorque: {error if error.filename else f'the output cannot be written: {error.strerror or error}'}")
        return command.error_code


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
        epilog=examples_text(FIRST_STEPS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"limbtorque {__version__}")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        choices=("bash", "zsh", "tcsh"),
        help="print the completion script of a shell",
    )
    add_commands(parser, COMMANDS)
    return parser


class _Completion(argparse.Action):
    """Print the completion script of a shell; paths are completed as files."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        import shtab

        parsers = [parser]
        for each in parsers:
            for action in each._actions:
                if action.type is Path:
                    action.complete = shtab.FILE  # type: ignore[attr-defined]
                if isinstance(action, argparse._SubParsersAction):
                    parsers.extend(action.choices.values())
        print(shtab.complete(parser, shell=rest[1]))
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())

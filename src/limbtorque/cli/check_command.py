"""The command `limbtorque check`: a first screen, and every trial on request."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

from limbtorque.cli.study_folder import quoted
from limbtorque.workflow.streams import say

EXAMPLES = """examples:
  limbtorque check "my study"
  limbtorque check "my study" --verbose > checked.txt
"""


def add_check_command(command: Callable[[str, str], argparse.ArgumentParser]) -> None:
    """Add the command; `command` makes its parser from a name and a sentence."""
    parser = command("check", "list the trials of a study that would fail or not be ok; writes nothing")
    parser.add_argument("study", type=Path, nargs="?", default=Path(), help="the study's folder (default: here)")
    parser.add_argument("--verbose", action="store_true", help="a line for every trial, with all its flags")
    parser.set_defaults(function=check)


def check(options: argparse.Namespace) -> int:
    """Check a study; 1 where a trial would fail."""
    from limbtorque.cli.check_summary import Answer, summary_lines, trial_lines
    from limbtorque.cli.progress import followed, followed_rows
    from limbtorque.workflow.check import check_study
    from limbtorque.workflow.load_checked import checked_study
    from limbtorque.workflow.second_look import compares_in_run, n_compared, second_looks
    from limbtorque.workflow.second_look import lines_by_kind as lines_of_readers

    study = checked_study(options.study, follow=followed_rows)
    answers = []
    log = logging.getLogger("limbtorque")
    level = log.level
    log.setLevel(logging.ERROR)  # a failed trial is listed below
    for found in followed(check_study(study), len(study.trials), what="checking trials"):
        answers.append(Answer(*found))
        if options.verbose:
            print("\n".join(trial_lines(answers[-1])))
    log.setLevel(level)
    compared = followed(second_looks(study), n_compared(study), what="comparing C3D readers")
    readers = lines_of_readers(list(compared), in_run=compares_in_run(study))
    print("\n".join([*readers, *summary_lines(answers)] if options.verbose else [*summary_lines(answers), *readers]))
    faults = sum(bool(one.fault) for one in answers)
    study_word = quoted(options.study)
    if not options.verbose and any(one.fault or one.flags or one.no_curve for one in answers):
        print(f"details of every trial: limbtorque check {study_word} --verbose")
    run = f"limbtorque run-study {study_word}"
    say(f"next: {'correct or remove the trials that would fail, or ' if faults else ''}{run}")
    return int(faults > 0)

"""Commands with their options, defined next to their functions."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Argument = tuple[tuple[str, ...], dict[str, Any]]
Work = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """A command of `limbtorque`.

    Attributes
    ----------
    name : str
        Its words.
    work : callable
        Does its work, given its options; returns the exit code. The first line of its docstring is the help.
    arguments : tuple of Argument
        Names and keywords of each `add_argument`.
    epilog : str
        Examples, and what else stands below the options.
    on_study : bool
        Its argument `study` has to be the folder of a study.
    error_code : int
        Exit code of an expected error.
    usage : str or None
        Usage where that of argparse does not say everything.
    """

    name: str
    work: Work
    arguments: tuple[Argument, ...]
    epilog: str
    on_study: bool
    error_code: int
    usage: str | None

    @property
    def about(self) -> str:
        """Help sentence without initial capital and full stop."""
        first = (self.work.__doc__ or " ").splitlines()[0].rstrip(".")
        return first[0].lower() + first[1:]


def command(
    name: str,
    *arguments: Argument,
    examples: Sequence[str],
    before: str = "",
    after: str = "",
    on_study: bool = False,
    error_code: int = 1,
    usage: str | None = None,
) -> Callable[[Work], Command]:
    """Make a command from a function.

    Parameters
    ----------
    name : str
        Its words.
    *arguments : Argument
        Results of `option`, `path_option` and `switch`.
    examples : sequence of str
        Command lines, without the name of the program.
    before, after : str, optional
        Lines above and below the examples.
    on_study, error_code, usage
        As of `Command`.
    """
    epilog = "\n".join([*([before, ""] if before else []), examples_text(examples), *([after, ""] if after else [])])
    return lambda work: Command(name, work, arguments, epilog, on_study, error_code, usage)


def examples_text(examples: Sequence[str]) -> str:
    """Examples in the help of a command; shell loops stay unchanged."""
    return "".join(
        ["examples:\n", *(f"  {'' if line.startswith('for ') else 'limbtorque '}{line}\n" for line in examples)]
    )


def option(*names: str, about: str | None = None, **keywords: Any) -> Argument:
    """Option or argument of a command, with the keywords of `add_argument`."""
    return names, {"help": about, **keywords}


def path_option(name: str, about: str, **keywords: Any) -> Argument:
    """Option or argument that is a path, with shell completion."""
    return option(name, about=about, type=Path, **keywords)


def file_option(name: str, about: str, **keywords: Any) -> Argument:
    """Option that is the path of a file."""
    return path_option(name, about, metavar="FILE", **keywords)


def switch(name: str, about: str) -> Argument:
    """Option without a value."""
    return option(name, about=about, action="store_true")


def several(name: str, form: str, about: str) -> Argument:
    """Option that may be given several times."""
    return option(name, about=about, action="append", default=[], metavar=form)


def changes(about: str) -> Argument:
    """Option `--set`, which changes settings."""
    return several("--set", "OPTION=VALUE", about)


ACTIONS_OF = {"muscles": "make muscle sets", "contrasts": "record declared contrasts"}


def add_commands(parser: argparse.ArgumentParser, commands: Sequence[Command]) -> None:
    """Add commands to a parser; the second of two words is an action of the first."""
    texts: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for each in commands:
        place = parsers
        texts["epilog"] = each.epilog
        name, _, action = each.name.partition(" ")
        if action:
            about = ACTIONS_OF[name]
            group = parsers.add_parser(name, help=about, description=f"{about.capitalize()}.", **texts)
            place = group.add_subparsers(required=True, metavar="ACTION")
        texts["description"] = f"{each.about[0].upper()}{each.about[1:]}."
        made = place.add_parser(action or name, help=each.about, usage=each.usage, **texts)
        del texts["description"]
        for names, keywords in each.arguments:
            made.add_argument(*names, **keywords)
        made.set_defaults(command=each)

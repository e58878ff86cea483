"""Commands of init that a person runs next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from limbtorque.cli.terminal import quoted

BOTH = ("arm", "leg")


def init_command(study: Path, recordings: Path, *, chains: Sequence[str] = BOTH, answers: Mapping[str, str]) -> str:
    """Command line of an init.

    Parameters
    ----------
    study, recordings : Path
        The study's folder, and that of the recordings.
    chains : sequence of str
        Chains that are looked for.
    answers : mapping of str to str
        Its answers.
    """
    chain = ["--chain", chains[0]] if len(chains) == 1 else []
    given = [word for name, text in answers.items() for word in ("--set", shlex.quote(f"{name}={text}"))]
    return " ".join(["limbtorque init", quoted(study), "--from", quoted(recordings), *chain, *given])


def other_folder(study: Path) -> Path:
    """Folder beside a study that does not exist yet: its name with a number."""
    whole = study.absolute()
    number = next(n for n in range(2, 10**6) if not whole.with_name(f"{whole.name}_{n}").exists())
    return study.parent / f"{study.name or whole.name}_{number}" if study.name else Path(f"../{whole.name}_{number}")

"""`limbtorque init`: look at the recordings of a folder and write a study for them, where none is yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from limbtorque.cli.init.marker_sets import Confirm
from limbtorque.cli.init.proposal import Proposal, propose
from limbtorque.cli.init.survey import Seen, Unread, recordings_in, survey
from limbtorque.cli.init.text import config_text, subjects_text, trials_text
from limbtorque.errors import StudyError

FILES = ("config/config.yaml", "config/trials.csv", "config/subjects.csv")
Watch = Callable[[Iterable[Seen | Unread], int], Iterator[Seen | Unread]]


def init_study(
    study: Path,
    recordings: Path,
    *,
    chains: Sequence[str] = ("arm", "leg"),
    confirm: Confirm | None = None,
    watch: Watch | None = None,
) -> Proposal:
    """Propose a study for the recordings of a folder and write its three files.

    Parameters
    ----------
    study : Path
        The study's folder; made where it does not exist.
    recordings : Path
        Folder of the recordings, which stay where they are.
    chains : sequence of str
        Which chains to look for.
    confirm : callable, optional
        Asks a person whether a likely label is right.
    watch : callable, optional
        Follows what is looked at, with the number of files: a progress bar.

    Returns
    -------
    Proposal
        What was written.

    Raises
    ------
    StudyError
        A file of the study is there already, the folder has no recordings, or none of them can be read. Nothing is written.
    """
    there = [name for name in FILES if (study / name).exists()]
    if there:
        raise StudyError(
            [
                f"{study / name} is there already, and is never overwritten; name another folder, or move it away"
                for name in there
            ]
        )
    if not recordings.is_dir():
        raise StudyError([f"{recordings} is no folder; give the folder of the recordings after --from"])
    paths = recordings_in(recordings, leave_out=[study / "config", study / "results"])
    if not paths:
        raise StudyError([f"{recordings} has no file that ends as recordings do (C3D, TRC, STO, MOT, TSV, CSV)"])
    looked = survey(recordings, paths)
    found = list(watch(looked, len(paths)) if watch else looked)
    if not any(isinstance(one, Seen) for one in found):
        raise StudyError([one.why for one in found if isinstance(one, Unread)])
    proposal = propose(
        found,
        title=study.resolve().name,
        relative_to=study,
        chains=chains,
        confirm=confirm,
    )
    texts = (config_text(proposal, source=str(recordings)), trials_text(proposal), subjects_text(proposal))
    (study / "config").mkdir(parents=True, exist_ok=True)
    for name, text in zip(FILES, texts, strict=True):
        with (study / name).open("x", encoding="utf-8") as file:
            file.write(text)
    return proposal

"""`limbtorque init`: propose a study for a folder of recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from limbtorque.cli.init.maps import FOLDER, write_maps
from limbtorque.cli.init.proposal import Proposal, propose
from limbtorque.cli.init.proposed_sets import Confirm
from limbtorque.cli.init.survey import Seen, Unread, recordings_in, survey
from limbtorque.cli.init.text import config_text, subjects_text, trials_text
from limbtorque.errors import StudyError
from limbtorque.study.whole_file import write_text

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
    """Propose a study for the recordings of a folder; write its files and a page.

    Parameters
    ----------
    study : Path
        The study's folder; made where it does not exist.
    recordings : Path
        Folder of the recordings, which stay where they are.
    chains : sequence of str
        Which chains to look for.
    confirm : callable, optional
        Asks the user whether a likely label is right.
    watch : callable, optional
        Follows the files as they are read, with their number: a progress bar.

    Returns
    -------
    Proposal
        What was written.

    Raises
    ------
    StudyError
        A file of the study exists, the folder has no recordings, or none of them can be read. Nothing is written.
    """
    there = [name for name in (*FILES, FOLDER) if (study / name).exists()]
    if there:
        raise StudyError(
            [f"{study / name} exists and is not overwritten; name another folder, or move the file" for name in there]
        )
    if not recordings.is_dir():
        raise StudyError([f"{recordings} is not a folder; give the folder of the recordings after --from"])
    paths = recordings_in(recordings, leave_out=[study / "config", study / "results"])
    if not paths:
        raise StudyError(
            [f"{recordings} has no recordings (C3D, TRC, STO, MOT, TSV, CSV); give their folder after --from"]
        )
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
    for name, text in zip(FILES, texts, strict=True):
        write_text(study / name, text)
    return write_maps(study, proposal, [one for one in found if isinstance(one, Seen)])

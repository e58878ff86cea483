"""Check that a folder is a study, before a command works on it."""

from __future__ import annotations

from pathlib import Path

from limbtorque.errors import LimbtorqueError
from limbtorque.study.study import SETTINGS_FILE


def require_study(folder: Path) -> None:
    """Check that a folder is a study: that it has a settings file.

    Parameters
    ----------
    folder : Path
        Folder given to a command.

    Raises
    ------
    LimbtorqueError
        It does not exist, is inside a study (as `results` is), or has no settings file.
    """
    if (folder / SETTINGS_FILE).is_file():
        return
    inside = folder.resolve().parent
    if not folder.exists():
        found = f"{folder} does not exist"
    elif (inside / SETTINGS_FILE).is_file():
        raise LimbtorqueError(f"{folder} is a part of a study; give the study's own folder: {inside}")
    else:
        found = f"{folder} has no {SETTINGS_FILE}, so it is not a study"
    raise LimbtorqueError(
        f"{found}; give a study's folder, or `limbtorque init {folder} --from RECORDINGS` proposes one"
    )

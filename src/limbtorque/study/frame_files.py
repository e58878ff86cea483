"""Recordings with one file for each frame, as OpenPose writes them."""

from __future__ import annotations

import re
from pathlib import Path

FRAME_SUFFIX = ".json"
_NUMBERED = re.compile(r"(.*?)(\d+)((?:\D|\d[dD])*)")  # the last number of a name, but for 2d and 3d
_HEAD = 4000


def numbered(path: Path) -> tuple[str, int, str] | None:
    """Name of a frame's file: before its number, the number, and after it.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    tuple of (str, int, str) or None
        None for a name without a number, or of another suffix.

    Examples
    --------
    >>> numbered(Path("walk_000000000012_keypoints.json"))
    ('walk_', 12, '_keypoints')
    """
    match = _NUMBERED.fullmatch(path.stem) if path.suffix.lower() == FRAME_SUFFIX else None
    return (match[1], int(match[2][-15:]), match[3]) if match else None


def is_frame(path: Path) -> bool:
    """Return True for a file with the people of one frame, by its first bytes.

    Parameters
    ----------
    path : Path
        The file; one that cannot be opened is none.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).lstrip()
    except OSError:
        return False
    people = min((at for at in map(head.find, (b'"people"', b'"bodies"')) if at >= 0), default=-1)
    return head.startswith(b"{") and people >= 0 and b'"frames"' not in head[:people]


def frame_files(path: Path) -> tuple[Path, ...]:
    """Files of all frames of a recording, from one of them.

    Parameters
    ----------
    path : Path
        A file of the recording.

    Returns
    -------
    tuple of Path
        The files beside it whose names differ by the number only, in its order; the file alone where it is not a frame.
    """
    own = numbered(path)
    if own is None or not is_frame(path):
        return (path,)
    there = ((numbered(one), one) for one in path.parent.iterdir() if one.suffix == path.suffix)
    frames = [(name[1], one) for name, one in there if name and (name[0], name[2]) == (own[0], own[2])]
    return tuple(one for _, one in sorted(frames))

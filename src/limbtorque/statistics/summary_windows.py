"""Windows of the summaries: the window of the curves, and the stance in it."""

from __future__ import annotations

import numpy as np

from limbtorque.arrays import BoolArray
from limbtorque.motion.chain_motion import ChainMotion
from limbtorque.motion.limb import Limb
from limbtorque.statistics.known_stance import stance_frames
from limbtorque.statistics.wording import Percent
from limbtorque.study.settings import Settings
from limbtorque.tables.summary_columns import STANCE
from limbtorque.tables.trial_record import Window


def summary_windows(motion: ChainMotion, window: Window | None, limb: Limb, settings: Settings) -> dict[str, BoolArray]:
    """Frames of each window that a trial is summarised over, by its name.

    Parameters
    ----------
    motion : ChainMotion
        The motion.
    window : Window or None
        The window of its curves; missing where it has none.
    limb, settings
        Chain and load; the section `ensembles`.

    Returns
    -------
    dict of str to ndarray of bool, shape (n_frames,)
        ``movement``, ``events`` or ``trial``, as `ensembles.window`; ``trial`` also where the window is missing: all frames
        from the first to the last one without edge effects. Then ``stance``: the frames of that window in which the limb
        meets the ground, whether or not its force is known; not there without any.
    """
    options = settings.ensembles
    there = window is not None and not window.note
    inside = _without_ends(~motion.edge)
    if window is not None:
        inside = window.judged(motion.time_s, inside)
    found: dict[str, BoolArray] = {options.window if there else "trial": inside}
    if settings.chain(limb.chain).ground_contact and not limb.load:
        cycle = there and Percent(options.window, options.start_event, options.end_event).cycle
        stance = stance_frames(motion.load.status, inside, cycle=cycle)
        found |= {STANCE: stance} if stance.any() else {}
    return found


def _without_ends(whole: BoolArray) -> BoolArray:
    """Frames from the first to the last one of some.

    >>> _without_ends(np.array([False, True, False, True, False])).tolist()
    [False, True, True, True, False]
    """
    return np.asarray(np.maximum.accumulate(whole) & np.maximum.accumulate(whole[::-1])[::-1])

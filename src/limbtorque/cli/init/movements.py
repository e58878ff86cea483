"""Several movements, and cycles, in one recording."""

from __future__ import annotations

import numpy as np

from limbtorque.cli.init.known_sets import Fit
from limbtorque.cli.init.survey import Body, Seen
from limbtorque.motion.plane import axis_vector
from limbtorque.statistics.windows import cycle_times
from limbtorque.study.chains import BUILT_IN as CHAINS

FEWEST_CYCLES = 3
LONGEST_CYCLE_S = 2.5
ALIKE = 0.25  # largest standard deviation of the durations of cycles over their mean


def labels_of(fit: Fit, landmark: str) -> tuple[str, ...]:
    """Labels of a landmark, or of its substitute; empty without markers.

    Parameters
    ----------
    fit : Fit
        Known set and labels of the chain.
    landmark : str
        The landmark.
    """
    return fit.rules.get(landmark) or fit.rules.get(fit.known.substitutes.get(landmark, ("",))[0], ())


def movements_of(fit: Fit, body: Body, chain: str) -> tuple[tuple[float, float], ...]:
    """Movements of the end of a chain between rests, s from the first frame.

    Parameters
    ----------
    fit : Fit
        Labels of the chain.
    body : Body
        Movements of each of its markers.
    chain : str
        Name of the chain.
    """
    found = [body.spells[label] for label in labels_of(fit, CHAINS[chain].end) if label in body.spells]
    return max(found, key=len, default=())


def cycles_of(fit: Fit, one: Seen, body: Body, chain: str, up_axis: str) -> int:
    """Number of alike cycles of the end of a chain; 0 for other movements.

    Parameters
    ----------
    fit : Fit
        Labels of the chain.
    one, body : Seen, Body
        The recording, and whose markers.
    chain : str
        Name of the chain.
    up_axis : str
        The axis that points up; empty where it is not certain: no cycle is found then.

    Notes
    -----
    The position is relative to the first joint, in every tenth frame.
    """
    model = CHAINS[chain]
    end, first = (labels_of(fit, name) for name in (model.end, model.joints[0].landmark))
    if not end or not up_axis or one.n_frames < 2:
        return 0
    times = one.sample_s
    path = one.sampled(end, body.prefix, most=len(times)).mean(axis=1)
    if first:
        path = path - one.sampled(first, body.prefix, most=len(times)).mean(axis=1)
    known = np.isfinite(path).all(axis=1)
    times, path = times[known], path[known]
    if len(path) < FEWEST_CYCLES:
        return 0
    up = axis_vector(up_axis)
    level = path - np.outer(path @ up, up)
    _, _, ways = np.linalg.svd(level - level.mean(axis=0), full_matrices=False)
    turns = cycle_times(times, np.column_stack([level @ ways[0], path @ up]), start="foremost")
    lasting = np.diff(turns)
    if len(lasting) < FEWEST_CYCLES or lasting.mean() > LONGEST_CYCLE_S:
        return 0
    return len(lasting) if lasting.std() <= ALIKE * lasting.mean() else 0

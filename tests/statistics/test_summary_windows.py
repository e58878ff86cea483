"""Windows of the summaries: the window of the curves, and the stance in it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from limbtorque.motion.chain_motion import no_load
from limbtorque.statistics.windows import summary_windows
from limbtorque.study.chains import LEG
from limbtorque.study.options.outputs import Ensembles
from limbtorque.tables.trial_record import Window

TIME_S = np.arange(12) / 10.0
STATUS = np.array(
    [2, 1, 1, 1, 1, 0, 0, 0, 2, 2, 2, 2], dtype=np.int8
)  # a stance on a plate, swing, the next one on the floor
STRIDE = Ensembles(window="events", start_event="Foot Strike {side}", end_event="Foot Strike {side}")
STEP = Ensembles(window="events", start_event="Foot Strike {side}", end_event="Foot Off {side}")
MISSING = Window(float("nan"), float("nan"), "no event")


def windows(window, *, options=STRIDE, chain=LEG, load="", status=STATUS):
    """Frames of each window, as lists."""
    settings = SimpleNamespace(ensembles=options, chain={"leg": chain}.__getitem__)
    limb = SimpleNamespace(chain="leg", load=load)
    edge = np.isin(np.arange(12), [0, 11])
    motion = SimpleNamespace(time_s=TIME_S, edge=edge, load=replace(no_load(12), status=status))
    return {
        name: np.flatnonzero(frames).tolist()
        for name, frames in summary_windows(motion, window, limb, settings).items()
    }


def test_the_stance_of_a_stride_ends_before_the_next_one_begins():
    """The window includes the frame of the next strike, and two that count as contact before it."""
    assert windows(Window(0.1, 1.0)) == {"events": list(range(1, 11)), "stance": [1, 2, 3, 4]}
    whole = windows(Window(0.1, 1.0), options=STEP)
    assert whole["stance"] == [1, 2, 3, 4, 8, 9, 10]


@pytest.mark.parametrize("window", [MISSING, None])
def test_a_trial_without_its_window_is_summarised_without_its_ends(window):
    found = windows(window)
    assert found == {"trial": list(range(1, 11)), "stance": [1, 2, 3, 4, 8, 9, 10]}


def test_limbs_off_the_ground_have_no_stance():
    arm = LEG.model_copy(update={"ground_contact": False})
    assert list(windows(Window(0.1, 1.0), chain=arm)) == ["events"]
    assert list(windows(Window(0.1, 1.0), load="ball")) == ["events"]
    assert list(windows(Window(0.1, 1.0), status=np.zeros(12, dtype=np.int8))) == ["events"]

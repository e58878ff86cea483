"""A stance on plates lasts from the first to the last sample above the threshold, however low the filter's cut-off."""

from types import SimpleNamespace

import numpy as np
import pytest

from limbtorque.motion.chain_motion import MEASURED, UNMEASURED
from limbtorque.statistics.windows import summary_windows
from limbtorque.study.chains import LEG
from limbtorque.study.options.outputs import Ensembles
from plates import N_FRAMES, OWN, RATE_HZ, STANCE, UNDER, ground, plate

SETTINGS = SimpleNamespace(ensembles=Ensembles(window="trial"), chain={"leg": LEG}.__getitem__)
LIMB = SimpleNamespace(chain="leg", load="")


def stance_of(load):
    edge, time_s = np.zeros(N_FRAMES, dtype=bool), np.arange(N_FRAMES) / RATE_HZ
    motion = SimpleNamespace(time_s=time_s, rate_hz=RATE_HZ, edge=edge, load=load)
    return np.flatnonzero(summary_windows(motion, None, LIMB, SETTINGS)["stance"]).tolist()


@pytest.mark.parametrize("cutoff_hz", [None, 20.0, 5.0])
def test_the_filter_does_not_make_the_stance_longer(cutoff_hz):
    load = ground([plate(loads=[UNDER])], OWN, cutoff_hz=cutoff_hz)
    known = load.status == MEASURED
    assert stance_of(load) == list(range(STANCE.start, STANCE.stop))
    if cutoff_hz is not None:
        assert known.sum() > STANCE.stop - STANCE.start + 2


def test_contact_with_unknown_force_stays():
    """Beside the plate the force ends later than the plate's sample: nothing is cut there."""
    load = ground([plate(loads=[UNDER])], OWN, cutoff_hz=5.0)
    load.status[STANCE.stop : STANCE.stop + 12] = UNMEASURED
    assert stance_of(load) == list(range(STANCE.start, STANCE.stop + 12))

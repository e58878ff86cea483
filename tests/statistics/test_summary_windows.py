"""Windows of the summaries: the window of the curves, and the stance in it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from limbtorque.motion.chain_motion import MEASURED, UNMEASURED, no_load
from limbtorque.statistics.mean_and_spread import known_stance_share, uneven_ground_forces
from limbtorque.statistics.windows import summary_windows
from limbtorque.study.chains import LEG
from limbtorque.study.options.outputs import Ensembles
from limbtorque.tables.trial_record import Window
from plates import N_FRAMES, OWN, RATE_HZ, STANCE, UNDER, ground, plate

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


# --- a stance on plates lasts from the first to the last sample above the threshold, however low the filter's cut-off ---


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


# --- share of a stance with a known ground force, and the sentences on unequal shares ---


@pytest.mark.parametrize(
    ("status", "cycle", "share"),
    [
        ([1, 1, 1, 1, 0, 0, 0, 2, 2], True, 1.0),  # the next contact begins before the cycle ends
        ([1, 1, 1, 1, 0, 0, 0, 2, 2], False, 4 / 6),  # the same in a window that is no cycle
        ([2, 2, 1, 1, 0, 0, 0, 0, 0], True, 0.5),
        ([2, 2, 2, 0, 0, 0, 0, 1, 1], True, 0.0),
        ([1, 1, 2, 2, 2, 2, 2, 2, 2], True, 2 / 9),  # never in the air
        ([0, 0, 0, 0, 0, 0, 0, 0, 0], True, np.nan),
    ],
)
def test_known_stance_is_that_of_the_frames_in_contact(status, cycle, share):
    """Nine frames from 0.1 to 0.9 s in the window, and frames before and after it that do not count."""
    time_s = np.arange(12) / 10.0
    found = known_stance_share(time_s, np.array([2, *status, 2, 2]), start_s=0.1, end_s=0.9, cycle=cycle)
    assert found == pytest.approx(share, nan_ok=True)


def test_unequal_ground_force_shares_are_reported():
    def windows(count, included="1"):
        about = {"chain": "leg", "condition": "walk", "side": "left", "included": included}
        return [{**about, "trial": f"t{k}"} for k in range(count)]

    (said,) = uneven_ground_forces(windows(2), {"t0": 0.9, "t1": 0.4})["leg"]
    assert said.startswith(
        "In the mean of walk, left (2 trials), the ground force is known in 40 to 90 % of the stance, depending on the trial;"
    )
    assert "the foot was not on a usable plate" in said
    (none,) = uneven_ground_forces(windows(2), {"t0": 0.0, "t1": 0.0})["leg"]
    assert "(2 trials), the ground force is unknown throughout stance" in none
    assert uneven_ground_forces(windows(2), {"t0": 0.6, "t1": 0.62}) == {}  # alike
    assert uneven_ground_forces(windows(2), {"t0": 1.0, "t1": np.nan}) == {}  # one never meets the ground
    assert uneven_ground_forces(windows(2), {}) == {}  # an arm
    assert uneven_ground_forces([*windows(1), *windows(2, included="0")], {"t0": 1.0, "t1": 0.4}) == {}

"""The cycle over which electromyography is compared where the window is too little known."""

from types import SimpleNamespace

import numpy as np

from limbtorque.ground.events import OFF, STRIKE
from limbtorque.recordings.recording import Event
from limbtorque.statistics.windows import known_cycle

TIME_S = np.arange(0.0, 4.0, 0.01)


def motion(**times_s):
    kinds = {"strikes": STRIKE, "offs": OFF}
    events = [Event(kinds[kind], "Left", time) for kind, times in times_s.items() for time in times]
    return SimpleNamespace(time_s=TIME_S, load=SimpleNamespace(foot_events={"plates_and_markers": tuple(events)}))


def test_the_best_known_cycle_from_strike_to_strike_or_off_to_off():
    known = (TIME_S > 1.45) & (TIME_S < 2.95)  # one step on a plate, with the swings before and after
    walk = motion(strikes=(0.1, 1.2, 2.3, 3.4), offs=(0.8, 1.85, 2.9))
    cycle = known_cycle(walk, known, side="left")
    np.testing.assert_allclose(TIME_S[cycle][[0, -1]], [1.85, 2.9], atol=1e-6)
    assert known[cycle].all()


def test_the_other_sides_events_and_one_event_give_none():
    assert not known_cycle(motion(strikes=(0.1, 1.2)), TIME_S > 0, side="right").any()
    assert not known_cycle(motion(strikes=(0.1,)), TIME_S > 0, side="left").any()

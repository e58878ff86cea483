"""Walking speed, cadence and stride length of a simulated walk, whose speed and stride are known."""

from dataclasses import replace

import numpy as np
import pytest

from limbtorque.simulation.gait import Walker, walk
from limbtorque.statistics.gait import gait_values
from limbtorque.study.settings import make_settings
from limbtorque.tables.trial_record import Window

TIME_S = np.arange(221) / 100.0
WALKER = Walker(speed_m_s=1.3, stride_s=1.05)
CYCLE = Window(0.352, 0.352 + 1.05)  # between frames
STRIKES = {"window": "events", "start_event": "Foot Strike {side}", "end_event": "Foot Strike {side}"}
NAMES = ("walking_speed_m_s", "cadence_steps_min", "stride_length_m")


def settings_of(belt_m_s=0.0, **ensembles):
    return make_settings({"ensembles": STRIKES | ensembles, "plates": {"belt_speed_m_s": belt_m_s}})


def hip_m():
    return walk(WALKER, TIME_S, first_strike_s=0.35)["right"].joint_m[:, 0, 0]


@pytest.mark.parametrize("belt_m_s", [0.0, 1.3])
@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_speed_cadence_and_stride_of_a_known_walk(belt_m_s, direction):
    """On a treadmill the hip stays, and the belt moves backward; overground it may walk against the forward axis."""
    forward = hip_m() - belt_m_s * TIME_S if belt_m_s else direction * hip_m()
    values = gait_values(TIME_S, forward, CYCLE, settings_of(belt_m_s))
    assert [values[name] for name in NAMES] == pytest.approx([1.3, 120.0 / 1.05, 1.3 * 1.05], rel=1e-6)


@pytest.mark.parametrize(
    ("window", "options"),
    [
        (CYCLE, {"window": "movement"}),
        (CYCLE, {"start_event": "Foot Strike {side}", "end_event": "Foot Off {side}"}),
        (CYCLE, {"start_event": "push", "end_event": "push"}),
        (replace(CYCLE, note="no event"), {}),
    ],
)
def test_other_windows_have_none(window, options):
    values = gait_values(TIME_S, hip_m(), window, settings_of(**options))
    assert set(values) == set(NAMES)
    assert np.isnan([*values.values()]).all()


def test_an_unknown_position_leaves_the_cadence():
    values = gait_values(TIME_S, np.where(TIME_S < 0.5, np.nan, hip_m()), CYCLE, settings_of())
    assert np.isnan([values["walking_speed_m_s"], values["stride_length_m"]]).all()
    assert values["cadence_steps_min"] == pytest.approx(120.0 / 1.05)

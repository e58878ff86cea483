"""Cycles of movements whose period is known."""

from dataclasses import replace

import numpy as np
import pytest

from limbtorque.analysis.trial import analyse_recording
from limbtorque.motion.limb import Limb
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.statistics.windows import cycle_times
from limbtorque.study.settings import make_settings

TIME_S = np.arange(0.0, 6.0, 0.01)


def circle(hz=1.25, phase=0.3):
    """A pedal seen from the hip, turning clockwise as seen from the right side; at the top where the angle is 0."""
    angle = 2.0 * np.pi * hz * TIME_S + phase
    return 0.17 * np.column_stack([np.sin(angle), np.cos(angle)]) + [0.2, -0.7]


@pytest.mark.parametrize(("start", "turn"), [("highest", 0.0), ("foremost", 0.25), ("lowest", 0.5), ("rearmost", 0.75)])
def test_turns_of_a_pedal_in_closed_form(start, turn):
    found = cycle_times(TIME_S, circle(), start=start)
    first = (2.0 * np.pi * turn - 0.3) / (2.0 * np.pi * 1.25)
    exact = first + np.arange(-1, 9) / 1.25
    whole = exact[(exact > 0.4) & (exact < TIME_S[-1] - 0.4)]  # with the valleys on both sides
    assert len(whole) >= 6
    assert set(np.round(whole, 4)) <= set(np.round(found, 4))
    assert len(found) <= len(whole) + 2
    assert np.abs(found[:, None] - exact).min(axis=1).max() < 1e-4


def test_small_wobbles_are_no_cycles():
    """A push of 0.4 m every second, with a wobble of 3 cm, five a second."""
    path = np.column_stack([-0.2 * np.cos(2 * np.pi * TIME_S) + 0.015 * np.sin(10 * np.pi * TIME_S), 0.0 * TIME_S])
    found = cycle_times(TIME_S, path, start="rearmost")
    np.testing.assert_allclose(np.diff(found), 1.0, atol=0.01)


def test_a_single_reach_and_no_movement_have_no_cycle():
    reach = np.column_stack([np.clip(TIME_S - 2.0, 0.0, 1.0), 0.0 * TIME_S])
    assert len(cycle_times(TIME_S, reach, start="rearmost")) == 0
    assert len(cycle_times(TIME_S, np.zeros((600, 2)), start="highest")) == 0
    assert len(cycle_times(TIME_S, np.full((600, 2), np.nan), start="highest")) == 0


def test_a_gap_ends_a_cycle_but_hides_no_other():
    path = circle()
    whole = cycle_times(TIME_S, path, start="highest")
    path[130:140] = np.nan
    part = cycle_times(TIME_S, path, start="highest")
    assert set(np.round(part, 6)) <= set(np.round(whole, 6))
    assert len(part) >= len(whole) - 1


MARKERS = {
    **dict.fromkeys(("hip_axis", "greater_trochanter"), "RHJC"),
    **dict.fromkeys(("knee_axis", "femoral_condyles"), "RKJC"),
    **dict.fromkeys(("ankle_axis", "lateral_malleolus", "medial_malleolus"), "RAJC"),
    "head_of_metatarsal_2": "RTOE",
}


@pytest.fixture
def pedalling():
    """A leg whose foot turns 1.25 times a second about an axle below a fixed hip; joints by the cosine rule."""
    base = walk_recording(Walker(), Walkway(rate_hz=100.0), duration_s=5.99)
    ankle = circle()
    thigh, shank = 0.45, 0.45
    distance = np.linalg.norm(ankle, axis=1)
    to_knee = np.arctan2(ankle[:, 1], ankle[:, 0]) + np.arccos(
        (thigh**2 + distance**2 - shank**2) / (2 * thigh * distance)
    )
    knee = thigh * np.column_stack([np.cos(to_knee), np.sin(to_knee)])
    toe = ankle + np.array([0.15, -0.05])
    markers = np.full_like(base.markers_m, np.nan)
    for label, place in (("RHJC", 0.0 * knee), ("RKJC", knee), ("RAJC", ankle), ("RTOE", toe)):
        column = list(base.labels).index(label)
        markers[:, column] = np.column_stack([place[:, 0], np.zeros(len(place)), place[:, 1] + 1.0])
    return replace(base, markers_m=markers, events=(), force_plates=())


def analysed(recording, **ensembles):
    settings = make_settings(
        {
            "marker_sets": {"bike": MARKERS},
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "plates": {"assignment": "none"},
            "gaps": {"constant_marker": "accept"},
            "muscles": {"enabled": False},
            "ensembles": {"window": "cycles", "cycle_start": "highest", **ensembles},
        }
    )
    return analyse_recording(recording, Limb("leg", side="right", body_mass_kg=70.0), settings).window


def test_pedalling_becomes_cycles_from_top_to_top(pedalling):
    window = analysed(pedalling)
    assert window.note == ""
    assert window.end_s - window.start_s == pytest.approx(0.8, abs=2e-3)
    assert window.n_cycles >= 5
    third, fourth = (analysed(pedalling, cycle=number) for number in (3, 4))
    assert third.end_s == pytest.approx(fourth.start_s)


def test_a_cycle_that_is_not_there_is_refused_with_what_to_do(pedalling):
    assert "ensembles.cycle is 40, but the trial has" in analysed(pedalling, cycle=40).note
    still = replace(pedalling, markers_m=np.repeat(pedalling.markers_m[:1], len(pedalling.markers_m), axis=0))
    assert "expected two or more; check ensembles.cycle_start" in analysed(still).note

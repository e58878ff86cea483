"""Foot strikes that plates and markers give, on simulated walks whose steps are known."""

from dataclasses import replace

import numpy as np
import pytest

from clustered_legs import walk_settings
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.analysis.trial import analyse_recording
from limbtorque.ground.foot import kind_of
from limbtorque.motion.limb import Limb
from limbtorque.motion.table import events_as_values, events_of_values
from limbtorque.recordings.recording import Event
from limbtorque.simulation.gait import TOE_OFF, Walker, Walkway, walk_recording
from limbtorque.study.settings import make_settings

WALKER = Walker(strike_m_s=0.4)
FIRST_S = 0.507
LEG = Limb("leg", side="right", body_mass_kg=WALKER.mass_kg)
STRIDE_S = WALKER.stride_s


def settings(**ensembles):
    window = {"window": "events", "start_event": "Foot Strike", "end_event": "Foot Strike", **ensembles}
    return walk_settings(ensembles=window, muscles={"enabled": False})


@pytest.fixture(scope="module")
def walked():
    """Three strides; a plate below the right foot's second step."""
    middle = 0.5 * (WALKER.foot_m[1, 0] - WALKER.foot_m[0, 0])
    walkway = Walkway(plates_m=((WALKER.stride_m + middle, -0.2),), noise_m=0.0005, noise_n=1.0, seed=3)
    return walk_recording(WALKER, walkway, duration_s=3.0 * STRIDE_S + FIRST_S, first_strike_s=FIRST_S)


def silent(recording):
    return replace(recording, events=())


def times(events, label):
    return [event.time_s for event in events if event.label == label]


@pytest.fixture(scope="module")
def found(walked):
    return chain_motion(silent(walked), LEG, settings()).load.foot_events


def test_a_plate_gives_the_flanks_of_the_step_that_it_measures(found):
    strike_s, off_s = FIRST_S + STRIDE_S, FIRST_S + STRIDE_S + TOE_OFF * STRIDE_S
    (strike,), (off,) = times(found["plates"], "Foot Strike"), times(found["plates"], "Foot Off")
    assert -1e-6 <= strike - strike_s < 0.02  # the force rises to 20 N within two hundredths with an impact
    assert -0.04 < off - off_s <= 0.0


def test_markers_give_the_other_steps_and_no_step_is_counted_twice(found):
    known = FIRST_S + STRIDE_S * np.arange(3)
    strikes = np.array(times(found["plates_and_markers"], "Foot Strike"))
    inside = known[(known > 0.1) & (known < FIRST_S + 3.0 * STRIDE_S - 0.1)]
    assert len(strikes) == len(inside)
    assert np.abs(strikes - inside).max() < 0.045  # errors of O'Connor et al. (2007) in docs/events.md
    assert times(found["plates"], "Foot Strike")[0] in strikes
    for method in ("zeni_2008", "oconnor_2007"):
        assert len(times(found[method], "Foot Strike")) == len(inside)


@pytest.mark.parametrize("method", ["plates_and_markers", "zeni_2008", "oconnor_2007"])
def test_recordings_without_events_have_a_gait_cycle(walked, method):
    options = {} if method == "plates_and_markers" else {"events": method}
    window = analyse_recording(silent(walked), LEG, settings(**options)).window
    assert (window.note, window.events) == ("", method)
    assert window.end_s - window.start_s == pytest.approx(STRIDE_S, abs=0.05)


def test_events_of_the_file_are_used_unless_another_source_is_asked_for(walked):
    """Even wrong ones: two strikes 0.7 s apart that no foot made."""
    wrong = replace(walked, events=tuple(Event("Foot Strike", "Right", t) for t in (0.9, 1.6)))
    window = analyse_recording(wrong, LEG, settings()).window
    assert (window.start_s, window.end_s, window.events) == (0.9, 1.6, "file")
    asked = analyse_recording(wrong, LEG, settings(events="plates_and_markers")).window
    assert asked.events == "plates_and_markers"
    assert asked.start_s not in (0.9, 1.6)


def test_a_single_strike_of_the_file_is_not_completed_and_the_way_out_is_named(walked):
    one = replace(walked, events=(Event("Foot Strike", "Right", FIRST_S),))
    window = analyse_recording(one, LEG, settings()).window
    assert "no event 'Foot Strike' of this side after" in window.note
    assert window.note.endswith("markers and plates give right foot strikes: ensembles.events plates_and_markers")


def test_the_other_sides_events_do_not_count(walked):
    other = replace(walked, events=(Event("Foot Strike", "Left", 0.9), Event("Foot Strike", "Left", 1.9)))
    assert analyse_recording(other, LEG, settings()).window.events == "plates_and_markers"


def test_the_file_alone_means_no_other_source(walked):
    window = analyse_recording(silent(walked), LEG, settings(events="file")).window
    assert window.note.startswith("no event 'Foot Strike'")


def test_from_strike_to_off_is_a_stance(walked):
    window = analyse_recording(silent(walked), LEG, settings(end_event="Foot Off")).window
    assert window.end_s - window.start_s == pytest.approx(TOE_OFF * STRIDE_S, abs=0.06)


def test_names_that_no_foot_makes_are_the_files(walked):
    window = analyse_recording(silent(walked), LEG, settings(start_event="Go", end_event="Stop")).window
    assert window.note.startswith("no event 'Go'")


def test_a_standing_person_has_no_events(walked):
    rng = np.random.default_rng(5)
    still = np.repeat(walked.markers_m[60:61], walked.n_frames, axis=0)
    sway = 0.002 * np.cumsum(rng.standard_normal((walked.n_frames, 1, 3)), axis=0) / 30.0
    standing = replace(silent(walked), markers_m=still + sway, force_plates=())
    standing_settings = make_settings({**settings().model_dump(), "plane": {"up_axis": "+z", "forward_axis": "+x"}})
    found = chain_motion(standing, LEG, standing_settings).load.foot_events
    assert not any(found.values())


def test_a_treadmill_gives_the_strikes_of_the_walk(walked, found):
    """The same walk on a belt: everybody moves back with the walking speed, and the belt's speed is set."""
    back = np.arange(walked.n_frames) / walked.rate_hz * WALKER.speed_m_s
    markers = walked.markers_m - back[:, None, None] * np.array([1.0, 0.0, 0.0])
    belt = {"plane": {"up_axis": "+z", "forward_axis": "+x"}, "plates": {"belt_speed_m_s": WALKER.speed_m_s}}
    on_belt = make_settings({**settings().model_dump(), **belt})
    treadmill = replace(silent(walked), markers_m=markers, force_plates=())
    there = chain_motion(treadmill, LEG, on_belt).load.foot_events
    for method in ("zeni_2008", "oconnor_2007"):
        np.testing.assert_allclose(times(there[method], "Foot Strike"), times(found[method], "Foot Strike"), atol=0.01)


def test_limbs_off_the_ground_have_no_events(walked):
    swinging = make_settings({**settings().model_dump(), "plates": {"assignment": "none"}})
    assert chain_motion(walked, LEG, swinging).load.foot_events == {}


def test_events_survive_the_record(found):
    assert events_of_values(events_as_values(found)) == found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Foot Strike", "strike"),
        ("right heel strike", "strike"),
        ("Toe Off Right", "off"),
        ("Foot Strike Left", ""),
        ("Impact", ""),
    ],
)
def test_names_of_strikes_and_offs(name, kind):
    assert kind_of(name, "right") == kind

"""Frames of a plate for one foot: every frame by hand, at 100 frames per second."""

from dataclasses import replace

import numpy as np
import pytest

import plates
from limbtorque.ground.assignment import Feet, Stretch, assign
from limbtorque.ground.foot import Foot, FootEvents, Strikes
from limbtorque.ground.plates import read_plates
from limbtorque.study.options.reading import Plates
from plates import frames

N, RATE_HZ, UP = plates.N_FRAMES, plates.RATE_HZ, plates.UP
AIR_M = 0.3


def foot(*steps, length=0.2, side="", zeni=(), oconnor=(), file=(), off=()):
    """A foot that stands with its heel at (x, y) in these frames, each (start, stop, x, y), and is far away in others."""
    heel, contact = np.full((N, 3), [5.0, 5.0, AIR_M]), np.zeros(N, dtype=bool)
    for start, stop, x, y in steps:
        heel[start:stop], contact[start:stop] = [x, y, 0.02], True
    strikes = Strikes(
        np.array(file, dtype=float),
        FootEvents(np.array(zeni, dtype=float), np.array(off, dtype=float)),
        FootEvents(np.array(oconnor, dtype=float), np.zeros(0)),
    )
    return Foot(heel, heel + np.array([length, 0.0, 0.0]), contact, side, strikes)


def load(start, stop, force_n=700.0, x=0.3, y=0.0):
    return (slice(start, stop), (0.0, 0.0, force_n), (x, y, 0.0))


def assigned(own, other=None, *, measured, which=0, body_n=None, settings=None):
    settings = settings or Plates()
    readings = read_plates(measured, slice(0, N), RATE_HZ, settings=settings, up=UP)
    feet = Feet(own, other, None if body_n is None else np.full(N, body_n))
    stretch = Stretch(slice(0, N), 1, RATE_HZ)
    return assign(readings[which], readings, feet, stretch=stretch, settings=settings, up=UP)


def are(mask, *parts):
    np.testing.assert_array_equal(np.flatnonzero(mask), np.flatnonzero(frames(*parts)))


OWN = foot((50, 110, 0.2, 0.0))
OTHER_AWAY = foot((0, 40, 2.0, 0.0), (120, 160, 3.0, 0.0))
STANCE = plates.plate(loads=[load(50, 110)])  # from (0, -0.3) to (0.6, 0.3)


# --- one foot on a plate ---------------------------------------------------------------------------------------------


def test_a_step_on_a_plate():
    """Unloaded for 0.12 s before and 0.22 s after it, where the force begins and ends as the markers show it."""
    found = assigned(OWN, measured=[STANCE])
    are(found.own, (50, 110))
    are(found.unusable)
    are(found.beside)
    are(found.other_unknown, (50, 110))  # no other foot is mapped
    are(found.timely, (38, 50), (110, 132))
    assert np.isnan([*found.after_file_s, *found.after_oconnor_s, *found.after_zeni_s, *found.carried]).all()
    assert found.notes == (
        "plate 1 frames 51-110: this foot, centre of pressure 0.000 m from this foot, inf m from the other",
    )


def test_the_margins_end_with_the_recording():
    found = assigned(foot((5, 150, 0.2, 0.0)), measured=[plates.plate(loads=[load(5, 150)])])
    are(found.own, (5, 150))
    are(found.timely, (0, 5), (150, N))


def test_frames_in_which_the_other_foot_is_not_seen():
    other = foot((0, 40, 2.0, 0.0))
    other.back_m[60:70], other.front_m[65:75] = np.nan, np.nan
    are(assigned(OWN, other, measured=[STANCE]).other_unknown, (65, 70))


@pytest.mark.parametrize(("y", "owner"), [(0.099, "own"), (0.101, None), (-0.099, "own"), (-0.101, None)])
def test_the_pressure_is_within_ten_centimetres_of_the_foot(y, owner):
    found = assigned(foot((50, 110, 0.2, y)), OTHER_AWAY, measured=[STANCE])
    are(found.own, *[(50, 110)] * (owner == "own"))
    are(found.unusable)
    assert len(found.carried) == len(found.after_zeni_s) == (owner == "own")
    assert found.timely.any() == (owner == "own")
    [note] = found.notes
    assert ("this foot, centre" in note) == (owner == "own")
    assert "other foot," not in note  # it is far away as well
    assert f"centre of pressure {abs(y):.3f} m from this foot" in note


@pytest.mark.parametrize(("own_y", "other_y", "mine"), [(0.05, -0.06, True), (0.06, -0.05, False), (0.05, -0.05, True)])
def test_the_nearer_foot_has_the_load(own_y, other_y, mine):
    """Neither stands: both hang above the plate. A foot at the same distance is this one."""
    own, other = (replace(foot((50, 110, 0.2, y)), contact=np.zeros(N, dtype=bool)) for y in (own_y, other_y))
    found = assigned(own, other, measured=[STANCE])
    are(found.own, *[(50, 110)] * mine)
    given = assigned(own, other, measured=[STANCE], settings=Plates(assignment=(1,)))
    are(given.own, (50, 110))
    assert "this foot, as given," in given.notes[0]


def test_a_given_plate_may_be_far_away():
    far = foot((50, 110, 0.2, 0.2))
    are(assigned(far, measured=[STANCE]).own)
    are(assigned(far, measured=[STANCE], settings=Plates(assignment=(1,))).own, (50, 110))


def test_a_foot_that_is_not_seen():
    blind = replace(OWN, back_m=OWN.back_m * np.nan)
    found = assigned(blind, measured=[STANCE])
    are(found.own)
    are(found.unusable, (50, 110))
    assert "this foot is not visible: not used" in found.notes[0]


@pytest.mark.parametrize(("frame", "usable"), [(48, True), (49, False), (80, False), (110, False), (111, True)])
def test_missing_samples_of_the_stance_and_of_the_frames_beside_it(frame, usable):
    broken = plates.plate(loads=[load(50, 110)])
    broken.force_n[frame * 10 + 3] = np.nan
    found = assigned(OWN, measured=[broken])
    assert found.own.any() == usable
    assert found.unusable.any() != usable
    assert usable or all("samples of the plate are missing, not used" in note for note in found.notes)


# --- two feet on a plate ---------------------------------------------------------------------------------------------


def test_both_feet_on_the_plate():
    """Own 50 to 110, other 90 to 150: with the frames in which one may still push, `min_contact_s`, both from 90 to 116."""
    other = foot((90, 150, 0.2, 0.15))
    shared = plates.plate(loads=[load(50, 100), load(100, 150, y=0.15)])
    found = assigned(OWN, other, measured=[shared])
    are(found.own, (50, 90))
    are(found.unusable, (90, 116))
    assert found.notes[0] == "plate 1 frames 91-116: both feet on the plate: the force under this foot is unknown"
    assert len(found.notes) == 3
    mirrored = assigned(other, OWN, measured=[shared])
    are(mirrored.own, (116, 150))
    are(mirrored.unusable, (90, 116))


@pytest.mark.parametrize(("begin", "idle"), [(40, True), (39, True), (38, False), (36, False)])
def test_a_foot_above_a_plate_that_it_does_not_load(begin, idle):
    """Own foot alone for 20 frames from 20 on, the plate loaded in less than a tenth of them, then beside the other foot."""
    own, other = foot((20, 60, 0.2, 0.25)), foot((40, 100, 0.2, 0.0))
    found = assigned(own, other, measured=[plates.plate(loads=[load(begin, 100)])])
    are(found.unusable, *[(40, 66)] * (not idle))
    are(found.own)


@pytest.mark.parametrize(("alone", "idle"), [(5, False), (6, True)])
def test_a_foot_that_is_alone_too_shortly_shows_nothing(alone, idle):
    """The shortest contact, 0.06 s, decides."""
    own, other = foot((40 - alone, 60, 0.2, 0.25)), foot((40, 100, 0.2, 0.0))
    found = assigned(own, other, measured=[plates.plate(loads=[load(40, 100)])])
    are(found.unusable, *[(40, 66)] * (not idle))


def moving_on(onset, *, other_plate=True, stop=60):
    """A foot that touches down over plate 1 from 45 to 50 and stands on beside it; the other one stands on plate 1."""
    own = foot((45, 50, 0.45, 0.2), (50, stop, 0.7, 0.2))
    other = foot((20, 100, 0.2, 0.0))
    first = plates.plate(loads=[load(20, 100)])
    second = plates.plate(2, x=0.65, loads=[load(onset, stop, x=0.8, y=0.2)])
    return assigned(own, other, measured=[first, second][: 1 + other_plate])


def test_the_foot_is_above_the_other_plate_in_the_frame_of_its_onset():
    """It hops: in the next frame it is elsewhere."""
    own = foot((45, 50, 0.45, 0.2), (50, 53, 0.7, 0.2))
    stays = replace(own, contact=own.contact | frames((53, 80)))
    first = plates.plate(loads=[load(20, 100)])
    second = plates.plate(2, x=0.65, loads=[load(52, 80, x=0.8, y=0.2)])
    are(assigned(stays, foot((20, 100, 0.2, 0.0)), measured=[first, second]).unusable)


@pytest.mark.parametrize(("onset", "passes"), [(50, True), (57, True), (58, False), (49, False)])
def test_a_foot_that_passes_over_a_plate_lands_on_another(onset, passes):
    """The other plate is loaded after the foot left this one, at most 0.12 s after it came."""
    are(moving_on(onset, stop=80).unusable, *[(45, 50)] * (not passes))


def test_a_foot_that_moves_off_a_plate_may_have_loaded_it():
    are(moving_on(52, other_plate=False).unusable, (45, 50))


def test_a_foot_that_lifts_off_a_plate_has_loaded_it():
    """It lands on another one at once: the contact on this plate ended, so that it was no passing over."""
    own, other = foot((40, 50, 0.45, 0.2), (51, 100, 0.7, 0.2)), foot((20, 100, 0.2, 0.0))
    second = plates.plate(2, x=0.65, loads=[load(51, 100, x=0.8, y=0.2)])
    found = assigned(own, other, measured=[plates.plate(loads=[load(20, 100)]), second])
    are(found.unusable, (40, 56))


# --- over the edge ---------------------------------------------------------------------------------------------------


def over_the_edge(n_over, *, lifted=0, body_n=700.0, force_n=700.0, other=OTHER_AWAY, more=(), **strikes):
    """The heel is 0.1 m behind the plate's edge in the first frames of a stance of 60; then it moves onto it."""
    own = foot((50, 110, 0.1, 0.0), **strikes)
    own.back_m[50 : 50 + n_over, 0] = -0.1
    own.back_m[110 - lifted : 110, 2] = 0.2
    return assigned(own, other, measured=[plates.plate(loads=[load(50, 110, force_n, x=0.2)]), *more], body_n=body_n)


@pytest.mark.parametrize(("n_over", "edge"), [(6, False), (7, True)])
def test_a_tenth_of_the_stance_may_be_over_the_edge(n_over, edge):
    found = over_the_edge(n_over, body_n=2000.0)
    are(found.own, *[(50, 110)] * (not edge))
    are(found.unusable, *[(50, 110)] * edge)
    are(found.partly, *[(50, 110)] * edge)
    assert (
        not edge
        or "across the edge of the plate in 12 % of the frames, 35 % of the body's force in single support, not used"
        in found.notes[0]
    )


@pytest.mark.parametrize(
    ("share", "agrees"), [(0.91, True), (0.89, False), (1.0, True), (1.09, True), (1.11, False), (2.0, False)]
)
def test_a_heel_behind_the_edge_of_a_plate_that_carries_the_body(share, agrees):
    """From 0.9 to 1.1 of the force that carries the body."""
    found = over_the_edge(30, body_n=700.0 / share)
    are(found.own, *[(50, 110)] * agrees)
    are(found.unusable, *[(50, 110)] * (not agrees))
    shares = f"50 % of the frames, {100 * share:.0f} % of the body's force in single support"
    assert f"{'with the heel off the plate in ' * agrees}{shares}" in found.notes[0]
    if agrees:
        assert found.carried == (pytest.approx(share),)


@pytest.mark.parametrize("whose", [0, 1])
def test_either_foot_over_the_edge_hides_the_force_on_the_body(whose):
    """The heel is 0.1 m behind the edge; the foot pushes `PUSH_S`, 0.12 s, more than the plate shows, and lands before."""
    plate, other = plates.plate(x=0.3, loads=[plates.UNDER]), plates.walking_foot(3.0, 0.2, slice(0, 1))
    feet = (plates.OWN, other)
    are(plates.ground([plate], *feet[:: 1 - 2 * whose]).partly, (38, 122))
    whole = plates.ground([plates.plate(loads=[plates.UNDER])], *feet[:: 1 - 2 * whose])
    assert not whole.partly.any()
    are(whole.on_plates[:, whose], (50, 110))
    assert not whole.on_plates[:, 1 - whose].any()


def test_a_plate_under_both_feet_carries_either():
    both = plates.ground([plates.plate(loads=[plates.UNDER])], plates.OWN, plates.walking_foot(0.2, 0.1))
    are(both.on_plates.all(axis=1), (50, 110))


def test_toes_beyond_the_edge_are_not_accepted():
    own = foot((50, 110, 0.55, 0.0))
    found = assigned(own, OTHER_AWAY, measured=[plates.plate(loads=[load(50, 110, x=0.58)])], body_n=700.0)
    are(found.unusable, (50, 110))


@pytest.mark.parametrize(("late", "usable"), [(4, True), (5, False)])
def test_a_heel_behind_the_edge_needs_a_force_that_begins_with_the_strike(late, usable):
    """0.04 s after the strike by O'Connor et al."""
    assert over_the_edge(30, oconnor=[50 - late]).own.any() == usable


@pytest.mark.parametrize(("measured_n", "used"), [(700.0, True), (500.0, False), (None, True)])
def test_a_foot_on_two_plates(measured_n, used):
    """Their sum, two and five parts of seven, carries the body; without single support nothing speaks against it."""
    behind = plates.plate(2, x=-0.6, loads=[load(50, 110, 200.0, x=-0.05)])
    other = None if measured_n is None else OTHER_AWAY
    found = over_the_edge(30, force_n=500.0, body_n=490000.0 / (measured_n or 700.0), other=other, more=[behind])
    are(found.own, *[(50, 110)] * used)
    are(found.unusable, *[(50, 110)] * (not used))
    assert ("on plates 1 and 2, whose forces are added" in found.notes[0]) == used


# --- the body's force ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaves", "share"), [(60, 0.5), (59, (700.0 + 38 * 350.0) / 39 / 700.0), (92, 0.5), (93, np.nan)]
)
def test_the_body_is_carried_once_the_other_foot_has_pushed_off(leaves, share):
    """700 N until the other foot's push ends, 0.12 s after its contact; then 350 N. At least 0.06 s of single support."""
    two_parts = plates.plate(loads=[load(50, 72), load(72, 110, 350.0)])
    found = assigned(OWN, foot((0, leaves, 2.0, 0.0)), measured=[two_parts], body_n=700.0)
    np.testing.assert_allclose(found.carried, [share], rtol=1e-9)


def test_frames_in_which_the_other_foot_is_not_seen_are_no_single_support():
    two_parts = plates.plate(loads=[load(50, 80), load(80, 110, 350.0)])
    other = foot((0, 20, 2.0, 0.0))
    other.back_m[45:80], other.front_m[45:80] = np.nan, np.nan
    assert assigned(OWN, other, measured=[two_parts], body_n=700.0).carried == (pytest.approx(0.5),)
    assert np.isnan(assigned(OWN, other, measured=[two_parts]).carried).all()
    assert np.isnan(assigned(OWN, None, measured=[two_parts], body_n=700.0).carried).all()


# --- timing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["file", "oconnor", "zeni"])
def test_the_onset_after_the_strikes(source):
    """A force in frame 50; the strikes 3 frames before it, and one of another step."""
    found = assigned(foot((47, 110, 0.2, 0.0), **{source: [-9, 47, 101, 150]}), measured=[STANCE])
    times = {name: getattr(found, f"after_{name}_s") for name in ("file", "oconnor", "zeni")}
    assert times.pop(source) == (pytest.approx(0.03),)
    assert np.isnan(list(times.values())).all()


def test_the_onset_is_that_of_the_samples():
    """The first sample above the threshold is the fourth of frame 50."""
    late = plates.plate(loads=[load(50, 110)])
    late.force_n[500:504] = 0.0
    found = assigned(foot((50, 110, 0.2, 0.0), zeni=[46]), measured=[late])
    assert found.after_zeni_s == (pytest.approx(0.044),)


@pytest.mark.parametrize(("frame", "delay_s"), [(0, 0.5), (100, -0.5), (101, np.nan)])
def test_a_strike_within_half_a_second_is_of_this_step(frame, delay_s):
    found = assigned(foot((50, 110, 0.2, 0.0), zeni=[frame]), measured=[STANCE])
    np.testing.assert_allclose(found.after_zeni_s, [delay_s])


@pytest.mark.parametrize(
    ("strikes", "contact", "late"),
    [
        ({"file": [46]}, 50, False),  # 0.04 s
        ({"file": [45.5]}, 50, True),
        ({"oconnor": [46]}, 50, False),
        ({"oconnor": [45.5]}, 50, True),
        ({"zeni": [38]}, 50, False),  # 0.12 s
        ({"zeni": [37.5]}, 50, True),
        ({}, 38, False),  # without a strike: 0.12 s after the contact by speed
        ({}, 37, True),
        ({"zeni": [48]}, 30, False),  # with one, that does not matter
    ],
)
def test_a_late_force_may_have_been_preceded_by_a_step_beside_the_plate(strikes, contact, late):
    own = foot((contact, 110, 0.2, 0.0), **strikes)
    found = assigned(own, measured=[STANCE])
    are(found.own, (50, 110))
    earliest = next(iter(strikes.values()))[0] if strikes else contact
    assert ("it may have landed off the plate" in found.notes[0]) == late
    assert not late or f", {(50 - earliest) / 100.0:.3f} s after the strike of the markers" in found.notes[0]
    before = min(50 - int(np.ceil(50 - earliest)) - 1, contact)
    are(found.beside, *[(before, 50)] * late)
    are(found.timely, *[(38, 50)] * (not late), (110, 132))


@pytest.mark.parametrize(("contact", "begin"), [(1, 1), (0, 0)])
def test_a_step_that_began_half_a_second_before_is_beside_the_plate_from_there(contact, begin):
    own = foot((contact, 110, 0.2, 0.0), zeni=[30])
    are(assigned(own, measured=[STANCE]).beside, (begin, 50))
    later = plates.plate(loads=[load(52, 110)])
    own = foot((contact, 110, 0.2, 0.0), zeni=[30])
    are(assigned(own, measured=[later]).beside, (29, 52))


@pytest.mark.parametrize(
    ("off", "contact", "early"),
    [([122], 150, False), ([122.5], 150, True), ([], 122, False), ([], 123, True), ([105], 150, False)],
)
def test_a_force_that_ends_early_may_be_followed_by_a_step_beside_the_plate(off, contact, early):
    """0.12 s before the toe is farthest behind, or before the foot is fast."""
    own = foot((50, contact, 0.2, 0.0), zeni=[50], off=off)
    found = assigned(own, measured=[STANCE])
    assert ("it may have left beside the plate" in found.notes[0]) == early
    are(found.beside, *[(110, contact)] * early)
    are(found.timely, (38, 50), *[(110, 132)] * (not early))
    if early:
        left = (off[0] if off else contact) - 110
        assert f", {left / 100.0:.3f} s before the foot leaves the ground" in found.notes[0]


def test_a_step_from_one_plate_to_the_next_is_neither_late_nor_early():
    """Heel on plate 1 until 80, toes on plate 2 from 80 on: each force is followed or preceded by the other's."""
    own = foot((50, 110, 0.5, 0.0), zeni=[50])
    first = plates.plate(loads=[load(50, 80, x=0.55)])
    second = plates.plate(2, x=0.6, loads=[load(80, 110, x=0.65)])
    one, two = (assigned(own, measured=[first, second], which=k, body_n=700.0) for k in (0, 1))
    are(one.own, (50, 80))
    are(two.own, (80, 110))
    assert not any("beside the plate" in note for note in (*one.notes, *two.notes))
    np.testing.assert_allclose(one.after_zeni_s, [0.0])
    assert np.isnan(two.after_zeni_s).all()
    alone = assigned(own, OTHER_AWAY, measured=[first], body_n=700.0)
    assert not alone.own.any() or "it may have left beside the plate" in alone.notes[0]

"""Force of all plates, centre of mass and the metrics of a foot at their limits; numbers by hand."""

from dataclasses import replace

import numpy as np
import pytest

import plates
from limbtorque.arrays import beyond
from limbtorque.chain.segments import DEMPSTER_WINTER
from limbtorque.ground.plates import read_plates
from limbtorque.motion.chain_motion import ExternalLoad
from limbtorque.motion.limb import Limb
from limbtorque.quality.body_checks import centre_of_mass, force_metrics, total_force
from limbtorque.quality.foot_checks import (
    AHEAD_OF_BALL_M,
    foot_metrics,
    pressure_off_foot_m,
    pressure_on_toes,
    shear_error_share,
)
from limbtorque.recordings.recording import Recording
from limbtorque.study.settings import Settings, make_settings
from plates import frames

N, RATE_HZ, UP = plates.N_FRAMES, plates.RATE_HZ, plates.UP
WHOLE = slice(0, N)
NEVER, LOADED = np.zeros(N, dtype=bool), frames((50, 111))
SETTINGS = make_settings({"plane": {"up_axis": "+z", "forward_axis": "+x"}})


def off_toes_m(*args, **changes):
    on_toes = pressure_on_toes(*args, **changes)
    return abs(on_toes.off_m) if on_toes else float("nan")


# --- centre of mass --------------------------------------------------------------------------------------------------


def test_the_centre_of_mass_of_two_legs_and_the_rest():
    """Thigh 10 %, shank 4.65 %, foot 1.45 % of the body; 67.8 % at the middle of the hips (Winter 2009, table 4.1)."""
    model = Limb("leg", side="right", body_mass_kg=60.0).model(Settings())
    names = ["hip_axis", "knee_axis", "ankle_axis", "head_of_metatarsal_2"]
    right = dict(zip(names, np.array([[0, -0.1, 0.9], [0, -0.1, 0.5], [0, -0.1, 0.1], [0.2, -0.1, 0.0]]), strict=True))
    left = dict(zip(names, np.array([[0, 0.1, 0.9], [0.4, 0.1, 0.9], [0.4, 0.1, 0.5], [0.6, 0.1, 0.5]]), strict=True))
    forward = (
        0.0145 * 0.5 * 0.2 + 0.1 * 0.433 * 0.4 + 0.0465 * 0.4 + 0.0145 * 0.5
    )  # the left shank is at 0.4, its foot at 0.5
    upward = 0.678 * 0.9 + 0.1 * (0.9 - 0.433 * 0.4) + 0.0465 * (0.5 - 0.433 * 0.4) + 0.0145 * 0.05
    upward += 0.1 * 0.9 + 0.0465 * (0.9 - 0.433 * 0.4) + 0.0145 * 0.5
    sides = [{name: point[None] for name, point in side.items()} for side in (right, left)]
    rows = [DEMPSTER_WINTER[segment.row] for segment in model.segments]
    found = centre_of_mass(model, sides, rows)
    np.testing.assert_allclose(found, [[forward, 0.0, upward]], atol=1e-12)
    sides[0]["knee_axis"] = np.full((1, 3), np.nan)
    assert np.isnan(centre_of_mass(model, sides, rows)).all()
    assert [row.mass for row in rows] == [0.1, 0.0465, 0.0145]


# --- total force -----------------------------------------------------------------------------------------------------


def total(*measured, on=(LOADED, NEVER), slow=(NEVER, NEVER), part=WHOLE, readings=True):
    """Total force with the frames in which plates carry each foot."""
    recording = Recording("walk", "c3d", "reader", (), np.zeros((N, 0, 3)), RATE_HZ, 1, force_plates=measured)
    found = read_plates(measured, part, RATE_HZ, settings=SETTINGS.plates, up=UP) if readings else []
    on_plates = np.stack(on, axis=1)[part]
    return total_force(recording, found, on_plates, [each[part] for each in slow], part, SETTINGS)


def test_the_force_of_a_plate_is_known_while_it_is_loaded():
    """Means of ten samples around each frame: half of the force in the frames of its onset and its end."""
    for readings in (True, False):
        found = total(plates.plate(loads=[plates.UNDER]), readings=readings)
        np.testing.assert_array_equal(found[1], frames((50, 111)))
        expected = np.where(frames((51, 110))[:, None], plates.FORCE_N, 0.0)
        expected[[50, 110]] = plates.FORCE_N / 2.0
        np.testing.assert_allclose(found[0], expected, atol=1e-9)


def test_a_load_that_no_foot_carries_is_not_the_total_force():
    """A box on a plate, or a foot whose marker is on the other leg: the assignment gives it to no foot."""
    assert not total(plates.plate(loads=[plates.UNDER]), on=(NEVER, NEVER))[1].any()


def test_a_plate_that_is_not_given_for_this_foot_carries_the_other():
    found = total(plates.plate(loads=[plates.UNDER]), on=(NEVER, NEVER), readings=False)
    np.testing.assert_array_equal(found[1], frames((50, 111)))


def test_plates_add_up_and_small_forces_do_not_count():
    second = plates.plate(2, x=0.7, loads=[(slice(90, 140), (0.0, 0.0, 300.0), (1.0, 0.0, 0.0))])
    third = plates.plate(3, x=3.0, loads=[(slice(0, 30), (90.0, 0.0, 19.0), (3.1, 0.0, 0.0))])
    found = total(plates.plate(loads=[plates.UNDER]), second, third, on=(frames((50, 111)), frames((90, 141))))
    np.testing.assert_array_equal(found[1], frames((50, 141)))
    np.testing.assert_allclose(found[0][100], plates.FORCE_N + np.array([0.0, 0.0, 300.0]), atol=1e-9)
    np.testing.assert_allclose(found[0][120], [0.0, 0.0, 300.0], atol=1e-9)
    assert not found[0][:50].any()


@pytest.mark.parametrize(
    ("stance", "known"),
    [((90, 130), (50, 78)), ((20, 45), (57, 111)), ((124, 150), (50, 111)), ((123, 150), (50, 111))],
)
def test_a_foot_on_the_floor_hides_the_force_with_a_margin_of_twelve_frames(stance, known):
    """The other foot stands beside the plates; it pushes for `PUSH_S`, 0.12 s, more."""
    found = total(plates.plate(loads=[plates.UNDER]), slow=(frames((50, 110)), frames(stance)))
    np.testing.assert_array_equal(found[1], frames(known))


def test_a_foot_on_the_floor_at_the_start():
    early = plates.plate(loads=[(slice(0, 60), plates.FORCE_N, plates.POINT)])
    found = total(early, on=(frames((0, 61)), NEVER), slow=(frames((0, 60)), frames((5, 30))))
    np.testing.assert_array_equal(found[1], frames((42, 61)))


@pytest.mark.parametrize(("stop", "known"), [(77, False), (78, False), (79, True), (80, True)])
def test_a_stance_of_which_plates_carry_half(stop, known):
    """60 frames of stance; a load to the frame `stop` is measured in 51 + stop - 51 frames, its last one included."""
    measured, on = plates.plate(loads=[(slice(50, stop), plates.FORCE_N, plates.POINT)]), frames((50, stop + 1))
    found = total(measured, on=(on, NEVER), slow=(frames((50, 110)), NEVER))
    np.testing.assert_array_equal(found[1], on & known)


def test_a_missing_upward_force_of_the_other_plate_hides_the_sum():
    """In double support the plate without numbers carries a part of the body that nobody knows."""
    second = plates.plate(2, x=0.7, loads=[(slice(90, 140), (0.0, 0.0, 300.0), (1.0, 0.0, 0.0))])
    second.force_n[1002, 2] = np.nan  # within half a frame of frame 100
    found = total(plates.plate(loads=[plates.UNDER]), second, on=(frames((50, 111)), frames((90, 141))))
    np.testing.assert_array_equal(found[1], frames((50, 141)) & ~frames((100, 101)))


@pytest.mark.parametrize("part", [WHOLE, slice(20, 140)])
@pytest.mark.parametrize("channels", [[0, 1, 2], [0]])
def test_missing_samples_hide_the_force_around_them(part, channels):
    broken = plates.plate(loads=[plates.UNDER])
    broken.force_n[702, channels] = np.nan  # within half a frame of frame 70
    found = total(broken, part=part)
    np.testing.assert_array_equal(found[1], (frames((50, 111)) & ~frames((70, 71)))[part])
    np.testing.assert_allclose(found[0][80 - part.start], plates.FORCE_N, atol=1e-9)
    np.testing.assert_allclose(found[0][51 - part.start], plates.FORCE_N, atol=1e-9)


@pytest.mark.parametrize("part", [WHOLE, slice(20, 140)])
def test_a_plate_that_pulls_counts_with_its_samples_as_they_are(part):
    """Nothing can be subtracted from -300 N; the load of 700 N reads 400 N."""
    pulling = plates.plate(loads=[(plates.STANCE, (0.0, 0.0, 700.0), plates.POINT)], offset=[0, 0, -300.0, 0, 0, 0])
    found = total(pulling, part=part)
    np.testing.assert_allclose(found[0][80 - part.start], [0.0, 0.0, 400.0], atol=1e-9)
    assert not found[0][: 50 - part.start].any()
    np.testing.assert_array_equal(found[1], frames((51, 110))[part] | (found[1] & frames((50, 111))[part]))


# --- force and acceleration ------------------------------------------------------------------------------------------

G, MASS_KG = 9.81, 60.0
TIME_S = np.arange(300) / 100.0
AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
NAMES = {"weight_error_share", "force_tilt_deg", "force_residual_share", "force_delay_s"}


def metrics(force, centre, *known, rate_hz=100.0):
    chosen = np.zeros(len(force), dtype=bool)
    for start, stop in known:
        chosen[start:stop] = True
    return force_metrics(force, centre, chosen, rate_hz=rate_hz, mass_kg=MASS_KG, gravity_m_s2=G, axes=AXES)


def bouncing(beside_n=0.0, beside_hz=3.5):
    """2 cm at 2 Hz and its force, with another force that no acceleration explains."""
    omega = 4.0 * np.pi
    centre, force = np.zeros((300, 3)), np.zeros((300, 3))
    centre[:, 2] = 0.02 * np.sin(omega * TIME_S)
    force[:, 2] = MASS_KG * (G - 0.02 * omega**2 * np.sin(omega * TIME_S))
    force[:, 2] += beside_n * np.cos(2.0 * np.pi * beside_hz * TIME_S)
    return force, centre


@pytest.mark.parametrize(
    ("known", "judged"),
    [([(100, 125)], True), ([(100, 124)], False), ([(100, 124), (140, 164)], False), ([(50, 74), (100, 130)], True)],
)
def test_a_quarter_of_a_second_of_known_force_is_judged(known, judged):
    found = metrics(*bouncing(), *known)
    assert set(found) == NAMES
    assert np.isfinite([found[name] for name in NAMES - {"force_delay_s"}]).all() == judged


def test_a_stretch_that_is_too_short_does_not_count():
    force, centre = bouncing()
    force[50:60] *= 3.0
    assert metrics(force, centre, (40, 64), (120, 270))["weight_error_share"] < 1e-2


@pytest.mark.parametrize(("share", "known"), [(0.3, True), (0.4, True), (0.6, False), (0.7, False)])
def test_half_of_the_force_has_to_be_explained_for_a_delay(share, known):
    """A force of 3.5 Hz beside that of 2 Hz, both whole periods of 2 s: its variance is not explained at any delay.

    Butterworth of second order in both directions, -3 dB at 6 Hz: its gain is 1 / (1 + (sqrt(2) - 1) (f / 6 Hz)^4).
    """
    own, beside = (1.0 / (1.0 + (np.sqrt(2.0) - 1.0) * (hz / 6.0) ** 4) for hz in (2.0, 3.5))
    own_n = MASS_KG * 0.02 * (4.0 * np.pi) ** 2
    beside_n = own_n * np.sqrt(share / (1.0 - share)) * own / beside
    found = metrics(*bouncing(beside_n), (50, 250))
    assert np.isfinite(found["force_delay_s"]) == known
    amplitude = own_n * own * np.sqrt(share / (1.0 - share))
    assert found["force_residual_share"] == pytest.approx(
        beyond(amplitude, 0.2 * own_n * own) / np.sqrt(2.0) / (MASS_KG * G), rel=0.02
    )


@pytest.mark.parametrize("delay_s", [0.025, 0.033, -0.018, 0.004])
def test_a_delay_of_a_part_of_a_frame(delay_s):
    """The parabola through three delays of a cosine: off by less than a hundredth of a frame's part."""
    force, centre = bouncing()
    omega = 4.0 * np.pi
    force[:, 2] = MASS_KG * (G - 0.02 * omega**2 * np.sin(omega * (TIME_S - delay_s)))
    assert metrics(force, centre, (50, 250))["force_delay_s"] == pytest.approx(beyond(delay_s, 0.2 / omega), abs=2e-4)


@pytest.mark.parametrize("delay", [7, -5])
def test_a_delay_is_seen_in_a_part_of_a_period(delay):
    """Half a period only: the mean of the force is not the weight there, and does not count for the delay."""
    force, centre = bouncing()
    found = metrics(np.roll(force, delay, axis=0), centre, (60, 90))
    assert found["force_delay_s"] == pytest.approx(abs(delay) / 100.0, abs=0.01)


def test_the_filter_of_slow_recordings_is_below_half_their_rate():
    """At 12 Hz the cut-off is 4.8 Hz, not 6 Hz; a person at rest keeps the weight."""
    force, centre = np.zeros((300, 3)), np.zeros((300, 3))
    force[:, 2] = 1.1 * MASS_KG * G
    assert metrics(force, centre, (0, 300), rate_hz=12.0)["weight_error_share"] == pytest.approx(0.1)


@pytest.mark.parametrize("angle_deg", [7.0, -7.0])
def test_the_tilt_is_that_of_the_resting_force(angle_deg):
    """A body that speeds up forward at 1 m/s^2: the force that does is no tilt."""
    force, centre = np.zeros((300, 3)), np.zeros((300, 3))
    centre[:, 0] = 0.5 * TIME_S**2
    angle = np.radians(angle_deg)
    force += MASS_KG * np.array([1.0 + G * np.tan(angle), 0.0, G])
    assert metrics(force, centre, (50, 250))["force_tilt_deg"] == pytest.approx(7.0, abs=1e-3)


# --- under one foot --------------------------------------------------------------------------------------------------


def directions(turn, lean, weight_n, *, height_m=0.9, around=5):
    """A stance by the slopes of the line to the hip and of the force, with unloaded frames around."""
    pad = ((around, around), (0, 0))
    weight = np.broadcast_to(np.asarray(weight_n, dtype=float), np.shape(turn))
    hip = np.stack([np.asarray(turn) * height_m, np.full(len(turn), height_m)], axis=1)
    force = np.stack([np.asarray(lean) * weight, weight], axis=1)
    return np.pad(force, pad), np.zeros((len(turn) + 2 * around, 2)), np.pad(hip, pad, mode="edge")


@pytest.mark.parametrize(
    ("frames_n", "turn", "known"),
    [(15, 0.3, True), (14, 0.3, False), (30, 0.251, True), (30, 0.249, False), (30, 0.5, True)],
)
def test_a_stance_that_shows_the_direction_of_the_force(frames_n, turn, known):
    """At least 0.15 s, while the line to the hip turns by 0.25."""
    line = np.linspace(-turn / 2.0, turn / 2.0, frames_n)
    found = shear_error_share(*directions(line, 0.35 * line + 0.2, 600.0), 100.0)
    assert 0.0 < found <= 0.5 + 1e-9 if known else np.isnan(found)


def test_the_direction_is_a_regression_weighted_by_the_vertical_force():
    line = np.linspace(-0.3, 0.4, 50)
    lean, weight = 0.5 * line**2 + 0.4 * line - 0.1, 300.0 + 400.0 * line
    slope = np.polyfit(line, lean, 1, w=np.sqrt(weight))[0]
    assert shear_error_share(*directions(line, lean, weight), 100.0) == pytest.approx(abs(slope / 0.7 - 1.0))


@pytest.mark.parametrize("slope", [0.35, 0.0, -0.7])
@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_one_stance_of_another_direction_is_not_hidden_by_the_others(slope, wrong):
    """Slopes of 0.7 in two stances, each about its own mean; the third, with a third of the force, is judged alone."""
    line = np.linspace(-0.3, 0.3, 40)
    stances = [directions(line + 0.1 - 0.1 * n, 0.7 * line + 3.0 * n, 600.0) for n in range(3)]
    stances[wrong] = directions(line, slope * line - 9.0, 200.0)
    found = shear_error_share(*(np.concatenate(parts) for parts in zip(*stances, strict=True)), 100.0)
    assert found == pytest.approx(abs(slope / 0.7 - 1.0))


@pytest.mark.parametrize(("weight_n", "counts"), [(101.0, True), (100.0, False), (99.0, False)])
def test_frames_below_a_fifth_of_the_largest_force_do_not_count(weight_n, counts):
    line = np.linspace(-0.3, 0.3, 40)
    weight, lean = np.full(40, 500.0), 0.35 * line
    weight[30:], lean[30:] = weight_n, 0.35 * line[30:] + 1.0
    found = shear_error_share(*directions(line, lean, weight), 100.0)
    slope = np.polyfit(line, lean, 1, w=np.sqrt(weight))[0]
    assert found == pytest.approx(abs(slope / 0.7 - 1.0) if counts else 0.5 * 9.80665 * 0.3**2 / 0.9 / 1.5)


def test_frames_that_are_not_known_divide_a_stance():
    line = np.linspace(-0.3, 0.3, 40)
    force, pressure, hip = directions(line, 0.35 * line, 500.0)
    pressure[33, 0] = np.nan
    assert np.isnan(shear_error_share(force, pressure, hip, 200.0))
    assert shear_error_share(force, pressure, hip, 100.0) == pytest.approx(0.5 * 9.80665 * 0.28**2 / 0.9 / 1.5)
    assert np.isnan(shear_error_share(force * np.nan, pressure, hip, 100.0))


@pytest.mark.parametrize(("at_m", "off_m"), [(0.05, 0.0), (0.21, 0.05), (-0.08, 0.04), (np.nan, np.nan)])
def test_a_flat_foot_holds_its_centre_of_pressure(at_m, off_m):
    """A foot from -0.04 to 0.16 m; an unloaded part elsewhere does not count."""
    heel, front = (np.tile([x, 0.0], (40, 1)) for x in (-0.04, 0.16))
    pressure, upward = np.full(40, at_m), np.full(40, 400.0)
    pressure[30:], upward[30:] = 9.0, 100.0
    found = pressure_off_foot_m(pressure, upward, heel_m=heel, front_m=front)
    assert found == pytest.approx(off_m, nan_ok=True)


def test_a_foot_on_its_toes_by_force_and_couple():
    """A slanted force 5 cm behind the ball of the foot, on a plate 0.1 m above the origin: (p - a) x F about the ankle."""
    n = 40
    ankle, ball, level_m = np.array([1.0, 0.25]), np.array([1.15, 0.13]), 0.1
    heel, front = np.tile([0.9, 0.20], (n, 1)), np.tile(ball, (n, 1))
    heel[:10, 1] = 0.13  # flat on the ground
    pressure = np.full(n, ball[0] - 0.05)
    pressure[:10] = 1.0
    force = np.tile([90.0, 600.0], (n, 1))
    force[35:] = [0.3, 0.9]  # unloaded: no centre of pressure
    arm = np.stack([pressure - ankle[0], np.full(n, level_m - ankle[1])], axis=1)
    couple = arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]
    joints = np.zeros((n, 5, 2))  # a chain with one joint more than the leg
    joints[:, 3], joints[:, 0] = ankle, [0.0, 1.0]
    load = ExternalLoad(force, joints[:, 3], couple, np.ones(n, dtype=np.int8), ())
    found = foot_metrics(load, joints, heel_m=heel, front_m=front, level_m=level_m, rate_hz=100.0)[0]
    assert found["pressure_off_toes_m"] == pytest.approx(0.05 + AHEAD_OF_BALL_M)
    assert np.isnan(found["shear_error_share"])
    line = np.linspace(-0.4, 0.2, n)
    joints[:, 0] = np.stack([pressure, np.full(n, level_m)], axis=1) + np.stack([0.8 * line, np.full(n, 0.8)], axis=1)
    force[:35, 0] = 0.35 * line[:35] * 600.0
    couple = arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]
    found = foot_metrics(
        replace(load, couple_nm=couple), joints, heel_m=heel, front_m=front, level_m=level_m, rate_hz=100.0
    )[0]
    assert found["shear_error_share"] == pytest.approx(0.5)


def on_toes(lift_m, off_m, n=20):
    """Stance of which the last quarter is on the toes: heel, front, and a pressure this far behind the front there."""
    heel, front = np.zeros((n, 2)), np.tile([0.2, 0.0], (n, 1))
    heel[-n // 4 :, 1] = lift_m
    return heel, front, np.where(heel[:, 1] > 0.0, 0.2 - off_m, 0.1)


@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_pressure_beside_one_of_three_stances_is_not_hidden_by_the_others(wrong):
    """Stances at heights of stairs, 0.2 m apart, on a plate each; two frames without load between them."""
    parts = [on_toes(0.05, 0.1 if n == wrong else 0.004) for n in range(3)]
    heel, front = (np.concatenate([part[k] + [0.6 * n, 0.2 * n] for n, part in enumerate(parts)]) for k in (0, 1))
    pressure = np.concatenate([part[2] + 0.6 * n for n, part in enumerate(parts)])
    force = np.tile(np.r_[0.0, np.full(18, 500.0), 0.0], 3)
    assert off_toes_m(pressure, force, heel_m=heel, front_m=front) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("with_heel", "lift_m", "known"),
    [(True, 0.025, False), (True, 0.035, True), (False, 0.015, False), (False, 0.025, True)],
)
def test_without_a_heel_the_ankle_shows_a_foot_on_its_toes(with_heel, lift_m, known):
    """The ankle rises by 0.7 of the heel's way: 2 cm in place of 3 cm."""
    heel, front, pressure = on_toes(lift_m, 0.06)
    joints = np.zeros((20, 4, 2))
    joints[:, 0], joints[:, 2] = [0.0, 0.9], heel + np.array([0.05, 0.08])
    force = np.tile([0.0, 600.0], (20, 1))
    load = ExternalLoad(force, joints[:, 2], (pressure - joints[:, 2, 0]) * 600.0, np.ones(20, dtype=np.int8), ())
    given = heel if with_heel else None
    found = foot_metrics(load, joints, heel_m=given, front_m=front, level_m=0.0, rate_hz=100.0)[0][
        "pressure_off_toes_m"
    ]
    expected = (
        0.06 + AHEAD_OF_BALL_M if known else 0.0 if with_heel else np.nan
    )  # a flat foot, or nothing that shows its heel
    assert found == pytest.approx(expected, nan_ok=True)


def test_without_a_force_no_pressure_is_under_the_toes():
    heel, front = np.tile([0.0, 0.05], (9, 1)), np.zeros((9, 2))
    heel[0, 1] = 0.0
    assert np.isnan(off_toes_m(np.full(9, 0.1), np.full(9, np.nan), heel_m=heel, front_m=front))
    assert off_toes_m(np.full(9, -0.1), np.full(9, 9.0), heel_m=heel, front_m=front) == pytest.approx(0.1)

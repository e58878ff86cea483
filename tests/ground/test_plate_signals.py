"""Samples, offset and drift of a plate at the limits of what counts."""

from dataclasses import replace

import numpy as np
import pytest

import plates
from limbtorque.errors import LoadError
from limbtorque.ground.plates import (
    Smoothing,
    analysed_samples,
    at_frames,
    drift_n,
    frame_means,
    loaded_stretches,
    loading_onsets,
    means_around,
    offset_of,
    reach_frames,
    read_plate,
    read_plates,
    saturated_samples,
)
from limbtorque.signals.smoothers import Smoother, smoother_reach
from limbtorque.study.options.reading import Plates

SETTINGS = Plates(threshold_n=20.0)
PER_FRAME, RATE_HZ = 10, 100.0


# --- samples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plate_hz", "marker_hz", "per_frame"), [(1000.0, 100.0, 10), (100.0, 100.0, 1), (600.0, 200.0, 3)]
)
def test_samples_of_the_analysed_frames(plate_hz, marker_hz, per_frame):
    plate = replace(plates.plate(), rate_hz=plate_hz, force_n=np.zeros((30 * per_frame, 3)))
    assert analysed_samples(plate, slice(10, 30), marker_hz) == (per_frame, slice(10 * per_frame, 30 * per_frame))
    with pytest.raises(LoadError, match=f"has {30 * per_frame} samples, expected at least {31 * per_frame} for"):
        analysed_samples(plate, slice(10, 31), marker_hz)


@pytest.mark.parametrize(("plate_hz", "marker_hz"), [(50.0, 100.0), (1000.1, 100.0), (250.0, 100.0), (40.0, 100.0)])
def test_a_rate_that_is_no_multiple_is_refused(plate_hz, marker_hz):
    with pytest.raises(LoadError, match=r"expected an integer multiple of the markers' 100 Hz"):
        analysed_samples(replace(plates.plate(), rate_hz=plate_hz), slice(0, 10), marker_hz)


@pytest.mark.parametrize(("assignment", "numbers"), [("auto", [1, 2]), ("none", []), ((2,), [2]), ((1, 2), [1, 2])])
def test_plates_of_the_assignment(assignment, numbers):
    settings = Plates(assignment=assignment)
    two = [plates.plate(1), plates.plate(2, x=1.0)]
    read = read_plates(two, slice(0, plates.N_FRAMES), plates.RATE_HZ, settings=settings, up=plates.UP)
    assert [reading.plate.number for reading in read] == numbers


def test_a_plate_that_is_not_there_is_named():
    settings, part = Plates(assignment=(2, 3, 4)), slice(0, plates.N_FRAMES)
    for there, missing, said in (([plates.plate(1), plates.plate(2)], 3, "1, 2"), ([], 2, "no readable plates")):
        with pytest.raises(
            LoadError, match=f"names plate {missing}, the recording has {said}; correct plates.assignment"
        ):
            read_plates(there, part, plates.RATE_HZ, settings=settings, up=plates.UP)


@pytest.mark.parametrize("per_frame", [1, 10])
def test_frames_that_the_mean_uses(per_frame):
    assert reach_frames(plates.plate(), per_frame, None) == 1


# --- offset ----------------------------------------------------------------------------------------------------------


def frames_of(*parts):
    """Wrenches of so many frames with a vertical force each; the other five numbers are its parts."""
    vertical = np.concatenate([np.full(count, force_n, dtype=float) for count, force_n in parts])
    return np.stack([0.1 * vertical, -0.2 * vertical, vertical, vertical, 2.0 * vertical, 3.0 * vertical], axis=1)


@pytest.mark.parametrize(
    ("parts", "expected_n"),
    [
        ([(100, 700.0), (100, 5.0)], 5.0),
        ([(100, 700.0), (11, -5.0)], -5.0),  # a twentieth is enough
        ([(100, 0.0), (100, 9.8)], 4.9),  # within half of the threshold
        ([(100, 0.0), (100, 10.1)], 0.0),  # beyond it
        ([(100, 700.0), (100, 40.0)], 40.0),
        ([(100, 700.0), (100, -40.0)], -40.0),
    ],
)
def test_the_offset_is_the_mean_of_the_lowest_level(parts, expected_n):
    offset, note = offset_of(frames_of(*parts), plates.UP, SETTINGS)
    np.testing.assert_allclose(offset, expected_n * np.array([0.1, -0.2, 1.0, 1.0, 2.0, 3.0]), atol=1e-12)
    assert note == f"offset of {expected_n:.1f} N vertical subtracted"


@pytest.mark.parametrize(("n_quiet", "known"), [(45, False), (49, False), (51, True), (55, True)])
def test_a_twentieth_of_the_frames_shows_the_offset(n_quiet, known):
    """Of 1000 frames: with fewer than 50 unloaded the lowest level is that of the load."""
    offset, note = offset_of(frames_of((1000 - n_quiet, 700.0), (n_quiet, 5.0)), plates.UP, SETTINGS)
    assert offset[2] == (5.0 if known else 0.0)
    assert note.startswith("offset of 5.0 N" if known else "is never unloaded (at least 700 N)")


def test_frames_far_below_the_level_are_not_part_of_it():
    """A few frames of a kick: they are low, and not the level."""
    offset, _ = offset_of(frames_of((2, -100.0), (98, 3.0), (100, 700.0)), plates.UP, SETTINGS)
    assert offset[2] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("parts", "zero", "note"),
    [
        ([(100, 40.1)], True, "is never unloaded (at least 40 N): its offset is unknown and not subtracted"),
        ([(100, 700.0), (100, -40.1)], False, "is not used: it reads -40 N in 5 % of the recording or more"),
        ([(100, np.nan)], True, "has no complete sample"),
    ],
)
def test_what_is_no_offset(parts, zero, note):
    offset, said = offset_of(frames_of(*parts), plates.UP, SETTINGS)
    assert note in said
    assert (offset is not None) == zero
    assert offset is None or offset.tolist() == [0.0] * 6


def test_missing_frames_do_not_count_and_an_offset_may_be_kept():
    mean = frames_of((100, 700.0), (100, 5.0), (10, np.nan))
    assert offset_of(mean, plates.UP, SETTINGS)[0][2] == 5.0
    kept, note = offset_of(mean, plates.UP, SETTINGS.model_copy(update={"remove_offset": False}))
    assert (kept.tolist(), note) == ([0.0] * 6, "")


# --- drift -----------------------------------------------------------------------------------------------------------


def vertical(*levels):
    """A tenth of a second of each level."""
    return np.repeat(np.asarray(levels, dtype=float), 10 * PER_FRAME)


@pytest.mark.parametrize(("n", "known"), [(5, False), (6, True)])
def test_six_unloaded_tenths_of_a_second_are_needed(n, known):
    drift = drift_n(vertical(*range(n)), PER_FRAME, RATE_HZ, SETTINGS)
    assert np.isfinite(drift) == known
    assert not known or drift == 4.0  # medians of 0, 1 and of 4, 5


def test_the_drift_is_between_the_medians_of_the_thirds():
    levels = [0.0, 0.0, 30.0, 9.0, 9.0, 9.0, -7.0, -7.0, 20.0]
    assert drift_n(vertical(*levels), PER_FRAME, RATE_HZ, SETTINGS) == 7.0
    assert (
        drift_n(np.append(vertical(*levels), 39.0), PER_FRAME, RATE_HZ, SETTINGS) == 7.0
    )  # no whole tenth of a second


@pytest.mark.parametrize(("level_n", "counted"), [(39.9, True), (40.1, False), (-39.9, True), (-40.1, False)])
def test_loaded_stretches_are_no_drift(level_n, counted):
    """Three low thirds of a step between: with it, the last third's median is that of the load."""
    drift = drift_n(vertical(*[0.0] * 6, *[level_n] * 4), PER_FRAME, RATE_HZ, SETTINGS)
    assert drift == pytest.approx(abs(level_n) if counted else 0.0)


@pytest.mark.parametrize(("swing_n", "steady"), [(9.9, True), (10.1, False)])
def test_a_tenth_of_a_second_that_moves_by_half_the_threshold_is_not_steady(swing_n, steady):
    force = vertical(*[0.0] * 6)
    force[: 2 * PER_FRAME] = swing_n  # two of ten frames of the first tenth of a second
    assert np.isfinite(drift_n(force, PER_FRAME, RATE_HZ, SETTINGS)) == steady


# --- loaded stretches ------------------------------------------------------------------------------------------------


def stretches(*parts):
    """At 100 frames per second: a contact has six frames or more."""
    force = np.concatenate([np.atleast_1d(np.asarray(part, dtype=float)) for part in parts])
    return loaded_stretches(force, SETTINGS, RATE_HZ)


def quiet(n):
    return np.zeros(n)


def loaded(n, force_n=500.0):
    return np.full(n, force_n)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([quiet(10), loaded(6), quiet(10)], [(10, 16)]),
        ([quiet(10), loaded(5), quiet(10)], []),
        ([quiet(10), loaded(6, 20.1), quiet(10)], [(10, 16)]),
        ([quiet(10), loaded(6, 20.0), quiet(10)], []),
        ([quiet(10), loaded(6), quiet(5), loaded(6), quiet(10)], [(10, 27)]),  # a short interruption
        ([quiet(10), loaded(6), quiet(6), loaded(6), quiet(10)], [(10, 16), (22, 28)]),
        ([loaded(8), quiet(10), loaded(7)], [(0, 8), (18, 25)]),
        ([quiet(20)], []),
    ],
)
def test_loaded_stretches_by_threshold_and_length(parts, expected):
    assert stretches(*parts) == expected


@pytest.mark.parametrize(
    ("rise", "fall", "expected"),
    [
        ([2.1, 5.0, 19.0], [19.0, 5.0, 2.1], (7, 19)),  # down to a tenth of the threshold, 2 N
        ([2.0, 5.0, 19.0], [19.0, 5.0, 2.0], (8, 18)),
        ([9.0, 0.0, 9.0], [9.0, 0.0, 9.0], (9, 17)),  # only what adjoins
        ([9.0] * 6, [9.0] * 6, (4, 22)),  # as long as the shortest contact
        ([9.0] * 8, [9.0] * 8, (4, 22)),
        ([], [], (10, 16)),
    ],
)
def test_flanks_of_a_stretch(rise, fall, expected):
    assert stretches(quiet(10 - len(rise)), rise, loaded(6), fall, quiet(12)) == [expected]


def test_flanks_end_with_the_recording_and_at_the_next_stretch(monkeypatch):
    assert stretches([9.0] * 3, loaded(6), [9.0] * 4) == [(0, 13)]
    found = stretches(quiet(4), loaded(6), [9.0] * 8, loaded(6), quiet(4))
    assert found == [(4, 16), (12, 24)]
    monkeypatch.setattr("limbtorque.ground.plates.MIN_CONTACT_S", 0.01)
    near = loaded_stretches(np.array([0, 0, 500, 9, 9, 500, 0, 0.0]), SETTINGS, RATE_HZ)
    assert near == [(2, 4), (4, 6)]


# --- reading a plate -------------------------------------------------------------------------------------------------


def test_a_reading_holds_the_analysed_samples_without_the_offset():
    plate = plates.plate(loads=[plates.UNDER], offset=[1.0, 2.0, 5.0, 0.1, 0.2, 0.3])
    reading = read_plate(plate, slice(20, 140), RATE_HZ, settings=SETTINGS, up=plates.UP)
    clean = plates.wrench_at(np.array(plates.POINT), plates.FORCE_N, 4.0)
    np.testing.assert_allclose(reading.offset, [1.0, 2.0, 5.0, 0.1, 0.2, 0.3], atol=1e-9)
    assert reading.wrench.shape == (1200, 6)
    np.testing.assert_allclose(reading.mean[30:90], np.tile(clean, (60, 1)), atol=1e-9)
    np.testing.assert_allclose(reading.vertical_n, np.where(reading.loaded, 700.0, 0.0), atol=1e-9)
    assert reading.stretches == ((30, 90),)
    assert reading.onset.tolist() == [30.0]
    assert reading.note == "plate 1: offset of 5.0 N vertical subtracted"
    assert not reading.broken.any()


def test_missing_samples_are_zero_and_named():
    plate = plates.plate(loads=[plates.UNDER])
    plate.force_n[703, 1] = np.nan
    reading = read_plate(plate, slice(0, plates.N_FRAMES), RATE_HZ, settings=SETTINGS, up=plates.UP)
    assert np.flatnonzero(reading.broken).tolist() == [70]
    assert not reading.wrench[703].any()
    assert reading.vertical_n[70] == pytest.approx(0.9 * 700.0)
    nothing = read_plate(replace(plate, force_n=plate.force_n * np.nan), slice(0, 160), RATE_HZ, settings=SETTINGS, up=plates.UP)  # fmt: skip
    assert nothing.broken.all()
    assert not nothing.wrench.any()
    assert nothing.stretches == ()
    assert nothing.note == "plate 1: has no complete sample"


@pytest.mark.parametrize(("first", "onset"), [(0, 50.0), (4, 50.4), (9, 50.9)])
def test_the_onset_is_the_first_sample_above_the_threshold(first, onset):
    plate = plates.plate(loads=[plates.UNDER])
    plate.force_n[500 : 500 + first] = 0.0
    reading = read_plate(plate, slice(0, plates.N_FRAMES), RATE_HZ, settings=SETTINGS, up=plates.UP)
    assert reading.onset.tolist() == [pytest.approx(onset)]


def test_a_recording_that_begins_loaded_has_no_onset():
    plate = plates.plate(loads=[(slice(0, 40), plates.FORCE_N, plates.POINT), (slice(90, 130), plates.FORCE_N, plates.POINT)])  # fmt: skip
    reading = read_plate(plate, slice(0, plates.N_FRAMES), RATE_HZ, settings=SETTINGS, up=plates.UP)
    np.testing.assert_array_equal(reading.onset, [np.nan, 90.0])


@pytest.mark.parametrize(("force_n", "tilt_deg"), [(101.0, 25.0), (99.0, 0.0)])
def test_large_forces_show_the_vertical(force_n, tilt_deg):
    """Five times the threshold, 100 N, with the offset as it is read; without larger forces no tilt is known."""
    angle = np.radians(25.0)
    leaning = (plates.STANCE, force_n * np.array([np.sin(angle), 0.0, np.cos(angle)]), plates.POINT)
    reading = read_plate(plates.plate(loads=[leaning]), slice(0, 160), RATE_HZ, settings=SETTINGS, up=plates.UP)
    assert reading.tilt_deg == pytest.approx(tilt_deg, abs=1e-6)


def test_the_tilt_is_that_of_the_mean_force():
    """Forward and backward by the same angle: their mean is upright. Downwards: 180 degrees."""
    angle = np.radians(25.0)
    ahead, behind = (700.0 * np.array([sign * np.sin(angle), 0.0, np.cos(angle)]) for sign in (1.0, -1.0))
    both = plates.plate(loads=[(slice(50, 80), ahead, plates.POINT), (slice(80, 110), behind, plates.POINT)])
    assert read_plate(both, slice(0, 160), RATE_HZ, settings=SETTINGS, up=plates.UP).tilt_deg == pytest.approx(0.0, abs=1e-5)  # fmt: skip
    down = plates.plate(offset=[0.0, 0.0, -700.0, 0.0, 0.0, 0.0])
    kept = SETTINGS.model_copy(update={"remove_offset": False})
    assert read_plate(down, slice(0, 160), RATE_HZ, settings=kept, up=plates.UP).tilt_deg == pytest.approx(180.0)


def test_the_tilt_is_seen_with_the_offset():
    """An offset of 20 N forward and 30 N upwards and a load of 200 N upwards: 20 over 230."""
    plate = plates.plate(loads=[(plates.STANCE, (0.0, 0.0, 200.0), plates.POINT)], offset=[20.0, 0, 30.0, 0, 0, 0])
    reading = read_plate(plate, slice(0, 160), RATE_HZ, settings=SETTINGS, up=plates.UP)
    assert reading.tilt_deg == pytest.approx(np.degrees(np.arctan2(20.0, 230.0)))


@pytest.mark.parametrize(("sign", "tilt_deg"), [(1.0, 0.0), (-1.0, 180.0)])
def test_a_force_along_any_axis_has_no_tilt(sign, tilt_deg):
    """Rounding leaves cosines beyond one: a warning would fail the test."""
    kept = SETTINGS.model_copy(update={"remove_offset": False})
    for seed in range(30):
        up = np.random.default_rng(seed).normal(size=3)
        up /= np.linalg.norm(up)
        plate = plates.plate(offset=np.append(sign * 300.0 * up, np.zeros(3)))
        reading = read_plate(plate, slice(0, 160), RATE_HZ, settings=kept, up=up)
        assert reading.tilt_deg == pytest.approx(tilt_deg, abs=1e-5)


def test_saturated_samples_are_those_of_the_channels_or_of_flat_tops():
    plate = plates.plate(loads=[plates.UNDER])
    given = np.zeros(len(plate.force_n), dtype=bool)
    given[7] = True
    assert np.flatnonzero(saturated_samples(replace(plate, saturated=given))).tolist() == [7]
    assert saturated_samples(plate).shape == (1600,)


# --- onsets of loading -----------------------------------------------------------------------------------------------


def onsets(*measured, foot_m=plates.POINT, part=slice(0, plates.N_FRAMES)):
    feet = np.broadcast_to(np.asarray(foot_m, dtype=float), (plates.N_FRAMES, 3))[part]
    read = read_plates(measured, part, RATE_HZ, settings=SETTINGS, up=plates.UP)
    return loading_onsets(read, feet, rate_hz=RATE_HZ, up=plates.UP, settings=SETTINGS)


@pytest.mark.parametrize(("apart_m", "near"), [(0.249, True), (0.251, False), (-0.249, True), (-0.251, False)])
@pytest.mark.parametrize("height_m", [0.0, 0.4])
def test_a_foot_within_25_centimetres_begins_to_load_a_plate(apart_m, near, height_m):
    foot = np.array(plates.POINT) + np.array([apart_m, 0.0, height_m])
    assert onsets(plates.plate(loads=[plates.UNDER]), foot_m=foot) == ((0.5,) if near else ())


def test_onsets_of_two_plates_in_order_each_once():
    later = (slice(80, 120), plates.FORCE_N, plates.POINT)
    first, second = plates.plate(loads=[later]), plates.plate(2, loads=[plates.UNDER])
    assert onsets(first, second) == (0.5, 0.8)
    assert onsets(second, replace(second, number=3)) == (0.5,)
    assert onsets(second, part=slice(20, 160)) == (0.3,)


def test_a_plate_that_is_loaded_from_the_beginning_shows_no_onset():
    early = (slice(0, 40), plates.FORCE_N, plates.POINT)
    again = (slice(60, 100), plates.FORCE_N, plates.POINT)
    assert onsets(plates.plate(loads=[early, again])) == (0.6,)


@pytest.mark.parametrize(("near", "found"), [(3, True), (2, False)])
def test_the_foot_is_sought_in_the_first_five_frames(near, found):
    """The median of five: three near ones are enough; what follows does not matter."""
    foot = np.tile(plates.POINT, (plates.N_FRAMES, 1)).astype(float)
    foot[50 + near :, 0] += 2.0
    assert onsets(plates.plate(loads=[plates.UNDER]), foot_m=foot) == ((0.5,) if found else ())


def test_the_foot_may_come_nearer_in_the_first_frames():
    """Two of five frames far away, the first two."""
    foot = np.tile(plates.POINT, (plates.N_FRAMES, 1)).astype(float)
    foot[50:52, 0] += 2.0
    assert onsets(plates.plate(loads=[plates.UNDER]), foot_m=foot) == (0.5,)


def test_missing_samples_delay_an_onset():
    """A frame with a missing sample counts as unloaded."""
    broken = plates.plate(loads=[plates.UNDER])
    broken.moment_nm[500:511, 2] = np.nan
    assert onsets(broken) == (0.52,)
    assert onsets(plates.plate(loads=[plates.UNDER]), foot_m=[np.nan] * 3) == ()


# --- means and smoothing ---------------------------------------------------------------------------------------------


def test_means_of_frames_and_around_frames():
    samples = np.arange(11.0)[:, None] * [1.0, -2.0]
    np.testing.assert_allclose(frame_means(samples, 3)[:, 0], [1.0, 4.0, 7.0])
    np.testing.assert_allclose(frame_means(samples, 3)[:, 1], [-2.0, -8.0, -14.0])
    even = np.arange(12.0)[:, None]
    np.testing.assert_allclose(means_around(even, 4)[:, 0], [0.25, 3.5, 7.5])  # of 0, 0, 0, 1; 2 to 5; 6 to 9
    np.testing.assert_allclose(means_around(even, 3)[:, 0], [1.0 / 3.0, 3.0, 6.0, 9.0])
    np.testing.assert_allclose(means_around(even, 1), even)
    samples[4, 1] = np.nan
    np.testing.assert_array_equal(np.isnan(frame_means(samples, 3)).any(axis=1), [False, True, False])


def test_samples_at_frames():
    """Without a filter, means; with one, the smoothed samples themselves. A movement far below the cut-off stays."""
    t = np.arange(1000) / 1000.0
    slow = np.sin(2.0 * np.pi * t)[:, None]
    by_filter = at_frames(slow, PER_FRAME, 1000.0, Smoothing(Smoother("butterworth", 2), 20.0))
    np.testing.assert_allclose(by_filter[20:80], slow[::10][20:80], atol=1e-4)
    np.testing.assert_allclose(at_frames(slow, PER_FRAME, 1000.0, None), means_around(slow, PER_FRAME))
    assert at_frames(0.0 * slow, PER_FRAME, 1000.0, Smoothing(Smoother("butterworth", 2), 90.0)).shape == (100, 1)


@pytest.mark.parametrize(("cutoff_hz", "aliases"), [(49.9, False), (50.0, True), (80.0, True)])
def test_a_cutoff_of_half_the_frame_rate_aliases(cutoff_hz, aliases):
    smoothing = Smoothing(Smoother("butterworth", 2), cutoff_hz)
    if not aliases:
        assert at_frames(np.ones((1000, 3)), PER_FRAME, 1000.0, smoothing).shape == (100, 3)
        return
    with pytest.raises(LoadError, match=rf"is {cutoff_hz:g} Hz \(filter.force_cutoff_hz\), expected less than 50 Hz"):
        at_frames(np.ones((1000, 3)), PER_FRAME, 1000.0, smoothing)


@pytest.mark.parametrize("per_frame", [1, 7, 10])
def test_frames_that_a_filter_uses_are_whole_ones(per_frame):
    smoother = Smoother("butterworth", 2)
    samples = smoother_reach(12.0, rate_hz=1000.0, smoother=smoother)
    found = reach_frames(plates.plate(), per_frame, Smoothing(smoother, 12.0))
    assert (found - 1) * per_frame < samples <= found * per_frame

"""Samples, offset and drift of a plate at the limits of what counts."""

from dataclasses import replace

import numpy as np
import pytest

import plates
from limbtorque.errors import LoadError
from limbtorque.motion.plate_signals import analysed_samples, drift_n, offset_of, reach_frames, read_plates
from limbtorque.study.options.loads import Plates

SETTINGS = Plates(threshold_n=20.0, max_offset_n=40.0)
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
    with pytest.raises(LoadError, match=r"expected a whole multiple of the markers' 100 Hz"):
        analysed_samples(replace(plates.plate(), rate_hz=plate_hz), slice(0, 10), marker_hz)


@pytest.mark.parametrize(("assignment", "numbers"), [("auto", [1, 2]), ("none", []), ((2,), [2]), ((1, 2), [1, 2])])
def test_plates_of_the_assignment(assignment, numbers):
    settings = Plates(assignment=assignment)
    two = [plates.plate(1), plates.plate(2, x=1.0)]
    read = read_plates(two, slice(0, plates.N_FRAMES), plates.RATE_HZ, settings=settings, up=plates.UP)
    assert [reading.plate.number for reading in read] == numbers


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
    assert offset is None or not offset.any()


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

"""Gaps filled from other markers, their expected errors, exchanged labels and spikes; closed forms and real recordings."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.gaps import fill_gaps
from limbtorque.signals.labels import find_spikes, find_swaps, spike_runs

RATE_HZ = 100.0
SEGMENT = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.15, 0.0], [0.05, 0.05, 0.1], [0.1, 0.1, 0.02]])


def tumbling(n_frames=200, seed=0, shape=SEGMENT):
    """A rigid body that turns and moves along smooth random ways, (n_frames, n_markers, 3)."""
    rng = np.random.default_rng(seed)
    t = np.arange(n_frames) / RATE_HZ
    ways = [
        rng.normal(size=3) * np.sin(rng.uniform(2.0, 9.0) * t[:, None] + rng.uniform(0.0, 6.0, 3)) for _ in range(2)
    ]
    turns = Rotation.from_rotvec(ways[0]).as_matrix()
    return np.einsum("fij,mj->fmi", turns, shape) + ways[1][:, None]


def with_gap(markers, *gaps):
    result = markers.copy()
    for marker, start, stop in gaps:
        result[start:stop, marker] = np.nan
    return result


def filled(holes, method, **more):
    return fill_gaps(holes, rate_hz=RATE_HZ, max_gap_s=10.0, method=method, **more)


@pytest.mark.parametrize("length", [5, 30, 80])
def test_markers_that_move_together_are_filled_exactly_by_principal_components(length):
    """Twelve markers driven by four smooth ways, so four components tell all; a small weight may not spoil it."""
    rng = np.random.default_rng(3)
    t = np.arange(300) / RATE_HZ
    ways = np.stack([np.sin(speed * t + speed) for speed in (2.0, 3.1, 5.3, 8.9)], axis=1)
    truth = rng.normal(size=(12, 3)) * 0.2 + np.einsum("fk,kmi->fmi", ways, 0.1 * rng.normal(size=(4, 12, 3)))
    found = filled(with_gap(truth, (4, 100, 100 + length)), "principal_components")
    assert found.gaps[0].method == "principal_components"
    np.testing.assert_allclose(found.markers_m, truth, atol=2e-3 * np.ptp(truth[:, 4]))


def test_a_cubic_through_four_samples_is_exact():
    """Two samples on each side are enough for a polynomial of degree 3, one on a side for less than that."""
    t = np.arange(8.0)[:, None, None]
    truth = 0.3 - 0.2 * t + 0.05 * t**2 * [1.0, -1.0, 2.0] - 0.01 * t**3
    found = filled(with_gap(truth, (0, 2, 6)), "cubic")
    np.testing.assert_allclose(found.markers_m, truth, atol=1e-12)
    three = filled(with_gap(truth, (0, 0, 1), (0, 2, 6)), "cubic").markers_m[2:6, 0]
    assert (three >= truth[[1, 6], 0].min(axis=0)).all()  # no overshoot: cubic pieces that keep to the samples' order
    assert (three <= truth[[1, 6], 0].max(axis=0)).all()


@pytest.mark.parametrize("seed", range(3))
def test_markers_far_away_do_not_spoil_principal_components(seed):
    """Four near markers driven by two ways, with noise of 0.3 mm; twenty shake at random 1.5 m away on both sides."""
    rng = np.random.default_rng(seed)
    t = np.arange(60) / RATE_HZ
    ways = np.stack([np.sin(5.0 * t), np.sin(8.3 * t + 1.0)], axis=1)
    near = rng.uniform(-0.1, 0.1, (4, 3)) + np.einsum("fk,kmi->fmi", ways, 0.05 * rng.normal(size=(2, 4, 3)))
    near += 0.0003 * rng.normal(size=near.shape)
    far = np.array([1.5, 0.0, 0.0]) + rng.uniform(-0.1, 0.1, (10, 3)) + 0.1 * rng.normal(size=(60, 10, 3))
    truth = np.concatenate([near, far, -far], axis=1)  # the mean of all markers does not shake
    found = filled(with_gap(truth, (0, 25, 40)), "principal_components")
    assert found.gaps[0].method == "principal_components"
    assert np.sqrt(((found.markers_m - truth)[25:40, 0] ** 2).mean()) < 0.001


def test_filling_meets_the_samples_on_both_sides():
    """A segment that bends: the prediction is off, but not at the sides, where the marker is known."""
    truth = tumbling()
    t = np.arange(200) / RATE_HZ
    truth[:, 0] += 0.02 * np.sin(3.0 * t)[:, None]
    found = filled(with_gap(truth, (0, 90, 110)), "principal_components").markers_m[:, 0]
    steps = np.abs(np.diff(found - truth[:, 0], axis=0)).max(axis=1)
    assert steps[89] < 2e-3
    assert steps[109] < 2e-3
    assert np.abs(found - truth[:, 0])[90:110].max() < 0.01


def test_expected_error_is_that_of_gaps_cut_beside():
    """Cubic gap in a pure sine: all gaps of one length err by the wave's size there, so the expectation is near the error."""
    t = np.arange(400) / RATE_HZ
    truth = np.stack([np.sin(9.0 * t), np.cos(9.0 * t), 0.0 * t], axis=1)[:, None]  # on a circle all gaps are alike
    found = filled(with_gap(truth, (0, 150, 180)), "cubic")
    error = np.sqrt((((found.markers_m - truth)[150:180, 0]) ** 2).sum(axis=1).mean())
    assert found.gaps[0].expected_error_m == pytest.approx(error, rel=0.01)


def test_gaps_that_are_not_filled_are_told_and_only_wanted_ones_are_filled():
    holes = with_gap(tumbling(), (0, 0, 5), (1, 50, 60), (2, 100, 130), (3, 195, 200))
    found = fill_gaps(holes, rate_hz=RATE_HZ, max_gap_s=0.1)
    assert [(g.marker, g.start, g.stop, g.method) for g in found.gaps] == [(1, 50, 60, "cubic"), (2, 100, 130, "")]
    assert np.isnan(found.gaps[1].expected_error_m)
    assert found.longest_gap_frames == 30
    other = filled(holes, "principal_components", wanted=[2])
    assert [gap.marker for gap in other.gaps] == [2]
    assert np.isnan(other.markers_m[50:60, 1]).all()


# --- real recordings -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walking(recordings):
    """Shank and foot of a walking child, all complete: positions."""
    recording = read_c3d(recordings / "cohort" / "HC030A" / "Straight" / "HC030A05.c3d")
    shank, foot = ("LHFB", "LTUB", "LTIB", "LSHN", "LANK"), ("LHEE", "LLCA", "LSTL", "LNAV", "LP1M", "LTOE")
    columns = [recording.labels.index(label) for label in (*shank, *foot)]
    return recording.markers_m[:, columns]


def test_other_markers_are_better_than_time_in_long_gaps(walking):
    """Gaps of 50 frames (0.5 s, a swing) cut into complete markers: at least ten times nearer than a cubic."""
    markers, errors = walking, {}
    for way in ("principal_components", "cubic"):
        squared = []
        for marker in range(markers.shape[1]):
            for start in (20, 130):
                holes = with_gap(markers, (marker, start, start + 50))
                wrong = (filled(holes, way).markers_m - markers)[start : start + 50, marker]
                squared.append((wrong**2).sum(axis=1).mean())
        errors[way] = np.sqrt(np.mean(squared))
    assert errors["principal_components"] < 0.1 * errors["cubic"]
    assert errors["principal_components"] < 0.01


# --- labels ----------------------------------------------------------------------------------------------------------------


def test_real_markers_have_no_spikes_or_swaps_until_they_are_made(walking):
    markers = walking
    assert not find_spikes(markers).any()
    assert find_swaps(markers) == []
    bad = markers.copy()
    bad[100:110, [2, 7]] = bad[100:110, [7, 2]]
    bad[40:42, 5] += 0.05
    assert [(s.first, s.second, s.start, s.stop) for s in find_swaps(bad)] == [(2, 7, 100, 110)]
    assert (5, 40, 42) in spike_runs(find_spikes(bad))

"""Spikes and exchanged labels at their thresholds, on straight paths: every jump is known."""

import numpy as np
import pytest

from limbtorque.signals.labels import Swap, find_faults, find_spikes, find_swaps, spike_runs

N = 80


def straight(n=N, markers=1, apart_m=0.5, pace_m=0.002):
    """Markers side by side that all go the same way, so many metres a frame."""
    made = np.zeros((n, markers, 3))
    made[:, :, 0] = pace_m * np.arange(n)[:, None]
    made[:, :, 1] = apart_m * np.arange(markers)
    return made


def spikes(markers):
    return np.flatnonzero(find_spikes(markers)[:, 0]).tolist()


# --- spikes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize(("size_m", "found"), [(0.0101, True), (0.0099, False), (0.3, True)])
def test_a_displacement_of_up_to_three_frames_is_a_spike(length, size_m, found):
    """Away and back, the velocity changes by the size; of a single frame by twice the size in its middle."""
    made = straight()
    made[40 : 40 + length, 0, 2] += size_m
    assert spikes(made) == (list(range(40, 40 + length)) if found else [])


def test_four_frames_are_none():
    made = straight()
    made[40:44, 0, 2] += 0.3
    assert spikes(made) == []


@pytest.mark.parametrize(("start", "found"), [(1, False), (2, True), (N - 4, True), (N - 3, True), (N - 2, False)])
def test_two_frames_on_each_side_show_the_path(start, found):
    made = straight()
    made[start, 0, 2] += 0.1
    assert spikes(made) == ([start] if found else [])


def test_few_frames_have_no_usual_change():
    for n in range(8):
        made = straight(n=n)
        made[2:3, 0, 2] += 0.1
        assert spikes(made) == []


@pytest.mark.parametrize("frame", [38, 42])
def test_a_gap_beside_hides_a_spike(frame):
    made = straight()
    made[40, 0, 2] += 0.1
    made[frame] = np.nan
    assert spikes(made) == []
    made[frame] = straight()[frame]
    made[frame + np.sign(frame - 40)] = np.nan  # one frame farther away
    assert spikes(made) == [40]


@pytest.mark.parametrize(("share", "found"), [(0.45, True), (0.55, False)])
def test_a_spike_comes_back_to_its_path(share, found):
    """It returns to within half of the smaller jump, here the way back."""
    made = straight()
    made[40, 0, 2] += 0.1
    made[41:, 0, 2] += share * 0.1 / (1.0 + share)  # back by 0.1 less this: share of it is left
    assert spikes(made) == ([40] if found else [])


@pytest.mark.parametrize(("share", "found"), [(0.2, True), (3.0, False)])
def test_a_spike_comes_back_to_its_velocity(share, found):
    """A foot that strikes the ground does not: velocity changes by so many times the jump."""
    made = straight()
    made[40, 0, 2] += 0.1
    made[40:, 0, 1] += share * 0.1 * np.arange(N - 40)
    assert (40 in spikes(made)) == found


@pytest.mark.parametrize(("factor", "found"), [(5.5, False), (6.5, True)])
def test_a_spike_is_six_times_the_usual_change(factor, found):
    """A path that goes to and fro by d a frame changes its velocity by 4 d in every frame, d here to each side."""
    size_m = 0.003
    made = straight(pace_m=0.0)
    made[1::2, 0, 2] = size_m
    usual = 2.0 * size_m  # second difference of 0, d, 0: 2 d
    made[40, 0, 1] += np.sqrt((factor * usual) ** 2 - usual**2)
    assert spikes(made) == ([40] if found else [])


@pytest.mark.parametrize(
    ("first", "last", "n_rough"), [(34, 46, 13), (34, 44, 11), (44, 79, 13), (46, 79, 11), (0, 36, 13), (0, 34, 11)]
)
def test_the_usual_change_is_the_median_of_25_frames(first, last, n_rough):
    """A path that goes to and fro in some frames only: 13 of the 25 changes around the spike's beginning or end are usual.

    The spike's own three changes are among them.
    """
    size_m = 0.003
    made = straight(pace_m=0.0)
    made[first : last + 1 : 2, 0, 2] = size_m
    made[40, 0, 1] += 5.5 * 2.0 * size_m
    changes = np.linalg.norm(np.diff(made[:, 0], 2, axis=0), axis=1)
    assert max((changes[k - 12 : k + 13] > 1.9 * size_m).sum() for k in (38, 40)) == n_rough
    assert spikes(made) == ([40] if n_rough < 13 else [])


def test_runs_of_spikes_by_marker_and_time():
    made = straight(markers=2)
    made[60:62, 0, 2] += 0.1
    made[[20, 50], 1, 2] += 0.1
    assert spike_runs(find_spikes(made)) == [(0, 60, 62), (1, 20, 21), (1, 50, 51)]


# --- exchanges -------------------------------------------------------------------------------------------------------


def exchanged(made, start, stop, first=0, second=1):
    made = made.copy()
    made[start:stop, [first, second]] = made[start:stop, [second, first]]
    return made


@pytest.mark.parametrize(("apart_m", "found"), [(0.019, False), (0.021, True), (1.0, True)])
def test_markers_two_centimetres_apart_can_be_exchanged(apart_m, found):
    made = exchanged(straight(markers=2, apart_m=apart_m), 30, 40)
    assert find_swaps(made) == ([Swap(0, 1, 30, 40)] if found else [])


@pytest.mark.parametrize(("start", "stop"), [(2, 5), (2, 78), (30, 31), (75, 78)])
def test_any_stretch_with_both_ends(start, stop):
    assert find_swaps(exchanged(straight(markers=3), start, stop, 0, 2)) == [Swap(0, 2, start, stop)]


def test_several_exchanges_by_time():
    made = exchanged(exchanged(straight(markers=4), 50, 60), 20, 30, 2, 3)
    assert find_swaps(made) == [Swap(2, 3, 20, 30), Swap(0, 1, 50, 60)]
    twice = exchanged(exchanged(straight(markers=2), 50, 60), 20, 30)
    assert find_swaps(twice) == [Swap(0, 1, 20, 30), Swap(0, 1, 50, 60)]
    assert find_swaps(made, about=[2]) == [Swap(2, 3, 20, 30)]
    assert find_swaps(made, about=[0, 1]) == [Swap(0, 1, 50, 60)]


@pytest.mark.parametrize(("end", "shorter"), [(30, (0, 30)), (50, (50, N)), (40, (40, N))])
def test_an_exchange_with_one_end_is_on_the_shorter_side(end, shorter):
    assert find_swaps(exchanged(straight(markers=6), end, N)) == [Swap(0, 1, *shorter)]


def test_an_exchange_after_another_lasts_to_the_end():
    made = exchanged(exchanged(straight(markers=6), 10, 20), 30, N)
    assert find_swaps(made) == [Swap(0, 1, 10, 20), Swap(0, 1, 30, N)]


def test_an_exchange_that_ends_in_a_gap_ends_by_the_distances_to_others():
    made = straight(markers=6)
    made[:, 5, 2] = 0.3
    made[:, 4, 2] = -0.2
    wrong = exchanged(made, 30, 40)
    wrong[40:44, :2] = np.nan
    (swap,) = find_swaps(wrong)
    assert (swap.first, swap.second, swap.start) == (0, 1, 30)
    assert 40 <= swap.stop <= 44


@pytest.mark.parametrize(("left", "found"), [(0.4, True), (0.6, False)])
def test_an_exchange_halves_the_distances(left, found):
    """Both markers jump by 0.5 m across; a part of it is left between each and the other's path."""
    made = straight(markers=2)
    made[40:50, 0, 1] += 0.5 * (1.0 - left)
    made[40:50, 1, 1] -= 0.5 * (1.0 - left)
    across, own = 2.0 * 0.5 * left, 2.0 * 0.5 * (1.0 - left)
    assert (find_swaps(made) == [Swap(0, 1, 40, 50)]) == (across < 0.5 * own)
    sideways = straight(markers=2)
    sideways[40:50, [0, 1]] = sideways[40:50, [1, 0]]
    sideways[40:50, :, 2] += left * 0.5  # own: sqrt(1 + left^2) times half a metre; across: left times it
    assert (find_swaps(sideways) == [Swap(0, 1, 40, 50)]) == (left < 0.5 * np.hypot(1.0, left))
    assert (left < 0.5 * np.hypot(1.0, left)) == found


@pytest.mark.parametrize(("n", "found"), [(3, 0), (4, 1)])
def test_four_frames_are_the_fewest(n, found):
    assert len(find_swaps(exchanged(straight(n=n, markers=2), 2, n))) == found


def test_an_exchange_is_no_spike():
    made = exchanged(straight(markers=3), 30, 32)
    found = find_faults(made)
    assert found.swaps == (Swap(0, 1, 30, 32),)
    assert np.argwhere(found.swapped).tolist() == [[30, 0], [30, 1], [31, 0], [31, 1]]
    assert not found.spikes.any()


@pytest.mark.parametrize(("apart_m", "found"), [(0.019, False), (0.021, True)])
def test_markers_that_jump_by_less_are_not_exchanged_in_a_frame_with_another_exchange(apart_m, found):
    """Two pairs in the same frames: one half a metre apart, one about as far as the least jump."""
    made = straight(markers=4)
    made[:, 3] = made[:, 2] + [0.0, apart_m, 0.0]
    for i, j in ((0, 1), (2, 3)):
        made[30:40, [i, j]] = made[30:40, [j, i]]
    assert find_swaps(made) == [Swap(0, 1, 30, 40), *([Swap(2, 3, 30, 40)] if found else [])]

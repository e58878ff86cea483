"""Jumps of markers: what is found, from the closed forms of fourth differences.

A spike of one frame and size s has fourth differences of s, 4 s, 6 s, 4 s and s; a step those of s, 3 s, 3 s and s.
"""

import numpy as np
import pytest

from limbtorque.signals.labels import find_jumps

N = 60


def spiked(size_m, *, axis=0, n=N):
    markers = np.zeros((n, 2, 3))
    markers[30, 1, axis] = size_m
    return markers


def stepped(size_m, *, start=30, frames=None, n=N):
    """A marker that stands elsewhere, from a frame on or for some frames."""
    markers = np.zeros((n, 2, 3))
    markers[start : None if frames is None else start + frames, 1, 2] = size_m
    return markers


def where(markers, rate_hz=100.0):
    found = find_jumps(markers, rate_hz=rate_hz)
    assert not found[:, 0].any()  # the marker that rests
    return np.flatnonzero(found[:, 1]).tolist()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("rate_hz", "least_m"), [(100.0, 500.0 / 3.0 / 100.0**2), (250.0, 0.01), (50.0, 500.0 / 3.0 / 50.0**2)]
)
def test_the_least_spike(rate_hz, least_m, sign):
    """Half of 6 s times the rate squared above 500 m/s^2, and a sixth of 6 s above 1 cm."""
    assert where(spiked(sign * 1.01 * least_m), rate_hz) == [30]
    assert where(spiked(sign * 0.99 * least_m), rate_hz) == []


@pytest.mark.parametrize(("rate_hz", "least_m"), [(100.0, 500.0 / 1.5 / 100.0**2), (250.0, 0.02)])
def test_the_least_step(rate_hz, least_m):
    """Half of 3 s times the rate squared above 500 m/s^2, and a sixth of 3 s above 1 cm; both frames of the step."""
    assert where(stepped(1.01 * least_m), rate_hz) == [29, 30]
    assert where(stepped(0.99 * least_m), rate_hz) == []


def test_length_counts_in_any_direction():
    along = 0.018 / np.sqrt(3.0)
    markers = spiked(0.0)
    markers[30, 1] = along
    assert where(markers) == [30]
    assert where(spiked(along)) == []


@pytest.mark.parametrize("frames", [2, 5, 10])
@pytest.mark.parametrize("size_m", [0.04, 0.2])
def test_the_frames_between_a_jump_and_the_jump_back(frames, size_m):
    assert where(stepped(size_m, frames=frames)) == list(range(30, 30 + frames))


def test_longer_than_a_tenth_of_a_second_only_the_jumps_themselves():
    assert where(stepped(0.2, frames=20)) == [29, 30, 49, 50]
    assert where(stepped(0.2, frames=20), rate_hz=250.0) == list(range(30, 50))


def test_several_jumps_of_one_marker():
    markers = stepped(0.2, start=10, frames=5) + stepped(0.2, start=40, frames=6)
    assert where(markers) == [*range(10, 15), *range(40, 46)]
    again = stepped(0.2, start=10, frames=3) + stepped(-0.3, start=16, frames=3)  # nearer than a tenth of a second
    assert where(again) == list(range(10, 19))


def test_noise_of_centimetres_is_no_jump():
    """The largest excess must be four times the usual one: by turns 1 cm here and there, all fourth differences are 16 cm."""
    markers = np.zeros((N, 2, 3))
    markers[::2, 1, 0] = 0.02
    assert where(markers) == []
    for factor, found in ((3.9, []), (4.1, [30])):
        noisy = markers.copy()
        noisy[30, 1, 0] += (factor - 1.0) * 0.16 / 6.0
        assert where(noisy) == found


@pytest.mark.parametrize("n", [0, 3, 4, 5])
def test_few_frames(n):
    markers = np.zeros((n, 1, 3))
    if n > 2:
        markers[2, 0, 0] = 1.0
    found = find_jumps(markers, rate_hz=100.0)
    assert found.shape == (n, 1)
    assert np.flatnonzero(found[:, 0]).tolist() == ([2] if n == 5 else [])


def test_missing_frames_are_no_jump_and_do_not_hide_one():
    markers = spiked(0.1)
    markers[10:15] = np.nan
    assert where(markers) == [30]


def test_acceleration_of_gravity_and_of_an_impact_is_no_jump():
    """A cubic has no fourth difference; a bounce at 10 m/s changes the velocity, not the position: 10 m/s / 100 Hz / 2."""
    t = np.arange(N) / 100.0
    markers = np.zeros((N, 2, 3))
    markers[:, 1, 2] = 5.0 * t - 4.905 * t**2 + 3.0 * t**3
    assert where(markers) == []
    markers[:, 1, 2] = np.abs(t - 0.3) * 2.0  # 4 m/s change: excess 0.5 * 4 * 4 cm * 100^2 / 100 < 500
    assert where(markers) == []

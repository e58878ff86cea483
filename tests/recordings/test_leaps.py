"""Positions that no marker on a body can have are missing, and the audit says so."""

from dataclasses import replace

import numpy as np
import pytest

from limbtorque.recordings.plausibility import without_leaps
from limbtorque.recordings.recording import Audit, Recording

RATE_HZ, N = 100.0, 200


def walking(seed=0):
    """Six markers of a leg that moves at 2 m/s."""
    random = np.random.default_rng(seed)
    time_s = np.arange(N) / RATE_HZ
    offsets_m = random.uniform(-0.2, 0.2, (6, 3)) + np.linspace(0.0, 0.9, 6)[:, None] * [0.0, 0.0, 1.0]
    swing_m = 0.1 * np.sin(2.0 * np.pi * time_s)[:, None, None] * random.uniform(-1.0, 1.0, (1, 6, 3))
    markers_m = offsets_m[None] + swing_m + 2.0 * time_s[:, None, None] * [1.0, 0.0, 0.0]
    return Recording("a.c3d", "", "ezc3d", tuple("ABCDEF"), markers_m, RATE_HZ, 1, audit=Audit(()))


def changed(frames, marker, values):
    recording = walking()
    markers_m = recording.markers_m.copy()
    markers_m[frames, marker] = values(markers_m[frames, marker])
    return replace(recording, markers_m=markers_m)


@pytest.mark.parametrize(
    ("frames", "marker", "values"),
    [
        (slice(80, 81), 2, lambda m: m + np.array([1.37, 0.0, 0.0])),  # 137 m/s for one frame
        (slice(50, 90), 1, lambda m: np.full_like(m, -9.999)),
        (slice(0, 30), 4, lambda m: np.full_like(m, 9.999999)),
        (slice(150, N), 0, lambda m: np.full_like(m, 100.0)),
        (slice(100, N), slice(None), lambda m: 1000.0 * m),  # the second half in another unit
        (slice(0, 100), slice(None), lambda m: 0.001 * m - 30.0),
    ],
)
def test_they_are_missing_and_said(frames, marker, values):
    found = without_leaps(changed(frames, marker, values))
    expected = walking().markers_m
    expected[frames, marker] = np.nan
    np.testing.assert_array_equal(found.markers_m, expected)
    (guess,) = found.audit.guesses
    assert (guess.item, guess.interpretation) == ("far samples", "treated as missing")


def test_a_body_that_moves_is_left_as_it_is():
    recording = walking()
    assert without_leaps(recording) is recording
    thrown = changed(slice(100, N), 5, lambda m: m + 0.4 * np.arange(len(m))[:, None] * [1.0, 0.0, 0.0])  # 40 m/s
    assert without_leaps(thrown) is thrown

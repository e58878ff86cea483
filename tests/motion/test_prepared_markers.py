"""Windows, gaps and stretches of a recording's markers: which frames are used, and what the notes say of the others."""

from unittest import mock

import numpy as np
import pytest
from demo_reach import settings_with

from limbtorque.errors import SignalError
from limbtorque.motion import markers as markers_of
from limbtorque.motion.markers import prepare_markers
from limbtorque.recordings.recording import Recording

RATE_HZ = 100.0
FIRST = 11  # number of the first frame in the capture
LABELS = ("A", "B", "C")


def recording(*gaps, n=200):
    """Three markers on parabolas; gaps are (marker, first frame, frames)."""
    t = np.arange(n)[:, None, None] / RATE_HZ
    place = np.arange(3)[None, :, None] + np.arange(3)
    markers = place + t * [0.3, 0.2, 0.1] + t**2 * [0.1, -0.2, 0.3] * (1.0 + np.arange(3)[:, None])
    for marker, start, frames in gaps:
        markers[start : start + frames, marker] = np.nan
    return Recording(
        source="made", sha256="", reader="", labels=LABELS, markers_m=markers, rate_hz=RATE_HZ, first_frame=FIRST
    )


def prepared(made, *, needed="ABC", chain="AB", start_s=None, end_s=None, least_s=0.1, **changes):
    settings = settings_with(**{"gaps__method": "cubic", "gaps__max_gap_s": 0.2} | changes)
    markers = {label: LABELS.index(label) for label in needed}
    with mock.patch.object(markers_of, "MIN_STRETCH_S", least_s):
        return prepare_markers(
            made, markers=markers, chain_labels=set(chain), settings=settings, start_s=start_s, end_s=end_s
        )


# --- window ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start_s", "end_s", "stretch"),
    [
        (None, None, (0, 200)),
        (0.5, 1.0, (50, 101)),
        (0.504, 1.006, (50, 102)),
        (0.0, 1.99, (0, 200)),
        (1.0, None, (100, 200)),
    ],
)
def test_a_window_is_of_whole_frames_with_both_ends(start_s, end_s, stretch):
    found = prepared(recording(), start_s=start_s, end_s=end_s)
    assert (found.stretch.start, found.stretch.stop) == stretch
    assert np.isnan(found.markers_m[: stretch[0]]).all()
    assert np.isnan(found.markers_m[stretch[1] :]).all()
    np.testing.assert_array_equal(found.markers_m[found.stretch], recording().markers_m[found.stretch])
    assert found.notes == ()
    assert found.longest_gap_frames == 0
    assert not found.filled.any()


@pytest.mark.parametrize(("start_s", "end_s"), [(-0.1, 1.0), (0.0, 2.0), (1.0, 0.98), (3.0, None)])
def test_a_window_outside_the_recording_is_refused(start_s, end_s):
    with pytest.raises(SignalError, match=r"is outside the recording, which runs from 0 to 1\.99 s"):
        prepared(recording(), start_s=start_s, end_s=end_s)


def test_two_frames_are_the_fewest():
    with pytest.raises(SignalError, match="1 frame, expected two or more"):
        prepared(recording(n=1))
    assert prepared(recording(n=2), least_s=0.001).stretch == slice(0, 2)


# --- gaps ------------------------------------------------------------------------------------------------------------


def test_short_gaps_are_filled_and_named_by_their_frames():
    """A parabola is filled exactly; frames are numbered as in the capture."""
    made = recording((0, 50, 10), (1, 55, 10), (2, 120, 3))
    found = prepared(made)
    assert found.stretch == slice(0, 200)
    np.testing.assert_allclose(found.markers_m[:, :2], recording().markers_m[:, :2], atol=1e-6)
    assert np.flatnonzero(found.filled).tolist() == list(range(50, 65))
    assert "20 marker samples filled in 1 places" in found.notes
    for gap, named in (
        ("A 61-70 cubic", True),
        ("B 66-75 cubic", True),
        ("C 131", False),
    ):  # C is no marker of the chain
        assert (gap in found.notes[-1]) == named
    assert found.longest_gap_frames == 0
    assert prepared(recording()).gap_error_m == 0.0


@pytest.mark.parametrize(("n_gaps", "named", "more"), [(9, 9, ""), (10, 10, ""), (11, 10, ", and 1 more"), (12, 10, ", and 2 more")])  # fmt: skip
def test_ten_gaps_are_named(n_gaps, named, more):
    many = [(0, 10 + 15 * k, 2 + k % 3) for k in range(n_gaps)]
    note = prepared(recording(*many)).notes[-1]
    assert note.count("cubic") == named
    assert note.partition(", and ")[2] == more.removeprefix(", and ")
    errors = [float(entry.split()[-2]) for entry in note.partition("): ")[2].split(", ")[:named]]
    assert errors == sorted(errors, reverse=True)


def test_a_long_gap_leaves_the_longest_stretch():
    made = recording((0, 50, 21), (1, 130, 25))  # 0-49, 71-129 and 155-199
    found = prepared(made)
    assert found.stretch == slice(71, 130)
    assert found.longest_gap_frames == 25
    assert found.notes == (
        f"frames {FIRST + 71}-{FIRST + 129} analysed, 141 with missing markers left out; "
        "2 long gaps, longest part without gaps analysed",
    )
    with pytest.raises(SignalError, match=r"a gap in the limb's markers lasts 0.25 s, expected at most 0.2 s"):
        prepared(made, gaps__longer="fail")


def test_frames_before_the_first_and_after_the_last_complete_one_are_no_gap():
    found = prepared(recording((0, 0, 30), (1, 180, 20)), gaps__longer="fail")
    assert found.stretch == slice(30, 180)
    assert found.longest_gap_frames == 0
    assert found.notes == (f"frames {FIRST + 30}-{FIRST + 179} analysed, 50 with missing markers left out",)


@pytest.mark.parametrize(("least_s", "refused"), [(0.5, False), (0.51, True)])
def test_the_shortest_stretch(least_s, refused):
    made = recording((0, 50, 150))
    if not refused:
        assert prepared(made, least_s=least_s).stretch == slice(0, 50)
    else:
        with pytest.raises(SignalError, match=r"part with all markers is 0.50 s long, expected at least 0.51 s"):
            prepared(made, least_s=least_s)


def test_markers_that_are_never_together():
    with pytest.raises(SignalError, match="no frame has all of A, B; check these markers"):
        prepared(recording((0, 0, 100), (1, 100, 100)))


# --- markers without information -------------------------------------------------------------------------------------


@pytest.mark.parametrize("frames", [2, 200])
def test_a_frozen_marker_of_the_chain_is_refused(frames):
    made = recording((1, frames, 200 - frames))
    made.markers_m[:frames, 1] = [1.0, 2.0, 3.0]
    with pytest.raises(SignalError, match=f"marker 'B' has the same position in all {frames} frames"):
        prepared(made)
    assert prepared(made, gaps__constant_marker="accept", least_s=0.001).stretch == slice(0, frames)
    assert prepared(made, chain="AC").stretch == slice(0, 200)


def test_one_frame_or_two_places_are_not_frozen():
    made = recording((1, 1, 199))
    assert prepared(made, least_s=0.001).stretch == slice(0, 1)
    made = recording()
    made.markers_m[:, 1] = [1.0, 2.0, 3.0]
    made.markers_m[-1, 1, 0] += 0.001
    assert prepared(made).stretch == slice(0, 200)


def test_all_missing_markers_are_named():
    with pytest.raises(SignalError, match="marker 'A' is missing in all 101 frames; marker 'B' is missing in all 101"):
        prepared(recording((0, 0, 200), (1, 50, 101)), start_s=0.5, end_s=1.5)


# --- spikes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [{}, {"start_s": 0.5, "end_s": 1.5}])
def test_spikes_are_kept_and_marked_or_filled(window):
    made = recording()
    made.markers_m[[70, 180], 0] += 0.2
    kept = prepared(made, **window)
    spikes = [70, 180] if not window else [70]
    assert np.flatnonzero(kept.spike).tolist() == spikes
    np.testing.assert_array_equal(kept.markers_m[70], made.markers_m[70])
    filled = prepared(made, gaps__spikes="fill", **window)
    assert not filled.spike.any()
    np.testing.assert_allclose(filled.markers_m[70], recording().markers_m[70], atol=1e-6)
    assert np.flatnonzero(filled.filled).tolist() == spikes
    assert "spikes are treated as missing (gaps.spikes)" in filled.notes
    assert "spikes are treated as missing (gaps.spikes)" not in kept.notes

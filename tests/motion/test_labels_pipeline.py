"""Exchanged labels and spikes: how well they are found in real recordings, and what a trial makes of them."""

from dataclasses import replace

import demo_reach
import numpy as np
import pytest
from demo_reach import arm_motion, settings_with

from limbtorque.arrays import lengths, missing_samples
from limbtorque.cli.inspect import describe
from limbtorque.motion.markers import fill_needed
from limbtorque.quality.verdict import assess
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.labels import Swap, find_faults, find_spikes, find_swaps, spike_runs
from limbtorque.study.options.motion import Gaps

DEMO = demo_reach.DEMO.recording(noise_m=2e-4)
LABELS = DEMO.labels
KNUCKLE, ELBOW, WRIST = (LABELS.index(name) for name in ("KNU", "ELBL", "WRU"))


def motion(recording, *, limb=None, **changes):
    found = arm_motion(recording, limb=limb, **changes)
    return found, {flag.check.name for flag in assess(found.metrics, settings_with(**changes).quality)}


def with_markers(change):
    markers = DEMO.markers_m.copy()
    change(markers)
    return replace(DEMO, markers_m=markers)


def exchanged(first, second, start, stop):
    def change(markers):
        markers[start:stop, [first, second]] = markers[start:stop, [second, first]]

    return with_markers(change)


def spiked(marker, start, stop, size_m=0.05):
    def change(markers):
        markers[start:stop, marker] += size_m

    return with_markers(change)


# --- finding ---------------------------------------------------------------------------------------------------------


def test_a_turn_at_constant_acceleration_is_no_exchange_however_strong():
    """Two markers 3 cm apart that pass through a minimum of 500 m/s^2 at 50 Hz: 20 cm from a straight line, none from a parabola."""
    t = (np.arange(40) - 19.5) / 50.0
    way = np.stack([250.0 * t**2, 5.0 * t, 0.0 * t], axis=1)
    pair = way[:, None] + [[0.0, 0.0, 0.0], [0.03, 0.0, 0.0]]
    assert lengths(np.diff(pair, 2, axis=0)).min() > 0.19
    assert find_swaps(pair) == []
    assert not find_spikes(pair).any()


@pytest.mark.parametrize("length", [1, 2, 3, 20])
def test_an_exchange_during_a_strong_turn_is_found(length):
    t = (np.arange(60) - 29.5) / 50.0
    way = np.stack([50.0 * t**2, 5.0 * t, 0.0 * t], axis=1)
    pair = way[:, None] + [[0.0, 0.0, 0.0], [0.0, 0.0, 0.03]]
    pair[28 : 28 + length] = pair[28 : 28 + length, ::-1]
    assert find_swaps(pair) == [Swap(0, 1, 28, 28 + length)]


def test_an_impact_is_no_spike():
    """A foot that falls at 2 m/s, stops in the ground within a frame and rolls on at 1 m/s: a change of velocity that stays."""
    t = np.arange(-20, 20) / 50.0
    foot = np.stack([np.where(t < 0, 3.0 * t, 1.0 * t), np.where(t < 0, -2.0 * t, 0.0), 0.0 * t], axis=1)[:, None]
    assert lengths(np.diff(foot, 2, axis=0)).max() > 0.04
    assert not find_spikes(foot).any()
    foot[10, 0] += [0.0, 0.03, 0.0]
    assert spike_runs(find_spikes(foot)) == [(0, 10, 11)]


# --- in real recordings ----------------------------------------------------------------------------------------------

REAL = {
    "cohort/HC030A/Straight/HC030A05.c3d": ([], []),
    "cohort/HC032A/Turn/HC032A18.c3d": ([], []),
    "walking_opensim/walking2.c3d": ([], []),
    "arm_box_task/markers_analogs.c3d": ([], []),
    "c3d_org/sample10/type-2a.c3d": ([], []),
    "c3d_org/sample01/Eb015pi.c3d": ([], [("RSK1", 153, 154)]),  # 4.5 cm away for a frame
    "tennis_serve/kinematics_tennis_serve.c3d": (
        [
            ("RELB", "RUPA", 195, 196),
            ("RFIN", "RWRA", 744, 745),
        ],  # both at a blow: the distances on the arm say so, too
        [("LWRA", 400, 401)],  # sits on LWRB for a frame, 1 mm apart instead of 94 mm
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_what_is_found_in_real_recordings_is_there_by_the_eye(recordings, name):
    recording = read_c3d(recordings / name)
    found = find_faults(recording.markers_m)
    names = [label.rpartition(":")[2] for label in recording.labels]
    swaps = [(names[s.first], names[s.second], s.start, s.stop) for s in found.swaps]
    spikes = [(names[m], start, stop) for m, start, stop in spike_runs(found.spikes)]
    assert (swaps, spikes) == REAL[name]


@pytest.mark.parametrize(
    ("name", "at_least"),
    [
        ("cohort/HC030A/Turn/HC030A22.c3d", 1.0),
        ("walking_opensim/walking2.c3d", 0.98),
        ("arm_box_task/markers_analogs.c3d", 1.0),
        ("tennis_serve/kinematics_tennis_serve.c3d", 0.94),  # a racket arm at 50 frames per second
    ],
)
def test_exchanges_of_pairs_drawn_by_lot_are_found_to_the_frame(recordings, name, at_least):
    """1 to 50 frames, markers 3 to 50 cm apart at both ends; benchmarks/labels.py has the rates by distance."""
    markers = read_c3d(recordings / name).markers_m
    usual = set(find_swaps(markers))
    rng = np.random.default_rng(7)
    found = others = made = 0
    while made < 60:
        length = int(rng.integers(1, 51))
        start = int(rng.integers(5, len(markers) - length - 5))
        present = np.flatnonzero(~missing_samples(markers[start - 5 : start + length + 5]).any(axis=0))
        if not present.size:
            continue
        i = int(rng.choice(present))
        apart = np.stack([lengths(markers[at, present] - markers[at, i]) for at in (start, start + length)])
        near = present[(apart.min(axis=0) >= 0.03) & (apart.min(axis=0) < 0.5)]
        if not near.size:
            continue
        j = int(rng.choice(near))
        wrong = markers.copy()
        wrong[start : start + length, [i, j]] = wrong[start : start + length, [j, i]]
        new = set(find_swaps(wrong)) - usual
        true = Swap(min(i, j), max(i, j), start, start + length)
        found, others, made = found + (true in new), others + len(new - {true}), made + 1
    assert found >= at_least * made
    assert others <= (1.0 - at_least) * 2 * made


def test_a_lower_rate_makes_no_exchanges_or_spikes_of_walking(recordings):
    """Children at 50 frames per second: their heels strike, no label is wrong."""
    for path in sorted(recordings.glob("cohort/*/[ST]*/*.c3d")):
        for start in (0, 1):
            found = find_faults(read_c3d(path).markers_m[start::2])
            assert found.swaps == ()
            assert not found.spikes.any()


# --- in a trial ------------------------------------------------------------------------------------------------------


def test_an_exchange_is_flagged_named_and_not_mended():
    recording = exchanged(KNUCKLE, ELBOW, 100, 107)
    found, flags = motion(recording)
    assert found.metrics["swapped_frames"] == 7.0
    assert "swapped_frames" in flags
    pair = " and ".join(sorted(("KNU", "ELBL"), key=LABELS.index))
    assert f"labels exchanged (markers, frames): {pair} 101-107" in found.notes
    assert "swapped_frames" not in motion(recording, quality__swapped_frames=7)[1]
    clean = motion(DEMO)[0]
    assert np.abs(found.joint_m - clean.joint_m)[100:107].max() > 0.05


def test_the_partner_may_be_a_marker_that_the_chain_does_not_need():
    spare = DEMO.markers_m[:, [KNUCKLE]] + np.array([0.0, 0.04, 0.0])
    both = np.concatenate([DEMO.markers_m, spare], axis=1)
    both[100:110, [KNUCKLE, -1]] = both[100:110, [-1, KNUCKLE]]
    found, flags = motion(replace(DEMO, markers_m=both, labels=(*LABELS, "spare")))
    assert found.metrics["swapped_frames"] == 10.0
    assert "swapped_frames" in flags
    two = np.concatenate([DEMO.markers_m, spare, spare + np.array([0.0, 0.1, 0.0])], axis=1)
    two[100:110, [-2, -1]] = two[100:110, [-1, -2]]
    found, flags = motion(replace(DEMO, markers_m=two, labels=(*LABELS, "spare", "other")))
    assert found.metrics["swapped_frames"] == 0.0
    assert "swapped_frames" not in flags
    assert not any("exchanged" in note for note in found.notes)


def test_spikes_are_flagged_or_on_request_filled():
    recording = spiked(KNUCKLE, 100, 102)
    found, flags = motion(recording)
    assert found.metrics["spike_frames"] == 2.0
    assert "spike_frames" in flags
    assert found.metrics["gap_share"] == 0.0
    assert "spikes (marker, frames): KNU 101-102" in found.notes
    mended, flags = motion(recording, gaps__spikes="fill")
    assert mended.metrics["spike_frames"] == 0.0
    assert "spike_frames" not in flags
    assert mended.metrics["gap_share"] == pytest.approx(2 / len(mended.frame))
    np.testing.assert_array_equal(np.flatnonzero(mended.filled), [100, 101])
    assert "spikes (marker, frames): KNU 101-102" in mended.notes
    assert "spikes are treated as missing (gaps.spikes)" in mended.notes
    clean = motion(DEMO)[0].joint_m
    assert np.abs(found.joint_m - clean).max() > 0.005
    assert np.abs(mended.joint_m - clean).max() < 0.001


def test_inspect_shows_the_faults_of_all_markers():
    assert describe(DEMO).endswith("no warnings")
    assert describe(spiked(WRIST, 50, 51)).endswith("warnings\n  - spikes (marker, frames): WRU 51")
    assert describe(exchanged(KNUCKLE, ELBOW, 100, 107)).endswith(" 101-107")


def test_a_helper_that_is_exchanged_does_not_fill_a_gap():
    """A wrist marker is missing for 10 frames; two helpers beside it are exchanged for 6 of them. Filled to 2 mm all the same."""
    rng = np.random.default_rng(4)
    wrist = 0.5 * (DEMO.markers_m[:, 3] + DEMO.markers_m[:, 4])
    along = DEMO.markers_m[:, 4] - DEMO.markers_m[:, 3]
    helpers = np.stack(
        [wrist + a * along + [0.0, 0.0, b] for a, b in ((3.0, 0.05), (-3.0, 0.06), (0.5, 0.2), (-1.0, -0.2))], axis=1
    )
    markers = np.concatenate([DEMO.markers_m, helpers + rng.normal(scale=1e-5, size=helpers.shape)], axis=1)
    n = DEMO.markers_m.shape[1]
    names = (*DEMO.labels, "H1", "H2", "H3", "H4")
    holed = markers.copy()
    holed[120:130, 3] = np.nan
    swapped = holed.copy()
    swapped[122:128, [n, n + 1]] = holed[122:128, [n + 1, n]]
    gaps = Gaps(method="principal_components", max_gap_s=0.3)
    found = fill_needed(replace(DEMO, labels=names, markers_m=swapped), [3], gaps)
    assert np.linalg.norm(found.markers_m[120:130, 0] - markers[120:130, 3], axis=1).max() < 2e-3

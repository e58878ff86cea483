"""Several movements in one recording, as `limbtorque init` proposes them."""

from itertools import pairwise

import numpy as np
import pytest
from proposed_study import rows
from scipy.signal import find_peaks

from c3d_files import write_c3d
from limbtorque.cli.init.init import init_study
from limbtorque.cli.init.survey import marker_movements
from limbtorque.recordings.read import read_recording

RATE_HZ = 100.0
ARM = {"CLO": (0.0, 1.4), "HUO": (0.05, 1.1), "RAO": (0.3, 1.1), "WRB": (0.3, 1.08), "FIN": (0.4, 1.1)}


def smooth_step(u):
    u = np.clip(u, 0.0, 1.0)
    return 10 * u**3 - 15 * u**4 + 6 * u**5


def arm_file(folder, hand_x, *, noise_m=0.0003, name="arm"):
    """A right arm with the names of Plug-in Gait's joint centres; forearm and hand go along x, the upper arm by half."""
    rng, across = np.random.default_rng(7), -0.2
    labels = [*(f"R{stem}" for stem in ARM), "RASI", "LASI", "SACR", "LFHD", "RHEE", "LHEE"]
    fixed = {"RASI": (0.1, -0.1, 0.9), "LASI": (0.1, 0.1, 0.9), "SACR": (-0.1, 0.0, 0.9), "LFHD": (0.0, 0.0, 1.7)}
    fixed |= {"RHEE": (0.0, -0.1, 0.05), "LHEE": (0.0, 0.1, 0.05)}
    markers = np.zeros((len(hand_x), len(labels), 3))
    for k, label in enumerate(labels):
        place = fixed.get(label) or (ARM[label[1:]][0], across, ARM[label[1:]][1])
        share = {"RCLO": 0.0, "RHUO": 0.5, "RRAO": 1.0, "RWRB": 1.0, "RFIN": 1.0}.get(label, 0.0)
        markers[:, k] = place
        markers[:, k, 0] += share * hand_x
    markers += noise_m * rng.standard_normal(markers.shape)
    folder.mkdir(exist_ok=True)
    write_c3d(
        folder / f"{name}.c3d", markers, labels=labels, rate_hz=RATE_HZ, groups={"PROCESSING": {"Bodymass": [70.0]}}
    )


def reaches(n, *, rest_s=1.5, lasting_s=0.8):
    """Reaches of 20 cm there and back in turn, each after a rest; times of their middle, s."""
    time_s = np.arange(round((n * (rest_s + lasting_s) + rest_s) * RATE_HZ)) / RATE_HZ
    starts = rest_s + np.arange(n) * (rest_s + lasting_s)
    ways = sum((-1) ** k * smooth_step((time_s - start) / lasting_s) for k, start in enumerate(starts))
    return 0.2 * ways, starts + 0.5 * lasting_s


def test_reaches_between_rests_are_rows(tmp_path):
    path, middles = reaches(4)
    arm_file(tmp_path / "data", path)
    proposal = init_study(tmp_path / "study", tmp_path / "data", chains=("arm",))
    found = rows(tmp_path / "study")
    assert [row["trial"] for row in found] == [f"arm_right_{k}" for k in (1, 2, 3, 4)]
    for row, middle in zip(found, middles, strict=True):
        start, end = float(row["start_s"]), float(row["end_s"])
        assert start < middle - 0.6
        assert end > middle + 0.6
    ends = [(float(row["start_s"]), float(row["end_s"])) for row in found]
    assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(ends))
    assert any("right arm: 4 movements between rests, one row each (start_s, end_s)" in note for note in proposal.notes)


def test_one_reach_stays_one_row(tmp_path):
    path, _ = reaches(1)
    arm_file(tmp_path / "data", path)
    init_study(tmp_path / "study", tmp_path / "data", chains=("arm",))
    (row,) = rows(tmp_path / "study")
    assert row["trial"] == "arm_right"
    assert "start_s" not in row


def spells_of(*tracks):
    """Movements of markers at 100 frames per second."""
    return [marker_movements(track, 100.0)[1] for track in tracks]


def test_spells_by_hand():
    """1 s of rest, 0.5 s at 1 m/s, 0.4 s of rest, 0.5 s at 0.5 m/s, 0.2 s of rest, 0.3 s at 0.5 m/s, rest; and a twitch."""
    speed = np.concatenate([np.repeat([0, 1, 0, 0.5, 0, 0.5, 0, 0.1, 0], [100, 50, 40, 50, 20, 30, 60, 20, 60])])
    track = np.zeros((len(speed) + 1, 3))
    track[1:, 0] = np.cumsum(speed) / 100.0
    still, gone = np.zeros_like(track), np.full_like(track, np.nan)
    other = track[::-1]  # each marker has its own rests
    found, nothing, unknown, back = spells_of(track, still, gone, other)
    np.testing.assert_allclose(found, [(1.0, 1.5), (1.9, 2.9)], atol=0.03)
    end = (len(track) - 1) / 100.0
    np.testing.assert_allclose(back, [(end - 2.9, end - 1.9), (end - 1.5, end - 1.0)], atol=0.03)
    assert nothing == unknown == ()


def test_fast_movements_are_movements_and_noise_at_rest_is_none():
    """Movements of 0.2 s, 1 s apart; in between a sample of noise every 0.15 s."""
    speed = np.zeros(500)
    for start in (100, 220, 340):
        speed[start : start + 20] = 1.0
    rest = np.arange(500) % 15 == 0
    speed[rest & (speed == 0.0)] = 0.3
    track = np.zeros((501, 3))
    track[1:, 1] = np.cumsum(speed) / 100.0
    (found,) = spells_of(track)
    np.testing.assert_allclose([start for start, _ in found], [1.0, 2.2, 3.4], atol=0.05)


@pytest.mark.parametrize("track", [np.zeros((50, 3)), np.full((50, 3), np.nan)])
def test_nothing_moves(track):
    assert spells_of(track) == [()]


def test_the_ends_of_a_marker_are_compared_with_its_fastest_movement():
    """Half a sine from rest to rest, then the same while moving at the end; a marker that comes and goes."""
    time = np.arange(101) / 100.0
    rest, moving = 0.5 * (1.0 - np.cos(np.pi * time)), 0.5 * (1.0 - np.cos(0.5 * np.pi * time))
    gone = np.where((time < 0.2) | (time > 0.8), np.nan, rest)
    # middle of the first and last 0.04 s, in half periods
    for path, phases in ((rest, (0.02, 0.98)), (moving, (0.01, 0.49)), (gone, (0.22, 0.78))):
        ends, _ = marker_movements(path[:, None] * [1.0, 0.0, 0.0], 100.0)
        assert ends == pytest.approx(np.sin(np.pi * np.array(phases)), abs=0.01)


def test_the_serves_of_a_recording_are_rows(recordings, tmp_path):
    """As many as the times at which the hand is faster than half of its peak speed, a second apart."""
    init_study(tmp_path / "study", recordings / "tennis_serve", chains=("arm",))
    arms = [row for row in rows(tmp_path / "study") if row["side"] == "right" and row["subject"] == "Derrick"]
    serve = read_recording(recordings / "tennis_serve" / "kinematics_tennis_serve.c3d")
    (hand,) = (k for k, label in enumerate(serve.labels) if label.rpartition(":")[2] == "RFIN")
    track = serve.markers_m[:, hand]
    speed = np.linalg.norm(track[4:] - track[:-4], axis=1)
    peaks, _ = find_peaks(np.nan_to_num(speed), height=0.5 * np.nanmax(speed), distance=round(serve.rate_hz))
    assert len(arms) == len(peaks)
    for row, peak in zip(arms, (peaks + 2) / serve.rate_hz, strict=True):
        assert float(row["start_s"]) < peak < float(row["end_s"])

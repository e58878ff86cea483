"""Copies of a movement among recordings, and movements that are only alike."""

import numpy as np
from proposed_study import rows

from c3d_files import write_c3d
from limbtorque.cli.init.init import init_study
from limbtorque.cli.init.pairs import copies_of
from limbtorque.cli.init.survey import look_at
from limbtorque.recordings.read import read_recording
from text_files import write_trc

RATE_HZ = 100.0
LABELS = ["LFHD", *(side + name for side in "RL" for name in ("FEP", "FEO", "TIO", "ANK", "TOE", "HEE"))]
HEIGHT_M = {"LFHD": 1.7, "FEP": 0.9, "FEO": 0.5, "TIO": 0.1, "ANK": 0.1, "TOE": 0.03, "HEE": 0.05}
SWING_M = {"FEP": 0.02, "FEO": 0.15, "TIO": 0.3, "ANK": 0.3, "TOE": 0.35, "HEE": 0.35}


def walk(n=401, *, seed=1, noise_m=3e-4, stride_s=1.1, jitter_s=0.0, sway_m=0.0):
    """A walk along x at 1 m/s, z up; with jitter each stride lasts a little longer or shorter, and reaches by other widths."""
    rng = np.random.default_rng(seed)
    time_s = np.arange(n) / RATE_HZ
    phase = 2.0 * np.pi * time_s / stride_s
    for start in np.arange(0.0, time_s[-1], stride_s):
        phase += rng.normal(scale=jitter_s) * 2.0 * np.pi / stride_s * np.clip((time_s - start) / stride_s, 0.0, 1.0)
    width = 1.0 + np.interp(
        time_s, np.arange(0.0, time_s[-1] + 1.0), rng.normal(scale=sway_m, size=int(time_s[-1]) + 1)
    )
    xyz = rng.normal(scale=noise_m, size=(n, len(LABELS), 3))
    for k, label in enumerate(LABELS):
        stem, half = label[1:], np.pi * (label[0] == "R")
        swing = SWING_M.get(stem, 0.0) * width
        xyz[:, k, 0] += time_s + swing * np.sin(phase + half) + 0.15 * (stem == "TOE")
        xyz[:, k, 1] += 0.1 * (1 - 2 * (label[0] == "R"))
        xyz[:, k, 2] += HEIGHT_M.get(label, HEIGHT_M.get(stem)) + 0.3 * swing * (1.0 + np.cos(phase + half))
    return xyz


def copies(tmp_path, files, *, labels=None):
    """Kept copy by name, of recordings that are written as C3D files."""
    found = []
    for name, xyz in files.items():
        path = tmp_path / f"{name}.c3d"
        write_c3d(path, xyz, labels=(labels or {}).get(name, LABELS), rate_hz=RATE_HZ)
        found.append(look_at(read_recording(path), path=path, name=name))
    return {name: sentence for (name, _), sentence in copies_of(found).items()}


def test_a_copy_with_a_subject_prefix(tmp_path):
    raw = walk(jitter_s=0.02, sway_m=0.05)
    found = copies(tmp_path, {"named": raw, "raw": raw}, labels={"named": [f"Ann:{label}" for label in LABELS]})
    assert sorted(bool(sentence) for sentence in found.values()) == [False, True]


def test_walks_of_one_person_are_no_copies(tmp_path):
    """Strides that vary by 20 ms and 3 % in width, as those of a treadmill do; also two parts of one recording."""
    files = {f"w{seed}": walk(seed=seed, jitter_s=0.02, sway_m=0.03) for seed in range(1, 5)}
    whole = walk(n=1601, seed=99, jitter_s=0.02, sway_m=0.03)
    files |= {f"part{k}": whole[k * 400 : (k + 1) * 400] for k in range(4)}
    assert set(copies(tmp_path, files).values()) == {""}


def test_every_recorded_movement_is_kept_once(recordings):
    """Straight walks and turns of three children."""
    found = []
    for path in sorted((recordings / "cohort").rglob("*.c3d")):
        found.append(look_at(read_recording(path), path=path, name=path.stem))
    moving = [one for one in found if not one.still]
    assert len(moving) == 6
    assert set(copies_of(moving).values()) == {""}


def test_of_copies_with_fewer_frames_or_digits_the_whole_one_is_kept(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    raw = walk(n=201, jitter_s=0.02)
    write_trc(data / "a_rounded.trc", np.round(raw[:-1], 3), unit="m", labels=LABELS)
    write_trc(data / "walk.trc", raw, unit="m", labels=LABELS)
    write_trc(data / "b_half.trc", raw[::2], unit="m", labels=LABELS, rate_hz=50.0)
    write_trc(data / "other.trc", walk(n=201, seed=2, jitter_s=0.02), unit="m", labels=LABELS)
    proposal = init_study(tmp_path / "study", data)
    left = {trial["file"]: trial.left_out for trial in proposal.trials if trial.left_out}
    assert left == {f"../data/{name}.trc": "same movement as walk.trc" for name in ("a_rounded", "b_half")}
    assert {row["file"] for row in rows(tmp_path / "study")} == {"../data/walk.trc", "../data/other.trc"}

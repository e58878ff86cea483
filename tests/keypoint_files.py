"""Keypoint JSON for tests, as networks and trackers write it, with numbers that a formula gives."""

import json
from pathlib import Path

import numpy as np

BODY_25 = (  # OpenPose's documentation, by hand
    *("Nose", "Neck", "RShoulder", "RElbow", "RWrist", "LShoulder", "LElbow", "LWrist", "MidHip", "RHip", "RKnee"),
    *("RAnkle", "LHip", "LKnee", "LAnkle", "REye", "LEye", "REar", "LEar", "LBigToe", "LSmallToe", "LHeel", "RBigToe"),
    *("RSmallToe", "RHeel"),
)
HEIGHTS_M = {"Nose": 1.6, "Eye": 1.65, "Ear": 1.63, "Neck": 1.45, "Shoulder": 1.42, "Elbow": 1.1, "Wrist": 0.85}
HEIGHTS_M |= {"MidHip": 0.92, "Hip": 0.9, "Knee": 0.5, "Ankle": 0.1, "BigToe": 0.02, "SmallToe": 0.02, "Heel": 0.03}
SCALE_M = 0.004  # a pixel
FLOOR_PX = 900.0


def walker(n=61, *, start_m=0.5, speed_m_s=1.0, rate_hz=30.0, labels=BODY_25):
    """A person from one side in metres, shape (n, n_labels, 2): x forward, y up; feet and hands swing."""
    time = np.arange(n) / rate_hz
    xy = np.zeros((n, len(labels), 2))
    for k, label in enumerate(labels):
        part = label[1:] if label[0] in "RL" and label not in HEIGHTS_M else label
        phase = np.pi if label[0] == "L" else 0.0
        swing = 0.25 * (1.0 - HEIGHTS_M[part] / 1.7) * np.sin(2.0 * np.pi * time + phase)
        toe = 0.2 * np.sign(speed_m_s) * ("Toe" in part)
        xy[:, k, 0] = start_m + speed_m_s * time + swing + toe
        xy[:, k, 1] = HEIGHTS_M[part] + 0.02 * np.cos(4.0 * np.pi * time + k)
    return xy


def pixels(xy_m):
    """Pixels of metres: y counts downwards."""
    return np.stack([xy_m[..., 0] / SCALE_M, FLOOR_PX - xy_m[..., 1] / SCALE_M], axis=-1)


def flat(points, confidence=0.9):
    """Numbers of one person: coordinates and confidence in turns."""
    confidence = np.broadcast_to(confidence, points.shape[:1])
    return np.column_stack([points, confidence]).round(6).ravel().tolist()


def person(points, confidence=0.9):
    """One of OpenPose's people, in two or three dimensions."""
    three = points.shape[1] == 3
    numbers = {"pose_keypoints_2d": [], "pose_keypoints_3d": []}
    return {"person_id": [-1], **numbers, f"pose_keypoints_{3 if three else 2}d": flat(points, confidence)}


def write_frames(folder: Path, frames, *, name="walk_{:012d}_keypoints.json", first=0) -> Path:
    """One file for each frame, of lists of people; the first file."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / name.format(first + k) for k in range(len(frames))]
    for path, people in zip(paths, frames, strict=True):
        path.write_text(json.dumps({"version": 1.3, "people": people}), encoding="utf-8")
    return paths[0]


def write_json(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def write_named(path: Path) -> Path:
    """Keypoints in space with names, unit and rate, a line for each."""
    xyz = np.concatenate([1e3 * walker(12), np.full((12, len(BODY_25), 1), 200.0)], axis=2).round(3)
    tracks = ",\n".join(f'"{name}": {xyz[:, k].tolist()}' for k, name in enumerate(BODY_25))
    path.write_text(f'{{"unit": "mm", "rate_hz": 30, "keypoints": {{\n{tracks}\n}}}}\n', encoding="utf-8")
    return path

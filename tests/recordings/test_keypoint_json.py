"""Keypoints as JSON: frames, names, scales, confidences, people, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from keypoint_files import BODY_25, FLOOR_PX, SCALE_M, flat, person, pixels, walker, write_frames, write_json

from limbtorque.errors import ReadError
from limbtorque.recordings.keypoints.document import LAYOUTS, SIZES
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording

PIXELS = ReadOptions(rate_hz=30.0, metres_per_pixel=SCALE_M)
METRES = ReadOptions(rate_hz=30.0, length_unit="m")
ROUNDING_M = 1e-6  # the files hold six decimals


def in_picture(xy_m):
    """Positions that a reader gives: x, y up from the picture's upper edge, 0."""
    return np.concatenate([xy_m - [0.0, FLOOR_PX * SCALE_M], np.zeros((*xy_m.shape[:-1], 1))], axis=-1)


# --- one recording ----------------------------------------------------------------------------------------------------


def test_a_folder_of_frames_is_one_recording_in_metres(tmp_path):
    xy = walker()
    first = write_frames(tmp_path, [[person(one)] for one in pixels(xy)], first=7)
    read = read_recording(first, PIXELS)
    assert read.labels == BODY_25
    assert (read.n_frames, read.rate_hz, read.first_frame) == (61, 30.0, 7)
    np.testing.assert_allclose(read.markers_m, in_picture(xy), atol=ROUNDING_M)
    other = read_recording(tmp_path / "walk_000000000050_keypoints.json", PIXELS)
    assert other.sha256 == read.sha256
    np.testing.assert_array_equal(other.markers_m, read.markers_m)


def test_the_hash_is_of_all_frames(tmp_path):
    first = write_frames(tmp_path, [[person(one)] for one in pixels(walker())])
    before = read_recording(first, PIXELS).sha256
    path = tmp_path / "walk_000000000030_keypoints.json"
    path.write_text(path.read_text().replace("0.9", "0.8"))
    assert read_recording(first, PIXELS).sha256 != before


def test_frames_of_two_cameras_in_one_folder_are_two_recordings(tmp_path):
    a, b = walker(), walker(31)
    one = write_frames(tmp_path, [[person(x)] for x in pixels(a)], name="cam1_2d_{:05d}.json")
    two = write_frames(tmp_path, [[person(x)] for x in pixels(b)], name="cam2_2d_{:05d}.json")
    assert [read_recording(path, PIXELS).n_frames for path in (one, two)] == [61, 31]


def test_positions_in_space_are_in_the_stated_unit(tmp_path):
    xyz = np.concatenate([walker(), 0.1 * np.ones((61, 25, 1))], axis=2)
    first = write_frames(tmp_path / "mm", [[person(1e3 * one)] for one in xyz])
    read = read_recording(first, ReadOptions(rate_hz=30.0, length_unit="mm"))
    np.testing.assert_allclose(read.markers_m, xyz, atol=ROUNDING_M)
    with pytest.raises(ReadError, match=r"reading\.length_unit"):
        read_recording(first, ReadOptions(rate_hz=30.0))


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "layout", "places"),
    [  # index and name, from the documentation of each
        (25, None, {8: "MidHip", 10: "RKnee", 14: "LAnkle", 19: "LBigToe", 24: "RHeel"}),
        (25, "body_25b", {11: "LHip", 14: "RKnee", 17: "UpperNeck", 21: "LHeel", 24: "RHeel"}),
        (17, None, {5: "LShoulder", 12: "RHip", 16: "RAnkle"}),
        (18, None, {1: "Neck", 8: "RHip", 13: "LAnkle", 17: "LEar"}),
        (26, None, {13: "LKnee", 17: "Head", 19: "Hip", 20: "LBigToe", 21: "RBigToe", 24: "LHeel", 25: "RHeel"}),
        (136, None, {12: "RHip", 25: "RHeel"}),
        (133, None, {16: "RAnkle", 17: "LBigToe", 19: "LHeel", 22: "RHeel"}),
        (33, None, {0: "nose", 11: "left_shoulder", 24: "right_hip", 29: "left_heel", 32: "right_foot_index"}),
    ],
)
def test_keypoints_have_the_names_of_their_network(tmp_path, size, layout, places):
    points = np.column_stack([100.0 + 7.0 * np.arange(size), 300.0 + 11.0 * np.arange(size)])
    first = write_frames(tmp_path, [[person(points + k)] for k in range(3)])
    read = read_recording(first, ReadOptions(rate_hz=30.0, metres_per_pixel=0.01, keypoints=layout))
    for index, name in places.items():
        found = read.markers_m[0, read.labels.index(name), :2]
        np.testing.assert_allclose(found, [0.01, -0.01] * points[index], atol=1e-9)
    assert len(read.labels) == len(LAYOUTS[layout or SIZES[size]])


def test_a_number_of_keypoints_that_no_network_has_is_refused(tmp_path):
    first = write_frames(tmp_path, [[person(np.ones((15, 2)) * 300.0)]] * 3)
    with pytest.raises(ReadError, match="15 keypoints without names, expected 17, 18, 25, 26, 33, 133, 136"):
        read_recording(first, PIXELS)
    first = write_frames(tmp_path / "b", [[person(one)] for one in pixels(walker())])
    with pytest.raises(ReadError, match=r"25 keypoints, halpe_26 \(reading\.keypoints\) has 26"):
        read_recording(first, ReadOptions(rate_hz=30.0, metres_per_pixel=0.01, keypoints="halpe_26"))


# --- scale ------------------------------------------------------------------------------------------------------------


def test_a_known_length_gives_the_scale(tmp_path):
    xy = walker()
    first = write_frames(tmp_path, [[person(one)] for one in pixels(xy)])
    hip, knee = (xy[:, BODY_25.index(name)] for name in ("RHip", "RKnee"))
    thigh_m = float(np.median(np.linalg.norm(hip - knee, axis=1)))
    options = ReadOptions(rate_hz=30.0, known_length_m=thigh_m, known_length_between=("RHip", "RKnee"))
    read = read_recording(first, options)
    np.testing.assert_allclose(read.markers_m, in_picture(xy), rtol=1e-5, atol=1e-5)
    (scale,) = [finding for finding in read.audit.findings if finding.item == "scale"]
    assert "0.004 m a pixel" in scale.interpretation
    assert not scale.guessed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, r"pixels of one camera, without a scale; give reading\.metres_per_pixel, or a length in the plane"),
        ({"known_length_m": 0.4}, r"reading\.known_length_between, such as RKnee,RAnkle"),
        ({"known_length_m": 0.4, "metres_per_pixel": 0.01}, "both given; keep one"),
        ({"known_length_m": 0.4, "known_length_between": ("RKnee", "RTail")}, r"names 'RTail'; expected one of Nose"),
        ({"metres_per_pixel": 1.0}, "implausible for a human body"),
    ],
)
def test_pixels_without_a_usable_scale_are_refused(tmp_path, options, said):
    first = write_frames(tmp_path, [[person(one)] for one in pixels(walker())])
    with pytest.raises(ReadError, match=said) as error:
        read_recording(first, ReadOptions(rate_hz=30.0, **options))
    assert str(error.value).startswith(first.name)


def test_fractions_of_the_picture_are_no_pixels(tmp_path):
    first = write_frames(tmp_path, [[person(one / 1000.0)] for one in pixels(walker())])
    with pytest.raises(ReadError, match="fractions of the picture, expected pixels"):
        read_recording(first, PIXELS)


# --- rate, confidence -------------------------------------------------------------------------------------------------


def test_a_rate_is_needed_and_may_be_in_the_file(tmp_path):
    xy = pixels(walker())
    first = write_frames(tmp_path, [[person(one)] for one in xy])
    with pytest.raises(
        ReadError, match=r"without a rate; give the frames per second of the video with reading\.rate_hz"
    ):
        read_recording(first, ReadOptions(metres_per_pixel=SCALE_M))
    single = write_json(tmp_path / "all.json", {"fps": 60, "frames": [{"people": [person(one)]} for one in xy]})
    assert read_recording(single, ReadOptions(metres_per_pixel=SCALE_M)).rate_hz == 60.0
    with pytest.raises(ReadError, match=r"the rate in the file is 60 frames per second, reading\.rate_hz is 30"):
        read_recording(single, PIXELS)


def test_keypoints_with_a_low_confidence_are_gaps(tmp_path):
    xy = walker()
    confidence = np.full((61, 25), 0.9)
    confidence[10:15, 10] = 0.29  # the right knee
    confidence[20, 10] = 0.0
    confidence[:, 3] = 0.4
    frames = [[person(p, c)] for p, c in zip(pixels(xy), confidence, strict=True)]
    read = read_recording(write_frames(tmp_path, frames), PIXELS)
    gone = np.isnan(read.markers_m).all(axis=2)
    assert np.flatnonzero(gone[:, 10]).tolist() == [10, 11, 12, 13, 14, 20]
    assert gone.sum() == 6
    assert any("low median confidence" in note and "RElbow 0.40" in note for note in read.notes)
    strict = ReadOptions(rate_hz=30.0, metres_per_pixel=SCALE_M, min_confidence=0.5)
    assert np.isnan(read_recording(tmp_path / "walk_000000000000_keypoints.json", strict).markers_m[:, 3]).all()


def test_frames_with_nobody_and_frames_without_a_file_are_gaps(tmp_path):
    frames = [[person(one)] for one in pixels(walker())]
    frames[5] = []
    first = write_frames(tmp_path, frames)
    (tmp_path / "walk_000000000040_keypoints.json").unlink()
    read = read_recording(first, PIXELS)
    assert read.n_frames == 61
    assert np.flatnonzero(np.isnan(read.markers_m).all(axis=(1, 2))).tolist() == [5, 40]
    for k in range(3, 50):
        (tmp_path / f"walk_{k:012d}_keypoints.json").unlink(missing_ok=True)
    with pytest.raises(ReadError, match="47 are missing; frames must be consecutive"):
        read_recording(first, PIXELS)


def test_every_fifth_picture_is_a_frame(tmp_path):
    frames = [[person(one)] for one in pixels(walker())]
    first = write_frames(tmp_path, frames)
    for k in range(61):
        if k % 5:
            (tmp_path / f"walk_{k:012d}_keypoints.json").unlink()
    assert read_recording(first, PIXELS).n_frames == 13


# --- people -----------------------------------------------------------------------------------------------------------


def test_two_people_who_pass_each_other_keep_their_names(tmp_path):
    a, b = walker(), walker(start_m=4.5, speed_m_s=-1.0)
    b[..., 1] += 0.6  # the farther one is higher in the picture
    rng = np.random.default_rng(4)
    frames = []
    for one, other in zip(pixels(a), pixels(b), strict=True):
        people = [person(one), person(other)]
        frames.append(people if rng.random() < 0.5 or not frames else people[::-1])
    frames[30].append(person(pixels(a)[0] - 90.0))  # a false detection
    read = read_recording(write_frames(tmp_path, frames), PIXELS)
    assert read.labels == tuple(f"person_{k}:{name}" for k in (1, 2) for name in BODY_25)
    np.testing.assert_allclose(read.markers_m, in_picture(np.concatenate([a, b], axis=1)), atol=ROUNDING_M)
    people = [finding for finding in read.audit.findings if finding.item == "people"]
    assert people[0].guessed
    assert "1 more, in under a fifth" in people[1].stated


def test_identities_in_the_file_go_before_places(tmp_path):
    a, b = pixels(walker()), pixels(walker(start_m=1.0))
    rows = []
    for k in range(61):  # AlphaPose with tracking: the first one's identity is 7; picture 30 has nobody
        for points, idx in ((a[k], 7), (b[k], 2)) if k % 2 else ((b[k], 2), (a[k], 7)):
            if k != 30:
                row = {"image_id": f"{k}.jpg", "category_id": 1, "keypoints": flat(points), "score": 2.5, "idx": idx}
                rows.append(row)
    read = read_recording(write_json(tmp_path / "alphapose-results.json", rows), PIXELS)
    assert read.n_frames == 61
    first = in_picture(walker(start_m=1.0))[:, 0]
    np.testing.assert_allclose(np.delete(read.markers_m[:, 0], 30, 0), np.delete(first, 30, 0), atol=ROUNDING_M)
    assert np.isnan(read.markers_m[30]).all()
    assert not any(finding.guessed for finding in read.audit.findings if finding.item == "people")


# --- one file ---------------------------------------------------------------------------------------------------------


def single_files():
    xy = walker()
    px = pixels(xy)
    xyz = np.concatenate([xy, np.full((61, 25, 1), 0.2)], axis=2)
    scores = [0.9] * 25
    mm = (1e3 * xyz).round(6)
    return {
        "a list of frames": ([{"people": [person(one)]} for one in px], PIXELS, False),
        "MMPose": (
            {
                "meta_info": {"dataset_name": "x"},
                "instance_info": [
                    {"frame_id": k + 1, "instances": [{"keypoints": one.tolist(), "keypoint_scores": scores}]}
                    for k, one in enumerate(px)
                ],
            },
            PIXELS,
            False,
        ),
        "named tracks": (
            {"unit": "mm", "rate_hz": 30, "keypoints": {n: mm[:, k].tolist() for k, n in enumerate(BODY_25)}},
            ReadOptions(),
            True,
        ),
        "named frames": (
            {
                "units": "mm",
                "fps": 30,
                "frames": [{"frame": i, **{n: mm[i, k].tolist() for k, n in enumerate(BODY_25)}} for i in range(61)],
            },
            ReadOptions(),
            True,
        ),
        "names beside the frames": (
            {"labels": list(BODY_25), "frames": [{"keypoints": one.tolist()} for one in xyz.round(9)]},
            METRES,
            True,
        ),
    }


@pytest.mark.parametrize("style", single_files())
def test_keypoints_in_one_file(tmp_path, style):
    content, options, in_space = single_files()[style]
    read = read_recording(write_json(tmp_path / "walk.json", content), options)
    assert (read.labels, read.rate_hz, read.n_frames) == (BODY_25, 30.0, 61)
    xy = walker()
    expected = np.concatenate([xy, np.full((61, 25, 1), 0.2)], axis=2) if in_space else in_picture(xy)
    np.testing.assert_allclose(read.markers_m, expected, atol=ROUNDING_M)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ('{"people": [{"pose_keypoints_2d": [1, 2', "invalid JSON"),
        ('{"people": 3}', "the people of a frame are int, expected a list"),
        ('{"people": [7]}', "a person is int"),
        ('{"people": [{"pose_keypoints_2d": [1, 2, 3, 4]}]}', "4 numbers of keypoints, expected 3 for each"),
        ('{"people": [{"pose_keypoints_2d": ["a", "b", "c"]}]}', "keypoints are not numbers"),
        ('{"people": [{"pose_keypoints_2d": {"a": [[1]]}}]}', "keypoints"),
        ('{"people": []}', "nobody is visible in any of the 1 frames"),
        ('{"keypoints": 1, "frames": []}', "nobody is visible in any of the 0 frames"),
        ('{"title": "settings"}', "of unknown format"),
        ('{"keypoints": ' + "[" * 100_000, "not JSON|invalid JSON"),
    ],
)
def test_faults_of_json_are_named(tmp_path, text, said):
    path = tmp_path / "walk.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReadError, match=said) as error:
        read_recording(path, PIXELS)
    assert str(error.value).startswith("walk.json")


def test_two_files_of_one_frame_and_a_damaged_frame_are_named(tmp_path):
    first = write_frames(tmp_path, [[person(one)] for one in pixels(walker())])
    twice = tmp_path / "walk_05_keypoints.json"
    twice.write_bytes(first.read_bytes())
    with pytest.raises(ReadError, match="another file also has frame 5"):
        read_recording(first, PIXELS)
    twice.unlink()
    damaged = tmp_path / "walk_000000000033_keypoints.json"
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.raises(ReadError, match=r"walk_000000000033_keypoints\.json line 1: invalid JSON"):
        read_recording(first, PIXELS)


def test_frames_that_are_still_written_are_refused(tmp_path, monkeypatch):
    first = write_frames(tmp_path, [[person(one)] for one in pixels(walker())])
    read = Path.read_bytes

    def slowly(self):
        raw = read(self)
        (tmp_path / "walk_000000000061_keypoints.json").write_bytes(raw)  # the network goes on
        return raw

    monkeypatch.setattr(Path, "read_bytes", slowly)
    with pytest.raises(ReadError, match=r"changed during reading \(61 files, then 62\)"):
        read_recording(first, PIXELS)

"""People and frames of keypoint JSON, and the keypoints of networks.

Names of keypoints in the order of the pose estimation networks: OpenPose, "Output" (BODY_25, BODY_25B, COCO); COCO, keypoint
detection; Halpe-FullBody (Fang et al.); COCO-WholeBody (Jin et al. 2020); MediaPipe Pose (BlazePose). The spelling is that of
Pose2Sim.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from limbtorque.arrays import FloatArray
from limbtorque.errors import ReadError
from limbtorque.recordings.source import LENGTHS_M, Source, plain_unit

Names = tuple[str, ...]
FRAMES = ("frames", "instance_info", "annotations", "predictions", "data")
PEOPLE = ("people", "instances", "bodies", "persons")
POINTS_3D = ("pose_keypoints_3d", "keypoints_3d", "keypoints3d", "body_keypoints_3d")
POINTS = ("pose_keypoints_2d", "keypoints", "keypoints_2d", "pose_keypoints", "joints", "markers", "points")
NUMBER = ("frame_id", "frame", "frame_number", "image_id")
IDENTITY = ("person_id", "track_id", "idx")
UNIT = ("unit", "units", "length_unit")
RATE = ("rate_hz", "fps", "rate", "frame_rate", "framerate")
LABELS = ("labels", "keypoint_names", "names")
MAX_KEYPOINTS = 1000
PART_BYTES, COMMA_BYTES = 100, 40  # of memory for a list or mapping, and for what a comma parts
_KEYPOINTS = re.compile(
    rb'"(?:people|bodies|instance_info|\w*keypoints\w*|joints|markers|[^"\n]{0,30}(?:hip|knee|ankle|elbow|wrist))"\s*:',
    re.IGNORECASE,
)
_COCO = (
    """Nose LEye REye LEar REar LShoulder RShoulder LElbow RElbow LWrist RWrist LHip RHip LKnee RKnee LAnkle RAnkle"""
)
_UPPER = "Nose Neck RShoulder RElbow RWrist LShoulder LElbow LWrist"
_LEGS, _EYES = "RHip RKnee RAnkle LHip LKnee LAnkle", "REye LEye REar LEar"
_FEET = "LBigToe LSmallToe LHeel RBigToe RSmallToe RHeel"
_HALPE = f"{_COCO} Head Neck Hip LBigToe RBigToe LSmallToe RSmallToe LHeel RHeel"
_MEDIAPIPE = """nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye right_eye_outer left_ear right_ear
mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist left_pinky right_pinky
left_index right_index left_thumb right_thumb left_hip right_hip left_knee right_knee left_ankle right_ankle left_heel
right_heel left_foot_index right_foot_index"""
_LAYOUTS = {  # layout: number of keypoints, names; where these are fewer, the others are of face and hands
    "body_25": (25, f"{_UPPER} MidHip {_LEGS} {_EYES} {_FEET}"),
    "body_25b": (25, f"{_COCO} UpperNeck HeadTop {_FEET}"),
    "coco_17": (17, _COCO),
    "coco_18": (18, f"{_UPPER} {_LEGS} {_EYES}"),
    "coco_133": (133, f"{_COCO} {_FEET}"),
    "halpe_26": (26, _HALPE),
    "halpe_136": (136, _HALPE),
    "mediapipe_33": (33, _MEDIAPIPE),
}
LAYOUTS: dict[str, Names] = {layout: tuple(names.split()) for layout, (_, names) in _LAYOUTS.items()}
SIZES = {size: layout for layout, (size, _) in reversed(_LAYOUTS.items())}  # of two layouts the first


@dataclass(frozen=True)
class Person:
    """A person in one frame.

    Attributes
    ----------
    labels : tuple of str
        Names of the keypoints.
    points : ndarray of shape (n_keypoints, 4)
        x, y, z and confidence; z is NaN for two dimensions, confidence 1 where none is stated.
    identity : str
        Identity that a tracker gave; empty without one.
    """

    labels: Names
    points: FloatArray
    identity: str = ""


@dataclass(frozen=True)
class Frames:
    """People of all frames, and the statements of the file.

    Attributes
    ----------
    people : dict of int to list of Person
        By the number of the frame.
    unit, rate_hz : str and float, or None
        As the file states them.
    """

    people: dict[int, list[Person]] = field(default_factory=dict)
    unit: str | None = None
    rate_hz: float | None = None


@dataclass(frozen=True)
class Manner:
    """Options for reading keypoints.

    Attributes
    ----------
    source : Source
        The file; its option ``keypoints`` names the layout, else the number of keypoints does.
    labels : tuple of str
        Names that the file states.
    in_space : bool
        Three numbers of a keypoint are x, y, z; else x, y and the confidence.
    """

    source: Source
    labels: Names = ()
    in_space: bool = False

    def fault(self, sentence: str) -> ReadError:
        """Error about the keypoints."""
        return self.source.error(f"{sentence}; export the keypoints again (docs/keypoints.md)")


def is_keypoints(head: bytes) -> bool:
    """Return True for JSON with keypoints, by its first bytes."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") and bool(_KEYPOINTS.search(head))


def parsed(raw: bytes, source: Source) -> Any:
    """Parsed JSON.

    Raises
    ------
    ReadError
        It is damaged, truncated, nested too deep, or of more parts than a recording has.
    """
    if not raw.strip():
        raise source.error(f"the file is empty ({len(raw)} bytes); export or copy it again")
    n_parts = raw.count(b"[") + raw.count(b"{")
    source.refuse_larger(PART_BYTES * n_parts + COMMA_BYTES * raw.count(b",") + 3 * len(raw))
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ReadError(
            f"{source.name} line {error.lineno}: invalid JSON: {error.msg} at column {error.colno}; it is damaged or "
            "truncated, export it again"
        ) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise source.error(f"not JSON of keypoints ({type(error).__name__}); export it again") from None


def frame_of(content: Any, manner: Manner) -> list[Person]:
    """People of a frame, from a list of people or one person's keypoints."""
    if not isinstance(content, Mapping):
        raise manner.fault(f"a frame is {type(content).__name__}, expected a list of people")
    people = _first(content, PEOPLE)
    if people is None:
        people = [content]
    if not isinstance(people, list):
        raise manner.fault(f"the people of a frame are {type(people).__name__}, expected a list")
    persons = (_person(content, manner) for content in people)
    return [person for person in persons if person is not None]


def frames_of(content: Any, source: Source) -> Frames:
    """Frames of a file that has all of them.

    Parameters
    ----------
    content : Any
        Contents of the JSON.
    source : Source
        The file. Where its options state a unit of length, three numbers of a keypoint are x, y, z.

    Raises
    ------
    ReadError
        It has no frames with keypoints.
    """
    head = content if isinstance(content, Mapping) else {}
    unit, rate = (_first(head, keys) for keys in (UNIT, RATE))
    rate_hz = float(rate) if isinstance(rate, int | float) and not isinstance(rate, bool) and 0 < rate < 1e6 else None
    unit = unit if isinstance(unit, str) else None
    in_space = source.options.length_unit is not None or plain_unit(unit or "") in LENGTHS_M
    # names of the keypoints beside the frames, or in COCO's categories
    categories = head.get("categories")
    places = [head, *(categories if isinstance(categories, list) else [])]
    lists = (place.get(key) for place in places if isinstance(place, Mapping) for key in (*LABELS, *POINTS))
    labels = next(
        (_texts(names) for names in lists if isinstance(names, list) and names and isinstance(names[0], str)), ()
    )
    manner = Manner(source, labels, in_space)
    people: dict[int, list[Person]] = {}
    for number, row in enumerate(_rows(content, manner)):
        stated = _first(row, NUMBER) if isinstance(row, Mapping) else None  # or the last one in its picture's name
        digits = re.findall(r"\d+", str(stated)) if isinstance(stated, str | int) else []
        people.setdefault(int(digits[-1][-15:]) if digits else number, []).extend(frame_of(row, manner))
    return Frames(people, unit, rate_hz)


def _rows(content: Any, manner: Manner) -> Sequence[Any]:
    """Frames, or people with frame numbers, in file order."""
    if isinstance(content, list):
        return content
    if isinstance(content, Mapping):
        rows = _first(content, FRAMES)
        if isinstance(rows, list):
            return rows
        columns = _first(content, (*POINTS_3D, *POINTS)) or {key: x for key, x in content.items() if _is_track(x)}
        if isinstance(columns, Mapping) and columns and all(_is_track(track) for track in columns.values()):
            lengths = {len(track) for track in columns.values()}
            if len(lengths) > 1:
                raise manner.fault(
                    f"keypoints have {min(lengths)} to {max(lengths)} frames, expected one number for all"
                )
            rows = zip(*columns.values(), strict=True)
            return [{"keypoints": dict(zip(columns, points, strict=True))} for points in rows]
        if _first(content, (*PEOPLE, *POINTS_3D, *POINTS)) is not None:
            return [content]
    raise manner.fault(f"no frames: expected a list of them, or one of the names {', '.join(FRAMES)}")


def _is_track(track: Any) -> bool:
    """Return True for positions of all frames: a list of lists."""
    return isinstance(track, list) and bool(track) and all(isinstance(point, list) for point in track)


def _person(content: Any, manner: Manner) -> Person | None:
    """One person; None without keypoints."""
    if not isinstance(content, Mapping):
        raise manner.fault(f"a person is {type(content).__name__}, expected named keypoints")
    values = next((content[key] for key in POINTS_3D if content.get(key)), None)
    width = 4 if values is not None else 3
    values = _first(content, POINTS) if values is None else values
    if values is None:
        lists = {name: point for name, point in content.items() if isinstance(point, list) and 2 <= len(point) <= 4}
        values = {n: xyz for n, xyz in lists.items() if all(x is None or type(x) in (int, float) for x in xyz)}
    if not values:
        return None
    stated: Names = ()
    if isinstance(values, Mapping):
        stated, values = _texts(values), list(values.values())
    points = _points(values, width, manner, scores=content.get("keypoint_scores"))
    identity = _first(content, IDENTITY)
    identity = identity[0] if isinstance(identity, list) and identity else identity
    known = "" if identity in (None, -1, "-1", []) else str(identity)
    return Person(*_labelled(points, stated, manner), known)


def _points(values: Any, width: int, manner: Manner, *, scores: Any = None) -> FloatArray:
    """Keypoints as rows of x, y, z and confidence."""
    try:
        rows = [[math.nan if x is None else x for x in row] if isinstance(row, list) else row for row in values]
        numbers = np.array([math.nan if row is None else row for row in rows], dtype=float)
    except (ValueError, TypeError, OverflowError):
        raise manner.fault("keypoints are not numbers, or differ in size") from None
    if numbers.ndim == 1:
        if len(numbers) % width:
            raise manner.fault(f"{len(numbers)} numbers of keypoints, expected {width} for each")
        numbers = numbers.reshape(-1, width)
    n, width = numbers.shape if numbers.ndim == 2 else (0, 0)
    if not 2 <= width <= 4 or not 0 < n <= MAX_KEYPOINTS:
        raise manner.fault(f"{n} keypoints of {width} numbers, expected x, y, perhaps z, and a confidence")
    in_space = width == 4 or (width == 3 and (scores is not None or manner.in_space) and isinstance(values[0], list))
    points = np.column_stack([np.full((n, 3), np.nan), np.ones(n)])
    points[:, : 3 if in_space else 2] = numbers[:, : 3 if in_space else 2]
    if width == 3 + in_space:
        points[:, 3] = numbers[:, -1]
    elif isinstance(scores, list) and len(scores) == n:
        points[:, 3] = [x if isinstance(x, int | float) and abs(x) < 1e6 else math.nan for x in scores]
    return points


def _labelled(points: FloatArray, stated: Names, manner: Manner) -> tuple[Names, FloatArray]:
    """Names of the keypoints, and mask of named keypoints."""
    names = stated or manner.labels
    if not names:
        layout = manner.source.options.keypoints or SIZES.get(len(points), "")
        if not layout:
            raise manner.fault(
                f"{len(points)} keypoints without names, expected {', '.join(map(str, sorted(SIZES)))}; name them in the file",
            )
        names = LAYOUTS[layout]
        if len(points) != _LAYOUTS[layout][0]:
            raise manner.fault(f"{len(points)} keypoints, {layout} (reading.keypoints) has {_LAYOUTS[layout][0]}")
        points = points[: len(names)]
    if len(names) != len(points) or len(set(names)) < len(names):
        raise manner.fault(f"{len(set(names))} different names for {len(points)} keypoints")
    return names, points


def _first(content: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """Value of the first key that exists."""
    return next((content[key] for key in keys if key in content and content[key] is not None), None)


def _texts(values: Any) -> Names:
    """Names from a list or mapping; otherwise empty."""
    return tuple(str(value).strip() for value in values) if isinstance(values, list | Mapping) else ()

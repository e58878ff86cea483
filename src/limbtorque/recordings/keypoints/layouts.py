"""Names of keypoints in the order of the networks that find them.

Sources: OpenPose, "Output" (BODY_25, BODY_25B, COCO); COCO, keypoint detection; Halpe-FullBody (Fang et al.); COCO-WholeBody (Jin
et al. 2020); MediaPipe Pose (BlazePose). The spelling is that of Pose2Sim.
"""

from __future__ import annotations

_COCO = (
    *("Nose", "LEye", "REye", "LEar", "REar", "LShoulder", "RShoulder", "LElbow", "RElbow", "LWrist", "RWrist"),
    *("LHip", "RHip", "LKnee", "RKnee", "LAnkle", "RAnkle"),
)
_UPPER = ("Nose", "Neck", "RShoulder", "RElbow", "RWrist", "LShoulder", "LElbow", "LWrist")
_LEGS = ("RHip", "RKnee", "RAnkle", "LHip", "LKnee", "LAnkle")
_EYES = ("REye", "LEye", "REar", "LEar")
_FEET = ("LBigToe", "LSmallToe", "LHeel", "RBigToe", "RSmallToe", "RHeel")
_HALPE = (
    *_COCO,
    *("Head", "Neck", "Hip", "LBigToe", "RBigToe", "LSmallToe", "RSmallToe", "LHeel", "RHeel"),
)
_PAIRS = (*("shoulder", "elbow", "wrist", "pinky", "index", "thumb", "hip", "knee", "ankle", "heel", "foot_index"),)
LAYOUTS = {
    "body_25": (*_UPPER, "MidHip", *_LEGS, *_EYES, *_FEET),
    "body_25b": (*_COCO, "UpperNeck", "HeadTop", *_FEET),
    "coco_17": _COCO,
    "coco_18": (*_UPPER, *_LEGS, *_EYES),
    "coco_133": (*_COCO, *_FEET),  # the rest is of face and hands
    "halpe_26": _HALPE,
    "halpe_136": _HALPE,
    "mediapipe_33": (
        "nose",
        *(f"{side}_eye{part}" for side in ("left", "right") for part in ("_inner", "", "_outer")),
        *("left_ear", "right_ear", "mouth_left", "mouth_right"),
        *(f"{side}_{name}" for name in _PAIRS for side in ("left", "right")),
    ),
}
SIZES = {
    17: "coco_17",
    18: "coco_18",
    25: "body_25",
    26: "halpe_26",
    33: "mediapipe_33",
    133: "coco_133",
    136: "halpe_136",
}

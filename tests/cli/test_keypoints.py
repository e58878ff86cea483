"""Keypoints: which limb is proposed for whose names, what is said where none is, and a leg without its foot."""

import csv
import math

import numpy as np
import pytest
from keypoint_files import person, write_frames

from limbtorque.analysis.trial import analyse_recording
from limbtorque.chain.segments import DEMPSTER_WINTER
from limbtorque.cli.init.init import FILES, init_study
from limbtorque.cli.init.known_sets import fits, fits_without_end
from limbtorque.motion.limb import Limb
from limbtorque.recordings.options import ReadOptions
from limbtorque.recordings.read import read_recording
from limbtorque.recordings.recording import Recording
from limbtorque.study.chains import ARM, LEG
from limbtorque.study.settings import make_settings
from limbtorque.study.study import load_study
from limbtorque.uncertainty.input_errors import centre_errors_m
from text_files import write_trc

KEYPOINTS = ["Shoulder", "Elbow", "Wrist", "Hip", "Knee", "Ankle"]
HEIGHTS_M = dict(zip(KEYPOINTS, (1.4, 1.1, 0.85, 0.9, 0.5, 0.1), strict=True))
COCO = [side + name for side in "LR" for name in KEYPOINTS]
BODY_25 = ["Nose", "Neck", "MidHip", *COCO, *(s + name for s in "LR" for name in ("BigToe", "SmallToe", "Heel"))]
SNAKE = [f"{side}_{name.lower()}" for side in ("left", "right") for name in KEYPOINTS]
MEDIAPIPE = ["nose", *SNAKE, *(f"{s}_{n}" for s in ("left", "right") for n in ("heel", "foot_index", "index", "pinky"))]
STUDY = ["shoulder", "lelbow", "melbow", "lwrist", "mwrist", "knee", "mknee", "ankle", "mankle", "toe", "5meta", "calc"]
OPENCAP = [
    *(f"{side}_{name}_study" for side in "rL" for name in STUDY),
    *(f"{side}.{name}_study" for side in "rL" for name in ("ASIS", "PSIS")),
    *("RHJC_study", "LHJC_study", "C7_study"),
]


def chains_of(labels, tmp_path):
    """Rows that are proposed for a walk with these labels, arms of a walk included."""
    return chains_in(propose(labels, tmp_path))


def chains_in(study):
    """Rows of a proposed study, those that are left out included."""
    text = (study / FILES[1]).read_text(encoding="utf-8")
    rows = [line.lstrip("#") for line in text.splitlines() if not line.startswith("# ")]
    return {(row["chain"], row["side"], row["marker_set"]) for row in csv.DictReader(rows) if row["side"]}


def height_m(label):
    low = label.lower()
    for name, height in HEIGHTS_M.items():
        if name.lower() in low:
            return height
    return next((h for name, h in (("toe", 0.03), ("heel", 0.05), ("calc", 0.05), ("hjc", 0.9)) if name in low), 1.0)


def propose(labels, tmp_path, *, still=(), answers=None):
    """A person who goes 2 m along x, y up, as a TRC file, and the study proposed for it."""
    n = 121
    xyz = np.zeros((n, len(labels), 3))
    for k, label in enumerate(labels):
        xyz[:, k] = [0.01 * k, height_m(label), 0.1 if label[0] in "Rr" else -0.1]
        xyz[:, k, 0] += 0.0 if label in still else 2.0 * np.linspace(0.0, 1.0, n)
    (tmp_path / "data").mkdir(exist_ok=True)
    noise = np.random.default_rng(1).normal(scale=1e-3, size=xyz.shape)
    write_trc(tmp_path / "data" / "walk.trc", xyz + noise, unit="m", labels=labels)
    init_study(tmp_path / "study", tmp_path / "data", answers=answers)
    return tmp_path / "study"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (BODY_25, {("leg", "halpe_26"), ("arm_without_hand", "halpe_26")}),
        (COCO, {("leg_without_foot", "coco_17"), ("arm_without_hand", "coco_17")}),
        (SNAKE, {("leg_without_foot", "coco_17"), ("arm_without_hand", "coco_17")}),
        (MEDIAPIPE, {("leg", "mediapipe"), ("arm", "mediapipe")}),
        (OPENCAP, {("leg", "opencap"), ("arm_without_hand", "opencap")}),
        ([*BODY_25, *OPENCAP], {("leg", "opencap"), ("arm_without_hand", "opencap")}),
        (
            [name.replace("_study", "") for name in OPENCAP],
            {("leg", "opencap_markers"), ("arm_without_hand", "opencap_markers")},
        ),
    ],
    ids=[
        "BODY_25",
        "COCO_17",
        "COCO_17 in words",
        "MediaPipe",
        "OpenCap",
        "OpenCap with keypoints",
        "OpenCap without suffix",
    ],
)
def test_arms_and_legs_of_keypoints_are_proposed_for_both_sides(labels, expected, tmp_path):
    found = chains_of(labels, tmp_path)
    assert {(chain, marker_set) for chain, _, marker_set in found} == expected
    assert len(found) == 2 * len(expected)
    assert {side for _, side, _ in found} == {"left", "right"}


def test_the_ball_of_the_foot_lies_between_heel_and_toe(tmp_path):
    study = propose(BODY_25, tmp_path)
    text = (study / FILES[2]).read_text(encoding="utf-8").replace("TODO", "70")
    (study / FILES[2]).write_text(text, encoding="utf-8")
    rules = load_study(study).settings.marker_sets["halpe_26"]
    assert (rules["heel"], rules["toe_tip"]) == ("{S}Heel", "{S}BigToe")  # the ends of de Leva's foot
    rule = rules["head_of_metatarsal_2"]
    assert rule.between == ("{S}Heel", "{S}BigToe")
    assert rule.fraction == 0.74


def test_keypoints_have_the_errors_of_the_literature(tmp_path):
    """40 mm at hip and knee (Needham et al. 2021), 25 mm elsewhere (Kanko et al. 2021), over the root of 3."""
    study = propose(BODY_25, tmp_path)
    text = (study / FILES[2]).read_text(encoding="utf-8").replace("TODO", "70")
    (study / FILES[2]).write_text(text, encoding="utf-8")
    leg = Limb("leg", side="right", body_mass_kg=70.0, marker_set="halpe_26")
    hip, knee, *foot = centre_errors_m(leg, load_study(study).settings)
    assert hip == knee == pytest.approx(0.040 / math.sqrt(3.0), abs=0.0005)
    assert foot == pytest.approx([0.025 / math.sqrt(3.0)] * 2, abs=0.001)


def errors_of(labels, tmp_path, chain):
    """Errors of the centres of a right limb of the proposed settings, m, and of the landmarks in them."""
    study = propose(labels, tmp_path, answers={"plane.up_axis": "+y"})
    text = (study / FILES[2]).read_text(encoding="utf-8").replace("TODO", "70")
    (study / FILES[2]).write_text(text, encoding="utf-8")
    (row,) = (one for one in chains_in(study) if one[:2] == (chain, "right"))
    settings = load_study(study).settings
    limb = Limb(chain, side="right", body_mass_kg=70.0, marker_set=row[2])
    return centre_errors_m(limb, settings), settings.uncertainty.sets.get(row[2], {})


PLUG_IN_GAIT_ARM = ["ELB", "WRA", "WRB", "FIN"]


def test_a_landmark_that_stands_for_a_joint_has_the_error_of_doing_so(tmp_path):
    """17 % of 390 mm between the acromia (Rab et al. 2002), and 48 mm between two rows of knuckles, over the root of 3."""
    labels = [*(side + name for side in "LR" for name in PLUG_IN_GAIT_ARM), "RSHO"]  # one acromion: no prediction
    (shoulder, elbow, wrist, end), of_set = errors_of(labels, tmp_path, "arm")
    assert shoulder == pytest.approx(0.17 * 0.39 / math.sqrt(3.0), abs=0.0005)
    assert end == pytest.approx(0.048 / math.sqrt(3.0), abs=0.0005)
    assert (elbow, wrist) == (0.010, 0.006)  # one lateral marker, the mean of two
    assert set(of_set) == {"acromion", "head_of_metacarpal_3"}


def test_a_prediction_in_place_of_such_a_landmark_has_its_own_error(tmp_path):
    labels = [side + name for side in "LR" for name in (*PLUG_IN_GAIT_ARM, "SHO")]
    (shoulder, *_), of_set = errors_of(labels, tmp_path, "arm")
    assert shoulder == 0.015  # Rab's offset
    assert set(of_set) == {"head_of_metacarpal_3"}


def test_the_hip_of_plug_in_gait_is_that_of_a_regression(tmp_path):
    labels = [side + name for side in "LR" for name in ("FEP", "FEO", "TIO", "ANK", "TOE", "HEE")]
    (hip, *others), _ = errors_of(labels, tmp_path, "leg")
    assert hip == 0.015  # Davis et al. (1991)
    assert others == [0.010] * 3


def test_a_chain_without_its_end_is_for_sets_that_never_have_it():
    plug_in_gait = ["RSHO", "RELB", "RWRA", "RWRB"]  # without RFIN, which the set has
    assert fits_without_end(plug_in_gait, "arm_without_hand") == []
    gait = ["R.Acromium", "R.Elbow", "R.Wrist.Lat", "R.Wrist.Med"]
    assert [fit.known.name for fit in fits_without_end(gait, "arm_without_hand")] == ["opensim_gait"]
    assert [fit.side for fit in fits_without_end(COCO, "leg_without_foot")] == ["right", "left"]
    assert not [fit for fit in fits(COCO, LEG) if not fit.missing]
    assert not [fit for fit in fits(COCO, ARM) if not fit.missing]


# --- a leg without its foot -------------------------------------------------------------------------------------------

THIGH_M, SHANK_M, MASS_KG = 0.42, 0.43, 70.0
SWING_RAD, RATE_HZ = 0.6, 100.0


def swinging_leg():
    """A stiff leg that swings about a hip at rest, 1 Hz, as three keypoints; x forward, z up."""
    time_s = np.arange(301) / RATE_HZ
    angle = SWING_RAD * np.sin(2.0 * np.pi * time_s)
    down = np.stack([np.sin(angle), np.zeros_like(angle), -np.cos(angle)], axis=1)
    hip = np.broadcast_to([0.0, 0.0, 1.0], down.shape)
    points = np.stack([hip, hip + THIGH_M * down, hip + (THIGH_M + SHANK_M) * down], axis=1)
    points = points + np.random.default_rng(2).normal(scale=1e-6, size=points.shape)  # no marker is quite constant
    return time_s, Recording("kick.trc", "0" * 64, "test", ("RHip", "RKnee", "RAnkle"), points, RATE_HZ, 1)


def filmed_leg(folder):
    """The same leg as one camera sees it, 5 mm a pixel, in frames of COCO_17; its thigh gives the scale."""
    time_s, recording = swinging_leg()
    points = np.zeros((301, 17, 2))
    for label, place in (("RHip", 12), ("RKnee", 14), ("RAnkle", 16)):
        xyz = recording.markers_m[:, recording.labels.index(label)]
        points[:, place] = np.column_stack([400.0 + xyz[:, 0] / 0.005, 600.0 - xyz[:, 2] / 0.005])
    first = write_frames(folder, [[person(one, np.where(one[:, 0] > 0.0, 0.8, 0.0))] for one in points])
    options = ReadOptions(rate_hz=RATE_HZ, known_length_m=THIGH_M, known_length_between=("RHip", "RKnee"))
    return time_s, read_recording(first, options)


@pytest.fixture(scope="module", params=["in space", "filmed"])
def kick(request, tmp_path_factory):
    filmed = request.param == "filmed"
    time_s, recording = filmed_leg(tmp_path_factory.mktemp("film")) if filmed else swinging_leg()
    settings = make_settings(
        {
            "plane": {"up_axis": "+y" if filmed else "+z", "forward_axis": "+x"},
            "marker_sets": {"coco": {"hip_axis": "{S}Hip", "knee_axis": "{S}Knee", "ankle_axis": "{S}Ankle"}},
            "substitutes": {
                "coco": {
                    "greater_trochanter": "hip_axis",
                    "femoral_condyles": "knee_axis",
                    "medial_malleolus": "ankle_axis",
                }
            },
        }
    )
    return time_s, analyse_recording(recording, Limb("leg_without_foot", side="right", body_mass_kg=MASS_KG), settings)


def test_torques_in_swing_are_those_of_a_pendulum(kick):
    """tau = I theta'' + m g d sin(theta) for a stiff leg of thigh, and shank with foot (Winter's row)."""
    time_s, result = kick
    thigh, lower = DEMPSTER_WINTER["thigh"], DEMPSTER_WINTER["foot_and_shank"]
    d = np.array([thigh.com * THIGH_M, THIGH_M + lower.com * SHANK_M])
    m = MASS_KG * np.array([thigh.mass, lower.mass])
    own = m * (np.array([thigh.gyration * THIGH_M, lower.gyration * SHANK_M])) ** 2
    omega = 2.0 * np.pi
    angle = SWING_RAD * np.sin(omega * time_s)
    expected = (own + m * d**2).sum() * -(omega**2) * angle + (m * d).sum() * 9.80665 * np.sin(angle)
    net = result.torques.terms.net[:, 0]
    known = ~np.isnan(net)
    assert 0.2 < known.mean() < 0.9
    middle = known & (time_s > 0.5) & (time_s < 2.5)  # without the ends of the filter
    assert np.abs(net - expected)[middle].max() < 0.01 * np.abs(expected).max()


def test_stance_is_unknown_and_said_so(kick):
    """The ankle is slower than 1 m/s near both ends of the swing."""
    time_s, result = kick
    speed = (THIGH_M + SHANK_M) * SWING_RAD * 2.0 * math.pi * np.abs(np.cos(2.0 * math.pi * time_s))
    unknown = np.isnan(result.torques.terms.net).any(axis=1)
    assert unknown[speed < 0.95].all()
    assert result.motion.metrics["unmeasured_share"] == pytest.approx(unknown.mean(), abs=0.05)
    assert any("stance without foot markers" in note for note in result.motion.notes)

"""Motions of known torques, made without a recording."""

import numpy as np

from limbtorque.analysis.torques import trial_uncertainty
from limbtorque.chain.kinematics import joint_positions
from limbtorque.chain.model import Chain, Kinematics
from limbtorque.motion.chain_motion import ChainMotion, ExternalLoad, Flexion, no_load
from limbtorque.motion.limb import Limb
from limbtorque.motion.plane import PlaneFrame
from limbtorque.study.options.uncertainty import SIZES
from limbtorque.study.settings import make_settings
from limbtorque.torques.joint_torques import joint_torques
from limbtorque.torques.summary import torque_summary

RATE_HZ, N_FRAMES = 100.0, 50
FOREARM = {
    "joints": [{"name": "elbow", "landmark": "elbow_axis"}],
    "segments": [{"name": "forearm", "row": "forearm"}],
    "end": "ulnar_styloid",
}
MARKERS = {"elbow_axis": "ELB", "ulnar_styloid": "WRI"}
NONE = dict.fromkeys(
    (
        *("segment_mass", "segment_com", "segment_inertia", "segment_correlation", "rest_of_body_mass", "body_mass"),
        *("centre_marker_m", "soft_tissue_m", "plate_gain", "plate_offset_n", "pressure_m", "synchronisation_s"),
        *("plane_deg", "marker_noise", "gaps", "filter"),
    ),
    0.0,
)


def section(**errors):
    """Section `uncertainty` with these sizes and other options."""
    sizes = {name: errors.pop(name) for name in SIZES if name in errors}
    return {"sizes": sizes, **errors}


def with_errors(**errors):
    """Settings in which only these errors are not 0."""
    return make_settings(
        {
            "chains": {"forearm": FOREARM},
            "marker_sets": {"sim": MARKERS},
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "uncertainty": section(**NONE | errors),
        }
    )


def motion_of(chain, kinematics, *, joints, segments, load=None, gravity_m_s2=(0.0, -9.81)):
    """Motion of a chain in the sagittal plane, no filter, no flags."""
    n_frames, n = kinematics.n_frames, chain.n_links
    no = np.zeros(n_frames, dtype=bool)
    joint_m = joint_positions(chain, kinematics.angle_rad, base_m=kinematics.base_m)
    load = load or no_load(n_frames)
    assert isinstance(load, ExternalLoad)
    return ChainMotion(
        joints=joints,
        segments=segments,
        frame=np.arange(1, n_frames + 1),
        time_s=np.arange(n_frames) / RATE_HZ,
        rate_hz=RATE_HZ,
        joint_m=joint_m,
        kinematics=kinematics,
        **dict.fromkeys(("edge", "foreshortened", "filled", "swapped", "spike"), no),
        segment_length_m=np.tile(chain.length_m, (n_frames, 1)),
        segment_tilt_rad=np.zeros((n_frames, n)),
        fit_m=np.zeros(n_frames),
        chain=chain,
        gravity_m_s2=np.array(gravity_m_s2),
        plane=PlaneFrame(np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]), "sagittal"),
        flexion=Flexion(np.ones(n), np.zeros(n), np.ones(n, dtype=bool)),
        load=load,
        cutoff_hz=(),
        cutoffs=(),
        metrics={"noise_m": 0.0},
        notes=(),
    )


FOREARM_LIMB = Limb("forearm", side="right", body_mass_kg=70.0, marker_set="sim", subject="anna", trial="lower")


def forearm_at(angle_rad, speed_rad_s=0.0):
    """A forearm of 1.12 kg at these angles from level, one a frame, that turns at constant speed."""
    angle = np.array(np.broadcast_to(angle_rad, N_FRAMES))[:, None]
    kinematics = Kinematics(angle, np.full_like(angle, speed_rad_s), 0.0 * angle)
    chain = Chain([0.25], [1.12], [0.1075], [0.006])
    return motion_of(chain, kinematics, joints=("elbow",), segments=("forearm",))


def summarised(motion, settings):
    """Rows of the summary with their uncertainty, by window and term; all frames are in one window, none in the other."""
    torques, whole = joint_torques(motion), np.ones(N_FRAMES, dtype=bool)
    windows = {"trial": whole, "none": ~whole}
    rows = torque_summary(motion, torques, windows=windows, min_known_share=0.5)
    found = trial_uncertainty(motion, torques, FOREARM_LIMB, settings, summary=rows, windows=windows)
    return {(row["window"], row["term"]): row for row in found.summary}

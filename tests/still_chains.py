"""Motions of known torques, made without a recording."""

import numpy as np

from limbtorque.chain.kinematics import joint_positions
from limbtorque.motion.chain_motion import ChainMotion, ExternalLoad, Flexion, no_load
from limbtorque.motion.plane import PlaneFrame
from limbtorque.study.options.uncertainty import SIZES
from limbtorque.study.settings import make_settings

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

"""Sampled propagation: the same numbers from the same seed, terms that add up, and agreement with the linear bands."""

import numpy as np
import pytest

from limbtorque.chain.regressor import term_rows
from limbtorque.motion.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.simulation.gait import Walker, Walkway, walk_recording
from limbtorque.study.settings import make_settings
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.uncertainty.propagation import torque_bands, trial_errors
from limbtorque.uncertainty.sampled import normal_samples, sampled_rows

MARKERS = {
    "hip_axis": "{S}HIP",
    "greater_trochanter": "{S}HIP",
    "knee_axis": "{S}KNE",
    "femoral_condyles": "{S}KNE",
    "ankle_axis": "{S}ANK",
    "lateral_malleolus": "{S}ANK",
    "medial_malleolus": "{S}ANK",
    "heel": "{S}HEE",
    "head_of_metatarsal_2": "{S}TOE",
}
WHO = Limb("leg", side="right", body_mass_kg=70.0)


@pytest.fixture(scope="module")
def walk():
    settings = make_settings(
        {
            "marker_sets": {"sim": MARKERS},
            "plane": {"up_axis": "+z", "forward_axis": "+x"},
            "uncertainty": {"off": ["marker_noise"]},
        }
    )
    walkway = Walkway(((0.1, -0.2), (0.65, 0.2)), plate_rate_hz=500.0)
    recording = walk_recording(Walker(rise_m=0.014), walkway, duration_s=2.2, first_strike_s=0.35)
    motion = chain_motion(recording, WHO, settings)
    return motion, settings, trial_errors(motion, WHO, settings)


def test_no_error_gives_the_torques_of_the_trial(walk):
    motion, _, errors = walk
    [rows] = sampled_rows(errors, np.zeros((1, len(errors.directions))))
    torques = joint_torques(motion)
    used = used_frames(motion, torques)
    np.testing.assert_allclose(rows[..., used], term_rows(torques.terms)[..., used], rtol=0.0, atol=1e-9)


def test_the_same_seed_gives_the_same_bytes(walk):
    _, _, errors = walk
    n = len(errors.directions)
    first, second, other = (normal_samples(16, n, seed=seed) for seed in (1, 1, 2))
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != other.tobytes()
    assert sampled_rows(errors, first).tobytes() == sampled_rows(errors, second).tobytes()


@pytest.mark.parametrize("n", [0, 1, 3, 500])
def test_the_number_of_samples_is_a_power_of_two(n):
    with pytest.raises(ValueError, match=f"n_samples is {n}"):
        normal_samples(n, 3, seed=0)


def test_linear_and_sampled_standard_deviations_agree(walk):
    """256 samples: their standard deviation is uncertain by 4 %, its median over frames and rows by less."""
    motion, settings, errors = walk
    used = used_frames(motion, joint_torques(motion))
    rows = sampled_rows(errors, normal_samples(256, len(errors.directions), seed=3))[..., used]
    np.testing.assert_allclose(rows[:, :, 0], rows[:, :, 1:].sum(axis=2), rtol=0.0, atol=1e-8)
    linear = torque_bands(motion, WHO, settings).sd_nm[..., used]
    for joint in range(3):
        ratio = rows[:, joint, 0].std(axis=0, ddof=1) / linear[joint, 0]
        assert 0.97 < np.median(ratio) < 1.05
        assert 0.9 < np.percentile(ratio, 5) < np.percentile(ratio, 95) < 1.12

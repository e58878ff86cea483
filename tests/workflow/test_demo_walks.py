"""The demo study's walks against their exact torques, joint by joint, and its damaged trial.

The truth is that of the reaches (tests/demo_truth.py): moments of inertial forces and of the exact ground reaction force.
"""

from dataclasses import replace

import numpy as np
import pytest

from demo_truth import ROOT, STUDY, exact_walking_torques
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.filters import low_pass
from limbtorque.simulation.demo import FIRST_STRIKE_S, WALK_NOISE_M, demo_walks
from limbtorque.simulation.gait import SIDES
from limbtorque.torques.joint_torques import joint_torques

TRIALS = {trial.name: trial for trial in STUDY.trials}
WALKS = demo_walks()
LEGS = [pytest.param(walk, side, id=f"{walk.name}_{side}") for walk in WALKS for side in SIDES]
DAMAGED = next(walk for walk in WALKS if walk.spike_s is not None)


def analysed(walk, side, recording, **changes):
    trial = TRIALS[f"{walk.name}_{side}"]
    settings = trial.settings
    for section, options in changes.items():
        settings = settings.model_copy(update={section: getattr(settings, section).model_copy(update=options)})
    limb = Limb(trial.chain, side=side, body_mass_kg=trial.subject.mass_kg, marker_set=trial.marker_set)
    motion = chain_motion(recording, limb, settings)
    return motion, joint_torques(motion).terms.net


def read(walk):
    return read_c3d(ROOT / "data" / "demo" / f"{walk.name}.c3d")


def in_stride(walk, side, motion):
    """Frames of the stride from the strike on the plate to the next one."""
    start = FIRST_STRIKE_S + (0.0 if side == "right" else 0.5 * walk.walker.stride_s)
    return (motion.time_s >= start) & (motion.time_s <= start + walk.walker.stride_s)


def root_mean_square(values):
    return np.sqrt((values**2).mean(axis=0))


def test_the_study_names_every_walk_and_its_subject():
    for walk in WALKS:
        trials = [TRIALS[f"{walk.name}_{side}"] for side in SIDES]
        assert [trial.side for trial in trials] == list(SIDES)
        for trial in trials:
            assert trial.subject.mass_kg == walk.walker.mass_kg
            assert trial.subject.height_m == walk.walker.height_m
            assert ("damaged" in trial.note) == (walk is DAMAGED and trial.side == "right")


@pytest.mark.parametrize(("walk", "side"), LEGS)
def test_without_noise_and_filter_the_exact_torques_come_back(walk, side):
    """Left are the plates, averaged over a frame, and stencils across the joins of the gait's polynomials.

    A mean over 5 samples 2 ms apart errs by 4e-6 s^2 of the second derivative: of 700 N that rise and fall three times a second
    by 1 N, on levers of 0.1 m. Where two polynomials join, the jerk jumps. Together less than 0.3 % of the range.
    """
    recording = replace(walk, spike_s=None).recording(noise_m=0.0, noise_n=0.0)
    motion, net = analysed(walk, side, recording, filter={"method": "none"}, differentiation={"accuracy": 8})
    truth, stride = exact_walking_torques(walk, side, len(net)), in_stride(walk, side, motion)
    known = stride & np.isfinite(net).all(axis=1)
    assert known.sum() > 0.7 * stride.sum()
    assert (root_mean_square((net - truth)[known]) < 0.003 * np.ptp(truth[stride], axis=0)).all()


@pytest.mark.parametrize(("walk", "side"), [leg for leg in LEGS if leg.values != (DAMAGED, "right")])
def test_the_files_err_by_noise_and_the_filters_bias(walk, side):
    """Root mean square over the stride of hip, knee and ankle, and the two reasons for it.

    Noise: positions of standard deviation s, filtered at fc, have accelerations of s (2 pi)^2 sqrt(1.8 * 2 fc^5 / (5 fs))
    (tests/workflow/test_demo.py), which the inertia matrix turns into torques, most at the hip; the lever of the body's weight errs
    by sqrt(2) s sqrt(2 fc / fs). Bias: what the filter makes of the exact torques. A root mean square of some 2 fc T = 25
    independent values errs by a seventh, so that 1.3 times the sum is allowed.
    """
    motion, net = analysed(walk, side, read(walk))
    truth = exact_walking_torques(walk, side, len(net))
    known = in_stride(walk, side, motion) & np.isfinite(net).all(axis=1)
    fc, fs, chain = motion.metrics["cutoff_hz"], motion.rate_hz, walk.walker.chain
    acceleration = WALK_NOISE_M * (2.0 * np.pi) ** 2 * np.sqrt(1.8 * 2.0 * fc**5 / (5.0 * fs))
    spin = np.sqrt(2.0) * acceleration / chain.length_m
    inertial = np.array([np.linalg.norm((chain.coupling[i:] * spin).sum(axis=0)) for i in range(3)])
    base = np.array([acceleration * chain.first_moment[i:].sum() for i in range(3)])
    lever = np.sqrt(2.0) * WALK_NOISE_M * np.sqrt(2.0 * fc / fs) * walk.walker.mass_kg * 9.80665
    bias = root_mean_square((low_pass(truth, rate_hz=fs, cutoff_hz=fc, order=3) - truth)[known])
    error = root_mean_square((net - truth)[known])
    assert (error < 1.3 * np.sqrt(inertial**2 + base**2 + lever**2 + bias**2)).all()
    assert (error < [0.03, 0.012, 0.008] * np.ptp(truth[in_stride(walk, side, motion)], axis=0)).all()


def test_the_damaged_walk_is_wrong_and_told():
    """The knee's marker is off by 20 cm in one frame of the stride: torques err by several times the others' error."""
    motion, net = analysed(DAMAGED, "right", read(DAMAGED))
    stride = in_stride(DAMAGED, "right", motion)
    frame = round(DAMAGED.spike_s * motion.rate_hz)
    assert stride[frame]
    truth = exact_walking_torques(DAMAGED, "right", len(net))
    known = stride & np.isfinite(net).all(axis=1)
    error = np.abs(net - truth)[known].max(axis=0) / np.ptp(truth[stride], axis=0)
    assert (error[:2] > 0.1).all()
    assert motion.metrics["spike_frames"] == 1
    assert any(f"RKNE {frame + 1}" in note for note in motion.notes)
    whole, _ = analysed(DAMAGED, "left", read(DAMAGED))
    assert whole.metrics["spike_frames"] == 0

"""The demo study's torques against its exact ones.

The truth is the moment about each joint of the inertial forces of all distal segments, from the exact angles and
their exact derivatives: neither of the two methods of the program.
"""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from demo_truth import ROOT, STUDY, exact_torques
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.derivatives import _stencils
from limbtorque.signals.filters import filter_reach, low_pass
from limbtorque.simulation.demo import DEMO_NOISE_M, demo_trials, write_demo
from limbtorque.torques.joint_torques import joint_torques

TRIALS = {trial.name: trial for trial in STUDY.trials}
DEMO = demo_trials()
NAMES = [trial.name for trial in DEMO]


def analysed(demo, recording, **changes):
    trial = TRIALS[demo.name]
    settings = trial.settings
    for section, options in changes.items():
        settings = settings.model_copy(update={section: getattr(settings, section).model_copy(update=options)})
    motion = chain_motion(
        recording,
        Limb(
            trial.chain,
            side=trial.side,
            body_mass_kg=trial.subject.mass_kg,
            marker_set=trial.marker_set,
            load=trial.load,
        ),
        settings,
    )
    return motion, joint_torques(motion).terms.net


def near(motion, moments_s, frames):
    distance = np.abs(motion.time_s[:, None] - np.array(moments_s)).min(axis=1)
    return distance < (frames + 0.5) / motion.rate_hz


@pytest.mark.parametrize("demo", DEMO, ids=NAMES)
def test_without_noise_the_exact_torques_come_back(demo):
    """Angles and shoulder are quintics of time in every phase, on which accuracy 8 has no differentiation error.

    What is left away from the phases' ends is rounding: 1e-16 m over the link and over h^2. At the ends the jerk
    jumps by 60 D / T^3; a second difference that straddles the jump errs by the jump times h times the sum of
    |w_k k| over the straddling half of the stencil, at most. The torque follows by the inertia matrix.
    """
    exact = replace(demo, gaps=()).recording(noise_m=0.0)
    motion, net = analysed(demo, exact, filter={"method": "none"}, differentiation={"accuracy": 8})
    truth = exact_torques(demo, TRIALS[demo.name].settings)
    ends = [t for onset in demo.reach.onsets_s for t in (onset, onset + demo.reach.duration_s)]
    at_ends = near(motion, ends, 4)
    error = np.abs(net - truth).max(axis=1)
    assert error[~at_ends].max() < 1e-6
    way = np.abs(np.radians(np.subtract(demo.reach.target_deg, demo.reach.start_deg)))
    straddling = np.abs(_stencils(8, 2)[4] * np.arange(-4, 5))[5:].sum()
    jump = 60.0 * straddling / demo.reach.duration_s**3 / demo.rate_hz
    chain = demo.arm.chain
    reach_m = chain.length_m.sum()
    inertia = (chain.mass_kg * reach_m**2 + chain.inertia_kgm2).sum()
    shove = chain.mass_kg.sum() * reach_m * np.hypot(*demo.reach.base_shift_m)
    # velocities err by less than h times the acceleration's error; the bound on the inertial terms covers them twice
    assert error[at_ends].max() < 2.0 * jump * (inertia * way.sum() + shove)


@pytest.mark.parametrize("demo", [DEMO[0], DEMO[9]], ids=[NAMES[0], NAMES[9]])
def test_a_file_without_noise_errs_by_its_rounding_only(demo, tmp_path):
    """A C3D file holds 32-bit floats: positions near 1.5 m are rounded by up to 2^-24 of themselves."""
    from limbtorque.recordings.c3d.write import write_c3d

    path = tmp_path / "exact.c3d"
    write_c3d(replace(demo, gaps=()).recording(noise_m=0.0), path, unit=demo.unit)
    motion, net = analysed(demo, read_c3d(path), filter={"method": "none"}, differentiation={"accuracy": 4})
    truth = exact_torques(demo, TRIALS[demo.name].settings)
    ends = [t for onset in demo.reach.onsets_s for t in (onset, onset + demo.reach.duration_s)]
    away = ~near(motion, ends, 4)
    rounding_m = 2.0**-24 * 2.0
    angular = 2.0 * rounding_m / demo.arm.chain.length_m.min()
    amplified = np.abs(_stencils(4, 2)[2]).sum() * demo.rate_hz**2
    chain = demo.arm.chain
    inertia = (chain.mass_kg * chain.length_m.sum() ** 2).sum()
    moving = chain.mass_kg.sum() * chain.length_m.sum()
    differences = 1.0 / demo.rate_hz**4 / 30.0 * 720.0 / demo.reach.duration_s**5  # h^4 y^(5) / 30, in rad/s
    velocity = 2.0 * 1.875 / demo.reach.duration_s * np.radians(60.0)
    bound = amplified * (3.0 * angular * inertia + rounding_m * moving) + 9.0 * inertia * velocity * differences
    assert np.abs(net - truth)[away].max() < bound


@pytest.mark.parametrize("demo", DEMO, ids=NAMES)
def test_with_noise_the_error_is_the_filters_bias_and_the_noise_it_lets_pass(demo):
    """Bias: what the same settings make of the movement without noise. Noise: white, of standard deviation s.

    A zero-lag low-pass of cut-off fc leaves accelerations with a standard deviation of s (2 pi)^2 sqrt(2 fc^5 / (5
    fs)) if its band ended sharply; the Butterworth's slow roll-off lets more pass: the integral of w^4 H^2 is 1.8
    times that for n = 3, so a factor of 2 on the standard deviation is allowed. An orientation errs by sqrt(2) s
    over the length of its link, less where two markers are averaged; five standard deviations are allowed. In a gap of
    m frames a cubic spline carries the noise of the slope at its rims m / 2 frames far.
    """
    recording = read_c3d(ROOT / "data" / "demo" / f"{demo.name}.c3d")
    motion, net = analysed(demo, recording)
    same = {"cutoff_hz": motion.metrics["cutoff_hz"]}
    _, smooth = analysed(demo, replace(demo, gaps=()).recording(noise_m=0.0), filter=same)
    truth = exact_torques(demo, TRIALS[demo.name].settings)
    fc, fs = motion.metrics["cutoff_hz"], demo.rate_hz
    acceleration = 2.0 * DEMO_NOISE_M * (2.0 * np.pi) ** 2 * np.sqrt(2.0 * fc**5 / (5.0 * fs))
    chain = demo.arm.chain
    a, b = chain.coupling, chain.first_moment
    spin = np.sqrt(2.0) * acceleration / chain.length_m
    inertial = np.array([np.linalg.norm((a[i:] * spin).sum(axis=0)) for i in range(3)])
    shoulder = np.array([acceleration * b[i:].sum() for i in range(3)])
    position = DEMO_NOISE_M * np.sqrt(
        2.0 * fc / fs
    )  # what is left of white noise in positions: levers of weight and spring
    trial = TRIALS[demo.name]
    stiffness = trial.settings.loads[trial.load].stiffness_n_m if trial.load else 0.0
    stretched = (
        stiffness * chain.length_m.sum()
    )  # N, the pull, and N m per m of an end that is not where it seems to be
    static = position * (chain.mass_kg.sum() * 9.80665 + 2.0 * stretched)
    allowed = 5.0 * np.sqrt(inertial**2 + shoulder**2 + static**2)
    reach = filter_reach(fc, rate_hz=fs, order=3)
    near_gap = np.convolve(motion.filled, np.ones(2 * reach + 1), mode="same") > 0
    widest = max(last - first + 1 for _, first, last in demo.gaps)
    noise = np.abs(net - smooth)
    assert (noise[~motion.edge & ~near_gap] < allowed).all()
    assert (noise[~motion.edge & near_gap] < allowed * (1.0 + widest / 2.0)).all()
    bias = np.abs(smooth - truth)[~motion.edge].max(axis=0)
    # torque follows acceleration, so the filter does to it what it does to the exact torque, but for the turning arm
    expected = np.abs(low_pass(truth, rate_hz=fs, cutoff_hz=fc, order=3) - truth)[~motion.edge].max(axis=0)
    assert (bias < 1.5 * expected + 1e-3).all()


def test_leaving_out_the_moving_shoulder_would_be_seen():
    demo = DEMO[NAMES.index("S01_sagittal_fast")]
    motion, net = analysed(demo, replace(demo, gaps=()).recording(noise_m=0.0), filter={"method": "none"})
    still = joint_torques(replace(motion, kinematics=replace(motion.kinematics, base_acceleration_m_s2=np.zeros(2))))
    assert np.abs(net - still.terms.net)[:, 0].max() > 1.0


def test_the_left_arm_is_the_mirror_image_of_the_right_one():
    """The same reach of the other arm in the horizontal plane: every torque changes its sign, flexion stays flexion."""
    demo = DEMO[NAMES.index("S02_horizontal_fast")]
    _, left = analysed(demo, replace(demo, gaps=()).recording(noise_m=0.0))
    settings = TRIALS[demo.name].settings
    recording = replace(demo, gaps=()).recording(noise_m=0.0)
    mirrored = replace(recording, markers_m=recording.markers_m * np.array([1.0, -1.0, 1.0]))
    motion = chain_motion(mirrored, Limb("arm", side="right", body_mass_kg=58.5, marker_set="limb_markers"), settings)
    np.testing.assert_allclose(joint_torques(motion).terms.net, -left, atol=1e-9)
    assert (motion.flexion.sign == 1.0).all()


def test_the_files_of_the_demo_are_the_simulated_ones(tmp_path):
    for path in write_demo(tmp_path):
        kept = ROOT / "data" / "demo" / path.name
        assert hashlib.sha256(kept.read_bytes()).hexdigest() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_has_more_frames_than_its_header_can_count(tmp_path):
    from limbtorque.recordings.c3d.write import write_c3d

    demo = DEMO[0].recording(noise_m=2e-4)
    for n_frames in (65535, 65536, 200_000):
        long = replace(demo, markers_m=np.resize(demo.markers_m, (n_frames, *demo.markers_m.shape[1:])))
        write_c3d(long, tmp_path / "long.c3d")
        found = read_c3d(tmp_path / "long.c3d")
        np.testing.assert_allclose(found.markers_m, long.markers_m, rtol=0.0, atol=1e-6)
        assert not found.audit.guesses

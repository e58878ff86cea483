"""The demo study's torques against its exact ones, joint by joint, and its damaged trial.

The truth is the moment about each joint of the inertial forces of all distal segments, from the exact angles and
their exact derivatives, and of the exact ground reaction force: neither of the two methods of the program.
"""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from demo_truth import ROOT, STUDY, exact_torques, exact_walking_torques
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.recordings.c3d.write import write_c3d
from limbtorque.signals.derivatives import _stencils
from limbtorque.signals.filters import filter_reach, low_pass
from limbtorque.simulation.demo import DEMO_NOISE_M, FIRST_STRIKE_S, WALK_NOISE_M, demo_trials, demo_walks, write_demo
from limbtorque.simulation.gait import SIDES
from limbtorque.torques.joint_torques import joint_torques

TRIALS = {trial.name: trial for trial in STUDY.trials}
DEMO = demo_trials()
NAMES = [trial.name for trial in DEMO]
WALKS = demo_walks()
LEGS = [pytest.param(walk, side, id=f"{walk.name}_{side}") for walk in WALKS for side in SIDES]
DAMAGED = next(walk for walk in WALKS if walk.spike_s is not None)


def analysed(name, recording, **changes):
    """Motion and net torques of a trial of the study, with options changed by section."""
    trial = TRIALS[name]
    settings = trial.settings
    for section, options in changes.items():
        settings = settings.model_copy(update={section: getattr(settings, section).model_copy(update=options)})
    mass_kg, markers = trial.subject.mass_kg, trial.marker_set
    limb = Limb(trial.chain, side=trial.side, body_mass_kg=mass_kg, marker_set=markers, load=trial.load)
    motion = chain_motion(recording, limb, settings)
    return motion, joint_torques(motion).terms.net


def without_noise(demo):
    return replace(demo, gaps=()).recording(noise_m=0.0)


def read(demo):
    return read_c3d(ROOT / "data" / "demo" / f"{demo.name}.c3d")


def ends_of(demo):
    """Ends of the phases of a reach, at which the jerk jumps."""
    return [t for onset in demo.reach.onsets_s for t in (onset, onset + demo.reach.duration_s)]


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
    exact = {"filter": {"method": "none"}, "differentiation": {"accuracy": 8}}
    motion, net = analysed(demo.name, without_noise(demo), **exact)
    truth = exact_torques(demo, TRIALS[demo.name].settings)
    at_ends = near(motion, ends_of(demo), 4)
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
    path = tmp_path / "exact.c3d"
    write_c3d(without_noise(demo), path, unit=demo.unit)
    motion, net = analysed(demo.name, read_c3d(path), filter={"method": "none"}, differentiation={"accuracy": 4})
    truth = exact_torques(demo, TRIALS[demo.name].settings)
    away = ~near(motion, ends_of(demo), 4)
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
    motion, net = analysed(demo.name, read(demo))
    same = {"cutoff_hz": motion.metrics["cutoff_hz"]}
    _, smooth = analysed(demo.name, without_noise(demo), filter=same)
    truth = exact_torques(demo, TRIALS[demo.name].settings)
    fc, fs = motion.metrics["cutoff_hz"], demo.rate_hz
    acceleration = 2.0 * DEMO_NOISE_M * (2.0 * np.pi) ** 2 * np.sqrt(2.0 * fc**5 / (5.0 * fs))
    chain = demo.arm.chain
    a, b = chain.coupling, chain.first_moment
    spin = np.sqrt(2.0) * acceleration / chain.length_m
    inertial = np.array([np.linalg.norm((a[i:] * spin).sum(axis=0)) for i in range(3)])
    shoulder = np.array([acceleration * b[i:].sum() for i in range(3)])
    position = DEMO_NOISE_M * np.sqrt(2.0 * fc / fs)  # white noise that is left: levers of weight and spring
    trial = TRIALS[demo.name]
    stiffness = trial.settings.loads[trial.load].stiffness_n_m if trial.load else 0.0
    stretched = stiffness * chain.length_m.sum()  # N: the pull, and N m per m of an end that is somewhere else
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


def test_the_moving_shoulder_counts_and_the_left_arm_is_the_mirror_image_of_the_right_one():
    """The same reach of the other arm in the horizontal plane: every torque changes its sign, flexion stays flexion."""
    demo = DEMO[NAMES.index("S01_sagittal_fast")]
    motion, net = analysed(demo.name, without_noise(demo), filter={"method": "none"})
    still = joint_torques(replace(motion, kinematics=replace(motion.kinematics, base_acceleration_m_s2=np.zeros(2))))
    assert np.abs(net - still.terms.net)[:, 0].max() > 1.0
    demo = DEMO[NAMES.index("S02_horizontal_fast")]
    recording = without_noise(demo)
    _, left = analysed(demo.name, recording)
    mirrored = replace(recording, markers_m=recording.markers_m * np.array([1.0, -1.0, 1.0]))
    limb = Limb("arm", side="right", body_mass_kg=58.5, marker_set="limb_markers")
    motion = chain_motion(mirrored, limb, TRIALS[demo.name].settings)
    np.testing.assert_allclose(joint_torques(motion).terms.net, -left, atol=1e-9)
    assert (motion.flexion.sign == 1.0).all()


def test_the_files_of_the_demo_are_the_simulated_ones(tmp_path):
    for path in write_demo(tmp_path):
        kept = ROOT / "data" / "demo" / path.name
        assert hashlib.sha256(kept.read_bytes()).hexdigest() == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_has_more_frames_than_its_header_can_count(tmp_path):
    demo = DEMO[0].recording(noise_m=2e-4)
    for n_frames in (65535, 65536, 200_000):
        long = replace(demo, labels=demo.labels[:1], markers_m=np.resize(demo.markers_m[:, :1], (n_frames, 1, 3)))
        write_c3d(long, tmp_path / "long.c3d")
        found = read_c3d(tmp_path / "long.c3d")
        np.testing.assert_allclose(found.markers_m, long.markers_m, rtol=0.0, atol=1e-6)
        assert not found.audit.guesses


def in_stride(walk, side, motion):
    """Frames of the stride from the strike on the plate to the next one."""
    start = FIRST_STRIKE_S + (0.0 if side == "right" else 0.5 * walk.walker.stride_s)
    return (motion.time_s >= start) & (motion.time_s <= start + walk.walker.stride_s)


def root_mean_square(values):
    return np.sqrt((values**2).mean(axis=0))


@pytest.mark.parametrize(("walk", "side"), LEGS)
def test_exact_torques_of_walks_come_back_without_noise_and_filter(walk, side):
    """Left are the plates, averaged over a frame, and stencils across the joins of the gait's polynomials.

    A mean over 5 samples 2 ms apart errs by 4e-6 s^2 of the second derivative: of 700 N that rise and fall three times a second
    by 1 N, on levers of 0.1 m. Where two polynomials join, the jerk jumps. Together less than 0.3 % of the range.
    """
    recording = replace(walk, spike_s=None).recording(noise_m=0.0, noise_n=0.0)
    motion, net = analysed(f"{walk.name}_{side}", recording, filter={"method": "none"}, differentiation={"accuracy": 8})
    truth, stride = exact_walking_torques(walk, side, len(net)), in_stride(walk, side, motion)
    known = stride & np.isfinite(net).all(axis=1)
    assert known.sum() > 0.7 * stride.sum()
    assert (root_mean_square((net - truth)[known]) < 0.003 * np.ptp(truth[stride], axis=0)).all()


@pytest.mark.parametrize(("walk", "side"), [leg for leg in LEGS if leg.values != (DAMAGED, "right")])
def test_files_of_walks_err_by_noise_and_the_filters_bias(walk, side):
    """Root mean square over the stride of hip, knee and ankle, and the two reasons for it.

    Noise: positions of standard deviation s, filtered at fc, have accelerations of s (2 pi)^2 sqrt(1.8 * 2 fc^5 / (5 fs))
    (as above), which the inertia matrix turns into torques, most at the hip; the lever of the body's weight errs
    by sqrt(2) s sqrt(2 fc / fs). Bias: what the filter makes of the exact torques. A root mean square of some 2 fc T = 25
    independent values errs by a seventh, so that 1.3 times the sum is allowed.
    """
    motion, net = analysed(f"{walk.name}_{side}", read(walk))
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
    motion, net = analysed(f"{DAMAGED.name}_right", read(DAMAGED))
    stride = in_stride(DAMAGED, "right", motion)
    frame = round(DAMAGED.spike_s * motion.rate_hz)
    assert stride[frame]
    truth = exact_walking_torques(DAMAGED, "right", len(net))
    known = stride & np.isfinite(net).all(axis=1)
    error = np.abs(net - truth)[known].max(axis=0) / np.ptp(truth[stride], axis=0)
    assert (error[:2] > 0.1).all()
    assert motion.metrics["spike_frames"] == 1
    assert any(f"RKJC {frame + 1}" in note for note in motion.notes)
    whole, _ = analysed(f"{DAMAGED.name}_left", read(DAMAGED))
    assert whole.metrics["spike_frames"] == 0

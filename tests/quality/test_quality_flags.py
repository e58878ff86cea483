"""Noise, what the filter takes of the acceleration, saturated and drifting plates: against closed forms."""

import re
from dataclasses import replace

import numpy as np
import pytest
from demo_reach import DEMO, SETTINGS, arm_motion
from smoothed import smooth_at

import plates
from limbtorque.arrays import runs
from limbtorque.motion.chain_motion import MEASURED, UNMEASURED
from limbtorque.quality.joint_shares import lost_torque_note
from limbtorque.quality.verdict import assess
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.signals.channels import flat_tops
from limbtorque.signals.cutoff import judge_cutoff
from limbtorque.signals.filters import filter_reach
from limbtorque.signals.smoothers import Smoother, smoother_gain
from limbtorque.simulation.reach import minimum_jerk
from limbtorque.study.options.quality import Quality
from limbtorque.torques.joint_torques import joint_torques, used_frames
from limbtorque.torques.summary import cut_peak_share

# --- noise and bandwidth ---------------------------------------------------------------------------------------------


def wave(frequency_hz, n_frames=400, rate_hz=100.0, noise_m=1e-5, seed=0):
    t = np.arange(n_frames) / rate_hz
    clean = 0.1 * np.sin(2.0 * np.pi * frequency_hz * t[:, None] + np.array([0.0, 0.7, 2.0]))
    return clean + noise_m * np.random.default_rng(seed).normal(size=clean.shape)


@pytest.mark.parametrize(("frequency_hz", "n_frames"), [(2.0, 2000), (5.0, 1000), (6.0, 400), (9.0, 150)])
def test_a_wave_loses_what_the_gain_at_its_frequency_says(frequency_hz, n_frames):
    """One frequency: the share lost is 1 - gain, to the width of a Hann window's peak (a few of rate / n)."""
    smoother = Smoother(accuracy=8)
    found = judge_cutoff(wave(frequency_hz, n_frames), rate_hz=100.0, smoother=smoother, cutoff_hz=6.0)
    near = frequency_hz + np.array([-2.0, 2.0]) * 100.0 / n_frames
    least, most = 1.0 - smoother_gain(near, rate_hz=100.0, cutoff_hz=6.0, smoother=smoother)
    assert least - 0.01 < found.lost_share < most + 0.01
    assert found.bandwidth_hz >= frequency_hz


@pytest.mark.parametrize(("noise_m", "n_frames"), [(3e-5, 3000), (3e-3, 100)])
def test_the_noise_is_the_one_that_was_added(noise_m, n_frames):
    """Half of the spectrum, three channels: the standard deviation is known to 1 / sqrt(n), about."""
    found = judge_cutoff(wave(1.0, n_frames, noise_m=noise_m), rate_hz=100.0)
    assert found.noise == pytest.approx(noise_m, rel=3.0 / np.sqrt(n_frames))
    assert found.lost_share == 0.0  # no filter


@pytest.mark.parametrize("duration_s", [0.3, 1.2])
@pytest.mark.parametrize("cutoff_hz", [3.0, 12.0])
@pytest.mark.parametrize("noise_m", [5e-5, 5e-4])
def test_a_reach_loses_what_the_filter_takes_of_its_exact_acceleration(duration_s, cutoff_hz, noise_m):
    """Against the filtered noiseless reach; what is lost in noise anyway is not counted, so the estimate is a little lower."""
    t = np.arange(300) / 200.0
    exact = minimum_jerk(t - 0.15, start=[0.0, 0.0], end=[0.4, 0.25], duration_s=duration_s)
    noisy = exact.position + noise_m * np.random.default_rng(1).normal(size=exact.position.shape)
    smoother = Smoother()
    smoothed = smooth_at(exact.position, rate_hz=200.0, cutoff_hz=cutoff_hz, smoother=smoother).second
    true = np.sqrt(((smoothed - exact.acceleration) ** 2).sum() / (exact.acceleration**2).sum())
    found = judge_cutoff(noisy, rate_hz=200.0, smoother=smoother, cutoff_hz=cutoff_hz)
    assert true - 0.08 < found.lost_share < true + 0.02


def test_noise_that_was_filtered_before_is_not_taken_for_movement():
    """A movement of 1 Hz under noise that the capture program cut at 40 of 250 Hz: level to 40 Hz, falling above."""
    rng = np.random.default_rng(2)
    t = np.arange(1000) / 250.0
    noise = smooth_at(5e-4 * rng.normal(size=(1000, 3)), rate_hz=250.0, cutoff_hz=40.0, smoother=Smoother()).values
    moving = 0.2 * np.sin(2.0 * np.pi * t[:, None] + [0.0, 0.7, 2.0])
    found = judge_cutoff(moving + noise, rate_hz=250.0, smoother=Smoother(), cutoff_hz=6.0)
    assert found.bandwidth_hz < 12.0
    assert found.lost_share < 0.1


def reach_motion(noise_m=2e-4, **changes):
    metrics = arm_motion(DEMO.recording(noise_m=noise_m), **changes).metrics
    judged = {**metrics, "acceleration_lost_share": metrics["acceleration_filtered_share"]}  # where all of it is needed
    return metrics, {flag.check.name for flag in assess(judged, SETTINGS.quality)}


@pytest.mark.parametrize("changes", [{}, {"filter__cutoff_hz": 8}, {"filter__method": "none"}])
def test_every_trial_has_its_noise(changes):
    """Elbow and wrist are means of two markers, shoulder and knuckle one: the root mean square is sqrt(3) / 2 of a marker's."""
    quality, flags = reach_motion(**changes)
    assert quality["noise_m"] == pytest.approx(np.sqrt(0.75) * 2e-4, rel=0.1)
    assert "noise_m" not in flags
    quality, flags = reach_motion(noise_m=5e-3, **changes)
    assert quality["noise_m"] == pytest.approx(np.sqrt(0.75) * 5e-3, rel=0.1)
    assert "noise_m" in flags


def test_a_cutoff_too_low_for_the_movement_is_flagged():
    quality, flags = reach_motion(filter__cutoff_hz=8)
    assert quality["acceleration_filtered_share"] < 0.05
    assert "acceleration_lost_share" not in flags
    quality, flags = reach_motion(filter__cutoff_hz=1.5)
    assert quality["acceleration_filtered_share"] > 0.3
    assert "acceleration_lost_share" in flags


def test_a_peak_that_is_cut_off_is_flagged_and_one_at_rest_is_not():
    """Known frames that end where the torque rises; a minimum at rest, beside the same ends, is none."""
    motion = arm_motion(DEMO.recording(noise_m=2e-4))
    torques = joint_torques(motion)
    net, everywhere = torques.terms.net[:, 0], np.ones(len(motion.time_s), dtype=bool)
    used = np.flatnonzero(used_frames(motion, torques))[:80]  # the way there, not the way back
    top = used[net[used].argmax()]
    assert max(cut_peak_share(motion, torques, everywhere).values()) < 0.05
    cut = top - 4
    ending = replace(motion, edge=motion.edge | (np.arange(len(net)) > cut))
    known, reach = net[used[0] : cut + 1], round(0.05 * motion.rate_hz)
    shares = cut_peak_share(ending, torques, everywhere)
    assert shares[motion.joints[0]] == pytest.approx((known[-1] - known[-1 - reach]) / np.ptp(known))
    (flag, *_) = assess({}, Quality(), {"cut_peak_share": shares})
    assert (flag.check.flag, flag.status, flag.joint) == ("unused_share", "caution", motion.joints[0])
    inside = np.arange(len(net)) <= cut  # a window that ends there, with known frames behind it
    assert cut_peak_share(motion, torques, inside)[motion.joints[0]] == 0.0


def test_the_flag_tells_the_torque_that_the_filter_removes():
    """Against the same reach without filter and noise: the bound holds and is at most twice the torque that is lost."""
    recording = DEMO.recording(noise_m=0.0)
    exact, filtered = arm_motion(recording, filter__method="none"), arm_motion(recording, filter__cutoff_hz=1.8)
    whole, left = joint_torques(exact), joint_torques(filtered)
    used = used_frames(filtered, left) & used_frames(exact, whole)
    lost_nm = [t.terms.inertial.sum(axis=-1)[used] + t.terms.base[used] for t in (whole, left)]
    lost_nm = np.sqrt(((lost_nm[0] - lost_nm[1]) ** 2).mean(axis=0))
    (note,) = lost_torque_note(filtered, left, used, allowed_share=0.3)
    told_nm = [float(number) for number in re.findall(r" ([0-9.]+)(?=,| N m)", note.partition("up to")[2])]
    assert lost_nm[0] < told_nm[0] < 2.0 * lost_nm[0]
    (flag,) = assess({"acceleration_lost_share": 0.5}, SETTINGS.quality, notes=[note])
    assert f": {note}; " in flag.sentence
    assert lost_torque_note(filtered, left, used, allowed_share=0.9) == ()


# --- plates ----------------------------------------------------------------------------------------------------------


def push(n=600, height=800.0, noise=1.0, step=0.0, seed=0):
    """A rounded push of 0.4 s at 1000 Hz between unloaded stretches, as a converter with a step would give it."""
    t = np.arange(n) - n / 2
    signal = height * np.clip(np.cos(np.pi * t / 400.0), 0.0, None) ** 1.5
    signal += noise * np.random.default_rng(seed).normal(size=n)
    return np.round(signal / step) * step if step else signal


@pytest.mark.parametrize(("noise", "step"), [(1.0, 0.0), (1.0, 0.25), (0.0, 0.0), (0.0, 0.5), (0.3, 2.0), (0.0, 5.0)])
def test_a_push_has_a_flat_top_only_where_it_is_cut_off(noise, step):
    """The converter's coarse steps make a peak flat over 8 to 30 samples, but its flanks are those of a parabola."""
    signal = push(noise=noise, step=step)
    assert not flat_tops(signal[:, None]).any()
    for limit in (500.0, 700.0):
        cut = np.minimum(signal, limit)
        np.testing.assert_array_equal(flat_tops(cut[:, None]), cut == limit)
        np.testing.assert_array_equal(flat_tops(-cut[:, None]), cut == limit)
    both = np.stack([push(seed=3), np.minimum(signal, 500.0)], axis=1)
    np.testing.assert_array_equal(flat_tops(both), both[:, 1] == 500.0)


def test_what_is_no_flat_top():
    unloaded = np.round(np.random.default_rng(0).normal(size=(2000, 2)))
    assert not flat_tops(unloaded).any()
    assert not flat_tops(np.zeros((100, 3))).any()
    weight = np.zeros((300, 1))
    weight[100:200] = 700.0  # put on and taken off between two samples
    assert not flat_tops(weight).any()
    later = np.concatenate([push(), weight[:, 0] * 1.3])
    assert not flat_tops(later[:, None]).any()
    held = np.repeat(push(), 10)[:, None]  # 100 Hz, written at 1000 Hz
    assert not flat_tops(held).any()
    zeroed = np.maximum(push(noise=0.0), 50.0) - 50.0  # below a threshold nothing
    assert not flat_tops(zeroed[:, None]).any()
    spike = push()
    spike[300:302] = 1200.0  # two samples
    assert not flat_tops(spike[:, None]).any()
    gaps = np.minimum(push(), 500.0)
    gaps[100:110] = np.nan
    np.testing.assert_array_equal(flat_tops(gaps[:, None]), gaps == 500.0)


def test_no_plate_of_the_recordings_is_saturated_until_it_is_cut_off(recordings):
    for name in ("walking_opensim/walking2.c3d", "cohort/HC030A/Straight/HC030A05.c3d", "c3d_org/sample10/type-2a.c3d"):
        for plate in read_c3d(recordings / name).force_plates:
            assert plate.saturated.shape == plate.force_n.shape[:1]
            assert not plate.saturated.any()
            vertical = plate.force_n[:, np.ptp(plate.force_n, axis=0).argmax()]
            limit = 0.8 * np.abs(vertical).max()
            cut = np.clip(vertical, -limit, limit)
            found = flat_tops(cut[:, None])
            assert runs(found) == [run for run in runs(np.abs(cut) == limit) if run[1] - run[0] > 2]
            assert found.any()


def stance_plate(*, limit_n=np.inf, drift_n=0.0, offset_n=0.0):
    """A plate with a rounded push under the foot of test_loads during its stance."""
    made = plates.plate(loads=[plates.UNDER])
    t = (np.arange(len(made.force_n)) + 0.5) / 10.0
    inside = np.clip(np.sin(np.pi * (t - 50.0) / 60.0), 0.0, None) * ((t > 50.0) & (t < 110.0))
    shape = np.minimum(inside**0.5, limit_n / 700.0)[:, None]
    level = (offset_n + drift_n * t / t[-1])[:, None] * plates.UP
    point = np.array(plates.POINT)
    return replace(
        made, force_n=made.force_n * shape + level, moment_nm=made.moment_nm * shape + np.cross(point, level)
    )


def test_frames_at_the_limit_of_a_plate_have_no_torque():
    whole = plates.ground([stance_plate()], plates.OWN)
    assert (whole.metrics["plate_saturated_share"], whole.metrics["unmeasured_share"]) == (0.0, 0.0)
    cut = plates.ground([stance_plate(limit_n=650.0)], plates.OWN, side="left")
    t = np.arange(500, 1100)
    at_limit = np.sin(np.pi * ((t + 0.5) / 10.0 - 50.0) / 60.0) ** 0.5 >= 650.0 / 700.0
    frames = np.unique(t[at_limit] // 10)
    assert cut.metrics["plate_saturated_share"] == pytest.approx(len(frames) / 160)
    lost = np.flatnonzero(cut.status == UNMEASURED)
    np.testing.assert_array_equal(lost, np.arange(frames[0] - 1, frames[-1] + 2))  # and a frame on each side
    assert np.isnan(cut.force_n[lost]).all()
    assert (cut.status[[55, 105]] == MEASURED).all()
    named = f"plate 1 frames {frames[0] + 1}-{frames[-1] + 1}: a channel is saturated, the force is unknown"
    assert named in cut.notes
    flags = {flag.check.name for flag in assess(cut.metrics, Quality())}
    assert "unmeasured_share" in flags
    known = replace(stance_plate(), saturated=np.isin(np.arange(1600), np.arange(700, 705)))
    told = plates.ground([known], plates.OWN)
    np.testing.assert_array_equal(np.flatnonzero(told.status == UNMEASURED), [69, 70, 71])


def test_a_filter_carries_the_limit_as_far_as_it_reaches():
    known = replace(stance_plate(), saturated=np.isin(np.arange(1600), np.arange(800, 803)))
    found = plates.ground([known], plates.OWN, cutoff_hz=20.0)
    reach = -(-filter_reach(20.0, rate_hz=1000.0, order=2) // 10)
    np.testing.assert_array_equal(np.flatnonzero(found.status == UNMEASURED), np.arange(80 - reach, 81 + reach))


def test_a_limit_outside_the_stance_does_not_matter():
    known = replace(stance_plate(), saturated=np.isin(np.arange(1600), np.arange(100, 110)))
    found = plates.ground([known], plates.OWN)
    assert found.metrics["plate_saturated_share"] == 0.0
    assert not (found.status == UNMEASURED).any()


def test_a_saturated_plate_of_the_other_foot_does_not_matter():
    far = plates.walking_foot(2.0, 0.0)
    found = plates.ground([stance_plate(limit_n=650.0)], far, plates.OWN)
    assert found.metrics["plate_saturated_share"] == 0.0
    assert np.isnan(found.metrics["plate_drift_n"])


@pytest.mark.parametrize("drift_n", [-30.0, 0.0, 12.0])
def test_drift_is_the_change_of_the_unloaded_level(drift_n):
    """Linear over 1.6 s with a stance from 0.5 to 1.1 s: of ten unloaded tenths the medians of the first and last three lie at
    0.15 and 1.45 s."""
    found = plates.ground([stance_plate(drift_n=drift_n, offset_n=8.0)], plates.OWN)
    assert found.metrics["plate_drift_n"] == pytest.approx(abs(drift_n) * 1.3 / 1.6, abs=0.02)
    flagged = "plate_drift_n" in {flag.check.name for flag in assess(found.metrics, Quality())}
    assert flagged == (abs(drift_n) > 25.0)


def test_a_touch_is_no_drift():
    """Three tenths of a second in which something knocks on the plate with up to 15 N."""
    knocked = stance_plate()
    knocks = np.where(np.arange(1600) < 300, 7.5 * (1.0 - np.cos(2.0 * np.pi * np.arange(1600) / 100.0)), 0.0)
    touched = replace(knocked, force_n=knocked.force_n + knocks[:, None] * plates.UP)
    assert plates.ground([touched], plates.OWN).metrics["plate_drift_n"] == pytest.approx(0.0, abs=0.1)


# --- the page --------------------------------------------------------------------------------------------------------


def test_a_channel_of_rounding_alone_is_not_saturated():
    """Values of 1e-12 beside forces of 500 N, the largest of them thrice in a row, with steep flanks."""
    dust = np.tile([1e-13, -2e-13, 0.0, 2e-12, 3e-12, 3e-12, 3e-12, 2e-12], 25)
    push = 500.0 * np.sin(np.linspace(0.0, np.pi, 200))
    assert flat_tops(dust[:, None]).any()
    assert not flat_tops(np.column_stack([push, dust])).any()

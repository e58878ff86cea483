"""Smoothing with a higher cut-off around impacts, and where the foot lands: against the plain filter and simulated walks."""

import numpy as np
import pytest

from clustered_legs import LANDMARKS
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.motion.limb import Limb
from limbtorque.signals.smoothers import (
    AFTER_S,
    BEFORE_S,
    RAMP_S,
    Smoother,
    impact_weight,
    smooth_values,
    smooth_with_impacts,
)
from limbtorque.simulation.gait import Walker, Walkway, walk, walk_recording
from limbtorque.study.settings import make_settings
from limbtorque.torques.joint_torques import joint_torques, used_frames

RATE_HZ, SMOOTHER = 100.0, Smoother()
VALUES = np.random.default_rng(0).normal(size=(300, 2))
FIRST_S, STRIDE_S = 0.3, 1.1
WALKER = Walker(stride_s=STRIDE_S, strike_m_s=0.3)


def smooth(hz):
    return smooth_values(VALUES, rate_hz=RATE_HZ, cutoff_hz=hz, smoother=SMOOTHER)


def around(impact_hz, *impacts_s):
    return smooth_with_impacts(
        VALUES, rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=SMOOTHER, impact_hz=impact_hz, impacts_s=impacts_s
    )


def test_near_an_impact_the_higher_cutoff_holds_and_far_from_it_the_lower():
    found, since = around(15.0, 1.5), np.arange(300) / RATE_HZ - 1.5
    near = (since >= -BEFORE_S - 1e-9) & (since <= AFTER_S + 1e-9)
    far = (since < -BEFORE_S - RAMP_S) | (since > AFTER_S + RAMP_S)
    np.testing.assert_allclose(found[near], smooth(15.0)[near], rtol=0.0, atol=1e-8)  # from the frames around it
    np.testing.assert_array_equal(found[far], smooth(6.0)[far])
    between = ~near & ~far
    assert between.any()
    low, high = (np.minimum(smooth(6.0), smooth(15.0)), np.maximum(smooth(6.0), smooth(15.0)))
    assert ((found >= low - 1e-8) & (found <= high + 1e-8))[between].all()


@pytest.mark.parametrize("impact_hz", [6.0, 3.0])
def test_without_impacts_or_a_higher_cutoff_the_plain_filter_is_left(impact_hz):
    np.testing.assert_array_equal(around(15.0), smooth(6.0))
    np.testing.assert_array_equal(around(impact_hz, 1.5), smooth(6.0))


def test_the_weight_of_neighbouring_impacts_is_never_above_one():
    weight = impact_weight(300, RATE_HZ, np.array([1.0, 1.05, 2.0]))
    assert weight.min() == 0.0
    assert weight.max() == pytest.approx(1.0, abs=1e-14)


def walking(factor, side="right"):
    strides = np.arange(-1, 4)
    plates = [
        (float((k + shift) * WALKER.stride_m + 0.1), y) for k in strides for shift, y in ((0.0, -0.2), (0.5, 0.2))
    ]
    walkway = Walkway(plates_m=tuple(plates), noise_m=3e-4, noise_n=1.0, seed=3)
    made = walk_recording(WALKER, walkway, duration_s=3.0, first_strike_s=FIRST_S)
    raw = {
        "marker_sets": {"set": LANDMARKS},
        "plane": {"up_axis": "+z", "forward_axis": "+x"},
        "filter": {"impact_factor": factor},
    }
    return chain_motion(made, Limb("leg", side=side, body_mass_kg=WALKER.mass_kg), make_settings(raw))


@pytest.mark.parametrize(("side", "strikes_s"), [("right", (0.3, 1.4, 2.5)), ("left", (0.85, 1.95))])
def test_the_impacts_are_where_this_foot_lands_on_a_plate(side, strikes_s):
    """To three frames: the force has to rise above its threshold."""
    (note,) = [note for note in walking(1.5, side).notes if "filter.impact_factor" in note]
    found = [float(time_s) for time_s in note.split(" at ")[1].split(" s ")[0].split(", ")]
    np.testing.assert_allclose(found, strikes_s, atol=0.03)


def test_a_hard_heel_strike_is_kept_better_with_a_higher_cutoff_around_it():
    """The force is nearer to the exact one, the moment that the filter removes is smaller, and the terms still add up."""
    truth = walk(WALKER, np.arange(301) / 100.0, first_strike_s=FIRST_S)["right"]
    errors, lost = [], []
    for factor in (1.0, 1.5):
        motion = walking(factor)
        torques = joint_torques(motion)
        used = used_frames(motion, torques)
        assert np.abs(torques.closure_nm[used]).max() < 1e-9
        force = (motion.load.force_n - truth.force_n)[used]
        errors.append(np.sqrt((force**2).mean()))
        lost.append(motion.metrics["load_moment_lost_share"])
        assert not any("filter.impact_factor" in note for note in motion.notes) or factor > 1.0
    assert errors[1] < 0.8 * errors[0]
    assert lost[1] < lost[0]


def test_the_weight_is_a_smooth_ramp_before_and_after():
    """One from 30 ms before to 70 ms after an impact; a ramp's middle is a half, and both its ends are flat to the second order."""
    rate_hz = 10_000.0
    weight = impact_weight(10_000, rate_hz, np.array([0.5]))
    at = [round(time_s * rate_hz) for time_s in (0.5 - BEFORE_S, 0.5, 0.5 + AFTER_S)]
    np.testing.assert_allclose(weight[min(at) : max(at) + 1], 1.0, rtol=1e-12)
    for middle in (0.5 - BEFORE_S - RAMP_S / 2.0, 0.5 + AFTER_S + RAMP_S / 2.0):
        assert weight[round(middle * rate_hz)] == pytest.approx(0.5, abs=1e-9)
    ends = [round((0.5 - BEFORE_S - RAMP_S) * rate_hz), round((0.5 + AFTER_S + RAMP_S) * rate_hz)]
    assert weight[: ends[0] + 1].max() < 1e-12
    assert weight[ends[1] :].max() < 1e-12
    assert weight[ends[0] + 2] > 1e-9
    quarter = round((0.5 - BEFORE_S - 0.75 * RAMP_S) * rate_hz)
    assert weight[quarter] == pytest.approx(10.0 / 4**3 - 15.0 / 4**4 + 6.0 / 4**5, abs=1e-9)
    second = np.diff(weight, 2) * rate_hz**2
    for k in (ends[0] - 1, min(at) - 1, max(at) - 1, ends[1] - 1):
        assert abs(second[k]) < 0.01 * abs(second).max()
    assert (np.diff(weight[ends[0] + 1 : min(at)]) > 0.0).all()

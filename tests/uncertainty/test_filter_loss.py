"""Course of the filter's loss: closed ratios, and a movement whose jerk jumps once."""

from dataclasses import replace

import numpy as np
import pytest
from still_chains import motion_of, with_errors

from limbtorque.chain.model import Chain, Kinematics
from limbtorque.motion.limb import Limb
from limbtorque.signals.smoothers import Smoother, impact_weight, smooth_values, smooth_with_impacts
from limbtorque.uncertainty.analysed_limb import AnalysedLimb, Cutoffs
from limbtorque.uncertainty.filter_loss import (
    FilterLoss,
    factors_over_time,
    loss_course,
    loss_factors,
    loss_ratio,
    ratio_of_signal,
    variance_of_loss,
)
from limbtorque.uncertainty.marker_noise import NoiseGains, NoiseSum

RATE_HZ, CUTOFF_HZ, N_FRAMES = 100.0, 5.0, 400
SMOOTHER = Smoother("butterworth", 3)
ONE = Cutoffs((CUTOFF_HZ,), np.ones((1, N_FRAMES)))


def motion():
    still = np.zeros((N_FRAMES, 1))
    chain = Chain([0.25], [1.0], [0.1], [0.01])
    found = motion_of(chain, Kinematics(still, still, still), joints=("elbow",), segments=("forearm",))
    return replace(found, cutoff_hz=(CUTOFF_HZ,))


def filtered(values):
    return smooth_values(values, rate_hz=RATE_HZ, cutoff_hz=CUTOFF_HZ, smoother=SMOOTHER)


def directions(position_m, smooth=filtered, cutoffs=ONE):
    """Both directions of `filter_errors` for one coordinate of one joint."""
    once = smooth(position_m)
    lost = loss_ratio(SMOOTHER, CUTOFF_HZ, RATE_HZ) / np.sqrt(2.0) * (once - smooth(once))
    turned = np.gradient(lost, 1.0 / RATE_HZ) / (2.0 * np.pi * cutoffs.over_time(cutoffs.hz))
    return np.stack([lost, turned])[None] + 0j


def jumping():
    """Position of a movement that starts with a jump of jerk in the middle, m."""
    since = np.maximum(np.arange(N_FRAMES) / RATE_HZ - 2.0, 0.0)
    return 30.0 * since**3 / 6.0


def test_ratio_of_two_losses_of_a_butterworth_filter():
    """The gain is ``1 / (1 + w^6)``: the ratio squared is ``B(3/2, 1/2) / B(3/2, 5/2) = 8`` for accelerations.

    Velocities have ``B(7/6, 5/6)`` and positions ``B(5/6, 7/6)`` over ``B(5/6, 19/6)``, times powers of the pole.
    """
    assert loss_ratio(SMOOTHER, CUTOFF_HZ, RATE_HZ) == pytest.approx(np.sqrt(8.0), rel=0.02)
    pole = 2.0 * np.pi * CUTOFF_HZ / (np.sqrt(2.0) - 1.0) ** (1.0 / 6.0)
    position, velocity, acceleration = loss_factors(SMOOTHER, CUTOFF_HZ, RATE_HZ)
    assert position == pytest.approx(np.sqrt(2.374 / 8.0), rel=0.02)
    assert velocity == pytest.approx(pole * np.sqrt(0.1745 / 0.0735 / 8.0), rel=0.03)
    assert acceleration == pytest.approx(pole**2 * np.sqrt(0.2618 / 0.0735 / 8.0), rel=0.03)


def test_loss_of_a_jump_of_jerk_is_found_where_it_is():
    """The limits hold the true loss of every frame near the jump; far from it hardly anything is stated.

    With its rate of change over that of a wave at the cut-off, a loss of spectrum ``w^4 / (1 + w^6)`` has (1 + 3.9) / 2 of its
    own energy.
    """
    position = jumping()
    lost = directions(position)
    amplitude = loss_course(motion(), with_errors(), lost, 0.0, ONE).amplitude
    factor = loss_factors(SMOOTHER, CUTOFF_HZ, RATE_HZ)[2]
    stated = amplitude * factor * np.sqrt((np.abs(lost) ** 2).sum(axis=(0, 1)))
    true = np.gradient(np.gradient(position - filtered(position))) * RATE_HZ**2
    far = np.r_[50:140, 260:350]
    assert stated[far].max() < 0.05 * stated.max()
    assert (np.abs(true[150:250]) < 1.96 * stated[150:250] + 0.02 * np.abs(true).max()).all()
    assert 1.0 < (stated[150:250] ** 2).sum() / (true[150:250] ** 2).sum() < 3.5


def test_around_an_impact_the_loss_is_that_of_the_higher_cutoff():
    """A foot strikes where the jerk jumps; the lost acceleration over the lost position grows as the cut-off squared."""
    high_hz, jump = 1.5 * CUTOFF_HZ, 200
    weight = impact_weight(N_FRAMES, RATE_HZ, np.array([jump / RATE_HZ]))
    cutoffs = Cutoffs((CUTOFF_HZ, high_hz), np.stack([1.0 - weight, weight]))

    def smooth(values):
        options = {"rate_hz": RATE_HZ, "cutoff_hz": CUTOFF_HZ, "smoother": SMOOTHER, "impact_hz": high_hz}
        return smooth_with_impacts(values, **options, impacts_s=[jump / RATE_HZ])

    position = jumping()
    lost = directions(position, smooth, cutoffs)
    amplitude = loss_course(motion(), with_errors(), lost, 0.0, cutoffs).amplitude
    factor = factors_over_time(SMOOTHER, cutoffs, RATE_HZ)[2]
    stated = amplitude * factor * np.sqrt((np.abs(lost) ** 2).sum(axis=(0, 1)))
    true = np.gradient(np.gradient(position - smooth(position))) * RATE_HZ**2
    near = slice(jump - 2, jump + 6)
    assert (np.abs(true[near]) < 1.96 * stated[near]).all()
    assert stated[near].max() < 3.0 * np.abs(true[near]).max()


@pytest.mark.parametrize(("power", "expected"), [(1, np.sqrt(8.0)), (3, np.sqrt(2.374))])
def test_ratio_of_a_load_follows_from_its_own_spectrum(power, expected):
    """A load whose slope jumps has the power f^-4 and the ratio of accelerations, one of t^3 that of positions."""
    once = filtered(np.maximum(np.arange(N_FRAMES) / RATE_HZ - 2.0, 0.0) ** power)
    second = once - filtered(once)
    inner = slice(80, -80)
    found = ratio_of_signal(second[inner], filtered(second)[inner], SMOOTHER, CUTOFF_HZ, RATE_HZ)
    assert found == pytest.approx(expected, rel=0.05)


def test_a_movement_that_nothing_is_lost_of_has_no_loss():
    """The filter keeps polynomials of the fifth degree: what is left far from the ends is rounding."""
    position = 0.1 * (np.arange(N_FRAMES) / RATE_HZ) ** 2
    lost = directions(position)
    lost[..., :100] = lost[..., -100:] = 0.0
    stated = loss_course(motion(), with_errors(), lost, 0.0, ONE).amplitude * np.abs(lost).sum(axis=(0, 1))
    assert stated.max() < 1e-9


def test_variance_without_noise_of_the_estimate():
    """Of an energy of 3 with noise of 1, ``(3 - 1)^2 / 3`` is left; unknown frames stay unknown."""
    variance, in_loss = np.full((1, 1, N_FRAMES), 3.0), np.full((1, 1, N_FRAMES), 1.0)
    variance[..., 7] = np.nan
    found = variance_of_loss(variance, in_loss, FilterLoss(*np.ones((2, N_FRAMES))), motion())
    np.testing.assert_allclose(found[0, 0, 60:-60], 4.0 / 3.0, rtol=1e-9)
    assert np.isnan(found[0, 0, 7])
    assert not np.nan_to_num(
        variance_of_loss(variance, 5.0 * in_loss, FilterLoss(*np.ones((2, N_FRAMES))), motion())
    ).any()


def second_loss(values):
    """Second loss and its rate of change, as of `filter_errors` but for a factor."""
    once = filtered(values)
    lost = once - filtered(once)
    return np.stack([lost, np.gradient(lost, 1.0 / RATE_HZ) / (2.0 * np.pi * CUTOFF_HZ)])


def test_noise_alone_is_hardly_taken_for_a_loss():
    """The noise's energy in two periods of the cut-off has a standard deviation of 0.8 of its mean: chance is no loss."""
    drawn = second_loss(np.random.default_rng(3).standard_normal(N_FRAMES * 100))
    energy = np.square(drawn).sum(axis=0)
    mean = np.full(N_FRAMES, energy.mean())[None, None]
    left = [
        variance_of_loss(each[None, None], mean, FilterLoss(*np.ones((2, N_FRAMES))), motion())
        for each in energy.reshape(100, N_FRAMES)
    ]
    assert np.mean(left) < 0.2 * energy.mean()


def test_noise_in_the_loss_of_a_sum():
    """White noise has the sum of the squares of the weights, as the symmetric filter makes them."""
    weight = np.zeros(N_FRAMES)
    weight[150:250] = 0.01
    limb = Limb("forearm", side="right", body_mass_kg=70.0, marker_set="sim")
    gains = NoiseGains.of(AnalysedLimb(motion(), limb, with_errors()))
    of_sum = NoiseSum.over(weight, gains, (1, 1), 1)
    rows = np.zeros((1, 1, 3, N_FRAMES))
    rows[:, :, 0] = 1.0  # of the position alone
    of_sum.add(rows, slice(0, N_FRAMES))
    once = filtered(weight)
    expected = 2.0 * gains.loss**2 * np.square(once - filtered(once)).sum()
    found, in_loss = of_sum.variances()
    assert in_loss[0, 0] == pytest.approx(expected, rel=1e-3)
    assert found[0, 0] == pytest.approx(np.square(once).sum(), rel=1e-3)


def test_a_velocity_term_at_rest_has_no_loss_whatever_comes_soon():
    """Its loss is the velocity times that of the velocity; rows: net, inertial, centripetal, gravity, base, external."""
    velocity = np.where(np.arange(N_FRAMES) < 200, 0.0, 3.0)[:, None]
    moving = motion()
    moving = replace(moving, kinematics=replace(moving.kinematics, velocity_rad_s=velocity))
    variance = np.ones((1, 6, N_FRAMES))
    variance[0, 2] = velocity[:, 0] ** 2
    found = variance_of_loss(variance, np.zeros_like(variance), FilterLoss(*np.ones((2, N_FRAMES))), moving)
    np.testing.assert_allclose(found[0, 2, 60:-60], velocity[60:-60, 0] ** 2, rtol=1e-9)
    np.testing.assert_allclose(found[0, [0, 1, 3, 4, 5], 60:-60], 1.0, rtol=1e-9)

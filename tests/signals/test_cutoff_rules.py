"""Automatic cut-offs by their definitions, written a second time: the grid, the line of the residual, the expected error."""

import numpy as np
import pytest

from limbtorque.errors import SignalError
from limbtorque.signals.cutoff import choose_cutoff, moving_share
from limbtorque.signals.smoothers import Smoother, second_gains
from limbtorque.signals.spectrum import frequencies
from limbtorque.simulation.reach import minimum_jerk

RATE_HZ = 100.0
BUTTERWORTH = Smoother("butterworth", 2)


def noisy(n=300, noise=1e-3, seed=0, channels=1):
    t = np.arange(n) / RATE_HZ
    slow = np.exp(-0.5 * ((t - t.mean()) / 0.2) ** 2)
    return slow[:, None] + noise * np.random.default_rng(seed).normal(size=(n, channels))


# --- grid ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "lowest_hz"), [(100, 2.0), (320, 0.625), (400, 0.5), (1000, 0.5)])
def test_cutoffs_tried(n, lowest_hz):
    """40 from 0.5 Hz, or two periods in the recording, to 0.4 of the rate, in equal ratios; some too low for few frames."""
    grid_hz = choose_cutoff(noisy(n), rate_hz=RATE_HZ, smoother=BUTTERWORTH, by="residual").grid_hz
    full = np.geomspace(lowest_hz, 0.4 * RATE_HZ, 40)
    np.testing.assert_allclose(grid_hz, full[-len(grid_hz) :])
    assert len(grid_hz) >= 30


def test_fewest_frames():
    choose_cutoff(noisy(20), rate_hz=RATE_HZ, smoother=BUTTERWORTH)
    with pytest.raises(SignalError, match="19 frames are fewer than the 20 that an automatic cut-off needs"):
        choose_cutoff(noisy(19), rate_hz=RATE_HZ, smoother=BUTTERWORTH)


# --- residual --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("noise", "seed"), [(1e-4, 0), (1e-2, 1)])
def test_residual_analysis_is_the_longest_line_of_95_percent(noise, seed):
    """The line over the longest upper part, of 160 cut-offs in equal steps, in which it explains 95 % of the variance."""
    choice = choose_cutoff(noisy(noise=noise, seed=seed), rate_hz=RATE_HZ, smoother=BUTTERWORTH, by="residual")
    at_hz = np.linspace(choice.grid_hz[0], choice.grid_hz[-1], 160)
    curve = np.interp(at_hz, choice.grid_hz, choice.residual)
    for start in range(160):
        slope, intercept = np.polyfit(at_hz[start:], curve[start:], 1)
        off = curve[start:] - intercept - slope * at_hz[start:]
        if 1.0 - off.var() / curve[start:].var() >= 0.95:
            break
    assert start < 120
    assert choice.line == pytest.approx((intercept, slope))
    assert choice.noise == intercept == pytest.approx(noise, rel=0.2)
    assert not choice.at_limit
    assert np.interp(choice.cutoff_hz, choice.grid_hz, choice.residual) == pytest.approx(intercept, rel=1e-9)
    np.testing.assert_allclose(choice.criterion, abs(choice.residual - intercept))


def test_the_residual_by_the_spectrum_is_the_power_that_the_filter_takes():
    """Even power: the mean square of 1 - 1 / (1 + c w^4), by the filter's frequencies on the warped axis."""
    n = 400
    frequency_hz = frequencies(n, RATE_HZ)
    found = choose_cutoff(noisy(n), rate_hz=RATE_HZ, smoother=BUTTERWORTH, power=np.ones(len(frequency_hz)))
    warped, cutoffs = (
        np.tan(np.pi * hz / RATE_HZ) for hz in (frequency_hz[frequency_hz < RATE_HZ / 2.0], found.grid_hz)
    )
    left = 1.0 - 1.0 / (1.0 + (np.sqrt(2.0) - 1.0) * (warped / cutoffs[:, None]) ** 4)
    squares = (left**2).sum(axis=1) + (len(frequency_hz) - len(warped))  # nothing passes at half the rate
    np.testing.assert_allclose(found.residual, np.sqrt(squares / len(frequency_hz)), rtol=1e-6)


def test_residual_analysis_of_nothing_takes_the_lowest_cutoff():
    choice = choose_cutoff(np.zeros(200), rate_hz=RATE_HZ, smoother=BUTTERWORTH, by="residual")
    assert (choice.residual == 0).all()
    assert (choice.noise, choice.cutoff_hz) == (0.0, choice.grid_hz[0])
    assert choice.at_limit


# --- expected error --------------------------------------------------------------------------------------------------


def spectrum_of(n, floor):
    """Power of a movement that falls with f^-8 above 1 Hz, and of white noise."""
    frequency_hz = frequencies(n, RATE_HZ)
    return frequency_hz, np.maximum(frequency_hz, 1.0) ** -8.0 + floor**2


def expected_error(frequency_hz, power, level, cutoffs_hz):
    """Mean of ((1 - H)^2 (P - N) + H^2 N) times the fourth power of the angular frequency."""
    errors = []
    for cutoff_hz in cutoffs_hz:
        (gain,) = second_gains(frequency_hz, rate_hz=RATE_HZ, cutoffs_hz=[cutoff_hz], smoother=BUTTERWORTH)[1]
        each = (1.0 - gain) ** 2 * (power - level) + gain**2 * level
        errors.append(np.mean(each * (2.0 * np.pi * frequency_hz) ** 4))
    return np.array(errors)


def test_expected_error_by_its_definition():
    """The noise counts 1.15 times; the floor of a spectrum without scatter is found to 1e-3."""
    n, floor = 600, 1e-3
    frequency_hz, power = spectrum_of(n, floor)
    choice = choose_cutoff(np.zeros((n, 3)), rate_hz=RATE_HZ, smoother=BUTTERWORTH, power=power)
    assert (choice.noise, choice.corner_hz) == (pytest.approx(floor, rel=1e-3), 0.0)
    expected = expected_error(frequency_hz, power, 1.15 * floor**2, choice.grid_hz)
    np.testing.assert_allclose(choice.criterion, expected, rtol=0.01)
    k = np.argmin(expected)
    ratio = choice.grid_hz[k + 1] / choice.grid_hz[k]
    before, least, after = expected[k - 1 : k + 2]
    top = choice.grid_hz[k] * ratio ** (0.5 * (before - after) / (before - 2.0 * least + after))
    assert choice.cutoff_hz == pytest.approx(top, rel=1e-3)
    assert choice.cutoff_hz != choice.grid_hz[k]
    passed = choice.residual**2
    assert (np.diff(passed) < 0).all()
    assert passed[-1] < floor**2 < passed[0]


def test_a_choice_at_the_end_of_the_grid_says_so():
    """Noise alone: the lowest cut-off is the best."""
    n = 400
    frequency_hz = frequencies(n, RATE_HZ)
    choice = choose_cutoff(
        np.zeros((n, 3)), rate_hz=RATE_HZ, smoother=BUTTERWORTH, power=np.full(len(frequency_hz), 1e-6)
    )
    assert choice.at_limit
    assert choice.cutoff_hz == choice.grid_hz[0]


# --- autocorrelation -------------------------------------------------------------------------------------------------


def test_autocorrelation_is_the_mean_of_the_channels():
    both = noisy(channels=2)
    curves = [
        choose_cutoff(each, rate_hz=RATE_HZ, smoother=BUTTERWORTH, by="autocorrelation").criterion
        for each in (both, both[:, :1], both[:, 1:])
    ]
    np.testing.assert_allclose(curves[0], (curves[1] + curves[2]) / 2.0)
    still = np.concatenate([both, np.ones((len(both), 1))], axis=1)  # a channel without residual does not count
    found = choose_cutoff(still, rate_hz=RATE_HZ, smoother=BUTTERWORTH, by="autocorrelation")
    assert np.isfinite(found.criterion).all()


# --- share of the frames that move -----------------------------------------------------------------------------------


def test_moving_frames_are_those_faster_than_a_twentieth_of_the_top_speed():
    """A minimum-jerk step of 1 s in 3 s is faster than that for 0.881 of its second: 16 u^2 (1 - u)^2 = 0.05."""
    time_s = np.arange(300) / RATE_HZ
    step = minimum_jerk(time_s - 1.0, start=[0.0], end=[1.0], duration_s=1.0).position
    found = moving_share(step, rate_hz=RATE_HZ, cutoff_hz=12.0, smoother=BUTTERWORTH)
    assert found == pytest.approx(0.881 / 3.0, abs=0.01)
    assert moving_share(0.0 * step, rate_hz=RATE_HZ, cutoff_hz=12.0, smoother=BUTTERWORTH) == 1.0


def test_noise_that_counts_less_allows_a_higher_cutoff():
    _, power = spectrum_of(600, 1e-3)
    whole, part = (
        choose_cutoff(
            np.zeros((600, 3)), rate_hz=RATE_HZ, smoother=BUTTERWORTH, power=power, noise_share=share
        ).cutoff_hz
        for share in (1.0, 0.5)
    )
    assert whole < part < 1.2 * whole


def test_a_filter_too_long_for_every_cutoff_is_said_without_a_further_reason():
    with pytest.raises(SignalError, match=r"no cut-off can be chosen from 20 frames.* to a number$"):
        choose_cutoff(noisy(20), rate_hz=RATE_HZ, smoother=Smoother("butterworth", 8))

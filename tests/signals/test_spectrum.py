"""Spectra, their noise and their plateaus: expected values from closed forms, at both sides of each threshold."""

import numpy as np
import pytest
from scipy import optimize

from limbtorque.signals.spectrum import NoiseSpectrum, find_noise, find_plateau, frequencies, spectra, spectrum

RATE_HZ = 100.0
FREQUENCY_HZ = np.arange(1, 5001) / 100.0  # fine enough for the mean of a band to be its integral


# --- power -----------------------------------------------------------------------------------------------------------


def test_power_of_a_sine_stands_at_its_frequency():
    """The sum of the power of a sine of amplitude a under a window is n a^2 / 4, with n the frames (Parseval)."""
    n, at_hz, amplitude = 2003, 20.0, 0.3
    t = np.arange(n) / RATE_HZ
    frequency_hz, power = spectrum(amplitude * np.sin(2 * np.pi * at_hz * t)[:, None], rate_hz=RATE_HZ)
    assert frequency_hz[np.argmax(power)] == pytest.approx(at_hz)
    near = abs(frequency_hz - at_hz) < 1.0
    assert power[near].sum() == pytest.approx((n - 3) * amplitude**2 / 4, rel=1e-3)
    assert power[~near & (frequency_hz > 1.0)].max() < 1e-4 * power.max()
    np.testing.assert_array_equal(frequencies(n, RATE_HZ), frequency_hz)
    assert frequency_hz[[0, -1]] == pytest.approx([RATE_HZ / (n - 3), RATE_HZ / 2])


def test_mean_of_points_and_of_coordinates():
    """Power is quadratic: a point of twice the size has four times the power, and the mean of both is 2.5 times."""
    noise = np.random.default_rng(3).normal(size=(500, 1, 3))
    both = spectra(np.concatenate([noise, 2.0 * noise], axis=1))
    alone = spectra(noise).each()[:, 0]
    np.testing.assert_allclose(both.each(), alone[:, None] * [1.0, 4.0])
    np.testing.assert_allclose(both.together(), 2.5 * alone)
    np.testing.assert_allclose(both.together(np.array([False, True])), 4.0 * alone)
    by_coordinate = [spectra(noise[:, :, [axis]]).each()[:, 0] for axis in range(3)]
    np.testing.assert_allclose(alone, np.mean(by_coordinate, axis=0))


def test_power_of_a_model_of_noise():
    noise = NoiseSpectrum(floor=2.0, rise=6.0)
    np.testing.assert_allclose(noise.power(np.array([1.0, 3.0, 6.0])), [40.0, 8.0, 5.0])
    assert noise.corner_hz == 3.0
    assert NoiseSpectrum(2.0, 0.0).corner_hz == NoiseSpectrum(0.0, 0.0).corner_hz == 0.0
    assert NoiseSpectrum(0.0, 6.0).corner_hz == np.inf
    assert NoiseSpectrum(0.5, 0.25).corner_hz == 0.5


# --- noise -----------------------------------------------------------------------------------------------------------


def least_negative_log_likelihood(frequency_hz, power, *, slopes, coloured):
    """Whittle's likelihood at its best, by a general optimizer in the logarithms of the parts."""
    relative = frequency_hz / frequency_hz[0]

    def negative(logs, slope):
        model = np.exp(logs[0]) * relative**-slope + np.exp(logs[1])
        model = model + np.exp(logs[2]) * relative**-2.0 if coloured else model
        return np.sum(np.log(model) + power / model)

    start = np.log([power[0] / 2, power[-1], power[0] / 100][: 3 if coloured else 2])
    found = (
        optimize.minimize(negative, start, args=(slope,), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10})
        for slope in slopes
    )
    return min(each.fun for each in found)


def test_a_rising_part_is_used_from_a_likelihood_ratio_on():
    """Twice the gain of log-likelihood follows a chi-squared distribution; 2 is its 95 %.

    The power has no scatter, so the gain of one channel is exact, and the number of channels multiplies it; a Hann window
    leaves two independent values of three.
    """
    frequency_hz = np.arange(10, 501) / 10.0
    power = 1e-2 * (frequency_hz / 1.0) ** -8.0 + 1e-6 * (1.0 + (1.2 / frequency_hz) ** 2)
    used = (frequency_hz > 2.0) & (frequency_hz < 0.98 * 50.0)
    best = {
        coloured: least_negative_log_likelihood(
            frequency_hz[used], power[used], slopes=(8.0, 10.0, 14.0, 20.0), coloured=coloured
        )
        for coloured in (False, True)
    }
    channels = 2.0 / (2.0 / 3.0 * (best[False] - best[True]))
    assert channels > 30  # a channel more or less is within 3 %
    for part, rises in ((0.97, False), (1.03, True)):
        found = find_noise(frequency_hz, power, above_hz=2.0, n_channels=round(part * channels))
        assert (found.rise > 0) == rises
        if rises:
            assert found.floor == pytest.approx(1e-3, rel=1e-3)
            assert found.rise == pytest.approx(1.2e-3, rel=1e-2)


def test_noise_is_sought_above_a_frequency_and_below_the_last():
    """A signal below and an anti-aliasing filter's fall at the very end do not count."""
    frequency_hz = np.arange(1, 501) / 10.0
    power = np.where(frequency_hz > 5.0, 4e-6, 1.0)
    power[frequency_hz >= 49.0] = 1e-12
    found = find_noise(frequency_hz, power, above_hz=5.0, n_channels=3)
    assert found.floor == pytest.approx(2e-3, rel=1e-6)
    assert found.rise == 0.0


def test_few_frequencies_are_the_last_ten():
    frequency_hz = np.arange(1.0, 41.0)
    power = np.where(frequency_hz > 30.0, 9e-6, 1.0)  # the last ten
    assert find_noise(frequency_hz, power, above_hz=39.0, n_channels=3).floor == pytest.approx(3e-3, rel=1e-6)


# --- plateau ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("slope", "flat"), [(2.0, True), (2.9, True), (3.1, False), (8.0, False)])
def test_a_power_law_is_a_plateau_where_it_falls_by_less_than_the_third_power(slope, flat):
    """Flat power up to 2 Hz holds nearly all of the velocity's power where what follows is small."""
    power = np.where(FREQUENCY_HZ <= 2.0, 1.0, 1e-4 * (FREQUENCY_HZ / 2.0) ** -slope)
    start_hz, level = find_plateau(FREQUENCY_HZ, power)
    if not flat:
        assert (start_hz, level) == (np.inf, 0.0)
    else:
        # velocity's power grows with f^3 up to 2 Hz; bands grow by a half, and the first fall ends in the second band
        first_hz = 2.0 * 0.95 ** (1 / 3)
        assert start_hz == pytest.approx(1.5**2 * first_hz, rel=0.01)
        inside = (start_hz, 1.5 * start_hz)
        integral = 1e-4 * 2.0**slope * np.diff(np.power(inside, 1 - slope))[0] / (1 - slope)
        assert level == pytest.approx(integral / (inside[1] - inside[0]), rel=0.01)


def test_a_plateau_has_the_level_of_its_noise():
    """Movement that falls with f^-8 from 1 Hz on meets noise of 1e-7 at 7.5 Hz."""
    start_hz, level = find_plateau(FREQUENCY_HZ, np.maximum(FREQUENCY_HZ, 1.0) ** -8.0 + 1e-7)
    assert 7.5 / 1.5 < start_hz < 7.5 * 1.5**2
    assert level == pytest.approx(1e-7, rel=0.5)  # a band of the crossing holds some movement


@pytest.mark.parametrize(("velocity_share", "moves"), [(0.1, True), (0.03, False)])
def test_what_moves_is_no_plateau(velocity_share, moves):
    """A tremor of 10 Hz belongs to the movement where it holds more than a twentieth of the velocity's power (f^2 times
    the power), though it holds a hundred times less of the position's."""
    slow, tremor = FREQUENCY_HZ <= 1.0, (FREQUENCY_HZ > 9.0) & (FREQUENCY_HZ <= 11.0)
    squares = FREQUENCY_HZ**2
    size = velocity_share / (1.0 - velocity_share) * squares[slow].sum() / squares[tremor].sum()
    power = np.where(slow, 1.0, np.where(tremor, size, 1e-3 * size * (11.0 / np.maximum(FREQUENCY_HZ, 1.0)) ** 8))
    power = np.where(slow | tremor, power, np.where(FREQUENCY_HZ < 9.0, FREQUENCY_HZ**-8.0 * 1e-2, power))
    assert (find_plateau(FREQUENCY_HZ, power)[0] == np.inf) == moves


def test_no_plateau_in_fewer_than_three_bands():
    """Four edges make three bands: from 1 Hz that takes 1.5^3 = 3.375 Hz."""
    for last_hz, found in ((3.3, False), (3.6, True)):
        frequency_hz = np.arange(1, round(last_hz * 100) + 1) / 100.0
        slow = frequency_hz <= 1.0
        squares = frequency_hz**2
        tail = (
            0.0501 / 0.9499 * squares[slow].sum() / squares[~slow].sum()
        )  # a little more than a twentieth: from 1 Hz on
        assert (find_plateau(frequency_hz, np.where(slow, 1.0, tail))[0] < np.inf) == found
    assert find_plateau(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4)) == (np.inf, 0.0)  # bands without a frequency

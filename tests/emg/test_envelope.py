"""Band-pass and envelope against closed forms, and against noise of known size."""

import math

import numpy as np
import pytest
from emg_signals import RATE_HZ, noise

from limbtorque.emg.processing import at_times, band_pass, linear_envelope
from limbtorque.errors import SignalError


def gain(frequency_hz, rate_hz=RATE_HZ, low_pass_hz=450.0):
    time_s = np.arange(int(4 * rate_hz)) / rate_hz
    passed = band_pass(
        np.sin(2 * np.pi * frequency_hz * time_s)[:, None], rate_hz=rate_hz, high_pass_hz=20.0, low_pass_hz=low_pass_hz
    )
    middle = slice(int(rate_hz), int(3 * rate_hz))
    return float(np.sqrt(2.0 * np.mean(passed[middle] ** 2)))


def test_gain_of_the_bilinear_butterworth_filters():
    """Closed form: two passes of each have 1 / (1 + (w / wd)^4) with w = tan(pi f / fs), prewarped."""
    for frequency_hz in (5.0, 40.0, 100.0, 300.0, 700.0):
        w, low, high = (math.tan(math.pi * f / RATE_HZ) for f in (frequency_hz, 20.0, 450.0))
        shrink = math.sqrt(2.0) - 1.0
        expected = 1.0 / (1.0 + shrink * (low / w) ** 4) / (1.0 + shrink * (w / high) ** 4)
        assert gain(frequency_hz) == pytest.approx(expected, abs=2e-3)


def test_a_low_pass_at_the_nyquist_frequency_is_left_out():
    assert gain(80.0, rate_hz=200.0, low_pass_hz=450.0) == pytest.approx(1.0, abs=0.01)


def test_too_short_channels_are_refused():
    with pytest.raises(SignalError, match=r"emg\.envelope_cutoff_hz: 6 needs"):
        linear_envelope(np.zeros((100, 1)), rate_hz=RATE_HZ, cutoff_hz=6.0)


def test_envelope_of_gaussian_noise_of_known_size():
    """The mean of the rectified noise is s sqrt(2 / pi) (Winter 2009)."""
    n = int(20 * RATE_HZ)
    size = 1.0 + 0.8 * np.sin(2 * np.pi * np.arange(n) / RATE_HZ)  # 1 Hz: the 6 Hz low-pass keeps 99.9 % of it
    made = np.stack([size * noise(n, seed=k) for k in range(8)], axis=1)
    found = linear_envelope(made, rate_hz=RATE_HZ, cutoff_hz=6.0).mean(axis=1)
    expected = size * math.sqrt(2.0 / math.pi)
    inner = slice(2000, -2000)
    assert (
        np.sqrt(np.mean((found - expected)[inner] ** 2)) < 0.05
    )  # 0.75 sqrt(6 Hz / 100 Hz / 8 channels) = 0.065 of 1.1
    assert np.mean(found[inner]) == pytest.approx(np.mean(expected[inner]), rel=0.01)


def test_envelope_does_not_depend_on_polarity_and_is_never_negative():
    made = np.concatenate([np.zeros(3000), noise(3000), np.zeros(3000)])[:, None]
    found = linear_envelope(made, rate_hz=RATE_HZ, cutoff_hz=6.0)
    np.testing.assert_array_equal(found, linear_envelope(-made, rate_hz=RATE_HZ, cutoff_hz=6.0))
    assert found.min() >= 0.0


def test_values_at_times_with_a_delay():
    values = np.arange(11.0)[:, None]  # one per 0.1 s, from 2 s on: 10 (t - 2)
    found = at_times(values, np.array([2.0, 2.04, 2.5, 3.04, 3.05]), rate_hz=10.0, start_s=2.0, delay_s=0.04)[:, 0]
    np.testing.assert_allclose(found, [math.nan, 0.0, 4.6, 10.0, math.nan], atol=1e-9)


def test_too_slow_channels_are_refused():
    with pytest.raises(SignalError, match="needs more than 44 samples per second"):
        band_pass(np.zeros((100, 1)), rate_hz=40.0, high_pass_hz=20.0, low_pass_hz=450.0)

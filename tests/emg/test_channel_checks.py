"""Faults of channels that were damaged on purpose, and none where they were not."""

import numpy as np
import pytest
from emg_signals import RATE_HZ, bursts, noise

from limbtorque.emg.channel_checks import channel_metrics
from limbtorque.emg.processing import band_pass, linear_envelope
from limbtorque.signals.channels import power_shares

N = 10000
TIME_S = np.arange(N) / RATE_HZ


def muscle(seed=1):
    return bursts(N, [0.5, 1.6, 2.8, 3.9], [0.9, 2.1, 3.3, 4.3], seed=seed)


def faults(*channels, envelope=False, rate_hz=RATE_HZ):
    values = np.stack(channels, axis=1)
    is_envelope = np.full(values.shape[1], envelope)
    band = (
        values if envelope else band_pass(np.nan_to_num(values), rate_hz=rate_hz, high_pass_hz=20.0, low_pass_hz=450.0)
    )
    found = channel_metrics(
        values,
        band,
        band if envelope else linear_envelope(band, rate_hz=rate_hz, cutoff_hz=6.0),
        rate_hz=rate_hz,
        high_pass_hz=20.0,
        is_envelope=is_envelope,
    )
    return [found.faults(k) for k in range(values.shape[1])]


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e3])
def test_a_good_channel_has_no_fault_in_any_unit(unit):
    assert faults(unit * muscle(), unit * muscle(2) + 5.0 * unit) == [(), ()]


def test_a_converter_of_12_bits_is_no_fault():
    step = 10.0 / 4096
    assert faults(np.round(0.3 * muscle() / step) * step) == [()]


@pytest.mark.parametrize("constant", [0.0, 1.25])
def test_constant_channels_are_dead(constant):
    assert faults(np.full(N, constant), muscle())[0] == ("dead",)


def test_steady_noise_is_dead():
    assert faults(1e-3 * noise(N, band_hz=(25.0, 400.0)))[0] == ("dead",)


def test_a_faint_channel_is_dead_beside_a_good_one_only():
    assert faults(muscle(), muscle(2) / 50.0) == [(), ("dead",)]
    assert faults(muscle(), muscle(2) / 10.0) == [(), ()]
    assert faults(muscle(2) / 50.0) == [()]


@pytest.mark.parametrize("limit", [1.2, 2.0])
def test_clipped_channels(limit):
    assert faults(np.clip(muscle(), -limit, limit)) == [("clipped",)]
    assert faults(np.minimum(muscle(), limit)) == [("clipped",)]


@pytest.mark.parametrize("mains_hz", [50.0, 60.0])
@pytest.mark.parametrize("harmonic", [1, 3])
def test_hum(mains_hz, harmonic):
    hum = np.sin(2 * np.pi * mains_hz * harmonic * TIME_S)
    power = np.mean(muscle() ** 2)
    assert faults(muscle() + np.sqrt(2 * 0.25 * power) * hum) == [("mains",)]  # 20 % of the power
    assert faults(muscle() + np.sqrt(2 * 0.02 * power) * hum) == [()]  # 2 %


def test_share_of_a_hum_of_known_power():
    """A sine of amplitude a has the power a^2 / 2."""
    for part in (0.1, 0.5):
        made = noise(20000, band_hz=(150.0, 400.0)) + np.sqrt(2 * part) * np.sin(
            2 * np.pi * 50.0 * np.arange(20000) / RATE_HZ + 0.3
        )
        hum, _ = power_shares(made[:, None], rate_hz=RATE_HZ, lines_hz=(50.0, 60.0), low_hz=20.0)
        assert hum[0] == pytest.approx(part / (1.0 + part), abs=0.02)


def test_motion_artefacts():
    step = 4.0 * np.exp(-0.5 * ((TIME_S[:, None] - np.array([0.5, 1.6, 2.8, 3.9])) / 0.04) ** 2).sum(
        axis=1
    )  # 4 Hz wide
    assert faults(muscle() + step) == [("artefact",)]


def test_one_signal_in_two_channels():
    assert faults(muscle(), muscle(2), -0.5 * muscle()) == [(), (), ("copy",)]


def test_missing_samples():
    gone = muscle()
    gone[100] = np.nan
    assert faults(gone, muscle(2)) == [("missing",), ()]


def test_an_inverted_envelope():
    smooth = np.maximum(np.sin(2 * np.pi * TIME_S), 0.0)
    assert faults(smooth, envelope=True) == [()]
    assert faults(-smooth, envelope=True) == [("negative",)]


def test_an_envelope_that_hardly_changes_is_no_fault_but_a_constant_one_is():
    smooth = 1.0 + 0.2 * np.sin(2 * np.pi * TIME_S)
    assert faults(smooth, 0.01 * smooth[::-1] ** 4, envelope=True) == [(), ()]
    assert faults(np.full(N, 0.3), envelope=True) == [("dead",)]

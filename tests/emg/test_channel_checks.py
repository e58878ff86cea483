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


def faults(*channels, envelope=False):
    values = np.stack(channels, axis=1)
    band = level = values
    if not envelope:
        band = band_pass(np.nan_to_num(values), rate_hz=RATE_HZ, high_pass_hz=20.0, low_pass_hz=450.0)
        level = linear_envelope(band, rate_hz=RATE_HZ, cutoff_hz=6.0)
    kinds = np.full(values.shape[1], envelope)
    found = channel_metrics(values, band, level, rate_hz=RATE_HZ, high_pass_hz=20.0, is_envelope=kinds)
    return [found.faults(k) for k in range(values.shape[1])]


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e3])
def test_a_good_channel_has_no_fault_in_any_unit(unit):
    assert faults(unit * muscle(), unit * muscle(2) + 5.0 * unit) == [(), ()]


def with_gap():
    values = muscle()
    values[100] = np.nan
    return values


DEAD, STEP = ("dead",), 10.0 / 4096
HUMPS = np.exp(-0.5 * ((TIME_S[:, None] - np.array([0.5, 1.6, 2.8, 3.9])) / 0.04) ** 2).sum(axis=1)  # 4 Hz wide
CHANNELS = {
    "a converter of 12 bits": ([np.round(0.3 * muscle() / STEP) * STEP], [()]),
    "zero": ([np.zeros(N), muscle()], [DEAD, ()]),
    "constant": ([np.full(N, 1.25), muscle()], [DEAD, ()]),
    "steady noise": ([1e-3 * noise(N, band_hz=(25.0, 400.0))], [DEAD]),
    "faint beside a good one": ([muscle(), muscle(2) / 50.0], [(), DEAD]),
    "weak beside a good one": ([muscle(), muscle(2) / 10.0], [(), ()]),
    "faint alone": ([muscle(2) / 50.0], [()]),
    "motion artefacts": ([muscle() + 4.0 * HUMPS], [("artefact",)]),
    "one signal in two channels": ([muscle(), muscle(2), -0.5 * muscle()], [(), (), ("copy",)]),
    "missing samples": ([with_gap(), muscle(2)], [("missing",), ()]),
}


@pytest.mark.parametrize("case", CHANNELS)
def test_faults_of_channels(case):
    channels, expected = CHANNELS[case]
    assert faults(*channels) == expected


@pytest.mark.parametrize("limit", [1.2, 2.0])
def test_clipped_channels(limit):
    assert faults(np.clip(muscle(), -limit, limit)) == [("clipped",)]
    assert faults(np.minimum(muscle(), limit)) == [("clipped",)]


SMOOTH, SLOW = np.maximum(np.sin(2 * np.pi * TIME_S), 0.0), 1.0 + 0.2 * np.sin(2 * np.pi * TIME_S)
ENVELOPES = {
    "rectified": ([SMOOTH], [()]),
    "inverted": ([-SMOOTH], [("negative",)]),
    "hardly changing": ([SLOW, 0.01 * SLOW[::-1] ** 4], [(), ()]),
    "constant": ([np.full(N, 0.3)], [DEAD]),
}


@pytest.mark.parametrize("case", ENVELOPES)
def test_faults_of_envelopes(case):
    channels, expected = ENVELOPES[case]
    assert faults(*channels, envelope=True) == expected


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

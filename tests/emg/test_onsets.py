"""Onset and offset of simulated bursts at known times."""

import numpy as np
import pytest
from emg_signals import RATE_HZ, bursts, noise

from limbtorque.emg.onsets import METHODS, active, quietest, single_probability
from limbtorque.emg.onsets import bursts as found_bursts

ONSETS_S, OFFSETS_S = [1.0, 2.2, 3.6], [1.4, 2.7, 4.1]


def activity(signal, method):
    columns = signal[:, None]
    rest = quietest(columns, rate_hz=RATE_HZ, length_s=0.25)
    return active(columns, method, rate_hz=RATE_HZ, baselines=rest)[:, 0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rest", [0.02, 0.1])
def test_bursts_are_found_at_their_times(method, rest):
    """Bonato et al. (1998) report less than 10 ms of bias; the mean of Hodges and Bui looks 25 ms ahead."""
    errors = []
    for seed in range(5):
        found = found_bursts(
            activity(bursts(10000, ONSETS_S, OFFSETS_S, rest=rest, seed=seed), method), rate_hz=RATE_HZ
        )
        assert len(found) == 3
        errors += [(on - t, off - u) for (on, off), t, u in zip(found, ONSETS_S, OFFSETS_S, strict=True)]
    early, late = np.median(errors, axis=0)
    bias = {"bonato": 0.010, "hodges_bui": 0.040}[method]  # 25 ms and half a period of 50 Hz
    assert -bias <= early <= 0.010
    assert -0.010 <= late <= bias


@pytest.mark.parametrize("method", METHODS)
def test_steady_noise_has_hardly_any_activity(method):
    shares = [activity(noise(20000, seed=seed), method).mean() for seed in range(5)]
    assert np.median(shares) < 0.15


@pytest.mark.parametrize("method", METHODS)
def test_time_reversal_exchanges_onsets_and_offsets(method):
    made = bursts(10000, ONSETS_S, OFFSETS_S, seed=3)
    forwards, backwards = (found_bursts(activity(one, method), rate_hz=RATE_HZ) for one in (made, made[::-1]))
    turned = [(5.0 - off, 5.0 - on) for on, off in reversed(backwards)]
    np.testing.assert_allclose(forwards, turned, atol=0.012)


def test_pauses_and_bursts_below_30_ms_are_removed():
    made = bursts(10000, [1.0, 1.22, 3.0], [1.2, 1.4, 3.010], rest=0.001, seed=2)
    found = found_bursts(activity(made, "bonato"), rate_hz=RATE_HZ)
    assert len(found) == 1
    np.testing.assert_allclose(found[0], (1.0, 1.4), atol=0.01)


def test_threshold_of_white_noise_has_the_stated_false_alarms():
    """Pairs of white Gaussian samples exceed -2 ln p with probability p."""
    p = single_probability(0.05, at_least=1, of=5)
    assert 1.0 - (1.0 - p) ** 5 == pytest.approx(0.05, abs=1e-12)
    squares = (np.random.default_rng(5).standard_normal((400_000, 2)) ** 2).sum(axis=1)
    assert np.mean(squares > -2.0 * np.log(p)) == pytest.approx(p, rel=0.05)  # three standard errors: 4.7 %


def test_quietest_stretch_is_the_one_at_rest():
    made = noise(8000)
    made[3000:3500] *= 0.01
    (rest,) = quietest(made[:, None], rate_hz=RATE_HZ, length_s=0.25)
    assert (rest.start, rest.stop) == (3000, 3500)

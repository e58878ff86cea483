"""Onset and offset of simulated bursts at known times."""

import numpy as np
import pytest
from emg_signals import RATE_HZ, bursts, noise

from limbtorque.arrays import runs
from limbtorque.emg.processing import METHODS, SINGLE, _variance, quietest

ONSETS_S, OFFSETS_S = [1.0, 2.2, 3.6], [1.4, 2.7, 4.1]


def found_bursts(active, *, rate_hz, start_s=0.0):
    return [(start_s + first / rate_hz, start_s + stop / rate_hz) for first, stop in runs(active)]


def activity(signal, method, rate_hz=RATE_HZ):
    columns = signal[:, None]
    rest = quietest(columns, rate_hz=rate_hz, length_s=0.25)
    return METHODS[method](columns, rate_hz=rate_hz, baselines=rest)[:, 0]


def simulated(signal_to_noise_db, *, white, seed, rate_hz=RATE_HZ):
    """Three bursts in noise of the same spectrum, or in that of an amplifier: white, in the range of the band-pass."""
    n_samples, rest = round(5.0 * rate_hz), 10.0 ** (-signal_to_noise_db / 20.0)
    if not white:
        return bursts(n_samples, ONSETS_S, OFFSETS_S, rest=rest, seed=seed, rate_hz=rate_hz)
    active_part = bursts(n_samples, ONSETS_S, OFFSETS_S, rest=0.0, seed=seed, rate_hz=rate_hz)
    return active_part + rest * noise(n_samples, seed=1000 + seed, band_hz=(20.0, 450.0), rate_hz=rate_hz)


def errors_s(method, signals, rate_hz=RATE_HZ):
    """Errors of onsets and offsets where the pattern is whole, and the share of the signals in which it is not."""
    errors, wrong = [], 0
    for signal in signals:
        found = found_bursts(activity(signal, method, rate_hz), rate_hz=rate_hz)
        wrong += len(found) != len(ONSETS_S)
        if len(found) == len(ONSETS_S):
            errors += [(on - t, off - u) for (on, off), t, u in zip(found, ONSETS_S, OFFSETS_S, strict=True)]
    return np.array(errors), wrong / len(signals)


@pytest.mark.parametrize(
    ("signal_to_noise_db", "white", "rate_hz"),
    [(14, False, 2000.0), (14, True, 1000.0), (14, True, 2000.0), (20, False, 1000.0), (26, True, 2000.0)],
)
def test_double_threshold_has_the_errors_of_its_paper(signal_to_noise_db, white, rate_hz):
    """Bonato et al. (1998): bias below 10 ms, standard deviation below 15 ms, below 5 % of the patterns wrong."""
    signals = [simulated(signal_to_noise_db, white=white, seed=seed, rate_hz=rate_hz) for seed in range(21)]
    errors, wrong = errors_s("bonato", signals, rate_hz)
    assert np.abs(errors.mean(axis=0)).max() < 0.010
    assert errors.std(axis=0).max() < 0.015
    assert wrong < 0.05  # one of 21


@pytest.mark.parametrize(("signal_to_noise_db", "white"), [(14, False), (14, True), (26, True)])
def test_threshold_looks_ahead_by_its_window(signal_to_noise_db, white):
    """The mean of Hodges and Bui (1996) is that of the next 25 ms, of a signal smoothed at 50 Hz (half a period: 10 ms)."""
    signals = [simulated(signal_to_noise_db, white=white, seed=seed) for seed in range(21)]
    errors, wrong = errors_s("hodges_bui", signals)
    early, late = errors.mean(axis=0)
    assert -0.035 < early < -0.010
    assert 0.010 < late < 0.035
    assert errors.std(axis=0).max() < 0.015
    assert wrong < 0.05


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("band_hz", [(60.0, 200.0), (20.0, 450.0)])
def test_steady_noise_is_active_as_seldom_as_false_alarms_are(method, band_hz):
    """A false alarm has the probability 0.05 (Bonato et al. 1998), or is three standard deviations off (Hodges and Bui 1996).

    Most of them are removed as bursts below 30 ms.
    """
    shares = [activity(noise(20000, seed=seed, band_hz=band_hz), method).mean() for seed in range(10)]
    assert np.mean(shares) < {"bonato": 0.05, "hodges_bui": 0.01}[method]


def test_rest_is_not_taken_for_less_than_it_is():
    """The quietest quarter second of 10 s of steady noise has a mean square a quarter below the variance."""
    found = []
    for seed in range(20):
        white = np.random.default_rng(seed).standard_normal(10_000)
        (rest,) = quietest(white[:, None], rate_hz=1000.0, length_s=0.25)
        found.append((np.mean(white[rest] ** 2), _variance(white, rest)))
    plain, corrected = np.mean(found, axis=0)
    assert plain == pytest.approx(0.755, abs=0.03)
    assert corrected == pytest.approx(1.0, abs=0.03)


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
    p = SINGLE
    assert 1.0 - (1.0 - p) ** 5 == pytest.approx(0.05, abs=1e-12)
    squares = (np.random.default_rng(5).standard_normal((400_000, 2)) ** 2).sum(axis=1)
    assert np.mean(squares > -2.0 * np.log(p)) == pytest.approx(p, rel=0.05)  # three standard errors: 4.7 %


def test_quietest_stretch_is_the_one_at_rest():
    made = noise(8000)
    made[3000:3500] *= 0.01
    (rest,) = quietest(made[:, None], rate_hz=RATE_HZ, length_s=0.25)
    assert (rest.start, rest.stop) == (3000, 3500)

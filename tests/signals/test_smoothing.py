"""Smoothers and automatic cut-offs against closed forms, other programs, Kalman smoothing and a measured acceleration."""

import numpy as np
import pytest
from scipy import interpolate, signal
from smoothed import smooth_at

from limbtorque.errors import SignalError
from limbtorque.signals.cutoff import choose_cutoff
from limbtorque.signals.filters import design_cutoff, filter_reach, low_pass
from limbtorque.signals.smoothers import (
    Smoother,
    degrees_of_freedom,
    penalty,
    second_gains,
    smooth_values,
    smoother_gain,
    smoother_reach,
    spline_smooth,
)
from limbtorque.signals.spectrum import find_noise, spectrum

ALL = [
    Smoother("butterworth", 2),
    Smoother("butterworth", 3),
    Smoother("critically_damped", 2),
    Smoother("quintic_spline"),
]
RATE_HZ = 100.0


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def name(smoother):
    return f"{smoother.method}-{smoother.order}"


# --- one interface -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoother", ALL, ids=name)
def test_gains_are_those_of_waves(smoother):
    """Signal and second derivative of a wave, in the middle, over the wave and its second derivative: as stated."""
    t = np.arange(3000) / RATE_HZ
    middle = slice(1000, 2000)
    for frequency_hz in (2.0, 6.0, 11.0, 20.0):
        wave = np.cos(2 * np.pi * frequency_hz * t)
        found = smooth_at(wave, rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)
        at = {"rate_hz": RATE_HZ, "smoother": smoother}
        (gain,) = smoother_gain(np.array([frequency_hz]), **at, cutoff_hz=6.0)
        ((second,),) = second_gains(np.array([frequency_hz]), **at, cutoffs_hz=[6.0])[1]
        np.testing.assert_allclose(found.values[middle], gain * wave[middle], atol=1e-7)
        truth = -((2 * np.pi * frequency_hz) ** 2) * wave[middle]
        np.testing.assert_allclose(found.second[middle], second * truth, atol=1e-6 * np.abs(truth).max())


@pytest.mark.parametrize("smoother", ALL, ids=name)
def test_gain_at_the_cutoff(smoother):
    for cutoff_hz in (3.0, 6.0, 12.0):
        (gain,) = smoother_gain(np.array([cutoff_hz]), rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, smoother=smoother)
        assert gain == pytest.approx(np.sqrt(0.5), abs=1e-12)


@pytest.mark.parametrize("smoother", ALL, ids=name)
def test_degrees_of_freedom_are_the_trace(smoother):
    """Against the trace of the smoother of an identity matrix."""
    for n_frames in (90, 400):
        matrix = smooth_values(np.eye(n_frames), rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)
        found = degrees_of_freedom(n_frames, rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)
        assert found == pytest.approx(np.trace(matrix), rel=5e-4)


@pytest.mark.parametrize("smoother", ALL, ids=name)
def test_lines_pass_unchanged_and_channels_are_smoothed_one_by_one(smoother):
    """A trend is kept up to the ends (recursive filters: to 1e-6 of their lag), and so are its derivatives."""
    t = np.arange(300) / RATE_HZ
    line = 1.7 - 4.0 * t
    found = smooth_at(line, rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)
    np.testing.assert_allclose(found.values, line, atol=1e-6)
    np.testing.assert_allclose(found.first, -4.0, atol=1e-4)
    np.testing.assert_allclose(found.second, 0.0, atol=1e-2)
    noise = np.random.default_rng(1).normal(size=(300, 2, 3))
    kept = noise.copy()
    together = smooth_at(noise, rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)
    alone = smooth_at(noise[:, 1, 2], rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)
    np.testing.assert_array_equal(noise, kept)
    assert together.values.shape == together.first.shape == together.second.shape == noise.shape
    np.testing.assert_allclose(together.values[:, 1, 2], alone.values, atol=1e-12)
    np.testing.assert_allclose(together.second[:, 1, 2], alone.second, atol=1e-8)


@pytest.mark.parametrize("smoother", ALL, ids=name)
def test_reach_is_where_the_ends_are_no_longer_felt(smoother):
    """Two signals that agree but in what lies beyond the end: within a hundredth of the difference beyond the reach.

    The first signal is cut out of a longer one, the second is the longer one; by design the answer has died down to 0.01
    of what it was for each pole, and there are as many as the order says.
    """
    rng = np.random.default_rng(5)
    t = np.arange(1200) / RATE_HZ
    longer = np.sin(2 * np.pi * 1.3 * t) + np.sin(2 * np.pi * 3.1 * t + 1.0) + 0.01 * rng.normal(size=len(t))
    whole = smooth_values(longer, rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)[400:800]
    part = smooth_values(longer[400:800], rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=smoother)
    reach = smoother_reach(6.0, rate_hz=RATE_HZ, smoother=smoother)
    wrong = np.abs(part - whole)
    assert wrong[reach:-reach].max() < 0.03 * wrong.max()


# --- each method -----------------------------------------------------------------------------------------------------------


def test_critically_damped_cutoff_is_that_of_robertson_and_dowling():
    """Their factor for N second-order passes is 1 / sqrt(2^(1 / 2N) - 1): 2.2990 for two. Small cut-off: no warping."""
    assert design_cutoff(1.0, rate_hz=1e5, order=2, critical=True) == pytest.approx((2**0.25 - 1) ** -0.5, rel=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_critically_damped_never_overshoots(order):
    """All weights of the filter are positive, so a step rises without overshoot; a Butterworth filter's does not."""
    step = np.repeat([0.0, 1.0], 400)
    found = low_pass(step, rate_hz=RATE_HZ, cutoff_hz=6.0, order=order, critical=True)
    assert found.min() >= -1e-9
    assert found.max() <= 1.0 + 1e-9
    assert np.diff(found).min() > -1e-9
    butterworth = smooth_values(step, rate_hz=RATE_HZ, cutoff_hz=6.0, smoother=Smoother("butterworth", 2))
    assert butterworth.max() > 1.01


@pytest.mark.parametrize("order", [1, 2, 4])
def test_critical_reach_is_where_the_step_response_is_done(order):
    """One pass over a step, by SciPy: 0.99 at the reach. The bilinear transform moves it by less than 1 % of a frame here."""
    pole = 2 * np.pi * design_cutoff(3.0, rate_hz=1000.0, order=order, critical=True)
    system = signal.ZerosPolesGain([], [-pole] * order, pole**order)
    reach = filter_reach(3.0, rate_hz=1000.0, order=order, critical=True)
    t, answer = signal.step(system, T=np.linspace(0.0, 2 * reach / 1000.0, 20001))
    assert 1000.0 * t[np.argmax(answer >= 0.99)] == pytest.approx(reach, abs=1.1)


def kalman_smoothed(values, weight):
    """Position, velocity and acceleration of a thrice integrated white noise seen in white noise, by Kalman smoothing.

    Wahba (1978): with a diffuse start its expectation is the quintic smoothing spline of penalty 1 / (noise ratio).
    Rauch, Tung and Striebel's smoother; unit time step; the start has a variance of 1e9.
    """
    step = np.array([[1.0, 1.0, 0.5], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    drive = np.array([[1 / 20, 1 / 8, 1 / 6], [1 / 8, 1 / 3, 1 / 2], [1 / 6, 1 / 2, 1.0]]) / weight
    state, spread = np.zeros(3), np.eye(3) * 1e9
    filtered, predicted = [], []
    for value in values:
        predicted.append((state, spread))
        gain = spread[:, 0] / (spread[0, 0] + 1.0)
        keep = np.eye(3) - np.outer(gain, [1.0, 0.0, 0.0])
        state = state + gain * (value - state[0])
        spread = keep @ spread @ keep.T + np.outer(gain, gain)
        filtered.append((state, spread))
        state, spread = step @ state, step @ spread @ step.T + drive
    smoothed = [filtered[-1][0]]
    for k in range(len(values) - 2, -1, -1):
        state, spread = filtered[k]
        ahead, ahead_spread = predicted[k + 1]
        smoothed.append(state + spread @ step.T @ np.linalg.solve(ahead_spread, smoothed[-1] - ahead))
    return np.array(smoothed[::-1])


@pytest.mark.parametrize("cutoff_hz", [4.0, 12.0])
def test_quintic_spline_is_a_kalman_smoother(cutoff_hz):
    """The same function by another algorithm (so a Kalman smoother has nothing to add). Tolerance: the diffuse start."""
    values = np.random.default_rng(3).normal(size=60).cumsum()
    other = kalman_smoothed(values, penalty(cutoff_hz, rate_hz=RATE_HZ))
    smoother = Smoother("quintic_spline")
    found = smooth_at(values, rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, smoother=smoother)
    np.testing.assert_allclose(found.values, other[:, 0], atol=1e-4)
    np.testing.assert_allclose(found.first / RATE_HZ, other[:, 1], atol=1e-4)
    np.testing.assert_allclose(found.second / RATE_HZ**2, other[:, 2], atol=1e-4)


def test_no_other_function_is_better_than_the_spline():
    """Least sum of squares and penalty: any other values, with the natural spline through them, have more."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=40).cumsum()
    weight = penalty(10.0, rate_hz=RATE_HZ)
    natural = [(k, 0.0) for k in (3, 4)]

    def cost(fitted):
        spline = interpolate.make_interp_spline(np.arange(40.0), fitted, k=5, bc_type=(natural, natural))
        nodes, weights = np.polynomial.legendre.leggauss(4)  # exact for the square of a parabola on every interval
        at = (np.arange(39)[:, None] + 0.5 + 0.5 * nodes).ravel()
        bent = spline.derivative(3)(at) ** 2
        return ((values - fitted) ** 2).sum() + weight * (bent.reshape(39, 4) @ weights).sum() / 2.0

    best = spline_smooth(values, rate_hz=RATE_HZ, cutoff_hz=10.0)
    for _ in range(20):
        step = 1e-3 * rng.normal(size=40)
        assert cost(best + step) > cost(best)
        assert cost(best + step) - cost(best) == pytest.approx(cost(best - step) - cost(best), rel=1e-3)


# --- noise and cut-offs ----------------------------------------------------------------------------------------------------


def slow_movement(n_frames, rate_hz):
    """A bell-shaped way, 0.2 s wide, with its exact second derivative; its spectrum is Gaussian."""
    t = (np.arange(n_frames) - n_frames / 2) / rate_hz
    bell = 0.3 * np.exp(-0.5 * (t / 0.2) ** 2)
    return bell, bell * ((t / 0.2) ** 2 - 1.0) / 0.2**2


def coloured_noise(shape, rate_hz, floor, corner_hz, seed):
    frequency_hz = np.fft.rfftfreq(4 * shape[0], 1 / rate_hz)
    level = floor * np.sqrt(1 + (corner_hz / np.maximum(frequency_hz, 0.5)) ** 2)
    waves = np.fft.rfft(np.random.default_rng(seed).normal(size=(4 * shape[0], *shape[1:])), axis=0)
    return np.fft.irfft(waves * level[:, None], axis=0)[shape[0] : 2 * shape[0]]


def test_spectrum_of_white_noise_is_its_variance_and_does_not_see_a_parabola():
    """Mean of 4 x 500 squares over the degrees of freedom of a Hann window (two thirds): 3 % standard error."""
    noise = 3e-4 * np.random.default_rng(0).normal(size=(1000, 4))
    _, power = spectrum(noise, rate_hz=RATE_HZ)
    assert power[50:].mean() == pytest.approx(9e-8, rel=0.09)
    t = np.arange(1000)[:, None] / RATE_HZ
    _, with_parabola = spectrum(noise + 3.0 + 5.0 * t - 2.0 * t**2, rate_hz=RATE_HZ)
    np.testing.assert_allclose(with_parabola, power, rtol=1e-3)


@pytest.mark.parametrize("corner_hz", [0.0, 15.0])
def test_noise_is_found_under_a_movement(corner_hz):
    """Floor to a tenth and corner to a third, with 8 channels of 3 s; white noise is called white."""
    bell, _ = slow_movement(300, RATE_HZ)
    noise = coloured_noise((300, 8), RATE_HZ, 5e-5, corner_hz, seed=1)
    frequency_hz, power = spectrum(bell[:, None] + noise, rate_hz=RATE_HZ)
    found = find_noise(frequency_hz, power, above_hz=2.0, n_channels=8)
    assert found.floor == pytest.approx(5e-5, rel=0.1)
    assert found.corner_hz == pytest.approx(corner_hz, rel=0.33)


@pytest.mark.parametrize("method", ["butterworth", "quintic_spline"])
@pytest.mark.parametrize("corner_hz", [0.0, 15.0])
def test_least_expected_error_is_near_the_least_error(method, corner_hz):
    """Mean over ten noises of the error of the second derivative: at most a fifth above that of the best cut-off."""
    smoother = Smoother(method, 3)
    bell, truth = slow_movement(300, RATE_HZ)
    found, best = [], []
    for seed in range(10):
        noisy = bell[:, None] + coloured_noise((300, 4), RATE_HZ, 1e-4, corner_hz, seed)

        def error(cutoff_hz, noisy=noisy):
            second = smooth_at(noisy, rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, smoother=smoother).second
            return rms((second - truth[:, None])[30:-30])

        choice = choose_cutoff(noisy, rate_hz=RATE_HZ, smoother=smoother, by="expected_error")
        found.append(error(choice.cutoff_hz))
        best.append(min(error(f) for f in np.geomspace(1.5, 15.0, 25)))
    assert np.mean(found) < 1.2 * np.mean(best)


def test_cross_validation_is_fooled_by_coloured_noise_and_the_expected_error_is_not():
    bell, truth = slow_movement(300, RATE_HZ)
    noisy = bell[:, None] + coloured_noise((300, 4), RATE_HZ, 1e-4, 15.0, seed=3)
    smoother = Smoother("quintic_spline")
    errors = {}
    for by in ("gcv", "expected_error"):
        cutoff_hz = choose_cutoff(noisy, rate_hz=RATE_HZ, smoother=smoother, by=by).cutoff_hz
        second = smooth_at(noisy, rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, smoother=smoother).second
        errors[by] = rms((second - truth[:, None])[30:-30])
    assert errors["gcv"] > 1.5 * errors["expected_error"]


def test_cross_validation_chooses_the_least_of_its_definition():
    """Craven and Wahba (1979): sum of squared residuals over the square of n less the trace, here of the whole matrix."""
    bell, _ = slow_movement(200, RATE_HZ)
    noisy, smoother = bell + 2e-3 * np.random.default_rng(8).normal(size=200), Smoother("quintic_spline")

    def score(cutoff_hz):
        matrix = smooth_values(np.eye(200), rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, smoother=smoother)
        return ((noisy - matrix @ noisy) ** 2).sum() / (200.0 - np.trace(matrix)) ** 2

    choice = choose_cutoff(noisy, rate_hz=RATE_HZ, smoother=smoother, by="gcv")
    assert score(choice.cutoff_hz) < (1.0 + 1e-4) * min(score(f) for f in np.geomspace(1.0, 20.0, 60))
    assert choice.noise == pytest.approx(2e-3, rel=0.15)


def test_autocorrelation_of_the_residual_is_least_at_the_choice():
    """Challis's objective by its definition: the sum over all lags of the absolute autocorrelation of the residual."""
    bell, _ = slow_movement(200, RATE_HZ)
    noisy = bell + 2e-3 * np.random.default_rng(9).normal(size=200)
    smoother = Smoother("butterworth", 2)
    choice = choose_cutoff(noisy, rate_hz=RATE_HZ, smoother=smoother, by="autocorrelation")
    for cutoff_hz, value in zip(choice.grid_hz, choice.criterion, strict=True):
        residual = noisy - smooth_values(noisy, rate_hz=RATE_HZ, cutoff_hz=cutoff_hz, smoother=smoother)
        products = np.correlate(residual, residual, mode="full")[200:]
        assert value == pytest.approx(np.abs(products).sum() / (residual @ residual), rel=1e-9)


@pytest.mark.parametrize("by", ["residual", "autocorrelation", "gcv", "expected_error"])
def test_choices_do_not_depend_on_unit_place_or_channel_order(by):
    bell, _ = slow_movement(200, RATE_HZ)
    noisy = bell[:, None] + 1e-3 * np.random.default_rng(11).normal(size=(200, 3))
    smoother = Smoother("quintic_spline")
    choice = choose_cutoff(noisy, rate_hz=RATE_HZ, smoother=smoother, by=by)
    other = choose_cutoff(1e3 * noisy[:, ::-1] + 5.0, rate_hz=RATE_HZ, smoother=smoother, by=by)
    assert other.cutoff_hz == pytest.approx(choice.cutoff_hz, rel=1e-3)
    assert other.noise == pytest.approx(1e3 * choice.noise, rel=1e-3)
    faster = choose_cutoff(noisy, rate_hz=2 * RATE_HZ, smoother=smoother, by=by)
    if choice.grid_hz[0] > 0.5:
        assert faster.cutoff_hz == pytest.approx(2 * choice.cutoff_hz, rel=1e-3)
    assert choice.by == by
    assert choice.grid_hz.shape == choice.residual.shape == choice.criterion.shape
    assert not choice.at_limit


@pytest.mark.parametrize("by", ["residual", "autocorrelation", "gcv", "expected_error"])
def test_signals_without_movement_or_noise_have_a_cutoff_too(by):
    smoother = Smoother("quintic_spline")
    t = np.arange(200) / RATE_HZ
    for values in (np.zeros(200), 3.0 + 0.0 * t, 2.0 * t, np.sin(9.0 * t)):
        choice = choose_cutoff(values, rate_hz=RATE_HZ, smoother=smoother, by=by)
        assert 0.5 <= choice.cutoff_hz <= 40.0


# --- a measured acceleration -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pezzack(recordings):
    rows = np.loadtxt(recordings / "pezzack" / "Pezzack.txt", skiprows=6)
    return rows, 1.0 / np.diff(rows[:, 0]).mean()


@pytest.mark.parametrize(("by", "known"), [("gcv", 4.7), ("expected_error", 4.7)])
def test_quintic_spline_of_pezzacks_noisy_angle_needs_no_tuning(pezzack, by, known):
    """A cross-validated quintic spline is known to reach 4.69 rad/s^2 and the best Butterworth filter 4.65 (rows 7-136)."""
    rows, rate_hz = pezzack
    smoother = Smoother("quintic_spline")
    choice = choose_cutoff(rows[:, 2], rate_hz=rate_hz, smoother=smoother, by=by)
    found = smooth_at(rows[:, 2], rate_hz=rate_hz, cutoff_hz=choice.cutoff_hz, smoother=smoother)
    assert rms((found.second - rows[:, 3])[6:136]) < known


def test_residual_analysis_of_pezzacks_noisy_angle(pezzack):
    """Another program's picks 3.95 Hz; how the line is found differs, the choice by half a hertz at most."""
    rows, rate_hz = pezzack
    choice = choose_cutoff(rows[:, 2], rate_hz=rate_hz, smoother=Smoother("butterworth", 2), by="residual")
    assert choice.cutoff_hz == pytest.approx(3.95, abs=0.5)


def test_residual_analysis_meets_its_line():
    """The residual at the choice is the intercept, which is near the noise; the residual is as defined."""
    bell, _ = slow_movement(400, RATE_HZ)
    noisy = bell + 2e-3 * np.random.default_rng(10).normal(size=400)
    smoother = Smoother("butterworth", 2)
    choice = choose_cutoff(noisy, rate_hz=RATE_HZ, smoother=smoother, by="residual")
    intercept, slope = choice.line
    assert slope < 0.0
    assert intercept == pytest.approx(2e-3, rel=0.15)
    residual = rms(noisy - smooth_values(noisy, rate_hz=RATE_HZ, cutoff_hz=choice.cutoff_hz, smoother=smoother))
    assert residual == pytest.approx(intercept, rel=0.01)


def test_fewer_frames_than_a_spline_needs_are_refused():
    with pytest.raises(SignalError, match="5 frames are fewer"):
        smooth_at(np.zeros((5, 1)), cutoff_hz=6.0, rate_hz=RATE_HZ, smoother=Smoother("quintic_spline"))

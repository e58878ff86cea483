"""Gaps, low-pass filter and derivatives against closed forms and a measured acceleration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st
from scipy import interpolate, signal

from limbtorque.arrays import runs
from limbtorque.errors import SignalError
from limbtorque.signals.derivatives import differentiate, differentiation_reach
from limbtorque.signals.filters import design_cutoff, filter_reach, low_pass
from limbtorque.signals.gaps import fill_gaps


def gain(filtered, plain):
    """Ratio of the amplitudes in the middle half, where the ends are not felt."""
    part = slice(len(plain) // 4, -len(plain) // 4)
    return float(filtered[part] @ plain[part] / (plain[part] @ plain[part]))


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


# --- filter ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "cutoff_hz", "rate_hz"),
    [
        (2, 6.0, 50.0),
        (2, 20.0, 100.0),
        (2, 6.0, 100.0),
        (2, 10.0, 1000.0),
        (2, 15.0, 50.0),
        (1, 6.0, 100.0),
        (3, 6.0, 120.0),
        (4, 12.0, 60.0),
        (8, 5.0, 200.0),
    ],
)
def test_gain_at_the_cutoff_is_one_over_root_two(order, cutoff_hz, rate_hz):
    """Measured on a sinusoid, 200 periods; the sum over whole periods is exact to rounding and to the felt ends."""
    t = np.arange(round(200 * rate_hz / cutoff_hz)) / rate_hz
    wave = np.sin(2 * np.pi * cutoff_hz * t + 0.3)
    found = low_pass(wave, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order)
    assert gain(found, wave) == pytest.approx(np.sqrt(0.5), abs=1e-9)


@pytest.mark.parametrize(("cutoff_hz", "rate_hz", "known"), [(6.0, 50.0, 0.7305), (20.0, 100.0, 0.779)])
def test_the_rule_of_0802_is_another_gain(cutoff_hz, rate_hz, known):
    """The familiar correction, applied to the frequency itself, gives 0.730 and 0.779; ours does not."""
    t = np.arange(3000) / rate_hz
    wave = np.sin(2 * np.pi * cutoff_hz * t)
    sections = signal.butter(2, cutoff_hz / 0.802, fs=rate_hz, output="sos")
    assert gain(signal.sosfiltfilt(sections, wave), wave) == pytest.approx(known, abs=5e-4)
    found = low_pass(wave, rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=2)
    assert abs(gain(found, wave) - known) > 0.02


@options(deadline=None, max_examples=50)
@given(st.integers(1, 8), st.floats(0.01, 0.35), st.floats(0.02, 0.49))
def test_gain_at_any_frequency(order, cutoff, frequency):
    """Two passes: 1 / (1 + (tan(pi f) / tan(pi fd))^2n), with (...)^2n = (root 2 - 1) at the stated cut-off."""
    design = design_cutoff(cutoff, rate_hz=1.0, order=order)
    sections = signal.butter(order, design, fs=1.0, output="sos")
    _, response = signal.sosfreqz(sections, worN=[frequency], fs=1.0)
    share = (np.sqrt(2.0) - 1.0) * (np.tan(np.pi * frequency) / np.tan(np.pi * cutoff)) ** (2 * order)
    assert abs(response[0]) ** 2 == pytest.approx(1.0 / (1.0 + share), rel=1e-6, abs=1e-12)


def test_familiar_factor_is_the_limit_of_the_correction():
    assert 1.0 / design_cutoff(1.0, rate_hz=1e4, order=2) == pytest.approx(0.802, abs=5e-4)


@pytest.mark.parametrize("cutoff_hz", [25.0, 25.1, 1000.0, 0.0, -6.0, float("nan")])
def test_cutoff_at_or_above_nyquist_is_refused(cutoff_hz):
    with pytest.raises(SignalError, match=r"not below the Nyquist frequency 25 Hz of a recording at 50 Hz"):
        low_pass(np.zeros(200), rate_hz=50.0, cutoff_hz=cutoff_hz)


def test_design_cutoff_at_nyquist_is_refused():
    with pytest.raises(SignalError, match=r"24\.99 Hz needs a design cut-off of 2[45]\S* Hz, too near the Nyquist"):
        low_pass(np.zeros(200), rate_hz=50.0, cutoff_hz=24.99)


@pytest.mark.parametrize(("order", "cutoff_hz", "rate_hz"), [(2, 6.0, 50.0), (2, 6.0, 1000.0), (5, 3.0, 100.0)])
def test_too_few_frames_are_refused_and_the_next_number_is_not(order, cutoff_hz, rate_hz):
    needed = filter_reach(cutoff_hz, rate_hz=rate_hz, order=order) + 1
    with pytest.raises(SignalError, match=rf"{needed - 1} frames are fewer .* needs \({needed}\)"):
        low_pass(np.zeros(needed - 1), rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order)
    assert low_pass(np.zeros(needed), rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order).shape == (needed,)
    for few in (0, 1):
        with pytest.raises(SignalError, match="frames are fewer"):
            low_pass(np.zeros(few), rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_level_and_trend_pass_up_to_the_ends(order):
    """Point reflection of a line is the line, so only the filter's start is left, died down to 1e-6 of its lag.

    The lag of one pass is below 0.1 s here, the trend 4 per second: at most 4e-7.
    """
    t = np.arange(300) / 100.0
    for line, tolerance in ((np.full(300, 1.7), 1e-12), (1.7 - 4.0 * t, 4e-7)):
        found = low_pass(line, rate_hz=100.0, cutoff_hz=6.0, order=order)
        np.testing.assert_allclose(found, line, rtol=0.0, atol=tolerance)


def test_ends_are_extended_by_what_there_is_in_a_short_signal():
    """Just enough frames: a trend is kept to a hundredth of the lag (0.03 s), level to rounding."""
    frames = filter_reach(6.0, rate_hz=100.0, order=2) + 1
    t = np.arange(frames) / 100.0
    found = low_pass(1.7 - 4.0 * t, rate_hz=100.0, cutoff_hz=6.0)
    np.testing.assert_allclose(found, 1.7 - 4.0 * t, rtol=0.0, atol=4.0 * 3e-4)


def test_filter_is_linear_without_lag_and_channel_by_channel():
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(400, 3, 2))
    keep = noise.copy()
    found = low_pass(noise, rate_hz=100.0, cutoff_hz=6.0)
    np.testing.assert_array_equal(noise, keep)
    np.testing.assert_allclose(found[:, 1, 1], low_pass(noise[:, 1, 1], rate_hz=100.0, cutoff_hz=6.0), atol=1e-14)
    backwards = low_pass(noise[::-1], rate_hz=100.0, cutoff_hz=6.0)[::-1]
    reach = filter_reach(6.0, rate_hz=100.0, order=2)
    middle = slice(4 * reach, -4 * reach)  # the ends are felt less than 1e-2 at one reach, 1e-8 at four
    np.testing.assert_allclose(backwards[middle], found[middle], atol=1e-6)
    impulse = np.zeros(401)
    impulse[200] = 1.0
    answer = low_pass(impulse, rate_hz=100.0, cutoff_hz=6.0)
    assert answer.argmax() == 200
    np.testing.assert_allclose(answer, answer[::-1], atol=1e-12)


@pytest.mark.parametrize(("order", "cutoff_hz"), [(1, 6.0), (2, 6.0), (3, 4.0), (4, 10.0)])
def test_reach_is_where_the_answer_has_died_down(order, cutoff_hz):
    """The impulse response is below a hundredth of its peak beyond the stated reach (times two: two passes add up)."""
    impulse = np.zeros(2001)
    impulse[1000] = 1.0
    answer = np.abs(low_pass(impulse, rate_hz=200.0, cutoff_hz=cutoff_hz, order=order))
    reach = filter_reach(cutoff_hz, rate_hz=200.0, order=order)
    assert answer[1000 + 2 * reach :].max() < 0.01 * answer.max()
    assert answer[1000 + reach :].max() < 0.06 * answer.max()


# --- gaps ------------------------------------------------------------------------------------------------------------


def cubic_markers(n_frames=60, n_markers=2):
    t = np.linspace(-1.0, 1.0, n_frames)[:, None, None]
    shape = np.arange(1.0, 3 * n_markers + 1).reshape(n_markers, 3)
    return shape + 0.5 * shape * t - shape**2 * t**2 / 7 + t**3 * shape


def without(markers, *gaps):
    result = markers.copy()
    for marker, start, stop in gaps:
        result[start:stop, marker] = np.nan
    return result


def test_cubic_polynomials_are_filled_exactly():
    """A not-a-knot cubic spline reproduces any cubic polynomial; a shape-preserving one need not."""
    truth = cubic_markers()
    found = fill_gaps(without(truth, (0, 10, 15), (0, 30, 32), (1, 29, 34)), rate_hz=100.0, max_gap_s=0.05)
    np.testing.assert_allclose(found.markers_m, truth, atol=1e-12)
    expected = np.zeros((60, 2), dtype=bool)
    expected[10:15, 0] = expected[30:32, 0] = expected[29:34, 1] = True
    np.testing.assert_array_equal(found.filled, expected)
    assert found.longest_gap_frames == 0


@pytest.mark.parametrize(("rate_hz", "max_gap_s", "frames"), [(100.0, 0.1, 10), (60.0, 0.1, 6), (100.0, 0.29, 29)])
def test_limit_is_met_exactly(rate_hz, max_gap_s, frames):
    truth = cubic_markers()
    at = fill_gaps(without(truth, (0, 15, 15 + frames)), rate_hz=rate_hz, max_gap_s=max_gap_s)
    assert at.filled.sum() == frames
    assert not np.isnan(at.markers_m).any()
    over = fill_gaps(without(truth, (0, 15, 16 + frames)), rate_hz=rate_hz, max_gap_s=max_gap_s)
    assert over.filled.sum() == 0
    assert over.longest_gap_frames == frames + 1
    assert runs(np.isnan(over.markers_m[:, 0, 0])) == [(15, 16 + frames)]


def test_a_long_gap_stays_whole_beside_a_short_one():
    truth = cubic_markers()
    found = fill_gaps(without(truth, (0, 10, 12), (0, 20, 35), (1, 40, 52)), rate_hz=100.0, max_gap_s=0.1)
    missing = np.isnan(found.markers_m).all(axis=2)
    assert runs(missing[:, 0]) == [(20, 35)]
    assert runs(missing[:, 1]) == [(40, 52)]
    assert found.longest_gap_frames == 15
    np.testing.assert_allclose(found.markers_m[~missing], truth[~missing], atol=1e-12)


def test_ends_are_never_extrapolated():
    truth = cubic_markers()
    found = fill_gaps(without(truth, (0, 0, 3), (0, 58, 60), (1, 20, 22)), rate_hz=100.0, max_gap_s=2.0)
    assert runs(np.isnan(found.markers_m[:, 0, 0])) == [(0, 3), (58, 60)]
    assert found.filled[:, 0].sum() == 0
    assert found.longest_gap_frames == 0
    np.testing.assert_array_equal(found.markers_m[3:58, 0], truth[3:58, 0])


def test_no_gap_is_filled_with_a_limit_of_zero_and_the_input_is_kept():
    holes = without(cubic_markers(), (0, 10, 11))
    keep = holes.copy()
    found = fill_gaps(holes, rate_hz=100.0, max_gap_s=0.0)
    np.testing.assert_array_equal(found.markers_m, keep)
    fill_gaps(holes, rate_hz=100.0, max_gap_s=1.0)
    np.testing.assert_array_equal(holes, keep)


def test_a_marker_that_is_never_or_hardly_seen():
    holes = cubic_markers()
    holes[:, 0] = np.nan
    holes[1:40, 1], holes[41:, 1] = np.nan, np.nan  # seen in frames 0 and 40 only
    found = fill_gaps(holes, rate_hz=100.0, max_gap_s=0.5)
    assert np.isnan(found.markers_m[:, 0]).all()
    between = np.linspace(holes[0, 1], holes[40, 1], 41)
    np.testing.assert_allclose(found.markers_m[:41, 1], between, atol=1e-12)
    assert np.isnan(found.markers_m[41:, 1]).all()


def test_one_missing_coordinate_is_a_missing_marker():
    truth = cubic_markers()
    holes = truth.copy()
    holes[25, 0, 2] = np.nan
    found = fill_gaps(holes, rate_hz=100.0, max_gap_s=0.1)
    assert found.filled.sum() == 1
    np.testing.assert_allclose(found.markers_m, truth, atol=1e-12)


# --- derivatives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accuracy", [2, 4, 6, 8])
def test_derivatives_are_exact_on_polynomials_up_to_the_ends(accuracy):
    """Degree = accuracy everywhere; one degree more for the second derivative away from the ends, by symmetry.

    Tolerance: rounding of the samples and of the stencil's weights over the (squared) step.
    """
    rate_hz = 50.0
    t = np.arange(40) / rate_hz
    rng = np.random.default_rng(accuracy)
    for degree in range(accuracy + 2):
        polynomial = np.polynomial.Polynomial(rng.normal(size=degree + 1))
        first, second = differentiate(polynomial(t), rate_hz=rate_hz, accuracy=accuracy)
        size = np.abs(polynomial.coef).sum() * 1e-13
        half = accuracy // 2
        inside = slice(None) if degree <= accuracy else slice(half, -half)
        np.testing.assert_allclose(second[inside], polynomial.deriv(2)(t)[inside], rtol=0, atol=size * rate_hz**2)
        if degree <= accuracy:
            np.testing.assert_allclose(first, polynomial.deriv(1)(t), rtol=0, atol=size * rate_hz)


@pytest.mark.parametrize("accuracy", [2, 4, 6, 8])
def test_one_degree_more_is_not_exact(accuracy):
    """So the test above would see a stencil of higher order, too: accuracy is what is stated, not more."""
    t = np.arange(40) / 10.0
    first, _ = differentiate(t ** (accuracy + 1), rate_hz=10.0, accuracy=accuracy)
    wrong = np.abs(first - (accuracy + 1) * t**accuracy)[accuracy // 2 : -(accuracy // 2)]
    missing = (
        0.1**accuracy * np.prod(np.arange(1.0, accuracy // 2 + 1)) ** 2
    )  # h^p (p/2)!^2: remainder of the polynomial
    np.testing.assert_allclose(wrong, missing, rtol=1e-4)


@pytest.mark.parametrize("accuracy", [2, 4, 6, 8])
def test_order_of_convergence(accuracy):
    """Halving the step divides the error by 2^accuracy inside; the ends lose one order in the second derivative."""
    errors = []
    for rate_hz in (60.0, 120.0):
        t = np.arange(round(2 * rate_hz) + 1) / rate_hz
        first, second = differentiate(np.sin(12 * t + 0.4), rate_hz=rate_hz, accuracy=accuracy)
        inside = slice(accuracy // 2, -(accuracy // 2))
        wrong_first = np.abs(first - 12 * np.cos(12 * t + 0.4))
        wrong_second = np.abs(second + 144 * np.sin(12 * t + 0.4))
        errors.append([rms(wrong_first[inside]), rms(wrong_second[inside]), wrong_first.max(), wrong_second.max()])
    order = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert order[0] == pytest.approx(accuracy, abs=0.1)
    assert order[1] == pytest.approx(accuracy, abs=0.1)
    assert order[2] == pytest.approx(accuracy, abs=0.8)
    assert order[3] == pytest.approx(accuracy - 1, abs=0.8)


def test_leading_errors_at_accuracy_4():
    """h^4 y(5) / 30 and h^4 y(6) / 90, as documented."""
    t = np.arange(30) / 10.0
    first, second = differentiate(t**5, rate_hz=10.0)
    np.testing.assert_allclose((5 * t**4 - first)[2:-2], 1e-4 * 120 / 30, rtol=1e-6)
    _, second = differentiate(t**6, rate_hz=10.0)
    np.testing.assert_allclose((30 * t**4 - second)[2:-2], 1e-4 * 720 / 90, rtol=1e-5)


@options(deadline=None, max_examples=30)
@given(st.sampled_from([2, 4, 6, 8]), st.integers(0, 2**32 - 1))
def test_both_derivatives_are_those_of_one_polynomial(accuracy, seed):
    """On noise: at every frame the polynomial through the neighbouring samples has both values."""
    values = np.random.default_rng(seed).normal(size=20)
    first, second = differentiate(values, rate_hz=5.0, accuracy=accuracy)
    for frame in range(20):
        start = min(max(frame - accuracy // 2, 0), 20 - accuracy - 1)
        window = np.arange(start, start + accuracy + 1)
        through = interpolate.BarycentricInterpolator((window - frame) / 5.0, values[window])
        assert first[frame] == pytest.approx(float(through.derivative(0.0, der=1)), abs=1e-6)
        assert second[frame] == pytest.approx(float(through.derivative(0.0, der=2)), abs=1e-4)


@pytest.mark.parametrize("accuracy", [2, 4, 6, 8])
def test_ends_are_as_many_as_stated(accuracy):
    """On an exponential the relative error of one stencil is one number inside, and another one in each end frame."""
    reach = differentiation_reach(accuracy)
    assert reach == accuracy // 2
    t = np.arange(40) / 10.0
    first, _ = differentiate(np.exp(5 * t), rate_hz=10.0, accuracy=accuracy)
    relative = np.abs(first / (5 * np.exp(5 * t)) - 1.0)
    assert np.ptp(relative[reach:-reach]) < 1e-4 * relative[reach]
    ends = np.concatenate([relative[:reach], relative[len(t) - reach :]])
    assert np.abs(ends / relative[reach] - 1.0).min() > 0.005
    assert ends.max() > 2.0 * relative[reach]


def test_derivatives_keep_shape_input_and_integers():
    values = np.arange(60).reshape(10, 3, 2) ** 2
    keep = values.copy()
    first, second = differentiate(values, rate_hz=1.0)
    assert first.shape == second.shape == (10, 3, 2)
    np.testing.assert_array_equal(values, keep)
    np.testing.assert_allclose(second, 72.0, atol=1e-9)  # (6 k + c)^2


@pytest.mark.parametrize("accuracy", [2, 4, 6, 8])
def test_fewer_frames_than_the_stencil_are_refused(accuracy):
    with pytest.raises(SignalError, match=rf"{accuracy} frames are fewer than the {accuracy + 1}"):
        differentiate(np.zeros(accuracy), rate_hz=10.0, accuracy=accuracy)
    differentiate(np.zeros(accuracy + 1), rate_hz=10.0, accuracy=accuracy)


# --- a measured acceleration -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pezzack(recordings):
    """Angle, noisy angle, measured acceleration, rate: Pezzack et al. (1977), as reprinted by Vint and Hinrichs."""
    rows = np.loadtxt(recordings / "pezzack" / "Pezzack.txt", skiprows=6)
    return rows[:, 1], rows[:, 2], rows[:, 3], 1.0 / np.diff(rows[:, 0]).mean()


SCORED = slice(6, 136)  # rows 7 to 136


def test_second_derivative_of_pezzack_unfiltered(pezzack):
    """11.0 and 33.3 rad/s^2: those of three-point second differences, which is our accuracy 2. Printed to 3 figures."""
    clean, noisy, measured, rate_hz = pezzack
    for angle, known in ((clean, 11.0), (noisy, 33.3)):
        _, second = differentiate(angle, rate_hz=rate_hz, accuracy=2)
        assert rms((second - measured)[SCORED]) == pytest.approx(known, abs=0.05)


@pytest.mark.parametrize("accuracy", [2, 4, 6, 8])
def test_second_derivative_of_pezzack_filtered(pezzack, accuracy):
    """4.24 (6.5 Hz, clean) and 4.65 (5.0 Hz, noisy) is the best a dual-pass Butterworth reaches.

    The known answer does not say how its filter was corrected for two passes: the rule of 0.802 gives 4.244 and 4.653
    by three-point differences, the exact correction 4.247 and 4.658. 0.01 for that. Differences of higher accuracy lose
    less amplitude below the cut-off and are up to 0.06 better.
    """
    clean, noisy, measured, rate_hz = pezzack
    for angle, cutoff_hz, known in ((clean, 6.5, 4.24), (noisy, 5.0, 4.65)):
        smooth = low_pass(angle, rate_hz=rate_hz, cutoff_hz=cutoff_hz)
        _, second = differentiate(smooth, rate_hz=rate_hz, accuracy=accuracy)
        error = rms((second - measured)[SCORED])
        assert error == pytest.approx(known, abs=0.01) if accuracy == 2 else known - 0.06 < error < known


def test_best_cutoff_of_pezzack_is_where_it_is_known_to_be(pezzack):
    """Within the half hertz to which it is given."""
    clean, noisy, measured, rate_hz = pezzack

    def error(angle, cutoff_hz):
        smooth = low_pass(angle, rate_hz=rate_hz, cutoff_hz=cutoff_hz)
        return rms((differentiate(smooth, rate_hz=rate_hz, accuracy=2)[1] - measured)[SCORED])

    grid = np.arange(3.0, 10.01, 0.25)
    for angle, known in ((clean, 6.5), (noisy, 5.0)):
        assert abs(grid[np.argmin([error(angle, c) for c in grid])] - known) <= 0.5

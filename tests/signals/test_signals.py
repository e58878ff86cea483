"""Gaps, low-pass filter and derivatives against closed forms and a measured acceleration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st
from scipy import signal

from limbtorque.arrays import runs
from limbtorque.errors import SignalError
from limbtorque.signals.derivatives import differentiate, differentiation_reach
from limbtorque.signals.filters import design_cutoff, filter_reach, low_pass
from limbtorque.signals.gaps import fill_gaps


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


# --- filter ----------------------------------------------------------------------------------------------------------


@options(deadline=None, max_examples=50)
@given(st.integers(1, 8), st.floats(0.01, 0.35), st.floats(0.02, 0.49))
def test_gain_at_any_frequency(order, cutoff, frequency):
    """Two passes: 1 / (1 + (tan(pi f) / tan(pi fd))^2n), with (...)^2n = (root 2 - 1) at the stated cut-off."""
    design = design_cutoff(cutoff, rate_hz=1.0, order=order)
    sections = signal.butter(order, design, fs=1.0, output="sos")
    _, response = signal.sosfreqz(sections, worN=[frequency], fs=1.0)
    share = (np.sqrt(2.0) - 1.0) * (np.tan(np.pi * frequency) / np.tan(np.pi * cutoff)) ** (2 * order)
    assert abs(response[0]) ** 2 == pytest.approx(1.0 / (1.0 + share), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("cutoff_hz", [25.0, 25.1, 1000.0, 0.0, -6.0, float("nan")])
def test_cutoff_at_or_above_nyquist_is_refused(cutoff_hz):
    with pytest.raises(SignalError, match=r"not below the Nyquist frequency 25 Hz of a recording at 50 Hz"):
        low_pass(np.zeros(200), rate_hz=50.0, cutoff_hz=cutoff_hz)


@pytest.mark.parametrize(("order", "cutoff_hz", "rate_hz"), [(2, 6.0, 50.0), (2, 6.0, 1000.0), (5, 3.0, 100.0)])
def test_too_few_frames_are_refused_and_the_next_number_is_not(order, cutoff_hz, rate_hz):
    needed = filter_reach(cutoff_hz, rate_hz=rate_hz, order=order) + 1
    with pytest.raises(SignalError, match=rf"{needed - 1} frames are fewer .* needs \({needed}\)"):
        low_pass(np.zeros(needed - 1), rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order)
    assert low_pass(np.zeros(needed), rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order).shape == (needed,)
    for few in (0, 1):
        with pytest.raises(SignalError, match="frames are fewer"):
            low_pass(np.zeros(few), rate_hz=rate_hz, cutoff_hz=cutoff_hz, order=order)


def test_ends_are_extended_by_what_there_is_in_a_short_signal():
    """Just enough frames: a trend is kept to a hundredth of the lag (0.03 s), level to rounding."""
    frames = filter_reach(6.0, rate_hz=100.0, order=2) + 1
    t = np.arange(frames) / 100.0
    found = low_pass(1.7 - 4.0 * t, rate_hz=100.0, cutoff_hz=6.0)
    np.testing.assert_allclose(found, 1.7 - 4.0 * t, rtol=0.0, atol=4.0 * 3e-4)


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


def test_leading_errors_at_accuracy_4():
    """h^4 y(5) / 30 and h^4 y(6) / 90, as documented."""
    t = np.arange(30) / 10.0
    first, second = differentiate(t**5, rate_hz=10.0)
    np.testing.assert_allclose((5 * t**4 - first)[2:-2], 1e-4 * 120 / 30, rtol=1e-6)
    _, second = differentiate(t**6, rate_hz=10.0)
    np.testing.assert_allclose((30 * t**4 - second)[2:-2], 1e-4 * 720 / 90, rtol=1e-5)


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


def test_design_cutoff_at_nyquist_is_refused():
    with pytest.raises(SignalError, match=r"24\.99 Hz needs a design cut-off of 2[45]\S* Hz, too near the Nyquist"):
        low_pass(np.zeros(200), rate_hz=50.0, cutoff_hz=24.99)

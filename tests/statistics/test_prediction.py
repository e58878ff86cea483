"""One person beside a group: closed forms, SciPy, and bands that hold a whole new curve."""

import numpy as np
import pytest
from scipy import stats

from limbtorque.statistics.mean_and_spread import Moments, subject_value
from limbtorque.statistics.prediction import CurveBand, GroupCurves
from limbtorque.statistics.reference import TrialCurves, beside_reference, percents, shown_curves, sides_of

CONTROLS = [0.0, -2.0, 5.0, 2.0, 1.0, 3.0, -4.0, -2.0]
JOINTS = {"leg": ["knee"]}
N_CURVES, N_POINTS = len(shown_curves(["knee"])), 5
FLEXION, NET = 0, 1  # places of these curves


def trial(subject, flexion, *, side="right", condition="walk", speed=np.nan, sd=np.nan, net=None):
    """A trial with a constant flexion, or one at each point, and no torque but a net one."""
    curves = np.full((N_CURVES, N_POINTS), np.nan)
    curves[FLEXION] = flexion
    if net is not None:
        curves[NET] = net
    errors = np.full((3, *curves.shape), np.nan)
    errors[:, NET] = [[sd], [0.0], [0.0]]
    return TrialCurves(subject, "leg", condition, side, curves, errors, np.array([speed, np.nan, np.nan]))


def compared(persons, reference, *, members=()):
    """Of each person by its name, side, quantity and statistic."""
    means = [sides_of(trials, JOINTS, min_known_share=0.9) for trials in (persons, reference)]
    found = beside_reference(*means, joints=JOINTS, members=members, seed=1)
    return {
        (each.subject, each.side, each.shown.quantity, each.shown.term, each.shown.statistic): each for each in found
    }


def maximum(found, subject="person", side="right"):
    return found[subject, side, "flexion", "", "max"]


def controls(**more):
    return [trial(f"C{k}", value, **more) for k, value in enumerate(CONTROLS)]


def test_t_of_one_against_eight_controls():
    """The example of Crawford and Howell's formula; SciPy's two-sample t with a sample of one."""
    one = maximum(compared([trial("person", 10.0)], controls()))
    assert (round(one.t, 4), one.freedom, round(one.p, 5)) == (3.0522, 7, 0.01853)
    by_scipy = stats.ttest_ind_from_stats(10.0, 0.0, 1, np.mean(CONTROLS), np.std(CONTROLS, ddof=1), 8)
    assert (one.t, one.p) == pytest.approx(by_scipy, rel=1e-12)
    half = stats.t.ppf(0.975, 7) * np.std(CONTROLS, ddof=1) * np.sqrt(1.0 + 1.0 / 8.0)
    row = one.row
    assert (row["low"], row["high"]) == pytest.approx((np.mean(CONTROLS) - half, np.mean(CONTROLS) + half))
    assert one.p_adjusted == min(2.0 * one.p, 1.0)  # with the minimum, which is the same


def test_a_member_is_compared_with_the_others():
    found = compared(controls(), controls(), members={"C2"})
    others = np.delete(CONTROLS, 2)
    by_scipy = stats.ttest_ind_from_stats(5.0, 0.0, 1, others.mean(), others.std(ddof=1), 7)
    assert (maximum(found, "C2").t, maximum(found, "C2").p) == pytest.approx(by_scipy, rel=1e-12)
    assert maximum(found, "C2").n_reference == 7
    assert maximum(found, "C0").n_reference == 8  # of the same name in another study


def test_a_subject_counts_once_with_the_mean_of_its_sides():
    """Means 1 and 4; squares of single sides about their mean of 2.5: (6.25 + 0.25) / 2 and 2.25, over n - 1."""
    reference = [trial("A", 0.0), trial("A", 2.0, side="left"), trial("A", 2.0, side="left"), trial("B", 4.0)]
    one = maximum(compared([trial("person", 2.5)], reference))
    sides = [Moments.of(np.array([[0.0]])), Moments.of(np.array([[2.0], [2.0]]))]
    assert one.mean[0] == (subject_value(sides).known_mean[0] + 4.0) / 2.0 == 2.5
    assert one.sd[0] == pytest.approx(np.sqrt((3.25 + 2.25) * 1.5))
    assert (one.n_reference, one.freedom) == (2, 1)


def test_the_mean_is_that_at_the_persons_speed_and_the_interval_wider():
    """Against a line by NumPy, and the standard deviation of a prediction in the textbooks."""
    rng, n = np.random.default_rng(1), 15
    speed = rng.uniform(0.8, 1.6, n)
    value = 20.0 + 10.0 * speed + rng.normal(size=n)
    reference = [trial(f"C{k}", value[k], speed=speed[k]) for k in range(n)]
    one = maximum(compared([trial("person", 30.0, speed=0.7)], reference))
    line, residual, *_ = np.polyfit(speed, value, 1, full=True)
    spread = np.sqrt(residual[0] / (n - 2))
    wider = np.sqrt(1.0 + 1.0 / n + (0.7 - speed.mean()) ** 2 / ((speed - speed.mean()) ** 2).sum())
    assert (one.mean[0], one.sd[0]) == pytest.approx((np.polyval(line, 0.7), spread * wider))
    assert (one.at_speed, one.freedom) == (True, n - 2)
    assert one.speeds_m_s == (speed.min(), speed.max())
    same = [trial(f"C{k}", value[k], speed=1.2 + 0.001 * k) for k in range(n)]  # all at one speed
    assert not maximum(compared([trial("person", 30.0, speed=0.7)], same)).at_speed


def test_deviations_of_the_group_leave_each_subject_out():
    rng = np.random.default_rng(2)
    group = GroupCurves(
        rng.normal(size=(8, 3)), np.array([0, 0, 1, 2, 3, 3, 4, 5]), np.c_[np.ones(6), rng.normal(size=6)]
    )
    for k, subject in enumerate(group.subject):
        mean = group.without(subject).fit.predicted(group.design[subject])[0][0]
        np.testing.assert_allclose(group.left_out[k], group.values[k] - mean, atol=1e-12)


def smooth(rng, n):
    """Curves of a few random waves, which differ in spread along the curve."""
    at = np.linspace(0.0, np.pi, 41)
    waves = np.array([np.cos(k * at) for k in range(12)])
    return rng.normal(size=(n, 12)) @ waves * (1.0 + at)


def test_the_band_holds_a_whole_new_curve():
    """95 % of 150 curves, with 3 standard errors of 1.8; by points it would be some 60 %."""
    rng, held, by_points = np.random.default_rng(3), 0, 0
    for _ in range(150):
        curves, new = smooth(rng, 20), smooth(rng, 1)[0]
        group = GroupCurves(curves, np.arange(20), np.ones((20, 1)))
        mean, sd = (each[0] for each in group.fit.predicted(np.ones(1)))
        held += (np.abs(new - mean) <= CurveBand(group, seed=1).factor() * sd).all()
        by_points += (np.abs(new - mean) <= 1.96 * sd).all()
    assert 0.895 <= held / 150 <= 1.0
    assert by_points / 150 < 0.75


def test_the_band_without_a_member_is_that_of_the_others():
    """By the samples that lack it, to their chance; an odd member widens it for all but itself."""
    curves = smooth(np.random.default_rng(4), 25)
    curves[7] *= 6.0
    group = GroupCurves(curves, np.arange(25), np.ones((25, 1)))
    band = CurveBand(group, seed=1)
    assert band.factor(7) == pytest.approx(CurveBand(group.without(7), seed=1).factor(), rel=0.1)
    assert band.factor(3) == pytest.approx(band.factor(), rel=0.15)


def test_rms_deviation_and_its_error():
    """A deviation of 3, 3, 3, 3, -4 with an error of 0.5 of one sign in all: 0.5 (4 x 3 + 4) / 5 over the rms."""
    reference = [trial(f"C{k}", 0.0, net=float(k % 2)) for k in range(12)]
    one = compared([trial("person", 0.0, sd=0.5, net=np.array([3.5, 3.5, 3.5, 3.5, -3.5]))], reference)
    curve = one["person", "right", "torque", "net", "curve"]
    rms = np.sqrt((4.0 * 9.0 + 16.0) / 5.0)
    assert (curve.rms, curve.rms_error) == pytest.approx((rms, 0.5 * 16.0 / 5.0 / rms))
    assert percents(curve.outside()) == "0 to 100 %"
    np.testing.assert_allclose(curve.others, 0.5 * 12.0 / 11.0)  # of each from the mean of the other eleven
    assert curve.row["larger_share"] == 0.0


def test_gaps_too_few_subjects_and_an_unknown_condition():
    reference = controls()
    reference[0].curves[FLEXION, 3:] = np.nan  # the others have 7 whole curves, more than 8 short ones
    person = trial("person", 10.0)
    person.curves[FLEXION, 0] = np.nan
    found = compared([person, trial("other", 1.0, condition="run")], reference)
    curve = found["person", "right", "flexion", "", "curve"]
    assert (curve.n_reference, np.isnan(curve.factor)) == (7, True)
    assert not curve.outside().any()
    assert not any(statistic == "max" for *_, statistic in found)  # of four of five points none is known
    assert {subject for subject, *_ in found} == {"person"}
    alone = compared([trial("A", 1.0)], [trial("A", 1.0)], members={"A"})
    assert alone == {}
    two = maximum(compared([trial("A", 1.0)], [trial("A", 1.0), trial("B", 2.0)], members={"A"}), "A")
    assert (two.n_reference, np.isnan(two.t), np.isnan(two.p)) == (1, True, True)

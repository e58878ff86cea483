"""One person beside a group: closed forms, SciPy, and bands that hold a whole new curve."""

import numpy as np
import pytest
from scipy import stats

from limbtorque.statistics.mean_and_spread import Moments, subject_value
from limbtorque.statistics.prediction import CurveBand, Group
from limbtorque.statistics.reference import Shown, Side, beside_reference, percents

CONTROLS = [0.0, -2.0, 5.0, 2.0, 1.0, 3.0, -4.0, -2.0]
NET = Shown("knee", "torque", "net", "curve", "N m/kg")
PEAK = Shown("knee", "flexion_peak_nm_kg", "", "mean", "N m/kg")
SPEED = Shown("", "walking_speed_m_s", "", "mean", "m/s")


def a_side(subject, peak, *, side="right", condition="walk", speed=np.nan, curve=0.0, error=np.nan):
    """A side with a peak and a curve of five points."""
    means = {NET: np.array([np.broadcast_to(curve, 5), np.full(5, error)])}
    means |= {shown: np.array([[value], [np.nan]]) for shown, value in ((PEAK, peak), (SPEED, speed))}
    return Side("leg", condition, subject, side, 2, speed, means)


def compared(persons, reference, *, members=()):
    """Of each person by its name and the curve or number."""
    found = beside_reference(persons, reference, members=members, seed=1)
    return {(each.row["subject"], each.shown): each for each in found}


def peak(found, subject="person"):
    return found[subject, PEAK].row


def controls(**more):
    return [a_side(f"C{k}", value, **more) for k, value in enumerate(CONTROLS)]


def test_t_of_one_against_eight_controls():
    """The example of Crawford and Howell's formula; SciPy's two-sample t with a sample of one."""
    row = peak(compared([a_side("person", 10.0)], controls()))
    assert (round(row["t"], 4), row["degrees_of_freedom"], round(row["p"], 5)) == (3.0522, 7, 0.01853)
    by_scipy = stats.ttest_ind_from_stats(10.0, 0.0, 1, np.mean(CONTROLS), np.std(CONTROLS, ddof=1), 8)
    assert (row["t"], row["p"]) == pytest.approx(by_scipy, rel=1e-12)
    half = stats.t.ppf(0.975, 7) * np.std(CONTROLS, ddof=1) * np.sqrt(1.0 + 1.0 / 8.0)
    assert (row["low"], row["high"]) == pytest.approx((np.mean(CONTROLS) - half, np.mean(CONTROLS) + half))


def test_p_is_adjusted_for_all_numbers_of_a_person():
    """Those of two sides of one person, by hand; the other person has a single one."""
    persons = [a_side("A", 10.0), a_side("A", 9.0, side="left"), a_side("B", 10.0)]
    found = beside_reference(persons, controls(), seed=1)
    first, second, other = (each.row for each in found if each.shown == PEAK)
    assert first["p_adjusted"] == pytest.approx(2.0 * first["p"])
    assert second["p_adjusted"] == pytest.approx(max(second["p"], 2.0 * first["p"]))
    assert other["p_adjusted"] == other["p"]


def test_a_member_is_compared_with_the_others():
    found = compared(controls(), controls(), members={"C2"})
    others = np.delete(CONTROLS, 2)
    by_scipy = stats.ttest_ind_from_stats(5.0, 0.0, 1, others.mean(), others.std(ddof=1), 7)
    row = peak(found, "C2")
    assert (row["t"], row["p"]) == pytest.approx(by_scipy, rel=1e-12)
    assert (row["n_reference"], row["degrees_of_freedom"]) == (7, 6)
    assert peak(found, "C0")["n_reference"] == 8  # of the same name in another study


def test_a_subject_counts_once_with_the_mean_of_its_sides():
    """Means 1 and 4; squares of single sides about their mean of 2.5: (6.25 + 0.25) / 2 and 2.25, over n - 1."""
    reference = [a_side("A", 0.0), a_side("A", 2.0, side="left"), a_side("B", 4.0)]
    row = peak(compared([a_side("person", 12.5)], reference))
    sides = [Moments.of(np.array([[0.0]])), Moments.of(np.array([[2.0], [2.0]]))]
    assert row["reference_mean"] == (subject_value(sides).known_mean[0] + 4.0) / 2.0 == 2.5
    assert row["t"] == pytest.approx(10.0 / np.sqrt((3.25 + 2.25) * 1.5))
    assert (row["n_reference"], row["degrees_of_freedom"]) == (2, 1)


def test_the_mean_is_that_at_the_persons_speed_and_the_interval_wider():
    """Against a line by NumPy, and the standard deviation of a prediction in the textbooks."""
    rng, n = np.random.default_rng(1), 15
    speed = rng.uniform(0.8, 1.6, n)
    value = 20.0 + 10.0 * speed + rng.normal(size=n)
    reference = [a_side(f"C{k}", value[k], speed=speed[k]) for k in range(n)]
    found = compared([a_side("person", 30.0, speed=0.7)], reference)
    assert found["person", SPEED].row["reference_mean"] == pytest.approx(
        speed.mean()
    )  # which is not corrected by itself
    row = peak(found)
    line, residual, *_ = np.polyfit(speed, value, 1, full=True)
    spread = np.sqrt(residual[0] / (n - 2))
    wider = np.sqrt(1.0 + 1.0 / n + (0.7 - speed.mean()) ** 2 / ((speed - speed.mean()) ** 2).sum())
    assert row["reference_mean"] == pytest.approx(np.polyval(line, 0.7))
    assert row["t"] == pytest.approx((30.0 - np.polyval(line, 0.7)) / (spread * wider))
    assert (row["at_speed"], row["degrees_of_freedom"]) == (1, n - 2)
    assert (row["reference_speed_low_m_s"], row["reference_speed_high_m_s"]) == (speed.min(), speed.max())
    same = [a_side(f"C{k}", value[k], speed=1.2 + 0.001 * k) for k in range(n)]  # all at one speed
    assert peak(compared([a_side("person", 30.0, speed=0.7)], same))["at_speed"] == 0


def test_a_person_without_a_speed_changes_nothing_for_the_others():
    reference = [a_side(f"C{k}", float(k % 3), speed=1.0 + 0.04 * k) for k in range(12)]
    alone = peak(compared([a_side("person", 30.0, speed=0.9)], reference))
    found = compared([a_side("person", 30.0, speed=0.9), a_side("other", 30.0)], reference)
    assert alone["at_speed"] == 1
    assert peak(found)["t"] == alone["t"]
    assert peak(found, "other")["at_speed"] == 0


def test_what_is_said_of_the_group_is_without_the_member():
    """Its speeds, so that the fastest is beyond them, and how much the others deviate from one another."""
    rng = np.random.default_rng(6)
    group = [a_side(f"C{k}", 0.0, speed=1.0 + 0.002 * k, curve=rng.normal(size=5)) for k in range(11)]
    group[10].means[NET][0] += 20.0
    member = compared(group, group, members={f"C{k}" for k in range(11)})["C10", NET].row
    other = compared(group[10:], group[:10])["C10", NET].row
    assert member["reference_speed_high_m_s"] == other["reference_speed_high_m_s"] == 1.018
    assert member["reference_rms"] == pytest.approx(other["reference_rms"])
    assert other["reference_rms"] < 2.0
    lone = compared(group[10:], group[:1])["C10", NET].row
    assert np.isnan([lone["reference_rms"], lone["larger_share"]]).all()  # one subject deviates from nobody


def test_fits_without_each_subject_are_those_of_the_others():
    rng = np.random.default_rng(2)
    group = Group(rng.normal(size=(8, 3)), np.array([0, 0, 1, 2, 3, 3, 4, 5]), np.c_[np.ones(6), rng.normal(size=6)])
    row, mean_of = group.design[:1], np.array([group.values[group.subject == k].mean(axis=0) for k in range(6)])
    for k in range(6):
        others = np.arange(6) != k
        slope = np.linalg.lstsq(group.design[others], mean_of[others], rcond=None)[0]
        np.testing.assert_allclose(group.left_out.predicted(row, np.array([k + 1]))[0], row @ slope, atol=1e-12)


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
        group = Group(curves, np.arange(20), np.ones((20, 1)))
        mean, sd = (each[0] for each in group.left_out.predicted(np.ones((1, 1)), np.zeros(1, dtype=int)))
        held += (np.abs(new - mean) <= CurveBand(group, seed=1).factor(0) * sd).all()
        by_points += (np.abs(new - mean) <= 1.96 * sd).all()
    assert 0.895 <= held / 150 <= 1.0
    assert by_points / 150 < 0.75


def test_the_band_without_a_member_is_that_of_the_others():
    """By the samples that lack it, to their chance; an odd member widens it for all but itself."""
    curves = smooth(np.random.default_rng(4), 25)
    curves[7] *= 6.0
    band = CurveBand(Group(curves, np.arange(25), np.ones((25, 1))), seed=1)
    others = CurveBand(Group(np.delete(curves, 7, axis=0), np.arange(24), np.ones((24, 1))), seed=1)
    assert band.factor(7 + 1) == pytest.approx(others.factor(0), rel=0.1)
    assert band.factor(3 + 1) == pytest.approx(band.factor(0), rel=0.15)


def test_rms_deviation_and_its_error():
    """A deviation of 3, 3, 3, 3, -4 with an error of 0.5 of one sign in all: 0.5 (4 x 3 + 4) / 5 over the rms."""
    reference = [a_side(f"C{k}", 0.0, curve=float(k % 2)) for k in range(12)]
    person = a_side("person", 0.0, curve=np.array([3.5, 3.5, 3.5, 3.5, -3.5]), error=0.5)
    each = compared([person], reference)["person", NET]
    rms = np.sqrt((4.0 * 9.0 + 16.0) / 5.0)
    assert (each.row["rms_deviation"], each.row["rms_error"]) == pytest.approx((rms, 0.5 * 16.0 / 5.0 / rms))
    assert each.row["reference_rms"] == pytest.approx(0.5 * 12.0 / 11.0)  # of each from the mean of the other eleven
    assert each.row["larger_share"] == 0.0
    half = each.half[0]
    assert 0.5 < half < 3.0  # of numbers that are 0.5 from their mean
    assert each.row["outside"] == "0 to 100 %"
    small = a_side("person", 0.0, curve=np.array([0.5, 0.5 + 1.1 * half, 0.5 + half + 1.0, 0.5, 0.5]), error=0.5)
    row = compared([small], reference)["person", NET].row
    assert (row["outside"], row["outside_certain"]) == ("25 to 50 %", "50 %")


def test_members_are_beside_the_others_in_curves_too():
    """The odd one of eleven deviates more than all others; with ten, each has nine others, which are too few for a band."""
    rng = np.random.default_rng(5)
    group = [a_side(f"C{k}", 0.0, curve=rng.normal(size=5)) for k in range(11)]
    group[3].means[NET][0] += 9.0
    rows = {
        name: each
        for (name, shown), each in compared(group, group, members={f"C{k}" for k in range(11)}).items()
        if shown == NET
    }
    assert (rows["C3"].row["larger_share"], rows["C3"].row["outside"]) == (0.0, "0 to 100 %")
    assert rows["C0"].row["outside"] == ""
    nine = compared([*group[1:], a_side("person", 0.0)], group[1:], members={f"C{k}" for k in range(11)})
    assert np.isnan(nine["C3", NET].half).all()
    assert not np.isnan(nine["person", NET].half).any()


def test_gaps_few_subjects_and_conditions_that_the_reference_lacks():
    reference = [a_side(f"C{k}", float(k), curve=float(k)) for k in range(8)]
    reference[0].means[NET][0] = [1.0, 1.0, 1.0, np.nan, np.nan]  # 7 whole curves are more than 8 short ones
    person = a_side("person", np.nan, curve=np.array([np.nan, 9.0, 9.0, 9.0, 9.0]))
    found = compared([person, a_side("other", 1.0, condition="run")], reference)
    assert list(found) == [("person", NET)]  # no peak, no speed
    row = found["person", NET].row
    assert (row["n_reference"], row["outside"]) == (7, "")  # too few for a band
    assert row["rms_deviation"] == pytest.approx(5.0)
    assert np.isnan(found["person", NET].half).all()
    assert compared([a_side("A", 1.0)], [a_side("A", 1.0)], members={"A"}) == {}
    two = peak(compared([a_side("A", 1.0)], [a_side("A", 1.0), a_side("B", 2.0)], members={"A"}), "A")
    assert (two["n_reference"], two["reference_mean"]) == (1, 2.0)
    assert np.isnan([two["t"], two["p"], two["low"]]).all()
    assert percents(np.array([False, True])) == "100 %"

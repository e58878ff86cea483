"""Passive moments of joints: values worked out from the printed equations, signs, slopes and energy."""

import math

import numpy as np
import pytest

from limbtorque.muscles.passive_moments import CURVES, passive_moments

LEG = ("hip", "knee", "ankle")


def moment(method, *flexion_deg):
    return passive_moments(method, np.radians([flexion_deg]), LEG)[0][0]


@pytest.mark.parametrize("flexion", [(0, 0, 0), (-15, 5, 10), (30, 60, -20), (100, 90, 15)])
def test_riener_and_edrich_as_printed(flexion):
    """The equations of 1999, in degrees, where the ankle is positive in plantarflexion."""
    hip, knee, plantar = flexion[0], flexion[1], -flexion[2]
    expected = [
        math.exp(1.4655 - 0.0034 * knee - 0.0750 * hip) - math.exp(1.3403 - 0.0226 * knee + 0.0305 * hip) + 8.072,
        math.exp(1.800 - 0.0460 * plantar - 0.0352 * knee + 0.0217 * hip)
        - math.exp(-3.971 - 0.0004 * plantar + 0.0495 * knee - 0.0128 * hip)
        - 4.820
        + math.exp(2.220 - 0.150 * knee),
        -math.exp(2.1016 - 0.0843 * plantar - 0.0176 * knee)
        + math.exp(-7.9763 + 0.1949 * plantar + 0.0008 * knee)
        + 1.792,
    ]
    np.testing.assert_allclose(moment("riener_edrich", *flexion), expected, rtol=1e-13)


def test_signs_are_those_of_the_body():
    """Relaxed muscles resist: the calf dorsiflexion, the hamstrings a raised straight leg, hip flexors extension."""
    assert moment("riener_edrich", 0, 0, 20)[2] < -30
    assert moment("riener_edrich", 0, 90, 20)[2] > 0.3 * moment("riener_edrich", 0, 0, 20)[2]  # less with a bent knee
    assert moment("riener_edrich", -15, 10, 0)[0] > 10
    assert moment("riener_edrich", 80, 0, 0)[0] < -20
    assert moment("riener_edrich", 80, 0, 0)[1] > 20
    assert moment("anderson", 0, -10, 0)[1] > 2
    assert moment("anderson", 0, 0, 35)[2] < -5


def test_ligaments_have_the_published_size_at_the_limits():
    """Anderson's coefficients are the moments at the angles that end a joint's range."""
    for joint, limit, size in [
        (0, 1.81, -2.44), (0, -0.6981, 1.51), (1, 2.40, -11.03), (1, -0.13, 6.09), (2, 0.52, -2.03), (2, -0.74, 0.18),
    ]:  # fmt: skip
        flexion = [0.0, 0.0, 0.0]
        flexion[joint] = np.degrees(limit)
        assert moment("anderson", *flexion)[joint] == pytest.approx(size, abs=1e-3)
    standing = np.abs(moment("anderson", 20, 30, 5))
    assert (standing < 0.01).all()  # nothing in the middle of the range


@pytest.mark.parametrize("method", CURVES)
def test_every_joint_is_a_spring(method):
    """More flexion always gives less of a flexing moment."""
    rng = np.random.default_rng(3)
    flexion = np.radians(rng.uniform((-20, 0, -40), (110, 120, 30), (400, 3)))
    for j in range(3):
        more = flexion + np.eye(3)[j] * 1e-5
        slope = (passive_moments(method, more, LEG)[0] - passive_moments(method, flexion, LEG)[0])[:, j] / 1e-5
        assert (slope < 0).all()


def test_ligaments_store_what_they_give_back():
    """The moment of one joint is the slope of an energy: over a whole bend and back no work is left."""
    there = np.zeros((4001, 3))
    there[:, 1] = np.linspace(np.radians(-8.0), np.radians(135.0), 4001)
    work = np.trapezoid(passive_moments("anderson", there, LEG)[0][:, 1], there[:, 1])
    ends = [
        6.09 / 33.94 * math.exp(-33.94 * (q + 0.13)) + 11.03 / 11.33 * math.exp(11.33 * (q - 2.40))
        for q in (there[0, 1], there[-1, 1])
    ]
    assert work == pytest.approx(ends[0] - ends[1], abs=1e-5)


def test_joints_without_curves_or_neighbours_have_no_moment():
    both, without = passive_moments("riener_edrich", np.radians([[20.0, 10.0]]), ("knee", "ankle"))
    assert without == ("knee",)  # needs the hip
    assert both[0, 0] == 0.0
    assert both[0, 1] != 0.0
    known = np.array([False, True, True])
    some, without = passive_moments("anderson", np.radians([[-30.0, -5.0, 30.0]]), LEG, known)
    assert without == ("hip",)
    assert some[0, 0] == 0.0
    assert some[0, 1] > 0.0
    arm, without = passive_moments("riener_edrich", np.zeros((2, 2)), ("shoulder", "elbow"))
    assert without == ("shoulder", "elbow")
    assert not arm.any()
    assert passive_moments("none", np.zeros((2, 3)), LEG)[1] == ()
    assert np.isnan(passive_moments("riener_edrich", np.array([[0.0, np.nan, 0.0]]), LEG)[0]).all()

"""Flexion of a limb: when a mirrored one would be noticed."""

import numpy as np

from limbtorque.motion.flexion import Flexion, undecided_flexion
from limbtorque.study.chains import ARM


def test_a_limb_that_is_straight_most_of_the_time_and_bends_is_decided():
    """By the range: half of the frames of each are at 2 degrees. A spike of 30 degrees in 4 % of them does not bend it."""
    flexion = Flexion(np.ones(3), np.zeros(3), np.ones(3, dtype=bool))
    for bent_deg, share, undecided in ((60.0, 0.4, 0.0), (-60.0, 0.4, 0.0), (30.0, 0.04, 1.0), (8.0, 0.4, 1.0)):
        angle = np.radians(np.full((100, 3), 2.0))
        angle[: round(100 * share), 1] = np.radians(bent_deg)
        assert undecided_flexion(ARM, flexion, angle) == undecided
    assert undecided_flexion(ARM, flexion, np.radians(np.full((100, 3), 40.0))) == 0.0  # bent throughout

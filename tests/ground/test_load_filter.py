"""The part of the load's moment that the filter removes, against closed forms."""

import numpy as np
import pytest

from limbtorque.ground.reaction import load_moment_lost
from limbtorque.motion.chain_motion import ExternalLoad, no_load

JOINTS = np.array([[[0.0, 0.9], [0.1, 0.5], [0.0, 0.1], [0.15, 0.0]]] * 3)  # hip, knee, ankle and toe, three frames


def load(filtered_n, unfiltered_n, couple_nm=(0.0, 0.0, 0.0)):
    status = np.array([1, 1, 2], dtype=np.int8)
    return ExternalLoad(
        np.array(filtered_n),
        JOINTS[:, 2],
        np.zeros(3),
        status,
        (),
        unfiltered_n=np.array(unfiltered_n),
        unfiltered_couple_nm=np.array(couple_nm),
    )


def test_the_lost_share_is_that_of_the_force_with_the_same_lever_arms():
    """A force along x of 100 N, of which 30 are lost, has arms of 0.8 m at the hip, 0.4 m at the knee and none at the ankle."""
    lost = load_moment_lost(
        load([[70.0, 0.0], [50.0, 0.0], [0.0, 0.0]], [[100.0, 0.0], [50.0, 0.0], [9e9, 0.0]]), JOINTS
    )
    assert lost[:2] == pytest.approx([0.3, 0.3])
    assert np.isnan(lost[2])


def test_a_couple_counts_alike_at_every_joint():
    """10 N m are lost at the ankle, where nothing else acts, and of 50 N m at the knee."""
    lost = load_moment_lost(load([[100.0, 0.0]] * 3, [[100.0, 0.0]] * 3, (10.0, 0.0, 0.0)), JOINTS)
    assert lost == pytest.approx([10.0 / 90.0, 10.0 / 50.0, 1.0])


def test_without_plates_nothing_is_known():
    assert np.isnan(load_moment_lost(no_load(3), JOINTS)).all()

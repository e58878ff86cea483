"""Random numbers of the errors: shared by the trials that have an error in common, balanced, independent."""

import numpy as np
import pytest

from limbtorque.uncertainty.bands import Direction
from limbtorque.uncertainty.sampled import Draw, direction_numbers

MASS = [Direction("segment_mass", name) for name in ("thigh", "shank", "foot")]
HIP = [Direction("joint_centres", f"right hip {axis}") for axis in ("along", "across")]
PLATES, LOST = [Direction("plate_gain"), Direction("pressure")], [Direction("filter", "loss")]
GAP = [Direction("gaps", "right hip along")]
ALL = [*MASS, *HIP, *LOST, *PLATES, *GAP]


def columns(directions, draw):
    return dict(zip(directions, direction_numbers(directions, draw).T, strict=True))


def test_trials_share_what_they_have_in_common_and_nothing_else():
    one = columns(ALL, Draw(64, 1, "anna", "walk_1"))
    same, other = columns(ALL, Draw(64, 1, "anna", "walk_2")), columns(ALL, Draw(64, 1, "ben", "walk_3"))
    for own in (MASS, HIP):
        assert all(np.array_equal(one[each], same[each]) for each in own)
        assert not any(np.array_equal(one[each], other[each]) for each in own)
    assert all(np.array_equal(one[each], other[each]) for each in (*PLATES, *LOST))
    assert not np.array_equal(one[GAP[0]], same[GAP[0]])


def test_another_limb_of_the_subject_has_the_same_segments_in_whatever_order():
    left = [Direction("joint_centres", f"left hip {axis}") for axis in ("along", "across")]
    one, other = columns(ALL, Draw(64, 1, "anna", "a")), columns([*PLATES, *left, *MASS], Draw(64, 1, "anna", "b"))
    assert all(np.array_equal(one[each], other[each]) for each in (*MASS, *PLATES))
    assert not np.array_equal(one[HIP[0]], other[left[0]])


def test_numbers_are_standard_normal_and_independent():
    """Each is stratified: mean and variance of 1024 quantiles; correlations of 1024 independent numbers have sd 0.031."""
    numbers = direction_numbers(ALL, Draw(1024, 5, "anna", "a"))
    assert np.abs(numbers.mean(axis=0)).max() < 0.005
    assert np.abs(numbers.std(axis=0) - 1.0).max() < 0.01
    correlation = np.corrcoef(numbers.T) - np.eye(len(ALL))
    assert np.abs(correlation).max() < 4.0 * 0.031
    assert np.abs(correlation[:3, :3]).max() < 0.02  # those of a source are one Sobol sequence


def test_a_number_of_draws_that_is_not_balanced_is_refused():
    with pytest.raises(ValueError, match="n_samples is 3"):
        Draw(3, 0)

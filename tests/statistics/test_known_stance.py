"""Share of a stance with a known ground force, and the sentences on unequal shares."""

import numpy as np
import pytest

from limbtorque.statistics.mean_and_spread import known_stance_share, uneven_ground_forces


@pytest.mark.parametrize(
    ("status", "cycle", "share"),
    [
        ([1, 1, 1, 1, 0, 0, 0, 2, 2], True, 1.0),  # the next contact begins before the cycle ends
        ([1, 1, 1, 1, 0, 0, 0, 2, 2], False, 4 / 6),  # the same in a window that is no cycle
        ([2, 2, 1, 1, 0, 0, 0, 0, 0], True, 0.5),
        ([2, 2, 2, 0, 0, 0, 0, 1, 1], True, 0.0),
        ([1, 1, 2, 2, 2, 2, 2, 2, 2], True, 2 / 9),  # never in the air
        ([0, 0, 0, 0, 0, 0, 0, 0, 0], True, np.nan),
    ],
)
def test_known_stance_is_that_of_the_frames_in_contact(status, cycle, share):
    """Nine frames from 0.1 to 0.9 s in the window, and frames before and after it that do not count."""
    time_s = np.arange(12) / 10.0
    found = known_stance_share(time_s, np.array([2, *status, 2, 2]), start_s=0.1, end_s=0.9, cycle=cycle)
    assert found == pytest.approx(share, nan_ok=True)


def test_unequal_ground_force_shares_are_reported():
    def windows(count, included="1"):
        about = {"chain": "leg", "condition": "walk", "side": "left", "included": included}
        return [{**about, "trial": f"t{k}"} for k in range(count)]

    (said,) = uneven_ground_forces(windows(2), {"t0": 0.9, "t1": 0.4})["leg"]
    assert said.startswith(
        "In the mean of walk, left (2 trials), the ground force is known in 40 to 90 % of the stance, depending on the trial;"
    )
    assert "the foot was not on a usable plate" in said
    (none,) = uneven_ground_forces(windows(2), {"t0": 0.0, "t1": 0.0})["leg"]
    assert "(2 trials), the ground force is unknown throughout stance" in none
    assert uneven_ground_forces(windows(2), {"t0": 0.6, "t1": 0.62}) == {}  # alike
    assert uneven_ground_forces(windows(2), {"t0": 1.0, "t1": np.nan}) == {}  # one never meets the ground
    assert uneven_ground_forces(windows(2), {}) == {}  # an arm
    assert uneven_ground_forces([*windows(1), *windows(2, included="0")], {"t0": 1.0, "t1": 0.4}) == {}

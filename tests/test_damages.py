"""The damage benchmark on three simulated people: exact torques, no false alarm, plain damage rejected."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
UNDAMAGED = 3  # recordings of each of them
REVERSED = ("wrong_side", "mirrored_axis", "braking_reversed")
LARGE = ("plate_gain", "plate_moved", "plate_turned", "forces_late", "wrong_mass", "spikes")
LARGEST = (
    3  # sizes of a kind; a plate off by less leaves the pressure within the foot, and nothing in the files shows it
)
GROWING = ("plate_moved", "forces_late", "first_joint_off", "plate_gain")


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import damages
        from parts import damage_page, damage_roc
    finally:
        sys.path.pop(0)
    return damages, damage_page, damage_roc


@pytest.fixture(scope="module")
def rows(benchmark):
    """Undamaged recordings of three people, and all damage of the walker that a test is about."""
    damages, page, _ = benchmark
    people = (("walk", "W01"), ("sagittal reach", "S01"), ("horizontal reach", "H00"))
    calm = [damages.make_trial(*who, repetition=n) for who in people for n in range(UNDAMAGED)]
    trials = [("none", 0.0, trial) for trial in calm]
    cases = [case for case in damages.damaged(*people[0]) if case[0] in {*REVERSED, *LARGE, *GROWING}]
    for kind in dict.fromkeys(kind for kind, _, _ in cases):
        by_size = sorted((case for case in cases if case[0] == kind), key=lambda case: case[1])
        trials += by_size[:1] if kind in (*REVERSED, *GROWING) else []
        trials += by_size[-LARGEST:] if kind in (*LARGE, *GROWING) else []
    with warnings.catch_warnings(action="ignore"):
        return page.prepared(pd.DataFrame([damages.row(*trial) for trial in trials]))


@pytest.mark.slow
def test_undamaged_recordings_are_right_and_ok_and_a_reversed_leg_is_rejected(rows):
    calm = rows[rows.kind == "none"]
    assert len(calm) == 3 * UNDAMAGED
    assert (calm.error < 0.05).all()
    assert (calm.known > 0.9).all()
    assert (calm.status == "ok").all()
    walks = rows[rows.kind.isin(REVERSED)]
    assert set(walks.kind) == set(REVERSED)
    assert walks.bad.all()
    assert (walks.status == "rejected").all()


@pytest.mark.slow
def test_large_damage_of_a_walk_is_flagged_and_larger_damage_errs_more(rows):
    for kind in LARGE:
        bad = rows[(rows.kind == kind) & rows.bad].nlargest(LARGEST, "size")
        assert len(bad) >= 1, kind
        assert (bad.order >= 1).all(), kind
    for kind in GROWING:
        part = rows[rows.kind == kind].sort_values("size")
        assert part.error.iloc[-1] > 4.0 * part.error.iloc[0]
        assert part.error.iloc[-1] > 0.10 > part.error.iloc[0]


def test_area_and_threshold_by_hand(benchmark):
    """Of the six pairs of a bad and a good trial five are in order and one is a tie; a missing value is the lowest."""
    _, _, roc = benchmark
    value, bad = np.array([3.0, 2.0, 1.0, 2.0, np.nan]), np.array([True, True, False, False, False])
    assert roc.area(value, bad) == pytest.approx((3 + 2.5) / 6)
    assert np.isnan(roc.area(value, np.ones(5, dtype=bool)))
    value = np.array([0.1, 0.2, 0.3, 0.32, 0.5, 0.9])
    found = roc.threshold(value, value > 0.4, value < 0.25, false_alarms=0.0, margin=1.5)
    assert 0.32 <= found < 0.5

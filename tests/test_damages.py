"""The damage benchmark on three simulated people: exact torques, no false alarm, plain damage rejected."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


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
    damages, page, _ = benchmark
    found = [damages.rows_of(*job) for job in (("walk", "W01"), ("sagittal reach", "S01"), ("horizontal reach", "H00"))]
    return page.prepared(pd.DataFrame([row for part in found for row in part]))


def test_undamaged_recordings_are_right_and_ok(rows):
    calm = rows[rows.kind == "none"]
    assert len(calm) == 36
    assert (calm.error < 0.05).all()
    assert (calm.known > 0.9).all()
    assert (calm.status == "ok").all()


@pytest.mark.parametrize("kind", ["wrong_side", "mirrored_axis", "braking_reversed"])
def test_a_reversed_leg_is_rejected(rows, kind):
    walks = rows[(rows.task == "walk") & (rows.kind == kind)]
    assert walks.bad.all()
    assert (walks.status == "rejected").all()


@pytest.mark.parametrize("kind", ["plate_gain", "plate_moved", "plate_turned", "forces_late", "wrong_mass", "spikes"])
def test_large_damage_of_a_walk_is_flagged(rows, kind):
    bad = rows[(rows.task == "walk") & (rows.kind == kind) & rows.bad]
    assert len(bad) >= 1
    assert (bad.order >= 1).all()


def test_larger_damage_errs_more(rows):
    for kind in ("plate_moved", "forces_late", "first_joint_off", "plate_gain"):
        part = rows[(rows.task == "walk") & (rows.kind == kind)].sort_values("size")
        assert part.error.iloc[-1] > 4.0 * part.error.iloc[0]
        assert part.error.iloc[-1] > 0.10 > part.error.iloc[0]


def test_area_by_hand(benchmark):
    """Of the six pairs of a bad and a good trial five are in order and one is a tie; a missing value is the lowest."""
    _, _, roc = benchmark
    value, bad = np.array([3.0, 2.0, 1.0, 2.0, np.nan]), np.array([True, True, False, False, False])
    assert roc.area(value, bad) == pytest.approx((3 + 2.5) / 6)
    assert np.isnan(roc.area(value, np.ones(5, dtype=bool)))


def test_threshold_leaves_the_undamaged_trials_alone(benchmark):
    _, _, roc = benchmark
    value = np.array([0.1, 0.2, 0.3, 0.32, 0.5, 0.9])
    undamaged, bad = value < 0.25, value > 0.4
    found = roc.threshold(value, bad, undamaged, false_alarms=0.0, margin=1.5)
    assert 0.32 <= found < 0.5

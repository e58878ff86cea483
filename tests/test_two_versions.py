"""The comparison of two versions, `make benchmark`: its intervals, names, and what it says of a version that lacks a row."""

import sys
from math import comb
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "benchmarks"))  # last: its coverage.py is not the package

import compared_work  # noqa: E402 - as the benchmarks import each other
import two_versions  # noqa: E402
from two_versions import Compared, Turn  # noqa: E402


def turns(times_ms):
    return [Turn(time_ms, 1.0, 100.0) for time_ms in times_ms]


def test_the_interval_of_the_median_is_the_narrowest_that_has_the_confidence():
    """Ranks, from 1, of the lower end for at least 95 %: W. J. Conover, Practical Nonparametric Statistics, 1999."""
    assert [two_versions.rank(n) + 1 for n in (6, 8, 9, 11, 12, 15, 20)] == [1, 1, 2, 2, 3, 4, 6]
    for n in (6, 7, 15, 40):
        missed = [2 * sum(comb(n, j) for j in range(k + 1)) / 2**n for k in range(n // 2)]
        k = two_versions.rank(n)
        assert missed[k] <= 0.05 < missed[k + 1]


def test_the_interval_holds_the_median_as_often_as_it_says():
    rng = np.random.default_rng(3)
    before = turns(np.full(15, 10.0))
    ratios = [Compared(before, turns(10.0 * rng.lognormal(0.0, 0.3, 15))).ratio("used_ms") for _ in range(4000)]
    held = np.mean([low <= 1.0 <= high for _, low, high in ratios])
    assert held == pytest.approx(1 - 2 * sum(comb(15, j) for j in range(4)) / 2**15, abs=0.01)  # 0.965


def test_turns_are_compared_pair_by_pair_and_slower_is_a_whole_interval_above_the_limit():
    times_ms = np.array([10.0, 30.0, 11.0, 90.0, 10.0, 12.0])  # other programs slow both versions in some turns
    assert Compared(turns(times_ms), turns(1.3 * times_ms)).ratio("used_ms") == pytest.approx((1.3, 1.3, 1.3))
    for factors, slower in (([1.12] * 6, True), ([1.12] * 5 + [1.09], False), ([1.0] * 6, False)):
        after = turns([10.0 * factor for factor in factors])
        assert Compared(turns([10.0] * 6), after).slower() is slower


def test_a_version_without_a_function_is_named_with_the_reason(tmp_path):
    other = tmp_path / "tree" / "src" / "limbtorque"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("", encoding="utf-8")
    row = compared_work.ROWS["filter"]
    found = two_versions.compare("filter", row, (tmp_path / "tree", ROOT), 6, tmp_path / "work")
    assert found.absent == "not in the version before (ModuleNotFoundError: No module named 'limbtorque.signals')"
    assert not found.slower()
    assert found.absent in two_versions.rows_table({"filter": found})[-1]

"""Moments in space on walks and turns of the cohort: beside the plane, and beside Plug-in Gait."""

import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.workflow, pytest.mark.slow]


@pytest.fixture(scope="module")
def page(recordings, tmp_path_factory):
    """Text of the page with its tables, as its command makes them."""
    page = Path(shutil.copy(ROOT / "docs" / "plane.md", tmp_path_factory.mktemp("page")))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        import plane

        patch.setattr(sys, "argv", ["plane.py", str(recordings / "cohort"), "--write", str(page)])
        plane.main()
    return page.read_text(encoding="utf-8")


def rows(text, number):
    """Numbers of each row of a table, by its first two cells."""
    cells = table(text, number)
    return {tuple(row[:2]): [[float(n) for n in re.findall(r"[\d.]+", cell)] for cell in row[2:]] for row in cells}


def table(text, number):
    """Cells of a table without its head."""
    lines = text.split(f"<!-- table {number} -->")[1].split("<!-- end")[0].strip().splitlines()[2:]
    return [[cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")] for line in lines]


def test_the_command_of_the_page_writes_its_tables(page):
    written = (ROOT / "docs" / "plane.md").read_text(encoding="utf-8")
    numbers, expected = ([float(n) for n in re.findall(r"\d+\.\d+", text)] for text in (page, written))
    assert re.sub(r"\d+\.\d+", "", page) == re.sub(r"\d+\.\d+", "", written)
    assert numbers == pytest.approx(expected, abs=0.011)  # two of the page's digits


def test_turns_cost_more_than_straight_walks(page):
    straight, turns = (
        [[share for share, *_ in row[1:]] for about, row in rows(page, 1).items() if about[1] == walk]
        for walk in ("straight", "turn")
    )
    assert (len(straight), len(turns)) == (6, 6)
    assert max(map(max, straight)) < 0.05
    assert min(map(max, turns)) > 0.05


def test_moments_about_flexion_axes_are_those_of_plug_in_gait_in_turns(page):
    """It uses the same joint centres and plates. A wrong sign, side or axis is far beyond these limits."""
    beside = rows(page, 3)
    for joint, least, largest in (("hip", 0.9, 0.1), ("knee", 0.9, 0.1), ("ankle", 0.98, 0.02)):
        _, plane_rms, r, rms, spin = beside["turn", joint]
        assert r[1] > least
        assert rms[2] < largest
        assert rms[0] < plane_rms[0]
        assert spin[0] < 0.05


def test_abduction_of_the_hip_is_that_of_plug_in_gait(page):
    for walk in ("straight", "turn"):
        r, rms, peak = rows(page, 4)[walk, "hip"]
        assert r[1] > 0.95
        assert rms[2] < 0.1
        assert peak[0] == pytest.approx(1.0, abs=0.1)


def test_the_bands_hold_moments_in_turns_by_the_cost_of_the_plane(page):
    """Plug-in Gait's moments are another program's: the bands hold them in turns as on straight walks."""
    for (walk, _), ((before,), (own,), (file_before,), (file_own,), *_) in rows(page, 2).items():
        assert own == 100.0
        assert file_own >= file_before
        assert walk == "straight" or (before < 90.0 and file_own > file_before + 5.0)


def test_simulated_walks_are_what_the_page_says_of_them(tmp_path):
    """The command with few walks: the planar walk and those in its plane are right, the metrics find the others."""
    page = Path(shutil.copy(ROOT / "docs" / "plane.md", tmp_path))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        import plane_simulated

        patch.setattr(plane_simulated, "FIGURES", tmp_path)
        few = ["--walks", "8", "--sets", "1"]
        patch.setattr(sys, "argv", ["plane_simulated.py", *few, "--write", str(page)])
        plane_simulated.main()
    text = page.read_text(encoding="utf-8")
    assert (tmp_path / "plane.png").stat().st_size > 10_000
    changed = table(text, 5)
    assert max(map(float, changed[0][1:4])) < 0.5  # %: differences at 100 Hz
    assert all(float(row[1]) > 10.0 for row in changed if row[0].startswith("arc of 1.25"))
    told = table((ROOT / "docs" / "plane.md").read_text(encoding="utf-8"), 7)
    for rows_of_page, sds in ((told, 0.0), (table(text, 7), 2.0)):  # few walks, within their sampling error
        for metric, _, walks, *_, area, _, straight, _ in rows_of_page:
            least = 0.9 if metric == "`plane_difference`" or walks == "calibration" else 0.8
            assert float(area.split()[0]) >= least - sds * float(area.split()[2])
            assert float(straight.split()[0]) <= 5.0 + sds * float(straight.split()[2])  # %
    planes = {
        row[0]: [[float(n) for n in cell.split(" / ")] if cell else [] for cell in row[1:]] for row in table(text, 8)
    }
    assert planes["walk along the axis"][0] == planes["walk along the axis"][1]
    laboratory, travel, *_ = planes["walk 20 degrees off it"]
    assert all(there > here for there, here in zip(laboratory, travel, strict=True))
    assert max(planes["reach forward"][0] + planes["reach 20 degrees off"][2]) < 0.5

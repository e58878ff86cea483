"""Height and slope of force plates under the feet that stand on them: numbers by hand."""

from dataclasses import replace

import numpy as np
import pytest

import plates
from limbtorque.arrays import runs
from limbtorque.ground.plates import STANDING_M, read_plate, surface_metrics
from limbtorque.quality.verdict import assess
from limbtorque.recordings.recording import ForcePlate
from limbtorque.study.options.quality import Quality
from limbtorque.study.options.reading import Plates
from plates import frames

FOOT_M = 0.02  # heel and front of `plates.walking_foot` above the ground, in stance


def lowered(by_m: float, measured: ForcePlate | None = None) -> ForcePlate:
    measured = measured or plates.plate(loads=[plates.UNDER])
    return replace(measured, corners_m=measured.corners_m - by_m * plates.UP)


def sloped(degrees: float, axis: int) -> ForcePlate:
    """A plate whose corners rise along x or y, about its middle."""
    measured = plates.plate(loads=[plates.UNDER])
    corners_m = measured.corners_m.copy()
    along_m = corners_m[:, axis] - corners_m[:, axis].mean()
    corners_m[:, 2] += np.tan(np.radians(degrees)) * along_m
    return replace(measured, corners_m=corners_m)


def flags(metrics):
    return {flag.check.name: flag.status for flag in assess(metrics, Quality())}


@pytest.mark.parametrize(
    ("by_m", "status"),
    [
        *((0.0, "ok"), (0.06, "ok"), (-0.02, "ok"), (0.08, "caution"), (-0.04, "caution"), (0.11, "caution")),
        *((0.13, "rejected"), (0.35, "rejected"), (-0.09, "rejected")),
    ],
)
def test_a_plate_at_another_height_than_its_foot(by_m, status):
    found = plates.ground([lowered(by_m)], plates.OWN).metrics
    assert found["plate_height_error_m"] == pytest.approx(abs(FOOT_M + by_m - STANDING_M))
    assert flags(found).get("plate_height_error_m", "ok") == status


@pytest.mark.parametrize(("degrees", "flagged"), [(0.0, False), (1.5, False), (-1.5, False), (2.5, True), (-8.0, True)])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_plate_that_is_not_level(degrees, flagged, axis):
    found = plates.ground([sloped(degrees, axis)], plates.OWN).metrics
    assert found["plate_slope_deg"] == pytest.approx(abs(degrees), abs=1e-5)
    assert flags(found).get("plate_slope_deg", "ok") == ("caution" if flagged else "ok")


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("degrees", [6.0, 8.5, -12.0])
@pytest.mark.parametrize("turned", [0.0, 0.4, 1.0])  # of the slope, by which the force leans with the corners
def test_wrong_corners_turn_the_force_and_a_ramp_does_not(axis, degrees, turned):
    angle = np.radians(-turned * degrees)
    force_n = np.array([0.0, 0.0, 700.0])
    force_n[axis] = 700.0 * np.tan(angle)
    loads = [(slice(50, 110), tuple(ramp * force_n), plates.POINT) for ramp in (0.1, 1.0, 0.1)]
    parts = (slice(50, 55), slice(55, 105), slice(105, 110))
    measured = plates.plate(loads=[(part, *load[1:]) for part, load in zip(parts, loads, strict=True)])
    surface_of = sloped(degrees, axis).corners_m
    found = surface([replace(measured, corners_m=surface_of)], plates.OWN, [frames((50, 110))])
    lean = np.tan(np.radians(turned * degrees)) / np.tan(np.radians(degrees))
    assert found["slope_in_force_share"] == pytest.approx(lean, abs=0.01)
    assert flags(found) == {"plate_slope_deg": "caution"} | (
        {"slope_in_force_share": "rejected"} if turned == 1.0 else {}
    )


@pytest.mark.parametrize(("degrees", "owned"), [(4.0, (50, 110)), (8.5, (55, 105))])
def test_a_small_slope_and_a_part_of_a_stance_show_nothing_of_a_ramp(degrees, owned):
    loads = [(part, (0.0, 0.0, n), plates.POINT) for part, n in ((slice(50, 55), 70.0), (slice(55, 110), 700.0))]
    measured = replace(plates.plate(loads=loads), corners_m=sloped(degrees, 0).corners_m)
    assert np.isnan(surface([measured], plates.OWN, [frames(owned)])["slope_in_force_share"])


def test_corners_in_the_other_sense_are_the_same_surface():
    turned = lowered(0.2)
    turned = replace(turned, corners_m=turned.corners_m[::-1])
    assert plates.ground([turned], plates.OWN).metrics["plate_height_error_m"] == pytest.approx(
        FOOT_M + 0.2 - STANDING_M
    )


def surface(measured, foot, owned):
    readings = [
        read_plate(each, slice(0, plates.N_FRAMES), plates.RATE_HZ, settings=Plates(), up=plates.UP)
        for each in measured
    ]
    return surface_metrics(readings, owned, foot, plates.UP)


@pytest.mark.parametrize(("end", "n_frames", "known"), [(53, 3, True), (52, 2, False)])
def test_three_loaded_frames_show_the_height(end, n_frames, known):
    owned = frames((50, end))
    assert runs(owned) == [(50, 50 + n_frames)]
    found = surface([plates.plate(loads=[(slice(40, 110), plates.FORCE_N, plates.POINT)])], plates.OWN, [owned])
    assert np.isfinite(found["plate_height_error_m"]) == known


def test_the_worst_of_several_plates_counts_and_lightly_loaded_ones_do_not():
    """The second plate is 0.3 m lower; it counts from a fifth of the first one's force on."""
    for force_n, height_m in ((139.0, FOOT_M), (141.0, FOOT_M + 0.3)):
        second = lowered(0.3, plates.plate(2, loads=[(slice(110, 130), (0.0, 0.0, force_n), plates.POINT)]))
        foot = replace(plates.OWN, back_m=plates.OWN.back_m.copy(), front_m=plates.OWN.front_m.copy())
        foot.back_m[:, 2] = foot.front_m[:, 2] = FOOT_M
        found = surface([plates.plate(loads=[plates.UNDER]), second], foot, [frames((50, 110)), frames((110, 130))])
        assert found["plate_height_error_m"] == pytest.approx(abs(height_m - STANDING_M))


def test_the_lower_end_of_the_foot_counts_and_a_missing_one_does_not():
    foot = replace(plates.OWN, back_m=plates.OWN.back_m + 0.3 * plates.UP)
    measured, owned = [plates.plate(loads=[plates.UNDER])], [frames((50, 110))]
    assert surface(measured, foot, owned)["plate_height_error_m"] == pytest.approx(abs(FOOT_M - STANDING_M))
    hidden = replace(foot, front_m=np.full_like(foot.front_m, np.nan))
    assert surface(measured, hidden, owned)["plate_height_error_m"] == pytest.approx(FOOT_M + 0.3 - STANDING_M)
    unseen = replace(hidden, back_m=hidden.front_m)
    assert np.isnan(surface(measured, unseen, owned)["plate_height_error_m"])


def test_a_plate_without_corners_has_a_height_only():
    """Files of wrenches give the mean point of action four times."""
    measured = plates.plate(loads=[plates.UNDER])
    point = replace(measured, kind=0, corners_m=np.tile(np.array(plates.POINT) - 0.2 * plates.UP, (4, 1)))
    found = surface([point], plates.OWN, [frames((50, 110))])
    assert found["plate_height_error_m"] == pytest.approx(FOOT_M + 0.2 - STANDING_M)
    assert np.isnan(found["plate_slope_deg"])


def test_without_a_stance_nothing_is_known():
    assert all(np.isnan(value) for value in surface([], plates.OWN, []).values())

"""Contact on simulated walks, whose ground forces are exact, and on recorded ones."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from clustered_legs import walk_settings
from limbtorque.analysis.chain_motion import chain_motion
from limbtorque.arrays import runs
from limbtorque.motion.chain_motion import MEASURED, NONE, UNMEASURED
from limbtorque.motion.limb import Limb
from limbtorque.recordings.c3d.read import read_c3d
from limbtorque.simulation.gait import SIDES, Walker, Walkway, walk, walk_recording
from limbtorque.statistics.windows import find_between, resample
from limbtorque.study.settings import make_settings

FIRST_STRIKE_S = 0.507  # between two frames
WALKERS = {
    "soft": Walker(),
    "hard": Walker(strike_m_s=0.4),
    "impact": Walker(strike_m_s=0.6, strike_s=0.03),
    "fast": Walker(stride_s=1.0, speed_m_s=1.4),
    "slow": Walker(stride_s=1.5, speed_m_s=0.6),
    "very_slow": Walker(stride_s=1.8, speed_m_s=0.4),
    "child": Walker(30.0, 1.35, 0.95, 1.0),
    "tall": Walker(95.0, 1.95, 1.15, 1.4, strike_m_s=0.3),
}
SETTINGS = walk_settings(filter={"cutoff_hz": 8.0})
ALONG = 0.3  # half the length of a simulated plate, m


def foot_m(walker):
    """Length of the foot from heel to ball."""
    return walker.foot_m[1, 0] - walker.foot_m[0, 0]


def plates_below(walker, kind):
    """Middles of plates below the second step of the right foot, or of both feet."""
    heel, length = walker.stride_m, foot_m(walker)
    return {
        "none": (),
        "right": ((heel + length / 2, -0.2),),
        "both": ((heel + length / 2, -0.2), (1.5 * heel + length / 2, 0.2)),
        "heel 3 cm behind": ((heel + 0.03 + ALONG, -0.2),),
        "heel 5 cm behind": ((heel + 0.05 + ALONG, -0.2),),
        "toe 3 cm in front": ((heel + length - 0.03 - ALONG, -0.2),),
        "one for both feet": ((1.25 * heel + length / 2, 0.0),),
        "two for one foot": ((heel + 0.4 * length - ALONG, -0.2), (heel + 0.4 * length + ALONG, -0.2)),
        "two with a gap": ((heel + 0.4 * length - ALONG - 0.03, -0.2), (heel + 0.4 * length + ALONG + 0.03, -0.2)),
    }[kind]


@functools.cache
def walked(name, kind, *, events=True, seed=0):
    """A recording of a simulated walk of 2.4 strides."""
    walker = WALKERS[name]
    walkway = Walkway(plates_m=plates_below(walker, kind), noise_m=0.0005, noise_n=1.0, seed=seed)
    made = walk_recording(
        walker, walkway, duration_s=2.4 * walker.stride_s + FIRST_STRIKE_S, first_strike_s=FIRST_STRIKE_S
    )
    return made if events else replace(made, events=())


def analysed(name, recording, side="right"):
    """Motion of a leg, and the exact vertical force on its foot."""
    walker = WALKERS[name]
    motion = chain_motion(recording, Limb("leg", side=side, body_mass_kg=walker.mass_kg, marker_set="walk"), SETTINGS)
    force = walk(walker, motion.time_s, first_strike_s=FIRST_STRIKE_S)[side].force_n[:, 1]
    return motion, force


KINDS = (
    "none",
    "right",
    "heel 3 cm behind",
    "heel 5 cm behind",
    "toe 3 cm in front",
    "one for both feet",
    "two for one foot",
    "two with a gap",
)


SLOW_ONES = [pytest.param(name, marks=pytest.mark.slow) for name in ("impact", "slow", "very_slow", "child")]


@pytest.mark.parametrize("name", ["soft", *SLOW_ONES])
def test_no_loaded_frame_is_given_no_load(name):
    """The foot's exact force is below the plates' threshold in every frame with status 0, with events and without."""
    for kind, side in (*((kind, "right") for kind in KINDS), ("one for both feet", "left")):
        made = walked(name, kind)
        for recording in (made, replace(made, events=())):
            motion, force = analysed(name, recording, side)
            hidden = (motion.load.status == NONE) & (force > SETTINGS.plates.threshold_n)
            assert not hidden.any(), (kind, side, np.flatnonzero(hidden), force[hidden])


@pytest.mark.parametrize("name", ["impact", pytest.param("slow", marks=pytest.mark.slow)])
def test_a_measured_force_is_that_of_the_foot(name):
    """Filtered like the plate: where a part of a step is on no plate, its measured frames are as good as all others.

    The yardstick is the same step on one plate; the rest is what plates of other places leave in the filter's tail.
    """
    whole = analysed(name, walked(name, "right"))[0]
    for kind in KINDS[2:]:
        motion, force = analysed(name, walked(name, kind))
        known = (motion.load.status == MEASURED) & (whole.load.status == MEASURED)
        difference = np.abs(motion.load.force_n - whole.load.force_n)[known]
        assert difference.max(initial=0.0) < 0.02 * force.max(), kind


@pytest.mark.parametrize("name", ["hard", "fast", "very_slow", "child"])
def test_a_stride_from_a_plate_to_the_floor_is_known_throughout(name):
    """From the strike on the plate to the next one on the floor, between two frames: 101 of 101 points."""
    recording = walked(name, "right")
    motion, _ = analysed(name, recording)
    assert points_known(motion, recording, "right") == 101


def points_known(motion, recording, side):
    """Known points of the best stride between two foot strikes."""
    known = motion.load.status != UNMEASURED
    window = find_between(
        recording.events,
        start=f"Foot Strike {side}",
        end=f"Foot Strike {side}",
        side=side,
        time_s=motion.time_s,
        known=known,
        cycle="most_known",
    )
    values = np.where(known, 1.0, np.nan)[:, None]
    points = resample(motion.time_s, values, start_s=window.start_s, end_s=window.end_s)
    return int((~np.isnan(points)).sum())


COHORT = {"HC030A/Straight/HC030A05": 45.8, "HC032A/Straight/HC032A03": 60.3, "HC044A/Straight/HC044A15": 39.4}
PLUG_IN_GAIT = {
    "hip_axis": "{S}FEP",
    "knee_axis": "{S}FEO",
    "ankle_axis": "{S}TIO",
    "greater_trochanter": "{S}FEP",
    "femoral_condyles": "{S}FEO",
    "lateral_malleolus": "{S}AJC",
    "medial_malleolus": "{S}TIO",
    "head_of_metatarsal_2": "{S}TOE",
    "heel": "{S}HEE",
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", COHORT)
def test_recorded_strides_from_a_plate_to_the_floor_are_known_throughout(recordings, name, side):
    recording = read_c3d(recordings / "cohort" / f"{name}.c3d")
    settings = make_settings(
        {"marker_sets": {"gait": PLUG_IN_GAIT}, "plane": {"up_axis": "+z", "forward_axis": "travel"}}
    )
    limb = Limb("leg", side=side, body_mass_kg=COHORT[name], marker_set="gait")
    motion = chain_motion(recording, limb, settings)
    assert points_known(motion, recording, side) == 101
    assert abs(motion.load.metrics["plate_after_oconnor_s"]) < 0.02
    # and the next step on the floor is unknown
    strike = [
        event.time_s for event in recording.events if event.label == "Foot Strike" and event.context == side.title()
    ][1]
    after = (motion.time_s > strike + 0.011) & (motion.time_s < strike + 0.4)
    assert (motion.load.status[after] == UNMEASURED).all()


def moved_edge(recording, behind_m):
    """The same forces of plate 1, whose rear edge is said to be this far in front of the heel."""
    plate, walker = recording.force_plates[0], WALKERS["soft"]
    corners = plate.corners_m.copy()
    rear = corners[:, 0] < corners[:, 0].mean()
    corners[rear, 0] = walker.stride_m + behind_m
    return replace(recording, force_plates=(replace(plate, corners_m=corners), *recording.force_plates[1:]))


def test_a_heel_behind_the_edge_is_accepted_where_the_plate_carries_the_body():
    """The plate's force is that of the whole step: in single support it carries the body, and begins with the strike."""
    recording = walked("soft", "right")
    whole, _ = analysed("soft", recording)
    motion, _ = analysed("soft", moved_edge(recording, 0.05))
    np.testing.assert_array_equal(motion.load.status, whole.load.status)
    np.testing.assert_array_equal(motion.load.force_n, whole.load.force_n)
    [note] = [note for note in motion.load.notes if "heel off the plate" in note]
    assert "of the body's force in single support" in note


def test_a_foot_on_two_plates_has_the_sum_of_their_forces():
    whole, _ = analysed("soft", walked("soft", "right"))
    motion, _ = analysed("soft", walked("soft", "two for one foot"))
    np.testing.assert_array_equal(motion.load.status == UNMEASURED, whole.load.status == UNMEASURED)
    known = motion.load.status == MEASURED
    # each plate's frames are filtered apart, flanks below the threshold left out
    np.testing.assert_allclose(motion.load.force_n[known], whole.load.force_n[known], atol=0.02 * 700.0)
    assert sum("on plates 1 and 2, whose forces are added" in note for note in motion.load.notes) == 2


def test_a_foot_that_lands_behind_the_plate_is_flagged_with_its_delay():
    """The plate carries the foot when the exact pressure is 3 cm ahead of the heel; the markers show the strike to 0.01 s."""
    motion, _ = analysed("hard", walked("hard", "heel 3 cm behind"))
    assert any("it may have landed off the plate" in note for note in motion.load.notes)
    time_s = np.arange(0.0, 0.2, 0.001)
    forward_m = walk(WALKERS["hard"], time_s)["right"].pressure_m[:, 0]
    delay_s = time_s[np.flatnonzero(forward_m > 0.03)[0]]
    assert motion.load.metrics["plate_after_oconnor_s"] == pytest.approx(delay_s, abs=0.01)


def test_the_onset_of_the_force_is_timed_against_the_markers():
    """A plate whose samples come 0.05 s late: the frames between the strike and the force are unknown."""
    recording = walked("impact", "right", events=False)
    prompt = analysed("impact", recording)[0].load
    plate = recording.force_plates[0]
    late = replace(plate, force_n=np.roll(plate.force_n, 50, axis=0), moment_nm=np.roll(plate.moment_nm, 50, axis=0))
    motion, _ = analysed("impact", replace(recording, force_plates=(late,)))
    assert abs(prompt.metrics["plate_after_oconnor_s"]) < 0.01
    for name in ("plate_after_oconnor_s", "plate_after_zeni_s"):
        assert motion.load.metrics[name] - prompt.metrics[name] == pytest.approx(0.05, abs=1e-9)
    assert not any("landed off the plate" in note for note in prompt.notes)
    assert any("landed off the plate" in note for note in motion.load.notes)
    first = np.flatnonzero(plate.force_n[::10, 2] > 20.0)[0]
    assert prompt.status[first] == MEASURED
    assert (motion.load.status[first : first + 10] == UNMEASURED).all()


def test_contact_on_the_floor_begins_with_the_event_and_ends_after_the_foot_is_fast():
    motion, force = analysed("soft", walked("soft", "none"))
    start, stop = runs(motion.load.status == UNMEASURED)[1]
    loaded = runs(force > 0.0)[1]
    assert start == loaded[0]
    assert loaded[1] <= stop <= loaded[1] + 15
